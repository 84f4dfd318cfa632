//! A prediction as text, CSV or JSON, with what was asked for beside it.

use std::fmt::Write;

use flowmine_draw::visible;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value, json};

use crate::analysis::{Prediction, Segment};
use crate::fit::{Fitted, Learnt, LearntEnd};
use crate::study::{Change, Interval, Point, Sensitivity, Sweep};
use crate::what_if::{Gain, SegmentGain};

/// A prediction and what was asked for beside it.
#[derive(Debug)]
pub struct Report<'a> {
    /// When all finishes and what limits it.
    pub prediction: &'a Prediction<'a>,
    /// What wider things would gain.
    pub gains: Vec<Gain>,
    /// What they would gain where they were wider for one segment alone.
    pub segment_gains: Vec<SegmentGain>,
    /// A number swept, its points, and which of them is the best.
    pub sweep: Option<(Sweep, Vec<Point>, Option<usize>)>,
    /// To what the finish is sensitive.
    pub sensitivity: Option<Vec<Sensitivity>>,
    /// The finish where numbers are not certain.
    pub interval: Option<Interval>,
    /// What the model was fitted from, if it was fitted.
    pub fitted: Option<&'a Fitted>,
}

impl<'a> Report<'a> {
    /// What the fit could not tell, and where the prediction may differ from the model's exact
    /// answer. Without notes the prediction is exact.
    pub fn notes(&self) -> impl Iterator<Item = &str> {
        let fitted = self.fitted.into_iter().flat_map(|fitted| &fitted.notes);
        fitted.chain(self.prediction.notes()).map(String::as_str)
    }

    /// The report of a prediction with nothing beside it.
    pub fn of(prediction: &'a Prediction<'a>) -> Self {
        Self { prediction, gains: Vec::new(), segment_gains: Vec::new(), sweep: None, sensitivity: None, interval: None, fitted: None }
    }
}

/// Seconds for the eye: a word when there is no end, powers of ten where digits would say nothing.
fn seconds(time: Option<f64>) -> String {
    match time.filter(|t| t.is_finite()) {
        None => "never".to_owned(),
        Some(t) if t != 0.0 && !(1e-3..1e12).contains(&t.abs()) => format!("{t:.3e} s"),
        Some(t) => format!("{t:.3} s"),
    }
}

/// Lines of a list that are shown as text; JSON has all.
const SHOWN: usize = 40;

/// For the terminal: what was fitted, finish, each process with what limits it when, and what was
/// asked for beside.
pub fn text(report: &Report<'_>) -> String {
    let mut out = String::new();
    let prediction = report.prediction;
    if let Some(fitted) = report.fitted {
        text_of_fit(fitted, &mut out);
    }
    for note in report.notes() {
        let _ = writeln!(out, "note: {}", visible(note));
    }
    if report.notes().next().is_some() || report.fitted.is_some() {
        out.push('\n');
    }
    let _ = writeln!(out, "the workflow finishes: {}", seconds(prediction.finish_s()));
    if let Some((observed, predicted)) = report.fitted.and_then(|fitted| fitted.observed_s).zip(prediction.finish_s())
        && observed > 0.0
    {
        let _ =
            writeln!(out, "observed:              {} (predicted {:+.1} %)", seconds(Some(observed)), (predicted / observed - 1.0) * 100.0);
    }
    for at in 0..prediction.len() {
        let (start, end) = (seconds(prediction.started_s(at)), seconds(prediction.finished_s(at)));
        let _ = writeln!(out, "\n{}: starts {start}, finishes {end}", visible(prediction.name(at)));
        for segment in prediction.segments(at) {
            let limit = visible(&prediction.limit_name(at, segment.limit));
            let _ = writeln!(out, "  {:>14} to {:>14}  {limit}", seconds(Some(segment.from)), seconds(Some(segment.to)));
        }
    }
    if !report.gains.is_empty() {
        let _ = writeln!(out, "\nearlier by, if wider:");
        for gain in report.gains.iter().take(SHOWN) {
            let what = visible(&gain.what);
            let _ = writeln!(out, "  {:>14}  {what} (limits for {})", seconds(Some(gain.gain_s)), seconds(Some(gain.limits_s)));
        }
        more(&mut out, report.gains.len());
    }
    if !report.segment_gains.is_empty() {
        let _ = writeln!(out, "\nearlier by, if wider for this time alone:");
        for gain in report.segment_gains.iter().take(SHOWN) {
            let (process, limit) = (visible(prediction.name(gain.process)), visible(&prediction.limit_name(gain.process, gain.limit)));
            let (from, to) = (seconds(Some(gain.from_s)), seconds(Some(gain.to_s)));
            let _ = writeln!(out, "  {:>14}  {process}: {limit}, {from} to {to}", seconds(Some(gain.gain_s)));
        }
        more(&mut out, report.segment_gains.len());
    }
    text_of_studies(report, &mut out);
    out
}

fn more(out: &mut String, all: usize) {
    if all > SHOWN {
        let _ = writeln!(out, "  and {} more (all with --format json)", all - SHOWN);
    }
}

fn text_of_studies(report: &Report<'_>, out: &mut String) {
    if let Some((sweep, points, best)) = &report.sweep {
        let path = visible(&sweep.path);
        match best.map(|at| points[at]) {
            Some(best) => {
                let value = format!("{}{:.6}", if sweep.change == Change::Set { "" } else { "times " }, best.value);
                let _ =
                    writeln!(out, "\n{path}: of {} values the best is {value}, which finishes: {}", points.len(), seconds(best.finish_s));
                let ends = [points.first(), points.last()].into_iter().flatten();
                for point in ends {
                    let _ = writeln!(out, "  {:>14.6}  {}", point.value, seconds(point.finish_s));
                }
            }
            None => {
                let _ = writeln!(out, "\n{path}: with none of {} values does it finish", points.len());
            }
        }
    }
    if let Some(all) = &report.sensitivity {
        let _ = writeln!(out, "\nlater by, for one per cent more of:");
        for one in all.iter().take(SHOWN) {
            let _ = writeln!(out, "  {:>12}  {}", format!("{:+.4} %", one.per_cent), visible(&one.path));
        }
        more(out, all.len());
    }
    if let Some(interval) = &report.interval {
        let _ = writeln!(
            out,
            "\nfinish of {} samples: mean {:.3} s, standard deviation {:.3} s",
            interval.samples, interval.mean_s, interval.deviation_s
        );
        for (share, finish) in &interval.quantiles {
            let _ = writeln!(out, "  {:>5} below {finish:.3} s", format!("{:.0} %", share * 100.0));
        }
        if interval.never > 0 {
            let _ = writeln!(out, "  {} never finish and are not in these numbers", interval.never);
        }
    }
}

fn text_of_fit(fitted: &Fitted, out: &mut String) {
    let _ = writeln!(out, "learnt of {} logical tasks:", fitted.learnt.len());
    for of in &fitted.learnt {
        let cpu = of.cpu.map_or_else(|| "CPU not known".to_owned(), |cpu| format!("{cpu:.2} processors"));
        let error = of.work.error * 100.0;
        // What a byte of a single size takes says nothing of itself.
        let work = match of.work.one_size {
            true => format!("work {} at the one size seen ± {error:.1} %", seconds(Some(of.work.mean))),
            false => format!("work {:.3} s + {:.3} s a GB read ± {error:.1} %", of.work.fixed, of.work.per_byte * 1e9),
        };
        let _ = writeln!(out, "  {} ({} instances, {} traced): {work}; {cpu}", visible(&of.name), of.instances, of.traced);
        for (way, end) in of.inputs.iter().map(|end| ("reads", end)).chain(of.outputs.iter().map(|end| ("writes", end))) {
            let other = match (&end.other, way) {
                (Some(other), "reads") => format!("from {}", visible(other)),
                (Some(other), _) => format!("for {}", visible(other)),
                (None, "reads") => "what was there before".to_owned(),
                (None, _) => "for nobody of the run".to_owned(),
            };
            let _ = writeln!(out, "    {way} {other}: {}", words_of(end, way));
        }
    }
}

/// The shape of an input or output in words.
fn words_of(end: &LearntEnd, way: &str) -> String {
    let knots = &end.shape.knots;
    let (first, last) = (knots.first().map_or(0.0, |k| k.0) * 100.0, knots.last().map_or(0.0, |k| k.0) * 100.0);
    let kind = if way == "writes" {
        ""
    } else if end.is_burst() {
        "burst, "
    } else {
        "stream, "
    };
    format!("{kind}between {first:.0} and {last:.0} % of the work, in {} pieces ± {:.1} %", knots.len() - 1, end.shape.error * 100.0)
}

/// A text as a field of CSV: quoted where it has to be, and never a formula.
fn field(text: &str) -> String {
    let text = if flowmine_text::is_formula(text) { format!("'{text}") } else { text.to_owned() };
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

/// A row for each point of the sweep or, without one, for each segment; an empty `to_s` or
/// `finish_s` is one without end.
pub fn csv(report: &Report<'_>) -> String {
    let prediction = report.prediction;
    if let Some((_, points, _)) = &report.sweep {
        let mut out = "value,finish_s\n".to_owned();
        for point in points {
            let _ = writeln!(out, "{},{}", point.value, point.finish_s.map_or_else(String::new, |finish| finish.to_string()));
        }
        return out;
    }
    let mut out = "process,from_s,to_s,limit,progress_from,progress_to\n".to_owned();
    for at in 0..prediction.len() {
        for s in prediction.segments(at) {
            let ends = s.to.is_finite();
            let (to, last) = if ends { (s.to.to_string(), s.progress.at(s.to - s.from).to_string()) } else { Default::default() };
            let (name, limit) = (field(prediction.name(at)), field(&prediction.limit_name(at, s.limit)));
            let _ = writeln!(out, "{name},{},{to},{limit},{},{last}", s.from, s.progress.at(0.0));
        }
    }
    out
}

/// A row for each segment, resource and data input: use (equation 4), what is allocated, the
/// relative use (7), and what of the data is there and waits (8), in the middle of the segment; at
/// the beginning of one without end.
pub fn csv_of_details(prediction: &Prediction<'_>) -> String {
    let mut out = "process,from_s,to_s,at_s,kind,name,used,allocated,relative,available,buffered\n".to_owned();
    for at in 0..prediction.len() {
        let [data, resources, _] = prediction.names(at);
        let process = field(prediction.name(at));
        for s in prediction.segments(at) {
            let (middle, to) = if s.to.is_finite() { (s.from.midpoint(s.to), s.to.to_string()) } else { (s.from, String::new()) };
            let place = format!("{process},{},{to},{middle}", s.from);
            for (l, name) in resources.iter().enumerate() {
                let (used, allocated) = (prediction.used(at, l, middle), prediction.allocation(at, l, middle));
                let relative = prediction.relative_use(at, l, middle).map_or_else(String::new, |relative| relative.to_string());
                let _ = writeln!(out, "{place},resource,{},{used},{allocated},{relative},,", field(name));
            }
            for (k, name) in data.iter().enumerate() {
                let (available, buffered) = (prediction.available(at, k, middle), prediction.buffered(at, k, middle));
                let _ = writeln!(out, "{place},data,{},,,,{available},{buffered}", field(name));
            }
        }
    }
    out
}

/// Everything: segments with polynomials (of the seconds since `from_s`), use of resources and
/// waiting data in the middle of each, gains, what was fitted and asked for. Made while it is
/// written: a process of a million segments takes no memory.
pub fn json<'a>(report: &'a Report<'a>) -> impl Serialize + 'a {
    Whole(report)
}

struct Whole<'a>(&'a Report<'a>);
struct Processes<'a>(&'a Prediction<'a>);
struct OneProcess<'a>(&'a Prediction<'a>, usize);
struct Segments<'a>(&'a Prediction<'a>, usize);

impl Serialize for Whole<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut beside = beside(self.0);
        beside.insert("processes".to_owned(), Value::Null);
        let mut map = serializer.serialize_map(Some(beside.len()))?;
        for (key, value) in &beside {
            match key.as_str() {
                "processes" => map.serialize_entry(key, &Processes(self.0.prediction))?,
                _ => map.serialize_entry(key, value)?,
            }
        }
        map.end()
    }
}

impl Serialize for Processes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((0..self.0.len()).map(|at| OneProcess(self.0, at)))
    }
}

impl Serialize for OneProcess<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(prediction, at) = self;
        let mut map = serializer.serialize_map(Some(5))?;
        map.serialize_entry("finish_s", &prediction.finished_s(*at))?;
        map.serialize_entry("name", prediction.name(*at))?;
        map.serialize_entry("progress_at_end", &prediction.progress_at_end(*at))?;
        map.serialize_entry("segments", &Segments(prediction, *at))?;
        map.serialize_entry("start_s", &prediction.started_s(*at))?;
        map.end()
    }
}

impl Serialize for Segments<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(prediction, at) = self;
        let [data, resources, _] = prediction.names(*at);
        serializer.collect_seq(prediction.segments(*at).iter().map(|s| segment(prediction, *at, s, &data, &resources)))
    }
}

/// All of the report but its processes, as fields of a JSON object.
fn beside(report: &Report<'_>) -> Map<String, Value> {
    let prediction = report.prediction;
    let gains: Vec<Value> = report.gains.iter().map(|g| json!({"what": g.what, "limits_s": g.limits_s, "gain_s": g.gain_s})).collect();
    let mut all = Map::new();
    let mut add = |key: &str, value: Value| {
        all.insert(key.to_owned(), value);
    };
    add("finish_s", json!(prediction.finish_s()));
    add("gains", json!(gains));
    if let Some(fitted) = report.fitted {
        add("observed_s", json!(fitted.observed_s));
        add("learnt", fitted.learnt.iter().map(learnt).collect());
    }
    add("notes", report.notes().collect());
    if !report.segment_gains.is_empty() {
        let gain = |g: &SegmentGain| {
            json!({"process": prediction.name(g.process), "limit": prediction.limit_name(g.process, g.limit), "from_s": g.from_s, "to_s": g.to_s,
                "gain_s": g.gain_s})
        };
        add("segment_gains", report.segment_gains.iter().map(gain).collect());
    }
    if let Some((sweep, points, best)) = &report.sweep {
        let point = |p: &Point| json!({"value": p.value, "finish_s": p.finish_s});
        let change = if sweep.change == Change::Set { "set" } else { "times" };
        add(
            "sweep",
            json!({"path": sweep.path, "change": change, "best": best.map(|at| point(&points[at])), "points": points.iter().map(point).collect::<Vec<_>>()}),
        );
    }
    if let Some(sensitivity) = &report.sensitivity {
        add("sensitivity", sensitivity.iter().map(|s| json!({"path": s.path, "per_cent": s.per_cent})).collect());
    }
    if let Some(of) = &report.interval {
        let quantiles: Vec<Value> = of.quantiles.iter().map(|(share, finish)| json!({"share": share, "finish_s": finish})).collect();
        let (mean, deviation) = if of.quantiles.is_empty() { (None, None) } else { (Some(of.mean_s), Some(of.deviation_s)) };
        add(
            "interval",
            json!({"samples": of.samples, "never": of.never, "mean_s": mean, "deviation_s": deviation, "quantiles": quantiles}),
        );
    }
    all
}

fn learnt(of: &Learnt) -> Value {
    let scale = |s: &crate::fit::Scale| json!({"fixed": s.fixed, "per_byte": s.per_byte, "error": s.error, "one_size": s.one_size});
    let input = |e: &LearntEnd| json!({"from": e.other, "kind": if e.is_burst() { "burst" } else { "stream" }, "knots": e.shape.knots, "error": e.shape.error});
    let output = |e: &LearntEnd| json!({"to": e.other, "knots": e.shape.knots, "error": e.shape.error});
    let paces: Vec<Value> = of.paces.iter().map(|(from, pace)| json!({"from": from, "pace": pace.name()})).collect();
    json!({"name": of.name, "instances": of.instances, "traced": of.traced, "streamed": of.streamed, "work_s": scale(&of.work),
        "written_bytes": of.written.as_ref().map(scale), "inputs": of.inputs.iter().map(input).collect::<Vec<_>>(),
        "outputs": of.outputs.iter().map(output).collect::<Vec<_>>(), "processors": of.cpu, "paces": paces})
}

fn segment(prediction: &Prediction<'_>, at: usize, s: &Segment, data: &[&str], resources: &[&str]) -> Value {
    let middle = if s.to.is_finite() { s.from.midpoint(s.to) } else { s.from };
    let used = resources.iter().enumerate().map(|(l, name)| {
        json!({"resource": name, "used": prediction.used(at, l, middle), "allocated": prediction.allocation(at, l, middle),
            "relative": prediction.relative_use(at, l, middle)})
    });
    let waits = data.iter().enumerate().map(|(k, name)| json!({"data": name, "buffered": prediction.buffered(at, k, middle)}));
    let (used, waits) = (used.collect::<Vec<_>>(), waits.collect::<Vec<_>>());
    json!({"from_s": s.from, "to_s": s.to.is_finite().then_some(s.to), "limit": prediction.limit_name(at, s.limit), "progress": s.progress.coefficients(),
        "at_middle": {"resources": used, "data": waits}})
}

//! A prediction as text, CSV or JSON, with the requested studies.

mod document;

use std::fmt::Write;
use std::io;

use flowmine_draw::{document as documents, visible};

use crate::analysis::Prediction;
use crate::fit::{Fitted, LearntEnd};
use crate::study::{Change, Interval, Point, Sensitivity, Sweep};
use crate::what_if::{Gain, SegmentGain};

pub use document::PredictionDocument;

/// A prediction and the requested studies.
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
    /// Gaps of the fit, and where the prediction may differ from the model's exact answer. Without
    /// notes the prediction is exact.
    pub fn notes(&self) -> impl Iterator<Item = &str> {
        let fitted = self.fitted.into_iter().flat_map(|fitted| &fitted.notes);
        fitted.chain(self.prediction.notes()).map(String::as_str)
    }

    /// The report of a prediction without studies.
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

/// For the terminal: what was fitted, finish, each process with what limits it when, and the
/// requested studies.
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

/// Writes all as JSON, see [`PredictionDocument`].
///
/// # Errors
/// When `out` cannot be written.
pub fn json(report: &Report<'_>, out: impl io::Write) -> io::Result<()> {
    documents::write(&PredictionDocument::new(report), out)
}

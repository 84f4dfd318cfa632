//! A prediction as text, CSV or JSON.

use std::fmt::Write;

use flowmine_draw::visible;
use serde_json::{Value, json};

use crate::analysis::Prediction;
use crate::what_if::Gain;

/// Seconds for the eye: a word when there is no end.
fn seconds(time: Option<f64>) -> String {
    time.filter(|t| t.is_finite()).map_or_else(|| "never".to_owned(), |t| format!("{t:.3} s"))
}

/// For the terminal: finish, each process with what limits it when, gains.
pub fn text(prediction: &Prediction<'_>, gains: &[Gain]) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "the workflow finishes: {}", seconds(prediction.finish_s()));
    for at in 0..prediction.len() {
        let (start, end) = (seconds(prediction.started_s(at)), seconds(prediction.finished_s(at)));
        let _ = writeln!(out, "\n{}: starts {start}, finishes {end}", visible(prediction.name(at)));
        for segment in prediction.segments(at) {
            let limit = visible(&prediction.limit_name(at, segment.limit));
            let _ = writeln!(out, "  {:>14} to {:>14}  {limit}", seconds(Some(segment.from)), seconds(Some(segment.to)));
        }
    }
    if !gains.is_empty() {
        let _ = writeln!(out, "\nearlier by, if wider:");
        for gain in gains {
            let _ = writeln!(
                out,
                "  {:>14}  {} (limits for {})",
                format!("{:.3} s", gain.gain_s),
                visible(&gain.what),
                seconds(Some(gain.limits_s))
            );
        }
    }
    out
}

fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

/// A row for each segment; an empty `to_s` is one without end.
pub fn csv(prediction: &Prediction<'_>) -> String {
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

/// Everything: segments with polynomials (of the seconds since `from_s`), use of resources and
/// waiting data in the middle of each, gains.
pub fn json(prediction: &Prediction<'_>, gains: &[Gain]) -> Value {
    let processes: Vec<Value> = (0..prediction.len()).map(|at| process(prediction, at)).collect();
    let gains: Vec<Value> = gains.iter().map(|g| json!({"what": g.what, "limits_s": g.limits_s, "gain_s": g.gain_s})).collect();
    json!({"finish_s": prediction.finish_s(), "processes": processes, "gains": gains})
}

fn process(prediction: &Prediction<'_>, at: usize) -> Value {
    let [data, resources, _] = prediction.names(at);
    let segments = prediction.segments(at).iter().map(|s| {
        let middle = if s.to.is_finite() { s.from.midpoint(s.to) } else { s.from };
        let used: Vec<Value> = resources
            .iter()
            .enumerate()
            .map(|(l, name)| {
                json!({"resource": name, "used": prediction.used(at, l, middle), "allocated": prediction.allocation(at, l, middle),
                "relative": prediction.relative_use(at, l, middle)})
            })
            .collect();
        let waits: Vec<Value> =
            data.iter().enumerate().map(|(k, name)| json!({"data": name, "buffered": prediction.buffered(at, k, middle)})).collect();
        let to = s.to.is_finite().then_some(s.to);
        json!({"from_s": s.from, "to_s": to, "limit": prediction.limit_name(at, s.limit), "progress": s.progress.coefficients(),
            "at_middle": {"resources": used, "data": waits}})
    });
    json!({"name": prediction.name(at), "start_s": prediction.started_s(at), "finish_s": prediction.finished_s(at),
        "progress_at_end": prediction.progress_at_end(at), "segments": segments.collect::<Vec<_>>()})
}

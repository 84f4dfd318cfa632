//! What a server did, and the queue, in the text exposition format of Prometheus
//! (<https://prometheus.io/docs/instrumenting/exposition_formats/>). `docs/serve.md` lists the names.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use hyper::StatusCode;
use serde_json::Value;

use crate::answer::Answer;
use crate::observing::Last;
use crate::pool::Counts;

/// The type of the format.
pub const CONTENT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Number of answers by what was asked and their status.
#[derive(Debug, Default)]
pub struct Counters(Mutex<BTreeMap<(&'static str, u16), u64>>);

impl Counters {
    /// Counts an answer. What the path holds is no label: others choose it.
    pub fn answered(&self, path: &str, status: StatusCode) {
        let what = match path {
            "/" => "page",
            "/metrics" => "metrics",
            "/api/now" => "now",
            "/api/state" => "state",
            path if path.starts_with("/api/progress") => "progress",
            path if path.starts_with("/api/") => "model",
            _ => "other",
        };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner).entry((what, status.as_u16())).or_default() += 1;
    }
}

/// Metrics as they are written.
#[derive(Default)]
struct Text(String);

impl Text {
    /// Begins a metric.
    fn metric(&mut self, name: &'static str, kind: &str, help: &str) -> Metric<'_> {
        // A string takes all.
        let _ = write!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
        Metric { text: self, name }
    }
}

struct Metric<'t> {
    text: &'t mut Text,
    name: &'static str,
}

impl Metric<'_> {
    fn value(&mut self, labels: &[(&str, &str)], value: impl std::fmt::Display) {
        let labels: Vec<String> = labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
        let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        let _ = writeln!(self.text.0, "{}{labels} {value}", self.name);
    }
}

/// The value of a label: backslash, quote and line feed are escaped, as the format wants it.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

fn seconds(ns: f64) -> f64 {
    ns / 1e9
}

fn present_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

/// Writes all metrics. The queue is left out where the source has none, or it is not known yet.
pub fn text(counters: &Counters, counts: &Counts, queue_now: Option<&Answer>, last: Option<&Last>) -> String {
    let mut text = Text::default();
    let found = queue_now.filter(|now| now.status.is_success()).and_then(|now| serde_json::from_slice(&now.body).ok());
    let found: Value = found.unwrap_or_default();
    if found.is_object() {
        queue(&mut text, &found);
    }
    let observed_ns = last.and_then(|last| last.ended_ns).or_else(|| found["as_of_ns"].as_i64());
    if let Some(ns) = observed_ns {
        let age = seconds(present_ns().saturating_sub(ns) as f64);
        text.metric(
            "flowmine_last_observation_age_seconds",
            "gauge",
            "Time since the last poll of this server or, without one, since the last recorded change.",
        )
        .value(&[], age);
    }
    if let Some(last) = last {
        text.metric("flowmine_polls_total", "counter", "Polls of this server that succeeded.").value(&[], last.polls);
        text.metric("flowmine_poll_failed", "gauge", "Whether the last poll of this server failed.")
            .value(&[], u8::from(last.failed.is_some()));
    }
    let mut requests = text.metric("flowmine_serve_requests_total", "counter", "Requests by what was asked and the status of the answer.");
    for ((what, status), number) in counters.0.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        requests.value(&[("of", what), ("status", &status.to_string())], number);
    }
    for (name, kind, help, value) in [
        ("flowmine_serve_computed_total", "counter", "Results that were computed.", counts.computed),
        ("flowmine_serve_kept_total", "counter", "Requests that were answered by a result in memory.", counts.kept),
        (
            "flowmine_serve_abandoned_total",
            "counter",
            "Results that were left unfinished because no client waited for them.",
            counts.abandoned,
        ),
        ("flowmine_serve_refused_total", "counter", "Requests that were refused because too many waited.", counts.refused),
        ("flowmine_serve_in_work", "gauge", "Results that are computed or wait for a thread.", counts.in_work),
        ("flowmine_serve_cache_bytes", "gauge", "Bytes of the results in memory.", counts.cache_bytes),
    ] {
        text.metric(name, kind, help).value(&[], value);
    }
    text.0
}

fn queue(text: &mut Text, now: &Value) {
    type Part = (&'static str, &'static str, fn(&Value) -> f64);
    let parts: [Part; 4] = [
        ("flowmine_queue_jobs", "Jobs that have not ended, by what they do or wait for.", |of| of["jobs"].as_f64().unwrap_or(0.0)),
        ("flowmine_queue_cpus", "CPUs of these jobs.", |of| of["cpus"].as_f64().unwrap_or(0.0)),
        ("flowmine_queue_seconds_sum", "Sum of the times since when they do so.", |of| seconds(of["sum_ns"].as_f64().unwrap_or(0.0))),
        ("flowmine_queue_seconds_max", "Longest of these times.", |of| seconds(of["longest_ns"].as_f64().unwrap_or(0.0))),
    ];
    for (name, help, value) in parts {
        let mut metric = text.metric(name, "gauge", help);
        for of in now["queue"].as_array().into_iter().flatten() {
            let word = |key: &str| of[key].as_str().unwrap_or_default().to_owned();
            let state = if of["waits"] == true { "waiting" } else { "started" };
            metric.value(&[("cluster", &word("cluster")), ("state", state), ("doing", &word("doing"))], value(of));
        }
    }
    for (name, help, key) in [
        ("flowmine_failed_jobs", "Jobs that ended in another state than COMPLETED in the day before the last observation.", "failed_jobs"),
        ("flowmine_left_jobs", "Jobs that left the queue in that day with an unknown outcome.", "left_jobs"),
        ("flowmine_rejected_inputs", "Inputs that were rejected when the dataset was written.", "errors"),
        ("flowmine_odd_inputs", "Inputs with warnings.", "warnings"),
    ] {
        text.metric(name, "gauge", help).value(&[], now[key].as_u64().unwrap_or(0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::{Answer, JSON};

    #[test]
    fn names_of_clusters_cannot_break_a_line() {
        let queue = serde_json::json!({"as_of_ns": null, "queue": [{"cluster": "a\"\n\\b", "doing": "running", "waits": false,
            "jobs": 2, "cpus": 8, "sum_ns": 3_000_000_000u64, "longest_ns": 2_000_000_000u64}], "failed_jobs": 1});
        let counters = Counters::default();
        counters.answered("/nowhere\n", StatusCode::NOT_FOUND);
        let text = text(&counters, &Counts::default(), Some(&Answer::new(JSON, queue.to_string())), None);
        let line = "flowmine_queue_jobs{cluster=\"a\\\"\\n\\\\b\",state=\"started\",doing=\"running\"} 2\n";
        assert!(text.contains(line), "{text}");
        assert!(text.contains("flowmine_queue_seconds_sum{cluster=\"a\\\"\\n\\\\b\",state=\"started\",doing=\"running\"} 3\n"));
        assert!(
            text.contains("flowmine_serve_requests_total{of=\"other\",status=\"404\"} 1\n") && text.contains("flowmine_failed_jobs 1\n")
        );
        assert!(!text.contains("last_observation_age"), "it is not known");
        let is_line = |line: &str| line.starts_with("# HELP ") || line.starts_with("# TYPE ") || line.starts_with("flowmine_");
        assert!(text.lines().all(is_line), "{text}");
    }
}

//! Summary of Makeflow's resource monitor for one rule: `--monitor=DIR` writes
//! `DIR/resource-rule-N.summary`.
//!
//! JSON; a number is `[0.031185,"s"]`. Sizes are rounded to whole megabytes of 1024² bytes, so that
//! little I/O is 0. The summary of a retried rule is that of its last attempt.

use serde_json::Value;

use crate::{Row, json};

/// Reads a summary with its command; `None` when the text is not a summary.
pub fn read(text: &str) -> Option<Row> {
    let summary = json::from_str(&without_odd_escapes(text)).ok()?;
    summary.get("monitor_version")?;
    let unit = |name: &str, unit: &str| {
        summary[name].as_array().filter(|pair| pair.get(1).and_then(Value::as_str) == Some(unit))?.first()?.as_f64()
    };
    let ns = |name: &str| ns(unit(name, "s")?);
    let megabytes = |name: &str| bytes(unit(name, "MB")?);
    let (wall, cpu) = (unit("wall_time", "s"), unit("cpu_time", "s"));
    let exit_code = summary["exit_status"].as_i64();
    Some(Row {
        engine: crate::engine_names::MAKEFLOW.into(),
        command: summary["command"].as_str().map(|command| command.to_owned().into()),
        host: summary["host"].as_str().map(|host| host.to_owned().into()),
        exit_code,
        status: match exit_code {
            Some(0) => "completed",
            Some(_) => "failed",
            None => "unknown",
        }
        .into(),
        started_ns: ns("start"),
        started_precision_ns: ns("start").map(|_| 1000),
        finished_ns: ns("end"),
        finished_precision_ns: ns("end").map(|_| 1000),
        realtime_s: wall,
        cpu_percent: wall.zip(cpu).filter(|(wall, _)| *wall > 0.0).map(|(wall, cpu)| cpu / wall * 100.0),
        peak_rss_bytes: megabytes("memory"),
        peak_vmem_bytes: megabytes("virtual_memory"),
        rchar_bytes: megabytes("bytes_read"),
        wchar_bytes: megabytes("bytes_written"),
        ..Row::default()
    })
}

/// Converts seconds since 1970 to nanoseconds. The precision is a microsecond: that of the monitor
/// and of an f64.
pub fn ns(seconds: f64) -> Option<i64> {
    Some((seconds * 1e6).round() as i64).filter(|us| *us > 0)?.checked_mul(1000)
}

/// Converts megabytes of the resource monitor, 2^20 bytes each, to bytes.
pub fn bytes(megabytes: f64) -> Option<i64> {
    (0.0..1e12).contains(&megabytes).then(|| (megabytes * f64::from(1 << 20)).round() as i64)
}

/// Replaces `\'`, which the monitor writes for a single quote and which is not JSON.
fn without_odd_escapes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, if c == '\\' { chars.next() } else { None }) {
            ('\\', Some('\'')) => out.push('\''),
            (c, escaped) => out.extend([Some(c), escaped].into_iter().flatten()),
        }
    }
    out
}

/// Returns the rule's number from the file's name, in Makeflow's default form.
pub fn node(name: &str) -> Option<&str> {
    let name = name.trim_end_matches(".gz").strip_prefix("resource-rule-")?;
    name.strip_suffix(".summary").or_else(|| name.strip_suffix(".series"))
}

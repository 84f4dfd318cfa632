//! The numbers of a picture as CSV and JSON.
//!
//! CSV is as `flowmine export` writes it (RFC 4180, no formulas), nothing for an unknown value.
//! JSON:
//!
//! ```json
//! { "format": "flowmine-access-share", "version": 1, "files_neither_read_nor_written": 3, "files_of_nobody": 2,
//!   "lost_operations": 0, "lost_bytes": 0, "points": [ { "logical_task": "ALIGN", … } ] }
//! { "format": "flowmine-accesses", "version": 1, "path": "/data/a.fq", "hosts": ["n1"], "merged": false,
//!   "users": [ … ], "versions": [ … ], "not_drawn": { … }, "bars": [ … ] }
//! ```
//!
//! Points and bars have the same columns in both. Times are UTC nanoseconds, those that end in `_s`
//! seconds since the file's first access.

use std::io::{self, Write};

use flowmine_eventlog::csv;
use serde_json::{Map, Value, json};

use super::accesses::{Accesses, Sum, User};
use super::merge::Bar;
use super::share::{Group, Point, Shares};

const SHARE_COLUMNS: &[&str] =
    &["logical_task", "kind", "task", "host", "path", "use", "access_share", "read_bytes", "written_bytes", "first_ns", "last_ns"];

const BAR_COLUMNS: &[&str] = &[
    "logical_task",
    "kind",
    "task",
    "op",
    "first_ns",
    "last_ns",
    "first_s",
    "last_s",
    "first_share",
    "last_share",
    "offset",
    "end_offset",
    "bytes",
    "operations",
];

/// Writes the points as CSV.
///
/// # Errors
/// Those of `out`.
pub fn shares_csv(shares: &Shares, out: &mut dyn Write) -> io::Result<()> {
    head(SHARE_COLUMNS, out)?;
    points(shares).try_for_each(|(group, one)| row(&point(group, one), out))
}

/// Writes the bars as CSV.
///
/// # Errors
/// Those of `out`.
pub fn accesses_csv(accesses: &Accesses, out: &mut dyn Write) -> io::Result<()> {
    head(BAR_COLUMNS, out)?;
    accesses.bars.iter().try_for_each(|one| row(&bar(accesses, one), out))
}

/// Writes the points as JSON.
///
/// # Errors
/// Those of `out`.
pub fn shares_json(shares: &Shares, out: &mut dyn Write) -> io::Result<()> {
    let points: Vec<Value> = points(shares).map(|(group, one)| object(SHARE_COLUMNS, point(group, one))).collect();
    document(
        json!({
            "format": "flowmine-access-share", "version": 1, "files_neither_read_nor_written": shares.untouched, "files_of_nobody": shares.nobodys,
            "lost_operations": shares.lost.count, "lost_bytes": shares.lost.bytes, "points": points,
        }),
        out,
    )
}

/// Writes all that is drawn of a file as JSON.
///
/// # Errors
/// Those of `out`.
pub fn accesses_json(accesses: &Accesses, out: &mut dyn Write) -> io::Result<()> {
    let sum = |sum: &Sum| {
        let (first, last) = sum.span_ns.unzip();
        json!({ "operations": sum.operations, "bytes": sum.bytes, "first_ns": first, "last_ns": last })
    };
    let user = |user: &User| {
        let (start, end) = user.time_ns.unzip();
        json!({
            "logical_task": user.logical_task, "kind": user.owner.kind(), "task": user.owner.id(), "started_ns": start, "ended_ns": end,
            "read": sum(&user.read), "written": sum(&user.written),
        })
    };
    let missing = &accesses.missing;
    let versions = accesses.versions.iter().map(|one| json!({ "version": one.version, "origin": one.origin, "first_ns": one.first_ns }));
    document(
        json!({
            "format": "flowmine-accesses", "version": 1, "path": accesses.path, "hosts": accesses.hosts, "merged": accesses.merged,
            "users": accesses.users.iter().map(user).collect::<Vec<_>>(),
            "versions": versions.collect::<Vec<_>>(),
            "not_drawn": {
                "failed": missing.failed, "without_offset": missing.no_offset.0, "bytes_without_offset": missing.no_offset.1,
                "without_result": missing.no_result, "page_faults": missing.faults, "bytes_known_as_sums_only": missing.only_sums.0,
                "bytes_that_task_io_does_not_have": missing.only_sums.1, "lost_on_these_hosts": missing.lost,
            },
            "bars": accesses.bars.iter().map(|one| object(BAR_COLUMNS, bar(accesses, one))).collect::<Vec<_>>(),
        }),
        out,
    )
}

fn points(shares: &Shares) -> impl Iterator<Item = (&Group, &Point)> {
    shares.groups.iter().flat_map(|group| group.points.iter().map(move |point| (group, point)))
}

fn point(group: &Group, point: &Point) -> Vec<Value> {
    vec![
        json!(group.logical_task),
        json!(point.owner.kind()),
        json!(point.owner.id()),
        json!(point.host),
        json!(point.path),
        json!(point.used.name()),
        json!(point.share),
        json!(point.read_bytes),
        json!(point.written_bytes),
        json!(point.first_ns),
        json!(point.last_ns),
    ]
}

fn bar(accesses: &Accesses, bar: &Bar) -> Vec<Value> {
    let user = accesses.users.get(bar.owner as usize);
    let zero = accesses.extent.first_ns;
    let seconds = |ns: i64| ns.saturating_sub(zero) as f64 / 1e9;
    let share = |ns: i64| user.and_then(|user| user.share(ns));
    vec![
        json!(user.and_then(|user| user.logical_task.as_deref())),
        json!(user.map(|user| user.owner.kind())),
        json!(user.map(|user| user.owner.id())),
        json!(if bar.write { "write" } else { "read" }),
        json!(bar.first_ns),
        json!(bar.last_ns),
        json!(seconds(bar.first_ns)),
        json!(seconds(bar.last_ns)),
        json!(share(bar.first_ns)),
        json!(share(bar.last_ns)),
        json!(bar.offset),
        json!(bar.end),
        json!(bar.bytes),
        json!(bar.operations),
    ]
}

fn object(columns: &[&str], values: Vec<Value>) -> Value {
    Value::Object(columns.iter().map(|name| (*name).to_owned()).zip(values).collect::<Map<_, _>>())
}

fn document(value: Value, out: &mut dyn Write) -> io::Result<()> {
    flowmine_draw::json::write(&value, out)
}

fn head(columns: &[&str], out: &mut dyn Write) -> io::Result<()> {
    write!(out, "{}\r\n", columns.join(","))
}

fn row(values: &[Value], out: &mut dyn Write) -> io::Result<()> {
    let mut line = Vec::new();
    for (at, value) in values.iter().enumerate() {
        if at > 0 {
            line.push(b',');
        }
        match value {
            Value::Null => {}
            Value::String(text) => csv::field(text, &mut line),
            other => line.extend_from_slice(other.to_string().as_bytes()),
        }
    }
    line.extend_from_slice(b"\r\n");
    out.write_all(&line)
}

//! The numbers of a figure as CSV and JSON.
//!
//! CSV is as `flowmine export` writes it (RFC 4180, no formulas), nothing for an unknown value.
//! Points and bars have the same columns in CSV and JSON. Times are UTC nanoseconds, those that end
//! in `_s` seconds since the file's first access.

use std::io::{self, Write};

use flowmine_draw::document::{self, Document, DocumentFormat, Entries};
use flowmine_eventlog::csv;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::file_span::{Group, Point, Shares};
use super::file_timeline::{Accesses, Missing, Sum, User, Version};
use super::merge::Bar;

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

/// A task or job and a file that it used.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Point")]
struct JsonPoint<'a> {
    /// The share of the task's time from its first to its last access, 0 to 1.
    access_share: Option<f64>,
    /// When the first access began.
    first_ns: Option<i64>,
    /// Host on which the file was used.
    host: &'a str,
    /// `task`, `job`, `pod` or `container`.
    kind: &'static str,
    /// When the last access ended.
    last_ns: Option<i64>,
    /// The logical task; null for what has none.
    logical_task: Option<&'a str>,
    /// Path of the file; null where none is known.
    path: Option<&'a str>,
    /// Bytes read.
    read_bytes: i64,
    /// Id of the attempt, job, pod or container.
    task: &'a str,
    /// What was done to the file.
    r#use: &'static str,
    /// Bytes written.
    written_bytes: i64,
}

/// Shares of tasks' times in which they used their files.
#[derive(Serialize, JsonSchema)]
struct JsonShares<'a> {
    /// Number of files, for each task, that were neither read nor written.
    files_neither_read_nor_written: u64,
    /// Number of files whose reads and writes belong to nobody.
    files_of_nobody: u64,
    /// Bytes of the operations that the traces lack.
    lost_bytes: u64,
    /// Number of operations that the traces lack.
    lost_operations: u64,
    /// The tasks and their files.
    points: Vec<JsonPoint<'a>>,
}

impl Document for JsonShares<'_> {
    const FORMAT: &'static str = "flowmine-file-span";
}

/// The format of the JSON document of shares.
pub const SHARES_DOCUMENT: DocumentFormat = DocumentFormat::new::<JsonShares<'static>>();

/// Operations of one user in one direction.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Sum")]
struct JsonSum {
    /// Bytes moved.
    bytes: i64,
    /// When the first one began.
    first_ns: Option<i64>,
    /// When the last one ended.
    last_ns: Option<i64>,
    /// Number of operations.
    operations: u64,
}

/// A user of the file: an attempt at a task, a job, a pod or a container.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "User")]
struct JsonUser<'a> {
    /// When it ended.
    ended_ns: Option<i64>,
    /// `task`, `job`, `pod`, `container` or `unassigned`.
    kind: &'static str,
    /// The logical task; null for what has none.
    logical_task: Option<&'a str>,
    /// Its reads.
    read: JsonSum,
    /// When it started.
    started_ns: Option<i64>,
    /// Id of the attempt, job, pod or container.
    task: &'a str,
    /// Its writes.
    written: JsonSum,
}

/// A version of the file.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Version")]
struct JsonVersion<'a> {
    /// When its first write began.
    first_ns: i64,
    /// How it began, as in `data_flow.origin`.
    origin: &'a str,
    /// Its number, as in `data_flow.version`.
    version: i64,
}

/// What is known of the file and not in `bars`.
#[derive(Serialize, JsonSchema)]
struct NotDrawn {
    /// Bytes that are known as sums only.
    bytes_known_as_sums_only: i64,
    /// Bytes that `task_io` does not have.
    bytes_that_task_io_does_not_have: i64,
    /// Bytes of reads and writes without a known offset.
    bytes_without_offset: i64,
    /// Number of failed reads and writes.
    failed: u64,
    /// Number of operations that were lost on these hosts while the file was used.
    lost_on_these_hosts: u64,
    /// Number of page faults of mappings of the file.
    page_faults: u64,
    /// Number of reads and writes without a known offset.
    without_offset: u64,
    /// Number of reads and writes without a known result.
    without_result: u64,
}

/// Operations that are drawn as one bar.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Bar")]
struct JsonBar<'a> {
    /// Bytes moved.
    bytes: i64,
    /// The end of the highest byte.
    end_offset: i64,
    /// When the first operation began.
    first_ns: i64,
    /// The same, in seconds since the first access.
    first_s: f64,
    /// The same, as a share of the user's time.
    first_share: Option<f64>,
    /// `task`, `job`, `pod`, `container` or `unassigned`.
    kind: Option<&'static str>,
    /// When the last operation ended.
    last_ns: i64,
    /// The same, in seconds since the first access.
    last_s: f64,
    /// The same, as a share of the user's time.
    last_share: Option<f64>,
    /// The logical task; null for what has none.
    logical_task: Option<&'a str>,
    /// Offset of the lowest byte.
    offset: i64,
    /// `read` or `write`.
    op: &'static str,
    /// Number of operations.
    operations: u64,
    /// Id of the attempt, job, pod or container.
    task: Option<&'a str>,
}

/// The reads and writes of one file.
#[derive(Serialize, JsonSchema)]
struct JsonAccesses<'a> {
    /// The reads and writes.
    bars: Entries<'a, JsonBar<'a>>,
    /// The hosts on which the file was used.
    hosts: &'a [String],
    /// Whether a bar stands for several operations.
    merged: bool,
    /// What is known of the file and not in `bars`.
    not_drawn: NotDrawn,
    /// Path of the file.
    path: &'a str,
    /// The users of the file, in the order of their first access.
    users: Entries<'a, JsonUser<'a>>,
    /// The versions of the file, where there are several.
    versions: Entries<'a, JsonVersion<'a>>,
}

impl Document for JsonAccesses<'_> {
    const FORMAT: &'static str = "flowmine-file-timeline";
}

/// The format of the JSON document of the accesses to a file.
pub const ACCESSES_DOCUMENT: DocumentFormat = DocumentFormat::new::<JsonAccesses<'static>>();

/// Writes the points as CSV.
///
/// # Errors
/// Those of `out`.
pub fn shares_csv(shares: &Shares, out: &mut dyn Write) -> io::Result<()> {
    head(SHARE_COLUMNS, out)?;
    points(shares).try_for_each(|point| row(SHARE_COLUMNS, &point, out))
}

/// Writes the bars as CSV.
///
/// # Errors
/// Those of `out`.
pub fn accesses_csv(accesses: &Accesses, out: &mut dyn Write) -> io::Result<()> {
    head(BAR_COLUMNS, out)?;
    accesses.bars.iter().try_for_each(|one| row(BAR_COLUMNS, &bar(accesses, one), out))
}

/// Writes the points as JSON.
///
/// # Errors
/// Those of `out`.
pub fn shares_json(shares: &Shares, out: &mut dyn Write) -> io::Result<()> {
    let json = JsonShares {
        files_neither_read_nor_written: shares.untouched,
        files_of_nobody: shares.nobodys,
        lost_bytes: shares.lost.bytes,
        lost_operations: shares.lost.count,
        points: points(shares).collect(),
    };
    document::write(&json, out)
}

/// Writes all that is drawn of a file as JSON.
///
/// # Errors
/// Those of `out`.
pub fn accesses_json(accesses: &Accesses, out: &mut dyn Write) -> io::Result<()> {
    let json = JsonAccesses {
        bars: Entries::new(&accesses.bars, |one| bar(accesses, one)),
        hosts: &accesses.hosts,
        merged: accesses.merged,
        not_drawn: not_drawn(&accesses.missing),
        path: &accesses.path,
        users: Entries::new(&accesses.users, user),
        versions: Entries::new(&accesses.versions, version),
    };
    document::write(&json, out)
}

fn points(shares: &Shares) -> impl Iterator<Item = JsonPoint<'_>> {
    shares.groups.iter().flat_map(|group| group.points.iter().map(move |one| point(group, one)))
}

fn point<'a>(group: &'a Group, point: &'a Point) -> JsonPoint<'a> {
    JsonPoint {
        access_share: point.share,
        first_ns: point.first_ns,
        host: &point.host,
        kind: point.owner.kind(),
        last_ns: point.last_ns,
        logical_task: group.logical_task.as_deref(),
        path: point.path.as_deref(),
        read_bytes: point.read_bytes,
        task: point.owner.id(),
        r#use: point.used.name(),
        written_bytes: point.written_bytes,
    }
}

fn sum(sum: &Sum) -> JsonSum {
    let (first_ns, last_ns) = sum.span_ns.unzip();
    JsonSum { bytes: sum.bytes, first_ns, last_ns, operations: sum.operations }
}

fn user(user: &User) -> JsonUser<'_> {
    let (started_ns, ended_ns) = user.time_ns.unzip();
    JsonUser {
        ended_ns,
        kind: user.owner.kind(),
        logical_task: user.logical_task.as_deref(),
        read: sum(&user.read),
        started_ns,
        task: user.owner.id(),
        written: sum(&user.written),
    }
}

fn version(of: &Version) -> JsonVersion<'_> {
    JsonVersion { first_ns: of.first_ns, origin: &of.origin, version: of.version }
}

fn not_drawn(missing: &Missing) -> NotDrawn {
    NotDrawn {
        bytes_known_as_sums_only: missing.only_sums.0,
        bytes_that_task_io_does_not_have: missing.only_sums.1,
        bytes_without_offset: missing.no_offset.1,
        failed: missing.failed,
        lost_on_these_hosts: missing.lost,
        page_faults: missing.faults,
        without_offset: missing.no_offset.0,
        without_result: missing.no_result,
    }
}

fn bar<'a>(accesses: &'a Accesses, bar: &Bar) -> JsonBar<'a> {
    let user = accesses.users.get(bar.owner as usize);
    let zero = accesses.extent.first_ns;
    let seconds = |ns: i64| ns.saturating_sub(zero) as f64 / 1e9;
    let share = |ns: i64| user.and_then(|user| user.share(ns));
    JsonBar {
        bytes: bar.bytes,
        end_offset: bar.end,
        first_ns: bar.first_ns,
        first_s: seconds(bar.first_ns),
        first_share: share(bar.first_ns),
        kind: user.map(|user| user.owner.kind()),
        last_ns: bar.last_ns,
        last_s: seconds(bar.last_ns),
        last_share: share(bar.last_ns),
        logical_task: user.and_then(|user| user.logical_task.as_deref()),
        offset: bar.offset,
        op: if bar.write { "write" } else { "read" },
        operations: bar.operations,
        task: user.map(|user| user.owner.id()),
    }
}

fn head(columns: &[&str], out: &mut dyn Write) -> io::Result<()> {
    write!(out, "{}\r\n", columns.join(","))
}

/// Writes the columns of a record.
fn row(columns: &[&str], record: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    let record = serde_json::to_value(record)?;
    let mut line = Vec::new();
    for (at, column) in columns.iter().enumerate() {
        if at > 0 {
            line.push(b',');
        }
        match &record[column] {
            Value::Null => {}
            Value::String(text) => csv::field(text, &mut line),
            other => line.extend_from_slice(other.to_string().as_bytes()),
        }
    }
    line.extend_from_slice(b"\r\n");
    out.write_all(&line)
}

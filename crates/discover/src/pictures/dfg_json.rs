//! A directly-follows graph as JSON.
//!
//! Names are as the log has them and are unique; they are not shortened. Activities are sorted by
//! name, edges by the names of their ends. Statistics are in seconds or bytes, or null when nothing
//! is known.

use std::collections::BTreeMap;
use std::io::{self, Write};

use flowmine_draw::document::{self, Document, DocumentFormat, Entries};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::dfg::title;
use crate::about;
use crate::dfg::{Activity, Concurrent, Dfg, Edge, FlowTotals, OnPath};
use crate::stats::Stats;

/// A directly-follows graph. Made while it is written: of millions of activities one is in memory.
#[derive(Serialize, JsonSchema)]
pub(super) struct JsonDfg<'a> {
    /// Title of the figure.
    title: String,
    /// What an instance is, such as `task`.
    instance: &'a str,
    /// What a case is, in words.
    case_notion: &'a str,
    /// Filters that were applied before.
    filters: &'a [String],
    /// What is not in the graph, in sentences.
    left_out: Vec<String>,
    /// Number of cases.
    cases: u64,
    /// Number of cases without instances.
    empty_cases: u64,
    /// Number of instances.
    instances: u64,
    /// Number of steps in which the later instance has the earlier time.
    backward_steps: u64,
    /// Number of steps without a known time.
    steps_without_time: u64,
    /// The activities.
    activities: Entries<'a, JsonActivity<'a>>,
    /// The activities with which cases begin.
    start_activities: Entries<'a, Terminal<'a>>,
    /// The activities with which cases end.
    end_activities: Entries<'a, Terminal<'a>>,
    /// The pairs of activities of which one directly follows the other.
    edges: Entries<'a, JsonEdge<'a>>,
    /// The pairs of activities that overlap in time.
    concurrent: Entries<'a, Pair<'a>>,
    /// Number of overlaps that are not counted in `concurrent`.
    uncounted_overlaps: u64,
    /// Bytes read, by where they came from; null where that is not known.
    flow_bytes: Option<FlowBytes>,
    /// Bytes read that belong to nothing in the log.
    read_bytes_of_others: u64,
    /// Bytes written that belong to nothing in the log.
    written_bytes_of_others: u64,
}

impl Document for JsonDfg<'_> {
    const FORMAT: &'static str = "flowmine-dfg";
    const VERSION: u32 = 2;
}

/// The format of the JSON document.
pub const DOCUMENT: DocumentFormat = DocumentFormat::new::<JsonDfg<'static>>();

/// An activity.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Activity")]
struct JsonActivity<'a> {
    /// Number of its aborted instances.
    aborted: u64,
    /// Number of its instances by who counted their bytes.
    bytes_from: BTreeMap<&'static str, u64>,
    /// Bytes read and written per second of service; null where one of them is not known.
    bytes_per_s: Option<f64>,
    /// Number of its instances that were not run because an earlier result was taken.
    cached: u64,
    /// Number of cases with it.
    cases: u64,
    /// Number of its failed instances.
    failed: u64,
    /// Number of its instances.
    frequency: u64,
    /// Largest number of its instances at the same time in one case.
    most_at_once: u64,
    /// Its name.
    name: &'a str,
    /// Time from being ready to the start, in seconds.
    queue_s: Option<JsonStats>,
    /// Bytes read.
    read_bytes: Option<JsonStats>,
    /// What of it lies on critical paths; null where nothing does.
    on_path: Option<JsonOnPath>,
    /// Number of further attempts at an instance.
    retries: u64,
    /// Time from the start to the end, in seconds.
    service_s: Option<JsonStats>,
    /// Number of its instances that have not ended.
    unfinished: u64,
    /// Bytes written.
    written_bytes: Option<JsonStats>,
}

/// A first or last activity.
#[derive(Serialize, JsonSchema)]
struct Terminal<'a> {
    /// Its name.
    activity: &'a str,
    /// Number of cases.
    cases: u64,
}

/// A pair of activities of which the second directly follows the first.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Edge")]
struct JsonEdge<'a> {
    /// Bytes that the second read of what the first wrote.
    bytes: Option<JsonStats>,
    /// Number of cases with it.
    cases: u64,
    /// How often.
    frequency: u64,
    /// Name of the first activity.
    from: &'a str,
    /// Sum of the waits for the last instance that is followed, in seconds.
    last_wait_s: f64,
    /// What of it lies on critical paths; null where nothing does.
    on_path: Option<JsonOnPath>,
    /// Name of the second activity.
    to: &'a str,
    /// Time from the end of the first to the start of the second, in seconds.
    wait_s: Option<JsonStats>,
}

/// What of an activity or an edge lies on critical paths of runs.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "OnPath")]
struct JsonOnPath {
    /// Number of its instances there.
    frequency: u64,
    /// Their time, in seconds.
    time_s: f64,
    /// Their cores times time, in core-hours; null where the cores of one of them are not known.
    core_hours: Option<f64>,
}

/// A pair of activities that overlap in time.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Concurrent")]
struct Pair<'a> {
    /// Name of one activity.
    a: &'a str,
    /// Name of the other activity.
    b: &'a str,
    /// How often an instance of one started while an instance of the other ran.
    frequency: u64,
    /// Time during which both ran, in seconds; null where too many ran at once.
    overlap_s: Option<f64>,
}

/// Bytes read, by where they came from. A number beyond 64 bits is the nearest double.
#[derive(Serialize, JsonSchema)]
struct FlowBytes {
    /// Bytes that another instance of the log wrote: those of the edges.
    #[schemars(with = "f64")]
    between: Value,
    /// Whether they are sizes of declared files and not traced.
    declared: bool,
    /// Bytes that were there before or that nobody in the log wrote.
    #[schemars(with = "f64")]
    from_outside: Value,
    /// Bytes that an instance read of what it wrote itself.
    #[schemars(with = "f64")]
    read_back: Value,
    /// Bytes read in the dataset by no instance of the log.
    #[schemars(with = "f64")]
    read_by_others: Value,
}

/// Statistics of values, in seconds or bytes. A number beyond 64 bits is the nearest double.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Statistics")]
pub(super) struct JsonStats {
    /// Number of values.
    count: u64,
    /// Largest value.
    #[schemars(with = "f64")]
    max: Value,
    /// Arithmetic mean.
    mean: f64,
    /// Median.
    median: f64,
    /// Smallest value.
    #[schemars(with = "f64")]
    min: Value,
    /// 95th percentile.
    p95: f64,
    /// Standard deviation.
    stdev: f64,
    /// Sum.
    #[schemars(with = "f64")]
    sum: Value,
}

impl JsonStats {
    /// Statistics of nanoseconds, in seconds.
    pub(super) fn seconds(of: &Option<Stats>) -> Option<Self> {
        of.as_ref().map(|of| {
            let second = |ns: f64| ns / 1e9;
            Self {
                count: of.count,
                max: json!(second(of.max as f64)),
                mean: second(of.mean),
                median: second(of.median),
                min: json!(second(of.min as f64)),
                p95: second(of.p95),
                stdev: second(of.stdev),
                sum: json!(second(of.sum as f64)),
            }
        })
    }

    /// Statistics of bytes.
    pub(super) fn bytes(of: &Option<Stats>) -> Option<Self> {
        let &Stats { count, sum, mean, median, p95, min, max, stdev } = of.as_ref()?;
        Some(Self { count, max: json!(max), mean, median, min: json!(min), p95, stdev, sum: integer(sum) })
    }
}

/// A whole number; beyond 64 bits, where JSON's readers have none, the nearest double.
pub(super) fn integer(number: i128) -> Value {
    match (i64::try_from(number), u64::try_from(number)) {
        (Ok(number), _) => json!(number),
        (_, Ok(number)) => json!(number),
        _ => json!(number as f64),
    }
}

impl<'a> JsonDfg<'a> {
    pub(super) fn new(dfg: &'a Dfg) -> Self {
        let name = move |at: usize| dfg.activities.get(at).map_or("", |activity| activity.name.as_str());
        let terminal = move |&(activity, cases): &(usize, u64)| Terminal { activity: name(activity), cases };
        let edge = move |of: &Edge| JsonEdge {
            bytes: JsonStats::bytes(&of.bytes),
            cases: of.cases,
            frequency: of.frequency,
            from: name(of.from),
            last_wait_s: of.last_wait_ns as f64 / 1e9,
            on_path: of.on_path.as_ref().map(on_path),
            to: name(of.to),
            wait_s: JsonStats::seconds(&of.wait_ns),
        };
        let pair = move |of: &Concurrent| Pair {
            a: name(of.a),
            b: name(of.b),
            frequency: of.frequency,
            overlap_s: of.overlap_ns.map(|ns| ns as f64 / 1e9),
        };
        Self {
            title: title(dfg),
            instance: &dfg.words.instance,
            case_notion: &dfg.words.notion,
            filters: &dfg.words.filters,
            left_out: dfg.left_out.sentences(),
            cases: dfg.cases,
            empty_cases: dfg.empty_cases,
            instances: dfg.instances,
            backward_steps: dfg.backward_steps,
            steps_without_time: dfg.steps_without_time,
            activities: Entries::new(&dfg.activities, activity),
            start_activities: Entries::new(&dfg.starts, terminal),
            end_activities: Entries::new(&dfg.ends, terminal),
            edges: Entries::new(&dfg.edges, edge),
            concurrent: Entries::new(&dfg.concurrent, pair),
            uncounted_overlaps: dfg.uncounted_overlaps,
            flow_bytes: dfg.flow.as_ref().map(flow_bytes),
            read_bytes_of_others: dfg.left_out.read_bytes_of_others,
            written_bytes_of_others: dfg.left_out.written_bytes_of_others,
        }
    }
}

fn activity(of: &Activity) -> JsonActivity<'_> {
    JsonActivity {
        aborted: of.aborted,
        bytes_from: of.bytes_from.iter().map(|&(from, n)| (about::origin(from), n)).collect(),
        bytes_per_s: of.bytes_per_s,
        cached: of.cached,
        cases: of.cases,
        failed: of.failed,
        frequency: of.frequency,
        most_at_once: of.most_at_once,
        name: &of.name,
        on_path: of.on_path.as_ref().map(on_path),
        queue_s: JsonStats::seconds(&of.queue_ns),
        read_bytes: JsonStats::bytes(&of.read_bytes),
        retries: of.retries,
        service_s: JsonStats::seconds(&of.service_ns),
        unfinished: of.unfinished,
        written_bytes: JsonStats::bytes(&of.written_bytes),
    }
}

fn on_path(of: &OnPath) -> JsonOnPath {
    JsonOnPath { frequency: of.frequency, time_s: of.time_ns as f64 / 1e9, core_hours: of.core_ns.map(|core_ns| core_ns as f64 / 3.6e12) }
}

fn flow_bytes(of: &FlowTotals) -> FlowBytes {
    FlowBytes {
        between: integer(of.between),
        declared: of.declared,
        from_outside: integer(of.from_outside),
        read_back: integer(of.read_back),
        read_by_others: integer(of.read_by_others),
    }
}

/// Writes the whole graph as a JSON document.
///
/// # Errors
/// When `out` cannot be written.
pub fn json(dfg: &Dfg, out: &mut dyn Write) -> io::Result<()> {
    document::write(&JsonDfg::new(dfg), out)
}

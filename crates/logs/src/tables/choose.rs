//! Which column is what: the names of a table's columns and options in, places out.

use flowmine_activity_log::Measure;

use super::columns::Want;
use super::error::TableError;
use super::options::TableOptions;

// Usual names; case and everything but letters and digits do not count, so `case_id` is `CaseID`.
const CASE: &[&str] =
    &["case:concept:name", "case_id", "case", "case_name", "trace_id", "case_key", "case_identifier", "case_number", "id_case"];
const ACTIVITY: &[&str] =
    &["concept:name", "activity", "activity_name", "activity_id", "task", "activity_en", "activity_label", "event", "event_name"];
const MOMENT: &[&str] = &[
    "time:timestamp",
    "timestamp",
    "complete",
    "complete_timestamp",
    "end",
    "end_timestamp",
    "end_time",
    "complete_time",
    "completion_time",
    "time",
    "datetime",
    "event_time",
    "event_timestamp",
    "end_date",
    "date",
    "start_timestamp",
    "start",
    "start_time",
    "start_date",
];
const END: &[&str] = &[
    "time:timestamp",
    "complete",
    "complete_timestamp",
    "end",
    "end_timestamp",
    "end_time",
    "complete_time",
    "completion_time",
    "end_date",
    "timestamp",
    "time",
    "datetime",
    "event_time",
];
const START: &[&str] = &["start_timestamp", "start", "start_time", "start_date"];
const LIFECYCLE: &[&str] = &["lifecycle:transition", "lifecycle_id", "lifecycle"];
const RESOURCE: &[&str] = &["org:resource", "resource_id", "resource"];
const INSTANCE: &[&str] = &["concept:instance", "activity_instance_id"];
const READ_BYTES: &[&str] = &["io:read_bytes", "read_bytes", "bytes_read"];
const WRITTEN_BYTES: &[&str] = &["io:written_bytes", "written_bytes", "bytes_written", "write_bytes"];

/// Numbers of our own tables under their exact names.
const OURS: [(&str, Measure, Want); 18] = [
    ("io:unique_read_bytes", Measure::UniqueReadBytes, Want::Numbers),
    ("io:read_operations", Measure::ReadCalls, Want::Numbers),
    ("io:write_operations", Measure::WriteCalls, Want::Numbers),
    ("task:cpus", Measure::Cpus, Want::Numbers),
    ("task:realtime_s", Measure::RunTimeNs, Want::Seconds),
    ("slurm:cpus", Measure::Cpus, Want::Numbers),
    ("task:memory_bytes", Measure::MemoryBytes, Want::Numbers),
    ("slurm:gpus", Measure::Gpus, Want::Numbers),
    ("slurm:gpu_percent", Measure::GpuPercent, Want::Numbers),
    ("slurm:cpu_time_ns", Measure::CpuTimeNs, Want::Numbers),
    // Not `slurm:memory_bytes`, which is of a node or a CPU.
    ("slurm:job_memory_bytes", Measure::MemoryBytes, Want::Numbers),
    ("slurm:job_peak_bytes", Measure::PeakMemoryBytes, Want::Numbers),
    ("task:peak_rss_bytes", Measure::PeakMemoryBytes, Want::Numbers),
    ("slurm:time_limit_s", Measure::TimeLimitNs, Want::Seconds),
    ("task:time_s", Measure::TimeLimitNs, Want::Seconds),
    ("io:io_time_ns", Measure::IoTimeNs, Want::Numbers),
    ("slurm:before_ready_ns", Measure::BeforeReadyNs, Want::Numbers),
    ("task:before_ready_ns", Measure::BeforeReadyNs, Want::Numbers),
];

/// The place of a column of times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeColumns {
    pub time: usize,
    /// The column with the dates, where `time` has times of day.
    pub date: Option<usize>,
}

impl TimeColumns {
    /// What is read of it.
    pub fn wanted(self) -> (usize, Want) {
        (self.time, self.date.map_or(Want::Times, Want::TimesOf))
    }
}

/// The places of the columns of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    pub case: usize,
    /// One column, or several with their values joined.
    pub activity: Vec<usize>,
    pub time: TimeColumns,
    /// Where an instance has a start of its own.
    pub start: Option<TimeColumns>,
    /// Whether the start was asked for by name.
    pub start_is_asked: bool,
    pub lifecycle: Option<usize>,
    pub resource: Option<usize>,
    pub instance: Option<usize>,
    /// With what is read of the column.
    pub measures: Vec<(Measure, usize, Want)>,
    pub attributes: Vec<(String, usize)>,
}

/// A column's name as it is compared: letters and digits only, in small letters. `CaseID`,
/// `Case ID` and `case_id` are one name.
fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).map(|c| c.to_ascii_lowercase()).collect()
}

/// Whether a list of names has those of a case and of an activity.
pub fn looks_like_a_log<'a>(names: impl Iterator<Item = &'a str>) -> bool {
    let names: Vec<String> = names.map(plain).collect();
    [CASE, ACTIVITY].iter().all(|list| list.iter().any(|name| names.contains(&plain(name))))
        || ["oceloid", "oceleid", "ocelactivity"].iter().filter(|name| names.iter().any(|other| other == *name)).count() >= 2
}

/// Whether one of the names is a usual one.
pub fn has_usual_name<'a>(mut names: impl Iterator<Item = &'a str>) -> bool {
    let usual = [CASE, ACTIVITY, MOMENT, END, START, LIFECYCLE, RESOURCE, INSTANCE];
    names.any(|name| {
        let is_of_objects = name.trim().to_ascii_lowercase().strip_prefix("ocel").is_some_and(|rest| rest.starts_with([':', '_']));
        let name = plain(name);
        is_of_objects || usual.iter().any(|list| list.iter().any(|usual| plain(usual) == name))
    })
}

/// Names as they are shown, not too many of them.
pub fn shown(names: &[String]) -> String {
    const SHOWN: usize = 40;
    let mut text =
        names.iter().take(SHOWN).map(|name| format!("{:?}", name.chars().take(80).collect::<String>())).collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN {
        text.push_str(&format!(" and {} more", names.len() - SHOWN));
    }
    if names.is_empty() { "none at all".to_owned() } else { text }
}

/// Columns without names as they are shown: by number, with their first values.
pub fn numbered(row: &[String]) -> String {
    const SHOWN: usize = 20;
    let shown = row.iter().zip(1..).take(SHOWN).map(|(value, at)| format!("{at} has {:?}", value.chars().take(40).collect::<String>()));
    shown.collect::<Vec<_>>().join(", ")
}

/// The names of a table, to look for columns in.
pub struct Chooser<'a> {
    names: &'a [String],
    plain: Vec<String>,
}

impl<'a> Chooser<'a> {
    pub fn new(names: &'a [String]) -> Self {
        Self { names, plain: names.iter().map(|name| plain(name)).collect() }
    }

    /// A column by the name that was asked for, which has to be there.
    pub fn named(&self, what: &'static str, name: &str) -> Result<usize, TableError> {
        let found = self.at(name);
        let by_number = || name.parse::<usize>().ok().and_then(|number| number.checked_sub(1)).filter(|at| *at < self.names.len());
        found.or_else(by_number).ok_or_else(|| TableError::NoSuchColumn { what, column: name.to_owned(), columns: shown(self.names) })
    }

    /// The first of the usual names that is there.
    pub fn usual(&self, names: &[&str]) -> Option<usize> {
        names.iter().find_map(|name| self.at(name))
    }

    /// The column of this name; one that is written exactly so goes before one that is not.
    fn at(&self, name: &str) -> Option<usize> {
        let exact = self.names.iter().position(|other| other == name);
        let plain = plain(name);
        exact.or_else(|| self.plain.iter().position(|other| !plain.is_empty() && *other == plain))
    }

    /// A column of times. One called `time` has its dates in `date`, where there is such a column.
    fn times(&self, at: usize, asked: Option<&String>) -> TimeColumns {
        let date = self.plain[at].strip_suffix("time").filter(|_| asked.is_none()).and_then(|before| {
            let name = format!("{before}date");
            self.plain.iter().position(|other| *other == name)
        });
        TimeColumns { time: at, date }
    }

    /// The two columns that were asked for as one of times.
    fn two(&self, what: &'static str, asked: Option<&String>) -> Result<Option<TimeColumns>, TableError> {
        match asked.filter(|name| !self.names.contains(name)).and_then(|name| name.split_once('+')) {
            Some((date, time)) => Ok(Some(TimeColumns { time: self.named(what, time)?, date: Some(self.named(what, date)?) })),
            None => Ok(None),
        }
    }

    fn optional(&self, what: &'static str, asked: Option<&String>, names: &[&str]) -> Result<Option<usize>, TableError> {
        match asked.map(String::as_str) {
            Some("") => Ok(None),
            Some(name) => self.named(what, name).map(Some),
            None => Ok(self.usual(names)),
        }
    }

    fn needed(&self, what: &'static str, option: &'static str, asked: Option<&String>, names: &[&str]) -> Result<usize, TableError> {
        let found = self.optional(what, asked, names)?;
        found.ok_or_else(|| TableError::NoColumn { what, option, columns: shown(self.names) })
    }
}

/// The columns of a log among those of a table.
pub fn choose(names: &[String], options: &TableOptions) -> Result<Choice, TableError> {
    let of = Chooser::new(names);
    let case = of.needed("case", "--case-column", options.case_column.as_ref(), CASE)?;
    let activity = match &options.activity_column {
        // A name with a plus in it is possible.
        Some(name) if !names.contains(name) && name.contains('+') => {
            name.split('+').map(|name| of.named("activity", name)).collect::<Result<_, _>>()?
        }
        asked => vec![of.needed("activity", "--activity-column", asked.as_ref(), ACTIVITY)?],
    };
    let start = match of.two("start", options.start_column.as_ref())? {
        None => of.optional("start", options.start_column.as_ref(), START)?.map(|at| of.times(at, options.start_column.as_ref())),
        two => two,
    };
    let start_is_asked = options.start_column.is_some();
    let asked = options.timestamp_column.as_ref();
    let end = match asked {
        None if start.is_some() => of.usual(END),
        _ => None,
    };
    let time = match (of.two("time", asked)?, end) {
        (Some(two), _) => two,
        (None, Some(end)) => of.times(end, asked),
        (None, None) => of.times(of.needed("time", "--timestamp-column", asked, MOMENT)?, asked),
    };
    let mut measures = Vec::new();
    for (measure, what, asked, usual) in [
        (Measure::ReadBytes, "bytes read", &options.read_bytes_column, READ_BYTES),
        (Measure::WrittenBytes, "bytes written", &options.written_bytes_column, WRITTEN_BYTES),
    ] {
        measures.extend(of.optional(what, asked.as_ref(), usual)?.map(|at| (measure, at, Want::Numbers)));
    }
    for (name, measure, want) in OURS {
        let there = names.iter().position(|other| other == name);
        if !measures.iter().any(|(of, ..)| *of == measure) {
            measures.extend(there.map(|at| (measure, at, want)));
        }
    }
    measures.sort_by_key(|(measure, ..)| *measure);
    let attributes = options.keep.iter().map(|name| Ok((name.clone(), of.named("attribute to keep", name)?)));
    Ok(Choice {
        case,
        activity,
        time,
        start: start.filter(|start| start.time != time.time),
        start_is_asked,
        lifecycle: of.optional("lifecycle", options.lifecycle_column.as_ref(), LIFECYCLE)?,
        resource: of.optional("resource", options.resource_column.as_ref(), RESOURCE)?,
        instance: of.optional("instance", options.instance_column.as_ref(), INSTANCE)?,
        measures,
        attributes: attributes.collect::<Result<_, TableError>>()?,
    })
}

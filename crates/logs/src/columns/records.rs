//! Records of logs as columns: XES, OCEL, imported logs, logs that can be walked through.
//!
//! In go records in the order of their log; out comes an [`ActivityLog`]. Memory holds the columns:
//! for an event without attributes that are kept 20 bytes, for each relation to an object 4, for
//! each object its name.

use std::collections::BTreeSet;
use std::path::Path;

use flowmine_activity_log::{ActivityLog, BytesFrom, EventRow, InstanceRow, LogBuilder, Measure, TooLarge, Transition, UNKNOWN};
use flowmine_eventlog::read::{self, Finding, Format, Limits, Sink};
use flowmine_eventlog::{Attribute, CaseHeader, CaseLog, LogError, ObjectLog, Record, Types, Value};

use super::objects::Objects;
use super::options::{OR, ReadOptions, Unit};
use crate::log_file::Findings;
use crate::log_file::as_objects::UNNAMED;

/// The lifecycle of an event, under the key of XES and those that our own OCEL logs and others use.
const TRANSITION: [&str; 2] = ["lifecycle:transition", "lifecycle"];

/// When the instance started of which the event is the end, as PM4Py writes it. It counts until an
/// event is a start by its lifecycle.
const START: &str = "start_timestamp";

/// Numbers of events that mean something to models, under the keys of our own logs.
const MEASURES: [(&str, Measure, f64); 20] = [
    ("io:read_bytes", Measure::ReadBytes, 1.0),
    ("io:written_bytes", Measure::WrittenBytes, 1.0),
    ("io:unique_read_bytes", Measure::UniqueReadBytes, 1.0),
    ("io:read_operations", Measure::ReadCalls, 1.0),
    ("io:write_operations", Measure::WriteCalls, 1.0),
    ("task:cpus", Measure::Cpus, 1.0),
    ("task:realtime_s", Measure::RunTimeNs, 1e9),
    ("slurm:cpus", Measure::Cpus, 1.0),
    ("task:memory_bytes", Measure::MemoryBytes, 1.0),
    ("slurm:gpus", Measure::Gpus, 1.0),
    ("slurm:gpu_percent", Measure::GpuPercent, 1.0),
    ("slurm:cpu_time_ns", Measure::CpuTimeNs, 1.0),
    // Not `slurm:memory_bytes`, which is of a node or a CPU.
    ("slurm:job_memory_bytes", Measure::MemoryBytes, 1.0),
    ("slurm:job_peak_bytes", Measure::PeakMemoryBytes, 1.0),
    ("task:peak_rss_bytes", Measure::PeakMemoryBytes, 1.0),
    ("slurm:time_limit_s", Measure::TimeLimitNs, 1e9),
    ("task:time_s", Measure::TimeLimitNs, 1e9),
    ("io:io_time_ns", Measure::IoTimeNs, 1.0),
    ("slurm:before_ready_ns", Measure::BeforeReadyNs, 1.0),
    ("task:before_ready_ns", Measure::BeforeReadyNs, 1.0),
];

/// Event types of flowmine's own object-centric logs with `bytes` that were read or written.
const OF_FILES: [(&str, Measure); 2] = [("read file", Measure::ReadBytes), ("wrote file", Measure::WrittenBytes)];

/// Takes records and makes columns of them.
pub struct Columns {
    options: ReadOptions,
    builder: LogBuilder,
    objects: Objects,
    case: String,
    of_case: Vec<(usize, u32)>,
    case_number: u64,
    unnamed: Option<u32>,
    findings: Findings,
    header: CaseHeader,
    label: String,
    in_trace: bool,
    /// Whether an event was the start of an instance.
    has_starts: bool,
    required: RequiredKeys,
}

impl Columns {
    /// Columns as these options say.
    pub fn new(options: ReadOptions) -> Self {
        let keep = options.keep.clone();
        Self {
            builder: LogBuilder::new(&keep),
            objects: Objects::with_qualifiers(options.qualifiers.clone()),
            required: RequiredKeys::new(&options.required),
            options,
            case: String::new(),
            of_case: Vec::new(),
            case_number: 0,
            unnamed: None,
            findings: Findings::default(),
            header: CaseHeader::default(),
            label: String::new(),
            in_trace: false,
            has_starts: false,
        }
    }

    /// Takes a record of the log, after those before it.
    ///
    /// # Errors
    /// When there are too many events.
    pub fn take(&mut self, record: &Record<'_>) -> Result<(), TooLarge> {
        match record {
            Record::Trace(attributes) => {
                self.in_trace = true;
                self.case_number += 1;
                self.case.clear();
                if let Some(name) = Attribute::find(attributes, "concept:name") {
                    put_text(&name.value, &mut self.case);
                }
                if self.case.is_empty() {
                    // A trace without a name is also a case of its own.
                    self.case = format!("trace {}", self.case_number);
                }
                self.required.look(attributes, "case:");
                self.of_case.clear();
                for at in 0..self.options.keep.len() {
                    if let Some(key) = self.options.keep[at].strip_prefix("case:")
                        && let Some(value) = value_of(attributes, key)
                    {
                        let value = self.builder.value(at, &value);
                        self.of_case.push((at, value));
                    }
                }
                Ok(())
            }
            Record::CaseEvent(attributes) => {
                let time_ns = match Attribute::find(attributes, "time:timestamp").map(|time| &time.value) {
                    Some(Value::Time(ns)) => *ns,
                    _ => UNKNOWN,
                };
                self.event(attributes, None, time_ns)
            }
            Record::TraceEnd => {
                self.in_trace = false;
                self.builder.end_case(&self.case)
            }
            Record::Object(object) => self.objects.object(object),
            Record::Event(event) => {
                let before = self.builder.next_instance();
                self.event(&event.attributes, Some(&event.kind), event.time_ns)?;
                let at = self.builder.next_instance();
                if at > before { self.objects.event(event) } else { Ok(()) }
            }
        }
    }

    fn event(&mut self, attributes: &[Attribute<'_>], kind: Option<&str>, time_ns: i64) -> Result<(), TooLarge> {
        self.required.look(attributes, "");
        let told = TRANSITION.iter().find_map(|key| Attribute::find(attributes, key));
        let transition = match told.map(|told| &told.value) {
            Some(Value::String(text)) => Transition::parse(text),
            _ => Transition::Untold,
        };
        // Events of an object-centric log are moments of several objects: nothing is paired there.
        let unit = if kind.is_some() && self.options.unit == Unit::Instances { Unit::Events } else { self.options.unit };
        let Some(transition) = unit.takes(transition) else { return Ok(()) };
        self.put_label(attributes, kind);
        let activity = if self.label.is_empty() {
            self.builder.left_out().unnamed += 1;
            match self.unnamed {
                Some(unnamed) => unnamed,
                None => *self.unnamed.insert(self.builder.activity(UNNAMED)),
            }
        } else {
            self.builder.activity(&self.label)
        };
        let instance = match Attribute::find(attributes, "concept:instance").map(|instance| &instance.value) {
            Some(Value::String(text) | Value::Id(text)) if transition != Transition::Untold => Some(self.builder.instance_id(text)),
            Some(Value::Integer(number)) if transition != Transition::Untold => Some(self.builder.instance_id(&number.to_string())),
            _ => None,
        };
        let resource = match Attribute::find(attributes, "org:resource").map(|resource| &resource.value) {
            Some(Value::String(text)) => Some(self.builder.resource(text)),
            _ => None,
        };
        // What an event of a file moved stands under one key; its type says in which direction.
        let of_file = kind.and_then(|kind| OF_FILES.iter().find(|(of, _)| kind == *of)).map(|&(_, measure)| ("bytes", measure, 1.0));
        let mut measures = [(Measure::ReadBytes, UNKNOWN); MEASURES.len()];
        let mut known = 0;
        for attribute in attributes {
            let Some((_, measure, factor)) = MEASURES.iter().chain(&of_file).find(|(key, ..)| attribute.key == *key) else { continue };
            let number = match attribute.value {
                Value::Integer(number) if *factor == 1.0 => number,
                Value::Integer(number) => (number as f64 * factor) as i64,
                Value::Float(number) if number.is_finite() && number.abs() * factor < 9e18 => (number * factor) as i64,
                Value::Float(_) => {
                    self.builder.left_out().bad_numbers += 1;
                    continue;
                }
                _ => continue,
            };
            if known < measures.len() {
                measures[known] = (*measure, number);
                known += 1;
            }
        }
        let started = match Attribute::find(attributes, START).map(|start| &start.value) {
            Some(Value::Time(ns)) if unit == Unit::Instances && !self.has_starts => Some(*ns),
            _ => None,
        };
        self.has_starts |= transition == Transition::Start;
        let has_bytes = measures[..known].iter().any(|(measure, _)| matches!(measure, Measure::ReadBytes | Measure::WrittenBytes));
        let attempt = ["task:attempt", "slurm:attempt"].iter().find_map(|key| match Attribute::find(attributes, key)?.value {
            Value::Integer(number) => u32::try_from(number).ok(),
            _ => None,
        });
        let mut kept = self.of_case.clone();
        for at in 0..self.options.keep.len() {
            if let Some(value) = value_of(attributes, &self.options.keep[at]) {
                kept.push((at, self.builder.value(at, &value)));
            }
        }
        let attempt = attempt.unwrap_or(0);
        let measures = &measures[..known];
        let bytes_from = if has_bytes { BytesFrom::Log } else { BytesFrom::Nobody };
        if let Some(start_ns) = started
            && matches!(transition, Transition::Untold | Transition::Complete)
        {
            let (end_ns, status) = (time_ns, transition.status());
            self.builder.instance(&InstanceRow {
                activity,
                ready_ns: UNKNOWN,
                start_ns,
                end_ns,
                resource,
                status,
                attempt,
                measures,
                bytes_from,
                attributes: &kept,
            })?;
            return Ok(());
        }
        self.builder.event(&EventRow {
            activity,
            time_ns,
            transition,
            instance,
            resource,
            attempt,
            measures,
            bytes_from,
            attributes: &kept,
        })
    }

    fn put_label(&mut self, attributes: &[Attribute<'_>], kind: Option<&str>) {
        self.label.clear();
        if self.options.activity.is_empty() {
            match kind {
                Some(kind) => self.label.push_str(kind),
                None => {
                    if let Some(name) = Attribute::find(attributes, "concept:name") {
                        put_text(&name.value, &mut self.label);
                    }
                }
            }
            return;
        }
        for key in &self.options.activity {
            let before = self.label.len();
            if before > 0 {
                self.label.push('+');
            }
            let start = self.label.len();
            match (key.split(OR).find_map(|key| Attribute::find(attributes, key)), kind) {
                (Some(attribute), _) => put_text(&attribute.value, &mut self.label),
                (None, Some(kind)) if matches!(key.as_str(), "ocel:activity" | "concept:name") => self.label.push_str(kind),
                _ => {}
            }
            // What is not known is left out of the label.
            if self.label.len() == start {
                self.label.truncate(before);
            }
        }
    }

    /// The log, and what was odd about it.
    ///
    /// # Errors
    /// When there are too many cases, or none are of the type that was asked for.
    pub fn finish(mut self) -> Result<(ActivityLog, CaseHeader, Vec<Finding>), LogError> {
        self.required.check()?;
        if self.objects.is_used() {
            self.builder.end_case("").map_err(LogError::source)?;
            let mut log = self.builder.finish();
            self.objects.finish(&mut log, self.options.case_type.as_deref(), &mut self.findings)?;
            return Ok((log, self.header, self.findings.finish()));
        }
        if self.in_trace {
            self.builder.end_case(&self.case).map_err(LogError::source)?;
        }
        let mut log = self.builder.finish();
        log.words.ready = "scheduled".to_owned();
        let unit = if self.options.unit == Unit::Instances && !log.has_intervals() { Unit::Events } else { self.options.unit };
        log.words.instance = unit.word("instance");
        Ok((log, self.header, self.findings.finish()))
    }
}

/// Keys that the log must have, and the keys that it has.
struct RequiredKeys {
    missing: Vec<String>,
    known: BTreeSet<String>,
}

/// Number of keys that a message names.
const KEYS_SHOWN: usize = 100;

impl RequiredKeys {
    fn new(keys: &[String]) -> Self {
        Self { missing: keys.to_vec(), known: BTreeSet::new() }
    }

    /// Looks at the attributes of an event or, with its prefix, of a trace.
    fn look(&mut self, attributes: &[Attribute<'_>], prefix: &str) {
        if self.missing.is_empty() {
            return;
        }
        self.missing.retain(|key| key.strip_prefix(prefix).is_none_or(|key| Attribute::find(attributes, key).is_none()));
        for attribute in attributes {
            if self.known.len() < KEYS_SHOWN {
                self.known.insert(format!("{prefix}{}", attribute.key));
            }
        }
    }

    /// Refuses a log in which a key is missing. One without any attribute has nothing to choose.
    fn check(&self) -> Result<(), LogError> {
        match self.missing.first() {
            Some(missing) if !self.known.is_empty() => {
                let known: Vec<&str> = self.known.iter().map(String::as_str).collect();
                let message = format!("the log has no attribute {missing:?} to choose by; it has: {}", known.join(", "));
                Err(LogError::RefusedAt { place: "--where".to_owned(), message })
            }
            _ => Ok(()),
        }
    }
}

fn put_text(value: &Value<'_>, out: &mut String) {
    out.push_str(&value.as_name().unwrap_or_default());
}

fn value_of(attributes: &[Attribute<'_>], key: &str) -> Option<String> {
    Some(Attribute::find(attributes, key)?.value.as_name().unwrap_or_default().into_owned())
}

impl Sink for Columns {
    fn types(&mut self, types: Types) -> Result<(), LogError> {
        types.objects.iter().for_each(|def| self.objects.declare(&def.name));
        self.objects.is_object_log();
        Ok(())
    }

    fn header(&mut self, header: CaseHeader) -> Result<(), LogError> {
        self.header = header;
        Ok(())
    }

    fn record(&mut self, record: &Record<'_>) -> Result<(), LogError> {
        self.take(record).map_err(LogError::source)
    }

    fn finding(&mut self, finding: Finding) {
        self.findings.push(finding);
    }
}

/// Reads a log file (XES, OCEL) straight into columns.
///
/// # Errors
/// When it is no log, or one that no more of can be used; the error says where.
pub fn read_file(path: &Path, options: ReadOptions) -> Result<(ActivityLog, CaseHeader, Vec<Finding>, Format), LogError> {
    let mut columns = Columns::new(options);
    let format = read::read_file(path, &Limits::default(), &mut columns)?;
    let (log, header, findings) = columns.finish()?;
    Ok((log, header, findings, format))
}

/// The keys of a classifier that a log file declares; `None` when it declares none of that name, or
/// is no XES.
///
/// # Errors
/// As [`read_file`].
pub fn classifier(path: &Path, name: &str) -> Result<Option<Vec<String>>, LogError> {
    struct Header(CaseHeader);
    impl Sink for Header {
        fn types(&mut self, _: Types) -> Result<(), LogError> {
            Ok(())
        }
        fn header(&mut self, header: CaseHeader) -> Result<(), LogError> {
            self.0 = header;
            Ok(())
        }
        fn record(&mut self, _: &Record<'_>) -> Result<(), LogError> {
            Ok(())
        }
        fn finding(&mut self, _: Finding) {}
    }
    if read::detect(path)? != Format::Xes {
        return Ok(None);
    }
    let mut header = Header(CaseHeader::default());
    read::read_file(path, &Limits::default(), &mut header)?;
    Ok(header.0.classifiers.into_iter().find(|known| known.name == name).map(|known| known.keys))
}

/// A log of cases as columns.
///
/// # Errors
/// When it cannot be walked through.
pub fn walk_cases(from: &dyn CaseLog, options: ReadOptions) -> Result<(ActivityLog, Vec<Finding>), LogError> {
    let mut columns = Columns::new(options);
    for batch in from.traces() {
        for record in batch?.records() {
            columns.take(&record?).map_err(LogError::source)?;
        }
    }
    let (log, _, findings) = columns.finish()?;
    Ok((log, findings))
}

/// An object-centric log as columns.
///
/// # Errors
/// When it cannot be walked through.
pub fn walk_objects(from: &dyn ObjectLog, options: ReadOptions) -> Result<(ActivityLog, Vec<Finding>), LogError> {
    let mut columns = Columns::new(options);
    columns.types(from.types().clone())?;
    for batch in from.objects().chain(from.events()) {
        for record in batch?.records() {
            columns.take(&record?).map_err(LogError::source)?;
        }
    }
    let (log, _, findings) = columns.finish()?;
    Ok((log, findings))
}

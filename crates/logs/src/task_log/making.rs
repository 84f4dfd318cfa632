//! Objects and events of tasks, processes and files while they are gathered, and how they are
//! called.

use std::collections::BTreeMap;

use flowmine_correlate::jobs::attempt_name;
use flowmine_eventlog::sorted::SortRecords;
use flowmine_eventlog::{Attribute, Event, IdHash, LogError, Record, Relation, TypeDef, Types, ValueType};
use flowmine_schema::text::ids::escape;
use flowmine_spill::{Sorted, Sorter, put_ordered, put_ordered_text};
use rustc_hash::FxHashSet;

use super::assemble::Assembler;
use super::{LeftOut, Tasks};
use crate::job_log::JobObjectLog;
use crate::job_log::objects::OBJECT_TYPES as JOB_TYPES;

pub(super) const JOB: u8 = 0;
pub(super) const RUN: u8 = JOB_TYPES.len() as u8;
pub(super) const TAG: u8 = RUN + 1;
pub(super) const TASK_RANK: u8 = RUN + 2;
pub(super) const PROCESS_RANK: u8 = RUN + 3;
pub(super) const FILE: u8 = RUN + 4;
pub(super) const TYPES: [&str; 5] = ["engine run", "tag", "task", "process", "file"];

/// Which objects are in the log, each with its events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ObjectSelection {
    /// Jobs and all that belongs to them.
    pub jobs: bool,
    /// Tasks, and the runs of engines.
    pub tasks: bool,
    /// The processes that were traced.
    pub processes: bool,
    /// Files, and who read and wrote them.
    pub files: bool,
}

/// Gathers the objects and events of tasks, processes and files.
pub(super) struct Making<'a> {
    pub from: Tasks<'a>,
    pub wanted: ObjectSelection,
    pub objects: Assembler,
    pub left_out: LeftOut,
    events: Sorter,
    event_types: BTreeMap<String, &'static [(&'static str, ValueType)]>,
    /// The tasks in a log that was cut by time; `None` when all are.
    inside: Option<FxHashSet<IdHash>>,
    key: Vec<u8>,
}

/// What puts events of the same time in order: job events come first, then these.
pub(super) enum Order<'o> {
    /// A task's, by its id and the number of the moment.
    Task(&'o str, u8),
    /// A process's, by its id and the number of the moment.
    Process(&'o str, u8),
    /// Who did it, the file, and whether it was written.
    File(&'o str, &'o str, u8),
}

impl<'a> Making<'a> {
    pub fn new(from: Tasks<'a>, wanted: ObjectSelection) -> Self {
        Self {
            from,
            wanted,
            objects: Assembler::default(),
            left_out: LeftOut::default(),
            events: Sorter::default(),
            event_types: BTreeMap::new(),
            inside: (!from.wants_all()).then(FxHashSet::default),
            key: Vec::new(),
        }
    }

    /// Says that a task is in the log.
    pub fn enter(&mut self, id: &str) {
        if let Some(inside) = &mut self.inside {
            inside.insert(IdHash::new(id));
        }
    }

    /// Whether a task is in the log.
    pub fn is_inside(&self, id: &str) -> bool {
        self.wanted.tasks && self.inside.as_ref().is_none_or(|inside| inside.contains(&IdHash::new(id)))
    }

    /// Adds an event; its type has these attributes.
    pub fn event(
        &mut self,
        order: &Order<'_>,
        kind: &str,
        declared: &'static [(&'static str, ValueType)],
        time_ns: i64,
        attributes: Vec<Attribute<'_>>,
        relations: Vec<Relation<'_>>,
    ) -> Result<(), LogError> {
        if !self.event_types.contains_key(kind) {
            self.event_types.insert(kind.to_owned(), declared);
        }
        self.key.clear();
        put_ordered(time_ns, &mut self.key);
        put_ordered(i64::MAX, &mut self.key);
        let (class, id, file, number) = match order {
            Order::Task(id, number) => (0, *id, "", *number),
            Order::Process(id, number) => (1, *id, "", *number),
            Order::File(id, file, number) => (2, *id, *file, *number),
        };
        self.key.push(class);
        put_ordered_text(id, &mut self.key);
        put_ordered_text(file, &mut self.key);
        self.key.push(number);
        let event = Event { id: "".into(), kind: kind.into(), time_ns, attributes, relations };
        self.events.push_record(&self.key, &Record::Event(event))
    }

    /// Makes the log of everything that was gathered, together with jobs. `object_types` are the
    /// types of the objects.
    pub fn beside(
        mut self,
        mut types: Types,
        object_types: impl Iterator<Item = TypeDef>,
        job_objects: &Sorted,
        job_events: &Sorted,
    ) -> Result<JobObjectLog, LogError> {
        let mut walk = job_objects.walk()?;
        while let Some((place, bytes)) = walk.next()? {
            let Record::Object(object) = Record::decode(bytes)? else { return Err(LogError::Damaged) };
            self.objects.object(place, object)?;
        }
        let mut walk = job_events.walk()?;
        while let Some((key, bytes)) = walk.next()? {
            self.events.push(key, |out| out.extend_from_slice(bytes))?;
        }
        let declared = |attributes: &[(&str, ValueType)]| attributes.iter().map(|(name, kind)| ((*name).to_owned(), *kind)).collect();
        types.events.extend(self.event_types.iter().map(|(name, of)| TypeDef { name: name.clone(), attributes: declared(of) }));
        types.events.sort_by(|a, b| a.name.cmp(&b.name));
        types.objects.extend(object_types);
        let kinds: Vec<&str> = JOB_TYPES.into_iter().chain(TYPES).collect();
        Ok(JobObjectLog::new(types, self.objects.finish(&kinds)?, self.events.finish()?))
    }
}

/// The id of a task.
pub(super) fn task_id(key: &str) -> String {
    format!("task:{key}")
}

/// The id of a job: of one that was never seen by its number alone, as where jobs wait for one.
pub(super) fn job_id(cluster: &str, job: &str, submit_ns: Option<i64>) -> String {
    match submit_ns {
        Some(_) => format!("job:{}", attempt_name(cluster, job, submit_ns)),
        None => {
            let mut id = String::from("job:");
            escape(cluster, &mut id);
            id.push(':');
            id.push_str(job);
            id
        }
    }
}

/// A relation of an event.
pub(super) fn relation<'r>(object: &'r str, qualifier: &'static str) -> Relation<'r> {
    Relation { object: object.into(), qualifier: qualifier.into() }
}

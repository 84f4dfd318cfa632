//! Tasks, processes and files in an object-centric log, beside jobs.
//!
//! | type | id | is |
//! |---|---|---|
//! | `engine run` | `engine run:<engine>:<name>:<id>` | a run of a workflow engine. A `workflow run` is what Slurm's dependencies join: an engine run can be none, one or many of these |
//! | `tag` | `tag:<engine>:<run id>:<tag>` | what tells the instances of a logical task apart for people: in nf-core's pipelines the sample. Resumed runs share theirs |
//! | `task` | `task:<id>` as in `task_io.task` | one attempt at a task |
//! | `process` | `process:<host>:<pid>@<start time in seconds>` | one process generation that belongs to a task or job, and its parent |
//! | `file` | `file:<host>:<device>:<inode>`, `.<generation>`, `#2` for a later file with the same numbers | one file generation on one host, as in `task_io` |
//!
//! | relation | from | to |
//! |---|---|---|
//! | `part of` | task, its events | engine run |
//! | `tagged` | task, its events | tag |
//! | `ran as` | task | job |
//! | `gave data to` | task | task that read what it wrote (`data_flow`) |
//! | `read`, `wrote` | task, or a job without a task | file |
//! | `belongs to` | process | task, job |
//! | `child of` | process | process |
//! | `task`, `job`, `file`, `process` | event | what it happened to |
//!
//! The type of a task's event is what happened to which logical task: `BWA submitted`, `BWA started`, `BWA finished`. Of a task that `flowmine transform` wrapped each layer has events of its own,
//! `layer podman started` and `layer podman finished` or `layer podman failed`, with the layer's status and in what of it that began; they are related to the task.
//!
//! Relations carry no numbers: bytes stand on the events `read file` and `wrote file`, one for each row of `task_io` and direction, at the time of the first access. An object that something leads to and
//! that is not in the log has no attributes.

use std::collections::BTreeMap;

use flowmine_correlate::cases::escape;
use flowmine_correlate::jobs::attempt_name;
use flowmine_eventlog::sorted::SortRecords;
use flowmine_eventlog::{Attribute, Event, IdHash, LogError, Record, Relation, TypeDef, Types, ValueType};
use flowmine_spill::{Sorted, Sorter, put_ordered, put_ordered_text};
use rustc_hash::FxHashSet;

use super::assemble::Assembler;
use super::attributes::{self, PROCESS, TASK, TRACED};
use super::{LeftOut, TaskLogError, Tasks, files, processes, tasks};
use crate::job_log::JobObjectLog;
use crate::job_log::objects::OBJECT_TYPES as JOB_TYPES;

pub(super) const JOB: u8 = 0;
pub(super) const RUN: u8 = JOB_TYPES.len() as u8;
pub(super) const TAG: u8 = RUN + 1;
pub(super) const TASK_RANK: u8 = RUN + 2;
pub(super) const PROCESS_RANK: u8 = RUN + 3;
pub(super) const FILE: u8 = RUN + 4;
const TYPES: [&str; 5] = ["engine run", "tag", "task", "process", "file"];

/// Which objects are in the log, each with its events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// Jobs and all that belongs to them.
    pub jobs: bool,
    /// Tasks and runs of engines.
    pub tasks: bool,
    /// Processes.
    pub processes: bool,
    /// Files, and who read and wrote them.
    pub files: bool,
}

/// Puts tasks, processes and files beside jobs.
///
/// # Errors
/// When the dataset cannot be read or a temporary file not be written.
pub fn objects(from: &Tasks<'_>, wanted: Wanted, jobs: Option<JobObjectLog>) -> Result<(JobObjectLog, LeftOut), TaskLogError> {
    let (types, job_objects, job_events) = match jobs {
        Some(jobs) => jobs.into_parts(),
        None => (Types::default(), Sorter::default().finish()?, Sorter::default().finish()?),
    };
    let mut making = Making::new(*from, wanted);
    if !from.wants_none() {
        if wanted.tasks {
            tasks::add(&mut making)?;
        }
        if wanted.files {
            files::add(&mut making)?;
        }
        if wanted.processes {
            processes::add(&mut making)?;
        }
    }
    let left_out = making.left_out;
    Ok((making.beside(types, &job_objects, &job_events)?, left_out))
}

/// Gathers objects and events.
pub(super) struct Making<'a> {
    pub from: Tasks<'a>,
    pub wanted: Wanted,
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
    /// A process's.
    Process(&'o str, u8),
    /// Who did it, the file, and whether it was written.
    File(&'o str, &'o str, u8),
}

impl<'a> Making<'a> {
    fn new(from: Tasks<'a>, wanted: Wanted) -> Self {
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
            inside.insert(IdHash::of(id));
        }
    }

    /// Whether a task is in the log.
    pub fn is_inside(&self, id: &str) -> bool {
        self.wanted.tasks && self.inside.as_ref().is_none_or(|inside| inside.contains(&IdHash::of(id)))
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

    fn beside(mut self, mut types: Types, job_objects: &Sorted, job_events: &Sorted) -> Result<JobObjectLog, LogError> {
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
        types.objects.extend(object_types(self.wanted));
        let kinds: Vec<&str> = JOB_TYPES.into_iter().chain(TYPES).collect();
        Ok(JobObjectLog::of(types, self.objects.finish(&kinds)?, self.events.finish()?))
    }
}

fn object_types(wanted: Wanted) -> impl Iterator<Item = TypeDef> {
    let named = |names: &[(&str, ValueType)]| names.iter().map(|(name, kind)| ((*name).to_owned(), *kind)).collect::<Vec<_>>();
    let types = [
        (wanted.tasks, named(tasks::RUN_ATTRIBUTES)),
        (wanted.tasks, named(tasks::TAG_ATTRIBUTES)),
        (wanted.tasks, attributes::declared(TASK).chain(attributes::declared(TRACED)).collect()),
        (wanted.processes, attributes::declared(PROCESS).collect()),
        (wanted.files, named(files::FILE_ATTRIBUTES)),
    ];
    let types = TYPES.into_iter().zip(types).filter(|(_, (wanted, _))| *wanted);
    types.map(|(name, (_, attributes))| TypeDef { name: name.to_owned(), attributes })
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

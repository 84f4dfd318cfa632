//! Owners of operations: a task with the job, pod and container in which it ran, as far as they are
//! known; or none, with the reason.

use std::borrow::Cow;
use std::collections::BTreeSet;

use flowmine_schema::tables::{TaskIo, TaskTotal};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::entities::Entities;
use crate::partial::tables::PartialOwner;

/// Reason why an operation or process has no owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// Findings that contradict each other, and none of them holds.
    Contradiction,
    /// It starts tasks: an engine, or a part of a scheduler.
    StartsTasks,
    /// Its user has no process that belongs to anything.
    OtherUser,
    /// The process ran before the trace began, and no rule assigns it.
    BeforeTrace,
    /// Nothing is known of the process but its operations.
    NoProcess,
    /// No rule assigns it.
    NoRule,
    /// The trace lost records of the operations, so the owner is not known.
    Lost,
}

impl Reason {
    /// The reason with this word.
    pub fn of_name(name: &str) -> Option<Self> {
        const ALL: [Reason; 7] = [
            Reason::Contradiction,
            Reason::StartsTasks,
            Reason::OtherUser,
            Reason::BeforeTrace,
            Reason::NoProcess,
            Reason::NoRule,
            Reason::Lost,
        ];
        ALL.into_iter().find(|reason| reason.name() == name)
    }

    /// The reason's word in the tables (column `unassigned`).
    pub fn name(self) -> &'static str {
        match self {
            Reason::Contradiction => "contradiction",
            Reason::StartsTasks => "starts-tasks",
            Reason::OtherUser => "other-user",
            Reason::BeforeTrace => "before-trace",
            Reason::NoProcess => "no-process",
            Reason::NoRule => "no-rule",
            Reason::Lost => "lost",
        }
    }
}

/// A Slurm job, observed or not.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OwnerJob {
    /// Name of the Slurm cluster, if known.
    pub cluster: Option<Box<str>>,
    /// The job's id as Slurm prints it, or its raw id.
    pub job: Box<str>,
    /// Submit time, UTC nanoseconds since 1970, if the job was observed.
    pub submit_ns: Option<i64>,
}

/// Owner of operations: a task, job, pod or container, or none with a reason.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Owner {
    /// A task attempt, by its number.
    pub task: Option<u32>,
    /// The Slurm job to which the processes belong.
    pub job: Option<OwnerJob>,
    /// The job's step, such as `0` or `batch`.
    pub step: Option<Box<str>>,
    /// Uid of the Kubernetes pod.
    pub pod: Option<Box<str>>,
    /// Id of the container.
    pub container: Option<Box<str>>,
    /// The systemd scope or service.
    pub unit: Option<Box<str>>,
    /// A group of processes of which it is decided at the end of the trace to which task it
    /// belongs; by its number.
    pub group: Option<u32>,
    /// Reason why it has no owner; `None` if it has one.
    pub unassigned: Option<Reason>,
    /// User id of the processes, where they have no owner.
    pub uid: Option<i64>,
    /// The host, by its number.
    pub host: u32,
}

impl Owner {
    /// Whether it is a task, job, pod or container.
    pub fn is_somebody(&self) -> bool {
        self.task.is_some() || self.job.is_some() || self.pod.is_some() || self.container.is_some()
    }

    /// The user, if the reason why it has no owner depends on what the user has on any host.
    pub fn may_be_other_user(&self) -> Option<i64> {
        let depends = matches!(self.unassigned, Some(Reason::BeforeTrace | Reason::NoProcess | Reason::NoRule));
        self.uid.filter(|_| depends && !self.is_somebody())
    }

    /// The row of an owner and its sums in a partial result.
    pub fn row<'r>(&'r self, sums: &ProcessSums) -> PartialOwner<'r> {
        let text = |text: &'r Option<Box<str>>| text.as_deref().map(Into::into);
        let mut row = PartialOwner {
            task: self.task.map(i64::from),
            step: text(&self.step),
            pod: text(&self.pod),
            container: text(&self.container),
            unit: text(&self.unit),
            unassigned: self.unassigned.map(|reason| reason.name().into()),
            uid: self.uid,
            processes: sums.processes,
            started_ns: sums.started_ns,
            ended_ns: sums.ended_ns,
            running: sums.running,
            utime_ns: sums.utime_ns,
            stime_ns: sums.stime_ns,
            run_delay_ns: sums.run_delay_ns,
            several_uids: sums.uid == Some(None),
            process_uid: sums.uid.flatten(),
            ..PartialOwner::default()
        };
        if let Some(job) = &self.job {
            (row.cluster, row.job, row.job_submit_ns) = (text(&job.cluster), Some((&*job.job).into()), job.submit_ns);
        }
        row
    }

    /// The owner and its sums in a row, on the host with this number; `None` if it cannot be one.
    pub fn of_row(row: &PartialOwner<'_>, host: u32, entities: &Entities) -> Option<(Self, ProcessSums)> {
        let text = |text: &Option<Cow<'_, str>>| text.as_deref().map(Into::into);
        let task = row.task.map(u32::try_from).transpose().ok()?;
        let job = row.job.as_deref().map(|job| OwnerJob { cluster: text(&row.cluster), job: job.into(), submit_ns: row.job_submit_ns });
        let owner = Self {
            task,
            job,
            step: text(&row.step),
            pod: text(&row.pod),
            container: text(&row.container),
            unit: text(&row.unit),
            group: None,
            unassigned: row.unassigned.as_deref().map(Reason::of_name).map_or(Some(None), |reason| reason.map(Some))?,
            uid: row.uid,
            host,
        };
        let sums = ProcessSums {
            processes: row.processes,
            started_ns: row.started_ns,
            ended_ns: row.ended_ns,
            running: row.running,
            utime_ns: row.utime_ns,
            stime_ns: row.stime_ns,
            run_delay_ns: row.run_delay_ns,
            uid: if row.several_uids { Some(None) } else { row.process_uid.map(Some) },
        };
        task.is_none_or(|task| (task as usize) < entities.tasks.len()).then_some((owner, sums))
    }
}

/// Sums over processes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProcessSums {
    /// Number of processes.
    pub processes: i64,
    /// When the first process started, UTC nanoseconds since 1970.
    pub started_ns: Option<i64>,
    /// When the last one ended that has, in nanoseconds since 1970.
    pub ended_ns: Option<i64>,
    /// Whether some of the processes have not ended.
    pub running: bool,
    /// CPU time in user mode, in nanoseconds.
    pub utime_ns: Option<i64>,
    /// CPU time in the kernel, in nanoseconds.
    pub stime_ns: Option<i64>,
    /// Time that threads waited for a processor, in nanoseconds; `None` unless that of each process
    /// is known.
    pub run_delay_ns: Option<i64>,
    /// User ids: none yet, one, or several.
    pub uid: Option<Option<i64>>,
}

impl ProcessSums {
    /// Adds the sums of other processes.
    pub fn add(&mut self, other: &ProcessSums) {
        let sum = |a: Option<i64>, b: Option<i64>| if a.is_none() { b } else { Some(flowmine_sums::add(a.unwrap_or(0), b.unwrap_or(0))) };
        self.run_delay_ns = match (self.processes, other.processes) {
            (0, _) => other.run_delay_ns,
            (_, 0) => self.run_delay_ns,
            _ => self.run_delay_ns.zip(other.run_delay_ns).map(|(a, b)| flowmine_sums::add(a, b)),
        };
        self.processes += other.processes;
        self.started_ns = [self.started_ns, other.started_ns].into_iter().flatten().min();
        self.ended_ns = self.ended_ns.max(other.ended_ns);
        self.running |= other.running;
        self.utime_ns = sum(self.utime_ns, other.utime_ns);
        self.stime_ns = sum(self.stime_ns, other.stime_ns);
        self.uid = match (self.uid, other.uid) {
            (None, uid) | (uid, None) => uid,
            (Some(a), Some(b)) => Some(if a == b { a } else { None }),
        };
    }
}

/// Owners, each once, and what their processes have together.
#[derive(Debug, Default)]
pub struct Owners {
    all: Vec<Owner>,
    sums: Vec<ProcessSums>,
    numbers: FxHashMap<Owner, u32>,
}

impl Owners {
    /// The number of an owner, which gets the next one when it is new.
    pub fn number(&mut self, owner: Owner) -> u32 {
        if let Some(&number) = self.numbers.get(&owner) {
            return number;
        }
        let number = self.all.len() as u32;
        self.numbers.insert(owner.clone(), number);
        self.all.push(owner);
        self.sums.push(ProcessSums::default());
        number
    }

    /// Adds sums of processes to an owner.
    pub fn add(&mut self, number: u32, sums: &ProcessSums) {
        self.sums[number as usize].add(sums);
    }

    /// Returns the owners of a host in order, and the place of each provisional one among them.
    /// `task_of` returns the task to which a group belongs; `contradicts_itself` returns whether it
    /// belongs to none because several were found.
    pub fn resolve(self, task_of: impl Fn(u32) -> Option<u32>, contradicts_itself: impl Fn(u32) -> bool) -> HostOwners {
        let users = {
            let owned =
                self.all.iter().zip(&self.sums).filter(|(owner, _)| owner.is_somebody() || owner.group.and_then(&task_of).is_some());
            owned.filter_map(|(_, sums)| sums.uid.flatten()).collect()
        };
        let resolved = |owner: &Owner| {
            let contradiction = owner.group.is_some_and(&contradicts_itself).then_some(Reason::Contradiction);
            let task = owner.task.or_else(|| owner.group.and_then(&task_of));
            let mut owner = Owner { task, group: None, unassigned: contradiction.or(owner.unassigned), ..owner.clone() };
            if owner.is_somebody() {
                (owner.unassigned, owner.uid) = (None, None);
            }
            owner
        };
        let ResolvedOwners { all, sums, of } = in_order(self.all.iter().map(resolved).collect(), &self.sums);
        HostOwners { all, sums, of, users }
    }
}

/// Owners in order, each once, with the sums of all that are equal.
fn in_order(mut owners: Vec<Owner>, sums_of: &[ProcessSums]) -> ResolvedOwners {
    let mut order: Vec<u32> = (0..owners.len() as u32).collect();
    // Equal ones stay in their order.
    order.sort_by(|a, b| owners[*a as usize].cmp(&owners[*b as usize]));
    let (mut all, mut of) = (Vec::new(), vec![0; owners.len()]);
    for number in order {
        let owner = std::mem::take(&mut owners[number as usize]);
        if all.last() != Some(&owner) {
            all.push(owner);
        }
        of[number as usize] = all.len() as u32 - 1;
    }
    let mut sums = vec![ProcessSums::default(); all.len()];
    for (number, more) in of.iter().zip(sums_of) {
        sums[*number as usize].add(more);
    }
    ResolvedOwners { all, sums, of }
}

/// The owners of the processes of one host.
#[derive(Debug, Default)]
pub struct HostOwners {
    /// All owners, in order.
    pub all: Vec<Owner>,
    /// Sums of their processes.
    pub sums: Vec<ProcessSums>,
    /// Place in `all` of each provisional number.
    pub of: Vec<u32>,
    /// Users of whom some process belongs to something.
    pub users: BTreeSet<i64>,
}

/// The owners of the processes of several hosts.
#[derive(Debug, Default)]
pub struct AllOwners {
    all: Vec<Owner>,
    sums: Vec<ProcessSums>,
    users: FxHashSet<i64>,
}

impl AllOwners {
    /// The number that the next owner gets.
    pub fn next_number(&self) -> u32 {
        self.all.len() as u32
    }

    /// Adds an owner of a host.
    pub fn push(&mut self, owner: Owner, sums: ProcessSums) {
        self.all.push(owner);
        self.sums.push(sums);
    }

    /// Adds a user of whom some process of a host belongs to something.
    pub fn owns(&mut self, uid: i64) {
        self.users.insert(uid);
    }

    /// An owner by its number.
    pub fn get(&self, number: u32) -> Option<&Owner> {
        self.all.get(number as usize)
    }

    /// The owners in order. Those of a user of whom nothing belongs to anything on any host get
    /// that as their reason.
    pub fn resolve(self) -> ResolvedOwners {
        let users = &self.users;
        let finals = self.all.into_iter().map(|owner| match owner.may_be_other_user() {
            Some(uid) if !users.is_empty() && !users.contains(&uid) => Owner { unassigned: Some(Reason::OtherUser), ..owner },
            _ => owner,
        });
        in_order(finals.collect(), &self.sums)
    }
}

/// Owners that do not change any more, in order.
#[derive(Debug, Default)]
pub struct ResolvedOwners {
    /// All owners, those with a task or job first: by task, job, …, reason, host.
    pub all: Vec<Owner>,
    /// Sums of their processes.
    pub sums: Vec<ProcessSums>,
    /// Place in `all` of each provisional number.
    pub of: Vec<u32>,
}

/// When an owner began and ended, and how long it ran.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Time {
    /// When the owner began, UTC nanoseconds since 1970.
    pub started_ns: Option<i64>,
    /// When the owner ended, UTC nanoseconds since 1970.
    pub ended_ns: Option<i64>,
    /// Run time of the owner, in nanoseconds.
    pub time_ns: Option<i64>,
    /// Source of the times: `engine` or `processes`.
    pub source: Option<&'static str>,
}

impl ResolvedOwners {
    /// Returns the run time of an owner: that of its engine, else from the first to the last of its
    /// processes. If the uncertainty of an engine's times exceeds the task's duration, those of
    /// processes are better.
    pub fn time(&self, number: u32, entities: &Entities) -> Time {
        let owner = &self.all[number as usize];
        let sums = &self.sums[number as usize];
        let ended_ns = sums.ended_ns.filter(|_| !sums.running);
        let time_ns = sums.started_ns.zip(ended_ns).and_then(|(started, ended)| ended.checked_sub(started)).filter(|time| *time >= 0);
        let by_processes = Time { started_ns: sums.started_ns, ended_ns, time_ns, source: time_ns.map(|_| "processes") };
        let Some(task) = owner.task.map(|task| entities.tasks.get(task)) else { return by_processes };
        match task.time() {
            Some((started, finished)) if task.time_is_exact() || by_processes.time_ns.is_none() => {
                Time { started_ns: Some(started), ended_ns: Some(finished), time_ns: finished.checked_sub(started), source: Some("engine") }
            }
            _ => by_processes,
        }
    }

    /// The user id of an owner's processes, when all have the same.
    pub fn uid(&self, number: u32) -> Option<i64> {
        self.all[number as usize].uid.or(self.sums[number as usize].uid.flatten())
    }
}

/// Columns of the owner of a row; the same in `task_io` and `task_totals`.
macro_rules! owner_columns {
    ($row:ty, $owner:expr, $uid:expr, $entities:expr) => {{
        let owner: &Owner = $owner;
        let text = |text: &Option<Box<str>>| text.as_ref().map(|text| text.to_string().into());
        let mut row = <$row>::default();
        if let Some(task) = owner.task.map(|task| $entities.tasks.get(task)) {
            row.task = Some(task.key.clone().into());
            row.engine = Some(task.engine.clone().into());
            row.run_id = task.run_id.clone().map(Into::into);
            row.run_name = task.run_name.clone().map(Into::into);
            row.logical_task = Some(task.logical_task.clone().into());
        }
        if let Some(job) = &owner.job {
            row.cluster = text(&job.cluster);
            row.job = Some(job.job.to_string().into());
            row.job_submit_ns = job.submit_ns;
        }
        row.step = text(&owner.step);
        row.pod = text(&owner.pod);
        row.container = text(&owner.container);
        row.unit = text(&owner.unit);
        row.unassigned = owner.unassigned.map(|reason| reason.name().into());
        row.uid = $uid;
        row
    }};
}

/// A row of `task_io` with its owner.
pub fn io_row(owner: &Owner, uid: Option<i64>, entities: &Entities) -> TaskIo<'static> {
    owner_columns!(TaskIo<'static>, owner, uid, entities)
}

/// A row of `task_totals` with its owner.
pub fn total_row(owner: &Owner, uid: Option<i64>, entities: &Entities) -> TaskTotal<'static> {
    owner_columns!(TaskTotal<'static>, owner, uid, entities)
}

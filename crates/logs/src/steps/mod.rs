//! The steps of a dataset's jobs and tasks ([`flowmine_steps`]): which attempts do the same, whatever
//! their names, users and accounts.
//!
//! In go jobs, the table `task_runs`, and where `flowmine correlate` has assigned them `processes`,
//! `links` and `task_io`. Out comes the step of each attempt, by the name of the attempt.

mod traced;
mod truth;

use flowmine_attribution::task_attempts;
use flowmine_correlate::jobs::attempt_name;
use flowmine_correlate::tasks_as_jobs::RAN_AS;
use flowmine_correlate::{Jobs, RowRules};
use flowmine_dataset::{Dataset, DatasetError};
use flowmine_eventlog::IdHash;
use flowmine_schema::tables::{Link, TaskRun};
use flowmine_schema::time;
pub use flowmine_steps::Step;
use flowmine_steps::{Builder, Evidence, Steps};
use rustc_hash::FxHashMap;

use crate::task_log::{TaskLogError, times};
use traced::Traced;
pub use truth::logical_tasks;

/// The attribute of a job or task that is its step.
pub const STEP: &str = "step";

/// What steps are based on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sources {
    /// Whether the logical tasks that engines declare count.
    pub declared: bool,
    /// Whether traced programs and files count.
    pub traced: bool,
}

impl Default for Sources {
    fn default() -> Self {
        Self { declared: true, traced: true }
    }
}

/// The steps of a dataset.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StepNames {
    steps: Vec<Step>,
    of: FxHashMap<IdHash, u32>,
    /// Where they are asked for: attempts, whether each is a task, and its step.
    members: Vec<(Box<str>, bool, u32)>,
}

impl StepNames {
    /// All steps, by age of their oldest attempt.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The number of the step of an attempt at a job ([`Jobs::attempt_id`]) or at a task
    /// (`task_io.task`).
    pub fn number(&self, attempt: &str) -> Option<u32> {
        self.of.get(&IdHash::new(attempt)).copied()
    }

    /// The name of the step with this number.
    pub fn name(&self, number: u32) -> Option<&str> {
        self.steps.get(number as usize).map(|step| step.name.as_str())
    }

    /// The attempts, where they were asked for, by step and name: the name of the step, whether it
    /// is a task, and the name of the attempt.
    pub fn members(&self) -> impl Iterator<Item = (&str, bool, &str)> {
        self.members.iter().filter_map(|(attempt, is_task, step)| Some((self.name(*step)?, *is_task, &**attempt)))
    }

    /// The name of the step of an attempt.
    pub fn of(&self, attempt: &str) -> Option<&str> {
        self.name(self.number(attempt)?)
    }
}

/// Takes jobs and tasks, and makes steps of them.
pub struct StepsBuilder {
    builder: Builder,
    ids: Vec<IdHash>,
    members: Option<Vec<(Box<str>, bool)>>,
    traced: Traced,
    sources: Sources,
    /// The task that an attempt at a job was, and the job of a task, where each has one.
    task_of: FxHashMap<IdHash, IdHash>,
    job_of: FxHashMap<IdHash, IdHash>,
    /// The number of each task that ran as a job.
    numbers: FxHashMap<IdHash, u32>,
}

impl StepsBuilder {
    /// Steps of a dataset, without attempts so far. With `has_members`, the names of the attempts
    /// are kept.
    ///
    /// # Errors
    /// When the dataset cannot be read.
    pub fn new(dataset: &Dataset, sources: Sources, has_members: bool) -> Result<Self, DatasetError> {
        let traced = if sources.traced { Traced::read(dataset)? } else { Traced::default() };
        let (task_of, job_of) = jobs_and_tasks(dataset)?;
        Ok(Self {
            builder: Builder::default(),
            ids: Vec::new(),
            members: has_members.then(Vec::new),
            traced,
            sources,
            task_of,
            job_of,
            numbers: FxHashMap::default(),
        })
    }

    /// Adds jobs. A job that was a task is the same work, if that was added before.
    pub fn add_jobs(&mut self, jobs: &Jobs) {
        for attempt in jobs.attempts.iter().filter(|attempt| !jobs.is_array_record(attempt)) {
            let id = jobs.attempt_id(attempt);
            let command = jobs.text_of(attempt.command);
            let file_name = command.and_then(|command| command.rsplit('/').next());
            let comment = jobs.text_of(attempt.comment);
            // Signatures of engines that show the logical task: `crates/correlate/src/engine_jobs.rs`.
            let by_engine = file_name == Some(".command.run") || comment.is_some_and(|comment| comment.starts_with("rule_"));
            let activity = jobs.text(attempt.activity);
            let is_declared = by_engine && file_name != Some(activity) && jobs.text_of(attempt.name) != Some(activity);
            let traced = self.traced.of(&id);
            let user = jobs.text_of(attempt.user);
            let evidence = Evidence {
                id: &id,
                since_ns: attempt.since_ns,
                is_task: false,
                declared: (is_declared && self.sources.declared).then_some(activity),
                script: command,
                name: jobs.text_of(attempt.name),
                arguments: jobs.text_of(attempt.arguments),
                text: None,
                user,
                account: jobs.text_of(attempt.account),
                named_by: user,
                programs: traced.map_or(&[], |traced| &traced.programs),
                read_kinds: traced.map_or(&[], |traced| &traced.read_kinds),
                written_kinds: traced.map_or(&[], |traced| &traced.written_kinds),
                cpus: attempt.cpus.get(),
                memory_bytes: attempt.job_memory_bytes.get(),
                running_ns: length(attempt.start_ns.get(), attempt.end_ns.get()),
            };
            let task = self.task_of.get(&IdHash::new(&id)).and_then(|task| self.numbers.get(task));
            match task {
                Some(&task) => self.builder.add_same(&evidence, task),
                None => self.builder.add(&evidence),
            };
            self.ids.push(IdHash::new(&id));
            if let Some(members) = &mut self.members {
                members.push((id.into(), false));
            }
        }
    }

    /// Adds the tasks of a dataset.
    ///
    /// # Errors
    /// When the dataset or a temporary file cannot be read or written.
    pub fn add_tasks(&mut self, dataset: &Dataset, rules: &RowRules) -> Result<(), TaskLogError> {
        task_attempts::for_each::<TaskLogError>(dataset, rules, |attempt| {
            let row = &attempt.row;
            let own = IdHash::new(&attempt.key);
            let traced = self.traced.of(&attempt.key);
            let job = self.job_of.get(&own);
            let traced = traced.filter(|traced| !traced.programs.is_empty()).or_else(|| self.traced.of_hash(*job?)).or(traced);
            let run = [row.run_id.as_deref(), row.run_name.as_deref()].into_iter().flatten().collect::<Vec<_>>().join(" ");
            let named_by = format!("{} {run}", row.engine);
            // Makeflow's name of a task is its command.
            let name = Some(&*row.name).filter(|name| row.command.as_deref() != Some(*name));
            let measured_ns = row.realtime_s.and_then(time::length_ns);
            let number = self.builder.add(&Evidence {
                id: &attempt.key,
                since_ns: times(row).min().unwrap_or(i64::MAX),
                is_task: true,
                declared: declared(row).filter(|_| self.sources.declared),
                script: None,
                name,
                arguments: None,
                text: row.command.as_deref(),
                user: row.user.as_deref(),
                account: None,
                named_by: Some(&named_by),
                programs: traced.map_or(&[], |traced| &traced.programs),
                read_kinds: traced.map_or(&[], |traced| &traced.read_kinds),
                written_kinds: traced.map_or(&[], |traced| &traced.written_kinds),
                cpus: row.cpus,
                memory_bytes: row.memory_bytes,
                running_ns: measured_ns.or_else(|| length(row.started_ns, row.finished_ns)),
            });
            self.ids.push(own);
            if job.is_some() {
                self.numbers.insert(own, number);
            }
            if let Some(members) = &mut self.members {
                members.push((attempt.key.into(), true));
            }
            Ok(())
        })
    }

    /// The steps of all attempts that were added.
    pub fn finish(self) -> StepNames {
        let Steps { steps, of_member } = self.builder.finish();
        let members = self.members.into_iter().flatten().zip(&of_member).map(|((id, is_task), step)| (id, is_task, *step));
        let mut members: Vec<(Box<str>, bool, u32)> = members.collect();
        members.sort_by(|a, b| (a.2, a.1, &a.0).cmp(&(b.2, b.1, &b.0)));
        StepNames { steps, of: self.ids.into_iter().zip(of_member).collect(), members }
    }
}

/// Ids, each with the id of another.
type Ids = FxHashMap<IdHash, IdHash>;

/// The task of each job and the job of each task, where `links` has only one.
fn jobs_and_tasks(dataset: &Dataset) -> Result<(Ids, Ids), DatasetError> {
    let mut task_of: FxHashMap<IdHash, Option<IdHash>> = FxHashMap::default();
    let mut job_of: FxHashMap<IdHash, Option<IdHash>> = FxHashMap::default();
    dataset.read::<Link<'static>, DatasetError>(|row| {
        if row.relation == RAN_AS && row.source_type == "task" && row.target_type == "job" {
            let job = IdHash::new(&attempt_name(&row.target_scope, &row.target, row.target_ns));
            let task = IdHash::new(&row.source);
            for (all, from, to) in [(&mut task_of, job, task), (&mut job_of, task, job)] {
                all.entry(from).and_modify(|known| *known = known.filter(|known| *known == to)).or_insert(Some(to));
            }
        }
        Ok(())
    })?;
    let only = |all: FxHashMap<IdHash, Option<IdHash>>| all.into_iter().filter_map(|(from, to)| Some((from, to?))).collect();
    Ok((only(task_of), only(job_of)))
}

/// The logical task that an engine declares; `None` where it only numbers tasks.
fn declared<'r>(row: &'r TaskRun<'_>) -> Option<&'r str> {
    let is_number = row.engine == "makeflow" && (row.logical_task.starts_with("node ") || row.logical_task == "default");
    let is_command = row.command.as_deref() == Some(&*row.logical_task);
    (!is_number && !is_command).then_some(&*row.logical_task)
}

fn length(start: Option<i64>, end: Option<i64>) -> Option<i64> {
    end?.checked_sub(start?).filter(|length| *length >= 0)
}

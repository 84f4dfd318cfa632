//! Rows made by hand. Times are in seconds.

use flowmine_dataset::{Dataset, Role};
use flowmine_schema::tables::{JobDependency, JobState, change, source};
use flowmine_schema::time::SECOND_NS;
use flowmine_test_support::built;

use crate::attempts::JobRow;
use crate::cases::{self, CaseNotion, Entities};
use crate::dependencies::DependencyRow;
use crate::jobs::{Jobs, JobsBuilder};
use crate::{Event, Timestamp};

#[derive(Debug, Default, Clone)]
pub struct Rows {
    pub states: Vec<JobState<'static>>,
    pub dependencies: Vec<JobDependency<'static>>,
}

pub fn s(seconds: i64) -> i64 {
    seconds * SECOND_NS
}

/// The raw id that a label shows: that of `8_3` is made up as 8003.
pub fn raw_id(job: &str) -> i64 {
    let number = |text: &str| text.parse::<i64>().unwrap_or(0);
    match (job.split_once('_'), job.split_once('+')) {
        (Some((array, "*")), _) => number(array),
        (Some((array, task)), _) => number(array) * 1000 + number(task),
        (_, Some((het, component))) => number(het) + number(component),
        _ => number(job),
    }
}

/// Jobs of these ids, submitted at id × 10 and running since.
pub fn running(ids: &[&str]) -> Rows {
    let mut rows = Rows::default();
    for id in ids {
        let submit = raw_id(id.split(['_', '+']).next().unwrap()) * 10;
        rows.new_job(id, submit, "RUNNING", submit + 5);
    }
    rows
}

impl Rows {
    fn row(
        &mut self,
        job: &str,
        submit: Option<i64>,
        change: &'static str,
        state: Option<&'static str>,
        at: i64,
    ) -> &mut JobState<'static> {
        let array = job.split_once('_');
        let het = job.split_once('+');
        self.states.push(JobState {
            cluster: "lab".into(),
            job: job.to_owned().into(),
            job_id: raw_id(job),
            submit_ns: submit.map(s),
            change: change.into(),
            state: state.map(Into::into),
            observed_at_ns: s(at),
            source: source::SQUEUE.into(),
            array_job_id: array.and_then(|(id, _)| id.parse().ok()),
            array_task_id: array.and_then(|(_, task)| task.parse().ok()),
            het_job_id: het.and_then(|(id, _)| id.parse().ok()),
            het_offset: het.and_then(|(_, offset)| offset.parse().ok()),
            name: Some("job".into()),
            user: Some("ann".into()),
            group: Some("physics".into()),
            account: Some("proj".into()),
            activity: Some("step.sh".into()),
            ..JobState::default()
        });
        self.states.last_mut().unwrap()
    }

    /// A row of a job that a poll saw for the first time, with its submit time.
    pub fn new_job(&mut self, job: &str, submit: i64, state: &'static str, at: i64) -> &mut JobState<'static> {
        let row = self.row(job, Some(submit), change::NEW, Some(state), at);
        row.not_before_ns = Some(s(submit));
        row
    }

    /// First seen by a source that has no submit time.
    pub fn new_without_submit(&mut self, job: &str, state: &'static str, at: i64) -> &mut JobState<'static> {
        self.row(job, None, change::NEW, Some(state), at)
    }

    /// Another state, within (after, at].
    pub fn state(&mut self, job: &str, submit: i64, state: &'static str, after: i64, at: i64) -> &mut JobState<'static> {
        let row = self.row(job, Some(submit), change::STATE, Some(state), at);
        row.not_before_ns = Some(s(after));
        row
    }

    pub fn requeued(&mut self, job: &str, submit: i64, state: &'static str, after: i64, at: i64) -> &mut JobState<'static> {
        let row = self.row(job, Some(submit), change::REQUEUED, Some(state), at);
        row.not_before_ns = Some(s(after));
        row
    }

    /// The same state, and something else is another, within (after, at].
    pub fn change(
        &mut self,
        job: &str,
        submit: i64,
        kind: &'static str,
        changed: &'static str,
        after: i64,
        at: i64,
    ) -> &mut JobState<'static> {
        let row = self.row(job, Some(submit), kind, Some("PENDING"), at);
        (row.not_before_ns, row.changed) = (Some(s(after)), Some(changed.into()));
        row
    }

    pub fn left(&mut self, job: &str, submit: Option<i64>, after: i64, at: i64) -> &mut JobState<'static> {
        let row = self.row(job, submit, change::LEFT, None, at);
        row.not_before_ns = Some(s(after));
        row
    }

    pub fn accounting(
        &mut self,
        job: &str,
        submit: i64,
        state: &'static str,
        start: Option<i64>,
        end: Option<i64>,
        at: i64,
    ) -> &mut JobState<'static> {
        let row = self.row(job, Some(submit), change::ACCOUNTING, Some(state), at);
        row.source = source::SACCT.into();
        row.start_ns = start.map(s);
        row.end_ns = end.map(s);
        row.node_list = start.map(|_| "n1".into());
        row
    }

    /// `afterok:8_3` as it is written; seen at the time.
    pub fn depends(&mut self, job: &str, submit: i64, term: &str, at: i64) -> &mut JobDependency<'static> {
        let (kind, target) = term.split_once(':').unwrap_or((term, ""));
        let (target_kind, id, task) = match target.split_once('_') {
            _ if target.is_empty() => ("user_and_name", None, None),
            Some((id, "*")) => ("array", id.parse().ok(), None),
            Some((id, task)) => ("array_task", id.parse().ok(), task.parse().ok()),
            None => ("job", target.parse().ok(), None),
        };
        self.dependencies.push(JobDependency {
            cluster: "lab".into(),
            job: job.to_owned().into(),
            job_id: raw_id(job),
            submit_ns: Some(s(submit)),
            kind: kind.to_owned().into(),
            target_kind: target_kind.into(),
            target_job_id: id,
            target_task_id: task,
            observed_at_ns: s(at),
            source: source::SQUEUE.into(),
            ..JobDependency::default()
        });
        self.dependencies.last_mut().unwrap()
    }

    /// The rows in a dataset on disk.
    pub fn dataset(&self, dir: &std::path::Path) -> Dataset {
        let dataset = Dataset::open_or_create(dir).unwrap();
        let mut writer = dataset.writer(Role::Raw, "test").unwrap();
        let mut transaction = writer.begin().unwrap();
        transaction.append(built::<JobState<'static>>(&self.states)).unwrap();
        transaction.append(built::<JobDependency<'static>>(&self.dependencies)).unwrap();
        transaction.commit().unwrap();
        drop(writer);
        dataset
    }

    pub fn jobs(&self) -> Jobs {
        self.jobs_at(Timestamp::Reported)
    }

    pub fn jobs_at(&self, timestamp: Timestamp) -> Jobs {
        let mut builder = JobsBuilder::default();
        self.states.iter().for_each(|row| builder.push_state(&JobRow::of(row)));
        self.dependencies.iter().for_each(|row| builder.push_dependency(&DependencyRow::of(row)));
        builder.finish(timestamp).unwrap()
    }
}

/// `job#attempt` and its case of every attempt, sorted.
pub fn cases_of(jobs: &Jobs, notion: &dyn CaseNotion) -> Vec<(String, String)> {
    let assignment = notion.assign(&Entities::new(jobs));
    let name = |(at, a): (usize, &crate::JobAttempt)| (format!("{}#{}", jobs.text(a.job), a.number), assignment.id_of(at).to_owned());
    let mut all: Vec<_> = jobs.attempts.iter().enumerate().map(name).collect();
    all.sort();
    all
}

/// By the notion `dependency`, without that word.
pub fn dependency_cases(rows: &Rows) -> Vec<(String, String)> {
    let all = cases_of(&rows.jobs(), &cases::Dependency);
    all.into_iter().map(|(job, id)| (job, id.strip_prefix("dependency:lab:").unwrap_or("?").to_owned())).collect()
}

pub fn pairs(all: &[(String, String)]) -> Vec<(&str, &str)> {
    all.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect()
}

/// `STATE@seconds` of every event of a job's attempt.
pub fn events(jobs: &Jobs, job: &str, number: u32) -> Vec<String> {
    let of = |e: &&Event| {
        let a = jobs.attempt_of(e);
        jobs.text(a.job) == job && a.number == number
    };
    jobs.events.iter().filter(of).map(|e| format!("{}@{}", jobs.text(e.state), e.time_ns as f64 / 1e9)).collect()
}

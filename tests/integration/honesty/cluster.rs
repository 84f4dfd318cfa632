//! A made cluster: jobs whose every moment is known, what squeue shows of them at a time, and what
//! sacct says of them afterwards.

use std::collections::BTreeSet;
use std::fmt::Write;

use chrono::{DateTime, Utc};
use proptest::prelude::*;

/// Second at which the made cluster begins, since 1970.
pub const BEGIN: i64 = 1_795_187_071;

/// One attempt at a job, an array task or a component of a heterogeneous job. Times in seconds
/// after [`BEGIN`].
#[derive(Debug, Clone)]
pub struct Attempt {
    /// Id as users type it: `7`, `8_1`, `9+0`.
    pub label: String,
    /// The array, for a task of one.
    pub array: Option<i64>,
    pub submit: i64,
    /// `None` when it never ran.
    pub start: Option<i64>,
    /// `None` while it waits or runs at the end of time.
    pub end: Option<i64>,
    /// State in which it ended.
    pub state: &'static str,
    /// Whether it was put back into the queue when it ended.
    pub is_requeued: bool,
    /// When it was suspended, and resumed.
    pub pause: Option<(i64, i64)>,
    /// Id of the job for whose end it waits.
    pub waits_for: Option<i64>,
}

/// Job ids in the order of submission; those of one submission share a number.
#[derive(Debug, Clone)]
pub struct Cluster {
    pub attempts: Vec<Attempt>,
    /// Seconds for which an ended job is still shown (`MinJobAge`).
    pub age: i64,
    /// Last second.
    pub over: i64,
}

/// How one submission goes, before it has its place in time.
#[derive(Debug, Clone)]
struct Plan {
    gap: i64,
    form: u8,
    tasks: i64,
    waits: Vec<i64>,
    runs: Vec<i64>,
    fate: u8,
    requeues: usize,
    pauses: bool,
    depends: Option<usize>,
}

fn plan() -> impl Strategy<Value = Plan> {
    let times = || prop::collection::vec(1i64..60, 12);
    (0i64..40, 0u8..4, 1i64..4, times(), times(), 0u8..6, 0usize..3, any::<bool>(), prop::option::of(0usize..8)).prop_map(
        |(gap, form, tasks, waits, runs, fate, requeues, pauses, depends)| Plan {
            gap,
            form,
            tasks,
            waits,
            runs,
            fate,
            requeues,
            pauses,
            depends,
        },
    )
}

/// Random clusters of up to eight submissions.
pub fn clusters() -> impl Strategy<Value = Cluster> {
    (prop::collection::vec(plan(), 1..8), prop_oneof![Just(5i64), Just(300)], 30i64..400).prop_map(|(plans, age, over)| {
        let (mut attempts, mut now, mut id, mut jobs) = (Vec::new(), 0, 1, Vec::new());
        for plan in plans {
            now += plan.gap;
            // Slurm accepts a dependency on a job that it knows.
            let waits_for = plan.depends.and_then(|at| jobs.get(at % jobs.len().max(1)).copied());
            let free = waits_for.map_or(Some(now), |target| over_at(&attempts, target));
            let parts: Vec<(String, Option<i64>)> = match plan.form {
                0 => (0..plan.tasks).map(|task| (format!("{id}_{task}"), Some(id))).collect(),
                1 => (0..plan.tasks + 1).map(|offset| (format!("{id}+{offset}"), None)).collect(),
                _ => vec![(id.to_string(), None)],
            };
            let is_het = plan.form == 1;
            for (at, (label, array)) in parts.iter().enumerate() {
                // Components of a heterogeneous job go together.
                let at = if is_het { 0 } else { at };
                attempts.extend(life(&plan, at, label, *array, (now, free), waits_for));
            }
            jobs.push(id);
            id += parts.len() as i64;
        }
        attempts.retain(|attempt| attempt.submit < over);
        for attempt in &mut attempts {
            attempt.start = attempt.start.filter(|start| *start < over);
            attempt.end = attempt.end.filter(|end| *end < over);
            attempt.pause = attempt.pause.filter(|pause| pause.1 < over);
        }
        Cluster { attempts, age, over }
    })
}

/// When the last part of a job has ended; `None` when one never does.
fn over_at(attempts: &[Attempt], job: i64) -> Option<i64> {
    let is_part = |attempt: &&Attempt| attempt.label.split(['_', '+']).next() == Some(&job.to_string());
    attempts.iter().filter(is_part).map(|attempt| attempt.end).try_fold(0, |latest, end| Some(latest.max(end?)))
}

/// The attempts at one job, submitted at a time and free to start at another, if ever.
fn life(plan: &Plan, at: usize, label: &str, array: Option<i64>, times: (i64, Option<i64>), waits_for: Option<i64>) -> Vec<Attempt> {
    let (mut submit, free) = times;
    let mut attempts = Vec::new();
    for round in 0..=plan.requeues {
        let is_last = round == plan.requeues;
        let start = free.map(|free| free.max(submit) + plan.waits[(at + 3 * round) % 12]);
        let ran = 4 + plan.runs[(at + 5 * round) % 12];
        let end = start.map(|start| start + ran);
        let (start, end, state) = match plan.fate {
            _ if start.is_none() => (None, None, ""),
            _ if !is_last => (start, end, "REQUEUED"),
            0 => (start, end, "FAILED"),
            1 => (start, end, "TIMEOUT"),
            // Of a task that is cancelled while it waits nothing is shown; an array keeps its tasks.
            2 if array.is_none() => (None, start, "CANCELLED"),
            3 => (start, None, ""),
            _ => (start, end, "COMPLETED"),
        };
        let pause = start.filter(|_| plan.pauses).map(|start| (start + 1, start + ran - 1));
        let waits_for = if round == 0 { waits_for } else { None };
        attempts.push(Attempt { label: label.to_owned(), array, submit, start, end, state, is_requeued: !is_last, pause, waits_for });
        match end.filter(|_| !is_last) {
            Some(end) => submit = end,
            None => {
                attempts.last_mut().unwrap().is_requeued = false;
                break;
            }
        }
    }
    attempts
}

impl Attempt {
    /// The state half a second after a second, so that nothing happens at that moment.
    pub fn state_at(&self, second: i64, age: i64) -> Option<&'static str> {
        let is_over = |end: i64| if self.is_requeued { end <= second } else { end + age <= second };
        if second < self.submit || self.end.is_some_and(is_over) {
            return None;
        }
        Some(match (self.start, self.end) {
            (_, Some(end)) if end <= second => self.state,
            (Some(start), _) if start <= second => match self.pause {
                Some((from, to)) if from <= second && second < to => "SUSPENDED",
                _ => "RUNNING",
            },
            _ => "PENDING",
        })
    }

    /// What happened to it, in order: state and second.
    pub fn story(&self) -> Vec<(&'static str, i64)> {
        let mut story = vec![("PENDING", self.submit)];
        story.extend(self.start.map(|start| ("RUNNING", start)));
        story.extend(self.pause.into_iter().flat_map(|(from, to)| [("SUSPENDED", from), ("RUNNING", to)]));
        story.extend(self.end.map(|end| (self.state, end)));
        story
    }
}

/// A second as Slurm writes it, in UTC.
pub fn iso(second: i64) -> String {
    moment(second).format("%Y-%m-%dT%H:%M:%S").to_string()
}

fn moment(second: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(BEGIN + second, 0).unwrap()
}

/// Name of the file of a poll half a second after a second.
pub fn poll_name(second: i64) -> String {
    let stamp = moment(second).format("%Y%m%dT%H%M%S");
    format!("squeue-{stamp}.400000000Z-{stamp}.600000000Z.txt")
}

impl Cluster {
    /// Whether a task is in the record of its array's pending tasks (`8_[1-3]`).
    pub fn waits_in_array(&self, attempt: &Attempt, second: i64) -> bool {
        let had_begun = |other: &Attempt| other.label == attempt.label && other.submit < attempt.submit;
        attempt.array.is_some() && attempt.state_at(second, self.age) == Some("PENDING") && !self.attempts.iter().any(had_begun)
    }

    /// squeue's text half a second after a second.
    pub fn squeue(&self, second: i64) -> String {
        let mut text = "JOBID|USER|ACCOUNT|PARTITION|STATE|SUBMIT_TIME|START_TIME|END_TIME|NODELIST|NAME|DEPENDENCY|REASON\n".to_owned();
        let mut arrays = BTreeSet::new();
        for attempt in &self.attempts {
            let Some(state) = attempt.state_at(second, self.age) else { continue };
            let mut label = attempt.label.clone();
            if self.waits_in_array(attempt, second) {
                let array = attempt.array.unwrap();
                if !arrays.insert(array) {
                    continue;
                }
                let is_in = |other: &&Attempt| other.array == Some(array) && self.waits_in_array(other, second);
                let waiting = self.attempts.iter().filter(is_in).map(|other| other.label.split('_').next_back().unwrap());
                label = format!("{array}_[{}]", waiting.collect::<Vec<_>>().join(","));
            }
            let time = |time: Option<i64>| time.filter(|time| *time <= second).map_or("N/A".to_owned(), iso);
            let waits = attempt.waits_for.filter(|_| state == "PENDING");
            let dependency = waits.map_or("(null)".to_owned(), |id| format!("afterany:{id}(unfulfilled)"));
            let reason = if waits.is_some() { "Dependency" } else { "None" };
            let (submit, start, end) = (iso(attempt.submit), time(attempt.start), time(attempt.end));
            writeln!(text, "{label}|ann|acct|main|{state}|{submit}|{start}|{end}|n1|job|{dependency}|{reason}").unwrap();
        }
        text
    }

    /// The text of `sacct --parsable2 --duplicates` at the end of time.
    pub fn sacct(&self) -> String {
        let mut text = "JobID|User|Account|Partition|State|Submit|Start|End|NodeList|JobName|SubmitLine\n".to_owned();
        for attempt in &self.attempts {
            let time = |time: Option<i64>| time.map_or("Unknown".to_owned(), iso);
            let state = match (attempt.end, attempt.start) {
                (Some(_), _) => attempt.state,
                (None, Some(_)) => "RUNNING",
                (None, None) => "PENDING",
            };
            let (submit, start, end) = (iso(attempt.submit), time(attempt.start), time(attempt.end));
            let dependency = attempt.waits_for.map_or(String::new(), |id| format!("--dependency=afterany:{id} "));
            writeln!(text, "{}|ann|acct|main|{state}|{submit}|{start}|{end}|n1|job|sbatch {dependency}job.sh", attempt.label).unwrap();
        }
        text
    }
}

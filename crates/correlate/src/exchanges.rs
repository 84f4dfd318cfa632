//! Which jobs gave data to each other: for case notions that join what exchanged data.
//!
//! In go the rows of `data_flow` and `links` ([`Rows`]) and a dataset's jobs in [`Parts`], which
//! are walked through once; out come groups of components. A component is joined by declared
//! dependencies ([`crate::components`]); two components are in one group if a job of one read data
//! that a job of the other wrote.
//!
//! A job gave data to another when the other read a version of a file that it wrote. Reads and
//! writes of a task, a pod or a container count for the jobs that it ran as or belonged to by
//! `links`, directly or through other owners. A job that is not in the dataset joins nothing, nor
//! does a job of an unknown cluster. Of several submissions with the same id, the one that a link
//! names counts, else the last one that existed when the file was used ([`SLACK_NS`]); without a
//! time of use, none counts.
//!
//! Memory grows with what was traced: with the tasks that ran as jobs, and the jobs that exchanged
//! data.

mod hubs;
mod rows;

use petgraph::unionfind::UnionFind;
use rustc_hash::{FxHashMap, FxHashSet};

use flowmine_dataset::{Dataset, HubLimits};
use flowmine_schema::time::SECOND_NS;

use crate::CorrelateError;
use crate::attempts::JobAttempt;
use crate::components::{self, SubmissionName};
use crate::jobs::Jobs;
use crate::parts::Parts;
use crate::row_rules::RowRules;

use hubs::{About, Joiner};
pub use hubs::{Hub, HubReason};
use rows::{Done, Job, Owner};
pub use rows::{Rows, SortedRows};

/// How far the clocks of Slurm and of a traced host may be apart; times of Slurm are whole seconds.
pub const SLACK_NS: i64 = 5 * SECOND_NS;

/// Groups of components.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ComponentGroups {
    /// The oldest submission of each component in a group with others, in order, and the group.
    joined: Vec<(SubmissionName, u32)>,
    /// For each group its oldest submission, by which the group is named.
    oldest: Vec<SubmissionName>,
}

impl ComponentGroups {
    /// The groups of joined components.
    fn new(mut joined: UnionFind<u32>, components: &[SubmissionName]) -> Self {
        let mut of_top: FxHashMap<u32, Vec<SubmissionName>> = FxHashMap::default();
        for (number, component) in (0u32..).zip(components) {
            of_top.entry(joined.find_mut(number)).or_default().push(component.clone());
        }
        let mut groups: Vec<Vec<SubmissionName>> = of_top.into_values().filter(|group| group.len() > 1).collect();
        groups.iter_mut().for_each(|group| group.sort_unstable());
        groups.sort_unstable();
        let oldest = groups.iter().map(|group| group[0].clone()).collect();
        let mut joined: Vec<(SubmissionName, u32)> =
            (0u32..).zip(groups).flat_map(|(number, group)| group.into_iter().map(move |component| (component, number))).collect();
        joined.sort_unstable();
        Self { joined, oldest }
    }

    /// The group that a component is in with others, by its oldest submission
    /// ([`components::key`]).
    pub fn group(&self, oldest: (i64, &str, i64, u32)) -> Option<u32> {
        let at = self.joined.binary_search_by(|(component, _)| component.as_key().cmp(&oldest)).ok()?;
        Some(self.joined[at].1)
    }

    /// The oldest submission of a group.
    pub fn oldest(&self, group: u32) -> &SubmissionName {
        &self.oldest[group as usize]
    }
}

/// Groups of components that exchanged data.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exchanges {
    /// Groups by files that are no hubs.
    pub of_files: ComponentGroups,
    /// Groups by all files.
    pub of_all_files: ComponentGroups,
    any: bool,
    /// Files that join no jobs.
    hubs: Vec<Hub>,
}

impl Exchanges {
    /// Reads `data_flow` and `links`, with rules that change each row as they change those of the
    /// jobs.
    ///
    /// # Errors
    /// When the dataset or a temporary file cannot be read or written.
    pub fn read(dataset: &Dataset, rules: &RowRules, parts: &Parts<'_>) -> Result<Self, CorrelateError> {
        let limits = dataset.manifest()?.hubs.unwrap_or_default();
        Self::find(parts, &Rows::read(dataset, rules)?.finish()?, limits)
    }

    /// Finds the groups of jobs that gave data to each other.
    ///
    /// # Errors
    /// When a temporary file cannot be read.
    pub fn find(parts: &Parts<'_>, rows: &SortedRows, limits: HubLimits) -> Result<Self, CorrelateError> {
        if rows.is_empty() {
            return Ok(Self::default());
        }
        let known = Known::find(parts, rows)?;
        let mut joiner = Joiner::new(limits, known.about.clone());
        let mut by_all = UnionFind::<u32>::new(known.components.len());
        let mut any = false;
        rows.for_each(|path, done| {
            let mut exchanges = Vec::new();
            for &(wrote, read) in done {
                // A task that read its own data gave it to no other, whatever jobs it ran as.
                if wrote.by == read.by && matches!(wrote.by, Owner::Other(_)) {
                    continue;
                }
                let (writers, readers) = (known.submissions(rows, wrote), known.submissions(rows, read));
                let age = read.at_ns.zip(wrote.at_ns).map(|(read, wrote)| read.saturating_sub(wrote));
                for writer in &writers {
                    for reader in &readers {
                        any |= !writer.is_of(reader);
                        exchanges.push((writer.component, reader.component, age));
                    }
                }
            }
            for (writer, reader, _) in &exchanges {
                by_all.union(*writer, *reader);
            }
            joiner.add(path, &exchanges);
        })?;
        let (joined, hubs) = joiner.finish();
        let of_files = ComponentGroups::new(joined, &known.components);
        Ok(Self { of_files, of_all_files: ComponentGroups::new(by_all, &known.components), any, hubs })
    }

    /// Returns whether a job gave data to another, joined by dependencies or not.
    pub fn any(&self) -> bool {
        self.any
    }

    /// Returns the files that were read by jobs of several runs and joined none of them.
    pub fn hubs(&self) -> &[Hub] {
        &self.hubs
    }
}

/// A submission of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Submission {
    since_ns: i64,
    /// When one of its attempts was submitted, in nanoseconds since 1970.
    submit_ns: Option<i64>,
    component: u32,
    /// The job, by its number in [`SortedRows`]: array tasks are jobs of their own.
    job: u32,
    generation: u32,
}

impl Submission {
    fn is_of(&self, other: &Self) -> bool {
        (self.job, self.component, self.generation) == (other.job, other.component, other.generation)
    }
}

/// The user and the work directory of a job.
fn place(jobs: &Jobs, attempt: &JobAttempt) -> String {
    let text = |sym| jobs.text_of(sym).unwrap_or_default();
    format!("{}\n{}\n{}", jobs.text(attempt.cluster), text(attempt.user), text(attempt.work_dir))
}

/// The submissions of the jobs that rows name.
struct Known {
    of_job: Vec<Vec<Submission>>,
    components: Vec<SubmissionName>,
    about: Vec<About>,
}

impl Known {
    fn find(parts: &Parts<'_>, rows: &SortedRows) -> Result<Self, CorrelateError> {
        let mut known = Self { of_job: vec![Vec::new(); rows.jobs()], components: Vec::new(), about: Vec::new() };
        let mut places: FxHashMap<String, u32> = FxHashMap::default();
        parts.for_each::<CorrelateError>(|jobs| {
            let mut oldest: Vec<u32> = Vec::new();
            // Components do not go on in another part.
            let mut numbers: FxHashMap<u32, u32> = FxHashMap::default();
            let mut counted = FxHashSet::default();
            for attempt in jobs.attempts.iter().filter(|attempt| !attempt.is_pending_array(&jobs.strings)) {
                let Some(job) = rows.job(jobs.text(attempt.cluster), jobs.text(attempt.job)) else { continue };
                if oldest.is_empty() {
                    oldest = components::oldest(jobs);
                }
                let first = oldest[attempt.submission as usize];
                let component = *numbers.entry(first).or_insert_with(|| {
                    known.components.push(SubmissionName::new(jobs, first));
                    let next = places.len() as u32;
                    let place = *places.entry(place(jobs, attempt)).or_insert(next);
                    known.about.push(About { since_ns: jobs.submissions[first as usize].since_ns, submissions: 0, place });
                    known.components.len() as u32 - 1
                });
                if counted.insert(attempt.submission) {
                    known.about[component as usize].submissions += 1;
                }
                let generation = jobs.submissions[attempt.submission as usize].generation;
                let submit_ns = attempt.submit_ns.get();
                known.of_job[job as usize].push(Submission { since_ns: attempt.since_ns, submit_ns, component, job, generation });
            }
            Ok(())
        })?;
        known.of_job.iter_mut().for_each(|submissions| submissions.sort_unstable());
        Ok(known)
    }

    /// Returns the submissions that read or wrote.
    fn submissions(&self, rows: &SortedRows, done: Done) -> Vec<Submission> {
        let mut found: Vec<Submission> = Vec::new();
        for job in rows.jobs_of(done.by) {
            if let Some(submission) = self.submission(job, done.at_ns)
                && !found.iter().any(|other| other.is_of(&submission))
            {
                found.push(submission);
            }
        }
        found
    }

    /// The attempt that is meant; of several at one submission it does not matter which.
    fn submission(&self, job: &Job, at_ns: Option<i64>) -> Option<Submission> {
        let all = &self.of_job[job.number as usize];
        let first = all.first()?;
        if let Some(named) = all.iter().find(|one| job.submit_ns.is_some() && one.submit_ns == job.submit_ns) {
            return Some(*named);
        }
        if all.iter().all(|one| one.is_of(first)) {
            return Some(*first);
        }
        let mut there = all.iter().filter(|one| at_ns.is_some_and(|at| one.since_ns <= at.saturating_add(SLACK_NS)));
        there.next_back().or(at_ns.map(|_| first)).copied()
    }
}

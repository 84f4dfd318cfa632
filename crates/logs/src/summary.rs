//! What a dataset holds, in numbers: the case study's Table 2 and a little more.
//!
//! In go entities in parts, a filter and the notions to count cases of; out comes a [`Summary`],
//! which serialises as it is and has a text for terminals with names made harmless.
//!
//! A *job* is a job in Slurm's sense: an array task, a component of a heterogeneous job, or another
//! job, with all of its attempts. The record of a pending array represents tasks that do not exist
//! yet. It is counted separately if the array has tasks already, and as one job otherwise. Numbers
//! of a job (CPUs, memory, final state) are those of its last attempt.

use std::collections::BTreeMap;
use std::fmt::Write;

use flowmine_correlate::cases::CaseNotion;
use flowmine_correlate::{Entities, EventLog, Filter, PackedInt, Sym};
use flowmine_dataset::{Dataset, DatasetError};
use flowmine_schema::tables::DiagnosticRow;
use flowmine_schema::text::visible;
use flowmine_schema::time;
use rustc_hash::{FxHashMap, FxHashSet};
use schemars::JsonSchema;
use serde::Serialize;

flowmine_schema::columns! {
    /// How often something was wrong.
    struct Counted of DiagnosticRow { severity, count }
}

/// The numbers of a dataset's jobs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Summary {
    /// Number of events of jobs.
    pub events: u64,
    /// Number of distinct jobs.
    pub jobs: u64,
    /// Attempts at them; more than jobs when some were requeued.
    pub attempts: u64,
    /// Distinct users (cluster and name).
    pub users: u64,
    /// Distinct accounts (cluster and name).
    pub accounts: u64,
    /// Accounts with at least one job that declared a dependency.
    pub accounts_with_dependencies: u64,
    /// Their share of all accounts, 0 to 1; null when there is no account.
    pub share_of_accounts_with_dependencies: Option<f64>,
    /// Jobs that declared a dependency.
    pub jobs_with_dependencies: u64,
    /// Their share of all jobs, 0 to 1; null when there is no job.
    pub share_of_jobs_with_dependencies: Option<f64>,
    /// Mean number of CPUs of a job.
    pub cpus: Mean,
    /// Memory a job in bytes, as asked for.
    pub memory_bytes: Mean,
    /// Time of the first event, UTC.
    pub first: Option<String>,
    /// Time of the last event, UTC.
    pub last: Option<String>,
    /// Cases of each notion, by its name.
    pub cases: BTreeMap<String, u64>,
    /// Jobs by how they ended, by state; those whose end is not known are not here.
    pub final_states: BTreeMap<String, u64>,
    /// Jobs whose end is not known.
    pub jobs_without_known_end: u64,
}

/// A mean over those of whom the number is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
pub struct Mean {
    /// The arithmetic mean; null when no number is known.
    pub mean: Option<f64>,
    /// Of how many the number is known.
    pub known: u64,
}

/// A sum over the known values.
#[derive(Debug, Default)]
struct Sum {
    sum: i128,
    known: u64,
}

impl Sum {
    fn add(&mut self, value: PackedInt) {
        if let Some(value) = value.get() {
            self.sum += i128::from(value);
            self.known += 1;
        }
    }

    fn mean(&self) -> Mean {
        Mean { mean: (self.known > 0).then(|| self.sum as f64 / self.known as f64), known: self.known }
    }
}

/// Warnings and errors in a dataset's table `diagnostics`.
///
/// # Errors
/// When it cannot be read.
pub fn diagnostic_counts(dataset: &Dataset) -> Result<(u64, u64), DatasetError> {
    let (mut warnings, mut errors) = (0u64, 0u64);
    dataset.read::<Counted<'static>, DatasetError>(|row| {
        let count = u64::try_from(row.count).unwrap_or(0);
        if row.severity == "error" {
            errors += count
        } else {
            warnings += count
        }
        Ok(())
    })?;
    Ok((warnings, errors))
}

/// A cluster, and the name of a user or account on it.
type Named = (String, String);

/// Counts jobs, part after part ([`flowmine_correlate::parts`]).
pub struct SummaryBuilder<'a> {
    filter: &'a Filter,
    notions: &'a [&'a dyn CaseNotion],
    summary: Summary,
    range: Option<(i64, i64)>,
    users: FxHashSet<Named>,
    accounts: FxHashSet<Named>,
    accounts_with_dependencies: FxHashSet<Named>,
    cpus: Sum,
    memory: Sum,
    /// Of each notion the ids of the cases that can go on in another part.
    cases: Vec<FxHashSet<String>>,
}

impl<'a> SummaryBuilder<'a> {
    /// Counts the events that pass the filter, and the cases of these notions.
    pub fn new(filter: &'a Filter, notions: &'a [&'a dyn CaseNotion]) -> Self {
        let summary = Summary { cases: notions.iter().map(|notion| (notion.name().to_owned(), 0)).collect(), ..Summary::default() };
        Self {
            filter,
            notions,
            summary,
            range: None,
            users: FxHashSet::default(),
            accounts: FxHashSet::default(),
            accounts_with_dependencies: FxHashSet::default(),
            cpus: Sum::default(),
            memory: Sum::default(),
            cases: notions.iter().map(|_| FxHashSet::default()).collect(),
        }
    }

    /// Adds the jobs of one part, or all.
    pub fn add(&mut self, entities: &Entities<'_>) {
        let jobs = entities.jobs;
        let resolved = self.filter.resolve(jobs);
        let summary = &mut self.summary;
        let waiting: FxHashSet<u32> = jobs.dependencies.terms.iter().map(|t| t.attempt).collect();
        // What the record of an array waits for is what its tasks wait for.
        let waiting_arrays: FxHashSet<u32> = (waiting.iter().map(|&at| &jobs.attempts[at as usize]))
            .filter(|attempt| jobs.is_array_record(attempt))
            .map(|attempt| attempt.submission)
            .collect();
        // The last attempt at each job, and whether any declared a dependency.
        let mut last: FxHashMap<(u32, Sym), (u32, bool)> = FxHashMap::default();
        for (at, attempt) in (0u32..).zip(&jobs.attempts) {
            let mut times = resolved.events(attempt).map(|e| jobs.events[e as usize].time_ns);
            let Some(first) = times.next() else { continue };
            let (mut until, mut count) = (first, 1);
            times.for_each(|time| {
                until = time;
                count += 1;
            });
            summary.events += count;
            self.range = Some(self.range.map_or((first, until), |(a, b)| (a.min(first), b.max(until))));
            summary.attempts += 1;
            let job = last.entry((attempt.submission, attempt.job)).or_insert((at, false));
            job.0 = at;
            job.1 |= waiting.contains(&at) || waiting_arrays.contains(&attempt.submission);
        }
        summary.jobs += last.len() as u64;
        summary.jobs_with_dependencies += last.values().filter(|(_, waits)| *waits).count() as u64;
        let (mut users, mut accounts) = (FxHashSet::default(), FxHashSet::default());
        for (at, waits) in last.into_values() {
            let attempt = &jobs.attempts[at as usize];
            users.extend(attempt.user.map(|user| (attempt.cluster, user)));
            accounts.extend(attempt.account.map(|account| (attempt.cluster, account, waits)));
            self.cpus.add(attempt.cpus);
            self.memory.add(attempt.memory_bytes);
            match jobs.text_of(attempt.final_state) {
                Some(state) => *summary.final_states.entry(state.to_owned()).or_default() += 1,
                None => summary.jobs_without_known_end += 1,
            }
        }
        let named = |cluster, name| (jobs.text(cluster).to_owned(), jobs.text(name).to_owned());
        self.users.extend(users.into_iter().map(|(cluster, user)| named(cluster, user)));
        for (cluster, account, waits) in accounts {
            self.accounts.insert(named(cluster, account));
            if waits {
                self.accounts_with_dependencies.insert(named(cluster, account));
            }
        }
        for (notion, ids) in self.notions.iter().zip(&mut self.cases) {
            let (going_on, whole): (Vec<_>, Vec<_>) =
                EventLog::build(entities, *notion, self.filter).cases.into_iter().partition(|case| case.goes_on);
            *summary.cases.entry(notion.name().to_owned()).or_default() += whole.len() as u64;
            ids.extend(going_on.into_iter().map(|case| case.id));
        }
    }

    /// The numbers, once all jobs have been added.
    pub fn finish(self) -> Summary {
        let mut summary = self.summary;
        (summary.first, summary.last) = self.range.map(|(a, b)| (time::rfc3339(a), time::rfc3339(b))).unzip();
        summary.users = self.users.len() as u64;
        summary.accounts = self.accounts.len() as u64;
        summary.accounts_with_dependencies = self.accounts_with_dependencies.len() as u64;
        let share = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
        summary.share_of_jobs_with_dependencies = share(summary.jobs_with_dependencies, summary.jobs);
        summary.share_of_accounts_with_dependencies = share(summary.accounts_with_dependencies, summary.accounts);
        (summary.cpus, summary.memory_bytes) = (self.cpus.mean(), self.memory.mean());
        for (notion, ids) in self.notions.iter().zip(self.cases) {
            *summary.cases.entry(notion.name().to_owned()).or_default() += ids.len() as u64;
        }
        summary
    }
}

impl Summary {
    /// For a terminal: one line a number, ends with a newline.
    pub fn text(&self) -> String {
        let mut rows: Vec<(String, String)> = Vec::new();
        let mut row = |name: &str, value: String| rows.push((name.to_owned(), value));
        row("Events", self.events.to_string());
        row("Submitted jobs", self.jobs.to_string());
        if self.attempts > self.jobs {
            row("Attempts", self.attempts.to_string());
        }
        row("Accounts", self.accounts.to_string());
        let percent = |share: Option<f64>, part: u64| match share {
            Some(share) => format!("{:.2} % ({part})", share * 100.0),
            None => "unknown".to_owned(),
        };
        row("Accounts with declared dependencies", percent(self.share_of_accounts_with_dependencies, self.accounts_with_dependencies));
        row("Jobs with declared dependencies", percent(self.share_of_jobs_with_dependencies, self.jobs_with_dependencies));
        let known = |mean: Mean| if mean.known == self.jobs { String::new() } else { format!(" (known of {} jobs)", mean.known) };
        let cpus = self.cpus.mean.map_or("unknown".to_owned(), |m| format!("{m:.2}"));
        row("Mean CPUs per job", cpus + &known(self.cpus));
        row("Mean memory per job", self.memory_bytes.mean.map_or("unknown".to_owned(), human_bytes) + &known(self.memory_bytes));
        for (notion, cases) in &self.cases {
            row(&format!("Cases ({})", visible(notion)), cases.to_string());
        }
        if let (Some(first), Some(last)) = (&self.first, &self.last) {
            row("First event", first.clone());
            row("Last event", last.clone());
        }
        let states: Vec<String> = self.final_states.iter().map(|(state, count)| format!("{count} {}", visible(state))).collect();
        if !states.is_empty() {
            row("Ended", states.join(", "));
        }
        if self.jobs_without_known_end > 0 {
            row("End not known", self.jobs_without_known_end.to_string());
        }
        let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        let mut out = String::new();
        for (name, value) in rows {
            // Writing to a string does not fail.
            let _ = writeln!(out, "{name:<width$}  {value}");
        }
        out
    }
}

/// Bytes in binary units: `5.0 GiB`.
pub(crate) fn human_bytes(bytes: f64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut value = bytes;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{value:.0} B") } else { format!("{value:.1} {}", units[unit]) }
}

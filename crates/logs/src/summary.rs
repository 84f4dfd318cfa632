//! What a dataset holds, in numbers: the case study's Table 2 and a little more.
//!
//! In go jobs, a filter and the notions to count cases of; out comes a [`Summary`], which serialises as it is and has a text for terminals with names
//! made harmless.
//!
//! A *job* is what Slurm calls one: an array task, a component of a heterogeneous job, or another job, however many attempts it took.
//! The record of a pending array stands for tasks that do not exist yet: it is counted apart when it has tasks already, and as one job when not.
//! Numbers of a job (CPUs, memory, final state) are those of its last attempt.

use std::collections::BTreeMap;
use std::fmt::Write;

use flowmine_correlate::cases::CaseNotion;
use flowmine_correlate::{EventLog, Filter, Jobs, Maybe, Sym};
use flowmine_schema::tables::DiagnosticRow;
use flowmine_schema::text::visible;
use flowmine_schema::{Dataset, DatasetError, time};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;

flowmine_schema::columns! {
    /// How often something was wrong.
    struct Counted of DiagnosticRow { severity, count }
}

/// The numbers.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Summary {
    /// Events.
    pub events: u64,
    /// Distinct jobs.
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
    /// CPUs a job.
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
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Mean {
    /// The arithmetic mean; null when no number is known.
    pub mean: Option<f64>,
    /// How many were known.
    pub known: u64,
}

impl Mean {
    fn of(values: impl Iterator<Item = Maybe>) -> Self {
        let (mut sum, mut known) = (0i128, 0u64);
        for value in values.filter_map(Maybe::get) {
            sum += i128::from(value);
            known += 1;
        }
        Self { mean: (known > 0).then(|| sum as f64 / known as f64), known }
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

impl Summary {
    /// Counts.
    pub fn new(jobs: &Jobs, filter: &Filter, notions: &[&dyn CaseNotion]) -> Self {
        let resolved = filter.resolve(jobs);
        let mut summary = Self::default();
        let waiting: FxHashSet<u32> = jobs.dependencies.terms.iter().map(|t| t.attempt).collect();
        // What the record of an array waits for is what its tasks wait for.
        let waiting_arrays: FxHashSet<u32> = (waiting.iter().map(|&at| &jobs.attempts[at as usize]))
            .filter(|attempt| jobs.is_array_record(attempt))
            .map(|attempt| attempt.submission)
            .collect();
        // The last attempt at each job, and whether any declared a dependency.
        let mut last: FxHashMap<(u32, Sym), (u32, bool)> = FxHashMap::default();
        let mut range: Option<(i64, i64)> = None;
        for (at, attempt) in (0u32..).zip(&jobs.attempts) {
            let mut times = resolved.events(attempt).map(|e| jobs.events[e as usize].time_ns);
            let Some(first) = times.next() else { continue };
            let (mut until, mut count) = (first, 1);
            times.for_each(|time| {
                until = time;
                count += 1;
            });
            summary.events += count;
            range = Some(range.map_or((first, until), |(a, b)| (a.min(first), b.max(until))));
            summary.attempts += 1;
            let job = last.entry((attempt.submission, attempt.job)).or_insert((at, false));
            job.0 = at;
            job.1 |= waiting.contains(&at) || waiting_arrays.contains(&attempt.submission);
        }
        (summary.first, summary.last) = range.map(|(a, b)| (time::rfc3339(a), time::rfc3339(b))).unzip();

        let mut jobs_last: Vec<(u32, bool)> = last.into_values().collect();
        jobs_last.sort_unstable();
        let accounts = |only_waiting: bool| {
            let of = |&(at, waits): &(u32, bool)| {
                let a = &jobs.attempts[at as usize];
                a.account.filter(|_| waits || !only_waiting).map(|account| (a.cluster, account))
            };
            jobs_last.iter().filter_map(of).collect::<FxHashSet<_>>().len() as u64
        };
        (summary.accounts, summary.accounts_with_dependencies) = (accounts(false), accounts(true));
        let user = |&(at, _): &(u32, bool)| jobs.attempts[at as usize].user.map(|u| (jobs.attempts[at as usize].cluster, u));
        summary.users = jobs_last.iter().filter_map(user).collect::<FxHashSet<_>>().len() as u64;

        summary.jobs = jobs_last.len() as u64;
        summary.jobs_with_dependencies = jobs_last.iter().filter(|(_, waits)| *waits).count() as u64;
        let share = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
        summary.share_of_jobs_with_dependencies = share(summary.jobs_with_dependencies, summary.jobs);
        summary.share_of_accounts_with_dependencies = share(summary.accounts_with_dependencies, summary.accounts);
        let of_last = || jobs_last.iter().map(|&(at, _)| &jobs.attempts[at as usize]);
        summary.cpus = Mean::of(of_last().map(|a| a.cpus));
        summary.memory_bytes = Mean::of(of_last().map(|a| a.memory_bytes));
        for attempt in of_last() {
            match jobs.text_of(attempt.final_state) {
                Some(state) => *summary.final_states.entry(state.to_owned()).or_default() += 1,
                None => summary.jobs_without_known_end += 1,
            }
        }
        for notion in notions {
            let cases = EventLog::build(jobs, *notion, filter).cases.len() as u64;
            summary.cases.insert(notion.name().to_owned(), cases);
        }
        summary
    }

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

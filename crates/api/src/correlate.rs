//! Deriving the tables of a dataset: links, cases, and to whom traced operations belong.

use std::fmt::Write;
use std::path::PathBuf;

use flowmine_attribution::partial::Collection;
use flowmine_correlate::cases::{self, CaseNotion};
use flowmine_correlate::{Correlated, RowRules, Timestamp, Traces};
use flowmine_dataset::{Dataset, HubLimits, Role};
use flowmine_schema::losses::LostOperations;
use flowmine_schema::text::visible;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::error::Result;
use crate::jobs;
use crate::sink::{Message, Sink};
use crate::{task_waits, usual_notion};

/// What is correlated.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// The dataset.
    pub dataset: PathBuf,
    /// For root: whether the dataset is written as its owner.
    pub as_owner: bool,
    /// The only case notion that the result reports.
    pub case_notion: Option<String>,
    /// From when on a file joins no runs; kept in the dataset for all commands.
    pub hubs: HubOptions,
    /// Directories with the partial results of all hosts; empty if the raw rows of hosts are read.
    pub partials: Vec<PathBuf>,
}

/// Limits of hub files that were chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HubOptions {
    /// Groups of several jobs each that read the file.
    pub runs: Option<usize>,
    /// Groups of jobs that read the file.
    pub readers: Option<usize>,
    /// Time from writing to reading, in nanoseconds.
    pub age_ns: Option<i64>,
}

impl HubOptions {
    /// Keeps the limits in the dataset, where any was chosen.
    fn keep(self, dataset: &Dataset) -> Result<()> {
        if self == Self::default() {
            return Ok(());
        }
        let known = dataset.manifest()?.hubs.unwrap_or_default();
        let limits = HubLimits {
            runs: self.runs.unwrap_or(known.runs),
            readers: self.readers.unwrap_or(known.readers),
            age_ns: self.age_ns.unwrap_or(known.age_ns),
        };
        let mut writer = dataset.writer(Role::Derived, "limits of hub files")?;
        let mut transaction = writer.begin()?;
        transaction.update_manifest(|manifest| manifest.hubs = Some(limits))?;
        Ok(transaction.commit()?)
    }
}

/// What correlating found.
pub struct Found {
    /// The counts of what was found and written.
    pub counts: Correlated,
    /// The only case notion that is reported.
    pub only: Option<&'static dyn CaseNotion>,
    /// Operations that the traces lack: sums of bytes are lower bounds.
    pub lost: LostOperations,
}

impl Found {
    /// Returns the case notions that are reported, with their numbers of cases.
    pub fn cases(&self) -> impl Iterator<Item = (&'static str, usize)> {
        let is_wanted = |name: &str| self.only.is_none_or(|only| only.name() == name);
        let all = self.counts.cases.iter().chain(&self.counts.task_cases);
        all.copied().filter(move |(name, _)| is_wanted(name))
    }

    /// Returns the numbers of cases, and the share that each kind of evidence decided, as JSON.
    pub fn json(&self) -> serde_json::Value {
        let done = &self.counts;
        let all: usize = done.decided.iter().map(|(_, attempts)| attempts).sum();
        let cases = self.cases().map(|(notion, cases)| json!({ "notion": notion, "cases": cases }));
        let decided = done
            .decided
            .iter()
            .map(|(reason, attempts)| json!({ "evidence": reason, "attempts": attempts, "share": *attempts as f64 / all.max(1) as f64 }));
        let hubs = done.hubs.iter().map(|hub| json!({ "path": hub.path, "reason": hub.reason.name(), "readers": hub.readers }));
        json!({
            "attempts": done.attempts,
            "tasks": done.tasks,
            "links": done.links,
            "unseen_targets": done.unseen_targets,
            "cases": cases.collect::<Vec<_>>(),
            "decided": decided.collect::<Vec<_>>(),
            "hubs": hubs.collect::<Vec<_>>(),
        })
    }

    /// Returns the counts for people.
    pub fn text(&self) -> String {
        let done = &self.counts;
        let mut text = String::new();
        // A dataset of traces and tasks need not have jobs.
        if done.attempts > 0 || (done.tasks == 0 && done.attributed.hosts == 0) {
            let Correlated { attempts, links, unseen_targets, .. } = done;
            let _ = writeln!(text, "{attempts} job attempts, {links} links ({unseen_targets} to jobs that were never seen)");
        }
        let is_told = done.attempts > 0 || self.only.is_some();
        for (name, cases) in self.cases().filter(|(_, cases)| is_told && *cases > 0) {
            let _ = writeln!(text, "{name}: {cases} cases");
        }
        let decided: usize = done.decided.iter().map(|(_, attempts)| attempts).sum();
        for (reason, attempts) in &done.decided {
            let _ = writeln!(text, "by {reason}: {attempts} of {decided} attempts ({})", share(*attempts, decided));
        }
        attributed(done, &mut text);
        if !done.hubs.is_empty() {
            let _ = writeln!(text, "{} files were read by jobs of several runs and join none:", done.hubs.len());
        }
        for hub in done.hubs.iter().take(MOST_HUBS) {
            let path = if hub.path.is_empty() { "(unknown path)".to_owned() } else { visible(&hub.path).into_owned() };
            let _ = writeln!(text, "  {path} ({}, {} readers)", hub.reason.name(), hub.readers);
        }
        if done.hubs.len() > MOST_HUBS {
            let _ = writeln!(text, "  and {} more", done.hubs.len() - MOST_HUBS);
        }
        text
    }
}

/// Hub files that the text lists, at most.
const MOST_HUBS: usize = 20;

fn share(part: usize, all: usize) -> String {
    format!("{:.1} %", 100.0 * part as f64 / all.max(1) as f64)
}

/// Adds what became of traced operations, if there are any.
fn attributed(done: &Correlated, text: &mut String) {
    let found = &done.attributed;
    if found.hosts == 0 {
        if done.tasks > 0 {
            let _ = writeln!(text, "{} attempts at tasks, of which nothing was traced", done.tasks);
        }
        return;
    }
    let (operations, processes, hosts, tasks) = (found.operations, found.processes, found.hosts, done.tasks);
    let _ = writeln!(text, "{operations} operations of {processes} processes on {hosts} hosts, {tasks} attempts at tasks");
    let mut bytes = |what: &str, (read, wrote): (i64, i64)| {
        let _ = writeln!(text, "{what}: {read} bytes read, {wrote} written");
    };
    let written = &found.written;
    bytes(&format!("assigned to tasks ({} tasks)", written.tasks), written.assigned);
    for (reason, sums) in &written.unassigned {
        bytes(&format!("unassigned ({reason})"), *sums);
    }
    let _ = writeln!(text, "{} rows of task_io, {} of data_flow, {} links of processes", written.rows, found.flows, found.links);
}

/// Correlates a dataset and writes its derived tables.
///
/// # Errors
/// When the dataset cannot be read or written, or the case notion needs what it lacks.
pub fn correlate(options: &Options, sink: &dyn Sink) -> Result<Found> {
    let only = options.case_notion.as_deref().map(jobs::notion).transpose()?;
    let dataset = jobs::open(&options.dataset, options.as_owner)?;
    let asked = only.map_or_else(usual_notion::usual, Ok)?;
    jobs::has_data_flow(&dataset, asked)?;
    // Before anything is written: what is refused changes nothing.
    let traces = match &options.partials[..] {
        [] => Traces::Rows,
        dirs => Traces::Partials(Collection::open(dirs, &dataset)?),
    };
    options.hubs.keep(&dataset)?;
    let rules = RowRules::default();
    let parts = jobs::parts(&dataset, Timestamp::default(), &rules, sink)?;
    let stage = sink.stage("correlating");
    let counts = flowmine_correlate::correlate_with_tasks(&dataset, &parts, cases::ALL, Some(asked.name()), traces, task_waits::ROWS)?;
    drop(stage);
    if let Some(only) = only.filter(|only| only.needs_data_flow() && !counts.jobs_exchanged_data) {
        jobs::without_exchange(only, sink);
    }
    sink.message(Message::Diagnostics("dataset", &counts.diagnostics));
    let lost = counts.attributed.lost;
    Ok(Found { counts, only, lost })
}

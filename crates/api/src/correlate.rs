//! Deriving the tables of a dataset: links, cases, and to whom traced operations belong.

use std::path::PathBuf;

use flowmine_attribution::losses;
use flowmine_correlate::cases::{self, CaseNotion};
use flowmine_correlate::{Correlated, RowRules, Timestamp};
use flowmine_schema::losses::LostOperations;

use crate::error::Result;
use crate::jobs;
use crate::sink::{Message, Sink};

/// What is correlated.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// The dataset.
    pub dataset: PathBuf,
    /// For root: whether the dataset is written as its owner.
    pub as_owner: bool,
    /// The only case notion that the result reports.
    pub case_notion: Option<String>,
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
        self.counts.cases.iter().copied().filter(move |(name, _)| is_wanted(name))
    }
}

/// Correlates a dataset and writes its derived tables.
///
/// # Errors
/// When the dataset cannot be read or written, or the case notion needs what it lacks.
pub fn correlate(options: &Options, sink: &dyn Sink) -> Result<Found> {
    let only = options.case_notion.as_deref().map(jobs::notion).transpose()?;
    let dataset = jobs::open(&options.dataset, options.as_owner)?;
    only.map(|only| jobs::has_data_flow(&dataset, only)).transpose()?;
    let rules = RowRules::default();
    let parts = jobs::parts(&dataset, Timestamp::default(), &rules, sink)?;
    let stage = sink.stage("correlating");
    let counts = flowmine_correlate::correlate(&dataset, &parts, cases::ALL, only.map(|only| only.name()))?;
    drop(stage);
    if let Some(only) = only.filter(|only| only.needs_data_flow() && !counts.jobs_exchanged_data) {
        jobs::without_exchange(only, sink);
    }
    sink.message(Message::Diagnostics("dataset", &counts.diagnostics));
    let lost = losses::lost_operations(&dataset)?;
    Ok(Found { counts, only, lost })
}

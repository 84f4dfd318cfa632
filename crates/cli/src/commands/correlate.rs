//! `flowmine correlate`.

use flowmine_correlate::cases;

use super::jobs;
use crate::args::{Correlate, TimestampArg};
use crate::progress::Stage;
use crate::{Outcome, output};

/// Writes the tables links and cases.
pub fn run(args: &Correlate) -> anyhow::Result<Outcome> {
    let only = args.case_notion.as_deref().map(jobs::notion).transpose()?;
    let (dataset, jobs) = jobs::read(&args.dataset, TimestampArg::default())?;
    let stage = Stage::new("correlating");
    let done = flowmine_correlate::correlate(&dataset, &jobs, cases::ALL)?;
    drop(stage);
    output::write(None, |out| {
        writeln!(out, "{} job attempts, {} links ({} to jobs that were never seen)", jobs.attempts.len(), done.links, done.unseen_targets)?;
        for (name, cases) in done.cases.iter().filter(|(name, _)| only.is_none_or(|only| only.name() == *name)) {
            writeln!(out, "{name}: {cases} cases")?;
        }
        Ok(())
    })?;
    Ok(if jobs.diagnostics.errors() > 0 { Outcome::WithLosses } else { Outcome::Clean })
}

//! `flowmine correlate`.

use std::io::{self, Write};

use flowmine_correlate::{Correlated, cases};

use super::jobs;
use crate::args::{Correlate, TimestampArg};
use crate::progress::Stage;
use crate::{Outcome, messages, output};

/// Writes the derived tables.
pub fn run(args: &Correlate) -> anyhow::Result<Outcome> {
    let only = args.case_notion.as_deref().map(jobs::notion).transpose()?;
    let (dataset, jobs) = jobs::read(&args.dataset, args.written, TimestampArg::default())?;
    let stage = Stage::new("correlating");
    let done = flowmine_correlate::correlate(&dataset, &jobs, cases::ALL)?;
    drop(stage);
    output::write(None, |out| {
        // A dataset of traces and tasks need not have jobs.
        if !jobs.attempts.is_empty() || (done.tasks == 0 && done.attributed.hosts == 0) {
            let attempts = jobs.attempts.iter().filter(|attempt| !jobs.is_array_record(attempt)).count();
            let unseen = done.unseen_targets;
            writeln!(out, "{attempts} job attempts, {} links ({unseen} to jobs that were never seen)", done.links)?;
            for (name, cases) in done.cases.iter().filter(|(name, _)| only.is_none_or(|only| only.name() == *name)) {
                writeln!(out, "{name}: {cases} cases")?;
            }
        }
        Ok(attributed(&done, out)?)
    })?;
    messages::diagnostics("correlate", &done.attributed.diagnostics);
    Ok(if jobs.diagnostics.errors() > 0 { Outcome::WithLosses } else { Outcome::Clean })
}

/// What became of traced operations, if there are any.
fn attributed(done: &Correlated, out: &mut dyn Write) -> io::Result<()> {
    let found = &done.attributed;
    if found.hosts == 0 {
        return if done.tasks > 0 { writeln!(out, "{} attempts at tasks, of which nothing was traced", done.tasks) } else { Ok(()) };
    }
    let written = &found.written;
    writeln!(
        out,
        "{} operations of {} processes on {} hosts, {} attempts at tasks",
        found.operations, found.processes, found.hosts, done.tasks
    )?;
    let bytes = |out: &mut dyn Write, what: &str, (read, wrote): (i64, i64)| writeln!(out, "{what}: {read} bytes read, {wrote} written");
    bytes(out, &format!("belongs to somebody ({} tasks)", written.tasks), written.assigned)?;
    for (reason, sums) in &written.unassigned {
        bytes(out, &format!("belongs to nobody ({reason})"), *sums)?;
    }
    writeln!(out, "{} rows of task_io, {} of data_flow, {} links of processes", written.rows, found.flows, found.links)
}

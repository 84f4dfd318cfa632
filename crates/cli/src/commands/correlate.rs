//! `flowmine correlate`: writes the derived tables of a dataset.

use std::io::{self, Write};

use flowmine_api::{jobs, lower_bounds};
use flowmine_correlate::{Correlated, RowRules, Timestamp, cases};

use crate::args::Correlate;
use crate::progress::Stage;
use crate::terminal::Terminal;
use crate::{Outcome, messages, output};

/// Runs `flowmine correlate`: writes the derived tables.
pub fn run(args: &Correlate) -> anyhow::Result<Outcome> {
    let only = args.case_notion.as_deref().map(jobs::notion).transpose()?;
    let dataset = jobs::open(&args.dataset, args.written.as_owner)?;
    only.map(|only| jobs::has_data_flow(&dataset, only)).transpose()?;
    let rules = RowRules::default();
    let parts = jobs::parts(&dataset, Timestamp::default(), &rules, &Terminal)?;
    let stage = Stage::new("correlating");
    let done = flowmine_correlate::correlate(&dataset, &parts, cases::ALL, only.map(|only| only.name()))?;
    drop(stage);
    if let Some(only) = only.filter(|only| only.needs_data_flow() && !done.jobs_exchanged_data) {
        jobs::without_exchange(only, &Terminal);
    }
    messages::diagnostics("dataset", &done.diagnostics, messages::Kept::Nowhere);
    output::write(None, |out| {
        // A dataset of traces and tasks need not have jobs.
        if done.attempts > 0 || (done.tasks == 0 && done.attributed.hosts == 0) {
            let Correlated { attempts, links, unseen_targets, .. } = &done;
            writeln!(out, "{attempts} job attempts, {links} links ({unseen_targets} to jobs that were never seen)")?;
            for (name, cases) in done.cases.iter().filter(|(name, _)| only.is_none_or(|only| only.name() == *name)) {
                writeln!(out, "{name}: {cases} cases")?;
            }
        }
        Ok(attributed(&done, out)?)
    })?;
    messages::diagnostics("correlate", &done.attributed.diagnostics, messages::Kept::InDataset);
    lower_bounds::warn(&dataset, &Terminal)?;
    Ok(if done.diagnostics.errors() > 0 { Outcome::WithLosses } else { Outcome::Clean })
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

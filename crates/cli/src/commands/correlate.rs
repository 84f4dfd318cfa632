//! `flowmine correlate`: writes the derived tables of a dataset.

use std::io::{self, Write};

use flowmine_api::correlate::{Options, correlate};
use flowmine_correlate::Correlated;

use crate::args::Correlate;
use crate::terminal::Terminal;
use crate::{Outcome, messages, output};

/// Runs `flowmine correlate`: writes the derived tables.
pub fn run(args: &Correlate) -> anyhow::Result<Outcome> {
    let options =
        Options { dataset: args.source.dir()?.to_owned(), as_owner: args.written.as_owner, case_notion: args.case_notion.clone() };
    let found = correlate(&options, &Terminal)?;
    let done = &found.counts;
    output::write(None, |out| {
        // A dataset of traces and tasks need not have jobs.
        if done.attempts > 0 || (done.tasks == 0 && done.attributed.hosts == 0) {
            let Correlated { attempts, links, unseen_targets, .. } = done;
            writeln!(out, "{attempts} job attempts, {links} links ({unseen_targets} to jobs that were never seen)")?;
            for (name, cases) in found.cases() {
                writeln!(out, "{name}: {cases} cases")?;
            }
        }
        Ok(attributed(done, out)?)
    })?;
    messages::diagnostics("correlate", &done.attributed.diagnostics, messages::Kept::InDataset);
    if let Some(sentence) = found.lost.sentence() {
        messages::warning(&sentence);
    }
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

//! `flowmine prune`: removes old rows from a dataset.

use flowmine_api::prune::{Options, prune};
use flowmine_schema::text::visible;
use flowmine_schema::time;

use crate::args::Prune;
use crate::outcome::Outcome;
use crate::terminal::Terminal;
use crate::{messages, output};

/// Removes old rows from a dataset.
pub fn run(args: &Prune) -> anyhow::Result<Outcome> {
    let options = Options {
        dataset: args.dataset.clone(),
        as_owner: args.written.as_owner,
        before_ns: args.before,
        dry_run: args.dry_run,
        wait: args.wait,
    };
    let done = prune(&options, &Terminal)?;
    let would = if args.dry_run { "would go" } else { "went" };
    output::write(None, |out| {
        for (table, pruned) in &done.rows.tables {
            let (all, rows, kilobytes) = (pruned.rows + pruned.kept, pruned.rows, pruned.bytes / 1000);
            writeln!(out, "{table}: {rows} of {all} rows {would}, {kilobytes} kB")?;
        }
        if done.rows.jobs_left > 0 {
            let when = time::rfc3339(args.before);
            writeln!(out, "{} submissions with jobs that had not ended before {when} stay", done.rows.jobs_left)?;
        }
        Ok(())
    })?;
    for host in &done.rows.busy {
        messages::warning(&format!("{} is being traced: its traces were left", visible(host)));
    }
    if done.derived_is_stale {
        messages::note(&format!(
            "links and cases are as before: `flowmine correlate --dataset {}` makes them again",
            args.dataset.display()
        ));
    }
    Ok(if done.rows.busy.is_empty() { Outcome::Clean } else { Outcome::WithLosses })
}

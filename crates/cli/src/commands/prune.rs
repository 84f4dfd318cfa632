//! `flowmine prune`: removes old rows from a dataset.

use std::time::{Duration, Instant};

use flowmine_correlate::CorrelateError;
use flowmine_correlate::prune::prune;
use flowmine_dataset::DatasetError;
use flowmine_schema::tables::{Case, Link};
use flowmine_schema::text::visible;
use flowmine_schema::time;

use super::datasets::dataset_to_change;
use crate::args::Prune;
use crate::outcome::Outcome;
use crate::progress::Stage;
use crate::{messages, output};

/// Takes old rows out of a dataset.
pub fn run(args: &Prune) -> anyhow::Result<Outcome> {
    let dataset = dataset_to_change(&args.dataset, args.written)?;
    let stage = Stage::new("pruning");
    let began = Instant::now();
    let done = loop {
        match prune(&dataset, args.before, args.dry_run) {
            Err(CorrelateError::Dataset(DatasetError::Locked { .. })) if began.elapsed() < args.wait => {
                std::thread::sleep(Duration::from_millis(100));
            }
            other => break other?,
        }
    };
    drop(stage);
    let would = if args.dry_run { "would go" } else { "went" };
    output::write(None, |out| {
        for (table, pruned) in &done.tables {
            let (all, rows, kilobytes) = (pruned.rows + pruned.kept, pruned.rows, pruned.bytes / 1000);
            writeln!(out, "{table}: {rows} of {all} rows {would}, {kilobytes} kB")?;
        }
        if done.jobs_left > 0 {
            let when = time::rfc3339(args.before);
            writeln!(out, "{} submissions with jobs that had not ended before {when} stay", done.jobs_left)?;
        }
        Ok(())
    })?;
    for host in &done.busy {
        messages::warning(&format!("{} is being traced: its traces were left", visible(host)));
    }
    let derived = dataset.row_count::<Link<'static>>()? + dataset.row_count::<Case<'static>>()? > 0;
    if derived && !args.dry_run && done.tables.iter().any(|(_, pruned)| pruned.rows > 0) {
        messages::note(&format!(
            "links and cases are as before: `flowmine correlate --dataset {}` makes them again",
            args.dataset.display()
        ));
    }
    Ok(if done.busy.is_empty() { Outcome::Clean } else { Outcome::WithLosses })
}

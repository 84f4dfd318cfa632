//! `flowmine generate`: writes jobs of imagined users, with their true runs.

use flowmine_api::generate::{Options, write};

use crate::args::Generate;
use crate::outcome::Outcome;
use crate::output;

/// Writes jobs of imagined users, with their true runs.
pub fn run(args: &Generate) -> anyhow::Result<Outcome> {
    let Generate { seed, users, runs, overlap, .. } = *args;
    let options = Options { seed, users: users as usize, runs: runs as usize, overlap: overlap as usize };
    let made = write(&options, &args.output)?;
    output::write(None, |out| {
        writeln!(out, "{}: {} jobs", made.jobs.display(), made.count)?;
        Ok(writeln!(out, "{}: the run of each", made.truth.display())?)
    })?;
    Ok(Outcome::Clean)
}

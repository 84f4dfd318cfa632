//! `flowmine export`: writes an event log or the I/O of a dataset.

use flowmine_api::export::export;

use crate::args::Export;
use crate::outcome::Outcome;
use crate::terminal::Terminal;

/// Runs `flowmine export`: writes an event log or the I/O of a dataset.
pub fn run(args: &Export) -> anyhow::Result<Outcome> {
    let exported = export(&args.request()?, &Terminal)?;
    Ok(if exported.is_lossy { Outcome::WithLosses } else { Outcome::Clean })
}

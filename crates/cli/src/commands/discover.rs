//! `flowmine discover MODEL`: discovers a model and writes it.

use crate::args::Discover;
use crate::outcome::Outcome;
use crate::output;
use crate::terminal::Terminal;

/// Discovers a model and writes it.
pub fn run(args: &Discover) -> anyhow::Result<Outcome> {
    let found = flowmine_api::discover(&args.request, &Terminal)?;
    output::write(args.output.as_deref(), |out| Ok(found.write(args.request.format, out)?))?;
    Ok(if found.is_lossy { Outcome::WithLosses } else { Outcome::Clean })
}

//! `flowmine run`: correlates, exports, discovers and summarises a dataset.

use flowmine_api::run::{Request, run as make};

use crate::args::Run;
use crate::outcome::Outcome;
use crate::terminal::Terminal;
use crate::{messages, output};

/// Correlates, exports, discovers and summarises.
pub fn run(args: &Run) -> anyhow::Result<Outcome> {
    let request = Request {
        dataset: args.source.dir()?.to_owned(),
        as_owner: args.written.as_owner,
        out: args.out.clone(),
        formats: args.formats.clone(),
        timestamp: args.timestamp,
        filter: (*args.filter).clone(),
    };
    let made = make(&request, &Terminal)?;
    output::write(None, |out| Ok(out.write_all(made.text.as_bytes())?))?;
    if !made.is_new {
        messages::note("nothing is new in the dataset: the results of the last run stand");
    }
    Ok(if made.is_lossy { Outcome::WithLosses } else { Outcome::Clean })
}

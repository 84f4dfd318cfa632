//! `flowmine run`: an alias of `flowmine report --out DIR`, with options for the logs.

use flowmine_api::run::{Request, run as make};

use crate::args::Run;
use crate::outcome::Outcome;
use crate::terminal::Terminal;
use crate::{messages, output};

/// Writes logs and tables of a dataset, and its page.
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
    super::report::page_next_to(&args.out, request.dataset, request.timestamp, request.filter)?;
    messages::note("flowmine run is an alias of flowmine report DATASET --out DIR; both write report.html next to logs and tables");
    Ok(if made.is_lossy { Outcome::WithLosses } else { Outcome::Clean })
}

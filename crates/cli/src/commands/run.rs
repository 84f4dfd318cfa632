//! `flowmine run`: an alias of `flowmine report --out DIR`, with options for the logs.

use flowmine_api::groups::{CaseOptions, TableColumns};
use flowmine_api::run::{Request, run as make_results};
use flowmine_api::source::SourcePaths;

use crate::args::Run;
use crate::outcome::Outcome;
use crate::terminal::Terminal;
use crate::{messages, output};

/// Writes the page, logs and tables of a dataset.
pub fn run(args: &Run) -> anyhow::Result<Outcome> {
    make(&Request {
        source: SourcePaths { dataset: Some(args.source.dir()?.to_owned()), logs: Vec::new(), given: args.source.paths.clone() },
        as_owner: args.written.as_owner,
        out: args.out.clone(),
        formats: args.formats.clone(),
        cases: CaseOptions { timestamp: args.timestamp, ..CaseOptions::default() },
        filter: (*args.filter).clone(),
        columns: TableColumns::default(),
    })
}

/// Makes a directory of results, and prints what is in it.
pub fn make(request: &Request) -> anyhow::Result<Outcome> {
    let made = make_results(request, &Terminal)?;
    output::write(None, |out| Ok(out.write_all(made.text.as_bytes())?))?;
    if !made.is_new {
        messages::note("nothing is new in the dataset: the results of the last call are kept");
    }
    Ok(if made.is_lossy { Outcome::WithLosses } else { Outcome::Clean })
}

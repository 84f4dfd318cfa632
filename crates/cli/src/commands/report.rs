//! `flowmine report`: writes one page about whatever is given.

use std::path::Path;

use anyhow::Context;
use flowmine_api::log_format::LogFormat;
use flowmine_api::report::{Report as Page, report};
use flowmine_api::run;

use crate::args::Report;
use crate::outcome::Outcome;
use crate::output;
use crate::terminal::Terminal;

/// The formats of logs in a directory of results.
const FORMATS: [&str; 2] = ["xes.gz", "ocel.sqlite"];

/// The name of the page in a directory of results.
const PAGE: &str = "report.html";

/// Writes the page, and what else a directory of results has.
pub fn run(args: &Report) -> anyhow::Result<Outcome> {
    let page = args.out.as_ref().map(|out| out.join(PAGE)).or_else(|| args.output.clone());
    if let Some(out) = &args.out {
        logs_and_tables(args, out)?;
    }
    let Page { html, is_lossy } = report(&args.request(), &Terminal)?;
    output::write(page.as_deref(), |out| Ok(out.write_all(html.as_bytes())?))?;
    Ok(if is_lossy { Outcome::WithLosses } else { Outcome::Clean })
}

/// Writes what `flowmine run` writes.
fn logs_and_tables(args: &Report, out: &Path) -> anyhow::Result<()> {
    let source = args.request().source;
    let dataset = source.only_dataset().context("--out writes the logs of a dataset; of a log file -o FILE writes the page")?;
    let request = run::Request {
        dataset: dataset.to_owned(),
        as_owner: false,
        out: out.to_owned(),
        formats: FORMATS.into_iter().filter_map(LogFormat::find).collect(),
        timestamp: args.cases.timestamp,
        filter: (*args.filter).clone(),
    };
    let made = run::run(&request, &Terminal)?;
    output::write(None, |out| Ok(out.write_all(made.text.as_bytes())?))
}

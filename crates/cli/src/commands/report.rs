//! `flowmine report`: writes one page about whatever is given, or a directory of results.

use std::path::Path;

use anyhow::Context;
use flowmine_api::log_format::LogFormat;
use flowmine_api::report::{Report as Page, ReportRequest, report, text};
use flowmine_api::run::Request;

use crate::args::Report;
use crate::outcome::Outcome;
use crate::output;
use crate::terminal::Terminal;

/// The formats of logs in a directory of results.
const FORMATS: [&str; 2] = ["xes.gz", "ocel.sqlite"];

/// Writes the page, or a directory with the page, logs and tables.
pub fn run(args: &Report) -> anyhow::Result<Outcome> {
    if let Some(out) = &args.out {
        return super::run::make(&results(args, out)?);
    }
    if args.text {
        let (text, is_lossy) = text(&args.request(), &Terminal)?;
        output::write(args.output.as_deref(), |out| Ok(out.write_all(text.as_bytes())?))?;
        return Ok(if is_lossy { Outcome::WithLosses } else { Outcome::Clean });
    }
    let Page { html, is_lossy, .. } = report(&args.request(), &Terminal)?;
    output::write(args.output.as_deref(), |out| Ok(out.write_all(html.as_bytes())?))?;
    Ok(if is_lossy { Outcome::WithLosses } else { Outcome::Clean })
}

/// The request for a directory of results.
fn results(args: &Report, out: &Path) -> anyhow::Result<Request> {
    let ReportRequest { source, cases, filter, columns, .. } = args.request();
    source.only_dataset().context("--out writes the logs of a dataset; of a log file -o FILE writes the page")?;
    let formats = FORMATS.into_iter().filter_map(LogFormat::find).collect();
    Ok(Request { source, as_owner: false, out: out.to_owned(), formats, cases, filter, columns })
}

//! `flowmine report`: writes one page about whatever is given.

use std::io::{ErrorKind, Read};
use std::path::Path;

use anyhow::{Context, ensure};
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
    if let Some(out) = &args.out {
        logs_and_tables(args, out)?;
    }
    let Page { html, is_lossy } = report(&args.request(), &Terminal)?;
    match &args.out {
        Some(out) => write_page(out, &html)?,
        None => output::write(args.output.as_deref(), |out| Ok(out.write_all(html.as_bytes())?))?,
    }
    Ok(if is_lossy { Outcome::WithLosses } else { Outcome::Clean })
}

/// Writes the page, where no file of another program has its name.
fn write_page(out: &Path, html: &str) -> anyhow::Result<()> {
    let path = out.join(PAGE);
    ensure!(
        is_page_or_absent(&path)?,
        "{} is there already and was not made by flowmine: move it, or choose another directory",
        path.display()
    );
    output::write(Some(&path), |out| Ok(out.write_all(html.as_bytes())?))
}

/// Whether nothing is there, or a page of flowmine.
fn is_page_or_absent(path: &Path) -> anyhow::Result<bool> {
    match path.symlink_metadata() {
        // What is no plain file is refused where it is written.
        Ok(metadata) if !metadata.is_file() => return Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(true),
        _ => {}
    }
    let mut begin = Vec::new();
    let file = flowmine_files::open_plain(path).with_context(|| path.display().to_string())?;
    file.take(2048).read_to_end(&mut begin).with_context(|| path.display().to_string())?;
    Ok(String::from_utf8_lossy(&begin).contains("<meta name=\"generator\" content=\"flowmine "))
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

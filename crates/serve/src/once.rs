//! The pages without a server: files for a web server that serves files.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use flowmine_api::groups::TableColumns;
use flowmine_api::log_memory::LogMemory;
use flowmine_api::models::MODELS;
use flowmine_api::options::Choice;
use flowmine_api::report::Place;
use flowmine_api::{Error, Format, Silent, Sink, SourcePaths, output};
use serde_json::Value;

use crate::answer::Answer;
use crate::engine::{Ask, Engine, FORMAT};
use crate::waiting::{escaped, whole};

/// The formats of models that are written, where a model has them.
const FORMATS: [Format; 4] = [Format::Svg, Format::Json, Format::Csv, Format::Text];
/// The most bytes of logs in memory.
const LOGS: usize = 1 << 30;
/// The list of all files.
const INDEX: &str = "index.html";
/// The report.
const REPORT: &str = "report.html";
/// The queue.
const NOW: &str = "now.json";

/// Why pages are not written.
#[derive(Debug, thiserror::Error)]
pub enum OnceError {
    /// The directory cannot be written.
    #[error(transparent)]
    Output(#[from] Error),
    /// The directory has other files of these names.
    #[error("{0}: {1}")]
    Taken(String, flowmine_files::FileError),
    /// There is no report.
    #[error("{0}")]
    NoReport(String),
}

/// What is written.
#[derive(Debug, Clone)]
pub struct Once<'o> {
    /// The dataset or log files.
    pub source: &'o SourcePaths,
    /// Which columns of a table hold what.
    pub columns: &'o TableColumns,
    /// The directory; made when it does not exist.
    pub out: &'o Path,
}

fn ending(format: Format) -> &'static str {
    if format == Format::Text { "txt" } else { format.name() }
}

fn formats(of: &'static [Format]) -> impl Iterator<Item = Format> {
    FORMATS.into_iter().filter(|format| of.contains(format))
}

/// Writes the report, the queue, each model that the source gives, and a list of them. Returns
/// whether something of the source was lost.
///
/// # Errors
/// When there is no report, or the directory cannot be written.
pub fn once(wanted: &Once<'_>, sink: &dyn Sink) -> Result<bool, OnceError> {
    let place = || wanted.out.display().to_string();
    let mut made = output::made_in(wanted.out)?;
    let of_models = MODELS.iter().map(|model| model.about());
    let names = of_models.flat_map(|about| formats(about.formats).map(|format| format!("{}.{}", about.name, ending(format))));
    made.claim(names.chain([INDEX, REPORT, NOW].map(str::to_owned))).map_err(|error| OnceError::Taken(place(), error))?;
    let engine = Engine {
        source: wanted.source.clone(),
        columns: wanted.columns.clone(),
        place: Place::File,
        memory: Some(Arc::new(LogMemory::new(LOGS))),
    };
    let write = |name: &str, answer: &Answer| output::write(Some(&wanted.out.join(name)), |out| Ok(out.write_all(&answer.body)?));
    let page = engine.answer(&Ask::Page(Vec::new()), "", sink);
    if !page.status.is_success() {
        return Err(OnceError::NoReport(reason(&page)));
    }
    write(REPORT, &page)?;
    let now = engine.answer(&Ask::Now(Vec::new()), "", &Silent);
    let mut rows =
        row("queue", "what runs, waits and failed at the last observation", now.status.is_success().then(|| NOW.to_owned()), &now);
    if now.status.is_success() {
        write(NOW, &now)?;
    }
    let stage = sink.stage("making models");
    for (at, about) in MODELS.iter().map(|model| model.about()).enumerate() {
        stage.at(at, MODELS.len());
        let mut files = Vec::new();
        let mut last = None;
        for format in formats(about.formats) {
            let answer =
                engine.answer(&Ask::Model(about.name.to_owned(), vec![(FORMAT.to_owned(), format.name().to_owned())]), "", &Silent);
            if answer.status.is_success() {
                let name = format!("{}.{}", about.name, ending(format));
                write(&name, &answer)?;
                files.push(name);
            }
            last = Some(answer);
        }
        if let Some(last) = last {
            rows.push_str(&row(about.name, about.question, files, &last));
        }
    }
    let body = format!("<h1>flowmine</h1>\n<p><a href=\"{REPORT}\">Report</a></p>\n<h2>Models</h2>\n<dl>\n{rows}</dl>\n");
    write(INDEX, &whole(hyper::StatusCode::OK, "flowmine", &body, ""))?;
    made.finish().map_err(|error| OnceError::Taken(place(), error))?;
    Ok(page.is_lossy.unwrap_or(false))
}

/// An entry of the list: the files, or the reason why there is none.
fn row(name: &str, question: &str, files: impl IntoIterator<Item = String>, last: &Answer) -> String {
    let files: Vec<String> = files.into_iter().map(|file| format!("<a href=\"{0}\">{0}</a>", escaped(&file))).collect();
    let found = if files.is_empty() { format!("none: {}", escaped(&reason(last))) } else { files.join(", ") };
    let mut row = String::new();
    // A string takes all.
    let _ = writeln!(row, "<dt>{}: {}</dt>\n<dd>{found}</dd>", escaped(name), escaped(question));
    row
}

/// The reason why an answer is no result.
fn reason(answer: &Answer) -> String {
    let document: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    document["error"].as_str().unwrap_or("it could not be made").to_owned()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_pages_of_a_log_are_files_and_no_file_of_the_user_is_replaced() {
        let dir = tempfile::tempdir().expect("a directory");
        let log = dir.path().join("log.csv");
        fs::write(&log, "case,activity,timestamp\na,align,2026-11-20\na,sort,2026-11-21\n").expect("a file");
        let (source, columns) = (SourcePaths { logs: vec![log], ..SourcePaths::default() }, TableColumns::default());
        let out = dir.path().join("out");
        let wanted = Once { source: &source, columns: &columns, out: &out };
        for _ in 0..2 {
            assert!(!once(&wanted, &Silent).expect("pages"));
        }
        let read = |name: &str| fs::read_to_string(out.join(name)).expect("a file");
        assert!(read("index.html").contains("<a href=\"dfg.svg\">dfg.svg</a>") && read("dfg.json").contains("align"));
        assert!(read("index.html").contains("none: the source is a log file"));
        assert!(!read("report.html").contains("connect-src"), "a file asks no server");
        fs::write(out.join("dfg.svg"), "mine").expect("a file");
        assert!(matches!(once(&wanted, &Silent), Err(OnceError::Taken(..))));
        assert_eq!(read("dfg.svg"), "mine");
    }
}

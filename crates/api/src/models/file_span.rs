//! Shares of tasks' times in which they used their files.

use flowmine_dataset::Dataset;
use flowmine_file_access::pictures::file_span as picture;
use flowmine_file_access::{file_span, table};

use super::{About, Input, Model};
use crate::error::{Context, Result, ensure};
use crate::format::Format;
use crate::found::Found;
use crate::lower_bounds;
use crate::request::Request;
use crate::sink::Sink;

/// Shares of tasks' times in which they used their files.
pub struct FileSpan;

static ABOUT: About = About {
    name: "file-span",
    question: "how much of a task's time lies between its first and last access to a file, for each task and file",
    input: Input::Accesses,
    has_graph_options: false,
    own: &[],
    formats: Format::CHART,
    documents: &[table::SHARES_DOCUMENT],
};

/// Opens the dataset of a request for what its tasks did to files.
pub fn open(request: &Request, sink: &dyn Sink) -> Result<Dataset> {
    let what = "file-span and file-timeline are about the tasks of a dataset";
    ensure!(request.source.logs.is_empty(), "{what}: --log is for event logs");
    let dir = request.source.dataset.as_deref().with_context(|| format!("{what}: choose one with --dataset DIR"))?;
    let dataset = Dataset::open(dir)?;
    lower_bounds::warn(&dataset, sink)?;
    Ok(dataset)
}

impl Model for FileSpan {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn discover(&self, request: &Request, sink: &dyn Sink) -> Result<Found> {
        let dataset = open(request, sink)?;
        let _stage = sink.stage("reading");
        let found = file_span::read(&dataset)?;
        Ok(Found::new(request, false, move |format, out| match format {
            Format::Csv => Ok(table::shares_csv(&found, out)?),
            Format::Json => Ok(table::shares_json(&found, out)?),
            _ => Ok(out.write_all(picture::svg(&found).as_bytes())?),
        }))
    }
}

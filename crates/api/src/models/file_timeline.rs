//! Reads and writes of one file.

use flowmine_file_access::pictures::file_timeline as picture;
use flowmine_file_access::{file_timeline, find, table};

use super::{About, Input, Model, file_span};
use crate::error::{Context, Result};
use crate::format::Format;
use crate::found::Found;
use crate::options::OptionSpec;
use crate::request::Request;
use crate::sink::Sink;

/// Reads and writes of one file.
pub struct FileTimeline;

static ABOUT: About = About {
    name: "file-timeline",
    question: "the reads and writes of one file: offset over time, and by which task",
    input: Input::Accesses,
    has_graph_options: false,
    own: &[OptionSpec::text("file", "PATH", "File: its path as task_io.path has it, or an id from the list of files with that path")],
    formats: Format::CHART,
    documents: &[table::ACCESSES_DOCUMENT],
};

impl Model for FileTimeline {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn discover(&self, request: &Request, sink: &dyn Sink) -> Result<Found> {
        let dataset = file_span::open(request, sink)?;
        let file = request
            .values
            .text("file")
            .context("the model file-timeline draws the accesses to one file: choose it with --file PATH, as in task_io.path")?;
        let _stage = sink.stage("reading");
        let found = file_timeline::read(&dataset, &find::find(&dataset, &file)?)?;
        Ok(Found::new(request, false, move |format, out| match format {
            Format::Csv => Ok(table::accesses_csv(&found, out)?),
            Format::Json => Ok(table::accesses_json(&found, out)?),
            _ => Ok(out.write_all(picture::svg(&found).as_bytes())?),
        }))
    }
}

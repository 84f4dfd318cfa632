//! Reads and writes of one file.

use flowmine_file_access::pictures::accesses as picture;
use flowmine_file_access::{accesses, find, table};

use super::{About, Input, Model, access_share};
use crate::error::{Context, Result};
use crate::format::Format;
use crate::found::Found;
use crate::options::OptionSpec;
use crate::request::Request;
use crate::sink::Sink;

/// Reads and writes of one file.
pub struct Accesses;

static ABOUT: About = About {
    name: "accesses",
    question: "the reads and writes of one file: offset over time, and by which task",
    input: Input::Accesses,
    has_graph_options: false,
    own: &[OptionSpec::text("file", "PATH", "File: its path as task_io.path has it, or an id from the list of files with that path")],
    formats: Format::CHART,
    documents: &[table::ACCESSES_DOCUMENT],
};

impl Model for Accesses {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn discover(&self, request: &Request, sink: &dyn Sink) -> Result<Found> {
        let dataset = access_share::open(request, sink)?;
        let file = request
            .values
            .text("file")
            .context("the model accesses draws the accesses to one file: say which with --file PATH, as task_io.path has it")?;
        let _stage = sink.stage("reading");
        let found = accesses::read(&dataset, &find::find(&dataset, &file)?)?;
        Ok(Found::new(request, false, move |format, out| match format {
            Format::Csv => Ok(table::accesses_csv(&found, out)?),
            Format::Json => Ok(table::accesses_json(&found, out)?),
            _ => Ok(out.write_all(picture::svg(&found).as_bytes())?),
        }))
    }
}

//! Critical path of a run.

use flowmine_discover::critical_path::{self, Options};
use flowmine_discover::pictures::{critical_path as picture, perfetto};

use super::{About, Input, Model};
use crate::error::{Result, ensure};
use crate::format::Format;
use crate::found::Found;
use crate::one_run;
use crate::options::{Kind, OptionSpec};
use crate::request::Request;
use crate::sink::Sink;

/// Critical path of a run.
pub struct CriticalPath;

static ABOUT: About = About {
    name: "critical-path",
    question: "what a run waited for: its chain of tasks in parts (queue, retries, reading, computing), slack, and gains of faster parts",
    input: Input::Run,
    has_graph_options: false,
    own: &[OptionSpec::new(
        "faster",
        "FACTOR",
        Kind::Number(f64::MIN, f64::MAX),
        "Divisor of each part of a run, for what would be gained",
    )
    .by_default("2")],
    formats: &[Format::Text, Format::Svg, Format::Png, Format::Csv, Format::Json, Format::Perfetto],
    documents: &[picture::DOCUMENT],
};

impl Model for CriticalPath {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn discover(&self, request: &Request, sink: &dyn Sink) -> Result<Found> {
        let usual = Options::default();
        let faster = request.values.number("faster").unwrap_or(usual.faster);
        ensure!(faster > 1.0, "--faster divides the duration of a part of the run: more than 1");
        let (_, run) = one_run::read(request, sink)?;
        let _stage = sink.stage("discovering");
        let found = critical_path::discover(&run, &Options { faster, ..usual });
        Ok(Found::new(request, false, move |format, out| match format {
            Format::Json => Ok(picture::json(&found, out)?),
            Format::Csv => Ok(picture::csv(&found, out)?),
            Format::Svg => Ok(out.write_all(picture::svg(&found).as_bytes())?),
            Format::Perfetto => Ok(perfetto::critical_path(&found, out)?),
            _ => Ok(out.write_all(picture::text(&found).as_bytes())?),
        }))
    }
}

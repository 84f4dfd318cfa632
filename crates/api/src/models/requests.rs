//! Suggested requests.

use flowmine_discover::pictures::requests as picture;
use flowmine_discover::requests::{self, Rule};

use super::{About, Input, Model};
use crate::error::{Result, ensure};
use crate::format::Format;
use crate::found::Found;
use crate::log::{self, Attributes};
use crate::options::{Kind, OptionSpec};
use crate::request::Request;
use crate::sink::Sink;

/// Suggested requests.
pub struct Requests;

const MARGIN: OptionSpec =
    OptionSpec::new("margin", "PERCENT", Kind::Number(0.0, 1000.0), "Margin above the most that was used, in percent [default: 20]");
const PERCENTILE: OptionSpec =
    OptionSpec::new("percentile", "PERCENT", Kind::Percent, "Share of the instances that a suggestion covers, in place of the maximum");

static ABOUT: About = About {
    name: "requests",
    question: "suggested requests: time limit, memory and CPUs of each activity, the saving, and the jobs that would have been killed",
    input: Input::Log,
    has_graph_options: false,
    own: &[MARGIN, PERCENTILE],
    formats: &[Format::Text, Format::Csv, Format::Json, Format::Slurm, Format::Nextflow, Format::Snakemake],
    documents: &[picture::DOCUMENT],
};

impl Model for Requests {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn discover(&self, request: &Request, sink: &dyn Sink) -> Result<Found> {
        let (margin, percentile) = (request.values.number(MARGIN.name), request.values.number(PERCENTILE.name));
        ensure!(margin.is_none() || percentile.is_none(), "--margin is added to the maximum: leave --percentile or --margin out");
        let rule = match (margin, percentile) {
            (_, Some(share)) => Rule::Percentile { share },
            (Some(percent), None) => Rule::Maximum { margin: percent / 100.0 },
            (None, None) => Rule::default(),
        };
        let loaded = log::load(request, &Attributes::of_resources(), sink)?;
        let _stage = sink.stage("discovering");
        let found = requests::discover(&loaded.log, loaded.cases()?, rule);
        Ok(Found::new(request, loaded.is_lossy, move |format, out| {
            let text = match format {
                Format::Json => return Ok(picture::json(&found, out)?),
                Format::Csv => return Ok(picture::csv(&found, out)?),
                Format::Slurm => picture::slurm(&found),
                Format::Nextflow => picture::nextflow(&found),
                Format::Snakemake => picture::snakemake(&found),
                _ => picture::text(&found),
            };
            Ok(out.write_all(text.as_bytes())?)
        }))
    }
}

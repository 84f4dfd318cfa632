//! What jobs waited for.

use std::path::Path;

use flowmine_correlate::cases::{self, CaseNotion};
use flowmine_dataset::Dataset;
use flowmine_discover::pictures::{waits as picture, waits_by_week};
use flowmine_discover::waits;

use super::{About, Input, Model};
use crate::error::{Result, refuse};
use crate::format::Format;
use crate::found::Found;
use crate::groups::{CASE_NOTION, TIMESTAMP, job_notions};
use crate::options::OptionSpec;
use crate::request::Request;
use crate::sink::Sink;
use crate::{job_waits, jobs};

/// What jobs waited for.
pub struct Waits;

/// The shared option without its details, which are about tasks and objects.
const RUNS: OptionSpec =
    OptionSpec { help: "What a run is, such as dependency or account-group", ..CASE_NOTION }.details("").listed(job_notions);

/// Medians and trends instead of causes.
const OVER_TIME: OptionSpec =
    OptionSpec::flag("over-time", "Medians and trends of the time in the queue by week, partition, account and user");

static ABOUT: About = About {
    name: "waits",
    question: "what jobs waited for (predecessors, holds, limits, priority, resources) in core-hours, by user, account, partition and more",
    input: Input::Jobs,
    has_graph_options: false,
    own: &[RUNS, TIMESTAMP, OVER_TIME],
    formats: &[Format::Text, Format::Svg, Format::Png, Format::Csv, Format::Json],
    documents: &[picture::DOCUMENT, waits_by_week::DOCUMENT],
};

impl Model for Waits {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn discover(&self, request: &Request, sink: &dyn Sink) -> Result<Found> {
        let Some(dir) = request.source.only_dataset() else {
            refuse!("the model waits is made of a dataset with jobs: give --dataset DIR and no --log")
        };
        let notion = request.cases.case_notion.as_deref().map_or(Ok(cases::ALL[0]), jobs::notion)?;
        if request.values.flag(OVER_TIME.name) {
            return over_time(dir, notion, request, sink);
        }
        let mut builder = waits::Builder::default();
        job_waits::for_each(&Dataset::open(dir)?, notion, &request.filter, request.cases.timestamp, sink, |job| builder.add(job))?;
        let found = builder.finish();
        Ok(Found::new(request, false, move |format, out| match format {
            Format::Json => Ok(picture::json(&found, out)?),
            Format::Csv => Ok(picture::csv(&found, out)?),
            Format::Svg => Ok(out.write_all(picture::svg(&found).as_bytes())?),
            _ => Ok(out.write_all(picture::text(&found).as_bytes())?),
        }))
    }
}

/// The time in the queue week after week.
fn over_time(dir: &Path, notion: &'static dyn CaseNotion, request: &Request, sink: &dyn Sink) -> Result<Found> {
    let mut builder = waits::weeks::Builder::default();
    job_waits::for_each(&Dataset::open(dir)?, notion, &request.filter, request.cases.timestamp, sink, |job| builder.add(job))?;
    let found = builder.finish();
    Ok(Found::new(request, false, move |format, out| match format {
        Format::Json => Ok(waits_by_week::json(&found, out)?),
        Format::Csv => Ok(waits_by_week::csv(&found, out)?),
        Format::Svg => Ok(out.write_all(waits_by_week::svg(&found).as_bytes())?),
        _ => Ok(out.write_all(waits_by_week::text(&found).as_bytes())?),
    }))
}

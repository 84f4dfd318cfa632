//! What jobs waited for.

use flowmine_activity_log::JobWait;
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
use crate::{job_waits, jobs, node_load, task_waits, usual_notion};

/// What jobs waited for.
pub struct Waits;

/// The shared option without its details, which are about tasks and objects.
const RUNS: OptionSpec = OptionSpec { help: "What a run is, such as auto or dependency", ..CASE_NOTION }.details("").listed(job_notions);

/// Tasks instead of jobs.
const TASKS: OptionSpec =
    OptionSpec::flag("tasks", "Tasks of workflow engines instead of jobs").details("The default where the dataset has no jobs");

/// Medians and trends instead of causes.
const OVER_TIME: OptionSpec =
    OptionSpec::flag("over-time", "Time in the queue by week (with trends), day, hour and weekday, with the load meanwhile");

static ABOUT: About = About {
    name: "waits",
    question: "what jobs or tasks waited for (predecessors, holds, limits, resources, slots) in core-hours, by user, account, partition and more",
    input: Input::Jobs,
    has_graph_options: false,
    own: &[RUNS, TIMESTAMP, TASKS, OVER_TIME],
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
        let dataset = Dataset::open(dir)?;
        if request.values.flag(OVER_TIME.name) {
            return over_time(&dataset, request, sink);
        }
        let mut builder = waits::Builder::default();
        for_each(&dataset, request, sink, |wait| builder.add(wait))?;
        let found = builder.finish();
        Ok(Found::new(request, false, move |format, out| match format {
            Format::Json => Ok(picture::json(&found, out)?),
            Format::Csv => Ok(picture::csv(&found, out)?),
            Format::Svg => Ok(out.write_all(picture::svg(&found).as_bytes())?),
            _ => Ok(out.write_all(picture::text(&found).as_bytes())?),
        }))
    }
}

/// Calls `each` with the jobs or the tasks that are asked for.
fn for_each(dataset: &Dataset, request: &Request, sink: &dyn Sink, each: impl FnMut(&JobWait<'_>)) -> Result<()> {
    let of_tasks = request.values.flag(TASKS.name) || !jobs::has_any(dataset)? && task_waits::has_any(dataset)?;
    if of_tasks {
        return task_waits::for_each(dataset, &request.filter, sink, each);
    }
    let notion = usual_notion::chosen(request.cases.case_notion.as_deref())?;
    job_waits::for_each(dataset, notion, &request.filter, request.cases.timestamp, sink, each)
}

/// The time in the queue week after week.
fn over_time(dataset: &Dataset, request: &Request, sink: &dyn Sink) -> Result<Found> {
    let mut builder = waits::weeks::Builder::default();
    for_each(dataset, request, sink, |wait| builder.add(wait))?;
    node_load::for_each(dataset, |from_ns, to_ns, cpus| builder.add_node(from_ns, to_ns, cpus))?;
    let found = builder.finish();
    Ok(Found::new(request, false, move |format, out| match format {
        Format::Json => Ok(waits_by_week::json(&found, out)?),
        Format::Csv => Ok(waits_by_week::csv(&found, out)?),
        Format::Svg => Ok(out.write_all(waits_by_week::svg(&found).as_bytes())?),
        _ => Ok(out.write_all(waits_by_week::text(&found).as_bytes())?),
    }))
}

//! Gantt chart.

use flowmine_activity_log::{ActivityLog, Cases, IoPhase, JOB, Processes};
use flowmine_dataset::Dataset;
use flowmine_discover::gantt::{self, Gantt as Chart, Options};
use flowmine_discover::pictures::{gantt as picture, perfetto};
pub(crate) use flowmine_logs::columns::TASK_KEY;
use flowmine_logs::io_phases;
use flowmine_schema::tables::Process;
use flowmine_slurm::host_list;

use super::{About, Input, Model};
use crate::error::Result;
use crate::format::Format;
use crate::found::Found;
use crate::log::{self, Attributes, NODES};
use crate::options::OptionSpec;
use crate::request::Request;
use crate::sink::Sink;

/// Gantt chart.
pub struct Gantt;

static ABOUT: About = About {
    name: "gantt",
    question: "what ran where and when, in lanes of hosts, with queue, stage, reads and writes, and how much ran and waited at once",
    input: Input::Log,
    has_graph_options: false,
    own: &[OptionSpec::text("lanes", "KEY", "Attribute of a lane")
        .details("By default the host of tasks, the nodes of jobs, the resource of other logs")],
    formats: &[Format::Svg, Format::Png, Format::Json, Format::Csv, Format::Perfetto],
    documents: &[picture::DOCUMENT],
};

impl Model for Gantt {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn discover(&self, request: &Request, sink: &dyn Sink) -> Result<Found> {
        let lanes = request.values.text("lanes");
        let nodes = lanes.is_none().then(|| NODES.to_owned());
        let mut attributes = Attributes::of_evidence();
        attributes.of_all.extend(lanes.iter().cloned());
        attributes.of_jobs.extend(nodes);
        attributes.of_tasks.push(TASK_KEY.to_owned());
        let loaded = log::load(request, &attributes, sink)?;
        let _stage = sink.stage("discovering");
        let has_owners = [TASK_KEY, JOB].iter().any(|key| loaded.log.attribute(key).is_some());
        let dataset = request.source.dataset.as_ref().filter(|_| has_owners).map(|dir| Dataset::open(dir)).transpose()?;
        let traced = dataset.as_ref().map(traced).transpose()?.flatten();
        let chart = chart(&loaded.log, loaded.cases()?, lanes, traced.as_ref());
        Ok(Found::new(request, loaded.is_lossy, move |format, out| match format {
            Format::Json => Ok(picture::json(&chart, out)?),
            Format::Csv => Ok(picture::csv(&chart, out)?),
            Format::Perfetto => {
                let traced = traced.as_ref().map(|(processes, phases)| (processes, phases.as_slice()));
                Ok(perfetto::gantt(&chart, traced, out)?)
            }
            _ => Ok(out.write_all(picture::svg(&chart, &picture::Drawing::default()).as_bytes())?),
        }))
    }
}

/// Number of nodes of a job that have a lane each; a longer list is one lane.
const MOST_NODES: usize = 1 << 14;

/// The nodes of a host list; none where it is no host list or too long, and then one lane has its
/// text.
fn nodes_of(list: &str) -> Vec<String> {
    host_list::expand(list, MOST_NODES).unwrap_or_default()
}

/// Traced processes with their phases of reads and writes.
pub(crate) type Traced = (Processes, Vec<Vec<IoPhase>>);

/// The traced processes with their phases of reads and writes; nothing without a trace.
pub(crate) fn traced(dataset: &Dataset) -> Result<Option<Traced>> {
    if dataset.row_count::<Process<'static>>()? == 0 {
        return Ok(None);
    }
    Ok(Some(io_phases::read(dataset)?))
}

/// The chart of a log, in lanes of an attribute or else of nodes or resources.
pub(crate) fn chart(log: &ActivityLog, cases: &Cases, lanes: Option<String>, traced: Option<&Traced>) -> Chart {
    let has = |key: &str| log.attribute(key).is_some();
    let by = lanes.or_else(|| has(NODES).then(|| NODES.to_owned()));
    let divide = (by.as_deref() == Some(NODES)).then_some(nodes_of as fn(&str) -> Vec<String>);
    let mut chart = gantt::discover(log, cases, &Options { by, divide });
    if let Some((processes, phases)) = traced.filter(|_| has(TASK_KEY) || has(JOB)) {
        let owners = io_phases::by_owner(processes, phases);
        chart.add_traced(log, TASK_KEY, &owners, str::to_owned);
        chart.add_traced(log, JOB, &owners, |job| format!("job {job}"));
    }
    chart
}

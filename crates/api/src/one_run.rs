//! The run of which a model is made.

use flowmine_activity_log::RunGraph;
use flowmine_dataset::Dataset;
use flowmine_logs::run_graph;
use flowmine_logs::task_log::Tasks;
use flowmine_privacy::RowRules;

use crate::error::{Context, Result, refuse};
use crate::request::Request;
use crate::sink::Sink;
use crate::{jobs, lower_bounds};

/// Opens the dataset of a request and reads its run.
pub fn read(request: &Request, sink: &dyn Sink) -> Result<(Dataset, RunGraph)> {
    let Some(dir) = request.source.only_dataset() else {
        refuse!("this model is made of a run in a dataset, with what its tasks waited for, which no event log tells: give --dataset DIR");
    };
    let dataset = Dataset::open(dir)?;
    lower_bounds::warn(&dataset, sink)?;
    let _stage = sink.stage("reading the dataset");
    let rules = RowRules::default();
    let times = jobs::time_filter(&request.filter)?;
    let filter = jobs::filter(&request.filter)?;
    let run = run_graph::read(&dataset, &Tasks::new(&dataset, &rules, &times), &filter, request.run.as_deref())
        .with_context(|| format!("{} has no run of which this model can be made", dir.display()))?;
    Ok((dataset, run))
}

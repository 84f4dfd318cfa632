//! `flowmine discover --model gantt`.

use flowmine_activity_log::{ActivityLog, IoPhase, JOB, Processes};
use flowmine_dataset::Dataset;
use flowmine_discover::gantt::{self, Options};
use flowmine_discover::pictures::{gantt as picture, perfetto};
use flowmine_logs::columns::TASK_KEY;
use flowmine_logs::io_phases;
use flowmine_schema::tables::Process;

use super::log::NODES;
use super::model_output::{Made, cases};
use crate::args::{Discover, ModelFormat};

/// Makes the chart and a way to write it.
pub fn make<'a>(args: &'a Discover, format: ModelFormat, log: &'a ActivityLog) -> anyhow::Result<Made<'a>> {
    let has = |key: &str| log.attributes.iter().any(|of| of.key == key);
    let by = args.lanes.clone().or_else(|| has(NODES).then(|| NODES.to_owned()));
    let mut chart = gantt::discover(log, cases(log)?, &Options { by });
    let traced = if has(TASK_KEY) || has(JOB) { traced(args)? } else { None };
    if let Some((processes, phases)) = &traced {
        let owners = io_phases::by_owner(processes, phases);
        chart.add_traced(log, TASK_KEY, &owners, str::to_owned);
        chart.add_traced(log, JOB, &owners, |job| format!("job {job}"));
    }
    Ok(Box::new(move |out| match format {
        ModelFormat::Json => Ok(picture::json(&chart, out)?),
        ModelFormat::Csv => Ok(picture::csv(&chart, out)?),
        ModelFormat::Perfetto => {
            let traced = traced.as_ref().map(|(processes, phases)| (processes, phases.as_slice()));
            Ok(perfetto::gantt(&chart, traced, out)?)
        }
        _ => Ok(out.write_all(picture::svg(&chart, &picture::Drawing::default()).as_bytes())?),
    }))
}

/// The traced processes with their phases of reads and writes; nothing without a trace.
fn traced(args: &Discover) -> anyhow::Result<Option<(Processes, Vec<Vec<IoPhase>>)>> {
    let Some(dir) = &args.source.dataset else { return Ok(None) };
    let dataset = Dataset::open(dir)?;
    if dataset.row_count::<Process<'static>>()? == 0 {
        return Ok(None);
    }
    Ok(Some(io_phases::read(&dataset)?))
}

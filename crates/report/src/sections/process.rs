//! The process: its graphs, and its activities.

use super::graph;
use crate::ReportError;
use crate::block::{Block, Section, Table};
use crate::column::{Column, Kind};
use crate::results::{LogResults, Results};

/// The section.
pub fn section(results: &Results) -> Result<Section, ReportError> {
    let mut blocks = Vec::new();
    match &results.log {
        Ok(found) if found.summary.activities.is_empty() => {
            blocks.push(Block::missing("The log has no activity.", "Check the filters, and record at least one job or task."));
        }
        Ok(found) => {
            blocks.push(Block::Text(
                "An edge leads from one activity to another that started next in the same case. \
                 Colour and width show what its legend explains."
                    .to_owned(),
            ));
            blocks.extend(graph::block(&found.views)?.map(Block::Graph));
            blocks.extend((!found.views_left_out.is_empty()).then(|| Block::List(found.views_left_out.clone())));
            blocks.push(Block::Table(activities(found)?));
        }
        Err(_) => blocks.push(Block::missing("There is no log to draw a graph of.", "Record jobs, tasks or events with cases.")),
    }
    Ok(Section { id: "process", title: "Process", question: "Which activity follows which, how often, and how long it takes.", blocks })
}

/// The table of activities.
fn activities(found: &LogResults) -> Result<Table, ReportError> {
    let rows = &found.summary.activities;
    let count = |name, of: &dyn Fn(&flowmine_discover::summary::Activity) -> Option<u64>| {
        Column::numbers(name, Kind::Count, rows.iter().map(|row| of(row).map(i128::from)))
    };
    let time = |name, of: &dyn Fn(&flowmine_discover::summary::Activity) -> Option<f64>| {
        Column::duration(name, rows.iter().map(|row| of(row).map(|ns| ns.round() as i128)))
    };
    let bytes = |name, of: &dyn Fn(&flowmine_discover::summary::Bytes) -> Option<i128>| {
        Column::numbers(name, Kind::Bytes, rows.iter().map(|row| row.bytes.first().and_then(of)))
    };
    let columns = [
        Column::text("activity", rows.iter().map(|row| Some(row.activity.as_str()))),
        count("instances", &|row| Some(row.instances)),
        count("cases", &|row| Some(row.cases)),
        count("failed", &|row| row.failed),
        count("aborted", &|row| row.aborted),
        count("retried", &|row| row.retried),
        count("cached", &|row| row.cached),
        time("queue, median", &|row| row.queue.map(|times| times.median_ns)),
        time("queue, sum", &|row| row.queue.map(|times| times.sum_ns as f64)),
        time("run, median", &|row| row.service.map(|times| times.median_ns)),
        time("run, longest", &|row| row.service.map(|times| times.max_ns as f64)),
        time("run, sum", &|row| row.service.map(|times| times.sum_ns as f64)),
        Column::share("CPU used", rows.iter().map(|row| row.cpu_efficiency)),
        Column::numbers("memory, peak", Kind::Bytes, rows.iter().map(|row| row.memory_peak_bytes.map(i128::from))),
        bytes("read", &|bytes| bytes.read_bytes),
        bytes("written", &|bytes| bytes.written_bytes),
        Column::text("bytes counted by", rows.iter().map(|row| row.bytes.first().map(|bytes| bytes.counted_by))),
    ];
    Table::new("activities", "Activities", &columns)
}

//! The process: its directly-follows graph at several levels of detail, and its activities.

use flowmine_discover::pictures::dfg::{self as picture, Options, Show};
use flowmine_draw::embed::{self, Role};
use flowmine_draw::svg;

use crate::ReportError;
use crate::block::{Block, Level, Section, Table};
use crate::column::{Column, Kind};
use crate::results::{LogResults, Results};

/// Levels of detail: the name, the share of activities and of steps that is shown.
const LEVELS: [(&str, f64); 4] = [("usual", 0.0), ("50 %", 0.5), ("80 %", 0.8), ("100 %", 1.0)];

/// The most edges and activities that a level has: more is no figure, and takes long to lay out.
const MOST_EDGES: usize = 600;
const MOST_ACTIVITIES: usize = 200;

/// The section.
pub fn section(results: &Results) -> Result<Section, ReportError> {
    let mut blocks = Vec::new();
    match &results.log {
        Ok(found) if found.dfg.activities.is_empty() => {
            blocks.push(Block::missing("The log has no activity.", "Check the filters, and record at least one job or task."));
        }
        Ok(found) => {
            blocks.push(Block::Text(
                "An edge leads from one activity to another that started next in the same case. \
                 Colour and width show what its legend explains."
                    .to_owned(),
            ));
            blocks.push(Block::Graph(levels(found)?));
            blocks.push(Block::Table(activities(found)?));
        }
        Err(_) => blocks.push(Block::missing("There is no log to draw a graph of.", "Record jobs, tasks or events with cases.")),
    }
    Ok(Section { id: "process", title: "Process", question: "Which activity follows which, how often, and how long it takes.", blocks })
}

/// The graph at several levels, those that look alike once.
fn levels(found: &LogResults) -> Result<Vec<Level>, ReportError> {
    let mut levels: Vec<Level> = Vec::new();
    let mut before: Option<(usize, usize)> = None;
    for (at, (name, share)) in LEVELS.into_iter().enumerate() {
        let options = options(found, share);
        let graph = picture::graph(&found.dfg, &options);
        let size = (graph.nodes.len(), graph.edges.len());
        let is_too_large = size.1 > MOST_EDGES && !levels.is_empty();
        if before == Some(size) || is_too_large {
            continue;
        }
        before = Some(size);
        let svg = embed::embedded(&svg::svg(&graph)?, &format!("graph{at}"), Role::Group)?;
        let words = format!("{name}: {} nodes, {} edges", size.0, size.1);
        levels.push(Level { name: words, svg });
    }
    Ok(levels)
}

fn options(found: &LogResults, share: f64) -> Options {
    let usual = Options::default();
    if share == 0.0 {
        return usual;
    }
    let activities = (found.dfg.activities.len() as f64 * share).ceil() as usize;
    let show = if share < 1.0 { usual.show } else { Show::All };
    Options { show, coverage: Some(share), most_activities: activities.clamp(1, MOST_ACTIVITIES), ..usual }
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

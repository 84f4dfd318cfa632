//! The process: its directly-follows graph at several levels of detail, and its activities.

use flowmine_discover::pictures::dfg::{self as picture, Options};
use flowmine_draw::embed::{self, Role};
use flowmine_draw::svg;

use crate::ReportError;
use crate::block::{Block, Graph, Level, Section, Table};
use crate::column::{Column, Kind};
use crate::results::{LogResults, Results};

/// Levels of detail: the share of activities and of steps that is shown.
const LEVELS: [f64; 3] = [0.5, 0.8, 1.0];

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
            blocks.push(Block::Graph(graph(found)?));
            blocks.push(Block::Table(activities(found)?));
        }
        Err(_) => blocks.push(Block::missing("There is no log to draw a graph of.", "Record jobs, tasks or events with cases.")),
    }
    Ok(Section { id: "process", title: "Process", question: "Which activity follows which, how often, and how long it takes.", blocks })
}

/// The graph at several levels, those that look alike once. What is shown first has no more edges
/// than a figure without options.
fn graph(found: &LogResults) -> Result<Graph, ReportError> {
    let mut graph = Graph { levels: Vec::new(), first: 0 };
    let mut before: Option<(usize, usize)> = None;
    for (at, share) in LEVELS.into_iter().enumerate() {
        let activities = (found.dfg.activities.len() as f64 * share).ceil() as usize;
        let most_activities = activities.clamp(1, MOST_ACTIVITIES);
        let figure = picture::graph(&found.dfg, &Options { coverage: Some(share), most_activities, ..Options::default() });
        let size = (figure.nodes.len(), figure.edges.len());
        let name = format!("{:.0} %: {} nodes, {} edges", share * 100.0, size.0, size.1);
        if let Some(level) = graph.levels.last_mut().filter(|_| before == Some(size)) {
            level.name = name;
            continue;
        }
        if size.1 > MOST_EDGES && !graph.levels.is_empty() {
            continue;
        }
        before = Some(size);
        if size.1 <= picture::ALL_EDGES {
            graph.first = graph.levels.len();
        }
        let svg = embed::embedded(&svg::svg(&figure)?, &format!("graph{at}"), Role::Group)?;
        graph.levels.push(Level { name, svg });
    }
    Ok(graph)
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

//! A graph of dependencies as a picture and as JSON.
//!
//! # JSON
//!
//! ```json
//! { "format": "flowmine-dag", "version": 1, "runs": 1, "tasks": 43, "without_parents": 0, "unknown_parents": 0,
//!   "nodes": [ { "name": "blastall", "tasks": 40, "attempts": 40, "run_time_ns": { "count": 40, "median": 9.5e9, … } } ],
//!   "edges": [ { "from": 0, "to": 1, "dependencies": 40, "waiting": 1 } ] }
//! ```

use std::io::{self, Write};

use flowmine_draw::document::{self, Document, DocumentFormat};
use flowmine_draw::graph::{Edge as Line, Graph, Node as Box};
use flowmine_draw::legend::{Entry, Sample};
use flowmine_draw::scale::{WidthScale, box_colour};
use flowmine_draw::text::{count, counted, duration, visible};

use crate::dag::{Dag, Edge, Node};

const LINE: &str = "#5b6b7f";

/// The graph as a picture: a box for each logical task, a line for each pair that waits.
pub fn graph(found: &Dag) -> Graph {
    let boxes = WidthScale::new(found.nodes.iter().map(|node| node.tasks));
    let widths = WidthScale::new(found.edges.iter().map(|edge| edge.dependencies));
    let mut picture = Graph { name: "dag", title: "Which tasks wait for which".to_owned(), ..Graph::default() };
    picture.facts.push(format!(
        "{} of {} in {}.",
        counted(found.tasks, "task", "tasks"),
        counted(found.nodes.len() as u64, "logical task", "logical tasks"),
        counted(found.runs, "run", "runs")
    ));
    picture.facts.push("A line leads from a task to one that must wait for its end, as the workflow engine declares it.".to_owned());
    for (count_of, what) in
        [(found.without_parents, "without declared dependencies"), (found.unknown_parents, "that others wait for and that are in no row")]
    {
        if count_of > 0 {
            picture.left_out.push(format!("{} {what}", counted(count_of, "task", "tasks")));
        }
    }
    picture.nodes = found.nodes.iter().enumerate().map(|(at, node)| node_of(at, node, boxes)).collect();
    picture.edges = found.edges.iter().map(|edge| line_of(found, edge, widths)).collect();
    if !found.nodes.is_empty() {
        let samples = boxes.samples().into_iter().map(|n| (box_colour(boxes, n), count(n))).collect();
        let ran = found.nodes.iter().any(|node| node.run_time_ns.is_some());
        let what = if ran { "ran: median from start to end" } else { "" };
        picture.legend.push(Entry::new("Box: logical task and its tasks", Sample::Boxes(samples), what));
    }
    if !found.edges.is_empty() {
        let samples = widths.samples().into_iter().map(|n| (widths.width(n), count(n))).collect();
        picture.legend.push(Entry::new("Line width: number of dependencies", Sample::Widths(samples), "pairs of tasks"));
    }
    picture
}

fn node_of(at: usize, node: &Node, boxes: WidthScale) -> Box {
    let mut lines = vec![count(node.tasks)];
    let mut title = vec![visible(&node.name), counted(node.tasks, "task", "tasks"), counted(node.attempts, "attempt", "attempts")];
    let mut data = vec![("tasks", node.tasks.into()), ("attempts", node.attempts.into())];
    if let Some(times) = node.run_time_ns {
        lines.push(format!("ran {}", duration(times.median)));
        title.push(format!(
            "ran (known of {}): median {}, longest {}, sum {}",
            count(times.count),
            duration(times.median),
            duration(times.max as f64),
            duration(times.sum as f64)
        ));
        data.push(("run_time_median_s", (times.median / 1e9).into()));
        data.push(("run_time_sum_s", (times.sum as f64 / 1e9).into()));
    }
    Box { id: format!("t{at}"), name: node.name.clone(), lines, fill: box_colour(boxes, node.tasks), title, data, ..Box::default() }
}

fn line_of(found: &Dag, edge: &Edge, widths: WidthScale) -> Line {
    let name = |at: usize| found.nodes.get(at).map_or(String::new(), |node| visible(&node.name));
    Line {
        from: edge.from,
        to: edge.to,
        label: vec![count(edge.dependencies)],
        colour: LINE.to_owned(),
        width: widths.width(edge.dependencies),
        weight: edge.dependencies,
        title: vec![
            format!("{} → {}", name(edge.from), name(edge.to)),
            counted(edge.dependencies, "dependency", "dependencies"),
            format!("{} wait", counted(edge.waiting, "task", "tasks")),
        ],
        data: vec![("dependencies", edge.dependencies.into()), ("waiting", edge.waiting.into())],
        ..Line::default()
    }
}

impl Document for Dag {
    const FORMAT: &'static str = "flowmine-dag";
}

/// The format of the JSON document.
pub const DOCUMENT: DocumentFormat = DocumentFormat::new::<Dag>();

/// Writes the JSON document; see the module for what it looks like.
///
/// # Errors
/// When `out` cannot be written.
pub fn json(found: &Dag, out: impl Write) -> io::Result<()> {
    document::write(found, out)
}

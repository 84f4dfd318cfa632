//! The picture of a log with 24 activities, 125 lines and counts from 1 to 38,004:
//! `cargo run -p flowmine-draw --example dense > dense.svg`. With `graphml`, `gml`, `cytoscape` or
//! `dot` behind it, in that format.

use flowmine_draw::legend::{Entry, Sample, terminals};
use flowmine_draw::scale::{TimeScale, WidthScale, box_colour};
use flowmine_draw::{Edge, Graph, Mark, Node, Shape, count, duration, exchange};

#[path = "../../layout/tests/twenty/mod.rs"]
#[allow(dead_code, reason = "one of twenty is drawn")]
mod twenty;

const NAMES: [&str; 24] = [
    "Submit application",
    "Partly submitted",
    "Pre-accept",
    "Decline",
    "Cancel",
    "Complete application",
    "Accept",
    "Select offer",
    "Fix incoming lead",
    "Check for fraud",
    "Create offer",
    "Finalise",
    "Send offer",
    "Return offer",
    "Cancel offer",
    "Call after offers",
    "Validate",
    "Register",
    "Approve",
    "Activate",
    "Call missing files",
    "Decline offer",
    "Change contract",
    "Close",
];

fn main() {
    let sketch = twenty::dense();
    let inner: Vec<&flowmine_layout::Edge> = sketch.edges.iter().filter(|e| e.label.is_some()).collect();
    let widths = WidthScale::new(inner.iter().map(|e| e.weight));
    let time = |e: &flowmine_layout::Edge| (1 + (e.from * 7 + e.to * 13) % 29) as f64 * 4e12 / (1.0 + e.weight as f64).sqrt();
    let times = TimeScale::new(inner.iter().map(|e| time(e)));
    let mut seen = vec![0u64; sketch.nodes.len()];
    sketch.edges.iter().for_each(|e| seen[e.to] += e.weight);
    let most = WidthScale::new(seen[..24].iter().copied());
    let nodes = (0..sketch.nodes.len()).map(|v| match v {
        24 => Node { id: "start".into(), shape: Shape::Start, name: "Start".into(), ..Node::default() },
        25 => Node { id: "end".into(), shape: Shape::End, name: "End".into(), ..Node::default() },
        v => Node {
            id: format!("n{v}"),
            name: NAMES[v].into(),
            lines: vec![format!("{} times", count(seen[v]))],
            fill: box_colour(most, seen[v]),
            data: vec![("occurrences", seen[v].into())],
            ..Node::default()
        },
    });
    let edges = sketch.edges.iter().map(|e| {
        let labelled = e.label.is_some();
        Edge {
            from: e.from,
            to: e.to,
            label: if labelled { vec![format!("{} · {}", count(e.weight), duration(time(e)))] } else { Vec::new() },
            colour: if labelled { times.colour(time(e)) } else { "#7b8794".into() },
            width: if labelled { widths.width(e.weight) } else { 1.8 },
            dashed: !labelled,
            mark: if e.weight == 38_004 { Mark::Halo } else { Mark::None },
            data: vec![("occurrences", e.weight.into()), ("mean_waiting_ns", time(e).into())],
            weight: if labelled { e.weight } else { 500 },
            ..Edge::default()
        }
    });
    let samples = widths.samples().into_iter().map(|n| (widths.width(n), count(n))).collect();
    let picture = Graph {
        title: "24 activities, 125 lines".into(),
        facts: vec!["An invented log with counts from 1 to 38,004.".into()],
        nodes: nodes.collect(),
        edges: edges.collect(),
        legend: vec![Entry::new("Line width: how often", Sample::Widths(samples), "logarithmic"), terminals()],
        name: "dense",
        ..Graph::default()
    };
    let drawn = match std::env::args().nth(1).as_deref() {
        Some("graphml") => exchange::graphml(&picture),
        Some("gml") => exchange::gml(&picture),
        Some("cytoscape") => exchange::cytoscape(&picture),
        Some("dot") => flowmine_draw::dot::dot(&picture),
        _ => flowmine_draw::svg::svg(&picture),
    };
    match drawn {
        Ok(svg) => print!("{svg}"),
        Err(problem) => eprintln!("{problem}"),
    }
}

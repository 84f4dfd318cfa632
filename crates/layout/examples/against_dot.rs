//! Our layout beside Graphviz' `dot` on twenty graphs: crossings, length of lines, area, overlaps
//! and time.
//!
//! `cargo run --release -p flowmine-layout --example against_dot` prints a table. Both get the same
//! boxes, the same labels (as fixed rectangles), the same orders of magnitude as weights, and the
//! same distances where both can be given them. Crossings are compared as (ours + 1) / (dot's + 1),
//! since both may be 0; what is averaged are the ratios, arithmetically. A dash stands where dot is
//! not installed or not asked: `--thousand` draws 1,000 nodes and 3,000 lines, for which dot takes
//! more than five minutes. `tests/layout.rs` has dot's numbers and fails when ours get worse.

use flowmine_layout::{Graph, Point, Position, Spacing};
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::Duration;

#[path = "../tests/twenty/mod.rs"]
mod twenty;

use twenty::measure::{Drawn, flatten, measure, ours};

/// CPU time of this process, so that other work on the machine does not count: Linux gives it in
/// nanoseconds.
fn own_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(text.split(' ').next().and_then(|ns| ns.parse().ok()).unwrap_or(0))
}

/// CPU time of the children of this process that have ended, in hundredths of a second.
fn time_of_children() -> Duration {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = text.rsplit(')').next().unwrap_or_default();
    let ticks = |at: usize| after_name.split_whitespace().nth(at).and_then(|t| t.parse::<u64>().ok()).unwrap_or(0);
    // Fields 16 and 17 of proc(5): `cutime` and `cstime`; the name was the second.
    Duration::from_millis(10 * (ticks(13) + ticks(14)))
}

/// dot's picture, and how long it took.
fn dot(graph: &Graph) -> Option<(Drawn, Duration)> {
    let spacing = Spacing::default();
    // With labels, dot puts half of `ranksep` above and half below them; we put `between_layers` there, and room for arrowheads.
    let ranks = (2.0 * spacing.between_layers + 11.0) / 72.0;
    let mut text = format!(
        "digraph g {{\nnodesep={}; ranksep={ranks}; node [shape=box, fixedsize=true, label=\"\"]; edge [dir=none];\n",
        spacing.between_boxes / 72.0
    );
    for (v, node) in graph.nodes.iter().enumerate() {
        let _ = writeln!(text, "n{v} [width={}, height={}];", node.width / 72.0, node.height / 72.0);
    }
    for (position, rank) in [(Position::Top, "source"), (Position::Bottom, "sink")] {
        let of: String = (0..graph.nodes.len()).filter(|&v| graph.nodes[v].position == position).map(|v| format!(" n{v};")).collect();
        if !of.is_empty() {
            let _ = writeln!(text, "{{ rank={rank};{of} }}");
        }
    }
    for e in &graph.edges {
        let _ = write!(text, "n{} -> n{} [weight={}", e.from, e.to, e.weight.max(1).ilog2() + 1);
        if let Some((w, h)) = e.label {
            let table = "<table border=\"0\" cellborder=\"0\" cellspacing=\"0\" cellpadding=\"0\" fixedsize=\"true\"";
            let _ = write!(text, ", label=<{table} width=\"{w}\" height=\"{h}\"><tr><td></td></tr></table>>");
        }
        text.push_str("];\n");
    }
    text.push_str("}\n");
    let begun = time_of_children();
    let mut child = Command::new("dot").arg("-Tplain").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let mut input = child.stdin.take()?;
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output().ok()?;
    let took = time_of_children().saturating_sub(begun);
    writer.join().ok()?.ok()?;
    let plain = String::from_utf8(output.stdout).ok()?.replace("\\\n", "");
    Some((read_plain(graph, &plain)?, took))
}

/// dot's plain format: inches, y upwards.
fn read_plain(graph: &Graph, plain: &str) -> Option<Drawn> {
    let mut drawn = Drawn {
        width: 0.0,
        height: 0.0,
        lines: Vec::new(),
        boxes: vec![Default::default(); graph.nodes.len()],
        labels: Vec::new(),
        owners: Vec::new(),
    };
    let mut unused: Vec<usize> = (0..graph.edges.len()).collect();
    for row in plain.lines() {
        let words: Vec<&str> = row.split(' ').collect();
        let inch = |at: usize| words.get(at).and_then(|w| w.parse::<f64>().ok()).map(|n| n * 72.0);
        let name = |at: usize| words.get(at).and_then(|w| w.strip_prefix('n')).and_then(|w| w.parse::<usize>().ok());
        match words[0] {
            "graph" => (drawn.width, drawn.height) = (inch(2)?, inch(3)?),
            "node" => drawn.boxes[name(1)?] = (Point { x: inch(2)?, y: inch(3)? }, (inch(4)?, inch(5)?)),
            "edge" => {
                let n: usize = words.get(3)?.parse().ok()?;
                let points: Option<Vec<Point>> = (0..n).map(|i| Some(Point { x: inch(4 + 2 * i)?, y: inch(5 + 2 * i)? })).collect();
                let points = points?;
                let mut line = vec![points[0]];
                for piece in points.windows(4).step_by(3) {
                    flatten(piece[0], piece[1], piece[2], piece[3], &mut line);
                }
                drawn.lines.push(line);
                let ends = (name(1)?, name(2)?);
                let at = unused.iter().position(|&e| (graph.edges[e].from, graph.edges[e].to) == ends)?;
                if let Some(size) = graph.edges[unused.remove(at)].label {
                    let last = words.len();
                    drawn.owners.push(drawn.lines.len() - 1);
                    drawn.labels.push((Point { x: inch(last - 4)?, y: inch(last - 3)? }, size));
                }
            }
            _ => {}
        }
    }
    Some(drawn)
}

fn main() {
    println!(
        "| graph | nodes | lines | crossings: ours, dot's, ratio | length in 1000 px | area in Mpx | overlaps | lines through labels | CPU ms |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let mut ratios: Vec<[f64; 3]> = Vec::new();
    let mut all = twenty::twenty();
    if std::env::args().any(|a| a == "--thousand") {
        all = vec![("a thousand", twenty::thousand())];
    }
    for (name, graph) in all {
        let begun = own_time();
        let mine = ours(&graph);
        let took = own_time().saturating_sub(begun);
        let m = measure(&mine);
        print!("| {name} | {} | {} | ", graph.nodes.len(), graph.edges.len());
        let Some((theirs, its_time)) = (graph.nodes.len() < 1000).then(|| dot(&graph)).flatten() else {
            println!(
                "{}, – | {:.1}, – | {:.2}, – | {}, – | {}, – | {}, – |",
                m.crossings,
                m.length / 1e3,
                m.area / 1e6,
                m.overlaps,
                m.struck,
                took.as_millis()
            );
            continue;
        };
        let d = measure(&theirs);
        let ratio = [(m.crossings + 1) as f64 / (d.crossings + 1) as f64, m.length / d.length, m.area / d.area];
        println!(
            "{}, {}, {:.2} | {:.1}, {:.1}, {:.2} | {:.2}, {:.2}, {:.2} | {}, {} | {}, {} | {}, {} |",
            m.crossings,
            d.crossings,
            ratio[0],
            m.length / 1e3,
            d.length / 1e3,
            ratio[1],
            m.area / 1e6,
            d.area / 1e6,
            ratio[2],
            m.overlaps,
            d.overlaps,
            m.struck,
            d.struck,
            took.as_millis(),
            its_time.as_millis()
        );
        ratios.push(ratio);
    }
    if !ratios.is_empty() {
        let mean = |k: usize| ratios.iter().map(|r| r[k]).sum::<f64>() / ratios.len() as f64;
        println!("\nMean of the ratios, ours / dot's: crossings {:.2}, length {:.2}, area {:.2}", mean(0), mean(1), mean(2));
    }
}

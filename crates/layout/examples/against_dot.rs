//! Our layout beside Graphviz' `dot` on twenty graphs: crossings, length of lines, area, overlaps and time.
//!
//! `cargo run --release -p flowmine-layout --example against_dot` prints a table. Both get the same boxes, the same labels (as fixed
//! rectangles), the same orders of magnitude as weights, and the same distances where both can be told them. Measured is what is drawn: lines
//! and curves in short pieces, crossings between these pieces, their length, and the area of the picture without margins. Crossings are compared as
//! (ours + 1) / (dot's + 1), since both may be 0; what is averaged are the ratios, arithmetically. A dash stands where dot
//! is not installed or not asked: `--thousand` draws 1,000 nodes and 3,000 lines, for which dot takes more than five minutes.

use flowmine_layout::{Graph, Piece, Point, Position, Spacing, layout};
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::Duration;

#[path = "../tests/twenty/mod.rs"]
mod twenty;

/// What is drawn, wherever it comes from.
struct Drawn {
    width: f64,
    height: f64,
    lines: Vec<Vec<Point>>,
    boxes: Vec<(Point, (f64, f64))>,
    labels: Vec<(Point, (f64, f64))>,
    /// The line of each label.
    owners: Vec<usize>,
    took: Duration,
}

struct Measures {
    crossings: usize,
    length: f64,
    area: f64,
    overlaps: usize,
    struck: usize,
}

fn flatten(from: Point, a: Point, b: Point, to: Point, out: &mut Vec<Point>) {
    for step in 1..=16 {
        let t = f64::from(step) / 16.0;
        let u = 1.0 - t;
        let mix = |p: f64, q: f64, r: f64, s: f64| u * u * u * p + 3.0 * u * u * t * q + 3.0 * u * t * t * r + t * t * t * s;
        out.push(Point { x: mix(from.x, a.x, b.x, to.x), y: mix(from.y, a.y, b.y, to.y) });
    }
}

/// CPU time of this process, so that other work on the machine does not count: Linux tells it in nanoseconds.
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

fn ours(graph: &Graph) -> Drawn {
    let begun = own_time();
    let drawn = layout(graph, &Spacing::default()).unwrap_or_else(|problem| panic!("{problem}"));
    let took = own_time().saturating_sub(begun);
    let lines = drawn
        .edges
        .iter()
        .map(|route| {
            let mut out = vec![route.start];
            let mut from = route.start;
            for piece in &route.pieces {
                match *piece {
                    Piece::Line(to) => out.push(to),
                    Piece::Curve(a, b, to) => flatten(from, a, b, to, &mut out),
                }
                from = piece.end();
            }
            out
        })
        .collect();
    Drawn {
        width: drawn.width,
        height: drawn.height,
        lines,
        boxes: graph.nodes.iter().zip(&drawn.nodes).map(|(n, &at)| (at, (n.width, n.height))).collect(),
        labels: graph.edges.iter().zip(&drawn.edges).filter_map(|(e, route)| Some((route.label?, e.label?))).collect(),
        owners: (0..graph.edges.len()).filter(|&e| drawn.edges[e].label.is_some()).collect(),
        took,
    }
}

fn dot(graph: &Graph) -> Option<Drawn> {
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
    read_plain(graph, &plain, took)
}

/// dot's plain format: inches, y upwards.
fn read_plain(graph: &Graph, plain: &str, took: Duration) -> Option<Drawn> {
    let mut drawn = Drawn {
        width: 0.0,
        height: 0.0,
        lines: Vec::new(),
        boxes: vec![Default::default(); graph.nodes.len()],
        labels: Vec::new(),
        owners: Vec::new(),
        took,
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

fn measure(drawn: &Drawn) -> Measures {
    let length = drawn.lines.iter().flat_map(|l| l.windows(2)).map(|p| (p[0].x - p[1].x).hypot(p[0].y - p[1].y)).sum();
    let rects: Vec<&(Point, (f64, f64))> = drawn.boxes.iter().chain(&drawn.labels).collect();
    let mut overlaps = 0;
    for (i, (a, (aw, ah))) in rects.iter().enumerate() {
        for (b, (bw, bh)) in &rects[i + 1..] {
            overlaps += usize::from((a.x - b.x).abs() + 0.3 < (aw + bw) / 2.0 && (a.y - b.y).abs() + 0.3 < (ah + bh) / 2.0);
        }
    }
    // Labels that a foreign line runs through.
    let struck = (drawn.labels.iter().zip(&drawn.owners))
        .map(|((at, (w, h)), owner)| {
            let within = |p: &Point| (p.x - at.x).abs() + 1.5 < w / 2.0 && (p.y - at.y).abs() + 1.5 < h / 2.0;
            drawn.lines.iter().enumerate().filter(|(line, points)| line != owner && points.iter().any(within)).count()
        })
        .sum();
    Measures { crossings: crossings(&drawn.lines), length, area: drawn.width * drawn.height, overlaps, struck }
}

fn crossings(lines: &[Vec<Point>]) -> usize {
    let side = |a: Point, b: Point, c: Point| (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
    let mut pieces: Vec<(usize, Point, Point)> = Vec::new();
    for (i, line) in lines.iter().enumerate() {
        pieces.extend(line.windows(2).map(|p| (i, p[0], p[1])));
    }
    let top = |p: &(usize, Point, Point)| p.1.y.min(p.2.y);
    pieces.sort_by(|p, q| top(p).total_cmp(&top(q)));
    let mut found = 0;
    for (at, p) in pieces.iter().enumerate() {
        let bottom = p.1.y.max(p.2.y);
        for q in pieces[at + 1..].iter().take_while(|q| top(q) <= bottom) {
            let apart = p.1.x.max(p.2.x) < q.1.x.min(q.2.x) || q.1.x.max(q.2.x) < p.1.x.min(p.2.x);
            found += usize::from(
                p.0 != q.0 && !apart && side(p.1, p.2, q.1) * side(p.1, p.2, q.2) < 0.0 && side(q.1, q.2, p.1) * side(q.1, q.2, p.2) < 0.0,
            );
        }
    }
    found
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
        let mine = ours(&graph);
        let m = measure(&mine);
        print!("| {name} | {} | {} | ", graph.nodes.len(), graph.edges.len());
        let Some(theirs) = (graph.nodes.len() < 1000).then(|| dot(&graph)).flatten() else {
            println!(
                "{}, – | {:.1}, – | {:.2}, – | {}, – | {}, – | {}, – |",
                m.crossings,
                m.length / 1e3,
                m.area / 1e6,
                m.overlaps,
                m.struck,
                mine.took.as_millis()
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
            mine.took.as_millis(),
            theirs.took.as_millis()
        );
        ratios.push(ratio);
    }
    if !ratios.is_empty() {
        let mean = |k: usize| ratios.iter().map(|r| r[k]).sum::<f64>() / ratios.len() as f64;
        println!("\nMean of the ratios, ours / dot's: crossings {:.2}, length {:.2}, area {:.2}", mean(0), mean(1), mean(2));
    }
}

//! Twenty graphs of 5 to 500 nodes like those that process mining draws, with the sizes that boxes
//! and labels have in our pictures.
//!
//! They are made up by a fixed rule: the same on every machine and in every run.
//! `examples/against_dot.rs` measures them beside Graphviz, `tests/layout.rs` looks for overlaps
//! and compares with what was measured of Graphviz.

pub mod measure;

use flowmine_layout::{Edge, Graph, Node, Position};

/// Numbers that look random and are always the same.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn below(&mut self, n: usize) -> usize {
        (self.roll() % n as u64) as usize
    }

    fn share(&mut self) -> f64 {
        self.roll() as f64 / (1u64 << 31) as f64
    }

    /// Mostly small, up to `most`: its logarithm is uniform.
    fn count(&mut self, most: u64) -> u64 {
        (((most as f64).ln() * self.share()).exp() as u64).clamp(1, most)
    }
}

/// A graph with boxes for names of 4 to 24 letters and two lines of numbers below them.
fn boxes(n: usize, dice: &mut Dice) -> Graph {
    let node = |dice: &mut Dice| {
        let letters = 4 + dice.below(21);
        Node {
            width: (24.0 + 7.8 * letters as f64).max(72.0).ceil(),
            height: 13.0 + 16.0 + 14.0 * dice.below(3) as f64,
            inset: 8.0,
            position: Position::Free,
        }
    };
    Graph { nodes: (0..n).map(|_| node(dice)).collect(), edges: Vec::new() }
}

/// A line as thick as its count says, with a label for that count and a time.
fn line(graph: &mut Graph, from: usize, to: usize, count: u64) {
    let width = 1.0 + 7.0 * ((count as f64).ln() / 38_004f64.ln()).min(1.0);
    let letters = count.to_string().len() + 9;
    let label = Some(((12.0 + 6.6 * letters as f64).ceil(), 18.0));
    graph.edges.push(Edge { from, to, weight: count, label, breadth: 2.0 * (3.2 + 0.8 * width), head: (6.5 + 1.1 * width).round() });
}

fn has(graph: &Graph, from: usize, to: usize) -> bool {
    graph.edges.iter().any(|e| (e.from, e.to) == (from, to))
}

/// Where cases begin and end, with lines without labels.
fn ends(graph: &mut Graph, firsts: &[usize], lasts: &[usize]) {
    let end = |position| Node { width: 60.0, height: 26.0, inset: 13.0, position };
    let start = graph.nodes.len();
    graph.nodes.extend([end(Position::Top), end(Position::Bottom)]);
    let plain = |from, to| Edge { from, to, weight: 500, label: None, breadth: 9.0, head: 8.0 };
    graph.edges.extend(firsts.iter().map(|&v| plain(start, v)));
    graph.edges.extend(lasts.iter().map(|&v| plain(v, start + 1)));
}

/// A main path, rare skips, rare ways back and repetitions: a directly-follows graph of `n`
/// activities and `m` lines.
pub fn follows(n: usize, m: usize, reach: usize, seed: u64) -> Graph {
    let mut dice = Dice(seed);
    let mut graph = boxes(n, &mut dice);
    for v in 1..n {
        line(&mut graph, v - 1, v, 38_004 / (v as u64 + 1) + 400);
    }
    for v in 0..n {
        if v % 3 == 1 && graph.edges.len() < m {
            let count = dice.count(3000);
            line(&mut graph, v, v, count);
        }
    }
    while graph.edges.len() < m {
        let (from, step) = (dice.below(n), 1 + dice.below(reach));
        let to = if dice.below(5) < 3 { from + step } else { from.wrapping_sub(step) };
        if to < n && from != to && !has(&graph, from, to) {
            let count = dice.count(4000);
            line(&mut graph, from, to, count);
        }
    }
    ends(&mut graph, &[0, 1.min(n - 1)], &[n - 1, n / 2]);
    graph
}

/// A log with 24 activities and 125 lines that counts from 1 to 38,004 stand on, many of them back
/// and forth.
pub fn dense() -> Graph {
    let mut dice = Dice(12);
    let mut graph = boxes(24, &mut dice);
    let main = [0usize, 1, 2, 5, 6, 7, 10, 12, 15];
    let mut count = 38_004;
    for pair in main.windows(2) {
        line(&mut graph, pair[0], pair[1], count);
        count = count * 3 / 4;
    }
    for v in [5, 6, 7, 10, 12, 15] {
        let count = 500 + dice.count(20_000);
        line(&mut graph, v, v, count);
    }
    while graph.edges.len() < 125 {
        let (a, b) = (dice.below(24), dice.below(24));
        let near = a.abs_diff(b) <= 8 || dice.below(4) == 0;
        if a != b && near && !has(&graph, a, b) && (a < b || dice.below(2) == 0) {
            let count = dice.count(3000);
            line(&mut graph, a, b, count);
        }
    }
    graph.edges[124].weight = 1;
    ends(&mut graph, &[0], &[15, 20, 23, 9]);
    graph
}

/// A workflow of pieces in series and in parallel, nested.
fn series_parallel(n: usize, seed: u64) -> Graph {
    let mut dice = Dice(seed);
    let mut graph = boxes(n, &mut dice);
    // Begin with one line and split lines until all boxes are used: in two (series) or beside it (parallel).
    let mut lines = vec![(0usize, 1usize)];
    for v in 2..n {
        let at = dice.below(lines.len());
        let (from, to) = lines[at];
        if dice.below(3) == 0 && lines.len() > 2 {
            lines.push((from, v));
            lines.push((v, to));
        } else {
            lines[at] = (from, v);
            lines.push((v, to));
        }
    }
    for (from, to) in lines {
        let count = 100 + dice.count(2000);
        line(&mut graph, from, to, count);
    }
    graph
}

/// A tree in which each box has up to `most` children.
fn tree(n: usize, most: usize, seed: u64) -> Graph {
    let mut dice = Dice(seed);
    let mut graph = boxes(n, &mut dice);
    let (mut parent, mut room) = (0, most);
    for v in 1..n {
        let count = dice.count(3000);
        line(&mut graph, parent, v, count);
        room -= 1;
        if room == 0 {
            parent += 1;
            room = 1 + dice.below(most);
        }
    }
    graph
}

/// Stages that scatter to `wide` boxes and gather again.
fn scatter_gather(stages: usize, wide: usize, seed: u64) -> Graph {
    let mut dice = Dice(seed);
    let mut graph = boxes(stages * (wide + 1) + 1, &mut dice);
    let mut from = 0;
    for stage in 0..stages {
        let first = stage * (wide + 1) + 1;
        let to = first + wide;
        for v in first..to {
            let count = dice.count(500);
            line(&mut graph, from, v, count);
            line(&mut graph, v, to, count);
        }
        from = to;
    }
    graph
}

/// `samples` chains of `steps` each between a common begin and a common end, with a report on every
/// second step.
fn pipelines(samples: usize, steps: usize, seed: u64) -> Graph {
    let mut dice = Dice(seed);
    let mut graph = boxes(samples * steps + 3, &mut dice);
    let (first, last, report) = (samples * steps, samples * steps + 1, samples * steps + 2);
    for s in 0..samples {
        line(&mut graph, first, s * steps, 1);
        for step in 1..steps {
            line(&mut graph, s * steps + step - 1, s * steps + step, 1);
        }
        line(&mut graph, s * steps + steps - 1, last, 1);
        if s % 2 == 0 {
            line(&mut graph, s * steps + steps / 2, report, 1);
        }
    }
    line(&mut graph, last, report, 1);
    graph
}

/// Connected, with lines to boxes not far away; `back` in ten of the further lines run backwards.
pub fn sparse(n: usize, m: usize, back: usize, seed: u64) -> Graph {
    let mut dice = Dice(seed);
    let mut graph = boxes(n, &mut dice);
    for v in 1..n {
        let from = v - 1 - dice.below(v.min(1 + n / 12));
        let count = dice.count(4000);
        line(&mut graph, from, v, count);
    }
    while graph.edges.len() < m {
        let a = dice.below(n);
        let b = a + 1 + dice.below(2 + n / 10);
        let (from, to) = if dice.below(10) < back { (b, a) } else { (a, b) };
        if b < n && !has(&graph, from, to) {
            let count = dice.count(900);
            line(&mut graph, from, to, count);
        }
    }
    graph
}

/// Several graphs in one.
fn beside(parts: Vec<Graph>) -> Graph {
    let mut all = Graph::default();
    for part in parts {
        let shift = all.nodes.len();
        all.edges.extend(part.edges.into_iter().map(|e| Edge { from: e.from + shift, to: e.to + shift, ..e }));
        all.nodes.extend(part.nodes);
    }
    all
}

/// All twenty, each with its name.
pub fn twenty() -> Vec<(&'static str, Graph)> {
    vec![
        ("short chain with a way back", {
            let mut dice = Dice(1);
            let mut graph = boxes(5, &mut dice);
            for (a, b, count) in [(0, 1, 900), (1, 2, 850), (2, 3, 800), (3, 4, 800), (3, 1, 40), (2, 2, 7), (0, 2, 50)] {
                line(&mut graph, a, b, count);
            }
            graph
        }),
        ("log, 8 activities", follows(8, 16, 3, 2)),
        ("chain with skips and loops, 12", follows(12, 22, 3, 3)),
        ("series-parallel, 15", series_parallel(15, 4)),
        ("fan-out and fan-in, 22", scatter_gather(1, 20, 5)),
        ("log, 24 activities and 125 lines", dense()),
        ("tree, 31", tree(31, 2, 7)),
        ("log, 36 activities", follows(36, 90, 5, 8)),
        ("pipelines of 8 samples", pipelines(8, 5, 9)),
        ("scatter and gather, 3 stages", scatter_gather(3, 14, 10)),
        ("log, 60 activities", follows(60, 110, 4, 11)),
        ("tree, 60", tree(60, 5, 12)),
        ("series-parallel, 80", series_parallel(80, 13)),
        ("sparse without cycles, 100", sparse(100, 130, 0, 14)),
        ("chain with skips and loops, 100", follows(100, 150, 3, 15)),
        (
            "six workflows side by side",
            beside(
                (0..6)
                    .map(|i| if i % 2 == 0 { series_parallel(20 + i, 16 + i as u64) } else { follows(18, 30, 3, 16 + i as u64) })
                    .collect(),
            ),
        ),
        ("sparse with cycles, 150", sparse(150, 190, 3, 22)),
        ("series-parallel, 200", series_parallel(200, 23)),
        ("sparse with cycles, 300", sparse(300, 370, 2, 24)),
        ("tree, 500", tree(500, 4, 25)),
    ]
}

/// A thousand nodes and three thousand lines with labels.
pub fn thousand() -> Graph {
    sparse(1000, 3000, 2, 26)
}

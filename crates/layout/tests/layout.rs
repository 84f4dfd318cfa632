//! What holds for the layout of any graph: nothing overlaps, every edge begins and ends where it
//! should, no line runs through a box or a foreign label, and the same graph gives the same
//! numbers.

use flowmine_layout::{Edge, Graph, Layout, LayoutError, Node, Piece, Point, Position, Route, Spacing, layout};
use proptest::prelude::*;

mod twenty;

#[derive(Debug, Clone, Copy)]
struct Rect {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl Rect {
    fn around(centre: Point, (w, h): (f64, f64)) -> Self {
        Self { left: centre.x - w / 2.0, right: centre.x + w / 2.0, top: centre.y - h / 2.0, bottom: centre.y + h / 2.0 }
    }

    /// Whether the insides meet; rounding to hundredths is forgiven.
    fn overlaps(&self, other: &Rect) -> bool {
        let e = 0.02;
        self.left + e < other.right && other.left + e < self.right && self.top + e < other.bottom && other.top + e < self.bottom
    }

    fn holds(&self, p: Point, margin: f64) -> bool {
        p.x > self.left + margin && p.x < self.right - margin && p.y > self.top + margin && p.y < self.bottom - margin
    }

    fn has_on_border(&self, p: Point) -> bool {
        self.holds(p, -0.02) && !self.holds(p, 0.02)
    }
}

fn points(route: &Route) -> Vec<Point> {
    let mut out = vec![route.start];
    let mut from = route.start;
    for piece in &route.pieces {
        for step in 1..=40 {
            let t = f64::from(step) / 40.0;
            let u = 1.0 - t;
            out.push(match *piece {
                Piece::Line(to) => Point { x: from.x * u + to.x * t, y: from.y * u + to.y * t },
                Piece::Curve(a, b, to) => {
                    let mix = |p: f64, q: f64, r: f64, s: f64| u * u * u * p + 3.0 * u * u * t * q + 3.0 * u * t * t * r + t * t * t * s;
                    Point { x: mix(from.x, a.x, b.x, to.x), y: mix(from.y, a.y, b.y, to.y) }
                }
            });
        }
        from = piece.end();
    }
    out
}

/// Panics with what is wrong.
fn check(graph: &Graph, drawn: &Layout) {
    assert_eq!(drawn.nodes.len(), graph.nodes.len());
    assert_eq!(drawn.edges.len(), graph.edges.len());
    let boxes: Vec<Rect> = graph.nodes.iter().zip(&drawn.nodes).map(|(n, &at)| Rect::around(at, (n.width, n.height))).collect();
    let mut labels: Vec<(usize, Rect)> = Vec::new();
    for (e, (edge, route)) in graph.edges.iter().zip(&drawn.edges).enumerate() {
        assert_eq!(edge.label.is_some(), route.label.is_some(), "label of edge {e}");
        if let (Some(size), Some(at)) = (edge.label, route.label) {
            labels.push((e, Rect::around(at, size)));
        }
    }
    let sheet = Rect { left: -0.02, top: -0.02, right: drawn.width + 0.02, bottom: drawn.height + 0.02 };
    for (v, a) in boxes.iter().enumerate() {
        assert!(sheet.left <= a.left && a.right <= sheet.right && sheet.top <= a.top && a.bottom <= sheet.bottom);
        for (w, b) in boxes.iter().enumerate().skip(v + 1) {
            assert!(!a.overlaps(b), "nodes {v} and {w} overlap");
        }
        for (e, label) in &labels {
            assert!(!a.overlaps(label), "node {v} and label of edge {e} overlap");
        }
    }
    for (i, (e, a)) in labels.iter().enumerate() {
        assert!(sheet.left <= a.left && a.right <= sheet.right && sheet.top <= a.top && a.bottom <= sheet.bottom);
        for (f, b) in &labels[i + 1..] {
            assert!(!a.overlaps(b), "labels of edges {e} and {f} overlap");
        }
    }
    for (e, (edge, route)) in graph.edges.iter().zip(&drawn.edges).enumerate() {
        assert!(boxes[edge.from].has_on_border(route.start), "edge {e} does not begin at its source");
        assert!(boxes[edge.to].has_on_border(route.end()), "edge {e} does not end at its target");
        assert_eq!(route.against_flow, route.end().y < route.start.y && edge.from != edge.to, "direction of edge {e}");
        let before = route.pieces.len().checked_sub(2).map_or(route.start, |i| route.pieces[i].end());
        let (dx, dy) = (route.end().x - before.x, route.end().y - before.y);
        assert!(matches!(route.pieces.last(), Some(Piece::Line(_))) && dx.hypot(dy) >= edge.head - 0.02, "head of edge {e}");
        for p in points(route) {
            assert!(sheet.holds(p, -0.02), "edge {e} leaves the picture");
            for (v, b) in boxes.iter().enumerate() {
                assert!(!b.holds(p, 0.02), "edge {e} runs through node {v}");
            }
            for (f, l) in &labels {
                assert!(*f == e || !l.holds(p, 0.02), "edge {e} runs through the label of edge {f}");
            }
        }
    }
}

fn draw(graph: &Graph) -> Layout {
    let drawn = layout(graph, &Spacing::default()).expect("the graph is one");
    check(graph, &drawn);
    drawn
}

fn node() -> Node {
    Node { width: 80.0, height: 40.0, inset: 8.0, position: Position::Free }
}

fn arrow(from: usize, to: usize, weight: u64) -> Edge {
    Edge { from, to, weight, label: Some((70.0, 18.0)), breadth: 10.0, head: 9.0 }
}

fn graph(n: usize, edges: &[(usize, usize, u64)]) -> Graph {
    Graph { nodes: vec![node(); n], edges: edges.iter().map(|&(a, b, w)| arrow(a, b, w)).collect() }
}

prop_compose! {
    fn any_graph()(n in 1usize..9)(
        nodes in proptest::collection::vec((10.0f64..200.0, 10.0f64..70.0, 0u8..8), n),
        edges in proptest::collection::vec(
            (0..n, 0..n, 0u64..1000, proptest::option::of((5.0f64..120.0, 5.0f64..30.0)), 1.0f64..24.0, 0.0f64..20.0), 0..26),
    ) -> Graph {
        Graph {
            nodes: nodes.into_iter().map(|(width, height, at)| Node {
                width, height, inset: 4.0,
                position: match at { 0 => Position::Top, 1 => Position::Bottom, _ => Position::Free },
            }).collect(),
            edges: edges.into_iter().map(|(from, to, weight, label, breadth, head)| Edge { from, to, weight, label, breadth, head }).collect(),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn anything_can_be_drawn(graph in any_graph()) {
        // Several loops at one node lie around each other, and their lines may cross the inner labels.
        let mut seen = std::collections::BTreeSet::new();
        let graph = Graph { edges: graph.edges.into_iter().filter(|e| e.from != e.to || seen.insert(e.from)).collect(), ..graph };
        let once = draw(&graph);
        prop_assert_eq!(&once, &layout(&graph, &Spacing::default())?);
        for (node, at) in graph.nodes.iter().zip(&once.nodes) {
            for (other, there) in graph.nodes.iter().zip(&once.nodes) {
                if node.position == Position::Top && other.position != Position::Top {
                    prop_assert!(at.y < there.y);
                }
                if node.position == Position::Bottom && other.position == Position::Free {
                    prop_assert!(at.y > there.y);
                }
            }
        }
    }

    #[test]
    fn every_coordinate_has_two_decimals(graph in any_graph()) {
        let drawn = layout(&graph, &Spacing::default())?;
        for p in drawn.nodes.iter().copied().chain(drawn.edges.iter().map(|e| e.start)) {
            for c in [p.x, p.y] {
                prop_assert!(((c * 100.0).round() / 100.0 - c).abs() < 1e-12);
            }
        }
    }
}

#[test]
fn a_chain_is_straight_and_goes_down() {
    let edges: Vec<(usize, usize, u64)> = (0..29).map(|i| (i, i + 1, 5)).collect();
    let drawn = draw(&graph(30, &edges));
    assert!(drawn.nodes.windows(2).all(|p| p[0].x == p[1].x && p[0].y < p[1].y));
    assert!(drawn.edges.iter().all(|e| e.pieces.len() == 1 && !e.against_flow));
}

#[test]
fn the_rare_edge_of_a_cycle_goes_up() {
    let drawn = draw(&graph(4, &[(0, 1, 50), (1, 2, 50), (2, 3, 2), (3, 0, 50)]));
    let up: Vec<bool> = drawn.edges.iter().map(|e| e.against_flow).collect();
    assert_eq!(up, [false, false, true, false]);
}

/// Of objects of several types an activity can follow itself.
#[test]
fn loops_stand_one_below_the_other() {
    let g = graph(2, &[(0, 0, 9), (0, 0, 5), (0, 0, 1), (0, 1, 9), (0, 0, 1)]);
    let drawn = draw(&g);
    let loops = [0, 1, 2, 4];
    // The labels, and room for the breadth of a line above and below them.
    let labels = loops.map(|e| (e, Rect::around(drawn.edges[e].label.expect("it has one"), (70.0, 24.0))));
    for e in loops {
        let struck = labels.iter().filter(|(f, label)| *f != e && points(&drawn.edges[e]).iter().any(|&p| label.holds(p, 0.0)));
        assert_eq!(struck.count(), 0, "loop {e}");
    }
    assert!(labels.windows(2).all(|two| two[0].1.top < two[1].1.top));
}

#[test]
fn both_directions_of_a_pair_are_apart() {
    let drawn = draw(&graph(2, &[(0, 1, 9), (1, 0, 8)]));
    let (down, up) = (&drawn.edges[0], &drawn.edges[1]);
    let apart = (down.label.expect("the test's own input").x - up.label.expect("the test's own input").x).abs();
    assert!(apart >= 70.0, "labels are {apart} apart");
    assert!((down.start.x - up.end().x).abs() >= 10.0 && (down.end().x - up.start.x).abs() >= 10.0);
}

/// Whether two routes cross, seen on their sampled points.
fn crossings(drawn: &Layout) -> usize {
    let side = |a: Point, b: Point, c: Point| (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
    let lines: Vec<Vec<Point>> = drawn.edges.iter().map(points).collect();
    let mut n = 0;
    for i in 0..lines.len() {
        for j in i + 1..lines.len() {
            n += lines[i]
                .windows(2)
                .flat_map(|p| lines[j].windows(2).map(move |q| (p, q)))
                .filter(|(p, q)| {
                    side(p[0], p[1], q[0]) * side(p[0], p[1], q[1]) < 0.0 && side(q[0], q[1], p[0]) * side(q[0], q[1], p[1]) < 0.0
                })
                .count();
        }
    }
    n
}

#[test]
fn planar_graphs_are_drawn_without_crossings() {
    // A ladder with back edges, a tree, and a diamond with a pair between its sides.
    let ladder = graph(6, &[(0, 1, 9), (1, 2, 9), (2, 3, 9), (3, 4, 9), (4, 5, 9), (5, 0, 1), (2, 1, 2), (4, 3, 2)]);
    let tree = graph(9, &[(0, 1, 1), (0, 2, 1), (0, 3, 1), (1, 4, 1), (3, 5, 1), (2, 6, 1), (3, 7, 1), (1, 8, 1)]);
    let diamond = graph(4, &[(0, 1, 60), (0, 2, 50), (1, 2, 55), (2, 1, 45), (1, 3, 48), (2, 3, 62)]);
    for g in [ladder, tree, diamond] {
        assert_eq!(crossings(&draw(&g)), 0, "{:?}", g.edges.iter().map(|e| (e.from, e.to)).collect::<Vec<_>>());
    }
}

#[test]
fn a_thousand_nodes_and_a_complete_graph_end() {
    let edges: Vec<(usize, usize, u64)> =
        (0..1200u64).map(|i| ((i * 7919 % 1000) as usize, (i * i * 31 % 1000) as usize, i % 50)).collect();
    let sparse = layout(&graph(1000, &edges), &Spacing::default()).expect("the graph is one");
    assert_eq!(sparse.nodes.len(), 1000);
    let all: Vec<(usize, usize, u64)> = (0..14).flat_map(|a| (0..14).map(move |b| (a, b, (a * 3 + b) as u64))).collect();
    draw(&graph(14, &all));
}

/// Large enough for long straight runs of edges, which must not cross each other.
#[test]
fn a_tangle_keeps_its_distances() {
    for seed in 1..5usize {
        let edges: Vec<(usize, usize, u64)> = (0..190usize)
            .map(|i| if i < 59 { (i, i + 1, 900) } else { (i * i * seed % 60, (i * 37 + i / 7 * seed) % 60, (i % 9) as u64) })
            .filter(|e| e.0 != e.1)
            .collect();
        draw(&graph(60, &edges));
    }
}

/// The graphs that are measured beside Graphviz.
#[test]
fn nothing_overlaps_in_twenty_graphs_of_all_kinds() {
    let all = twenty::twenty();
    assert_eq!(all.len(), 20);
    for (name, graph) in all {
        let drawn = draw(&graph);
        assert_eq!(drawn, layout(&graph, &Spacing::default()).expect("the graph is one"), "{name}: not the same twice");
    }
}

/// Crossings, length and area as Graphviz dot 2.43.0 draws the same graphs
/// (`examples/against_dot.rs`).
#[test]
fn the_twenty_graphs_are_no_worse_than_dots() {
    const DOTS: [(usize, f64, f64); 20] = [
        (0, 742.0, 176_006.0),
        (0, 3_138.0, 433_366.0),
        (0, 3_714.0, 771_835.0),
        (0, 2_136.0, 514_671.0),
        (19, 31_704.0, 1_014_502.0),
        (581, 150_902.0, 8_566_235.0),
        (0, 3_857.0, 1_237_825.0),
        (23, 24_735.0, 6_432_396.0),
        (3, 11_581.0, 1_595_973.0),
        (27, 43_364.0, 1_906_679.0),
        (7, 20_304.0, 7_617_596.0),
        (1, 22_877.0, 2_527_825.0),
        (3, 25_763.0, 10_720_398.0),
        (22, 22_795.0, 6_195_123.0),
        (2, 18_154.0, 6_209_024.0),
        (5, 39_926.0, 10_119_395.0),
        (30, 37_350.0, 10_485_007.0),
        (1, 42_519.0, 19_252_811.0),
        (194, 103_327.0, 15_723_320.0),
        (8, 208_563.0, 35_450_321.0),
    ];
    let mut sums = [0.0; 3];
    for ((name, graph), (crossings, length, area)) in twenty::twenty().into_iter().zip(DOTS) {
        let ours = twenty::measure::measure(&twenty::measure::ours(&graph));
        assert_eq!((ours.overlaps, ours.struck), (0, 0), "{name}");
        // Both may cross nothing.
        sums[0] += (ours.crossings + 1) as f64 / (crossings + 1) as f64;
        sums[1] += ours.length / length;
        sums[2] += ours.area / area;
    }
    let [crossings, length, area] = sums.map(|sum| sum / DOTS.len() as f64);
    assert!(crossings <= 1.0 && length <= 1.2 && area <= 1.2, "ours / dot's: crossings {crossings}, length {length}, area {area}");
}

/// Large pictures get their places in another way than small ones.
#[test]
fn distances_hold_in_large_pictures_too() {
    draw(&twenty::follows(120, 420, 60, 31));
}

/// What most cases do is one line downwards.
#[test]
fn the_main_path_is_straight() {
    let graph = twenty::dense();
    let drawn = draw(&graph);
    // The first eight lines are the main path.
    let aside: f64 = drawn.edges[..8].iter().map(|route| points(route).windows(2).map(|p| (p[0].x - p[1].x).abs()).sum::<f64>()).sum();
    let down: f64 = drawn.edges[..8].iter().map(|route| route.end().y - route.start.y).sum();
    assert!(drawn.edges[..8].iter().all(|route| !route.against_flow));
    assert!(aside < down, "{aside} aside on {down} down");
}

/// Hard for every layout: with lines over up to a hundred layers. How long it takes is measured by
/// `examples/against_dot.rs`.
#[test]
fn a_thousand_nodes_and_three_thousand_lines_are_drawn() {
    let graph = twenty::thousand();
    assert_eq!((graph.nodes.len(), graph.edges.len()), (1000, 3000));
    let drawn = layout(&graph, &Spacing::default()).expect("the graph is within the limits");
    assert!(drawn.edges.iter().zip(&graph.edges).all(|(route, edge)| route.label.is_some() == edge.label.is_some()));
}

#[test]
fn what_nobody_could_read_is_refused() {
    let many = Graph { nodes: vec![node(); 100_000], edges: Vec::new() };
    assert_eq!(layout(&many, &Spacing::default()), Err(LayoutError::TooLarge { nodes: 100_000, edges: 0, passed: 0 }));
    let edges: Vec<(usize, usize, u64)> = (0..999).map(|i| (i, i + 1, 9)).chain((0..500).map(|i| (i, i + 499, 1))).collect();
    let long = layout(&graph(1000, &edges), &Spacing::default());
    assert!(matches!(long, Err(LayoutError::TooLarge { passed, .. }) if passed > 300_000), "{long:?}");
}

#[test]
fn what_is_no_graph_is_refused() {
    let unknown = layout(&graph(2, &[(0, 5, 1)]), &Spacing::default());
    assert_eq!(unknown, Err(LayoutError::UnknownNode { edge: 0, node: 5, nodes: 2 }));
    let mut wide = graph(1, &[]);
    wide.nodes[0].width = f64::NAN;
    assert_eq!(layout(&wide, &Spacing::default()), Err(LayoutError::NodeSize { node: 0 }));
    let mut broad = graph(1, &[(0, 0, 1)]);
    broad.edges[0].breadth = -1.0;
    assert_eq!(layout(&broad, &Spacing::default()), Err(LayoutError::EdgeSize { edge: 0 }));
    assert_eq!(layout(&Graph::default(), &Spacing::default()), Ok(Layout::default()));
}

//! Routes: columns in, vertical positions and curves out.
//!
//! A layer is a band. Within a band edges are vertical; between two bands they are S-shaped curves that begin and end
//! vertically. Since everything in a band keeps its distance from the columns of edges, no edge can touch a foreign
//! node or label.

use super::layers::{Kind, Layered, loop_reach};
use super::place::Columns;
use super::{Graph, Layout, Piece, Point, Route, Spacing};

/// Gaps between layers grow by this share of the widest sideways step in them, up to a limit.
const SIDEWAYS_SHARE: f64 = 0.11;
const SIDEWAYS_MOST: f64 = 60.0;

pub(super) fn draw(graph: &Graph, against: &[bool], layered: &Layered, columns: &Columns, spacing: &Spacing) -> Layout {
    let bands = Bands::new(graph, against, layered, columns, spacing);
    let mut out = Layout {
        width: columns.width as f64,
        height: bands.bottom.last().copied().unwrap_or(0.0),
        nodes: vec![Point::default(); graph.nodes.len()],
        edges: Vec::with_capacity(graph.edges.len()),
    };
    for (i, item) in layered.items.iter().enumerate() {
        if let Kind::Node(v) = item.kind {
            out.nodes[v] = Point { x: columns.x[i] as f64, y: bands.middle(item.layer) };
        }
    }
    let mut reached: Vec<f64> = graph.nodes.iter().map(|n| n.width / 2.0).collect();
    for (e, edge) in graph.edges.iter().enumerate() {
        let route = if edge.from == edge.to {
            loop_route(graph, e, out.nodes[edge.from], &mut reached[edge.from])
        } else {
            chain_route(graph, e, against[e], layered, columns, &bands)
        };
        out.edges.push(rounded(route));
    }
    out.height = round(out.height);
    for node in &mut out.nodes {
        *node = round_point(*node);
    }
    out
}

struct Bands {
    top: Vec<f64>,
    bottom: Vec<f64>,
}

impl Bands {
    fn new(graph: &Graph, against: &[bool], layered: &Layered, columns: &Columns, spacing: &Spacing) -> Self {
        let count = layered.layers.len();
        let mut gap = vec![0f64; count];
        for (e, chain) in layered.chains.iter().enumerate() {
            for (k, pair) in chain.windows(2).enumerate() {
                let last = k + 2 == chain.len();
                let upper = columns.x[pair[0]] + if k == 0 { columns.ports[e].0 } else { 0 };
                let lower = columns.x[pair[1]] + if last { columns.ports[e].1 } else { 0 };
                let has_head = if against[e] { k == 0 } else { last };
                let head = if has_head { graph.edges[e].head } else { 0.0 };
                let sideways = (SIDEWAYS_SHARE * (upper - lower).abs() as f64).min(SIDEWAYS_MOST);
                let layer = layered.items[pair[1]].layer;
                gap[layer] = gap[layer].max(spacing.between_layers + head + sideways);
            }
        }
        let (mut top, mut bottom) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let mut y = 0.0;
        for (layer, items) in layered.layers.iter().enumerate() {
            // Whole pixels: borders of boxes are sharper.
            y += gap[layer].ceil();
            top.push(y);
            y += items.iter().map(|&i| layered.items[i].height).fold(0.0, f64::max).ceil();
            bottom.push(y);
        }
        Self { top, bottom }
    }

    fn middle(&self, layer: usize) -> f64 {
        (self.top[layer] + self.bottom[layer]) / 2.0
    }
}

/// From top to bottom, then turned round when the edge runs upwards.
fn chain_route(graph: &Graph, e: usize, against: bool, layered: &Layered, columns: &Columns, bands: &Bands) -> Route {
    let edge = &graph.edges[e];
    let chain = &layered.chains[e];
    let (upper, lower) = if against { (edge.to, edge.from) } else { (edge.from, edge.to) };
    let mut label = None;
    let mut points: Vec<(Point, bool)> = Vec::new();
    for (k, &i) in chain.iter().enumerate() {
        let item = &layered.items[i];
        let middle = bands.middle(item.layer);
        let x = columns.x[i] as f64;
        if k == 0 {
            let x = x + columns.ports[e].0 as f64;
            points.push((Point { x, y: middle + graph.nodes[upper].height / 2.0 }, false));
            let head = if against { edge.head } else { 0.0 };
            points.push((Point { x, y: bands.bottom[item.layer] + head }, false));
        } else if k + 1 == chain.len() {
            let x = x + columns.ports[e].1 as f64;
            let head = if against { 0.0 } else { edge.head };
            points.push((Point { x, y: bands.top[item.layer] - head }, true));
            points.push((Point { x, y: middle - graph.nodes[lower].height / 2.0 }, false));
        } else {
            points.push((Point { x, y: bands.top[item.layer] }, true));
            points.push((Point { x, y: bands.bottom[item.layer] }, false));
            if item.kind == Kind::Label {
                label = Some(Point { x, y: middle });
            }
        }
    }
    if against {
        // The flag "a curve leads here" belongs to the step between two points and moves along.
        let flags: Vec<bool> = points.iter().map(|p| p.1).collect();
        points.reverse();
        let n = points.len();
        for (i, p) in points.iter_mut().enumerate() {
            p.1 = i > 0 && flags[n - i];
        }
    }
    Route { start: points[0].0, pieces: pieces(&points), label, against_flow: against }
}

fn pieces(points: &[(Point, bool)]) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for pair in points.windows(2) {
        let ((a, _), (b, curved)) = (pair[0], pair[1]);
        if curved && a.x != b.x {
            let y = (a.y + b.y) / 2.0;
            pieces.push(Piece::Curve(Point { x: a.x, y }, Point { x: b.x, y }, b));
        } else if let Some(Piece::Line(end)) = pieces.last_mut() {
            // Straight on: one line is enough.
            *end = b;
        } else {
            pieces.push(Piece::Line(b));
        }
    }
    pieces
}

/// A loop to the right of its node, outside of the loops that are already there.
fn loop_route(graph: &Graph, e: usize, centre: Point, reached: &mut f64) -> Route {
    let edge = &graph.edges[e];
    let node = &graph.nodes[edge.from];
    let border = centre.x + node.width / 2.0;
    let reach = loop_reach(edge.breadth, edge.head);
    let outermost = centre.x + *reached + reach;
    let half = (edge.breadth * 0.75 + 3.0).min(node.height / 2.0);
    let (top, bottom) = (centre.y - half, centre.y + half);
    // A curve with both controls this far out reaches three quarters of the way, and a little more since its ends
    // differ by the head.
    let out = outermost - border;
    let control = border + 4.0 / 3.0 * out - edge.head / 6.0 - edge.head * edge.head / (12.0 * out);
    let stub = Point { x: border + edge.head, y: bottom };
    let curve = Piece::Curve(Point { x: control, y: top }, Point { x: control, y: bottom }, stub);
    let width = edge.label.map_or(0.0, |l| l.0);
    let label = edge.label.map(|_| Point { x: outermost + width / 2.0, y: centre.y });
    *reached += reach + width;
    Route {
        start: Point { x: border, y: top },
        pieces: vec![curve, Piece::Line(Point { x: border, y: bottom })],
        label,
        against_flow: false,
    }
}

fn round(x: f64) -> f64 {
    let r = (x * 100.0).round() / 100.0;
    // No "-0" in pictures.
    if r == 0.0 { 0.0 } else { r }
}

fn round_point(p: Point) -> Point {
    Point { x: round(p.x), y: round(p.y) }
}

fn rounded(route: Route) -> Route {
    Route {
        start: round_point(route.start),
        pieces: route
            .pieces
            .into_iter()
            .map(|piece| match piece {
                Piece::Line(a) => Piece::Line(round_point(a)),
                Piece::Curve(a, b, c) => Piece::Curve(round_point(a), round_point(b), round_point(c)),
            })
            .collect(),
        label: route.label.map(round_point),
        against_flow: route.against_flow,
    }
}

//! Routes: columns in, vertical positions and curves out.
//!
//! A layer is a band. Within a band the line of an edge has a corridor: its column and the free
//! room next to it, which two lines share. The shortest way through all corridors is drawn as a
//! smooth line that never leaves the range between two points of the way (monotone in the sense of
//! Steffen, 1990). Since the corridors of a band keep apart from each other and from nodes and
//! labels, no edge can touch a foreign node or label, and two lines do not cross within a band.

use super::layers::{LOOP_GAP, Layered, Loops, VertexKind, loop_half, loop_height, loops};
use super::place::Columns;
use super::{Graph, Layout, Piece, Point, Route, Spacing};

/// Gaps between layers grow by this share of the widest sideways step in them, up to a limit.
const SIDEWAYS_SHARE: f64 = 0.05;
const SIDEWAYS_MOST: f64 = 24.0;

/// Distance of two neighbouring lines where they leave their columns, and of a line from a node.
const LINES_APART: f64 = 5.0;
const BOXES_APART: f64 = 7.0;

/// Sideways pixels for each pixel down at which a line may leave a node at most.
const STEEPEST_END: f64 = 1.5;

pub(super) fn draw(graph: &Graph, against: &[bool], layered: &Layered, columns: &Columns, spacing: &Spacing) -> Layout {
    let stubs = Stubs::new(graph, against);
    let limits = Limits { bands: Bands::new(&stubs, layered, columns, spacing), corridors: Corridors::new(graph, layered, columns), stubs };
    let bands = &limits.bands;
    let mut out = Layout {
        width: columns.width as f64,
        height: bands.bottom.last().copied().unwrap_or(0.0),
        nodes: vec![Point::default(); graph.nodes.len()],
        edges: Vec::with_capacity(graph.edges.len()),
    };
    for (i, item) in layered.items.iter().enumerate() {
        if let VertexKind::Node(v) = item.kind {
            out.nodes[v] = Point { x: columns.x[i] as f64, y: bands.middle(item.layer) };
        }
    }
    let loops = loops(graph);
    let mut used = vec![0.0; graph.nodes.len()];
    for (e, edge) in graph.edges.iter().enumerate() {
        let route = if edge.from == edge.to {
            loop_route(graph, e, out.nodes[edge.from], loops[edge.from], &mut used[edge.from])
        } else {
            chain_route(graph, e, against[e], layered, columns, &limits)
        };
        out.edges.push(rounded(route));
    }
    out.height = round(out.height);
    for node in &mut out.nodes {
        *node = round_point(*node);
    }
    out
}

/// Where the lines of edges may be.
struct Limits {
    bands: Bands,
    corridors: Corridors,
    stubs: Stubs,
}

struct Bands {
    top: Vec<f64>,
    bottom: Vec<f64>,
}

impl Bands {
    fn new(stubs: &Stubs, layered: &Layered, columns: &Columns, spacing: &Spacing) -> Self {
        let node = |i: usize| if let VertexKind::Node(v) = layered.items[i].kind { v } else { 0 };
        let count = layered.layers.len();
        let mut gap = vec![0f64; count];
        for (e, chain) in layered.chains.iter().enumerate() {
            for (k, pair) in chain.windows(2).enumerate() {
                let last = k + 2 == chain.len();
                let upper = columns.x[pair[0]] + if k == 0 { columns.ports[e].0 } else { 0 };
                let lower = columns.x[pair[1]] + if last { columns.ports[e].1 } else { 0 };
                let above = if last { stubs.above[node(pair[1])] } else { 0.0 };
                let below = if k == 0 { stubs.below[node(pair[0])] } else { 0.0 };
                let sideways = (SIDEWAYS_SHARE * (upper - lower).abs() as f64).min(SIDEWAYS_MOST);
                let layer = layered.items[pair[1]].layer;
                gap[layer] = gap[layer].max(spacing.between_layers + above + below + sideways);
            }
        }
        let (mut top, mut bottom) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let mut y = 0.0;
        for (layer, items) in layered.layers.iter().enumerate() {
            // Whole pixels: borders of nodes are sharper.
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

/// A height at which an edge may be anywhere within limits.
#[derive(Clone, Copy)]
struct Gate {
    y: f64,
    low: f64,
    high: f64,
}

/// How far the line of an edge may stray in each band: to both sides of an item's column.
struct Corridors {
    low: Vec<f64>,
    high: Vec<f64>,
}

impl Corridors {
    /// Two lines share the room between them, nodes and labels keep their distance.
    fn new(graph: &Graph, layered: &Layered, columns: &Columns) -> Self {
        let items = &layered.items;
        let at = |i: usize| columns.x[i] as f64;
        let own = |i: usize| match items[i].kind {
            VertexKind::Node(v) => graph.nodes[v].width / 2.0,
            VertexKind::Label => items[i].left / 2.0,
            VertexKind::Pass => 0.0,
        };
        let mut corridors =
            Self { low: (0..items.len()).map(|i| at(i) - own(i)).collect(), high: (0..items.len()).map(|i| at(i) + own(i)).collect() };
        for layer in &layered.layers {
            for (k, &i) in layer.iter().enumerate().filter(|&(_, &i)| items[i].kind == VertexKind::Pass) {
                let stray = |room: f64, other: usize| {
                    let shared = items[other].kind == VertexKind::Pass;
                    if shared { (room - LINES_APART) / 2.0 } else { room - BOXES_APART }.max(0.0)
                };
                let left = k.checked_sub(1).and_then(|k| layer.get(k).copied());
                let right = layer.get(k + 1).copied();
                corridors.low[i] = match left {
                    Some(a) => at(i) - stray(at(i) - items[i].left - at(a) - items[a].right, a),
                    None => items[i].left.min(at(i)),
                };
                corridors.high[i] = match right {
                    Some(b) => at(i) + stray(at(b) - items[b].left - at(i) - items[i].right, b),
                    None => (columns.width as f64 - items[i].right).max(at(i)),
                };
            }
        }
        corridors
    }
}

/// The straight pieces at the borders of nodes, as long as the longest arrowhead there: if each
/// line had its own, neighbours would cross.
struct Stubs {
    above: Vec<f64>,
    below: Vec<f64>,
}

impl Stubs {
    fn new(graph: &Graph, against: &[bool]) -> Self {
        let mut stubs = Self { above: vec![0.0; graph.nodes.len()], below: vec![0.0; graph.nodes.len()] };
        for (edge, &up) in graph.edges.iter().zip(against).filter(|(e, _)| e.from != e.to) {
            let side = if up { &mut stubs.below } else { &mut stubs.above };
            side[edge.to] = edge.head.max(side[edge.to]);
        }
        stubs
    }
}

/// The shortest way through all gates, from top to bottom: where it passes each gate.
fn shortest(start: Point, gates: &[Gate], end: Point) -> Vec<f64> {
    let mut out = Vec::with_capacity(gates.len());
    let mut corner = start;
    let mut next = 0;
    while next < gates.len() {
        // A funnel of directions from the corner; it closes at a gate, and one of its sides has the next corner.
        let slope = |x: f64, y: f64| (x - corner.x) / (y - corner.y).max(1e-9);
        let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
        let (mut low_at, mut high_at) = (next, next);
        let mut turn = None;
        for (k, gate) in gates.iter().enumerate().skip(next) {
            let (gate_low, gate_high) = (slope(gate.low, gate.y), slope(gate.high, gate.y));
            if gate_low > high {
                turn = Some((high_at, gates[high_at].high));
                break;
            }
            if gate_high < low {
                turn = Some((low_at, gates[low_at].low));
                break;
            }
            if gate_low >= low {
                (low, low_at) = (gate_low, k);
            }
            if gate_high <= high {
                (high, high_at) = (gate_high, k);
            }
        }
        if turn.is_none() {
            let straight = slope(end.x, end.y);
            if straight > high {
                turn = Some((high_at, gates[high_at].high));
            } else if straight < low {
                turn = Some((low_at, gates[low_at].low));
            }
        }
        let (last, target) = match turn {
            Some((at, x)) => (at, Point { x, y: gates[at].y }),
            None => (gates.len() - 1, end),
        };
        for gate in &gates[next..=last] {
            let share = (gate.y - corner.y) / (target.y - corner.y).max(1e-9);
            out.push((corner.x + (target.x - corner.x) * share.clamp(0.0, 1.0)).clamp(gate.low, gate.high));
        }
        corner = target;
        next = last + 1;
    }
    out
}

/// From top to bottom, then turned round when the edge runs upwards.
fn chain_route(graph: &Graph, e: usize, against: bool, layered: &Layered, columns: &Columns, limits: &Limits) -> Route {
    let Limits { bands, corridors, stubs } = limits;
    let (edge, chain) = (&graph.edges[e], &layered.chains[e]);
    let (upper, lower) = if against { (edge.to, edge.from) } else { (edge.from, edge.to) };
    let (head_above, head_below) = (stubs.below[upper], stubs.above[lower]);
    let (first, last) = (chain[0], chain[chain.len() - 1]);
    let mut label = None;
    let begin = Point {
        x: (columns.x[first] + columns.ports[e].0) as f64,
        y: bands.middle(layered.items[first].layer) + graph.nodes[upper].height / 2.0,
    };
    let end = Point {
        x: (columns.x[last] + columns.ports[e].1) as f64,
        y: bands.middle(layered.items[last].layer) - graph.nodes[lower].height / 2.0,
    };
    // What is below the upper head and above the lower one is free to bend.
    let (from, to) = (Point { y: begin.y + head_above, ..begin }, Point { y: end.y - head_below, ..end });
    let mut gates: Vec<Gate> = Vec::with_capacity(2 * chain.len());
    for &i in chain {
        let layer = layered.items[i].layer;
        let (low, high) = (corridors.low[i], corridors.high[i]);
        for y in [bands.top[layer], bands.bottom[layer]] {
            if y > from.y && y < to.y && gates.last().is_none_or(|g| g.y < y) {
                gates.push(Gate { y, low, high });
            }
        }
        if layered.items[i].kind == VertexKind::Label {
            label = Some(Point { x: columns.x[i] as f64, y: bands.middle(layer) });
        }
    }
    let mut points = vec![from];
    points.extend(shortest(from, &gates, to).into_iter().zip(&gates).map(|(x, gate)| Point { x, y: gate.y }));
    points.push(to);
    let mut line: Vec<(Point, Piece)> = Vec::new();
    if head_above > 0.0 {
        line.push((begin, Piece::Line(from)));
    }
    line.extend(smooth(&points, head_above > 0.0, head_below > 0.0));
    if head_below > 0.0 {
        line.push((to, Piece::Line(end)));
    }
    let mut start = begin;
    if against {
        line = line
            .into_iter()
            .rev()
            .map(|(from, piece)| match piece {
                Piece::Line(to) => (to, Piece::Line(from)),
                Piece::Curve(a, b, to) => (to, Piece::Curve(b, a, from)),
            })
            .collect();
        start = end;
    }
    Route { start, pieces: joined(line), label, against_flow: against }
}

/// A smooth line through points of growing `y`; it never leaves the range of `x` between two
/// neighbours, and is vertical where it has to be.
fn smooth(points: &[Point], vertical_begin: bool, vertical_end: bool) -> Vec<(Point, Piece)> {
    let steps: Vec<(f64, f64)> =
        points.windows(2).map(|p| ((p[1].y - p[0].y).max(1e-9), (p[1].x - p[0].x) / (p[1].y - p[0].y).max(1e-9))).collect();
    let n = points.len();
    let mut slopes = vec![0.0; n];
    for i in 0..n {
        slopes[i] = if i == 0 || i + 1 == n {
            let secant = if i == 0 { steps[0].1 } else { steps[n - 2].1 };
            if if i == 0 { vertical_begin } else { vertical_end } { 0.0 } else { secant.clamp(-STEEPEST_END, STEEPEST_END) }
        } else {
            // Steffen, "A simple method for monotonic interpolation in one dimension", 1990.
            let ((h, s), (k, t)) = (steps[i - 1], steps[i]);
            let middle = (s * k + t * h) / (h + k);
            (s.signum() + t.signum()) * s.abs().min(t.abs()).min(0.5 * middle.abs())
        };
    }
    let mut out = Vec::with_capacity(n);
    for (i, &(h, secant)) in steps.iter().enumerate() {
        let (a, b) = (points[i], points[i + 1]);
        let straight = |slope: f64| (slope - secant).abs() * h < 0.02;
        let piece = if straight(slopes[i]) && straight(slopes[i + 1]) {
            Piece::Line(b)
        } else {
            let third = h / 3.0;
            Piece::Curve(Point { x: a.x + slopes[i] * third, y: a.y + third }, Point { x: b.x - slopes[i + 1] * third, y: b.y - third }, b)
        };
        out.push((a, piece));
    }
    out
}

/// Straight on: one line is enough.
fn joined(line: Vec<(Point, Piece)>) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::with_capacity(line.len());
    let mut begun = Point::default();
    for (from, piece) in line {
        if let (Some(Piece::Line(end)), Piece::Line(to)) = (pieces.last_mut(), piece) {
            // How far the corner is from the straight line between its neighbours, in areas.
            let bend = (end.x - begun.x) * (to.y - begun.y) - (end.y - begun.y) * (to.x - begun.x);
            if bend.abs() < 0.02 * (to.x - begun.x).hypot(to.y - begun.y) {
                *end = to;
                continue;
            }
        }
        begun = from;
        pieces.push(piece);
    }
    pieces
}

/// A loop to the right of its node, below the loops that are already there, which have `used` so
/// much of the height of all.
fn loop_route(graph: &Graph, e: usize, centre: Point, loops: Loops, used: &mut f64) -> Route {
    let edge = &graph.edges[e];
    let node = &graph.nodes[edge.from];
    let border = centre.x + node.width / 2.0;
    let (half, height) = (loop_half(edge, node), loop_height(edge, node));
    // Where more loops stand there than the node is high they begin and end closer to each other than they are.
    let share = if loops.height > node.height { (node.height - 2.0).max(0.0) / loops.height } else { 1.0 };
    let middle = *used + (height - loops.height) / 2.0;
    let (top, bottom) = (centre.y + (middle - half) * share, centre.y + (middle + half) * share);
    let y = centre.y + middle;
    // A curve with both controls this far out reaches three quarters of the way, and a little more since its ends
    // differ by the head.
    let out = loops.reach;
    let control = border + 4.0 / 3.0 * out - edge.head / 6.0 - edge.head * edge.head / (12.0 * out);
    let stub = Point { x: border + edge.head, y: bottom };
    let curve = Piece::Curve(Point { x: control, y: y - half }, Point { x: control, y: y + half }, stub);
    let label = edge.label.map(|(width, _)| Point { x: border + out + width / 2.0, y });
    *used += height + LOOP_GAP;
    Route {
        start: Point { x: border, y: top },
        pieces: vec![curve, Piece::Line(Point { x: border, y: bottom })],
        label,
        against_flow: false,
    }
}

fn round(x: f64) -> f64 {
    let r = (x * 100.0).round() / 100.0;
    // No "-0" in figures.
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

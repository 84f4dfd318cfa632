//! What a layout costs its reader: crossings, length of lines, area, what lies on what. Measured is
//! what is drawn: lines and curves in short pieces, crossings between these pieces, their length,
//! and the area of the picture without margins.

use flowmine_layout::{Graph, Piece, Point, Spacing, layout};

/// What is drawn, wherever it comes from.
pub struct Drawn {
    pub width: f64,
    pub height: f64,
    pub lines: Vec<Vec<Point>>,
    pub boxes: Vec<(Point, (f64, f64))>,
    pub labels: Vec<(Point, (f64, f64))>,
    /// The line of each label.
    pub owners: Vec<usize>,
}

/// What is measured of a picture: what a reader pays for it.
pub struct Measures {
    pub crossings: usize,
    pub length: f64,
    pub area: f64,
    pub overlaps: usize,
    pub struck: usize,
}

/// A curve in short straight pieces.
pub fn flatten(from: Point, a: Point, b: Point, to: Point, out: &mut Vec<Point>) {
    for step in 1..=16 {
        let t = f64::from(step) / 16.0;
        let u = 1.0 - t;
        let mix = |p: f64, q: f64, r: f64, s: f64| u * u * u * p + 3.0 * u * u * t * q + 3.0 * u * t * t * r + t * t * t * s;
        out.push(Point { x: mix(from.x, a.x, b.x, to.x), y: mix(from.y, a.y, b.y, to.y) });
    }
}

/// The layout of a graph.
pub fn ours(graph: &Graph) -> Drawn {
    let drawn = layout(graph, &Spacing::default()).unwrap_or_else(|problem| panic!("{problem}"));
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
    }
}

/// Measures a picture.
pub fn measure(drawn: &Drawn) -> Measures {
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

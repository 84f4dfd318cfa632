//! A directly-follows graph as one self-contained SVG picture.
//!
//! Heading, facts (cases, events, case notion, filters, what is not shown), the graph, a legend. No script, no style
//! sheet, no font and no picture from elsewhere; what a reader points at tells more (`<title>`). Text has the
//! system's sans-serif font, and boxes are made for the widest usual one.

use super::picture::Picture;
use super::scale::box_colour;
use super::sheet::{CASE_LINE, Frame, HALO, Num, Sheet, TEXT, WEAK_TEXT};
use super::text::{bold_width, count, counted, width, wrap_name, wrap_words};
use super::{Options, legend};
use crate::dfg::Dfg;
use crate::layout::{self, Graph, LayoutError, Piece, Point, Position, Route, Spacing};
use std::fmt::Write;

const TERMINAL: &str = "#334155";

/// Cases begin and end; that is not a step of the process, so these lines are all alike.
pub(super) const CASE_WIDTH: f64 = 1.8;

const MARGIN: f64 = 24.0;
const NAME_SIZE: f64 = 13.0;
const SMALL: f64 = 11.0;
const NAME_ROOM: f64 = 172.0;
const NAME_LINES: usize = 3;
const LABEL_HEIGHT: f64 = 18.0;
const LEAST_WIDTH: f64 = 520.0;

/// Draws a graph.
///
/// # Errors
/// [`LayoutError`] when an edge of the graph names an activity that is not there. What a
/// [`DfgBuilder`](crate::dfg::DfgBuilder) gives never does.
pub fn svg(dfg: &Dfg, options: &Options) -> Result<String, LayoutError> {
    check(dfg)?;
    let picture = Picture::new(dfg, options);
    let scene = Scene::new(&picture);
    let layout = layout::layout(&scene.graph, &Spacing::default())?;
    Ok(page(&picture, &scene, &layout))
}

/// A graph made by hand may name activities that are not there.
pub(super) fn check(dfg: &Dfg) -> Result<(), LayoutError> {
    let nodes = dfg.activities.len();
    let ends = dfg.edges.iter().enumerate().flat_map(|(i, e)| [(i, e.from), (i, e.to)]);
    let terminals = dfg.starts.iter().chain(&dfg.ends).enumerate().map(|(i, t)| (i, t.0));
    match ends.chain(terminals).find(|&(_, node)| node >= nodes) {
        Some((edge, node)) => Err(LayoutError::UnknownNode { edge, node, nodes }),
        None => Ok(()),
    }
}

/// Boxes and lines with their words and sizes, in the order of the layout's nodes and edges.
struct Scene {
    graph: Graph,
    boxes: Vec<Shape>,
    lines: Vec<Line>,
}

struct Shape {
    lines: Vec<String>,
    number: String,
    fill: String,
    title: Vec<String>,
    terminal: bool,
}

struct Line {
    label: String,
    title: Vec<String>,
    colour: String,
    width: f64,
    slow: bool,
    terminal: bool,
}

impl Scene {
    fn new(picture: &Picture) -> Self {
        let mut scene = Self { graph: Graph::default(), boxes: Vec::new(), lines: Vec::new() };
        let mut place = vec![usize::MAX; picture.dfg.activities.len()];
        for &a in &picture.activities {
            place[a] = scene.boxes.len();
            scene.activity(picture, a);
        }
        for &e in &picture.edges {
            let edge = &picture.dfg.edges[e];
            let slow = picture.is_slowest(e);
            scene.line(
                (place[edge.from], place[edge.to], edge.frequency),
                Line {
                    label: picture.label(e),
                    title: picture.edge_title(e),
                    colour: picture.times.colour(picture.time.of(edge)),
                    width: picture.widths.width(edge.frequency),
                    slow,
                    terminal: false,
                },
            );
        }
        scene.terminals(picture, &place, true);
        scene.terminals(picture, &place, false);
        scene.make_room_for_lines();
        scene
    }

    fn activity(&mut self, picture: &Picture, activity: usize) {
        let a = &picture.dfg.activities[activity];
        let lines = wrap_name(&a.name, NAME_SIZE, NAME_ROOM, NAME_LINES);
        let number = count(a.frequency);
        let widest = lines.iter().map(|l| width(l, NAME_SIZE)).fold(width(&number, SMALL), f64::max);
        self.graph.nodes.push(layout::Node {
            width: (widest + 24.0).max(72.0).ceil(),
            height: 28.0 + 16.0 * lines.len() as f64,
            inset: 8.0,
            position: Position::Free,
        });
        self.boxes.push(Shape {
            lines,
            number,
            fill: box_colour(picture.boxes, a.frequency),
            title: picture.activity_title(activity),
            terminal: false,
        });
    }

    fn terminals(&mut self, picture: &Picture, place: &[usize], start: bool) {
        let list = if start { &picture.starts } else { &picture.ends };
        if list.is_empty() {
            return;
        }
        let node = self.boxes.len();
        let (text, verb, position) = if start { ("▶ Start", "begin", Position::Top) } else { ("■ End", "end", Position::Bottom) };
        self.graph.nodes.push(layout::Node { width: (bold_width(text, 12.0) + 28.0).ceil(), height: 26.0, inset: 13.0, position });
        let cases: u64 = list.iter().map(|t| t.1).sum();
        self.boxes.push(Shape {
            lines: vec![text.to_owned()],
            number: String::new(),
            fill: TERMINAL.to_owned(),
            title: vec![format!("{} {verb}", counted(cases, "case", "cases"))],
            terminal: true,
        });
        for &(activity, n) in list {
            let (from, to) = if start { (node, place[activity]) } else { (place[activity], node) };
            let name = picture.name(activity);
            self.line(
                (from, to, n),
                Line {
                    label: count(n),
                    title: vec![format!("{} {verb} with {name}", counted(n, "case", "cases"))],
                    colour: CASE_LINE.to_owned(),
                    width: CASE_WIDTH,
                    slow: false,
                    terminal: true,
                },
            );
        }
    }

    fn line(&mut self, (from, to, weight): (usize, usize, u64), line: Line) {
        let text = if line.slow { bold_width(&line.label, SMALL) } else { width(&line.label, SMALL) };
        let halo = if line.slow { 4.0 } else { 0.0 };
        self.graph.edges.push(layout::Edge {
            from,
            to,
            weight,
            label: Some(((text + 12.0).ceil(), LABEL_HEIGHT)),
            breadth: 2.0 * head_half(line.width) + halo,
            head: head_length(line.width),
        });
        self.lines.push(line);
    }

    /// A box is at least as wide as the arrows on its fuller side, within reason.
    fn make_room_for_lines(&mut self) {
        let mut above = vec![0.0; self.boxes.len()];
        let mut below = vec![0.0; self.boxes.len()];
        for e in self.graph.edges.iter().filter(|e| e.from != e.to) {
            below[e.from] += e.breadth + 3.0;
            above[e.to] += e.breadth + 3.0;
        }
        for (node, (a, b)) in self.graph.nodes.iter_mut().zip(above.into_iter().zip(below)) {
            let needed: f64 = f64::max(a, b) + 2.0 * node.inset;
            node.width = node.width.max(needed.min(260.0)).ceil();
        }
    }
}

fn head_length(width: f64) -> f64 {
    (6.5 + 1.1 * width).round()
}

fn head_half(width: f64) -> f64 {
    3.2 + 0.8 * width
}

fn page(picture: &Picture, scene: &Scene, layout: &layout::Layout) -> String {
    let entries = legend::entries(picture);
    // A tall picture has its legend beside it, a wide one below.
    let beside = layout.height > 560.0 && layout.height > 1.1 * layout.width && !entries.is_empty();
    let side = if beside { legend::COLUMN + 36.0 } else { 0.0 };
    let inner = (layout.width + side).max(LEAST_WIDTH).ceil();
    let mut sheet = Sheet::default();

    let mut y = MARGIN;
    for line in wrap_words(&picture.title(), 18.0 * 1.14, inner) {
        y += 20.0;
        sheet.text(MARGIN, y, 18.0, TEXT, "font-weight=\"bold\"", &line);
    }
    y += 6.0;
    for fact in picture.facts() {
        for line in wrap_words(&fact, 12.0, inner) {
            y += 16.0;
            sheet.text(MARGIN, y, 12.0, WEAK_TEXT, "", &line);
        }
    }
    let left_out = picture.left_out();
    if !left_out.is_empty() {
        for line in wrap_words(&format!("Not shown: {}.", left_out.join("; ")), 12.0 * 1.14, inner) {
            y += 16.0;
            sheet.text(MARGIN, y, 12.0, "#8a2c0d", "font-weight=\"bold\"", &line);
        }
    }
    y += 22.0;

    let left = MARGIN + ((inner - side - layout.width) / 2.0).floor();
    if !scene.boxes.is_empty() {
        let _ = writeln!(sheet.body, "<g transform=\"translate({} {})\">", Num(left), Num(y));
        graph(&mut sheet, scene, layout);
        sheet.body.push_str("</g>\n");
    }
    let mut bottom = y + layout.height;
    if beside {
        let x = MARGIN + inner - legend::COLUMN;
        let (places, height) = legend::arrange(&entries, legend::COLUMN);
        for (entry, (dx, dy)) in entries.iter().zip(places) {
            entry.draw(&mut sheet, x + dx, y + dy);
        }
        bottom = bottom.max(y + height);
    } else if !entries.is_empty() {
        let (places, height) = legend::arrange(&entries, inner);
        let top = bottom + 24.0;
        sheet.line((MARGIN, top), (MARGIN + inner, top), "#d5dce4", 1.0, "");
        for (entry, (dx, dy)) in entries.iter().zip(places) {
            entry.draw(&mut sheet, MARGIN + dx, top + 14.0 + dy);
        }
        bottom = top + 14.0 + height;
    }
    let (w, h) = (inner + 2.0 * MARGIN, (bottom + MARGIN).ceil());
    sheet.document(w, h, &picture.title(), &[picture.facts(), picture.left_out()].concat().join(" "))
}

fn graph(sheet: &mut Sheet, scene: &Scene, layout: &layout::Layout) {
    // Broad lines first, so that they do not cover narrow ones; labels and boxes above all lines.
    let mut order: Vec<usize> = (0..scene.lines.len()).collect();
    order.sort_by(|&a, &b| scene.lines[b].width.total_cmp(&scene.lines[a].width).then(a.cmp(&b)));
    for &i in &order {
        edge(sheet, &scene.lines[i], &scene.graph.edges[i], &layout.edges[i]);
    }
    for (i, line) in scene.lines.iter().enumerate() {
        if let (Some(at), Some((w, h))) = (layout.edges[i].label, scene.graph.edges[i].label) {
            label(sheet, line, at, w, h);
        }
    }
    for (i, shape) in scene.boxes.iter().enumerate() {
        node(sheet, shape, &scene.graph.nodes[i], layout.nodes[i]);
    }
}

fn edge(sheet: &mut Sheet, line: &Line, edge: &layout::Edge, route: &Route) {
    let (path, tip, back) = path(route, edge.head);
    sheet.body.push_str("<g class=\"edge\">\n");
    sheet.title(&line.title);
    if line.slow {
        let _ = writeln!(
            sheet.body,
            "<path d=\"{path}\" fill=\"none\" stroke=\"{HALO}\" stroke-width=\"{}\" stroke-linecap=\"round\"/>",
            Num(line.width + 9.0)
        );
    }
    let dash = if line.terminal { " stroke-dasharray=\"5 4\"" } else { "" };
    let _ =
        writeln!(sheet.body, "<path d=\"{path}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"{dash}/>", line.colour, Num(line.width));
    // Arrowheads point along the last, straight piece.
    let half = head_half(line.width);
    let (dx, dy) = (tip.x - back.x, tip.y - back.y);
    let length = dx.hypot(dy).max(0.01);
    let (sx, sy) = (-dy / length * half, dx / length * half);
    let _ = writeln!(
        sheet.body,
        "<path d=\"M{} {}L{} {}L{} {}Z\" fill=\"{}\"/>\n</g>",
        Num(tip.x),
        Num(tip.y),
        Num(back.x + sx),
        Num(back.y + sy),
        Num(back.x - sx),
        Num(back.y - sy),
        line.colour
    );
}

/// Path data up to the arrowhead, the head's tip, and the middle of its base.
fn path(route: &Route, head: f64) -> (String, Point, Point) {
    let tip = route.end();
    let before = route.pieces.len().checked_sub(2).map_or(route.start, |i| route.pieces[i].end());
    let length = (tip.x - before.x).hypot(tip.y - before.y).max(0.01);
    let share = (head / length).min(1.0);
    let back = Point { x: tip.x + (before.x - tip.x) * share, y: tip.y + (before.y - tip.y) * share };
    let mut d = format!("M{} {}", Num(route.start.x), Num(route.start.y));
    for (i, piece) in route.pieces.iter().enumerate() {
        let last = i + 1 == route.pieces.len();
        let _ = match *piece {
            // The line ends half a pixel inside the head, so that no gap shows between them.
            Piece::Line(end) => {
                let overlap = 0.5 / head.max(0.5);
                let end = if last { Point { x: back.x + (tip.x - back.x) * overlap, y: back.y + (tip.y - back.y) * overlap } } else { end };
                write!(d, "L{} {}", Num(end.x), Num(end.y))
            }
            Piece::Curve(a, b, c) => {
                write!(d, "C{} {} {} {} {} {}", Num(a.x), Num(a.y), Num(b.x), Num(b.y), Num(c.x), Num(c.y))
            }
        };
    }
    (d, tip, back)
}

fn label(sheet: &mut Sheet, line: &Line, at: Point, w: f64, h: f64) {
    sheet.body.push_str("<g class=\"label\">\n");
    sheet.title(&line.title);
    let (fill, stroke) = if line.slow { ("#fff3cf", 1.6) } else { ("#ffffff", 1.0) };
    let frame = Frame { x: at.x - w / 2.0, y: at.y - h / 2.0, w, h };
    sheet.rect(frame, h / 2.0, fill, Some((&line.colour, stroke)));
    let bold = if line.slow { "text-anchor=\"middle\" font-weight=\"bold\"" } else { "text-anchor=\"middle\"" };
    sheet.text(at.x, at.y + 4.0, SMALL, TEXT, bold, &line.label);
    sheet.body.push_str("</g>\n");
}

fn node(sheet: &mut Sheet, shape: &Shape, size: &layout::Node, at: Point) {
    sheet.body.push_str("<g class=\"node\">\n");
    sheet.title(&shape.title);
    let frame = Frame { x: at.x - size.width / 2.0, y: at.y - size.height / 2.0, w: size.width, h: size.height };
    if shape.terminal {
        sheet.rect(frame, size.height / 2.0, &shape.fill, None);
        let text = shape.lines.concat();
        sheet.text(at.x, at.y + 4.5, 12.0, "#ffffff", "text-anchor=\"middle\" font-weight=\"bold\"", &text);
    } else {
        sheet.rect(frame, 6.0, &shape.fill, Some(("#5b6f82", 1.0)));
        let mut y = frame.y + 3.0;
        for line in &shape.lines {
            y += 16.0;
            sheet.text(at.x, y, NAME_SIZE, TEXT, "text-anchor=\"middle\"", line);
        }
        sheet.text(at.x, y + 15.0, SMALL, WEAK_TEXT, "text-anchor=\"middle\"", &shape.number);
    }
    sheet.body.push_str("</g>\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dfg::{Activity, Edge};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn text_fits_its_box_and_its_label(name in any::<String>(), frequency in 1u64..u64::MAX / 2, ns in any::<i64>()) {
            let activity = |name: &str| Activity { name: name.to_owned(), frequency, cases: 1 };
            let dfg = Dfg {
                activities: vec![activity(&name), activity("b")],
                edges: vec![
                    Edge { from: 0, to: 1, frequency, median_ns: ns as f64, ..Edge::default() },
                    Edge { from: 1, to: 0, frequency, median_ns: 1.0, ..Edge::default() },
                ],
                ..Dfg::default()
            };
            let picture = Picture::new(&dfg, &Options::default());
            let scene = Scene::new(&picture);
            for (shape, node) in scene.boxes.iter().zip(&scene.graph.nodes) {
                for line in &shape.lines {
                    prop_assert!(width(line, NAME_SIZE) + 16.0 <= node.width, "{line:?} in {}", node.width);
                }
                prop_assert!(16.0 * shape.lines.len() as f64 + 18.0 <= node.height);
            }
            for (line, edge) in scene.lines.iter().zip(&scene.graph.edges) {
                let text = if line.slow { bold_width(&line.label, SMALL) } else { width(&line.label, SMALL) };
                prop_assert!(edge.label.is_some_and(|l| text + 8.0 <= l.0));
            }
        }
    }
}

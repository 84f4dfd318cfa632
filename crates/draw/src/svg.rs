//! A graph as one self-contained SVG figure.
//!
//! Heading, facts, what is not shown, the graph, a legend. There is no script, no style sheet, no
//! font and no image from elsewhere. Marks have more text for the pointer (`<title>`), and each
//! node and edge has an id for links. Text has the system's sans-serif font, and nodes are sized
//! for the widest usual one.

use std::fmt::Write;

use flowmine_layout::{self as layout, LayoutError, Piece, Point, Position, Route, Spacing};

use crate::graph::{Direction, Edge, Graph, Mark, Node, Shape};
use crate::legend::{self, label_height};
pub use crate::sheet::CASE_WIDTH;
use crate::sheet::{Frame, HALO, Num, Part, Sheet, TEXT, WEAK_TEXT};
use crate::text::{bold_width, visible, width, wrap_name, wrap_words, xml};

const TERMINAL: &str = "#334155";

const MARGIN: f64 = 24.0;
const NAME_SIZE: f64 = 13.0;
const SMALL: f64 = 11.0;
const NAME_ROOM: f64 = 172.0;
const NAME_LINES: usize = 3;
const LEAST_WIDTH: f64 = 520.0;

/// Draws a graph as an SVG document.
///
/// # Errors
/// [`LayoutError`] when an edge of the graph names a node that is not there.
pub fn svg(picture: &Graph) -> Result<String, LayoutError> {
    let scene = Scene::new(picture);
    let layout = match picture.direction {
        Direction::Down => layout::layout(&scene.graph, &Spacing::default())?,
        Direction::Across => layout::layout_across(&scene.graph, &Spacing::default())?,
    };
    Ok(page(picture, &scene, &layout))
}

/// Sizes of nodes and edges, in the order of the figure's nodes and edges.
struct Scene<'a> {
    graph: layout::Graph,
    picture: &'a Graph,
    names: Vec<Vec<String>>,
}

impl<'a> Scene<'a> {
    fn new(picture: &'a Graph) -> Self {
        let mut scene = Self { graph: layout::Graph::default(), picture, names: Vec::new() };
        picture.nodes.iter().for_each(|node| scene.node(node));
        picture.edges.iter().for_each(|edge| scene.edge(edge));
        scene.make_room_for_lines();
        scene
    }

    fn node(&mut self, node: &Node) {
        let (names, size) = match node.shape {
            Shape::Start | Shape::End => {
                let position = if node.shape == Shape::Start { Position::Top } else { Position::Bottom };
                let text = visible(&node.name);
                let size = layout::Node { width: (bold_width(&text, 12.0) + 28.0).ceil(), height: 26.0, inset: 13.0, position };
                (vec![text], size)
            }
            Shape::Box | Shape::File => {
                let lines = wrap_name(&node.name, NAME_SIZE, NAME_ROOM, NAME_LINES);
                let widest =
                    lines.iter().map(|l| width(l, NAME_SIZE)).chain(node.lines.iter().map(|l| width(l, SMALL))).fold(0.0, f64::max);
                let size = layout::Node {
                    width: (widest + 24.0).max(72.0).ceil(),
                    height: 13.0 + 16.0 * lines.len() as f64 + 14.0 * node.lines.len() as f64,
                    inset: 8.0,
                    position: Position::Free,
                };
                (lines, size)
            }
            Shape::Circle => {
                let widest = node.lines.iter().map(|line| width(line, SMALL)).fold(0.0, f64::max);
                let size = (widest + 14.0).max(30.0).ceil();
                let names = if node.name.is_empty() { Vec::new() } else { vec![visible(&node.name)] };
                (names, layout::Node { width: size, height: size, inset: size / 2.0 - 7.0, position: Position::Free })
            }
            Shape::Bar => {
                let (width, height) = if self.picture.direction == Direction::Across { (12.0, 40.0) } else { (40.0, 12.0) };
                (Vec::new(), layout::Node { width, height, inset: 2.0, position: Position::Free })
            }
        };
        self.names.push(names);
        self.graph.nodes.push(size);
    }

    fn edge(&mut self, edge: &Edge) {
        let bold = edge.mark == Mark::Halo;
        let text = |line: &String| if bold { bold_width(line, SMALL) } else { width(line, SMALL) };
        let label =
            (!edge.label.is_empty()).then(|| ((edge.label.iter().map(text).fold(0.0, f64::max) + 12.0).ceil(), label_height(&edge.label)));
        let halo = if bold { 4.0 } else { 0.0 };
        self.graph.edges.push(layout::Edge {
            from: edge.from,
            to: edge.to,
            weight: edge.weight,
            label,
            breadth: 2.0 * head_half(edge.width) + halo,
            head: head_length(edge.width),
        });
    }

    /// A node has at least the room of the arrows on its fuller side, within a limit.
    fn make_room_for_lines(&mut self) {
        let mut above = vec![0.0; self.names.len()];
        let mut below = vec![0.0; self.names.len()];
        for e in self.graph.edges.iter().filter(|e| e.from != e.to) {
            // An edge to a node that is not there is the layout's to refuse.
            if let (Some(from), Some(to)) = (below.get_mut(e.from), above.get_mut(e.to)) {
                *from += e.breadth + 3.0;
                *to += e.breadth + 3.0;
            }
        }
        for (at, (a, b)) in above.into_iter().zip(below).enumerate() {
            let shape = self.picture.nodes[at].shape;
            let node = &mut self.graph.nodes[at];
            let needed: f64 = f64::max(a, b) + 2.0 * node.inset;
            let side = if self.picture.direction == Direction::Across { &mut node.height } else { &mut node.width };
            if shape != Shape::Circle {
                *side = side.max(needed.min(260.0)).ceil();
            }
        }
    }
}

fn head_length(width: f64) -> f64 {
    (6.5 + 1.1 * width).round()
}

fn head_half(width: f64) -> f64 {
    3.2 + 0.8 * width
}

fn page(picture: &Graph, scene: &Scene<'_>, layout: &layout::Layout) -> String {
    let entries = &picture.legend;
    // A tall figure has its legend on its right, a wide one below.
    let beside = layout.height > 560.0 && layout.height > 1.1 * layout.width && !entries.is_empty();
    let side = if beside { legend::COLUMN + 36.0 } else { 0.0 };
    let inner = (layout.width + side).max(LEAST_WIDTH).ceil();
    let mut sheet = Sheet::default();

    sheet.begin(Part::Heading);
    let mut y = MARGIN;
    for line in wrap_words(&visible(&picture.title), 18.0 * 1.14, inner) {
        y += 20.0;
        sheet.text(MARGIN, y, 18.0, TEXT, "font-weight=\"bold\"", &line);
    }
    y += 6.0;
    for fact in &picture.facts {
        for line in wrap_words(&visible(fact), 12.0, inner) {
            y += 16.0;
            sheet.text(MARGIN, y, 12.0, WEAK_TEXT, "", &line);
        }
    }
    let left_out = &picture.left_out;
    if !left_out.is_empty() {
        for line in wrap_words(&format!("Not shown: {}.", visible(&left_out.join("; "))), 12.0 * 1.14, inner) {
            y += 16.0;
            sheet.text(MARGIN, y, 12.0, "#8a2c0d", "font-weight=\"bold\"", &line);
        }
    }
    sheet.end();
    y += 22.0;

    let left = MARGIN + ((inner - side - layout.width) / 2.0).floor();
    if !picture.nodes.is_empty() {
        let _ = writeln!(sheet.body, "<g transform=\"translate({} {})\">", Num(left), Num(y));
        graph(&mut sheet, scene, layout);
        sheet.body.push_str("</g>\n");
    }
    const AROUND: f64 = 12.0;
    sheet.drawing(Frame { x: left - AROUND, y: y - AROUND, w: layout.width + 2.0 * AROUND, h: layout.height + 2.0 * AROUND });
    let mut bottom = y + layout.height;
    sheet.begin(Part::Legend);
    if beside {
        let x = MARGIN + inner - legend::COLUMN;
        let (places, height) = legend::arrange(entries, legend::COLUMN);
        for (entry, (dx, dy)) in entries.iter().zip(places) {
            entry.draw(&mut sheet, x + dx, y + dy);
        }
        bottom = bottom.max(y + height);
    } else if !entries.is_empty() {
        let (places, height) = legend::arrange(entries, inner);
        let top = bottom + 24.0;
        sheet.line((MARGIN, top), (MARGIN + inner, top), "#d5dce4", 1.0, "");
        for (entry, (dx, dy)) in entries.iter().zip(places) {
            entry.draw(&mut sheet, MARGIN + dx, top + 14.0 + dy);
        }
        bottom = top + 14.0 + height;
    }
    sheet.end();
    let (w, h) = (inner + 2.0 * MARGIN, (bottom + MARGIN).ceil());
    sheet.document(w, h, &visible(&picture.title), &visible(&[&picture.facts[..], &picture.left_out[..]].concat().join(" ")))
}

fn graph(sheet: &mut Sheet, scene: &Scene<'_>, layout: &layout::Layout) {
    let picture = scene.picture;
    // Broad lines first, so that they do not cover narrow ones; labels and nodes above all lines.
    let mut order: Vec<usize> = (0..picture.edges.len()).collect();
    order.sort_by(|&a, &b| picture.edges[b].width.total_cmp(&picture.edges[a].width).then(a.cmp(&b)));
    for &i in &order {
        edge(sheet, i, &picture.edges[i], &scene.graph.edges[i], &layout.edges[i]);
    }
    for (i, line) in picture.edges.iter().enumerate() {
        if let (Some(at), Some((w, h))) = (layout.edges[i].label, scene.graph.edges[i].label) {
            label(sheet, line, at, w, h);
        }
    }
    for (i, shape) in picture.nodes.iter().enumerate() {
        node(sheet, shape, &scene.names[i], &scene.graph.nodes[i], layout.nodes[i]);
    }
}

fn edge(sheet: &mut Sheet, number: usize, line: &Edge, edge: &layout::Edge, route: &Route) {
    let (path, tip, back) = path(route, if line.headless { 0.0 } else { edge.head });
    let _ = writeln!(sheet.body, "<g class=\"edge\" id=\"e{number}\">");
    sheet.title(&line.title);
    if line.mark == Mark::Halo {
        let _ = writeln!(
            sheet.body,
            "<path d=\"{path}\" fill=\"none\" stroke=\"{HALO}\" stroke-width=\"{}\" stroke-linecap=\"round\"/>",
            Num(line.width + 9.0)
        );
    }
    let dash = if line.dashed { " stroke-dasharray=\"5 4\"" } else { "" };
    let colour = xml(&line.colour);
    let _ = writeln!(sheet.body, "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{}\"{dash}/>", Num(line.width));
    if !line.headless {
        // Arrowheads point along the last, straight piece.
        let half = head_half(line.width);
        let (dx, dy) = (tip.x - back.x, tip.y - back.y);
        let length = dx.hypot(dy).max(0.01);
        let (sx, sy) = (-dy / length * half, dx / length * half);
        let _ = writeln!(
            sheet.body,
            "<path d=\"M{} {}L{} {}L{} {}Z\" fill=\"{colour}\"/>",
            Num(tip.x),
            Num(tip.y),
            Num(back.x + sx),
            Num(back.y + sy),
            Num(back.x - sx),
            Num(back.y - sy),
        );
    }
    sheet.body.push_str("</g>\n");
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

fn label(sheet: &mut Sheet, line: &Edge, at: Point, w: f64, h: f64) {
    sheet.body.push_str("<g class=\"label\">\n");
    sheet.title(&line.title);
    let marked = line.mark == Mark::Halo;
    let (fill, stroke) = if marked { ("#fff3cf", 1.6) } else { ("#ffffff", 1.0) };
    let frame = Frame { x: at.x - w / 2.0, y: at.y - h / 2.0, w, h };
    sheet.rect(frame, 9.0, fill, Some((&line.colour, stroke)));
    let bold = if marked { "text-anchor=\"middle\" font-weight=\"bold\"" } else { "text-anchor=\"middle\"" };
    for (i, text) in line.label.iter().enumerate() {
        sheet.text(at.x, frame.y + 13.0 + 13.0 * i as f64, SMALL, TEXT, bold, text);
    }
    sheet.body.push_str("</g>\n");
}

fn node(sheet: &mut Sheet, shape: &Node, names: &[String], size: &layout::Node, at: Point) {
    let _ = writeln!(sheet.body, "<g class=\"node\" id=\"{}\">", xml(&shape.id));
    sheet.title(&shape.title);
    let frame = Frame { x: at.x - size.width / 2.0, y: at.y - size.height / 2.0, w: size.width, h: size.height };
    match shape.shape {
        Shape::Start | Shape::End => {
            sheet.rect(frame, size.height.min(size.width) / 2.0, TERMINAL, None);
            sheet.text(at.x, at.y + 4.5, 12.0, "#ffffff", "text-anchor=\"middle\" font-weight=\"bold\"", &names.concat());
        }
        Shape::Box | Shape::File => {
            if shape.mark == Mark::Halo {
                let wide = Frame { x: frame.x - 4.0, y: frame.y - 4.0, w: frame.w + 8.0, h: frame.h + 8.0 };
                sheet.rect(wide, 9.0, HALO, None);
            }
            outline(sheet, shape, frame);
            // A node that is higher than its text has it in the middle.
            let text = 13.0 + 16.0 * names.len() as f64 + 14.0 * shape.lines.len() as f64;
            let mut y = frame.y + 3.0 + ((size.height - text) / 2.0).floor();
            for line in names {
                y += 16.0;
                let bold = if shape.mark == Mark::Halo { "text-anchor=\"middle\" font-weight=\"bold\"" } else { "text-anchor=\"middle\"" };
                sheet.text(at.x, y, NAME_SIZE, TEXT, bold, line);
            }
            y += 1.0;
            for line in &shape.lines {
                y += 14.0;
                sheet.text(at.x, y, SMALL, WEAK_TEXT, "text-anchor=\"middle\"", line);
            }
        }
        Shape::Circle => {
            sheet.circle((at.x, at.y), size.width / 2.0 - 1.0, &shape.fill, "#334155", 1.4);
            let lines: Vec<&str> = names.iter().chain(&shape.lines).map(String::as_str).collect();
            let mut y = at.y + 4.0 - 6.5 * (lines.len().max(1) - 1) as f64;
            for line in lines {
                sheet.text(at.x, y, SMALL, TEXT, "text-anchor=\"middle\"", line);
                y += 13.0;
            }
        }
        Shape::Bar => sheet.rect(frame, 2.0, TERMINAL, None),
    }
    sheet.body.push_str("</g>\n");
}

/// The rectangle, or the sheet of a file with its turned corner; dashed where the knowledge about
/// it is uncertain.
fn outline(sheet: &mut Sheet, shape: &Node, frame: Frame) {
    const BORDER: &str = "#5b6f82";
    const CORNER: f64 = 9.0;
    if shape.shape == Shape::Box && !shape.unsure {
        sheet.rect(frame, 6.0, &shape.fill, Some((BORDER, 1.0)));
        return;
    }
    let dash = if shape.unsure { " stroke-dasharray=\"4 3\"" } else { "" };
    let extra = format!("stroke=\"{BORDER}\" stroke-width=\"1\"{dash}");
    let Frame { x, y, w, h } = frame;
    if shape.shape == Shape::Box {
        let arc = |dx: f64, dy: f64| format!("a6 6 0 0 1 {} {}", Num(dx), Num(dy));
        let (right, bottom) = (Num(w - 12.0), Num(h - 12.0));
        let data = format!(
            "M{} {}h{right}{}v{bottom}{}h-{right}{}v-{bottom}{}z",
            Num(x + 6.0),
            Num(y),
            arc(6.0, 6.0),
            arc(-6.0, 6.0),
            arc(-6.0, -6.0),
            arc(6.0, -6.0)
        );
        sheet.path(&data, &xml(&shape.fill), &extra);
        return;
    }
    let sheet_of_paper = format!("M{} {}h{}l{CORNER} {CORNER}v{}h-{}z", Num(x), Num(y), Num(w - CORNER), Num(h - CORNER), Num(w));
    sheet.path(&sheet_of_paper, &xml(&shape.fill), &extra);
    sheet.path(&format!("M{} {}v{CORNER}h{CORNER}", Num(x + w - CORNER), Num(y)), "none", &extra);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn text_fits_its_box_and_its_label(name in any::<String>(), line in "[a-z0-9 ·]{0,40}", label in "[a-z0-9 ·]{1,40}") {
            let node = |name: &str| Node { name: name.to_owned(), lines: vec![line.clone()], ..Node::default() };
            let edge = |from, to, mark| Edge { from, to, label: vec![label.clone()], mark, ..Edge::default() };
            let picture = Graph {
                nodes: vec![node(&name), node("b")],
                edges: vec![edge(0, 1, Mark::None), edge(1, 0, Mark::Halo)],
                ..Graph::default()
            };
            let scene = Scene::new(&picture);
            for (names, size) in scene.names.iter().zip(&scene.graph.nodes) {
                for text in names {
                    prop_assert!(width(text, NAME_SIZE) + 8.0 <= size.width);
                }
                prop_assert!(width(&line, SMALL) + 8.0 <= size.width);
            }
            for (edge, size) in picture.edges.iter().zip(&scene.graph.edges) {
                let text = if edge.mark == Mark::Halo { bold_width(&label, SMALL) } else { width(&label, SMALL) };
                prop_assert!(size.label.is_some_and(|l| text + 8.0 <= l.0));
            }
        }
    }
}

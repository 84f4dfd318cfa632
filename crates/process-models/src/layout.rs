//! A process tree as a diagram: nodes, gateways and edges, with their positions.
//!
//! In: a [`ProcessTree`] and sizes. Out: a [`Layout`] in whole pixels, x to the right and y down.
//! Nothing is refused.
//!
//! Each node of the tree has a rectangle of its own that holds all that is below it, with a line
//! coming in at one side and going out at the other. The parts of a sequence are side by side,
//! alternatives one above the other between two gateways, a redo part below its body and from right
//! to left. A sequence that is wider than [`Sizes::row`] goes on in a row below: the line turns back
//! in a column at its right and in a channel between both rows. Lines run in the columns of their own gateways and in the rows of their own branches,
//! so no line crosses another or a box.

use crate::tree::{Node, ProcessTree};

/// The sizes of a diagram, in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Width of the node of an activity.
    pub task_width: i64,
    /// Height of the node of an activity.
    pub task_height: i64,
    /// How wide and high a gateway is.
    pub gateway: i64,
    /// How wide and high the start and the end are.
    pub event: i64,
    /// What is between shapes side by side.
    pub gap_x: i64,
    /// What is between rows, one below the other.
    pub gap_y: i64,
    /// What is free around the whole diagram.
    pub margin: i64,
    /// Width at which a sequence goes on in a row below; `None`: it is one row.
    pub row: Option<i64>,
}

impl Sizes {
    /// Height of the channel between two rows of a sequence.
    fn channel(&self) -> i64 {
        2 * self.gap_y
    }
}

impl Default for Sizes {
    /// The sizes that BPMN editors draw with.
    fn default() -> Self {
        Sizes { task_width: 100, task_height: 80, gateway: 50, event: 36, gap_x: 50, gap_y: 30, margin: 20, row: None }
    }
}

/// Meaning of a shape of a diagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The start event, where a case begins.
    Start,
    /// The end event, where a case ends.
    End,
    /// An activity, as an index into the tree's labels.
    Task(u32),
    /// A choice between lines going out.
    XorSplit,
    /// Where lines of a choice meet.
    XorJoin,
    /// All lines going out at once.
    AndSplit,
    /// Where concurrent lines wait for each other.
    AndJoin,
}

/// One shape: its kind and its rectangle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Kind of BPMN element of the shape.
    pub kind: Kind,
    /// Its left side, in pixels from that of the diagram.
    pub x: i64,
    /// Its upper side, in pixels from that of the diagram.
    pub y: i64,
    /// How wide it is, in pixels.
    pub width: i64,
    /// How high it is, in pixels.
    pub height: i64,
}

/// A line from one shape to another, with right angles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge {
    /// The shape from which it comes, a place in [`Layout::shapes`].
    pub from: usize,
    /// The shape to which it leads.
    pub to: usize,
    /// Its corners, both ends included, as x and y.
    pub points: Vec<(i64, i64)>,
}

/// The diagram of a process tree: shapes and the lines between them, in pixels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// How wide it is in pixels, margins included.
    pub width: i64,
    /// How high it is in pixels, margins included.
    pub height: i64,
    /// The shapes; the first is the start, the second the end.
    pub shapes: Vec<Shape>,
    /// The lines between the shapes.
    pub edges: Vec<Edge>,
}

/// How much room a node takes: its width, and what it has above and below the line that runs into
/// it.
#[derive(Clone, Copy, Default)]
struct Room {
    width: i64,
    above: i64,
    below: i64,
}

/// A line that is being drawn and has no end yet.
struct Open {
    from: usize,
    points: Vec<(i64, i64)>,
}

enum Step {
    /// Draw a node into its rectangle: its left side and the height of its line. Backwards is from
    /// right to left.
    Node { node: usize, x: i64, y: i64, backwards: bool },
    /// Begin a line at a gateway, in the row `y`.
    Leave { gateway: usize, y: i64, backwards: bool },
    /// Continue the open line through these points.
    Bend(Vec<(i64, i64)>),
    /// End the line at a gateway, out of the row `y`.
    Enter { gateway: usize, y: i64, backwards: bool },
}

impl Layout {
    /// The diagram of a tree.
    pub fn of_tree(tree: &ProcessTree, sizes: &Sizes) -> Self {
        let limits = limits(tree, sizes);
        let (rooms, rows) = rooms(tree, sizes, &limits);
        let room = rooms[tree.root()];
        let half = sizes.event / 2;
        let (above, below) = (room.above.max(half), room.below.max(half));
        let y = sizes.margin + above;
        let inner = sizes.margin + sizes.event + sizes.gap_x;
        // A tree without a node still has an edge to draw.
        let mut end = (inner + room.width + if room.width > 0 { sizes.gap_x } else { 0 }, y);
        let mut width = end.0 + sizes.event + sizes.margin;
        // The last row of the whole leads to the end; it does not come back to the height of the first.
        if let [_, .., last] = &rows[tree.root()][..] {
            end = (inner + 2 * sizes.gap_x + last.width, y + last.below);
            width = (inner + room.width).max(end.0 + sizes.event) + sizes.margin;
        }
        let mut drawing = Drawing { sizes, rooms: &rooms, rows: &rows, shapes: Vec::new(), edges: Vec::new(), open: Vec::new() };
        drawing.shape(Kind::Start, sizes.margin, y, sizes.event, sizes.event);
        drawing.shape(Kind::End, end.0, end.1, sizes.event, sizes.event);
        drawing.open.push(Open { from: 0, points: vec![(sizes.margin + sizes.event, y)] });
        drawing.draw(tree, inner, y);
        drawing.close(1, &[end]);
        Layout { width, height: y + below + sizes.margin, shapes: drawing.shapes, edges: drawing.edges }
    }

    /// The diagram of a tree with rows of the width by which its ratio of width to height is
    /// nearest to this one. A diagram of at most `least` pixels remains one row.
    pub fn of_ratio(tree: &ProcessTree, sizes: &Sizes, ratio: f64, least: i64) -> Self {
        const TRIALS: usize = 24;
        let whole = Self::of_tree(tree, &Sizes { row: None, ..*sizes });
        let unlike = |of: &Self| (of.width as f64 / of.height.max(1) as f64 / ratio).ln().abs();
        if whole.width <= least || (whole.width as f64) < ratio * whole.height as f64 {
            return whole;
        }
        let (mut narrow, mut wide) = (least / 2, whole.width);
        let mut best = whole;
        for _ in 0..TRIALS {
            if wide - narrow < 2 {
                break;
            }
            let row = i64::midpoint(narrow, wide);
            let next = Self::of_tree(tree, &Sizes { row: Some(row), ..*sizes });
            if next.width as f64 > ratio * next.height as f64 {
                wide = row;
            } else {
                narrow = row;
            }
            if unlike(&next) < unlike(&best) {
                best = next;
            }
        }
        best
    }

    /// The same diagram with both axes exchanged: what was from left to right is from top to
    /// bottom. Tasks that are to be wide need [`Sizes`] with their sides exchanged.
    #[must_use]
    pub fn turned(mut self) -> Self {
        std::mem::swap(&mut self.width, &mut self.height);
        for Shape { x, y, width, height, .. } in &mut self.shapes {
            std::mem::swap(x, y);
            std::mem::swap(width, height);
        }
        for (x, y) in self.edges.iter_mut().flat_map(|edge| &mut edge.points) {
            std::mem::swap(x, y);
        }
        self
    }
}

/// The width of rows in each node: what is around it takes a part of that of the whole.
fn limits(tree: &ProcessTree, sizes: &Sizes) -> Vec<i64> {
    let mut limits = vec![i64::MAX; tree.nodes().len()];
    let Some(row) = sizes.row else { return limits };
    limits[tree.root()] = row;
    // The parts of a node come before it.
    for (at, node) in tree.nodes().iter().enumerate().rev() {
        let (parts, around): (&[usize], i64) = match node {
            Node::Activity(_) | Node::Tau => (&[], 0),
            Node::Sequence(parts) => (parts, 3 * sizes.gap_x),
            Node::Xor(parts) | Node::Parallel(parts) => (parts, 2 * (sizes.gateway + sizes.gap_x)),
            Node::Loop { body, redo } => (&[*body, *redo], 2 * (sizes.gateway + sizes.gap_x)),
        };
        for &part in parts {
            limits[part] = limits[at].saturating_sub(around).max(sizes.task_width);
        }
    }
    limits
}

/// The rows of a sequence: where each begins among its parts, how wide it is, and the height of
/// its line below that of the first.
struct Row {
    first: usize,
    width: i64,
    below: i64,
}

/// The rows of a sequence that has one row or more; nothing of one that has no width.
fn rows_of(parts: &[usize], rooms: &[Room], limit: i64, sizes: &Sizes) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for (at, room) in parts.iter().map(|&part| rooms[part]).enumerate() {
        match rows.last_mut() {
            // What takes no room needs no gap.
            Some(_) if room.width == 0 => {}
            Some(row) if row.width == 0 || row.width + sizes.gap_x + room.width <= limit => {
                row.width += room.width + if row.width > 0 { sizes.gap_x } else { 0 };
            }
            _ => rows.push(Row { first: at, width: room.width, below: 0 }),
        }
    }
    rows
}

/// Heights above and below the line of a row of parts.
fn heights(parts: &[usize], rooms: &[Room]) -> (i64, i64) {
    parts.iter().map(|&part| rooms[part]).fold((0, 0), |(above, below), room| (above.max(room.above), below.max(room.below)))
}

fn rooms(tree: &ProcessTree, sizes: &Sizes, limits: &[i64]) -> (Vec<Room>, Vec<Vec<Row>>) {
    let mut rooms: Vec<Room> = Vec::with_capacity(tree.nodes().len());
    let mut all_rows: Vec<Vec<Row>> = Vec::with_capacity(tree.nodes().len());
    let half = sizes.gateway / 2;
    for (node, &limit) in tree.nodes().iter().zip(limits) {
        let mut rows = Vec::new();
        let room = match node {
            Node::Activity(_) => Room { width: sizes.task_width, above: sizes.task_height / 2, below: sizes.task_height / 2 },
            // High enough that the line passes the gateway of the next row.
            Node::Tau => Room { width: 0, above: half / 2 + 1, below: half / 2 + 1 },
            Node::Sequence(children) => {
                rows = rows_of(children, &rooms, limit, sizes);
                let mut room = Room { width: rows.iter().map(|row| row.width).max().unwrap_or(0), ..Room::default() };
                let ends: Vec<usize> = rows.iter().skip(1).map(|row| row.first).chain([children.len()]).collect();
                for (at, end) in ends.into_iter().enumerate() {
                    let Some(row) = rows.get_mut(at) else { break };
                    let (above, below) = heights(&children[row.first..end], &rooms);
                    if at == 0 {
                        room.above = above;
                    } else {
                        row.below = room.below + sizes.channel() + above;
                    }
                    room.below = row.below + below;
                }
                // A column at the left to come back in, one at the right to turn, and one to leave.
                room.width += if rows.len() > 1 { 3 * sizes.gap_x } else { 0 };
                room
            }
            Node::Xor(children) | Node::Parallel(children) => {
                let axis = (children.len() - 1) / 2;
                let mut room = Room::default();
                for (i, r) in children.iter().map(|&c| rooms[c]).enumerate() {
                    room.width = room.width.max(r.width);
                    match i.cmp(&axis) {
                        std::cmp::Ordering::Less => room.above += r.above + r.below + sizes.gap_y,
                        std::cmp::Ordering::Equal => {
                            room.above += r.above;
                            room.below += r.below;
                        }
                        std::cmp::Ordering::Greater => room.below += r.above + r.below + sizes.gap_y,
                    }
                }
                Room { width: room.width + 2 * (sizes.gateway + sizes.gap_x), above: room.above.max(half), below: room.below.max(half) }
            }
            Node::Loop { body, redo } => {
                let (b, r) = (rooms[*body], rooms[*redo]);
                Room {
                    width: b.width.max(r.width) + 2 * (sizes.gateway + sizes.gap_x),
                    above: b.above.max(half),
                    below: b.below.max(half) + sizes.gap_y + r.above + r.below,
                }
            }
        };
        rooms.push(room);
        all_rows.push(rows);
    }
    (rooms, all_rows)
}

struct Drawing<'a> {
    sizes: &'a Sizes,
    rooms: &'a [Room],
    /// The rows of each sequence.
    rows: &'a [Vec<Row>],
    shapes: Vec<Shape>,
    edges: Vec<Edge>,
    open: Vec<Open>,
}

impl Drawing<'_> {
    /// A shape with its middle in the row `y`.
    fn shape(&mut self, kind: Kind, x: i64, y: i64, width: i64, height: i64) -> usize {
        self.shapes.push(Shape { kind, x, y: y - height / 2, width, height });
        self.shapes.len() - 1
    }

    fn close(&mut self, to: usize, points: &[(i64, i64)]) {
        let Some(mut open) = self.open.pop() else { return };
        open.points.extend_from_slice(points);
        let mut kept: Vec<(i64, i64)> = Vec::with_capacity(open.points.len());
        for p in open.points {
            if kept.last() == Some(&p) {
                continue;
            }
            if let [.., a, b] = kept[..]
                && (a.0 == b.0 && b.0 == p.0 || a.1 == b.1 && b.1 == p.1)
            {
                kept.pop();
            }
            kept.push(p);
        }
        self.edges.push(Edge { from: open.from, to, points: kept });
    }

    fn draw(&mut self, tree: &ProcessTree, x: i64, y: i64) {
        let mut todo = vec![Step::Node { node: tree.root(), x, y, backwards: false }];
        while let Some(step) = todo.pop() {
            match step {
                Step::Node { node, x, y, backwards } => self.node(tree, node, (x, y), backwards, &mut todo),
                Step::Leave { gateway, y, backwards } => {
                    let points = self.beside(gateway, y, !backwards);
                    self.open.push(Open { from: gateway, points });
                }
                Step::Bend(points) => {
                    if let Some(open) = self.open.last_mut() {
                        open.points.extend(points);
                    }
                }
                Step::Enter { gateway, y, backwards } => {
                    let mut points = self.beside(gateway, y, backwards);
                    points.reverse();
                    self.close(gateway, &points);
                }
            }
        }
    }

    /// The way between a gateway and a row: from the corner at its side in its own row, else from
    /// its top or bottom.
    fn beside(&self, gateway: usize, y: i64, right: bool) -> Vec<(i64, i64)> {
        let shape = self.shapes[gateway];
        let (middle, row) = (shape.x + shape.width / 2, shape.y + shape.height / 2);
        match y.cmp(&row) {
            std::cmp::Ordering::Equal => vec![(if right { shape.x + shape.width } else { shape.x }, y)],
            std::cmp::Ordering::Less => vec![(middle, shape.y), (middle, y)],
            std::cmp::Ordering::Greater => vec![(middle, shape.y + shape.height), (middle, y)],
        }
    }

    fn node(&mut self, tree: &ProcessTree, node: usize, (x, y): (i64, i64), backwards: bool, todo: &mut Vec<Step>) {
        let room = self.rooms[node];
        let (sizes, gateway) = (self.sizes, self.sizes.gateway);
        // The way on from the gateway at the end of a block is the line that is open after the block.
        let (first_x, last_x) = if backwards { (x + room.width - gateway, x) } else { (x, x + room.width - gateway) };
        let inner = room.width - 2 * (gateway + sizes.gap_x);
        let centred = |width: i64| x + gateway + sizes.gap_x + (inner - width) / 2;
        match &tree.nodes()[node] {
            Node::Tau => {}
            Node::Activity(a) => {
                let task = self.shape(Kind::Task(*a), x, y, room.width, sizes.task_height);
                let (left, right) = ((x, y), (x + room.width, y));
                self.close(task, &[if backwards { right } else { left }]);
                self.open.push(Open { from: task, points: vec![if backwards { left } else { right }] });
            }
            Node::Sequence(children) => {
                let rows = &self.rows[node];
                // A distance from where the line enters, along the flow.
                let along = |distance: i64| if backwards { x + room.width - distance } else { x + distance };
                let mut steps = Vec::with_capacity(children.len());
                let begin = if rows.len() > 1 { sizes.gap_x } else { 0 };
                let (turn, leave) = (room.width - sizes.gap_x, room.width - sizes.gap_x / 2);
                let mut at = begin;
                let mut row = 0;
                let mut line = y;
                for (number, &child) in children.iter().enumerate() {
                    if rows.get(row + 1).is_some_and(|next| next.first == number) {
                        row += 1;
                        at = begin;
                        let next = y + rows[row].below;
                        let (_, below) = heights(&children[rows[row - 1].first..number], self.rooms);
                        let channel = line + below + sizes.channel() / 2;
                        let (right, left) = (along(turn), along(begin / 2));
                        steps.push(Step::Bend(vec![(right, line), (right, channel), (left, channel), (left, next)]));
                        line = next;
                    }
                    let width = self.rooms[child].width;
                    let gap = if width > 0 { sizes.gap_x } else { 0 };
                    let left = if backwards { along(at + width) } else { along(at) };
                    steps.push(Step::Node { node: child, x: left, y: line, backwards });
                    at += width + gap;
                }
                if row > 0 && node != tree.root() {
                    steps.push(Step::Bend(vec![(along(leave), line), (along(leave), y)]));
                }
                todo.extend(steps.into_iter().rev());
            }
            Node::Xor(children) | Node::Parallel(children) => {
                let all = matches!(tree.nodes()[node], Node::Parallel(_));
                let (split, join) = if all { (Kind::AndSplit, Kind::AndJoin) } else { (Kind::XorSplit, Kind::XorJoin) };
                let split = self.shape(split, first_x, y, gateway, gateway);
                let join = self.shape(join, last_x, y, gateway, gateway);
                let entry = self.beside(split, y, backwards);
                self.close(split, &entry);
                let axis = (children.len() - 1) / 2;
                let mut row = y
                    - children[..axis].iter().map(|&c| self.rooms[c].above + self.rooms[c].below + sizes.gap_y).sum::<i64>()
                    - self.rooms[children[axis]].above;
                let mut steps = Vec::with_capacity(3 * children.len() + 1);
                for &child in children {
                    let r = self.rooms[child];
                    let y = row + r.above;
                    steps.push(Step::Leave { gateway: split, y, backwards });
                    steps.push(Step::Node { node: child, x: centred(r.width), y, backwards });
                    steps.push(Step::Enter { gateway: join, y, backwards });
                    row = y + r.below + sizes.gap_y;
                }
                steps.push(Step::Leave { gateway: join, y, backwards });
                todo.extend(steps.into_iter().rev());
            }
            Node::Loop { body, redo } => {
                let (b, r) = (self.rooms[*body], self.rooms[*redo]);
                let join = self.shape(Kind::XorJoin, first_x, y, gateway, gateway);
                let split = self.shape(Kind::XorSplit, last_x, y, gateway, gateway);
                let entry = self.beside(join, y, backwards);
                self.close(join, &entry);
                let row = y + b.below.max(gateway / 2) + sizes.gap_y + r.above;
                let steps = [
                    Step::Leave { gateway: join, y, backwards },
                    Step::Node { node: *body, x: centred(b.width), y, backwards },
                    Step::Enter { gateway: split, y, backwards },
                    Step::Leave { gateway: split, y: row, backwards: !backwards },
                    Step::Node { node: *redo, x: centred(r.width), y: row, backwards: !backwards },
                    Step::Enter { gateway: join, y: row, backwards: !backwards },
                    Step::Leave { gateway: split, y, backwards },
                ];
                todo.extend(steps.into_iter().rev());
            }
        }
    }
}

//! A process tree as a diagram: nodes, gateways and edges, with their positions.
//!
//! In: a [`ProcessTree`] and sizes. Out: a [`Layout`] in whole pixels, x to the right and y down.
//! Nothing is refused.
//!
//! Each node of the tree has a rectangle of its own that holds all that is below it, with a line
//! coming in at one side and going out at the other. The parts of a sequence are side by side,
//! alternatives one above the other between two gateways, a redo part below its body and from right
//! to left. Lines run in the columns of their own gateways and in the rows of their own branches,
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
}

impl Default for Sizes {
    /// The sizes that BPMN editors draw with.
    fn default() -> Self {
        Sizes { task_width: 100, task_height: 80, gateway: 50, event: 36, gap_x: 50, gap_y: 30, margin: 20 }
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
    /// End the line at a gateway, out of the row `y`.
    Enter { gateway: usize, y: i64, backwards: bool },
}

impl Layout {
    /// The diagram of a tree.
    pub fn of_tree(tree: &ProcessTree, sizes: &Sizes) -> Self {
        let rooms = rooms(tree, sizes);
        let room = rooms[tree.root()];
        let half = sizes.event / 2;
        let (above, below) = (room.above.max(half), room.below.max(half));
        let y = sizes.margin + above;
        let inner = sizes.margin + sizes.event + sizes.gap_x;
        // A tree without a node still has an edge to draw.
        let end = inner + room.width + if room.width > 0 { sizes.gap_x } else { 0 };
        let mut drawing = Drawing { sizes, rooms: &rooms, shapes: Vec::new(), edges: Vec::new(), open: Vec::new() };
        drawing.shape(Kind::Start, sizes.margin, y, sizes.event, sizes.event);
        drawing.shape(Kind::End, end, y, sizes.event, sizes.event);
        drawing.open.push(Open { from: 0, points: vec![(sizes.margin + sizes.event, y)] });
        drawing.draw(tree, inner, y);
        drawing.close(1, &[(end, y)]);
        Layout { width: end + sizes.event + sizes.margin, height: y + below + sizes.margin, shapes: drawing.shapes, edges: drawing.edges }
    }
}

fn rooms(tree: &ProcessTree, sizes: &Sizes) -> Vec<Room> {
    let mut rooms: Vec<Room> = Vec::with_capacity(tree.nodes().len());
    let half = sizes.gateway / 2;
    for node in tree.nodes() {
        let room = match node {
            Node::Activity(_) => Room { width: sizes.task_width, above: sizes.task_height / 2, below: sizes.task_height / 2 },
            // High enough that the line passes the gateway of the next row.
            Node::Tau => Room { width: 0, above: half / 2 + 1, below: half / 2 + 1 },
            Node::Sequence(children) => {
                let mut room = Room { width: -sizes.gap_x, ..Room::default() };
                let mut any = false;
                for r in children.iter().map(|&c| rooms[c]) {
                    // What takes no room needs no gap.
                    if r.width > 0 {
                        room.width += r.width + sizes.gap_x;
                        any = true;
                    }
                    (room.above, room.below) = (room.above.max(r.above), room.below.max(r.below));
                }
                Room { width: if any { room.width } else { 0 }, ..room }
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
    }
    rooms
}

struct Drawing<'a> {
    sizes: &'a Sizes,
    rooms: &'a [Room],
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
                let mut at = if backwards { x + room.width } else { x };
                let mut steps = Vec::with_capacity(children.len());
                for &child in children {
                    let width = self.rooms[child].width;
                    let gap = if width > 0 { sizes.gap_x } else { 0 };
                    let left = if backwards { at - width } else { at };
                    steps.push(Step::Node { node: child, x: left, y, backwards });
                    at = if backwards { left - gap } else { left + width + gap };
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

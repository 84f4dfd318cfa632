//! The graph of processes that `-with-dag` draws, and the dependencies of tasks that follow from it
//! with certainty.
//!
//! It contains processes, operators on channels, and ends of channels, in three forms:
//!
//! ```text
//! v1 [label="SUB:ALIGN"];            DOT: a process has a name and no shape, an operator is a circle,
//! v0 -> v1 [label="reads"];          what begins or ends a channel a point
//! v1([ALIGN])                        Mermaid, in a file or a page; since 2023 with subgraphs, operators
//! v0 --> v1                          as `v2(( ))` without a name, many of them as one
//! { data: { id: 'p1', label: 'ALIGN'}, classes: 'PROCESS' },        a page with Cytoscape, until 2023
//! ```
//!
//! The graph does not show which task of a process another task waited for. [`Graph::certain`]
//! derives what is certain regardless.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io;
use std::rc::Rc;

use flowmine_schema::diagnostic::{Diagnostic, Diagnostics};

use crate::Row;

/// Maximum number of nodes; larger graphs are refused. The largest public pipelines have some
/// thousand nodes.
const MOST_NODES: usize = 200_000;
const MOST_EDGES: usize = 400_000;
/// Maximum number of operators on a path that is followed, so that the stack does not overflow.
const LONGEST_WAY: usize = 500;
/// Maximum number of processes that a task waits for completely; with more its parents stay
/// unknown.
const MOST_PROCESSES: usize = 1_000;
/// Maximum total size, in bytes, of the names of sub-workflows, counted once for each node in them.
const MOST_PATHS_BYTES: usize = 64 << 20;
/// Maximum total size, in bytes, of the texts with the parents of all tasks that follow from a
/// graph.
const MOST_PARENTS_BYTES: usize = 64 << 20;
/// Maximum number of steps along edges in the comparison with work directories.
const MOST_STEPS: usize = 20_000_000;

/// Title of the page with Cytoscape.
const CYTOSCAPE: &str = "<title>Nextflow Cytoscape.js with Dagre</title>";
/// Text before the graph in the page with Mermaid.
const MERMAID: &str = "class=\"mermaid\"";

#[derive(Debug, Clone, PartialEq, Eq)]
enum NodeKind {
    Process,
    /// One operator, with its name.
    Operator,
    /// Several operators drawn as one, or one without a name.
    Operators,
    /// Beginning or end of a channel.
    Point,
    /// A node that only appears in edges.
    Unknown,
}

#[derive(Debug)]
struct Node {
    kind: NodeKind,
    /// The full name of a process, the name of an operator, or the factory of a channel.
    label: String,
    from: Vec<usize>,
    to: Vec<usize>,
}

/// The graph of processes, operators and channels that `-with-dag` draws.
#[derive(Debug, Default)]
pub struct Graph {
    nodes: Vec<Node>,
    by_id: HashMap<String, usize>,
    edges: usize,
    /// Whether an unnamed input of a task can only be a value. Since 2024 it can also be a topic,
    /// which receives outputs that seem to lead nowhere.
    values: bool,
}

/// Whether a text begins as one of Nextflow's graphs.
pub fn is_one(head: &str) -> bool {
    let text = head.trim_start();
    let is_node = |line: &str| id(line.trim_start()).is_some_and(|(id, _)| is_nextflows(id));
    if text.starts_with("digraph ") || text.starts_with("flowchart ") {
        return text.lines().skip(1).take(200).any(is_node);
    }
    head.contains(CYTOSCAPE)
        || head.split_once(MERMAID).is_some_and(|(_, graph)| graph.contains("flowchart ") && graph.lines().any(is_node))
}

/// Whether this is an id of a node: `p0` until 2022, `v0` since.
fn is_nextflows(id: &str) -> bool {
    id.strip_prefix(['p', 'v']).is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

/// Splits a text after its first word.
fn id(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

/// Reads a graph. One with an unreadable line is rejected, since an edge could be missing; a
/// diagnostic has the line.
///
/// # Errors
/// When it exceeds the maximum size of a graph.
pub fn read(text: &str, diagnostics: &mut Diagnostics) -> io::Result<Option<Graph>> {
    let mut graph = Graph::default();
    let mut lines = (1..).zip(text.lines());
    let first = |line: &str| line.trim_start().starts_with("digraph ");
    let read = if text.contains(CYTOSCAPE) {
        graph.cytoscape(&mut lines)
    } else if text.lines().find(|line| !line.trim().is_empty()).is_some_and(first) {
        graph.dot(&mut lines)
    } else {
        graph.mermaid(&mut lines)
    };
    if graph.nodes.len() > MOST_NODES || graph.edges > MOST_EDGES {
        return Err(crate::input::too_large(format!("the graph has more than {MOST_NODES} nodes or {MOST_EDGES} lines")));
    }
    if let Err((line, column)) = read {
        let message = "the graph cannot be read from here on; nothing of it is used, since a way in it could be missing";
        diagnostics.push(Diagnostic::error("graph_line_bad", message).at(line, Some(column as u64 + 1)));
        return Ok(None);
    }
    let ends = |node: &Node| node.kind == NodeKind::Process && node.to.iter().any(|to| graph.nodes[*to].kind == NodeKind::Point);
    graph.values = graph.by_id.keys().all(|id| id.starts_with('p')) || !graph.nodes.iter().any(ends);
    Ok(Some(graph))
}

/// A syntax error: line, and number of bytes before it.
type Bad = (u64, usize);

impl Graph {
    fn node(&mut self, id: &str) -> usize {
        if let Some(at) = self.by_id.get(id) {
            return *at;
        }
        let at = self.nodes.len();
        self.by_id.insert(id.to_owned(), at);
        self.nodes.push(Node { kind: NodeKind::Unknown, label: String::new(), from: Vec::new(), to: Vec::new() });
        at
    }

    fn put_node(&mut self, id: &str, kind: NodeKind, label: &str) {
        let at = self.node(id);
        let node = &mut self.nodes[at];
        (node.kind, node.label) = (kind, label.to_owned());
    }

    fn put_edge(&mut self, from: &str, to: &str) {
        let (from, to) = (self.node(from), self.node(to));
        self.nodes[from].to.push(to);
        self.nodes[to].from.push(from);
        self.edges += 1;
    }

    fn is_too_large(&self) -> bool {
        self.nodes.len() > MOST_NODES || self.edges > MOST_EDGES
    }

    fn dot<'a>(&mut self, lines: &mut impl Iterator<Item = (u64, &'a str)>) -> Result<(), Bad> {
        let mut is_open = false;
        for (number, whole) in lines {
            let text = whole.trim();
            if !is_open {
                is_open = text.starts_with("digraph ");
                continue;
            }
            if text == "}" {
                return Ok(());
            }
            if text.is_empty() || text.starts_with("rankdir=") {
                continue;
            }
            let bad = |rest: &str| (number, rest.as_ptr() as usize - whole.as_ptr() as usize);
            let (from, rest) = id(text).ok_or_else(|| bad(text))?;
            let rest = rest.trim_start();
            if let Some(rest) = rest.strip_prefix("->") {
                let (to, rest) = id(rest.trim_start()).ok_or_else(|| bad(rest))?;
                attributes(rest).map_err(bad)?;
                self.put_edge(from, to);
            } else {
                let told = attributes(rest).map_err(bad)?;
                let get = |name: &str| told.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value.as_str());
                let (kind, label) = match (get("shape"), get("label")) {
                    ("point", _) => (NodeKind::Point, get("xlabel")),
                    ("circle", _) => (NodeKind::Operator, get("xlabel")),
                    ("", label) if !label.is_empty() => (NodeKind::Process, label),
                    _ => (NodeKind::Unknown, ""),
                };
                self.put_node(from, kind, label);
            }
            if self.is_too_large() {
                return Ok(());
            }
        }
        // The text was truncated.
        Err((1, 0))
    }

    fn cytoscape<'a>(&mut self, lines: &mut impl Iterator<Item = (u64, &'a str)>) -> Result<(), Bad> {
        let mut began = false;
        for (number, line) in lines {
            let text = line.trim();
            if !began {
                began = text == "elements: {";
                continue;
            }
            if text == "}," {
                return Ok(());
            }
            if !text.starts_with("{ data: {") {
                continue;
            }
            let get =
                |name: &str| text.split_once(&format!("{name}: '")).and_then(|(_, rest)| rest.split_once('\'')).map(|(value, _)| value);
            if let (Some(from), Some(to)) = (get("source"), get("target")) {
                self.put_edge(from, to);
            } else {
                let id = get("id").ok_or((number, 0))?;
                let kind = match get("classes") {
                    Some("PROCESS") => NodeKind::Process,
                    Some("OPERATOR") => NodeKind::Operator,
                    Some("ORIGIN" | "NODE" | "TERMINATION") => NodeKind::Point,
                    _ => NodeKind::Unknown,
                };
                self.put_node(id, kind, get("label").unwrap_or_default());
            }
            if self.is_too_large() {
                return Ok(());
            }
        }
        Err((1, 0))
    }

    fn mermaid<'a>(&mut self, lines: &mut impl Iterator<Item = (u64, &'a str)>) -> Result<(), Bad> {
        let (mut is_open, mut is_old) = (false, false);
        let mut inside: Vec<&str> = Vec::new();
        let mut paths = 0;
        let mut drawn: Vec<(&str, Shape, &str, String)> = Vec::new();
        for (number, line) in lines {
            let text = line.trim();
            if !is_open {
                is_open = text.starts_with("flowchart ");
                continue;
            }
            if text == "</pre>" {
                break;
            }
            if let Some(name) = text.strip_prefix("subgraph ") {
                inside.push(name);
                continue;
            }
            if text == "end" {
                inside.pop().ok_or((number, 0))?;
                continue;
            }
            if text.is_empty() {
                continue;
            }
            let bad = |rest: &str| (number, rest.as_ptr() as usize - line.as_ptr() as usize);
            let (from, rest) = id(text).ok_or_else(|| bad(text))?;
            if let Some(rest) = rest.trim_start().strip_prefix("-->") {
                let rest = match rest.strip_prefix('|') {
                    Some(label) => label.rsplit_once('|').ok_or_else(|| bad(label))?.1,
                    None => rest,
                };
                let (to, rest) = id(rest.trim()).ok_or_else(|| bad(rest))?;
                if !rest.is_empty() {
                    return Err(bad(rest));
                }
                self.put_edge(from, to);
            } else {
                let (shape, label) = shape(rest).ok_or_else(|| bad(rest))?;
                is_old |= shape == Shape::Plain;
                // No pipeline nests this many sub-workflows.
                let path: Vec<&str> = inside.iter().take(100).filter_map(|name| subgraph(name)).collect();
                let path = path.join(":");
                paths += path.len();
                drawn.push((from, shape, label, path));
            }
            if self.is_too_large() || drawn.len() > MOST_NODES || paths > MOST_PATHS_BYTES {
                self.edges = MOST_EDGES + 1;
                return Ok(());
            }
        }
        if !is_open || !inside.is_empty() {
            return Err((1, 0));
        }
        for (id, shape, label, path) in drawn {
            let (kind, label) = match shape {
                Shape::Plain => (NodeKind::Process, label.to_owned()),
                Shape::Quoted => (NodeKind::Point, label.to_owned()),
                Shape::Stadium if is_old || is_operator(label) => (NodeKind::Operator, label.to_owned()),
                Shape::Stadium => (NodeKind::Process, if path.is_empty() { label.to_owned() } else { format!("{path}:{label}") }),
                Shape::Circle if is_old || !label.is_empty() => (NodeKind::Point, label.to_owned()),
                Shape::Circle => (NodeKind::Operators, String::new()),
            };
            self.put_node(id, kind, &label);
        }
        Ok(())
    }
}

/// The shape of a node in Mermaid, from the brackets around its label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// `[X]`.
    Plain,
    /// `["X"]`.
    Quoted,
    /// `([X])`.
    Stadium,
    /// `((X))`.
    Circle,
}

fn shape(text: &str) -> Option<(Shape, &str)> {
    let within = |open: &str, close: &str| text.strip_prefix(open)?.strip_suffix(close);
    let (shape, label) = (within("([\"", "\"])").map(|label| (Shape::Stadium, label)))
        .or_else(|| within("([", "])").map(|label| (Shape::Stadium, label)))
        .or_else(|| within("((", "))").map(|label| (Shape::Circle, label)))
        .or_else(|| within("[\"", "\"]").map(|label| (Shape::Quoted, label)))
        .or_else(|| within("[", "]").map(|label| (Shape::Plain, label)))?;
    Some((shape, label.trim()))
}

/// Returns the sub-workflow of a subgraph: the last part of `"A:B [B]"`, `A::B [B]` or `B`; none
/// for `" "`.
fn subgraph(name: &str) -> Option<&str> {
    let name = name.trim_matches('"').trim();
    let name = name.strip_suffix(']').and_then(|name| name.rsplit_once('[')).map_or(name, |(_, name)| name);
    Some(name).filter(|name| !name.is_empty())
}

/// Parses `[shape=point,label="",xlabel="Channel.empty"];`; an error is the unread rest.
fn attributes(text: &str) -> Result<Vec<(&str, String)>, &str> {
    let text = text.trim().trim_end_matches(';').trim_end();
    let Some(mut rest) = text.strip_prefix('[') else { return if text.is_empty() { Ok(Vec::new()) } else { Err(text) } };
    let mut told = Vec::new();
    loop {
        let (name, after) = rest.split_once('=').ok_or(rest)?;
        let (value, after) = match after.strip_prefix('"') {
            Some(quoted) => {
                let mut value = String::new();
                let mut chars = quoted.char_indices();
                let end = loop {
                    match chars.next().ok_or(rest)? {
                        (at, '"') => break at + 1,
                        (_, '\\') => value.extend(chars.next().map(|(_, c)| c)),
                        (_, c) => value.push(c),
                    }
                };
                (value, &quoted[end..])
            }
            None => {
                let end = after.find([',', ']']).ok_or(rest)?;
                (after[..end].to_owned(), &after[end..])
            }
        };
        told.push((name.trim(), value));
        match after.trim_start().strip_prefix(',') {
            Some(more) => rest = more,
            None if after.trim() == "]" => return Ok(told),
            None => return Err(after),
        }
    }
}

/// Channel factories with items that exist before any task.
const FACTORIES: &[&str] = &["of", "from", "fromList", "fromPath", "fromFilePairs", "fromSRA", "value", "empty"];
/// Operators that emit items of their single input channel, each after it has arrived.
const PASSING: &[&str] = &[
    "map",
    "flatMap",
    "flatten",
    "filter",
    "view",
    "first",
    "take",
    "splitCsv",
    "splitText",
    "splitFasta",
    "splitFastq",
    "splitJson",
    "collate",
    "buffer",
    "unique",
    "distinct",
    "transpose",
    "groupTuple",
    "branch",
    "multiMap",
    "set",
    "tap",
    "dump",
    "ifEmpty",
];
/// Operators that emit nothing before their input channels have ended.
const GATHERING: &[&str] = &["collect", "toList", "toSortedList", "collectFile", "count", "last"];
/// Operators that emit items of any of several input channels, and end with the last of them.
const MIXING: &[&str] = &["mix", "concat", "join", "combine"];
/// Passing operators that may end before their input channel does.
const ENDING: &[&str] = &["first", "take"];

fn is_operator(name: &str) -> bool {
    PASSING.contains(&name)
        || GATHERING.contains(&name)
        || MIXING.contains(&name)
        || ["cross", "merge", "subscribe", "until", "reduce"].contains(&name)
}

/// Returns the channel factory in a label, if its items exist before any task.
fn factory(label: &str) -> Option<&str> {
    let made = label.strip_prefix("Channel.").or_else(|| label.strip_prefix("channel."))?;
    FACTORIES.iter().copied().find(|known| *known == made)
}

/// Events that precede the start of a task, as far as the graph shows them.
#[derive(Debug, Clone)]
enum Waits {
    Unknown,
    /// No item can have passed the channel.
    Nothing,
    /// All tasks of these processes ended before.
    All(Rc<BTreeSet<usize>>),
}

/// The event of a channel that is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Awaited {
    /// Any single item of the channel.
    Item,
    /// The end of the channel, after all its items.
    End,
}

/// Outcomes of the tasks of a process.
#[derive(Debug, Default)]
struct Tasks {
    /// Ids of the tasks with a result and of those that failed finally; `None` where one has no id.
    ids: Option<Vec<String>>,
    /// Whether all tasks of the process had ended.
    ended: bool,
    /// Whether exactly one task had a result.
    one: bool,
}

impl Tasks {
    fn of(rows: &[&Row]) -> Self {
        let done = |row: &&&Row| matches!(row.status.as_ref(), "completed" | "cached");
        let with_result: HashSet<&str> = rows.iter().filter(done).map(|row| row.name.as_ref()).collect();
        // A failed attempt that was retried is represented by the successful one.
        let counted: Vec<&&Row> = rows.iter().filter(|row| done(row) || !with_result.contains(row.name.as_ref())).collect();
        Self {
            ids: counted.iter().map(|row| row.task_id.as_deref().map(str::to_owned)).collect(),
            ended: rows.iter().all(|row| matches!(row.status.as_ref(), "completed" | "cached" | "failed")),
            one: counted.len() == 1 && with_result.len() == 1,
        }
    }
}

struct Search<'a> {
    graph: &'a Graph,
    tasks: BTreeMap<usize, Tasks>,
    known: HashMap<(usize, usize, Awaited), Waits>,
}

impl Search<'_> {
    /// Returns the events that precede an item, or the end, of the channel from one node to
    /// another.
    fn waits(&mut self, from: usize, to: usize, of: Awaited, way: usize) -> Waits {
        let node = &self.graph.nodes[from];
        // For the beginning of an unnamed channel, the answer depends on the target.
        let key = (from, if node.kind == NodeKind::Point { to } else { usize::MAX }, of);
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        // A cycle stays unknown.
        self.known.insert(key, Waits::Unknown);
        let waits = if way < LONGEST_WAY { self.find(from, to, of, way) } else { Waits::Unknown };
        self.known.insert(key, waits.clone());
        waits
    }

    fn find(&mut self, from: usize, to: usize, of: Awaited, way: usize) -> Waits {
        let graph = self.graph;
        let node = &graph.nodes[from];
        let none = || Waits::All(Rc::default());
        match node.kind {
            NodeKind::Unknown | NodeKind::Operators => Waits::Unknown,
            NodeKind::Process => match self.tasks.get(&from) {
                None if of == Awaited::Item => Waits::Nothing,
                Some(tasks) if tasks.ended && tasks.ids.is_some() && (of == Awaited::End || tasks.one) => {
                    Waits::All(Rc::new(BTreeSet::from([from])))
                }
                _ => Waits::Unknown,
            },
            NodeKind::Point => match factory(&node.label) {
                Some("empty") if of == Awaited::Item => Waits::Nothing,
                Some(_) => none(),
                // An unnamed input of an operator may be the output of another one that the graph
                // omitted.
                None if graph.values && graph.nodes[to].kind == NodeKind::Process && factory_like(&node.label) => none(),
                None => Waits::Unknown,
            },
            NodeKind::Operator => {
                let name = node.label.as_str();
                let mut ask = |of: Awaited| -> Vec<Waits> { node.from.iter().map(|input| self.waits(*input, from, of, way + 1)).collect() };
                if GATHERING.contains(&name) {
                    return union(&ask(Awaited::End));
                }
                if !(PASSING.contains(&name) && node.from.len() == 1 || MIXING.contains(&name)) {
                    return Waits::Unknown;
                }
                if of == Awaited::End {
                    return match name {
                        "first" => any(&ask(Awaited::Item)),
                        name if ENDING.contains(&name) => Waits::Unknown,
                        _ => union(&ask(Awaited::End)),
                    };
                }
                let waits = any(&ask(Awaited::Item));
                // `ifEmpty` then emits an item of its own.
                if name == "ifEmpty" && matches!(waits, Waits::Nothing) { Waits::Unknown } else { waits }
            }
        }
    }

    /// Returns the processes that must end before each task of a process, since a task needs one
    /// item from each of its channels.
    fn of_process(&mut self, at: usize) -> Option<BTreeSet<usize>> {
        let graph = self.graph;
        let inputs: BTreeSet<usize> = graph.nodes[at].from.iter().copied().collect();
        let told: Vec<Waits> = inputs.into_iter().map(|from| self.waits(from, at, Awaited::Item, 0)).collect();
        match union(&told) {
            Waits::All(processes) => Some(processes.as_ref().clone()).filter(|processes| !processes.contains(&at)),
            Waits::Unknown | Waits::Nothing => None,
        }
    }
}

/// Whether each output of an operator is made of items from each of its channels.
fn uses_each(node: &Node) -> bool {
    let name = node.label.as_str();
    let one = (PASSING.contains(&name) || GATHERING.contains(&name)) && node.from.len() == 1 && name != "ifEmpty";
    node.kind == NodeKind::Operator && (one || matches!(name, "join" | "combine"))
}

/// Whether the label of a channel's beginning is empty or just the name of the input.
fn factory_like(label: &str) -> bool {
    !label.contains('.')
}

/// Returns the combination of events that must all have happened.
fn union(told: &[Waits]) -> Waits {
    let mut all = BTreeSet::new();
    for waits in told {
        match waits {
            Waits::All(processes) => all.extend(processes.iter().copied()),
            Waits::Unknown | Waits::Nothing => return Waits::Unknown,
        }
        if all.len() > MOST_PROCESSES {
            return Waits::Unknown;
        }
    }
    Waits::All(Rc::new(all))
}

/// Returns the event when one of several happened and it is not known which: certain where all are
/// equal.
fn any(told: &[Waits]) -> Waits {
    let mut can_be = told.iter().filter(|waits| !matches!(waits, Waits::Nothing));
    let Some(Waits::All(first)) = can_be.next() else {
        return if told.iter().all(|waits| matches!(waits, Waits::Nothing)) { Waits::Nothing } else { Waits::Unknown };
    };
    let same = can_be.all(|waits| matches!(waits, Waits::All(other) if other == first));
    if same { Waits::All(first.clone()) } else { Waits::Unknown }
}

impl Graph {
    /// Returns the processes by their full names, without those that share a name.
    fn processes(&self) -> HashMap<&str, usize> {
        let mut found: HashMap<&str, Option<usize>> = HashMap::new();
        for (at, node) in self.nodes.iter().enumerate().filter(|(_, node)| node.kind == NodeKind::Process) {
            found.entry(&node.label).and_modify(|known| *known = None).or_insert(Some(at));
        }
        found.into_iter().filter_map(|(name, at)| Some((name, at?))).collect()
    }

    /// Returns the processes with those above each, whatever draws them; `None` where that takes too
    /// long.
    pub fn meaning(&self) -> Option<BTreeMap<&str, BTreeSet<(&str, bool)>>> {
        let mut steps = 0;
        let mut found = BTreeMap::new();
        for (name, process) in self.processes().into_iter().collect::<BTreeMap<_, _>>() {
            let above = self.processes_above(process, &mut steps)?;
            found.insert(name, above.into_iter().map(|(node, each)| (self.nodes[node].label.as_str(), each)).collect());
        }
        Some(found)
    }

    /// Returns the certain part of the column `parents`, after a comparison with the work
    /// directories; `None` where nothing is certain.
    pub fn certain(&self, rows: &[Row], known: &Known<'_>, diagnostics: &mut Diagnostics) -> Option<Certain> {
        let run_of = known.run_of;
        let processes = self.processes();
        let mut fits: BTreeMap<usize, bool> = BTreeMap::new();
        for (row, run) in rows.iter().zip(run_of) {
            let Some(run) = run else { continue };
            *fits.entry(*run).or_insert(true) &= processes.contains_key(row.logical_task.as_ref());
        }
        let mut of_run: Vec<usize> = fits.iter().filter(|(_, fits)| **fits).map(|(run, _)| *run).collect();
        // Runs of one pipeline, such as a resumed one, fit the same graphs.
        let names = |run: &usize| known.graph_files.get(*run).and_then(Option::as_deref) == Some(known.name);
        if of_run.len() > 1 && of_run.iter().any(names) {
            of_run.retain(names);
        }
        let [run] = of_run[..] else {
            let message = if of_run.is_empty() {
                "no run that was given has only processes that are in this graph; nothing of the graph is used".to_owned()
            } else {
                format!(
                    "{} runs have only processes that are in this graph, and it does not name its run; nothing of it is used",
                    of_run.len()
                )
            };
            diagnostics.push(
                Diagnostic::warning("graph_of_no_run", message)
                    .advise("import the graph in one call with its run's log, report or trace file, and no other run"),
            );
            return None;
        };
        let of_run: Vec<usize> = (0..rows.len()).filter(|at| run_of[*at] == Some(run)).collect();
        // A graph that contradicts the work directories is not that of this run.
        if !self.compare(rows, &of_run, &processes, diagnostics) {
            return None;
        }
        let above = self.logical_parents(rows, &of_run, &processes);
        if !known.is_whole {
            return Some(Certain { run, of: Vec::new(), above });
        }
        if !known.has_begin.get(run).is_some_and(|begins| *begins) {
            let message = "parents by the graph are certain only where all tasks of its run are known, and no log covers the run from its beginning; parents can only be inferred from it";
            let advice = "import the run's whole log (`.nextflow.log`) in the same call";
            diagnostics.push(Diagnostic::warning("graph_without_log", message).advise(advice));
            return Some(Certain { run, of: Vec::new(), above });
        }
        Some(Certain { run, of: self.parents_of(rows, &of_run, &processes, diagnostics), above })
    }

    /// Returns the column `logical_parents` for the rows of a run.
    fn logical_parents(&self, rows: &[Row], of_run: &[usize], processes: &HashMap<&str, usize>) -> Vec<(usize, String)> {
        let mut steps = 0;
        let mut of_process: HashMap<usize, Option<String>> = HashMap::new();
        let mut told = Vec::new();
        for at in of_run {
            let Some(process) = processes.get(rows[*at].logical_task.as_ref()) else { continue };
            let text = of_process.entry(*process).or_insert_with(|| {
                let above = self.processes_above(*process, &mut steps)?;
                let list: Vec<_> =
                    above.iter().map(|(node, each)| serde_json::json!({ "logical_task": self.nodes[*node].label, "each": each })).collect();
                Some(serde_json::Value::Array(list).to_string())
            });
            told.extend(text.clone().map(|text| (*at, text)));
        }
        told
    }

    /// Returns the processes with results that reach a process without another process in between,
    /// and whether each of its tasks uses them, which is false where channels are mixed on the way.
    /// `None` where the search exceeds the maximum number of steps.
    fn processes_above(&self, at: usize, steps: &mut usize) -> Option<BTreeMap<usize, bool>> {
        let mut above: BTreeMap<usize, bool> = BTreeMap::new();
        let mut seen: HashSet<(usize, bool)> = HashSet::new();
        let mut open = vec![(at, true)];
        while let Some((to, each)) = open.pop() {
            for from in &self.nodes[to].from {
                *steps += 1;
                if *steps > MOST_STEPS {
                    return None;
                }
                let node = &self.nodes[*from];
                match node.kind {
                    NodeKind::Process => *above.entry(*from).or_default() |= each,
                    NodeKind::Operator | NodeKind::Operators => {
                        let each = each && uses_each(node);
                        if seen.insert((*from, each)) {
                            open.push((*from, each));
                        }
                    }
                    NodeKind::Point | NodeKind::Unknown => {}
                }
            }
        }
        Some(above)
    }

    /// Reports inputs of tasks that are in directories of tasks that are not above them in the
    /// graph; returns whether there are none.
    fn compare(&self, rows: &[Row], of_run: &[usize], processes: &HashMap<&str, usize>, diagnostics: &mut Diagnostics) -> bool {
        let by_id: HashMap<&str, usize> = of_run
            .iter()
            .filter_map(|at| Some((rows[*at].task_id.as_deref()?, *processes.get(rows[*at].logical_task.as_ref())?)))
            .collect();
        let mut told: BTreeMap<usize, BTreeMap<usize, usize>> = BTreeMap::new();
        for row in of_run.iter().map(|at| &rows[*at]) {
            let parents: Vec<String> = row.parents.as_deref().and_then(|told| serde_json::from_str(told).ok()).unwrap_or_default();
            let Some(at) = processes.get(row.logical_task.as_ref()) else { continue };
            for parent in parents.iter().filter_map(|id| by_id.get(id.as_str())) {
                *told.entry(*at).or_default().entry(*parent).or_default() += 1;
            }
        }
        let (mut steps, mut agrees) = (0, true);
        for (at, parents) in told {
            // Where the graph shows an unknown origin, inputs can come from any process.
            let Some(above) = self.above(at, &mut steps) else { continue };
            for (parent, tasks) in parents.into_iter().filter(|(parent, _)| !above.contains(parent)) {
                let (name, parent) = (&self.nodes[at].label, &self.nodes[parent].label);
                let message = format!(
                    "inputs of {tasks} tasks of {name} were made by {parent}, which is not above it in this graph; the inputs are believed and nothing of the graph is used"
                );
                agrees = false;
                diagnostics.push(Diagnostic::warning("graph_contradicts", message));
            }
        }
        agrees
    }

    /// Returns all nodes above a node; `None` where an input can come from any process, or where
    /// the search exceeds the maximum number of steps.
    fn above(&self, at: usize, steps: &mut usize) -> Option<HashSet<usize>> {
        let mut above = HashSet::new();
        let mut open = vec![at];
        while let Some(to) = open.pop() {
            for from in &self.nodes[to].from {
                *steps += 1;
                let node = &self.nodes[*from];
                let is_known = match node.kind {
                    NodeKind::Unknown => false,
                    NodeKind::Point => {
                        factory(&node.label).is_some()
                            || self.values && self.nodes[to].kind == NodeKind::Process && factory_like(&node.label)
                    }
                    _ => true,
                };
                if !is_known || *steps > MOST_STEPS {
                    return None;
                }
                if above.insert(*from) {
                    open.push(*from);
                }
            }
        }
        Some(above)
    }

    /// Returns groups of attempts that waited for the same tasks, each with the ids of these tasks.
    fn parents_of(
        &self,
        rows: &[Row],
        of_run: &[usize],
        processes: &HashMap<&str, usize>,
        diagnostics: &mut Diagnostics,
    ) -> Vec<(Vec<usize>, Vec<String>)> {
        let mut of_process: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for at in of_run {
            if let Some(process) = processes.get(rows[*at].logical_task.as_ref()) {
                of_process.entry(*process).or_default().push(*at);
            }
        }
        let tasks =
            of_process.iter().map(|(process, of)| (*process, Tasks::of(&of.iter().map(|at| &rows[*at]).collect::<Vec<_>>()))).collect();
        let mut search = Search { graph: self, tasks, known: HashMap::new() };
        let (mut found, mut bytes, mut too_many) = (Vec::new(), 0_usize, 0);
        for (process, of) in of_process {
            let Some(waits) = search.of_process(process) else { continue };
            let ids: Vec<String> = waits.iter().filter_map(|process| search.tasks[process].ids.as_ref()).flatten().cloned().collect();
            // As in each row: with quotes and a comma.
            let more = of.len().saturating_mul(ids.iter().map(|id| id.len() + 3).sum());
            if bytes.saturating_add(more) > MOST_PARENTS_BYTES {
                too_many += of.len() as u64;
                continue;
            }
            bytes += more;
            found.push((of, ids));
        }
        if too_many > 0 {
            let message = "a task waited for too many others for a list of pairs: the graph does not give its parents";
            diagnostics.push(Diagnostic { count: too_many, ..Diagnostic::warning("parents_too_many", message) });
        }
        found
    }
}

/// Further facts for the interpretation of a graph.
pub struct Known<'a> {
    /// For each row, the index of its run.
    pub run_of: &'a [Option<usize>],
    /// For each run, whether a log describes it from its beginning.
    pub has_begin: &'a [bool],
    /// For each run, the file name of its graph, where its log has it.
    pub graph_files: &'a [Option<String>],
    /// File name of this graph.
    pub name: &'a str,
    /// Whether no source has lost a task.
    pub is_whole: bool,
}

/// Parents in a run that follow from a graph with certainty.
pub struct Certain {
    /// Index of the run.
    pub run: usize,
    /// Indices of rows, each group with the ids of the tasks that they waited for.
    of: Vec<(Vec<usize>, Vec<String>)>,
    /// Indices of rows, with their column `logical_parents`.
    above: Vec<(usize, String)>,
}

impl Certain {
    /// Adds the parents to the columns `parents` and `logical_parents`; returns the number of rows
    /// with additional parents.
    pub fn put(self, rows: &mut [Row]) -> u64 {
        let mut filled = 0;
        for (at, above) in self.above {
            rows[at].logical_parents = Some(above.into());
        }
        for (of, ids) in self.of {
            for at in of {
                filled += u64::from(add(&mut rows[at], &ids));
            }
        }
        filled
    }
}

/// Returns the runs for which two graphs differ.
pub fn differing<'a>(all: impl Iterator<Item = &'a Certain>) -> BTreeSet<usize> {
    let mut said: HashMap<usize, &[String]> = HashMap::new();
    let mut runs = BTreeSet::new();
    for certain in all {
        for (of, ids) in &certain.of {
            if of.iter().any(|at| *said.entry(*at).or_insert(ids) != ids.as_slice()) {
                runs.insert(certain.run);
            }
        }
    }
    runs
}

/// Returns the diagnostic for a graph that differs from others of its run, with their names.
pub fn differs(others: &[&str]) -> Diagnostic {
    let message = format!("the processes of this run have other parents in the graph {}; nothing of either is used", others.join(" and "));
    Diagnostic::warning("graphs_differ", message).advise("give the graph that this run drew (`-with-dag`), and no other")
}

/// Adds ids of parents to those from work directories, which cover dependencies through files only;
/// returns whether there are more.
fn add(row: &mut Row, ids: &[String]) -> bool {
    let told: Option<Vec<String>> = row.parents.as_deref().and_then(|told| serde_json::from_str(told).ok());
    let known = told.as_ref().map_or(0, Vec::len);
    let all: BTreeSet<&String> = told.iter().flatten().chain(ids).filter(|id| row.task_id.as_deref() != Some(id.as_str())).collect();
    if told.is_some() && all.len() == known {
        return false;
    }
    // Numbers in numerical order.
    let mut all: Vec<&String> = all.into_iter().collect();
    all.sort_by_key(|id| id.parse::<u64>().unwrap_or(u64::MAX));
    let Ok(parents) = serde_json::to_string(&all) else { return false };
    row.parents = Some(parents.into());
    true
}

#[cfg(test)]
#[path = "dag_tests.rs"]
mod tests;

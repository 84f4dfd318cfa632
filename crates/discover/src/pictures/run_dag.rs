//! The graph of a run: as a picture, for other programs, as tables of nodes and of lines, as text
//! and as JSON (`flowmine-run-dag`).

use std::cmp::Reverse;
use std::fmt::Write as _;
use std::io::{self, Write};

use flowmine_draw::axis;
use flowmine_draw::document::{self, Document, DocumentFormat};
use flowmine_draw::graph::{Datum, Edge as Line, Graph, Mark, Node as Box, Shape};
use flowmine_draw::legend::{Entry, Sample};
use flowmine_draw::scale::{TimeScale, WidthScale, box_colour};
use flowmine_draw::text::{count, counted, duration, visible};

use super::calendar;
use super::csv::{Csv, mean_seconds, seconds};
use super::text_table::{self, Column};
use crate::fold::Fold;
use crate::run_dag::{By, DRAWN, Edge, EdgeKind, FilesBy, Node, NodeKind, Role, RunDag, Spread};
use crate::stats::Stats;

/// So many nodes are in the text.
const LISTED: usize = 40;

const INPUT: &str = "#fff1cc";
const BETWEEN: &str = "#e6f2ea";
const OUTPUT: &str = "#f6dfe6";
const WITHOUT_DATA: &str = "#7b8794";
/// Colour of lines that are inferred.
const INFERRED: &str = "#b07aa1";
const MIB: f64 = 1_048_576.0;

fn many(noun: &str) -> String {
    if noun == "process" { "processes".to_owned() } else { format!("{noun}s") }
}

fn facts(found: &RunDag) -> (Vec<String>, Vec<String>) {
    let nouns = many(found.noun);
    let tasks = counted(found.tasks, found.noun, &nouns);
    let versions = counted(found.versions, "version of a file", "versions of files");
    let took = found.time_ns.map_or(String::new(), |ns| format!(", {} from the first start to the last end", duration(ns as f64)));
    let mut facts = vec![format!("{}: {tasks}, {versions}{took}.", visible(&found.run))];
    let folded = match (found.by, found.fold) {
        (By::Each, Fold::Never) => format!("Each of the {nouns} has a box of its own."),
        (By::Each, Fold::Equal) => format!(
            "{} that are instances of the same activity, with the same predecessors and successors, equally often, are one node; so are files.",
            capital(&nouns)
        ),
        (By::Each, Fold::Alike) => format!(
            "{} that are instances of the same activity, with the same predecessors and successors are one node; so are files.",
            capital(&nouns)
        ),
        (By::Each | By::Activity, _) => {
            format!("{} of one activity are one box, and files that the same activities wrote and read.", capital(&nouns))
        }
        (By::Job, _) => format!("{} of one job are one box.", capital(&nouns)),
        (By::Host, _) => format!("{} of one host are one box.", capital(&nouns)),
    };
    facts.push(folded);
    if let Some(ns) = found.critical_ns.filter(|_| found.critical_tasks > 0) {
        let of = counted(found.critical_tasks, found.noun, &nouns);
        facts.push(format!("What the whole run waited for (critical path, {of}, {}) is marked.", duration(ns as f64)));
    }
    let inferred: u64 = found.edges.iter().filter(|edge| edge.kind == EdgeKind::Inferred).map(|edge| edge.count).sum();
    if inferred > 0 {
        facts.push(format!(
            "{} from names, tags and times, not recorded: thin dashed lines.",
            counted(inferred, "dependency is inferred", "dependencies are inferred")
        ));
    }
    if found.lost > 0 {
        let lost = counted(found.lost, "record of the trace was", "records of the trace were");
        facts.push(format!("{lost} lost: boxes whose files may be more than is shown are dashed, and bytes are lower bounds."));
    }
    let left = &found.left_out;
    let mut words = Vec::new();
    if found.hidden_files > 0 {
        let files = counted(found.hidden_files, "box of files", "boxes of files");
        words.push(format!(
            "{files}, for which there is no room: lines lead from {} to {} (--files each shows files)",
            found.noun, found.noun
        ));
    }
    if left.system_files > 0 {
        words.push(format!(
            "{} of the system, of which {} were read",
            counted(left.system_files, "file", "files"),
            axis::bytes(left.system_bytes)
        ));
    }
    if left.tasks > 0 {
        words.push(format!("{} that were not requested", counted(left.tasks, found.noun, &nouns)));
    }
    if left.unknown_parents > 0 {
        words.push(format!("{} on {nouns} that no row describes", counted(left.unknown_parents, "dependency", "dependencies")));
    }
    if left.tasks_without_parents > 0 {
        words.push(format!("undeclared dependencies of {}", counted(left.tasks_without_parents, found.noun, &nouns)));
    }
    (facts, words)
}

fn capital(words: &str) -> String {
    let mut chars = words.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}

/// Nodes by how much there is to see of them.
fn by_weight(found: &RunDag) -> Vec<usize> {
    let mut order: Vec<usize> = (0..found.nodes.len()).collect();
    order.sort_by_key(|&at| {
        let node = &found.nodes[at];
        let bytes = flowmine_sums::add(node.read_bytes, node.written_bytes);
        Reverse((node.critical > 0, node.kind == NodeKind::Task && node.members > 1, bytes, node.members, Reverse(at)))
    });
    order
}

/// The picture: no more nodes than can be drawn, those on the critical path first, then those with
/// most bytes and members.
pub fn picture(found: &RunDag) -> Graph {
    let mut order = by_weight(found);
    order.truncate(DRAWN);
    order.sort_unstable();
    let mut made = of_nodes(found, &order);
    let hidden = found.nodes.len() - order.len();
    if hidden > 0 {
        made.left_out.push(format!("{} with fewer bytes (--format csv has all)", counted(hidden as u64, "box", "boxes")));
    }
    made
}

/// The whole graph, for other programs.
pub fn graph(found: &RunDag) -> Graph {
    of_nodes(found, &(0..found.nodes.len()).collect::<Vec<_>>())
}

/// The graph of some of the nodes, ascending.
fn of_nodes(found: &RunDag, shown: &[usize]) -> Graph {
    let (facts, left_out) = facts(found);
    let mut picture = Graph { name: "run", title: "One run: who gives data to whom".to_owned(), facts, left_out, ..Graph::default() };
    let mut place = vec![usize::MAX; found.nodes.len()];
    for (to, &from) in shown.iter().enumerate() {
        place[from] = to;
    }
    let there = |at: u32| Some(place[at as usize]).filter(|place| *place != usize::MAX);
    let edges: Vec<&Edge> = found.edges.iter().filter(|edge| there(edge.from).is_some() && there(edge.to).is_some()).collect();
    let tasks = shown.iter().map(|&at| &found.nodes[at]).filter(|node| node.kind == NodeKind::Task);
    let boxes = WidthScale::new(tasks.map(|node| node.members));
    let bytes = WidthScale::new(edges.iter().filter_map(|edge| edge.bytes).map(|n| n.max(0).unsigned_abs()));
    let slow = TimeScale::new(edges.iter().filter_map(|edge| time_for_a_mib(edge)).collect::<Vec<_>>().into_iter());
    picture.nodes = shown.iter().map(|&at| node_of(found, at, boxes)).collect();
    picture.edges = edges
        .iter()
        .filter_map(|edge| {
            let mut line = line_of(found, edge, bytes, slow);
            (line.from, line.to) = (there(edge.from)?, there(edge.to)?);
            Some(line)
        })
        .collect();
    legend(found, &mut picture, (boxes, bytes, slow), &edges);
    picture
}

/// How long a mebibyte took, in nanoseconds.
fn time_for_a_mib(edge: &Edge) -> Option<f64> {
    edge.bytes_per_s.filter(|rate| *rate > 0.0).map(|rate| MIB / rate * 1e9)
}

fn legend(found: &RunDag, picture: &mut Graph, (boxes, bytes, slow): (WidthScale, WidthScale, TimeScale), edges: &[&Edge]) {
    let (noun, nouns) = (found.noun, many(found.noun));
    let samples = boxes.samples().into_iter().map(|n| (box_colour(boxes, n), count(n))).collect();
    picture.legend.push(Entry::new(format!("Box: {nouns}"), Sample::Boxes(samples), "median lifetime; × number"));
    let roles: Vec<(String, String)> = [
        (Role::Input, INPUT, "present before: no task of the run wrote it"),
        (Role::Between, BETWEEN, "written and read in the run"),
        (Role::Output, OUTPUT, "written, and read by no other task"),
    ]
    .into_iter()
    .filter(|(role, ..)| found.nodes.iter().any(|node| node.role == Some(*role)))
    .map(|(_, colour, words)| (colour.to_owned(), words.to_owned()))
    .collect();
    if !roles.is_empty() {
        picture.legend.push(Entry::new("Sheet: files, by their content's way", Sample::Swatches(roles), ""));
    }
    if edges.iter().any(|edge| edge.bytes.is_some()) {
        let samples = bytes.samples().into_iter().map(|n| (bytes.width(n), axis::bytes(i64::try_from(n).unwrap_or(i64::MAX)))).collect();
        picture.legend.push(Entry::new("Line width: bytes", Sample::Widths(samples), "to files: written; from files: read"));
    }
    if slow.has_range() {
        let words = [0.0, 0.5, 1.0].map(|share| duration(slow.time_at(share)));
        let note = "between the first and the last access, whatever happened in between";
        picture.legend.push(Entry::new("Line colour: time for a MiB", Sample::Ramp(slow.ramp(12), words), note));
    }
    let dashed = |kind: EdgeKind| edges.iter().any(|edge| edge.kind == kind);
    if dashed(EdgeKind::Declared) {
        let note = match noun {
            "process" => "started by the same parent when the other had ended",
            _ => "declared to wait, and had no data from it that was seen",
        };
        picture.legend.push(Entry::new("Dashed line", Sample::Dashed(WITHOUT_DATA.to_owned(), 1.5), note));
    }
    if dashed(EdgeKind::Inferred) {
        let note = "inferred: probable dependency, not recorded";
        picture.legend.push(Entry::new("Thin dashed line", Sample::Dashed(INFERRED.to_owned(), 1.0), note));
    }
    if dashed(EdgeKind::Fork) {
        picture.legend.push(Entry::new("Dashed line from a process", Sample::Dashed(WITHOUT_DATA.to_owned(), 1.5), "forked"));
    }
    if edges.iter().any(|edge| edge.doubtful > 0) {
        let note = "clocks of the hosts differ: the order is uncertain";
        picture.legend.push(Entry::new("Dashed coloured line", Sample::Dashed("#2f7fc2".to_owned(), 2.0), note));
    }
    if found.nodes.iter().any(|node| node.unsure > 0) {
        picture.legend.push(Entry::new("Dashed border", Sample::Words, "Records were lost meanwhile, or an order is uncertain."));
    }
    if found.nodes.iter().any(|node| node.critical > 0) {
        let note = format!("critical path: the {noun} after it waited for this");
        picture.legend.push(Entry::new("Marked", Sample::Halo("#2f7fc2".to_owned(), 2.0), note));
    }
}

fn label(node: &Node) -> String {
    if node.members > 1 && node.kind == NodeKind::Task {
        return format!("{} × {}", node.name, count(node.members));
    }
    node.name.clone()
}

fn node_of(found: &RunDag, at: usize, boxes: WidthScale) -> Box {
    let node = &found.nodes[at];
    let mut lines = Vec::new();
    let median = node.life_time_ns.map(|times| duration(times.median));
    match node.kind {
        NodeKind::Task => {
            lines.extend(median.map(|time| format!("ran {time}")));
            lines.extend((node.failed > 0).then(|| format!("{} failed", count(node.failed))));
        }
        NodeKind::File => {
            let bytes = node.written_bytes.max(if node.role == Some(Role::Input) { node.read_bytes } else { 0 });
            let files = (node.members > 1).then(|| format!("{} · ", counted(node.members, "file", "files")));
            lines.push(format!("{}{}", files.unwrap_or_default(), axis::bytes(bytes)));
        }
    }
    let fill = match (node.kind, node.role) {
        (NodeKind::Task, _) => box_colour(boxes, node.members),
        (_, Some(Role::Input)) => INPUT.to_owned(),
        (_, Some(Role::Output)) => OUTPUT.to_owned(),
        _ => BETWEEN.to_owned(),
    };
    Box {
        id: format!("n{at}"),
        shape: if node.kind == NodeKind::Task { Shape::Box } else { Shape::File },
        name: label(node),
        lines,
        fill,
        mark: if node.critical > 0 { Mark::Halo } else { Mark::None },
        unsure: node.unsure > 0,
        title: told(found, node),
        data: data(node),
    }
}

/// All that is known of a node, in lines.
fn told(found: &RunDag, node: &Node) -> Vec<String> {
    let mut lines = vec![visible(&label(node))];
    match node.kind {
        NodeKind::Task => lines.push(counted(node.members, found.noun, &many(found.noun))),
        NodeKind::File => {
            lines.push(counted(node.members, "version of a file", "versions of files"));
            lines.extend(node.directory.as_ref().map(|directory| format!("in {}", visible(directory))));
        }
    }
    lines.extend(node.host.as_ref().map(|host| format!("on {}", visible(host))));
    if let Some(times) = &node.life_time_ns {
        let parts = [("shortest", times.min as f64), ("median", times.median), ("longest", times.max as f64), ("sum", times.sum as f64)];
        let words: Vec<String> = parts.into_iter().map(|(what, ns)| format!("{what} {}", duration(ns))).collect();
        lines.push(format!("life time: {}", words.join(", ")));
    }
    lines.push(format!("read {}, written {}", axis::bytes(node.read_bytes), axis::bytes(node.written_bytes)));
    if node.read_back_bytes > 0 {
        lines.push(format!("read back by who wrote it: {}", axis::bytes(node.read_back_bytes)));
    }
    let spread = |what: &str, of: &Option<Spread>| of.as_ref().map(|of| format!("{what}: {}", range(of)));
    match node.kind {
        NodeKind::Task => {
            lines.extend(spread("files read by each", &node.accesses_in));
            lines.extend(spread("files written by each", &node.accesses_out));
            lines.extend(spread("waited for or had data from", &node.fan_in));
            lines.extend(spread("gave data to or was waited for by", &node.fan_out));
        }
        NodeKind::File => {
            lines.extend(spread("written by", &node.accesses_in));
            lines.extend(spread("read by", &node.accesses_out));
        }
    }
    lines.extend((node.critical > 0).then(|| format!("on the critical path: {}", count(node.critical))));
    lines.extend((node.unsure > 0).then(|| format!("uncertain, because records were lost or clocks differ: {}", count(node.unsure))));
    lines.extend((node.failed > 0).then(|| format!("failed: {}", count(node.failed))));
    lines
}

fn range(of: &Spread) -> String {
    if of.min == of.max { count(of.min) } else { format!("{} to {}, {:.1} on average", count(of.min), count(of.max), of.mean) }
}

fn data(node: &Node) -> Vec<(&'static str, Datum)> {
    let kind = if node.kind == NodeKind::Task { "task" } else { "file" };
    let mut data: Vec<(&'static str, Datum)> = vec![
        ("kind", kind.into()),
        ("members", node.members.into()),
        ("read_bytes", node.read_bytes.into()),
        ("written_bytes", node.written_bytes.into()),
        ("critical", node.critical.into()),
        ("uncertain", node.unsure.into()),
        ("in_degree", node.in_degree.into()),
        ("out_degree", node.out_degree.into()),
    ];
    data.extend(node.directory.as_deref().map(|directory| ("directory", visible(directory).as_str().into())));
    data.extend(node.host.as_deref().map(|host| ("host", visible(host).as_str().into())));
    data.extend(node.life_time_ns.map(|times| ("life_time_median_s", (times.median / 1e9).into())));
    data.extend(node.life_time_ns.map(|times| ("life_time_sum_s", (times.sum as f64 / 1e9).into())));
    data.extend(node.fan_in.map(|of| ("fan_in_mean", of.mean.into())));
    data.extend(node.fan_out.map(|of| ("fan_out_mean", of.mean.into())));
    data.extend(node.betweenness.map(|value| ("betweenness", value.into())));
    data
}

fn word(kind: EdgeKind) -> &'static str {
    match kind {
        EdgeKind::Write => "wrote",
        EdgeKind::Read => "read by",
        EdgeKind::Data => "data to",
        EdgeKind::Declared => "waited for by",
        EdgeKind::Fork => "forked",
        EdgeKind::Inferred => "probably waited for by",
    }
}

fn rate(edge: &Edge) -> Option<String> {
    edge.bytes_per_s.filter(|rate| rate.is_finite()).map(|rate| format!("{}/s", axis::bytes(rate.round() as i64)))
}

fn line_of(found: &RunDag, edge: &Edge, bytes: WidthScale, slow: TimeScale) -> Line {
    let name = |at: u32| found.nodes.get(at as usize).map_or(String::new(), |node| visible(&label(node)));
    let moved = edge.bytes.map(|n| n.max(0).unsigned_abs());
    let mut title = vec![format!("{} → {}", name(edge.from), name(edge.to)), format!("{}: {}", word(edge.kind), count(edge.count))];
    title.extend(edge.bytes.map(axis::bytes));
    title.extend(edge.time_ns.map(|ns| format!("{} from the first to the last access of each, added up", duration(ns as f64))));
    title.extend(rate(edge));
    title.extend((edge.doubtful > 0).then(|| format!("order uncertain, because clocks differ: {}", count(edge.doubtful))));
    title.extend(edge.critical.then(|| "on the critical path".to_owned()));
    let mut label: Vec<String> = edge.bytes.map(axis::bytes).into_iter().collect();
    label.extend(rate(edge));
    if moved.is_none() && edge.count > 1 {
        label.push(count(edge.count));
    }
    let mut data: Vec<(&'static str, Datum)> = vec![("kind", kind_name(edge.kind).into()), ("count", edge.count.into())];
    data.extend(edge.bytes.map(|n| ("bytes", n.into())));
    data.extend(edge.time_ns.map(|ns| ("time_s", (ns as f64 / 1e9).into())));
    data.extend(edge.bytes_per_s.map(|rate| ("bytes_per_s", rate.into())));
    data.push(("critical", u64::from(edge.critical).into()));
    data.push(("doubtful", edge.doubtful.into()));
    if edge.kind == EdgeKind::Inferred {
        data.push(("confidence", edge.confidence.into()));
        title.push(format!("inferred, with confidence {:.2}", edge.confidence));
    }
    let colour = match (moved, time_for_a_mib(edge)) {
        _ if edge.kind == EdgeKind::Inferred => INFERRED.to_owned(),
        (None, _) => WITHOUT_DATA.to_owned(),
        (Some(_), Some(time)) => slow.colour(time),
        (Some(_), None) => "#5b6b7f".to_owned(),
    };
    Line {
        from: edge.from as usize,
        to: edge.to as usize,
        label,
        colour,
        width: match edge.kind {
            EdgeKind::Inferred => 0.8,
            _ => moved.map_or(1.2, |n| bytes.width(n)),
        },
        dashed: moved.is_none() || edge.doubtful > 0,
        mark: if edge.critical { Mark::Halo } else { Mark::None },
        weight: if edge.critical { edge.count.saturating_add(1000) } else { edge.count },
        title,
        data,
        ..Line::default()
    }
}

fn kind_name(kind: EdgeKind) -> &'static str {
    match kind {
        EdgeKind::Write => "write",
        EdgeKind::Read => "read",
        EdgeKind::Data => "data",
        EdgeKind::Declared => "declared",
        EdgeKind::Fork => "fork",
        EdgeKind::Inferred => "inferred",
    }
}

/// For a terminal: the nodes with most to see, and their numbers.
pub fn text(found: &RunDag) -> String {
    let mut out = super::text_head(facts(found));
    if found.nodes.is_empty() {
        return out;
    }
    let column =
        |group: &str, heading: &str, right: bool, cells: Vec<String>| Column { group: group.into(), heading: heading.into(), right, cells };
    let mean = |of: &Option<Spread>| {
        of.as_ref().map_or(String::new(), |of| if of.min == of.max { count(of.min) } else { format!("{:.1}", of.mean) })
    };
    let kinds: &[NodeKind] = if found.files_by == FilesBy::None { &[NodeKind::Task] } else { &[NodeKind::Task, NodeKind::File] };
    for &kind in kinds {
        let all: Vec<&Node> = by_weight(found).into_iter().map(|at| &found.nodes[at]).filter(|node| node.kind == kind).collect();
        let nodes: Vec<&Node> = all.iter().take(LISTED).copied().collect();
        let cells = |cell: &dyn Fn(&Node) -> String| nodes.iter().map(|node| cell(node)).collect::<Vec<String>>();
        let bytes = |n: i64| if n == 0 { String::new() } else { axis::bytes(n) };
        let of_tasks = kind == NodeKind::Task;
        let (into, from) = if of_tasks { ("files read", "files written") } else { ("written by", "read by") };
        let mut table = vec![
            column("", if of_tasks { found.noun } else { "file" }, false, cells(&label)),
            column("", "how many", true, cells(&|node| count(node.members))),
            column("", "life time", true, cells(&|node| node.life_time_ns.map_or(String::new(), |times: Stats| duration(times.median)))),
            column("bytes", "read", true, cells(&|node| bytes(node.read_bytes))),
            column("bytes", "written", true, cells(&|node| bytes(node.written_bytes))),
            column("each", into, true, cells(&|node| mean(&node.accesses_in))),
            column("each", from, true, cells(&|node| mean(&node.accesses_out))),
        ];
        if of_tasks {
            table.push(column("each", "waits for", true, cells(&|node| mean(&node.fan_in))));
            table.push(column("each", "waited for by", true, cells(&|node| mean(&node.fan_out))));
        }
        table.push(column("", "between", true, cells(&|node| node.betweenness.map_or(String::new(), |value| format!("{value:.3}")))));
        let critical = |node: &Node| if node.critical > 0 { "critical".to_owned() } else { String::new() };
        table.push(column("", "", false, cells(&critical)));
        out.push('\n');
        out.push_str(&text_table::write(&table));
        let more = all.len() - nodes.len();
        if more > 0 {
            let _ = writeln!(out, "and {} with fewer bytes (--format csv has all)", counted(more as u64, "line", "lines"));
        }
    }
    out.push_str("\nlife time is the median; between is the share of shortest paths that lead through it\n");
    out
}

/// Writes the nodes as a table.
///
/// # Errors
/// When `out` cannot be written.
pub fn csv(found: &RunDag, out: impl Write) -> io::Result<()> {
    let spreads = ["accesses_in", "accesses_out", "fan_in", "fan_out"];
    let mut columns: Vec<String> = [
        "node",
        "kind",
        "name",
        "directory",
        "members",
        "role",
        "host",
        "life_time_median_s",
        "life_time_sum_s",
        "started",
        "ended",
        "read_bytes",
        "written_bytes",
        "read_back_bytes",
        "critical",
        "uncertain",
        "failed",
        "in_degree",
        "out_degree",
        "betweenness",
    ]
    .map(str::to_owned)
    .to_vec();
    columns.extend(spreads.iter().flat_map(|of| ["min", "mean", "max"].map(|what| format!("{of}_{what}"))));
    let mut csv = Csv::new(out, &columns.iter().map(String::as_str).collect::<Vec<_>>())?;
    for (at, node) in found.nodes.iter().enumerate() {
        let kind = if node.kind == NodeKind::Task { found.noun } else { "file" };
        let role = node.role.map_or("", |role| match role {
            Role::Input => "input",
            Role::Between => "between",
            Role::Output => "output",
        });
        csv.count(at as u64).text(kind).text(&node.name);
        csv.number(node.directory.as_deref().map(super::csv::field)).count(node.members).number((!role.is_empty()).then_some(role));
        csv.number(node.host.as_deref().map(super::csv::field));
        csv.number(node.life_time_ns.and_then(|times| mean_seconds(times.median)));
        csv.number(node.life_time_ns.map(|times| seconds(times.sum)));
        csv.number(node.started_ns.map(calendar::iso)).number(node.ended_ns.map(calendar::iso));
        csv.number(Some(node.read_bytes)).number(Some(node.written_bytes)).number(Some(node.read_back_bytes));
        csv.count(node.critical).count(node.unsure).count(node.failed).count(node.in_degree).count(node.out_degree);
        csv.number(node.betweenness);
        for of in [&node.accesses_in, &node.accesses_out, &node.fan_in, &node.fan_out] {
            csv.number(of.map(|of| of.min)).number(of.map(|of| of.mean)).number(of.map(|of| of.max));
        }
        csv.end()?;
    }
    csv.finish()
}

/// Writes the lines as a table.
///
/// # Errors
/// When `out` cannot be written.
pub fn edges_csv(found: &RunDag, out: impl Write) -> io::Result<()> {
    let columns =
        ["from", "to", "from_name", "to_name", "kind", "count", "bytes", "time_s", "bytes_per_s", "critical", "doubtful", "confidence"];
    let mut csv = Csv::new(out, &columns)?;
    for edge in &found.edges {
        let name = |at: u32| found.nodes.get(at as usize).map_or("", |node| node.name.as_str());
        csv.count(edge.from.into()).count(edge.to.into()).text(name(edge.from)).text(name(edge.to)).text(kind_name(edge.kind));
        csv.count(edge.count).number(edge.bytes).number(edge.time_ns.map(|ns| seconds(ns.into()))).number(edge.bytes_per_s);
        csv.number(Some(edge.critical)).count(edge.doubtful).number(Some(edge.confidence)).end()?;
    }
    csv.finish()
}

impl Document for RunDag {
    const FORMAT: &'static str = "flowmine-run-dag";
}

/// The format of the JSON document.
pub const DOCUMENT: DocumentFormat = DocumentFormat::new::<RunDag>();

/// Writes the whole graph as JSON (`flowmine-run-dag`).
///
/// # Errors
/// When `out` cannot be written.
pub fn json(found: &RunDag, out: impl Write) -> io::Result<()> {
    document::write(found, out)
}

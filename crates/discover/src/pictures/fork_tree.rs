//! A fork tree: as a picture and as text with a line for each node, as a graph for other programs,
//! as a table and as JSON (`flowmine-fork-tree`).

use std::fmt::Write as _;
use std::io::{self, Write};

use flowmine_draw::axis::{self, Axis, SMALL, Ticks};
use flowmine_draw::document::{self, Document, DocumentFormat};
use flowmine_draw::graph::{Edge as Line, Graph, Node as Box};
use flowmine_draw::legend::{Entry, Sample};
use flowmine_draw::scale::{WidthScale, box_colour};
use flowmine_draw::sheet::{Frame, Num, Sheet, TEXT, WEAK_TEXT};
use flowmine_draw::text::{count, counted, duration, visible, width};

use super::csv::{Csv, mean_seconds, seconds};
use super::page::{INNER, MARGIN, NAME, Page, name_in, nothing};
use super::text_table::{self, Column};
use crate::fork_tree::{Fold, Node, ProcessTree};

/// So many nodes have a line; those with most CPU time and bytes, below them included, come first.
const SHOWN: usize = 80;

/// What a program is called that is not known.
const UNKNOWN: &str = "(not known)";

fn facts(found: &ProcessTree) -> (Vec<String>, Vec<String>) {
    let folded = match found.fold {
        Fold::Never => "each with a line of its own",
        Fold::Equal => "those of one parent that run the same and forked the same are one",
        Fold::Alike => "those of one parent that run the same and forked the same programs, however often, are one",
        Fold::Name => "those of one parent that run the same program are one",
    };
    let took = found.time_ns.map_or(String::new(), |ns| format!(", {} from the first start to the last end", duration(ns as f64)));
    let on = if found.hosts > 1 { format!(" on {} hosts", count(found.hosts)) } else { String::new() };
    let facts = vec![
        format!("{}{on}{took}; {folded}.", counted(found.processes, "process", "processes")),
        "Time is that of one from start to end (the median where there are several); CPU time and bytes of files are those of all of the line, \
         without what they forked."
            .to_owned(),
    ];
    let processes = |n: u64, what: &str| format!("{} {what}", counted(n, "process", "processes"));
    let left_out = [
        (found.idle_before, processes(found.idle_before, "that ran before the trace, forked nothing and used no file")),
        (found.circular, processes(found.circular, "whose parents lead in a circle")),
        (
            found.lost,
            format!(
                "operations that {} reported as lost",
                counted(found.lost, "record of a fork, a program or an end", "records of forks, programs or ends")
            ),
        ),
    ];
    (facts, left_out.into_iter().filter(|(n, _)| *n > 0).map(|(_, words)| words).collect())
}

fn name(node: &Node) -> String {
    node.program.clone().unwrap_or_else(|| UNKNOWN.to_owned())
}

/// The name with how many there are.
fn label(node: &Node) -> String {
    let times = if node.processes > 1 { format!(" × {}", count(node.processes)) } else { String::new() };
    format!("{}{times}", visible(&name(node)))
}

/// What else there is to say, in a few words.
fn notes(node: &Node) -> String {
    let mut notes = Vec::new();
    if node.forked_only {
        notes.push("no program of its own".to_owned());
    }
    if node.failed > 0 {
        notes.push(if node.processes == 1 { "failed".to_owned() } else { format!("{} failed", count(node.failed)) });
    }
    if node.without_end > 0 {
        notes.push(if node.processes == 1 { "end not known".to_owned() } else { format!("end of {} not known", count(node.without_end)) });
    }
    notes.join(", ")
}

fn bytes(n: i64) -> String {
    if n == 0 { String::new() } else { axis::bytes(n) }
}

fn time(node: &Node) -> String {
    node.time_ns.map_or(String::new(), |times| duration(times.median))
}

fn cpu(node: &Node) -> String {
    node.cpu_ns.map_or(String::new(), |ns| duration(ns as f64))
}

/// The nodes that have a line, in order, and how many do not.
fn shown(found: &ProcessTree) -> (Vec<usize>, usize) {
    let mut all: Vec<usize> = (0..found.nodes.len()).collect();
    // What forked a node has at least its sums and comes before it, so that no node is shown without its parent.
    let sums = |at: usize| {
        let node = &found.nodes[at];
        (node.all_cpu_ns, flowmine_sums::add(node.all_read_bytes, node.all_written_bytes))
    };
    all.sort_by(|&a, &b| sums(b).cmp(&sums(a)).then(a.cmp(&b)));
    all.truncate(SHOWN);
    all.sort_unstable();
    let hidden = found.nodes.len() - all.len();
    (all, hidden)
}

/// The tree as text for a terminal: a line for each node.
pub fn text(found: &ProcessTree) -> String {
    let mut out = super::text_head(facts(found));
    if found.nodes.is_empty() {
        return out;
    }
    out.push('\n');
    let (lines, hidden) = shown(found);
    let nodes: Vec<&Node> = lines.iter().map(|&at| &found.nodes[at]).collect();
    let column =
        |heading: &str, right: bool, cells: Vec<String>| Column { group: String::new(), heading: heading.to_owned(), right, cells };
    let indented = |node: &&Node| format!("{}{}", "  ".repeat(node.depth.min(12) as usize), label(node));
    out.push_str(&text_table::write(&[
        column("process", false, nodes.iter().map(indented).collect()),
        column("time", true, nodes.iter().map(|node| time(node)).collect()),
        column("CPU", true, nodes.iter().map(|node| cpu(node)).collect()),
        column("read", true, nodes.iter().map(|node| bytes(node.read_bytes)).collect()),
        column("written", true, nodes.iter().map(|node| bytes(node.written_bytes)).collect()),
        column("", false, nodes.iter().map(|node| notes(node)).collect()),
    ]));
    if hidden > 0 {
        let _ = writeln!(out, "and {} with less CPU time and bytes (--format csv has all)", counted(hidden as u64, "line", "lines"));
    }
    out
}

const ROW: f64 = 19.0;
const INDENT: f64 = 15.0;
const TREE: f64 = 340.0;
/// Right ends of the columns with numbers.
const ENDS: [f64; 4] = [MARGIN + TREE + 72.0, MARGIN + TREE + 148.0, MARGIN + TREE + 228.0, MARGIN + TREE + 310.0];
const FIELD: f64 = MARGIN + TREE + 330.0;
const GUIDE: &str = "#b8bfc7";
const RAN: &str = "#2b7bba";
const FAILED: &str = "#a5122e";

/// The picture: a line for each node, indented below what forked it, with numbers and a bar from
/// its first start to its last end.
pub fn svg(found: &ProcessTree) -> String {
    let (facts, left_out) = facts(found);
    let mut page = Page { title: "Fork tree: which process forked which".to_owned(), facts, left_out, ..Page::default() };
    if found.nodes.is_empty() {
        return page.draw(|sheet, top| nothing(sheet, top, "No processes were traced."));
    }
    let (lines, hidden) = shown(found);
    if hidden > 0 {
        page.left_out.push(format!("{} with less CPU time and bytes", counted(hidden as u64, "line", "lines")));
    }
    let any_failed = lines.iter().any(|&at| found.nodes[at].failed > 0);
    let mut samples = vec![(RAN.to_owned(), "at least one ran".to_owned())];
    if any_failed {
        samples.push((FAILED.to_owned(), "failed: exit code or signal".to_owned()));
    }
    let note = if any_failed { "Red under a bar: some of them failed." } else { "" };
    page.legend.push(Entry::new("Bar", Sample::Swatches(samples), note));
    if lines.iter().any(|&at| found.nodes[at].without_end == found.nodes[at].processes) {
        let note = "No end is known: it ran on, or records were lost. The bar leads to the last moment of all.";
        page.legend.push(Entry::new("Pale bar", Sample::Words, note));
    }
    page.legend.push(Entry::new("Grey name", Sample::Words, "Ran no program of its own: it continued the program of its parent."));
    let first = found.nodes.iter().filter_map(|node| node.started_ns).min().unwrap_or(0);
    let last = found.nodes.iter().filter_map(|node| node.ended_ns.or(node.started_ns)).max().unwrap_or(first);
    let axis = Axis { low: 0.0, high: (last.saturating_sub(first)).max(1) as f64, from: FIELD, to: MARGIN + INNER - 8.0 };
    page.draw(|sheet, top| {
        for (end, words) in ENDS.iter().zip(["time", "CPU", "read", "written"]) {
            sheet.text(*end, top + 10.0, SMALL, WEAK_TEXT, "text-anchor=\"end\"", words);
        }
        let top = top + 18.0;
        let bottom = top + ROW * lines.len() as f64;
        let ticks = Ticks::of_time(&axis, 5.0);
        axis::across(sheet, &axis, &ticks, top, bottom);
        let mut line_of = vec![0; found.nodes.len()];
        for (line, &at) in lines.iter().enumerate() {
            line_of[at] = line;
            draw_guides(sheet, found, at, (&line_of, line), top);
            draw_row(sheet, &found.nodes[at], (&axis, first), top + ROW * line as f64);
        }
        let words = format!("time since the first start ({})", ticks.unit);
        sheet.text((axis.from + axis.to) / 2.0, bottom + 34.0, SMALL, WEAK_TEXT, "text-anchor=\"middle\"", &words);
        bottom + 40.0
    })
}

/// Where the name of a node of this depth begins.
fn left(depth: u32) -> f64 {
    MARGIN + INDENT * f64::from(depth.min(13))
}

fn draw_guides(sheet: &mut Sheet, found: &ProcessTree, at: usize, (line_of, line): (&[usize], usize), top: f64) {
    let node = &found.nodes[at];
    let Some(parent) = node.parent.filter(|_| node.depth <= 13) else { return };
    let x = left(node.depth) - INDENT + 5.0;
    let y = top + ROW * line as f64 + ROW / 2.0;
    let above = top + ROW * line_of[parent as usize] as f64 + ROW - 3.0;
    sheet.line((x, above), (x, y), GUIDE, 1.0, "");
    sheet.line((x, y), (x + INDENT - 8.0, y), GUIDE, 1.0, "");
}

fn draw_row(sheet: &mut Sheet, node: &Node, (axis, first): (&Axis, i64), y: f64) {
    sheet.body.push_str("<g>");
    sheet.title(&told(node));
    let x = left(node.depth);
    let colour = if node.forked_only { WEAK_TEXT } else { TEXT };
    let times = if node.processes > 1 { format!(" × {}", count(node.processes)) } else { String::new() };
    let room = MARGIN + TREE - x - width(&times, NAME);
    let words = format!("{}{times}", name_in(&name(node), NAME, room));
    sheet.text(x, y + 13.5, NAME, colour, "", &words);
    for (end, cell) in ENDS.iter().zip([time(node), cpu(node), bytes(node.read_bytes), bytes(node.written_bytes)]) {
        sheet.text(*end, y + 13.5, SMALL, TEXT, "text-anchor=\"end\"", &cell);
    }
    let all_failed = node.failed == node.processes;
    let x = |ns: i64| axis.at(ns.saturating_sub(first) as f64).clamp(axis.from, axis.to);
    let (mut ran, mut drawn_to) = (String::new(), f64::MIN);
    for (from, to) in &node.running_ns {
        // What lies within a pixel of the bar before cannot be seen.
        let (from, to) = (x(*from).max(drawn_to), x(*to).max(x(*from) + 1.0));
        if to - drawn_to >= 0.5 {
            let _ = write!(ran, "M{} {}H{}v9H{}z", Num(from), Num(y + 5.0), Num(to), Num(from));
            drawn_to = to;
        }
    }
    // Of what is not known to have ended the bar leads to the last moment of all.
    let pale = if node.without_end == node.processes { "fill-opacity=\"0.4\"" } else { "" };
    sheet.path(&ran, if all_failed { FAILED } else { RAN }, pale);
    if node.failed > 0 && !all_failed {
        let ends = node.started_ns.zip(node.running_ns.last()).map(|(start, (_, end))| (x(start), x(*end)));
        let (from, to) = ends.unwrap_or_default();
        sheet.rect(Frame { x: from, y: y + 14.0, w: (to - from).max(1.0), h: 2.0 }, 0.0, FAILED, None);
    }
    sheet.body.push_str("</g>\n");
}

/// All that is known of a node, in lines.
fn told(node: &Node) -> Vec<String> {
    let mut lines = vec![label(node)];
    lines.extend(node.pid.map(|pid| format!("process {pid}")));
    lines.extend(Some(notes(node)).filter(|notes| !notes.is_empty()));
    if let Some(owner) = &node.owner {
        let more = if node.owners > 1 { format!(" and {} more", count(node.owners - 1)) } else { String::new() };
        lines.push(format!("belongs to {}{more}", visible(owner)));
    }
    if let Some(times) = node.time_ns.filter(|times| times.count > 1) {
        let words = [("shortest", times.min as f64), ("median", times.median), ("longest", times.max as f64), ("sum", times.sum as f64)];
        lines.push(words.map(|(what, ns)| format!("{what} {}", duration(ns))).join(", "));
    } else if node.time_ns.is_some() {
        lines.push(format!("ran {}", time(node)));
    }
    lines.extend(node.cpu_ns.map(|ns| format!("CPU {}", duration(ns as f64))));
    let io = |what: &str, n: i64| format!("{what} {}", axis::bytes(n));
    if node.read_bytes > 0 || node.written_bytes > 0 {
        let parts =
            [io("read", node.read_bytes), io("wrote", node.written_bytes), format!("{} in reads and writes", duration(node.io_ns as f64))];
        lines.push(parts.join(", "));
    }
    let below = (node.all_read_bytes - node.read_bytes, node.all_written_bytes - node.written_bytes);
    if below.0 > 0 || below.1 > 0 {
        lines.push(format!("below it: {}, {}", io("read", below.0), io("wrote", below.1)));
    }
    lines
}

/// The tree as a graph, for other programs.
pub fn graph(found: &ProcessTree) -> Graph {
    let (facts, left_out) = facts(found);
    let scale = WidthScale::new(found.nodes.iter().map(|node| node.processes));
    let mut picture =
        Graph { name: "process_tree", title: "Fork tree: which process forked which".to_owned(), facts, left_out, ..Graph::default() };
    for (at, node) in found.nodes.iter().enumerate() {
        let mut lines = vec![time(node)];
        lines.extend(
            [("read", node.read_bytes), ("wrote", node.written_bytes)]
                .into_iter()
                .filter(|(_, n)| *n > 0)
                .map(|(what, n)| format!("{what} {}", axis::bytes(n))),
        );
        lines.retain(|line| !line.is_empty());
        let mut data = vec![
            ("processes", node.processes.into()),
            ("failed", node.failed.into()),
            ("read_bytes", node.read_bytes.into()),
            ("written_bytes", node.written_bytes.into()),
        ];
        data.extend(node.time_ns.map(|times| ("time_median_s", (times.median / 1e9).into())));
        data.extend(node.cpu_ns.map(|ns| ("cpu_s", (ns as f64 / 1e9).into())));
        let times = if node.processes > 1 { format!(" × {}", count(node.processes)) } else { String::new() };
        picture.nodes.push(Box {
            id: format!("p{at}"),
            name: format!("{}{times}", name(node)),
            lines,
            fill: box_colour(scale, node.processes),
            title: told(node),
            data,
            ..Box::default()
        });
        if let Some(parent) = node.parent {
            let title = vec![format!("forked {}", counted(node.processes, "process", "processes"))];
            picture.edges.push(Line {
                from: parent as usize,
                to: at,
                colour: "#5b6b7f".to_owned(),
                width: scale.width(node.processes),
                weight: node.processes,
                title,
                data: vec![("processes", node.processes.into())],
                ..Line::default()
            });
        }
    }
    picture
}

/// Writes the nodes as a table.
///
/// # Errors
/// When `out` cannot be written.
pub fn csv(found: &ProcessTree, out: impl Write) -> io::Result<()> {
    let columns = [
        "node",
        "parent",
        "depth",
        "program",
        "pid",
        "processes",
        "forked_only",
        "owner",
        "owners",
        "failed",
        "without_end",
        "time_median_s",
        "time_sum_s",
        "cpu_s",
        "read_bytes",
        "written_bytes",
        "io_s",
        "all_read_bytes",
        "all_written_bytes",
        "all_cpu_s",
    ];
    let mut csv = Csv::new(out, &columns)?;
    for (at, node) in found.nodes.iter().enumerate() {
        csv.count(at as u64).number(node.parent).count(node.depth.into());
        csv.text(node.program.as_deref().unwrap_or_default()).number(node.pid).count(node.processes);
        csv.text(if node.forked_only { "true" } else { "false" }).text(node.owner.as_deref().unwrap_or_default());
        csv.count(node.owners).count(node.failed).count(node.without_end);
        csv.number(node.time_ns.and_then(|times| mean_seconds(times.median))).number(node.time_ns.map(|times| seconds(times.sum)));
        csv.number(node.cpu_ns.map(|ns| seconds(ns.into()))).number(Some(node.read_bytes)).number(Some(node.written_bytes));
        csv.number(Some(seconds(node.io_ns.into()))).number(Some(node.all_read_bytes)).number(Some(node.all_written_bytes));
        csv.number(Some(seconds(node.all_cpu_ns.into())));
        csv.end()?;
    }
    csv.finish()
}

impl Document for ProcessTree {
    const FORMAT: &'static str = "flowmine-fork-tree";
}

/// The format of the JSON document.
pub const DOCUMENT: DocumentFormat = DocumentFormat::new::<ProcessTree>();

/// Writes the whole tree as JSON (`flowmine-fork-tree`).
///
/// # Errors
/// When `out` cannot be written.
pub fn json(found: &ProcessTree, out: impl Write) -> io::Result<()> {
    document::write(found, out)
}

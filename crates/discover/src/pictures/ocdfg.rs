//! An object-centric directly-follows graph as a picture, as JSON and as a table. In JSON the graph
//! of each type of objects is a document of [`super::dfg`].

use std::io::{self, Write};

use flowmine_draw::document::{self, Document, DocumentFormat, Entries, Whole};
use flowmine_draw::graph::{Edge as Line, Graph, Mark, Node, Shape};
use flowmine_draw::legend::{COLUMN, Entry, Sample};
use flowmine_draw::scale::{WidthScale, box_colour};
use flowmine_draw::svg::CASE_WIDTH;
use flowmine_draw::text::{count, counted, duration, visible};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::csv::Csv;
use super::dfg::{ALL_EDGES, Options, Show, USUAL_COVERAGE, bytes, cover, volumes};
use super::dfg_json::{JsonDfg, JsonStats};
use super::page::name_in;
use crate::dfg::Edge;
use crate::ocdfg::{OcActivity, OcDfg, TypeGraph};
use crate::stats::Stats;

/// Colours of types, distinguished with every common colour blindness (Okabe and Ito, without
/// yellow, which is too light on white).
const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#4d4d4d"];

/// The types that have objects, by number; only these have a colour.
fn drawn(found: &OcDfg) -> impl Iterator<Item = (usize, &TypeGraph)> {
    found.types.iter().filter(|of| of.dfg.cases > 0).enumerate()
}

fn colour(at: usize) -> &'static str {
    COLOURS[at % COLOURS.len()]
}

/// The picture of a graph.
pub fn graph(found: &OcDfg, options: &Options) -> Graph {
    let mut order: Vec<usize> = (0..found.activities.len()).filter(|&a| found.activities[a].events >= options.min_count).collect();
    order.sort_by_key(|&a| (std::cmp::Reverse(found.activities[a].events), a));
    order.truncate(options.most_activities);
    order.sort_unstable();
    let place_of = |name: &str| {
        let at = found.activities.binary_search_by(|known| known.name.as_str().cmp(name)).ok()?;
        order.binary_search(&at).ok()
    };
    let boxes = WidthScale::new(order.iter().map(|&a| found.activities[a].events));
    let mut picture = Graph { name: "ocdfg", title: "Object-centric directly-follows graph".to_owned(), ..Graph::default() };
    for &a in &order {
        let OcActivity { name, events: frequency, read_bytes, written_bytes } = &found.activities[a];
        let of_types = found.types.iter().filter_map(|of| {
            let at = of.dfg.activities.iter().find(|activity| activity.name == *name)?;
            Some(format!("{}: {} in {}", visible(&of.kind), count(at.frequency), counted(at.cases, "object", "objects")))
        });
        let mut title = vec![visible(name), counted(*frequency, "event", "events")];
        title.extend(of_types);
        let moved = [("read", read_bytes), ("wrote", written_bytes)];
        let moved: Vec<(&str, Stats)> = moved.into_iter().filter_map(|(verb, stats)| Some((verb, (*stats)?))).collect();
        title.extend(moved.iter().map(|(verb, stats)| format!("{verb}: {}", volumes(stats))));
        let mut lines = vec![count(*frequency)];
        if matches!(options.show, Show::All | Show::Bytes | Show::Path) && !moved.is_empty() {
            lines.push(moved.iter().map(|(verb, stats)| format!("{verb} {}", bytes(stats.sum))).collect::<Vec<_>>().join(" · "));
        }
        let mut data = vec![("frequency", (*frequency).into())];
        data.extend(read_bytes.map(|stats| ("read_bytes", stats.sum.into())));
        data.extend(written_bytes.map(|stats| ("written_bytes", stats.sum.into())));
        picture.nodes.push(Node {
            id: format!("a{a}"),
            name: name.clone(),
            lines,
            fill: box_colour(boxes, *frequency),
            title,
            data,
            ..Node::default()
        });
    }
    let chosen: Vec<Vec<usize>> = choose(found, options, &|name| place_of(name).is_some());
    let all: Vec<&Edge> = drawn(found).zip(&chosen).flat_map(|((_, of), list)| list.iter().map(|&e| &of.dfg.edges[e])).collect();
    let widths = WidthScale::new(all.iter().map(|edge| edge.frequency));
    let (mut hidden, mut hidden_steps, mut total_steps, mut total) = (0usize, 0u64, 0u64, 0usize);
    for ((at, of), list) in drawn(found).zip(&chosen) {
        let name = |activity: usize| of.dfg.activities.get(activity).map_or("", |a| a.name.as_str());
        total += of.dfg.edges.len();
        total_steps += of.dfg.edges.iter().map(|edge| edge.frequency).sum::<u64>();
        hidden += of.dfg.edges.len() - list.len();
        let shown: u64 = list.iter().map(|&e| of.dfg.edges[e].frequency).sum();
        hidden_steps += of.dfg.edges.iter().map(|edge| edge.frequency).sum::<u64>() - shown;
        for &e in list {
            let edge = &of.dfg.edges[e];
            let (Some(from), Some(to)) = (place_of(name(edge.from)), place_of(name(edge.to))) else { continue };
            picture.edges.push(line(of, edge, options, (from, to), colour(at), widths));
        }
        terminals(&mut picture, of, at, &place_of);
    }
    picture.facts = facts(found);
    if order.len() < found.activities.len() {
        let hidden = (found.activities.len() - order.len()) as u64;
        picture.left_out.push(format!("{} of {} activities, the rarest", count(hidden), count(found.activities.len() as u64)));
    }
    if hidden > 0 {
        picture.left_out.push(format!(
            "{} of {} lines, with {} of {} steps (--coverage 100 shows all)",
            count(hidden as u64),
            count(total as u64),
            count(hidden_steps),
            count(total_steps)
        ));
    }
    picture.legend = legend(found, options, boxes, widths, order.is_empty());
    picture
}

fn choose(found: &OcDfg, options: &Options, shown: &dyn Fn(&str) -> bool) -> Vec<Vec<usize>> {
    let possible: Vec<Vec<usize>> = drawn(found)
        .map(|(_, of)| {
            let visible = |activity: usize| of.dfg.activities.get(activity).is_some_and(|a| shown(&a.name));
            let wanted = |e: &usize| {
                let edge = &of.dfg.edges[*e];
                visible(edge.from) && visible(edge.to) && edge.frequency.max(1) >= options.min_count
            };
            (0..of.dfg.edges.len()).filter(wanted).collect()
        })
        .collect();
    let all: usize = possible.iter().map(Vec::len).sum();
    match options.coverage {
        None if all <= ALL_EDGES => possible,
        coverage => {
            let share = coverage.unwrap_or(USUAL_COVERAGE);
            let most = if coverage.is_none() { ALL_EDGES / possible.len().max(1) } else { usize::MAX };
            drawn(found).zip(possible).map(|((_, of), list)| cover(&of.dfg, list, share, most, &[])).collect()
        }
    }
}

fn line(of: &TypeGraph, edge: &Edge, options: &Options, (from, to): (usize, usize), colour: &str, widths: WidthScale) -> Line {
    let wait = edge.wait_ns.map(|wait| duration(options.time.of(&wait)));
    let label = match options.show {
        Show::Frequency => vec![count(edge.frequency)],
        Show::Time => wait.into_iter().collect(),
        Show::All | Show::Bytes | Show::Path => {
            let mut parts = vec![count(edge.frequency)];
            parts.extend(wait);
            vec![parts.join(" · ")]
        }
    };
    let name = |activity: usize| of.dfg.activities.get(activity).map_or(String::new(), |a| visible(&a.name));
    let mut title = vec![
        format!("{}: {} → {}", visible(&of.kind), name(edge.from), name(edge.to)),
        format!("{} of {}", counted(edge.frequency, "time", "times"), counted(edge.cases, "object", "objects")),
    ];
    title.extend(edge.wait_ns.map(|w| format!("median {}, mean {}, p95 {}", duration(w.median), duration(w.mean), duration(w.p95))));
    let mut data = vec![("type", of.kind.as_str().into()), ("frequency", edge.frequency.into()), ("objects", edge.cases.into())];
    data.extend(edge.wait_ns.iter().flat_map(|w| {
        [("wait_sum_s", w.sum as f64), ("wait_mean_s", w.mean), ("wait_median_s", w.median), ("wait_p95_s", w.p95)]
            .map(|(name, ns)| (name, (ns / 1e9).into()))
    }));
    Line {
        from,
        to,
        label,
        colour: colour.to_owned(),
        width: widths.width(edge.frequency),
        dashed: edge.frequency == 0,
        mark: Mark::None,
        weight: edge.frequency.max(1),
        title,
        data,
        ..Line::default()
    }
}

/// Where objects of a type begin and end: the most frequent ones.
fn terminals(picture: &mut Graph, of: &TypeGraph, at: usize, place_of: &dyn Fn(&str) -> Option<usize>) {
    let ends = [(&of.dfg.starts, "▶", "begin", Shape::Start, "start"), (&of.dfg.ends, "■", "end", Shape::End, "end")];
    for (list, sign, verb, shape, id) in ends {
        let mut shown: Vec<(usize, u64)> =
            list.iter().filter_map(|&(a, n)| Some((place_of(&of.dfg.activities.get(a)?.name)?, n))).collect();
        shown.sort_by_key(|&(a, n)| (std::cmp::Reverse(n), a));
        shown.truncate(4);
        if shown.is_empty() {
            continue;
        }
        let node = picture.nodes.len();
        picture.nodes.push(Node {
            id: format!("{id}{at}"),
            shape,
            name: format!("{sign} {}", of.kind),
            title: vec![format!("where objects of type {} {verb}", visible(&of.kind))],
            ..Node::default()
        });
        for (activity, n) in shown {
            let (from, to) = if shape == Shape::Start { (node, activity) } else { (activity, node) };
            picture.edges.push(Line {
                from,
                to,
                label: vec![count(n)],
                colour: colour(at).to_owned(),
                width: CASE_WIDTH,
                dashed: true,
                weight: n,
                title: vec![format!("{} {verb} here", counted(n, "object", "objects"))],
                data: vec![("type", of.kind.as_str().into()), ("objects", n.into())],
                ..Line::default()
            });
        }
    }
}

fn facts(found: &OcDfg) -> Vec<String> {
    let mut facts = vec![format!(
        "{}, {}, {}.",
        counted(found.events, "event", "events"),
        counted(found.activities.len() as u64, "activity", "activities"),
        counted(found.types.len() as u64, "type of objects", "types of objects")
    )];
    for (_, of) in drawn(found) {
        let mut words = format!("{}: {}", of.kind, counted(of.dfg.cases, "object", "objects"));
        if of.dfg.empty_cases > 0 {
            words.push_str(&format!(" and {} without events", count(of.dfg.empty_cases)));
        }
        if let Some(lead) = &of.lead_ns {
            words.push_str(&format!(
                "; from first to last event median {}, mean {}, p95 {}",
                duration(lead.median),
                duration(lead.mean),
                duration(lead.p95)
            ));
        }
        words.push('.');
        facts.push(words);
    }
    let without: Vec<&str> = found.types.iter().filter(|of| of.dfg.cases == 0).map(|of| of.kind.as_str()).collect();
    if !without.is_empty() {
        facts.push(format!("No events of objects of type {}.", without.join(", ")));
    }
    if !found.words.filters.is_empty() {
        facts.push(format!("Filtered: {}", found.words.filters.join("; ")));
    }
    let left_out = found.left_out.sentences();
    if !left_out.is_empty() {
        facts.push(format!("In the log: {}.", left_out.join("; ")));
    }
    facts
}

fn legend(found: &OcDfg, options: &Options, boxes: WidthScale, widths: WidthScale, empty: bool) -> Vec<Entry> {
    let mut entries = Vec::new();
    if empty {
        return entries;
    }
    let swatches: Vec<_> = drawn(found).map(|(at, of)| (colour(at).to_owned(), name_in(&of.kind, 11.0, COLUMN - 26.0))).collect();
    let note = if swatches.len() > COLOURS.len() { "there are more types than colours: several types share a colour" } else { "" };
    entries.push(Entry::new("Line colour: type of objects", Sample::Swatches(swatches), note));
    let samples = boxes.samples().into_iter().map(|n| (box_colour(boxes, n), count(n))).collect();
    let has_bytes = found.activities.iter().any(|of| of.read_bytes.is_some() || of.written_bytes.is_some());
    let note = match options.show {
        Show::All | Show::Bytes | Show::Path if has_bytes => "an event of several objects counts once; read, wrote: bytes in sum",
        _ => "an event of several objects counts once",
    };
    entries.push(Entry::new("Box: activity and its events", Sample::Boxes(samples), note));
    let samples = widths.samples().into_iter().map(|n| (widths.width(n), count(n))).collect();
    let what = match options.show {
        Show::Frequency => "how often".to_owned(),
        Show::Time => format!("{} time between the events of an object", options.time.name()),
        Show::All | Show::Bytes | Show::Path => format!("how often · {} time between the events of an object", options.time.name()),
    };
    entries.push(Entry::new("Line width: how often", Sample::Widths(samples), what));
    entries.push(Entry::new(
        "Dashed: first and last of an object",
        Sample::Dashed(colour(0).to_owned(), CASE_WIDTH),
        "number of objects; the four most frequent of a type",
    ));
    entries
}

/// An object-centric directly-follows graph.
#[derive(Serialize, JsonSchema)]
struct Json<'a> {
    /// Number of events.
    events: u64,
    /// Filters that were applied before.
    filters: &'a [String],
    /// What is not in the graph, in sentences.
    left_out: Vec<String>,
    /// The activities.
    activities: Entries<'a, JsonActivity<'a>>,
    /// The types of objects, each with its graph.
    types: Vec<JsonType<'a>>,
}

/// An activity.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ActivityOfObjects")]
struct JsonActivity<'a> {
    /// Number of its events.
    frequency: u64,
    /// Its name.
    name: &'a str,
    /// Bytes read.
    read_bytes: Option<JsonStats>,
    /// Bytes written.
    written_bytes: Option<JsonStats>,
}

/// A type of objects.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Type")]
struct JsonType<'a> {
    /// Its name.
    r#type: &'a str,
    /// Number of objects with events.
    objects: u64,
    /// Number of objects without events.
    empty_objects: u64,
    /// Time from the first to the last event of an object, in seconds.
    lead_s: Option<JsonStats>,
    /// The graph, with the objects as cases.
    #[serde(serialize_with = "whole")]
    #[schemars(with = "Whole<'a, JsonDfg<'a>>")]
    graph: JsonDfg<'a>,
}

impl Document for Json<'_> {
    const FORMAT: &'static str = "flowmine-ocdfg";
}

/// The format of the JSON document.
pub const DOCUMENT: DocumentFormat = DocumentFormat::new::<Json<'static>>();

fn whole<S: Serializer>(graph: &JsonDfg<'_>, out: S) -> Result<S::Ok, S::Error> {
    Whole::new(graph).serialize(out)
}

fn json_type(of: &TypeGraph) -> JsonType<'_> {
    let TypeGraph { kind, dfg, lead_ns } = of;
    JsonType {
        r#type: kind,
        objects: dfg.cases,
        empty_objects: dfg.empty_cases,
        lead_s: JsonStats::seconds(lead_ns),
        graph: JsonDfg::new(dfg),
    }
}

fn json_activity(of: &OcActivity) -> JsonActivity<'_> {
    JsonActivity {
        frequency: of.events,
        name: &of.name,
        read_bytes: JsonStats::bytes(&of.read_bytes),
        written_bytes: JsonStats::bytes(&of.written_bytes),
    }
}

/// Writes the JSON document.
///
/// # Errors
/// When `out` cannot be written.
pub fn json(found: &OcDfg, out: &mut dyn Write) -> io::Result<()> {
    let json = Json {
        events: found.events,
        filters: &found.words.filters,
        left_out: found.left_out.sentences(),
        activities: Entries::new(&found.activities, json_activity),
        types: found.types.iter().map(json_type).collect(),
    };
    document::write(&json, out)
}

/// Writes the pairs of all types as a table.
///
/// # Errors
/// When `out` cannot be written.
pub fn csv(found: &OcDfg, out: &mut dyn Write) -> io::Result<()> {
    let columns =
        ["type", "from", "to", "frequency", "objects", "sum_s", "mean_s", "median_s", "p95_s", "min_s", "max_s", "stdev_s", "bytes"];
    let mut table = Csv::new(out, &columns)?;
    for of in &found.types {
        for edge in &of.dfg.edges {
            let name = |activity: usize| of.dfg.activities.get(activity).map_or("", |a| a.name.as_str());
            table.text(&of.kind).text(name(edge.from)).text(name(edge.to)).count(edge.frequency).count(edge.cases);
            let stats = edge.wait_ns.as_ref();
            let values: [Option<f64>; 7] = [
                stats.map(|s| s.sum as f64),
                stats.map(|s| s.mean),
                stats.map(|s| s.median),
                stats.map(|s| s.p95),
                stats.map(|s| s.min as f64),
                stats.map(|s| s.max as f64),
                stats.map(|s| s.stdev),
            ];
            values.into_iter().for_each(|value| {
                table.number(value.map(|ns| ns / 1e9));
            });
            table.number(edge.bytes.map(|bytes| bytes.sum));
            table.end()?;
        }
    }
    table.finish()
}

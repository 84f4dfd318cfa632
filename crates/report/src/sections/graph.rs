//! The graphs of the process: for each notion of a case and each kind of number, at several levels
//! of detail.

use std::collections::BTreeMap;

use flowmine_discover::dfg::Dfg;
use flowmine_discover::pictures::dfg::{self as picture, Options, Show};
use flowmine_discover::pictures::ocdfg as of_objects;
use flowmine_draw::embed::{self, Role};
use flowmine_draw::graph::{Datum, Graph as Figure};
use flowmine_draw::svg;
use flowmine_draw::text::counted;
use serde::Serialize;

use crate::ReportError;
use crate::block::{Graph, Level, packed};
use crate::view::{Behind, View, ViewGraph, Words, places};

/// Levels of detail: the share of activities and of steps that is shown.
const LEVELS: [f64; 3] = [0.5, 0.8, 1.0];

/// The most edges and activities that a level has: more is no figure, and takes long to lay out.
const MOST_EDGES: usize = 600;
const MOST_ACTIVITIES: usize = 200;

/// The most edges of a level of what is not shown first.
const MOST_EDGES_OF_OTHERS: usize = 200;

/// What nodes and edges can show.
const SHOWS: [(&str, Show); 4] =
    [("where the time is", Show::Path), ("frequency", Show::Frequency), ("time", Show::Time), ("bytes", Show::Bytes)];

/// A graph as the script reads it.
#[derive(Serialize)]
struct Stored {
    views: Vec<StoredView>,
    /// What lies behind the marks of all views.
    behind: Vec<Words>,
}

/// The graph of one notion that shows one kind of number.
#[derive(Serialize)]
struct StoredView {
    notion: usize,
    show: usize,
    first: usize,
    levels: Vec<Level>,
}

/// The graph of all views; `None` without a view.
pub fn block(views: &[View]) -> Result<Option<Graph>, ReportError> {
    let has_bytes = views.iter().any(|view| match &view.graph {
        ViewGraph::Cases(dfg, _) => has_bytes(dfg),
        ViewGraph::Objects(found, _) => found.types.iter().any(|of| has_bytes(&of.dfg)),
    });
    let shows: Vec<(&'static str, Show)> = SHOWS.into_iter().filter(|(_, show)| has_bytes || *show != Show::Bytes).collect();
    let mut stored = Stored { views: Vec::new(), behind: Vec::new() };
    for (notion, view) in views.iter().enumerate() {
        let mut places = BTreeMap::new();
        for (show, (_, of)) in shows.iter().enumerate() {
            let is_first = stored.views.is_empty();
            let drawing = Drawing { view, show: *of, prefix: format!("graph{notion}{show}"), is_first };
            let (levels, first) = drawing.levels(notion, &mut places, &mut stored.behind)?;
            stored.views.push(StoredView { notion, show, first, levels });
        }
    }
    let Some(first) = stored.views.first() else { return Ok(None) };
    let level = &first.levels[first.first];
    Ok(Some(Graph {
        notions: views.iter().map(|view| view.notion.clone()).collect(),
        shows: shows.iter().map(|(name, _)| *name).collect(),
        levels: first.levels.len(),
        first: first.first,
        name: level.name.clone(),
        svg: level.svg.clone(),
        data: packed(&serde_json::to_vec(&stored)?)?,
    }))
}

fn has_bytes(dfg: &Dfg) -> bool {
    dfg.activities.iter().any(|of| of.read_bytes.is_some() || of.written_bytes.is_some())
        || dfg.edges.iter().any(|edge| edge.bytes.is_some())
}

/// An activity or a pair of a graph: the type of objects, whether it is a pair, and its number.
type Place = (usize, bool, usize);

struct Drawing<'v> {
    view: &'v View,
    show: Show,
    prefix: String,
    is_first: bool,
}

impl Drawing<'_> {
    /// The levels, those that look alike once, and the one that is shown first: it has no more edges
    /// than a figure without options.
    fn levels(
        &self,
        notion: usize,
        places: &mut BTreeMap<(usize, Place), usize>,
        behind: &mut Vec<Words>,
    ) -> Result<(Vec<Level>, usize), ReportError> {
        let (mut levels, mut first): (Vec<Level>, usize) = (Vec::new(), 0);
        let mut before: Option<(usize, usize)> = None;
        let most_edges = if self.is_first { MOST_EDGES } else { MOST_EDGES_OF_OTHERS };
        for (at, share) in LEVELS.into_iter().enumerate() {
            let mut figure = self.figure(Some(share));
            let is_too_large = figure.edges.len() > most_edges;
            if is_too_large && !levels.is_empty() {
                continue;
            }
            if is_too_large {
                figure = self.figure(None);
            }
            let size = (figure.nodes.len(), figure.edges.len());
            let of = if is_too_large { "main steps".to_owned() } else { format!("{:.0} %", share * 100.0) };
            let name = format!("{of}: {}, {}", counted(size.0 as u64, "node", "nodes"), counted(size.1 as u64, "edge", "edges"));
            if let Some(level) = levels.last_mut().filter(|_| before == Some(size)) {
                level.name = name;
                continue;
            }
            before = Some(size);
            if size.1 <= picture::ALL_EDGES {
                first = levels.len();
            }
            let svg = embed::embedded(&svg::svg(&figure)?, &format!("{}{at}", self.prefix), Role::Group)?;
            let mut marks = BTreeMap::new();
            for (mark, place, words) in self.marks(&figure) {
                let number = *places.entry((notion, place)).or_insert_with(|| {
                    behind.push(words.clone());
                    behind.len() - 1
                });
                marks.insert(mark, number);
            }
            levels.push(Level { name, svg, marks });
        }
        Ok((levels, first))
    }

    /// The figure of a share of activities and steps; without one, of the main steps.
    fn figure(&self, share: Option<f64>) -> Figure {
        let usual = Options { show: self.show, ..Options::default() };
        let of = |activities: usize| match share {
            Some(share) => Options {
                coverage: Some(share),
                most_activities: ((activities as f64 * share).ceil() as usize).clamp(1, MOST_ACTIVITIES),
                ..usual
            },
            None => usual,
        };
        match &self.view.graph {
            ViewGraph::Cases(dfg, _) => picture::graph(dfg, &of(dfg.activities.len())),
            ViewGraph::Objects(found, _) => of_objects::graph(found, &of(found.activities.len())),
        }
    }

    /// The marks of a figure with what lies behind them.
    fn marks(&self, figure: &Figure) -> Vec<(String, Place, &Words)> {
        match &self.view.graph {
            ViewGraph::Cases(dfg, behind) => marks(figure, |_| Some((0, &**dfg, behind))),
            ViewGraph::Objects(found, behind) => {
                let types = places(found.types.iter().map(|of| of.kind.as_str()));
                let of = |at: usize| Some((at, &found.types[at].dfg, behind.get(at)?));
                marks(figure, |mark| match mark {
                    Wanted::Type(kind) => types.get(kind).copied().and_then(of),
                    // An activity is that of the type that has most of it.
                    Wanted::Activity(name) => {
                        let number = |dfg: &Dfg| dfg.activities.iter().find(|activity| activity.name == name).map(|of| of.frequency);
                        let most = (0..found.types.len()).max_by_key(|&at| (number(&found.types[at].dfg), std::cmp::Reverse(at)));
                        most.and_then(of)
                    }
                })
            }
        }
    }
}

/// What a graph is looked up by: the type of an edge, or the name of a node.
enum Wanted<'w> {
    Type(&'w str),
    Activity(&'w str),
}

/// The marks of a figure, with the graph that each is of.
fn marks<'g>(figure: &Figure, graph: impl Fn(Wanted<'_>) -> Option<(usize, &'g Dfg, &'g Behind)>) -> Vec<(String, Place, &'g Words)> {
    let mut found = Vec::new();
    let is_activity = |id: &str| id.strip_prefix('a').is_some_and(|number| number.parse::<usize>().is_ok());
    let place = |dfg: &Dfg, name: &str| dfg.activities.binary_search_by(|of| of.name.as_str().cmp(name)).ok();
    for node in figure.nodes.iter().filter(|node| is_activity(&node.id)) {
        let Some((kind, dfg, behind)) = graph(Wanted::Activity(&node.name)) else { continue };
        if let Some((at, words)) = place(dfg, &node.name).and_then(|at| Some((at, behind.activities.get(at)?))) {
            found.push((node.id.clone(), (kind, false, at), words));
        }
    }
    for (number, edge) in figure.edges.iter().enumerate() {
        let [from, to] = [edge.from, edge.to].map(|at| &figure.nodes[at]);
        if !is_activity(&from.id) || !is_activity(&to.id) {
            continue;
        }
        let kind = edge.data.iter().find_map(|(key, value)| match value {
            Datum::Text(kind) if *key == "type" => Some(kind.as_str()),
            _ => None,
        });
        let Some((kind, dfg, behind)) = graph(Wanted::Type(kind.unwrap_or_default())) else { continue };
        let Some(pair) = place(dfg, &from.name).zip(place(dfg, &to.name)) else { continue };
        let Ok(at) = dfg.edges.binary_search_by_key(&pair, |edge| (edge.from, edge.to)) else { continue };
        if let Some(words) = behind.edges.get(at) {
            found.push((format!("e{number}"), (kind, true, at), words));
        }
    }
    found
}

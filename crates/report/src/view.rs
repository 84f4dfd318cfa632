//! A process under one notion of what a case is: its graph, and what lies behind its marks.

use flowmine_activity_log::{ActivityLog, Cases, NONE};
use flowmine_discover::dfg::Dfg;
use flowmine_discover::ocdfg::{OcDfg, ocdfg};
use flowmine_discover::step_details::{self, Detail, Details};
use flowmine_discover::who::{Identities, Who};
use flowmine_draw::duration;
use flowmine_draw::text::{count, counted};
use flowmine_schema::text::visible;
use rustc_hash::FxHashMap;
use serde::Serialize;

/// The most instances and variants that are named behind a mark.
const NAMED: usize = 5;

/// A process under one notion of what a case is.
#[derive(Debug)]
pub struct View {
    /// The notion, in a few words.
    pub notion: String,
    pub(crate) graph: ViewGraph,
}

/// The graph of a view.
#[derive(Debug)]
pub(crate) enum ViewGraph {
    /// Cases of one kind.
    Cases(Box<Dfg>, Behind),
    /// Objects of several types; what lies behind the graph of each, in their order.
    Objects(Box<OcDfg>, Vec<Behind>),
}

/// What lies behind the marks of a graph, in words.
#[derive(Debug, Default)]
pub(crate) struct Behind {
    /// Of each activity.
    pub activities: Vec<Words>,
    /// Of each pair.
    pub edges: Vec<Words>,
}

/// What lies behind a mark, in words.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Words {
    /// What the times are.
    pub what: &'static str,
    /// Limits of the classes of times, in words.
    pub limits: Vec<String>,
    /// The number of times in each class.
    pub counts: Vec<u64>,
    /// The instances with the longest times.
    pub slowest: Vec<SlowWords>,
    /// The variants with most cases.
    pub variants: Vec<String>,
    /// Number of variants that have it.
    pub in_variants: u64,
}

/// An instance in words, with what identifies its row.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct SlowWords {
    /// Its time.
    pub time: String,
    /// What identifies it.
    pub who: String,
    /// The column of the table of instances that identifies it.
    pub column: &'static str,
    /// The value of that column.
    pub value: String,
}

impl View {
    /// A view of a log whose cases are these.
    pub fn of_cases(notion: impl Into<String>, log: &ActivityLog, cases: &Cases, dfg: Dfg) -> Self {
        let behind = Behind::new(log, cases, &dfg);
        Self { notion: notion.into(), graph: ViewGraph::Cases(Box::new(dfg), behind) }
    }

    /// A view of a log with all its types of objects; `None` where there are not two.
    pub fn of_objects(log: &ActivityLog) -> Option<Self> {
        let found = ocdfg(log, &[]);
        if found.types.len() < 2 {
            return None;
        }
        let of = |kind: &str| log.groups.iter().find(|cases| cases.kind == kind);
        let behind = found.types.iter().map(|of_type| of(&of_type.kind).map(|cases| Behind::new(log, cases, &of_type.dfg)));
        let behind = behind.map(Option::unwrap_or_default).collect();
        Some(Self { notion: "objects of all types".to_owned(), graph: ViewGraph::Objects(Box::new(found), behind) })
    }

    /// Whether it is a graph of steps.
    pub fn has_steps(&self) -> bool {
        match &self.graph {
            ViewGraph::Cases(dfg, _) => dfg.edges.iter().any(|edge| edge.frequency > 0),
            ViewGraph::Objects(found, _) => found.types.iter().any(|of| of.dfg.edges.iter().any(|edge| edge.frequency > 0)),
        }
    }

    /// Whether its graph counts the same as that of another.
    pub fn is_like(&self, other: &Self) -> bool {
        match (&self.graph, &other.graph) {
            (ViewGraph::Cases(a, _), ViewGraph::Cases(b, _)) => a.cases == b.cases && a.activities == b.activities && a.edges == b.edges,
            _ => false,
        }
    }
}

impl Behind {
    fn new(log: &ActivityLog, cases: &Cases, dfg: &Dfg) -> Self {
        let details = step_details::discover(log, cases, dfg, NAMED);
        let writer = Writer { log, cases, identities: Identities::new(log), details: &details };
        let words = |what, list: &[Detail]| list.iter().map(|detail| writer.words(what, detail)).collect();
        Self { activities: words("from start to end", &details.activities), edges: words("from the end to the next start", &details.edges) }
    }
}

struct Writer<'l> {
    log: &'l ActivityLog,
    cases: &'l Cases,
    identities: Identities,
    details: &'l Details,
}

impl Writer<'_> {
    fn words(&self, what: &'static str, detail: &Detail) -> Words {
        let (limits, counts) = detail
            .times
            .as_ref()
            .map_or_else(Default::default, |times| (times.limits_ns.iter().map(|ns| duration(*ns)).collect(), times.counts.clone()));
        let slowest = detail.slowest.iter().filter_map(|slow| {
            let case = (slow.case != NONE).then(|| visible(self.cases.names.get(slow.case)).into_owned());
            let who: Who = self.identities.who(slow.instance);
            let (column, value) = match (&who.job, &who.task, &case) {
                (Some(job), ..) => ("job", visible(job).into_owned()),
                (None, Some(task), _) => ("task", visible(task).into_owned()),
                (None, None, case) => ("case", case.clone()?),
            };
            let activity = visible(self.log.activity(slow.instance)).into_owned();
            let who = who.words().or(case).unwrap_or(activity);
            Some(SlowWords { time: duration(slow.ns as f64), who, column, value })
        });
        let variants = detail.variants.iter().map(|(number, cases)| {
            let sequence = self.details.variants.get(number);
            let first: Vec<_> = sequence.iter().flat_map(|of| &of.first).map(|name| visible(name)).collect();
            let more = sequence.map_or(0, |of| of.len.saturating_sub(of.first.len()));
            let more = if more > 0 { format!(" → {} more", count(more as u64)) } else { String::new() };
            format!("{}: {}{more}", counted(*cases, "case", "cases"), first.join(" → "))
        });
        let variants = variants.collect();
        Words { what, limits, counts, slowest: slowest.collect(), variants, in_variants: detail.in_variants }
    }
}

/// The place of each name.
pub(crate) fn places<'n>(names: impl Iterator<Item = &'n str>) -> FxHashMap<&'n str, usize> {
    names.enumerate().map(|(at, name)| (name, at)).collect()
}

//! Handover of work: a log and its cases in, pairs of resources that pass work on out.
//!
//! The relation is the directly-follows relation of instances ([`crate::dfg`]), by resource instead
//! of activity: an instance of one resource that follows an instance of another directly is a
//! handover (van der Aalst, Reijers and Song, "Discovering Social Networks from Event Logs", CSCW
//! 2005: handover of work with a depth of one). If several parallel instances end before one, it
//! waited for the last, so that each instance takes work over at most once. The time between is
//! from the end of the first to the start of the second.

use flowmine_activity_log::{ActivityLog, Cases, NONE, Names};
use schemars::JsonSchema;
use serde::Serialize;

use crate::about::About;
use crate::dfg::{self, dfg};
use crate::stats::Stats;

/// Definition of a resource.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// Attribute with the values that pass work on; `None`: the resource.
    pub by: Option<String>,
}

/// Handovers of work between resources.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Handover {
    /// Description of the log.
    #[serde(flatten)]
    pub about: About,
    /// Definition of a resource: the attribute, or `resource`.
    pub by: String,
    /// Resources with instances in cases, by name; the entry for instances without a resource is
    /// last.
    pub resources: Vec<Resource>,
    /// Pairs of resources, by their indices in `resources`. Work that stays with a resource is a
    /// pair with itself.
    pub handovers: Vec<Pass>,
    /// Number of handovers from one resource to another, those without a resource left out.
    pub handed_over: u64,
    /// Number of steps at which work stayed with its resource.
    pub kept: u64,
}

/// A resource.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Resource {
    /// Name; null for instances without a known resource.
    pub name: Option<String>,
    /// Number of its instances in cases.
    pub instances: u64,
    /// Number of cases in which it has instances.
    pub cases: u64,
}

/// A pair of resources in which the second took work over from the first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Pass {
    /// Index of the first in [`Handover::resources`].
    pub from: usize,
    /// Index of the second in [`Handover::resources`].
    pub to: usize,
    /// Number of handovers.
    pub count: u64,
    /// Number of cases in which the second took over from the first.
    pub cases: u64,
    /// Time from the end of the first instance to the start of the second, in nanoseconds.
    pub between_ns: Option<Stats>,
}

/// Finds the handovers of a log.
pub fn discover(log: &ActivityLog, cases: &Cases, options: &Options) -> Handover {
    let attribute = options.by.as_ref().map(|key| log.attribute(key));
    let (names, of): (&Names, &[u32]) = match attribute {
        None => (&log.resources, &log.instances.resource),
        Some(Some(attribute)) => (&attribute.names, &attribute.of),
        Some(None) => (&log.resources, &[]),
    };
    // The last name is not a resource: it is for instances without one.
    let unknown = names.len() as u32;
    let number = |at: usize| of.get(at).copied().filter(|number| *number != NONE).unwrap_or(unknown);
    let graph = dfg(&by_resource(log, names.len(), number), cases);
    let mut found =
        Handover { about: About::new(log, cases), by: options.by.clone().unwrap_or_else(|| "resource".to_owned()), ..Handover::default() };
    // By name, not by the numbers of names in the graph.
    let mut order: Vec<(bool, &str, usize)> = graph
        .activities
        .iter()
        .enumerate()
        .map(|(at, activity)| {
            let number = activity.name.parse().unwrap_or(unknown);
            (number == unknown, if number == unknown { "" } else { names.get(number) }, at)
        })
        .collect();
    order.sort_unstable();
    let mut place = vec![0; order.len()];
    for (is_unknown, name, at) in order {
        place[at] = found.resources.len();
        let dfg::Activity { frequency, cases, .. } = graph.activities[at];
        found.resources.push(Resource { name: (!is_unknown).then(|| name.to_owned()), instances: frequency, cases });
    }
    for edge in graph.edges.iter().filter(|edge| edge.frequency > 0) {
        let (from, to) = (place[edge.from], place[edge.to]);
        let is_known = found.resources[from].name.is_some() && found.resources[to].name.is_some();
        if is_known {
            *if from == to { &mut found.kept } else { &mut found.handed_over } += edge.frequency;
        }
        found.handovers.push(Pass { from, to, count: edge.frequency, cases: edge.cases, between_ns: edge.wait_ns });
    }
    found.handovers.sort_by_key(|pass| (pass.from, pass.to));
    found
}

/// Returns the log with the number of a resource as the activity of each instance.
fn by_resource(log: &ActivityLog, known: usize, number: impl Fn(usize) -> u32) -> ActivityLog {
    let mut relabelled = log.clone();
    relabelled.activities = (0..=known).map(|number| number.to_string()).collect();
    relabelled.instances.activity = (0..log.len()).map(number).collect();
    relabelled.flows = None;
    relabelled
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]
mod tests {
    use flowmine_activity_log::{BytesFrom, InstanceRow, LogBuilder, Status, UNKNOWN};

    use super::*;

    /// Makes a log from the instances of cases: resource, start and end in seconds.
    fn log(cases: &[&[(&str, i64, i64)]]) -> ActivityLog {
        let mut builder = LogBuilder::new(&[]);
        for (number, case) in cases.iter().enumerate() {
            for &(resource, start, end) in *case {
                let activity = builder.activity("work");
                let resource = (!resource.is_empty()).then(|| builder.resource(resource));
                let row = InstanceRow {
                    activity,
                    ready_ns: UNKNOWN,
                    start_ns: start,
                    end_ns: end,
                    resource,
                    status: Status::Unknown,
                    attempt: 0,
                    measures: &[],
                    bytes_from: BytesFrom::Nobody,
                    attributes: &[],
                };
                builder.instance(&row).unwrap();
            }
            builder.end_case(&number.to_string()).unwrap();
        }
        builder.finish()
    }

    fn passes(found: &Handover) -> Vec<(Option<&str>, Option<&str>, u64, u64)> {
        let name = |at: usize| found.resources[at].name.as_deref();
        found.handovers.iter().map(|pass| (name(pass.from), name(pass.to), pass.count, pass.cases)).collect()
    }

    #[test]
    fn work_goes_from_resource_to_resource_or_stays() {
        let log = log(&[&[("b", 0, 10), ("a", 30, 40), ("a", 45, 50)], &[("b", 0, 5), ("a", 6, 7), ("b", 8, 9), ("a", 9, 12)]]);
        let found = discover(&log, log.cases().unwrap(), &Options::default());
        let (a, b) = (Some("a"), Some("b"));
        assert_eq!(passes(&found), [(a, a, 1, 1), (a, b, 1, 1), (b, a, 3, 2)]);
        assert_eq!((found.handed_over, found.kept), (4, 1));
        // 20, 1 and 0 seconds after the end of the previous one.
        assert_eq!(found.handovers[2].between_ns.map(|between| (between.count, between.sum, between.max)), Some((3, 21, 20)));
        assert_eq!(found.resources[0], Resource { name: Some("a".to_owned()), instances: 4, cases: 2 });
    }

    #[test]
    fn side_by_side_is_no_handover_and_the_last_to_end_hands_over() {
        let log = log(&[&[("a", 0, 10), ("b", 0, 20), ("c", 30, 40)]]);
        let found = discover(&log, log.cases().unwrap(), &Options::default());
        assert_eq!(passes(&found).iter().map(|pass| pass.2).sum::<u64>(), 2);
        assert!(!passes(&found).iter().any(|pass| (pass.0, pass.1) == (Some("a"), Some("b"))));
    }

    #[test]
    fn instances_without_a_resource_are_shown_and_not_counted() {
        let log = log(&[&[("10", 0, 1), ("", 2, 3), ("9", 4, 5)]]);
        let found = discover(&log, log.cases().unwrap(), &Options::default());
        assert_eq!(passes(&found), [(Some("10"), None, 1, 1), (None, Some("9"), 1, 1)]);
        assert_eq!((found.handed_over, found.kept), (0, 0));
        let by_missing = discover(&log, log.cases().unwrap(), &Options { by: Some("user".to_owned()) });
        assert_eq!(passes(&by_missing), [(None, None, 2, 1)]);
    }
}

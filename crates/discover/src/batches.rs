//! Batches (Martin, Swennen, Depaire, Jans, Caris & Vanhoof, *Batch Processing: Definition and
//! Event Log Identification*, SIMPDA 2015): a log in, the groups of instances of one activity that
//! one resource worked on together out, by PM4Py's definition (`discover_batches`).
//!
//! The instances of an activity and a resource are sorted by start and end. An instance belongs to
//! the batch before it if it starts no later than the merge distance after the end of that batch.
//! Groups below the smallest size are not batches. An instance without known times, with an end
//! before its start or without a resource is counted and is in no batch. An instance with a single
//! known moment starts and ends at that moment.

use flowmine_activity_log::{ActivityLog, Cases, NONE};
use schemars::JsonSchema;
use serde::Serialize;

use crate::about::About;
use crate::ranks::ranks;

/// Definition of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Maximum time from the end of one instance to the start of the next in the same batch, in
    /// nanoseconds. PM4Py's `merge_distance`.
    pub merge_distance_ns: i64,
    /// Minimum number of instances of a batch. PM4Py's `min_batch_size`.
    pub min_size: usize,
    /// Whether a batch belongs to one resource. Otherwise, instances of an activity are grouped
    /// wherever they ran.
    pub by_resource: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { merge_distance_ns: 900_000_000_000, min_size: 2, by_resource: true }
    }
}

/// Arrangement in time of the instances of a batch. If several kinds apply, the first one counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BatchKind {
    /// All start together and end together.
    Simultaneous,
    /// All start at the same moment.
    AtStart,
    /// All end at the same moment.
    AtEnd,
    /// Each starts when the one before it ends.
    Sequential,
    /// None of the other kinds, such as instances that overlap in time.
    Concurrent,
}

impl BatchKind {
    /// All kinds, in the order of the tests.
    pub const ALL: [Self; 5] = [Self::Simultaneous, Self::AtStart, Self::AtEnd, Self::Sequential, Self::Concurrent];

    /// Returns its name in lower case with underscores, such as `at_start`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Simultaneous => "simultaneous",
            Self::AtStart => "at_start",
            Self::AtEnd => "at_end",
            Self::Sequential => "sequential",
            Self::Concurrent => "concurrent",
        }
    }
}

/// The batches of a log.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Batches {
    /// Description of the log.
    #[serde(flatten)]
    pub about: About,
    /// The distance that was used, in nanoseconds.
    pub merge_distance_ns: i64,
    /// The smallest number of instances of a batch that was used.
    pub min_size: usize,
    /// Whether a batch belongs to one resource.
    pub by_resource: bool,
    /// Groups by activity and resource: those with most batches first, then by name.
    pub groups: Vec<Group>,
    /// Number of instances without a resource, if one is required.
    pub without_resource: u64,
    /// Number of instances with fewer than two known times.
    pub without_time: u64,
    /// Number of instances that end before they start.
    pub backwards: u64,
}

/// The batches of an activity and a resource.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Group {
    /// Name of the activity.
    pub activity: String,
    /// The resource; `None` if batches do not depend on resources.
    pub resource: Option<String>,
    /// Number of instances, in batches or not.
    pub instances: u64,
    /// Number of these instances that are in batches.
    pub in_batches: u64,
    /// Its batches, by their first start.
    pub batches: Vec<Batch>,
}

/// Instances of one activity (and resource) that were processed together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Batch {
    /// Arrangement in time of its instances.
    pub kind: BatchKind,
    /// The first start, UTC nanoseconds since 1970.
    pub start_ns: i64,
    /// The last end, UTC nanoseconds since 1970.
    pub end_ns: i64,
    /// Number of instances in the batch.
    pub instances: u64,
    /// The cases of the instances, each once, in the order of their first starts, then ends, then
    /// by name.
    pub cases: Vec<String>,
}

/// Activity, resource, start, end, rank of the case by name, instance.
type Key = (u32, u32, i64, i64, u32, u32);

/// Finds the batches of a log, by activity and, if requested, by resource.
pub fn discover(log: &ActivityLog, cases: &Cases, options: &Options) -> Batches {
    let mut found = Batches {
        about: About::new(log, cases),
        merge_distance_ns: options.merge_distance_ns,
        min_size: options.min_size.max(1),
        by_resource: options.by_resource,
        ..Batches::default()
    };
    let case_of = cases.of_instances(log.len());
    let ranks = ranks(&cases.names);
    let mut keys: Vec<Key> = Vec::with_capacity(log.len());
    for at in 0..log.len() as u32 {
        let resource = log.instances.resource.get(at as usize).copied().unwrap_or(NONE);
        let times = log.start_ns(at).zip(log.end_ns(at));
        match times {
            _ if options.by_resource && resource == NONE => found.without_resource += 1,
            _ if log.ends_before_start(at) => found.backwards += 1,
            None => found.without_time += 1,
            Some((start, end)) => {
                let resource = if options.by_resource { resource } else { NONE };
                let rank = ranks.get(case_of[at as usize] as usize).copied().unwrap_or(NONE);
                keys.push((log.instances.activity[at as usize], resource, start, end, rank, at));
            }
        }
    }
    keys.sort_unstable();
    for group in keys.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        let (activity, resource) = (group[0].0, group[0].1);
        let mut out = Group {
            activity: log.activities.get(activity).to_owned(),
            resource: (resource != NONE).then(|| log.resources.get(resource).to_owned()),
            instances: group.len() as u64,
            ..Group::default()
        };
        let mut first = 0;
        let mut end = i64::MIN;
        for at in 0..=group.len() {
            let apart = match group.get(at) {
                Some(next) => at > first && i128::from(next.2) - i128::from(end) > i128::from(options.merge_distance_ns.max(0)),
                None => true,
            };
            if apart {
                let members = &group[first..at];
                if members.len() >= found.min_size {
                    out.in_batches += members.len() as u64;
                    out.batches.push(batch(members, end, cases, &case_of));
                }
                (first, end) = (at, i64::MIN);
            }
            if let Some(next) = group.get(at) {
                end = end.max(next.3);
            }
        }
        if !out.batches.is_empty() {
            found.groups.push(out);
        }
    }
    found
        .groups
        .sort_by(|a, b| (b.batches.len().cmp(&a.batches.len())).then_with(|| (&a.activity, &a.resource).cmp(&(&b.activity, &b.resource))));
    found
}

fn batch(members: &[Key], end_ns: i64, cases: &Cases, case_of: &[u32]) -> Batch {
    let mut seen = rustc_hash::FxHashSet::default();
    let of = members.iter().map(|key| case_of[key.5 as usize]).filter(|&case| case != NONE && seen.insert(case));
    Batch {
        kind: kind(members),
        start_ns: members[0].2,
        end_ns,
        instances: members.len() as u64,
        cases: of.map(|case| cases.names.get(case).to_owned()).collect(),
    }
}

fn kind(members: &[Key]) -> BatchKind {
    let start = members.iter().all(|key| key.2 == members[0].2);
    let end = members.iter().all(|key| key.3 == members[0].3);
    match (start, end) {
        (true, true) => BatchKind::Simultaneous,
        (true, false) => BatchKind::AtStart,
        (false, true) => BatchKind::AtEnd,
        _ if members.windows(2).all(|pair| pair[0].3 == pair[1].2) => BatchKind::Sequential,
        _ => BatchKind::Concurrent,
    }
}

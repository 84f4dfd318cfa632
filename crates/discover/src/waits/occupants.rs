//! Occupants: users with running jobs in a partition while others waited there.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use flowmine_activity_log::{NONE, Names, WaitKind, WaitPart};
use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::Serialize;

use super::HELD_BY_OTHERS;
use super::rows::Keys;

/// Maximum number of users that are named.
const MOST: usize = 5;

/// A user who occupied CPUs of a partition while others waited there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Occupant {
    /// Name of the partition.
    pub partition: String,
    /// Name of the user.
    pub user: String,
    /// Core-time that the user's jobs ran meanwhile, in nanoseconds.
    pub core_ns: i128,
}

/// A time span: begin and end.
type Span = (i64, i64);

/// Time spans in which jobs waited and ran in each partition.
#[derive(Debug, Default)]
pub(super) struct Occupancy {
    waits: FxHashMap<(&'static str, u32), Vec<Span>>,
    runs: FxHashMap<u32, Vec<(Span, u32, i64)>>,
}

impl Occupancy {
    pub fn add(&mut self, part: &WaitPart<'_>, keys: &Keys, cpus: Option<i64>) {
        let partition = keys.partition();
        if partition == NONE {
            return;
        }
        let span = (part.from_ns, part.to_ns);
        if HELD_BY_OTHERS.contains(&part.cause) {
            self.waits.entry((part.cause, partition)).or_default().push(span);
        } else if part.kind == WaitKind::Started
            && let Some(cpus) = cpus
            && keys.user() != NONE
        {
            self.runs.entry(partition).or_default().push((span, keys.user(), cpus));
        }
    }

    /// Returns the users with most core-time while jobs waited for a cause.
    pub fn during(&self, cause: &str, names: &Names) -> Vec<Occupant> {
        // A waiting job can name several partitions.
        let mut waits: BTreeMap<&str, Vec<Span>> = BTreeMap::new();
        for ((_, asked), spans) in self.waits.iter().filter(|((of, _), _)| *of == cause) {
            for partition in names.get(*asked).split(',') {
                waits.entry(partition).or_default().extend(spans);
            }
        }
        let mut found: Vec<Occupant> = Vec::new();
        for (partition, runs) in self.runs.iter().map(|(of, runs)| (names.get(*of), runs)).collect::<BTreeMap<_, _>>() {
            let Some(spans) = waits.remove(partition) else { continue };
            let covered = Covered::new(spans);
            let mut by_user: FxHashMap<u32, i128> = FxHashMap::default();
            for &((from, to), user, cpus) in runs {
                *by_user.entry(user).or_default() += i128::from(covered.between(from, to)) * i128::from(cpus);
            }
            let of_users = by_user.into_iter().filter(|(_, core_ns)| *core_ns > 0);
            found.extend(of_users.map(|(user, core_ns)| Occupant {
                partition: partition.to_owned(),
                user: names.get(user).to_owned(),
                core_ns,
            }));
        }
        found.sort_by(|a, b| (Reverse(a.core_ns), &a.partition, &a.user).cmp(&(Reverse(b.core_ns), &b.partition, &b.user)));
        found.truncate(MOST);
        found
    }
}

/// Union of time spans.
struct Covered {
    /// Disjoint spans, ascending, each with the total length of those before it.
    spans: Vec<(Span, i64)>,
}

impl Covered {
    fn new(mut spans: Vec<Span>) -> Self {
        spans.sort_unstable();
        let mut merged: Vec<(Span, i64)> = Vec::new();
        for (from, to) in spans {
            match merged.last_mut() {
                Some((last, _)) if from <= last.1 => last.1 = last.1.max(to),
                _ => merged.push(((from, to), 0)),
            }
        }
        let mut before = 0i64;
        for (span, sum) in &mut merged {
            *sum = before;
            before = before.saturating_add(span.1.saturating_sub(span.0));
        }
        Self { spans: merged }
    }

    /// Returns the total length of the spans before a time.
    fn until(&self, time_ns: i64) -> i64 {
        let at = self.spans.partition_point(|((from, _), _)| *from < time_ns);
        let Some(((from, to), before)) = at.checked_sub(1).and_then(|at| self.spans.get(at)) else { return 0 };
        before.saturating_add(time_ns.min(*to).saturating_sub(*from))
    }

    fn between(&self, from_ns: i64, to_ns: i64) -> i64 {
        self.until(to_ns).saturating_sub(self.until(from_ns)).max(0)
    }
}

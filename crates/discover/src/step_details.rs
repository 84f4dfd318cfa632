//! Details of a directly-follows graph: for each activity and each pair, the distribution of times,
//! the slowest instances, and the variants that contain it.

use std::collections::BTreeMap;

use flowmine_activity_log::{ActivityLog, Cases, NONE, variants};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::dfg::{Dfg, for_each_step};
use crate::grouped::Grouped;

/// Number of classes of a distribution.
pub const CLASSES: usize = 12;

/// Maximum number of activities of a variant that are named.
pub const NAMED: usize = 12;

/// Maximum length of a sequence that is searched for activities and pairs.
const LONGEST: usize = 10_000;

/// Values in classes of equal width, or of equal ratio if they are far apart.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Distribution {
    /// The limits of the classes, in nanoseconds, one more than the number of classes.
    pub limits_ns: Vec<f64>,
    /// The number of values in each class; one on a limit is in the class above.
    pub counts: Vec<u64>,
}

impl Distribution {
    /// Returns the distribution of values; `None` without values.
    pub fn new(values: &[i64]) -> Option<Self> {
        let (low, high) = (*values.iter().min()?, *values.iter().max()?);
        if low == high {
            return Some(Self { limits_ns: vec![low as f64, high as f64], counts: vec![values.len() as u64] });
        }
        let (from, to) = (low as f64, high as f64);
        let is_ratio = low > 0 && to / from > 20.0;
        let limit = |at: usize| {
            let share = at as f64 / CLASSES as f64;
            if at == CLASSES {
                to
            } else if is_ratio {
                from * (to / from).powf(share)
            } else {
                from + (to - from) * share
            }
        };
        let limits_ns: Vec<f64> = (0..=CLASSES).map(limit).collect();
        let mut counts = vec![0; CLASSES];
        for &value in values {
            let class = limits_ns[1..CLASSES].partition_point(|limit| *limit <= value as f64);
            counts[class] += 1;
        }
        Some(Self { limits_ns, counts })
    }
}

/// One of the slowest instances.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slow {
    /// Its time, in nanoseconds.
    pub ns: i64,
    /// The instance; for a pair, the second one.
    pub instance: u32,
    /// Its case, or [`NONE`].
    pub case: u32,
}

/// Details of an activity or a pair.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Detail {
    /// The distribution of its times: from start to end, or from the end of the first to the start
    /// of the second; `None` if no time is known.
    pub times: Option<Distribution>,
    /// Instances with the longest times, longest first.
    pub slowest: Vec<Slow>,
    /// Variants with most cases that contain it: the number of each in the order of all variants,
    /// from 0, and its number of cases.
    pub variants: Vec<(u32, u64)>,
    /// Number of variants that contain it.
    pub in_variants: u64,
}

/// Details of a graph.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Details {
    /// Details of each activity, in the order of [`Dfg::activities`].
    pub activities: Vec<Detail>,
    /// Details of each pair, in the order of [`Dfg::edges`].
    pub edges: Vec<Detail>,
    /// Named variants, by their numbers.
    pub variants: BTreeMap<u32, Sequence>,
    /// Number of variants that are too long to be searched.
    pub long_variants: u64,
}

/// First activities of a variant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sequence {
    /// Its first activities, at most [`NAMED`].
    pub first: Vec<String>,
    /// Number of its activities.
    pub len: usize,
}

/// Times with their instances.
#[derive(Default)]
struct Times {
    slots: Vec<u32>,
    rows: Vec<Slow>,
}

impl Times {
    fn push(&mut self, slot: usize, ns: i64, instance: u32, case: u32) {
        self.slots.push(slot as u32);
        self.rows.push(Slow { ns, instance, case });
    }

    /// Returns the distribution and the slowest instances of each slot.
    fn finish(&self, slots: usize, most: usize) -> Vec<Detail> {
        let mut values = Grouped::new(slots, || self.slots.iter().copied().zip(self.rows.iter().map(|row| row.ns)));
        let mut details: Vec<Detail> =
            (0..slots).map(|slot| Detail { times: Distribution::new(values.get(slot)), ..Detail::default() }).collect();
        for (&slot, &row) in self.slots.iter().zip(&self.rows) {
            let slowest = &mut details[slot as usize].slowest;
            let place = slowest.partition_point(|of| (of.ns, std::cmp::Reverse(of.instance)) > (row.ns, std::cmp::Reverse(row.instance)));
            if place < most {
                slowest.insert(place, row);
                slowest.truncate(most);
            }
        }
        details
    }
}

/// Computes the details of a graph of a log, with at most `most` instances and variants each.
pub fn discover(log: &ActivityLog, cases: &Cases, dfg: &Dfg, most: usize) -> Details {
    let place: FxHashMap<&str, usize> = dfg.activities.iter().enumerate().map(|(at, of)| (of.name.as_str(), at)).collect();
    let places: Vec<Option<usize>> = log.activities.iter().map(|name| place.get(name).copied()).collect();
    let place_of = |instance: u32| places[log.instances.activity[instance as usize] as usize];
    let pairs: FxHashMap<(usize, usize), usize> = dfg.edges.iter().enumerate().map(|(at, edge)| ((edge.from, edge.to), at)).collect();
    let of_instance = cases.of_instances(log.len());
    let mut times = Times::default();
    for at in (0..log.len() as u32).filter(|&at| of_instance[at as usize] != NONE) {
        if let Some((slot, ns)) = place_of(at).zip(log.service_ns(at)) {
            times.push(slot, ns, at, of_instance[at as usize]);
        }
    }
    let mut waits = Times::default();
    // All cases of a variant have the same pairs: the first case of each is read.
    let known = variants(log, cases);
    let mut first = vec![NONE; known.variants.len()];
    for (case, &variant) in known.of_case.iter().enumerate().rev() {
        first[variant as usize] = case as u32;
    }
    let mut of_variant: FxHashMap<u32, FxHashSet<usize>> = FxHashMap::default();
    for_each_step(log, cases, |case, a, b| {
        let Some(edge) = place_of(a).zip(place_of(b)).and_then(|pair| pairs.get(&pair)) else { return };
        let start = log.start_ns(b).filter(|_| log.start_is_known(b));
        if let Some(ns) = log.end_ns(a).zip(start).and_then(|(end, start)| start.checked_sub(end)) {
            waits.push(*edge, ns, b, case);
        }
        let variant = known.of_case[case as usize];
        if first[variant as usize] == case {
            of_variant.entry(variant).or_default().insert(*edge);
        }
    });
    let mut details =
        Details { activities: times.finish(dfg.activities.len(), most), edges: waits.finish(dfg.edges.len(), most), ..Details::default() };
    let add = |detail: &mut Detail, number: u32, count: u64| {
        detail.in_variants += 1;
        if detail.variants.len() < most {
            detail.variants.push((number, count));
        }
    };
    for (number, variant) in known.variants.iter().enumerate() {
        if variant.trace.len() > LONGEST {
            details.long_variants += 1;
            continue;
        }
        let mut seen: Vec<usize> = variant.trace.iter().filter_map(|&activity| places[activity as usize]).collect();
        seen.sort_unstable();
        seen.dedup();
        seen.into_iter().for_each(|activity| add(&mut details.activities[activity], number as u32, variant.count));
        let mut edges: Vec<usize> = of_variant.get(&(number as u32)).into_iter().flatten().copied().collect();
        edges.sort_unstable();
        edges.into_iter().for_each(|edge| add(&mut details.edges[edge], number as u32, variant.count));
    }
    let all = details.activities.iter().chain(&details.edges).flat_map(|detail| &detail.variants);
    for number in all.map(|(number, _)| *number).collect::<Vec<u32>>() {
        let trace = &known.variants[number as usize].trace;
        let first = trace.iter().take(NAMED).map(|&activity| log.activities.get(activity).to_owned()).collect();
        details.variants.insert(number, Sequence { first, len: trace.len() });
    }
    details
}

#[cfg(test)]
mod tests {
    use flowmine_activity_log::{BytesFrom, InstanceRow, LogBuilder, Status, UNKNOWN};

    use super::*;
    use crate::dfg::dfg;

    fn log() -> ActivityLog {
        let mut builder = LogBuilder::new(&[]);
        for (case, rows) in [[("a", 0, 5), ("b", 7, 9)], [("a", 0, 3), ("b", 10, 40)], [("b", 0, 1), ("a", 2, 3)]].iter().enumerate() {
            for &(name, start_ns, end_ns) in rows {
                let activity = builder.activity(name);
                builder
                    .instance(&InstanceRow {
                        activity,
                        ready_ns: UNKNOWN,
                        start_ns,
                        end_ns,
                        resource: None,
                        status: Status::Completed,
                        attempt: 0,
                        measures: &[],
                        bytes_from: BytesFrom::Nobody,
                        attributes: &[],
                    })
                    .expect("few");
            }
            builder.end_case(&case.to_string()).expect("few");
        }
        builder.finish()
    }

    #[test]
    fn a_pair_has_its_slowest_instances_and_its_variants() {
        let log = log();
        let cases = log.cases().expect("cases");
        let graph = dfg(&log, cases);
        let details = discover(&log, cases, &graph, 1);
        let edge = graph.edges.iter().position(|edge| (edge.from, edge.to) == (0, 1)).expect("a then b");
        let of = &details.edges[edge];
        assert_eq!(of.slowest.iter().map(|slow| (slow.ns, slow.case)).collect::<Vec<_>>(), [(7, 1)]);
        assert_eq!((of.in_variants, of.variants[0].1), (1, 2));
        assert_eq!(of.times.as_ref().map(|times| times.counts.iter().sum::<u64>()), Some(2));
        let b = &details.activities[1];
        assert_eq!((b.slowest[0].ns, b.in_variants, b.variants.len()), (30, 2, 1));
    }

    #[test]
    fn classes_hold_every_value_once() {
        for values in [vec![3], vec![-5, 0, 7, 7], vec![1, 10, 100, 100_000], vec![i64::MIN, i64::MAX]] {
            let of = Distribution::new(&values).expect("values");
            assert_eq!(of.counts.iter().sum::<u64>(), values.len() as u64, "{values:?}");
            assert_eq!(of.limits_ns.len(), of.counts.len() + 1);
            assert!(of.limits_ns.is_sorted(), "{values:?}");
        }
        assert_eq!(Distribution::new(&[]), None);
    }
}

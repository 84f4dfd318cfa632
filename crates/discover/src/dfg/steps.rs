//! Steps: instances of a case that follow each other directly.

use flowmine_activity_log::{ActivityLog, Cases};
use rustc_hash::FxHashMap;

/// Calls `see` with each instance of a case and its direct predecessors, at most one of each
/// activity: the last that ended. The flag marks the one that ended last of all. Instances are
/// sorted by start and by end.
pub(super) fn each(log: &ActivityLog, by_start: &[u32], by_end: &[u32], mut see: impl FnMut(u32, &[(u32, bool)])) {
    let instances = &log.instances;
    let activity = |at: u32| instances.activity[at as usize];
    // Instances that ended before the current start, by end, from the first one without another
    // instance wholly after it.
    let (mut ended, mut window) = (0usize, 0usize);
    let mut latest_start: Option<u32> = None;
    // Activities with an ended instance, and the index of the last of these among the ends.
    let mut last_ended: FxHashMap<u32, usize> = FxHashMap::default();
    let mut recent: Vec<u32> = Vec::new();
    let mut before: Vec<(u32, bool)> = Vec::new();
    for &b in by_start {
        let start = instances.start[b as usize];
        while ended < by_end.len() && instances.end[by_end[ended] as usize] < start {
            let a = by_end[ended];
            latest_start = latest_start.max(Some(instances.start[a as usize]));
            if last_ended.insert(activity(a), ended).is_none() {
                recent.push(activity(a));
            }
            ended += 1;
        }
        while window < ended && latest_start.is_some_and(|latest| instances.end[by_end[window] as usize] < latest) {
            window += 1;
        }
        recent.retain(|activity| match last_ended.get(activity) {
            Some(&place) if place >= window => true,
            _ => {
                last_ended.remove(activity);
                false
            }
        });
        before.clear();
        // The last that ended is in the window, whatever it is.
        let places = recent.iter().filter_map(|activity| last_ended.get(activity));
        before.extend(places.map(|&place| (by_end[place], place + 1 == ended)));
        see(b, &before);
    }
}

/// Calls `see` with the case, the first and the second instance of each step of a log, which are
/// the pairs that a directly-follows graph counts.
pub fn for_each_step(log: &ActivityLog, cases: &Cases, mut see: impl FnMut(u32, u32, u32)) {
    for case in 0..cases.len() {
        let by_start: Vec<u32> = cases.of(case).collect();
        if log.is_of_moments() && by_start.is_sorted_by(|a, b| a < b) {
            by_start.windows(2).for_each(|pair| see(case as u32, pair[0], pair[1]));
            continue;
        }
        let mut by_end = by_start.clone();
        by_end.sort_unstable_by_key(|&at| (log.instances.end[at as usize], at));
        each(log, &by_start, &by_end, |b, before| before.iter().for_each(|&(a, _)| see(case as u32, a, b)));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use flowmine_activity_log::{BytesFrom, InstanceRow, LogBuilder, Status, UNKNOWN};
    use proptest::prelude::*;

    use super::*;
    use crate::dfg::dfg;

    proptest! {
        #[test]
        fn steps_are_those_of_the_graph(rows in proptest::collection::vec((0u8..3, 0u8..4, 0i64..20, 0i64..6), 1..40)) {
            let mut builder = LogBuilder::new(&[]);
            for case in 0..3 {
                for (_, activity, start, length) in rows.iter().filter(|row| row.0 == case) {
                    let activity = builder.activity(&format!("a{activity}"));
                    let row = InstanceRow { activity, ready_ns: UNKNOWN, start_ns: *start, end_ns: start + length, resource: None, status: Status::Completed, attempt: 0, measures: &[], bytes_from: BytesFrom::Nobody, attributes: &[] };
                    builder.instance(&row).expect("few");
                }
                builder.end_case(&case.to_string()).expect("few");
            }
            let log = builder.finish();
            let cases = log.cases().expect("cases");
            let mut counted: BTreeMap<(String, String), u64> = BTreeMap::new();
            for_each_step(&log, cases, |_, a, b| {
                *counted.entry((log.activity(a).to_owned(), log.activity(b).to_owned())).or_default() += 1;
            });
            let graph = dfg(&log, cases);
            let name = |at: usize| graph.activities[at].name.clone();
            let edges: BTreeMap<_, _> = graph.edges.iter().filter(|edge| edge.frequency > 0)
                .map(|edge| ((name(edge.from), name(edge.to)), edge.frequency)).collect();
            prop_assert_eq!(counted, edges);
        }
    }
}

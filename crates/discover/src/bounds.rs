//! Bounds from times alone: the longest chain of tasks, each of which began after the end of the
//! previous one.
//!
//! A task can only have waited for tasks that had ended before its submission. So no chain of
//! running times is longer, whatever the unrecorded dependencies are.

use std::collections::BTreeMap;

use crate::precedence::Network;

/// A task with its times, in nanoseconds since 1970.
#[derive(Debug, Clone, Copy)]
pub struct Timed {
    /// Its number in the network of known dependencies.
    pub at: u32,
    /// Start of the task.
    pub start_ns: i64,
    /// End of the task.
    pub end_ns: i64,
    /// Latest possible end of its predecessors, if these are not known.
    pub waits_until_ns: Option<i64>,
    /// Running time of the task.
    pub run_ns: i64,
}

/// Returns the length of the longest chain of running times, in nanoseconds.
pub fn longest_chain(tasks: &[Timed], known: &Network) -> i64 {
    let mut order: Vec<&Timed> = tasks.iter().collect();
    order.sort_by_key(|task| (task.start_ns, task.end_ns, task.at));
    // Length of the longest chain that ends with each task.
    let mut ends: BTreeMap<u32, i64> = BTreeMap::new();
    // Ends, with the longest chain that has ended by then: ascending in both.
    let mut longest: BTreeMap<i64, i64> = BTreeMap::new();
    for task in order {
        let declared = known.waits_for(task.at).filter(|edge| edge.lag_ns.is_none()).filter_map(|edge| ends.get(&edge.from)).max();
        let any = task.waits_until_ns.and_then(|until| longest.range(..=until).next_back()).map(|(_, chain)| chain);
        let chain = declared.max(any).copied().unwrap_or(0).saturating_add(task.run_ns);
        ends.insert(task.at, chain);
        let before = longest.range(..=task.end_ns).next_back().map_or(0, |(_, chain)| *chain);
        if chain > before {
            let shorter: Vec<i64> = longest.range(task.end_ns..).take_while(|(_, known)| **known <= chain).map(|(end, _)| *end).collect();
            shorter.iter().for_each(|end| {
                longest.remove(end);
            });
            longest.insert(task.end_ns, chain);
        }
    }
    ends.values().copied().max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Finds the longest chain by trying all tasks before each.
    fn by_hand(tasks: &[Timed]) -> i64 {
        let mut order = tasks.to_vec();
        order.sort_by_key(|task| (task.start_ns, task.end_ns, task.at));
        let mut chains: Vec<i64> = Vec::new();
        for (at, task) in order.iter().enumerate() {
            let until = task.waits_until_ns.unwrap_or(i64::MIN);
            let before = (0..at).filter(|other| order[*other].end_ns <= until).map(|other| chains[other]).max();
            chains.push(before.unwrap_or(0) + task.run_ns);
        }
        chains.into_iter().max().unwrap_or(0)
    }

    proptest! {
        #[test]
        fn the_chain_is_the_longest_of_all(times in prop::collection::vec((0i64..50, 0i64..5, 1i64..20, any::<bool>()), 0..30)) {
            let tasks: Vec<Timed> = (0..)
                .zip(&times)
                .map(|(at, (submit, queue, run, unknown))| Timed {
                    at,
                    start_ns: submit + queue,
                    end_ns: submit + queue + run,
                    waits_until_ns: unknown.then_some(*submit),
                    run_ns: *run,
                })
                .collect();
            let (network, _) = Network::new(tasks.len(), Vec::new());
            prop_assert_eq!(longest_chain(&tasks, &network), by_hand(&tasks));
        }
    }
}

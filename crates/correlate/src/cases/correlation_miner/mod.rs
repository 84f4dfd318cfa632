//! The notion `correlation-miner`: chains of jobs by the correlation miner.
//!
//! S. Pourmirza, R. Dijkman and P. Grefen, Correlation miner: mining business process models and
//! event correlations without case identifiers, IJCIS 26 (2017). The miner sees activities and times
//! only. It estimates how often one activity directly follows another, so that the times between them
//! are short ([`estimate`]). The form is that of PM4Py 2.7 (`correlation_mining`), where the precision
//! of times and the solver of the linear programme differ. The events of each estimated pair are
//! matched first in, first out or last in, first out, whichever takes less time on average.
//!
//! The miner joins activities of a whole log. Here it is applied to the jobs of one user, and to the
//! most frequent activities of each ([`MOST_ACTIVITIES`]); jobs of other activities are alone. A job
//! that has not ended precedes none. A beginning costs more than any wait, so runs one after another
//! are mostly one chain. It is a baseline for `session`.

mod estimate;
mod transport;

use petgraph::unionfind::UnionFind;
use rustc_hash::FxHashMap;

use super::notion::{CaseNotion, Strength};
use crate::groups::{Grouping, Placed};
use crate::strings::Sym;
use crate::submitted::AllSubmitted;
use estimate::{Activity, Event};

/// Activities of a user that are correlated; the matrices have the square of this size.
const MOST_ACTIVITIES: usize = 64;

/// Chains by the correlation miner.
#[derive(Debug, Clone, Copy)]
pub struct CorrelationMiner;

impl CaseNotion for CorrelationMiner {
    fn name(&self) -> &'static str {
        "correlation-miner"
    }

    fn description(&self) -> &'static str {
        "a user's jobs in chains that keep the times between activities short"
    }

    fn within_parts(&self) -> bool {
        false
    }

    fn strength(&self) -> Strength {
        Strength::Inferred
    }

    fn grouping(&self) -> Option<&dyn Grouping> {
        Some(self)
    }
}

impl Grouping for CorrelationMiner {
    fn group(&self, all: &AllSubmitted) -> Vec<Placed> {
        let mut placed: Vec<Placed> = (0..all.all.len() as u32).map(|at| Placed::first(at, "alone")).collect();
        let mut joined = UnionFind::<u32>::new(all.all.len());
        let (order, users) = all.by_user();
        for user in users {
            for (before, after) in follow(&activities(all, &order[user])) {
                joined.union(before, after);
                placed[after as usize] = Placed { follows: Some(before), ..Placed::first(after, "correlation") };
            }
        }
        let mut first_of: FxHashMap<u32, u32> = FxHashMap::default();
        for at in 0..placed.len() as u32 {
            let first = *first_of.entry(joined.find_mut(at)).or_insert(at);
            placed[at as usize].first = first;
        }
        placed
    }
}

/// The most frequent activities of a user's jobs, in the order of their first jobs.
fn activities(all: &AllSubmitted, jobs: &[u32]) -> Vec<Activity> {
    let mut numbers: FxHashMap<Sym, usize> = FxHashMap::default();
    let mut found: Vec<Activity> = Vec::new();
    for &at in jobs {
        let job = &all.all[at as usize];
        let number = *numbers.entry(job.activity).or_insert(found.len());
        if number == found.len() {
            found.push(Activity::default());
        }
        found[number].events.push(Event { at, since_ns: job.since_ns, ended_ns: job.ended_ns.get().map(|end| end.max(job.since_ns)) });
    }
    let mut frequent: Vec<usize> = (0..found.len()).collect();
    frequent.sort_by_key(|&number| (std::cmp::Reverse(found[number].events.len()), number));
    frequent.truncate(MOST_ACTIVITIES);
    frequent.sort_unstable();
    frequent.into_iter().map(|number| std::mem::take(&mut found[number])).collect()
}

/// Pairs of jobs of which the second directly follows the first.
fn follow(activities: &[Activity]) -> Vec<(u32, u32)> {
    let mut pairs = Vec::new();
    let mut has_next: Vec<Vec<bool>> = activities.iter().map(|activity| vec![false; activity.events.len()]).collect();
    let mut has_before = has_next.clone();
    for (from, to, count) in estimate::estimate(activities) {
        let found = estimate::matched(&activities[from], &activities[to]);
        let free = found.into_iter().filter(|&(a, b)| !has_next[from][a] && !has_before[to][b]).take(count as usize);
        let free: Vec<(usize, usize)> = free.collect();
        for (a, b) in free {
            has_next[from][a] = true;
            has_before[to][b] = true;
            pairs.push((activities[from].events[a].at, activities[to].events[b].at));
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::estimate::{Activity, Event};
    use super::follow;

    fn activity(events: &[(u32, i64, i64)]) -> Activity {
        Activity { events: events.iter().map(|&(at, since_ns, end)| Event { at, since_ns, ended_ns: Some(end) }).collect() }
    }

    #[test]
    fn chains_of_three_activities() {
        // Two runs of align, sort, plot, an hour apart. PM4Py 2.7 finds that the second align follows
        // the first plot, too: a beginning costs more than any wait.
        let align = activity(&[(0, 0, 10), (3, 3600, 3610)]);
        let sort = activity(&[(1, 12, 20), (4, 3612, 3620)]);
        let plot = activity(&[(2, 25, 30), (5, 3625, 3630)]);
        let mut found = follow(&[align, sort, plot]);
        found.sort_unstable();
        assert_eq!(found, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)]);
    }

    #[test]
    fn one_activity_follows_nothing() {
        assert_eq!(follow(&[activity(&[(0, 0, 10), (1, 20, 30)])]), []);
        assert_eq!(follow(&[]), []);
    }
}

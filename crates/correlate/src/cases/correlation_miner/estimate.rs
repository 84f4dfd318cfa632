//! How often one activity directly follows another.
//!
//! In go the events of activities; out come pairs of activities with their number. A pair costs its
//! mean time, divided by the share of event pairs in that order and by the number of events of the
//! rarer activity. Each event has one successor and one predecessor in the linear programme, of which
//! the impossible ones cost most: these are the beginnings and ends of cases.

use super::transport;

/// An event of an activity.
#[derive(Debug, Clone, Copy)]
pub struct Event {
    /// Number of the job.
    pub at: u32,
    /// When it was submitted, in nanoseconds since 1970.
    pub since_ns: i64,
    /// When it ended.
    pub ended_ns: Option<i64>,
}

/// The events of an activity in the order of submission.
#[derive(Debug, Clone, Default)]
pub struct Activity {
    /// The events.
    pub events: Vec<Event>,
}

impl Activity {
    /// The events that ended, in the order of their ends: end and place.
    fn ends(&self) -> Vec<(i64, usize)> {
        let ends = self.events.iter().enumerate().filter_map(|(at, event)| Some((event.ended_ns?, at)));
        let mut ends: Vec<(i64, usize)> = ends.collect();
        ends.sort_unstable();
        ends
    }
}

/// Pairs of activities of which the second directly follows the first, with an estimate of how often;
/// the cheapest first.
pub fn estimate(activities: &[Activity]) -> Vec<(usize, usize, u64)> {
    let number = activities.len();
    let mut costs = vec![vec![None; number]; number];
    for (from, row) in costs.iter_mut().enumerate() {
        for (to, cost) in row.iter_mut().enumerate().filter(|(to, _)| *to != from) {
            *cost = cost_of(&activities[from], &activities[to]);
        }
    }
    let counts: Vec<u64> = activities.iter().map(|activity| activity.events.len() as u64).collect();
    let flow = transport::cheapest(&counts, &costs);
    let mut pairs: Vec<(f64, usize, usize, u64)> = Vec::new();
    for (from, row) in costs.iter().enumerate() {
        for (to, cost) in row.iter().enumerate() {
            if let (Some(cost), count @ 1..) = (cost, flow[from][to]) {
                pairs.push((*cost, from, to, count));
            }
        }
    }
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    pairs.into_iter().map(|(_, from, to, count)| (from, to, count)).collect()
}

/// The cost of a pair; `None` where no event of the second follows one of the first.
fn cost_of(from: &Activity, to: &Activity) -> Option<f64> {
    let ends = from.ends();
    let mut in_order = 0u64;
    let mut before = 0;
    for event in &to.events {
        while ends.get(before).is_some_and(|(end, _)| *end < event.since_ns) {
            before += 1;
        }
        in_order += before as u64;
    }
    let mean_s = mean_ns(from, to, &matched(from, to))? / 1e9;
    let share = in_order as f64 / (from.events.len() as f64 * to.events.len() as f64);
    let cost = mean_s / share / from.events.len().min(to.events.len()) as f64;
    (share > 0.0 && cost > 0.0).then_some(cost)
}

/// Pairs of places of events of which the second follows the first, in the order that takes less time
/// on average.
pub fn matched(from: &Activity, to: &Activity) -> Vec<(usize, usize)> {
    let ends = from.ends();
    let (first, last) = (first_in_first_out(&ends, to), last_in_first_out(&ends, to));
    let mean = |pairs: &[(usize, usize)]| mean_ns(from, to, pairs).unwrap_or(f64::MAX);
    if mean(&last) < mean(&first) { last } else { first }
}

fn first_in_first_out(ends: &[(i64, usize)], to: &Activity) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let mut later = to.events.iter().enumerate();
    for &(end, at) in ends {
        let Some((next, _)) = later.find(|(_, event)| end < event.since_ns) else { break };
        pairs.push((at, next));
    }
    pairs
}

fn last_in_first_out(ends: &[(i64, usize)], to: &Activity) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let mut earlier = ends.iter().rev();
    for (next, event) in to.events.iter().enumerate().rev() {
        let Some(&(_, at)) = earlier.find(|(end, _)| *end < event.since_ns) else { break };
        pairs.push((at, next));
    }
    pairs.reverse();
    pairs
}

fn mean_ns(from: &Activity, to: &Activity, pairs: &[(usize, usize)]) -> Option<f64> {
    let times = pairs.iter().filter_map(|&(a, b)| Some(to.events[b].since_ns as f64 - from.events[a].ended_ns? as f64));
    (!pairs.is_empty()).then(|| times.sum::<f64>() / pairs.len() as f64)
}

//! The transportation problem: how much goes from where to where at the lowest cost.
//!
//! In go supplies, which are the demands too, and the cost of each pair; out come amounts. Solved by
//! successive shortest paths with whole numbers, so that no rounding decides.

#![allow(clippy::needless_range_loop, reason = "the same numbers walk through lists and matrices")]

/// Cost of a pair that cannot be: more than all others together.
const IMPOSSIBLE: i128 = 1 << 100;
/// The largest cost of another pair, in billionths.
const LARGEST: f64 = 1e24;

/// Returns the amount from each to each, so that all supplies go and all demands are met at the
/// lowest cost. `None` is a pair that is used only if it must be.
pub fn cheapest(amounts: &[u64], costs: &[Vec<Option<f64>>]) -> Vec<Vec<u64>> {
    let number = amounts.len();
    let cost = |from: usize, to: usize| costs[from][to].map_or(IMPOSSIBLE, |cost| (cost * 1e9).min(LARGEST) as i128);
    let cost: Vec<Vec<i128>> = (0..number).map(|from| (0..number).map(|to| cost(from, to)).collect()).collect();
    let (mut supply, mut demand) = (amounts.to_vec(), amounts.to_vec());
    let mut flow = vec![vec![0u64; number]; number];
    while let Some(path) = shortest(&supply, &demand, &cost, &flow) {
        // A path goes from a supply to a demand and back over what flows already, in turn.
        let back = path.windows(2).skip(1).step_by(2).map(|pair| flow[pair[1]][pair[0]]);
        let ends = [supply[path[0]], demand[path[path.len() - 1]]];
        let amount = back.chain(ends).min().unwrap_or(0);
        if amount == 0 {
            break;
        }
        for (step, pair) in path.windows(2).enumerate() {
            if step % 2 == 0 {
                flow[pair[0]][pair[1]] += amount;
            } else {
                flow[pair[1]][pair[0]] -= amount;
            }
        }
        supply[path[0]] -= amount;
        demand[path[path.len() - 1]] -= amount;
    }
    flow
}

/// The cheapest path from a supply that is left to a demand that is: numbers of supplies and demands
/// in turn.
fn shortest(supply: &[u64], demand: &[u64], cost: &[Vec<i128>], flow: &[Vec<u64>]) -> Option<Vec<usize>> {
    let number = supply.len();
    let mut to_supply: Vec<Option<i128>> = supply.iter().map(|&left| (left > 0).then_some(0)).collect();
    let mut to_demand: Vec<Option<i128>> = vec![None; number];
    let (mut before_supply, mut before_demand) = (vec![None; number], vec![0usize; number]);
    loop {
        let mut has_changed = false;
        for from in 0..number {
            let Some(so_far) = to_supply[from] else { continue };
            for to in 0..number {
                let next = so_far + cost[from][to];
                if to_demand[to].is_none_or(|known| next < known) {
                    (to_demand[to], before_demand[to], has_changed) = (Some(next), from, true);
                }
            }
        }
        for to in 0..number {
            let Some(so_far) = to_demand[to] else { continue };
            for from in (0..number).filter(|&from| flow[from][to] > 0) {
                let next = so_far - cost[from][to];
                if to_supply[from].is_none_or(|known| next < known) {
                    (to_supply[from], before_supply[from], has_changed) = (Some(next), Some(to), true);
                }
            }
        }
        if !has_changed {
            break;
        }
    }
    let end = (0..number).filter(|&to| demand[to] > 0).min_by_key(|&to| (to_demand[to].unwrap_or(i128::MAX), to))?;
    to_demand[end]?;
    let mut path = vec![end];
    let mut at = end;
    loop {
        let from = before_demand[at];
        path.push(from);
        let Some(to) = before_supply[from] else { break };
        path.push(to);
        at = to;
    }
    path.reverse();
    Some(path)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::cheapest;

    /// The lowest cost by trying all ways to send one unit after another.
    fn tried(amounts: &[u64], costs: &[Vec<f64>]) -> f64 {
        fn best(from: usize, left: u64, amounts: &[u64], demand: &mut Vec<u64>, costs: &[Vec<f64>], least: usize) -> f64 {
            if left == 0 {
                let Some(&next) = amounts.get(from + 1) else { return 0.0 };
                return best(from + 1, next, amounts, demand, costs, 0);
            }
            let mut found = f64::INFINITY;
            for to in least..demand.len() {
                if demand[to] > 0 {
                    demand[to] -= 1;
                    found = found.min(costs[from][to] + best(from, left - 1, amounts, demand, costs, to));
                    demand[to] += 1;
                }
            }
            found
        }
        best(0, amounts[0], amounts, &mut amounts.to_vec(), costs, 0)
    }

    proptest! {
        #[test]
        fn as_cheap_as_any(amounts in proptest::collection::vec(1u64..4, 1..4), costs in proptest::collection::vec(0u32..20, 16)) {
            let costs: Vec<Vec<f64>> = (0..amounts.len()).map(|from| (0..amounts.len()).map(|to| f64::from(costs[from * 4 + to])).collect()).collect();
            let known: Vec<Vec<Option<f64>>> = costs.iter().map(|row| row.iter().copied().map(Some).collect()).collect();
            let flow = cheapest(&amounts, &known);
            for at in 0..amounts.len() {
                prop_assert_eq!(flow[at].iter().sum::<u64>(), amounts[at]);
                prop_assert_eq!(flow.iter().map(|row| row[at]).sum::<u64>(), amounts[at]);
            }
            let cost: f64 = flow.iter().zip(&costs).flat_map(|(flow, costs)| flow.iter().zip(costs)).map(|(flow, cost)| *flow as f64 * cost).sum();
            prop_assert!((cost - tried(&amounts, &costs)).abs() < 1e-6);
        }
    }
}

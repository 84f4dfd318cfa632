//! A log divided along a cut, one part for each group.

use super::graph::{Cut, Graph, Operator};
use super::log::SubLog;

/// No group: the activity is not in the graph.
const NONE: u32 = u32::MAX;

/// The parts of a log along a cut. `scratch` has a place for each activity of the whole log and is
/// left as it was found.
pub(crate) fn split(log: &SubLog, graph: &Graph, cut: &Cut, scratch: &mut [u32]) -> Vec<SubLog> {
    for (&a, &g) in graph.activities.iter().zip(&cut.group) {
        scratch[a as usize] = g;
    }
    let mut parts = vec![SubLog::default(); cut.groups];
    match cut.operator {
        Operator::Xor => xor(log, scratch, &mut parts),
        Operator::Sequence => sequence(log, scratch, &mut parts),
        Operator::Parallel => parallel(log, scratch, &mut parts),
        Operator::Loop => repeat(log, scratch, &mut parts),
    }
    for &a in &graph.activities {
        scratch[a as usize] = NONE;
    }
    parts.into_iter().map(SubLog::joined).collect()
}

/// Each trace goes to the group that most of its events are of (the last such group), without its
/// other events.
fn xor(log: &SubLog, group: &[u32], parts: &mut [SubLog]) {
    let mut votes = vec![0usize; parts.len()];
    let mut kept: Vec<u32> = Vec::new();
    for (trace, count) in log.traces() {
        let mut best = group[trace[0] as usize];
        for &a in trace {
            votes[group[a as usize] as usize] += 1;
        }
        for &a in trace {
            let g = group[a as usize];
            let (now, then) = (votes[g as usize], votes[best as usize]);
            if now > then || now == then && g > best {
                best = g;
            }
        }
        for &a in trace {
            votes[group[a as usize] as usize] = 0;
        }
        kept.clear();
        kept.extend(trace.iter().copied().filter(|&a| group[a as usize] == best));
        parts[best as usize].push(&kept, count);
    }
}

/// Each trace is divided into one piece for each group, where that leaves the fewest events in a
/// piece of another group; those few are dropped. Groups of which a trace has no event get an empty
/// trace.
fn sequence(log: &SubLog, group: &[u32], parts: &mut [SubLog]) {
    // Counted for all and taken back for those that a trace visits: there may be very many groups.
    let cases = log.cases() - log.empty;
    let mut visited = vec![0u64; parts.len()];
    let mut present: Vec<u32> = Vec::new();
    let mut kept: Vec<u32> = Vec::new();
    for (trace, count) in log.traces() {
        if trace.windows(2).all(|pair| group[pair[0] as usize] <= group[pair[1] as usize]) {
            for piece in trace.chunk_by(|&a, &b| group[a as usize] == group[b as usize]) {
                let g = group[piece[0] as usize] as usize;
                visited[g] += count;
                parts[g].push(piece, count);
            }
            continue;
        }
        present.clear();
        present.extend(trace.iter().map(|&a| group[a as usize]));
        present.sort_unstable();
        present.dedup();
        let mut from = 0;
        for &g in &present {
            // The cheapest end of this piece: an event of the group is a gain, one of an earlier group nothing, of a later one a
            // loss. Earlier groups that the trace does not visit make no difference.
            let (mut cost, mut least, mut end) = (0i64, 0i64, from);
            for (i, &a) in trace.iter().enumerate().skip(from) {
                match group[a as usize].cmp(&g) {
                    std::cmp::Ordering::Equal => cost -= 1,
                    std::cmp::Ordering::Greater => cost += 1,
                    std::cmp::Ordering::Less => {}
                }
                if cost < least {
                    least = cost;
                    end = i + 1;
                }
            }
            kept.clear();
            kept.extend(trace[from..end].iter().copied().filter(|&a| group[a as usize] == g));
            if !kept.is_empty() {
                visited[g as usize] += count;
                parts[g as usize].push(&kept, count);
            }
            from = end;
        }
    }
    for (part, visited) in parts.iter_mut().zip(visited) {
        part.empty = cases - visited;
    }
}

/// Each group sees its own events.
fn parallel(log: &SubLog, group: &[u32], parts: &mut [SubLog]) {
    let cases = log.cases() - log.empty;
    let mut visited = vec![0u64; parts.len()];
    let mut open: Vec<usize> = Vec::new();
    let mut is_open = vec![false; parts.len()];
    for (trace, count) in log.traces() {
        for &a in trace {
            let g = group[a as usize] as usize;
            parts[g].push_event(a);
            if !std::mem::replace(&mut is_open[g], true) {
                open.push(g);
            }
        }
        for g in open.drain(..) {
            is_open[g] = false;
            visited[g] += count;
            parts[g].end_trace(count);
        }
    }
    for (part, visited) in parts.iter_mut().zip(visited) {
        part.empty = cases - visited;
    }
}

/// Runs of the body's events go to the body, runs of the others to the redo part. A trace that ends
/// in the redo part passes the body once more without an event.
fn repeat(log: &SubLog, group: &[u32], parts: &mut [SubLog]) {
    for (trace, count) in log.traces() {
        let mut last = 0;
        for piece in trace.chunk_by(|&a, &b| group[a as usize] == group[b as usize]) {
            last = group[piece[0] as usize] as usize;
            parts[last].push(piece, count);
        }
        if last != 0 {
            parts[0].push(&[], count);
        }
    }
}

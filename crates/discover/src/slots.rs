//! Full slots of an engine's executor: intervals in which the maximum number of tasks ran.
//!
//! The limit itself (cores, `queueSize`, `-j`) is in no table. A task that could have been
//! submitted and was not, while the maximum number ran, waited for a slot.

/// Returns the intervals in which the maximum number of tasks ran, in order, from the starts and
/// ends of tasks.
pub fn full(runs: impl Iterator<Item = (i64, i64)>) -> Vec<(i64, i64)> {
    let mut moments: Vec<(i64, i64)> = runs.filter(|(start, end)| start < end).flat_map(|(start, end)| [(start, 1), (end, -1)]).collect();
    // At the same moment, ends come first.
    moments.sort_unstable();
    let mut most = 0;
    let mut running = 0;
    for (_, change) in &moments {
        running += change;
        most = most.max(running);
    }
    let mut full: Vec<(i64, i64)> = Vec::new();
    let mut since = None;
    for (at, change) in moments {
        running += change;
        match since {
            None if running == most => since = Some(at),
            Some(from) if running < most => {
                match full.last_mut().filter(|(_, end)| *end == from) {
                    Some((_, end)) => *end = at,
                    None => full.push((from, at)),
                }
                since = None;
            }
            _ => {}
        }
    }
    full
}

/// Splits a time span into consecutive pieces, each with a flag for whether it lies in the sorted
/// intervals.
pub fn pieces(intervals: &[(i64, i64)], from: i64, to: i64) -> Vec<(i64, i64, bool)> {
    let mut pieces = Vec::new();
    let mut at = from;
    let first = intervals.partition_point(|(_, end)| *end <= from);
    for &(start, end) in intervals[first..].iter().take_while(|(start, _)| *start < to) {
        let (start, end) = (start.max(at), end.min(to));
        if start >= end {
            continue;
        }
        if at < start {
            pieces.push((at, start, false));
        }
        pieces.push((start, end, true));
        at = end;
    }
    if at < to {
        pieces.push((at, to, false));
    }
    pieces
}

/// Returns whether a moment lies in one of the sorted intervals.
pub fn is_within(intervals: &[(i64, i64)], at: i64) -> bool {
    let next = intervals.partition_point(|(_, end)| *end <= at);
    intervals.get(next).is_some_and(|(start, _)| *start <= at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_as_ever() {
        let full = full([(0, 10), (2, 6), (6, 8), (12, 20)].into_iter());
        assert_eq!(full, [(2, 8)], "one slot is taken over at 6");
        assert_eq!(pieces(&full, 0, 5), [(0, 2, false), (2, 5, true)]);
        assert_eq!(pieces(&full, 7, 20), [(7, 8, true), (8, 20, false)]);
        assert_eq!(pieces(&full, 8, 20), [(8, 20, false)]);
        assert_eq!(pieces(&full, 5, 5), []);
        assert!(is_within(&full, 2) && is_within(&full, 7) && !is_within(&full, 8));
        assert_eq!(super::full(std::iter::empty()), []);
    }
}

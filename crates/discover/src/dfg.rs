//! Directly-follows graphs: traces in, counts and times between activities out.
//!
//! In goes one trace at a time, each a slice of (activity id, time in nanoseconds) in the order in which it is to be
//! read; out comes a [`Dfg`]: the activities, the pairs that follow each other directly, how often, and the time
//! between them (mean, median, 95th percentile, extremes).
//!
//! The result depends on the traces, not on the order in which they arrive nor on how the ids were given out:
//! activities are sorted by name, edges by their ends, and every statistic comes out of sorted numbers and integer
//! sums. Names that occur under two ids become one activity; names that never occur are left out.
//!
//! Memory is eight bytes for each directly-follows pair, since exact percentiles need every value. What is refused:
//! an activity id without a name ([`DfgError`]). Times that run backwards within a trace are taken as they are (the
//! difference is negative) and counted in [`Dfg::backward_steps`]; this module does not sort.

use rustc_hash::FxHashMap;

/// A directly-follows graph with its statistics, and the words that a picture of it needs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Dfg {
    /// Activities that occur at least once, sorted by name (by code point).
    pub activities: Vec<Activity>,
    /// Directly-follows pairs, sorted by (`from`, `to`); each pair occurs once.
    pub edges: Vec<Edge>,
    /// Activity and number of cases that begin with it, sorted by activity.
    pub starts: Vec<(usize, u64)>,
    /// Activity and number of cases that end with it, sorted by activity.
    pub ends: Vec<(usize, u64)>,
    /// Cases with at least one event.
    pub cases: u64,
    /// Cases without any event; they are not among `cases` and leave no other mark.
    pub empty_cases: u64,
    /// Events.
    pub events: u64,
    /// Directly-follows steps in which the later event carries the earlier time.
    pub backward_steps: u64,
    /// Heading of a picture; may be empty.
    pub title: String,
    /// What a case is, in words; may be empty.
    pub notion: String,
    /// Filters that were applied before the graph was computed, in words.
    pub filters: Vec<String>,
    /// What was done to activities before the graph was computed (for example array tasks folded into one), in
    /// words; empty for nothing.
    pub abstraction: String,
}

/// One activity.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Activity {
    /// Its name, as the log has it: any characters, not yet escaped for anything.
    pub name: String,
    /// Events with this activity.
    pub frequency: u64,
    /// Cases in which it occurs.
    pub cases: u64,
}

/// One directly-follows pair with the times from the first event to the second, in nanoseconds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Edge {
    /// Index of the first activity in [`Dfg::activities`].
    pub from: usize,
    /// Index of the activity that follows.
    pub to: usize,
    /// How often the pair occurs.
    pub frequency: u64,
    /// Cases in which it occurs.
    pub cases: u64,
    /// Arithmetic mean.
    pub mean_ns: f64,
    /// Median, halfway between the two middle values when their number is even.
    pub median_ns: f64,
    /// 95th percentile, see [`percentile`].
    pub p95_ns: f64,
    /// Smallest value.
    pub min_ns: i64,
    /// Largest value.
    pub max_ns: i64,
    /// Sum of all values.
    pub total_ns: i128,
}

/// Why a trace was not taken.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum DfgError {
    /// The trace names an activity that the builder does not know. Nothing of the trace was counted.
    #[error(
        "event {position} of the trace has activity id {id}, but only {known} activities were named; name every activity before adding traces"
    )]
    UnknownActivity {
        /// Place of the event in its trace, from 0.
        position: usize,
        /// The id.
        id: u32,
        /// Number of names given to [`DfgBuilder::new`].
        known: usize,
    },
}

/// Above this many activities pairs are found by hash, below by a table of their product (16 MB at most).
const DENSE_LIMIT: usize = 2048;

/// Marks an empty place in the table, and "not in any case yet".
const NONE: u32 = u32::MAX;

/// Takes traces, one at a time.
#[derive(Debug)]
pub struct DfgBuilder {
    /// Distinct names, in order of first appearance.
    names: Vec<String>,
    /// From the caller's id to the place in `names`.
    canonical: Vec<u32>,
    frequency: Vec<u64>,
    activity_cases: Vec<CaseCount>,
    starts: Vec<u64>,
    ends: Vec<u64>,
    /// `names.len()` squared places, or empty when pairs are found by hash.
    dense: Vec<u32>,
    sparse: FxHashMap<(u32, u32), u32>,
    pairs: Vec<Pair>,
    cases: u64,
    empty_cases: u64,
    events: u64,
    backward_steps: u64,
}

#[derive(Debug)]
struct Pair {
    from: u32,
    to: u32,
    cases: CaseCount,
    times: Vec<i64>,
}

/// Counts cases: a case that comes by again is not counted again.
#[derive(Debug, Clone, Default)]
struct CaseCount {
    count: u64,
    /// Number of the last case that was counted, from 1.
    last: u64,
}

impl CaseCount {
    fn see(&mut self, case: u64) {
        if self.last != case {
            self.last = case;
            self.count += 1;
        }
    }
}

impl DfgBuilder {
    /// A builder for activities with these names; an activity's id is its place in the list.
    pub fn new<I, S>(names: I) -> Self
    where
        I: IntoIterator<Item = S>,
        S: Into<String>,
    {
        let mut distinct: Vec<String> = Vec::new();
        let mut seen: FxHashMap<String, u32> = FxHashMap::default();
        let mut canonical = Vec::new();
        for name in names {
            let name = name.into();
            let next = distinct.len() as u32;
            let id = *seen.entry(name.clone()).or_insert(next);
            if id == next {
                distinct.push(name);
            }
            canonical.push(id);
        }
        let n = distinct.len();
        Self {
            canonical,
            frequency: vec![0; n],
            activity_cases: vec![CaseCount::default(); n],
            starts: vec![0; n],
            ends: vec![0; n],
            dense: if n <= DENSE_LIMIT { vec![NONE; n * n] } else { Vec::new() },
            sparse: FxHashMap::default(),
            pairs: Vec::new(),
            names: distinct,
            cases: 0,
            empty_cases: 0,
            events: 0,
            backward_steps: 0,
        }
    }

    /// Counts one case: its events as (activity id, time in nanoseconds since 1970), in order.
    ///
    /// # Errors
    /// [`DfgError::UnknownActivity`]; the builder is then as it was before.
    pub fn add_trace(&mut self, events: &[(u32, i64)]) -> Result<(), DfgError> {
        let known = self.canonical.len();
        if let Some(position) = events.iter().position(|&(id, _)| id as usize >= known) {
            return Err(DfgError::UnknownActivity { position, id: events[position].0, known });
        }
        let (Some(&(first, _)), Some(&(last, _))) = (events.first(), events.last()) else {
            self.empty_cases += 1;
            return Ok(());
        };
        self.cases += 1;
        let case = self.cases;
        self.events += events.len() as u64;
        self.starts[self.canonical[first as usize] as usize] += 1;
        self.ends[self.canonical[last as usize] as usize] += 1;
        let mut before: Option<(u32, i64)> = None;
        for &(id, time) in events {
            let activity = self.canonical[id as usize];
            self.frequency[activity as usize] += 1;
            self.activity_cases[activity as usize].see(case);
            if let Some((from, earlier)) = before {
                let slot = self.slot(from, activity);
                let pair = &mut self.pairs[slot];
                pair.cases.see(case);
                // Two times further apart than 292 years do not fit; such a time is a fault of the log already.
                let step = time.saturating_sub(earlier);
                self.backward_steps += u64::from(step < 0);
                pair.times.push(step);
            }
            before = Some((activity, time));
        }
        Ok(())
    }

    fn slot(&mut self, from: u32, to: u32) -> usize {
        let n = self.names.len();
        let place = if self.dense.is_empty() {
            self.sparse.entry((from, to)).or_insert(NONE)
        } else {
            &mut self.dense[from as usize * n + to as usize]
        };
        if *place == NONE {
            *place = self.pairs.len() as u32;
            self.pairs.push(Pair { from, to, cases: CaseCount::default(), times: Vec::new() });
        }
        *place as usize
    }

    /// The graph of all traces so far.
    pub fn finish(self) -> Dfg {
        let mut order: Vec<usize> = (0..self.names.len()).filter(|&i| self.frequency[i] > 0).collect();
        order.sort_by(|&a, &b| self.names[a].cmp(&self.names[b]));
        let mut place = vec![0usize; self.names.len()];
        for (new, &old) in order.iter().enumerate() {
            place[old] = new;
        }
        let mut edges: Vec<Edge> = self
            .pairs
            .into_iter()
            .map(|pair| edge(place[pair.from as usize], place[pair.to as usize], pair.cases.count, pair.times))
            .collect();
        edges.sort_unstable_by_key(|e| (e.from, e.to));
        let counted = |counts: &[u64]| -> Vec<(usize, u64)> {
            order.iter().enumerate().map(|(new, &old)| (new, counts[old])).filter(|&(_, count)| count > 0).collect()
        };
        let (starts, ends) = (counted(&self.starts), counted(&self.ends));
        let mut names = self.names;
        let activities = order
            .iter()
            .map(|&old| Activity {
                name: std::mem::take(&mut names[old]),
                frequency: self.frequency[old],
                cases: self.activity_cases[old].count,
            })
            .collect();
        Dfg {
            activities,
            edges,
            starts,
            ends,
            cases: self.cases,
            empty_cases: self.empty_cases,
            events: self.events,
            backward_steps: self.backward_steps,
            ..Dfg::default()
        }
    }
}

fn edge(from: usize, to: usize, cases: u64, mut times: Vec<i64>) -> Edge {
    times.sort_unstable();
    let total_ns: i128 = times.iter().map(|&t| i128::from(t)).sum();
    Edge {
        from,
        to,
        frequency: times.len() as u64,
        cases,
        mean_ns: if times.is_empty() { 0.0 } else { total_ns as f64 / times.len() as f64 },
        median_ns: percentile(&times, 0.5),
        p95_ns: percentile(&times, 0.95),
        min_ns: times.first().copied().unwrap_or(0),
        max_ns: times.last().copied().unwrap_or(0),
        total_ns,
    }
}

/// The value below which the fraction `q` (0 to 1) of sorted numbers lies, by linear interpolation between the
/// closest ranks: type 7 of Hyndman and Fan (1996), which is what numpy, R and PM4Py do unless told otherwise.
///
/// `sorted` must be ascending; of no numbers the answer is 0.
pub fn percentile(sorted: &[i64], q: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return 0.0 };
    let rank = last as f64 * q.clamp(0.0, 1.0);
    let below = (rank.floor() as usize).min(last);
    let above = (below + 1).min(last);
    let fraction = rank - below as f64;
    let step = i128::from(sorted[above]) - i128::from(sorted[below]);
    // From the nearer side, so that the result is symmetric and never leaves the two values.
    if fraction < 0.5 { sorted[below] as f64 + step as f64 * fraction } else { sorted[above] as f64 - step as f64 * (1.0 - fraction) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const S: i64 = 1_000_000_000;

    #[test]
    fn percentiles_by_hand() {
        assert_eq!(percentile(&[], 0.5), 0.0);
        assert_eq!(percentile(&[7], 0.95), 7.0);
        assert_eq!(percentile(&[1, 2, 3, 4], 0.5), 2.5);
        assert!((percentile(&[1, 2, 3, 10], 0.95) - 8.95).abs() < 1e-9);
        assert_eq!(percentile(&[10, 20, 30, 40, 50], 0.25), 20.0);
        assert_eq!(percentile(&[15, 20, 35, 40, 50], 0.4), 29.0);
        assert_eq!(percentile(&[i64::MIN, i64::MAX], 0.5), 0.0);
        assert_eq!(percentile(&[0, 100], 1.0), 100.0);
    }

    #[test]
    fn counts_and_times() -> Result<(), DfgError> {
        let mut builder = DfgBuilder::new(["b", "a", "never"]);
        builder.add_trace(&[(1, 0), (0, 10 * S), (0, 30 * S)])?;
        builder.add_trace(&[(1, 0), (0, 20 * S)])?;
        builder.add_trace(&[])?;
        let dfg = builder.finish();
        assert_eq!((dfg.cases, dfg.empty_cases, dfg.events), (2, 1, 5));
        let names: Vec<&str> = dfg.activities.iter().map(|a| a.name.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!((dfg.activities[1].frequency, dfg.activities[1].cases), (3, 2));
        assert_eq!((dfg.starts, dfg.ends), (vec![(0, 2)], vec![(1, 2)]));
        let edges: Vec<_> = dfg.edges.iter().map(|e| (e.from, e.to, e.frequency, e.cases)).collect();
        assert_eq!(edges, [(0, 1, 2, 2), (1, 1, 1, 1)]);
        assert_eq!(dfg.edges[0].median_ns, 15e9);
        assert_eq!(dfg.edges[0].mean_ns, 15e9);
        assert_eq!(dfg.edges[0].p95_ns, 19.5e9);
        assert_eq!((dfg.edges[0].min_ns, dfg.edges[0].max_ns, dfg.edges[0].total_ns), (10 * S, 20 * S, 30 * i128::from(S)));
        Ok(())
    }

    #[test]
    fn an_unknown_id_changes_nothing() -> Result<(), DfgError> {
        let mut builder = DfgBuilder::new(["a"]);
        let refused = builder.add_trace(&[(0, 0), (4, 0)]);
        assert_eq!(refused, Err(DfgError::UnknownActivity { position: 1, id: 4, known: 1 }));
        builder.add_trace(&[(0, 0)])?;
        let dfg = builder.finish();
        assert_eq!((dfg.cases, dfg.events, dfg.activities[0].frequency), (1, 1, 1));
        Ok(())
    }

    #[test]
    fn one_name_under_two_ids_is_one_activity() -> Result<(), DfgError> {
        let mut builder = DfgBuilder::new(["a", "a"]);
        builder.add_trace(&[(0, 5), (1, 3)])?;
        let dfg = builder.finish();
        assert_eq!(dfg.activities.len(), 1);
        assert_eq!((dfg.edges[0].min_ns, dfg.backward_steps), (-2, 1));
        Ok(())
    }

    #[test]
    fn the_hash_and_the_table_agree() -> Result<(), DfgError> {
        let names: Vec<String> = (0..DENSE_LIMIT + 10).map(|i| format!("n{i:05}")).collect();
        let mut many = DfgBuilder::new(names.clone());
        let mut few = DfgBuilder::new(names.into_iter().take(20));
        for case in 0..50u32 {
            let trace: Vec<(u32, i64)> = (0..10).map(|i| ((case * 7 + i * i) % 20, i64::from(i * case))).collect();
            many.add_trace(&trace)?;
            few.add_trace(&trace)?;
        }
        assert_eq!(many.finish(), few.finish());
        Ok(())
    }

    fn build(names: &[&str], traces: &[Vec<(u32, i64)>]) -> Result<Dfg, DfgError> {
        let mut builder = DfgBuilder::new(names.iter().copied());
        for trace in traces {
            builder.add_trace(trace)?;
        }
        Ok(builder.finish())
    }

    proptest! {
        #[test]
        fn order_of_traces_and_ids_does_not_matter(
            traces in proptest::collection::vec(proptest::collection::vec((0u32..5, -1000i64..1000), 0..8), 0..12),
            turn in 0usize..12,
        ) {
            let names = ["e", "b", "ä", "", "b2"];
            let plain = build(&names, &traces)?;
            let mut turned: Vec<Vec<(u32, i64)>> = traces
                .iter()
                .map(|t| t.iter().map(|&(id, time)| (4 - id, time)).collect())
                .collect();
            if !turned.is_empty() {
                let by = turn % turned.len();
                turned.rotate_left(by);
            }
            let backwards = ["b2", "", "ä", "b", "e"];
            prop_assert_eq!(&plain, &build(&backwards, &turned)?);
            let pairs: u64 = plain.edges.iter().map(|e| e.frequency).sum();
            prop_assert_eq!(pairs + plain.cases, plain.events);
            for e in &plain.edges {
                prop_assert!(e.min_ns as f64 <= e.median_ns && e.median_ns <= e.p95_ns && e.p95_ns <= e.max_ns as f64);
            }
        }
    }
}

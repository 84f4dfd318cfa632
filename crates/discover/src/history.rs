//! History of each workflow: the duration of each run, the trend, and the difference of the last
//! run from earlier ones.
//!
//! Cases are runs of the same workflow when they have the same activities, whatever the number of
//! instances. A run is compared with the median of the runs before it, at most 500. It has
//! **regressed** when it took longer than each of at least three runs before it, and a tenth more
//! than their median. The trend is the median slope of all pairs of runs (Theil, 1950; Sen, 1968),
//! per run.

use std::collections::VecDeque;

use flowmine_activity_log::{ActivityLog, Cases};
use rustc_hash::FxHashMap;

/// Minimum number of earlier runs to judge a run.
pub const LEAST_BEFORE: usize = 3;

/// Share of the median by which a regressed run takes longer, at least.
pub const LEAST_MORE: f64 = 0.1;

/// Maximum number of runs that are compared with a later one and that determine the trend: the last
/// ones.
const MOST_BEFORE: usize = 500;

/// Maximum number of activities that name a workflow.
const NAMED: usize = 4;

/// The runs of a workflow.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Workflow {
    /// Its activities: the first in the order of the first run, and the number of all.
    pub activities: (Vec<String>, usize),
    /// Its runs with a known time, by their begin.
    pub runs: Vec<Run>,
    /// Increase of the duration per run, in nanoseconds; `None` for fewer than three runs.
    pub trend_ns: Option<f64>,
}

/// A run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Run {
    /// Number of its case.
    pub case: u32,
    /// Start of the run, in nanoseconds since 1970.
    pub begin_ns: i64,
    /// Time from its start to its end, in nanoseconds.
    pub time_ns: i64,
    /// The median of the runs before it, in nanoseconds; `None` for the first.
    pub before_ns: Option<f64>,
    /// Whether it regressed; `None` with too few runs before it.
    pub regressed: Option<bool>,
    /// Activity with the largest change against the median of earlier runs, and the difference in
    /// nanoseconds of the summed running times of its instances.
    pub changed: Option<(String, f64)>,
}

/// Returns the workflows with at least two runs of at least two instances, those with most runs
/// first.
pub fn discover(log: &ActivityLog, cases: &Cases) -> Vec<Workflow> {
    let mut by: FxHashMap<Vec<u32>, Vec<Found>> = FxHashMap::default();
    for case in 0..cases.len() {
        if let Some((key, found)) = found(log, cases, case) {
            by.entry(key).or_default().push(found);
        }
    }
    let mut groups: Vec<(Vec<u32>, Vec<Found>)> = by.into_iter().filter(|(_, runs)| runs.len() > 1).collect();
    for (_, runs) in &mut groups {
        runs.sort_by(|a, b| (a.begin_ns, cases.names.get(a.case)).cmp(&(b.begin_ns, cases.names.get(b.case))));
    }
    groups.sort_by_key(|(_, runs)| (std::cmp::Reverse(runs.len()), runs[0].begin_ns, cases.names.get(runs[0].case)));
    groups.into_iter().map(|(key, runs)| workflow(log, cases, &key, &runs)).collect()
}

/// A run before it is compared.
struct Found {
    case: u32,
    begin_ns: i64,
    time_ns: i64,
    /// The running time of each activity, in the order of the key.
    work: Vec<Option<i64>>,
}

fn found(log: &ActivityLog, cases: &Cases, case: usize) -> Option<(Vec<u32>, Found)> {
    let (mut begin, mut end, mut number) = (i64::MAX, i64::MIN, 0);
    let mut work: FxHashMap<u32, Option<i64>> = FxHashMap::default();
    for at in cases.of(case) {
        number += 1;
        let moments = [log.submitted_ns(at), log.start_ns(at), log.end_ns(at)];
        for ns in moments.into_iter().flatten() {
            (begin, end) = (begin.min(ns), end.max(ns));
        }
        let sum = work.entry(log.instances.activity[at as usize]).or_default();
        if let Some(ns) = log.service_ns(at) {
            *sum = Some(sum.unwrap_or(0).saturating_add(ns));
        }
    }
    let time_ns = end.checked_sub(begin).filter(|ns| *ns >= 0 && number > 1)?;
    let mut key: Vec<u32> = work.keys().copied().collect();
    key.sort_unstable();
    let work = key.iter().map(|activity| work[activity]).collect();
    Some((key, Found { case: case as u32, begin_ns: begin, time_ns, work }))
}

fn workflow(log: &ActivityLog, cases: &Cases, key: &[u32], found: &[Found]) -> Workflow {
    let mut first: Vec<String> = Vec::new();
    for at in cases.of(found[0].case as usize) {
        let name = log.activity(at);
        if first.len() < NAMED && !first.iter().any(|known| known == name) {
            first.push(name.to_owned());
        }
    }
    let mut before = Sorted::default();
    let mut works: Vec<Sorted> = vec![Sorted::default(); key.len()];
    let mut runs = Vec::with_capacity(found.len());
    for of in found {
        let median = before.median();
        let more = |median: f64| of.time_ns as f64 > median * (1.0 + LEAST_MORE);
        let longest = before.numbers.last().copied().unwrap_or(i64::MAX);
        let regressed = median.filter(|_| before.numbers.len() >= LEAST_BEFORE).map(|median| of.time_ns > longest && more(median));
        let changes = key.iter().zip(&of.work).zip(&works).filter_map(|((activity, work), before)| {
            let difference = (*work)? as f64 - before.median()?;
            Some((*activity, difference))
        });
        let changed = changes
            .max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()).then_with(|| log.activities.get(b.0).cmp(log.activities.get(a.0))))
            .map(|(activity, difference)| (log.activities.get(activity).to_owned(), difference));
        runs.push(Run { case: of.case, begin_ns: of.begin_ns, time_ns: of.time_ns, before_ns: median, regressed, changed });
        before.insert(of.time_ns);
        works.iter_mut().zip(&of.work).for_each(|(known, work)| work.iter().for_each(|ns| known.insert(*ns)));
    }
    Workflow { activities: (first, key.len()), trend_ns: trend(&runs), runs }
}

/// The last numbers, at most [`MOST_BEFORE`], in order.
#[derive(Debug, Clone, Default)]
struct Sorted {
    numbers: Vec<i64>,
    arrived: VecDeque<i64>,
}

impl Sorted {
    fn insert(&mut self, number: i64) {
        if self.arrived.len() == MOST_BEFORE
            && let Some(oldest) = self.arrived.pop_front()
        {
            let place = self.numbers.partition_point(|known| *known < oldest);
            self.numbers.remove(place);
        }
        self.arrived.push_back(number);
        let place = self.numbers.partition_point(|known| *known <= number);
        self.numbers.insert(place, number);
    }

    fn median(&self) -> Option<f64> {
        let middle = self.numbers.len() / 2;
        match self.numbers.len() {
            0 => None,
            len if len % 2 == 1 => Some(self.numbers[middle] as f64),
            _ => Some((self.numbers[middle - 1] as f64 + self.numbers[middle] as f64) / 2.0),
        }
    }
}

fn trend(runs: &[Run]) -> Option<f64> {
    if runs.len() < 3 {
        return None;
    }
    let last = &runs[runs.len().saturating_sub(MOST_BEFORE)..];
    let mut slopes = Vec::new();
    for (at, a) in last.iter().enumerate() {
        for (after, b) in last[at + 1..].iter().enumerate() {
            slopes.push((b.time_ns as f64 - a.time_ns as f64) / (after + 1) as f64);
        }
    }
    let middle = slopes.len() / 2;
    slopes.sort_by(f64::total_cmp);
    let median = if slopes.len() % 2 == 1 { slopes[middle] } else { (slopes[middle - 1] + slopes[middle]) / 2.0 };
    Some(median)
}

#[cfg(test)]
mod tests {
    use flowmine_activity_log::{EventRow, LogBuilder, Transition};

    use super::*;

    /// Makes a log of runs of two activities; the second takes the given time.
    fn log(seconds: &[i64]) -> ActivityLog {
        let mut builder = LogBuilder::new(&[]);
        for (at, second) in (0i64..).zip(seconds) {
            let begin = at * 1000;
            for (name, from, to) in [("a", begin, begin + 10), ("b", begin + 10, begin + 10 + second)] {
                let activity = builder.activity(name);
                for (time, transition) in [(from, Transition::Start), (to, Transition::Complete)] {
                    builder.event(&EventRow { activity, time_ns: time * 1_000_000_000, transition, ..EventRow::default() }).expect("few");
                }
            }
            builder.end_case(&format!("run {at}")).expect("few");
        }
        builder.finish()
    }

    #[test]
    fn a_slow_last_run_is_a_regression_of_the_activity_that_slowed() {
        let log = log(&[20, 21, 19, 20, 60]);
        let found = discover(&log, log.cases().expect("cases"));
        assert_eq!(found.len(), 1);
        let runs = &found[0].runs;
        let verdicts: Vec<Option<bool>> = runs.iter().map(|run| run.regressed).collect();
        assert_eq!(verdicts, [None, None, None, Some(false), Some(true)]);
        assert_eq!(runs[4].before_ns, Some(30e9));
        assert_eq!(runs[4].changed, Some(("b".to_owned(), 40e9)));
    }

    #[test]
    fn a_long_history_is_compared_with_its_last_runs() {
        let mut sorted = Sorted::default();
        (0..2 * MOST_BEFORE as i64).for_each(|number| sorted.insert(number % 7));
        assert_eq!(sorted.numbers.len(), MOST_BEFORE);
        assert!(sorted.numbers.is_sorted());
        let mut last: Vec<i64> = (MOST_BEFORE as i64..2 * MOST_BEFORE as i64).map(|number| number % 7).collect();
        last.sort_unstable();
        assert_eq!(sorted.numbers, last);
    }

    #[test]
    fn the_trend_is_the_median_slope() {
        let log = log(&[10, 20, 30, 40]);
        let found = discover(&log, log.cases().expect("cases"));
        assert_eq!(found[0].trend_ns, Some(10e9));
        let steady = self::log(&[10, 10]);
        assert_eq!(discover(&steady, steady.cases().expect("cases"))[0].trend_ns, None);
    }
}

//! Temporal profile (Stertz, Mangler & Rinderle-Ma, *Temporal Conformance Checking at Runtime based
//! on Time-infused Process Models*, 2020): a log and its cases in, mean and standard deviation of
//! the time between each ordered pair of activities out, and the times that deviate.
//!
//! The definition is that of PM4Py's `discover_temporal_profile`: the instances of a case are
//! sorted by start, then end. For each two of them in which the second starts at or after the end
//! of the first, the time between counts for the pair of their activities. The standard deviation
//! is that of a sample (divided by n − 1), 0 for a single time. A time deviates when it is further
//! from the mean than ζ standard deviations, in the log from which the profile is made (PM4Py's
//! `conformance_temporal_profile` on the same log).
//!
//! The number of pairs grows with the square of the number of activities: only the most frequent
//! activities are included, the others are counted. Instances with an unknown time are counted and
//! left out.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use flowmine_activity_log::{ActivityLog, Cases, NONE};
use schemars::JsonSchema;
use serde::Serialize;

use crate::about::About;

/// Threshold of deviations, and limits of the profile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Number of standard deviations from the mean above which a time deviates. A negative number
    /// or NaN counts as 0.
    pub zeta: f64,
    /// Number of included activities, the most frequent ones; at most [`MOST_ACTIVITIES`].
    pub most_activities: usize,
    /// Maximum number of listed deviations, those furthest from their means. All are counted.
    pub most_deviations: usize,
}

/// Maximum number of activities. More would need more memory than their log.
pub const MOST_ACTIVITIES: usize = 2000;

impl Default for Options {
    fn default() -> Self {
        Self { zeta: 6.0, most_activities: 500, most_deviations: 1000 }
    }
}

/// The times between activities of a log, and those of them that deviate.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct TemporalProfile {
    /// Description of the log.
    #[serde(flatten)]
    pub about: About,
    /// ζ: number of standard deviations from the mean above which a time deviates.
    pub zeta: f64,
    /// Included activities, the most frequent first, then by name.
    pub activities: Vec<String>,
    /// Number of their instances with known times.
    pub instances_of: Vec<u64>,
    /// Number of activities that are not included because there are too many.
    pub activities_left_out: u64,
    /// Number of instances of these activities in cases.
    pub instances_left_out: u64,
    /// Number of instances without a known start or end.
    pub without_time: u64,
    /// Pairs, by the first activity in the order of [`TemporalProfile::activities`], then by the
    /// second.
    pub pairs: Vec<Pair>,
    /// The times that deviate, furthest first; of equals by case and activities.
    pub deviations: Vec<Deviation>,
    /// Number of times that deviate, listed or not.
    pub deviating: u64,
}

/// The times from one activity to another.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
pub struct Pair {
    /// The first activity: an index into [`TemporalProfile::activities`].
    pub from: u32,
    /// The second activity: an index into [`TemporalProfile::activities`].
    pub to: u32,
    /// Number of times between the two activities, in all cases.
    pub count: u64,
    /// Mean of the times, in nanoseconds.
    pub mean_ns: f64,
    /// Their standard deviation (of a sample), in nanoseconds; 0 for a single time.
    pub stdev_ns: f64,
    /// Number of these times that deviate.
    pub deviating: u64,
}

/// A time between two instances of a case that deviates from those of its pair.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Deviation {
    /// The name of the case.
    pub case: String,
    /// The first activity: an index into [`TemporalProfile::activities`].
    pub from: u32,
    /// The second activity: an index into [`TemporalProfile::activities`].
    pub to: u32,
    /// The time between the two instances, in nanoseconds.
    pub time_ns: i64,
    /// Mean time between these two activities, in nanoseconds.
    pub mean_ns: f64,
    /// Distance from the mean, in standard deviations; `None` if the standard deviation is 0.
    pub deviations: Option<f64>,
}

/// Count, mean and sum of squares of differences from it.
#[derive(Debug, Clone, Copy, Default)]
struct Moments {
    count: f64,
    mean: f64,
    squares: f64,
}

impl Moments {
    /// Merges two sets of numbers (Chan, Golub & LeVeque, 1983).
    fn add(&mut self, other: Self) {
        let count = self.count + other.count;
        if count > 0.0 {
            let apart = other.mean - self.mean;
            self.mean += apart * (other.count / count);
            self.squares += other.squares + apart * apart * (self.count * other.count / count);
            self.count = count;
        }
    }

    fn stdev(&self) -> f64 {
        if self.count > 1.0 { (self.squares.max(0.0) / (self.count - 1.0)).sqrt() } else { 0.0 }
    }
}

/// Walk through a case: instances by start and end, and for each the ends before its start.
struct Walk {
    members: Vec<(i64, i64, u32, u32)>,
    waiting: BinaryHeap<Reverse<(i64, u32)>>,
}

impl Walk {
    /// Calls `ended` for each instance that has ended, then `started` for the one that starts: with
    /// the activity and the time since the case's first start.
    fn case(
        &mut self,
        log: &ActivityLog,
        members: flowmine_activity_log::Members<'_>,
        number_of: &[u32],
        state: &mut impl State,
    ) -> (u64, u64) {
        let (mut without_time, mut left_out) = (0, 0);
        self.members.clear();
        self.waiting.clear();
        for at in members {
            let number = number_of[log.instances.activity[at as usize] as usize];
            match log.start_ns(at).filter(|_| log.start_is_known(at)).zip(log.end_ns(at)) {
                None => without_time += 1,
                Some(_) if number == NONE => left_out += 1,
                Some((start, end)) => self.members.push((start, end, at, number)),
            }
        }
        self.members.sort_unstable();
        let Some(&(zero, ..)) = self.members.first() else { return (without_time, left_out) };
        for &(start, end, _, number) in &self.members {
            while let Some(&Reverse((ended, of))) = self.waiting.peek().filter(|Reverse((ended, _))| *ended <= start) {
                self.waiting.pop();
                state.ended(of, since(ended, zero));
            }
            state.started(number, since(start, zero));
            self.waiting.push(Reverse((end, number)));
        }
        (without_time, left_out)
    }
}

/// Returns the time since `zero` in nanoseconds: exact up to 104 days, otherwise with a relative
/// error of up to 2⁻⁵³.
fn since(ns: i64, zero: i64) -> f64 {
    (i128::from(ns) - i128::from(zero)) as f64
}

trait State {
    fn ended(&mut self, activity: u32, at: f64);
    fn started(&mut self, activity: u32, at: f64);
}

/// The first walk: moments of each pair.
struct Sums {
    n: usize,
    pairs: Vec<Moments>,
    /// Ends in this case, by activity, and the activities with any.
    ends: Vec<Moments>,
    seen: Vec<u32>,
}

impl State for Sums {
    fn ended(&mut self, activity: u32, at: f64) {
        let ends = &mut self.ends[activity as usize];
        if ends.count == 0.0 {
            self.seen.push(activity);
        }
        ends.add(Moments { count: 1.0, mean: at, squares: 0.0 });
    }

    fn started(&mut self, activity: u32, at: f64) {
        for &from in &self.seen {
            let ends = self.ends[from as usize];
            // Times to this start have the same spread as the ends.
            let times = Moments { mean: at - ends.mean, ..ends };
            self.pairs[from as usize * self.n + activity as usize].add(times);
        }
    }
}

/// The second walk: deviations.
struct Deviating<'a> {
    n: usize,
    zeta: f64,
    pairs: &'a mut [Pair],
    /// Index in `pairs` of each two activities.
    place: &'a [u32],
    /// Ends in this case by activity, ascending, and the activities with any.
    ends: Vec<Vec<f64>>,
    seen: Vec<u32>,
    case: u32,
    most: usize,
    listed: BinaryHeap<Reverse<Found>>,
}

/// A deviation; the one furthest from its mean is the greatest.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Found {
    /// Infinite where the standard deviation is 0.
    far: f64,
    time: f64,
    case: u32,
    pair: u32,
}

impl Eq for Found {}

impl Ord for Found {
    fn cmp(&self, other: &Self) -> Ordering {
        let far = self.far.total_cmp(&other.far);
        far.then_with(|| (other.case, other.pair).cmp(&(self.case, self.pair))).then_with(|| self.time.total_cmp(&other.time))
    }
}

impl PartialOrd for Found {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Deviating<'_> {
    fn end_case(&mut self) {
        self.seen.drain(..).for_each(|activity| self.ends[activity as usize].clear());
        self.case += 1;
    }

    /// Lists a deviation. Returns `false` if it and all nearer ones are not far enough to be
    /// listed.
    fn list(&mut self, pair: u32, time: f64) -> bool {
        let of = &self.pairs[pair as usize];
        let far = if of.stdev_ns > 0.0 { (time - of.mean_ns).abs() / of.stdev_ns } else { f64::INFINITY };
        let found = Found { far, time, case: self.case, pair };
        if self.listed.len() >= self.most {
            if self.listed.peek().is_none_or(|Reverse(least)| found <= *least) {
                return false;
            }
            self.listed.pop();
        }
        self.listed.push(Reverse(found));
        true
    }
}

impl State for Deviating<'_> {
    fn ended(&mut self, activity: u32, at: f64) {
        let ends = &mut self.ends[activity as usize];
        if ends.is_empty() {
            self.seen.push(activity);
        }
        ends.push(at);
    }

    fn started(&mut self, activity: u32, at: f64) {
        for number in 0..self.seen.len() {
            let from = self.seen[number] as usize;
            let pair = self.place[from * self.n + activity as usize];
            let Some(of) = self.pairs.get(pair as usize).copied() else { continue };
            // Rounding must not turn equal times into deviations.
            let room = self.zeta * of.stdev_ns + (of.mean_ns.abs() * 1e-12).max(0.5);
            let (low, high) = (of.mean_ns - room, of.mean_ns + room);
            let ends = &self.ends[from];
            // Ends ascend, so that the times to this start descend. Mostly neither the longest nor the shortest deviates.
            let usual = |end: Option<&f64>| end.is_none_or(|end| (low..=high).contains(&(at - end)));
            if usual(ends.first()) && usual(ends.last()) {
                continue;
            }
            let long = ends.partition_point(|end| at - end > high);
            let short = ends.partition_point(|end| at - end >= low);
            let total = ends.len();
            self.pairs[pair as usize].deviating += (long + total - short) as u64;
            for place in 0..long {
                let time = at - self.ends[from][place];
                if !self.list(pair, time) {
                    break;
                }
            }
            for place in (short..total).rev() {
                let time = at - self.ends[from][place];
                if !self.list(pair, time) {
                    break;
                }
            }
        }
    }
}

/// Makes a temporal profile and finds the deviations of the log.
pub fn discover(log: &ActivityLog, cases: &Cases, options: &Options) -> TemporalProfile {
    let (chosen, number_of) = most_frequent(log, options.most_activities.min(MOST_ACTIVITIES));
    let n = chosen.len();
    let mut profile = TemporalProfile {
        about: About::new(log, cases),
        zeta: if options.zeta >= 0.0 { options.zeta } else { 0.0 },
        activities: chosen.iter().map(|&activity| log.activities.get(activity).to_owned()).collect(),
        instances_of: vec![0; n],
        ..TemporalProfile::default()
    };
    let mut used = vec![false; log.activities.len()];
    for at in 0..log.len() as u32 {
        let activity = log.instances.activity[at as usize] as usize;
        used[activity] = true;
        if let Some(count) = profile.instances_of.get_mut(number_of[activity] as usize) {
            *count += u64::from(log.start_ns(at).is_some() && log.end_ns(at).is_some());
        }
    }
    profile.activities_left_out = used.iter().filter(|used| **used).count().saturating_sub(n) as u64;
    let mut walk = Walk { members: Vec::new(), waiting: BinaryHeap::new() };
    let mut sums = Sums { n, pairs: vec![Moments::default(); n * n], ends: vec![Moments::default(); n], seen: Vec::new() };
    // By name: sums of fractions depend on the order, and the result must not depend on that of the
    // file.
    let order = cases.names.sorted();
    for &case in &order {
        let (without_time, left_out) = walk.case(log, cases.of(case as usize), &number_of, &mut sums);
        profile.without_time += without_time;
        profile.instances_left_out += left_out;
        sums.seen.drain(..).for_each(|activity| sums.ends[activity as usize] = Moments::default());
    }
    let mut place = vec![NONE; n * n];
    for (at, moments) in sums.pairs.iter().enumerate().filter(|(_, moments)| moments.count > 0.0) {
        place[at] = profile.pairs.len() as u32;
        profile.pairs.push(Pair {
            from: (at / n) as u32,
            to: (at % n) as u32,
            count: moments.count as u64,
            mean_ns: moments.mean,
            stdev_ns: moments.stdev(),
            deviating: 0,
        });
    }
    let mut second = Deviating {
        n,
        zeta: profile.zeta,
        pairs: &mut profile.pairs,
        place: &place,
        ends: vec![Vec::new(); n],
        seen: Vec::new(),
        case: 0,
        most: options.most_deviations,
        listed: BinaryHeap::new(),
    };
    for &case in &order {
        walk.case(log, cases.of(case as usize), &number_of, &mut second);
        second.end_case();
    }
    let mut listed: Vec<Found> = second.listed.into_iter().map(|Reverse(found)| found).collect();
    listed.sort_unstable_by(|a, b| b.cmp(a));
    profile.deviating = profile.pairs.iter().map(|pair| pair.deviating).sum();
    profile.deviations = (listed.into_iter())
        .map(|found| {
            let pair = profile.pairs[found.pair as usize];
            Deviation {
                case: cases.names.get(order[found.case as usize]).to_owned(),
                from: pair.from,
                to: pair.to,
                time_ns: found.time as i64,
                mean_ns: pair.mean_ns,
                deviations: found.far.is_finite().then_some(found.far),
            }
        })
        .collect();
    profile
}

/// Returns the most frequent activities, and the number of each activity among them.
fn most_frequent(log: &ActivityLog, most: usize) -> (Vec<u32>, Vec<u32>) {
    let mut counts = vec![0u64; log.activities.len()];
    log.instances.activity.iter().for_each(|&activity| counts[activity as usize] += 1);
    let mut order: Vec<u32> = (0..counts.len() as u32).filter(|&activity| counts[activity as usize] > 0).collect();
    order.sort_unstable_by(|&a, &b| {
        let names = || log.activities.get(a).cmp(log.activities.get(b));
        counts[b as usize].cmp(&counts[a as usize]).then_with(names)
    });
    order.truncate(most);
    let mut number_of = vec![NONE; counts.len()];
    for (number, &activity) in order.iter().enumerate() {
        number_of[activity as usize] = number as u32;
    }
    (order, number_of)
}

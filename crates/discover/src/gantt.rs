//! Gantt chart: instances by resource and time, and their parallelism.
//!
//! A log and its cases in; out come bars in lanes. Simultaneous instances of one resource (a host,
//! or the chosen attribute) are in separate lanes, its slots: each takes the first lane that is
//! free at its start, so that the number of lanes is the maximum number of simultaneous instances.
//! An instance on several resources (a job on several nodes) has a bar on each; it counts once
//! among the running instances.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use flowmine_activity_log::{ActivityLog, Attribute, Cases, IoPhase, Measure, NONE, Names, Status, TracedOwner};
use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::Serialize;

use crate::about::About;
use crate::ranks::InstanceRanks;
use crate::who::Identities;

/// Definition of the resources of a chart.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Attribute by which instances are grouped; `None`: their resource.
    pub by: Option<String>,
    /// Function that splits a value of that attribute into resources: an instance on several has a
    /// bar on each.
    pub divide: Option<fn(&str) -> Vec<String>>,
}

/// A Gantt chart: resources with lanes, and the bars in them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Gantt {
    /// Description of the log.
    pub about: About,
    /// The names of activities; [`Bar::activity`] is an index into them.
    pub activities: Names,
    /// The names of cases; [`Bar::case`] is an index into them.
    pub cases: Names,
    /// Resources, by name, with their lanes.
    pub resources: Vec<Resource>,
    /// Bars by lane, then by start.
    pub bars: Vec<Bar>,
    /// Traced phases of reads and writes: those of a bar are adjacent, in order.
    pub phases: Vec<IoPhase>,
    /// First and last known moment of the bars, UTC nanoseconds since 1970.
    pub span_ns: Option<(i64, i64)>,
    /// Number of instances that ran at the same time.
    pub running: Level,
    /// Number of instances that waited at the same time: ready and not started.
    pub queued: Level,
    /// Number of instances with fewer than two known times: they have no bar.
    pub without_time: u64,
    /// Number of instances that ended before they started: they have no bar.
    pub backwards: u64,
    /// Identities of the instances of the log.
    pub identities: Identities,
}

/// A resource, such as a host, with its lanes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Resource {
    /// Name of the resource; null for instances without one.
    pub name: Option<String>,
    /// Number of its first lane, counted over all resources.
    pub first_lane: u32,
    /// Number of its lanes: the maximum number of instances that ran at once.
    pub lanes: u32,
    /// Number of bars in its lanes.
    pub bars: u64,
    /// Sum of the time of its bars, in nanoseconds.
    pub busy_ns: i128,
    /// CPUs occupied; null if those of a bar are not known.
    pub cpus: Option<Occupied>,
    /// GPUs occupied; null if those of a bar are not known.
    pub gpus: Option<Occupied>,
    /// Memory occupied, in bytes; null if that of a bar is not known.
    pub memory_bytes: Option<Occupied>,
}

/// Simultaneous use of a resource. An instance on several resources counts on each with an equal
/// share.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
pub struct Occupied {
    /// Maximum at the same time.
    pub most: f64,
    /// Mean over the whole time of the chart.
    pub mean: f64,
}

/// A bar: one activity instance with a known start and end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bar {
    /// Number of the instance in the log.
    pub instance: u32,
    /// Its lane, counted over all resources.
    pub lane: u32,
    /// Its activity: an index into [`Gantt::activities`].
    pub activity: u32,
    /// Its case: an index into [`Gantt::cases`], or [`NONE`].
    pub case: u32,
    /// Moment at which it was submitted, if it was not ready then, in nanoseconds since 1970.
    pub submitted_ns: Option<i64>,
    /// Moment at which it was ready, if before its start, in nanoseconds since 1970.
    pub ready_ns: Option<i64>,
    /// Start or, if that is not known, moment at which it was ready, in nanoseconds since 1970.
    pub start_ns: i64,
    /// Whether `start_ns` is its start, not the moment at which it was ready.
    pub start_is_known: bool,
    /// Running time: what the engine measured, otherwise from start to end, in nanoseconds.
    pub running_ns: Option<i64>,
    /// Start of its first process, if later: until then it was staged, in nanoseconds since 1970.
    pub staged_until_ns: Option<i64>,
    /// Range of its phases in [`Gantt::phases`]: the first, and one past the last.
    pub phases: (u32, u32),
    /// End or, without an end, the last moment of the log, in nanoseconds since 1970.
    pub end_ns: i64,
    /// Outcome of the instance.
    pub status: Status,
    /// Number of the attempt, from 1; `None` if the log does not number it.
    pub attempt: Option<u32>,
    /// Index among the bars of its instance, from 0.
    pub part: u32,
    /// Number of the bars of its instance.
    pub parts: u32,
}

impl Bar {
    /// Returns whether it is the first bar of its instance, which represents the instance in
    /// counts.
    pub fn is_first(&self) -> bool {
        self.part == 0
    }

    /// Returns the time from its submission to the moment at which it was ready or, if it started
    /// then, to its start, in nanoseconds; `None` if it was ready when it was submitted.
    pub fn not_ready_ns(&self) -> Option<i64> {
        let ready_ns = self.ready_ns.unwrap_or(self.start_ns);
        Some(ready_ns.saturating_sub(self.submitted_ns?))
    }
}

/// Number of simultaneous instances over time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
pub struct Level {
    /// Maximum number at the same time.
    pub most: u64,
    /// Time during which there were that many, in nanoseconds.
    pub at_most_ns: i64,
    /// The mean number over the whole time of the chart.
    pub mean: f64,
}

/// Makes a Gantt chart. An instance in several cases has one bar.
pub fn discover(log: &ActivityLog, cases: &Cases, options: &Options) -> Gantt {
    let last = (0..log.len() as u32).filter_map(|at| log.end_ns(at).max(log.start_ns(at))).max();
    let mut found = Gantt {
        about: About::new(log, cases),
        activities: log.activities.clone(),
        cases: cases.names.clone(),
        identities: Identities::new(log),
        ..Gantt::default()
    };
    let attribute = options.by.as_ref().and_then(|key| log.attribute(key));
    let ranks = InstanceRanks::new(log, cases);
    let mut by_resource: BTreeMap<Option<String>, Vec<Bar>> = BTreeMap::new();
    for instance in 0..log.len() as u32 {
        match bar(log, instance, ranks.case(instance), last) {
            Ok(bar) => {
                let resources = resources(log, attribute, instance, options.divide);
                let parts = resources.len() as u32;
                for (part, resource) in (0..).zip(resources) {
                    by_resource.entry(resource).or_default().push(Bar { part, parts, ..bar });
                }
            }
            Err(Without::Time) => found.without_time += 1,
            Err(Without::Order) => found.backwards += 1,
        }
    }
    let mut first_lane = 0;
    for (name, mut bars) in by_resource {
        let lanes = slots(&mut bars, first_lane, |instance| ranks.key(instance));
        found.resources.push(Resource {
            name,
            first_lane,
            lanes,
            bars: bars.len() as u64,
            busy_ns: bars.iter().map(|bar| i128::from(bar.end_ns) - i128::from(bar.start_ns)).sum(),
            ..Resource::default()
        });
        first_lane += lanes;
        found.bars.append(&mut bars);
    }
    found.bars.sort_by_key(|bar| (bar.lane, bar.start_ns, bar.end_ns, bar.instance));
    let begin = found.bars.iter().map(|bar| bar.ready_ns.unwrap_or(bar.start_ns)).min();
    found.span_ns = begin.zip(found.bars.iter().map(|bar| bar.end_ns).max());
    if let Some(span) = found.span_ns {
        let first = || found.bars.iter().filter(|bar| bar.is_first());
        found.running = level(first().map(|bar| (bar.start_ns, bar.end_ns)), span);
        found.queued = level(first().filter_map(|bar| Some((bar.ready_ns?, bar.start_ns))), span);
        occupy(log, &mut found.resources, &found.bars, span);
    }
    found
}

/// Computes how much of each resource was occupied.
fn occupy(log: &ActivityLog, resources: &mut [Resource], bars: &[Bar], span: (i64, i64)) {
    let mut bars = bars;
    for resource in resources {
        let end = resource.first_lane + resource.lanes;
        let count = bars.iter().take_while(|bar| bar.lane < end).count();
        let (of, rest) = bars.split_at(count);
        bars = rest;
        let occupied = |measure| occupied(of, span, |bar| log.measure(measure, bar.instance));
        resource.cpus = occupied(Measure::Cpus);
        resource.gpus = occupied(Measure::Gpus);
        resource.memory_bytes = occupied(Measure::MemoryBytes);
    }
}

/// Returns how much bars occupy at once; `None` if the value of one is not known.
fn occupied(bars: &[Bar], (first, last): (i64, i64), of: impl Fn(&Bar) -> Option<i64>) -> Option<Occupied> {
    let mut changes: Vec<(i64, f64)> = Vec::with_capacity(2 * bars.len());
    let mut area = 0.0;
    // A bar without a known start may be all waiting.
    for bar in bars.iter().filter(|bar| bar.start_is_known) {
        let share = of(bar)? as f64 / f64::from(bar.parts.max(1));
        area += share * bar.end_ns.saturating_sub(bar.start_ns) as f64;
        changes.extend([(bar.start_ns, share), (bar.end_ns, -share)]);
    }
    // Ends come before starts of the same moment.
    changes.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mut now = 0.0;
    let most = changes.iter().fold(0.0f64, |most, (_, change)| {
        now += change;
        most.max(now)
    });
    let whole = last.saturating_sub(first);
    Some(Occupied { most, mean: if whole > 0 { area / whole as f64 } else { 0.0 } })
}

impl Gantt {
    /// Adds the traced data of instances, which are identified by an attribute of the log.
    pub fn add_traced(&mut self, log: &ActivityLog, key: &str, traced: &FxHashMap<String, TracedOwner>, name: impl Fn(&str) -> String) {
        let Some(attribute) = log.attribute(key) else { return };
        for bar in &mut self.bars {
            let Some(number) = attribute.of.get(bar.instance as usize).copied().filter(|number| *number != NONE) else { continue };
            let Some(of) = traced.get(&name(attribute.names.get(number))) else { continue };
            let staged = of.first_start_ns.filter(|start| bar.start_is_known && *start > bar.start_ns && *start <= bar.end_ns);
            bar.staged_until_ns = staged;
            let first = self.phases.len() as u32;
            // The phases of a job on several nodes are on its first bar.
            if !bar.is_first() {
                continue;
            }
            // A job that was requeued had processes in each of its attempts.
            let within = of.phases.iter().filter(|phase| phase.from_ns <= bar.end_ns && phase.to_ns >= bar.start_ns);
            self.phases.extend(within);
            bar.phases = (first, self.phases.len() as u32);
        }
    }

    /// Returns the phases of reads and writes of a bar.
    pub fn phases_of(&self, bar: &Bar) -> &[IoPhase] {
        self.phases.get(bar.phases.0 as usize..bar.phases.1 as usize).unwrap_or_default()
    }
}

/// Returns the resources on which an instance runs, or its value of the chosen attribute, divided.
fn resources(log: &ActivityLog, by: Option<&Attribute>, instance: u32, divide: Option<fn(&str) -> Vec<String>>) -> Vec<Option<String>> {
    let (names, number) = match by {
        Some(attribute) => (&attribute.names, attribute.of.get(instance as usize)),
        None => (&log.resources, log.instances.resource.get(instance as usize)),
    };
    let Some(name) = number.filter(|number| **number != NONE).map(|&number| names.get(number)) else { return vec![None] };
    let divided: Vec<Option<String>> = divide.map(|divide| divide(name)).unwrap_or_default().into_iter().map(Some).collect();
    if divided.is_empty() { vec![Some(name.to_owned())] } else { divided }
}

/// Reason why an instance has no bar: a time is not known, or its end is before its start.
enum Without {
    Time,
    Order,
}

fn bar(log: &ActivityLog, instance: u32, case: u32, last: Option<i64>) -> Result<Bar, Without> {
    let status = log.status(instance);
    let moment = log.is_moment(instance);
    let start_is_known = log.start_is_known(instance);
    let end = match (moment, status) {
        (false, _) => log.end_ns(instance),
        (true, Status::Unfinished) => last,
        (true, _) => None,
    };
    if log.ends_before_start(instance) {
        return Err(Without::Order);
    }
    let (Some(start_ns), Some(end_ns)) = (log.start_ns(instance), end) else { return Err(Without::Time) };
    let ready = log.ready_ns(instance);
    let submitted_ns = log.submitted_ns(instance).filter(|submitted| ready.is_some_and(|ready| *submitted < ready));
    let ready_ns = ready.filter(|ready| *ready < start_ns);
    let activity = log.instances.activity[instance as usize];
    let attempt = log.attempt(instance);
    Ok(Bar {
        instance,
        lane: 0,
        activity,
        case,
        submitted_ns,
        ready_ns,
        start_ns,
        start_is_known,
        running_ns: log.service_ns(instance),
        staged_until_ns: None,
        phases: (0, 0),
        end_ns,
        status,
        attempt,
        part: 0,
        parts: 1,
    })
}

/// Puts each bar into the first free lane, and returns the number of lanes. Bars with the same
/// times are in the order of `tie`.
fn slots(bars: &mut [Bar], first_lane: u32, tie: impl Fn(u32) -> (u32, u32, u32)) -> u32 {
    bars.sort_by_key(|bar| (bar.start_ns, bar.end_ns, tie(bar.instance)));
    let times: Vec<(i64, i64)> = bars.iter().map(|bar| (bar.start_ns, bar.end_ns)).collect();
    let (of, lanes) = lanes(&times);
    for (bar, lane) in bars.iter_mut().zip(of) {
        bar.lane = first_lane + lane;
    }
    lanes
}

/// Returns the lane of each interval, the first free one, and the number of lanes. Intervals are in
/// the order of their starts.
pub(crate) fn lanes(intervals: &[(i64, i64)]) -> (Vec<u32>, u32) {
    let mut of = Vec::with_capacity(intervals.len());
    let mut free: BTreeSet<u32> = BTreeSet::new();
    let mut busy: BinaryHeap<Reverse<(i64, u32)>> = BinaryHeap::new();
    let mut lanes = 0;
    for &(start, end) in intervals {
        while let Some(&Reverse((busy_until, lane))) = busy.peek()
            && busy_until <= start
        {
            busy.pop();
            free.insert(lane);
        }
        let lane = free.pop_first().unwrap_or_else(|| {
            lanes += 1;
            lanes - 1
        });
        of.push(lane);
        // An interval of length zero still occupies its lane for others that begin at the same
        // moment.
        busy.push(Reverse((end.max(start.saturating_add(1)), lane)));
    }
    (of, lanes)
}

/// Computes the number of simultaneous intervals.
fn level(intervals: impl Iterator<Item = (i64, i64)>, (first, last): (i64, i64)) -> Level {
    let mut changes: Vec<(i64, i64)> = Vec::new();
    for (from, to) in intervals.filter(|(from, to)| from < to) {
        changes.extend([(from, 1), (to, -1)]);
    }
    changes.sort_unstable();
    let (mut at, mut now, mut level, mut area) = (first, 0i64, Level::default(), 0f64);
    for same in changes.chunk_by(|a, b| a.0 == b.0) {
        let Some(&(ns, _)) = same.first() else { continue };
        let time = ns.saturating_sub(at);
        if now > 0 {
            area += now as f64 * time as f64;
            match (now as u64).cmp(&level.most) {
                std::cmp::Ordering::Greater => (level.most, level.at_most_ns) = (now as u64, time),
                std::cmp::Ordering::Equal => flowmine_sums::add_to(&mut level.at_most_ns, time),
                std::cmp::Ordering::Less => {}
            }
        }
        at = ns;
        now += same.iter().map(|(_, change)| change).sum::<i64>();
    }
    let whole = last.saturating_sub(first);
    level.mean = if whole > 0 { area / whole as f64 } else { 0.0 };
    level
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bars(times: &[(i64, i64)]) -> Vec<Bar> {
        let bar = |(at, &(start_ns, end_ns)): (usize, &(i64, i64))| Bar {
            instance: at as u32,
            lane: 0,
            activity: 0,
            case: NONE,
            submitted_ns: None,
            ready_ns: None,
            start_ns,
            start_is_known: true,
            running_ns: None,
            staged_until_ns: None,
            phases: (0, 0),
            end_ns,
            status: Status::Completed,
            attempt: None,
            part: 0,
            parts: 1,
        };
        times.iter().enumerate().map(bar).collect()
    }

    #[test]
    fn levels_by_hand() {
        let of = level([(0, 10), (5, 10), (5, 7), (20, 30)].into_iter(), (0, 40));
        assert_eq!(of, Level { most: 3, at_most_ns: 2, mean: 27.0 / 40.0 });
        assert_eq!(level(std::iter::empty(), (0, 0)), Level::default());
    }

    #[test]
    fn shares_of_a_resource_add_up() {
        let both = [(0, 10), (5, 15), (15, 20)];
        let mut bars = bars(&both);
        bars[1].parts = 2;
        let of = occupied(&bars, (0, 20), |_| Some(4));
        assert_eq!(of, Some(Occupied { most: 6.0, mean: (40.0 + 20.0 + 20.0) / 20.0 }));
        assert_eq!(occupied(&bars, (0, 20), |bar| (bar.instance > 0).then_some(1)), None);
    }

    proptest! {
        /// Bars of a lane never overlap, and there are at most as many lanes as simultaneous
        /// instances.
        #[test]
        fn lanes_are_few_and_free(times in prop::collection::vec((0i64..100, 1i64..30), 1..60)) {
            let times: Vec<(i64, i64)> = times.into_iter().map(|(start, time)| (start, start + time)).collect();
            let mut made = bars(&times);
            let lanes = slots(&mut made, 5, |instance| (0, 0, instance));
            let most = level(times.iter().copied(), (0, 200)).most;
            prop_assert_eq!(u64::from(lanes), most);
            for (at, a) in made.iter().enumerate() {
                prop_assert!(a.lane >= 5 && a.lane < 5 + lanes);
                for b in &made[at + 1..] {
                    prop_assert!(a.lane != b.lane || a.end_ns <= b.start_ns);
                }
            }
        }
    }
}

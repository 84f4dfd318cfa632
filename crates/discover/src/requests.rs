//! Suggested requests: time limit, memory and CPUs, by activity.
//!
//! In goes a log with the requests and the use of its instances ([`crate::resources::Usage`]); out
//! comes a suggestion of each resource for each activity, by one of two rules ([`Rule`]): the
//! maximum use plus a margin, or a percentile, with the number of instances that used more.
//!
//! * **Counted** are instances that completed or have an unknown outcome, and those that were ended
//!   at their time limit or out of memory, which needed at least what they had used. Other failed
//!   instances show nothing about the need.
//! * **CPUs used** are the mean over the running time, rounded up.
//! * **Rounding** is upwards: times to whole minutes, the unit of Slurm's time limits; memory to
//!   whole MiB.
//! * **By input**, where instances read what a trace recorded, and their use follows its size
//!   ([`ByInput`]).
//! * **Saved** is the difference from the request, of instances with both known: hours of time
//!   limit, GiB-hours, core-hours. It is negative if the request should be larger.

mod by_input;

use flowmine_activity_log::{ActivityLog, Attribute, BytesFrom, Cases, Measure, Status};
use schemars::JsonSchema;
use serde::Serialize;

pub use by_input::ByInput;

use crate::about::About;
use crate::resources::{STATE, Usage};

/// Number of nanoseconds in a minute.
const MINUTE_NS: i64 = 60_000_000_000;

/// Number of nanoseconds in a second.
const SECOND_NS: i64 = 1_000_000_000;

/// Number of bytes in a MiB.
const MIB: i64 = 1 << 20;

/// States of jobs that were ended because of a request that was too small.
const CUT_SHORT: [&str; 2] = ["TIMEOUT", "OUT_OF_MEMORY"];

/// Rule that computes a suggestion from the use.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// The maximum use plus this share of it.
    Maximum {
        /// The margin: 0.2 is 20 % more.
        margin: f64,
    },
    /// The smallest value that at least this share of the instances did not exceed.
    Percentile {
        /// The share, 0 to 1.
        share: f64,
    },
}

impl Default for Rule {
    fn default() -> Self {
        Self::Maximum { margin: 0.2 }
    }
}

/// Suggested requests of a log's activities.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Requests {
    /// Description of the log.
    #[serde(flatten)]
    pub about: About,
    /// Rule of the suggestions.
    pub rule: Rule,
    /// Activities with a measurement, most core time saved first.
    pub activities: Vec<Request>,
}

/// Suggested requests of an activity.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Request {
    /// The activity.
    pub activity: String,
    /// Number of instances that are counted.
    pub instances: u64,
    /// Number of those that were ended because of a request that was too small.
    pub cut_short: u64,
    /// Time limit, in nanoseconds; savings in nanoseconds.
    pub time_ns: Option<Suggestion>,
    /// Memory of a whole instance, in bytes; savings in byte-nanoseconds.
    pub memory_bytes: Option<Suggestion>,
    /// Number of CPUs; savings in nanoseconds of one core.
    pub cpus: Option<Suggestion>,
    /// Time limit by the bytes read, in nanoseconds; null where the size does not explain the time.
    pub time_by_input: Option<ByInput>,
    /// Memory by the bytes read, in bytes; null where the size does not explain the memory.
    pub memory_by_input: Option<ByInput>,
}

/// A suggestion of one resource, in the unit of its field.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Suggestion {
    /// Number of instances with known use.
    pub measured: u64,
    /// Maximum request.
    pub asked: Option<i64>,
    /// Maximum use.
    pub used: i64,
    /// Suggested request.
    pub suggested: i64,
    /// Number of instances that used more. With this time limit or memory they would have been
    /// killed, with these CPUs they would have run longer.
    pub exceeding: u64,
    /// Savings over all instances: requested and not suggested.
    pub saved: Option<i128>,
}

/// Use and request of a resource by an instance, and the duration of the saving.
#[derive(Debug, Clone, Copy)]
struct Sample {
    used: i64,
    asked: Option<i64>,
    weight_ns: i64,
}

impl Rule {
    /// Returns the value for sorted numbers, before rounding.
    fn value(self, sorted: &[i64]) -> i64 {
        let Some(&most) = sorted.last() else { return 0 };
        match self {
            Self::Maximum { margin } => (most as f64 * (1.0 + margin)).ceil() as i64,
            Self::Percentile { share } => {
                let rank = (share.clamp(0.0, 1.0) * sorted.len() as f64).ceil() as usize;
                sorted[rank.clamp(1, sorted.len()) - 1]
            }
        }
    }

    fn suggest(self, samples: &[Sample], step: i64) -> Option<Suggestion> {
        let mut sorted: Vec<i64> = samples.iter().map(|sample| sample.used).collect();
        sorted.sort_unstable();
        let used = *sorted.last()?;
        let suggested = round_up(self.value(&sorted).max(1), step);
        let saved = samples.iter().filter_map(|sample| {
            let difference = i128::from(sample.asked?) - i128::from(suggested);
            Some(difference.saturating_mul(sample.weight_ns.into()))
        });
        Some(Suggestion {
            measured: samples.len() as u64,
            asked: samples.iter().filter_map(|sample| sample.asked).max(),
            used,
            suggested,
            exceeding: samples.iter().filter(|sample| sample.used > suggested).count() as u64,
            saved: saved.reduce(i128::saturating_add),
        })
    }
}

/// Returns the next multiple of a step, or the largest one that fits in 64 bits.
fn round_up(value: i64, step: i64) -> i64 {
    let whole = value / step;
    let steps = if value % step == 0 { whole } else { whole + 1 };
    steps.checked_mul(step).unwrap_or(i64::MAX / step * step)
}

/// Returns whether an instance shows the need of its activity.
fn counts(log: &ActivityLog, instance: u32, is_cut_short: bool) -> bool {
    is_cut_short || matches!(log.status(instance), Status::Completed | Status::Unknown)
}

fn is_cut_short(states: Option<&Attribute>, instance: u32) -> bool {
    states.and_then(|states| states.value(instance)).is_some_and(|state| CUT_SHORT.contains(&state))
}

/// Suggests requests for the activities of a log.
pub fn discover(log: &ActivityLog, cases: &Cases, rule: Rule) -> Requests {
    let states = log.attribute(STATE);
    let mut of: Vec<Vec<(Usage, bool, Option<i64>)>> = vec![Vec::new(); log.activities.len()];
    for at in 0..log.len() as u32 {
        let cut = is_cut_short(states, at);
        if let Some(usage) = Usage::new(log, states, at).filter(|_| counts(log, at, cut)) {
            of[log.instances.activity[at as usize] as usize].push((usage, cut, traced_input(log, at)));
        }
    }
    let named = (0u32..).zip(&of).filter(|(_, usages)| !usages.is_empty());
    let mut activities: Vec<Request> = named.map(|(activity, usages)| request(log.activities.get(activity), usages, rule)).collect();
    activities.sort_by(|a, b| {
        let saved = |request: &Request| {
            let of = |suggestion: Option<Suggestion>| suggestion.and_then(|of| of.saved);
            std::cmp::Reverse((of(request.cpus), of(request.time_ns), of(request.memory_bytes)))
        };
        saved(a).cmp(&saved(b)).then_with(|| a.activity.cmp(&b.activity))
    });
    Requests { about: About::new(log, cases), rule, activities }
}

/// Returns the bytes that an instance read, if a trace recorded them.
fn traced_input(log: &ActivityLog, instance: u32) -> Option<i64> {
    let is_traced = log.instances.bytes_from.get(instance as usize) == Some(&BytesFrom::Trace);
    log.measure(Measure::ReadBytes, instance).filter(|_| is_traced)
}

fn request(activity: &str, usages: &[(Usage, bool, Option<i64>)], rule: Rule) -> Request {
    let samples = |of: fn(&Usage) -> Option<Sample>| -> Vec<Sample> { usages.iter().filter_map(|(usage, ..)| of(usage)).collect() };
    let by_input = |used: fn(&Usage) -> Option<i64>, steps: (i64, i64)| {
        let samples: Vec<(i64, i64)> = usages.iter().filter_map(|(usage, _, read)| Some(((*read)?, used(usage)?))).collect();
        by_input::suggest(&samples, rule, steps)
    };
    let time = samples(|usage| Some(Sample { used: usage.elapsed_ns, asked: usage.limit_ns, weight_ns: 1 }));
    let memory = samples(|usage| Some(Sample { used: usage.peak_bytes?, asked: usage.memory_bytes, weight_ns: usage.elapsed_ns }));
    let cpus = samples(|usage| {
        let used = (usage.mean_cpus()?.ceil() as i64).max(1);
        Some(Sample { used, asked: usage.cpus, weight_ns: usage.elapsed_ns })
    });
    // No instance uses more CPUs than the maximum use.
    let without_margin = match rule {
        Rule::Maximum { .. } => Rule::Maximum { margin: 0.0 },
        rule => rule,
    };
    Request {
        activity: activity.to_owned(),
        instances: usages.len() as u64,
        cut_short: usages.iter().filter(|(_, cut, _)| *cut).count() as u64,
        time_ns: rule.suggest(&time, MINUTE_NS),
        memory_bytes: rule.suggest(&memory, MIB),
        cpus: without_margin.suggest(&cpus, 1),
        time_by_input: by_input(|usage| Some(usage.elapsed_ns), (MINUTE_NS, SECOND_NS)),
        memory_by_input: by_input(|usage| usage.peak_bytes, (MIB, MIB)),
    }
}

#[cfg(test)]
mod tests {
    use flowmine_activity_log::{BytesFrom, InstanceRow, LogBuilder, Measure, UNKNOWN};
    use proptest::prelude::*;

    use super::*;

    /// Running time in minutes, and the final state of the job.
    fn log(jobs: &[(i64, &str)]) -> ActivityLog {
        let mut builder = LogBuilder::new(&[STATE.to_owned()]);
        for &(minutes, state) in jobs {
            let activity = builder.activity("align");
            let measures = [
                (Measure::TimeLimitNs, 100 * MINUTE_NS),
                (Measure::Cpus, 8),
                (Measure::CpuTimeNs, 2 * minutes * MINUTE_NS),
                (Measure::MemoryBytes, 1000 * MIB),
                (Measure::PeakMemoryBytes, 10 * minutes * MIB),
            ];
            let state_value = builder.value(0, state);
            let row = InstanceRow {
                activity,
                ready_ns: UNKNOWN,
                start_ns: 0,
                end_ns: minutes * MINUTE_NS,
                resource: None,
                status: if state == "COMPLETED" { Status::Completed } else { Status::Failed },
                attempt: 0,
                measures: &measures,
                bytes_from: BytesFrom::Nobody,
                attributes: &[(0, state_value)],
            };
            builder.instance(&row).expect("few");
        }
        builder.end_case("case").expect("one");
        builder.finish()
    }

    fn align(jobs: &[(i64, &str)], rule: Rule) -> Request {
        let log = log(jobs);
        discover(&log, &log.groups[0], rule).activities.remove(0)
    }

    #[test]
    fn the_maximum_has_a_margin_and_kills_nothing() {
        let found = align(&[(10, "COMPLETED"), (20, "COMPLETED"), (90, "FAILED")], Rule::default());
        let time = found.time_ns.expect("known");
        assert_eq!((time.used, time.suggested, time.exceeding), (20 * MINUTE_NS, 24 * MINUTE_NS, 0));
        assert_eq!(time.saved, Some(i128::from(2 * 76 * MINUTE_NS)));
        let memory = found.memory_bytes.expect("known");
        assert_eq!((memory.suggested, memory.asked), (240 * MIB, Some(1000 * MIB)));
        assert_eq!(memory.saved, Some(i128::from(760 * MIB) * i128::from(30 * MINUTE_NS)));
        let cpus = found.cpus.expect("known");
        assert_eq!((cpus.suggested, cpus.saved), (2, Some(i128::from(6 * 30 * MINUTE_NS))));
        assert_eq!((found.instances, found.cut_short), (2, 0));
    }

    #[test]
    fn a_percentile_says_how_many_it_would_have_killed() {
        let jobs: Vec<(i64, &str)> = (1..=10).map(|minutes| (minutes, "COMPLETED")).collect();
        let time = align(&jobs, Rule::Percentile { share: 0.8 }).time_ns.expect("known");
        assert_eq!((time.suggested, time.exceeding, time.measured), (8 * MINUTE_NS, 2, 10));
    }

    #[test]
    fn what_was_cut_short_needed_at_least_what_it_had() {
        let found = align(&[(10, "COMPLETED"), (100, "TIMEOUT")], Rule::default());
        assert_eq!(found.cut_short, 1);
        assert_eq!(found.time_ns.map(|time| time.suggested), Some(120 * MINUTE_NS));
    }

    proptest! {
        #[test]
        fn a_percentile_covers_its_share_and_a_maximum_all(minutes in proptest::collection::vec(1i64..500, 1..60), share in 0.01f64..1.0) {
            let jobs: Vec<(i64, &str)> = minutes.iter().map(|&minutes| (minutes, "COMPLETED")).collect();
            let time = align(&jobs, Rule::Percentile { share }).time_ns.expect("known");
            let within = minutes.iter().filter(|&&minutes| minutes * MINUTE_NS <= time.suggested).count();
            prop_assert!(within as f64 >= share * minutes.len() as f64 - 1e-9);
            prop_assert_eq!(time.exceeding as usize, minutes.len() - within);
            for suggestion in [align(&jobs, Rule::Maximum { margin: 0.0 })].iter().flat_map(|found| [found.time_ns, found.memory_bytes, found.cpus]) {
                prop_assert_eq!(suggestion.map(|of| of.exceeding), Some(0));
            }
        }

        #[test]
        fn rounding_up_never_lowers_and_is_a_multiple(value in 0i64..i64::MAX / 2, step in 1i64..1_000_000_000_000) {
            let rounded = round_up(value, step);
            prop_assert!(rounded >= value && rounded - value < step && rounded % step == 0);
        }
    }
}

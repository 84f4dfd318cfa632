//! Random attempts against a model that asks second by second what is known of that second.

use flowmine_slurm::reason::Blocker;
use proptest::prelude::*;

use super::super::{Cause, Doing, divide};
use super::*;

const REASONS: [&str; 9] =
    ["Dependency", "BeginTime", "JobHeldUser", "Priority", "Resources", "QOSGrpCpuLimit", "PartitionDown", "None", "JobArrayTaskLimit"];

#[derive(Debug, Clone)]
struct Case {
    end: i64,
    eligible: Option<i64>,
    released: Option<i64>,
    is_again: bool,
    /// Polls: seconds since the change before, and the reason that they saw.
    polls: Vec<(i64, usize)>,
    start: Option<i64>,
}

fn cases() -> impl Strategy<Value = Case> {
    let second = 0i64..120;
    (
        1i64..120,
        prop::option::of(second.clone()),
        prop::option::of(second.clone()),
        any::<bool>(),
        prop::collection::vec((1i64..30, 0usize..REASONS.len()), 0..5),
        prop::option::of(second),
    )
        .prop_map(|(end, eligible, released, is_again, polls, start)| Case { end, eligible, released, is_again, polls, start })
}

impl Case {
    /// The seconds between which, and from which on, each reason was seen.
    fn seen(&self) -> Vec<(i64, i64, &'static str)> {
        let mut last = 0;
        self.polls
            .iter()
            .map(|&(wait, reason)| {
                let earliest = last + wait / 2;
                last += wait;
                (earliest, last, REASONS[reason])
            })
            .collect()
    }

    fn wished(reason: Option<&str>) -> bool {
        matches!(reason, Some("Dependency" | "BeginTime" | "JobHeldUser" | "JobArrayTaskLimit"))
    }

    /// What was known of a second.
    fn cause(&self, second: i64) -> &'static str {
        if self.start.is_some_and(|start| start <= second) {
            return "running";
        }
        let mut reason = None;
        let mut before = None;
        for (earliest, latest, next) in self.seen() {
            let known = Self::wished(before) && !Self::wished(Some(next));
            let between = |time: &i64| (earliest..=latest).contains(time);
            let by_release = self.released.filter(|_| before == Some("Dependency"));
            let border = if known { self.eligible.filter(between).or(by_release.filter(between)) } else { None };
            if border.unwrap_or(latest) <= second {
                reason = Some(next).filter(|next| *next != "None");
            }
            before = Some(next);
        }
        let eligible = self.eligible.is_some_and(|eligible| eligible <= second);
        match reason {
            Some("Dependency") if !eligible => "predecessor",
            Some("BeginTime") if !eligible => {
                if self.is_again {
                    "requeued"
                } else {
                    "begin_time"
                }
            }
            Some("JobHeldUser") => "held_by_user",
            Some("Priority") => "priority",
            Some("Resources") => "resources",
            Some("QOSGrpCpuLimit") => "limit_of_qos",
            Some("PartitionDown") => "partition_down",
            Some("JobArrayTaskLimit") if !eligible => "array_throttle",
            _ if eligible => "queued",
            _ if self.released.is_some_and(|released| second < released) => "predecessor",
            _ if self.eligible.is_none() => "unknown",
            _ if self.is_again && self.released.is_none() => "requeued",
            _ => "not_eligible",
        }
    }
}

proptest! {
    #[test]
    fn parts_tile_and_say_what_is_known_of_each_second(case in cases()) {
        let mut changes: Vec<Change<'static>> = case.seen().into_iter().map(|(earliest, latest, reason)| {
            let word = Some(reason).filter(|reason| *reason != "None");
            Change { moment: within(earliest, latest), doing: Doing::Waits(word, word.and_then(Blocker::of_reason)) }
        }).collect();
        changes.extend(case.start.map(runs));
        let facts = Facts {
            eligible_ns: case.eligible.map(|second| second * SECOND_NS),
            released: case.released.map_or(Released::WithoutDependency, |second| Released::At(at(second))),
            is_again: case.is_again,
            ..facts(case.end, &changes)
        };
        let wait = divide(facts.clone());
        // They tile the time from submission to end.
        let mut last = facts.submit_ns;
        for part in &wait.parts {
            prop_assert_eq!(part.from.at_ns, last);
            prop_assert!(part.to.at_ns > part.from.at_ns);
            last = part.to.at_ns;
        }
        prop_assert_eq!(last, facts.end.at_ns);
        prop_assert_eq!(wait.parts.iter().map(Part::len_ns).sum::<i64>(), facts.end.at_ns - facts.submit_ns);
        for second in 0..case.end {
            let of = wait.parts.iter().find(|part| (part.from.at_ns..part.to.at_ns).contains(&(second * SECOND_NS)));
            prop_assert_eq!(of.map(|part| part.cause.name()), Some(case.cause(second)), "second {} of {:?}", second, case);
        }
        // Ready and queueing are the rest until the start.
        let waited: i64 = wait.parts.iter().filter(|part| part.cause != Cause::Running).map(Part::len_ns).sum();
        prop_assert!(wait.before_ready_ns.is_some_and(|ns| (0..=waited).contains(&ns)));
    }
}

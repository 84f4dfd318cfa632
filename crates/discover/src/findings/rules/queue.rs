//! Waiting for nodes or for priority.

use flowmine_activity_log::Measure;
use flowmine_draw::text::{duration, visible};

use super::*;
use crate::findings::source::Source;
use crate::findings::thresholds::FREE_LIMIT;
use crate::stats::percentile;

pub(super) static RULE: Rule = Rule {
    name: "queue",
    finds: "instances waited in the queue for priority, for resources, or for a reason that is not known",
    at_stake: "the time in the queue",
    gain: "nothing to all of it: it depends on how full the cluster stays",
    needs: WAIT_NEEDS,
    thresholds: &[&QUEUE_MEAN_S, &QUEUE_SHARE, &FREE_LIMIT],
    is_always_listed: false,
    find,
};

fn is_of_rule(wait: &Wait) -> bool {
    !wait.is_own_wish && !is_limit(&wait.cause) && !is_unavailable(&wait.cause) && wait.cause != "array_throttle"
}

fn find(facts: &Facts<'_>) -> Vec<Finding> {
    let waited = |(cause, partition, waits): (&str, Option<&str>, Vec<&Wait>)| {
        let place = if facts.source == Source::Slurm { in_partition(partition) } else { String::new() };
        let is_known = !matches!(cause, "unknown" | "queued");
        let reason = if is_known { format!(" for {}", visible(cause).replace('_', " ")) } else { String::new() };
        Waited {
            rule: RULE.name,
            cause: format!("{}{place}", if is_known { visible(cause).replace('_', " ") } else { "queue".to_owned() }),
            verb: "waited",
            words: format!("in the queue{reason}{place}"),
            assumption: "nothing while the cluster stays as full; all of it if they start as soon as they are ready",
            action: action(facts, cause, partition, &waits),
            waits,
        }
        .finding(facts)
    };
    by_cause_and_partition(facts, is_of_rule).into_iter().filter(|(.., waits)| is_large(facts, waits)).filter_map(waited).collect()
}

fn action(facts: &Facts<'_>, cause: &str, partition: Option<&str>, waits: &[&Wait]) -> String {
    match facts.source {
        Source::Other => {
            return "Find what these instances waited for: people, machines, other cases, or a fixed time of the day.".to_owned();
        }
        Source::Engine => {
            return "Let the engine run more of them at once, if CPUs and memory are free: they waited although nothing else held them."
                .to_owned();
        }
        Source::Slurm => {}
    }
    let limit = shorter_limit(facts, waits);
    let place = in_partition(partition);
    match cause {
        "priority" => format!(
            "Jobs of higher priority went first{place}. {}",
            limit.unwrap_or_else(|| "Shorter time limits let jobs start in gaps; submit urgent jobs first.".to_owned())
        ),
        "licenses" => format!(
            "All licences were in use{place}. Ask for a licence only in the step that needs it, start fewer of these at once, or ask for more."
        ),
        "resources" => format!(
            "The nodes{place} were full. {} `flowmine discover waits` shows who used them.",
            limit.unwrap_or_else(|| "Request fewer CPUs or less memory for each job, or use another partition that fits.".to_owned())
        ),
        _ => format!(
            "The reason for waiting{place} is not recorded: poll the queue with `flowmine observe`.{}",
            limit.map(|limit| format!(" {limit}")).unwrap_or_default()
        ),
    }
}

/// Returns advice on time limits, if those of the activities are far above their running times.
fn shorter_limit(facts: &Facts<'_>, waits: &[&Wait]) -> Option<String> {
    let names: std::collections::BTreeSet<&str> = waits.iter().flat_map(|wait| &wait.activities).map(|(name, _)| name.as_str()).collect();
    let (mut limits, mut times) = (Vec::new(), Vec::new());
    for (_, all) in facts.activities.iter().filter(|(number, _)| names.contains(facts.log.activities.get(*number))) {
        for &at in all {
            if let Some((limit, ran)) = facts.log.measure(Measure::TimeLimitNs, at).filter(|limit| *limit > 0).zip(facts.ran(at)) {
                limits.push(limit);
                times.push(ran);
            }
        }
    }
    let longest = *times.iter().max()?;
    let limit = percentile(&mut limits, 0.5);
    (limit >= FREE_LIMIT.value * longest as f64).then(|| {
        format!(
            "Their time limits are {} and they ran for {} at most: a limit closer to that lets them start in gaps.",
            duration(limit),
            duration(longest as f64)
        )
    })
}

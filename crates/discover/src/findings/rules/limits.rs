//! Waiting for a limit of a user, an account, a QOS or a partition.

use super::*;
use flowmine_draw::text::visible;

pub(super) static RULE: Rule = Rule {
    name: "limit",
    finds: "instances waited because a limit of the user, account, QOS or partition was reached",
    at_stake: "the time in the queue",
    gain: "nothing to all of it: it depends on how full the cluster is without the limit",
    needs: WAIT_NEEDS,
    thresholds: WAIT_THRESHOLDS,
    is_always_listed: false,
    find,
};

fn find(facts: &Facts<'_>) -> Vec<Finding> {
    let waited = |(cause, partition, waits): (&str, Option<&str>, Vec<&Wait>)| {
        let mut names: Vec<&str> = waits.iter().filter_map(|wait| wait.limit.as_deref()).collect();
        names.sort_unstable();
        names.dedup();
        let of = visible(cause.trim_start_matches("limit_of_"));
        let named = if names.is_empty() { String::new() } else { format!(" ({})", visible(&names.join(", "))) };
        let action = match cause {
            "limit_of_partition" => format!("The partition does not allow this request{named}: request less, or use another partition."),
            _ => format!("Spread the work over time, use another QOS or account, or ask for a higher limit of the {of}{named}."),
        };
        Waited {
            rule: RULE.name,
            cause: format!("limit of the {of}{named}"),
            verb: "waited",
            words: format!("at a limit of the {of}{named}{}", in_partition(partition)),
            assumption: "nothing if the cluster is full anyway; all of it if only the limit held them",
            action,
            waits,
        }
        .finding(facts)
    };
    by_cause_and_partition(facts, |wait| is_limit(&wait.cause)).into_iter().filter_map(waited).collect()
}

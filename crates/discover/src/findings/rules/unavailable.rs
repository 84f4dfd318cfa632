//! Waiting for a partition, nodes or a reservation.

use super::*;
use flowmine_draw::text::visible;

pub(super) static RULE: Rule = Rule {
    name: "unavailable",
    finds: "instances waited for a partition or nodes that were down, drained or reserved",
    at_stake: "the time in the queue",
    gain: "nothing to all of it: it depends on whether other nodes were free",
    needs: WAIT_NEEDS,
    thresholds: WAIT_THRESHOLDS,
    is_always_listed: false,
    find,
};

fn find(facts: &Facts<'_>) -> Vec<Finding> {
    let waited = |(cause, partition, waits): (&str, Option<&str>, Vec<&Wait>)| {
        let place = in_partition(partition);
        let name = partition.map_or_else(|| "the partition".to_owned(), |name| format!("partition {}", visible(name)));
        let (words, action) = match cause {
            "partition_down" => (
                format!("because {name} was down"),
                format!("Use another partition while {name} is down, or ask the administrators when it is up again."),
            ),
            "node_down" => (
                format!("for nodes that were down or drained{place}"),
                "Request no nodes by name, or ask the administrators when these are up again.".to_owned(),
            ),
            "reservation" => (
                format!("for the begin of their reservation{place}"),
                "Submit for the time of the reservation, or leave the reservation out.".to_owned(),
            ),
            _ => (
                format!("because nodes were reserved for others{place}"),
                "Request a time limit that ends before the reservation of the others begins.".to_owned(),
            ),
        };
        Waited {
            rule: RULE.name,
            cause: format!("{}{place}", visible(cause).replace('_', " ")),
            verb: "waited",
            words,
            assumption: "nothing if all other nodes were busy; all of it if others were free",
            action,
            waits,
        }
        .finding(facts)
    };
    by_cause_and_partition(facts, |wait| is_unavailable(&wait.cause)).into_iter().filter_map(waited).collect()
}

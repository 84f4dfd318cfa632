//! Waiting for the throttle of an array.

use super::*;

pub(super) static RULE: Rule = Rule {
    name: "array-throttle",
    finds: "array tasks waited because their array limits the number of tasks at a time",
    at_stake: "the time in the queue",
    gain: "nothing to all of it: it depends on the number of tasks that the cluster can run at once",
    needs: WAIT_NEEDS,
    thresholds: WAIT_THRESHOLDS,
    is_always_listed: false,
    find,
};

fn find(facts: &Facts<'_>) -> Vec<Finding> {
    let waits: Vec<&Wait> = facts.waits.iter().filter(|wait| wait.cause == "array_throttle").collect();
    let waited = Waited {
        rule: RULE.name,
        cause: "array throttle".to_owned(),
        verb: "waited",
        words: "for other tasks of their own array".to_owned(),
        assumption: "nothing if the cluster has no free CPUs for more tasks; all of it if it has",
        action: "Raise N in `--array=…%N`, or leave it out, if the file system and licences allow more tasks at a time.".to_owned(),
        waits,
    };
    waited.finding(facts).into_iter().collect()
}

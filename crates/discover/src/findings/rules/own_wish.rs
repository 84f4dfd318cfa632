//! Jobs that were not eligible because of their own settings.

use super::*;
use flowmine_draw::text::visible;

pub(super) static RULE: Rule = Rule {
    name: "own-wish",
    finds: "jobs were held, requeued, or depend on a job that failed",
    at_stake: "the time before they were eligible",
    gain: "nothing to all of it: it depends on why they were held",
    needs: WAIT_NEEDS,
    thresholds: WAIT_THRESHOLDS,
    is_always_listed: false,
    find,
};

fn find(facts: &Facts<'_>) -> Vec<Finding> {
    // A begin time was requested, and is no loss.
    let mut by_cause: std::collections::BTreeMap<&str, Vec<&Wait>> = std::collections::BTreeMap::new();
    let is_of_rule = |wait: &&Wait| wait.is_own_wish && wait.cause != "begin_time" && wait.cause != "array_throttle";
    for wait in facts.waits.iter().filter(is_of_rule).filter(|wait| !is_unavailable(&wait.cause) && !is_limit(&wait.cause)) {
        by_cause.entry(&wait.cause).or_default().push(wait);
    }
    let waited = |(cause, waits): (&str, Vec<&Wait>)| {
        let (words, action) = match cause {
            "never_satisfiable" => (
                "for a job that failed",
                "Cancel them (`scancel`), repair the job on which they depend, and submit both again; \
                 `--kill-on-invalid-dep=yes` cancels by itself.",
            ),
            "held_by_admin" => ("held by an administrator or by Slurm", "Ask support for the reason: only they can release these jobs."),
            "held" | "held_by_user" => ("held by their user", "Release them with `scontrol release` when they may start."),
            "requeued" => ("after a requeue", "Find out why the attempt before the requeue ended: Slurm delays the next one."),
            _ => (
                "before they were eligible, for a reason that is not known",
                "Poll the queue while they wait (`flowmine observe`): the reason is a hold, begin time, dependency or reservation.",
            ),
        };
        Waited {
            rule: RULE.name,
            cause: visible(cause).replace('_', " "),
            verb: "waited",
            words: words.to_owned(),
            assumption: "nothing if the wait was intended; all of it if they could start when they were submitted",
            action: action.to_owned(),
            waits,
        }
        .finding(facts)
    };
    by_cause.into_iter().filter_map(waited).collect()
}

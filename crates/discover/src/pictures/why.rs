//! Why a job waited: a sentence, and the parts of its time that show it.

use std::fmt::Write as _;

use flowmine_activity_log::{JobWait, WaitKind, WaitPart};
use flowmine_draw::duration;
use flowmine_draw::text::visible;

use super::calendar;
use super::text_table::{self, Column};

/// What a cause means, after "waited … "; of a job or of a task.
fn because(part: &WaitPart<'_>, noun: &str) -> String {
    let reason = |words: &str| match part.reason {
        Some(reason) => format!("{words} ({})", visible(reason)),
        None => words.to_owned(),
    };
    let predecessors = part.predecessors.as_deref().map(|jobs| visible(&jobs.replace(',', ", ")));
    match part.cause {
        "predecessor" => predecessors.map_or_else(|| format!("for a {noun} on which it depends"), |names| format!("for {noun} {names}")),
        "never_satisfiable" => match predecessors {
            Some(jobs) => format!("for a dependency on job {jobs} that can no longer be met"),
            None => "for a dependency that can no longer be met".to_owned(),
        },
        "begin_time" => "for its begin time".to_owned(),
        "held" => "because it was held".to_owned(),
        "held_by_user" => "because its user held it".to_owned(),
        "held_by_admin" => reason("because an administrator or Slurm held it"),
        "requeued" => "because Slurm delays a job that was put back into the queue".to_owned(),
        "not_eligible" => "until it was eligible (hold, begin time, dependency, array limit or reservation)".to_owned(),
        "slots" => "for a slot of its executor: as many tasks ran as ever did".to_owned(),
        "submission" => "until its engine submitted it".to_owned(),
        "retry" => "for attempts before the last".to_owned(),
        "waiting" => "until it started; when it was submitted is not known".to_owned(),
        "lag" => predecessors.map_or_else(|| "beside a task".to_owned(), |tasks| format!("beside task {tasks}")),
        "array_throttle" => "for the limit of its own array".to_owned(),
        "limit_of_qos" => reason("for a limit of its QOS"),
        "limit_of_user" => reason("for a limit of its user"),
        "limit_of_account" => reason("for a limit of its account"),
        "limit_of_partition" => reason("for a limit of its partition"),
        "partition_down" => reason("for its partition, which was down"),
        "node_down" => reason("for nodes that were not available"),
        "reservation" => reason("for the begin of its reservation"),
        "reservation_of_others" => reason("for nodes that were reserved for others"),
        "priority" => "behind jobs of higher priority".to_owned(),
        "licenses" => reason("for licences that were not free"),
        "resources" => reason("for resources that were not free"),
        "queued" => "in the queue, for a reason that is not known".to_owned(),
        cause => format!("for a reason that is not known ({cause})"),
    }
}

/// The sentence about a job: what kept it from starting, the longest first.
pub fn sentence(job: &JobWait<'_>) -> String {
    let noun = if job.is_task { "task" } else { "job" };
    let mut words = if job.is_task { "Task " } else { "Job " }.to_owned();
    let _ = write!(words, "{} ({}", visible(job.job), visible(job.activity));
    if let Some(user) = job.user {
        let _ = write!(words, ", {}", visible(user));
    }
    words.push(')');
    let mut waits: Vec<&WaitPart<'_>> = job.parts.iter().filter(|part| part.kind != WaitKind::Started).collect();
    waits.sort_by_key(|part| (std::cmp::Reverse(part.len_ns()), part.from_ns));
    match waits.split_first() {
        None => words.push_str(" did not wait"),
        Some((longest, rest)) => {
            let (from, to) = (calendar::moment(longest.from_ns), calendar::moment(longest.to_ns));
            let _ = write!(words, " waited {} {}, from {from} to {to} UTC", duration(longest.len_ns() as f64), because(longest, noun));
            for part in rest.iter().take(2) {
                let _ = write!(words, "; {} {}", duration(part.len_ns() as f64), because(part, noun));
            }
            if rest.len() > 2 {
                let sum: i128 = rest[2..].iter().map(|part| i128::from(part.len_ns())).sum();
                let _ = write!(words, "; {} for other reasons", duration(sum as f64));
            }
        }
    }
    let started: i128 = job.parts.iter().filter(|part| part.kind == WaitKind::Started).map(|part| i128::from(part.len_ns())).sum();
    match (job.state, started) {
        (Some(state), 0) => {
            let _ = write!(words, ". It never ran and ended {}.", visible(state));
        }
        (Some(state), _) => {
            let _ = write!(words, ". It ran {} and ended {}.", duration(started as f64), visible(state));
        }
        (None, 0) => words.push_str(". It had not started at the last observation."),
        (None, _) => {
            let _ = write!(words, ". It ran {} until the last observation; its end is not known.", duration(started as f64));
        }
    }
    words
}

/// The interval of a border, where it is not known exactly.
fn within((earliest, latest): (i64, i64)) -> String {
    if earliest == latest { String::new() } else { format!("±{}", duration(latest.saturating_sub(earliest) as f64)) }
}

/// The sentence and a line for each part, for a terminal.
pub fn text(job: &JobWait<'_>) -> String {
    let column = |heading: &str, right: bool, of: &dyn Fn(&WaitPart<'_>) -> String| Column {
        heading: heading.to_owned(),
        right,
        cells: job.parts.iter().map(of).collect(),
        ..Column::default()
    };
    let columns = [
        column("from (UTC)", false, &|part| calendar::moment(part.from_ns)),
        column("", false, &|part| within(part.from_within_ns)),
        column("to (UTC)", false, &|part| calendar::moment(part.to_ns)),
        column("", false, &|part| within(part.to_within_ns)),
        column("time", true, &|part| duration(part.len_ns() as f64)),
        column("cause", false, &|part| part.cause.to_owned()),
        column("reason", false, &|part| part.reason.unwrap_or("").to_owned()),
        column(if job.is_task { "tasks waited for" } else { "jobs waited for" }, false, &|part| {
            part.predecessors.clone().unwrap_or_default()
        }),
        column("known from", false, &|part| part.evidence.to_owned()),
    ];
    format!("{}\n\n{}", sentence(job), text_table::write(&columns))
}

//! What failed: by activity, state and exit code.

use std::collections::BTreeMap;

use flowmine_activity_log::{ActivityLog, Measure, Status};
use flowmine_draw::text::counted;

use super::words::{plural, status};
use crate::ReportError;
use crate::block::{Block, Table};
use crate::column::{Column, Kind};
use crate::results::LogResults;

/// The attributes that name the state in which an instance ended.
const STATES: [&str; 3] = ["state", "task:status", "slurm:state"];
/// The attributes that have its exit code.
const EXIT_CODES: [&str; 2] = ["task:exit_code", "slurm:exit_code"];
/// The attribute that has the error of a task.
const ERROR: &str = "task:error";

/// Instances that failed in the same way.
#[derive(Default)]
struct Failures {
    number: u64,
    time_ns: i128,
    core_ns: Option<i128>,
    example: u32,
}

/// Returns the value of the first attribute of a list that the log has.
pub fn value<'l>(log: &'l ActivityLog, keys: &[&str], at: u32) -> Option<&'l str> {
    keys.iter().find_map(|key| log.attribute(key)).and_then(|of| of.value(at))
}

/// The state in which an instance ended, as its source names it.
pub fn state(log: &ActivityLog, at: u32) -> Option<&str> {
    value(log, &STATES, at)
}

/// The exit code of an instance.
pub fn exit_code(log: &ActivityLog, at: u32) -> Option<&str> {
    value(log, &EXIT_CODES, at)
}

/// What failed.
pub fn blocks(found: &LogResults) -> Result<Vec<Block>, ReportError> {
    let log = &found.log;
    let word = found.summary.about.word();
    if (0..log.len() as u32).all(|at| log.status(at) == Status::Unknown) {
        return Ok(vec![
            Block::Heading("What failed".to_owned()),
            Block::missing(
                format!("The outcome of no {word} is known."),
                "Record end states: sacct for Slurm, the engine's own log for workflows, lifecycle:transition in an event log.",
            ),
        ]);
    }
    let mut by: BTreeMap<_, Failures> = BTreeMap::new();
    for at in (0..log.len() as u32).filter(|&at| matches!(log.status(at), Status::Failed | Status::Aborted)) {
        let key = (log.activity(at), status(log.status(at)), state(log, at), exit_code(log, at));
        let of = by.entry(key).or_insert_with(|| Failures { example: at, ..Failures::default() });
        of.number += 1;
        if let Some(ns) = log.service_ns(at).map(i128::from) {
            of.time_ns += ns;
            if let Some(cpus) = log.measure(Measure::Cpus, at) {
                of.core_ns = Some(of.core_ns.unwrap_or(0) + ns.saturating_mul(cpus.into()));
            }
        }
    }
    if by.is_empty() {
        return Ok(vec![Block::Heading("What failed".to_owned()), Block::Text(format!("No {word} failed or was aborted."))]);
    }
    let mut rows: Vec<_> = by.into_iter().collect();
    rows.sort_by_key(|(_, of)| (std::cmp::Reverse(of.number), of.example));
    let number: u64 = rows.iter().map(|(_, of)| of.number).sum();
    let identities = flowmine_discover::who::Identities::new(log);
    let examples: Vec<Option<String>> = rows.iter().map(|(_, of)| identities.who(of.example).words()).collect();
    let columns = [
        Column::text("activity", rows.iter().map(|(key, _)| Some(key.0))),
        Column::text("outcome", rows.iter().map(|(key, _)| Some(key.1))),
        Column::text("state", rows.iter().map(|(key, _)| key.2)),
        Column::text("exit code", rows.iter().map(|(key, _)| key.3)),
        Column::text("error", rows.iter().map(|(_, of)| log.attribute(ERROR).and_then(|errors| errors.value(of.example)))),
        Column::numbers("number", Kind::Count, rows.iter().map(|(_, of)| Some(of.number.into()))),
        Column::duration("time ran", rows.iter().map(|(_, of)| Some(of.time_ns))),
        Column::core_hours("core-hours", rows.iter().map(|(_, of)| of.core_ns)),
        Column::text("example", examples.iter().map(Option::as_deref)),
    ];
    let were = if number == 1 { "was" } else { "were" };
    let title = format!("What failed: {} failed or {were} aborted", counted(number, &word, &plural(&word)));
    Ok(vec![Block::Table(Table::new("failures", title, &columns)?)])
}

//! Waits of hand-made facts and rows, and of random ones against a model in seconds.

mod by_hand;
mod model;
mod of_rows;

use flowmine_schema::time::SECOND_NS;
use flowmine_slurm::reason::Blocker;

use super::{Change, Doing, Facts, Moment, Part, Released};

fn within(earliest: i64, latest: i64) -> Moment {
    Moment { at_ns: latest * SECOND_NS, earliest_ns: earliest * SECOND_NS, latest_ns: latest * SECOND_NS }
}

fn at(second: i64) -> Moment {
    within(second, second)
}

/// Waiting for a reason that a poll saw first.
fn waits(earliest: i64, latest: i64, reason: &'static str) -> Change<'static> {
    Change { moment: within(earliest, latest), doing: Doing::Waits(Some(reason), Blocker::of_reason(reason)) }
}

fn runs(second: i64) -> Change<'static> {
    Change { moment: at(second), doing: Doing::Runs }
}

/// An attempt from second 0 to another.
fn facts(end: i64, changes: &[Change<'static>]) -> Facts<'static> {
    Facts {
        submit_ns: 0,
        end: at(end),
        eligible_ns: None,
        released: Released::WithoutDependency,
        is_again: false,
        changes: changes.to_vec(),
    }
}

/// `cause from-to`, in seconds.
fn written(parts: &[Part<'_>]) -> Vec<String> {
    let one = |part: &Part<'_>| format!("{} {}-{}", part.cause.name(), part.from.at_ns / SECOND_NS, part.to.at_ns / SECOND_NS);
    parts.iter().map(one).collect()
}

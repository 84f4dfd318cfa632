//! TaskVine.

use std::path::Path;

use flowmine_extract_workflow::taskvine;

use super::engine;
use crate::{Answer, Kind, Reading, Sample};

/// Transactions logs of TaskVine.
pub const KIND: Kind = Kind {
    name: "taskvine",
    title: "TaskVine",
    reads: "`vine-logs/transactions`; the directory of a run, or `vine-run-info` with several",
    reading: Reading::Tasks(&taskvine::TaskVine),
    extensions: &[],
    looks_at,
    recognise,
};

fn looks_at(below: &Path) -> bool {
    below.components().count() <= 3 && below.file_name().is_some_and(|name| name == taskvine::TRANSACTIONS)
}

fn recognise(sample: &Sample) -> Answer {
    engine::answer(&taskvine::TaskVine, sample)
}

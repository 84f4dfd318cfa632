//! Makeflow.

use std::path::Path;

use flowmine_extract_workflow::makeflow;

use super::engine;
use crate::{Answer, Kind, Reading, Sample};

/// Logs and workflows of Makeflow.
pub const KIND: Kind = Kind {
    name: "makeflow",
    title: "Makeflow",
    reads: "`.makeflowlog`, workflows in JSON, summaries and series of the resource monitor; the directory of a run",
    reading: Reading::Tasks(&makeflow::Makeflow),
    extensions: &[],
    looks_at,
    recognise,
};

fn looks_at(below: &Path) -> bool {
    below.components().count() <= 2
}

fn recognise(sample: &Sample) -> Answer {
    engine::answer_with_keys(&makeflow::Makeflow, sample, &["rules", "command", "monitor_version"])
}

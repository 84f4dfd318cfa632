//! Makeflow.

use std::path::Path;

use flowmine_extract_workflow::makeflow;

use super::engine;
use crate::{Answer, Kind, Reading, Sample};

/// Logs and workflows of Makeflow.
pub struct Makeflow;

impl Kind for Makeflow {
    fn name(&self) -> &'static str {
        "makeflow"
    }

    fn title(&self) -> &'static str {
        "Makeflow"
    }

    fn reads(&self) -> &'static str {
        "`.makeflowlog`, workflows in JSON, summaries and series of the resource monitor; the directory of a run"
    }

    fn reading(&self) -> Reading {
        Reading::Tasks(&makeflow::Makeflow)
    }

    fn looks_at(&self, below: &Path) -> bool {
        below.components().count() <= 2
    }

    fn recognise(&self, sample: &Sample) -> Answer {
        engine::answer_with_keys(&makeflow::Makeflow, sample, &["rules", "command", "monitor_version"])
    }
}

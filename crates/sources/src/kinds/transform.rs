//! Records of tasks that `flowmine transform` wrapped.

use std::path::Path;

use flowmine_extract_workflow::transform;

use super::engine;
use crate::{Answer, Kind, Reading, Sample};

/// Records of wrapped tasks.
pub struct Transform;

impl Kind for Transform {
    fn name(&self) -> &'static str {
        "transform"
    }

    fn title(&self) -> &'static str {
        "wrapped tasks (transform)"
    }

    fn reads(&self) -> &'static str {
        "`t_ID.record` of tasks that `flowmine transform` wrapped; the directory of a run"
    }

    fn reading(&self) -> Reading {
        Reading::Tasks(&transform::Transform)
    }

    fn looks_at(&self, below: &Path) -> bool {
        // Where the importer looks for them.
        let name = below.as_os_str().to_string_lossy();
        below.components().count() == 1 && name.strip_suffix(".gz").unwrap_or(&name).ends_with(".record")
    }

    fn recognise(&self, sample: &Sample) -> Answer {
        engine::answer_with_keys(&transform::Transform, sample, &["task", "layers", "layer"])
    }
}

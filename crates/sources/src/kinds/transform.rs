//! Records of tasks that `flowmine transform` wrapped.

use std::path::Path;

use flowmine_extract_workflow::transform;

use super::engine;
use crate::{Answer, Kind, Reading, Sample};

/// Records of wrapped tasks.
pub const KIND: Kind = Kind {
    name: "transform",
    title: "wrapped tasks (transform)",
    reads: "`t_ID.record` of tasks that `flowmine transform` wrapped; the directory of a run",
    reading: Reading::Tasks(&transform::Transform),
    extensions: &[],
    looks_at,
    recognise,
};

fn looks_at(below: &Path) -> bool {
    // Where the importer looks for them.
    let name = below.as_os_str().to_string_lossy();
    below.components().count() == 1 && name.strip_suffix(".gz").unwrap_or(&name).ends_with(".record")
}

fn recognise(sample: &Sample) -> Answer {
    engine::answer_with_keys(&transform::Transform, sample, &["task", "layers", "layer"])
}

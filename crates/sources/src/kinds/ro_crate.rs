//! Workflow Run RO-Crate.

use flowmine_extract_workflow::ro_crate;

use super::engine;
use crate::kind::is_in_directory;
use crate::{Answer, Kind, Reading, Sample};

/// Metadata of crates with runs.
pub const KIND: Kind = Kind {
    name: "ro-crate",
    title: "Workflow Run RO-Crate",
    reads: "`ro-crate-metadata.json` with a run, by the Process, Workflow and Provenance Run Crate profiles; a crate's directory",
    reading: Reading::Tasks(&ro_crate::RoCrate),
    extensions: &[],
    looks_at: is_in_directory,
    recognise,
};

fn recognise(sample: &Sample) -> Answer {
    engine::answer_with_keys(&ro_crate::RoCrate, sample, &["@context", "@graph"])
}

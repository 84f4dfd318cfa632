//! WfFormat, the format of WfCommons.

use flowmine_extract_workflow::wfformat;

use super::engine;
use crate::kind::is_in_directory;
use crate::{Answer, Kind, Reading, Sample};

/// Instances in WfFormat.
pub const KIND: Kind = Kind {
    name: "wfformat",
    title: "WfFormat",
    reads: "instances of WfCommons in WfFormat 1.4 to 1.6 (JSON); a directory of them",
    reading: Reading::Tasks(&wfformat::WfFormat),
    extensions: &[],
    looks_at: is_in_directory,
    recognise,
};

fn recognise(sample: &Sample) -> Answer {
    engine::answer_with_keys(&wfformat::WfFormat, sample, &["schemaVersion", "workflow"])
}

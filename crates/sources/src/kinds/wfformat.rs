//! WfFormat, the format of WfCommons.

use std::path::Path;

use flowmine_extract_workflow::wfformat;

use super::engine;
use crate::kind::is_in_directory;
use crate::{Answer, Kind, Reading, Sample};

/// Instances in WfFormat.
pub struct WfFormat;

impl Kind for WfFormat {
    fn name(&self) -> &'static str {
        "wfformat"
    }

    fn title(&self) -> &'static str {
        "WfFormat"
    }

    fn reads(&self) -> &'static str {
        "instances of WfCommons in WfFormat 1.4 to 1.6 (JSON); a directory of them"
    }

    fn reading(&self) -> Reading {
        Reading::Tasks(&wfformat::WfFormat)
    }

    fn looks_at(&self, below: &Path) -> bool {
        is_in_directory(below)
    }

    fn recognise(&self, sample: &Sample) -> Answer {
        engine::answer_with_keys(&wfformat::WfFormat, sample, &["schemaVersion", "workflow"])
    }
}

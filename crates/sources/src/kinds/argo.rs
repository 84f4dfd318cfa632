//! Argo.

use std::path::Path;

use flowmine_extract_workflow::argo;

use super::engine;
use crate::kind::is_in_directory;
use crate::{Answer, Kind, Reading, Sample};

/// Workflows of Argo.
pub struct Argo;

impl Kind for Argo {
    fn name(&self) -> &'static str {
        "argo"
    }

    fn title(&self) -> &'static str {
        "Argo"
    }

    fn reads(&self) -> &'static str {
        "workflows as JSON, as `kubectl get workflow -o json`, `argo get -o json` or a watch print them"
    }

    fn reading(&self) -> Reading {
        Reading::Tasks(&argo::Argo)
    }

    fn looks_at(&self, below: &Path) -> bool {
        is_in_directory(below)
    }

    fn recognise(&self, sample: &Sample) -> Answer {
        if sample.is_json() {
            return engine::answer_with_keys(&argo::Argo, sample, &["apiVersion", "kind", "nodes", "templates"]);
        }
        match engine::seen(&argo::Argo, sample) {
            Some(seen) => {
                Answer::NotRead { what: seen.what, advice: "only JSON is read: print it with -o json instead of -o yaml".to_owned() }
            }
            None => Answer::No,
        }
    }
}

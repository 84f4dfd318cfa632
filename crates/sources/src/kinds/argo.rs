//! Argo.

use flowmine_extract_workflow::argo;

use super::engine;
use crate::kind::is_in_directory;
use crate::{Answer, Kind, Reading, Sample};

/// Workflows of Argo.
pub const KIND: Kind = Kind {
    name: "argo",
    title: "Argo",
    reads: "workflows as JSON, as `kubectl get workflow -o json`, `argo get -o json` or a watch print them",
    reading: Reading::Tasks(&argo::Argo),
    extensions: &[],
    looks_at: is_in_directory,
    recognise,
};

fn recognise(sample: &Sample) -> Answer {
    if sample.is_json() {
        return engine::answer_with_keys(&argo::Argo, sample, &["apiVersion", "kind", "nodes", "templates"]);
    }
    match engine::seen(&argo::Argo, sample) {
        Some(seen) => Answer::NotRead { what: seen.what, advice: "only JSON is read: print it with -o json instead of -o yaml".to_owned() },
        None => Answer::No,
    }
}

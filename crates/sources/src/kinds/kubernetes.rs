//! Kubernetes.

use flowmine_extract_workflow::kubernetes;
use flowmine_schema::text::json_key;

use super::engine;
use crate::kind::is_in_directory;
use crate::{Answer, Kind, Reading, Sample};

/// Pods and events of Kubernetes.
pub const KIND: Kind = Kind {
    name: "kubernetes",
    title: "Kubernetes",
    reads: "pods and their events as JSON, as `kubectl get -o json`, its `--watch` or the API's watch print them",
    reading: Reading::Tasks(&kubernetes::Kubernetes),
    extensions: &[],
    looks_at: is_in_directory,
    recognise,
};

fn recognise(sample: &Sample) -> Answer {
    match engine::answer_with_keys(&kubernetes::Kubernetes, sample, &["apiVersion", "kind", "metadata", "items"]) {
        // A list can be one of other objects, such as Argo's workflows.
        Answer::Yes(seen) if !has_pods_or_events(sample.head()) => Answer::Maybe(seen),
        other => other,
    }
}

fn has_pods_or_events(json: &[u8]) -> bool {
    // Only pods have a phase or containers, and only events an involved object.
    ["containers", "containerStatuses", "involvedObject", "regarding"].iter().any(|key| json_key(json, key).is_some())
}

//! Kubernetes.

use std::path::Path;

use flowmine_extract_workflow::kubernetes;
use flowmine_schema::text::json_key;

use super::engine;
use crate::kind::is_in_directory;
use crate::{Answer, Kind, Reading, Sample};

/// Pods and events of Kubernetes.
pub struct Kubernetes;

impl Kind for Kubernetes {
    fn name(&self) -> &'static str {
        "kubernetes"
    }

    fn title(&self) -> &'static str {
        "Kubernetes"
    }

    fn reads(&self) -> &'static str {
        "pods and their events as JSON, as `kubectl get -o json`, its `--watch` or the API's watch print them"
    }

    fn reading(&self) -> Reading {
        Reading::Tasks(&kubernetes::Kubernetes)
    }

    fn looks_at(&self, below: &Path) -> bool {
        is_in_directory(below)
    }

    fn recognise(&self, sample: &Sample) -> Answer {
        match engine::answer_with_keys(&kubernetes::Kubernetes, sample, &["apiVersion", "kind", "metadata", "items"]) {
            // A list can be one of other objects, such as Argo's workflows.
            Answer::Yes(seen) if !has_pods_or_events(sample.head()) => Answer::Maybe(seen),
            other => other,
        }
    }
}

fn has_pods_or_events(json: &[u8]) -> bool {
    // Only pods have a phase or containers, and only events an involved object.
    ["containers", "containerStatuses", "involvedObject", "regarding"].iter().any(|key| json_key(json, key).is_some())
}

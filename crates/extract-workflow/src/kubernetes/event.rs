//! Events of pods (API reference, Event v1): `kubectl get events -o json`. They record where and
//! when a pod was started, and why it was ended, and may outlive the pod.

use flowmine_schema::time::SECOND_NS;
use serde_json::Value;

use super::values::{text, time};

/// An event of a pod.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Event {
    /// The uid of the pod that the event is about.
    pub uid: String,
    /// The name of the pod that the event is about.
    pub pod: String,
    /// Time of its last occurrence, with precision.
    pub at: Option<(i64, i64)>,
    /// The event's reason: `Scheduled`, `Started`, `Evicted`, …
    pub reason: String,
    /// The message, as text for people.
    pub message: String,
    /// The Kubernetes node that reported it.
    pub host: Option<String>,
}

/// Reads an event; `None` when it is not about a pod.
pub fn read(event: &Value) -> Option<Event> {
    // The newer API has other names for the same fields.
    let about = if event["regarding"].is_object() { &event["regarding"] } else { &event["involvedObject"] };
    if about["kind"].as_str() != Some("Pod") {
        return None;
    }
    let message = text(&event["message"]).or_else(|| text(&event["note"])).unwrap_or_default();
    let reason = text(&event["reason"]).unwrap_or_default();
    let exact = time(&event["eventTime"]).map(|ns| (ns, 1000));
    let whole = ["lastTimestamp", "deprecatedLastTimestamp", "firstTimestamp"].iter().find_map(|name| time(&event[*name]));
    let told_by = text(&event["source"]["host"]).or_else(|| text(&event["deprecatedSource"]["host"]));
    // `Successfully assigned default/pod-1 to node03`
    let assigned = message.rsplit_once(" to ").map(|(_, node)| node.to_owned()).filter(|_| reason == "Scheduled");
    Some(Event {
        uid: text(&about["uid"])?,
        pod: text(&about["name"])?,
        at: exact.or(whole.map(|ns| (ns, SECOND_NS))),
        host: told_by.or(assigned),
        reason,
        message,
    })
}

impl Event {
    /// Returns the reason why the pod was ended or cannot run.
    pub fn error(&self) -> Option<String> {
        let is_one = matches!(self.reason.as_str(), "Evicted" | "Preempted" | "NodeNotReady" | "TaintManagerEviction" | "OOMKilling");
        is_one.then(|| format!("{}: {}", self.reason, self.message))
    }
}

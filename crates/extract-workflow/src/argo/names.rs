//! Names of nodes and of their pods (Argo's `Workflow.NodeID`, `workflow/util/pod_name.go`).
//!
//! A node's id consists of the workflow's name and a hash of the node's name. The name of a pod is,
//! in v1, the id of the node; in v2, workflow, template and the number in the node's id, joined by
//! dashes. Since version 3.3 an annotation contains the version; before, it follows from the
//! location of the pod's log, where logs are archived.

use serde_json::Value;

use super::template;
use crate::kubernetes::values::{list, text};

/// Maximum length of the prefix of a pod's name: Kubernetes' limit minus a dash and the longest
/// number.
const LONGEST_PREFIX: usize = 253 - 10 - 1;

/// Returns the id of a node as Argo derives it from the name (FNV-1a of 32 bits).
pub fn node_id(workflow: &str, node: &str) -> String {
    if node == workflow {
        return node.to_owned();
    }
    let hash = node.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    format!("{workflow}-{hash}")
}

/// Splits the name of an attempt into the retried node and the number of the attempt, from 1.
/// Attempts are named `NAME(0)`, `NAME(1)`, …; items of a loop contain a colon: `NAME(0:item)`.
pub fn attempt(node: &str) -> Option<(&str, i64)> {
    let (name, number) = node.strip_suffix(')')?.rsplit_once('(')?;
    let is_number = !number.is_empty() && number.len() < 10 && number.bytes().all(|b| b.is_ascii_digit());
    number.parse::<i64>().ok().filter(|_| is_number).map(|number| (name, number + 1))
}

/// Returns the step of a node: `steps-x7[0].align(2:b)` is an instance of `align`.
pub fn step(node: &str) -> &str {
    let step = node.rsplit('.').next().unwrap_or(node);
    step.split('(').next().filter(|step| !step.is_empty()).unwrap_or(node)
}

/// Returns the name of a node's pod; `None` when it cannot be determined.
pub fn pod(workflow: &Value, node: &Value) -> Option<String> {
    let id = text(&node["id"])?;
    let v2 = v2(workflow, node, &id);
    match workflow["metadata"]["annotations"]["workflows.argoproj.io/pod-name-format"].as_str() {
        Some("v1") => return Some(id),
        Some("v2") => return v2,
        _ => {}
    }
    // In a workflow of a single pod both are the same.
    if v2.as_ref() == Some(&id) {
        return v2;
    }
    let logs = list(&node["outputs"]["artifacts"]).filter(|artifact| artifact["archiveLogs"].as_bool() == Some(true));
    let keys: Vec<String> = logs.filter_map(template::location).collect();
    let is_in = |name: &String| keys.iter().any(|key| key.split('/').any(|part| part == name));
    [Some(id), v2].into_iter().flatten().find(is_in)
}

fn v2(workflow: &Value, node: &Value, id: &str) -> Option<String> {
    let name = text(&workflow["metadata"]["name"])?;
    if node["name"].as_str() == Some(&name) {
        return Some(name);
    }
    let number = id.strip_prefix(&name)?.strip_prefix('-')?;
    let mut prefix = match template::name(node) {
        Some(template) => format!("{name}-{template}"),
        None => name,
    };
    // Names in Kubernetes are ASCII.
    if prefix.len() > LONGEST_PREFIX && prefix.is_ascii() {
        prefix.truncate(LONGEST_PREFIX);
    }
    Some(format!("{prefix}-{number}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn ids_and_attempts() {
        assert_eq!(node_id("w", "w"), "w");
        // The test vector of the hash (draft-eastlake-fnv): FNV-1a of "foobar".
        assert_eq!(node_id("w", "foobar"), format!("w-{}", 0xbf9c_f968_u32));
        assert_eq!(attempt("w[0].a(2:x)(13)"), Some(("w[0].a(2:x)", 14)));
        for none in ["w.a", "w.a(0:x)", "w.a()", "w.a(-1)", "w.a(+1)", "w.a(1", "w.a(99999999999)"] {
            assert_eq!(attempt(none), None, "{none}");
        }
        assert_eq!((step("w[0].align(2:b)"), step("w")), ("align", "w"));
    }

    #[test]
    fn pods() {
        let workflow = |format: Option<&str>, name: &str| json!({ "metadata": { "name": name, "annotations": { "workflows.argoproj.io/pod-name-format": format } } });
        let log = |key: &str| json!({ "artifacts": [{ "name": "main-logs", "archiveLogs": true, "s3": { "key": key } }] });
        let node = |outputs: Value| json!({ "id": "w-7", "name": "w.a", "templateName": "t", "outputs": outputs });
        let of = |format: Option<&str>, outputs: Value| pod(&workflow(format, "w"), &node(outputs));
        assert_eq!(of(Some("v1"), Value::Null).as_deref(), Some("w-7"));
        assert_eq!(of(Some("v2"), Value::Null).as_deref(), Some("w-t-7"));
        assert_eq!(of(None, Value::Null), None);
        assert_eq!(of(None, log("logs/w/w-7/main.log")).as_deref(), Some("w-7"));
        assert_eq!(of(None, log("logs/w/w-t-7/main.log")).as_deref(), Some("w-t-7"));
        assert_eq!(of(None, log("logs/w/w-t-77/main.log")), None);
        let single = json!({ "id": "w", "name": "w", "templateName": "t" });
        assert_eq!(pod(&workflow(None, "w"), &single).as_deref(), Some("w"));
        let long = "w".repeat(250);
        let node = json!({ "id": format!("{long}-7"), "name": "x", "templateRef": { "template": "t" } });
        assert_eq!(pod(&workflow(Some("v2"), &long), &node), Some(format!("{}-7", "w".repeat(242))));
        let inline = json!({ "id": "w-7", "name": "w.a" });
        assert_eq!(pod(&workflow(Some("v2"), "w"), &inline).as_deref(), Some("w-7"));
    }
}

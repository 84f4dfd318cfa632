//! A node of a workflow, with a row where it is a task.

use flowmine_schema::time::SECOND_NS;
use serde_json::Value;

use super::names;
use super::template::{self, Templates};
use crate::Row;
use crate::engine_names::{ARGO, KUBERNETES};
use crate::kubernetes::quantity;
use crate::kubernetes::values::{list, text, time};

/// A node in one version of the workflow.
#[derive(Debug)]
pub struct Node {
    /// The node's id: the workflow's name and a hash of the node's name.
    pub id: String,
    /// The node's type: `Pod`, `DAG`, `Retry`, …
    pub kind: String,
    /// The node to which the enclosing template belongs.
    pub boundary: Option<String>,
    /// Ids of the nodes that follow it or are inside it.
    pub children: Vec<String>,
    /// Start time, which distinguishes the executions of a node.
    pub began: Option<i64>,
    /// Number of the attempt, from 1, parsed from the node's name.
    pub number: Option<i64>,
    /// Whether it did something itself; false for nodes that group others and for those that did
    /// not run.
    pub is_task: bool,
    /// The row of `task_runs`, until it is taken.
    pub row: Option<Box<Row>>,
    /// Whether the node is a task that was skipped.
    pub is_skipped: bool,
}

/// Reads a node from `status.nodes` of a workflow.
pub fn read(id: &str, node: &Value, workflow: &Value, templates: &mut Templates<'_>, is_over: bool) -> Node {
    let kind = node["type"].as_str().unwrap_or_default();
    let phase = node["phase"].as_str().unwrap_or_default();
    let is_skipped = matches!(phase, "Skipped" | "Omitted") || kind == "Skipped";
    let children: Vec<String> = list(&node["children"]).filter_map(text).collect();
    // A group with a cached result has no nodes inside.
    let is_inside = |child: &String| workflow["status"]["nodes"][child.as_str()]["boundaryID"].as_str() == Some(id);
    let is_cached_group = was_taken(node) && !children.iter().any(is_inside);
    let is_task = (matches!(kind, "Pod" | "Container" | "Suspend" | "HTTP" | "Plugin") || is_cached_group) && !is_skipped;
    Node {
        id: id.to_owned(),
        kind: kind.to_owned(),
        boundary: text(&node["boundaryID"]),
        children,
        began: time(&node["startedAt"]),
        number: node["name"].as_str().and_then(names::attempt).map(|(_, number)| number),
        is_task,
        row: is_task.then(|| Box::new(row(id, node, workflow, templates, is_over))),
        is_skipped,
    }
}

fn row(id: &str, node: &Value, workflow: &Value, templates: &mut Templates<'_>, is_over: bool) -> Row {
    let kind = node["type"].as_str().unwrap_or_default();
    let template = templates.of(node);
    let container = template::container(node, template);
    let asked = |what: &str| {
        let resources = &container["resources"];
        resources["requests"][what].as_str().or(resources["limits"][what].as_str())
    };
    let name = text(&node["name"]).unwrap_or_else(|| id.to_owned());
    let shown = text(&node["displayName"]).unwrap_or_else(|| name.clone());
    let (status, message) = (status(node, is_over), text(&node["message"]));
    let cached = status == "cached";
    let in_pod = matches!(kind, "Pod" | "Container");
    let pod = if in_pod && !cached { pod_of(node, workflow) } else { None };
    let began = time(&node["startedAt"]);
    // A node begins when its pod is made.
    let submitted = began.filter(|_| kind != "Suspend" && !cached);
    let started = began.filter(|_| kind == "Suspend");
    let finished = time(&node["finishedAt"]);
    let second = |time: Option<i64>| time.map(|_| SECOND_NS);
    Row {
        engine: ARGO.into(),
        task_id: Some(id.to_owned().into()),
        name: shown.clone().into(),
        logical_task: template::name(node).unwrap_or_else(|| names::step(&shown).to_owned()).into(),
        tag: Some(name.into()),
        work_dir: templates.copied(text(&container["workingDir"])).map(Into::into),
        executor: in_pod.then(|| KUBERNETES.into()),
        native_kind: pod.as_ref().map(|_| "pod".into()),
        native_id: pod.map(Into::into),
        host: text(&node["hostNodeName"]).filter(|_| !cached).map(Into::into),
        container_image: templates.copied(text(&container["image"])).map(Into::into),
        submitted_ns: submitted,
        submitted_precision_ns: second(submitted),
        started_ns: started,
        started_precision_ns: second(started),
        finished_ns: finished,
        finished_precision_ns: second(finished),
        status: status.into(),
        exit_code: exit_code(node, message.as_deref()),
        cached,
        command: templates.command(node, template, container).map(Into::into),
        error: message.filter(|_| matches!(status, "failed" | "aborted" | "submitted")).map(Into::into),
        cpus: asked("cpu").and_then(quantity::parse).filter(|cpus| cpus.fract() == 0.0 && *cpus < 1e9).map(|cpus| cpus as i64),
        memory_bytes: asked("memory").and_then(quantity::bytes),
        disk_bytes: asked("ephemeral-storage").and_then(quantity::bytes),
        time_s: template["activeDeadlineSeconds"].as_f64().filter(|seconds| (0.0..9e9).contains(seconds)),
        inputs: template::artifacts(&node["inputs"]).map(Into::into),
        outputs: template::artifacts(&node["outputs"]).map(Into::into),
        ..Row::default()
    }
}

/// Returns the name of the pod in which a node runs: its own, or that of the container set to which
/// its container belongs.
fn pod_of(node: &Value, workflow: &Value) -> Option<String> {
    if node["type"].as_str() == Some("Container") {
        let set = &workflow["status"]["nodes"][node["boundaryID"].as_str()?];
        return names::pod(workflow, set);
    }
    names::pod(workflow, node)
}

/// Whether the node's result was taken from the memoization cache.
fn was_taken(node: &Value) -> bool {
    node["memoizationStatus"]["hit"].as_bool() == Some(true)
}

fn status(node: &Value, is_over: bool) -> &'static str {
    match node["phase"].as_str().unwrap_or_default() {
        "Succeeded" if was_taken(node) => "cached",
        "Succeeded" => "completed",
        "Failed" | "Error" if was_ended(node) => "aborted",
        "Failed" | "Error" => "failed",
        // The workflow has ended without recording the outcome of this node.
        "Running" | "Pending" if is_over => "unknown",
        "Running" => "running",
        "Pending" => "submitted",
        _ => "unknown",
    }
}

/// Whether a user or Kubernetes ended the node, according to Argo's message.
fn was_ended(node: &Value) -> bool {
    let message = node["message"].as_str().unwrap_or_default();
    ["workflow shutdown with strategy", "Stopped with strategy", "Terminated with strategy", "pod deleted"]
        .iter()
        .any(|begin| message.starts_with(begin))
}

/// Returns the exit code, also from a message such as `main: Error (exit code 137)`.
fn exit_code(node: &Value, message: Option<&str>) -> Option<i64> {
    if let Some(code) = node["outputs"]["exitCode"].as_str() {
        return code.parse().ok();
    }
    let (_, rest) = message?.rsplit_once("(exit code ")?;
    rest.split_once(')')?.0.parse().ok()
}

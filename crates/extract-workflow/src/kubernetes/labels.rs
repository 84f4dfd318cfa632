//! The owner of a pod, from the labels and annotations of Nextflow, Airflow, Argo and Kubernetes'
//! own Jobs.
//!
//! Labels allow few characters, and the engines replace others; Airflow and Argo also write
//! annotations with the full text.

use serde_json::Value;

use crate::argo::names;

/// A pod's place in a workflow.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Identity {
    /// Nextflow's session, Airflow's run, the uid of Argo's workflow or of the Job.
    pub run_id: Option<String>,
    /// Nextflow's name of the run, Airflow's DAG, the workflow's or Job's name.
    pub run_name: Option<String>,
    /// Airflow's task with its map index, Argo's node (for a retried one the `Retry` node), the
    /// Job's completion index.
    pub task_id: Option<String>,
    /// Nextflow's process, Airflow's task, Argo's template, or the Job.
    pub logical_task: Option<String>,
    /// What distinguishes instances of the logical task, where the labels give it.
    pub tag: Option<String>,
    /// Number of the attempt: Airflow's or Argo's try number.
    pub attempt: Option<i64>,
}

/// Reads the identity from a pod.
pub fn identity(pod: &Value) -> Identity {
    let metadata = &pod["metadata"];
    let label = |name: &str| metadata["labels"][name].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let annotation = |name: &str| metadata["annotations"][name].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let owner = |kind: &str| {
        let mut owners = metadata["ownerReferences"].as_array().into_iter().flatten();
        owners.find(|owner| owner["kind"].as_str() == Some(kind))?["uid"].as_str().map(str::to_owned)
    };
    // Older versions have no prefix.
    let nextflow = |name: &str| label(&format!("nextflow.io/{name}")).or_else(|| label(name));
    if let Some(process) = nextflow("processName") {
        let session = nextflow("sessionId").map(|id| id.strip_prefix("uuid-").unwrap_or(&id).to_owned());
        return Identity {
            run_id: session,
            run_name: nextflow("runName"),
            logical_task: Some(process),
            tag: nextflow("taskName"),
            ..Identity::default()
        };
    }
    let airflow = |name: &str| annotation(name).or_else(|| label(name));
    if let (Some(dag), Some(task)) = (airflow("dag_id"), airflow("task_id")) {
        let index = airflow("map_index").filter(|index| index.bytes().all(|b| b.is_ascii_digit()));
        return Identity {
            run_id: airflow("run_id"),
            run_name: Some(dag),
            task_id: Some(index.as_ref().map_or_else(|| task.clone(), |index| format!("{task}[{index}]"))),
            logical_task: Some(task),
            tag: index,
            attempt: airflow("try_number").and_then(|tries| tries.parse().ok()),
        };
    }
    if let Some(workflow) = label("workflows.argoproj.io/workflow") {
        let node = annotation("workflows.argoproj.io/node-name");
        let id = annotation("workflows.argoproj.io/node-id");
        let (task_id, attempt) = match node.as_deref().zip(id.as_deref()).and_then(|(node, id)| retried(&workflow, node, id)) {
            Some((task, attempt)) => (Some(task), Some(attempt)),
            None => (id, None),
        };
        return Identity {
            run_id: owner("Workflow"),
            run_name: Some(workflow),
            task_id,
            logical_task: template(pod).or_else(|| node.as_deref().map(|node| names::step(node).to_owned())),
            tag: node,
            attempt,
        };
    }
    let job = |name: &str| label(&format!("batch.kubernetes.io/{name}")).or_else(|| label(name));
    if let Some(name) = job("job-name") {
        let index = annotation("batch.kubernetes.io/job-completion-index").or_else(|| job("job-completion-index"));
        return Identity {
            run_id: job("controller-uid").or_else(|| owner("Job")),
            run_name: Some(name.clone()),
            task_id: index.clone(),
            logical_task: Some(name),
            tag: index,
            attempt: None,
        };
    }
    let generated = metadata["generateName"].as_str().map(|name| name.trim_end_matches('-').to_owned());
    Identity { logical_task: generated.filter(|name| !name.is_empty()), ..Identity::default() }
}

/// Returns the template, which Argo stores in an environment variable of its containers, in older
/// versions in an annotation.
fn template(pod: &Value) -> Option<String> {
    let containers = pod["spec"]["containers"].as_array().into_iter().flatten();
    let variables = containers.flat_map(|container| container["env"].as_array().into_iter().flatten());
    let told =
        variables.filter(|variable| variable["name"].as_str() == Some("ARGO_TEMPLATE")).find_map(|variable| variable["value"].as_str());
    let told = told.or_else(|| pod["metadata"]["annotations"]["workflows.argoproj.io/template"].as_str())?;
    crate::json::from_str(told).ok()?["name"].as_str().map(str::to_owned)
}

/// Returns the id of the retried node with the number of the attempt; `None` where ids are not
/// derived from names. As in the workflow itself, all attempts have the id of the `Retry` node.
fn retried(workflow: &str, node: &str, id: &str) -> Option<(String, i64)> {
    let (task, attempt) = names::attempt(node)?;
    (names::node_id(workflow, node) == id).then(|| (names::node_id(workflow, task), attempt))
}

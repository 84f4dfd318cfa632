//! A pod in the API (API reference, Pod v1): one row for each start of its main container.
//!
//! A restarted container has the number of restarts in `restartCount`, its current state, and in
//! `lastState` the end of the previous start.

use flowmine_schema::diagnostic::{Diagnostic, Diagnostics};
use flowmine_schema::time::SECOND_NS;
use serde_json::Value;

use super::labels::{Identity, identity};
use super::quantity;
use super::values::{list, text, time};
use crate::Row;
use crate::engine_names::KUBERNETES;

/// A pod at one moment.
#[derive(Debug)]
pub struct Seen {
    /// The pod's `metadata.uid`.
    pub uid: String,
    /// Version of the object, which grows with each change.
    pub version: u64,
    /// Starts of the main container, by the number of earlier restarts.
    pub rows: Vec<(i64, Row)>,
}

/// Reads a pod; `None`, with a diagnostic, when it has no uid.
pub fn read(pod: &Value, is_deleted: bool, place: Option<u64>, diagnostics: &mut Diagnostics) -> Option<Seen> {
    let (metadata, spec, status) = (&pod["metadata"], &pod["spec"], &pod["status"]);
    let at = |diagnostic: Diagnostic| match place {
        Some(line) => diagnostic.at(line, None),
        None => diagnostic,
    };
    let Some(uid) = text(&metadata["uid"]) else {
        diagnostics.push(at(Diagnostic::error("pod_without_uid", "a pod has no metadata.uid")));
        return None;
    };
    let container = main_container(&spec["containers"]);
    let name = container["name"].as_str().unwrap_or_default();
    let known = list(&status["containerStatuses"]).find(|status| status["name"].as_str() == Some(name)).unwrap_or(&Value::Null);
    let asked = |what: &str| {
        let resources = &container["resources"];
        resources["requests"][what].as_str().or(resources["limits"][what].as_str())
    };
    let cpus = asked("cpu").and_then(quantity::parse);
    // A watch would repeat it at each change.
    if cpus.is_some_and(|cpus| cpus.fract() != 0.0) && !diagnostics.iter().any(|known| known.code == "cpu_fraction") {
        let message = "a fraction of a CPU is requested, here or later, which the column cpus cannot hold: it is null";
        diagnostics.push(at(Diagnostic::warning("cpu_fraction", message)));
    }
    let command: Vec<&str> = list(&container["command"]).chain(list(&container["args"])).filter_map(Value::as_str).collect();
    let Identity { run_id, run_name, task_id, logical_task, tag, attempt } = identity(pod);
    let pod_name = text(&metadata["name"]).unwrap_or_else(|| uid.clone());
    let submitted = time(&metadata["creationTimestamp"]);
    let base = Row {
        engine: KUBERNETES.into(),
        run_id: run_id.map(Into::into),
        run_name: run_name.map(Into::into),
        task_id: task_id.map(Into::into),
        attempt,
        logical_task: logical_task.unwrap_or_else(|| pod_name.clone()).into(),
        name: pod_name.into(),
        tag: tag.map(Into::into),
        work_dir: work_dir(container, &command).map(Into::into),
        executor: Some(KUBERNETES.into()),
        native_id: Some(uid.clone().into()),
        native_kind: Some("pod".into()),
        host: text(&spec["nodeName"]).map(Into::into),
        container_image: text(&container["image"]).map(Into::into),
        submitted_ns: submitted,
        submitted_precision_ns: submitted.map(|_| SECOND_NS),
        command: (!command.is_empty()).then(|| command.join(" ").into()),
        cpus: cpus.filter(|cpus| cpus.fract() == 0.0 && *cpus < 1e9).map(|cpus| cpus as i64),
        memory_bytes: asked("memory").and_then(quantity::bytes),
        disk_bytes: asked("ephemeral-storage").and_then(quantity::bytes),
        time_s: spec["activeDeadlineSeconds"].as_f64(),
        ..Row::default()
    };
    let restarts = known["restartCount"].as_i64().filter(|count| (0..i64::from(i32::MAX)).contains(count)).unwrap_or(0);
    let asked_to_end = deletion_ns(metadata);
    let mut rows = Vec::new();
    let before = &known["lastState"]["terminated"];
    if restarts > 0 && before.is_object() {
        let mut row = Row { attempt: base.attempt.or(Some(restarts)), ..base.clone() };
        add_end(&mut row, before, asked_to_end);
        rows.push((restarts - 1, row));
    }
    let mut row = Row { attempt: base.attempt.or(Some(restarts + 1)), ..base };
    add_state(&mut row, pod, known, asked_to_end);
    if is_deleted && matches!(row.status.as_ref(), "running" | "submitted") {
        row.status = "aborted".into();
    }
    rows.push((restarts, row));
    let version = metadata["resourceVersion"].as_str().and_then(|version| version.parse().ok()).unwrap_or(0);
    Some(Seen { uid, version, rows })
}

fn add_state(row: &mut Row, pod: &Value, known: &Value, asked_to_end: Option<i64>) {
    let status = &pod["status"];
    let (running, terminated) = (&known["state"]["running"], &known["state"]["terminated"]);
    row.container_id = known["containerID"].as_str().and_then(without_scheme);
    if terminated.is_object() {
        return add_end(row, terminated, asked_to_end);
    }
    let phase = status["phase"].as_str();
    if running.is_object() && phase != Some("Failed") {
        set_start(row, &running["startedAt"]);
        row.status = "running".into();
        return;
    }
    row.status = match phase {
        Some("Succeeded") => "completed",
        Some("Failed") => "failed",
        Some("Pending" | "Running") => "submitted",
        _ => "unknown",
    }
    .into();
    if row.status == "failed" {
        // Evicted, DeadlineExceeded, NodeLost, …; or failed init containers, which run before the
        // others.
        row.error = reason(status).or_else(|| failed_before(status)).map(Into::into);
    } else {
        // ImagePullBackOff, CrashLoopBackOff, Unschedulable.
        let waiting =
            reason(&known["state"]["waiting"]).filter(|reason| !reason.starts_with("ContainerCreating") && !reason.starts_with("PodInit"));
        let conditions = list(&status["conditions"]).find(|condition| condition["status"].as_str() == Some("False"));
        let unschedulable = conditions.filter(|condition| condition["reason"].as_str() == Some("Unschedulable")).and_then(reason);
        row.error = waiting.or(unschedulable).map(Into::into);
    }
}

fn add_end(row: &mut Row, terminated: &Value, asked_to_end: Option<i64>) {
    set_start(row, &terminated["startedAt"]);
    let finished = time(&terminated["finishedAt"]);
    (row.finished_ns, row.finished_precision_ns) = (finished, finished.map(|_| SECOND_NS));
    row.container_id = terminated["containerID"].as_str().and_then(without_scheme).or(row.container_id.take());
    row.exit_code = terminated["exitCode"].as_i64();
    let was_asked = asked_to_end.zip(finished).is_some_and(|(asked, finished)| asked <= finished);
    row.status = match row.exit_code {
        Some(0) => "completed",
        Some(_) if was_asked => "aborted",
        _ => "failed",
    }
    .into();
    row.error = reason(terminated).filter(|_| row.status != "completed").map(Into::into);
}

fn set_start(row: &mut Row, started: &Value) {
    let started = time(started);
    (row.started_ns, row.started_precision_ns) = (started, started.map(|_| SECOND_NS));
}

/// Returns the time at which the deletion of the pod was requested: the deadline minus the grace
/// period.
fn deletion_ns(metadata: &Value) -> Option<i64> {
    let grace = metadata["deletionGracePeriodSeconds"].as_i64().unwrap_or(0);
    time(&metadata["deletionTimestamp"])?.checked_sub(grace.checked_mul(SECOND_NS)?)
}

/// Returns the main container: Argo's `main`, Airflow's `base`, else the first.
fn main_container(containers: &Value) -> &Value {
    let named = |name: &str| list(containers).find(|container| container["name"].as_str() == Some(name));
    named("main").or_else(|| named("base")).or_else(|| list(containers).next()).unwrap_or(&Value::Null)
}

/// Returns the work directory: Nextflow's, from the path of its script; else that of the container.
fn work_dir(container: &Value, command: &[&str]) -> Option<String> {
    let of_script = command.iter().flat_map(|word| word.split_whitespace()).find_map(|word| word.strip_suffix("/.command.run"));
    of_script.map(str::to_owned).or_else(|| text(&container["workingDir"]))
}

/// Returns the reason with its message: `OOMKilled`, or `Evicted: The node was low on resource:
/// memory.`
fn reason(told: &Value) -> Option<String> {
    let (reason, message) = (text(&told["reason"]), text(&told["message"]));
    match (reason, message) {
        (Some(reason), Some(message)) => Some(format!("{reason}: {}", message.trim())),
        (reason, message) => reason.or(message),
    }
}

fn failed_before(status: &Value) -> Option<String> {
    list(&status["initContainerStatuses"]).find_map(|container| {
        let ended = &container["state"]["terminated"];
        let code = ended["exitCode"].as_i64().filter(|code| *code != 0)?;
        let why = reason(ended).unwrap_or_default();
        Some(format!("init container {} failed with exit code {code}: {why}", container["name"].as_str().unwrap_or_default()))
    })
}

/// Removes the scheme of a container id: runtimes write `containerd://4c5d…`, control groups only
/// the part after it.
fn without_scheme(id: &str) -> Option<std::borrow::Cow<'static, str>> {
    let id = id.split_once("://").map_or(id, |(_, id)| id);
    (!id.is_empty()).then(|| id.to_owned().into())
}

//! Argo's workflows in, rows and diagnostics out.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use flowmine_extract_workflow::argo::Argo;
use flowmine_extract_workflow::kubernetes::Kubernetes;
use flowmine_extract_workflow::{Engine, Options, Row, Source};
use flowmine_schema::diagnostic::Diagnostics;
use serde_json::{Value, json};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/argo").join(name)
}

/// Rows, and diagnostics as `code*count`.
fn read(paths: &[PathBuf]) -> (Vec<Row>, Vec<String>) {
    let source = |path: &PathBuf| {
        let kind = Argo.recognise(path, &fs::read(path).unwrap()).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        Source { path: path.clone(), name, kind, sha256: String::new(), rows: 0, joined: 0, diagnostics: Diagnostics::default() }
    };
    let mut sources: Vec<Source> = paths.iter().map(source).collect();
    let rows = Argo.read(&mut sources, &Options::default());
    let said = sources.iter().flat_map(|source| source.diagnostics.iter()).map(|d| format!("{}*{}", d.code, d.count));
    (rows, said.collect())
}

fn read_texts(texts: &[String]) -> (Vec<Row>, Vec<String>) {
    let dir = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> = texts
        .iter()
        .enumerate()
        .map(|(at, text)| {
            let path = dir.path().join(format!("{at}.json"));
            fs::write(&path, text).unwrap();
            path
        })
        .collect();
    read(&paths)
}

/// A workflow with nodes of (id, type, phase, children), called by their ids.
fn workflow(nodes: &[(&str, &str, &str, &[&str])]) -> Value {
    let node = |(id, kind, phase, children): &(&str, &str, &str, &[&str])| {
        let node = json!({ "id": id, "name": id, "displayName": id, "type": kind, "phase": phase, "children": children, "templateName": "t",
            "startedAt": "2026-11-20T10:00:00Z", "finishedAt": "2026-11-20T10:00:05Z" });
        ((*id).to_owned(), node)
    };
    let nodes: serde_json::Map<String, Value> = nodes.iter().map(node).collect();
    json!({ "apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "metadata": { "name": "w", "uid": "u", "resourceVersion": "7" },
        "status": { "phase": "Running", "startedAt": "2026-11-20T10:00:00Z", "finishedAt": null, "nodes": nodes } })
}

/// Task, attempt, status, parents.
fn statuses(rows: &[Row]) -> Vec<String> {
    let parents = |row: &Row| row.parents.as_deref().unwrap_or("null").replace('"', "");
    let row_status = |row: &Row| format!("{} {} {} {}", row.task_id.as_deref().unwrap(), row.attempt.unwrap(), row.status, parents(row));
    rows.iter().map(row_status).collect()
}

#[test]
fn retried_pods_of_kubernetes_are_the_same_tasks() {
    let pod = |name: &str, id: &str, node: &str| {
        json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "uid": format!("uid-{id}"), "name": name, "labels": { "workflows.argoproj.io/workflow": "words-x7" },
            "annotations": { "workflows.argoproj.io/node-id": id, "workflows.argoproj.io/node-name": node },
            "ownerReferences": [{ "kind": "Workflow", "uid": "0c9a1d1e-0000-4000-8000-000000000001" }] },
            "spec": { "containers": [{ "name": "main" }] }, "status": { "phase": "Succeeded" } })
    };
    // Ids are hashes of names: of words-x7.split(0), words-x7.split(1) and words-x7.split.
    let pods = [
        pod("words-x7-split-text-3520884241", "words-x7-3520884241", "words-x7.split(0)"),
        pod("words-x7-split-text-4125025620", "words-x7-4125025620", "words-x7.split(1)"),
        pod("other", "words-x7-1", "words-x7.other(1)"),
    ];
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("pods.json");
    fs::write(&path, json!({ "kind": "List", "apiVersion": "v1", "items": pods }).to_string()).unwrap();
    assert_eq!(Argo.recognise(&path, &fs::read(&path).unwrap()), None, "pods name their workflow too");
    let mut sources = [Source {
        path,
        name: "pods.json".to_owned(),
        kind: "objects of Kubernetes",
        sha256: String::new(),
        rows: 0,
        joined: 0,
        diagnostics: Diagnostics::default(),
    }];
    let pods = Kubernetes.read(&mut sources, &Options::default());
    let (told, _) = read(&[fixture("words.json")]);
    let key = |row: &Row| (row.run_id.clone(), row.task_id.clone(), row.attempt);
    for pod in pods.iter().filter(|pod| pod.name != "other") {
        let task = told.iter().find(|row| key(row) == key(pod)).unwrap();
        assert_eq!(task.native_id.as_deref(), Some(pod.name.as_ref()));
    }
    let other = pods.iter().find(|pod| pod.name == "other").unwrap();
    assert_eq!((pods.len(), other.task_id.as_deref()), (3, Some("words-x7-1")), "an id that is no hash of its name is taken as it is");
}

#[test]
fn parents_are_found_through_what_holds_others_together() {
    let nodes: &[(&str, &str, &str, &[&str])] = &[
        ("w", "Steps", "Running", &["g0"]),
        ("g0", "StepGroup", "Succeeded", &["a", "dag"]),
        ("a", "Pod", "Succeeded", &["g1"]),
        ("dag", "DAG", "Succeeded", &["d1"]),
        ("d1", "Pod", "Succeeded", &["skip", "d2"]),
        ("skip", "Skipped", "Skipped", &["d3"]),
        ("d2", "Pod", "Omitted", &["d3"]),
        ("d3", "HTTP", "Succeeded", &["g1"]),
        ("g1", "StepGroup", "Running", &["set", "gone"]),
        ("set", "Pod", "Running", &["c1"]),
        ("c1", "Container", "Succeeded", &["c2"]),
        ("c2", "Container", "Running", &[]),
        ("onExit", "Pod", "Pending", &[]),
        ("odd", "Later", "Running", &[]),
    ];
    let mut told = workflow(nodes);
    for container in ["c1", "c2"] {
        told["status"]["nodes"][container]["boundaryID"] = "set".into();
    }
    let (rows, said) = read_texts(&[told.to_string()]);
    assert_eq!(said, ["task_did_not_run*2", "node_type_unknown*1", "child_unknown*1"]);
    let mut told = statuses(&rows);
    told.sort();
    let expected = [
        "a 1 completed []",
        "c1 1 completed [a,d3]",
        "c2 1 running [c1]",
        "d1 1 completed []",
        "d3 1 completed [d1]",
        "onExit 1 submitted null",
    ];
    assert_eq!(told, expected, "a set of containers is its containers");
}

#[test]
fn groups_of_steps_that_all_hang_on_what_holds_them() {
    let nodes: &[(&str, &str, &str, &[&str])] = &[
        ("w", "Steps", "Succeeded", &["g0", "g1"]),
        ("g0", "StepGroup", "Succeeded", &["a"]),
        ("a", "Pod", "Succeeded", &["g1"]),
        ("g1", "StepGroup", "Succeeded", &["inner"]),
        ("inner", "Steps", "Succeeded", &["h0", "h1"]),
        ("h0", "StepGroup", "Succeeded", &["b"]),
        ("b", "Pod", "Succeeded", &["h1"]),
        ("h1", "StepGroup", "Succeeded", &["c"]),
        ("c", "Pod", "Succeeded", &[]),
    ];
    let mut told = workflow(nodes);
    for (node, boundary) in [("g0", "w"), ("g1", "w"), ("h0", "inner"), ("h1", "inner")] {
        told["status"]["nodes"][node]["boundaryID"] = boundary.into();
    }
    let (rows, said) = read_texts(&[told.to_string()]);
    assert_eq!(
        (statuses(&rows), said),
        (vec!["a 1 completed []".to_owned(), "b 1 completed [a]".to_owned(), "c 1 completed [b]".to_owned()], vec![])
    );
}

#[test]
fn what_runs_at_the_exit_waits_for_all_others() {
    // The id is the hash of w.onExit.
    let nodes: &[(&str, &str, &str, &[&str])] = &[
        ("w", "DAG", "Succeeded", &["a"]),
        ("a", "Pod", "Succeeded", &["b", "c"]),
        ("b", "Pod", "Succeeded", &[]),
        ("c", "Pod", "Succeeded", &[]),
        ("hook", "Pod", "Succeeded", &[]),
        ("w-3635586449", "Steps", "Succeeded", &["g0"]),
        ("g0", "StepGroup", "Succeeded", &["tell"]),
        ("tell", "Pod", "Succeeded", &["g1"]),
        ("g1", "StepGroup", "Succeeded", &["clean"]),
        ("clean", "Pod", "Succeeded", &[]),
    ];
    let mut rows = statuses(&read_texts(&[workflow(nodes).to_string()]).0);
    rows.sort();
    let expected = [
        "a 1 completed []",
        "b 1 completed [a]",
        "c 1 completed [a]",
        "clean 1 completed [tell]",
        "hook 1 completed null",
        "tell 1 completed [b,c]",
    ];
    assert_eq!(rows, expected);
}

#[test]
fn a_group_that_is_taken_from_before_and_a_hook_of_a_retry() {
    let nodes: &[(&str, &str, &str, &[&str])] = &[
        ("w", "DAG", "Succeeded", &["group", "retry"]),
        ("group", "Steps", "Succeeded", &["after"]),
        ("after", "Pod", "Succeeded", &[]),
        ("retry", "Retry", "Succeeded", &["retry(0)", "hook"]),
        ("retry(0)", "Pod", "Succeeded", &[]),
        ("hook", "Pod", "Succeeded", &[]),
    ];
    let mut told = workflow(nodes);
    told["status"]["nodes"]["group"]["memoizationStatus"] = json!({ "hit": true, "key": "k" });
    let mut rows = statuses(&read_texts(&[told.to_string()]).0);
    rows.sort();
    assert_eq!(rows, ["after 1 completed [group]", "group 1 cached []", "hook 1 completed []", "retry 1 completed []"]);
}

#[test]
fn a_node_that_is_its_own_child() {
    let nodes: &[(&str, &str, &str, &[&str])] =
        &[("w", "DAG", "Succeeded", &["a"]), ("a", "Pod", "Succeeded", &["a", "b"]), ("b", "Pod", "Succeeded", &[])];
    let (rows, said) = read_texts(&[workflow(nodes).to_string()]);
    assert_eq!(statuses(&rows), ["a 1 completed []", "b 1 completed [a]"]);
    assert_eq!(said, ["parent_is_itself*1"]);
}

#[test]
fn ends_that_somebody_or_nobody_wrote() {
    let nodes: &[(&str, &str, &str, &[&str])] = &[("a", "Pod", "Failed", &[]), ("b", "Pod", "Error", &[]), ("c", "Pod", "Running", &[])];
    let mut told = workflow(nodes);
    told["status"]["nodes"]["a"]["message"] = "workflow shutdown with strategy:  Stop".into();
    told["status"]["nodes"]["b"]["message"] = "main: Error (exit code 64)".into();
    told["status"]["phase"] = "Failed".into();
    told["status"]["finishedAt"] = "2026-11-20T10:01:00Z".into();
    let (rows, _) = read_texts(&[told.to_string()]);
    let ends: Vec<_> = rows.iter().map(|row| (row.status.as_ref(), row.exit_code, row.run_makespan_s)).collect();
    assert_eq!(ends, [("aborted", None, Some(60.0)), ("failed", Some(64), Some(60.0)), ("unknown", None, Some(60.0))]);
}

#[test]
fn lists_watches_and_packed_nodes() {
    let nodes: &[(&str, &str, &str, &[&str])] = &[("w", "Pod", "Succeeded", &[])];
    let told = workflow(nodes);
    let mut without_kind = told.clone();
    without_kind.as_object_mut().unwrap().retain(|key, _| key != "kind" && key != "apiVersion");
    without_kind["metadata"]["labels"] = json!({ "workflows.argoproj.io/phase": "Running" });
    let mut packed = told.clone();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(told["status"]["nodes"].to_string().as_bytes()).unwrap();
    packed["status"]["compressedNodes"] = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, gzip.finish().unwrap()).into();
    packed["status"]["nodes"] = Value::Null;
    for text in [
        told.to_string(),
        without_kind.to_string(),
        packed.to_string(),
        json!([told]).to_string(),
        json!({ "kind": "List", "apiVersion": "v1", "items": [told] }).to_string(),
        json!({ "metadata": { "resourceVersion": "1" }, "items": [without_kind] }).to_string(),
        json!({ "type": "ADDED", "object": told }).to_string(),
        format!(
            "{}\n{}",
            json!({ "result": { "type": "ADDED", "object": told } }),
            json!({ "result": { "type": "MODIFIED", "object": told } })
        ),
    ] {
        let (rows, said) = read_texts(std::slice::from_ref(&text));
        assert_eq!((statuses(&rows), said), (vec!["w 1 completed []".to_owned()], vec![]), "{text}");
    }
    packed["status"]["compressedNodes"] = "H4sIAAAA".into();
    assert_eq!(read_texts(&[packed.to_string()]), (vec![], vec!["nodes_bad*1".to_owned()]));
    packed["status"].as_object_mut().unwrap().remove("compressedNodes");
    packed["status"]["offloadNodeStatusVersion"] = "fnv:1".into();
    assert_eq!(read_texts(&[packed.to_string()]).1, ["nodes_elsewhere*1"]);
    let template = json!({ "apiVersion": "argoproj.io/v1alpha1", "kind": "WorkflowTemplate", "metadata": {}, "spec": {} });
    assert_eq!(read_texts(&[template.to_string()]).1, ["kind_not_read*1"]);
}

#[test]
fn yaml_is_refused_with_advice() {
    let text = "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata:\n  name: w\nstatus:\n  nodes: {}\n";
    assert_eq!(read_texts(&[text.to_owned()]).1, ["yaml_not_read*1"]);
    assert_eq!(Argo.recognise(Path::new("a"), b"kind: Workflow\n"), None);
}

#[test]
fn what_ran_before_is_kept_in_whatever_order_it_is_told() {
    let at = |version: &str, began: &str, phase: &str| {
        let mut told = workflow(&[("w", "DAG", "Running", &["a"]), ("a", "Pod", phase, &[])]);
        told["metadata"]["resourceVersion"] = version.into();
        told["status"]["nodes"]["a"]["startedAt"] = began.into();
        told.to_string()
    };
    let versions = [
        at("1", "2026-11-20T10:00:00Z", "Running"),
        at("2", "2026-11-20T10:00:00Z", "Failed"),
        at("3", "2026-11-20T11:00:00Z", "Running"),
        at("4", "2026-11-20T11:00:00Z", "Succeeded"),
    ];
    for order in [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2], [2, 0, 3, 1]] {
        let (rows, said) = read_texts(&order.map(|at: usize| versions[at].clone()));
        assert_eq!((statuses(&rows), said), (vec!["a 1 failed []".to_owned(), "a 2 completed []".to_owned()], vec![]), "{order:?}");
    }
}

#[test]
fn steps_of_thousands_do_not_fill_the_memory() {
    let ids: Vec<String> = (0..3000).map(|n| format!("a{n}")).chain((0..3000).map(|n| format!("b{n}"))).collect();
    let (first, second): (Vec<&str>, Vec<&str>) = ids.iter().map(String::as_str).partition(|id| id.starts_with('a'));
    let mut nodes: Vec<(&str, &str, &str, &[&str])> = vec![("w", "StepGroup", "Running", &first), ("g", "StepGroup", "Running", &second)];
    nodes.extend(first.iter().map(|id| (*id, "Pod", "Succeeded", &["g"][..])));
    nodes.extend(second.iter().map(|id| (*id, "Pod", "Running", &[][..])));
    let (rows, said) = read_texts(&[workflow(&nodes).to_string()]);
    let told = rows.iter().filter(|row| row.parents.is_some()).count();
    assert_eq!(rows.len(), 6000);
    assert!((4000..6000).contains(&told) && said == [format!("parents_too_many*{}", 6000 - told)], "{told} {said:?}");
}

#[test]
fn texts_that_are_repeated_are_bounded() {
    let ids: Vec<String> = (0..2000).map(|n| format!("a{n}")).collect();
    let nodes: Vec<(&str, &str, &str, &[&str])> = ids.iter().map(|id| (id.as_str(), "Pod", "Succeeded", &[][..])).collect();
    let mut told = workflow(&nodes);
    told["spec"]["templates"] = json!([{ "name": "t", "script": { "source": "x".repeat(1 << 20) } }]);
    let (rows, said) = read_texts(&[told.to_string()]);
    let whole = rows.iter().filter(|row| row.command.is_some()).count();
    assert_eq!((whole, said), (256, vec![format!("texts_left_out*{}", 2000 - 256)]));
    told["metadata"]["name"] = "w".repeat(1 << 20).into();
    assert_eq!(read_texts(&[told.to_string()]).1.last().map(String::as_str), Some("name_too_long*1"));
}

mod hostile {
    use proptest::prelude::*;

    use super::*;

    fn mangled() -> impl Strategy<Value = Vec<u8>> {
        let text = fs::read(fixture("words.json")).unwrap();
        let edit = (any::<prop::sample::Index>(), 0..30_usize, proptest::collection::vec(any::<u8>(), 0..6));
        proptest::collection::vec(edit, 0..8).prop_map(move |edits| {
            let mut text = text.clone();
            for (at, remove, insert) in edits {
                let at = at.index(text.len() + 1);
                let end = (at + remove).min(text.len());
                text.splice(at..end, insert);
            }
            text
        })
    }

    /// Puts something else in the place of the n-th value.
    fn replace(value: &mut Value, n: &mut usize, with: &Value) {
        if *n == 0 {
            *value = with.clone();
        }
        *n = n.wrapping_sub(1);
        match value {
            Value::Array(inside) => inside.iter_mut().for_each(|value| replace(value, n, with)),
            Value::Object(inside) => inside.iter_mut().for_each(|(_, value)| replace(value, n, with)),
            _ => {}
        }
    }

    fn check(text: &[u8]) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.json");
        fs::write(&path, text).unwrap();
        let mut sources = [Source {
            path,
            name: "a.json".to_owned(),
            kind: "Argo workflows",
            sha256: String::new(),
            rows: 0,
            joined: 0,
            diagnostics: Diagnostics::default(),
        }];
        for row in Argo.read(&mut sources, &Options::default()) {
            assert!(row.task_id.is_some() && !row.status.is_empty() && row.attempt.is_some());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn decoding_never_panics(text in mangled()) {
            check(&text);
        }

        #[test]
        fn odd_values(places in proptest::collection::vec(0..330_usize, 0..4), which in 0..9_usize) {
            let with = ["null", "[]", "{}", "-1", "1e300", "9223372036854775807", "\"\"", "\"(0)\"", "[[1], {\"name\": 2}]"][which];
            let with: Value = serde_json::from_str(with).unwrap();
            let mut workflow: Value = serde_json::from_slice(&fs::read(fixture("words.json")).unwrap()).unwrap();
            for mut place in places {
                replace(&mut workflow, &mut place, &with);
            }
            check(workflow.to_string().as_bytes());
        }
    }
}

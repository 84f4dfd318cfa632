//! Models of one run: its critical path, and what was declared against what was traced.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value as Json, json};
use support::require::require;
use support::{expect, flowmine, peers, repository};
use tempfile::TempDir;

/// A copy of a recorded dataset with what its engine wrote.
fn recorded(name: &str) -> (TempDir, PathBuf) {
    let from = repository("fixtures/workflows").join(name);
    let dir = tempfile::tempdir().unwrap();
    let dataset = dir.path().join("dataset");
    expect(Command::new("cp").arg("-r").arg(from.join("dataset")).arg(&dataset), 0);
    let log = from.join("flow.makeflow.makeflowlog");
    if log.exists() {
        expect(flowmine().args(["import", "makeflow"]).arg(log).arg("--dataset").arg(&dataset), 0);
    }
    expect(flowmine().args(["correlate", "--dataset"]).arg(&dataset), 0);
    (dir, dataset)
}

fn model(dataset: &Path, model: &str, more: &[&str]) -> Json {
    let mut command = flowmine();
    command.args(["discover", "--model", model, "--format", "json", "--dataset"]).arg(dataset).args(more);
    serde_json::from_slice(&expect(&mut command, 0).stdout).unwrap()
}

fn list<'j>(found: &'j Json, of: &str, key: &str) -> Vec<&'j str> {
    found[of].as_array().unwrap().iter().map(|one| one[key].as_str().unwrap()).collect()
}

fn time(found: &Json, part: &str) -> f64 {
    let parts = found["parts"].as_array().unwrap().iter();
    parts.filter(|of| of["part"] == part).map(|of| of["time_ns"].as_f64().unwrap() / 1e9).sum()
}

#[test]
fn a_run_of_makeflow_over_slurm() {
    let (dir, dataset) = recorded("makeflow-slurm");
    let found = model(&dataset, "critical-path", &[]);
    // p1, p2 and p3 read what split writes; p3 failed once, so that the run waited for it.
    assert_eq!(list(&found, "path", "activity"), ["split", "p3", "merge", "report", "amend", "check"]);
    assert_eq!(found["dependencies"], json!({"declared": 0, "traced": 0, "both": 10, "beside": 0}));
    let sum: f64 = found["parts"].as_array().unwrap().iter().map(|of| of["time_ns"].as_f64().unwrap()).sum();
    assert_eq!(sum, found["makespan_ns"].as_f64().unwrap());
    // Slurm starts jobs about a second after they are submitted; a job that ends in no time was submitted twice.
    assert!(time(&found, "queue") > 4.0 && (0.5..1.5).contains(&time(&found, "retry")), "{found}");
    let queue = found["gains"].as_array().unwrap().iter().find(|of| of["part"] == "queue" && of["activity"].is_null()).unwrap();
    assert!(queue["most_ns"].as_f64() > queue["gain_ns"].as_f64() && queue["gain_ns"].as_f64() > Some(2e9), "{queue}");
    // Every form says the same run.
    let path = |format: &str| {
        let to = dir.path().join(format!("path.{format}"));
        expect(flowmine().args(["discover", "--model", "critical-path", "--dataset"]).arg(&dataset).arg("-o").arg(&to), 0);
        fs::read_to_string(to).unwrap()
    };
    assert!(path("txt").contains("Critical path: 6 tasks"));
    assert_eq!(path("csv").lines().count(), 7);
    assert_eq!(path("svg").matches("<title>").count(), 1 + 6);
}

#[test]
fn what_is_declared_and_what_was_done() {
    let (_dir, dataset) = recorded("makeflow-slurm");
    let found = model(&dataset, "check", &[]);
    let kinds = list(&found, "findings", "kind");
    assert!(!kinds.contains(&"missing_dependency") && !kinds.contains(&"needless_dependency"), "{kinds:?}");
    let inputs: Vec<(&str, &str)> = found["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|of| of["kind"] == "undeclared_input")
        .map(|of| (of["first_activity"].as_str().unwrap(), of["second_activity"].as_str().unwrap()))
        .collect();
    // They hand the file state/state on beside what they declare.
    assert_eq!(inputs, [("amend", "check"), ("merge", "report")]);
    // Snakemake tells Slurm of no dependency: jobs wait because it submits them later.
    let (_dir, dataset) = recorded("snakemake-slurm");
    let found = model(&dataset, "check", &[]);
    assert!(!list(&found, "findings", "kind").contains(&"missing_dependency"), "{found}");
    assert_eq!((found["noun"].as_str(), found["ordered_by_submission"].as_u64()), (Some("job"), Some(7)));
}

#[test]
fn a_run_has_to_be_chosen() {
    let (_dir, dataset) = recorded("makeflow-local");
    let other = repository("fixtures/workflows/makeflow-slurm/flow.makeflow.makeflowlog");
    expect(flowmine().args(["import", "makeflow"]).arg(other).arg("--dataset").arg(&dataset), 0);
    let fails = |more: &[&str]| {
        let mut command = flowmine();
        command.args(["discover", "--model", "critical-path", "--dataset"]).arg(&dataset).args(more);
        String::from_utf8(expect(&mut command, 2).stderr).unwrap()
    };
    let said = fails(&[]);
    assert!(said.contains("2 runs") && said.contains("--run") && said.contains("1795329395558794"), "{said}");
    assert!(fails(&["--run", "flow.makeflow"]).contains("more than one run is called"));
    assert!(fails(&["--run", "x\u{1b}[2J"]).contains("no run is called \"x\\u{1b}[2J\""));
    assert!(fails(&["--run", "1795329395558794", "--only-activity", "x"]).contains("a whole run"));
    assert!(fails(&["--run", "1795329395558794", "--faster", "1"]).contains("--faster"));
    // Of what was not traced, Makeflow tells submission and end alone.
    let found = model(&dataset, "critical-path", &["--run", "1795329395558794"]);
    assert_eq!(found["tasks"], 8);
    assert!(time(&found, "turnaround") > 5.0 && time(&found, "run") == 0.0, "{found}");
}

/// The longest path of random workflows, beside networkx, which PM4Py needs.
#[test]
fn the_longest_path_is_that_of_networkx() {
    let peer = peers::pm4py();
    if !require("pm4py", "PM4Py", peer.is_ok()) {
        return;
    }
    let python = std::env::var_os("FLOWMINE_PYTHON").map_or_else(|| PathBuf::from("python3"), PathBuf::from);
    const LONGEST: &str = "
import json, sys, networkx
w = json.load(open(sys.argv[1]))['workflow']
time = {t['id']: t['runtimeInSeconds'] for t in w['execution']['tasks']}
g = networkx.DiGraph()
g.add_nodes_from(list(time) + ['end'])
for t in w['specification']['tasks']:
    g.add_edge(t['id'], 'end', weight=time[t['id']])
    for p in t['parents']:
        g.add_edge(p, t['id'], weight=time[p])
print(networkx.dag_longest_path_length(g))
";
    let dir = tempfile::tempdir().unwrap();
    for tasks in [1u64, 7, 40, 300, 2000] {
        // Weyl's sequence: every number as likely, and the same in each run.
        let random = |a: u64, b: u64| (a * 7919 + b * 104_729 + tasks).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33;
        let parents = |at: u64| -> Vec<String> {
            let mut all: Vec<u64> = (0..3).filter(|_| at > 0).map(|n| random(at, n) % at).collect();
            all.sort_unstable();
            all.dedup();
            all.into_iter().map(|parent| format!("t{parent}")).collect()
        };
        let children = |at: u64| -> Vec<String> {
            (at + 1..tasks).filter(|&child| parents(child).contains(&format!("t{at}"))).map(|child| format!("t{child}")).collect()
        };
        let of = |at: u64| json!({"name": "work", "id": format!("t{at}"), "parents": parents(at), "children": children(at)});
        let ran = |at: u64| json!({"id": format!("t{at}"), "runtimeInSeconds": (random(at, 9) % 100_000) as f64 / 1000.0});
        let instance = json!({
            "name": "random", "schemaVersion": "1.5",
            "workflow": {
                "specification": {"tasks": (0..tasks).map(of).collect::<Vec<_>>(), "files": []},
                "execution": {"makespanInSeconds": 1, "executedAt": "2020-01-01T00:00:00Z", "tasks": (0..tasks).map(ran).collect::<Vec<_>>()},
            },
        });
        let file = dir.path().join(format!("{tasks}.json"));
        fs::write(&file, instance.to_string()).unwrap();
        let dataset = dir.path().join(format!("dataset-{tasks}"));
        expect(flowmine().args(["import", "wfformat"]).arg(&file).arg("--dataset").arg(&dataset), 0);
        let found = model(&dataset, "critical-path", &[]);
        let wanted: f64 =
            String::from_utf8(expect(Command::new(&python).arg("-c").arg(LONGEST).arg(&file), 0).stdout).unwrap().trim().parse().unwrap();
        let span = found["span_ns"].as_f64().unwrap() / 1e9;
        assert!((span - wanted).abs() < 1e-6 * (1.0 + wanted), "{tasks} tasks: {span} and {wanted}");
        assert!(found["makespan_ns"].is_null());
    }
}

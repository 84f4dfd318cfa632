//! Models of one run: its critical path, and what was declared against what was traced.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]

#[path = "support/doctor.rs"]
mod doctor;
mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use flowmine_schema::tables::TaskTotal;
use flowmine_schema::{Dataset, DatasetError, Projection};
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

/// The processes of a script are those that it forks, folded where they are equal, with all bytes that were traced.
#[test]
fn a_fork_tree_has_every_process_once() {
    let (works, how) = doctor::says("ebpf");
    if !require("bpf", &format!("eBPF ({how})"), works) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let script = dir.path().join("samples.sh");
    let text = "for i in 1 2 3 4; do\n  sh -c \"head -c 100000 /dev/zero > s$i; gzip -c s$i > s$i.gz; wc -c < s$i.gz > s$i.n\"\ndone\n\
                (cat s1.n s2.n)\nsh -c 'kill -9 $$'\ntrue\n";
    fs::write(&script, text).unwrap();
    let dataset = dir.path().join("dataset");
    expect(flowmine().args(["trace", "--dataset"]).arg(&dataset).args(["--", "sh"]).arg(&script).current_dir(dir.path()), 0);
    expect(flowmine().args(["correlate", "--dataset"]).arg(&dataset), 0);
    // The shell; four shells with three commands each; a sub-shell that becomes cat or forks it; a shell that is killed.
    let tree = model(&dataset, "process-tree", &[]);
    let processes = tree["processes"].as_u64().unwrap();
    assert!((19..=20).contains(&processes), "{tree}");
    assert_eq!((tree["lost"].as_u64(), tree["circular"].as_u64()), (Some(0), Some(0)));
    let nodes = tree["nodes"].as_array().unwrap();
    assert_eq!(nodes.iter().map(|node| node["processes"].as_u64().unwrap()).sum::<u64>(), processes);
    let gzip = nodes.iter().find(|node| node["program"] == "gzip").unwrap();
    assert_eq!((gzip["processes"].as_u64(), gzip["depth"].as_u64()), (Some(4), Some(2)));
    assert!(gzip["read_bytes"].as_i64() >= Some(400_000), "{gzip}");
    let head = nodes.iter().find(|node| node["program"] == "head").unwrap();
    assert_eq!(head["written_bytes"], 400_000);
    assert!(nodes.iter().any(|node| node["failed"] == 1 && node["processes"] == 1), "{tree}");
    // All bytes are those of all operations.
    let (mut read, mut written) = (0, 0);
    Dataset::open(&dataset)
        .unwrap()
        .read::<TaskTotal<'static>, DatasetError>(Projection::All, |row| {
            read += row.read_bytes;
            written += row.written_bytes;
            Ok(())
        })
        .unwrap();
    let sum = |key: &str| nodes.iter().map(|node| node[key].as_i64().unwrap()).sum::<i64>();
    assert_eq!((sum("read_bytes"), sum("written_bytes")), (read, written));
    assert_eq!((nodes[0]["all_read_bytes"].as_i64(), nodes[0]["all_written_bytes"].as_i64()), (Some(read), Some(written)));
    // Each by itself, and a part.
    let each = model(&dataset, "process-tree", &["--fold", "never"]);
    assert_eq!(each["nodes"].as_array().unwrap().len() as u64, processes);
    let shell = each["nodes"].as_array().unwrap().iter().find(|node| node["depth"] == 1).unwrap();
    let part = model(&dataset, "process-tree", &["--pid", &shell["pid"].to_string()]);
    assert_eq!(part["processes"], 5);
    for format in ["svg", "text", "csv", "dot", "graphml", "gml", "cytoscape"] {
        let told =
            flowmine().args(["discover", "--model", "process-tree", "--format", format, "--dataset"]).arg(&dataset).output().unwrap();
        assert!(told.status.success() && String::from_utf8_lossy(&told.stdout).contains("gzip"), "{format}: {told:?}");
    }
    let refused = expect(flowmine().args(["discover", "--model", "process-tree", "--pid", "1", "--dataset"]).arg(&dataset), 2);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("no process with the number 1"));
}

#[test]
fn a_gantt_chart_has_a_bar_for_each_attempt() {
    let (_dir, dataset) = recorded("makeflow-slurm");
    let chart = model(&dataset, "gantt", &["--case-notion", "task-run"]);
    let bars = chart["bars"].as_array().unwrap();
    assert_eq!((bars.len(), chart["running"]["most"].as_u64(), chart["queued"]["most"].as_u64()), (9, Some(3), Some(3)));
    let of = |bar: &Json, key: &str| bar[key].as_i64().unwrap();
    let failed: Vec<&str> = bars.iter().filter(|bar| bar["status"] == "failed").map(|bar| bar["activity"].as_str().unwrap()).collect();
    assert_eq!(failed, ["p3"]);
    for (at, a) in bars.iter().enumerate() {
        assert!(of(a, "ready_ns") <= of(a, "start_ns") && of(a, "start_ns") <= of(a, "end_ns"), "{a}");
        let beside = bars[at + 1..].iter().filter(|b| b["lane"] == a["lane"]);
        beside.for_each(|b| assert!(of(b, "start_ns") >= of(a, "end_ns") || of(a, "start_ns") >= of(b, "end_ns"), "{a} {b}"));
    }
    // Jobs have lanes of nodes.
    let jobs = model(&dataset, "gantt", &[]);
    assert_eq!((jobs["resources"][0]["name"].as_str(), jobs["instance"].as_str()), (Some("n1"), Some("job")));
    let csv = expect(flowmine().args(["discover", "--model", "gantt", "--format", "csv", "--dataset"]).arg(&dataset), 0).stdout;
    assert_eq!(String::from_utf8(csv).unwrap().lines().count(), 1 + 9);
}

/// Two real runs of a workflow, in the second of which one kind of task is slower, and a task is new.
#[test]
fn what_became_slower_between_two_runs() {
    let (_dir, dataset) = recorded("makeflow-local");
    let itself = model(&dataset, "compare", &["--with", dataset.to_str().unwrap()]);
    assert_eq!(itself["equal"], true);
    assert!(itself["activities"].as_array().unwrap().iter().all(|of| of["time_difference_ns"] == 0), "{itself}");
    if !require("makeflow", "Makeflow", support::has_program("makeflow")) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let dataset = dir.path().join("dataset");
    for (name, seconds, extra) in [("quick", "0.01", false), ("slow", "0.4", true)] {
        let rule = |category: &str, command: String, input: Option<String>, output: String| json!({"category": category, "command": command, "inputs": input.into_iter().collect::<Vec<_>>(), "outputs": [output]});
        let mut rules = Vec::new();
        for at in 0..6 {
            rules.push(rule("make", format!("sleep 0.01; echo {at} > s{at}"), None, format!("s{at}")));
            rules.push(rule("align", format!("sleep {seconds}; sed p s{at} > a{at}"), Some(format!("s{at}")), format!("a{at}")));
        }
        if extra {
            rules.push(rule("more", "echo more > more".to_owned(), None, "more".to_owned()));
        }
        let run = dir.path().join(name);
        fs::create_dir(&run).unwrap();
        let file = run.join(format!("{name}.makeflow"));
        fs::write(&file, json!({ "rules": rules }).to_string()).unwrap();
        expect(Command::new("makeflow").args(["--json", "--log-verbose", "-T", "local", "-j", "6"]).arg(&file).current_dir(&run), 0);
        let log = run.join(format!("{name}.makeflow.makeflowlog"));
        expect(flowmine().args(["import", "makeflow"]).arg(log).arg("--dataset").arg(&dataset), 0);
    }
    let found = model(&dataset, "compare", &["--run", "quick.makeflow", "--with-run", "slow.makeflow"]);
    let activities = found["activities"].as_array().unwrap();
    let beyond: Vec<&str> = activities
        .iter()
        .filter(|of| {
            of["quantities"].as_array().unwrap().iter().any(|of| of["verdict"] == "beyond_chance" && of["ratio"].as_f64() > Some(2.0))
        })
        .map(|of| of["activity"].as_str().unwrap())
        .collect();
    assert_eq!(beyond, ["align"], "{found}");
    assert_eq!(activities[0]["activity"], "align");
    let slow = &activities[0];
    assert_eq!((slow["first"]["instances"].as_u64(), slow["second"]["instances"].as_u64()), (Some(6), Some(6)), "{found}");
    let added: Vec<&Json> = activities.iter().filter(|of| of["first"]["instances"] == 0).collect();
    assert_eq!(added.iter().map(|of| &of["activity"]).collect::<Vec<_>>(), ["more"]);
    let text = expect(
        flowmine()
            .args(["discover", "--model", "compare", "--run", "quick.makeflow", "--with-run", "slow.makeflow", "--dataset"])
            .arg(&dataset),
        0,
    );
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains("longer than the first") && text.contains("Only in the second") && text.contains("beyond chance"), "{text}");
    let fails = |more: &[&str]| {
        let mut command = flowmine();
        String::from_utf8(expect(command.args(["discover", "--model", "compare", "--dataset"]).arg(&dataset).args(more), 2).stderr).unwrap()
    };
    assert!(fails(&[]).contains("say which the second is"));
    assert!(fails(&["--run", "none", "--with-run", "slow.makeflow"]).contains("no run is called \"none\""));
}

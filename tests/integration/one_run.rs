//! Models of one run: its critical path, its graph, its profile, and what was declared against what
//! was traced.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use flowmine_dataset::{Dataset, DatasetError};
use flowmine_schema::tables::{DataFlow, IoEvent, TaskTotal};
use serde_json::{Value as Json, json};
use tempfile::TempDir;

use crate::support;
use crate::support::require::require;
use crate::support::{doctor, expect, flowmine, peers, repository};

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

/// What Makeflow's log lacks is said with each workflow that is made of its run.
#[test]
fn a_workflow_of_makeflows_log_says_what_it_lacks() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = dir.path().join("dataset");
    let log = repository("fixtures/demonstration/rnaseq.makeflow.makeflowlog");
    expect(flowmine().args(["import", "makeflow"]).arg(log).arg("--dataset").arg(&dataset), 0);
    for language in ["makeflow", "make", "snakemake", "slurm"] {
        let file = dir.path().join(format!("flow.{language}"));
        let output = expect(flowmine().args(["export", "--format", language, "--dataset"]).arg(&dataset).arg("-o").arg(&file), 0);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("Makeflow's log does not record its options"), "{language}: {said}");
    }
}

fn model(dataset: &Path, model: &str, more: &[&str]) -> Json {
    let mut command = flowmine();
    command.args(["discover", model, "--format", "json", "--dataset"]).arg(dataset).args(more);
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
    assert_eq!(found["dependencies"], json!({"declared": 0, "traced": 0, "both": 10, "inferred": 0, "beside": 0}));
    let sum: f64 = found["parts"].as_array().unwrap().iter().map(|of| of["time_ns"].as_f64().unwrap()).sum();
    assert_eq!(sum, found["makespan_ns"].as_f64().unwrap());
    // Slurm starts jobs about a second after they are submitted; a job that ends in no time was submitted twice.
    assert!(time(&found, "queue") > 4.0 && (0.5..1.5).contains(&time(&found, "retry")), "{found}");
    let queue = found["gains"].as_array().unwrap().iter().find(|of| of["part"] == "queue" && of["activity"].is_null()).unwrap();
    assert!(queue["most_ns"].as_f64() > queue["gain_ns"].as_f64() && queue["gain_ns"].as_f64() > Some(2e9), "{queue}");
    // Every form says the same run.
    let path = |format: &str| {
        let to = dir.path().join(format!("path.{format}"));
        expect(flowmine().args(["discover", "critical-path", "--dataset"]).arg(&dataset).arg("-o").arg(&to), 0);
        fs::read_to_string(to).unwrap()
    };
    assert!(path("txt").contains("Critical path: 6 tasks"));
    assert_eq!(path("csv").lines().count(), 7);
    assert_eq!(path("svg").matches("<title>").count(), 1 + 6);
}

#[test]
fn what_is_declared_and_what_was_done() {
    let (_dir, dataset) = recorded("makeflow-slurm");
    let found = model(&dataset, "dependency-audit", &[]);
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
    let found = model(&dataset, "dependency-audit", &[]);
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
        command.args(["discover", "critical-path", "--dataset"]).arg(&dataset).args(more);
        String::from_utf8(expect(&mut command, 2).stderr).unwrap()
    };
    let said = fails(&[]);
    assert!(said.contains("2 runs") && said.contains("--run") && said.contains("1795329395558794"), "{said}");
    assert!(fails(&["--run", "flow.makeflow"]).contains("more than one run is called"));
    assert!(fails(&["--run", "x\u{1b}[2J"]).contains("no run is called \"x\\u{1b}[2J\""));
    let of_logs = fails(&["--run", "1795329395558794", "--only-activity", "x"]);
    assert!(of_logs.contains("--only-activity is an option of dfg") && !of_logs.contains("critical-path,"), "{of_logs}");
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

/// The processes of a script are those that it forks, folded where they are equal, with all bytes
/// that were traced.
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
    let tree = model(&dataset, "fork-tree", &[]);
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
        .read::<TaskTotal<'static>, DatasetError>(|row| {
            read += row.read_bytes;
            written += row.written_bytes;
            Ok(())
        })
        .unwrap();
    let sum = |key: &str| nodes.iter().map(|node| node[key].as_i64().unwrap()).sum::<i64>();
    assert_eq!((sum("read_bytes"), sum("written_bytes")), (read, written));
    assert_eq!((nodes[0]["all_read_bytes"].as_i64(), nodes[0]["all_written_bytes"].as_i64()), (Some(read), Some(written)));
    // Each by itself, and a part.
    let each = model(&dataset, "fork-tree", &["--fold", "never"]);
    assert_eq!(each["nodes"].as_array().unwrap().len() as u64, processes);
    let shell = each["nodes"].as_array().unwrap().iter().find(|node| node["depth"] == 1).unwrap();
    let part = model(&dataset, "fork-tree", &["--pid", &shell["pid"].to_string()]);
    assert_eq!(part["processes"], 5);
    for format in ["svg", "text", "csv", "dot", "graphml", "gml", "cytoscape"] {
        let told = flowmine().args(["discover", "fork-tree", "--format", format, "--dataset"]).arg(&dataset).output().unwrap();
        assert!(told.status.success() && String::from_utf8_lossy(&told.stdout).contains("gzip"), "{format}: {told:?}");
    }
    let refused = expect(flowmine().args(["discover", "fork-tree", "--pid", "1", "--dataset"]).arg(&dataset), 2);
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
    let csv = expect(flowmine().args(["discover", "gantt", "--format", "csv", "--dataset"]).arg(&dataset), 0).stdout;
    assert_eq!(String::from_utf8(csv).unwrap().lines().count(), 1 + 9);
}

/// Two real runs of a workflow, in the second of which one kind of task is slower, and a task is
/// new.
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
            rules.push(rule("make", format!("sleep 0.1; echo {at} > s{at}"), None, format!("s{at}")));
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
        flowmine().args(["discover", "compare", "--run", "quick.makeflow", "--with-run", "slow.makeflow", "--dataset"]).arg(&dataset),
        0,
    );
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains("longer than the first") && text.contains("Only in the second") && text.contains("beyond chance"), "{text}");
    let fails = |more: &[&str]| {
        let mut command = flowmine();
        String::from_utf8(expect(command.args(["discover", "compare", "--dataset"]).arg(&dataset).args(more), 2).stderr).unwrap()
    };
    assert!(fails(&[]).contains("say which the second is"));
    assert!(fails(&["--run", "none", "--with-run", "slow.makeflow"]).contains("no run is called \"none\""));
}

/// Rows of a table, as `each` makes them.
fn rows<R: flowmine_schema::row::Row, T>(dataset: &Path, mut each: impl FnMut(R::Of<'_>) -> T) -> Vec<T> {
    let mut all = Vec::new();
    let take = |row: R::Of<'_>| {
        all.push(each(row));
        Ok(())
    };
    Dataset::open(dataset).unwrap().read::<R, DatasetError>(take).unwrap();
    all
}

fn sum(list: &Json, key: &str) -> i64 {
    list.as_array().unwrap().iter().map(|of| of[key].as_i64().unwrap_or(0)).sum()
}

#[test]
fn one_run_as_a_graph() {
    let (dir, dataset) = recorded("makeflow-slurm");
    let whole = model(&dataset, "dag", &["--system-files", "--fold", "never"]);
    assert_eq!((whole["noun"].as_str(), whole["tasks"].as_u64()), (Some("task"), Some(8)));
    // All bytes that tasks wrote and read, by counting the rows of data_flow.
    let mut written: BTreeMap<String, i64> = BTreeMap::new();
    let mut read: BTreeMap<String, i64> = BTreeMap::new();
    let mut tasks: BTreeMap<String, String> = BTreeMap::new();
    let mut own: BTreeSet<String> = BTreeSet::new();
    // What a task's first attempt wrote its second one reads back.
    let of_task = |attempt: &str| attempt.split('#').next().unwrap().to_owned();
    rows::<DataFlow<'static>, _>(&dataset, |row| {
        let version = format!("{:?}", (&row.host, row.device, row.inode, row.generation, row.incarnation, &row.path, row.version));
        if let Some(writer) = row.writer.as_deref().filter(|_| row.writer_type.as_deref() == Some("task")) {
            written.insert(format!("{version}{writer}"), row.written_bytes);
            own.insert(format!("{version}{}", of_task(writer)));
        }
        if let Some(reader) = row.reader.as_deref().filter(|_| row.reader_type.as_deref() == Some("task")) {
            read.insert(format!("{version}{reader}"), row.read_bytes);
            tasks.insert(format!("{version}{reader}"), format!("{version}{}", of_task(reader)));
        }
    });
    let of_kind = |found: &Json, kind: &str| -> i64 {
        found["edges"].as_array().unwrap().iter().filter(|edge| edge["kind"] == kind).map(|edge| edge["bytes"].as_i64().unwrap()).sum()
    };
    assert_eq!(of_kind(&whole, "write"), written.values().sum::<i64>());
    assert_eq!(of_kind(&whole, "read"), read.iter().filter(|(key, _)| !own.contains(&tasks[*key])).map(|(_, bytes)| bytes).sum::<i64>());
    // The path is that of the other model.
    let path = model(&dataset, "critical-path", &[]);
    let mut on_path = list(&path, "path", "task");
    let mut marked: Vec<&str> = whole["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|node| node["kind"] == "task" && node["critical"] == 1)
        .map(|node| node["name"].as_str().unwrap())
        .collect();
    on_path.sort_unstable();
    marked.sort_unstable();
    assert_eq!(marked, on_path);
    // A path leads from task to file to task: two lines between each two tasks.
    assert_eq!(whole["edges"].as_array().unwrap().iter().filter(|edge| edge["critical"] == true).count(), 2 * (on_path.len() - 1));
    // Folded and without files of the system it is a graph that can be read.
    let usual = model(&dataset, "dag", &[]);
    assert!(usual["nodes"].as_array().unwrap().len() <= 60, "{usual}");
    for (more, wanted) in [
        (&["--by", "host", "--files", "none"][..], 1),
        (&["--by", "activity", "--files", "none"], 8),
        (&["--by", "job", "--files", "none", "--only-activity", "p*"], 3),
        (&["--case", "task-run:makeflow:flow.makeflow:1795329395558794", "--files", "none"], 8),
    ] {
        let found = model(&dataset, "dag", more);
        let count = found["nodes"].as_array().unwrap().len();
        assert!(more.contains(&"--case") || count == wanted, "{more:?}: {count} {found}");
    }
    // Processes: what they forked and what they read and wrote.
    let processes = model(&dataset, "dag", &["--by", "process", "--fold", "never", "--system-files"]);
    let kinds = list(&processes, "edges", "kind");
    assert!(kinds.contains(&"fork") && kinds.contains(&"read") && kinds.contains(&"write"), "{kinds:?}");
    for format in ["svg", "dot", "graphml", "gml", "cytoscape", "csv", "text"] {
        let mut command = flowmine();
        let out = expect(command.args(["discover", "dag", "--format", format, "--dataset"]).arg(&dataset), 0).stdout;
        assert!(String::from_utf8(out).unwrap().contains("merge"), "{format}");
    }
    let edges = expect(flowmine().args(["discover", "dag", "--format", "csv", "--table", "edges", "--dataset"]).arg(&dataset), 0).stdout;
    assert_eq!(String::from_utf8(edges).unwrap().lines().count(), 1 + usual["edges"].as_array().unwrap().len());
    let fails = |more: &[&str]| {
        let mut command = flowmine();
        String::from_utf8(expect(command.args(["discover", "dag", "--dataset"]).arg(&dataset).args(more), 2).stderr).unwrap()
    };
    assert!(fails(&["--job", "no"]).contains("no task of the run ran in job \"no\""));
    assert!(fails(&["--only-activity", "no"]).contains("passes the filters"));
    assert!(fails(&["--by", "program"]).contains("activity, process, task, job, host"));
    assert!(fails(&["--case", "dependency:no"]).contains("no case is called"));
    drop(dir);
}

/// The rules of the Trace Event Format for what we write: complete events within each other on a
/// track, metadata, counters.
fn check_trace(bytes: &[u8]) -> Vec<Json> {
    let trace: Json = serde_json::from_slice(bytes).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let mut tracks: BTreeMap<(i64, i64), Vec<(f64, f64)>> = BTreeMap::new();
    for event in events {
        let pid = event["pid"].as_i64().unwrap();
        match event["ph"].as_str().unwrap() {
            "M" => assert!(event["args"]["name"].is_string() || event["args"]["sort_index"].is_number(), "{event}"),
            "C" => assert!(event["ts"].as_f64().unwrap() >= 0.0 && event["args"]["value"].is_number(), "{event}"),
            "X" => {
                let (ts, dur) = (event["ts"].as_f64().unwrap(), event["dur"].as_f64().unwrap());
                assert!(ts >= 0.0 && dur >= 0.0 && event["name"].is_string(), "{event}");
                tracks.entry((pid, event["tid"].as_i64().unwrap())).or_default().push((ts, ts + dur));
            }
            other => panic!("{other}"),
        }
    }
    for slices in tracks.values_mut() {
        // The longer first where two begin together.
        slices.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
        let mut open: Vec<f64> = Vec::new();
        for &(from, to) in slices.iter() {
            while open.last().is_some_and(|end| *end <= from + 1e-6) {
                open.pop();
            }
            assert!(open.last().is_none_or(|end| to <= end + 1e-3), "slices lie across each other: {slices:?}");
            open.push(to);
        }
    }
    events.clone()
}

#[test]
fn traces_for_perfetto() {
    let (_dir, dataset) = recorded("makeflow-slurm");
    let trace = |model: &str, more: &[&str]| {
        let mut command = flowmine();
        check_trace(&expect(command.args(["discover", model, "--format", "perfetto", "--dataset"]).arg(&dataset).args(more), 0).stdout)
    };
    let count = |events: &[Json], kind: &str| events.iter().filter(|event| event["cat"] == kind).count();
    let tasks = trace("gantt", &["--case-notion", "task-run"]);
    // Nine attempts of eight tasks, with their queues, and the processes of the trace.
    assert_eq!((count(&tasks, "run"), count(&tasks, "queue")), (9, 9));
    assert!(count(&tasks, "process") > 20 && count(&tasks, "read") > 8 && count(&tasks, "write") > 8);
    let processes = trace("fork-tree", &[]);
    assert_eq!(count(&processes, "process"), count(&tasks, "process"));
    let path = trace("critical-path", &[]);
    assert_eq!(count(&path, "path"), 6);
    // The chart says the same: bytes of its phases are those of the processes of tasks.
    let chart = model(&dataset, "gantt", &["--case-notion", "task-run"]);
    let bars = chart["bars"].as_array().unwrap();
    let phases = |write: bool| -> i64 {
        bars.iter()
            .flat_map(|bar| bar["io"].as_array().unwrap())
            .filter(|of| of["write"] == write)
            .map(|of| of["bytes"].as_i64().unwrap())
            .sum()
    };
    let totals = rows::<TaskTotal<'static>, _>(&dataset, |row| (row.task.is_some(), row.read_bytes, row.written_bytes));
    let of_tasks = totals.iter().filter(|(of_task, ..)| *of_task).fold((0, 0), |sum, (_, read, written)| (sum.0 + read, sum.1 + written));
    assert_eq!((phases(false), phases(true)), of_tasks);
}

#[test]
fn a_profile_counts_all_operations() {
    let (dir, dataset) = recorded("makeflow-local");
    let found = model(&dataset, "io-profile", &[]);
    let mut counts: BTreeMap<String, (u64, i64, i64)> = BTreeMap::new();
    rows::<IoEvent<'static>, _>(&dataset, |row| {
        let (count, bytes, time) = counts.entry(row.op.to_string()).or_default();
        *count += 1;
        *bytes += row.result.filter(|bytes| *bytes > 0 && matches!(&*row.op, "read" | "write")).unwrap_or(0);
        *time += row.end_ns.map_or(0, |end| end - row.start_ns);
    });
    let told: BTreeMap<String, (u64, i64)> = found["total"]["operations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|of| (of["kind"].as_str().unwrap().to_owned(), (of["count"].as_u64().unwrap(), of["time_ns"].as_i64().unwrap())))
        .collect();
    assert_eq!(told, counts.iter().map(|(op, (count, _, time))| (op.clone(), (*count, *time))).collect());
    assert_eq!(found["total"]["read_bytes"].as_i64(), Some(counts["read"].1));
    assert_eq!(found["total"]["written_bytes"].as_i64(), Some(counts["write"].1));
    for key in ["read_bytes", "written_bytes", "processes"] {
        assert_eq!(sum(&found["groups"], key), found["total"][key].as_i64().unwrap(), "{key}");
    }
    for key in ["files", "processes", "uses"] {
        assert_eq!(sum(&found[key], "read_bytes"), counts["read"].1, "{key}");
    }
    let over_time: i64 = found["over_time"]["rows"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|row| row["read_bytes"].as_array().unwrap())
        .map(|n| n.as_i64().unwrap())
        .sum();
    assert_eq!(over_time, counts["read"].1);
    // A task is chosen by its run, a process by its number; what others did is counted.
    let run = model(&dataset, "io-profile", &["--run", "flow.makeflow", "--by", "task"]);
    let of_tasks: i64 = rows::<TaskTotal<'static>, _>(&dataset, |row| if row.task.is_some() { row.read_bytes } else { 0 }).iter().sum();
    assert_eq!(run["total"]["read_bytes"].as_i64(), Some(of_tasks));
    assert!(run["left_out"]["not_wanted"].as_u64() > Some(0));
    for table in ["operations", "groups", "distributions", "files", "processes", "uses", "over-time", "over-offset", "advice"] {
        let mut command = flowmine();
        let csv =
            expect(command.args(["discover", "io-profile", "--format", "csv", "--table", table, "--dataset"]).arg(&dataset), 0).stdout;
        assert!(String::from_utf8(csv).unwrap().lines().count() > usize::from(table != "advice"), "{table}");
    }
    let to = dir.path().join("profile.svg");
    expect(flowmine().args(["discover", "io-profile", "--dataset"]).arg(&dataset).arg("-o").arg(&to), 0);
    assert!(fs::read_to_string(to).unwrap().contains("Cumulative distributions"));
    let text = expect(flowmine().args(["discover", "io-profile", "--dataset"]).arg(&dataset), 0).stdout;
    assert!(String::from_utf8(text).unwrap().contains("ro: read only"));
    let refused = expect(flowmine().args(["discover", "io-profile", "--table", "cases", "--dataset"]).arg(&dataset), 2).stderr;
    assert!(String::from_utf8(refused).unwrap().contains("over-offset"));
}

/// Calls of dd are as many as it is told to make, one by one and added up by the kernel.
#[test]
fn a_profile_of_a_script() {
    let (works, how) = doctor::says("ebpf");
    if !require("bpf", &format!("eBPF ({how})"), works) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let script = "dd if=/dev/zero of=a bs=4096 count=100 2>/dev/null; dd if=a of=b bs=8192 2>/dev/null; cat a b > c; : > untouched; rm b";
    for detail in ["events", "totals"] {
        let dataset = dir.path().join(detail);
        expect(
            flowmine()
                .args(["trace", "--detail", detail, "--dataset"])
                .arg(&dataset)
                .args(["--", "sh", "-c", script])
                .current_dir(dir.path()),
            0,
        );
        expect(flowmine().args(["correlate", "--dataset"]).arg(&dataset), 0);
        let found = model(&dataset, "io-profile", &["--by", "program"]);
        let group = |name: &str| found["groups"].as_array().unwrap().iter().find(|group| group["name"] == name).unwrap().clone();
        let (dd, cat) = (group("dd"), group("cat"));
        let writes = dd["operations"].as_array().unwrap().iter().find(|of| of["kind"] == "write").unwrap().clone();
        assert_eq!((writes["count"].as_u64(), dd["written_bytes"].as_i64(), dd["processes"].as_u64()), (Some(150), Some(819_200), Some(2)));
        assert_eq!((cat["written_bytes"].as_i64(), cat["files"]["write_only"].as_u64()), (Some(819_200), Some(1)));
        let path = dir.path().join("c").display().to_string();
        // The shell opened it for cat.
        let uses: BTreeMap<&str, i64> = found["uses"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|of| of["path"] == path.as_str())
            .map(|of| (of["group"].as_str().unwrap(), of["written_bytes"].as_i64().unwrap()))
            .collect();
        assert_eq!((uses.len(), uses.get("cat"), uses.values().sum::<i64>()), (2, Some(&819_200), 819_200));
        assert!(found["groups"].as_array().unwrap().iter().any(|group| group["files"]["untouched"].as_u64() > Some(0)), "{found}");
        let sizes = &dd["sizes"]["write"];
        if detail == "events" {
            assert_eq!((sizes["count"].as_u64(), sizes["min"].as_i64(), sizes["max"].as_i64()), (Some(150), Some(4096), Some(8192)));
            assert_eq!((dd["files"]["write_only"].as_u64(), dd["files"]["read_write"].as_u64()), (Some(1), Some(1)));
            // The graph of its processes: who gave what to whom.
            let dag = model(&dataset, "dag", &["--fold", "never"]);
            let name = |at: &Json| dag["nodes"][at.as_u64().unwrap() as usize]["name"].as_str().unwrap().to_owned();
            let moves: BTreeSet<String> = dag["edges"]
                .as_array()
                .unwrap()
                .iter()
                .filter(|edge| edge["kind"] == "read" || edge["kind"] == "write")
                .map(|edge| {
                    let word = |name: String| name.split(' ').next().unwrap().to_owned();
                    format!("{} > {} {}", word(name(&edge["from"])), word(name(&edge["to"])), edge["bytes"])
                })
                .collect();
            let wanted = ["dd > a 409600", "a > dd 409600", "dd > b 409600", "a > cat 409600", "b > cat 409600", "cat > c 819200"];
            assert_eq!(moves, wanted.map(str::to_owned).into(), "{dag}");
            let critical: Vec<&str> = dag["nodes"]
                .as_array()
                .unwrap()
                .iter()
                .filter(|node| node["critical"] == 1)
                .map(|node| node["name"].as_str().unwrap())
                .collect();
            assert!(
                critical.iter().any(|name| name.starts_with("rm")) && critical.iter().any(|name| name.starts_with("dd")),
                "{critical:?}"
            );
        } else {
            assert!(sizes["count"].is_null() && writes["latencies"]["count"].is_null(), "{dd}");
            assert!(writes["time_ns"].as_i64() > Some(0));
            let text = expect(flowmine().args(["discover", "io-profile", "--dataset"]).arg(&dataset), 0).stdout;
            assert!(String::from_utf8(text).unwrap().contains("added up by the kernel"));
        }
    }
}

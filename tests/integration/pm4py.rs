//! The XES log in PM4Py: the same cases, events and directly-follows counts; and the OCEL log: the
//! same events and objects.
//!
//! `make test` makes a virtual environment with a pinned PM4Py and names its interpreter in
//! FLOWMINE_PYTHON.

use std::collections::BTreeMap;
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::require::require;
use crate::support::{expect, flowmine, repository};

fn python() -> Option<PathBuf> {
    let python = std::env::var_os("FLOWMINE_PYTHON").map_or_else(|| PathBuf::from("python3"), PathBuf::from);
    let works = Command::new(&python).args(["-c", "import pm4py"]).output().is_ok_and(|output| output.status.success());
    require("pm4py", "a Python with pm4py (FLOWMINE_PYTHON)", works).then_some(python)
}

fn dataset(dir: &Path) -> PathBuf {
    let dataset = dir.join("dataset");
    let fixtures = ["fixtures/case-study/polls", "fixtures/case-study/sacct-token.txt.gz"].map(repository);
    expect(flowmine().args(["import", "slurm", "--dataset"]).arg(&dataset).args(fixtures), 0);
    dataset
}

/// Runs a Python program on a file; it prints JSON.
fn ask(python: &Path, program: &str, file: &Path) -> Value {
    let output = expect(Command::new(python).arg("-c").arg(program).arg(file), 0);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stdout)))
}

const XES: &str = r#"
import json, sys, warnings
warnings.filterwarnings("ignore")
import pm4py
log = pm4py.read_xes(sys.argv[1])
dfg, starts, ends = pm4py.discover_dfg(log)
print(json.dumps({
    "cases": int(log["case:concept:name"].nunique()),
    "events": len(log),
    "dfg": [[a, b, int(n)] for (a, b), n in dfg.items()],
    "starts": {a: int(n) for a, n in starts.items()},
    "ends": {a: int(n) for a, n in ends.items()},
    "activities": {a: int(n) for a, n in log["concept:name"].value_counts().items()},
    "first": log["time:timestamp"].min().isoformat(),
}))
"#;

#[test]
fn xes_has_the_same_cases_events_and_directly_follows_counts() {
    let Some(python) = python() else { return };
    let dir = tempfile::tempdir().unwrap();
    let dataset = dataset(dir.path());
    for notion in ["dependency", "account-group"] {
        let (xes, dfg) = (dir.path().join("log.xes"), dir.path().join("dfg.json"));
        let of_dataset = |what: &str, format: &str, out: &Path| {
            let mut command = flowmine();
            command.args([what, "--format", format, "--case-notion", notion, "--dataset"]).arg(&dataset).arg("-o").arg(out);
            if what == "discover" {
                command.args(["--events", "all"]);
            }
            expect(&mut command, 0);
        };
        of_dataset("export", "xes", &xes);
        of_dataset("discover", "json", &dfg);
        let theirs = ask(&python, XES, &xes);
        let ours: Value = serde_json::from_slice(&fs::read(&dfg).unwrap()).unwrap();
        assert_eq!(theirs["cases"], ours["cases"], "{notion}");
        assert_eq!(theirs["events"], ours["instances"], "{notion}");

        let name = |value: &Value| value.as_str().unwrap().to_owned();
        let mut edges: BTreeMap<(String, String), u64> = BTreeMap::new();
        for edge in ours["edges"].as_array().unwrap() {
            edges.insert((name(&edge["from"]), name(&edge["to"])), edge["frequency"].as_u64().unwrap());
        }
        let their_edges: BTreeMap<(String, String), u64> =
            theirs["dfg"].as_array().unwrap().iter().map(|e| ((name(&e[0]), name(&e[1])), e[2].as_u64().unwrap())).collect();
        assert!(edges.len() > 10, "{notion}: {edges:?}");
        assert_eq!(edges, their_edges, "{notion}");
        let ours_activities: BTreeMap<String, u64> =
            ours["activities"].as_array().unwrap().iter().map(|a| (name(&a["name"]), a["frequency"].as_u64().unwrap())).collect();
        let their_activities: BTreeMap<String, u64> =
            theirs["activities"].as_object().unwrap().iter().map(|(a, n)| (a.clone(), n.as_u64().unwrap())).collect();
        assert_eq!(ours_activities, their_activities, "{notion}");
    }
}

const OCEL: &str = r#"
import json, sys, warnings
warnings.filterwarnings("ignore")
import pm4py
ocel = pm4py.read_ocel2_json(sys.argv[1])
print(json.dumps({
    "events": int(len(ocel.events)),
    "objects": int(len(ocel.objects)),
    "relations": int(len(ocel.relations)),
    "o2o": int(len(ocel.o2o)),
    "types": sorted(ocel.objects["ocel:type"].unique().tolist()),
}))
"#;

#[test]
fn ocel_has_the_same_events_objects_and_relations() {
    let Some(python) = python() else { return };
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("log.ocel.json");
    expect(flowmine().args(["export", "--format", "ocel.json", "--dataset"]).arg(dataset(dir.path())).arg("-o").arg(&file), 0);
    let theirs = ask(&python, OCEL, &file);
    let ours: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    let list = |name: &str| ours[name].as_array().unwrap();
    let relations = |name: &str| list(name).iter().map(|x| x["relationships"].as_array().map_or(0, Vec::len)).sum::<usize>();
    // PM4Py drops objects that no event touches, and relations to them (docs/round-trips.md): a job that another waits for and nobody saw.
    let related = |x: &Value| -> Vec<String> {
        x["relationships"].as_array().unwrap().iter().map(|r| r["objectId"].as_str().unwrap().to_owned()).collect()
    };
    let touched: HashSet<String> = list("events").iter().flat_map(related).collect();
    let (kept, dropped): (Vec<&Value>, Vec<&Value>) = list("objects").iter().partition(|o| touched.contains(o["id"].as_str().unwrap()));
    assert!(!dropped.is_empty() && dropped.iter().all(|o| o["attributes"].as_array().unwrap().is_empty()), "{dropped:?}");
    assert_eq!(theirs["events"], list("events").len());
    assert_eq!(theirs["objects"], kept.len());
    assert_eq!(theirs["relations"], relations("events"));
    assert_eq!(theirs["o2o"], kept.iter().flat_map(|o| related(o)).filter(|target| touched.contains(target)).count());
    for kind in ["job", "user", "account", "group", "node", "partition", "array", "workflow run"] {
        assert!(theirs["types"].as_array().unwrap().iter().any(|t| t == kind), "no object of type {kind}");
    }
}

//! Every format in PM4Py: the same cases, events, activities, objects, relations and times as ours.
//!
//! How PM4Py takes what is hostile, and what it cuts, is in tests/integration/round_trip.rs; here
//! it is given the recorded dataset in every format, the way its users would.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::cells::{dump, rows};
use super::{OBJECTS, Recording};
use crate::support::dump::Thing;
use crate::support::require::require;
use crate::support::{expect, flowmine, peers, repository};

fn python() -> Option<PathBuf> {
    let there = peers::pm4py().is_ok();
    require("pm4py", "a Python with pm4py (FLOWMINE_PYTHON)", there)
        .then(|| std::env::var_os("FLOWMINE_PYTHON").map_or_else(|| PathBuf::from("python3"), PathBuf::from))
}

const COMMON: &str = r#"
import json, sys, warnings
warnings.filterwarnings("ignore")
import pandas, pm4py

def micros(times):
    return [int(t.as_unit("ns").value) // 1000 for t in times]
"#;

const CASES: &str = r#"
def say(log):
    dfg, starts, ends = pm4py.discover_dfg(log)
    events = zip(log["case:concept:name"].astype(str), log["concept:name"], micros(log["time:timestamp"]))
    return {
        "events": sorted(list(event) for event in events),
        "dfg": sorted([a, b, int(n)] for (a, b), n in dfg.items()),
        "columns": sorted(log.columns),
        "bytes": int(log["io:read_bytes"].sum()),
    }

def table(log):
    return pm4py.format_dataframe(log, case_id="case:concept:name", activity_key="concept:name", timestamp_key="time:timestamp")

said = {}
for file in sys.argv[1:]:
    if file.endswith(".csv"):
        said[file] = say(table(pandas.read_csv(file)))
    elif file.endswith(".parquet"):
        said[file] = say(table(pandas.read_parquet(file)))
    else:
        said[file] = say(pm4py.read_xes(file))
print(json.dumps(said))
"#;

const OCEL: &str = r#"
said = {}
for file in sys.argv[1:]:
    log = pm4py.read_ocel2(file)
    said[file] = {
        "events": sorted([i, a, t] for i, a, t in zip(log.events["ocel:eid"], log.events["ocel:activity"], micros(log.events["ocel:timestamp"]))),
        "objects": sorted([i, t] for i, t in zip(log.objects["ocel:oid"], log.objects["ocel:type"])),
        "relations": sorted([e, o, q] for e, o, q in zip(log.relations["ocel:eid"], log.relations["ocel:oid"], log.relations["ocel:qualifier"])),
        "o2o": sorted([a, b, q] for a, b, q in zip(log.o2o["ocel:oid"], log.o2o["ocel:oid_2"], log.o2o["ocel:qualifier"])),
        "changes": len(log.object_changes),
    }
print(json.dumps(said))
"#;

fn ask(python: &Path, program: &str, files: &[PathBuf]) -> Value {
    let output = expect(Command::new(python).arg("-c").arg(format!("{COMMON}{program}")).args(files), 0);
    // PM4Py greets.
    let printed = String::from_utf8(output.stdout).unwrap();
    let line = printed.lines().rfind(|line| line.starts_with('{')).unwrap_or_else(|| panic!("{printed}"));
    serde_json::from_str(line).unwrap()
}

#[test]
fn logs_with_cases() {
    let Some(python) = python() else { return };
    let recording = Recording::new();
    let arrow = Command::new(&python).args(["-c", "import pyarrow"]).output().is_ok_and(|output| output.status.success());
    let mut formats = vec!["xes", "xes.gz", "csv"];
    formats.extend(require("pyarrow", "pyarrow beside PM4Py, to read Parquet", arrow).then_some("parquet"));
    for notion in ["dependency", "account-group"] {
        let files: Vec<PathBuf> = formats.iter().map(|format| recording.export(format, "log", &["--case-notion", notion])).collect();
        let all = ask(&python, CASES, &files);
        let graph = recording.graph(&["--events", "all", "--case-notion", notion]);
        for (file, format) in files.iter().zip(&formats) {
            let what = format!("{notion} {format}");
            let theirs = &all[file.to_str().unwrap()];
            let ours = rows(file);
            let mut events: Vec<(String, String, i64)> = ours
                .iter()
                .map(|row| {
                    let ns = flowmine_eventlog::time::parse(&row["time:timestamp"]).unwrap();
                    (row["case:concept:name"].clone(), row["concept:name"].clone(), ns.div_euclid(1000))
                })
                .collect();
            events.sort();
            assert_eq!(theirs["events"], json!(events), "{what}");
            assert_eq!(json!(events.len()), graph["instances"], "{what}");
            assert_eq!(json!(events.iter().map(|e| &e.0).collect::<BTreeSet<_>>().len()), graph["cases"], "{what}");
            assert_eq!(
                json!(events.iter().map(|e| &e.1).collect::<BTreeSet<_>>().len()),
                json!(graph["activities"].as_array().unwrap().len()),
                "{what}"
            );
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            let edges: BTreeMap<(String, String), u64> = graph["edges"]
                .as_array()
                .unwrap()
                .iter()
                .map(|e| ((text(&e["from"]), text(&e["to"])), e["frequency"].as_u64().unwrap()))
                .collect();
            let their_edges: BTreeMap<(String, String), u64> =
                theirs["dfg"].as_array().unwrap().iter().map(|e| ((text(&e[0]), text(&e[1])), e[2].as_u64().unwrap())).collect();
            assert!(edges.len() > 10, "{what}");
            assert_eq!(edges, their_edges, "{what}");
            let bytes: i64 = ours.iter().filter_map(|row| row.get("io:read_bytes")).map(|bytes| bytes.parse::<i64>().unwrap()).sum();
            assert_eq!(theirs["bytes"], bytes, "{what}");
            let columns: BTreeSet<&str> = theirs["columns"].as_array().unwrap().iter().map(|column| column.as_str().unwrap()).collect();
            for column in ours.iter().flat_map(|row| row.keys()) {
                assert!(columns.contains(column.as_str()), "{what}: {column}");
            }
        }
    }
}

#[test]
fn logs_with_objects() {
    let Some(python) = python() else { return };
    let peer = peers::pm4py().unwrap();
    let recording = Recording::new();
    let files: Vec<PathBuf> = OBJECTS.iter().map(|format| recording.export(format, "log", &[])).collect();
    let all = ask(&python, OCEL, &files);
    for (file, format) in files.iter().zip(OBJECTS) {
        let theirs = &all[file.to_str().unwrap()];
        let ours = dump(file);
        assert!(ours.events.len() > 500 && ours.objects.len() > 300, "{format}");
        let events: Vec<_> = ours.events.iter().map(|(id, event)| (id, &event.kind, event.time.unwrap().div_euclid(1000))).collect();
        assert_eq!(theirs["events"], json!(events), "{format}");
        // PM4Py leaves out objects that are in no event (a job that others wait for and nobody has seen), with what relates to them.
        let in_events: BTreeSet<&String> =
            ours.events.values().flat_map(|event| event.relations.iter().map(|(object, _)| object)).collect();
        assert!(ours.objects.len() - in_events.len() < 5, "{format}");
        let objects: Vec<_> = ours.objects.iter().filter(|(id, _)| in_events.contains(id)).map(|(id, object)| (id, &object.kind)).collect();
        assert_eq!(theirs["objects"], json!(objects), "{format}");
        let relations = |things: &BTreeMap<String, Thing>| {
            let of = |(id, thing): (&String, &Thing)| {
                let known = thing.relations.iter().filter(|(to, _)| in_events.contains(to));
                known.map(|(to, how)| (id.clone(), to.clone(), how.clone())).collect::<Vec<_>>()
            };
            let mut all: Vec<_> = things.iter().flat_map(of).collect();
            all.sort();
            json!(all)
        };
        assert_eq!(theirs["relations"], relations(&ours.events), "{format}");
        assert_eq!(theirs["o2o"], relations(&ours.objects), "{format}");
        // What an attribute was first, it has always been, to PM4Py, in JSON and XML.
        let changes = |object: &Thing| {
            let changing: Vec<_> = object.attributes.iter().filter(|a| a.since.is_some_and(|since| since != 0)).map(|a| &a.key).collect();
            let ever: BTreeSet<_> = object.attributes.iter().filter(|a| a.since.is_none_or(|since| since == 0)).map(|a| &a.key).collect();
            let keys = changing.iter().filter(|key| !ever.contains(*key)).collect::<BTreeSet<_>>().len();
            changing.len() - if format == "ocel.sqlite" { 0 } else { keys }
        };
        assert_eq!(theirs["changes"], ours.objects.values().map(changes).sum::<usize>(), "{format}");
    }
    let sqlite = &files[2];
    let (passed, failed) = peer.checks(sqlite).unwrap();
    assert_eq!((passed.len(), failed), (24, Vec::new()));
    // The checks can fail.
    let text = expect(Command::new(&python).args(["-c", SPOIL]).arg(sqlite), 0);
    assert!(text.status.success());
    assert!(!peer.checks(sqlite).unwrap().1.is_empty());
}

const FIRST_VERSION: &str = r#"
log = pm4py.read_ocel2(sys.argv[1])
said = {}
for file in sys.argv[2:]:
    pm4py.write_ocel(log, file)
    log1 = pm4py.read_ocel(file)
    standard = lambda frame: [column for column in frame.columns if not column.startswith(("ocel:", "@@"))]
    values = lambda frame: sum(int(frame[column].notna().sum()) for column in standard(frame))
    said[file] = {
        "events": sorted([i, a, t] for i, a, t in zip(log1.events["ocel:eid"], log1.events["ocel:activity"], micros(log1.events["ocel:timestamp"]))),
        "objects": sorted([i, t] for i, t in zip(log1.objects["ocel:oid"], log1.objects["ocel:type"])),
        "relations": sorted([e, o] for e, o in zip(log1.relations["ocel:eid"], log1.relations["ocel:oid"])),
        "values": values(log1.events),
    }
print(json.dumps(said))
"#;

/// OCEL 1.0, which PM4Py writes into JSON, XML and SQLite.
#[test]
fn the_first_version_of_ocel() {
    let Some(python) = python() else { return };
    let dir = tempfile::tempdir().unwrap();
    // PM4Py cannot write control characters, which the recording has, into XML.
    let source = repository("tests/fixtures/logs/jobs.json");
    let files: Vec<PathBuf> = ["first.jsonocel", "first.xmlocel", "first.sqlite"].iter().map(|name| dir.path().join(name)).collect();
    let all = ask(&python, FIRST_VERSION, &[vec![source], files.clone()].concat());
    for (file, standard) in files.iter().zip(["OCEL 1.0 JSON", "OCEL 1.0 XML", "OCEL 1.0 SQLite"]) {
        let checked = String::from_utf8(expect(flowmine().arg("validate").arg(file), 0).stdout).unwrap();
        let last = checked.lines().last().unwrap();
        assert!(last.starts_with(&format!("{}: {standard}, 0 errors, ", file.display())), "{checked}");
        let second = dir.path().join(format!("{standard}.second.json"));
        expect(flowmine().args(["export", "--format", "ocel.json", "--log"]).arg(file).arg("-o").arg(&second), 0);
        let (theirs, ours) = (&all[file.to_str().unwrap()], dump(&second));
        let events: Vec<_> = ours.events.iter().map(|(id, event)| (id, &event.kind, event.time.unwrap().div_euclid(1000))).collect();
        assert_eq!(events.len(), 4, "{standard}");
        assert_eq!(theirs["events"], json!(events), "{standard}");
        let objects: Vec<_> = ours.objects.iter().map(|(id, object)| (id, &object.kind)).collect();
        assert_eq!(theirs["objects"], json!(objects), "{standard}");
        let of = |(id, event): (&String, &Thing)| event.relations.iter().map(|(to, _)| (id.clone(), to.clone())).collect::<Vec<_>>();
        let mut relations: Vec<_> = ours.events.iter().flat_map(of).collect();
        relations.sort();
        assert_eq!(theirs["relations"], json!(relations), "{standard}");
        assert_eq!(theirs["values"], ours.events.values().map(|event| event.attributes.len()).sum::<usize>(), "{standard}");
    }
}

const SPOIL: &str = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute('DROP TABLE event_object'); db.commit()";

const FLATTENED: &str = r#"
said = {}
for file in sys.argv[1:]:
    log = pm4py.read_ocel2(file)
    said[file] = {"ocdfg": sorted(pm4py.discover_ocdfg(log)["activities"])}
    for kind in pm4py.ocel_get_object_types(log):
        flat = pm4py.ocel_flattening(log, kind)
        twice = [column for column in set(flat.columns) if list(flat.columns).count(column) > 1]
        assert not twice, (file, kind, twice)
        pm4py.discover_performance_dfg(flat)
        said[file][kind] = [len(flat), int(flat["case:concept:name"].nunique())]
print(json.dumps(said))
"#;

/// Whatever was imported, from any engine or log: its object-centric log can be flattened for each
/// type of objects and mined, and the graph of a workflow shows its tasks.
#[test]
fn every_object_centric_log_can_be_flattened() {
    let Some(python) = python() else { return };
    let dir = tempfile::tempdir().unwrap();
    let engines = repository("crates/extract-workflow/tests/fixtures");
    let mut sources: Vec<(&str, PathBuf)> = Vec::new();
    for (engine, of_engine) in [
        ("nextflow", &["slurm_retried_ignored_array.log", "local_resumed_cached_aborted.log", "slurm.trace.txt"][..]),
        ("snakemake", &["local_9", "slurm_retried_9"]),
        ("makeflow", &["plain.makeflowlog", "words.jx.makeflowlog"]),
        ("airflow", &["3.3.2"]),
        ("kubernetes", &["watch_without_types.json"]),
        ("wfformat", &["times_and_bytes_1.6.json"]),
    ] {
        sources.extend(of_engine.iter().map(|file| (engine, engines.join(engine).join(file))));
    }
    let mut files = Vec::new();
    for (number, (engine, source)) in sources.iter().enumerate() {
        let dataset = dir.path().join(format!("dataset{number}"));
        let imported = flowmine().args(["import", engine]).arg(source).arg("--dataset").arg(&dataset).output().unwrap();
        assert!(imported.status.code().is_some_and(|code| code < 2), "{}: {imported:?}", source.display());
        let file = dir.path().join(format!("tasks{number}.ocel.json"));
        expect(flowmine().args(["export", "--format", "ocel.json", "--dataset"]).arg(&dataset).arg("-o").arg(&file), 0);
        files.push(file);
    }
    let of_tasks = files.len();
    let recording = Recording::new();
    files.push(recording.export("ocel.xml", "jobs", &[]));
    for (name, log) in [
        ("ours", recording.export("xes", "cases", &[])),
        ("cases", repository("tests/fixtures/logs/cases.xes")),
        // PM4Py reads no log without events, so that odd.xes, of whose events no time is known, is none for it.
        ("all", repository("crates/eventlog/tests/fixtures/all_constructs.xes")),
        ("times", repository("crates/eventlog/tests/fixtures/odd_times.xes")),
    ] {
        let file = dir.path().join(format!("{name}.ocel.json"));
        let exported = flowmine().args(["export", "--format", "ocel.json", "--log"]).arg(&log).arg("-o").arg(&file).output().unwrap();
        assert!(exported.status.code().is_some_and(|code| code < 2), "{name}: {exported:?}");
        files.push(file);
    }
    let said = ask(&python, FLATTENED, &files);
    for (file, (engine, source)) in files[..of_tasks].iter().zip(&sources) {
        let said = &said[&*file.to_string_lossy()];
        let shown: Vec<&str> = said["ocdfg"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert!(!shown.is_empty() && shown.iter().all(|name| !name.starts_with("task ")), "{engine} {}: {shown:?}", source.display());
        assert!(said["task"][0].as_u64().is_some_and(|events| events > 0), "{engine} {}: {said}", source.display());
    }
    for file in &files[of_tasks + 1..] {
        assert!(said[&*file.to_string_lossy()]["case"][1].as_u64().is_some_and(|cases| cases > 0), "{}", file.display());
    }
}

//! Tasks, processes and files in event logs: a small dataset whose numbers are known
//! (tests/support/world.rs), exported in every format.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use flowmine_dataset::{Builder, Dataset, Role};
use flowmine_eventlog::read::{self, Limits, Severity};
use flowmine_schema::tables::TaskRun;
use serde_json::Value as Json;
use tempfile::TempDir;

use crate::support;
use crate::support::dump::{Dump, Thing, Value};
use crate::support::logs::Log;
use crate::support::require::require;
use crate::support::world::{self, NAMES, Parts, SECOND, T0};
use crate::support::{expect, flowmine, peers};

const ALL: Parts = Parts { jobs: true, tasks: true, traces: true };
const OCEL: [&str; 3] = ["ocel.json", "ocel.xml", "ocel.sqlite"];
const CASES: [&str; 4] = ["xes", "xes.gz", "csv", "parquet"];

struct World {
    dir: TempDir,
    dataset: PathBuf,
}

impl World {
    fn new(parts: Parts) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let dataset = world::make(dir.path(), parts);
        expect(flowmine().args(["correlate", "--dataset"]).arg(&dataset), 0);
        Self { dir, dataset }
    }

    fn command(&self, format: &str, name: &str, options: &[&str]) -> (PathBuf, Command) {
        let to = self.dir.path().join(format!("{name}.{format}"));
        let mut command = flowmine();
        command.args(["export", "--format", format, "--dataset"]).arg(&self.dataset).arg("-o").arg(&to).args(options);
        (to, command)
    }

    fn export(&self, format: &str, name: &str, options: &[&str]) -> PathBuf {
        let (to, mut command) = self.command(format, name, options);
        expect(&mut command, 0);
        to
    }

    fn dump(&self, options: &[&str]) -> Dump {
        dump(&self.export("ocel.json", "log", options))
    }

    fn said(&self, format: &str, options: &[&str]) -> String {
        String::from_utf8(expect(&mut self.command(format, "said", options).1, 0).stderr).unwrap()
    }
}

/// A log, in which nothing may be against the standard.
fn dump(file: &Path) -> Dump {
    let mut log = Log::default();
    read::read_file(file, &Limits::default(), &mut log).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let odd: Vec<_> = log.findings.iter().filter(|finding| finding.severity > Severity::Note).collect();
    assert!(odd.is_empty(), "{}: {odd:?}", file.display());
    Dump::new(&log)
}

/// How many there are of each type.
fn kinds(things: &BTreeMap<String, Thing>) -> BTreeMap<&str, usize> {
    let mut kinds = BTreeMap::new();
    things.values().for_each(|thing| *kinds.entry(thing.kind.as_str()).or_default() += 1);
    kinds
}

/// The relations between objects whose qualifiers are none of jobs.
fn relations(dump: &Dump) -> Vec<String> {
    let ours = ["read", "wrote", "gave data to", "ran as", "belongs to", "child of"];
    let all = dump.objects.iter().flat_map(|(id, object)| object.relations.iter().map(move |(to, what)| (id, what, to)));
    all.filter(|(_, what, _)| ours.contains(&what.as_str())).map(|(id, what, to)| format!("{id} {what} {to}")).collect()
}

fn number(thing: &Thing, key: &str) -> Option<i64> {
    thing.attributes.iter().find(|entry| entry.key == key).map(|entry| match entry.value {
        Value::Integer(number) => number,
        ref other => panic!("{key}: {other:?}"),
    })
}

fn text<'t>(thing: &'t Thing, key: &str) -> Option<&'t str> {
    thing.attributes.iter().find(|entry| entry.key == key).map(|entry| match &entry.value {
        Value::String(text) => text.as_str(),
        other => panic!("{key}: {other:?}"),
    })
}

/// Milliseconds after the beginning, type, what it leads to by qualifier, bytes.
fn events(dump: &Dump, kinds: &[&str]) -> Vec<String> {
    let of_kind = dump.events.values().filter(|event| kinds.contains(&event.kind.as_str()));
    let one = |event: &Thing| {
        let after = (event.time.unwrap() - T0) / 1_000_000;
        let short = |id: &str| id.rsplit(['/', ':']).next().unwrap().to_owned();
        let related: BTreeMap<&str, String> = event
            .relations
            .iter()
            .filter(|(_, what)| what != "part of" && what != "tagged")
            .map(|(id, what)| (what.as_str(), short(id)))
            .collect();
        let related: Vec<String> = related.iter().map(|(what, id)| format!("{what} {id}")).collect();
        let bytes = number(event, "bytes").map(|bytes| format!(" {bytes}")).unwrap_or_default();
        format!("{after:>5} {}: {}{bytes}", event.kind, related.join(", "))
    };
    let mut all: Vec<String> = of_kind.map(one).collect();
    all.sort();
    all
}

const RUN: &str = "makeflow:mflow-run:1795";

#[test]
fn objects_events_and_relations() {
    let world = World::new(ALL);
    let log = world.dump(&[]);
    let expected = [("account", 1), ("engine run", 1), ("file", 4), ("group", 1), ("job", 2), ("tag", 2), ("task", 5), ("user", 1)]
        .into_iter()
        .collect();
    assert_eq!(kinds(&log.objects), expected);
    let task = |id: &str| format!("task:{RUN}/{id}");
    let (raw, own) = ("file:node-one:5:7.1", "file:node-two:5:7.1");
    let jobs = ["job:labcluster:70@1795000010", "job:labcluster:71@1795000010"];
    let expected = [
        format!("{} read {own}", jobs[1]),
        format!("{} gave data to {}", task("1#1"), task("3#1")),
        format!("{} gave data to {}", task("1#1"), task("3#2")),
        format!("{} wrote {raw}", task("1#1")),
        format!("{} wrote file:node-one:5:9.1", task("1#1")),
        format!("{} ran as {}", task("2#1"), jobs[0]),
        format!("{} read {own}", task("2#1")),
        format!("{} wrote file:node-two:5:8.1", task("2#1")),
        format!("{} read {raw}", task("3#1")),
        format!("{} read {raw}", task("3#2")),
    ];
    assert_eq!(BTreeSet::from_iter(relations(&log)), BTreeSet::from_iter(expected));
    assert!(
        log.objects
            .iter()
            .filter(|(id, _)| id.starts_with("task:"))
            .all(|(_, task)| { task.relations.contains(&(format!("engine run:{RUN}"), "part of".to_owned())) })
    );
    assert_eq!(
        events(&log, &["read file", "wrote file"]),
        [
            " 2000 wrote file: file 7.1, task 1#1 1000".to_owned(),
            " 2500 wrote file: file 9.1, task 1#1 30".to_owned(),
            "13000 read file: file 7.1, job 70@1795000010, task 2#1 512".to_owned(),
            "14000 wrote file: file 8.1, job 70@1795000010, task 2#1 64".to_owned(),
            "15000 read file: file 7.1, job 71@1795000010 256".to_owned(),
            "20500 read file: file 7.1, task 3#1 1000".to_owned(),
            // By two processes.
            "23500 read file: file 7.1, task 3#2 1000".to_owned(),
        ]
    );
    // The type of an event has the logical task in it, which is what people mine.
    let of_tasks = ["makething", "useit", "againit", "cachedone"]
        .map(|task| ["queued", "submitted", "started", "finished", "failed", "cached"].map(|happened| format!("{task} {happened}")));
    let of_tasks: Vec<&str> = of_tasks.iter().flatten().map(String::as_str).collect();
    assert_eq!(
        events(&log, &of_tasks),
        [
            " 1000 makething submitted: task 1#1",
            " 5000 makething finished: task 1#1",
            " 6000 useit queued: task 2#1",
            "10000 useit submitted: task 2#1",
            "12000 useit started: task 2#1",
            "18000 useit finished: task 2#1",
            "20000 againit submitted: task 3#1",
            "22000 againit failed: task 3#1",
            "23000 againit submitted: task 3#2",
            "26000 againit finished: task 3#2",
        ]
    );
    let two = &log.objects[&task("3#2")];
    assert_eq!(
        (number(two, "traced_read_bytes"), number(two, "traced_processes"), number(two, "traced_unique_read_bytes")),
        (Some(1000), Some(2), Some(600))
    );
    // What engines tell has names of its own, and what they do not tell has none.
    assert_eq!((number(two, "read_bytes"), number(two, "attempt"), text(two, "status")), (None, Some(2), Some("completed")));
    assert_eq!(number(&log.objects[&task("4#1")], "traced_processes"), None);
    assert_eq!(
        (text(&log.objects[raw], "path"), text(&log.objects[raw], "file_system")),
        (Some("/home/alice/secretproject/raw.dat"), Some("ext4"))
    );
    let said = world.said("ocel.json", &[]);
    assert!(said.contains("1 tasks have no event") && said.contains("1 rows of task_io (30 bytes) are not in the log"), "{said}");
}

#[test]
fn processes_when_asked_for() {
    let world = World::new(ALL);
    let log = world.dump(&["--objects", "task,process"]);
    assert_eq!(kinds(&log.objects), [("engine run", 1), ("process", 7), ("tag", 2), ("task", 5)].into_iter().collect());
    let process = |host: &str, pid: i32, start: i64| format!("process:{host}:{pid}@{}", T0 / SECOND + start);
    let task = |id: &str| format!("task:{RUN}/{id}");
    let engine = process("node-one", 50, 0);
    let expected = [
        format!("{} belongs to {}", process("node-one", 100, 1), task("1#1")),
        format!("{} child of {engine}", process("node-one", 100, 1)),
        format!("{} belongs to {}", process("node-one", 101, 20), task("3#1")),
        format!("{} child of {engine}", process("node-one", 101, 20)),
        format!("{} belongs to {}", process("node-one", 102, 23), task("3#2")),
        format!("{} child of {engine}", process("node-one", 102, 23)),
        format!("{} belongs to {}", process("node-one", 103, 24), task("3#2")),
        format!("{} child of {}", process("node-one", 103, 24), process("node-one", 102, 23)),
        format!("{} belongs to {}", process("node-two", 100, 12), task("2#1")),
        format!("{} child of {}", process("node-two", 100, 12), process("node-two", 1, 0)),
        format!("{} gave data to {}", task("1#1"), task("3#1")),
        format!("{} gave data to {}", task("1#1"), task("3#2")),
    ];
    assert_eq!(BTreeSet::from_iter(relations(&log)), BTreeSet::from_iter(expected));
    // Of two rows the later one holds; a parent that was seen has attributes, one that was not has none.
    assert_eq!(number(&log.objects[&process("node-one", 101, 20)], "utime_ns"), Some(22_000));
    assert_eq!(text(&log.objects[&engine], "executable"), Some("/home/alice/bin/makeflow"));
    assert!(log.objects[&process("node-two", 1, 0)].attributes.is_empty());
    let of_processes = events(&log, &["process started", "process ended"]);
    assert_eq!(of_processes.len(), 10);
    assert_eq!(of_processes[0], " 1000 process started: process 100@1795000001, task 1#1");
    // With jobs, those of jobs without a task as well.
    let log = world.dump(&["--objects", "job,process"]);
    assert_eq!(kinds(&log.objects)["process"], 3);
    assert!(relations(&log).contains(&format!("{} belongs to job:labcluster:71@1795000010", process("node-two", 200, 13))));
}

#[test]
fn every_format_holds_the_same_and_is_valid() {
    let world = World::new(ALL);
    let options = ["--objects", "job,task,process,file"];
    let files: Vec<PathBuf> = OCEL.iter().map(|format| world.export(format, "log", &options)).collect();
    for file in &files {
        assert_eq!(dump(file), dump(&files[0]), "{}", file.display());
        expect(flowmine().arg("validate").arg(file), 0);
        // A log file is input as well.
        let again = world.dir.path().join("again.ocel.json");
        expect(flowmine().args(["export", "--format", "ocel.json", "--log"]).arg(file).arg("-o").arg(&again), 0);
        assert_eq!(dump(&again), dump(&files[0]), "{}", file.display());
    }
    assert_eq!(fs::read(world.export("ocel.json", "twice", &options)).unwrap(), fs::read(&files[0]).unwrap());
    for notion in [
        "task-run",
        "dependency",
        "object:task",
        "object:file",
        "object:process",
        "object:engine run",
        "object:tag",
        "task-session",
        "task-tag",
    ] {
        for format in ["xes", "xes.gz"] {
            let file = world.export(format, "cases", &["--case-notion", notion]);
            expect(flowmine().arg("validate").arg(&file), 0);
            assert!(!dump(&file).traces.is_empty(), "{notion}");
        }
    }
}

/// A dataset without tasks and traces has the log that it always had.
#[test]
fn jobs_alone_are_as_before() {
    let (alone, all) = (World::new(Parts { jobs: true, tasks: false, traces: false }), World::new(ALL));
    for format in OCEL {
        let jobs = fs::read(alone.export(format, "log", &[])).unwrap();
        assert_eq!(fs::read(all.export(format, "jobs", &["--objects", "job"])).unwrap(), jobs, "{format}");
    }
    let end = |world: &World| {
        let log = dump(&world.export("xes", "log", &["--case-notion", "dependency"]));
        let ends = log.traces.iter().flat_map(|trace| trace.events.last().unwrap());
        let io = ends.filter(|entry| entry.key.starts_with("io:") || entry.key.ends_with("_bytes"));
        io.map(|entry| format!("{} {:?}", entry.key, entry.value)).collect::<Vec<_>>()
    };
    assert_eq!(end(&alone), ["io:read_bytes Integer(11)", "io:written_bytes Integer(12)"].repeat(2));
    let ends = end(&all);
    for what in ["slurm:read_bytes Integer(11)", "io:read_bytes Integer(512)", "io:written_bytes Integer(64)", "io:read_bytes Integer(256)"]
    {
        assert!(ends.contains(&what.to_owned()), "{what} in {ends:?}");
    }
}

#[test]
fn cases_are_runs_of_engines() {
    for parts in [ALL, Parts { jobs: false, tasks: true, traces: true }, Parts { jobs: false, tasks: true, traces: false }] {
        let world = World::new(parts);
        // Without jobs it is what a case is when nothing is said.
        let notion: &[&str] = if parts.jobs { &["--case-notion", "task-run"] } else { &[] };
        let log = dump(&world.export("xes", "log", notion));
        let value = |entries: &[support::dump::Entry], key: &str| {
            entries.iter().find(|entry| entry.key == key).map(|entry| match &entry.value {
                Value::String(text) => text.clone(),
                Value::Integer(number) => number.to_string(),
                other => format!("{other:?}"),
            })
        };
        assert_eq!(log.traces.len(), 1);
        let trace = &log.traces[0];
        assert_eq!(value(&trace.attributes, "concept:name").unwrap(), format!("task-run:{RUN}"));
        let told: Vec<String> = trace
            .events
            .iter()
            .map(|event| {
                let of = |key: &str| value(event, key).unwrap_or_else(|| "-".to_owned());
                let instance = of("concept:instance");
                let attempt = instance.rsplit('/').next().unwrap();
                format!(
                    "{attempt} {} {} {} {}",
                    of("concept:name"),
                    of("lifecycle:transition"),
                    of("io:read_bytes"),
                    of("io:written_bytes")
                )
            })
            .collect();
        let io = |known: &str| if parts.traces { known.to_owned() } else { "- -".to_owned() };
        assert_eq!(
            told,
            [
                "1#1 makething schedule - -".to_owned(),
                format!("1#1 makething complete {}", io("0 1030")),
                "2#1 useit schedule - -".to_owned(),
                "2#1 useit assign - -".to_owned(),
                "2#1 useit start - -".to_owned(),
                format!("2#1 useit complete {}", io("512 64")),
                "3#1 againit schedule - -".to_owned(),
                format!("3#1 againit ate_abort {}", io("1000 0")),
                "3#2 againit schedule - -".to_owned(),
                format!("3#2 againit complete {}", io("1000 0")),
            ]
        );
    }
}

/// What an engine says of a job that nobody traced.
#[test]
fn a_task_without_traces_ran_as_the_job_that_its_engine_names() {
    let world = World::new(Parts { jobs: true, tasks: true, traces: false });
    assert_eq!(relations(&world.dump(&[])), [format!("task:{RUN}/2#1 ran as job:labcluster:70@1795000010")]);
    let without = World::new(Parts { jobs: false, tasks: true, traces: true });
    let log = without.dump(&[]);
    // Traces name the job, not its cluster, and nobody saw it in the queue.
    assert!(relations(&log).contains(&format!("task:{RUN}/2#1 ran as job::70")), "{:?}", relations(&log));
    assert!(log.objects["job::70"].attributes.is_empty());
}

#[test]
fn filters() {
    let world = World::new(ALL);
    let from = ["--from", "2026-11-18T11:06:58Z", "--to", "2026-11-18T11:07:04Z"];
    assert_eq!((T0 / SECOND) % 86_400, 11 * 3600 + 6 * 60 + 40, "the window is from second 18 to 24");
    let log = world.dump(&[&from[..], &["--objects", "job,task,process,file"]].concat());
    assert!(log.events.values().all(|event| (18..24).contains(&((event.time.unwrap() - T0) / SECOND))));
    assert_eq!(
        events(&log, &["read file", "againit submitted", "againit failed", "useit submitted", "makething submitted"]),
        [
            "20000 againit submitted: task 3#1",
            "20500 read file: file 7.1, task 3#1 1000",
            "22000 againit failed: task 3#1",
            "23000 againit submitted: task 3#2",
            "23500 read file: file 7.1, task 3#2 1000",
        ]
    );
    // The task that wrote what they read has no event in it.
    assert!(relations(&log).iter().all(|relation| !relation.contains("gave data to")));
    assert!(!log.objects.contains_key(&format!("task:{RUN}/1#1")));
    let said = world.said("ocel.json", &["--user", "alice"]);
    assert!(said.contains("leave all of them out"), "{said}");
    let of_user = world.dump(&["--user", "alice"]);
    assert!(!kinds(&of_user.objects).contains_key("task") && of_user.events.len() == 6);
}

#[test]
fn pseudonyms_hide_every_name() {
    let world = World::new(ALL);
    let key = world.dir.path().join("key");
    fs::write(&key, "0123456789abcdef0123456789abcdef").unwrap();
    let options = ["--objects", "job,task,process,file", "--pseudonymise", key.to_str().unwrap()];
    let plain = world.dump(&options[..2]);
    let plain_text = fs::read_to_string(world.dir.path().join("log.ocel.json")).unwrap();
    assert!(NAMES.iter().all(|name| plain_text.contains(name)), "every name stands in the log as it is");
    for format in OCEL.into_iter().chain(CASES) {
        let notions: &[&str] = if OCEL.contains(&format) { &[""] } else { &["task-run", "dependency", "object:process", "object:file"] };
        for notion in notions {
            let mut all = options.to_vec();
            if !notion.is_empty() {
                all.extend(["--case-notion", notion]);
            }
            let file = world.export(format, "coded", &all);
            let bytes =
                if format == "xes.gz" { expect(Command::new("gzip").arg("-dc").arg(&file), 0).stdout } else { fs::read(&file).unwrap() };
            for name in NAMES {
                let found = bytes.windows(name.len()).any(|part| part == name.as_bytes());
                assert!(!found, "{name} in {format} {notion}");
            }
        }
    }
    let coded = world.dump(&options);
    assert_eq!(kinds(&coded.objects), kinds(&plain.objects));
    // Types of events of tasks have the task's name in them: what happened stays.
    let happened = |dump: &Dump| {
        let mut counts: BTreeMap<(bool, String), usize> = BTreeMap::new();
        for event in dump.events.values() {
            let of_task = event.attributes.iter().any(|entry| entry.key == "activity") && !event.kind.starts_with("job ");
            let kind = if of_task { event.kind.rsplit(' ').next().unwrap() } else { &event.kind };
            *counts.entry((of_task, kind.to_owned())).or_default() += 1;
        }
        counts
    };
    assert_eq!(happened(&coded), happened(&plain));
    // Relations are between the same objects, only by other names: as many of each kind, and as many ends.
    let shape = |dump: &Dump| {
        let mut of: BTreeMap<String, (usize, BTreeSet<String>, BTreeSet<String>)> = BTreeMap::new();
        for (id, object) in &dump.objects {
            for (to, what) in &object.relations {
                let (count, from, into) = of.entry(what.clone()).or_default();
                *count += 1;
                from.insert(id.clone());
                into.insert(to.clone());
            }
        }
        of.into_iter().map(|(what, (count, from, to))| (what, count, from.len(), to.len())).collect::<Vec<_>>()
    };
    assert_eq!(shape(&coded), shape(&plain));
    let bytes = |dump: &Dump| dump.events.values().filter_map(|event| number(event, "bytes")).sum::<i64>();
    assert_eq!((bytes(&coded), bytes(&plain)), (3862, 3862));
}

#[test]
fn what_is_dropped_is_nowhere() {
    let world = World::new(ALL);
    let drop = "command,arguments,work_dir,path,error,tag,container_image,container_id,cgroup_path,executable";
    let file = world.export("ocel.json", "dropped", &["--objects", "job,task,process,file", "--drop", drop]);
    let text = fs::read_to_string(&file).unwrap();
    for gone in ["secretproject", "raw.dat", "imagename", "deadbeefcafe", "exploded", "/home/"] {
        assert!(!text.contains(gone), "{gone}");
    }
    assert!(text.contains("makething") && !dump(&file).objects.is_empty());
    let xes = fs::read_to_string(world.export("xes", "dropped", &["--case-notion", "task-run", "--drop", drop])).unwrap();
    assert!(!xes.contains("secretproject") && !xes.contains("task:command") && xes.contains("task:status"));
    let xes = fs::read_to_string(world.export("xes", "dropped", &["--case-notion", "task-run", "--drop", "activity"])).unwrap();
    assert!(xes.contains("(unknown)") && !xes.contains("\"concept:name\" value=\"useit\""));
}

#[test]
fn the_batch_has_runs_of_engines_too() {
    let world = World::new(ALL);
    let out = world.dir.path().join("out");
    let output = expect(flowmine().args(["run", "--formats", "xes,ocel.json", "--dataset"]).arg(&world.dataset).arg("--out").arg(&out), 0);
    assert!(String::from_utf8(output.stdout).unwrap().contains("log-task-run.xes"));
    assert_eq!(
        fs::read(out.join("log-task-run.xes")).unwrap(),
        fs::read(world.export("xes", "t", &["--case-notion", "task-run"])).unwrap()
    );
    assert_eq!(fs::read(out.join("log.ocel.json")).unwrap(), fs::read(world.export("ocel.json", "o", &[])).unwrap());
    assert!(out.join("dfg-task-run.svg").exists() && !out.join("dfg-task-run-starts.svg").exists());
    let error = expect(flowmine().args(["export", "--format", "xes", "--case-notion", "x", "--dataset"]).arg(&world.dataset), 2).stderr;
    assert!(String::from_utf8(error).unwrap().contains("task-run (tasks of one run of a workflow engine)"));
}

const PM4PY: &str = r#"
import json, sys, warnings
warnings.filterwarnings("ignore")
import pm4py
ocel = {"json": pm4py.read_ocel2_json, "xml": pm4py.read_ocel2_xml, "sqlite": pm4py.read_ocel2_sqlite}
said = []
for file in sys.argv[2:]:
    log = ocel[file.rsplit(".", 1)[1]](file)
    events = log.events
    said.append({
        "events": {k: int(n) for k, n in events["ocel:activity"].value_counts().items()},
        "objects": {k: int(n) for k, n in log.objects["ocel:type"].value_counts().items()},
        "relations": int(len(log.relations)),
        "o2o": {k: int(n) for k, n in log.o2o["ocel:qualifier"].value_counts().items()},
        "bytes": int(events["bytes"].astype(float).sum()),
    })
log = pm4py.read_xes(sys.argv[1])
dfg, starts, ends = pm4py.discover_dfg(log)
print(json.dumps({"ocel": said, "events": len(log), "cases": int(log["case:concept:name"].nunique()),
    "bytes": [int(log["io:read_bytes"].sum()), int(log["io:written_bytes"].sum())], "dfg": sorted([a, b, int(n)] for (a, b), n in dfg.items())}))
"#;

#[test]
fn pm4py_reads_the_same() {
    if !require("pm4py", "a Python with pm4py (FLOWMINE_PYTHON)", peers::pm4py().is_ok()) {
        return;
    }
    let world = World::new(ALL);
    let python = std::env::var_os("FLOWMINE_PYTHON").map_or_else(|| PathBuf::from("python3"), PathBuf::from);
    let options = ["--objects", "job,task,process,file"];
    let files = OCEL.map(|format| world.export(format, "log", &options));
    let xes = world.export("xes", "log", &["--case-notion", "task-run"]);
    let output = expect(Command::new(python).arg("-c").arg(PM4PY).arg(&xes).args(&files), 0);
    let said: Json = serde_json::from_slice(&output.stdout).unwrap();
    let ours = dump(&files[0]);
    // PM4Py drops objects that no event leads to, and relations to them.
    let touched: BTreeSet<&str> = ours.events.values().flat_map(|event| event.relations.iter().map(|(id, _)| id.as_str())).collect();
    let mut objects: BTreeMap<&str, u64> = BTreeMap::new();
    let mut o2o: BTreeMap<&str, u64> = BTreeMap::new();
    for (id, object) in ours.objects.iter().filter(|(id, _)| touched.contains(id.as_str())) {
        *objects.entry(&object.kind).or_default() += 1;
        assert!(!id.is_empty());
        for (_, what) in object.relations.iter().filter(|(to, _)| touched.contains(to.as_str())) {
            *o2o.entry(what).or_default() += 1;
        }
    }
    let untouched: Vec<&String> = ours.objects.keys().filter(|id| !touched.contains(id.as_str())).collect();
    assert_eq!(untouched.len(), 4, "the cached task without times, its tag, and two parents of processes: {untouched:?}");
    let relations: usize = ours.events.values().map(|event| event.relations.len()).sum();
    for theirs in said["ocel"].as_array().unwrap() {
        assert_eq!(theirs["events"], serde_json::to_value(kinds(&ours.events)).unwrap());
        assert_eq!(theirs["objects"], serde_json::to_value(&objects).unwrap());
        assert_eq!(theirs["o2o"], serde_json::to_value(&o2o).unwrap());
        assert_eq!((theirs["relations"].as_u64(), theirs["bytes"].as_u64()), (Some(relations as u64), Some(3862)));
    }
    assert_eq!((said["events"].as_u64(), said["cases"].as_u64(), &said["bytes"]), (Some(10), Some(1), &serde_json::json!([2512, 1094])));
    let graph = expect(
        flowmine().args(["discover", "--events", "all", "--case-notion", "task-run", "--format", "json", "--dataset"]).arg(&world.dataset),
        0,
    );
    let graph: Json = serde_json::from_slice(&graph.stdout).unwrap();
    let edges: BTreeSet<String> =
        graph["edges"].as_array().unwrap().iter().map(|e| format!("{} {} {}", e["from"], e["to"], e["frequency"])).collect();
    let theirs: BTreeSet<String> = said["dfg"].as_array().unwrap().iter().map(|e| format!("{} {} {}", e[0], e[1], e[2])).collect();
    assert_eq!(edges, theirs);
}

/// A dataset that has nothing but what one engine told: a summary, logs and pictures of its tasks,
/// and no file without content.
#[test]
fn the_batch_on_what_one_engine_told() {
    let engines = support::repository("crates/extract-workflow/tests/fixtures");
    for (engine, file, attempts) in [
        ("nextflow", "slurm.trace.txt", 4),
        ("snakemake", "local_9", 7),
        ("makeflow", "plain.makeflowlog", 4),
        ("kubernetes", "watch_without_types.json", 1),
        ("wfformat", "times_and_bytes_1.6.json", 2),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let (dataset, out) = (dir.path().join("dataset"), dir.path().join("out"));
        flowmine().args(["import", engine]).arg(engines.join(engine).join(file)).arg("--dataset").arg(&dataset).output().unwrap();
        let formats = "xes,csv,parquet,ocel.json,ocel.sqlite";
        let output = flowmine().args(["run", "--formats", formats, "--dataset"]).arg(&dataset).arg("--out").arg(&out).output().unwrap();
        let told = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.code().is_some_and(|code| code < 2), "{engine}: {told}");
        assert!(
            told.contains("Attempts at tasks") && told.contains("logical task") && !told.contains("Submitted jobs"),
            "{engine}: {told}"
        );
        let summary: Json = serde_json::from_slice(&fs::read(out.join("summary.json")).unwrap()).unwrap();
        assert_eq!(summary["tasks"]["attempts"], attempts, "{engine}: {told}");
        assert!(summary.get("jobs").is_none(), "{summary}");
        for name in ["log.xes", "log.csv", "log.parquet", "log.ocel.json", "log.ocel.sqlite", "dfg.svg", "activities.csv", "findings.txt"] {
            assert!(told.contains(name), "{engine}: {name}: {told}");
            assert!(fs::metadata(out.join(name)).unwrap().len() > 100, "{engine}: {name}");
        }
        let log = dump(&out.join("log.xes"));
        assert!(log.traces.iter().all(|trace| !trace.events.is_empty()) && !log.traces.is_empty(), "{engine}");
    }
}

/// Without any time there is no log with cases; that is said, and the numbers are there all the
/// same.
#[test]
fn the_batch_on_tasks_without_times() {
    let flat = support::repository("crates/extract-workflow/tests/fixtures/wfformat/flat_1.4.json");
    let dir = tempfile::tempdir().unwrap();
    let (dataset, out) = (dir.path().join("dataset"), dir.path().join("out"));
    expect(flowmine().args(["import", "wfformat"]).arg(flat).arg("--dataset").arg(&dataset), 0);
    let output = expect(flowmine().args(["run", "--formats", "xes,ocel.json", "--dataset"]).arg(&dataset).arg("--out").arg(&out), 0);
    let (told, said) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(said.contains("no time of any task is known"), "{said}");
    assert!(told.contains("Without a known time") && told.contains("median time"), "{told}");
    assert!(!out.join("log.xes").exists() && !out.join("dfg.svg").exists());
    assert!(out.join("log.ocel.json").exists() && out.join("summary.json").exists());
    // What waits for what needs no time.
    let picture = fs::read_to_string(out.join("dag.svg")).unwrap();
    assert!(picture.contains("Which tasks wait for which") && picture.contains("blastall"), "{picture}");
    let graph = expect(flowmine().args(["discover", "dag", "--format", "json", "--dataset"]).arg(&dataset), 0).stdout;
    let graph: Json = serde_json::from_slice(&graph).unwrap();
    let names: Vec<&str> = graph["nodes"].as_array().unwrap().iter().map(|node| node["name"].as_str().unwrap()).collect();
    let edges: Vec<String> = (graph["edges"].as_array().unwrap().iter())
        .map(|edge| {
            let name = |end: &str| names[edge[end].as_u64().unwrap() as usize];
            format!("{} {} {}", name("from"), name("to"), edge["dependencies"])
        })
        .collect();
    assert_eq!((edges, graph["without_parents"].as_u64()), (vec!["blastall cat 1".to_owned()], Some(0)));
    // Tables and text are of the tasks of the only run.
    for format in ["text", "csv"] {
        let out = expect(flowmine().args(["discover", "dag", "--format", format, "--dataset"]).arg(&dataset), 0);
        let told = String::from_utf8(out.stdout).unwrap();
        assert!(told.contains("blastall") && told.contains("cat"), "{told}");
    }
    let said = flowmine().args(["discover", "dag", "--where", "host=x", "--dataset"]).arg(&dataset).output().unwrap();
    assert!(said.status.code() == Some(2) && String::from_utf8(said.stderr).unwrap().contains("--where is an option of dfg"));
}

#[test]
fn wfformat_takes_traced_data_flow_where_an_engine_tells_no_parents() {
    let world = World::new(ALL);
    let said = |code: i32| {
        let (to, mut command) = world.command("wfformat", "instance", &[]);
        (to, String::from_utf8(expect(&mut command, code).stderr).unwrap())
    };
    // The cached task did nothing that could be traced.
    assert!(said(2).1.contains("the parents of 1 of its 4 tasks are not known"), "{}", said(2).1);
    let dataset = Dataset::open(&world.dataset).unwrap();
    let mut rows: Builder<TaskRun<'static>> = Builder::new();
    rows.push(&TaskRun {
        engine: "makeflow".into(),
        run_id: Some("1795".into()),
        run_name: Some("mflow-run".into()),
        task_id: Some("4".into()),
        attempt: Some(2),
        status: "cached".into(),
        parents: Some("[]".into()),
        ..TaskRun::default()
    });
    let mut writer = dataset.writer(Role::Raw, "test").unwrap();
    let mut transaction = writer.begin().unwrap();
    transaction.append(rows).unwrap();
    transaction.commit().unwrap();
    drop(writer);
    let (to, told) = said(0);
    assert!(told.contains("3 tasks have parents from traced data flow"), "{told}");
    let instance: Json = serde_json::from_slice(&fs::read(to).unwrap()).unwrap();
    assert!(instance["description"].as_str().unwrap().contains("The parents of 3 tasks are not those of the engine"), "{instance}");
    let tasks = instance["workflow"]["specification"]["tasks"].as_array().unwrap();
    let parents: BTreeMap<&str, &Json> = tasks.iter().map(|task| (task["id"].as_str().unwrap(), &task["parents"])).collect();
    let (none, make) = (Json::Array(Vec::new()), serde_json::json!(["1"]));
    assert_eq!(parents, BTreeMap::from([("1", &none), ("2", &none), ("3", &make), ("4", &none)]));
}

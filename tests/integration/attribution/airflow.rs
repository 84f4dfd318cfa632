//! A real Airflow 3 with its LocalExecutor, all of it traced: `tests/lab/airflow-run.sh` runs the
//! DAG of `tests/lab/airflow/known_work.py`.
//!
//! Its tasks are shell commands below a Python process of which Airflow tells the pid. Instances of
//! the mapped task `part` show the same environment.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use flowmine_schema::tables::{DataFlow, DiagnosticRow, Link, TaskIo, TaskRun};

use super::place::{flowmine, run, run_within};
use super::{each, require, tables};

/// What `known_work.py` has its tasks do: task and attempt, what, file, bytes.
const KNOWN: [(&str, &str, &str, i64); 15] = [
    ("breaks#1", "write", "breaks/data", 2048),
    ("flaky#1", "write", "flaky/data", 8192),
    ("flaky#2", "write", "flaky/data", 8192),
    ("join#1", "read", "part/333333", 333_333),
    ("join#1", "read", "part/4096", 4096),
    ("join#1", "read", "part/65536", 65536),
    ("join#1", "write", "join/data", 100_001),
    ("make#1", "write", "make/data", 1_000_000),
    ("part[0]#1", "read", "make/data", 4096),
    ("part[0]#1", "write", "part/4096", 4096),
    ("part[1]#1", "read", "make/data", 65536),
    ("part[1]#1", "write", "part/65536", 65536),
    ("part[2]#1", "read", "make/data", 333_333),
    ("part[2]#1", "write", "part/333333", 333_333),
    ("skips_itself#1", "write", "skips_itself/data", 512),
];

/// The virtual environment of Airflow 3, when there is one.
pub fn venv() -> Option<PathBuf> {
    let venv = std::env::var_os("FLOWMINE_AIRFLOW").map(PathBuf::from).filter(|venv| venv.join("bin/airflow").is_file());
    require("airflow", "Airflow in the virtual environment FLOWMINE_AIRFLOW", venv.is_some()).then_some(venv).flatten()
}

/// Runs it under the tracer in a directory; gives the dataset, correlated.
pub fn traced(dir: &Path, venv: &Path) -> PathBuf {
    let (lab, dataset) = (dir.join("lab"), dir.join("dataset"));
    // Airflow tells the host's name, so that the trace must not give it another.
    let mut trace = flowmine();
    trace.args(["trace", "--backend", "ebpf", "--detail", "events", "--dataset"]).arg(&dataset);
    trace.args(["--", "bash", concat!(env!("CARGO_MANIFEST_DIR"), "/tests/lab/airflow-run.sh")]).arg(&lab).arg(venv);
    run_within(trace.stdin(Stdio::null()), 400);
    let sources = [lab.join("home/airflow.db"), lab.join("home/logs")];
    run(flowmine().args(["import", "airflow"]).args(sources).arg("--dataset").arg(&dataset));
    run(flowmine().args(["correlate", "--dataset"]).arg(&dataset));
    dataset
}

/// A file by its name, its device and its inode.
type File = (String, i64, i64);

/// Compares what was attributed with what the tasks wrote down of themselves
/// (`tests/lab/airflow/work.sh`) into the file `truth`; `dir` is where it ran.
pub fn check(dir: &Path, truth: &Path, dataset: &Path) {
    let work = dir.join("lab/work");
    let tasks = tasks(dataset);
    let mut did: BTreeSet<(&str, &str, &str, i64)> = BTreeSet::new();
    let mut told: BTreeMap<(&str, File), (i64, i64)> = BTreeMap::new();
    let text = std::fs::read_to_string(truth).unwrap();
    for line in text.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [pid, what, file, device, inode, bytes] = fields[..] else { panic!("{line:?}") };
        let (task, bytes) = (tasks[pid].as_str(), bytes.parse().unwrap());
        assert!(did.insert((task, what, file, bytes)), "{line:?} is told once");
        let sums = told.entry((task, (file.to_owned(), device.parse().unwrap(), inode.parse().unwrap()))).or_default();
        *(if what == "read" { &mut sums.0 } else { &mut sums.1 }) += bytes;
    }
    assert_eq!(did, BTreeSet::from(KNOWN), "what the tasks told, known");

    let name = |path: &Option<std::borrow::Cow<'_, str>>| {
        let name = Path::new(path.as_deref()?).strip_prefix(&work).ok()?.to_str()?.to_owned();
        (!name.starts_with("truth")).then_some(name)
    };
    let mut seen: BTreeMap<(String, File), (i64, i64)> = BTreeMap::new();
    each::<TaskIo<'static>>(dataset, |row| {
        let Some(name) = name(&row.path) else { return };
        let whose = row.task.as_deref().map_or_else(|| format!("{:?}", row.unassigned), short);
        let file = (name, row.device.unwrap(), row.inode.unwrap());
        assert!(seen.insert((whose, file), (row.read_bytes, row.written_bytes)).is_none(), "one row a file: {row:?}");
    });
    let told: BTreeMap<_, _> = told.into_iter().map(|((task, file), bytes)| ((task.to_owned(), file), bytes)).collect();
    assert_eq!(seen, told, "task_io, told");

    // A file of which nobody reads what was written has no reader; the second attempt writes what the first one wrote.
    let mut flows = BTreeSet::new();
    for (writer, _, file, written) in KNOWN.into_iter().filter(|(_, what, ..)| *what == "write") {
        let mut readers: Vec<_> = KNOWN.into_iter().filter(|(_, what, of, _)| (*what, *of) == ("read", file)).collect();
        if readers.is_empty() {
            readers.push(("", "read", file, 0));
        }
        flows.extend(
            readers.into_iter().map(|(reader, _, _, read)| (file.to_owned(), 1, writer.to_owned(), written, reader.to_owned(), read)),
        );
    }
    let mut edges = BTreeSet::new();
    each::<DataFlow<'static>>(dataset, |row| {
        let Some(name) = name(&row.path) else { return };
        let whose = |id: &Option<std::borrow::Cow<'_, str>>| id.as_deref().map(short).unwrap_or_default();
        edges.insert((name, row.version, whose(&row.writer), row.written_bytes, whose(&row.reader), row.read_bytes));
    });
    assert_eq!(edges, flows, "data_flow, known");

    tables::totals(dataset);
    tables::totals_by_owner(dataset);
    links(dataset, &tasks);
}

/// The end of a task's id: `part[0]#1`.
fn short(id: &str) -> String {
    id.rsplit('/').next().unwrap_or_default().to_owned()
}

/// The tasks by the pid that Airflow tells of each.
fn tasks(dataset: &Path) -> BTreeMap<String, String> {
    let mut tasks = BTreeMap::new();
    each::<TaskRun<'static>>(dataset, |row| {
        let task = format!("{}#{}", row.task_id.unwrap(), row.attempt.unwrap());
        assert_eq!(tasks.insert(row.native_id.unwrap().into_owned(), task), None, "a pid is one task's");
    });
    tasks
}

/// Each task is known by its pid, and nothing says otherwise.
fn links(dataset: &Path, tasks: &BTreeMap<String, String>) {
    let mut known = BTreeMap::new();
    each::<Link<'static>>(dataset, |link| {
        if link.rule == "native-id" {
            assert_eq!((link.source_type.as_ref(), link.target_type.as_ref(), link.strength.as_ref()), ("process", "task", "declared"));
            known.insert(link.source.into_owned(), short(&link.target));
        }
    });
    assert_eq!(&known, tasks, "links by pid, pids of task_runs");
    each::<DiagnosticRow<'static>>(dataset, |row| assert_ne!(row.code, "links_contradict", "{row:?}"));
}

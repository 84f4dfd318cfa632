//! What `flowmine correlate` made of a run, compared with what the tasks' program told and what was
//! known beforehand.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use flowmine_schema::tables::{DataFlow, IoEvent, IoLoss, Link, TaskIo, TaskRun, TaskTotal};

use super::each;
use super::traced::{processes, programs};
use super::truth::{Number, Truth};
use super::workflow::{Access, Attempt, Edge, Known};

/// Who is no task of an engine, though it works for them.
const DAEMON: &str = "daemon";

/// A task that only keeps others waiting.
pub const HOLD: &str = "hold";

/// What a run must show beside its bytes.
#[derive(Debug, Clone, Copy)]
pub struct Shows {
    /// Its tasks ran as Slurm jobs, whose ids the engine tells.
    pub jobs: bool,
    /// The tasks that ran in containers.
    pub containers: fn(&str) -> bool,
}

impl Shows {
    pub const PLAIN: Self = Self { jobs: false, containers: |_| false };
}

/// Compares all tables.
pub fn check(dataset: &Path, truth: &Truth, known: &Known, shows: Shows) {
    let attempts = attempts(dataset, truth);
    task_io(dataset, truth, &attempts, shows);
    totals(dataset);
    totals_by_owner(dataset);
    data_flow(dataset, truth, known, &attempts);
    links(dataset, &attempts, shows);
}

/// The attempt that each task's id in the tables means: attempts at a task are distinguished by
/// which began to read or write first.
fn attempts(dataset: &Path, truth: &Truth) -> HashMap<String, Attempt> {
    let mut first: BTreeMap<(String, String), i64> = BTreeMap::new();
    each::<TaskIo<'static>>(dataset, |row| {
        let began = row.first_read_ns.into_iter().chain(row.first_write_ns).min();
        if let (Some(task), Some(logical), Some(began)) = (row.task, row.logical_task.filter(|logical| logical != HOLD), began) {
            let first = first.entry((logical.into_owned(), task.into_owned())).or_insert(began);
            *first = began.min(*first);
        }
    });
    let mut by_task: BTreeMap<String, Vec<(i64, String)>> = BTreeMap::new();
    for ((logical, task), began) in first {
        by_task.entry(logical).or_default().push((began, task));
    }
    let mut attempts = HashMap::new();
    for (logical, mut tasks) in by_task {
        tasks.sort();
        attempts.extend(tasks.into_iter().enumerate().map(|(at, (_, task))| (task, (logical.clone(), at + 1))));
    }
    let expected: BTreeSet<&Attempt> = truth.keys().filter(|(task, _)| task != DAEMON).collect();
    assert_eq!(attempts.values().collect::<BTreeSet<_>>(), expected, "the attempts in task_io");
    attempts
}

fn named(path: Option<&str>, name: &str) -> bool {
    path.is_some_and(|path| path.rsplit('/').next() == Some(name))
}

fn task_io(dataset: &Path, truth: &Truth, attempts: &HashMap<String, Attempt>, shows: Shows) {
    let names: HashMap<Number, &str> =
        truth.values().flat_map(|told| told.files.iter().map(|(number, (name, _))| (*number, name.as_str()))).collect();
    let jobs = native_ids(dataset);
    let mut left: BTreeMap<(Attempt, Number), &Access> = BTreeMap::new();
    for (attempt, told) in truth {
        left.extend(told.files.iter().map(|(number, (_, access))| ((attempt.clone(), *number), access)));
    }
    let mut wrong = Vec::new();
    each::<TaskIo<'static>>(dataset, |row| {
        let (Some(device), Some(inode)) = (row.device, row.inode) else { return };
        // The number of a deleted file may be one of the tasks' files' now.
        let Some(name) = names.get(&(device, inode)).filter(|name| named(row.path.as_deref(), name)) else { return };
        let attempt = match row.task.as_deref() {
            Some(task) => attempts[task].clone(),
            None => (DAEMON.to_owned(), 1),
        };
        let seen = Access {
            opens: row.opens,
            read_calls: row.read_calls,
            read_bytes: row.read_bytes,
            unique_read_bytes: row.unique_read_bytes.unwrap_or(-1),
            write_calls: row.write_calls,
            written_bytes: row.written_bytes,
            unique_written_bytes: row.unique_written_bytes.unwrap_or(-1),
        };
        // A task's script is read by its own shell as well, which tells nothing.
        if name.starts_with('.') && !truth.get(&attempt).is_some_and(|told| told.files.contains_key(&(device, inode))) {
            return;
        }
        let told = left.remove(&(attempt.clone(), (device, inode)));
        // An engine may look at its tasks' files; then that is nobody's.
        let looks = told.is_none() && row.task.is_none() && row.unassigned.is_some() && row.written_bytes == 0;
        if told != Some(&seen) && !looks {
            wrong.push(format!("{attempt:?}, {name}: {seen:?}, but told was {told:?}"));
        }
        if row.task.is_none() != row.unassigned.is_some() && row.job.is_none() && row.container.is_none() {
            wrong.push(format!("{attempt:?}, {name}: task and reason: {row:?}"));
        }
        let runs = row.task.as_ref().map(|_| attempt);
        if let Some(attempt) = &runs
            && shows.jobs
            && row.job.as_deref() != jobs.get(attempt).map(String::as_str)
        {
            wrong.push(format!("{attempt:?}, {name}: job {:?}, but its engine says {:?}", row.job, jobs.get(attempt)));
        }
        if let Some((task, _)) = &runs
            && (shows.containers)(task) != row.container.is_some()
        {
            wrong.push(format!("{task}, {name}: container {:?}", row.container));
        }
    });
    assert!(wrong.is_empty(), "task_io differs from what the tasks told:\n{}", wrong.join("\n"));
    assert!(left.is_empty(), "task_io lacks {left:#?}");
}

/// What the engine says as what each attempt ran.
fn native_ids(dataset: &Path) -> BTreeMap<Attempt, String> {
    let mut ids = BTreeMap::new();
    each::<TaskRun<'static>>(dataset, |row| {
        if let (Some(attempt), Some(id)) = (row.attempt, row.native_id) {
            ids.insert((row.logical_task.into_owned(), attempt as usize), id.into_owned());
        }
    });
    ids
}

/// Nothing is lost and nothing is counted twice.
pub fn totals(dataset: &Path) {
    let mut events = (0, 0, 0, 0);
    each::<IoEvent<'static>>(dataset, |row| {
        let bytes = row.result.unwrap_or(0).max(0);
        match row.op.as_ref() {
            "read" => events = (events.0 + 1, events.1 + bytes, events.2, events.3),
            "write" => events = (events.0, events.1, events.2 + 1, events.3 + bytes),
            _ => {}
        }
    });
    each::<IoLoss<'static>>(dataset, |row| match row.kind.as_ref() {
        "read" => events = (events.0 + row.count, events.1 + row.bytes.unwrap_or(0), events.2, events.3),
        "write" => events = (events.0, events.1, events.2 + row.count, events.3 + row.bytes.unwrap_or(0)),
        _ => {}
    });
    let mut sums = (0, 0, 0, 0);
    each::<TaskTotal<'static>>(dataset, |row| {
        sums = (sums.0 + row.read_calls, sums.1 + row.read_bytes, sums.2 + row.write_calls, sums.3 + row.written_bytes);
    });
    assert_eq!(sums, events, "task_totals, io_events: reads, bytes, writes, bytes");
}

/// The rows of task_totals are the sums of those of task_io.
pub fn totals_by_owner(dataset: &Path) {
    let text = |text: Option<std::borrow::Cow<'_, str>>| text.map(std::borrow::Cow::into_owned);
    let (mut files, mut sums) = (BTreeMap::new(), BTreeMap::new());
    each::<TaskIo<'static>>(dataset, |row| {
        let owner =
            [text(row.task), text(row.job), text(row.step), text(row.container), text(row.unassigned), row.uid.map(|uid| uid.to_string())];
        let sum = files.entry(owner).or_insert((0, 0, 0, 0, 0));
        *sum = (sum.0 + row.opens, sum.1 + row.read_calls, sum.2 + row.read_bytes, sum.3 + row.write_calls, sum.4 + row.written_bytes);
    });
    each::<TaskTotal<'static>>(dataset, |row| {
        let owner =
            [text(row.task), text(row.job), text(row.step), text(row.container), text(row.unassigned), row.uid.map(|uid| uid.to_string())];
        let sum = (row.opens, row.read_calls, row.read_bytes, row.write_calls, row.written_bytes);
        let lost = owner[4].as_deref() == Some("lost");
        if !lost && sum != (0, 0, 0, 0, 0) {
            assert_eq!(sums.insert(owner.clone(), sum), None, "{owner:?} has two rows in task_totals");
        }
    });
    files.retain(|_, sum| *sum != (0, 0, 0, 0, 0));
    assert_eq!(sums, files, "task_totals, task_io: opens, reads, bytes, writes, bytes");
}

/// Versions from whom to whom, of the tasks' files. What a task reads of what it wrote itself is
/// left out on both sides, and so are scripts.
fn data_flow(dataset: &Path, truth: &Truth, known: &Known, attempts: &HashMap<String, Attempt>) {
    let names: HashMap<Number, &str> =
        truth.values().flat_map(|told| told.files.iter().map(|(number, (name, _))| (*number, name.as_str()))).collect();
    let mut edges = Vec::new();
    // From a phase to the versions that it wrote, and from a version to the phases that read it.
    let mut next: BTreeMap<Node, BTreeSet<Node>> = BTreeMap::new();
    each::<DataFlow<'static>>(dataset, |row| {
        let file = (row.device.unwrap_or(-1), row.inode.unwrap_or(-1));
        let version = Node::Version(file, row.generation, row.incarnation, row.version);
        let phase = |kind: &Option<_>, id: &Option<std::borrow::Cow<'_, str>>, phase: Option<i64>| {
            id.as_ref().filter(|_| kind.as_deref() == Some("task")).map(|id| Node::Phase(id.to_string(), phase.unwrap_or(-1)))
        };
        if let Some(writer) = phase(&row.writer_type, &row.writer, row.writer_phase) {
            next.entry(writer).or_default().insert(version.clone());
        }
        if let Some(reader) = phase(&row.reader_type, &row.reader, row.reader_phase) {
            next.entry(version).or_default().insert(reader);
        }
        let Some(name) = names.get(&file).filter(|name| named(row.path.as_deref(), name)) else { return };
        let who = |kind: Option<&str>, id: Option<&str>| match kind {
            None => None,
            Some("task") => Some(attempts[id.unwrap_or_default()].clone()),
            Some(_) => Some((DAEMON.to_owned(), 1)),
        };
        // An engine may look at its tasks' files.
        let daemon_reads = |file: &str| {
            known.flow.iter().any(|edge| edge.file == file && edge.reader.as_ref().is_some_and(|(reader, _)| reader == DAEMON))
        };
        let looks = row.reader_type.as_deref() == Some("unassigned") && !daemon_reads(name);
        let edge = Edge {
            file: (*name).to_owned(),
            version: row.version,
            origin: match (row.version, row.origin.as_ref()) {
                // No row says whether an open with O_CREAT and O_TRUNC made the file or emptied one.
                (1, "created" | "truncated") => "created",
                (_, "before") => "before",
                (_, "truncated") => "truncated",
                (_, "changed") => "changed",
                (version, origin) => panic!("version {version} of {name} is {origin}"),
            },
            writer: who(row.writer_type.as_deref(), row.writer.as_deref()),
            written_bytes: row.written_bytes,
            reader: if looks { None } else { who(row.reader_type.as_deref(), row.reader.as_deref()) },
            read_bytes: if looks { 0 } else { row.read_bytes },
        };
        if edge.writer != edge.reader && edge.reader.is_some() && edge.writer.is_some() {
            assert!(row.last_write_ns <= row.first_read_ns, "{edge:?} is written before it is read: {row:?}");
        }
        edges.push(edge);
    });
    edges.sort();
    edges.dedup();
    let read: BTreeSet<(String, i64)> =
        edges.iter().filter(|edge| edge.reader.is_some()).map(|edge| (edge.file.clone(), edge.version)).collect();
    edges.retain(|edge| edge.reader.is_some() || !read.contains(&(edge.file.clone(), edge.version)));
    let between = |edges: Vec<Edge>| -> Vec<Edge> {
        edges.into_iter().filter(|edge| (edge.writer.is_none() || edge.writer != edge.reader) && !edge.file.starts_with('.')).collect()
    };
    assert_eq!(between(edges), between(known.flow.clone()), "data_flow, known");
    acyclic(next);
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Node {
    Version(Number, Option<i64>, i64, i64),
    Phase(String, i64),
}

/// Takes away what nothing leads to, until nothing is left.
fn acyclic(mut next: BTreeMap<Node, BTreeSet<Node>>) {
    while !next.is_empty() {
        let reached: BTreeSet<Node> = next.values().flatten().cloned().collect();
        let before = next.len();
        next.retain(|node, _| reached.contains(node));
        assert!(next.len() < before, "data_flow has a cycle: {next:#?}");
    }
}

/// Every program of a task belongs to it and to no other, by a rule and on evidence; a task ran as
/// the job or container that it was.
fn links(dataset: &Path, attempts: &HashMap<String, Attempt>, shows: Shows) {
    let processes = processes(dataset);
    let by_start: HashMap<(String, Option<i64>), Attempt> =
        (programs(&processes).into_iter()).map(|(key, attempt)| ((key.0.to_string(), processes[&key].started_ns), attempt)).collect();
    let jobs = native_ids(dataset);
    let (mut linked, mut ran_as) = (BTreeSet::new(), BTreeSet::new());
    each::<Link<'static>>(dataset, |link| {
        assert!(!link.rule.is_empty() && !link.evidence.is_empty(), "{link:?}");
        assert!(["declared", "derived", "inferred"].contains(&link.strength.as_ref()), "{link:?}");
        if let ("task", "ran-as", Some(attempt)) = (link.source_type.as_ref(), link.relation.as_ref(), attempts.get(link.source.as_ref())) {
            if link.target_type == "job" {
                assert_eq!(jobs.get(attempt).map(String::as_str), Some(link.target.as_ref()), "{link:?}");
            }
            ran_as.insert((link.target_type.to_string(), attempt.clone()));
        }
        if link.source_type != "process" || link.target_type != "task" {
            return;
        }
        let Some(attempt) = by_start.get(&(link.source.to_string(), link.source_ns)) else { return };
        assert_eq!(attempts.get(link.target.as_ref()), Some(attempt), "{link:?}");
        linked.insert((link.source.to_string(), link.source_ns));
    });
    let lacking: Vec<_> = by_start.iter().filter(|(key, (task, _))| task != DAEMON && !linked.contains(key)).collect();
    assert!(lacking.is_empty(), "links lacks {lacking:?}");
    for attempt in attempts.values() {
        assert_eq!(ran_as.contains(&("job".to_owned(), attempt.clone())), shows.jobs, "{attempt:?} ran as a job");
        assert_eq!(
            ran_as.contains(&("container".to_owned(), attempt.clone())),
            (shows.containers)(&attempt.0),
            "{attempt:?} ran as a container"
        );
    }
}

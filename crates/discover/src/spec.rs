//! A run as a workflow that can be run again: what each task executes, what it reads and writes,
//! and what it waits for.
//!
//! In goes a run as a graph; out come tasks in an order in which they can run. A task waits for
//! what it was declared to wait for and for those whose files it read; to the declared files come
//! those that were traced on their way from task to task.
//!
//! What is refused, because the written workflow would do something else: tasks without a command,
//! tasks that ran beside those whose files they read (a pipe), dependencies in a circle, and tasks
//! that ran in directories of their own.

use std::collections::BTreeSet;

use flowmine_activity_log::{NONE, RunGraph, RunTask};

use crate::check::declares;
use crate::precedence::{Edge, Network};

/// Why a run cannot be written as a workflow.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// What was executed is not known.
    #[error(
        "what {count} of its tasks executed is not known, such as {task:?}: give the engine's metadata or verbose log too, or trace the run"
    )]
    NoCommand {
        /// How many.
        count: usize,
        /// One of them.
        task: String,
    },
    /// A task read what another was still writing.
    #[error(
        "{reader:?} read what {writer:?} was still writing: what runs side by side cannot be written as tasks that wait for each other's end"
    )]
    Beside {
        /// Who wrote.
        writer: String,
        /// Who read.
        reader: String,
    },
    /// Dependencies go in a circle.
    #[error("{0} dependencies go in a circle: no order of the tasks keeps them")]
    Circular(u64),
    /// There is more than one work directory.
    #[error("its tasks ran in directories of their own, such as {0:?} and {1:?}: the commands would not find their files in one")]
    Directories(String, String),
    /// Somebody waits for a task that is not known.
    #[error("{0} dependencies are on tasks that no row tells of")]
    UnknownParents(u64),
}

/// A workflow.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Workflow {
    /// The run of which it is made.
    pub run: String,
    /// Its tasks, each after those that it waits for.
    pub tasks: Vec<SpecTask>,
    /// Tasks that were not run because an earlier result was taken; they are in it.
    pub cached: u64,
}

/// A task.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SpecTask {
    /// What its run calls it.
    pub name: String,
    /// What it is an instance of.
    pub activity: String,
    /// What a shell executes.
    pub command: String,
    /// Files that it reads.
    pub inputs: Vec<String>,
    /// Files that it writes.
    pub outputs: Vec<String>,
    /// What it waits for: places in [`Workflow::tasks`], ascending.
    pub after: Vec<usize>,
}

/// Makes a workflow of a run.
///
/// # Errors
/// When the workflow would do something else than the run did.
pub fn discover(run: &RunGraph) -> Result<Workflow, SpecError> {
    refuse(run)?;
    let pairs: BTreeSet<(u32, u32)> = run
        .declared
        .iter()
        .map(|of| (of.from, of.to))
        .chain(run.flows.iter().filter_map(|flow| flow.pair()))
        .filter(|(from, to)| from != to)
        .collect();
    let edges = pairs.iter().map(|&(from, to)| Edge { from, to, declared: true, lag_ns: None }).collect();
    let (network, circular) = Network::new(run.tasks.len(), edges);
    if circular > 0 {
        return Err(SpecError::Circular(circular));
    }
    let mut place = vec![0; run.tasks.len()];
    for (at, &task) in network.order().iter().enumerate() {
        place[task as usize] = at;
    }
    let mut made = Workflow { run: run.name.clone(), ..Workflow::default() };
    made.cached = run.tasks.iter().filter(|task| task.cached).count() as u64;
    made.tasks = network.order().iter().map(|&at| of_task(&run.tasks[at as usize])).collect();
    for &(from, to) in &pairs {
        made.tasks[place[to as usize]].after.push(place[from as usize]);
    }
    for flow in &run.flows {
        let Some((writer, reader)) = flow.pair() else { continue };
        let path = &run.files[flow.file as usize];
        put(&mut made.tasks[place[writer as usize]].outputs, path);
        put(&mut made.tasks[place[reader as usize]].inputs, path);
    }
    made.tasks.iter_mut().for_each(|task| task.after.sort_unstable());
    Ok(made)
}

fn refuse(run: &RunGraph) -> Result<(), SpecError> {
    let without: Vec<&RunTask> = run.tasks.iter().filter(|task| task.command.is_none()).collect();
    if let Some(task) = without.first() {
        return Err(SpecError::NoCommand { count: without.len(), task: task.name.clone() });
    }
    if run.unknown_parents > 0 {
        return Err(SpecError::UnknownParents(run.unknown_parents));
    }
    let mut directories = run.tasks.iter().filter_map(|task| task.work_dir.as_deref());
    if let Some(first) = directories.next()
        && let Some(other) = directories.find(|other| *other != first)
    {
        return Err(SpecError::Directories(first.to_owned(), other.to_owned()));
    }
    for flow in run.flows.iter().filter(|flow| flow.writer != NONE) {
        let Some((writer, reader)) = flow.pair() else { continue };
        let (writer, reader) = (&run.tasks[writer as usize], &run.tasks[reader as usize]);
        let unsure = writer.precision_ns.saturating_add(reader.precision_ns);
        let beside = writer.finished_ns.zip(reader.started_ns).is_some_and(|(end, start)| start < end.saturating_sub(unsure));
        if beside {
            return Err(SpecError::Beside { writer: writer.name.clone(), reader: reader.name.clone() });
        }
    }
    Ok(())
}

fn of_task(task: &RunTask) -> SpecTask {
    SpecTask {
        name: task.name.clone(),
        activity: task.activity.clone(),
        command: task.command.clone().unwrap_or_default(),
        inputs: task.inputs.clone().unwrap_or_default(),
        outputs: task.outputs.clone().unwrap_or_default(),
        after: Vec::new(),
    }
}

/// Adds a path, unless the list has it.
fn put(files: &mut Vec<String>, path: &str) {
    if !declares(files, path) {
        files.push(path.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flowmine_activity_log::{Declared, FileFlow};

    fn task(name: &str, start: i64, end: i64) -> RunTask {
        RunTask {
            name: name.to_owned(),
            command: Some(format!("do {name}")),
            started_ns: Some(start),
            finished_ns: Some(end),
            ..RunTask::default()
        }
    }

    fn run() -> RunGraph {
        let mut last = task("last", 20, 30);
        last.inputs = Some(vec!["x".to_owned()]);
        let flow = FileFlow {
            file: 0,
            version: 0,
            writer: 1,
            was_there: false,
            reader: 0,
            read_outside: false,
            written_bytes: 1,
            read_bytes: 1,
            ..FileFlow::default()
        };
        RunGraph {
            tasks: vec![last, task("first", 0, 10)],
            declared: vec![Declared { from: 1, to: 0, for_start: false }],
            files: vec!["/w/x".to_owned()],
            flows: vec![flow],
            ..RunGraph::default()
        }
    }

    #[test]
    fn tasks_come_after_what_they_wait_for() {
        let made = discover(&run()).unwrap();
        let told: Vec<_> =
            made.tasks.iter().map(|task| (task.name.as_str(), task.inputs.len(), task.outputs.clone(), task.after.clone())).collect();
        // The declared x is the traced /w/x; that first writes it only the trace tells.
        assert_eq!(told, [("first", 0, vec!["/w/x".to_owned()], vec![]), ("last", 1, vec![], vec![0])]);
    }

    #[test]
    fn what_would_do_something_else_is_refused() {
        let mut untold = run();
        untold.tasks[1].command = None;
        assert!(matches!(discover(&untold), Err(SpecError::NoCommand { count: 1, .. })));
        let mut beside = run();
        beside.tasks[0].started_ns = Some(5);
        assert!(matches!(discover(&beside), Err(SpecError::Beside { .. })));
        let mut circle = run();
        circle.declared.push(Declared { from: 0, to: 1, for_start: false });
        assert_eq!(discover(&circle), Err(SpecError::Circular(2)));
        let mut apart = run();
        apart.tasks[0].work_dir = Some("/a".to_owned());
        apart.tasks[1].work_dir = Some("/b".to_owned());
        assert!(matches!(discover(&apart), Err(SpecError::Directories(..))));
    }
}

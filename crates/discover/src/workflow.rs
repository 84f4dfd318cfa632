//! A run as a workflow that can be run again: the command, the files and the dependencies of each
//! task.
//!
//! In goes a run as a graph; out come tasks in an order in which they can run. A task waits for its
//! declared dependencies and for the writers of files that it read. Its files are the declared ones
//! and those that were traced from task to task. If it waits for another and read nothing from it,
//! the other's first output also becomes an input.
//!
//! The workflow runs in one directory, which contains the directories of all its tasks: paths are
//! relative to it, and a task that ran in a subdirectory changes to it first. If tasks ran in
//! separate directories of their own (Nextflow), it is their common parent, and only traced files
//! are known, because declared names are relative to those directories. A task without declared
//! outputs has as outputs the files in the directory that it wrote and no task read. A task that
//! has no command, makes nothing and only names files (Snakemake's `all`) is left out.
//!
//! A file that was renamed after it was written has the name by which it was read.
//!
//! The commands of a traced script are those that its processes executed. They do not include
//! redirections, pipes and the shell's own writes: if the trace contains such, the script is
//! refused. The commands keep the order of the trace. Files that existed before the run and were
//! changed are listed, because file-based engines treat any file with an output's name as a result.
//!
//! Runs are refused if the written workflow would behave differently: tasks without a command,
//! tasks that overlapped the writers of files that they read (a pipe), dependencies in a cycle, and
//! tasks in directories without a common parent.

mod engine_steps;
mod script_order;
mod texts;

use std::collections::BTreeSet;

use flowmine_activity_log::{FileFlow, NONE, RunGraph, RunTask};

use crate::dependency_audit::{declares, is_at_end};
use crate::precedence::{Edge, Network};

/// Reason why a run cannot be written as a workflow.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WorkflowError {
    /// The command of a task is not known.
    #[error(
        "what {count} of its tasks executed is not known, such as {task:?}: give the engine's metadata or verbose log too, or trace the run"
    )]
    NoCommand {
        /// Number of tasks without a known command.
        count: usize,
        /// Name of one of these tasks.
        task: String,
    },
    /// The command of a job is not known.
    #[error(
        "what {count} of the jobs executed is not known, such as {job:?}: Slurm does not tell what `sbatch --wrap` or standard input gave, and what a task of an array does \
         depends on its number; submit scripts, one job each, or choose a run of a workflow engine with --run"
    )]
    NoScript {
        /// Number of jobs without a known command.
        count: usize,
        /// Name of one of these jobs.
        job: String,
    },
    /// A task read a file that another was still writing.
    #[error(
        "{reader:?} read what {writer:?} was still writing: what runs side by side cannot be written as tasks that wait for each other's end"
    )]
    Beside {
        /// Name of the task that was still writing.
        writer: String,
        /// Name of the task that read at the same time.
        reader: String,
    },
    /// Dependencies are in a cycle.
    #[error("{0} dependencies go in a circle: no order of the tasks keeps them")]
    Circular(u64),
    /// There is more than one work directory.
    #[error("its tasks ran in directories with nothing in common, such as {0:?} and {1:?}: the commands would not find their files in one")]
    Directories(String, String),
    /// The trace shows that a task did more than its command.
    #[error(
        "the command line of {task:?} is not all of its command: the trace shows {what}; run the script by a workflow engine, which records its commands"
    )]
    Incomplete {
        /// Name of the task.
        task: String,
        /// Missing part.
        what: String,
    },
    /// The trace shows that the script did more than its commands.
    #[error("the script did more than its commands: it {what}; run the script by a workflow engine, which records its commands")]
    Script {
        /// Action of the script itself.
        what: String,
    },
    /// A command failed, and the script went on.
    #[error("{task:?} failed in the run: a workflow would end there, whatever the script did")]
    Failed {
        /// Name of the task.
        task: String,
    },
    /// An output is not a regular file.
    #[error(
        "{task:?} makes {path:?}, which the engine's log marks as {kind:?}: no plain file passes from task to task there, and a workflow has no other"
    )]
    Special {
        /// Name of the task.
        task: String,
        /// Path of the output.
        path: String,
        /// Kind of output in the engine's terms.
        kind: String,
    },
    /// A command or a path has bytes that are not UTF-8.
    #[error(
        "{what} {task:?} has bytes that are not UTF-8, {text:?}: no language of workflows can hold them; rename the files or convert the text"
    )]
    NotText {
        /// Part of the task.
        what: &'static str,
        /// Name of the task.
        task: String,
        /// The text, with `\\xNN` for each such byte.
        text: String,
    },
    /// A command of a script has no known start and end.
    #[error("when {task:?} began and ended is not known, so neither is its order: it still ran when the trace ended, or its end was lost")]
    Unended {
        /// Name of the task.
        task: String,
    },
    /// Two commands of a script ran at the same time, and one used a path that the other changed.
    #[error("{one:?} and {other:?} ran at the same time, and {one:?} changed {path:?}, which the other used: no order of the two is known")]
    AtOnce {
        /// Name of the task that changed it.
        one: String,
        /// Name of the other task.
        other: String,
        /// Path that was changed.
        path: String,
    },
    /// A task waits for a task that is not known.
    #[error("{0} dependencies are on tasks that no row describes")]
    UnknownParents(u64),
}

/// A workflow that repeats a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Workflow {
    /// Name of the run.
    pub run: String,
    /// Directory to which its paths and commands are relative; `None` if it is not known.
    pub directory: Option<String>,
    /// Its tasks, each after its predecessors.
    pub tasks: Vec<WorkflowTask>,
    /// Number of tasks that did not run because an earlier result was reused; they are included.
    pub cached: u64,
    /// Number of tasks with more than one attempt.
    pub retried: u64,
    /// Whether its commands are those of Snakemake; its log does not record the full environment of
    /// commands.
    pub of_snakemake: bool,
    /// Whether its commands are those of Makeflow; its log does not record its options.
    pub of_makeflow: bool,
    /// Outputs that a later task removed or renamed.
    pub removed: BTreeSet<String>,
    /// Paths of files that existed before the run, and that a task changed.
    pub was_there: BTreeSet<String>,
    /// Whether its commands are those of a traced script; the trace does not record the state of
    /// its shell.
    pub of_script: bool,
    /// Number of a script's commands that wait for one from which they read no file.
    pub in_order_of_trace: usize,
    /// Number of a script's commands that ran at the same time as another.
    pub at_once: usize,
    /// Parts that may be missing, each with the name of its task.
    pub doubts: Vec<(String, String)>,
    /// Parts that may be missing from an unknown task.
    pub doubts_of_script: Vec<String>,
}

impl Workflow {
    /// Tasks with commands that contain absolute paths in the workflow's directory: these refer to
    /// that directory wherever the workflow runs.
    pub fn bound_to_directory(&self) -> Vec<&WorkflowTask> {
        let Some(directory) = self.directory.as_deref().filter(|directory| directory.len() > 1) else { return Vec::new() };
        let goes_on = |c: char| c.is_alphanumeric() || "_-.".contains(c);
        let names = |command: &str| {
            command.match_indices(directory).any(|(at, _)| {
                let (before, after) = (&command[..at], &command[at + directory.len()..]);
                !before.ends_with(|c: char| goes_on(c) || c == '/') && !after.starts_with(goes_on)
            })
        };
        self.tasks.iter().filter(|task| names(&task.command)).collect()
    }
}

/// A task of a workflow, with its command and its dependencies.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkflowTask {
    /// Its name in the run.
    pub name: String,
    /// Name of its activity.
    pub activity: String,
    /// The command, as `sh` executes it.
    pub command: String,
    /// Subdirectory of the workflow's directory in which it runs; `None` for that directory itself.
    pub directory: Option<String>,
    /// Paths of the files that it reads: declared ones as they were declared, traced ones relative
    /// to [`Workflow::directory`] if they are in it.
    pub inputs: Vec<String>,
    /// Paths of the files that it writes, in the same form as `inputs`.
    pub outputs: Vec<String>,
    /// Its predecessors: indices into [`Workflow::tasks`], ascending.
    pub after: Vec<usize>,
}

/// Makes a workflow from a run.
///
/// # Errors
/// [`WorkflowError`] if the workflow would behave differently from the run.
pub fn discover(run: &RunGraph) -> Result<Workflow, WorkflowError> {
    refuse(run)?;
    let script = script_order::of(run)?;
    let by_files: BTreeSet<(u32, u32)> = run.flows.iter().filter_map(FileFlow::pair).collect();
    let pairs: BTreeSet<(u32, u32)> = run
        .declared
        .iter()
        .map(|of| (of.from, of.to))
        .chain(by_files.iter().copied())
        .chain(script.pairs.iter().copied())
        .filter(|(from, to)| from != to && ![from, to].into_iter().any(|at| names_files(&run.tasks[*at as usize])))
        .collect();
    let edges = pairs.iter().map(|&(from, to)| Edge { from, to, declared: true, confidence_percent: 100, lag_ns: None }).collect();
    let (network, circular) = Network::new(run.tasks.len(), edges);
    if circular > 0 {
        return Err(WorkflowError::Circular(circular));
    }
    let order: Vec<u32> = network.order().iter().copied().filter(|&at| !names_files(&run.tasks[at as usize])).collect();
    let mut place = vec![0; run.tasks.len()];
    for (at, &task) in order.iter().enumerate() {
        place[task as usize] = at;
    }
    let mut made = Workflow { run: run.name.clone(), ..Workflow::default() };
    made.cached = run.tasks.iter().filter(|task| task.cached).count() as u64;
    made.retried = run.tasks.iter().filter(|task| task.attempts > 1).count() as u64;
    made.of_snakemake = run.tasks.iter().any(|task| task.engine_steps.is_some());
    made.of_makeflow = run.tasks.iter().any(|task| task.of_makeflow);
    let Base { directory: base, own } = base(run)?;
    made.directory = base.map(str::to_owned);
    made.tasks = order.iter().map(|&at| of_task(&run.tasks[at as usize], base, own)).collect();
    for &(from, to) in &pairs {
        made.tasks[place[to as usize]].after.push(place[from as usize]);
    }
    for flow in &run.flows {
        let Some((writer, reader)) = flow.pair() else { continue };
        let (path, renamed) = name_of(run, flow);
        // The task that renamed a file to its declared output made that output.
        let of_another =
            |(at, task): (usize, &RunTask)| at != writer as usize && task.outputs.as_ref().is_some_and(|outputs| declares(outputs, path));
        if !(renamed && run.tasks.iter().enumerate().any(of_another)) {
            put(&mut made.tasks[place[writer as usize]].outputs, path, base);
        }
        put(&mut made.tasks[place[reader as usize]].inputs, path, base);
    }
    let without: Vec<bool> = made.tasks.iter().map(|task| task.outputs.is_empty()).collect();
    for flow in run.flows.iter().filter(|flow| flow.writer != NONE && flow.reader == NONE && !flow.read_outside) {
        let (at, path) = (place[flow.writer as usize], name_of(run, flow).0);
        if without[at] && base.is_some_and(|base| inside(base, path).is_some()) {
            put(&mut made.tasks[at].outputs, path, base);
        }
    }
    made.tasks.iter_mut().for_each(|task| task.after.sort_unstable());
    wait_by_files(&mut made.tasks);
    let of_base = |path: &String| base.and_then(|base| inside(base, path)).unwrap_or(path).to_owned();
    made.removed = run.removed.iter().map(of_base).collect();
    let read = run.flows.iter().filter(|flow| flow.was_there && flow.reader != NONE).map(|flow| run.files.get(flow.file).to_owned());
    let was_there: BTreeSet<String> = run.was_there.iter().cloned().chain(read).collect();
    made.was_there = was_there.iter().map(of_base).collect();
    made.doubts_of_script.clone_from(&run.doubts);
    made.of_script = run.tasks.iter().any(|task| task.process.is_some());
    made.in_order_of_trace = script.pairs.difference(&by_files).map(|(_, to)| to).collect::<BTreeSet<_>>().len();
    made.at_once = script.at_once;
    made.doubts = run.tasks.iter().flat_map(|task| task.doubts.iter().map(|doubt| (task.name.clone(), doubt.clone()))).collect();
    texts::give_back(&mut made)?;
    Ok(made)
}

/// Returns the name by which a file was read, or its last name, and whether it was written under
/// another name.
fn name_of<'r>(run: &'r RunGraph, flow: &FileFlow) -> (&'r str, bool) {
    let written = run.files.get(flow.file);
    let since = flow.first_write_ns.unwrap_or(i64::MIN);
    let until = flow.first_read_ns.filter(|_| flow.reader != NONE).unwrap_or(i64::MAX);
    // A task that renames a file reads it by its name before that.
    let then = run.renames.iter().filter(|rename| (since..until).contains(&rename.at_ns));
    let name = then.fold(written, |name, rename| if rename.from == name { &rename.to } else { name });
    (name, name != written)
}

/// Adds an input to each task that waits for another without reading a file from it, because
/// file-based engines know dependencies by files only.
fn wait_by_files(tasks: &mut [WorkflowTask]) {
    for at in 0..tasks.len() {
        for before in tasks[at].after.clone() {
            let outputs = &tasks[before].outputs;
            if outputs.iter().any(|path| tasks[at].inputs.contains(path)) {
                continue;
            }
            let one = outputs.first().cloned();
            tasks[at].inputs.extend(one);
        }
    }
}

fn refuse(run: &RunGraph) -> Result<(), WorkflowError> {
    if let Some((task, what)) = run.tasks.iter().find_map(|task| Some((task, task.missing.first()?))) {
        return Err(WorkflowError::Incomplete { task: task.name.clone(), what: what.clone() });
    }
    if let Some(what) = run.missing.first() {
        return Err(WorkflowError::Script { what: what.clone() });
    }
    if let Some(task) = run.tasks.iter().find(|task| task.process.is_some() && task.failed) {
        return Err(WorkflowError::Failed { task: task.name.clone() });
    }
    run.tasks.iter().try_for_each(engine_steps::refuse)?;
    let without: Vec<&RunTask> = run.tasks.iter().filter(|task| task.command.is_none() && !names_files(task)).collect();
    if let Some(job) = without.first().filter(|_| run.noun == "job") {
        return Err(WorkflowError::NoScript { count: without.len(), job: job.name.clone() });
    }
    if let Some(task) = without.first() {
        return Err(WorkflowError::NoCommand { count: without.len(), task: task.name.clone() });
    }
    if run.unknown_parents > 0 {
        return Err(WorkflowError::UnknownParents(run.unknown_parents));
    }
    for flow in run.flows.iter().filter(|flow| flow.writer != NONE) {
        let Some((writer, reader)) = flow.pair() else { continue };
        let (writer, reader) = (&run.tasks[writer as usize], &run.tasks[reader as usize]);
        let unsure = writer.precision_ns.saturating_add(reader.precision_ns);
        let beside = writer.finished_ns.zip(reader.started_ns).is_some_and(|(end, start)| start < end.saturating_sub(unsure));
        if beside {
            return Err(WorkflowError::Beside { writer: writer.name.clone(), reader: reader.name.clone() });
        }
    }
    Ok(())
}

/// Returns whether a task only names files that others make.
fn names_files(task: &RunTask) -> bool {
    let makes_none = task.outputs.as_ref().is_some_and(Vec::is_empty);
    task.command.is_none() && !task.traced && makes_none && task.inputs.as_ref().is_some_and(|inputs| !inputs.is_empty())
}

/// Directory in which a workflow runs.
#[derive(Clone, Copy)]
struct Base<'r> {
    directory: Option<&'r str>,
    /// Whether each task ran in a directory of its own.
    own: bool,
}

/// Finds the directory that contains the directories of all tasks, as far as known. Without
/// recorded directories, it is the one in which a declared path is the traced file of that name.
fn base(run: &RunGraph) -> Result<Base<'_>, WorkflowError> {
    let told = || run.tasks.iter().filter_map(|task| task.work_dir.as_deref());
    if let Some(shortest) = told().min_by_key(|dir| dir.len()) {
        let is_in = |dir: &str, other: &str| dir == other || inside(dir, other).is_some();
        let Some(other) = told().find(|dir| !is_in(shortest, dir)) else {
            return Ok(Base { directory: Some(shortest), own: false });
        };
        let mut above = shortest.rfind('/').map_or("", |end| &shortest[..end]);
        while !above.is_empty() && !told().all(|dir| is_in(above, dir)) {
            above = above.rfind('/').map_or("", |end| &above[..end]);
        }
        return match above {
            "" => Err(WorkflowError::Directories(shortest.to_owned(), other.to_owned())),
            above => Ok(Base { directory: Some(above), own: true }),
        };
    }
    let mut bases = BTreeSet::new();
    for flow in &run.flows {
        let Some((writer, _)) = flow.pair() else { continue };
        let path = run.files.get(flow.file);
        let declared = run.tasks[writer as usize].outputs.iter().flatten().map(|file| file.trim_start_matches("./"));
        bases.extend(declared.filter(|file| !file.starts_with('/') && is_at_end(path, file)).map(|file| &path[..path.len() - file.len()]));
    }
    let only = bases.first().filter(|_| bases.len() == 1).map(|base| base.trim_end_matches('/'));
    Ok(Base { directory: only.filter(|base| !base.is_empty()), own: false })
}

/// Returns a path relative to a directory above it.
fn inside<'p>(directory: &str, path: &'p str) -> Option<&'p str> {
    path.strip_prefix(directory.trim_end_matches('/'))?.strip_prefix('/').filter(|rest| !rest.is_empty())
}

fn of_task(task: &RunTask, base: Option<&str>, own: bool) -> WorkflowTask {
    let declared = |files: &Option<Vec<String>>| files.clone().filter(|_| !own).unwrap_or_default();
    let directory = base.zip(task.work_dir.as_deref()).and_then(|(base, dir)| inside(base, dir));
    WorkflowTask {
        name: task.name.clone(),
        activity: task.activity.clone(),
        command: engine_steps::command(task),
        directory: directory.map(str::to_owned),
        inputs: declared(&task.inputs),
        outputs: declared(&task.outputs),
        after: Vec::new(),
    }
}

/// Quotes a word for `sh`: within single quotes, only the closing quote is special.
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Adds a path, unless the list contains it.
fn put(files: &mut Vec<String>, path: &str, base: Option<&str>) {
    if !declares(files, path) {
        files.push(base.and_then(|base| inside(base, path)).unwrap_or(path).to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flowmine_activity_log::{Declared, FileFlow, Rename};

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
            files: ["/w/x"].into_iter().collect(),
            flows: vec![flow],
            ..RunGraph::default()
        }
    }

    #[test]
    fn tasks_come_after_what_they_wait_for() {
        let made = discover(&run()).unwrap();
        let told: Vec<_> =
            made.tasks.iter().map(|task| (task.name.as_str(), task.inputs.len(), task.outputs.clone(), task.after.clone())).collect();
        // The declared x is the traced /w/x; only the trace shows that `first` writes it. If it is
        // not known that both are one file, listing both names keeps the order.
        assert_eq!(told, [("first", 0, vec!["/w/x".to_owned()], vec![]), ("last", 2, vec![], vec![0])]);
    }

    /// `command > x.tmp && mv x.tmp x`: others know the file by its last name.
    #[test]
    fn a_file_is_in_it_by_the_name_by_which_it_was_read() {
        let mut renamed = run();
        renamed.files = ["/w/x.tmp"].into_iter().collect();
        renamed.tasks[1].outputs = Some(vec!["x".to_owned()]);
        renamed.flows[0].first_read_ns = Some(20);
        renamed.renames = vec![Rename { at_ns: 9, from: "/w/x.tmp".to_owned(), to: "/w/x".to_owned() }];
        let made = discover(&renamed).unwrap();
        assert_eq!((&made.tasks[0].outputs[..], &made.tasks[1].inputs[..]), (&["x".to_owned()][..], &["x".to_owned()][..]));
        // A rename after the read does not count.
        renamed.renames[0].at_ns = 25;
        assert!(discover(&renamed).unwrap().tasks[1].inputs.iter().any(|path| path.ends_with("x.tmp")));
    }

    #[test]
    fn a_task_that_only_names_files_is_left_out() {
        let mut named = run();
        let all = RunTask { name: "all".to_owned(), inputs: Some(vec!["y".to_owned()]), outputs: Some(Vec::new()), ..RunTask::default() };
        named.tasks.insert(0, all);
        named.declared = vec![Declared { from: 1, to: 0, for_start: false }, Declared { from: 2, to: 1, for_start: false }];
        (named.flows[0].writer, named.flows[0].reader) = (2, 1);
        let made = discover(&named).unwrap();
        assert_eq!(
            made.tasks.iter().map(|task| (task.name.as_str(), &task.after[..])).collect::<Vec<_>>(),
            [("first", &[][..]), ("last", &[0])]
        );
        named.tasks[0].traced = true;
        assert!(matches!(discover(&named), Err(WorkflowError::NoCommand { count: 1, .. })));
    }

    #[test]
    fn what_would_do_something_else_is_refused() {
        let mut untold = run();
        untold.tasks[1].command = None;
        assert!(matches!(discover(&untold), Err(WorkflowError::NoCommand { count: 1, .. })));
        untold.noun = "job";
        let refused = discover(&untold).unwrap_err();
        assert!(matches!(refused, WorkflowError::NoScript { count: 1, .. }) && refused.to_string().contains("--wrap"), "{refused}");
        let mut beside = run();
        beside.tasks[0].started_ns = Some(5);
        assert!(matches!(discover(&beside), Err(WorkflowError::Beside { .. })));
        let mut circle = run();
        circle.declared.push(Declared { from: 0, to: 1, for_start: false });
        assert_eq!(discover(&circle), Err(WorkflowError::Circular(2)));
        let mut apart = run();
        apart.tasks[0].work_dir = Some("/a".to_owned());
        apart.tasks[1].work_dir = Some("/b".to_owned());
        assert!(matches!(discover(&apart), Err(WorkflowError::Directories(..))));
        apart.tasks[0].work_dir = Some("/bb".to_owned());
        apart.tasks[1].work_dir = Some("/b".to_owned());
        assert!(matches!(discover(&apart), Err(WorkflowError::Directories(..))));
    }

    #[test]
    fn commands_that_name_the_directory_are_found() {
        let names = |command: &str| {
            let task = WorkflowTask { command: command.to_owned(), ..WorkflowTask::default() };
            Workflow { directory: Some("/w/d".to_owned()), tasks: vec![task], ..Workflow::default() }.bound_to_directory().len() == 1
        };
        for command in ["cp /w/d/x y", "sort -o '/w/d/b'", "ls /w/d", "tool --in=/w/d/x", "PATH=/b:/w/d x"] {
            assert!(names(command), "{command}");
        }
        for command in ["cp /w/dd/x y", "cp /v/w/d/x y", "cp x /w/d.txt"] {
            assert!(!names(command), "{command}");
        }
    }

    #[test]
    fn paths_are_written_from_where_the_workflow_runs() {
        let mut below = run();
        below.tasks[0].inputs = None;
        below.tasks[0].work_dir = Some("/w/in side".to_owned());
        below.tasks[1].work_dir = Some("/w".to_owned());
        // A file that no task read is an output of a task without other outputs, and only in the
        // workflow's directory.
        for path in ["/w/in side/y", "/tmp/z"] {
            below.files.push(path);
        }
        for file in [1, 2] {
            below.flows.push(FileFlow { file, writer: 0, reader: NONE, ..below.flows[0] });
        }
        below.flows.push(FileFlow { file: 1, writer: 1, reader: NONE, ..below.flows[0] });
        let made = discover(&below).unwrap();
        let last = &made.tasks[1];
        assert_eq!(
            (&made.tasks[0].outputs[..], &last.inputs[..], &last.outputs[..]),
            (&["x".to_owned()][..], &["x".to_owned()][..], &["in side/y".to_owned()][..])
        );
        assert_eq!((last.directory.as_deref(), made.tasks[0].directory.as_deref()), (Some("in side"), None));
        // A dependency without data.
        let mut order = run();
        order.flows.clear();
        order.tasks[1].outputs = Some(vec!["told".to_owned()]);
        order.declared = vec![Declared { from: 1, to: 0, for_start: false }];
        assert_eq!(discover(&order).unwrap().tasks[1].inputs, ["x", "told"]);
        // Separate directories: declared paths are relative to them.
        let mut beside = run();
        beside.tasks[0].work_dir = Some("/w/ab/1".to_owned());
        beside.tasks[1].work_dir = Some("/w/ab/23".to_owned());
        beside.files = ["/w/ab/23/x"].into_iter().collect();
        let made = discover(&beside).unwrap();
        assert_eq!((made.directory.as_deref(), made.tasks[1].directory.as_deref()), (Some("/w/ab"), Some("1")));
        assert_eq!((&made.tasks[0].outputs[..], &made.tasks[1].inputs[..]), (&["23/x".to_owned()][..], &["23/x".to_owned()][..]));
        // Without recorded directories, a declared file determines the directory.
        let mut declared = run();
        declared.tasks[1].outputs = Some(vec!["./x".to_owned()]);
        declared.files.push("/w/sub/u");
        declared.flows.push(FileFlow { file: 1, ..declared.flows[0] });
        assert_eq!(discover(&declared).unwrap().tasks[1].inputs, ["x", "sub/u"]);
    }
}

//! A run as a workflow that can be run again: what each task executes, what it reads and writes,
//! and what it waits for.
//!
//! In goes a run as a graph; out come tasks in an order in which they can run. A task waits for
//! what it was declared to wait for and for those whose files it read; to the declared files come
//! those that were traced on their way from task to task. Where it waits for another and read
//! nothing of it, the other's first output is named as an input too.
//!
//! The workflow runs in one directory, in which all its tasks ran or below which: paths in it are
//! written from there, and a task that ran below goes there first. Where tasks ran beside each
//! other in directories of their own (Nextflow's), it is the one that has them all, and only files
//! that were traced are known, as the names that are declared hold in those directories. A task of
//! which nobody declares an output has as such the files in it that it wrote and nobody read. A
//! task that executes and makes nothing, and only names files (Snakemake's `all`), is not in it.
//!
//! A file that was given another name after it was written is in it by the name by which it was read.
//!
//! Of a traced script the commands are what its processes executed. Redirections, pipes and what the
//! shell itself writes are not among them: where the trace shows such, the script is refused. Its
//! commands keep the order of the trace. What was there before the run and was changed is named, as
//! engines of files take what has an output's name for a result.
//!
//! What is refused, because the written workflow would do something else: tasks without a command,
//! tasks that ran beside those whose files they read (a pipe), dependencies in a circle, and tasks
//! that ran in directories with nothing in common.

mod engine_steps;
mod script_order;
mod texts;

use std::collections::BTreeSet;

use flowmine_activity_log::{FileFlow, NONE, RunGraph, RunTask};

use crate::check::{declares, is_at_end};
use crate::precedence::{Edge, Network};

/// Why a run cannot be written as a workflow.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// What was executed is not known.
    #[error(
        "what {count} of its tasks executed is not known, such as {task:?}: give the engine's metadata or verbose log too, or trace the run"
    )]
    NoCommand {
        /// Number of tasks whose command is not known.
        count: usize,
        /// Name of one of these tasks.
        task: String,
    },
    /// What a job executed is not known.
    #[error(
        "what {count} of the jobs executed is not known, such as {job:?}: Slurm does not tell what `sbatch --wrap` or standard input gave, and what a task of an array does \
         depends on its number; submit scripts, one job each, or choose a run of a workflow engine with --run"
    )]
    NoScript {
        /// Number of jobs whose command is not known.
        count: usize,
        /// Name of one of these jobs.
        job: String,
    },
    /// A task read what another was still writing.
    #[error(
        "{reader:?} read what {writer:?} was still writing: what runs side by side cannot be written as tasks that wait for each other's end"
    )]
    Beside {
        /// Name of the task that was still writing.
        writer: String,
        /// Name of the task that read at the same time.
        reader: String,
    },
    /// Dependencies go in a circle.
    #[error("{0} dependencies go in a circle: no order of the tasks keeps them")]
    Circular(u64),
    /// There is more than one work directory.
    #[error("its tasks ran in directories with nothing in common, such as {0:?} and {1:?}: the commands would not find their files in one")]
    Directories(String, String),
    /// The trace shows that the command of a task is not all of it.
    #[error(
        "the command line of {task:?} is not all of its command: the trace shows {what}; run the script by a workflow engine, which records its commands"
    )]
    Incomplete {
        /// Name of the task.
        task: String,
        /// What is missing.
        what: String,
    },
    /// The trace shows that the script did more than its commands.
    #[error("the script did more than its commands: it {what}; run the script by a workflow engine, which records its commands")]
    Script {
        /// What the script did itself.
        what: String,
    },
    /// A command failed, and the script went on.
    #[error("{task:?} failed in the run: a workflow would end there, whatever the script did")]
    Failed {
        /// Name of the task.
        task: String,
    },
    /// An output is no plain file.
    #[error(
        "{task:?} makes {path:?}, which the engine's log marks as {kind:?}: no plain file passes from task to task there, and a workflow has no other"
    )]
    Special {
        /// Name of the task.
        task: String,
        /// Path of the output.
        path: String,
        /// What the engine calls it.
        kind: String,
    },
    /// A command or a path has bytes that no text has.
    #[error(
        "{what} {task:?} has bytes that are not UTF-8, {text:?}: no language of workflows can hold them; rename the files or convert the text"
    )]
    NotText {
        /// What of the task it is.
        what: &'static str,
        /// Name of the task.
        task: String,
        /// The text, with `\\xNN` for each such byte.
        text: String,
    },
    /// A command of a script is not known to have run from one time to another.
    #[error("when {task:?} began and ended is not known, so neither is its order: it still ran when the trace ended, or its end was lost")]
    Unended {
        /// Name of the task.
        task: String,
    },
    /// Two commands of a script ran at the same time and used what one of them changed.
    #[error("{one:?} and {other:?} ran at the same time, and {one:?} changed {path:?}, which the other used: no order of the two is known")]
    AtOnce {
        /// Name of the task that changed it.
        one: String,
        /// Name of the other task.
        other: String,
        /// The path that was changed.
        path: String,
    },
    /// Somebody waits for a task that is not known.
    #[error("{0} dependencies are on tasks that no row describes")]
    UnknownParents(u64),
}

/// A workflow that does again what a run did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Workflow {
    /// The run of which it is made.
    pub run: String,
    /// The directory from which its paths and commands are written; `None` where it is not known.
    pub directory: Option<String>,
    /// Its tasks, each after those that it waits for.
    pub tasks: Vec<SpecTask>,
    /// Tasks that were not run because an earlier result was taken; they are in it.
    pub cached: u64,
    /// Tasks that were attempted more than once.
    pub retried: u64,
    /// Whether its commands are those of Snakemake, whose log does not record all that is around them.
    pub of_snakemake: bool,
    /// Outputs that a later task removed or gave another name.
    pub removed: BTreeSet<String>,
    /// Paths of files that were there before the run, and that a task changed.
    pub was_there: BTreeSet<String>,
    /// Whether its commands are those of a traced script, of whose shell the trace records no state.
    pub of_script: bool,
    /// Number of a script's commands that wait for one of which they read no file.
    pub in_order_of_trace: usize,
    /// Number of a script's commands that ran at the same time as another.
    pub at_once: usize,
    /// What may be missing, each with the name of its task.
    pub doubts: Vec<(String, String)>,
    /// What may be missing of a task that is not known.
    pub doubts_of_script: Vec<String>,
}

impl Workflow {
    /// Tasks whose commands name paths in the workflow's directory from the root: they mean that
    /// directory wherever the workflow runs.
    pub fn bound_to_directory(&self) -> Vec<&SpecTask> {
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

/// A task of a workflow: what it executes, and what it waits for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SpecTask {
    /// Its name in the run.
    pub name: String,
    /// Name of the activity of which it is an instance.
    pub activity: String,
    /// The command, as `sh` executes it.
    pub command: String,
    /// The directory below the workflow's in which it does; `None` for that itself.
    pub directory: Option<String>,
    /// Paths of the files that it reads: declared ones as they were declared, traced ones relative
    /// to [`Workflow::directory`] where they lie in it.
    pub inputs: Vec<String>,
    /// Paths of the files that it writes, of the same form as `inputs`.
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
        return Err(SpecError::Circular(circular));
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
    let Base { directory: base, own } = base(run)?;
    made.directory = base.map(str::to_owned);
    made.tasks = order.iter().map(|&at| of_task(&run.tasks[at as usize], base, own)).collect();
    for &(from, to) in &pairs {
        made.tasks[place[to as usize]].after.push(place[from as usize]);
    }
    for flow in &run.flows {
        let Some((writer, reader)) = flow.pair() else { continue };
        let (path, renamed) = name_of(run, flow);
        // Who gave a file the name that it is declared to make has made it.
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

/// The name by which a file was read, or which it has at the end, and whether it was written under
/// another.
fn name_of<'r>(run: &'r RunGraph, flow: &FileFlow) -> (&'r str, bool) {
    let written = run.files.get(flow.file);
    let since = flow.first_write_ns.unwrap_or(i64::MIN);
    let until = flow.first_read_ns.filter(|_| flow.reader != NONE).unwrap_or(i64::MAX);
    // Who renames a file knows it by the name that it had until then.
    let then = run.renames.iter().filter(|rename| (since..until).contains(&rename.at_ns));
    let name = then.fold(written, |name, rename| if rename.from == name { &rename.to } else { name });
    (name, name != written)
}

/// Who waits for another without reading a file of it names one: engines of files know it by that.
fn wait_by_files(tasks: &mut [SpecTask]) {
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

fn refuse(run: &RunGraph) -> Result<(), SpecError> {
    if let Some((task, what)) = run.tasks.iter().find_map(|task| Some((task, task.missing.first()?))) {
        return Err(SpecError::Incomplete { task: task.name.clone(), what: what.clone() });
    }
    if let Some(what) = run.missing.first() {
        return Err(SpecError::Script { what: what.clone() });
    }
    if let Some(task) = run.tasks.iter().find(|task| task.process.is_some() && task.failed) {
        return Err(SpecError::Failed { task: task.name.clone() });
    }
    run.tasks.iter().try_for_each(engine_steps::refuse)?;
    let without: Vec<&RunTask> = run.tasks.iter().filter(|task| task.command.is_none() && !names_files(task)).collect();
    if let Some(job) = without.first().filter(|_| run.noun == "job") {
        return Err(SpecError::NoScript { count: without.len(), job: job.name.clone() });
    }
    if let Some(task) = without.first() {
        return Err(SpecError::NoCommand { count: without.len(), task: task.name.clone() });
    }
    if run.unknown_parents > 0 {
        return Err(SpecError::UnknownParents(run.unknown_parents));
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

/// Whether a task does nothing but to name files that others make.
fn names_files(task: &RunTask) -> bool {
    let makes_none = task.outputs.as_ref().is_some_and(Vec::is_empty);
    task.command.is_none() && !task.traced && makes_none && task.inputs.as_ref().is_some_and(|inputs| !inputs.is_empty())
}

/// The directory in which a workflow runs.
#[derive(Clone, Copy)]
struct Base<'r> {
    directory: Option<&'r str>,
    /// Whether its tasks ran beside each other, each in a directory of its own.
    own: bool,
}

/// The directory in which all tasks ran or below which, as far as that is known: where nobody
/// says, the one from which a declared file is the file of this name that was traced.
fn base(run: &RunGraph) -> Result<Base<'_>, SpecError> {
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
            "" => Err(SpecError::Directories(shortest.to_owned(), other.to_owned())),
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

/// The path as it is written in a directory above it.
fn inside<'p>(directory: &str, path: &'p str) -> Option<&'p str> {
    path.strip_prefix(directory.trim_end_matches('/'))?.strip_prefix('/').filter(|rest| !rest.is_empty())
}

fn of_task(task: &RunTask, base: Option<&str>, own: bool) -> SpecTask {
    let declared = |files: &Option<Vec<String>>| files.clone().filter(|_| !own).unwrap_or_default();
    let directory = base.zip(task.work_dir.as_deref()).and_then(|(base, dir)| inside(base, dir));
    SpecTask {
        name: task.name.clone(),
        activity: task.activity.clone(),
        command: engine_steps::command(task),
        directory: directory.map(str::to_owned),
        inputs: declared(&task.inputs),
        outputs: declared(&task.outputs),
        after: Vec::new(),
    }
}

/// A word of `sh`: within single quotes nothing but their end means anything.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Adds a path, unless the list has it.
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
        // The declared x is the traced /w/x; that first writes it only the trace shows. Where nobody knows that
        // they are one file, the order is kept by naming it both ways.
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
        // What it is called after it was read is another's matter.
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
        assert!(matches!(discover(&named), Err(SpecError::NoCommand { count: 1, .. })));
    }

    #[test]
    fn what_would_do_something_else_is_refused() {
        let mut untold = run();
        untold.tasks[1].command = None;
        assert!(matches!(discover(&untold), Err(SpecError::NoCommand { count: 1, .. })));
        untold.noun = "job";
        let refused = discover(&untold).unwrap_err();
        assert!(matches!(refused, SpecError::NoScript { count: 1, .. }) && refused.to_string().contains("--wrap"), "{refused}");
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
        apart.tasks[0].work_dir = Some("/bb".to_owned());
        apart.tasks[1].work_dir = Some("/b".to_owned());
        assert!(matches!(discover(&apart), Err(SpecError::Directories(..))));
    }

    #[test]
    fn commands_that_name_the_directory_are_found() {
        let names = |command: &str| {
            let task = SpecTask { command: command.to_owned(), ..SpecTask::default() };
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
        // What nobody read is an output of a task that has no other, and only where the workflow runs.
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
        // Directories beside each other: what is declared holds in them.
        let mut beside = run();
        beside.tasks[0].work_dir = Some("/w/ab/1".to_owned());
        beside.tasks[1].work_dir = Some("/w/ab/23".to_owned());
        beside.files = ["/w/ab/23/x"].into_iter().collect();
        let made = discover(&beside).unwrap();
        assert_eq!((made.directory.as_deref(), made.tasks[1].directory.as_deref()), (Some("/w/ab"), Some("1")));
        assert_eq!((&made.tasks[0].outputs[..], &made.tasks[1].inputs[..]), (&["23/x".to_owned()][..], &["23/x".to_owned()][..]));
        // Where nobody declares directories a declared file does.
        let mut declared = run();
        declared.tasks[1].outputs = Some(vec!["./x".to_owned()]);
        declared.files.push("/w/sub/u");
        declared.flows.push(FileFlow { file: 1, ..declared.flows[0] });
        assert_eq!(discover(&declared).unwrap().tasks[1].inputs, ["x", "sub/u"]);
    }
}

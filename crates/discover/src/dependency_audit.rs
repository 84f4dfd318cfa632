//! Comparison of a workflow's declarations with the traced data flow: dependencies, inputs and
//! outputs.
//!
//! In goes a run as a graph; out come findings, each with its evidence. A task waits for another if
//! that is declared, directly or through other tasks. Only traced tasks are judged: a task without
//! a trace is in no finding about something that it did not do.
//!
//! Not judged are declared files that are patterns, and undeclared files that existed before the
//! trace began.

use std::collections::{BTreeMap, BTreeSet};

use flowmine_activity_log::{FileFlow, NONE, RunGraph, RunTask};
use rustc_hash::{FxHashMap, FxHashSet};
use schemars::JsonSchema;
use serde::Serialize;

use crate::who::Who;

/// Kind of finding of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckKind {
    /// A task read the output of another and is not declared to wait for it.
    MissingDependency,
    /// Two tasks wrote the same path and neither waits for the other.
    WrittenTwice,
    /// A task is declared to wait for one from which it had no data, directly or through others,
    /// and with which it shares no file that one of them wrote.
    NeedlessDependency,
    /// A task read the output of another, and the file is not a declared input.
    UndeclaredInput,
    /// A task wrote a file that another read, and the file is not a declared output.
    UndeclaredOutput,
    /// A file was written, is not a declared output, and was not read by any task.
    NeverRead,
}

impl CheckKind {
    /// Returns its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::MissingDependency => "missing_dependency",
            Self::WrittenTwice => "written_twice",
            Self::NeedlessDependency => "needless_dependency",
            Self::UndeclaredInput => "undeclared_input",
            Self::UndeclaredOutput => "undeclared_output",
            Self::NeverRead => "never_read",
        }
    }

    /// Returns advice on a finding of this kind, as sentences.
    pub fn advice(self) -> &'static str {
        match self {
            Self::MissingDependency => {
                "Declare the dependency (or the file as output of the one and input of the other): today the order is luck."
            }
            Self::WrittenTwice => {
                "Give each task a file of its own, or declare their order: the content of the file depends on which task writes last."
            }
            Self::NeedlessDependency => {
                "Leave the dependency out if nothing but files passes between the two: then the task can start earlier."
            }
            Self::UndeclaredInput => {
                "Declare the file as an input: else it is neither staged in, nor does a change of it make the task run again."
            }
            Self::UndeclaredOutput => "Declare the file as an output: else it is neither staged out nor known to be missing.",
            Self::NeverRead => "Do not write the file, or delete it in the task, or declare it as an output if it is needed.",
        }
    }
}

/// A difference between declarations and trace.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Finding {
    /// Kind of finding.
    pub kind: CheckKind,
    /// The task that wrote, or is waited for.
    pub first: Option<String>,
    /// Name of the activity of the first task.
    pub first_activity: Option<String>,
    /// Identity of the first task.
    pub first_who: Option<Who>,
    /// The task that read, waits, or wrote too.
    pub second: Option<String>,
    /// Name of the activity of the second task.
    pub second_activity: Option<String>,
    /// Identity of the second task.
    pub second_who: Option<Who>,
    /// The file of the finding; of several, the one with most bytes.
    pub path: Option<String>,
    /// Number of files that the finding is about.
    pub files: u64,
    /// Bytes that passed from the one task to the other, or were written, in these files.
    pub bytes: i64,
    /// Time from the writer's last write to the reader's first read for a missing dependency, the
    /// shortest of all files, in nanoseconds. Negative if the task read before all was written.
    pub margin_ns: Option<i64>,
    /// Time by which the task could have been ready earlier without a needless dependency, in
    /// nanoseconds. Null if times are not known.
    pub cost_ns: Option<i64>,
    /// Whether the order of writing and reading is uncertain, because clocks differ.
    pub doubtful: bool,
}

/// Findings of the check of one run, with its coverage.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Check {
    /// Name of the run.
    pub run: String,
    /// Word for its nodes: `task` or `job`.
    pub noun: &'static str,
    /// Number of tasks (or jobs) in the run.
    pub tasks: u64,
    /// Number of tasks without a trace, except those with a reused result.
    pub not_traced: u64,
    /// Number of tasks without declared dependencies.
    pub without_parents: u64,
    /// Number of tasks without declared inputs and outputs.
    pub without_files: u64,
    /// Number of tasks with patterns as declared files, which are not compared.
    pub with_patterns: u64,
    /// Number of dependencies that the run declares.
    pub declared: u64,
    /// Number of pairs of tasks in which one read the output of the other.
    pub traced: u64,
    /// Number of dependencies on tasks without a row.
    pub unknown_parents: u64,
    /// Number of pairs of tasks that are in order because one was submitted after the end of the
    /// other.
    pub ordered_by_submission: u64,
    /// The findings, ordered by kind, then by their tasks.
    pub findings: Vec<Finding>,
}

/// Compares the declarations of a run with its trace.
pub fn discover(run: &RunGraph) -> Check {
    let count = |is: &dyn Fn(&RunTask) -> bool| run.tasks.iter().filter(|task| is(task)).count() as u64;
    let mut found = Check {
        run: run.name.clone(),
        noun: run.noun,
        tasks: run.tasks.len() as u64,
        not_traced: count(&|task| !task.traced && !task.cached),
        without_parents: count(&|task| !task.parents_known),
        without_files: count(&|task| task.inputs.is_none() && task.outputs.is_none()),
        with_patterns: count(&|task| [&task.inputs, &task.outputs].into_iter().flatten().flatten().any(|path| is_pattern(path))),
        declared: run.declared.len() as u64,
        unknown_parents: run.unknown_parents,
        ..Check::default()
    };
    let pairs = Pairs::of(run);
    found.traced = pairs.0.len() as u64;
    let mut ancestors = Ancestors::new(run);
    missing(run, &pairs, &mut ancestors, &mut found);
    needless(run, &pairs, &mut found.findings);
    files(run, &mut ancestors, &mut found.findings);
    found.findings.sort_by(|a, b| {
        let key = |of: &Finding| (of.kind, of.first.clone(), of.second.clone(), of.path.clone());
        key(a).cmp(&key(b))
    });
    found
}

/// Data that passed from one task to another.
#[derive(Debug, Default)]
struct Passed {
    files: BTreeSet<u32>,
    bytes: i64,
    /// Bytes and number of the file with most bytes passed.
    most: Option<(i64, u32)>,
    margin_ns: Option<i64>,
    doubtful: bool,
}

/// Data that passed between each pair of tasks (writer, reader).
struct Pairs(BTreeMap<(u32, u32), Passed>);

impl Pairs {
    fn of(run: &RunGraph) -> Self {
        let mut pairs: BTreeMap<(u32, u32), Passed> = BTreeMap::new();
        for flow in &run.flows {
            let Some(pair) = flow.pair() else { continue };
            pairs.entry(pair).or_default().add(flow);
        }
        Self(pairs)
    }
}

impl Passed {
    fn add(&mut self, flow: &FileFlow) {
        self.files.insert(flow.file);
        flowmine_sums::add_to(&mut self.bytes, flow.read_bytes);
        if self.most.is_none_or(|(bytes, _)| flow.read_bytes > bytes) {
            self.most = Some((flow.read_bytes, flow.file));
        }
        if let Some((written, read)) = flow.last_write_ns.zip(flow.first_read_ns) {
            let margin = read.saturating_sub(written);
            self.margin_ns = Some(self.margin_ns.map_or(margin, |known| known.min(margin)));
        }
        self.doubtful |= flow.doubtful;
    }
}

/// Declared dependencies, direct and indirect.
struct Ancestors<'r> {
    parents: Parents<'r>,
    of: u32,
    known: FxHashSet<u32>,
}

/// Declared dependencies of each task.
struct Parents<'r> {
    edges: &'r [flowmine_activity_log::Declared],
    by_child: FxHashMap<u32, Vec<u32>>,
}

impl<'r> Ancestors<'r> {
    fn new(run: &'r RunGraph) -> Self {
        let mut by_child: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for (at, edge) in run.declared.iter().enumerate() {
            by_child.entry(edge.to).or_default().push(at as u32);
        }
        Self { parents: Parents { edges: &run.declared, by_child }, of: NONE, known: FxHashSet::default() }
    }

    /// Returns whether `of` waits for `other`. Consecutive calls for the same task share one walk.
    fn contain(&mut self, of: u32, other: u32) -> bool {
        if self.of != of {
            self.of = of;
            self.known.clear();
            let mut open = vec![of];
            while let Some(at) = open.pop() {
                for edge in self.parents.by_child.get(&at).into_iter().flatten() {
                    let from = self.parents.edges[*edge as usize].from;
                    if self.known.insert(from) {
                        open.push(from);
                    }
                }
            }
        }
        self.known.contains(&other)
    }
}

fn finding(run: &RunGraph, kind: CheckKind, first: u32, second: u32) -> Finding {
    let task = |at: u32| run.tasks.get(at as usize);
    Finding {
        kind,
        first: task(first).map(|task| task.name.clone()),
        first_activity: task(first).map(|task| task.activity.clone()),
        first_who: task(first).map(|task| Who::of_task(run, task)),
        second: task(second).map(|task| task.name.clone()),
        second_activity: task(second).map(|task| task.activity.clone()),
        second_who: task(second).map(|task| Who::of_task(run, task)),
        path: None,
        files: 0,
        bytes: 0,
        margin_ns: None,
        cost_ns: None,
        doubtful: false,
    }
}

fn path(run: &RunGraph, file: u32) -> Option<String> {
    Some(run.files.get(file)).filter(|path| !path.is_empty()).map(str::to_owned)
}

/// Finds data that passed between tasks without a declared dependency.
fn missing(run: &RunGraph, pairs: &Pairs, ancestors: &mut Ancestors<'_>, all: &mut Check) {
    // Reader by reader, so that the ancestors of each are walked once.
    let mut by_reader: Vec<(&(u32, u32), &Passed)> = pairs.0.iter().collect();
    by_reader.sort_by_key(|((writer, reader), _)| (*reader, *writer));
    for (&(writer, reader), passed) in by_reader {
        if !run.tasks[reader as usize].parents_known || ancestors.contain(reader, writer) {
            continue;
        }
        if in_order_of_submission(run, writer, reader) {
            all.ordered_by_submission += 1;
            continue;
        }
        let mut found = finding(run, CheckKind::MissingDependency, writer, reader);
        found.path = passed.most.and_then(|(_, file)| path(run, file));
        found.files = passed.files.len() as u64;
        found.bytes = passed.bytes;
        found.margin_ns = passed.margin_ns;
        found.doubtful = passed.doubtful;
        all.findings.push(found);
    }
}

/// Returns whether the second task was submitted after the end of the first, by a submitter that
/// may have waited for it.
fn in_order_of_submission(run: &RunGraph, first: u32, second: u32) -> bool {
    let (first, second) = (&run.tasks[first as usize], &run.tasks[second as usize]);
    run.submission_orders && first.finished_ns.zip(second.first_ns).is_some_and(|(end, submitted)| submitted >= end)
}

/// Finds declared dependencies over which no data passed.
fn needless(run: &RunGraph, pairs: &Pairs, findings: &mut Vec<Finding>) {
    let mut gave: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    for &(writer, reader) in pairs.0.keys() {
        gave.entry(reader).or_default().push(writer);
    }
    let mut parents: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    for edge in run.declared.iter().filter(|edge| !edge.for_start) {
        parents.entry(edge.to).or_default().push(edge.from);
    }
    let touched = Touched::new(run);
    let mut children: Vec<u32> = parents.keys().copied().collect();
    children.sort_unstable();
    for child in children {
        let of = &run.tasks[child as usize];
        if !of.traced {
            continue;
        }
        let parents = &parents[&child];
        let givers = all_givers(child, &gave);
        let ended = |task: u32| run.tasks[task as usize].finished_ns;
        let is_needed =
            |parent: u32| givers.contains(&parent) || !run.tasks[parent as usize].traced || touched.share_a_written_file(parent, child);
        let ready = parents.iter().copied().filter(|parent| is_needed(*parent)).filter_map(ended).max();
        for &parent in parents {
            let before = &run.tasks[parent as usize];
            if is_needed(parent) {
                continue;
            }
            let mut found = finding(run, CheckKind::NeedlessDependency, parent, child);
            found.cost_ns = before.finished_ns.map(|end| {
                let without = ready.or(of.first_ns.filter(|first| *first <= end)).unwrap_or(before.started_ns.unwrap_or(end));
                end.saturating_sub(without).max(0)
            });
            findings.push(found);
        }
    }
}

/// Files of each task, and whether it wrote them: the order of two tasks matters if one writes a
/// file of the other.
struct Touched(FxHashMap<u32, BTreeMap<u32, bool>>);

impl Touched {
    fn new(run: &RunGraph) -> Self {
        let mut touched: FxHashMap<u32, BTreeMap<u32, bool>> = FxHashMap::default();
        for flow in &run.flows {
            for (task, wrote) in [(flow.writer, true), (flow.reader, false)] {
                if task != NONE {
                    *touched.entry(task).or_default().entry(flow.file).or_default() |= wrote;
                }
            }
        }
        Self(touched)
    }

    fn share_a_written_file(&self, a: u32, b: u32) -> bool {
        let (Some(a), Some(b)) = (self.0.get(&a), self.0.get(&b)) else { return false };
        let (few, many) = if a.len() < b.len() { (a, b) } else { (b, a) };
        few.iter().any(|(file, wrote)| many.get(file).is_some_and(|also| *wrote || *also))
    }
}

/// Returns all tasks from which a task has data, directly or indirectly.
fn all_givers(task: u32, gave: &FxHashMap<u32, Vec<u32>>) -> FxHashSet<u32> {
    let mut known = FxHashSet::default();
    let mut open = vec![task];
    while let Some(at) = open.pop() {
        for &giver in gave.get(&at).into_iter().flatten() {
            if known.insert(giver) {
                open.push(giver);
            }
        }
    }
    known
}

/// Finds differences of single files.
fn files(run: &RunGraph, ancestors: &mut Ancestors<'_>, findings: &mut Vec<Finding>) {
    undeclared(run, findings);
    never_read(run, findings);
    written_twice(run, ancestors, findings);
}

fn undeclared(run: &RunGraph, findings: &mut Vec<Finding>) {
    let mut inputs: BTreeMap<(u32, u32), (u32, i64)> = BTreeMap::new();
    let mut outputs: BTreeMap<(u32, u32), (u32, i64)> = BTreeMap::new();
    for flow in &run.flows {
        let Some((writer, reader)) = flow.pair() else { continue };
        let path = run.files.get(flow.file);
        if run.tasks[reader as usize].inputs.as_deref().is_some_and(|declared| !declares(declared, path)) {
            let (_, bytes) = inputs.entry((reader, flow.file)).or_insert((writer, 0));
            flowmine_sums::add_to(bytes, flow.read_bytes);
        }
        if run.tasks[writer as usize].outputs.as_deref().is_some_and(|declared| !declares(declared, path)) {
            let (_, bytes) = outputs.entry((writer, flow.file)).or_insert((reader, 0));
            *bytes = (*bytes).max(flow.written_bytes);
        }
    }
    for ((reader, file), (writer, bytes)) in inputs {
        findings.push(Finding { path: path(run, file), files: 1, bytes, ..finding(run, CheckKind::UndeclaredInput, writer, reader) });
    }
    for ((writer, file), (reader, bytes)) in outputs {
        findings.push(Finding { path: path(run, file), files: 1, bytes, ..finding(run, CheckKind::UndeclaredOutput, writer, reader) });
    }
}

/// Finds versions without a reader, of tasks with declared outputs.
fn never_read(run: &RunGraph, findings: &mut Vec<Finding>) {
    let mut read: FxHashSet<u64> = FxHashSet::default();
    read.extend(run.flows.iter().filter(|flow| flow.reader != NONE || flow.read_outside).map(|flow| flow.version));
    let mut unread: BTreeMap<(u32, u32), i64> = BTreeMap::new();
    for flow in &run.flows {
        let Some(task) = run.tasks.get(flow.writer as usize) else { continue };
        let path = run.files.get(flow.file);
        let declared = task.outputs.as_deref().is_none_or(|declared| declares(declared, path));
        if !declared && flow.written_bytes > 0 && !read.contains(&flow.version) {
            let bytes = unread.entry((flow.writer, flow.file)).or_default();
            flowmine_sums::add_to(bytes, flow.written_bytes);
        }
    }
    for ((writer, file), bytes) in unread {
        findings.push(Finding { path: path(run, file), files: 1, bytes, ..finding(run, CheckKind::NeverRead, writer, NONE) });
    }
}

/// Finds paths that several tasks wrote without waiting for each other.
fn written_twice(run: &RunGraph, ancestors: &mut Ancestors<'_>, findings: &mut Vec<Finding>) {
    let mut writers: BTreeMap<u32, BTreeMap<u32, i64>> = BTreeMap::new();
    for flow in run.flows.iter().filter(|flow| flow.writer != NONE && flow.written_bytes > 0) {
        let bytes = writers.entry(flow.file).or_default().entry(flow.writer).or_default();
        *bytes = (*bytes).max(flow.written_bytes);
    }
    for (file, writers) in writers {
        // In the order of writing: only neighbours are compared, so that a hundred writers need a
        // hundred comparisons.
        let mut order: Vec<(u32, i64)> = writers.into_iter().collect();
        order.sort_by_key(|(task, _)| (run.tasks[*task as usize].started_ns, *task));
        for pair in order.windows(2) {
            let &[(first, _), (second, bytes)] = pair else { continue };
            let known = run.tasks[first as usize].parents_known && run.tasks[second as usize].parents_known;
            let in_order = in_order_of_submission(run, first, second) || in_order_of_submission(run, second, first);
            if known && !in_order && !ancestors.contain(second, first) && !ancestors.contain(first, second) {
                findings.push(Finding { path: path(run, file), files: 1, bytes, ..finding(run, CheckKind::WrittenTwice, first, second) });
            }
        }
    }
}

fn is_pattern(path: &str) -> bool {
    path.contains(['*', '?', '[', '{'])
}

/// Returns whether a list of declared files contains this path: the path, its end, or a directory
/// above it. A list with a pattern contains every path, because the files of the pattern are not
/// known.
pub(crate) fn declares(declared: &[String], path: &str) -> bool {
    declared.iter().any(|one| {
        let one = one.trim_start_matches("./").trim_end_matches('/');
        is_pattern(one) || is_at_end(path, one) || holds(one, path)
    })
}

/// Returns whether a path ends with these names.
pub(crate) fn is_at_end(path: &str, end: &str) -> bool {
    path.strip_suffix(end).is_some_and(|before| before.is_empty() || before.ends_with('/') || end.starts_with('/'))
}

/// Returns whether `directory`, absolute or not, is above `path`.
fn holds(directory: &str, path: &str) -> bool {
    if directory.is_empty() {
        return false;
    }
    let inner = format!("{directory}/");
    if directory.starts_with('/') { path.starts_with(&inner) } else { path.starts_with(&inner) || path.contains(&format!("/{inner}")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flowmine_activity_log::Declared;

    /// Tasks a, b, c, … that ran one after another for a second, all traced, all with declared
    /// parents.
    fn run(tasks: usize, declared: &[(u32, u32)]) -> RunGraph {
        let task = |at: usize| RunTask {
            name: char::from(b'a' + at as u8).to_string(),
            activity: "work".to_owned(),
            attempts: 1,
            first_ns: Some(at as i64 * 1000),
            started_ns: Some(at as i64 * 1000),
            finished_ns: Some(at as i64 * 1000 + 900),
            parents_known: true,
            traced: true,
            ..RunTask::default()
        };
        let edge = |&(from, to)| Declared { from, to, for_start: false };
        RunGraph {
            noun: "task",
            tasks: (0..tasks).map(task).collect(),
            declared: declared.iter().map(edge).collect(),
            ..RunGraph::default()
        }
    }

    fn flow(run: &mut RunGraph, path: &str, writer: u32, reader: u32) {
        let file = run.files.find(path).unwrap_or_else(|| run.files.push(path));
        run.flows.push(FileFlow {
            file,
            version: run.flows.len() as u64,
            writer,
            was_there: writer == NONE,
            reader,
            read_outside: false,
            written_bytes: if writer == NONE { 0 } else { 10 },
            read_bytes: if reader == NONE { 0 } else { 10 },
            last_write_ns: Some(500),
            first_read_ns: Some(700),
            ..FileFlow::default()
        });
    }

    fn found(run: &RunGraph) -> Vec<(CheckKind, String)> {
        let words = |of: &Finding| format!("{}-{}", of.first.as_deref().unwrap_or(""), of.second.as_deref().unwrap_or(""));
        discover(run).findings.iter().map(|of| (of.kind, words(of))).collect()
    }

    #[test]
    fn a_clean_run_has_no_finding() {
        let mut clean = run(3, &[(0, 1), (1, 2), (0, 2)]);
        flow(&mut clean, "/w/x", 0, 1);
        flow(&mut clean, "/w/y", 1, 2);
        // c also waits for a directly, and has its data through b.
        assert_eq!(found(&clean), []);
    }

    #[test]
    fn a_race_has_its_margin() {
        let mut race = run(3, &[(0, 1)]);
        flow(&mut race, "/w/x", 0, 1);
        flow(&mut race, "/w/y", 1, 2);
        let all = discover(&race);
        let one = &all.findings[0];
        assert_eq!(
            (all.findings.len(), one.kind, one.path.as_deref(), one.margin_ns),
            (1, CheckKind::MissingDependency, Some("/w/y"), Some(200))
        );
    }

    #[test]
    fn what_nobody_tells_is_no_finding() {
        let mut untold = run(2, &[]);
        untold.tasks[1].parents_known = false;
        flow(&mut untold, "/w/x", 0, 1);
        assert_eq!(found(&untold), []);
        let mut blind = run(2, &[(0, 1)]);
        blind.tasks[0].traced = false;
        assert_eq!(found(&blind), []);
    }

    #[test]
    fn a_needless_dependency_costs_the_wait() {
        let mut needless = run(4, &[(0, 3), (1, 3), (2, 3)]);
        flow(&mut needless, "/w/x", 0, 3);
        flow(&mut needless, "/w/y", 1, 3);
        let all = discover(&needless);
        let one = &all.findings[0];
        assert_eq!((all.findings.len(), one.kind, one.first.as_deref()), (1, CheckKind::NeedlessDependency, Some("c")));
        // c ended at 2900, b, which it needs, at 1900.
        assert_eq!(one.cost_ns, Some(1000));
    }

    #[test]
    fn files_that_are_not_declared() {
        let mut files = run(2, &[(0, 1)]);
        files.tasks[0].outputs = Some(vec!["x".to_owned(), "parts/".to_owned()]);
        files.tasks[1].inputs = Some(vec!["./x".to_owned(), "/w/parts".to_owned()]);
        flow(&mut files, "/w/x", 0, 1);
        flow(&mut files, "/w/parts/1", 0, 1);
        assert_eq!(found(&files), []);
        flow(&mut files, "/w/sub/ax", 0, 1);
        flow(&mut files, "/w/log", 0, NONE);
        let wanted = [(CheckKind::UndeclaredInput, "a-b"), (CheckKind::UndeclaredOutput, "a-b"), (CheckKind::NeverRead, "a-")];
        assert_eq!(found(&files), wanted.map(|(kind, of)| (kind, of.to_owned())));
        files.tasks[0].outputs = Some(vec!["*.txt".to_owned()]);
        files.tasks[1].inputs = None;
        assert_eq!(found(&files), []);
    }

    /// A workflow in which tasks read the output of earlier tasks, and declare exactly that.
    fn clean(tasks: usize, gives: &[(usize, usize)]) -> RunGraph {
        let mut pairs: Vec<(u32, u32)> =
            gives.iter().map(|(a, b)| ((a % tasks) as u32, (b % tasks) as u32)).filter(|(a, b)| a < b).collect();
        pairs.sort_unstable();
        pairs.dedup();
        let mut made = run(tasks, &pairs);
        for (at, (from, to)) in pairs.into_iter().enumerate() {
            flow(&mut made, &format!("/w/{from}/{at}"), from, to);
        }
        made
    }

    /// Returns whether a task has another's data, or waits for it, by trying all paths.
    fn reaches(pairs: &[(u32, u32)], from: u32, to: u32) -> bool {
        pairs.iter().any(|&(a, b)| b == to && (a == from || reaches(pairs, from, a)))
    }

    proptest::proptest! {
        /// A clean workflow has no findings; a removed dependency is missing if no other path
        /// remains; an added one is needless if no data passes over it.
        #[test]
        fn what_is_planted_is_found(
            tasks in 2usize..10,
            gives in proptest::collection::vec((0usize..10, 0usize..10), 1..20),
            one in 0usize..20,
            other in (0u32..10, 0u32..10),
        ) {
            let made = clean(tasks, &gives);
            proptest::prop_assert_eq!(found(&made), []);
            let declared: Vec<(u32, u32)> = made.declared.iter().map(|of| (of.from, of.to)).collect();
            if !declared.is_empty() {
                let mut race = made.clone();
                let taken = race.declared.remove(one % declared.len());
                let left: Vec<(u32, u32)> = race.declared.iter().map(|of| (of.from, of.to)).collect();
                let wanted = if reaches(&left, taken.from, taken.to) { vec![] } else { vec![CheckKind::MissingDependency] };
                let kinds: Vec<CheckKind> = found(&race).into_iter().map(|(kind, _)| kind).collect();
                proptest::prop_assert_eq!(kinds, wanted);
            }
            let (from, to) = (other.0 % tasks as u32, other.1 % tasks as u32);
            if from < to && !declared.contains(&(from, to)) {
                let mut needless = made.clone();
                needless.declared.push(Declared { from, to, for_start: false });
                needless.declared.sort_unstable();
                let wanted = if reaches(&declared, from, to) { vec![] } else { vec![CheckKind::NeedlessDependency] };
                let kinds: Vec<CheckKind> = found(&needless).into_iter().map(|(kind, _)| kind).collect();
                proptest::prop_assert_eq!(kinds, wanted);
            }
        }
    }

    #[test]
    fn two_writers_of_one_path() {
        let mut twice = run(3, &[(0, 2), (1, 2)]);
        flow(&mut twice, "/w/x", 0, 2);
        flow(&mut twice, "/w/x", 1, 2);
        assert_eq!(found(&twice), [(CheckKind::WrittenTwice, "a-b".to_owned())]);
        twice.declared.insert(0, Declared { from: 0, to: 1, for_start: false });
        // Nothing passes from a to b, but they must not write at the same time.
        assert_eq!(found(&twice), []);
    }
}

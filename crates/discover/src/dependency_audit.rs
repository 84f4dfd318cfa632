//! Whether what a workflow declares is what its tasks did: declared dependencies, inputs and
//! outputs against the data flow that was traced.
//!
//! In goes a run as a graph; out come findings, each with its evidence. A task waits for another
//! when it is declared to, directly or through tasks between. Only what was traced is judged: a
//! task whose operations nobody saw is in no finding that says that it did not do something.
//!
//! What is not judged: declared files that are patterns, and files that were there before the
//! trace began and that nobody declares.

use std::collections::{BTreeMap, BTreeSet};

use flowmine_activity_log::{FileFlow, NONE, RunGraph, RunTask};
use rustc_hash::{FxHashMap, FxHashSet};
use schemars::JsonSchema;
use serde::Serialize;

use crate::who::Who;

/// The kinds of findings of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckKind {
    /// A task read what another wrote and is not declared to wait for it.
    MissingDependency,
    /// Two tasks wrote the same path and neither waits for the other.
    WrittenTwice,
    /// A task is declared to wait for one that gave it nothing, directly or through others, and
    /// with which it shares no file that one of them wrote.
    NeedlessDependency,
    /// A task read what another wrote, and the file is none of its declared inputs.
    UndeclaredInput,
    /// A task wrote what another read, and the file is none of its declared outputs.
    UndeclaredOutput,
    /// A file was written, is no declared output, and nobody read it.
    NeverRead,
}

impl CheckKind {
    /// Its name, as it stands in tables.
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

    /// What a user can do about a finding of this kind, in sentences.
    pub fn advice(self) -> &'static str {
        match self {
            Self::MissingDependency => {
                "Declare the dependency (or the file as output of the one and input of the other): today the order is luck."
            }
            Self::WrittenTwice => {
                "Give each task a file of its own, or declare which comes first: what is in the file, or in which order, depends on luck."
            }
            Self::NeedlessDependency => {
                "Leave the dependency out if nothing but files passes between the two: then the task can start earlier."
            }
            Self::UndeclaredInput => {
                "Declare the file as an input: else it is neither staged in, nor does a change of it make the task run again."
            }
            Self::UndeclaredOutput => "Declare the file as an output: else it is neither staged out nor known to be missing.",
            Self::NeverRead => "Do not write the file, or delete it in the task, or declare it as an output if somebody wants it.",
        }
    }
}

/// One difference between what was declared and what was traced.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Finding {
    /// What kind of finding it is.
    pub kind: CheckKind,
    /// The task that wrote, or is waited for.
    pub first: Option<String>,
    /// Name of the activity of which the first task is an instance.
    pub first_activity: Option<String>,
    /// What identifies the first task.
    pub first_who: Option<Who>,
    /// The task that read, waits, or wrote too.
    pub second: Option<String>,
    /// Name of the activity of which the second task is an instance.
    pub second_activity: Option<String>,
    /// What identifies the second task.
    pub second_who: Option<Who>,
    /// The file, where it is about one; of several the one with most bytes.
    pub path: Option<String>,
    /// Number of files that the finding is about.
    pub files: u64,
    /// Bytes that passed from the one task to the other, or were written, in these files.
    pub bytes: i64,
    /// Of a missing dependency: from the writer's last write to the reader's first read, the
    /// shortest of all files. Negative: it read before all was written.
    pub margin_ns: Option<i64>,
    /// Of a needless one: by how much earlier the task could have been ready. Null where times
    /// are not known.
    pub cost_ns: Option<i64>,
    /// Whether the order of writing and reading is not sure, because clocks differ.
    pub doubtful: bool,
}

/// What a check of one run found, and how much it could judge.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Check {
    /// Name of the run.
    pub run: String,
    /// What its nodes are: `task` or `job`.
    pub noun: &'static str,
    /// Number of tasks (or jobs) in the run.
    pub tasks: u64,
    /// Number of tasks of which nothing was traced, without those whose earlier result was taken.
    pub not_traced: u64,
    /// Tasks of which nobody declared what they wait for.
    pub without_parents: u64,
    /// Tasks of which nobody declared what they read or write.
    pub without_files: u64,
    /// Tasks whose declared files are patterns, so that they are not compared.
    pub with_patterns: u64,
    /// Number of dependencies that the run declares.
    pub declared: u64,
    /// Pairs of tasks of which one read what the other wrote.
    pub traced: u64,
    /// Dependencies on tasks that no row describes.
    pub unknown_parents: u64,
    /// Pairs of tasks that are in order because the one was submitted after the other's end.
    pub ordered_by_submission: u64,
    /// The findings, ordered by kind, then by their tasks.
    pub findings: Vec<Finding>,
}

/// Compares what is declared with what was traced.
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
    let mut ancestors = Ancestors::of(run);
    missing(run, &pairs, &mut ancestors, &mut found);
    needless(run, &pairs, &mut found.findings);
    files(run, &mut ancestors, &mut found.findings);
    found.findings.sort_by(|a, b| {
        let key = |of: &Finding| (of.kind, of.first.clone(), of.second.clone(), of.path.clone());
        key(a).cmp(&key(b))
    });
    found
}

/// What passed from one task to another.
#[derive(Debug, Default)]
struct Passed {
    files: BTreeSet<u32>,
    bytes: i64,
    /// Bytes of the file of which most passed, and its number.
    most: Option<(i64, u32)>,
    margin_ns: Option<i64>,
    doubtful: bool,
}

/// For each pair of tasks, writer and reader, what passed between them.
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

/// Who is declared to wait for whom, through others too.
struct Ancestors<'r> {
    parents: Parents<'r>,
    of: u32,
    known: FxHashSet<u32>,
}

/// Declared dependencies by who waits.
struct Parents<'r> {
    edges: &'r [flowmine_activity_log::Declared],
    by_child: FxHashMap<u32, Vec<u32>>,
}

impl<'r> Ancestors<'r> {
    fn of(run: &'r RunGraph) -> Self {
        let mut by_child: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for (at, edge) in run.declared.iter().enumerate() {
            by_child.entry(edge.to).or_default().push(at as u32);
        }
        Self { parents: Parents { edges: &run.declared, by_child }, of: NONE, known: FxHashSet::default() }
    }

    /// Whether `of` waits for `other`. Asked for one task after another it walks once for each.
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

/// Data that passed between tasks of which the one is not declared to wait for the other.
fn missing(run: &RunGraph, pairs: &Pairs, ancestors: &mut Ancestors<'_>, all: &mut Check) {
    // One reader after another, so that its ancestors are walked once.
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

/// Whether the second task was submitted when the first had ended, by somebody who may have
/// waited for that.
fn in_order_of_submission(run: &RunGraph, first: u32, second: u32) -> bool {
    let (first, second) = (&run.tasks[first as usize], &run.tasks[second as usize]);
    run.submission_orders && first.finished_ns.zip(second.first_ns).is_some_and(|(end, submitted)| submitted >= end)
}

/// Declared dependencies along which nothing passed.
fn needless(run: &RunGraph, pairs: &Pairs, findings: &mut Vec<Finding>) {
    let mut gave: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    for &(writer, reader) in pairs.0.keys() {
        gave.entry(reader).or_default().push(writer);
    }
    let mut parents: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    for edge in run.declared.iter().filter(|edge| !edge.for_start) {
        parents.entry(edge.to).or_default().push(edge.from);
    }
    let touched = Touched::of(run);
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

/// The files of each task, and whether it wrote them: who writes what another read or wrote must
/// keep the order.
struct Touched(FxHashMap<u32, BTreeMap<u32, bool>>);

impl Touched {
    fn of(run: &RunGraph) -> Self {
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

/// All whose data a task has, through others too.
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

/// What is reported of files one by one.
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

/// Versions that nobody read, of tasks whose outputs are declared.
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

/// Paths that several tasks wrote, none of which waits for the others.
fn written_twice(run: &RunGraph, ancestors: &mut Ancestors<'_>, findings: &mut Vec<Finding>) {
    let mut writers: BTreeMap<u32, BTreeMap<u32, i64>> = BTreeMap::new();
    for flow in run.flows.iter().filter(|flow| flow.writer != NONE && flow.written_bytes > 0) {
        let bytes = writers.entry(flow.file).or_default().entry(flow.writer).or_default();
        *bytes = (*bytes).max(flow.written_bytes);
    }
    for (file, writers) in writers {
        // In the order of writing: neighbours are compared, so that a hundred writers are a hundred questions.
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

/// Whether a list of declared files has this path: itself, its end, or a directory above it. A
/// list with a pattern has every path, because nobody knows what the pattern stands for.
pub(crate) fn declares(declared: &[String], path: &str) -> bool {
    declared.iter().any(|one| {
        let one = one.trim_start_matches("./").trim_end_matches('/');
        is_pattern(one) || is_at_end(path, one) || holds(one, path)
    })
}

/// Whether a path ends with these names.
pub(crate) fn is_at_end(path: &str, end: &str) -> bool {
    path.strip_suffix(end).is_some_and(|before| before.is_empty() || before.ends_with('/') || end.starts_with('/'))
}

/// Whether `directory`, absolute or not, is above `path`.
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
        // c waits for a directly too, whose data it has through b.
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

    /// A workflow whose tasks read what the tasks before them wrote, and declare just that.
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

    /// Whether a task has another's data, or waits for it, by trying all ways.
    fn reaches(pairs: &[(u32, u32)], from: u32, to: u32) -> bool {
        pairs.iter().any(|&(a, b)| b == to && (a == from || reaches(pairs, from, a)))
    }

    proptest::proptest! {
        /// Nothing in a clean workflow; a dependency that is taken out is missed if no other way
        /// remains; one that is put in is needless if no data comes that way.
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

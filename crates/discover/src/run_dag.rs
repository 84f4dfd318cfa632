//! One run as a graph: tasks (or jobs, or processes) and files, with bytes and rates between them,
//! and with the critical path.
//!
//! In goes a run ([`RunGraph`]); out come nodes and edges. An access is an edge: a task wrote a
//! version of a file, or read it. A task that wrote a version and reads it back has one edge, that
//! of writing (ParaTrac, §5.3: writing comes before reading). A declared dependency without data is
//! an edge of its own. Nodes can be merged (by job, host, activity, directory) or folded
//! ([`Fold`]): two tasks are equal if they are instances of the same activity and all their
//! ancestors and all their descendants in the graph are equal.

use std::hash::{DefaultHasher, Hash, Hasher};

use flowmine_activity_log::{NONE, RunGraph, RunTask, elapsed_ns};
use flowmine_threads::both;
use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::Serialize;

use crate::critical_path::{self, After, CriticalPath};
use crate::fold::Fold;
use crate::graph_measures::{self, Adjacency};
use crate::precedence::circles;
use crate::stats::Stats;

/// Last write of a version, and the accesses that wrote and read it.
type LastWritten = (i64, u32, u32);

/// Grouping of tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// No grouping: each is a node of its own, and equal ones are folded.
    #[default]
    Each,
    /// By the job in which they ran.
    Job,
    /// By the host on which they ran.
    Host,
    /// By activity.
    Activity,
}

/// Grouping of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FilesBy {
    /// No grouping: each version is a node of its own, folded with the tasks.
    #[default]
    Each,
    /// By the directory in which they are.
    Directory,
    /// Files are no nodes: edges lead from task to task.
    None,
}

/// Maximum number of nodes in a figure.
pub const DRAWN: usize = 120;

/// Grouping and maximum number of nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Grouping of tasks.
    pub by: By,
    /// Grouping of files; `None`: no grouping or, with more nodes than `most_with_files`, files are
    /// no nodes.
    pub files: Option<FilesBy>,
    /// Maximum number of nodes with which files are nodes if `files` is `None`.
    pub most_with_files: usize,
    /// Folding of nodes; `None`: the strictest of [`Fold::Equal`] and the coarser ones that has at
    /// most `most_nodes`.
    pub fold: Option<Fold>,
    /// Maximum number of nodes of a graph if `fold` is `None`.
    pub most_nodes: usize,
    /// Whether files of the system ([`is_of_system`]) that no task of the run wrote are nodes.
    pub system_files: bool,
    /// Selected tasks of the run; `None`: all.
    pub chosen: Option<Vec<bool>>,
}

impl Default for Options {
    fn default() -> Self {
        Self { by: By::Each, files: None, most_with_files: DRAWN, fold: None, most_nodes: 60, system_files: false, chosen: None }
    }
}

/// Directories of programs, libraries and settings.
pub const SYSTEM: [&str; 14] = ["bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "libx32", "nix", "proc", "run", "sbin", "sys", "usr"];

/// Returns whether a file belongs to the machine and not to a run: programs, libraries, settings.
pub fn is_of_system(path: &str) -> bool {
    path.strip_prefix('/').and_then(|path| path.split('/').next()).is_some_and(|first| SYSTEM.contains(&first))
}

/// The graph of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct RunDag {
    /// Name of the run.
    pub run: String,
    /// Word for its nodes other than files: `task`, `job` or `process`.
    pub noun: &'static str,
    /// Grouping of these.
    pub by: By,
    /// Grouping of files.
    pub files_by: FilesBy,
    /// Number of nodes of files that are left out because there would be too many; 0 if files were
    /// not requested as nodes.
    pub hidden_files: u64,
    /// Applied folding.
    pub fold: Fold,
    /// Number of tasks (or jobs, or processes) in the graph.
    pub tasks: u64,
    /// Number of versions of files in the graph.
    pub versions: u64,
    /// Number of accesses and declared dependencies in the graph.
    pub accesses: u64,
    /// Time from the first start to the last end of its tasks, in nanoseconds.
    pub time_ns: Option<i64>,
    /// Length of the critical path of the whole run, in nanoseconds; null if no times are known.
    pub critical_ns: Option<i64>,
    /// Number of tasks on the critical path.
    pub critical_tasks: u64,
    /// Parts of the run that are not in the graph.
    pub left_out: LeftOut,
    /// Number of lost records of the trace.
    pub lost: u64,
    /// Nodes: tasks first, then files, each in a fixed order.
    pub nodes: Vec<Node>,
    /// Edges, ascending by their ends.
    pub edges: Vec<Edge>,
}

/// Parts of the run that are not in the graph, by reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LeftOut {
    /// Number of versions of files of the system that no task of the run wrote.
    pub system_files: u64,
    /// Bytes that were read from them.
    pub system_bytes: i64,
    /// Number of tasks that were not selected.
    pub tasks: u64,
    /// Number of dependencies on tasks without a row.
    pub unknown_parents: u64,
    /// Number of tasks without declared dependencies and without a trace.
    pub tasks_without_parents: u64,
    /// Number of declared dependencies between tasks that also passed data: the edge of the data
    /// represents both.
    pub declared_and_done: u64,
}

/// Kind of node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NodeKind {
    /// Tasks, jobs or processes.
    Task,
    /// Versions of files: the content after one writing of a file.
    File,
}

/// Role of a file in the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Input: it was read in the run, and no task of the run wrote it.
    Input,
    /// Intermediate: it was written and read in the run.
    Between,
    /// Output: it was written in the run, and no task of the run read it.
    Output,
}

/// A node: one or several tasks, or one or several versions of files.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Node {
    /// Kind of its members: tasks or files.
    pub kind: NodeKind,
    /// Its name; for several files, the common parts of their names, with `*` for the rest.
    pub name: String,
    /// Directory of the files, if they are in one.
    pub directory: Option<String>,
    /// Number of tasks, or versions of files, in the node.
    pub members: u64,
    /// Role of the files in the run; intermediate if their roles differ.
    pub role: Option<Role>,
    /// Host of the tasks, if they ran on one.
    pub host: Option<String>,
    /// Lifetime in nanoseconds: of tasks from start to end, of files from the first to the last
    /// traced access.
    pub life_time_ns: Option<Stats>,
    /// Start of the first, in nanoseconds since 1970.
    pub started_ns: Option<i64>,
    /// End of the last, in nanoseconds since 1970.
    pub ended_ns: Option<i64>,
    /// Bytes read: by tasks, from files.
    pub read_bytes: i64,
    /// Bytes written: by tasks, to files.
    pub written_bytes: i64,
    /// Bytes that tasks read from their own output.
    pub read_back_bytes: i64,
    /// Number of members on the critical path.
    pub critical: u64,
    /// Number of members with records lost while they ran, or with an uncertain order because
    /// clocks differ.
    pub unsure: u64,
    /// Number of tasks in the node that failed.
    pub failed: u64,
    /// For tasks, the number of files that each read; for files, the number of tasks that wrote
    /// each.
    pub accesses_in: Option<Spread>,
    /// For tasks, the number of files that each wrote; for files, the number of tasks that read
    /// each.
    pub accesses_out: Option<Spread>,
    /// Number of tasks for which each waited or from which it had data.
    pub fan_in: Option<Spread>,
    /// Number of tasks to which each passed data, or that waited for it.
    pub fan_out: Option<Spread>,
    /// Number of edges that lead to this node.
    pub in_degree: u64,
    /// Number of edges that begin at this node.
    pub out_degree: u64,
    /// The share of all shortest paths between two other nodes that lead through it (Freeman 1977,
    /// by Brandes' algorithm); null in graphs that are too large for it.
    pub betweenness: Option<f64>,
}

/// Minimum, mean and maximum of small numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
pub struct Spread {
    /// The smallest of the numbers.
    pub min: u64,
    /// The arithmetic mean.
    pub mean: f64,
    /// The largest of the numbers.
    pub max: u64,
}

impl Spread {
    fn new(numbers: impl Iterator<Item = u64>) -> Option<Self> {
        let (mut count, mut sum, mut found) = (0u64, 0u64, Self { min: u64::MAX, ..Self::default() });
        for number in numbers {
            count += 1;
            sum += number;
            found.min = found.min.min(number);
            found.max = found.max.max(number);
        }
        (count > 0).then(|| Self { mean: sum as f64 / count as f64, ..found })
    }
}

/// Kind of edge between two nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EdgeKind {
    /// From tasks to files that they wrote.
    Write,
    /// From files to tasks that read them.
    Read,
    /// From tasks to tasks that read their output, if files are no nodes.
    Data,
    /// From tasks to tasks that were declared to wait for them and had no data from them.
    Declared,
    /// From processes to those that they forked.
    Fork,
    /// From tasks to tasks without recorded dependencies that probably waited for them.
    Inferred,
}

/// An edge from one node to another.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Edge {
    /// Index of the node at which it begins.
    pub from: u32,
    /// Index of the node to which it leads.
    pub to: u32,
    /// Kind of edge.
    pub kind: EdgeKind,
    /// Number of accesses, dependencies or forks that the edge represents.
    pub count: u64,
    /// Bytes that passed along it; null for kinds that move none.
    pub bytes: Option<i64>,
    /// Sum of the times from the first to the last access of each, in nanoseconds; null if not
    /// known.
    pub time_ns: Option<i64>,
    /// Bytes per second of that time.
    pub bytes_per_s: Option<f64>,
    /// Whether it is on the critical path.
    pub critical: bool,
    /// Number of accesses with an uncertain order, because the hosts' clocks differ.
    pub doubtful: u64,
    /// Confidence of the dependency, between 0 and 1: 1 for recorded ones.
    pub confidence: f64,
}

/// Makes the graph of a run, and finds its critical path.
pub fn discover(run: &RunGraph, options: &Options) -> RunDag {
    let without_gains = critical_path::Options { most_gains: 0, ..critical_path::Options::default() };
    let (path, fine) = both(|| critical_path::discover(run, &without_gains), || Fine::new(run, options));
    let fine = fine.with_path(&path);
    let mut found = RunDag {
        run: run.name.clone(),
        noun: run.noun,
        by: options.by,
        fold: Fold::Never,
        tasks: fine.tasks.len() as u64,
        versions: fine.versions.len() as u64,
        accesses: (fine.accesses.len() + fine.others.len()) as u64,
        time_ns: None,
        critical_ns: path.makespan_ns,
        critical_tasks: path.path.len() as u64,
        left_out: fine.left_out,
        lost: flowmine_sums::total(run.losses.iter().map(|loss| loss.count)),
        ..RunDag::default()
    };
    let first = fine.tasks.iter().filter_map(|&at| run.tasks[at as usize].started_ns).min();
    let last = fine.tasks.iter().filter_map(|&at| run.tasks[at as usize].finished_ns).max();
    found.time_ns = first.zip(last).and_then(|(first, last)| elapsed_ns(first, last));
    let grouped = Grouped::new(run, &fine, options);
    found.fold = grouped.fold;
    found.files_by = grouped.files;
    if options.files.is_none() && grouped.files == FilesBy::None {
        found.hidden_files = u64::from(grouped.file_nodes);
    }
    (found.nodes, found.edges) = both(|| grouped.nodes(run, &fine), || grouped.edges(run, &fine));
    if grouped.files == FilesBy::None {
        found.nodes.retain(|node| node.kind == NodeKind::Task);
    }
    measure(&mut found);
    found
}

/// Computes degrees and betweenness of the final graph.
fn measure(found: &mut RunDag) {
    let adjacency = Adjacency::new(found.nodes.len(), found.edges.iter().map(|edge| (edge.from, edge.to)));
    let betweenness = graph_measures::betweenness(&adjacency);
    for edge in &found.edges {
        found.nodes[edge.from as usize].out_degree += 1;
        found.nodes[edge.to as usize].in_degree += 1;
    }
    if let Some(betweenness) = betweenness {
        for (node, value) in found.nodes.iter_mut().zip(betweenness) {
            node.betweenness = Some(value);
        }
    }
}

/// A version of a file, with whether the run wrote and read it.
struct Version {
    /// Its path: an index into [`RunGraph::files`].
    path: u32,
    written: bool,
    read: bool,
}

/// Access of a task to a version.
#[derive(Clone, Copy, Default)]
struct Access {
    /// Index into [`Fine::tasks`].
    task: u32,
    /// Number of the attempt at the task.
    attempt: u32,
    /// Index into [`Fine::versions`].
    version: u32,
    write: bool,
    bytes: i64,
    /// Bytes that a writer read back from its own output.
    back: i64,
    first_ns: Option<i64>,
    last_ns: Option<i64>,
    doubtful: bool,
}

/// An edge between tasks without a file.
#[derive(Clone, Copy)]
struct Other {
    from: u32,
    to: u32,
    kind: EdgeKind,
}

/// The graph before any grouping.
struct Fine {
    /// Selected tasks of the run.
    tasks: Vec<u32>,
    /// Index of each task of the run in `tasks`; [`NONE`] for those that are not selected.
    place: Vec<u32>,
    versions: Vec<Version>,
    accesses: Vec<Access>,
    others: Vec<Other>,
    /// Pairs of tasks in which the second depends on the first, ascending, each once.
    pairs: Vec<(u32, u32)>,
    /// Whether each task is on the critical path.
    critical: Vec<bool>,
    /// Pairs of tasks, accesses and other edges on it.
    critical_pairs: Vec<(u32, u32)>,
    critical_accesses: Vec<u32>,
    critical_others: Vec<u32>,
    /// Versions on the critical path.
    critical_versions: Vec<u32>,
    left_out: LeftOut,
}

impl Fine {
    /// Returns the graph without marks of the critical path, which [`Self::with_path`] adds.
    fn new(run: &RunGraph, options: &Options) -> Self {
        let wanted = |at: usize| options.chosen.as_ref().is_none_or(|chosen| chosen.get(at).copied().unwrap_or(false));
        let mut place = vec![NONE; run.tasks.len()];
        let mut tasks = Vec::new();
        for (at, place) in place.iter_mut().enumerate() {
            if wanted(at) {
                *place = tasks.len() as u32;
                tasks.push(at as u32);
            }
        }
        let mut fine = Self {
            critical: vec![false; tasks.len()],
            left_out: LeftOut {
                tasks: (run.tasks.len() - tasks.len()) as u64,
                unknown_parents: run.unknown_parents,
                tasks_without_parents: tasks
                    .iter()
                    .map(|at| &run.tasks[*at as usize])
                    .filter(|task| !task.parents_known && !task.traced)
                    .count() as u64,
                ..LeftOut::default()
            },
            tasks,
            place: Vec::new(),
            versions: Vec::new(),
            accesses: Vec::new(),
            others: Vec::new(),
            pairs: Vec::new(),
            critical_pairs: Vec::new(),
            critical_accesses: Vec::new(),
            critical_others: Vec::new(),
            critical_versions: Vec::new(),
        };
        fine.put_accesses(run, &place, options);
        fine.put_others(run, &place);
        fine.place = place;
        fine
    }

    fn put_accesses(&mut self, run: &RunGraph, place: &[u32], options: &Options) {
        let find = |task: u32| place.get(task as usize).copied().unwrap_or(NONE);
        let system: Vec<bool> = run.files.iter().map(|path| !options.system_files && is_of_system(path)).collect();
        let mut order: Vec<u32> = (0..run.flows.len() as u32).collect();
        if !run.flows.is_sorted_by_key(|flow| flow.version) {
            order.sort_by_key(|&at| run.flows[at as usize].version);
        }
        for same in order.chunk_by(|&a, &b| run.flows[a as usize].version == run.flows[b as usize].version) {
            let flows = || same.iter().map(|&at| &run.flows[at as usize]);
            let Some(first) = flows().next() else { continue };
            let written = flows().any(|flow| flow.writer != NONE);
            if !written && system.get(first.file as usize).copied().unwrap_or(false) {
                self.left_out.system_files += 1;
                flows().for_each(|flow| flowmine_sums::add_to(&mut self.left_out.system_bytes, flow.read_bytes));
                continue;
            }
            let begin = self.accesses.len();
            let version = self.versions.len() as u32;
            for flow in flows() {
                let (writer, reader) = (find(flow.writer), find(flow.reader));
                // A row for each reader repeats what was written; those of one version are few, or
                // adjacent.
                let known = |write: bool, (task, attempt): (u32, u32), accesses: &[Access]| {
                    let same = |of: &Access| of.write == write && of.task == task && of.attempt == attempt;
                    task == NONE || accesses.iter().rev().take(64).any(same)
                };
                let of_version = |task, attempt| Access { task, attempt, version, ..Access::default() };
                if !known(true, (writer, flow.writer_attempt), &self.accesses[begin..]) {
                    self.accesses.push(Access {
                        write: true,
                        bytes: flow.written_bytes,
                        first_ns: flow.first_write_ns,
                        last_ns: flow.last_write_ns,
                        ..of_version(writer, flow.writer_attempt)
                    });
                }
                if !known(false, (reader, flow.reader_attempt), &self.accesses[begin..]) {
                    self.accesses.push(Access {
                        bytes: flow.read_bytes,
                        first_ns: flow.first_read_ns,
                        last_ns: flow.last_read_ns,
                        doubtful: flow.doubtful,
                        ..of_version(reader, flow.reader_attempt)
                    });
                }
            }
            self.without_repetition(begin);
            if self.accesses.len() > begin {
                let read = flows().any(|flow| flow.reader != NONE && flow.reader != flow.writer || flow.read_outside);
                self.versions.push(Version { path: first.file, written, read });
            }
        }
    }

    /// Merges the accesses of a task by direction, over its attempts; the writer of a version has
    /// no edge of reading it.
    fn without_repetition(&mut self, begin: usize) {
        let of = &mut self.accesses[begin..];
        if of.len() < 2 {
            return;
        }
        of.sort_by_key(|access| (access.task, !access.write, access.attempt));
        let mut kept = begin;
        let mut last = self.accesses[begin];
        for at in begin..self.accesses.len() {
            let access = self.accesses[at];
            let repeated = at > begin && (access.task, access.write, access.attempt) == (last.task, last.write, last.attempt);
            last = access;
            if repeated {
                continue;
            }
            match self.accesses[begin..kept].last_mut().filter(|before| before.task == access.task) {
                Some(before) if before.write == access.write => {
                    flowmine_sums::add_to(&mut before.bytes, access.bytes);
                    before.first_ns = [before.first_ns, access.first_ns].into_iter().flatten().min();
                    before.last_ns = before.last_ns.max(access.last_ns);
                    before.doubtful |= access.doubtful;
                }
                Some(before) => flowmine_sums::add_to(&mut before.back, access.bytes),
                None => {
                    self.accesses[kept] = access;
                    kept += 1;
                }
            }
        }
        self.accesses.truncate(kept);
    }

    fn put_others(&mut self, run: &RunGraph, place: &[u32]) {
        let find = |task: u32| place.get(task as usize).copied().filter(|at| *at != NONE);
        let between = |from: u32, to: u32| Some((find(from)?, find(to)?));
        let mut data: Vec<(u32, u32)> =
            run.flows.iter().filter_map(|flow| flow.pair()).filter_map(|(from, to)| between(from, to)).collect();
        data.sort_unstable();
        data.dedup();
        let mut declared: Vec<(u32, u32)> = run.declared.iter().filter_map(|of| between(of.from, of.to)).filter(|(a, b)| a != b).collect();
        declared.sort_unstable();
        declared.dedup();
        for &(from, to) in &declared {
            if data.binary_search(&(from, to)).is_ok() {
                self.left_out.declared_and_done += 1;
            } else {
                self.others.push(Other { from, to, kind: EdgeKind::Declared });
            }
        }
        let forks = run.forks.iter().filter_map(|&(parent, child)| between(parent, child));
        self.others.extend(forks.map(|(from, to)| Other { from, to, kind: EdgeKind::Fork }));
        data.extend(declared);
        data.sort_unstable();
        data.dedup();
        let inferred = crate::inferred::predecessors(run).into_iter().filter_map(|of| between(of.from, of.to));
        let inferred: Vec<(u32, u32)> = inferred.filter(|pair| data.binary_search(pair).is_err()).collect();
        self.others.extend(inferred.iter().map(|&(from, to)| Other { from, to, kind: EdgeKind::Inferred }));
        data.extend(inferred);
        data.sort_unstable();
        self.pairs = data;
    }

    /// Marks the edges of the critical path: of the versions that one task had from another, the
    /// one that was written last.
    fn with_path(mut self, path: &CriticalPath) -> Self {
        let place = &self.place;
        for step in &path.path {
            if let Some(critical) = self.critical.get_mut(place[step.place as usize] as usize) {
                *critical = true;
            }
        }
        let mut wanted: FxHashMap<(u32, u32), Option<LastWritten>> = FxHashMap::default();
        for two in path.path.windows(2) {
            let (from, to) = (place[two[0].place as usize], place[two[1].place as usize]);
            if from != NONE && to != NONE && two[1].after != After::Begin {
                wanted.insert((from, to), None);
            }
        }
        // Accesses of a version are adjacent.
        for same in (0..self.accesses.len() as u32).collect::<Vec<_>>().chunk_by(|&a, &b| {
            let version = |at: u32| self.accesses[at as usize].version;
            version(a) == version(b)
        }) {
            let critical = |at: &&u32| self.critical[self.accesses[**at as usize].task as usize];
            let on_path: Vec<u32> = same.iter().filter(critical).copied().collect();
            for &write in on_path.iter().filter(|&&at| self.accesses[at as usize].write) {
                for &read in on_path.iter().filter(|&&at| !self.accesses[at as usize].write) {
                    let (from, to) = (self.accesses[write as usize], self.accesses[read as usize]);
                    if let Some(best) = wanted.get_mut(&(from.task, to.task)) {
                        let last = from.last_ns.unwrap_or(i64::MIN);
                        if best.is_none_or(|(known, ..)| last > known) {
                            *best = Some((last, write, read));
                        }
                    }
                }
            }
        }
        for (at, other) in (0u32..).zip(&self.others) {
            if other.kind != EdgeKind::Fork && wanted.get(&(other.from, other.to)).is_some_and(Option::is_none) {
                self.critical_others.push(at);
            }
        }
        for (pair, (_, write, read)) in wanted.into_iter().filter_map(|(pair, found)| Some((pair, found?))) {
            self.critical_pairs.push(pair);
            self.critical_versions.push(self.accesses[write as usize].version);
            self.critical_accesses.extend([write, read]);
        }
        self.critical_versions.sort_unstable();
        self.critical_accesses.sort_unstable();
        self
    }

    /// Returns the edges between all nodes, tasks first, in the direction of the data.
    fn lines(&self) -> impl Iterator<Item = (u32, u32)> + Clone {
        let tasks = self.tasks.len() as u32;
        let accesses = self.accesses.iter().map(move |access| match access.write {
            true => (access.task, tasks + access.version),
            false => (tasks + access.version, access.task),
        });
        accesses.chain(self.others.iter().map(|other| (other.from, other.to)))
    }
}

/// Grouping of tasks and versions into nodes.
struct Grouped {
    fold: Fold,
    /// Node of each task, and of each version.
    of_task: Vec<u32>,
    of_version: Vec<u32>,
    task_nodes: u32,
    file_nodes: u32,
    by: By,
    files: FilesBy,
}

fn hash(parts: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    parts.hash(&mut hasher);
    hasher.finish()
}

/// Returns a number for each key, in the order of first occurrence, and the number of different
/// keys.
fn numbered<K: Hash + Eq>(keys: impl Iterator<Item = K>) -> (Vec<u32>, u32) {
    let mut numbers: FxHashMap<K, u32> = FxHashMap::default();
    let of = keys
        .map(|key| {
            let next = numbers.len() as u32;
            *numbers.entry(key).or_insert(next)
        })
        .collect();
    (of, numbers.len() as u32)
}

fn directory(path: &str) -> &str {
    match path.rfind('/') {
        Some(0) => "/",
        Some(at) => &path[..at],
        None => "",
    }
}

fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns the part after the last dot of a file's name, if it is short enough to be a type.
fn extension(path: &str) -> &str {
    base(path).rsplit_once('.').map(|(_, end)| end).filter(|end| end.len() <= 8).unwrap_or_default()
}

impl Grouped {
    fn new(run: &RunGraph, fine: &Fine, options: &Options) -> Self {
        let task = |at: &u32| &run.tasks[*at as usize];
        let path = |version: &Version| run.files.get(version.path);
        let mut grouped = match options.by {
            By::Each => Self::folded(run, fine, options),
            By::Job => Self::by(fine, numbered(fine.tasks.iter().map(|at| task(at).job.as_deref()))),
            By::Host => Self::by(fine, numbered(fine.tasks.iter().map(|at| task(at).host.as_deref()))),
            By::Activity => Self::by(fine, numbered(fine.tasks.iter().map(|at| task(at).activity.as_str()))),
        };
        if options.files == Some(FilesBy::Directory) {
            (grouped.of_version, grouped.file_nodes) = numbered(fine.versions.iter().map(|version| directory(path(version))));
        }
        let too_many = (grouped.task_nodes + grouped.file_nodes) as usize > options.most_with_files;
        grouped.by = options.by;
        grouped.files = options.files.unwrap_or(if too_many { FilesBy::None } else { FilesBy::Each });
        grouped
    }

    /// Groups tasks by a key, and files by the nodes of the tasks that wrote and read them.
    fn by(fine: &Fine, (of_task, task_nodes): (Vec<u32>, u32)) -> Self {
        let (of_version, file_nodes) = Self::by_users(fine, &of_task);
        Self { fold: Fold::Name, of_task, of_version, task_nodes, file_nodes, by: By::Each, files: FilesBy::Each }
    }

    fn by_users(fine: &Fine, of_task: &[u32]) -> (Vec<u32>, u32) {
        let mut users: Vec<Vec<(bool, u32)>> = vec![Vec::new(); fine.versions.len()];
        for access in &fine.accesses {
            users[access.version as usize].push((access.write, of_task[access.task as usize]));
        }
        numbered(users.into_iter().map(|mut users| {
            users.sort_unstable();
            users.dedup();
            hash(&users)
        }))
    }

    fn folded(run: &RunGraph, fine: &Fine, options: &Options) -> Self {
        let mut around = None;
        let mut structure = |fold| Self::by_structure(fine, around.get_or_insert_with(|| Around::new(run, fine)), fold);
        let mut made = None;
        for fold in Fold::candidates(options.fold) {
            let grouped = match fold {
                Fold::Never => Self {
                    fold,
                    of_task: (0..fine.tasks.len() as u32).collect(),
                    of_version: (0..fine.versions.len() as u32).collect(),
                    task_nodes: fine.tasks.len() as u32,
                    file_nodes: fine.versions.len() as u32,
                    by: By::Each,
                    files: FilesBy::Each,
                },
                Fold::Name => {
                    let activity = fine.tasks.iter().map(|at| run.tasks[*at as usize].activity.as_str());
                    Self::by(fine, numbered(activity))
                }
                Fold::Equal | Fold::Alike => structure(fold),
            };
            let files = if options.files == Some(FilesBy::None) { 0 } else { grouped.file_nodes };
            let fits = (grouped.task_nodes + files) as usize <= options.most_nodes;
            made = Some(grouped);
            if fits {
                break;
            }
        }
        made.unwrap_or_else(|| structure(Fold::Equal))
    }

    /// Groups nodes with equal ancestors and equal descendants.
    fn by_structure(fine: &Fine, around: &Around, fold: Fold) -> Self {
        let (up, down) = around.structures(fold);
        let both = |at: usize| (around.names[at], up[at], down[at]);
        let tasks = fine.tasks.len();
        let (of_task, task_nodes) = numbered((0..tasks).map(both));
        let (of_version, file_nodes) = numbered((tasks..around.names.len()).map(both));
        Self { fold, of_task, of_version, task_nodes, file_nodes, by: By::Each, files: FilesBy::Each }
    }

    /// Returns the node of a version: nodes of tasks come first, then those of files.
    fn node_of_version(&self, version: u32) -> u32 {
        self.task_nodes + self.of_version[version as usize]
    }

    fn nodes(&self, run: &RunGraph, fine: &Fine) -> Vec<Node> {
        let mut nodes: Vec<Gathered> = (0..self.task_nodes).map(|_| Gathered::new(NodeKind::Task)).collect();
        nodes.extend((0..self.file_nodes).map(|_| Gathered::new(NodeKind::File)));
        let fans = Fans::new(fine);
        for (at, &task) in fine.tasks.iter().enumerate() {
            let node = &mut nodes[self.of_task[at] as usize];
            let of = &run.tasks[task as usize];
            node.add_task(of, run.lost_during(of) > 0, fine.critical[at], self.by);
            node.add_fans(fans.task(at));
        }
        let critical = |at: usize| fine.critical_versions.binary_search(&(at as u32)).is_ok();
        for (at, version) in fine.versions.iter().enumerate() {
            let path = run.files.get(version.path);
            let node = &mut nodes[self.node_of_version(at as u32) as usize];
            node.add_version(path, version, critical(at), self.files);
            node.add_fans(fans.version(at));
        }
        let mut first_last: Vec<(Option<i64>, Option<i64>)> = vec![(None, None); fine.versions.len()];
        for access in &fine.accesses {
            let (task, file) = (self.of_task[access.task as usize], self.node_of_version(access.version));
            for node in [task, file] {
                let node = &mut nodes[node as usize].node;
                let sum = if access.write { &mut node.written_bytes } else { &mut node.read_bytes };
                flowmine_sums::add_to(sum, access.bytes);
                flowmine_sums::add_to(&mut node.read_back_bytes, access.back);
            }
            nodes[file as usize].node.unsure += u64::from(access.doubtful);
            let (first, last) = &mut first_last[access.version as usize];
            *first = [*first, access.first_ns].into_iter().flatten().min();
            *last = (*last).max(access.last_ns);
        }
        for (at, (first, last)) in first_last.into_iter().enumerate() {
            nodes[self.node_of_version(at as u32) as usize].add_life(first, last);
        }
        nodes.into_iter().map(|gathered| gathered.finish()).collect()
    }

    fn edges(&self, run: &RunGraph, fine: &Fine) -> Vec<Edge> {
        let mut lines: FxHashMap<(u32, u32, EdgeKind), Line> = FxHashMap::default();
        let mut marked = fine.critical_accesses.iter().peekable();
        if self.files == FilesBy::None {
            self.data_lines(run, fine, &mut lines);
        } else {
            for (at, access) in fine.accesses.iter().enumerate() {
                let critical = marked.next_if(|next| **next as usize == at).is_some();
                let (task, file) = (self.of_task[access.task as usize], self.node_of_version(access.version));
                let key = if access.write { (task, file, EdgeKind::Write) } else { (file, task, EdgeKind::Read) };
                let line = lines.entry(key).or_default();
                line.add(access.bytes, access.first_ns.zip(access.last_ns), access.doubtful);
                line.critical |= critical;
            }
        }
        for (at, other) in fine.others.iter().enumerate() {
            let line = lines.entry((self.of_task[other.from as usize], self.of_task[other.to as usize], other.kind)).or_default();
            line.count += 1;
            line.critical |= fine.critical_others.binary_search(&(at as u32)).is_ok();
        }
        let mut edges: Vec<Edge> = lines.into_iter().map(|((from, to, kind), line)| line.edge(from, to, kind)).collect();
        edges.sort_by_key(|edge| (edge.from, edge.to, edge.kind));
        edges
    }

    /// Edges from writers to readers.
    fn data_lines(&self, run: &RunGraph, fine: &Fine, lines: &mut FxHashMap<(u32, u32, EdgeKind), Line>) {
        let place = &fine.place;
        for flow in &run.flows {
            let Some((from, to)) = flow.pair() else { continue };
            let (from, to) = (place[from as usize], place[to as usize]);
            if from == NONE || to == NONE {
                continue;
            }
            let line = lines.entry((self.of_task[from as usize], self.of_task[to as usize], EdgeKind::Data)).or_default();
            line.add(flow.read_bytes, flow.first_read_ns.zip(flow.last_read_ns), flow.doubtful);
        }
        for &(from, to) in &fine.critical_pairs {
            let key = (self.of_task[from as usize], self.of_task[to as usize], EdgeKind::Data);
            lines.entry(key).and_modify(|line| line.critical = true);
        }
    }
}

/// Surroundings of each node: tasks first, then versions.
struct Around {
    names: Vec<u64>,
    before: Adjacency,
    after: Adjacency,
    /// Nodes in topological order, without edges within a cycle.
    order: Vec<u32>,
    /// Number of the cycle of each node, if there are cycles.
    circle: Option<Vec<u32>>,
}

impl Around {
    fn new(run: &RunGraph, fine: &Fine) -> Self {
        let count = fine.tasks.len() + fine.versions.len();
        let (after, before) = both_ways(count, fine.lines());
        let (order, names) = both(|| after.order(&before), || names(run, fine));
        let circle = (order.len() < count).then(|| circles_of(count, fine));
        let order = match &circle {
            None => order,
            Some(circle) => {
                let outside = |(from, to): &(u32, u32)| circle[*from as usize] != circle[*to as usize];
                let (after, before) = both_ways(count, fine.lines().filter(outside));
                after.order(&before)
            }
        };
        Self { names, before, after, order, circle }
    }

    /// Returns two numbers for each node, which are equal for equal ancestors and for equal
    /// descendants.
    fn structures(&self, fold: Fold) -> (Vec<u64>, Vec<u64>) {
        let apart = |a: u32, b: u32| self.circle.as_ref().is_none_or(|circle| circle[a as usize] != circle[b as usize]);
        both(
            || structure(&self.names, self.order.iter(), &self.before, fold, &apart),
            || structure(&self.names, self.order.iter().rev(), &self.after, fold, &apart),
        )
    }
}

/// Returns the neighbours along the edges, and those against them.
fn both_ways(nodes: usize, lines: impl Iterator<Item = (u32, u32)> + Clone + Send) -> (Adjacency, Adjacency) {
    let backwards = lines.clone().map(|(from, to)| (to, from));
    both(move || Adjacency::new(nodes, lines), move || Adjacency::new(nodes, backwards))
}

/// Returns the keys by which tasks and versions are equal by themselves: the activity of a task;
/// the extension of a file, and whether it is read.
fn names(run: &RunGraph, fine: &Fine) -> Vec<u64> {
    let tasks = fine.tasks.iter().map(|at| hash(&(0, &run.tasks[*at as usize].activity)));
    let versions = fine.versions.iter().map(|version| hash(&(1, extension(run.files.get(version.path)), version.read)));
    tasks.chain(versions).collect()
}

fn circles_of(count: usize, fine: &Fine) -> Vec<u32> {
    let edges: Vec<crate::precedence::Edge> = fine
        .lines()
        .map(|(from, to)| crate::precedence::Edge { from, to, declared: false, confidence_percent: 100, lag_ns: None })
        .collect();
    circles(count, &edges)
}

/// Returns a number for each node, which is equal for nodes with equal names and equal ancestors.
/// `order` has each node after its neighbours in `before`.
fn structure<'o>(
    names: &[u64],
    order: impl Iterator<Item = &'o u32>,
    before: &Adjacency,
    fold: Fold,
    apart: &impl Fn(u32, u32) -> bool,
) -> Vec<u64> {
    let mut made = vec![0u64; names.len()];
    let mut around: Vec<u64> = Vec::new();
    for &at in order {
        around.clear();
        around.extend(before.of(at).iter().filter(|&&of| apart(of, at)).map(|&of| made[of as usize]));
        around.sort_unstable();
        if fold == Fold::Alike {
            around.dedup();
        }
        made[at as usize] = hash(&(names[at as usize], &around));
    }
    made
}

/// An edge while it is added up.
#[derive(Default)]
struct Line {
    count: u64,
    bytes: i64,
    time_ns: Option<i64>,
    timed_bytes: i64,
    critical: bool,
    doubtful: u64,
}

impl Line {
    fn add(&mut self, bytes: i64, times: Option<(i64, i64)>, doubtful: bool) {
        self.count += 1;
        flowmine_sums::add_to(&mut self.bytes, bytes);
        self.doubtful += u64::from(doubtful);
        if let Some(time) = times.and_then(|(first, last)| elapsed_ns(first, last)) {
            flowmine_sums::add_to(self.time_ns.get_or_insert(0), time);
            flowmine_sums::add_to(&mut self.timed_bytes, bytes);
        }
    }

    fn edge(self, from: u32, to: u32, kind: EdgeKind) -> Edge {
        let moves = matches!(kind, EdgeKind::Read | EdgeKind::Write | EdgeKind::Data);
        Edge {
            from,
            to,
            kind,
            count: self.count,
            bytes: moves.then_some(self.bytes),
            time_ns: self.time_ns,
            bytes_per_s: self.time_ns.filter(|ns| *ns > 0).map(|ns| self.timed_bytes as f64 / (ns as f64 / 1e9)),
            critical: self.critical,
            doubtful: self.doubtful,
            confidence: if kind == EdgeKind::Inferred { f64::from(crate::inferred::CONFIDENCE_PERCENT) / 100.0 } else { 1.0 },
        }
    }
}

/// Number of neighbours of each.
struct Fans {
    /// For each task: files read, files written, tasks before, tasks after.
    tasks: Vec<[u32; 4]>,
    /// For each version: tasks that wrote it, tasks that read it.
    versions: Vec<[u32; 2]>,
}

impl Fans {
    fn new(fine: &Fine) -> Self {
        let mut fans = Self { tasks: vec![[0; 4]; fine.tasks.len()], versions: vec![[0; 2]; fine.versions.len()] };
        for access in &fine.accesses {
            fans.tasks[access.task as usize][usize::from(access.write)] += 1;
            fans.versions[access.version as usize][usize::from(!access.write)] += 1;
        }
        for &(from, to) in &fine.pairs {
            fans.tasks[to as usize][2] += 1;
            fans.tasks[from as usize][3] += 1;
        }
        fans
    }

    fn task(&self, at: usize) -> (u32, u32, Option<(u32, u32)>) {
        let [read, written, before, after] = self.tasks[at];
        (read, written, Some((before, after)))
    }

    fn version(&self, at: usize) -> (u32, u32, Option<(u32, u32)>) {
        let [writers, readers] = self.versions[at];
        (writers, readers, None)
    }
}

/// A node while it is merged.
struct Gathered {
    node: Node,
    times: Vec<i64>,
    fans: [Vec<u64>; 4],
    /// Common beginning and end of the names of the members.
    common: Option<(String, String)>,
    hosts: Vec<String>,
    same_name: bool,
    activity: Option<String>,
}

impl Gathered {
    fn new(kind: NodeKind) -> Self {
        let node = Node {
            kind,
            name: String::new(),
            directory: None,
            members: 0,
            role: None,
            host: None,
            life_time_ns: None,
            started_ns: None,
            ended_ns: None,
            read_bytes: 0,
            written_bytes: 0,
            read_back_bytes: 0,
            critical: 0,
            unsure: 0,
            failed: 0,
            accesses_in: None,
            accesses_out: None,
            fan_in: None,
            fan_out: None,
            in_degree: 0,
            out_degree: 0,
            betweenness: None,
        };
        Self { node, times: Vec::new(), fans: Default::default(), common: None, hosts: Vec::new(), same_name: true, activity: None }
    }

    fn add_task(&mut self, task: &RunTask, lost: bool, critical: bool, by: By) {
        let node = &mut self.node;
        node.members += 1;
        node.critical += u64::from(critical);
        node.unsure += u64::from(lost);
        node.failed += u64::from(task.failed);
        node.started_ns = [node.started_ns, task.started_ns].into_iter().flatten().min();
        node.ended_ns = node.ended_ns.max(task.finished_ns);
        // The running time of all models: what the engine measured, otherwise from start to end.
        let between = || task.started_ns.zip(task.finished_ns).and_then(|(start, end)| elapsed_ns(start, end));
        let ran = task.run_time_ns.or_else(between);
        self.times.extend(ran.filter(|time| *time >= 0));
        if let Some(host) = task.host.as_ref().filter(|host| !self.hosts.contains(host)) {
            // One more shows that there are several.
            if self.hosts.len() < 2 {
                self.hosts.push(host.clone());
            }
        }
        let name = match by {
            By::Each | By::Activity => task.activity.as_str(),
            By::Job => task.job.as_deref().unwrap_or("(no job)"),
            By::Host => task.host.as_deref().unwrap_or("(host not known)"),
        };
        if node.members == 1 {
            node.name = if by == By::Each { task.name.clone() } else { name.to_owned() };
            self.activity = Some(name.to_owned());
        } else if by == By::Each && node.members == 2 {
            node.name = self.activity.clone().unwrap_or_default();
        }
    }

    fn add_version(&mut self, path: &str, version: &Version, critical: bool, files: FilesBy) {
        let node = &mut self.node;
        node.members += 1;
        node.critical += u64::from(critical);
        let role = match (version.written, version.read) {
            (false, _) => Role::Input,
            (true, true) => Role::Between,
            (true, false) => Role::Output,
        };
        node.role = Some(match node.role {
            Some(known) if known != role => Role::Between,
            _ => role,
        });
        if files == FilesBy::Directory {
            node.name = format!("{}/", directory(path).trim_end_matches('/'));
            return;
        }
        if node.members == 1 {
            node.name = base(path).to_owned();
            node.directory = Some(directory(path).to_owned());
            self.common = Some((base(path).to_owned(), base(path).to_owned()));
            return;
        }
        if node.directory.as_deref().is_some_and(|known| known != directory(path)) {
            node.directory = None;
        }
        self.same_name &= node.name == base(path);
        if let Some((front, back)) = &mut self.common {
            let name = base(path);
            let same = front.char_indices().zip(name.chars()).find(|((_, a), b)| a != b);
            let length = same.map_or(front.len().min(name.len()), |((at, _), _)| at);
            front.truncate(length);
            let same: usize = back.chars().rev().zip(name.chars().rev()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
            back.replace_range(..back.len() - same, "");
        }
    }

    fn add_life(&mut self, first: Option<i64>, last: Option<i64>) {
        let node = &mut self.node;
        node.started_ns = [node.started_ns, first].into_iter().flatten().min();
        node.ended_ns = node.ended_ns.max(last);
        self.times.extend(first.zip(last).and_then(|(first, last)| elapsed_ns(first, last)));
    }

    fn add_fans(&mut self, (into, out, pairs): (u32, u32, Option<(u32, u32)>)) {
        self.fans[0].push(into.into());
        self.fans[1].push(out.into());
        if let Some((before, after)) = pairs {
            self.fans[2].push(before.into());
            self.fans[3].push(after.into());
        }
    }

    fn finish(mut self) -> Node {
        let mut node = self.node;
        let many_names = node.kind == NodeKind::File && node.members > 1 && !self.same_name;
        if many_names && let Some((front, back)) = &self.common {
            // They must not overlap in the shortest name.
            let room = node.name.len().saturating_sub(front.len());
            let back = if back.len() > room { "" } else { back };
            // A letter or two that names happen to share say nothing.
            let says = front.chars().count() > 2 || back.contains('.');
            node.name = if says { format!("{front}*{back}") } else { format!("{} and {} more", node.name, node.members - 1) };
        }
        node.host = match self.hosts.len() {
            1 => self.hosts.pop(),
            _ => None,
        };
        node.life_time_ns = Stats::new(&mut self.times);
        let [into, out, before, after] = self.fans.map(|numbers| Spread::new(numbers.into_iter()));
        (node.accesses_in, node.accesses_out, node.fan_in, node.fan_out) = (into, out, before, after);
        node
    }
}

#[cfg(test)]
mod tests {
    use flowmine_activity_log::{Declared, FileFlow, Loss};
    use proptest::prelude::*;

    use super::*;

    const S: i64 = 1_000_000_000;

    fn task(activity: &str, number: usize, start: i64, end: i64) -> RunTask {
        RunTask {
            name: format!("{activity} {number}"),
            activity: activity.to_owned(),
            attempts: 1,
            started_ns: Some(start * S),
            finished_ns: Some(end * S),
            parents_known: true,
            host: Some(format!("n{}", number % 2)),
            job: Some(number.to_string()),
            ..RunTask::default()
        }
    }

    fn add(run: &mut RunGraph, path: &str, version: u64, writer: u32, reader: u32) {
        let file = run.files.find(path).unwrap_or_else(|| run.files.push(path));
        let moment = |task: u32, after: i64| run.tasks.get(task as usize).and_then(|task| task.started_ns).map(|ns| ns + after);
        run.flows.push(FileFlow {
            file,
            version,
            writer,
            reader,
            was_there: writer == NONE,
            written_bytes: if writer == NONE { 0 } else { 100 },
            read_bytes: if reader == NONE { 0 } else { 10 },
            first_write_ns: moment(writer, 0),
            last_write_ns: moment(writer, 2 * S),
            first_read_ns: moment(reader, 0),
            last_read_ns: moment(reader, S),
            ..FileFlow::default()
        });
    }

    /// Makes a run of the given number of samples: align reads an existing file and writes one that
    /// sort reads; merge reads the output of all sorts.
    fn samples(count: usize) -> RunGraph {
        let mut run = RunGraph { name: "r".to_owned(), noun: "task", ..RunGraph::default() };
        for at in 0..count {
            run.tasks.push(task("align", at, 0, 10 + at as i64));
            run.tasks.push(task("sort", at, 20 + at as i64, 30 + at as i64));
        }
        let merge = run.tasks.len() as u32;
        run.tasks.push(task("merge", 0, 40 + count as i64, 60 + count as i64));
        for at in 0..count as u64 {
            let (align, sort) = (2 * at as u32, 2 * at as u32 + 1);
            add(&mut run, &format!("/in/s{at}.fq"), 4 * at, NONE, align);
            add(&mut run, &format!("/w/s{at}.bam"), 4 * at + 1, align, sort);
            add(&mut run, &format!("/w/s{at}.sorted.bam"), 4 * at + 2, sort, merge);
            add(&mut run, "/usr/lib/libc.so", 4 * at + 3, NONE, align);
        }
        add(&mut run, "/w/all.bam", 1 << 40, merge, NONE);
        run
    }

    fn names(found: &RunDag) -> Vec<(&str, u64)> {
        found.nodes.iter().map(|node| (node.name.as_str(), node.members)).collect()
    }

    #[test]
    fn a_thousand_samples_are_one_lane() {
        let found = discover(&samples(1000), &Options::default());
        assert_eq!(found.fold, Fold::Equal);
        let wanted =
            [("align", 1000), ("sort", 1000), ("merge 0", 1), ("s*.fq", 1000), ("s*.bam", 1000), ("s*.sorted.bam", 1000), ("all.bam", 1)];
        assert_eq!(names(&found), wanted);
        assert_eq!((found.tasks, found.versions, found.left_out.system_files, found.left_out.system_bytes), (2001, 3001, 1000, 10_000));
        let merge = &found.nodes[2];
        let of = |spread: &Option<Spread>| spread.map(|of| (of.min, of.max));
        assert_eq!(
            (of(&merge.fan_in), of(&merge.accesses_in), of(&merge.accesses_out)),
            (Some((1000, 1000)), Some((1000, 1000)), Some((1, 1)))
        );
        assert_eq!((merge.read_bytes, merge.written_bytes, merge.in_degree, merge.out_degree), (10_000, 100, 1, 1));
        // The last sample is the slowest: its tasks are on the path, and so are the files between them.
        let critical: Vec<(&str, u64)> =
            found.nodes.iter().filter(|node| node.critical > 0).map(|node| (node.name.as_str(), node.critical)).collect();
        assert_eq!(critical, [("align", 1), ("sort", 1), ("merge 0", 1), ("s*.bam", 1), ("s*.sorted.bam", 1)]);
        let edges: Vec<(u32, u32, EdgeKind, Option<i64>, bool)> =
            found.edges.iter().map(|edge| (edge.from, edge.to, edge.kind, edge.bytes, edge.critical)).collect();
        let (w, r) = (EdgeKind::Write, EdgeKind::Read);
        assert_eq!(
            edges,
            [
                (0, 4, w, Some(100_000), true),
                (1, 5, w, Some(100_000), true),
                (2, 6, w, Some(100), false),
                (3, 0, r, Some(10_000), false),
                (4, 1, r, Some(10_000), true),
                (5, 2, r, Some(10_000), true),
            ]
        );
        // Ten bytes in each second.
        assert_eq!(found.edges[3].bytes_per_s, Some(10.0));
        assert_eq!(found.nodes[3].role, Some(Role::Input));
        assert_eq!((found.nodes[4].role, found.nodes[6].role), (Some(Role::Between), Some(Role::Output)));
        // All tasks are between the inputs and the output.
        assert!(found.nodes[4].betweenness > found.nodes[3].betweenness);
    }

    #[test]
    fn other_ways_to_put_together() {
        let run = samples(10);
        let by = |by, files, fold| discover(&run, &Options { by, files: Some(files), fold, ..Options::default() });
        let hosts = by(By::Host, FilesBy::Directory, None);
        assert_eq!(names(&hosts), [("n0", 11), ("n1", 10), ("/in/", 10), ("/w/", 21)]);
        let tasks = by(By::Each, FilesBy::None, Some(Fold::Name));
        assert_eq!(names(&tasks), [("align", 10), ("sort", 10), ("merge 0", 1)]);
        assert!(tasks.edges.iter().all(|edge| edge.kind == EdgeKind::Data && edge.critical));
        let each = by(By::Each, FilesBy::Each, Some(Fold::Never));
        assert_eq!((each.nodes.len(), each.edges.len()), (21 + 31, 10 * 5 + 1));
        let few = discover(&run, &Options { most_with_files: 4, fold: Some(Fold::Name), ..Options::default() });
        assert_eq!((names(&few), few.files_by, few.hidden_files), (names(&tasks), FilesBy::None, 4));
        let jobs = by(By::Job, FilesBy::None, None);
        assert_eq!(jobs.nodes.len(), 10);
        let chosen = run.tasks.iter().map(|task| task.activity == "sort").collect();
        let part = discover(&run, &Options { chosen: Some(chosen), ..Options::default() });
        assert_eq!((names(&part), part.left_out.tasks), (vec![("sort", 10), ("s*.bam", 10), ("s*.sorted.bam", 10)], 11));
        assert_eq!(part.nodes[0].critical, 1);
    }

    #[test]
    fn a_sample_that_differs_is_beside_the_others() {
        let mut run = samples(5);
        // The third is sorted twice.
        run.tasks.push(task("sort", 9, 35, 36));
        let extra = run.tasks.len() as u32 - 1;
        add(&mut run, "/w/s2.bam", 9, 4, extra);
        run.flows.sort_by_key(|flow| flow.version);
        let equal = discover(&run, &Options { fold: Some(Fold::Equal), ..Options::default() });
        let tasks = |found: &RunDag| -> Vec<(String, u64)> {
            found.nodes.iter().filter(|node| node.kind == NodeKind::Task).map(|node| (node.name.clone(), node.members)).collect()
        };
        let of = |name: &str, n: u64| (name.to_owned(), n);
        // The ancestors of the third are equal to those of the others; the descendants of its
        // alignment are not.
        assert_eq!(tasks(&equal), [of("align", 4), of("sort", 5), of("align 2", 1), of("merge 0", 1), of("sort 9", 1)]);
        let alike = discover(&samples(5), &Options { fold: Some(Fold::Alike), ..Options::default() });
        assert_eq!(tasks(&alike), [of("align", 5), of("sort", 5), of("merge 0", 1)]);
    }

    #[test]
    fn attempts_are_added_up_and_what_is_read_back_is_told() {
        let mut run = RunGraph { noun: "task", ..RunGraph::default() };
        run.tasks = vec![task("align", 0, 0, 10), task("sort", 0, 20, 30)];
        // Two attempts wrote the version, which sort and align itself read; each writer has a row with each reader.
        for (attempt, reader) in [(1, 1), (1, 0), (2, 1), (2, 0)] {
            add(&mut run, "/w/a.bam", 0, 0, reader);
            let flow = run.flows.last_mut().unwrap();
            (flow.writer_attempt, flow.reader_attempt) = (attempt, 1);
        }
        let found = discover(&run, &Options { fold: Some(Fold::Never), ..Options::default() });
        let edges: Vec<(u32, u32, Option<i64>)> = found.edges.iter().map(|edge| (edge.from, edge.to, edge.bytes)).collect();
        assert_eq!(edges, [(0, 2, Some(200)), (2, 1, Some(10))]);
        assert_eq!((found.nodes[0].read_back_bytes, found.nodes[0].read_bytes, found.accesses), (10, 0, 2));
    }

    #[test]
    fn what_is_uncertain_is_said() {
        let mut run = samples(2);
        run.losses.push(Loss { host: "n0".to_owned(), from_ns: 5 * S, to_ns: 6 * S, count: 7 });
        run.flows[1].doubtful = true;
        run.declared = vec![Declared { from: 0, to: 3, for_start: false }, Declared { from: 0, to: 1, for_start: false }];
        let found = discover(&run, &Options { fold: Some(Fold::Never), ..Options::default() });
        let unsure: Vec<&str> = found.nodes.iter().filter(|node| node.unsure > 0).map(|node| node.name.as_str()).collect();
        assert_eq!((found.lost, unsure), (7, vec!["align 0", "s0.bam"]));
        assert_eq!(found.edges.iter().filter(|edge| edge.doubtful > 0).count(), 1);
        // A declared dependency without data has an edge; one with data has the edge of the data.
        let declared: Vec<(u32, u32)> =
            found.edges.iter().filter(|edge| edge.kind == EdgeKind::Declared).map(|edge| (edge.from, edge.to)).collect();
        assert_eq!((declared, found.left_out.declared_and_done), (vec![(0, 3)], 1));
    }

    #[test]
    fn nothing_is_an_empty_graph() {
        let found = discover(&RunGraph::default(), &Options::default());
        assert_eq!((found.nodes.len(), found.edges.len(), found.critical_ns), (0, 0, None));
    }

    proptest! {
        /// For any run, with cycles, unknown tasks, and files that are read before they are
        /// written: the graph has all tasks, versions and bytes with any folding, a coarser folding
        /// has no more nodes, and edges lead from node to node.
        #[test]
        fn nothing_is_lost_by_folding(
            tasks in prop::collection::vec((0usize..4, 0i64..50, 0i64..20), 1..12),
            flows in prop::collection::vec((0u64..12, 0u32..14, 0u32..14), 0..40),
            declared in prop::collection::vec((0u32..14, 0u32..14), 0..20),
        ) {
            let count = tasks.len() as u32;
            let mut run = RunGraph { noun: "task", ..RunGraph::default() };
            for (at, (activity, start, time)) in tasks.iter().enumerate() {
                run.tasks.push(task(["a", "b", "c", "d"][*activity], at, *start, start + time));
            }
            let known = |of: u32| if of < count { of } else { NONE };
            for (version, writer, reader) in flows {
                add(&mut run, &format!("/w/f{}.x", version / 2), version, known(writer), known(reader));
            }
            run.declared = declared.into_iter().filter(|(a, b)| *a < count && *b < count).map(|(from, to)| Declared { from, to, for_start: false }).collect();
            run.declared.sort_unstable();
            run.declared.dedup();
            let mut before: Option<(usize, i64, i64, u64)> = None;
            for fold in Fold::ALL {
                let found = discover(&run, &Options { fold: Some(fold), ..Options::default() });
                let of = |kind: NodeKind| found.nodes.iter().filter(|node| node.kind == kind).map(|node| node.members).sum::<u64>();
                prop_assert_eq!((of(NodeKind::Task), of(NodeKind::File)), (found.tasks, found.versions));
                prop_assert_eq!(found.tasks, u64::from(count));
                let bytes = |kind: EdgeKind| found.edges.iter().filter(|edge| edge.kind == kind).filter_map(|edge| edge.bytes).sum::<i64>();
                let lines: u64 = found.edges.iter().map(|edge| edge.count).sum();
                prop_assert_eq!(lines, found.accesses);
                prop_assert!(found.edges.iter().all(|edge| (edge.from as usize) < found.nodes.len() && (edge.to as usize) < found.nodes.len()));
                let now = (found.nodes.len(), bytes(EdgeKind::Write), bytes(EdgeKind::Read), lines);
                if let Some((nodes, written, read, _)) = before {
                    prop_assert!(fold == Fold::Name || now.0 <= nodes, "{:?}: {} nodes, {} before", fold, now.0, nodes);
                    prop_assert_eq!((now.1, now.2), (written, read));
                }
                before = Some(now);
                for files in [FilesBy::Directory, FilesBy::None] {
                    let found = discover(&run, &Options { fold: Some(fold), files: Some(files), ..Options::default() });
                    prop_assert!(found.edges.iter().all(|edge| (edge.from as usize) < found.nodes.len() && (edge.to as usize) < found.nodes.len()));
                }
            }
        }
    }
}

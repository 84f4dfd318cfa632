//! A dataset's jobs, in parts that fit in memory.
//!
//! In goes a dataset; out come [`Jobs`], part after part. A part holds whole submissions, and with
//! each all that it is joined to by declared dependencies or a singleton's name: whatever `Jobs`
//! says of a job is the same as if all were read at once, so is the case it belongs to when a case
//! is made of such joins. A dataset of no more than [`ROWS_AT_ONCE`] rows is one part. Of a larger
//! one the rows are partitioned into a temporary file first; memory then holds one part's rows, and
//! eight to twelve bytes for each id that takes part in a dependency. What one chain of
//! dependencies joins stays together, so that a part is as large as the largest case at least.
//!
//! The order of the parts, and of what is in them, depends on the rows only.

use std::fs::File;
use std::hash::{Hash, Hasher};
use std::io::Write;
use std::num::NonZero;
use std::os::unix::fs::FileExt;
use std::sync::mpsc::{Receiver, sync_channel};

use flowmine_dataset::Dataset;
use flowmine_schema::row::Record;
use flowmine_schema::tables::JobState;
use flowmine_slurm::job_ref;
use flowmine_spill::SpillError;
use flowmine_spill::{temporary, temporary_error};
use rustc_hash::{FxHashSet, FxHasher};

use crate::attempts::JobRow;
use crate::dependencies::{DependencyRow, TargetKind};
use crate::jobs::{Jobs, JobsBuilder};
use crate::row_rules::RowRules;
use crate::{CorrelateError, Timestamp};

/// How many rows of `job_states` are held at once.
pub const ROWS_AT_ONCE: u64 = 50_000;

/// How many parts are put together at once, at most.
const MOST_THREADS: usize = 4;

/// A dataset's jobs, ready to be walked through part after part, as often as wanted.
pub struct Parts<'r> {
    rows: Rows,
    timestamp: Timestamp,
    rules: &'r RowRules,
}

enum Rows {
    /// All rows in memory, as one part.
    One(Box<Jobs>),
    /// The rows in a temporary file, to be read part after part.
    Spilled(Spilled),
}

impl<'r> Parts<'r> {
    /// Reads a dataset whose rows the rules change; of more than so many rows only what joins them
    /// stays in memory.
    ///
    /// # Errors
    /// When the dataset cannot be read or the temporary file not be written.
    pub fn of(dataset: &Dataset, timestamp: Timestamp, rules: &'r RowRules, rows_at_once: u64) -> Result<Self, CorrelateError> {
        let count = dataset.row_count::<JobState<'static>>()?;
        let rows = if count <= rows_at_once {
            Rows::One(Box::new(Jobs::read_with(dataset, timestamp, rules)?))
        } else {
            Rows::Spilled(partition(dataset, count.div_ceil(rows_at_once))?)
        };
        Ok(Self { rows, timestamp, rules })
    }

    /// Calls `each` with every part, always in the same order. While it works on one, the next ones
    /// are put together, one on each of some threads.
    ///
    /// # Errors
    /// When the temporary file cannot be read, or what `each` returns.
    pub fn for_each<E: From<CorrelateError>>(&self, mut each: impl FnMut(&Jobs) -> Result<(), E>) -> Result<(), E> {
        let spilled = match &self.rows {
            Rows::One(jobs) => return each(jobs),
            Rows::Spilled(spilled) => spilled,
        };
        let parts: Vec<usize> = (0..spilled.blocks.len()).filter(|&part| !spilled.blocks[part].is_empty()).collect();
        let threads = std::thread::available_parallelism().map_or(1, NonZero::get).min(MOST_THREADS);
        std::thread::scope(|scope| {
            // A thread waits with its part until that is taken: no more than one of each is in memory.
            let made: Vec<Receiver<Result<Jobs, CorrelateError>>> = (0..threads)
                .map(|first| {
                    let (send, receive) = sync_channel(0);
                    let own = parts.iter().skip(first).step_by(threads);
                    scope.spawn(move || {
                        for &part in own {
                            // Nobody takes it when `each` has failed.
                            if send.send(spilled.jobs(part, self.timestamp, self.rules)).is_err() {
                                break;
                            }
                        }
                    });
                    receive
                })
                .collect();
            for from in made.iter().cycle().take(parts.len()) {
                // A thread that panicked makes the whole panic.
                let Ok(jobs) = from.recv() else { break };
                each(&jobs?)?;
            }
            Ok(())
        })
    }
}

/// What stands for an id of a cluster. Two that happen to share one only end up in the same part.
type Node = u64;

fn node(cluster: &str, id: i64) -> Node {
    fingerprint((cluster, id))
}

fn fingerprint(of: impl Hash) -> Node {
    let mut hasher = FxHasher::default();
    of.hash(&mut hasher);
    // The high bits are used to look nodes up: they must not be those of the id.
    let mixed = hasher.finish().wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ (mixed >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

macro_rules! root {
    ($row:expr) => {
        job_ref::whole(&$row.job).or($row.array_job_id).or($row.het_job_id).unwrap_or($row.job_id)
    };
}

/// Numbers, each once, in order; takes them in any.
#[derive(Default)]
struct Gathered {
    sorted: Vec<Node>,
    new: Vec<Node>,
}

impl Gathered {
    fn add(&mut self, node: Node) {
        self.new.push(node);
        if self.new.len() > (1 << 16) + self.sorted.len() / 4 {
            self.merge();
        }
    }

    fn merge(&mut self) {
        self.sorted.append(&mut self.new);
        self.sorted.sort_unstable();
        self.sorted.dedup();
        self.new.shrink_to(1 << 16);
    }

    fn finish(mut self) -> Vec<Node> {
        self.merge();
        self.sorted.shrink_to_fit();
        self.sorted
    }
}

/// Which ids belong together: a union-find structure over [`Node`]s.
struct Joined {
    nodes: Vec<Node>,
    parent: Vec<u32>,
    /// Where the nodes with the same highest bits begin, and how many lower bits there are.
    begins: Vec<u32>,
    shift: u32,
}

impl Joined {
    fn new(nodes: Vec<Node>) -> Self {
        let parent = (0..nodes.len() as u32).collect();
        let bits = (nodes.len() / 8).max(2).ilog2();
        let shift = Node::BITS - bits;
        let begins = (0..=1u64 << bits).map(|high| nodes.partition_point(|node| node >> shift < high) as u32).collect();
        Self { nodes, parent, begins, shift }
    }

    fn place(&self, node: Node) -> Option<u32> {
        let high = (node >> self.shift) as usize;
        let (begin, end) = (self.begins[high], self.begins[high + 1]);
        let at = self.nodes[begin as usize..end as usize].binary_search(&node).ok()?;
        Some(begin + at as u32)
    }

    fn find(&mut self, mut at: u32) -> u32 {
        while self.parent[at as usize] != at {
            let above = self.parent[self.parent[at as usize] as usize];
            self.parent[at as usize] = above;
            at = above;
        }
        at
    }

    fn join(&mut self, a: Node, b: Node) {
        if let (Some(a), Some(b)) = (self.place(a), self.place(b)) {
            let (a, b) = (self.find(a), self.find(b));
            // The smaller one stays on top, whatever the order.
            self.parent[a.max(b) as usize] = a.min(b);
        }
    }

    /// The node that stands for all that this one is joined to.
    fn representative(&mut self, node: Node) -> Node {
        let Some(at) = self.place(node) else { return node };
        let top = self.find(at);
        self.nodes[top as usize]
    }
}

flowmine_schema::columns! {
    /// The ids by which a job and its submission are named.
    struct Ids of JobState { cluster, job, job_id, array_job_id, het_job_id }
}

flowmine_schema::columns! {
    /// The ids of a job, and whose it is.
    struct Names of JobState { cluster, job, job_id, array_job_id, het_job_id, user, name }
}

fn source_of(row: &DependencyRow<'_>) -> Node {
    let id = job_ref::whole(&row.job).or_else(|| row.job.parse().ok());
    // A label that is no number joins nothing but itself.
    id.map_or_else(|| node(&row.job, i64::MIN), |id| node(&row.cluster, id))
}

/// Finds out which ids belong together.
fn join(dataset: &Dataset) -> Result<Joined, CorrelateError> {
    let mut targets = Gathered::default();
    let mut singletons: FxHashSet<Node> = FxHashSet::default();
    dataset.read::<DependencyRow<'static>, CorrelateError>(|row| {
        if let Some(id) = row.target_job_id {
            targets.add(source_of(&row));
            targets.add(node(&row.cluster, id));
        }
        if TargetKind::of(&row.target_kind) == TargetKind::UserAndName {
            singletons.insert(source_of(&row));
        }
        Ok(())
    })?;
    let targets = targets.finish();
    // A target can be the raw id of a task or a component, and a job can be known under its raw id before its array is.
    let mut more: FxHashSet<(Node, Node)> = FxHashSet::default();
    let mut names: FxHashSet<Node> = FxHashSet::default();
    let named = |row: &Names<'_>| Some(fingerprint((&row.cluster, row.user.as_deref()?, row.name.as_deref()?)));
    // What a row says of ids; its node as a whole.
    let mut told = |cluster: &str, job: &str, job_id: i64, root: i64| {
        let whole = node(cluster, root);
        if job_id != root {
            let own = node(cluster, job_id);
            if targets.binary_search(&own).is_ok() {
                more.insert((own, whole));
            }
        }
        if let Ok(label) = job.parse::<i64>()
            && label != root
        {
            more.insert((node(cluster, label), whole));
        }
        whole
    };
    if singletons.is_empty() {
        dataset.read::<Ids<'static>, CorrelateError>(|row| {
            told(&row.cluster, &row.job, row.job_id, root!(row));
            Ok(())
        })?;
    } else {
        dataset.read::<Names<'static>, CorrelateError>(|row| {
            if singletons.contains(&told(&row.cluster, &row.job, row.job_id, root!(row))) {
                names.extend(named(&row));
            }
            Ok(())
        })?;
    }
    if !names.is_empty() {
        dataset.read::<Names<'static>, CorrelateError>(|row| {
            if let Some(name) = named(&row).filter(|name| names.contains(name)) {
                more.insert((name, node(&row.cluster, root!(row))));
            }
            Ok(())
        })?;
    }
    let mut nodes = Gathered { sorted: targets, new: Vec::new() };
    for &(a, b) in &more {
        nodes.add(a);
        nodes.add(b);
    }
    let mut joined = Joined::new(nodes.finish());
    for (a, b) in more {
        joined.join(a, b);
    }
    dataset.read::<DependencyRow<'static>, CorrelateError>(|row| {
        if let Some(id) = row.target_job_id {
            joined.join(source_of(&row), node(&row.cluster, id));
        }
        Ok(())
    })?;
    Ok(joined)
}

const STATE: u8 = 0;
const DEPENDENCY: u8 = 1;

/// Rows in a temporary file, those of each part in blocks of whole rows.
struct Spilled {
    file: File,
    blocks: Vec<Vec<(u64, u32)>>,
}

struct Partitioner {
    joined: Joined,
    spilled: Spilled,
    buffers: Vec<Vec<u8>>,
    block: usize,
    end: u64,
}

impl Partitioner {
    fn push<'r>(&mut self, kind: u8, whole: Node, row: &impl Record<'r>) -> Result<(), CorrelateError> {
        let representative = self.joined.representative(whole);
        let part = (representative % self.buffers.len() as u64) as usize;
        let buffer = &mut self.buffers[part];
        let start = buffer.len();
        buffer.extend_from_slice(&[0, 0, 0, 0, kind]);
        row.put(buffer);
        let length = u32::try_from(buffer.len() - start - 5).map_err(|_| CorrelateError::TooMany { what: "bytes in one row" })?;
        buffer[start..start + 4].copy_from_slice(&length.to_le_bytes());
        if buffer.len() >= self.block { self.flush(part) } else { Ok(()) }
    }

    fn flush(&mut self, part: usize) -> Result<(), CorrelateError> {
        let buffer = &mut self.buffers[part];
        if !buffer.is_empty() {
            let length = u32::try_from(buffer.len()).map_err(|_| CorrelateError::TooMany { what: "bytes in one row" })?;
            self.spilled.file.write_all(buffer).map_err(|e| CorrelateError::Temporary(temporary_error(e).into()))?;
            self.spilled.blocks[part].push((self.end, length));
            self.end += u64::from(length);
            buffer.clear();
        }
        Ok(())
    }
}

fn partition(dataset: &Dataset, parts: u64) -> Result<Spilled, CorrelateError> {
    let parts = usize::try_from(parts).map_err(|_| CorrelateError::TooMany { what: "rows" })?;
    let joined = join(dataset)?;
    let spilled = Spilled { file: temporary().map_err(CorrelateError::Temporary)?, blocks: vec![Vec::new(); parts] };
    let block = ((12 << 20) / parts).clamp(1 << 12, 1 << 18);
    let mut partitioner = Partitioner { joined, spilled, buffers: vec![Vec::new(); parts], block, end: 0 };
    dataset.read::<JobRow<'static>, CorrelateError>(|row| {
        let whole = node(&row.cluster, root!(row));
        partitioner.push(STATE, whole, &row)
    })?;
    dataset.read::<DependencyRow<'static>, CorrelateError>(|row| partitioner.push(DEPENDENCY, source_of(&row), &row))?;
    for part in 0..parts {
        partitioner.flush(part)?;
    }
    Ok(partitioner.spilled)
}

impl Spilled {
    fn jobs(&self, part: usize, timestamp: Timestamp, rules: &RowRules) -> Result<Jobs, CorrelateError> {
        let damaged = || CorrelateError::Temporary(SpillError::Damaged);
        let mut builder = JobsBuilder::default();
        let mut block = Vec::new();
        for &(start, length) in &self.blocks[part] {
            block.resize(length as usize, 0);
            self.file.read_exact_at(&mut block, start).map_err(|e| CorrelateError::Temporary(temporary_error(e).into()))?;
            let mut rest = &block[..];
            while let Some((&[a, b, c, d, kind], after)) = rest.split_first_chunk() {
                let length = u32::from_le_bytes([a, b, c, d]) as usize;
                let (row, after) = after.split_at_checked(length).ok_or_else(damaged)?;
                match kind {
                    STATE => builder.push_state(&rules.apply(JobRow::take(row).ok_or_else(damaged)?)),
                    _ => builder.push_dependency(&rules.apply(DependencyRow::take(row).ok_or_else(damaged)?)),
                }
                rest = after;
            }
        }
        builder.finish(timestamp)
    }
}

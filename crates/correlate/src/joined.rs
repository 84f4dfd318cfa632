//! Groups of job ids that are joined by dependencies.
//!
//! In go the ids of a dataset's jobs and their declared dependencies; out comes, for each id, the
//! representative of all ids that it is joined to. `correlate` stores the result in the dataset, so
//! that a later partitioning of the same rows need not read them for it.

use std::hash::{Hash, Hasher};

use flowmine_dataset::{Builder, Dataset, Transaction};
use flowmine_schema::tables::JobState;
use flowmine_slurm::job_ref;
use rustc_hash::{FxHashSet, FxHasher};

use crate::CorrelateError;
use crate::dependencies::{DependencyRow, TargetKind};

/// Hash of an id of a cluster. Two ids with the same hash only end up in the same part.
pub(crate) type Node = u64;

pub(crate) fn node(cluster: &str, id: i64) -> Node {
    fingerprint((cluster, id))
}

pub(crate) fn fingerprint(of: impl Hash) -> Node {
    let mut hasher = FxHasher::default();
    of.hash(&mut hasher);
    // The high bits are used to look nodes up: they must not be those of the id.
    let mixed = hasher.finish().wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ (mixed >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// The id that represents a whole job: that of its array or heterogeneous job, or its own.
macro_rules! root {
    ($row:expr) => {
        flowmine_slurm::job_ref::whole(&$row.job).or($row.array_job_id).or($row.het_job_id).unwrap_or($row.job_id)
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
#[derive(Debug, Clone)]
pub(crate) struct Joined {
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

    /// Returns the representative of all nodes that this one is joined to.
    pub(crate) fn representative(&mut self, node: Node) -> Node {
        let Some(at) = self.place(node) else { return node };
        let top = self.find(at);
        self.nodes[top as usize]
    }
}

pub(crate) use root;

flowmine_schema::columns! {
    /// The ids by which a job and its submission are named.
    struct Ids of JobState { cluster, job, job_id, array_job_id, het_job_id }
}

flowmine_schema::columns! {
    /// The ids of a job, with its user and name.
    struct Names of JobState { cluster, job, job_id, array_job_id, het_job_id, user, name }
}

/// Returns the node of the waiting job of a dependency.
pub(crate) fn source_of(row: &DependencyRow<'_>) -> Node {
    let id = job_ref::whole(&row.job).or_else(|| row.job.parse().ok());
    // A label that is no number joins nothing but itself.
    id.map_or_else(|| node(&row.job, i64::MIN), |id| node(&row.cluster, id))
}

/// Finds out which ids belong together.
fn find(dataset: &Dataset) -> Result<Joined, CorrelateError> {
    let mut targets = Gathered::default();
    let mut singletons: FxHashSet<Node> = FxHashSet::default();
    dataset.read::<DependencyRow<'static>, CorrelateError>(|row| {
        if let Some(id) = row.target_job_id {
            targets.add(source_of(&row));
            targets.add(node(&row.cluster, id));
        }
        if TargetKind::new(&row.target_kind) == TargetKind::UserAndName {
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

flowmine_schema::table! {
    /// An id of a job that is joined to others, as `correlate` keeps it for those that partition
    /// the dataset after it: not part of the dataset's tables.
    pub struct JoinedId in ".state" {
        /// The raw files of which it is known: `Dataset::raw_state`, the same in all rows.
        raw_state: i64,
        /// How many ids there are, the same in all rows.
        ids: i64,
        /// A hash of the cluster and the id; null in the one row of a dataset in which nothing is
        /// joined.
        id: opt_i64,
        /// The hash of the representative of all joined ids.
        representative: opt_i64,
    }
}

/// The file in the dataset's `.state` with rows of [`JoinedId`]. Its name changes when their
/// meaning does.
const KEPT: &str = "joined-jobs.parquet";

/// A hash as the signed number of a column, and back.
fn signed(node: Node) -> i64 {
    i64::from_le_bytes(node.to_le_bytes())
}

fn unsigned(number: i64) -> Node {
    Node::from_le_bytes(number.to_le_bytes())
}

impl Joined {
    /// What is joined in a dataset with these raw files ([`Dataset::raw_state`]): as it was kept,
    /// or found anew.
    ///
    /// # Errors
    /// When the dataset cannot be read.
    pub(crate) fn of(dataset: &Dataset, raw_state: u64) -> Result<Self, CorrelateError> {
        Self::kept(dataset, raw_state).map_or_else(|| find(dataset), Ok)
    }

    /// What was kept of these raw files, if anything was, and is whole. One that is damaged, or of
    /// another flowmine, is as none: it can be found anew.
    fn kept(dataset: &Dataset, raw_state: u64) -> Option<Self> {
        let rows = dataset.state_rows::<JoinedId<'static>>(KEPT).ok()??;
        let ids = (!rows.is_empty()).then(|| rows.get(0).ids)?;
        let is_whole = usize::try_from(ids).is_ok_and(|ids| ids.max(1) == rows.len());
        if !is_whole || rows.iter().any(|row| unsigned(row.raw_state) != raw_state || row.ids != ids) {
            return None;
        }
        let known = rows.iter().take(if ids == 0 { 0 } else { rows.len() });
        let pairs: Vec<(Node, Node)> = known.map(|row| Some((unsigned(row.id?), unsigned(row.representative?)))).collect::<Option<_>>()?;
        if !pairs.is_sorted_by(|(a, _), (b, _)| a < b) {
            return None;
        }
        let mut joined = Self::new(pairs.iter().map(|(id, _)| *id).collect());
        for (id, representative) in pairs {
            joined.place(representative)?;
            joined.join(id, representative);
        }
        Some(joined)
    }

    /// Keeps it in the dataset, of which the raw files are these.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(crate) fn keep(&mut self, raw_state: u64, transaction: &mut Transaction<'_>) -> Result<(), CorrelateError> {
        let mut rows = Builder::<JoinedId<'static>>::new();
        let (raw_state, ids) = (signed(raw_state), self.nodes.len() as i64);
        for at in 0..self.nodes.len() {
            let node = self.nodes[at];
            let (id, representative) = (Some(signed(node)), Some(signed(self.representative(node))));
            rows.push(&JoinedId { raw_state, ids, id, representative, ..JoinedId::default() });
        }
        if rows.is_empty() {
            rows.push(&JoinedId { raw_state, ids, ..JoinedId::default() });
        }
        Ok(transaction.put_state_rows(KEPT, rows)?)
    }
}

/// The raw files that there are now ([`Dataset::raw_state`]), if what is joined in a dataset was kept
/// of them.
///
/// # Errors
/// When the dataset cannot be read.
pub fn kept_state(dataset: &Dataset) -> Result<Option<u64>, CorrelateError> {
    let raw_state = dataset.raw_state()?;
    Ok(Joined::kept(dataset, raw_state).map(|_| raw_state))
}

//! The share of a task's time between its first and its last access to a file (Figure 4 of the
//! monitoring paper), for each task attempt and file.

use std::collections::BTreeMap;

use flowmine_attribution::losses::lost_operations;
use flowmine_dataset::Dataset;
use flowmine_schema::losses::LostOperations;
use flowmine_schema::tables::TaskIo;

use super::{FileAccessError, Owner};

/// Use of a file by a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Use {
    /// The task read the file.
    Read,
    /// The task wrote the file.
    Written,
    /// The task read and wrote the file.
    Both,
}

impl Use {
    /// All kinds of use, in the order in which they are listed.
    pub const ALL: [Use; 3] = [Use::Read, Use::Both, Use::Written];

    /// Its name in a word, such as `read`.
    pub fn name(self) -> &'static str {
        match self {
            Use::Read => "read",
            Use::Written => "written",
            Use::Both => "both",
        }
    }
}

/// A task attempt and a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// The task attempt; or a job, pod, container without one.
    pub owner: Owner,
    /// Name of the host on which it used the file.
    pub host: String,
    /// The file's path, if one is known.
    pub path: Option<String>,
    /// How the task used it.
    pub used: Use,
    /// Time from first to last access as a share of the task's time; `None` when that is not known.
    pub share: Option<f64>,
    /// Bytes read from the file.
    pub read_bytes: i64,
    /// Bytes written to the file.
    pub written_bytes: i64,
    /// When the first access began, UTC nanoseconds since 1970.
    pub first_ns: Option<i64>,
    /// When the last access ended, UTC nanoseconds since 1970.
    pub last_ns: Option<i64>,
}

impl Point {
    /// Returns the sum of bytes read and written.
    pub fn bytes(&self) -> i64 {
        flowmine_sums::add(self.read_bytes, self.written_bytes)
    }
}

/// The points of a logical task.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// The logical task; `None` for jobs, pods and containers without a task.
    pub logical_task: Option<String>,
    /// Number of different task attempts (or jobs, pods, containers) among the points.
    pub tasks: usize,
    /// Files and task attempts, by share.
    pub points: Vec<Point>,
}

impl Group {
    /// Returns the logical task, or a description of points without one.
    pub fn name(&self) -> &str {
        self.logical_task.as_deref().unwrap_or("jobs and containers without a task")
    }
}

/// Accesses of all tasks to files, as shares by logical task.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Shares {
    /// The groups of points by logical task, in the order of the first access.
    pub groups: Vec<Group>,
    /// Number of rows of `task_io` about files that were neither read nor written.
    pub untouched: u64,
    /// Number of rows of `task_io` with reads or writes that have no owner.
    pub nobodys: u64,
    /// Operations that the traces do not have.
    pub lost: LostOperations,
}

flowmine_schema::columns! {
    /// Share of its time in which a task read and wrote a file.
    struct ShareRow of TaskIo {
        task, logical_task, cluster, job, pod, container, host, path, read_calls, write_calls,
        read_errors, write_errors, read_bytes, written_bytes, first_read_ns, last_read_ns,
        first_write_ns, last_write_ns, access_share,
    }
}

/// Reads `task_io`. Memory holds a point for each row.
///
/// # Errors
/// When the dataset cannot be read, or there is no point in it.
pub fn read(dataset: &Dataset) -> Result<Shares, FileAccessError> {
    let mut rows = 0u64;
    let mut shares = Shares { lost: lost_operations(dataset)?, ..Shares::default() };
    let mut groups: BTreeMap<Option<String>, Vec<Point>> = BTreeMap::new();
    dataset.read::<ShareRow<'static>, FileAccessError>(|row| {
        rows += 1;
        let (reads, writes) = (row.read_calls > row.read_errors, row.write_calls > row.write_errors);
        let used = match (reads, writes) {
            (true, true) => Use::Both,
            (true, false) => Use::Read,
            (false, true) => Use::Written,
            (false, false) => {
                shares.untouched += 1;
                return Ok(());
            }
        };
        let owner = Owner::new([&row.task, &row.cluster, &row.job, &row.pod, &row.container]);
        if owner == Owner::Nobody {
            shares.nobodys += 1;
            return Ok(());
        }
        groups.entry(row.logical_task.as_deref().map(str::to_owned)).or_default().push(Point {
            owner,
            host: row.host.to_string(),
            path: row.path.as_deref().map(str::to_owned),
            used,
            share: row.access_share.filter(|share| share.is_finite()),
            read_bytes: row.read_bytes,
            written_bytes: row.written_bytes,
            first_ns: [row.first_read_ns, row.first_write_ns].into_iter().flatten().min(),
            last_ns: row.last_read_ns.max(row.last_write_ns),
        });
        Ok(())
    })?;
    if groups.is_empty() {
        return Err(if rows == 0 { FileAccessError::NotCorrelated } else { FileAccessError::NoTask });
    }
    shares.groups = groups.into_iter().map(|(name, points)| group(name, points)).collect();
    let first = |group: &Group| group.points.iter().filter_map(|point| point.first_ns).min();
    shares.groups.sort_by_cached_key(|group| (group.logical_task.is_none(), first(group), group.logical_task.clone()));
    Ok(shares)
}

fn group(logical_task: Option<String>, mut points: Vec<Point>) -> Group {
    let order = |point: &Point| point.share.unwrap_or(f64::INFINITY);
    points.sort_by(|a, b| {
        let rest = |point: &Point| (point.used, point.first_ns, point.last_ns, point.read_bytes, point.written_bytes);
        order(a)
            .total_cmp(&order(b))
            .then_with(|| (&a.owner, &a.path, &a.host).cmp(&(&b.owner, &b.path, &b.host)))
            .then_with(|| rest(a).cmp(&rest(b)))
    });
    let mut tasks: Vec<&Owner> = points.iter().map(|point| &point.owner).collect();
    tasks.sort_unstable();
    tasks.dedup();
    let tasks = tasks.len();
    Group { logical_task, tasks, points }
}

//! The reads and writes of one file (Figure 5 of the monitoring paper), by offset, time and owner.
//!
//! Two passes read the rows of `io_events` of the file's host, with one row group in memory: the
//! first finds the extent and the processes, the second turns operations into bars
//! ([`super::merge`]). The owner of a process comes from `links`.

use std::collections::{BTreeMap, BTreeSet};

use flowmine_attribution::AttributionError;
use flowmine_attribution::files::{FileEvent, Files};
use flowmine_dataset::Dataset;
use flowmine_schema::losses::is_operation;
use flowmine_schema::tables::{DataFlow, IoLoss, TaskTotal};

use super::find::{FileId, Found};
use super::merge::{Bar, Bars, Extent};
use super::processes::Processes;
use super::{FileAccessError, Owner, untold};

flowmine_schema::columns! {
    /// When a task ran.
    struct TaskTime of TaskTotal { task, cluster, job, pod, container, started_ns, ended_ns }
}

flowmine_schema::columns! {
    /// A version of a file.
    struct VersionRow of DataFlow { host, device, inode, generation, incarnation, version, origin, first_write_ns }
}

/// Columns of pixels for which operations are merged when there are many.
pub const COLUMNS: i64 = 860;
/// Rows of pixels for which operations are merged when there are many.
pub const ROWS: i64 = 400;

/// The reads and writes of one file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Accesses {
    /// The file's path.
    pub path: String,
    /// The hosts on which it was used.
    pub hosts: Vec<String>,
    /// Its users, in the order of the first access.
    pub users: Vec<User>,
    /// Times and offsets that contain all its reads and writes.
    pub extent: Extent,
    /// The bars that are drawn: operations, or several of them as one.
    pub bars: Vec<Bar>,
    /// Whether some bars represent several operations, because there are too many to draw each.
    pub merged: bool,
    /// Its versions, when there are several, in order.
    pub versions: Vec<Version>,
    /// Accesses that are known and not drawn.
    pub missing: Missing,
}

/// A user of the file: a task attempt, job, pod or container that read or wrote it.
#[derive(Debug, Clone, PartialEq)]
pub struct User {
    /// The task attempt, job, pod or container that used it.
    pub owner: Owner,
    /// Logical task of the task attempt.
    pub logical_task: Option<String>,
    /// When it started and ended, UTC nanoseconds since 1970, where both are known.
    pub time_ns: Option<(i64, i64)>,
    /// Sum of its reads of the file.
    pub read: Sum,
    /// Sum of its writes to the file.
    pub written: Sum,
}

/// Operations of one user in one direction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sum {
    /// Number of operations.
    pub operations: u64,
    /// Bytes that they moved, according to the results of the calls.
    pub bytes: i64,
    /// When the first began and the last ended, UTC nanoseconds since 1970.
    pub span_ns: Option<(i64, i64)>,
}

impl Sum {
    fn add(&mut self, bar: &Bar) {
        self.operations += bar.operations;
        flowmine_sums::add_to(&mut self.bytes, bar.bytes);
        let (first, last) = self.span_ns.unwrap_or((bar.first_ns, bar.last_ns));
        self.span_ns = Some((first.min(bar.first_ns), last.max(bar.last_ns)));
    }
}

impl User {
    /// A moment as a share of its runtime; `None` where that is not known or zero.
    pub fn share(&self, ns: i64) -> Option<f64> {
        let (start, end) = self.time_ns.filter(|(start, end)| start < end)?;
        Some((ns as f64 - start as f64) / (end as f64 - start as f64))
    }

    /// Returns its name in a figure: its logical task, else its id.
    pub fn name(&self) -> String {
        match (&self.logical_task, &self.owner) {
            (Some(name), _) => name.clone(),
            (None, Owner::Task(id)) => id.clone(),
            (None, Owner::Job { cluster, job }) if cluster.is_empty() => format!("job {job}"),
            (None, Owner::Job { cluster, job }) => format!("job {job} of {cluster}"),
            (None, Owner::Pod(id)) => format!("pod {id}"),
            (None, Owner::Container(id)) => format!("container {id}"),
            (None, Owner::Nobody) => "unassigned".to_owned(),
        }
    }
}

/// A version of the file, from the table `data_flow`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// Its number, as in `data_flow.version`.
    pub version: i64,
    /// Its origin, as in `data_flow.origin`.
    pub origin: String,
    /// When its first write began, UTC nanoseconds since 1970.
    pub first_ns: i64,
}

/// Accesses that are known and not drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Missing {
    /// Number of reads and writes that failed.
    pub failed: u64,
    /// Number of reads and writes with an unknown offset, and their bytes.
    pub no_offset: (u64, i64),
    /// Number of reads and writes with an unknown result.
    pub no_result: u64,
    /// Page faults of mappings of the file.
    pub faults: u64,
    /// Bytes that `task_io` counts beyond these, and bytes beyond what it counts.
    pub only_sums: (i64, i64),
    /// Operations on the hosts that were lost while the file was used.
    pub lost: u64,
}

/// Reads the reads and writes of a file.
///
/// # Errors
/// When the dataset cannot be read, or holds no single reads and writes of the file.
pub fn read(dataset: &Dataset, found: &Found) -> Result<Accesses, FileAccessError> {
    let mut extent: Option<Extent> = None;
    let mut missing = Missing::default();
    let mut processes: Vec<Processes> = found.ids.iter().map(|_| Processes::default()).collect();
    for (id, processes) in found.ids.iter().zip(&mut processes) {
        each_operation(dataset, id, |event| match (bar_of(event), &*event.op) {
            (Some(bar), _) => {
                processes.add(event.pid, event.process_start_ns);
                let known = extent.get_or_insert(Extent { first_ns: bar.first_ns, last_ns: bar.last_ns, offset: bar.offset, end: bar.end });
                known.first_ns = known.first_ns.min(bar.first_ns);
                known.last_ns = known.last_ns.max(bar.last_ns);
                known.offset = known.offset.min(bar.offset);
                known.end = known.end.max(bar.end);
            }
            (None, "fault") => missing.faults += 1,
            (None, "read" | "write") => match event.result {
                None => missing.no_result += 1,
                Some(result) if result < 0 => missing.failed += 1,
                Some(result) => missing.no_offset = (missing.no_offset.0 + 1, flowmine_sums::add(missing.no_offset.1, result)),
            },
            _ => {}
        })?;
        processes.find_owners(dataset, &id.host)?;
    }
    let file = || found.path.clone();
    let Some(extent) = extent else {
        let calls = flowmine_sums::total(found.rows.iter().flat_map(|row| [row.read_calls, row.write_calls]));
        let none = calls == 0 && missing == Missing::default();
        return Err(if none { FileAccessError::NoAccess { file: file() } } else { FileAccessError::OnlySums { file: file() } });
    };
    let mut bars = Bars::new(extent, COLUMNS, ROWS);
    let mut owners: BTreeMap<Owner, u32> = BTreeMap::new();
    for (id, processes) in found.ids.iter().zip(&processes) {
        each_operation(dataset, id, |event| {
            if let Some(bar) = bar_of(event) {
                let owner = processes.owner(event.pid, event.process_start_ns, event.start_ns);
                let next = owners.len() as u32;
                bars.push(Bar { owner: *owners.entry(owner).or_insert(next), ..bar });
            }
        })?;
    }
    let (mut bars, merged) = bars.finish();
    let users = users(dataset, found, owners, &mut bars)?;
    missing.only_sums = differences(found, &users, missing.no_offset.1);
    missing.lost = lost(dataset, &found.ids, extent)?;
    let mut hosts: Vec<String> = found.ids.iter().map(|id| id.host.clone()).collect();
    hosts.dedup();
    Ok(Accesses { path: file(), hosts, users, extent, bars, merged, versions: versions(dataset, found)?, missing })
}

/// Calls `each` with the reads, writes and faults of a file, in the order of the trace.
fn each_operation(dataset: &Dataset, id: &FileId, mut each: impl FnMut(&FileEvent<'_>)) -> Result<(), AttributionError> {
    // Follows deletions and renames as the attribution did, so that a number that is used again is another file here too.
    let mut files = Files::default();
    dataset.read_host::<FileEvent<'static>, AttributionError>(&id.host, |event| {
        let is_file = untold(event.inode) == id.inode && untold(event.device) == id.device && untold(event.generation) == id.generation;
        match &*event.op {
            // Another file can take its name, and its directory can be renamed.
            "rename" => drop(files.moved(&event)),
            _ if !is_file => {}
            "delete" | "link" => drop(files.moved(&event)),
            "open" if event.result.is_some_and(|result| result < 0) => {}
            _ => {
                let at = files.of_event(&event);
                if files.peek(at).is_some_and(|file| i64::from(file.key.incarnation) == id.incarnation) {
                    each(&event);
                }
            }
        }
        Ok(())
    })
}

/// The bar of a read or write that can be drawn; its owner is not known yet.
fn bar_of(event: &FileEvent<'_>) -> Option<Bar> {
    let write = match &*event.op {
        "read" => false,
        "write" => true,
        _ => return None,
    };
    let bytes = event.result.filter(|result| *result >= 0)?;
    let offset = event.offset?;
    let last_ns = event.end_ns.unwrap_or(event.start_ns).max(event.start_ns);
    Some(Bar { owner: 0, write, first_ns: event.start_ns, last_ns, offset, end: offset.saturating_add(bytes), operations: 1, bytes })
}

/// Returns the users of the file, and sets the owners of bars to places in that list.
fn users(dataset: &Dataset, found: &Found, owners: BTreeMap<Owner, u32>, bars: &mut [Bar]) -> Result<Vec<User>, FileAccessError> {
    let mut users: Vec<(u32, User)> = Vec::new();
    for (owner, number) in owners {
        users.push((number, User { owner, logical_task: None, time_ns: None, read: Sum::default(), written: Sum::default() }));
    }
    let by_number: BTreeMap<u32, usize> = users.iter().enumerate().map(|(at, (number, _))| (*number, at)).collect();
    for bar in bars.iter_mut() {
        let Some((_, user)) = by_number.get(&bar.owner).and_then(|at| users.get_mut(*at)) else { continue };
        if bar.write { user.written.add(bar) } else { user.read.add(bar) }
    }
    let first = |user: &User| [user.read.span_ns, user.written.span_ns].into_iter().flatten().map(|(first, _)| first).min();
    users.sort_by(|(_, a), (_, b)| first(a).cmp(&first(b)).then_with(|| a.owner.cmp(&b.owner)));
    let places: BTreeMap<u32, u32> = users.iter().enumerate().map(|(at, (number, _))| (*number, at as u32)).collect();
    for bar in bars.iter_mut() {
        bar.owner = places.get(&bar.owner).copied().unwrap_or_default();
    }
    bars.sort_unstable();
    let mut users: Vec<User> = users.into_iter().map(|(_, user)| user).collect();
    let place: BTreeMap<Owner, usize> = users.iter().enumerate().map(|(at, user)| (user.owner.clone(), at)).collect();
    for row in &found.rows {
        if let Some(at) = place.get(&Owner::new([&row.task, &row.cluster, &row.job, &row.pod, &row.container])) {
            users[*at].logical_task = row.logical_task.as_deref().map(str::to_owned);
        }
    }
    let mut open: BTreeSet<usize> = BTreeSet::new();
    dataset.read::<TaskTime<'static>, FileAccessError>(|row| {
        let owner = Owner::new([&row.task, &row.cluster, &row.job, &row.pod, &row.container]);
        let Some(&at) = place.get(&owner).filter(|_| owner != Owner::Nobody) else { return Ok(()) };
        match row.started_ns.zip(row.ended_ns) {
            Some((start, end)) => {
                let known = users[at].time_ns.unwrap_or((start, end));
                users[at].time_ns = Some((known.0.min(start), known.1.max(end)));
            }
            None => {
                open.insert(at);
            }
        }
        Ok(())
    })?;
    open.into_iter().for_each(|at| users[at].time_ns = None);
    Ok(users)
}

/// Bytes that `task_io` counts beyond those of the operations, and the other way round.
fn differences(found: &Found, users: &[User], no_offset: i64) -> (i64, i64) {
    let counted = flowmine_sums::total(found.rows.iter().flat_map(|row| [row.read_bytes, row.written_bytes]));
    let drawn = flowmine_sums::add(no_offset, flowmine_sums::total(users.iter().flat_map(|user| [user.read.bytes, user.written.bytes])));
    (counted.saturating_sub(drawn).max(0), drawn.saturating_sub(counted).max(0))
}

/// Operations that a host lost within a time.
fn lost(dataset: &Dataset, ids: &[FileId], extent: Extent) -> Result<u64, FileAccessError> {
    let mut lost = 0u64;
    dataset.read::<IoLoss<'static>, FileAccessError>(|row| {
        let concerned = ids.iter().any(|id| id.host == row.host) && is_operation(&row.kind);
        if concerned && row.not_before_ns <= extent.last_ns && row.observed_at_ns >= extent.first_ns {
            flowmine_sums::add_to(&mut lost, row.count.max(0) as u64);
        }
        Ok(())
    })?;
    Ok(lost)
}

/// The versions of the file, when there are several.
fn versions(dataset: &Dataset, found: &Found) -> Result<Vec<Version>, FileAccessError> {
    let mut versions: BTreeMap<i64, Version> = BTreeMap::new();
    dataset.read::<VersionRow<'static>, FileAccessError>(|row| {
        let same = |id: &FileId| {
            let numbers = (untold(row.inode), untold(row.generation), row.incarnation) == (id.inode, id.generation, id.incarnation);
            // Of a file that several hosts have the table names no host.
            numbers && row.host.as_deref().is_none_or(|host| host == id.host && untold(row.device) == id.device)
        };
        if let Some(first_ns) = row.first_write_ns.filter(|_| found.ids.iter().any(same)) {
            let version = versions.entry(row.version);
            let known = version.or_insert_with(|| Version { version: row.version, origin: row.origin.to_string(), first_ns });
            known.first_ns = known.first_ns.min(first_ns);
        }
        Ok(())
    })?;
    let versions: Vec<Version> = versions.into_values().collect();
    Ok(if versions.len() > 1 || versions.first().is_some_and(|version| version.origin == "changed") { versions } else { Vec::new() })
}

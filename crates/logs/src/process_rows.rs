//! The processes of a dataset's traces, each with its parent, its task or job, and what it read and
//! wrote ([`flowmine_activity_log::Processes`]).
//!
//! In go the tables `processes`, `links`, `io_events`, `io_totals` and `losses`. Of the rows of one
//! process the latest holds. Memory holds about two hundred bytes a process.

use flowmine_activity_log::{Interner, NONE, OperationKind, ProcessIo, ProcessRow, Processes, TracedOperation};
use flowmine_correlate::CorrelateError;
use flowmine_dataset::{Dataset, DatasetError};
use flowmine_schema::tables::{IoLoss, Link, Process};
use rustc_hash::FxHashMap;
use serde::Deserialize;

use crate::operations;
pub use crate::places::Places;
use crate::places::{Key, key};

flowmine_schema::columns! {
    /// How many records of a kind were lost.
    struct Lost of IoLoss { kind, count }
}

flowmine_schema::columns! {
    /// What is read of a process.
    struct ProcessColumns of Process {
        host, pid, process_start_ns, as_of_ns, started_ns, first_seen, parent_pid, parent_start_ns,
        cgroup_id, executable, command_line, earlier_programs, exec_ns, execs, exit_ns, exit_code,
        exit_signal, utime_ns, stime_ns, run_delay_ns,
    }
}

/// A process while its rows are merged.
struct Found {
    row: ProcessRow,
    as_of_ns: i64,
    parent: Option<(i32, Option<i64>)>,
    cgroup: Option<i64>,
    /// Names of the programs that it was before the last one, and until when.
    earlier: Vec<(u32, i64)>,
    run_delay_ns: Option<i64>,
}

/// When a process lived, and what its time went to, in nanoseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Life {
    pub started_ns: Option<i64>,
    pub ended_ns: Option<i64>,
    pub cpu_ns: Option<i64>,
    pub run_delay_ns: Option<i64>,
}

/// Processes while their rows are merged.
#[derive(Default)]
pub(crate) struct Gathered {
    hosts: Interner,
    programs: Interner,
    owners: Interner,
    found: Vec<Found>,
    place: FxHashMap<Key, u32>,
}

/// Reads all processes that were traced, with what each read and wrote.
///
/// # Errors
/// When the dataset cannot be read.
pub fn read(dataset: &Dataset) -> Result<Processes, CorrelateError> {
    let (mut processes, places) = read_places(dataset)?;
    operations::each(dataset, &places, |operation| {
        let (process, io) = match operation {
            TracedOperation::One(one) => {
                let (bytes, time_ns) = (one.bytes(), one.latency_ns().unwrap_or(0));
                let io = match one.kind {
                    OperationKind::Read => ProcessIo { read_calls: 1, read_bytes: bytes, time_ns, ..ProcessIo::default() },
                    OperationKind::Write => ProcessIo { write_calls: 1, written_bytes: bytes, time_ns, ..ProcessIo::default() },
                    _ => return,
                };
                (one.process, io)
            }
            TracedOperation::Sum(sum) => {
                let io = ProcessIo {
                    read_calls: sum.read.calls,
                    read_bytes: sum.read.bytes,
                    write_calls: sum.write.calls,
                    written_bytes: sum.write.bytes,
                    time_ns: flowmine_sums::add(sum.read.time_ns, sum.write.time_ns),
                };
                (sum.process, io)
            }
        };
        if let Some(row) = processes.rows.get_mut(process as usize) {
            row.io.add(&io);
        }
    })?;
    Ok(processes)
}

/// Reads all processes that were traced, without what they read and wrote, and how they are found.
///
/// # Errors
/// When the dataset cannot be read.
pub fn read_places(dataset: &Dataset) -> Result<(Processes, Places), DatasetError> {
    let gathered = Gathered::of(dataset)?;
    let mut lost = 0;
    dataset.read::<Lost<'static>, DatasetError>(|row| {
        if matches!(&*row.kind, "fork" | "exec" | "exit" | "process") {
            flowmine_sums::add_to(&mut lost, u64::try_from(row.count).unwrap_or(0));
        }
        Ok(())
    })?;
    let (processes, places) = gathered.finish();
    Ok((Processes { lost, ..processes }, places))
}

/// The last part of a path.
fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The name of a program by its path or, where that is not known, by the first word of its command
/// line.
fn program_of(executable: Option<&str>, command_line: Option<&str>) -> Option<String> {
    let words = || serde_json::from_str::<Vec<String>>(command_line?).ok()?.into_iter().next();
    let path = executable.map(str::to_owned).or_else(words)?;
    // A program that was replaced while it ran is shown so by the kernel (proc(5), /proc/PID/exe).
    let name = file_name(path.strip_suffix(" (deleted)").unwrap_or(&path));
    (!name.is_empty()).then(|| name.to_owned())
}

/// An entry of `earlier_programs`.
#[derive(Deserialize)]
struct Earlier {
    exec_ns: Option<i64>,
    executable: Option<String>,
    command_line: Option<String>,
}

impl Gathered {
    /// The processes and to what they belong, without what they read and wrote.
    pub fn of(dataset: &Dataset) -> Result<Self, DatasetError> {
        let mut gathered = Self::default();
        dataset.read::<ProcessColumns<'static>, DatasetError>(|row| {
            gathered.add(&row);
            Ok(())
        })?;
        gathered.read_links(dataset)?;
        Ok(gathered)
    }

    /// To what each process belongs.
    pub fn owner_names(&self) -> impl Iterator<Item = Option<&str>> {
        let names = self.owners.names();
        self.found.iter().map(move |found| (found.row.owner != NONE).then(|| names.get(found.row.owner)))
    }

    /// Host and life of each process.
    pub fn lives(&self) -> impl Iterator<Item = (&str, Life)> {
        let names = self.hosts.names();
        self.found.iter().map(move |found| {
            let Found { row, run_delay_ns, .. } = found;
            let life = Life { started_ns: row.started_ns, ended_ns: row.ended_ns, cpu_ns: row.cpu_ns, run_delay_ns: *run_delay_ns };
            (names.get(row.host), life)
        })
    }

    /// The number of the host with this name.
    pub fn find_host(&self, host: &str) -> Option<u32> {
        self.hosts.find(host)
    }

    /// The place of the process among those that were found.
    pub fn place(&self, of: Key) -> Option<u32> {
        self.place.get(&of).copied()
    }

    fn add(&mut self, row: &ProcessColumns<'_>) {
        let host = self.hosts.intern(&row.host);
        let next = self.found.len() as u32;
        let at = *self.place.entry(key(host, row.pid, row.process_start_ns, row.started_ns)).or_insert(next);
        if at != next && self.found[at as usize].as_of_ns > row.as_of_ns {
            return;
        }
        let was_running = row.first_seen == "running";
        let earlier = self.earlier(row);
        let found = Found {
            row: ProcessRow {
                host,
                pid: row.pid,
                parent: NONE,
                program: self.program(program_of(row.executable.as_deref(), row.command_line.as_deref())),
                forked_only: row.execs == 0 && !was_running,
                was_running,
                owner: NONE,
                started_ns: row.started_ns,
                ended_ns: row.exit_ns,
                exit_code: row.exit_code,
                exit_signal: row.exit_signal,
                cpu_ns: row.utime_ns.zip(row.stime_ns).map(|(user, system)| flowmine_sums::add(user, system)),
                io: ProcessIo::default(),
            },
            as_of_ns: row.as_of_ns,
            parent: row.parent_pid.map(|pid| (pid, row.parent_start_ns)),
            cgroup: row.cgroup_id,
            earlier,
            run_delay_ns: row.run_delay_ns,
        };
        match self.found.get_mut(at as usize) {
            Some(known) => *known = found,
            None => self.found.push(found),
        }
    }

    fn program(&mut self, name: Option<String>) -> u32 {
        name.map_or(NONE, |name| self.programs.intern(&name))
    }

    /// What it was before, each until it became the next.
    fn earlier(&mut self, row: &ProcessColumns<'_>) -> Vec<(u32, i64)> {
        let Some(told) = row.earlier_programs.as_deref() else { return Vec::new() };
        let list: Vec<Earlier> = serde_json::from_str(told).unwrap_or_default();
        let next = list.iter().skip(1).map(|next| next.exec_ns).chain([row.exec_ns]).collect::<Vec<_>>();
        let programs = list.iter().map(|of| program_of(of.executable.as_deref(), of.command_line.as_deref()));
        programs.zip(next).filter_map(|(name, until)| Some((self.program(name), until?))).collect()
    }

    /// Gives those that run no program of their own that of their parent when it forked them.
    fn inherit(&mut self, rows: &mut [ProcessRow], order: &[u32]) {
        for at in 0..rows.len() {
            let row = rows[at];
            let Some(parent) = rows.get(row.parent as usize).filter(|_| row.forked_only && row.program == NONE) else { continue };
            let earlier = &self.found[order[row.parent as usize] as usize].earlier;
            let then = row.started_ns.and_then(|started| earlier.iter().find(|(_, until)| started < *until));
            rows[at].program = then.map_or(parent.program, |(program, _)| *program);
        }
    }

    /// To which task or, without one, to which job each process belongs, as `flowmine correlate`
    /// found.
    fn read_links(&mut self, dataset: &Dataset) -> Result<(), DatasetError> {
        let mut by_start: FxHashMap<(u32, i32, Option<i64>), u32> = FxHashMap::default();
        for (at, found) in self.found.iter().enumerate() {
            by_start.insert((found.row.host, found.row.pid, found.row.started_ns), at as u32);
        }
        let mut rank: Vec<u8> = vec![u8::MAX; self.found.len()];
        let mut containers: Vec<Option<String>> = vec![None; self.found.len()];
        // Containers and control groups that belong to a task as a whole.
        let mut groups: FxHashMap<(bool, u32, String), u32> = FxHashMap::default();
        dataset.read::<Link<'static>, DatasetError>(|row| {
            if row.relation != "belongs-to" {
                return Ok(());
            }
            let Some(host) = self.hosts.find(&row.source_scope) else { return Ok(()) };
            if matches!(&*row.source_type, "container" | "cgroup") && row.target_type == "task" {
                let owner = self.owners.intern(&row.target);
                groups.insert((row.source_type == "container", host, row.source.into_owned()), owner);
                return Ok(());
            }
            let at = row.source.parse().ok().and_then(|pid| by_start.get(&(host, pid, row.source_ns)));
            let Some(&at) = at.filter(|_| row.source_type == "process") else { return Ok(()) };
            let (of, name) = match &*row.target_type {
                "task" => (0, row.target.into_owned()),
                "job" => (1, format!("job {}", row.target)),
                // The job, a dot, the step.
                "step" => (2, format!("job {}", row.target.split('.').next().unwrap_or_default())),
                "container" => {
                    containers[at as usize] = Some(row.target.into_owned());
                    return Ok(());
                }
                _ => return Ok(()),
            };
            if of < rank[at as usize] {
                rank[at as usize] = of;
                self.found[at as usize].row.owner = self.owners.intern(&name);
            }
            Ok(())
        })?;
        for (at, found) in self.found.iter_mut().enumerate().filter(|(at, _)| rank[*at] > 0) {
            let container = containers[at].take().and_then(|id| groups.get(&(true, found.row.host, id)));
            let group = container.or_else(|| groups.get(&(false, found.row.host, found.cgroup?.to_string())));
            found.row.owner = group.copied().unwrap_or(found.row.owner);
        }
        Ok(())
    }

    /// When the generations of each process number were forked, in order, for sources that report
    /// operations by number alone.
    fn forks(&self) -> FxHashMap<(u32, i32), Vec<(i64, u32)>> {
        let mut forks: FxHashMap<(u32, i32), Vec<(i64, u32)>> = FxHashMap::default();
        for (at, found) in self.found.iter().enumerate() {
            let forked = found.row.started_ns.unwrap_or(i64::MIN);
            forks.entry((found.row.host, found.row.pid)).or_default().push((forked, at as u32));
        }
        forks.values_mut().for_each(|of| of.sort_unstable());
        forks
    }

    fn finish(mut self) -> (Processes, Places) {
        let mut order: Vec<u32> = (0..self.found.len() as u32).collect();
        let names = self.hosts.names();
        order.sort_by_key(|&at| {
            let row = &self.found[at as usize].row;
            (names.get(row.host), row.started_ns, row.pid, at)
        });
        let mut new = vec![NONE; order.len()];
        for (to, &from) in order.iter().enumerate() {
            new[from as usize] = to as u32;
        }
        let forks = self.forks();
        let rows = order.iter().map(|&at| {
            let found = &self.found[at as usize];
            let parent = found.parent.and_then(|(pid, start)| match start {
                Some(start) => self.place.get(&(found.row.host, pid, start)).copied(),
                // The generation that was there when it started.
                None => forks.get(&(found.row.host, pid)).and_then(|of| {
                    let last = of.partition_point(|(forked, _)| Some(*forked) <= found.row.started_ns).checked_sub(1)?;
                    Some(of[last].1)
                }),
            });
            let parent = parent.filter(|&parent| parent != at).map_or(NONE, |parent| new[parent as usize]);
            ProcessRow { parent, ..found.row }
        });
        let mut rows: Vec<ProcessRow> = rows.collect();
        self.inherit(&mut rows, &order);
        let hosts = self.hosts.names().clone();
        let renumbered = |at: u32| new[at as usize];
        let place = self.place.into_iter().map(|(key, at)| (key, renumbered(at))).collect();
        let mut forks = forks;
        forks.values_mut().flatten().for_each(|(_, at)| *at = renumbered(*at));
        let processes = Processes { rows, hosts, programs: self.programs.into_names(), owners: self.owners.into_names(), lost: 0 };
        (processes, Places { hosts: self.hosts, place, forks })
    }
}

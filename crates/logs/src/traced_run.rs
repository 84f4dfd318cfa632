//! A run of a dataset as its tasks were traced ([`flowmine_activity_log::TracedRun`]): how much
//! each task read and wrote at what time, and how much of it others read.
//!
//! In go the tables `task_runs`, `task_totals`, `processes`, `links`, `io_events`, `io_totals`,
//! `data_flow`, `hosts` and `losses`. Where nothing was traced, times and bytes that the engine
//! reports make tasks that read all at their start and write all at their end (`traced` is false).
//! Of several attempts at a task the last one counts.
//!
//! The progress of a task in a file is the end of the highest range that it has read or written by
//! then, where offsets are known; else the number of bytes so far. Memory holds at most [`POINTS`]
//! points for a task and a file, in addition to the data being read.

use std::collections::{BTreeMap, BTreeSet};

use flowmine_activity_log::{Curve, Interner, NONE, RunLeftOut, TracedInput, TracedOutput, TracedRun, TracedTask};
use flowmine_attribution::task_attempts::{self, TaskAttempt};
use flowmine_dataset::{Dataset, DatasetError};
use flowmine_schema::losses::may_move_bytes;
use flowmine_schema::tables::{Host, IoEvent, IoLoss, IoTotal, TaskRun};
use rustc_hash::FxHashMap;
use serde::Deserialize;

use crate::columns::each_flow;
use crate::places::key;
use crate::process_rows::{Gathered, Life};
use crate::run_graph::{RunGraphError, Runs};
use crate::task_log::run_names::run_or_engine;
use crate::task_log::{TaskLogError, Tasks};
use crate::task_summary::run_time_s;

flowmine_schema::columns! {
    /// How many records of a kind were lost.
    struct Lost of IoLoss { kind, count }
}

flowmine_schema::columns! {
    /// How many processors a host has.
    struct Processors of Host { host, processors }
}

flowmine_schema::columns! {
    /// A read or write.
    struct Transfer of IoEvent { host, pid, process_start_ns, op, start_ns, end_ns, device, inode, generation, offset, result }
}

/// Maximum number of points kept for a task and a file.
pub const POINTS: usize = 2048;
/// Number of points gathered before they are thinned to [`POINTS`].
const GATHERED: usize = 4 * POINTS;

/// Parts into which operations are cut that were added up.
const PARTS: i64 = 32;

/// The runs of a dataset, each with its ids and names.
///
/// # Errors
/// When the dataset cannot be read, or nothing in it is a task.
pub fn runs(tasks: &Tasks<'_>) -> Result<Vec<(String, Vec<String>)>, RunGraphError> {
    let runs: Vec<_> = Runs::read(tasks)?.into_names().collect();
    if runs.is_empty() { Err(RunGraphError::Empty) } else { Ok(runs) }
}

/// The run that is called `run`, or the only one.
///
/// # Errors
/// When the dataset cannot be read, no run can be chosen, or nothing in the dataset is a task.
pub fn read(dataset: &Dataset, tasks: &Tasks<'_>, run: Option<&str>) -> Result<TracedRun, RunGraphError> {
    let runs = Runs::read(tasks)?;
    if runs.is_empty() {
        return Err(RunGraphError::Empty);
    }
    let chosen = runs.choose(run)?.to_owned();
    let mut gathered = Found::default();
    task_attempts::for_each::<TaskLogError>(tasks.dataset, tasks.rules, |attempt| {
        if run_or_engine(&attempt.row) == chosen {
            gathered.add(attempt);
        }
        Ok(())
    })?;
    gathered.choose_completed();
    let mut access = Access::default();
    access.read(dataset, &gathered)?;
    let flows = Flows::read(dataset, tasks, &gathered, &mut access)?;
    let mut found = gathered.finish(&chosen, access, &flows);
    found.processors = processors(dataset)?;
    dataset.read::<Lost<'static>, DatasetError>(|row| {
        if may_move_bytes(&row.kind) {
            flowmine_sums::add_to(&mut found.left_out.lost, u64::try_from(row.count).unwrap_or(0));
        }
        Ok(())
    })?;
    Ok(found)
}

fn processors(dataset: &Dataset) -> Result<Vec<(String, u32)>, DatasetError> {
    let mut of = BTreeMap::new();
    dataset.read::<Processors<'static>, DatasetError>(|row| {
        if let Some(count) = row.processors.and_then(|count| u32::try_from(count).ok()).filter(|count| *count > 0) {
            of.insert(row.host.into_owned(), count);
        }
        Ok(())
    })?;
    Ok(of.into_iter().collect())
}

/// An attempt at a task.
struct TracedAttempt {
    key: String,
    row: TaskRun<'static>,
    traced: bool,
    start_ns: Option<i64>,
    end_ns: Option<i64>,
}

/// The tasks of the run while they are gathered.
#[derive(Default)]
struct Found {
    attempts: Vec<TracedAttempt>,
    by_id: FxHashMap<String, usize>,
    /// Indices into [`TracedRun::tasks`] by the name of the attempt in the tables.
    by_key: FxHashMap<String, u32>,
    left_out: RunLeftOut,
}

impl Found {
    fn add(&mut self, attempt: TaskAttempt) {
        let row = attempt.row;
        let traced = attempt.traced.as_ref();
        let start_ns = row.started_ns.or(traced.and_then(|of| of.started_ns));
        let new = TracedAttempt { key: attempt.key, traced: traced.is_some(), start_ns, end_ns: row.finished_ns, row };
        let known = new.row.task_id.as_deref().and_then(|id| self.by_id.get(id)).copied();
        match known {
            Some(at) if (new.end_ns, new.start_ns) >= (self.attempts[at].end_ns, self.attempts[at].start_ns) => self.attempts[at] = new,
            Some(_) => {}
            None => {
                if let Some(id) = new.row.task_id.as_deref() {
                    self.by_id.insert(id.to_owned(), self.attempts.len());
                }
                self.attempts.push(new);
            }
        }
    }

    /// Leaves out what did not run to its end and puts the others in the order of their starts.
    fn choose_completed(&mut self) {
        let left_out = &mut self.left_out;
        self.attempts.retain(|of| {
            let counter = if of.row.cached {
                &mut left_out.cached
            } else if matches!(&*of.row.status, "failed" | "aborted" | "running" | "submitted") {
                &mut left_out.not_completed
            } else if of.run_s().is_none() {
                &mut left_out.without_times
            } else {
                return true;
            };
            *counter += 1;
            false
        });
        self.attempts.sort_by(|a, b| (a.start_ns, &a.row.task_id, &a.key).cmp(&(b.start_ns, &b.row.task_id, &b.key)));
        self.by_key = self.attempts.iter().enumerate().map(|(at, of)| (of.key.clone(), at as u32)).collect();
        self.by_id = (0..self.attempts.len()).filter_map(|at| Some((self.attempts[at].row.task_id.as_deref()?.to_owned(), at))).collect();
    }

    fn finish(mut self, name: &str, mut access: Access, flows: &Flows) -> TracedRun {
        let begin = self.attempts.iter().filter_map(|of| of.start_ns).min();
        let end = self.attempts.iter().filter_map(|of| of.end_ns).max();
        let told = self.attempts.iter().find_map(|of| of.row.run_makespan_s).filter(|told| told.is_finite() && *told > 0.0);
        self.left_out.only_totals = access.only_totals;
        self.left_out.untraced = !access.any;
        self.left_out.uncorrelated = access.any && !access.any_of_task;
        self.left_out.circular = flows.circular;
        let names = self.names();
        let declared = self.declared();
        let mut tasks: Vec<TracedTask> = self
            .attempts
            .iter()
            .enumerate()
            .map(|(at, of)| TracedTask {
                name: names[at].clone(),
                activity: of.row.logical_task.to_string(),
                start_s: of.start_ns.zip(begin).map(|(start, begin)| seconds(start, begin)),
                run_s: of.run_s().unwrap_or(0.0),
                host: of.row.host.as_deref().map(str::to_owned).or_else(|| access.host_of(at as u32)),
                after: declared.after[at].iter().copied().collect(),
                traced: of.traced,
                ..TracedTask::default()
            })
            .collect();
        access.put(&mut tasks, &self.attempts, flows);
        declared.put(&mut tasks);
        let makespan_s = begin.zip(end).map(|(begin, end)| seconds(end, begin)).or(told);
        TracedRun { name: name.to_owned(), tasks, makespan_s, processors: Vec::new(), left_out: self.left_out }
    }

    /// Names that are unlike all others.
    fn names(&self) -> Vec<String> {
        let mut seen: BTreeMap<&str, u32> = BTreeMap::new();
        let mut used = BTreeSet::new();
        let all = self.attempts.iter().map(|of| &*of.row.name);
        let many: BTreeSet<&str> = all.clone().filter(|name| std::mem::replace(seen.entry(name).or_default(), 1) > 0).collect();
        let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
        all.map(|name| {
            let mut unique = name.to_owned();
            while many.contains(name) || used.contains(&unique) {
                let count = counts.entry(name).or_default();
                *count += 1;
                unique = format!("{name} #{count}");
                if !used.contains(&unique) {
                    break;
                }
            }
            used.insert(unique.clone());
            unique
        })
        .collect()
    }

    /// What the engine reports of who waits for whom, and of files.
    fn declared(&self) -> Declared {
        let files = |told: &Option<std::borrow::Cow<'_, str>>| -> Vec<DeclaredFile> {
            told.as_deref().and_then(|told| serde_json::from_str(told).ok()).unwrap_or_default()
        };
        let mut makers: FxHashMap<String, u32> = FxHashMap::default();
        for (at, of) in self.attempts.iter().enumerate() {
            makers.extend(files(&of.row.outputs).into_iter().filter_map(|file| Some((file.path?, at as u32))));
        }
        let mut declared = Declared { after: vec![BTreeSet::new(); self.attempts.len()], ..Declared::default() };
        for (at, of) in self.attempts.iter().enumerate() {
            let parents: Option<Vec<String>> = of.row.parents.as_deref().and_then(|told| serde_json::from_str(told).ok());
            let known = parents.is_some();
            declared.after[at].extend(parents.iter().flatten().filter_map(|id| self.by_id.get(id)).map(|from| *from as u32));
            let mut read: BTreeMap<u32, f64> = BTreeMap::new();
            for file in files(&of.row.inputs) {
                let from = file.path.as_ref().and_then(|path| makers.get(path)).copied().filter(|from| *from != at as u32);
                if let (Some(from), false) = (from, known) {
                    declared.after[at].insert(from);
                }
                if let Some(bytes) = file.bytes {
                    *read.entry(from.unwrap_or(NONE)).or_default() += bytes;
                }
            }
            let mut written: f64 = files(&of.row.outputs).iter().filter_map(|file| file.bytes).sum();
            if read.is_empty() {
                read.extend(of.row.rchar_bytes.or(of.row.read_bytes).filter(|bytes| *bytes > 0).map(|bytes| (NONE, bytes as f64)));
            }
            if written == 0.0 {
                written = of.row.wchar_bytes.or(of.row.write_bytes).unwrap_or(0).max(0) as f64;
            }
            declared.read.push(read);
            declared.written.push(written);
            let cores = of.row.cpu_percent.filter(|percent| percent.is_finite() && *percent > 0.0).map(|percent| percent / 100.0);
            declared.cores.push(cores);
            declared.after[at].remove(&(at as u32));
        }
        declared
    }
}

/// A file as an engine reports it.
#[derive(Deserialize)]
struct DeclaredFile {
    path: Option<String>,
    bytes: Option<f64>,
}

/// What engines report of tasks.
#[derive(Default)]
struct Declared {
    after: Vec<BTreeSet<u32>>,
    /// For each task the bytes that it reads, by the number of the task that wrote them.
    read: Vec<BTreeMap<u32, f64>>,
    written: Vec<f64>,
    /// For each task its CPU time in seconds for each second that it ran: how many cores it used.
    cores: Vec<Option<f64>>,
}

impl Declared {
    /// Gives tasks of which nothing was traced what their engine reports: all read at the start,
    /// all written at the end.
    fn put(&self, tasks: &mut [TracedTask]) {
        for (at, task) in tasks.iter_mut().enumerate() {
            if task.cpu_s.is_empty() {
                task.cpu_s.extend(self.cores[at].map(|cores| (task.run_s, cores * task.run_s)));
            }
            if task.traced {
                continue;
            }
            let inputs = self.read[at].iter();
            task.inputs = inputs.map(|(from, bytes)| TracedInput { from: *from, read: vec![(0.0, *bytes)], streamed: false }).collect();
            if self.written[at] > 0.0 {
                task.outputs = vec![TracedOutput { to: NONE, written: vec![(task.run_s, self.written[at])] }];
            }
        }
    }
}

impl TracedAttempt {
    fn run_s(&self) -> Option<f64> {
        let between = self.start_ns.zip(self.end_ns).filter(|(start, end)| start <= end);
        let told = between.map(|(start, end)| seconds(end, start)).or_else(|| run_time_s(&self.row));
        told.filter(|run| run.is_finite() && *run >= 0.0)
    }
}

fn seconds(at_ns: i64, since_ns: i64) -> f64 {
    at_ns.saturating_sub(since_ns) as f64 / 1e9
}

/// A file of a host, or of a network file system.
type FileKey = (u32, Option<i64>, Option<i64>, Option<i64>);

/// What a task did to a file: when, how far it had got, how many bytes it moved.
#[derive(Debug, Clone, Copy)]
struct Moved {
    at_ns: i64,
    /// The end of the range; negative when the offset is not known.
    end: i64,
    bytes: i64,
}

#[derive(Default)]
struct Moves {
    points: Vec<Moved>,
    without_offset: bool,
}

impl Moves {
    fn push(&mut self, moved: Moved) {
        self.without_offset |= moved.end < 0;
        self.points.push(moved);
        if self.points.len() >= GATHERED {
            self.thin();
        }
    }

    /// Puts points in order and neighbours together until at most [`POINTS`] are left.
    fn thin(&mut self) {
        self.points.sort_by_key(|of| (of.at_ns, of.end, of.bytes));
        let size = self.points.len().div_ceil(POINTS).max(1);
        let together = |of: &[Moved]| Moved {
            at_ns: of[of.len() - 1].at_ns,
            end: of.iter().map(|of| of.end).max().unwrap_or(-1),
            bytes: flowmine_sums::total(of.iter().map(|of| of.bytes)),
        };
        self.points = self.points.chunks(size).map(together).collect();
    }

    /// How much further it got when.
    fn steps(&mut self, since_ns: i64, longest_s: f64) -> Vec<(f64, f64)> {
        self.thin();
        let mut far = 0;
        let mut steps = Vec::with_capacity(self.points.len());
        for of in &self.points {
            let further = if self.without_offset { of.bytes } else { (of.end - far).max(0) };
            far += further;
            if further > 0 {
                steps.push((seconds(of.at_ns, since_ns).clamp(0.0, longest_s), further as f64));
            }
        }
        steps
    }
}

/// Of a process its task, its host and its life.
type OfProcess = (u32, u32, Life);

/// Reads and writes of tasks.
#[derive(Default)]
struct Access {
    hosts: Interner,
    read: BTreeMap<(u32, FileKey), Moves>,
    written: BTreeMap<(u32, FileKey), Moves>,
    /// Time in calls, by task.
    io: FxHashMap<u32, Vec<(i64, f64)>>,
    processes: Vec<OfProcess>,
    any: bool,
    any_of_task: bool,
    only_totals: bool,
}

impl Access {
    fn read(&mut self, dataset: &Dataset, tasks: &Found) -> Result<(), DatasetError> {
        let mut owned = Gathered::of(dataset)?;
        let owners: Vec<u32> =
            owned.owner_names().map(|name| name.and_then(|name| tasks.by_key.get(name)).copied().unwrap_or(NONE)).collect();
        for (owner, (host, life)) in owners.iter().zip(owned.lives()) {
            if *owner != NONE {
                let host = self.hosts.intern(host);
                self.processes.push((*owner, host, life));
            }
        }
        let task_of = |owned: &mut Gathered, host: &str, pid, start: Option<i64>| {
            let host = owned.find_host(host)?;
            let at = owned.place(key(host, pid, start, None))?;
            owners.get(at as usize).copied().filter(|owner| *owner != NONE)
        };
        let mut events = false;
        dataset.read::<Transfer<'static>, DatasetError>(|row| {
            let is_read = &*row.op == "read";
            if !is_read && &*row.op != "write" {
                return Ok(());
            }
            (self.any, events) = (true, true);
            let Some(task) = task_of(&mut owned, &row.host, row.pid, row.process_start_ns) else { return Ok(()) };
            self.any_of_task = true;
            let at_ns = row.end_ns.unwrap_or(row.start_ns);
            self.io.entry(task).or_default().push((at_ns, seconds(at_ns, row.start_ns).max(0.0)));
            let bytes = row.result.unwrap_or(0);
            if bytes <= 0 {
                return Ok(());
            }
            let file = (self.hosts.intern(&row.host), row.device, row.inode, row.generation);
            let end = row.offset.map_or(-1, |offset| offset.saturating_add(bytes));
            let of = if is_read { &mut self.read } else { &mut self.written };
            of.entry((task, file)).or_default().push(Moved { at_ns, end, bytes });
            Ok(())
        })?;
        dataset.read::<IoTotal<'static>, DatasetError>(|row| {
            (self.any, self.only_totals) = (true, !events);
            let Some(task) = task_of(&mut owned, &row.host, row.pid, row.process_start_ns) else { return Ok(()) };
            self.any_of_task = true;
            let file = (self.hosts.intern(&row.host), Some(row.device), Some(row.inode), row.generation);
            let io = self.io.entry(task).or_default();
            io.push((row.last_ns, flowmine_sums::add(row.read_time_ns, row.write_time_ns) as f64 / 1e9));
            for (of, bytes, end) in
                [(&mut self.read, row.read_bytes, row.read_offset_end), (&mut self.written, row.write_bytes, row.write_offset_end)]
            {
                if bytes > 0 {
                    let moves = of.entry((task, file)).or_default();
                    // Nothing is known of the time between: as if it had gone on evenly.
                    for part in 1..=PARTS {
                        let of = |whole: i64| (i128::from(whole) * i128::from(part) / i128::from(PARTS)) as i64;
                        let at_ns = row.first_ns.saturating_add(of(row.last_ns.saturating_sub(row.first_ns)));
                        let before = (i128::from(bytes) * i128::from(part - 1) / i128::from(PARTS)) as i64;
                        moves.push(Moved { at_ns, end: end.map_or(-1, of), bytes: of(bytes) - before });
                    }
                }
            }
            Ok(())
        })
    }

    /// The host of a task, where its processes were on one.
    fn host_of(&self, task: u32) -> Option<String> {
        let mut hosts = self.processes.iter().filter(|of| of.0 == task).map(|of| of.1);
        let first = hosts.next()?;
        hosts.all(|host| host == first).then(|| self.hosts.names().get(first).to_owned())
    }

    fn put(&mut self, tasks: &mut [TracedTask], attempts: &[TracedAttempt], flows: &Flows) {
        let start = |task: u32| attempts[task as usize].start_ns.unwrap_or(0);
        let mut inputs: BTreeMap<(u32, u32), Vec<(f64, f64)>> = BTreeMap::new();
        for ((task, file), moves) in &mut self.read {
            let from = flows.source(*task, *file);
            if from == *task {
                continue;
            }
            let steps = moves.steps(start(*task), tasks[*task as usize].run_s);
            inputs.entry((*task, from)).or_default().extend(steps);
        }
        for ((task, from), steps) in inputs {
            let streamed = flows.streamed.contains(&(from, task));
            tasks[task as usize].inputs.push(TracedInput { from, read: sums(steps), streamed });
        }
        let mut outputs: BTreeMap<(u32, u32), Vec<(f64, f64)>> = BTreeMap::new();
        for ((task, file), moves) in &mut self.written {
            let steps = moves.steps(start(*task), tasks[*task as usize].run_s);
            let readers = flows.readers(*task, *file);
            *tasks[*task as usize].written.get_or_insert(0.0) += steps.iter().map(|step| step.1).sum::<f64>();
            for to in &readers {
                outputs.entry((*task, *to)).or_default().extend(steps.iter().copied());
            }
            if readers.is_empty() {
                outputs.entry((*task, NONE)).or_default().extend(steps);
            }
        }
        for ((task, to), steps) in outputs {
            tasks[task as usize].outputs.push(TracedOutput { to, written: sums(steps) });
        }
        for (task, waits) in &self.io {
            let run_s = tasks[*task as usize].run_s;
            let steps = waits.iter().map(|(at, time)| (seconds(*at, start(*task)).clamp(0.0, run_s), *time)).collect();
            tasks[*task as usize].io_s = sums(steps);
        }
        for (task, curve) in self.spread(tasks, start, |life| life.cpu_ns) {
            tasks[task].cpu_s = curve;
        }
        for (task, curve) in self.spread(tasks, start, |life| life.run_delay_ns) {
            tasks[task].run_delay_s = curve;
        }
    }

    /// What the time of each process went to spread over its life, added up: of the tasks of which
    /// all processes are known.
    fn spread(&self, tasks: &[TracedTask], start: impl Fn(u32) -> i64, time_ns: impl Fn(&Life) -> Option<i64>) -> Vec<(usize, Curve)> {
        let mut lives: Vec<Vec<(f64, f64, f64)>> = vec![Vec::new(); tasks.len()];
        let mut unknown = vec![false; tasks.len()];
        for (task, _, life) in &self.processes {
            let task = *task;
            let run_s = tasks[task as usize].run_s;
            match (life.started_ns, life.ended_ns, time_ns(life)) {
                (Some(begin), Some(end), Some(time)) => {
                    let [begin, end] = [begin, end].map(|at| seconds(at, start(task)).clamp(0.0, run_s));
                    lives[task as usize].push((begin, end, time as f64 / 1e9));
                }
                _ => unknown[task as usize] = true,
            }
        }
        let known = lives.into_iter().enumerate().filter(|(task, lives)| !unknown[*task] && !lives.is_empty());
        known.map(|(task, lives)| (task, evenly(lives))).collect()
    }
}

/// Amounts, each spread evenly from its begin to its end, as the sums so far.
fn evenly(lives: Vec<(f64, f64, f64)>) -> Curve {
    // The slope changes where one begins or ends; what took no time is a jump.
    let mut turns: Vec<(f64, f64, f64)> = Vec::new();
    for (begin, end, amount) in lives {
        if end > begin {
            turns.push((begin, amount / (end - begin), 0.0));
            turns.push((end, -amount / (end - begin), 0.0));
        } else {
            turns.push((begin, 0.0, amount));
        }
    }
    turns.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let (mut at, mut slope, mut sum) = (0.0, 0.0f64, 0.0);
    let mut curve = Curve::from([(0.0, 0.0)]);
    for (turn, change, jump) in turns {
        sum += slope.max(0.0) * (turn - at) + jump;
        slope += change;
        at = turn;
        match curve.last_mut() {
            Some(last) if last.0 == turn => last.1 = sum,
            _ => curve.push((turn, sum)),
        }
    }
    thinned(curve)
}

/// Steps as the sums so far, each place once.
fn sums(mut steps: Vec<(f64, f64)>) -> Curve {
    steps.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mut sum = 0.0;
    let mut curve = Curve::with_capacity(steps.len());
    for (at, more) in steps {
        sum += more;
        match curve.last_mut() {
            Some(last) if last.0 == at => last.1 = sum,
            _ => curve.push((at, sum)),
        }
    }
    thinned(curve)
}

/// The last point of each group of neighbours, so that at most [`POINTS`] are left; the first one
/// stays.
fn thinned(curve: Curve) -> Curve {
    let size = curve.len().div_ceil(POINTS);
    if size <= 1 {
        return curve;
    }
    let first = curve[0];
    std::iter::once(first).chain(curve[1..].chunks(size).map(|of| of[of.len() - 1])).collect()
}

/// The tasks that read data of others.
#[derive(Default)]
struct Flows {
    /// The writer by reader and file: the task that wrote most of the data that was read.
    source: FxHashMap<(u32, FileKey), u32>,
    /// By writer and file the tasks that read it.
    readers: FxHashMap<(u32, FileKey), BTreeSet<u32>>,
    /// Pairs of which the reader began before the writer had written all.
    streamed: BTreeSet<(u32, u32)>,
    circular: u64,
}

/// What passed between a writer and a reader in one file.
#[derive(Default, Clone, Copy)]
struct Passed {
    written: i64,
    last_write: Option<i64>,
    first_read: Option<i64>,
}

impl Flows {
    fn read(dataset: &Dataset, tasks: &Tasks<'_>, found: &Found, access: &mut Access) -> Result<Self, RunGraphError> {
        let mut passed: BTreeMap<(u32, u32, FileKey), Passed> = BTreeMap::new();
        each_flow::<TaskLogError>(dataset, |row| {
            let row = tasks.rules.apply(row);
            let find = |kind: Option<&str>, id: Option<&str>| match (kind, id) {
                (Some("task"), Some(id)) => found.by_key.get(id).copied(),
                _ => None,
            };
            let writer = find(row.writer_type.as_deref(), row.writer.as_deref());
            let reader = find(row.reader_type.as_deref(), row.reader.as_deref());
            let (Some(writer), Some(reader)) = (writer, reader) else { return Ok(()) };
            let host = row.host.as_deref().map_or(NONE, |host| access.hosts.intern(host));
            let of = passed.entry((reader, writer, (host, row.device, row.inode, row.generation))).or_default();
            flowmine_sums::add_to(&mut of.written, row.written_bytes);
            of.last_write = of.last_write.max(row.last_write_ns);
            of.first_read = [of.first_read, row.first_read_ns].into_iter().flatten().min();
            Ok(())
        })?;
        let mut flows = Self::default();
        let mut edges: BTreeSet<(u32, u32)> = passed.keys().map(|(reader, writer, _)| (*writer, *reader)).collect();
        flows.circular = break_circles(&mut edges, found);
        let mut best: FxHashMap<(u32, FileKey), i64> = FxHashMap::default();
        for ((reader, writer, file), of) in &passed {
            if reader != writer && !edges.contains(&(*writer, *reader)) {
                continue;
            }
            let known = best.entry((*reader, *file)).or_insert(-1);
            // Data of another task takes precedence over data that the task itself wrote.
            let weight = if reader == writer { 0 } else { of.written.max(1) };
            if weight > *known {
                *known = weight;
                flows.source.insert((*reader, *file), *writer);
            }
            if reader != writer {
                flows.readers.entry((*writer, *file)).or_default().insert(*reader);
                if of.first_read < of.last_write {
                    flows.streamed.insert((*writer, *reader));
                }
            }
        }
        Ok(flows)
    }

    /// Returns the writer of the data that a task read; the task itself where no other task wrote
    /// it, [`NONE`] where the data existed before the run.
    fn source(&self, task: u32, file: FileKey) -> u32 {
        let of_any_host = || self.source.get(&(task, (NONE, file.1, file.2, file.3)));
        self.source.get(&(task, file)).or_else(of_any_host).copied().unwrap_or(NONE)
    }

    fn readers(&self, task: u32, file: FileKey) -> BTreeSet<u32> {
        let of_any_host = || self.readers.get(&(task, (NONE, file.1, file.2, file.3)));
        let readers = self.readers.get(&(task, file)).or_else(of_any_host);
        // Only readers that have this task as source: a reader has one source for each file.
        readers.into_iter().flatten().copied().filter(|reader| self.source(*reader, file) == task).collect()
    }
}

/// Removes edges until there is no cycle: edges against the order of starts that close one. Returns
/// their number.
fn break_circles(edges: &mut BTreeSet<(u32, u32)>, found: &Found) -> u64 {
    edges.retain(|(from, to)| from != to);
    let n = found.attempts.len();
    let mut next: Vec<Vec<u32>> = vec![Vec::new(); n];
    // Tasks are in the order of their starts.
    edges.iter().filter(|(from, to)| from < to).for_each(|(from, to)| next[*from as usize].push(*to));
    let mut left_out = 0;
    let backward: Vec<(u32, u32)> = edges.iter().copied().filter(|(from, to)| from > to).collect();
    for (from, to) in backward {
        let (mut seen, mut stack) = (vec![false; n], vec![to]);
        let mut circle = false;
        while let Some(at) = stack.pop() {
            if at == from {
                circle = true;
                break;
            }
            if !std::mem::replace(&mut seen[at as usize], true) {
                stack.extend(&next[at as usize]);
            }
        }
        if circle {
            edges.remove(&(from, to));
            left_out += 1;
        } else {
            next[from as usize].push(to);
        }
    }
    left_out
}

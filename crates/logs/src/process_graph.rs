//! The processes of a dataset as a run ([`flowmine_activity_log::RunGraph`]): which process forked
//! which, and which read data that others wrote.
//!
//! In go processes and the stream of their operations. Files are treated as a whole, without
//! versions: a reader had data from every process that began to write the file before the reader's
//! last read of it. If there are very many such writers, the last of them count. A process that its
//! parent started after another child had ended is treated as waiting for that child: shells and
//! engines order their commands in this way.

use flowmine_activity_log::{Declared, FileFlow, NONE, OperationKind, Processes, RunGraph, RunTask, TracedOperation};
use flowmine_correlate::CorrelateError;
use flowmine_dataset::Dataset;
use rustc_hash::FxHashMap;

use crate::operations;
use crate::process_rows;
use crate::run_graph::losses;

/// What a process did to a file.
#[derive(Clone, Copy, Default)]
struct Access {
    read_bytes: i64,
    first_read_ns: Option<i64>,
    last_read_ns: Option<i64>,
    written_bytes: i64,
    first_write_ns: Option<i64>,
    last_write_ns: Option<i64>,
}

fn first(known: &mut Option<i64>, ns: i64) {
    *known = Some(known.map_or(ns, |known| known.min(ns)));
}

impl Access {
    fn reads(&mut self, bytes: i64, from: i64, to: i64) {
        flowmine_sums::add_to(&mut self.read_bytes, bytes);
        first(&mut self.first_read_ns, from);
        self.last_read_ns = self.last_read_ns.max(Some(to));
    }

    fn writes(&mut self, bytes: i64, from: i64, to: i64) {
        flowmine_sums::add_to(&mut self.written_bytes, bytes);
        first(&mut self.first_write_ns, from);
        self.last_write_ns = self.last_write_ns.max(Some(to));
    }
}

/// Writers of a file times its readers up to which every pair counts; beyond it each reader has the
/// last writers.
const MOST_PAIRS: usize = 4096;
const LAST: usize = 8;

/// The processes that are wanted as a run.
///
/// # Errors
/// When the dataset cannot be read.
pub fn read(dataset: &Dataset, name: &str, wanted: impl FnOnce(&Processes) -> Vec<bool>) -> Result<RunGraph, CorrelateError> {
    let (processes, places) = process_rows::read_places(dataset)?;
    // Time in reads and in writes of each process.
    let mut times = vec![[0i64; 2]; processes.rows.len()];
    let mut accesses: FxHashMap<(u32, u32), Access> = FxHashMap::default();
    let files = operations::each(dataset, &places, |operation| match operation {
        TracedOperation::One(one) if one.process != NONE && one.file != NONE && !one.failed() => {
            let to = one.end_ns.unwrap_or(one.start_ns);
            let time = one.latency_ns().unwrap_or(0);
            let direction = match one.kind {
                OperationKind::Read => 0,
                OperationKind::Write => 1,
                _ => return,
            };
            if let Some(of) = times.get_mut(one.process as usize) {
                flowmine_sums::add_to(&mut of[direction], time);
            }
            if one.bytes() == 0 {
                return;
            }
            let access = accesses.entry((one.file, one.process)).or_default();
            if direction == 0 {
                access.reads(one.bytes(), one.start_ns, to);
            } else {
                access.writes(one.bytes(), one.start_ns, to);
            }
        }
        TracedOperation::Sum(sum) if sum.process != NONE => {
            if sum.read.bytes > 0 {
                accesses.entry((sum.file, sum.process)).or_default().reads(sum.read.bytes, sum.first_ns, sum.last_ns);
            }
            if sum.write.bytes > 0 {
                accesses.entry((sum.file, sum.process)).or_default().writes(sum.write.bytes, sum.first_ns, sum.last_ns);
            }
            if let Some([read, write]) = times.get_mut(sum.process as usize) {
                flowmine_sums::add_to(read, sum.read.time_ns);
                flowmine_sums::add_to(write, sum.write.time_ns);
            }
        }
        _ => {}
    })?;
    let wanted = wanted(&processes);
    let mut graph = RunGraph { name: name.to_owned(), noun: "process", ..RunGraph::default() };
    let place = tasks(&processes, &times, &wanted, &mut graph);
    order(&processes, &place, &mut graph);
    flows(accesses, &place, &mut graph);
    graph.files = files.paths.iter().collect();
    graph.losses = losses(dataset)?;
    Ok(graph)
}

/// Processes as tasks; what ran before the trace and had nothing to do with it is none. Says where
/// each is.
fn tasks(processes: &Processes, times: &[[i64; 2]], wanted: &[bool], graph: &mut RunGraph) -> Vec<u32> {
    let (children, _) = processes.children();
    let mut place = vec![NONE; processes.rows.len()];
    for (at, row) in processes.rows.iter().enumerate() {
        let [read_ns, write_ns] = times[at];
        let idle = row.was_running && read_ns == 0 && write_ns == 0;
        if !wanted.get(at).copied().unwrap_or(false) || idle && children[at].is_empty() {
            continue;
        }
        place[at] = graph.tasks.len() as u32;
        let program = if row.program == NONE { "(not known)" } else { processes.programs.get(row.program) };
        let owner = (row.owner != NONE).then(|| processes.owners.get(row.owner));
        graph.tasks.push(RunTask {
            name: format!("{program} {}", row.pid),
            activity: program.to_owned(),
            attempts: 1,
            // A process that ran before the trace may have started days ago.
            started_ns: row.started_ns.filter(|_| !row.was_running),
            finished_ns: row.ended_ns,
            read_ns: Some(read_ns),
            write_ns: Some(write_ns),
            parents_known: true,
            traced: true,
            failed: row.failed(),
            host: Some(processes.hosts.get(row.host).to_owned()),
            job: owner.and_then(|owner| owner.strip_prefix("job ")).map(str::to_owned),
            forked_others: !children[at].is_empty(),
            ..RunTask::default()
        });
    }
    place
}

/// Who forked whom, and which children a parent started one after the other.
fn order(processes: &Processes, place: &[u32], graph: &mut RunGraph) {
    let (children, _) = processes.children();
    for (parent, children) in children.iter().enumerate() {
        let there: Vec<u32> = children.iter().copied().filter(|&at| place[at as usize] != NONE).collect();
        if place[parent] != NONE {
            graph.forks.extend(there.iter().map(|&at| (place[parent], place[at as usize])));
        }
        let mut ends: Vec<(i64, u32)> = there.iter().filter_map(|&at| Some((processes.rows[at as usize].ended_ns?, at))).collect();
        ends.sort_unstable();
        for &at in &there {
            let Some(start) = processes.rows[at as usize].started_ns else { continue };
            let before = ends.partition_point(|(end, _)| *end <= start);
            if let Some(&(_, last)) = before.checked_sub(1).and_then(|before| ends.get(before)).filter(|(_, last)| *last != at) {
                graph.declared.push(Declared { from: place[last as usize], to: place[at as usize], for_start: false });
            }
        }
    }
    graph.forks.sort_unstable();
    graph.declared.sort_unstable();
}

fn flows(accesses: FxHashMap<(u32, u32), Access>, place: &[u32], graph: &mut RunGraph) {
    let mut all: Vec<((u32, u32), Access)> = accesses.into_iter().collect();
    all.sort_unstable_by_key(|(key, _)| *key);
    for same in all.chunk_by(|(a, _), (b, _)| a.0 == b.0) {
        let Some(&((file, _), _)) = same.first() else { continue };
        let find = |process: u32| place.get(process as usize).copied().unwrap_or(NONE);
        let mut writers: Vec<(u32, &Access)> =
            same.iter().filter(|(_, of)| of.first_write_ns.is_some()).map(|((_, process), of)| (find(*process), of)).collect();
        writers.sort_by_key(|(task, of)| (of.first_write_ns, *task));
        let readers: Vec<(u32, &Access)> = same
            .iter()
            .filter(|(_, of)| of.first_read_ns.is_some())
            .map(|((_, process), of)| (find(*process), of))
            .filter(|(task, _)| *task != NONE)
            .collect();
        let few = writers.len().saturating_mul(readers.len()) <= MOST_PAIRS;
        let flow = FileFlow { file, version: file.into(), writer: NONE, reader: NONE, ..FileFlow::default() };
        for &(reader, read) in &readers {
            let begun = writers.partition_point(|(_, wrote)| wrote.first_write_ns <= read.last_read_ns);
            let from = if few { 0 } else { begun.saturating_sub(LAST) };
            let mut any = false;
            for &(writer, wrote) in &writers[from..begun] {
                any = true;
                graph.flows.push(FileFlow {
                    writer,
                    reader,
                    written_bytes: wrote.written_bytes,
                    read_bytes: read.read_bytes,
                    first_write_ns: wrote.first_write_ns,
                    last_write_ns: wrote.last_write_ns,
                    first_read_ns: read.first_read_ns,
                    last_read_ns: read.last_read_ns,
                    ..flow
                });
            }
            if !any {
                graph.flows.push(FileFlow {
                    was_there: true,
                    reader,
                    read_bytes: read.read_bytes,
                    first_read_ns: read.first_read_ns,
                    last_read_ns: read.last_read_ns,
                    ..flow
                });
            }
        }
        for &(writer, wrote) in writers.iter().filter(|(task, _)| *task != NONE) {
            if few && !readers.is_empty() && readers.iter().any(|(_, read)| wrote.first_write_ns <= read.last_read_ns) {
                continue;
            }
            graph.flows.push(FileFlow {
                writer,
                written_bytes: wrote.written_bytes,
                first_write_ns: wrote.first_write_ns,
                last_write_ns: wrote.last_write_ns,
                ..flow
            });
        }
    }
}

//! Reads and writes of a run: ParaTrac's statistics (§5.1, Tables 4 and 5, Figures 5 to 10 and 12),
//! over a stream of operations.
//!
//! In go processes, the group of each (an activity, a program, a job, …), and their operations, one
//! by one or added up; out come numbers. Memory grows with processes, files, and pairs of them, not
//! with operations.

use flowmine_activity_log::{NONE, Names, Operation, OperationKind, OperationSum, Processes, TracedOperation};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::advice;
use crate::distribution::Distribution;
use crate::over_time::OverTime;

pub use crate::io_profile_numbers::{FileUse, Group, Groups, KindOf, Kinds, LeftOut, MadeOf, Options, ProcessUse, Profile, Sums, Use};

/// State of a process and a file.
#[derive(Debug, Clone, Copy, Default)]
struct Pair {
    sums: Sums,
    /// Whether there were calls that read or wrote, even of zero bytes.
    read: bool,
    wrote: bool,
    /// Start and end offset of the last read and the last write, and the distance from its
    /// predecessor.
    last: [Option<(i64, i64)>; 2],
    stride: [Option<i64>; 2],
    /// The lowest offset that was read and the end of the highest range, in bytes.
    extent: Option<(i64, i64)>,
    /// Whether bytes were read at an unknown offset.
    read_elsewhere: bool,
}

/// Sums of a group while operations are read.
#[derive(Debug, Clone, Default)]
struct Sum {
    operations: Vec<CallSums>,
    bytes: [i64; 2],
    sizes: [Distribution; 2],
    sequential: [u64; 2],
    strided: [u64; 2],
    random: [u64; 2],
    unaligned: [u64; 2],
}

#[derive(Debug, Clone, Default)]
struct CallSums {
    count: u64,
    failed: u64,
    time_ns: i128,
    latencies: Distribution,
}

/// Builder of a profile from single operations or sums.
#[derive(Debug, Default)]
pub struct Builder<'p> {
    processes: Option<&'p Processes>,
    groups: Groups,
    options: Options,
    /// Sums by group; the last group is for operations of unknown processes.
    sums: Vec<Sum>,
    pairs: FxHashMap<(u32, u32), Pair>,
    over_time: OverTime,
    over_offset: OverTime,
    span: Option<(i64, i64)>,
    made_of: MadeOf,
    left_out: LeftOut,
}

/// Size of a page, in bytes.
const PAGE: i64 = 4096;

/// Name of the group for operations of unknown processes.
pub const NO_PROCESS: &str = "(process not known)";
/// Name of the group of all groups that are not distinguished.
pub const OTHERS: &str = "(others)";

impl<'p> Builder<'p> {
    /// Creates a builder for the operations of these processes.
    pub fn new(processes: &'p Processes, mut groups: Groups, options: Options) -> Self {
        let mut left_out = LeftOut::default();
        if groups.names.len() > options.most_groups {
            // The groups with most processes are distinguished.
            let mut sizes = vec![0u64; groups.names.len()];
            groups.of.iter().filter(|of| **of != NONE).for_each(|of| sizes[*of as usize] += 1);
            let mut order = groups.names.sorted();
            order.sort_by_key(|&at| std::cmp::Reverse(sizes[at as usize]));
            let mut new = vec![options.most_groups as u32; groups.names.len()];
            let mut names = Names::default();
            for &at in order.iter().take(options.most_groups) {
                new[at as usize] = names.push(groups.names.get(at));
            }
            names.push(OTHERS);
            left_out.groups = (groups.names.len() - options.most_groups) as u64;
            groups.of.iter_mut().filter(|of| **of != NONE).for_each(|of| *of = new[*of as usize]);
            groups.names = names;
        }
        groups.names.push(NO_PROCESS);
        let sums = vec![Sum { operations: vec![CallSums::default(); OperationKind::ALL.len()], ..Sum::default() }; groups.names.len()];
        Self { processes: Some(processes), groups, options, sums, left_out, ..Self::default() }
    }

    fn group(&self, process: u32) -> Option<usize> {
        if process == NONE {
            return self.groups.whole.then(|| self.groups.names.len() - 1);
        }
        self.groups.of.get(process as usize).filter(|group| **group != NONE).map(|group| *group as usize)
    }

    /// Takes an operation, or many.
    pub fn add(&mut self, operation: &TracedOperation) {
        let (process, file) = match operation {
            TracedOperation::One(one) => (one.process, one.file),
            TracedOperation::Sum(sum) => (sum.process, sum.file),
        };
        let wanted = |files: &Vec<bool>| files.get(file as usize).copied().unwrap_or(false);
        let Some(group) = self.group(process).filter(|_| self.groups.files.as_ref().is_none_or(wanted)) else {
            self.left_out.not_wanted += 1;
            return;
        };
        match operation {
            TracedOperation::One(one) => self.one(group, one),
            TracedOperation::Sum(sum) => self.many(group, sum),
        }
    }

    fn seen(&mut self, first_ns: i64, last_ns: i64) {
        let (first, last) = self.span.unwrap_or((first_ns, last_ns));
        self.span = Some((first.min(first_ns), last.max(last_ns)));
    }

    fn one(&mut self, group: usize, one: &Operation) {
        self.made_of.events += 1;
        let end_ns = one.end_ns.unwrap_or(one.start_ns).max(one.start_ns);
        self.seen(one.start_ns, end_ns);
        let sum = &mut self.sums[group];
        let kind = &mut sum.operations[one.kind as usize];
        kind.count += 1;
        kind.failed += u64::from(one.failed());
        match one.latency_ns() {
            Some(ns) => {
                kind.time_ns += i128::from(ns);
                kind.latencies.add(ns);
            }
            None => self.left_out.without_latency += 1,
        }
        let direction = match one.kind {
            OperationKind::Read => Some(0),
            OperationKind::Write => Some(1),
            _ => None,
        };
        let bytes = one.bytes();
        if let Some(direction) = direction {
            flowmine_sums::add_to(&mut sum.bytes[direction], bytes);
        }
        if let (Some(direction), Some(size)) = (direction, one.size.or(one.result).filter(|size| *size >= 0)) {
            sum.sizes[direction].add(size);
            if let Some(offset) = one.offset {
                sum.unaligned[direction] += u64::from(offset % PAGE != 0 || size % PAGE != 0);
            }
        }
        if one.file == NONE {
            return;
        }
        let pair = self.pairs.entry((one.process, one.file)).or_default();
        pair.sums.seen(one.start_ns, end_ns);
        if one.kind == OperationKind::Open {
            pair.sums.opens += u64::from(!one.failed());
        }
        let Some(direction) = direction else { return };
        let time = one.latency_ns().unwrap_or(0);
        flowmine_sums::add_to(&mut pair.sums.time_ns, time);
        if direction == 0 {
            pair.sums.read_calls += 1;
            flowmine_sums::add_to(&mut pair.sums.read_bytes, bytes);
            pair.read |= !one.failed();
        } else {
            pair.sums.write_calls += 1;
            flowmine_sums::add_to(&mut pair.sums.written_bytes, bytes);
            pair.wrote |= !one.failed();
        }
        if let Some(offset) = one.offset.filter(|_| !one.failed()) {
            let end = offset.saturating_add(bytes);
            if let Some((began, ended)) = pair.last[direction] {
                let stride = offset.wrapping_sub(began);
                let count = match () {
                    () if offset == ended => &mut sum.sequential,
                    () if pair.stride[direction] == Some(stride) => &mut sum.strided,
                    () => &mut sum.random,
                };
                count[direction] += 1;
                pair.stride[direction] = Some(stride);
            }
            pair.last[direction] = Some((offset, end));
            if direction == 0 && bytes > 0 {
                let (low, high) = pair.extent.unwrap_or((offset, end));
                pair.extent = Some((low.min(offset), high.max(end)));
            }
            let row = (64 - offset.max(0).leading_zeros()) as usize;
            self.over_offset.add(row, direction == 1, (one.start_ns, end_ns), bytes);
        } else if bytes > 0 {
            self.left_out.without_offset += 1;
            pair.read_elsewhere |= direction == 0;
            // The next one has no predecessor to compare with.
            (pair.last[direction], pair.stride[direction]) = (None, None);
        }
        self.over_time.add(group, direction == 1, (one.start_ns, end_ns), bytes);
    }

    fn many(&mut self, group: usize, many: &OperationSum) {
        self.made_of.sums += 1;
        self.seen(many.first_ns, many.last_ns);
        let sum = &mut self.sums[group];
        let pair = self.pairs.entry((many.process, many.file)).or_default();
        pair.sums.seen(many.first_ns, many.last_ns);
        for (direction, of) in [(0, &many.read), (1, &many.write)] {
            let calls = u64::try_from(of.calls).unwrap_or(0);
            if calls == 0 {
                continue;
            }
            let kind = &mut sum.operations[if direction == 0 { OperationKind::Read } else { OperationKind::Write } as usize];
            flowmine_sums::add_to(&mut kind.count, calls);
            flowmine_sums::add_to(&mut kind.failed, u64::try_from(of.errors).unwrap_or(0));
            kind.time_ns += i128::from(of.time_ns);
            flowmine_sums::add_to(&mut sum.bytes[direction], of.bytes);
            flowmine_sums::add_to(&mut pair.sums.time_ns, of.time_ns);
            let worked = of.calls > of.errors;
            if direction == 0 {
                flowmine_sums::add_to(&mut pair.sums.read_calls, calls);
                flowmine_sums::add_to(&mut pair.sums.read_bytes, of.bytes);
                pair.read |= worked;
                pair.read_elsewhere |= of.bytes > 0 && of.extent.is_none();
                if let Some((low, high)) = of.extent {
                    let known = pair.extent.unwrap_or((low, high));
                    pair.extent = Some((known.0.min(low), known.1.max(high)));
                }
            } else {
                flowmine_sums::add_to(&mut pair.sums.write_calls, calls);
                flowmine_sums::add_to(&mut pair.sums.written_bytes, of.bytes);
                pair.wrote |= worked;
            }
            self.over_time.add(group, direction == 1, (many.first_ns, many.last_ns), of.bytes);
        }
        if let Ok(faults) = u64::try_from(many.faults) {
            flowmine_sums::add_to(&mut sum.operations[OperationKind::Fault as usize].count, faults);
        }
    }

    /// Returns the profile. `paths` has the paths of files by number; `lost` has the number of
    /// operations missing from the trace and their known bytes.
    pub fn finish(self, paths: &Names, (lost, lost_bytes): (u64, u64)) -> Profile {
        let empty = Processes::default();
        let processes = self.processes.unwrap_or(&empty);
        let mut members = self.groups;
        let count = members.names.len();
        let mut groups: Vec<Group> = members.names.iter().map(|name| Group { name: name.to_owned(), ..Group::default() }).collect();
        let mut total = Group { name: "all".to_owned(), ..Group::default() };
        let only_sums = self.made_of.events == 0;
        for group in groups.iter_mut().chain([&mut total]) {
            let untouched = (!only_sums).then_some(0);
            group.files.untouched = untouched;
            group.processes_by_access.untouched = untouched;
        }
        let mut pairs: Vec<((u32, u32), Pair)> = self.pairs.into_iter().collect();
        pairs.sort_unstable_by_key(|(key, _)| *key);
        if members.files.is_some() {
            // For selected files, it is the profile of the processes that accessed them.
            let used: std::collections::HashSet<u32> = pairs.iter().map(|((process, _), _)| *process).collect();
            let others = (0u32..).zip(&mut members.of).filter(|(at, _)| !used.contains(at));
            others.for_each(|(_, of)| *of = NONE);
        }
        let group_of = |process: u32| {
            if process == NONE { count - 1 } else { members.of.get(process as usize).map_or(count - 1, |of| *of as usize) }
        };
        put_processes(processes, &members, &mut groups, &mut total);
        let (used, of_processes) = by_process(&pairs, processes, group_of, &mut groups, &mut total);
        for (at, &group) in (0u32..).zip(&members.of) {
            if group != NONE && !used.contains(&at) {
                groups[group as usize].without_files += 1;
                total.without_files += 1;
            }
        }
        let (files, uses) = by_file(pairs, paths, group_of, &mut groups, &mut total, &members.names);
        for (group, sum) in groups.iter_mut().zip(self.sums) {
            put_sum(group, sum);
            add_group(&mut total, group);
        }
        total.operations.sort_by_key(|of| std::cmp::Reverse((of.time_ns, of.count)));
        let mut order: Vec<usize> =
            (0..count).filter(|&at| groups[at].processes > 0 || groups[at].operations.iter().any(|of| of.count > 0)).collect();
        let weight = |group: &Group| {
            (
                group.operations.iter().map(|of| of.time_ns).sum::<i128>(),
                flowmine_sums::add(group.read_bytes, group.written_bytes),
                group.processes,
            )
        };
        order.sort_by(|&a, &b| weight(&groups[b]).cmp(&weight(&groups[a])).then_with(|| groups[a].name.cmp(&groups[b].name)));
        let mut over_time = self.over_time;
        over_time.rows.resize_with(count, Default::default);
        over_time.rows = order.iter().map(|&at| std::mem::take(&mut over_time.rows[at])).collect();
        let groups: Vec<Group> = order.iter().map(|&at| std::mem::take(&mut groups[at])).collect();
        let mut profile = Profile {
            by: members.by,
            made_of: self.made_of,
            span_ns: self.span,
            total,
            groups,
            over_time,
            over_offset: self.over_offset,
            files,
            processes: of_processes,
            uses,
            advice: Vec::new(),
            options: Some(self.options),
            left_out: LeftOut { lost, lost_bytes, ..self.left_out },
        };
        profile.advice = advice::of(&profile, &self.options.thresholds);
        profile
    }
}

/// Counts processes and their lifetimes.
fn put_processes(processes: &Processes, of: &Groups, groups: &mut [Group], total: &mut Group) {
    let mut owners: FxHashSet<(u32, u32)> = FxHashSet::default();
    for (at, row) in processes.rows.iter().enumerate() {
        let group = of.of.get(at).copied().unwrap_or(NONE);
        let Some(known) = groups.get_mut(group as usize) else { continue };
        let new = row.owner != NONE && owners.insert((group, row.owner));
        let new_at_all = row.owner != NONE && owners.insert((NONE, row.owner));
        total.tasks += u64::from(new_at_all);
        known.tasks += u64::from(new);
        for group in [known, &mut *total] {
            group.processes += 1;
            // A process that ran before the trace may have started days ago.
            if let Some(time) = row.time_ns().filter(|_| !row.was_running) {
                group.life_times.add(time);
            }
        }
    }
}

/// Computes the sums of each process, and returns the processes that accessed files with their
/// operations.
fn by_process(
    pairs: &[((u32, u32), Pair)],
    processes: &Processes,
    group_of: impl Fn(u32) -> usize,
    groups: &mut [Group],
    total: &mut Group,
) -> (FxHashSet<u32>, Vec<ProcessUse>) {
    let mut used = FxHashSet::default();
    let mut found = Vec::new();
    for same in pairs.chunk_by(|(a, _), (b, _)| a.0 == b.0) {
        let Some(((process, _), _)) = same.first() else { continue };
        used.insert(*process);
        let mut sums = Sums::default();
        let (mut read, mut wrote) = (false, false);
        let group = group_of(*process);
        for (_, pair) in same {
            sums.add(&pair.sums);
            read |= pair.read;
            wrote |= pair.wrote;
            if let Some((low, high)) = pair.extent.filter(|_| !pair.read_elsewhere) {
                let again = pair.sums.read_bytes.saturating_sub(high.saturating_sub(low)).max(0);
                flowmine_sums::add_to(&mut groups[group].read_again_bytes, again);
            }
        }
        let Some(row) = processes.rows.get(*process as usize) else { continue };
        for group in [&mut groups[group], &mut *total] {
            group.processes_by_access.add(read, wrote);
            if sums.bytes() > 0 {
                group.process_bytes.add(sums.bytes());
            }
        }
        found.push(ProcessUse {
            pid: row.pid,
            program: (row.program != NONE).then(|| processes.programs.get(row.program).to_owned()),
            group: groups[group].name.clone(),
            life_time_ns: row.time_ns(),
            files: same.len() as u64,
            sums,
        });
    }
    found.sort_by_key(|of| std::cmp::Reverse(of.sums.bytes()));
    (used, found)
}

/// Computes the sums of each file, and of each group and file.
fn by_file(
    mut pairs: Vec<((u32, u32), Pair)>,
    paths: &Names,
    group_of: impl Fn(u32) -> usize,
    groups: &mut [Group],
    total: &mut Group,
    names: &Names,
) -> (Vec<FileUse>, Vec<Use>) {
    pairs.sort_by_key(|((process, file), _)| (*file, group_of(*process), *process));
    let (mut files, mut uses) = (Vec::new(), Vec::new());
    for of_file in pairs.chunk_by(|(a, _), (b, _)| a.1 == b.1) {
        let Some(((_, file), _)) = of_file.first() else { continue };
        let path = paths.get(*file);
        let mut whole = FileUse { path: path.to_owned(), processes: of_file.len() as u64, groups: 0, sums: Sums::default() };
        let (mut read, mut wrote) = (false, false);
        for of_group in of_file.chunk_by(|(a, _), (b, _)| group_of(a.0) == group_of(b.0)) {
            let Some(((process, _), _)) = of_group.first() else { continue };
            let group = group_of(*process);
            let mut sums = Sums::default();
            let (mut group_read, mut group_wrote) = (false, false);
            for (_, pair) in of_group {
                sums.add(&pair.sums);
                group_read |= pair.read;
                group_wrote |= pair.wrote;
            }
            groups[group].files.add(group_read, group_wrote);
            whole.groups += 1;
            whole.sums.add(&sums);
            (read, wrote) = (read | group_read, wrote | group_wrote);
            uses.push(Use { group: names.get(group as u32).to_owned(), path: path.to_owned(), processes: of_group.len() as u64, sums });
        }
        total.files.add(read, wrote);
        files.push(whole);
    }
    files.sort_by_key(|of| std::cmp::Reverse(of.sums.bytes()));
    uses.sort_by_key(|of| std::cmp::Reverse(of.sums.bytes()));
    (files, uses)
}

fn put_sum(group: &mut Group, sum: Sum) {
    [group.read_bytes, group.written_bytes] = sum.bytes;
    group.sizes = sum.sizes;
    group.sequential = sum.sequential;
    group.strided = sum.strided;
    group.random = sum.random;
    group.unaligned = sum.unaligned;
    for (kind, of) in OperationKind::ALL.into_iter().zip(sum.operations).filter(|(_, of)| of.count > 0) {
        let CallSums { count, failed, time_ns, latencies } = of;
        group.operations.push(KindOf { kind: kind.name(), count, failed, time_ns, latencies });
    }
    group.operations.sort_by_key(|of| std::cmp::Reverse((of.time_ns, of.count)));
}

/// Adds the counts of a group's operations.
fn add_group(total: &mut Group, group: &mut Group) {
    for of in &group.operations {
        let at = match total.operations.iter().position(|known| known.kind == of.kind) {
            Some(at) => at,
            None => {
                total.operations.push(KindOf { kind: of.kind, ..KindOf::default() });
                total.operations.len() - 1
            }
        };
        let known = &mut total.operations[at];
        flowmine_sums::add_to(&mut known.count, of.count);
        flowmine_sums::add_to(&mut known.failed, of.failed);
        known.time_ns += of.time_ns;
        known.latencies.merge(&of.latencies);
    }
    for direction in 0..2 {
        total.sizes[direction].merge(&group.sizes[direction]);
        total.sequential[direction] += group.sequential[direction];
        total.strided[direction] += group.strided[direction];
        total.random[direction] += group.random[direction];
        total.unaligned[direction] += group.unaligned[direction];
    }
    flowmine_sums::add_to(&mut total.read_bytes, group.read_bytes);
    flowmine_sums::add_to(&mut total.written_bytes, group.written_bytes);
    flowmine_sums::add_to(&mut total.read_again_bytes, group.read_again_bytes);
}

#[cfg(test)]
mod tests {
    use flowmine_activity_log::{DirectionSum, ProcessIo, ProcessRow};

    use super::*;

    /// Processes of two programs: 0 and 1 of `project`, 2 of `add`, and one that does nothing.
    fn processes() -> Processes {
        let row = |(at, program): (usize, u32)| ProcessRow {
            host: 0,
            pid: 100 + at as i32,
            parent: NONE,
            program,
            forked_only: false,
            was_running: false,
            owner: NONE,
            started_ns: Some(0),
            ended_ns: Some(1000 * (at as i64 + 1)),
            exit_code: Some(0),
            exit_signal: None,
            cpu_ns: None,
            io: ProcessIo::default(),
        };
        let rows = [0, 0, 1, 1].into_iter().enumerate().map(row).collect();
        Processes { programs: ["project", "add"].iter().collect(), rows, ..Processes::default() }
    }

    fn groups(of: Vec<u32>) -> Groups {
        Groups { by: "program", names: ["project", "add"].iter().collect(), of, whole: true, files: None }
    }

    fn one(process: u32, file: u32, kind: OperationKind, at: i64, time: i64, offset: i64, size: i64) -> TracedOperation {
        TracedOperation::One(Operation {
            process,
            file,
            kind,
            start_ns: at,
            end_ns: Some(at + time),
            offset: Some(offset),
            size: Some(size),
            result: Some(size),
        })
    }

    /// Each project reads a file and writes and reads another; add reads what both wrote, opens a
    /// third, and reads a part again.
    fn operations() -> Vec<TracedOperation> {
        use OperationKind::{Open, Read, Write};
        let mut all = Vec::new();
        for process in 0..2u32 {
            let out = 10 + process;
            all.extend([
                one(process, process, Read, 0, 10, 0, 4096),
                one(process, process, Read, 20, 30, 4096, 4096),
                one(process, out, Write, 60, 5, 0, 100),
                one(process, out, Read, 70, 5, 0, 100),
            ]);
            all.extend([one(2, out, Read, 200, 10, 0, 100), one(2, out, Read, 220, 10, 0, 100)]);
        }
        all.push(TracedOperation::One(Operation {
            process: 2,
            file: 20,
            kind: Open,
            start_ns: 300,
            end_ns: None,
            offset: None,
            size: None,
            result: Some(0),
        }));
        all
    }

    fn profile(of: &[TracedOperation], groups: Groups) -> Profile {
        let processes = processes();
        let mut builder = Builder::new(&processes, groups, Options::default());
        of.iter().for_each(|operation| builder.add(operation));
        let paths: Names = (0..30).map(|at| format!("/w/f{at}")).collect();
        builder.finish(&paths, (0, 0))
    }

    #[test]
    fn table_five_by_hand() {
        let found = profile(&operations(), groups(vec![0, 0, 1, 1]));
        let of = |name: &str| found.groups.iter().find(|group| group.name == name).expect("it is there");
        let kinds = |of: &Kinds| (of.read_only, of.write_only, of.read_write, of.untouched);
        let project = of("project");
        assert_eq!((project.read_bytes, project.written_bytes), (2 * (8192 + 100), 200));
        assert_eq!(kinds(&project.files), (2, 0, 2, Some(0)));
        assert_eq!(kinds(&project.processes_by_access), (0, 0, 2, Some(0)));
        let add = of("add");
        assert_eq!(kinds(&add.files), (2, 0, 0, Some(1)));
        assert_eq!((kinds(&add.processes_by_access), add.processes, add.without_files), ((1, 0, 0, Some(0)), 2, 1));
        assert_eq!((add.read_bytes, add.read_again_bytes), (400, 200));
        // Over all groups, the intermediate files were both read and written.
        assert_eq!(kinds(&found.total.files), (2, 0, 2, Some(1)));
        assert_eq!((found.total.read_bytes, found.files.len(), found.uses.len(), found.processes.len()), (16_984, 5, 7, 3));
        assert_eq!((project.sequential, project.random), ([2, 0], [0, 0]));
        assert_eq!((add.sequential, add.random), ([0, 0], [2, 0]));
        assert_eq!(found.left_out.without_latency, 1);
        let read = found.total.operations.iter().find(|of| of.kind == "read").expect("reads");
        assert_eq!((read.count, read.time_ns, read.latencies.summary().map(|of| (of.min, of.max))), (10, 130, Some((5, 30))));
        assert_eq!(project.life_times.summary().map(|of| (of.count, of.mean)), Some((2, 1500.0)));
        let over: i64 = found.over_time.rows.iter().flat_map(|row| &row.read_bytes).sum();
        assert_eq!(over, 16_984);
    }

    #[test]
    fn what_was_added_up_says_what_it_cannot_tell() {
        let sum = TracedOperation::Sum(OperationSum {
            process: 0,
            file: 1,
            first_ns: 0,
            last_ns: 100,
            read: DirectionSum { calls: 10, bytes: 1000, errors: 1, time_ns: 50, extent: Some((0, 400)) },
            ..OperationSum::default()
        });
        let found = profile(&[sum], groups(vec![0, 0, 1, 1]));
        let read = &found.total.operations[0];
        assert_eq!((read.kind, read.count, read.failed, read.time_ns, read.latencies.count()), ("read", 10, 1, 50, 0));
        assert_eq!((found.total.files.untouched, found.total.files.read_only, found.total.read_again_bytes), (None, 1, 600));
        assert_eq!(found.made_of, MadeOf { events: 0, sums: 1 });
    }

    /// Two reads of the same bytes, one of them at an unknown offset: no order, and no bytes read
    /// again.
    #[test]
    fn a_place_that_is_not_known_is_in_no_order() {
        let read = |at, offset| match one(0, 1, OperationKind::Read, at, 5, 0, 100) {
            TracedOperation::One(operation) => TracedOperation::One(Operation { offset, ..operation }),
            sum @ TracedOperation::Sum(_) => sum,
        };
        let all = [read(0, Some(0)), read(10, Some(100)), read(20, None), read(30, Some(200))];
        let found = profile(&all, groups(vec![0, 0, 1, 1]));
        assert_eq!((found.total.sequential, found.total.random, found.total.read_again_bytes), ([1, 0], [0, 0], 0));
        assert_eq!((found.left_out.without_offset, found.total.read_bytes), (1, 400));
        let again = profile(&[read(0, Some(0)), read(10, Some(0))], groups(vec![0, 0, 1, 1]));
        assert_eq!((again.left_out.without_offset, again.total.read_again_bytes), (0, 100));
    }

    #[test]
    fn what_is_not_wanted_is_counted() {
        let mut wanted = groups(vec![NONE, NONE, 1, 1]);
        wanted.whole = false;
        let mut all = operations();
        all.push(one(NONE, 5, OperationKind::Read, 0, 1, 0, 7));
        let found = profile(&all, wanted.clone());
        assert_eq!((found.left_out.not_wanted, found.total.read_bytes, found.total.processes), (9, 400, 2));
        wanted.whole = true;
        wanted.files = Some((0..30).map(|file| file == 10).collect());
        let one = profile(&all, wanted.clone());
        assert_eq!((one.files[0].path.as_str(), one.files.len(), one.total.read_bytes), ("/w/f10", 1, 200));
        assert_eq!(one.total.processes, 1);
        assert_eq!(one.left_out.not_wanted, all.len() as u64 - 2);
        wanted.files = None;
        let found = profile(&all, wanted);
        assert_eq!(found.groups.iter().find(|group| group.name == NO_PROCESS).map(|group| group.read_bytes), Some(7));
    }

    #[test]
    fn many_groups_are_one() {
        let processes = processes();
        let names: Names = (0..4).map(|at| format!("g{at}")).collect();
        let groups = Groups { by: "task", names, of: vec![0, 1, 2, 3], whole: true, files: None };
        let mut builder = Builder::new(&processes, groups, Options { most_groups: 2, ..Options::default() });
        operations().iter().for_each(|operation| builder.add(operation));
        let found = builder.finish(&(0..30).map(|at| at.to_string()).collect(), (3, 0));
        let names: Vec<&str> = found.groups.iter().map(|group| group.name.as_str()).collect();
        assert_eq!((names, found.left_out.groups, found.left_out.lost), (vec!["g0", "g1", OTHERS], 2, 3));
        assert_eq!(found.total.read_bytes, 16_984);
    }

    #[test]
    fn advice_names_its_threshold() {
        let mut all = Vec::new();
        for at in 0..2000 {
            all.push(one(0, 1, OperationKind::Read, at * 10, 5, (at * 7919 % 100) * 4096, 512));
        }
        let found = profile(&all, groups(vec![0, 0, 1, 1]));
        let of = |what: &str| {
            found.advice.iter().find(|advice| advice.what == what).map(|advice| (advice.threshold, advice.value > advice.limit))
        };
        assert_eq!(of("small_reads"), Some(("small_share", true)));
        assert_eq!(of("random_reads"), Some(("random_share", true)));
        assert_eq!(of("metadata"), None);
        assert!(profile(&operations(), groups(vec![0, 0, 1, 1])).advice.is_empty());
    }
}

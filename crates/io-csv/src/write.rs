//! A dataset in, directories with `file-bpf.csv` and `cgroups.csv` out, for scripts that were made
//! for the published tool.
//!
//! Lines have the published tool's columns and padding, but for the path, which is not padded at
//! its end. The traces of a host follow one another in the order of their beginnings, with handles
//! numbered on; the operations of a trace are in the order in which they were recorded.
//! `cgroups.csv` has a line for each process generation, in the order of their starts, without a
//! header, because the published script expects none.
//!
//! What the format cannot hold is left out and counted in [`Written`]. Operations are a stream; of
//! processes, a few numbers each are in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use flowmine_dataset::Dataset;
use flowmine_files::{FileError, Folder, MadeFiles, WorkFolder};
use flowmine_schema::tables::{IoEvent, IoTotal, Process};
use rustc_hash::FxHashMap;

use crate::error::IoCsvError;
use crate::{COLUMNS, EVENTS, FORKS, folder, path};

flowmine_schema::columns! {
    /// The open files of a trace, and their devices.
    struct Handle of IoEvent { host, trace_ns, start_ns, handle, device }
}

flowmine_schema::columns! {
    /// The columns of `processes` that make the file of forks.
    struct ForkRow of Process { host, trace_ns, pid, process_start_ns, as_of_ns, started_ns, parent_pid, cgroup_id }
}

/// Which operations: from this moment on, and before that one, by their beginnings.
#[derive(Debug, Clone, Copy, Default)]
pub struct Period {
    /// The first moment, UTC nanoseconds since 1970; `None` for no bound.
    pub from_ns: Option<i64>,
    /// The moment before which operations began, UTC nanoseconds since 1970; `None` for no bound.
    pub to_ns: Option<i64>,
}

impl Period {
    fn holds(self, ns: i64) -> bool {
        self.from_ns.is_none_or(|from| ns >= from) && self.to_ns.is_none_or(|to| ns < to)
    }
}

/// What was written and what was not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Written {
    /// How many hosts: a directory each.
    pub hosts: u64,
    /// Number of lines of `file-bpf.csv` that hold operations.
    pub events: u64,
    /// Number of lines of `cgroups.csv` that hold forks.
    pub forks: u64,
    /// Operations left out by their kind, because the format has no letter for it.
    pub other_ops: BTreeMap<String, u64>,
    /// Operations left out because something without which a line would say something untrue is not
    /// known: result, offset or size.
    pub incomplete: u64,
    /// Rows of `io_totals`, which hold added up operations.
    pub totals: u64,
    /// Reads and writes by copy_file_range, sendfile, splice or io_uring, which look like calls of
    /// read and write now.
    pub not_calls: u64,
    /// Operations with an unknown end, written with their begin.
    pub without_end: u64,
    /// Operations on a file without inode, written as 0.
    pub without_file: u64,
    /// Paths in quotes, because of a control character, an escape, or a comma with a quote after
    /// it.
    pub quoted: u64,
    /// Paths in containers, which are left out; the host's are there.
    pub container_paths: u64,
    /// Hosts with files on several devices, so that an inode number may mean several files.
    pub several_devices: u64,
    /// Hosts with several traces, in which an inode number may mean different files.
    pub several_traces: u64,
    /// Processes left out because their start or cgroup is not known.
    pub processes: u64,
    /// Processes that were in another cgroup before; the last one is written.
    pub moved: u64,
}

/// Number of bytes of lines that are collected for each trace.
const GATHERED: usize = 64 << 10;

/// A trace: its host and when it began.
type Key = (String, i64);

#[derive(Default)]
struct Trace {
    highest_handle: i64,
    /// What is added to handles, so that they differ from those of the traces before.
    handle_base: i64,
    lines: Vec<u8>,
    part: String,
    forks: FxHashMap<(i32, Option<i64>, i64), ForkLine>,
}

#[derive(Debug, Clone, Copy)]
struct ForkLine {
    as_of_ns: i64,
    parent: i32,
    cgroup: i64,
    moved: bool,
}

/// Writes a directory for each host of a dataset into `out`, which is made when it does not exist.
/// A file appears when it is complete and replaces one of the same name.
///
/// # Errors
/// When the dataset cannot be read or a file cannot be written; then nothing is left half written.
pub fn export(dataset: &Dataset, out: &Path, period: Period) -> Result<Written, IoCsvError> {
    let mut written = Written::default();
    let mut traces = look(dataset, period, &mut written)?;
    take_forks(dataset, &mut traces, &mut written)?;
    written.totals = dataset.row_count::<IoTotal<'static>>()?;
    let work = Work::begin(out)?;
    work.claim(traces.keys().map(|(host, _)| folder::of_host(host)))?;
    prepare(&mut traces, &mut written);
    take_events(dataset, period, &mut traces, &work, &mut written)?;
    let mut left = traces.into_iter().peekable();
    while let Some(((host, _), first)) = left.next() {
        let dir = out.join(folder::of_host(&host));
        let mut whole = work.append(&first.part)?;
        whole.write_all(&first.lines).map_err(failed(&dir))?;
        let mut forks = work.append(FORKS)?;
        write_forks(first.forks, &dir, &mut forks, &mut written)?;
        while let Some((_, trace)) = left.next_if(|((other, _), _)| *other == host) {
            work.append(&trace.part)?.write_all(&trace.lines).map_err(failed(&dir))?;
            let mut part = work.inside().read(&trace.part).map_err(work.failed(&trace.part))?;
            io::copy(&mut part, &mut whole).map_err(failed(&dir))?;
            work.inside().remove(&trace.part).map_err(work.failed(&trace.part))?;
            write_forks(trace.forks, &dir, &mut forks, &mut written)?;
        }
        let (folder, _) = work.out.make_folder(folder::of_host(&host), 0o777).map_err(|error| failed(&dir)(error.into()))?;
        for (file, part, name) in [(whole, first.part.as_str(), EVENTS), (forks, FORKS, FORKS)] {
            file.sync_all().map_err(failed(&dir))?;
            work.inside().rename(part, &folder, name).map_err(|error| failed(&dir.join(name))(error.into()))?;
        }
        written.hosts += 1;
    }
    Ok(written)
}

/// Where files are until they are complete: a hidden folder that only we can enter, and which goes
/// at the end.
struct Work {
    out: Folder,
    parts: WorkFolder,
}

impl Work {
    fn begin(out: &Path) -> Result<Self, IoCsvError> {
        let folder = Folder::make(out, 0o777).map_err(|error| failed(out)(error.into()))?;
        let parts = folder.work_folder("io-csv").map_err(|error| failed(out)(error.into()))?;
        Ok(Self { out: folder, parts })
    }

    /// Takes the folders of hosts, which may not be anything that the user has there.
    fn claim(&self, hosts: impl Iterator<Item = String>) -> Result<(), IoCsvError> {
        let failed = |error: FileError| failed(self.out.path())(error.into());
        MadeFiles::new(&self.out).map_err(failed)?.claim(hosts).map_err(failed)
    }

    fn inside(&self) -> &Folder {
        self.parts.folder()
    }

    fn append(&self, part: &str) -> Result<File, IoCsvError> {
        self.inside().append(part, 0o666).map_err(self.failed(part))
    }

    fn failed(&self, part: &str) -> impl FnOnce(FileError) -> IoCsvError {
        let failed = failed(&self.inside().path().join(part));
        |error| failed(error.into())
    }
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> IoCsvError + use<> {
    IoCsvError::system(path.display().to_string())
}

/// Finds out which traces there are.
fn look(dataset: &Dataset, period: Period, written: &mut Written) -> Result<BTreeMap<Key, Trace>, IoCsvError> {
    let mut traces = BTreeMap::<Key, Trace>::new();
    let mut devices = BTreeMap::<String, (Option<i64>, bool)>::new();
    // Of the row before: nearly all of a host and trace follow one another.
    let mut last: Option<(Key, i64, Option<i64>)> = None;
    let mut keep = |(key, highest, device): (Key, i64, Option<i64>)| {
        let (first, several) = devices.entry(key.0.clone()).or_insert((device, false));
        *several |= device.is_some() && first.is_some() && *first != device;
        *first = first.or(device);
        let trace = traces.entry(key).or_default();
        trace.highest_handle = trace.highest_handle.max(highest);
    };
    dataset.read::<Handle<'static>, IoCsvError>(|row| {
        if !period.holds(row.start_ns) {
            return Ok(());
        }
        let handle = row.handle.unwrap_or(0);
        match &mut last {
            Some(((host, trace_ns), highest, device)) if *host == row.host && *trace_ns == row.trace_ns && *device == row.device => {
                *highest = (*highest).max(handle);
            }
            _ => {
                let before = last.replace(((row.host.into_owned(), row.trace_ns), handle, row.device));
                before.into_iter().for_each(&mut keep);
            }
        }
        Ok(())
    })?;
    last.into_iter().for_each(&mut keep);
    written.several_devices = devices.values().filter(|(_, several)| *several).count() as u64;
    Ok(traces)
}

fn take_forks(dataset: &Dataset, traces: &mut BTreeMap<Key, Trace>, written: &mut Written) -> Result<(), IoCsvError> {
    let mut unknown = BTreeSet::new();
    dataset.read::<ForkRow<'static>, IoCsvError>(|row| {
        let key = (row.host.into_owned(), row.trace_ns);
        let (Some(started_ns), Some(cgroup)) = (row.started_ns.filter(|ns| *ns >= 0), row.cgroup_id) else {
            unknown.insert((key, row.pid, row.process_start_ns));
            return Ok(());
        };
        let line = ForkLine { as_of_ns: row.as_of_ns, parent: row.parent_pid.unwrap_or(0), cgroup, moved: false };
        let forks = &mut traces.entry(key).or_default().forks;
        let known = forks.entry((row.pid, row.process_start_ns, started_ns)).or_insert(line);
        let moved = known.moved || known.cgroup != cgroup;
        if row.as_of_ns >= known.as_of_ns {
            *known = line;
        }
        known.moved = moved;
        Ok(())
    })?;
    // A row that came before its cgroup was known is none that is left out.
    for (key, trace) in traces.iter() {
        for (pid, start, _) in trace.forks.keys().filter(|(_, start, _)| start.is_some()) {
            unknown.remove(&(key.clone(), *pid, *start));
        }
    }
    written.processes = unknown.len() as u64;
    Ok(())
}

/// Makes the beginnings of the files.
fn prepare(traces: &mut BTreeMap<Key, Trace>, written: &mut Written) {
    let mut host_before = None;
    let (mut number, mut base) = (0, 0i64);
    for (at, ((host, _), trace)) in traces.iter_mut().enumerate() {
        if host_before.as_ref() != Some(host) {
            (number, base) = (0, 0);
            trace.lines.extend_from_slice(COLUMNS.join(",").as_bytes());
            trace.lines.push(b'\n');
        } else if number == 1 {
            written.several_traces += 1;
        }
        trace.part = at.to_string();
        trace.handle_base = base;
        // The tool for FUSE counts from 0.
        base = base.saturating_add(trace.highest_handle.max(0)).saturating_add(1);
        number += 1;
        host_before = Some(host.clone());
    }
}

fn take_events(
    dataset: &Dataset,
    period: Period,
    traces: &mut BTreeMap<Key, Trace>,
    work: &Work,
    written: &mut Written,
) -> Result<(), IoCsvError> {
    let mut at: Option<(Key, Trace)> = None;
    dataset.read::<IoEvent<'static>, IoCsvError>(|row| {
        if !period.holds(row.start_ns) {
            return Ok(());
        }
        let here = at.as_ref().is_some_and(|((host, trace_ns), _)| *host == row.host && *trace_ns == row.trace_ns);
        if !here {
            let key = (row.host.as_ref().to_owned(), row.trace_ns);
            let Some(trace) = traces.remove(&key) else {
                // Written after we looked: it is a row of the next export.
                put_back(&mut at, traces);
                return Ok(());
            };
            put_back(&mut at, traces);
            at = Some((key, trace));
        }
        let Some((_, trace)) = &mut at else { return Ok(()) };
        event_line(&row, trace.handle_base, &mut trace.lines, written);
        if trace.lines.len() >= GATHERED {
            work.append(&trace.part)?.write_all(&trace.lines).map_err(failed(work.inside().path()))?;
            trace.lines.clear();
        }
        Ok(())
    })?;
    put_back(&mut at, traces);
    Ok(())
}

fn put_back(at: &mut Option<(Key, Trace)>, traces: &mut BTreeMap<Key, Trace>) {
    if let Some((key, trace)) = at.take() {
        traces.insert(key, trace);
    }
}

/// A line of `file-bpf.csv`, unless the format cannot hold the operation.
fn event_line(row: &IoEvent<'_>, handle_base: i64, out: &mut Vec<u8>, written: &mut Written) {
    let letter = match &*row.op {
        "open" => b'O',
        "close" => b'C',
        "read" => b'R',
        "write" => b'W',
        "delete" => b'U',
        other => {
            *written.other_ops.entry(other.to_owned()).or_default() += 1;
            return;
        }
    };
    let transfers = matches!(letter, b'R' | b'W');
    let end_ns = row.end_ns.unwrap_or(row.start_ns);
    let (Some(result), false) = (row.result, row.start_ns < 0 || end_ns < 0) else {
        written.incomplete += 1;
        return;
    };
    if transfers && (row.offset.is_none() || row.size.is_none()) {
        written.incomplete += 1;
        return;
    }
    let has_file = row.inode.is_some();
    // The published tool's values for none: 0, and -2 for an open file that it does not know.
    let has_none = letter == b'U' || letter == b'O' && result < 0;
    let handle = row.handle.map_or(if has_none { 0 } else { -2 }, |handle| handle.saturating_add(handle_base));
    written.without_end += u64::from(row.end_ns.is_none());
    written.without_file += u64::from(!has_file && !has_none);
    written.not_calls += u64::from(row.via != "call");
    written.container_paths += u64::from(row.container_path.is_some());
    seconds(row.start_ns, out);
    seconds(end_ns, out);
    signed(i64::from(row.pid), 11, out);
    for time in [row.utime_start_ns, row.utime_end_ns, row.stime_start_ns, row.stime_end_ns] {
        seconds(time.unwrap_or(0).max(0), out);
    }
    unsigned(row.inode.unwrap_or(0) as u64, 20, out);
    out.extend_from_slice(&[letter, b',']);
    signed(result, 11, out);
    signed(handle, 20, out);
    unsigned(if transfers { row.offset.unwrap_or(0) as u64 } else { 0 }, 20, out);
    unsigned(if transfers { row.size.unwrap_or(0) as u64 } else { 0 }, 20, out);
    let _ = write!(out, "0x{:08x},", if letter == b'O' { row.flags.unwrap_or(0) } else { 0 });
    if matches!(letter, b'O' | b'U')
        && let Some(path) = &row.path
    {
        written.quoted += u64::from(path::write(path, out));
    }
    out.push(b'\n');
    written.events += 1;
}

/// A number with spaces before it and a comma after it.
fn padded(digits: &[u8], width: usize, out: &mut Vec<u8>) {
    out.extend(std::iter::repeat_n(b' ', width.saturating_sub(digits.len())));
    out.extend_from_slice(digits);
    out.push(b',');
}

/// The decimal digits of a number at the end of a buffer.
fn digits(mut value: u64, buffer: &mut [u8; 21]) -> usize {
    let mut at = buffer.len();
    loop {
        at -= 1;
        buffer[at] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            return at;
        }
    }
}

fn unsigned(value: u64, width: usize, out: &mut Vec<u8>) {
    let mut buffer = [0; 21];
    let at = digits(value, &mut buffer);
    padded(&buffer[at..], width, out);
}

fn signed(value: i64, width: usize, out: &mut Vec<u8>) {
    let mut buffer = [0; 21];
    let mut at = digits(value.unsigned_abs(), &mut buffer);
    if value < 0 {
        at -= 1;
        buffer[at] = b'-';
    }
    padded(&buffer[at..], width, out);
}

/// Seconds with three digits, the rest cut off, in 24 characters and a comma.
fn seconds(ns: i64, out: &mut Vec<u8>) {
    point(ns as u64 / 1_000_000, out);
}

/// Writes a count of thousandths as a decimal number with three digits after the point.
fn point(thousandths: u64, out: &mut Vec<u8>) {
    let mut buffer = [0; 21];
    let at = digits(thousandths / 1000, &mut buffer);
    out.extend(std::iter::repeat_n(b' ', 20usize.saturating_sub(buffer.len() - at)));
    out.extend_from_slice(&buffer[at..]);
    let rest = (thousandths % 1000) as u16;
    let digit = |value: u16| b'0' + (value % 10) as u8;
    out.extend_from_slice(&[b'.', digit(rest / 100), digit(rest / 10), digit(rest), b',']);
}

fn write_forks(
    forks: FxHashMap<(i32, Option<i64>, i64), ForkLine>,
    path: &Path,
    file: &mut File,
    written: &mut Written,
) -> Result<(), IoCsvError> {
    let mut forks: Vec<_> = forks.into_iter().map(|((pid, start, started_ns), line)| (started_ns, pid, start, line)).collect();
    forks.sort_by_key(|&(started_ns, pid, start, _)| (started_ns, pid, start));
    let mut lines = Vec::new();
    for (started_ns, pid, _, line) in &forks {
        // In microseconds, as the published tool writes it; so nothing is cut off.
        point(*started_ns as u64, &mut lines);
        signed(i64::from(line.parent), 11, &mut lines);
        signed(i64::from(*pid), 11, &mut lines);
        unsigned(line.cgroup as u64, 20, &mut lines);
        lines.pop();
        lines.push(b'\n');
        written.moved += u64::from(line.moved);
        if lines.len() >= GATHERED {
            file.write_all(&lines).map_err(failed(path))?;
            lines.clear();
        }
    }
    written.forks += forks.len() as u64;
    file.write_all(&lines).map_err(failed(path))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;

    use super::*;
    use crate::events::{Decoded, Decoder};
    use crate::forks;

    fn line(row: &IoEvent<'_>, base: i64) -> (Vec<u8>, Written) {
        let (mut out, mut written) = (Vec::new(), Written::default());
        event_line(row, base, &mut out, &mut written);
        (out, written)
    }

    #[test]
    fn columns_stand_where_the_published_tool_puts_them() {
        let row = IoEvent {
            pid: 7,
            op: "open".into(),
            via: "call".into(),
            start_ns: 1_714_067_937_744_999_999,
            end_ns: Some(1_714_067_937_745_000_000),
            handle: Some(3),
            inode: Some(-1),
            result: Some(-13),
            flags: Some(0o2),
            path: Some("/a".into()),
            ..IoEvent::default()
        };
        let (out, _) = line(&row, 10);
        let time = |time: &str| format!("{time:>24}");
        let expected = format!(
            "{},{},{:>11},{},{},{},{},{:>20},O,{:>11},{:>20},{:>20},{:>20},0x00000002,/a::\n",
            time("1714067937.744"),
            time("1714067937.745"),
            7,
            time("0.000"),
            time("0.000"),
            time("0.000"),
            time("0.000"),
            u64::MAX,
            -13,
            13,
            0,
            0
        );
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn what_the_format_cannot_hold_is_counted() {
        let read =
            IoEvent { op: "read".into(), via: "splice".into(), offset: Some(0), size: Some(1), result: Some(1), ..IoEvent::default() };
        let (out, written) = line(&read, 0);
        assert!(String::from_utf8(out).unwrap().contains(&format!(",R,{:>11},{:>20},", 1, -2)), "an open file that is not known");
        assert_eq!((written.events, written.not_calls, written.without_end, written.without_file), (1, 1, 1, 1));
        for incomplete in [
            IoEvent { result: None, ..read.clone() },
            IoEvent { offset: None, ..read.clone() },
            IoEvent { size: None, ..read.clone() },
            IoEvent { start_ns: -1, ..read.clone() },
        ] {
            let (out, written) = line(&incomplete, 0);
            assert!(out.is_empty() && written.incomplete == 1 && written.events == 0);
        }
        let (out, written) = line(&IoEvent { op: "rename".into(), ..read }, 0);
        assert!(out.is_empty() && written.other_ops == [("rename".to_owned(), 1)].into());
    }

    #[test]
    fn forks_keep_every_digit() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("forks");
        let of = |cgroup| ForkLine { as_of_ns: 0, parent: 1, cgroup, moved: false };
        let forks =
            [((8, None, 1_714_067_937_409_123_457), of(-1)), ((9, Some(5), 1_714_067_937_409_123_456), of(4))].into_iter().collect();
        let mut written = Written::default();
        write_forks(forks, &path, &mut File::options().append(true).create(true).open(&path).unwrap(), &mut written).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        let read: Vec<_> = text.lines().map(|line| forks::decode(line.as_bytes()).unwrap().unwrap()).collect();
        assert_eq!(
            read.iter().map(|fork| (fork.at_ns, fork.pid, fork.cgroup)).collect::<Vec<_>>(),
            [(1_714_067_937_409_123_456, 9, Some(4)), (1_714_067_937_409_123_457, 8, Some(-1))]
        );
        assert_eq!(written.forks, 2);
    }

    fn texts() -> impl Strategy<Value = String> {
        let byte = prop_oneof![any::<u8>(), Just(b'\n'), Just(b','), Just(b'"'), Just(b':'), Just(b'\\'), Just(b'x'), Just(b' ')];
        let plain = proptest::collection::vec(byte, 0..30).prop_map(|bytes| flowmine_schema::text::decode(&bytes).into_owned());
        plain.prop_map(|end| format!("/w/{end}"))
    }

    prop_compose! {
        fn rows()(
            op in prop_oneof![Just("open"), Just("close"), Just("read"), Just("write"), Just("delete")],
            pid in 0..=4_194_304i32,
            start_ns in 0..i64::MAX / 2,
            lasted in proptest::option::of(0..1_000_000_000_000i64),
            handle in proptest::option::of(0..i64::MAX / 2),
            inode in proptest::option::of(any::<i64>()),
            numbers in (0..i64::MAX, 0..i64::MAX, prop_oneof![-200..0i64, 0..i64::MAX]),
            flags in proptest::option::of(any::<i32>()),
            path in proptest::option::of(texts()),
            cpu in proptest::option::of(proptest::array::uniform4(0..i64::MAX / 2)),
        ) -> IoEvent<'static> {
            let [utime_start_ns, utime_end_ns, stime_start_ns, stime_end_ns] = cpu.map_or([None; 4], |cpu| cpu.map(Some));
            IoEvent {
                pid,
                tid: Some(pid),
                op: op.into(),
                via: "call".into(),
                start_ns,
                end_ns: lasted.map(|ns| start_ns + ns),
                handle,
                device: Some(1),
                inode,
                offset: Some(numbers.0),
                size: Some(numbers.1),
                result: Some(numbers.2),
                flags,
                path: path.map(Into::into),
                utime_start_ns,
                utime_end_ns,
                stime_start_ns,
                stime_end_ns,
                ..IoEvent::default()
            }
        }
    }

    /// What docs/io-csv.md says is left of a row.
    fn left<'a>(row: &IoEvent<'a>) -> IoEvent<'a> {
        let milliseconds = |ns: i64| ns / 1_000_000 * 1_000_000;
        let transfers = matches!(&*row.op, "read" | "write");
        let (open, delete) = (row.op == "open", row.op == "delete");
        let failed = row.result < Some(0);
        let cpu = [row.utime_start_ns, row.utime_end_ns, row.stime_start_ns, row.stime_end_ns].map(|ns| ns.map(milliseconds));
        let cpu = if cpu.iter().all(|ns| ns.unwrap_or(0) == 0) { [None; 4] } else { cpu };
        let flags = (row.flags.unwrap_or(0) as u32 & !0x8000) as i32;
        IoEvent {
            tid: None,
            device: None,
            start_ns: milliseconds(row.start_ns),
            end_ns: Some(milliseconds(row.end_ns.unwrap_or(row.start_ns))),
            handle: row.handle.filter(|handle| *handle != 0 || !(delete || open && failed)),
            inode: row.inode.filter(|inode| *inode != 0 && (*inode > 0 || !delete)),
            offset: row.offset.filter(|_| transfers),
            size: row.size.filter(|_| transfers),
            flags: (open && (!failed || row.flags.unwrap_or(0) != 0)).then_some(flags),
            path: row.path.clone().filter(|_| open || delete),
            utime_start_ns: cpu[0],
            utime_end_ns: cpu[1],
            stime_start_ns: cpu[2],
            stime_end_ns: cpu[3],
            ..row.clone()
        }
    }

    proptest! {
        #[test]
        fn a_row_that_is_written_is_read_again(row in rows()) {
            let (out, _) = line(&row, 0);
            let text = out.strip_suffix(b"\n").unwrap();
            prop_assert!(!text.contains(&b'\n') && !text.contains(&b'\r'));
            match Decoder::default().decode(text) {
                Decoded::Event(event) => prop_assert_eq!(event.row, left(&row)),
                other => prop_assert!(false, "{other:?}"),
            }
        }
    }
}

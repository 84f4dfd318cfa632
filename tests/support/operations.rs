//! The comparison of a trace with what `tests/operations/operations.c` says that it did.
//!
//! In: the expectations of a case, and the rows of a trace in the plain form [`Seen`] (see
//! `traced.rs` for those of a dataset). Out: nothing, or all differences as text. A backend that
//! cannot see something declares it as a [`Blind`] spot; one that it does see after all, or that no
//! case needs, is a difference too. Rows of other directories and of page faults are left out.
//! Needs nothing but the standard library, so that tests of other packages can include it by path.

#![allow(dead_code, reason = "each test file uses another part")]

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Calls of mkdir, rmdir, symlink, readdir and stat that one process of the case `directory_calls`
/// makes.
pub const COUNTED: [Option<i64>; 5] = [Some(9), Some(8), Some(4), Some(3), Some(1010)];

/// What an expectation says of a number or a text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Want<T> {
    /// It must be null.
    Absent,
    /// It is not compared.
    Any,
    /// It must be this.
    Is(T),
}

impl<T: PartialEq> Want<T> {
    fn accepts(&self, value: Option<&T>) -> bool {
        match self {
            Want::Absent => value.is_none(),
            Want::Any => true,
            Want::Is(wanted) => value == Some(wanted),
        }
    }
}

/// A row that must be there.
#[derive(Debug, Clone)]
pub struct Expected {
    pub pid: i64,
    pub tid: i64,
    pub op: String,
    pub via: Want<String>,
    pub handle: Want<i64>,
    pub device: Want<i64>,
    pub inode: Want<i64>,
    /// Below the directory in which the case ran.
    pub path: Want<Vec<u8>>,
    /// As the process sees it, whole.
    pub container_path: Want<Vec<u8>>,
    pub new_path: Want<Vec<u8>>,
    pub offset: Want<i64>,
    pub size: Want<i64>,
    pub result: Want<i64>,
    pub flags: Want<i64>,
}

/// What a case says that it did.
#[derive(Debug, Clone, Default)]
pub struct Expectations {
    /// Processes and their start times in clock ticks after boot.
    pub processes: Vec<(i64, i64)>,
    /// In the order of the calls of each thread.
    pub rows: Vec<Expected>,
}

/// A row of a trace; texts as bytes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Seen {
    pub pid: i64,
    pub process_start_ns: Option<i64>,
    pub tid: i64,
    pub op: String,
    pub via: String,
    pub start_ns: i64,
    pub end_ns: Option<i64>,
    pub handle: Option<i64>,
    pub device: Option<i64>,
    pub inode: Option<i64>,
    pub path: Option<Vec<u8>>,
    pub container_path: Option<Vec<u8>>,
    pub new_path: Option<Vec<u8>>,
    pub offset: Option<i64>,
    pub size: Option<i64>,
    pub result: Option<i64>,
    pub flags: Option<i64>,
}

/// What a trace says of a file, from its table of files.
#[derive(Debug, Clone)]
pub struct SeenFile {
    pub device: i64,
    pub inode: i64,
    pub kind: Option<String>,
    pub path: Option<Vec<u8>>,
}

/// A column that a backend may not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Column {
    Handle,
    /// Device and inode.
    File,
    Path,
    ContainerPath,
    Offset,
    Size,
    Result,
    Flags,
}

/// What a backend makes of the rows that a blind spot is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sight {
    /// It gives no such rows. When it does, the blind spot is unneeded and the comparison fails.
    NoRow,
    /// It gives them with null in this column.
    Null(Column),
    /// It gives them with something else in this column, which is not compared. For what depends on
    /// the file system or on timing.
    NotCompared(Column),
}

/// Something that a backend cannot see.
#[derive(Clone, Copy)]
pub struct Blind {
    /// For the reader of the test.
    pub why: &'static str,
    /// Of which rows of which case.
    pub of: fn(&str, &Expected) -> bool,
    /// And what it makes of them.
    pub sight: Sight,
}

/// Rows that a backend gives beside those expected, such as reads by which a mapping is filled.
#[derive(Clone, Copy)]
pub struct Extra {
    /// For the reader of the test.
    pub why: &'static str,
    /// Which rows of which case.
    pub of: fn(&str, &Seen) -> bool,
}

/// A backend as far as the comparison has to know it.
#[derive(Clone, Copy)]
pub struct Way {
    pub name: &'static str,
    /// Whether device and inode are those that the traced program sees. An overlay's files have
    /// others, but each always the same.
    pub same_files: bool,
    /// Whether the rows of a thread come in the order of its calls by their start times.
    pub ordered: bool,
    pub blind: &'static [Blind],
    pub extra: &'static [Extra],
}

/// How often each blind spot and each extra of a backend was met, over several cases.
#[derive(Debug, Default)]
pub struct Used {
    blind: HashMap<usize, usize>,
    extra: HashMap<usize, usize>,
}

impl Used {
    /// Fails when the backend declares something that no case met.
    pub fn check(&self, way: &Way) -> Result<(), String> {
        let blind = way.blind.iter().enumerate().filter(|(at, _)| !self.blind.contains_key(at)).map(|(_, blind)| blind.why);
        let extra = way.extra.iter().enumerate().filter(|(at, _)| !self.extra.contains_key(at)).map(|(_, extra)| extra.why);
        let unused: Vec<_> = blind.chain(extra).collect();
        if unused.is_empty() { Ok(()) } else { Err(format!("{}: no case needs what is declared as: {}", way.name, unused.join("; "))) }
    }
}

/// The program, compiled when it is first asked for.
pub fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| compiled("operations"))
}

/// A program of `tests/operations`, which is compiled when its source has changed.
pub fn compiled(name: &str) -> PathBuf {
    let source = Path::new(concat!(env!("CARGO_MANIFEST_DIR"))).ancestors().map(|dir| dir.join(format!("tests/operations/{name}.c")));
    let source = source.into_iter().find(|file| file.is_file()).expect("the program's source is in the repository");
    let header = source.with_file_name("must.h");
    let dir = option_env!("CARGO_TARGET_TMPDIR").map_or_else(std::env::temp_dir, PathBuf::from);
    let (program, own) = (dir.join(name), dir.join(format!("{name}.{}", std::process::id())));
    let modified = |file: &Path| file.metadata().and_then(|metadata| metadata.modified()).ok();
    if modified(&program) < modified(&source).max(modified(&header)) {
        let mut command = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
        // Static, so that it also runs where the libraries of this system are not: on another kernel, in a container.
        command.args(["-O1", "-Wall", "-Wextra", "-Werror", "-Wno-override-init", "-pthread", "-static", "-o"]).arg(&own).arg(&source);
        assert!(command.status().expect("a C compiler is there").success(), "{command:?}");
        // Tests run at the same time: nobody meets half a program.
        std::fs::rename(&own, &program).expect("the directory is ours");
    }
    program
}

/// The names of all cases.
pub fn cases() -> Vec<String> {
    let output = Command::new(program()).arg("--list").output().expect("it was compiled here");
    String::from_utf8(output.stdout).expect("names are text").lines().map(str::to_owned).collect()
}

/// Runs a case under `command` (such as `flowmine trace … --`), to which the program and its
/// arguments are added, in the empty directory `dir`. Gives the expectations, or `None` when the
/// case cannot run here (no such call, no right to it); fails the test when the program does not
/// get to its end within a minute.
pub fn run(mut command: Command, case: &str, dir: &Path, expectations: &Path) -> Option<Expectations> {
    assert!(expectations.is_absolute() && !expectations.starts_with(dir), "the expectations lie outside of the directory");
    assert!(std::fs::read_dir(dir).expect("a directory").next().is_none(), "{} is empty", dir.display());
    command.arg(program()).arg(case).arg("--expect").arg(expectations).current_dir(dir).stdin(Stdio::null());
    finish(command, case, expectations)
}

/// Without a command around it.
pub fn run_alone(case: &str, dir: &Path, expectations: &Path) -> Option<Expectations> {
    let mut command = Command::new(program());
    command.arg(case).arg("--expect").arg(expectations).current_dir(dir).stdin(Stdio::null());
    finish(command, case, expectations)
}

fn finish(mut command: Command, case: &str, expectations: &Path) -> Option<Expectations> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let group = child.id();
    // What hangs is ended with all that it started, or the test would wait for ever.
    let (done, ended) = std::sync::mpsc::channel::<()>();
    let guard = std::thread::spawn(move || {
        let begin = Instant::now();
        let late = ended.recv_timeout(Duration::from_secs(60)) == Err(std::sync::mpsc::RecvTimeoutError::Timeout);
        if late {
            let _ = Command::new("kill").args(["-KILL", "--", &format!("-{group}")]).status();
        }
        late.then(|| begin.elapsed())
    });
    let output = child.wait_with_output().expect("it was started");
    let _ = done.send(());
    let late = guard.join().expect("it does not fail");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(late.is_none(), "{case} was ended after {late:?}: {command:?}\n{text}");
    // The file may have been made before, empty.
    let told = std::fs::read(expectations).unwrap_or_default();
    if told.is_empty() {
        assert!(text.contains("operations: cannot run here"), "{case}: {command:?}: {}\n{text}", output.status);
        return None;
    }
    Some(parse(&told))
}

/// Reads what the program wrote.
pub fn parse(told: &[u8]) -> Expectations {
    let mut expectations = Expectations::default();
    for line in String::from_utf8(told.to_vec()).expect("it is ASCII").lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        match fields[..] {
            ["process", pid, start] => expectations.processes.push((plain(pid), plain(start))),
            ["row", count, step, pid, tid, op, via, handle, device, inode, path, container_path, new_path, offset, size, result, flags] => {
                let row = Expected {
                    pid: plain(pid),
                    tid: plain(tid),
                    op: op.to_owned(),
                    via: if via == "?" || via == "\\x3f" { Want::Any } else { Want::Is(via.to_owned()) },
                    handle: number(handle),
                    device: number(device),
                    inode: number(inode),
                    path: text(path),
                    container_path: text(container_path),
                    new_path: text(new_path),
                    offset: number(offset),
                    size: number(size),
                    result: number(result),
                    flags: number(flags),
                };
                for at in 0..plain(count) {
                    let mut row = row.clone();
                    if let Want::Is(offset) = &mut row.offset {
                        *offset += at * plain(step);
                    }
                    expectations.rows.push(row);
                }
            }
            _ => panic!("not an expectation: {line}"),
        }
    }
    expectations
}

fn plain(field: &str) -> i64 {
    field.parse().unwrap_or_else(|_| panic!("{field} is not a number"))
}

fn number(field: &str) -> Want<i64> {
    match field {
        "-" => Want::Absent,
        "?" => Want::Any,
        _ => Want::Is(plain(field)),
    }
}

fn text(field: &str) -> Want<Vec<u8>> {
    match field {
        "-" => return Want::Absent,
        "?" => return Want::Any,
        _ => {}
    }
    let (mut bytes, mut rest) = (Vec::new(), field.as_bytes());
    while let Some((&byte, after)) = rest.split_first() {
        if byte == b'\\' {
            let hex = std::str::from_utf8(&after[1..3]).expect("two digits");
            bytes.push(u8::from_str_radix(hex, 16).expect("two digits"));
            rest = &after[3..];
        } else {
            bytes.push(byte);
            rest = after;
        }
    }
    Want::Is(bytes)
}

/// Compares the rows of a trace with what a case did in `dir` (without symbolic links in its path).
/// The error says all that differs.
pub fn compare(
    way: &Way,
    case: &str,
    dir: &Path,
    expectations: &Expectations,
    rows: &[Seen],
    files: &[SeenFile],
    used: &mut Used,
) -> Result<(), String> {
    let expected = as_seen_by(way, case, dir, &expectations.rows, used);
    let mut seen = Vec::new();
    for row in of_directory(way, dir, &expected, rows, files) {
        if row.op == "fault" {
            continue;
        }
        match way.extra.iter().position(|extra| (extra.of)(case, row)) {
            Some(at) => *used.extra.entry(at).or_default() += 1,
            None => seen.push(row),
        }
    }
    let mut wrong = String::new();
    processes(expectations, &seen, &mut wrong);
    for row in &seen {
        if row.end_ns.is_some_and(|end| end < row.start_ns) {
            let _ = writeln!(wrong, "ends before it begins: {}", show(row));
        }
    }
    for file in files.iter().filter(|file| file.path.as_deref().is_some_and(|path| below(dir, path))) {
        if !matches!(file.kind.as_deref(), None | Some("regular" | "block")) {
            let _ = writeln!(wrong, "not a kind of file that is recorded: {file:?}");
        }
    }
    let mut by_thread: BTreeMap<i64, (Vec<&Expected>, Vec<&Seen>)> = BTreeMap::new();
    for row in &expected {
        by_thread.entry(row.tid).or_default().0.push(row);
    }
    for row in &seen {
        by_thread.entry(row.tid).or_default().1.push(row);
    }
    let mut names = Names::default();
    for (tid, (expected, mut seen)) in by_thread {
        seen.sort_by_key(|row| row.start_ns);
        thread(way, tid, &expected, &seen, &mut names, &mut wrong);
    }
    if wrong.is_empty() { Ok(()) } else { Err(format!("{}, case {case}:\n{wrong}", way.name)) }
}

/// The expectations with paths made whole, and without what the backend cannot see.
fn as_seen_by(way: &Way, case: &str, dir: &Path, rows: &[Expected], used: &mut Used) -> Vec<Expected> {
    let mut expected = Vec::new();
    'rows: for row in rows {
        let mut whole = row.clone();
        for path in [&mut whole.path, &mut whole.new_path] {
            if let Want::Is(path) = path {
                *path = [dir.as_os_str().as_bytes(), b"/", path].concat();
            }
        }
        for (at, blind) in way.blind.iter().enumerate() {
            if !(blind.of)(case, row) {
                continue;
            }
            *used.blind.entry(at).or_default() += 1;
            let (column, compared) = match blind.sight {
                Sight::NoRow => continue 'rows,
                Sight::Null(column) => (column, true),
                Sight::NotCompared(column) => (column, false),
            };
            let number = if compared { Want::Absent } else { Want::Any };
            let text = if compared { Want::Absent } else { Want::Any };
            match column {
                Column::Handle => whole.handle = number,
                Column::File => (whole.device, whole.inode) = (number.clone(), number),
                Column::Path => whole.path = text,
                Column::ContainerPath => whole.container_path = text,
                Column::Offset => whole.offset = number,
                Column::Size => whole.size = number,
                Column::Result => whole.result = number,
                Column::Flags => whole.flags = number,
            }
        }
        expected.push(whole);
    }
    expected
}

fn below(dir: &Path, path: &[u8]) -> bool {
    path.strip_prefix(dir.as_os_str().as_bytes()).is_some_and(|rest| rest.first() == Some(&b'/'))
}

/// The rows of files below the directory: by their path, or by that of another row or file of the
/// same inode.
fn of_directory<'a>(way: &Way, dir: &Path, expected: &[Expected], rows: &'a [Seen], files: &[SeenFile]) -> Vec<&'a Seen> {
    let by_path = |row: &Seen| [&row.path, &row.new_path].into_iter().flatten().any(|path| below(dir, path));
    let mut ours: HashSet<(i64, i64)> = HashSet::new();
    for row in expected {
        if let (Want::Is(device), Want::Is(inode)) = (&row.device, &row.inode) {
            ours.insert((*device, *inode));
        }
    }
    ours.extend(rows.iter().filter(|row| by_path(row)).filter_map(|row| Some((row.device?, row.inode?))));
    ours.extend(
        files.iter().filter(|file| file.path.as_deref().is_some_and(|path| below(dir, path))).map(|file| (file.device, file.inode)),
    );
    // What has neither path nor file, or one that the case does not know, can only be told by the process: none of the cases has such rows elsewhere.
    let pids: HashSet<i64> = expected.iter().map(|row| row.pid).collect();
    let nowhere = |row: &Seen| row.path.is_none() && (row.inode.is_none() || !way.same_files) && pids.contains(&row.pid);
    rows.iter().filter(|row| by_path(row) || nowhere(row) || row.device.zip(row.inode).is_some_and(|file| ours.contains(&file))).collect()
}

/// A process has one start time, that of /proc/PID/stat.
fn processes(expectations: &Expectations, seen: &[&Seen], wrong: &mut String) {
    let mut starts: BTreeMap<i64, HashSet<Option<i64>>> = BTreeMap::new();
    for row in seen {
        starts.entry(row.pid).or_default().insert(row.process_start_ns);
    }
    // USER_HZ is 100 on all architectures that are of interest.
    let tick = 10_000_000;
    for (pid, ticks) in &expectations.processes {
        let Some(found) = starts.get(pid) else { continue };
        let right = found.len() == 1 && found.iter().all(|start| start.is_none_or(|start| start / tick == *ticks));
        if !right {
            let _ = writeln!(wrong, "process {pid} started {ticks} ticks of 10 ms after boot, but its rows say {found:?} ns");
        }
    }
}

/// The numbers of the trace for those of the program, both ways.
#[derive(Default)]
struct Names {
    handles: HashMap<i64, i64>,
    handles_back: HashMap<i64, i64>,
    /// The file of each inode of the trace, and of each of the program's handles.
    files: HashMap<(i64, i64), (i64, i64)>,
    of_handle: HashMap<i64, (i64, i64)>,
}

impl Names {
    fn accept(&self, way: &Way, expected: &Expected, seen: &Seen) -> bool {
        let handle = match (&expected.handle, seen.handle) {
            (Want::Is(wanted), Some(found)) => {
                self.handles.get(wanted).is_none_or(|known| *known == found)
                    && self.handles_back.get(&found).is_none_or(|known| known == wanted)
            }
            (wanted, found) => wanted.accepts(found.as_ref()),
        };
        handle && self.same_file(way, expected, seen)
    }

    fn same_file(&self, way: &Way, expected: &Expected, seen: &Seen) -> bool {
        let found = (seen.device, seen.inode);
        match (&expected.device, &expected.inode) {
            (Want::Is(device), Want::Is(inode)) if !way.same_files => {
                let (Some(seen_device), Some(seen_inode)) = found else { return false };
                let (wanted, found) = ((*device, *inode), (seen_device, seen_inode));
                let by_handle = match expected.handle {
                    Want::Is(handle) => self.of_handle.get(&handle).is_none_or(|known| *known == found),
                    _ => true,
                };
                by_handle && self.files.get(&found).is_none_or(|known| *known == wanted)
            }
            (device, inode) => device.accepts(found.0.as_ref()) && inode.accepts(found.1.as_ref()),
        }
    }

    fn learn(&mut self, expected: &Expected, seen: &Seen) {
        if let (Want::Is(wanted), Some(found)) = (&expected.handle, seen.handle) {
            self.handles.insert(*wanted, found);
            self.handles_back.insert(found, *wanted);
        }
        if let (Want::Is(device), Want::Is(inode), Some(found)) = (&expected.device, &expected.inode, seen.device.zip(seen.inode)) {
            self.files.insert(found, (*device, *inode));
            if let Want::Is(handle) = expected.handle {
                self.of_handle.insert(handle, found);
            }
        }
    }
}

fn matches(way: &Way, names: &Names, expected: &Expected, seen: &Seen) -> bool {
    expected.pid == seen.pid
        && expected.op == seen.op
        && expected.via.accepts(Some(&seen.via))
        && expected.path.accepts(seen.path.as_ref())
        && expected.container_path.accepts(seen.container_path.as_ref())
        && expected.new_path.accepts(seen.new_path.as_ref())
        && expected.offset.accepts(seen.offset.as_ref())
        && expected.size.accepts(seen.size.as_ref())
        && expected.result.accepts(seen.result.as_ref())
        && expected.flags.accepts(seen.flags.as_ref())
        && names.accept(way, expected, seen)
}

/// The rows of one thread in their order; those that began at the same moment in any.
fn thread(way: &Way, tid: i64, expected: &[&Expected], seen: &[&Seen], names: &mut Names, wrong: &mut String) {
    let mut rest: Vec<&Expected> = expected.to_vec();
    let mut at = 0;
    while at < seen.len() {
        let length =
            if way.ordered { seen[at..].iter().take_while(|row| row.start_ns == seen[at].start_ns).count() } else { seen.len() - at };
        for row in &seen[at..at + length] {
            // Within the next rows, as many as are left of those of the same moment.
            let window = if way.ordered { length.min(rest.len()) } else { rest.len() };
            let Some(found) = rest[..window].iter().position(|expected| matches(way, names, expected, row)) else {
                return difference(way, tid, expected, seen, names, wrong);
            };
            names.learn(rest.remove(found), row);
        }
        at += length;
    }
    if !rest.is_empty() {
        difference(way, tid, expected, seen, names, wrong);
    }
}

/// Says how the rows of a thread differ: their longest common subsequence, and what is in only one.
fn difference(way: &Way, tid: i64, expected: &[&Expected], seen: &[&Seen], names: &Names, wrong: &mut String) {
    let _ = writeln!(wrong, " thread {tid}: - expected, + seen, {} and {} rows", expected.len(), seen.len());
    // Long ones are cut: the first difference is what counts.
    let (expected, seen) = (&expected[..expected.len().min(1500)], &seen[..seen.len().min(1500)]);
    // The names learnt so far may be wrong themselves; a row that differs by nothing else is shown as such.
    let equal = |e: usize, s: usize| matches(way, names, expected[e], seen[s]);
    let mut common = vec![vec![0u16; seen.len() + 1]; expected.len() + 1];
    for e in (0..expected.len()).rev() {
        for s in (0..seen.len()).rev() {
            common[e][s] = if equal(e, s) { common[e + 1][s + 1] + 1 } else { common[e + 1][s].max(common[e][s + 1]) };
        }
    }
    let (mut e, mut s, mut shown) = (0, 0, 0);
    while (e < expected.len() || s < seen.len()) && shown < 60 {
        if e < expected.len() && s < seen.len() && equal(e, s) {
            (e, s) = (e + 1, s + 1);
            continue;
        }
        shown += 1;
        if s == seen.len() || (e < expected.len() && common[e + 1][s] >= common[e][s + 1]) {
            let _ = writeln!(wrong, " - {}", show_expected(expected[e]));
            e += 1;
        } else {
            let _ = writeln!(wrong, " + {}", show(seen[s]));
            s += 1;
        }
    }
    if shown == 0 {
        let _ = writeln!(wrong, " the rows are the same but in another order");
    }
}

fn show_bytes(bytes: &[u8]) -> String {
    let text = bytes.escape_ascii().to_string();
    if text.len() > 200 { format!("…{} ({} bytes)", &text[text.len() - 100..], bytes.len()) } else { text }
}

fn show_expected(row: &Expected) -> String {
    let number = |want: &Want<i64>| match want {
        Want::Absent => "-".to_owned(),
        Want::Any => "?".to_owned(),
        Want::Is(value) => value.to_string(),
    };
    let text = |want: &Want<Vec<u8>>| match want {
        Want::Absent => "-".to_owned(),
        Want::Any => "?".to_owned(),
        Want::Is(value) => show_bytes(value),
    };
    let via = match &row.via {
        Want::Is(via) => via,
        _ => "?",
    };
    line(&[
        ("pid", row.pid.to_string()),
        ("op", row.op.clone()),
        ("via", via.to_owned()),
        ("handle", number(&row.handle)),
        ("file", format!("{}:{}", number(&row.device), number(&row.inode))),
        ("offset", number(&row.offset)),
        ("size", number(&row.size)),
        ("result", number(&row.result)),
        ("flags", number(&row.flags)),
        ("path", text(&row.path)),
        ("container", text(&row.container_path)),
        ("new", text(&row.new_path)),
    ])
}

fn show(row: &Seen) -> String {
    let number = |value: Option<i64>| value.map_or_else(|| "-".to_owned(), |value| value.to_string());
    let text = |value: &Option<Vec<u8>>| value.as_deref().map_or_else(|| "-".to_owned(), show_bytes);
    line(&[
        ("pid", row.pid.to_string()),
        ("op", row.op.clone()),
        ("via", row.via.clone()),
        ("handle", number(row.handle)),
        ("file", format!("{}:{}", number(row.device), number(row.inode))),
        ("offset", number(row.offset)),
        ("size", number(row.size)),
        ("result", number(row.result)),
        ("flags", number(row.flags)),
        ("path", text(&row.path)),
        ("container", text(&row.container_path)),
        ("new", text(&row.new_path)),
    ])
}

fn line(fields: &[(&str, String)]) -> String {
    fields.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

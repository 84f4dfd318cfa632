//! Directories with trace files in; rows of `hosts`, `processes`, `files`, `io_events` and
//! `diagnostics` in a dataset out.
//!
//! A directory is a trace of a host, and has the host's name. Files are read as streams: memory
//! holds the rows until they are written, a bit for each process number, and a bounded set of files
//! that were recorded already. All of a directory is written in one transaction.
//!
//! A bad line becomes a diagnostic with its place and the rest is read. A file of which no line can
//! be used is refused. A file with bytes that were imported before for this host is skipped, so
//! that repeating an import doubles nothing.
//!
//! Not invented: a device, a thread, the start of a process after boot, its end. A process of which
//! only operations are recorded gets a row that says so.

use std::collections::BTreeMap;
use std::fs;
use std::hash::BuildHasher;
use std::io;
use std::path::{Path, PathBuf};

use flowmine_dataset::{Builder, Dataset, DatasetError, Import, Manifest, Role, Transaction};
use flowmine_files::{Entry, EntryKind, Folder};
use flowmine_schema::Row;
use flowmine_schema::diagnostic::{Diagnostic, Diagnostics};
use flowmine_schema::tables::{DiagnosticRow, Host, IoEvent, Process, TracedFile};
use flowmine_schema::time::Day;
use rustc_hash::{FxBuildHasher, FxHashSet};

use crate::error::IoCsvError;
use crate::events::{Decoded, Decoder, Event, MAX_PID};
use crate::lines::{Line, Lines};
use crate::{BACKEND, EVENTS, FORKS, Problem, folder, forks};

/// What was read of one file, and what was wrong with it.
#[derive(Debug)]
pub struct FileReport {
    /// Host and name, as the dataset remembers it: `node1/file-bpf.csv`.
    pub name: String,
    /// The file, or the directory without one.
    pub path: PathBuf,
    /// Rows of `io_events` or `processes` that it brought.
    pub rows: u64,
    /// Whether it had been imported before.
    pub already_there: bool,
    /// What was wrong. A refused file has an error here.
    pub diagnostics: Diagnostics,
}

impl FileReport {
    fn new(name: String, path: &Path) -> Self {
        Self { name, path: path.to_owned(), rows: 0, already_there: false, diagnostics: Diagnostics::default() }
    }
}

/// How deep directories are looked into.
const DEEPEST: usize = 16;
/// Number of rows after which they are written.
const FLUSH_ROWS: usize = 1 << 18;
/// Number of days of rows after which they are written: a file with arbitrary times must not keep a
/// table for each day in memory.
const FLUSH_DAYS: usize = 64;
/// Maximum number of pairs of file and path that are remembered as recorded; beyond it they are
/// recorded again.
const TOLD_FILES: usize = 1 << 20;
/// From how many lines the beginning of a trace is taken: a call that began first can end, and be
/// recorded, later.
const BEGINNING: usize = 8192;
/// Records come in the order of their ends, nearly. Difference to an earlier record from which on a
/// diagnostic is written, in nanoseconds.
const BACKWARDS_NS: i64 = 60_000_000_000;
const DAY_NS: i64 = 86_400_000_000_000;

/// Imports the traces in these directories and those below them. `progress` gets the number of
/// finished directories and the number of all.
///
/// # Errors
/// When the dataset cannot be written or a file cannot be read to its end. A refused file is no
/// error; it is in its report.
pub fn import(dataset: &Dataset, dirs: &[PathBuf], mut progress: impl FnMut(usize, usize)) -> Result<Vec<FileReport>, IoCsvError> {
    let mut reports = Vec::new();
    let mut nodes = Vec::new();
    // Whose directory it is may change it meanwhile.
    let _within = flowmine_files::within(dirs);
    for dir in dirs {
        let before = nodes.len();
        find(dir, 0, &mut nodes, &mut reports)?;
        if nodes.len() == before {
            let message = format!("there is neither {EVENTS} nor {FORKS} in this directory or below it");
            let mut report = FileReport::new(last_name(dir), dir);
            report.diagnostics.push(
                Diagnostic::error("directory_without_trace", message).advise("give the directory of a node, or one that holds several"),
            );
            reports.push(report);
        }
    }
    let mut writer = dataset.writer(Role::Raw, &format!("import, process {}", std::process::id()))?;
    let total = nodes.len();
    for (done, node) in nodes.iter().enumerate() {
        let manifest = dataset.manifest()?;
        let transaction = writer.begin()?;
        reports.extend(import_node(node, &manifest, transaction)?);
        progress(done + 1, total);
    }
    if reports.iter().any(|report| report.rows > 0) {
        writer.merge_small_files::<Host<'static>>()?;
        writer.merge_small_files::<Process<'static>>()?;
        writer.merge_small_files::<TracedFile<'static>>()?;
        writer.merge_small_files::<IoEvent<'static>>()?;
        writer.merge_small_files::<DiagnosticRow<'static>>()?;
    }
    Ok(reports)
}

/// A directory with the trace of one host.
struct Node {
    host: String,
    dir: PathBuf,
    events: Option<PathBuf>,
    forks: Option<PathBuf>,
}

/// Finds the directories with traces in the order of their names. Hidden ones are passed over.
/// Links inside are not followed; those to a directory, or with the name of a trace's file, are
/// said.
fn find(dir: &Path, depth: usize, nodes: &mut Vec<Node>, reports: &mut Vec<FileReport>) -> Result<(), IoCsvError> {
    let failed = || IoCsvError::system(dir.display().to_string());
    let (mut below, mut links) = (Vec::new(), Vec::new());
    for Entry { name, kind } in Folder::open_listed(dir).and_then(|folder| folder.entries(usize::MAX)).map_err(failed())?.entries {
        let path = dir.join(&name);
        if name.as_encoded_bytes().starts_with(b".") {
            continue;
        }
        if kind == EntryKind::Folder {
            below.push(path);
        } else if kind == EntryKind::Link && (path.is_dir() || is_of_trace(&name.to_string_lossy())) {
            links.push(path);
        }
    }
    links.sort();
    for link in links {
        let mut report = FileReport::new(last_name(dir), &link);
        let message = "it is a link in a directory, which is not followed";
        report.diagnostics.push(Diagnostic::warning("link_not_followed", message).advise("give the directory in which the file lies"));
        reports.push(report);
    }
    let is_plain = |path: &PathBuf| fs::symlink_metadata(path).is_ok_and(|found| found.is_file());
    let file = |name: &str| [dir.join(name), dir.join(format!("{name}.gz"))].into_iter().find(is_plain);
    let (events, forks) = (file(EVENTS), file(FORKS));
    if events.is_some() || forks.is_some() {
        nodes.push(Node { host: folder::host(&last_name(dir)), dir: dir.to_owned(), events, forks });
    }
    below.sort();
    for below in below {
        if depth < DEEPEST {
            find(&below, depth + 1, nodes, reports)?;
            continue;
        }
        let mut report = FileReport::new(last_name(dir), &below);
        report.diagnostics.push(Diagnostic::warning("folder_not_read", "it is a folder too deep in a directory").advise("name it itself"));
        reports.push(report);
    }
    Ok(())
}

/// Whether a file of a trace has this name.
fn is_of_trace(name: &str) -> bool {
    matches!(name.strip_suffix(".gz").unwrap_or(name), EVENTS | FORKS)
}

/// The name of a directory, also when it was given as `.` or `..`.
fn last_name(dir: &Path) -> String {
    let whole = fs::canonicalize(dir).unwrap_or_else(|_| dir.to_owned());
    whole.file_name().map_or_else(|| "unknown".to_owned(), |name| flowmine_schema::text::decode(name.as_encoded_bytes()).into_owned())
}

fn import_node(node: &Node, manifest: &Manifest, transaction: Transaction<'_>) -> Result<Vec<FileReport>, IoCsvError> {
    let mut reports = Vec::new();
    let mut fresh = |path: &Option<PathBuf>, name: &str| -> Result<Option<FileReport>, IoCsvError> {
        let mut report = FileReport::new(format!("{}/{name}", node.host), path.as_deref().unwrap_or(&node.dir));
        if path.is_none() {
            let (lost, advice) = if name == EVENTS {
                ("no operations are known of this trace", "copy it into the directory and import again")
            } else {
                ("neither parents nor cgroups are known of this trace", "without them few operations can be attributed to tasks")
            };
            report.diagnostics.push(Diagnostic::warning("file_missing", format!("there is no {name}: {lost}")).advise(advice));
            reports.push(report);
            return Ok(None);
        }
        report.already_there = already_there(&report, manifest)?;
        if report.already_there {
            reports.push(report);
            return Ok(None);
        }
        Ok(Some(report))
    };
    let forks = fresh(&node.forks, FORKS)?;
    let events = fresh(&node.events, EVENTS)?;
    let mut import = NodeImport::new(node, transaction, began(node)?);
    let mut imports = Vec::new();
    if let Some(report) = forks {
        reports.push(import.file(report, NodeImport::forks, &mut imports)?);
    }
    if let Some(report) = events {
        reports.push(import.file(report, NodeImport::events, &mut imports)?);
    }
    import.finish(&reports, imports)?;
    reports.sort_by(|a, b| b.name.cmp(&a.name));
    Ok(reports)
}

fn already_there(report: &FileReport, manifest: &Manifest) -> Result<bool, IoCsvError> {
    let mut of_name = manifest.imports.iter().filter(|import| import.name == report.name).peekable();
    if of_name.peek().is_none() {
        // Its hash is made while it is read.
        return Ok(false);
    }
    let mut lines = open(&report.path)?;
    // Damage was reported at the import, with the hash of the readable part.
    while let Ok(Some(_)) = lines.next_line() {}
    let hash = lines.sha256();
    Ok(of_name.any(|import| import.sha256 == hash))
}

fn open(path: &Path) -> Result<Lines, IoCsvError> {
    Lines::open(path).map_err(IoCsvError::system(path.display().to_string()))
}

/// When the trace began: the earliest time in the beginning of its files.
fn began(node: &Node) -> Result<i64, IoCsvError> {
    let mut earliest = None;
    let mut see = |ns: i64| earliest = Some(earliest.map_or(ns, |earliest: i64| earliest.min(ns)));
    if let Some(path) = &node.events {
        let (mut lines, mut decoder) = (open(path)?, Decoder::default());
        let mut left = BEGINNING;
        while let Ok(Some(line)) = lines.next_line() {
            if let Decoded::Event(event) = decoder.decode(line.bytes) {
                see(event.row.start_ns);
            }
            left -= 1;
            if left == 0 {
                break;
            }
        }
    }
    if let Some(path) = &node.forks {
        let mut lines = open(path)?;
        let mut left = BEGINNING;
        while let Ok(Some(line)) = lines.next_line() {
            if let Ok(Some(fork)) = forks::decode(line.bytes) {
                see(fork.at_ns);
            }
            left -= 1;
            if left == 0 {
                break;
            }
        }
    }
    Ok(earliest.unwrap_or_default())
}

/// Rows of one table by the day of their partition.
struct Dated<R: Row>(BTreeMap<i64, Builder<R>>);

impl<R: Row> Dated<R> {
    fn new() -> Self {
        Self(BTreeMap::new())
    }

    fn at(&mut self, ns: i64) -> &mut Builder<R> {
        self.0.entry(ns.div_euclid(DAY_NS)).or_default()
    }

    fn write(&mut self, transaction: &mut Transaction<'_>, host: &str) -> Result<(), DatasetError> {
        for (day, rows) in std::mem::take(&mut self.0) {
            transaction.append_split(rows, host, Day::new(day.saturating_mul(DAY_NS)))?;
        }
        Ok(())
    }
}

/// A set of process numbers, a bit for each.
struct Pids(Vec<u64>);

impl Pids {
    fn new() -> Self {
        Self(vec![0; MAX_PID as usize / 64 + 1])
    }

    fn insert(&mut self, pid: i32) {
        if let Some(word) = self.0.get_mut(pid as usize / 64) {
            *word |= 1 << (pid % 64);
        }
    }

    fn contains(&self, pid: i32) -> bool {
        self.0.get(pid as usize / 64).is_some_and(|word| word >> (pid % 64) & 1 == 1)
    }

    fn iter(&self) -> impl Iterator<Item = i32> + '_ {
        (0..=MAX_PID as i32).filter(|pid| self.contains(*pid))
    }
}

/// A directory on its way into the dataset.
struct NodeImport<'n, 'w> {
    node: &'n Node,
    transaction: Transaction<'w>,
    trace_ns: i64,
    events: Dated<IoEvent<'static>>,
    files: Dated<TracedFile<'static>>,
    processes: Dated<Process<'static>>,
    gathered: usize,
    told_files: FxHashSet<(i64, u64)>,
    forked: Pids,
    operating: Pids,
    received: u64,
    last_ns: i64,
}

type Reader<'n, 'w> = fn(&mut NodeImport<'n, 'w>, &mut Lines, &mut FileReport) -> Result<(), IoCsvError>;

impl<'n, 'w> NodeImport<'n, 'w> {
    fn new(node: &'n Node, transaction: Transaction<'w>, trace_ns: i64) -> Self {
        Self {
            node,
            transaction,
            trace_ns,
            events: Dated::new(),
            files: Dated::new(),
            processes: Dated::new(),
            gathered: 0,
            told_files: FxHashSet::default(),
            forked: Pids::new(),
            operating: Pids::new(),
            received: 0,
            last_ns: trace_ns,
        }
    }

    fn file(&mut self, mut report: FileReport, read: Reader<'n, 'w>, imports: &mut Vec<Import>) -> Result<FileReport, IoCsvError> {
        let mut lines = open(&report.path)?;
        read(self, &mut lines, &mut report)?;
        let errors = report.diagnostics.errors();
        if report.rows == 0 && errors > 0 {
            let message = format!("not one of {errors} lines can be used: this is no {}", file_name(&report.name));
            report.diagnostics.push(Diagnostic::error("nothing_usable", message));
        } else {
            imports.push(Import { name: report.name.clone(), sha256: lines.sha256(), ..Import::default() });
        }
        Ok(report)
    }

    fn forks(&mut self, lines: &mut Lines, report: &mut FileReport) -> Result<(), IoCsvError> {
        while let Some(line) = next(lines, report)? {
            // A number that is cut is still a number.
            let fork = if line.ended { forks::decode(line.bytes) } else { Err(truncated(line)) };
            match fork {
                Ok(Some(fork)) => {
                    let row = Process {
                        host: self.node.host.as_str().into(),
                        trace_ns: self.trace_ns,
                        pid: fork.pid,
                        as_of_ns: fork.at_ns,
                        started_ns: Some(fork.at_ns),
                        first_seen: "fork".into(),
                        parent_pid: fork.parent,
                        cgroup_id: fork.cgroup,
                        ..Process::default()
                    };
                    self.processes.at(fork.at_ns).push(&row);
                    self.forked.insert(fork.pid);
                    self.last_ns = self.last_ns.max(fork.at_ns);
                    report.rows += 1;
                    self.one_more()?;
                }
                Ok(None) => {}
                Err(problem) => reject(problem, line.number, &mut report.diagnostics),
            }
        }
        Ok(())
    }

    fn events(&mut self, lines: &mut Lines, report: &mut FileReport) -> Result<(), IoCsvError> {
        let mut decoder = Decoder::default();
        let mut doubtful = 0u64;
        let mut latest_ns = 0;
        while let Some(line) = next(lines, report)? {
            let event = match decoder.decode(line.bytes) {
                Decoded::Event(event) if line.ended || decoder.is_whole(line.bytes, &event) => event,
                Decoded::Event(_) => {
                    reject(truncated(line), line.number, &mut report.diagnostics);
                    continue;
                }
                Decoded::Nothing => continue,
                Decoded::Bad(problem) => {
                    let problem = if line.ended { problem } else { truncated(line) };
                    reject(problem, line.number, &mut report.diagnostics);
                    continue;
                }
            };
            odd(&event, line.number, &mut report.diagnostics);
            doubtful += u64::from(event.path_doubtful);
            let ended_ns = event.row.end_ns.unwrap_or(event.row.start_ns);
            if ended_ns < latest_ns - BACKWARDS_NS {
                let message = format!("this line ended {} s before an earlier line", (latest_ns - ended_ns) / 1_000_000_000);
                let diagnostic = Diagnostic::warning("time_goes_back", message).at(line.number, None);
                report
                    .diagnostics
                    .push(diagnostic.advise("traces that were put into one file: split it, as handles are numbered anew in each"));
                // Once for each place where it happens.
                latest_ns = ended_ns;
            }
            latest_ns = latest_ns.max(ended_ns);
            self.event(event);
            report.rows += 1;
            self.one_more()?;
        }
        self.last_ns = self.last_ns.max(latest_ns);
        self.received += report.rows;
        if doubtful > 0 {
            let message = format!(
                "{doubtful} paths have exactly {} parts or a part of exactly {} bytes, which is all that the published tool keeps: more may have been there",
                crate::path::MOST_PARTS,
                crate::path::LONGEST_PART
            );
            report.diagnostics.push(Diagnostic::warning("path_doubtful", message));
        }
        Ok(())
    }

    fn event(&mut self, event: Event<'_>) {
        let row = IoEvent { host: self.node.host.as_str().into(), trace_ns: self.trace_ns, ..event.row };
        self.operating.insert(row.pid);
        if let (Some(inode), Some(path)) = (row.inode, &row.path)
            && (row.op == "delete" || row.result == Some(0))
            && self.first_told(inode, path)
        {
            let file = TracedFile {
                host: self.node.host.as_str().into(),
                trace_ns: self.trace_ns,
                inode,
                first_seen_ns: row.start_ns,
                path: Some(path.as_ref().into()),
                ..TracedFile::default()
            };
            self.files.at(row.start_ns).push(&file);
        }
        self.events.at(row.start_ns).push(&row);
    }

    fn first_told(&mut self, inode: i64, path: &str) -> bool {
        if self.told_files.len() >= TOLD_FILES {
            self.told_files.clear();
        }
        self.told_files.insert((inode, FxBuildHasher.hash_one(path)))
    }

    fn one_more(&mut self) -> Result<(), IoCsvError> {
        self.gathered += 1;
        if self.gathered >= FLUSH_ROWS || self.events.0.len() + self.processes.0.len() > FLUSH_DAYS {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), IoCsvError> {
        self.gathered = 0;
        self.events.write(&mut self.transaction, &self.node.host)?;
        self.files.write(&mut self.transaction, &self.node.host)?;
        self.processes.write(&mut self.transaction, &self.node.host)?;
        Ok(())
    }

    fn finish(mut self, reports: &[FileReport], imports: Vec<Import>) -> Result<(), IoCsvError> {
        let host = self.node.host.as_str();
        for pid in self.operating.iter().filter(|pid| !self.forked.contains(*pid)) {
            let row = Process {
                host: host.into(),
                trace_ns: self.trace_ns,
                pid,
                as_of_ns: self.last_ns,
                first_seen: "operation".into(),
                ..Process::default()
            };
            self.processes.at(self.last_ns).push(&row);
        }
        self.flush()?;
        if !imports.is_empty() {
            let mut hosts = Dated::<Host<'static>>::new();
            let row = Host {
                host: host.into(),
                trace_ns: self.trace_ns,
                state: "ended".into(),
                at_ns: self.last_ns,
                backend: BACKEND.into(),
                detail: "events".into(),
                received: Some(i64::try_from(self.received).unwrap_or(i64::MAX)),
                ..Host::default()
            };
            hosts.at(self.trace_ns).push(&row);
            hosts.write(&mut self.transaction, host)?;
        }
        let mut diagnostics = Builder::<DiagnosticRow<'static>>::new();
        for report in reports.iter().filter(|report| !report.already_there) {
            diagnostics.extend(report.diagnostics.rows(&report.name, None));
        }
        // What is missing once is not known again by each import that brings nothing.
        if !imports.is_empty() || reports.iter().any(|report| report.diagnostics.errors() > 0) {
            self.transaction.append(diagnostics)?;
        }
        self.transaction.update_manifest(|manifest| {
            if !imports.is_empty() {
                manifest.hosts.insert(host.to_owned());
            }
            manifest.imports.extend(imports);
        })?;
        Ok(self.transaction.commit()?)
    }
}

fn file_name(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// The next line that can be looked at. What is damaged ends the file with an error in its report.
fn next<'l>(lines: &'l mut Lines, report: &mut FileReport) -> Result<Option<Line<'l>>, IoCsvError> {
    match lines.next_line() {
        Ok(Some(line)) if line.too_long => {
            let message = format!("this line has more than {} bytes", crate::lines::LONGEST);
            report.diagnostics.push(Diagnostic::error("line_too_long", message).at(line.number, None));
            // An empty line has no content and gives no diagnostic.
            Ok(Some(line))
        }
        Ok(line) => Ok(line),
        Err(e) if matches!(e.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput) => {
            let diagnostic =
                Diagnostic::error("file_damaged", format!("the packed file is damaged or ends early ({e}); what came before is used"));
            report.diagnostics.push(diagnostic);
            Ok(None)
        }
        Err(e) => Err(IoCsvError::System { what: report.path.display().to_string(), source: e }),
    }
}

fn truncated(line: Line<'_>) -> Problem {
    Problem { code: "truncated_last_line", message: "the file ends within this line".to_owned(), column: line.bytes.len() as u64 + 1 }
}

fn reject(problem: Problem, line: u64, diagnostics: &mut Diagnostics) {
    diagnostics.push(Diagnostic::error(problem.code, problem.message).at(line, Some(problem.column)));
}

/// Says what is odd about a line that is used.
fn odd(event: &Event<'_>, line: u64, diagnostics: &mut Diagnostics) {
    if event.path_cut {
        let message = "the path was cut where its column ends, so it is unknown";
        diagnostics.push(Diagnostic::warning("path_cut", message).at(line, None));
    }
    if event.ends_before {
        diagnostics.push(Diagnostic::warning("ends_before_start", "this ended before it began; its end is not used").at(line, None));
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]
mod tests {
    use super::*;

    #[test]
    fn links_are_not_followed_and_are_said() {
        let place = tempfile::tempdir().unwrap();
        let at = |path: &str| place.path().join(path);
        for dir in ["given", "elsewhere"] {
            std::fs::create_dir(at(dir)).unwrap();
        }
        std::fs::write(at("elsewhere").join(FORKS), "").unwrap();
        std::os::unix::fs::symlink(at("elsewhere").join(FORKS), at("given").join(FORKS)).unwrap();
        std::os::unix::fs::symlink(at("elsewhere"), at("given").join("node")).unwrap();
        std::os::unix::fs::symlink(at("elsewhere").join(FORKS), at("given").join("notes")).unwrap();
        let dataset = Dataset::open_or_create(&at("dataset")).unwrap();
        let reports = import(&dataset, &[at("given")], |_, _| ()).unwrap();
        let said: Vec<&str> = reports.iter().flat_map(|report| report.diagnostics.iter()).map(|d| d.code).collect();
        assert_eq!(said, ["link_not_followed", "link_not_followed", "directory_without_trace"]);
    }

    #[test]
    fn a_directory_without_a_trace_is_said() {
        let place = tempfile::tempdir().unwrap();
        std::fs::create_dir(place.path().join("empty")).unwrap();
        let dataset = Dataset::open_or_create(&place.path().join("dataset")).unwrap();
        let reports = import(&dataset, &[place.path().join("empty")], |_, _| ()).unwrap();
        let said: Vec<&str> = reports.iter().flat_map(|report| report.diagnostics.iter()).map(|d| d.code).collect();
        assert_eq!(said, ["directory_without_trace"]);
    }
}

//! Files that others recorded into a dataset: what `flowmine import slurm` does.
//!
//! The input is paths; each file is recognised ([`crate::import`]), and imported as if it had been
//! observed live: queues in the order of their times through the same comparison, accounting as
//! facts. A file with content that was imported before is skipped, so that repeating an import
//! duplicates nothing. Rows and the list of imported files change in the same transaction.
//!
//! A queue that is not younger than the last one in the dataset is refused, because what changed
//! between could not be found out any more.

use std::fs;
use std::io::{self, BufRead};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use flowmine_dataset::{Builder, Dataset, DatasetError, Import, Role, Writer};
use flowmine_files::{Entries, EntryKind, Folder};
use flowmine_schema::diagnostic::{Diagnostic, Diagnostics};
use flowmine_schema::tables::{ControllerClock, DiagnosticRow, JobDependency, JobState};
use flowmine_schema::text::bounds::{self, Gated, Packed};
use flowmine_schema::time;
use flowmine_slurm::state::State;
use sha2::{Digest, Sha256};

use crate::import::{self, FileKind, Imported};
use crate::memory::{Memory, MemoryError};
use crate::naming::Naming;
use crate::queue::{Changes, PollTime};
use crate::record::JobRecord;
use crate::sacct::Attempt;

/// Why nothing could be imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportFilesError {
    /// The dataset could not be read or written.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
    /// What was remembered cannot be used.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// There are several clusters in the dataset and the files do not name theirs.
    #[error("the files do not name their cluster and the dataset holds several ({0}): choose one with --cluster")]
    WhichCluster(String),
    /// The dataset's cluster has no name and the files have.
    #[error(
        "the dataset's rows are of a cluster that no file named, and these files are of {0}: repeat the import with --cluster {UNNAMED} when it is the same cluster, or use another dataset"
    )]
    NameComesLate(String),
    /// The files are of several clusters.
    #[error("the files are of several clusters ({0}): import those of each cluster by themselves")]
    SeveralClusters(String),
}

/// Information about the files that they do not contain.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Name of the cluster; takes precedence over the names in the files.
    pub cluster: Option<String>,
    /// Time of observation of a queue, for files that do not contain it, UTC nanoseconds since
    /// 1970.
    pub observed_at_ns: Option<i64>,
    /// Options for decoding the files: the zone of their times, and the separator.
    pub import: import::Options,
}

/// What was read of one file, and what was rejected.
#[derive(Debug)]
pub struct FileReport {
    /// Path of the file.
    pub path: PathBuf,
    /// What it was; `None` when it was skipped or refused before that was known.
    pub kind: Option<FileKind>,
    /// Number of records in the file.
    pub records: usize,
    /// Rows of `job_states` that it brought.
    pub changes: usize,
    /// Whether it had been imported before.
    pub already_there: bool,
    /// What was wrong. A refused file has an error here.
    pub diagnostics: Diagnostics,
}

/// Name of a cluster without a known name.
pub const UNNAMED: &str = "cluster";
/// Number of rows of changes after which they are written, so that memory does not grow with the
/// number of files.
const ROWS_A_TRANSACTION: usize = 200_000;
/// The most bytes that a file may have, unpacked: a poll is compared as a whole.
const MOST_BYTES: u64 = 4 << 30;

struct Input {
    path: PathBuf,
    import: Import,
    kind: FileKind,
    time: PollTime,
    time_from_mtime: bool,
    /// What a pipe gave, which cannot be read twice.
    piped: Option<Vec<u8>>,
}

/// Imports files, and those of directories, in the order of their times.
///
/// `progress` is called after each file with the number of finished files and the number of all
/// files.
///
/// # Errors
/// When the dataset cannot be written, or the cluster is not clear. A file that cannot be read is
/// not an error: the file's report contains it.
pub fn import_files(
    dataset: &Dataset,
    paths: &[PathBuf],
    options: &Options,
    mut progress: impl FnMut(usize, usize),
) -> Result<Vec<FileReport>, ImportFilesError> {
    let mut writer = dataset.writer(Role::Raw, &format!("import, process {}", std::process::id()))?;
    let manifest = dataset.manifest()?;
    let mut reports = Vec::new();
    let mut inputs = Vec::new();
    // Whose directory it is may change it meanwhile.
    let _within = flowmine_files::within(paths);
    let mut clusters = std::collections::BTreeSet::new();
    for path in files(paths, &mut reports) {
        match look_at(&path, options, &manifest.imports, &inputs) {
            Ok((input, cluster)) => {
                clusters.extend(cluster);
                inputs.push(input);
            }
            Err(report) => reports.push(report),
        }
    }
    // Accounting first: it does not depend on the order, and a queue's time must not wait for it.
    inputs.sort_by(|a, b| {
        let key = |input: &Input| (!is_accounting(input.kind), input.time.ended_ns, input.path.clone());
        key(a).cmp(&key(b))
    });
    let cluster = which_cluster(options, clusters, &manifest.clusters)?;
    let mut memory = Memory::load(dataset, &cluster, &Naming::default())?;
    let mut batch = Batch::default();
    let total = inputs.len();
    for (done, input) in inputs.into_iter().enumerate() {
        let report = import_file(&input, &mut memory, options, &mut batch);
        reports.push(report);
        if batch.changes.states.len() >= ROWS_A_TRANSACTION {
            batch.write(&mut writer, &memory)?;
        }
        progress(done + 1, total);
    }
    for report in reports.iter().filter(|report| report.kind.is_none()) {
        batch.diagnostics.extend(report.diagnostics.rows(&name_of(&report.path), None));
    }
    batch.write(&mut writer, &memory)?;
    writer.merge_small_files::<JobState<'static>>()?;
    writer.merge_small_files::<JobDependency<'static>>()?;
    writer.merge_small_files::<ControllerClock<'static>>()?;
    writer.merge_small_files::<DiagnosticRow<'static>>()?;
    Ok(reports)
}

/// Rows and imports that are written next, in one transaction.
#[derive(Default)]
struct Batch {
    changes: Changes,
    diagnostics: Builder<DiagnosticRow<'static>>,
    imports: Vec<Import>,
}

impl Batch {
    fn write(&mut self, writer: &mut Writer, memory: &Memory) -> Result<(), DatasetError> {
        let batch = std::mem::take(self);
        if batch.imports.is_empty() && batch.diagnostics.is_empty() {
            return Ok(());
        }
        let dataset = writer.dataset().clone();
        let mut transaction = writer.begin()?;
        transaction.append(batch.changes.states)?;
        transaction.append(batch.changes.dependencies)?;
        transaction.append(batch.changes.clocks)?;
        transaction.append(batch.diagnostics)?;
        memory.store_whole(&mut transaction, &dataset)?;
        transaction.update_manifest(|manifest| {
            if !batch.imports.is_empty() {
                manifest.clusters.insert(memory.queue.cluster().to_owned());
            }
            manifest.imports.extend(batch.imports);
        })?;
        transaction.commit()
    }
}

fn is_accounting(kind: FileKind) -> bool {
    matches!(kind, FileKind::SacctText | FileKind::SacctJson | FileKind::Swf)
}

fn which_cluster(
    options: &Options,
    mut of_files: std::collections::BTreeSet<String>,
    of_dataset: &std::collections::BTreeSet<String>,
) -> Result<String, ImportFilesError> {
    let list = |names: &std::collections::BTreeSet<String>| names.iter().cloned().collect::<Vec<_>>().join(", ");
    if of_files.len() > 1 {
        return Err(ImportFilesError::SeveralClusters(list(&of_files)));
    }
    if let Some(cluster) = &options.cluster {
        return Ok(cluster.clone());
    }
    if let Some(cluster) = of_files.pop_first() {
        let late = !of_dataset.contains(&cluster) && of_dataset.contains(UNNAMED);
        return if late { Err(ImportFilesError::NameComesLate(cluster)) } else { Ok(cluster) };
    }
    match of_dataset.len() {
        0 => Ok(UNNAMED.to_owned()),
        1 => Ok(list(of_dataset)),
        _ => Err(ImportFilesError::WhichCluster(list(of_dataset))),
    }
}

/// Returns the files; those of a directory in the order of their names, without hidden ones. Links
/// in a directory are not followed, because the user did not name their targets.
fn files(paths: &[PathBuf], reports: &mut Vec<FileReport>) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        match Folder::open_listed(path).and_then(|folder| folder.entries(usize::MAX)) {
            Ok(Entries { entries, .. }) => {
                let of_kind = |kind: EntryKind| -> Vec<PathBuf> {
                    let shown = entries.iter().filter(|entry| entry.kind == kind && !entry.name.as_encoded_bytes().starts_with(b"."));
                    shown.map(|entry| path.join(&entry.name)).collect()
                };
                let folders = of_kind(EntryKind::Folder);
                let diagnostic = Diagnostic::warning("folder_not_read", "it is a folder in a directory, which is not read");
                reports.extend(folders.iter().map(|folder| refused(folder, diagnostic.clone().advise("name it itself"))));
                let links = of_kind(EntryKind::Link);
                let message = "it is a link in a directory, which is not followed";
                let diagnostic = Diagnostic::warning("link_not_followed", message).advise("name it itself");
                reports.extend(links.iter().map(|link| refused(link, diagnostic.clone())));
                let others = of_kind(EntryKind::Special);
                let message = "it is no file (a FIFO, a device, a socket), and is not opened";
                reports.extend(others.iter().map(|other| refused(other, Diagnostic::error("file_unreadable", message))));
                let inside = of_kind(EntryKind::File);
                if inside.is_empty() && links.is_empty() && others.is_empty() {
                    reports.push(refused(path, Diagnostic::error("directory_empty", "there is no file in this directory")));
                }
                files.extend(inside);
            }
            Err(e) => reports.push(refused(path, Diagnostic::of_reading(&e))),
        }
    }
    files
}

fn refused(path: &Path, diagnostic: Diagnostic) -> FileReport {
    let mut report = nothing_yet(path);
    report.diagnostics.push(diagnostic);
    report
}

fn nothing_yet(path: &Path) -> FileReport {
    FileReport { path: path.to_owned(), kind: None, records: 0, changes: 0, already_there: false, diagnostics: Diagnostics::default() }
}

/// Returns the file name without the directory. The dataset keeps only the name, because the
/// directory is private.
fn name_of(path: &Path) -> String {
    path.file_name().map(|name| flowmine_schema::text::decode(name.as_encoded_bytes()).into_owned()).unwrap_or_default()
}

fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let file = flowmine_files::open_given(path)?;
    let about = file.metadata()?;
    let mut file = io::BufReader::with_capacity(1 << 16, file);
    let gate = || import::gate();
    if !file.fill_buf()?.starts_with(&[0x1f, 0x8b]) {
        return bounds::read_whole(Gated::new(file, gate()), MOST_BYTES);
    }
    // A pipe does not say how much it will give; then only what is small may be packed as tightly as it likes.
    let packed = Packed { bytes: if about.is_file() { about.len() } else { 0 } };
    let unpacked = Gated::new(flate2::bufread::MultiGzDecoder::new(file), gate());
    bounds::read_whole(unpacked, packed.most().min(MOST_BYTES))
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Finds out what a file is and of when, without keeping it.
fn look_at(path: &Path, options: &Options, imported: &[Import], inputs: &[Input]) -> Result<(Input, Vec<String>), FileReport> {
    let bytes = read_file(path).map_err(|e| refused(path, Diagnostic::of_reading(&e)))?;
    // An empty queue is recorded again and again in the same bytes; the name distinguishes those.
    let import = Import { name: name_of(path), sha256: sha256(&bytes), ..Import::default() };
    if imported.contains(&import) || inputs.iter().any(|input| input.import == import) {
        return Err(FileReport { already_there: true, ..nothing_yet(path) });
    }
    let kind = import::recognise(&bytes).map_err(|e| refused(path, e.diagnostic()))?;
    let (mut time, mut clusters) = (None, Vec::new());
    let from_name = time_of_name(&import.name);
    if kind != FileKind::SqueueText || from_name.is_none() {
        match import::read(&bytes, kind, &options.import, &mut Diagnostics::default()) {
            Ok(Imported::Queue { observed_at_ns, cluster, .. }) => {
                time = observed_at_ns.map(PollTime::at);
                clusters.extend(cluster);
            }
            Ok(Imported::Log { entries, cluster, .. }) => {
                time = entries.last().map(|(ns, _)| PollTime::at(*ns));
                clusters.extend(cluster);
            }
            Ok(Imported::Accounting { records, .. }) => {
                // Accounting is not about a moment: all of it had happened at the latest time that it has.
                let told = |record: &JobRecord<'_>| [record.submit_ns, record.start_ns, record.end_ns];
                time = records.iter().flat_map(|(_, record)| told(record)).flatten().max().map(PollTime::at);
                clusters.extend(records.into_iter().filter_map(|(cluster, _)| cluster));
            }
            Err(e) => return Err(FileReport { kind: Some(kind), ..refused(path, e.diagnostic()) }),
        }
    }
    clusters.sort();
    clusters.dedup();
    // The file's own name is more exact than a JSON's whole second, and a recording is named by us.
    let known = from_name.or(time).or_else(|| options.observed_at_ns.map(PollTime::at));
    let time_from_mtime = known.is_none();
    let mtime = || {
        let modified = fs::metadata(path).and_then(|metadata| metadata.modified()).ok()?;
        Some(PollTime::at(modified.duration_since(UNIX_EPOCH).ok()?.as_nanos() as i64))
    };
    let Some(time) = known.or_else(mtime) else {
        return Err(refused(
            path,
            Diagnostic::error("file_time", "the time of this recording is not known").advise("give --observed-at TIME"),
        ));
    };
    let piped = fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_fifo()).then_some(bytes);
    Ok((Input { path: path.to_owned(), import, kind, time, time_from_mtime, piped }, clusters))
}

/// The times in a recording's name: `squeue-20261120T130405.5Z.txt`, or two of them for begin and
/// end of the poll.
fn time_of_name(name: &str) -> Option<PollTime> {
    let mut times = name.split('-').filter_map(|piece| {
        let end = piece.find('Z')?;
        let (date, clock) = piece[..end].split_once('T')?;
        let digits = |text: &str, n: usize| text.len() >= n && text.bytes().take(n).all(|b| b.is_ascii_digit());
        if !digits(date, 8) || date.len() != 8 || !digits(clock, 6) {
            return None;
        }
        time::parse(&format!("{}-{}-{}T{}:{}:{}Z", &date[..4], &date[4..6], &date[6..], &clock[..2], &clock[2..4], &clock[4..]))
    });
    let began_ns = times.next()?;
    let ended_ns = times.next().unwrap_or(began_ns);
    Some(PollTime { began_ns, ended_ns: ended_ns.max(began_ns) })
}

fn import_file(input: &Input, memory: &mut Memory, options: &Options, batch: &mut Batch) -> FileReport {
    let mut report = FileReport { kind: Some(input.kind), ..nothing_yet(&input.path) };
    let rows_before = batch.changes.states.len();
    match read_and_compare(input, memory, options, &mut batch.changes, &mut report.diagnostics) {
        Ok(records) => {
            report.records = records;
            batch.imports.push(input.import.clone());
        }
        Err(diagnostic) => report.diagnostics.push(diagnostic),
    }
    report.changes = batch.changes.states.len() - rows_before;
    batch.diagnostics.extend(report.diagnostics.rows(&input.import.name, Some(input.time.ended_ns)));
    report
}

fn read_and_compare(
    input: &Input,
    memory: &mut Memory,
    options: &Options,
    changes: &mut Changes,
    diagnostics: &mut Diagnostics,
) -> Result<usize, Diagnostic> {
    let read_again = || read_file(&input.path).map_err(|e| Diagnostic::of_reading(&e));
    let bytes = input.piped.clone().map_or_else(read_again, Ok)?;
    if sha256(&bytes) != input.import.sha256 {
        return Err(
            Diagnostic::error("file_changed", "the file changed while it was imported; nothing of it is used").advise("import it again")
        );
    }
    let imported = import::read(&bytes, input.kind, &options.import, diagnostics).map_err(|e| e.diagnostic())?;
    let too_old = |last: PollTime, this: i64| {
        let message = format!(
            "the queue of {} is not younger than the last one in the dataset, of {}; what changed between cannot be known any more",
            time::rfc3339(this),
            time::rfc3339(last.ended_ns)
        );
        Diagnostic::error("queue_too_old", message).advise("import files in the order of their times, or into a dataset of their own")
    };
    match imported {
        Imported::Queue { source, records, whole, .. } => {
            if input.time_from_mtime {
                let message = format!(
                    "the recording does not contain its time; the file's modification time is used: {}",
                    time::rfc3339(input.time.ended_ns)
                );
                diagnostics.push(
                    Diagnostic::warning("time_of_file", message).advise("if that is wrong, use `flowmine import slurm --observed-at TIME`"),
                );
            }
            if let Some(last) = memory.queue.last_poll().filter(|last| input.time.ended_ns <= last.ended_ns) {
                return Err(too_old(last, input.time.ended_ns));
            }
            let mut poll = memory.queue.poll(input.time, source, changes, diagnostics);
            for record in &records {
                poll.see(record);
            }
            if whole {
                let shown = poll.finish();
                // Of a file's time only that is known by which it was made.
                if !input.time_from_mtime {
                    memory.see_clock(shown, source, input.time, changes);
                    memory.clock(source).report(diagnostics);
                }
            } else {
                poll.finish_changes(true);
                let message = "rows of this queue were rejected, so the jobs that left it are unknown; none is recorded as left";
                diagnostics.push(Diagnostic::warning("queue_not_whole", message));
            }
            Ok(records.len())
        }
        Imported::Log { source, mut entries, .. } => {
            entries.sort_by_key(|(ns, _)| *ns);
            if let (Some(last), Some((first, _))) = (memory.queue.last_poll(), entries.first())
                && *first <= last.ended_ns
            {
                return Err(too_old(last, *first));
            }
            for group in entries.chunk_by(|(a, _), (b, _)| a == b) {
                let time = PollTime::at(group[0].0);
                let mut poll = memory.queue.poll(time, source, changes, diagnostics);
                for (_, record) in group {
                    // Two changes of one job at one time: each is a change of its own.
                    if poll.has_seen(record) {
                        poll.finish_changes(false);
                        poll = memory.queue.poll(time, source, changes, diagnostics);
                    }
                    poll.see(record);
                }
                poll.finish_changes(true);
            }
            Ok(entries.len())
        }
        Imported::Accounting { source, records } => {
            report_missing_times(&records, diagnostics);
            for (_, record) in &records {
                memory.accounting.see(record, input.time.ended_ns, source, changes, diagnostics);
            }
            Ok(records.len())
        }
    }
}

/// Reports jobs of accounting with a state that implies an event, but without the time of that
/// event.
fn report_missing_times(records: &[Attempt<'_>], diagnostics: &mut Diagnostics) {
    let lacks = |record: &&JobRecord<'_>| match &record.state {
        state if state.has_ended() => record.end_ns.is_none(),
        State::Pending => record.submit_ns.is_none(),
        State::Running => record.start_ns.is_none(),
        _ => false,
    };
    let without = records.iter().map(|(_, record)| record).filter(lacks).count();
    if without > 0 {
        let message = format!(
            "accounting has no time for the state of {without} of {} jobs; the time of the file is used instead, and durations are wrong",
            records.len()
        );
        diagnostics.push(Diagnostic::error("state_without_time", message).advise("add Submit, Start and End to sacct --format"));
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]
mod tests {
    use super::*;

    #[test]
    fn links_in_a_directory_are_not_followed_and_are_said() {
        let (given, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(elsewhere.path().join("secret"), "not of Slurm").unwrap();
        std::os::unix::fs::symlink(elsewhere.path().join("secret"), given.path().join("link")).unwrap();
        let said = |reports: &[FileReport]| reports.iter().flat_map(|report| report.diagnostics.iter()).map(|d| d.code).collect::<Vec<_>>();
        let mut reports = Vec::new();
        assert_eq!(files(&[given.path().to_owned()], &mut reports), Vec::<PathBuf>::new());
        assert_eq!(said(&reports), ["link_not_followed"]);
        fs::write(given.path().join("file"), "").unwrap();
        let mut reports = Vec::new();
        let named = given.path().join("link");
        assert_eq!(files(&[given.path().to_owned(), named.clone()], &mut reports), [given.path().join("file"), named]);
        assert_eq!(said(&reports), ["link_not_followed"]);
    }

    #[test]
    fn times_in_names() {
        let at = |text| time::parse(text).unwrap();
        let time = time_of_name("squeue-20261120T134317.700020197Z.txt.gz").unwrap();
        assert_eq!((time.began_ns, time.ended_ns), (at("2026-11-20T13:43:17.700020197Z"), at("2026-11-20T13:43:17.700020197Z")));
        let time = time_of_name("squeue-20261120T134317.1Z-20261120T134318Z.txt").unwrap();
        assert_eq!((time.began_ns, time.ended_ns), (at("2026-11-20T13:43:17.1Z"), at("2026-11-20T13:43:18Z")));
        assert_eq!(time_of_name("squeue.txt"), None);
        assert_eq!(time_of_name("TZ-é-20261120TéZ-2026é120T134317Z"), None);
    }
}

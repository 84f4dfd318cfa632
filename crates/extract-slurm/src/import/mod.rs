//! Queue and accounting as others recorded them: a file's bytes in,
//! [`JobRecord`](crate::record::JobRecord)s out.
//!
//! | kind | what makes such a file | read by |
//! |---|---|---|
//! | [`FileKind::SqueueText`] | `squeue`, with any `-o`, `-O` and separator; `flowmine observe --record` | [`mod@squeue_text`] |
//! | [`FileKind::SqueueJson`] | `squeue --json`, from Slurm 21.08 on; also `scontrol show jobs --json` | [`mod@squeue_json`] |
//! | [`FileKind::SacctText`] | `sacct --parsable2` or `--parsable`, with any delimiter | [`mod@sacct_text`] |
//! | [`FileKind::SacctJson`] | `sacct --json` | [`mod@sacct_json`] |
//! | [`FileKind::SlurmMiner`] | the log of SLURMminer, the case study's tool | [`mod@slurmminer`] |
//! | [`FileKind::Swf`] | logs of other schedulers in the Standard Workload Format | [`mod@swf`] |
//!
//! A bad line or record becomes a diagnostic with its place and the rest is read; an
//! [`ImportError`] means that nothing was usable, or that what is in the file cannot be said
//! truthfully (several polls in one file). Packed files are refused: unpack them first.
//!
//! **Forgery.** In text with a fixed separator a job's name can contain the separator and newlines
//! and so look like another job's row. Rows with a wrong number of fields, job id, state or time
//! are rejected with their line number; a row that a user forged with care cannot be distinguished
//! from a true one. JSON does not have this fault. Nor have recordings of `flowmine observe`,
//! because their separator cannot be known beforehand.

mod blanks;
mod cut_array;
mod error;
mod imported;
mod json;
mod kind;
pub mod sacct_json;
pub mod sacct_text;
pub mod slurmminer;
mod squeue_columns;
pub mod squeue_json;
pub mod squeue_text;
pub mod swf;
mod table;
mod time_column;
mod zone;

use flowmine_schema::diagnostic::{Diagnostic, Diagnostics};
use flowmine_schema::text::bounds::{Bounds, Gate, Records};
use flowmine_schema::text::json_key;
use flowmine_slurm::units::shown;
use memchr::memmem;

pub use error::{ImportError, MOST_RECORDS};
pub use imported::Imported;
pub use kind::{FileKind, Options};

/// What a file's bytes have to go through before they are held: a line, a text, a job of any size
/// fills the memory otherwise.
pub fn gate() -> Gate {
    Gate::either(Bounds { records: MOST_RECORDS as u64, ..Bounds::USUAL }, Records::Listed)
}

/// Recognises the kind of a file by its first bytes and header.
///
/// # Errors
/// When [`read`] cannot read it; the error shows the first line.
pub fn recognise(bytes: &[u8]) -> Result<FileKind, ImportError> {
    let bytes = without_mark(bytes)?;
    let begin = bytes.iter().position(|b| !b.is_ascii_whitespace()).ok_or(ImportError::Empty)?;
    if matches!(bytes[begin], b'{' | b'[') {
        // Nothing else: as text such a file has not been held against the bounds of lines.
        return json_kind(bytes).ok_or_else(|| ImportError::Unrecognised { line: 1, seen: shown(&bytes[begin..]) });
    }
    if swf::is_one(bytes) {
        return Ok(FileKind::Swf);
    }
    // Before the header there can be a date, the name of the cluster, or the clock of a recording.
    let mut seen = None;
    for (number, line) in table::lines(bytes).filter(|(_, line)| !line.trim_ascii().is_empty()).take(4) {
        seen.get_or_insert((number, line));
        if line.len() > table::LONGEST_HEADER {
            break;
        }
        if let Some(kind) = header_kind(line) {
            return Ok(kind);
        }
    }
    let (line, seen) = seen.unwrap_or((1, bytes));
    Err(ImportError::Unrecognised { line, seen: shown(seen) })
}

/// Returns the kind of a JSON file: by the keys that only one kind has, otherwise by its metadata.
fn json_kind(bytes: &[u8]) -> Option<FileKind> {
    let key = |name: &str| json_key(bytes, name);
    match (key("job_state"), key("submission")) {
        (Some(squeue), Some(sacct)) => return Some(if squeue < sacct { FileKind::SqueueJson } else { FileKind::SacctJson }),
        (Some(_), None) => return Some(FileKind::SqueueJson),
        (None, Some(_)) => return Some(FileKind::SacctJson),
        (None, None) => {}
    }
    key("jobs")?;
    let has = |what: &str| memmem::find(bytes, what.as_bytes()).is_some();
    if has("slurmdbd") || has("dbv0.") || has("\"sacct\"") { Some(FileKind::SacctJson) } else { Some(FileKind::SqueueJson) }
}

fn header_kind(line: &[u8]) -> Option<FileKind> {
    let words: Vec<&[u8]> = table::words(line).collect();
    let has = |name: &str| words.contains(&name.as_bytes());
    // A token of letters may touch the names; the names themselves are then found inside.
    let holds = |name: &str| memmem::find(line, name.as_bytes()).is_some();
    if holds(time_column::TIME_COLUMN) && holds("JOBID") {
        return Some(FileKind::SlurmMiner);
    }
    if holds("JOBID") && (has("ST") || has("STATE") || holds("STATE")) {
        return Some(FileKind::SqueueText);
    }
    if holds("JobID") && holds("State") {
        return Some(FileKind::SacctText);
    }
    // One of the two columns without which nothing can be known: `read` says which is missing.
    if has("JOBID") {
        Some(FileKind::SqueueText)
    } else if has("JobID") || has("JobIDRaw") {
        Some(FileKind::SacctText)
    } else {
        // Accounting without job ids: `read` says that they are missing.
        sacct_text::looks_like(&words).then_some(FileKind::SacctText)
    }
}

/// Reads the bytes of a file as the given kind.
///
/// # Errors
/// [`ImportError`] when nothing in it is usable. Otherwise what was rejected is in `diagnostics`.
pub fn read<'a>(bytes: &'a [u8], kind: FileKind, options: &Options, diagnostics: &mut Diagnostics) -> Result<Imported<'a>, ImportError> {
    let bytes = without_mark(bytes)?;
    if bytes.trim_ascii().is_empty() {
        return Err(ImportError::Empty);
    }
    // Of accounting many lines are steps, which are added to their jobs.
    if matches!(kind, FileKind::SqueueText | FileKind::SlurmMiner) && memchr::memchr_iter(b'\n', bytes).count() > MOST_RECORDS {
        return Err(ImportError::TooMany);
    }
    let imported = match kind {
        FileKind::SqueueText => squeue_text::read(bytes, options, diagnostics),
        FileKind::SqueueJson => squeue_json::read(bytes, diagnostics),
        FileKind::SacctText => sacct_text::read(bytes, options, diagnostics),
        FileKind::SacctJson => sacct_json::read(bytes, diagnostics),
        FileKind::SlurmMiner => slurmminer::read(bytes, options, diagnostics),
        FileKind::Swf => swf::read(bytes, diagnostics),
    }?;
    if let Imported::Accounting { records, .. } = &imported
        && kind != FileKind::Swf
        && !records.is_empty()
        && records.iter().all(|(_, record)| record.submit_line.is_none())
    {
        let message = "no job has the command of its submission (SubmitLine), so jobs that wait for each other are not joined, and scripts are not known";
        let advice = "add SubmitLine to sacct --format (sacct --json has it in Slurm 23.11 and later, not in 22.05), or import squeue's output on the same jobs";
        diagnostics.push(Diagnostic::warning("no_submit_lines", message).advise(advice));
    }
    Ok(imported)
}

/// Without the UTF-8 byte order mark; refuses what is no text.
fn without_mark(bytes: &[u8]) -> Result<&[u8], ImportError> {
    const PACKED: &[(&[u8], &str, &str)] = &[
        (b"\x1f\x8b", "gzip", "gunzip FILE"),
        (b"\x28\xb5\x2f\xfd", "zstd", "unzstd FILE"),
        (b"\xfd7zXZ\0", "xz", "unxz FILE"),
        (b"BZh", "bzip2", "bunzip2 FILE"),
        (b"PK\x03\x04", "zip", "unzip FILE"),
    ];
    if let Some(&(_, with, unpack)) = PACKED.iter().find(|(magic, _, _)| bytes.starts_with(magic)) {
        return Err(ImportError::Packed { with, unpack });
    }
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Err(ImportError::Utf16);
    }
    Ok(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes))
}

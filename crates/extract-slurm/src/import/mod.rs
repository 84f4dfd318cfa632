//! Queue and accounting as others recorded them: a file's bytes in, [`JobRecord`]s out.
//!
//! | kind | what makes such a file | read by |
//! |---|---|---|
//! | [`Kind::SqueueText`] | `squeue`, with any `-o`, `-O` and separator; `flowmine observe --record` | [`mod@squeue_text`] |
//! | [`Kind::SqueueJson`] | `squeue --json`, from Slurm 21.08 on; also `scontrol show jobs --json` | [`mod@squeue_json`] |
//! | [`Kind::SacctText`] | `sacct --parsable2` or `--parsable`, with any delimiter | [`mod@sacct_text`] |
//! | [`Kind::SacctJson`] | `sacct --json` | [`mod@sacct_json`] |
//! | [`Kind::SlurmMiner`] | the log of SLURMminer, the case study's tool | [`mod@slurmminer`] |
//!
//! A bad line or record becomes a diagnostic with its place and the rest is read; an [`ImportError`] means that nothing was usable, or that
//! what is in the file cannot be said truthfully (several polls in one file). Packed files are refused: unpack them first.
//!
//! **Forgery.** In text with a fixed separator a job's name can hold the separator and newlines and so look like another job's row. Rows
//! whose number of fields, job id, state or times are wrong are rejected with their line; one that a user made with care cannot be told
//! from a true one. JSON, and recordings of `flowmine observe`, whose separator nobody can know beforehand, do not have this fault.

mod blanks;
mod json;
pub mod sacct_json;
pub mod sacct_text;
pub mod slurmminer;
pub mod squeue_json;
pub mod squeue_text;
mod table;

use flowmine_schema::diagnostic::{Diagnostic, Diagnostics};
use flowmine_schema::text::bounds::{Bounds, Gate, Records};
use flowmine_schema::time::SECOND_NS;
use flowmine_slurm::units::{self, shown};
use memchr::memmem;

use crate::record::JobRecord;
use crate::sacct::Attempt;

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// squeue's text.
    SqueueText,
    /// squeue's JSON.
    SqueueJson,
    /// sacct's text.
    SacctText,
    /// sacct's JSON.
    SacctJson,
    /// A SLURMminer log.
    SlurmMiner,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 5] = [Kind::SqueueText, Kind::SqueueJson, Kind::SacctText, Kind::SacctJson, Kind::SlurmMiner];

    /// For messages.
    pub fn name(self) -> &'static str {
        match self {
            Kind::SqueueText => "squeue text",
            Kind::SqueueJson => "squeue --json",
            Kind::SacctText => "sacct --parsable2",
            Kind::SacctJson => "sacct --json",
            Kind::SlurmMiner => "SLURMminer log",
        }
    }
}

/// What is known beside the file.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// How far east of UTC times without zone are, in seconds. `None` takes them as UTC and says so.
    pub zone_offset_s: Option<i64>,
    /// What separates fields, instead of finding it out from the header.
    pub separator: Option<String>,
}

/// What was in a file.
#[derive(Debug)]
pub enum Imported<'a> {
    /// The whole queue, at one time.
    Queue {
        /// When, if the content says: squeue's own date line (`-l`, `-i`), or `last_update` of the JSON.
        observed_at_ns: Option<i64>,
        /// As in [`flowmine_schema::tables::source`].
        source: &'static str,
        /// The jobs in the order of the file.
        records: Vec<JobRecord<'a>>,
        /// If the content says.
        cluster: Option<String>,
        /// Whether every job of the file is in `records`. When rows were rejected, or the file is cut short, a job that is missing here
        /// may still be in the queue.
        whole: bool,
    },
    /// Changes, each with the time at which somebody saw it.
    Log {
        /// As in [`flowmine_schema::tables::source`].
        source: &'static str,
        /// In the order of the file.
        entries: Vec<(i64, JobRecord<'a>)>,
        /// If the content says.
        cluster: Option<String>,
    },
    /// What accounting remembers: one record a job attempt, with the I/O of its steps.
    Accounting {
        /// As in [`flowmine_schema::tables::source`].
        source: &'static str,
        /// With the cluster's name where the row has one.
        records: Vec<Attempt<'a>>,
    },
}

/// Why a file could not be imported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// Nothing in it.
    #[error("the file is empty")]
    Empty,
    /// Packed.
    #[error("the file is packed with {with}: unpack it first ({unpack})")]
    Packed {
        /// The packer.
        with: &'static str,
        /// The command that undoes it.
        unpack: &'static str,
    },
    /// UTF-16.
    #[error("the file is UTF-16 text: convert it first (iconv -f UTF-16 -t UTF-8)")]
    Utf16,
    /// No kind fits.
    #[error("line {line} is {seen:?}, which is the beginning of none of: {}", kinds())]
    Unrecognised {
        /// From 1.
        line: u64,
        /// The beginning of that line, made visible.
        seen: String,
    },
    /// The header does not fit the kind.
    #[error("line {line}, column {column}: not {}: {why}", kind.name())]
    Header {
        /// The kind that was tried.
        kind: Kind,
        /// From 1.
        line: u64,
        /// In bytes, from 1.
        column: u64,
        /// What is wrong and what to do.
        why: String,
    },
    /// Not JSON, or cut before the first job.
    #[error("line {line}, column {column}: not {}: {why}", kind.name())]
    Json {
        /// The kind that was tried.
        kind: Kind,
        /// From 1.
        line: u64,
        /// In bytes, from 1.
        column: u64,
        /// What the parser said.
        why: String,
    },
    /// Several polls one after the other.
    #[error(
        "line {line} begins a second poll: one file must hold one poll, because a job is in each of them; split the file there and import the \
             parts, each with its time"
    )]
    SeveralPolls {
        /// From 1.
        line: u64,
    },
    /// One queue of several clusters.
    #[error(
        "the jobs are of several clusters ({clusters}), whose ids may be the same: import one file a cluster (`squeue -M NAME --json`)"
    )]
    SeveralClusters {
        /// Their names.
        clusters: String,
    },
    /// More than can be held.
    #[error(
        "there are more than {MOST_RECORDS} jobs in the file: split it and import its parts (sacct can be asked with --starttime and --endtime)"
    )]
    TooMany,
    /// Every row was rejected.
    #[error("not one of the {rejected} rows can be read as {}{}: {why}", kind.name(), place(*line))]
    NothingUsable {
        /// The kind that was tried.
        kind: Kind,
        /// How many.
        rejected: u64,
        /// Of the first rejected one, where known.
        line: Option<u64>,
        /// Why the first was rejected.
        why: String,
    },
}

/// The most jobs that a file may tell of. All of a file's are in memory, each with less than a kilobyte, while Slurm can hold some hundred thousand at once
/// and a month of accounting is some million.
pub const MOST_RECORDS: usize = 4_000_000;

/// What a file's bytes have to go through before they are held: a line, a text, a job of any size fills the memory otherwise.
pub fn gate() -> Gate {
    Gate::either(Bounds { records: MOST_RECORDS as u64, ..Bounds::USUAL }, Records::Listed)
}

fn kinds() -> String {
    let names: Vec<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
    format!("{} (text needs its header line)", names.join(", "))
}

fn place(line: Option<u64>) -> String {
    line.map(|line| format!(", the first in line {line}")).unwrap_or_default()
}

/// Finds out what a file is, from its first bytes and header.
///
/// # Errors
/// When it is nothing that [`read`] can read; the error says what stands in the first line.
pub fn recognise(bytes: &[u8]) -> Result<Kind, ImportError> {
    let bytes = without_mark(bytes)?;
    let begin = bytes.iter().position(|b| !b.is_ascii_whitespace()).ok_or(ImportError::Empty)?;
    if matches!(bytes[begin], b'{' | b'[') {
        // Nothing else: as text such a file has not been held against the bounds of lines.
        return json_kind(bytes).ok_or_else(|| ImportError::Unrecognised { line: 1, seen: shown(&bytes[begin..]) });
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

/// Which JSON it is: by the keys that only one of them has, else by what it says about itself.
fn json_kind(bytes: &[u8]) -> Option<Kind> {
    // A quote inside a JSON string is escaped, so that these byte sequences, with the colon, can only be keys.
    let key = |name: &str| {
        let quoted = format!("\"{name}\"");
        memmem::find_iter(bytes, quoted.as_bytes()).find(|&at| {
            let rest = &bytes[at + quoted.len()..];
            rest.iter().find(|b| !b.is_ascii_whitespace()) == Some(&b':')
        })
    };
    match (key("job_state"), key("submission")) {
        (Some(squeue), Some(sacct)) => return Some(if squeue < sacct { Kind::SqueueJson } else { Kind::SacctJson }),
        (Some(_), None) => return Some(Kind::SqueueJson),
        (None, Some(_)) => return Some(Kind::SacctJson),
        (None, None) => {}
    }
    key("jobs")?;
    let has = |what: &str| memmem::find(bytes, what.as_bytes()).is_some();
    if has("slurmdbd") || has("dbv0.") || has("\"sacct\"") { Some(Kind::SacctJson) } else { Some(Kind::SqueueJson) }
}

fn header_kind(line: &[u8]) -> Option<Kind> {
    let words: Vec<&[u8]> = table::words(line).collect();
    let has = |name: &str| words.contains(&name.as_bytes());
    // A token of letters may touch the names; the names themselves are then found inside.
    let holds = |name: &str| memmem::find(line, name.as_bytes()).is_some();
    if holds(slurmminer::TIME_COLUMN) && holds("JOBID") {
        return Some(Kind::SlurmMiner);
    }
    if holds("JOBID") && (has("ST") || has("STATE") || holds("STATE")) {
        return Some(Kind::SqueueText);
    }
    if holds("JobID") && holds("State") {
        return Some(Kind::SacctText);
    }
    // One of the two columns without which nothing can be told: `read` says which is missing.
    if has("JOBID") {
        Some(Kind::SqueueText)
    } else if has("JobID") || has("JobIDRaw") {
        Some(Kind::SacctText)
    } else {
        None
    }
}

/// Reads a file.
///
/// # Errors
/// [`ImportError`] when nothing in it is usable. Otherwise what was rejected is in `diagnostics`.
pub fn read<'a>(bytes: &'a [u8], kind: Kind, options: &Options, diagnostics: &mut Diagnostics) -> Result<Imported<'a>, ImportError> {
    let bytes = without_mark(bytes)?;
    if bytes.trim_ascii().is_empty() {
        return Err(ImportError::Empty);
    }
    // Of accounting many lines are steps, which are added to their jobs.
    if matches!(kind, Kind::SqueueText | Kind::SlurmMiner) && memchr::memchr_iter(b'\n', bytes).count() > MOST_RECORDS {
        return Err(ImportError::TooMany);
    }
    let imported = match kind {
        Kind::SqueueText => squeue_text::read(bytes, options, diagnostics),
        Kind::SqueueJson => squeue_json::read(bytes, diagnostics),
        Kind::SacctText => sacct_text::read(bytes, options, diagnostics),
        Kind::SacctJson => sacct_json::read(bytes, diagnostics),
        Kind::SlurmMiner => slurmminer::read(bytes, options, diagnostics),
    }?;
    if let Imported::Accounting { records, .. } = &imported
        && !records.is_empty()
        && records.iter().all(|(_, record)| record.submit_line.is_none())
    {
        let message =
            "no job says how it was submitted (SubmitLine), so jobs that wait for each other are not joined, and scripts are not known";
        let advice = "add SubmitLine to sacct --format (sacct --json has it in Slurm 23.11 and later, not in 22.05), or import what squeue said of the same jobs";
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

/// Times without zone, and saying once that a zone had to be assumed.
#[derive(Debug)]
struct Zone {
    offset_s: i64,
    told: bool,
}

impl Zone {
    fn new(options: &Options) -> Self {
        Self { offset_s: options.zone_offset_s.unwrap_or(0), told: options.zone_offset_s.is_some() }
    }

    /// Looks at a field that is a time.
    fn see(&mut self, field: &[u8], line: u64, diagnostics: &mut Diagnostics) {
        if self.told || units::is_nothing(field) || units::digits(field).is_some() {
            return;
        }
        if std::str::from_utf8(field).is_ok_and(|field| !units::has_zone(field)) && units::time(field, 0).is_ok() {
            self.told = true;
            let message = format!("times such as {:?} say no zone and are taken as UTC", shown(field));
            diagnostics.push(
                Diagnostic::warning("no_zone", message).at(line, None).advise("say the cluster's zone with --zone, as in --zone=+01:00"),
            );
        }
    }

    fn time(&self, field: &[u8]) -> Result<Option<i64>, units::BadValue> {
        units::time(field, self.offset_s)
    }
}

/// Seconds since 1970 or nanoseconds, told apart by their size, as a time.
fn epoch(field: &[u8]) -> Option<i64> {
    let number = units::digits_i64(field)?;
    if number > 1_000_000_000 * SECOND_NS { Some(number) } else { None }
}

/// Ends an import: an error when rows were rejected and none was read.
fn usable(kind: Kind, read: usize, rejected: u64, diagnostics: &Diagnostics) -> Result<(), ImportError> {
    if read > 0 || rejected == 0 {
        return Ok(());
    }
    let first = diagnostics.iter().find(|d| d.severity == flowmine_schema::diagnostic::Severity::Error);
    Err(ImportError::NothingUsable {
        kind,
        rejected,
        line: first.and_then(|d| d.line),
        why: first.map(|d| d.message.clone()).unwrap_or_default(),
    })
}

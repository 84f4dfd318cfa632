//! Nextflow: its log, its trace file and the work directories of its tasks.
//!
//! What is told of one attempt is joined by its hash, which all three hold; the log is believed first, then the trace file, then the work
//! directory, and where they contradict each other a diagnostic says so.

mod clock;
mod fate;
mod handler;
mod join;
mod log;
mod months;
mod names;
mod told;
mod trace;
mod work_dir;

use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;
use std::{fs, io};

use flowmine_schema::diagnostic::Diagnostic;

use self::join::Joined;
use crate::{Engine, Options, Row, Source, input};

/// As in the column `engine`.
pub const NAME: &str = "nextflow";

// In the order in which they are believed.
const LOG: &str = "Nextflow log";
const TRACE: &str = "Nextflow trace file";
const WORK_DIR: &str = "Nextflow work directory";

/// The engine.
#[derive(Debug, Clone, Copy)]
pub struct Nextflow;

impl Engine for Nextflow {
    fn name(&self) -> &'static str {
        NAME
    }

    /// The files of a directory, and the work directories in it, in `work/`, and in those whose names are the beginning of a hash.
    fn find(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        let mut open = vec![dir.to_owned()];
        while let Some(dir) = open.pop() {
            for entry in fs::read_dir(&dir)? {
                let entry = entry?;
                let (path, name) = (entry.path(), entry.file_name());
                let is_hash = name.len() == 2 && name.as_encoded_bytes().iter().all(u8::is_ascii_hexdigit);
                // Not through links: a task's inputs are linked, and may be work directories.
                if entry.file_type()?.is_file() {
                    found.push(path);
                } else if entry.file_type()?.is_dir() {
                    if work_dir::is_one(&path) {
                        found.push(path);
                    } else if is_hash || name == "work" {
                        open.push(path);
                    }
                }
            }
        }
        Ok(found)
    }

    fn recognise(&self, path: &Path, head: &[u8]) -> Option<&'static str> {
        if path.is_dir() {
            return work_dir::is_one(path).then_some(WORK_DIR);
        }
        let text = String::from_utf8_lossy(head);
        if text.lines().next().is_some_and(|header| trace::separator(header).is_some()) {
            return Some(TRACE);
        }
        // A log that was cut can begin within a stack trace.
        let is_log = |line: &str| clock::prefix(line).is_some() && line.contains(" - ");
        text.lines().take(200).any(is_log).then_some(LOG)
    }

    fn read(&self, sources: &mut [Source], options: &Options) -> Vec<Row> {
        let rank = |kind: &str| [LOG, TRACE, WORK_DIR].iter().position(|known| *known == kind);
        sources.sort_by(|a, b| (rank(a.kind), &a.name, &a.path).cmp(&(rank(b.kind), &b.name, &b.path)));
        let mut joined = Joined::default();
        for source in sources.iter_mut() {
            let Source { path, name, kind, rows, diagnostics } = source;
            let read = match *kind {
                LOG => input::open(path).and_then(|reader| log::read(reader, name, mtime_ns(path), options, diagnostics)).map(|runs| {
                    let told = runs.iter().map(|run| run.rows.len() as u64).sum();
                    runs.into_iter().for_each(|run| joined.add_run(run));
                    told
                }),
                TRACE => input::open(path)
                    .and_then(|reader| trace::read(reader, name, diagnostics))
                    .map(|records| joined.add_trace(name, records, options, diagnostics)),
                WORK_DIR => work_dir::read(path, name, diagnostics).map(|row| joined.add_work_dir(row, diagnostics)),
                _ => continue,
            };
            match read {
                Ok(told) => *rows = told,
                Err(e) => source.refuse(Diagnostic::error("file_unreadable", e.to_string())),
            }
        }
        joined.finish()
    }
}

fn mtime_ns(path: &Path) -> Option<i64> {
    let modified = fs::metadata(path).ok()?.modified().ok()?;
    i64::try_from(modified.duration_since(UNIX_EPOCH).ok()?.as_nanos()).ok()
}

/// What an executor's native ids are, as in the column `native_kind`.
fn native_kind(executor: &str) -> Option<String> {
    match executor {
        "" => None,
        "local" => Some("pid".to_owned()),
        "k8s" => Some("pod".to_owned()),
        "awsbatch" => Some("aws_job".to_owned()),
        "azurebatch" => Some("azure_job".to_owned()),
        "google-batch" | "google-lifesciences" => Some("google_job".to_owned()),
        "uge" => Some("sge_job".to_owned()),
        "pbspro" => Some("pbs_job".to_owned()),
        _ => Some(format!("{executor}_job")),
    }
}

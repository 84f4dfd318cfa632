//! Nextflow: its log, its trace file and the work directories of its tasks.
//!
//! What is told of one attempt is joined by its hash, which all three hold; the log is believed first, then the trace file, then the work
//! directory, and where they contradict each other a diagnostic says so.

mod clock;
mod handler;
mod log;
mod months;
mod names;

use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;
use std::{fs, io};

use flowmine_schema::diagnostic::Diagnostic;

use crate::{Engine, Options, Row, Source, input};

/// As in the column `engine`.
pub const NAME: &str = "nextflow";

const LOG: &str = "Nextflow log";

/// The engine.
#[derive(Debug, Clone, Copy)]
pub struct Nextflow;

impl Engine for Nextflow {
    fn name(&self) -> &'static str {
        NAME
    }

    fn find(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(dir)? {
            let path = entry?.path();
            if path.is_file() {
                found.push(path);
            }
        }
        Ok(found)
    }

    fn recognise(&self, _path: &Path, head: &[u8]) -> Option<&'static str> {
        let text = String::from_utf8_lossy(head);
        // A log that was cut can begin within a stack trace.
        let is_log = |line: &str| clock::prefix(line).is_some_and(|(_, _, _, at)| line[at..].starts_with('[') && line.contains(" - "));
        text.lines().take(200).any(is_log).then_some(LOG)
    }

    fn read(&self, sources: &mut [Source], options: &Options) -> Vec<Row> {
        sources.sort_by(|a, b| (a.kind, &a.name, &a.path).cmp(&(b.kind, &b.name, &b.path)));
        let mut runs = Vec::new();
        for source in sources.iter_mut().filter(|source| source.kind == LOG) {
            let read = input::open(&source.path).and_then(|reader| log::read(reader, &source.name, mtime_ns(&source.path), options, &mut source.diagnostics));
            match read {
                Ok(found) => {
                    source.rows = found.iter().map(|run| run.rows.len() as u64).sum();
                    runs.extend(found);
                }
                Err(e) => source.diagnostics.push(Diagnostic::error("file_unreadable", e.to_string())),
            }
        }
        runs.into_iter().flat_map(|run| run.rows).collect()
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

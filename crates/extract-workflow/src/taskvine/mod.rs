//! TaskVine: the transactions log of a manager, `vine-run-info/DATE/vine-logs/transactions`.
//!
//! The log contains each change of a task's state with the time by the manager's clock. Start and
//! end by the worker's clock are among the measurements in the result. The log contains no
//! dependencies and no commands.

mod log;

use std::path::{Path, PathBuf};
use std::{fs, io};

use flowmine_schema::diagnostic::Diagnostic;

use crate::{Engine, Options, Row, Source, input};

/// Name of the engine, as in the column `engine`.
pub const NAME: &str = "taskvine";

const LOG: &str = "TaskVine transactions log";
/// File name of the log.
pub const TRANSACTIONS: &str = "transactions";
const LOGS: &str = "vine-logs";

/// The engine TaskVine.
#[derive(Debug, Clone, Copy)]
pub struct TaskVine;

impl Engine for TaskVine {
    fn name(&self) -> &'static str {
        NAME
    }

    /// Returns the logs in the directory of one run, or in those of several runs.
    fn find(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        let mut found = input::files_in(dir)?;
        let mut directories = vec![dir.to_owned()];
        directories.extend(input::entries(dir)?.into_iter().filter(|entry| entry.is_dir()).map(|entry| entry.path));
        directories.sort();
        for directory in directories {
            let logs = if directory.file_name().is_some_and(|name| name == LOGS) { directory } else { directory.join(LOGS) };
            if logs != dir && fs::symlink_metadata(&logs).is_ok_and(|data| data.is_dir()) {
                found.extend(input::files_in(&logs)?);
            }
        }
        found.sort();
        found.dedup();
        Ok(found)
    }

    fn recognise(&self, _path: &Path, head: &[u8]) -> Option<&'static str> {
        log::is_first_line(&String::from_utf8_lossy(head)).then_some(LOG)
    }

    fn not_read(&self, head: &[u8]) -> Option<&'static str> {
        let is_performance = head.starts_with(b"# timestamp workers_connected ");
        is_performance.then_some("this is the performance log; give vine-logs/transactions, which has the tasks")
    }

    fn read(&self, sources: &mut [Source], _options: &Options) -> Vec<Row> {
        sources.sort_by(|a, b| (&a.name, &a.path).cmp(&(&b.name, &b.path)));
        let mut rows = Vec::new();
        for source in sources.iter_mut() {
            let read = input::open(&source.path).and_then(|reader| log::read(reader, &run_name(source), &mut source.diagnostics));
            match read {
                Ok(mut told) => {
                    told.iter_mut().for_each(|row| source.sign(row));
                    source.rows = told.len() as u64;
                    rows.extend(told);
                }
                Err(error) => source.refuse(Diagnostic::of_reading(&error)),
            }
        }
        rows
    }
}

/// Returns the name of the run's directory, which contains the date; for a log elsewhere its file
/// name.
fn run_name(source: &Source) -> String {
    let parent = source.path.parent();
    let run = parent.filter(|parent| parent.file_name().is_some_and(|name| name == LOGS)).and_then(Path::parent);
    let name = run.and_then(Path::file_name).map(|name| flowmine_schema::text::decode(name.as_encoded_bytes()).into_owned());
    name.unwrap_or_else(|| source.name.clone())
}

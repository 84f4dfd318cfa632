//! Airflow 2 and 3: logs of tasks, the scheduler's log, and the metadata database (SQLite,
//! PostgreSQL).
//!
//! They are joined by DAG, run, task, map index and attempt. The database has most columns; a
//! task's log adds its exit code; the scheduler's log is used where both are missing.

mod attempt;
mod between;
mod common;
mod dag;
mod database;
mod line;
mod postgres;
mod scheduler_log;
mod sqlite;
mod state;
mod task_log;

use std::io;
use std::path::{Path, PathBuf};

use flowmine_schema::diagnostic::Diagnostic;

use self::attempt::Attempts;
use crate::{Engine, Options, Row, Source, input};

/// Name of the engine, as in the column `engine`.
pub const NAME: &str = crate::engine_names::AIRFLOW;

const SQLITE: &str = "Airflow database (SQLite)";
const POSTGRES: &str = "Airflow database (PostgreSQL)";
const TASK_LOG: &str = "Airflow task log";
const SCHEDULER_LOG: &str = "Airflow scheduler log";
/// Maximum depth of the search; Airflow's log folders are less deep.
const DEEPEST: usize = 12;

/// Whether the tables of an SQLite database are those of Airflow.
///
/// # Errors
/// A message for the user, when the database cannot be read.
pub fn is_database(path: &Path) -> Result<bool, String> {
    sqlite::is_one(path)
}

/// The engine Apache Airflow.
#[derive(Debug, Clone, Copy)]
pub struct Airflow;

impl Engine for Airflow {
    fn name(&self) -> &'static str {
        NAME
    }

    /// Returns all files below a directory.
    fn find(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        let mut dirs = vec![(dir.to_owned(), 0)];
        while let Some((dir, depth)) = dirs.pop() {
            for entry in input::entries(&dir)? {
                let is_beside = || [&b"-wal"[..], b"-shm", b"-journal"].iter().any(|end| entry.name.as_encoded_bytes().ends_with(end));
                if !entry.is_dir() && !is_beside() {
                    found.push(entry.path);
                } else if entry.is_dir() && depth < DEEPEST {
                    dirs.push((entry.path, depth + 1));
                }
            }
        }
        Ok(found)
    }

    fn recognise(&self, path: &Path, head: &[u8]) -> Option<&'static str> {
        if head.starts_with(sqlite::MAGIC) {
            return Some(SQLITE);
        }
        if head.starts_with(postgres::MAGIC) {
            return Some(POSTGRES);
        }
        let head = String::from_utf8_lossy(head);
        let head = input::without_escapes(&head);
        let mut lines = head.lines().filter_map(|text| line::Line::read(text, &Options::default()));
        let first = lines.next()?;
        if task_log::key_of_path(path).is_some() {
            return Some(TASK_LOG);
        }
        // The scheduler's first lines come from other loggers.
        let scheduler = |line: &line::Line| line.is_of_scheduler() && !line.from.starts_with("airflow.jobs.triggerer");
        if scheduler(&first) || lines.any(|line| scheduler(&line)) {
            return Some(SCHEDULER_LOG);
        }
        let tells_attempt = head.contains("\"try_number\":") && head.contains("\"run_id\":")
            || head.contains("} INFO - Starting attempt ") && head.contains("<TaskInstance: ");
        tells_attempt.then_some(TASK_LOG)
    }

    fn beside(&self, path: &Path) -> Option<PathBuf> {
        sqlite::wal(path)
    }

    fn is_address(&self, path: &Path) -> bool {
        postgres::is_address(path)
    }

    fn fetch(&self, address: &Path, dir: &Path) -> Option<Result<PathBuf, String>> {
        postgres::is_address(address).then(|| postgres::fetch(address, dir))
    }

    fn read(&self, sources: &mut [Source], options: &Options) -> Vec<Row> {
        let rank = |kind: &str| [SQLITE, POSTGRES, TASK_LOG, SCHEDULER_LOG].iter().position(|known| *known == kind);
        sources.sort_by(|a, b| (rank(a.kind), &a.name, &a.path).cmp(&(rank(b.kind), &b.name, &b.path)));
        let mut attempts = Attempts::default();
        for source in sources.iter_mut() {
            if let Err(e) = read_one(source, options, &mut attempts) {
                source.refuse(Diagnostic::of_reading(&e));
            }
        }
        attempts.into_rows().into_values().collect()
    }
}

fn read_one(source: &mut Source, options: &Options, attempts: &mut Attempts) -> io::Result<()> {
    match source.kind {
        SQLITE => {
            let (path, name) = (source.path.clone(), source.name.clone());
            match sqlite::read(&path, &name, |why| source.diagnostics.push(Diagnostic::error("row_bad", why))) {
                Ok(database) => database.finish(attempts, source),
                Err(why) => source.refuse(Diagnostic::error("database_unreadable", why)),
            }
        }
        POSTGRES => postgres::read(input::open(&source.path)?, source)?.finish(attempts, source),
        TASK_LOG => match task_log::read(input::open(&source.path)?, source, options)? {
            Some((key, row)) => attempts.add(key, row, source),
            None => {
                let diagnostic = Diagnostic::error("task_unknown", "neither its path nor its lines name its attempt");
                source.refuse(diagnostic.advise("give it in its folders: dag_id=…/run_id=…/task_id=…/attempt=1.log"));
            }
        },
        SCHEDULER_LOG => {
            for (key, row) in scheduler_log::read(input::open(&source.path)?, source, options)? {
                attempts.add(key, row, source);
            }
        }
        _ => {}
    }
    Ok(())
}

//! The tasks of a run while its log is read, and the lookup of the task that a line is about.
//!
//! Most lines have only the beginning of a hash; handlers and errors have all of it. Two tasks of a
//! large run can share the beginning, so further values (the whole hash, the number, the name)
//! decide between them; a line that fits none of them is about another task.

use std::collections::HashMap;

use flowmine_schema::diagnostic::{Diagnostic, Diagnostics};

use super::clock::Stamp;
use super::names::{MOST_OF_A_HASH, can_be_same, names_agree, process_and_tag, shown, surely_same};
use crate::Row;

/// A task while the log is read.
#[derive(Default)]
pub struct Task {
    pub row: Row,
    /// The known part of its hash.
    pub hash: Option<String>,
    /// Whether a line other than the grid's acknowledgement of a submission named it.
    pub is_task: bool,
    /// Whether a line reported its submission, or that it was taken from the cache.
    pub announced: bool,
    pub submitted: Option<Stamp>,
    /// Time at which the earlier result was taken.
    pub cached: Option<Stamp>,
    /// Whether the result was taken from a `storeDir`, which Nextflow does not count as cached.
    pub stored: bool,
    /// Time at which the handler was done with it, and the handler's status.
    pub done: Option<(Option<Stamp>, String)>,
    pub started_ms: Option<i64>,
    /// Time at which the exit file was written, and its precision, both in nanoseconds.
    pub exited: Option<(i64, i64)>,
    pub failed: bool,
    pub ignored: bool,
    pub retried: bool,
    /// Whether the engine ended it.
    pub killed: bool,
    /// Whether it was submitted after the run had been aborted, so that it was not ended with the
    /// run.
    pub is_late: bool,
    pub running: bool,
    /// Whether it is only known to have waited for its submission.
    pub waits: bool,
}

/// Identifying values of a task in a line.
#[derive(Debug, Clone, Copy, Default)]
pub struct About<'a> {
    /// The known part of the task's hash.
    pub hash: Option<&'a str>,
    /// Nextflow's number of the task.
    pub id: Option<&'a str>,
    /// Name of the task with its tag; empty when it is not known.
    pub name: &'a str,
}

impl Task {
    fn can_be(&self, about: About<'_>) -> bool {
        let (Some(known), Some(hash)) = (self.hash.as_deref(), about.hash) else { return false };
        let same_id = self.row.task_id.as_deref().zip(about.id).is_none_or(|(known, told)| known == told);
        let same_name = !self.is_task || about.name.is_empty() || names_agree(&self.row.name, about.name);
        surely_same(known, hash) || can_be_same(known, hash) && same_id && same_name
    }

    /// Sets the name, which the first line about the task may have lacked.
    pub fn set_name(&mut self, name: &str) {
        let (process, tag) = process_and_tag(name);
        self.row.name = name.to_owned().into();
        self.row.logical_task = process.to_owned().into();
        self.row.tag = tag.map(|tag| tag.to_owned().into());
    }
}

/// The tasks in the order in which they were first named.
#[derive(Default)]
pub struct Tasks {
    pub all: Vec<Task>,
    /// Indices of tasks by the displayed hash.
    by_key: HashMap<String, Vec<usize>>,
    /// The latest task of each name, for errors that contain nothing else.
    by_name: HashMap<String, usize>,
    by_native_id: HashMap<String, usize>,
}

impl Tasks {
    /// Returns the latest tasks of a hash. A larger number is reported when they are rows
    /// (`Joined::say_crowded`).
    fn of_key(&self, key: &str) -> impl DoubleEndedIterator<Item = usize> {
        let all = self.by_key.get(key).map(Vec::as_slice).unwrap_or_default();
        all[all.len().saturating_sub(MOST_OF_A_HASH)..].iter().copied()
    }

    /// Returns the task that a line is about, among those for which `fits` holds.
    pub fn find(&self, about: About<'_>, fits: impl Fn(&Task) -> bool) -> Option<usize> {
        let same_key = self.of_key(shown(about.hash?));
        let surely = |at: usize| self.all[at].hash.as_deref().zip(about.hash).is_some_and(|(known, told)| surely_same(known, told));
        let can_be = same_key.filter(|at| self.all[*at].can_be(about) && fits(&self.all[*at]));
        can_be.min_by_key(|at| (!surely(*at), *at))
    }

    /// Returns the task that a line is about, or a new one.
    pub fn find_or_add(&mut self, about: About<'_>, line: u64, diagnostics: &mut Diagnostics, fits: impl Fn(&Task) -> bool) -> usize {
        let at = self.find(about, fits).unwrap_or_else(|| self.add(about, line, diagnostics));
        self.learn(at, about);
        at
    }

    /// Adds a new task; returns its index.
    pub fn add(&mut self, about: About<'_>, line: u64, diagnostics: &mut Diagnostics) -> usize {
        let at = self.all.len();
        let key = about.hash.map(shown);
        if let Some(key) = key {
            let same_key = self.by_key.entry(key.to_owned()).or_default();
            let other = same_key.last().map(|at| &self.all[*at]).filter(|other| !other.row.cached || other.row.name != about.name);
            if let Some(other) = other {
                let message =
                    format!("{key}, as Nextflow shows hashes, is that of {} and of {}; they are two tasks", other.row.name, about.name);
                diagnostics.push(Diagnostic::warning("hash_shared", message).at(line, None));
            }
            same_key.push(at);
        }
        self.all.push(Task {
            row: Row { line: Some(line as i64), cache_key: key.map(|key| key.to_owned().into()), ..Row::default() },
            ..Task::default()
        });
        self.learn(at, about);
        at
    }

    /// Adds the values in a line to a task, which then no longer just waits.
    fn learn(&mut self, at: usize, about: About<'_>) {
        let task = &mut self.all[at];
        if let Some(hash) = about.hash.filter(|hash| task.hash.as_ref().is_none_or(|known| known.len() < hash.len())) {
            task.hash = Some(hash.to_owned());
        }
        if task.row.name.is_empty() {
            task.set_name(about.name);
        }
        task.is_task = true;
        task.waits = false;
        if !about.name.is_empty() {
            self.by_name.insert(about.name.to_owned(), at);
        }
    }

    /// Returns the task with the displayed hash of a note and with a name that the note contains.
    pub fn of_note(&self, key: &str, note: &str) -> Option<usize> {
        let named = |at: &usize| note.contains(&format!("`{}`", self.all[*at].row.name));
        self.of_key(key).rev().find(named).or(self.of_key(key).last())
    }

    /// Returns the latest task of this name.
    pub fn of_name(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// Sets the executor's id of a task.
    pub fn set_native_id(&mut self, at: usize, id: &str) {
        self.all[at].row.native_id = Some(id.to_owned().into());
        self.by_native_id.insert(id.to_owned(), at);
    }

    /// Returns the task with this id of the executor.
    pub fn of_native_id(&mut self, id: &str) -> Option<&mut Task> {
        self.by_native_id.get(id).map(|at| &mut self.all[*at])
    }
}

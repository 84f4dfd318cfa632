//! One task of a plan.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use flowmine_dataset::row_file;
use flowmine_files::{MadeFiles, place_of};
use serde::Serialize;

use super::{PARTIALS, Plan};
use crate::correlate::{self, correlate};
use crate::error::{Error, Result};
use crate::partial::{self, Made, make};
use crate::sink::Sink;

/// Name of the file that the merge writes next to the plan when it is done.
pub(super) const MERGED: &str = "merged.json";

/// A task of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// Partial results of hosts, by the number of the task, from 1.
    Partials(usize),
    /// The merge of all partial results.
    Merge,
}

impl FromStr for Task {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match text {
            "merge" => Ok(Self::Merge),
            number => match number.parse() {
                Ok(number) if number > 0 => Ok(Self::Partials(number)),
                _ => Err("a number from 1, or merge".to_owned()),
            },
        }
    }
}

/// The outcome of a task.
pub enum Worked {
    /// Partial results.
    Partials(Made),
    /// The tables.
    Merged(Box<correlate::Found>),
}

/// What the merge writes when it is done.
#[derive(Serialize)]
struct Merged<'a> {
    version: &'a str,
    operations: u64,
    processes: u64,
    task_io_rows: u64,
}

/// Carries out a task of a plan.
///
/// # Errors
/// When the plan has no such task, or what the task does fails.
pub fn work(path: &Path, task: Task, sink: &dyn Sink) -> Result<Worked> {
    let plan = Plan::read(path, sink)?;
    let dataset = PathBuf::from(&plan.dataset);
    let dir = path.with_file_name(PARTIALS);
    match task {
        Task::Partials(number) => {
            let hosts = number.checked_sub(1).and_then(|at| plan.tasks.get(at)).cloned();
            let hosts = hosts.ok_or_else(|| {
                Error::Refused(format!("{}: there is no task {number}, the last one is {}", path.display(), plan.tasks.len()))
            })?;
            Ok(Worked::Partials(make(&partial::Options { dataset, hosts, dir }, sink)?))
        }
        Task::Merge => {
            let (case_notion, hubs) = (plan.case_notion, plan.hubs);
            let found = correlate(&correlate::Options { dataset, as_owner: false, case_notion, hubs, partials: vec![dir] }, sink)?;
            let of = &found.counts.attributed;
            let done = Merged { version: &plan.version, operations: of.operations, processes: of.processes, task_io_rows: of.written.rows };
            let mut json = serde_json::to_vec_pretty(&done).map_err(|error| Error::Refused(error.to_string()))?;
            json.push(b'\n');
            let folder = place_of(path)?.0;
            let mut made = MadeFiles::new(&folder)?;
            made.claim([MERGED])?;
            row_file::put(&folder, MERGED, &json)?;
            made.finish()?;
            Ok(Worked::Merged(Box::new(found)))
        }
    }
}

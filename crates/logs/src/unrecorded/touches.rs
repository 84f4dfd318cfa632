//! Which command used which name of a file, where one of them changed what has the name; and what had
//! such a name before the run.
//!
//! To open a file is to use it, whether it is read, written or mapped; so is to execute it. A file was
//! there before the run where the first that the trace shows of its name does not make it.

use std::collections::{BTreeMap, BTreeSet};

use flowmine_activity_log::{RunGraph, Touch, TracedProcess};
use flowmine_dataset::{Dataset, DatasetError};
use flowmine_schema::tables::TracedFile;

use super::renames::Renames;
use super::{Script, namings};

flowmine_schema::columns! {
    /// What is read of a file.
    struct Seen of TracedFile { host, trace_ns, first_seen_ns, path, size_bytes }
}

/// Flags of open(2).
pub(super) const ACCESS: i32 = 0o3;
const CREATE: i32 = 0o100;
const EXCLUSIVE: i32 = 0o200;
const TRUNCATE: i32 = 0o1000;

/// What the trace shows first of a name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum First {
    /// It is created, or opened with flags that create a missing file and truncate an existing one.
    Made,
    /// It is opened with a flag that creates it if missing: its size shows whether it existed.
    Opened,
    /// Something has it.
    Used,
}

impl First {
    fn of_open(flags: i32) -> Self {
        match (flags & CREATE != 0, flags & (EXCLUSIVE | TRUNCATE) != 0) {
            (true, true) => Self::Made,
            (true, false) => Self::Opened,
            (false, _) => Self::Used,
        }
    }
}

/// What the trace shows of the names of files.
#[derive(Default)]
struct Names {
    touches: BTreeSet<Touch>,
    first: BTreeMap<String, (i64, First)>,
}

impl Names {
    fn see(&mut self, path: &str, at_ns: i64, how: First, by: Option<(usize, bool)>) {
        match self.first.get_mut(path) {
            Some(known) => *known = (*known).min((at_ns, how)),
            None => {
                self.first.insert(path.to_owned(), (at_ns, how));
            }
        }
        self.touches.extend(by.map(|(task, changes)| Touch { path: path.to_owned(), task: task as u32, changes }));
    }

    fn changed(&self) -> BTreeSet<String> {
        self.touches.iter().filter(|touch| touch.changes).map(|touch| touch.path.clone()).collect()
    }
}

impl Script {
    /// Finds who used which name, which of them were there before, and how written files were renamed.
    pub(super) fn find_touches(&self, dataset: &Dataset, of: &TracedProcess, run: &mut RunGraph) -> Result<(), DatasetError> {
        let mut names = Names::default();
        let mut renames = Renames::new(run);
        namings::each(dataset, Some(of), |path, row| {
            renames.see(path, row);
            let (changes, how) = match (&*row.op, row.flags.unwrap_or(0)) {
                ("open", flags) => (flags & (ACCESS | TRUNCATE) != 0, First::of_open(flags)),
                ("delete" | "rename" | "truncate", _) => (true, First::Used),
                ("link", _) => (false, First::Used),
                _ => return,
            };
            let task = self.owners.get(&(row.pid, row.process_start_ns)).copied();
            names.see(path, row.start_ns, how, task.map(|task| (task, changes)));
            if let Some(made) = row.new_path.as_deref() {
                names.see(made, row.start_ns, First::Made, task.map(|task| (task, true)));
            }
        })?;
        renames.finish(run);
        for (key, &task) in &self.owners {
            let Some(traced) = self.processes.get(key) else { continue };
            names.touches.extend(traced.programs.iter().map(|path| Touch { path: path.clone(), task: task as u32, changes: false }));
        }
        let changed = names.changed();
        names.first.retain(|path, _| changed.contains(path));
        let filled = filled(dataset, of, &changed)?;
        let was_there = names.first.iter().filter(|(path, (_, how))| match how {
            First::Made => false,
            First::Opened => filled.contains(*path),
            First::Used => true,
        });
        run.was_there = was_there.map(|(path, _)| path.clone()).collect();
        let is_changed = |touch: &Touch| {
            let mut above = std::iter::successors(Some(&*touch.path), |path| path.rsplit_once('/').map(|(above, _)| above));
            above.any(|path| changed.contains(path))
        };
        run.touches = names.touches.into_iter().filter(is_changed).collect();
        Ok(())
    }
}

/// Paths of the files that had something in them when the trace saw them first.
fn filled(dataset: &Dataset, of: &TracedProcess, wanted: &BTreeSet<String>) -> Result<BTreeSet<String>, DatasetError> {
    let mut first: BTreeMap<String, (i64, bool)> = BTreeMap::new();
    dataset.read::<Seen<'static>, DatasetError>(|row| {
        let Some(path) = row.path.filter(|path| row.host == of.host && row.trace_ns == of.trace_ns && wanted.contains(&**path)) else {
            return Ok(());
        };
        let told = (row.first_seen_ns, row.size_bytes.is_some_and(|bytes| bytes > 0));
        let known = first.entry(path.into_owned()).or_insert(told);
        *known = (*known).min(told);
        Ok(())
    })?;
    Ok(first.into_iter().filter(|(_, (_, filled))| *filled).map(|(path, _)| path).collect())
}

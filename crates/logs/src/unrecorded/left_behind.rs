//! Processes that go on after their command has ended. A script does not wait for them, and no
//! workflow engine does: some end them with the command. What such a process does with files comes
//! before or after other commands by accident.

use std::collections::BTreeMap;

use flowmine_activity_log::{RunGraph, TracedProcess};
use flowmine_dataset::{Dataset, DatasetError};

use super::{Key, Operation, Script, Sums};

/// A process that outlives its command.
struct Left {
    task: usize,
    /// When its command ended.
    since_ns: i64,
    /// Whether it can have used or changed files after that.
    uses_files: bool,
}

impl Script {
    /// Finds processes that outlive their commands, and whether they used files meanwhile.
    pub(super) fn find_left_behind(&self, dataset: &Dataset, of: &TracedProcess, run: &mut RunGraph) -> Result<(), DatasetError> {
        let mut left: BTreeMap<Key, Left> = self.processes.keys().filter_map(|key| Some((*key, self.left_behind(key)?))).collect();
        if left.is_empty() {
            return Ok(());
        }
        dataset.read::<Operation<'static>, DatasetError>(|row| {
            if row.host == of.host && row.trace_ns == of.trace_ns && row.op != "close" {
                let process = left.get_mut(&(row.pid, row.process_start_ns));
                process.into_iter().for_each(|process| process.uses_files |= row.start_ns > process.since_ns);
            }
            Ok(())
        })?;
        // When sums were added up is not known.
        dataset.read::<Sums<'static>, DatasetError>(|row| {
            if row.host == of.host && row.trace_ns == of.trace_ns {
                let process = left.get_mut(&(row.pid, row.process_start_ns));
                process.into_iter().for_each(|process| process.uses_files |= row.read_calls > 0 || row.write_bytes > 0);
            }
            Ok(())
        })?;
        for (key, process) in left {
            let program = self.program_of(&key).unwrap_or("a process").to_owned();
            let task = &mut run.tasks[process.task];
            if process.uses_files {
                task.missing.push(format!("that {program} goes on with files after its command has ended"));
            } else {
                task.doubts.push(format!("{program} goes on after its command has ended: a workflow does not wait for it, and may end it"));
            }
        }
        Ok(())
    }

    /// The program of a process, which may be that of the one that forked it.
    fn program_of(&self, key: &Key) -> Option<&str> {
        let mut above = std::iter::successors(Some(*key), |key| self.processes.get(key)?.parent).take(self.processes.len() + 1);
        above.find_map(|key| self.processes.get(&key)?.programs.last()).map(String::as_str)
    }

    fn left_behind(&self, key: &Key) -> Option<Left> {
        let task = *self.owners.get(key)?;
        let root = self.roots[task].filter(|root| root != key)?;
        let since_ns = self.processes.get(&root)?.exit_ns?;
        let process = self.processes.get(key)?;
        let unseen = process.naming_calls.iter().flatten().any(|calls| *calls > 0);
        process.exit_ns.is_none_or(|exit| exit > since_ns).then_some(Left { task, since_ns, uses_files: unseen })
    }
}

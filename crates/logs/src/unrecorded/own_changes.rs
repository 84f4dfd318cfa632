//! What the process of a script changed itself, between its commands: names and files that no
//! command of the script changes, so that a workflow of its commands would not.
//!
//! dash and bash open files, and change nothing else by themselves. Other programs that run scripts
//! (perl, python3) rename, link, remove, make directories, and set modes and times, of which a trace
//! records only a part.

use flowmine_activity_log::{RunGraph, TracedProcess};
use flowmine_dataset::{Dataset, DatasetError};
use flowmine_schema::tables::IoEvent;

use super::{Key, Script};

flowmine_schema::columns! {
    /// What is read of an operation that changes a name, or a file by its name.
    struct Change of IoEvent { host, trace_ns, pid, process_start_ns, op, start_ns, result, path, new_path }
}

/// Shells that change nothing by themselves but what they open.
const SHELLS: [&str; 2] = ["dash", "bash"];

impl Script {
    /// Finds what the script's own processes changed, and says what they can have changed unseen.
    pub(super) fn find_own_changes(&self, dataset: &Dataset, of: &TracedProcess, run: &mut RunGraph) -> Result<(), DatasetError> {
        let begun = self.shell.and_then(|shell| self.first_exec(&shell)).unwrap_or(i64::MIN);
        dataset.read::<Change<'static>, DatasetError>(|row| {
            if row.host != of.host || row.trace_ns != of.trace_ns || row.start_ns < begun || row.result.is_some_and(|result| result < 0) {
                return Ok(());
            }
            let path = row.path.as_deref().unwrap_or("a file");
            let to = row.new_path.as_deref().unwrap_or("another name");
            let what = match &*row.op {
                "rename" => format!("renames {path} to {to}"),
                "link" => format!("links {path} as {to}"),
                "delete" => format!("removes {path}"),
                "truncate" => format!("truncates {path}"),
                _ => return Ok(()),
            };
            let by = (row.pid, row.process_start_ns);
            match self.owners.get(&by) {
                Some(&task) if self.is_before_program(task, &by, row.start_ns) => {
                    run.tasks[task].missing.push(format!("that its process {what} before it becomes its program"));
                }
                None if self.is_of_script(&by) => run.missing.push(format!("{what} in its own process")),
                _ => {}
            }
            Ok(())
        })?;
        let own = self.processes.keys().filter(|key| self.is_of_script(key));
        run.missing.extend(own.flat_map(|key| self.counted(key)));
        // Where the traced command is one task, no script runs commands.
        let runs_commands = self.shell.is_some_and(|shell| self.is_of_script(&shell));
        let Some(program) = self.program().filter(|program| runs_commands && !SHELLS.contains(program)) else { return Ok(()) };
        run.doubts.push(format!(
            "{program} runs the script: the trace does not record which modes, times and attributes {program} itself sets, and which special files it makes"
        ));
        Ok(())
    }

    /// Name of the program that runs the script.
    pub(super) fn program(&self) -> Option<&str> {
        self.processes.get(&self.shell?)?.programs.last()?.rsplit('/').next()
    }

    /// Calls of a process that change names, of which the trace has the number only.
    fn counted(&self, key: &Key) -> impl Iterator<Item = String> {
        let names = ["makes directories", "removes directories", "makes symbolic links"];
        let counts = self.processes.get(key).map(|traced| traced.naming_calls).unwrap_or_default();
        names
            .into_iter()
            .zip(counts)
            .filter(|(_, calls)| calls.is_some_and(|calls| calls > 0))
            .map(|(what, _)| format!("{what} in its own process"))
    }
}

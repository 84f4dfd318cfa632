//! The tasks of a traced command.

use std::ffi::OsString;
use std::path::Path;

use flowmine_dataset::{Builder, Dataset};
use flowmine_extract_workflow::commands::{self, Traced, Which};
use flowmine_schema::tables::TaskRun;
use flowmine_trace::stop::Ended;

use super::{Recording, Tasks, host, writer_name};
use crate::error::Result;
use crate::sink::Sink;

/// Writes the tasks that a command was.
///
/// # Errors
/// When the dataset cannot be read or written.
pub fn write(command: &[OsString], recording: &Recording, tasks: &Tasks, ended: &Ended, sink: &dyn Sink) -> Result<()> {
    let Some(pid) = ended.outcome.command else { return Ok(()) };
    let which = match tasks {
        Tasks::Whole(name) => Which::Whole(name),
        Tasks::Commands => Which::Commands,
    };
    let host = host(recording).name;
    let dataset = Dataset::open(&recording.dataset)?;
    let dataset = if recording.as_owner { dataset.as_owner()? } else { dataset };
    let name = script_name(command);
    let traced = Traced { host: &host, trace_ns: ended.outcome.trace_ns, pid: i32::try_from(pid).unwrap_or(i32::MAX), name: &name };
    let tasks = commands::tasks(&dataset, &traced, which)?;
    if tasks.is_empty() {
        sink.warning("no process of the command that would be a task was recorded: there is no task");
        return Ok(());
    }
    let mut rows = Builder::<TaskRun<'static>>::with_capacity(tasks.len());
    tasks.iter().for_each(|row| rows.push(row));
    let mut writer = dataset.host_writer(&host, &writer_name())?;
    let mut transaction = writer.begin()?;
    transaction.append(rows)?;
    transaction.commit()?;
    Ok(())
}

/// Returns the name of a run of a script's commands: the script, or the program that was started.
fn script_name(command: &[OsString]) -> String {
    let base = |word: &OsString| Path::new(word).file_name().unwrap_or(word).to_string_lossy().into_owned();
    let program = command.first().map(base).unwrap_or_default();
    let is_shell = matches!(program.as_str(), "sh" | "bash" | "dash" | "ksh" | "zsh");
    // `sh -x all.sh`; `sh -c COMMANDS` has no script.
    let options = |word: &&OsString| word.as_encoded_bytes().starts_with(b"-");
    let is_text = command.iter().skip(1).take_while(options).any(|word| word.as_encoded_bytes().ends_with(b"c"));
    let script = command.iter().skip(1).find(|word| !options(word)).filter(|_| is_shell && !is_text);
    script.map_or(program, base)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_has_the_name_of_its_script_or_program() {
        let name = |words: &[&str]| script_name(&words.iter().map(Into::into).collect::<Vec<_>>());
        assert_eq!(name(&["/bin/sh", "-x", "steps/all.sh", "a"]), "all.sh");
        assert_eq!(name(&["bash", "-c", "make all"]), "bash");
        assert_eq!(name(&["/usr/bin/make", "all.sh"]), "make");
        assert_eq!(name(&[]), "");
    }
}

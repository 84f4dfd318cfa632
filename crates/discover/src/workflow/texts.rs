//! Commands and paths as they were executed.
//!
//! Tables hold text in which a byte that is not UTF-8 is `\xNN`, and the backslash of a literal
//! `\x` is `\x5c` ([`flowmine_text`]). A workflow needs the original bytes, and its languages allow
//! UTF-8 only.

use super::{Workflow, WorkflowError};

/// Restores the original bytes of all commands and paths of a workflow.
///
/// # Errors
/// [`WorkflowError`] if the bytes are not UTF-8. Names of activities then stay as in the tables.
pub(super) fn give_back(workflow: &mut Workflow) -> Result<(), WorkflowError> {
    for task in &mut workflow.tasks {
        let name = &task.name;
        let give = |text: &mut String, what| match plain(text) {
            Some(bytes) => {
                *text = bytes;
                Ok(())
            }
            None => Err(WorkflowError::NotText { what, task: name.clone(), text: text.clone() }),
        };
        give(&mut task.command, "the command of")?;
        task.directory.iter_mut().try_for_each(|path| give(path, "the directory of"))?;
        task.inputs.iter_mut().chain(&mut task.outputs).try_for_each(|path| give(path, "a file of"))?;
        task.activity = plain(&task.activity).unwrap_or_else(|| task.activity.clone());
    }
    workflow.directory = workflow.directory.take().map(|path| plain(&path).unwrap_or(path));
    // Paths in these lists that are not UTF-8 are not files of a task.
    for paths in [&mut workflow.removed, &mut workflow.was_there] {
        *paths = paths.iter().filter_map(|path| plain(path)).collect();
    }
    Ok(())
}

/// Decodes the text of a table.
fn plain(text: &str) -> Option<String> {
    String::from_utf8(flowmine_text::encode(text)).ok()
}

#[cfg(test)]
mod tests {
    use super::super::WorkflowTask;
    use super::*;

    fn workflow(command: &[u8]) -> Workflow {
        let task = WorkflowTask { command: flowmine_text::decode(command).into_owned(), ..WorkflowTask::default() };
        Workflow { tasks: vec![task], ..Workflow::default() }
    }

    #[test]
    fn a_literal_escape_is_text_and_a_byte_is_none() {
        for command in ["printf '\\x41'", "printf '\\x5cx41'", "cp é \\x", "a\\\\x41"] {
            let mut made = workflow(command.as_bytes());
            assert_eq!((give_back(&mut made), &*made.tasks[0].command), (Ok(()), command));
        }
        let mut made = workflow(b"cp in.txt 'caf\xe9'");
        assert!(matches!(give_back(&mut made), Err(WorkflowError::NotText { text, .. }) if text.contains("caf\\xe9")));
        made.tasks[0].command.clear();
        made.tasks[0].outputs = vec!["\\xff".to_owned()];
        assert!(give_back(&mut made).is_err());
    }
}

//! Steps of an engine around the command of a task, as part of the command.
//!
//! Snakemake makes the directories of a task's outputs and log files, touches the outputs that are
//! `touch()`, and fails if an output is missing. Other engines do not.

use std::collections::BTreeSet;

use flowmine_activity_log::{EngineSteps, RunTask};

use super::{WorkflowError, quoted};

/// Returns the command of a task with the steps of its engine.
pub(super) fn command(task: &RunTask) -> String {
    let command = task.command.clone().unwrap_or_default();
    let Some(steps) = &task.engine_steps else { return command };
    let outputs = || task.outputs.iter().flatten();
    let directories: BTreeSet<&str> =
        outputs().chain(&steps.logs).filter_map(|path| Some(path.rsplit_once('/')?.0)).filter(|above| !above.is_empty()).collect();
    let mut parts = Vec::new();
    if !directories.is_empty() {
        parts.push(format!("mkdir -p -- {}", words(directories)));
    }
    parts.push(command);
    if !steps.touched.is_empty() {
        parts.push(format!("touch -- {}", words(steps.touched.iter().map(String::as_str))));
    }
    parts.extend(outputs().filter(|path| !steps.touched.contains(path)).map(|path| format!("test -e {}", quoted(path))));
    parts.join(" && ")
}

fn words<'p>(paths: impl IntoIterator<Item = &'p str>) -> String {
    paths.into_iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// Refuses outputs that are not regular files, such as Snakemake's pipes.
pub(super) fn refuse(task: &RunTask) -> Result<(), WorkflowError> {
    match task.engine_steps.as_ref().and_then(|EngineSteps { special, .. }| special.first()) {
        Some((path, kind)) => Err(WorkflowError::Special { task: task.name.clone(), path: path.clone(), kind: kind.clone() }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_come_before_and_outputs_after() {
        let list = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>();
        let mut task =
            RunTask { command: Some("do".to_owned()), outputs: Some(list(&["d/x/o", "d/it's", "flag", "/abs"])), ..RunTask::default() };
        assert_eq!(command(&task), "do");
        task.engine_steps = Some(EngineSteps { logs: list(&["logs/l", "d/m"]), touched: list(&["flag"]), ..EngineSteps::default() });
        assert_eq!(
            command(&task),
            "mkdir -p -- 'd' 'd/x' 'logs' && do && touch -- 'flag' && test -e 'd/x/o' && test -e 'd/it'\\''s' && test -e '/abs'"
        );
        assert_eq!(refuse(&task), Ok(()));
        task.engine_steps = Some(EngineSteps { special: vec![("p".to_owned(), "pipe".to_owned())], ..EngineSteps::default() });
        assert!(matches!(refuse(&task), Err(WorkflowError::Special { .. })));
    }
}

//! The tasks as a workflow, in the languages in which runs are written too.

use flowmine_dataset::host_folder;
use flowmine_discover::pictures::workflow as language;
use flowmine_discover::workflow::{Workflow, WorkflowTask, quoted};

use super::work::MERGED;
use super::{PARTIALS, PLAN, Plan};
use crate::error::Result;

/// The missing tasks and the merge, relative to the directory of the plan.
fn workflow(plan: &Plan, missing: &[usize], program: &str) -> Workflow {
    let command = |task: &str| format!("{} work {PLAN} {task}", quoted(program));
    let manifest = |host: &String| format!("{PARTIALS}/{}/partial.json", host_folder(host));
    let mut tasks: Vec<WorkflowTask> = Vec::new();
    for number in missing {
        let hosts = number.checked_sub(1).and_then(|at| plan.tasks.get(at)).into_iter().flatten();
        tasks.push(WorkflowTask {
            name: format!("partial {number}"),
            activity: "partial".to_owned(),
            command: command(&number.to_string()),
            inputs: vec![PLAN.to_owned()],
            outputs: hosts.map(manifest).collect(),
            ..WorkflowTask::default()
        });
    }
    let inputs = std::iter::once(PLAN.to_owned()).chain(tasks.iter().flat_map(|task| task.outputs.clone())).collect();
    tasks.push(WorkflowTask {
        name: "merge".to_owned(),
        activity: "merge".to_owned(),
        command: command("merge"),
        inputs,
        outputs: vec![MERGED.to_owned()],
        after: (0..tasks.len()).collect(),
        ..WorkflowTask::default()
    });
    Workflow { run: "correlate".to_owned(), tasks, ..Workflow::default() }
}

/// The workflow for Makeflow, in JX.
pub(super) fn makeflow(plan: &Plan, missing: &[usize], program: &str) -> Result<String> {
    Ok(language::makeflow(&workflow(plan, missing, program))?)
}

/// The workflow for Snakemake.
pub(super) fn snakemake(plan: &Plan, missing: &[usize], program: &str) -> Result<String> {
    Ok(language::snakemake(&workflow(plan, missing, program))?)
}

//! The workflow in work directories as Nextflow makes them (`tests/workflows/nextflow.sh`, which says what it is not).

use std::fmt::Write as _;

use super::place::Place;
use super::workflow::Task;

/// The file with a task's own commands in its work directory.
pub const SCRIPT: &str = ".command.sh";

/// What is in it.
pub fn script(command: &str) -> String {
    format!("#!/bin/bash -ue\n{command}\n")
}

/// The command that runs it, some tasks in containers. `state` is a folder that all tasks share.
pub fn command(place: &Place, tasks: &[Task], boxed: fn(&str) -> bool) -> [String; 3] {
    let mut plan = String::new();
    for task in tasks {
        let kind = if boxed(&task.name) { "box" } else { "-" };
        writeln!(plan, "{}\t{} state\t{}\t{kind}\t{}", task.name, task.inputs.join(" "), task.outputs.join(" "), place.work(task)).unwrap();
    }
    std::fs::write(place.run().join("flow.nf"), &plan).unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/workflows/nextflow.sh");
    std::fs::copy(script, place.dir.join("bin/nextflow")).unwrap();
    ["/bin/bash".to_owned(), place.dir.join("bin/nextflow").display().to_string(), "flow.nf".to_owned()]
}

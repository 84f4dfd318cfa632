//! The workflow as a Makeflow.

use std::fmt::Write as _;

pub use crate::support::makeflow::makeflow_is_there as present;

use super::place::Place;
use super::workflow::Task;

/// The log that it writes.
pub const LOG: &str = "flow.makeflow.makeflowlog";

/// Writes the workflow; `command` gives each task's.
pub fn write(place: &Place, tasks: &[Task], command: impl Fn(&Task) -> String) {
    let mut text = String::new();
    for task in tasks {
        let (outputs, inputs) = (task.outputs.join(" "), task.inputs.join(" "));
        writeln!(text, ".MAKEFLOW CATEGORY {}\n{outputs}: {inputs}\n\t{}\n", task.name, command(task)).unwrap();
    }
    std::fs::write(place.run().join("flow.makeflow"), text).unwrap();
}

/// The command that runs it.
pub fn command(batch: &str) -> [&str; 8] {
    ["makeflow", "-T", batch, "--log-verbose", "--retry-count=2", "--local-cores=2", "--max-remote=8", "flow.makeflow"]
}

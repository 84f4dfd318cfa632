//! The workflow as a Makeflow.

use std::fmt::Write as _;
use std::process::Command;

use super::place::Place;
use super::workflow::Task;

/// The log that it writes.
pub const LOG: &str = "flow.makeflow.makeflowlog";

/// Whether Makeflow runs here: without Open MPI it does not start.
pub fn present() -> bool {
    let version = Command::new("makeflow").arg("--version").output();
    super::require("makeflow", "makeflow (coop-computing-tools, openmpi-bin)", version.is_ok_and(|output| output.status.success()))
}

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

//! Where Slurm's commands run in a build without SSH.

use flowmine_extract_slurm::runner::{Local, Runner};

use super::LoginNode;
use crate::error::{Result, ensure};
use crate::sink::Sink;

/// Returns this machine.
///
/// # Errors
/// When a login node is asked for.
pub fn runner(node: Option<&LoginNode>, _: &dyn Sink) -> Result<Box<dyn Runner>> {
    ensure!(
        node.is_none(),
        "this flowmine was built without SSH (the feature `ssh`), so that --ssh cannot work: run it on the login node, or build it with that feature"
    );
    Ok(Box::new(Local))
}

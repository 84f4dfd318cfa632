//! `flowmine observe` in a build without SSH.

use flowmine_extract_slurm::runner::{Local, Runner};

use crate::args::Ssh;

/// This machine, or why no other can be reached.
pub fn runner(ssh: &Ssh) -> anyhow::Result<Box<dyn Runner>> {
    anyhow::ensure!(
        ssh.target.is_none(),
        "this flowmine was built without SSH (the feature `ssh`), so that --ssh cannot work: run it on the login node, or build it with that feature"
    );
    Ok(Box::new(Local))
}

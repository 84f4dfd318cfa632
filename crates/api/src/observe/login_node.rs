//! Where Slurm's commands run: on this machine or over SSH. A build without SSH has
//! `without/login_node.rs` in this place.

use flowmine_extract_slurm::runner::{Local, Runner};
use flowmine_extract_slurm::ssh::config::typed_jumps;
use flowmine_extract_slurm::ssh::{HostKeyPolicy, PassphraseSource, SshOptions, SshRunner, Target};

use super::LoginNode;
use crate::error::Result;
use crate::sink::Sink;

/// Returns what runs commands there; over SSH it is connected and logged in.
///
/// # Errors
/// When the node cannot be reached.
pub fn runner(node: Option<&LoginNode>, sink: &dyn Sink) -> Result<Box<dyn Runner>> {
    let Some(node) = node else { return Ok(Box::new(Local)) };
    let target = Target::parse(&node.target)?;
    let options = SshOptions {
        config_file: node.config.clone(),
        jumps: node.jump.as_deref().map(typed_jumps).transpose()?,
        identity_files: node.identities.clone(),
        passphrase: match node.passphrase_fd {
            Some(fd) => PassphraseSource::Fd(fd),
            None => PassphraseSource::Terminal,
        },
        host_keys: if node.accept_new { HostKeyPolicy::AcceptNew } else { HostKeyPolicy::Strict },
        ..SshOptions::default()
    };
    let mut runner = SshRunner::new(&target, options)?;
    runner.open()?;
    for warning in runner.warnings() {
        sink.warning(warning);
    }
    Ok(Box::new(runner))
}

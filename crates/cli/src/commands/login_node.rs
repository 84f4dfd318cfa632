//! Where `flowmine observe` runs its commands: on this machine or over SSH. A build without SSH has
//! `without/login_node.rs` in this place.

use flowmine_extract_slurm::runner::{Local, Runner};
use flowmine_extract_slurm::ssh::config::typed_jumps;
use flowmine_extract_slurm::ssh::{HostKeyPolicy, PassphraseSource, SshOptions, SshRunner, Target};

use crate::args::Ssh;
use crate::messages;

/// What runs commands there; over SSH it is connected and logged in.
pub fn runner(ssh: &Ssh) -> anyhow::Result<Box<dyn Runner>> {
    let Some(target) = &ssh.target else { return Ok(Box::new(Local)) };
    let target = Target::parse(target)?;
    let options = SshOptions {
        config_file: ssh.config.clone(),
        jumps: ssh.jump.as_deref().map(typed_jumps).transpose()?,
        identity_files: ssh.identities.clone(),
        passphrase: match ssh.passphrase_fd {
            Some(fd) => PassphraseSource::Fd(fd),
            None => PassphraseSource::Terminal,
        },
        host_keys: if ssh.accept_new { HostKeyPolicy::AcceptNew } else { HostKeyPolicy::Strict },
        ..SshOptions::default()
    };
    let mut runner = SshRunner::new(&target, options)?;
    runner.open()?;
    for warning in runner.warnings() {
        messages::warning(warning);
    }
    Ok(Box::new(runner))
}

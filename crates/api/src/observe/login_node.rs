//! Where Slurm's commands run: on this machine or over SSH. A build without SSH has
//! `without/login_node.rs` in this place.

use flowmine_extract_slurm::runner::{Local, Runner};
use std::path::{Path, PathBuf};

use flowmine_extract_slurm::ssh::config::{Source, Surroundings, beyond, typed_jumps};
use flowmine_extract_slurm::ssh::{HostKeyPolicy, PassphraseSource, ProgramRunner, SshOptions, SshRunner, Target};
use flowmine_schema::text::visible;

use super::LoginNode;
use crate::error::{Error, Result};
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
    if let Some(program) = program(node, &target, &options, sink)? {
        let mut runner = ProgramRunner::new(program, &target, &options).map_err(Error::LoginNode)?;
        runner.open().map_err(Error::LoginNode)?;
        return Ok(Box::new(runner));
    }
    let mut runner = SshRunner::new(&target, options)?;
    runner.open()?;
    for warning in runner.warnings() {
        sink.warning(warning);
    }
    Ok(Box::new(runner))
}

/// The ssh program, where the user names one or the configuration needs one that is there. A
/// passphrase from a file descriptor is for libssh2.
fn program(node: &LoginNode, target: &Target, options: &SshOptions, sink: &dyn Sink) -> Result<Option<PathBuf>> {
    if node.command.is_some() || node.passphrase_fd.is_some() {
        return Ok(node.command.clone());
    }
    let surroundings = Surroundings::of_this_process();
    let sources = Source::usual(options.config_file.as_deref(), &surroundings);
    let Some(line) = beyond(target, options.jumps.as_deref(), &sources, &surroundings)? else { return Ok(None) };
    let Some(program) = on_path("ssh") else { return Ok(None) };
    let shown = visible(&program.to_string_lossy()).into_owned();
    sink.note(&format!("{}: {} needs the ssh program: {shown} is used", line.place, line.keyword));
    Ok(Some(program))
}

/// The program of this name in the folders of PATH.
fn on_path(name: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).filter(|folder| folder.is_absolute()).map(|folder| folder.join(name)).find(|path| is_program(path))
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

//! What a request asks of a trace, as backends understand it.

use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use flowmine_attribution::rules::environment::VARIABLES;
use flowmine_schema::text::visible;
use flowmine_trace::{CommandLines, Detail, Options, privileges};

use super::{Filters, Recording};
use crate::error::{Context, Result, ensure, refuse};
use crate::sink::Sink;

/// Returns the options of a trace.
///
/// # Errors
/// When there is no such process or directory, or the caller may not trace it.
pub fn options(command: &[OsString], recording: &Recording, sink: &dyn Sink) -> Result<Options> {
    let filters = &recording.filters;
    let only_user = only_user(command, recording)?;
    if let Some(pid) = filters.pids.iter().find(|pid| !Path::new("/proc").join(pid.to_string()).exists()) {
        refuse!("there is no process {pid}");
    }
    if let Some(name) = filters.file_systems.iter().find(|name| !is_known_file_system(name)) {
        sink.warning(&format!("this kernel knows no file system of type {}, and none is mounted", visible(name)));
    }
    let is_of_host = command.is_empty() && recording.serve.is_none();
    // With process numbers and a command there are processes of others beside it.
    let has_others = command.is_empty() || !filters.pids.is_empty();
    Ok(Options {
        detail: recording.detail.unwrap_or(if is_of_host { Detail::Totals } else { Detail::Events }),
        filters: Filters {
            uids: only_user.map_or_else(|| filters.uids.clone(), |user| vec![user]),
            directories: real(&filters.directories)?,
            directories_out: real(&filters.directories_out)?,
            ..filters.clone()
        },
        environment: match &recording.environment {
            Some(names) => names.iter().filter(|name| !name.is_empty()).cloned().collect(),
            None => VARIABLES.iter().map(|name| (*name).to_owned()).collect(),
        },
        command_lines: recording.command_lines.unwrap_or(if has_others { CommandLines::Program } else { CommandLines::All }),
        only_user,
        ring_bytes: recording.ring_bytes,
        flush_every: recording.flush_every,
        serve: recording.serve.clone(),
        ..Options::default()
    })
}

/// Returns paths without symbolic links, as records have them.
fn real(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    paths.iter().map(|path| std::fs::canonicalize(path).with_context(|| path.display().to_string())).collect()
}

/// With rights that the program has by its file: returns the user, whose processes may be traced.
fn only_user(command: &[OsString], recording: &Recording) -> Result<Option<u32>> {
    let Some(user) = privileges::lent_to() else { return Ok(None) };
    let filters = &recording.filters;
    ensure!(
        !command.is_empty() || !filters.pids.is_empty() || recording.serve.is_some(),
        "this program has its rights by its file (setcap): then a user may trace a command that he starts or processes of his own (--pid), not the whole host; root may"
    );
    let owner = |pid: &u32| std::fs::metadata(Path::new("/proc").join(pid.to_string())).ok().map(|about| about.uid());
    if let Some(pid) = filters.pids.iter().find(|pid| owner(pid) != Some(user)) {
        refuse!(
            "process {pid} is not yours: this program has its rights by its file (setcap), and with these a user may trace his own processes only"
        );
    }
    ensure!(
        filters.uids.iter().all(|other| *other == user),
        "this program has its rights by its file (setcap): with these users may trace their own processes only, and --user cannot change that"
    );
    Ok(Some(user))
}

/// Whether a type of file systems is mounted or listed in `/proc/filesystems`, which lacks what
/// comes with modules that are not loaded.
fn is_known_file_system(name: &str) -> bool {
    let text = |path: &str| flowmine_files::kernel::read_to_string(path).unwrap_or_default();
    let mounted = text("/proc/self/mounts").lines().any(|line| line.split(' ').nth(2) == Some(name));
    mounted || text("/proc/filesystems").lines().any(|line| line.split('\t').next_back() == Some(name))
}

//! `flowmine trace`.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, bail};
use flowmine_extract_ebpf::host::HostFacts;
use flowmine_extract_ebpf::options::Filters;
use flowmine_extract_ebpf::probe::{self, Wanted};
use flowmine_extract_ebpf::{Detail, Options};
use flowmine_schema::Dataset;
use flowmine_schema::dataset::Role;

use crate::args::{BackendArg, DetailArg, HooksArg, Trace};
use crate::{Outcome, messages};

/// Traces a command, or the host until a signal.
pub fn run(args: &Trace) -> anyhow::Result<Outcome> {
    let options = options(args)?;
    let backend = backend(args)?;
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, stop.clone()).context("cannot handle signals")?;
    }
    let mut host = HostFacts::read(Path::new("/proc"));
    if let Some(name) = &args.host {
        host.name.clone_from(name);
    }
    let dataset = Dataset::open_or_create(&args.dataset)?;
    let mut writer = dataset.writer(Role::Host(host.name.clone()), &format!("trace, process {}", std::process::id()))?;
    let _ = (&options, backend, &mut writer);
    bail!("no way in yet")
}

/// Which way in: the one that was asked for, or the best.
fn backend(args: &Trace) -> anyhow::Result<&'static str> {
    let command = !args.command.is_empty();
    match args.backend {
        BackendArg::Ebpf => Ok("ebpf"),
        BackendArg::Fuse | BackendArg::Ptrace if !command => {
            bail!("this way in can only trace a command that it starts: flowmine trace … -- COMMAND")
        }
        BackendArg::Fuse => Ok("fuse"),
        BackendArg::Ptrace => Ok("ptrace"),
        BackendArg::Auto => {
            let wanted = Wanted { command, directories: !args.filters.directory.is_empty() };
            let (backend, why) = probe::choose(&[], wanted).map_err(anyhow::Error::msg)?;
            messages::note(&format!("flowmine: tracing with {why}"));
            Ok(backend)
        }
    }
}

fn options(args: &Trace) -> anyhow::Result<Options> {
    let filters = &args.filters;
    // Paths in records are without symbolic links; a filter must be so too.
    let real = |paths: &[std::path::PathBuf]| {
        paths.iter().map(|path| std::fs::canonicalize(path).with_context(|| path.display().to_string())).collect::<anyhow::Result<Vec<_>>>()
    };
    let detail = match args.detail {
        Some(DetailArg::Events) => Detail::Events,
        Some(DetailArg::Totals) => Detail::Totals,
        None if args.command.is_empty() => Detail::Totals,
        None => Detail::Events,
    };
    Ok(Options {
        detail,
        filters: Filters {
            cgroups: filters.cgroup.clone(),
            pids: filters.pid.clone(),
            uids: filters.user.clone(),
            gids: filters.group.clone(),
            file_systems: filters.file_system.clone(),
            file_systems_out: filters.not_file_system.clone(),
            ops: filters.op.clone(),
            directories: real(&filters.directory)?,
            directories_out: real(&filters.not_directory)?,
        },
        environment: args.environ.iter().filter(|name| !name.is_empty()).cloned().collect(),
        ring_bytes: args.ring,
        flush_every: args.flush,
        ..Options::default()
    })
}

#[allow(dead_code)]
fn hooks(args: &Trace) -> Option<&'static str> {
    match args.hooks {
        HooksArg::Auto => None,
        HooksArg::Vfs => Some("vfs"),
        HooksArg::Syscalls => Some("syscalls"),
    }
}

//! `flowmine trace`.

use std::path::Path;

use anyhow::{Context, bail};
use flowmine_correlate::rules::environment::VARIABLES;
use flowmine_extract_ebpf::command::shell_code;
use flowmine_extract_ebpf::ebpf::{self, Hooks};
use flowmine_extract_ebpf::fuse;
use flowmine_extract_ebpf::host::HostFacts;
use flowmine_extract_ebpf::options::Filters;
use flowmine_extract_ebpf::probe::{self, Wanted};
use flowmine_extract_ebpf::ptrace;
use flowmine_extract_ebpf::recorder as trace;
use flowmine_extract_ebpf::stop::Stop;
use flowmine_extract_ebpf::{Detail, Options};
use flowmine_schema::dataset::Role;
use flowmine_schema::text::visible;
use flowmine_schema::{Access, Dataset};

use crate::args::{BackendArg, DetailArg, HooksArg, Trace};
use crate::{Outcome, messages};

/// Traces a command, or the host until a signal.
pub fn run(args: &Trace) -> anyhow::Result<Outcome> {
    let options = options(args)?;
    let backend = backend(args, &options.filters)?;
    let stop = stop(args)?;
    let mut host = HostFacts::read(Path::new("/proc"));
    if let Some(name) = &args.host {
        host.name.clone_from(name);
    }
    let dataset = Dataset::open_or_create_with(&args.dataset, if args.shared { Access::Umask } else { Access::Private })?;
    let writer = dataset.writer(Role::Host(host.name.clone()), &format!("trace, process {}", std::process::id()))?;
    let ended = match backend {
        "ebpf" => {
            let plan = ebpf_plan(args)?;
            ebpf::run(&plan, &args.command, &options, host, writer, &stop, |tracer| begun(tracer, args))?
        }
        "fuse" => fuse::trace(&args.command, &options, host, writer, &stop)?,
        _ => ptrace::run(&args.command, &options, host, writer, &stop)?,
    };
    tell(&ended.outcome, &options);
    Ok(match ended.status.map(shell_code) {
        None | Some(0) if ended.outcome.lost > 0 => Outcome::WithLosses,
        None | Some(0) => Outcome::Clean,
        Some(code) => Outcome::Code(code),
    })
}

fn stop(args: &Trace) -> anyhow::Result<Stop> {
    let stop = Stop { on_terminal: messages::on_terminal(), duration: args.duration, ..Stop::never() };
    signal_hook::flag::register(signal_hook::consts::SIGTERM, stop.terminated.clone()).context("cannot handle signals")?;
    signal_hook::flag::register(signal_hook::consts::SIGINT, stop.interrupted.clone()).context("cannot handle signals")?;
    Ok(stop)
}

/// Says that it sees what happens from now on, and what it will not see.
fn begun(tracer: &ebpf::Tracer, args: &Trace) {
    if !tracer.refused().is_empty() {
        messages::warning(&format!("not everything can be seen here: {}", tracer.refused().join("; ")));
    }
    if args.command.is_empty() {
        let hooks = tracer.way_in().hooks.unwrap_or_default();
        messages::note(&format!("flowmine: this host is being traced (eBPF, {hooks}); SIGINT or SIGTERM ends it"));
    }
}

/// Says what was recorded when somebody watches, and what was lost in any case.
fn tell(outcome: &trace::Outcome, options: &Options) {
    if messages::on_terminal() {
        let rows = match options.detail {
            Detail::Events => format!("{} operations", outcome.events),
            Detail::Totals => {
                format!("{} operations, {} of them in {} sums", outcome.received, outcome.received - outcome.events, outcome.totals)
            }
        };
        messages::note(&format!("flowmine: {rows} of {} processes recorded", outcome.processes));
    }
    if outcome.lost > 0 {
        let most = outcome.counted.map_or(String::new(), |counted| format!(" of {counted} operations"));
        messages::warning(&format!(
            "{} records{most} were lost; the table `losses` tells which and when. A larger ring (--ring), --detail totals or filters lose less",
            outcome.lost
        ));
    }
}

fn ebpf_plan(args: &Trace) -> anyhow::Result<ebpf::Plan> {
    let facts = ebpf::Facts::read(Path::new("/proc"), Path::new("/sys"));
    let tried: &[Option<Hooks>] = match args.hooks {
        HooksArg::Auto => &[None],
        HooksArg::Syscalls => &[Some(Hooks::Syscalls)],
        HooksArg::Vfs => &[Some(Hooks::VfsEntry), Some(Hooks::VfsKprobe)],
        HooksArg::VfsKprobe => &[Some(Hooks::VfsKprobe)],
    };
    let mut missing = Vec::new();
    for hooks in tried {
        match ebpf::choose(&facts, *hooks) {
            Ok(plan) => return Ok(plan),
            Err(reasons) => missing.extend(reasons),
        }
    }
    missing.dedup();
    bail!("eBPF does not work here: {}; `flowmine doctor` shows what would help", missing.join("; "))
}

/// Whether a type of file systems is mounted or stands in `/proc/filesystems`, which lacks what comes with modules that are not loaded.
fn is_known_file_system(name: &str) -> bool {
    let text = |path| std::fs::read_to_string(path).unwrap_or_default();
    let mounted = text("/proc/self/mounts").lines().any(|line| line.split(' ').nth(2) == Some(name));
    mounted || text("/proc/filesystems").lines().any(|line| line.split('\t').next_back() == Some(name))
}

/// Which way in: the one that was asked for, or the best.
fn backend(args: &Trace, filters: &Filters) -> anyhow::Result<&'static str> {
    let command = !args.command.is_empty();
    match args.backend {
        BackendArg::Ebpf => Ok("ebpf"),
        BackendArg::Fuse | BackendArg::Ptrace if !command => {
            bail!("this way in can only trace a command that it starts: flowmine trace … -- COMMAND")
        }
        BackendArg::Fuse => Ok("fuse"),
        BackendArg::Ptrace => Ok("ptrace"),
        BackendArg::Auto => {
            let directories = !filters.directories.is_empty() && !filters.directories.iter().any(|directory| directory == Path::new("/"));
            let wanted = Wanted { command, directories };
            let (backend, why) = probe::choose(&probe::verdicts(), wanted).map_err(anyhow::Error::msg)?;
            messages::note(&format!("flowmine: tracing with {why}"));
            Ok(backend)
        }
    }
}

fn options(args: &Trace) -> anyhow::Result<Options> {
    let filters = &args.filters;
    if let Some(pid) = filters.pid.iter().find(|pid| !Path::new("/proc").join(pid.to_string()).exists()) {
        bail!("there is no process {pid}");
    }
    if let Some(name) = filters.file_system.iter().find(|name| !is_known_file_system(name)) {
        messages::warning(&format!("this kernel knows no file system of type {}, and none is mounted", visible(name)));
    }
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
        environment: match &args.environ {
            Some(names) => names.iter().filter(|name| !name.is_empty()).cloned().collect(),
            None => VARIABLES.iter().map(|name| (*name).to_owned()).collect(),
        },
        ring_bytes: args.ring,
        flush_every: args.flush,
        ..Options::default()
    })
}

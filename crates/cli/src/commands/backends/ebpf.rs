//! eBPF: programs in the kernel, which see every process of the host.

use std::path::Path;

use anyhow::bail;
use flowmine_dataset::Writer;
use flowmine_extract_ebpf::{self as ebpf, Facts, Hooks, Plan, Tracer};
use flowmine_trace::Options;
use flowmine_trace::host::HostFacts;
use flowmine_trace::stop::{Ended, Stop};

use super::backend::Backend;
use crate::args::{HooksArg, Trace};
use crate::messages;

/// The backend that traces by eBPF.
pub const BACKEND: Backend = Backend { name: "ebpf", verdict: || ebpf::verdict(&facts()), run, room: ebpf::ROOM, lent: ebpf::LENT };

fn facts() -> Facts {
    Facts::read(Path::new("/proc"), Path::new("/sys"))
}

fn run(args: &Trace, options: &Options, host: HostFacts, writer: Writer, stop: &Stop) -> anyhow::Result<Ended> {
    Ok(ebpf::run(&plan(args)?, &args.command, options, host, writer, stop, |tracer| begun(tracer, args))?)
}

fn plan(args: &Trace) -> anyhow::Result<Plan> {
    let facts = facts();
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

/// Says that it sees what happens from now on, and what it will not see.
fn begun(tracer: &Tracer, args: &Trace) {
    if !tracer.refused().is_empty() {
        // The kernel's verifier says what it looked at, in hundreds of lines.
        let refused: Vec<&str> = tracer.refused().iter().filter_map(|why| why.split(". Verifier output").next()).collect();
        messages::warning(&format!("not everything can be seen here: {}", refused.join("; ")));
    }
    if args.command.is_empty() {
        let hooks = tracer.backend().hooks.unwrap_or_default();
        let what = match &args.serve {
            Some(socket) => format!("commands that join at {} are", socket.display()),
            None => "this host is".to_owned(),
        };
        messages::note(&format!("flowmine: {what} being traced (eBPF, {hooks}); SIGINT or SIGTERM ends it"));
    }
}

//! eBPF: programs in the kernel, which see every process of the host.

use super::backend::Backend;

/// The backend that traces by eBPF.
pub const BACKEND: Backend = Backend {
    name: "ebpf",
    about: "Programs in the kernel. Sees every process; can lose records, and counts them",
    suits: |_| true,
    only_commands: false,
    serves: true,
    #[cfg(feature = "ebpf")]
    built: Some(program::BUILT),
    #[cfg(not(feature = "ebpf"))]
    built: None,
};

#[cfg(feature = "ebpf")]
mod program {
    use std::path::Path;

    use flowmine_extract_ebpf::{self as ebpf, Facts, Plan, Tracer};
    use flowmine_trace::stop::Ended;

    use super::super::backend::{Built, Job};
    use crate::error::{Result, refuse};
    use crate::trace::Hooks;

    pub const BUILT: Built = Built { verdict: || ebpf::verdict(&facts()), run, room: ebpf::ROOM, lent: ebpf::LENT };

    fn facts() -> Facts {
        Facts::read(Path::new("/proc"), Path::new("/sys"))
    }

    fn run(job: Job<'_>) -> Result<Ended> {
        let plan = plan(job.hooks)?;
        let Job { command, options, host, writer, stop, .. } = job;
        let begun = |tracer: &Tracer| begun(tracer, command.is_empty(), options, job.sink);
        Ok(ebpf::run(&plan, command, options, host, writer, stop, begun)?)
    }

    fn plan(hooks: Hooks) -> Result<Plan> {
        let facts = facts();
        let tried: &[Option<ebpf::Hooks>] = match hooks {
            Hooks::Auto => &[None],
            Hooks::Syscalls => &[Some(ebpf::Hooks::Syscalls)],
            Hooks::Vfs => &[Some(ebpf::Hooks::VfsEntry), Some(ebpf::Hooks::VfsKprobe)],
            Hooks::VfsKprobe => &[Some(ebpf::Hooks::VfsKprobe)],
        };
        let mut missing = Vec::new();
        for hooks in tried {
            match ebpf::choose(&facts, *hooks) {
                Ok(plan) => return Ok(plan),
                Err(reasons) => missing.extend(reasons),
            }
        }
        missing.dedup();
        refuse!("eBPF does not work here: {}; `flowmine doctor` shows what would help", missing.join("; "))
    }

    /// Reports that the trace sees what happens from now on, and what it will not see.
    fn begun(tracer: &Tracer, has_no_command: bool, options: &flowmine_trace::Options, sink: &dyn crate::Sink) {
        if !tracer.refused().is_empty() {
            // The kernel's verifier reports what it read, in hundreds of lines.
            let refused: Vec<&str> = tracer.refused().iter().filter_map(|why| why.split(". Verifier output").next()).collect();
            sink.warning(&format!("not everything can be seen here: {}", refused.join("; ")));
        }
        if has_no_command {
            let hooks = tracer.backend().hooks.unwrap_or_default();
            let what = match &options.serve {
                Some(socket) => format!("commands that join at {} are", socket.display()),
                None => "this host is".to_owned(),
            };
            sink.message(crate::Message::Begun(&format!("{what} being traced (eBPF, {hooks}); SIGINT or SIGTERM ends it")));
        }
    }
}

//! What is loaded, decided from [`Facts`] alone.

use flowmine_trace::probe::{Check, Verdict};

use crate::facts::{Facts, Try, capability};

/// Which hooks report the operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hooks {
    /// Tracepoints of system calls; files are found through their descriptors.
    Syscalls,
    /// These, and functions of the virtual file system by fentry, which report the files
    /// themselves.
    VfsEntry,
    /// The tracepoints and functions of `VfsEntry`, the functions by kprobes.
    VfsKprobe,
}

impl Hooks {
    /// The name of the hooks, as in the column `hooks` of `hosts`.
    pub fn name(self) -> &'static str {
        match self {
            Hooks::Syscalls => "syscalls",
            Hooks::VfsEntry => "vfs-fentry",
            Hooks::VfsKprobe => "vfs-kprobe",
        }
    }
}

/// Where the arguments of hooks lie on this kernel, see `bpf/settings.h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Layout {
    /// Position of the dentry among the arguments of vfs_unlink.
    pub unlink_dentry: u8,
    /// Position of the dentry among the arguments of vfs_link.
    pub link_dentry: u8,
    /// The arguments of vfs_rename are in one structure.
    pub rename_is_struct: bool,
    /// Otherwise the position of its first dentry.
    pub rename_dentry: u8,
    /// Position of the dentry among the arguments of do_truncate.
    pub truncate_dentry: u8,
    /// Position of the request among the arguments of the submission tracepoint of io_uring.
    pub submit_request: u8,
    /// What the completion tracepoint reports: 0 only user data, 1 the request, 2 the request and
    /// the completion.
    pub complete_form: u8,
    /// Whether sched_process_exit reports whether the thread group is dead.
    pub exit_tells_group: bool,
}

/// Which programs are loaded, and how they are set up for this kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Which hooks report the operations.
    pub hooks: Hooks,
    /// Whether calls that have begun are kept in task storage and not in a hash.
    pub task_storage: bool,
    /// The current task with its type.
    pub typed_task: bool,
    /// The number of bpf_rdonly_cast in the kernel's types, where that works.
    pub cast: Option<u32>,
    /// Iterators read in what is there when tracing starts.
    pub iterators: bool,
    /// Where the arguments lie that hooks read.
    pub layout: Layout,
    /// Existing tracepoints other than those of system calls.
    pub tracepoints: Vec<String>,
    /// Kernel functions to attach to that this kernel has.
    pub functions: Vec<String>,
}

/// What is needed for what, for a command that gives up the rest after start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Need {
    /// Number of the capability, as in [`capability`].
    pub capability: u32,
    /// Name of the capability, such as `CAP_BPF`.
    pub name: &'static str,
    /// What the capability is needed for.
    pub why: &'static str,
    /// Whether it is still needed when the programs are attached.
    pub later: bool,
}

/// Capabilities that this backend uses. After start none of them is needed for what the kernel
/// sends: the ring is mapped memory and tables are read through descriptors that are open; but
/// since 5.8 changing a table by bpf(2) takes CAP_BPF where unprivileged use is off.
pub const NEEDS: &[Need] = &[
    Need { capability: capability::BPF, name: "CAP_BPF", why: "loads programs, makes and reads tables", later: true },
    Need {
        capability: capability::PERFMON,
        name: "CAP_PERFMON",
        why: "attaches tracing programs and lets them read the kernel's memory",
        later: true,
    },
    Need {
        capability: capability::SYS_RESOURCE,
        name: "CAP_SYS_RESOURCE",
        why: "raises the limit of locked memory, which counts before 5.11",
        later: false,
    },
    Need {
        capability: capability::SYS_PTRACE,
        name: "CAP_SYS_PTRACE",
        why: "reads /proc/1/mountinfo, and command lines of processes that ran before",
        later: false,
    },
    Need { capability: capability::DAC_READ_SEARCH, name: "CAP_DAC_READ_SEARCH", why: "walks the folders of control groups", later: false },
];

/// Those that are used when the program has them by its file: none that opens files or processes of
/// others.
pub const LENT: &[u32] = &[capability::BPF, capability::PERFMON, capability::SYS_RESOURCE];

/// What is loaded here, or why nothing can be. `wanted` asks for hooks; without it the best are
/// taken.
///
/// # Errors
/// Sentences, one for each thing that is missing.
pub fn choose(facts: &Facts, wanted: Option<Hooks>) -> Result<Plan, Vec<String>> {
    let mut missing = Vec::new();
    if !facts.btf {
        missing.push("the kernel does not export its types (/sys/kernel/btf/vmlinux, CONFIG_DEBUG_INFO_BTF)".to_owned());
    }
    for (what, attempt) in
        [("a program cannot be attached to tracepoints", &facts.tracepoint), ("a ring buffer cannot be made", &facts.ring)]
    {
        match attempt {
            Some(Ok(())) => {}
            Some(Err(error)) => missing.push(format!("{what}: {error}{}", advice(facts))),
            None if facts.btf => missing.push(format!("{what}: the kernel has none")),
            None => {}
        }
    }
    for name in ["sys_enter", "sys_exit"] {
        if facts.btf && !facts.tracepoints.contains_key(name) {
            missing.push(format!("the kernel has no tracepoint {name} (CONFIG_FTRACE_SYSCALLS)"));
        }
    }
    let works = |attempt: &Option<Try>| matches!(attempt, Some(Ok(())));
    let functions = ["vfs_read", "vfs_write", "vfs_unlink", "vfs_rename"].iter().all(|name| facts.functions.contains_key(*name));
    let hooks = match wanted {
        Some(Hooks::Syscalls) => Hooks::Syscalls,
        Some(Hooks::VfsEntry) if !works(&facts.entry) => {
            missing.push(refused("fentry programs cannot be attached here", &facts.entry));
            Hooks::VfsEntry
        }
        Some(Hooks::VfsKprobe) if !works(&facts.kprobe) => {
            missing.push(refused("kprobes cannot be attached here", &facts.kprobe));
            Hooks::VfsKprobe
        }
        Some(hooks) => hooks,
        None if functions && works(&facts.entry) => Hooks::VfsEntry,
        None if functions && works(&facts.kprobe) => Hooks::VfsKprobe,
        None => Hooks::Syscalls,
    };
    if !missing.is_empty() {
        return Err(missing);
    }
    // What these need is tried at tracepoints; a kprobe program may have less.
    let typed = hooks != Hooks::VfsKprobe;
    Ok(Plan {
        hooks,
        task_storage: typed && works(&facts.task_storage) && works(&facts.typed_task),
        typed_task: typed && works(&facts.typed_task),
        cast: facts
            .cast
            .as_ref()
            .filter(|_| typed && works(&facts.typed_task))
            .and_then(|(number, tried)| tried.is_ok().then_some(*number)),
        iterators: works(&facts.iterator),
        layout: layout(facts),
        tracepoints: facts.tracepoints.keys().cloned().collect(),
        functions: facts.functions.keys().cloned().collect(),
    })
}

fn refused(what: &str, attempt: &Option<Try>) -> String {
    match attempt {
        Some(Err(error)) => format!("{what}: {error}"),
        _ => what.to_owned(),
    }
}

/// What would give the rights, and what that means.
const SETCAP: &str = "run it as root; or, for a command and processes of one's own, setcap cap_bpf,cap_perfmon+ep on the program: whoever may run that file then sees his own \
     processes with it, and these rights can read all memory of the kernel, so let only a group run it that is trusted with that (chgrp GROUP FILE, chmod 750 FILE, before setcap)";

fn may_trace(facts: &Facts) -> bool {
    facts.has(capability::SYS_ADMIN) || (facts.has(capability::BPF) && facts.has(capability::PERFMON))
}

fn advice(facts: &Facts) -> &'static str {
    let bpf = may_trace(facts);
    match facts.lockdown.as_deref() {
        Some("confidentiality") => " (the kernel is locked down: lockdown=confidentiality forbids it)",
        _ if !bpf => " (it takes CAP_BPF and CAP_PERFMON)",
        _ => "",
    }
}

/// Looks up where arguments lie.
fn layout(facts: &Facts) -> Layout {
    let position = |function: &str, argument: &str| {
        let at = facts.functions.get(function).and_then(|arguments| arguments.iter().position(|name| name == argument));
        at.and_then(|at| u8::try_from(at).ok())
    };
    let points_to = |tracepoint: &str, structure: &str| {
        let arguments = facts.tracepoints.get(tracepoint)?;
        arguments.iter().position(|argument| argument.as_deref() == Some(structure)).and_then(|at| u8::try_from(at).ok())
    };
    let submit = ["io_uring_submit_req", "io_uring_submit_sqe"]
        .iter()
        .find(|name| facts.tracepoints.contains_key(**name))
        .copied()
        .unwrap_or_default();
    let complete = facts.tracepoints.get("io_uring_complete");
    Layout {
        unlink_dentry: position("vfs_unlink", "dentry").unwrap_or(1),
        link_dentry: position("vfs_link", "old_dentry").unwrap_or(0),
        rename_is_struct: position("vfs_rename", "old_dentry").is_none(),
        rename_dentry: position("vfs_rename", "old_dentry").unwrap_or(1),
        truncate_dentry: position("do_truncate", "dentry").unwrap_or(1),
        // Kernels between 5.15 and 6.0 hand it over as `void *`, behind the ring.
        submit_request: points_to(submit, "io_kiocb").unwrap_or(1),
        complete_form: match complete {
            _ if points_to("io_uring_complete", "io_uring_cqe").is_some() => 2,
            Some(arguments) if arguments.len() >= 5 => 1,
            _ => 0,
        },
        exit_tells_group: facts.tracepoints.get("sched_process_exit").is_some_and(|arguments| arguments.len() >= 2),
    }
}

/// The finding, for `flowmine doctor`.
pub fn verdict(facts: &Facts) -> Verdict {
    let chosen = choose(facts, None);
    let tried = |what: &str, attempt: &Option<Try>, without: &str| match attempt {
        Some(Ok(())) => Check::new(what, true, "works"),
        Some(Err(error)) => Check::new(what, false, error.clone()),
        None => Check::new(what, false, without),
    };
    let attached = |what: &str, attempt: &Option<Try>, without: &str, options: &str| {
        let check = tried(what, attempt, without);
        match attempt {
            Some(Err(_)) if may_trace(facts) => check.or(format!(
                "more rights do not help: this kernel is locked down (lockdown={}) or was built without {options}; the other hooks do the same",
                facts.lockdown.as_deref().unwrap_or("unknown")
            )),
            _ => check,
        }
    };
    let capabilities = may_trace(facts);
    let checks = vec![
        Check::new("types of the kernel", facts.btf, if facts.btf { "/sys/kernel/btf/vmlinux" } else { "none" })
            .or("a kernel with CONFIG_DEBUG_INFO_BTF=y"),
        Check::new("CAP_BPF and CAP_PERFMON", capabilities, if capabilities { "here" } else { "not here" }).or(SETCAP),
        tried("tracepoints with types", &facts.tracepoint, "none"),
        tried("ring buffer", &facts.ring, "not tried"),
        attached("functions by fentry", &facts.entry, "none", "CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS or CONFIG_FPROBE"),
        attached("functions by kprobe", &facts.kprobe, "the kernel has no kprobes (CONFIG_KPROBES)", "CONFIG_KPROBE_EVENTS"),
        tried("iterators over processes", &facts.iterator, "none"),
        tried("storage by task", &facts.task_storage, "not tried"),
        Check::new(
            "lockdown",
            facts.lockdown.as_deref() != Some("confidentiality"),
            facts.lockdown.clone().unwrap_or_else(|| "not in the kernel".to_owned()),
        )
        .or("start the kernel without lockdown=confidentiality"),
        Check::new(
            "kernel.unprivileged_bpf_disabled",
            None,
            facts.unprivileged_bpf_disabled.map_or_else(|| "not known".to_owned(), |value| value.to_string()),
        ),
        Check::new(
            "kernel.perf_event_paranoid",
            None,
            facts.perf_event_paranoid.map_or_else(|| "not known".to_owned(), |value| value.to_string()),
        ),
        Check::new("locked memory", None, facts.memlock.map_or_else(|| "no limit".to_owned(), |bytes| format!("{bytes} bytes"))),
    ];
    match chosen {
        Ok(plan) => Verdict { backend: "ebpf", works: true, how: format!("hooks {}", plan.hooks.name()), whole_host: true, checks },
        Err(missing) => Verdict { backend: "ebpf", works: false, how: missing.join("; "), whole_host: false, checks },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said of hooks that the kernel refuses: to root something else than to others.
    #[test]
    fn a_refusal_told_to_root_is_no_matter_of_rights() {
        let refused = Some(Err("Operation not permitted (os error 1)".to_owned()));
        let facts = Facts { entry: refused, lockdown: Some("integrity".to_owned()), ..Facts::default() };
        let remedy = |facts: &Facts, what: &str| {
            let checks = verdict(facts).checks;
            checks.into_iter().find(|check| check.what == what).and_then(|check| check.remedy)
        };
        let root = Facts { capabilities: Some(u64::MAX), ..facts.clone() };
        let said = remedy(&root, "functions by fentry").unwrap();
        assert!(said.contains("lockdown=integrity") && said.contains("CONFIG_"), "{said}");
        assert_eq!(remedy(&facts, "functions by fentry"), None);
        // And what it means to give the rights to a file is said with the advice.
        let said = remedy(&facts, "CAP_BPF and CAP_PERFMON").unwrap();
        assert!(said.contains("whoever may run that file") && said.contains("chmod 750"), "{said}");
        assert_eq!(remedy(&root, "CAP_BPF and CAP_PERFMON"), None);
    }
}

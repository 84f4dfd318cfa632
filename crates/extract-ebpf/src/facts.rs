//! What this kernel and its settings allow, read in one place.
//!
//! In: `/proc` and `/sys` below folders that a test can choose, and tries of the real kernel. Out:
//! [`Facts`], plain values; what follows from them is in [`crate::plan`].

use std::collections::BTreeMap;
use std::path::Path;

use crate::btf::Btf;
use crate::try_out::{self, Attach};
use flowmine_files::kernel;

/// A function that a program may be attached to, with the names of its arguments; see `bpf/vfs.h`.
pub const FUNCTIONS: &[&str] = &[
    "vfs_open",
    "finish_open",
    "vfs_read",
    "vfs_write",
    "vfs_readv",
    "vfs_writev",
    "filp_close",
    "filp_flush",
    "vfs_unlink",
    "vfs_rename",
    "vfs_link",
    "do_truncate",
    "vfs_truncate",
];

/// Tracepoints that are used where they are there.
pub const TRACEPOINTS: &[&str] = &[
    "sys_enter",
    "sys_exit",
    "sched_process_fork",
    "sched_process_exec",
    "sched_process_exit",
    "cgroup_mkdir",
    "cgroup_rename",
    "cgroup_attach_task",
    "mm_filemap_fault",
    "io_uring_submit_req",
    "io_uring_submit_sqe",
    "io_uring_complete",
];

/// What came of a try: nothing, or the error in words.
pub type Try = Result<(), String>;

/// Everything that the choice of hooks depends on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Facts {
    /// Whether the kernel describes its types (`CONFIG_DEBUG_INFO_BTF`).
    pub btf: bool,
    /// Tracepoints that it has, of [`TRACEPOINTS`], with the structures that their arguments point
    /// to.
    pub tracepoints: BTreeMap<String, Vec<Option<String>>>,
    /// Functions that it has, of [`FUNCTIONS`], with the names of their arguments.
    pub functions: BTreeMap<String, Vec<String>>,
    /// A program at a tracepoint with typed arguments; without it there is no tracing here.
    pub tracepoint: Option<Try>,
    /// A program at the entry of a function.
    pub entry: Option<Try>,
    /// A program at the entry of a function by a kprobe.
    pub kprobe: Option<Try>,
    /// A program that iterates over tasks.
    pub iterator: Option<Try>,
    /// A ring buffer (`BPF_MAP_TYPE_RINGBUF`).
    pub ring: Option<Try>,
    /// Storage that lives as long as its task.
    pub task_storage: Option<Try>,
    /// The helper that gives the current task with its type.
    pub typed_task: Option<Try>,
    /// The kernel's function bpf_rdonly_cast, by which an address becomes a typed pointer (since
    /// 6.2), and its number.
    pub cast: Option<(u32, Try)>,
    /// Effective capabilities of this process (capabilities(7)), `CapEff` of `/proc/self/status`.
    pub capabilities: Option<u64>,
    /// The number in `/proc/sys/kernel/unprivileged_bpf_disabled`.
    pub unprivileged_bpf_disabled: Option<i32>,
    /// The number in `/proc/sys/kernel/perf_event_paranoid`.
    pub perf_event_paranoid: Option<i32>,
    /// What is chosen of `/sys/kernel/security/lockdown`.
    pub lockdown: Option<String>,
    /// Limit of locked memory in bytes, which kernels before 5.11 count tables against; `None` when
    /// there is no limit.
    pub memlock: Option<u64>,
}

impl Facts {
    /// Looks at the files and tries the kernel. `proc` and `sys` are `/proc` and `/sys`.
    pub fn read(proc: &Path, sys: &Path) -> Self {
        let mut facts = Facts::settings(proc, sys);
        let types = kernel::read(sys.join("kernel/btf/vmlinux")).unwrap_or_default();
        let Some(btf) = Btf::parse(&types) else { return facts };
        facts.types(&btf);
        let attempt = |result: std::io::Result<()>| Some(result.map_err(|error| error.to_string()));
        if let Some(number) = btf.tracepoint("sys_enter") {
            facts.tracepoint = attempt(try_out::tracing(Attach::Tracepoint, number));
            facts.typed_task = attempt(try_out::helper(number, 158));
            if let (Some(function), Some(task)) = (btf.function("bpf_rdonly_cast"), btf.structure("task_struct")) {
                facts.cast = attempt(try_out::cast(number, function, task)).map(|tried| (function, tried));
            }
        }
        if let Some(number) = btf.function("vfs_read") {
            facts.entry = attempt(try_out::tracing(Attach::Entry, number));
        }
        if let Some(number) = btf.function("bpf_iter_task") {
            facts.iterator = attempt(try_out::tracing(Attach::Iterator, number));
        }
        let pmu = kernel::read_to_string(sys.join("bus/event_source/devices/kprobe/type")).ok().and_then(|text| text.trim().parse().ok());
        if let Some(pmu) = pmu {
            facts.kprobe = attempt(try_out::kprobe(pmu, c"vfs_read"));
        }
        facts.ring = attempt(try_out::ring());
        facts.task_storage = attempt(try_out::task_storage());
        facts
    }

    /// The facts that files in `/proc` and `/sys` give, without trying anything out.
    pub fn settings(proc: &Path, sys: &Path) -> Self {
        let number = |path: &str| kernel::read_to_string(proc.join(path)).ok()?.trim().parse().ok();
        let status = kernel::read_to_string(proc.join("self/status")).unwrap_or_default();
        let limits = kernel::read_to_string(proc.join("self/limits")).unwrap_or_default();
        let lockdown = kernel::read_to_string(sys.join("kernel/security/lockdown")).unwrap_or_default();
        Facts {
            capabilities: status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("CapEff:")?.trim(), 16).ok()),
            unprivileged_bpf_disabled: number("sys/kernel/unprivileged_bpf_disabled"),
            perf_event_paranoid: number("sys/kernel/perf_event_paranoid"),
            lockdown: lockdown.split('[').nth(1).and_then(|rest| rest.split(']').next()).map(str::to_owned),
            memlock: limits.lines().find_map(|line| line.strip_prefix("Max locked memory")?.split_whitespace().next()?.parse().ok()),
            ..Facts::default()
        }
    }

    /// Contents of the kernel's types.
    pub fn types(&mut self, btf: &Btf<'_>) {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        self.btf = true;
        for name in TRACEPOINTS {
            if let Some(structures) = btf.tracepoint_structures(name) {
                self.tracepoints.insert((*name).to_owned(), structures.into_iter().map(|structure| structure.map(text)).collect());
            }
        }
        for name in FUNCTIONS {
            if let Some(arguments) = btf.arguments(name) {
                self.functions.insert((*name).to_owned(), arguments.into_iter().map(text).collect());
            }
        }
    }

    /// Whether this process has a capability, by its number (linux/capability.h).
    pub fn has(&self, capability: u32) -> bool {
        self.capabilities.is_some_and(|all| all >> capability & 1 == 1)
    }
}

/// Capabilities by number, for [`Facts::has`] and for what may be dropped.
pub mod capability {
    /// Reads files and folders of anybody.
    pub const DAC_READ_SEARCH: u32 = 2;
    /// Reads `/proc` of processes of others.
    pub const SYS_PTRACE: u32 = 19;
    /// Has the rights of BPF and PERFMON before 5.8.
    pub const SYS_ADMIN: u32 = 21;
    /// Raises limits, such as that of locked memory.
    pub const SYS_RESOURCE: u32 = 24;
    /// Attaches tracing programs (`CAP_PERFMON`, capabilities(7)).
    pub const PERFMON: u32 = 38;
    /// Loads programs and makes tables.
    pub const BPF: u32 = 39;
}

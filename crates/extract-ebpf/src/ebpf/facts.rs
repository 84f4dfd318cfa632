//! What the kernel and our privileges allow of eBPF, read in one place; what follows from it is decided by a pure function ([`choose`]).
//!
//! Nothing is concluded from the kernel's version: distributions carry features back and leave them out. Each way of attaching is tried with a program
//! that does nothing (bpf(2)).

use std::fs;
use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::Path;

use aya::{Btf, BtfError};
use aya_obj::btf::BtfKind;

use crate::probe::{Check, Verdict};

/// The answer of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tried {
    /// It worked.
    Works,
    /// It did not; what the system said.
    Fails(String),
    /// It could not be attempted, because something else is missing.
    NotTried,
}

impl Tried {
    fn of<T>(result: io::Result<T>) -> Self {
        match result {
            Ok(_) => Tried::Works,
            Err(error) => Tried::Fails(error.to_string()),
        }
    }

    /// Whether it worked.
    pub fn works(&self) -> bool {
        *self == Tried::Works
    }

    fn found(&self) -> String {
        match self {
            Tried::Works => "works".to_owned(),
            Tried::Fails(why) => why.clone(),
            Tried::NotTried => "not tried".to_owned(),
        }
    }
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// `/sys/kernel/btf/vmlinux` can be read: types of the running kernel.
    pub btf: Tried,
    /// Effective capabilities (capabilities(7)), from `/proc/self/status`.
    pub capabilities: Option<u64>,
    /// `kernel.unprivileged_bpf_disabled`.
    pub unprivileged_disabled: Option<i64>,
    /// The chosen mode of `/sys/kernel/security/lockdown`; `None` where the kernel has none.
    pub lockdown: Option<String>,
    /// A ring buffer can be made (kernel 5.8).
    pub ring_buffer: Tried,
    /// A program can be attached to the raw tracepoint of system calls, with types.
    pub tracepoint: Tried,
    /// A program can be attached to the entry of `vfs_read`.
    pub fentry: Tried,
    /// The kernel has kprobes (`/sys/bus/event_source/devices/kprobe`).
    pub kprobe: Tried,
}

/// capabilities(7).
const CAP_DAC_READ_SEARCH: u32 = 2;
const CAP_SYS_PTRACE: u32 = 19;
const CAP_SYS_ADMIN: u32 = 21;
const CAP_PERFMON: u32 = 38;
const CAP_BPF: u32 = 39;

impl Facts {
    /// Reads and tries everything; `root` is `/`.
    pub fn read(root: &Path) -> Self {
        let text = |path: &str| fs::read_to_string(root.join(path)).ok();
        let (btf, parsed) = match Btf::from_sys_fs() {
            Ok(parsed) => (Tried::Works, Some(parsed)),
            Err(error) => (Tried::Fails(btf_error(&error)), None),
        };
        let ring_buffer = Tried::of(ring_buffer());
        let attach = |name: &str, kind: BtfKind, attach_type: u32| match &parsed {
            None => Tried::NotTried,
            Some(parsed) => match parsed.id_by_type_name_kind(name, kind) {
                Err(_) => Tried::Fails(format!("the kernel has no {name}")),
                Ok(id) => Tried::of(load_tracing(id, attach_type).and_then(|program| attach_tracing(&program))),
            },
        };
        Facts {
            tracepoint: attach("btf_trace_sys_exit", BtfKind::Typedef, BPF_TRACE_RAW_TP),
            fentry: attach("vfs_read", BtfKind::Func, BPF_TRACE_FENTRY),
            kprobe: match root.join("sys/bus/event_source/devices/kprobe/type").try_exists() {
                Ok(true) => Tried::Works,
                Ok(false) => Tried::Fails("the kernel is built without kprobes".to_owned()),
                Err(error) => Tried::Fails(error.to_string()),
            },
            btf,
            ring_buffer,
            capabilities: text("proc/self/status").and_then(|status| capabilities(&status)),
            unprivileged_disabled: text("proc/sys/kernel/unprivileged_bpf_disabled").and_then(|text| text.trim().parse().ok()),
            lockdown: text("sys/kernel/security/lockdown").and_then(|text| chosen(&text)),
        }
    }

    fn has(&self, capability: u32) -> Option<bool> {
        self.capabilities.map(|set| set & (1 << capability) != 0)
    }

    /// What the hooks are, or why there is no tracing.
    pub fn verdict(&self) -> Verdict {
        let choice = choose(self, None);
        let enable =
            "run as root, or once as root: setcap cap_bpf,cap_perfmon,cap_sys_ptrace,cap_dac_read_search+ep $(command -v flowmine)";
        let capability = |name: &str, number: u32| {
            let holds = match (self.has(CAP_SYS_ADMIN), number) {
                (Some(true), CAP_BPF | CAP_PERFMON) => Some(true),
                _ => self.has(number),
            };
            Check::new(name, holds, if holds == Some(true) { "held" } else { "not held" }).or(enable)
        };
        let tried = |what: &str, tried: &Tried, holds: Option<bool>| Check::new(what, holds, tried.found());
        let is = |t: &Tried| (*t != Tried::NotTried).then(|| t.works());
        let checks = vec![
            tried("types of the running kernel (BTF)", &self.btf, is(&self.btf))
                .or("a kernel built with CONFIG_DEBUG_INFO_BTF=y, as Debian 11, RHEL 8.2, Ubuntu 20.10 and later have; in a container mount /sys/kernel/btf"),
            capability("CAP_BPF", CAP_BPF),
            capability("CAP_PERFMON", CAP_PERFMON),
            capability("CAP_SYS_PTRACE", CAP_SYS_PTRACE),
            capability("CAP_DAC_READ_SEARCH", CAP_DAC_READ_SEARCH),
            Check::new(
                "lockdown",
                Some(self.lockdown.as_deref() != Some("confidentiality")),
                self.lockdown.as_deref().unwrap_or("the kernel has none"),
            )
            .or("boot without lockdown=confidentiality"),
            tried("ring buffer", &self.ring_buffer, is(&self.ring_buffer)).or("Linux 5.8 or later, and CAP_BPF"),
            tried("system-call hooks (tp_btf)", &self.tracepoint, is(&self.tracepoint)).or("Linux 5.8 or later, CAP_BPF and CAP_PERFMON"),
            tried("VFS hooks (fentry)", &self.fentry, is(&self.fentry)).or("a kernel built with CONFIG_FUNCTION_TRACER and CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS; without them the system-call hooks do"),
            tried("kprobes", &self.kprobe, is(&self.kprobe)),
        ];
        Verdict {
            backend: "ebpf",
            works: choice.is_ok(),
            how: match &choice {
                Ok(Hooks::Vfs) => "hooks in the VFS and in system calls".to_owned(),
                Ok(Hooks::Syscalls) => format!("hooks in system calls (no VFS hooks: {})", self.fentry.found()),
                Err(why) => why.clone(),
            },
            whole_host: choice.is_ok(),
            checks,
        }
    }
}

/// Which set of hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hooks {
    /// System calls, with the file found by its descriptor.
    Syscalls,
    /// Functions of the VFS, beside the system calls that tell names.
    Vfs,
}

impl Hooks {
    /// As it stands in the tables.
    pub fn name(self) -> &'static str {
        match self {
            Hooks::Syscalls => "syscalls",
            Hooks::Vfs => "vfs",
        }
    }
}

/// Takes the VFS hooks where they work, otherwise those of system calls; or what was asked for, if that works.
///
/// # Errors
/// A sentence that says what is missing.
pub fn choose(facts: &Facts, asked: Option<Hooks>) -> Result<Hooks, String> {
    let missing = |what: &str, tried: &Tried| match tried {
        Tried::Works => None,
        Tried::NotTried => Some(format!("{what} could not be tried")),
        Tried::Fails(why) => Some(format!("{what}: {why}")),
    };
    let base = missing("types of the running kernel (BTF)", &facts.btf)
        .or_else(|| missing("a ring buffer cannot be made", &facts.ring_buffer))
        .or_else(|| missing("system calls cannot be hooked", &facts.tracepoint));
    if let Some(why) = base {
        let unprivileged = facts.has(CAP_BPF) == Some(false) && facts.has(CAP_SYS_ADMIN) == Some(false);
        return Err(if unprivileged { "it takes root, or CAP_BPF and CAP_PERFMON".to_owned() } else { why });
    }
    match (asked, facts.fentry.works()) {
        (Some(Hooks::Vfs), false) => Err(missing("VFS functions cannot be hooked", &facts.fentry).unwrap_or_default()),
        (Some(Hooks::Syscalls), _) | (None, false) => Ok(Hooks::Syscalls),
        (Some(Hooks::Vfs) | None, true) => Ok(Hooks::Vfs),
    }
}

fn capabilities(status: &str) -> Option<u64> {
    let hex = status.lines().find_map(|line| line.strip_prefix("CapEff:"))?;
    u64::from_str_radix(hex.trim(), 16).ok()
}

/// The word in brackets.
fn chosen(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('[')?;
    Some(rest.split_once(']')?.0.to_owned())
}

fn btf_error(error: &BtfError) -> String {
    match error {
        BtfError::FileError { error, .. } => error.to_string(),
        other => other.to_string(),
    }
}

/// linux/bpf.h.
const BPF_MAP_CREATE: i64 = 0;
const BPF_PROG_LOAD: i64 = 5;
const BPF_RAW_TRACEPOINT_OPEN: i64 = 17;
const BPF_PROG_TYPE_TRACING: u32 = 26;
const BPF_MAP_TYPE_RINGBUF: u32 = 27;
const BPF_TRACE_RAW_TP: u32 = 23;
const BPF_TRACE_FENTRY: u32 = 24;

/// The attributes of `BPF_PROG_LOAD`, as far as they are needed here (`union bpf_attr` of linux/bpf.h).
#[repr(C)]
#[derive(Default)]
struct LoadAttributes {
    prog_type: u32,
    insn_cnt: u32,
    insns: u64,
    license: u64,
    log_level: u32,
    log_size: u32,
    log_buf: u64,
    kern_version: u32,
    prog_flags: u32,
    prog_name: [u8; 16],
    prog_ifindex: u32,
    expected_attach_type: u32,
    prog_btf_fd: u32,
    func_info_rec_size: u32,
    func_info: u64,
    func_info_cnt: u32,
    line_info_rec_size: u32,
    line_info: u64,
    line_info_cnt: u32,
    attach_btf_id: u32,
    attach_prog_fd: u32,
    padding: u32,
}

/// `BPF_MAP_CREATE`.
#[repr(C)]
#[derive(Default)]
struct MapAttributes {
    map_type: u32,
    key_size: u32,
    value_size: u32,
    max_entries: u32,
    map_flags: u32,
}

/// `BPF_RAW_TRACEPOINT_OPEN`.
#[repr(C)]
#[derive(Default)]
struct OpenAttributes {
    name: u64,
    prog_fd: u32,
    padding: u32,
}

fn bpf<A>(command: i64, attributes: &mut A) -> io::Result<OwnedFd> {
    // SAFETY: the attributes are a plain structure laid out as the kernel expects for this command and live until the call returns; the
    // pointers in them were made from live data by the callers. The result is a new descriptor or negative.
    unsafe {
        let fd = libc::syscall(libc::SYS_bpf, command, std::ptr::from_mut(attributes), size_of::<A>());
        if fd < 0 { Err(io::Error::last_os_error()) } else { Ok(OwnedFd::from_raw_fd(fd as i32)) }
    }
}

fn ring_buffer() -> io::Result<OwnedFd> {
    // Before Linux 5.11 maps count as locked memory.
    let unlimited = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: `unlimited` lives until the call returns. Failing is fine: then the map says so.
    unsafe { libc::setrlimit(libc::RLIMIT_MEMLOCK, &unlimited) };
    bpf(BPF_MAP_CREATE, &mut MapAttributes { map_type: BPF_MAP_TYPE_RINGBUF, max_entries: 1 << 16, ..MapAttributes::default() })
}

fn load_tracing(btf_id: u32, attach_type: u32) -> io::Result<OwnedFd> {
    // r0 = 0; exit
    let instructions: [u64; 2] = [0xb7, 0x95];
    let license = c"GPL";
    bpf(
        BPF_PROG_LOAD,
        &mut LoadAttributes {
            prog_type: BPF_PROG_TYPE_TRACING,
            insn_cnt: instructions.len() as u32,
            insns: instructions.as_ptr() as u64,
            license: license.as_ptr() as u64,
            expected_attach_type: attach_type,
            attach_btf_id: btf_id,
            ..LoadAttributes::default()
        },
    )
}

fn attach_tracing(program: &OwnedFd) -> io::Result<OwnedFd> {
    bpf(BPF_RAW_TRACEPOINT_OPEN, &mut OpenAttributes { prog_fd: program.as_raw_fd() as u32, ..OpenAttributes::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Facts {
        Facts {
            btf: Tried::Works,
            capabilities: Some(u64::MAX),
            unprivileged_disabled: Some(2),
            lockdown: None,
            ring_buffer: Tried::Works,
            tracepoint: Tried::Works,
            fentry: Tried::Works,
            kprobe: Tried::Works,
        }
    }

    #[test]
    fn vfs_hooks_are_taken_where_they_work() {
        assert_eq!(choose(&all(), None), Ok(Hooks::Vfs));
        assert_eq!(choose(&all(), Some(Hooks::Syscalls)), Ok(Hooks::Syscalls));
        let without = Facts { fentry: Tried::Fails("not permitted".into()), ..all() };
        assert_eq!(choose(&without, None), Ok(Hooks::Syscalls));
        assert!(choose(&without, Some(Hooks::Vfs)).unwrap_err().contains("not permitted"));
    }

    #[test]
    fn what_is_missing_is_named() {
        let no_btf = Facts { btf: Tried::Fails("no such file".into()), tracepoint: Tried::NotTried, ..all() };
        assert!(choose(&no_btf, None).unwrap_err().contains("no such file"));
        let user = Facts { capabilities: Some(0), ring_buffer: Tried::Fails("not permitted".into()), ..all() };
        assert!(choose(&user, None).unwrap_err().contains("CAP_BPF"));
        assert!(user.verdict().checks.iter().any(|check| check.remedy.as_deref().is_some_and(|remedy| remedy.contains("setcap"))));
    }

    #[test]
    fn files_of_the_kernel_are_read() {
        assert_eq!(capabilities("Name:\tx\nCapEff:\t000001ffffffffff\n"), Some(0x1ff_ffff_ffff));
        assert_eq!(chosen("none [integrity] confidentiality\n").as_deref(), Some("integrity"));
    }
}

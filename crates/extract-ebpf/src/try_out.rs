//! Tries with the smallest programs and tables: bpf(2) itself, because only a trial shows what a
//! kernel and its settings allow.
//!
//! Every try cleans up after itself; nothing is seen by anybody.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

const MAP_CREATE: libc::c_int = 0;
const PROG_LOAD: libc::c_int = 5;
const RAW_TRACEPOINT_OPEN: libc::c_int = 17;
const BTF_LOAD: libc::c_int = 18;
const LINK_CREATE: libc::c_int = 28;

const PROGRAM_KPROBE: u32 = 2;
const PROGRAM_TRACING: u32 = 26;
/// What a tracing program is attached to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Attach {
    /// A tracepoint, with typed arguments.
    Tracepoint = 23,
    /// The entry of a kernel function.
    Entry = 24,
    /// An iterator over what the kernel has.
    Iterator = 28,
}

/// The smallest program: `mov r0, 0; exit`.
const NOTHING: [u64; 2] = [0x0000_0000_0000_00b7, 0x0000_0000_0000_0095];
const GPL: &[u8] = b"GPL\0";

/// The attributes of a call of bpf(2), which is a union that grows with the kernels; what is not
/// set is 0.
#[derive(Clone, Copy)]
#[repr(C, align(8))]
pub(crate) struct Attributes(pub(crate) [u8; 128]);

impl Attributes {
    pub(crate) fn new() -> Self {
        Attributes([0; 128])
    }

    pub(crate) fn word(mut self, at: usize, value: u32) -> Self {
        self.0[at..at + 4].copy_from_slice(&value.to_ne_bytes());
        self
    }

    pub(crate) fn long(mut self, at: usize, value: u64) -> Self {
        self.0[at..at + 8].copy_from_slice(&value.to_ne_bytes());
        self
    }

    fn call(&self, command: libc::c_int) -> io::Result<OwnedFd> {
        // SAFETY: the attributes are 128 initialised bytes, more than any command used here reads; the buffers that they point to outlive the call.
        let fd = unsafe { libc::syscall(libc::SYS_bpf, command, self.0.as_ptr(), self.0.len()) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: each of these commands gives a new descriptor without another owner.
        Ok(unsafe { OwnedFd::from_raw_fd(fd as libc::c_int) })
    }
}

fn load(kind: u32, attach: u32, function: u32, code: &[u64]) -> io::Result<OwnedFd> {
    Attributes::new()
        .word(0, kind)
        .word(4, code.len() as u32)
        .long(8, code.as_ptr() as u64)
        .long(16, GPL.as_ptr() as u64)
        .word(68, attach)
        .word(108, function)
        .call(PROG_LOAD)
}

/// Loads a program for a function, tracepoint or iterator (the number of its type in the kernel's
/// BTF) and attaches it.
///
/// # Errors
/// Those of bpf(2).
pub fn tracing(attach: Attach, function: u32) -> io::Result<()> {
    let program = load(PROGRAM_TRACING, attach as u32, function, &NOTHING)?;
    let attributes = Attributes::new().word(8, program.as_raw_fd() as u32);
    match attach {
        Attach::Iterator => Attributes::new().word(0, program.as_raw_fd() as u32).word(8, attach as u32).call(LINK_CREATE),
        _ => attributes.call(RAW_TRACEPOINT_OPEN),
    }
    .map(drop)
}

/// Loads a program that calls a helper without arguments, at a tracepoint.
///
/// # Errors
/// Those of bpf(2).
pub fn helper(tracepoint: u32, number: u32) -> io::Result<()> {
    let code = [u64::from(number) << 32 | 0x85, NOTHING[0], NOTHING[1]];
    load(PROGRAM_TRACING, Attach::Tracepoint as u32, tracepoint, &code).map(drop)
}

/// Loads a program that gives the current task's address the type `task` by the kernel's function
/// `cast`, at a tracepoint, and reads through it.
///
/// # Errors
/// Those of bpf(2).
pub fn cast(tracepoint: u32, cast: u32, task: u32) -> io::Result<()> {
    let code = [
        35 << 32 | 0x85,                // call get_current_task
        0x01bf,                         // r1 = r0
        u64::from(task) << 32 | 0x02b7, // r2 = the type
        u64::from(cast) << 32 | 0x2085, // call the kernel's function
        0x0061,                         // r0 = *(u32 *)r0
        NOTHING[0],
        NOTHING[1],
    ];
    load(PROGRAM_TRACING, Attach::Tracepoint as u32, tracepoint, &code).map(drop)
}

/// Loads a kprobe program and attaches it to a function through a perf event. `pmu` is the number
/// in `/sys/bus/event_source/devices/kprobe/type`.
///
/// # Errors
/// Those of bpf(2) and perf_event_open(2).
pub fn kprobe(pmu: u32, function: &std::ffi::CStr) -> io::Result<()> {
    let program = load(PROGRAM_KPROBE, 0, 0, &NOTHING)?;
    let mut event = [0u8; 112];
    event[..4].copy_from_slice(&pmu.to_ne_bytes());
    let size = event.len() as u32;
    event[4..8].copy_from_slice(&size.to_ne_bytes());
    event[56..64].copy_from_slice(&(function.as_ptr() as u64).to_ne_bytes());
    /// PERF_FLAG_FD_CLOEXEC (linux/perf_event.h).
    const CLOSE_ON_EXEC: libc::c_ulong = 8;
    // SAFETY: the attributes are as long as they say, and the name outlives the call.
    let fd = unsafe { libc::syscall(libc::SYS_perf_event_open, event.as_ptr(), -1, 0, -1, CLOSE_ON_EXEC) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a new descriptor without another owner.
    let fd = unsafe { OwnedFd::from_raw_fd(fd as libc::c_int) };
    const SET_BPF: libc::c_ulong = 0x4004_2408;
    // SAFETY: both descriptors are open; the request takes the program's number.
    if unsafe { libc::ioctl(fd.as_raw_fd(), SET_BPF as _, program.as_raw_fd()) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Makes a ring buffer of one page.
///
/// # Errors
/// Those of bpf(2).
pub fn ring() -> io::Result<()> {
    let page = nix::unistd::sysconf(nix::unistd::SysconfVar::PAGE_SIZE).ok().flatten().unwrap_or(4096);
    Attributes::new().word(0, 27).word(12, page as u32).call(MAP_CREATE).map(drop)
}

/// Makes a table of task storage.
///
/// # Errors
/// Those of bpf(2).
pub fn task_storage() -> io::Result<()> {
    // One type, a 32-bit integer without a name: a header of 24 bytes, the type of 16, an empty text.
    let mut types = Vec::new();
    types.extend_from_slice(&0xeb9f_u16.to_ne_bytes());
    types.extend_from_slice(&[1, 0]);
    for word in [24u32, 0, 16, 16, 5, 1, 1 << 24, 4, 32] {
        types.extend_from_slice(&word.to_ne_bytes());
    }
    types.extend_from_slice(b"\0int\0");
    let btf = Attributes::new().long(0, types.as_ptr() as u64).word(16, types.len() as u32).call(BTF_LOAD)?;
    Attributes::new()
        .word(0, 29)
        .word(4, 4)
        .word(8, 4)
        .word(16, 1)
        .word(48, btf.as_raw_fd() as u32)
        .word(52, 1)
        .word(56, 1)
        .call(MAP_CREATE)
        .map(drop)
}

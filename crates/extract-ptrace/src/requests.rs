//! The requests of ptrace(2) and the waiting that the tracer needs, without any policy.
//!
//! Every request can fail with ESRCH at any time, because SIGKILL takes a process out of any stop:
//! callers go on, and learn the end by waiting.

use std::io;
use std::mem::size_of;

use crate::filter::NATIVE;

/// What a stop for a system call is about (`PTRACE_GET_SYSCALL_INFO`, Linux 5.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallStop {
    /// The stop is not within a call.
    None,
    /// The stop is at the begin of a call.
    Entry,
    /// A call ended, with its result or the negative error number.
    Exit(i64),
    /// The filter of seccomp(2) stopped a call before it began.
    Seccomp {
        /// `AUDIT_ARCH_…` of linux/audit.h.
        arch: u32,
        /// The call's number.
        number: u64,
        /// The call's six arguments.
        arguments: [u64; 6],
        /// Address of the instruction that made the call.
        instruction: u64,
        /// Stack pointer of the thread.
        stack: u64,
        /// What the filter says besides (`SECCOMP_RET_DATA`).
        data: u32,
    },
}

/// How a stopped thread goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Resume {
    /// It runs to the next stop, the end of the call not included.
    On,
    /// To the next stop, the end of the call included.
    ToCallEnd,
    /// It stays stopped, as job control has it, until SIGCONT.
    Stopped,
}

fn request(request: libc::c_uint, tid: u32, address: usize, data: usize) -> io::Result<libc::c_long> {
    // SAFETY: the requests that are made through here take numbers, or addresses of buffers that outlive the call.
    let result = unsafe { libc::ptrace(request as _, tid as libc::pid_t, address, data) };
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Becomes the tracer of a process and of all that it makes.
pub(crate) fn seize(pid: u32) -> io::Result<()> {
    let options = libc::PTRACE_O_TRACESYSGOOD
        | libc::PTRACE_O_TRACEFORK
        | libc::PTRACE_O_TRACEVFORK
        | libc::PTRACE_O_TRACECLONE
        | libc::PTRACE_O_TRACEEXEC
        | libc::PTRACE_O_TRACEEXIT
        | libc::PTRACE_O_TRACESECCOMP
        // Without a tracer every call that the filter stops fails with ENOSYS (seccomp(2)): a program that went on so would go wrong in silence.
        | libc::PTRACE_O_EXITKILL;
    request(libc::PTRACE_SEIZE, pid, 0, options as usize).map(drop)
}

/// Lets a stopped thread go on, with a signal if it is not 0. A missing thread is no error: waiting
/// reports it.
pub(crate) fn go(tid: u32, how: Resume, signal: i32) {
    let kind = match how {
        Resume::On => libc::PTRACE_CONT,
        Resume::ToCallEnd => libc::PTRACE_SYSCALL,
        Resume::Stopped => libc::PTRACE_LISTEN,
    };
    let _ = request(kind, tid, 0, signal as usize);
}

/// The number that came with an event: a new thread, the former number of a thread, an exit status.
pub(crate) fn event_message(tid: u32) -> Option<u64> {
    let mut message: libc::c_ulong = 0;
    request(libc::PTRACE_GETEVENTMSG, tid, 0, &raw mut message as usize).ok()?;
    Some(message)
}

/// What a stop is about.
///
/// # Errors
/// When the thread is not stopped any more, or the kernel is older than 5.3.
pub(crate) fn call_stop(tid: u32) -> io::Result<CallStop> {
    // struct ptrace_syscall_info: op, flags, arch, instruction pointer, stack pointer; then by op number and six arguments, or result and
    // whether it is an error; then the filter's data.
    let mut info = [0u64; 11];
    request(libc::PTRACE_GET_SYSCALL_INFO, tid, size_of::<[u64; 11]>(), info.as_mut_ptr() as usize)?;
    let head = info[0].to_ne_bytes();
    let arch = u32::from_ne_bytes([head[4], head[5], head[6], head[7]]);
    let mut arguments = [0; 6];
    arguments.copy_from_slice(&info[4..10]);
    Ok(match head[0] {
        libc::PTRACE_SYSCALL_INFO_ENTRY => CallStop::Entry,
        libc::PTRACE_SYSCALL_INFO_EXIT => CallStop::Exit(info[3] as i64),
        libc::PTRACE_SYSCALL_INFO_SECCOMP => {
            let tail = info[10].to_ne_bytes();
            let data = u32::from_ne_bytes([tail[0], tail[1], tail[2], tail[3]]);
            CallStop::Seccomp { arch, number: info[3], arguments, instruction: info[1], stack: info[2], data }
        }
        _ => CallStop::None,
    })
}

/// What became of the call in which a thread ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LastCall {
    /// The call was not begun, or nothing came of it.
    Nothing,
    /// It came to an end, with its result or the negative error number.
    Ended(i64),
    /// The registers do not show it.
    Unknown,
}

/// Results that no program sees: the call begins again or becomes EINTR (include/linux/errno.h). A
/// call that moves data has one of these only if it moved nothing.
pub(crate) const RESTART: std::ops::RangeInclusive<i64> = -516..=-512;

/// What became of the call in which a thread was, at the stop before its end. A thread that is
/// killed has no stop at the end of its call, but its registers have the result.
#[cfg(target_arch = "x86_64")]
pub(crate) fn last_call(tid: u32) -> LastCall {
    // struct user_regs_struct (sys/user.h): the result is rax. Before the call it is ENOSYS, so that a call that is not done has failed.
    const RAX: usize = 10;
    const NOT_DONE: i64 = -(libc::ENOSYS as i64);
    let mut registers = [0u64; 27];
    let part = libc::iovec { iov_base: registers.as_mut_ptr().cast(), iov_len: size_of_val(&registers) };
    // A 32-bit program has other registers, and no call of it is pending.
    if request(libc::PTRACE_GETREGSET, tid, NT_PRSTATUS, &raw const part as usize).is_err() || part.iov_len != size_of_val(&registers) {
        return LastCall::Unknown;
    }
    match registers[RAX] as i64 {
        NOT_DONE => LastCall::Nothing,
        result if RESTART.contains(&result) => LastCall::Nothing,
        result => LastCall::Ended(result),
    }
}

/// What became of the call in which a thread was: here the register of the result has the first
/// argument as long as the call is not done.
#[cfg(target_arch = "aarch64")]
pub(crate) fn last_call(_tid: u32) -> LastCall {
    LastCall::Unknown
}

/// Replaces the first argument of a call that the filter has stopped, or gives a thread back the
/// register after it.
///
/// # Errors
/// When the thread is not stopped any more.
pub(crate) fn set_first_argument(tid: u32, arch: u32, value: u64) -> io::Result<()> {
    #[cfg(target_arch = "x86_64")]
    {
        // rdi, or ebx, which is the lower half of rbx (struct user_regs_struct).
        let register = if arch == NATIVE { 14 } else { 5 };
        poke_user(tid, register, value)
    }
    #[cfg(target_arch = "aarch64")]
    set_registers(tid, NT_PRSTATUS, &value.to_ne_bytes()[..if arch == NATIVE { 8 } else { 4 }])
}

/// Makes a call that the filter has stopped fail with ENOSYS instead of being done.
///
/// # Errors
/// When the thread is not stopped any more.
pub(crate) fn refuse_call(tid: u32) -> io::Result<()> {
    let result = -i64::from(libc::ENOSYS) as u64;
    #[cfg(target_arch = "x86_64")]
    {
        // orig_rax, rax.
        poke_user(tid, 15, u64::MAX)?;
        poke_user(tid, 10, result)
    }
    #[cfg(target_arch = "aarch64")]
    {
        const NT_ARM_SYSTEM_CALL: usize = 0x404;
        set_registers(tid, NT_ARM_SYSTEM_CALL, &(-1i32).to_ne_bytes())?;
        set_registers(tid, NT_PRSTATUS, &result.to_ne_bytes())
    }
}

/// Writes one register, by its place in `struct user_regs_struct`.
#[cfg(target_arch = "x86_64")]
fn poke_user(tid: u32, register: usize, value: u64) -> io::Result<()> {
    request(libc::PTRACE_POKEUSER, tid, register * size_of::<u64>(), value as usize).map(drop)
}

/// The general registers. On aarch64 the first is the first argument and the result.
const NT_PRSTATUS: usize = 1;

/// Writes the first bytes of a set of registers (`PTRACE_SETREGSET`).
#[cfg(target_arch = "aarch64")]
fn set_registers(tid: u32, set: usize, bytes: &[u8]) -> io::Result<()> {
    let part = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    request(libc::PTRACE_SETREGSET, tid, set, &raw const part as usize).map(drop)
}

/// Writes to the memory of a stopped thread; `false` when not all of it can be written.
pub(crate) fn write_memory(tid: u32, address: u64, bytes: &[u8]) -> bool {
    let local = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    let remote = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: bytes.len() };
    // SAFETY: the local range is ours and only read; the remote one is an address for the kernel to
    // check.
    let count = unsafe { libc::process_vm_writev(tid as libc::pid_t, &raw const local, 1, &raw const remote, 1, 0) };
    usize::try_from(count) == Ok(bytes.len())
}

/// Writes a word to the memory of a stopped thread, also where the thread itself may not write.
///
/// # Errors
/// When there is no memory, or the thread is not stopped any more.
pub(crate) fn poke_memory(tid: u32, address: u64, word: u64) -> io::Result<()> {
    request(libc::PTRACE_POKEDATA, tid, address as usize, word as usize).map(drop)
}

/// Waits for news of a child or thread that this thread traces. `None` when a signal came or
/// `block` is false and there is none.
///
/// # Errors
/// ECHILD if there is no process to wait for.
pub(crate) fn wait(block: bool) -> io::Result<Option<(u32, i32)>> {
    let mut status = 0;
    // Children of other threads of this program are none of our business.
    let flags = libc::__WALL | libc::__WNOTHREAD | if block { 0 } else { libc::WNOHANG };
    // SAFETY: the status is ours.
    let pid = unsafe { libc::waitpid(-1, &raw mut status, flags) };
    if pid > 0 {
        return Ok(Some((pid as u32, status)));
    }
    if pid == 0 {
        return Ok(None);
    }
    let error = io::Error::last_os_error();
    if error.raw_os_error() == Some(libc::EINTR) { Ok(None) } else { Err(error) }
}

/// What two threads may share (kcmp(2)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shared {
    /// The open file descriptions of two descriptors.
    OpenFile(i32, i32),
    /// The tables of file descriptors (`CLONE_FILES`, clone(2)).
    Descriptors,
}

/// Whether they share it; `None` when the kernel does not say.
pub(crate) fn same(first: u32, second: u32, what: Shared) -> Option<bool> {
    let (kind, one, other) = match what {
        Shared::OpenFile(one, other) => (0, one, other),
        Shared::Descriptors => (2, 0, 0),
    };
    // SAFETY: kcmp(2) takes numbers only.
    let result = unsafe {
        libc::syscall(
            libc::SYS_kcmp,
            first as libc::pid_t,
            second as libc::pid_t,
            kind,
            i64::from(one) as libc::c_ulong,
            i64::from(other) as libc::c_ulong,
        )
    };
    match result {
        0 => Some(true),
        1..=3 => Some(false),
        _ => None,
    }
}

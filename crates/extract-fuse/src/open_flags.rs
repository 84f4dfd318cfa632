//! The flags of an open as the program gave them (open(2)).

use crate::caller::{Call, Thread};
use crate::identity::with_own_capabilities;
use crate::tracer::Tracer;

/// `O_LARGEFILE` as the kernel has it (the C library of a 64-bit system says 0).
#[cfg(target_arch = "x86_64")]
const LARGEFILE: u32 = 0o100_000;
#[cfg(not(target_arch = "x86_64"))]
const LARGEFILE: u32 = 0o400_000;
/// The kernel's mark of an open for exec.
pub(crate) const FMODE_EXEC: u32 = 0x20;

/// The flags of an open as the program gave them.
pub(crate) fn open_flags(tracer: &Tracer, call: Option<&Call>, thread: &Thread, as_served: u32) -> u32 {
    let from_call = call.and_then(|call| match call.number as libc::c_long {
        libc::SYS_openat | libc::SYS_open_by_handle_at => Some(call.arguments[2] as u32),
        libc::SYS_openat2 => with_own_capabilities(|| tracer.memory(thread.tid).word(call.arguments[2])).map(|flags| flags as u32),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_open => Some(call.arguments[1] as u32),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_creat => Some((libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC) as u32),
        _ => None,
    });
    without_largefile(from_call.unwrap_or(as_served & !FMODE_EXEC))
}

/// The flags of an open without what the C library may add by itself.
pub(crate) fn without_largefile(flags: u32) -> u32 {
    flags & !LARGEFILE
}

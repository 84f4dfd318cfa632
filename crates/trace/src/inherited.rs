//! What a command inherits from its tracer, and would have inherited otherwise from whoever started
//! it.

use std::sync::atomic::{AtomicU8, Ordering};

use crate::limits;

/// The standard descriptors (0 to 2) that were closed when this program began, as bits.
static CLOSED: AtomicU8 = AtomicU8::new(0);

/// Runs before the runtime of Rust, which opens `/dev/null` in the place of standard descriptors
/// that are closed.
#[used]
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = note_closed;

extern "C" fn note_closed() {
    for descriptor in 0..3 {
        // SAFETY: a plain system call with a number.
        if unsafe { libc::fcntl(descriptor, libc::F_GETFD) } < 0 {
            CLOSED.fetch_or(1 << descriptor, Ordering::Relaxed);
        }
    }
}

/// In a child before its exec: gives it the limits, and the closed standard descriptors, that the
/// tracer was started with. Only makes calls that signal-safety(7) allows; nothing may be opened or
/// allocated afterwards.
pub fn give_back() {
    limits::restore();
    let closed = CLOSED.load(Ordering::Relaxed);
    for descriptor in (0..3).filter(|descriptor| closed & (1 << descriptor) != 0) {
        // SAFETY: opened by the runtime, and not used elsewhere.
        unsafe { libc::close(descriptor) };
    }
}

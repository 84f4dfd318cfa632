//! A timer that wakes a thread out of waiting, so that it can check the time and its requests, even
//! if no process that it waits for moves.

use std::io;
use std::mem::zeroed;
use std::time::Duration;

/// A timer of the calling thread. It sends a real-time signal that does nothing but interrupt.
pub(crate) struct Ticker {
    timer: libc::timer_t,
}

extern "C" fn nothing(_: libc::c_int) {}

impl Ticker {
    /// Wakes the calling thread at this interval until it is dropped.
    ///
    /// # Errors
    /// When the system refuses a timer.
    pub(crate) fn start(interval: Duration) -> io::Result<Self> {
        // One that is unlikely to be used elsewhere; a signal's disposition belongs to the whole
        // program.
        let signal = libc::SIGRTMAX() - 3;
        // SAFETY: all-zero values of these structures are valid; the handler does nothing; the pointers outlive the calls.
        unsafe {
            let mut action: libc::sigaction = zeroed();
            action.sa_sigaction = nothing as extern "C" fn(libc::c_int) as libc::sighandler_t;
            // Without SA_RESTART: waiting is to be interrupted.
            if libc::sigaction(signal, &raw const action, std::ptr::null_mut()) != 0 {
                return Err(io::Error::last_os_error());
            }
            let mut event: libc::sigevent = zeroed();
            event.sigev_notify = libc::SIGEV_THREAD_ID;
            event.sigev_signo = signal;
            event.sigev_notify_thread_id = libc::syscall(libc::SYS_gettid) as libc::c_int;
            let mut timer: libc::timer_t = zeroed();
            if libc::timer_create(libc::CLOCK_MONOTONIC, &raw mut event, &raw mut timer) != 0 {
                return Err(io::Error::last_os_error());
            }
            let ticker = Ticker { timer };
            let every = libc::timespec { tv_sec: interval.as_secs() as libc::time_t, tv_nsec: interval.subsec_nanos() as libc::c_long };
            let times = libc::itimerspec { it_interval: every, it_value: every };
            if libc::timer_settime(timer, 0, &raw const times, std::ptr::null_mut()) != 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(ticker)
        }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        // SAFETY: the timer is ours and is deleted once.
        unsafe { libc::timer_delete(self.timer) };
    }
}

//! What a process has used.

use std::time::Instant;

/// Times in seconds, the largest memory in KiB.
#[derive(Debug, Clone)]
pub struct Usage {
    /// Wall clock.
    pub wall_s: f64,
    /// User and system time.
    pub cpu_s: f64,
    /// Largest resident set (`ru_maxrss`, getrusage(2)).
    pub peak_kib: i64,
}

impl Usage {
    /// When something begins: the clock, and the CPU time until now.
    pub fn now() -> (Instant, f64) {
        (Instant::now(), of_process().0)
    }

    /// What was used since then.
    pub fn since((wall, cpu): (Instant, f64)) -> Self {
        let (now, peak_kib) = of_process();
        Self { wall_s: wall.elapsed().as_secs_f64(), cpu_s: now - cpu, peak_kib }
    }
}

#[allow(unsafe_code)]
fn of_process() -> (f64, i64) {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the kernel fills the structure, and zeros are a valid one.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
        usage.assume_init()
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    (seconds(usage.ru_utime) + seconds(usage.ru_stime), usage.ru_maxrss)
}

//! Readings of the clocks of this host (clock_gettime(2)), paired so that their error is known.

use nix::time::{ClockId, clock_gettime};

/// Real time at a moment after boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// Nanoseconds after boot (`CLOCK_BOOTTIME`).
    pub boot_ns: u64,
    /// Nanoseconds since 1970 (`CLOCK_REALTIME`).
    pub real_ns: i64,
    /// Uncertainty of the pair, in nanoseconds.
    pub error_ns: u64,
}

impl Reading {
    /// What to add to nanoseconds after boot to get nanoseconds since 1970.
    pub fn offset_ns(&self) -> i64 {
        self.real_ns - self.boot_ns as i64
    }
}

fn read(clock: ClockId) -> i64 {
    // The three clocks used here exist on every Linux since 2.6.39: the call cannot fail with a valid clock and a valid address.
    clock_gettime(clock).map_or(0, |time| time.tv_sec() * 1_000_000_000 + time.tv_nsec())
}

/// The time since boot in nanoseconds (`CLOCK_BOOTTIME`, clock_gettime(2)).
pub fn boot_ns() -> u64 {
    read(ClockId::CLOCK_BOOTTIME) as u64
}

/// The best of a few readings: real time between two readings of the time after boot, the closer
/// the better.
pub fn pair() -> Reading {
    let mut best: Option<Reading> = None;
    for _ in 0..8 {
        let before = boot_ns();
        let real_ns = read(ClockId::CLOCK_REALTIME);
        let after = boot_ns();
        let reading = Reading { boot_ns: before + (after - before) / 2, real_ns, error_ns: (after - before).div_ceil(2) };
        if best.is_none_or(|best| reading.error_ns < best.error_ns) {
            best = Some(reading);
        }
    }
    best.unwrap_or(Reading { boot_ns: 0, real_ns: 0, error_ns: u64::MAX })
}

/// Whether the kernel says that its clock is synchronised (adjtimex(2)); `None` when it cannot be
/// asked.
pub fn synchronised() -> Option<bool> {
    // SAFETY: all-zero is a valid `timex` (integers only); with `modes` 0 the kernel only fills it in.
    let state = unsafe {
        let mut timex: libc::timex = std::mem::zeroed();
        libc::adjtimex(&mut timex)
    };
    match state {
        libc::TIME_ERROR => Some(false),
        state if state >= 0 => Some(true),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_lies_between_the_readings_around_it() {
        let before = boot_ns();
        let reading = pair();
        let after = boot_ns();
        assert!(before <= reading.boot_ns && reading.boot_ns <= after);
        let system = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos() as i64;
        assert!((reading.real_ns - system).abs() < 60_000_000_000, "{} and {system}", reading.real_ns);
        assert!(reading.error_ns <= after - before);
    }
}

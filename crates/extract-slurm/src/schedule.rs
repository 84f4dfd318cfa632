//! Time of the next poll: a pure function of the last polls, so that it can be tested without
//! waiting.

use std::time::Duration;

/// Below this, polling is a burden on slurmctld: squeue(1) asks not to call it from loops, and
/// sites ask for 10 to 120 s.
pub const SHORTEST_POLITE: Duration = Duration::from_secs(10);

/// How long at most to wait after repeated failures.
pub const LONGEST: Duration = Duration::from_secs(3600);

/// Returns the time to wait after a poll.
///
/// After success: the interval, from the beginning of one poll to the beginning of the next, with a
/// jitter of up to a tenth either way, so that many observers do not poll at the same moment; but
/// at least the duration of the poll, so that a slow controller is left alone half of the time.
/// After `failures` in a row: the interval doubled `failures` times, at most [`LONGEST`] (or the
/// interval itself when that is longer), from the end of the failed poll.
///
/// `took` is how long the poll took; `draw` is a random number from 0 to 1.
pub fn wait(every: Duration, took: Duration, failures: u32, draw: f64) -> Duration {
    let doubled = every.saturating_mul(1u32.checked_shl(failures.min(30)).unwrap_or(u32::MAX));
    let interval = doubled.min(LONGEST.max(every));
    let jittered = interval.mul_f64(0.9 + 0.2 * draw.clamp(0.0, 1.0));
    if failures > 0 { jittered } else { jittered.saturating_sub(took).max(took) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn regular_with_jitter() {
        assert_eq!(wait(MINUTE, Duration::ZERO, 0, 0.5), MINUTE);
        assert_eq!(wait(MINUTE, Duration::ZERO, 0, 0.0), MINUTE.mul_f64(0.9));
        assert_eq!(wait(MINUTE, Duration::ZERO, 0, 1.0), MINUTE.mul_f64(1.1));
        assert_eq!(wait(MINUTE, Duration::from_secs(5), 0, 0.5), Duration::from_secs(55));
        assert_eq!(wait(MINUTE, Duration::from_secs(40), 0, 0.5), Duration::from_secs(40));
        assert_eq!(wait(MINUTE, Duration::from_secs(500), 0, 0.5), Duration::from_secs(500));
    }

    #[test]
    fn doubling_after_failures() {
        assert_eq!(wait(MINUTE, Duration::ZERO, 1, 0.5), 2 * MINUTE);
        assert_eq!(wait(MINUTE, 2 * MINUTE, 1, 0.5), 2 * MINUTE, "from the end of what failed");
        assert_eq!(wait(MINUTE, MINUTE, 1, 1.0), (2 * MINUTE).mul_f64(1.1));
        assert_eq!(wait(MINUTE, Duration::ZERO, 3, 0.5), 8 * MINUTE);
        assert_eq!(wait(MINUTE, Duration::ZERO, 1000, 0.5), LONGEST);
        assert_eq!(wait(2 * LONGEST, Duration::ZERO, 5, 0.5), 2 * LONGEST);
    }
}

//! The clocks of hosts: by how much times of a trace have to be corrected, and how far they can be trusted.
//!
//! A trace turns nanoseconds after boot into UTC with the difference that it read at its beginning. Later readings (table `clocks`) tell how that difference has changed since, as a clock is
//! slewed or set; between two readings it is interpolated. Only the order of accesses on several hosts needs this: times in tables are those of the trace.

use flowmine_schema::tables::{Clock, Host};
use flowmine_schema::{Dataset, Projection};
use rustc_hash::FxHashMap;

use crate::CorrelateError;

/// By so much clocks of which nobody knows that they are synchronised are taken to differ.
const UNSYNCHRONISED_NS: i64 = 1_000_000_000;

/// What is known of one host's clock.
#[derive(Debug, Clone, Default)]
struct HostClock {
    /// UTC of the trace, and what has to be added to it.
    corrections: Vec<(i64, i64)>,
    error_ns: i64,
    unsynchronised: bool,
}

/// The clocks of all hosts, by their numbers.
#[derive(Debug, Default)]
pub struct Clocks(Vec<HostClock>);

impl Clocks {
    /// Reads the tables `hosts` and `clocks`.
    ///
    /// # Errors
    /// When the dataset cannot be read.
    pub fn read(dataset: &Dataset, hosts: &[String]) -> Result<Self, CorrelateError> {
        let number: FxHashMap<&str, usize> = hosts.iter().enumerate().map(|(at, host)| (host.as_str(), at)).collect();
        let mut clocks = vec![HostClock::default(); hosts.len()];
        let mut offsets: FxHashMap<(usize, i64), i64> = FxHashMap::default();
        dataset.read::<Host<'static>, CorrelateError>(Projection::Only(&["host", "trace_ns", "boot_offset_ns"]), |row| {
            if let (Some(&at), Some(offset)) = (number.get(&*row.host), row.boot_offset_ns) {
                offsets.insert((at, row.trace_ns), offset);
            }
            Ok(())
        })?;
        dataset.read::<Clock<'static>, CorrelateError>(Projection::All, |row| {
            let Some(&at) = number.get(&*row.host) else { return Ok(()) };
            let clock = &mut clocks[at];
            clock.error_ns = clock.error_ns.max(row.error_ns);
            clock.unsynchronised |= row.synchronised != Some(true);
            if let Some(offset) = offsets.get(&(at, row.trace_ns)) {
                let of_trace = row.boot_ns.saturating_add(*offset);
                clock.corrections.push((of_trace, row.real_ns.saturating_sub(of_trace)));
            }
            Ok(())
        })?;
        for clock in &mut clocks {
            clock.unsynchronised |= clock.corrections.is_empty();
            clock.corrections.sort_unstable();
        }
        Ok(Self(clocks))
    }

    /// A time of a trace by the host's clock at that moment.
    pub fn correct(&self, host: u32, ns: i64) -> i64 {
        let Some(clock) = self.0.get(host as usize) else { return ns };
        let after = clock.corrections.partition_point(|(at, _)| *at <= ns);
        let correction = match (after.checked_sub(1).map(|at| clock.corrections[at]), clock.corrections.get(after)) {
            (Some((a, at_a)), Some((b, at_b))) => {
                let part = (i128::from(at_b - at_a) * i128::from(ns - a)) / i128::from((b - a).max(1));
                at_a + part as i64
            }
            (Some((_, correction)), None) => correction,
            (None, Some((_, correction))) => *correction,
            (None, None) => 0,
        };
        ns.saturating_add(correction)
    }

    /// By how much a host's clock can be wrong.
    pub fn doubt_ns(&self, host: u32) -> i64 {
        let Some(clock) = self.0.get(host as usize) else { return UNSYNCHRONISED_NS };
        clock.error_ns.saturating_add(if clock.unsynchronised { UNSYNCHRONISED_NS } else { 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_two_readings_the_correction_is_interpolated() {
        let clock = HostClock { corrections: vec![(1000, 0), (2000, 100)], error_ns: 5, unsynchronised: false };
        let clocks = Clocks(vec![clock]);
        assert_eq!([0, 1000, 1500, 2000, 9000].map(|ns| clocks.correct(0, ns)), [0, 1000, 1550, 2100, 9100]);
        assert_eq!((clocks.doubt_ns(0), clocks.doubt_ns(1)), (5, UNSYNCHRONISED_NS));
    }
}

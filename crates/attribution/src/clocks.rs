//! The clocks of hosts: by how much times of a trace have to be corrected, and how far they can be
//! trusted.
//!
//! A trace turns nanoseconds after boot into UTC with the difference that it read at its beginning.
//! Later readings (table `clocks`) show how that difference has changed since, as a clock is slewed
//! or set; between two readings it is interpolated. Only the order of accesses on several hosts
//! needs this: times in tables are those of the trace.

use flowmine_dataset::Dataset;
use flowmine_schema::tables::{Clock, Host};
use rustc_hash::FxHashMap;

use crate::AttributionError;

flowmine_schema::columns! {
    /// When a traced host had begun to run.
    struct Boot of Host { trace_ns, boot_offset_ns }
}

/// Assumed difference of clocks that are not known to be synchronised, in nanoseconds.
const UNSYNCHRONISED_NS: i64 = 1_000_000_000;

/// Known properties of one host's clock.
#[derive(Debug, Clone, Default)]
pub struct HostClock {
    /// UTC of the trace, and by the clock.
    readings: Vec<(i64, i64)>,
    error_ns: i64,
    unsynchronised: bool,
}

impl HostClock {
    /// A clock that was set back keeps the order of events on its host: it stops until it has
    /// caught up, and its doubt grows by that time.
    fn forward(&mut self) {
        self.unsynchronised |= self.readings.is_empty();
        self.readings.sort_unstable();
        let mut latest = i64::MIN;
        for (_, real) in &mut self.readings {
            latest = latest.max(*real);
            self.error_ns = self.error_ns.max(latest.saturating_sub(*real));
            *real = latest;
        }
    }
}

impl HostClock {
    /// Reads the rows of a host in the tables `hosts` and `clocks`.
    ///
    /// # Errors
    /// When the dataset cannot be read.
    pub fn read(dataset: &Dataset, host: &str) -> Result<Self, AttributionError> {
        let mut clock = Self::default();
        let mut offsets: FxHashMap<i64, i64> = FxHashMap::default();
        dataset.read_of_host::<Boot<'static>, AttributionError>(host, |row| {
            if let Some(offset) = row.boot_offset_ns {
                offsets.insert(row.trace_ns, offset);
            }
            Ok(())
        })?;
        dataset.read_of_host::<Clock<'static>, AttributionError>(host, |row| {
            clock.error_ns = clock.error_ns.max(row.error_ns);
            clock.unsynchronised |= row.synchronised != Some(true);
            if let Some(offset) = offsets.get(&row.trace_ns) {
                let of_trace = row.boot_ns.saturating_add(*offset);
                clock.readings.push((of_trace, row.real_ns));
            }
            Ok(())
        })?;
        clock.forward();
        Ok(clock)
    }

    /// A time of a trace by the host's clock at that moment.
    pub fn correct(&self, ns: i64) -> i64 {
        let readings = &self.readings;
        let after = readings.partition_point(|(at, _)| *at <= ns);
        let before = after.checked_sub(1).map(|at| readings[at]);
        match (before, readings.get(after)) {
            (Some((a, real_a)), Some((b, real_b))) => {
                let part = u128::from(real_a.abs_diff(*real_b)) * u128::from(a.abs_diff(ns)) / u128::from(a.abs_diff(*b));
                real_a.saturating_add_unsigned(part as u64)
            }
            (Some((at, real)), None) | (None, Some(&(at, real))) => {
                let corrected = i128::from(ns) + i128::from(real) - i128::from(at);
                corrected.clamp(i64::MIN.into(), i64::MAX.into()) as i64
            }
            (None, None) => ns,
        }
    }

    /// Returns the maximum error of the clock, in nanoseconds.
    pub fn doubt_ns(&self) -> i64 {
        self.error_ns.saturating_add(if self.unsynchronised { UNSYNCHRONISED_NS } else { 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_two_readings_the_correction_is_interpolated() {
        let clock = HostClock { readings: vec![(1000, 1000), (2000, 2100)], error_ns: 5, unsynchronised: false };
        assert_eq!([0, 1000, 1500, 2000, 9000].map(|ns| clock.correct(ns)), [0, 1000, 1550, 2100, 9100]);
        assert_eq!(clock.doubt_ns(), 5);
    }

    #[test]
    fn a_clock_that_is_set_back_keeps_the_order_of_its_host() {
        let mut clock = HostClock { readings: vec![(3000, 1100), (1000, 1000), (2000, 100)], error_ns: 5, unsynchronised: false };
        clock.forward();
        let corrected: Vec<i64> = (0..5000).step_by(7).map(|ns| clock.correct(ns)).collect();
        assert!(corrected.is_sorted(), "{corrected:?}");
        assert_eq!((clock.correct(4000), clock.doubt_ns()), (2100, 900));
    }

    #[test]
    fn no_reading_is_too_far_off() {
        for readings in [vec![(i64::MIN, i64::MAX), (i64::MAX, i64::MIN)], vec![(i64::MIN, i64::MIN), (0, i64::MAX), (i64::MAX, 0)]] {
            let mut clock = HostClock { readings, ..HostClock::default() };
            clock.forward();
            let corrected = [i64::MIN, i64::MIN + 1, -1, 0, 1, i64::MAX - 1, i64::MAX].map(|ns| clock.correct(ns));
            assert!(corrected.is_sorted(), "{corrected:?}");
        }
    }
}

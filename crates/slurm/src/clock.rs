//! How far the clock of a machine is ahead of slurmctld's.
//!
//! Slurm's own times are whole seconds of slurmctld's clock; whoever polls stamps polls with
//! another. Each thing that is known bounds the difference: [`Ahead`] is the interval that is left.

use flowmine_schema::time::{self, SECOND_NS};

/// Up to this difference two clocks are treated as one.
const SAME_NS: i64 = SECOND_NS / 2;

/// A bound that is narrower by less is not worth a record.
pub const WORTH_A_ROW_NS: i64 = SECOND_NS / 4;

/// A clock that is treated as right, or that is corrected by recorded bounds, can still be wrong by
/// this: by half a second that makes no difference, and by what no record was worth, both rounded up.
pub const UNCERTAINTY_NS: i64 = SECOND_NS;
const _: () = assert!(SAME_NS + WORTH_A_ROW_NS <= UNCERTAINTY_NS);

/// An interval in which the difference between a clock and slurmctld's lies, in nanoseconds;
/// negative where the clock is behind. The default says nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ahead {
    /// The clock is ahead by this or more.
    pub least_ns: Option<i64>,
    /// The clock is ahead by this or less.
    pub most_ns: Option<i64>,
}

impl Ahead {
    /// The interval of a reading: slurmctld gave its time, in whole seconds, between two moments of
    /// the clock.
    pub fn of_reading(began_ns: i64, ended_ns: i64, controller_ns: i64) -> Self {
        let least_ns = began_ns.saturating_sub(controller_ns).saturating_sub(SECOND_NS);
        Self { least_ns: Some(least_ns), most_ns: Some(ended_ns.saturating_sub(controller_ns)) }
    }

    /// Something with this time of Slurm's had not happened at a moment of the clock. Slurm takes
    /// the time when it begins to work on a change, which shows up to `delay_ns` later.
    pub fn not_yet(at_ns: i64, slurm_ns: i64, delay_ns: i64) -> Self {
        let least_ns = at_ns.saturating_sub(slurm_ns).saturating_sub(SECOND_NS).saturating_sub(delay_ns);
        Self { least_ns: Some(least_ns), most_ns: None }
    }

    /// Something with this time of Slurm's had happened at a moment of the clock.
    pub fn already(at_ns: i64, slurm_ns: i64) -> Self {
        Self { least_ns: None, most_ns: Some(at_ns.saturating_sub(slurm_ns)) }
    }

    /// What holds when both do; `None` where they contradict each other.
    pub fn and(self, other: Self) -> Option<Self> {
        let least_ns = self.least_ns.max(other.least_ns);
        let most_ns = match (self.most_ns, other.most_ns) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        let is_possible = least_ns.zip(most_ns).is_none_or(|(least, most)| least <= most);
        is_possible.then_some(Self { least_ns, most_ns })
    }

    /// Whether nothing is known.
    pub fn is_unknown(self) -> bool {
        self.least_ns.is_none() && self.most_ns.is_none()
    }

    /// The least and the most by which the clock is ahead; `None` where both clocks can be the
    /// same, to half a second.
    pub fn difference_ns(self) -> Option<(i64, i64)> {
        let is_ahead = self.least_ns.is_some_and(|least| least > SAME_NS);
        let is_behind = self.most_ns.is_some_and(|most| most < -SAME_NS);
        if !is_ahead && !is_behind {
            return None;
        }
        let (least, most) = (self.least_ns.or(self.most_ns)?, self.most_ns.or(self.least_ns)?);
        Some((least, most))
    }

    /// How far the clock is ahead, in the middle of the possible range; 0 if both clocks can be
    /// equal.
    pub fn middle_ns(self) -> i64 {
        self.difference_ns().map_or(0, |(least, most)| least.saturating_add(most.saturating_sub(least) / 2))
    }
}

/// slurmctld's clock in the output of `scontrol show config`, in nanoseconds since 1970: seconds
/// since 1970 or a date, as `SLURM_TIME_FORMAT` has it.
pub fn controller_time_ns(config: &str) -> Option<i64> {
    let time = config.lines().find_map(|line| line.strip_prefix("Configuration data as of "))?;
    time::parse(time)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const S: i64 = SECOND_NS;

    #[test]
    fn the_configuration_has_a_time() {
        let config = |time: &str| controller_time_ns(&format!("Configuration data as of {time}\nAccountingStorageBackupHost = (null)\n"));
        assert_eq!(config("1795187070"), Some(1_795_187_070 * S));
        assert_eq!(config("2026-11-20T15:04:30"), Some(1_795_187_070 * S));
        assert_eq!((config("Unknown"), config("")), (None, None));
        assert_eq!(controller_time_ns("ClusterName = lab\n"), None);
    }

    #[test]
    fn clocks_that_can_be_the_same_are() {
        let ahead = |least, most| Ahead { least_ns: least, most_ns: most };
        assert_eq!((Ahead::default().difference_ns(), Ahead::default().middle_ns()), (None, 0));
        assert_eq!(ahead(Some(-S), Some(S)).difference_ns(), None);
        assert_eq!(ahead(Some(89 * S), Some(91 * S)).difference_ns(), Some((89 * S, 91 * S)));
        assert_eq!(ahead(Some(89 * S), Some(91 * S)).middle_ns(), 90 * S);
        assert_eq!(ahead(None, Some(-40 * S)).difference_ns(), Some((-40 * S, -40 * S)));
        assert_eq!(ahead(None, Some(3 * S)).difference_ns(), None);
        assert_eq!(ahead(Some(S), Some(2 * S)).and(ahead(Some(3 * S), None)), None);
    }

    proptest! {
        /// Whatever is asked in whatever order: what is left contains the truth.
        #[test]
        fn the_truth_stays_possible(
            ahead_ns in -400 * S..400 * S,
            moments in proptest::collection::vec((0..86_400 * S, 0..3 * S, 0..3u8), 1..20),
        ) {
            let mut left = Ahead::default();
            for (at, took, kind) in moments {
                // A model of both clocks: slurmctld's is `at`, cut to whole seconds where it is shown.
                let shown = at / S * S;
                let own = at + ahead_ns;
                let known = match kind {
                    0 => Ahead::of_reading(own - took / 2, own + took / 2, shown),
                    1 => Ahead::already(own + took, shown),
                    _ => Ahead::not_yet(own - took, shown, 0),
                };
                left = left.and(known).expect("the truth contradicts nothing");
                prop_assert!(left.least_ns.is_none_or(|least| least <= ahead_ns));
                prop_assert!(left.most_ns.is_none_or(|most| ahead_ns <= most));
            }
        }
    }
}

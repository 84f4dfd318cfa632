//! `controller_clocks`: how the clock of whoever polls relates to slurmctld's.

crate::table! {
    /// From a poll on: by how much the clock of the machine that polls is ahead of slurmctld's.
    ///
    /// Times that Slurm reports are of slurmctld's clock. `not_before_ns` and `observed_at_ns` of
    /// `job_states` are of the clock of the machine where squeue runs, and stay as observed.
    /// Attempts, waits and logs, which are derived from them, are corrected by this table. A row
    /// that contradicts the rows before it shows that a clock was set.
    pub struct ControllerClock in "controller_clocks" {
        /// Cluster name.
        cluster: text(Cluster),
        /// The polls that it is true of: the `source` of their rows in `job_states`.
        source: text(Word(Ours)),
        /// When the poll began, by the clock of the machine that polls.
        began_ns: i64,
        /// When the poll ended, by the same clock: `observed_at_ns` of its rows in `job_states`.
        ended_ns: i64,
        /// The clock is ahead by this or more; negative where it is behind. Null when that is not
        /// known.
        ahead_least_ns: opt_i64,
        /// The clock is ahead by this or less. Null when that is not known.
        ahead_most_ns: opt_i64,
        /// What it is known from: `scontrol`, to which slurmctld gave its time, or `jobs`: one that
        /// was seen running had started, one that was seen waiting had not.
        evidence: text(Harmless),
    }
}

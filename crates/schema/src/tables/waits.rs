//! `waits`: what job attempts waited for.

crate::table! {
    /// One part of the time of a job attempt, from its submission to its end, with its cause.
    ///
    /// The parts of an attempt are in order and tile that time exactly. An attempt that has not
    /// ended is divided until the latest observation in the dataset.
    ///
    /// | cause | kind | meaning |
    /// |---|---|---|
    /// | `predecessor` | own wish | a job on which it depends had not ended; `predecessors` names them |
    /// | `never_satisfiable` | own wish | a dependency that can no longer be met |
    /// | `begin_time` | own wish | its begin time was still to come |
    /// | `held_by_user`, `held_by_admin`, `held` | own wish | a hold; `held`: by whom is not known |
    /// | `array_throttle` | own wish | the limit of its own array |
    /// | `reservation` | own wish | the reservation that it asked for had not begun |
    /// | `requeued` | own wish | an attempt before it was put back, and Slurm delayed this one |
    /// | `not_eligible` | own wish | one of these, which is not known |
    /// | `limit_of_qos`, `limit_of_user`, `limit_of_account`, `limit_of_partition` | queueing | a limit; `reason` says which |
    /// | `partition_down`, `node_down` | queueing | a partition or nodes that were not available |
    /// | `reservation_of_others` | queueing | nodes that were reserved for others |
    /// | `priority` | queueing | jobs of higher priority |
    /// | `resources` | queueing | resources that were not free |
    /// | `queued` | queueing | eligible; why it waited is not known |
    /// | `unknown` | unknown | nothing is known |
    /// | `configuring`, `running`, `suspended` | started | its nodes were made ready, it ran, it was suspended |
    pub struct WaitPart in "waits" {
        /// Cluster name.
        cluster: text(Cluster),
        /// The job, as in `job_states`.
        job: text(Number),
        /// Its raw id.
        job_id: i64,
        /// When the attempt was submitted.
        submit_ns: opt_i64,
        /// The attempt's number, from 1.
        attempt: i64,
        /// The part's place among those of the attempt, from 0.
        part: i64,
        /// Its cause.
        cause: text(Harmless),
        /// When it began.
        from_ns: i64,
        /// When it ended.
        to_ns: i64,
        /// It began at this time or later; null where `from_ns` is exact.
        from_earliest_ns: opt_i64,
        /// It began at this time or before; null where `from_ns` is exact.
        from_latest_ns: opt_i64,
        /// It ended at this time or later; null where `to_ns` is exact.
        to_earliest_ns: opt_i64,
        /// It ended at this time or before; null where `to_ns` is exact.
        to_latest_ns: opt_i64,
        /// The reason that Slurm gave, as it wrote it.
        reason: opt_text(Reason),
        /// The jobs that were waited for, with commas between; only where `cause` is
        /// `predecessor` or `never_satisfiable`.
        predecessors: opt_text(Number),
        /// What the cause is known from: `poll`, `times` that Slurm reports, `dependencies` and the
        /// ends of the jobs waited for, `nothing`.
        evidence: text(Harmless),
    }
}

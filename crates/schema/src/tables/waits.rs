//! `waits`: what attempts at jobs, and tasks of workflow engines, waited for.

crate::table! {
    /// One part of the time of a job attempt or of an engine's task, with its cause.
    ///
    /// The parts of an attempt are in order and tile the time from its submission to its end
    /// exactly. An attempt that has not ended is divided until the latest observation in the
    /// dataset.
    ///
    /// A row has a job (`cluster`, `job`, `job_id`) or a task (`task`). A task has one division for
    /// all its attempts. It begins at its first known moment, or at the end of all its predecessors
    /// if that was earlier. Parts that clocks make negative are left out. So are tasks of which the
    /// start or the end is not known.
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
    /// | `licenses` | queueing | licences that were not free |
    /// | `queued` | queueing | eligible; why it waited is not known |
    /// | `unknown` | unknown | nothing is known |
    /// | `configuring`, `running`, `suspended` | started | its nodes were made ready, it ran, it was suspended |
    /// | `lag` | predecessor of a task | a task on which it depends runs at the same time, and had not started |
    /// | `retry` | own wish of a task | attempts before the last one |
    /// | `slots` | engine | a task was not submitted: as many tasks ran as ever did |
    /// | `submission` | engine | a task was not submitted, though all that it waits for had ended |
    /// | `waiting` | engine | a task had not started; when it was submitted is not known |
    /// | `turnaround` | started | from a task's submission to its end; the start is not known |
    ///
    /// Of a task `unknown` is of the kind `engine`: it was not submitted, and what it waited for is
    /// not known.
    pub struct WaitPart in "waits" {
        /// Cluster name; null for a task.
        cluster: opt_text(Cluster),
        /// The job, as in `job_states`; null for a task.
        job: opt_text(Number),
        /// Its raw id.
        job_id: opt_i64,
        /// When the attempt was submitted; of a task the last one.
        submit_ns: opt_i64,
        /// The attempt's number, from 1; of a task that of the last one.
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
        /// `predecessor` or `never_satisfiable`. Null for a task.
        predecessors: opt_text(Number),
        /// What the cause is known from: `poll`, `times` that Slurm or the engine reports,
        /// `dependencies` and the ends of the jobs or tasks waited for, `inferred` where these are
        /// inferred, `nothing`.
        evidence: text(Harmless),
        /// The task, by its last attempt as in `task_io.task`; null for a job.
        task: opt_text(Task),
        /// The task's run: its name, else its id, else its engine; null for a job.
        run: opt_text(Path),
        /// The tasks that were waited for, by their last attempts, as a JSON array; only where
        /// `cause` is `predecessor` or `lag`. Null for a job.
        predecessor_tasks: opt_text(Withheld),
    }
}

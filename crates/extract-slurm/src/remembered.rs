//! What an observer remembers of a job between polls, as a row.

flowmine_schema::table! {
    /// One job of the queue at the last poll: an observer's memory, not part of the dataset's
    /// tables.
    pub struct Remembered in ".state" {
        /// The array's id for what is of an array, else the job's raw id.
        id: i64,
        /// Array index; -1 for none, -2 for a pending array.
        task: i64,
        /// Slurm's raw job id, as `%A` of squeue(1).
        job_id: i64,
        /// Submit time, UTC nanoseconds since 1970.
        submit_ns: opt_i64,
        /// Job state, as in `job_states`.
        state: text(Word(States)),
        /// Raw id of the first component of a heterogeneous job.
        het_job_id: opt_i64,
        /// Offset of the component within its heterogeneous job.
        het_offset: opt_i64,
        /// Indices of a pending array, as Slurm lists them.
        tasks: opt_text(Number),
        /// The dependency as squeue printed it last.
        dependency: opt_text(Withheld),
        /// The terms seen so far, written like a dependency column; commas between.
        terms: opt_text(Withheld),
        /// Name of the job.
        name: opt_text(Path),
        /// Name of the user.
        user: opt_text(User),
        /// Account that is charged.
        account: opt_text(Account),
        /// Partition, or several with commas between where the job may run in any of them.
        partition: opt_text(Partitions),
        /// Quality of service (QOS).
        qos: opt_text(Qos),
        /// Comment of the job.
        comment: opt_text(Comment),
        /// Slurm's reason why the job waits, as squeue printed it last.
        reason: opt_text(Reason),
        /// Node features (constraints) asked for.
        features: opt_text(Label),
        /// Resources of each node asked for.
        tres_per_node: opt_text(Resources),
        /// Time limit in seconds.
        time_limit_s: opt_i64,
        /// Priority in its last row.
        priority: opt_i64,
        /// Nice value, which lowers the priority.
        nice: opt_i64,
        /// Number of nodes.
        nodes: opt_i64,
        /// Number of CPUs.
        cpus: opt_i64,
        /// Memory asked for, in bytes.
        memory_bytes: opt_i64,
        /// 1 when it is held. Null when an older flowmine wrote this: then nothing is known of the
        /// columns from `name` on.
        held: opt_i64,
    }
}

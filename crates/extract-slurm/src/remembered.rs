//! What an observer remembers of a job between polls, as a row.

flowmine_schema::table! {
    /// One job of the queue at the last poll: an observer's memory, not part of the dataset's
    /// tables.
    pub struct Remembered in ".state" {
        /// Array id or raw id.
        id: i64,
        /// Array index; -1 for none, -2 for a pending array.
        task: i64,
        /// Raw id.
        job_id: i64,
        /// Submit time.
        submit_ns: opt_i64,
        /// State.
        state: text(Word(States)),
        /// First component's id.
        het_job_id: opt_i64,
        /// Component.
        het_offset: opt_i64,
        /// Pending indices.
        tasks: opt_text(Number),
        /// Dependency column.
        dependency: opt_text(Withheld),
        /// The terms seen so far, written like a dependency column; commas between.
        terms: opt_text(Withheld),
        /// Job name.
        name: opt_text(Path),
        /// User.
        user: opt_text(User),
        /// Account.
        account: opt_text(Account),
        /// Partition.
        partition: opt_text(Partitions),
        /// Quality of service.
        qos: opt_text(Qos),
        /// Comment.
        comment: opt_text(Comment),
        /// Why it waits.
        reason: opt_text(Reason),
        /// Features asked for.
        features: opt_text(Label),
        /// Resources of each node asked for.
        tres_per_node: opt_text(Resources),
        /// Time limit.
        time_limit_s: opt_i64,
        /// Priority in its last row.
        priority: opt_i64,
        /// Nice value.
        nice: opt_i64,
        /// Nodes.
        nodes: opt_i64,
        /// CPUs.
        cpus: opt_i64,
        /// Memory asked for.
        memory_bytes: opt_i64,
        /// 1 when it is held. Null when an older flowmine wrote this: then nothing is known of the
        /// columns from `name` on.
        held: opt_i64,
    }
}

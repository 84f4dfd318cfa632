//! `job_states`: what was observed of jobs.

crate::table! {
    /// One observed change of one job attempt, with the interval in which it happened.
    ///
    /// An attempt is a (`cluster`, `job`, `submit_ns`). Slurm keeps a job's id when it is requeued,
    /// and gives it a new submit time. It uses ids again when they wrap. Rows come from polling
    /// `squeue` (`source` = `squeue`, `squeue-json`, `slurmminer`) and from accounting (`source` =
    /// `sacct`, `sacct-json`, `swf`). Text that was not UTF-8 holds `\xNN` for each such byte.
    pub struct JobState in "job_states" {
        /// Cluster name (`ClusterName` in slurm.conf, or what `--cluster` said).
        cluster: text(Cluster),
        /// The job as Slurm prints it: `7`, array task `8_3`, component of a heterogeneous job
        /// `18+1`. `8_*` is what has not yet become a task of a pending array; `array_tasks` says
        /// which.
        job: text(Number),
        /// Slurm's raw job id (`%A`); where a file has only the displayed one, the array's id for a
        /// task, and the first id plus the number for a component. The record of a pending array,
        /// and its last task, carry the array's id.
        job_id: i64,
        /// Time of submission of this attempt, by Slurm (whole seconds). Null if the source does
        /// not have it.
        submit_ns: opt_i64,
        /// `new`: first seen. `state`: the state has changed. `requeued`: first seen of a later
        /// attempt. `held`, `released`, `changed`: the same state, but what `changed` names has
        /// changed. `left`: no longer in the queue. `accounting`: not a change but a
        /// fact from accounting.
        change: text(Word(Ours)),
        /// What differs from the previous poll: names of columns of this table, or
        /// `dependency`, with commas between. In a row of another state, only what that state does
        /// not bring with it (no reason, priority, nodes, CPUs, memory or dependency). A job is
        /// held while its priority is 0 or its reason JobHeldUser or JobHeldAdmin. Slurm raises the
        /// priority of a waiting job all the time: alone it makes a row only when it comes to or
        /// from 0, or is another by a tenth than in the row before.
        changed: opt_text(ColumnNames) droppable,
        /// The state's full name as in squeue(1), JOB STATE CODES; null where `change` is `left`.
        state: opt_text(Word(States)),
        /// The change happened after this time (the poll before, or the submit time when that is
        /// later). Null when nothing earlier is known.
        not_before_ns: opt_i64 droppable,
        /// The change had happened at this time, on the cluster's clock: when `squeue` had
        /// answered. For imported files the time in their content or name, else `--observed-at` or
        /// the file's modification time; for imported accounting the latest time in the file.
        observed_at_ns: i64,
        /// When Slurm itself says that the change happened (whole seconds): submit time for
        /// PENDING, start for RUNNING, end for a state after running. Null when Slurm names no time
        /// for it or one outside the interval.
        reported_ns: opt_i64 droppable,
        /// The source: `squeue`, `squeue-json`, `slurmminer`, `sacct`, `sacct-json`,
        /// `swf`.
        source: text(Word(Ours)),
        /// The array's id (`%F`) when the job belongs to one.
        array_job_id: opt_i64 droppable,
        /// The array index.
        array_task_id: opt_i64 droppable,
        /// The indices that are still pending and the limit, as Slurm writes them: `3-9%3`. Only on
        /// the record of a pending array.
        array_tasks: opt_text(Number) droppable,
        /// Raw id of the first component of a heterogeneous job.
        het_job_id: opt_i64 droppable,
        /// Number of the component, from 0.
        het_offset: opt_i64 droppable,
        /// Job name.
        name: opt_text(Path) droppable,
        /// User name.
        user: opt_text(User) droppable,
        /// Group name; the case study's project id.
        group: opt_text(Group) droppable,
        /// Account that is charged.
        account: opt_text(Account) droppable,
        /// Partition, or the list of those asked for while pending (`debug,short`).
        partition: opt_text(Partitions) droppable,
        /// Quality of service.
        qos: opt_text(Qos) droppable,
        /// Why it is in this state, as Slurm says; may be a sentence.
        reason: opt_text(Reason) droppable,
        /// The user's comment.
        comment: opt_text(Comment) droppable,
        /// The file name of the command, without folders and arguments; the job's name where there
        /// is no command (`--wrap`, salloc). What is mined as activity.
        activity: opt_text(Path) droppable,
        /// The command's path as submitted, without arguments. `squeue` prints both in one string
        /// without quotes: a path with spaces is distinguished from its arguments by the work
        /// directory and by the job's name, which is the file name unless the user chose another;
        /// where neither helps the path ends at the first space.
        command: opt_text(Path) droppable,
        /// The command's arguments as one string.
        arguments: opt_text(Line) droppable,
        /// Work directory.
        work_dir: opt_text(Path) droppable,
        /// Number of nodes, asked for or given.
        nodes: opt_i64 droppable,
        /// The nodes, as a Slurm host list: `n[1-4]`.
        node_list: opt_text(HostList) droppable,
        /// Number of CPUs, asked for or given.
        cpus: opt_i64 droppable,
        /// Memory asked for, in bytes: per node or, when the user asked so, per CPU (`squeue` does
        /// not say which).
        memory_bytes: opt_i64 droppable,
        /// Memory asked for by the whole job, in bytes: sacct's `ReqMem` since Slurm 21.08. Before,
        /// `ReqMem` was per node (`4Gn`) or per CPU (`4Gc`), which is in `memory_bytes`.
        total_memory_bytes: opt_i64 droppable,
        /// Time limit in seconds; null when unlimited, not set or unknown.
        time_limit_s: opt_i64 droppable,
        /// Priority as squeue's `%Q` and sacct's `Priority` have it; 0 is held.
        priority: opt_i64 droppable,
        /// Nice value (`%y`); accounting does not keep it.
        nice: opt_i64 droppable,
        /// Features of nodes asked for, as Slurm writes them (`%f`, sacct's `Constraints`):
        /// `a100&nvlink`.
        features: opt_text(Label) droppable,
        /// Trackable resources asked for on each node (`%b`): `gres:gpu:2`.
        tres_per_node: opt_text(Resources) droppable,
        /// Licences asked for (`squeue`'s LICENSES): `matlab:2`. Accounting has those that were given
        /// in `allocated_tres`.
        licenses: opt_text(Resources) droppable,
        /// The node from which it was submitted (`ALLOC_NODES`).
        submit_node: opt_text(Host) droppable,
        /// The session of the shell or job that submitted it (`ALLOC_SID`): a process id on
        /// `submit_node`, there in the PID namespace of who submitted it. Null where the leader of
        /// the session is not visible from there, for which Slurm has 0: often in a container.
        submit_session: opt_i64 droppable,
        /// Trackable resources asked for, as accounting keeps them (`ReqTRES`):
        /// `billing=4,cpu=4,gres/gpu=2,mem=8G,node=1`.
        requested_tres: opt_text(Resources) droppable,
        /// Trackable resources given (`AllocTRES`).
        allocated_tres: opt_text(Resources) droppable,
        /// Number of GPUs: `gres/gpu` as allocated, else as requested; without accounting, those
        /// requested on each node times the number of nodes.
        gpus: opt_i64 droppable,
        /// When it could have begun by its own conditions, from accounting: begin time reached,
        /// dependencies met, not held (`Eligible`).
        eligible_ns: opt_i64 droppable,
        /// Start time as Slurm says; expected while pending.
        start_ns: opt_i64,
        /// End time as Slurm says; expected (start + limit) while running.
        end_ns: opt_i64,
        /// Exit code of the batch script.
        exit_code: opt_i64 droppable,
        /// Signal that ended it; null when none or unknown.
        exit_signal: opt_i64 droppable,
        /// Who cancelled it, by user id, as accounting says (`CANCELLED by 1001`).
        cancelled_by_uid: opt_i64(UserId) droppable,
        /// Bytes read as counted by Slurm's accounting plugin (`fs/disk` of `TRESUsageInTot`, all
        /// steps added).
        read_bytes: opt_i64 droppable,
        /// Bytes written, in the same way (`TRESUsageOutTot`).
        written_bytes: opt_i64 droppable,
        /// The largest main memory (resident set) that a task of a step had, in bytes, as Slurm's
        /// accounting plugin sampled it (`MaxRSS`).
        max_rss_bytes: opt_i64 droppable,
        /// The largest main memory that all tasks of a step had together, in bytes: the sum of
        /// their peaks (`mem` of `TRESUsageInTot`, else `MaxRSS` × `NTasks`) of the step where it is
        /// largest.
        step_memory_bytes: opt_i64 droppable,
        /// CPU time used by all steps, system and user, in nanoseconds (`TotalCPU`).
        cpu_time_ns: opt_i64 droppable,
        /// Utilisation of its GPUs in percent, summed over them, as Slurm sampled it (`gres/gpuutil`
        /// of `TRESUsageInTot`), of the step where it is largest: 100 is one GPU in full use.
        gpu_percent: opt_i64 droppable,
        /// Memory of its GPUs in use, in bytes, as Slurm sampled it (`gres/gpumem` of
        /// `TRESUsageInTot`), of the step where it is largest.
        gpu_memory_bytes: opt_i64 droppable,
        /// The command line of sbatch, srun or salloc, as accounting keeps it.
        submit_line: opt_text(Line) droppable,
    }
}

/// The values of `job_states.change`.
pub mod change {
    /// The attempt at a job was seen for the first time.
    pub const NEW: &str = "new";
    /// The job is in another state than before.
    pub const STATE: &str = "state";
    /// First seen of a later attempt at the same job.
    pub const REQUEUED: &str = "requeued";
    /// Kept from starting by its user or an administrator.
    pub const HELD: &str = "held";
    /// The job is no longer kept from starting by its user or an administrator.
    pub const RELEASED: &str = "released";
    /// The same state, but something else has changed.
    pub const CHANGED: &str = "changed";
    /// No longer in the queue.
    pub const LEFT: &str = "left";
    /// What accounting reports of the attempt, and no change that a poll saw.
    pub const ACCOUNTING: &str = "accounting";

    /// Whether a pending job with this priority and reason is held.
    pub fn is_hold(priority: Option<i64>, reason: Option<&str>) -> bool {
        priority == Some(0) || matches!(reason, Some("JobHeldUser" | "JobHeldAdmin"))
    }
}

/// The values of `job_states.source` and `job_dependencies.source`.
pub mod source {
    /// `squeue`'s text, live or from a file.
    pub const SQUEUE: &str = "squeue";
    /// `squeue --json`.
    pub const SQUEUE_JSON: &str = "squeue-json";
    /// A log of SLURMminer.
    pub const SLURMMINER: &str = "slurmminer";
    /// `sacct --parsable2`.
    pub const SACCT: &str = "sacct";
    /// `sacct --json`.
    pub const SACCT_JSON: &str = "sacct-json";
    /// A log in the Standard Workload Format.
    pub const SWF: &str = "swf";

    /// Whether a source is accounting, which has exact times, and not a poll of the queue.
    pub fn is_accounting(source: &str) -> bool {
        source.starts_with("sacct") || source == SWF
    }
}

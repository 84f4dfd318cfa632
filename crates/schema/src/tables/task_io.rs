//! `task_io`, `task_totals`, `logical_task_totals`: what tasks did to files, and its sums.

crate::table! {
    /// What one task attempt did to one file, on one host.
    ///
    /// The processes of a task are found by rules (`docs/attribution.md`). A row is of a task of an
    /// engine and of the job, pod and container that it ran in, as far as they are known; a job
    /// without an engine has rows without `task`. What belongs to nobody has `unassigned`. So the
    /// bytes of all rows are the bytes of all operations that were traced, and none is in two rows.
    ///
    /// Bytes are what calls returned, not what they asked for. Page faults of mappings are counted
    /// and have no bytes.
    pub struct TaskIo in "task_io" {
        /// The task attempt: engine, run, task and attempt as one id; null when no engine's task is
        /// known.
        task: opt_text(Task),
        /// Its engine.
        engine: opt_text(Word(OfTasks)),
        /// Its run's id.
        run_id: opt_text(Path),
        /// Its run's name.
        run_name: opt_text(Path),
        /// What it is an instance of.
        logical_task: opt_text(Path),
        /// Cluster of the Slurm job; null when it is not known, or there is no job.
        cluster: opt_text(Cluster),
        /// The Slurm job, as `job_states.job` names it, or its raw id when it was not observed.
        job: opt_text(Number),
        /// The job's submission, when it was observed.
        job_submit_ns: opt_i64,
        /// The step: `0`, `batch`, `extern`, `interactive`.
        step: opt_text(Step),
        /// The pod's uid.
        pod: opt_text(Container),
        /// The container's id.
        container: opt_text(Container),
        /// The systemd scope or service in whose control group it ran.
        unit: opt_text(Container),
        /// Why there is neither task nor job, pod, container: `contradiction`, `starts-tasks` (an
        /// engine, or a part of a scheduler), `other-user` (none of whose processes belongs to
        /// anything), `before-trace` (the process ran before the trace began), `no-process`
        /// (nothing is known of it but operations), `no-rule`. Otherwise null.
        unassigned: opt_text(Word(OfTasks)),
        /// User id of the processes, when all have the same.
        uid: opt_i64(UserId),
        /// The host.
        host: text(Host),
        /// Device number of the file.
        device: opt_i64,
        /// Its inode number.
        inode: opt_i64,
        /// Its inode's generation.
        generation: opt_i64,
        /// Which file with these numbers (the generation included), from 1: a deleted file's number
        /// is used again.
        incarnation: i64,
        /// Type of its file system.
        file_system: opt_text(Word(OfTasks)) droppable,
        /// Path by which the task opened it last, as the host sees it, or the first one known. Of a
        /// file that was renamed since: its last name.
        path: opt_text(Path) droppable,
        /// Names that it had before, in their order: JSON array of paths. Null without any.
        earlier_paths: opt_text(Withheld) droppable,
        /// How many processes of the task had to do with it.
        processes: i64,
        /// Successful opens.
        opens: i64,
        /// Calls that read, failed ones included.
        read_calls: i64,
        /// Calls that wrote, failed ones included.
        write_calls: i64,
        /// Failed reads.
        read_errors: i64,
        /// Failed writes.
        write_errors: i64,
        /// Bytes read.
        read_bytes: i64,
        /// Bytes written.
        written_bytes: i64,
        /// Bytes of the file that were read at least once; null when only sums were traced or an
        /// offset is not known. The rest of `read_bytes` was read again.
        unique_read_bytes: opt_i64,
        /// Bytes of the file that were written at least once.
        unique_written_bytes: opt_i64,
        /// Number of ranges of the file that were read, none touching another.
        read_ranges: opt_i64,
        /// Number of ranges that were written.
        written_ranges: opt_i64,
        /// Lowest offset read; null when one is not known (`io_events.offset_uncertain`).
        read_offset_min: opt_i64,
        /// End of the highest range read.
        read_offset_end: opt_i64,
        /// Lowest offset written; null when one is not known.
        write_offset_min: opt_i64,
        /// End of the highest range written.
        write_offset_end: opt_i64,
        /// When the first read began.
        first_read_ns: opt_i64,
        /// When the last read ended.
        last_read_ns: opt_i64,
        /// When the first write began.
        first_write_ns: opt_i64,
        /// When the last write ended.
        last_write_ns: opt_i64,
        /// Time from the first to the last read or write as a share of the task's time
        /// (`task_totals.time_ns`): small is bulky, near 1 is streaming (Figure 4 of the monitoring
        /// paper).
        access_share: opt_f64,
        /// Reads that began where the one before on the same open file ended.
        sequential_reads: i64,
        /// Reads that began as far from the one before as that from its predecessor.
        strided_reads: i64,
        /// Reads that began elsewhere. The first of an open file, one whose offset is not known and
        /// the next after it are in none of the three.
        random_reads: i64,
        /// Writes likewise.
        sequential_writes: i64,
        /// Writes likewise.
        strided_writes: i64,
        /// Writes likewise.
        random_writes: i64,
        /// `sequential`, `strided` or `random`, when at least nine of ten reads that can be judged
        /// are that, else `mixed`; null with less than two reads, and when an offset is not known.
        read_pattern: opt_text(Word(OfTasks)),
        /// Likewise of writes.
        write_pattern: opt_text(Word(OfTasks)),
        /// Smallest number of bytes asked for by a read.
        read_size_min: opt_i64,
        /// Largest.
        read_size_max: opt_i64,
        /// Smallest number of bytes asked for by a write.
        write_size_min: opt_i64,
        /// Largest.
        write_size_max: opt_i64,
        /// How many reads asked for how much: JSON object from a power of two to the number of
        /// reads of at most that many bytes and more than half of it.
        read_sizes: opt_text(Withheld),
        /// Likewise of writes.
        write_sizes: opt_text(Withheld),
        /// Time spent in reads, those of all threads added up.
        read_time_ns: i64,
        /// Time spent in writes.
        write_time_ns: i64,
        /// The longest read.
        read_latency_max_ns: opt_i64,
        /// The longest write.
        write_latency_max_ns: opt_i64,
        /// How many reads took how long: JSON object like `read_sizes`, in nanoseconds.
        read_latencies: opt_text(Withheld),
        /// Likewise of writes.
        write_latencies: opt_text(Withheld),
        /// Bytes read for each second between the first and the last read.
        read_bytes_per_s: opt_f64,
        /// Bytes written for each second between the first and the last write.
        write_bytes_per_s: opt_f64,
        /// Page faults on mappings of it.
        faults: i64,
        /// Times it was mapped into memory; what is read through the mapping is not counted in
        /// bytes.
        mappings: i64,
        /// An estimate from above of the bytes that went through mappings: their lengths added up.
        /// Null when a length is not known, or nothing was mapped.
        mapped_bytes: opt_i64,
        /// An estimate from below: the pages of which a fault was reported, added up. The kernel
        /// brings in neighbouring pages with one fault, and tells none of a page that is mapped
        /// already. Null without faults, and when only sums were traced.
        faulted_bytes: opt_i64,
    }
}

crate::table! {
    /// The sums of `task_io` over files, for each task attempt, job, pod, container or reason. Lost
    /// records have rows here too (`unassigned` is `lost`): the bytes of all rows are all bytes
    /// that the kernel side counted.
    pub struct TaskTotal in "task_totals" {
        /// As in `task_io`.
        task: opt_text(Task),
        /// As in `task_io`.
        engine: opt_text(Word(OfTasks)),
        /// As in `task_io`.
        run_id: opt_text(Path),
        /// As in `task_io`.
        run_name: opt_text(Path),
        /// As in `task_io`.
        logical_task: opt_text(Path),
        /// As in `task_io`.
        cluster: opt_text(Cluster),
        /// As in `task_io`.
        job: opt_text(Number),
        /// As in `task_io`.
        job_submit_ns: opt_i64,
        /// As in `task_io`.
        step: opt_text(Step),
        /// As in `task_io`.
        pod: opt_text(Container),
        /// As in `task_io`.
        container: opt_text(Container),
        /// As in `task_io`.
        unit: opt_text(Container),
        /// As in `task_io`, or `lost`.
        unassigned: opt_text(Word(OfTasks)),
        /// As in `task_io`.
        uid: opt_i64(UserId),
        /// The host.
        host: text(Host),
        /// Processes that belong to it, also those without operations.
        processes: i64,
        /// When the first of them started, or the task as its engine says.
        started_ns: opt_i64,
        /// When the last of them ended, or the task as its engine says; null while one runs.
        ended_ns: opt_i64,
        /// How long it ran: from start to end.
        time_ns: opt_i64,
        /// Who says so: `engine`, or `processes` when the engine does not, or less exactly than the
        /// task lasted.
        time_source: opt_text(Word(OfTasks)),
        /// CPU time of its processes in user mode.
        utime_ns: opt_i64,
        /// CPU time of its processes in the kernel.
        stime_ns: opt_i64,
        /// Time that the threads of its processes were runnable and waited for a processor; null
        /// unless that is known of all its processes.
        run_delay_ns: opt_i64,
        /// Files with reads or writes.
        files: i64,
        /// Successful opens.
        opens: i64,
        /// Calls that read, failed ones included.
        read_calls: i64,
        /// Calls that wrote, failed ones included.
        write_calls: i64,
        /// Failed reads and writes.
        errors: i64,
        /// Bytes read.
        read_bytes: i64,
        /// Bytes written.
        written_bytes: i64,
        /// Bytes read at least once, the sum over files; null when one of them is null.
        unique_read_bytes: opt_i64,
        /// Bytes written at least once.
        unique_written_bytes: opt_i64,
        /// Time spent in reads, those of all threads added up.
        read_time_ns: i64,
        /// Time spent in writes.
        write_time_ns: i64,
        /// When the first read or write began.
        first_ns: opt_i64,
        /// When the last one ended.
        last_ns: opt_i64,
        /// Lost operations of rows whose `unassigned` is `lost`.
        lost: i64,
    }
}

crate::table! {
    /// All instances of a logical task of one run, with their spread. An attempt that ran on
    /// several hosts is one instance; attempts of which nothing was traced are not counted.
    pub struct LogicalTaskTotal in "logical_task_totals" {
        /// Its engine.
        engine: text(Word(OfTasks)),
        /// Its run's id.
        run_id: opt_text(Path),
        /// Its run's name.
        run_name: opt_text(Path),
        /// Process, rule, operator.
        logical_task: text(Path),
        /// Attempts that were traced.
        instances: i64,
        /// Bytes read by all.
        read_bytes: i64,
        /// The least of an instance.
        read_bytes_min: i64,
        /// The lower quartile: the smallest value that at least a quarter of the instances do not
        /// exceed.
        read_bytes_q1: i64,
        /// The median, likewise.
        read_bytes_median: i64,
        /// The upper quartile, likewise.
        read_bytes_q3: i64,
        /// The most of an instance.
        read_bytes_max: i64,
        /// Standard deviation of the instances (divided by their number).
        read_bytes_sd: f64,
        /// Bytes written by all.
        written_bytes: i64,
        /// The least of an instance.
        written_bytes_min: i64,
        /// The lower quartile.
        written_bytes_q1: i64,
        /// The median.
        written_bytes_median: i64,
        /// The upper quartile.
        written_bytes_q3: i64,
        /// The most of an instance.
        written_bytes_max: i64,
        /// Standard deviation.
        written_bytes_sd: f64,
        /// How long they ran, added up; instances of which that is not known left out, here and
        /// below.
        time_ns: opt_i64,
        /// The shortest.
        time_min_ns: opt_i64,
        /// The lower quartile.
        time_q1_ns: opt_i64,
        /// The median.
        time_median_ns: opt_i64,
        /// The upper quartile.
        time_q3_ns: opt_i64,
        /// The longest.
        time_max_ns: opt_i64,
        /// Standard deviation.
        time_sd_ns: opt_f64,
        /// Time spent in reads and writes by all.
        io_time_ns: i64,
    }
}

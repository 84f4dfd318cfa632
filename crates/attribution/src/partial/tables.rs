//! The tables of a partial result.
//!
//! Each is a file of its own. Links, diagnostics and lost operations are rows of the tables
//! `links`, `diagnostics` and `task_totals` of a dataset, in files of other names ([`names`]).

/// The names of the tables of a partial result, which its files carry.
pub mod names {
    /// Owners of processes.
    pub const OWNERS: &str = "owners";
    /// Processes by their owners.
    pub const PROCESSES: &str = "processes";
    /// Users of whom some process belongs to something.
    pub const USERS: &str = "users";
    /// What owners did to files.
    pub const ACCESSES: &str = "accesses";
    /// Touched ranges of files.
    pub const RANGES: &str = "ranges";
    /// Histories of files.
    pub const STEPS: &str = "steps";
    /// Files that had several names.
    pub const RENAMED: &str = "names";
    /// Rows of `links` in the order in which processes ended.
    pub const LINKS: &str = "links";
    /// Rows of `links` of whole groups of processes, which come after those of all hosts.
    pub const GROUP_LINKS: &str = "group_links";
    /// Rows of `diagnostics` about single processes.
    pub const DIAGNOSTICS: &str = "diagnostics";
    /// Rows of `diagnostics` about groups, which come after those of all hosts.
    pub const GROUP_DIAGNOSTICS: &str = "group_diagnostics";
    /// The row of `task_totals` of lost operations, if there were any.
    pub const LOST: &str = "lost";
}

flowmine_schema::table! {
    /// An owner of processes of the host. The owners of hosts never merge.
    pub struct PartialOwner in "owners" {
        /// The task attempt, by its place in the order of all task attempts.
        task: opt_i64,
        /// Cluster of the Slurm job.
        cluster: opt_text(Cluster),
        /// The Slurm job.
        job: opt_text(Number),
        /// The job's submission.
        job_submit_ns: opt_i64,
        /// The job's step.
        step: opt_text(Step),
        /// The pod's uid.
        pod: opt_text(Container),
        /// The container's id.
        container: opt_text(Container),
        /// The systemd scope or service.
        unit: opt_text(Container),
        /// Why it is none, as in `task_io`; `other-user` follows from all hosts and is not here.
        unassigned: opt_text(Word(OfTasks)),
        /// User id of the processes of what is unassigned.
        uid: opt_i64(UserId),
        /// Number of processes.
        processes: i64,
        /// When the first process started.
        started_ns: opt_i64,
        /// When the last one ended that has.
        ended_ns: opt_i64,
        /// Whether some have not ended.
        running: bool,
        /// CPU time in user mode.
        utime_ns: opt_i64,
        /// CPU time in the kernel.
        stime_ns: opt_i64,
        /// Time that threads waited for a processor.
        run_delay_ns: opt_i64,
        /// Whether the processes have several user ids.
        several_uids: bool,
        /// The user id of all processes.
        process_uid: opt_i64(UserId),
    }
}

flowmine_schema::table! {
    /// A process, by its owner.
    pub struct ProcessOwner in "processes" {
        /// The owner: the number of its row in `owners`, from 0.
        owner: i64,
    }
}

flowmine_schema::table! {
    /// A user of whom some process belongs to something.
    pub struct OwningUser in "users" {
        /// The user's id.
        uid: i64(UserId),
    }
}

flowmine_schema::table! {
    /// What the processes of an owner did to a file.
    pub struct OwnerAccess in "accesses" {
        /// The owner: the number of its row in `owners`, from 0.
        owner: i64,
        /// Device number of the file.
        device: opt_i64,
        /// Its inode number.
        inode: opt_i64,
        /// Its inode's generation.
        generation: opt_i64,
        /// Which file with these numbers, from 1.
        incarnation: i64,
        /// Type of its file system.
        file_system: opt_text(Word(OfTasks)),
        /// The path of the last open.
        path: opt_text(Path),
        /// When that open began.
        path_ns: opt_i64,
        /// The path under which the file was known first.
        known_path: opt_text(Path),
        /// Which of all accesses of the host had that path.
        known_path_at: opt_i64,
        /// Number of processes.
        processes: i64,
        /// Successful opens.
        opens: i64,
        /// Page faults.
        faults: i64,
        /// Mappings.
        mappings: i64,
        /// Lengths of mappings, as far as they are known.
        mapped_bytes: i64,
        /// Number of mappings of known length.
        mapped_count: i64,
        /// Sizes of faulted pages, as far as they are known.
        faulted_bytes: i64,
        /// Number of faults of known size.
        faulted_count: i64,
        /// Whether there are transfers that read.
        reads: bool,
        /// Calls that read.
        read_calls: i64,
        /// Failed reads.
        read_errors: i64,
        /// Bytes read.
        read_bytes: i64,
        /// When the first read began.
        first_read_ns: opt_i64,
        /// When the last read ended.
        last_read_ns: opt_i64,
        /// Lowest offset read.
        read_offset_min: opt_i64,
        /// End of the highest range read.
        read_offset_end: opt_i64,
        /// Reads that began where the one before ended.
        sequential_reads: i64,
        /// Reads as far from the one before as that from its predecessor.
        strided_reads: i64,
        /// Other reads.
        random_reads: i64,
        /// Smallest number of bytes asked for.
        read_size_min: opt_i64,
        /// Largest number of bytes asked for.
        read_size_max: opt_i64,
        /// Sizes asked for: classes of powers of two with their counts.
        read_sizes: opt_text(Withheld),
        /// Time in reads.
        read_time_ns: i64,
        /// Duration of the longest read.
        read_latency_max_ns: opt_i64,
        /// Durations of reads: classes of powers of two with their counts.
        read_latencies: opt_text(Withheld),
        /// Whether some bytes were read at unknown offsets.
        read_inexact: bool,
        /// Whether even the lowest and the highest offset are unknown.
        read_unplaced: bool,
        /// Bytes of the file that were read; null where the ranges are in `ranges`.
        unique_read_bytes: opt_i64,
        /// Number of ranges that were read.
        read_ranges: opt_i64,
        /// Whether there are transfers that wrote.
        writes: bool,
        /// Calls that wrote.
        write_calls: i64,
        /// Failed writes.
        write_errors: i64,
        /// Bytes written.
        written_bytes: i64,
        /// When the first write began.
        first_write_ns: opt_i64,
        /// When the last write ended.
        last_write_ns: opt_i64,
        /// Lowest offset written.
        write_offset_min: opt_i64,
        /// End of the highest range written.
        write_offset_end: opt_i64,
        /// Writes that began where the one before ended.
        sequential_writes: i64,
        /// Writes as far from the one before as that from its predecessor.
        strided_writes: i64,
        /// Other writes.
        random_writes: i64,
        /// Smallest number of bytes in a write.
        write_size_min: opt_i64,
        /// Largest number of bytes in a write.
        write_size_max: opt_i64,
        /// Sizes of writes: classes of powers of two with their counts.
        write_sizes: opt_text(Withheld),
        /// Time in writes.
        write_time_ns: i64,
        /// Duration of the longest write.
        write_latency_max_ns: opt_i64,
        /// Durations of writes: classes of powers of two with their counts.
        write_latencies: opt_text(Withheld),
        /// Whether some bytes were written at unknown offsets.
        write_inexact: bool,
        /// Whether even the lowest and the highest offset are unknown.
        write_unplaced: bool,
        /// Bytes of the file that were written; null where the ranges are in `ranges`.
        unique_written_bytes: opt_i64,
        /// Number of ranges that were written.
        written_ranges: opt_i64,
    }
}

flowmine_schema::table! {
    /// A range of a file that processes touched, of owners that the other hosts can merge: those of
    /// a user of whom nothing belongs to anything.
    pub struct AccessRange in "ranges" {
        /// The owner: the number of its row in `owners`, from 0.
        owner: i64,
        /// Device number of the file.
        device: opt_i64,
        /// Its inode number.
        inode: opt_i64,
        /// Its inode's generation.
        generation: opt_i64,
        /// Which file with these numbers, from 1.
        incarnation: i64,
        /// Whether it was written, or read.
        written: bool,
        /// Offset of its first byte.
        start: i64,
        /// Offset behind its last byte.
        end: i64,
    }
}

flowmine_schema::table! {
    /// A step in the history of a file: what a process did in an epoch, a new name, or what is known
    /// of the file as a whole.
    pub struct FileStep in "steps" {
        /// 0: the file as a whole; 1: a process in an epoch; 2: a new name.
        kind: i32,
        /// Type of the file system of a file that other hosts may have; empty if no device is known.
        /// Null for other files.
        shared: opt_text(Word(OfTasks)),
        /// Device number of the file.
        device: opt_i64,
        /// Its inode number.
        inode: opt_i64,
        /// Its inode's generation.
        generation: opt_i64,
        /// Which file with these numbers, from 1.
        incarnation: i64,
        /// When the epoch began, or the name was given, by the host's corrected clock.
        at_ns: i64,
        /// Which operation of the host that was.
        at: i64,
        /// The file's first name, or its new one.
        path: opt_text(Path),
        /// Numbers of all paths of a file that other hosts may have.
        path_numbers: opt_text(Withheld),
        /// The process: the number of its row in `processes`, from 0.
        process: opt_i64,
        /// Whether the process made the file empty or shorter.
        truncated: bool,
        /// Whether the process created the file.
        created: bool,
        /// Bytes written in the epoch.
        written_bytes: i64,
        /// When the first write began.
        first_write_ns: opt_i64,
        /// When the last write ended.
        last_write_ns: opt_i64,
        /// Bytes read in the epoch after the process wrote.
        read_bytes: i64,
        /// When the first of these reads began.
        first_read_ns: opt_i64,
        /// When the last of these reads ended.
        last_read_ns: opt_i64,
        /// Clock of the host at the first write.
        first_write_at_ns: i64,
        /// Which operation of the host that was.
        first_write_at: i64,
        /// Clock of the host at the last write.
        last_write_at_ns: i64,
        /// Which operation of the host that was.
        last_write_at: i64,
        /// Clock of the host at the first read.
        first_read_at_ns: i64,
        /// Which operation of the host that was.
        first_read_at: i64,
    }
}

flowmine_schema::table! {
    /// A file that had several names.
    pub struct RenamedFile in "names" {
        /// Device number of the file.
        device: opt_i64,
        /// Its inode number.
        inode: opt_i64,
        /// Its inode's generation.
        generation: opt_i64,
        /// Which file with these numbers, from 1.
        incarnation: i64,
        /// Its last name.
        last: text(Path),
        /// Its names before, in their order: JSON array of paths.
        earlier: opt_text(Withheld),
    }
}

//! `io_events`, `io_totals`, `losses`: who moved which bytes, one by one or added up, and what was
//! missed.

crate::table! {
    /// One operation of one thread on one file.
    pub struct IoEvent in "io_events" by host {
        /// The host.
        host: text(Host),
        /// The trace.
        trace_ns: i64,
        /// The process.
        pid: i32,
        /// When it started, in nanoseconds after boot; see `processes`.
        process_start_ns: opt_i64,
        /// The thread; null if the source does not have it (`io-csv`).
        tid: opt_i32,
        /// `open`, `read`, `write`, `close`, `delete`, `rename`, `link`, `truncate`, `allocate`,
        /// `sync`, `mmap` (bytes unknown), `fault` (a page that a mapping brought in).
        op: text(Harmless),
        /// Mechanism: `call`; for reads and writes also `copy_file_range`, `sendfile`, `splice`,
        /// `io_uring`.
        via: text(Harmless),
        /// When the call began.
        start_ns: i64,
        /// When it ended; null if the source does not have it.
        end_ns: opt_i64,
        /// The open file description (open(2)) within the trace: what duplicated descriptors and
        /// forked processes share. Null without one.
        handle: opt_i64,
        /// Device number of the file, as in `stat(2)`; null if unknown.
        device: opt_i64,
        /// Its inode number, all 64 bits; of `io-csv` the number that its tracer gave the file.
        inode: opt_i64,
        /// Its inode's generation.
        generation: opt_i64,
        /// Where in the file the transfer began, in bytes.
        offset: opt_i64,
        /// `true` when the offset of a read or write is null because another thread or process moved
        /// the position of the same open file description, or the end of the file, at the same time.
        /// Null otherwise.
        offset_uncertain: opt_bool,
        /// Bytes that were asked for; the new length of `truncate`.
        size: opt_i64,
        /// What the call returned: bytes of `read` and `write`, otherwise 0, or the negative error
        /// number. Null when unknown.
        result: opt_i64,
        /// Of `open` the flags of open(2), of `rename` those of renameat2(2), of `allocate` its
        /// mode, of `mmap` the protection and, from bit 8, the flags of mmap(2).
        flags: opt_i32,
        /// Path as the host sees it; of `open`, `delete`, `rename`, `link` and `truncate` by path.
        path: opt_text(Path),
        /// The same as the process sees it, where that differs.
        container_path: opt_text(Path),
        /// The new path of `rename` and `link`, as the host sees it.
        new_path: opt_text(Path),
        /// CPU time in user mode of the thread at the beginning.
        utime_start_ns: opt_i64,
        /// CPU time in user mode of the thread at the end.
        utime_end_ns: opt_i64,
        /// CPU time in the kernel of the thread at the beginning.
        stime_start_ns: opt_i64,
        /// CPU time in the kernel of the thread at the end.
        stime_end_ns: opt_i64,
    }
}

crate::table! {
    /// The reads and writes of one process on one open file, added up. A file that is open for long
    /// has several rows, which add up.
    pub struct IoTotal in "io_totals" by host {
        /// The host.
        host: text(Host),
        /// The trace.
        trace_ns: i64,
        /// The process.
        pid: i32,
        /// When it started, in nanoseconds after boot; see `processes`.
        process_start_ns: opt_i64,
        /// The open file description within the trace.
        handle: opt_i64,
        /// Device number of the file, as in `stat(2)`.
        device: i64,
        /// Its inode number, all 64 bits.
        inode: i64,
        /// Its inode's generation.
        generation: opt_i64,
        /// When the first of these operations began.
        first_ns: i64,
        /// When the last of them ended.
        last_ns: i64,
        /// Calls that read, failed ones included.
        read_calls: i64,
        /// Bytes that they brought.
        read_bytes: i64,
        /// How many of them failed.
        read_errors: i64,
        /// Time spent in them, added up.
        read_time_ns: i64,
        /// The lowest offset that was read; null without one, and when an offset is not known.
        read_offset_min: opt_i64,
        /// The end of the highest range that was read.
        read_offset_end: opt_i64,
        /// Calls that wrote, failed ones included.
        write_calls: i64,
        /// Bytes that they took.
        write_bytes: i64,
        /// How many of them failed.
        write_errors: i64,
        /// Time spent in them, added up.
        write_time_ns: i64,
        /// The lowest offset that was written; null without one, and when an offset is not known.
        write_offset_min: opt_i64,
        /// The end of the highest range that was written.
        write_offset_end: opt_i64,
        /// Page faults on mappings of it; their bytes are in no sum.
        faults: i64,
    }
}

crate::table! {
    /// Records that were lost and operations that cannot be recorded: of a kind, on a processor, in
    /// an interval.
    pub struct IoLoss in "losses" by host {
        /// The host.
        host: text(Host),
        /// The trace.
        trace_ns: i64,
        /// The processor on which they were lost; null when not known.
        processor: opt_i32,
        /// What was lost. An operation: an `op` of `io_events`, or `call`, `io_uring`, `request` where
        /// it is not known which. No operation: `fork`, `exec`, `exit`, `cgroup`, `environment`,
        /// `process`, `open-file`.
        kind: text(Harmless),
        /// Why: `ring-full`, `table-full`, `not-written` (it arrived, but the dataset could not be
        /// written); of operations that cannot be recorded `asynchronous-io` (libaio),
        /// `32-bit-program`, `io-uring-request`, `killed` (the process ended within the call),
        /// `not-visible`, `unreadable`, … .
        reason: text(Harmless),
        /// How many.
        count: i64,
        /// The bytes that they moved, or asked for (libaio; 32-bit programs under ptrace). Null when
        /// not known: then any number of bytes may be missing, where `kind` can move some.
        bytes: opt_i64,
        /// The loss happened after this moment.
        not_before_ns: i64,
        /// And before this one.
        observed_at_ns: i64,
    }
}

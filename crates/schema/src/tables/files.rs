//! `files`: what was read and written.

crate::table! {
    /// A file generation: one row when it is first seen in a trace, one more for each further path
    /// under which it is opened.
    pub struct TracedFile in "files" by host {
        /// The host.
        host: text(Host),
        /// The trace.
        trace_ns: i64,
        /// Device number as in `stat(2)`; null if the source does not have it (`io-csv`).
        device: opt_i64,
        /// Inode number, all 64 bits; of `io-csv` the number that its tracer gave the file.
        inode: i64,
        /// Generation of the inode: another one when the number is used again. Null where the file
        /// system or the backend does not provide it.
        generation: opt_i64,
        /// When it was first seen.
        first_seen_ns: i64,
        /// `regular` or `block`; null if the source does not have it.
        kind: opt_text(Harmless),
        /// Type of its file system, such as `ext4`, `nfs4`, `overlay`.
        file_system: opt_text(Word(OfTasks)),
        /// Its path as the host sees it; null when it has none (a temporary file without a name).
        path: opt_text(Path),
        /// Its path as the process that opened it sees it (in a container); null when it is the
        /// same.
        container_path: opt_text(Path),
        /// Its size when it was first seen.
        size_bytes: opt_i64,
    }
}

//! `data_flow`: which entity read what another one wrote.

crate::table! {
    /// One version of a file, from its writer to one of its readers. A version that was not read
    /// has a row without a reader. A version from before the trace has a row without a writer for
    /// each reader.
    ///
    /// A new version begins with the first write (or truncation) after another entity has read the
    /// previous one. A task can continue to write a version that it reads back itself. A task's
    /// phase ends when it reads, after it has written, a version that it has not read before. All
    /// writes to a version come before the first read by another entity. All first reads of a phase
    /// come before its writes. So the graph of phases and versions has no cycle. Tasks that give
    /// data to each other in both directions are joined in both directions, by different phases.
    pub struct DataFlow in "data_flow" {
        /// The host; null for a file of a network file system that several hosts used.
        host: opt_text(Host),
        /// Device number of the file on the host.
        device: opt_i64,
        /// Its inode number.
        inode: opt_i64,
        /// Its inode's generation.
        generation: opt_i64,
        /// Which file with these numbers; as in `task_io`.
        incarnation: i64,
        /// Its path: the last name that it had in this version.
        path: opt_text(Path),
        /// Names that it had before, in their order: JSON array of paths. Null without any.
        earlier_paths: opt_text(Withheld),
        /// The version: 0 is what was there before, then 1, 2, … .
        version: i64,
        /// How the version began: `before` the trace; `created` by an open that would have failed
        /// otherwise; `truncated`, or made (`O_CREAT` with `O_TRUNC` or on an empty file does not
        /// show which); or `changed`: then parts of the version before may still be in it.
        origin: text(Word(OfTasks)),
        /// What kind of entity wrote it, as in `links`: `task`, `job`, `pod`, `container`, or
        /// `unassigned`. Null: no traced entity.
        writer_type: opt_text(Word(OfTasks)),
        /// Where its id holds.
        writer_scope: opt_text(ScopeOf("writer_type")),
        /// Its id; of `unassigned` the reason.
        writer: opt_text(IdOf("writer_type")),
        /// Its phase, from 0.
        writer_phase: opt_i64,
        /// Bytes that it wrote to this version.
        written_bytes: i64,
        /// When its first write to it began.
        first_write_ns: opt_i64,
        /// When its last write to it ended.
        last_write_ns: opt_i64,
        /// What kind of entity read it, as in `writer_type`. Null: none.
        reader_type: opt_text(Word(OfTasks)),
        /// Where its id holds.
        reader_scope: opt_text(ScopeOf("reader_type")),
        /// Its id.
        reader: opt_text(IdOf("reader_type")),
        /// Its phase when it first read it.
        reader_phase: opt_i64,
        /// Bytes that it read of this version.
        read_bytes: i64,
        /// When its first read of it began.
        first_read_ns: opt_i64,
        /// When its last read of it ended.
        last_read_ns: opt_i64,
        /// Writer and reader were on two hosts, and the clocks of these can differ by more than the
        /// time between them: the order may be reversed.
        order_doubtful: bool,
    }
}

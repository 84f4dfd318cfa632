//! `data_flow`: who read what somebody wrote.

crate::table! {
    /// One version of a file, from who wrote it to one who read it. A version that nobody read has
    /// a row without reader, a version that was there before anything was traced one without writer
    /// for each reader.
    ///
    /// A new version begins with the first write (or truncation) after somebody else has read the
    /// one before; what a task wrote and reads back itself, it can go on to write. A task's phase
    /// ends when it reads, after it has written, a version that it has not read before. All writes
    /// to a version come before the first read by another, and all first reads of a phase before
    /// its writes: so the graph of phases and versions has no cycle. Tasks that give data to each
    /// other in both directions are joined in both directions, by different phases.
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
        /// tell which); `renamed` by somebody who had not written it, or after others had read it;
        /// or `changed`: then parts of the version before may still be in it.
        origin: text(Word(OfTasks)),
        /// What kind of entity wrote it, as in `links`: `task`, `job`, `pod`, `container`, or
        /// `unassigned`. Null: nobody who was traced.
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
        /// Who read it, likewise. Null: nobody.
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
        /// Writer and reader were on hosts whose clocks can differ by more than the time between
        /// them: the order may be the other way round.
        order_doubtful: bool,
    }
}

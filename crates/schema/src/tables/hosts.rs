//! `hosts` and `clocks`: where a trace was taken, and how its clock relates to others.

crate::table! {
    /// A trace of a host: one row for its begin and one for its end. A trace that was killed has no
    /// row for its end.
    pub struct Host in "hosts" by host {
        /// Name of the host, as in `uname -n`.
        host: text(Host),
        /// Which trace of this host: when it began, in nanoseconds since 1970. With the host it is
        /// the key of a trace.
        trace_ns: i64,
        /// `began` or `ended`.
        state: text(Harmless),
        /// When this row was written.
        at_ns: i64,
        /// `/proc/sys/kernel/random/boot_id`: times after boot are comparable where this is equal.
        boot_id: opt_text(Withheld),
        /// Kernel release, as in `uname -r`.
        kernel: opt_text(Withheld),
        /// Architecture, as in `uname -m`.
        architecture: opt_text(Harmless),
        /// Processors that are online.
        processors: opt_i32,
        /// Main memory.
        memory_bytes: opt_i64,
        /// What is added to nanoseconds after boot to get all times of this trace.
        boot_offset_ns: opt_i64,
        /// The backend: `ebpf`, `fuse`, `ptrace`, `io-csv`.
        backend: text(Harmless),
        /// By which hooks it sees operations: `syscalls`, `vfs-fentry`, `vfs-kprobe` (ebpf), `overlay`
        /// (fuse), `seccomp` (ptrace).
        hooks: opt_text(Harmless),
        /// `events` or `totals`.
        detail: text(Harmless),
        /// What was asked to be left out or in, as a JSON object (`joined`: only commands that
        /// joined the trace); null when nothing.
        filters: opt_text(Withheld),
        /// The command that was started, as a JSON array, of its words only the first unless
        /// `command_lines` is `all`; null when a running host was traced.
        command: opt_text(Line),
        /// Size of the kernel's ring of records.
        ring_bytes: opt_i64,
        /// When it ended: operations that the tracer's kernel side counted after the filters: those
        /// received and those lost.
        operations: opt_i64,
        /// When it ended: operations that were received, added up ones included, without those of
        /// which the rows could not be written.
        received: opt_i64,
        /// When it ended: operations that were lost, those that cannot be recorded included (libaio,
        /// 32-bit programs). The table `losses` lists them, and other losses, such as records of
        /// processes.
        lost: opt_i64,
        /// What is kept of command lines in `processes`: `none`, `program` (the first word), `all`;
        /// null if this could not be chosen (`io-csv`).
        command_lines: opt_text(Harmless),
    }
}

crate::table! {
    /// A reading of a host's clocks: real time at a moment after boot, with its error.
    pub struct Clock in "clocks" by host {
        /// The host.
        host: text(Host),
        /// The trace.
        trace_ns: i64,
        /// `/proc/sys/kernel/random/boot_id`.
        boot_id: opt_text(Withheld),
        /// Nanoseconds after boot (`CLOCK_BOOTTIME`), the middle between a reading before and one
        /// after that of real time.
        boot_ns: i64,
        /// Nanoseconds since 1970 (`CLOCK_REALTIME`).
        real_ns: i64,
        /// Half of the time between the two readings: by so much the pair can be wrong.
        error_ns: i64,
        /// Whether the kernel's clock is synchronised (`adjtimex(2)`); null when it was not asked.
        synchronised: opt_bool,
    }
}

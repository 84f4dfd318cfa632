//! `processes`: what ran.

crate::table! {
    /// A process generation. A process that outlives a flush has a row for each; the one with the
    /// latest `as_of_ns` holds.
    pub struct Process in "processes" by host {
        /// The host.
        host: text(Host),
        /// The trace.
        trace_ns: i64,
        /// Process number (the thread group's) in the host's pid namespace.
        pid: i32,
        /// When it started, in nanoseconds after boot. With host and pid it is the key of a
        /// process; null if the source does not have it (`io-csv`), and then `started_ns`
        /// distinguishes generations.
        process_start_ns: opt_i64,
        /// How exact that is: 1 from the kernel's tracing, 10,000,000 from `/proc/PID/stat`.
        start_precision_ns: opt_i64,
        /// Time up to which this row is true.
        as_of_ns: i64,
        /// When it started. Of the backend `ptrace` when its fork was reported, within the precision
        /// of `process_start_ns`: after all that its parent had done before.
        started_ns: opt_i64,
        /// How it was first seen: `running` when the trace began, or `fork`, `operation` (nothing
        /// was seen of it before).
        first_seen: text(Word(OfTasks)),
        /// Process number in its innermost pid namespace; null when it is the same.
        container_pid: opt_i32,
        /// The process that forked it.
        parent_pid: opt_i32,
        /// When that one started.
        parent_start_ns: opt_i64,
        /// Effective user id.
        uid: opt_i64(UserId),
        /// The user's name on the traced host (passwd(5)); null when it has none.
        user: opt_text(User),
        /// Real user id when it was forked or last became another program: the user who started
        /// that program, also where a set-user-id program has another effective one
        /// (credentials(7)). Null if the source does not have it.
        real_uid: opt_i64(UserId),
        /// The real user's name on the traced host; null when it has none.
        real_user: opt_text(User),
        /// Effective group id.
        gid: opt_i64(UserId),
        /// Id of its cgroup in the v2 hierarchy (the inode of its directory).
        cgroup_id: opt_i64,
        /// Its path there, such as `/system.slice/slurmstepd.scope/job_7/step_0/user/task_0`.
        cgroup_path: opt_text(Path) droppable,
        /// Its paths in the v1 hierarchies, as a JSON object from controller to path.
        cgroup_v1: opt_text(Withheld),
        /// Path of the program that it runs, as the host sees it.
        executable: opt_text(Path) droppable,
        /// Its command line, as a JSON array: all of it, its first word, or null, as
        /// `command_lines` of `hosts` says.
        command_line: opt_text(JsonLine) droppable,
        /// Whether the command line was longer than what is kept.
        command_line_cut: bool,
        /// Its working directory when it became this program, or when it was first seen, as the
        /// host sees it; null when it runs its parent's program, or where that is not known.
        work_dir: opt_text(Path),
        /// The programs that it was before this one while it was traced (a shell that executes its
        /// last command in its own place), the first one first: a JSON array of objects with
        /// `exec_ns`, `executable`, `command_line`, `command_line_cut`, `work_dir` and `real_user`,
        /// as the columns of these names, without what is null; a real user without a name is
        /// listed by id. Of more than 16 the first 16. Null when there was none.
        earlier_programs: opt_text(Withheld),
        /// The environment variables that were asked for, as a JSON object.
        environment: opt_text(Withheld),
        /// The users who can have set these variables, as a JSON array of names, or ids without a
        /// name: the real user of the first program that had them, and of the program that
        /// started that one. A null in it is a user who is not known: FUSE saw a program of root's
        /// late. Null if the source does not have it.
        environment_users: opt_text(Withheld),
        /// When it last became another program; null when it still runs its parent's.
        exec_ns: opt_i64,
        /// How often it became another program while it was traced.
        execs: i32,
        /// When it ended; null while it runs.
        exit_ns: opt_i64,
        /// Its exit code; null when a signal ended it or while it runs.
        exit_code: opt_i32,
        /// The signal that ended it.
        exit_signal: opt_i32,
        /// CPU time in user mode, all threads.
        utime_ns: opt_i64,
        /// CPU time in the kernel, all threads.
        stime_ns: opt_i64,
        /// Time that its threads were runnable and waited for a processor, from its start to its
        /// end. Null while it runs, and where that is not known of all its threads
        /// (`docs/tracing.md`).
        run_delay_ns: opt_i64,
        /// Bytes that its calls read, whatever from (`rchar` of proc(5), `/proc/PID/io`).
        rchar_bytes: opt_i64,
        /// Bytes that its calls wrote (`wchar`).
        wchar_bytes: opt_i64,
        /// How many calls read (`syscr`).
        read_calls: opt_i64,
        /// How many calls wrote (`syscw`).
        write_calls: opt_i64,
        /// Bytes that were fetched from storage for it (`read_bytes`).
        read_bytes: opt_i64,
        /// Bytes that it caused to be sent to storage (`write_bytes`).
        write_bytes: opt_i64,
        /// Bytes of these that never were, because the file was cut or deleted
        /// (`cancelled_write_bytes`).
        cancelled_write_bytes: opt_i64,
        /// Calls of mkdir(2) and mkdirat(2) while it was traced, failed ones included, on whatever
        /// file system. Null, here and in the four below, where they were not counted
        /// (`docs/tracing.md`).
        mkdir_calls: opt_i64,
        /// Calls of rmdir(2), and of unlinkat(2) with `AT_REMOVEDIR`.
        rmdir_calls: opt_i64,
        /// Calls of symlink(2) and symlinkat(2).
        symlink_calls: opt_i64,
        /// Calls of getdents(2) and getdents64(2), which readdir(3) makes: some entries each, not
        /// one.
        readdir_calls: opt_i64,
        /// Calls of stat(2), lstat(2), fstat(2), fstatat(2) and statx(2).
        stat_calls: opt_i64,
    }
}

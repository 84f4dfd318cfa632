"""The commands of flowmine, as functions.

This module is made from the command line (FLOWMINE_UPDATE=1 cargo test --workspace --lib docs_).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._process import Completed, command

if TYPE_CHECKING:
    from typing import Literal, Sequence

    from ._options import Value


def _command(name: str, given: dict[str, Any], passes_code: bool = False) -> Completed:
    kind = given.pop("kind", None)
    words = name if kind is None else f"{name} {kind}"
    return command(words, given.pop("paths"), given, passes_code=passes_code)


def observe(
    *paths: Any,
    dataset: Value | None = None,
    private: bool = False,
    as_owner: bool = False,
    once: bool = False,
    every: Value | None = None,
    polls: Value | None = None,
    accounting: bool = False,
    accounting_since: Value | None = None,
    nodes: bool = False,
    me: bool = False,
    user: Value | Sequence[Value] | None = None,
    account: Value | Sequence[Value] | None = None,
    partition: Value | Sequence[Value] | None = None,
    cluster: Value | None = None,
    slurm_bin_dir: Value | None = None,
    timeout: Value | None = None,
    record: Value | None = None,
    pseudonymise: Value | None = None,
    verbose: bool = False,
    ssh: Value | None = None,
    ssh_config: Value | None = None,
    ssh_jump: Value | None = None,
    ssh_identity: Value | Sequence[Value] | None = None,
    ssh_passphrase_fd: Value | None = None,
    ssh_accept_new: bool = False,
    ssh_command: Value | None = None,
) -> Completed:
    """Record the changes of a Slurm queue, on this machine or over SSH.

    This is ``flowmine observe``, run as a child process.

    Options:
        dataset: The dataset; made when it does not exist
        private: Make the dataset for its owner alone (modes 0700 and 0600, whatever the umask);
            such a dataset stays so without this option
        as_owner: For root: write into a dataset of another user, as that user. Without it root
            refuses, because the owner of a directory can place links in the way of a writer
        once: Poll once and end, for cron
        every: Poll at this interval (10s, 2m, 1h), with a jitter of a tenth; after failures it
            doubles each time [default: 60s]
        polls: Number of polls before the end
        accounting: Also run sacct: exact times, exit codes, jobs between polls, dependencies of
            the submit line, bytes read and written
        accounting_since: Start of the first period of accounting [default: a day before the
            first poll]: 2026-11-20, 2026-11-20T13:00 (UTC) or with zone
        nodes: Also run sinfo: allocated, idle and down CPUs of each node, its state and reason
        me: Only jobs of the calling user (over SSH the user there). A dataset keeps the
            selection with which it began
        user: Only jobs of this user; repeatable
        account: Only jobs charged to this account; repeatable
        partition: Only jobs in this partition; repeatable
        cluster: Name of the cluster, instead of scontrol's
        slurm_bin_dir: Directory of Slurm's commands, where PATH does not have it
        timeout: Time limit of one command [default: 120s]
        record: Directory for the raw output of each poll, a file each; `flowmine import slurm`
            reads them
        pseudonymise: Replace names (users, accounts, groups, hosts, jobs, paths, arguments,
            comments, …) by codes made with the key in this file; the dataset never contains a
            name. Every poll needs the same key
        verbose: Print the result of each poll, also without a terminal
        ssh: Login node. `Host` blocks of the user's ssh config apply. By default squeue runs on
            this machine
        ssh_config: ssh config file, instead of ~/.ssh/config
        ssh_jump: Jump hosts in order, instead of the config's ProxyJump; `none` for a direct
            connection
        ssh_identity: Private key to try first on the login node (jump hosts have their own in
            the config); repeatable
        ssh_passphrase_fd: File descriptor with the passphrase of an encrypted key (up to a
            newline), instead of the terminal
        ssh_accept_new: Trust a host that is not in known_hosts, and add its key. A changed or
            revoked key is still refused
        ssh_command: ssh program that connects, such as `ssh`; used automatically where the
            config needs it (ProxyCommand, certificates, GSSAPI, ControlMaster)
    """
    return _command("observe", locals())


def trace(
    *paths: Any,
    dataset: Value | None = None,
    serve: Value | None = None,
    join: Value | None = None,
    shared: bool = False,
    as_owner: bool = False,
    backend: Literal["auto", "ebpf", "fuse", "ptrace"] | None = None,
    detail: Literal["totals", "events"] | None = None,
    hooks: Literal["auto", "vfs", "vfs-kprobe", "syscalls"] | None = None,
    host: Value | None = None,
    environ: Value | Sequence[Value] | None = None,
    command_lines: Literal["none", "program", "all"] | None = None,
    task: Value | None = None,
    tasks: Literal["commands"] | None = None,
    must_trace: bool = False,
    fail_on_loss: bool = False,
    ring: Value | None = None,
    flush: Value | None = None,
    duration: Value | None = None,
    cgroup: Value | Sequence[Value] | None = None,
    pid: Value | Sequence[Value] | None = None,
    user: Value | Sequence[Value] | None = None,
    group: Value | Sequence[Value] | None = None,
    file_system: Value | Sequence[Value] | None = None,
    not_file_system: Value | Sequence[Value] | None = None,
    op: Value | Sequence[Value] | None = None,
    directory: Value | Sequence[Value] | None = None,
    not_directory: Value | Sequence[Value] | None = None,
) -> Completed:
    """Trace reads and writes of a command, a control group or the whole host.

    This is ``flowmine trace``, run as a child process.
    Paths: The command and its arguments

    Options:
        dataset: The dataset; made when it does not exist, for its owner alone
        serve: Trace commands that join at this socket (--join), with their children, until a
            signal. The programs of eBPF are loaded once, so that a command costs a few
            milliseconds. Only the socket's owner may join, until its mode is changed
        join: Let the tracer at this socket (--serve) trace the command, into its dataset and
            with its options
        shared: Make the dataset by the umask, so that others may read the paths and command
            lines of all traced users
        as_owner: For root: write into a dataset of another user, as that user. Without it root
            refuses, because the owner of a directory can place links in the way of a writer
        backend: The backend [default: auto]
        detail: Record each read and write, or sums for each process and open file [default:
            events for a command, totals for a host]
        hooks: Hooks of eBPF: the kernel's VFS functions or its system calls [default: auto]
        host: Name of the host in the tables, instead of uname's; for containers
        environ: Environment variables to record of each process, separated by commas; empty for
            none [default: those that identify jobs and tasks, such as SLURM_JOB_ID and
            AIRFLOW_CTX_TASK_ID]
        command_lines: Recorded part of command lines, which may contain passwords: nothing, the
            first word, or all [default: all for a command and its children, else the first
            word]
        task: Make the command and its children one task of this name: in attribution, logs and
            models, alongside those of workflow engines
        tasks: Make a task of each command that the command starts, such as those of a shell
            script, named after its program
        must_trace: Fail where the command cannot be traced, instead of running it untraced
        fail_on_loss: Exit with 1 where the command succeeded and its trace is incomplete. By
            default the exit code is the command's and a warning reports the loss
        ring: Size of the kernel's ring of records, a power of two: 16M, 64M. Larger rings lose
            less when much happens at once [default: 16M]
        flush: Longest time before rows are written, which is the loss at a kill -9 [default:
            10s]
        duration: End the trace after this time. The command continues, and the tracer waits for
            it
        cgroup: Only processes in this cgroup or below it: its directory, or its path in the v2
            hierarchy
        pid: Only this process and its children
        user: Only processes of this user: name or number
        group: Only processes of this group: name or number
        file_system: Only files on file systems of this type: ext4, nfs4. Pseudo file systems
            (proc, sysfs, …) are recorded only when they are named here
        not_file_system: No files on file systems of this type
        op: Only these operations: open, read, write, close, delete, rename, link, truncate,
            allocate, sync, mmap, fault
        directory: Only files below this directory. The FUSE backend overlays these; the current
            directory when none is given
        not_directory: No files below this directory
    """
    return _command("trace", locals(), passes_code=True)


def import_(
    kind: Literal["slurm", "log", "io-csv", "nextflow", "snakemake", "makeflow", "airflow", "argo", "kubernetes", "taskvine", "wfformat", "ro-crate", "transform"],
    *paths: Any,
    dataset: Value | None = None,
    private: bool = False,
    as_owner: bool = False,
    cluster: Value | None = None,
    observed_at: Value | None = None,
    zone: Value | None = None,
    separator: Value | None = None,
    case_column: Value | None = None,
    activity_column: Value | Sequence[Value] | None = None,
    timestamp_column: Value | None = None,
    start_column: Value | None = None,
    timestamp_unit: Literal["s", "ms", "us", "ns", "days", "digits"] | None = None,
    date_format: Value | None = None,
    encoding: Value | None = None,
    delimiter: Value | None = None,
    header: Literal["yes", "no"] | None = None,
    lifecycle_column: Value | None = None,
    instance_column: Value | None = None,
    resource_column: Value | None = None,
    read_bytes_column: Value | None = None,
    written_bytes_column: Value | None = None,
    year: Value | None = None,
) -> Completed:
    """Import recordings of other programs.

    This is ``flowmine import``, run as a child process.
    Paths: Files, or directories of which all files are read

    Options:
        dataset: The dataset; made when it does not exist
        private: Make the dataset for its owner alone (modes 0700 and 0600, whatever the umask);
            such a dataset stays so without this option
        as_owner: For root: write into a dataset of another user, as that user. Without it root
            refuses, because the owner of a directory can place links in the way of a writer
        cluster: Name of the cluster [default: the name in the files, else \"cluster\"]
        observed_at: Time of the recording, for files without it in their content or name
            (squeue-20261120T130405Z.txt) [default: the file's modification time, with a note]
        zone: Zone of times without one, as an offset east of UTC (+01:00) [default: UTC, with a
            note]
        separator: Separator of the fields of a text file [default: by the header]
        case_column: Case
        activity_column: Activity; several columns are joined by plus signs
        timestamp_column: Time of an event or, next to a start, end of an instance
        start_column: Start of an instance
        timestamp_unit: Unit of times that are numbers
        date_format: Form of dates
        encoding: Encoding of CSV
        delimiter: Character between the fields of CSV
        header: Whether the first line of CSV names the columns
        lifecycle_column: Transition of the lifecycle
        instance_column: Activity instance of a row
        resource_column: Resource: user, host or machine
        read_bytes_column: Bytes read
        written_bytes_column: Bytes written
        year: Year in which a log without years begins [default: by the file's modification
            time, with a note]
    """
    return _command("import", locals())


def correlate(
    *paths: Any,
    dataset: Value | None = None,
    as_owner: bool = False,
    case_notion: Value | None = None,
    json: bool = False,
    hub_runs: Value | None = None,
    hub_readers: Value | None = None,
    hub_age: Value | None = None,
    partial: Value | None = None,
    host: Value | Sequence[Value] | None = None,
) -> Completed:
    """Find the jobs that belong together; writes the tables links, cases and waits.

    This is ``flowmine correlate``, run as a child process.
    Paths: A dataset, or sources of one, recognised by their content: recordings of squeue or
        sacct, I/O traces, files and directories of workflow engines

    Options:
        dataset: The dataset
        as_owner: For root: write into a dataset of another user, as that user. Without it root
            refuses, because the owner of a directory can place links in the way of a writer
        case_notion: Case notion of the report. The tables always contain auto, dependency,
            account-group and, where jobs are known to exchange files, data-flow; other notions
            only if they are named here
        json: Output as JSON, with the share of attempts that each kind of evidence decided
        hub_runs: Minimum number of groups of several jobs that read a hub file, which joins no
            jobs [initially: 3]. Stored in the dataset, as are the next two
        hub_readers: Minimum number of groups of any size that read a hub file [initially: 10]
        hub_age: Minimum time between writing and reading a hub file [initially: 7 days]
        partial: Write partial results of hosts into this directory instead of the tables, for
            `merge`. One that is there and still valid is kept
        host: With --partial: only this host; repeatable [default: all hosts of the dataset]
    """
    return _command("correlate", locals())


def merge(
    *paths: Any,
    dataset: Value | None = None,
    as_owner: bool = False,
    case_notion: Value | None = None,
    json: bool = False,
    hub_runs: Value | None = None,
    hub_readers: Value | None = None,
    hub_age: Value | None = None,
) -> Completed:
    """Write the tables of `correlate` from partial results of hosts.

    This is ``flowmine merge``, run as a child process.
    Paths: Directories with partial results of all hosts, in any order

    Options:
        dataset: The dataset of which the partial results were made
        as_owner: For root: write into a dataset of another user, as that user. Without it root
            refuses, because the owner of a directory can place links in the way of a writer
        case_notion: Case notion of the report. The tables always contain auto, dependency,
            account-group and, where jobs are known to exchange files, data-flow; other notions
            only if they are named here
        json: Output as JSON, with the share of attempts that each kind of evidence decided
        hub_runs: Minimum number of groups of several jobs that read a hub file, which joins no
            jobs [initially: 3]. Stored in the dataset, as are the next two
        hub_readers: Minimum number of groups of any size that read a hub file [initially: 10]
        hub_age: Minimum time between writing and reading a hub file [initially: 7 days]
    """
    return _command("merge", locals())


def distribute(
    *paths: Any,
    on: Literal["slurm", "makeflow", "snakemake"] | None = None,
    dataset: Value | None = None,
    out: Value | None = None,
    tasks: Value | None = None,
    program: Value | None = None,
    submit: bool = False,
    case_notion: Value | None = None,
    json: bool = False,
    hub_runs: Value | None = None,
    hub_readers: Value | None = None,
    hub_age: Value | None = None,
) -> Completed:
    """Distribute the work of a command as jobs of Slurm or as a workflow.

    This is ``flowmine distribute``, run as a child process.
    Paths: The work

    Options:
        on: What starts the tasks
        dataset: The dataset, on a file system that all machines share
        out: The directory for scripts and partial results, on such a file system; made when it
            does not exist
        tasks: Maximum number of tasks; a task can have several hosts [default: one for each
            host, and at most 1000]
        program: The program flowmine on the machines of the tasks [default: the path of this
            program]
        submit: Submit the jobs with sbatch, instead of only writing their scripts
        case_notion: Case notion of the report. The tables always contain auto, dependency,
            account-group and, where jobs are known to exchange files, data-flow; other notions
            only if they are named here
        json: Output as JSON, with the share of attempts that each kind of evidence decided
        hub_runs: Minimum number of groups of several jobs that read a hub file, which joins no
            jobs [initially: 3]. Stored in the dataset, as are the next two
        hub_readers: Minimum number of groups of any size that read a hub file [initially: 10]
        hub_age: Minimum time between writing and reading a hub file [initially: 7 days]
    """
    return _command("distribute", locals())


def work(
    *paths: Any,
) -> Completed:
    """Carry out a task of a plan that `distribute` wrote.

    This is ``flowmine work``, run as a child process.
    Paths: The plan that `flowmine distribute` wrote

    Options:
    """
    return _command("work", locals())


def prune(
    *paths: Any,
    dataset: Value | None = None,
    as_owner: bool = False,
    before: Value | None = None,
    dry_run: bool = False,
    wait: Value | None = None,
) -> Completed:
    """Remove old rows from a dataset.

    This is ``flowmine prune``, run as a child process.

    Options:
        dataset: The dataset
        as_owner: For root: write into a dataset of another user, as that user. Without it root
            refuses, because the owner of a directory can place links in the way of a writer
        before: Remove jobs, tasks and traces that ended before this time: 2026-11-20,
            2026-11-20T13:00 (UTC) or with zone, 90d, 12w, yesterday
        dry_run: Only count the rows that would be removed. The remaining rows are written next
            to the dataset's files for that, and removed
        wait: Time to wait for another writer, such as a poll from cron [default: 30s]
    """
    return _command("prune", locals())


def export(
    *paths: Any,
    dataset: Value | None = None,
    log: Value | Sequence[Value] | None = None,
    format: Literal["xes", "xes.gz", "ocel.json", "ocel.xml", "ocel.sqlite", "csv", "parquet", "io-csv", "wfformat", "ro-crate", "makeflow", "make", "snakemake", "slurm"] | None = None,
    case_notion: Value | None = None,
    activity: Value | None = None,
    objects: Literal["job", "task", "process", "file"] | Sequence[Literal["job", "task", "process", "file"]] | None = None,
    milliseconds: bool = False,
    untimed_events: Literal["leave-out", "neighbour"] | None = None,
    pseudonymise: Value | None = None,
    drop: Value | Sequence[Value] | None = None,
    timestamp: Literal["reported", "observed-at", "not-before"] | None = None,
    part: Value | None = None,
    run: Value | None = None,
    output: Value | None = None,
    account: Value | Sequence[Value] | None = None,
    user: Value | Sequence[Value] | None = None,
    from_: Value | None = None,
    to: Value | None = None,
    time_frame: Literal["trimmed", "contained", "intersecting"] | None = None,
    only_activity: Value | Sequence[Value] | None = None,
    without_activity: Value | Sequence[Value] | None = None,
    case: Value | Sequence[Value] | None = None,
    path: Value | Sequence[Value] | None = None,
    eventually: Value | Sequence[Value] | None = None,
    between: Value | None = None,
    starts_with: Value | Sequence[Value] | None = None,
    ends_with: Value | Sequence[Value] | None = None,
    rework: Value | Sequence[Value] | None = None,
    min_duration: Value | None = None,
    max_duration: Value | None = None,
    min_size: Value | None = None,
    max_size: Value | None = None,
    top_variants: Value | None = None,
    variant_coverage: Value | None = None,
    where: Value | Sequence[Value] | None = None,
    cases_where: Value | Sequence[Value] | None = None,
    qualifier: Value | Sequence[Value] | None = None,
    case_column: Value | None = None,
    activity_column: Value | Sequence[Value] | None = None,
    timestamp_column: Value | None = None,
    start_column: Value | None = None,
    timestamp_unit: Literal["s", "ms", "us", "ns", "days", "digits"] | None = None,
    date_format: Value | None = None,
    zone: Value | None = None,
    encoding: Value | None = None,
    delimiter: Value | None = None,
    header: Literal["yes", "no"] | None = None,
    lifecycle_column: Value | None = None,
    instance_column: Value | None = None,
    resource_column: Value | None = None,
    read_bytes_column: Value | None = None,
    written_bytes_column: Value | None = None,
) -> Completed:
    """Write an event log.

    This is ``flowmine export``, run as a child process.
    Paths: Sources: a dataset, logs, tables, recordings of Slurm, traces, runs of workflow
        engines

    Options:
        dataset: The dataset
        log: A log file; with --dataset the name of a log that was imported into it
        format: Format [default: by the suffix of the output file]
        case_notion: What a case is, such as auto, dependency, task-run, object:TYPE
        activity: Attributes that name an activity, joined by plus signs, or step; for formats
            with cases, of a dataset
        objects: Object types of an object-centric log of a dataset, with their events.
            Processes are many, so they are left out by default [default: job,task,file]
        milliseconds: Truncate times to milliseconds in XES, and count the truncated ones: for
            ProM with Java 8, which reads more digits as a larger number and moves the event by
            hours
        untimed_events: Treatment of XES events without a time, which OCEL does not allow:
            leave-out, or neighbour (they get the time of the event before them in their trace
            and the attribute time_unknown) [default: leave-out]
        pseudonymise: Replace names (users, accounts, groups, hosts, jobs, paths, arguments,
            comments, …) by codes made with the key in this file
        drop: Columns of job_states to leave out, separated by commas, together with equivalent
            columns of tasks, processes and files; for a log of another program, attributes with
            these keys
        timestamp: Time of an event within its observed interval; the log keeps both ends
            [default: reported]
        part: Only the K-th of N parts of the cases, for formats with cases, so that several
            processes or machines can write one each; `discover` reads them together (--log A
            --log B). Each case is in one part. The parts of a dataset are those of its last
            `flowmine correlate`
        run: Only the workflow run with this id or name, for wfformat and ro-crate
        output: Output file [default: standard output]
        account: Only jobs of this account; may be given more than once
        user: Only jobs of this user; may be given more than once
        from_: Only events at or after this time
        to: Only events before this time
        time_frame: What --from and --to do with cases that reach beyond them [default: trimmed]
        only_activity: Only this activity; * matches any text
        without_activity: Not this activity; may be given more than once
        case: Only the case with this name; may be given more than once
        path: Only cases in which B comes directly after A
        eventually: Only cases in which B comes some time after A
        between: Only cases with A and B, and of these the part from A to the next B
        starts_with: Only cases that begin with this activity; several are alternatives
        ends_with: Only cases that end with this activity; several are alternatives
        rework: Only cases in which this activity comes at least twice
        min_duration: Only cases that take at least this long, such as 90s, 2h, 3d
        max_duration: Only cases that take at most this long
        min_size: Only cases of at least N activity instances
        max_size: Only cases of at most N activity instances
        top_variants: Only cases of the N most frequent variants
        variant_coverage: Only cases of the most frequent variants up to this share
        where: Only events, tasks or jobs whose attribute fits
        cases_where: Only cases whose attribute fits, as with --where
        qualifier: Only relations of events to objects with this qualifier; several are
            alternatives
        case_column: Case
        activity_column: Activity; several columns are joined by plus signs
        timestamp_column: Time of an event or, next to a start, end of an instance
        start_column: Start of an instance
        timestamp_unit: Unit of times that are numbers
        date_format: Form of dates
        zone: Zone of times without one [default: UTC]
        encoding: Encoding of CSV
        delimiter: Character between the fields of CSV
        header: Whether the first line of CSV names the columns
        lifecycle_column: Transition of the lifecycle
        instance_column: Activity instance of a row
        resource_column: Resource: user, host or machine
        read_bytes_column: Bytes read
        written_bytes_column: Bytes written
    """
    return _command("export", locals())


def validate(
    *paths: Any,
    case_column: Value | None = None,
    activity_column: Value | Sequence[Value] | None = None,
    timestamp_column: Value | None = None,
    start_column: Value | None = None,
    timestamp_unit: Literal["s", "ms", "us", "ns", "days", "digits"] | None = None,
    date_format: Value | None = None,
    zone: Value | None = None,
    encoding: Value | None = None,
    delimiter: Value | None = None,
    header: Literal["yes", "no"] | None = None,
    lifecycle_column: Value | None = None,
    instance_column: Value | None = None,
    resource_column: Value | None = None,
    read_bytes_column: Value | None = None,
    written_bytes_column: Value | None = None,
    quiet: bool = False,
) -> Completed:
    """Check event logs against their standards.

    This is ``flowmine validate``, run as a child process.
    Paths: The files: XES, OCEL 2.0 (JSON, XML, SQLite) or tables (CSV, Parquet)

    Options:
        case_column: Case
        activity_column: Activity; several columns are joined by plus signs
        timestamp_column: Time of an event or, next to a start, end of an instance
        start_column: Start of an instance
        timestamp_unit: Unit of times that are numbers
        date_format: Form of dates
        zone: Zone of times without one [default: UTC]
        encoding: Encoding of CSV
        delimiter: Character between the fields of CSV
        header: Whether the first line of CSV names the columns
        lifecycle_column: Transition of the lifecycle
        instance_column: Activity instance of a row
        resource_column: Resource: user, host or machine
        read_bytes_column: Bytes read
        written_bytes_column: Bytes written
        quiet: Leave out notes
    """
    return _command("validate", locals())


def report(
    *paths: Any,
    dataset: Value | None = None,
    log: Value | Sequence[Value] | None = None,
    output: Value | None = None,
    out: Value | None = None,
    text: bool = False,
    case_notion: Value | None = None,
    events: Literal["instances", "all", "starts", "ends"] | None = None,
    activity: Value | None = None,
    timestamp: Literal["reported", "observed-at", "not-before"] | None = None,
    account: Value | Sequence[Value] | None = None,
    user: Value | Sequence[Value] | None = None,
    from_: Value | None = None,
    to: Value | None = None,
    case_column: Value | None = None,
    activity_column: Value | Sequence[Value] | None = None,
    timestamp_column: Value | None = None,
    start_column: Value | None = None,
    timestamp_unit: Literal["s", "ms", "us", "ns", "days", "digits"] | None = None,
    date_format: Value | None = None,
    zone: Value | None = None,
    encoding: Value | None = None,
    delimiter: Value | None = None,
    header: Literal["yes", "no"] | None = None,
    lifecycle_column: Value | None = None,
    instance_column: Value | None = None,
    resource_column: Value | None = None,
    read_bytes_column: Value | None = None,
    written_bytes_column: Value | None = None,
) -> Completed:
    """Write one page about any source: findings, failures, process, waits, tables.

    This is ``flowmine report``, run as a child process.
    Paths: Sources: a dataset, logs, tables, recordings of Slurm, traces, runs of workflow
        engines

    Options:
        dataset: The dataset
        log: A log file; with --dataset the name of a log that was imported into it
        output: The page; by default standard output
        out: A directory for the page, and for logs and tables of a dataset
        text: Write plain text of the size of a mail: the first findings, and accounts by week
        case_notion: What a case is, such as auto, dependency, task-run, object:TYPE
        events: What the model is made of [default: instances]
        activity: Attributes that name an activity, or a classifier of the log
        timestamp: Moment of an observed interval that is the time of an event [default:
            reported]
        account: Only jobs of this account; may be given more than once
        user: Only jobs of this user; may be given more than once
        from_: Only events at or after this time
        to: Only events before this time
        case_column: Case
        activity_column: Activity; several columns are joined by plus signs
        timestamp_column: Time of an event or, next to a start, end of an instance
        start_column: Start of an instance
        timestamp_unit: Unit of times that are numbers
        date_format: Form of dates
        zone: Zone of times without one [default: UTC]
        encoding: Encoding of CSV
        delimiter: Character between the fields of CSV
        header: Whether the first line of CSV names the columns
        lifecycle_column: Transition of the lifecycle
        instance_column: Activity instance of a row
        resource_column: Resource: user, host or machine
        read_bytes_column: Bytes read
        written_bytes_column: Bytes written
    """
    return _command("report", locals())


def serve(
    *paths: Any,
    dataset: Value | None = None,
    log: Value | Sequence[Value] | None = None,
    port: Value | None = None,
    socket: Value | None = None,
    url_file: Value | None = None,
    allow_host: Value | Sequence[Value] | None = None,
    cache: Value | None = None,
    memory: Value | None = None,
    once: bool = False,
    out: Value | None = None,
    observe: bool = False,
    interval: Value | None = None,
    slurm_bin_dir: Value | None = None,
    ssh: Value | None = None,
    ssh_config: Value | None = None,
    ssh_jump: Value | None = None,
    ssh_identity: Value | Sequence[Value] | None = None,
    ssh_passphrase_fd: Value | None = None,
    ssh_accept_new: bool = False,
    ssh_command: Value | None = None,
    case_column: Value | None = None,
    activity_column: Value | Sequence[Value] | None = None,
    timestamp_column: Value | None = None,
    start_column: Value | None = None,
    timestamp_unit: Literal["s", "ms", "us", "ns", "days", "digits"] | None = None,
    date_format: Value | None = None,
    zone: Value | None = None,
    encoding: Value | None = None,
    delimiter: Value | None = None,
    header: Literal["yes", "no"] | None = None,
    lifecycle_column: Value | None = None,
    instance_column: Value | None = None,
    resource_column: Value | None = None,
    read_bytes_column: Value | None = None,
    written_bytes_column: Value | None = None,
) -> Completed:
    """Serve the page of `report` with models on demand, for large data, and follow changes.

    This is ``flowmine serve``, run as a child process.
    Paths: Sources: a dataset, logs, tables, recordings of Slurm, traces, runs of workflow
        engines

    Options:
        dataset: The dataset
        log: A log file; with --dataset the name of a log that was imported into it
        port: Port of 127.0.0.1 [default: a free one]
        socket: Unix socket (mode 0600) instead of a port, in a directory into which only you
            can write
        url_file: File (mode 0600) for the address with its token, instead of standard output
        allow_host: Host of a reverse proxy before the server, as browsers send it, with its
            port if that is not 80 or 443; repeatable
        cache: Memory for results that are kept, in MiB [default: 256]
        memory: Memory for logs that were read, in MiB; a larger log is read for each model. A
            model in work has a copy of its log [default: 1024]
        once: Write static pages for a web server into the directory of -o, and end
        out: Directory of the static pages
        observe: Also poll the Slurm queue into the dataset, which is made when it does not
            exist
        interval: Interval of the polls [default: 60s]
        slurm_bin_dir: Directory of Slurm's commands, where PATH does not have it
        ssh: Login node. `Host` blocks of the user's ssh config apply. By default squeue runs on
            this machine
        ssh_config: ssh config file, instead of ~/.ssh/config
        ssh_jump: Jump hosts in order, instead of the config's ProxyJump; `none` for a direct
            connection
        ssh_identity: Private key to try first on the login node (jump hosts have their own in
            the config); repeatable
        ssh_passphrase_fd: File descriptor with the passphrase of an encrypted key (up to a
            newline), instead of the terminal
        ssh_accept_new: Trust a host that is not in known_hosts, and add its key. A changed or
            revoked key is still refused
        ssh_command: ssh program that connects, such as `ssh`; used automatically where the
            config needs it (ProxyCommand, certificates, GSSAPI, ControlMaster)
        case_column: Case
        activity_column: Activity; several columns are joined by plus signs
        timestamp_column: Time of an event or, next to a start, end of an instance
        start_column: Start of an instance
        timestamp_unit: Unit of times that are numbers
        date_format: Form of dates
        zone: Zone of times without one [default: UTC]
        encoding: Encoding of CSV
        delimiter: Character between the fields of CSV
        header: Whether the first line of CSV names the columns
        lifecycle_column: Transition of the lifecycle
        instance_column: Activity instance of a row
        resource_column: Resource: user, host or machine
        read_bytes_column: Bytes read
        written_bytes_column: Bytes written
    """
    return _command("serve", locals())


def why(
    *paths: Any,
    dataset: Value | None = None,
    cluster: Value | None = None,
) -> Completed:
    """Show the waits of jobs, by cause.

    This is ``flowmine why``, run as a child process.
    Paths: The jobs as squeue prints them: 7, 8_3, 18+1; or names of tasks of a workflow engine.
        8 also means all tasks of the array 8

    Options:
        dataset: The dataset
        cluster: Only jobs of this cluster
    """
    return _command("why", locals())


def evaluate(
    *paths: Any,
    dataset: Value | None = None,
    truth: Value | None = None,
    steps: bool = False,
    json: bool = False,
    notion: Value | Sequence[Value] | None = None,
) -> Completed:
    """Compare case notions with the true cases of jobs.

    This is ``flowmine evaluate``, run as a child process.
    Paths: A dataset, or sources of one, recognised by their content: recordings of squeue or
        sacct, I/O traces, files and directories of workflow engines

    Options:
        dataset: The dataset
        truth: The true cases: a file with the columns job and case (CSV or TSV), or a case
            notion. Of steps, a file with the columns job and step, or logical-task: what
            engines declare. Without a truth, the models that the cases of each notion lead to
            are measured
        steps: Evaluate steps instead of cases, with and without traces
        json: Output as JSON
        notion: Only this case notion; can be given several times
    """
    return _command("evaluate", locals())


def generate(
    *paths: Any,
    output: Value | None = None,
    seed: Value | None = None,
    users: Value | None = None,
    runs: Value | None = None,
    overlap: Value | None = None,
) -> Completed:
    """Write jobs of simulated users with known workflow runs.

    This is ``flowmine generate``, run as a child process.

    Options:
        output: The directory for the files
        seed: The same seed gives the same jobs [default: 1]
        users: Number of users [default: 10]
        runs: Number of runs of each user [default: 20]
        overlap: Maximum number of runs that a user has under way at once [default: 1]
    """
    return _command("generate", locals())


def predict(
    *paths: Any,
    dataset: Value | Sequence[Value] | None = None,
    run: Value | None = None,
    held_out: bool = False,
    start: Literal["observed", "ready"] | None = None,
    stream: Value | Sequence[Value] | None = None,
    inputs_times: Value | None = None,
    share: Value | Sequence[Value] | None = None,
    write_model: Value | None = None,
    format: Literal["text", "json", "csv", "svg"] | None = None,
    output: Value | None = None,
    details: bool = False,
    plain: bool = False,
    widen: Value | None = None,
    unlimited: bool = False,
    segments: Value | None = None,
    sweep: Value | None = None,
    measured: Value | None = None,
    sensitivity: bool = False,
    vary: Value | Sequence[Value] | None = None,
    samples: Value | None = None,
    seed: Value | None = None,
) -> Completed:
    """Predict the end of a workflow and its limiting resources from a model of its processes.

    This is ``flowmine predict``, run as a child process.
    Paths: Model, a JSON or TOML file (by its suffix; others are JSON)

    Options:
        dataset: Fit the model to the runs of this dataset, traced and correlated; repeatable
        run: The run that is predicted: its name, its id, or the directory of its dataset.
            Needed when there are several
        held_out: Learn from the other runs only; the predicted run provides its tasks, their
            data flow and the sizes of its input files
        start: Start of tasks: with the observed delays, or as soon as their inputs exist
            [default: observed]
        stream: Tasks that read while their input is written, although they did not in the trace
        inputs_times: Factor for the bytes of input files that existed before the run [default:
            1]
        share: Tasks that share one external resource (neither processor nor files, such as the
            network); in the trace each had all of it
        write_model: Write the model to a file, for editing and another prediction: TOML by its
            suffix, else JSON
        format: Format of the prediction [default: by the suffix of -o, else text]
        output: Output file [default: standard output]
        details: Also give the used share of each resource of each process, and the waiting part
            of each data input: in figures below each process, in CSV a row each. JSON always
            has it
        plain: Leave out heading and legend of the figure, for papers
        widen: Gain in time for each limiting resource with this multiple of it
        unlimited: Gain in time for each limiting resource without its limit
        segments: With --widen: number of longest intervals with one limiting resource, widened
            one at a time
        sweep: Predict with a number of the model swept over a range, set (=) or multiplied (*):
            `shared[link].part[download]=0.5..0.99/600`
        measured: With --sweep and a figure: also draw measurements, a CSV file with a value and
            seconds in each line
        sensitivity: Change of the finish with one per cent more of each capacity, allocation,
            requirement or input
        vary: Draw a number of the model at random: uniform in a range (`PATH*0.9..1.1`), or
            normal around a mean (`PATH*1+-0.05`); repeatable
        samples: Number of draws [default: 1000]
        seed: Seed of the draws [default: 1]
    """
    return _command("predict", locals())


def run(
    *paths: Any,
    dataset: Value | None = None,
    as_owner: bool = False,
    out: Value | None = None,
    formats: Literal["xes", "xes.gz", "ocel.json", "ocel.xml", "ocel.sqlite", "csv", "parquet"] | Sequence[Literal["xes", "xes.gz", "ocel.json", "ocel.xml", "ocel.sqlite", "csv", "parquet"]] | None = None,
    timestamp: Literal["reported", "observed-at", "not-before"] | None = None,
    account: Value | Sequence[Value] | None = None,
    user: Value | Sequence[Value] | None = None,
    from_: Value | None = None,
    to: Value | None = None,
) -> Completed:
    """Alias of `report --out DIR`: page, logs and tables of a dataset.

    This is ``flowmine run``, run as a child process.
    Paths: A dataset, or sources of one, recognised by their content: recordings of squeue or
        sacct, I/O traces, files and directories of workflow engines

    Options:
        dataset: The dataset
        as_owner: For root: write into a dataset of another user, as that user. Without it root
            refuses, because the owner of a directory can place links in the way of a writer
        out: The directory for the results; made when it does not exist
        formats: Formats of the logs, separated by commas: with cases (xes, xes.gz, csv,
            parquet) for each case notion (data-flow where jobs are known to exchange files);
            ocel.json, ocel.xml, ocel.sqlite for the object-centric log [default:
            xes.gz,ocel.sqlite]
        timestamp: Time of an event within its observed interval [default: reported]
        account: Only jobs of this account; may be given more than once
        user: Only jobs of this user; may be given more than once
        from_: Only events at or after this time
        to: Only events before this time
    """
    return _command("run", locals())


def transform(
    *paths: Any,
    apply: Value | Sequence[Value] | None = None,
    let: Value | Sequence[Value] | None = None,
    jx_args: Value | Sequence[Value] | None = None,
    select: Value | Sequence[Value] | None = None,
    out: Value | None = None,
    collisions: Literal["refuse", "remap"] | None = None,
    explain: Value | None = None,
    check: bool = False,
    dry_run: bool = False,
) -> Completed:
    """Wrap the tasks of a workflow in layers: monitor, container, sandbox, retry, and your own.

    This is ``flowmine transform``, run as a child process.
    Paths: Makeflow's JSON or JX (.json, .jx), its own language (.makeflow, .mf), tasks of the
        algebra paper's form in the same, a Slurm job script or a script that submits such, a
        Snakefile, or a list of commands, one a line

    Options:
        apply: Layer around the tasks: a file, FILE#NAME, or the name of a built-in; repeatable,
            the first is the innermost
        let: Value of a name that the layers bind with `let`, such as image=debian
        jx_args: Definitions for a workflow in JX, as of makeflow --jx-args: an object in a
            file. They hold in place of the workflow's own
        select: Only the tasks of this name, category or output; repeatable. The others stay
            unchanged
        out: The new workflow; the layers' scripts are written next to it, and both run from
            that directory
        collisions: Treatment of two tasks with the same output name [default: refuse]
        explain: Print the layers of this task, bound, and write nothing
        check: Only check whether the layers fit the tasks
        dry_run: Print the new workflow, and write nothing
    """
    return _command("transform", locals())


def doctor(
    *paths: Any,
    json: bool = False,
) -> Completed:
    """Show the features that work on this machine, with the reason for those that do not.

    This is ``flowmine doctor``, run as a child process.

    Options:
        json: Output for programs
    """
    return _command("doctor", locals())


def completions(
    *paths: Any,
) -> Completed:
    """Print a shell completion script.

    This is ``flowmine completions``, run as a child process.
    Paths: The shell

    Options:
    """
    return _command("completions", locals())


def man(
    *paths: Any,
    dir: Value | None = None,
) -> Completed:
    """Write the manual pages.

    This is ``flowmine man``, run as a child process.

    Options:
        dir: The directory for flowmine.1 and a page for each command; without it flowmine.1
            goes to standard output
    """
    return _command("man", locals())


__all__ = [
    "observe",
    "trace",
    "import_",
    "correlate",
    "merge",
    "distribute",
    "work",
    "prune",
    "export",
    "validate",
    "report",
    "serve",
    "why",
    "evaluate",
    "generate",
    "predict",
    "run",
    "transform",
    "doctor",
    "completions",
    "man",
]

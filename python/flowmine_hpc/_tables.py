"""The tables of a dataset, as properties of sources.

This module is made from the declarations of tables (FLOWMINE_UPDATE=1 cargo test --workspace --lib docs_).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._table import Table


class Tables:
    """The tables of a dataset. docs/tables.md describes their columns.

    A table with the name of a model is reached by ``source.table(NAME)``.
    """

    def table(self, name: str) -> Table:
        """Returns a table, which may have no rows."""
        raise NotImplementedError

    @property
    def job_states(self) -> Table:
        """One observed change of one job attempt, with the interval in which it happened. An
        attempt is a (``cluster``, ``job``, ``submit_ns``). Slurm keeps a job's id when it is
        requeued, and gives it a new submit time. It uses ids again when they wrap. Rows come
        from polling ``squeue`` (``source`` = ``squeue``, ``squeue-json``, ``slurmminer``) and
        from accounting (``source`` = ``sacct``, ``sacct-json``, ``swf``). Text that was not
        UTF-8 holds ``\\xNN`` for each such byte.
        """
        return self.table("job_states")

    @property
    def job_dependencies(self) -> Table:
        """One declared dependency of one job attempt, whenever it was first seen or its state
        changed. Slurm's dependency column shrinks while a job waits; rows are never taken back,
        so that their union over time is what was declared. What was declared and is no longer
        while it could not yet have been met has a row ``withdrawn``. The terms of one
        expression are numbered by ``position`` when it was first seen.
        """
        return self.table("job_dependencies")

    @property
    def controller_clocks(self) -> Table:
        """From a poll on: by how much the clock of the machine that polls is ahead of
        slurmctld's. Times that Slurm reports are of slurmctld's clock. ``not_before_ns`` and
        ``observed_at_ns`` of ``job_states`` are of the clock of the machine where squeue runs,
        and stay as observed. Attempts, waits and logs, which are derived from them, are
        corrected by this table. A row that contradicts the rows before it shows that a clock
        was set.
        """
        return self.table("controller_clocks")

    @property
    def node_states(self) -> Table:
        """One observed change of a node: from then on it is as the row says. ``flowmine observe
        --nodes`` writes it, from one sinfo(1) a poll. A node of which nothing changed since the
        poll before has no row. Times are of the clock of the machine where sinfo runs;
        ``controller_clocks`` says how it relates to slurmctld's.
        """
        return self.table("node_states")

    @property
    def diagnostics(self) -> Table:
        """Something that was wrong with an input, with its place, severity and advice.
        """
        return self.table("diagnostics")

    @property
    def hosts(self) -> Table:
        """A trace of a host: one row for its begin and one for its end. A trace that was killed
        has no row for its end.
        """
        return self.table("hosts")

    @property
    def clocks(self) -> Table:
        """A reading of a host's clocks: real time at a moment after boot, with its error.
        """
        return self.table("clocks")

    @property
    def processes(self) -> Table:
        """A process generation. A process that outlives a flush has a row for each; the one
        with the latest ``as_of_ns`` holds.
        """
        return self.table("processes")

    @property
    def files(self) -> Table:
        """A file generation: one row when it is first seen in a trace, one more for each
        further path under which it is opened.
        """
        return self.table("files")

    @property
    def io_events(self) -> Table:
        """One operation of one thread on one file.
        """
        return self.table("io_events")

    @property
    def io_totals(self) -> Table:
        """The reads and writes of one process on one open file, added up. A file that is open
        for long has several rows, which add up.
        """
        return self.table("io_totals")

    @property
    def losses(self) -> Table:
        """Records that were lost and operations that cannot be recorded: of a kind, on a
        processor, in an interval.
        """
        return self.table("losses")

    @property
    def task_runs(self) -> Table:
        """One attempt at one task of a workflow run, as its engine records it. A run is an
        (``engine``, ``run_id``, ``run_name``): Nextflow keeps the id when a run is resumed and
        gives it another name. Each time has a precision: the largest distance of the true
        moment from it. Null means that the bound is not known. What an engine noticed by
        polling has the interval between two polls, and a time in whole seconds has one second.
        A local time without a known zone has the largest difference between zones; then all
        times of a run are shifted by the same amount. What the columns mean for each engine,
        and where they come from, is in ``docs/engines.md``.
        """
        return self.table("task_runs")

    @property
    def imported_logs(self) -> Table:
        """One XES or OCEL file that was imported.
        """
        return self.table("imported_logs")

    @property
    def log_objects(self) -> Table:
        """One object of an imported OCEL file, or one trace of an imported XES file.
        """
        return self.table("log_objects")

    @property
    def log_events(self) -> Table:
        """One event of an imported log.
        """
        return self.table("log_events")

    @property
    def links(self) -> Table:
        """Two entities, the rule that joined them, and the evidence. An entity is a type, a
        scope in which its id holds, the id, and where ids are used again a moment: | type |
        scope | id | moment | |---|---|---|---| | ``job`` | cluster | as ``job_states.job``
        names it | its submission | | ``step`` | cluster | job, a dot, the step as Slurm names
        it: ``7.0``, ``7.batch`` | the submission of its job | | ``task`` | engine | as
        ``task_io.task`` names it | | | ``process`` | host | process id | when it started
        (``processes.started_ns``) | | ``container`` | host | container id | | | ``pod`` | | pod
        uid | | | ``unit`` | host | name of a systemd scope or service | |
        """
        return self.table("links")

    @property
    def cases(self) -> Table:
        """One attempt at a job, or at a task of a workflow engine, in one case of one case
        notion. A row has a job (``cluster``, ``job``, ``job_id``) or a task (``task``). A task
        that ran as a job is in the cases of that job. That job is in the cases of the task.
        """
        return self.table("cases")

    @property
    def task_io(self) -> Table:
        """What one task attempt did to one file, on one host. The processes of a task are found
        by rules (``docs/attribution.md``). A row has a task of an engine, and the job, pod and
        container in which it ran, as far as they are known. A job without an engine has rows
        without ``task``. What belongs to none has ``unassigned``. So the bytes of all rows are
        the bytes of all operations that were traced, and none is in two rows. Bytes are what
        calls returned, not what they asked for. Page faults of mappings are counted and have no
        bytes.
        """
        return self.table("task_io")

    @property
    def task_totals(self) -> Table:
        """The sums of ``task_io`` over files, for each task attempt, job, pod, container or
        reason. Lost records have rows here too (``unassigned`` is ``lost``): the bytes of all
        rows are all bytes that the kernel side counted.
        """
        return self.table("task_totals")

    @property
    def logical_task_totals(self) -> Table:
        """All instances of a logical task of one run, with their spread. An attempt that ran on
        several hosts is one instance; attempts of which nothing was traced are not counted.
        """
        return self.table("logical_task_totals")

    @property
    def data_flow(self) -> Table:
        """One version of a file, from its writer to one of its readers. A version that was not
        read has a row without a reader. A version from before the trace has a row without a
        writer for each reader. A new version begins with the first write (or truncation) after
        another entity has read the previous one. A task can continue to write a version that it
        reads back itself. A task's phase ends when it reads, after it has written, a version
        that it has not read before. All writes to a version come before the first read by
        another entity. All first reads of a phase come before its writes. So the graph of
        phases and versions has no cycle. Tasks that give data to each other in both directions
        are joined in both directions, by different phases.
        """
        return self.table("data_flow")

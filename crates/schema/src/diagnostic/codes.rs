//! The codes of all diagnostics: what each means, and what to do. `docs/diagnostics.md` is made of
//! them.

use std::fmt::Write;

use super::Severity;

/// What a diagnostic's code means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Code {
    /// The code itself, as in the column `code` of `diagnostics`.
    pub name: &'static str,
    /// How bad it is: one, or both where that depends on the place.
    pub severities: &'static [Severity],
    /// Which commands report it, as Markdown.
    pub reported_by: &'static str,
    /// What was odd, and what flowmine did with it, as Markdown.
    pub means: &'static str,
    /// What to do, as Markdown; empty when nothing needs to be done.
    pub advice: &'static str,
}

macro_rules! codes {
    ($($name:literal [$($severity:ident),+] $reported_by:literal, $means:literal, $advice:literal;)*) => {
        /// All codes, sorted by name.
        pub static CODES: &[Code] = &[
            $(Code { name: $name, severities: &[$(Severity::$severity),+], reported_by: $reported_by, means: $means, advice: $advice }),*
        ];
    };
}

codes! {
    "accounting_failed" [Warning] "`observe --accounting`",
        "sacct could not be run, or its output could not be read; squeue's rows of this poll are kept",
        "Nothing: the next poll asks for the same time again.";
    "action_of_no_run" [Warning] "`import ro-crate`",
        "An action of a tool is no part of the workflow that ran: nothing organises or controls it, and the workflow does not have its tool; it is left out",
        "";
    "action_without_id" [Warning] "`import ro-crate`",
        "An action of the crate has no `@id`, so that nothing can refer to it; it is left out",
        "";
    "array_cut" [Warning] "`import slurm`",
        "squeue shortened the list of an array's waiting tasks, so that not all of them are known; the list is kept as it is",
        "Run squeue with `SLURM_BITSTR_LEN=0` in the environment for whole lists.";
    "attempt_ends_before_begin" [Warning] "`import transform`",
        "A layer of a wrapped task ended before it or its attempt began: the clock was set meanwhile, or the record was changed; the times are kept",
        "Leave the attempt out of results that use times.";
    "attempt_twice" [Warning] "`import nextflow`",
        "A log, trace file or report describes an attempt more than once, with the same hash, native id and times; it is counted once",
        "";
    "attempt_without_end" [Warning] "`import transform`",
        "The record of a wrapped task does not contain the end of its outermost layer: the task still runs, or was ended by a signal that cannot be handled; the contents of the record are kept",
        "Import the record again if the task still runs.";
    "bad_number" [Error] "`import io-csv`",
        "A number in a line of the trace cannot be read or cannot be one of its column; the line is left out",
        "";
    "bad_time" [Error] "`import io-csv`",
        "A time in a line of the trace is no time since 1970; the line is left out",
        "";
    "benchmark_bad" [Error] "`import snakemake`",
        "A benchmark file has no line with numbers in it; nothing of it is used",
        "";
    "benchmark_without_run" [Warning] "`import snakemake`",
        "No log that was given has an attempt that wrote this benchmark file; its numbers are not used",
        "Give the log of its run as well.";
    "bytes_missing" [Error] "`import nextflow`",
        "The log has zeros in place of missing bytes; they are skipped, and the rest of the line is read",
        "";
    "child_ambiguous" [Warning] "`import wfformat`",
        "A task names a child, several tasks have that name, and the file does not specify which one is meant; that child is left out",
        "";
    "child_unknown" [Warning] "`import argo`, `import wfformat`",
        "A task names a child that is not in the file; that child is passed over",
        "";
    "clock_skew" [Warning] "`observe`",
        "The clock of the machine where squeue runs differs by more than two seconds from this machine's; times in the dataset are by the clock there",
        "";
    "clock_went_back" [Warning] "`observe`",
        "The clock of the machine where squeue runs is behind the last poll; the poll is used, and its changes happened after the last poll",
        "";
    "columns_cut" [Warning] "`import slurm`",
        "A column of the table has a fixed width and is filled to it, so that longer values were cut short; they are used as they are",
        "Record with a separator and no widths, as in `squeue -o '%i|%j|%T'`, or with `flowmine observe`.";
    "controller_clock" [Warning] "`observe`, `import slurm`",
        "The clock of the machine where squeue runs differs from slurmctld's by more than two seconds, or was set; rows stay as observed, and the times that are derived from them are corrected (table `controller_clocks`)",
        "";
    "controller_clock_unread" [Warning] "`observe`",
        "`scontrol show config` did not report slurmctld's time; the clock of the machine where squeue runs is compared with it by the times of jobs only",
        "";
    "counts_differ" [Warning] "`import nextflow`",
        "Nextflow's count of tasks with an outcome differs from the number of such tasks in its log; the rows follow the entries of single tasks (if rows are missing, there is also `tasks_missing`)",
        "";
    "cpu_fraction" [Warning] "`import kubernetes`",
        "A fraction of a CPU is requested, which the column `cpus` cannot hold; it is null",
        "";
    "crate_without_run" [Error] "`import ro-crate`",
        "The crate has no `CreateAction`: it describes data or a workflow, and no run of it; nothing of the file is used",
        "Ask the engine or its plugin for a crate of a run, such as with nf-prov or `runcrate`.";
    "database_unreadable" [Error] "`import airflow`",
        "Airflow's SQLite database cannot be read; nothing of it is used",
        "If it was in use when it was copied, copy its files `-wal` and `-shm` with it, or end Airflow first.";
    "dependency_cut" [Warning] "`import slurm`",
        "A dependency was cut short by its column; it is read up to its last whole term",
        "Record with a separator and no widths, as in `squeue -o '%i|%j|%T'`, or with `flowmine observe`.";
    "dependency_not_understood" [Error] "`observe`, `import slurm`",
        "A job's dependency cannot be read as squeue shows it; the job is kept without it",
        "";
    "dependency_of_unknown_job" [Warning] "commands that read a dataset's jobs",
        "The dataset has a dependency of a job and no row of that job with that submit time; the dependency is not used",
        "Import the squeue or sacct output that lists the job into the same dataset.";
    "directory_empty" [Error] "`import slurm`",
        "There is no file in the directory; nothing is imported from it",
        "Give the directory in which the files lie.";
    "directory_without_trace" [Error] "`import io-csv`",
        "There is neither file-bpf.csv nor cgroups.csv in the directory or below it; nothing is imported from it",
        "Give the directory of a node, or one that holds several.";
    "dry_run" [Warning] "`import snakemake`",
        "The log is of a dry run, which runs no job; what it shows is left out",
        "";
    "encoding_not_read" [Error] "`import slurm`",
        "The file is text in UTF-16; nothing of it is used",
        "Convert it first: `iconv -f UTF-16 -t UTF-8`.";
    "ends_before_start" [Warning] "`import io-csv`",
        "An operation ended before it began; its end is null and the rest of the line is used",
        "";
    "file_changed" [Error] "`import slurm`",
        "The file changed while it was imported; nothing of it is used",
        "Import it again.";
    "file_damaged" [Error] "`import io-csv`",
        "The packed file is damaged or ends early; what came before that place is used",
        "";
    "file_empty" [Error] "`import slurm`",
        "The file contains only blanks; it describes no queue, not even an empty one",
        "Record again: also without a job squeue prints its header.";
    "file_missing" [Warning] "`import io-csv`",
        "One of a trace's two files is not in its directory: without file-bpf.csv no operations are known, without cgroups.csv neither parents nor control groups",
        "Copy it into the directory and import again.";
    "file_not_recognised" [Error] "`import slurm`, imports of workflow engines",
        "The file is nothing that this import reads; it is left out",
        "`flowmine import --help` lists what each import reads.";
    "file_packed" [Error] "`import slurm`",
        "The file is packed by a program other than gzip; nothing of it is used",
        "Unpack it first, as in the message.";
    "file_time" [Error] "`import slurm`",
        "The time of the recording is not known, not even from the file's modification time; nothing of the file is used",
        "Give `--observed-at TIME`.";
    "file_too_large" [Error] "`import slurm`, imports of workflow engines",
        "The file, or a line, text or list in it, is larger than what is read of one; nothing of it is used",
        "Split it and import its parts.";
    "file_unreadable" [Error] "`import slurm`, imports of workflow engines",
        "A file or directory cannot be read; nothing of it is used",
        "";
    "folder_not_read" [Warning] "`import io-csv`, `import slurm`",
        "A folder in the directory that was given is not read",
        "Name the folder itself to import what lies there.";
    "graph_contradicts" [Warning] "`import nextflow`",
        "Inputs of tasks lie in the work directories of tasks of a process that is not above theirs in the graph of processes; the work directories are believed",
        "Give the graph that this run drew (`-with-dag`).";
    "graph_line_bad" [Error] "`import nextflow`",
        "A line of the graph of processes cannot be read, or the graph is cut; nothing of it is used, since a way in it could be missing",
        "";
    "graph_of_no_run" [Warning] "`import nextflow`",
        "The graph of processes does not name its run, and either no run that was given fits its processes, or several do; nothing of it is used",
        "Import the graph in one call with its run's log, report or trace file, and no other run.";
    "graph_without_log" [Warning] "`import nextflow`",
        "Parents that follow from the graph of processes are certain only if all tasks of its run are known, and no log describes the run from its beginning (tasks from a `storeDir` appear in logs only); parents can only be inferred from it",
        "Import the run's whole log (`.nextflow.log`) in the same call.";
    "graphs_differ" [Warning] "`import nextflow`",
        "Several graphs have the processes of one run and lead to different parents; nothing of them is used",
        "Give the graph that the run drew (`-with-dag`), and no other.";
    "hash_crowded" [Warning] "`import nextflow`",
        "More than a hundred tasks of a run have the same hash as Nextflow shows it; other lines and sources are matched with the first hundred, so that their entries about the others can become separate rows; the others are counted",
        "";
    "hash_shared" [Warning] "`import nextflow`",
        "Two tasks have the same hash as Nextflow's log shows it; they are kept as two tasks",
        "";
    "header_bad" [Error] "`import slurm`",
        "The header is that of output of squeue, sacct or SLURMminer and lacks what is needed to read the rows below it; nothing of the file is used",
        "The message names the column that is missing or ambiguous.";
    "header_unknown" [Error] "`import io-csv`",
        "The header lacks a column that is needed, has one twice or too many, or its last column is not the path; it is not used, and lines are read by the published tool's columns",
        "";
    "history_line_bad" [Warning] "`import nextflow`",
        "A line of `.nextflow/history` is no launch of a run; it is passed over",
        "";
    "job_ambiguous" [Warning] "`correlate`",
        "Two clusters had a job of this number when the process ran, and the cluster of the process is not known; it has the number, without a job of Slurm",
        "Trace with `--environ SLURM_CLUSTER_NAME`.";
    "job_of_another_cluster" [Warning] "`correlate`",
        "A process names a cluster that had no such job when it ran, as far as was observed, and another cluster had one; the process is given the job that it names",
        "Give `import slurm` and `import sacct` the cluster's own name (`--cluster`), or import the queue of the other cluster too.";
    "job_rejected" [Error] "`import slurm`",
        "A job in the JSON has no id, has no state, or is no object; it is left out",
        "";
    "json_bad" [Error] "`import slurm`, `import argo`, `import kubernetes`, `import transform`, `import wfformat`, `import ro-crate`",
        "The JSON ends early or is damaged here: an object of an engine is left out (in WfFormat the whole file); of a queue the jobs before that place are used",
        "";
    "json_value" [Warning] "`import slurm`",
        "A value of a job in the JSON has the wrong type (not a number, for example); it is treated as unknown",
        "";
    "kind_not_read" [Warning] "`import argo`, `import kubernetes`",
        "The file has an object of another kind than this import reads (workflows, or pods and events); it is passed over",
        "";
    "last_line_cut" [Warning] "`import nextflow`",
        "The file ends within its last message or row: it was cut, or is being written; of a trace file's row the last value is left out, or the row where it has fewer",
        "Import it again when it is whole.";
    "layer_without_attempt" [Error] "`import transform`",
        "A line of a task's record describes a layer that no attempt above it has; it is left out",
        "";
    "line_bad" [Error] "`import airflow`, `import makeflow`, `import taskvine`",
        "A line is not one that such a file has; it is left out",
        "";
    "line_cut" [Error] "`import nextflow`",
        "A line of the log is cut and another begins within it; the second is read, what stood before it is left out",
        "";
    "line_too_long" [Error] "`import io-csv`, imports of workflow engines",
        "A line is longer than is read (of engines 16 MiB); it is left out",
        "";
    "line_without_task" [Error] "`import airflow`",
        "A line of the scheduler's log does not name its task; it is left out",
        "Import the metadata database or the logs of tasks, which contain more.";
    "link_not_followed" [Warning] "`import slurm`, `import io-csv`",
        "A link lies in a directory that was given; it is not followed",
        "Give what it leads to.";
    "links_contradict" [Warning] "`correlate`",
        "Evidence assigns a traced process or container to two different tasks or jobs; the message states whether the first is used or neither",
        "";
    "links_refuted" [Warning] "`correlate`",
        "A process claims to belong to a job or task to which it cannot belong, such as another user's job or one on other nodes; the claim is not used",
        "";
    "mark_unknown" [Warning] "`import makeflow`",
        "A mark (a line that begins with `#`) in the log is not known; it is passed over, as Makeflow does",
        "";
    "metadata_bad" [Error] "`import snakemake`",
        "A record in `.snakemake/metadata` cannot be read or names no rule; it is left out",
        "";
    "month_unknown" [Warning] "`import nextflow`",
        "The date of a line in the log has no month that is known, or a day that the month does not have; the times of such lines are left out",
        "";
    "name_too_long" [Error] "`import argo`",
        "The workflow's name is too long to be repeated in a row for each of its nodes; the workflow is left out",
        "";
    "no_last_newline" [Warning] "`import slurm`",
        "The last line has no newline, so that its last value may be cut short; it is used as it is",
        "";
    "no_submit_lines" [Warning] "`import slurm`",
        "No job has the command of its submission, so that jobs that wait for each other are not joined and scripts are not known",
        "Add SubmitLine to `sacct --format` (`sacct --json` has it in Slurm 23.11 and later), or import squeue's output on the same jobs.";
    "no_times" [Error] "`import snakemake`",
        "The log has jobs without a time; they are left out",
        "Snakemake writes times since version 5; nothing can be ordered without them.";
    "no_year" [Warning] "`import nextflow`",
        "The log does not contain its year, and the file's modification time does not fit; its local times are left out",
        "Give the year of the first line with `--year`.";
    "no_zone" [Warning] "`import slurm`, `import nextflow`, `import snakemake`, `import airflow`, `import wfformat`, `import ro-crate`",
        "Times have no zone; they are interpreted as UTC, and can be wrong by up to 14 hours, all by the same amount",
        "Give the zone with `--zone`, as in `--zone=+01:00`, or give the run's `.nextflow.log` or `.snakemake/metadata` as well.";
    "node_type_unknown" [Warning] "`import argo`",
        "A node of the workflow is of a type that is not known; it has no row",
        "";
    "nodes_bad" [Error] "`import argo`",
        "The workflow's nodes are packed and cannot be unpacked; the workflow is left out",
        "";
    "nodes_elsewhere" [Error] "`import argo`",
        "Argo keeps the nodes of this workflow in its database, and not in the object; the workflow is left out",
        "Ask Argo's server for it: `argo get NAME -o json`.";
    "nodes_unread" [Warning] "`observe --nodes`",
        "sinfo could not be run, or its output did not have the requested form; `node_states` has no rows of this poll",
        "Nothing: the next poll asks again.";
    "nothing_usable" [Error] "`import slurm`, `import io-csv`",
        "Not one line of the file can be used; it does not count as imported",
        "Check that it is the file that Slurm or the published tool wrote.";
    "ocel_host_list" [Warning] "OCEL logs of a dataset's jobs",
        "A list of nodes cannot be taken apart into names; it is one object of type node",
        "";
    "output_not_read" [Error] "`import nextflow`",
        "The file is one that Nextflow writes and that is not read (a timeline, or a graph in another form than `-with-dag` draws of processes); it is left out",
        "Give what the message names in its place.";
    "parent_ambiguous" [Warning] "`import wfformat`",
        "A task names a parent, several tasks have that name, and neither files nor lists of children determine which one is meant; the task's `parents` are null",
        "";
    "parent_is_itself" [Warning] "imports of workflow engines",
        "A task names itself as its parent or child, and no task can wait for its own end; that is left out of its `parents`",
        "";
    "parent_unknown" [Warning] "`import wfformat`",
        "A task names a parent that is not in the file; it stays in `parents` as declared",
        "";
    "parents_and_children_differ" [Warning] "`import wfformat`",
        "Only the child or only the parent declares that one waits for the other; the dependency still counts",
        "";
    "parents_too_many" [Warning] "`import argo`, `import nextflow`",
        "A task waits for too many tasks to keep all pairs; its `parents` are null",
        "";
    "path_cut" [Warning] "`import io-csv`",
        "A path was cut where its column ends; it is null and the rest of the line is used",
        "";
    "path_doubtful" [Warning] "`import io-csv`",
        "Paths are as long as the published tool keeps them, so that more may have been there; they are used as they are, and counted",
        "";
    "pod_without_uid" [Error] "`import kubernetes`",
        "A pod has no `metadata.uid`; it is left out",
        "";
    "queue_duplicate" [Warning] "`observe`, `import slurm`",
        "A job is listed twice in one poll; the first is used",
        "";
    "queue_not_whole" [Warning] "`import slurm`",
        "Rows of this queue were rejected, so the jobs that left it are unknown; none is recorded as left",
        "";
    "queue_too_old" [Error] "`import slurm`",
        "The queue is not younger than the last one in the dataset, so that what changed between cannot be known any more; nothing of it is used",
        "Import files in the order of their times, or into a dataset of their own.";
    "record_bad" [Error] "`import transform`",
        "A line of a task's record lacks what begins an attempt; it is left out",
        "";
    "report_task_bad" [Error] "`import nextflow`",
        "A task of the report is no object; it is left out",
        "";
    "report_without_tasks" [Warning] "`import nextflow`",
        "The report has no table of tasks, which Nextflow omits when there are too many; nothing of it is used",
        "Import the run's trace file or log.";
    "row_ambiguous" [Error] "`import slurm`",
        "A row fits its header in several ways, because values hold blanks; it is left out",
        "Record with a separator and no widths, as in `squeue -o '%i|%j|%T'`, or with `flowmine observe`.";
    "row_bad" [Error] "`import airflow`",
        "A row of Airflow's database lacks what is needed to use it, or is not what Airflow writes; it is left out",
        "";
    "row_rejected" [Error] "`import slurm`",
        "A row does not fit its header, or has a value that its column cannot have; it is left out",
        "A name that contains the separator or a newline causes this; `--json` of squeue and sacct, or `flowmine observe`, avoids it.";
    "run_incomplete" [Warning] "`import makeflow`",
        "The log contains COMPLETED although rules failed, were aborted or never ran; the message counts them",
        "";
    "run_twice" [Warning] "`import snakemake`",
        "The file is the output of a run, and the log of that run was given as well; the log is read, and this file left out",
        "";
    "run_without_end" [Warning] "`import nextflow`, `import snakemake`",
        "The log does not contain the end of the run: it continues, was killed, or the file was cut; the message has the number of tasks without an end",
        "Import the log again when it has grown: its tasks are then replaced.";
    "run_without_events" [Warning] "`import makeflow`",
        "The log has no event of a rule: it was cut before the first one, or its run never began; it gives no rows",
        "Import the whole log, or the log again when the run has begun.";
    "sacct_job_id" [Error] "`observe --accounting`, `import slurm`",
        "A row of sacct has no job id that can be read; it is left out",
        "";
    "sacct_state" [Error] "`observe --accounting`, `import slurm`",
        "A row of sacct has no state; it is left out",
        "";
    "sacct_step" [Warning] "`observe --accounting`, `import slurm`",
        "A step has no row of its job before it; the step's I/O and memory are not counted",
        "";
    "sacct_too_old" [Warning] "`observe --accounting`",
        "This sacct does not know the submit line, which came with Slurm 21.08; it is asked again without it",
        "Nothing: dependencies are known from squeue only.";
    "sacct_value" [Warning] "`observe --accounting`, `import slurm`",
        "A value of sacct has the wrong type for its column (a number, a time, a size); it is treated as unknown, or not counted",
        "";
    "series_without_run" [Warning] "`import makeflow`",
        "Not exactly one run of the logs that were given has a rule with the number of this time series; the series is not used",
        "Give the log of its run alone with it.";
    "several_clusters" [Error] "`import slurm`",
        "The jobs are of several clusters, and their ids may be the same; nothing of the file is used",
        "Import one file a cluster (`squeue -M NAME --json`).";
    "several_polls" [Error] "`import slurm`",
        "The file holds several polls one after the other, and a job is in each of them; nothing of it is used",
        "Split it at the line in the message, and import the parts, each with its time.";
    "sinfo_value" [Warning] "`observe --nodes`",
        "A field of sinfo's answer is not understood; the value is treated as unknown",
        "";
    "singleton_without_name" [Warning] "commands that read a dataset's jobs",
        "Singleton jobs have no known user or name, so that what they wait for is not known; they are counted",
        "";
    "slurm_said" [Warning] "`import slurm`",
        "Slurm put an error or a warning of its own into its JSON; the message repeats it",
        "";
    "slurmminer_array" [Warning] "`import slurm`",
        "SLURMminer's log does not contain the indices of array tasks; tasks are jobs of their own",
        "";
    "source_missing" [Error] "imports of workflow engines",
        "A file has grown since it was imported together with another file about the same tasks, which is not given now; it is not imported",
        "Import both again, or into another dataset.";
    "sources_contradict" [Warning] "`import nextflow`, `import makeflow`, `import airflow`",
        "Two files contradict each other about one task; the value that was read first is kept",
        "";
    "squeue_job_id" [Error] "`observe`, `import slurm`",
        "A row of squeue has no job id that can be read; it is left out",
        "";
    "squeue_state" [Error] "`observe`, `import slurm`",
        "A row of squeue has no state; it is left out",
        "";
    "squeue_value" [Warning] "`observe`, `import slurm`",
        "A value of squeue has the wrong type for its column (a number, a time); it is treated as unknown",
        "";
    "state_without_time" [Error] "`import slurm`",
        "Accounting has no time for the state of some jobs: no end of one that has ended, no start of a running one; the time of the file is used instead",
        "Add Submit, Start and End to `sacct --format`.";
    "submit_line_doubtful" [Warning] "`observe --accounting`, `import slurm`",
        "The quotes of a submit line are lost, so that the dependency in it may be part of another option's value; it is used",
        "";
    "submit_line_not_understood" [Warning] "`observe --accounting`, `import slurm`",
        "The dependency in a job's submit line cannot be read; the job is kept without it",
        "Import squeue's output on the job while it waited: it shows dependencies in its own form.";
    "sum_out_of_range" [Warning] "`correlate`, `observe --accounting`, `import slurm`",
        "A sum of bytes, times or calls does not fit into 64 bits; it is kept as 9223372036854775807, which means at least that, and so are sums with it",
        "Look at the numbers that were added up: no real run moves so much.";
    "summary_bad" [Error] "`import makeflow`",
        "The file is no summary of Makeflow's resource monitor; nothing of it is used",
        "";
    "summary_without_run" [Warning] "`import makeflow`",
        "No run of the logs that were given has the rule of this summary of the resource monitor; it is a row of its own",
        "Give the log of its run as well.";
    "swf_no_start_time" [Warning] "`import slurm`",
        "A log in the Standard Workload Format has no UnixStartTime; its times are counted from 1970",
        "Write `; UnixStartTime: SECONDS` into the first lines of the file.";
    "swf_no_status" [Warning] "`import slurm`",
        "Jobs of a log in the Standard Workload Format have no status; their state is UNKNOWN",
        "";
    "task_did_not_run" [Warning] "`import argo`, `import wfformat`",
        "A task was skipped, or is specified and did not run; it has no row",
        "";
    "task_id_twice" [Warning] "`import wfformat`",
        "Several tasks have one id; each that ran has a row, and if several specified tasks have it, the one that ran is not known, so that files and parents are null",
        "";
    "task_line_bad" [Error] "`import nextflow`",
        "A line of the log about a task cannot be read; its contents are missing",
        "";
    "task_not_specified" [Warning] "`import wfformat`",
        "A task ran and is not specified; its files and parents are null",
        "";
    "task_unknown" [Error] "`import airflow`",
        "Neither the path nor the lines of a task's log name its attempt; nothing of it is used",
        "Give it in its folders: `dag_id=…/run_id=…/task_id=…/attempt=1.log`.";
    "task_without_id" [Warning] "`import wfformat`",
        "Tasks without an id share a name; each is called NAME_N, N from 0, as WfCommons' own migration calls it",
        "";
    "task_without_name" [Error] "`import nextflow`, `import wfformat`",
        "A task has no name (in WfFormat neither id nor name), and no other file that was given contains one; it is left out",
        "For Nextflow, give the run's `.nextflow.log` as well.";
    "tasks_missing" [Error] "`import nextflow`",
        "Nextflow counted more tasks at the end of a run than all sources together have; the missing ones are counted",
        "Import the run's trace file or report in the same call: they contain each task.";
    "tasks_never_ran" [Warning] "`import airflow`",
        "Task instances never ran (skipped, upstream_failed, scheduled, …); they have no rows, and are counted",
        "";
    "tasks_not_described" [Warning] "`import ro-crate`",
        "The crate has an action of the workflow and none of its tools; the run is its only task",
        "Crates by the Provenance Run Crate profile have an action for each tool.";
    "tasks_not_submitted" [Warning] "`import nextflow`",
        "Tasks waited and were not submitted before the log ended; they have no rows, and are counted",
        "";
    "texts_left_out" [Warning] "`import argo`, `import makeflow`",
        "The texts of templates or rules, such as commands, are repeated so often that they would fill the memory; those beyond the limit are null",
        "";
    "time_goes_back" [Warning] "`import io-csv`",
        "A line ended long before an earlier one, as where traces were merged into one file; it is used",
        "Split the file into its traces, because handles are numbered anew in each.";
    "time_of_file" [Warning] "`import slurm`",
        "The file does not contain the time of its recording; its modification time is used",
        "Give `--observed-at TIME` when that is wrong.";
    "times_from_elapsed" [Warning] "`import slurm`",
        "sacct's output has no column Start, or none End; it is inferred from the other one and Elapsed, without suspended time",
        "Add Start and End to `sacct --format`.";
    "times_out_of_order" [Warning] "`observe --accounting`, `import slurm`",
        "Accounting has a start before the submission, or an end before the start: the clock was set, or the record was changed; the times are kept",
        "";
    "too_few_columns" [Error] "`import io-csv`",
        "A line of the trace has too few columns; it is left out",
        "";
    "too_many_columns" [Error] "`import io-csv`",
        "A line of cgroups.csv has more than four columns; it is left out",
        "";
    "too_many_tasks" [Error] "`import argo`, `import transform`",
        "The files have more tasks than can be read at once; the workflow that exceeds the limit is left out; of the records of wrapped tasks, all that follow",
        "Import them in parts.";
    "too_much_repeated" [Error] "`import wfformat`, `import ro-crate`",
        "The texts of the run and of its machines are too long to be repeated in the row of each task; nothing of the file is used",
        "";
    "trace_row_again" [Warning] "`import nextflow`",
        "The trace file has the line of a cached task more than once; it is one task",
        "";
    "trace_row_bad" [Error] "`import nextflow`",
        "A row of the trace file has another number of fields than there are columns; it is left out",
        "";
    "trace_value_bad" [Warning] "`import nextflow`",
        "A value of the trace file or report is not one of its column; it is left out",
        "";
    "truncated_last_line" [Error] "`import io-csv`",
        "The file ends within its last line; that line is left out",
        "";
    "unknown_type" [Error] "`import io-csv`",
        "The type of an operation is none of O, C, R, W, U and M; the line is left out",
        "";
    "value_bad" [Warning] "`import wfformat`",
        "Values of a property are none: negative, too large, a text, or no date; they are left out",
        "";
    "values_left_out" [Warning] "`import wfformat`",
        "The file has values for which the table has no column, such as energy; they are left out, and counted",
        "";
    "version_unknown" [Error] "`import wfformat`",
        "The file's version is none of 1.4, 1.5 and 1.6; nothing of it is used",
        "WfCommons has a tool that migrates older ones.";
    "watch_ended" [Warning] "`import kubernetes`",
        "The watch ended with an error, so that changes may be missing; what came before is used",
        "";
    "work_dir_exit_bad" [Warning] "`import nextflow`",
        "The file `.exitcode` of a work directory contains no number; the exit code is unknown",
        "";
    "work_dir_odd" [Warning] "`import nextflow`",
        "The work directory in a line of the log does not end in a hash; the line is passed over",
        "";
    "work_dir_trace_bad" [Warning] "`import nextflow`",
        "The file `.command.trace` of a work directory has neither of the two known forms; it is left out",
        "";
    "work_dir_twice" [Warning] "`import nextflow`",
        "Several attempts have the hash of this work directory; its contents are added to the first, and to cached tasks",
        "";
    "workflow_bad" [Error] "`import makeflow`",
        "The workflow cannot be read as Makeflow's JSON; nothing of it is used",
        "JX becomes JSON with `jx2json FILE > FILE.json`.";
    "workflow_of_other_run" [Warning] "`import makeflow`",
        "A workflow file has a different number of rules than the run next to it, so it is not of this run; the run is kept without it",
        "Give the workflow as it was when the run was made.";
    "workflow_without_run" [Warning] "`import argo`, `import makeflow`, `import wfformat`",
        "The file describes a workflow and no run of it was given; it makes no rows",
        "For Makeflow, give `WORKFLOW.makeflowlog` as well.";
    "yaml_not_read" [Error] "`import argo`",
        "This is an Argo workflow in YAML, of which only JSON is read; nothing of it is used",
        "Print it with `-o json` in the place of `-o yaml`.";
    "year_of_file" [Warning] "`import nextflow`",
        "The log does not contain its year; that of the file's modification time is used",
        "Give the year of the first line with `--year` when that is wrong.";
    "zone_contradicted" [Warning] "`import nextflow`, `import snakemake`",
        "The log's own times, or the metadata of its run, have a zone that differs from `--zone`; flowmine uses theirs",
        "";
    "zone_of_build" [Warning] "`import nextflow`",
        "The log does not contain its zone; that of the day on which Nextflow was built is used, which daylight saving time can make wrong by an hour",
        "Give the zone with `--zone`, as in `--zone=+01:00`.";
}

/// The page about them as Markdown.
pub fn markdown() -> String {
    let mut out = String::from(
        "# Diagnostics\n\n\
         This page is generated from `crates/schema/src/diagnostic/codes.rs`.\n\n\
         flowmine prints what is wrong with an input as a sentence, with its place and a code in brackets.\n\
         The table [`diagnostics`](tables.md#diagnostics) keeps both.\n\n\
         - A warning concerns input that was read, although something about it is odd or not known.\n\
         - An error concerns input that was rejected, so rows are missing.\n\n\
         Messages of commands that read the jobs of a dataset are printed each time and not kept.\n\n\
         | code | severity | reported by | means | what to do |\n|---|---|---|---|---|\n",
    );
    for code in CODES {
        let severities: Vec<&str> = code.severities.iter().map(|severity| severity.name()).collect();
        let cells = [code.reported_by, code.means, code.advice].map(|cell| cell.replace('|', "\\|"));
        let _ = writeln!(out, "| `{}` | {} | {} | {} | {} |", code.name, severities.join(" or "), cells[0], cells[1], cells[2]);
    }
    out
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    /// The sources of all crates but this file.
    fn sources() -> String {
        let mut text = String::new();
        for folder in fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).unwrap() {
            add(&folder.unwrap().path().join("src"), &mut text);
        }
        text
    }

    fn add(folder: &Path, text: &mut String) {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                add(&path, text);
            } else if path.extension().is_some_and(|extension| extension == "rs") && !path.ends_with("diagnostic/codes.rs") {
                text.push_str(&fs::read_to_string(&path).unwrap());
            }
        }
    }

    /// The literals that stand behind a beginning.
    fn behind<'t>(text: &'t str, beginning: &str) -> Vec<&'t str> {
        let rests = text.split(beginning).skip(1).filter_map(|rest| rest.trim_start().strip_prefix('"'));
        rests.filter_map(|rest| rest.split('"').next()).collect()
    }

    #[test]
    fn every_code_that_is_used_is_listed() {
        let text = sources();
        for (beginning, severity, at_least) in [
            ("Diagnostic::warning(", Severity::Warning, 70),
            ("Diagnostic::error(", Severity::Error, 40),
            // Helpers that take the code.
            (".warn(", Severity::Warning, 1),
            ("Problem { code:", Severity::Error, 1),
        ] {
            let used = behind(&text, beginning);
            assert!(used.len() >= at_least, "{beginning} {}", used.len());
            for name in used {
                let listed = CODES.iter().find(|code| code.name == name).map(|code| code.severities.contains(&severity));
                assert_eq!(listed, Some(true), "{name}, {}: add it to codes.rs", severity.name());
            }
        }
    }

    #[test]
    fn every_code_that_is_listed_is_used() {
        let text = sources();
        let unused: Vec<&str> = CODES.iter().map(|code| code.name).filter(|name| !text.contains(&format!("\"{name}\""))).collect();
        assert!(unused.is_empty(), "{unused:?}");
    }

    #[test]
    fn codes_are_sorted_and_unique() {
        assert!(CODES.windows(2).all(|two| two[0].name < two[1].name));
        assert!(CODES.iter().all(|code| code.name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')));
    }

    #[test]
    fn docs_diagnostics_md_is_up_to_date() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/diagnostics.md");
        let now = markdown();
        if std::env::var_os("FLOWMINE_UPDATE").is_some() {
            fs::write(path, &now).unwrap();
        }
        let then = fs::read_to_string(path).unwrap_or_default();
        assert!(then == now, "docs/diagnostics.md is stale: run FLOWMINE_UPDATE=1 cargo test --release -p flowmine-schema");
    }
}

//! `task_runs`: what workflow engines record of their tasks.

crate::table! {
    /// One attempt at one task of a workflow run, as its engine records it.
    ///
    /// A run is an (`engine`, `run_id`, `run_name`): Nextflow keeps the id when a run is resumed
    /// and gives it another name.
    ///
    /// Each time has a precision: the largest distance of the true moment from it. Null means that
    /// the bound is not known. What an engine noticed by polling has the interval between two
    /// polls, and a time in whole seconds has one second. A local time without a known zone has the
    /// largest difference between zones; then all times of a run are shifted by the same amount.
    ///
    /// What the columns mean for each engine, and where they come from, is in `docs/engines.md`.
    pub struct TaskRun in "task_runs" {
        /// `nextflow`, `makeflow`, `airflow`, `wfformat`, `transform`, …
        engine: text(Word(OfTasks)),
        /// The run, as the engine identifies it: Nextflow's session UUID, Airflow's DAG run. Null
        /// if the source does not name its run.
        run_id: opt_text(Path),
        /// The run's name for people: Nextflow's `goofy_yalow`, Airflow's DAG.
        run_name: opt_text(Path),
        /// The task within the run, as the engine numbers or names it.
        task_id: opt_text(Path),
        /// Which attempt, from 1.
        attempt: opt_i64,
        /// This instance, as the engine shows it: `ALIGN:BWA (sample 1)`.
        name: text(Line),
        /// What it is an instance of, with the sub-workflow path: process, rule, operator. What is
        /// mined as activity.
        logical_task: text(Path),
        /// What distinguishes the instances of a logical task for people: the text in Nextflow's
        /// parentheses.
        tag: opt_text(Line) droppable,
        /// Key by which the engine finds the result again: Nextflow's hash, as it is shown
        /// (`ab/123456`).
        cache_key: opt_text(Path) droppable,
        /// The directory in which the task ran, as the engine writes it; may be an URL.
        work_dir: opt_text(Path),
        /// What ran it: `local`, `slurm`, `awsbatch`, …
        executor: opt_text(Word(OfTasks)) droppable,
        /// Queue or partition that was asked for.
        queue: opt_text(Partitions) droppable,
        /// What the executor calls it: a job id, a process id, a pod.
        native_id: opt_text(Number) droppable,
        /// What `native_id` is: `slurm_job`, `pid`, `pod`, `aws_job`, `executor_id`, …
        native_kind: opt_text(Word(OfTasks)),
        /// The machine on which it ran.
        host: opt_text(Host),
        /// The machines on which it ran, where the source describes them: JSON array of objects
        /// with `name` and, where known, `cpus`, `cpu_mhz`, `cpu_vendor`, `memory_bytes`, `system`,
        /// `architecture`, `release`.
        machines: opt_text(Withheld),
        /// The name of the user as whom the engine ran.
        user: opt_text(User),
        /// The image of its container.
        container_image: opt_text(Path) droppable,
        /// The container's id or, where only that is known, its name.
        container_id: opt_text(Container) droppable,
        /// When the engine had it ready to be submitted.
        queued_ns: opt_i64,
        /// Precision of `queued_ns`.
        queued_precision_ns: opt_i64,
        /// When it was handed to the executor.
        submitted_ns: opt_i64,
        /// Precision of `submitted_ns`.
        submitted_precision_ns: opt_i64,
        /// When it began to run.
        started_ns: opt_i64,
        /// Precision of `started_ns`.
        started_precision_ns: opt_i64,
        /// When it had ended.
        finished_ns: opt_i64,
        /// Precision of `finished_ns`.
        finished_precision_ns: opt_i64,
        /// Of a cached task: when the engine took the earlier result.
        cached_ns: opt_i64,
        /// Precision of `cached_ns`.
        cached_precision_ns: opt_i64,
        /// `completed`, `failed`, `aborted` (ended by the engine or the user), `cached` (not run:
        /// an earlier result was taken), `running` (when the source ended), `submitted` (the same),
        /// or `unknown`. It follows from exit code and error messages, not from the engine's own
        /// word for the outcome.
        status: text(Word(OfTasks)),
        /// Exit code; null when none was reported. Of a cached task that of the earlier run, where
        /// known.
        exit_code: opt_i64,
        /// Whether an earlier result was taken.
        cached: bool,
        /// The task's script or command line.
        command: opt_text(Line),
        /// Why it failed, as the engine says.
        error: opt_text(Message) droppable,
        /// The layers that `flowmine transform` put around the task, the plain task first: JSON
        /// array of objects with `name`, `id`, `runs` (how often it ended) and, where it ended, of
        /// its last run `failed_in`, `command_status`, `status`, `signal`, `started_ns`,
        /// `finished_ns`.
        layers: opt_text(Withheld),
        /// The layer that failed by itself, `task` for the task.
        failed_layer: opt_text(Word(OfTasks)),
        /// In what of it: `sandbox`, `pre`, `cmd`, `post`.
        failed_in: opt_text(Word(OfTasks)),
        /// CPUs asked for.
        cpus: opt_i64,
        /// Memory asked for, in bytes.
        memory_bytes: opt_i64,
        /// Disk asked for, in bytes.
        disk_bytes: opt_i64,
        /// Time limit asked for, in seconds.
        time_s: opt_f64,
        /// From submission to end, in seconds, as the engine says.
        duration_s: opt_f64,
        /// From start to end, in seconds, as the engine says.
        realtime_s: opt_f64,
        /// From start to end of the whole run, in seconds, where the source says it of the run; the
        /// same in all its rows.
        run_makespan_s: opt_f64,
        /// CPU time per real time in percent of one CPU.
        cpu_percent: opt_f64,
        /// Largest resident memory, in bytes.
        peak_rss_bytes: opt_i64,
        /// Largest virtual memory, in bytes.
        peak_vmem_bytes: opt_i64,
        /// Bytes that read calls returned (`rchar` of proc(5), `/proc/PID/io`).
        rchar_bytes: opt_i64,
        /// Bytes that write calls took (`wchar`).
        wchar_bytes: opt_i64,
        /// Bytes fetched from storage (`read_bytes` of `/proc/PID/io`) or, for engines that count
        /// otherwise, read.
        read_bytes: opt_i64,
        /// Bytes sent to storage (`write_bytes`) or, for engines that count otherwise, written.
        write_bytes: opt_i64,
        /// The tasks that must end before this one: JSON array of `task_id`s. Null if the engine
        /// does not record them.
        parents: opt_text(Withheld),
        /// The logical tasks of which it uses results, by the engine's graph of processes: JSON array
        /// of objects with `logical_task` and `each` (whether each task of its own logical task uses
        /// them; otherwise it may use those of another). Null when no graph shows it.
        logical_parents: opt_text(Withheld),
        /// Declared inputs: JSON array of objects with `path` and, where known, `bytes`.
        inputs: opt_text(Withheld),
        /// Declared outputs, in the same form; Nextflow's may be patterns.
        outputs: opt_text(Withheld),
        /// What the engine itself does around the command, where it reports that: a JSON object with
        /// `shell` (the program that is given the command), `logs` (paths of the task's log and
        /// benchmark files, of which the engine makes the directories), `touched` (outputs that the
        /// engine touches after the command) and `special` (outputs that are no plain files: objects
        /// with `path` and `kind`, such as `pipe`). Only Snakemake's.
        engine_steps: opt_text(Withheld),
        /// The file that described the attempt first, without folders.
        source: text(Path),
        /// The line in it, from 1.
        line: opt_i64,
        /// SHA-256 of that source as `flowmine.json` lists it among the imports, in hexadecimal.
        /// Null in rows that an earlier flowmine wrote.
        source_sha256: opt_text(Withheld),
    }
}

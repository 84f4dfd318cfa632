//! `job_dependencies`: what jobs said they wait for.

crate::table! {
    /// One declared dependency of one job attempt, whenever it was first seen or its state changed.
    ///
    /// Slurm's dependency column shrinks while a job waits; rows are never taken back, so that
    /// their union over time is what was declared. What was declared and is no longer while it
    /// could not yet have been met has a row `withdrawn`. The terms of one expression are numbered
    /// by `position` when it was first seen.
    pub struct JobDependency in "job_dependencies" {
        /// Cluster name.
        cluster: text(Cluster),
        /// The waiting job, as in `job_states`.
        job: text(Number),
        /// Its raw id.
        job_id: i64,
        /// When the attempt was submitted.
        submit_ns: opt_i64,
        /// Place of the term in the expression, from 0.
        position: i32,
        /// `and`: all terms must hold (`,`). `or`: one suffices (`?`). Null for a single term.
        operator: opt_text(Word(Dependencies)),
        /// `after`, `afterany`, `afterok`, `afternotok`, `aftercorr`, `afterburstbuffer`, `expand`,
        /// `singleton`, as in sbatch(1); another word is kept as it is.
        kind: text(Word(Dependencies)),
        /// `job`, `array_task`, `array` (written `8_*`), or `user_and_name` for a singleton, which
        /// waits for every earlier job of that user with that name.
        target_kind: text(Word(Dependencies)),
        /// The job id waited for; of an array its id. Null for a singleton.
        target_job_id: opt_i64,
        /// The array index waited for.
        target_task_id: opt_i64,
        /// Delay after the target's start or end in seconds (`after:1+1` is one minute).
        delay_s: opt_i64,
        /// What Slurm last said of the term: `unfulfilled`, `fulfilled`, `failed`. `withdrawn`:
        /// Slurm no longer shows it, although what it waits for was still to come: it was
        /// withdrawn (`scontrol update`). Null if the source does not have it.
        state: opt_text(Word(Dependencies)),
        /// When it was seen so.
        observed_at_ns: i64,
        /// The source, as in `job_states`.
        source: text(Word(Ours)),
    }
}

/// The value of `job_dependencies.state` for what was taken back.
pub const WITHDRAWN: &str = "withdrawn";

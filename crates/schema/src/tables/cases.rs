//! `cases`: which attempt belongs to which case.

crate::table! {
    /// One attempt at a job, or at a task of a workflow engine, in one case of one case notion.
    ///
    /// A row has a job (`cluster`, `job`, `job_id`) or a task (`task`). A task that ran as a job is in
    /// the cases of that job. That job is in the cases of the task.
    pub struct Case in "cases" {
        /// The case notion: `auto`, `dependency`, `account-group`, `data-flow`, `task-run`, `task-tag`,
        /// or another one that was asked for. `data-flow` only where a job is known to have read what
        /// another wrote, or when it was asked for.
        notion: text(Harmless),
        /// The case. Begins with the notion's name, so that it is never a job id.
        case_id: text(Withheld),
        /// Cluster name; null for a task.
        cluster: opt_text(Cluster),
        /// The job, as in `job_states`; null for a task.
        job: opt_text(Number),
        /// Its raw id.
        job_id: opt_i64,
        /// When the attempt was submitted.
        submit_ns: opt_i64,
        /// The attempt's number, from 1; null where the engine of a task does not number attempts.
        attempt: opt_i64,
        /// Why it is in the case: the notion, or the kind of evidence that speaks most for it, such
        /// as `time`, `work-directory`, `words`; `first` and `alone` for a job that follows no other;
        /// `ran-as` for a task in the case of the job that it ran as, and for that job in the case of
        /// the task.
        reason: text(Harmless),
        /// How far that can be trusted: `declared` by a user, engine or scheduler; `derived` from
        /// what was observed; `inferred`, which can be wrong.
        strength: text(Harmless),
        /// The job that it follows in the case, with its cluster; of `ran-as` the job or task.
        evidence: opt_text(Withheld),
        /// Probability that it is in one case with the job that it follows, or follows none, from 0
        /// to 1. Null where the notion does not estimate it.
        confidence: opt_f64,
        /// The task, by its attempt as in `task_io.task`; null for a job.
        task: opt_text(Task),
    }
}

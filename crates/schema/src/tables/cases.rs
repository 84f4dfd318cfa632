//! `cases`: which attempt belongs to which case.

crate::table! {
    /// One job attempt in one case of one case notion.
    pub struct Case in "cases" {
        /// The case notion: `dependency`, `account-group`, `data-flow`, or another one that was asked
        /// for. `data-flow` only where a job is known to have read what another wrote, or when it was
        /// asked for.
        notion: text(Harmless),
        /// The case. Begins with the notion's name, so that it is never a job id.
        case_id: text(Withheld),
        /// Cluster name.
        cluster: text(Cluster),
        /// The job, as in `job_states`.
        job: text(Number),
        /// Its raw id.
        job_id: i64,
        /// When the attempt was submitted.
        submit_ns: opt_i64,
        /// The attempt's number, from 1.
        attempt: i64,
        /// Why it is in the case: the notion, or the kind of evidence that speaks most for it, such
        /// as `time`, `work-directory`, `words`; `first` and `alone` for a job that follows no other.
        reason: text(Harmless),
        /// How far that can be trusted: `declared` by a user, engine or scheduler; `derived` from
        /// what was observed; `inferred`, which can be wrong.
        strength: text(Harmless),
        /// The job that it follows in the case, with its cluster.
        evidence: opt_text(Withheld),
        /// Probability that it is in one case with the job that it follows, or follows none, from 0
        /// to 1. Null where the notion does not estimate it.
        confidence: opt_f64,
    }
}

//! `cases`: which attempt belongs to which case.

crate::table! {
    /// One job attempt in one case of one case notion.
    pub struct Case in "cases" {
        /// The case notion: `dependency`, `account-group` or `data-flow`; the last only where a job
        /// is known to have read what another wrote, or when it was asked for.
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
    }
}

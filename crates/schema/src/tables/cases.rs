//! `cases`: which attempt belongs to which case.

crate::table! {
    /// One job attempt in one case of one case notion.
    pub struct Case in "cases" {
        /// The case notion: `dependency` or `account-group`.
        notion: text,
        /// The case. Begins with the notion's name, so that it is never a job id.
        case_id: text,
        /// Cluster name.
        cluster: text,
        /// The job, as in `job_states`.
        job: text,
        /// Its raw id.
        job_id: i64,
        /// When the attempt was submitted.
        submit_ns: opt_i64,
        /// The attempt's number, from 1.
        attempt: i64,
    }
}

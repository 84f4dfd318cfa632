//! `links`: who belongs to whom.

crate::table! {
    /// Two entities, the rule that joined them, and the evidence.
    pub struct Link in "links" {
        /// Cluster of the source entity.
        cluster: text,
        /// The entity that depends or belongs, as `job_states.job` names it.
        source: text,
        /// Its attempt.
        source_submit_ns: opt_i64,
        /// The entity that it depends on or belongs to.
        target: text,
        /// Its attempt; null when it was never seen or all attempts are meant.
        target_submit_ns: opt_i64,
        /// What the link means: `afterok`, … as declared; `singleton`.
        relation: text,
        /// The rule that made the link: `declared-dependency`, `singleton`.
        rule: text,
        /// On what evidence: the source that told (`squeue`, `sacct`) and the term.
        evidence: text,
        /// Whether the target was itself observed.
        target_seen: bool,
    }
}

//! `links`: who belongs to whom.

crate::table! {
    /// Two entities, the rule that joined them, and the evidence.
    ///
    /// An entity is a type, a scope in which its id holds, the id, and where ids are used again a
    /// moment:
    ///
    /// | type | scope | id | moment |
    /// |---|---|---|---|
    /// | `job` | cluster | as `job_states.job` names it | its submission |
    /// | `step` | cluster | job, a dot, the step as Slurm names it: `7.0`, `7.batch` | the submission of its job |
    /// | `task` | engine | as `task_io.task` names it | |
    /// | `process` | host | process id | when it started (`processes.started_ns`) |
    /// | `container` | host | container id | |
    /// | `pod` | | pod uid | |
    /// | `unit` | host | name of a systemd scope or service | |
    pub struct Link in "links" {
        /// What depends or belongs.
        source_type: text(Word(OfTasks)),
        /// Where its id holds.
        source_scope: text(ScopeOf("source_type")),
        /// Its id.
        source: text(IdOf("source_type")),
        /// Its moment; null when it is not known or all are meant.
        source_ns: opt_i64,
        /// What it depends on or belongs to.
        target_type: text(Word(OfTasks)),
        /// Where that id holds.
        target_scope: text(ScopeOf("target_type")),
        /// That id.
        target: text(IdOf("target_type")),
        /// Its moment.
        target_ns: opt_i64,
        /// What the link means: `afterok`, … and `singleton` between jobs, as declared;
        /// `belongs-to`; `ran-as` of a task and the job, pod or container that it was.
        relation: text(Word(OfTasks)),
        /// The rule that made the link; `docs/attribution.md` lists them.
        rule: text(Word(OfTasks)),
        /// How far it can be trusted: `declared` by a scheduler, engine or kernel with an id;
        /// `derived` from what was observed; `inferred`, as a last resort (`guessed` before format version 3).
        strength: text(Word(OfTasks)),
        /// On what evidence: which source, row, path or id.
        evidence: text(Withheld),
        /// Whether the target was itself observed.
        target_seen: bool,
    }
}

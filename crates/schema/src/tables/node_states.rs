//! `node_states`: what was observed of a cluster's nodes.

crate::table! {
    /// One observed change of a node: from then on it is as the row says.
    ///
    /// `flowmine observe --nodes` writes it, from one sinfo(1) a poll. A node of which nothing
    /// changed since the poll before has no row. Times are of the clock of the machine where sinfo
    /// runs; `controller_clocks` says how it relates to slurmctld's.
    pub struct NodeState in "node_states" {
        /// Cluster name.
        cluster: text(Cluster),
        /// Name of the node.
        node: text(Host),
        /// `new`: first seen. `changed`: a column differs from the poll before. `left`: the node is
        /// no longer listed; the other columns are null.
        change: text(Word(Ours)),
        /// It changed after this time: the begin of the poll before. Null when it was never seen
        /// before.
        not_before_ns: opt_i64,
        /// It had changed at this time: the end of the poll.
        observed_at_ns: i64,
        /// Its state in sinfo's words (sinfo(1), NODE STATE CODES), without the flags that sinfo
        /// appends: `allocated`, `mixed`, `idle`, `down`, `drained`, `draining`, `reserved`, …;
        /// `other` for a word that flowmine does not know.
        state: opt_text(Harmless),
        /// Number of its CPUs.
        cpus: opt_i64,
        /// CPUs that jobs have.
        allocated_cpus: opt_i64,
        /// CPUs that are free for jobs.
        idle_cpus: opt_i64,
        /// CPUs that no job can have: the node is down or drained, for example.
        other_cpus: opt_i64,
        /// Its memory, in bytes.
        memory_bytes: opt_i64,
        /// Memory that jobs have, in bytes.
        allocated_memory_bytes: opt_i64,
        /// Why it is down, drained or failing, in the words of an administrator or of Slurm.
        reason: opt_text(Comment),
    }
}

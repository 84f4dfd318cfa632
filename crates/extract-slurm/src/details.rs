//! What of a job can change while its state does not (`scontrol update`, `hold`, `release`, and
//! Slurm's own reason for letting it wait).
//!
//! In go the records of one job, poll after poll; out come the names of the columns that are others
//! than before. A value that a source does not have is no change, so that a file with fewer columns
//! says nothing; only a reason also comes from nothing, for Slurm has none until it first looks at
//! a job. Counts of nodes and CPUs, and reasons, are compared only where Slurm does not change them
//! by itself: they fall while a job ends, and a reason belongs to waiting.

use crate::naming::Naming;
use crate::record::JobRecord;
use crate::remembered::Remembered;
use flowmine_slurm::state::State;

/// A priority alone is worth a row when it is another by this part of the one before: it rises all
/// the time with the age of a job.
const PRIORITY_PART: i64 = 10;

macro_rules! details {
    (texts: $($text:ident),+; numbers: $($number:ident),+) => {
        /// What was last reported of a job.
        #[derive(Debug, Clone, Default, PartialEq, Eq)]
        #[allow(missing_docs, reason = "the fields are the columns of `job_states` of the same name")]
        pub struct Details {
            $(pub $text: Option<Box<str>>,)+
            $(pub $number: Option<i64>,)+
            /// Whether its user or an administrator kept it from starting ([`JobRecord::is_held`]).
            pub held: bool,
        }

        impl Details {
            /// Adds the details of a record to those reported before; texts are stored as `naming`
            /// writes them.
            pub fn take(&mut self, record: &JobRecord<'_>, naming: &Naming) {
                $(if let Some(text) = record.$text.as_deref().map(|text| naming.text(text)).filter(|text| self.$text.as_deref() != Some(text)) {
                    self.$text = Some(text.into());
                })+
                $(self.$number = record.$number.or(self.$number);)+
                self.held = record.is_held();
            }

            fn different(&self, record: &JobRecord<'_>, naming: &Naming) -> Vec<&'static str> {
                let mut names = Vec::new();
                $(if let (Some(now), Some(before)) = (record.$text.as_deref(), self.$text.as_deref())
                    && naming.text(now) != before
                {
                    names.push(stringify!($text));
                })+
                $(if record.$number.is_some() && self.$number.is_some() && record.$number != self.$number {
                    names.push(stringify!($number));
                })+
                names
            }

            /// Puts it into what is remembered on disk.
            pub fn remember<'r>(&'r self, row: &mut Remembered<'r>) {
                $(row.$text = self.$text.as_deref().map(Into::into);)+
                $(row.$number = self.$number;)+
                row.held = Some(i64::from(self.held));
            }

            /// What was remembered; nothing where an older flowmine did not.
            pub fn recall(row: &Remembered<'_>) -> Option<Self> {
                Some(Self {
                    $($text: row.$text.as_deref().map(Into::into),)+
                    $($number: row.$number,)+
                    held: row.held? != 0,
                })
            }
        }
    };
}

details! {
    texts: name, user, account, partition, qos, comment, reason, features, tres_per_node;
    numbers: time_limit_s, priority, nice, nodes, cpus, memory_bytes
}

/// What Slurm changes by itself with a job's state.
const OF_STATE: [&str; 5] = ["reason", "priority", "nodes", "cpus", "memory_bytes"];

impl Details {
    /// The columns in which a record in another state says another thing than was reported before,
    /// but for what comes with a state.
    pub fn changed_with_state(&self, record: &JobRecord<'_>, naming: &Naming) -> Vec<&'static str> {
        let mut names = self.different(record, naming);
        names.retain(|name| !OF_STATE.contains(name));
        names
    }

    /// The columns in which a record in the same state says another thing than was reported before.
    pub fn changed(&self, record: &JobRecord<'_>, naming: &Naming) -> Vec<&'static str> {
        let waits = record.state == State::Pending;
        if !waits && !matches!(record.state, State::Running | State::Suspended) {
            return Vec::new();
        }
        let mut names = self.different(record, naming);
        // From nothing to a reason.
        if record.reason.is_some() && self.reason.is_none() {
            names.push("reason");
        }
        let by_itself = |before: Option<i64>, now: Option<i64>| {
            let (Some(before), Some(now)) = (before, now) else { return true };
            before != 0 && now != 0 && before.abs_diff(now) < before.unsigned_abs().div_ceil(PRIORITY_PART as u64)
        };
        names.retain(|name| match *name {
            "reason" => waits,
            "priority" => waits && !by_itself(self.priority, record.priority),
            _ => true,
        });
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flowmine_slurm::job_ref::JobRef;

    fn job(state: State) -> JobRecord<'static> {
        let mut record = JobRecord::new(7, JobRef::Single, state);
        record.name = Some("align".into());
        record.partition = Some("debug,short".into());
        record.priority = Some(1000);
        record.nodes = Some(2);
        record
    }

    fn after(before: &JobRecord<'_>, now: &JobRecord<'_>) -> String {
        let mut details = Details::default();
        details.take(before, &Naming::default());
        details.changed(now, &Naming::default()).join(",")
    }

    #[test]
    fn what_is_told_to_have_changed() {
        let pending = job(State::Pending);
        assert_eq!(after(&pending, &pending), "");
        assert_eq!(after(&pending, &JobRecord { reason: Some("Priority".into()), ..job(State::Pending) }), "reason");
        assert_eq!(after(&JobRecord { reason: Some("Priority".into()), ..job(State::Pending) }, &pending), "", "no reason is no change");
        assert_eq!(
            after(&pending, &JobRecord { name: Some("sort".into()), partition: Some("short".into()), ..job(State::Pending) }),
            "name,partition"
        );
        assert_eq!(after(&pending, &JobRecord { name: None, partition: None, ..job(State::Pending) }), "", "a file with fewer columns");
        assert_eq!(after(&job(State::Running), &JobRecord { nodes: Some(1), ..job(State::Running) }), "nodes");
        assert_eq!(
            after(&job(State::Completing), &JobRecord { nodes: Some(1), ..job(State::Completing) }),
            "",
            "nodes come free one by one"
        );
    }

    #[test]
    fn a_priority_rises_by_itself() {
        let with = |priority: i64| JobRecord { priority: Some(priority), ..job(State::Pending) };
        assert_eq!(after(&with(1000), &with(1099)), "");
        assert_eq!(after(&with(1000), &with(1100)), "priority");
        assert_eq!(after(&with(1000), &with(900)), "priority");
        assert_eq!(after(&with(1), &with(0)), "priority");
        assert_eq!(after(&with(0), &with(1)), "priority");
        assert_eq!(after(&with(4_294_901_758), &with(4_294_901_700)), "");
    }
}

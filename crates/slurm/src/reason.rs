//! Slurm's reasons for which a job waits, and what each means: squeue(1), JOB REASON CODES, and
//! Slurm's page "Job Reason Codes" (22.05 to 25.05).
//!
//! A reason is a word, a word with details after it (`ReqNodeNotAvail, UnavailableNodes:n1`), or a
//! sentence, in which some tools write underscores for blanks. Reasons of jobs that have ended, and
//! words of later versions, have no [`Blocker`].

/// What keeps a waiting job from starting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Blocker {
    /// A job on which it depends.
    Predecessor,
    /// A dependency that can no longer be met.
    NeverSatisfiable,
    /// Its begin time.
    BeginTime,
    /// A hold; by whom is not known.
    Held,
    /// A hold by its user.
    HeldByUser,
    /// A hold by an administrator, or by Slurm until an administrator releases it.
    HeldByAdmin,
    /// The limit of its own array (`--array=1-9%3`).
    ArrayThrottle,
    /// A limit.
    Limit(LimitOf),
    /// Its partition, which is down or inactive.
    PartitionDown,
    /// Nodes that are down, drained or otherwise not available.
    NodeDown,
    /// The reservation that it asked for, which has not begun.
    Reservation,
    /// A reservation of others, or power that is kept for others.
    ReservationOfOthers,
    /// Jobs of higher priority.
    Priority,
    /// Licences that are not free, of the cluster or of a server.
    Licenses,
    /// Resources that are not free.
    Resources,
}

/// The owner of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LimitOf {
    /// A quality of service (QOS).
    Qos,
    /// One user within a quality of service.
    QosUser,
    /// One account within a quality of service.
    QosAccount,
    /// An account or an association of a user with it.
    Account,
    /// The partition.
    Partition,
}

impl Blocker {
    /// Its name in tables and diagrams.
    pub fn name(self) -> &'static str {
        match self {
            Blocker::Predecessor => "predecessor",
            Blocker::NeverSatisfiable => "never_satisfiable",
            Blocker::BeginTime => "begin_time",
            Blocker::Held => "held",
            Blocker::HeldByUser => "held_by_user",
            Blocker::HeldByAdmin => "held_by_admin",
            Blocker::ArrayThrottle => "array_throttle",
            Blocker::Limit(LimitOf::Qos) => "limit_of_qos",
            Blocker::Limit(LimitOf::QosUser) => "limit_of_user",
            Blocker::Limit(LimitOf::QosAccount | LimitOf::Account) => "limit_of_account",
            Blocker::Limit(LimitOf::Partition) => "limit_of_partition",
            Blocker::PartitionDown => "partition_down",
            Blocker::NodeDown => "node_down",
            Blocker::Reservation => "reservation",
            Blocker::ReservationOfOthers => "reservation_of_others",
            Blocker::Priority => "priority",
            Blocker::Licenses => "licenses",
            Blocker::Resources => "resources",
        }
    }

    /// Whether the job's own wishes keep it from starting: until they are met it is not eligible,
    /// and the cluster does not let it wait.
    ///
    /// slurmctld resets the eligible time also where the limit of the job's own array is reached
    /// (`job_array_start_test`), and sets it only when the job's own reservation has begun
    /// (`job_independent`). sacct's `Reserved` and `Planned` do not contain that time.
    pub fn is_own_wish(self) -> bool {
        match self {
            Blocker::Predecessor | Blocker::NeverSatisfiable | Blocker::BeginTime | Blocker::ArrayThrottle | Blocker::Reservation => true,
            blocker => blocker.is_hold(),
        }
    }

    /// Whether a user or an administrator keeps the job from starting until it is released.
    pub fn is_hold(self) -> bool {
        matches!(self, Blocker::Held | Blocker::HeldByUser | Blocker::HeldByAdmin)
    }

    /// What a reason says; `None` for one that is no reason to wait.
    ///
    /// ```
    /// use flowmine_slurm::reason::{Blocker, LimitOf};
    ///
    /// assert_eq!(Blocker::of_reason("QOSMaxCpuPerUserLimit"), Some(Blocker::Limit(LimitOf::QosUser)));
    /// assert_eq!(Blocker::of_reason("None"), None);
    /// ```
    pub fn of_reason(reason: &str) -> Option<Blocker> {
        let end = reason.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(reason.len());
        let (word, details) = reason.split_at(end);
        let of_word = WORDS.iter().find(|(known, _)| *known == word).map(|(_, blocker)| *blocker);
        match of_word {
            Some(Blocker::NodeDown) if says(details, "reserved") => Some(Blocker::ReservationOfOthers),
            Some(blocker) => Some(blocker),
            None => limit(word).map(Blocker::Limit).or_else(|| sentence(reason)),
        }
    }
}

const WORDS: &[(&str, Blocker)] = &[
    ("Dependency", Blocker::Predecessor),
    ("DependencyNeverSatisfied", Blocker::NeverSatisfiable),
    ("BeginTime", Blocker::BeginTime),
    ("JobHeldUser", Blocker::HeldByUser),
    ("JobHeldAdmin", Blocker::HeldByAdmin),
    ("JobHoldMaxRequeue", Blocker::HeldByAdmin),
    ("ReservationDeleted", Blocker::HeldByAdmin),
    // slurmctld gives such a job the priority 0: it stays until that is changed.
    ("BadConstraints", Blocker::HeldByAdmin),
    ("Constraints", Blocker::HeldByAdmin),
    ("JobArrayTaskLimit", Blocker::ArrayThrottle),
    ("PartitionDown", Blocker::PartitionDown),
    ("PartitionInactive", Blocker::PartitionDown),
    ("NodeDown", Blocker::NodeDown),
    ("FrontEndDown", Blocker::NodeDown),
    ("ReqNodeNotAvail", Blocker::NodeDown),
    ("PowerNotAvail", Blocker::NodeDown),
    ("Reservation", Blocker::Reservation),
    ("ReservationInvalid", Blocker::Reservation),
    ("PowerReserved", Blocker::ReservationOfOthers),
    ("Priority", Blocker::Priority),
    ("SchedDefer", Blocker::Priority),
    ("Resources", Blocker::Resources),
    ("Licenses", Blocker::Licenses),
    ("BurstBufferResources", Blocker::Resources),
    ("BurstBufferStageIn", Blocker::Resources),
    ("BurstBufferOperation", Blocker::Resources),
    ("MpiPortsBusy", Blocker::Resources),
    ("NvidiaImexChannels", Blocker::Resources),
    ("MaxPoweredUpNodes", Blocker::Resources),
    ("AccountingPolicy", Blocker::Limit(LimitOf::Account)),
    ("AccountNotAllowed", Blocker::Limit(LimitOf::Account)),
    ("InvalidAccount", Blocker::Limit(LimitOf::Account)),
    ("InvalidQOS", Blocker::Limit(LimitOf::Qos)),
    ("PartitionConfig", Blocker::Limit(LimitOf::Partition)),
    ("PartitionNodeLimit", Blocker::Limit(LimitOf::Partition)),
    ("PartitionTimeLimit", Blocker::Limit(LimitOf::Partition)),
    ("MaxMemPerLimit", Blocker::Limit(LimitOf::Partition)),
];

/// The limits of which there is one for each resource: `QOSGrpCpuLimit`, `AssocMaxJobsLimit`.
fn limit(word: &str) -> Option<LimitOf> {
    if let Some(rest) = word.strip_prefix("QOS") {
        return Some(if rest.contains("PerUser") { LimitOf::QosUser } else { LimitOf::Qos });
    }
    if word.starts_with("Assoc") {
        return Some(LimitOf::Account);
    }
    let of = word.strip_prefix("Max")?;
    if of.ends_with("PerAccount") {
        return Some(LimitOf::QosAccount);
    }
    of.ends_with("PerUser").then_some(LimitOf::QosUser)
}

/// The sentences that replace a word.
fn sentence(reason: &str) -> Option<Blocker> {
    if says(reason, "nodes required for job are down") {
        Some(Blocker::NodeDown)
    } else if says(reason, "requeued") && says(reason, "held") || says(reason, "special exit state") {
        Some(Blocker::HeldByAdmin)
    } else {
        None
    }
}

/// Whether a text contains lower-case words, whatever its case and with underscores as blanks.
fn says(text: &str, words: &str) -> bool {
    text.to_ascii_lowercase().replace('_', " ").contains(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_by_what_they_mean() {
        let name = |reason: &str| Blocker::of_reason(reason).map_or("", Blocker::name);
        for (reason, meaning) in [
            ("Dependency", "predecessor"),
            ("DependencyNeverSatisfied", "never_satisfiable"),
            ("JobHeldAdmin", "held_by_admin"),
            ("launch failed requeued held", "held_by_admin"),
            ("job_requeued_in_held_state", "held_by_admin"),
            ("QOSGrpCpuLimit", "limit_of_qos"),
            ("QOSMaxJobsPerUserLimit", "limit_of_user"),
            ("AssocGrpCPUMinutesLimit", "limit_of_account"),
            ("MaxCpuPerAccount", "limit_of_account"),
            ("PartitionTimeLimit", "limit_of_partition"),
            ("PartitionDown", "partition_down"),
            ("ReqNodeNotAvail, UnavailableNodes:n[1-2]", "node_down"),
            ("ReqNodeNotAvail,_UnavailableNodes:n1", "node_down"),
            ("ReqNodeNotAvail, Reserved for maintenance", "reservation_of_others"),
            ("ReqNodeNotAvail,_May_be_reserved_for_other_job", "reservation_of_others"),
            ("Reservation", "reservation"),
            ("MaxCpuRunMinsPerUser", "limit_of_user"),
            ("BadConstraints", "held_by_admin"),
            ("InvalidQOS", "limit_of_qos"),
            ("MpiPortsBusy", "resources"),
            ("Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions", "node_down"),
            ("Priority", "priority"),
            ("Resources", "resources"),
            ("Licenses", "licenses"),
            ("None", ""),
            ("NonZeroExitCode", ""),
            ("TimeLimit", ""),
            ("a reason of the future", ""),
            ("", ""),
        ] {
            assert_eq!(name(reason), meaning, "{reason}");
        }
    }

    #[test]
    fn own_wishes_are_what_makes_a_job_ineligible() {
        let own = |reason: &str| Blocker::of_reason(reason).is_some_and(Blocker::is_own_wish);
        let wishes =
            ["Dependency", "DependencyNeverSatisfied", "BeginTime", "JobHeldUser", "JobHeldAdmin", "JobArrayTaskLimit", "Reservation"];
        assert!(wishes.into_iter().all(own));
        assert!(
            !["Priority", "Resources", "Licenses", "QOSGrpCpuLimit", "PartitionDown", "ReqNodeNotAvail, Reserved", "None"]
                .into_iter()
                .any(own)
        );
    }
}

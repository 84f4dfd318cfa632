//! Findings of rules: the owner of a process, the rule, and the confidence.

use super::facts::User;

/// Confidence in a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strength {
    /// A last resort: the observed properties make it likely.
    Inferred,
    /// It follows from the observed properties.
    Derived,
    /// A scheduler, an engine or the kernel declares it, with an id.
    Declared,
}

impl Strength {
    /// The strength's word in the table `links`.
    pub fn name(self) -> &'static str {
        match self {
            Strength::Inferred => "inferred",
            Strength::Derived => "derived",
            Strength::Declared => "declared",
        }
    }
}

/// The owner of a process by a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// A task attempt, by its number in [`crate::entities::Tasks`].
    Task(u32),
    /// A Slurm job, as a process shows it.
    Job(JobClaim),
    /// A pod, by its uid.
    Pod(String),
    /// A container, by its id.
    Container(String),
    /// A systemd scope or service.
    Unit(String),
}

/// A Slurm job as a process shows it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct JobClaim {
    /// Slurm's raw job id.
    pub id: i64,
    /// Name of the Slurm cluster, if that is shown.
    pub cluster: Option<String>,
    /// The step: `0`, `batch`, `extern`, `interactive`.
    pub step: Option<String>,
}

/// A claim with the rule that made it, its evidence and its strength.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The owner of the process.
    pub claim: Claim,
    /// Name of the rule that made the claim.
    pub rule: &'static str,
    /// Confidence in the claim.
    pub strength: Strength,
    /// Evidence of the rule, as text.
    pub evidence: String,
    /// The users who can have made what the rule saw; empty where they are not known.
    pub users: Vec<User>,
    /// Since when, in nanoseconds since 1970; a child that was forked before does not inherit it.
    /// `i64::MIN` when it holds for all of the process.
    pub from_ns: i64,
}

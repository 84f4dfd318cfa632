//! What a case notion is, and what it gives.

use std::fmt;

use flowmine_schema::tables::TaskRun;

use super::entities::Entities;
use super::grouped;
use crate::groups::Grouping;

/// A way to say which attempts belong together.
pub trait CaseNotion: fmt::Debug + Sync {
    /// Its name, as on the command line and at the start of its case ids.
    fn name(&self) -> &'static str;
    /// What a case is, in one line.
    fn description(&self) -> &'static str;
    /// Whether only jobs that declared dependencies join are ever in one case, so that a case lies
    /// within one of [`crate::parts`].
    fn within_parts(&self) -> bool;
    /// Whether it asks which jobs gave data to each other ([`crate::Overview::exchanges`]): without that
    /// its cases would not be what it says.
    fn needs_data_flow(&self) -> bool {
        false
    }
    /// Whether it uses which jobs gave data to each other, where that is known.
    fn uses_data_flow(&self) -> bool {
        self.needs_data_flow()
    }
    /// Whether its cases are those of tasks, so that a job is in that of the task that it was
    /// ([`crate::Overview::tasks`]).
    fn is_of_tasks(&self) -> bool {
        false
    }
    /// The case of a task, if the task is in one.
    fn case_of_task(&self, _: &TaskRun<'_>) -> Option<String> {
        None
    }
    /// Whether its cases and logs are made without being asked for. Those of another notion are made
    /// only for who names it.
    fn is_standard(&self) -> bool {
        false
    }
    /// How far its cases can be trusted.
    fn strength(&self) -> Strength;
    /// What of it must see all jobs at once, if anything ([`crate::Overview::groups`]).
    fn grouping(&self) -> Option<&dyn Grouping> {
        None
    }
    /// Puts every attempt into exactly one case. By default these are the groups of
    /// [`Self::grouping`].
    fn assign(&self, entities: &Entities<'_>) -> Assignment {
        grouped::assign(entities, self.name())
    }
}

/// How far a case can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strength {
    /// Slurm, an engine or the user declared that the jobs belong together.
    Declared,
    /// It follows from what was observed.
    Derived,
    /// It is probable.
    Inferred,
}

impl Strength {
    /// Its word in tables and logs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Declared => "declared",
            Self::Derived => "derived",
            Self::Inferred => "inferred",
        }
    }
}

/// Why an attempt is in its case.
#[derive(Debug, Clone, PartialEq)]
pub struct Why {
    /// The reason in one word or two.
    pub reason: &'static str,
    /// The row or job that shows it.
    pub evidence: Option<String>,
    /// Probability that the attempt belongs with what it was joined to, or to nothing that is older
    /// where it was joined to nothing. `None` where the notion does not estimate it.
    pub confidence: Option<f32>,
    /// How far the assignment can be trusted, where that differs from the notion's strength.
    pub strength: Option<Strength>,
}

/// Which attempt is in which case.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Assignment {
    /// The case ids, all different.
    pub ids: Vec<String>,
    /// Of each case whether attempts of other parts ([`crate::parts`]) can be in it too.
    pub goes_on: Vec<bool>,
    /// For each attempt of [`Jobs::attempts`](crate::Jobs::attempts) its case: an index into `ids`.
    pub case_of: Vec<u32>,
    /// For each attempt why it is in its case; empty where the notion is the reason for all.
    pub why: Vec<Why>,
}

impl Assignment {
    /// Adds a case, gives its index.
    pub(super) fn case(&mut self, id: String, goes_on: bool) -> u32 {
        self.ids.push(id);
        self.goes_on.push(goes_on);
        self.ids.len() as u32 - 1
    }

    /// The lowest confidence in each case; empty where the notion says nothing of it.
    pub fn confidence(&self) -> Vec<Option<f32>> {
        let mut lowest: Vec<Option<f32>> = if self.why.is_empty() { Vec::new() } else { vec![None; self.ids.len()] };
        for (why, &case) in self.why.iter().zip(&self.case_of) {
            let known = &mut lowest[case as usize];
            *known = lower(*known, why.confidence);
        }
        lowest
    }

    /// The case id of an attempt.
    pub fn id_of(&self, attempt: usize) -> &str {
        &self.ids[self.case_of[attempt] as usize]
    }
}

/// The lower one of two numbers of which each may be unknown.
pub fn lower(a: Option<f32>, b: Option<f32>) -> Option<f32> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// A confidence as tables and logs have it: thousandths.
pub fn rounded(confidence: f32) -> f64 {
    (f64::from(confidence) * 1000.0).round() / 1000.0
}

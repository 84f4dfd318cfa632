//! The cases of notions that must see all jobs of a dataset at once.
//!
//! In go [`Parts`], which are walked through once; out comes for each notion and each submission
//! the oldest submission of its case, with the reason. A part of the jobs finds its own submissions
//! in it by name ([`crate::components::key`]).

use crate::CorrelateError;
use crate::cases::{CaseNotion, Strength};
use crate::exchanges::Exchanges;
use crate::gather::Gatherer;
use crate::parts::Parts;
use crate::submitted::AllSubmitted;

/// Where a notion puts a submission.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Placed {
    /// The oldest submission of its case: an index into [`AllSubmitted::all`].
    pub first: u32,
    /// The submission to which it was joined.
    pub follows: Option<u32>,
    /// Why.
    pub reason: &'static str,
    /// Probability that it belongs there, where the notion estimates it.
    pub confidence: Option<f32>,
    /// How far the assignment can be trusted, where that differs from the notion's strength.
    pub strength: Option<Strength>,
}

impl Placed {
    /// A submission that begins a case.
    pub fn first(at: u32, reason: &'static str) -> Self {
        Self { first: at, follows: None, reason, confidence: None, strength: None }
    }
}

/// The part of a notion that sees all submissions.
pub trait Grouping {
    /// Puts each of [`AllSubmitted::all`] into a case.
    fn group(&self, all: &AllSubmitted) -> Vec<Placed>;
}

/// The name of a submission: age, number of its cluster, id and generation.
type Name = (i64, u32, i64, u32);

/// The cases of some notions.
#[derive(Debug, Clone, Default)]
pub struct Groups {
    clusters: Vec<Box<str>>,
    names: Vec<Name>,
    of_notions: Vec<(&'static str, Vec<Placed>)>,
}

/// Where a notion puts a submission, with the names of others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place<'g> {
    /// The oldest submission of its case.
    pub first: (i64, &'g str, i64, u32),
    /// The submission to which it was joined.
    pub follows: Option<(i64, &'g str, i64, u32)>,
    /// What else is known.
    pub placed: Placed,
}

impl Groups {
    /// Groups the submissions for those of the notions that need it.
    ///
    /// # Errors
    /// When a temporary file cannot be read.
    pub fn find(parts: &Parts<'_>, notions: &[&dyn CaseNotion], exchanges: &Exchanges) -> Result<Self, CorrelateError> {
        if !notions.iter().any(|notion| notion.grouping().is_some()) {
            return Ok(Self::default());
        }
        let mut gatherer = Gatherer::default();
        parts.for_each::<CorrelateError>(|jobs| {
            gatherer.add(jobs, exchanges);
            Ok(())
        })?;
        Ok(Self::of(&gatherer.finish(), notions))
    }

    fn of(all: &AllSubmitted, notions: &[&dyn CaseNotion]) -> Self {
        let of_notions = notions.iter().filter_map(|notion| Some((notion.name(), notion.grouping()?.group(all)))).collect();
        let mut clusters: Vec<Box<str>> = Vec::new();
        let mut names = Vec::with_capacity(all.all.len());
        for submitted in &all.all {
            let name = all.text(submitted.cluster);
            let cluster = clusters.iter().position(|known| **known == *name).unwrap_or_else(|| {
                clusters.push(name.into());
                clusters.len() - 1
            });
            names.push((submitted.since_ns, cluster as u32, submitted.id, submitted.generation));
        }
        Self { clusters, names, of_notions }
    }

    /// Where the notion puts the submission of this name; `None` where it was not grouped.
    pub fn place(&self, notion: &str, name: (i64, &str, i64, u32)) -> Option<Place<'_>> {
        let (_, placed) = self.of_notions.iter().find(|(known, _)| *known == notion)?;
        let order = |&(since_ns, cluster, id, generation): &Name| (since_ns, &*self.clusters[cluster as usize], id, generation);
        let at = self.names.binary_search_by(|known| order(known).cmp(&name)).ok()?;
        let placed = placed[at];
        let named = |at: u32| order(&self.names[at as usize]);
        Some(Place { first: named(placed.first), follows: placed.follows.map(named), placed })
    }
}

//! The trait of attribution rules, and its input.

use super::claim::{Claim, Strength};
use super::facts::{Facts, Place, Program, Script, User};
use crate::entities::Entities;

/// Receives a claim of a rule and the evidence for it.
pub type AddClaim<'f> = dyn FnMut(Claim, String) + 'f;

/// A rule that finds the owner of a process.
pub trait Rule: Sync {
    /// Name of the rule, as in the table `links`.
    fn name(&self) -> &'static str;
    /// Confidence in its findings.
    fn strength(&self) -> Strength;
    /// Adds claims from a program that a process executed.
    fn of_program(&self, _program: &Program, _facts: &Facts, _entities: &Entities, _say: &mut AddClaim<'_>) {}
    /// Adds claims from the observed properties of a process.
    fn of_process(&self, _facts: &Facts, _entities: &Entities, _say: &mut AddClaim<'_>) {}
    /// Returns the users who can have made the input of [`Rule::of_process`].
    fn makers(&self, facts: &Facts) -> Vec<User> {
        facts.real_user().cloned().into_iter().collect()
    }
    /// Adds claims from a script that it opened.
    fn of_script(&self, _script: &Script, _facts: &Facts, _entities: &Entities, _say: &mut AddClaim<'_>) {}
    /// Adds claims from its place.
    fn of_place(&self, _place: &Place, _facts: &Facts, _entities: &Entities, _say: &mut AddClaim<'_>) {}
}

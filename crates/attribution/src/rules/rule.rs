//! What a rule of attribution is: the trait, and what it is given.

use super::claim::{Claim, Strength};
use super::facts::{Facts, Place, Program, Script, User};
use crate::entities::Entities;

/// What a rule says: the claim and the evidence for it.
pub type AddClaim<'f> = dyn FnMut(Claim, String) + 'f;

/// A way to find out where a process belongs.
pub trait Rule: Sync {
    /// Name of the rule, as in the table `links`.
    fn name(&self) -> &'static str;
    /// How far its findings can be trusted.
    fn strength(&self) -> Strength;
    /// What follows from a program that a process was.
    fn of_program(&self, _program: &Program, _facts: &Facts, _entities: &Entities, _say: &mut AddClaim<'_>) {}
    /// What follows from what was observed of a process.
    fn of_process(&self, _facts: &Facts, _entities: &Entities, _say: &mut AddClaim<'_>) {}
    /// The users who can have made what [`Rule::of_process`] looks at.
    fn makers(&self, facts: &Facts) -> Vec<User> {
        facts.real_user().cloned().into_iter().collect()
    }
    /// What follows from a script that it opened.
    fn of_script(&self, _script: &Script, _facts: &Facts, _entities: &Entities, _say: &mut AddClaim<'_>) {}
    /// What follows from where it is.
    fn of_place(&self, _place: &Place, _facts: &Facts, _entities: &Entities, _say: &mut AddClaim<'_>) {}
}

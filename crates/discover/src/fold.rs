//! Folding: equal parts of a structure become one, so that a thousand samples are one branch or
//! lane with a count.

use schemars::JsonSchema;
use serde::Serialize;

/// Definition of equality, from the strictest to the coarsest. Each model documents its
/// interpretation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fold {
    /// No parts are equal: nothing is folded.
    Never,
    /// Parts with the same name and the same surroundings, equally often.
    #[default]
    Equal,
    /// Parts with the same name and the same surroundings, however often.
    Alike,
    /// Parts with the same name, whatever their surroundings.
    Name,
}

impl Fold {
    /// All values, from the strictest to the coarsest.
    pub const ALL: [Self; 4] = [Self::Never, Self::Equal, Self::Alike, Self::Name];

    /// Returns the values to try: the requested one or, by default, all that fold anything, the
    /// strictest first.
    pub fn candidates(asked: Option<Self>) -> Vec<Self> {
        asked.map_or_else(|| Self::ALL[1..].to_vec(), |fold| vec![fold])
    }
}

//! Folding: when equal parts of a structure are one, so that a thousand samples are one branch or
//! lane with a count.

use schemars::JsonSchema;
use serde::Serialize;

/// What is equal, from the strictest to the coarsest. What a model means by it stands there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fold {
    /// Nothing is equal: no parts are folded.
    Never,
    /// What has the same name and the same around it, equally often.
    #[default]
    Equal,
    /// What has the same name and the same around it, however often.
    Alike,
    /// What has the same name, whatever is around it.
    Name,
}

impl Fold {
    /// All, from the strictest to the coarsest.
    pub const ALL: [Self; 4] = [Self::Never, Self::Equal, Self::Alike, Self::Name];

    /// What is tried: what was asked for or, when nothing was, all that fold anything, the
    /// strictest first.
    pub fn candidates(asked: Option<Self>) -> Vec<Self> {
        asked.map_or_else(|| Self::ALL[1..].to_vec(), |fold| vec![fold])
    }
}

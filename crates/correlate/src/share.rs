//! One of several shares of a log's cases, so that several processes or machines can each take one.

use std::fmt;
use std::str::FromStr;

use crate::joined::{Node, fingerprint};

/// Share K of N: with all N, each case is in exactly one. Which that is follows from what joins its
/// jobs, or from its name, and never from the order of things.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    number: u32,
    of: u32,
}

impl Share {
    /// Returns share `number` of `of`, counted from 1; `None` when there is no such share.
    pub fn new(number: u32, of: u32) -> Option<Self> {
        (1..=of).contains(&number).then_some(Self { number, of })
    }

    /// How many shares there are.
    pub fn of(self) -> u32 {
        self.of
    }

    /// Whether the case with this name is in it.
    pub fn has_case(self, name: &str) -> bool {
        self.has(fingerprint(name))
    }

    /// Whether the jobs that are joined to this id are in it.
    pub(crate) fn has(self, representative: Node) -> bool {
        // By the high bits: the low ones choose the part within a share.
        (representative >> 32) % u64::from(self.of) == u64::from(self.number - 1)
    }
}

impl FromStr for Share {
    type Err = String;

    /// `2/8`: the second of eight.
    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        numbers.and_then(|(number, of)| Self::new(number, of)).ok_or_else(|| "it is K/N with 1 ≤ K ≤ N, such as 2/8".to_owned())
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

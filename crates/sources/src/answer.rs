//! Answers of a kind about a file.

use std::fmt;
use std::path::PathBuf;

/// What a kind sees in a file, with the evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// What the file is, such as `Nextflow log`.
    pub what: String,
    /// The evidence, such as `has columns task_id, hash, native_id`.
    pub evidence: String,
}

impl Seen {
    /// What was seen, and the evidence.
    pub fn new(what: impl Into<String>, evidence: impl Into<String>) -> Self {
        Self { what: what.into(), evidence: evidence.into() }
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.what, self.evidence)
    }
}

/// Answer of a kind about a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The file is not of this kind.
    No,
    /// It can be of this kind, where no other kind is certain.
    Maybe(Seen),
    /// It is of this kind.
    Yes(Seen),
    /// It is a part of this directory, which is read as a whole.
    Part(Seen, PathBuf),
    /// It is known, and not read.
    NotRead {
        /// What it is.
        what: String,
        /// Why it is not read, or what to give instead.
        advice: String,
    },
}

impl Answer {
    /// `Yes` where something is seen, else `No`.
    pub fn new(seen: Option<Seen>) -> Self {
        seen.map_or(Self::No, Self::Yes)
    }
}

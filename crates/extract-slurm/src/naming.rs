//! Names as Slurm has them, or pseudonyms in their place from the moment on in which they are
//! observed.
//!
//! In go names, texts and rows; out come the same, or what somebody who has a key makes of them
//! ([`Pseudonyms`]). So neither the tables nor what is remembered between polls holds a name.
//! Comparing poll with poll works on codes as on texts: equal texts have equal codes.

use std::borrow::Cow;
use std::fmt::Debug;
use std::sync::Arc;

use flowmine_schema::diagnostic::Diagnostics;
use flowmine_schema::tables::{JobDependency, JobState};

/// Gives pseudonyms for the names that an observer writes and remembers.
pub trait Pseudonyms: Debug + Send + Sync {
    /// The pseudonym for the name of a cluster.
    fn cluster(&self, name: &str) -> String;
    /// The pseudonym for a text that is only compared with others.
    fn text(&self, text: &str) -> String;
    /// The row with pseudonyms for all its names but its cluster's, which is one already.
    fn job_state<'r>(&self, row: JobState<'r>) -> JobState<'r>;
    /// The row with pseudonyms for all its names but its cluster's.
    fn job_dependency<'r>(&self, row: JobDependency<'r>) -> JobDependency<'r>;
}

/// How names are written. The default leaves them as they are.
#[derive(Debug, Clone, Default)]
pub struct Naming(pub Option<Arc<dyn Pseudonyms>>);

impl Naming {
    /// The name of a cluster, or its pseudonym where there are pseudonyms.
    pub fn cluster<'t>(&self, name: &'t str) -> Cow<'t, str> {
        self.0.as_ref().map_or(Cow::Borrowed(name), |pseudonyms| pseudonyms.cluster(name).into())
    }

    /// A text that is only compared with others, or its pseudonym.
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.0.as_ref().map_or(Cow::Borrowed(text), |pseudonyms| pseudonyms.text(text).into())
    }

    /// A code that says which key is used; nothing where names stay.
    pub fn key_code(&self) -> Option<String> {
        self.0.as_ref().map(|pseudonyms| pseudonyms.text("flowmine"))
    }

    /// A row of `job_states` with its names as they are to be written.
    pub fn job_state<'r>(&self, row: &'r JobState<'_>) -> Cow<'r, JobState<'r>> {
        match &self.0 {
            None => Cow::Borrowed(row),
            Some(pseudonyms) => Cow::Owned(pseudonyms.job_state(row.clone())),
        }
    }

    /// A row of `job_dependencies` with its names as they are to be written.
    pub fn job_dependency<'r>(&self, row: &'r JobDependency<'_>) -> Cow<'r, JobDependency<'r>> {
        match &self.0 {
            None => Cow::Borrowed(row),
            Some(pseudonyms) => Cow::Owned(pseudonyms.job_dependency(row.clone())),
        }
    }

    /// Diagnostics with which names are kept: their messages quote what Slurm said, so that without
    /// names only what they are about stays.
    pub fn diagnostics<'d>(&self, diagnostics: &'d Diagnostics) -> Cow<'d, Diagnostics> {
        match &self.0 {
            None => Cow::Borrowed(diagnostics),
            Some(_) => Cow::Owned(diagnostics.without_messages("(the message may hold names and was not kept)")),
        }
    }
}

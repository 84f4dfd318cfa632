//! Names as Slurm has them, or pseudonyms in their place from the moment on in which they are
//! observed.
//!
//! The input is names, texts and rows; the output is the same, or their pseudonyms made with a key
//! ([`Pseudonyms`]). With pseudonyms, neither the tables nor the memory between polls holds a name.
//! Comparing poll with poll works on codes as on texts: equal texts have equal codes.

use std::borrow::Cow;
use std::fmt::Debug;
use std::sync::Arc;

use flowmine_schema::diagnostic::Diagnostics;
use flowmine_schema::tables::{JobDependency, JobState, NodeState};
use flowmine_slurm::dependency::{self, KINDS, Term};
use flowmine_slurm::state::State;

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
    /// The row with pseudonyms for all its names but its cluster's.
    fn node_state<'r>(&self, row: NodeState<'r>) -> NodeState<'r>;
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

    /// A state to be remembered: a word that is none of Slurm's may be a name.
    pub fn state<'s>(&self, state: &'s State) -> Cow<'s, State> {
        match (&self.0, state) {
            (Some(pseudonyms), State::Other(word)) => {
                let row = pseudonyms.job_state(JobState { state: Some(word.into()), ..JobState::default() });
                Cow::Owned(State::parse(row.state.as_deref().unwrap_or_default()))
            }
            _ => Cow::Borrowed(state),
        }
    }

    /// The list of an array's tasks to be remembered: one that is not only numbers may hold a name.
    pub fn array_tasks<'t>(&self, tasks: &'t str) -> Cow<'t, str> {
        let row =
            |pseudonyms: &Arc<dyn Pseudonyms>| pseudonyms.job_state(JobState { array_tasks: Some(tasks.into()), ..JobState::default() });
        self.0.as_ref().and_then(|pseudonyms| row(pseudonyms).array_tasks).map_or(Cow::Borrowed(tasks), |tasks| tasks.into_owned().into())
    }

    /// A dependency to be remembered: one with a word that is none of Slurm's may hold a name.
    pub fn dependency<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let is_known = || dependency::parse(text).is_ok_and(|parsed| parsed.terms.iter().all(|term| self.can_keep(term)));
        if self.0.is_none() || is_known() { Cow::Borrowed(text) } else { self.text(text) }
    }

    /// Whether a term of a dependency can be remembered as it is.
    pub fn can_keep(&self, term: &Term) -> bool {
        let is_known = |word: &str| matches!(word, "unfulfilled" | "fulfilled" | "failed");
        self.0.is_none() || KINDS.contains(&&*term.kind) && term.state.as_deref().is_none_or(is_known)
    }

    /// Returns a message of a program, such as squeue on its standard error; with pseudonyms, a
    /// note that it is withheld.
    pub fn message(&self, message: String) -> String {
        if self.0.is_some() { WITHHELD.to_owned() } else { message }
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

    /// A row of `node_states` with its names as they are to be written.
    pub fn node_state<'r>(&self, row: &'r NodeState<'_>) -> Cow<'r, NodeState<'r>> {
        match &self.0 {
            None => Cow::Borrowed(row),
            Some(pseudonyms) => Cow::Owned(pseudonyms.node_state(row.clone())),
        }
    }

    /// Diagnostics with which names are kept: their messages quote what Slurm said, so that without
    /// names only what they are about stays.
    pub fn diagnostics<'d>(&self, diagnostics: &'d Diagnostics) -> Cow<'d, Diagnostics> {
        match &self.0 {
            None => Cow::Borrowed(diagnostics),
            Some(_) => Cow::Owned(diagnostics.without_messages(WITHHELD)),
        }
    }
}

/// What is shown and kept in place of a message.
const WITHHELD: &str = "(the message may hold names and was not kept)";

//! Where messages and progress go: the library prints nothing.

use flowmine_eventlog::read::Finding;
use flowmine_schema::diagnostic::Diagnostics;

/// A message about the work, in the order in which it arises.
#[derive(Debug)]
pub enum Message<'a> {
    /// A fact worth knowing.
    Note(&'a str),
    /// A reason to doubt the result.
    Warning(&'a str),
    /// Diagnostics of an input.
    Diagnostics(&'a str, &'a Diagnostics),
    /// A finding about an event log.
    Finding(&'a str, &'a Finding),
    /// What begins, in one line.
    Begun(&'a str),
    /// What was done, in one line.
    Done(&'a str),
    /// What was done, in one line for whoever watches; nothing depends on it.
    Watched(&'a str),
}

/// A stage of the work, which ends when it is dropped.
pub trait Stage {
    /// Takes how much of how much is done.
    fn at(&self, done: usize, total: usize);
}

/// The receiver of messages and progress.
pub trait Sink: Sync {
    /// Takes a message.
    fn message(&self, message: Message<'_>);

    /// Begins a stage of the work.
    fn stage(&self, what: &'static str) -> Box<dyn Stage>;
}

impl dyn Sink + '_ {
    /// Sends a fact worth knowing.
    pub fn note(&self, text: &str) {
        self.message(Message::Note(text));
    }

    /// Sends a reason to doubt the result.
    pub fn warning(&self, text: &str) {
        self.message(Message::Warning(text));
    }
}

/// A receiver that keeps nothing.
pub struct Silent;

impl Sink for Silent {
    fn message(&self, _: Message<'_>) {}

    fn stage(&self, _: &'static str) -> Box<dyn Stage> {
        Box::new(Self)
    }
}

impl Stage for Silent {
    fn at(&self, _: usize, _: usize) {}
}

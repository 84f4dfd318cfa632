//! Where messages and progress go: the library prints nothing.

use std::any::Any;
use std::path::Path;

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
}

/// The receiver of messages and progress, and of the names of files that are read.
pub trait Sink: Sync {
    /// Takes a message.
    fn message(&self, message: Message<'_>);

    /// Begins a stage of the work, which ends when the result is dropped.
    fn stage(&self, what: &'static str) -> Box<dyn Any>;

    /// Takes the path of a file that a request names, before the file is read. A caller can refuse
    /// to replace such a file by a result.
    fn reads(&self, _: &Path) {}
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

    fn stage(&self, _: &'static str) -> Box<dyn Any> {
        Box::new(())
    }
}

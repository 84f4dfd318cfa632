//! What a server observes itself.

use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};

use flowmine_api::observe::{Poll, Request, observe};
use flowmine_api::{Message, Sink, Stage, chain};

/// The last poll.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Last {
    /// Number of polls that succeeded.
    pub polls: u64,
    /// When the last of them ended, in nanoseconds since 1970.
    pub ended_ns: Option<i64>,
    /// Why the last poll failed.
    pub failed: Option<String>,
    /// Whether something of the queue is lost.
    pub is_lossy: bool,
}

/// What is known of polls.
#[derive(Debug, Default)]
pub struct Observing(Mutex<Last>);

impl Observing {
    /// Returns the last poll.
    pub fn last(&self) -> Last {
        self.change(|last| last.clone())
    }

    fn change<T>(&self, change: impl FnOnce(&mut Last) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn polled(&self, poll: &Poll<'_>) {
        self.change(|last| {
            last.polls += 1;
            last.ended_ns = Some(poll.ended_ns);
            last.failed = None;
            last.is_lossy |= poll.is_lossy();
        });
    }

    /// Polls until `stop` is set, or a later poll would not help.
    pub fn run(&self, request: &Request, stop: &AtomicBool, sink: &dyn Sink) {
        let sink = Failures { observing: self, next: sink };
        match observe(request, stop, &sink, &mut |poll| self.polled(poll)) {
            Ok(observed) => self.change(|last| last.is_lossy |= observed.is_lossy),
            Err(error) => {
                let why = chain(&error);
                (&sink as &dyn Sink).warning(&format!("the queue is observed no longer: {why}"));
                self.change(|last| (last.failed, last.is_lossy) = (Some(why), true));
            }
        }
    }
}

/// Keeps the warnings of polls that failed, which are passed on.
struct Failures<'o> {
    observing: &'o Observing,
    next: &'o dyn Sink,
}

impl Sink for Failures<'_> {
    fn message(&self, message: Message<'_>) {
        if let Message::Warning(text) = &message {
            self.observing.change(|last| last.failed = Some((*text).to_owned()));
        }
        self.next.message(message);
    }

    fn stage(&self, what: &'static str) -> Box<dyn Stage> {
        self.next.stage(what)
    }
}

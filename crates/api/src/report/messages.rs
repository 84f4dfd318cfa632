//! The messages of making a report, kept for its page and passed on.

use std::sync::{Mutex, PoisonError};

use crate::sink::{Message, Sink, Stage};

/// The most messages that are kept.
const MOST: usize = 200;

/// A receiver that keeps messages and passes each on once.
pub struct Messages<'s> {
    next: &'s dyn Sink,
    kept: Mutex<Vec<String>>,
}

impl<'s> Messages<'s> {
    /// The begin of a note that is kept.
    pub const NOTE: &'static str = "Note: ";
    /// The begin of a warning that is kept.
    pub const WARNING: &'static str = "Warning: ";

    /// A receiver that passes messages on to another.
    pub fn new(next: &'s dyn Sink) -> Self {
        Self { next, kept: Mutex::default() }
    }

    /// The messages that were kept, in their order.
    pub fn all(&self) -> Vec<String> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Keeps a text. Whether it is new.
    fn keep(&self, text: String) -> bool {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        // Several models read the same dataset, and each reports the same.
        let is_new = !kept.contains(&text);
        if is_new && kept.len() < MOST {
            kept.push(text);
        }
        is_new
    }
}

impl Sink for Messages<'_> {
    fn message(&self, message: Message<'_>) {
        let is_new = match &message {
            Message::Note(text) => self.keep(format!("{}{text}", Self::NOTE)),
            Message::Warning(text) => self.keep(format!("{}{text}", Self::WARNING)),
            Message::Diagnostics(_, diagnostics) => {
                let news: Vec<bool> = diagnostics.iter().map(|one| self.keep(format!("{}: {}", one.code, one.message))).collect();
                news.contains(&true)
            }
            Message::Finding(_, finding) => self.keep(format!("{}: {}", finding.rule, finding.message)),
            Message::Begun(_) | Message::Done(_) | Message::Watched(_) => true,
        };
        if is_new {
            self.next.message(message);
        }
    }

    fn stage(&self, what: &'static str) -> Box<dyn Stage> {
        self.next.stage(what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sink::Silent;

    #[test]
    fn a_message_is_kept_once() {
        let messages = Messages::new(&Silent);
        let sink: &dyn Sink = &messages;
        sink.warning("a");
        sink.note("b");
        sink.warning("a");
        assert_eq!(messages.all(), ["Warning: a", "Note: b"]);
    }
}

//! Messages and progress of the library on standard error.

use flowmine_api::{Message, Sink};

use crate::messages;
use crate::progress::Stage;

/// Standard error.
pub struct Terminal;

impl Sink for Terminal {
    fn message(&self, message: Message<'_>) {
        match message {
            Message::Note(text) => messages::note(&format!("flowmine: note: {text}")),
            Message::Warning(text) => messages::warning(text),
            Message::Diagnostics(input, diagnostics) => messages::diagnostics(input, diagnostics, messages::Kept::Nowhere),
            Message::Finding(input, finding) => messages::finding(input, finding),
            Message::Begun(text) => messages::note(&format!("flowmine: {text}")),
            Message::Watched(text) if messages::on_terminal() => messages::note(&format!("flowmine: {text}")),
            Message::Watched(_) => {}
            Message::Done(text) => messages::note(text),
        }
    }

    fn stage(&self, what: &'static str) -> Box<dyn flowmine_api::Stage> {
        Box::new(Stage::new(what))
    }
}

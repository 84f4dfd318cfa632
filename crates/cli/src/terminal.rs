//! Messages and progress of the library on standard error.

use std::any::Any;
use std::path::Path;

use flowmine_api::{Message, Sink};

use crate::progress::Stage;
use crate::{inputs, messages};

/// Standard error.
pub struct Terminal;

impl Sink for Terminal {
    fn message(&self, message: Message<'_>) {
        match message {
            Message::Note(text) => messages::note(&format!("flowmine: note: {text}")),
            Message::Warning(text) => messages::warning(text),
            Message::Diagnostics(input, diagnostics) => messages::diagnostics(input, diagnostics, messages::Kept::Nowhere),
            Message::Finding(input, finding) => messages::finding(input, finding),
        }
    }

    fn stage(&self, what: &'static str) -> Box<dyn Any> {
        Box::new(Stage::new(what))
    }

    fn reads(&self, path: &Path) {
        inputs::note(path);
    }
}

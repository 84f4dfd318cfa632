//! Tables of a dataset that cannot be read, while the page is made of the others.

use std::cell::Cell;

use crate::error::{Error, chain, is_of_dataset};
use crate::sink::Sink;

/// Reasons why sections are missing; a table that cannot be read is also a warning and a loss.
pub struct Damage<'s> {
    sink: &'s dyn Sink,
    is_found: Cell<bool>,
}

impl<'s> Damage<'s> {
    /// Nothing is damaged so far.
    pub const fn new(sink: &'s dyn Sink) -> Self {
        Self { sink, is_found: Cell::new(false) }
    }

    /// Whether a table could not be read.
    pub const fn is_found(&self) -> bool {
        self.is_found.get()
    }

    /// The reason why a section is missing.
    pub fn reason(&self, error: &Error) -> String {
        let reason = chain(error);
        if is_of_dataset(error) {
            self.is_found.set(true);
            self.sink.warning(&format!("the page lacks parts that need this: {reason}"));
        }
        reason
    }
}

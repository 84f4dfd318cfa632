//! A log of cases with other activities.
//!
//! In go a log and what names the activity of an event, by its attributes; out comes the log with these
//! names as `concept:name` of its events.

use crate::LogError;
use crate::attribute::Attribute;
use crate::log::{Batches, CaseHeader, CaseLog, rebatched};
use crate::record::{self, Record};

/// Names the activity of an event by its attributes; `None` leaves it as it is.
pub type Label<'l> = dyn Fn(&[Attribute<'_>]) -> Option<String> + Send + Sync + 'l;

/// A log with other activities.
pub struct Relabelled<'l> {
    log: &'l dyn CaseLog,
    label: Box<Label<'l>>,
}

impl<'l> Relabelled<'l> {
    /// The log with these activities.
    pub fn new(log: &'l dyn CaseLog, label: Box<Label<'l>>) -> Self {
        Self { log, label }
    }
}

impl CaseLog for Relabelled<'_> {
    fn header(&self) -> &CaseHeader {
        self.log.header()
    }

    fn traces(&self) -> Batches<'_> {
        rebatched(self.log.traces(), move |batch, filling, ready| {
            for piece in batch.pieces() {
                if !record::is_case_event(piece) {
                    ready.extend(filling.push_piece(piece));
                    continue;
                }
                let Record::CaseEvent(mut attributes) = Record::decode(piece)? else { return Err(LogError::Damaged) };
                if let Some(label) = (self.label)(&attributes)
                    && let Some(name) = attributes.iter_mut().find(|attribute| attribute.key == "concept:name")
                {
                    *name = Attribute::text("concept:name", label);
                }
                ready.extend(filling.push(&Record::CaseEvent(attributes)));
            }
            Ok(())
        })
    }
}

//! Chosen events of a log as a log of its own.
//!
//! In goes a log and which of its events and traces are chosen, by their numbers in the log's
//! order; out come these as they are. Holds a byte for each event and trace.

use crate::error::LogError;
use crate::log::{Batches, CaseHeader, CaseLog, ObjectLog, Types, rebatched};
use crate::record::{self, Record};

/// Chosen events of a log of cases.
pub struct ChosenCases<'l> {
    log: &'l dyn CaseLog,
    traces: Vec<bool>,
    events: Vec<bool>,
}

impl<'l> ChosenCases<'l> {
    /// The chosen traces of a log with their chosen events.
    pub fn new(log: &'l dyn CaseLog, traces: Vec<bool>, events: Vec<bool>) -> Self {
        Self { log, traces, events }
    }
}

impl CaseLog for ChosenCases<'_> {
    fn header(&self) -> &CaseHeader {
        self.log.header()
    }

    fn traces(&self) -> Batches<'_> {
        let (mut traces, mut events) = (self.traces.iter(), self.events.iter());
        let mut is_chosen = false;
        rebatched(self.log.traces(), move |batch, filling, ready| {
            for piece in batch.pieces() {
                if record::is_trace(piece) {
                    is_chosen = traces.next().copied().unwrap_or(false);
                }
                let is_wanted = !record::is_case_event(piece) || events.next().copied().unwrap_or(false);
                if is_chosen && is_wanted {
                    ready.extend(filling.push_piece(piece));
                }
            }
            Ok(())
        })
    }
}

/// Chosen events of an object-centric log, with all of its objects.
pub struct ChosenEvents<'l> {
    log: &'l dyn ObjectLog,
    events: Vec<bool>,
    qualifiers: Vec<String>,
}

impl<'l> ChosenEvents<'l> {
    /// The chosen events of a log. Of their relations those stay that have one of the qualifiers;
    /// without qualifiers all do.
    pub fn new(log: &'l dyn ObjectLog, events: Vec<bool>, qualifiers: Vec<String>) -> Self {
        Self { log, events, qualifiers }
    }
}

impl ObjectLog for ChosenEvents<'_> {
    fn types(&self) -> &Types {
        self.log.types()
    }

    fn objects(&self) -> Batches<'_> {
        self.log.objects()
    }

    fn events(&self) -> Batches<'_> {
        let mut events = self.events.iter();
        rebatched(self.log.events(), move |batch, filling, ready| {
            for piece in batch.pieces().filter(|_| events.next().copied().unwrap_or(false)) {
                if self.qualifiers.is_empty() {
                    ready.extend(filling.push_piece(piece));
                    continue;
                }
                let Record::Event(mut event) = Record::decode(piece)? else { return Err(LogError::Damaged) };
                event.relations.retain(|relation| self.qualifiers.iter().any(|wanted| *wanted == relation.qualifier));
                ready.extend(filling.push(&Record::Event(event)));
            }
            Ok(())
        })
    }
}

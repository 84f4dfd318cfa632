//! What every fuzz target checks of what a reader gives.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use flowmine_eventlog::read::{Finding, Limits, Sink};
use flowmine_eventlog::{Attribute, CaseHeader, LogError, Record, Types, Value};

/// Limits that an input of a fuzzer can reach.
pub const SMALL: Limits = Limits { text_bytes: 60, record_bytes: 2000, depth: 9, definitions: 3 };

/// Takes what comes and panics where it is not as promised.
pub struct Checker {
    limits: Limits,
    in_trace: bool,
    bytes: Vec<u8>,
    again: Vec<u8>,
}

impl Checker {
    pub fn new(limits: Limits) -> Self {
        Self { limits, in_trace: false, bytes: Vec::new(), again: Vec::new() }
    }

    /// Says how the reading ended.
    pub fn end(&self, result: &Result<(), LogError>) {
        match result {
            Ok(()) => assert!(!self.in_trace),
            Err(LogError::Refused { line, column, message }) => {
                assert!(*line >= 1 && *column >= 1 && !message.is_empty());
                assert!(message.len() < 2000 && !message.chars().any(char::is_control), "{message:?}");
            }
            Err(LogError::RefusedAt { place, message }) => {
                let all = format!("{place}: {message}");
                assert!(!message.is_empty() && all.len() < 2000 && !all.chars().any(char::is_control), "{all:?}");
            }
            Err(_) => {}
        }
    }

    fn text(&self, text: &str) {
        assert!(text.len() <= self.limits.text_bytes);
    }

    fn attributes(&self, attributes: &[Attribute<'_>], depth: usize) {
        assert!(depth <= self.limits.depth);
        for one in attributes {
            self.text(&one.key);
            match &one.value {
                Value::String(text) | Value::Id(text) => self.text(text),
                Value::List(items) => self.attributes(items, depth + 1),
                _ => {}
            }
            self.attributes(&one.children, depth + 1);
        }
    }
}

impl Sink for Checker {
    fn types(&mut self, types: Types) -> Result<(), LogError> {
        for one in types.events.iter().chain(&types.objects) {
            self.text(&one.name);
            assert!(one.attributes.len() <= self.limits.definitions);
        }
        Ok(())
    }

    fn header(&mut self, header: CaseHeader) -> Result<(), LogError> {
        assert!(!self.in_trace);
        assert!(header.extensions.len() <= self.limits.definitions && header.classifiers.len() <= self.limits.definitions);
        self.attributes(&header.attributes, 1);
        Ok(())
    }

    fn record(&mut self, record: &Record<'_>) -> Result<(), LogError> {
        match record {
            Record::Trace(attributes) => {
                assert!(!std::mem::replace(&mut self.in_trace, true));
                self.attributes(attributes, 1);
            }
            Record::CaseEvent(attributes) => {
                assert!(self.in_trace);
                self.attributes(attributes, 1);
            }
            Record::TraceEnd => assert!(std::mem::take(&mut self.in_trace)),
            Record::Object(object) => self.attributes(&object.attributes, 1),
            Record::Event(event) => self.attributes(&event.attributes, 1),
        }
        self.bytes.clear();
        self.again.clear();
        record.encode(&mut self.bytes);
        assert!(self.bytes.len() <= 2 * self.limits.record_bytes);
        match Record::decode(&self.bytes) {
            Ok(decoded) => decoded.encode(&mut self.again),
            Err(error) => panic!("{error}"),
        }
        assert_eq!(self.bytes, self.again);
        Ok(())
    }

    fn finding(&mut self, finding: Finding) {
        check_finding(&finding);
    }
}

/// What every finding keeps to: short, and nothing in it that does something to a terminal.
pub fn check_finding(finding: &Finding) {
    assert!(finding.line != Some(0) && finding.column != Some(0) && !finding.rule.is_empty());
    let (place, message) = (&finding.place, &finding.message);
    assert!(place.len() + message.len() < 3000 && !place.chars().chain(message.chars()).any(char::is_control), "{finding:?}");
}

/// A file with these bytes, in memory where there is such a place.
pub fn file_of(bytes: &[u8]) -> Option<&'static Path> {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    let path = PATH.get_or_init(|| {
        let memory = PathBuf::from("/dev/shm");
        let dir = if memory.is_dir() { memory } else { std::env::temp_dir() };
        dir.join(format!("flowmine-fuzz-{}", std::process::id()))
    });
    std::fs::write(path, bytes).ok()?;
    Some(path)
}

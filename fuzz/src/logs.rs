//! Event logs of others (`flowmine-eventlog`): each reader, and what is promised of what it gives.

use flowmine_eventlog::read::input::Input;
use flowmine_eventlog::read::{Finding, Limits, Sink, detect_text};
use flowmine_eventlog::validate::validate_with;
use flowmine_eventlog::{Attribute, CaseHeader, LogError, Record, Types, Value};

use crate::{file_of, reached};

/// Limits that an input of a fuzzer can reach.
const SMALL: Limits = Limits { text_bytes: 60, record_bytes: 2000, depth: 9, definitions: 3 };

/// Takes what comes and panics where it is not as promised.
struct Checker {
    limits: Limits,
    in_trace: bool,
    bytes: Vec<u8>,
    again: Vec<u8>,
}

impl Checker {
    fn new(limits: Limits) -> Self {
        Self { limits, in_trace: false, bytes: Vec::new(), again: Vec::new() }
    }

    /// Says how the reading ended.
    fn end(&self, result: &Result<(), LogError>) {
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
fn check_finding(finding: &Finding) {
    assert!(finding.line != Some(0) && finding.column != Some(0) && !finding.rule.is_empty());
    let (place, message) = (&finding.place, &finding.message);
    assert!(place.len() + message.len() < 3000 && !place.chars().chain(message.chars()).any(char::is_control), "{finding:?}");
}

/// XES.
pub fn xes(bytes: &[u8]) {
    let _ = detect_text(bytes);
    for limits in [Limits::default(), SMALL] {
        let mut checker = Checker::new(limits);
        let result = Input::xml(bytes, &limits).and_then(|input| flowmine_eventlog::read::xes::read(input, &limits, &mut checker));
        reached(result.is_ok(), "XES");
        checker.end(&result);
    }
}

/// OCEL 2.0 as XML.
pub fn ocel_xml(bytes: &[u8]) {
    for limits in [Limits::default(), SMALL] {
        let mut checker = Checker::new(limits);
        let result = Input::xml(bytes, &limits).and_then(|input| flowmine_eventlog::read::ocel_xml::read(input, &limits, &mut checker));
        reached(result.is_ok(), "OCEL, XML");
        checker.end(&result);
    }
}

/// OCEL 2.0 as SQLite.
pub fn ocel_sqlite(bytes: &[u8]) {
    let Some(path) = file_of(bytes) else { return };
    for limits in [Limits::default(), SMALL] {
        let mut checker = Checker::new(limits);
        let result = flowmine_eventlog::read::ocel_sqlite::read(&path, &limits, &mut checker);
        reached(result.is_ok(), "OCEL, SQLite");
        checker.end(&result);
    }
}

/// What is said of what is JSON and is refused all the same.
const NOT_OF_JSON: [&str; 7] = ["nested deeper", "longer than", "larger than", "more than", "is no array", "is no object", "OCEL 1.0"];

/// OCEL as JSON.
pub fn ocel_json(bytes: &[u8]) {
    use flowmine_eventlog::read::ocel_json::{read, types};
    for limits in [Limits::default(), SMALL] {
        let types = Input::records(bytes, &limits).and_then(|input| types(input, &limits)).ok();
        let mut checker = Checker::new(limits);
        let result = Input::records(bytes, &limits).and_then(|input| read(input, &limits, types, &mut checker));
        reached(result.is_ok(), "OCEL, JSON");
        checker.end(&result);
        // Another parser of JSON is of the same mind.
        let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let theirs = serde_json::from_slice::<serde_json::Value>(text);
        let beyond = bytes.windows(2).any(|pair| pair == b"Na" || pair == b"In");
        match (result, theirs) {
            // They do not read numbers that are too large.
            (Ok(()), Err(error)) => {
                assert!(beyond || bytes.starts_with(&[0x1f, 0x8b]) || error.to_string().contains("out of range"), "{error}");
            }
            (Err(error), Ok(serde_json::Value::Object(_))) => {
                let error = error.to_string();
                assert!(NOT_OF_JSON.iter().any(|known| error.contains(known)), "{error}");
            }
            _ => {}
        }
    }
}

/// What `validate` says of any of them.
pub fn validate(bytes: &[u8]) {
    let Some(path) = file_of(bytes) else { return };
    for limits in [Limits::default(), SMALL] {
        let mut given = 0;
        let result = validate_with(&path, &limits, &mut |finding| {
            given += 1;
            check_finding(&finding);
        });
        if let Ok((_, summary)) = result {
            reached(true, "validate");
            assert_eq!(summary.errors + summary.warnings + summary.notes, given);
        }
    }
}

//! Records of a log, and batches of them in one piece of memory.
//!
//! A batch is what goes from thread to thread, through a merge, and to a temporary file and back:
//! lengths as variable-length integers (seven bits a byte, lowest first), text as UTF-8. The form
//! is internal and never outlives a run.

use std::borrow::Cow;
use std::sync::Arc;

use crate::attribute::{Attribute, Value};
use crate::error::LogError;

/// A relation to an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relation<'a> {
    /// The object's id.
    pub object: Cow<'a, str>,
    /// What the object is to the event or object that is related to it: OCEL's qualifier.
    pub qualifier: Cow<'a, str>,
}

/// An object of an object-centric log.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Object<'a> {
    /// Its id, unique among objects.
    pub id: Cow<'a, str>,
    /// Name of its type.
    pub kind: Cow<'a, str>,
    /// Attributes; one that changes stands once for each of its values, in the order of their
    /// times.
    pub attributes: Vec<Attribute<'a>>,
    /// Relations to other objects.
    pub relations: Vec<Relation<'a>>,
}

/// An event of an object-centric log.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Event<'a> {
    /// Its id, unique among events.
    pub id: Cow<'a, str>,
    /// Name of its type.
    pub kind: Cow<'a, str>,
    /// When it happened, UTC nanoseconds since 1970.
    pub time_ns: i64,
    /// Its attributes: those of its type that it has.
    pub attributes: Vec<Attribute<'a>>,
    /// Relations to objects.
    pub relations: Vec<Relation<'a>>,
}

/// A record of either kind of log.
#[derive(Debug, Clone, PartialEq)]
pub enum Record<'a> {
    /// An object of an object-centric log.
    Object(Object<'a>),
    /// An event of an object-centric log.
    Event(Event<'a>),
    /// The beginning of a trace, with its attributes.
    Trace(Vec<Attribute<'a>>),
    /// An event of the trace, with all its attributes (`concept:name`, `time:timestamp`, …).
    CaseEvent(Vec<Attribute<'a>>),
    /// The end of the trace.
    TraceEnd,
}

const OBJECT: u8 = 1;
const EVENT: u8 = 2;
const TRACE: u8 = 3;
const CASE_EVENT: u8 = 4;
const TRACE_END: u8 = 5;

impl<'a> Record<'a> {
    /// Appends the record's bytes.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Object(object) => {
                out.push(OBJECT);
                put_text(&object.id, out);
                put_text(&object.kind, out);
                put_attributes(&object.attributes, out);
                put_relations(&object.relations, out);
            }
            Self::Event(event) => {
                out.push(EVENT);
                put_text(&event.id, out);
                put_text(&event.kind, out);
                out.extend_from_slice(&event.time_ns.to_le_bytes());
                put_attributes(&event.attributes, out);
                put_relations(&event.relations, out);
            }
            Self::Trace(attributes) => {
                out.push(TRACE);
                put_attributes(attributes, out);
            }
            Self::CaseEvent(attributes) => {
                out.push(CASE_EVENT);
                put_attributes(attributes, out);
            }
            Self::TraceEnd => out.push(TRACE_END),
        }
    }

    /// Reads a record from exactly these bytes.
    ///
    /// # Errors
    /// [`LogError::Damaged`] when they are not those of a record.
    pub fn decode(bytes: &'a [u8]) -> Result<Self, LogError> {
        let mut rest = Rest(bytes);
        let record = match rest.byte()? {
            OBJECT => {
                Self::Object(Object { id: rest.text()?, kind: rest.text()?, attributes: rest.attributes()?, relations: rest.relations()? })
            }
            EVENT => Self::Event(Event {
                id: rest.text()?,
                kind: rest.text()?,
                time_ns: rest.i64()?,
                attributes: rest.attributes()?,
                relations: rest.relations()?,
            }),
            TRACE => Self::Trace(rest.attributes()?),
            CASE_EVENT => Self::CaseEvent(rest.attributes()?),
            TRACE_END => Self::TraceEnd,
            _ => return Err(LogError::Damaged),
        };
        if rest.0.is_empty() { Ok(record) } else { Err(LogError::Damaged) }
    }
}

fn put_length(mut length: usize, out: &mut Vec<u8>) {
    while length >= 0x80 {
        out.push(length as u8 | 0x80);
        length >>= 7;
    }
    out.push(length as u8);
}

fn put_text(text: &str, out: &mut Vec<u8>) {
    put_length(text.len(), out);
    out.extend_from_slice(text.as_bytes());
}

fn put_relations(relations: &[Relation<'_>], out: &mut Vec<u8>) {
    put_length(relations.len(), out);
    for relation in relations {
        put_text(&relation.object, out);
        put_text(&relation.qualifier, out);
    }
}

const HAS_SINCE: u8 = 0x40;
const HAS_CHILDREN: u8 = 0x80;

fn put_attributes(attributes: &[Attribute<'_>], out: &mut Vec<u8>) {
    put_length(attributes.len(), out);
    for attribute in attributes {
        put_text(&attribute.key, out);
        let flags = if attribute.since_ns.is_some() { HAS_SINCE } else { 0 } | if attribute.children.is_empty() { 0 } else { HAS_CHILDREN };
        match &attribute.value {
            Value::String(text) => {
                out.push(flags);
                put_text(text, out);
            }
            Value::Time(ns) => {
                out.push(flags | 1);
                out.extend_from_slice(&ns.to_le_bytes());
            }
            Value::Integer(number) => {
                out.push(flags | 2);
                out.extend_from_slice(&number.to_le_bytes());
            }
            Value::Float(number) => {
                out.push(flags | 3);
                out.extend_from_slice(&number.to_le_bytes());
            }
            Value::Boolean(truth) => {
                out.push(flags | 4);
                out.push(u8::from(*truth));
            }
            Value::Id(text) => {
                out.push(flags | 5);
                put_text(text, out);
            }
            Value::List(items) => {
                out.push(flags | 6);
                put_attributes(items, out);
            }
            Value::Container => out.push(flags | 7),
        }
        if let Some(ns) = attribute.since_ns {
            out.extend_from_slice(&ns.to_le_bytes());
        }
        if !attribute.children.is_empty() {
            put_attributes(&attribute.children, out);
        }
    }
}

struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn byte(&mut self) -> Result<u8, LogError> {
        let (&first, rest) = self.0.split_first().ok_or(LogError::Damaged)?;
        self.0 = rest;
        Ok(first)
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], LogError> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(LogError::Damaged)?;
        self.0 = rest;
        Ok(taken)
    }

    fn length(&mut self) -> Result<usize, LogError> {
        let mut length = 0;
        for shift in (0..usize::BITS).step_by(7) {
            let byte = self.byte()?;
            length |= usize::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(length);
            }
        }
        Err(LogError::Damaged)
    }

    fn eight(&mut self) -> Result<[u8; 8], LogError> {
        self.take(8)?.try_into().map_err(|_| LogError::Damaged)
    }

    fn i64(&mut self) -> Result<i64, LogError> {
        Ok(i64::from_le_bytes(self.eight()?))
    }

    fn text(&mut self) -> Result<Cow<'a, str>, LogError> {
        let length = self.length()?;
        std::str::from_utf8(self.take(length)?).map(Cow::Borrowed).map_err(|_| LogError::Damaged)
    }

    fn relations(&mut self) -> Result<Vec<Relation<'a>>, LogError> {
        let count = self.length()?;
        // A damaged count must not reserve memory: no relation is shorter than two bytes.
        let mut relations = Vec::with_capacity(count.min(self.0.len() / 2));
        for _ in 0..count {
            relations.push(Relation { object: self.text()?, qualifier: self.text()? });
        }
        Ok(relations)
    }

    fn attributes(&mut self) -> Result<Vec<Attribute<'a>>, LogError> {
        let count = self.length()?;
        let mut attributes = Vec::with_capacity(count.min(self.0.len() / 3));
        for _ in 0..count {
            let key = self.text()?;
            let flags = self.byte()?;
            let value = match flags & 0x3f {
                0 => Value::String(self.text()?),
                1 => Value::Time(self.i64()?),
                2 => Value::Integer(self.i64()?),
                3 => Value::Float(f64::from_le_bytes(self.eight()?)),
                4 => Value::Boolean(self.byte()? != 0),
                5 => Value::Id(self.text()?),
                6 => Value::List(self.attributes()?),
                7 => Value::Container,
                _ => return Err(LogError::Damaged),
            };
            let since_ns = if flags & HAS_SINCE != 0 { Some(self.i64()?) } else { None };
            let children = if flags & HAS_CHILDREN != 0 { self.attributes()? } else { Vec::new() };
            attributes.push(Attribute { key, value, since_ns, children });
        }
        Ok(attributes)
    }
}

/// Appends an encoded event that has no id yet, with one. `false`, and nothing appended, when the
/// bytes are not those of such an event.
pub fn give_event_id(bytes: &[u8], id: &str, out: &mut Vec<u8>) -> bool {
    let [EVENT, 0, rest @ ..] = bytes else { return false };
    out.push(EVENT);
    put_text(id, out);
    out.extend_from_slice(rest);
    true
}

/// Whether these are the bytes of a trace.
pub(crate) fn is_trace(bytes: &[u8]) -> bool {
    bytes.first() == Some(&TRACE)
}

/// Whether these are the bytes of an event of a trace.
pub(crate) fn is_case_event(bytes: &[u8]) -> bool {
    bytes.first() == Some(&CASE_EVENT)
}

/// Records in one piece of memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Batch {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// The bytes of the trace that the first record is in the middle of, or nothing. They are
    /// shared by all batches of the trace.
    open_trace: Option<Arc<[u8]>>,
}

impl Batch {
    /// Number of records.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no record.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Number of bytes that its records take when encoded.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// The records in order, each decoded.
    pub fn records(&self) -> impl Iterator<Item = Result<Record<'_>, LogError>> {
        self.pieces().map(Record::decode)
    }

    /// The records in order, each as its bytes.
    pub fn pieces(&self) -> impl Iterator<Item = &[u8]> {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let piece = &self.bytes[start..end];
            start = end;
            piece
        })
    }

    /// The attributes of the trace that goes on from the batch before, if one does.
    ///
    /// # Errors
    /// When the batch is damaged.
    pub fn open_trace(&self) -> Result<Option<Vec<Attribute<'_>>>, LogError> {
        let Some(trace) = &self.open_trace else { return Ok(None) };
        match Record::decode(trace)? {
            Record::Trace(attributes) => Ok(Some(attributes)),
            _ => Err(LogError::Damaged),
        }
    }
}

/// Makes batches of records that are added one by one; see [`BATCH_BYTES`].
#[derive(Debug, Default)]
pub struct BatchBuilder {
    batch: Batch,
    /// The trace that is open.
    trace: Vec<u8>,
    /// The same, once a batch has ended within it.
    shared: Option<Arc<[u8]>>,
}

/// How many bytes a batch has before it goes out. A single record can be larger.
pub const BATCH_BYTES: usize = 256 * 1024;

impl BatchBuilder {
    /// Adds a record and gives the batch when it is full.
    pub fn push(&mut self, record: &Record<'_>) -> Option<Batch> {
        let start = self.batch.bytes.len();
        record.encode(&mut self.batch.bytes);
        self.pushed(start)
    }

    /// Adds a record that is already encoded.
    pub fn push_piece(&mut self, piece: &[u8]) -> Option<Batch> {
        let start = self.batch.bytes.len();
        self.batch.bytes.extend_from_slice(piece);
        self.pushed(start)
    }

    fn pushed(&mut self, start: usize) -> Option<Batch> {
        let piece = &self.batch.bytes[start..];
        match piece.first() {
            Some(&TRACE) => {
                self.trace.clear();
                self.trace.extend_from_slice(piece);
                self.shared = None;
            }
            Some(&TRACE_END) => {
                self.trace.clear();
                self.shared = None;
            }
            _ => {}
        }
        self.batch.ends.push(self.batch.bytes.len());
        if self.batch.bytes.len() < BATCH_BYTES {
            return None;
        }
        Some(self.take())
    }

    fn take(&mut self) -> Batch {
        if self.shared.is_none() && !self.trace.is_empty() {
            self.shared = Some(Arc::from(self.trace.as_slice()));
        }
        let next = Batch { bytes: Vec::with_capacity(BATCH_BYTES + BATCH_BYTES / 8), ends: Vec::new(), open_trace: self.shared.clone() };
        std::mem::replace(&mut self.batch, next)
    }

    /// The last batch; `None` when it would have no record.
    pub fn finish(mut self) -> Option<Batch> {
        (!self.batch.is_empty()).then(|| self.take())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested() -> Record<'static> {
        let mut outer = Attribute::text("outer", "ä\u{0}b").since(-5);
        outer.children = vec![Attribute::new("float", Value::Float(-0.5)), Attribute::new("bool", Value::Boolean(true))];
        let list = Attribute::new("list", Value::List(vec![Attribute::integer("", i64::MIN), Attribute::time("t", i64::MAX)]));
        let attributes = vec![outer, list, Attribute::new("c", Value::Container), Attribute::new("id", Value::Id("x".into()))];
        let relations = vec![Relation { object: "o".repeat(300).into(), qualifier: "".into() }];
        Record::Event(Event { id: "e1".into(), kind: "job started".into(), time_ns: 7, attributes, relations })
    }

    #[test]
    fn a_record_survives() {
        let mut bytes = Vec::new();
        nested().encode(&mut bytes);
        assert_eq!(Record::decode(&bytes).unwrap(), nested());
        for cut in 0..bytes.len() {
            assert!(Record::decode(&bytes[..cut]).is_err());
        }
    }

    #[test]
    fn a_batch_knows_the_trace_that_goes_on() {
        let mut builder = BatchBuilder::default();
        let trace = Record::Trace(vec![Attribute::text("concept:name", "case 1")]);
        assert!(builder.push(&trace).is_none());
        let event = Record::CaseEvent(vec![Attribute::text("concept:name", "a".repeat(BATCH_BYTES))]);
        let first = builder.push(&event).unwrap();
        assert_eq!((first.len(), first.open_trace().unwrap()), (2, None));
        builder.push(&Record::TraceEnd);
        let second = builder.finish().unwrap();
        assert_eq!(second.open_trace().unwrap(), Some(vec![Attribute::text("concept:name", "case 1")]));
        assert_eq!(second.records().next().unwrap().unwrap(), Record::TraceEnd);
    }
}

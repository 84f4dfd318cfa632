//! What a log is to a writer: something that can be walked through, more than once, in an order
//! that does not change.

use std::collections::VecDeque;

use crate::attribute::{Attribute, ValueType};
use crate::error::LogError;
use crate::record::{Batch, BatchBuilder};

/// Batches of records in order.
pub type Batches<'a> = Box<dyn Iterator<Item = Result<Batch, LogError>> + Send + 'a>;

/// A type of events or objects with its attributes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TypeDef {
    /// Name of the type.
    pub name: String,
    /// Its attributes, each once, in the order in which they are written.
    pub attributes: Vec<(String, ValueType)>,
}

/// The types of an object-centric log.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Types {
    /// The types of events.
    pub events: Vec<TypeDef>,
    /// The types of objects.
    pub objects: Vec<TypeDef>,
}

/// An object-centric log: OCEL 2.0 without its file.
///
/// The type of each record is in [`ObjectLog::types`], with all attributes of the record; the
/// values have the declared types. Ids are unique among objects and among events, and each relation
/// leads to an existing object.
pub trait ObjectLog: Sync {
    /// The types of its events and objects.
    fn types(&self) -> &Types;
    /// Its objects: [`Record::Object`](crate::Record::Object) only.
    fn objects(&self) -> Batches<'_>;
    /// Its events by time: [`Record::Event`](crate::Record::Event) only.
    fn events(&self) -> Batches<'_>;
}

/// An XES extension that a log uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extension {
    /// Name of the extension, such as `Concept`.
    pub name: String,
    /// Prefix of its keys without the colon, such as `concept`.
    pub prefix: String,
    /// URI of its definition, such as `http://www.xes-standard.org/concept.xesext`.
    pub uri: String,
}

/// A classifier: which attributes of an event make its label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classifier {
    /// Its name, without spaces.
    pub name: String,
    /// The keys of the attributes.
    pub keys: Vec<String>,
}

impl Classifier {
    /// A classifier by these keys.
    pub fn new(name: &str, keys: &[&str]) -> Self {
        Self { name: name.to_owned(), keys: keys.iter().map(|&key| key.to_owned()).collect() }
    }
}

/// Header of an XES file: its contents before the traces.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CaseHeader {
    /// The extensions that the log uses.
    pub extensions: Vec<Extension>,
    /// Attributes that every trace has, with their defaults.
    pub trace_globals: Vec<Attribute<'static>>,
    /// Attributes that every event has, with their defaults.
    pub event_globals: Vec<Attribute<'static>>,
    /// Classifiers of events.
    pub classifiers: Vec<Classifier>,
    /// Attributes of the log itself.
    pub attributes: Vec<Attribute<'static>>,
}

/// A log of cases: XES without its file.
pub trait CaseLog: Sync {
    /// What holds for all traces.
    fn header(&self) -> &CaseHeader;
    /// [`Record::Trace`](crate::Record::Trace), then its
    /// [`Record::CaseEvent`](crate::Record::CaseEvent)s, then
    /// [`Record::TraceEnd`](crate::Record::TraceEnd), for each trace. A trace can go over several
    /// batches.
    fn traces(&self) -> Batches<'_>;
}

/// Batches made anew of others: `step` puts what it makes of one into the builder, and what that
/// gives into the queue. After an error nothing comes.
pub(crate) fn rebatched<'a>(
    mut batches: Batches<'a>,
    mut step: impl FnMut(&Batch, &mut BatchBuilder, &mut VecDeque<Batch>) -> Result<(), LogError> + Send + 'a,
) -> Batches<'a> {
    let mut builder = Some(BatchBuilder::default());
    let mut ready = VecDeque::new();
    Box::new(std::iter::from_fn(move || {
        loop {
            if let Some(batch) = ready.pop_front() {
                return Some(Ok(batch));
            }
            let filling = builder.as_mut()?;
            match batches.next().map(|batch| batch.and_then(|batch| step(&batch, filling, &mut ready))) {
                Some(Ok(())) => {}
                Some(Err(error)) => {
                    builder = None;
                    return Some(Err(error));
                }
                None => ready.extend(builder.take().and_then(BatchBuilder::finish)),
            }
        }
    }))
}

/// What a writer wrote, and what it could not write as it was.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Number of events.
    pub events: u64,
    /// Number of objects.
    pub objects: u64,
    /// Number of traces.
    pub traces: u64,
    /// Relations from events to objects.
    pub event_relations: u64,
    /// Number of relations between objects.
    pub object_relations: u64,
    /// Characters that the format cannot carry and that were written visibly instead (`\x01`).
    pub replaced_characters: u64,
    /// Number of values that the format cannot hold unchanged: nested attributes and lists outside
    /// of XES, numbers that are not finite in JSON, truncated times; in SQLite also attributes with
    /// a column of another name.
    pub simplified_values: u64,
    /// Records that say the same as one before and that the format cannot hold twice.
    pub repeated: u64,
    /// Traces that got a name in a table, because they had none or that of an earlier one
    /// ([`crate::case_names`]).
    pub renamed_cases: u64,
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.events += other.events;
        self.objects += other.objects;
        self.traces += other.traces;
        self.event_relations += other.event_relations;
        self.object_relations += other.object_relations;
        self.replaced_characters += other.replaced_characters;
        self.simplified_values += other.simplified_values;
        self.repeated += other.repeated;
        self.renamed_cases += other.renamed_cases;
    }
}

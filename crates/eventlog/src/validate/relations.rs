//! Ids of events and objects and the targets of relations, in; ids that are there twice and relations
//! to objects that are not there, out.

use flowmine_spill::Sorter;

use crate::error::LogError;
use crate::read::ocel_sqlite::{FINDINGS_A_RULE, Report};
use crate::read::{Severity, shown};
use crate::record::{Record, Relation};

// What a key begins with.
const OBJECT: u8 = 0;
const EVENT: u8 = 1;

// What a value begins with.
const IS_THERE: u8 = 0;
const FROM_EVENT: u8 = 1;
const FROM_OBJECT: u8 = 2;

/// The words of a format for its parts.
pub(super) struct Names<'n> {
    /// The place of the relations of an event (or an object) with this id.
    pub source: &'n dyn Fn(bool, &str) -> String,
    /// Where objects are.
    pub objects: &'n str,
}

/// Ids and targets of relations, sorted outside of memory where they are many.
#[derive(Default)]
pub(super) struct Ids(Sorter);

impl Ids {
    pub(super) fn record(&mut self, record: &Record<'_>) -> Result<(), LogError> {
        match record {
            Record::Object(object) => {
                self.push(OBJECT, &object.id, &[IS_THERE])?;
                self.relations(FROM_OBJECT, &object.id, &object.relations)
            }
            Record::Event(event) => {
                self.push(EVENT, &event.id, &[IS_THERE])?;
                self.relations(FROM_EVENT, &event.id, &event.relations)
            }
            _ => Ok(()),
        }
    }

    fn push(&mut self, kind: u8, id: &str, value: &[u8]) -> Result<(), LogError> {
        let key = [&[kind], id.as_bytes()].concat();
        self.0.push(&key, |out| out.extend_from_slice(value)).map_err(Into::into)
    }

    fn relations(&mut self, tag: u8, from: &str, relations: &[Relation<'_>]) -> Result<(), LogError> {
        let value = [&[tag], from.as_bytes()].concat();
        relations.iter().try_for_each(|relation| self.push(OBJECT, &relation.object, &value))
    }

    /// Reports what is wrong with them.
    pub(super) fn finish(self, names: &Names<'_>, report: &mut Report) -> Result<(), LogError> {
        let sorted = self.0.finish()?;
        let mut walk = sorted.walk()?;
        let mut of_id = OfId::default();
        while let Some((key, value)) = walk.next()? {
            if key != of_id.key {
                std::mem::take(&mut of_id).report(names, report)?;
                of_id.key = key.to_vec();
            }
            of_id.see(value);
        }
        of_id.report(names, report)
    }
}

/// What there is of one id.
#[derive(Default)]
struct OfId {
    key: Vec<u8>,
    there: u64,
    /// The first relations to it, which can come before the object.
    waiting: Vec<Vec<u8>>,
    /// The number of further ones.
    more: u64,
}

impl OfId {
    fn see(&mut self, value: &[u8]) {
        if value.first() == Some(&IS_THERE) {
            self.there += 1;
        } else if (self.waiting.len() as u64) < FINDINGS_A_RULE {
            self.waiting.push(value.to_vec());
        } else {
            self.more += 1;
        }
    }

    fn report(self, names: &Names<'_>, report: &mut Report) -> Result<(), LogError> {
        let Some((&kind, id)) = self.key.split_first() else { return Ok(()) };
        let id = shown(&String::from_utf8_lossy(id));
        if self.there > 1 {
            let (rule, what) = if kind == EVENT { ("duplicate_event_id", "event") } else { ("duplicate_object_id", "object") };
            let message = || format!("the id is there {} times; give each its own id", self.there);
            report.add(Severity::Error, rule, || format!("{what} {id}"), message);
        }
        if self.there > 0 {
            return Ok(());
        }
        for from in &self.waiting {
            let (&tag, from) = from.split_first().ok_or(LogError::Damaged)?;
            let place = || (names.source)(tag == FROM_EVENT, &String::from_utf8_lossy(from));
            let message = || format!("it leads to the object {id}, which is not in {}; add it or remove the relation", names.objects);
            report.add(Severity::Error, "dangling_relation", place, message);
        }
        report.count("dangling_relation", self.more);
        Ok(())
    }
}

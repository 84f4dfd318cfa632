//! Rules for the records of logs of other programs, applied before anything else reads the records:
//! names are replaced, attributes are left out.
//!
//! Such a log does not declare which of its attributes hold names. So with a pseudonymiser every
//! text is replaced, whatever its attribute: ids of objects and events, names of traces and events,
//! and all values that are text or identifiers, part by part where they are paths, with known
//! extensions kept. What stays are the log's own terms (types of objects, qualifiers, keys of
//! attributes, extensions, classifiers), numbers, times and truth values, and of values only
//! transitions of the standard lifecycle and states of Slurm. The type of an event is its activity,
//! which can be the name of a task: the kind of event stays (`name-1f00c0de submitted`), and so do
//! flowmine's own types of events.

use std::borrow::Cow;

use flowmine_correlate::state::{self, LEFT, Phase};
use flowmine_eventlog::{Attribute, CaseHeader, Record, Relation, Types, Value};
use flowmine_privacy::pseudonym::Pseudonymiser;

use crate::job_log;

/// The rules. The default changes nothing.
#[derive(Debug, Clone, Default)]
pub struct LogRules {
    /// What replaces names; `None`: they stay.
    pub pseudonymiser: Option<Pseudonymiser>,
    /// Keys of attributes that are left out, of whatever they are.
    pub drop: Vec<String>,
}

/// The values of `lifecycle:model` and `lifecycle:transition` in the standard models.
const LIFECYCLE: [&str; 18] = [
    "assign",
    "ate_abort",
    "autoskip",
    "complete",
    "manualskip",
    "pi_abort",
    "reassign",
    "resume",
    "schedule",
    "start",
    "suspend",
    "unknown",
    "withdraw",
    "standard",
    "bpaf",
    "closed",
    "open",
    "running",
];

/// What happens to tasks ([`crate::task_log::objects`]).
const HAPPENED: [&str; 8] = ["queued", "submitted", "started", "finished", "failed", "aborted", "cached", "ended"];

/// Whether the type of an event is one that flowmine gives whatever the names of jobs, tasks and
/// files are.
fn is_own_event_type(kind: &str) -> bool {
    matches!(kind, "read file" | "wrote file" | "process started" | "process ended") || job_log::objects::is_event_type(kind)
}

impl LogRules {
    /// Whether records come out as they are.
    pub fn is_empty(&self) -> bool {
        self.pseudonymiser.is_none() && self.drop.is_empty()
    }

    /// Applies the rules to a record: pseudonyms, and attributes that are dropped.
    pub fn record<'r>(&self, mut record: Record<'r>) -> Record<'r> {
        match &mut record {
            Record::Object(object) => {
                self.name(&mut object.id);
                self.attributes(&mut object.attributes);
                self.relations(&mut object.relations);
            }
            Record::Event(event) => {
                self.name(&mut event.id);
                self.event_type(&mut event.kind);
                self.attributes(&mut event.attributes);
                self.relations(&mut event.relations);
            }
            Record::Trace(attributes) | Record::CaseEvent(attributes) => self.attributes(attributes),
            Record::TraceEnd => {}
        }
        record
    }

    /// Applies the rules to the header of an XES file (the elements before its traces).
    pub fn header(&self, mut header: CaseHeader) -> CaseHeader {
        self.attributes(&mut header.attributes);
        self.attributes(&mut header.trace_globals);
        self.attributes(&mut header.event_globals);
        header
    }

    /// Types without the attributes that are left out.
    pub fn types(&self, mut types: Types) -> Types {
        for def in types.events.iter_mut().chain(&mut types.objects) {
            def.attributes.retain(|(key, _)| !self.drop.contains(key));
        }
        for def in &mut types.events {
            let mut name = Cow::Borrowed(def.name.as_str());
            self.event_type(&mut name);
            def.name = name.into_owned();
        }
        types
    }

    fn name(&self, name: &mut Cow<'_, str>) {
        if let Some(pseudonymiser) = &self.pseudonymiser
            && !name.is_empty()
        {
            *name = pseudonymiser.path(name).into();
        }
    }

    /// The type of an event, which has what it happened to in its name.
    fn event_type(&self, kind: &mut Cow<'_, str>) {
        if self.pseudonymiser.is_none() || is_own_event_type(kind) {
            return;
        }
        let (of, happened) = match kind.rsplit_once(' ') {
            Some((of, happened)) if HAPPENED.contains(&happened) => (of, Some(happened)),
            _ => (kind.as_ref(), None),
        };
        let mut name = Cow::Owned(of.to_owned());
        self.name(&mut name);
        *kind = happened.map_or_else(|| name.to_string(), |happened| format!("{name} {happened}")).into();
    }

    fn relations(&self, relations: &mut [Relation<'_>]) {
        relations.iter_mut().for_each(|relation| self.name(&mut relation.object));
    }

    fn attributes(&self, attributes: &mut Vec<Attribute<'_>>) {
        attributes.retain(|attribute| !self.drop.iter().any(|key| attribute.key == *key));
        for attribute in attributes {
            match &mut attribute.value {
                Value::String(text) if is_word(&attribute.key, text) => {}
                Value::String(text) => self.name(text),
                // A code is no UUID, which XES wants of an identifier.
                Value::Id(text) => {
                    self.name(text);
                    if self.pseudonymiser.is_some() {
                        attribute.value = Value::String(std::mem::take(text));
                    }
                }
                Value::List(items) => self.attributes(items),
                _ => {}
            }
            self.attributes(&mut attribute.children);
        }
    }
}

/// Whether a value is a word of a standard or of Slurm under a key that holds such words.
fn is_word(key: &str, value: &str) -> bool {
    match key {
        "lifecycle:transition" | "lifecycle:model" | "lifecycle" => LIFECYCLE.iter().any(|word| value.eq_ignore_ascii_case(word)),
        "slurm:state" | "state" => value == LEFT || state::phase(value) != Phase::Other,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use flowmine_eventlog::Object;

    use super::*;

    #[test]
    fn every_text_is_replaced_and_structure_stays() {
        let dir = tempfile::tempdir().unwrap();
        let key = dir.path().join("key");
        std::fs::write(&key, "a key of more than sixteen bytes").unwrap();
        let pseudonymiser = Pseudonymiser::from_key_file(&key).unwrap().0;
        let rules = LogRules { pseudonymiser: Some(pseudonymiser.clone()), drop: vec!["note".to_owned()] };
        let mut nested = Attribute::text("path", "/home/alice/x.bam");
        nested.children = vec![Attribute::text("note", "alice"), Attribute::new("by", Value::Id("alice".into()))];
        let list = Attribute::new("list", Value::List(vec![Attribute::text("", "alice"), Attribute::integer("", 7)]));
        let word = Attribute::text("lifecycle:transition", "complete");
        let forged = Attribute::text("lifecycle:transition", "alice");
        let object = Object {
            id: "alice".into(),
            kind: "user".into(),
            attributes: vec![nested, Attribute::text("note", "alice"), list, word, forged],
            relations: vec![Relation { object: "alice".into(), qualifier: "is".into() }],
        };
        let Record::Object(after) = rules.record(Record::Object(object)) else { panic!("an object") };
        assert!(!format!("{after:?}").contains("alice") && !format!("{after:?}").contains("note"), "{after:?}");
        assert_eq!(after.id, pseudonymiser.path("alice"));
        assert_eq!(after.relations[0].object, after.id);
        assert_eq!((after.kind.as_ref(), after.attributes.len(), after.attributes[0].children.len()), ("user", 4, 1));
        assert!(matches!(&after.attributes[0].value, Value::String(path) if path.starts_with("/name-") && path.ends_with(".bam")));
        assert_eq!(after.attributes[2].value, Value::String("complete".into()));
        assert!(matches!(&after.attributes[1].value, Value::List(items) if items[1].value == Value::Integer(7)));
        assert_eq!(LogRules::default().record(Record::TraceEnd), Record::TraceEnd);
    }
}

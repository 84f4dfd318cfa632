//! The types of a log as its records show them.

use std::borrow::Cow;

use flowmine_eventlog::read::Severity;
use flowmine_eventlog::time::rfc3339;
use flowmine_eventlog::{Attribute, Event, Object, TypeDef, Types, Value, ValueType};
use rustc_hash::FxHashMap;

use super::{Findings, found};

/// Event and object types with their attributes.
#[derive(Debug, Default)]
pub struct TypeTable {
    events: Side,
    objects: Side,
}

#[derive(Debug, Default)]
struct Side {
    defs: Vec<TypeDef>,
    by_name: FxHashMap<String, usize>,
    attributes: FxHashMap<(usize, String), usize>,
    /// Whether some value does not fit the type that its attribute was declared with.
    mixed: bool,
}

/// The narrowest type that holds values of both.
pub fn widen(a: ValueType, b: ValueType) -> ValueType {
    match (plain(a), plain(b)) {
        (a, b) if a == b => a,
        (ValueType::Integer, ValueType::Float) | (ValueType::Float, ValueType::Integer) => ValueType::Float,
        _ => ValueType::String,
    }
}

/// The type of OCEL 2.0 for a type of XES.
fn plain(kind: ValueType) -> ValueType {
    match kind {
        ValueType::Id | ValueType::List | ValueType::Container => ValueType::String,
        kind => kind,
    }
}

impl Side {
    fn declare(&mut self, defs: Vec<TypeDef>) {
        for def in defs {
            let at = self.type_of(&def.name);
            for (name, kind) in def.attributes {
                self.attribute(at, &name, kind);
            }
        }
    }

    fn type_of(&mut self, name: &str) -> usize {
        if let Some(&at) = self.by_name.get(name) {
            return at;
        }
        self.defs.push(TypeDef { name: name.to_owned(), attributes: Vec::new() });
        self.by_name.insert(name.to_owned(), self.defs.len() - 1);
        self.defs.len() - 1
    }

    /// Whether the attribute is new.
    fn attribute(&mut self, of: usize, name: &str, kind: ValueType) -> bool {
        let attributes = &mut self.defs[of].attributes;
        match self.attributes.get(&(of, name.to_owned())) {
            Some(&at) => {
                let wide = widen(attributes[at].1, kind);
                // Whole numbers are floating-point numbers too, but every writer should say so.
                self.mixed |= wide != plain(kind) || wide != attributes[at].1;
                attributes[at].1 = wide;
                false
            }
            None => {
                attributes.push((name.to_owned(), plain(kind)));
                self.attributes.insert((of, name.to_owned()), attributes.len() - 1);
                true
            }
        }
    }

    fn see(&mut self, what: &str, id: &str, kind: &str, attributes: &[Attribute<'_>], declared: bool, findings: &mut Findings) {
        let known = self.by_name.contains_key(kind);
        let at = self.type_of(kind);
        if declared && !known {
            findings.push(found(Severity::Warning, "undeclared_type", id, format!("the {what} type {kind:?} is not declared; it is now")));
        }
        for attribute in attributes {
            let new = self.attribute(at, &attribute.key, attribute.value.kind());
            if declared && new {
                let message = format!("the attribute {:?} of the {what} type {kind:?} is not declared; it is now", attribute.key);
                findings.push(found(Severity::Warning, "undeclared_attribute", id, message));
            }
        }
    }

    fn conform(&self, kind: &str, attributes: &mut [Attribute<'_>]) {
        let Some(def) = self.by_name.get(kind).map(|&at| &self.defs[at]) else { return };
        for attribute in attributes {
            if let Some((_, kind)) = def.attributes.iter().find(|(name, _)| *name == attribute.key) {
                attribute.value = as_kind(std::mem::replace(&mut attribute.value, Value::Container), *kind);
            }
        }
    }
}

/// The value in a type that [`widen`] gave for it.
fn as_kind(value: Value<'_>, kind: ValueType) -> Value<'_> {
    match (value, kind) {
        (Value::Integer(number), ValueType::Float) => Value::Float(number as f64),
        (Value::Integer(number), ValueType::String) => Value::String(number.to_string().into()),
        (Value::Float(number), ValueType::String) => Value::String(number.to_string().into()),
        (Value::Boolean(truth), ValueType::String) => Value::String(Cow::Borrowed(if truth { "true" } else { "false" })),
        (Value::Time(ns), ValueType::String) => Value::String(rfc3339(ns).into()),
        (value, _) => value,
    }
}

impl TypeTable {
    /// Takes types that a file declares.
    pub fn declare(&mut self, types: Types) {
        self.events.declare(types.events);
        self.objects.declare(types.objects);
    }

    /// Takes an object of an OCEL file.
    pub fn see_object(&mut self, object: &Object<'_>, findings: &mut Findings) {
        self.objects.see("object", &object.id, &object.kind, &object.attributes, true, findings);
    }

    /// Takes an event of an OCEL file.
    pub fn see_event(&mut self, event: &Event<'_>, findings: &mut Findings) {
        self.events.see("event", &event.id, &event.kind, &event.attributes, true, findings);
    }

    /// Takes an object or an event of which no declaration is expected.
    pub fn learn(&mut self, is_event: bool, kind: &str, attributes: &[Attribute<'_>]) {
        let side = if is_event { &mut self.events } else { &mut self.objects };
        side.see("", "", kind, attributes, false, &mut Findings::default());
    }

    /// Whether objects, or events, must be brought into their types by
    /// [`TypeTable::conform_object`] and the like.
    pub fn is_mixed(&self, events: bool) -> bool {
        if events { self.events.mixed } else { self.objects.mixed }
    }

    /// Brings the values of an object into the types of its attributes.
    pub fn conform_object(&self, object: &mut Object<'_>) {
        self.objects.conform(&object.kind, &mut object.attributes);
    }

    /// Brings the values of an event into the types of its attributes.
    pub fn conform_event(&self, event: &mut Event<'_>) {
        self.events.conform(&event.kind, &mut event.attributes);
    }

    /// All types that were declared or seen so far.
    pub fn types(&self) -> Types {
        Types { events: self.events.defs.clone(), objects: self.objects.defs.clone() }
    }
}

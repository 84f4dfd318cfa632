//! The rules of OCEL 2.0 that hold in JSON and in XML: types, ids, attributes, values, times,
//! relations.

use std::collections::{HashMap, HashSet};

use super::fault::Fault;
use super::ids::Ids;
use super::lexical::{self, Form};
use super::report::Report;
use super::rules::{self, Rule, SHOWN};
use crate::attribute::ValueType;
use crate::read::input::Position;
use crate::read::{Limits, shown};
use crate::time::{NotATime, parse};

/// Whether events or objects are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Event,
    Object,
}

impl Side {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Event => "event",
            Self::Object => "object",
        }
    }
}

/// A text of the file and where it stands.
pub(super) type Placed = (String, Position);

/// A declared type as written in the file.
#[derive(Debug, Default)]
pub(super) struct SeenType {
    pub(super) name: Option<Placed>,
    /// Names and types of its attributes.
    pub(super) attributes: Vec<(Option<Placed>, Option<Placed>)>,
}

/// A value as written in the file.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Given {
    Text(String),
    /// A JSON number.
    Number(String),
    /// A JSON boolean.
    Truth(bool),
}

/// An attribute of an event or object as written in the file.
#[derive(Debug)]
pub(super) struct SeenAttribute {
    pub(super) name: Option<Placed>,
    pub(super) value: Option<(Given, Position)>,
    pub(super) time: Option<Placed>,
    /// Where it is within the record.
    pub(super) index: u64,
}

/// A relation as written in the file.
#[derive(Debug)]
pub(super) struct SeenRelation {
    pub(super) object: Option<Placed>,
    pub(super) qualifier: Option<String>,
    /// Where it is within the record.
    pub(super) index: u64,
}

/// An event or object as written in the file.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) id: Option<Placed>,
    pub(super) kind: Option<Placed>,
    pub(super) time: Option<Placed>,
    pub(super) attributes: Vec<SeenAttribute>,
    pub(super) relations: Vec<SeenRelation>,
}

impl Seen {
    /// Adds an attribute of the record; more than [`PARTS`] are refused.
    pub(super) fn push_attribute(&mut self, attribute: SeenAttribute, at: Position) -> Result<(), Fault> {
        if self.attributes.len() >= PARTS {
            return Err(Fault::too_large(at, format!("a record has more than {PARTS} attributes")));
        }
        if attribute.name.is_some() || attribute.time.is_some() {
            self.attributes.push(attribute);
        }
        Ok(())
    }

    /// Adds a relation of the record; more than [`PARTS`] are refused.
    pub(super) fn push_relation(&mut self, relation: SeenRelation, at: Position) -> Result<(), Fault> {
        if self.relations.len() >= PARTS {
            return Err(Fault::too_large(at, format!("a record has more than {PARTS} relations")));
        }
        if relation.object.is_some() {
            self.relations.push(relation);
        }
        Ok(())
    }

    pub(super) fn clear(&mut self) {
        (self.id, self.kind, self.time) = (None, None, None);
        self.attributes.clear();
        self.relations.clear();
    }
}

/// A type that was declared, with its attributes.
#[derive(Debug, Clone, Default)]
struct Declared {
    attributes: HashMap<String, ValueType>,
    /// Known from looking further behind; the walk has not come to it.
    looked_up: bool,
}

#[derive(Debug, Default)]
struct SideState {
    types: HashMap<String, Declared>,
    ids: Ids,
    records: u64,
}

/// What a walk through a file is for.
#[derive(Debug)]
pub(super) enum Purpose {
    /// To check the file against the standard.
    Check,
    /// To know the types that stand behind the records.
    Types,
    /// To know the texts at these places, in the order of the file.
    Texts(Vec<(Position, Option<String>)>),
}

/// More attributes or relations of one record are refused: the smallest take more memory than their
/// text.
pub(super) const PARTS: usize = 1_000_000;

/// Maximum number of attributes in all types together, per definition that the limits allow.
const ATTRIBUTES_A_DEFINITION: usize = 10;

/// The rules of OCEL 2.0, with what they have to remember of the file.
pub(super) struct Ocel {
    pub(super) purpose: Purpose,
    limits: Limits,
    /// RFC 3339 in JSON, xs:dateTime in XML.
    date_time: fn(&str) -> Form,
    is_xml: bool,
    sides: [SideState; 2],
    types_known: [bool; 2],
    objects_complete: bool,
    /// Names of attributes of all types of events and of objects.
    names: HashSet<(bool, String)>,
    /// How many attributes are declared.
    attributes: usize,
    /// Bytes of all declared names.
    name_bytes: usize,
}

impl Ocel {
    pub(super) fn new(is_xml: bool, purpose: Purpose, limits: Limits) -> Self {
        Self {
            purpose,
            limits,
            date_time: if is_xml { lexical::date_time } else { lexical::rfc3339 },
            is_xml,
            sides: Default::default(),
            types_known: [false; 2],
            objects_complete: false,
            names: HashSet::new(),
            attributes: 0,
            name_bytes: 0,
        }
    }

    fn side(&mut self, side: Side) -> &mut SideState {
        let [events, objects] = &mut self.sides;
        match side {
            Side::Event => events,
            Side::Object => objects,
        }
    }

    /// How many events and objects there were.
    pub(super) fn records(&self) -> [u64; 2] {
        [self.sides[0].records, self.sides[1].records]
    }

    /// Says that the types of a side have been declared.
    pub(super) fn types_end(&mut self, side: Side) {
        self.types_known[usize::from(side == Side::Object)] = true;
    }

    /// Whether types have to be looked up further behind before the records of this side can be
    /// checked.
    pub(super) fn needs_types(&self, side: Side) -> bool {
        matches!(self.purpose, Purpose::Check) && !self.types_known[usize::from(side == Side::Object)]
    }

    /// Takes over the types of another walk.
    pub(super) fn borrow_types(&mut self, other: &Self) {
        for ((mine, theirs), known) in self.sides.iter_mut().zip(&other.sides).zip(&mut self.types_known) {
            if !*known {
                mine.types.clone_from(&theirs.types);
                mine.types.values_mut().for_each(|declared| declared.looked_up = true);
                *known = true;
            }
        }
    }

    /// Says whether all objects have been declared.
    pub(super) fn objects_complete(&mut self, complete: bool) {
        self.objects_complete = complete;
    }

    /// Takes the declaration of a type and reports what is wrong with it.
    pub(super) fn declare(&mut self, side: Side, seen: SeenType, report: &mut Report<'_>, place: &dyn Fn() -> String) -> Result<(), Fault> {
        let Some((name, at)) = seen.name else { return Ok(()) };
        if name.is_empty() {
            report.add(&rules::EMPTY_NAME, at, place, || format!("an {} type has an empty name", side.word()));
        }
        self.name_bytes += name.len();
        let mut attributes = HashMap::new();
        for (attribute, kind) in seen.attributes {
            let Some((attribute, at)) = attribute else { continue };
            let place = || format!("{} type {}", side.word(), shown(&name));
            if attribute.is_empty() {
                report.add(&rules::EMPTY_NAME, at, place, || "an attribute has an empty name".into());
            }
            let kind = self.value_type(&attribute, at, kind, report, &place);
            self.attributes += 1;
            self.name_bytes += attribute.len();
            if self.attributes > ATTRIBUTES_A_DEFINITION * self.limits.definitions || self.name_bytes > self.limits.record_bytes {
                return Err(Fault::too_large(at, "the types declare too many attributes"));
            }
            if attributes.insert(attribute.clone(), kind).is_some() {
                report.add(&rules::DUPLICATE_TYPE_ATTRIBUTE, at, place, || {
                    format!("the type declares the attribute {} a second time", shown(&attribute))
                });
            } else if self.is_xml && !self.names.insert((side == Side::Object, attribute.clone())) {
                report.add(&rules::SHARED_ATTRIBUTE_NAME, at, place, || {
                    format!(
                        "another {} type declares the attribute {} too: nothing is wrong with that, but checkers that take the XSD at its word \
                         refuse every use of it",
                        side.word(),
                        shown(&attribute)
                    )
                });
            }
        }
        let most = self.limits.definitions;
        let types = &mut self.side(side).types;
        if let Some(first) = types.get_mut(&name) {
            if !std::mem::replace(&mut first.looked_up, false) {
                report.add(&rules::DUPLICATE_TYPE, at, place, || {
                    format!("the {} type {} is declared a second time", side.word(), shown(&name))
                });
            }
            first.attributes.extend(attributes);
        } else if types.len() >= most {
            return Err(Fault::too_large(at, format!("there are more than {most} {} types", side.word())));
        } else {
            types.insert(name, Declared { attributes, looked_up: false });
        }
        Ok(())
    }

    fn value_type(
        &self,
        attribute: &str,
        at: Position,
        kind: Option<Placed>,
        report: &mut Report<'_>,
        place: &dyn Fn() -> String,
    ) -> ValueType {
        let Some((word, at)) = kind else {
            if self.is_xml {
                report.add(&rules::NO_VALUE_TYPE, at, place, || format!("the attribute {} has no type", shown(attribute)));
            }
            return ValueType::String;
        };
        let kind = ValueType::from_ocel_name(&word);
        let standard = kind.is_some_and(|kind| kind.ocel_name() == word);
        if !standard {
            let rule = if kind.is_some() && !self.is_xml { &rules::OTHER_VALUE_TYPE_NAME } else { &rules::VALUE_TYPE_NAME };
            report.add(rule, at, place, || {
                let advice = kind.map_or("string, time, integer, float or boolean", ValueType::ocel_name);
                format!("the attribute {} has the type {}; write {advice}", shown(attribute), shown(&word))
            });
        }
        kind.unwrap_or(ValueType::String)
    }

    /// Checks an event or object. `part` gives the path of a part of it.
    pub(super) fn record(&mut self, side: Side, seen: &Seen, report: &mut Report<'_>, part: &dyn Fn(Part) -> String) -> Result<(), Fault> {
        match &mut self.purpose {
            Purpose::Types => return Ok(()),
            Purpose::Texts(wanted) => {
                for (object, at) in seen.relations.iter().filter_map(|relation| relation.object.as_ref()) {
                    if let Ok(found) = wanted.binary_search_by_key(&(at.line, at.column), |(at, _)| (at.line, at.column))
                        && let Some((_, text)) = wanted.get_mut(found)
                    {
                        *text = Some(object.clone());
                    }
                }
                return Ok(());
            }
            Purpose::Check => {}
        }
        let place = |what: Part| match &seen.id {
            Some((id, _)) => format!("{} {}: {}", side.word(), shown(id), part(what)),
            None => part(what),
        };
        self.side(side).records += 1;
        if let Some((id, at)) = &seen.id {
            if id.is_empty() {
                report.add(&rules::EMPTY_NAME, *at, || place(Part::Id), || format!("an {} has an empty id", side.word()));
            }
            let rule = if side == Side::Event { &rules::DUPLICATE_EVENT_ID } else { &rules::DUPLICATE_OBJECT_ID };
            if let Some(first) = self.side(side).ids.declare(id, *at) {
                report.add(
                    rule,
                    *at,
                    || place(Part::Id),
                    || format!("the id {} was given in line {}, column {} before", shown(id), first.line, first.column),
                );
            }
        }
        if let Some((time, at)) = &seen.time {
            self.check_time(time, *at, report, &|| place(Part::Time));
        }
        let kind = match &seen.kind {
            Some((kind, at)) => {
                let declared = self.sides[usize::from(side == Side::Object)].types.get(kind);
                if declared.is_none() {
                    report.add(
                        &rules::UNDECLARED_TYPE,
                        *at,
                        || place(Part::Kind),
                        || format!("the {} type {} is not declared", side.word(), shown(kind)),
                    );
                }
                declared
            }
            None => None,
        };
        let mut names = HashSet::new();
        for attribute in &seen.attributes {
            let index = attribute.index;
            if let Some((time, at)) = &attribute.time {
                self.check_time(time, *at, report, &|| place(Part::AttributeTime(index)));
            }
            let Some((name, at)) = &attribute.name else { continue };
            // Values of an object's attribute differ in their times; two forms of one moment are rare enough.
            let time = attribute.time.as_ref().filter(|_| side == Side::Object).map(|(time, _)| time.as_str());
            if !names.insert((name.as_str(), time)) {
                report.add(
                    &rules::REPEATED_ATTRIBUTE,
                    *at,
                    || place(Part::Attribute(index)),
                    || match time {
                        Some(time) => format!("the attribute {} has a second value for the time {}", shown(name), shown(time)),
                        None => format!("the attribute {} has a second value", shown(name)),
                    },
                );
            }
            let declared = kind.map(|kind| kind.attributes.get(name));
            if declared == Some(None) {
                report.add(
                    &rules::UNDECLARED_ATTRIBUTE,
                    *at,
                    || place(Part::Attribute(index)),
                    || {
                        let kind = seen.kind.as_ref().map_or("", |(kind, _)| kind);
                        format!("the {} type {} does not declare the attribute {}", side.word(), shown(kind), shown(name))
                    },
                );
            }
            if let (Some(Some(&kind)), Some((value, at))) = (declared, &attribute.value) {
                self.check_value(name, kind, value, *at, report, &|| place(Part::Value(index)));
            }
        }
        let mut related = HashSet::new();
        for relation in &seen.relations {
            let Some((object, at)) = &relation.object else { continue };
            let here = || place(Part::Relation(relation.index));
            if let Some(qualifier) = &relation.qualifier
                && !related.insert((object.as_str(), qualifier.as_str()))
            {
                report.add(&rules::REPEATED_RELATION, *at, here, || {
                    format!("the object {} is related as {} a second time", shown(object), shown(qualifier))
                });
            }
            let objects = &mut self.sides[1].ids;
            if !self.objects_complete {
                objects.refer(object, *at);
            } else if !objects.declared(object) {
                report.add(&rules::DANGLING_RELATION, *at, here, || format!("there is no object {}", shown(object)));
            }
        }
        Ok(())
    }

    fn check_time(&self, time: &str, at: Position, report: &mut Report<'_>, place: &dyn Fn() -> String) {
        match (self.date_time)(time) {
            Form::Good => in_range(time, at, report, place),
            Form::Allowed => {
                report.add(&rules::NO_ZONE, at, place, || format!("the time {} has no zone; it is interpreted as UTC", shown(time)))
            }
            Form::Readable | Form::Bad => report.add(&rules::TIME, at, place, || {
                let form = if self.is_xml { "xs:dateTime" } else { "an RFC 3339 time with a zone" };
                format!("{} is not {form}; write it like 2026-11-20T13:04:05.123Z", shown(time))
            }),
        }
    }

    fn check_value(&self, name: &str, kind: ValueType, value: &Given, at: Position, report: &mut Report<'_>, place: &dyn Fn() -> String) {
        let form = match value {
            Given::Text(text) => match kind {
                ValueType::Integer => match lexical::integer(text) {
                    Form::Bad if whole(text) => Form::Readable,
                    form => form,
                },
                ValueType::Float => lexical::float(text),
                ValueType::Boolean => lexical::boolean(text),
                ValueType::Time => (self.date_time)(text),
                _ => Form::Good,
            },
            Given::Number(text) => match kind {
                ValueType::Float => Form::Good,
                ValueType::Integer if lexical::integer(text) == Form::Good => Form::Good,
                ValueType::Integer if whole(text) => Form::Readable,
                ValueType::Boolean if text == "0" || text == "1" => Form::Readable,
                ValueType::Integer | ValueType::Boolean | ValueType::Time => Form::Bad,
                _ => Form::Readable,
            },
            Given::Truth(_) => match kind {
                ValueType::Boolean => Form::Good,
                ValueType::String => Form::Readable,
                _ => Form::Bad,
            },
        };
        let rule: &'static Rule = match form {
            Form::Good => {
                if let (ValueType::Time, Given::Text(text)) = (kind, value) {
                    in_range(text, at, report, place);
                }
                return;
            }
            Form::Allowed if kind == ValueType::Time => &rules::NO_ZONE,
            Form::Allowed | Form::Readable => &rules::VALUE_FORM,
            Form::Bad => &rules::VALUE,
        };
        report.add(rule, at, place, || {
            let (what, given) = match value {
                Given::Text(text) => ("the text", shown(text)),
                Given::Number(text) => ("the number", text.chars().take(40).collect()),
                Given::Truth(truth) => ("the boolean", truth.to_string()),
            };
            let is = if form == Form::Bad { "no value" } else { "not in the form" };
            format!("{what} {given} is {is} of the attribute {}, which is declared as {}", shown(name), kind.ocel_name())
        });
    }
}

/// Reports the relations to objects that never came. The ids of the first are looked up in a second
/// walk through the file.
pub(super) fn report_dangling(ocel: &Ocel, report: &mut Report<'_>, walk: &mut dyn FnMut(&mut Ocel, &mut Report<'_>) -> Result<(), Fault>) {
    let places = ocel.sides[1].ids.dangling();
    if places.is_empty() {
        return;
    }
    let wanted = places.iter().take(SHOWN as usize).map(|&at| (at, None)).collect();
    let mut again = Ocel::new(ocel.is_xml, Purpose::Texts(wanted), ocel.limits);
    // What is wrong with the file was said in the first walk.
    let _ = walk(&mut again, &mut Report::new(&mut |_| {}));
    let Purpose::Texts(texts) = again.purpose else { return };
    for (index, at) in places.into_iter().enumerate() {
        let text = texts.get(index).and_then(|(_, text)| text.as_deref());
        let name = || text.map_or_else(|| "with this id".into(), shown);
        report.add(&rules::DANGLING_RELATION, at, String::new, || {
            format!("there is no object {}; other relations to it are not shown", name())
        });
    }
}

/// A part of an event or object.
#[derive(Debug, Clone, Copy)]
pub(super) enum Part {
    Id,
    Kind,
    Time,
    Attribute(u64),
    Value(u64),
    AttributeTime(u64),
    Relation(u64),
}

/// Whether a text is a whole number written as a float.
fn whole(text: &str) -> bool {
    text.trim_ascii().parse::<f64>().is_ok_and(|number| number.fract() == 0.0 && number.abs() < 9.0e18)
}

fn in_range(time: &str, at: Position, report: &mut Report<'_>, place: &dyn Fn() -> String) {
    if parse(time) == Err(NotATime::Range) {
        report.add(&rules::TIME_RANGE, at, place, || format!("the time {} does not fit into 64 bits of nanoseconds", shown(time)));
    }
}

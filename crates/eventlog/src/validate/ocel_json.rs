//! OCEL 2.0 JSON: the structure of its schema, member by member; the rest of the rules are in
//! [`super::ocel`].

use std::path::Path;

use super::fault::Fault;
use super::json::{Json, Token};
use super::ocel::{self, Given, Ocel, PARTS, Part, Placed, Purpose, Seen, SeenAttribute, SeenRelation, SeenType, Side};
use super::report::Report;
use super::rules;
use crate::error::LogError;
use crate::read::input::{Input, Position};
use crate::read::{Limits, shown};

/// Opens the file again: for the types that stand behind the records, and for the texts of dangling
/// relations.
pub(super) type Open<'o> = &'o dyn Fn() -> Result<Box<dyn std::io::Read>, LogError>;

/// Checks a file. Gives how many events and objects it has.
pub(super) fn check(path: &Path, limits: &Limits, report: &mut Report<'_>) -> Result<[u64; 2], LogError> {
    check_opened(&|| Ok(Box::new(crate::read::open(path)?)), limits, report)
}

pub(super) fn check_opened(open: Open<'_>, limits: &Limits, report: &mut Report<'_>) -> Result<[u64; 2], LogError> {
    let mut ocel = Ocel::new(false, Purpose::Check, *limits);
    match walk(open, limits, &mut ocel, report) {
        Ok(()) => ocel::report_dangling(&ocel, report, &mut |ocel, report| walk(open, limits, ocel, report)),
        Err(fault) => fault.report(report)?,
    }
    Ok(ocel.records())
}

fn walk(open: Open<'_>, limits: &Limits, ocel: &mut Ocel, report: &mut Report<'_>) -> Result<(), Fault> {
    let json = Json::new(Input::records(open()?, limits)?, limits);
    Walk { json, report, ocel, path: Vec::new(), open, limits }.file()
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Member(&'static str),
    Item(u64),
}

struct Walk<'r, 'a, 'f> {
    json: Json<'r>,
    report: &'a mut Report<'f>,
    ocel: &'a mut Ocel,
    path: Vec<Step>,
    open: Open<'a>,
    limits: &'a Limits,
}

const FILE: [&str; 4] = ["eventTypes", "objectTypes", "events", "objects"];
const TYPE: [&str; 2] = ["name", "attributes"];
const TYPE_ATTRIBUTE: [&str; 2] = ["name", "type"];
const RECORD: [&str; 5] = ["id", "type", "time", "attributes", "relationships"];
const ATTRIBUTE: [&str; 3] = ["name", "value", "time"];
const RELATION: [&str; 2] = ["objectId", "qualifier"];

fn path_text(path: &[Step]) -> String {
    let mut out = String::new();
    for step in path {
        match step {
            Step::Member(name) => {
                if !out.is_empty() {
                    out.push('.');
                }
                out.push_str(name);
            }
            Step::Item(index) => out.push_str(&format!("[{index}]")),
        }
    }
    out
}

impl Walk<'_, '_, '_> {
    fn file(mut self) -> Result<(), Fault> {
        let token = self.json.value()?;
        if self.expect(Token::Object, token)? {
            self.members(&FILE, FILE.len(), |walk, member| match member {
                0 => walk.types(Side::Event),
                1 => walk.types(Side::Object),
                2 => walk.records(Side::Event),
                _ => walk.records(Side::Object),
            })?;
        }
        self.json.end()
    }

    /// Whether the value that began is what the schema wants; if not, reports and skips it.
    fn expect(&mut self, wanted: Token, token: Token) -> Result<bool, Fault> {
        if token == wanted {
            return Ok(true);
        }
        let path = &self.path;
        self.report.add(
            &rules::WRONG_JSON_TYPE,
            self.json.at,
            || path_text(path),
            || format!("found a JSON {}, where the schema requires one of type {}", token.name(), wanted.name()),
        );
        self.json.skip(token)?;
        Ok(false)
    }

    /// Reads the members of an object, after its opening brace. The first `required` of `names`
    /// must be present.
    fn members(
        &mut self,
        names: &[&'static str],
        required: usize,
        mut each: impl FnMut(&mut Self, usize) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let begin = self.json.at;
        let mut seen = [false; 5];
        let mut first = true;
        while self.json.member(&mut first)? {
            let Some(index) = names.iter().position(|&name| name == self.json.key) else {
                let (key, path) = (&self.json.key, &self.path);
                let kind: String = path.iter().map(|step| if let Step::Member(name) = step { name } else { "[]" }).collect();
                self.report.once(
                    &rules::UNKNOWN_MEMBER,
                    &format!("{kind} {key}"),
                    self.json.at,
                    || path_text(path),
                    || {
                        let advice = if key.starts_with("ocel:") {
                            "; the file is OCEL 1.0, which flowmine reads; this check is for OCEL 2.0"
                        } else {
                            ""
                        };
                        format!("the schema has no member {} here; it means nothing (shown once){advice}", shown(key))
                    },
                );
                let token = self.json.value()?;
                self.json.skip(token)?;
                continue;
            };
            if let Some(seen) = seen.get_mut(index)
                && std::mem::replace(seen, true)
            {
                let (key, path) = (&self.json.key, &self.path);
                self.report.add(&rules::REPEATED_MEMBER, self.json.at, || path_text(path), || format!("a second member \"{key}\""));
            }
            if let Some(&name) = names.get(index) {
                self.path.push(Step::Member(name));
                each(self, index)?;
                self.path.pop();
            }
        }
        for (name, _) in names.iter().zip(seen).take(required).filter(|(_, seen)| !seen) {
            let path = &self.path;
            self.report.add(&rules::MISSING, begin, || path_text(path), || format!("the member \"{name}\" is missing"));
        }
        Ok(())
    }

    /// Goes through an array of objects.
    fn objects(&mut self, mut each: impl FnMut(&mut Self, u64) -> Result<(), Fault>) -> Result<(), Fault> {
        let token = self.json.value()?;
        if !self.expect(Token::Array, token)? {
            return Ok(());
        }
        let mut first = true;
        let mut index = 0;
        while self.json.item(&mut first)? {
            self.path.push(Step::Item(index));
            let token = self.json.value()?;
            if self.expect(Token::Object, token)? {
                each(self, index)?;
            }
            self.path.pop();
            index += 1;
        }
        Ok(())
    }

    fn string(&mut self) -> Result<Option<Placed>, Fault> {
        let token = self.json.value()?;
        let at = self.json.at;
        Ok(self.expect(Token::String, token)?.then(|| (std::mem::take(&mut self.json.text), at)))
    }

    fn types(&mut self, side: Side) -> Result<(), Fault> {
        self.objects(|walk, _| {
            let mut seen = SeenType::default();
            walk.members(&TYPE, 2, |walk, member| {
                if member == 0 {
                    seen.name = walk.string()?;
                    return Ok(());
                }
                seen.attributes.clear();
                walk.objects(|walk, _| {
                    let (mut name, mut kind) = (None, None);
                    walk.members(&TYPE_ATTRIBUTE, 2, |walk, member| {
                        let text = walk.string()?;
                        if member == 0 {
                            name = text
                        } else {
                            kind = text
                        }
                        Ok(())
                    })?;
                    if seen.attributes.len() >= PARTS {
                        return Err(Fault::too_large(walk.json.at, format!("a type has more than {PARTS} attributes")));
                    }
                    seen.attributes.push((name, kind));
                    Ok(())
                })
            })?;
            let path = &walk.path;
            walk.ocel.declare(side, seen, walk.report, &|| path_text(path))
        })?;
        self.ocel.types_end(side);
        Ok(())
    }

    /// Looks further behind for the types, if they have not come before the records.
    fn borrow_types(&mut self, side: Side) -> Result<(), Fault> {
        if !self.ocel.needs_types(side) {
            return Ok(());
        }
        let mut types = Ocel::new(false, Purpose::Types, *self.limits);
        // What is wrong there is said when this walk comes to it.
        let _ = walk(self.open, self.limits, &mut types, &mut Report::new(&mut |_| {}));
        self.ocel.borrow_types(&types);
        Ok(())
    }

    fn records(&mut self, side: Side) -> Result<(), Fault> {
        if matches!(self.ocel.purpose, Purpose::Types) {
            let token = self.json.value()?;
            return self.json.skip(token);
        }
        self.borrow_types(side)?;
        if side == Side::Object {
            // Where a file has them twice, more come.
            self.ocel.objects_complete(false);
        }
        let mut seen = Seen::default();
        self.objects(|walk, _| {
            seen.clear();
            // An object has no time; that of an event stands third.
            let names: &[&'static str] = &RECORD;
            let required = if side == Side::Event { 3 } else { 2 };
            walk.members(names, required, |walk, member| {
                match member {
                    0 => seen.id = walk.string()?,
                    1 => seen.kind = walk.string()?,
                    2 if side == Side::Object => {
                        let token = walk.json.value()?;
                        walk.json.skip(token)?;
                    }
                    2 => seen.time = walk.string()?,
                    3 => walk.attributes(side, &mut seen)?,
                    _ => walk.relations(&mut seen)?,
                }
                Ok(())
            })?;
            let path = &walk.path;
            walk.ocel.record(side, &seen, walk.report, &|part| {
                let path = path_text(path);
                match part {
                    Part::Id => format!("{path}.id"),
                    Part::Kind => format!("{path}.type"),
                    Part::Time => format!("{path}.time"),
                    Part::Attribute(index) => format!("{path}.attributes[{index}]"),
                    Part::Value(index) => format!("{path}.attributes[{index}].value"),
                    Part::AttributeTime(index) => format!("{path}.attributes[{index}].time"),
                    Part::Relation(index) => format!("{path}.relationships[{index}]"),
                }
            })
        })?;
        if side == Side::Object {
            self.ocel.objects_complete(true);
        }
        Ok(())
    }

    fn attributes(&mut self, side: Side, seen: &mut Seen) -> Result<(), Fault> {
        seen.attributes.clear();
        self.objects(|walk, index| {
            let mut attribute = SeenAttribute { name: None, value: None, time: None, index };
            let required = if side == Side::Event { 2 } else { 3 };
            walk.members(&ATTRIBUTE, required, |walk, member| {
                match member {
                    0 => attribute.name = walk.string()?,
                    1 => attribute.value = walk.attribute_value()?,
                    // An event's attribute has no time of its own; what stands there means nothing.
                    _ if side == Side::Event => {
                        let token = walk.json.value()?;
                        walk.json.skip(token)?;
                    }
                    _ => attribute.time = walk.string()?,
                }
                Ok(())
            })?;
            seen.push_attribute(attribute, walk.json.at)
        })
    }

    fn attribute_value(&mut self) -> Result<Option<(Given, Position)>, Fault> {
        let token = self.json.value()?;
        let at = self.json.at;
        let given = match token {
            Token::String => Given::Text(std::mem::take(&mut self.json.text)),
            Token::Number => Given::Number(std::mem::take(&mut self.json.text)),
            Token::Bool(truth) => Given::Truth(truth),
            _ => {
                self.expect(Token::String, token)?;
                return Ok(None);
            }
        };
        if token != Token::String {
            let path = &self.path;
            self.report.add(
                &rules::VALUE_NOT_STRING,
                at,
                || path_text(path),
                || format!("values are written as JSON {}s, where the schema wants strings; tools want it this way", token.name()),
            );
        }
        Ok(Some((given, at)))
    }

    fn relations(&mut self, seen: &mut Seen) -> Result<(), Fault> {
        seen.relations.clear();
        self.objects(|walk, index| {
            let mut relation = SeenRelation { object: None, qualifier: None, index };
            walk.members(&RELATION, 2, |walk, member| {
                let text = walk.string()?;
                if member == 0 {
                    relation.object = text
                } else {
                    relation.qualifier = text.map(|(text, _)| text)
                }
                Ok(())
            })?;
            seen.push_relation(relation, walk.json.at)
        })
    }
}

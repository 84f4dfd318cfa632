//! OCEL 2.0 XML: the structure of its schema, element by element; the rest of the rules are in
//! [`super::ocel`].

use std::path::Path;

use super::elements::Elements;
use super::fault::Fault;
use super::lexical::{self, Form};
use super::markup::Xml;
use super::ocel::{Given, Ocel, PARTS, Part, Purpose, Seen, SeenAttribute, SeenRelation, SeenType, Side};
use super::report::Report;
use super::{ocel, rules};
use crate::error::LogError;
use crate::read::input::Input;
use crate::read::{Limits, shown};

/// Opens the file again.
type Open<'o> = &'o dyn Fn() -> Result<Box<dyn std::io::Read>, LogError>;

/// Checks a file. Gives how many events and objects it has.
pub(super) fn check(path: &Path, limits: &Limits, report: &mut Report<'_>) -> Result<[u64; 2], LogError> {
    let open: Open<'_> = &|| Ok(Box::new(crate::read::open(path)?));
    let mut ocel = Ocel::new(true, Purpose::Check, *limits);
    match walk(open, limits, &mut ocel, report) {
        Ok(()) => ocel::report_dangling(&ocel, report, &mut |ocel, report| walk(open, limits, ocel, report)),
        Err(fault) => fault.report(report)?,
    }
    Ok(ocel.records())
}

fn walk(open: Open<'_>, limits: &Limits, ocel: &mut Ocel, report: &mut Report<'_>) -> Result<(), Fault> {
    let xml = Xml::new(Input::xml(open()?, limits)?, limits);
    Walk { elements: Elements::new(xml, limits, report), ocel, open }.file()
}

struct Walk<'r, 'a, 'f> {
    elements: Elements<'r, 'a, 'f>,
    ocel: &'a mut Ocel,
    open: Open<'a>,
}

const SECTIONS: [&str; 4] = ["object-types", "event-types", "objects", "events"];

impl Walk<'_, '_, '_> {
    fn file(mut self) -> Result<(), Fault> {
        if !self.elements.root("", &[])? {
            return Ok(());
        }
        let root = self.elements.xml.at;
        let mut seen = [false; 4];
        let mut last = 0;
        while self.elements.child(false)? {
            let Some(section) = SECTIONS.iter().position(|&name| name == self.elements.xml.name) else {
                self.elements.unknown()?;
                continue;
            };
            if seen.get_mut(section).is_some_and(|seen| std::mem::replace(seen, true)) {
                self.elements.misplaced(&rules::REPEATED_ELEMENT, |name| format!("a second element {name}"));
            } else if section < last {
                self.elements
                    .misplaced(&rules::ELEMENT_ORDER, |name| format!("{name} comes too late; the order is {}", SECTIONS.join(", ")));
            }
            last = last.max(section);
            self.elements.allow(&[]);
            match section {
                0 => self.types(Side::Object)?,
                1 => self.types(Side::Event)?,
                2 => self.records(Side::Object)?,
                _ => self.records(Side::Event)?,
            }
        }
        for (name, _) in SECTIONS.iter().zip(seen).filter(|(_, seen)| !seen) {
            self.elements.missing(name, "log", root);
        }
        // Only comments may follow.
        self.elements.xml.next().map(|_| ())
    }

    fn types(&mut self, side: Side) -> Result<(), Fault> {
        let wanted = if side == Side::Event { "event-type" } else { "object-type" };
        while self.elements.child(false)? {
            if self.elements.xml.name != wanted {
                self.elements.unknown()?;
                continue;
            }
            let begin = self.elements.xml.at;
            self.elements.begin_record();
            self.elements.allow(&["name"]);
            let mut seen = SeenType { name: self.elements.required("name"), attributes: Vec::new() };
            let mut lists = 0;
            while self.elements.child(false)? {
                if self.elements.xml.name != "attributes" {
                    self.elements.unknown()?;
                    continue;
                }
                lists += 1;
                self.once(lists);
                while self.elements.child(true)? {
                    if self.elements.xml.name != "attribute" {
                        self.elements.unknown()?;
                        continue;
                    }
                    self.elements.check_size()?;
                    self.elements.allow(&["name", "type", "time"]);
                    let name = self.elements.required("name");
                    let kind = self.elements.optional("type");
                    self.form_of_time();
                    if seen.attributes.len() >= PARTS {
                        return Err(Fault::too_large(self.elements.xml.at, format!("a type has more than {PARTS} attributes")));
                    }
                    seen.attributes.push((name, kind));
                    while self.elements.child(true)? {
                        self.elements.unknown()?;
                    }
                }
            }
            if lists == 0 {
                self.elements.missing("attributes", wanted, begin);
            }
            let path = self.elements.xml.path();
            self.ocel.declare(side, seen, self.elements.report, &|| format!("{path}/{wanted}"))?;
        }
        self.ocel.types_end(side);
        Ok(())
    }

    /// An `attributes` or `objects` stands once.
    fn once(&mut self, count: u32) {
        self.elements.allow(&[]);
        if count == 2 {
            self.elements.misplaced(&rules::REPEATED_ELEMENT, |name| format!("a second element {name}"));
        }
    }

    /// The schema lets a type's attribute have a time, which has to be one.
    fn form_of_time(&mut self) {
        if let Some((time, at)) = self.elements.optional("time")
            && !matches!(lexical::date_time(&time), Form::Good | Form::Allowed)
        {
            let path = || self.elements.xml.path();
            self.elements.report.add(&rules::TIME, at, path, || format!("{} is not an xs:dateTime", shown(&time)));
        }
    }

    fn borrow_types(&mut self, side: Side) {
        if self.ocel.needs_types(side) {
            let limits = self.elements.limits;
            let mut types = Ocel::new(true, Purpose::Types, limits);
            // What is wrong there is said when this walk comes to it.
            let _ = walk(self.open, &limits, &mut types, &mut Report::new(&mut |_| {}));
            self.ocel.borrow_types(&types);
        }
    }

    fn records(&mut self, side: Side) -> Result<(), Fault> {
        if matches!(self.ocel.purpose, Purpose::Types) {
            return self.elements.skip();
        }
        self.borrow_types(side);
        if side == Side::Object {
            // Where a file has them twice, more come.
            self.ocel.objects_complete(false);
        }
        let mut seen = Seen::default();
        while self.elements.child(false)? {
            if self.elements.xml.name != side.word() {
                self.elements.unknown()?;
                continue;
            }
            seen.clear();
            self.record(side, &mut seen)?;
            self.ocel.record(side, &seen, self.elements.report, &|part| match part {
                Part::Id => "id".into(),
                Part::Kind => "type".into(),
                Part::Time => "time".into(),
                Part::Attribute(index) | Part::Value(index) | Part::AttributeTime(index) => format!("attribute {}", index + 1),
                Part::Relation(index) => format!("relationship {}", index + 1),
            })?;
            self.elements.record.clear();
        }
        if side == Side::Object {
            self.ocel.objects_complete(true);
        }
        Ok(())
    }

    fn record(&mut self, side: Side, seen: &mut Seen) -> Result<(), Fault> {
        let begin = self.elements.xml.at;
        self.elements.begin_record();
        match side {
            Side::Event => self.elements.allow(&["id", "type", "time"]),
            Side::Object => self.elements.allow(&["object-id", "qualifier", "id", "type"]),
        }
        seen.id = self.elements.required("id");
        if let Some((id, _)) = &seen.id {
            self.elements.record = format!("{} {}", side.word(), shown(id));
        }
        seen.kind = self.elements.required("type");
        if side == Side::Event {
            seen.time = self.elements.required("time");
        }
        let mut counts = [0, 0];
        while self.elements.child(side == Side::Object)? {
            match self.elements.xml.name.as_str() {
                "attributes" => {
                    counts[0] += 1;
                    self.once(counts[0]);
                    if counts[1] > 0 && counts[0] == 1 {
                        self.elements.misplaced(&rules::ELEMENT_ORDER, |name| format!("{name} comes before objects"));
                    }
                    self.attributes(side, seen)?;
                }
                "objects" => {
                    counts[1] += 1;
                    self.once(counts[1]);
                    self.relations(seen)?;
                }
                _ => self.elements.unknown()?,
            }
        }
        if side == Side::Event {
            for (name, _) in ["attributes", "objects"].iter().zip(counts).filter(|(_, count)| *count == 0) {
                self.elements.missing(name, "event", begin);
            }
        }
        Ok(())
    }

    fn attributes(&mut self, side: Side, seen: &mut Seen) -> Result<(), Fault> {
        let mut index = 0;
        while self.elements.child(true)? {
            if self.elements.xml.name != "attribute" {
                self.elements.unknown()?;
                continue;
            }
            self.elements.check_size()?;
            self.elements.allow(&["name", "type", "time"]);
            let name = self.elements.required("name");
            let begin = self.elements.xml.at;
            let time = self.elements.optional("time");
            if side == Side::Object && time.is_none() {
                self.elements.misplaced(&rules::NO_ATTRIBUTE_TIME, |_| {
                    "the value has no time; 1970-01-01T00:00:00Z means that it holds from the beginning".into()
                });
            }
            if let Some((word, at)) = self.elements.optional("type")
                && !VALUE_TYPES.contains(&word.as_str())
            {
                let path = || super::elements::place(&self.elements.record, &self.elements.xml);
                self.elements.report.add(&rules::VALUE_TYPE_NAME, at, path, || format!("{} is no type of values", shown(&word)));
            }
            let mut text = String::new();
            let mut text_at = None;
            loop {
                let more = self.elements.child(true)?;
                text.push_str(&self.elements.xml.text);
                text_at = text_at.or(self.elements.xml.text_at);
                if !more {
                    break;
                }
                self.elements.unknown()?;
            }
            let value = Some((Given::Text(text), text_at.unwrap_or(begin)));
            seen.push_attribute(SeenAttribute { name, value, time, index }, begin)?;
            index += 1;
        }
        Ok(())
    }

    fn relations(&mut self, seen: &mut Seen) -> Result<(), Fault> {
        let mut index = 0;
        while self.elements.child(false)? {
            let is_relationship = self.elements.xml.name == "relationship";
            if !is_relationship && self.elements.xml.name != "object" {
                self.elements.unknown()?;
                continue;
            }
            self.elements.check_size()?;
            if is_relationship {
                self.elements.misplaced(&rules::RELATIONSHIP_ELEMENT, |_| {
                    "relations are written as \"relationship\", as the standard's example and all tools do; the XSD names the element \"object\"".into()
                });
            } else {
                self.elements.required("type");
            }
            self.elements.allow(&["object-id", "qualifier", "id", "type"]);
            let object = self.elements.required_by(&rules::INCOMPLETE_RELATION, "object-id");
            let qualifier = self.elements.required_by(&rules::INCOMPLETE_RELATION, "qualifier").map(|(text, _)| text);
            seen.push_relation(SeenRelation { object, qualifier, index }, self.elements.xml.at)?;
            index += 1;
            // The schema allows all that objects have here; it means nothing.
            if is_relationship { self.elements.empty()? } else { self.elements.skip()? }
        }
        Ok(())
    }
}

const VALUE_TYPES: [&str; 5] = ["string", "time", "integer", "float", "boolean"];

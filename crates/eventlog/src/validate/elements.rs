//! What the checks of OCEL XML and XES have in common: elements where they belong, attributes that
//! the schema names.

use super::fault::Fault;
use super::markup::{Tag, Xml, XmlAttribute};
use super::ocel::Placed;
use super::report::Report;
use super::rules;
use crate::read::input::Position;
use crate::read::{Limits, shown};

/// A document under way, with the place that findings name.
pub(super) struct Elements<'r, 'a, 'f> {
    pub(super) xml: Xml<'r>,
    pub(super) report: &'a mut Report<'f>,
    pub(super) limits: Limits,
    /// The namespace of the outermost element.
    namespace: String,
    /// The record that is being read: `event "e1"`; empty outside.
    pub(super) record: String,
    record_begin: u64,
}

impl<'r, 'a, 'f> Elements<'r, 'a, 'f> {
    pub(super) fn new(xml: Xml<'r>, limits: &Limits, report: &'a mut Report<'f>) -> Self {
        Self { xml, report, limits: *limits, namespace: String::new(), record: String::new(), record_begin: 0 }
    }

    /// Says that a record begins here.
    pub(super) fn begin_record(&mut self) {
        self.record_begin = self.xml.offset();
        self.record.clear();
    }

    /// A record keeps to its limit.
    pub(super) fn check_size(&self) -> Result<(), Fault> {
        if self.xml.offset() - self.record_begin > self.limits.record_bytes as u64 {
            return Err(Fault::too_large(self.xml.at, format!("a record is larger than {} bytes", self.limits.record_bytes)));
        }
        Ok(())
    }

    /// Reads the outermost element's beginning. `known` is a namespace that is against the schema
    /// and that readers forgive.
    pub(super) fn root(&mut self, known: &str, allowed: &[&str]) -> Result<bool, Fault> {
        self.xml.next()?;
        if self.xml.name != "log" {
            let name = &self.xml.name;
            self.report
                .add(&rules::UNKNOWN_ELEMENT, self.xml.at, String::new, || format!("the outermost element is {}, not log", shown(name)));
            return Ok(false);
        }
        if let Some(XmlAttribute { value, at, .. }) = self.xml.attribute("xmlns") {
            if value.trim_end_matches('/') == known && !known.is_empty() {
                self.report
                    .add(&rules::XES_NAMESPACE, *at, String::new, || format!("the namespace {}, as all tools write it", shown(value)));
            } else if !value.is_empty() {
                self.report.add(&rules::NAMESPACE, *at, String::new, || format!("the elements are in the namespace {}", shown(value)));
            }
            self.namespace.push_str(value);
        }
        self.allow(allowed);
        Ok(true)
    }

    /// Reports attributes of the last tag that the schema does not name.
    pub(super) fn allow(&mut self, allowed: &[&str]) {
        let (record, xml) = (&self.record, &self.xml);
        for XmlAttribute { name, value, at, .. } in xml.attributes() {
            if allowed.contains(&name.as_str()) || name.starts_with("xmlns:") {
                continue;
            }
            let place = || place(record, xml);
            match name.as_str() {
                "xsi:schemaLocation" | "xsi:noNamespaceSchemaLocation" => {}
                "xmlns" if *value == self.namespace => {}
                "xmlns" => self.report.add(&rules::NAMESPACE, *at, place, || format!("the element is in the namespace {}", shown(value))),
                "openxes.version" if xml.depth() == 1 && allowed.contains(&"xes.version") => {
                    self.report.add(&rules::OPENXES_VERSION, *at, place, || "the version of OpenXES means nothing to readers".into());
                }
                _ => self.report.add(&rules::UNKNOWN_XML_ATTRIBUTE, *at, place, || {
                    format!("the schema has no attribute {} of {}", shown(name), shown(&xml.name))
                }),
            }
        }
    }

    /// An attribute of the last tag and the place of its value.
    pub(super) fn optional(&self, name: &str) -> Option<Placed> {
        self.xml.attribute(name).map(|attribute| (attribute.value.clone(), attribute.value_at))
    }

    /// An attribute of the last tag that has to be there.
    pub(super) fn required(&mut self, name: &str) -> Option<Placed> {
        self.required_by(&rules::MISSING, name)
    }

    /// As [`Self::required`], with a rule of its own for what is missing.
    pub(super) fn required_by(&mut self, rule: &'static rules::Rule, name: &str) -> Option<Placed> {
        let found = self.optional(name);
        if found.is_none() {
            let (record, xml) = (&self.record, &self.xml);
            self.report.add(rule, xml.at, || place(record, xml), || format!("the attribute \"{name}\" of {} is missing", shown(&xml.name)));
        }
        found
    }

    /// Reports that an element is missing within the one that began at `at`.
    pub(super) fn missing(&mut self, name: &str, within: &str, at: Position) {
        let (record, xml) = (&self.record, &self.xml);
        self.report.add(&rules::MISSING, at, || place(record, xml), || format!("the element \"{name}\" within \"{within}\" is missing"));
    }

    /// Reports that the last tag is in the wrong place.
    pub(super) fn misplaced(&mut self, rule: &'static rules::Rule, message: impl FnOnce(&str) -> String) {
        let (record, xml) = (&self.record, &self.xml);
        self.report.add(rule, xml.at, || place(record, xml), || message(&shown(&xml.name)));
    }

    /// Reports the last tag and goes past its end.
    pub(super) fn unknown(&mut self) -> Result<(), Fault> {
        self.misplaced(&rules::UNKNOWN_ELEMENT, |name| format!("the schema has no element {name} here"));
        self.skip()
    }

    /// Goes past the end of the element that began last.
    pub(super) fn skip(&mut self) -> Result<(), Fault> {
        let depth = self.xml.depth();
        while self.xml.depth() >= depth {
            self.xml.next()?;
        }
        Ok(())
    }

    /// Whether another element follows within the one that is open; the text before it is only
    /// white space if it is not `mixed`.
    pub(super) fn child(&mut self, mixed: bool) -> Result<bool, Fault> {
        let tag = self.xml.next()?;
        if let Some(at) = self.xml.text_at
            && !mixed
        {
            let (record, xml) = (&self.record, &self.xml);
            self.report.add(
                &rules::UNEXPECTED_TEXT,
                at,
                || place(record, xml),
                || format!("the text {} means nothing here", shown(xml.text.trim())),
            );
        }
        Ok(tag == Tag::Start)
    }

    /// Goes past the end of an element that has no content.
    pub(super) fn empty(&mut self) -> Result<(), Fault> {
        while self.child(false)? {
            self.unknown()?;
        }
        Ok(())
    }
}

/// The record and the elements that are open.
pub(super) fn place(record: &str, xml: &Xml<'_>) -> String {
    if record.is_empty() { xml.path() } else { format!("{record}: {}", xml.path()) }
}

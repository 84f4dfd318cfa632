//! The elements of a hostile XML file, one by one.
//!
//! In goes an [`Input`]; out come starts, ends and texts with their place. Refused: what is not
//! well-formed, nesting deeper than [`Limits::depth`], entities other than the five of XML itself,
//! a document type with declarations of its own, and a file that ends before its outermost element
//! does. Comments and processing instructions are passed over.

use std::borrow::Cow;
use std::io::BufRead;

use quick_xml::Reader;
use quick_xml::XmlVersion;
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesStart, Event};

use crate::error::LogError;
use crate::read::input::{Input, Position};
use crate::read::{Finding, Limits, Severity, found, printable, shown};

/// Longer names mean nothing, and those of the open elements are kept.
const NAME_BYTES: usize = 1024;

/// What comes next in a file.
pub(crate) enum Node<'b> {
    /// An element begins. Its end follows, also that of an empty one.
    Start(Tag<'b>),
    /// The element that began last and is still open ends.
    End,
    /// A piece of text; a longer one comes in several.
    Text(Cow<'b, str>),
    /// Nothing of interest, or something odd.
    Other(Option<Finding>),
    /// The file is over.
    Eof,
}

/// The start of an element.
pub(crate) struct Tag<'b> {
    start: BytesStart<'b>,
    /// Whether its namespace prefix is that of the outermost element.
    pub(crate) ours: bool,
}

/// Those attributes of an element that were asked for.
pub(crate) struct Found<'t, const N: usize> {
    /// The values, in the order of the names asked for.
    pub(crate) values: [Option<Cow<'t, str>>; N],
    /// Whether one has a character that XML does not allow.
    pub(crate) forbidden: bool,
}

impl Tag<'_> {
    /// The name without its prefix.
    pub(crate) fn name(&self) -> &str {
        self.start.local_name().into_inner()
    }

    /// The values of these attributes.
    pub(crate) fn read<const N: usize>(&self, names: [&str; N]) -> Result<Found<'_, N>, String> {
        let mut found = Found { values: [const { None }; N], forbidden: false };
        for attribute in self.start.attributes().with_checks(false) {
            let attribute = attribute.map_err(|error| format!("in <{}>: {error}", printable(self.name(), 60)))?;
            let Some(at) = names.iter().position(|name| *name == attribute.key.0) else { continue };
            let Some(slot) = found.values.get_mut(at) else { continue };
            if slot.is_some() {
                return Err(format!("<{}> has two attributes {}", printable(self.name(), 60), printable(attribute.key.0, 60)));
            }
            let value = attribute.normalized_value_with(XmlVersion::Implicit1_0, 1, resolve_xml_entity);
            let value = value
                .map_err(|error| format!("in attribute {}: {}", printable(attribute.key.0, 60), printable(&error.to_string(), 200)))?;
            found.forbidden |= has_forbidden(&value);
            *slot = Some(value);
        }
        Ok(found)
    }

    /// Whether one of its attributes, as they are written, is such.
    pub(crate) fn any(&self, is_such: impl Fn(&str, &str) -> bool) -> bool {
        self.start.attributes().with_checks(false).map_while(Result::ok).any(|attribute| is_such(attribute.key.0, &attribute.value))
    }
}

/// Whether a text has a control character that XML does not allow.
pub(crate) fn has_forbidden(text: &str) -> bool {
    text.bytes().any(|byte| byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r'))
}

/// Walks through the elements of an XML file, one by one.
pub(crate) struct Elements<'r> {
    reader: Reader<Input<'r>>,
    limits: Limits,
    open: usize,
    root_prefix: Option<String>,
    root_done: bool,
    empty: bool,
}

impl<'r> Elements<'r> {
    pub(crate) fn new(input: Input<'r>, limits: &Limits) -> Self {
        Self { reader: Reader::from_reader(input), limits: *limits, open: 0, root_prefix: None, root_done: false, empty: false }
    }

    /// The place in the file where what came last begins.
    pub(crate) fn place(&mut self) -> Position {
        self.reader.get_mut().token()
    }

    /// Gives what comes next. White space before an element is left out when `structure` says that
    /// it means nothing here.
    pub(crate) fn next<'b>(&mut self, structure: bool, buffer: &'b mut Vec<u8>) -> Result<Node<'b>, LogError> {
        if self.empty {
            self.empty = false;
            self.close();
            return Ok(Node::End);
        }
        buffer.clear();
        let input = self.reader.get_mut();
        if structure || self.open == 0 {
            input.skip_white_space()?;
        }
        input.token_done();
        let event = match self.reader.read_event_into(buffer) {
            Ok(event) => event,
            Err(quick_xml::Error::Io(error)) => return Err(self.reader.get_mut().explain(error)),
            Err(error) => return Err(self.reader.get_mut().explain(printable(&error.to_string(), 200))),
        };
        Ok(match event {
            Event::Start(start) => Node::Start(self.start(start)?),
            Event::Empty(start) => {
                self.empty = true;
                Node::Start(self.start(start)?)
            }
            Event::End(_) => {
                self.close();
                Node::End
            }
            Event::Text(text) => self.text(text.xml10_content())?,
            Event::CData(text) => self.text(text.xml10_content())?,
            Event::GeneralRef(reference) => {
                let text: Cow<'_, str> = match reference.resolve_char_ref() {
                    Ok(Some(character)) => character.to_string().into(),
                    Ok(None) => match resolve_xml_entity(&reference.xml10_content()) {
                        Some(text) => text.into(),
                        None => {
                            return Err(
                                self.refuse(format!("the entity {} is not one of XML's own five, and no other is read", shown(&reference)))
                            );
                        }
                    },
                    Err(error) => return Err(self.refuse(printable(&error.to_string(), 200))),
                };
                self.text(text)?
            }
            Event::DocType(text) => {
                if text.contains('[') {
                    return Err(self.refuse("a document type with declarations of its own is not read, since entities could grow without end; remove the DOCTYPE".into()));
                }
                Node::Other(Some(found(Severity::Note, "document_type", self.place(), "the document type is not looked at".into())))
            }
            Event::Decl(_) | Event::PI(_) | Event::Comment(_) => Node::Other(None),
            Event::Eof => {
                let place = self.reader.get_mut().position();
                if self.open > 0 {
                    return Err(place.refuse(format!("the file ends here, {} elements deep: it is cut", self.open)));
                }
                if !self.root_done {
                    return Err(place.refuse("the file ends without an element"));
                }
                Node::Eof
            }
        })
    }

    /// Returns the buffered bytes of the file that can be read without the parser; `None` where
    /// `levels` more levels cannot be opened or the names of elements have a prefix. The caller
    /// must consume whole elements.
    pub(crate) fn ready(&mut self, levels: usize) -> Option<&[u8]> {
        if self.empty || self.root_prefix.is_some() || self.open + levels > self.limits.depth {
            return None;
        }
        Some(self.reader.get_mut().ready())
    }

    /// Continues after the bytes that the caller consumed.
    pub(crate) fn pass(&mut self, taken: usize) {
        let input = self.reader.get_mut();
        input.consume(taken);
        input.token_done();
    }

    /// The error for what came last.
    pub(crate) fn refuse(&mut self, message: String) -> LogError {
        self.place().refuse(message)
    }

    fn start<'b>(&mut self, start: BytesStart<'b>) -> Result<Tag<'b>, LogError> {
        if self.root_done {
            return Err(self.refuse("a second outermost element".into()));
        }
        let name = start.name();
        if name.0.len() > NAME_BYTES {
            return Err(self.refuse(format!("the name of an element is longer than {NAME_BYTES} bytes")));
        }
        let (_, prefix) = name.decompose();
        let prefix = prefix.map(|prefix| prefix.into_inner());
        if self.open == 0 {
            self.root_prefix = prefix.map(str::to_owned);
        }
        let ours = self.root_prefix.as_deref() == prefix;
        self.open += 1;
        if self.open > self.limits.depth {
            return Err(self.refuse(format!("nested deeper than {}", self.limits.depth)));
        }
        Ok(Tag { start, ours })
    }

    fn close(&mut self) {
        self.open -= 1;
        self.root_done = self.open == 0;
    }

    fn text<'b>(&mut self, text: Cow<'b, str>) -> Result<Node<'b>, LogError> {
        if self.open == 0 && !text.trim_ascii().is_empty() {
            return Err(self.refuse(format!("text outside of the outermost element: {}", shown(&text))));
        }
        Ok(Node::Text(text))
    }
}

//! XML tag by tag, with places. Strict XML 1.0 with namespaces; the first thing that is not
//! well-formed ends it.
//!
//! Refused: document type declarations, and with them all entities but the five of XML. Tags, texts
//! and nesting keep to the limits.

use std::io::BufRead;

use super::fault::Fault;
use super::lexical;
use super::rules::{DOCTYPE, NOT_XML};
use crate::read::input::{Input, Position};
use crate::read::{Limits, shown};

/// A beginning or an end of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tag {
    /// Its name is [`Xml::name`], its attributes are [`Xml::attributes`].
    Start,
    /// Its name is [`Xml::name`]. An empty element has one too.
    End,
    /// The end of the file.
    Eof,
}

/// An attribute of a tag.
#[derive(Debug)]
pub(super) struct XmlAttribute {
    pub(super) name: String,
    pub(super) value: String,
    /// Where its name begins.
    pub(super) at: Position,
    /// Where its value begins, between the quotes.
    pub(super) value_at: Position,
}

/// A document read tag by tag.
pub(super) struct Xml<'r> {
    input: Input<'r>,
    limits: Limits,
    /// The name of the last tag.
    pub(super) name: String,
    /// Where the last tag began.
    pub(super) at: Position,
    /// The text between the last two tags.
    pub(super) text: String,
    /// Where the first character of the text is that is no white space.
    pub(super) text_at: Option<Position>,
    attributes: Vec<XmlAttribute>,
    used: usize,
    open: Vec<String>,
    /// Declared prefixes with the depth at which they were.
    prefixes: Vec<(usize, String)>,
    raw: Vec<u8>,
    empty: bool,
    begun: bool,
    root_seen: bool,
}

fn blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

impl<'r> Xml<'r> {
    pub(super) fn new(input: Input<'r>, limits: &Limits) -> Self {
        Self {
            input,
            limits: *limits,
            name: String::new(),
            at: Position::START,
            text: String::new(),
            text_at: None,
            attributes: Vec::new(),
            used: 0,
            open: Vec::new(),
            prefixes: Vec::new(),
            raw: Vec::new(),
            empty: false,
            begun: false,
            root_seen: false,
        }
    }

    /// The attributes of the last tag.
    pub(super) fn attributes(&self) -> &[XmlAttribute] {
        self.attributes.get(..self.used).unwrap_or_default()
    }

    /// The attribute of that name.
    pub(super) fn attribute(&self, name: &str) -> Option<&XmlAttribute> {
        self.attributes().iter().find(|attribute| attribute.name == name)
    }

    /// The names of the open elements.
    pub(super) fn path(&self) -> String {
        self.open.join("/")
    }

    /// How many elements are open.
    pub(super) fn depth(&self) -> usize {
        self.open.len()
    }

    /// How much of the text has been read.
    pub(super) fn offset(&self) -> u64 {
        self.input.offset()
    }

    fn buffer(&mut self) -> Result<&[u8], Fault> {
        // Twice, because a borrow that is given back in one branch would last in the other.
        if self.input.fill_buf().is_err() {
            let failure = self.input.failure();
            return Err(Fault::Log(failure.unwrap_or_else(|| std::io::Error::other("the file could not be read").into())));
        }
        self.input.fill_buf().map_err(|error| Fault::Log(error.into()))
    }

    fn wrong<T>(at: Position, message: impl Into<String>) -> Result<T, Fault> {
        Err(Fault::Found(&NOT_XML, at, message.into()))
    }

    fn cut<T>(&mut self, what: &str) -> Result<T, Fault> {
        Self::wrong(self.input.position(), format!("the file ends here, within {what}: it is cut"))
    }

    fn begin_token(&mut self) -> Position {
        self.input.token_done();
        self.input.position()
    }

    /// Reads to the next tag.
    pub(super) fn next(&mut self) -> Result<Tag, Fault> {
        self.text.clear();
        self.text_at = None;
        if std::mem::take(&mut self.empty) {
            self.used = 0;
            return Ok(self.close());
        }
        loop {
            let at = self.begin_token();
            if self.read_text(at)? {
                return self.end();
            }
            self.at = self.begin_token();
            let begin = !std::mem::replace(&mut self.begun, true);
            self.raw.clear();
            self.take(1)?;
            let at = self.at;
            match self.buffer()?.first() {
                Some(b'!') => self.declaration(at)?,
                Some(b'?') => self.instruction(at, begin)?,
                Some(b'/') => return self.end_tag(at),
                Some(_) => return self.start_tag(at),
                None => return self.cut("a tag"),
            }
        }
    }

    /// Moves bytes from the input to `raw`.
    fn take(&mut self, amount: usize) -> Result<(), Fault> {
        for _ in 0..amount {
            let Some(&byte) = self.buffer()?.first() else { return self.cut("a tag") };
            self.raw.push(byte);
            self.input.consume(1);
        }
        Ok(())
    }

    /// Moves bytes from the input to `raw` up to and with a sign.
    fn take_to(&mut self, sign: u8, what: &str) -> Result<(), Fault> {
        loop {
            let buffer = match self.input.fill_buf() {
                Ok(buffer) => buffer,
                Err(error) => return Err(Fault::Log(self.input.failure().unwrap_or(error.into()))),
            };
            if buffer.is_empty() {
                return self.cut(what);
            }
            let found = buffer.iter().position(|&byte| byte == sign);
            let length = found.map_or(buffer.len(), |at| at + 1);
            self.raw.extend_from_slice(buffer.get(..length).unwrap_or_default());
            self.input.consume(length);
            if found.is_some() {
                return Ok(());
            }
        }
    }

    /// Reads text up to a tag. Gives true at the end of the file.
    fn read_text(&mut self, at: Position) -> Result<bool, Fault> {
        self.raw.clear();
        let end = loop {
            let buffer = match self.input.fill_buf() {
                Ok(buffer) => buffer,
                Err(error) => return Err(Fault::Log(self.input.failure().unwrap_or(error.into()))),
            };
            if buffer.is_empty() {
                break true;
            }
            let found = buffer.iter().position(|&byte| byte == b'<');
            let length = found.unwrap_or(buffer.len());
            self.raw.extend_from_slice(buffer.get(..length).unwrap_or_default());
            self.input.consume(length);
            if found.is_some() {
                break false;
            }
        };
        let raw = std::mem::take(&mut self.raw);
        if !raw.is_empty() {
            self.begun = true;
            if self.open.is_empty() {
                if let Some(text) = raw.iter().position(|&byte| !blank(byte)) {
                    let at = at.behind(raw.get(..text).unwrap_or_default());
                    return Self::wrong(at, "there is text outside of the outermost element");
                }
            } else {
                if let Some(end) = raw.windows(3).position(|three| three == b"]]>") {
                    return Self::wrong(at.behind(raw.get(..end).unwrap_or_default()), "]]> in text is written as ]]&gt;");
                }
                self.add_text(&raw, at, true)?;
            }
        }
        self.raw = raw;
        Ok(end)
    }

    fn add_text(&mut self, raw: &[u8], at: Position, references: bool) -> Result<(), Fault> {
        let before = self.text.len();
        decode(raw, at, references, false, &mut self.text)?;
        // White space written as a reference is white space too.
        if self.text_at.is_none() && self.text.bytes().skip(before).any(|byte| !blank(byte)) {
            let first = raw.iter().position(|&byte| !blank(byte)).unwrap_or_default();
            self.text_at = Some(at.behind(raw.get(..first).unwrap_or_default()));
        }
        if self.text.len() > self.limits.text_bytes {
            return Err(Fault::too_large(at, format!("a text is longer than {} bytes", self.limits.text_bytes)));
        }
        Ok(())
    }

    fn end(&mut self) -> Result<Tag, Fault> {
        if let Some(name) = self.open.last() {
            let what = format!("the element {}", shown(name));
            return self.cut(&what);
        }
        if !self.root_seen {
            return Self::wrong(self.input.position(), "the file has no element");
        }
        Ok(Tag::Eof)
    }

    /// A comment, a CDATA section or a document type.
    fn declaration(&mut self, at: Position) -> Result<(), Fault> {
        self.take(2)?;
        match self.raw.last() {
            Some(b'-') => {
                self.take(1)?;
                if !self.raw.ends_with(b"--") {
                    return Self::wrong(at, "a comment begins with <!--");
                }
                let begin = self.raw.len();
                loop {
                    self.take_to(b'>', "a comment")?;
                    if self.raw.get(begin..).is_some_and(|comment| comment.ends_with(b"-->")) {
                        break;
                    }
                }
                let comment = self.raw.get(begin..self.raw.len().saturating_sub(3)).unwrap_or_default();
                if comment.windows(2).any(|two| two == b"--") || comment.ends_with(b"-") {
                    return Self::wrong(at, "a comment has -- within");
                }
                decode(comment, at, false, false, &mut String::new())
            }
            Some(b'[') => {
                self.take(6)?;
                if !self.raw.ends_with(b"[CDATA[") || self.open.is_empty() {
                    return Self::wrong(at, "markup that XML does not have here");
                }
                let begin = self.raw.len();
                loop {
                    self.take_to(b'>', "a CDATA section")?;
                    if self.raw.get(begin..).is_some_and(|section| section.ends_with(b"]]>")) {
                        break;
                    }
                }
                let raw = std::mem::take(&mut self.raw);
                let text = raw.get(begin..raw.len().saturating_sub(3)).unwrap_or_default();
                self.add_text(text, at.behind(raw.get(..begin).unwrap_or_default()), false)?;
                self.raw = raw;
                Ok(())
            }
            Some(b'D') => Err(Fault::Found(&DOCTYPE, at, "a document type declaration; remove it, no event log needs one".into())),
            _ => Self::wrong(at, "markup that XML does not have here"),
        }
    }

    /// A processing instruction or the XML declaration.
    fn instruction(&mut self, at: Position, begin: bool) -> Result<(), Fault> {
        loop {
            self.take_to(b'>', "a processing instruction")?;
            if self.raw.len() >= 4 && self.raw.ends_with(b"?>") {
                break;
            }
        }
        let inside = self.raw.get(2..self.raw.len().saturating_sub(2)).unwrap_or_default();
        let mut text = String::new();
        decode(inside, at, false, false, &mut text)?;
        let (target, rest) = text.split_at(text.find([' ', '\t', '\n']).unwrap_or(text.len()));
        if target == "xml" {
            if !begin {
                return Self::wrong(at, "the XML declaration is allowed only at the very beginning of the file");
            }
            return if xml_declaration(rest) {
                Ok(())
            } else {
                Self::wrong(at, "the XML declaration is not like <?xml version=\"1.0\" encoding=\"UTF-8\"?>")
            };
        }
        if !lexical::ncname(target) || target.eq_ignore_ascii_case("xml") {
            return Self::wrong(at, "the name of a processing instruction is no name");
        }
        Ok(())
    }

    fn end_tag(&mut self, at: Position) -> Result<Tag, Fault> {
        self.take_to(b'>', "a tag")?;
        let inside = self.raw.get(2..self.raw.len().saturating_sub(1)).unwrap_or_default();
        let length = inside.iter().rposition(|&byte| !blank(byte)).map_or(0, |last| last + 1);
        let name = inside.get(..length).unwrap_or_default();
        match self.open.last() {
            Some(open) if open.as_bytes() == name => {}
            Some(open) => {
                let message = format!("the element {} is open, and {} ends here", shown(open), shown(&String::from_utf8_lossy(name)));
                return Self::wrong(at, message);
            }
            None => return Self::wrong(at, "an element ends here that did not begin"),
        }
        self.used = 0;
        Ok(self.close())
    }

    fn close(&mut self) -> Tag {
        let depth = self.open.len();
        self.prefixes.retain(|(at, _)| *at < depth);
        self.name = self.open.pop().unwrap_or_default();
        Tag::End
    }

    fn start_tag(&mut self, at: Position) -> Result<Tag, Fault> {
        // A > between quotes does not end the tag.
        let mut quote = None;
        'tag: loop {
            let buffer = match self.input.fill_buf() {
                Ok(buffer) => buffer,
                Err(error) => return Err(Fault::Log(self.input.failure().unwrap_or(error.into()))),
            };
            if buffer.is_empty() {
                return self.cut("a tag");
            }
            let mut length = buffer.len();
            let mut done = false;
            for (index, &byte) in buffer.iter().enumerate() {
                match quote {
                    Some(open) if byte == open => quote = None,
                    Some(_) => {}
                    None if byte == b'"' || byte == b'\'' => quote = Some(byte),
                    None if byte == b'>' => {
                        (length, done) = (index + 1, true);
                        break;
                    }
                    None => {}
                }
            }
            self.raw.extend_from_slice(buffer.get(..length).unwrap_or_default());
            self.input.consume(length);
            if done {
                break 'tag;
            }
        }
        if self.open.is_empty() && self.root_seen {
            return Self::wrong(at, "a second outermost element");
        }
        self.root_seen = true;
        let raw = std::mem::take(&mut self.raw);
        let result = self.parse_tag(&raw, at);
        self.raw = raw;
        result?;
        if self.open.len() >= self.limits.depth {
            return Err(Fault::too_large(at, format!("elements are nested deeper than {}", self.limits.depth)));
        }
        self.open.push(self.name.clone());
        self.namespaces()?;
        Ok(Tag::Start)
    }

    fn parse_tag(&mut self, raw: &[u8], at: Position) -> Result<(), Fault> {
        let mut inside = raw.get(1..raw.len().saturating_sub(1)).unwrap_or_default();
        self.empty = inside.last() == Some(&b'/');
        if self.empty {
            inside = inside.get(..inside.len() - 1).unwrap_or_default();
        }
        let offset = |part: &[u8]| raw.len() - 1 - part.len() - usize::from(raw.ends_with(b"/>"));
        let place = |part: &[u8]| at.behind(raw.get(..offset(part)).unwrap_or_default());
        let split = |part: &'_ [u8]| part.iter().position(|&byte| blank(byte) || byte == b'=').unwrap_or(part.len());
        let (name, mut rest) = inside.split_at_checked(split(inside)).unwrap_or_default();
        self.name.clear();
        self.name.push_str(&qualified(name).ok_or_else(|| Fault::Found(&NOT_XML, at, "the name of an element is no name".into()))?);
        self.used = 0;
        for slot in self.attributes.iter_mut().filter(|slot| slot.value.capacity() > KEPT_BYTES) {
            slot.value = String::new();
        }
        loop {
            let before = rest;
            rest = skip_blank(rest);
            if rest.is_empty() {
                return Ok(());
            }
            let here = place(rest);
            if before.len() == rest.len() {
                return Self::wrong(here, "white space is missing before an attribute");
            }
            let (name, behind) = rest.split_at_checked(split(rest)).unwrap_or_default();
            let name = qualified(name).ok_or_else(|| Fault::Found(&NOT_XML, here, "the name of an attribute is no name".into()))?;
            let behind = skip_blank(behind);
            let Some(behind) = behind.strip_prefix(b"=") else {
                return Self::wrong(place(behind), "= and a value are missing behind the name of an attribute");
            };
            let behind = skip_blank(behind);
            let Some((&quote @ (b'"' | b'\''), behind)) = behind.split_first() else {
                return Self::wrong(place(behind), "the value of an attribute must be in quotes");
            };
            let value_at = place(behind);
            let Some(end) = behind.iter().position(|&byte| byte == quote) else { return Self::wrong(value_at, "a value does not end") };
            let (value, behind) = behind.split_at_checked(end).unwrap_or_default();
            if let Some(less) = value.iter().position(|&byte| byte == b'<') {
                return Self::wrong(value_at.behind(value.get(..less).unwrap_or_default()), "< in a value is written as &lt;");
            }
            if self.attributes().iter().any(|attribute| attribute.name == name) {
                return Self::wrong(here, format!("a second attribute {}", shown(&name)));
            }
            if self.attributes.len() == self.used {
                self.attributes.push(XmlAttribute { name: String::new(), value: String::new(), at, value_at });
            }
            if let Some(slot) = self.attributes.get_mut(self.used) {
                slot.name.clear();
                slot.name.push_str(&name);
                slot.value.clear();
                decode(value, value_at, true, true, &mut slot.value)?;
                (slot.at, slot.value_at) = (here, value_at);
            }
            self.used += 1;
            if self.used > MOST_ATTRIBUTES {
                return Err(Fault::too_large(here, format!("a tag has more than {MOST_ATTRIBUTES} attributes")));
            }
            rest = behind.get(1..).unwrap_or_default();
        }
    }

    /// Every prefix has to be declared.
    fn namespaces(&mut self) -> Result<(), Fault> {
        let depth = self.open.len();
        for attribute in self.attributes.get(..self.used).unwrap_or_default() {
            if let Some(prefix) = attribute.name.strip_prefix("xmlns:") {
                if attribute.value.is_empty() || prefix == "xmlns" {
                    return Self::wrong(attribute.at, "a prefix has no namespace");
                }
                if self.prefixes.len() >= MOST_ATTRIBUTES {
                    return Err(Fault::too_large(attribute.at, "too many prefixes are declared"));
                }
                self.prefixes.push((depth, prefix.to_owned()));
            }
        }
        let names = self.attributes().iter().map(|attribute| (attribute.name.as_str(), attribute.at));
        for (name, at) in names.chain([(self.name.as_str(), self.at)]) {
            if let Some((prefix, _)) = name.split_once(':')
                && !matches!(prefix, "xml" | "xmlns")
                && !self.prefixes.iter().any(|(_, known)| known == prefix)
            {
                return Self::wrong(at, format!("the prefix {} is not declared", shown(prefix)));
            }
        }
        Ok(())
    }
}

/// More attributes in a tag take too long to compare; no schema has more than five.
const MOST_ATTRIBUTES: usize = 100;

/// Names are kept while elements are open; no schema has one of more than 20 bytes.
const NAME_BYTES: usize = 1000;

/// Values that need more memory do not keep it for the next tag.
const KEPT_BYTES: usize = 1 << 16;

fn skip_blank(text: &[u8]) -> &[u8] {
    let blanks = text.iter().take_while(|&&byte| blank(byte)).count();
    text.get(blanks..).unwrap_or_default()
}

/// A name of bearable length, with at most one colon.
fn qualified(name: &[u8]) -> Option<String> {
    let name = std::str::from_utf8(name).ok().filter(|name| name.len() <= NAME_BYTES)?;
    let good = match name.split_once(':') {
        None => strict_ncname(name),
        Some((prefix, local)) => strict_ncname(prefix) && strict_ncname(local),
    };
    good.then(|| name.to_owned())
}

fn strict_ncname(name: &str) -> bool {
    let mut characters = name.chars();
    characters.next().is_some_and(lexical::starts_name) && characters.all(lexical::in_name)
}

/// What follows `<?xml`.
fn xml_declaration(text: &str) -> bool {
    let mut rest = text;
    let mut parts = ["version", "encoding", "standalone"].iter();
    let mut versions = false;
    loop {
        let trimmed = rest.trim_start_matches([' ', '\t', '\n']);
        if trimmed.is_empty() {
            return versions;
        }
        if trimmed.len() == rest.len() {
            return false;
        }
        let Some((name, behind)) = trimmed.split_once('=') else { return false };
        let name = name.trim_end_matches([' ', '\t', '\n']);
        let behind = behind.trim_start_matches([' ', '\t', '\n']);
        let Some(quote) = behind.chars().next().filter(|&c| c == '"' || c == '\'') else { return false };
        let Some((value, behind)) = behind.get(1..).and_then(|behind| behind.split_once(quote)) else { return false };
        let good = match name {
            "version" => value.strip_prefix("1.").is_some_and(|minor| !minor.is_empty() && minor.bytes().all(|byte| byte.is_ascii_digit())),
            // Which encoding it is was looked at by the input.
            "encoding" => value.starts_with(|c: char| c.is_ascii_alphabetic()),
            _ => matches!(value, "yes" | "no"),
        };
        // In this order, the first always.
        if !good || !parts.any(|part| *part == name) || !(versions || name == "version") {
            return false;
        }
        versions = true;
        rest = behind;
    }
}

/// Appends text with its references resolved and its line ends normalised; in the value of an
/// attribute all white space becomes spaces.
fn decode(raw: &[u8], at: Position, references: bool, value: bool, out: &mut String) -> Result<(), Fault> {
    let wrong = |offset: usize, message: String| Err(Fault::Found(&NOT_XML, at.behind(raw.get(..offset).unwrap_or_default()), message));
    let mut done = 0;
    let plain = |from: usize, to: usize| raw.get(from..to).and_then(|part| std::str::from_utf8(part).ok()).unwrap_or_default();
    let mut offset = 0;
    while let Some(&byte) = raw.get(offset) {
        let special = byte < b' ' || byte == b'&' || byte == 0xef;
        if !special {
            offset += 1;
            continue;
        }
        match byte {
            0xef => {
                if matches!(raw.get(offset + 1..offset + 3), Some([0xbf, 0xbe | 0xbf])) {
                    return wrong(offset, "U+FFFE and U+FFFF are no characters in XML".into());
                }
                offset += 1;
            }
            b'&' if references => {
                out.push_str(plain(done, offset));
                let length = raw.get(offset..).and_then(|rest| rest.iter().take(64).position(|&byte| byte == b';'));
                let Some(length) = length else { return wrong(offset, "& in text is written as &amp;".into()) };
                let name = plain(offset + 1, offset + length);
                match reference(name) {
                    Some(character) => out.push(character),
                    None if name.starts_with('#') => return wrong(offset, format!("the reference {} is no character in XML", shown(name))),
                    None => return wrong(offset, format!("the entity {} is not declared", shown(name))),
                }
                offset += length + 1;
                done = offset;
            }
            b'\n' | b'\t' if !value => offset += 1,
            b'\n' | b'\t' | b'\r' => {
                out.push_str(plain(done, offset));
                out.push(if value { ' ' } else { '\n' });
                offset += if byte == b'\r' && raw.get(offset + 1) == Some(&b'\n') { 2 } else { 1 };
                done = offset;
            }
            b'&' => offset += 1,
            _ => return wrong(offset, format!("the control character 0x{byte:02x} is not allowed in XML")),
        }
    }
    out.push_str(plain(done, raw.len()));
    Ok(())
}

fn reference(name: &str) -> Option<char> {
    Some(match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix('x') {
                Some(hexadecimal) if hexadecimal.bytes().all(|byte| byte.is_ascii_hexdigit()) => u32::from_str_radix(hexadecimal, 16),
                None if number.bytes().all(|byte| byte.is_ascii_digit()) => number.parse(),
                _ => return None,
            };
            let character = char::from_u32(code.ok()?)?;
            let allowed = matches!(character, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..);
            return allowed.then_some(character);
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(text: &str) -> Result<String, Fault> {
        let limits = Limits { depth: 5, ..Limits::default() };
        let mut xml = Xml::new(Input::xml(text.as_bytes(), &limits).map_err(Fault::Log)?, &limits);
        let mut out = String::new();
        loop {
            let tag = xml.next()?;
            out.push_str(&xml.text);
            match tag {
                Tag::Start => {
                    out.push_str(&format!("<{}", xml.name));
                    for attribute in xml.attributes() {
                        out.push_str(&format!(
                            " {}@{}:{}={}",
                            attribute.name, attribute.value_at.line, attribute.value_at.column, attribute.value
                        ));
                    }
                    out.push('>');
                }
                Tag::End => out.push_str(&format!("</{}>", xml.name)),
                Tag::Eof => return Ok(out),
            }
        }
    }

    #[test]
    fn a_document() {
        let text = "\u{feff}<?xml version='1.0' encoding=\"utf-8\" ?>\r\n<!-- - --><a x = '1&lt;\r\n2'\n y=\"&#65;&#x42;>\"><b/>t&amp;<![CDATA[<&]]>ï\r\nu</a >\n<?p q?>";
        assert_eq!(walk(text).unwrap(), "<a x@2:19=1< 2 y@4:5=AB>><b></b>t&<&ï\nu</a>");
    }

    #[test]
    fn places_of_what_is_wrong() {
        for (text, line, column, part) in [
            ("<a>\n <b></a>", 2, 5, "is open"),
            ("<a>\n", 2, 1, "cut"),
            ("<a b='1' b='2'/>", 1, 10, "second attribute"),
            ("<a b='1'c='2'/>", 1, 9, "white space"),
            ("<a b=1/>", 1, 6, "in quotes"),
            ("<a b/>", 1, 5, "= and a value"),
            ("<a b='\n<'/>", 2, 1, "&lt;"),
            ("<a>&x;</a>", 1, 4, "entity"),
            ("<a>\n&#0;</a>", 2, 1, "no character"),
            ("<a>&</a>", 1, 4, "&amp;"),
            ("<a>\u{1}</a>", 1, 4, "control"),
            ("<a>\u{ffff}</a>", 1, 4, "U+FFFE"),
            ("<a>]]></a>", 1, 4, "]]&gt;"),
            ("<a/><b/>", 1, 5, "second outermost"),
            ("<a/> x", 1, 6, "outside"),
            ("</a>", 1, 1, "did not begin"),
            ("<a><!-- -- --></a>", 1, 4, "comment"),
            (" <?xml version='1.0'?><a/>", 1, 2, "very beginning"),
            ("<?xml encoding='utf-8'?><a/>", 1, 1, "declaration"),
            ("<x:a/>", 1, 1, "prefix"),
            ("<a xmlns:x='u' / >", 1, 16, "name of an attribute"),
            ("<1/>", 1, 1, "name of an element"),
            ("", 1, 1, "no element"),
            ("<a", 1, 3, "cut"),
        ] {
            match walk(text) {
                Err(Fault::Found(rule, at, message)) => {
                    assert_eq!((rule.word, at.line, at.column), ("not_xml", line, column), "{text}: {message}");
                    assert!(message.contains(part), "{text}: {message}");
                }
                other => panic!("{text}: {other:?}"),
            }
        }
        assert!(matches!(walk("<!DOCTYPE a [<!ENTITY b 'c'>]><a/>"), Err(Fault::Found(rule, ..)) if rule.word == "doctype"));
        let Err(Fault::Found(rule, at, _)) = walk("<a><a><a><a><a><a>") else { panic!() };
        assert_eq!((rule.word, at.column), ("refused", 16));
    }
}

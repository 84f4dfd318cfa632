//! Hostile JSON, value by value.
//!
//! A [`Document`] gives the keys of a file's outermost object and, one by one, the items of the
//! arrays below; a [`Cursor`] walks through one such item, which is in memory as a whole and
//! borrowed from there. Nothing makes a tree. Refused with line and column: what is no JSON (RFC
//! 8259), a text longer than [`Limits::text_bytes`], an item larger than [`Limits::record_bytes`],
//! nesting deeper than [`Limits::depth`].
//!
//! This is no general parser's work because records are to be borrowed, findings need places within
//! a record, and a number must not become a rounded one unseen. Beyond the standard, `NaN`,
//! `Infinity` and `-Infinity` are read as numbers, since Python writes them.

use std::borrow::Cow;
use std::io::BufRead;

use crate::error::LogError;
use crate::read::Limits;
use crate::read::input::{Input, Position};

/// What a value begins as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Object,
    Array,
    String,
    Number,
    Boolean,
    Null,
}

/// Walks through a JSON file, item by item.
pub(crate) struct Document<'r> {
    input: Input<'r>,
    limits: Limits,
    /// An item that does not lie in one piece in the input's buffer.
    item: Vec<u8>,
    depth: usize,
}

impl<'r> Document<'r> {
    pub(crate) fn new(input: Input<'r>, limits: &Limits) -> Self {
        Self { input, limits: *limits, item: Vec::new(), depth: 0 }
    }

    /// The place of the next byte.
    pub(crate) fn place(&mut self) -> Position {
        self.input.position()
    }

    /// The next byte that is no white space, without consuming it; none at the end.
    pub(crate) fn peek(&mut self) -> Result<Option<u8>, LogError> {
        self.input.skip_white_space()?;
        match self.input.fill_buf() {
            Ok(bytes) => Ok(bytes.first().copied()),
            Err(error) => Err(self.input.explain(error)),
        }
    }

    /// Consumes this byte and white space before it; an error when another byte comes.
    pub(crate) fn expect(&mut self, byte: u8) -> Result<(), LogError> {
        let next = self.peek()?;
        if next == Some(byte) {
            self.input.consume(1);
            self.depth += usize::from(matches!(byte, b'{' | b'['));
            return Ok(());
        }
        Err(self.unexpected(&format!("{:?}", char::from(byte))))
    }

    /// Goes to the next member of the object or item of the array that was begun: whether there is
    /// one.
    pub(crate) fn more(&mut self, first: bool, end: u8) -> Result<bool, LogError> {
        let next = self.peek()?;
        if next == Some(end) {
            self.input.consume(1);
            self.depth -= 1;
            return Ok(false);
        }
        if first {
            return match next {
                Some(_) => Ok(true),
                None => Err(self.unexpected("a value")),
            };
        }
        if next != Some(b',') {
            return Err(self.unexpected(&format!("',' or {:?}", char::from(end))));
        }
        self.input.consume(1);
        match self.peek()? {
            None | Some(b']' | b'}') => Err(self.unexpected("a value")),
            Some(_) => Ok(true),
        }
    }

    /// The next value, in memory as a whole.
    pub(crate) fn item(&mut self) -> Result<Cursor<'_>, LogError> {
        if self.peek()?.is_none() {
            return Err(self.unexpected("a value"));
        }
        self.input.token_done();
        let begin = self.input.token();
        self.item.clear();
        // One large item must not make all later ones expensive to hold.
        self.item.shrink_to(1 << 20);
        let mut extent = Extent::default();
        loop {
            let bytes = match self.input.fill_buf() {
                Ok(bytes) => bytes,
                Err(error) => return Err(self.input.explain(error)),
            };
            if bytes.is_empty() {
                // A number can be the last in a file, and others are cut: the cursor says how.
                break;
            }
            let (taken, over) = extent.take(bytes);
            self.item.extend_from_slice(bytes.get(..taken).unwrap_or_default());
            self.input.consume(taken);
            if over {
                break;
            }
        }
        self.input.token_done();
        // The input has let only UTF-8 pass.
        let text = std::str::from_utf8(&self.item).map_err(|error| begin.refuse(error.to_string()))?;
        Ok(Cursor { text, at: 0, counted: 0, place: begin, limits: self.limits, depth: self.depth })
    }

    /// The error for what stands here instead.
    pub(crate) fn unexpected(&mut self, expected: &str) -> LogError {
        // A character can have more than one byte, and the buffer begins with a whole one.
        let found = self.input.fill_buf().ok().and_then(|bytes| bytes.utf8_chunks().next()?.valid().chars().next());
        self.place().refuse(unexpected(found, expected))
    }
}

fn unexpected(found: Option<char>, expected: &str) -> String {
    match found {
        None => format!("the file ends where {expected} should be: it is cut"),
        Some(found) => format!("found {found:?}, expected {expected}"),
    }
}

/// Finds where a value ends, whatever is in it.
#[derive(Default)]
struct Extent {
    depth: usize,
    in_string: bool,
    escaped: bool,
    in_word: bool,
}

impl Extent {
    /// How many of these bytes still belong to the value, and whether it ends with them.
    fn take(&mut self, bytes: &[u8]) -> (usize, bool) {
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            if self.in_string {
                if self.escaped {
                    self.escaped = false;
                    at += 1;
                    continue;
                }
                let rest = bytes.get(at..).unwrap_or_default();
                match rest.iter().position(|&byte| byte == b'"' || byte == b'\\') {
                    None => return (bytes.len(), false),
                    Some(run) => {
                        self.escaped = rest.get(run) == Some(&b'\\');
                        self.in_string = self.escaped;
                        at += run + 1;
                    }
                }
                if !self.in_string && self.depth == 0 {
                    return (at, true);
                }
                continue;
            }
            match byte {
                // A word ends before what cannot be part of it.
                b'"' | b'{' | b'[' | b'}' | b']' | b',' | b':' | b' ' | b'\t' | b'\n' | b'\r' if self.in_word && self.depth == 0 => {
                    return (at, true);
                }
                b'"' => self.in_string = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return (at + 1, true);
                    }
                }
                b',' | b':' if self.depth == 0 => return (at + 1, true),
                _ => self.in_word = self.depth == 0,
            }
            at += 1;
        }
        (bytes.len(), false)
    }
}

/// Walks through one JSON value, which is in memory as a whole.
#[derive(Clone)]
pub(crate) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    /// The place of the byte `counted`, which is not behind `at`.
    counted: usize,
    place: Position,
    limits: Limits,
    depth: usize,
}

impl<'a> Cursor<'a> {
    /// The place of the next byte that is no white space.
    pub(crate) fn place(&mut self) -> Position {
        self.white();
        self.place_at(self.at)
    }

    /// Each byte is counted once: `at` is not before a place that was asked for earlier.
    fn place_at(&mut self, at: usize) -> Position {
        let place = self.place.behind(self.text.as_bytes().get(self.counted..at).unwrap_or_default());
        (self.place, self.counted) = (place, at.max(self.counted));
        place
    }

    fn white(&mut self) {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        self.at += rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count();
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn unexpected(&mut self, expected: &str) -> LogError {
        self.place_at(self.at).refuse(unexpected(self.rest().chars().next(), expected))
    }

    /// What the next value is.
    pub(crate) fn kind(&mut self) -> Result<Kind, LogError> {
        self.white();
        match self.byte() {
            Some(b'{') => Ok(Kind::Object),
            Some(b'[') => Ok(Kind::Array),
            Some(b'"') => Ok(Kind::String),
            Some(b't' | b'f') => Ok(Kind::Boolean),
            Some(b'n') => Ok(Kind::Null),
            Some(b'-' | b'0'..=b'9' | b'N' | b'I') => Ok(Kind::Number),
            _ => Err(self.unexpected("a value")),
        }
    }

    /// Says that the value is over.
    pub(crate) fn end(&mut self) -> Result<(), LogError> {
        self.white();
        if self.at == self.text.len() { Ok(()) } else { Err(self.unexpected("the end of the value")) }
    }

    fn open(&mut self, bracket: u8) -> Result<(), LogError> {
        self.white();
        if self.byte() != Some(bracket) {
            return Err(self.unexpected(&format!("{:?}", char::from(bracket))));
        }
        if self.depth >= self.limits.depth {
            return Err(self.place_at(self.at).refuse(format!("nested deeper than {}", self.limits.depth)));
        }
        self.at += 1;
        self.depth += 1;
        Ok(())
    }

    /// Goes to the next member or item: whether there is one.
    fn more(&mut self, first: bool, end: u8) -> Result<bool, LogError> {
        self.white();
        if self.byte() == Some(end) {
            self.at += 1;
            self.depth -= 1;
            return Ok(false);
        }
        if first {
            return Ok(true);
        }
        if self.byte() != Some(b',') {
            return Err(self.unexpected(&format!("',' or {:?}", char::from(end))));
        }
        self.at += 1;
        Ok(true)
    }

    fn key(&mut self) -> Result<Cow<'a, str>, LogError> {
        let key = self.string()?;
        self.white();
        if self.byte() != Some(b':') {
            return Err(self.unexpected("':'"));
        }
        self.at += 1;
        Ok(key)
    }

    /// Walks through an object: `member` has to take the value of each key.
    pub(crate) fn object(&mut self, mut member: impl FnMut(&mut Self, Cow<'a, str>) -> Result<(), LogError>) -> Result<(), LogError> {
        self.open(b'{')?;
        let mut first = true;
        while self.more(first, b'}')? {
            first = false;
            let key = self.key()?;
            member(self, key)?;
        }
        Ok(())
    }

    /// Walks through an array: `item` has to take each value.
    pub(crate) fn array(&mut self, mut item: impl FnMut(&mut Self) -> Result<(), LogError>) -> Result<(), LogError> {
        self.open(b'[')?;
        let mut first = true;
        while self.more(first, b']')? {
            first = false;
            item(self)?;
        }
        Ok(())
    }

    /// Takes a string and gives its text without escapes.
    pub(crate) fn string(&mut self) -> Result<Cow<'a, str>, LogError> {
        self.white();
        if self.byte() != Some(b'"') {
            return Err(self.unexpected("a string"));
        }
        let begin = self.at;
        self.at += 1;
        let mut unescaped = String::new();
        let mut start = self.at;
        loop {
            let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
            let run = rest.iter().position(|&byte| byte == b'"' || byte == b'\\' || byte < 0x20);
            self.at += run.unwrap_or(rest.len());
            if self.at - begin - 1 > self.limits.text_bytes {
                return Err(self.place_at(begin).refuse(format!("a string is longer than {} bytes", self.limits.text_bytes)));
            }
            let piece = self.text.get(start..self.at).unwrap_or_default();
            match self.byte() {
                Some(b'"') => {
                    self.at += 1;
                    if unescaped.is_empty() {
                        return Ok(Cow::Borrowed(piece));
                    }
                    unescaped.push_str(piece);
                    return Ok(Cow::Owned(unescaped));
                }
                Some(b'\\') => {
                    unescaped.push_str(piece);
                    unescaped.push(self.escape()?);
                    start = self.at;
                }
                Some(_) => return Err(self.unexpected("a character that is allowed in a string")),
                None => return Err(self.unexpected("the end of a string")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, LogError> {
        let begin = self.at;
        self.at += 1;
        let character = match self.byte() {
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                self.at += 1;
                let first = self.four_digits()?;
                let code = match first {
                    0xd800..=0xdbff if self.rest().starts_with("\\u") => {
                        self.at += 2;
                        match self.four_digits()? {
                            second @ 0xdc00..=0xdfff => 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00),
                            _ => first,
                        }
                    }
                    _ => first,
                };
                return char::from_u32(code).ok_or_else(|| self.place_at(begin).refuse("half of a surrogate pair, which is no character"));
            }
            _ => return Err(self.unexpected("one of \"\\/bfnrtu, as after every backslash,")),
        };
        self.at += 1;
        Ok(character)
    }

    fn four_digits(&mut self) -> Result<u32, LogError> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.byte().and_then(|byte| char::from(byte).to_digit(16));
            code = code * 16 + digit.ok_or_else(|| self.unexpected("a hexadecimal digit"))?;
            self.at += 1;
        }
        Ok(code)
    }

    /// A number as it is written.
    pub(crate) fn number(&mut self) -> Result<&'a str, LogError> {
        self.white();
        for word in ["NaN", "Infinity", "-Infinity"] {
            if self.rest().starts_with(word) {
                return self.word(word);
            }
        }
        let start = self.at;
        if self.byte() == Some(b'-') {
            self.at += 1;
        }
        if self.byte() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.byte() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.byte(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.byte(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        if self.at - start > self.limits.text_bytes {
            return Err(self.place_at(start).refuse(format!("a number is longer than {} bytes", self.limits.text_bytes)));
        }
        Ok(self.text.get(start..self.at).unwrap_or_default())
    }

    fn digits(&mut self) -> Result<(), LogError> {
        let count = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        self.at += count;
        if count == 0 { Err(self.unexpected("a digit")) } else { Ok(()) }
    }

    fn word(&mut self, word: &str) -> Result<&'a str, LogError> {
        self.white();
        let rest = self.rest();
        if !rest.starts_with(word) {
            return Err(self.unexpected("a value"));
        }
        self.at += word.len();
        Ok(rest.get(..word.len()).unwrap_or_default())
    }

    /// Takes `true` or `false`.
    pub(crate) fn boolean(&mut self) -> Result<bool, LogError> {
        self.white();
        let truth = self.byte() == Some(b't');
        self.word(if truth { "true" } else { "false" })?;
        Ok(truth)
    }

    /// Takes `null`.
    pub(crate) fn null(&mut self) -> Result<(), LogError> {
        self.word("null").map(|_| ())
    }

    /// Passes over a value and gives it as it is written.
    pub(crate) fn skip(&mut self) -> Result<&'a str, LogError> {
        self.white();
        let start = self.at;
        // The ends of the brackets that are open, so that nothing recurses; no longer than the depth.
        let mut ends = Vec::new();
        let mut first = true;
        loop {
            match self.kind()? {
                Kind::Object => {
                    self.open(b'{')?;
                    ends.push(b'}');
                    first = true;
                }
                Kind::Array => {
                    self.open(b'[')?;
                    ends.push(b']');
                    first = true;
                }
                Kind::String => drop(self.string()?),
                Kind::Number => drop(self.number()?),
                Kind::Boolean => drop(self.boolean()?),
                Kind::Null => self.null()?,
            }
            loop {
                let Some(&end) = ends.last() else {
                    return Ok(self.text.get(start..self.at).unwrap_or_default());
                };
                if self.more(first, end)? {
                    break;
                }
                first = false;
                ends.pop();
            }
            first = false;
            if ends.last() == Some(&b'}') {
                self.key()?;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Map, Value, json};

    const LIMITS: Limits = Limits { text_bytes: 1000, record_bytes: 10_000, depth: 20, definitions: 1 };

    /// The value, as a tree.
    fn tree(cursor: &mut Cursor<'_>) -> Result<Value, LogError> {
        Ok(match cursor.kind()? {
            Kind::Object => {
                let mut map = Map::new();
                cursor.object(|cursor, key| {
                    map.insert(key.into_owned(), tree(cursor)?);
                    Ok(())
                })?;
                map.into()
            }
            Kind::Array => {
                let mut all = Vec::new();
                cursor.array(|cursor| {
                    all.push(tree(cursor)?);
                    Ok(())
                })?;
                all.into()
            }
            Kind::String => cursor.string()?.into(),
            Kind::Number => serde_json::from_str(cursor.number()?).unwrap(),
            Kind::Boolean => cursor.boolean()?.into(),
            Kind::Null => {
                cursor.null()?;
                Value::Null
            }
        })
    }

    /// The first value of a text as the cursor has it, once as a tree and once skipped, and what is
    /// left of the text.
    fn ours(text: &str) -> Result<(Value, String), LogError> {
        let mut document = Document::new(Input::records(text.as_bytes(), &LIMITS)?, &LIMITS);
        let mut cursor = document.item()?;
        let skipped = cursor.clone().skip().map(str::to_owned);
        let value = tree(&mut cursor).inspect_err(|error| assert_eq!(skipped.as_ref().unwrap_err().to_string(), error.to_string()))?;
        cursor.end()?;
        assert_eq!(serde_json::from_str::<Value>(&skipped?).unwrap(), value);
        let mut rest = String::new();
        while let Some(byte) = document.peek()? {
            document.expect(byte)?;
            rest.push(char::from(byte));
        }
        Ok((value, rest))
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            "\\PC*|[\u{0}-\u{7f}]*".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 30, 5, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                proptest::collection::vec(("[a-c\"\\\\\n]*", inner), 0..5).prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn it_is_what_serde_json_reads(value in any_json(), pretty: bool) {
            let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
            prop_assume!(text.len() < LIMITS.text_bytes);
            let (read, rest) = ours(&text).unwrap();
            // Printing and reading a number can change its last bit there.
            prop_assert_eq!(read, serde_json::from_str::<Value>(&text).unwrap());
            prop_assert!(rest.is_empty());
        }

        /// What one of both refuses, the other does too.
        #[test]
        fn mistakes_are_mistakes(text in r#"([\[\]{},: ]|"|\\|1|-|0|\.|e5|null|true|"a":|"\\n"|"\\ud83d\\ude00"|\\u00|\n|é){0,12}"#) {
            let theirs = serde_json::from_str::<Value>(&text);
            match ours(&text) {
                Ok((value, rest)) if rest.is_empty() => prop_assert_eq!(value, theirs.unwrap()),
                _ => prop_assert!(theirs.is_err(), "{}", text),
            }
        }
    }

    #[test]
    fn escapes() {
        let (value, _) = ours(r#""\"\\\/\b\f\n\r\t\u00e4\ud83d\ude00 ä""#).unwrap();
        assert_eq!(value, json!("\"\\/\u{8}\u{c}\n\r\tä\u{1f600} ä"));
        for text in [r#""\ud83d""#, r#""\ud83dx""#, r#""\ud83d\u0041""#, r#""\ude00""#, r#""\u00g0""#, r#""\x""#, "\"\u{1}\"", "\"\\"] {
            assert!(ours(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_place_is_that_of_the_mistake() {
        for (text, expected) in [
            (" [1,\n 2,, 3]", "line 2, column 4: found ',', expected a value"),
            ("{\"a\"\n\n1}", "line 3, column 1: found '1', expected ':'"),
            ("[é§]", "line 1, column 2: found 'é', expected a value"),
            ("\n12x", "line 2, column 3: found 'x', expected the end of the value"),
            ("[[[[[[[[[[[[[[[[[[[[[", "line 1, column 21: nested deeper than 20"),
            ("", "line 1, column 1: the file ends where a value should be: it is cut"),
        ] {
            assert_eq!(ours(text).unwrap_err().to_string(), expected);
        }
    }
}

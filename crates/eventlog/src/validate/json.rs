//! JSON token by token, with places. Strict RFC 8259; the first thing that is no JSON ends it.
//!
//! Strings, numbers and nesting keep to the limits here, records because [`Input`] watches over
//! them. The readers have a tokenizer of their own (`read::json`): it holds a record as a whole and
//! borrows from it, and forgives what Python writes.

use std::io::BufRead;

use super::fault::Fault;
use super::rules::NOT_JSON;
use crate::read::Limits;
use crate::read::input::{Input, Position};

/// What a value begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token {
    Object,
    Array,
    /// Its text is [`Json::text`].
    String,
    /// Its text is [`Json::text`].
    Number,
    Bool(bool),
    Null,
}

impl Token {
    /// Its type's name in JSON Schema.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Object => "object",
            Self::Array => "array",
            Self::String => "string",
            Self::Number => "number",
            Self::Bool(_) => "boolean",
            Self::Null => "null",
        }
    }
}

/// A text read token by token.
pub(super) struct Json<'r> {
    input: Input<'r>,
    /// Where the last token began.
    pub(super) at: Position,
    /// The last string or number.
    pub(super) text: String,
    /// The last member's name.
    pub(super) key: String,
    bytes: Vec<u8>,
    limits: Limits,
    /// How many objects and arrays are open.
    depth: usize,
}

/// The values of the arrays in the outermost object are the records.
const DEPTH_OF_RECORDS: usize = 2;

impl<'r> Json<'r> {
    /// `input` is one for records.
    pub(super) fn new(input: Input<'r>, limits: &Limits) -> Self {
        Self { input, at: Position::START, text: String::new(), key: String::new(), bytes: Vec::new(), limits: *limits, depth: 0 }
    }

    fn too_long<T>(&self, what: &str) -> Result<T, Fault> {
        Err(Fault::too_large(self.at, format!("{what} is longer than {} bytes", self.limits.text_bytes)))
    }

    fn peek(&mut self) -> Result<Option<u8>, Fault> {
        match self.input.fill_buf() {
            Ok(buffer) => Ok(buffer.first().copied()),
            Err(error) => Err(Fault::Log(self.input.failure().unwrap_or(error.into()))),
        }
    }

    fn wrong<T>(&mut self, message: impl Into<String>) -> Result<T, Fault> {
        let at = self.input.position();
        Err(Fault::Found(&NOT_JSON, at, message.into()))
    }

    fn unexpected<T>(&mut self, instead: &str) -> Result<T, Fault> {
        match self.peek()? {
            None => self.wrong(format!("the file ends here, where {instead} should be: it is cut")),
            Some(byte) if byte.is_ascii_graphic() => self.wrong(format!("found {}, expected {instead}", char::from(byte))),
            Some(byte) => self.wrong(format!("found byte 0x{byte:02x}, expected {instead}")),
        }
    }

    /// The next byte that is no white space.
    fn next_sign(&mut self) -> Result<Option<u8>, Fault> {
        loop {
            if self.depth <= DEPTH_OF_RECORDS {
                // White space between records can be of any length.
                self.input.token_done();
            }
            let buffer = match self.input.fill_buf() {
                Ok(buffer) => buffer,
                Err(error) => return Err(Fault::Log(self.input.failure().unwrap_or(error.into()))),
            };
            if buffer.is_empty() {
                return Ok(None);
            }
            match buffer.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r')) {
                Some(blank) => {
                    let sign = buffer.get(blank).copied();
                    self.input.consume(blank);
                    return Ok(sign);
                }
                None => {
                    let all = buffer.len();
                    self.input.consume(all);
                }
            }
        }
    }

    /// Reads the beginning of a value; of a string, number or word all of it.
    pub(super) fn value(&mut self) -> Result<Token, Fault> {
        let sign = self.next_sign()?;
        self.at = self.input.position();
        if self.depth <= DEPTH_OF_RECORDS {
            self.input.token_done();
        }
        let token = match sign {
            Some(b'{') => Token::Object,
            Some(b'[') => Token::Array,
            Some(b'"') => {
                self.text.clear();
                let mut text = std::mem::take(&mut self.text);
                let result = self.string(&mut text);
                self.text = text;
                return result.map(|()| Token::String);
            }
            Some(b'-' | b'0'..=b'9') => return self.number(),
            Some(b't') => return self.word(b"true", Token::Bool(true)),
            Some(b'f') => return self.word(b"false", Token::Bool(false)),
            Some(b'n') => return self.word(b"null", Token::Null),
            _ => return self.unexpected("a value"),
        };
        if self.depth >= self.limits.depth {
            return Err(Fault::too_large(self.at, format!("nested deeper than {}", self.limits.depth)));
        }
        self.input.consume(1);
        self.depth += 1;
        Ok(token)
    }

    fn word(&mut self, word: &[u8], token: Token) -> Result<Token, Fault> {
        for &byte in word {
            if self.peek()? != Some(byte) {
                return self.unexpected("true, false or null");
            }
            self.input.consume(1);
        }
        Ok(token)
    }

    fn digits(&mut self) -> Result<(), Fault> {
        let before = self.text.len();
        while let Some(byte @ b'0'..=b'9') = self.peek()? {
            self.text.push(char::from(byte));
            self.input.consume(1);
            if self.text.len() > self.limits.text_bytes {
                return self.too_long("a number");
            }
        }
        if self.text.len() == before { self.unexpected("a digit") } else { Ok(()) }
    }

    fn sign(&mut self, signs: &[u8]) -> Result<bool, Fault> {
        match self.peek()? {
            Some(byte) if signs.contains(&byte) => {
                self.text.push(char::from(byte));
                self.input.consume(1);
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    fn number(&mut self) -> Result<Token, Fault> {
        self.text.clear();
        self.sign(b"-")?;
        if !self.sign(b"0")? {
            self.digits()?;
        }
        if self.sign(b".")? {
            self.digits()?;
        }
        if self.sign(b"eE")? {
            self.sign(b"+-")?;
            self.digits()?;
        }
        Ok(Token::Number)
    }

    fn string(&mut self, into: &mut String) -> Result<(), Fault> {
        self.input.consume(1);
        self.bytes.clear();
        loop {
            let buffer = match self.input.fill_buf() {
                Ok(buffer) => buffer,
                Err(error) => return Err(Fault::Log(self.input.failure().unwrap_or(error.into()))),
            };
            let run = buffer.iter().position(|&byte| byte == b'"' || byte == b'\\' || byte < b' ').unwrap_or(buffer.len());
            let stop = buffer.get(run).copied();
            self.bytes.extend_from_slice(buffer.get(..run).unwrap_or_default());
            let empty = buffer.is_empty();
            self.input.consume(run);
            if self.bytes.len() > self.limits.text_bytes {
                return self.too_long("a string");
            }
            match stop {
                Some(b'"') => {
                    self.input.consume(1);
                    break;
                }
                Some(b'\\') => self.escape()?,
                Some(_) => return self.unexpected("the rest of a string (control characters in it are written as \\u00XX)"),
                None if empty => return self.unexpected("the end of a string"),
                None => {}
            }
        }
        // The input gives UTF-8 only, and the escapes are characters.
        match std::str::from_utf8(&self.bytes) {
            Ok(text) => into.push_str(text),
            Err(_) => return self.wrong("the string is not UTF-8"),
        }
        Ok(())
    }

    fn escape(&mut self) -> Result<(), Fault> {
        let at = self.input.position();
        self.input.consume(1);
        let plain = match self.peek()? {
            Some(byte @ (b'"' | b'\\' | b'/')) => byte,
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'u') => {
                let mut code = self.hexadecimal()?;
                if (0xd800..0xdc00).contains(&code) && self.peek()? == Some(b'\\') {
                    self.input.consume(1);
                    if self.peek()? == Some(b'u') {
                        let low = self.hexadecimal()?;
                        if (0xdc00..0xe000).contains(&low) {
                            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
                        }
                    }
                }
                let Some(character) = char::from_u32(code) else {
                    return Err(Fault::Found(
                        &NOT_JSON,
                        at,
                        "half a surrogate pair is no character, and no reader agrees with another about it".into(),
                    ));
                };
                self.bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                return Ok(());
            }
            _ => return self.unexpected("one of \" \\ / b f n r t u after \\"),
        };
        self.input.consume(1);
        self.bytes.push(plain);
        Ok(())
    }

    /// `u` and four digits.
    fn hexadecimal(&mut self) -> Result<u32, Fault> {
        self.input.consume(1);
        let mut code = 0;
        for _ in 0..4 {
            let Some(digit) = self.peek()?.and_then(|byte| char::from(byte).to_digit(16)) else {
                return self.unexpected("a hexadecimal digit");
            };
            self.input.consume(1);
            code = code << 4 | digit;
        }
        Ok(code)
    }

    /// Goes to the next item of an array or member of an object, past the comma. Gives false behind
    /// the closing bracket.
    fn step(&mut self, first: &mut bool, close: u8) -> Result<bool, Fault> {
        let is_first = std::mem::replace(first, false);
        match self.next_sign()? {
            Some(sign) if sign == close => {
                self.input.consume(1);
                self.depth = self.depth.saturating_sub(1);
                Ok(false)
            }
            _ if is_first => Ok(true),
            Some(b',') => {
                self.input.consume(1);
                if self.next_sign()? == Some(close) {
                    return self.unexpected("what the comma announces");
                }
                Ok(true)
            }
            _ => self.unexpected(if close == b'}' { ", or }" } else { ", or ]" }),
        }
    }

    /// Moves to the next item of an array, after its opening bracket; `first` is true before the
    /// first item.
    pub(super) fn item(&mut self, first: &mut bool) -> Result<bool, Fault> {
        self.step(first, b']')
    }

    /// Moves to the next member of an object, after its opening brace, and reads its name into
    /// [`Json::key`] and its place into [`Json::at`].
    pub(super) fn member(&mut self, first: &mut bool) -> Result<bool, Fault> {
        if !self.step(first, b'}')? {
            return Ok(false);
        }
        if self.next_sign()? != Some(b'"') {
            return self.unexpected("a name between double quotes");
        }
        self.at = self.input.position();
        let mut key = std::mem::take(&mut self.key);
        key.clear();
        let result = self.string(&mut key);
        self.key = key;
        result?;
        if self.next_sign()? != Some(b':') {
            return self.unexpected(":");
        }
        self.input.consume(1);
        Ok(true)
    }

    /// Reads what is left of a value that began with `token`.
    pub(super) fn skip(&mut self, token: Token) -> Result<(), Fault> {
        // Not recursive: the stack is not ours.
        let mut open = match token {
            Token::Object | Token::Array => vec![(token, true)],
            _ => return Ok(()),
        };
        while let Some((container, first)) = open.last_mut() {
            let more = match container {
                Token::Object => self.member(first)?,
                _ => self.item(first)?,
            };
            if !more {
                open.pop();
                continue;
            }
            if let inner @ (Token::Object | Token::Array) = self.value()? {
                open.push((inner, true));
            }
        }
        Ok(())
    }

    /// Nothing but white space may follow.
    pub(super) fn end(&mut self) -> Result<(), Fault> {
        match self.next_sign()? {
            None => Ok(()),
            Some(_) => self.unexpected("the end of the file"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn walk(text: &[u8]) -> Result<String, Fault> {
        walk_with(text, &Limits::default())
    }

    fn walk_with(text: &[u8], limits: &Limits) -> Result<String, Fault> {
        let mut json = Json::new(Input::records(text, limits).map_err(Fault::Log)?, limits);
        let token = json.value()?;
        json.skip(token)?;
        json.end()?;
        Ok(json.text)
    }

    #[test]
    fn places_of_what_is_wrong() {
        for (text, line, column, part) in [
            ("{\"a\": [1,\n  2,]}", 2, 5, "comma announces"),
            ("{\"a\" 1}", 1, 6, "expected :"),
            ("[01]", 1, 3, ", or ]"),
            ("[1.]", 1, 4, "a digit"),
            ("[tru]", 1, 5, "true, false"),
            ("[\"a\nb\"]", 1, 4, "control characters"),
            ("[\"\\ud800x\"]", 1, 3, "surrogate"),
            ("[\"\\x\"]", 1, 4, "after \\"),
            ("{\"a\": 1", 1, 8, "ends here"),
            ("{} x", 1, 4, "end of the file"),
            ("", 1, 1, "a value"),
            ("{a: 1}", 1, 2, "double quotes"),
        ] {
            let Err(Fault::Found(_, at, message)) = walk(text.as_bytes()) else { panic!("{text}") };
            assert_eq!((at.line, at.column), (line, column), "{text}: {message}");
            assert!(message.contains(part), "{message}");
        }
        assert_eq!(walk("[\"\\ud83d\\ude00\\u00e4\\n\"]".as_bytes()).unwrap(), "😀ä\n");
    }

    #[test]
    fn limits() {
        let limits = Limits { text_bytes: 10, record_bytes: 100, depth: 5, definitions: 3 };
        let members = "\"k\": 1, ".repeat(20);
        let long = format!("{{\"a\": [[], {{\n{members}\"k\": 1}}]}}");
        let small = format!("[{}1]", "[1, 2],\n".repeat(100));
        for (text, expected) in [
            (r#"{"ok": ["0123456789", "\"\"\"\"\"", [[[]]], 1234567890]}"#, None),
            (&small, None),
            ("{\n\"0123456789x\": 1}", Some("line 2, column 1: a string is longer than 10 bytes")),
            (r#"{"a": "\"\"\"\"\"\"\"\"\"\"\""}"#, Some("line 1, column 7: a string is longer than 10 bytes")),
            ("[1.234567890]", Some("line 1, column 2: a number is longer than 10 bytes")),
            ("[[[\n [[[]]]]]]", Some("line 2, column 4: nested deeper than 5")),
            (&long, Some("line 1, column 12: what begins here is longer than 100 bytes")),
        ] {
            let refused = walk_with(text.as_bytes(), &limits).err().map(|fault| match fault {
                Fault::Found(rule, at, message) => {
                    assert_eq!(rule.word, "refused");
                    at.refuse(message).to_string()
                }
                Fault::Log(error) => error.to_string(),
            });
            assert_eq!(refused.as_deref(), expected, "{text}");
        }
    }

    proptest! {
        /// What is JSON to us is JSON to serde_json, and what is not is not.
        #[test]
        fn it_is_json_when_serde_says_so(text in r#"([\[\]{},: ]|"a"|"\\u?[0-9a-f]{0,4}"|-?[0-9]{0,2}(\.[0-9]?)?(e[+-]?[0-9]?)?|true|null|fals){0,12}"#) {
            let theirs = serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok();
            // Half a pair of surrogates is text that serde ignores when it is not wanted.
            prop_assume!(!text.contains("\\ud"));
            prop_assert_eq!(walk(text.as_bytes()).is_ok(), theirs);
        }
    }
}

//! Words: quotes, variables, substitutions, calculations and here-documents.

use super::{Expansion, Outcome, Reader, Word, commands::End, is_name};

/// A here-document that begins after the line.
pub(super) struct Document {
    pub start: usize,
    end: Vec<u8>,
    /// Whether tabs before its lines go.
    tabs: bool,
    /// Whether nothing is expanded in it.
    quoted: bool,
}

/// The value of a word as far as it was read.
struct Value {
    /// Nothing where it depends on the run.
    literal: Option<Vec<u8>>,
    shape: Vec<u8>,
    /// Whether a part of it outside of quotes is a pattern for names of files.
    pattern: bool,
    expansions: Vec<Expansion>,
}

impl Value {
    fn new() -> Self {
        Self { literal: Some(Vec::new()), shape: Vec::new(), pattern: false, expansions: Vec::new() }
    }

    fn put(&mut self, byte: u8) {
        self.literal.iter_mut().for_each(|text| text.push(byte));
        self.shape.push(byte);
    }

    /// Adds a part that is known only when the script runs.
    fn unknown(&mut self, shape: u8) {
        self.literal = None;
        self.shape.push(shape);
    }

    /// Adds a possible value of a part that is known only when the script runs.
    fn may_be(&mut self, other: &Value) {
        self.literal = None;
        self.shape.extend_from_slice(&other.shape);
        self.pattern |= other.pattern;
        self.expansions.extend_from_slice(&other.expansions);
    }
}

/// Whether an expansion can be several words even in double quotes: `$@`, `${A[@]}`, and `${!x}`,
/// which can refer to them.
fn is_several(raw: &[u8]) -> bool {
    let Some(inside) = raw.strip_prefix(b"${") else { return raw == b"$@" };
    let is_number = inside.starts_with(b"#") && inside.len() > 2;
    !is_number && (inside.starts_with(b"@") || inside.starts_with(b"!") || inside.windows(3).any(|part| part == b"[@]"))
}

/// Replaces each group in braces of a shape by `$` or `*`: `job{8,9}.sh` gives `job$.sh`. The
/// braces are at these bytes, with true for those that open.
fn without_braces(shape: &[u8], braces: &[(usize, bool)]) -> Vec<u8> {
    let (mut out, mut open, mut braces) = (Vec::with_capacity(shape.len()), Vec::new(), braces.iter().peekable());
    for (at, byte) in shape.iter().enumerate() {
        match braces.next_if(|(brace, _)| *brace == at) {
            Some((_, true)) => open.push(out.len()),
            Some((_, false)) => {
                if let Some(from) = open.pop() {
                    let inside = out.split_off(from);
                    let one: &[u8] = if inside.iter().any(|byte| matches!(byte, b'*' | b'?' | b'[')) { b"*" } else { b"$" };
                    out.extend_from_slice(one);
                    if inside.contains(&b'/') {
                        out.push(b'/');
                        out.extend_from_slice(one);
                    }
                    continue;
                }
            }
            None => {}
        }
        out.push(*byte);
    }
    out
}

impl Reader<'_> {
    /// The length of `name=`, `name+=` or `name[…]=`, where a word begins so.
    pub(super) fn assignment(&self) -> Outcome<Option<usize>> {
        let rest = self.rest();
        let name = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
        if !is_name(&rest[..name]) {
            return Ok(None);
        }
        let subscript = match rest.get(name) {
            Some(b'[') => {
                let inside = &rest[name..];
                let is_inside = |byte: &u8| !b" \t\r\n'\"\\`".contains(byte);
                let length = inside.iter().take_while(|byte| is_inside(byte)).position(|byte| *byte == b']');
                length.map_or(0, |length| length + 1)
            }
            _ => 0,
        };
        let end = name + subscript;
        let length = match rest[end..] {
            [b'=', ..] => end + 1,
            [b'+', b'=', ..] => end + 2,
            _ => return Ok(None),
        };
        if length > name + 1 {
            self.needs_bash("“+=” and an element of an array")?;
        }
        if rest[name..end].iter().any(|byte| matches!(byte, b'$' | b'<' | b'>' | b'(' | b';' | b'&' | b'|')) {
            return self.unclear("the subscript of an array is understood as a number or a name only");
        }
        Ok(Some(length))
    }

    /// Reads a word; its first `head` bytes are the name of an assignment.
    pub(super) fn word(&mut self, head: Option<usize>) -> Outcome<Word> {
        let start = self.at;
        let head = head.unwrap_or_default();
        let mut value = Value::new();
        let mut braces = Vec::new();
        self.rest()[..head].iter().for_each(|byte| value.put(*byte));
        self.at += head;
        let name = super::assigned(std::str::from_utf8(&self.text[start..self.at]).unwrap_or_default()).map(str::to_owned);
        while let Some(byte) = self.peek(0) {
            match byte {
                b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>' => break,
                b'\r' => return self.unclear("a carriage return is part of a word here"),
                b'\\' => {
                    match self.peek(1) {
                        None => return self.unfinished(self.at, "the word"),
                        Some(b'\n') => {}
                        Some(next) => value.put(next),
                    }
                    self.at += 2;
                }
                b'\'' => self.single_quoted(&mut value)?,
                b'"' => self.double_quoted(&mut value)?,
                b'$' if self.peek(1) == Some(b'\'') => {
                    self.needs_bash("$'…'")?;
                    self.ansi_quoted(&mut value)?;
                }
                b'$' if self.peek(1) == Some(b'"') => return self.unclear("$\"…\" is not understood"),
                b'$' | b'`' => self.expansion(&mut value, name.as_deref(), false)?,
                b'*' | b'?' | b'[' if self.is_test(start) => {
                    value.put(byte);
                    self.at += 1;
                }
                b'*' | b'?' | b'[' => {
                    value.pattern = true;
                    value.unknown(byte);
                    self.at += 1;
                }
                b'{' | b'}' => {
                    if self.text[start..].starts_with(b"{}") {
                        value.put(byte);
                    } else {
                        braces.push((value.shape.len(), byte == b'{'));
                        value.unknown(b'$');
                        value.expansions.push(Expansion { start: self.at, end: self.at + 1, splits: true });
                    }
                    self.at += 1;
                }
                b'~' if self.at == start || matches!(self.text[self.at - 1], b'=' | b':') => {
                    value.unknown(b'$');
                    self.at += 1;
                }
                _ => {
                    value.put(byte);
                    self.at += 1;
                }
            }
        }
        let literal = value.literal.and_then(|text| String::from_utf8(text).ok());
        let shape = String::from_utf8_lossy(&value.shape).into_owned();
        let names = String::from_utf8_lossy(&without_braces(&value.shape, &braces)).into_owned();
        Ok(Word { start, end: self.at, literal, shape, names, pattern: value.pattern, expansions: value.expansions })
    }

    /// Whether the word is `[`, which is a program.
    fn is_test(&self, start: usize) -> bool {
        self.at == start && self.rest().starts_with(b"[") && self.peek(1).is_none_or(|byte| byte.is_ascii_whitespace())
    }

    fn single_quoted(&mut self, value: &mut Value) -> Outcome<()> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.peek(0) {
                None => return self.unfinished(start, "the text in quotes"),
                Some(b'\'') => break,
                Some(byte) => self.quoted_byte(value, byte)?,
            }
        }
        self.at += 1;
        Ok(())
    }

    fn quoted_byte(&mut self, value: &mut Value, byte: u8) -> Outcome<()> {
        if byte == b'\n' && !self.documents.is_empty() {
            return self.unclear("a here-document begins on this line, and a text in quotes goes on behind it");
        }
        value.put(byte);
        self.at += 1;
        Ok(())
    }

    /// Reads `$'…'`, in which a backslash can also precede a quote. Escape sequences are not
    /// evaluated.
    fn ansi_quoted(&mut self, value: &mut Value) -> Outcome<()> {
        let start = self.at;
        self.at += 2;
        value.literal = None;
        loop {
            match self.peek(0) {
                None => return self.unfinished(start, "the text in quotes"),
                Some(b'\'') => break,
                Some(b'\\') => {
                    value.unknown(b'$');
                    self.at += 2;
                }
                Some(byte) => self.quoted_byte(value, byte)?,
            }
        }
        self.at += 1;
        Ok(())
    }

    fn double_quoted(&mut self, value: &mut Value) -> Outcome<()> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.peek(0) {
                None => return self.unfinished(start, "the text in quotes"),
                Some(b'"') => break,
                Some(b'\\') => {
                    match self.peek(1) {
                        None => return self.unfinished(start, "the text in quotes"),
                        Some(b'\n') => {}
                        Some(next @ (b'$' | b'`' | b'"' | b'\\')) => value.put(next),
                        Some(next) => {
                            value.put(b'\\');
                            value.put(next);
                        }
                    }
                    self.at += 2;
                }
                Some(b'$' | b'`') => self.expansion(value, None, true)?,
                Some(byte) => self.quoted_byte(value, byte)?,
            }
        }
        self.at += 1;
        Ok(())
    }

    /// Reads a variable, a command substitution, or a calculation. If the word is an assignment,
    /// the output goes into the variable `into`.
    fn expansion(&mut self, value: &mut Value, into: Option<&str>, quoted: bool) -> Outcome<()> {
        let begun = self.at;
        let is_substitution = self.peek(0) == Some(b'`') || self.peek(1) == Some(b'(');
        if is_substitution && !self.documents.is_empty() && !self.rest().starts_with(b"$((") {
            return self.unclear("a here-document begins on this line, with commands behind it");
        }
        match (self.peek(0), self.peek(1)) {
            (Some(b'`'), _) => self.backquoted(into)?,
            (_, Some(b'(')) if self.rest().starts_with(b"$((") => {
                self.at += 3;
                self.deeper(Self::arithmetic)?;
            }
            (_, Some(b'(')) => {
                self.at += 2;
                self.in_shell(into.map(str::to_owned), |reader| reader.list(End::Bracket))?;
                self.at += 1;
            }
            (_, Some(b'[')) => return self.unclear("$[…] is not understood: write $((…))"),
            (_, Some(b'{')) => {
                let other = self.deeper(|reader| reader.braced(quoted))?;
                value.may_be(&other);
            }
            (_, Some(byte)) if byte.is_ascii_alphabetic() || byte == b'_' => {
                self.at += 1;
                self.at += self.rest().iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
            }
            (_, Some(byte)) if byte.is_ascii_digit() || b"@*#?-$!".contains(&byte) => self.at += 2,
            _ => {
                value.put(b'$');
                self.at += 1;
                return Ok(());
            }
        }
        debug_assert!(self.at > begun);
        value.unknown(b'$');
        let splits = !quoted || is_several(&self.text[begun..self.at]);
        value.expansions.push(Expansion { start: begun, end: self.at, splits });
        Ok(())
    }

    /// The shell takes the text between backquotes out before it reads it.
    fn backquoted(&mut self, into: Option<&str>) -> Outcome<()> {
        let begun = self.at;
        self.at += 1;
        let Some(length) = self.rest().iter().position(|byte| *byte == b'`') else {
            return self.unfinished(begun, "the command in backquotes");
        };
        if self.rest()[..length].contains(&b'\\') {
            return self.unclear("a backslash between backquotes is not understood: write $(…)");
        }
        let outer = std::mem::replace(&mut self.limit, self.at + length);
        self.in_shell(into.map(str::to_owned), |reader| reader.list(End::Text))?;
        self.limit = outer;
        self.at += 1;
        Ok(())
    }

    /// Reads `${…}`, with its replacement, as in `${x:-*.sh}`. Shells disagree on quotes in it
    /// between double quotes.
    fn braced(&mut self, quoted: bool) -> Outcome<Value> {
        let begun = self.at;
        self.at += 2;
        self.at += usize::from(matches!(self.peek(0), Some(b'!' | b'#')) && self.peek(1) != Some(b'}'));
        let name = self.rest().iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
        self.at += if name == 0 { usize::from(self.peek(0).is_some_and(|byte| b"@*#?-$!".contains(&byte))) } else { name };
        if self.peek(0) == Some(b'@') {
            return self.unclear("${…@…} is not understood");
        }
        let operator = usize::from(self.peek(0) == Some(b':'));
        let stands_there = matches!(self.peek(operator), Some(b'-' | b'+' | b'='));
        self.at += if stands_there { operator + 1 } else { 0 };
        let mut inside = Value::new();
        loop {
            match self.peek(0) {
                None => return self.unfinished(begun, "${"),
                Some(b'}') => break,
                Some(b'\'' | b'"') if quoted => return self.unclear("quotes in ${…} between double quotes are not understood"),
                Some(b'\'') => self.single_quoted(&mut inside)?,
                Some(b'"') => self.double_quoted(&mut inside)?,
                Some(b'\\') => {
                    inside.unknown(b'$');
                    self.at += 2;
                }
                Some(b'{') => return self.unclear("a brace in ${…} is not understood"),
                Some(b'$' | b'`') => self.expansion(&mut inside, None, quoted)?,
                Some(byte) => {
                    inside.pattern |= !quoted && matches!(byte, b'*' | b'?' | b'[');
                    self.quoted_byte(&mut inside, byte)?;
                }
            }
        }
        self.at += 1;
        match stands_there {
            true => Ok(inside),
            // The result of a cut or a replacement is unknown, except that `$@` is several words.
            false => Ok(Value { expansions: inside.expansions, ..Value::new() }),
        }
    }

    /// Reads the rest of `$((…))` and `((…))`, with the commands in it that provide operands.
    pub(super) fn arithmetic(&mut self) -> Outcome<()> {
        self.calculations(false)
    }

    /// Reads the rest of `((…;…;…))` after `for`.
    pub(super) fn three_calculations(&mut self) -> Outcome<()> {
        self.calculations(true)
    }

    fn calculations(&mut self, several: bool) -> Outcome<()> {
        let begun = self.at;
        let mut open = 2;
        loop {
            match self.peek(0) {
                None => return self.unfinished(begun, "the calculation"),
                Some(b'$' | b'`') => {
                    self.expansion(&mut Value::new(), None, true)?;
                    continue;
                }
                Some(b'(') => open += 1,
                Some(b')') if open == 2 => {
                    if self.peek(1) != Some(b')') {
                        return self.unclear("a calculation ends with two brackets: write a blank between $( and a command in brackets");
                    }
                    self.at += 2;
                    return Ok(());
                }
                Some(b')') => open -= 1,
                Some(byte) if byte.is_ascii_alphanumeric() || b" \t_+-*/%<>=!&|^~?:,[]#".contains(&byte) => {}
                Some(b';') if several => {}
                Some(_) => return self.unclear("this is not understood in a calculation"),
            }
            self.at += 1;
        }
    }

    /// Reads `<<END`, `<<-'END'`: the text begins after this line.
    pub(super) fn document(&mut self, tabs: bool) -> Outcome<()> {
        while matches!(self.peek(0), Some(b' ' | b'\t')) {
            self.at += 1;
        }
        let start = self.at;
        let raw = &self.rest()[..self.rest().iter().position(|byte| b" \t\r\n;&|()<>".contains(byte)).unwrap_or(self.rest().len())];
        let quote = raw.first().copied().filter(|byte| matches!(byte, b'\'' | b'"'));
        let end = match quote {
            Some(quote) => raw[1..].strip_suffix(&[quote]).unwrap_or_default(),
            None => raw,
        };
        if end.is_empty() || !end.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(byte)) {
            return self.unclear("the end of a here-document is a name, in quotes or without");
        }
        self.at += raw.len();
        self.documents.push(Document { start, end: end.to_vec(), tabs, quoted: quote.is_some() });
        Ok(())
    }

    /// Passes over the here-documents that begin here, with the commands in them.
    pub(super) fn pass_documents(&mut self) -> Outcome<()> {
        for document in std::mem::take(&mut self.documents) {
            let start = self.at;
            let end = loop {
                if self.peek(0).is_none() {
                    return self.unfinished(document.start, "the here-document");
                }
                let length = self.rest().iter().position(|byte| *byte == b'\n').unwrap_or(self.rest().len());
                let line = &self.rest()[..length];
                let tabs = if document.tabs { line.iter().take_while(|byte| **byte == b'\t').count() } else { 0 };
                if !document.quoted && line.ends_with(b"\\") {
                    return self.unclear("a line of a here-document that goes on after a backslash is not understood");
                }
                if line[tabs..] == document.end {
                    let end = self.at;
                    self.at = (self.at + length + 1).min(self.limit);
                    break end;
                }
                self.at += length + 1;
            };
            if !document.quoted {
                let behind = std::mem::replace(&mut self.at, start);
                let outer = std::mem::replace(&mut self.limit, end);
                while let Some(byte) = self.peek(0) {
                    match byte {
                        b'\\' => self.at += 2,
                        b'$' | b'`' => self.expansion(&mut Value::new(), None, true)?,
                        _ => self.at += 1,
                    }
                }
                (self.at, self.limit) = (behind, outer);
            }
        }
        Ok(())
    }
}

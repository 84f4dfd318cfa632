//! JSON for programs and people: indented, and with every character escaped that could play tricks
//! on a terminal. Every JSON reader turns such an escape back into the character.

use serde::Serialize;
use std::io::{self, Write};

/// Writes a value with two spaces of indentation and a line feed at the end.
///
/// # Errors
/// What the writer says.
pub fn write(value: &impl Serialize, mut out: impl Write) -> io::Result<()> {
    let mut serializer = serde_json::Serializer::with_formatter(&mut out, Plain::default());
    value.serialize(&mut serializer)?;
    out.write_all(b"\n")
}

/// Pretty JSON in which everything but printable characters is escaped.
#[derive(Default)]
pub struct Plain<'a> {
    pretty: serde_json::ser::PrettyFormatter<'a>,
}

impl serde_json::ser::Formatter for Plain<'_> {
    fn begin_array<W: ?Sized + Write>(&mut self, w: &mut W) -> io::Result<()> {
        self.pretty.begin_array(w)
    }

    fn end_array<W: ?Sized + Write>(&mut self, w: &mut W) -> io::Result<()> {
        self.pretty.end_array(w)
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, w: &mut W, first: bool) -> io::Result<()> {
        self.pretty.begin_array_value(w, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, w: &mut W) -> io::Result<()> {
        self.pretty.end_array_value(w)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, w: &mut W) -> io::Result<()> {
        self.pretty.begin_object(w)
    }

    fn end_object<W: ?Sized + Write>(&mut self, w: &mut W) -> io::Result<()> {
        self.pretty.end_object(w)
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, w: &mut W, first: bool) -> io::Result<()> {
        self.pretty.begin_object_key(w, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, w: &mut W) -> io::Result<()> {
        self.pretty.begin_object_value(w)
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, w: &mut W) -> io::Result<()> {
        self.pretty.end_object_value(w)
    }

    fn write_string_fragment<W: ?Sized + Write>(&mut self, w: &mut W, fragment: &str) -> io::Result<()> {
        let mut done = 0;
        for (at, c) in fragment.char_indices().filter(|&(_, c)| crate::text::is_hidden(c)) {
            w.write_all(&fragment.as_bytes()[done..at])?;
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(w, "\\u{unit:04x}")?;
            }
            done = at + c.len_utf8();
        }
        w.write_all(&fragment.as_bytes()[done..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_and_hidden_characters_are_escaped() {
        let name = "<script>\"\\\n\u{1b}\u{9b}\u{202e}\u{e0041}\u{7f}日本";
        let mut bytes = Vec::new();
        write(&[name], &mut bytes).expect("a vector takes all");
        let text = String::from_utf8(bytes).expect("JSON is UTF-8");
        assert!(!text.chars().any(|c| c != '\n' && crate::text::is_hidden(c)));
        let back: Vec<String> = serde_json::from_str(&text).expect("it is JSON");
        assert_eq!(back, [name]);
    }
}

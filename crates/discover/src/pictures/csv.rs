//! Tables as CSV (RFC 4180): fields in, rows out, with lines ended by CR LF.
//!
//! A text that a spreadsheet would take for a formula, because it begins with `=`, `+`, `-`, `@`, a
//! tab, CR or LF, gets an apostrophe in front (OWASP, CSV Injection), unless it is a plain number.
//! An empty field is an unknown value.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, Write};

/// Writes a table, field by field and row by row.
pub struct Csv<W: Write> {
    out: io::BufWriter<W>,
    line: String,
}

impl<W: Write> Csv<W> {
    /// Begins with the names of the columns.
    ///
    /// # Errors
    /// When the writer cannot be written to.
    pub fn new(out: W, columns: &[&str]) -> io::Result<Self> {
        let mut csv = Self { out: io::BufWriter::new(out), line: String::new() };
        columns.iter().for_each(|column| {
            csv.text(column);
        });
        csv.end()?;
        Ok(csv)
    }

    fn separate(&mut self) {
        if !self.line.is_empty() {
            self.line.push(',');
        }
    }

    /// A text; an empty one is written as `""`, so that it differs from an unknown one.
    pub fn text(&mut self, text: &str) -> &mut Self {
        self.separate();
        self.line.push_str(&field(text));
        self
    }

    /// A text, or nothing when it is not known.
    pub fn text_or_unknown(&mut self, text: Option<&str>) -> &mut Self {
        match text {
            Some(text) => self.text(text),
            None => self.number(None::<u64>),
        }
    }

    /// A number, or nothing when it is not known.
    pub fn number(&mut self, number: Option<impl Display>) -> &mut Self {
        use std::fmt::Write;
        // A line that begins with an unknown value still needs its first comma.
        let first = self.line.is_empty();
        self.separate();
        match number {
            Some(number) => {
                let _ = write!(self.line, "{number}");
            }
            None if first => self.line.push_str("\"\""),
            None => {}
        }
        self
    }

    /// Adds a field with a number of things.
    pub fn count(&mut self, count: u64) -> &mut Self {
        self.number(Some(count))
    }

    /// Ends the row and begins the next one.
    ///
    /// # Errors
    /// When the writer cannot be written to.
    pub fn end(&mut self) -> io::Result<()> {
        self.line.push_str("\r\n");
        self.out.write_all(self.line.as_bytes())?;
        self.line.clear();
        Ok(())
    }

    /// Ends the table and flushes what is buffered.
    ///
    /// # Errors
    /// When the writer cannot be written to.
    pub fn finish(mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A text as a field: quoted where it has to be, and never a formula.
pub fn field(text: &str) -> Cow<'_, str> {
    let protected = flowmine_text::is_formula(text);
    let quoted = text.is_empty() || text.contains([',', '"', '\r', '\n']) || text.starts_with(' ') || text.ends_with(' ');
    if !protected && !quoted {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 4);
    if quoted {
        out.push('"');
    }
    if protected {
        out.push('\'');
    }
    for c in text.chars() {
        if c == '"' {
            out.push('"');
        }
        out.push(c);
    }
    if quoted {
        out.push('"');
    }
    Cow::Owned(out)
}

/// Nanoseconds as seconds, exact, without zeros at the end.
pub fn seconds(ns: i128) -> String {
    let sign = if ns < 0 { "-" } else { "" };
    let (whole, part) = (ns.unsigned_abs() / 1_000_000_000, ns.unsigned_abs() % 1_000_000_000);
    let part = format!("{part:09}");
    match part.trim_end_matches('0') {
        "" => format!("{sign}{whole}"),
        part => format!("{sign}{whole}.{part}"),
    }
}

/// A mean or median of nanoseconds as seconds, to the nanosecond.
pub fn mean_seconds(ns: f64) -> Option<String> {
    ns.is_finite().then(|| seconds(ns.round() as i128))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn fields_by_hand() {
        for (text, field_is) in [
            ("a", "a"),
            ("a,b", "\"a,b\""),
            ("say \"x\"", "\"say \"\"x\"\"\""),
            ("=1+1", "'=1+1"),
            ("-5", "-5"),
            ("+3.2e4", "+3.2e4"),
            ("-x", "'-x"),
            ("--5", "'--5"),
            ("-inf", "'-inf"),
            ("@a,b", "\"'@a,b\""),
            ("\tx", "'\tx"),
            ("", "\"\""),
        ] {
            assert_eq!(field(text), field_is, "{text:?}");
        }
    }

    #[test]
    fn seconds_by_hand() {
        assert_eq!([0, 1_500_000_000, -250_000_000, 1].map(seconds), ["0", "1.5", "-0.25", "0.000000001"]);
        assert_eq!((mean_seconds(1e9), mean_seconds(f64::NAN)), (Some("1".to_owned()), None));
    }

    #[test]
    fn unknown_values_are_empty() {
        let mut out = Vec::new();
        let mut csv = Csv::new(&mut out, &["a", "b"]).expect("a vector takes all");
        csv.number(None::<u64>).number(None::<u64>).end().expect("a vector takes all");
        csv.finish().expect("a vector takes all");
        assert_eq!(out, b"a,b\r\n\"\",\r\n");
    }

    proptest! {
        #[test]
        fn a_field_is_one_field_and_no_formula(text in any::<String>()) {
            let field = field(&text).into_owned();
            let inner = match field.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
                Some(inner) => inner.replace("\"\"", "\u{0}"),
                None => {
                    prop_assert!(!field.contains([',', '"', '\r', '\n']));
                    field.clone()
                }
            };
            prop_assert!(!inner.contains('"'));
            let first = inner.chars().next();
            prop_assert!(!matches!(first, Some('=' | '@' | '\t' | '\r' | '\n')), "{inner:?}");
        }
    }
}

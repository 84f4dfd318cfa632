//! How a CSV file separates its lines and fields, and whether its first line names the columns.

use memchr::{memchr, memchr_iter};

use super::{choose, dates, values};

const DELIMITERS: [u8; 4] = *b",;\t|";

/// How lines and fields are separated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dialect {
    /// The byte between fields.
    pub delimiter: u8,
    /// The last byte of a line: LF, or CR where there is no LF.
    pub line_end: u8,
    /// Length of a first line that only names the delimiter, as spreadsheets write it: `sep=;`.
    pub preamble: usize,
}

impl Dialect {
    /// The dialect of text that begins so. The delimiter is that of comma, semicolon, tab and bar
    /// which stands most often in the first line outside quotes.
    pub fn new(head: &[u8]) -> Self {
        let line_end = if memchr(b'\n', head).is_none() && memchr(b'\r', head).is_some() { b'\r' } else { b'\n' };
        let end = |from: usize| memchr(line_end, &head[from..]).map_or(head.len(), |at| from + at);
        let first = head[..end(0)].trim_ascii();
        let named = first.strip_prefix(b"\"").and_then(|line| line.strip_suffix(b"\"")).unwrap_or(first);
        // The delimiter can be a tab, which was trimmed.
        if let Some(rest) = named.strip_prefix(b"sep=").or(named.strip_prefix(b"SEP="))
            && let [] | [_] = rest
        {
            let delimiter = rest.first().copied().unwrap_or(b'\t');
            return Self { delimiter, line_end, preamble: (end(0) + 1).min(head.len()) };
        }
        Self { delimiter: delimiter(first), line_end, preamble: 0 }
    }

    /// The end of a field without the CR of its line's end.
    pub fn trimmed(self, bytes: &[u8], start: usize, end: usize) -> usize {
        let is_line_end = bytes.get(end).is_none_or(|&byte| byte == self.line_end);
        if is_line_end && end > start && bytes[end - 1] == b'\r' { end - 1 } else { end }
    }

    /// Number of line ends.
    pub fn lines(self, bytes: &[u8]) -> u64 {
        memchr_iter(self.line_end, bytes).count() as u64
    }
}

fn delimiter(line: &[u8]) -> u8 {
    let mut counts = [0; DELIMITERS.len()];
    let mut quoted = false;
    for byte in line {
        quoted ^= *byte == b'"';
        if let Some(at) = DELIMITERS.iter().position(|delimiter| !quoted && delimiter == byte) {
            counts[at] += 1;
        }
    }
    let most = counts.iter().max().copied().unwrap_or_default();
    counts.iter().position(|&count| count == most).map_or(b',', |at| DELIMITERS[at])
}

/// Whether one of the fields is a date.
pub fn has_date(fields: &[String]) -> bool {
    fields.iter().any(|field| values::date(field.trim()).is_some() || dates::date(field.trim()).is_some())
}

/// Whether the first line has values: a date or a number, and none of the usual names.
pub fn has_values(fields: &[String]) -> bool {
    let has_number = || fields.iter().any(|field| values::decimal(field.trim()).is_some());
    (has_date(fields) || has_number()) && !choose::has_usual_name(fields.iter().map(String::as_str))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dialects() {
        let of = |head: &str| {
            let Dialect { delimiter, line_end, preamble } = Dialect::new(head.as_bytes());
            (char::from(delimiter), char::from(line_end), preamble)
        };
        assert_eq!(of("a,b;c;d\n1,2\n"), (';', '\n', 0));
        assert_eq!(of("a\tb\r1\t2\r"), ('\t', '\r', 0));
        assert_eq!(of("sep=;\r\na,b\r\n"), (';', '\n', 7));
        assert_eq!(of("\"sep=|\"\ra"), ('|', '\r', 8));
        assert_eq!(of("sep=\t\na"), ('\t', '\n', 6));
        assert_eq!(of("separate,b\n"), (',', '\n', 0));
        assert_eq!(of(""), (',', '\n', 0));
        let has = |fields: &[&str]| has_values(&fields.iter().map(|field| (*field).to_owned()).collect::<Vec<_>>());
        assert!(has(&["1", "a", "x"]) && has(&["c", "a", "17-10-2022"]));
        assert!(!has(&["case", "17-10-2022"]) && !has(&["c", "a", "x"]) && !has(&[]));
    }
}

//! Events as nearly all of them are written, taken in one go from where they lie.
//!
//! In go the bytes of a file from a place within a trace on; out come the attributes of the event that begins there, if it is in these bytes
//! to its end and has nothing unusual: attributes without attributes, key before value, double quotes, values that are of their
//! type. Nothing is refused here and nothing is found odd: what is not such an event is left to the reader, which then reads it from
//! its beginning element by element. A test reads the same files both ways.

use std::ops::Range;

use super::{Flat, FlatValue, typed};

/// What begins an element, and its name.
const KINDS: [(&[u8], &str); 6] = [
    (b"<string key=\"", "string"),
    (b"<date key=\"", "date"),
    (b"<int key=\"", "int"),
    (b"<float key=\"", "float"),
    (b"<boolean key=\"", "boolean"),
    (b"<id key=\"", "id"),
];

/// Where an event lies in the bytes.
pub(super) struct Taken {
    /// Where it begins, behind white space.
    pub(super) start: usize,
    /// Where it is over.
    pub(super) end: usize,
}

/// Whether an event may begin behind the white space that the bytes begin with.
pub(super) fn begins(bytes: &[u8]) -> bool {
    let mut scan = Scan { bytes, at: 0 };
    scan.white();
    scan.expect(b"<event>").is_some()
}

/// Takes the event that the bytes begin with. Without one, what was put into `flat` and `text` has no meaning.
pub(super) fn take(bytes: &[u8], flat: &mut Vec<Flat>, text: &mut String) -> Option<Taken> {
    let mut scan = Scan { bytes, at: 0 };
    scan.white();
    let start = scan.at;
    scan.expect(b"<event>")?;
    loop {
        scan.white();
        let rest = scan.rest();
        let kind = match *rest.get(1)? {
            b's' => 0,
            b'd' => 1,
            b'i' => {
                if rest.get(2) == Some(&b'n') {
                    2
                } else {
                    5
                }
            }
            b'f' => 3,
            b'b' => 4,
            b'/' => {
                scan.expect(b"</event>")?;
                return Some(Taken { start, end: scan.at });
            }
            _ => return None,
        };
        let (begin, kind) = KINDS[kind];
        scan.expect(begin)?;
        let key = scan.text_to_quote(text)?;
        scan.expect(b" value=\"")?;
        let value = match kind {
            "string" => FlatValue::String(scan.text_to_quote(text)?),
            "id" => FlatValue::Id(scan.text_to_quote(text)?),
            kind => {
                let value = scan.plain_to_quote()?;
                let unusual = kind == "boolean" && !matches!(value, "true" | "false" | "1" | "0");
                typed(kind, value).ok().filter(|_| !unusual)?
            }
        };
        if scan.rest().first() == Some(&b' ') {
            scan.at += 1;
        }
        scan.expect(b"/>")?;
        flat.push(Flat { level: 0, key, value });
    }
}

struct Scan<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Scan<'b> {
    fn rest(&self) -> &'b [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    fn white(&mut self) {
        self.at += self.rest().iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count();
    }

    fn expect(&mut self, bytes: &[u8]) -> Option<()> {
        let found = self.rest().starts_with(bytes);
        self.at += bytes.len();
        found.then_some(())
    }

    /// What stands before the next double quote, where no character needs anything done with it.
    fn plain_to_quote(&mut self) -> Option<&'b str> {
        let rest = self.rest();
        let end = rest.iter().position(|&byte| SPECIAL[usize::from(byte)])?;
        self.at += end + 1;
        (rest.get(end) == Some(&b'"')).then_some(())?;
        std::str::from_utf8(rest.get(..end)?).ok()
    }

    /// The same put into `text`, with the entities of XML resolved.
    fn text_to_quote(&mut self, text: &mut String) -> Option<Range<usize>> {
        let start = text.len();
        loop {
            let rest = self.rest();
            let end = rest.iter().position(|&byte| SPECIAL[usize::from(byte)])?;
            text.push_str(std::str::from_utf8(rest.get(..end)?).ok()?);
            self.at += end;
            match rest.get(end) {
                Some(b'"') => {
                    self.at += 1;
                    return Some(start..text.len());
                }
                Some(b'&') => {
                    let rest = self.rest();
                    let entities = [("&amp;", '&'), ("&lt;", '<'), ("&gt;", '>'), ("&quot;", '"'), ("&apos;", '\'')];
                    let (name, character) = entities.into_iter().find(|(name, _)| rest.starts_with(name.as_bytes()))?;
                    text.push(character);
                    self.at += name.len();
                }
                _ => return None,
            }
        }
    }
}

/// What ends a piece of text or is not for here: the quote, markup, white space that is normalised, and what XML does not allow.
const SPECIAL: [bool; 256] = {
    let mut special = [false; 256];
    let mut byte = 0;
    while byte < 0x20 {
        special[byte] = true;
        byte += 1;
    }
    special[b'"' as usize] = true;
    special[b'&' as usize] = true;
    special[b'<' as usize] = true;
    special
};

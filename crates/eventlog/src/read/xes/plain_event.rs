//! Events as nearly all of them are written, taken in one go from where they lie.
//!
//! In go the bytes of a file from a place within a trace on; out come the attributes of the event
//! that begins there, if it is in these bytes to its end and has nothing unusual: attributes
//! without attributes, key before value, double quotes, values that are of their type. Nothing is
//! refused here and nothing is found odd: what is not such an event is left to the reader, which
//! then reads it from its beginning element by element. A test reads the same files both ways.

use std::ops::Range;

use super::flat::{Flat, FlatValue, typed};
use crate::attribute::{Attribute, Value};
use crate::time;

/// What begins an element, and its name.
const KINDS: [(&[u8], &str); 6] = [
    (b"<string key=\"", "string"),
    (b"<date key=\"", "date"),
    (b"<int key=\"", "int"),
    (b"<float key=\"", "float"),
    (b"<boolean key=\"", "boolean"),
    (b"<id key=\"", "id"),
];

/// The key of an event's time.
pub(super) const TIMESTAMP: &str = "time:timestamp";

/// Whether an event may begin behind the white space that the bytes begin with.
pub(super) fn begins(bytes: &[u8]) -> bool {
    let mut scan = Scan { bytes, at: 0 };
    scan.white();
    scan.expect(b"<event>").is_some()
}

/// Takes the event that the bytes begin with and gives where it is over. Without one, what was put
/// into `flat` and `text` has no meaning.
pub(super) fn take(bytes: &[u8], flat: &mut Vec<Flat>, text: &mut String) -> Option<usize> {
    // Looked at once as a whole when all is there, since it is made of very short pieces.
    let mut texts = std::mem::take(text).into_bytes();
    let end = take_bytes(bytes, flat, &mut texts)?;
    *text = String::from_utf8(texts).ok()?;
    Some(end)
}

fn take_bytes(bytes: &[u8], flat: &mut Vec<Flat>, text: &mut Vec<u8>) -> Option<usize> {
    let mut scan = Scan { bytes, at: 0 };
    scan.white();
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
                return Some(scan.at);
            }
            _ => return None,
        };
        let (begin, kind) = KINDS[kind];
        scan.expect(begin)?;
        let key = scan.text_to_quote(text)?;
        scan.expect(b" value=\"")?;
        let value = match kind {
            // A time that is written as a text is the reader's.
            "string" if text.get(key.clone())? == TIMESTAMP.as_bytes() => return None,
            "string" => FlatValue::String(scan.text_to_quote(text)?),
            "id" => FlatValue::Id(scan.text_to_quote(text)?),
            "date" => {
                let value = scan.plain_to_quote()?;
                match time::usual(value) {
                    Some(ns) => FlatValue::Time(ns),
                    None => typed(kind, std::str::from_utf8(value).ok()?).ok()?,
                }
            }
            kind => {
                let value = std::str::from_utf8(scan.plain_to_quote()?).ok()?;
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

/// One of the attributes that were taken.
pub(super) fn attribute<'a>(one: &Flat, text: &'a str) -> Option<Attribute<'a>> {
    let slice = |range: &Range<usize>| text.get(range.clone()).unwrap_or_default();
    let value = match &one.value {
        FlatValue::String(range) => Value::String(slice(range).into()),
        FlatValue::Id(range) => Value::Id(slice(range).into()),
        FlatValue::Time(ns) => Value::Time(*ns),
        FlatValue::Integer(number) => Value::Integer(*number),
        FlatValue::Float(number) => Value::Float(*number),
        FlatValue::Boolean(truth) => Value::Boolean(*truth),
        FlatValue::List | FlatValue::Container | FlatValue::Missing | FlatValue::Values => return None,
    };
    Some(Attribute::new(slice(&one.key), value))
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
    fn plain_to_quote(&mut self) -> Option<&'b [u8]> {
        let rest = self.rest();
        let end = special(rest)?;
        self.at += end + 1;
        (rest.get(end) == Some(&b'"')).then_some(())?;
        rest.get(..end)
    }

    /// The same put into `text`, with the entities of XML resolved.
    fn text_to_quote(&mut self, text: &mut Vec<u8>) -> Option<Range<usize>> {
        let start = text.len();
        loop {
            let rest = self.rest();
            let end = special(rest)?;
            text.extend_from_slice(rest.get(..end)?);
            self.at += end;
            match rest.get(end) {
                Some(b'"') => {
                    self.at += 1;
                    return Some(start..text.len());
                }
                Some(b'&') => {
                    let rest = self.rest();
                    let entities: [(&[u8], u8); 5] =
                        [(b"&amp;", b'&'), (b"&lt;", b'<'), (b"&gt;", b'>'), (b"&quot;", b'"'), (b"&apos;", b'\'')];
                    let (name, character) = entities.into_iter().find(|(name, _)| rest.starts_with(name))?;
                    text.push(character);
                    self.at += name.len();
                }
                _ => return None,
            }
        }
    }
}

/// Where what ends a piece of text or is not for here stands first: the quote, markup, white space
/// that is normalised, and what XML does not allow.
fn special(bytes: &[u8]) -> Option<usize> {
    const EACH: u64 = 0x0101_0101_0101_0101;
    const TOP: u64 = 0x8080_8080_8080_8080;
    let (words, rest) = bytes.as_chunks::<8>();
    for (at, word) in words.iter().enumerate() {
        // Eight bytes at a time: a top bit for each that is such; those above the first may be wrong, since what is borrowed for it is theirs.
        let word = u64::from_le_bytes(*word);
        let is = |byte: u8| {
            let other = word ^ (EACH * u64::from(byte));
            other.wrapping_sub(EACH) & !other
        };
        let below = word.wrapping_sub(EACH * 0x20) & !word;
        let found = (below | is(b'"') | is(b'&') | is(b'<')) & TOP;
        if found != 0 {
            return Some(at * 8 + found.trailing_zeros() as usize / 8);
        }
    }
    let is_special = |byte: &u8| *byte < 0x20 || matches!(byte, b'"' | b'&' | b'<');
    rest.iter().position(is_special).map(|at| words.len() * 8 + at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_special_byte_is_found(bytes in proptest::collection::vec(prop_oneof![9 => any::<u8>().prop_map(|byte| byte | 0x40), 1 => any::<u8>()], 0..40)) {
            let slow = bytes.iter().position(|&byte| byte < 0x20 || b"\"&<".contains(&byte));
            prop_assert_eq!(special(&bytes), slow);
        }
    }
}

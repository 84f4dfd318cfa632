//! Text from a cluster: bytes that may not be UTF-8 in, text out, and back without loss.
//!
//! A job name is any sequence of bytes without NUL. Parquet, XML and JSON want Unicode. [`decode`]
//! keeps valid UTF-8 as it is and writes every other byte as `\xNN`; so that this can be undone, a
//! backslash that stands before an `x` is written `\x5c`. [`encode`] gives the bytes back.
//! [`visible`] is for people: it shows what would move a cursor, forge a line or turn the direction
//! of writing.
//!
//! ```
//! use flowmine_text::{decode, encode, visible};
//!
//! let name = b"caf\xe9\x1b[2J";
//! let text = decode(name);
//! assert_eq!(text, "caf\\xe9\u{1b}[2J");
//! assert_eq!(encode(&text), name);
//! assert!(!visible(&text).contains('\u{1b}'));
//! ```

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod bounds;
pub mod ids;
pub mod percent;
pub mod terminal;

use std::borrow::Cow;
use std::fmt::Write;

/// Bytes as text, without loss: invalid UTF-8 as `\xNN`, the backslash of a literal `\x` as `\x5c`.
///
/// Borrows when nothing had to be changed, which is nearly always.
pub fn decode(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) if !has_escape(text) => Cow::Borrowed(text),
        _ => Cow::Owned(decode_slowly(bytes)),
    }
}

fn has_escape(text: &str) -> bool {
    text.as_bytes().contains(&b'\\') && text.contains("\\x")
}

fn decode_slowly(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() + 8);
    for chunk in bytes.utf8_chunks() {
        let valid = chunk.valid();
        out.push_str(&valid.replace("\\x", "\\x5cx"));
        // A chunk can end in a backslash and the next begin with `x` only when invalid bytes stand between, and
        // those are written with a backslash of their own; a trailing backslash is therefore unambiguous.
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out
}

/// Offset of the first place at which a JSON text has this key, at any depth.
///
/// A quote in a JSON string is escaped, so that the quoted name with a colon behind it is a key.
/// The text may be cut.
///
/// ```
/// use flowmine_text::json_key;
///
/// let cut = br#"{"job": {"state" : "RUNNING, \"name\": "#;
/// assert_eq!(json_key(cut, "state"), Some(9));
/// assert_eq!(json_key(cut, "name"), None);
/// ```
pub fn json_key(json: &[u8], name: &str) -> Option<usize> {
    let quoted = format!("\"{name}\"");
    memchr::memmem::find_iter(json, quoted.as_bytes()).find(|&at| {
        let rest = &json[at + quoted.len()..];
        rest.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b':')
    })
}

/// Whether a spreadsheet would compute the text of a CSV field, behind any number of apostrophes:
/// writers put one apostrophe before it, and readers take one off where they know that it was put
/// there.
pub fn is_formula(text: &str) -> bool {
    let text = text.trim_start_matches('\'');
    match text.as_bytes().first() {
        Some(b'=' | b'@' | b'\t' | b'\r' | b'\n') => true,
        // Rust also reads `-inf` and `-nan`, which a spreadsheet takes for names.
        Some(b'+' | b'-') => {
            text.bytes().any(|byte| !matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-')) || text.parse::<f64>().is_err()
        }
        _ => false,
    }
}

/// The bytes that [`decode`] was given.
pub fn encode(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == b'\\'
            && bytes.get(at + 1) == Some(&b'x')
            && let Some(byte) = hex_pair(bytes.get(at + 2..at + 4))
        {
            out.push(byte);
            at += 4;
            continue;
        }
        out.push(bytes[at]);
        at += 1;
    }
    out
}

fn hex_pair(pair: Option<&[u8]>) -> Option<u8> {
    let pair = std::str::from_utf8(pair?).ok()?;
    u8::from_str_radix(pair, 16).ok()
}

/// Whether a character must not reach a terminal, a label or an XML document as it is: control
/// characters, the marks that change the direction of writing, and characters that cannot be seen
/// (soft hyphen, joiners, variation selectors, tags).
pub fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// Text for a terminal or a label: unsafe characters ([`is_unsafe`]) are shown as `\n`, `\t`,
/// `\x1b`, `\u{202e}`.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if is_unsafe(c) && (c as u32) < 0x100 => {
                let _ = write!(out, "\\x{:02x}", c as u32);
            }
            c if is_unsafe(c) => {
                let _ = write!(out, "\\u{{{:x}}}", c as u32);
            }
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ordinary_names_are_borrowed() {
        assert!(matches!(decode("naïve_日本".as_bytes()), Cow::Borrowed(_)));
    }

    #[test]
    fn invalid_bytes_and_literal_escapes_stay_apart() {
        assert_eq!(decode(b"bad\xff\xfeutf"), "bad\\xff\\xfeutf");
        assert_eq!(decode(b"bad\\xffutf"), "bad\\x5cxffutf");
        assert_ne!(decode(b"\xff"), decode(b"\\xff"));
    }

    #[test]
    fn terminals_are_safe() {
        assert_eq!(visible("a\u{1b}[31mb\nc\u{202e}"), "a\\x1b[31mb\\nc\\u{202e}");
        assert!(matches!(visible("plain | text"), Cow::Borrowed(_)));
    }

    proptest! {
        #[test]
        fn any_bytes_come_back(bytes in proptest::collection::vec(prop_oneof![any::<u8>(), Just(b'\\'), Just(b'x'), Just(b'5'), Just(b'c')], 0..40)) {
            prop_assert_eq!(encode(&decode(&bytes)), bytes);
        }
    }
}

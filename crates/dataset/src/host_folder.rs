//! A host's name as a part of a path, and back.

use std::fmt::Write;

/// A host's name as a part of a path: everything but ASCII letters, digits, `.`, `_` and `-` is written `%XX` byte by byte, as Hive
/// does and its readers undo. The empty name is Hive's word for none.
pub(crate) fn escape_host(host: &str) -> String {
    if host.is_empty() {
        return NO_HOST.to_owned();
    }
    let mut out = String::with_capacity(host.len());
    for (at, byte) in host.bytes().enumerate() {
        let plain = byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
        // A host that is called as Hive calls none is not none.
        if plain && !(at == 0 && host == NO_HOST) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// Undoes [`escape_host`]; `None` for everything that it does not write.
pub(crate) fn unescape_host(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte == b'%' {
            let (pair, after) = rest.split_at_checked(2)?;
            bytes.push(u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?);
            rest = after;
        } else {
            bytes.push(byte);
        }
    }
    let host = if text == NO_HOST { String::new() } else { String::from_utf8(bytes).ok()? };
    (escape_host(&host) == text).then_some(host)
}

pub(crate) const NO_HOST: &str = "__HIVE_DEFAULT_PARTITION__";

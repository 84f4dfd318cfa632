//! Names as parts of paths: percent-encoding (RFC 3986, section 2.1), byte by byte.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'.').remove(b'_').remove(b'-');

/// The name with `%XX` for everything but ASCII letters, digits, `.`, `_` and `-`.
pub fn encode(name: &str) -> String {
    utf8_percent_encode(name, ESCAPED).to_string()
}

/// The name that this text encodes with `%XX`; other characters are read as they are. `None` if it
/// is not UTF-8.
pub fn decode(text: &str) -> Option<String> {
    percent_decode_str(text).decode_utf8().ok().map(Into::into)
}

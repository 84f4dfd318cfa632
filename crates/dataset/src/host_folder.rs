//! A host's name as a part of a path, and back.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// What Hive writes `%XX`, byte by byte, and its readers undo.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'.').remove(b'_').remove(b'-');

/// A host's name as a part of a path: everything but ASCII letters, digits, `.`, `_` and `-` is
/// escaped. The empty name is Hive's word for none.
pub(crate) fn escape_host(host: &str) -> String {
    match host {
        "" => NO_HOST.to_owned(),
        // A host that is called as Hive calls none is not none.
        NO_HOST => format!("%{:02X}{}", host.as_bytes()[0], &host[1..]),
        _ => utf8_percent_encode(host, ESCAPED).to_string(),
    }
}

/// Undoes [`escape_host`]; `None` for everything that it does not write.
pub(crate) fn unescape_host(text: &str) -> Option<String> {
    let host = if text == NO_HOST { String::new() } else { percent_decode_str(text).decode_utf8().ok()?.into_owned() };
    (escape_host(&host) == text).then_some(host)
}

pub(crate) const NO_HOST: &str = "__HIVE_DEFAULT_PARTITION__";

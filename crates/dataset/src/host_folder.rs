//! A host's name as a part of a path, and back.

use flowmine_schema::text::percent;

/// A host's name as a part of a path, percent-encoded as Hive's readers undo it. The empty name is
/// Hive's word for none.
pub(crate) fn escape_host(host: &str) -> String {
    match host {
        "" => NO_HOST.to_owned(),
        // A host that is called as Hive calls none is not none.
        NO_HOST => format!("%{:02X}{}", host.as_bytes()[0], &host[1..]),
        _ => percent::encode(host),
    }
}

/// Undoes [`escape_host`]; `None` for everything that it does not write.
pub(crate) fn unescape_host(text: &str) -> Option<String> {
    let host = if text == NO_HOST { String::new() } else { percent::decode(text)? };
    (escape_host(&host) == text).then_some(host)
}

pub(crate) const NO_HOST: &str = "__HIVE_DEFAULT_PARTITION__";

//! Paths and names as identifiers of entities, and back.

/// Prefix of a path without a root directory: the file is no part of the crate.
const RELATIVE: &str = "#file/";
const ABSOLUTE: &str = "file://";

/// Returns the identifier of a file: its URL, or a local identifier of a relative path.
pub fn of_path(path: &str) -> String {
    if path.starts_with('/') {
        return format!("{ABSOLUTE}{}", encoded(path));
    }
    let is_url = path.split_once("://").is_some_and(|(scheme, _)| !scheme.is_empty() && scheme.bytes().all(|b| b.is_ascii_alphanumeric()));
    if is_url { encoded_url(path) } else { format!("{RELATIVE}{}", encoded(path)) }
}

/// Returns the path of an identifier that [`of_path`] makes; other identifiers stay as they are.
pub fn to_path(id: &str) -> String {
    let encoded = id.strip_prefix(ABSOLUTE).filter(|path| path.starts_with('/')).or_else(|| id.strip_prefix(RELATIVE));
    encoded.and_then(decoded).unwrap_or_else(|| id.to_owned())
}

/// Replaces all bytes that a path of a URL cannot have by `%NN`.
pub fn encoded(text: &str) -> String {
    with(text, b"-_.~/")
}

fn encoded_url(text: &str) -> String {
    with(text, b"-_.~/:?#@!$&'()*+,;=%")
}

fn with(text: &str, allowed: &[u8]) -> String {
    let mut id = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || allowed.contains(&byte) {
            id.push(char::from(byte));
        } else {
            id.push_str(&format!("%{byte:02X}"));
        }
    }
    id
}

/// Returns the text without `%NN`; `None` if that is no UTF-8 or no escape.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let (byte, after) = match (first, after) {
            (b'%', [high, low, after @ ..]) => {
                let digit = |byte: &u8| char::from(*byte).to_digit(16);
                ((digit(high)? * 16 + digit(low)?) as u8, after)
            }
            (b'%', _) => return None,
            _ => (*first, after),
        };
        bytes.push(byte);
        rest = after;
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_urls_and_come_back() {
        for (path, id) in [
            ("/data/a b.txt", "file:///data/a%20b.txt"),
            ("results/é#1", "#file/results/%C3%A9%231"),
            ("100%", "#file/100%25"),
            ("s3://bucket/x?versionId=1", "s3://bucket/x?versionId=1"),
            ("a://", "a://"),
            ("://b", "#file/%3A//b"),
        ] {
            assert_eq!(of_path(path), id);
            assert_eq!(to_path(id), path, "{id}");
        }
        for foreign in ["results/x", "file://host/x", "#file/%zz", "#file/%f", "#file/%ff", "%41"] {
            assert_eq!(to_path(foreign), foreign);
        }
    }
}

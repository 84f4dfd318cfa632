//! The path column: what stands after the last comma in, a path out, and back.
//!
//! The published tool joins three paths by colons: of the file up to the root of its file system,
//! of the mount's root, of the file system's root; the last two are empty where they are `/`. It
//! pads the column with spaces to 240 characters, and cuts what is longer. It gathers at most ten
//! parts of a path from its end, of 63 bytes each. A path is therefore one within its file system:
//! the place where that is mounted is not known.
//!
//! Written are `PATH::`, and in double quotes (RFC 4180) where a plain one would not be read again
//! as it was or would look like several lines or columns. In quotes the text is as
//! [`flowmine_schema::text`] writes bytes: a newline is `\x0a`. The published tool never writes a
//! quote first, as its paths begin with a slash.

use std::borrow::Cow;

use flowmine_schema::text::{decode, encode};

/// What the column of the path says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathColumn<'a> {
    /// The column is empty: no path is known.
    None,
    /// The whole path.
    Path(Cow<'a, str>),
    /// A path of which the end is missing, and with it that it is one.
    Cut,
}

/// Where the published tool cuts, in characters.
const CUT_AT: usize = 240;
/// How many parts of a path it gathers.
pub const MOST_PARTS: usize = 10;
/// How many bytes of a part of a path it gathers.
pub const LONGEST_PART: usize = 63;

/// Reads the column, with its padding.
pub fn read(column: &[u8]) -> PathColumn<'_> {
    let unpadded = column.trim_ascii_end();
    // What a person's editor puts after a comma; a path begins with a slash or a quote.
    let text = unpadded.trim_ascii_start();
    if text.first() == Some(&b'"') {
        return quoted(text);
    }
    let path = match split(text) {
        Some(path) => path,
        None if cut(column, unpadded) => return PathColumn::Cut,
        None => text,
    };
    if path.is_empty() { PathColumn::None } else { PathColumn::Path(decode(path)) }
}

fn cut(column: &[u8], unpadded: &[u8]) -> bool {
    unpadded.len() == column.len() && column.len() >= CUT_AT && String::from_utf8_lossy(column).chars().count() == CUT_AT
}

/// The first of three paths joined by colons; `None` when it is not three.
fn split(text: &[u8]) -> Option<&[u8]> {
    let (rest, file_system) = rsplit(text)?;
    let (path, mount) = rsplit(rest)?;
    let is_path = |text: &[u8]| text.is_empty() || text.first() == Some(&b'/');
    (is_path(file_system) && is_path(mount)).then_some(path)
}

fn rsplit(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = memchr::memrchr(b':', text)?;
    Some((&text[..colon], &text[colon + 1..]))
}

fn quoted(text: &[u8]) -> PathColumn<'static> {
    let inside = text.strip_prefix(b"\"").unwrap_or(text);
    let Some(inside) = inside.strip_suffix(b"\"") else { return PathColumn::Cut };
    let mut bytes = Vec::with_capacity(inside.len());
    let mut rest = inside;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte == b'"' {
            match rest.strip_prefix(b"\"") {
                Some(after) => rest = after,
                None => return PathColumn::Cut,
            }
        }
        bytes.push(byte);
    }
    let path = split(&bytes).unwrap_or(&bytes);
    if path.is_empty() {
        return PathColumn::None;
    }
    // Bytes that are no UTF-8 are not ours: they stay what they are.
    let raw = std::str::from_utf8(path).map_or_else(|_| path.to_vec(), encode);
    PathColumn::Path(decode(&raw).into_owned().into())
}

/// Writes the column of a path; whether it had to be quoted.
pub fn write(path: &str, out: &mut Vec<u8>) -> bool {
    let bytes = path.as_bytes();
    let control = bytes.iter().any(|byte| byte.is_ascii_control());
    let ends = bytes.first().is_none_or(|byte| *byte == b' ' || *byte == b'"') || bytes.last() == Some(&b' ');
    // A quote after a comma begins a quoted field for readers of CSV, which then swallows lines up to the next quote.
    if !control && !ends && !path.contains("\\x") && !path.contains(",\"") {
        out.extend_from_slice(bytes);
        out.extend_from_slice(b"::");
        return false;
    }
    out.push(b'"');
    for &byte in bytes {
        match byte {
            b'"' => out.extend_from_slice(b"\"\""),
            byte if byte.is_ascii_control() => {
                const DIGITS: &[u8; 16] = b"0123456789abcdef";
                out.extend_from_slice(&[b'\\', b'x', DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
            }
            byte => out.push(byte),
        }
    }
    out.extend_from_slice(b"::\"");
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn path(column: &str) -> PathColumn<'_> {
        read(column.as_bytes())
    }

    fn told(text: &str) -> PathColumn<'static> {
        PathColumn::Path(text.to_owned().into())
    }

    #[test]
    fn three_paths_are_the_first() {
        assert_eq!(path("/home/w/a.fq.gz::   "), told("/home/w/a.fq.gz"));
        assert_eq!(path("/w/a:/w:"), told("/w/a"));
        assert_eq!(path("/w/10:30 run,b::"), told("/w/10:30 run,b"));
        assert_eq!(path("/plain/of/an/older/tool"), told("/plain/of/an/older/tool"));
        assert_eq!(path("/a:b:c"), told("/a:b:c"), "no three paths");
        assert_eq!((path(""), path("::  "), path("   ")), (PathColumn::None, PathColumn::None, PathColumn::None));
    }

    #[test]
    fn a_path_that_fills_the_column_is_cut() {
        let long = format!("/{}", "x".repeat(300));
        assert_eq!(path(&long[..240]), PathColumn::Cut);
        assert_eq!(path(&long[..239]), told(&long[..239]));
        assert_eq!(path(&format!("{}::", &long[..238])), told(&long[..238]));
        assert_eq!(path(&format!("{}::  ", &long)), told(&long), "another tool's column may be wider");
        assert_eq!(path("\"/a"), PathColumn::Cut);
    }

    proptest! {
        #[test]
        fn any_column_is_read(column in proptest::collection::vec(prop_oneof![any::<u8>(), Just(b':'), Just(b'"'), Just(b' '), Just(b'/')], 0..300)) {
            let _ = read(&column);
        }

        #[test]
        fn what_is_written_is_read_and_one_column_of_one_line(
            bytes in proptest::collection::vec(
                prop_oneof![any::<u8>(), Just(b':'), Just(b'"'), Just(b','), Just(b' '), Just(b'/'), Just(b'\n'), Just(b'\\'), Just(b'x')], 1..60
            )
        ) {
            let text = decode(&bytes).into_owned();
            let mut column = Vec::new();
            let quoted = write(&text, &mut column);
            prop_assert!(!column.iter().any(u8::is_ascii_control));
            prop_assert!(quoted || !memchr::memmem::find(&column, b",\"").is_some_and(|_| true));
            prop_assert_eq!(read(&column), PathColumn::Path(text.into()));
        }
    }
}

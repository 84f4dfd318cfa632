//! What is odd in a log file, and names of it in words.

use crate::read::input::Position;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Allowed by the standard, and worth knowing.
    Note,
    /// Read otherwise than written, or against the standard in a way that readers forgive.
    Warning,
    /// Against the standard.
    Error,
}

/// Something that is odd about a file, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is: a note, a warning or an error.
    pub severity: Severity,
    /// A word for the kind: `duplicate_object_id`.
    pub rule: &'static str,
    /// Line in the file, from 1; `None` where the format has no lines.
    pub line: Option<u64>,
    /// Column in the line, in bytes, from 1.
    pub column: Option<u64>,
    /// The id, the path within the document, or the table and row; empty when line and column say
    /// it.
    pub place: String,
    /// What is wrong, and what to do about it.
    pub message: String,
}

/// A finding at a place in a text.
pub(super) fn found(severity: Severity, rule: &'static str, place: Position, message: String) -> Finding {
    Finding { severity, rule, line: Some(place.line), column: Some(place.column), place: String::new(), message }
}

/// Returns text of a file for a message: in quotes, without control characters, and shortened.
pub(crate) fn shown(text: &str) -> String {
    format!("\"{}\"", printable(text, 60))
}

/// Returns at most `most` characters of a text, with control characters escaped for terminals.
pub(crate) fn printable(text: &str, most: usize) -> String {
    let mut out = String::new();
    for (at, character) in text.chars().enumerate() {
        if at == most {
            out.push('…');
            break;
        }
        out.extend(character.escape_debug());
    }
    out
}

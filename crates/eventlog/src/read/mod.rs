//! Log files of others in, records out.
//!
//! A file is taken for hostile: nothing of it is believed before it is read, no text, nesting or number of types can be so large that
//! memory fills, entities are not expanded, and an error says where. What can be kept is kept, and a [`Finding`] says what was odd.

mod elements;
pub mod input;
mod json;
pub mod ocel_json;
pub mod ocel_sqlite;
pub mod ocel_xml;
mod unpack;
mod values;
pub mod xes;

use std::fs::File;
use std::io::{BufRead, Read};
use std::path::Path;

use crate::error::LogError;
use crate::log::{CaseHeader, Types};
use crate::read::elements::{Elements, Node};
use crate::read::input::{Input, Position};
use crate::record::Record;

/// How large the parts of a file may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one text: a value, a key, an id.
    pub text_bytes: usize,
    /// Bytes of one event, object or head of a trace, with all that is in it.
    pub record_bytes: usize,
    /// How deep elements, lists and attributes of attributes may be nested.
    pub depth: usize,
    /// How many event types, object types, attributes of one type, extensions, globals and classifiers there may be, each.
    pub definitions: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { text_bytes: 16 << 20, record_bytes: 64 << 20, depth: 64, definitions: 100_000 }
    }
}

/// The formats of log files that can be read and checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// XES, plain or gz.
    Xes,
    /// OCEL JSON, 2.0 or 1.0, plain or gz.
    OcelJson,
    /// OCEL XML, 2.0 or 1.0, plain or gz.
    OcelXml,
    /// OCEL 2.0 SQLite.
    OcelSqlite,
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Allowed, and worth knowing.
    Note,
    /// Read otherwise than written, or against the standard in a way that readers forgive.
    Warning,
    /// Against the standard.
    Error,
}

/// Something that is odd about a file, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// A word for the kind: `duplicate_object_id`.
    pub rule: &'static str,
    /// From 1; unknown where the format has no lines.
    pub line: Option<u64>,
    /// In bytes, from 1.
    pub column: Option<u64>,
    /// The id, the path within the document, or the table and row; empty when line and column say it.
    pub place: String,
    /// What is wrong, and what to do about it.
    pub message: String,
}

/// Takes what a reader finds, in the order of the file.
pub trait Sink {
    /// The types of an OCEL file. They can come after the records (JSON knows no order), and in two parts.
    ///
    /// # Errors
    /// Whatever ends the reading.
    fn types(&mut self, types: Types) -> Result<(), LogError>;

    /// What an XES file says outside of its traces; comes once, when the file has been read to its end.
    ///
    /// # Errors
    /// Whatever ends the reading.
    fn header(&mut self, header: CaseHeader) -> Result<(), LogError>;

    /// A record: from OCEL objects and events in the order of the file, from XES traces with their events.
    ///
    /// # Errors
    /// Whatever ends the reading.
    fn record(&mut self, record: &Record<'_>) -> Result<(), LogError>;

    /// Something odd; the reading goes on.
    fn finding(&mut self, finding: Finding);
}

/// Reads a log file, whatever its format and name: it is told by its content.
///
/// # Errors
/// When it is no log or nothing more of it can be used; what the sink says; errors of the operating system.
pub fn read_file(path: &Path, limits: &Limits, sink: &mut dyn Sink) -> Result<Format, LogError> {
    let format = detect(path)?;
    match format {
        Format::Xes => xes::read(Input::xml_file(File::open(path)?, limits)?, limits, sink)?,
        Format::OcelXml => ocel_xml::read(Input::xml_file(File::open(path)?, limits)?, limits, sink)?,
        Format::OcelJson => {
            // Keys have no order in JSON, and the types say how to read the rest. What is wrong is said when all is read.
            let types = ocel_json::types(Input::records_file(File::open(path)?, limits)?, limits).ok();
            ocel_json::read(Input::records_file(File::open(path)?, limits)?, limits, types, sink)?;
        }
        Format::OcelSqlite => ocel_sqlite::read(path, limits, sink)?,
    }
    Ok(format)
}

/// Tells the format of a log file by its content.
///
/// # Errors
/// When it is none that can be read; errors of the operating system.
pub fn detect(path: &Path) -> Result<Format, LogError> {
    told(path)?.map_err(no_log)
}

/// The same; the inner error is why it is no log. The outer is an error of the operating system, or [`LogError::Refused`] when what could tell
/// cannot be read.
pub(crate) fn told(path: &Path) -> Result<Result<Format, String>, LogError> {
    let file = File::open(path)?;
    if !file.metadata()?.is_file() {
        // It is opened more than once.
        return Ok(Err("it is no regular file".to_owned()));
    }
    let mut file = std::io::BufReader::new(file);
    if file.fill_buf()?.starts_with(b"SQLite format 3\0") {
        return Ok(Ok(Format::OcelSqlite));
    }
    told_text(file)
}

/// Tells the format of a log that is text, plain or gz.
///
/// # Errors
/// As [`detect`].
pub fn detect_text(source: impl Read) -> Result<Format, LogError> {
    told_text(source)?.map_err(no_log)
}

fn told_text(source: impl Read) -> Result<Result<Format, String>, LogError> {
    // Little is looked at; comments before the log can be of any number, but not of any length.
    let limits = Limits { text_bytes: 1 << 20, record_bytes: 1 << 20, ..Limits::default() };
    let mut input = Input::xml(source, &limits)?;
    input.skip_white_space()?;
    let why = match input.fill_buf() {
        Ok([b'{', ..]) => return Ok(Ok(Format::OcelJson)),
        Ok([b'<', ..]) => None,
        Ok([]) => Some("it is empty"),
        Ok([b'S', b'Q', b'L', b'i', b't', b'e', b' ', ..]) => Some("it is SQLite within gz: unpack it first"),
        Ok([b'[', ..]) => Some("it is JSON, but not an object"),
        Ok(_) => Some("it begins like none of them"),
        Err(error) => return Err(input.explain(error)),
    };
    if let Some(why) = why {
        return Ok(Err(why.to_owned()));
    }
    let mut elements = Elements::new(input, &limits);
    let mut buffer = Vec::new();
    // How many elements are open, without comments and the like.
    let mut depth = 0;
    loop {
        let told = match elements.next(true, &mut buffer)? {
            Node::Start(tag) => {
                depth += 1;
                let name = tag.name();
                match depth {
                    1 if name != "log" => return Ok(Err(format!("its outermost element is <{}>", printable(name, 60)))),
                    // Both are a <log>; only XES says so.
                    1 => tag.any(|key, value| key.contains("xes.") || value.contains("xes-standard")).then_some(Format::Xes),
                    2 => match name {
                        "object-types" | "event-types" | "objects" | "events" => Some(Format::OcelXml),
                        // OCEL 1.0.
                        "global" if tag.any(|key, value| key == "scope" && !matches!(value, "event" | "trace")) => Some(Format::OcelXml),
                        "extension" | "classifier" | "trace" | "event" => Some(Format::Xes),
                        _ => None,
                    },
                    _ => None,
                }
            }
            Node::End => {
                depth -= 1;
                None
            }
            Node::Eof => Some(Format::Xes),
            Node::Text(_) | Node::Other(_) => None,
        };
        if let Some(format) = told {
            return Ok(Ok(format));
        }
    }
}

pub(crate) fn no_log(why: String) -> LogError {
    Position::START.refuse(format!(
        "this is no log that can be read: {why}. What can be read: XES and OCEL 2.0 or 1.0 in JSON or XML, each also in gz, and OCEL 2.0 in SQLite"
    ))
}

/// A finding at a place in a text.
fn found(severity: Severity, rule: &'static str, place: Position, message: String) -> Finding {
    Finding { severity, rule, line: Some(place.line), column: Some(place.column), place: String::new(), message }
}

/// Text of a file as it can stand in a message: between quotes, without control characters, and not much of it.
pub(crate) fn shown(text: &str) -> String {
    format!("\"{}\"", printable(text, 60))
}

/// So many characters of a text, those that do something to a terminal escaped.
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

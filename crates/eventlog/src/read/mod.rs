//! Log files of others in, records out.
//!
//! Every file is treated as hostile: no announced size is trusted before the data is read, no text,
//! nesting or number of types can fill the memory, entities are not expanded, and an error states
//! its place. All usable data is kept, and a [`Finding`] reports each irregularity.

mod elements;
mod finding;
pub mod input;
mod json;
mod limits;
pub mod ocel_json;
pub mod ocel_sqlite;
pub mod ocel_xml;
mod sink;
mod unpack;
mod values;
pub mod xes;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flowmine_files::FileError;

use crate::error::LogError;
use crate::read::elements::{Elements, Node};
use crate::read::input::{Input, Position};

use finding::found;
pub use finding::{Finding, Severity};
pub(crate) use finding::{printable, shown};
pub use limits::Limits;
pub use sink::Sink;

/// The formats of log files that can be read and checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// XES, plain or gz.
    Xes,
    /// OCEL JSON, 2.0 or 1.0, plain or gz.
    OcelJson,
    /// OCEL XML, 2.0 or 1.0, plain or gz.
    OcelXml,
    /// OCEL SQLite, 2.0 or PM4Py's 1.0.
    OcelSqlite,
}

/// Format that the beginning of a file indicates.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Told {
    pub format: Format,
    /// Whether it is OCEL 1.0 in JSON or XML.
    pub is_first_version: bool,
}

impl From<Format> for Told {
    fn from(format: Format) -> Self {
        Self { format, is_first_version: false }
    }
}

/// Reads a log file, whatever its format and name: they are found by its content.
///
/// # Errors
/// When it is no log or nothing more of it can be used; what the sink says; errors of the operating
/// system.
pub fn read_file(path: &Path, limits: &Limits, sink: &mut dyn Sink) -> Result<Format, LogError> {
    let format = detect(path)?;
    match format {
        Format::Xes => xes::read(Input::xml_file(open(path)?, limits)?, limits, sink)?,
        Format::OcelXml => ocel_xml::read(Input::xml_file(open(path)?, limits)?, limits, sink)?,
        Format::OcelJson => {
            // Keys have no order in JSON, and the types say how to read the rest. What is wrong is said when all is read.
            let types = ocel_json::types(Input::records_file(open(path)?, limits)?, limits).ok();
            ocel_json::read(Input::records_file(open(path)?, limits)?, limits, types, sink)?;
        }
        Format::OcelSqlite => ocel_sqlite::read(path, limits, sink)?,
    }
    Ok(format)
}

/// Opens a log, which is a plain file.
pub(crate) fn open(path: &Path) -> Result<File, LogError> {
    Ok(flowmine_files::open_plain(path).map_err(io::Error::from)?)
}

/// Finds the format of a log file by its content.
///
/// # Errors
/// When it is none that can be read; errors of the operating system.
pub fn detect(path: &Path) -> Result<Format, LogError> {
    told(path)?.map(|told| told.format).map_err(no_log)
}

/// The same; the inner error is why it is no log. The outer is an error of the operating system, or
/// [`LogError::Refused`] when what could show it cannot be read.
pub(crate) fn told(path: &Path) -> Result<Result<Told, String>, LogError> {
    let mut file = match flowmine_files::open_plain(path) {
        Ok(file) => BufReader::new(file),
        // It is opened more than once.
        Err(FileError::Foreign(_)) => return Ok(Err("it is no regular file".to_owned())),
        Err(error) => return Err(io::Error::from(error).into()),
    };
    if file.fill_buf()?.starts_with(b"SQLite format 3\0") {
        return Ok(Ok(Format::OcelSqlite.into()));
    }
    told_text(file)
}

/// Finds the format of a log that is text, plain or gz.
///
/// # Errors
/// As [`detect`].
pub fn detect_text(source: impl Read) -> Result<Format, LogError> {
    told_text(source)?.map(|told| told.format).map_err(no_log)
}

fn told_text(source: impl Read) -> Result<Result<Told, String>, LogError> {
    // Little is looked at; comments before the log can be of any number, but not of any length.
    let limits = Limits { text_bytes: 1 << 20, record_bytes: 1 << 20, ..Limits::default() };
    let mut input = Input::xml(source, &limits)?;
    input.skip_white_space()?;
    let why = match input.fill_buf() {
        Ok([b'{', rest @ ..]) => {
            let is_first_version = rest.trim_ascii_start().starts_with(b"\"ocel:");
            return Ok(Ok(Told { format: Format::OcelJson, is_first_version }));
        }
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
                        "global" if tag.any(|key, value| key == "scope" && !matches!(value, "event" | "trace")) => {
                            return Ok(Ok(Told { format: Format::OcelXml, is_first_version: true }));
                        }
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
            return Ok(Ok(format.into()));
        }
    }
}

pub(crate) fn no_log(why: String) -> LogError {
    Position::START.refuse(format!(
        "this is no log that can be read: {why}. What can be read: XES and OCEL 2.0 or 1.0 in JSON or XML, each also in gz, and OCEL 2.0 or 1.0 in SQLite"
    ))
}

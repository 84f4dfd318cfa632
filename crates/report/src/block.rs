//! The parts of a page, before they are markup.

use std::collections::BTreeMap;
use std::io::Write;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use flowmine_draw::embed::{self, Role};
use serde::Serialize;

use crate::ReportError;
use crate::column::{self, Column};

/// Returns bytes gzipped, in base64.
///
/// # Errors
/// When they cannot be compressed.
pub fn packed(bytes: &[u8]) -> Result<String, ReportError> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::new(6));
    packed.write_all(bytes)?;
    Ok(BASE64_STANDARD.encode(packed.finish()?))
}

/// Returns the pieces of a text: whether each is a command between backticks, and its text.
pub fn pieces(text: &str) -> Vec<(bool, &str)> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((before, (code, after))) = rest.split_once('`').and_then(|(before, of)| Some((before, of.split_once('`')?))) {
        found.push((false, before));
        found.push((true, code));
        rest = after;
    }
    found.push((false, rest));
    found.retain(|(_, text)| !text.is_empty());
    found
}

/// A section of the page.
#[derive(Debug)]
pub struct Section {
    /// Its id, to link to: lower-case letters.
    pub id: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// The question that it answers.
    pub question: &'static str,
    /// Its parts.
    pub blocks: Vec<Block>,
}

/// A part of a section.
#[derive(Debug)]
pub enum Block {
    /// A paragraph.
    Text(String),
    /// A heading below that of the section.
    Heading(String),
    /// Names with their values.
    Facts(Vec<Fact>),
    /// Sentences with a mark in front of each.
    List(Vec<String>),
    /// Findings.
    Cards(Vec<Card>),
    /// What is missing, and what to record so that it is there.
    Missing(Missing),
    /// A figure.
    Figure(Figure),
    /// A graph that is shown in several ways.
    Graph(Graph),
    /// A table.
    Table(Table),
}

/// A name with a value, and what qualifies it.
#[derive(Debug)]
pub struct Fact {
    /// Name of the value.
    pub name: &'static str,
    /// The value, in words.
    pub value: String,
    /// A note to the value; empty where there is none.
    pub note: String,
}

impl Fact {
    /// A fact without a note.
    pub fn new(name: &'static str, value: impl Into<String>) -> Self {
        Self { name, value: value.into(), note: String::new() }
    }

    /// Adds a note.
    #[must_use]
    pub fn note(self, note: impl Into<String>) -> Self {
        Self { note: note.into(), ..self }
    }
}

/// A finding.
#[derive(Debug)]
pub struct Card {
    /// Its rank, from 1.
    pub rank: usize,
    /// What was found, in a sentence.
    pub found: String,
    /// What it costs, with its share.
    pub cost: String,
    /// The instances that show it.
    pub evidence: Vec<Evidence>,
    /// Number of its activities.
    pub all_activities: usize,
    /// Its activities with their shares, where the sentence does not name them all.
    pub activities: Vec<Evidence>,
    /// What to do, in a sentence.
    pub action: String,
    /// What would be gained, with its assumption.
    pub gain: String,
}

/// An instance that shows a finding, with the rows of a table that describe it.
#[derive(Debug)]
pub struct Evidence {
    /// What identifies it.
    pub words: String,
    /// The table that has it.
    pub table: &'static str,
    /// The column that identifies it; empty where none does.
    pub column: &'static str,
    /// The value of that column.
    pub value: String,
}

/// What is missing.
#[derive(Debug)]
pub struct Missing {
    /// What is not known, in a sentence.
    pub what: String,
    /// What to record, in a sentence.
    pub record: &'static str,
}

impl Block {
    /// What is missing, and what to record.
    pub fn missing(what: impl Into<String>, record: &'static str) -> Self {
        Self::Missing(Missing { what: what.into(), record })
    }

    /// A figure of this crate's models as a block.
    ///
    /// # Errors
    /// When the text is no SVG.
    pub fn figure(id: impl Into<String>, caption: impl Into<String>, svg: &str) -> Result<Self, ReportError> {
        let id = id.into();
        let svg = embed::embedded(svg, &id, Role::Image)?;
        Ok(Self::Figure(Figure { id, caption: caption.into(), svg }))
    }
}

/// A figure.
#[derive(Debug)]
pub struct Figure {
    /// Its id: letters, digits and hyphens.
    pub id: String,
    /// What it shows, in a sentence.
    pub caption: String,
    /// The element.
    pub svg: String,
}

/// A graph that is shown in several ways.
#[derive(Debug)]
pub struct Graph {
    /// What a case can be; the first is shown first.
    pub notions: Vec<String>,
    /// What nodes and edges can show; the first is shown first.
    pub shows: Vec<&'static str>,
    /// Number of levels of what is shown first.
    pub levels: usize,
    /// Number of the level that is shown first.
    pub first: usize,
    /// What it shows, in a few words.
    pub name: String,
    /// The element that is shown first.
    pub svg: String,
    /// All views and what lies behind their marks: JSON, gzipped, in base64.
    pub data: String,
}

/// A level of detail of a graph.
#[derive(Debug, Serialize)]
pub struct Level {
    /// What is shown, in a few words.
    pub name: String,
    /// The element.
    pub svg: String,
    /// The place of what lies behind each mark.
    pub marks: BTreeMap<String, usize>,
}

/// A table.
#[derive(Debug)]
pub struct Table {
    /// Its id: lower-case letters; also the name of its CSV file.
    pub id: &'static str,
    /// What a row is, in a few words.
    pub title: String,
    /// What is left out, in a sentence; empty where nothing is.
    pub left_out: String,
    /// Number of rows.
    pub rows: usize,
    /// The columns: JSON, gzipped, in base64.
    pub data: String,
}

impl Table {
    /// A table of columns of the same length.
    ///
    /// # Errors
    /// When the columns cannot be written.
    pub fn new(id: &'static str, title: impl Into<String>, columns: &[Column]) -> Result<Self, ReportError> {
        let rows = columns.first().map_or(0, Column::len);
        debug_assert!(columns.iter().all(|column| column.len() == rows), "columns of {id}");
        let data = packed(&column::json(columns)?)?;
        Ok(Self { id, title: title.into(), left_out: String::new(), rows, data })
    }

    /// Adds what is left out.
    #[must_use]
    pub fn left_out(self, left_out: impl Into<String>) -> Self {
        Self { left_out: left_out.into(), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_between_backticks() {
        assert_eq!(pieces("Trace it with `flowmine trace`."), [(false, "Trace it with "), (true, "flowmine trace"), (false, ".")]);
        assert_eq!(pieces("`a``b` and a ` alone"), [(true, "a"), (true, "b"), (false, " and a ` alone")]);
        assert_eq!(pieces("none"), [(false, "none")]);
        assert_eq!(pieces(""), []);
    }
}

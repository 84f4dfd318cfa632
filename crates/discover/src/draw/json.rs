//! A directly-follows graph as JSON: the whole of it, nothing left out.
//!
//! ```json
//! { "format": "flowmine-dfg", "version": 1,
//!   "title": "…", "case_notion": "…", "filters": ["…"], "abstraction": "…",
//!   "cases": 2, "empty_cases": 0, "events": 5, "backward_steps": 0,
//!   "activities": [ { "name": "align", "frequency": 3, "cases": 2 } ],
//!   "start_activities": [ { "activity": "align", "cases": 2 } ],
//!   "end_activities": [ { "activity": "merge", "cases": 2 } ],
//!   "edges": [ { "from": "align", "to": "merge", "frequency": 2, "cases": 2, "mean_s": 15.0, "median_s": 15.0,
//!                "p95_s": 19.5, "min_s": 10.0, "max_s": 20.0, "total_s": 30.0 } ] }
//! ```
//!
//! Times are seconds. Names are as the log has them and are unique; they are not shortened. Activities are sorted by
//! name, edges by the names of their ends. Characters that could play tricks on a terminal are written as `\uXXXX`,
//! which every JSON reader turns back into the character.

use crate::dfg::Dfg;
use serde::Serialize;
use std::io::{self, Write};

/// The document; see the module for what it looks like.
#[derive(Debug, Serialize)]
pub struct Document<'a> {
    format: &'static str,
    version: u32,
    title: &'a str,
    case_notion: &'a str,
    filters: &'a [String],
    abstraction: &'a str,
    cases: u64,
    empty_cases: u64,
    events: u64,
    backward_steps: u64,
    activities: Vec<ActivityEntry<'a>>,
    start_activities: Vec<Terminal<'a>>,
    end_activities: Vec<Terminal<'a>>,
    edges: Vec<EdgeEntry<'a>>,
}

#[derive(Debug, Serialize)]
struct ActivityEntry<'a> {
    name: &'a str,
    frequency: u64,
    cases: u64,
}

#[derive(Debug, Serialize)]
struct Terminal<'a> {
    activity: &'a str,
    cases: u64,
}

#[derive(Debug, Serialize)]
struct EdgeEntry<'a> {
    from: &'a str,
    to: &'a str,
    frequency: u64,
    cases: u64,
    mean_s: f64,
    median_s: f64,
    p95_s: f64,
    min_s: f64,
    max_s: f64,
    total_s: f64,
}

/// The document of a graph, for those who want to embed it in a larger one.
pub fn document(dfg: &Dfg) -> Document<'_> {
    let name = |i: usize| dfg.activities.get(i).map_or("", |a| a.name.as_str());
    let terminals = |list: &[(usize, u64)]| list.iter().map(|&(activity, cases)| Terminal { activity: name(activity), cases }).collect();
    Document {
        format: "flowmine-dfg",
        version: 1,
        title: &dfg.title,
        case_notion: &dfg.notion,
        filters: &dfg.filters,
        abstraction: &dfg.abstraction,
        cases: dfg.cases,
        empty_cases: dfg.empty_cases,
        events: dfg.events,
        backward_steps: dfg.backward_steps,
        activities: dfg.activities.iter().map(|a| ActivityEntry { name: &a.name, frequency: a.frequency, cases: a.cases }).collect(),
        start_activities: terminals(&dfg.starts),
        end_activities: terminals(&dfg.ends),
        edges: dfg
            .edges
            .iter()
            .map(|e| EdgeEntry {
                from: name(e.from),
                to: name(e.to),
                frequency: e.frequency,
                cases: e.cases,
                mean_s: e.mean_ns / 1e9,
                median_s: e.median_ns / 1e9,
                p95_s: e.p95_ns / 1e9,
                min_s: e.min_ns as f64 / 1e9,
                max_s: e.max_ns as f64 / 1e9,
                total_s: e.total_ns as f64 / 1e9,
            })
            .collect(),
    }
}

/// Writes the document with two spaces of indentation and a line feed at the end.
///
/// # Errors
/// What the writer says.
pub fn write(dfg: &Dfg, mut out: impl Write) -> io::Result<()> {
    let mut serializer = serde_json::Serializer::with_formatter(&mut out, Plain::default());
    document(dfg).serialize(&mut serializer)?;
    out.write_all(b"\n")
}

/// Pretty JSON in which everything but printable characters is escaped.
#[derive(Default)]
pub(crate) struct Plain<'a> {
    pretty: serde_json::ser::PrettyFormatter<'a>,
}

impl serde_json::ser::Formatter for Plain<'_> {
    fn begin_array<W: ?Sized + Write>(&mut self, w: &mut W) -> io::Result<()> {
        self.pretty.begin_array(w)
    }

    fn end_array<W: ?Sized + Write>(&mut self, w: &mut W) -> io::Result<()> {
        self.pretty.end_array(w)
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, w: &mut W, first: bool) -> io::Result<()> {
        self.pretty.begin_array_value(w, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, w: &mut W) -> io::Result<()> {
        self.pretty.end_array_value(w)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, w: &mut W) -> io::Result<()> {
        self.pretty.begin_object(w)
    }

    fn end_object<W: ?Sized + Write>(&mut self, w: &mut W) -> io::Result<()> {
        self.pretty.end_object(w)
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, w: &mut W, first: bool) -> io::Result<()> {
        self.pretty.begin_object_key(w, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, w: &mut W) -> io::Result<()> {
        self.pretty.begin_object_value(w)
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, w: &mut W) -> io::Result<()> {
        self.pretty.end_object_value(w)
    }

    fn write_string_fragment<W: ?Sized + Write>(&mut self, w: &mut W, fragment: &str) -> io::Result<()> {
        let mut done = 0;
        for (at, c) in fragment.char_indices().filter(|&(_, c)| super::text::is_hidden(c)) {
            w.write_all(&fragment.as_bytes()[done..at])?;
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(w, "\\u{unit:04x}")?;
            }
            done = at + c.len_utf8();
        }
        w.write_all(&fragment.as_bytes()[done..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dfg::DfgBuilder;

    #[test]
    fn names_come_back_and_hidden_characters_are_escaped() {
        let name = "<script>\"\\\n\u{1b}\u{9b}\u{202e}\u{e0041}\u{7f}日本";
        let mut builder = DfgBuilder::new([name, "b"]);
        builder.add_trace(&[(0, 0), (1, 1_500_000_000)]).expect("the test's own input");
        let mut bytes = Vec::new();
        write(&builder.finish(), &mut bytes).expect("the test's own input");
        let text = String::from_utf8(bytes).expect("the test's own input");
        assert!(!text.chars().any(|c| c != '\n' && super::super::text::is_hidden(c)));
        let value: serde_json::Value = serde_json::from_str(&text).expect("the test's own input");
        assert_eq!(value["activities"][0]["name"], name);
        assert_eq!(value["edges"][0]["from"], name);
        assert_eq!(value["edges"][0]["median_s"], 1.5);
        assert_eq!(value["start_activities"][0]["cases"], 1);
        assert_eq!(value["end_activities"][0]["activity"], "b");
    }
}

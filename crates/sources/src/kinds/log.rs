//! Event logs: XES and OCEL.

use flowmine_eventlog::read::{Format, Limits, detect_text, ocel_sqlite};

use crate::{Answer, Kind, Reading, Sample, Seen};

/// The first bytes of an SQLite 3 database.
pub(super) const SQLITE: &[u8] = b"SQLite format 3\0";

/// Keys of JSON that only OCEL has: of version 2.0, then of 1.0.
const OWN_KEYS: [&str; 6] = ["objectTypes", "eventTypes", "ocel:global-log", "ocel:global-event", "ocel:events", "ocel:objects"];
/// Keys that a part of OCEL 2.0 has, in a file that begins with its events or objects.
const LISTS: [&str; 2] = ["events", "objects"];
const RELATIONS: [&str; 3] = ["relationships", "objectId", "qualifier"];

/// An event log.
pub const KIND: Kind = Kind {
    name: "log",
    title: "event log (XES, OCEL)",
    reads: "XES; OCEL 2.0 and 1.0 in JSON, XML and SQLite",
    reading: Reading::Log,
    extensions: &["xes", "jsonocel", "xmlocel", "sqlite", "ocel.json", "ocel.xml"],
    looks_at: |_| false,
    recognise,
};

fn recognise(sample: &Sample) -> Answer {
    if sample.head().starts_with(SQLITE) {
        return match ocel_sqlite::known_tables(sample.path(), &Limits::default()) {
            Ok(Some(tables)) => Answer::Yes(Seen::new("OCEL log (SQLite)", format!("has tables {tables}"))),
            Ok(None) => Answer::No,
            Err(why) => Answer::NotRead { what: "an SQLite database".to_owned(), advice: why.to_string() },
        };
    }
    match sample.first_byte() {
        Some(b'<') => xml(sample),
        Some(b'{') => json(sample),
        _ => Answer::No,
    }
}

fn xml(sample: &Sample) -> Answer {
    match detect_text(sample.head()) {
        Ok(Format::Xes) => Answer::Yes(Seen::new("XES log", "outermost element <log>")),
        Ok(Format::OcelXml) => Answer::Yes(Seen::new("OCEL log (XML)", "outermost element <log> with objects")),
        // What decides can come later.
        Err(_) if sample.is_cut() && sample.text().contains("<log") => Answer::Maybe(Seen::new("XML log", sample.beginning())),
        // A fault before its first elements; other XML is no log.
        Err(why) if sample.text().contains("<log") => {
            Answer::NotRead { what: "an XML document with a <log>".to_owned(), advice: why.to_string() }
        }
        _ => Answer::No,
    }
}

fn json(sample: &Sample) -> Answer {
    let seen = |keys: Vec<&str>| Seen::new("OCEL log (JSON)", format!("has keys {}", keys.join(", ")));
    let (own, lists, relations) = (sample.keys(&OWN_KEYS), sample.keys(&LISTS), sample.keys(&RELATIONS));
    if !own.is_empty() {
        return Answer::Yes(seen(own));
    }
    match (lists.len(), relations.len()) {
        (0, _) => Answer::No,
        (_, 0) if lists.len() < LISTS.len() => Answer::No,
        (_, 0) => Answer::Maybe(seen(lists)),
        _ => Answer::Yes(seen(lists.into_iter().chain(relations).collect())),
    }
}

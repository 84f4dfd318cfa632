//! An exported file, read back: the rows of a table or of a log's events, and every text that is
//! somewhere in it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{Cursor, Read};
use std::path::Path;

use flowmine_eventlog::read::{self, Limits, Severity};
use flowmine_eventlog::time;
use polars_arrow::array::{Array, BooleanArray, PrimitiveArray, Utf8ViewArray};
use polars_arrow::datatypes::ArrowDataType;
use polars_parquet::read::{BasicDecompressor, PageReader, column_iter_to_arrays, infer_schema, read_metadata};

use crate::support::dump::{Dump, Entry, Value};
use crate::support::expect;
use crate::support::logs::Log;

/// A row: what its columns hold, as text; without those that hold nothing.
pub type Row = BTreeMap<String, String>;

/// The log in an XES or OCEL file, in which nothing may be against the standard.
pub fn dump(file: &Path) -> Dump {
    let mut log = Log::default();
    read::read_file(file, &Limits::default(), &mut log).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let errors: Vec<_> = log.findings.iter().filter(|finding| finding.severity > Severity::Note).collect();
    assert!(errors.is_empty(), "{}: {errors:?}", file.display());
    Dump::new(&log)
}

/// The events of a log with cases, whatever its format.
pub fn rows(file: &Path) -> Vec<Row> {
    match format(file) {
        "csv" => of_csv(&fs::read_to_string(file).unwrap()),
        "parquet" => of_parquet(&fs::read(file).unwrap()),
        _ => of_traces(&dump(file)),
    }
}

/// What comes after the first dot.
pub fn format(file: &Path) -> &str {
    file.file_name().unwrap().to_str().unwrap().split_once('.').unwrap().1
}

/// What stands in a file, unpacked; of a file that cannot be read as it is, all that a reader
/// finds, a value a line.
pub fn text(file: &Path) -> Vec<u8> {
    match format(file) {
        "xes.gz" => expect(std::process::Command::new("gzip").arg("-dc").arg(file), 0).stdout,
        "parquet" | "ocel.sqlite" => {
            texts(file).into_iter().flat_map(|(key, texts)| [key].into_iter().chain(texts)).collect::<Vec<_>>().join("\n").into_bytes()
        }
        _ => fs::read(file).unwrap(),
    }
}

/// All texts, by what they stand under: the key of an attribute, the name of a column, and for what
/// has neither a word of ours.
pub fn texts(file: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let mut texts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut put = |key: &str, text: &str| {
        texts.entry(key.to_owned()).or_default().insert(text.to_owned());
    };
    if matches!(format(file), "csv" | "parquet") {
        rows(file).iter().flatten().for_each(|(key, text)| put(key, text));
        return texts;
    }
    let dump = dump(file);
    for (of, types) in [("event type", &dump.event_types), ("object type", &dump.object_types)] {
        for (name, attributes) in types {
            put(of, name);
            attributes.keys().for_each(|name| put("attribute", name));
        }
    }
    for (id, thing) in dump.objects.iter().chain(&dump.events) {
        put("id", id);
        put("type", &thing.kind);
        for (object, qualifier) in &thing.relations {
            put("related", object);
            put("qualifier", qualifier);
        }
    }
    let things = dump.objects.values().chain(dump.events.values()).flat_map(|thing| &thing.attributes);
    let of_traces = dump.traces.iter().flat_map(|trace| trace.attributes.iter().map(|entry| ("case:", entry)));
    let others = dump.log.iter().chain(dump.globals.iter().map(|(_, entry)| entry)).map(|entry| ("log:", entry));
    let of_events = dump.traces.iter().flat_map(|trace| trace.events.iter().flatten()).chain(things).map(|entry| ("", entry));
    for (prefix, entry) in of_traces.chain(others).chain(of_events) {
        assert!(entry.children.is_empty(), "the log of jobs has nothing nested");
        put(&format!("{prefix}{}", entry.key), &written(&entry.value));
    }
    texts
}

/// A value as text, as CSV has it.
fn written(value: &Value) -> String {
    match value {
        Value::String(text) | Value::Id(text) => text.clone(),
        Value::Time(ns) => csv_time(*ns),
        Value::Integer(number) => number.to_string(),
        Value::Boolean(truth) => truth.to_string(),
        other => panic!("the log of jobs has no {other:?}"),
    }
}

fn csv_time(ns: i64) -> String {
    let mut text = Vec::new();
    time::write(ns, 3, "+00:00", &mut text);
    String::from_utf8(text).unwrap()
}

fn of_traces(dump: &Dump) -> Vec<Row> {
    let put = |row: &mut Row, prefix: &str, entry: &Entry| {
        assert!(row.insert(format!("{prefix}{}", entry.key), written(&entry.value)).is_none(), "{} twice", entry.key);
    };
    let mut rows = Vec::new();
    for trace in &dump.traces {
        for event in &trace.events {
            let mut row = Row::new();
            trace.attributes.iter().for_each(|entry| put(&mut row, "case:", entry));
            event.iter().for_each(|entry| put(&mut row, "", entry));
            rows.push(row);
        }
    }
    rows
}

/// CSV as RFC 4180 has it: nothing at all is no value, two quotes are an empty text.
fn of_csv(text: &str) -> Vec<Row> {
    let mut records: Vec<Vec<Option<String>>> = vec![Vec::new()];
    let mut rest = text;
    while !rest.is_empty() {
        let value = if let Some(mut quoted) = rest.strip_prefix('"') {
            let mut value = String::new();
            loop {
                let (before, after) = quoted.split_once('"').expect("a closing quote");
                value.push_str(before);
                match after.strip_prefix('"') {
                    Some(more) => {
                        value.push('"');
                        quoted = more;
                    }
                    None => {
                        rest = after;
                        break Some(value);
                    }
                }
            }
        } else {
            let end = rest.find([',', '\r']).expect("a line ends with CR LF");
            let (value, after) = rest.split_at(end);
            assert!(!value.contains(['"', '\n']), "{value:?} without quotes");
            rest = after;
            (!value.is_empty()).then(|| value.to_owned())
        };
        records.last_mut().unwrap().push(value);
        match rest.strip_prefix(',') {
            Some(more) => rest = more,
            None => {
                rest = rest.strip_prefix("\r\n").expect("a line ends with CR LF");
                records.push(Vec::new());
            }
        }
    }
    assert_eq!(records.pop(), Some(Vec::new()), "the last line is ended");
    let names: Vec<String> = records.remove(0).into_iter().map(Option::unwrap).collect();
    let row = |record: Vec<Option<String>>| {
        assert_eq!(record.len(), names.len(), "{record:?}");
        let given: Row = names.iter().zip(record).filter_map(|(name, value)| Some((name.clone(), value?))).collect();
        let mut plain: Row = given.iter().map(|(name, value)| (name.clone(), without_apostrophe(value.clone()))).collect();
        // The last column marks the rows in which an apostrophe stands before a text, and no others.
        let has_apostrophe = given.iter().any(|(name, value)| plain[name] != *value);
        assert_eq!(plain.remove("flowmine:escaped").as_deref(), has_apostrophe.then_some("true"), "{given:?}");
        plain
    };
    records.into_iter().map(row).collect()
}

/// Takes off what keeps a spreadsheet from computing.
fn without_apostrophe(value: String) -> String {
    assert!(!value.starts_with(['=', '@', '\t', '\r', '\n']), "a formula: {value:?}");
    match value.strip_prefix('\'') {
        Some(rest) if rest.trim_start_matches('\'').starts_with(['=', '+', '-', '@', '\t', '\r', '\n']) => rest.to_owned(),
        _ => value,
    }
}

fn of_parquet(bytes: &[u8]) -> Vec<Row> {
    let metadata = read_metadata(&mut Cursor::new(bytes)).unwrap();
    let schema = infer_schema(&metadata).unwrap();
    let mut rows = Vec::new();
    for group in &metadata.row_groups {
        let mut of_group = vec![Row::new(); group.num_rows()];
        for (field, chunk) in schema.iter_values().zip(group.parquet_columns()) {
            let range = chunk.byte_range();
            let piece = bytes[range.start as usize..range.end as usize].to_vec();
            let pages = PageReader::new(Cursor::new(piece.into()), chunk, Vec::new(), usize::MAX);
            let types = vec![&chunk.descriptor().descriptor.primitive_type];
            let pages = vec![BasicDecompressor::new(pages, Vec::new())];
            let (arrays, _) = column_iter_to_arrays(pages, types, field.clone(), None).unwrap();
            let values = arrays.iter().flat_map(|array| of_array(array.as_ref()));
            let mut count = 0;
            for (row, value) in of_group.iter_mut().zip(values) {
                count += 1;
                row.extend(value.map(|value| (field.name.to_string(), value)));
            }
            assert_eq!(count, group.num_rows());
        }
        rows.extend(of_group);
    }
    rows
}

fn of_array(array: &dyn Array) -> Vec<Option<String>> {
    let any = array.as_any();
    let is_time = matches!(array.dtype(), ArrowDataType::Timestamp(_, Some(_)));
    if let Some(array) = any.downcast_ref::<Utf8ViewArray>() {
        array.iter().map(|text| text.map(str::to_owned)).collect()
    } else if let Some(array) = any.downcast_ref::<PrimitiveArray<i64>>() {
        array.iter().map(|number| number.map(|&number| if is_time { csv_time(number) } else { number.to_string() })).collect()
    } else {
        any.downcast_ref::<BooleanArray>().unwrap().iter().map(|truth| truth.map(|truth| truth.to_string())).collect()
    }
}

/// What XML cannot carry, written as flowmine writes it there: byte by byte.
pub fn as_in_xml(rows: Vec<Row>) -> Vec<Row> {
    let visible = |text: String| {
        let mut out = String::new();
        for c in text.chars() {
            if (c < ' ' && !matches!(c, '\t' | '\n' | '\r')) || matches!(c, '\u{fffe}' | '\u{ffff}') {
                c.to_string().bytes().for_each(|byte| out.push_str(&format!("\\x{byte:02x}")));
            } else {
                out.push(c);
            }
        }
        out
    };
    rows.into_iter().map(|row| row.into_iter().map(|(key, text)| (key, visible(text))).collect()).collect()
}

/// The first bytes of a stream.
pub fn begin(mut from: impl Read) -> [u8; 4] {
    let mut bytes = [0; 4];
    from.read_exact(&mut bytes).unwrap();
    bytes
}

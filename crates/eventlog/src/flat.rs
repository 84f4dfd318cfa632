//! A log of cases as a table: a log in, columns and rows of typed cells out, for CSV and Parquet.
//!
//! Each event is a row. The columns are found in one pass over the log, so that what a row has is
//! known before the first is written:
//!
//! 1. `case:concept:name`, `concept:name` and `time:timestamp`, also where no record has them,
//!    because readers want them;
//! 2. `lifecycle:transition`, `org:resource`, `org:role`, `org:group` and `concept:instance`, where
//!    an event has them;
//! 3. the other attributes of events in the order in which they first appear, under their own keys;
//! 4. the attributes of traces in that order, with `case:` before the key, as PM4Py has it.
//!
//! No two columns have one name: what would be the second gets its prefix (`case:`, or `event:` for
//! an event's attribute) once more.
//!
//! A column has one type: that of its values; float where there are whole and floating-point
//! numbers; text where types differ otherwise.
//!
//! A table cannot carry everything. Counted as simplified are: lists, containers and attributes
//! with attributes, which become text ([`crate::nested`]); values that became text because of
//! others in their column; whole numbers that a float does not hold exactly; the second attribute
//! of the same key in one record, which is left out; a trace without events, which has no row. Not
//! counted, because no table has them, are attributes of the log, extensions, globals and
//! classifiers.
//!
//! Traces without a name, and those after the first of a name, get one of their own
//! ([`crate::case_names`]), so that whoever reads the table finds as many cases as there were
//! traces with events. They are counted as renamed.
//!
//! Refused is a log with more than [`MOST_COLUMNS`] columns or [`MOST_NAME_BYTES`] in their names,
//! and one that gives objects.

use std::borrow::Cow;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::attribute::{Attribute, Value, ValueType};
use crate::case_names::{self, WithCaseNames};
use crate::error::LogError;
use crate::id_hash::IdHash;
use crate::log::{Batches, CaseLog, Counts};
use crate::nested;
use crate::parallel;
use crate::pieces;
use crate::read::shown;
use crate::record::{Batch, Record};

/// How many columns a table may have. A log with more has data in its keys, and no reader takes its
/// table.
pub const MOST_COLUMNS: usize = 10_000;

/// How many bytes their names may have together.
pub const MOST_NAME_BYTES: usize = 16 << 20;

/// The name of the column that says in which rows texts have an apostrophe before them
/// ([`crate::csv`]). No attribute's column has it.
pub const ESCAPED: &str = "flowmine:escaped";

/// Attributes of events that come first, in this order; the first two are always there.
const FIRST: [&str; 7] =
    ["concept:name", "time:timestamp", "lifecycle:transition", "org:resource", "org:role", "org:group", "concept:instance"];

/// A column of the table: its name and the type of its cells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its name, different from all others.
    pub name: String,
    /// String, time, integer, float or boolean.
    pub kind: ValueType,
}

/// A cell. Its type is that of its column, or it is missing.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Cell<'a> {
    /// There is no value.
    #[default]
    Missing,
    /// Text.
    Text(Cow<'a, str>),
    /// UTC nanoseconds since 1970.
    Time(i64),
    /// A whole number.
    Integer(i64),
    /// A floating-point number.
    Float(f64),
    /// True or false.
    Boolean(bool),
}

/// A log as a flat table: a row for each event, with the log's columns.
pub struct Table<'l> {
    log: &'l dyn CaseLog,
    /// The log in which each trace has a name of its own, if that is not so of `log`.
    named: Option<WithCaseNames<'l>>,
    /// The columns of the table, and which attribute goes into which.
    pub columns: Columns,
    /// How many traces have another name than their own.
    pub renamed: u64,
    /// Whether some text may be a formula to a spreadsheet. Where it is not set, none is.
    pub may_have_formulas: bool,
}

impl<'l> Table<'l> {
    /// Finds the columns of a log. Walks through it once, and twice where traces must be renamed.
    ///
    /// # Errors
    /// Those of the log; when there are too many columns.
    pub fn of(log: &'l dyn CaseLog) -> Result<Self, LogError> {
        let (columns, renamed, may_have_formulas) = Columns::of(log)?;
        if renamed == 0 {
            return Ok(Self { log, named: None, columns, renamed, may_have_formulas });
        }
        let named = WithCaseNames(log);
        let (columns, _, may_have_formulas) = Columns::of(&named)?;
        Ok(Self { log, named: Some(named), columns, renamed, may_have_formulas })
    }

    /// What the table is of, batch by batch.
    pub fn traces(&self) -> Batches<'_> {
        self.named.as_ref().map_or_else(|| self.log.traces(), CaseLog::traces)
    }
}

/// The columns of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Columns {
    columns: Vec<Column>,
    /// Where the attributes of events are, by key.
    events: FxHashMap<String, usize>,
    /// Where the attributes of traces are, by key.
    traces: FxHashMap<String, usize>,
}

impl Columns {
    /// The columns of a log, how many of its traces have no name of their own, and whether some text
    /// may be a formula.
    fn of(log: &dyn CaseLog) -> Result<(Self, u64, bool), LogError> {
        let (mut events, mut traces) = (Keys::default(), Keys::default());
        let (mut names, mut renamed, mut may_have_formulas) = (FxHashSet::default(), 0, false);
        parallel::in_order(log.traces(), seen, |batch| {
            events.add(batch.events);
            traces.add(batch.traces);
            may_have_formulas |= batch.may_have_formulas;
            renamed += batch.cases.into_iter().filter(|name| name.is_none_or(|name| !names.insert(name))).count() as u64;
            if events.found.len() + traces.found.len() > MOST_COLUMNS || events.bytes + traces.bytes > MOST_NAME_BYTES {
                let message = format!(
                    "the log has more than {MOST_COLUMNS} different attributes, or keys of {MOST_NAME_BYTES} bytes; a table of it would be of no use"
                );
                return Err(LogError::RefusedAt { place: "columns".to_string(), message });
            }
            Ok(())
        })?;
        Ok((Self::from(events, traces), renamed, may_have_formulas))
    }

    fn from(events: Keys, traces: Keys) -> Self {
        let mut taken = FxHashSet::from_iter([ESCAPED.to_owned()]);
        let mut new = Self { columns: Vec::new(), events: FxHashMap::default(), traces: FxHashMap::default() };
        let case = traces.found.iter().find(|(key, _)| key == case_names::KEY).map_or(ValueType::String, |(_, kind)| *kind);
        let at = new.column(format!("case:{}", case_names::KEY), "case:", case, &mut taken);
        new.traces.insert(case_names::KEY.to_string(), at);
        for (at, key) in FIRST.iter().enumerate() {
            let kind = events.found.iter().find(|(found, _)| found == key).map(|(_, kind)| *kind);
            let kind = kind.or([Some(ValueType::String), Some(ValueType::Time)].get(at).copied().flatten());
            if let Some(kind) = kind {
                let at = new.column(key.to_string(), "event:", kind, &mut taken);
                new.events.insert(key.to_string(), at);
            }
        }
        for (key, kind) in events.found {
            if !new.events.contains_key(&key) {
                let at = new.column(key.clone(), "event:", kind, &mut taken);
                new.events.insert(key, at);
            }
        }
        for (key, kind) in traces.found {
            if key != case_names::KEY {
                let at = new.column(format!("case:{key}"), "case:", kind, &mut taken);
                new.traces.insert(key, at);
            }
        }
        new
    }

    fn column(&mut self, mut name: String, prefix: &str, kind: ValueType, taken: &mut FxHashSet<String>) -> usize {
        while !taken.insert(name.clone()) {
            name.insert_str(0, prefix);
        }
        self.columns.push(Column { name, kind });
        self.columns.len() - 1
    }

    /// The columns, from left to right.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Calls `each` with the cells of each row of a batch, from left to right, one for each column.
    ///
    /// # Errors
    /// Those of the batch and of `each`; also when the batch has attributes without a column,
    /// because it is from another log than the columns.
    pub fn rows(&self, batch: &Batch, mut each: impl FnMut(&[Cell<'_>]) -> Result<(), LogError>) -> Result<Rows, LogError> {
        let mut rows = Rows::default();
        let mut cells = vec![Cell::Missing; self.columns.len()];
        if let Some(trace) = batch.open_trace()? {
            // What had to be simplified in it was counted where it stands.
            self.fill(trace, &self.traces, &mut cells)?;
        }
        let mut opened = false;
        for (at, record) in batch.records().enumerate() {
            match record? {
                Record::Trace(attributes) => {
                    cells.fill(Cell::Missing);
                    rows.counts.simplified_values += self.fill(attributes, &self.traces, &mut cells)?;
                    rows.counts.traces += 1;
                    opened = true;
                }
                Record::CaseEvent(attributes) => {
                    // The columns of events stand together, after the case.
                    cells.iter_mut().skip(1).take(self.events.len()).for_each(|cell| *cell = Cell::Missing);
                    rows.counts.simplified_values += self.fill(attributes, &self.events, &mut cells)?;
                    each(&cells)?;
                    rows.counts.events += 1;
                    opened = false;
                }
                Record::TraceEnd => {
                    if opened {
                        rows.no_row();
                    }
                    rows.begins_with_end |= at == 0;
                    opened = false;
                }
                Record::Object(_) | Record::Event(_) => return Err(pieces::misplaced("traces")),
            }
        }
        rows.ends_with_trace = opened;
        rows.empty = batch.is_empty();
        Ok(rows)
    }

    /// Puts attributes into their cells, which are all missing. Returns how many values are not as
    /// they were.
    fn fill<'a>(&self, attributes: Vec<Attribute<'a>>, places: &FxHashMap<String, usize>, cells: &mut [Cell<'a>]) -> Result<u64, LogError> {
        let mut simplified = 0;
        for attribute in attributes {
            let Some(&place) = places.get(attribute.key.as_ref()) else {
                let message = "the log has an attribute that it did not have when its columns were counted".to_string();
                return Err(LogError::RefusedAt { place: shown(&attribute.key), message });
            };
            let (Some(cell), Some(column)) = (cells.get_mut(place), self.columns.get(place)) else { continue };
            if *cell != Cell::Missing {
                simplified += 1;
                continue;
            }
            let (value, as_it_was) = typed(attribute, column.kind);
            *cell = value;
            simplified += u64::from(!as_it_was);
        }
        Ok(simplified)
    }
}

/// What the rows of one or more batches say of the log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rows {
    /// How many traces, events and simplified values the rows are of.
    pub counts: Counts,
    /// The first record ends a trace.
    begins_with_end: bool,
    /// The last record begins a trace.
    ends_with_trace: bool,
    empty: bool,
}

impl Rows {
    /// Adds the rows of the batch that follows.
    pub fn add(&mut self, next: Self) {
        if next.empty {
            return;
        }
        if self.ends_with_trace && next.begins_with_end {
            self.no_row();
        }
        self.counts += next.counts;
        self.ends_with_trace = next.ends_with_trace;
    }

    /// The trace that was counted last has no events.
    fn no_row(&mut self) {
        self.counts.traces -= 1;
        self.counts.simplified_values += 1;
    }
}

/// Keys and their types in the order of their first appearance.
#[derive(Default)]
struct Keys {
    found: Vec<(String, ValueType)>,
    places: FxHashMap<String, usize>,
    /// Bytes of all keys together.
    bytes: usize,
}

impl Keys {
    fn note(&mut self, key: &str, kind: ValueType) {
        match self.places.get(key).and_then(|&place| self.found.get_mut(place)) {
            Some((_, found)) => *found = both(*found, kind),
            None => {
                self.bytes += key.len();
                self.places.insert(key.to_string(), self.found.len());
                self.found.push((key.to_string(), kind));
            }
        }
    }

    fn add(&mut self, next: Self) {
        next.found.iter().for_each(|(key, kind)| self.note(key, *kind));
    }
}

/// What is found in a batch before rows are made of it.
#[derive(Default)]
struct Seen {
    /// The keys of events.
    events: Keys,
    /// The keys of traces.
    traces: Keys,
    /// The names of traces.
    cases: Vec<Option<IdHash>>,
    may_have_formulas: bool,
}

fn seen(batch: &Batch) -> Result<Seen, LogError> {
    let Seen { mut events, mut traces, cases: mut names, mut may_have_formulas } = Seen::default();
    for record in batch.records() {
        let (keys, attributes) = match record? {
            Record::Trace(attributes) => {
                let name = Attribute::find(&attributes, case_names::KEY).and_then(|attribute| attribute.value.as_name());
                names.push(name.filter(|name| !name.is_empty()).map(|name| IdHash::new(&name)));
                (&mut traces, attributes)
            }
            Record::CaseEvent(attributes) => (&mut events, attributes),
            Record::TraceEnd => continue,
            Record::Object(_) | Record::Event(_) => return Err(pieces::misplaced("traces")),
        };
        for attribute in &attributes {
            keys.note(&attribute.key, kind(attribute));
            may_have_formulas |= may_be_formula(attribute);
        }
    }
    Ok(Seen { events, traces, cases: names, may_have_formulas })
}

/// Whether a value or key may be a formula as a text, by its first character alone.
fn may_be_formula(attribute: &Attribute<'_>) -> bool {
    let begins_so = |text: &str| matches!(text.as_bytes().first(), Some(b'\'' | b'=' | b'+' | b'-' | b'@' | b'\t' | b'\r' | b'\n'));
    let value = match &attribute.value {
        Value::String(text) | Value::Id(text) => begins_so(text),
        // In a column of texts it is `-inf`.
        Value::Float(number) => number.is_infinite(),
        Value::Time(_) | Value::Integer(_) | Value::Boolean(_) | Value::List(_) | Value::Container => false,
    };
    value || begins_so(&attribute.key)
}

/// The type of a column with this value alone.
fn kind(attribute: &Attribute<'_>) -> ValueType {
    match attribute.value.kind() {
        _ if nested::is_nested(attribute) => ValueType::String,
        ValueType::Id | ValueType::List | ValueType::Container => ValueType::String,
        plain => plain,
    }
}

/// The type of a column with values of both types.
fn both(a: ValueType, b: ValueType) -> ValueType {
    use ValueType::{Float, Integer, String};
    match (a, b) {
        _ if a == b => a,
        (Integer, Float) | (Float, Integer) => Float,
        _ => String,
    }
}

/// An attribute's value as a cell of a column of that type, and whether it is still what it was.
fn typed<'a>(attribute: Attribute<'a>, kind: ValueType) -> (Cell<'a>, bool) {
    if nested::is_nested(&attribute) {
        return (Cell::Text(nested::text(&attribute).into()), false);
    }
    match (attribute.value, kind) {
        (Value::String(text) | Value::Id(text), _) => (Cell::Text(text), true),
        (Value::Time(ns), ValueType::Time) => (Cell::Time(ns), true),
        (Value::Integer(number), ValueType::Integer) => (Cell::Integer(number), true),
        (Value::Integer(number), ValueType::Float) => {
            let float = number as f64;
            // Compared in a type that holds both: 2⁶³ as a float is no i64.
            (Cell::Float(float), float as i128 == i128::from(number))
        }
        (Value::Float(number), ValueType::Float) => (Cell::Float(number), true),
        (Value::Boolean(truth), ValueType::Boolean) => (Cell::Boolean(truth), true),
        (value, _) => (Cell::Text(nested::value_text(&value).into()), false),
    }
}

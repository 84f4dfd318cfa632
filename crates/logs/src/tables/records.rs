//! Tables as logs of traces: a table in, the records of an XES log out, with every column.
//!
//! Cases come in the order of their first rows, and their events in the order of the rows. The
//! columns of case, activity, time, start, lifecycle, resource and instance become the attributes
//! that XES has for them. A column `case:KEY` that has one value in each case becomes the attribute
//! `KEY` of the trace. All other columns become attributes of events under their names.
//!
//! A value of CSV is a number, a truth value or a time where all values of its column are so and
//! would be written in the same way again. Else it is text.

use flowmine_activity_log::NONE;
use flowmine_eventlog::read::{Finding, Severity, Sink as _};
use flowmine_eventlog::time::rfc3339;
use flowmine_eventlog::{Attribute, CaseHeader, Classifier, LogError, Record, Value, ValueType, flat, xes};

use super::choose::{self, Choice};
use super::columns::{Coded, Source, Taking, Want, joined};
use super::options::TableOptions;
use super::{TableError, values};
use crate::log_file::as_objects::UNNAMED;
use crate::log_file::{Collector, found};

/// A column with its key and its values, each different one once.
struct Keyed {
    key: String,
    /// Of each row the number of its value, or [`NONE`].
    codes: Vec<u32>,
    values: Vec<Value<'static>>,
}

impl Keyed {
    fn new(key: &str, column: Coded, kind: Option<ValueType>) -> Self {
        let texts: Vec<&str> = column.names.iter().collect();
        let kind = kind.unwrap_or_else(|| kind_of(&texts));
        let values = texts.into_iter().map(|text| value(text, kind)).collect();
        Self { key: key.to_owned(), codes: column.codes, values }
    }

    fn text(key: &str, column: Coded) -> Self {
        Self::new(key, column, Some(ValueType::String))
    }

    fn attribute(&self, row: usize) -> Option<Attribute<'static>> {
        let value = self.values.get(self.codes[row] as usize)?;
        Some(Attribute::new(self.key.clone(), value.clone()))
    }
}

/// The type that all texts of a column have and from which they can be written again.
fn kind_of(texts: &[&str]) -> ValueType {
    let all = |is: fn(&str) -> bool| !texts.is_empty() && texts.iter().all(|text| is(text));
    if all(|text| text.parse::<i64>().is_ok_and(|number| number.to_string() == text)) {
        ValueType::Integer
    } else if all(|text| text.parse::<f64>().is_ok_and(|number| number.is_finite() && number.to_string() == text)) {
        ValueType::Float
    } else if all(|text| matches!(text, "true" | "false")) {
        ValueType::Boolean
    } else if all(|text| values::usual_date(text).is_some_and(|ns| rfc3339(ns) == text)) {
        ValueType::Time
    } else {
        ValueType::String
    }
}

fn value(text: &str, kind: ValueType) -> Value<'static> {
    let typed = match kind {
        ValueType::Integer => text.parse().ok().map(Value::Integer),
        ValueType::Float => text.parse().ok().map(Value::Float),
        ValueType::Boolean => text.parse().ok().map(Value::Boolean),
        ValueType::Time => values::date(text).map(Value::Time),
        _ => None,
    };
    typed.unwrap_or_else(|| Value::String(text.to_owned().into()))
}

/// Puts the rows of a table into a collector. Returns what was inferred, in a line.
pub fn collect(table: impl Source, options: &TableOptions, collector: &mut Collector) -> Result<Option<String>, TableError> {
    let names = table.names().to_vec();
    if super::objects::choose(&names, options)?.is_some() {
        let message = "this table has objects in place of cases, which only discover reads: write the log as OCEL 2.0 with PM4Py";
        return Err(TableError::Refused(message.to_owned()));
    }
    let choice = super::choice(&table, options)?;
    let kinds: Vec<Option<ValueType>> = (0..names.len()).map(|at| table.kind(at)).collect();
    let special = places(&choice);
    let others: Vec<usize> = (0..names.len()).filter(|at| !special.contains(at) && names[*at] != flat::ESCAPED).collect();
    let mut wanted = vec![(choice.case, Want::Texts)];
    wanted.extend(choice.activity.iter().map(|&at| (at, Want::Texts)));
    wanted.extend([choice.lifecycle, choice.resource, choice.instance].iter().flatten().map(|&at| (at, Want::Texts)));
    wanted.extend(others.iter().map(|&at| (at, Want::Texts)));
    wanted.push(choice.time.wanted());
    wanted.extend(choice.start.map(choose::TimeColumns::wanted));
    let mut taking = Taking::new(table.read(&wanted, &options.times)?, &names, &options.times)?;
    let case = taking.texts();
    let activity = joined(choice.activity.iter().map(|_| taking.texts()).collect());
    let mut of_events = vec![Keyed::text("concept:name", activity)];
    for (key, at) in [("lifecycle:transition", choice.lifecycle), ("org:resource", choice.resource), ("concept:instance", choice.instance)]
    {
        of_events.extend(at.map(|_| Keyed::text(key, taking.texts())));
    }
    let rows = rows_of_cases(&case);
    let mut of_traces = Vec::new();
    for at in others {
        let column = taking.texts();
        match names[at].strip_prefix("case:").filter(|_| rows.iter().all(|rows| is_same(&column, rows))) {
            Some(key) => of_traces.push(Keyed::new(key, column, kinds[at])),
            None => of_events.push(Keyed::new(&names[at], column, kinds[at])),
        }
    }
    let time = taking.times(choice.time.time)?;
    let start = choice.start.map(|at| taking.times(at.time)).transpose()?;
    let told = |error: LogError| TableError::Refused(error.to_string());
    collector.header(header()).map_err(told)?;
    let (mut unnamed, without_case) = (0u64, case.codes.iter().filter(|&&code| code == NONE).count());
    for rows in &rows {
        let mut trace = vec![Attribute::text("concept:name", case.names.get(case.codes[rows[0] as usize]).to_owned())];
        trace.extend(of_traces.iter().filter_map(|column| column.attribute(rows[0] as usize)));
        collector.record(&Record::Trace(trace)).map_err(told)?;
        for row in rows.iter().map(|&row| row as usize) {
            let mut event: Vec<Attribute<'_>> = of_events.iter().filter_map(|column| column.attribute(row)).collect();
            if event.first().is_none_or(|first| first.key != "concept:name" || first.value == Value::String("".into())) {
                unnamed += 1;
                event.retain(|attribute| attribute.key != "concept:name");
                event.insert(0, Attribute::text("concept:name", UNNAMED));
            }
            let moments = [("start_timestamp", start.as_ref()), ("time:timestamp", Some(&time))];
            for (key, column) in moments {
                let known = column.map(|column| column[row]).filter(|&ns| ns != flowmine_activity_log::UNKNOWN);
                event.extend(known.map(|ns| Attribute::time(key, ns)));
            }
            collector.record(&Record::CaseEvent(event)).map_err(told)?;
        }
        collector.record(&Record::TraceEnd).map_err(told)?;
    }
    for note in &taking.notes {
        collector.finding(finding(Severity::Warning, note));
    }
    for (count, what, severity) in [
        (taking.bad_rows, "lines are no rows and are left out", Severity::Error),
        (without_case as u64, "rows have no case and are left out", Severity::Error),
        (unnamed, "rows have no activity and are called so", Severity::Warning),
    ] {
        if count > 0 {
            collector.finding(finding(severity, &format!("{count} {what}")));
        }
    }
    Ok(taking.inferred)
}

fn finding(severity: Severity, message: &str) -> Finding {
    found(severity, "table", "", message.to_owned())
}

/// The places of columns that become attributes of XES.
fn places(choice: &Choice) -> Vec<usize> {
    let mut places = vec![choice.case, choice.time.time];
    places.extend(&choice.activity);
    places.extend([choice.time.date, choice.lifecycle, choice.resource, choice.instance].iter().flatten());
    places.extend(choice.start.iter().flat_map(|start| [Some(start.time), start.date]).flatten());
    places
}

/// The rows of each case, cases in the order of their first rows.
fn rows_of_cases(case: &Coded) -> Vec<Vec<u32>> {
    let mut place = vec![NONE; case.names.len()];
    let mut rows: Vec<Vec<u32>> = Vec::new();
    for (row, &code) in case.codes.iter().enumerate() {
        let Some(place) = place.get_mut(code as usize) else { continue };
        if *place == NONE {
            *place = rows.len() as u32;
            rows.push(Vec::new());
        }
        rows[*place as usize].push(row as u32);
    }
    rows
}

fn is_same(column: &Coded, rows: &[u32]) -> bool {
    rows.windows(2).all(|pair| column.codes[pair[0] as usize] == column.codes[pair[1] as usize])
}

fn header() -> CaseHeader {
    use xes::extensions::{CONCEPT, TIME};
    CaseHeader {
        extensions: vec![CONCEPT.extension(), TIME.extension()],
        trace_globals: vec![Attribute::text("concept:name", "")],
        event_globals: vec![Attribute::text("concept:name", "")],
        classifiers: vec![Classifier::new("Activity", &["concept:name"])],
        attributes: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_their_texts() {
        for (texts, kind) in [
            (&["1", "-20"][..], ValueType::Integer),
            (&["1", "2.5"], ValueType::Float),
            (&["007", "1"], ValueType::String),
            (&["1.50"], ValueType::String),
            (&["true", "false"], ValueType::Boolean),
            (&["2026-01-01T00:00:00Z"], ValueType::Time),
            (&["2026-01-01"], ValueType::String),
            (&[], ValueType::String),
        ] {
            assert_eq!(kind_of(texts), kind, "{texts:?}");
        }
    }
}

//! Parquet: a log of cases in, a table of its events out.
//!
//! [`flowmine_eventlog::flat`] describes the columns, their names and what a table cannot carry;
//! [`flowmine_dataset::column_file`] describes their form in the file. Unlike CSV, the file has
//! types: no text is interpreted as a number, a missing value is null, an empty text is empty, and
//! nothing has to be quoted.
//!
//! A log without events gives a file without rows, but with its columns.

use std::io::Write;

use flowmine_dataset::ParquetError;
use flowmine_dataset::column_file::{Chunk, Column, ColumnFile, Kind, Value};
use flowmine_eventlog::flat::{Cell, Rows, Table};
use flowmine_eventlog::{CaseLog, Counts, LogError, ValueType, parallel};

/// Writes a log. Walks through it twice, and three times where cases must be renamed. The caller
/// buffers `out` if small writes cost.
///
/// # Errors
/// Those of the log, of its columns and of `out`.
pub fn write(log: &dyn CaseLog, out: &mut dyn Write) -> Result<Counts, LogError> {
    let table = Table::of(log)?;
    let columns = &table.columns;
    let of_file: Vec<Column> =
        columns.columns().iter().map(|column| Column { name: column.name.clone(), kind: kind(column.kind) }).collect();
    let mut file = ColumnFile::new(out, &of_file).map_err(reason)?;
    let mut total = Rows::default();
    parallel::in_order(
        table.traces(),
        |batch| {
            let mut chunk = Chunk::new(&of_file);
            let rows = columns.rows(batch, |cells| {
                let values = cells.iter().enumerate().filter_map(|(at, cell)| Some((at, value(cell)?)));
                chunk.push(values).map_err(reason)
            })?;
            Ok((chunk, rows))
        },
        |(chunk, rows)| {
            total.add(rows);
            file.push(chunk).map_err(reason)
        },
    )?;
    file.finish().map_err(reason)?;
    Ok(Counts { renamed_cases: table.renamed, ..total.counts })
}

fn kind(kind: ValueType) -> Kind {
    match kind {
        ValueType::Time => Kind::Time,
        ValueType::Integer => Kind::Integer,
        ValueType::Float => Kind::Float,
        ValueType::Boolean => Kind::Boolean,
        // A table's columns have none of the last three.
        ValueType::String | ValueType::Id | ValueType::List | ValueType::Container => Kind::Text,
    }
}

fn value<'a>(cell: &'a Cell<'_>) -> Option<Value<'a>> {
    Some(match cell {
        Cell::Missing => return None,
        Cell::Text(text) => Value::Text(text),
        Cell::Time(ns) => Value::Time(*ns),
        Cell::Integer(number) => Value::Integer(*number),
        Cell::Float(number) => Value::Float(*number),
        Cell::Boolean(truth) => Value::Boolean(*truth),
    })
}

fn reason(error: ParquetError) -> LogError {
    match error {
        ParquetError::Io(error) => LogError::Io(error),
        other => LogError::source(other),
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use flowmine_eventlog::{Attribute, BatchBuilder, Batches, CaseHeader, Record, csv};

    use super::*;

    /// Traces with events and without, values of all types, and what a table has to simplify.
    struct Few {
        header: CaseHeader,
        traces: i64,
        of_a_batch: i64,
    }

    impl CaseLog for Few {
        fn header(&self) -> &CaseHeader {
            &self.header
        }

        fn traces(&self) -> Batches<'_> {
            let (mut batches, mut builder) = (Vec::new(), BatchBuilder::default());
            for n in 0..self.traces {
                if n % self.of_a_batch == 0 {
                    batches.extend(std::mem::take(&mut builder).finish());
                }
                let mut records = vec![Record::Trace(vec![Attribute::text("concept:name", format!("case {n}"))])];
                for event in 0..n % 4 {
                    let mut attributes = vec![Attribute::text("concept:name", "a"), Attribute::time("time:timestamp", n + event)];
                    attributes.push(Attribute::integer(if event == 1 { "whole" } else { "text" }, n));
                    attributes.extend((n % 3 == 0).then_some(Attribute::new("text", flowmine_eventlog::Value::Boolean(true))));
                    records.push(Record::CaseEvent(attributes));
                }
                records.push(Record::TraceEnd);
                batches.extend(records.iter().filter_map(|record| builder.push(record)));
            }
            batches.extend(builder.finish());
            Box::new(batches.into_iter().map(Ok))
        }
    }

    fn written(traces: i64, of_a_batch: i64) -> (Counts, Vec<u8>) {
        let (mut bytes, log) = (Vec::new(), Few { header: CaseHeader::default(), traces, of_a_batch });
        let counts = write(&log, &mut bytes).unwrap();
        assert_eq!(counts, csv::write(&log, &mut io::sink()).unwrap());
        assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
        (counts, bytes)
    }

    #[test]
    fn the_same_log_gives_the_same_bytes() {
        let (counts, bytes) = written(500, 7);
        assert_eq!((counts.traces, counts.events), (375, 750));
        assert!(counts.simplified_values > 0);
        assert!(written(500, 7).1 == bytes && written(500, 3).1 == bytes);
        assert_eq!(written(0, 1).0, Counts::default());
    }

    #[test]
    fn a_full_disk_is_said_as_such() {
        let log = Few { header: CaseHeader::default(), traces: 20, of_a_batch: 5 };
        let mut small = [0; 10];
        assert!(matches!(write(&log, &mut small.as_mut_slice()), Err(LogError::Io(error)) if error.kind() == io::ErrorKind::WriteZero));
    }
}

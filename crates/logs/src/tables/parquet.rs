//! Columns of a Parquet file as those of a table.

use std::fs::File;
use std::ops::Range;
use std::thread;

use flowmine_activity_log::{NONE, Names, UNKNOWN};
use flowmine_dataset::foreign_parquet::{As, Data, ForeignFile, ForeignKind, NO_NUMBER, NO_TEXT, Texts};
use flowmine_eventlog::ValueType;
use flowmine_schema::text_numbers::TextNumbers;

use super::columns::{Coded, Faults, Got, Read, Source, Want};
use super::times::{TimeRules, TimesReading};
use super::{TableError, values};

// What is missing is written in the same way on both sides.
const _: () = assert!(NO_TEXT == NONE && NO_NUMBER == UNKNOWN);

/// A Parquet file with readable columns.
pub struct ParquetTable {
    file: ForeignFile,
    names: Vec<String>,
}

impl ParquetTable {
    /// Opens a Parquet file as a table.
    pub fn open(file: File) -> Result<Self, TableError> {
        let file = ForeignFile::open(file)?;
        let names = file.columns().iter().map(|column| column.name.clone()).collect();
        Ok(Self { file, names })
    }
}

impl Source for ParquetTable {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn kind(&self, at: usize) -> Option<ValueType> {
        Some(match self.file.columns().get(at)?.kind {
            ForeignKind::Text | ForeignKind::Other => ValueType::String,
            ForeignKind::Time => ValueType::Time,
            ForeignKind::Whole => ValueType::Integer,
            ForeignKind::Float => ValueType::Float,
            ForeignKind::Boolean => ValueType::Boolean,
        })
    }

    fn read(self, wanted: &[(usize, Want)], rules: &TimeRules) -> Result<Read, TableError> {
        let how = |want: Want| match want {
            Want::Texts => As::Texts,
            Want::Times => As::Times(values::date),
            Want::TimesOf(_) | Want::Seconds => As::Texts,
            Want::Numbers => As::Numbers(values::number),
        };
        let typed: Vec<(usize, As)> = wanted.iter().map(|&(at, want)| (at, how(want))).collect();
        let columns = self.file.read(&typed)?;
        let (mut columns, replaced) = in_one_each(columns);
        // Dates of texts are read here only where nothing else is said of them.
        let is_plain = rules.format.is_none() && rules.zone.is_none();
        for (column, &(at, want)) in columns.iter_mut().zip(wanted) {
            match (want, &mut *column) {
                (Want::Times, Got::Numbers(values, faults)) => {
                    let dates = TimesReading::of_dates(std::mem::take(values), std::mem::take(faults));
                    let is_read = is_plain && dates.faults.count == 0;
                    *column = Got::Times(Box::new(if is_read { dates } else { self.times_of_texts(at, rules)?.unwrap_or(dates) }));
                }
                (Want::TimesOf(date), Got::Texts(times)) => *column = Got::Times(Box::new(self.two_columns(at, date, times, rules)?)),
                (Want::Seconds, Got::Texts(texts)) => *column = seconds(texts),
                _ => {}
            }
        }
        let note = format!("{replaced} texts are not UTF-8; bytes that are not are written as \\xNN");
        Ok(Read { columns, notes: (replaced > 0).then_some(note).into_iter().collect(), ..Read::default() })
    }
}

impl ParquetTable {
    /// A column of texts as times, where not all are dates: then they are read once more, as texts.
    /// `None` for a column that is no text.
    fn times_of_texts(&self, at: usize, rules: &TimeRules) -> Result<Option<TimesReading>, TableError> {
        if self.file.columns().get(at).is_none_or(|column| column.kind != ForeignKind::Text) {
            return Ok(None);
        }
        let mut times = TimesReading::new(at, "row", rules);
        for column in self.file.read(&[(at, As::Texts)])? {
            let Data::Texts { codes, groups } = column else { continue };
            for (rows, texts) in groups {
                for row in rows {
                    let code = codes.get(row).copied().unwrap_or(NO_TEXT);
                    times.push(if code == NO_TEXT { "" } else { texts.get(code as usize) }, row as u64 + 1);
                }
            }
        }
        Ok(Some(times))
    }
}

impl ParquetTable {
    /// Times of day, with their dates from another column of texts.
    fn two_columns(&self, at: usize, date: usize, times: &Coded, rules: &TimeRules) -> Result<TimesReading, TableError> {
        let are_texts = [at, date].iter().all(|&at| self.file.columns().get(at).is_some_and(|column| column.kind == ForeignKind::Text));
        if !are_texts {
            let of = |at: usize| self.names.get(at).map(String::as_str).unwrap_or_default();
            let message = format!(
                "the columns {:?} and {:?} are not both texts: name one with dates and times of day with --timestamp-column",
                of(date),
                of(at)
            );
            return Err(TableError::Refused(message));
        }
        let (dates, _) = in_one_each(self.file.read(&[(date, As::Texts)])?);
        let mut reading = TimesReading::new(at, "row", rules);
        let Some(Got::Texts(dates)) = dates.into_iter().next() else { return Ok(reading) };
        let text = |column: &'_ Coded, row: usize| match column.codes.get(row) {
            Some(&code) if code != NONE => column.names.get(code).to_owned(),
            _ => String::new(),
        };
        for row in 0..times.codes.len() {
            reading.push_two(&text(&dates, row), &text(times, row), row as u64 + 1);
        }
        Ok(reading)
    }
}

/// Seconds with fractions, which Parquet has as floating-point numbers.
fn seconds(texts: &Coded) -> Got {
    let mut faults = Faults::default();
    let mut read = |(row, &code): (usize, &u32)| {
        let text = if code == NONE { "" } else { texts.names.get(code) };
        if values::is_missing(text.trim_ascii()) {
            return UNKNOWN;
        }
        values::seconds(text).unwrap_or_else(|| {
            faults.note(|| format!("row {} has {:?}", row + 1, text.chars().take(60).collect::<String>()));
            UNKNOWN
        })
    };
    let values = texts.codes.iter().enumerate().map(&mut read).collect();
    Got::Numbers(values, faults)
}

/// Columns with each text once, worked on side by side, and how many texts were not UTF-8.
fn in_one_each(columns: Vec<Data>) -> (Vec<Got>, u64) {
    thread::scope(|scope| {
        let work: Vec<_> = columns
            .into_iter()
            .map(|column| match column {
                Data::Texts { codes, groups } => Err(flowmine_threads::beside(scope, || in_one(codes, groups))),
                Data::Numbers { values, refused } => {
                    let first = refused.first.iter().map(|(row, text)| format!("row {} has {text:?}", row + 1)).collect();
                    Ok(Got::Numbers(values, Faults { count: refused.count, first }))
                }
            })
            .collect();
        let mut replaced = 0;
        let columns = work.into_iter().map(|column| {
            column.unwrap_or_else(|texts| {
                let (column, of_it) = texts.join();
                replaced += of_it;
                Got::Texts(column)
            })
        });
        let columns = columns.collect();
        (columns, replaced)
    })
}

fn in_one(mut codes: Vec<u32>, groups: Vec<(Range<usize>, Texts)>) -> (Coded, u64) {
    let replaced = groups.iter().map(|(_, texts)| texts.not_utf8).sum();
    if let [(_, texts)] = &groups[..]
        && texts.are_distinct
        && texts.not_utf8 == 0
    {
        return (Coded { codes, names: (0..texts.len()).map(|at| texts.get(at)).collect() }, replaced);
    }
    let mut numbers = TextNumbers::new(codes.len());
    let mut names = Names::default();
    for (rows, texts) in groups {
        let of = (0..texts.len()).map(|at| {
            let (text, next) = (texts.get(at), names.len() as u32);
            let number = numbers.number(text.as_bytes(), next, |number| names.get(number).as_bytes());
            if number == next { names.push(text) } else { number }
        });
        let of: Vec<u32> = of.collect();
        // This holds for the first group, unless the file lists a text twice.
        if of.iter().enumerate().any(|(at, &number)| at as u32 != number) {
            for code in codes.get_mut(rows).unwrap_or_default() {
                *code = of.get(*code as usize).copied().unwrap_or(NONE);
            }
        }
    }
    (Coded { codes, names }, replaced)
}

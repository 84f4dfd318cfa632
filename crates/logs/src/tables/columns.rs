//! The columns of a table as they are read, whatever the format: texts by number, times and
//! numbers, a value for each row.

use std::thread;

use flowmine_activity_log::{Interner, Measure, NONE, Names, UNKNOWN};
use flowmine_eventlog::ValueType;

use super::choose::{Choice, TimeColumns};
use super::error::TableError;
use super::options::{FAULTS_TOLD, Inferred, inferred_line};
use super::times::{self, TimeRules, TimeUnit, TimesReading};

/// A column of texts, each kept once and known by its number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Coded {
    /// Of each row the number of its text, or [`NONE`].
    pub codes: Vec<u32>,
    /// The texts of the column.
    pub names: Names,
}

/// The columns of a log, in the order of the rows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Columns {
    pub case: Coded,
    pub activity: Coded,
    /// The only time, or when it ended; unknown as in the log.
    pub time: Vec<i64>,
    pub start: Option<Vec<i64>>,
    pub start_is_asked: bool,
    pub lifecycle: Option<Coded>,
    pub resource: Option<Coded>,
    pub instance: Option<Coded>,
    pub measures: Vec<(Measure, Vec<i64>)>,
    pub attributes: Vec<(String, Coded)>,
    /// Numbers that could not be read.
    pub bad_numbers: u64,
}

/// The type as which the values of a column are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Want {
    Texts,
    Times,
    /// Times of day; the column with this index has the dates.
    TimesOf(usize),
    Numbers,
    /// Seconds, which are read as nanoseconds.
    Seconds,
}

/// The values that were read of a column.
#[derive(Debug)]
pub enum Got {
    Texts(Coded),
    /// Times, of which numbers have no unit yet.
    Times(Box<TimesReading>),
    /// Numbers, and which could not be read.
    Numbers(Vec<i64>, Faults),
}

/// The columns that were read of a table, and what was wrong with it.
#[derive(Debug, Default)]
pub struct Read {
    /// As many as were wanted, in their order.
    pub columns: Vec<Got>,
    pub notes: Vec<String>,
    pub inferred: Vec<Inferred>,
    pub bad_rows: u64,
}

/// A table of some format (CSV, Parquet) with readable columns.
pub trait Source {
    /// The names of its columns.
    fn names(&self) -> &[String];

    /// The first row, where the table does not name its columns.
    fn first_row(&self) -> Option<&[String]> {
        None
    }

    /// The type that the table declares for a column.
    fn kind(&self, at: usize) -> Option<ValueType> {
        let _ = at;
        None
    }

    /// Reads columns, all of the same length.
    fn read(self, wanted: &[(usize, Want)], rules: &TimeRules) -> Result<Read, TableError>;
}

/// Columns that were read, taken one after the other.
pub struct Taking<'a> {
    columns: std::vec::IntoIter<Got>,
    pub names: &'a [String],
    pub notes: Vec<String>,
    pub bad_rows: u64,
    /// The unit of times that are numbers.
    pub time_unit: Option<TimeUnit>,
    is_month_first: bool,
    /// What was inferred, in a line.
    pub inferred: Option<String>,
}

impl<'a> Taking<'a> {
    /// Takes columns of a table with these names. What is not said of times is what fits them all.
    pub fn new(read: Read, names: &'a [String], rules: &TimeRules) -> Result<Self, TableError> {
        let unit = rules.unit;
        let times = read.columns.iter().filter_map(|column| if let Got::Times(times) = column { Some(&**times) } else { None });
        let times: Vec<&TimesReading> = times.collect();
        let (mut time_unit, mut inferred) = (unit.filter(|_| times.iter().any(|times| times.has_numbers())), read.inferred);
        if unit.is_none()
            && let Some(found) = times::infer(&times).map_err(TableError::Refused)?
        {
            time_unit = Some(found.unit);
            let sentence = format!("times that are numbers are interpreted as {}, because {}", found.unit.name(), found.largest);
            inferred.push(Inferred { sentence, option: "--timestamp-unit" });
        }
        let dates = times::infer_dates(&times).map_err(TableError::Refused)?;
        let is_month_first = dates.as_ref().is_some_and(|dates| dates.is_month_first);
        if let Some(dates) = dates.filter(|_| rules.format.is_none()) {
            inferred.push(Inferred { sentence: dates.sentence, option: "--date-format" });
        }
        let inferred = inferred_line(inferred);
        let Read { columns, notes, bad_rows, .. } = read;
        Ok(Self { columns: columns.into_iter(), names, notes, bad_rows, time_unit, is_month_first, inferred })
    }

    pub fn texts(&mut self) -> Coded {
        match self.columns.next() {
            Some(Got::Texts(column)) => column,
            _ => Coded::default(),
        }
    }

    /// Times or numbers, with a note of those that could not be read.
    fn numbers(&mut self, column: usize, one: &str, many: &str) -> (Vec<i64>, Faults) {
        let (values, faults) = match self.columns.next() {
            Some(Got::Numbers(values, faults)) => (values, faults),
            Some(Got::Times(times)) => times.finish(self.time_unit, self.is_month_first),
            Some(Got::Texts(_)) | None => return Default::default(),
        };
        let name = self.names.get(column).map(String::as_str).unwrap_or_default();
        let (one, many) = (format!("value of {name:?} is no {one}"), format!("values of {name:?} are no {many}"));
        self.notes.extend(faults.sentence(&one, &many));
        (values, faults)
    }

    pub fn times(&mut self, column: usize) -> Result<Vec<i64>, TableError> {
        let (times, faults) = self.numbers(column, "time", "times");
        match faults.first.first() {
            Some(first) if times.iter().all(|&time| time == UNKNOWN) => Err(TableError::Refused(format!(
                "no value of the column {:?} can be read as a time ({first}): name another with --timestamp-column (DATE+TIME for two), \
                 or the form of dates with --date-format (%H:%M:%S for times of day without dates)",
                self.names.get(column).map(String::as_str).unwrap_or_default()
            ))),
            _ => Ok(times),
        }
    }

    /// Numbers of a measure, and how many could not be read.
    pub fn measure(&mut self, column: usize, want: Want) -> (Vec<i64>, u64) {
        let (one, many) = match want {
            Want::Seconds => ("number of seconds", "numbers of seconds"),
            _ => ("whole number below 2⁶³", "whole numbers below 2⁶³"),
        };
        let (values, faults) = self.numbers(column, one, many);
        (values, faults.count)
    }
}

/// The columns of a log, and what was odd about their table.
pub struct ReadColumns {
    pub columns: Columns,
    pub notes: Vec<String>,
    pub bad_rows: u64,
    pub time_unit: Option<TimeUnit>,
    pub inferred: Option<String>,
}

/// The columns of a log out of those of a table.
pub fn read(source: impl Source, choice: &Choice, names: &[String], rules: &TimeRules) -> Result<ReadColumns, TableError> {
    let mut wanted = vec![(choice.case, Want::Texts)];
    wanted.extend(choice.activity.iter().map(|&at| (at, Want::Texts)));
    // Without a lifecycle nothing has to be paired.
    let instance = choice.instance.filter(|_| choice.lifecycle.is_some());
    wanted.extend([choice.lifecycle, choice.resource, instance].iter().flatten().map(|&at| (at, Want::Texts)));
    wanted.extend(choice.attributes.iter().map(|&(_, at)| (at, Want::Texts)));
    wanted.push(choice.time.wanted());
    wanted.extend(choice.start.map(TimeColumns::wanted));
    wanted.extend(choice.measures.iter().map(|&(_, at, want)| (at, want)));
    let mut taking = Taking::new(source.read(&wanted, rules)?, names, rules)?;
    let case = taking.texts();
    let activity = joined(choice.activity.iter().map(|_| taking.texts()).collect());
    let lifecycle = choice.lifecycle.map(|_| taking.texts());
    let resource = choice.resource.map(|_| taking.texts());
    let instance = instance.map(|_| taking.texts());
    let attributes = choice.attributes.iter().map(|(key, _)| (key.clone(), taking.texts())).collect();
    let time = taking.times(choice.time.time)?;
    let start = choice.start.map(|at| taking.times(at.time)).transpose()?;
    let mut bad_numbers = 0;
    let mut measures = Vec::new();
    for &(measure, at, want) in &choice.measures {
        let (values, bad) = taking.measure(at, want);
        bad_numbers += bad;
        measures.push((measure, values));
    }
    let start_is_asked = choice.start_is_asked;
    let columns = Columns { case, activity, time, start, start_is_asked, lifecycle, resource, instance, measures, attributes, bad_numbers };
    let Taking { notes, bad_rows, time_unit, inferred, .. } = taking;
    Ok(ReadColumns { columns, notes, bad_rows, time_unit, inferred })
}

/// Faults of one sort: how many, and the first few with their places.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Faults {
    pub count: u64,
    pub first: Vec<String>,
}

impl Faults {
    pub fn note(&mut self, place: impl FnOnce() -> String) {
        self.count += 1;
        if self.first.len() < FAULTS_TOLD {
            self.first.push(place());
        }
    }

    /// A sentence, if there are any: `3 values are no times: line 4 …; …`.
    pub fn sentence(&self, one: &str, many: &str) -> Option<String> {
        let told = self.first.join("; ");
        let more = if self.count > self.first.len() as u64 { "; …" } else { "" };
        match self.count {
            0 => None,
            1 => Some(format!("1 {one}: {told}")),
            count => Some(format!("{count} {many}: {told}{more}")),
        }
    }
}

/// How many threads share out work.
pub fn threads() -> usize {
    thread::available_parallelism().map_or(1, std::num::NonZero::get).clamp(1, 16)
}

/// Several columns of texts as one: of each row the texts that there are, joined by `+`.
pub fn joined(mut columns: Vec<Coded>) -> Coded {
    if columns.len() < 2 {
        return columns.pop().unwrap_or_default();
    }
    let rows = columns[0].codes.len();
    let mut names = Interner::default();
    let mut seen: rustc_hash::FxHashMap<Vec<u32>, u32> = rustc_hash::FxHashMap::default();
    let (mut key, mut text) = (Vec::new(), String::new());
    let codes = (0..rows).map(|row| {
        key.clear();
        key.extend(columns.iter().map(|column| column.codes[row]));
        if let Some(&code) = seen.get(&key) {
            return code;
        }
        text.clear();
        for (column, &code) in columns.iter().zip(&key).filter(|&(_, &code)| code != NONE) {
            if !text.is_empty() {
                text.push('+');
            }
            text.push_str(column.names.get(code));
        }
        let code = if key.iter().all(|&code| code == NONE) { NONE } else { names.intern(&text) };
        seen.insert(key.clone(), code);
        code
    });
    let codes = codes.collect();
    Coded { codes, names: names.into_names() }
}

/// Numbers the texts of a column in the order in which its rows have them; those that no row has
/// are gone.
pub fn in_order_of_rows(column: &mut Coded) {
    let mut next = 0u32;
    let mut number = vec![NONE; column.names.len()];
    let mut order = Vec::new();
    for code in &mut column.codes {
        if *code == NONE {
            continue;
        }
        let of = &mut number[*code as usize];
        if *of == NONE {
            *of = next;
            next += 1;
            order.push(*code);
        }
        *code = *of;
    }
    let as_it_is = order.len() == column.names.len() && order.iter().enumerate().all(|(at, &code)| at as u32 == code);
    if !as_it_is {
        column.names = order.iter().map(|&code| column.names.get(code)).collect();
    }
}

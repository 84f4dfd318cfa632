//! Tables of events or activity instances: CSV and Parquet.

use std::collections::BTreeSet;

use flowmine_dataset::foreign_parquet::ForeignFile;
use flowmine_logs::tables;
use flowmine_schema::text::visible;

use crate::{Answer, Kind, Reading, Sample, Seen};

/// The first bytes of a Parquet file.
pub(super) const PARQUET: &[u8] = b"PAR1";
/// Characters between the columns of CSV.
const DELIMITERS: [char; 4] = [',', ';', '\t', '|'];
/// Number of rows that must have as many fields as there are columns.
const ROWS: usize = 20;
/// Number of columns that evidence names.
const NAMED: usize = 8;

/// A table.
pub struct Table;

impl Kind for Table {
    fn name(&self) -> &'static str {
        "table"
    }

    fn title(&self) -> &'static str {
        "table (CSV, Parquet)"
    }

    fn reads(&self) -> &'static str {
        "CSV with any separator, and Parquet, with an event or activity instance in each row"
    }

    fn reading(&self) -> Reading {
        Reading::Log
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["csv", "tsv", "parquet"]
    }

    fn recognise(&self, sample: &Sample) -> Answer {
        if sample.head().starts_with(PARQUET) {
            return parquet(sample);
        }
        let lines = sample.lines();
        let Some(header) = lines.first() else { return Answer::No };
        let Some((delimiter, columns)) = columns(header) else { return Answer::No };
        let seen = || Seen::new("table (CSV)", has_columns(columns.iter().copied()));
        if tables::is_table(None, sample.head()) {
            return Answer::Yes(seen());
        }
        let rows = lines.iter().skip(1).take(ROWS).filter(|line| !line.is_empty());
        let fits = |line: &String| line.contains('"') || line.split(delimiter).count() == columns.len();
        let is_table = lines.len() > 1 && is_header(&columns) && rows.into_iter().all(fits);
        if is_table { Answer::Maybe(seen()) } else { Answer::No }
    }
}

fn parquet(sample: &Sample) -> Answer {
    let what = "table (Parquet)";
    let not_read = |advice: String| Answer::NotRead { what: what.to_owned(), advice };
    let file = match flowmine_files::open_plain(sample.path()) {
        Ok(file) => file,
        Err(error) => return not_read(error.to_string()),
    };
    match ForeignFile::open(file) {
        Ok(file) => {
            let names = || file.columns().iter().map(|column| column.name.as_str());
            let seen = Seen::new(what, has_columns(names()));
            if tables::has_log_columns(names()) { Answer::Yes(seen) } else { Answer::Maybe(seen) }
        }
        Err(error) => not_read(error.to_string()),
    }
}

/// The delimiter that occurs most often in a header, and the columns that it separates.
fn columns(header: &str) -> Option<(char, Vec<&str>)> {
    let count = |delimiter: char| header.matches(delimiter).count();
    let delimiter = DELIMITERS.into_iter().max_by_key(|delimiter| count(*delimiter)).filter(|delimiter| count(*delimiter) > 0)?;
    Some((delimiter, header.split(delimiter).map(|name| name.trim_matches(['"', ' '])).collect()))
}

/// Whether these can be names of columns: different ones, and none is empty or a number.
fn is_header(columns: &[&str]) -> bool {
    let names: BTreeSet<&str> = columns.iter().copied().collect();
    let is_name = |name: &&str| name.chars().any(char::is_alphabetic) && name.parse::<f64>().is_err();
    names.len() == columns.len() && columns.iter().all(is_name)
}

fn has_columns<'n>(names: impl ExactSizeIterator<Item = &'n str>) -> String {
    let more = names.len().saturating_sub(NAMED);
    let mut named: Vec<String> = names.take(NAMED).map(|name| visible(name).into_owned()).collect();
    if more > 0 {
        named.push(format!("and {more} more"));
    }
    format!("has columns {}", named.join(", "))
}

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
/// Number of columns of a log: a case, an activity and a time.
const LEAST: usize = 3;
/// Number of columns that evidence names.
const NAMED: usize = 8;

/// A table.
pub const KIND: Kind = Kind {
    name: "table",
    title: "table (CSV, Parquet)",
    reads: "CSV with any separator, and Parquet, with an event or activity instance in each row",
    reading: Reading::Log,
    extensions: &["csv", "tsv", "parquet"],
    looks_at: |_| false,
    recognise,
};

fn recognise(sample: &Sample) -> Answer {
    if sample.head().starts_with(PARQUET) {
        return parquet(sample);
    }
    // Other encodings, line ends and tables without a header are known by their name only.
    let first = tables::first_fields(sample.path(), sample.head());
    let named = || Seen::new("table (CSV)", has_columns(first.iter().map(String::as_str)));
    if !first.is_empty() && tables::is_table(None, sample.head()) {
        return Answer::Yes(named());
    }
    if first.len() >= LEAST {
        return Answer::Maybe(named());
    }
    let lines = sample.lines();
    let Some(header) = lines.first() else { return Answer::No };
    let Some((delimiter, columns)) = columns(header) else { return Answer::No };
    let seen = || Seen::new("table (CSV)", has_columns(columns.iter().copied()));
    if tables::is_table(None, sample.head()) {
        return Answer::Yes(seen());
    }
    // Rows with a text of several lines have no end here.
    let mut rows = lines.iter().skip(1).take(ROWS).filter(|line| !line.is_empty()).filter_map(|line| fields(line, delimiter)).peekable();
    let is_table = rows.peek().is_some() && is_header(&columns) && rows.all(|row| row.len() == columns.len());
    if is_table { Answer::Maybe(seen()) } else { Answer::No }
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

/// The delimiter that gives a header the most columns, and these.
fn columns(header: &str) -> Option<(char, Vec<&str>)> {
    let all = DELIMITERS.into_iter().filter_map(|delimiter| Some((delimiter, fields(header, delimiter)?)));
    all.filter(|(_, columns)| columns.len() > 1).max_by_key(|(_, columns)| columns.len())
}

/// The fields of a line, without their quotes. `None` where a quote is not closed.
fn fields(line: &str, delimiter: char) -> Option<Vec<&str>> {
    let mut is_quoted = false;
    let fields = line.split(|c| {
        is_quoted ^= c == '"';
        c == delimiter && !is_quoted
    });
    let fields: Vec<&str> = fields.map(|field| field.trim_matches(['"', ' '])).collect();
    (!is_quoted).then_some(fields)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_hold_delimiters() {
        assert_eq!(columns("a,\"b, c\",d"), Some((',', vec!["a", "b, c", "d"])));
        assert_eq!(columns("\" file of Bulgarian and Russian, bds\" layout."), None);
        assert_eq!(columns("\"open,a"), None);
        assert_eq!(columns("a;b;c,d").map(|(delimiter, columns)| (delimiter, columns.len())), Some((';', 3)));
        assert!(is_header(&["a", "b"]) && !is_header(&["a", "a"]) && !is_header(&["a", "1.5"]) && !is_header(&["a", ""]));
    }
}

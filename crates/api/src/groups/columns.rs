//! Which columns of a table hold what.

use flowmine_logs::tables::{CsvRules, DateFormat, Encoding, TableOptions, TimeRules, TimeUnit, Zone};

use super::Grouped;
use crate::options::{Choice, Group, Kind, OptionSpec, Values};

/// Which columns of a table (CSV, Parquet) hold what; those that are not named are found by the
/// names of PM4Py, bupaR and flowmine.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TableColumns {
    /// The case.
    pub case: Option<String>,
    /// The activity; several columns are joined.
    pub activity: Vec<String>,
    /// The time of an event or, next to a start, the end of an instance.
    pub timestamp: Option<String>,
    /// The start of an instance.
    pub start: Option<String>,
    /// How times are read.
    pub times: TimeRules,
    /// How CSV is read.
    pub csv: CsvRules,
    /// The transition of the lifecycle.
    pub lifecycle: Option<String>,
    /// The activity instance of a row.
    pub instance: Option<String>,
    /// The resource.
    pub resource: Option<String>,
    /// The bytes read.
    pub read_bytes: Option<String>,
    /// The bytes written.
    pub written_bytes: Option<String>,
}

impl Choice for TimeUnit {
    const VALUES: &'static [(&'static str, &'static str, Self)] = &[
        ("s", "Seconds", Self::Seconds),
        ("ms", "Milliseconds", Self::Milliseconds),
        ("us", "Microseconds", Self::Microseconds),
        ("ns", "Nanoseconds", Self::Nanoseconds),
        ("days", "Days since 1899-12-30, as spreadsheets count", Self::Days),
        ("digits", "The digits of dates, such as 20261120 or 20261120130405", Self::Digits),
    ];
}

/// Whether the first line of CSV names the columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Header {
    Yes,
    No,
}

impl Choice for Header {
    const VALUES: &'static [(&'static str, &'static str, Self)] = &[
        ("yes", "The first line names the columns", Self::Yes),
        ("no", "The first line has values; columns are named by their numbers, from 1", Self::No),
    ];
}

fn is_date_format(text: &str) -> Result<(), String> {
    DateFormat::parse(text).map(|_| ())
}

fn is_zone(text: &str) -> Result<(), String> {
    Zone::named(text).map(|_| ()).ok_or_else(|| format!("{text:?} is no zone such as Europe/Berlin, UTC or +01:00"))
}

fn is_encoding(text: &str) -> Result<(), String> {
    Encoding::named(text).map(|_| ()).ok_or_else(|| format!("{text:?} is no encoding such as utf-8, utf-16le, windows-1252 or shift_jis"))
}

fn is_delimiter(text: &str) -> Result<(), String> {
    let is_free = |byte: u8| !byte.is_ascii_alphanumeric() && !matches!(byte, b'"' | b'\n' | b'\r');
    delimiter(text).filter(|&byte| is_free(byte)).map(|_| ()).ok_or_else(|| format!("{text:?} is no delimiter such as ; or tab"))
}

fn delimiter(text: &str) -> Option<u8> {
    match text.as_bytes() {
        b"tab" | b"\\t" => Some(b'\t'),
        [byte] => Some(*byte),
        _ => None,
    }
}

impl TableColumns {
    /// How a table is read; what is not named is inferred.
    pub fn options(&self) -> TableOptions {
        TableOptions {
            case_column: self.case.clone(),
            activity_column: (!self.activity.is_empty()).then(|| self.activity.join("+")),
            timestamp_column: self.timestamp.clone(),
            start_column: self.start.clone(),
            lifecycle_column: self.lifecycle.clone(),
            resource_column: self.resource.clone(),
            instance_column: self.instance.clone(),
            read_bytes_column: self.read_bytes.clone(),
            written_bytes_column: self.written_bytes.clone(),
            times: self.times.clone(),
            csv: self.csv.clone(),
            keep: Vec::new(),
        }
    }

    /// Whether a column or unit is named.
    pub fn is_some(&self) -> bool {
        *self != Self::default()
    }
}

impl Grouped for TableColumns {
    const GROUP: &'static Group = &Group {
        heading: "Columns of tables",
        options: &[
            OptionSpec::text("case-column", "NAME", "Case").rare(),
            OptionSpec::text("activity-column", "NAME", "Activity; several columns are joined by plus signs").repeated().rare(),
            OptionSpec::text("timestamp-column", "NAME", "Time of an event or, next to a start, end of an instance")
                .details("DATE+TIME for a date and a time of day in two columns")
                .rare(),
            OptionSpec::text("start-column", "NAME", "Start of an instance").rare(),
            OptionSpec::choice::<TimeUnit>("timestamp-unit", "UNIT", "Unit of times that are numbers")
                .details("By default inferred from all numbers")
                .rare(),
            OptionSpec::new("date-format", "FORMAT", Kind::Checked("day-first", is_date_format), "Form of dates")
                .details("day-first, month-first or a pattern such as '%d.%m.%Y %H:%M'; by default inferred from all dates")
                .rare(),
            OptionSpec::new("zone", "ZONE", Kind::Checked("Europe/Berlin", is_zone), "Zone of times without one [default: UTC]")
                .details("Europe/Berlin or +01:00")
                .rare(),
            OptionSpec::new("encoding", "NAME", Kind::Checked("windows-1252", is_encoding), "Encoding of CSV")
                .details("For example utf-8, utf-16le or windows-1252; by default inferred")
                .rare(),
            OptionSpec::new("delimiter", "CHARACTER", Kind::Checked(";", is_delimiter), "Character between the fields of CSV")
                .details("Or the word tab; by default that of , ; tab | which the first line has most often")
                .rare(),
            OptionSpec::choice::<Header>("header", "YES", "Whether the first line of CSV names the columns")
                .details("By default it does, unless it has a date or a number")
                .rare(),
            OptionSpec::text("lifecycle-column", "NAME", "Transition of the lifecycle").rare(),
            OptionSpec::text("instance-column", "NAME", "Activity instance of a row").rare(),
            OptionSpec::text("resource-column", "NAME", "Resource: user, host or machine").rare(),
            OptionSpec::text("read-bytes-column", "NAME", "Bytes read").rare(),
            OptionSpec::text("written-bytes-column", "NAME", "Bytes written").rare(),
        ],
    };

    fn read(values: &Values) -> Self {
        Self {
            case: values.text("case-column"),
            activity: values.texts("activity-column"),
            timestamp: values.text("timestamp-column"),
            start: values.text("start-column"),
            times: TimeRules {
                unit: values.choice("timestamp-unit"),
                format: values.text("date-format").and_then(|text| DateFormat::parse(&text).ok()),
                zone: values.text("zone").and_then(|name| Zone::named(&name)),
            },
            csv: CsvRules {
                encoding: values.text("encoding").and_then(|name| Encoding::named(&name)),
                delimiter: values.text("delimiter").and_then(|text| delimiter(&text)),
                has_header: values.choice::<Header>("header").map(|header| header == Header::Yes),
            },
            lifecycle: values.text("lifecycle-column"),
            instance: values.text("instance-column"),
            resource: values.text("resource-column"),
            read_bytes: values.text("read-bytes-column"),
            written_bytes: values.text("written-bytes-column"),
        }
    }
}

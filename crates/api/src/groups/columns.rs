//! Which columns of a table hold what.

use flowmine_logs::tables::TimeUnit;

use super::Grouped;
use crate::options::{Choice, Group, OptionSpec, Values};

/// Which columns of a table (CSV, Parquet) hold what; those that are not named are found by the
/// names of PM4Py, bupaR and flowmine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TableColumns {
    /// The case.
    pub case: Option<String>,
    /// The activity; several columns are joined.
    pub activity: Vec<String>,
    /// The time of an event or, next to a start, the end of an instance.
    pub timestamp: Option<String>,
    /// The start of an instance.
    pub start: Option<String>,
    /// The unit of times that are numbers since 1970.
    pub unit: Option<TimeUnit>,
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
    ];
}

impl TableColumns {
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
            OptionSpec::text("timestamp-column", "NAME", "Time of an event or, next to a start, end of an instance").rare(),
            OptionSpec::text("start-column", "NAME", "Start of an instance").rare(),
            OptionSpec::choice::<TimeUnit>("timestamp-unit", "UNIT", "Unit of times that are numbers since 1970")
                .details("By default inferred from the largest number")
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
            unit: values.choice("timestamp-unit"),
            lifecycle: values.text("lifecycle-column"),
            instance: values.text("instance-column"),
            resource: values.text("resource-column"),
            read_bytes: values.text("read-bytes-column"),
            written_bytes: values.text("written-bytes-column"),
        }
    }
}

//! Which events are read, by job and time.

use super::Grouped;
use crate::options::{Group, Kind, OptionSpec, Values};

/// Which events are read, by account and user of the job and by time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventFilter {
    /// Only jobs of these accounts.
    pub account: Vec<String>,
    /// Only jobs of these users.
    pub user: Vec<String>,
    /// Only events at or after this time, in nanoseconds since 1970.
    pub from: Option<i64>,
    /// Only events before this time, in nanoseconds since 1970.
    pub to: Option<i64>,
}

impl EventFilter {
    /// Whether every event passes.
    pub fn is_open(&self) -> bool {
        *self == Self::default()
    }
}

impl Grouped for EventFilter {
    const GROUP: &'static Group = &Group {
        heading: "Filters",
        options: &[
            OptionSpec::text("account", "NAME", "Only jobs of this account; may be given more than once").repeated(),
            OptionSpec::text("user", "NAME", "Only jobs of this user; may be given more than once").repeated(),
            OptionSpec::new("from", "TIME", Kind::Moment, "Only events at or after this time")
                .details("2026-11-20, 2026-11-20T13:00 (UTC), with a zone, today, yesterday (UTC), or 2h, 3d (before now)")
                .alias("since"),
            OptionSpec::new("to", "TIME", Kind::Moment, "Only events before this time").alias("until"),
        ],
    };

    fn read(values: &Values) -> Self {
        Self { account: values.texts("account"), user: values.texts("user"), from: values.moment_ns("from"), to: values.moment_ns("to") }
    }
}

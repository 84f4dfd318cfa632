//! The zone of times in imported files.

use flowmine_schema::diagnostic::{Diagnostic, Diagnostics};
use flowmine_schema::time::SECOND_NS;
use flowmine_slurm::units::{self, shown};

use super::kind::Options;

/// Times without zone, and saying once that a zone had to be assumed.
#[derive(Debug)]
pub(super) struct Zone {
    /// Offset of the zone in seconds east of UTC.
    pub offset_s: i64,
    /// Whether it is known, or was already warned about.
    pub is_known: bool,
}

impl Zone {
    pub fn new(options: &Options) -> Self {
        Self { offset_s: options.zone_offset_s.unwrap_or(0), is_known: options.zone_offset_s.is_some() }
    }

    /// Looks at a field that is a time.
    pub fn see(&mut self, field: &[u8], line: u64, diagnostics: &mut Diagnostics) {
        if self.is_known || units::is_nothing(field) || units::digits(field).is_some() {
            return;
        }
        if std::str::from_utf8(field).is_ok_and(|field| !units::has_zone(field)) && units::time(field, 0).is_ok() {
            self.is_known = true;
            let message = format!("times such as {:?} have no zone and are interpreted as UTC", shown(field));
            diagnostics.push(
                Diagnostic::warning("no_zone", message).at(line, None).advise("give the cluster's zone with --zone, as in --zone=+01:00"),
            );
        }
    }

    pub fn time(&self, field: &[u8]) -> Result<Option<i64>, units::BadValue> {
        units::time(field, self.offset_s)
    }
}

/// Seconds since 1970 or nanoseconds, distinguished by their size, as a time.
pub(super) fn epoch(field: &[u8]) -> Option<i64> {
    let number = units::digits_i64(field)?;
    if number > 1_000_000_000 * SECOND_NS { Some(number) } else { None }
}

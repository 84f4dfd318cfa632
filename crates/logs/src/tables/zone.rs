//! The zone of dates that have none.

use chrono::{DateTime, FixedOffset, LocalResult, NaiveDateTime, Offset as _, TimeZone as _};
use chrono_tz::Tz;

const SECOND_NS: i64 = 1_000_000_000;

/// A zone: one of the time zone database, or a fixed offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Zone {
    /// A zone of the time zone database.
    Named(Tz),
    /// An offset from UTC.
    Fixed(FixedOffset),
}

impl Zone {
    /// The zone with this name: `Europe/Berlin`, `UTC`, `+01:00`.
    pub fn named(name: &str) -> Option<Self> {
        if let Ok(zone) = name.parse::<Tz>() {
            return Some(Self::Named(zone));
        }
        name.parse::<FixedOffset>().ok().map(Self::Fixed)
    }

    /// Its name.
    pub fn name(&self) -> String {
        match self {
            Self::Named(zone) => zone.name().to_owned(),
            Self::Fixed(offset) => offset.to_string(),
        }
    }

    /// A local time, as nanoseconds since 1970-01-01 of this zone, in nanoseconds of UTC. An hour
    /// that comes twice counts as the first one. `None` for one that clocks skip.
    pub fn to_utc(self, local_ns: i64) -> Option<i64> {
        let offset = match self {
            Self::Fixed(offset) => offset,
            Self::Named(zone) => {
                let local: NaiveDateTime = DateTime::from_timestamp(local_ns.div_euclid(SECOND_NS), 0)?.naive_utc();
                match zone.offset_from_local_datetime(&local) {
                    LocalResult::Single(offset) | LocalResult::Ambiguous(offset, _) => offset.fix(),
                    LocalResult::None => return None,
                }
            }
        };
        local_ns.checked_sub(i64::from(offset.local_minus_utc()) * SECOND_NS)
    }
}

#[cfg(test)]
mod tests {
    use flowmine_eventlog::time::{parse, rfc3339};

    use super::*;

    fn utc(zone: &str, local: &str) -> Option<String> {
        Zone::named(zone).unwrap().to_utc(parse(local).unwrap()).map(rfc3339)
    }

    #[test]
    fn summer_and_winter() {
        for (zone, local, expected) in [
            ("Europe/Berlin", "2026-01-15 12:00:00", Some("2026-01-15T11:00:00Z")),
            ("Europe/Berlin", "2026-07-15 12:00:00", Some("2026-07-15T10:00:00Z")),
            ("Europe/Berlin", "2026-10-25 02:30:00", Some("2026-10-25T00:30:00Z")),
            ("Europe/Berlin", "2026-03-29 02:30:00", None),
            ("-05:30", "2026-07-15 12:00:00", Some("2026-07-15T17:30:00Z")),
            ("UTC", "2026-07-15 12:00:00", Some("2026-07-15T12:00:00Z")),
        ] {
            assert_eq!(utc(zone, local).as_deref(), expected, "{zone} {local}");
        }
        assert_eq!(Zone::named("Mars/Olympus"), None);
    }
}

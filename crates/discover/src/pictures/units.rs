//! Units of what jobs occupy: hours of a core, hours of a GiB.

/// Nanoseconds of one core as hours of one core.
pub(super) fn core_hours(core_ns: i128) -> String {
    format!("{:.2}", core_ns as f64 / 3.6e12)
}

/// Byte-nanoseconds as hours of one GiB.
pub(super) fn gib_hours(byte_ns: i128) -> String {
    format!("{:.2}", byte_ns as f64 / 3.6e12 / f64::from(1u32 << 30))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        let hour = 3_600_000_000_000;
        assert_eq!((core_hours(90 * hour), gib_hours((hour << 30) / 2)), ("90.00".to_owned(), "0.50".to_owned()));
    }
}

//! Slurm's ways to write times, lengths of time, memory and "nothing".

use flowmine_schema::text;
use flowmine_schema::time::{SECOND_NS, from_seconds};

/// A field that is neither a value of its kind nor one of the words for nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a value of this kind")]
pub struct BadValue;

/// The beginning of a field or line, made visible, for a message.
pub fn shown(bytes: &[u8]) -> String {
    text::visible(&text::decode(&bytes[..bytes.len().min(60)])).into_owned()
}

/// How a field of one kind is read.
pub type Read<'r> = dyn Fn(&[u8]) -> Result<Option<i64>, BadValue> + 'r;

/// Whether a field says that there is no value: squeue(1) prints `(null)`, `N/A`, `NONE`, `None`,
/// `Unknown` or nothing at all, depending on the field.
pub fn is_nothing(field: &[u8]) -> bool {
    matches!(field, b"" | b"(null)" | b"N/A" | b"NONE" | b"None" | b"Unknown" | b"n/a")
}

/// A point in time: seconds since 1970 (`SLURM_TIME_FORMAT=%s`), or Slurm's `2026-11-20T13:04:05`,
/// which has no zone and is taken to be `zone_offset_s` seconds east of UTC. `Err` when it is
/// neither and not one of the words for nothing.
pub fn time(field: &[u8], zone_offset_s: i64) -> Result<Option<i64>, BadValue> {
    if is_nothing(field) {
        return Ok(None);
    }
    if let Some(seconds) = digits(field) {
        // Slurm's 0 is "not set".
        return if seconds == 0 { Ok(None) } else { from_seconds(seconds).map(Some).ok_or(BadValue) };
    }
    let text = std::str::from_utf8(field).map_err(|_| BadValue)?;
    let ns = flowmine_schema::time::parse(text).ok_or(BadValue)?;
    let offset_s = if has_zone(text) { 0 } else { zone_offset_s };
    offset_s.checked_mul(SECOND_NS).and_then(|offset| ns.checked_sub(offset)).map(Some).ok_or(BadValue)
}

/// Whether a date and time says its zone itself: `…Z`, `…+01:00`.
pub fn has_zone(text: &str) -> bool {
    // Past the date, which has hyphens of its own.
    text.get(10..).is_some_and(|clock| clock.contains(['Z', 'z', '+', '-']))
}

/// A non-negative decimal number, nothing else.
pub fn digits(field: &[u8]) -> Option<i64> {
    if field.is_empty() || field.len() > 18 {
        return None;
    }
    field.iter().try_fold(0i64, |n, b| b.is_ascii_digit().then(|| n * 10 + i64::from(b - b'0')))
}

/// Like [`digits`], up to the largest `i64`: nanoseconds since 1970 have 19 digits.
pub fn digits_i64(field: &[u8]) -> Option<i64> {
    if field.is_empty() || !field.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(field).ok()?.parse().ok()
}

/// A whole number that may be negative. `None` for nothing.
pub fn signed(field: &[u8]) -> Result<Option<i64>, BadValue> {
    match field.strip_prefix(b"-") {
        Some(rest) => digits(rest).map(|n| Some(-n)).ok_or(BadValue),
        None if is_nothing(field) => Ok(None),
        None => digits(field).map(Some).ok_or(BadValue),
    }
}

/// A priority as `squeue`'s `%Q` writes it. `%p`, which has the same header, is a fraction of the
/// largest possible one, and says nothing here.
pub fn priority(field: &[u8]) -> Result<Option<i64>, BadValue> {
    let is_fraction = std::str::from_utf8(field).is_ok_and(|text| text.contains('.') && text.parse::<f64>().is_ok());
    if is_fraction { Ok(None) } else { signed(field) }
}

/// CPU time in nanoseconds as sacct writes it: `[days-][hours:]minutes:seconds[.fraction]`. `None`
/// for nothing.
pub fn cpu_time(field: &[u8]) -> Result<Option<i64>, BadValue> {
    let (clock, fraction) = match memchr::memchr(b'.', field) {
        Some(dot) => (&field[..dot], &field[dot + 1..]),
        None => (field, &b""[..]),
    };
    let Some(seconds) = duration(clock)? else { return Ok(None) };
    let mut ns = 0i64;
    if memchr::memchr(b'.', field).is_some() {
        ns = digits(fraction).filter(|_| fraction.len() <= 9).ok_or(BadValue)? * 10i64.pow(9 - fraction.len() as u32);
    }
    seconds.checked_mul(SECOND_NS).and_then(|whole| whole.checked_add(ns)).map(Some).ok_or(BadValue)
}

/// A length of time in seconds: `[days-]hours:minutes:seconds`, `minutes:seconds`, or a bare
/// number, which Slurm means as minutes. `None` for UNLIMITED, NOT_SET, INVALID and the words for
/// nothing; `Err` when it is none of these.
pub fn duration(field: &[u8]) -> Result<Option<i64>, BadValue> {
    if is_nothing(field) || matches!(field, b"UNLIMITED" | b"NOT_SET" | b"INVALID" | b"Partition_Limit") {
        return Ok(None);
    }
    let (days, clock) = match field.iter().position(|&b| b == b'-') {
        Some(dash) => (Some(digits(&field[..dash]).ok_or(BadValue)?), &field[dash + 1..]),
        None => (None, field),
    };
    let mut parts = [0i64; 3];
    let mut count = 0;
    for part in clock.split(|&b| b == b':') {
        *parts.get_mut(count).ok_or(BadValue)? = digits(part).ok_or(BadValue)?;
        count += 1;
    }
    let [a, b, c] = parts;
    let seconds = match (days, count) {
        // After days the parts are hours first: D-H, D-H:M, D-H:M:S.
        (Some(days), _) => days.checked_mul(86_400).ok_or(BadValue)? + a * 3600 + b * 60 + c,
        (None, 1) => a.checked_mul(60).ok_or(BadValue)?,
        (None, 2) => a * 60 + b,
        (None, _) => a * 3600 + b * 60 + c,
    };
    Ok(Some(seconds))
}

/// Memory in bytes: a number with K, M, G, T or P (powers of 1024; none means M), and sacct's older
/// `n` (per node) or `c` (per CPU) after it. `None` for 0, which means "not limited", and the words
/// for nothing; `Err` when it is none of these.
pub fn memory(field: &[u8]) -> Result<Option<i64>, BadValue> {
    if is_nothing(field) {
        return Ok(None);
    }
    let text = std::str::from_utf8(field).map_err(|_| BadValue)?;
    let text = text.strip_suffix(['n', 'c']).unwrap_or(text);
    let (number, unit) = match text.as_bytes().last() {
        Some(b'K' | b'k') => (&text[..text.len() - 1], 1u64 << 10),
        Some(b'M' | b'm') => (&text[..text.len() - 1], 1 << 20),
        Some(b'G' | b'g') => (&text[..text.len() - 1], 1 << 30),
        Some(b'T' | b't') => (&text[..text.len() - 1], 1 << 40),
        Some(b'P' | b'p') => (&text[..text.len() - 1], 1 << 50),
        _ => (text, 1 << 20),
    };
    let number: f64 = number.parse().map_err(|_| BadValue)?;
    let bytes = number * unit as f64;
    if !(0.0..9.0e18).contains(&bytes) {
        return Err(BadValue);
    }
    Ok(Some(bytes as i64).filter(|&bytes| bytes != 0))
}

/// A count: a number, or sacct's and squeue's short form with K or M for thousands (`1.5K`). `None`
/// for nothing.
pub fn count(field: &[u8]) -> Result<Option<i64>, BadValue> {
    if is_nothing(field) {
        return Ok(None);
    }
    if let Some(number) = digits(field) {
        return Ok(Some(number));
    }
    let text = std::str::from_utf8(field).map_err(|_| BadValue)?;
    // `2-4` nodes: the least asked for.
    if let Some((least, most)) = text.split_once('-') {
        most.parse::<u32>().map_err(|_| BadValue)?;
        return least.parse().map(Some).map_err(|_| BadValue);
    }
    let (number, unit) = match text.strip_suffix(['K', 'k']) {
        Some(number) => (number, 1e3),
        None => (text.strip_suffix('M').ok_or(BadValue)?, 1e6),
    };
    let number: f64 = number.parse().map_err(|_| BadValue)?;
    if number.is_finite() && (0.0..1e9).contains(&number) { Ok(Some((number * unit) as i64)) } else { Err(BadValue) }
}

/// The session of a process (`AllocSID`). `None` for 0 and for numbers that no process id reaches.
///
/// sbatch sends what getsid(2) returns. That is 0 where the leader of the session is outside of the
/// PID namespace, as in a container. slurm.h's `NO_VAL` (4294967294) means that no session is set.
pub fn session(field: &[u8]) -> Result<Option<i64>, BadValue> {
    if is_nothing(field) {
        return Ok(None);
    }
    let session = digits(field).ok_or(BadValue)?;
    Ok(Some(session).filter(|session| (1..=i64::from(i32::MAX)).contains(session)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lengths_of_time_are_not_mixed_up() {
        assert_eq!(duration(b"10:00"), Ok(Some(600)));
        assert_eq!(duration(b"1:00:00"), Ok(Some(3600)));
        assert_eq!(duration(b"365-00:00:00"), Ok(Some(365 * 86_400)));
        assert_eq!(duration(b"2-12"), Ok(Some(2 * 86_400 + 12 * 3600)));
        assert_eq!(duration(b"30"), Ok(Some(1800)));
        assert_eq!(duration(b"UNLIMITED"), Ok(None));
        assert_eq!(duration(b"ten"), Err(BadValue));
    }

    #[test]
    fn times_with_and_without_zone() {
        assert_eq!(time(b"1795179770", 3600), Ok(Some(1_795_179_770_000_000_000)));
        assert_eq!(time(b"2026-11-20T13:02:50", 0), Ok(Some(1_795_179_770_000_000_000)));
        assert_eq!(time(b"2026-11-20T14:02:50", 3600), Ok(Some(1_795_179_770_000_000_000)));
        for nothing in [&b"N/A"[..], b"NONE", b"Unknown", b"None", b"", b"(null)", b"0"] {
            assert_eq!(time(nothing, 0), Ok(None));
        }
        assert_eq!(time(b"2026-11-20T14:02:50+01:00", 7200), Ok(Some(1_795_179_770_000_000_000)), "the zone that it says");
        assert_eq!(time(b"2026-11-20T13:02:50Z", 7200), Ok(Some(1_795_179_770_000_000_000)));
        assert_eq!(time(b"soon", 0), Err(BadValue));
    }

    #[test]
    fn memory_units() {
        assert_eq!(memory(b"4000M"), Ok(Some(4000 << 20)));
        assert_eq!(memory(b"1.50G"), Ok(Some(3 << 29)));
        assert_eq!(memory(b"4Gn"), Ok(Some(4 << 30)));
        assert_eq!(memory(b"0"), Ok(None));
        assert_eq!(memory(b"lots"), Err(BadValue));
    }

    #[test]
    fn counts() {
        assert_eq!(count(b"16"), Ok(Some(16)));
        assert_eq!(count(b"2-4"), Ok(Some(2)));
        assert_eq!(count(b"1.5K"), Ok(Some(1500)));
        assert_eq!(count(b"many"), Err(BadValue));
    }

    #[test]
    fn a_session_whose_leader_is_not_visible_is_unknown() {
        assert_eq!(session(b"4711"), Ok(Some(4711)));
        for unknown in [&b"0"[..], b"4294967294", b"", b"N/A"] {
            assert_eq!(session(unknown), Ok(None), "{}", shown(unknown));
        }
        assert_eq!(session(b"tty1"), Err(BadValue));
    }

    proptest! {
        #[test]
        fn nothing_panics(field in proptest::collection::vec(any::<u8>(), 0..24)) {
            let _ = (time(&field, 0), duration(&field), memory(&field), count(&field), digits(&field));
        }
        #[test]
        fn nor_on_numbers(field in "[0-9:.KMGTPnc-]{0,24}") {
            let field = field.as_bytes();
            let _ = (time(field, 0), duration(field), memory(field), count(field), digits(field));
        }
    }
}

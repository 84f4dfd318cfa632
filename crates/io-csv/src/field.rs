//! The numbers in a field: its bytes without padding in, a value out; anything else is `None`.
//!
//! Times are nanoseconds. Nothing is rounded; more than nine digits behind the point are refused.

/// Without the spaces around it.
pub fn trimmed(field: &[u8]) -> &[u8] {
    field.trim_ascii()
}

/// Reads a number of decimal digits only; `None` for anything else.
pub fn unsigned(field: &[u8]) -> Option<u64> {
    if field.is_empty() {
        return None;
    }
    let mut value = 0u64;
    if field.len() <= 19 {
        // Cannot overflow.
        for &byte in field {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                return None;
            }
            value = value * 10 + u64::from(digit);
        }
        return Some(value);
    }
    for &byte in field {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value.checked_mul(10)?.checked_add(u64::from(digit))?;
    }
    Some(value)
}

/// Decimal digits, perhaps after a minus.
pub fn signed(field: &[u8]) -> Option<i64> {
    match field.split_first() {
        Some((b'-', digits)) => 0i64.checked_sub_unsigned(unsigned(digits)?),
        _ => i64::try_from(unsigned(field)?).ok(),
    }
}

/// Hexadecimal, with or without `0x`.
pub fn hexadecimal(field: &[u8]) -> Option<u32> {
    let digits = field.strip_prefix(b"0x").or_else(|| field.strip_prefix(b"0X")).unwrap_or(field);
    if digits.is_empty() {
        return None;
    }
    let mut value = 0u32;
    for &byte in digits {
        let digit = char::from(byte).to_digit(16)?;
        if value >> 28 != 0 {
            return None;
        }
        value = value << 4 | digit;
    }
    Some(value)
}

/// A number with up to nine digits behind a point, as whole units and billionths.
fn fixed_point(field: &[u8]) -> Option<(u64, u64)> {
    let point = field.iter().rposition(|&byte| byte == b'.');
    let Some(point) = point else { return Some((unsigned(field)?, 0)) };
    let (whole, fraction) = (&field[..point], &field[point + 1..]);
    let scale = *SCALES.get(fraction.len())?;
    Some((unsigned(whole)?, unsigned(fraction)? * scale))
}

/// What a number of that many digits behind the point is multiplied with; none without digits.
const SCALES: [u64; 10] = [0, 100_000_000, 10_000_000, 1_000_000, 100_000, 10_000, 1_000, 100, 10, 1];

/// Reads a number of seconds and gives nanoseconds.
pub fn seconds(field: &[u8]) -> Option<i64> {
    let (whole, billionths) = fixed_point(field)?;
    i64::try_from(whole.checked_mul(1_000_000_000)?.checked_add(billionths)?).ok()
}

/// Whole parts from this on are microseconds, not seconds: as seconds it is three million years
/// from now, as microseconds it was in 1973.
const MICROSECONDS_FROM: u64 = 100_000_000_000_000;

/// A time of `cgroups.csv`, as nanoseconds: seconds, or microseconds when it is that large.
pub fn fork_time(field: &[u8]) -> Option<i64> {
    let (whole, billionths) = fixed_point(field)?;
    if whole < MICROSECONDS_FROM {
        return seconds(field);
    }
    i64::try_from(whole.checked_mul(1_000)?.checked_add(billionths / 1_000_000)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_and_what_is_none() {
        assert_eq!(signed(b"-9223372036854775808"), Some(i64::MIN));
        assert_eq!(signed(b"9223372036854775808"), None);
        assert_eq!(unsigned(b"18446744073709551615"), Some(u64::MAX));
        assert_eq!(unsigned(b"18446744073709551616"), None);
        assert_eq!(hexadecimal(b"0x00008000"), Some(0x8000));
        assert_eq!(hexadecimal(b"0xffffffff"), Some(u32::MAX));
        for other in [&b""[..], b"-", b"+1", b"1 ", b"0x", b"1e3", b"0x1ffffffff"] {
            assert_eq!((signed(other), unsigned(other)), (None, None), "{other:?}");
        }
        assert_eq!((hexadecimal(b"0x"), hexadecimal(b"0x1ffffffff"), hexadecimal(b"")), (None, None, None));
    }

    #[test]
    fn times_in_seconds_and_in_microseconds() {
        assert_eq!(seconds(b"1714067937.744"), Some(1_714_067_937_744_000_000));
        assert_eq!(seconds(b"0.000000001"), Some(1));
        assert_eq!(seconds(b"17"), Some(17_000_000_000));
        for other in [&b"1."[..], b".5", b"-1.000", b"1.0000000000", b"9223372037.000", b"1.2.3", b""] {
            assert_eq!(seconds(other), None, "{other:?}");
        }
        assert_eq!(fork_time(b"1714067937.409"), Some(1_714_067_937_409_000_000));
        assert_eq!(fork_time(b"1714067937409123.456"), Some(1_714_067_937_409_123_456));
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_value_or_none(field in proptest::collection::vec(prop_oneof![any::<u8>(), b'0'..=b'9', Just(b'.'), Just(b'-')], 0..30)) {
            let _ = (signed(&field), unsigned(&field), hexadecimal(&field), seconds(&field), fork_time(&field));
        }

        #[test]
        fn what_is_printed_is_read(value in any::<i64>(), ns in 0..i64::MAX) {
            prop_assert_eq!(signed(value.to_string().as_bytes()), Some(value));
            let text = format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
            prop_assert_eq!(seconds(text.as_bytes()), Some(ns));
        }
    }
}

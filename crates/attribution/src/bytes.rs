//! Records as bytes for temporary files: whole numbers in as few bytes as they need (LEB128), texts
//! with their length. The form never outlives a run.

pub(crate) use flowmine_dataset::leb128::{put as put_unsigned, take as take_unsigned};
use flowmine_spill::SpillError;

use crate::AttributionError;

/// A record of a temporary file that flowmine did not write.
pub(crate) fn damaged<T>(value: Option<T>) -> Result<T, AttributionError> {
    value.ok_or(AttributionError::Temporary(SpillError::Damaged))
}

pub(crate) fn put(value: i64, bytes: &mut Vec<u8>) {
    // Small ones of either sign first: 0, -1, 1, -2, …
    put_unsigned(((value << 1) ^ (value >> 63)) as u64, bytes);
}

pub(crate) fn put_maybe(value: Option<i64>, bytes: &mut Vec<u8>) {
    bytes.push(u8::from(value.is_some()));
    if let Some(value) = value {
        put(value, bytes);
    }
}

pub(crate) fn put_text(text: Option<&str>, bytes: &mut Vec<u8>) {
    put_unsigned(text.map_or(0, |text| text.len() as u64 + 1), bytes);
    bytes.extend_from_slice(text.unwrap_or_default().as_bytes());
}

pub(crate) fn take_byte(bytes: &mut &[u8]) -> Option<u8> {
    let (first, rest) = bytes.split_first()?;
    *bytes = rest;
    Some(*first)
}

pub(crate) fn take(bytes: &mut &[u8]) -> Option<i64> {
    take_unsigned(bytes).map(|value| (value >> 1) as i64 ^ -((value & 1) as i64))
}

pub(crate) fn take_maybe(bytes: &mut &[u8]) -> Option<Option<i64>> {
    match take_byte(bytes)? {
        0 => Some(None),
        _ => take(bytes).map(Some),
    }
}

pub(crate) fn take_text<'a>(bytes: &mut &'a [u8]) -> Option<Option<&'a str>> {
    let Some(length) = take_unsigned(bytes)?.checked_sub(1) else { return Some(None) };
    let (text, rest) = bytes.split_at_checked(usize::try_from(length).ok()?)?;
    *bytes = rest;
    std::str::from_utf8(text).ok().map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_is_taken() {
        let numbers = [0, 1, -1, 63, 64, -64, -65, 1 << 40, i64::MIN, i64::MAX];
        let mut bytes = Vec::new();
        numbers.iter().for_each(|&n| put(n, &mut bytes));
        put_maybe(None, &mut bytes);
        put_maybe(Some(-7), &mut bytes);
        put_text(None, &mut bytes);
        put_text(Some(""), &mut bytes);
        put_text(Some("ä"), &mut bytes);
        put_unsigned(u64::MAX, &mut bytes);
        let mut rest = &bytes[..];
        numbers.iter().for_each(|&n| assert_eq!(take(&mut rest), Some(n)));
        assert_eq!((take_maybe(&mut rest), take_maybe(&mut rest)), (Some(None), Some(Some(-7))));
        assert_eq!((take_text(&mut rest), take_text(&mut rest), take_text(&mut rest)), (Some(None), Some(Some("")), Some(Some("ä"))));
        assert_eq!(take_unsigned(&mut rest), Some(u64::MAX));
        assert!(rest.is_empty() && take(&mut rest).is_none());
    }
}

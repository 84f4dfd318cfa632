//! Whole numbers in as few bytes as they need: seven bits a byte, the lowest first, the highest bit
//! says that more follow (LEB128; Thrift and Parquet call it varint). For Parquet's own structures
//! and for records of temporary files.

/// Appends a number in one to ten bytes.
pub fn put(mut value: u64, bytes: &mut Vec<u8>) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Takes a number from the front. `None` where the bytes end within it, or where it has more than
/// ten bytes, which 64 bits never take.
pub fn take(bytes: &mut &[u8]) -> Option<u64> {
    let (mut value, mut shift) = (0, 0);
    loop {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte < 0x80 {
            return Some(value);
        }
        shift += 7;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_is_taken() {
        let numbers = [0, 1, 0x7f, 0x80, 300, 1 << 40, u64::MAX];
        let mut bytes = Vec::new();
        numbers.iter().for_each(|&number| put(number, &mut bytes));
        assert_eq!(bytes[..4], [0, 1, 0x7f, 0x80]);
        let mut rest = &bytes[..];
        numbers.iter().for_each(|&number| assert_eq!(take(&mut rest), Some(number)));
        assert!(rest.is_empty() && take(&mut rest).is_none());
        assert_eq!((take(&mut &[0x80][..]), take(&mut &[0x80; 12][..])), (None, None));
    }
}

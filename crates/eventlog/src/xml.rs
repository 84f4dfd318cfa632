//! Text in XML: what is markup is escaped, what XML 1.0 cannot carry is written visibly.
//!
//! Newline, tab and carriage return become character references, so that they survive the
//! normalisation of attribute values. What XML cannot carry at all (most control characters,
//! U+FFFE, U+FFFF) is written as `\xNN`, byte by byte of its UTF-8: the form in which the rest of
//! flowmine keeps bytes that are no text, in which a literal `\x` is written `\x5cx`.

/// Appends a text as it stands between double quotes or tags. Returns how many characters had to be
/// replaced.
pub fn escape(text: &str, out: &mut Vec<u8>) -> u64 {
    let bytes = text.as_bytes();
    let mut done = 0;
    let mut replaced = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        // U+FFFE and U+FFFF are EF BF BE and EF BF BF.
        let special = SPECIAL[usize::from(byte)] && (byte != 0xef || matches!(bytes.get(at + 1..at + 3), Some([0xbf, 0xbe | 0xbf])));
        if !special {
            continue;
        }
        out.extend_from_slice(&bytes[done..at]);
        done = at + 1;
        match byte {
            b'&' => out.extend_from_slice(b"&amp;"),
            b'<' => out.extend_from_slice(b"&lt;"),
            b'>' => out.extend_from_slice(b"&gt;"),
            b'"' => out.extend_from_slice(b"&quot;"),
            b'\'' => out.extend_from_slice(b"&apos;"),
            b'\n' => out.extend_from_slice(b"&#10;"),
            b'\t' => out.extend_from_slice(b"&#9;"),
            b'\r' => out.extend_from_slice(b"&#13;"),
            0xef => {
                replaced += 1;
                done = at + 3;
                bytes[at..at + 3].iter().for_each(|&byte| visibly(byte, out));
            }
            _ => {
                replaced += 1;
                visibly(byte, out);
            }
        }
    }
    out.extend_from_slice(&bytes[done..]);
    replaced
}

fn visibly(byte: u8, out: &mut Vec<u8>) {
    let digit = |n: u8| char::from_digit(u32::from(n), 16).map_or(b'?', |c| c as u8);
    out.extend_from_slice(&[b'\\', b'x', digit(byte >> 4), digit(byte & 15)]);
}

const SPECIAL: [bool; 256] = {
    let mut special = [false; 256];
    let mut byte = 0;
    while byte < 0x20 {
        special[byte] = true;
        byte += 1;
    }
    special[b'&' as usize] = true;
    special[b'<' as usize] = true;
    special[b'>' as usize] = true;
    special[b'"' as usize] = true;
    special[b'\'' as usize] = true;
    special[0xef] = true;
    special
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_cannot_carry() {
        let mut out = Vec::new();
        let replaced = escape("a<b & \"c\"\n\u{1}\u{fffe}ï\u{ffef}'", &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), "a&lt;b &amp; &quot;c&quot;&#10;\\x01\\xef\\xbf\\xbeï\u{ffef}&apos;");
        assert_eq!(replaced, 2);
    }
}

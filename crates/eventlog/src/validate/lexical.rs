//! Whether a text has the form that a type prescribes: W3C XML Schema part 2, RFC 3339, RFC 4122,
//! XML 1.0 names.

/// How well a text is in the form of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// As flowmine would write it, or like it.
    Good,
    /// Allowed by XML Schema, and some readers stumble: `1` for true, a time without zone.
    Allowed,
    /// Against XML Schema, and most readers understand it: `True`, `nan`.
    Readable,
    /// Not a value of the type, and no reader can be expected to take it.
    Bad,
}

/// XML Schema removes white space around all its types but strings.
fn trim(text: &str) -> &str {
    text.trim_matches([' ', '\t', '\n', '\r'])
}

fn digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Form of a text as an `xs:long` of XML Schema.
pub(super) fn integer(text: &str) -> Form {
    // Rust's own form is the same: a sign, digits, 64 bits.
    if trim(text).parse::<i64>().is_ok() { Form::Good } else { Form::Bad }
}

/// xs:decimal.
pub(super) fn decimal(text: &str) -> bool {
    let text = trim(text);
    let text = text.strip_prefix(['+', '-']).unwrap_or(text);
    match text.split_once('.') {
        None => digits(text),
        Some((whole, fraction)) => {
            (digits(whole) || digits(fraction)) && (whole.is_empty() || digits(whole)) && (fraction.is_empty() || digits(fraction))
        }
    }
}

/// xs:double.
pub(super) fn float(text: &str) -> Form {
    let text = trim(text);
    if matches!(text, "INF" | "-INF" | "NaN") {
        return Form::Good;
    }
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let whole = |text: &str| digits(text.strip_prefix(['+', '-']).unwrap_or(text));
    if decimal(mantissa) && mantissa == trim(mantissa) && exponent.is_none_or(whole) {
        return Form::Good;
    }
    if text.parse::<f64>().is_ok() { Form::Readable } else { Form::Bad }
}

/// xs:boolean.
pub(super) fn boolean(text: &str) -> Form {
    let text = trim(text);
    match text {
        "true" | "false" => Form::Good,
        "1" | "0" => Form::Allowed,
        _ if text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false") => Form::Readable,
        _ => Form::Bad,
    }
}

/// xs:dateTime; without a zone it is only allowed.
pub(super) fn date_time(text: &str) -> Form {
    let text = trim(text);
    let date = text.strip_prefix('-').unwrap_or(text);
    let year = date.bytes().take_while(u8::is_ascii_digit).count();
    let (Some(number), Some(rest)) = (date.get(..year), date.get(year..)) else { return Form::Bad };
    if year < 4 || (year > 4 && number.starts_with('0')) || number.bytes().all(|byte| byte == b'0') {
        return readable(text);
    }
    // Only whether it is a leap year counts.
    let last = number.get(number.len().saturating_sub(4)..).unwrap_or_default();
    let year = last.parse::<u32>().unwrap_or_default() + if year > 4 { 400 } else { 0 };
    match rest_of_date_time(year, rest, &['T'], 24, 59, 14 * 60) {
        Some(Some(_)) => Form::Good,
        Some(None) => Form::Allowed,
        None => readable(text),
    }
}

/// RFC 3339, section 5.6.
pub(super) fn rfc3339(text: &str) -> Form {
    let (Some(year), Some(rest)) = (text.get(..4).filter(|year| digits(year)), text.get(4..)) else { return Form::Bad };
    match rest_of_date_time(year.parse().unwrap_or_default(), rest, &['T', 't'], 23, 60, 24 * 60 - 1) {
        Some(Some(_)) => Form::Good,
        _ => readable(text),
    }
}

fn readable(text: &str) -> Form {
    if matches!(crate::time::parse(text), Err(crate::time::NotATime::Form)) { Form::Bad } else { Form::Readable }
}

/// What follows the year: `-11-20T13:04:05.25+01:00`. Gives the zone's minutes if there is a zone.
fn rest_of_date_time(year: u32, text: &str, between: &[char], hours: u32, seconds: u32, zone: u32) -> Option<Option<u32>> {
    let two = |text: &str, at: usize| text.get(at..at + 2).filter(|pair| digits(pair)).and_then(|pair| pair.parse::<u32>().ok());
    let mark = |at: usize, marks: &[char]| text.get(at..at + 1).filter(|mark| mark.starts_with(marks));
    let (month, day, hour, minute, second) = (two(text, 1)?, two(text, 4)?, two(text, 7)?, two(text, 10)?, two(text, 13)?);
    for (at, marks) in [(0, &['-'][..]), (3, &['-']), (6, between), (9, &[':']), (12, &[':'])] {
        mark(at, marks)?;
    }
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 => 28 + u32::from(leap),
        _ => return None,
    };
    let mut rest = text.get(15..)?;
    let mut fraction = "";
    if let Some(behind) = rest.strip_prefix('.') {
        let length = behind.bytes().take_while(u8::is_ascii_digit).count();
        (fraction, rest) = behind.split_at_checked(length).filter(|_| length > 0)?;
    }
    // The end of a day can be 24:00:00 in XML Schema.
    let end_of_day = hour == 24 && (minute > 0 || second > 0 || fraction.bytes().any(|digit| digit != b'0'));
    if day < 1 || day > days || hour > hours || end_of_day || minute > 59 || second > seconds {
        return None;
    }
    if rest.is_empty() {
        return Some(None);
    }
    if rest == "Z" || (rest == "z" && between.contains(&'t')) {
        return Some(Some(0));
    }
    let offset = rest.strip_prefix(['+', '-']).filter(|offset| offset.len() == 5 && offset.get(2..3) == Some(":"))?;
    let (hour, minute) = (two(offset, 0)?, two(offset, 3)?);
    (minute < 60 && hour * 60 + minute <= zone).then_some(Some(hour * 60 + minute))
}

/// A UUID in its usual form.
pub(super) fn uuid(text: &str) -> bool {
    let mut groups = text.split('-');
    [8, 4, 4, 4, 12]
        .iter()
        .all(|&length| groups.next().is_some_and(|group| group.len() == length && group.bytes().all(|byte| byte.is_ascii_hexdigit())))
        && groups.next().is_none()
}

/// NameStartChar of XML 1.0, fifth edition, without the colon.
pub(super) fn starts_name(c: char) -> bool {
    matches!(c, 'A'..='Z' | '_' | 'a'..='z' | '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{2ff}' | '\u{370}'..='\u{37d}'
        | '\u{37f}'..='\u{1fff}' | '\u{200c}'..='\u{200d}' | '\u{2070}'..='\u{218f}' | '\u{2c00}'..='\u{2fef}' | '\u{3001}'..='\u{d7ff}'
        | '\u{f900}'..='\u{fdcf}' | '\u{fdf0}'..='\u{fffd}' | '\u{10000}'..='\u{effff}')
}

/// NameChar, without the colon.
pub(super) fn in_name(c: char) -> bool {
    starts_name(c) || matches!(c, '-' | '.' | '0'..='9' | '\u{b7}' | '\u{300}'..='\u{36f}' | '\u{203f}'..='\u{2040}')
}

/// xs:Name: with colons wherever.
pub(super) fn name(text: &str) -> bool {
    let mut characters = trim(text).chars();
    characters.next().is_some_and(|c| c == ':' || starts_name(c)) && characters.all(|c| c == ':' || in_name(c))
}

/// xs:NCName: without colons.
pub(super) fn ncname(text: &str) -> bool {
    let mut characters = trim(text).chars();
    characters.next().is_some_and(starts_name) && characters.all(in_name)
}

/// xs:anyURI, as far as it refuses anything: RFC 3986 with what XML Schema escapes. A scheme begins
/// with a letter, `%` is followed by two hexadecimal digits, at most one `#`.
pub(super) fn any_uri(text: &str) -> bool {
    let text = trim(text);
    let bytes = text.as_bytes();
    let scheme = text.find([':', '/', '?', '#']).filter(|&at| bytes.get(at) == Some(&b':')).and_then(|at| text.get(..at));
    let scheme_good = scheme.is_none_or(|scheme| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
    });
    let escapes_good = bytes
        .iter()
        .enumerate()
        .all(|(at, &byte)| byte != b'%' || bytes.get(at + 1..at + 3).is_some_and(|pair| pair.iter().all(u8::is_ascii_hexdigit)));
    // Brackets are those of an IPv6 address.
    let brackets_good = text.contains("//[") || !text.contains(['[', ']']);
    scheme_good && brackets_good && escapes_good && bytes.iter().filter(|&&byte| byte == b'#').count() < 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        for (text, xml, rfc) in [
            ("2026-11-20T13:04:05Z", Form::Good, Form::Good),
            ("2026-11-20T13:04:05.123456789+14:00", Form::Good, Form::Good),
            ("2026-11-20T13:04:05-14:01", Form::Readable, Form::Good),
            ("2026-11-20T13:04:05", Form::Allowed, Form::Readable),
            ("2026-11-20t13:04:05z", Form::Readable, Form::Good),
            (" 2026-11-20T13:04:05Z\n", Form::Good, Form::Bad),
            ("2026-11-20 13:04:05+00:00", Form::Readable, Form::Readable),
            ("2026-11-20T13:04:05+0100", Form::Readable, Form::Readable),
            ("2026-02-29T13:04:05Z", Form::Bad, Form::Bad),
            ("2028-02-29T13:04:05Z", Form::Good, Form::Good),
            ("2026-11-20T24:00:00Z", Form::Good, Form::Bad),
            ("2026-11-20T24:00:00.1Z", Form::Bad, Form::Bad),
            ("2026-11-20T13:04:05.Z", Form::Bad, Form::Bad),
            ("-0044-03-15T12:00:00Z", Form::Good, Form::Bad),
            ("12026-11-20T13:04:05Z", Form::Good, Form::Bad),
            ("2026-11-20", Form::Readable, Form::Readable),
            ("20é6-11-20T13:04:05Z", Form::Bad, Form::Bad),
            ("2026-11-20T13:04:0é", Form::Bad, Form::Bad),
            ("", Form::Bad, Form::Bad),
        ] {
            assert_eq!(date_time(text), xml, "{text}");
            let rfc_found = rfc3339(text);
            assert!(rfc_found == rfc || (rfc == Form::Bad && rfc_found == Form::Readable && !text.is_empty()), "{text} {rfc_found:?}");
        }
    }

    #[test]
    fn numbers_names_and_the_rest() {
        for (text, form) in [("1", Form::Good), ("+1.", Form::Good), (".5e-3", Form::Good), ("-INF", Form::Good), ("nan", Form::Readable)] {
            assert_eq!(float(text), form, "{text}");
        }
        for text in ["", "1e", "e1", ".", "1 e1", "0x1", "1,5", "1_0", "+"] {
            assert_eq!(float(text), Form::Bad, "{text}");
        }
        assert_eq!([integer("-9223372036854775808"), integer("9223372036854775808"), integer("1.0")], [Form::Good, Form::Bad, Form::Bad]);
        assert!(decimal("1849.2016") && decimal(".5") && !decimal("1849-2016") && !decimal("") && !decimal(".") && !decimal("1e3"));
        assert_eq!(["true", "1", "True", "yes"].map(boolean), [Form::Good, Form::Allowed, Form::Readable, Form::Bad]);
        assert!(name("a:b") && !name("a b") && !name("1a") && ncname("ä-1") && !ncname("a:b") && !ncname(""));
        assert!(uuid("123e4567-e89b-12d3-a456-426614174000") && !uuid("123e4567e89b12d3a456426614174000"));
        assert!(
            any_uri("http://a/b c#d")
                && any_uri("")
                && !any_uri("1:x")
                && !any_uri("%zz")
                && !any_uri("[]")
                && any_uri("http://[::1]/")
                && !any_uri("a#b#c")
        );
    }
}

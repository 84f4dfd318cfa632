//! Numbers with units, in the forms that engines write for people.

/// Converts `1h 9m`, `866ms`, `2d 3h` or `47.9s` to seconds. A bare number is rejected, because its
/// unit depends on the file.
pub fn duration_s(text: &str) -> Option<f64> {
    let mut seconds = 0.0;
    let mut parts = 0;
    for part in text.split_whitespace() {
        let end = part.find(|c: char| c.is_alphabetic()).unwrap_or(part.len());
        let unit = match &part[end..] {
            "ms" | "milli" | "millis" => 1e-3,
            "s" | "sec" | "second" | "seconds" => 1.0,
            "m" | "min" | "minute" | "minutes" => 60.0,
            "h" | "hour" | "hours" => 3600.0,
            "d" | "day" | "days" => 86_400.0,
            _ => return None,
        };
        seconds += number(&part[..end])? * unit;
        parts += 1;
    }
    (parts > 0).then_some(seconds)
}

/// Converts `52.5 GB`, `10 B`, `3.3MB`, or a bare number of bytes. Nextflow's units are powers of
/// 1024 (its `MemoryUnit`).
pub fn bytes(text: &str) -> Option<i64> {
    let text = text.trim();
    let end = text.find(|c: char| c.is_alphabetic()).unwrap_or(text.len());
    let power = match text[end..].trim_end_matches('B') {
        "" => 0,
        "K" | "k" | "Ki" => 1,
        "M" | "Mi" => 2,
        "G" | "Gi" => 3,
        "T" | "Ti" => 4,
        "P" | "Pi" => 5,
        "E" | "Ei" => 6,
        _ => return None,
    };
    if power == 0 {
        let whole = text[..end].trim();
        return whole.parse().ok().filter(|bytes: &i64| *bytes >= 0).or_else(|| fits(number(whole)?));
    }
    fits(number(text[..end].trim())? * 1024f64.powi(power))
}

/// Parses a percentage such as `38.5%` or `38.5`; not negative.
pub fn percent(text: &str) -> Option<f64> {
    number(text.trim().trim_end_matches('%').trim())
}

/// Parses a finite number that is not negative.
fn number(text: &str) -> Option<f64> {
    let plain = text.bytes().all(|b| b.is_ascii_digit() || b == b'.' || b == b'E' || b == b'-');
    text.parse().ok().filter(|number: &f64| plain && number.is_finite() && *number >= 0.0)
}

fn fits(bytes: f64) -> Option<i64> {
    (bytes < 9.2e18).then_some(bytes.round() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        for (text, seconds) in [
            ("1h 9m", 4140.0),
            ("866ms", 0.866),
            ("2d 3h", 183_600.0),
            ("1d 3h 2m 59s", 97_379.0),
            ("47.9s", 47.9),
            ("0ms", 0.0),
            ("100ms", 0.1),
            ("5m", 300.0),
        ] {
            assert_eq!(duration_s(text), Some(seconds), "{text}");
        }
        for none in ["", "-", "12", "1x", "h", "-3s", "1h foo", "NaNs", "infs"] {
            assert_eq!(duration_s(none), None, "{none}");
        }
    }

    #[test]
    fn sizes() {
        for (text, size) in [
            ("52.5 GB", 56_371_445_760),
            ("39.2 MB", 41_104_179),
            ("58.9 KB", 60_314),
            ("0", 0),
            ("10 B", 10),
            ("1048576", 1_048_576),
            ("3.3MB", 3_460_301),
            ("2 TB", 2_199_023_255_552),
            ("9007199254740993", 9_007_199_254_740_993),
        ] {
            assert_eq!(bytes(text), Some(size), "{text}");
        }
        for none in ["", "-", "GB", "-1", "1 XB", "99999 EB", "NaN"] {
            assert_eq!(bytes(none), None, "{none}");
        }
    }

    #[test]
    fn percents() {
        assert_eq!(percent("135.6%"), Some(135.6));
        assert_eq!(percent("0.0"), Some(0.0));
        assert_eq!(percent("-"), None);
        assert_eq!(percent("-1%"), None);
    }
}

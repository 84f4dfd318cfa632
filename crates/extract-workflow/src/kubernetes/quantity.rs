//! Kubernetes' quantities: `500m`, `1Gi`, `1e3` (API reference, Quantity).

/// Parses a quantity in its unit (CPUs, bytes); `None` when it is malformed or negative.
pub fn parse(text: &str) -> Option<f64> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '+' | '-'))).unwrap_or(text.len());
    let (number, suffix) = text.split_at(end);
    let factor = match suffix {
        "" => 1.0,
        "n" => 1e-9,
        "u" => 1e-6,
        "m" => 1e-3,
        "k" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        "P" => 1e15,
        "E" => 1e18,
        "Ki" => 1024.0,
        "Mi" => 1024_f64.powi(2),
        "Gi" => 1024_f64.powi(3),
        "Ti" => 1024_f64.powi(4),
        "Pi" => 1024_f64.powi(5),
        "Ei" => 1024_f64.powi(6),
        // `1e3` and `1E3`.
        exponent => 10_f64.powi(exponent.strip_prefix(['e', 'E'])?.parse().ok()?),
    };
    let value = number.parse::<f64>().ok()? * factor;
    (value.is_finite() && value >= 0.0).then_some(value)
}

/// Parses bytes; fractions of a byte are rounded up, as in Kubernetes.
pub fn bytes(text: &str) -> Option<i64> {
    parse(text).map(f64::ceil).filter(|bytes| *bytes < 9e18).map(|bytes| bytes as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities() {
        for (text, value) in [
            ("500m", 0.5),
            ("2", 2.0),
            ("0.1", 0.1),
            ("1Gi", 1_073_741_824.0),
            ("1e3", 1000.0),
            ("12E2", 1200.0),
            ("1E", 1e18),
            ("128974848", 128_974_848.0),
            ("129M", 129e6),
            ("1.5Ki", 1536.0),
            ("+1k", 1000.0),
        ] {
            assert_eq!(parse(text), Some(value), "{text}");
        }
        for none in ["", "Gi", "-1", "1 Gi", "1GiB", "1e", "1e999", "NaN", "1..2", "é"] {
            assert_eq!(parse(none), None, "{none}");
        }
        assert_eq!((bytes("128974848000m"), bytes("1m"), bytes("16E")), (Some(128_974_848), Some(1), None));
    }
}

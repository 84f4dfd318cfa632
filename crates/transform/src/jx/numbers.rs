//! Numbers as C prints them (printf(3)), which is how Makeflow does.

/// `%e`: one digit, `precision` digits after the point, and an exponent of two digits or more.
pub(super) fn exponential(number: f64, precision: usize) -> String {
    let text = format!("{number:.precision$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |exponent| ('-', exponent));
    format!("{digits}e{sign}{exponent:0>2}")
}

/// `%g`: at most `precision` digits, with an exponent where the number is very large or small.
pub(super) fn general(number: f64, precision: usize) -> String {
    let precision = precision.max(1);
    let text = exponential(number, precision - 1);
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let places = exponent.parse::<i64>().unwrap_or(0);
    let shortened = |digits: &str| match digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => digits.to_owned(),
    };
    match usize::try_from(precision as i64 - 1 - places) {
        Ok(after_point) if places >= -4 => shortened(&format!("{number:.after_point$}")),
        _ => format!("{}e{exponent}", shortened(digits)),
    }
}

/// As Makeflow writes it, in JSON and in texts: `%.16g`.
pub(super) fn written(number: f64) -> String {
    general(number, 16)
}

/// Returns a number without its fraction as a whole number, if that fits 64 bits.
pub(super) fn whole(number: f64) -> Option<i64> {
    // The bounds are 2^63, which i64 does not reach above.
    let (low, high) = (i64::MIN as f64, -(i64::MIN as f64));
    (low..high).contains(&number.trunc()).then_some(number as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_printed_as_by_c() {
        for (number, e, g, written_as) in [
            (0.0, "0.000000e+00", "0", "0"),
            (-0.0, "-0.000000e+00", "-0", "-0"),
            (1.5, "1.500000e+00", "1.5", "1.5"),
            (0.000_012_345_67, "1.234567e-05", "1.23457e-05", "1.234567e-05"),
            (0.0001, "1.000000e-04", "0.0001", "0.0001"),
            (999_999.5, "9.999995e+05", "1e+06", "999999.5"),
            (1e300, "1.000000e+300", "1e+300", "1e+300"),
            (-123_456_789.0, "-1.234568e+08", "-1.23457e+08", "-123456789"),
            (0.1 + 0.2, "3.000000e-01", "0.3", "0.3"),
            (1e16, "1.000000e+16", "1e+16", "1e+16"),
            (1e15, "1.000000e+15", "1e+15", "1000000000000000"),
        ] {
            assert_eq!((exponential(number, 6), general(number, 6), written(number)), (e.into(), g.into(), written_as.into()));
        }
    }
}

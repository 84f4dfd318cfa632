//! The query of an address: names and values, in their order.

use std::fmt::Write;

use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// Names and values.
pub type Query = Vec<(String, String)>;

/// Reads a query as forms write it. Bytes that are no UTF-8 become U+FFFD.
pub fn read(text: &str) -> Query {
    let decoded = |text: &str| percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned();
    let pairs = text.split('&').filter(|pair| !pair.is_empty());
    pairs.map(|pair| pair.split_once('=').unwrap_or((pair, ""))).map(|(name, value)| (decoded(name), decoded(value))).collect()
}

/// Writes a query so that it reads as the same.
pub fn write(query: &[(String, String)]) -> String {
    let mut text = String::new();
    for (name, value) in query {
        let between = if text.is_empty() { "" } else { "&" };
        let [name, value] = [name, value].map(|text| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string().replace("%2D", "-"));
        // A string takes all.
        let _ = write!(text, "{between}{name}={value}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_as_the_same() {
        let query = read("user=a+b%26&from=3d&flag&=x&&where=a%3D1%2B2&bad=%ff%zz");
        let pairs: Vec<(&str, &str)> = query.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(pairs, [("user", "a b&"), ("from", "3d"), ("flag", ""), ("", "x"), ("where", "a=1+2"), ("bad", "\u{fffd}%zz")]);
        assert_eq!(read(&write(&query)), query);
    }
}

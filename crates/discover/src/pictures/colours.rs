//! Colours of activities: nine that people with any of the common colour blindnesses tell apart
//! (Paul Tol's scheme "muted", 2021), a grey for all others.

use flowmine_draw::sheet::TEXT;

/// Colours, the first for the most frequent.
pub const PALETTE: [&str; 9] = ["#332288", "#ddcc77", "#44aa99", "#cc6677", "#88ccee", "#117733", "#aa4499", "#999933", "#882255"];
/// For what has no colour of its own.
pub const OTHER: &str = "#b8bfc7";

/// Dark or white, whatever can be read on this colour (`#rrggbb`).
pub fn ink(fill: &str) -> &'static str {
    let part = |at: usize| fill.get(at..at + 2).and_then(|hex| u8::from_str_radix(hex, 16).ok()).map_or(1.0, |c| f64::from(c) / 255.0);
    let linear = |c: f64| if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) };
    let lightness = 0.2126 * linear(part(1)) + 0.7152 * linear(part(3)) + 0.0722 * linear(part(5));
    // Where white and the dark of texts have the same contrast.
    if lightness > 0.2 { TEXT } else { "#ffffff" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ink_by_hand() {
        assert_eq!([ink("#332288"), ink("#ddcc77"), ink("#ffffff"), ink("bad")], ["#ffffff", TEXT, TEXT, TEXT]);
    }
}

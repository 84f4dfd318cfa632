//! Text in XML: escaped, and every character that XML cannot hold, or would change, made visible.

use std::fmt::Write as _;

/// The text for an attribute or between tags. Control characters, tabs and line ends become their
/// symbols (U+2400 on), what else XML 1.0 forbids becomes U+FFFD: two names that differ only in
/// these would be one name.
pub(crate) fn text(of: &str) -> String {
    let mut out = String::with_capacity(of.len());
    for c in of.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\u{7f}' => out.push('\u{2421}'),
            c if u32::from(c) < 0x20 => out.push(char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}')),
            '\u{80}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            // Line separators that readers of XML 1.1 change.
            '\u{2028}' | '\u{2029}' => {
                let _ = write!(out, "&#{};", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out
}

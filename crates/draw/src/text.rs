//! Text in figures: names and numbers in, text that is safe, readable and fits its node out.
//!
//! Names come from a cluster and may hold anything. [`atoms`] cuts them into pieces that are shown
//! as a whole, where invisible characters, and those that change the display of their neighbours,
//! are written as escapes. Widths are estimated from above, by the advance widths of DejaVu Sans,
//! the widest of the usual sans-serif fonts, because a picture does not know which font it will be
//! shown in.

use std::fmt::Write;

/// Whether a character must not be drawn as it is: what [`flowmine_text::is_unsafe`] says, and
/// further characters that are invisible, change the direction of writing, or are as wide as a
/// sentence.
pub fn is_hidden(c: char) -> bool {
    flowmine_text::is_unsafe(c)
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{3164}' | '\u{fdfd}' | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{12000}'..='\u{123ff}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
        || c as u32 & 0xfffe == 0xfffe
}

/// Marks that are drawn over the character before them.
fn is_combining(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{591}'..='\u{5bd}' | '\u{610}'..='\u{61a}'
        | '\u{64b}'..='\u{65f}' | '\u{e31}' | '\u{e34}'..='\u{e3a}' | '\u{e47}'..='\u{e4e}'
        | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}' | '\u{3099}' | '\u{309a}'
        | '\u{fe20}'..='\u{fe2f}')
}

/// More marks than this on one character leave their line; the rest is escaped.
const MOST_MARKS: usize = 2;

/// A name in pieces: a character with its marks, or an escape such as `\n`, `\x1b` or `\u{202e}`.
pub fn atoms(text: &str) -> Vec<String> {
    let mut atoms: Vec<String> = Vec::new();
    let mut marks = MOST_MARKS;
    for c in text.chars() {
        if is_combining(c) && !is_hidden(c) && marks < MOST_MARKS {
            marks += 1;
            if let Some(last) = atoms.last_mut() {
                last.push(c);
            }
        } else if is_hidden(c) || is_combining(c) {
            marks = MOST_MARKS;
            atoms.push(match c {
                '\n' => "\\n".to_owned(),
                '\r' => "\\r".to_owned(),
                '\t' => "\\t".to_owned(),
                c if (c as u32) < 0x100 => format!("\\x{:02x}", c as u32),
                c => format!("\\u{{{:x}}}", c as u32),
            });
        } else {
            marks = 0;
            atoms.push(c.to_string());
        }
    }
    let bare = text.is_empty() || text.starts_with(char::is_whitespace) || text.ends_with(char::is_whitespace);
    if bare {
        atoms.insert(0, "\"".to_owned());
        atoms.push("\"".to_owned());
    }
    atoms
}

/// A name on one line, in full; what cannot be seen, or would change how its neighbours are seen,
/// as an escape.
pub fn visible(text: &str) -> String {
    atoms(text).concat()
}

/// Text for XML, in content or in a quoted attribute. Takes what [`visible`] gives.
pub fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// Advance widths from U+0020 to U+007E in thousandths of the font size.
const ASCII: [u16; 95] = [
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636, 636, 636, 636, 636, 636, 636, 636, 337,
    337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635, 611, 732,
    684, 989, 685, 611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612, 635,
    635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838,
];

fn char_width(c: char) -> u32 {
    match c as u32 {
        code @ 0x20..=0x7e => u32::from(ASCII[code as usize - 0x20]),
        0xb7 => 400,
        _ if is_combining(c) => 250,
        0xa0..=0x17f => 840,
        0x180..=0x5ff => 1000,
        0x2010..=0x2015 => 1000,
        // Chinese, Japanese, Korean, symbols and emoji: an em and a little, twice a usual letter.
        0x600..=0x1efff => 1200,
        _ => 1500,
    }
}

/// Width of one line in a font of `size` pixels, in pixels, estimated from above.
pub fn width(text: &str, size: f64) -> f64 {
    f64::from(text.chars().map(char_width).sum::<u32>()) / 1000.0 * size * 1.02
}

/// A bold font is about a tenth wider.
pub fn bold_width(text: &str, size: f64) -> f64 {
    width(text, size) * 1.14
}

/// A name in at most `most_lines` lines of at most `room` pixels, shortened in the middle where it
/// does not fit.
pub fn wrap_name(text: &str, size: f64, room: f64, most_lines: usize) -> Vec<String> {
    let atoms = atoms(text);
    let lines = wrap(&atoms, size, room);
    if lines.len() <= most_lines {
        return lines;
    }
    // The most characters that still fit, found by halving: more of them never need fewer lines, nearly.
    let (mut fits, mut too_many) = (2, atoms.len());
    let mut best = None;
    while fits + 1 < too_many {
        let middle = (fits + too_many) / 2;
        let lines = wrap(&shortened(&atoms, middle), size, room);
        if lines.len() <= most_lines {
            best = Some(lines);
            fits = middle;
        } else {
            too_many = middle;
        }
    }
    best.unwrap_or_else(|| {
        let mut lines = wrap(&shortened(&atoms, 2), size, room);
        lines.truncate(most_lines);
        lines
    })
}

/// Both ends of a name; more of the front, since the differences of file names often lie at their
/// end, but what they have to do with each other at their front.
fn shortened(atoms: &[String], keep: usize) -> Vec<String> {
    let front = keep.div_ceil(2);
    let back = keep - front;
    let mut out = atoms[..front].to_vec();
    out.push("…".to_owned());
    out.extend_from_slice(&atoms[atoms.len() - back..]);
    out
}

/// Lines of at most `room`, broken where a reader would break a file name, or anywhere when there
/// is no such place.
fn wrap(atoms: &[String], size: f64, room: f64) -> Vec<String> {
    let mut lines = Vec::new();
    let mut start = 0;
    while start < atoms.len() {
        let mut used = 0.0;
        let mut end = start;
        while end < atoms.len() && (end == start || used + width(&atoms[end], size) <= room) {
            used += width(&atoms[end], size);
            end += 1;
        }
        if end < atoms.len() {
            // Not in the first third: a line with two characters is useless.
            let earliest = start + (end - start) / 3;
            if let Some(at) = (earliest + 1..=end).rev().find(|&at| breaks(&atoms[at - 1], &atoms[at])) {
                end = at;
            }
        }
        let line = atoms[start..end].concat();
        // A space at the end of a centred line would push it aside.
        let trimmed = if end < atoms.len() { line.trim_end_matches(' ') } else { &line };
        lines.push(if trimmed.is_empty() { line } else { trimmed.to_owned() });
        start = end;
    }
    lines
}

fn breaks(before: &str, after: &str) -> bool {
    let first = |s: &str| s.chars().next().unwrap_or(' ');
    let (b, a) = (first(before), first(after));
    if matches!(before, "\\n" | "\\r" | "\\t") {
        return true;
    }
    matches!(b, ' ' | '_' | '-' | '/' | '.' | ',' | ':' | '=' | '+' | ')' | ']' | '…') && !matches!(a, ' ' | '…')
        || b.is_lowercase() && a.is_uppercase()
}

/// Words in lines of at most `room` pixels.
pub fn wrap_words(text: &str, size: f64, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in text.split(' ') {
        let longer = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
        if width(&longer, size) <= room {
            line = longer;
            continue;
        }
        if !line.is_empty() {
            lines.push(std::mem::take(&mut line));
        }
        let cut: Vec<String> = word.chars().map(String::from).collect();
        let mut parts = wrap(&cut, size, room);
        line = parts.pop().unwrap_or_default();
        lines.append(&mut parts);
    }
    lines.push(line);
    lines
}

/// A count with a comma between thousands: `1,234,567`.
pub fn count(n: impl Into<u128>) -> String {
    let digits = n.into().to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// A count with its word: `1 case`, `2 cases`.
pub fn counted(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(n), if n == 1 { one } else { many })
}

/// A time span of this many nanoseconds, with two units at most: `0s`, `250ms`, `3.2s`, `3m 05s`,
/// `2h 07m`, `3d 04h`.
pub fn duration(ns: f64) -> String {
    if !ns.is_finite() {
        return "?".to_owned();
    }
    let mut out = String::new();
    if ns <= -0.5 {
        out.push('-');
    }
    let ns = ns.abs();
    // Rounded at the precision that is shown, before the unit is chosen: 59.97 s is 1m 00s, not 60.0s.
    let tenths = (ns / 1e8).round();
    let seconds = (ns / 1e9).round();
    let minutes = (ns / 6e10).round();
    let hours = (ns / 3.6e12).round();
    let _ = if ns < 0.5 {
        write!(out, "0s")
    } else if ns.round() < 1e3 {
        write!(out, "{ns:.0}ns")
    } else if (ns / 1e3).round() < 1e3 {
        write!(out, "{:.0}µs", ns / 1e3)
    } else if (ns / 1e6).round() < 1e3 {
        write!(out, "{:.0}ms", ns / 1e6)
    } else if tenths < 600.0 {
        if tenths % 10.0 == 0.0 { write!(out, "{:.0}s", tenths / 10.0) } else { write!(out, "{:.1}s", tenths / 10.0) }
    } else if seconds < 3600.0 {
        write!(out, "{:.0}m {:02.0}s", (seconds / 60.0).floor(), seconds % 60.0)
    } else if minutes < 1440.0 {
        write!(out, "{:.0}h {:02.0}m", (minutes / 60.0).floor(), minutes % 60.0)
    } else {
        write!(out, "{}d {:02.0}h", count((hours / 24.0).floor() as u64), hours % 24.0)
    };
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn durations_by_hand() {
        let s = 1e9;
        let shown: Vec<String> = [0.0, 0.4, 7.0, 1500.0, 250e6, 999.9e6, 3.0 * s, 3.24 * s, 59.97 * s, 185.0 * s, 3599.6 * s]
            .into_iter()
            .map(duration)
            .collect();
        assert_eq!(shown, ["0s", "0s", "7ns", "2µs", "250ms", "1s", "3s", "3.2s", "1m 00s", "3m 05s", "1h 00m"]);
        assert_eq!(duration(7620.0 * s), "2h 07m");
        assert_eq!(duration(76.0 * 3600.0 * s), "3d 04h");
        assert_eq!(duration(86399.0 * s), "1d 00h");
        assert_eq!(duration(-185.0 * s), "-3m 05s");
        assert_eq!(duration(f64::NAN), "?");
    }

    #[test]
    fn counts_by_hand() {
        assert_eq!([0_u64, 999, 1000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(counted(1, "case", "cases"), "1 case");
    }

    #[test]
    fn what_is_hidden_is_shown() {
        assert_eq!(visible("a\nb\x1b[0m\u{202e}\u{61c}\u{fffe}"), "a\\nb\\x1b[0m\\u{202e}\\u{61c}\\u{fffe}");
        assert_eq!(visible(""), "\"\"");
        assert_eq!(visible(" x"), "\" x\"");
        assert_eq!(visible("e\u{301}"), "e\u{301}");
        assert_eq!(visible("e\u{301}\u{301}\u{301}"), "e\u{301}\u{301}\\u{301}");
        assert_eq!(visible("\u{301}"), "\\u{301}");
    }

    #[test]
    fn names_break_where_a_reader_would() {
        assert_eq!(wrap_name("align_reads_to_genome", 13.0, 90.0, 3), ["align_reads_", "to_genome"]);
        assert_eq!(wrap_name("short", 13.0, 90.0, 3), ["short"]);
        let cut = wrap_name(&"0123456789".repeat(20), 13.0, 90.0, 2);
        assert_eq!(cut.len(), 2);
        assert!(cut.concat().starts_with("0123") && cut.concat().ends_with("789") && cut.concat().contains('…'));
    }

    #[test]
    fn a_mark_that_is_hidden_is_escaped_like_any_other() {
        assert_eq!(visible("a\u{34f}"), "a\\u{34f}");
    }

    proptest! {
        #[test]
        fn lines_fit(name in any::<String>(), room in 40.0f64..300.0) {
            for lines in [wrap_name(&name, 13.0, room, 3), wrap_words(&visible(&name), 13.0, room)] {
                for line in &lines {
                    let one = atoms(line).len() <= 3 || line.starts_with("\\u{");
                    prop_assert!(one || width(line, 13.0) <= room + 0.01, "{line:?}");
                }
            }
            prop_assert!(wrap_name(&name, 13.0, room, 3).len() <= 3);
        }

        #[test]
        fn xml_has_only_what_xml_may_have(name in any::<String>()) {
            for c in xml(&visible(&name)).chars() {
                prop_assert!(!is_hidden(c) && !matches!(c, '<' | '>' | '"'));
            }
        }
    }
}

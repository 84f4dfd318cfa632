//! Words in the names, arguments and comments of jobs, and the counters in them.

/// A text in which each number, date, hash or UUID is `#`: `align_07` and `align_12` are
/// `align_#`.
pub fn stem(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (word, is_word) in pieces(text) {
        if !is_word {
            out.push_str(word);
        } else if is_hash(word) {
            out.push('#');
        } else {
            put_without_numbers(word, &mut out);
        }
    }
    out
}

/// Words of a text: runs of letters and digits. Signs between them are left out.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    pieces(text).filter(|(_, is_word)| *is_word).map(|(word, _)| word)
}

/// Whether a word has a digit.
pub fn has_digit(word: &str) -> bool {
    word.bytes().any(|byte| byte.is_ascii_digit())
}

/// Alternating words and signs between them.
fn pieces(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?.is_alphanumeric();
        let end = rest.find(|c: char| c.is_alphanumeric() != first).unwrap_or(rest.len());
        let (piece, after) = rest.split_at(end);
        rest = after;
        Some((piece, first))
    })
}

/// Whether a word is one of hexadecimal digits that no person would count by: eight or more, letters
/// and digits both.
fn is_hash(word: &str) -> bool {
    let is_hex = word.bytes().all(|byte| byte.is_ascii_hexdigit());
    word.len() >= 8 && is_hex && has_digit(word) && word.bytes().any(|byte| byte.is_ascii_alphabetic())
}

fn put_without_numbers(word: &str, out: &mut String) {
    let mut in_number = false;
    for c in word.chars() {
        if !c.is_ascii_digit() {
            out.push(c);
        } else if !in_number {
            out.push('#');
        }
        in_number = c.is_ascii_digit();
    }
}

#[cfg(test)]
mod tests {
    use super::{stem, words};

    #[test]
    fn counters_dates_and_hashes_are_left_out_of_a_stem() {
        let same = |texts: &[&str]| texts.iter().map(|text| stem(text)).collect::<std::collections::BTreeSet<_>>().len() == 1;
        assert!(same(&["align_07", "align_12", "align_1234"]));
        assert!(same(&["run-2026-11-26", "run-2025-01-01"]));
        assert!(same(&["x-3f2b8c1e", "x-90ab4cde"]));
        assert_eq!(stem("step3.sh"), "step#.sh");
        assert_eq!((stem("deadbeef"), stem("")), ("deadbeef".to_owned(), String::new()), "a word without digits stays");
        assert!(!same(&["align_07", "sort_07"]));
        assert_eq!(words("--in=/data/s_07.bam π2").collect::<Vec<_>>(), ["in", "data", "s", "07", "bam", "π2"]);
    }
}

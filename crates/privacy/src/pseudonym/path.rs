//! Paths, file names and command lines.
//!
//! In goes text as a user wrote it; out comes the same with a code for each part that can hold a
//! name.
//!
//! * **Paths** part by part: `/`, empty parts, `.`, `..` and `~` stay, every other part is a code,
//!   and so the same part has the same code in whatever path it stands. Numbers in paths are
//!   replaced too: a part `1001` may be a user's id.
//! * **Extensions** that are on the list stay, up to three of them; the code is of the text before
//!   them, so that `a.bam` and `a.bam.bai` are seen to belong together. A job's name is treated
//!   like a file name, because it is one by default.
//! * **Command lines** word by word, several blanks become one: numbers of at most six digits stay,
//!   and so does `-x` (but not `-n1`, which could be read as a host's name); `--name=value` is a
//!   code for the name and one for the value; words with `/` are paths; everything else is one
//!   code.

use super::Pseudonymiser;
use super::code::Kind;
use super::words::extensions;

impl Pseudonymiser {
    /// A path or file name, part by part.
    pub(super) fn path_uncached(&self, path: &str) -> String {
        let mut out = String::with_capacity(path.len() + 24);
        for (at, part) in path.split('/').enumerate() {
            if at > 0 {
                out.push('/');
            }
            self.part(part, &mut out);
        }
        out
    }

    fn part(&self, part: &str, out: &mut String) {
        if matches!(part, "" | "." | ".." | "~") {
            out.push_str(part);
            return;
        }
        let (stem, extensions) = part.split_at(extensions(part));
        out.push_str(&self.code(Kind::Name, stem));
        out.push_str(extensions);
    }

    /// A command line, word by word.
    pub(super) fn words(&self, line: &str) -> String {
        let mut out = String::with_capacity(line.len() * 2);
        for word in line.split_whitespace() {
            if !out.is_empty() {
                out.push(' ');
            }
            match word.split_once('=') {
                Some((name, value)) if !name.contains('/') => {
                    self.option(name, &mut out);
                    out.push('=');
                    self.value(value, &mut out);
                }
                _ if word.starts_with('-') && !word.contains('/') => self.option(word, &mut out),
                _ => self.value(word, &mut out),
            }
        }
        out
    }

    /// `-x`, `--name`, or the name in `NAME=value`.
    fn option(&self, word: &str, out: &mut String) {
        let name = word.strip_prefix("--").or_else(|| word.strip_prefix('-')).unwrap_or(word);
        let dashes = &word[..word.len() - name.len()];
        let short = dashes.len() == 1 && name.len() == 1 && name.bytes().all(|b| b.is_ascii_alphabetic());
        if name.is_empty() || short || is_small_number(word) {
            out.push_str(word);
        } else {
            out.push_str(dashes);
            out.push_str(&self.code(Kind::Name, name));
        }
    }

    fn value(&self, word: &str, out: &mut String) {
        if is_small_number(word) {
            out.push_str(word);
        } else {
            for (at, part) in word.split('/').enumerate() {
                if at > 0 {
                    out.push('/');
                }
                self.part(part, out);
            }
        }
    }
}

/// A decimal number of at most six digits, such as `-4`, `0.25`, `1e-6`. A longer one may identify
/// a person: the number of a student, a patient.
fn is_small_number(word: &str) -> bool {
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let unsigned = |text: &str| text.strip_prefix(['+', '-']).unwrap_or(text).len();
    let word_without_sign = &word[word.len() - unsigned(word)..];
    let (mantissa, exponent) = match word_without_sign.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(&exponent[exponent.len() - unsigned(exponent)..])),
        None => (word_without_sign, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let count = word.bytes().filter(u8::is_ascii_digit).count();
    digits(whole)
        && digits(fraction)
        && !(whole.is_empty() && fraction.is_empty())
        && exponent.is_none_or(|exponent| !exponent.is_empty() && digits(exponent))
        && count <= 6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        for yes in ["0", "300", "-4", "+4", "0.25", ".5", "1.", "1e-6", "1E6", "999999"] {
            assert!(is_small_number(yes), "{yes}");
        }
        for no in ["", "-", "+", ".", "e5", "1e", "1e+", "1234567", "12.34567", "4G", "1_0", "--4", "1.2.3", "0x10", "٣"] {
            assert!(!is_small_number(no), "{no}");
        }
    }
}

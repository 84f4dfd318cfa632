//! Names without what distinguishes their instances.
//!
//! In goes the name of a job, task or script; out come its template (`align_*` of `align_S1`) and
//! its key, the constant words in lower case. Which parts are variable follows from the name alone:
//! numbers, dates, UUIDs, hashes, sample ids, words such as `sample` with a number, the name of the
//! user, what is in brackets, and the values of `key=value`.

use crate::words::{COUNTED, ENDINGS, GENERIC, NUMBERED, STAGES, is_in};

/// Number of characters of a name that are read.
const LONGEST: usize = 256;
/// Length from which hexadecimal digits are a hash.
const SHORTEST_HASH: usize = 7;
/// Length from which letters and digits in turns are a random id.
const SHORTEST_ID: usize = 16;

/// A name without its variable parts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Template {
    /// The name, with `*` for each variable part.
    pub text: String,
    /// The constant words in lower case, with `_` between; those without a meaning are left out
    /// where others remain.
    pub key: String,
    /// Whether no constant word describes work.
    pub is_generic: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece<'n> {
    Word(&'n str),
    /// A stage and its number, without zeros in front.
    Stage(String),
    Variable,
    Between(&'n str),
}

/// The template of a name.
pub fn of(name: &str, user: Option<&str>) -> Template {
    let whole: &str = name.char_indices().nth(LONGEST).map_or(name, |(end, _)| &name[..end]).trim();
    let (name, in_brackets) = without_brackets(without_ending(whole));
    let mut pieces = pieces(name, user);
    if in_brackets {
        pieces.push(Piece::Variable);
    }
    absorb(&mut pieces);
    let is_word = |piece: &&Piece<'_>| matches!(piece, Piece::Word(_) | Piece::Stage(_));
    let words: Vec<String> = pieces.iter().filter(is_word).map(|piece| word(piece).to_lowercase()).collect();
    let meaning: Vec<&str> = words.iter().map(String::as_str).filter(|word| !is_in(GENERIC, word)).collect();
    let is_generic = meaning.is_empty();
    let key = if is_generic { words.join("_") } else { meaning.join("_") };
    Template { text: text(&pieces), key, is_generic }
}

/// The template of a name that an engine declares: only its case is variable.
pub fn verbatim(name: &str) -> Template {
    let last = name.rsplit(':').next().filter(|last| !last.is_empty()).unwrap_or(name);
    let words: Vec<String> = last.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase).collect();
    let key = if words.is_empty() { last.to_owned() } else { words.join("_") };
    Template { text: name.to_owned(), key, is_generic: false }
}

fn without_ending(name: &str) -> &str {
    let mut name = name;
    while let Some(rest) = ENDINGS.iter().find_map(|ending| name.strip_suffix(ending)).filter(|rest| !rest.is_empty()) {
        name = rest;
    }
    name
}

/// The name before its first bracket, unless it begins with one.
fn without_brackets(name: &str) -> (&str, bool) {
    match name.find(['(', '[', '{']) {
        Some(at) if at > 0 && name.ends_with([')', ']', '}']) => (&name[..at], true),
        _ => (name, false),
    }
}

fn pieces<'n>(name: &'n str, user: Option<&str>) -> Vec<Piece<'n>> {
    let mut pieces = Vec::new();
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        let is_word = first.is_alphanumeric();
        let end = rest.find(|c: char| c.is_alphanumeric() != is_word).unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        rest = after;
        if !is_word {
            pieces.push(Piece::Between(run));
            continue;
        }
        if after.starts_with('=') {
            // Up to the next sign that ends a value.
            let value = after.find([',', ';', ' ', '\t', ':']).unwrap_or(after.len());
            rest = &after[value..];
            pieces.push(Piece::Variable);
            continue;
        }
        if user.is_some_and(|user| user.eq_ignore_ascii_case(run)) {
            pieces.push(Piece::Variable);
            continue;
        }
        push_run(run, &mut pieces);
    }
    pieces
}

/// Adds a run of letters and digits.
fn push_run<'n>(run: &'n str, pieces: &mut Vec<Piece<'n>>) {
    let has_digit = run.bytes().any(|byte| byte.is_ascii_digit());
    let has_letter = run.chars().any(char::is_alphabetic);
    if !has_digit || is_in(NUMBERED, run) {
        pieces.push(Piece::Word(run));
        return;
    }
    if !has_letter {
        let stage = match pieces.as_slice() {
            [.., Piece::Word(word), Piece::Between(_)] if is_in(STAGES, word) => Some((*word, 2)),
            _ => None,
        };
        match stage {
            Some((word, count)) => {
                pieces.truncate(pieces.len() - count);
                pieces.push(Piece::Stage(format!("{word}{}", number(run))));
            }
            None => pieces.push(Piece::Variable),
        }
        return;
    }
    let is_hex = run.len() >= SHORTEST_HASH && run.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_hex || run.len() >= SHORTEST_ID && turns(run) >= 4 {
        pieces.push(Piece::Variable);
        return;
    }
    let digits_at = run.find(|c: char| c.is_ascii_digit()).unwrap_or(run.len());
    let (letters, digits) = run.split_at(digits_at);
    if is_in(STAGES, letters) && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        pieces.push(Piece::Stage(format!("{letters}{}", number(digits))));
        return;
    }
    // Letters of an accession (SRR1234567) are capitals.
    let is_accession = letters.len() <= 4 && digits.len() >= 3 && letters.bytes().all(|byte| byte.is_ascii_uppercase());
    if is_accession {
        pieces.push(Piece::Variable);
        return;
    }
    let mut rest = run;
    while let Some(first) = rest.chars().next() {
        let is_digit = first.is_ascii_digit();
        let end = rest.find(|c: char| c.is_ascii_digit() != is_digit).unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        rest = after;
        let is_word = !is_digit && part.chars().count() >= 3 && !is_in(COUNTED, part);
        pieces.push(if is_word { Piece::Word(part) } else { Piece::Variable });
    }
}

fn number(digits: &str) -> &str {
    let trimmed = digits.trim_start_matches('0');
    if trimmed.is_empty() { "0" } else { trimmed }
}

/// How often letters and digits take turns.
fn turns(run: &str) -> usize {
    run.as_bytes().windows(2).filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit()).count()
}

/// Makes counted words before a variable part variable, if another word remains.
fn absorb(pieces: &mut [Piece<'_>]) {
    for at in 0..pieces.len() {
        let next = pieces[at + 1..].iter().find(|piece| !matches!(piece, Piece::Between(_)));
        let Piece::Word(word) = pieces[at] else { continue };
        let is_counted = is_in(COUNTED, word) && next == Some(&Piece::Variable);
        let others = pieces.iter().enumerate().any(|(other, piece)| other != at && matches!(piece, Piece::Word(_) | Piece::Stage(_)));
        if is_counted && others {
            pieces[at] = Piece::Variable;
        }
    }
}

fn word<'p>(piece: &'p Piece<'_>) -> &'p str {
    match piece {
        Piece::Word(word) => word,
        Piece::Stage(word) => word,
        Piece::Variable => "*",
        Piece::Between(between) => between,
    }
}

/// The pieces with one `*` for variable parts that follow each other.
fn text(pieces: &[Piece<'_>]) -> String {
    let mut text = String::new();
    let mut between = "";
    let mut after_variable = false;
    for piece in pieces {
        match piece {
            Piece::Between(signs) => between = signs,
            Piece::Variable if after_variable => between = "",
            piece => {
                text.push_str(between);
                text.push_str(word(piece));
                between = "";
                after_variable = *piece == Piece::Variable;
            }
        }
    }
    if text.is_empty() { "*".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn instances_of_one_step_have_one_template() {
        for (names, text, key) in [
            (&["align_S1", "align_S2", "align_07", "align_HG00096", "align_3f2b8c1e", "align_sample_12.sh"][..], "align_*", "align"),
            (&["align-2026-11-28", "align-2026-11-28T08:00:00"], "align-*", "align"),
            (&["sort-3f2b8c1e-90ab-4cde-8f01-23456789abcd"], "sort-*", "sort"),
            (&["align.sh", "align.slurm", "align"], "align", "align"),
            (&["SRR1234567_align", "S12_align.sh"], "*_align", "align"),
            (&["gen:sample=a", "gen:sample=b,lane=3"], "gen:*", "gen"),
            (&["TRAIN (gnn)", "TRAIN (gbm [2])"], "TRAIN *", "train"),
            (&["part[0]", "part[12]"], "part*", "part"),
            (&["blastall_ID000001"], "blastall_*", "blastall"),
            (&["run_align_3", "run_align_4"], "run_align_*", "align"),
            (&["align7", "align12"], "align*", "align"),
            (&["bowtie2_S1"], "bowtie2_*", "bowtie2"),
            (&["call_chr1", "call_chrX"][..1], "call_*", "call"),
        ] {
            for name in names {
                let found = of(name, None);
                assert_eq!((found.key.as_str(), found.is_generic), (key, false), "{name}");
                let shape = found.text.replace("**", "*");
                assert!(shape == text || shape.trim_end_matches([' ', '*']) == text.trim_end_matches([' ', '*']), "{name}: {shape}");
            }
        }
    }

    #[test]
    fn numbers_of_steps_remain() {
        assert_eq!(of("step_03.sh", None).key, "step3");
        assert_eq!(of("Stage3-merge", None).key, "stage3_merge");
        assert_ne!(of("step3", None).key, of("step4", None).key);
    }

    #[test]
    fn names_without_meaning_are_generic() {
        for name in ["run.sh", "job_17", "12345", "S1", "", "  ", "../..", "makeflow3", "my_job.slurm", "slurm_script", "*"] {
            assert!(of(name, None).is_generic, "{name}");
        }
        assert!(of("anna_17", Some("anna")).is_generic);
        assert_eq!(of("anna_align", Some("anna")).key, "align");
        assert_eq!(of("π2_δοκιμή", None).key, "δοκιμή");
    }

    #[test]
    fn what_engines_declare_stays() {
        assert_eq!(verbatim("QC:P3"), Template { text: "QC:P3".into(), key: "p3".into(), is_generic: false });
        assert_eq!(verbatim("").key, "");
        assert_ne!(verbatim("p1").key, verbatim("p2").key);
    }

    proptest! {
        #[test]
        fn any_name_has_a_template(name in any::<String>(), user in any::<String>()) {
            let once = of(&name, Some(&user));
            prop_assert!(!once.text.is_empty());
            prop_assert_eq!(once, of(&name, Some(&user)));
            verbatim(&name);
        }

        #[test]
        fn counters_make_no_difference(word in "[a-z]{5,9}", one in 0u32..9999, other in 0u32..9999) {
            prop_assert_eq!(of(&format!("{word}_{one}"), None), of(&format!("{word}_{other}"), None));
        }
    }
}

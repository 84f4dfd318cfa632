//! Programs that only read, unless their arguments specify otherwise.

use super::super::shell::Word;

/// Checks the arguments of `sort`, `uniq`, `awk` and `sed`.
pub(super) fn only_reads(program: &str, words: &[String]) -> Result<(), String> {
    let reads = match program {
        "sort" => !words.iter().any(|word| is_option_with(word, 'o', &["--o", "--c", "--f", "--t"])),
        "uniq" => words.iter().filter(|word| !word.starts_with('-') || *word == "-").count() < 2,
        "sed" => is_reading_sed(words),
        _ => is_reading_awk(words),
    };
    if reads { Ok(()) } else { Err(writes(program)) }
}

/// The same where arguments are known only when it runs: none of them can be an option or a program.
pub(super) fn only_reads_with_unknown(program: &str, words: &[Word]) -> Result<(), String> {
    let known = |word: &Word| word.literal.clone();
    match (program, words) {
        // `awk -v name=value 'program'`: what follows `-v` is a value.
        ("awk" | "gawk" | "mawk" | "nawk", [flag, _, rest @ ..]) if known(flag).as_deref() == Some("-v") => {
            match rest.iter().map(known).collect::<Option<Vec<_>>>() {
                Some(rest) => only_reads(program, &rest),
                None => only_reads_with_unknown(program, rest),
            }
        }
        _ => Err(format!(
            "the arguments of {program} are known only when it runs: with some it writes files or runs commands. Write them out"
        )),
    }
}

fn writes(program: &str) -> String {
    format!("{program} may write files or run commands with these arguments: it is understood where it only reads (docs/transform.md)")
}

/// Whether an option has a letter, alone or among others, or begins as one of these do.
fn is_option_with(word: &str, letter: char, long: &[&str]) -> bool {
    match word.strip_prefix('-') {
        Some(rest) if rest.starts_with('-') => long.iter().any(|option| word.starts_with(option)),
        Some(rest) => rest.contains(letter) || rest.contains('T'),
        None => false,
    }
}

fn is_reading_awk(words: &[String]) -> bool {
    let mut words = words.iter().map(String::as_str).peekable();
    loop {
        match words.next() {
            Some("-F" | "-v") => drop(words.next()),
            Some(option) if option.starts_with("-F") => {}
            Some(option) if option.starts_with('-') => return false,
            Some(program) => {
                let acts = ["system", "getline", "|", "@", "close"].iter().any(|word| program.contains(word));
                return !(acts || program.contains('>') && program.contains("print"));
            }
            None => return false,
        }
    }
}

fn is_reading_sed(words: &[String]) -> bool {
    let mut has_script = false;
    let mut words = words.iter().map(String::as_str);
    while let Some(word) = words.next() {
        match word {
            "-n" | "-E" | "-r" | "-s" | "-u" | "-nE" | "-nr" | "-En" | "-rn" => {}
            "-e" | "-ne" | "-Ee" | "-re" => match words.next() {
                Some(script) if is_reading_script(script) => has_script = true,
                _ => return false,
            },
            _ if word.starts_with('-') && word.len() > 1 => return false,
            _ if has_script => {}
            script if is_reading_script(script) => has_script = true,
            _ => return false,
        }
    }
    has_script
}

/// Addresses with `d`, `p`, `q`, `=`, or `s` and `y` without `w` and `e`; of a list with `;`.
fn is_reading_script(script: &str) -> bool {
    let mut rest = script.trim_start_matches([' ', ';', '\n']);
    while !rest.is_empty() {
        let Some(behind) = command(rest) else { return false };
        let behind = behind.trim_start_matches(' ');
        if !behind.is_empty() && !behind.starts_with([';', '\n']) {
            return false;
        }
        rest = behind.trim_start_matches([' ', ';', '\n']);
    }
    true
}

/// Returns the text after a command.
fn command(mut rest: &str) -> Option<&str> {
    // Addresses: numbers, `$`, `/…/`, with commas and `!`.
    loop {
        rest = match rest.chars().next()? {
            '/' => past(&rest[1..], '/')?,
            '0'..='9' | '$' | ',' | '!' | ' ' | '~' | '+' => &rest[1..],
            _ => break,
        };
    }
    let (name, behind) = rest.split_at(rest.chars().next()?.len_utf8());
    match name {
        "d" | "p" | "q" | "=" => Some(behind),
        "s" | "y" => {
            let mark = behind.chars().next().filter(|mark| mark.is_ascii_punctuation() && *mark != '\\')?;
            let flags = past(past(&behind[1..], mark)?, mark)?;
            let end = flags.find([';', '\n']).unwrap_or(flags.len());
            flags[..end].trim_end().chars().all(|flag| matches!(flag, 'g' | 'p' | 'i' | 'I' | '0'..='9')).then(|| &flags[end..])
        }
        _ => None,
    }
}

/// Returns the text after the next mark that no backslash precedes.
fn past(text: &str, mark: char) -> Option<&str> {
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => drop(chars.next()?),
            '\n' => return None,
            // Versions of sed disagree on a mark in brackets.
            '[' if text[at..].find(']').is_some_and(|end| text[at..at + end].contains(mark)) => return None,
            c if c == mark => return Some(&text[at + c.len_utf8()..]),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reads(program: &str, words: &[&str]) -> bool {
        only_reads(program, &words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>()).is_ok()
    }

    #[test]
    fn programs_that_only_read() {
        for (program, words) in [
            ("sort", &["-nrk2", "a"][..]),
            ("uniq", &["-c", "a"]),
            ("awk", &["{print $4}"]),
            ("awk", &["-F", ",", "-v", "a=1", "$3 > 2", "f"]),
            ("sed", &["s/.* //"]),
            ("sed", &["-n", "2p"]),
            ("sed", &["-n", "-e", "/a\\/b/,$p", "-e", "1!d", "f"]),
            ("sed", &["-E", "s|[^0-9]+||g;y/ab/cd/"]),
        ] {
            assert!(reads(program, words), "{program} {words:?}");
        }
        for (program, words) in [
            ("sort", &["-o", "job.sh", "a"][..]),
            ("sort", &["-no", "job.sh"]),
            ("sort", &["--output=job.sh"]),
            ("sort", &["--compress-program=./x"]),
            ("uniq", &["a", "job.sh"]),
            ("uniq", &["-", "job.sh"]),
            ("awk", &["{print > \"job.sh\"}"]),
            ("awk", &["BEGIN{system(\"rm job.sh\")}"]),
            ("awk", &["{print | \"sh\"}"]),
            ("awk", &["-f", "a.awk"]),
            ("awk", &["-i", "inplace", "1"]),
            ("sed", &["-i", "s/a/b/", "job.sh"]),
            ("sed", &["-n", "w job.sh"]),
            ("sed", &["s/a/b/w job.sh"]),
            ("sed", &["s/a/rm job.sh/e"]),
            ("sed", &["1e rm job.sh"]),
            ("sed", &["s/a/b/\nw job.sh"]),
            ("sed", &["-f", "x.sed"]),
            ("sed", &["--expression=w job.sh"]),
        ] {
            assert!(!reads(program, words), "{program} {words:?}");
        }
    }
}

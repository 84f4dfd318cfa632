//! Variables of a script that submits jobs, if their values are certain without running it.

use std::collections::{HashMap, HashSet};

use super::shell::{self, Simple, Word};
use super::slurm::{leaves_job, sbatch};

/// A value is no path beyond this length (`PATH_MAX`, limits.h(0p)).
const LONGEST_PATH: usize = 4096;

/// Variables with values that are known without running the script.
///
/// Such a variable is set by one plain assignment that the script always executes, and occurs
/// elsewhere only where it is used. No command of the script may set variables by names that are
/// not written in it.
pub(super) struct Constants {
    /// Place of the assignment and value, by variable.
    known: HashMap<String, (usize, String)>,
    /// Variables that hold options of sbatch, and nothing else, whenever they are set.
    options: HashSet<String>,
    /// Whether `IFS` is set for more than a `read`: then the words of a variable without quotes are
    /// unknown.
    splits: bool,
    /// Whether each command names the variables that it sets.
    sure: bool,
}

/// Variables that shells set by themselves.
const OF_THE_SHELL: [&str; 12] =
    ["_", "PWD", "OLDPWD", "REPLY", "MAPFILE", "OPTARG", "OPTIND", "RANDOM", "SECONDS", "LINENO", "COPROC", "PIPESTATUS"];

impl Constants {
    pub(super) fn new(text: &str, script: &shell::Script) -> Self {
        let named = named(text, script);
        let mut known = Self { known: HashMap::new(), options: HashSet::new(), splits: sets_separators(text, script, &named), sure: true };
        if script.commands.iter().any(|command| sets_what_is_not_named(command, text)) {
            known.sure = false;
            return known;
        }
        let mut optional: HashMap<&str, (usize, bool)> = HashMap::new();
        for command in &script.commands {
            for word in &command.assigned {
                let Some((name, value)) = text.get(word.start..word.end).and_then(|raw| raw.split_once('=')) else { continue };
                let is_array = value.starts_with('(');
                let alone = command.words.is_empty();
                if alone && !is_array && are_options(value) {
                    let (count, always) = optional.entry(name).or_default();
                    *count += 1;
                    *always |= command.plain;
                }
                if !alone || !command.plain || is_array || named.get(name) != Some(&1) || OF_THE_SHELL.contains(&name) {
                    continue;
                }
                let value = match is_own_directory(value) {
                    true => Some(".".to_owned()),
                    // Variables that are set later have no value yet.
                    false => shell::alone(value).and_then(|inside| known.value_at(value, &inside, word.start)),
                };
                if let Some(value) = value {
                    known.known.insert(name.to_owned(), (word.start, value));
                }
            }
        }
        let only = optional.into_iter().filter(|(name, (count, always))| *always && named.get(name) == Some(count));
        known.options = only.map(|(name, _)| name.to_owned()).collect();
        known
    }

    /// Whether each command names the variables that it sets.
    pub(super) fn are_sure(&self) -> bool {
        self.sure
    }

    /// Whether the shell may split values at other bytes than blanks.
    pub(super) fn splits(&self) -> bool {
        self.splits
    }

    /// Whether a word is a variable that holds options and nothing else.
    pub(super) fn is_options(&self, raw: &str) -> bool {
        let name = raw.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')).or_else(|| raw.strip_prefix('$'));
        name.is_some_and(|name| self.options.contains(name))
    }

    /// Returns the value of a variable that is a word of its own, without quotes, at a byte: the
    /// shell splits it.
    pub(super) fn split(&self, raw: &str, at: usize) -> Option<&str> {
        let name = raw.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')).or_else(|| raw.strip_prefix('$'))?;
        let (_, value) = self.known.get(name).filter(|(set, _)| *set < at && !self.splits)?;
        Some(value)
    }

    pub(super) fn value(&self, text: &str, word: &Word) -> Option<String> {
        self.value_at(text, word, word.start)
    }

    /// The value of a word of a text, with the variables that are known.
    fn value_at(&self, text: &str, word: &Word, at: usize) -> Option<String> {
        if word.literal.is_some() {
            return word.literal.clone();
        }
        let raw = text.get(word.start..word.end)?;
        let quoted = raw.strip_prefix('"').and_then(|raw| raw.strip_suffix('"'));
        let mut rest = quoted.unwrap_or(raw);
        let mut out = String::new();
        while let Some((before, after)) = rest.split_once('$') {
            out.push_str(before);
            let (name, next) = match after.strip_prefix('{') {
                Some(braced) => braced.split_once('}')?,
                None => after.split_at(after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(after.len())),
            };
            out.push_str(self.known.get(name).filter(|(set, _)| *set < at).map(|(_, value)| value)?);
            // Variables within variables double their values.
            if out.len() > LONGEST_PATH {
                return None;
            }
            rest = next;
        }
        out.push_str(rest);
        let plain = !out.contains(['"', '\'', '\\', '`', '*', '?', '[', '~', '{', '(']);
        let whole = quoted.is_some() || !self.splits && !out.contains(char::is_whitespace);
        (plain && whole).then(|| out.strip_prefix("./").map(str::to_owned).unwrap_or(out))
    }
}

/// Counts the occurrences of each name in a script, except those that use its value. Comments, and
/// arguments of `echo`, `printf` and `sbatch`, set nothing.
pub(super) fn named<'t>(text: &'t str, script: &shell::Script) -> HashMap<&'t str, usize> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let bytes = text.as_bytes();
    let says = |command: &&Simple| match command.program() {
        Some("echo") => true,
        Some("printf") => command.words.get(1).and_then(|word| word.literal.as_deref()).is_some_and(|format| !format.starts_with('-')),
        _ => sbatch(command).is_some(),
    };
    let said = script.commands.iter().filter(says).flat_map(|command| &command.words).flat_map(written_out);
    let mut passed: Vec<(usize, usize)> = said.chain(script.comments.iter().copied()).collect();
    passed.sort_unstable();
    let (mut sets, mut at, mut passed) = (HashMap::new(), 0, passed.into_iter().peekable());
    while at < bytes.len() {
        while let Some((_, end)) = passed.next_if(|(start, _)| *start <= at) {
            at = at.max(end);
        }
        let length = bytes[at..].iter().take_while(|byte| is_part(byte)).count();
        if length == 0 {
            at += 1;
            continue;
        }
        let (start, end) = (at, at + length);
        at = end;
        let is_asked = match bytes[..start] {
            [.., b'$'] => true,
            // `${name=…}` and `${name:=…}` set it.
            [.., b'$', b'{'] => !matches!(bytes[end..], [b'=', ..] | [b':', b'=', ..]),
            _ => false,
        };
        if !is_asked {
            *sets.entry(&text[start..end]).or_default() += 1;
        }
    }
    sets
}

/// The parts of a word that are not expanded.
fn written_out(word: &Word) -> Vec<(usize, usize)> {
    let mut expansions: Vec<(usize, usize)> = word.expansions.iter().map(|part| (part.start, part.end)).collect();
    expansions.sort_unstable();
    let (mut parts, mut at) = (Vec::new(), word.start);
    for (start, end) in expansions.into_iter().chain([(word.end, word.end)]) {
        if at < start {
            parts.push((at, start));
        }
        at = at.max(end);
    }
    parts
}

/// Whether a script sets `IFS` for more than one `read`, as `IFS=, read -r a b` does.
fn sets_separators(text: &str, script: &shell::Script, named: &HashMap<&str, usize>) -> bool {
    let reads = script.commands.iter().filter(|command| command.program() == Some("read"));
    let for_read = reads.flat_map(|command| &command.assigned).filter(|word| text[word.start..word.end].starts_with("IFS=")).count();
    named.get("IFS").is_some_and(|count| *count > for_read)
}

/// Whether a command may set variables with names that are not written in it, because it computes
/// them.
fn sets_what_is_not_named(command: &Simple, text: &str) -> bool {
    let words = &command.words;
    let Some(program) = words.first().and_then(|word| word.literal.as_deref()) else { return false };
    let is_open = |word: &Word| {
        let raw = text.get(word.start..word.end).unwrap_or_default();
        let name = raw.len() - raw.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_').len();
        word.literal.is_none() && !(name > 0 && raw[name..].starts_with(['=', '+', '[']))
    };
    match program {
        "read" | "mapfile" | "readarray" | "declare" | "typeset" | "local" | "export" | "readonly" | "getopts" | "unset" | "let" => {
            words[1..].iter().any(&is_open)
        }
        "printf" => words.get(1).is_some_and(|word| match &word.literal {
            Some(first) => first.starts_with("-v") && words[1..].iter().take(2).any(is_open),
            None => text.as_bytes().get(word.start) == Some(&b'$'),
        }),
        _ => false,
    }
}

/// Whether the value of an assignment is nothing, or one option of sbatch with its argument.
fn are_options(value: &str) -> bool {
    let value = value.trim_matches(['"', '\'']);
    let is_long = |rest: &str| rest.split_once('=').is_some_and(|(name, _)| leaves_job(name));
    // The shell takes it apart at blanks, also at those of arguments of the script.
    let is_one =
        !value.contains(char::is_whitespace) && !value.split('$').skip(1).any(|rest| rest.trim_start_matches('{').starts_with(is_argument));
    value.is_empty() || is_one && value.strip_prefix("--").is_some_and(is_long)
}

/// Whether a name after a dollar sign begins as that of an argument, or of all arguments.
fn is_argument(first: char) -> bool {
    first.is_ascii_digit() || matches!(first, '@' | '*')
}

/// Usual expressions for the directory of the script itself, which contains the workflow.
fn is_own_directory(value: &str) -> bool {
    let value = value.replace('"', "");
    let inside = |text: &str| -> Option<bool> {
        let rest = text.trim().strip_prefix("$(cd ")?;
        let (directory, rest) = rest.strip_prefix("-- ").unwrap_or(rest).split_once(')')?;
        let quiet = [" >/dev/null 2>&1", " > /dev/null 2>&1", " &>/dev/null", " &> /dev/null", " >/dev/null", " > /dev/null"];
        let rest = quiet.iter().find_map(|quiet| rest.strip_prefix(quiet)).unwrap_or(rest);
        Some(is_dirname(&format!("{directory})")) && matches!(rest.trim(), "&& pwd)" | "; pwd)" | "&& pwd -P)" | "; pwd -P)"))
    };
    inside(&value).unwrap_or(false)
}

/// `$(dirname "$0")` and its like.
pub(super) fn is_dirname(value: &str) -> bool {
    let value = value.replace('"', "");
    let of = value.strip_prefix("$(dirname ").and_then(|rest| rest.strip_suffix(')'));
    of.is_some_and(|of| {
        matches!(of.strip_prefix("-- ").unwrap_or(of), "$0" | "${0}" | "$BASH_SOURCE" | "${BASH_SOURCE}" | "${BASH_SOURCE[0]}")
    })
}

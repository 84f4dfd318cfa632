//! Words of a script that submits jobs that stay one word in every run of the script.
//!
//! The shell splits the value of a variable without quotes at blanks. `sbatch -t $M job.sh` submits
//! another script if `M` is `5 other.sh`, and also if it is empty.

use std::collections::{HashMap, HashSet};

use super::constants::{Constants, named};
use super::shell::{Expansion, Script, Simple, Word, assigned, is_name};
use super::slurm::sbatch;

/// Advice for a word that may become several.
pub(super) const QUOTE: &str = "without quotes its value can become several words or none: write double quotes around it";

pub(super) struct OneWord<'s> {
    text: &'s str,
    script: &'s Script,
    constants: &'s Constants,
    /// The variables that hold one word or nothing, whenever the script sets them.
    known: HashMap<&'s str, Held>,
    /// In which blocks a variable is set, and where first in each.
    set: HashMap<(&'s str, usize), usize>,
}

/// Value of a variable or a word that is one word.
#[derive(Debug, Clone, Copy, Default)]
struct Held {
    may_be_empty: bool,
    /// Whether it may be an answer of sbatch, “Submitted batch job 1”, of which the last word is
    /// used.
    answer: bool,
}

/// A word and its properties, on condition that these variables are known.
#[derive(Debug, Default)]
struct Judged<'s> {
    held: Held,
    uses: Vec<&'s str>,
}

/// A place at which a variable is set: its name, the block, the first byte, whether it is set whenever
/// the script comes past the block, and to what.
type Setting<'s> = (&'s str, usize, usize, bool, Option<Judged<'s>>);

impl<'s> OneWord<'s> {
    pub(super) fn new(text: &'s str, script: &'s Script, constants: &'s Constants) -> Self {
        let mut one = Self { text, script, constants, known: HashMap::new(), set: HashMap::new() };
        if !constants.are_sure() {
            return one;
        }
        let named = named(text, script);
        let mut settings: HashMap<&str, (usize, Held)> = HashMap::new();
        let mut users: HashMap<&str, Vec<&str>> = HashMap::new();
        let mut wrong: HashSet<&str> = HashSet::new();
        for (name, block, start, is_sure, judged) in one.settings() {
            let (count, held) = settings.entry(name).or_default();
            *count += 1;
            if is_sure {
                let first = one.set.entry((name, block)).or_insert(start);
                *first = start.min(*first);
            }
            let Some(judged) = judged else {
                wrong.insert(name);
                continue;
            };
            held.may_be_empty |= judged.held.may_be_empty;
            held.answer |= judged.held.answer;
            judged.uses.iter().for_each(|used| users.entry(used).or_default().push(name));
        }
        let is_other = |name: &&str| settings.get(*name).is_none_or(|(count, _)| named.get(*name) != Some(count));
        wrong.extend(settings.keys().chain(users.keys()).copied().filter(is_other));
        // An answer that is used whole is several words.
        let mut pending: Vec<&str> = wrong.iter().copied().collect();
        pending.extend(settings.iter().filter(|(_, (_, held))| held.answer).map(|(name, _)| *name));
        while let Some(name) = pending.pop() {
            pending.extend(users.remove(name).unwrap_or_default().into_iter().filter(|user| wrong.insert(user)));
        }
        one.known = settings.into_iter().filter(|(name, _)| !wrong.contains(name)).map(|(name, (_, held))| (name, held)).collect();
        one
    }

    /// Whether the shell makes one word of a word, and not none.
    pub(super) fn is_one(&self, word: &Word, command: &Simple) -> bool {
        if word.literal.is_some() {
            return true;
        }
        if word.pattern {
            return false;
        }
        !word.expansions.iter().any(|part| part.splits) || self.holds(word, command).is_some_and(|held| !held.may_be_empty)
    }

    /// Whether the shell makes one word of it, or none.
    pub(super) fn is_one_or_none(&self, word: &Word, command: &Simple) -> bool {
        self.is_one(word, command) || !word.pattern && self.holds(word, command).is_some()
    }

    /// Whether a word is longer than its first bytes in every run of the script.
    pub(super) fn is_longer(&self, word: &Word, command: &Simple, bytes: usize) -> bool {
        if let Some(value) = self.constants.value(self.text, word) {
            return value.len() > bytes;
        }
        let is_never_empty = |part: &Expansion| self.judged(part, word, command).is_some_and(|held| !held.may_be_empty);
        word.shape.get(bytes..).is_some_and(has_text) || word.expansions.iter().any(is_never_empty)
    }

    fn holds(&self, word: &Word, command: &Simple) -> Option<Held> {
        if self.constants.splits() {
            return None;
        }
        if let Some(value) = self.constants.value(self.text, word) {
            return Some(Held { may_be_empty: value.is_empty(), answer: false });
        }
        let mut held = Held { may_be_empty: !has_text(&word.shape) && word.expansions.iter().all(|part| part.splits), answer: false };
        for part in word.expansions.iter().filter(|part| part.splits) {
            held.may_be_empty &= self.judged(part, word, command)?.may_be_empty;
        }
        Some(held)
    }

    /// Returns the value of a part of a word, if each of its variables has been set before.
    fn judged(&self, part: &Expansion, word: &Word, command: &Simple) -> Option<Held> {
        let Judged { mut held, uses } = self.part(part, command.block)?;
        for name in uses {
            let known = self.known.get(name).filter(|known| !known.answer || held.answer)?;
            held.may_be_empty |= known.may_be_empty;
            let is_set = |block| self.set.get(&(name, block)).is_some_and(|start| *start < word.start);
            if !self.script.blocks(command.block).any(is_set) {
                return None;
            }
        }
        Some(held)
    }

    /// Each place at which a variable is set.
    fn settings(&self) -> Vec<Setting<'s>> {
        let mut settings = Vec::new();
        for command in &self.script.commands {
            let declares = matches!(command.program(), Some("export" | "readonly" | "declare" | "typeset" | "local"));
            for word in command.assigned.iter().chain(command.words.iter().skip(1).filter(|_| declares)) {
                let raw = &self.text[word.start..word.end];
                let Some(name) = assigned(raw) else {
                    // `export name` leaves the value as it is.
                    if matches!(command.program(), Some("export" | "readonly")) && is_name(raw.as_bytes()) {
                        settings.push((raw, command.block, word.start, false, Some(Judged::default())));
                    }
                    continue;
                };
                let judged = match raw[name.len()..].strip_prefix('=') {
                    Some(array) if array.starts_with('(') => self.fields(&command.values, command.block),
                    Some(_) => self.value(word, command.block),
                    None => None,
                };
                let stays = command.words.is_empty() || declares;
                settings.push((name, command.block, word.start, command.sure && stays, judged.filter(|_| stays)));
            }
        }
        settings.extend(self.calculated());
        for each in &self.script.loops {
            let outer = self.script.blocks(each.block).nth(1).unwrap_or_default();
            settings.push((&each.name, each.block, each.start, true, self.fields(&each.values, outer)));
        }
        settings
    }

    /// The variables of calculations: what these set is a number.
    fn calculated(&self) -> impl Iterator<Item = Setting<'s>> + '_ {
        self.script.commands.iter().flat_map(move |command| {
            let redirected = command.redirections.iter().map(|to| &to.word);
            let words = command.words.iter().chain(&command.assigned).chain(&command.values).chain(redirected);
            let inside = words.flat_map(|word| &word.expansions).filter_map(|part| Some((part.start, self.raw(part).strip_prefix("$((")?)));
            inside.filter(|(_, text)| !text.contains(['$', '`'])).flat_map(move |(start, text)| {
                let names = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|name| is_name(name.as_bytes()));
                names.map(move |name| (name, command.block, start, false, Some(Judged::default())))
            })
        })
    }

    /// Judges an assigned value, which the shell does not split.
    fn value(&self, word: &Word, block: usize) -> Option<Judged<'s>> {
        let (_, shape) = word.shape.split_once('=')?;
        if !is_plain(shape) || shape.matches('$').count() != word.expansions.len() {
            return None;
        }
        let mut all = Judged { held: Held { may_be_empty: !has_text(shape), answer: false }, uses: Vec::new() };
        for part in &word.expansions {
            let judged = self.part(part, block)?;
            // Of an answer the last word is asked for here.
            let is_last_word = judged.held.answer && !judged.uses.is_empty();
            all.held.answer |= judged.held.answer && !is_last_word;
            all.held.may_be_empty &= judged.held.may_be_empty || !judged.uses.is_empty();
            all.uses.extend(judged.uses.into_iter().filter(|_| !is_last_word));
        }
        Some(all)
    }

    /// Judges the words of a loop or an array: each is one word, and none is empty.
    fn fields(&self, words: &[Word], block: usize) -> Option<Judged<'s>> {
        let mut all = Judged::default();
        for word in words {
            if word.pattern || !is_plain(&word.shape) || word.shape.is_empty() {
                return None;
            }
            if word.literal.is_none() && word.shape.matches('$').count() != word.expansions.len() {
                return None;
            }
            for part in &word.expansions {
                let raw = self.raw(part);
                let is_taken_apart =
                    part.splits && (raw.starts_with("$(") || raw.starts_with('`')) && is_plain(raw.trim_start_matches('$'));
                let listed = || self.constants.split(raw, part.start).is_some_and(|value| !value.contains(PATTERN));
                if matches!(raw, "{" | "}") || is_taken_apart && !self.constants.splits() || part.splits && listed() {
                    continue;
                }
                if let Some(name) =
                    raw.strip_prefix("${").and_then(|rest| rest.strip_suffix("[@]}")).filter(|name| is_name(name.as_bytes()))
                {
                    all.uses.push(name);
                    all.held.may_be_empty = true;
                    continue;
                }
                let judged = self.part(part, block)?;
                if judged.held.answer {
                    return None;
                }
                all.uses.extend(judged.uses);
                all.held.may_be_empty |= !part.splits;
            }
        }
        (!words.is_empty()).then_some(all)
    }

    fn raw(&self, part: &Expansion) -> &'s str {
        self.text.get(part.start..part.end).unwrap_or_default()
    }

    /// A part of a word: whether its value has no blanks and no pattern.
    fn part(&self, part: &Expansion, block: usize) -> Option<Judged<'s>> {
        let raw = self.raw(part);
        if raw.starts_with("$((") || matches!(raw, "$#" | "$?" | "$$") || raw.len() > 4 && raw.starts_with("${#") {
            return Some(Judged::default());
        }
        if raw.starts_with("$(") || raw.starts_with('`') {
            return self.output(part, block).map(|answer| Judged { held: Held { may_be_empty: true, answer }, uses: Vec::new() });
        }
        let inside = raw.strip_prefix('$')?;
        let Some(inside) = inside.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) else {
            return is_name(inside.as_bytes()).then(|| Judged { held: Held::default(), uses: vec![inside] });
        };
        let end = inside.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(inside.len());
        let (name, rest) = inside.split_at(end);
        let cuts = rest.starts_with(['#', '%']);
        let is_substring = rest.strip_prefix(':').is_some_and(|from| from.starts_with(|c: char| c.is_ascii_digit()));
        let is_element = rest.starts_with('[') && rest.ends_with(']') && !matches!(rest, "[*]" | "[@]");
        (is_name(name.as_bytes()) && (rest.is_empty() || cuts || is_substring || is_element)).then(|| Judged {
            held: Held { may_be_empty: !rest.is_empty(), answer: matches!(rest, "##* " | "##*[^0-9]") },
            uses: vec![name],
        })
    }

    /// Whether commands print one word at most, or, `true`, one answer of sbatch.
    fn output(&self, part: &Expansion, block: usize) -> Option<bool> {
        let from = self.script.commands.partition_point(|command| command.start < part.start);
        let to = self.script.commands.partition_point(|command| command.start < part.end);
        let first = self.script.commands[..to].get(from)?;
        if self.script.blocks(first.block).nth(1) != Some(block) {
            return None;
        }
        let raw = self.raw(part);
        if to - from > 1 && (raw.contains([';', '\n', '&']) || raw.contains("||")) {
            return None;
        }
        let last = self.script.commands[from..to].iter().rfind(|command| command.block == first.block)?;
        let words: Option<Vec<&str>> = last.words.iter().map(|word| word.literal.as_deref()).collect();
        if let Some(options) = sbatch(last) {
            return (from + 1 == to || raw.matches('|').count() == 0)
                .then(|| !options.iter().any(|word| word.literal.as_deref() == Some("--parsable")));
        }
        let is_one = match words?.as_slice() {
            ["wc", "-l" | "-c" | "-w"] | ["nproc" | "whoami" | "hostname"] | ["id", "-u" | "-un"] => true,
            ["date", format] => format.starts_with('+') && !format.contains([' ', '\t', 'c', 'r', 'x', 'X', 'E', 'n', 't', '*', '?', '[']),
            words => sbatch(first).is_some() && raw.matches('|').count() == 1 && is_number_of_answer(words),
        };
        is_one.then_some(false)
    }
}

/// The usual ways to take the number out of “Submitted batch job 1”.
fn is_number_of_answer(words: &[&str]) -> bool {
    match words {
        ["cut", "-d ", "-f4"] | ["cut", "-d ", "-f", "4"] | ["cut", "-d", " ", "-f4"] | ["cut", "-d", " ", "-f", "4"] => true,
        ["cut", "-f4", "-d "] | ["cut", "-f", "4", "-d", " "] | ["cut", "-f4", "-d", " "] | ["cut", "-f", "4", "-d "] => true,
        ["awk" | "gawk" | "mawk" | "nawk", program] => {
            matches!(program.replace([' ', ';'], "").as_str(), "{print$4}" | "{print$NF}" | "{print($4)}" | "{print($NF)}")
        }
        ["sed", script] => matches!(*script, "s/.* //" | "s/^.* //" | "s/[^0-9]*//g" | "s/[^0-9]//g" | "s/Submitted batch job //"),
        ["sed", "-E" | "-r", script] => matches!(*script, "s/.* //" | "s/[^0-9]+//g" | "s/[^0-9]*//g"),
        ["tr", "-dc" | "-cd", digits] => matches!(*digits, "0-9" | "[0-9]" | "[:digit:]"),
        _ => false,
    }
}

const PATTERN: [char; 3] = ['*', '?', '['];

/// Whether literal text has no blanks and no patterns.
fn is_plain(text: &str) -> bool {
    match text.strip_prefix('(').or_else(|| text.strip_prefix('`')) {
        // Commands have blanks between their words, their output is taken apart.
        Some(commands) => !commands.contains(PATTERN),
        None => !text.contains(char::is_whitespace) && !text.contains(PATTERN) && !text.contains('\\'),
    }
}

/// Whether a shape has a part that is written out.
fn has_text(shape: &str) -> bool {
    shape.contains(|c: char| c != '$')
}

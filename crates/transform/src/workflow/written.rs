//! Which files a script that submits jobs may write itself.
//!
//! Slurm copies a job script when it is submitted; the layers read it when the job runs. So one that
//! the script may write between two calls of sbatch is not for layers. A file may be written where its
//! name stands in anything but what is known to read only, or where a redirection goes to a file whose
//! name is known when it runs only, and may be this one.

use std::collections::HashMap;

use super::constants::Constants;
use super::shell::{Script, Simple, Word};
use super::slurm::sbatch;

/// Commands that write to no file whose name they are given.
const READERS: [&str; 14] = ["echo", "printf", "[", "test", "[[", "ls", "cat", "wc", "grep", "head", "tail", "exit", "chmod", "shellcheck"];

pub(super) struct Written<'t> {
    text: &'t str,
    /// What reads only, from byte to byte, sorted.
    passed: Vec<(usize, usize)>,
    /// Values of the other words that name variables, with their places.
    values: Vec<(String, usize)>,
    /// How the names end of files that are written and whose names are not known.
    endings: Vec<(&'t str, usize)>,
    found: HashMap<String, Option<usize>>,
}

impl<'t> Written<'t> {
    pub(super) fn of(text: &'t str, script: &Script, constants: &Constants) -> Self {
        let (mut passed, mut values, mut endings) = (script.comments.clone(), Vec::new(), Vec::new());
        for command in &script.commands {
            let reads = sbatch(command).is_some()
                || is_sbatch_by_name(command, text)
                || command.program().is_some_and(|program| READERS.contains(&program));
            passed.extend(command.assigned.iter().filter(|_| command.plain).map(|word| (word.start, word.end)));
            for word in &command.words {
                if reads && !word.redirected {
                    passed.push((word.start, word.end));
                    continue;
                }
                match (constants.value(text, word), &word.literal) {
                    (Some(value), None) => values.push((value, word.start)),
                    (None, _) if is_written(command, word, text) => endings.push((ending(&text[word.start..word.end]), word.start)),
                    _ => {}
                }
            }
        }
        passed.sort_unstable();
        Self { text, passed, values, endings, found: HashMap::new() }
    }

    /// Where the script may write a file, where it may.
    pub(super) fn by(&mut self, path: &str) -> Option<usize> {
        if let Some(known) = self.found.get(path) {
            return *known;
        }
        let by = self.search(path);
        self.found.insert(path.to_owned(), by);
        by
    }

    fn search(&self, path: &str) -> Option<usize> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
        let is_whole = |at: usize| !is_part(self.text[..at].chars().next_back()) && !is_part(self.text[at + name.len()..].chars().next());
        let is_passed = |at: usize| {
            // Words hold other words: `$(…)` in them is a command of its own.
            let begun = &self.passed[..self.passed.partition_point(|(start, _)| *start <= at)];
            begun.iter().rev().take(NESTED).any(|(_, end)| at < *end)
        };
        let named = self.text.match_indices(name).map(|(at, _)| at).find(|at| is_whole(*at) && !is_passed(*at));
        let by_value = || self.values.iter().find(|(value, _)| value.ends_with(name)).map(|(_, at)| *at);
        let by_ending = || self.endings.iter().find(|(ending, _)| path.ends_with(ending)).map(|(_, at)| *at);
        named.or_else(by_value).or_else(by_ending)
    }
}

/// How many words around a place are looked at.
const NESTED: usize = 64;

/// `$S job.sh` where `S="sbatch …"` stands in the script.
fn is_sbatch_by_name(command: &Simple, text: &str) -> bool {
    let first = command.words.first().and_then(|word| text.get(word.start..word.end)).and_then(|raw| raw.strip_prefix('$'));
    first.is_some_and(|name| ["", "\"", "'"].iter().any(|quote| text.contains(&format!("\n{name}={quote}sbatch"))))
}

/// Whether a word names a file that its command writes.
fn is_written(command: &Simple, word: &Word, text: &str) -> bool {
    if word.redirected {
        return text[..word.start].trim_end_matches([' ', '\t', '|']).ends_with('>');
    }
    match command.program() {
        Some("cp" | "mv" | "ln" | "install" | "rsync") => command.words.last() == Some(word),
        Some("tee") => true,
        Some("sed") => command.words.iter().any(|word| word.literal.as_deref().is_some_and(|text| text.starts_with("-i"))),
        _ => false,
    }
}

/// What stands behind the last variable or substitution of a word.
fn ending(raw: &str) -> &str {
    let raw = raw.trim_end_matches(['"', '\'']);
    let last = raw.rsplit(['$', ')', '}', '`', '*', '?', ']']).next().unwrap_or(raw);
    let is_name = raw[..raw.len() - last.len()].ends_with('$');
    let end = if is_name { last.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_') } else { last };
    end.trim_start_matches(['"', '\''])
}

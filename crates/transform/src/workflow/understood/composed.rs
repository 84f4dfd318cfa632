//! Names that a script composes from variables alone: `$x$y`, without any literal part.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::super::shell::{Script, Word, assigned, is_name};
use super::names;

/// Maximum number of settings of a variable that are distinguished.
const SETTINGS: usize = 64;
/// Maximum number of composed names of a script.
pub(super) const NAMES: usize = 1000;

/// A possible value of a part of a name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Part {
    /// Its text, with `$` for parts that are known only when the script runs.
    shape: String,
    /// Whether it contains text of the script, even if the shape does not show it.
    has_text: bool,
}

/// The composed names of a script, by their text in it.
#[derive(Default)]
pub(super) struct Composed(BTreeMap<String, (usize, Vec<Vec<Part>>)>);

/// Possible values of the variables of a script.
pub(super) struct Values<'c> {
    text: &'c str,
    settings: HashMap<&'c str, Vec<&'c str>>,
    /// The variables that contain text of the script.
    with_text: HashSet<&'c str>,
}

impl<'c> Values<'c> {
    pub(super) fn of(text: &'c str, script: &'c Script) -> Self {
        let mut set: Vec<(&str, &str, &Word)> = Vec::new();
        for command in &script.commands {
            for word in command.assigned.iter().chain(command.words.iter().skip(1)) {
                let Some(name) = text.get(word.start..word.end).and_then(assigned) else { continue };
                let value = word.names.split_once('=').map_or("", |(_, value)| value);
                set.push((name, value, word));
                set.extend(command.values.iter().filter(|_| value.starts_with('(')).map(|element| (name, &*element.names, element)));
            }
        }
        for each in &script.loops {
            set.extend(each.values.iter().map(|word| (&*each.name, &*word.names, word)));
        }
        let mut values = Self { text, settings: HashMap::new(), with_text: HashSet::new() };
        let mut users: HashMap<&str, Vec<&str>> = HashMap::new();
        for (name, value, word) in &set {
            let settings = values.settings.entry(*name).or_default();
            if settings.len() <= SETTINGS && !settings.contains(value) {
                settings.push(*value);
            }
            for used in word.expansions.iter().filter_map(|part| variable(text.get(part.start..part.end)?)) {
                users.entry(used.0).or_default().push(*name);
            }
        }
        let mut pending: Vec<&str> = set.iter().filter(|(_, value, _)| names::has_text(value)).map(|(name, _, _)| *name).collect();
        while let Some(name) = pending.pop() {
            if values.with_text.insert(name) {
                pending.extend(users.remove(name).unwrap_or_default());
            }
        }
        values
    }

    fn part(&self, raw: &str) -> Vec<Part> {
        let open = |has_text| vec![Part { shape: "$".to_owned(), has_text }];
        let Some((name, is_whole)) = variable(raw) else { return open(false) };
        let has_text = self.with_text.contains(name);
        match self.settings.get(name) {
            Some(settings) if is_whole && settings.len() <= SETTINGS => {
                settings.iter().map(|shape| Part { shape: (*shape).to_owned(), has_text }).collect()
            }
            _ => open(has_text),
        }
    }
}

/// Returns the variable of `$x` or `${x…}`, and whether the expansion is its whole value.
fn variable(raw: &str) -> Option<(&str, bool)> {
    let inside = raw.strip_prefix('$')?;
    let (inside, is_braced) = inside.strip_prefix('{').map_or((inside, false), |rest| (rest, true));
    let end = inside.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(inside.len());
    let (name, rest) = inside.split_at(end);
    is_name(name.as_bytes()).then_some((name, rest == if is_braced { "}" } else { "" }))
}

impl Composed {
    /// Adds the composed names in a word. Returns false if there are too many of them.
    pub(super) fn add(&mut self, word: &Word, values: &Values<'_>) -> bool {
        let shape = word.shape.split_once('=').filter(|(name, _)| is_name(name.as_bytes())).map_or(&*word.shape, |(_, value)| value);
        if word.expansions.len() < 2 || !shape.contains("$$") || shape.matches('$').count() != word.expansions.len() {
            return true;
        }
        let mut expansions = word.expansions.iter();
        for name in shape.split('/') {
            let raw: Vec<&str> =
                expansions.by_ref().take(name.matches('$').count()).filter_map(|part| values.text.get(part.start..part.end)).collect();
            if raw.len() < 2 || names::has_text(name) || self.0.contains_key(&raw.concat()) {
                continue;
            }
            let parts: Vec<Vec<Part>> = raw.iter().map(|raw| values.part(raw)).collect();
            if parts.iter().flatten().any(|part| part.has_text) {
                self.0.insert(raw.concat(), (word.start, parts));
            }
        }
        self.0.len() <= NAMES
    }

    /// Returns the first of them that can be a file of the directory, and where it is.
    pub(super) fn first(&self, file: &str) -> Option<(usize, String)> {
        let file: Vec<char> = file.chars().collect();
        let found = self.0.iter().filter(|(_, (_, parts))| can_be(parts, &file)).min_by_key(|(_, (at, _))| *at);
        found.map(|(raw, (at, _))| (*at, names::shown(raw)))
    }
}

/// Whether a sequence of parts can be a name, with text of the script in it.
fn can_be(parts: &[Vec<Part>], file: &[char]) -> bool {
    // How much of the name the parts so far can be: without text of the script, and with it.
    let mut reached = vec![[false; 2]; file.len() + 1];
    reached[0][0] = true;
    for part in parts {
        let mut next = vec![[false; 2]; file.len() + 1];
        for from in 0..=file.len() {
            for is_text in 0..2 {
                if !reached[from][is_text] {
                    continue;
                }
                for one in part {
                    for to in from..=file.len() {
                        if names::is_part(&one.shape, &file[from..to]) {
                            next[to][is_text.max(usize::from(one.has_text))] = true;
                        }
                    }
                }
            }
        }
        reached = next;
    }
    reached[file.len()][1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_put_together_of_all_that_variables_hold() {
        let part = |shapes: &[&str]| -> Vec<Part> {
            shapes.iter().map(|shape| Part { shape: (*shape).to_owned(), has_text: names::has_text(shape) }).collect()
        };
        let can = |parts: &[&[&str]], file: &str| {
            can_be(&parts.iter().map(|shapes| part(shapes)).collect::<Vec<_>>(), &file.chars().collect::<Vec<_>>())
        };
        assert!(can(&[&["job"], &["8.sh", "9.sh"]], "job9.sh"));
        assert!(can(&[&["a", "job"], &["$"], &[".sh"]], "job9.sh"));
        assert!(can(&[&["./job"], &["9.sh"]], "job9.sh"));
        assert!(can(&[&["$/job"], &["9.sh"]], "job9.sh"));
        assert!(!can(&[&["job"], &["8.sh"]], "job9.sh"));
        assert!(!can(&[&["jobs/"], &["9.sh"]], "jobs9.sh"));
        assert!(!can(&[&["$"], &["$"]], "job9.sh"), "nothing of it is text of the script");
    }
}

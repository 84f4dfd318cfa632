//! Lists of commands, one a line: whether each line is a command by itself.
//!
//! A script without `#!` looks like such a list. Each of its lines would run in a shell of its own,
//! without the variables, the directory and the functions of the lines before it.

use std::collections::HashSet;

use super::shell::{self, Dialect, Script, Simple, assigned};
use super::slurm::sbatch;
use crate::error::{Fault, Place};

/// Commands that change the shell for the commands after them.
const CHANGING: [&str; 25] = [
    "cd",
    "pushd",
    "popd",
    "export",
    "unset",
    "set",
    "shopt",
    "alias",
    "source",
    ".",
    "eval",
    "exec",
    "exit",
    "return",
    "trap",
    "umask",
    "ulimit",
    "readonly",
    "declare",
    "typeset",
    "local",
    "read",
    "mapfile",
    "readarray",
    "module",
];
/// Words that occur within a longer construct.
const PARTS: [&str; 13] = ["then", "else", "elif", "fi", "do", "done", "esac", "in", "}", ")", ";;", "&&", "||"];

const HINT: &str = "each line of this file is a command by itself. Where it is a script, it begins with #!/bin/bash; else put what belongs \
                    together on one line, in brackets: (cd d && tool)";

/// Refuses a list with a line that depends on others.
pub(super) fn check<'t>(lines: impl Iterator<Item = (u32, &'t str)>) -> Result<(), Fault> {
    let mut set: HashSet<String> = HashSet::new();
    for (line, text) in lines {
        let fault = |at: usize, why: &str| {
            let column = text.get(..at).map_or(0, |before| before.chars().count());
            Fault::new(Place { line, column: u32::try_from(column + 1).unwrap_or(u32::MAX) }, format!("{why}, but {HINT}"))
        };
        if let Some((at, name)) = mentioned(text).find(|(_, name)| set.contains(*name)) {
            return Err(fault(at, &format!("the variable {name} is set on a line before")));
        }
        let first = text.trim_start();
        let at = text.len() - first.len();
        let word = first.split([' ', '\t', ';']).next().unwrap_or_default();
        if PARTS.contains(&word) {
            return Err(fault(at, &format!("“{word}” belongs to the lines before")));
        }
        match shell::script(text, Dialect::Bash) {
            Ok(script) => {
                if let Some((at, why)) = changes(&script) {
                    return Err(fault(at, &why));
                }
                set.extend(variables(text, &script));
            }
            Err(unclear) if unclear.unfinished => return Err(fault(unclear.at, &unclear.why)),
            // A command that is not understood is nevertheless one.
            Err(_) if CHANGING.contains(&word) || assigned(word).is_some() && !first.contains(' ') || word == "sbatch" => {
                return Err(fault(at, &format!("“{}” is for the lines behind it", word.chars().take(60).collect::<String>())));
            }
            Err(_) => {}
        }
    }
    Ok(())
}

/// Returns the effect of a line on the lines after it, with its place.
fn changes(script: &Script) -> Option<(usize, String)> {
    if let Some(function) = script.functions.first() {
        return Some((function.start, format!("the function {} is for the lines behind it", function.name)));
    }
    let own = || script.commands.iter().filter(|command| command.shell == 0);
    let changing = |command: &&Simple| command.program().is_some_and(|program| CHANGING.contains(&program)) || sbatch(command).is_some();
    if let Some(command) = script.commands.iter().filter(|command| command.shell == 0 || sbatch(command).is_some()).find(changing) {
        let program = command.program().unwrap_or_default();
        return Some((command.start, format!("“{program}” is for the lines behind it")));
    }
    let sets_only = own().next().is_some() && own().all(|command| command.words.is_empty() && !command.assigned.is_empty());
    sets_only.then(|| (script.commands[0].start, "the variable is for the lines behind it".to_owned()))
}

/// The variables that a line sets in its own shell.
fn variables(text: &str, script: &Script) -> Vec<String> {
    let own = script.commands.iter().filter(|command| command.shell == 0 && command.words.is_empty());
    let names = own.flat_map(|command| &command.assigned).filter_map(|word| assigned(&text[word.start..word.end]));
    names.map(str::to_owned).chain(script.loops.iter().map(|each| each.name.clone())).collect()
}

/// The variables for which a text asks, with their places.
fn mentioned(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.match_indices('$').map(|(at, _)| {
        let rest = text[at + 1..].trim_start_matches('{');
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        (at, &rest[..end])
    })
}

//! Snakemake: Snakefiles with rules that run their shell commands through the layers.
//!
//! Snakemake passes the shell command of a rule, with the names of files in it, to the program that
//! the rule's resource `shell_exec` names, as `PROGRAM -c COMMAND`. The new Snakefile is the old
//! one, byte for byte, and at its end sets this resource of each selected rule to a program of
//! flowmine. (A Snakefile that includes the old one would lose its default target.) The program's
//! name is `bash`, because Snakemake puts `set -euo pipefail` before commands for a shell with that
//! name. The command and its files are known only when a job runs: the command is the task's
//! argument.
//!
//! Files that are included by a name in quotes are read too, each once, as Snakemake does. Rules without a shell command,
//! without a name, and in shadow directories stay as they are, and are noted.

use std::collections::BTreeSet;

use super::files::{Named, not_too_many};
use super::{Entry, Form, Note, Workflow};
use crate::algebra::{Command, Layer, Parts, Task};
use crate::error::{Fault, Place};
use crate::jx::quote_json;
use crate::script::Script;

/// Parts of the Snakefile that are written again.
pub(super) struct Snakemake {
    text: String,
    rules: Vec<String>,
}

/// The task's command is its argument, and runs as Snakemake would have run it.
const COMMAND: &str =
    "eval \"set -- ${FLOWMINE_ARGS?a layer does not hand the command of the job down}\"; unset FLOWMINE_ARGS; exec \"$@\"";

/// Maximum depth of files that include each other.
const DEPTH: usize = 16;

pub(super) fn read(file: &str, text: &str, files: &Named<'_>) -> Result<Workflow, Fault> {
    let mut found = Found::default();
    found.look(None, text, files)?;
    if found.tasks.is_empty() {
        let message = found.notes.first().map_or("no rule of this Snakefile has a shell command", |note| &note.message);
        return Err(Fault::new(found.notes.first().map_or(Place { line: 1, column: 1 }, |note| note.at), message));
    }
    let form = Form::Snakemake(Snakemake { text: text.to_owned(), rules: found.rules });
    Ok(Workflow { file: file.to_owned(), tasks: found.tasks, notes: found.notes, form })
}

/// A rule, while its lines are read.
struct Open {
    name: String,
    indent: usize,
    at: Place,
    shell: bool,
    other: Option<&'static str>,
}

/// A file that the workflow includes.
#[derive(Clone, Copy)]
struct Included<'f> {
    /// Its name as seen from the workflow.
    file: &'f str,
    /// The place in the workflow's own file from which it, or what includes it, is included.
    from: Place,
    /// Depth of the file among files that include each other.
    depth: usize,
}

#[derive(Default)]
struct Found {
    rules: Vec<String>,
    tasks: Vec<Entry>,
    notes: Vec<Note>,
    /// Names of the files that were included.
    included: BTreeSet<String>,
}

impl Found {
    /// Reads the rules of a file, which is the workflow itself where it is not `included`.
    fn look(&mut self, included: Option<Included<'_>>, text: &str, files: &Named<'_>) -> Result<(), Fault> {
        let mut open: Option<Open> = None;
        let mut scanner = Scanner { text: text.as_bytes(), at: 0, line: 1 };
        while scanner.at < text.len() {
            let (start, line) = (scanner.at, scanner.line);
            scanner.logical_line();
            let words = text[start..scanner.at].trim_start_matches([' ', '\t']);
            let indent = text[start..scanner.at].len() - words.len();
            if words.trim().is_empty() || words.starts_with('#') {
                continue;
            }
            let at = Place { line, column: u32::try_from(indent + 1).unwrap_or(u32::MAX) };
            not_too_many(included.map_or(at, |of| of.from), self.tasks.len() + self.notes.len())?;
            if open.as_ref().is_some_and(|open| indent <= open.indent) {
                open.take().into_iter().for_each(|open| self.close(open, included));
            }
            if let Some(joins) = ["pipe", "service"].into_iter().find(|name| calls(words, name)) {
                let (at, file) = included.map_or((at, String::new()), |of| (of.from, format!("{}:{at}: ", of.file)));
                let message = format!(
                    "{file}{joins}() joins jobs to a group, and Snakemake demands that all of them have the same shell_exec, \
                     which the layers of rules are not: use temp(), or transform the workflow without these rules"
                );
                return Err(Fault::new(at, message));
            }
            if let Some(open) = &mut open {
                open.take(words);
            } else if let Some(rest) = directive(words, "rule").or_else(|| directive(words, "checkpoint")) {
                let name = rest.split(':').next().unwrap_or_default().trim().to_owned();
                let is_name = name.chars().all(|c| c.is_alphanumeric() || c == '_');
                open = (rest.contains(':') && is_name).then_some(Open { name, indent, at, shell: false, other: None });
            } else if let Some(name) = used(words) {
                self.note(included, at, &format!("the rule {name} stays as it is: it is another rule with changes (use rule)"));
            } else if words.starts_with("workdir:") {
                self.note(included, at, "the workflow goes into another directory, where the scripts of the layers have to lie");
            } else if let Some(rest) = words.strip_prefix("include:") {
                self.include(rest, included, at, files)?;
            }
        }
        open.into_iter().for_each(|open| self.close(open, included));
        Ok(())
    }

    fn note(&mut self, included: Option<Included<'_>>, at: Place, message: &str) {
        // The place is one in the workflow's own file; the message names the place in the other file.
        let (at, message) = match included {
            None => (at, message.to_owned()),
            Some(of) => (of.from, format!("{}:{at}: {message}", of.file)),
        };
        self.notes.push(Note { at, message });
    }

    fn close(&mut self, open: Open, included: Option<Included<'_>>) {
        let why = match open.other {
            _ if open.name.is_empty() => "it has no name",
            Some(other) => other,
            None if !open.shell => "it has no shell command",
            None => {
                let command = Command { cmd: COMMAND.to_owned(), ..Command::default() };
                let task = Task::plain(format!("rule {}", open.name), open.at, Parts { command, ..Parts::default() });
                self.tasks.push(Entry {
                    task,
                    category: Some(open.name.clone()),
                    after: Vec::new(),
                    files: false,
                    repeats: Some("a rule of Snakemake has a job for each value of its wildcards"),
                });
                self.rules.push(open.name);
                return;
            }
        };
        // A rule that only says what is wanted runs nothing.
        if open.shell || open.other.is_some() {
            self.note(included, open.at, &format!("the rule {} stays as it is: {why}", open.name));
        }
    }

    fn include(&mut self, rest: &str, included: Option<Included<'_>>, at: Place, files: &Named<'_>) -> Result<(), Fault> {
        let rest = rest.trim();
        let quoted = ['"', '\'']
            .iter()
            .find_map(|quote| rest.strip_prefix(*quote)?.strip_suffix(*quote).filter(|name| !name.contains([*quote, '\\', '{'])));
        let Some(name) = quoted else {
            self.note(included, at, "which file is included is known only when it runs; its rules stay as they are");
            return Ok(());
        };
        let folder = included.and_then(|of| Some(&of.file[..=of.file.rfind('/')?])).unwrap_or_default();
        let path = if name.starts_with('/') { without_dots(name) } else { without_dots(&format!("{folder}{name}")) };
        let (from, depth) = included.map_or((at, 0), |of| (of.from, of.depth));
        // Snakemake passes over a file that it has included before.
        if !self.included.insert(path.clone()) {
            return Ok(());
        }
        match files.text(from, &path)? {
            Ok(_) if depth >= DEPTH => {
                Err(Fault::new(from, format!("“{path}” is included by files that include each other more than {DEPTH} deep")))
            }
            Ok(text) => self.look(Some(Included { file: &path, from, depth: depth + 1 }), &text, files),
            Err(error) => {
                self.note(included, at, &format!("the included file “{path}” cannot be read ({error}); its rules stay as they are"));
                Ok(())
            }
        }
    }
}

/// A path without the parts that change nothing: `.`, and empty ones.
fn without_dots(path: &str) -> String {
    let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    format!("{}{}", if path.starts_with('/') { "/" } else { "" }, parts.join("/"))
}

impl Open {
    fn take(&mut self, words: &str) {
        const OTHERS: [(&str, &str); 7] = [
            ("group:", "jobs of a group need the same shell_exec"),
            ("run:", "it has no shell command but Python"),
            ("script:", "it has no shell command but a script"),
            ("notebook:", "it has no shell command but a notebook"),
            ("wrapper:", "it has no shell command but a wrapper"),
            ("cwl:", "it has no shell command but a tool in CWL"),
            ("shadow:", "it runs in a shadow directory, where the layers are not"),
        ];
        self.shell |= words.starts_with("shell:");
        if calls(words, "shell_exec") || words.contains("\"shell_exec\"") || words.contains("'shell_exec'") {
            self.other = self.other.or(Some("it names a shell of its own (shell_exec)"));
        }
        self.other = self.other.or_else(|| OTHERS.iter().find(|(word, _)| words.starts_with(word)).map(|(_, why)| *why));
    }
}

/// Returns the name of a rule after `use rule a as b with:` or `use rule * from m as m_*`: its new
/// name, else that of the other.
fn used(words: &str) -> Option<&str> {
    let rest = directive(words, "use").and_then(|rest| directive(rest.trim_start(), "rule"))?.trim();
    let rest = rest.strip_suffix(':').unwrap_or(rest).trim_end();
    let rest = rest.strip_suffix(" with").unwrap_or(rest).trim_end();
    Some(rest.rsplit_once(" as ").map_or(rest, |(_, name)| name.trim()))
}

/// Whether a name stands before a bracket or an equals sign, not in quotes or a comment.
fn calls(words: &str, name: &str) -> bool {
    let mut scanner = Scanner { text: words.as_bytes(), at: 0, line: 1 };
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
    while let Some(byte) = words.as_bytes().get(scanner.at).copied() {
        match byte {
            b'#' => scanner.at += words.as_bytes()[scanner.at..].iter().take_while(|byte| **byte != b'\n').count(),
            b'"' | b'\'' => scanner.quoted(byte),
            _ if is_part(byte) => {
                let rest = &words.as_bytes()[scanner.at..];
                let length = rest.iter().take_while(|byte| is_part(**byte)).count();
                let behind = rest[length..].trim_ascii_start().first();
                if &rest[..length] == name.as_bytes() && matches!(behind, Some(b'(' | b'=')) {
                    return true;
                }
                scanner.at += length;
            }
            _ => scanner.at += 1,
        }
    }
    false
}

/// Returns the text after a word and a blank or a colon.
fn directive<'t>(words: &'t str, word: &str) -> Option<&'t str> {
    words.strip_prefix(word).filter(|rest| rest.starts_with([' ', '\t', ':']))
}

/// Lines of Python: texts in quotes may go over several.
struct Scanner<'t> {
    text: &'t [u8],
    at: usize,
    line: u32,
}

impl Scanner<'_> {
    /// Passes over a line, with the texts that it opens.
    fn logical_line(&mut self) {
        let start = self.at;
        while let Some(byte) = self.text.get(self.at) {
            match byte {
                b'\n' => {
                    self.at += 1;
                    break;
                }
                b'#' => self.at += self.text[self.at..].iter().take_while(|byte| **byte != b'\n').count(),
                b'"' | b'\'' => self.quoted(*byte),
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        self.at = self.at.min(self.text.len());
        // Ends are at newlines and quotes, and so between characters; a backslash may stand before a longer one.
        while self.at < self.text.len() && self.text[self.at] & 0xc0 == 0x80 {
            self.at += 1;
        }
        let lines = self.text[start..self.at].iter().filter(|byte| **byte == b'\n').count();
        self.line = self.line.saturating_add(u32::try_from(lines).unwrap_or(u32::MAX));
    }

    fn quoted(&mut self, quote: u8) {
        let three = [quote; 3];
        let long = self.text[self.at..].starts_with(&three);
        self.at += if long { 3 } else { 1 };
        while let Some(byte) = self.text.get(self.at) {
            if *byte == b'\\' {
                self.at += 2;
            } else if long && self.text[self.at..].starts_with(&three) {
                self.at += 3;
                return;
            } else if !long && (*byte == quote || *byte == b'\n') {
                self.at += usize::from(*byte == quote);
                return;
            } else {
                self.at += 1;
            }
        }
        self.at = self.at.min(self.text.len());
    }
}

impl Snakemake {
    /// The new Snakefile, and the program of each rule.
    pub(super) fn write(&self, tasks: &[(Task, Vec<Layer>)]) -> (String, Vec<Script>) {
        let (mut lines, mut scripts) = (String::new(), Vec::new());
        for (rule, (_, layers)) in self.rules.iter().zip(tasks) {
            let Some(outermost) = layers.last() else { continue };
            let name = format!("t_{}.shell/bash", outermost.id);
            lines.push_str(&format!("    {}: {},\n", quote_json(rule), quote_json(&name)));
            scripts.push(Script { name, text: shell(outermost) });
        }
        let text = format!(
            "{}\n\n# flowmine transform: shell commands of these rules go through layers. It runs where the layers lie.\nimport os as flowmine_os\n\n\
             # What runs the commands below the layers.\nflowmine_os.environ[\"FLOWMINE_SHELL\"] = shell.get_executable() or \"/bin/sh\"\nfor flowmine_rule, flowmine_program in {{\n{lines}}}.items():\n    \
             # A rule can be absent in this run: its definition stands below an `if`.\n    flowmine_found = {{known.name: known for known in workflow.rules}}.get(flowmine_rule)\n    \
             if flowmine_found is None:\n        continue\n    \
             if \"shell_exec\" in flowmine_found.resources:\n        \
             raise ValueError(f\"flowmine transform: the rule {{flowmine_rule}} has a shell_exec of its own: transform the workflow without it (--select)\")\n    \
             flowmine_found.resources[\"shell_exec\"] = flowmine_os.path.join(flowmine_os.getcwd(), flowmine_program)\n",
            self.text.trim_end_matches(['\n', ' '])
        );
        (text, scripts)
    }
}

fn shell(outermost: &Layer) -> String {
    format!(
        "#!/bin/sh\nfalse\n# flowmine transform: what Snakemake runs as the shell of a rule.\n{{\nset -- \"${{FLOWMINE_SHELL:-/bin/bash}}\" \"$@\"\nunset FLOWMINE_SHELL\n{}exec ./{}\n}}\n",
        super::slurm::ARGUMENTS,
        outermost.script()
    )
}

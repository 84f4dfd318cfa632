//! The commands of a shell script, as far as they can be known without running it.
//!
//! The grammar is a strict subset of POSIX sh and bash: the whole script is understood, or it is
//! refused with the place of the first part that is not understood. Nothing is expanded. A word
//! with a variable, a substitution or a pattern has no literal value. Commands in `$(…)`,
//! backquotes, loops and conditions are treated like all others.

mod commands;
mod words;

/// A word of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// Its first byte in the text.
    pub start: usize,
    /// The byte after it.
    pub end: usize,
    /// Its value, if it is the same in every run of the script.
    pub literal: Option<String>,
    /// Its text without quotes, with `$` for each part that is known only then.
    pub shape: String,
    /// The same with one `$` for each group in braces, or `*` if the braces contain a pattern.
    pub names: String,
    /// Whether it holds a pattern that the shell replaces by names of files.
    pub pattern: bool,
    /// The parts of it that are known only when the script runs, in order.
    pub expansions: Vec<Expansion>,
}

/// A variable, a substitution, a calculation or a brace in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Expansion {
    /// Its first byte in the text.
    pub start: usize,
    /// The byte after it.
    pub end: usize,
    /// Whether the shell may split its value: it is outside of quotes, or is `"$@"`.
    pub splits: bool,
}

/// Redirection of a command's input or output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Redirection {
    /// The file's name, or a descriptor if the command consists of nothing else.
    pub word: Word,
    /// Whether the file is made, emptied or written.
    pub writes: bool,
}

/// A simple command: a program and its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Simple {
    /// Its first byte in the text.
    pub start: usize,
    /// Its words, without assignments and redirections.
    pub words: Vec<Word>,
    /// The variable that gets its output, `jid` of `jid=$(…)`.
    pub into: Option<String>,
    /// The assignments before its words, each with its name.
    pub assigned: Vec<Word>,
    /// The elements of arrays that it assigns, and the words of a loop or `case`.
    pub values: Vec<Word>,
    pub redirections: Vec<Redirection>,
    /// Whether it is in a loop or a function, and so may run more than once.
    pub repeated: bool,
    /// Whether it runs in the script's own shell, each time the script reaches it.
    pub plain: bool,
    /// The number of the list of commands that contains it.
    pub block: usize,
    /// Whether it runs in the shell of its list, each time that list reaches it.
    pub sure: bool,
    /// The number of the shell that runs it; 0 is the script's own.
    pub shell: usize,
}

/// A function that the script defines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Function {
    pub name: String,
    /// The first byte of its definition.
    pub start: usize,
    /// Whether the script always comes past its definition.
    pub plain: bool,
}

/// A loop of `for` over words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Loop {
    pub name: String,
    /// The words after `in`.
    pub values: Vec<Word>,
    /// Its first byte in the text.
    pub start: usize,
    /// The list of its commands.
    pub block: usize,
}

/// Properties of a script that are known without running it.
#[derive(Debug, Default)]
pub(super) struct Script {
    /// All simple commands, in the order in which they begin.
    pub commands: Vec<Simple>,
    pub functions: Vec<Function>,
    pub loops: Vec<Loop>,
    /// Comments, from byte to byte.
    pub comments: Vec<(usize, usize)>,
    /// The parent of each shell.
    shells: Vec<usize>,
    /// The list of commands that contains each list.
    blocks: Vec<usize>,
}

impl Script {
    /// A shell, the one that started it, and so on.
    pub(super) fn around(&self, shell: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(shell), |shell| (*shell > 0).then(|| self.shells[*shell]))
    }

    /// A list of commands, the one in which it stands, and so on.
    pub(super) fn blocks(&self, block: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(block), |block| (*block > 0).then(|| self.blocks[*block]))
    }
}

/// Why a text is not understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unclear {
    /// The byte at which it is not.
    pub at: usize,
    pub why: String,
    /// Whether the text ends before what it begins.
    pub unfinished: bool,
}

type Outcome<T> = Result<T, Unclear>;

/// The language of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// The syntax that all POSIX shells share.
    Posix,
    Bash,
}

/// Reads a script.
pub(super) fn script(text: &str, dialect: Dialect) -> Outcome<Script> {
    if let Some(at) = text.find('\0') {
        return Err(Unclear { at, why: "a NUL byte is not understood, because shells pass over it".to_owned(), unfinished: false });
    }
    let mut reader = Reader::of(text, dialect);
    reader.list(commands::End::Text)?;
    let mut script = reader.script;
    script.commands.sort_by_key(|command| command.start);
    Ok(script)
}

/// Returns the word of a text that contains one word and at most a comment.
pub(super) fn alone(text: &str) -> Option<Word> {
    let mut reader = Reader::of(text, Dialect::Bash);
    let word = reader.word(None).ok()?;
    let rest = text.get(word.end..)?.trim_start_matches([' ', '\t', ';']);
    (word.end > word.start && (rest.is_empty() || rest.starts_with('#'))).then_some(word)
}

struct Reader<'t> {
    text: &'t [u8],
    at: usize,
    /// End of the part of the text that is read, such as that between backquotes, or a
    /// here-document.
    limit: usize,
    dialect: Dialect,
    script: Script,
    documents: Vec<words::Document>,
    /// Nesting depth at the current place.
    depth: usize,
    /// The number of compound commands around the current place, and of loops and functions among
    /// them.
    compounds: usize,
    loops: usize,
    shell: usize,
    block: usize,
    /// The variable that gets the output of the commands that are read.
    into: Option<String>,
}

/// Maximum nesting depth.
const DEPTH: usize = 64;

impl<'t> Reader<'t> {
    fn of(text: &'t str, dialect: Dialect) -> Self {
        Self {
            text: text.as_bytes(),
            at: 0,
            limit: text.len(),
            dialect,
            script: Script { shells: vec![0], ..Script::default() },
            documents: Vec::new(),
            depth: 0,
            compounds: 0,
            loops: 0,
            shell: 0,
            block: 0,
            into: None,
        }
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text[..self.limit].get(self.at + ahead).copied()
    }

    fn rest(&self) -> &'t [u8] {
        self.text.get(self.at..self.limit).unwrap_or_default()
    }

    fn unclear<T>(&self, why: impl Into<String>) -> Outcome<T> {
        Err(Unclear { at: self.at.min(self.text.len()), why: why.into(), unfinished: false })
    }

    fn unfinished<T>(&self, at: usize, what: &str) -> Outcome<T> {
        Err(Unclear { at, why: format!("{what} has no end"), unfinished: true })
    }

    /// Refuses what shells of POSIX read as something else.
    fn needs_bash(&self, what: &str) -> Outcome<()> {
        match self.dialect {
            Dialect::Bash => Ok(()),
            Dialect::Posix => self.unclear(format!("{what} is not in the shell of POSIX: name bash in the first line, #!/bin/bash")),
        }
    }

    /// Calls `read` one level deeper.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Outcome<T>) -> Outcome<T> {
        if self.depth >= DEPTH {
            return self.unclear(format!("commands are nested more than {DEPTH} deep"));
        }
        self.depth += 1;
        let done = read(self);
        self.depth -= 1;
        done
    }

    /// Reads commands that a shell of their own runs.
    fn in_shell<T>(&mut self, into: Option<String>, read: impl FnOnce(&mut Self) -> Outcome<T>) -> Outcome<T> {
        let outer = (self.shell, std::mem::replace(&mut self.into, into));
        self.shell = self.script.shells.len();
        self.script.shells.push(outer.0);
        let done = self.deeper(read);
        (self.shell, self.into) = outer;
        done
    }
}

/// Message about a text with commands in a subscript.
pub(super) const SUBSCRIPT: &str =
    "a subscript with commands in quotes is shell code, which runs where a shell calculates with it: leave it out";

/// Whether a text has a subscript that runs commands where a shell calculates with it, `a[$(…)]`.
pub(super) fn runs_commands(text: &str) -> bool {
    text.split_once('[').is_some_and(|(_, rest)| rest.contains("$(") || rest.contains('`'))
}

/// Whether this is the name of a variable.
pub(super) fn is_name(name: &[u8]) -> bool {
    name.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
        && name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}

/// The name of the variable that a word `name=…`, `name+=…` or `name[…]=…` assigns to.
pub(super) fn assigned(raw: &str) -> Option<&str> {
    let length = raw.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    let (name, rest) = raw.split_at(length);
    let is_assigned = rest.starts_with(['=', '[']) || rest.starts_with("+=");
    (is_assigned && is_name(name.as_bytes())).then_some(name)
}

impl Simple {
    /// Its program, where that is known.
    pub(super) fn program(&self) -> Option<&str> {
        self.words.first()?.literal.as_deref()
    }
}

#[cfg(test)]
mod tests;

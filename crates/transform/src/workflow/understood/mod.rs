//! The commands that a script which submits jobs may have.
//!
//! Slurm copies a job script when it is submitted; with layers a job reads it when it runs, in the
//! directory in which the script was. So a script is transformed only where each of its commands
//! neither changes the directory, nor writes, moves or removes a file that can be a job script, nor
//! sees the files that flowmine adds. All else is refused with its place.

mod composed;
mod names;
mod programs;

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};

use super::constants::{Constants, is_dirname};
use super::files::{Named, is_device};
use super::one_word::{OneWord, QUOTE};
use super::shell::{SUBSCRIPT, Script, Simple, Word, assigned, is_name, runs_commands};
use super::slurm::sbatch;
use composed::{Composed, Values};
pub(in crate::workflow) use names::{can_be_written, without_conversions};

/// Programs that may have any arguments: they write to no file but their output.
const HARMLESS: [&str; 60] = [
    ":", "true", "false", "echo", "printf", "[", "test", "sleep", "exit", "return", "shift", "break", "continue", "wait", "local",
    "declare", "typeset", "readonly", "export", "read", "let", "getopts", "squeue", "sinfo", "sacct", "sprio", "sshare", "scancel", "date",
    "hostname", "whoami", "id", "uname", "pwd", "basename", "dirname", "readlink", "realpath", "seq", "cat", "cut", "tr", "head", "tail",
    "wc", "grep", "egrep", "fgrep", "nproc", "expr", "nl", "rev", "tac", "comm", "mkdir", "rmdir", "touch", "umask", "stat", "df",
];

/// Variables that change the effect of the commands after them.
const FIXED: [&str; 17] = [
    "PATH",
    "ENV",
    "BASH_ENV",
    "CDPATH",
    "HOME",
    "PWD",
    "OLDPWD",
    "PS4",
    "SHELLOPTS",
    "BASHOPTS",
    "GLOBIGNORE",
    "EXECIGNORE",
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "POSIXLY_CORRECT",
    "SLURM_CONF",
    "BASH_CMDS",
];

/// Programs that execute text from outside the script.
const OPEN: [&str; 9] = [".", "source", "eval", "exec", "trap", "alias", "enable", "builtin", "module"];
/// Programs that take names of variables, or calculate: a subscript among their words is evaluated.
const CALCULATING: [&str; 14] =
    ["read", "mapfile", "readarray", "unset", "let", "getopts", "test", "[", "wait", "declare", "typeset", "local", "export", "readonly"];
/// Programs that change files.
const CHANGING: [&str; 16] =
    ["cp", "mv", "ln", "install", "rsync", "tar", "unzip", "git", "dd", "truncate", "patch", "split", "find", "xargs", "wget", "curl"];

/// A part of a script that submits jobs that is refused, and the reason.
pub(super) struct Misunderstood {
    /// The byte at which it begins.
    pub at: usize,
    pub why: String,
}

/// The names and patterns of files that a script mentions, each with the first byte at which it does.
#[derive(Default)]
pub(super) struct Mentioned {
    shapes: BTreeMap<String, usize>,
    composed: Composed,
}

impl Mentioned {
    fn add(&mut self, shape: &str, at: usize) {
        if names::names_files(shape) && !self.shapes.contains_key(shape) {
            self.shapes.insert(shape.to_owned(), at);
        }
    }

    /// Returns the first of them that is, or can match, a file of the directory, and where it is.
    pub(super) fn first(&self, file: &str) -> Option<(usize, String)> {
        let found = self.shapes.iter().filter(|(shape, _)| names::can_be(shape, file)).min_by_key(|(_, at)| **at);
        let found = found.map(|(shape, at)| (*at, names::shown(shape)));
        found.into_iter().chain(self.composed.first(file)).min_by_key(|(at, _)| *at)
    }
}

/// A script that submits jobs, with its known properties.
pub(super) struct Chain<'c> {
    pub text: &'c str,
    pub script: &'c Script,
    pub constants: &'c Constants,
    pub one: &'c OneWord<'c>,
    /// The job scripts that its calls submit with layers, and the script itself.
    pub scripts: &'c [String],
    pub files: &'c Named<'c>,
}

type Checked = Result<(), String>;

/// The end of most messages: what to do.
const ELSE: &str = "take it out of this script and run it before, or transform the job scripts one by one";

impl Chain<'_> {
    /// Returns what the script mentions where all of it is understood; else the first place at
    /// which it is not.
    pub(super) fn check(&self) -> Result<Mentioned, Misunderstood> {
        let check = Check::of(self);
        check.check()?;
        Ok(check.mentioned.into_inner())
    }
}

/// Properties that are used repeatedly.
struct Check<'c> {
    of: &'c Chain<'c>,
    /// Place of the first definition of each function.
    functions: HashMap<&'c str, usize>,
    /// The shells that leave the directory of the workflow.
    leaving: HashSet<usize>,
    mentioned: RefCell<Mentioned>,
    values: Values<'c>,
}

impl<'c> std::ops::Deref for Check<'c> {
    type Target = Chain<'c>;

    fn deref(&self) -> &Chain<'c> {
        self.of
    }
}

impl<'c> Check<'c> {
    fn of(chain: &'c Chain<'c>) -> Self {
        let values = Values::of(chain.text, chain.script);
        let mut check = Self { of: chain, functions: HashMap::new(), leaving: HashSet::new(), mentioned: RefCell::default(), values };
        for function in &chain.script.functions {
            check.functions.entry(&function.name).or_insert(function.start);
        }
        let leaves = |command: &&Simple| command.program() == Some("cd") && command.shell > 0 && !check.is_own_directory(command);
        check.leaving = chain.script.commands.iter().filter(leaves).map(|command| command.shell).collect();
        check
    }

    fn check(&self) -> Result<(), Misunderstood> {
        for function in &self.script.functions {
            let why = match () {
                () if is_known(&function.name) => {
                    format!("a function is called {} here, as a program: give it another name", function.name)
                }
                () if !function.plain => {
                    format!("it is not certain that the function {} is defined here: define it at the outermost level", function.name)
                }
                () => continue,
            };
            return Err(Misunderstood { at: function.start, why });
        }
        if let Some(why) = self.script.loops.iter().find_map(|each| fixed(&each.name).err()) {
            return Err(Misunderstood { at: 0, why });
        }
        self.script.commands.iter().try_for_each(|command| self.command(command))
    }

    fn command(&self, command: &Simple) -> Result<(), Misunderstood> {
        let fault = |word: &Word, why: String| Misunderstood { at: word.start, why };
        for word in &command.assigned {
            self.assignment(word).map_err(|why| fault(word, why))?;
        }
        let words = command.words.iter().chain(command.redirections.iter().map(|to| &to.word));
        for word in words {
            if word.pattern {
                self.sees_no_scripts(&word.names, word.start).map_err(|why| fault(word, why))?;
            } else {
                self.mentions(word);
            }
        }
        let all =
            command.words.iter().chain(&command.assigned).chain(&command.values).chain(command.redirections.iter().map(|to| &to.word));
        for word in all {
            if !self.mentioned.borrow_mut().composed.add(word, &self.values) {
                return Err(fault(word, "the script puts too many names together from variables: split it".to_owned()));
            }
        }
        if command.program() == Some("printf") {
            for word in command.words.iter().filter(|word| word.names.contains('%')) {
                let filled = names::without_conversions(&word.names);
                filled.split(|c: char| c.is_whitespace() || c == '\\').for_each(|part| self.mentioned.borrow_mut().add(part, word.start));
                // The letter after a backslash belongs to the escape sequence.
                filled.split('\\').for_each(|part| self.mentioned.borrow_mut().add(part.get(1..).unwrap_or_default(), word.start));
            }
        }
        for word in &command.values {
            if word.literal.as_deref().is_some_and(runs_commands) {
                return Err(fault(word, SUBSCRIPT.to_owned()));
            }
            self.sees_no_scripts_in(&word.names, word.start).map_err(|why| fault(word, why))?;
        }
        for to in command.redirections.iter().filter(|to| to.writes && !to.word.literal.as_deref().is_some_and(is_device)) {
            let leaves = self.leaves_scripts(&to.word, "what is written here").and_then(|()| self.stays(command));
            leaves.map_err(|why| fault(&to.word, why))?;
        }
        let Some(first) = command.words.first() else { return Ok(()) };
        self.program(command, first).map_err(|why| fault(first, why))?;
        let writes = first.literal.as_deref().is_some_and(|name| matches!(program_name(name), "rm" | "tee"));
        command.words[1..].iter().filter(|_| writes).try_for_each(|word| self.stays_one(command, word).map_err(|why| fault(word, why)))
    }

    fn program(&self, command: &Simple, first: &Word) -> Checked {
        if let Some(words) = sbatch(command) {
            let carried = command.words.iter().take_while(|word| word.start < words.first().map_or(usize::MAX, |word| word.start));
            for word in carried.skip(1).filter(|word| assigned(self.raw(word)).is_some()) {
                self.assignment(word)?;
                if !self.one.is_one(word, command) {
                    return Err(format!("“{}” comes before sbatch, and {QUOTE}", self.raw(word)));
                }
            }
            return self.stays(command);
        }
        let raw = self.raw(first);
        let Some(called) = first.literal.as_deref() else {
            let value = self.constants.split(raw, first.start);
            return match value.and_then(|words| words.split_whitespace().next()) {
                Some("sbatch") => self.stays(command),
                _ => Err(format!("“{raw}” is known only when it runs: it may be any command. {}", capital(ELSE))),
            };
        };
        // What a variable or an argument of a function holds becomes a pattern where it is used without quotes.
        let keeps = self.functions.contains_key(called) || matches!(called, "set" | "printf" | "read" | "mapfile" | "readarray");
        let prints = called == "printf" && !command.words.get(1).is_some_and(|word| self.is(word, "-v"));
        for word in command.words[1..].iter().chain(command.redirections.iter().map(|to| &to.word)).filter(|_| keeps) {
            match prints {
                true => self.sees_no_scripts(&word.names, word.start)?,
                false => self.sees_no_scripts_in(&word.names, word.start)?,
            }
        }
        let name = program_name(called);
        let rest = &command.words[1..];
        if CALCULATING.contains(&name) && rest.iter().any(|word| word.literal.as_deref().is_some_and(runs_commands)) {
            return Err(SUBSCRIPT.to_owned());
        }
        if let Some(start) = self.functions.get(name) {
            return match *start < first.start {
                true => self.stays(command),
                false => Err(format!("the function {name} is defined behind its call: define it before")),
            };
        }
        match name {
            "cd" => self.cd(command),
            "export" | "declare" | "typeset" | "local" | "readonly" => self.declaration(rest),
            "unset" | "read" | "let" | "getopts" | "printf" => self.sets(name, rest),
            "mapfile" | "readarray" => {
                match rest.iter().all(|word| word.literal.as_deref().is_some_and(|text| text == "-t" || !text.starts_with('-'))) {
                    true => self.sets(name, rest),
                    false => Err(format!("{name} is understood with the option -t only")),
                }
            }
            "grep" | "egrep" | "fgrep" => self.search(rest),
            _ if HARMLESS.contains(&name) => Ok(()),
            "ls" => self.list(rest),
            "set" | "shopt" => self.options(name, rest),
            "scontrol" => self.scontrol(rest),
            "exec" if rest.is_empty() => Ok(()),
            "command" | "type" | "which" | "hash" if name != "command" || rest.first().is_some_and(|word| self.is(word, "-v")) => Ok(()),
            "rm" | "tee" => {
                self.stays(command)?;
                rest.iter()
                    .filter(|word| !self.is_option(word))
                    .try_for_each(|word| self.leaves_scripts(word, &format!("what {name} gets")))
            }
            "chmod" => self.mode(rest),
            "sort" | "uniq" | "awk" | "gawk" | "mawk" | "nawk" | "sed" => {
                let known: Option<Vec<String>> = rest.iter().map(|word| self.constants.value(self.text, word)).collect();
                match known {
                    Some(words) => programs::only_reads(name, &words),
                    None => programs::only_reads_with_unknown(name, rest),
                }
            }
            _ if OPEN.contains(&name) => {
                Err(format!("{name} can do anything that is not in this script, such as go to another directory. {}", capital(ELSE)))
            }
            _ if CHANGING.contains(&name) => {
                Err(format!("{name} may change a job script before or after its job is submitted. {}", capital(ELSE)))
            }
            _ => Err(format!("what {} does is not known: it may change a job script, or submit jobs. {}", shown(called), capital(ELSE))),
        }
    }

    fn raw(&self, word: &Word) -> &str {
        self.text.get(word.start..word.end).unwrap_or_default()
    }

    fn is(&self, word: &Word, text: &str) -> bool {
        word.literal.as_deref() == Some(text)
    }

    fn is_option(&self, word: &Word) -> bool {
        word.literal.as_deref().is_some_and(|text| text.starts_with('-') && text.len() > 1)
    }

    fn assignment(&self, word: &Word) -> Checked {
        let raw = self.raw(word);
        let Some(name) = assigned(raw) else { return Ok(()) };
        fixed(name)?;
        if word.literal.as_deref().is_some_and(runs_commands) {
            return Err(SUBSCRIPT.to_owned());
        }
        self.sees_no_scripts_in(word.names.split_once('=').map_or("", |(_, value)| value), word.start)
    }

    /// Refuses a pattern that can match scripts of layers, also through a link.
    fn sees_no_scripts(&self, shape: &str, at: usize) -> Checked {
        self.mentioned.borrow_mut().add(shape, at);
        names::sees_no_scripts(shape)?;
        match names::parents_of_pattern(shape).find(|parent| self.files.leads_here(parent)) {
            Some(parent) => Err(format!(
                "“{parent}” leads to the directory in which the scripts of the layers are, which the pattern behind it matches"
            )),
            None => Ok(()),
        }
    }

    /// Refuses such a pattern in a value, which the shell splits if it has no quotes.
    fn sees_no_scripts_in(&self, value: &str, at: usize) -> Checked {
        self.sees_no_scripts(value, at)?;
        value.split_whitespace().filter(|part| part.len() < value.len()).try_for_each(|part| self.sees_no_scripts(part, at))
    }

    /// Checks a word that the shell does not replace by names: the characters of patterns are plain
    /// ones. If it is printed, other programs can split it at blanks.
    fn mentions(&self, word: &Word) {
        let shape = word.literal.as_deref().unwrap_or(&word.names);
        for part in std::iter::once(shape).chain(shape.split_whitespace().filter(|part| part.len() < shape.len())) {
            if names::names_files(part) && !(word.literal.is_some() && names::is_pattern(part)) {
                self.mentioned.borrow_mut().add(part, word.start);
            }
        }
    }

    fn declaration(&self, words: &[Word]) -> Checked {
        words.iter().try_for_each(|word| match (assigned(self.raw(word)), &word.literal) {
            (None, Some(option)) if option.starts_with('-') && option.contains('n') => {
                Err(format!("{option} gives a variable a second name, so that it is not certain which one is set"))
            }
            (Some(_), _) => self.assignment(word),
            (None, Some(name)) => fixed(name),
            (None, None) => Err(format!("which variable “{}” is is known only when it runs", self.raw(word))),
        })
    }

    /// Checks commands that set the variables named in their arguments.
    fn sets(&self, program: &str, words: &[Word]) -> Checked {
        if program == "unset" {
            for word in words {
                let name = word.literal.as_deref().ok_or("what unset forgets is known only when it runs")?;
                if name == "-f" || self.functions.contains_key(name) {
                    return Err("unset forgets a function, whose name is then any program's".to_owned());
                }
            }
        }
        let names = match program {
            "printf" if words.first().is_some_and(|word| self.is(word, "-v")) => {
                let is_variable = |word: &Word| word.literal.as_deref().is_none_or(|name| is_name(name.as_bytes()));
                if !words.get(1).is_none_or(is_variable) {
                    return Err("printf -v is understood with the name of a variable, without a subscript".to_owned());
                }
                words.get(1..2).unwrap_or_default()
            }
            "printf" if words.first().is_some_and(|word| word.literal.as_deref().is_none_or(|text| text.starts_with("-v"))) => {
                return Err("the first argument of printf is known only when it runs: write -- or a format before it".to_owned());
            }
            "printf" => &[],
            _ => words,
        };
        names.iter().try_for_each(|word| match &word.literal {
            Some(name) => fixed(name),
            None => Err(format!("which variable {program} sets is known only when it runs: write its name")),
        })
    }

    /// `cd` to the directory of the script itself, or in a shell that submits and writes nothing.
    fn cd(&self, command: &Simple) -> Checked {
        if self.is_own_directory(command) || command.shell > 0 {
            return Ok(());
        }
        Err("cd leaves the directory in which the scripts of the layers are: name the job scripts and files from the first directory, or go there in the job scripts".to_owned())
    }

    fn is_own_directory(&self, command: &Simple) -> bool {
        let to = command.words.get(1).filter(|_| command.words.len() == 2);
        to.is_some_and(|word| is_dirname(self.raw(word)) || self.constants.value(self.text, word).as_deref() == Some("."))
    }

    /// Whether a command runs in the directory of the workflow: no `cd` of its shell or of one around it leaves it.
    fn stays(&self, command: &Simple) -> Checked {
        match self.script.around(command.shell).any(|shell| self.leaving.contains(&shell)) {
            false => Ok(()),
            true => {
                Err("cd in these brackets leaves the directory in which the scripts of the layers are: submit and write outside of them"
                    .to_owned())
            }
        }
    }

    /// Checks a name that is written or removed, which the shell splits if it has no quotes.
    fn stays_one(&self, command: &Simple, word: &Word) -> Checked {
        if self.one.is_one_or_none(word, command) || !self.is_taken_apart(word) {
            return Ok(());
        }
        Err(format!("“{}” is known only when it runs, and {QUOTE}", self.raw(word)))
    }

    /// Whether the shell splits a value in a word. Braces keep the text before and after them.
    fn is_taken_apart(&self, word: &Word) -> bool {
        word.expansions.iter().any(|part| part.splits && !matches!(self.text.get(part.start..part.end), Some("{" | "}")))
    }

    /// Files that are written or removed, by their names: no job script is among them.
    fn leaves_scripts(&self, word: &Word, what: &str) -> Checked {
        let hint = "write a name in full that is no job script's";
        if !self.files.may_compare(self.scripts.len()) {
            return Err("the script writes too many files to compare them with its job scripts: split it".to_owned());
        }
        let path = match self.constants.value(self.text, word) {
            Some(path) => path,
            None if word.pattern => match names::directory_of_pattern(&word.names) {
                Some(directory) if !word.names.contains('$') || names::ends_otherwise(&word.names, self.scripts) => directory,
                _ => return Err(format!("{what} may be a job script, because its name is a pattern: {hint}")),
            },
            None if names::ends_otherwise(&word.names, self.scripts) => {
                return match self.scripts.iter().find(|script| self.files.has_other_names(script)) {
                    None => Ok(()),
                    Some(script) => Err(format!(
                        "{what} may be “{script}”, which is a link or has several names: write a name in full, or submit the file itself"
                    )),
                };
            }
            None => return Err(format!("{what} may be a job script, because its name is known only when it runs: {hint}")),
        };
        if names::is_of_flowmine(&path) {
            return Err(format!("{what} may be a script of the layers, whose names begin with t_: {hint}"));
        }
        match self.scripts.iter().find(|script| self.files.can_change(&path, script)) {
            Some(script) => {
                Err(format!("{what} is, holds or leads to “{script}”, which a job reads when it runs, not when it is submitted: {hint}"))
            }
            None => Ok(()),
        }
    }

    /// `ls` with names: without, it lists the new script too.
    fn list(&self, words: &[Word]) -> Checked {
        if let Some(option) = words.iter().find(|word| self.is_option(word) && !word.literal.as_deref().is_some_and(lists_what_is_named)) {
            return Err(format!("the option {} of ls is not understood: leave it out", self.raw(option)));
        }
        let mut operands = words.iter().filter(|word| !self.is_option(word)).peekable();
        if operands.peek().is_none() || operands.any(|word| self.may_hold_all(word)) {
            return Err("ls lists the directory, in which the scripts of the layers are too: name what it is to list".to_owned());
        }
        Ok(())
    }

    /// Whether a word may be the directory of the workflow, or one around it.
    fn may_hold_all(&self, word: &Word) -> bool {
        let holds = |name: String| {
            let is_here = name.split('/').all(|part| matches!(part, "" | "."));
            is_here || name.starts_with('/') || name.split('/').any(|part| part == "..") || self.files.leads_here(&name)
        };
        (!word.pattern || self.is_taken_apart(word)) && self.constants.value(self.text, word).is_none_or(holds)
    }

    /// `grep` of files, and of directories below this one: the scripts of the layers are in this one.
    fn search(&self, words: &[Word]) -> Checked {
        let values: Vec<Option<String>> = words.iter().map(|word| self.constants.value(self.text, word)).collect();
        let is_option = |value: &Option<String>| value.as_deref().is_some_and(|text| text.starts_with('-') && text.len() > 1);
        let recursive = values.iter().flatten().any(|value| searches_directories(value));
        let unknown = words.iter().zip(&values).any(|(word, value)| value.is_none() && self.raw(word).starts_with('$'));
        let operands: Vec<&Word> = words.iter().zip(&values).filter(|(_, value)| !is_option(value)).map(|(word, _)| word).collect();
        // The first is what is searched for, unless an option says it.
        let mut places = operands.iter().skip(1);
        let is_certain = |word: &Word| self.constants.value(self.text, word).is_some();
        let sees_all = match recursive {
            true => operands.len() < 2 || places.any(|word| self.may_hold_all(word)),
            false => unknown && operands.iter().any(|word| is_certain(word) && self.may_hold_all(word)),
        };
        match sees_all {
            false => Ok(()),
            true => {
                Err("grep searches the directory, in which the scripts of the layers are too: name the files that it is to search"
                    .to_owned())
            }
        }
    }

    fn options(&self, program: &str, words: &[Word]) -> Checked {
        let known: Option<Vec<&str>> = words.iter().map(|word| word.literal.as_deref()).collect();
        let is_known = match (program, known.as_deref()) {
            ("set", _) if words.first().is_some_and(|word| self.is(word, "--")) => true,
            ("set", Some(words)) => words.iter().all(|word| {
                matches!(*word, "pipefail" | "errexit" | "nounset" | "xtrace" | "noglob")
                    || word.strip_prefix(['-', '+']).is_some_and(|letters| letters.chars().all(|letter| "aefuxvo".contains(letter)))
            }),
            ("shopt", Some(words)) => {
                words.iter().all(|word| matches!(*word, "-s" | "-u" | "-q" | "nullglob" | "failglob" | "globstar" | "inherit_errexit"))
            }
            _ => false,
        };
        if is_known { Ok(()) } else { Err(format!("this use of {program} is not understood: leave it out")) }
    }

    fn scontrol(&self, words: &[Word]) -> Checked {
        let moves = |word: &Word| {
            !self
                .raw(word)
                .split_once('=')
                .is_some_and(|(name, _)| !name.to_ascii_lowercase().starts_with('w') && assigned(self.raw(word)).is_some())
        };
        match words.first().and_then(|word| word.literal.as_deref()) {
            Some(
                "show" | "hold" | "release" | "uhold" | "requeue" | "requeuehold" | "wait_job" | "ping" | "suspend" | "resume" | "top",
            ) => Ok(()),
            Some("update") if !words[1..].iter().any(moves) => Ok(()),
            _ => Err("this use of scontrol is not understood: run it outside of this script".to_owned()),
        }
    }

    /// Modes with which a job script can still be read.
    fn mode(&self, words: &[Word]) -> Checked {
        let mode = words.first().and_then(|word| word.literal.as_deref()).unwrap_or_default();
        let adds = mode
            .trim_start_matches(['u', 'g', 'o', 'a'])
            .strip_prefix('+')
            .is_some_and(|rest| !rest.is_empty() && rest.chars().all(|c| "rwxX".contains(c)));
        let sets = mode.len() == 3 && mode.starts_with(['4', '5', '6', '7']) && mode.bytes().all(|byte| (b'0'..=b'7').contains(&byte));
        if adds || sets { Ok(()) } else { Err("chmod may make a job script unreadable: write +x, or a mode such as 755".to_owned()) }
    }
}

/// Whether a word is an option of ls(1) that has no argument after it, and shows no hidden names.
fn lists_what_is_named(option: &str) -> bool {
    match option.strip_prefix("--") {
        Some(long) => long.is_empty() || long.contains('=') && !"hide".starts_with(long.split('=').next().unwrap_or_default()),
        None => option[1..].chars().all(|letter| "1bcdFgGhiklLmnopqQrRsStuUvxXZ".contains(letter)),
    }
}

/// Whether a word is an option of grep(1) that has it search directories.
fn searches_directories(word: &str) -> bool {
    const LONG: [&str; 3] = ["recursive", "dereference-recursive", "directories"];
    match (word.strip_prefix("--"), word.strip_prefix('-')) {
        (Some(long), _) => {
            let name = long.split('=').next().unwrap_or(long);
            name.len() > 1 && LONG.iter().any(|known| known.starts_with(name))
        }
        (None, Some(letters)) => letters.contains(['r', 'R', 'd']),
        (None, None) => false,
    }
}

fn fixed(name: &str) -> Checked {
    match FIXED.contains(&name) || name.starts_with("BASH_") || name.starts_with("FLOWMINE_") {
        true => Err(format!("{name} changes what the commands behind it do: set it before this script runs")),
        false => Ok(()),
    }
}

/// Whether the name is that of a program or builtin with a rule of its own here.
fn is_known(name: &str) -> bool {
    let others = [
        "sbatch",
        "env",
        "nohup",
        "command",
        "cd",
        "pushd",
        "popd",
        "unset",
        "mapfile",
        "readarray",
        "ls",
        "set",
        "shopt",
        "scontrol",
        "type",
        "which",
        "hash",
        "rm",
        "tee",
        "chmod",
        "sort",
        "uniq",
        "awk",
        "gawk",
        "mawk",
        "nawk",
        "sed",
    ];
    HARMLESS.contains(&name) || OPEN.contains(&name) || CHANGING.contains(&name) || others.contains(&name)
}

/// A program without the directory in which all systems have it.
fn program_name(called: &str) -> &str {
    ["/usr/bin/", "/bin/"].iter().find_map(|place| called.strip_prefix(place)).unwrap_or(called)
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

fn shown(name: &str) -> String {
    format!("“{}”", name.chars().take(60).collect::<String>())
}

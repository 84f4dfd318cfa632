//! Slurm: job scripts with `#SBATCH` lines, and scripts that submit them with `sbatch`, as people
//! write them (sbatch(1)).
//!
//! A job script is a task. Of a script that submits, each `sbatch` whose job script can be known
//! without running it is a task; in the new script it submits a job script of ours in that one's
//! place, and all else stays as it is, byte for byte. A job declares no files: lines
//! `#FLOWMINE inputs a b` and `#FLOWMINE outputs c` in the job script declare them. What cannot be
//! known stays, and is noted with its place.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use super::constants::{Constants, is_dirname};
use super::files::{Named, not_too_many};
use super::shell::{self, Simple, Word};
use super::written::Written;
use super::{Entry, Form, Note, Workflow};
use crate::algebra::{Command, FileName, Layer, Parts, Resources, Task};
use crate::error::{Fault, Place};
use crate::script::{Script, quote};

/// Options of sbatch whose argument is not the next word: flags, and those whose argument can be
/// left out and stands behind `=`.
const FLAGS: [&str; 29] = [
    "contiguous",
    "exclusive",
    "get-user-env",
    "help",
    "hold",
    "ignore-pbs",
    "no-bell",
    "no-kill",
    "no-requeue",
    "nice",
    "overcommit",
    "oversubscribe",
    "parsable",
    "propagate",
    "quiet",
    "reboot",
    "requeue",
    "share",
    "spread-job",
    "stepmgr",
    "test-only",
    "usage",
    "use-min-nodes",
    "verbose",
    "version",
    "wait",
    "kill-on-invalid-dep-no",
    "overlap",
    "immediate",
];
const SHORT_FLAGS: &str = "hHIkOQsuvVWZ";

/// How the script of ours stands in the text in place of what the user wrote.
pub(super) struct Slurm {
    text: String,
    jobs: Vec<Job>,
    /// Whether the workflow is the job script itself.
    alone: bool,
}

struct Job {
    /// Of a script that submits: the bytes in whose place our job script stands, and where it is
    /// put when that is not the same place.
    replaced: (usize, usize),
    put_at: usize,
    /// What stands in the head of the new job script.
    head: Vec<String>,
    resources: Resources,
    /// Whether its arguments are known when it runs only.
    arguments: bool,
}

/// Whether a text is a job script or one that submits such: it names its interpreter, and has lines
/// of or calls of sbatch.
pub(super) fn is_slurm(text: &str) -> bool {
    text.starts_with("#!") && (is_job(text) || is_shell(text) && shell::commands(text).iter().any(|command| sbatch(command).is_some()))
}

/// Whether the interpreter is a shell whose language is read here.
fn is_shell(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default().trim_start_matches("#!");
    let name = |word: &str| word.rsplit('/').next().unwrap_or_default().to_owned();
    first.split_whitespace().any(|word| matches!(&*name(word), "sh" | "bash" | "dash" | "ash" | "ksh" | "mksh" | "zsh"))
}

fn is_job(text: &str) -> bool {
    text.lines()
        .skip(1)
        .take_while(|line| line.trim().is_empty() || line.trim_start().starts_with('#'))
        .any(|line| line.starts_with("#SBATCH"))
}

/// The words after `sbatch`, with what may stand before it: `env A=b sbatch …`.
pub(super) fn sbatch(command: &Simple) -> Option<&[Word]> {
    let is = |word: &Word, name: &str| word.literal.as_deref().is_some_and(|text| text == name || text.rsplit('/').next() == Some(name));
    let first = command.words.first()?;
    let carried = ["env", "nohup", "command"].iter().any(|name| is(first, name));
    let at = if carried { command.words.iter().position(|word| is(word, "sbatch"))? } else { 0 };
    is(&command.words[at], "sbatch").then(|| &command.words[at + 1..])
}

pub(super) fn read(file: &str, text: &str, files: &Named<'_>) -> Result<Workflow, Fault> {
    if is_job(text) {
        let name = std::path::Path::new(file).file_name().map_or_else(|| file.into(), |name| name.to_string_lossy());
        let mut script = JobScript::read(&name, text)?;
        if let Some(at) = script.elsewhere {
            return Err(Fault::new(at, format!("{ELSEWHERE}: leave the option out, and go there in the script with cd")));
        }
        let task = script.task("job".to_owned(), Place { line: 1, column: 1 }, &Arguments::AtRun);
        let job =
            Job { replaced: (0, 0), put_at: 0, head: script.head(None), resources: task.task.parts.resources.clone(), arguments: true };
        let slurm = Slurm { text: text.to_owned(), jobs: vec![job], alone: true };
        return Ok(Workflow {
            file: file.to_owned(),
            tasks: vec![task],
            form: Form::Slurm(slurm),
            notes: std::mem::take(&mut script.notes),
        });
    }
    let lines = Lines::of(text);
    let script = shell::script(text);
    let constants = Constants::of(text, &script);
    let mut written = Written::of(text, &script, &constants);
    let moves = moves(&script, &constants, text);
    let (mut tasks, mut jobs, mut notes, mut makers) = (Vec::new(), Vec::new(), Vec::new(), HashMap::new());
    let mut names: HashMap<String, usize> = HashMap::new();
    for command in &script.commands {
        let Some(words) = sbatch(command) else { continue };
        let at = lines.place(command.words[0].start);
        not_too_many(at, tasks.len() + notes.len())?;
        let is_env = command.words.iter().take_while(|word| word.start < words.first().map_or(usize::MAX, |word| word.start));
        let moved = moved_before(command, &moves)
            .map(|by| format!("the script may be in another directory by then (line {})", lines.place(by).line));
        let moved = moved.or_else(|| {
            is_env
                .filter_map(|word| word.literal.as_deref())
                .any(|word| word.starts_with("-C") || word.starts_with("--c"))
                .then(|| ELSEWHERE.to_owned())
        });
        let read = moved.map_or_else(|| Call::read(words, text, &constants), Err).and_then(|call| match &call.what {
            What::Script(path) => match written.by(path) {
                Some(by) => Err(format!(
                    "the script may write “{path}” itself (line {}), and with layers a job reads it when it runs, not when it is submitted",
                    lines.place(by).line
                )),
                None => Ok(call),
            },
            What::Wrapped(_) => Ok(call),
        });
        let call = match read {
            Ok(call) => call,
            Err(why) => {
                notes.push(Note { at, message: format!("this sbatch stays as it is: {why}") });
                continue;
            }
        };
        let of_line = names.entry(format!("line {}", at.line)).or_default();
        *of_line += 1;
        let name = if *of_line == 1 { format!("line {}", at.line) } else { format!("line {}.{of_line}", at.line) };
        let (mut script, text_of) = match &call.what {
            What::Script(path) => {
                let read = match files.text(at, path)? {
                    Ok(read) => read,
                    Err(error) => return Err(Fault::new(at, format!("the job script “{path}” cannot be read: {error}"))),
                };
                (JobScript::read(path, &read).map_err(|fault| Fault::new(at, format!("{path}:{}: {}", fault.at, fault.message)))?, None)
            }
            What::Wrapped(command) => (JobScript::default(), Some(command.clone())),
        };
        notes.append(&mut script.notes);
        if script.elsewhere.is_some() {
            notes.push(Note { at, message: format!("this sbatch stays as it is: {ELSEWHERE}") });
            continue;
        }
        script.take_options(&call.options);
        script.resources.retain(|kind, _| !call.unknown.contains(&kind.as_str()));
        let mut task = script.task(name, at, &call.arguments);
        if let Some(command) = text_of {
            task.task.parts.command.cmd = command;
            task.task.parts.inputs.clear();
            task.category = script.name.clone().or_else(|| Some("wrap".to_owned()));
        }
        // Whose output of sbatch the dependencies name.
        let depends = words.iter().filter_map(|word| text.get(word.start..word.end)).filter(|raw| raw.contains('$'));
        let mut parents: Vec<usize> = depends.flat_map(variables).filter_map(|name| makers.get(name).copied()).collect();
        parents.sort_unstable();
        parents.dedup();
        task.after = parents;
        let is_array = |word: &Word| {
            let raw = text.get(word.start..word.end).unwrap_or_default().trim_start_matches('"');
            word.start < call.put_at && (raw.starts_with("--array") || raw.starts_with("-a"))
        };
        if command.repeated {
            task.repeats = Some("its sbatch stands in a loop or a function");
        } else if words.iter().any(is_array) {
            task.repeats = Some("an array has a job for each index");
        }
        if let Some(variable) = &command.into {
            makers.insert(variable.clone(), tasks.len());
        }
        let default_name = match &call.what {
            What::Script(path) => path.rsplit('/').next().unwrap_or(path).to_owned(),
            What::Wrapped(_) => "wrap".to_owned(),
        };
        let head = script.head(Some(&default_name));
        let arguments = matches!(call.arguments, Arguments::AtRun);
        jobs.push(Job { replaced: call.replaced, put_at: call.put_at, head, resources: task.task.parts.resources.clone(), arguments });
        tasks.push(task);
    }
    let seen: HashSet<u32> = tasks.iter().map(|task| task.task.at.line).chain(notes.iter().map(|note| note.at.line)).collect();
    for note in unseen(text, &seen) {
        not_too_many(note.at, tasks.len() + notes.len())?;
        notes.push(note);
    }
    if tasks.is_empty() {
        let why = notes.first().map_or_else(String::new, |note| format!(": {}", note.message));
        let at = notes.first().map_or(Place { line: 1, column: 1 }, |note| note.at);
        return Err(Fault::new(at, format!("no sbatch of this script can be told without running it{why}")));
    }
    Ok(Workflow { file: file.to_owned(), tasks, form: Form::Slurm(Slurm { text: text.to_owned(), jobs, alone: false }), notes })
}

/// Mentions of sbatch that are no commands here: in variables, functions of other shells, texts
/// that are run later. The first one of each line, of lines that are not `seen`.
fn unseen<'t>(text: &'t str, seen: &'t HashSet<u32>) -> impl Iterator<Item = Note> + 't {
    let is_word = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'));
    let mention = move |line: &str| {
        let bytes = line.as_bytes();
        let is_whole = |at: usize| !(at > 0 && is_word(bytes.get(at - 1)) || is_word(bytes.get(at + "sbatch".len())));
        line.match_indices("sbatch").map(|(at, _)| at).find(|at| is_whole(*at))
    };
    let is_said = |before: &str| {
        let begun = before.trim_start();
        begun.starts_with('#') || before.contains(" #") || begun.starts_with("echo") || begun.starts_with("printf")
    };
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    text.lines().enumerate().filter(move |(n, _)| !seen.contains(&number(n + 1))).filter_map(move |(n, line)| {
        let before = &line[..mention(line)?];
        let at = Place { line: number(n + 1), column: number(before.chars().count() + 1) };
        (!is_said(before)).then(|| Note { at, message: "this sbatch is no command here, and stays as it is".to_owned() })
    })
}

/// Names of variables that a word mentions.
fn variables(raw: &str) -> impl Iterator<Item = &str> {
    raw.split('$').skip(1).map(|rest| {
        let rest = rest.strip_prefix('{').unwrap_or(rest);
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        &rest[..end]
    })
}

/// Finds line and column of bytes in a text.
struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
    /// A byte that was asked for, and its column: later ones of its line are counted from there.
    last: Cell<(usize, usize)>,
}

impl<'t> Lines<'t> {
    fn of(text: &'t str) -> Self {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { text, starts, last: Cell::new((0, 1)) }
    }

    fn place(&self, byte: usize) -> Place {
        let line = self.starts.partition_point(|start| *start <= byte);
        let start = self.starts[line - 1];
        let (known, column) = Some(self.last.get()).filter(|(known, _)| (start..=byte).contains(known)).unwrap_or((start, 1));
        let column = self.text.get(known..byte).map_or(1, |between| between.chars().count() + column);
        self.last.set((byte, column));
        let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Place { line: number(line), column: number(column) }
    }
}

enum What {
    Script(String),
    Wrapped(String),
}

enum Arguments {
    Known(Vec<String>),
    AtRun,
}

/// A call of sbatch, as far as it can be known without running the script.
struct Call {
    options: Vec<String>,
    what: What,
    arguments: Arguments,
    replaced: (usize, usize),
    put_at: usize,
    /// Resources whose amount is known when it runs only.
    unknown: Vec<&'static str>,
}

/// Whether a long option, or what it may be shortened to, sets the directory of the job.
pub(super) fn is_directory(name: &str) -> bool {
    name.len() > 1 && "chdir".starts_with(name) || name == "workdir"
}

/// Whether words of the command line have an option that sets the directory of the job.
fn goes_elsewhere<'w>(mut words: impl Iterator<Item = &'w str>) -> bool {
    words.any(|word| match word.strip_prefix("--") {
        Some(long) => is_directory(long.split('=').next().unwrap_or(long)),
        None => word.strip_prefix('-').is_some_and(|short| short.trim_start_matches(|c| SHORT_FLAGS.contains(c)).starts_with('D')),
    })
}

const ELSEWHERE: &str = "its job runs in another directory (--chdir), where the scripts of the layers are not";

/// The resource that an option is about.
fn kind_of(option: &str) -> Option<&'static str> {
    let kinds = [
        ("--cpus-per-task", "cores"),
        ("-c", "cores"),
        ("--mem", "memory"),
        ("--tmp", "disk"),
        ("--time", "wall-time"),
        ("-t", "wall-time"),
    ];
    let name = option.split('=').next().unwrap_or(option);
    kinds.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
}

impl Call {
    fn read(words: &[Word], text: &str, constants: &Constants) -> Result<Self, String> {
        let mut unknown = Vec::new();
        let words: Vec<&Word> = words.iter().filter(|word| !word.redirected).collect();
        let unsure = || "what it submits is known only when it runs".to_owned();
        let (mut options, mut wrapped, mut n) = (Vec::new(), None, 0);
        while let Some(word) = words.get(n) {
            let raw = text.get(word.start..word.end).unwrap_or_default().trim_start_matches('"');
            if word.literal.is_none() && raw.starts_with("--wrap") {
                return Err("the command that it wraps is known only when it runs".to_owned());
            }
            if word.literal.is_none() && raw.starts_with('-') {
                let name = &raw[..raw.find(['$', '`']).unwrap_or(raw.len())];
                if goes_elsewhere(std::iter::once(name)) {
                    return Err(ELSEWHERE.to_owned());
                }
                // Which option it is, and whether the next word is its argument.
                let is_known =
                    if name.starts_with("--") { name.contains('=') } else { name.len() > 1 && !SHORT_FLAGS.contains(&name[1..2]) };
                if !is_known {
                    return Err(unsure());
                }
                unknown.extend(kind_of(raw));
                n += 1;
                continue;
            }
            let value = constants.value(text, word);
            let Some(literal) = value.as_deref() else {
                if !constants.is_options(raw) {
                    return Err(unsure());
                }
                n += 1;
                continue;
            };
            n += 1;
            let Some(option) = literal.strip_prefix('-').filter(|rest| !rest.is_empty()) else {
                let arguments = words.get(n..).unwrap_or_default();
                let known: Option<Vec<String>> = arguments.iter().map(|word| word.literal.clone()).collect();
                let arguments = known.map_or(Arguments::AtRun, Arguments::Known);
                return Ok(Self {
                    options,
                    what: What::Script(literal.to_owned()),
                    arguments,
                    replaced: (word.start, word.end),
                    put_at: word.start,
                    unknown,
                });
            };
            if goes_elsewhere(std::iter::once(literal)) {
                return Err(ELSEWHERE.to_owned());
            }
            let takes = match option.strip_prefix('-') {
                Some(long) => !long.contains('=') && !FLAGS.contains(&long),
                None => option.len() == 1 && !SHORT_FLAGS.contains(option),
            };
            let argument = takes.then(|| words.get(n)).flatten();
            n += usize::from(takes);
            if option == "-wrap" || option.starts_with("-wrap=") {
                let (value, end) = match (option.strip_prefix("-wrap="), argument) {
                    (Some(value), _) => (Some(value.to_owned()), word.end),
                    (None, Some(next)) => (next.literal.clone(), next.end),
                    (None, None) => (None, word.end),
                };
                wrapped = Some((value.ok_or("the command that it wraps is known only when it runs")?, word.start, end));
                continue;
            }
            options.push(literal.to_owned());
            if let Some(argument) = argument {
                options.push(argument.literal.clone().unwrap_or_default());
                unknown.extend(kind_of(literal).filter(|_| argument.literal.is_none()));
            }
        }
        let (command, start, end) = wrapped.ok_or("it reads the job script from its input")?;
        let put_at = words.last().map_or(end, |word| word.end);
        Ok(Self { options, what: What::Wrapped(command), arguments: Arguments::Known(Vec::new()), replaced: (start, end), put_at, unknown })
    }
}

/// Commands after which the script may be in another directory.
fn moves<'s>(script: &'s shell::Script, constants: &Constants, text: &str) -> Vec<&'s Simple> {
    let stays = |command: &Simple| {
        let to = command.words.get(1).filter(|_| command.words.len() == 2 && command.program() == Some("cd"));
        to.is_some_and(|word| is_dirname(&text[word.start..word.end]) || constants.value(text, word).as_deref() == Some("."))
    };
    script.commands.iter().filter(|command| command.changes_directory() && !stays(command)).collect()
}

/// The place of the first of these that may come before a call, in its shell.
fn moved_before(call: &Simple, moves: &[&Simple]) -> Option<usize> {
    let at = call.words.first()?.start;
    moves.iter().find_map(|command| {
        let start = command.words.first()?.start;
        // In a loop or a function, what stands behind the call may come before it.
        let comes_before = start < at || call.repeated;
        (comes_before && at < command.until).then_some(start)
    })
}

/// A job script, with what its `#SBATCH` and `#FLOWMINE` lines say.
#[derive(Default)]
struct JobScript {
    file: String,
    interpreter: Vec<String>,
    /// The `#SBATCH` lines of the script.
    lines: Vec<String>,
    name: Option<String>,
    resources: Resources,
    inputs: Vec<FileName>,
    outputs: Vec<FileName>,
    declares: bool,
    array: bool,
    /// Where a line gives the job another directory.
    elsewhere: Option<Place>,
    notes: Vec<Note>,
}

impl JobScript {
    fn read(file: &str, text: &str) -> Result<Self, Fault> {
        let mut script = Self { file: file.to_owned(), ..Self::default() };
        let mut lines = text.lines().enumerate();
        let first = lines.next().map(|(_, line)| line).unwrap_or_default();
        let start = Place { line: 1, column: 1 };
        let interpreter = first.strip_prefix("#!").ok_or_else(|| Fault::new(start, "a job script begins with #! and its interpreter"))?;
        // One argument at most, as the kernel takes it.
        let (program, argument) = interpreter.trim().split_once(char::is_whitespace).unwrap_or((interpreter.trim(), ""));
        script.interpreter = [program, argument.trim()].iter().filter(|word| !word.is_empty()).map(|word| (*word).to_owned()).collect();
        let mut options = Vec::new();
        let mut in_head = true;
        for (n, line) in lines {
            let at = Place { line: u32::try_from(n + 1).unwrap_or(u32::MAX), column: 1 };
            in_head &= line.trim().is_empty() || line.trim_start().starts_with('#');
            if let (true, Some(rest)) = (in_head, line.strip_prefix("#SBATCH").filter(|rest| rest.starts_with([' ', '\t']))) {
                script.lines.push(line.trim_end().to_owned());
                let words: Vec<Word> = shell::commands(rest).into_iter().flat_map(|command| command.words).collect();
                let raw = words.iter().map(|word| word.literal.as_deref().unwrap_or(&rest[word.start..word.end]));
                script.elsewhere = script.elsewhere.or(goes_elsewhere(raw).then_some(at));
                options.extend(words.into_iter().filter_map(|word| word.literal));
            }
            if let Some(rest) = line.strip_prefix("#FLOWMINE ") {
                script.declared(rest, at)?;
            }
        }
        script.take_options(&options);
        Ok(script)
    }

    /// `inputs a b`, `outputs c`.
    fn declared(&mut self, rest: &str, at: Place) -> Result<(), Fault> {
        let commands = shell::commands(rest);
        let words: Option<Vec<String>> = commands.iter().flat_map(|command| &command.words).map(|word| word.literal.clone()).collect();
        let words = words.ok_or_else(|| Fault::new(at, "a declared file has a name without variables and patterns"))?;
        let list = match words.first().map(String::as_str) {
            Some("inputs") => &mut self.inputs,
            Some("outputs") => &mut self.outputs,
            _ => return Err(Fault::new(at, "it is #FLOWMINE inputs NAME… or #FLOWMINE outputs NAME…")),
        };
        list.extend(words.iter().skip(1).map(|name| FileName::plain(name)));
        self.declares = true;
        Ok(())
    }

    /// What options say of name and resources; later ones hold.
    fn take_options(&mut self, words: &[String]) {
        let mut n = 0;
        while let Some(word) = words.get(n) {
            n += 1;
            let (name, value) = match word.strip_prefix("--") {
                Some(long) => match long.split_once('=') {
                    Some((name, value)) => (name, Some(value.to_owned())),
                    None if FLAGS.contains(&long) => (long, None),
                    None => {
                        n += 1;
                        (long, words.get(n - 1).cloned())
                    }
                },
                None => {
                    let Some(short) = word.strip_prefix('-') else { continue };
                    let (name, rest) = short.split_at(short.chars().next().map_or(0, char::len_utf8));
                    match () {
                        () if !rest.is_empty() => (name, Some(rest.to_owned())),
                        () if SHORT_FLAGS.contains(name) => (name, None),
                        () => {
                            n += 1;
                            (name, words.get(n - 1).cloned())
                        }
                    }
                }
            };
            let Some(value) = value else { continue };
            let (kind, amount) = match name {
                "job-name" | "J" => {
                    self.name = Some(value).filter(|name| !name.is_empty());
                    continue;
                }
                "array" | "a" => {
                    self.array = true;
                    continue;
                }
                "cpus-per-task" | "c" => ("cores", value.parse().ok()),
                "mem" => ("memory", megabytes(&value)),
                "tmp" => ("disk", megabytes(&value)),
                "time" | "t" => ("wall-time", seconds(&value)),
                _ => continue,
            };
            match amount {
                Some(amount) => self.resources.insert(kind.to_owned(), amount),
                // What is not understood is not known.
                None => self.resources.remove(kind),
            };
        }
    }

    fn task(&self, name: String, at: Place, arguments: &Arguments) -> Entry {
        let program: Vec<String> = self.interpreter.iter().chain([&self.run_as()]).map(|word| quote(word)).collect();
        let program = program.join(" ");
        let cmd = match arguments {
            Arguments::Known(words) => {
                let words: String = words.iter().map(|word| format!(" {}", quote(word))).collect();
                format!("exec {program}{words}")
            }
            Arguments::AtRun => {
                format!(
                    "eval \"set -- ${{FLOWMINE_ARGS?a layer does not hand the arguments of the job down}}\"; unset FLOWMINE_ARGS; exec {program} \"$@\""
                )
            }
        };
        let stem = std::path::Path::new(&self.file).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let own = FileName::plain(&self.file);
        let inputs = std::iter::once(own.clone()).chain(self.inputs.iter().filter(|file| **file != own).cloned()).collect();
        let command = Command { cmd, ..Command::default() };
        let parts =
            Parts { command, inputs, outputs: self.outputs.clone(), environment: Default::default(), resources: self.resources.clone() };
        let task = Task::plain(name, at, parts);
        Entry {
            task,
            category: self.name.clone().or(stem),
            after: Vec::new(),
            files: self.declares,
            repeats: self.array.then_some("an array has a job for each index"),
        }
    }

    fn run_as(&self) -> String {
        if self.file.contains('/') { self.file.clone() } else { format!("./{}", self.file) }
    }

    /// The lines for sbatch; a job is called after its script where it has no name.
    fn head(&self, default_name: Option<&str>) -> Vec<String> {
        let mut head = self.lines.clone();
        if let (None, Some(name)) = (&self.name, default_name) {
            head.push(format!("#SBATCH --job-name={}", quoted_option(name)));
        }
        head
    }
}

/// A value on a line of #SBATCH, which is no shell: double quotes and backslashes only.
fn quoted_option(value: &str) -> String {
    let one_line: String = value.chars().map(|c| if c.is_control() { '_' } else { c }).collect();
    format!("\"{}\"", one_line.replace('\\', "\\\\").replace('"', "\\\""))
}

/// `4G`, `500` (MB), `512K`, `1T`.
fn megabytes(value: &str) -> Option<i64> {
    let (number, unit) = value.split_at(value.find(|c: char| !c.is_ascii_digit()).unwrap_or(value.len()));
    let number: i64 = number.parse().ok()?;
    match unit.trim_end_matches(['B', 'b']) {
        "" | "M" | "m" => Some(number),
        "K" | "k" => Some(number.checked_add(1023)? / 1024),
        "G" | "g" => number.checked_mul(1 << 10),
        "T" | "t" => number.checked_mul(1 << 20),
        _ => None,
    }
}

/// `minutes`, `minutes:seconds`, `hours:minutes:seconds`, `days-hours[:minutes[:seconds]]`.
fn seconds(value: &str) -> Option<i64> {
    let (days, rest) = value.split_once('-').map_or((None, value), |(days, rest)| (Some(days), rest));
    let parts: Vec<i64> =
        rest.split(':').map(|part| part.parse().ok().filter(|n: &i64| (0..1_000_000).contains(n))).collect::<Option<_>>()?;
    let days: i64 = days.map_or(Some(0), |days| days.parse().ok().filter(|n: &i64| (0..100_000).contains(n)))?;
    let in_order = value.contains('-');
    let (hours, minutes, seconds) = match (&parts[..], in_order) {
        ([h], true) => (*h, 0, 0),
        ([h, m], true) => (*h, *m, 0),
        ([m], false) => (0, *m, 0),
        ([m, s], false) => (0, *m, *s),
        ([h, m, s], _) => (*h, *m, *s),
        _ => return None,
    };
    Some(((days * 24 + hours) * 60 + minutes) * 60 + seconds)
}

/// Options for what a layer has changed.
fn changed(before: &Resources, after: &Resources) -> Vec<String> {
    let option = |(kind, amount): (&String, &i64)| {
        if before.get(kind) == Some(amount) {
            return None;
        }
        Some(match &**kind {
            "cores" => format!("--cpus-per-task={amount}"),
            "memory" => format!("--mem={amount}M"),
            "disk" => format!("--tmp={amount}M"),
            "wall-time" => format!("--time={}", amount.saturating_add(59) / 60),
            _ => return None,
        })
    };
    after.iter().filter_map(option).collect()
}

impl Slurm {
    /// The new workflow, and the job scripts beside it.
    pub(super) fn write(&self, tasks: &[(Task, Vec<Layer>)]) -> (String, Vec<Script>) {
        let (mut edits, mut scripts) = (Vec::new(), Vec::new());
        for (job, (task, layers)) in self.jobs.iter().zip(tasks) {
            let Some(outermost) = layers.last() else { continue };
            let options = changed(&job.resources, &task.parts.resources);
            let text = job.script(outermost, if self.alone { &options } else { &[] });
            if self.alone {
                return (text, Vec::new());
            }
            let name = format!("t_{}.sbatch", outermost.id);
            let put: String = options.iter().map(|option| format!("{option} ")).collect::<String>() + &name;
            scripts.push(Script { name, text });
            let (start, end) = job.replaced;
            if job.put_at == start {
                edits.push((start, end, put));
            } else {
                edits.push((start, end, String::new()));
                edits.push((job.put_at, job.put_at, format!(" {put}")));
            }
        }
        edits.sort();
        let (mut out, mut at) = (String::with_capacity(self.text.len()), 0);
        for (start, end, put) in &edits {
            out.push_str(&self.text[at..*start]);
            out.push_str(put);
            at = *end;
        }
        out.push_str(&self.text[at..]);
        (out, scripts)
    }
}

/// Quotes the job's arguments into `FLOWMINE_ARGS`, from which the task takes them; layers hand no
/// arguments down.
pub(super) const ARGUMENTS: &str = r#"FLOWMINE_ARGS=
for fm_a; do
  fm_q=
  while :; do
    case $fm_a in *\'*) ;; *) break ;; esac
    fm_q=$fm_q${fm_a%%\'*}"'\\''" fm_a=${fm_a#*\'}
  done
  FLOWMINE_ARGS="$FLOWMINE_ARGS '$fm_q$fm_a'"
done
export FLOWMINE_ARGS
"#;

impl Job {
    fn script(&self, outermost: &Layer, options: &[String]) -> String {
        let mut out = String::from("#!/bin/sh\n");
        for line in &self.head {
            out.push_str(line);
            out.push('\n');
        }
        for option in options {
            out.push_str("#SBATCH ");
            out.push_str(option);
            out.push('\n');
        }
        // Read to its end before anything of it runs.
        out.push_str("# flowmine transform\n{\n");
        if self.arguments {
            out.push_str(ARGUMENTS);
        }
        out.push_str(&format!("exec ./{}\n}}\n", outermost.script()));
        out
    }
}

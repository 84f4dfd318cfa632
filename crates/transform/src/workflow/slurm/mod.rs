//! Slurm: job scripts with `#SBATCH` lines, and scripts that submit them with `sbatch`, as people
//! write them (sbatch(1)).
//!
//! A job script is a task. A script that submits jobs is transformed only if all of it is
//! understood. Each `sbatch` with a job script that is known without running it is a task. In the
//! new script it submits flowmine's job script instead, and all else stays the same, byte for byte.
//! Slurm has no declaration of files: lines `#FLOWMINE inputs a b` and `#FLOWMINE outputs c` in the
//! job script declare them. Calls that depend on the run stay unchanged, and are noted with their
//! place.

mod call;
mod job_script;
mod options;

pub(super) use call::sbatch;
pub(super) use options::leaves_job;

use std::collections::{BTreeSet, HashMap};

use super::constants::Constants;
use super::files::is_device;
use super::files::{Named, not_too_many};
use super::lines::Lines;
use super::one_word::OneWord;
use super::shell::{self, Dialect, Simple, Word, assigned};
use super::understood::{Chain, Mentioned, can_be_written, without_conversions};
use super::{Form, Note, Workflow};
use crate::algebra::{Layer, Resources, Task};
use crate::error::{Fault, Place};
use crate::script::Script;
use call::{Arguments, Call, ELSEWHERE, JobCommand};
use job_script::{JobScript, directive};
use options::is_array;

/// Where flowmine's job scripts replace the user's in the text.
pub(super) struct Slurm {
    text: String,
    jobs: Vec<Job>,
    /// Whether the workflow is the job script itself.
    alone: bool,
    /// Names that a script that submits jobs mentions.
    mentioned: Mentioned,
}

struct Job {
    /// In a script that submits jobs: the range of bytes that flowmine's job script replaces, and
    /// where it is inserted if that is another place.
    replaced: (usize, usize),
    put_at: usize,
    /// The lines at the head of the new job script.
    head: Vec<String>,
    resources: Resources,
    /// Whether its arguments are known only when it runs.
    arguments: bool,
}

/// The variable from which sbatch takes the indexes of an array: a script that mentions it may set it.
const ARRAY_VARIABLE: &str = "SBATCH_ARRAY_INX";

/// Whether a text is a job script or one that submits such: it names its interpreter, and has lines
/// `#SBATCH` or mentions sbatch.
pub(super) fn is_slurm(text: &str) -> bool {
    let mentions = |line: &str| mentions(line).next().is_some_and(|at| !line[..at].trim_start().starts_with('#'));
    text.starts_with("#!") && (is_job(text) || shell_of(text).is_some() && text.lines().any(mentions))
}

/// The name of the shell that the first line names, and its options.
fn shell_of(text: &str) -> Option<(&str, Vec<&str>)> {
    let words: Vec<&str> = text.lines().next()?.trim_start_matches("#!").split_whitespace().collect();
    let name = |word: &str| matches!(word.rsplit('/').next(), Some("sh" | "bash" | "dash" | "ash" | "ksh" | "mksh" | "zsh"));
    let at = words.iter().position(|word| name(word)).filter(|at| words.iter().take(*at).skip(1).all(|word| *word == "-S"))?;
    Some((words[at].rsplit('/').next()?, words[at + 1..].to_vec()))
}

/// The language of a script that submits.
fn dialect(text: &str) -> Result<Dialect, String> {
    let (shell, options) = shell_of(text).unwrap_or_default();
    let are_known =
        options.iter().all(|word| word.strip_prefix('-').is_some_and(|letters| letters.chars().all(|letter| "aefuvxl".contains(letter))));
    match shell {
        _ if !are_known => Err("options of the shell in the first line are understood as letters of -aefuvx".to_owned()),
        "bash" => Ok(Dialect::Bash),
        "zsh" => {
            Err("the language of zsh is not understood: write the script for bash, or transform the job scripts one by one".to_owned())
        }
        _ => Ok(Dialect::Posix),
    }
}

fn is_job(text: &str) -> bool {
    text.lines()
        .skip(1)
        .take_while(|line| line.trim().is_empty() || line.trim_start().starts_with('#'))
        .any(|line| directive(line).is_some())
}

pub(super) fn read(file: &str, text: &str, files: &Named<'_>) -> Result<Workflow, Fault> {
    if is_job(text) {
        let name = std::path::Path::new(file).file_name().map_or_else(|| file.into(), |name| name.to_string_lossy());
        let mut script = JobScript::read(&name, text)?;
        if let Some(at) = script.elsewhere {
            return Err(Fault::new(at, format!("{ELSEWHERE}: leave the option out, and go there in the script with cd")));
        }
        for shape in &script.writes {
            leaves_scripts(shape, &[name.clone().into_owned()], files).map_err(|why| Fault::new(Place { line: 1, column: 1 }, why))?;
        }
        let task = script.task("job".to_owned(), Place { line: 1, column: 1 }, &Arguments::AtRun);
        let job =
            Job { replaced: (0, 0), put_at: 0, head: script.head(None), resources: task.task.parts.resources.clone(), arguments: true };
        let slurm = Slurm { text: text.to_owned(), jobs: vec![job], alone: true, mentioned: Mentioned::default() };
        return Ok(Workflow {
            file: file.to_owned(),
            tasks: vec![task],
            form: Form::Slurm(slurm),
            notes: std::mem::take(&mut script.notes),
        });
    }
    let lines = Lines::of(text);
    let start = Place { line: 1, column: 1 };
    let dialect = dialect(text).map_err(|why| Fault::new(start, why))?;
    let script = shell::script(text, dialect).map_err(|unclear| {
        let what = "this script submits jobs, and is transformed only where all of it is understood (docs/transform.md)";
        Fault::new(lines.place(unclear.at), format!("{}. {what}", unclear.why))
    })?;
    let constants = Constants::new(text, &script);
    let one = OneWord::new(text, &script, &constants);
    let mut calls = Vec::new();
    for command in &script.commands {
        let Some(words) = sbatch(command) else { continue };
        let at = lines.place(command.start);
        not_too_many(at, calls.len())?;
        calls.push((command, words, at, Call::read(command, words, text, &constants, &one)));
    }
    let paths = calls.iter().filter_map(|(_, _, _, call)| match &call.as_ref().ok()?.what {
        JobCommand::Script(path) => Some(path.clone()),
        JobCommand::Wrapped(_) => None,
    });
    let own = std::path::Path::new(file).file_name().map(|name| name.to_string_lossy().into_owned());
    let scripts: BTreeSet<String> = paths.chain(own).collect();
    let scripts: Vec<String> = scripts.into_iter().collect();
    let mentioned = Chain { text, script: &script, constants: &constants, one: &one, scripts: &scripts, files }
        .check()
        .map_err(|fault| Fault::new(lines.place(fault.at), fault.why))?;
    let (mut tasks, mut jobs, mut notes, mut makers) = (Vec::new(), Vec::new(), Vec::new(), HashMap::new());
    let sets_array = sets_array(text, &script);
    let mut names: HashMap<String, usize> = HashMap::new();
    for (command, words, at, read) in calls {
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
            JobCommand::Script(path) => {
                let read = match files.text(at, path)? {
                    Ok(read) => read,
                    Err(error) => return Err(Fault::new(at, format!("the job script “{path}” cannot be read: {error}"))),
                };
                (JobScript::read(path, &read).map_err(|fault| Fault::new(at, format!("{path}:{}: {}", fault.at, fault.message)))?, None)
            }
            JobCommand::Wrapped(command) => (JobScript::default(), Some(command.clone())),
        };
        notes.append(&mut script.notes);
        if script.elsewhere.is_some() {
            notes.push(Note { at, message: format!("this sbatch stays as it is: {ELSEWHERE}") });
            continue;
        }
        let by_call = call.outputs.iter().map(|(shape, at)| (shape, lines.place(*at)));
        for (shape, at) in by_call.chain(script.writes.iter().map(|shape| (shape, at))) {
            leaves_scripts(shape, &scripts, files).map_err(|why| Fault::new(at, why))?;
        }
        script.take_options(&call.options);
        script.resources.retain(|kind, _| !call.unknown.contains(&kind.as_str()));
        let mut task = script.task(name, at, &call.arguments);
        if let Some(command) = text_of {
            task.task.parts.command.cmd = command;
            task.task.parts.inputs.clear();
            task.category = script.name.clone().or_else(|| Some("wrap".to_owned()));
        }
        // The tasks with an output of sbatch that the dependencies name.
        let depends = words.iter().filter_map(|word| text.get(word.start..word.end)).filter(|raw| raw.contains('$'));
        let mut parents: Vec<usize> = depends.flat_map(variables).filter_map(|name| makers.get(name).copied()).collect();
        parents.sort_unstable();
        parents.dedup();
        task.after = parents;
        let makes_array = |word: &Word| {
            let raw = text.get(word.start..word.end).unwrap_or_default().trim_start_matches(['"', '\'']);
            word.start < call.put_at && (is_array(raw) || word.literal.as_deref().is_some_and(is_array))
        };
        if command.repeated {
            task.repeats = Some("its sbatch is in a loop or a function");
        } else if sets_array || words.iter().any(makes_array) || call.options.iter().any(|word| is_array(word)) {
            task.repeats = Some("an array has a job for each index");
        }
        if let Some(variable) = &command.into {
            makers.insert(variable.clone(), tasks.len());
        }
        let default_name = match &call.what {
            JobCommand::Script(path) => path.rsplit('/').next().unwrap_or(path).to_owned(),
            JobCommand::Wrapped(_) => "wrap".to_owned(),
        };
        let head = script.head(Some(&default_name));
        let arguments = matches!(call.arguments, Arguments::AtRun);
        jobs.push(Job { replaced: call.replaced, put_at: call.put_at, head, resources: task.task.parts.resources.clone(), arguments });
        tasks.push(task);
    }
    // A command with its name in a variable is not read as a call.
    for command in &script.commands {
        let first = command.words.first().filter(|word| word.literal.is_none());
        let value = first.and_then(|word| constants.split(text.get(word.start..word.end)?, word.start));
        if value.and_then(|value| value.split_whitespace().next()) == Some("sbatch") {
            let at = lines.place(command.start);
            notes.push(Note { at, message: "this sbatch stays as it is: its name is in a variable, write it out".to_owned() });
        }
    }
    for note in unseen(text, &lines, &seen(&script)) {
        not_too_many(note.at, tasks.len() + notes.len())?;
        notes.push(note);
    }
    if tasks.is_empty() {
        let why = notes.first().map_or_else(String::new, |note| format!(": {}", note.message));
        let at = notes.first().map_or(Place { line: 1, column: 1 }, |note| note.at);
        return Err(Fault::new(at, format!("no sbatch of this script can be determined without running it{why}")));
    }
    let slurm = Slurm { text: text.to_owned(), jobs, alone: false, mentioned };
    Ok(Workflow { file: file.to_owned(), tasks, form: Form::Slurm(slurm), notes })
}

/// Refuses a file for the output of a job that is, or can be, a job script: sbatch empties it.
fn leaves_scripts(shape: &str, scripts: &[String], files: &Named<'_>) -> Result<(), String> {
    let path = without_conversions(shape);
    if path.is_empty() || is_device(&path) {
        return Ok(());
    }
    if !files.may_compare(scripts.len()) {
        return Err("the script submits too many jobs to compare their output with its job scripts: split it".to_owned());
    }
    let is_changed = |script: &&String| match path.contains('$') {
        true => can_be_written(&path, script),
        false => files.can_change(&path, script),
    };
    match scripts.iter().find(is_changed) {
        None => Ok(()),
        Some(script) => Err(format!(
            "the output of the job goes to “{shape}”, which is, holds or can be the script “{script}”: name another file (--output, --error)"
        )),
    }
}

/// Whether a script may give the jobs that it submits indexes of an array by a variable.
fn sets_array(text: &str, script: &shell::Script) -> bool {
    let words = script.commands.iter().flat_map(|command| command.assigned.iter().chain(&command.words).chain(&command.values));
    let value = |word: &Word| {
        let raw = text.get(word.start..word.end)?;
        assigned(raw).and(raw.split_once('=')).map(|(_, value)| value.trim_start_matches(['"', '\'']))
    };
    text.contains(ARRAY_VARIABLE) || words.filter_map(value).any(is_array)
}

/// Returns the places at which a line mentions sbatch.
fn mentions(line: &str) -> impl Iterator<Item = usize> {
    let is_word = move |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'));
    let bytes = line.as_bytes();
    let is_whole = move |at: usize| !(at > 0 && is_word(bytes.get(at - 1)) || is_word(bytes.get(at + "sbatch".len())));
    line.match_indices("sbatch").map(|(at, _)| at).filter(move |at| is_whole(*at))
}

/// Names of variables that a word mentions.
fn variables(raw: &str) -> impl Iterator<Item = &str> {
    raw.split('$').skip(1).map(|rest| {
        let rest = rest.strip_prefix('{').unwrap_or(rest);
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        &rest[..end]
    })
}

/// Returns the ranges of bytes in which a mention of sbatch is a call, or has no effect, in order.
fn seen(script: &shell::Script) -> Vec<(usize, usize)> {
    let is_seen = |command: &&Simple| sbatch(command).is_some() || matches!(command.program(), Some("echo" | "printf"));
    let commands = script.commands.iter().filter(is_seen);
    let whole = commands.map(|command| (command.start, command.words.iter().map(|word| word.end).max().unwrap_or(command.start)));
    let mut parts: Vec<(usize, usize)> = whole.chain(script.comments.iter().copied()).collect();
    parts.sort_unstable();
    parts.dedup_by(|next, part| {
        let within = next.0 <= part.1;
        part.1 = if within { part.1.max(next.1) } else { part.1 };
        within
    });
    parts
}

/// Mentions of sbatch that are no commands here: in variables, functions of other shells, texts
/// that are run later. The first one of each line, of those that are not `seen`.
fn unseen<'t>(text: &'t str, lines: &'t Lines<'t>, seen: &'t [(usize, usize)]) -> impl Iterator<Item = Note> + 't {
    let is_seen = |at: usize| {
        let behind = seen.partition_point(|(start, _)| *start <= at);
        behind > 0 && seen[behind - 1].1 > at
    };
    let mut behind = 0;
    text.split_inclusive('\n').filter_map(move |line| {
        let start = behind;
        behind += line.len();
        let at = mentions(line).map(|at| start + at).find(|at| !is_seen(*at))?;
        Some(Note { at: lines.place(at), message: "this sbatch is no command here, and stays as it is".to_owned() })
    })
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
    /// Refuses a new file of the directory that the script mentions, or that a pattern of it can match.
    pub(super) fn refuse_mentioned(&self, file: &str) -> Result<(), Fault> {
        let file = file.trim_start_matches("./").trim_end_matches('/');
        let Some((at, shape)) = self.mentioned.first(file) else { return Ok(()) };
        let what = if shape == file { "this names" } else { "this can match" };
        let why = format!("{what} “{file}” (“{shape}”), which is new in the directory: choose another name for that file");
        Err(Fault::new(Lines::of(&self.text).place(at), why))
    }

    /// Whether it is a script that submits other scripts.
    pub(super) fn is_chain(&self) -> bool {
        !self.alone
    }

    /// Returns the new workflow, and the job scripts next to it.
    pub(super) fn write(&self, tasks: &[(Task, Vec<Layer>)]) -> (String, Vec<Script>) {
        let (mut edits, mut scripts) = (Vec::new(), Vec::new());
        for (job, (task, layers)) in self.jobs.iter().zip(tasks) {
            let Some(outermost) = layers.last() else { continue };
            let options = changed(&job.resources, &task.parts.resources);
            let text = job.script(outermost, if self.alone { &options } else { &[] });
            if self.alone {
                return (text, Vec::new());
            }
            let name = outermost.file("sbatch");
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

/// Quotes the job's arguments into `FLOWMINE_ARGS`, from which the task takes them; layers pass no
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

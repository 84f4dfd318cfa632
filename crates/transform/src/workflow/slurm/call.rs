//! A call of `sbatch` in a script: its options, what it submits, and the arguments of that.

use super::super::constants::Constants;
use super::super::one_word::{OneWord, QUOTE};
use super::super::shell::{Simple, Word, assigned};
use super::options::{CallOption, goes_elsewhere};

/// The words after `sbatch`, with what may stand before it: `env A=b sbatch …`.
pub(in crate::workflow) fn sbatch(command: &Simple) -> Option<&[Word]> {
    let first = command.program()?;
    let carried = match first {
        "env" | "/usr/bin/env" => command.words[1..].iter().take_while(|word| assigned(&word.shape).is_some()).count() + 1,
        "nohup" | "command" => 1,
        _ => 0,
    };
    let is_sbatch =
        |word: &Word| word.literal.as_deref().is_some_and(|text| text == "sbatch" || text.starts_with('/') && text.ends_with("/sbatch"));
    command.words.get(carried).is_some_and(is_sbatch).then(|| &command.words[carried + 1..])
}

/// Job script or command of a call.
pub(super) enum JobCommand {
    Script(String),
    Wrapped(String),
}

/// The arguments of a job script.
pub(super) enum Arguments {
    Known(Vec<String>),
    AtRun,
}

/// A call of sbatch, as far as it can be known without running the script.
pub(super) struct Call {
    pub options: Vec<String>,
    /// The names of files that the job writes (`--output`, `--error`), with `$` for parts that are
    /// known only when it runs, and the place of each.
    pub outputs: Vec<(String, usize)>,
    pub what: JobCommand,
    pub arguments: Arguments,
    pub replaced: (usize, usize),
    pub put_at: usize,
    /// Resources with an amount that is known only when it runs.
    pub unknown: Vec<&'static str>,
}

pub(super) const ELSEWHERE: &str = "its job runs in another directory (--chdir), where the scripts of the layers are not";

/// Returns the resource that an option sets.
fn kind_of(option: &str) -> Option<&'static str> {
    let kinds = [("cpus-per-task", "cores"), ("mem", "memory"), ("tmp", "disk"), ("time", "wall-time")];
    let name = CallOption::new(option)?.name;
    kinds.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
}

/// Returns the value of an option within its own word: `x_$` of `--output=x_$` and `-ox_$`.
fn behind_option(shape: &str) -> String {
    let value = match shape.starts_with("--") {
        true => shape.split_once('=').map(|(_, value)| value),
        false => CallOption::new(shape).and_then(|option| option.value),
    };
    value.unwrap_or("$").to_owned()
}

impl Call {
    pub(super) fn read(command: &Simple, words: &[Word], text: &str, constants: &Constants, one: &OneWord<'_>) -> Result<Self, String> {
        let mut unknown = Vec::new();
        let splits = |word: &Word| {
            let raw: String = text.get(word.start..word.end).unwrap_or_default().chars().take(60).collect();
            format!("its option “{raw}” is known only when it runs, and {QUOTE}")
        };
        let words: Vec<&Word> = words.iter().collect();
        if words.iter().any(|word| word.literal.as_deref() == Some(":")) {
            return Err("it submits a job of several components".to_owned());
        }
        let unsure = || "what it submits is known only when it runs".to_owned();
        let (mut options, mut outputs, mut wrapped, mut n, mut have_ended) = (Vec::new(), Vec::new(), None, 0, false);
        while let Some(word) = words.get(n) {
            let raw = text.get(word.start..word.end).unwrap_or_default().trim_start_matches('"');
            if word.literal.is_none() && CallOption::new(raw).is_some_and(|option| option.name == "wrap") {
                return Err("the command that it wraps is known only when it runs".to_owned());
            }
            if word.literal.is_none() && raw.starts_with('-') && !have_ended {
                let name = &raw[..raw.find(['$', '`']).unwrap_or(raw.len())];
                if goes_elsewhere(std::iter::once(name)) {
                    return Err(ELSEWHERE.to_owned());
                }
                // Which option it is, and whether the next word is its argument.
                let is_known = |option: &CallOption<'_>| match name.starts_with("--") {
                    true => option.value.is_some() && !option.is_ambiguous(),
                    false => !option.is_flag() && !option.is_unclear(),
                };
                let Some(option) = CallOption::new(name).filter(is_known) else { return Err(unsure()) };
                if !one.is_one(word, command) {
                    return Err(splits(word));
                }
                if !name.starts_with("--") && option.needs_argument() && !one.is_longer(word, command, 2) {
                    return Err(format!(
                        "its option “{}” takes the next word where its value is empty: write “{} \"…\"”",
                        raw.chars().take(60).collect::<String>(),
                        &name[..2]
                    ));
                }
                unknown.extend(kind_of(raw));
                if option.names_output() {
                    outputs.push((behind_option(&word.shape), word.start));
                }
                n += 1;
                continue;
            }
            let value = constants.value(text, word);
            let Some(literal) = value.as_deref() else {
                if !constants.is_options(raw) {
                    return Err(unsure());
                }
                if !one.is_one_or_none(word, command) {
                    return Err(splits(word));
                }
                n += 1;
                continue;
            };
            n += 1;
            if literal.is_empty() && !one.is_one(word, command) {
                continue;
            }
            if literal == "--" && !have_ended {
                have_ended = true;
                continue;
            }
            let Some(option) = CallOption::new(literal).filter(|_| !have_ended) else {
                let arguments = words.get(n..).unwrap_or_default();
                let known: Option<Vec<String>> = arguments.iter().map(|word| word.literal.clone()).collect();
                let arguments = known.map_or(Arguments::AtRun, Arguments::Known);
                return Ok(Self {
                    options,
                    outputs,
                    what: JobCommand::Script(literal.to_owned()),
                    arguments,
                    replaced: (word.start, word.end),
                    put_at: word.start,
                    unknown,
                });
            };
            if goes_elsewhere(std::iter::once(literal)) {
                return Err(ELSEWHERE.to_owned());
            }
            if option.is_ambiguous() {
                return Err(format!("sbatch has several options that begin with {literal}: write the option in full"));
            }
            if option.is_unclear() {
                return Err(format!(
                    "whether {literal} takes the next word is not known, because it is no option of Slurm itself: write \
                     {literal}=VALUE, or put it on a line #SBATCH of the job script"
                ));
            }
            let takes = option.takes_next();
            let argument = takes.then(|| words.get(n)).flatten();
            n += usize::from(takes);
            if let Some(argument) = argument.filter(|argument| !one.is_one(argument, command)) {
                return Err(splits(argument));
            }
            if option.name == "wrap" {
                let (value, end) = match (option.value, argument) {
                    (Some(value), _) => (Some(value.to_owned()), word.end),
                    (None, Some(next)) => (next.literal.clone(), next.end),
                    (None, None) => (None, word.end),
                };
                wrapped = Some((value.ok_or("the command that it wraps is known only when it runs")?, word.start, end));
                continue;
            }
            options.push(literal.to_owned());
            if option.names_output() {
                match argument {
                    Some(argument) => outputs.push((argument.shape.clone(), argument.start)),
                    None => outputs.extend(option.value.map(|value| (value.to_owned(), word.start))),
                }
            }
            if let Some(argument) = argument {
                options.push(argument.literal.clone().unwrap_or_default());
                unknown.extend(kind_of(literal).filter(|_| argument.literal.is_none()));
            }
        }
        let (command, start, end) = wrapped.ok_or("it reads the job script from its input")?;
        let put_at = words.last().map_or(end, |word| word.end);
        Ok(Self {
            options,
            outputs,
            what: JobCommand::Wrapped(command),
            arguments: Arguments::Known(Vec::new()),
            replaced: (start, end),
            put_at,
            unknown,
        })
    }
}

//! Job scripts, with the declarations of their lines `#SBATCH` and `#FLOWMINE`.

use super::call::Arguments;
use super::options::{CallOption, goes_elsewhere};
use crate::algebra::{Command, FileName, Parts, Resources, Task};
use crate::error::{Fault, Place};
use crate::script::quote;
use crate::workflow::Entry;

/// A job script, with the declarations of its `#SBATCH` and `#FLOWMINE` lines.
#[derive(Default)]
pub(super) struct JobScript {
    file: String,
    interpreter: Vec<String>,
    /// The `#SBATCH` lines of the script.
    lines: Vec<String>,
    pub name: Option<String>,
    pub resources: Resources,
    inputs: Vec<FileName>,
    outputs: Vec<FileName>,
    declares: bool,
    array: bool,
    /// The names of files that the job writes, with the patterns of sbatch(1).
    pub writes: Vec<String>,
    /// Place of a line that sets another directory for the job.
    pub elsewhere: Option<Place>,
    pub notes: Vec<crate::workflow::Note>,
}

impl JobScript {
    pub(super) fn read(file: &str, text: &str) -> Result<Self, Fault> {
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
            if let (true, Some(rest)) = (in_head, directive(line)) {
                let words =
                    words(rest, true).ok_or_else(|| Fault::new(at, "the text in quotes has no end, and sbatch refuses the line"))?;
                if words.iter().any(|word| word.eq_ignore_ascii_case("hetjob") || word.eq_ignore_ascii_case("packjob")) {
                    return Err(Fault::new(at, "a job of several components (hetjob) is not understood: submit it without layers"));
                }
                script.lines.push(line.trim_end().to_owned());
                script.elsewhere = script.elsewhere.or(goes_elsewhere(words.iter().map(String::as_str)).then_some(at));
                options.extend(words);
            }
            // sbatch reads these behind the head too.
            if let Some(other) = ["#PBS", "#BSUB"].into_iter().find(|other| line.starts_with(other)) {
                let why = format!("sbatch reads this line {other} too, and flowmine does not: write it as #SBATCH, or delete it");
                return Err(Fault::new(at, why));
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
        if rest.contains(['$', '`', '*', '?', '[']) {
            return Err(Fault::new(at, "a declared file has a name without variables and patterns"));
        }
        let words = words(rest, false).ok_or_else(|| Fault::new(at, "the text in quotes has no end"))?;
        let list = match words.first().map(String::as_str) {
            Some("inputs") => &mut self.inputs,
            Some("outputs") => &mut self.outputs,
            _ => return Err(Fault::new(at, "it is #FLOWMINE inputs NAME… or #FLOWMINE outputs NAME…")),
        };
        list.extend(words.iter().skip(1).map(|name| FileName::plain(name)));
        self.declares = true;
        Ok(())
    }

    /// Sets name and resources from options; later ones hold.
    pub(super) fn take_options(&mut self, words: &[String]) {
        let mut n = 0;
        while let Some(word) = words.get(n) {
            n += 1;
            let Some(option) = CallOption::new(word) else { continue };
            n += usize::from(option.takes_next());
            let next = || words.get(n - 1).filter(|_| option.takes_next()).cloned();
            let Some(value) = option.value.map(str::to_owned).or_else(next) else { continue };
            let (kind, amount) = match option.name {
                "job-name" => {
                    self.name = Some(value).filter(|name| !name.is_empty());
                    continue;
                }
                "array" => {
                    self.array = true;
                    continue;
                }
                _ if option.names_output() => {
                    self.writes.push(value);
                    continue;
                }
                "cpus-per-task" => ("cores", value.parse().ok()),
                "mem" => ("memory", megabytes(&value)),
                "tmp" => ("disk", megabytes(&value)),
                "time" => ("wall-time", seconds(&value)),
                _ => continue,
            };
            match amount {
                Some(amount) => self.resources.insert(kind.to_owned(), amount),
                // What is not understood is not known.
                None => self.resources.remove(kind),
            };
        }
    }

    pub(super) fn task(&self, name: String, at: Place, arguments: &Arguments) -> Entry {
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
        let task = Task { hidden: true, ..Task::plain(name, at, parts) };
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
    pub(super) fn head(&self, default_name: Option<&str>) -> Vec<String> {
        let mut head = self.lines.clone();
        if let (None, Some(name)) = (&self.name, default_name) {
            head.push(format!("#SBATCH --job-name={}", quoted_option(name)));
        }
        head
    }
}

/// Returns the text after `#SBATCH`, or after `#SLURM`, which sbatch reads too; a blank need not
/// follow.
pub(super) fn directive(line: &str) -> Option<&str> {
    line.strip_prefix("#SBATCH").or_else(|| line.strip_prefix("#SLURM"))
}

/// Splits a line `#SBATCH` into words like sbatch: a backslash escapes between quotes of both
/// kinds, a comment may begin inside of a word, and an empty word ends the line. Returns `None` if
/// a quote has no end. On lines of flowmine (`cuts` is false) a comment begins only before a word.
fn words(line: &str, cuts: bool) -> Option<Vec<String>> {
    let is_space = |c: char| matches!(c, ' ' | '\t' | '\r' | '\u{b}' | '\u{c}');
    let (mut words, mut chars) = (Vec::new(), line.chars().peekable());
    loop {
        while chars.next_if(|c| is_space(*c)).is_some() {}
        let (mut word, mut quote) = (None::<String>, None);
        while let Some(c) = chars.next_if(|c| quote.is_some() || !is_space(*c)) {
            match (quote, c) {
                (_, '\\') => {
                    let next = chars.next_if(|next| *next == ' ' || quote.is_some() || !is_space(*next));
                    word.get_or_insert_default().extend(next);
                }
                (Some(mark), c) if c == mark => quote = None,
                (None, '"' | '\'') => quote = Some(c),
                (None, '#') if cuts || word.is_none() => {
                    words.extend(word);
                    return Some(words);
                }
                (_, c) => word.get_or_insert_default().push(c),
            }
        }
        if quote.is_some() {
            return None;
        }
        match word {
            Some(word) => words.push(word),
            None => return Some(words),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_taken_apart_as_sbatch_does_it() {
        for (line, expected) in [
            (" --mem=1G  -J a # b", &["--mem=1G", "-J", "a"][..]),
            (" -J a#b -D x", &["-J", "a"]),
            (" -J \"a b\"c 'd e'", &["-J", "a bc", "d e"]),
            (" -J a\\ b\\# 'x\\'y'", &["-J", "a b#", "x'y"]),
            (" -J \"\" -D x", &["-J"]),
            ("\t-t 1\r", &["-t", "1"]),
        ] {
            assert_eq!(words(line, true).unwrap(), expected, "{line}");
        }
        assert_eq!(words(" -J \"a", true), None);
        assert_eq!(words(" inputs a#1 # b", false).unwrap(), ["inputs", "a#1"]);
        assert_eq!((directive("#SBATCH-n1"), directive("#SLURM -n1"), directive("# SBATCH -n1")), (Some("-n1"), Some(" -n1"), None));
    }

    #[test]
    fn options_without_a_word_leave_the_next_one() {
        let read = |lines: &str| JobScript::read("j.sh", &format!("#!/bin/sh\n{lines}\ntrue\n"));
        let script = read("#SBATCH --oom-kill-step\n#SBATCH -J name --no-kill -c 2\n#SBATCH--array=1-2 -o log").unwrap();
        assert_eq!((script.name.as_deref(), script.resources.get("cores"), script.array), (Some("name"), Some(&2), true));
        assert_eq!((script.lines.len(), script.writes), (3, vec!["log".to_owned()]));
        for (lines, why) in [
            ("#BSUB -n 1", "#BSUB too"),
            ("true\n#PBS -l x", "#PBS too"),
            ("#SBATCH HetJob", "several components"),
            ("#SBATCH -J \"a", "no end"),
        ] {
            assert!(read(lines).err().is_some_and(|fault| fault.message.contains(why)), "{lines}");
        }
    }
}

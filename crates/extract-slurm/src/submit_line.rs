//! Dependency and script of a job, read from the command line with which it was submitted, as
//! accounting keeps it: `sbatch -d afterok:7 step.sh 3`.
//!
//! Slurm joins the words of the command line by spaces and drops the quotes, so `-J "my job"`
//! becomes `-J my job`. Options are read as sbatch(1), srun(1) and salloc(1) list them: which take
//! a value, and which of these can be a text of several words (`FREE_TEXT`). Three things show
//! where such a value ends:
//!
//! * the row of the job: its name, comment and work directory are the values of `--job-name`,
//!   `--comment` and `--chdir`;
//! * without `--job-name` Slurm names a job after its script, so the script is the word (or words)
//!   with the job's name as file name;
//! * where neither helps, the value is one word. If `-d` or `--dependency` with a value that is a
//!   dependency follows behind what then seems to be the script, the value had more words: the
//!   dependency is taken, the script comes after it, and [`SubmitLine::is_doubtful`] is set.

use crate::command;
use flowmine_slurm::dependency;
use flowmine_slurm::options::{Argument, Named, Program};

/// Dependency and script of a job from its submit line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SubmitLine<'a> {
    /// The value of `--dependency`, the last one given, as it was typed.
    pub dependency: Option<&'a str>,
    /// The path of the script (of srun and salloc: the program); `None` for `--wrap` and a script
    /// on standard input.
    pub script: Option<&'a str>,
    /// The lost quotes leave it open where an option's value ended.
    pub is_doubtful: bool,
}

/// What else is known of the job.
#[derive(Debug, Clone, Copy, Default)]
pub struct Known<'k> {
    /// Name of the job.
    pub name: Option<&'k str>,
    /// Comment of the job.
    pub comment: Option<&'k str>,
    /// Work directory of the job.
    pub work_dir: Option<&'k str>,
}

/// Reads the line with which a job was submitted, as sacct(1) prints it in `SubmitLine`.
pub fn read<'a>(line: &'a str, known: &Known<'_>) -> SubmitLine<'a> {
    let mut reader = Reader { line, at: 0, known, program: Program::Sbatch, found: SubmitLine::default(), is_open: false, is_named: false };
    reader.program = reader.word().and_then(Program::new).unwrap_or(Program::Sbatch);
    reader.options();
    reader.found
}

struct Reader<'a, 'k> {
    line: &'a str,
    at: usize,
    known: &'k Known<'k>,
    /// Program to which the options belong.
    program: Program,
    found: SubmitLine<'a>,
    /// A value may have had more words than were taken.
    is_open: bool,
    /// `--job-name` was given.
    is_named: bool,
}

impl<'a> Reader<'a, '_> {
    fn rest(&self) -> &'a str {
        &self.line[self.at..]
    }

    fn word(&mut self) -> Option<&'a str> {
        let rest = self.rest();
        let word = rest.trim_start_matches(is_space);
        let begin = self.at + rest.len() - word.len();
        let end = word.find(is_space).map_or(self.line.len(), |length| begin + length);
        self.at = end;
        Some(&self.line[begin..end]).filter(|word| !word.is_empty())
    }

    fn options(&mut self) {
        loop {
            let before = self.at;
            let Some(word) = self.word() else { return };
            if let Some(rest) = word.strip_prefix("--").filter(|rest| !rest.is_empty()) {
                let (name, value) = match rest.split_once('=') {
                    Some((name, value)) => (name, Some(value)),
                    None => (rest, None),
                };
                let (option, argument) = match self.program.long(name) {
                    Named::One(option) => (option.name, option.argument),
                    Named::Several => (name, Argument::Required),
                    // Whether an option of a plugin takes the next word is not known.
                    Named::Unknown => {
                        self.is_open |= value.is_none();
                        (name, Argument::Optional)
                    }
                };
                if option == "wrap" {
                    // Its value is the command.
                    self.is_open = true;
                    self.look_behind();
                    self.found.script = None;
                    return;
                }
                if value.is_some() || argument == Argument::Required {
                    self.value(option, value);
                }
            } else if let Some(rest) = word.strip_prefix('-').filter(|rest| !rest.is_empty() && word != "--") {
                self.letters(rest);
            } else {
                self.at = before;
                if !self.script() {
                    return;
                }
            }
        }
    }

    /// The letters of a word: those that take no argument, and behind them one that may.
    fn letters(&mut self, letters: &'a str) {
        for (at, letter) in letters.char_indices() {
            let Some(option) = self.program.short(letter) else { return };
            let value = Some(&letters[at + letter.len_utf8()..]).filter(|value| !value.is_empty());
            match option.argument {
                Argument::None => continue,
                Argument::Optional => {}
                Argument::Required => self.value(option.name, value.map(|value| value.strip_prefix('=').unwrap_or(value))),
            }
            return;
        }
    }

    /// The value of an option, in the same word or in the next.
    fn value(&mut self, option: &str, in_word: Option<&'a str>) {
        if let Some(value) = in_word {
            self.at -= value.len();
        }
        self.is_named |= option == "job-name";
        let expected = match option {
            "job-name" => self.known.name,
            "comment" => self.known.comment,
            "chdir" => self.known.work_dir,
            _ => None,
        };
        let rest = self.rest();
        let spaces = rest.len() - rest.trim_start_matches(is_space).len();
        let whole = expected
            .filter(|text| !text.is_empty())
            .filter(|text| rest[spaces..].strip_prefix(text).is_some_and(|behind| behind.is_empty() || behind.starts_with(is_space)));
        if let Some(text) = whole {
            self.at += spaces + text.len();
            return;
        }
        let value = self.word();
        if option == "dependency" {
            self.found.dependency = value.map(|value| value.trim_matches(['"', '\'']));
        }
        self.is_open |= FREE_TEXT.contains(&option);
    }

    /// What is neither an option nor a value. Returns whether it was part of a value after all, so
    /// that options go on.
    fn script(&mut self) -> bool {
        if !self.is_named
            && self.is_open
            && let Some((begin, end)) = self.called_as_the_job()
        {
            // What stands before it belongs to the options.
            let between = SubmitLine { script: None, ..dependency_in(&self.line[self.at..begin]) };
            self.found.dependency = between.dependency.or(self.found.dependency);
            self.found.script = Some(&self.line[begin..end]);
            return false;
        }
        if self.is_open && self.look_behind() {
            return true;
        }
        let begin = self.line.len() - self.rest().trim_start_matches(is_space).len();
        let command = command::split(&self.line[begin..], self.known.name, self.known.work_dir);
        self.found.script = command.map(|command| command.path);
        false
    }

    /// The place of the script by its file name, which is the job's name.
    fn called_as_the_job(&self) -> Option<(usize, usize)> {
        let name = self.known.name.filter(|name| !name.is_empty())?;
        let begins = self.line[self.at..]
            .char_indices()
            .filter(|&(at, c)| is_space(c) || at == 0)
            .map(|(at, c)| self.at + at + if is_space(c) { c.len_utf8() } else { 0 });
        for begin in begins {
            let rest = &self.line[begin..];
            let first_space = rest.find(is_space).unwrap_or(rest.len());
            let file = rest[..first_space].rfind('/').map_or(0, |slash| slash + 1);
            if rest[file..].strip_prefix(name).is_some_and(|behind| behind.is_empty() || behind.starts_with(is_space)) {
                return Some((begin, begin + file + name.len()));
            }
        }
        None
    }

    /// Looks for a dependency in what seems to be the script and its arguments. When there is one,
    /// reading goes on behind it.
    fn look_behind(&mut self) -> bool {
        let found = dependency_in(self.rest());
        let Some(dependency) = found.dependency else { return false };
        self.found.dependency = Some(dependency);
        self.found.is_doubtful = true;
        self.at = dependency.as_ptr() as usize - self.line.as_ptr() as usize + dependency.len();
        let quoted = self.rest().starts_with(['"', '\'']);
        self.at += usize::from(quoted);
        true
    }
}

/// The first `--dependency` of a text with a value that names what is waited for; a bare number can
/// be anything.
fn dependency_in(text: &str) -> SubmitLine<'_> {
    let mut words = text.split(is_space).filter(|word| !word.is_empty());
    while let Some(word) = words.next() {
        let value = match word.strip_prefix("--") {
            Some(rest) => match rest.split_once('=') {
                Some((name, value)) if is_dependency(name) => Some(value),
                None if is_dependency(rest) => words.clone().next(),
                _ => None,
            },
            None => match word.strip_prefix("-d") {
                Some("") => words.clone().next(),
                Some(value) => Some(value.strip_prefix('=').unwrap_or(value)),
                None => None,
            },
        };
        let value = value.map(|value| value.trim_matches(['"', '\'']));
        let is_one = |value: &&str| {
            let kind = value.starts_with("after") || value.starts_with("singleton") || value.starts_with("expand:");
            kind && dependency::parse(value).is_ok_and(|expression| !expression.terms.is_empty())
        };
        if let Some(value) = value.filter(is_one) {
            return SubmitLine { dependency: Some(value), ..SubmitLine::default() };
        }
    }
    SubmitLine::default()
}

fn is_space(c: char) -> bool {
    c.is_ascii_whitespace()
}

/// Whether a long option, which may be shortened, is `--dependency`, which all three programs have.
fn is_dependency(name: &str) -> bool {
    matches!(Program::Sbatch.long(name), Named::One(option) if option.name == "dependency")
}

/// Options with values that often contain spaces: names of files and folders, and text.
const FREE_TEXT: &[&str] = &[
    "admin-comment",
    "begin",
    "chdir",
    "comment",
    "constraint",
    "container",
    "deadline",
    "error",
    "export",
    "export-file",
    "extra",
    "input",
    "job-name",
    "licenses",
    "mail-user",
    "output",
    "prefer",
    "wckey",
];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(line: &'static str, name: &str) -> (Option<&'static str>, Option<&'static str>, bool) {
        let known = Known { name: Some(name), comment: Some("two words"), work_dir: Some("/data/my files") };
        let read = read(line, &known);
        (read.dependency, read.script, read.is_doubtful)
    }

    #[test]
    fn plain_lines() {
        let no = (None, Some("step.sh"), false);
        for (line, dependency) in [
            ("sbatch -o /dev/null --dependency=afterok:1:2 step.sh 3", "afterok:1:2"),
            ("sbatch -d afterok:1 step.sh", "afterok:1"),
            ("sbatch -dafterok:1 step.sh", "afterok:1"),
            ("sbatch -d=afterok:1 step.sh", "afterok:1"),
            ("sbatch --depend 17 step.sh", "17"),
            ("sbatch --hold --dependency singleton step.sh", "singleton"),
            ("sbatch -d \"afterok:1\" step.sh", "afterok:1"),
            ("sbatch -d afterok:1 -d afterok:2 step.sh", "afterok:2"),
        ] {
            assert_eq!(of(line, "step.sh"), (Some(dependency), Some("step.sh"), false), "{line}");
            assert_eq!(of(line, "other"), (Some(dependency), Some("step.sh"), false), "{line}");
        }
        for line in [
            "sbatch --oom-kill-step -d afterok:1 step.sh",
            "sbatch --oom -k --resv-ports --external -d afterok:1 step.sh",
            "sbatch -QHd afterok:1 step.sh",
            "sbatch -W --segment 2 -dafterok:1 step.sh",
            "srun -W 5 -K --pty -d afterok:1 step.sh",
            "salloc --no-shell -I -d afterok:1 step.sh",
        ] {
            assert_eq!(of(line, "x"), (Some("afterok:1"), Some("step.sh"), false), "{line}");
        }
        assert_eq!(of("sbatch step.sh --dependency=afterok:1", "step.sh"), no, "an argument of the script");
        assert_eq!(of("sbatch -n 4 step.sh -d afterok:1", "x"), no, "an argument of the script");
        assert_eq!(of("sbatch -J a --wrap=sleep 1", "a"), (None, None, false));
        assert_eq!(of("sbatch -d afterok:1 --wrap sleep 1", "wrap"), (Some("afterok:1"), None, false));
        assert_eq!(of("sbatch -o /dev/null --hold -d afterok:1 flow/step.sh 3 x", "n"), (Some("afterok:1"), Some("flow/step.sh"), false));
        assert_eq!(of("srun -n 4 ./prog -d 3", "prog"), (None, Some("./prog"), false));
        assert_eq!(of("", ""), (None, None, false));
        assert_eq!(of("sbatch", ""), (None, None, false));
        assert_eq!(of("sbatch -", ""), (None, Some("-"), false));
    }

    #[test]
    fn values_of_several_words_that_the_row_knows() {
        for line in [
            "sbatch -J my job -d afterok:7 merge.sh",
            "sbatch -Jmy job -d afterok:7 merge.sh",
            "sbatch --job-name=my job --comment two words --dependency=afterok:7 merge.sh",
            "sbatch --comment=two words -D /data/my files -J my job -dafterok:7 merge.sh x",
        ] {
            assert_eq!(of(line, "my job"), (Some("afterok:7"), Some("merge.sh"), false), "{line}");
        }
        // The name of the script is the job's.
        assert_eq!(
            of("sbatch -o my logs/a.txt -d afterok:7 flow/merge.sh 3", "merge.sh"),
            (Some("afterok:7"), Some("flow/merge.sh"), false)
        );
        assert_eq!(of("sbatch -o a b flow/my merge.sh 3", "my merge.sh"), (None, Some("flow/my merge.sh"), false));
        // An option that is the value of another.
        assert_eq!(of("sbatch --comment --dependency=afterok:1 step.sh", "step.sh"), (None, Some("step.sh"), false));
    }

    #[test]
    fn what_stays_open_is_said() {
        let doubtful = (Some("afterok:7"), Some("merge.sh"), true);
        assert_eq!(of("sbatch -J my job -d afterok:7 merge.sh", "renamed"), doubtful);
        assert_eq!(of("sbatch -J x --output=my logs/%j.txt --dependency afterok:7 merge.sh 3", "x"), doubtful);
        assert_eq!(of("sbatch -J x -o a.txt merge.sh 3", "x"), (None, Some("merge.sh"), false));
        assert_eq!(of("sbatch -J x -o a.txt merge.sh -d 3", "x"), (None, Some("merge.sh"), false), "a number can be anything");
        assert_eq!(of("sbatch --wrap sleep 1 -d afterok:7", "wrap"), (Some("afterok:7"), None, true));
    }

    proptest! {
        #[test]
        fn nothing_panics(line in "(sbatch|-|--|d|=|J|wrap|afterok:7|dependency|job-name|comment|my job|é| |\"|x/y|[a-z]){0,24}", name in "(my job|é|x|y| ){0,2}") {
            let known = Known { name: Some(&name), comment: Some("é"), work_dir: Some("x") };
            let found = read(&line, &known);
            if let Some(dependency) = found.dependency {
                prop_assert!(line.contains(dependency));
            }
        }
    }
}

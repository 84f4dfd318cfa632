//! The options of sbatch(1) in the words of a call or of a line `#SBATCH`.

use flowmine_slurm::options::{Argument, CommandOption, Named, Program};

/// An option as a word has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CallOption<'w> {
    /// Its long name in full; as the word has it where the table of options has none.
    pub name: &'w str,
    /// Its argument, where the word has it.
    pub value: Option<&'w str>,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Known(Argument),
    /// The beginning of several long options.
    Ambiguous,
    /// An option of a plugin or of another release: whether it takes an argument is not known.
    Unknown,
}

impl<'w> CallOption<'w> {
    /// Returns the option of a word that begins with `-`; of letters in one word the last. `--`
    /// ends the options and is none.
    pub(super) fn new(word: &'w str) -> Option<Self> {
        let rest = word.strip_prefix('-').filter(|rest| !matches!(*rest, "" | "-"))?;
        match rest.strip_prefix('-') {
            Some(long) => Some(Self::long(long)),
            None => Self::letters(rest),
        }
    }

    fn long(long: &'w str) -> Self {
        let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
        match Program::Sbatch.long(name) {
            Named::One(option) => Self { name: option.name, value, kind: Kind::Known(option.argument) },
            Named::Several => Self { name, value, kind: Kind::Ambiguous },
            Named::Unknown => Self { name, value, kind: Kind::Unknown },
        }
    }

    fn letters(letters: &'w str) -> Option<Self> {
        let mut found = None;
        for (at, letter) in letters.char_indices() {
            let behind = &letters[at + letter.len_utf8()..];
            let Some(option) = Program::Sbatch.short(letter) else {
                return Some(Self { name: &letters[at..at + letter.len_utf8()], value: None, kind: Kind::Unknown });
            };
            let CommandOption { name, argument, .. } = option;
            let value = Some(behind).filter(|value| *argument != Argument::None && !value.is_empty());
            found = Some(Self { name, value, kind: Kind::Known(*argument) });
            if *argument != Argument::None {
                break;
            }
        }
        found
    }

    /// Whether it has no argument, in no word.
    pub(super) fn is_flag(&self) -> bool {
        self.kind == Kind::Known(Argument::None)
    }

    /// Whether the next word is its argument.
    pub(super) fn takes_next(&self) -> bool {
        self.value.is_none() && self.kind == Kind::Known(Argument::Required)
    }

    /// Whether it takes the next word if its own word contains no value.
    pub(super) fn needs_argument(&self) -> bool {
        self.kind == Kind::Known(Argument::Required)
    }

    /// Whether a long option is an abbreviation of several.
    pub(super) fn is_ambiguous(&self) -> bool {
        self.kind == Kind::Ambiguous
    }

    /// Whether it is not known if the next word is its argument.
    pub(super) fn is_unclear(&self) -> bool {
        self.value.is_none() && self.kind == Kind::Unknown
    }

    /// Whether it sets the directory of the job. Releases before 20.02 called it `--workdir`.
    fn is_directory(&self) -> bool {
        matches!(self.name, "chdir" | "workdir")
    }

    /// Whether its argument is the name of a file that the job writes.
    pub(super) fn names_output(&self) -> bool {
        matches!(self.name, "output" | "error")
    }
}

/// Whether a long option, or its abbreviation, changes neither the submitted script nor the
/// directory of the job.
pub(in crate::workflow) fn leaves_job(name: &str) -> bool {
    let option = CallOption::long(name);
    !option.is_directory() && option.name != "wrap" && !option.is_ambiguous()
}

/// Whether words of the command line have an option that sets the directory of the job.
pub(super) fn goes_elsewhere<'w>(words: impl Iterator<Item = &'w str>) -> bool {
    words.filter_map(CallOption::new).any(|option| option.is_directory())
}

/// Whether a word makes a job an array.
pub(super) fn is_array(word: &str) -> bool {
    CallOption::new(word).is_some_and(|option| option.name == "array")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_as_getopt_takes_them() {
        for (word, name, value, takes) in [
            ("--array=1-2", "array", Some("1-2"), false),
            ("--arr=1-2", "array", Some("1-2"), false),
            ("--ar", "array", None, true),
            ("-a1-2", "array", Some("1-2"), false),
            ("-Qa1-2", "array", Some("1-2"), false),
            ("-QHa", "array", None, true),
            ("-QH", "hold", None, false),
            ("-k", "no-kill", None, false),
            ("-kD/tmp", "no-kill", Some("D/tmp"), false),
            ("--no-kill=off", "no-kill", Some("off"), false),
            ("--oom-kill-step", "oom-kill-step", None, false),
            ("--oom=1", "oom-kill-step", Some("1"), false),
            ("--resv-ports", "resv-ports", None, false),
            ("--external", "external", None, false),
            ("--get-user-env", "get-user-env", None, false),
            ("--propagate", "propagate", None, false),
            ("--segment", "segment", None, true),
            ("--tasks-per-node", "tasks-per-node", None, true),
            ("--ntasks-per-tres", "ntasks-per-tres", None, true),
            ("--context", "context", None, true),
            ("--pars", "parsable", None, false),
            ("--hol", "hold", None, false),
            ("--job", "job-name", None, true),
            ("--cpus-per-t=2", "cpus-per-task", Some("2"), false),
            ("--mem=2G", "mem", Some("2G"), false),
            ("--time", "time", None, true),
            ("--wai", "wai", None, false),
            ("--wr=true", "wrap", Some("true"), false),
            ("--of-a-plugin", "of-a-plugin", None, false),
            ("-QI", "I", None, false),
        ] {
            let option = CallOption::new(word).unwrap();
            assert_eq!((option.name, option.value, option.takes_next()), (name, value, takes), "{word}");
            assert_eq!(option.is_ambiguous(), word == "--wai", "{word}");
            assert_eq!(option.is_unclear(), matches!(word, "--of-a-plugin" | "-QI"), "{word}");
        }
        assert_eq!((CallOption::new("-"), CallOption::new("--"), CallOption::new("job.sh")), (None, None, None));
        assert!(["--chdir=x", "--chd=x", "-Dx", "-QDx", "--workdir=x"].into_iter().all(|word| goes_elsewhere([word].into_iter())));
        assert!(!["--c=x", "-QJD", "D", "-kD"].into_iter().any(|word| goes_elsewhere([word].into_iter())));
    }
}

//! The options of sbatch(1), srun(1) and salloc(1): whether each takes an argument, and where it is.
//!
//! Facts from Slurm's `src/common/slurm_opt.c`, releases 20.11 to 26.05: the table has the options
//! of all of them. Where releases differ (`get-user-env`, `overlap`, `pty`, `requeue`), they do in
//! whether an argument is optional or none, and so never in what the next word is.
//!
//! getopt_long(3) reads the words. It stops at the first word that is no option. A long option may
//! be shortened to what no other begins with. A required argument is the rest of the word (behind
//! `=` for a long option), or the next word; an optional one is never the next word. Letters without
//! an argument may be followed by others in one word. Plugins (SPANK) add long options that are not
//! in the table.

/// A program that takes the options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Program {
    /// sbatch(1)
    Sbatch,
    /// srun(1)
    Srun,
    /// salloc(1)
    Salloc,
}

/// Whether an option takes an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Argument {
    /// Never.
    None,
    /// In the same word only.
    Optional,
    /// In the same word, or else the next word.
    Required,
}

/// An option of a command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommandOption {
    /// Its long name, without dashes.
    pub name: &'static str,
    /// Its letter.
    pub letter: Option<char>,
    /// Whether it takes an argument.
    pub argument: Argument,
    programs: u8,
}

/// The options that a long name can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named {
    /// This one, in full or shortened.
    One(&'static CommandOption),
    /// The beginning of several.
    Several,
    /// None of the table: one of a plugin or of another release, or a mistake.
    Unknown,
}

impl Program {
    /// Returns the program by the last part of its path.
    pub fn new(path: &str) -> Option<Self> {
        match path.rsplit('/').next()? {
            "sbatch" => Some(Self::Sbatch),
            "srun" => Some(Self::Srun),
            "salloc" => Some(Self::Salloc),
            _ => None,
        }
    }

    /// Iterates over the options of the program, in the order of their names.
    pub fn options(self) -> impl Iterator<Item = &'static CommandOption> {
        let bit = match self {
            Self::Sbatch => SBATCH,
            Self::Srun => SRUN,
            Self::Salloc => SALLOC,
        };
        OPTIONS.iter().filter(move |option| option.programs & bit != 0)
    }

    /// Returns the option of a long name, which may be shortened.
    pub fn long(self, name: &str) -> Named {
        let mut begins = self.options().filter(|option| option.name.starts_with(name));
        if let Some(whole) = self.options().find(|option| option.name == name) {
            return Named::One(whole);
        }
        match (begins.next(), begins.next()) {
            (Some(only), None) => Named::One(only),
            (Some(_), Some(_)) => Named::Several,
            (None, _) => Named::Unknown,
        }
    }

    /// Returns the option of a letter.
    pub fn short(self, letter: char) -> Option<&'static CommandOption> {
        self.options().find(|option| option.letter == Some(letter))
    }
}

const SBATCH: u8 = 1;
const SRUN: u8 = 2;
const SALLOC: u8 = 4;
const ALL: u8 = SBATCH | SRUN | SALLOC;

const fn flag(name: &'static str, letter: Option<char>, programs: u8) -> CommandOption {
    CommandOption { name, letter, argument: Argument::None, programs }
}

const fn optional(name: &'static str, letter: Option<char>, programs: u8) -> CommandOption {
    CommandOption { name, letter, argument: Argument::Optional, programs }
}

const fn required(name: &'static str, letter: Option<char>, programs: u8) -> CommandOption {
    CommandOption { name, letter, argument: Argument::Required, programs }
}

const OPTIONS: [CommandOption; 166] = [
    required("accel-bind", None, SRUN),
    required("account", Some('A'), ALL),
    required("acctg-freq", None, ALL),
    required("array", Some('a'), SBATCH),
    flag("async", None, SRUN),
    required("autocomplete", None, ALL),
    required("batch", None, SBATCH),
    required("bb", None, ALL),
    required("bbf", None, ALL),
    optional("bcast", None, SRUN),
    required("bcast-exclude", None, SRUN),
    required("begin", Some('b'), ALL),
    flag("bell", None, SALLOC),
    required("chdir", Some('D'), ALL),
    required("cluster", None, ALL),
    required("cluster-constraint", None, ALL),
    required("clusters", Some('M'), ALL),
    required("comment", None, ALL),
    optional("compress", None, SRUN),
    flag("consolidate-segments", None, ALL),
    required("constraint", Some('C'), ALL),
    required("container", None, ALL),
    required("container-id", None, ALL),
    required("container-type", None, ALL),
    required("context", None, ALL),
    flag("contiguous", None, ALL),
    required("core-spec", Some('S'), ALL),
    required("cores-per-socket", None, ALL),
    required("cpu-bind", None, SRUN),
    required("cpu-freq", None, ALL),
    required("cpu_bind", None, SRUN),
    required("cpus-per-gpu", None, ALL),
    required("cpus-per-task", Some('c'), ALL),
    required("deadline", None, ALL),
    flag("debugger-test", None, SRUN),
    required("delay-boot", None, ALL),
    required("dependency", Some('d'), ALL),
    flag("disable-status", Some('X'), SRUN),
    required("distribution", Some('m'), ALL),
    required("epilog", None, SRUN),
    required("error", Some('e'), SBATCH | SRUN),
    flag("exact", None, SRUN),
    required("exclude", Some('x'), ALL),
    optional("exclusive", None, ALL),
    required("export", None, SBATCH | SRUN),
    required("export-file", None, SBATCH),
    flag("external", None, SBATCH),
    optional("external-launcher", None, SRUN),
    required("extra", None, ALL),
    required("extra-node-info", Some('B'), ALL),
    optional("get-user-env", None, SBATCH | SALLOC),
    required("gid", None, ALL),
    required("gpu-bind", None, ALL),
    required("gpu-freq", None, ALL),
    required("gpus", Some('G'), ALL),
    required("gpus-per-node", None, ALL),
    required("gpus-per-socket", None, ALL),
    required("gpus-per-task", None, ALL),
    required("gres", None, ALL),
    required("gres-flags", None, ALL),
    flag("help", Some('h'), ALL),
    required("het-group", None, SRUN),
    required("hint", None, ALL),
    flag("hold", Some('H'), ALL),
    flag("ignore-pbs", None, SBATCH),
    required("ignore-signals", None, SRUN),
    optional("immediate", Some('I'), SRUN | SALLOC),
    required("input", Some('i'), SBATCH | SRUN),
    flag("interactive", None, SRUN),
    required("job-name", Some('J'), ALL),
    required("jobid", None, SRUN),
    optional("kill-command", Some('K'), SALLOC),
    optional("kill-on-bad-exit", Some('K'), SRUN),
    required("kill-on-invalid-dep", None, SBATCH),
    flag("label", Some('l'), SRUN),
    required("licenses", Some('L'), ALL),
    required("mail-type", None, ALL),
    required("mail-user", None, ALL),
    required("mcs-label", None, ALL),
    required("mem", None, ALL),
    required("mem-bind", None, ALL),
    required("mem-per-cpu", None, ALL),
    required("mem-per-gpu", None, ALL),
    required("mem-update", None, ALL),
    required("mincpus", None, ALL),
    required("mpi", None, SRUN),
    required("msg-timeout", None, SRUN),
    flag("multi-prog", None, SRUN),
    required("network", None, ALL),
    optional("nice", None, ALL),
    flag("no-allocate", Some('Z'), SRUN),
    flag("no-bell", None, SALLOC),
    optional("no-kill", Some('k'), ALL),
    flag("no-requeue", None, SBATCH),
    flag("no-shell", None, SALLOC),
    required("nodefile", Some('F'), ALL),
    required("nodelist", Some('w'), ALL),
    required("nodes", Some('N'), ALL),
    required("ntasks", Some('n'), ALL),
    required("ntasks-per-core", None, ALL),
    required("ntasks-per-gpu", None, ALL),
    required("ntasks-per-node", None, ALL),
    required("ntasks-per-socket", None, ALL),
    required("ntasks-per-tres", None, ALL),
    optional("oom-kill-step", None, ALL),
    required("open-mode", None, SBATCH | SRUN),
    required("output", Some('o'), SBATCH | SRUN),
    flag("overcommit", Some('O'), ALL),
    optional("overlap", None, SRUN),
    flag("oversubscribe", Some('s'), ALL),
    required("pack-group", None, SRUN),
    flag("parsable", None, SBATCH | SRUN),
    required("partition", Some('p'), ALL),
    required("power", None, ALL),
    required("prefer", None, ALL),
    flag("preserve-env", Some('E'), SRUN),
    required("priority", None, ALL),
    required("profile", None, ALL),
    required("prolog", None, SRUN),
    optional("propagate", None, SBATCH | SRUN),
    optional("pty", None, SRUN),
    required("qos", Some('q'), ALL),
    flag("quiet", Some('Q'), ALL),
    flag("quit-on-interrupt", None, SRUN),
    flag("reboot", None, ALL),
    required("relative", Some('r'), SRUN),
    optional("requeue", None, SBATCH),
    required("reservation", None, ALL),
    required("resources", None, ALL),
    optional("resv-ports", None, ALL),
    required("segment", None, ALL),
    optional("send-libs", None, SRUN),
    required("signal", None, ALL),
    required("slurmd-debug", None, SRUN),
    required("sockets-per-node", None, ALL),
    flag("spread-job", None, ALL),
    flag("spread-segments", None, ALL),
    flag("stepmgr", None, ALL),
    required("switches", None, ALL),
    required("task-epilog", None, SRUN),
    required("task-prolog", None, SRUN),
    required("tasks-per-node", None, ALL),
    flag("test-only", None, SBATCH | SRUN),
    required("thread-spec", None, ALL),
    required("threads", Some('T'), SRUN),
    required("threads-per-core", None, ALL),
    required("time", Some('t'), ALL),
    required("time-min", None, ALL),
    required("tmp", None, ALL),
    required("treewidth", None, SRUN),
    required("tres-bind", None, ALL),
    required("tres-per-task", None, ALL),
    required("uid", None, ALL),
    flag("unbuffered", Some('u'), SRUN),
    flag("usage", None, ALL),
    flag("use-min-nodes", None, ALL),
    flag("verbose", Some('v'), ALL),
    flag("version", Some('V'), ALL),
    required("wait", Some('W'), SRUN),
    flag("wait", Some('W'), SBATCH),
    required("wait-all-nodes", None, SBATCH | SALLOC),
    flag("wait-for-children", None, SRUN),
    required("wckey", None, ALL),
    flag("whole", None, SRUN),
    required("wrap", None, SBATCH),
    optional("x11", None, SRUN | SALLOC),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str) -> Option<(&'static str, Argument)> {
        match Program::Sbatch.long(name) {
            Named::One(option) => Some((option.name, option.argument)),
            Named::Several | Named::Unknown => None,
        }
    }

    #[test]
    fn long_names_may_be_shortened_to_what_no_other_begins_with() {
        assert_eq!(of("oom"), Some(("oom-kill-step", Argument::Optional)));
        assert_eq!(of("arr"), Some(("array", Argument::Required)));
        assert_eq!(of("mem"), Some(("mem", Argument::Required)));
        assert_eq!(of("wait"), Some(("wait", Argument::None)));
        assert_eq!((Program::Sbatch.long("wai"), Program::Sbatch.long("")), (Named::Several, Named::Several));
        assert_eq!(Program::Sbatch.long("of-a-plugin"), Named::Unknown);
    }

    #[test]
    fn programs_differ() {
        let wait = |program: Program| program.short('W').map(|option| (option.name, option.argument));
        assert_eq!(wait(Program::Sbatch), Some(("wait", Argument::None)));
        assert_eq!(wait(Program::Srun), Some(("wait", Argument::Required)));
        assert_eq!(wait(Program::Salloc), None);
        assert_eq!(Program::new("/usr/bin/srun"), Some(Program::Srun));
        assert_eq!((Program::Srun.short('K').map(|option| option.argument), Program::Sbatch.short('K')), (Some(Argument::Optional), None));
    }

    #[test]
    fn no_name_or_letter_is_that_of_two_options() {
        for program in [Program::Sbatch, Program::Srun, Program::Salloc] {
            let mut names: Vec<&str> = program.options().map(|option| option.name).collect();
            let mut letters: Vec<char> = program.options().filter_map(|option| option.letter).collect();
            letters.sort_unstable();
            assert!(names.windows(2).all(|pair| pair[0] < pair[1]), "{program:?}");
            assert!(letters.windows(2).all(|pair| pair[0] != pair[1]), "{program:?}");
            names.retain(|name| name.contains(|c: char| !c.is_ascii_lowercase() && !c.is_ascii_digit() && c != '-' && c != '_'));
            assert!(names.is_empty(), "{names:?}");
        }
    }
}

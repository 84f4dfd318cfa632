//! The options of sbatch(1), as getopt_long(3) takes them: long ones may be shortened to what no
//! other begins with, short ones without an argument may stand together.

/// Long options that have an argument, of which one can be an abbreviation.
const WITH_ARGUMENT: [&str; 85] = [
    "account",
    "acctg-freq",
    "array",
    "batch",
    "bb",
    "bbf",
    "begin",
    "chdir",
    "cluster",
    "cluster-constraint",
    "clusters",
    "comment",
    "constraint",
    "consolidate-segments",
    "container",
    "container-id",
    "core-spec",
    "cores-per-socket",
    "cpu-freq",
    "cpus-per-gpu",
    "cpus-per-task",
    "deadline",
    "delay-boot",
    "dependency",
    "distribution",
    "error",
    "exclude",
    "export",
    "export-file",
    "extra",
    "extra-node-info",
    "gid",
    "gpu-bind",
    "gpu-freq",
    "gpus",
    "gpus-per-node",
    "gpus-per-socket",
    "gpus-per-task",
    "gres",
    "gres-flags",
    "hint",
    "input",
    "job-name",
    "kill-on-invalid-dep",
    "licenses",
    "mail-type",
    "mail-user",
    "mcs-label",
    "mem",
    "mem-bind",
    "mem-per-cpu",
    "mem-per-gpu",
    "mincpus",
    "network",
    "nodefile",
    "nodelist",
    "nodes",
    "ntasks",
    "ntasks-per-core",
    "ntasks-per-gpu",
    "ntasks-per-node",
    "ntasks-per-socket",
    "open-mode",
    "output",
    "partition",
    "qos",
    "reservation",
    "signal",
    "sockets-per-node",
    "thread-spec",
    "threads-per-core",
    "time",
    "time-min",
    "tmp",
    "wrap",
    "power",
    "prefer",
    "priority",
    "profile",
    "switches",
    "tres-bind",
    "tres-per-task",
    "uid",
    "wait-all-nodes",
    "wckey",
];

/// Long options whose argument is not the next word: flags, and those whose argument can be left
/// out and stands behind `=`.
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

/// An option as a word has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CallOption<'w> {
    /// Its long name in full, or its letter; of several letters the last.
    pub name: &'w str,
    /// Its argument, where the word has it.
    pub value: Option<&'w str>,
    is_long: bool,
}

impl<'w> CallOption<'w> {
    /// Returns the option of a word that begins with `-`.
    pub(super) fn of(word: &'w str) -> Option<Self> {
        let rest = word.strip_prefix('-').filter(|rest| !rest.is_empty())?;
        if let Some(long) = rest.strip_prefix('-') {
            let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
            return Some(Self { name: in_full(name), value, is_long: true });
        }
        let from = rest.find(|c| !SHORT_FLAGS.contains(c)).unwrap_or(rest.len() - 1);
        let letter = rest[from..].chars().next()?;
        let (name, value) = rest[from..].split_at(letter.len_utf8());
        Some(Self { name, value: Some(value).filter(|value| !value.is_empty()), is_long: false })
    }

    /// Whether the option has no argument, or none in another word.
    pub(super) fn is_flag(&self) -> bool {
        if self.is_long { FLAGS.contains(&self.name) } else { SHORT_FLAGS.contains(self.name) }
    }

    /// Whether the next word is its argument.
    pub(super) fn takes_next(&self) -> bool {
        self.value.is_none() && !self.is_flag()
    }

    /// Whether a long option is an abbreviation of several.
    pub(super) fn is_ambiguous(&self) -> bool {
        self.is_long && !known().any(|known| known == self.name) && known().any(|known| known.starts_with(self.name))
    }

    /// Whether it sets the directory of the job.
    fn is_directory(&self) -> bool {
        if self.is_long { is_directory(self.name) } else { self.name == "D" }
    }
}

fn known() -> impl Iterator<Item = &'static str> {
    WITH_ARGUMENT.into_iter().chain(FLAGS)
}

/// The only option that begins so, where there is one.
fn in_full(name: &str) -> &str {
    let mut begins = known().filter(|known| known.starts_with(name));
    match (begins.next(), begins.next()) {
        (Some(only), None) => only,
        _ => name,
    }
}

fn is_directory(name: &str) -> bool {
    in_full(name) == "chdir" || name == "workdir"
}

/// Whether a long option, or what it may be shortened to, says neither what is submitted nor in
/// which directory the job runs.
pub(in crate::workflow) fn leaves_job(name: &str) -> bool {
    !is_directory(name) && in_full(name) != "wrap"
}

/// Whether words of the command line have an option that sets the directory of the job.
pub(super) fn goes_elsewhere<'w>(words: impl Iterator<Item = &'w str>) -> bool {
    words.filter_map(CallOption::of).any(|option| option.is_directory())
}

/// Whether a word makes a job an array.
pub(super) fn is_array(word: &str) -> bool {
    CallOption::of(word).is_some_and(|option| matches!((option.is_long, option.name), (true, "array") | (false, "a")))
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
            ("-a1-2", "a", Some("1-2"), false),
            ("-Qa1-2", "a", Some("1-2"), false),
            ("-QHa", "a", None, true),
            ("-QH", "H", None, false),
            ("--pars", "parsable", None, false),
            ("--hol", "hold", None, false),
            ("--job", "job-name", None, true),
            ("--cpus-per-t=2", "cpus-per-task", Some("2"), false),
            ("--mem=2G", "mem", Some("2G"), false),
            ("--time", "time", None, true),
            ("--wai", "wai", None, true),
            ("--wr=true", "wrap", Some("true"), false),
            ("--of-a-plugin", "of-a-plugin", None, true),
        ] {
            let option = CallOption::of(word).unwrap();
            assert_eq!((option.name, option.value, option.takes_next()), (name, value, takes), "{word}");
            assert_eq!(option.is_ambiguous(), word == "--wai", "{word}");
        }
        assert_eq!((CallOption::of("-"), CallOption::of("job.sh")), (None, None));
        assert!(["--chdir=x", "--chd=x", "-Dx", "-QDx", "--workdir=x"].into_iter().all(|word| goes_elsewhere([word].into_iter())));
        assert!(!["--c=x", "-QJD", "D"].into_iter().any(|word| goes_elsewhere([word].into_iter())));
    }
}

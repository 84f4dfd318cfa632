//! What a user can ask of a trace, as all backends understand it.

use std::path::PathBuf;
use std::time::Duration;

use crate::record::Op;

/// How much a trace keeps of reads and writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// Reads and writes are added up; all else is kept one by one.
    Totals,
    /// Each operation is kept, reads and writes too.
    Events,
}

impl Detail {
    /// The word for it in the tables.
    pub fn name(self) -> &'static str {
        match self {
            Detail::Totals => "totals",
            Detail::Events => "events",
        }
    }
}

/// What is kept of command lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandLines {
    /// No word of a command line is kept.
    None,
    /// The first word only, the program's name.
    Program,
    /// All of it, up to [`Options::arguments_bytes`].
    All,
}

impl CommandLines {
    /// The word for it in the tables.
    pub fn name(self) -> &'static str {
        match self {
            CommandLines::None => "none",
            CommandLines::Program => "program",
            CommandLines::All => "all",
        }
    }

    /// What is kept of a command line; `None` when nothing is. The second value says whether that
    /// is less than was there.
    pub fn of(self, arguments: &[Vec<u8>]) -> (Option<Vec<Vec<u8>>>, bool) {
        match self {
            CommandLines::None => (None, false),
            CommandLines::All => (Some(arguments.to_vec()), false),
            CommandLines::Program => {
                let Some(name) = arguments.first() else { return (Some(Vec::new()), false) };
                // Programs that write their own title put all of it into the first argument.
                let word = name.split(u8::is_ascii_whitespace).next().unwrap_or_default();
                (Some(vec![word.to_vec()]), arguments.len() > 1 || word.len() < name.len())
            }
        }
    }
}

/// What is recorded. An empty list does not filter; lists are joined by *and*, the elements of one
/// by *or*.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filters {
    /// Directories of cgroups (v2, or of one v1 hierarchy), with all below.
    pub cgroups: Vec<PathBuf>,
    /// Processes, with all that they fork.
    pub pids: Vec<u32>,
    /// Effective user ids of processes.
    pub uids: Vec<u32>,
    /// Effective group ids of processes.
    pub gids: Vec<u32>,
    /// Types of file systems, such as `ext4`.
    pub file_systems: Vec<String>,
    /// Types of file systems that are left out.
    pub file_systems_out: Vec<String>,
    /// Kinds of operations on files.
    pub ops: Vec<Op>,
    /// Directories, with all below, as the host sees them.
    pub directories: Vec<PathBuf>,
    /// Directories that are left out.
    pub directories_out: Vec<PathBuf>,
}

/// Pseudo file systems, which hold no data of anybody: left out unless [`Filters::file_systems`]
/// names them.
pub const PSEUDO_FILE_SYSTEMS: &[&str] = &[
    "proc",
    "sysfs",
    "cgroup",
    "cgroup2",
    "debugfs",
    "tracefs",
    "securityfs",
    "bpf",
    "configfs",
    "devpts",
    "pstore",
    "efivarfs",
    "selinuxfs",
    "smackfs",
    "nsfs",
    "anon_inodefs",
    "sockfs",
    "pipefs",
    "binfmt_misc",
    "mqueue",
    "fusectl",
];

/// Everything that a trace is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// How much is kept of reads and writes.
    pub detail: Detail,
    /// Which processes, files and operations are recorded.
    pub filters: Filters,
    /// Names of environment variables that are kept of each process.
    pub environment: Vec<String>,
    /// What is kept of command lines.
    pub command_lines: CommandLines,
    /// Nothing is kept of processes of other users.
    pub only_user: Option<u32>,
    /// How many bytes of a command line are kept.
    pub arguments_bytes: usize,
    /// Size of the kernel's ring of records in bytes, a power of two.
    pub ring_bytes: u32,
    /// How long rows may be held before they are written.
    pub flush_every: Duration,
    /// Only commands that ask for it at this socket are traced, with what they start.
    pub serve: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            detail: Detail::Events,
            filters: Filters::default(),
            environment: Vec::new(),
            command_lines: CommandLines::All,
            only_user: None,
            arguments_bytes: 4096,
            ring_bytes: 16 << 20,
            flush_every: Duration::from_secs(10),
            serve: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_command_line_the_first_word_is_kept() {
        let words = |text: &[&str]| text.iter().map(|word| word.as_bytes().to_vec()).collect::<Vec<_>>();
        let line = words(&["/bin/curl", "-u", "me:secret"]);
        assert_eq!(CommandLines::Program.of(&line), (Some(words(&["/bin/curl"])), true));
        assert_eq!(CommandLines::Program.of(&words(&["server: me secret"])), (Some(words(&["server:"])), true));
        assert_eq!(CommandLines::Program.of(&words(&["true"])), (Some(words(&["true"])), false));
        assert_eq!(CommandLines::Program.of(&[]), (Some(Vec::new()), false));
        assert_eq!(CommandLines::None.of(&line), (None, false));
        assert_eq!(CommandLines::All.of(&line), (Some(line), false));
    }
}

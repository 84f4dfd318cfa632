//! Who writes: the names by which writers are kept apart, and by which readers find what each has
//! begun.

use crate::host_folder::{escape_host, unescape_host};

/// Kind of rows that a writer writes: each kind has one writer at a time, and writers do not wait
/// for each other.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Extractors and importers, which write the raw tables.
    Raw,
    /// `correlate` and what follows it, which write the derived tables.
    Derived,
    /// The backend that traces the host of this name.
    Host(String),
    /// A further tracer of this host: the number is at least 1. See
    /// [`crate::Dataset::host_writer`].
    Beside(String, u32),
}

impl Role {
    /// What its files are called by. A host's name is escaped, so that none of these has a slash or
    /// ends before its end.
    fn label(&self) -> String {
        match self {
            Role::Raw => "raw".to_owned(),
            Role::Derived => "derived".to_owned(),
            Role::Host(host) => format!("host={}", escape_host(host)),
            Role::Beside(host, number) => format!("host={}{BESIDE}{number}", escape_host(host)),
        }
    }

    /// The first writer of a host (number 0), or a further one.
    pub fn of_host(host: &str, number: u32) -> Self {
        if number == 0 { Role::Host(host.to_owned()) } else { Role::Beside(host.to_owned(), number) }
    }

    pub(crate) fn lock_file(&self) -> String {
        format!(".{}{LOCK}", self.label())
    }

    pub(crate) fn commit_file(&self) -> String {
        format!(".{}{COMMIT}", self.label())
    }

    /// Writer of a commit list, if the file is one.
    pub(crate) fn of_commit_file(name: &str) -> Option<Self> {
        match name.strip_prefix('.')?.strip_suffix(COMMIT)? {
            "raw" => Some(Role::Raw),
            "derived" => Some(Role::Derived),
            label => Self::of_label(label.strip_prefix("host=")?),
        }
    }

    /// The host's writer of this lock, list or hidden file, if it is one.
    pub(crate) fn of_hidden(name: &str) -> Option<Self> {
        let rest = name.strip_prefix(".host=")?;
        // Neither an escaped host nor a number has one of these; a host may have a dot.
        let label = match rest.split_once('=') {
            Some((label, _)) => label,
            None => rest.strip_suffix(COMMIT).or_else(|| rest.strip_suffix(LOCK))?,
        };
        Self::of_label(label)
    }

    fn of_label(label: &str) -> Option<Self> {
        let (host, number) = split_owner(label)?;
        Some(Self::of_host(&unescape_host(host)?, number))
    }

    /// What the names of its files begin with while they are being written. No role's prefix is the
    /// beginning of another's: an escaped host has no `=`, and the fixed ones end where no host
    /// begins.
    pub(crate) fn hidden_prefix(&self) -> String {
        match self {
            Role::Raw | Role::Derived => format!(".{}-", self.label()),
            Role::Host(_) | Role::Beside(..) => format!(".{}=", self.label()),
        }
    }

    /// What the names of its files carry, so that writers can add to the same folder.
    pub(crate) fn owner(&self) -> Option<String> {
        match self {
            Role::Raw => None,
            Role::Derived => Some(DERIVED.to_owned()),
            Role::Host(host) => Some(escape_host(host)),
            Role::Beside(host, number) => Some(format!("{}{BESIDE}{number}", escape_host(host))),
        }
    }
}

/// The escaped host and the number of a host's writer, as its files carry them; the first writer's
/// number is 0 and not written.
pub(crate) fn split_owner(owner: &str) -> Option<(&str, u32)> {
    let Some((host, text)) = owner.split_once(BESIDE) else { return Some((owner, 0)) };
    let number = text.parse::<u32>().ok().filter(|number| *number > 0 && number.to_string() == text)?;
    Some((host, number))
}

/// Separator before the number of a further writer; escaped in names of hosts.
const BESIDE: char = '+';
const LOCK: &str = ".lock";

/// No host is called so, as `=` is escaped in their names.
pub(crate) const DERIVED: &str = "=derived";
const COMMIT: &str = ".commit.json";

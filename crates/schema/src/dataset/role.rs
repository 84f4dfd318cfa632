//! Who writes: the names by which writers are kept apart, and by which readers find what each has begun.

use super::place::{escape_host, unescape_host};

/// Whose rows are written: there is one writer for each at a time, and they do not wait for each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Role {
    /// Extractors and importers.
    Raw,
    /// `correlate` and what follows.
    Derived,
    /// Whoever traces this host.
    Host(String),
}

impl Role {
    /// What its files are called by. A host's name is escaped, so that none of these has a slash or ends before its end.
    fn label(&self) -> String {
        match self {
            Role::Raw => "raw".to_owned(),
            Role::Derived => "derived".to_owned(),
            Role::Host(host) => format!("host={}", escape_host(host)),
        }
    }

    pub(super) fn lock_file(&self) -> String {
        format!(".{}.lock", self.label())
    }

    pub(super) fn commit_file(&self) -> String {
        format!(".{}{COMMIT}", self.label())
    }

    /// Whose commit list a file is, if it is one.
    pub(super) fn of_commit_file(name: &str) -> Option<Self> {
        match name.strip_prefix('.')?.strip_suffix(COMMIT)? {
            "raw" => Some(Role::Raw),
            "derived" => Some(Role::Derived),
            label => unescape_host(label.strip_prefix("host=")?).map(Role::Host),
        }
    }

    /// What the names of its files begin with while they are being written. No role's prefix is the beginning of another's:
    /// an escaped host has no `=`, and the fixed ones end where no host begins.
    pub(super) fn hidden_prefix(&self) -> String {
        match self {
            Role::Raw | Role::Derived => format!(".{}-", self.label()),
            Role::Host(_) => format!(".{}=", self.label()),
        }
    }

    /// What the names of its files carry, so that writers can add to the same folder.
    pub(super) fn owner(&self) -> Option<String> {
        match self {
            Role::Raw => None,
            Role::Derived => Some(DERIVED.to_owned()),
            Role::Host(host) => Some(escape_host(host)),
        }
    }
}

/// No host is called so, as `=` is escaped in their names.
pub(super) const DERIVED: &str = "=derived";
const COMMIT: &str = ".commit.json";

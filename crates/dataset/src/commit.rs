//! List of the remaining steps of a committed transaction.

use serde::{Deserialize, Serialize};

use crate::format::STATE;
use crate::manifest::Additions;
use crate::place::Leaf;
use crate::role::Role;

/// What is left to do of a transaction that has been committed; paths are relative to the dataset.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Commit {
    /// Hidden files of the dataset's own folder, and where they go.
    pub(crate) moves: Vec<(String, String)>,
    pub(crate) deletes: Vec<String>,
    #[serde(default, skip_serializing_if = "Additions::is_empty")]
    pub(crate) manifest: Additions,
}

impl Commit {
    /// Whether it names files of a dataset only. A list from another program must not move or
    /// delete anything else.
    pub(crate) fn is_ours(&self, role: &Role) -> bool {
        let prefix = role.hidden_prefix();
        let plain = |name: &str| !name.is_empty() && name != "." && name != ".." && !name.contains('/') && !name.contains('\0');
        let hidden = |name: &str| plain(name) && name.starts_with(&prefix) && name.ends_with(".tmp");
        // A writer merges its own files only; those of another may still be moving.
        let of_table = |path: &str| Leaf::of_part(path).is_some_and(|(_, part)| part.owner == role.owner());
        let of_state = |path: &str| path.split_once('/').is_some_and(|(folder, name)| folder == STATE && plain(name));
        self.deletes.iter().all(|path| of_table(path)) && self.moves.iter().all(|(from, to)| hidden(from) && (of_table(to) || of_state(to)))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.moves.is_empty() && self.deletes.is_empty() && self.manifest.is_empty()
    }
}

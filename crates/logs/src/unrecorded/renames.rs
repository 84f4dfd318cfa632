//! The names that written files were given later, and which of them are gone.

use std::collections::BTreeSet;

use flowmine_activity_log::{Rename, RunGraph};

use super::namings::Naming;
use super::touches::ACCESS;

/// What happened to the names of a run's files.
pub(super) struct Renames {
    /// The names with which files were written or read.
    wanted: BTreeSet<String>,
    /// When, which name, whether it was made, and what a file is called since.
    seen: Vec<(i64, String, bool, Option<String>)>,
}

impl Renames {
    pub(super) fn new(run: &RunGraph) -> Self {
        Self { wanted: run.flows.iter().map(|flow| run.files.get(flow.file).to_owned()).collect(), seen: Vec::new() }
    }

    pub(super) fn see(&mut self, path: &str, row: &Naming<'_>) {
        let makes = row.op == "open" && row.flags.is_some_and(|flags| flags & ACCESS != 0);
        if makes && self.wanted.contains(path) || matches!(&*row.op, "rename" | "delete") {
            self.seen.push((row.start_ns, path.to_owned(), makes, row.new_path.as_deref().map(str::to_owned)));
        }
    }

    /// Follows the names in the order of time.
    pub(super) fn finish(mut self, run: &mut RunGraph) {
        self.seen.sort();
        let mut removed = BTreeSet::new();
        for (at_ns, from, makes, to) in self.seen {
            if makes {
                removed.remove(&from);
            } else if self.wanted.contains(&from) {
                removed.insert(from.clone());
                if let Some(to) = to {
                    removed.remove(&to);
                    self.wanted.insert(to.clone());
                    run.renames.push(Rename { at_ns, from, to });
                }
            } else if let Some(to) = to {
                removed.remove(&to);
            }
        }
        run.removed = removed.into_iter().collect();
    }
}

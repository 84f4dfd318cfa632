//! `flowmine.json`: what is in a dataset.
//!
//! Several writers add to it at once. So none writes what it once read: a transaction carries what
//! it adds, and this is added to what is there then, under a lock. Adding it a second time, after a
//! kill, changes nothing.

use std::collections::{BTreeSet, HashSet};

use serde::{Deserialize, Serialize};

use crate::format::FORMAT_VERSION;

/// The manifest of a dataset, its file `flowmine.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`FORMAT_VERSION`] of the flowmine that made the dataset, or of a later one that derived all
    /// its tables anew.
    pub format_version: u32,
    /// Names of the clusters of the jobs, sorted.
    #[serde(default)]
    pub clusters: BTreeSet<String>,
    /// Names of the traced hosts, sorted.
    #[serde(default)]
    pub hosts: BTreeSet<String>,
    /// Files that were imported, so that none is imported twice.
    #[serde(default)]
    pub imports: Vec<Import>,
    /// From when on a file joins no runs, where that was chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hubs: Option<HubLimits>,
}

/// From when on a file that jobs passed to each other joins no runs: it is a hub, such as a
/// reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HubLimits {
    /// Groups of several jobs each that read the file.
    pub runs: usize,
    /// Groups of jobs that read the file, whatever their number of jobs.
    pub readers: usize,
    /// Time from writing to reading, in nanoseconds.
    pub age_ns: i64,
}

impl Default for HubLimits {
    fn default() -> Self {
        Self { runs: 3, readers: 10, age_ns: 7 * 24 * 3600 * 1_000_000_000 }
    }
}

impl Default for Manifest {
    fn default() -> Self {
        Self { format_version: FORMAT_VERSION, clusters: BTreeSet::new(), hosts: BTreeSet::new(), imports: Vec::new(), hubs: None }
    }
}

/// A file that was imported.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Import {
    /// Name of the file, without folders.
    pub name: String,
    /// SHA-256 of its bytes, in hexadecimal.
    pub sha256: String,
    /// How many bytes these are, of a file that others may go on writing: one that begins with the
    /// same bytes is the same file, grown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// SHA-256 of the first of these bytes, by which such a file is found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head_sha256: Option<String>,
    /// Number of rows of `task_runs` that it describes, as the first or as a further source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
    /// What it was recognised as, where several kinds of files describe the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The same for all that were read together, so that rows of one can hold what another
    /// described.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<String>,
}

/// What a transaction adds to the manifest.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Additions {
    #[serde(skip_serializing_if = "Option::is_none")]
    format_version: Option<u32>,
    clusters: BTreeSet<String>,
    hosts: BTreeSet<String>,
    imports: Vec<Import>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hubs: Option<HubLimits>,
}

impl Additions {
    /// What the second manifest has that the first has not.
    pub(crate) fn between(before: &Manifest, after: &Manifest) -> Self {
        let known: HashSet<&Import> = before.imports.iter().collect();
        Self {
            format_version: (after.format_version > before.format_version).then_some(after.format_version),
            clusters: after.clusters.difference(&before.clusters).cloned().collect(),
            hosts: after.hosts.difference(&before.hosts).cloned().collect(),
            imports: after.imports.iter().filter(|import| !known.contains(import)).cloned().collect(),
            hubs: after.hubs.filter(|_| after.hubs != before.hubs),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.format_version.is_none() && self.clusters.is_empty() && self.hosts.is_empty() && self.imports.is_empty() && self.hubs.is_none()
    }

    pub(crate) fn add_to(&self, manifest: &mut Manifest) {
        manifest.format_version = manifest.format_version.max(self.format_version.unwrap_or(0));
        manifest.clusters.extend(self.clusters.iter().cloned());
        manifest.hosts.extend(self.hosts.iter().cloned());
        manifest.hubs = self.hubs.or(manifest.hubs);
        let mut known: HashSet<Import> = manifest.imports.iter().cloned().collect();
        manifest.imports.extend(self.imports.iter().filter(|import| known.insert((*import).clone())).cloned());
    }
}

pub(crate) fn manifest_json(manifest: &Manifest) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(manifest).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

//! Partial results of hosts, which [`crate::correlate`] merges.

use std::path::PathBuf;

use flowmine_attribution::hosts;
use flowmine_attribution::partial::{Collection, PartialManifest, expected};
use flowmine_correlate::{RowRules, Timestamp, write};
use flowmine_dataset::Dataset;
use flowmine_files::Folder;
use flowmine_schema::text::visible;

use crate::error::{Error, Result, ensure};
use crate::jobs;
use crate::sink::Sink;

/// The partial results that are made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// The dataset, which is only read.
    pub dataset: PathBuf,
    /// The hosts; all if there are none.
    pub hosts: Vec<String>,
    /// The directory, with a folder for each host; made when it does not exist.
    pub dir: PathBuf,
}

/// Partial results after they were made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Made {
    /// Hosts of which one was made.
    pub made: Vec<String>,
    /// Hosts of which there was one, made of the same rows by the same version.
    pub kept: Vec<String>,
}

/// Makes the partial results of some hosts. One that is there, whole and made of the same rows, is
/// kept.
///
/// # Errors
/// When the dataset has no such host or cannot be read, its rows change meanwhile, or a partial
/// result cannot be written.
pub fn make(options: &Options, sink: &dyn Sink) -> Result<Made> {
    let dataset = Dataset::open(&options.dataset)?;
    let known = hosts(&dataset)?;
    ensure!(!known.is_empty(), "{}: the dataset has no traces: `flowmine correlate` needs no partial results", options.dataset.display());
    let mut wanted = options.hosts.clone();
    wanted.sort();
    wanted.dedup();
    for host in &wanted {
        ensure!(known.contains(host), "--host {}: the dataset has no traces of it", visible(host));
    }
    let wanted = if wanted.is_empty() { known } else { wanted };
    let above = Folder::make(&options.dir, dataset.access().folder_mode())?;
    ensure!(!Dataset::holds(&above)?, "{}: it is a dataset or lies in one: give another directory", options.dir.display());
    let manifests = expected(&dataset, &wanted)?;
    let mut done = Made::default();
    let mut missing = Vec::new();
    for manifest in manifests.values() {
        let is_made = Collection::made(&above, manifest)?.is_some();
        if is_made { done.kept.push(manifest.host.clone()) } else { missing.push(manifest.clone()) }
    }
    if missing.is_empty() {
        return Ok(done);
    }
    let rules = RowRules::default();
    let parts = jobs::parts(&dataset, Timestamp::default(), &rules, sink)?;
    let _stage = sink.stage("correlating");
    let entities = write::entities(&dataset, &parts)?;
    drop(parts);
    let make = |number: usize| -> Result<String> {
        let manifest: &PartialManifest = &missing[number];
        let host = manifest.host.clone();
        let partial = write::partial(&dataset, &entities, &host, missing.len())?;
        let is_same = expected(&dataset, std::slice::from_ref(&host))?.get(&host) == Some(manifest);
        ensure!(is_same, "rows were written while the partial result of {} was made: repeat the command", visible(&host));
        Collection::write(&above, &partial, manifest.clone())?;
        Ok(host)
    };
    flowmine_threads::in_order(missing.len(), make, |host| {
        done.made.push(host?);
        Ok::<(), Error>(())
    })?;
    Ok(done)
}

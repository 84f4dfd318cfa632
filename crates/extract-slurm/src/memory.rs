//! What an observer keeps in the dataset between polls, one set of files a cluster below `.state/`.
//!
//! `squeue-CLUSTER.json` says when the queue was last looked at and which job table belongs to it;
//! `squeue-CLUSTER.parquet` is the queue itself; `sacct-CLUSTER.parquet` is what accounting has
//! reported. They change in the same transaction as the tables.

use std::collections::BTreeMap;

use flowmine_dataset::{Dataset, DatasetError, Transaction};
use flowmine_schema::tables::{JobState, NodeState};
use flowmine_slurm::clock::Ahead;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::accounting::{Accounting, KnownAttempt};
use crate::clock::{Clock, Finding};
use crate::naming::Naming;
use crate::nodes::Nodes;
use crate::queue::{Changes, PollTime, Queue};
use crate::remembered::Remembered;

/// Why an observer's memory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// The dataset could not be read.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
    /// A file of the observer's memory is damaged.
    #[error("the observer's memory {file} in the dataset is damaged ({why}): observe into a new dataset, this one stays readable")]
    Damaged {
        /// The file below `.state/`.
        file: String,
        /// What is wrong with the file's content.
        why: String,
    },
    /// The observer's memory is gone while the rows of its cluster are there.
    #[error(
        "the dataset has rows of cluster {cluster} but the observer's memory .state/{file} is missing, so that known and new jobs of the queue cannot be distinguished: restore it, or observe into a new dataset"
    )]
    Missing {
        /// Name of the cluster for which the queue cannot be compared.
        cluster: String,
        /// Path of the missing file below `.state/`.
        file: String,
    },
    /// The dataset holds pseudonyms, and no key or another key is given.
    #[error(
        "the dataset holds codes in place of names: give the key with which it was made (--pseudonymise KEYFILE of flowmine observe), or another dataset"
    )]
    HoldsCodes,
    /// The dataset holds names in clear, and pseudonyms are now asked for.
    #[error("the dataset holds names as they are: codes in their place (--pseudonymise) need a dataset of their own")]
    HoldsNames,
}

/// The file that a dataset with codes in place of names has: a code by which another key is
/// noticed.
const CODES: &str = "codes";

/// The code of the key with which a dataset was observed ([`Naming::key_code`]); nothing where it
/// holds names.
///
/// # Errors
/// When the dataset cannot be read.
pub fn key_code_of(dataset: &Dataset) -> Result<Option<String>, DatasetError> {
    Ok(dataset.state(CODES)?.map(|code| String::from_utf8_lossy(&code).into_owned()))
}

#[derive(Serialize, Deserialize)]
struct Polls {
    cluster: String,
    last: Option<PollTime>,
    #[serde(default)]
    accounting_first_ns: Option<i64>,
    accounting_until_ns: Option<i64>,
    /// The users, accounts and partitions asked for, in words; empty for all jobs.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    only: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    clocks: BTreeMap<String, Clock>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    nodes_began_ns: Option<i64>,
}

/// An observer's memory of one cluster.
#[derive(Debug)]
pub struct Memory {
    /// The queue at the last poll.
    pub queue: Queue,
    /// What accounting has reported of each attempt so far.
    pub accounting: Accounting,
    /// Which jobs were asked for at the last poll, in words; nothing for all. A job that is no
    /// longer asked for has not left the queue.
    pub only: String,
    /// The nodes at the last poll that asked for them.
    pub nodes: Nodes,
    /// What is known of the clock by which polls were made, by the source of their rows.
    clocks: BTreeMap<String, Clock>,
    /// How names are written: in clear or as pseudonyms.
    naming: Naming,
}

/// A cluster's name as part of a file name: letters, digits, `-` and `_` as they are, other bytes
/// as `=XX`.
fn in_file_name(cluster: &str) -> String {
    // A name that is too long for a file is replaced by its digest.
    if cluster.len() > 60 {
        return Sha256::digest(cluster).iter().map(|byte| format!("{byte:02x}")).collect();
    }
    cluster
        .bytes()
        .map(|b| if b.is_ascii_alphanumeric() || b == b'-' || b == b'_' { char::from(b).to_string() } else { format!("={b:02X}") })
        .collect()
}

impl Memory {
    /// The memory of a cluster that was never observed.
    pub fn new(cluster: &str) -> Self {
        Self {
            queue: Queue::new(cluster),
            accounting: Accounting::new(cluster),
            only: String::new(),
            nodes: Nodes::default(),
            clocks: BTreeMap::new(),
            naming: Naming::default(),
        }
    }

    /// Loads the memory; it is empty when the cluster was never observed here.
    ///
    /// # Errors
    /// When it is damaged, or missing although the cluster was observed; and when the dataset holds
    /// names in another form than `naming` writes.
    pub fn load(dataset: &Dataset, cluster: &str, naming: &Naming) -> Result<Self, MemoryError> {
        match (key_code_of(dataset)?, naming.key_code()) {
            (None, None) => {}
            (None, Some(_)) if dataset.manifest()?.clusters.is_empty() => {}
            (None, Some(_)) => return Err(MemoryError::HoldsNames),
            (Some(kept), Some(own)) if kept == own => {}
            (Some(_), _) => return Err(MemoryError::HoldsCodes),
        }
        Ok(Self { naming: naming.clone(), ..Self::load_named(dataset, cluster)? })
    }

    fn load_named(dataset: &Dataset, cluster: &str) -> Result<Self, MemoryError> {
        let name = in_file_name(cluster);
        let (polls_file, queue_file, told_file) =
            (format!("squeue-{name}.json"), format!("squeue-{name}.parquet"), format!("sacct-{name}.parquet"));
        let Some(bytes) = dataset.state(&polls_file)? else {
            let known = dataset.manifest()?.clusters.contains(cluster);
            let has_rows = known && !dataset.parts::<JobState<'static>>()?.is_empty();
            return if has_rows {
                Err(MemoryError::Missing { cluster: cluster.to_owned(), file: polls_file })
            } else {
                Ok(Self::new(cluster))
            };
        };
        let damaged = |file: &str, why: String| MemoryError::Damaged { file: file.to_owned(), why };
        let polls: Polls = serde_json::from_slice(&bytes).map_err(|e| damaged(&polls_file, e.to_string()))?;
        let queue = match dataset.state_rows::<Remembered<'static>>(&queue_file)? {
            Some(rows) => Queue::recall(cluster, polls.last, &rows).map_err(|why| damaged(&queue_file, why))?,
            None => return Err(MemoryError::Missing { cluster: cluster.to_owned(), file: queue_file }),
        };
        let told = dataset.state_rows::<KnownAttempt<'static>>(&told_file)?;
        let accounting = Accounting::recall(cluster, polls.accounting_first_ns, polls.accounting_until_ns, told.as_ref())
            .map_err(|why| damaged(&told_file, why))?;
        let nodes = dataset.state_rows::<NodeState<'static>>(&format!("sinfo-{name}.parquet"))?;
        let nodes = nodes.map_or_else(Nodes::default, |rows| Nodes::recall(polls.nodes_began_ns, &rows));
        Ok(Self { queue, accounting, only: polls.only, nodes, clocks: polls.clocks, naming: Naming::default() })
    }

    /// Returns the known difference of the clock that timed the polls with this source in their
    /// rows.
    pub fn clock(&mut self, source: &str) -> &mut Clock {
        self.clocks.entry(source.to_owned()).or_default()
    }

    /// Takes what the jobs of a poll show of its clock.
    pub fn see_clock(&mut self, shown: Ahead, source: &'static str, poll: PollTime, changes: &mut Changes) -> Finding {
        let finding = self.clock(source).see(shown);
        self.keep_clock(finding, source, poll, "jobs", changes);
        finding
    }

    /// Takes slurmctld's own time, which was asked for at a poll.
    pub fn read_clock(&mut self, reading: Ahead, source: &'static str, poll: PollTime, changes: &mut Changes) {
        let finding = self.clock(source).read(reading);
        self.keep_clock(finding, source, poll, "scontrol", changes);
    }

    fn keep_clock(&mut self, finding: Finding, source: &'static str, poll: PollTime, evidence: &'static str, changes: &mut Changes) {
        if matches!(finding, Finding::Narrower | Finding::Set) {
            let cluster = self.queue.cluster().to_owned();
            changes.clocks.push(&self.clock(source).row(&cluster, source, poll, evidence));
        }
    }

    /// Writes it as part of a transaction; only what the last poll changed.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn store(&self, transaction: &mut Transaction<'_>, dataset: &Dataset) -> Result<(), DatasetError> {
        self.store_if(transaction, dataset, self.queue.has_changed(), self.accounting.has_changed())
    }

    /// Writes all of it, after more than one poll.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn store_whole(&self, transaction: &mut Transaction<'_>, dataset: &Dataset) -> Result<(), DatasetError> {
        self.store_if(transaction, dataset, true, true)
    }

    fn store_if(&self, transaction: &mut Transaction<'_>, dataset: &Dataset, queue: bool, accounting: bool) -> Result<(), DatasetError> {
        let name = in_file_name(self.queue.cluster());
        let (queue_file, told_file) = (format!("squeue-{name}.parquet"), format!("sacct-{name}.parquet"));
        let polls = Polls {
            cluster: self.queue.cluster().to_owned(),
            last: self.queue.last_poll(),
            accounting_first_ns: self.accounting.first_ns(),
            accounting_until_ns: self.accounting.until_ns(),
            only: self.only.clone(),
            clocks: self.clocks.clone(),
            nodes_began_ns: self.nodes.last_began_ns(),
        };
        let polls = serde_json::to_vec(&polls).map_err(|source| DatasetError::Json { path: dataset.dir().join(&name), source })?;
        transaction.put_state(&format!("squeue-{name}.json"), &polls)?;
        if let Some(code) = self.naming.key_code().filter(|_| !dataset.has_state(CODES)) {
            transaction.put_state(CODES, code.as_bytes())?;
        }
        if queue || !dataset.has_state(&queue_file) {
            transaction.put_state_rows(&queue_file, self.queue.remember())?;
        }
        if self.nodes.has_changed() {
            transaction.put_state_rows(&format!("sinfo-{name}.parquet"), self.nodes.remember())?;
        }
        if accounting {
            transaction.put_state_rows(&told_file, self.accounting.remember())?;
        }
        Ok(())
    }
}

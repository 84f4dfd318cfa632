//! Codes in place of names.

use std::path::Path;
use std::sync::Arc;

use flowmine_dataset::Dataset;
use flowmine_extract_slurm::memory::key_code_of;
use flowmine_extract_slurm::naming::{Naming, Pseudonyms};
use flowmine_privacy::pseudonym::Pseudonymiser;
use flowmine_schema::tables::{JobDependency, JobState, NodeState};

use crate::error::Result;
use crate::inputs;
use crate::sink::{Message, Sink};

/// Reads the key of codes from its file.
///
/// # Errors
/// When the file cannot be read, or holds no key.
pub fn read_key(path: &Path, sink: &dyn Sink) -> Result<Pseudonymiser> {
    inputs::note(path);
    let (pseudonymiser, warning) = Pseudonymiser::from_key_file(path)?;
    if let Some(warning) = warning {
        sink.warning(&warning.to_string());
    }
    Ok(pseudonymiser)
}

/// Writes names as the codes that an export of the same names has.
pub fn naming(codes: Pseudonymiser) -> Naming {
    Naming(Some(Arc::new(Codes(codes))))
}

/// The pseudonymiser for what is made of a dataset that an observer may have written with codes:
/// those of the same key stay.
///
/// # Errors
/// When the dataset cannot be read.
pub fn of_dataset(dataset: &Dataset, codes: Pseudonymiser, sink: &dyn Sink) -> Result<Pseudonymiser> {
    let Some(kept) = key_code_of(dataset)? else { return Ok(codes) };
    if naming(codes.clone()).key_code().is_some_and(|own| own == kept) {
        sink.message(Message::Done("the dataset holds codes that were made with this key: they stay as they are"));
        return Ok(codes.keeping_codes());
    }
    sink.warning(
        "the dataset holds codes that were made with another key: codes are made of these codes, and match no others made with this key",
    );
    Ok(codes)
}

/// The codes that an export of the same names has.
#[derive(Debug)]
struct Codes(Pseudonymiser);

impl Pseudonyms for Codes {
    fn cluster(&self, name: &str) -> String {
        self.0.cluster(name)
    }

    fn text(&self, text: &str) -> String {
        self.0.task(text)
    }

    fn job_state<'r>(&self, row: JobState<'r>) -> JobState<'r> {
        let cluster = row.cluster.clone();
        JobState { cluster, ..self.0.row(row) }
    }

    fn job_dependency<'r>(&self, row: JobDependency<'r>) -> JobDependency<'r> {
        let cluster = row.cluster.clone();
        JobDependency { cluster, ..self.0.row(row) }
    }

    fn node_state<'r>(&self, row: NodeState<'r>) -> NodeState<'r> {
        let cluster = row.cluster.clone();
        NodeState { cluster, ..self.0.row(row) }
    }
}

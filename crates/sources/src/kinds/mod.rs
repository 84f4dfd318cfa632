//! The registry of kinds: a file and a line in [`KINDS`] for each.

mod airflow;
mod argo;
mod dataset;
mod docs;
mod engine;
mod io_csv;
mod kubernetes;
mod log;
mod makeflow;
mod nextflow;
mod not_read;
mod ro_crate;
mod slurm;
mod snakemake;
mod table;
mod taskvine;
mod transform;
mod wfformat;

use crate::{Kind, Reading};

pub use docs::markdown;

/// All kinds, in the order in which messages and the documentation list them.
pub const KINDS: &[&Kind] = &[
    &dataset::KIND,
    &log::KIND,
    &table::KIND,
    &slurm::KIND,
    &io_csv::KIND,
    &nextflow::KIND,
    &snakemake::KIND,
    &makeflow::KIND,
    &airflow::KIND,
    &argo::KIND,
    &kubernetes::KIND,
    &taskvine::KIND,
    &wfformat::KIND,
    &ro_crate::KIND,
    &transform::KIND,
    &not_read::KIND,
];

/// The kinds that are read, for messages.
pub(crate) fn list() -> String {
    let read = KINDS.iter().filter(|kind| !matches!(kind.reading, Reading::NotRead));
    read.map(|kind| kind.title).collect::<Vec<_>>().join(", ")
}

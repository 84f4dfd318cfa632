//! What a kind of source offers.

use std::path::Path;

use flowmine_extract_workflow::Engine;

use crate::{Answer, Sample};

/// How sources of a kind are read.
#[derive(Clone, Copy)]
pub enum Reading {
    /// It is a dataset, which is opened where it is.
    Dataset,
    /// It is a log file or a table, which is read as it is.
    Log,
    /// It is imported as files of Slurm.
    Slurm,
    /// It is imported as I/O traces.
    IoCsv,
    /// It is imported as records of a workflow engine.
    Tasks(&'static dyn Engine),
    /// It is not read; the kind says so for each file.
    NotRead,
}

/// A kind of source.
pub struct Kind {
    /// Its name, where there is one that of `flowmine import NAME`.
    pub name: &'static str,
    /// Name in messages, such as `Nextflow`.
    pub title: &'static str,
    /// What is recognised, for the table in the documentation: a phrase in Markdown.
    pub reads: &'static str,
    /// How it is read.
    pub reading: Reading,
    /// Extensions that break a tie, in lower case.
    pub extensions: &'static [&'static str],
    /// Whether a file with this path below a directory is where this kind's files lie.
    pub looks_at: fn(&Path) -> bool,
    /// Recognises a file from its content.
    pub recognise: fn(&Sample) -> Answer,
}

/// Whether a file lies in a directory itself and is not hidden.
pub(crate) fn is_in_directory(below: &Path) -> bool {
    below.components().count() == 1 && !below.as_os_str().as_encoded_bytes().starts_with(b".")
}

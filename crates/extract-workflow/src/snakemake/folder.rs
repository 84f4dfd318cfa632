//! Location of Snakemake's own files.

/// Name of Snakemake's folder in the directory in which it runs.
pub const FOLDER: &str = ".snakemake";

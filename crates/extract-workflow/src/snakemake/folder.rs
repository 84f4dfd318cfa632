//! Where Snakemake keeps what it knows.

/// Snakemake's own folder in the directory in which it runs.
pub const FOLDER: &str = ".snakemake";

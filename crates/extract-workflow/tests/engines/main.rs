//! Engines' files in, rows and diagnostics out: a module for each engine.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]

mod airflow;
mod argo;
mod growth;
mod kubernetes;
mod makeflow;
mod nextflow;
mod nextflow_lineage;
mod nextflow_runs;
mod ro_crate;
mod ro_crate_write;
mod rows;
mod snakemake;
mod taskvine;
mod transform;
mod wfformat;
mod wfformat_write;

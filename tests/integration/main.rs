//! What the program does as a whole, with real parts: a module for each area
//! (`docs/testing.md` has the table).
//!
//! Some modules flood a tracer, start daemons or take a whole machine, and are alone while they
//! run: `.cargo/config.toml` has cargo start this binary through `tests/one-by-one`, which runs the
//! modules one after another, each with its tests beside each other.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]

#[path = "../support/mod.rs"]
mod support;

mod airflow;
mod attribution;
mod backends;
mod bombs;
mod case_notions;
mod case_studies;
mod cases_as_runs;
mod cli;
mod clocks;
mod containers;
mod debian_kernels;
mod default_notion;
mod demonstration;
mod distributed;
mod documents;
mod engine_jobs;
mod export;
mod findings;
mod given;
mod honesty;
mod inferred;
mod inherited;
mod io_csv;
mod jump;
mod kernels;
mod killed;
mod layers;
mod left_behind;
mod limits;
mod links;
mod load;
mod locks;
mod nodes;
mod one_run;
mod operations;
mod overlay;
mod permissions;
mod pm4py;
mod positions;
mod predict;
mod private;
mod processes;
mod prune;
mod python;
mod quantities;
mod real_causes;
mod recording;
mod report;
mod resources;
mod results;
mod round_trip;
mod schemas;
mod scripts;
mod serve;
mod served;
mod slurm;
mod slurm_waits;
mod sources;
mod spec_orders;
mod spec_snakemake;
mod specs;
mod steps;
mod submitters;
mod task_logs;
mod task_waits;
mod tasks_and_jobs;
mod terminal;
mod trace_filters;
mod tracing;
mod transform;
mod unknown_runs;
mod waits;
mod watched;

/// Without names of tests this binary runs everything at once, unless somebody sees to it that its
/// modules run one after another.
#[test]
fn modules_run_one_after_another() {
    let names = std::env::args().skip(1).any(|argument| !argument.starts_with('-'));
    let alone = std::env::var_os("FLOWMINE_ONE_BY_ONE").is_some();
    assert!(names || alone, "call cargo in the repository, or tests/one-by-one {}", std::env::args().next().unwrap_or_default());
}

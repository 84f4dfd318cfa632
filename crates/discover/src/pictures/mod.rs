//! Models as pictures (`flowmine-draw`) and as JSON and tables.
//!
//! Each model has a file here with `svg`, `json` and `csv`. JSON begins with
//! `"format": "flowmine-…", "version": 1`; times in it are UTC nanoseconds since 1970 and time
//! spans nanoseconds, both in fields that end in `_ns`. Tables have time spans in seconds (`_s`)
//! and times as ISO 8601. What is not known is `null` in JSON and empty in tables, never zero.

pub mod arrivals;
pub mod batches;
mod colours;
pub mod compare;
pub mod critical_path;
pub mod csv;
pub mod dag;
pub mod dependency_audit;
pub mod dfg;
mod dfg_json;
pub mod dotted_chart;
pub mod findings;
pub mod fork_tree;
pub mod gantt;
pub mod handover;
pub mod history;
pub mod io_profile;
pub mod lifecycle;
pub mod ocdfg;
mod page;
pub mod perfetto;
pub mod performance_spectrum;
pub mod process_model;
pub mod requests;
pub mod resources;
pub mod run_dag;
pub mod steps;
pub mod summary;
pub mod temporal_profile;
pub mod text_table;
mod units;
pub mod variants;
pub mod waits;
pub mod waits_by_week;
pub mod why;
pub mod workflow;

use crate::calendar;

/// What every text about a model begins with: its facts, and what is not in it.
fn text_head((facts, left_out): (Vec<String>, Vec<String>)) -> String {
    let lines = facts.into_iter().chain(left_out.into_iter().map(|words| format!("Not in it: {words}.")));
    lines.map(|line| line + "\n").collect()
}

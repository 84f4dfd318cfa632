//! Process models: an event log in columns ([`flowmine_activity_log::ActivityLog`]) and typed options in, a model out.
//!
//! A model is a file here; it knows no source and no picture. [`dag`] takes tasks with what they wait for, [`run_dag`], [`critical_path`], [`check`] and [`spec`] a run as a graph
//! ([`flowmine_activity_log::RunGraph`]), [`process_tree`] processes, [`profile`] their operations as they pass by: no event log tells that. [`pictures`] says what of a model is drawn and how it is written for people and
//! programs: a file a model, too.

pub mod about;
pub mod advice;
pub mod batches;
pub mod bottlenecks;
pub mod check;
pub mod compare;
pub mod critical_path;
pub mod dag;
pub mod dfg;
pub mod distribution;
pub mod dotted_chart;
pub mod fold;
pub mod gantt;
mod graph_measures;
mod grouped;
pub mod lifecycle;
pub mod ocdfg;
pub mod over_time;
pub mod performance_spectrum;
pub mod pictures;
mod precedence;
pub mod process_model;
pub mod process_tree;
pub mod profile;
pub mod run_dag;
pub mod spec;
pub mod stats;
pub mod summary;
pub mod temporal_profile;
mod two_samples;
pub mod variants;

//! Process models: an event log in columns and typed options in, a model out, and a figure of it.
//!
//! - **In:** a [`flowmine_activity_log::ActivityLog`], with the grouping of its instances into
//!   cases where a model needs one. [`dag`] takes tasks with their dependencies; [`run_dag`],
//!   [`critical_path`], [`dependency_audit`] and [`workflow`] one run as a graph
//!   ([`flowmine_activity_log::RunGraph`]); [`fork_tree`] takes processes and [`io_profile`] their
//!   operations, which event logs do not contain.
//! - **Out:** a model, a plain type with public fields: [`dfg::Dfg`] for a directly-follows graph,
//!   and a type of its own in each other module. It depends on no source and no figure.
//! - **Drawn and written:** [`pictures`] has the figure of each model (for `flowmine-draw`, which
//!   makes SVG, DOT and others) and its JSON and CSV.
//!
//! **Units.** In models, durations are in nanoseconds, sizes in bytes, and times are UTC nanoseconds
//! since 1970-01-01. Unknown values are `None`. The model and its figure state the parts of a log
//! that were left out.
//!
//! **Errors.** A model of a log does not fail unless its module documents an error. A figure that
//! is too large for the layout is a [`flowmine_draw::LayoutError`].
//!
//! A directly-follows graph of two cases:
//!
//! ```
//! use flowmine_activity_log::{EventRow, LogBuilder};
//! use flowmine_discover::{dfg, pictures};
//!
//! let mut builder = LogBuilder::new(&[]);
//! for (case, activities) in [("1", ["align", "sort"]), ("2", ["align", "merge"])] {
//!     for (second, name) in (1i64..).zip(activities) {
//!         let activity = builder.activity(name);
//!         let time_ns = second * 1_000_000_000;
//!         builder.event(&EventRow { activity, time_ns, ..EventRow::default() })?;
//!     }
//!     builder.end_case(case)?;
//! }
//! let log = builder.finish();
//! let graph = dfg::dfg(&log, log.cases().ok_or("a log without cases")?);
//!
//! let names: Vec<&str> = graph.activities.iter().map(|activity| activity.name.as_str()).collect();
//! assert_eq!(names, ["align", "merge", "sort"]);
//! let edges: Vec<_> = graph.edges.iter().map(|edge| (edge.from, edge.to, edge.frequency)).collect();
//! assert_eq!(edges, [(0, 1, 1), (0, 2, 1)]);
//!
//! let picture = pictures::dfg::graph(&graph, &pictures::dfg::Options::default());
//! assert!(flowmine_draw::svg::svg(&picture)?.contains("<svg"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `examples/dfg.rs` is a program to start from: it reads XES and writes the graph as SVG or DOT
//! (`cargo run --release -p flowmine-discover --example dfg -- LOG.xes GRAPH.svg`).

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod about;
pub mod advice;
pub mod arrivals;
pub mod batches;
mod bounds;
pub mod calendar;
pub mod compare;
pub mod critical_path;
pub mod dag;
pub mod dependency_audit;
pub mod dfg;
pub mod distribution;
pub mod dotted_chart;
pub mod findings;
pub mod fold;
pub mod fork_tree;
pub mod gantt;
mod graph_measures;
mod grouped;
pub mod handover;
pub mod history;
pub mod inferred;
pub mod io_profile;
mod io_profile_numbers;
pub mod lifecycle;
mod noteworthy;
pub mod ocdfg;
pub mod over_time;
pub mod performance_spectrum;
pub mod pictures;
mod precedence;
pub mod process_model;
mod ranks;
pub mod requests;
pub mod resources;
pub mod run_dag;
mod slots;
pub mod sojourn;
pub mod stats;
pub mod step_details;
pub mod steps;
pub mod summary;
pub mod temporal_profile;
mod two_samples;
pub mod variants;
mod wait_advice;
pub mod waits;
pub mod who;
pub mod workflow;

//! Event logs, directly-follows graphs, layout and pictures

pub mod dfg;
pub mod draw;
pub mod layout;
pub mod log;
pub mod ocel;
pub mod summary;
pub mod xes;

pub use flowmine_correlate::hostlist;

//! Small tables made by hand, and what comes out of them.

mod attempts;
mod cases;
mod data_flow;
mod events;
mod generated;
mod known_jobs;
mod notions;
mod properties;
pub(crate) mod support;
mod written;

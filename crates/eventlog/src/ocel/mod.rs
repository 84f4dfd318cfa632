//! To be written.

pub mod sqlite;

//! To be written.

pub mod ocel_sqlite;

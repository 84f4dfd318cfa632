//! Pictures of what tasks did to files.

pub mod access_share;
pub mod accesses;

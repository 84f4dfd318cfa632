//! To be written.
pub mod extensions;

//! stub

pub mod tables;

//! Tracing.

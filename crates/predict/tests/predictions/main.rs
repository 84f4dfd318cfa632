//! Predictions: against the papers, against brute force, and with files of strangers.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]

mod brute_force;
mod coupled;
mod fit;
mod functions;
mod hostile;
mod paper;
mod sharing;
mod studies;

//! Process models: against models that are known, against PM4Py and process_mining, and their
//! properties.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]

mod known;
mod pm4py;
mod process_mining;
mod properties;

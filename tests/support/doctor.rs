//! What `flowmine doctor` says of a way in.

use std::process::Command;

/// Whether a way in works here, and how, or why not.
pub fn says(backend: &str) -> (bool, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_flowmine")).args(["doctor", "--json"]).output().expect("the binary is built");
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    let ways = found["ways"].as_array().expect("it lists the ways in");
    let way = ways.iter().find(|way| way["backend"] == backend).unwrap_or_else(|| panic!("doctor does not know {backend}"));
    (way["works"] == true, way["how"].as_str().unwrap_or_default().to_owned())
}

//! What `flowmine doctor` says of a backend.

use std::process::Command;

use super::require::require;

/// Whether a backend works here. Where it does not, and the machine can have it, the test fails.
pub fn works(backend: &str) -> bool {
    let (works, how) = says(backend);
    let part = if backend == "ebpf" { "bpf" } else { backend };
    require(part, &format!("{backend} ({how})"), works)
}

/// Whether a backend works here, and how, or why not.
pub fn says(backend: &str) -> (bool, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_flowmine")).args(["doctor", "--json"]).output().expect("the binary is built");
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    let backends = found["backends"].as_array().expect("it lists the backends");
    let one = backends.iter().find(|one| one["backend"] == backend).unwrap_or_else(|| panic!("doctor does not know {backend}"));
    (one["works"] == true, one["how"].as_str().unwrap_or_default().to_owned())
}

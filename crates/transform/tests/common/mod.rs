//! Transformed tasks as files, in each of the shells that are tested.

#![allow(dead_code, reason = "each test takes a part of it")]

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus};

use flowmine_transform::algebra::{Collisions, Composition, NoContents};
use flowmine_transform::workflow::{NoFiles, Plan, Workflow};

/// Shells in which scripts run.
pub const SHELLS: [&str; 3] = ["dash", "bash", "busybox"];

/// Whether the test may make files of other users.
pub fn is_root() -> bool {
    // SAFETY: it only asks.
    unsafe { libc::geteuid() == 0 }
}

/// A workflow of one task, transformed.
pub fn plan(task: &serde_json::Value, what: &Composition) -> Plan {
    let flow = Workflow::read("f.json", serde_json::json!([task]).to_string().as_bytes(), &NoFiles).unwrap();
    flow.transform(what, &[], Collisions::Refuse, &NoContents).unwrap()
}

/// Writes the scripts and gives the command; the shell is the one that is tested.
pub fn install(plan: &Plan, dir: &Path, shell: &str) -> String {
    let shebang = if shell == "busybox" { "#!/usr/bin/env -S busybox sh\n".to_owned() } else { format!("#!/usr/bin/env {shell}\n") };
    for script in (0..plan.tasks.len()).flat_map(|n| plan.scripts(n)) {
        let path = dir.join(&script.name);
        let text = dir.join(format!("{}.text", script.name));
        std::fs::write(&text, script.text.replacen("#!/bin/sh\n", &shebang, 1)).unwrap();
        std::fs::set_permissions(&text, PermissionsExt::from_mode(0o755)).unwrap();
        // Written by another process: one that a test beside this one starts meanwhile would have it open, and it could not be run.
        assert!(Command::new("cp").arg(&text).arg(&path).status().unwrap().success());
        std::fs::remove_file(&text).unwrap();
    }
    format!("./{}", plan.tasks[0].1.last().unwrap().script())
}

/// The status as a shell sees it: 128 and the signal's number.
pub fn seen(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap())
}

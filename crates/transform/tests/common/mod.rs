//! Transformed tasks as files, in each of the shells that are tested.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;

use flowmine_transform::algebra::{Collisions, Composition, NoContents};
use flowmine_transform::workflow::{NoFiles, Plan, Workflow};

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
        std::fs::write(&path, script.text.replacen("#!/bin/sh\n", &shebang, 1)).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    }
    format!("./{}", plan.tasks[0].1.last().unwrap().script())
}

/// The status as a shell sees it: 128 and the signal's number.
pub fn seen(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap())
}

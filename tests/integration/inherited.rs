//! What a traced command inherits is what it inherits without the trace.

use std::process::{Command, Stdio};

use crate::overlay::{flowmine, open_to_all};
use crate::support::doctor;

/// What the command sees of its descriptors and its environment.
fn seen(backend: &[&str], closed: &str) -> String {
    let (base, directory) = open_to_all();
    let data = base.path().join("data");
    let traced = match backend {
        [] => String::new(),
        &[name, ref more @ ..] => {
            let dataset = if name == "auto" { String::new() } else { format!("--backend {name} --dataset {}", data.display()) };
            format!("{} trace {} {dataset} --", flowmine(), more.join(" "))
        }
    };
    // A shell does not tell which descriptors are closed once it has opened a file.
    let script = "import os
told = []
for fd in range(3):
    try:
        os.fstat(fd)
    except OSError as error:
        told.append(f'{fd}: {error.strerror}')
open('told', 'w').write(repr((told, list(os.environ))))";
    std::fs::write(directory.join("script"), script).unwrap();
    let line = format!("exec env -i ZZ=1 AA=2 PATH=/usr/bin:/bin MM=3 {traced} python3 -S script {closed}");
    let status = Command::new("sh").args(["-c", &line]).current_dir(&directory).stdin(Stdio::null()).status().unwrap();
    assert!(status.success(), "{line}");
    std::fs::read_to_string(directory.join("told")).unwrap()
}

#[test]
fn descriptors_that_are_closed_stay_so_and_the_environment_keeps_its_order() {
    for closed in [">&-", "<&-", "2>&-", "<&- >&- 2>&-", ""] {
        let native = seen(&[], closed);
        assert_eq!(native.matches("Bad file descriptor").count(), closed.matches('-').count(), "{native}");
        for backend in ["fuse", "ptrace", "ebpf"] {
            if doctor::says(backend).0 {
                assert_eq!(seen(&[backend, "--must-trace"], closed), native, "{backend} {closed}");
            }
        }
        // Without a trace: there is no tracer to join.
        assert_eq!(seen(&["auto", "--join", "/nonexistent"], closed), native, "untraced {closed}");
    }
}

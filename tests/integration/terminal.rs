//! A name that would steer a terminal: on a real pseudo-terminal it is seen, in files and pipes it
//! is what it was.

use std::fs::File;
use std::io::Read;
use std::os::fd::{FromRawFd, OwnedFd};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{expect, flowmine};

/// Sets the title of a terminal's window, and a colour.
const NAME: &str = "\x1b]0;owned\x07\x1b[31mred\u{9b}32m";

/// What a terminal gets of a command whose standard output it is, and its standard error where
/// nothing else takes that.
fn on_terminal(command: &mut Command, messages_too: bool) -> String {
    let (mut ours, mut theirs) = (0, 0);
    // SAFETY: both places live until it returns; the others may be null.
    let opened = unsafe { libc::openpty(&mut ours, &mut theirs, std::ptr::null_mut(), std::ptr::null(), std::ptr::null()) };
    assert_eq!(opened, 0, "{}", std::io::Error::last_os_error());
    // SAFETY: they were opened just now and nobody else has them.
    let (ours, theirs) = unsafe { (OwnedFd::from_raw_fd(ours), OwnedFd::from_raw_fd(theirs)) };
    let messages = if messages_too { Stdio::from(theirs.try_clone().unwrap()) } else { Stdio::null() };
    let mut child = command.stdout(theirs).stderr(messages).spawn().unwrap();
    // The command holds the other end too, as long as it lives.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let (mut said, mut ours) = (Vec::new(), File::from(ours));
    let mut buffer = [0; 4096];
    // Linux says EIO when the other end is closed by all.
    while let Ok(read @ 1..) = ours.read(&mut buffer) {
        said.extend_from_slice(&buffer[..read]);
    }
    assert!(child.wait().unwrap().code().is_some());
    String::from_utf8_lossy(&said).into_owned()
}

fn dataset(dir: &Path) -> std::path::PathBuf {
    let queue = dir.join("queue.json");
    let job = serde_json::json!({"jobs": [{"job_id": 1, "job_state": "RUNNING", "name": NAME, "user_name": NAME,
        "submit_time": 1_795_179_700, "start_time": 1_795_179_710}]});
    std::fs::write(&queue, job.to_string()).unwrap();
    let dataset = dir.join("dataset");
    expect(flowmine().args(["import", "slurm", "--observed-at", "2026-11-20T13:45:00Z", "--dataset"]).arg(&dataset).arg(&queue), 0);
    dataset
}

#[test]
fn a_name_does_not_steer_a_terminal() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = dataset(dir.path());
    let export = |path: Option<&str>| {
        let mut export = flowmine();
        export.args(["export", "--format", "csv", "--dataset"]).arg(&dataset);
        if let Some(path) = path {
            export.args(["-o", path]);
        }
        export
    };
    let piped = String::from_utf8(expect(&mut export(None), 0).stdout).unwrap();
    assert!(piped.contains(NAME), "a pipe gets the bytes as they are: {piped:?}");
    for path in [None, Some("/dev/stdout")] {
        // Progress moves the cursor of a terminal that gets messages.
        let seen = on_terminal(&mut export(path), false);
        assert!(seen.contains("\\x1b]0;owned\\x07\\x1b[31mred\\x9b32m"), "{seen:?}");
        assert!(!seen.contains('\x1b') && !seen.contains('\u{9b}') && !seen.contains('\x07'), "{seen:?}");
        // The terminal makes CR LF of each LF.
        let lines = |text: &str| text.replace('\r', "").lines().count();
        assert_eq!(lines(&seen), lines(&piped), "{seen:?}");
    }
}

#[test]
fn a_file_name_does_not_steer_a_terminal() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join(format!("{NAME}.txt"));
    std::fs::write(&file, "milk\neggs\n").unwrap();
    let mut import = flowmine();
    import.args(["import", "slurm", "--dataset"]).arg(dir.path().join("dataset")).arg(&file);
    let mut missing = flowmine();
    missing.args(["run", "--dataset"]).arg(dir.path().join(NAME)).arg("--out").arg(dir.path().join("out"));
    let mut option = flowmine();
    option.arg(format!("--{NAME}"));
    let mut escapes = flowmine();
    escapes.arg("--\x1b]0;owned\x1b\\red");
    for (command, word) in [(&mut import, "\\x1b]0;owned"), (&mut missing, "\\x1b]0;owned"), (&mut option, "red"), (&mut escapes, "red")] {
        let seen = on_terminal(command, true);
        assert!(seen.contains(word), "{seen:?}");
        assert!(!seen.contains("\x1b]") && !seen.contains('\x07') && !seen.contains('\u{9b}'), "{seen:?}");
    }
}

//! Who may read a dataset: the modes of all that is written, with an umask that lets others read and with one that lets them do all.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use support::stand_in::StandIn;
use support::{expect, flowmine, repository};

/// Paths below a directory, and it, with their modes.
fn modes(dir: &Path) -> Vec<(PathBuf, u32)> {
    let mode = |path: &Path| fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777;
    let mut found = vec![(dir.to_owned(), mode(dir))];
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(modes(&path)) } else { found.push((path.clone(), mode(&path))) }
    }
    found
}

fn assert_modes(dir: &Path, folder: u32, file: u32) {
    let found = modes(dir);
    assert!(found.len() > 3, "{found:?}");
    for (path, mode) in found {
        assert_eq!(mode, if path.is_dir() { folder } else { file }, "{}: {mode:o}", path.display());
    }
}

/// The same command with this umask.
fn with_umask(umask: &str, command: &Command) -> Command {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("umask {umask}; exec \"$@\"")).arg("sh").arg(command.get_program()).args(command.get_args());
    shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    shell
}

/// What an umask leaves of folders and files.
const UMASKS: [(&str, u32, u32); 2] = [("022", 0o755, 0o644), ("000", 0o777, 0o666)];

fn import(dataset: &Path) -> Command {
    let mut command = flowmine();
    command.args(["import", "squeue"]).arg(repository("fixtures/case-study/sacct-token.txt.gz")).arg("--dataset").arg(dataset);
    command
}

fn correlate(dataset: &Path) -> Command {
    let mut command = flowmine();
    command.arg("correlate").arg("--dataset").arg(dataset);
    command
}

#[test]
fn an_import_is_private_when_it_is_said_once() {
    for (umask, folder, file) in UMASKS {
        let dir = tempfile::tempdir().unwrap();
        let (private, open) = (dir.path().join("above/private"), dir.path().join("open"));
        expect(&mut with_umask(umask, import(&private).arg("--private")), 0);
        expect(&mut with_umask(umask, &correlate(&private)), 0);
        assert_modes(&private, 0o700, 0o600);
        expect(&mut with_umask(umask, &import(&open)), 0);
        expect(&mut with_umask(umask, &correlate(&open)), 0);
        assert_modes(&open, folder, file);
        let refused = expect(&mut with_umask(umask, import(&open).arg("--private")), 2);
        assert!(String::from_utf8_lossy(&refused.stderr).contains("chmod -R go-rwx"), "{refused:?}");
        // As it says.
        expect(Command::new("chmod").args(["-R", "go-rwx"]).arg(&open), 0);
        expect(&mut with_umask(umask, import(&open).arg("--private")), 0);
        expect(&mut with_umask(umask, &correlate(&open)), 0);
        assert_modes(&open, 0o700, 0o600);
    }
}

#[test]
fn an_observer_is_private_with_its_memory_and_recordings() {
    for (umask, folder, file) in UMASKS {
        let dir = tempfile::tempdir().unwrap();
        let queue = StandIn::new(dir.path());
        for (name, options, folder, file) in [("private", &["--private"][..], 0o700, 0o600), ("open", &[], folder, file)] {
            let (dataset, record) = (dir.path().join(name), dir.path().join(format!("{name}-polls")));
            for poll in [10, 20, 30] {
                queue.show(poll);
                // A later poll need not say it; not even where it makes the record's directory.
                let options = if poll == 10 { options } else { &[] };
                expect(&mut with_umask(umask, queue.observe(&dataset).arg("--once").args(options).arg("--record").arg(&record)), 0);
            }
            assert_modes(&dataset, folder, file);
            assert_modes(&record, folder, file);
        }
    }
}

#[test]
fn a_trace_is_private_unless_it_is_shared() {
    for (umask, folder, file) in UMASKS {
        let dir = tempfile::tempdir().unwrap();
        let (private, shared, empty) = (dir.path().join("private"), dir.path().join("shared"), dir.path().join("empty"));
        fs::create_dir(&empty).unwrap();
        fs::set_permissions(&empty, fs::Permissions::from_mode(0o755)).unwrap();
        for (dataset, options, folder, file) in
            [(&private, &[][..], 0o700, 0o600), (&shared, &["--shared"], folder, file), (&empty, &[], 0o700, 0o600)]
        {
            let written = dir.path().join("written");
            for options in [options, &[]] {
                let mut command = flowmine();
                command.args(["trace", "--backend", "ptrace"]).args(options).arg("--dataset").arg(dataset).arg("--");
                expect(&mut with_umask(umask, command.args(["sh", "-c", "echo x > \"$0\""]).arg(&written)), 0);
                // What the traced program makes is its own affair.
                let mode = fs::metadata(&written).unwrap().permissions().mode() & 0o777;
                assert_eq!(mode, 0o666 & !u32::from_str_radix(umask, 8).unwrap());
                fs::remove_file(&written).unwrap();
            }
            expect(&mut with_umask(umask, &correlate(dataset)), 0);
            assert_modes(dataset, folder, file);
        }
    }
}

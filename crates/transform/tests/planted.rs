//! Records, marks and scripts where other users may put files: nothing is written through what they
//! put there, and nothing of it is run. A part of a script never succeeds.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]

mod common;

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use common::{SHELLS, install, is_root, plan, seen};
use flowmine_transform::algebra::Composition;
use flowmine_transform::builtin;
use flowmine_transform::workflow::Plan;

fn layer(name: &str) -> Composition {
    let text = if name == "prepost" {
        r#"define prepost(T) {"command": {"pre": [":"], "post": ["EXIT=$EXIT"]}}"#
    } else {
        builtin::text(name).unwrap()
    };
    Composition::read(name, text, None, &[]).unwrap()
}

fn task(what: &Composition) -> Plan {
    plan(&serde_json::json!({"command": "echo ran >out", "outputs": ["out"]}), what)
}

fn run(dir: &Path, command: &str) -> Output {
    Command::new("sh").args(["-c", command]).current_dir(dir).stdin(Stdio::null()).output().unwrap()
}

fn interpreter(shell: &str) -> &str {
    if shell == "busybox" { "busybox sh" } else { shell }
}

#[test]
fn a_part_of_a_script_never_succeeds() {
    let what = layer("prepost").then(layer("sandbox")).then(layer("retry"));
    for shell in SHELLS {
        let dir = tempfile::tempdir().unwrap();
        let plan = task(&what);
        install(&plan, dir.path(), shell);
        for script in plan.scripts(0) {
            let path = dir.path().join(&script.name);
            let whole = fs::read(&path).unwrap();
            let head = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
            let lines = whole.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
            let cuts = lines.step_by(7).flat_map(|at| [at, at + 3]).chain([head + 2, head + 5, head + 6, whole.len() - 2]);
            for cut in cuts.filter(|cut| (head + 1..whole.len() - 1).contains(cut)) {
                fs::write(&path, &whole[..cut]).unwrap();
                let done = run(dir.path(), &format!("{} ./{}", interpreter(shell), script.name));
                assert!(!done.status.success(), "{shell}: {} bytes of {}: {done:?}", cut, script.name);
                assert!(!dir.path().join("out").exists(), "{shell}: {cut} bytes of {}", script.name);
            }
            fs::write(&path, &whole).unwrap();
        }
        assert!(run(dir.path(), &install(&plan, dir.path(), shell)).status.success(), "{shell}");
    }
}

#[test]
fn a_record_that_somebody_put_there_is_not_written() {
    for shell in SHELLS {
        for kind in ["link", "dangling", "hard link", "fifo", "folder", "another user's"] {
            let dir = tempfile::tempdir().unwrap();
            let at = |name: &str| dir.path().join(name);
            let plan = task(&layer("retry"));
            let command = install(&plan, dir.path(), shell);
            let record = at(&format!("t_{}.record", plan.tasks[0].1[0].id));
            fs::write(at("victim"), "theirs\n").unwrap();
            match kind {
                "link" => symlink("victim", &record).unwrap(),
                "dangling" => symlink("new", &record).unwrap(),
                "hard link" => fs::hard_link(at("victim"), &record).unwrap(),
                "fifo" => assert!(Command::new("mkfifo").arg(&record).status().unwrap().success()),
                "folder" => fs::create_dir(&record).unwrap(),
                _ if !is_root() => continue,
                _ => {
                    fs::write(&record, "theirs\n").unwrap();
                    chown(&record, Some(6001), Some(6001)).unwrap();
                }
            }
            let done = run(dir.path(), &command);
            let said = String::from_utf8_lossy(&done.stderr).into_owned();
            assert_eq!(seen(done.status), 125, "{shell} {kind}: {said}");
            assert!(said.contains("remove it") && !at("out").exists(), "{shell} {kind}: {said}");
            assert_eq!(fs::read_to_string(at("victim")).unwrap(), "theirs\n", "{shell} {kind}");
            assert!(!at("new").exists(), "{shell} {kind}");
            if kind == "another user's" {
                assert_eq!(fs::read_to_string(&record).unwrap(), "theirs\n", "{shell}");
            }
        }
    }
}

/// The lines of earlier attempts stay.
#[test]
fn a_record_of_ones_own_is_added_to() {
    for shell in SHELLS {
        let dir = tempfile::tempdir().unwrap();
        let plan = task(&layer("prepost"));
        let command = install(&plan, dir.path(), shell);
        for attempts in 1..3 {
            assert!(run(dir.path(), &command).status.success());
            let record = fs::read_to_string(dir.path().join(format!("t_{}.record", plan.tasks[0].1[0].id))).unwrap();
            assert_eq!(record.lines().count(), 3 * attempts, "{shell}");
        }
    }
}

#[test]
fn a_script_below_that_is_not_the_owners_is_not_run() {
    for shell in SHELLS {
        for kind in ["link", "empty", "missing", "another user's"] {
            let dir = tempfile::tempdir().unwrap();
            let at = |name: &str| dir.path().join(name);
            let plan = task(&layer("sandbox").then(layer("retry")));
            let command = install(&plan, dir.path(), shell);
            let below = at(&plan.tasks[0].1[0].script());
            fs::write(at("planted"), "#!/bin/sh\n: >ran-what-was-planted\n").unwrap();
            fs::set_permissions(at("planted"), PermissionsExt::from_mode(0o755)).unwrap();
            match kind {
                "link" => {
                    fs::remove_file(&below).unwrap();
                    symlink("planted", &below).unwrap();
                }
                "empty" => fs::write(&below, "").unwrap(),
                "missing" => fs::remove_file(&below).unwrap(),
                _ if !is_root() => continue,
                _ => {
                    fs::rename(at("planted"), &below).unwrap();
                    chown(&below, Some(6001), Some(6001)).unwrap();
                }
            }
            let done = run(dir.path(), &command);
            assert_eq!(seen(done.status), 125, "{shell} {kind}: {done:?}");
            assert!(!at("ran-what-was-planted").exists() && !at("out").exists(), "{shell} {kind}");
        }
    }
}

/// A workflow that one user transforms can be run by another who chose to: all scripts have one
/// owner.
#[test]
fn scripts_of_another_user_run_when_all_are_his() {
    if !is_root() {
        return;
    }
    for shell in SHELLS {
        let dir = tempfile::tempdir().unwrap();
        let plan = task(&layer("sandbox").then(layer("retry")));
        let command = install(&plan, dir.path(), shell);
        for layer in &plan.tasks[0].1 {
            chown(dir.path().join(layer.script()), Some(6001), Some(6001)).unwrap();
        }
        let done = run(dir.path(), &command);
        assert!(done.status.success() && dir.path().join("out").exists(), "{shell}: {done:?}");
    }
}

/// The names that earlier flowmines used, and those of a sandbox, are links to a victim.
#[test]
fn marks_and_sandboxes_follow_no_links() {
    for shell in SHELLS {
        let dir = tempfile::tempdir().unwrap();
        let victim = tempfile::tempdir().unwrap();
        fs::write(victim.path().join("kept"), "theirs").unwrap();
        let plan = task(&layer("prepost").then(layer("sandbox")));
        let command = install(&plan, dir.path(), shell);
        // Which process ids come next is not known: those of the next thousands.
        for pid in std::process::id()..std::process::id() + 3000 {
            for layer in &plan.tasks[0].1 {
                symlink(victim.path().join("kept"), dir.path().join(format!(".t_{}.{pid}", layer.id))).unwrap();
                symlink(victim.path(), dir.path().join(format!("t_{}.box.{pid}.0", layer.id))).unwrap();
            }
        }
        assert!(run(dir.path(), &command).status.success(), "{shell}");
        assert_eq!(fs::read_to_string(victim.path().join("kept")).unwrap(), "theirs", "{shell}");
        assert_eq!(fs::read_dir(victim.path()).unwrap().count(), 1, "{shell}");
    }
}

/// In a sticky directory, as `/tmp` is one, with files of a stranger's around.
#[test]
fn a_user_runs_scripts_beside_a_stranger() {
    if !is_root() {
        return;
    }
    for shell in SHELLS {
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o1777)).unwrap();
        let plan = task(&layer("prepost").then(layer("sandbox")).then(layer("failure")));
        let command = install(&plan, dir.path(), shell);
        let record = dir.path().join(format!("t_{}.record", plan.tasks[0].1[0].id));
        for layer in &plan.tasks[0].1 {
            chown(dir.path().join(layer.script()), Some(6002), Some(6002)).unwrap();
        }
        let as_user = format!("setpriv --reuid 6002 --regid 6002 --clear-groups {command}");
        fs::write(dir.path().join("theirs"), "theirs\n").unwrap();
        symlink("theirs", &record).unwrap();
        std::os::unix::fs::lchown(&record, Some(6001), Some(6001)).unwrap();
        chown(dir.path().join("theirs"), Some(6002), Some(6002)).unwrap();
        assert_eq!(seen(run(dir.path(), &as_user).status), 125, "{shell}");
        assert_eq!(fs::read_to_string(dir.path().join("theirs")).unwrap(), "theirs\n", "{shell}");
        fs::remove_file(&record).unwrap();
        let done = run(dir.path(), &as_user);
        assert!(done.status.success(), "{shell}: {done:?}");
        assert_eq!(fs::read_to_string(dir.path().join("out")).unwrap(), "ran\n", "{shell}");
        assert!(fs::symlink_metadata(&record).unwrap().is_file(), "{shell}");
    }
}

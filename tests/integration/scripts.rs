//! Where `flowmine transform` writes: nothing of another user's is kept or followed, a full disk
//! leaves no script, and root is refused a place that others can change.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, lchown, symlink};
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use crate::support::is_root;

fn transform(dir: &Path) -> Output {
    let args = ["transform", "flow.jx", "--apply", "retry", "-o", "new.json"];
    Command::new(env!("CARGO_BIN_EXE_flowmine")).args(args).current_dir(dir).output().unwrap()
}

fn flow(dir: &Path, tasks: usize) {
    let rules: Vec<_> = (0..tasks)
        .map(|n| serde_json::json!({"command": format!("echo hi >out{n}"), "inputs": [], "outputs": [format!("out{n}")]}))
        .collect();
    fs::write(dir.join("flow.jx"), serde_json::json!({"rules": rules}).to_string()).unwrap();
}

/// The scripts that lie in a directory, and what each holds.
fn scripts(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let plain = fs::read_dir(dir).unwrap().flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    let names = plain.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let scripts = names.filter(|name| name.starts_with("t_") && name.ends_with(".sh"));
    let mut all: Vec<_> = scripts.map(|name| (name.clone(), fs::read(dir.join(&name)).unwrap())).collect();
    all.sort();
    all
}

fn said(out: &Output) -> String {
    String::from_utf8_lossy(&out.stderr).into_owned()
}

#[test]
fn a_script_that_a_stranger_planted_is_refused() {
    if !is_root() {
        return;
    }
    let known = tempfile::tempdir().unwrap();
    flow(known.path(), 1);
    assert!(transform(known.path()).status.success());
    let texts = scripts(known.path());
    // Who knows the workflow knows the names and the texts.
    for kind in ["script", "record's link", "link", "dangling"] {
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o1777)).unwrap();
        flow(dir.path(), 1);
        let (name, text) = &texts[0];
        let path = dir.path().join(name);
        let victim = dir.path().join("victim");
        fs::write(&victim, text).unwrap();
        fs::set_permissions(&victim, PermissionsExt::from_mode(0o755)).unwrap();
        match kind {
            "script" => {
                fs::copy(&victim, &path).unwrap();
                chown(&path, Some(6001), Some(6001)).unwrap();
            }
            "link" => symlink(&victim, &path).unwrap(),
            "dangling" => symlink("nowhere", &path).unwrap(),
            _ => {
                // The script stays, and refuses to write.
                assert!(transform(dir.path()).status.success());
                let id = texts
                    .iter()
                    .find(|(_, text)| String::from_utf8_lossy(text).contains("layer 0, task"))
                    .unwrap()
                    .0
                    .replace(".sh", ".record");
                symlink(&victim, dir.path().join(&id)).unwrap();
                lchown(dir.path().join(&id), Some(6001), Some(6001)).unwrap();
                let new: serde_json::Value = serde_json::from_slice(&fs::read(dir.path().join("new.json")).unwrap()).unwrap();
                let command = new["rules"][0]["command"].as_str().unwrap().to_owned();
                let ran = Command::new("sh").args(["-c", &command]).current_dir(dir.path()).output().unwrap();
                assert_eq!(ran.status.code(), Some(125), "{}", said(&ran));
                assert!(!dir.path().join("out0").exists() && fs::read(&victim).unwrap() == *text);
                continue;
            }
        }
        let out = transform(dir.path());
        assert_eq!(out.status.code(), Some(2), "{kind}: {}", said(&out));
        assert!(said(&out).contains(name), "{kind}: {}", said(&out));
        assert!(!dir.path().join("new.json").exists(), "{kind}: what would run it was not written");
        assert_eq!(fs::read(&victim).unwrap(), *text, "{kind}");
        assert!(!dir.path().join("nowhere").exists(), "{kind}");
        let left = scripts(dir.path());
        assert!(left.len() <= 1, "{kind}: no script appears where one cannot: {left:?}");
    }
}

#[test]
fn what_is_written_is_its_writers_alone() {
    let dir = tempfile::tempdir().unwrap();
    flow(dir.path(), 2);
    let args = [
        "-c",
        "umask 000; exec \"$@\"",
        "sh",
        env!("CARGO_BIN_EXE_flowmine"),
        "transform",
        "flow.jx",
        "--apply",
        "retry",
        "-o",
        "new.json",
    ];
    assert!(Command::new("sh").args(args).current_dir(dir.path()).status().unwrap().success());
    let inodes = || -> Vec<(u32, u64)> {
        let of = |(name, _): (String, Vec<u8>)| fs::metadata(dir.path().join(name)).map(|of| (of.mode() & 0o7777, of.ino())).unwrap();
        scripts(dir.path()).into_iter().map(of).collect()
    };
    let first = inodes();
    assert_eq!(first.iter().map(|(mode, _)| *mode).collect::<Vec<_>>(), [0o755; 4]);
    assert!(transform(dir.path()).status.success());
    assert_eq!(inodes(), first, "what is the same stays, with its times");
}

#[test]
fn a_full_disk_leaves_no_script() {
    if !is_root() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    flow(dir.path(), 40);
    // In a mount namespace of the test's own. The workflow itself has room, its scripts have not.
    let run = "mkdir small && mount -t tmpfs -o size=128k none small && cp flow.jx small && cd small || exit 9
        \"$0\" transform flow.jx --apply retry -o new.json; echo $?; ls -A";
    let out =
        Command::new("unshare").args(["-m", "sh", "-c", run, env!("CARGO_BIN_EXE_flowmine")]).current_dir(dir.path()).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&out.stdout), "2\nflow.jx\n", "{}", said(&out));
    assert!(said(&out).contains("No space left on device"), "{}", said(&out));
}

#[test]
fn a_killed_transform_leaves_no_part_of_a_script() {
    let known = tempfile::tempdir().unwrap();
    flow(known.path(), 200);
    assert!(transform(known.path()).status.success());
    let whole = scripts(known.path());
    for moment in 0..20 {
        let dir = tempfile::tempdir().unwrap();
        flow(dir.path(), 200);
        let args = ["transform", "flow.jx", "--apply", "retry", "-o", "new.json"];
        let mut child = Command::new(env!("CARGO_BIN_EXE_flowmine")).args(args).current_dir(dir.path()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(10 * moment));
        child.kill().unwrap();
        child.wait().unwrap();
        let left = scripts(dir.path());
        assert!(left.iter().all(|script| whole.contains(script)), "after {} ms", 10 * moment);
        assert!(!dir.path().join("new.json").exists() || left.len() == whole.len(), "the workflow is last: after {} ms", 10 * moment);
    }
}

#[test]
fn root_writes_no_scripts_where_others_can_change_them() {
    if !is_root() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let inside = dir.path().join("theirs/below");
    fs::create_dir_all(&inside).unwrap();
    flow(&inside, 1);
    assert!(transform(&inside).status.success());
    for (owner, mode) in [(6001, 0o755), (0, 0o777)] {
        let above = inside.parent().unwrap();
        chown(above, Some(owner), Some(0)).unwrap();
        fs::set_permissions(above, PermissionsExt::from_mode(mode)).unwrap();
        fs::remove_file(inside.join("new.json")).unwrap_or_default();
        let out = transform(&inside);
        assert_eq!(out.status.code(), Some(2), "{}", said(&out));
        assert!(said(&out).contains("could replace the scripts before root runs them"), "{}", said(&out));
        assert!(!inside.join("new.json").exists());
    }
}

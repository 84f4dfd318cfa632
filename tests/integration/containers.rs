//! What a trace of the host says of containers: their control group, and where their files are as
//! the host and as the container see them; by podman and by runc alone.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use flowmine_schema::tables::{IoEvent, Process, TracedFile};

use crate::support::doctor;
use crate::support::require::require;
use crate::support::traced::each;

/// Runs in each container: files of its own file system and of a volume, by paths from the root and
/// from the working directory.
const SCRIPT: &str =
    "echo one > /data/own; cat /data/own > /vol/copy; cd /vol; mv copy moved; rm moved; echo more > below/deep; rm /data/own";

fn ran(command: &mut Command) -> Output {
    command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

fn succeed(command: &mut Command) -> String {
    let output = ran(command);
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// The root of a small container, and a folder to be its volume.
fn folders(dir: &Path) -> (PathBuf, PathBuf) {
    let (root, volume) = (dir.join("root"), dir.join("volume"));
    for name in ["bin", "data", "proc", "dev", "sys", "vol"] {
        std::fs::create_dir_all(root.join(name)).unwrap();
    }
    std::fs::create_dir_all(volume.join("below")).unwrap();
    let busybox = succeed(Command::new("sh").args(["-c", "command -v busybox"]));
    std::fs::copy(busybox, root.join("bin/busybox")).unwrap();
    for name in ["sh", "cat", "mv", "rm"] {
        std::os::unix::fs::symlink("busybox", root.join("bin").join(name)).unwrap();
    }
    (root, volume)
}

/// `flowmine trace … -- COMMAND`, where the command starts the container.
fn traced(dataset: &Path, command: &Command) {
    let mut trace = Command::new(env!("CARGO_BIN_EXE_flowmine"));
    trace.args(["trace", "--backend", "ebpf", "--dataset"]).arg(dataset).arg("--").arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        trace.env(name, value.unwrap());
    }
    succeed(&mut trace);
}

fn ebpf_works() -> bool {
    let (works, how) = doctor::says("ebpf");
    require("bpf", &format!("eBPF ({how})"), works)
}

/// Compares the rows of what ran in the control group `cgroup`; `merged` is the container's root
/// and `volume` its `/vol`, as the host sees them.
fn compare(dataset: &Path, cgroup: &str, merged: &Path, volume: &Path) {
    let (mut inside, mut first, mut groups) = (HashSet::new(), None, HashSet::new());
    each::<Process<'static>>(dataset, |row| {
        let path = row.cgroup_path.as_deref().unwrap_or_default();
        // runc sets the container up in its group before the container's program runs.
        if path.contains(cgroup) && row.container_pid.is_some() {
            groups.insert((path.to_owned(), row.cgroup_v1.as_deref().unwrap_or_default().to_owned()));
            inside.insert((row.pid, row.process_start_ns));
            if row.container_pid == Some(1) && row.command_line.as_deref().is_some_and(|line| line.starts_with(r#"["sh","-c","#)) {
                first = row.executable.map(|path| path.into_owned());
            }
        }
    });
    assert!(!groups.is_empty(), "no process was in {cgroup}");
    for (path, v1) in groups {
        assert!(path.starts_with('/') && path.ends_with(cgroup), "{path}");
        // Where there are v1 hierarchies each of them has the container's group too.
        let v1: serde_json::Map<String, serde_json::Value> = serde_json::from_str(if v1.is_empty() { "{}" } else { &v1 }).unwrap();
        assert!(v1.values().all(|of| of.as_str().unwrap().ends_with(cgroup)), "{v1:?}");
    }
    assert_eq!(first.as_deref(), merged.join("bin/busybox").to_str(), "the container's first process");

    let mut rows = Vec::new();
    each::<IoEvent<'static>>(dataset, |row| {
        let own = row.container_path.as_deref().is_some_and(|path| path.starts_with("/data/") || path.starts_with("/vol/"));
        if own && inside.contains(&(row.pid, row.process_start_ns)) {
            assert_eq!(row.result, Some(0), "{row:?}");
            let text = |text: Option<std::borrow::Cow<'_, str>>| text.map_or_else(|| "-".to_owned(), std::borrow::Cow::into_owned);
            rows.push((row.start_ns, [row.op.into_owned(), text(row.container_path), text(row.path), text(row.new_path)]));
        }
    });
    rows.sort();
    let rows: Vec<_> = rows.into_iter().map(|(_, row)| row).collect();
    let (merged, volume) = (merged.to_str().unwrap(), volume.to_str().unwrap());
    let row = |op: &str, inside: &str, host: Option<String>, new: Option<String>| {
        [op.to_owned(), inside.to_owned(), host.unwrap_or_else(|| "-".to_owned()), new.unwrap_or_else(|| "-".to_owned())]
    };
    let expected = [
        row("open", "/data/own", Some(format!("{merged}/data/own")), None),
        row("open", "/vol/copy", Some(format!("{volume}/copy")), None),
        row("open", "/data/own", Some(format!("{merged}/data/own")), None),
        row("rename", "/vol/copy", Some(format!("{volume}/copy")), Some(format!("{volume}/moved"))),
        row("delete", "/vol/moved", Some(format!("{volume}/moved")), None),
        row("open", "/vol/below/deep", Some(format!("{volume}/below/deep")), None),
        // A mount of the container may lie behind each name, so nobody knows where on the host this path of several names led.
        row("delete", "/data/own", None, None),
    ];
    assert_eq!(rows, expected);

    let mut files = HashSet::new();
    each::<TracedFile<'static>>(dataset, |row| {
        if let (Some(path), Some(inside)) = (row.path, row.container_path) {
            files.insert((row.file_system.unwrap_or_default().into_owned(), path.into_owned(), inside.into_owned()));
        }
    });
    assert!(files.contains(&("overlay".to_owned(), format!("{merged}/data/own"), "/data/own".to_owned())), "{files:?}");
    let on_volume = files.iter().find(|(_, path, _)| *path == format!("{volume}/below/deep")).expect("the file on the volume");
    assert!(on_volume.0 != "overlay" && on_volume.2 == "/vol/below/deep", "{on_volume:?}");
}

#[test]
fn podman() {
    if !ebpf_works() {
        return;
    }
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (root, volume) = folders(dir.path());
    // A store of its own: nothing is left in that of the machine.
    let podman = || {
        let mut command = Command::new("podman");
        command.env("HOME", dir.path()).arg("--root").arg(dir.path().join("store")).arg("--runroot").arg(dir.path().join("run"));
        command.args(["--runtime", "runc"]);
        command
    };
    let run = |name: &str, script: &str| {
        let mut command = podman();
        command.args(["run", "--name", name, "--network=none", "--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024", "--volume"]);
        command.arg(format!("{}:/vol", volume.display())).args(["flowmine-test", "sh", "-c", script]);
        command
    };
    let import = format!(
        "tar -C '{}' -c . | podman --root '{1}/store' --runroot '{1}/run' import - flowmine-test",
        root.display(),
        dir.path().display()
    );
    let imported = ran(Command::new("sh").env("HOME", dir.path()).args(["-c", &import]));
    let tried = if imported.status.success() { ran(&mut run("first", ":")) } else { imported };
    if !require("podman", &format!("podman ({})", String::from_utf8_lossy(&tried.stderr).trim()), tried.status.success()) {
        return;
    }
    let dataset = dir.path().join("data");
    traced(&dataset, &run("second", SCRIPT));
    let id = succeed(podman().args(["inspect", "--format", "{{.Id}}", "second"]));
    let upper = succeed(podman().args(["inspect", "--format", "{{.GraphDriver.Data.UpperDir}}", "second"]));
    let merged = Path::new(&upper).with_file_name("merged");
    succeed(podman().args(["rm", "--all"]));
    compare(&dataset, &format!("/libpod-{id}"), &merged, &volume);
}

/// Taken away with the test, however it ends.
struct Mounted(PathBuf);

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn runc() {
    let present = Command::new("runc").arg("--version").output().is_ok_and(|output| output.status.success());
    if !ebpf_works() || !require("podman", "runc", present) {
        return;
    }
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (root, volume) = folders(dir.path());
    let merged = dir.path().join("rootfs");
    for name in ["rootfs", "upper", "work"] {
        std::fs::create_dir(dir.path().join(name)).unwrap();
    }
    let name = format!("flowmine-test-{}", std::process::id());
    succeed(Command::new("runc").arg("spec").current_dir(dir.path()));
    let file = dir.path().join("config.json");
    let mut config: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    config["process"]["terminal"] = false.into();
    config["process"]["args"] = serde_json::json!(["sh", "-c", SCRIPT]);
    config["root"]["readonly"] = false.into();
    config["linux"]["cgroupsPath"] = format!("/{name}").into();
    let mounts = config["mounts"].as_array_mut().unwrap();
    mounts.push(serde_json::json!({"destination": "/vol", "type": "bind", "source": volume, "options": ["bind", "rw"]}));
    std::fs::write(&file, config.to_string()).unwrap();

    let overlay = format!("lowerdir={},upperdir=upper,workdir=work", root.display());
    succeed(Command::new("mount").args(["-t", "overlay", "overlay", "-o", &overlay, "rootfs"]).current_dir(dir.path()));
    let _mounted = Mounted(merged.clone());
    let dataset = dir.path().join("data");
    let mut run = Command::new("runc");
    run.arg("--root").arg(dir.path().join("state")).args(["run", "--bundle"]).arg(dir.path()).arg(&name);
    traced(&dataset, &run);
    compare(&dataset, &format!("/{name}"), &merged, &volume);
}

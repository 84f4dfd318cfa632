//! The case studies of the algebra paper, run: a container, a monitor and a sandbox around each
//! task of a workflow that Makeflow runs, and software that is built where a task runs. (Core
//! dumps: `transform.rs`.)

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use flowmine_schema::tables::TaskIo;

use crate::support::docker::Docker;
use crate::support::doctor;
use crate::support::makeflow::makeflow_is_there;
use crate::support::podman::{IMAGE, Podman};
use crate::support::require::require;
use crate::support::traced::each;

/// Splits a file, counts the lines of both parts, adds the counts up.
const FLOW: &str = r#"{ "rules": [
    { "command": "split -n l/2 -d -a 1 in.txt part.", "inputs": ["in.txt"], "outputs": ["part.0", "part.1"] },
    { "command": "wc -l <part.0 >count.0", "inputs": ["part.0"], "outputs": ["count.0"] },
    { "command": "wc -l <part.1 >count.1", "inputs": ["part.1"], "outputs": ["count.1"] },
    { "command": "read -r a <count.0; read -r b <count.1; echo $((a + b)) >sum", "inputs": ["count.0", "count.1"], "outputs": ["sum"] } ] }"#;

fn flowmine(dir: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_flowmine")).args(args).current_dir(dir).output().unwrap()
}

fn makeflow(dir: &Path) -> Output {
    Command::new("makeflow")
        .args(["--json", "-T", "local", "--retry-count=0", "new.json"])
        .env("HOME", dir)
        .current_dir(dir)
        .output()
        .unwrap()
}

/// Layer, where it failed, and status, of each line of each record; a record by the name of its
/// task.
fn told(dir: &Path) -> BTreeMap<String, Vec<(String, Option<String>, i64)>> {
    let mut all: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for entry in std::fs::read_dir(dir).unwrap().flatten().filter(|entry| entry.path().extension().is_some_and(|e| e == "record")) {
        for line in std::fs::read_to_string(entry.path()).unwrap().lines() {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            if line["layers"].is_array() {
                continue;
            }
            let text = |name: &str| line[name].as_str().map(str::to_owned);
            all.entry(text("task").unwrap()).or_default().push((
                text("layer").unwrap(),
                text("failed_in"),
                line["status"].as_i64().unwrap(),
            ));
        }
    }
    all
}

fn transform(dir: &Path, podman: &Podman, image: &str) {
    let (trace, program) = (dir.join("trace").display().to_string(), podman.program());
    let values = [
        format!("image={image}"),
        format!("program={program}"),
        format!("options={}", Podman::options()),
        format!("dataset={trace}"),
        format!("flowmine={}", env!("CARGO_BIN_EXE_flowmine")),
    ];
    let mut args = vec!["transform", "flow.jx", "--apply", "podman", "--apply", "monitor", "--apply", "sandbox", "-o", "new.json"];
    args.extend(values.iter().flat_map(|value| ["--let", value]));
    let done = flowmine(dir, &args);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn a_container_a_monitor_and_a_sandbox_around_each_task() {
    let (works, how) = doctor::says("ebpf");
    if !makeflow_is_there() || !require("bpf", &format!("eBPF ({how})"), works) {
        return;
    }
    let store = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let Some(podman) = Podman::new(store.path()) else { return };
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = dir.path();
    std::fs::write(path.join("flow.jx"), FLOW).unwrap();
    std::fs::write(path.join("in.txt"), "line\n".repeat(1000)).unwrap();
    transform(path, &podman, IMAGE);
    let ran = makeflow(path);
    let said = format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{said}");
    assert_eq!(std::fs::read_to_string(path.join("sum")).unwrap(), "1000\n", "{said}");

    let ended: Vec<_> = ["task", "podman", "monitor", "sandbox"].map(|layer| (layer.to_owned(), None, 0)).to_vec();
    let told = told(path);
    assert_eq!(told.len(), 4);
    assert!(told.values().all(|layers| *layers == ended), "{told:?}");

    // What the tracer says of each task, through the container: the bytes of its files, and nobody else's.
    let correlated = flowmine(path, &["correlate", "--dataset", "trace"]);
    assert!(correlated.status.success(), "{}", String::from_utf8_lossy(&correlated.stderr));
    let mut of_task: BTreeMap<String, BTreeSet<(String, i64, i64)>> = BTreeMap::new();
    each::<TaskIo<'static>>(&path.join("trace"), |row| {
        let Some((_, file)) = row.path.as_deref().and_then(|path| path.rsplit_once('/')) else { return };
        if row.path.as_deref().is_some_and(|path| path.contains(".box.")) && !file.starts_with("t_") && !file.starts_with('.') {
            let task = row.task.as_deref().unwrap_or_else(|| panic!("{file} is nobody's")).to_owned();
            of_task.entry(task).or_default().insert((file.to_owned(), row.read_bytes, row.written_bytes));
        }
    });
    let size = |name: &str| i64::try_from(std::fs::metadata(path.join(name)).unwrap().len()).unwrap();
    let read = |name: &str| (name.to_owned(), size(name), 0);
    let written = |name: &str| (name.to_owned(), 0, size(name));
    let expected = [
        BTreeSet::from([read("in.txt"), written("part.0"), written("part.1")]),
        BTreeSet::from([read("part.0"), written("count.0")]),
        BTreeSet::from([read("part.1"), written("count.1")]),
        BTreeSet::from([read("count.0"), read("count.1"), written("sum")]),
    ];
    assert_eq!(of_task.values().cloned().collect::<BTreeSet<_>>(), expected.into_iter().collect());
    assert_eq!(of_task.len(), 4);
}

#[test]
fn an_image_that_is_not_there_is_no_failed_task() {
    let (works, how) = doctor::says("ebpf");
    if !makeflow_is_there() || !require("bpf", &format!("eBPF ({how})"), works) {
        return;
    }
    let store = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let Some(podman) = Podman::new(store.path()) else { return };
    for (image, command) in [("localhost/flowmine-missing", "true >sum"), (IMAGE, "exit 3")] {
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let flow = serde_json::json!({ "rules": [{ "command": command, "inputs": [], "outputs": ["sum"] }] });
        std::fs::write(dir.path().join("flow.jx"), flow.to_string()).unwrap();
        transform(dir.path(), &podman, image);
        let ran = makeflow(dir.path());
        // Makeflow (8.0.0 as Debian has it) itself ends with 0 when a rule has failed.
        assert!(!dir.path().join("sum").exists(), "{}", String::from_utf8_lossy(&ran.stdout));
        let told = told(dir.path());
        let first = &told["rule 1"][0];
        if command == "exit 3" {
            assert_eq!(*first, ("task".to_owned(), Some("cmd".to_owned()), 3), "{told:?}");
        } else {
            assert_eq!((&*first.0, first.1.as_deref()), ("podman", Some("pre")), "{told:?}");
            assert!(first.2 != 0);
        }
    }
}

/// The same with Docker, whose daemon is asked for by DOCKER_HOST or at its usual place.
#[test]
fn a_container_of_docker() {
    if !makeflow_is_there() {
        return;
    }
    let store = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let Some(docker) = Docker::new(store.path()) else { return };
    let transform = |dir: &Path, flow: &str, image: &str, out: &str| {
        std::fs::write(dir.join("flow.jx"), flow).unwrap();
        let (image, options) = (format!("image={image}"), format!("options={}", Docker::OPTIONS));
        let args = ["transform", "flow.jx", "--apply", "docker", "--apply", "sandbox", "--let", &image, "--let", &options, "-o", out];
        let done = flowmine(dir, &args);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    };
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = dir.path();
    std::fs::write(path.join("in.txt"), "line\n".repeat(1000)).unwrap();
    let flow = FLOW.replace(">sum", ">sum; test -e /.dockerenv || exit 9");
    transform(path, &flow, docker.image(), "new.json");
    let ran = makeflow(path);
    let said = format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert_eq!(std::fs::read_to_string(path.join("sum")).ok().as_deref(), Some("1000\n"), "{said}");
    let ended: Vec<_> = ["task", "docker", "sandbox"].map(|layer| (layer.to_owned(), None, 0)).to_vec();
    let all = told(path);
    assert_eq!((all.len(), all.values().all(|layers| *layers == ended)), (4, true), "{all:?}");

    for (image, command, expected) in
        [("flowmine-missing", "true >sum", ("docker", "pre", None)), (docker.image(), "exit 3", ("task", "cmd", Some(3)))]
    {
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let flow = serde_json::json!({ "rules": [{ "command": command, "inputs": [], "outputs": ["sum"] }] });
        transform(dir.path(), &flow.to_string(), image, "new.json");
        makeflow(dir.path());
        let all = told(dir.path());
        let (layer, place, status) = &all["rule 1"][0];
        assert_eq!((&**layer, place.as_deref()), (expected.0, Some(expected.1)), "{all:?}");
        assert!(expected.2.is_none_or(|expected| expected == *status) && *status != 0, "{all:?}");
    }

    // TERM goes through to the container.
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    transform(dir.path(), r#"[{"command": "echo >started; sleep 60", "outputs": ["started"]}]"#, docker.image(), "new.json");
    let new: serde_json::Value = serde_json::from_slice(&std::fs::read(dir.path().join("new.json")).unwrap()).unwrap();
    let mut child = Command::new(new[0]["command"]["cmd"].as_str().unwrap()).current_dir(dir.path()).spawn().unwrap();
    let begun = Instant::now();
    let running = || docker.containers();
    while running() == 0 {
        assert!(begun.elapsed() < Duration::from_secs(30), "no container began");
        std::thread::sleep(Duration::from_millis(50));
    }
    // SAFETY: the process is our child and has not been waited for.
    unsafe { libc::kill(child.id() as i32, libc::SIGTERM) };
    assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGTERM));
    let begun = Instant::now();
    while running() != 0 {
        assert!(begun.elapsed() < Duration::from_secs(30), "the container is left");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn software_is_built_where_the_task_runs() {
    if !makeflow_is_there() {
        return;
    }
    let flow = r#"{ "rules": [
        { "command": "greet one >a", "inputs": ["greet.sh"], "outputs": ["a"] },
        { "command": "greet \"two  words\" >b; command -v greet >where", "inputs": ["greet.sh", "a"], "outputs": ["b", "where"] } ] }"#;
    let run = |dir: &Path, build: &str| {
        std::fs::write(dir.join("flow.jx"), flow).unwrap();
        std::fs::write(dir.join("greet.sh"), "#!/bin/sh\necho \"hello $1\"\n").unwrap();
        let value = format!("build={build}");
        let args = ["transform", "flow.jx", "--apply", "environment", "--apply", "sandbox", "--let", &value, "-o", "new.json"];
        let done = flowmine(dir, &args);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        makeflow(dir)
    };
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), "exit 7");
    assert!(!dir.path().join("a").exists());
    assert_eq!(told(dir.path())["rule 1"][0], ("environment".to_owned(), Some("pre".to_owned()), 7), "it could not be built");

    let dir = tempfile::tempdir().unwrap();
    let ran = run(dir.path(), "cp greet.sh \"$PREFIX/bin/greet\" && chmod +x \"$PREFIX/bin/greet\"");
    assert!(ran.status.success(), "{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    let text = |name: &str| std::fs::read_to_string(dir.path().join(name)).unwrap();
    assert_eq!((text("a"), text("b")), ("hello one\n".to_owned(), "hello two  words\n".to_owned()));
    assert!(text("where").contains("/software."), "found in what was built");
    let built = |name: &str| name.starts_with("software") || name.starts_with(".t_");
    let left = std::fs::read_dir(dir.path()).unwrap().flatten().any(|e| built(&e.file_name().to_string_lossy()));
    assert!(!left && told(dir.path()).len() == 2, "what was built is taken away");
}

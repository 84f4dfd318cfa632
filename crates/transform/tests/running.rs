//! Transformed tasks really run, in dash and in bash, and end as the plain task does.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]

mod common;
#[path = "../../../tests/support/require.rs"]
mod require;

use std::io::Write;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{install, plan, seen};
use flowmine_transform::algebra::Composition;
use flowmine_transform::builtin;
use flowmine_transform::workflow::{NoFiles, Plan, Workflow};
use proptest::prelude::*;

const SHELLS: [&str; 2] = ["dash", "bash"];

fn layer(name: &str) -> Composition {
    match name {
        "plain" => read("define plain(T) {}"),
        "prepost" => read(r#"define prepost(T) {"command": {"pre": ["A=1; export A", ":"], "post": ["echo \"$EXIT\" >/dev/null"]}}"#),
        "renamed" => read(
            r#"define renamed(T) {"outputs": T.outputs + [{"outer_name": "s " + T.ID, "inner_name": "s"}], "command": {"post": [": >s"]}}"#,
        ),
        name => read(builtin::text(name).unwrap()),
    }
}

fn read(text: &str) -> Composition {
    Composition::read("layer.jx", text, None, &[("times".to_owned(), "1".to_owned()), ("limit".to_owned(), "60".to_owned())]).unwrap()
}

struct Ran {
    status: i32,
    out: Vec<u8>,
    err: Vec<u8>,
    files: Vec<(String, Vec<u8>)>,
}

fn run(dir: &Path, command: &str, outputs: &[&str]) -> Ran {
    let mut child = Command::new("sh")
        .args(["-c", command])
        .current_dir(dir)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A task that reads nothing closes its input early.
    let _ = child.stdin.take().unwrap().write_all(b"one\ntwo\n");
    let done = child.wait_with_output().unwrap();
    let files = outputs.iter().filter_map(|name| Some((name.to_string(), std::fs::read(dir.join(name)).ok()?))).collect();
    Ran { status: seen(done.status), out: done.stdout, err: done.stderr, files }
}

fn prepared() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("d")).unwrap();
    std::fs::write(dir.path().join("in 'put\n$x"), "content\n").unwrap();
    std::fs::write(dir.path().join("-rf"), "dash\n").unwrap();
    std::fs::write(dir.path().join("both"), "before\n").unwrap();
    dir
}

const INPUTS: [&str; 3] = ["in 'put\n$x", "-rf", "both"];
const OUTPUTS: [&str; 5] = ["out $(touch pwned) `x`\n\"", "d/out", "both", "--", "late"];

/// What tasks do, each a step on its own.
const STEPS: [&str; 18] = [
    "cat < \"in 'put\n\\$x\" > 'out $(touch pwned) `x`\n\"'",
    "cat ./-rf >d/out",
    "cat",
    "read -r a; echo \"<$a>\"",
    "echo err >&2",
    "echo more >>both",
    "(sleep 0.05; echo late >late) & wait",
    "trap 'echo trapped' EXIT",
    "echo $# \"$0\"",
    "x=$(printf '%s' 'a\"b'); echo \"$x\" >./--",
    "sh -c 'kill -TERM $$'",
    "sed -i s/before/after/ both",
    "set -e",
    "false",
    // What layers hand to each other is not the task's.
    "env | grep -E '^(FLOWMINE|fm_)' || echo none",
    "ls /proc/self/fd | wc -l",
    "cat & wait; (exec 3>&1; echo three >&3)",
    "umask 077; : >late; cd d && pwd | sed 's|.*/||'",
];

const ENDS: [&str; 13] = [
    ":",
    "exit 0",
    "exit 1",
    "exit 77",
    "exit 255",
    "false",
    "kill -TERM $$",
    "kill -INT $$",
    "kill -HUP $$",
    "kill -KILL $$",
    "kill -QUIT $$",
    "no-such-command-at-all",
    "echo 'unclosed",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_transformed_task_does_what_the_plain_task_does(
        steps in proptest::collection::vec(0..STEPS.len(), 0..4),
        end in 0..ENDS.len(),
        names in proptest::collection::vec(proptest::sample::select(vec!["plain", "prepost", "sandbox", "renamed", "retry"]), 1..4),
        shell in 0..2usize,
    ) {
        let command = steps.iter().map(|n| STEPS[*n]).chain([ENDS[end]]).collect::<Vec<_>>().join("\n");
        prop_assume!(names.iter().filter(|n| **n == "renamed").count() < 2);
        same_as_plain(&command, &names, SHELLS[shell]);
    }
}

fn same_as_plain(command: &str, names: &[&str], shell: &str) {
    let what = names.iter().fold(Composition::default(), |all, name| all.then(layer(name)));
    let task = serde_json::json!({"command": command, "inputs": INPUTS, "outputs": OUTPUTS});
    let (a, b) = (prepared(), prepared());
    let plain = run(a.path(), command, &OUTPUTS);
    let plan = plan(&task, &what);
    let wrapped = run(b.path(), &install(&plan, b.path(), shell), &OUTPUTS);
    let about = format!("{command}\n{names:?} in {shell}: {}", String::from_utf8_lossy(&wrapped.err));
    assert_eq!(plain.status, wrapped.status, "{about}");
    assert_eq!(String::from_utf8_lossy(&plain.out), String::from_utf8_lossy(&wrapped.out), "{about}");
    assert_eq!(plain.files, wrapped.files, "{about}");
    assert!(!b.path().join("pwned").exists(), "{about}");
    let left: Vec<_> = std::fs::read_dir(b.path())
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .filter(|n| n.to_string_lossy().contains(".box.") || n.to_string_lossy().starts_with('.'))
        .collect();
    assert!(left.is_empty(), "{left:?} {about}");
}

#[test]
fn each_end_and_each_step_in_both_shells() {
    for shell in SHELLS {
        for end in ENDS {
            same_as_plain(end, &["plain", "sandbox"], shell);
        }
        for step in STEPS {
            same_as_plain(step, &["prepost", "renamed"], shell);
        }
        same_as_plain("cat >/dev/null; exit 3", &["timelimit"], shell);
    }
}

/// What runs a task does not have the variables of the task, nor a layer those that it sets.
#[test]
fn variables_of_a_task_are_none_of_its_layers() {
    let odd = r#"{"IFS": ",", "OPTIND": "7", "PPID": "1", "POSIXLY_CORRECT": "1", "LC_ALL": "C.UTF-8"}"#;
    let layer_of = format!(r#"define odd(T) {{"environment": {odd}, "command": {{"pre": ":", "cmd": "./" + T.script, "post": ":"}}}}"#);
    let what = [layer("retry"), layer("sandbox"), read(&layer_of)].into_iter().fold(Composition::default(), Composition::then);
    let command = r#"env | grep -E "^(IFS|OPTIND)="; a=a,b; printf "<%s>" $a "$PATH"; echo 1 >--; exit 3"#;
    for shell in SHELLS {
        let (a, b) = (prepared(), prepared());
        let mut environment: serde_json::Value = serde_json::from_str(odd).unwrap();
        environment["PATH"] = "/usr/bin:/bin:.".into();
        let task = serde_json::json!({"command": command, "outputs": ["--"], "environment": environment});
        let script = install(&plan(&task, &what), b.path(), shell);
        let wrapped = run(b.path(), &script, &["--"]);
        let variables = environment.as_object().unwrap().iter().map(|(name, value)| format!("{name}={}", value.as_str().unwrap()));
        let plain = Command::new("env").args(variables).args(["sh", "-c", command]).current_dir(a.path()).output().unwrap();
        let said = String::from_utf8_lossy(&wrapped.err);
        assert_eq!(String::from_utf8_lossy(&wrapped.out), String::from_utf8_lossy(&plain.stdout), "{shell}: {said}");
        assert_eq!((wrapped.status, said.as_ref()), (plain.status.code().unwrap(), ""), "{shell}");
    }
    let flow = serde_json::json!([{"command": ":", "environment": {"fm_own": "/"}}]).to_string();
    let refused = Workflow::read("f.json", flow.as_bytes(), &NoFiles).err().unwrap().to_string();
    assert!(refused.contains("not with fm_"), "{refused}");
}

/// What a layer above found out of the system holds where the layer above runs: a container has
/// another `env`, and may have another clock.
#[test]
fn facts_of_a_layer_elsewhere_are_not_taken() {
    for shell in SHELLS {
        let dir = prepared();
        let script = install(&plan(&serde_json::json!({"command": "exit 3"}), &layer("prepost")), dir.path(), shell);
        for elsewhere in ["|--no-such-option|0", "36 1 0:1 / / rw - overlay overlay rw|--no-such-option|0"] {
            let ran = run(dir.path(), &format!("export FLOWMINE_LAYERS='{elsewhere}'; exec {script}"), &[]);
            assert_eq!((ran.status, String::from_utf8_lossy(&ran.err).as_ref()), (3, ""), "{shell}");
        }
        let records = std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path());
        let record = records.into_iter().find(|path| path.extension().is_some_and(|ending| ending == "record")).unwrap();
        let times = std::fs::read_to_string(record).unwrap();
        assert!(!times.contains("=0.") && !times.contains(" 0."), "{times}");
    }
}

/// Programs that could read names as text of the locale read them as bytes.
#[test]
fn every_program_that_reads_names_has_the_locale_of_bytes() {
    let task = serde_json::json!({"command": ":", "inputs": ["d", "d/i", "b"], "outputs": ["o/p", "b", "d/j"]});
    let what = [layer("retry"), layer("prepost"), layer("sandbox")].into_iter().fold(Composition::default(), Composition::then);
    let mut found = 0;
    for script in plan(&task, &what).scripts(0) {
        for line in script.text.lines().filter(|line| !line.trim_start().starts_with('#')) {
            let words: Vec<&str> = line.split_whitespace().collect();
            for pair in words.windows(2).filter(|pair| ["awk", "grep", "sed", "sort", "find"].contains(&pair[1])) {
                assert!(pair[0].ends_with("LC_ALL=C") || line.contains("env LC_ALL=C "), "{line}");
                found += 1;
            }
            assert!(words.first().is_none_or(|word| !["awk", "grep", "sed", "sort", "find"].contains(word)), "{line}");
        }
    }
    assert!(found > 40, "{found}");
}

#[test]
fn scripts_that_begin_as_options_do_are_run() {
    let odd = |says: &str| format!("-no-such-command 2>/dev/null; echo {says}");
    let with = serde_json::json!({"command": {"pre": [odd("before")], "post": [odd("after")]}});
    for shell in SHELLS {
        let dir = prepared();
        let plan = plan(&serde_json::json!({"command": odd("task")}), &read(&format!("define odd(T) {with}")));
        let ran = run(dir.path(), &install(&plan, dir.path(), shell), &[]);
        let told = (String::from_utf8_lossy(&ran.out).into_owned(), String::from_utf8_lossy(&ran.err).into_owned());
        assert_eq!(told, ("before\ntask\nafter\n".to_owned(), String::new()), "{shell}");
    }
}

#[test]
fn term_in_each_layer_cleans_up_and_is_told() {
    for shell in SHELLS {
        for level in 0..4 {
            // The layer at `level` waits before or after what is below it; the task itself at level 0.
            let sleeping = r#"define slow(T) {"command": {"cmd": ": >ready; sleep 321; ./" + T.script, "post": [": >posted"]}}"#;
            let mut what = Composition::default();
            for n in 1..=3 {
                what = what.then(if n == level { read(sleeping) } else { layer(["plain", "sandbox", "prepost"][n - 1]) });
            }
            let command = if level == 0 { ": >ready; sleep 321 & sleep 321; echo no" } else { "echo no" };
            let plan = plan(&serde_json::json!({"command": command}), &what);
            killed(&plan, shell, level, libc::SIGTERM);
        }
    }
}

/// Without background jobs, which ignore INT and QUIT below layers as they do without.
#[test]
fn other_signals_clean_up_too() {
    let sleeping = r#"define slow(T) {"command": {"cmd": ": >ready; sleep 321; ./" + T.script, "post": [": >posted"]}}"#;
    for shell in SHELLS {
        for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT] {
            let of_task = plan(&serde_json::json!({"command": ": >ready; sleep 321; echo no"}), &layer("sandbox").then(layer("prepost")));
            killed(&of_task, shell, 0, signal);
            let of_layer = plan(&serde_json::json!({"command": "echo no"}), &layer("sandbox").then(read(sleeping)).then(layer("plain")));
            killed(&of_layer, shell, 2, signal);
        }
    }
}

/// A signal to the process group ends the shells between layers before these can pass it on. The
/// task below still ends before its layers do.
#[test]
fn a_signal_to_the_group_leaves_no_task_behind() {
    let task = "trap 'sleep 1; : >cleaned; exit 1' TERM; : >ready; while :; do sleep 0.1; done";
    for shell in common::SHELLS {
        for above in [&["prepost"][..], &["retry"], &["prepost", "retry", "prepost"], &["environment", "plain", "prepost"]] {
            let what = above.iter().fold(Composition::default(), |what, name| what.then(layer(name)));
            let plan = plan(&serde_json::json!({"command": task}), &what);
            let dir = tempfile::tempdir().unwrap();
            let mut command = Command::new(install(&plan, dir.path(), shell));
            let mut child = command.current_dir(dir.path()).stdin(Stdio::null()).process_group(0).spawn().unwrap();
            wait_until(|| dir.path().join("ready").exists());
            // SAFETY: the group is that of our child, which has not been waited for.
            unsafe { libc::kill(-(child.id() as i32), libc::SIGTERM) };
            assert!(!child.wait().unwrap().success());
            assert!(dir.path().join("cleaned").exists(), "{shell}, {above:?}: the layers ended before the task");
        }
    }
}

/// Many layers, and a command of 100 kB.
#[test]
fn deep_and_large() {
    let long = format!(": '{}'; cat >d/out; exit 5", "x".repeat(100_000));
    for shell in SHELLS {
        same_as_plain(&long, &["plain", "sandbox"], shell);
        same_as_plain("read -r a; echo \"$a\"; kill -TERM $$", &["plain"; 30], shell);
    }
}

fn killed(plan: &Plan, shell: &str, level: usize, signal: i32) {
    let dir = tempfile::tempdir().unwrap();
    let command = install(plan, dir.path(), shell);
    // Whoever started the tests in the background has them ignore INT and QUIT; the script is not to inherit that.
    let mut child = Command::new("env")
        .arg("--default-signal=HUP,INT,QUIT")
        .arg(command)
        .current_dir(dir.path())
        .stdin(Stdio::null())
        .env("FM_TEST", dir.path())
        .spawn()
        .unwrap();
    wait_until(|| found(dir.path(), "ready"));
    // SAFETY: the process is our child and has not been waited for.
    unsafe { libc::kill(child.id() as i32, signal) };
    let begun = Instant::now();
    let status = child.wait().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(8), "{shell} {level}");
    // bash itself ignores QUIT, and cannot end by it.
    assert!(
        status.signal() == Some(signal) || (shell, signal, status.code()) == ("bash", libc::SIGQUIT, Some(131)),
        "{shell} {level}: {status}"
    );
    let mark = format!("FM_TEST={}", dir.path().display());
    let alive = || {
        std::fs::read_dir("/proc")
            .unwrap()
            .flatten()
            .filter(|e| std::fs::read(e.path().join("environ")).is_ok_and(|v| v.split(|b| *b == 0).any(|v| v == mark.as_bytes())))
            .map(|e| String::from_utf8_lossy(&std::fs::read(e.path().join("cmdline")).unwrap_or_default()).replace('\0', " "))
            .collect::<Vec<_>>()
    };
    assert_eq!(alive(), Vec::<String>::new(), "a process is left: {shell} {level}");
    let record = std::fs::read_to_string(dir.path().join(format!("t_{}.record", plan.tasks[0].1[0].id))).unwrap();
    let last: serde_json::Value = serde_json::from_str(record.lines().last().unwrap()).unwrap();
    let name = [(libc::SIGHUP, "HUP"), (libc::SIGINT, "INT"), (libc::SIGQUIT, "QUIT"), (libc::SIGTERM, "TERM")]
        .iter()
        .find(|(number, _)| *number == signal)
        .unwrap()
        .1;
    assert_eq!((last["signal"].as_str(), last["status"].as_i64()), (Some(name), Some(128 + i64::from(signal))), "{record}");
    let kept = std::fs::read_dir(dir.path()).unwrap().flatten().find(|e| e.file_name().to_string_lossy().contains(".box."));
    if let Some(kept) = kept {
        let files: Vec<_> = std::fs::read_dir(kept.path()).unwrap().flatten().map(|e| e.file_name()).collect();
        panic!("a sandbox is left: {shell}, level {level}, {kept:?} with {files:?}\n{record}");
    }
}

fn found(dir: &Path, name: &str) -> bool {
    dir.join(name).exists() || std::fs::read_dir(dir).is_ok_and(|all| all.flatten().any(|e| e.path().is_dir() && found(&e.path(), name)))
}

fn wait_until(holds: impl Fn() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(20), "nothing happened");
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(30));
}

fn records(what: &Composition, command: &str) -> (i32, Vec<serde_json::Value>) {
    let plan = plan(&serde_json::json!({"command": command}), what);
    let dir = tempfile::tempdir().unwrap();
    let ran = run(dir.path(), &install(&plan, dir.path(), "dash"), &[]);
    let record = std::fs::read_to_string(dir.path().join(format!("t_{}.record", plan.tasks[0].1[0].id))).unwrap();
    let lines = record.lines().map(|line| serde_json::from_str(line).unwrap());
    (ran.status, lines.filter(|line: &serde_json::Value| line.get("layer").is_some()).collect())
}

#[test]
fn the_record_tells_which_layer_failed() {
    let pull = read(r#"define pull(T) {"command": {"pre": ["exit 5"]}}"#);
    let (status, lines) = records(&layer("plain").then(pull.clone()).then(layer("plain")), "echo ran; exit 1");
    assert_eq!(status, 5);
    let told: Vec<_> =
        lines.iter().map(|l| (l["layer"].as_str().unwrap(), l["failed_in"].as_str(), l["status"].as_i64().unwrap())).collect();
    assert_eq!(told, [("pull", Some("pre"), 5), ("plain", Some("cmd"), 5)], "the task and the layer on it never began");
    let (status, lines) = records(&layer("plain"), "exit 9");
    assert_eq!((status, lines.len(), lines[0]["layer"].as_str()), (9, 2, Some("task")));
}

#[test]
fn post_may_rewrite_the_status_and_its_own_faults_are_not_the_tasks() {
    let masks = read(r#"define masks(T) {"command": {"post": ["[ \"$EXIT\" != 9 ] || EXIT=0"]}}"#);
    assert_eq!(records(&masks, "exit 9").0, 0);
    assert_eq!(records(&masks, "exit 8").0, 8);
    for fault in ["exit 3", "'unclosed", "no-such-command", "EXIT=many", "kill -KILL $$"] {
        let post =
            Composition::read("l.jx", &format!("define p(T) {{\"command\": {{\"post\": [{}]}}}}", serde_json::json!(fault)), None, &[])
                .unwrap();
        assert_eq!(records(&post, "exit 8").0, 8, "{fault}");
        assert_eq!(records(&post, ":").0, 0, "{fault}");
    }
}

#[test]
fn two_layers_that_both_set_traps() {
    let trap = |name: &str| read(&format!("define {name}(T) {{\"command\": {{\"cmd\": \"trap 'echo {name} >&2' EXIT; ./\" + T.script}}}}"));
    let (status, lines) = records(&trap("a").then(trap("b")), "trap 'exit 4' EXIT; exit 3");
    assert_eq!((status, lines.len()), (4, 3));
}

#[test]
fn scripts_are_clean_to_shellcheck() {
    let names = [
        "plain",
        "prepost",
        "sandbox",
        "renamed",
        "retry",
        "failure",
        "environment",
        "podman",
        "docker",
        "apptainer",
        "timelimit",
        "monitor",
    ];
    if !require::require("shellcheck", "shellcheck", Command::new("shellcheck").arg("--version").output().is_ok()) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    for name in names {
        let task = serde_json::json!({"command": "echo $x", "inputs": INPUTS, "outputs": OUTPUTS, "environment": {"A": "a'b", "B": null, "C": {"append": ":x"}}});
        install(&plan(&task, &layer(name)), dir.path(), "sh");
    }
    for entry in std::fs::read_dir(dir.path()).unwrap().flatten() {
        let text = std::fs::read_to_string(entry.path()).unwrap().replacen("#!/usr/bin/env sh", "#!/bin/sh", 1);
        std::fs::write(entry.path(), text).unwrap();
        let out = Command::new("shellcheck").arg(entry.path()).output().unwrap();
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stdout));
    }
}

//! `flowmine transform` on workflows that real engines run.

use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use crate::support::makeflow::makeflow_is_there;
use crate::support::require::require;

fn flowmine(dir: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_flowmine")).arg("transform").args(args).current_dir(dir).output().unwrap()
}

fn done(dir: &Path, args: &[&str]) -> String {
    let out = flowmine(dir, args);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

fn records(dir: &Path) -> Vec<serde_json::Value> {
    let mut files: Vec<_> =
        std::fs::read_dir(dir).unwrap().flatten().map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "record")).collect();
    files.sort();
    let text: String = files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    // The first line of an attempt describes the task; each other one tells how a layer ended.
    lines.filter(|line: &serde_json::Value| line["layers"].is_null()).collect()
}

const FLOW: &str = r#"{
    "define": { "parts": range(3) },
    "categories": { "count": { "resources": { "cores": 1, "memory": 100, "disk": 10 } } },
    "rules":
        [ { "command": "split -n l/3 -d -a 1 in.txt part.", "inputs": [ "in.txt" ], "outputs": [ "part." + n for n in ["0", "1", "2"] ] } ] +
        [ { "command": template("wc -l <part.{n} >count.{n}"), "category": "count",
            "inputs": [ "part." + str(n) ], "outputs": [ "count." + str(n) ] } for n in parts ] +
        [ { "command": "cat count.0 count.1 count.2 | awk '{ s += $1 } END { print s }' >sum", "local_job": true,
            "inputs": [ "count." + str(n) for n in parts ], "outputs": [ "sum" ] } ]
}"#;

fn workflow(dir: &Path) {
    std::fs::write(
        dir.join("flow.jx"),
        FLOW.replace("template(\"wc -l <part.{n} >count.{n}\")", "\"wc -l <part.\" + str(n) + \" >count.\" + str(n)"),
    )
    .unwrap();
    std::fs::write(dir.join("in.txt"), "line\n".repeat(1000)).unwrap();
}

#[test]
fn makeflow_runs_what_comes_out() {
    if !makeflow_is_there() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    workflow(dir.path());
    std::fs::write(dir.path().join("mine.jx"), r#"define mine(T) {"outputs": T.outputs + [{"inner_name": "notes", "outer_name": "notes." + T.ID}], "command": {"post": ["echo \"$EXIT\" >notes"]}}"#).unwrap();
    done(
        dir.path(),
        &["flow.jx", "--apply", "retry", "--apply", "mine.jx", "--apply", "sandbox", "--apply", "timelimit", "-o", "new.json"],
    );
    let ran = Command::new("makeflow").args(["--json", "-T", "local", "new.json"]).current_dir(dir.path()).output().unwrap();
    assert!(ran.status.success(), "{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert_eq!(std::fs::read_to_string(dir.path().join("sum")).unwrap(), "1000\n");
    let notes = std::fs::read_dir(dir.path()).unwrap().flatten().filter(|e| e.file_name().to_string_lossy().starts_with("notes.")).count();
    assert_eq!(notes, 5, "the renamed output of each task");
    let records = records(dir.path());
    assert_eq!(records.len(), 5 * 5, "each layer of each task");
    assert!(records.iter().all(|record| record["status"] == 0 && record["failed_in"].is_null()));
}

#[test]
fn the_layer_that_fails_is_told_in_a_run_of_makeflow() {
    if !makeflow_is_there() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    workflow(dir.path());
    std::fs::write(dir.path().join("pull.jx"), r#"define pull(T) {"command": {"pre": ["echo 'no such image' >&2; exit 125"]}}"#).unwrap();
    done(dir.path(), &["flow.jx", "--apply", "retry", "--apply", "pull.jx", "--select", "count.1", "-o", "new.json"]);
    let ran =
        Command::new("makeflow").args(["--json", "-T", "local", "--retry-count=0", "new.json"]).current_dir(dir.path()).output().unwrap();
    assert!(!dir.path().join("sum").exists(), "{}", String::from_utf8_lossy(&ran.stdout));
    let told = records(dir.path());
    assert_eq!(told.len(), 1, "what is below the layer never began: {told:?}");
    assert_eq!(
        (told[0]["layer"].as_str(), told[0]["failed_in"].as_str(), told[0]["status"].as_i64()),
        (Some("pull"), Some("pre"), Some(125))
    );
}

#[test]
fn a_list_of_commands_and_what_is_told_of_it() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("tasks.txt"), "# two tasks\necho one >1\n\necho two >2\n").unwrap();
    assert!(done(dir.path(), &["tasks.txt", "--apply", "retry", "--explain", "line 2"]).contains("line 2 layer 1 retry: t_"));
    assert_eq!(done(dir.path(), &["tasks.txt", "--apply", "retry", "--check"]), "");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "--explain and --check write nothing");
    done(dir.path(), &["tasks.txt", "--apply", "retry", "--select", "line 4", "-o", "new.txt"]);
    let first = std::fs::read(dir.path().join("new.txt")).unwrap();
    done(dir.path(), &["tasks.txt", "--apply", "retry", "--select", "line 4", "-o", "new.txt"]);
    assert_eq!(std::fs::read(dir.path().join("new.txt")).unwrap(), first, "the same input gives the same bytes");
    assert!(Command::new("sh").arg("new.txt").current_dir(dir.path()).status().unwrap().success());
    assert_eq!(std::fs::read_to_string(dir.path().join("2")).unwrap(), "two\n");
    assert_eq!(records(dir.path()).len(), 2);
}

const LAYERS: &str = r#"
import json, sys, warnings
warnings.filterwarnings("ignore")
import pm4py
ocel = pm4py.read_ocel2_json(sys.argv[1])
events = ocel.events[ocel.events["ocel:activity"].str.startswith("layer ")].sort_values("ocel:timestamp", kind="stable")
tasks = ocel.objects[ocel.objects["ocel:type"] == "task"]
print(json.dumps({
    "events": [[e["ocel:activity"], e["layer"], None if e["exit_code"] != e["exit_code"] else int(e["exit_code"])] for _, e in events.iterrows()],
    "related": int(ocel.relations["ocel:activity"].str.startswith("layer ").sum()),
    "failed": sorted(str(x) for x in tasks["failed_layer"].dropna().tolist()),
    "runs": sorted(l["runs"] for text in tasks["layers"] for l in json.loads(text)),
}))
"#;

#[test]
fn layers_are_events_and_attributes_of_the_log() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path();
    std::fs::write(path.join("tasks.txt"), "echo one >1\necho two >2\n").unwrap();
    std::fs::write(path.join("pull.jx"), r#"define pull(T) {"command": {"pre": ["[ ! -e 1 ] || exit 125"]}}"#).unwrap();
    std::fs::write(path.join("plain.jx"), "define plain(T) {}").unwrap();
    done(path, &["tasks.txt", "--apply", "pull.jx", "--apply", "plain.jx", "-o", "new.txt"]);
    let statuses: Vec<_> = std::fs::read_to_string(path.join("new.txt"))
        .unwrap()
        .lines()
        .map(|line| {
            // A record's times are exact to a twentieth of a second.
            std::thread::sleep(Duration::from_millis(200));
            Command::new("sh").args(["-c", line]).current_dir(path).status().unwrap().code()
        })
        .collect();
    assert_eq!(statuses, [Some(0), Some(125)]);
    let run = |args: &[&str]| {
        let out = Command::new(env!("CARGO_BIN_EXE_flowmine")).args(args).current_dir(path).output().unwrap();
        assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
        out.stdout
    };
    run(&["import", "transform", ".", "--dataset", "run"]);
    run(&["correlate", "--dataset", "run"]);
    run(&["export", "--dataset", "run", "--format", "ocel.json", "-o", "log.json"]);
    let log: serde_json::Value = serde_json::from_slice(&std::fs::read(path.join("log.json")).unwrap()).unwrap();
    let mut told = Vec::new();
    for event in log["events"].as_array().unwrap() {
        let attribute = |name: &str| {
            let list = event["attributes"].as_array().unwrap();
            list.iter().find(|attribute| attribute["name"] == name).map(|attribute| attribute["value"].clone())
        };
        if let Some(layer) = attribute("layer") {
            let related = event["relationships"].as_array().unwrap();
            assert!(related.iter().any(|relation| relation["qualifier"] == "task"), "{event}");
            let text = |value: Option<serde_json::Value>| value.map_or("-".to_owned(), |value| value.to_string().replace('"', ""));
            told.push(format!(
                "{}: {} {} {}",
                event["type"].as_str().unwrap(),
                text(Some(layer)),
                text(attribute("exit_code")),
                text(attribute("failed_in"))
            ));
        }
    }
    let well = ["plain started", "pull started", "task started", "task finished", "pull finished", "plain finished"];
    let failed = ["plain started: - -", "pull started: - -", "pull failed: 125 pre", "plain failed: 125 cmd"];
    let well = well.map(|of| if of.ends_with("finished") { format!("{of}: 0 -") } else { format!("{of}: - -") });
    let expected = well.into_iter().chain(failed.map(str::to_owned)).map(|of| {
        let (event, rest) = of.split_once(": ").unwrap();
        format!("layer {event}: {} {rest}", event.split(' ').next().unwrap())
    });
    assert_eq!(told, expected.collect::<Vec<_>>());
    let xes = String::from_utf8(run(&["export", "--dataset", "run", "--format", "xes"])).unwrap();
    assert!(xes.contains("key=\"task:layers\"") && xes.contains("key=\"task:failed_layer\" value=\"pull\""), "{xes}");

    let python = std::env::var("FLOWMINE_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let works = Command::new(&python).args(["-c", "import pm4py"]).output().is_ok_and(|output| output.status.success());
    if !require("pm4py", "a Python with pm4py (FLOWMINE_PYTHON)", works) {
        return;
    }
    let out = Command::new(&python).args(["-c", LAYERS, "log.json"]).current_dir(path).output().unwrap();
    let theirs: serde_json::Value =
        serde_json::from_slice(&out.stdout).unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&out.stderr)));
    assert_eq!((theirs["events"].as_array().unwrap().len(), &theirs["failed"]), (10, &serde_json::json!(["pull"])), "{theirs}");
    assert_eq!(theirs["events"][8], serde_json::json!(["layer pull failed", "pull", 125]), "{theirs}");
    assert_eq!((&theirs["related"], &theirs["runs"]), (&serde_json::json!(20), &serde_json::json!([0, 1, 1, 1, 1, 1])), "{theirs}");
}

/// `--explain`, `--check` and `--dry-run` of Slurm's chains and of Snakefiles write nothing, and
/// say what `-o` writes.
#[test]
fn what_is_told_of_chains_and_snakefiles() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path();
    std::fs::write(path.join("align.sh"), "#!/bin/sh\n#SBATCH --job-name=align\n#SBATCH --mem=1G\necho \"$1\"\n").unwrap();
    std::fs::write(path.join("submit.sh"), "#!/bin/sh\nid=$(sbatch --parsable align.sh a)\nsbatch -d afterok:$id align.sh b\n").unwrap();
    std::fs::write(path.join("Snakefile"), "rule all:\n    input: 'x'\n\nrule make:\n    output: 'x'\n    shell: 'echo 1 >{output}'\n")
        .unwrap();
    std::fs::write(path.join("more.jx"), "define more(T) {\"resources\": {\"memory\": 512}}").unwrap();
    // Scripts of Slurm's jobs have hidden names.
    for (flow, task, layer, new, script) in
        [("submit.sh", "line 3", "more.jx", "new.sh", ".t_"), ("Snakefile", "make", "retry", "new.smk", "t_")]
    {
        let explained = done(path, &[flow, "--apply", layer, "--explain", task]);
        let name = layer.trim_end_matches(".jx");
        assert!(
            explained.contains(&format!(" layer 0 task: {script}")) && explained.contains(&format!(" layer 1 {name}: {script}")),
            "{explained}"
        );
        assert_eq!(flow == "submit.sh", explained.contains("  memory: 1536 MB\n"), "{explained}");
        assert_eq!(explained.matches(" layer 1 ").count(), 1, "of the one task: {explained}");
        assert_eq!(done(path, &[flow, "--apply", layer, "--check"]), "");
        let dry = done(path, &[flow, "--apply", layer, "--dry-run"]);
        let before: Vec<_> = std::fs::read_dir(path).unwrap().flatten().map(|entry| entry.file_name()).collect();
        let is_script = |name: &std::ffi::OsStr| name.to_string_lossy().trim_start_matches('.').starts_with("t_");
        assert!(!before.iter().any(|name| is_script(name)), "nothing was written: {before:?}");
        done(path, &[flow, "--apply", layer, "-o", new]);
        assert_eq!(dry, std::fs::read_to_string(path.join(new)).unwrap());
        let written: Vec<_> = std::fs::read_dir(path).unwrap().flatten().filter(|entry| is_script(&entry.file_name())).collect();
        assert!(!written.is_empty());
        written
            .iter()
            .map(std::fs::DirEntry::path)
            .for_each(|of| if of.is_dir() { std::fs::remove_dir_all(of).unwrap() } else { std::fs::remove_file(of).unwrap() });
    }
    let out = flowmine(path, &["submit.sh", "--apply", "podman", "--apply", "retry", "--let", "img=debian", "--check"]);
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(said.contains("no layer binds “img” with let; they bind image, options, pause, program, times"), "{said}");
    let out = flowmine(path, &["submit.sh", "--apply", "more.jx", "--explain", "line 9"]);
    assert!(String::from_utf8_lossy(&out.stderr).contains("no task, category or output is called “line 9”"), "{out:?}");
}

/// What a chain mentions is no file that transform, or a layer, puts into its directory: with one more
/// file a pattern would submit one more job.
#[test]
fn a_chain_never_sees_the_new_files_of_its_directory() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
    write("job1.sh", "#!/bin/sh\necho \"$1\"\n");
    write("notes.jx", r#"define notes(T) {"outputs": T.outputs + ["notes.txt"]}"#);
    std::fs::create_dir(dir.path().join("below")).unwrap();
    let submit = "sbatch job1.sh";
    for (chain, layer, new, why) in [
        ("for f in job*.sh; do sbatch job1.sh \"$f\"; done", "retry", "job_retry.sh", "2:10: this can match “job_retry.sh” (“job*.sh”)"),
        ("ls chain* | wc -l", "retry", "chain_new.sh", "2:4: this can match “chain_new.sh” (“chain*”)"),
        ("sbatch job1.sh n*.sh", "retry", "new.sh", "2:16: this can match"),
        ("x='n*.sh'; sbatch job1.sh $x", "retry", "new.sh", "2:1: this can match"),
        ("x='a.txt n*.sh'; sbatch job1.sh $x", "retry", "new.sh", "2:1: this can match"),
        ("x='a.txt *.sh'; sbatch job1.sh $x", "retry", "new.sh", "2:1: the pattern “*.sh” can match"),
        ("for f in ne?.sh new.[st]h; do :; done", "retry", "new.sh", "2:10: this can match"),
        ("for f in ../*/new.*; do :; done", "retry", "below/new.sh", "2:10: the pattern"),
        ("for f in ../b*/new.sh; do :; done", "retry", "below/new.sh", "2:10: this can match"),
        ("for f in ./n*.sh; do :; done", "retry", "below/new.sh", "2:10: this can match"),
        ("[ -e new.sh ] || echo first", "retry", "new.sh", "2:6: this names “new.sh”"),
        ("for f in new.sh; do :; done", "retry", "./new.sh", "2:10: this names"),
        ("echo >new.sh", "retry", "new.sh", "2:7: this names"),
        ("ls rec*", "monitor", "new.sh", "2:4: this can match “records”"),
        ("cat notes.*", "notes.jx", "new.sh", "2:5: this can match “notes.txt”"),
    ] {
        write("chain.sh", &format!("#!/bin/bash\n{chain}\n{submit}\n"));
        let with = |new: &str| {
            let mut args = vec!["chain.sh", "--apply", layer, "-o", new];
            args.extend(["--let", "dataset=records"].iter().filter(|_| layer == "monitor"));
            flowmine(dir.path(), &args)
        };
        let out = with(new);
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(out.status.code() == Some(2) && said.contains(&format!("chain.sh:{why}")), "{chain}: {said}");
        assert!(!dir.path().join(new).exists(), "{chain}");
        if why.contains(": this") && layer == "retry" {
            let out = with("layered.sh");
            assert!(out.status.success(), "{chain}: {}", String::from_utf8_lossy(&out.stderr));
        }
    }
}

/// Pipes that another has put where a workflow names files: nothing waits for a writer, and no content
/// without an end is read.
#[test]
fn nothing_waits_for_what_a_workflow_names() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
    assert!(Command::new("mkfifo").arg(dir.path().join("pipe")).status().unwrap().success());
    std::os::unix::fs::symlink("pipe", dir.path().join("link")).unwrap();
    let rule = "rule a:\n    output: 'b'\n    shell: 'echo > b'\n";
    write("Snakefile", &format!("include: 'pipe'\ninclude: 'link'\ninclude: '/dev/zero'\ninclude: '/proc/kmsg'\n{rule}"));
    write("pipe.sh", "#!/bin/sh\nsbatch ./pipe\n");
    write("link.sh", "#!/bin/sh\nsbatch link\n");
    write("inputs.json", r#"[{"command": "true", "inputs": ["pipe", "link", "/dev/zero", "/proc/kmsg", "/proc/kcore"]}]"#);
    let file = std::fs::File::create(dir.path().join("sparse")).unwrap();
    file.set_len(1 << 42).unwrap();
    write("sparse.json", r#"[{"command": "true", "inputs": ["sparse", "./sparse", "././sparse"]}]"#);
    for (file, code, said) in [
        ("Snakefile", 1, "Snakefile:1:1: the included file “pipe” cannot be read (it is not a plain file)"),
        ("pipe.sh", 2, "pipe.sh:2:1: the job script “./pipe” cannot be read: it is not a plain file"),
        ("link.sh", 2, "link.sh:2:1: the job script “link” cannot be read: it is not a plain file"),
        ("inputs.json", 0, ""),
        ("sparse.json", 0, ""),
    ] {
        for option in ["--check", "--dry-run"] {
            let mut command = Command::new("timeout");
            command.args(["20", env!("CARGO_BIN_EXE_flowmine"), "transform", file, "--apply", "retry", option]);
            let out = command.current_dir(dir.path()).output().unwrap();
            let told = String::from_utf8_lossy(&out.stderr);
            assert!(out.status.code() == Some(code) && told.contains(said), "{file} {option}: {out:?}");
        }
    }
}

#[test]
fn a_core_dump_becomes_a_stack_trace() {
    let pattern = std::fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap_or_default();
    let gdb = Command::new("gdb").arg("--version").output().is_ok();
    if !require("core-dump", "gdb, and a kernel.core_pattern that puts cores into the directory", gdb && pattern.starts_with("core")) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("tasks.txt"), "sleep 30 & p=$!; sleep 0.3; kill -SEGV $p; wait $p\n").unwrap();
    done(dir.path(), &["tasks.txt", "--apply", "failure", "-o", "new.txt"]);
    let status = Command::new("sh").arg("new.txt").current_dir(dir.path()).status().unwrap();
    assert_eq!(status.code(), Some(139));
    let stack = std::fs::read_dir(dir.path()).unwrap().flatten().find(|e| e.file_name().to_string_lossy().starts_with("stack.")).unwrap();
    let text = std::fs::read_to_string(stack.path()).unwrap();
    assert!(text.contains("SIGSEGV"), "{text}");
    assert!(!std::fs::read_dir(dir.path()).unwrap().flatten().any(|e| e.file_name().to_string_lossy().starts_with("core")));
}

#[test]
fn a_thousand_tasks_and_the_cost_of_four_layers() {
    let dir = tempfile::tempdir().unwrap();
    let tasks: String = (0..1_000).map(|n| format!("true {n}\n")).collect();
    std::fs::write(dir.path().join("tasks.txt"), tasks).unwrap();
    let layer = r#"define NAME(T) {}"#;
    for name in ["a", "b", "c", "d"] {
        std::fs::write(dir.path().join(name), layer.replace("NAME", name)).unwrap();
    }
    let args = ["tasks.txt", "--apply", "a", "--apply", "b", "--apply", "c", "--apply", "d"];
    let begun = Instant::now();
    done(dir.path(), &[&args[..], &["-o", "new.txt"]].concat());
    let took = begun.elapsed();
    // Only against what grows out of bounds: other tests run beside this one, and the disk is theirs too.
    assert!(took < Duration::from_secs(20), "{took:?}");
    let text = std::fs::read_to_string(dir.path().join("new.txt")).unwrap();
    let begun = Instant::now();
    for line in text.lines().take(20) {
        assert!(Command::new(line).current_dir(dir.path()).status().unwrap().success());
    }
    let each = begun.elapsed() / 20;
    println!("1,000 tasks × 4 layers: {took:?}; a no-op below four layers: {each:?}");
    assert!(each < Duration::from_millis(300), "{each:?}");
}

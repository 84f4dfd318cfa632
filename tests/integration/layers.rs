//! What `flowmine transform` makes of workflows, run by a real Slurm (under Makeflow, and as chains
//! of jobs) and by a real Snakemake: the algebra paper's three case studies, and in the event log
//! which layer failed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use flowmine_dataset::{Dataset, DatasetError};
use flowmine_schema::Row;
use flowmine_schema::tables::{TaskIo, TaskRun};

use crate::support::doctor;
use crate::support::makeflow::makeflow_is_there;
use crate::support::podman::{IMAGE, Podman};
use crate::support::require::require;
use crate::support::slurm_lab::SlurmLab;

fn flowmine(dir: &Path, args: &[&str]) -> Output {
    let out = Command::new(env!("CARGO_BIN_EXE_flowmine")).args(args).current_dir(dir).stdin(Stdio::null()).output().unwrap();
    assert!(out.status.success(), "{args:?}\n{}", String::from_utf8_lossy(&out.stderr));
    out
}

fn each<R: Row>(dataset: &Path, mut see: impl FnMut(&R::Of<'_>)) {
    let read = Dataset::open(dataset).unwrap().read::<R, DatasetError>(|row| {
        see(&row);
        Ok(())
    });
    read.unwrap();
}

/// A job script that declares its files.
fn job(dir: &Path, name: &str, inputs: &str, outputs: &str, command: &str) {
    let text = format!("#!/bin/bash\n#SBATCH --output={name}.%j.out\n#FLOWMINE inputs {inputs}\n#FLOWMINE outputs {outputs}\n{command}\n");
    std::fs::write(dir.join(format!("{name}.sh")), text).unwrap();
}

/// Splits a file, counts the lines of both parts, adds the counts up: for Makeflow, and as a chain
/// of jobs.
fn counting(dir: &Path) {
    std::fs::write(dir.join("in.txt"), "line\n".repeat(1000)).unwrap();
    let rules = serde_json::json!({ "rules": [
        { "command": "split -n l/2 -d -a 1 in.txt part.", "inputs": ["in.txt"], "outputs": ["part.0", "part.1"], "category": "split" },
        { "command": "wc -l <part.0 >count.0", "inputs": ["part.0"], "outputs": ["count.0"], "category": "count" },
        { "command": "wc -l <part.1 >count.1", "inputs": ["part.1"], "outputs": ["count.1"], "category": "count" },
        { "command": "read -r a <count.0; read -r b <count.1; echo $((a + b)) >sum", "inputs": ["count.0", "count.1"], "outputs": ["sum"], "category": "sum" },
    ] });
    std::fs::write(dir.join("flow.json"), rules.to_string()).unwrap();
    job(dir, "split", "in.txt", "part.0 part.1", "split -n l/2 -d -a 1 in.txt part.");
    job(dir, "count0", "part.0", "count.0", "wc -l <part.0 >count.0");
    job(dir, "count1", "part.1", "count.1", "wc -l <part.1 >count.1");
    job(dir, "sum", "count.0 count.1", "sum", "read -r a <count.0; read -r b <count.1; echo $((a + b)) >sum");
    let chain = "#!/bin/bash\nset -e\nfirst=$(sbatch --parsable split.sh)\na=$(sbatch --parsable --dependency=afterok:$first count0.sh)\n\
        b=$(sbatch --dependency=afterok:$first count1.sh | cut -d ' ' -f 4)\nsbatch -d afterok:$a:$b sum.sh\n";
    std::fs::write(dir.join("flow.sh"), chain).unwrap();
}

/// One task, likewise.
fn one(dir: &Path, command: &str, inputs: &str, outputs: &str) {
    let list = |names: &str| names.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let rule = serde_json::json!({ "command": command, "inputs": list(inputs), "outputs": list(outputs), "category": "only" });
    std::fs::write(dir.join("flow.json"), serde_json::json!({ "rules": [rule] }).to_string()).unwrap();
    job(dir, "only", inputs, outputs, command);
    std::fs::write(dir.join("flow.sh"), "#!/bin/sh\nsbatch only.sh\n").unwrap();
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum By {
    Makeflow,
    Chain,
}

/// Transforms, and has it run; the jobs go on when this returns for a chain.
fn begin(lab: &SlurmLab, by: By, dir: &Path, layers: &[&str], values: &[String]) {
    let (from, to) = if by == By::Makeflow { ("flow.json", "new.json") } else { ("flow.sh", "new.sh") };
    let mut args = vec!["transform", from, "-o", to];
    args.extend(layers.iter().flat_map(|layer| ["--apply", layer]));
    // What no layer binds is refused.
    let of_monitor = |value: &&String| value.starts_with("dataset=") || value.starts_with("flowmine=");
    let values = values.iter().filter(|value| layers.contains(&"monitor") || !of_monitor(value));
    args.extend(values.flat_map(|value| ["--let", value]));
    flowmine(dir, &args);
    let mut command = match by {
        By::Makeflow => {
            let mut command = lab.command("makeflow");
            command.args(["--json", "-T", "slurm", "--retry-count=0", "new.json"]).env("HOME", dir);
            command
        }
        By::Chain => {
            let mut command = lab.command("bash");
            command.arg("new.sh");
            command
        }
    };
    let out = command.current_dir(dir).output().unwrap();
    // Makeflow ends with status 0 when a rule has failed, and may end so or otherwise: what counts is what is there.
    assert!(by == By::Makeflow || out.status.success(), "{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
}

/// Activity, status, layer that failed, in what: of each attempt that the records tell of.
fn told(dir: &Path, dataset: &Path) -> Vec<(String, String, Option<String>, Option<String>)> {
    let dataset_name = dataset.to_str().unwrap();
    flowmine(dir, &["import", "transform", ".", "--dataset", dataset_name]);
    let mut all = Vec::new();
    each::<TaskRun<'static>>(dataset, |row| {
        if row.engine != "transform" {
            return;
        }
        let text = |text: &Option<std::borrow::Cow<'_, str>>| text.as_deref().map(str::to_owned);
        let then = row.started_ns.unwrap();
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos() as i64;
        assert!((0..600_000_000_000).contains(&(now - then)), "it began {} s ago", (now - then) / 1_000_000_000);
        assert_eq!((row.native_kind.as_deref(), row.host.is_some()), (Some("slurm_job"), true));
        all.push((row.logical_task.to_string(), row.status.to_string(), text(&row.failed_layer), text(&row.failed_in)));
    });
    all.sort();
    // The log says so too.
    if let Some((_, _, Some(layer), Some(place))) = all.iter().find(|of| of.2.is_some()) {
        let log = flowmine(dir, &["export", "--dataset", dataset_name, "--format", "xes"]);
        let log = String::from_utf8_lossy(&log.stdout).into_owned();
        for part in [format!("key=\"task:failed_layer\" value=\"{layer}\""), format!("key=\"task:failed_in\" value=\"{place}\"")] {
            assert!(log.contains(&part), "{part}\n{log}");
        }
    }
    all
}

fn completed(activity: &str) -> (String, String, Option<String>, Option<String>) {
    (activity.to_owned(), "completed".to_owned(), None, None)
}

fn failed(layer: &str, place: &str) -> Vec<(String, String, Option<String>, Option<String>)> {
    vec![("only".to_owned(), "failed".to_owned(), Some(layer.to_owned()), Some(place.to_owned()))]
}

fn case_studies(by: By) {
    if by == By::Makeflow && !makeflow_is_there() {
        return;
    }
    let (works, how) = doctor::says("ebpf");
    if !require("bpf", &format!("eBPF ({how})"), works) {
        return;
    }
    let store = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let Some(podman) = Podman::new(store.path()) else { return };
    let Some(lab) = SlurmLab::up(2) else { return };
    let new = || tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let container = |dir: &Path, image: &str| {
        let mut values = vec![format!("image={image}"), format!("program={}", podman.program()), format!("options={}", Podman::options())];
        values.push(format!("dataset={}", dir.join("trace").display()));
        values.push(format!("flowmine={}", env!("CARGO_BIN_EXE_flowmine")));
        values
    };

    // Container, monitor and sandbox; an image that is not there, and a task that fails.
    let (counts, missing, fails) = (new(), new(), new());
    counting(counts.path());
    begin(&lab, by, counts.path(), &["podman", "monitor", "sandbox"], &container(counts.path(), IMAGE));
    one(missing.path(), "true >x", "", "x");
    begin(&lab, by, missing.path(), &["podman", "sandbox"], &container(missing.path(), "localhost/flowmine-missing"));
    one(fails.path(), "exit 3", "", "x");
    begin(&lab, by, fails.path(), &["podman", "sandbox"], &container(fails.path(), IMAGE));

    // Core dump to stack trace.
    let pattern = std::fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap_or_default();
    let gdb = Command::new("gdb").arg("--version").output().is_ok();
    let dumps =
        require("core-dump", "gdb, and a kernel.core_pattern that puts cores into the directory", gdb && pattern.starts_with("core"));
    let core = new();
    one(core.path(), "sleep 30 & p=$!; sleep 0.3; kill -SEGV $p; wait $p", "", "x");
    if dumps {
        begin(&lab, by, core.path(), &["failure"], &[]);
    }

    // Software that is built at the task.
    let (built, breaks) = (new(), new());
    for (dir, build) in [(&built, "cp greet.sh \"$PREFIX/bin/greet\" && chmod +x \"$PREFIX/bin/greet\""), (&breaks, "exit 7")] {
        std::fs::write(dir.path().join("greet.sh"), "#!/bin/sh\necho \"hello $1\"\n").unwrap();
        one(dir.path(), "greet \"two  words\" >x", "greet.sh", "x");
        begin(&lab, by, dir.path(), &["environment", "sandbox"], &[format!("build={build}")]);
    }
    lab.settle();

    let read = |dir: &tempfile::TempDir, name: &str| std::fs::read_to_string(dir.path().join(name)).unwrap();
    assert_eq!(read(&counts, "sum"), "1000\n");
    let trace = counts.path().join("trace");
    let activities = if by == By::Makeflow { ["count", "count", "split", "sum"] } else { ["count0", "count1", "split", "sum"] };
    assert_eq!(told(counts.path(), &trace), activities.map(completed));
    flowmine(counts.path(), &["correlate", "--dataset", "trace"]);
    bytes_are_exact(counts.path(), &trace);
    let dataset = |dir: &tempfile::TempDir| dir.path().join("dataset");
    assert_eq!(told(missing.path(), &dataset(&missing)), failed("podman", "pre"));
    assert_eq!(told(fails.path(), &dataset(&fails)), failed("task", "cmd"));
    if dumps {
        assert_eq!(told(core.path(), &dataset(&core)), failed("task", "cmd"));
        // Makeflow moves the outputs of a rule that failed into a directory of their own.
        let folders = [core.path().to_owned(), core.path().join("makeflow.failed.0")];
        let mut files = folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten().map(|entry| entry.path());
        let stack = files.find(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("stack."))).unwrap();
        assert!(std::fs::read_to_string(stack).unwrap().contains("SIGSEGV"));
    }
    assert_eq!(told(built.path(), &dataset(&built)), [completed("only")]);
    assert_eq!(read(&built, "x"), "hello two  words\n");
    assert_eq!(told(breaks.path(), &dataset(&breaks)), failed("environment", "pre"));
}

/// What the tracer saw through the container belongs to the attempts of which the records tell: the
/// bytes of each task's files, and nobody else's.
fn bytes_are_exact(dir: &Path, trace: &Path) {
    let mut of_task: BTreeMap<String, BTreeSet<(String, i64, i64)>> = BTreeMap::new();
    each::<TaskIo<'static>>(trace, |row| {
        let Some((_, file)) = row.path.as_deref().and_then(|path| path.rsplit_once('/')) else { return };
        let is_part = row.path.as_deref().is_some_and(|path| path.contains(".box."));
        if is_part && !file.starts_with("t_") && !file.starts_with('.') && !file.ends_with(".sh") {
            let task = row.task.as_deref().unwrap_or_else(|| panic!("{file} is nobody's")).to_owned();
            of_task.entry(task).or_default().insert((file.to_owned(), row.read_bytes, row.written_bytes));
        }
    });
    assert!(of_task.keys().all(|task| task.starts_with("transform:")), "{of_task:?}");
    let size = |name: &str| i64::try_from(std::fs::metadata(dir.join(name)).unwrap().len()).unwrap();
    let read = |name: &str| (name.to_owned(), size(name), 0);
    let written = |name: &str| (name.to_owned(), 0, size(name));
    let expected = [
        BTreeSet::from([read("in.txt"), written("part.0"), written("part.1")]),
        BTreeSet::from([read("part.0"), written("count.0")]),
        BTreeSet::from([read("part.1"), written("count.1")]),
        BTreeSet::from([read("count.0"), read("count.1"), written("sum")]),
    ];
    assert_eq!(of_task.values().cloned().collect::<BTreeSet<_>>(), expected.into_iter().collect());
}

#[test]
fn the_case_studies_under_makeflow_over_slurm() {
    case_studies(By::Makeflow);
}

#[test]
fn the_case_studies_as_chains_of_jobs() {
    case_studies(By::Chain);
}

/// A loop, arguments that are known when it runs only, dependencies through a pipe, a wrapped
/// command, an array.
#[test]
fn a_chain_as_people_write_it() {
    let Some(lab) = SlurmLab::up(1) else { return };
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = dir.path();
    let write = |name: &str, text: &str| std::fs::write(path.join(name), text).unwrap();
    write("in.txt", &"line\n".repeat(1000));
    write("split.sh", "#!/bin/bash\n#SBATCH --job-name=split --mem=100M\nsplit -n l/2 -d -a 1 in.txt part.\n");
    write("count.sh", "#!/bin/bash\n#SBATCH -J count -o count.%j.out\nwc -l <\"part.$1\" >\"count.$1\"; printf '<%s>' \"$@\"\n");
    write("sum.sh", "#!/bin/sh\nread -r a <count.0; read -r b <count.1; echo $((a + b)) >sum\n");
    write(
        "array.sh",
        "#!/bin/bash\n#SBATCH --array=3-5\necho \"$SLURM_ARRAY_TASK_ID\" >\"array.$SLURM_ARRAY_TASK_ID\"; [ \"$SLURM_ARRAY_TASK_ID\" != 4 ] || exit 9\n",
    );
    write(
        "flow.sh",
        "#!/bin/bash\nset -e\nfirst=$(sbatch --parsable split.sh)\nids=\nfor n in 0 1; do\n  id=$(sbatch --parsable --dependency=afterok:$first count.sh $n \"it's \\$HOME `echo a  b`\" '')\n  \
         ids=$ids:$id\ndone\nlast=$(sbatch --dependency=afterok$ids sum.sh | cut -d' ' -f4)\nsbatch -d afterok:$last --wrap='cp sum \"the end\"' >/dev/null\nsbatch array.sh\n",
    );
    begin(&lab, By::Chain, path, &["retry"], &["times=1".to_owned()]);
    lab.settle();
    let read = |name: &str| std::fs::read_to_string(path.join(name)).unwrap();
    assert_eq!((read("sum"), read("the end")), ("1000\n".to_owned(), "1000\n".to_owned()));
    let mut counts: Vec<String> = std::fs::read_dir(path)
        .unwrap()
        .flatten()
        .map(|e| e.file_name().into_string().unwrap())
        .filter(|name| name.starts_with("count.") && name.ends_with(".out"))
        .collect();
    counts.sort();
    let said: Vec<String> = counts.iter().map(|name| read(name)).collect();
    assert_eq!(said, ["<0><it's $HOME a b><>", "<1><it's $HOME a b><>"]);
    let told = told(path, &path.join("dataset"));
    let array = |status: &str, layer: Option<&str>| {
        ("array".to_owned(), status.to_owned(), layer.map(str::to_owned), layer.map(|_| "cmd".to_owned()))
    };
    let expected = [
        array("completed", None),
        array("completed", None),
        array("failed", Some("task")),
        completed("count"),
        completed("count"),
        completed("split"),
        completed("sum"),
        completed("wrap"),
    ];
    assert_eq!(told, expected);
}

/// A rule that is absent in a run is no fault, and a shell that a run gives its rules is not replaced.
#[test]
fn rules_of_snakemake_can_be_absent() {
    let snakemake = std::env::var("FLOWMINE_SNAKEMAKE").unwrap_or_default();
    if !require("snakemake", "Snakemake, whose program FLOWMINE_SNAKEMAKE names", !snakemake.is_empty()) {
        return;
    }
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = dir.path();
    let flow = "rule a:\n    output: \"a\"\n    shell: \"echo a >{output}\"\nif config.get(\"extra\"):\n    rule b:\n        output: \"b\"\n        shell: \"echo b >{output}\"\n";
    std::fs::write(path.join("Snakefile"), flow).unwrap();
    flowmine(path, &["transform", "Snakefile", "--apply", "retry", "-o", "new.smk"]);
    let run = |more: &[&str]| {
        let mut command = Command::new(&snakemake);
        command.args(["-s", "new.smk", "-c", "1"]).args(more).current_dir(path).env("HOME", path).stdin(Stdio::null());
        let ran = command.output().unwrap();
        (ran.status.success(), String::from_utf8_lossy(&ran.stderr).into_owned())
    };
    let ran = run(&["a"]);
    assert!(ran.0 && path.join("a").exists(), "{}", ran.1);
    let ran = run(&["b", "--config", "extra=1"]);
    assert!(ran.0 && path.join("b").exists(), "{}", ran.1);
    let ran = run(&["-f", "a", "--default-resources", "shell_exec='/bin/sh'"]);
    assert!(!ran.0 && ran.1.contains("the rule a has a shell_exec of its own"), "{}", ran.1);
}

#[test]
fn rules_of_snakemake_go_through_the_layers() {
    let snakemake = std::env::var("FLOWMINE_SNAKEMAKE").unwrap_or_default();
    if !require("snakemake", "Snakemake, whose program FLOWMINE_SNAKEMAKE names", !snakemake.is_empty()) {
        return;
    }
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = dir.path();
    std::fs::create_dir(path.join("rules")).unwrap();
    std::fs::write(path.join("in.txt"), "line\n".repeat(1000)).unwrap();
    std::fs::write(
        path.join("rules/count.smk"),
        "rule count:\n    input: \"part.{n}\"\n    output: \"count.{n}\"\n    shell: \"wc -l <{input} >{output}\"\n",
    )
    .unwrap();
    let flow = "include: \"rules/count.smk\"\nrule all:\n    input: \"sum\"\nrule split:\n    input: \"in.txt\"\n    output: \"part.0\", \"part.1\"\n    shell:\n        \"\"\"\n        \
        split -n l/2 -d -a 1 {input} part.\n        echo \"it's $SHLVL\" | cat\n        \"\"\"\nrule sum:\n    input: \"count.0\", \"count.1\"\n    output: \"sum\"\n    \
        shell: \"false | true; touch sum\" if config.get(\"fail\") else \"cat {input} | awk '{{s += $1}} END {{print s}}' >{output}\"\n";
    std::fs::write(path.join("Snakefile"), flow).unwrap();
    flowmine(
        path,
        &["transform", "Snakefile", "--apply", "retry", "--apply", "timelimit", "--let", "times=2", "--let", "pause=0", "-o", "new.smk"],
    );
    let run = |more: &[&str]| {
        Command::new(&snakemake)
            .args(["-s", "new.smk", "-c", "2"])
            .args(more)
            .current_dir(path)
            .env("HOME", path)
            .stdin(Stdio::null())
            .output()
            .unwrap()
    };
    let ran = run(&[]);
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    assert_eq!(std::fs::read_to_string(path.join("sum")).unwrap(), "1000\n");
    let ran = run(&["-f", "sum", "--config", "fail=1"]);
    assert!(!ran.status.success(), "pipefail, as Snakemake sets it, is in force below the layers");
    flowmine(path, &["import", "transform", ".", "--dataset", "dataset"]);
    let mut rows = Vec::new();
    each::<TaskRun<'static>>(&path.join("dataset"), |row| {
        let layers: serde_json::Value = serde_json::from_str(row.layers.as_deref().unwrap()).unwrap();
        rows.push((
            row.logical_task.to_string(),
            row.status.to_string(),
            row.failed_layer.as_deref().map(str::to_owned),
            layers[0]["runs"].as_i64().unwrap(),
        ));
    });
    rows.sort();
    let row = |activity: &str, status: &str, layer: Option<&str>, runs: i64| {
        (activity.to_owned(), status.to_owned(), layer.map(str::to_owned), runs)
    };
    let expected = [
        row("count", "completed", None, 1),
        row("count", "completed", None, 1),
        row("split", "completed", None, 1),
        row("sum", "completed", None, 1),
        row("sum", "failed", Some("task"), 2),
    ];
    assert_eq!(rows, expected);
}

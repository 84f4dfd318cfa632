//! The workflow as a pipeline of Nextflow: beside it, in containers, and on Slurm.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use flowmine_schema::tables::TaskRun;

use super::place::{Place, work};
use super::tables::HOLD;
use super::workflow::Task;

/// The file with a task's own commands in its work directory.
pub const SCRIPT: &str = ".command.sh";

/// What is in it.
pub fn script(dir: &Path, task: &Task) -> String {
    format!("#!/bin/bash -ue\n{}\n", commands(dir, task))
}

/// A task makes the folders of its outputs itself. The folder that all tasks share is none of their
/// inputs: it changes, and a resumed run would do all again.
fn commands(dir: &Path, task: &Task) -> String {
    let folders: Vec<&str> = task.outputs.iter().filter_map(|output| output.rsplit_once('/')).map(|(folder, _)| folder).collect();
    format!("mkdir -p {}\nln -s {}/run/state state\n{}", folders.join(" "), dir.display(), work(dir, task))
}

/// Whether it is there: `FLOWMINE_NEXTFLOW` is a folder of JAR files.
pub fn present() -> bool {
    let help = command(Path::new("/tmp")).arg("-h").output();
    let there = std::env::var_os("FLOWMINE_NEXTFLOW").is_some() && help.is_ok_and(|output| output.status.success());
    super::require("nextflow", "Nextflow (FLOWMINE_NEXTFLOW) and Java", there)
}

/// Nextflow, to which its words are added.
pub fn command(home: &Path) -> Command {
    let mut command = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lab/nextflow/nextflow"));
    command.env("NXF_HOME", home.join("nextflow-home")).env("HOME", home);
    command
}

/// Where a pipeline is held up: after these tasks and before all others, by a task ([`HOLD`]) that
/// sleeps for `params.hold` seconds.
pub const BEFORE_HOLD: [&str; 4] = ["split", "p1", "p2", "p3"];

/// Writes the pipeline, `flow.nf`. Tasks that are `boxed` run in the image `flow`.
pub fn write(place: &Place, tasks: &[Task], boxed: fn(&str) -> bool, hold: bool) {
    let (mut processes, mut calls) = (String::new(), String::new());
    let maker = |file: &str| tasks.iter().find_map(|task| Some((task, task.outputs.iter().position(|output| output == file)?)));
    for task in tasks {
        let name = &task.name;
        let waits = hold && !BEFORE_HOLD.contains(&name.as_str());
        if waits && !processes.contains("process hold") {
            let ends: Vec<String> = BEFORE_HOLD[1..].iter().map(|name| format!("{name}.out.o0")).collect();
            writeln!(
                processes,
                "process hold {{\n  input: path x; path y; path z\n  output: val true, emit: o\n  script: \"sleep ${{params.hold}}\"\n}}"
            )
            .unwrap();
            writeln!(calls, "  hold({})", ends.join(", ")).unwrap();
        }
        let (mut inputs, mut given) = (String::new(), Vec::new());
        for input in &task.inputs {
            writeln!(inputs, "    path '{input}'").unwrap();
            given.push(match (maker(input), input.strip_suffix(SCRIPT)) {
                (Some((task, at)), _) => format!("{}.out.o{at}", task.name),
                (None, Some(of)) => format!("{}.out.script", of.trim_end_matches('/')),
                (None, None) => format!("file('{input}')"),
            });
        }
        let mut outputs = String::new();
        for (at, output) in task.outputs.iter().enumerate() {
            writeln!(outputs, "    path '{output}', emit: o{at}").unwrap();
        }
        let container = if boxed(name) { "  container 'flow'\n" } else { "" };
        let (held, also) = if waits { ("    val held\n", ", hold.out.o") } else { ("", "") };
        writeln!(
            processes,
            "process {name} {{\n{container}  input:\n{inputs}{held}  output:\n{outputs}    path '{SCRIPT}', emit: script\n  script: '''\n{}\n'''\n}}",
            commands(&place.dir, task)
        )
        .unwrap();
        writeln!(calls, "  {name}({}{also})", given.join(", ")).unwrap();
    }
    std::fs::write(place.run().join("flow.nf"), format!("params.hold = 0\n{processes}\nworkflow {{\n{calls}}}\n")).unwrap();
}

/// Writes what all runs are configured with, and more.
pub fn configure(place: &Place, more: &str) {
    let all = "process.errorStrategy = 'retry'\nprocess.maxRetries = 2\n";
    std::fs::write(place.run().join("nextflow.config"), format!("{all}{more}")).unwrap();
}

/// Logical task, attempt, status, exit code.
type Fate = (String, i64, String, Option<i64>);

/// What the two head jobs told of: one that was killed, and one that took over what it had done.
/// `hold` is what became of the task that the first left behind, and `cached` the exit code of
/// those that the second took over: both are told by the work directories, where there are some.
pub fn killed_and_resumed(dataset: &Path, hold: (&str, Option<i64>), cached: Option<i64>) {
    let mut runs: BTreeMap<String, Vec<Fate>> = BTreeMap::new();
    let mut sessions = BTreeSet::new();
    super::each::<TaskRun<'static>>(dataset, |row| {
        sessions.insert(row.run_id.unwrap().into_owned());
        let told = (row.logical_task.into_owned(), row.attempt.map_or(0, i64::from), row.status.into_owned(), row.exit_code);
        runs.entry(row.run_name.unwrap().into_owned()).or_default().push(told);
    });
    let (killed, resumed): (Vec<_>, Vec<_>) = runs.into_values().partition(|run| run.iter().all(|(.., status, _)| status != "cached"));
    let sorted = |mut runs: Vec<Vec<_>>| {
        assert_eq!(runs.len(), 1);
        runs[0].sort();
        runs.remove(0)
    };
    let row = |name: &str, attempt: i64, status: &str, code: Option<i64>| (name.to_owned(), attempt, status.to_owned(), code);
    let done = |name: &str| row(name, 1, "completed", Some(0));
    let again = [row("p3", 1, "failed", Some(3)), row("p3", 2, "completed", Some(0))];
    let mut expected = vec![row(HOLD, 1, hold.0, hold.1), done("p1"), done("p2"), done("split")];
    expected.extend(again);
    expected.sort();
    assert_eq!(sorted(killed), expected);
    // Which attempt made it, the run that executed it knows.
    let mut expected: Vec<_> = BEFORE_HOLD.iter().map(|name| row(name, 0, "cached", cached)).collect();
    expected.extend([HOLD, "merge", "report", "amend", "check"].map(done));
    expected.sort();
    assert_eq!(sorted(resumed), expected);
    assert_eq!(sessions.len(), 1, "a resumed run has the same session");
}

/// Who takes whose outputs, as Nextflow itself draws it (`-with-dag FILE.dot`): `v1 [label="p1"];`,
/// `v0 -> v1;`.
pub fn drawn(file: &Path) -> BTreeSet<(String, String)> {
    let text = std::fs::read_to_string(file).unwrap();
    let label = |line: &str| {
        let (vertex, rest) = line.split_once(" [label=\"")?;
        Some((vertex.to_owned(), rest.split_once('"')?.0.to_owned()))
    };
    let labels: BTreeMap<String, String> = text.lines().filter_map(label).collect();
    let edge = |line: &str| {
        let (from, to) = line.split_once(" -> ")?;
        let to = to.split([' ', ';']).next()?;
        Some((labels.get(from)?.clone(), labels.get(to)?.clone()))
    };
    text.lines().filter_map(edge).collect()
}

/// The same, as the column `parents` tells it.
pub fn told(dataset: &Path) -> BTreeSet<(String, String)> {
    let (mut names, mut parents) = (BTreeMap::new(), Vec::new());
    super::each::<TaskRun<'static>>(dataset, |row| {
        let of: Vec<String> = serde_json::from_str(row.parents.as_deref().unwrap()).unwrap();
        parents.extend(of.into_iter().map(|parent| (parent, row.logical_task.to_string())));
        names.insert(row.task_id.unwrap().into_owned(), row.logical_task.into_owned());
    });
    parents.into_iter().map(|(parent, task)| (names[&parent].clone(), task)).collect()
}

/// The run in WfFormat: who waits for whom as the pipeline says, and the sizes of what its tasks
/// made.
pub fn instance(place: &Place, tasks: &[Task]) {
    let output = super::place::run(super::place::flowmine().args(["export", "--format", "wfformat", "--dataset"]).arg(place.dataset()));
    let instance: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let of = &instance["workflow"]["specification"];
    let list = |of: &serde_json::Value, key: &str| of[key].as_array().unwrap().clone();
    let mut listed = 0;
    for file in list(of, "files") {
        let path = place.run().join(file["id"].as_str().unwrap());
        assert_eq!(file["sizeInBytes"].as_u64(), std::fs::metadata(&path).ok().map(|of| of.len()), "{}", path.display());
        listed += 1;
    }
    // All that the tasks declare and make; what was there before was not written.
    assert_eq!(listed, tasks.iter().map(|task| task.outputs.len()).sum::<usize>(), "{of}");
    let made: BTreeSet<String> = list(of, "tasks").iter().flat_map(|task| list(task, "outputFiles")).map(|file| file.to_string()).collect();
    let taken = list(of, "tasks").iter().flat_map(|task| list(task, "inputFiles")).filter(|file| made.contains(&file.to_string())).count();
    // p3 was tried twice.
    let wanted =
        tasks.iter().flat_map(|task| task.inputs.iter().map(move |input| (task, input))).filter(|(_, input)| input.contains('/')).count()
            + 1;
    assert_eq!(taken, wanted, "{of}");
}

//! The algebra paper's own example, and what it says of composition.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]

use flowmine_transform::algebra::{Collisions, Composition, FileName, NoContents, Task, task_id};
use flowmine_transform::script;
use flowmine_transform::workflow::{NoFiles, Workflow};

const T1: &str = r#"let T1 = {
"command": { "pre":[ ], "cmd": "sim.exe < in.txt > out.txt", "post":[ ], },
"inputs" : [ "sim.exe", "in.txt" ],
"outputs" : [ "out.txt" ],
"environment": {},
"resources" :
{"cores":1, "memory":1G, "disk":10G }
}
eval [T1]
"#;

// As in the paper, with its missing commas.
const SINGULARITY: &str = r#"define Singularity(T)
{
"command" : {
"cmd": "singularity run image " +
T.script + " > log." + T.ID
}
"inputs" : T.inputs +
["image", T.script],
"outputs" : T.outputs +
["log."+T.ID],
"resources" : {
"disk" : T.resources{disk} + 3G
}
}
"#;

// The paper's figure has `["cmd"`, `"outer_name=` and `ID`: misprints of `{"cmd"`, `"outer_name":` and `T.ID`.
const RMONITOR: &str = r#"define RMonitor(T) {
"command" : {
"cmd": "rmonitor -- " + T.script
}
"inputs" : T.inputs + ["rmonitor",
T.script]
"outputs" : T.outputs +
[{"outer_name":"summary."+T.ID,
"inner_name":"summary"}]
}
"#;

fn composition(text: &str) -> Composition {
    Composition::read("layer.jx", text, None, &[]).unwrap()
}

fn t1() -> Task {
    Workflow::read("t1.jx", T1.as_bytes(), &NoFiles).unwrap().tasks.remove(0).task
}

fn outer(files: &[FileName]) -> Vec<&str> {
    files.iter().map(|file| file.outer.as_str()).collect()
}

#[test]
fn singularity_of_t1_is_what_the_paper_shows() {
    let id = task_id(&t1(), &NoContents);
    let task = composition(SINGULARITY).apply(t1(), &NoContents).unwrap();
    let (script, log) = (format!("t_{id}.sh"), format!("log.{id}"));
    assert_eq!(task.parts.command.cmd, format!("singularity run image {script} > {log}"));
    assert!(task.parts.command.pre.is_empty() && task.parts.command.post.is_empty());
    assert_eq!(outer(&task.parts.inputs), ["sim.exe", "in.txt", "image", &script]);
    assert_eq!(outer(&task.parts.outputs), ["out.txt", &log]);
    assert!(task.parts.environment.is_empty());
    let resources: Vec<(&str, i64)> = task.parts.resources.iter().map(|(kind, n)| (kind.as_str(), *n)).collect();
    assert_eq!(resources, [("cores", 1), ("disk", 13 << 10), ("memory", 1 << 10)]);
    assert_ne!(task_id(&task, &NoContents), id, "the identifier is new after each layer");
}

#[test]
fn rmonitor_renames_its_summary() {
    let id = task_id(&t1(), &NoContents);
    let task = composition(RMONITOR).apply(t1(), &NoContents).unwrap();
    assert_eq!(task.parts.outputs[1], FileName { inner: "summary".to_owned(), outer: format!("summary.{id}"), each_run: false });
}

#[test]
fn a_static_name_that_two_layers_use_is_refused_unless_a_sandbox_stands_between() {
    let twice = composition(RMONITOR).then(composition(RMONITOR));
    let error = twice.apply(t1(), &NoContents).unwrap_err().to_string();
    assert!(
        error.starts_with("layer.jx:1:20: RMonitor cannot be applied to task 1 (at 1:10): static name collision: “summary”"),
        "{error}"
    );
    let sandbox = composition(flowmine_transform::builtin::text("sandbox").unwrap());
    let between = composition(RMONITOR).then(sandbox).then(composition(RMONITOR));
    assert_eq!(between.apply(t1(), &NoContents).unwrap().parts.outputs.len(), 3);
}

#[test]
fn names_that_collide_only_after_renaming_are_refused() {
    for (inner, outer, what) in [
        ("s", "out.txt", "“out.txt” is the name of two outputs in the workflow"),
        ("out.txt", "s", "“out.txt” is the name of two outputs where the task runs"),
        ("in.txt", "s", "“in.txt” is an output that the layer adds, and an input of the task"),
        ("s", "in.txt", "“s” is an output that the layer adds, and an input of the task"),
    ] {
        let layer =
            composition(&format!(r#"define N(T) {{"outputs": T.outputs + [{{"inner_name": "{inner}", "outer_name": "{outer}"}}]}}"#));
        let error = layer.apply(t1(), &NoContents).unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    }
    // Two layers whose files have one name in the workflow, and others inside.
    let one = |name: &str| {
        composition(&format!(
            r#"define N(T) {{"outputs": T.outputs + [{{"inner_name": "{name}", "outer_name": "log"}}], "sandbox": true}}"#
        ))
    };
    assert!(one("a").then(one("b")).apply(t1(), &NoContents).unwrap_err().to_string().contains("“log” is the name of two outputs"));
}

#[test]
fn composition_is_associative_and_not_commutative() {
    let (s, r, e) = (composition(SINGULARITY), composition(RMONITOR), composition(r#"define E(T) {"environment": {"A": "1"}}"#));
    let left = s.clone().then(r.clone()).then(e.clone()).apply(t1(), &NoContents).unwrap();
    let right = s.clone().then(r.clone().then(e.clone())).apply(t1(), &NoContents).unwrap();
    let applied = e.apply(r.apply(s.apply(t1(), &NoContents).unwrap(), &NoContents).unwrap(), &NoContents).unwrap();
    assert_eq!(left, right);
    assert_eq!(left, applied);
    let other = r.then(s).then(e).apply(t1(), &NoContents).unwrap();
    assert_ne!(left.parts, other.parts);
}

#[test]
fn functions_of_functions_are_compositions() {
    let text = format!("{SINGULARITY}\n{RMONITOR}\ndefine Both(T) = RMonitor(Singularity(T))\n");
    let both = Composition::read("both.jx", &text, Some("Both"), &[]).unwrap();
    let apart = composition(SINGULARITY).then(composition(RMONITOR));
    let names = |c: &Composition| c.0.iter().map(|t| t.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&both), ["Singularity", "RMonitor"]);
    assert_eq!(both.apply(t1(), &NoContents).unwrap().parts, apart.apply(t1(), &NoContents).unwrap().parts);
    let looping = "define A(T) = B(T)\ndefine B(T) = A(T)";
    assert!(Composition::read("loop.jx", looping, Some("A"), &[]).is_err());
}

#[test]
fn two_tasks_with_one_added_output_are_refused_or_remapped() {
    let flow = Workflow::read("f.jx", br#"{"rules": [{"command": "a", "outputs": ["x"]}, {"command": "b", "outputs": ["y"]}]}"#, &NoFiles)
        .unwrap();
    let log = composition(r#"{"name": "log", "outputs": T.outputs + ["log"]}"#);
    let error = flow.transform(&log, &[], Collisions::Refuse, &NoContents).err().unwrap().to_string();
    assert!(error.starts_with("f.jx:1:12: static name collision: the output “log” of rule 1"), "{error}");
    let plan = flow.transform(&log, &[], Collisions::Remap, &NoContents).unwrap();
    let logs: Vec<&FileName> = plan.tasks.iter().map(|(task, _)| &task.parts.outputs[1]).collect();
    assert!(logs.iter().all(|f| f.inner == "log" && f.outer.starts_with("log.")) && logs[0] != logs[1]);
    assert!(plan.tasks.iter().all(|(_, layers)| layers.last().unwrap().sandbox), "a renamed file needs a directory of its own");
}

#[test]
fn what_an_outer_layer_sets_updates_the_task() {
    let inner = composition(r#"define I(T) {"environment": {"A": "inner", "B": "kept", "P": {"prepend": "in:"}}}"#);
    let above = composition(r#"define O(T) {"environment": {"A": T.environment{A} + "+", "B": null, "P": {"prepend": "out:"}}}"#);
    let task = inner.then(above).apply(t1(), &NoContents).unwrap();
    let layers = script::layers(&task, task_id(&task, &NoContents));
    let about = script::About { task: "t", activity: "sim.exe", workflow: "t1.jx", parents: &[], instances: false };
    let texts: Vec<String> = script::scripts(about, &layers).into_iter().map(|s| s.text).collect();
    assert!(texts[2].contains("fm_run env -u B A='inner+' P='out:'\"${P-}\" \"$@\""), "{}", texts[2]);
    assert!(texts[1].contains("fm_run env P='in:'\"${P-}\" \"$@\"") && !texts[1].contains(" A="), "{}", texts[1]);
}

#[test]
fn resources_compose_by_kind() {
    let with =
        |text: &str| composition(&format!(r#"define R(T) {{"resources": {{{text}}}}}"#)).apply(t1(), &NoContents).unwrap().parts.resources;
    assert_eq!(with(r#""disk": 3G"#)["disk"], 13 << 10);
    assert_eq!(with(r#""disk": {"set": 3G}"#)["disk"], 3 << 10);
    assert_eq!(with(r#""cores": 4"#)["cores"], 4);
    assert_eq!(with(r#""cores": 0"#)["cores"], 1);
    assert_eq!(with(r#""memory": "2G""#)["memory"], 3 << 10);
    assert!(
        !with(r#""wall-time": T.resources{wall-time} + 60"#.replace("{wall-time}", "[\"wall-time\"]").as_str()).contains_key("wall-time")
    );
}

//! Where results go: never over an input, never into a dataset, and over no file of the user.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::support::{expect, flowmine, repository};

const MODEL: &str = "crates/predict/examples/figure-4.json";
const LOG: &str = "case,activity,start,end\n1,a,2026-01-02T00:00:00Z,2026-01-02T00:00:05Z\n1,b,2026-01-02T00:00:06Z,2026-01-02T00:00:09Z\n";
const FLOW: &str = r#"{"rules": [{"command": "cp a b", "inputs": ["a"], "outputs": ["b"]}]}"#;

/// A dataset of Slurm's accounting.
fn dataset(dir: &Path) -> std::path::PathBuf {
    let dataset = dir.join("dataset");
    let mut import = flowmine();
    import.args(["import", "slurm"]).arg(repository("fixtures/case-study/sacct-token.txt.gz")).arg("--dataset").arg(&dataset);
    expect(&mut import, 0);
    dataset
}

/// What a command that has to fail says.
fn refused(command: &mut Command) -> String {
    String::from_utf8(expect(command, 2).stderr).unwrap()
}

#[test]
fn no_result_replaces_an_input() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::write(at("log.csv"), LOG).unwrap();
    fs::write(at("flow.json"), FLOW).unwrap();
    fs::write(at("log.xes"), "<log xes.version=\"1.0\"></log>").unwrap();
    fs::copy(repository(MODEL), at("model.json")).unwrap();
    symlink("model.json", at("link.json")).unwrap();
    fs::hard_link(at("log.csv"), at("twin.csv")).unwrap();
    let before = ["log.csv", "log.xes", "flow.json", "model.json"].map(|name| fs::read(at(name)).unwrap());
    for arguments in [
        vec!["predict", "model.json", "-o", "model.json"],
        vec!["predict", "model.json", "-o", "link.json"],
        vec!["predict", "link.json", "--format", "json", "-o", "./model.json"],
        vec!["predict", "model.json", "--write-model", "model.json"],
        vec!["discover", "--log", "log.csv", "--format", "csv", "-o", "log.csv"],
        vec!["discover", "variants", "--log", "twin.csv", "--format", "csv", "-o", "log.csv"],
        vec!["export", "--log", "log.xes", "--format", "csv", "-o", "log.xes"],
        vec!["transform", "flow.json", "--apply", "retry", "-o", "flow.json"],
    ] {
        let said = refused(flowmine().current_dir(dir.path()).args(&arguments));
        assert!(said.contains("which is an input of the command: write it elsewhere"), "{arguments:?}: {said}");
        assert_eq!(["log.csv", "log.xes", "flow.json", "model.json"].map(|name| fs::read(at(name)).unwrap()), before, "{arguments:?}");
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 6, "no script and no part is left");
    expect(flowmine().current_dir(dir.path()).args(["predict", "model.json", "--format", "json", "-o", "other.json"]), 0);
    expect(flowmine().current_dir(dir.path()).args(["predict", "model.json", "--format", "json", "-o", "other.json"]), 0);
}

/// Recognised by their content, and imported.
#[test]
fn no_result_replaces_what_a_path_names() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    fs::create_dir(&run).unwrap();
    for name in ["nextflow.log", "trace.txt"] {
        fs::copy(repository("fixtures/workflows/nextflow-local").join(name), run.join(name)).unwrap();
    }
    fs::copy(run.join("trace.txt"), dir.path().join("trace.csv")).unwrap();
    symlink("run/trace.txt", dir.path().join("link.csv")).unwrap();
    let trace = fs::read(run.join("trace.txt")).unwrap();
    for (source, result) in [("trace.csv", "trace.csv"), ("run", "run/trace.txt"), ("run", "link.csv")] {
        let said = refused(flowmine().current_dir(dir.path()).args(["export", source, "--format", "csv", "-o", result]));
        assert!(said.contains("which is an input of the command: write it elsewhere"), "{source} {result}: {said}");
        assert_eq!(fs::read(dir.path().join(result)).unwrap(), trace, "{source} {result}");
    }
    // A new file in a directory that is read replaces nothing.
    expect(flowmine().current_dir(dir.path()).args(["export", "run", "--format", "csv", "-o", "run/log.csv"]), 0);
}

#[test]
fn no_result_lies_in_a_dataset() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = dataset(dir.path());
    symlink(&dataset, dir.path().join("link")).unwrap();
    fs::write(dir.path().join("flow.json"), FLOW).unwrap();
    let manifest = fs::read(dataset.join("flowmine.json")).unwrap();
    let discover =
        |to: &str| refused(flowmine().args(["discover", "--format", "json", "--dataset"]).arg(&dataset).arg("-o").arg(dir.path().join(to)));
    for to in ["dataset/flowmine.json", "dataset/graph.json", "dataset/job_states/graph.json", "link/graph.json"] {
        let said = discover(to);
        assert!(said.contains("this place is in a dataset") && said.contains(to), "{said}");
    }
    for (name, arguments) in
        [("run", vec!["run", "--dataset", "dataset", "--out", "dataset/out"]), ("man", vec!["man", "--dir", "dataset/man"])]
    {
        let said = refused(flowmine().current_dir(dir.path()).args(arguments));
        assert!(said.contains("dataset"), "{name}: {said}");
    }
    let said = refused(flowmine().current_dir(dir.path()).args(["transform", "flow.json", "--apply", "retry", "-o", "dataset/new.json"]));
    assert!(said.contains("this place is in a dataset"), "{said}");
    assert_eq!(fs::read(dataset.join("flowmine.json")).unwrap(), manifest);
    for made in ["out", "man", "graph.json", "new.json"] {
        assert!(!dataset.join(made).exists(), "{made}");
    }
}

#[test]
fn a_run_replaces_only_what_a_run_made() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = dataset(dir.path());
    let out = dir.path().join("out");
    let run = || {
        let mut run = flowmine();
        run.args(["run", "--formats", "xes,csv", "--dataset"]).arg(&dataset).arg("--out").arg(&out);
        run
    };
    fs::create_dir(&out).unwrap();
    for mine in ["summary.json", "log.xes", "dfg-account-group.svg", "activities.csv"] {
        let path = out.join(mine);
        fs::write(&path, "the user's").unwrap();
        let said = refused(&mut run());
        assert!(said.contains(&format!("{mine} is there already and was not made by flowmine")), "{said}");
        assert_eq!(fs::read(&path).unwrap(), b"the user's");
        assert_eq!(fs::read_dir(&out).unwrap().count(), 1, "nothing else was made");
        fs::remove_file(path).unwrap();
    }
    fs::write(out.join("notes.txt"), "the user's").unwrap();
    expect(&mut run(), 0);
    // Other options, so that all is made again.
    expect(run().args(["--timestamp", "observed-at"]), 0);
    // A run of an older version left its note alone.
    fs::remove_file(out.join(".flowmine-made")).unwrap();
    expect(&mut run(), 0);
    // Killed: the record is there, the note is not.
    fs::remove_file(out.join(".flowmine-run.json")).unwrap();
    expect(&mut run(), 0);
    // A result that the user edited is the user's.
    let edited = out.join("activities.csv");
    let made = fs::read(&edited).unwrap();
    fs::write(&edited, "edited").unwrap();
    let before = fs::read_dir(&out).unwrap().count();
    let said = refused(&mut run());
    assert!(said.contains("activities.csv was changed since flowmine made it: rename or remove it"), "{said}");
    assert_eq!((fs::read(&edited).unwrap(), fs::read_dir(&out).unwrap().count()), (b"edited".to_vec(), before));
    fs::rename(&edited, out.join("mine.csv")).unwrap();
    expect(&mut run(), 0);
    assert_eq!((fs::read(&edited).unwrap(), fs::read(out.join("mine.csv")).unwrap()), (made, b"edited".to_vec()));
    assert_eq!(fs::read(out.join("notes.txt")).unwrap(), b"the user's");
}

#[test]
fn a_page_replaces_only_a_page() {
    let dir = tempfile::tempdir().unwrap();
    expect(flowmine().args(["man", "--dir"]).arg(dir.path()), 0);
    let pages = fs::read_dir(dir.path()).unwrap().count();
    expect(flowmine().args(["man", "--dir"]).arg(dir.path()), 0);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), pages);
    let page = dir.path().join("flowmine-run.1");
    fs::write(&page, "the user's").unwrap();
    fs::remove_file(dir.path().join("flowmine.1")).unwrap();
    let said = refused(flowmine().args(["man", "--dir"]).arg(dir.path()));
    assert!(said.contains("flowmine-run.1 is there already and was not made by flowmine"), "{said}");
    assert_eq!((fs::read(&page).unwrap(), dir.path().join("flowmine.1").exists()), (b"the user's".to_vec(), false));
}

//! `flowmine predict` as a user meets it: models by hand, and models fitted to recorded runs beside
//! what those runs took.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use flowmine_dataset::{Dataset, DatasetError};
use flowmine_schema::tables::TaskRun;
use serde_json::{Value as Json, json};
use tempfile::TempDir;

use crate::support::{expect, flowmine, repository};

flowmine_schema::columns! {
    /// The id of a run.
    struct RunId of TaskRun { run_id }
}

fn model(name: &str) -> PathBuf {
    repository("crates/predict/examples").join(name)
}

fn said(command: &mut Command, code: i32) -> String {
    let output = expect(command, code);
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn json_of(command: &mut Command) -> Json {
    serde_json::from_slice(&expect(command, 0).stdout).unwrap()
}

/// Copies of recorded datasets with their operations put down to tasks.
fn recorded(names: &[&str]) -> (TempDir, Vec<PathBuf>) {
    let dir = tempfile::tempdir().unwrap();
    let copies = names.iter().map(|name| {
        let to = dir.path().join(name);
        expect(Command::new("cp").arg("-r").arg(repository("fixtures/prediction").join(name)).arg(&to), 0);
        expect(flowmine().args(["correlate", "--dataset"]).arg(&to), 0);
        to
    });
    let copies = copies.collect();
    (dir, copies)
}

/// The ids of the runs of a dataset, in order.
fn runs(dataset: &Path) -> Vec<String> {
    let mut ids = BTreeSet::new();
    let read = Dataset::open(dataset).unwrap().read::<RunId<'static>, DatasetError>(|row| {
        ids.insert(row.run_id.unwrap().into_owned());
        Ok(())
    });
    read.unwrap();
    ids.into_iter().collect()
}

#[test]
fn a_model_is_predicted_in_each_format() {
    let text = said(flowmine().arg("predict").arg(model("evaluation.json")).args(["--widen", "2", "--segments", "3", "--sensitivity"]), 0);
    for part in ["resource network (shared link)", "earlier by, if wider", "for this time alone", "for one per cent more of"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let json = json_of(flowmine().arg("predict").arg(model("figure-4.json")).args(["--format", "json"]));
    assert!((json["finish_s"].as_f64().unwrap() - 100.0).abs() < 1e-9);
    assert_eq!(json["processes"][0]["segments"].as_array().unwrap().len(), 6);
    let dir = tempfile::tempdir().unwrap();
    let picture = dir.path().join("p.svg");
    expect(flowmine().arg("predict").arg(model("figure-4.json")).arg("-o").arg(&picture), 0);
    let drawn = fs::read_to_string(&picture).unwrap();
    assert!(
        drawn.contains("data data 2: up to 150 wait to be used") && drawn.contains("0 to 100 % of the amount given is used"),
        "{drawn}"
    );
    let evaluation = |more: &[&str]| {
        expect(flowmine().arg("predict").arg(model("evaluation.json")).args(more).arg("-o").arg(&picture), 0);
        fs::read_to_string(&picture).unwrap()
    };
    assert!(
        !evaluation(&[]).contains("wait to be used") && evaluation(&["--details"]).contains("data video: up to 1.137e9 wait to be used")
    );
    // For papers, without the heading and the explanation; the names of lines stay.
    let (whole, plain) = (evaluation(&[]), evaluation(&["--plain"]));
    assert!(whole.contains("Line: progress from nothing to all.") && !plain.contains("Line: progress from nothing to all."));
    assert!(whole.contains(">Predicted: all has finished") && !plain.contains(" font-weight=\"bold\">Predicted"), "{plain}");
    assert!(plain.contains(">download 1</text>") && whole.len() > plain.len(), "{plain}");
    assert!(said(flowmine().arg("predict").arg(model("figure-4.json")).arg("--plain"), 2).contains("--plain is for a figure"));
    let csv = expect(flowmine().arg("predict").arg(model("figure-4.json")).args(["--format", "csv"]), 0).stdout;
    assert_eq!(String::from_utf8(csv).unwrap().lines().count(), 7);
    // Six segments with three resources and three inputs each; from 16 to 33 resource 2 is used whole.
    let csv = expect(flowmine().arg("predict").arg(model("figure-4.json")).args(["--format", "csv", "--details"]), 0).stdout;
    let csv = String::from_utf8(csv).unwrap();
    assert_eq!(csv.lines().count(), 37);
    let whole: Vec<&str> = csv.lines().filter(|line| line.contains(",24.5,resource,resource 2,")).collect();
    let numbers: Vec<f64> = whole[0].split(',').skip(6).take(3).map(|number| number.parse().unwrap()).collect();
    assert!(whole.len() == 1 && numbers.iter().all(|number| (number - 1.0).abs() < 1e-9), "{whole:?}");
    assert!(said(flowmine().arg("predict").arg(model("figure-4.json")).arg("--details"), 2).contains("--details are written as"));
}

#[test]
fn sweeps_and_chance() {
    let dir = tempfile::tempdir().unwrap();
    let sweep = ["--sweep", "shared[link].part[download 1]=0.5..0.99/600"];
    let json = json_of(flowmine().arg("predict").arg(model("evaluation.json")).args(sweep).args(["--format", "json"]));
    let best = json["sweep"]["best"]["value"].as_f64().unwrap();
    assert!((0.9270707..0.9283).contains(&best), "{best}");
    let csv = expect(flowmine().arg("predict").arg(model("evaluation.json")).args(sweep).args(["--format", "csv"]), 0).stdout;
    assert_eq!(String::from_utf8(csv).unwrap().lines().count(), 601);
    let picture = dir.path().join("sweep.svg");
    expect(flowmine().arg("predict").arg(model("evaluation.json")).args(sweep).arg("-o").arg(&picture), 0);
    assert!(fs::read_to_string(&picture).unwrap().contains("Best: shared[link].part[download 1]"));
    let vary = ["--vary", "shared[link].capacity*0.9..1.1", "--samples", "200"];
    let draw = |seed: &str| said(flowmine().arg("predict").arg(model("evaluation.json")).args(vary).args(["--seed", seed]), 0);
    assert!(draw("1").contains("finish of 200 samples"));
    assert_eq!(draw("1"), draw("1"));
    assert_ne!(draw("1"), draw("2"));
    assert!(said(flowmine().arg("predict").arg(model("evaluation.json")).args(["--sweep", "x"]), 2).contains("sweep: \"x\" is not"));
    assert!(
        said(flowmine().arg("predict").arg(model("evaluation.json")).args(vary).args(["-o", "x.svg"]), 2).contains("--vary is written as")
    );
}

#[test]
fn a_wrong_model_is_refused_with_its_field() {
    let dir = tempfile::tempdir().unwrap();
    for (name, text, place) in [
        ("model.json", r#"{"processes": [{"name": "a", "progress": -1}]}"#, "processes[0].progress"),
        ("model.json", r#"{"processes": [{"name": "a", "progress": 1, "speed": 1}]}"#, "processes[0]"),
        ("model.toml", "[[processes]]\nname = \"a\"\nprogress = inf\n", "processes[0].progress"),
        ("model.toml", "[[processes]]\nname = 1\nprogress = 1\n", "processes[0].name"),
    ] {
        let path = dir.path().join(name);
        fs::write(&path, text).unwrap();
        let said = said(flowmine().arg("predict").arg(&path), 2);
        assert!(said.contains(place), "{said}");
    }
}

/// The shares of the link that the first download had when the workflow was recorded, in per cent.
const SHARES: [u32; 10] = [50, 55, 60, 65, 70, 75, 80, 85, 90, 95];

/// BottleMod's evaluation workflow with ffmpeg: models fitted to runs of each task alone predict
/// the runs of all together.
#[test]
fn what_was_learnt_alone_predicts_what_runs_together() {
    let combined: Vec<String> = SHARES.iter().map(|share| format!("combined-{share}-1")).collect();
    let names: Vec<&str> = std::iter::once("isolated").chain(combined.iter().map(String::as_str)).collect();
    let (dir, datasets) = recorded(&names);
    let first = runs(&datasets[0]).remove(0);
    let written = dir.path().join("model.toml");
    let fit = ["--start", "ready", "--stream", "reverse,rotate", "--share", "link=download-1,download-2"];
    let sweep = ["--sweep", "shared[link].part[download-1]=0.5..0.95/10"];
    let mut command = flowmine();
    command.arg("predict").arg("--dataset").arg(&datasets[0]).args(["--run", &first]).args(fit).args(sweep).args(["--format", "json"]);
    let swept = json_of(command.arg("--write-model").arg(&written));
    let learnt = |name: &str| swept["learnt"].as_array().unwrap().iter().find(|of| of["name"] == name).unwrap().clone();
    assert_eq!((&learnt("reverse")["inputs"][0]["kind"], learnt("reverse")["instances"].as_u64()), (&json!("burst"), Some(3)));
    assert_eq!(learnt("rotate")["inputs"][0]["kind"], "stream");
    let points = swept["sweep"]["points"].as_array().unwrap();
    let mut measured = Vec::new();
    let (mut sum, mut worst) = (0.0, 0.0f64);
    for (point, dataset) in points.iter().zip(&datasets[1..]) {
        let observed = json_of(flowmine().args(["predict", "--format", "json", "--dataset"]).arg(dataset))["observed_s"].as_f64().unwrap();
        let off = (point["finish_s"].as_f64().unwrap() / observed - 1.0).abs();
        (sum, worst) = (sum + off, worst.max(off));
        measured.push(observed);
    }
    assert!(sum / 10.0 < 0.05 && worst < 0.10, "mean {} worst {worst}", sum / 10.0);
    // The share that it chooses is as good as the best that was measured.
    let best = swept["sweep"]["best"]["value"].as_f64().unwrap();
    let chosen = SHARES.iter().position(|share| (f64::from(*share) / 100.0 - best).abs() < 1e-6).unwrap();
    let least = measured.iter().copied().fold(f64::INFINITY, f64::min);
    assert!(measured[chosen] < 1.03 * least, "{best}: {} instead of {least}", measured[chosen]);
    // What was written is predicted the same.
    let again = json_of(flowmine().arg("predict").arg(&written).args(sweep).args(["--format", "json"]));
    assert_eq!(again["sweep"], swept["sweep"]);
    assert_eq!(again["finish_s"], swept["finish_s"]);
    // A larger share of the first download is never worse: no change of an output is missed by its readers at any share.
    let fine = ["--sweep", "shared[link].part[download-1]=0.5..0.95/451"];
    let fine = json_of(flowmine().arg("predict").arg(&written).args(fine).args(["--format", "json"]));
    let finishes: Vec<f64> = fine["sweep"]["points"].as_array().unwrap().iter().map(|p| p["finish_s"].as_f64().unwrap()).collect();
    assert!(finishes.windows(2).all(|pair| pair[1] <= pair[0] + 1e-6), "{finishes:?}");
    // A run is predicted as it was.
    let text = said(flowmine().args(["predict", "--dataset"]).arg(&datasets[0]).args(["--run", &first]), 0);
    assert!(text.contains("burst, between") && text.contains("observed:"), "{text}");
    assert!(said(flowmine().args(["predict", "--dataset"]).arg(&datasets[0]), 2).contains("there are 3 runs"));
    assert!(said(flowmine().args(["predict", "--dataset"]).arg(&datasets[0]).args(["--run", "x"]), 2).contains("no run is called \"x\""));
    let alone = ["--run", &first, "--share", "link=nobody"];
    assert!(said(flowmine().args(["predict", "--dataset"]).arg(&datasets[0]).args(alone), 2).contains("no task \"nobody\""));
}

/// Montage on 9 and 25 pictures predicts that on 16, in each of three recordings.
#[test]
fn two_sizes_predict_a_third() {
    let (mut sum, mut worst) = (0.0, 0.0f64);
    for recording in 1..=3 {
        let names = [9, 16, 25].map(|pictures| format!("montage-{pictures}-{recording}"));
        let (_dir, datasets) = recorded(&[&names[0], &names[1], &names[2]]);
        let mut command = flowmine();
        command.args(["predict", "--format", "json", "--held-out", "--run"]).arg(&datasets[1]);
        datasets.iter().for_each(|dataset| {
            command.arg("--dataset").arg(dataset);
        });
        let predicted = json_of(&mut command);
        let (finish, observed) = (predicted["finish_s"].as_f64().unwrap(), predicted["observed_s"].as_f64().unwrap());
        let off = (finish / observed - 1.0).abs();
        (sum, worst) = (sum + off, worst.max(off));
        let learnt = predicted["learnt"].as_array().unwrap();
        assert!(learnt.iter().all(|of| of["work_s"]["one_size"] == false || of["name"] == "mViewer"), "{predicted}");
    }
    assert!(sum / 3.0 < 0.05 && worst < 0.10, "mean {} worst {worst}", sum / 3.0);
}

/// What an engine or an archive tells without traces gives a coarse model, which says so.
#[test]
fn run_times_alone_give_a_coarse_model() {
    let dir = tempfile::tempdir().unwrap();
    let task = |id: &str, parents: Json, inputs: Json, outputs: Json| json!({"name": id, "id": id, "parents": parents, "children": [], "inputFiles": inputs, "outputFiles": outputs});
    let instance = json!({"name": "small", "schemaVersion": "1.5", "workflow": {
        "specification": {
            "tasks": [task("split", json!([]), json!(["in"]), json!(["a", "b"])), task("left", json!(["split"]), json!(["a"]), json!(["c"])),
                task("right", json!(["split"]), json!(["b"]), json!(["d"])), task("join", json!(["left", "right"]), json!(["c", "d"]), json!(["e"]))],
            "files": [{"id": "in", "sizeInBytes": 1000}, {"id": "a", "sizeInBytes": 500}, {"id": "b", "sizeInBytes": 500}, {"id": "c", "sizeInBytes": 5},
                {"id": "d", "sizeInBytes": 5}, {"id": "e", "sizeInBytes": 10}]},
        "execution": {"makespanInSeconds": 40, "executedAt": "2026-11-24T10:00:00Z", "machines": [], "tasks": [
            {"id": "split", "runtimeInSeconds": 10}, {"id": "left", "runtimeInSeconds": 5}, {"id": "right", "runtimeInSeconds": 20},
            {"id": "join", "runtimeInSeconds": 1}]}}});
    let (file, dataset) = (dir.path().join("small.json"), dir.path().join("d"));
    fs::write(&file, instance.to_string()).unwrap();
    expect(flowmine().args(["import", "wfformat"]).arg(&file).arg("--dataset").arg(&dataset), 0);
    let text = said(flowmine().args(["predict", "--dataset"]).arg(&dataset), 0);
    assert!(text.contains("note: coarse: of all tasks only run times") && text.contains("flowmine trace"), "{text}");
    assert!(text.contains("the workflow finishes: 31.000 s") && text.contains("observed:              40.000 s"), "{text}");
    // Nothing says when they started, so that the time in which they waited for workers is not in the prediction, which is said.
    assert!(
        text.contains("note: of 4 of 4 tasks no start is known") && text.contains("together are 36.0 s; the run took 40.0 s"),
        "{text}"
    );
    // Tasks that wait for each other are not lost in silence.
    let circle = |name: &str, with: &[Json]| {
        let mut circular = instance.clone();
        let tasks = [task("left", json!(["right"]), json!([]), json!([])), task("right", json!(["left"]), json!([]), json!([]))];
        let tasks: Vec<&Json> = tasks.iter().chain(with).collect();
        circular["workflow"]["specification"]["tasks"] = json!(tasks);
        let ran = tasks.iter().map(|task| json!({"id": task["id"], "runtimeInSeconds": 1}));
        circular["workflow"]["execution"]["tasks"] = ran.collect();
        let (file, dataset) = (dir.path().join(format!("{name}.json")), dir.path().join(name));
        fs::write(&file, circular.to_string()).unwrap();
        expect(flowmine().args(["import", "wfformat"]).arg(&file).arg("--dataset").arg(&dataset), 0);
        dataset
    };
    let text = said(flowmine().args(["predict", "--dataset"]).arg(circle("all", &[])), 2);
    assert!(text.contains("all its 2 tasks wait for each other in a circle"), "{text}");
    let text = said(flowmine().args(["predict", "--dataset"]).arg(circle("some", &[task("join", json!([]), json!([]), json!([]))])), 0);
    assert!(text.contains("left out: 2 tasks that wait for each other in a circle") && text.contains("finishes: 1.000 s"), "{text}");
    let nextflow = |name: &str, log: &str| {
        let to = dir.path().join(name);
        expect(flowmine().args(["import", "nextflow", "--year", "2025"]).arg(repository(log)).arg("--dataset").arg(&to), 0);
        to
    };
    let told = nextflow("n", "crates/extract-workflow/tests/fixtures/nextflow/slurm_retried_ignored_array.log");
    let text = said(flowmine().args(["predict", "--dataset"]).arg(&told), 0);
    assert!(text.contains("note: coarse") && text.contains("note: left out: "), "{text}");
    // A local executor's log tells no starts.
    let untold = nextflow("u", "fixtures/workflows/nextflow-local/nextflow.log");
    let text = said(flowmine().args(["predict", "--dataset"]).arg(&untold), 2);
    assert!(text.contains("nothing to fit: of its tasks 8 have neither start and end nor a run time"), "{text}");
    // Nothing at all.
    let empty = dir.path().join("e");
    Dataset::open_or_create(&empty).unwrap();
    assert!(said(flowmine().args(["predict", "--dataset"]).arg(&empty), 2).contains("neither tasks nor jobs"));
}

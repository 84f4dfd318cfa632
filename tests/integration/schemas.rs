//! The JSON of each model, of predictions and of `run` against its schema in `docs/schemas/`, by a
//! validator of others: Python's `jsonschema`, which Snakemake brings along.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use flowmine_api::models::MODELS;
use flowmine_api::{Format, OTHER_DOCUMENTS};
use serde_json::{Value, json};

use crate::support::require::require;
use crate::support::{expect, flowmine, repository};

/// Checks documents against schemas in which no field is allowed that they do not name.
const VALIDATE: &str = r#"
import json, sys
from jsonschema import Draft202012Validator

def close(schema, is_part):
    if isinstance(schema, list):
        for part in schema:
            close(part, is_part)
    elif isinstance(schema, dict):
        for name, part in schema.items():
            close(part, name in ("allOf", "anyOf", "oneOf"))
        if "properties" in schema and not is_part:
            schema["unevaluatedProperties"] = False

for pair in json.load(open(sys.argv[1])):
    schema = json.load(open(pair["schema"]))
    Draft202012Validator.check_schema(schema)
    close(schema, False)
    for error in Draft202012Validator(schema).iter_errors(json.load(open(pair["document"]))):
        sys.exit(f"{pair['document']}: {error.json_path}: {error.message[:300]}")
"#;

/// The Python of the virtual environment of Snakemake.
fn python() -> Option<PathBuf> {
    let snakemake = PathBuf::from(std::env::var_os("FLOWMINE_SNAKEMAKE").unwrap_or_default());
    let python = snakemake.with_file_name("python");
    let works = Command::new(&python).args(["-c", "import jsonschema"]).output().is_ok_and(|output| output.status.success());
    require("snakemake", "Snakemake, whose program FLOWMINE_SNAKEMAKE names", works).then_some(python)
}

/// Sources of every kind of input of a model: jobs, a traced run, a run that is only declared, a log
/// with cases, a log with objects.
fn sources(dir: &Path) -> Vec<PathBuf> {
    let (jobs, run) = (dir.join("jobs"), dir.join("run"));
    let import = |engine: &str, dataset: &Path, from: &[PathBuf]| {
        expect(flowmine().args(["import", engine, "--dataset"]).arg(dataset).args(from), 0);
        expect(flowmine().args(["correlate", "--dataset"]).arg(dataset), 0);
    };
    import("squeue", &jobs, &["fixtures/case-study/polls", "fixtures/case-study/sacct-token.txt.gz"].map(repository));
    let traced = repository("fixtures/workflows/makeflow-slurm");
    expect(Command::new("cp").arg("-r").arg(traced.join("dataset")).arg(&run), 0);
    import("makeflow", &run, &[traced.join("flow.makeflow.makeflowlog")]);
    let read_as_they_are = ["fixtures/workflows/nextflow-local/nextflow.log", "tests/fixtures/logs/cases.xes", OBJECTS];
    [jobs, run].into_iter().chain(read_as_they_are.map(repository)).collect()
}

const OBJECTS: &str = "tests/fixtures/logs/jobs.json";

/// Options without which a model cannot be made of a source.
fn needed(model: &str, source: &Path) -> Vec<String> {
    let mut words = match model {
        "compare" => vec!["--with".to_owned(), source.display().to_string()],
        "file-timeline" => {
            let found = flowmine().args(["discover", "file-span", "--format", "json"]).arg(source).output().unwrap().stdout;
            let found: Value = serde_json::from_slice(&found).unwrap_or_default();
            found["points"][0]["path"].as_str().map(|path| format!("--file={path}")).into_iter().collect()
        }
        _ => Vec::new(),
    };
    if source.ends_with(OBJECTS) && model != "ocdfg" {
        words.push("--case-notion=object:job".to_owned());
    }
    words
}

/// Options for each document of a model.
fn documents(model: &str) -> &'static [&'static [&'static str]] {
    if model == "waits" { &[&[], &["--over-time"]] } else { &[&[]] }
}

#[test]
fn the_json_of_each_model_has_its_schema() {
    let Some(python) = python() else { return };
    let dir = tempfile::tempdir().unwrap();
    let (sources, mut pairs) = (sources(dir.path()), Vec::new());
    for about in MODELS.iter().map(|model| model.about()).filter(|about| about.formats.contains(&Format::Json)) {
        let mut written = Vec::new();
        for (source, options) in sources.iter().flat_map(|source| documents(about.name).iter().map(move |options| (source, *options))) {
            let mut discover = flowmine();
            discover.args(["discover", about.name, "--format", "json"]).args(needed(about.name, source)).args(options).arg(source);
            let output = discover.output().unwrap();
            // Not every source has what a model is made of.
            if output.status.code() == Some(2) {
                continue;
            }
            let document: Value = serde_json::from_slice(&output.stdout).unwrap();
            let known = about.documents.iter().find(|known| document["format"] == known.name).expect("a document of the model");
            assert_eq!(document["version"], known.version, "{}", about.name);
            let path = dir.path().join(format!("{}-{}.json", about.name, pairs.len()));
            fs::write(&path, &output.stdout).unwrap();
            pairs.push(json!({ "schema": repository("docs/schemas").join(format!("{}.json", known.name)), "document": path }));
            written.push(known.name);
        }
        let missing: Vec<_> = about.documents.iter().map(|known| known.name).filter(|name| !written.contains(name)).collect();
        assert!(missing.is_empty(), "{}: no source gives {missing:?}", about.name);
    }
    validate(&python, dir.path(), pairs);
}

fn validate(python: &Path, dir: &Path, pairs: Vec<Value>) {
    let list = dir.join("pairs.json");
    fs::write(&list, Value::from(pairs).to_string()).unwrap();
    expect(Command::new(python).args(["-c", VALIDATE]).arg(list), 0);
}

/// Each kind of field is written at least once: studies, a fit, jobs, tasks.
#[test]
fn the_json_of_predictions_and_runs_has_its_schema() {
    let Some(python) = python() else { return };
    let dir = tempfile::tempdir().unwrap();
    let mut pairs = Vec::new();
    let mut pair = |name: &str, written: PathBuf, fields: &[&str]| {
        let document: Value = serde_json::from_slice(&fs::read(&written).unwrap()).unwrap();
        let known = OTHER_DOCUMENTS.iter().find(|known| known.name == name).expect("a document of a command");
        assert_eq!((&document["format"], &document["version"]), (&json!(known.name), &json!(known.version)));
        let missing: Vec<_> = fields.iter().filter(|field| document.get(field).is_none()).collect();
        assert!(missing.is_empty(), "{name}: {missing:?}");
        pairs.push(json!({ "schema": repository("docs/schemas").join(format!("{name}.json")), "document": written }));
    };
    let sources = sources(dir.path());
    let studies = ["--widen", "2", "--segments", "3", "--sensitivity", "--vary", "shared[link].capacity*0.9..1.1", "--samples", "10"];
    let sweep = ["--sweep", "shared[link].part[download 1]=0.5..0.9/5"];
    let studied = dir.path().join("studied.json");
    let mut predict = flowmine();
    predict.arg("predict").arg(repository("crates/predict/examples/evaluation.json")).args(studies).args(sweep);
    expect(predict.arg("-o").arg(&studied), 0);
    pair("flowmine-prediction", studied, &["gains", "segment_gains", "sensitivity", "interval", "sweep", "processes", "notes"]);
    let fitted = dir.path().join("fitted.json");
    expect(flowmine().args(["predict", "--dataset"]).arg(&sources[1]).arg("-o").arg(&fitted), 0);
    pair("flowmine-prediction", fitted, &["learnt", "observed_s", "processes"]);
    for (source, fields) in [(&sources[0], &["jobs", "cases", "warnings"][..]), (&sources[1], &["tasks", "errors"][..])] {
        let out = dir.path().join(format!("out-{}", fields[0]));
        expect(flowmine().args(["run", "--dataset"]).arg(source).arg("--out").arg(&out), 0);
        pair("flowmine-run-summary", out.join("summary.json"), fields);
    }
    validate(&python, dir.path(), pairs);
}

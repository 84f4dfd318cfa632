//! Steps: how far they agree with the logical tasks that engines declare, which are hidden from
//! them, over recorded runs and generated jobs; and the commands that take `--activity step`.

use std::path::{Path, PathBuf};

use crate::support::{expect, flowmine, repository};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The adjusted Rand index of steps from names and commands, and with traces.
fn rand(dataset: &Path, truth: &str) -> [f64; 2] {
    let out = expect(flowmine().args(["evaluate", "--steps", "--truth", truth, "--dataset"]).arg(dataset), 0);
    let out = text(&out.stdout);
    let rows: Vec<f64> = out.lines().skip(1).map(|line| line.split_whitespace().nth(5).unwrap().parse().unwrap()).collect();
    rows.try_into().unwrap_or_else(|_| panic!("{out}"))
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// A recorded run as a dataset with what its engine recorded, correlated where it was traced.
fn recorded(dir: &Path, name: &str, engine: Option<&str>, records: &[&str]) -> PathBuf {
    let dataset = dir.join(name.replace('/', "-"));
    let traced = repository("fixtures").join(name).join("dataset");
    if traced.is_dir() {
        copy(&traced, &dataset);
    }
    if let Some(engine) = engine {
        let root = if traced.is_dir() { repository("fixtures").join(name) } else { repository("crates/extract-workflow/tests/fixtures") };
        let files = records.iter().map(|record| root.join(record));
        flowmine().args(["import", engine, "--dataset"]).arg(&dataset).args(files).output().unwrap();
    }
    if traced.is_dir() {
        flowmine().args(["correlate", "--dataset"]).arg(&dataset).output().unwrap();
    }
    dataset
}

/// The table of `docs/steps.md`: adjusted Rand indices not below these.
#[test]
fn steps_agree_with_logical_tasks() {
    let dir = tempfile::tempdir().unwrap();
    let makeflow = &["flow.makeflow.makeflowlog"][..];
    let mut failed = Vec::new();
    for (name, engine, records, names, traced) in [
        ("workflows/makeflow-local", Some("makeflow"), makeflow, 1.0, 1.0),
        ("workflows/makeflow-slurm", Some("makeflow"), makeflow, 1.0, 1.0),
        ("workflows/makeflow-containers", Some("makeflow"), makeflow, 0.0, 1.0),
        ("workflows/daemon", Some("makeflow"), makeflow, 1.0, 1.0),
        ("workflows/nextflow-local", Some("nextflow"), &["nextflow.log", "trace.txt"][..], 0.2, 1.0),
        ("workflows/nextflow-slurm", Some("nextflow"), &["nextflow.log.1", "nextflow.log"][..], 0.5, 1.0),
        ("workflows/snakemake-slurm", Some("snakemake"), &[".snakemake"][..], 1.0, 1.0),
        ("workflows/airflow-local", None, &[][..], 0.9, 0.9),
        ("workflows/planted", None, &[][..], -0.1, -0.1),
        ("demonstration", Some("makeflow"), &["rnaseq.makeflow.makeflowlog"][..], 1.0, 1.0),
        ("verbose", Some("makeflow"), &["makeflow/verbose.makeflowlog"][..], 0.9, 0.9),
        ("aborted", Some("nextflow"), &["nextflow/local_resumed_cached_aborted.log"][..], 0.9, 0.9),
        ("retried", Some("nextflow"), &["nextflow/slurm_retried_ignored_array.log"][..], 0.9, 0.9),
        ("local_9", Some("snakemake"), &["snakemake/local_9"][..], 0.9, 0.9),
        ("slurm_9", Some("snakemake"), &["snakemake/slurm_9"][..], 0.9, 0.9),
    ] {
        let dataset = recorded(dir.path(), name, engine, records);
        let found = rand(&dataset, "logical-task");
        println!("{name}: {found:?}");
        if found[0] < names || found[1] < traced {
            failed.push((name, found));
        }
    }
    assert!(failed.is_empty(), "{failed:?}");
}

#[test]
fn generated_users_with_names_of_their_own_do_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let (files, dataset) = (dir.path().join("files"), dir.path().join("dataset"));
    expect(flowmine().args(["generate", "--seed", "201", "--users", "12", "--runs", "10", "-o"]).arg(&files), 0);
    let poll = std::fs::read_dir(&files).unwrap().map(|entry| entry.unwrap().path());
    let poll: Vec<PathBuf> = poll.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with("squeue-")).collect();
    expect(flowmine().args(["import", "slurm", "--dataset"]).arg(&dataset).args(&poll), 0);
    let found = rand(&dataset, files.join("truth.csv").to_str().unwrap());
    assert!(found[0] >= 0.95 && found[0] == found[1], "{found:?}");

    // Each command that takes an activity takes this one, and counts the same jobs.
    let listed = expect(flowmine().args(["discover", "steps", "--format", "json", "--dataset"]).arg(&dataset), 0);
    let listed: serde_json::Value = serde_json::from_slice(&listed.stdout).unwrap();
    let steps = listed["steps"].as_array().unwrap();
    let members: u64 = steps.iter().map(|step| step["jobs"].as_u64().unwrap()).sum();
    assert_eq!(Some(members), listed["jobs"].as_u64());
    assert!(steps.iter().any(|step| step["users"].as_array().unwrap().len() > 1), "{listed}");
    let table = expect(flowmine().args(["discover", "steps", "--table", "members", "--format", "csv", "--dataset"]).arg(&dataset), 0);
    assert_eq!(text(&table.stdout).lines().count() as u64, members + 1);
    let summary = expect(flowmine().args(["discover", "summary", "--activity", "step", "--format", "json", "--dataset"]).arg(&dataset), 0);
    let summary: serde_json::Value = serde_json::from_slice(&summary.stdout).unwrap();
    assert_eq!(summary["activities"].as_array().unwrap().len(), steps.len());
    for model in ["dfg", "variants", "tree", "dotted-chart", "batches", "handover"] {
        expect(flowmine().args(["discover", model, "--activity", "step", "--case-notion", "session", "--dataset"]).arg(&dataset), 0);
    }
    let mut compare = flowmine();
    compare.args(["discover", "compare", "--activity", "step", "--user", "user00", "--with-user", "user01", "--format", "json"]);
    let compared = text(&expect(compare.arg("--dataset").arg(&dataset), 0).stdout);
    assert!(compared.contains("user user00") && compared.contains("user user01"), "{compared}");
    let refused = expect(flowmine().args(["discover", "ocdfg", "--activity", "step", "--dataset"]).arg(&dataset), 2);
    assert!(text(&refused.stderr).contains("a step is of jobs or tasks"));
}

//! Runs that nobody declared: generated, imported, found and compared with the truth, by commands.

use std::path::Path;

use crate::support::{expect, flowmine, repository};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The F1 of each notion that `evaluate` prints.
fn f1(dataset: &Path, truth: &str) -> std::collections::BTreeMap<String, f64> {
    let out = expect(flowmine().arg("evaluate").arg("--dataset").arg(dataset).args(["--truth", truth]), 0);
    let out = text(&out.stdout);
    let rows = out.lines().skip(1).take_while(|line| !line.is_empty());
    rows.map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        (fields[0].to_owned(), fields[3].parse().unwrap())
    })
    .collect()
}

#[test]
fn generated_runs_are_found_without_a_declaration() {
    let dir = tempfile::tempdir().unwrap();
    let (files, dataset) = (dir.path().join("files"), dir.path().join("dataset"));
    let generated = |to: &Path| {
        let mut generate = flowmine();
        expect(generate.args(["generate", "--seed", "104", "--users", "6", "--runs", "15", "--overlap", "3", "-o"]).arg(to), 0);
        let mut names: Vec<_> = std::fs::read_dir(to).unwrap().map(|entry| entry.unwrap().path()).collect();
        names.sort();
        names.into_iter().filter(|path| !path.file_name().unwrap().to_str().unwrap().starts_with('.')).collect::<Vec<_>>()
    };
    let made = generated(&files);
    let again = generated(&dir.path().join("again"));
    let poll = made.iter().find(|path| path.file_name().unwrap().to_str().unwrap().starts_with("squeue-")).unwrap();
    for (made, again) in made.iter().zip(&again) {
        assert_eq!(std::fs::read(made).unwrap(), std::fs::read(again).unwrap());
    }
    expect(flowmine().args(["import", "slurm", "--dataset"]).arg(&dataset).arg(poll), 0);
    let found = f1(&dataset, files.join("truth.csv").to_str().unwrap());
    assert!(found["session"] >= 0.75, "{found:?}");
    assert!(found.iter().all(|(notion, f1)| notion == "session" || *f1 <= found["session"] + 0.02), "{found:?}");

    // Every command that takes a notion takes this one, and the log says how certain its cases are.
    let log = dir.path().join("log.xes");
    expect(flowmine().args(["export", "--case-notion", "session", "--format", "xes", "--dataset"]).arg(&dataset).arg("-o").arg(&log), 0);
    let log = std::fs::read_to_string(log).unwrap();
    assert_eq!(log.matches("<trace>").count(), log.matches("slurm:case_confidence").count());
    assert!(log.contains("<string key=\"slurm:case_strength\" value=\"inferred\"/>"));
    let tables = expect(flowmine().args(["correlate", "--case-notion", "session", "--dataset"]).arg(&dataset), 0);
    let cases = text(&tables.stdout).lines().find_map(|line| line.strip_prefix("session: ")?.strip_suffix(" cases")?.parse().ok());
    assert_eq!(cases, Some(log.matches("<trace>").count()));
    for command in [&["discover", "dfg"][..], &["discover", "variants"], &["discover", "waits"]] {
        let mut discover = flowmine();
        discover.args(command).args(["--case-notion", "session", "--format", "json", "--dataset"]).arg(&dataset);
        expect(&mut discover, 0);
    }
}

#[test]
fn runs_of_the_recorded_cluster_by_a_table_and_by_a_notion() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = dir.path().join("dataset");
    expect(flowmine().args(["import", "slurm", "--dataset"]).arg(&dataset).arg(repository("fixtures/case-study/polls")), 0);
    let truth = repository("fixtures/case-study/truth.tsv");
    let found = f1(&dataset, truth.to_str().unwrap());
    // Three users begin 40 workflows in a minute and a half, so times show little.
    assert!(found["auto"] > found["session"] && found["session"] > found["gap-max"], "{found:?}");
    let of_itself = f1(&dataset, "dependency");
    assert_eq!(of_itself["dependency"], 1.0);
    let missing = expect(flowmine().args(["evaluate", "--truth", "no-such-file", "--dataset"]).arg(&dataset), 2);
    assert!(text(&missing.stderr).contains("no-such-file"), "{}", text(&missing.stderr));
}

#[test]
fn recorded_runs_of_engines_are_found_whole() {
    for engine in ["nextflow", "makeflow", "snakemake"] {
        let dataset = repository(&format!("fixtures/workflows/{engine}-slurm/dataset"));
        let found = f1(&dataset, "engine-run");
        // One case of all jobs: no pair of them is in a case of its own job.
        assert_eq!((found["engine-run"], found["session"], found["job"]), (1.0, 1.0, 0.0), "{engine}: {found:?}");
        let cases = expect(flowmine().args(["evaluate", "--truth", "engine-run", "--notion", "engine-run", "--dataset"]).arg(&dataset), 0);
        let cases = text(&cases.stdout).lines().nth(1).and_then(|line| line.split_whitespace().nth(6)?.parse::<u32>().ok());
        assert_eq!(cases, Some(1), "{engine}");
    }
}

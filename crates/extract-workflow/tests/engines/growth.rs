//! Files of every engine that are imported while they grow, and again: the dataset is as if they
//! had been imported once, when they were whole.

use std::fs;
use std::path::{Path, PathBuf};

use flowmine_dataset::{Dataset, DatasetError};
use flowmine_extract_workflow::airflow::Airflow;
use flowmine_extract_workflow::import_files::import_files;
use flowmine_extract_workflow::makeflow::Makeflow;
use flowmine_extract_workflow::nextflow::Nextflow;
use flowmine_extract_workflow::snakemake::Snakemake;
use flowmine_extract_workflow::taskvine::TaskVine;
use flowmine_extract_workflow::{Engine, Options, Row};
use flowmine_schema::tables::{DiagnosticRow, TaskRun};

/// What lies in a fixture, by paths relative to it.
fn files(dir: &Path, below: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir.join(below)).unwrap() {
        let path = below.join(entry.unwrap().file_name());
        if dir.join(&path).is_dir() { files(dir, &path, found) } else { found.push(path) }
    }
    found.sort();
}

/// The rows in an order that does not depend on when they were written, and what was said.
fn told(dataset: &Dataset) -> (Vec<Row>, Vec<String>) {
    let (mut rows, mut said) = (Vec::new(), Vec::new());
    let read = dataset.read::<TaskRun<'static>, DatasetError>(|row| {
        rows.push(row.into_owned());
        Ok(())
    });
    read.unwrap();
    let read = dataset.read::<DiagnosticRow<'static>, DatasetError>(|row| {
        said.push(format!("{} {:?} {}", row.input, row.line, row.message));
        Ok(())
    });
    read.unwrap();
    rows.sort_by_key(|row| (row.source.to_string(), row.line, row.name.to_string(), row.attempt));
    said.sort();
    (rows, said)
}

/// Imports a fixture as it was when its growing files had so much of their bytes, in steps.
fn grow(engine: &dyn Engine, fixture: &str, growing: &[&str], steps: &[f64]) {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(fixture);
    let mut all = Vec::new();
    files(&fixture, Path::new(""), &mut all);
    let root = tempfile::tempdir().unwrap();
    let place = root.path().join("place");
    let dataset = Dataset::open_or_create(&root.path().join("grown")).unwrap();
    let options = Options { zone_offset_s: Some(0), year: Some(2024) };
    let mut replaced = 0;
    for part in steps {
        for file in &all {
            let bytes = fs::read(fixture.join(file)).unwrap();
            let grows = growing.iter().any(|end| file.to_str().unwrap().ends_with(end));
            let end = if grows { (bytes.len() as f64 * part) as usize } else { bytes.len() };
            fs::create_dir_all(place.join(file).parent().unwrap()).unwrap();
            fs::write(place.join(file), &bytes[..end]).unwrap();
        }
        let report = import_files(&dataset, engine, std::slice::from_ref(&place), &options).unwrap();
        assert!(report.sources.iter().all(|source| !source.diagnostics.iter().any(|d| d.code == "source_missing")));
        replaced += report.grown;
    }
    // Once more as it is.
    import_files(&dataset, engine, std::slice::from_ref(&place), &options).unwrap();
    let at_once = Dataset::open_or_create(&root.path().join("at once")).unwrap();
    import_files(&at_once, engine, std::slice::from_ref(&place), &options).unwrap();
    assert!(replaced > 0, "nothing has grown");
    assert!(!told(&at_once).0.is_empty());
    assert_eq!(told(&dataset), told(&at_once));
}

const STEPS: [f64; 7] = [0.02, 0.1, 0.3, 0.55, 0.7, 0.8, 1.0];

#[test]
fn taskvine() {
    grow(&TaskVine, "taskvine/2026-03-01T080000", &["transactions"], &STEPS);
}

#[test]
fn makeflow() {
    grow(&Makeflow, "makeflow", &[".makeflowlog"], &STEPS);
}

#[test]
fn snakemake() {
    for run in ["local_9", "interrupted_9", "slurm_retried_9", "cluster_7"] {
        grow(&Snakemake, &format!("snakemake/{run}"), &[".snakemake.log"], &STEPS);
    }
}

#[test]
fn airflow() {
    for version in ["2.11.2", "3.3.2"] {
        grow(&Airflow, &format!("airflow/{version}"), &[".log"], &STEPS);
    }
}

#[test]
fn nextflow() {
    grow(&Nextflow, "nextflow", &[".log", ".trace.txt"], &STEPS);
}

/// Two directories whose files have the same names, and one of them the same bytes.
#[test]
fn directories_that_share_a_file_stay_apart() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/makeflow");
    let root = tempfile::tempdir().unwrap();
    let dataset = Dataset::open_or_create(&root.path().join("dataset")).unwrap();
    let workflow = fs::read(fixtures.join("words.json")).unwrap();
    for (place, log) in [("one", "words.jx.makeflowlog"), ("two", "plain.makeflowlog")] {
        let place = root.path().join(place);
        fs::create_dir(&place).unwrap();
        // The workflow is there first, and alone.
        fs::write(place.join("words.json"), &workflow).unwrap();
        import_files(&dataset, &Makeflow, std::slice::from_ref(&place), &Options::default()).unwrap();
        fs::copy(fixtures.join(log), place.join("words.makeflowlog")).unwrap();
        import_files(&dataset, &Makeflow, std::slice::from_ref(&place), &Options::default()).unwrap();
    }
    let (rows, _) = told(&dataset);
    let logs: std::collections::BTreeSet<_> = rows.iter().map(|row| row.source_sha256.clone()).collect();
    assert_eq!(logs.len(), 2, "the rows of both logs are there");
}

//! Files of workflow engines (`flowmine-extract-workflow`): a folder with what an engine leaves is
//! found, recognised and read as by `import`.
//!
//! An input is files, [`BETWEEN`] between them. The first byte of each says what it is called,
//! which for some engines says what it is.

use std::fs;
use std::path::{Path, PathBuf};

use flowmine_dataset::Builder;
use flowmine_extract_workflow::airflow::Airflow;
use flowmine_extract_workflow::argo::Argo;
use flowmine_extract_workflow::kubernetes::Kubernetes;
use flowmine_extract_workflow::makeflow::Makeflow;
use flowmine_extract_workflow::nextflow::Nextflow;
use flowmine_extract_workflow::ro_crate::RoCrate;
use flowmine_extract_workflow::snakemake::Snakemake;
use flowmine_extract_workflow::taskvine::TaskVine;
use flowmine_extract_workflow::transform::Transform;
use flowmine_extract_workflow::wfformat::WfFormat;
use flowmine_extract_workflow::{Engine, Options, Source};
use flowmine_schema::diagnostic::Diagnostics;
use flowmine_schema::tables::TaskRun;

use crate::{BETWEEN, ENGINES, Seeds, file_of, folder, from, reached};

const NEXTFLOW: &str = "crates/extract-workflow/tests/fixtures/nextflow";
const SNAKEMAKE: &str = "crates/extract-workflow/tests/fixtures/snakemake";
const MAKEFLOW: &str = "crates/extract-workflow/tests/fixtures/makeflow";
const RECORDED: &str = "fixtures/workflows";

/// See [`nextflow`].
pub const NEXTFLOW_SEEDS: &[Seeds] = &[
    from(b"\0", NEXTFLOW, ".log"),
    from(b"\0", RECORDED, "nextflow.log"),
    from(b"\x01", NEXTFLOW, ".trace.txt"),
    from(b"\x01", RECORDED, "trace.txt"),
    from(b"\x02", "fuzz/seeds", "history"),
    from(b"\x03", "fuzz/seeds", "report.html"),
    from(b"\x04", "fuzz/seeds", "command.run"),
    from(b"\x0b", "fuzz/seeds", "dag.dot"),
    from(b"\x0c", "fuzz/seeds", "dag.mmd"),
    from(b"\x0d", "fuzz/seeds", "dag.html"),
    from(b"\x01", "fuzz/seeds", "trace-and.dag"),
];

/// See [`snakemake`].
pub const SNAKEMAKE_SEEDS: &[Seeds] = &[
    from(b"\0", SNAKEMAKE, ".log"),
    from(b"\0", SNAKEMAKE, ".txt"),
    from(b"\x01", SNAKEMAKE, ".out"),
    from(b"\x01", "crates/extract-workflow/tests/fixtures/snakemake/slurm_9/.snakemake/slurm_logs", ".log"),
    from(b"\x02", SNAKEMAKE, ".tsv"),
    from(b"\x03", "crates/extract-workflow/tests/fixtures/snakemake/local_9/.snakemake/metadata", ""),
];

/// See [`makeflow`].
pub const MAKEFLOW_SEEDS: &[Seeds] = &[
    from(b"\0", MAKEFLOW, ".makeflowlog"),
    from(b"\0", RECORDED, ".makeflowlog"),
    from(b"\x01", MAKEFLOW, ".json"),
    from(b"\x02", MAKEFLOW, ".summary"),
    from(b"\x03", MAKEFLOW, ".series"),
];

/// See [`airflow`].
pub const AIRFLOW_SEEDS: &[Seeds] =
    &[from(b"\0", ENGINES, "attempt=1.log"), from(b"\x01", ENGINES, "scheduler_coloured.log"), from(b"\x02", ENGINES, "postgres.jsonl")];

/// See [`kubernetes`].
pub const KUBERNETES_SEEDS: &[Seeds] = &[
    from(b"\0", "crates/extract-workflow/tests/fixtures/kubernetes", ".json"),
    from(b"\0", "crates/extract-workflow/tests/fixtures/kubernetes", ".jsonl"),
    from(b"\0", "crates/extract-workflow/tests/fixtures/argo", ".json"),
];

/// See [`wfformat`].
pub const WFFORMAT_SEEDS: &[Seeds] = &[
    from(b"\0", "crates/extract-workflow/tests/fixtures/wfformat", ".json"),
    from(b"\x01", "crates/extract-workflow/tests/fixtures/transform", ".record"),
];

/// Nextflow's log, trace file, history, report, work directory and graph of processes.
pub fn nextflow(bytes: &[u8]) {
    let work = |name: &str| format!("work/19/2c652600000000000000000000000000/{name}");
    let names = [
        ".nextflow.log".to_owned(),
        "trace.txt".to_owned(),
        ".nextflow/history".to_owned(),
        "report.html".to_owned(),
        work(".command.run"),
        work(".command.sh"),
        work(".command.trace"),
        work(".command.log"),
        work(".exitcode"),
        work(".command.begin"),
        ".nextflow.log.1".to_owned(),
        "dag.dot".to_owned(),
        "dag.mmd".to_owned(),
        "dag.html".to_owned(),
    ];
    read(&[&Nextflow], &names, bytes);
}

/// Snakemake's log, those of its jobs on Slurm, benchmarks and metadata.
pub fn snakemake(bytes: &[u8]) {
    let names = [
        ".snakemake/log/2026-11-22T055551.780281.snakemake.log",
        ".snakemake/slurm_logs/rule_count/21.log",
        "benchmarks/count.a.tsv",
        ".snakemake/metadata/Y291bnRzL2EuYnl0ZXM=",
        ".snakemake/log/2026-11-22T055559.780281.snakemake.log",
        ".snakemake/metadata/dG90YWwudHh0",
    ];
    read(&[&Snakemake], &names.map(str::to_owned), bytes);
}

/// Makeflow's log, its workflow as JSON, and what its monitor writes.
pub fn makeflow(bytes: &[u8]) {
    let names = [
        "words.makeflow.makeflowlog",
        "words.json",
        "resource-rule-0.summary",
        "resource-rule-0.series",
        "resource-rule-1.summary",
        "monitor/resource-rule-1.series",
    ];
    read(&[&Makeflow], &names.map(str::to_owned), bytes);
}

/// Airflow's logs, and what its database gives by way of psql.
pub fn airflow(bytes: &[u8]) {
    let names = [
        "dag_id=known_work/run_id=manual__1/task_id=choose/attempt=1.log",
        "scheduler.log",
        "postgres.jsonl",
        "dag_id=known_work/run_id=manual__1/task_id=part/map_index=1/attempt=2.log",
        "some.log",
    ];
    read(&[&Airflow], &names.map(str::to_owned), bytes);
}

/// Airflow's database in SQLite.
pub fn airflow_sqlite(bytes: &[u8]) {
    let Some(path) = file_of(bytes) else { return };
    let Some(kind) = Airflow.recognise(&path, &bytes[..bytes.len().min(1 << 16)]) else { return };
    take(&Airflow, vec![source(path, kind)]);
}

/// Kubernetes' objects and Argo's workflows.
pub fn kubernetes(bytes: &[u8]) {
    let names = ["objects.json", "watch.json"];
    read(&[&Kubernetes, &Argo], &names.map(str::to_owned), bytes);
}

/// WfFormat, and records of transformed tasks.
pub fn wfformat(bytes: &[u8]) {
    let names = ["run.json", "t_0a52708a8048567d.record", "t_d39b03810c0718a6.record"];
    read(&[&WfFormat, &Transform], &names.map(str::to_owned), bytes);
}

/// Metadata of crates.
pub fn ro_crate(bytes: &[u8]) {
    let names = ["ro-crate-metadata.json", "other.json"];
    read(&[&RoCrate], &names.map(str::to_owned), bytes);
}

/// Logs of TaskVine's managers, in a directory of runs and elsewhere.
pub fn taskvine(bytes: &[u8]) {
    let names = ["vine-logs/transactions", "2026-03-01T080000/vine-logs/transactions", "vine-logs/performance", "some.log"];
    read(&[&TaskVine], &names.map(str::to_owned), bytes);
}

fn source(path: PathBuf, kind: &'static str) -> Source {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Source { path, name, kind, sha256: String::new(), rows: 0, joined: 0, diagnostics: Diagnostics::default() }
}

/// Puts the files into a folder and reads it with each engine.
fn read(engines: &[&dyn Engine], names: &[String], bytes: &[u8]) {
    let dir = folder().join("run");
    let _ = fs::remove_dir_all(&dir);
    for (number, file) in bytes.split(|byte| *byte == BETWEEN).take(8).enumerate() {
        let Some((first, file)) = file.split_first() else { continue };
        // Two of one name are two, where the name says nothing.
        let name = &names[usize::from(*first) % names.len()];
        let path = dir.join(name);
        let path = if path.exists() { dir.join(format!("{number}.{}", name.rsplit('/').next().unwrap_or_default())) } else { path };
        let made = path.parent().map(fs::create_dir_all);
        if made.is_none_or(|made| made.is_err()) || fs::write(path, file).is_err() {
            return;
        }
    }
    for engine in engines {
        let Ok(mut found) = engine.find(&dir) else { continue };
        found.sort();
        let sources = found.into_iter().filter_map(|path| Some(source(path.clone(), engine.recognise(&path, &head(&path))?)));
        take(*engine, sources.collect());
    }
}

fn head(path: &Path) -> Vec<u8> {
    let mut head = if path.is_dir() { Vec::new() } else { fs::read(path).unwrap_or_default() };
    head.truncate(1 << 16);
    head
}

/// Reads the sources, with and without a zone, and makes a table of what they tell.
fn take(engine: &dyn Engine, mut sources: Vec<Source>) {
    let kinds: Vec<&'static str> = sources.iter().map(|source| source.kind).collect();
    let again = sources.iter().map(|one| source(one.path.clone(), one.kind)).collect();
    let rows = engine.read(&mut sources, &Options::default());
    let mut table: Builder<TaskRun<'static>> = Builder::new();
    rows.iter().for_each(|row| table.push(row));
    for source in &sources {
        source.diagnostics.iter().for_each(|diagnostic| {
            diagnostic.row(&source.name);
        });
    }
    // What was refused has lost its kind.
    for kind in kinds {
        reached(sources.iter().any(|source| source.kind == kind), kind);
    }
    let mut again: Vec<Source> = again;
    let options = Options { zone_offset_s: Some(-5 * 3600), year: Some(2024) };
    engine.read(&mut again, &options);
}

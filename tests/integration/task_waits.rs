//! What tasks of workflow engines waited for: the same parts as along the critical path.

use std::collections::BTreeMap;
use std::path::PathBuf;

use flowmine_activity_log::{RunGraph, WaitKind};
use flowmine_correlate::Filter;
use flowmine_dataset::Dataset;
use flowmine_discover::critical_path::{self, After, CriticalPath, task_waits};
use flowmine_logs::run_graph::{self, RunPart};
use flowmine_logs::task_log::Tasks;
use flowmine_privacy::RowRules;
use serde_json::Value;

use crate::support::{expect, flowmine, repository};
use crate::waits::discovered;

/// Times by cause.
type Times = BTreeMap<&'static str, i64>;

/// Of each task whose name is its own the time before its start by cause; tiled without gaps.
fn by_task(run: &RunGraph) -> BTreeMap<String, Times> {
    let mut found: BTreeMap<String, Vec<Times>> = BTreeMap::new();
    task_waits::for_each(run, |task| {
        assert!(task.parts.windows(2).all(|two| two[0].to_ns == two[1].from_ns) || has_inexact_clocks(run), "{task:?}");
        let mut times = Times::new();
        for part in task.parts.iter().filter(|part| !matches!(part.kind, WaitKind::Started | WaitKind::Predecessor)) {
            *times.entry(part.cause).or_default() += part.len_ns();
        }
        found.entry(task.job.to_owned()).or_default().push(times);
    });
    found.into_iter().filter(|(_, of)| of.len() == 1).map(|(name, mut of)| (name, of.remove(0))).collect()
}

fn has_inexact_clocks(run: &RunGraph) -> bool {
    run.tasks.iter().any(|task| task.precision_ns > 0 || task.order_precision_ns > 0)
}

/// Compares the tasks on a path with their waits; returns the number that was compared.
fn compare(path: &CriticalPath, waits: &BTreeMap<String, Times>) -> usize {
    let mut compared = 0;
    for step in path.path.iter().filter(|step| step.after != After::Beside) {
        let Some(wait) = waits.get(&step.task).filter(|_| step.parts.iter().all(|part| part.time_ns >= 0)) else { continue };
        let mut times = Times::new();
        for part in &step.parts {
            let cause = task_waits::cause_name(part.part);
            if cause != "running" && cause != "turnaround" {
                *times.entry(cause).or_default() += part.time_ns;
            }
        }
        assert_eq!(&times, wait, "{}: {step:?}", path.run);
        compared += 1;
    }
    compared
}

#[test]
fn parts_along_every_critical_path_are_those_of_the_waits() {
    let dir = tempfile::tempdir().unwrap();
    let workflows = repository("fixtures/workflows");
    let engines = repository("crates/extract-workflow/tests/fixtures");
    let import = |name: &str, arguments: &[&str], inputs: &[PathBuf]| {
        let dataset = dir.path().join(name);
        expect(flowmine().arg("import").args(arguments).args(inputs).arg("--dataset").arg(&dataset), 0);
        dataset
    };
    let mut datasets = vec![
        workflows.join("planted/dataset"),
        workflows.join("airflow-local/dataset"),
        workflows.join("snakemake-slurm/dataset"),
        import("nextflow", &["nextflow", "--year", "2026"], &[workflows.join("nextflow-local/nextflow.log")]),
        import("nextflow-slurm", &["nextflow", "--year", "2026"], &[workflows.join("nextflow-slurm/nextflow.log")]),
    ];
    let snakemake = ["local_9", "slurm_9", "slurm_checkpoint_8", "storage_9"].map(|name| engines.join("snakemake").join(name));
    datasets.push(import("snakemake", &["snakemake"], &snakemake));
    for name in ["makeflow-local", "makeflow-slurm", "makeflow-containers", "daemon"] {
        datasets.push(import(name, &["makeflow"], &[workflows.join(name).join("flow.makeflow.makeflowlog")]));
    }
    let (mut compared, mut runs) = (0, 0);
    for dataset in &datasets {
        let dataset = Dataset::open(dataset).unwrap();
        let (rules, filter) = (RowRules::default(), Filter::default());
        let tasks = Tasks::new(&dataset, &rules, &filter);
        for run in run_graph::read_all(&dataset, &tasks).unwrap() {
            let path = critical_path::discover(&run, &critical_path::Options::default());
            // The run alone is the same.
            let alone = run_graph::read(&dataset, &tasks, &filter, RunPart::Run(&run.name)).unwrap();
            let of_alone = critical_path::discover(&alone, &critical_path::Options::default());
            assert_eq!((&path.path, &path.gains, &path.dependencies), (&of_alone.path, &of_alone.gains, &of_alone.dependencies));
            compared += compare(&path, &by_task(&run));
            runs += 1;
        }
    }
    assert!(runs >= 55 && compared >= 150, "{compared} tasks of {runs} runs");
}

#[test]
fn why_a_task_waited() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = dir.path().join("dataset");
    let log = repository("fixtures/workflows/nextflow-local/nextflow.log");
    expect(flowmine().args(["import", "nextflow", "--year", "2026"]).arg(log).arg("--dataset").arg(&dataset), 0);
    let path: Value = serde_json::from_str(&discovered(&dataset, &["critical-path", "--format", "json"])).unwrap();
    let name = path["path"][0]["task"].as_str().unwrap();
    let why = |task: &str, code| {
        let output = expect(flowmine().args(["why", task, "--dataset"]).arg(&dataset), code);
        String::from_utf8(if code == 0 { output.stdout } else { output.stderr }).unwrap()
    };
    let said = why(name, 0);
    assert!(said.starts_with(&format!("Task {name} (")) && said.contains("tasks waited for"), "{said}");
    assert!(why("no such", 2).contains("no such job or task"));
    // The model of the same dataset has tasks, as there are no jobs.
    let found: Value = serde_json::from_str(&discovered(&dataset, &["waits", "--format", "json"])).unwrap();
    assert_eq!(found["of_tasks"], true, "{found}");
    let text = discovered(&dataset, &["waits", "--tasks"]);
    assert!(text.contains("tasks waited") && !text.contains("jobs"), "{text}");
}

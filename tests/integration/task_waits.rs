//! What tasks of workflow engines waited for: the same parts as along the critical path.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use flowmine_activity_log::{RunGraph, WaitKind};
use flowmine_correlate::Filter;
use flowmine_dataset::{Builder, Dataset, Role};
use flowmine_discover::critical_path::{self, After, CriticalPath, task_waits};
use flowmine_logs::run_graph::{self, RunPart};
use flowmine_logs::task_log::Tasks;
use flowmine_privacy::RowRules;
use flowmine_schema::tables::TaskRun;
use serde_json::Value;

use crate::support::{expect, flowmine, repository, waits};
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

/// The rows of tasks in the table `waits` are those of the model, and queue times of other models
/// are the sums of their parts in the queue.
#[test]
fn correlate_writes_the_waits_of_tasks() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = dir.path().join("dataset");
    let workflow = repository("fixtures/workflows/planted/dataset");
    expect(std::process::Command::new("cp").arg("-r").arg(workflow).arg(&dataset), 0);
    for _ in 0..2 {
        expect(flowmine().args(["correlate", "--dataset"]).arg(&dataset), 0);
    }
    let rows: Vec<_> = waits(&dataset).into_iter().filter(|row| row.task.is_some()).collect();
    let opened = Dataset::open(&dataset).unwrap();
    let (rules, filter) = (RowRules::default(), Filter::default());
    let mut expected = Vec::new();
    for run in run_graph::read_all(&opened, &Tasks::new(&opened, &rules, &filter)).unwrap() {
        task_waits::for_each_task(&run, |task| {
            for part in &task.wait.parts {
                let names: Vec<&String> = task.waited_for(part).iter().filter_map(|of| of.attempt_ids.last()).collect();
                let names = (!names.is_empty()).then(|| serde_json::to_string(&names).unwrap());
                expected.push((task.task.attempt_ids.last().cloned(), run.name.clone(), part.cause, part.from_ns, part.to_ns, names));
            }
        });
    }
    let own = |text: &Option<std::borrow::Cow<'_, str>>| text.as_deref().map(str::to_owned);
    let found: Vec<_> = rows
        .iter()
        .map(|row| {
            (own(&row.task), own(&row.run).unwrap_or_default(), row.cause.as_ref(), row.from_ns, row.to_ns, own(&row.predecessor_tasks))
        })
        .collect();
    assert_eq!(found, expected);
    assert!(!found.is_empty() && rows.iter().all(|row| row.job.is_none() && row.cluster.is_none() && row.job_id.is_none()));
}

/// Makes a dataset of a run with these tasks: name, parents, and when each was submitted, started
/// and ended, in seconds.
fn put_tasks(dir: &Path, tasks: &[(&'static str, &'static str, [i64; 3])]) {
    let dataset = Dataset::open_or_create(dir).unwrap();
    let mut writer = dataset.writer(Role::Raw, "test").unwrap();
    let mut transaction = writer.begin().unwrap();
    let mut rows: Builder<TaskRun<'static>> = Builder::new();
    for (name, parents, moments) in tasks {
        let [submitted, started, finished] = moments.map(|at| Some(1_700_000_000_000_000_000 + at * 1_000_000_000));
        rows.push(&TaskRun {
            engine: "test".into(),
            run_name: Some("run".into()),
            task_id: Some((*name).into()),
            name: (*name).into(),
            logical_task: (*name).into(),
            parents: Some((*parents).into()),
            status: "completed".into(),
            submitted_ns: submitted,
            started_ns: started,
            finished_ns: finished,
            ..TaskRun::default()
        });
    }
    transaction.append(rows).unwrap();
    transaction.commit().unwrap();
}

/// A task that its engine submits before its predecessor ends queues from that end on, in every
/// model and in an exported log.
#[test]
fn a_task_that_is_submitted_early_does_not_queue_for_its_predecessor() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("run");
    let file = file.with_extension("xes");
    let dataset = dir.path().join("dataset");
    put_tasks(&dataset, &[("make", "[]", [0, 0, 100]), ("use", "[\"make\"]", [10, 130, 200])]);
    let queued = |arguments: &[&str]| -> Vec<(String, i64)> {
        let output = expect(flowmine().arg("discover").args(arguments), 0);
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        let of = |activity: &Value| Some((activity["name"].as_str()?.to_owned(), activity["queue_s"]["max"].as_f64()? as i64));
        found["activities"].as_array().unwrap().iter().filter_map(of).collect()
    };
    let text = dataset.to_str().unwrap();
    let of_dataset = queued(&["dfg", "--dataset", text, "--format", "json"]);
    assert!(of_dataset.contains(&("use".to_owned(), 30)), "{of_dataset:?}");
    expect(flowmine().args(["export", "--format", "xes", "--dataset", text, "-o"]).arg(&file), 0);
    assert_eq!(queued(&["dfg", "--log", file.to_str().unwrap(), "--format", "json"]), of_dataset);
    let chart: Value = serde_json::from_str(&discovered(&dataset, &["gantt", "--format", "json"])).unwrap();
    let bar = chart["bars"].as_array().unwrap().iter().find(|bar| bar["activity"] == "use").unwrap();
    let moments = ["submitted_ns", "ready_ns", "start_ns"].map(|moment| bar[moment].as_i64().unwrap() / 1_000_000_000);
    assert_eq!(moments.map(|at| at - moments[0]), [0, 90, 120]);
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

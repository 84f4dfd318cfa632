//! One number for each quantity of an instance, in every model and export: queue time and running
//! time, as the glossary defines them, and staging.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

use flowmine_dataset::{Dataset, DatasetError};
use flowmine_schema::tables::TaskRun;

use crate::support::{expect, flowmine, repository};

/// Time of queueing and of running, in nanoseconds.
type Times = (Option<i64>, Option<i64>);

/// The JSON of a model.
fn discovered(model: &str, source: &[&str], activity: &str) -> Value {
    with(model, source, &["--activity", activity])
}

/// The JSON of a model with options.
fn with(model: &str, source: &[&str], options: &[&str]) -> Value {
    let mut command = flowmine();
    command.args(["discover", model, "--format", "json"]).args(options).args(source);
    serde_json::from_slice(&expect(&mut command, 0).stdout).unwrap()
}

/// Nanoseconds from one moment of a bar to another.
fn between(bar: &Value, from: &str, to: &str) -> Option<i64> {
    Some(bar[to].as_i64()? - bar[from].as_i64()?)
}

/// The median of one value, in nanoseconds.
fn time(value: &Value, per_unit: f64) -> Option<i64> {
    let of = ["median_ns", "median"].iter().find_map(|key| value[*key].as_f64()).or(value.as_f64())?;
    Some((of * per_unit).round() as i64)
}

/// Times of each activity with one instance, by model.
fn times(source: &[&str], activity: &str) -> BTreeMap<String, Vec<(String, Times)>> {
    let chart = discovered("gantt", source, activity);
    let bars = chart["bars"].as_array().unwrap();
    let mut found: BTreeMap<String, Vec<(String, Times)>> = BTreeMap::new();
    let mut several = BTreeSet::new();
    for bar in bars {
        let name = bar["activity"].as_str().unwrap().to_owned();
        let running = bar["running_ns"].as_i64();
        assert!(running.is_some() || between(bar, "start_ns", "end_ns").is_none() || bar["status"] == "cached", "{bar}");
        // A bar has the moment at which it was ready only where it queued.
        let queued = between(bar, "ready_ns", "start_ns");
        if found.insert(name.clone(), vec![("gantt".to_owned(), (queued, running))]).is_some() {
            several.insert(name);
        }
    }
    for (model, queue, service, unit) in
        [("summary", "queue", "service", 1.0), ("lifecycle", "queue_ns", "service_ns", 1.0), ("dfg", "queue_s", "service_s", 1e9)]
    {
        for of in discovered(model, source, activity)["activities"].as_array().unwrap() {
            let name = of.get("activity").or(of.get("name")).unwrap().as_str().unwrap();
            let Some(models) = found.get_mut(name) else { continue };
            let queued = time(&of[queue], unit).filter(|ns| *ns != 0 || models[0].1.0.is_some());
            models.push((model.to_owned(), (queued, time(&of[service], unit))));
        }
    }
    let resources = discovered("resources", source, activity);
    let by_activity = resources["by"].as_array().unwrap().iter().find(|by| by["name"] == "activity");
    for of in by_activity.map(|by| by["rows"].as_array().unwrap()).into_iter().flatten() {
        let Some(models) = found.get_mut(of["value"].as_str().unwrap()) else { continue };
        let queued = models[0].1.0;
        models.push(("resources".to_owned(), (queued, of["elapsed_ns"].as_i64())));
    }
    found.retain(|name, _| !several.contains(name));
    found
}

/// A dataset of sources.
fn imported(dir: &Path, name: &str, arguments: &[&str], inputs: &[PathBuf]) -> PathBuf {
    let dataset = dir.join(name);
    expect(flowmine().arg("import").args(arguments).args(inputs).arg("--dataset").arg(&dataset), 0);
    dataset
}

#[test]
fn each_instance_has_one_queue_time_and_one_running_time() {
    let dir = tempfile::tempdir().unwrap();
    let workflows = repository("fixtures/workflows");
    let engines = repository("crates/extract-workflow/tests/fixtures");
    let local = ["nextflow.log", "trace.txt"].map(|file| workflows.join("nextflow-local").join(file));
    let slurm = ["slurm", "--cluster", "c", "--zone", "+00:00"];
    let datasets = [
        (imported(dir.path(), "nextflow", &["nextflow", "--year", "2026"], &local), "name"),
        (imported(dir.path(), "raw", &["nextflow"], &[engines.join("nextflow/raw_with_script.trace.txt")]), "name"),
        (imported(dir.path(), "snakemake", &["snakemake"], &["local_9", "slurm_9"].map(|of| engines.join("snakemake").join(of))), "name"),
        (imported(dir.path(), "makeflow", &["makeflow"], &[workflows.join("makeflow-slurm/flow.makeflow.makeflowlog")]), "name"),
        (imported(dir.path(), "taskvine", &["taskvine"], &[engines.join("taskvine/2026-03-01T080000")]), "name"),
        (imported(dir.path(), "sacct", &slurm, &[repository("fixtures/import/sacct_recording.txt")]), "job"),
    ];
    let (mut instances, mut measured) = (0, 0);
    for (dataset, activity) in &datasets {
        let mut found = times(&["--dataset", dataset.to_str().unwrap()], activity);
        for format in ["xes", "csv", "parquet"] {
            let log = dataset.with_extension(format);
            let mut export = flowmine();
            export.args(["export", "--format", format, "--dataset"]).arg(dataset).arg("-o").arg(&log);
            expect(&mut export, 0);
            let attribute = if *activity == "job" { "slurm:job" } else { "task:name" };
            for (name, models) in times(&["--log", log.to_str().unwrap()], attribute) {
                let models = models.into_iter().map(|(model, times)| (format!("{model} of {format}"), times));
                found.get_mut(&name).unwrap_or_else(|| panic!("{name} of {}", log.display())).extend(models);
            }
        }
        for (name, models) in &found {
            let (first, others) = models.split_first().unwrap();
            for other in others {
                // Floating-point seconds have the digits of a microsecond.
                let same = |a: Option<i64>, b: Option<i64>| a == b || a.zip(b).is_some_and(|(a, b)| (a - b).abs() < 1000);
                assert!(same(first.1.0, other.1.0) && same(first.1.1, other.1.1), "{name} of {}: {models:?}", dataset.display());
            }
            instances += 1;
            measured += usize::from(first.1.1.is_some());
        }
    }
    assert!(instances >= 20 && measured >= 12, "{instances} {measured}");
}

/// The ids of the runs of a dataset.
fn runs(dataset: &Path) -> BTreeSet<String> {
    let mut runs = BTreeSet::new();
    let read = Dataset::open(dataset).unwrap().read::<TaskRun<'static>, DatasetError>(|row| {
        runs.extend(row.run_id.or(row.run_name).map(|run| run.into_owned()));
        Ok(())
    });
    read.unwrap();
    runs
}

/// Bars of the chart that have no other with this key.
fn single<'b, K: Ord>(bars: &'b [Value], key: impl Fn(&'b Value) -> K) -> BTreeMap<K, &'b Value> {
    let mut of: BTreeMap<K, Vec<&Value>> = BTreeMap::new();
    for bar in bars {
        of.entry(key(bar)).or_default().push(bar);
    }
    of.into_iter().filter_map(|(key, bars)| Some((key, *bars.first().filter(|_| bars.len() == 1)?))).collect()
}

/// The critical path has the parts of a task's time, and the waits have its queue time. Both count
/// tasks, where the chart counts attempts, so tasks with one attempt are compared.
#[test]
fn waits_and_the_critical_path_have_the_times_of_the_chart() {
    let dir = tempfile::tempdir().unwrap();
    let workflows = repository("fixtures/workflows");
    let engines = repository("crates/extract-workflow/tests/fixtures");
    let datasets = [
        workflows.join("planted/dataset"),
        workflows.join("airflow-local/dataset"),
        workflows.join("snakemake-slurm/dataset"),
        imported(dir.path(), "raw", &["nextflow"], &[engines.join("nextflow/raw_with_script.trace.txt")]),
        imported(dir.path(), "local", &["snakemake"], &[engines.join("snakemake/local_9")]),
        imported(dir.path(), "slurm", &["snakemake"], &[engines.join("snakemake/slurm_9")]),
        imported(dir.path(), "taskvine", &["taskvine"], &[engines.join("taskvine/2026-03-01T080000")]),
        imported(
            dir.path(),
            "nextflow",
            &["nextflow", "--year", "2026"],
            &["nextflow.log", "trace.txt"].map(|of| workflows.join("nextflow-local").join(of)),
        ),
    ];
    let (mut waits, mut steps, mut measured) = (0, 0, 0);
    for dataset in &datasets {
        let source = ["--dataset", dataset.to_str().unwrap()];
        let chart = with("gantt", &source, &[]);
        let bars = chart["bars"].as_array().unwrap();
        let of_activity = single(bars, |bar| bar["activity"].as_str().unwrap());
        let found = with("waits", &source, &[]);
        let by_activity = found["by"].as_array().unwrap().iter().find(|by| by["name"] == "activity");
        for row in by_activity.map(|by| by["rows"].as_array().unwrap()).into_iter().flatten().filter(|row| row["jobs"] == 1) {
            let Some(bar) = of_activity.get(row["value"].as_str().unwrap()) else { continue };
            assert_eq!(row["queue_ns"].as_i64(), Some(between(bar, "ready_ns", "start_ns").unwrap_or(0)), "{row} {bar}");
            waits += 1;
        }
        let of_task = single(bars, |bar| ["job", "task", "tag", "work_dir"].map(|key| bar[key].to_string()));
        for run in runs(dataset) {
            let path = with("critical-path", &source, &["--run", &run]);
            let path_began = path["begin_ns"].as_i64().unwrap_or_default();
            let path = path["path"].as_array().unwrap();
            for (at, step) in path.iter().enumerate() {
                let next = path.get(at + 1);
                let Some(bar) = of_task.get(&["job", "task", "tag", "work_dir"].map(|key| step["who"][key].to_string())) else { continue };
                let parts: BTreeMap<&str, i64> = step["parts"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|part| (part["part"].as_str().unwrap(), part["time_ns"].as_i64().unwrap()))
                    .collect();
                // The whole time is one part if the start is not known, and counts up to the start
                // of a task that overlapped it.
                if parts.contains_key("turnaround") || next.is_some_and(|next| next["after"] == "beside") || step["after"] == "beside" {
                    continue;
                }
                let time = |names: &[&str]| names.iter().filter_map(|name| parts.get(name)).sum::<i64>();
                // A start before the end of what the task waited for is moved there.
                let early = path_began + step["from_ns"].as_i64().unwrap() - bar["start_ns"].as_i64().unwrap();
                let whole = between(bar, "start_ns", "end_ns").unwrap() - early.max(0);
                let running = bar["running_ns"].as_i64().unwrap();
                // The parts add up to the makespan, so none is longer than from start to end.
                assert_eq!(time(&["read", "write", "compute", "run"]), running.min(whole), "{step} {bar}");
                assert_eq!(time(&["overhead"]), whole - running.min(whole), "{step} {bar}");
                assert_eq!(time(&["queue"]), between(bar, "ready_ns", "start_ns").unwrap_or(0), "{step} {bar}");
                steps += 1;
                measured += usize::from(running != whole);
            }
        }
    }
    assert!(waits >= 20 && steps >= 10 && measured >= 5, "{waits} {steps} {measured}");
}

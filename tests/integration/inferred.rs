//! Probable predecessors of tasks, on runs whose dependencies are known and are hidden here.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use flowmine_correlate::Filter;
use flowmine_dataset::{Dataset, DatasetError};
use flowmine_discover::{critical_path, inferred};
use flowmine_logs::run_graph::{self, RunPart};
use flowmine_logs::task_log::Tasks;
use flowmine_privacy::RowRules;
use flowmine_schema::tables::TaskRun;
use serde_json::Value as Json;

use crate::support::{expect, flowmine, repository};

/// The runs of a dataset by their ids, or their names.
fn runs(dataset: &Path) -> BTreeSet<String> {
    let mut runs = BTreeSet::new();
    let read = Dataset::open(dataset).unwrap().read::<TaskRun<'static>, DatasetError>(|row| {
        runs.extend(row.run_id.or(row.run_name).map(|run| run.into_owned()));
        Ok(())
    });
    read.unwrap();
    runs
}

/// How many dependencies were inferred, how many of these are right, and how many there are.
#[derive(Debug, Default)]
struct Score {
    runs: usize,
    inferred: usize,
    right: usize,
    all: usize,
}

impl Score {
    /// Hides what is known of a run, and infers it.
    fn add(&mut self, dataset: &Path, run: &str) {
        let dataset = Dataset::open(dataset).unwrap();
        let (rules, filter) = (RowRules::default(), Filter::default());
        let tasks = Tasks::new(&dataset, &rules, &filter);
        let mut graph = run_graph::read(&dataset, &tasks, &filter, RunPart::Run(run)).unwrap();
        let known: BTreeSet<(u32, u32)> = graph
            .declared
            .iter()
            .map(|of| (of.from, of.to))
            .chain(graph.flows.iter().filter_map(|flow| flow.pair()))
            .filter(|(from, to)| from != to)
            .collect();
        if known.is_empty() {
            return;
        }
        // What times alone state is right for the known dependencies.
        let whole = critical_path::discover(&graph, &critical_path::Options::default());
        graph.declared.clear();
        graph.flows.clear();
        for task in &mut graph.tasks {
            (task.parents_known, task.traced) = (false, false);
        }
        let hidden = critical_path::discover(&graph, &critical_path::Options::default());
        if let Some(most) = hidden.most_span_ns {
            assert!(hidden.span_ns <= whole.span_ns, "{}: the lower bound of {run}", whole.span_ns);
            assert!(whole.span_ns <= most || whole.dependencies.beside > 0, "{} of {most}: the upper bound of {run}", whole.span_ns);
        }
        let pairs: Vec<(u32, u32)> = inferred::predecessors(&graph).iter().map(|of| (of.from, of.to)).collect();
        self.runs += 1;
        self.inferred += pairs.len();
        self.right += pairs.iter().filter(|pair| known.contains(pair)).count();
        self.all += known.len();
    }
}

fn imported(engine: &str, inputs: &[PathBuf], dir: &Path) -> PathBuf {
    let dataset = dir.join(engine);
    expect(flowmine().args(["import", engine]).args(inputs).arg("--dataset").arg(&dataset), 0);
    dataset
}

/// What is inferred of recorded runs is right as often as the confidence states.
#[test]
fn what_is_inferred_is_right_as_often_as_stated() {
    let dir = tempfile::tempdir().unwrap();
    let workflows = repository("fixtures/workflows");
    let engines = repository("crates/extract-workflow/tests/fixtures");
    let mut datasets: Vec<PathBuf> =
        ["planted", "airflow-local", "snakemake-slurm"].map(|name| workflows.join(name).join("dataset")).into();
    datasets.push(imported("nextflow", &["nextflow.log", "trace.txt"].map(|name| workflows.join("nextflow-local").join(name)), dir.path()));
    let snakemake = ["local_9", "slurm_9", "slurm_checkpoint_8", "storage_9"].map(|name| engines.join("snakemake").join(name));
    datasets.push(imported("snakemake", &snakemake, dir.path()));
    let mut score = Score::default();
    for dataset in &datasets {
        for run in runs(dataset) {
            score.add(dataset, &run);
        }
    }
    assert!(score.runs >= 20, "{score:?}");
    let needed = f64::from(inferred::CONFIDENCE_PERCENT) / 100.0;
    assert!(score.right as f64 >= needed * score.inferred as f64, "{score:?}");
    assert!(score.inferred > 0, "{score:?}");
}

/// Files of a run as pipelines leave them in `pipeline_info`: a trace file and a graph of processes,
/// and no log.
#[test]
fn a_trace_file_and_a_graph_without_a_log() {
    let dir = tempfile::tempdir().unwrap();
    let header = "task_id\thash\tnative_id\tname\tstatus\texit\tsubmit\tduration\trealtime\t%cpu\tpeak_rss\tpeak_vmem\trchar\twchar\n";
    let line = |id: u32, name: &str, submit: &str, duration: &str| {
        format!(
            "{id}\t0{id}/00000{id}\t{id}\t{name}\tCOMPLETED\t0\t2026-03-01 08:{submit}.000\t{duration}\t{duration}\t90%\t1 MB\t1 MB\t1 KB\t1 KB\n"
        )
    };
    let trace = [
        header.to_owned(),
        line(1, "INDEX", "00:00", "50s"),
        line(2, "TRIM (liver)", "00:00", "60s"),
        line(3, "TRIM (heart)", "00:00", "90s"),
        line(4, "MAP (liver)", "01:01", "100s"),
        line(5, "MAP (heart)", "01:31", "120s"),
        line(6, "REPORT", "03:32", "10s"),
    ]
    .concat();
    let graph = "digraph \"dag\" {\nrankdir=TB;\nv0 [shape=point,label=\"\",fixedsize=true,width=0.1,xlabel=\"Channel.fromPath\"];\n\
        v1 [label=\"INDEX\"];\nv2 [label=\"TRIM\"];\nv3 [label=\"MAP\"];\nv4 [label=\"REPORT\"];\n\
        v5 [shape=circle,label=\"\",fixedsize=true,width=0.1,xlabel=\"collect\"];\n\
        v0 -> v1;\nv0 -> v2;\nv1 -> v3;\nv2 -> v3;\nv3 -> v5;\nv5 -> v4;\n}\n";
    let (trace_path, graph_path) = (dir.path().join("execution_trace.txt"), dir.path().join("pipeline_dag.dot"));
    std::fs::write(&trace_path, trace).unwrap();
    std::fs::write(&graph_path, graph).unwrap();
    let dataset = imported("nextflow", &[trace_path.clone(), graph_path], dir.path());
    let model = |model: &str, more: &[&str]| -> Json {
        let out = expect(flowmine().args(["discover", model, "--format", "json", "--dataset"]).arg(&dataset).args(more), 0).stdout;
        serde_json::from_slice(&out).unwrap()
    };
    assert_eq!(model("dag", &[])["format"], "flowmine-run-dag", "the graph of tasks, which has what is inferred");
    let found = model("dag", &["--fold", "never"]);
    let name = |at: &Json| found["nodes"][at.as_u64().unwrap() as usize]["name"].as_str().unwrap().to_owned();
    let mut edges: Vec<(String, String)> =
        found["edges"].as_array().unwrap().iter().map(|edge| (name(&edge["from"]), name(&edge["to"]))).collect();
    edges.sort();
    let pair = |from: &str, to: &str| (from.to_owned(), to.to_owned());
    let expected = [
        pair("INDEX", "MAP (heart)"),
        pair("INDEX", "MAP (liver)"),
        pair("TRIM (heart)", "MAP (heart)"),
        pair("TRIM (liver)", "MAP (liver)"),
    ];
    assert_eq!(edges, expected);
    assert!(found["edges"].as_array().unwrap().iter().all(|edge| edge["kind"] == "inferred" && edge["confidence"] == 0.95));
    // Which of MAP the report waited for is not known: bounds, and neither gains nor slack.
    let found = model("critical-path", &[]);
    assert_eq!((found["certainty"].as_str(), found["left_out"]["tasks_without_parents"].as_u64()), (Some("partial"), Some(3)));
    assert!(found["span_ns"].as_i64() < found["most_span_ns"].as_i64(), "{found}");
    assert_eq!((found["gains"].as_array().unwrap().len(), found["slack"].as_array().unwrap().len()), (0, 0));
    // Without the graph there is nothing but times.
    let alone = dir.path().join("alone");
    expect(flowmine().args(["import", "nextflow"]).arg(&trace_path).arg("--dataset").arg(&alone), 0);
    let text = expect(flowmine().args(["discover", "critical-path", "--format", "text", "--dataset"]).arg(&alone), 0).stdout;
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("are not recorded") && !text.contains("no number of machines makes it shorter"), "{text}");
}

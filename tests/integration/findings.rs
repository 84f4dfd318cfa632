//! Findings as a user asks for them: causes planted in accounting, traces of engines and polls, and
//! recorded runs whose causes are known.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{expect, flowmine, repository};
use crate::waits::{discovered, imported};

const HEADER: &str = "JobID|JobIDRaw|JobName|User|Account|Partition|State|Submit|Eligible|Start|End|NNodes|NCPUS|TimelimitRaw|ReqMem|MaxRSS|TotalCPU|NodeList|SubmitLine\n";

/// A job as accounting has it; times in minutes since 06:00.
#[derive(Clone)]
struct Job {
    script: &'static str,
    state: &'static str,
    submit: i64,
    start: i64,
    end: i64,
    cpus: i64,
    cpu_minutes: i64,
    limit: i64,
    memory_gib: i64,
    peak_gib: i64,
    node: String,
    after: &'static str,
}

fn time(minute: i64) -> String {
    format!("2026-11-{:02}T{:02}:{:02}:00", 18 + (minute / 60 + 6) / 24, (minute / 60 + 6) % 24, minute % 60)
}

/// Alignments on four nodes that run for about half an hour.
fn jobs() -> Vec<Job> {
    let job = |at: i64| Job {
        script: "align.sh",
        state: "COMPLETED",
        submit: 0,
        start: 0,
        end: 30 + at % 3,
        cpus: 4,
        cpu_minutes: 4 * (30 + at % 3) * 9 / 10,
        limit: 60,
        memory_gib: 8,
        peak_gib: 5,
        node: format!("k{}", at % 4),
        after: "",
    };
    (0..24).map(job).collect()
}

fn accounting(jobs: &[Job]) -> String {
    let mut text = HEADER.to_owned();
    for (id, job) in (100..).zip(jobs) {
        let [submit, start, end] = [job.submit, job.start, job.end].map(time);
        let cpu = format!("{:02}:{:02}:00", job.cpu_minutes / 60, job.cpu_minutes % 60);
        let (Job { script, state, cpus, limit, memory_gib, peak_gib, node, after, .. }, name) = (job, job.script.trim_end_matches(".sh"));
        writeln!(
            text,
            "{id}|{id}|{name}|mia|bio|long|{state}|{submit}|{submit}|{start}|{end}|1|{cpus}|{limit}|{memory_gib}G||{cpu}|{node}|sbatch {after}{script}"
        )
        .unwrap();
        writeln!(text, "{id}.batch|{id}.batch|batch||bio||{state}|{start}|{start}|{start}|{end}|1|{cpus}|||{peak_gib}G|{cpu}|{node}|")
            .unwrap();
    }
    text
}

fn findings(dataset: &Path) -> Vec<Value> {
    let found: Value = serde_json::from_str(&discovered(dataset, &["findings", "--format", "json"])).unwrap();
    assert_eq!(found["format"], "flowmine-findings");
    found["findings"].as_array().unwrap().clone()
}

fn first(dataset: &Path) -> (String, String) {
    let all = findings(dataset);
    let text = |field: &str| all.first().map_or("", |first| first[field].as_str().unwrap()).to_owned();
    (text("rule"), text("found"))
}

type Change = fn(i64, &mut Job);

#[test]
fn causes_planted_in_accounting_are_found_first() {
    let dir = tempfile::tempdir().unwrap();
    let causes: [(&str, &str, &str, Change); 8] = [
        ("healthy", "", "", |_, _| {}),
        ("slow-node", "slow-node", "node k2", |at, job| {
            if at % 4 == 2 {
                (job.end, job.cpu_minutes) = (job.end * 19 / 10, job.cpu_minutes * 19 / 10);
            }
        }),
        ("memory", "idle-memory", "96.0 GiB", |_, job| job.memory_gib = 96),
        ("cpus", "idle-cpus", "16 CPUs", |_, job| (job.cpus, job.cpu_minutes) = (16, 40)),
        ("limit", "time-limit", "killed at their time limit", |at, job| {
            if at % 3 == 0 {
                (job.state, job.limit) = ("TIMEOUT", job.end);
            }
        }),
        ("out-of-memory", "memory-limit", "lack of memory", |at, job| {
            if at % 3 == 0 {
                (job.state, job.peak_gib) = ("OUT_OF_MEMORY", 8);
            }
        }),
        ("failures", "failures", "node k1", |at, job| {
            if at % 4 == 1 {
                job.state = "FAILED";
            }
        }),
        ("queue", "queue", "in partition long", |at, job| {
            (job.start, job.end) = (40 + at, 40 + at + job.end);
        }),
    ];
    for (name, rule, words, change) in causes {
        let mut jobs = jobs();
        (0..).zip(&mut jobs).for_each(|(at, job)| change(at, job));
        let dataset = imported(dir.path(), name, &accounting(&jobs));
        let (found, sentence) = first(&dataset);
        assert!(found == rule && sentence.contains(words), "{name}: {found}: {sentence}\n{}", discovered(&dataset, &["findings"]));
    }
}

/// The recorded run of the demonstration, correlated.
fn demonstration(dir: &Path) -> PathBuf {
    let dataset = dir.join("demonstration");
    copy(&repository("fixtures/demonstration/dataset"), &dataset);
    let log = repository("fixtures/demonstration/rnaseq.makeflow.makeflowlog");
    expect(flowmine().args(["import", "makeflow", "--dataset"]).arg(&dataset).arg(log), 0);
    expect(flowmine().args(["correlate", "--dataset"]).arg(&dataset), 0);
    dataset
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy(&from, &to);
        } else {
            std::fs::copy(from, to).unwrap();
        }
    }
}

#[test]
fn recorded_runs_have_findings_with_evidence() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = demonstration(dir.path());
    // Many small requests, of which all together take milliseconds: no finding, and not nothing.
    let list = discovered(&dataset, &["findings"]);
    assert!(list.contains("No finding") && list.contains("2 findings are left out"), "{list}");
    let queue = dir.path().join("queue");
    let polls = [repository("fixtures/case-study/polls"), repository("fixtures/case-study/sacct-token.txt.gz")];
    expect(flowmine().args(["import", "squeue", "--dataset"]).arg(&queue).args(polls), 0);
    let list = discovered(&queue, &["findings"]);
    assert!(list.contains(" 1. queue  priority in partition debug\n    84 jobs of step.sh"), "{list}");
    assert!(list.contains("in job 106, case dependency:lab:106"), "{list}");
    assert!(list.contains("time-limit  time limit too short\n    step.sh: 2 jobs were killed"), "{list}");
}

#[test]
fn an_earlier_name_works_with_a_note() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = imported(dir.path(), "jobs", &accounting(&jobs()));
    let old = expect(flowmine().args(["discover", "bottlenecks"]).arg(&dataset), 0);
    let new = expect(flowmine().args(["discover", "findings"]).arg(&dataset), 0);
    assert_eq!(old.stdout, new.stdout);
    let note = String::from_utf8(old.stderr).unwrap();
    assert!(note.contains("bottlenecks is now `flowmine discover findings`"), "{note}");
}

/// The same findings on the page as in the model.
#[test]
fn the_report_shows_the_first_findings() {
    let dir = tempfile::tempdir().unwrap();
    let mut jobs = jobs();
    jobs.iter_mut().for_each(|job| job.memory_gib = 96);
    let dataset = imported(dir.path(), "jobs", &accounting(&jobs));
    let page = dir.path().join("report.html");
    expect(flowmine().arg("report").arg(&dataset).arg("-o").arg(&page), 0);
    let html = std::fs::read_to_string(&page).unwrap();
    let (_, sentence) = first(&dataset);
    assert!(html.contains(&sentence), "{sentence}");
}

/// The words of a page without elements, as a reader has them.
fn words(page: &str) -> String {
    let body = page.split("<body").nth(1).unwrap();
    let text: String = body.split('<').map(|part| part.split_once('>').map_or("", |(_, text)| text)).collect();
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&#34;", "\"")
        .replace("&amp;", "&")
}

#[test]
fn the_page_the_directory_of_results_and_the_model_have_the_same_findings() {
    let dir = tempfile::tempdir().unwrap();
    let sources: [(&str, &[&str]); 3] = [
        ("slurm", &["fixtures/case-study/polls", "fixtures/case-study/sacct-token.txt.gz"]),
        ("nextflow", &["fixtures/workflows/nextflow-local/nextflow.log", "fixtures/workflows/nextflow-local/trace.txt"]),
        ("makeflow", &["fixtures/demonstration/rnaseq.makeflow.makeflowlog"]),
    ];
    for (kind, files) in sources {
        let [dataset, out] = ["dataset", "out"].map(|name| dir.path().join(format!("{name}-{kind}")));
        if kind == "makeflow" {
            // A traced run: findings of the profile, too.
            expect(std::process::Command::new("cp").arg("-r").arg(repository("fixtures/demonstration/dataset")).arg(&dataset), 0);
        }
        expect(flowmine().args(["import", kind]).args(files.iter().map(|file| repository(file))).arg("--dataset").arg(&dataset), 0);
        expect(flowmine().arg("run").arg(&dataset).arg("--out").arg(&out), 0);
        let text = std::fs::read_to_string(out.join("findings.txt")).unwrap();
        assert_eq!(text, discovered(&dataset, &["findings", "--format", "text"]), "{kind}");
        let table = std::fs::read_to_string(out.join("activities.csv")).unwrap();
        assert_eq!(table, discovered(&dataset, &["summary", "--format", "csv"]), "{kind}");
        let page = words(&std::fs::read_to_string(out.join("report.html")).unwrap());
        let all = findings(&dataset);
        // The run of the demonstration is healthy.
        assert_eq!(all.is_empty(), kind == "makeflow", "{kind}");
        for finding in all.iter().take(3) {
            let sentence = finding["found"].as_str().unwrap();
            assert!(page.contains(sentence), "{kind}: {sentence}");
        }
    }
}

//! A case of any notion is a run, for the models of one run; and what every line of evidence names.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use crate::support::{cases, expect, flowmine, repository, waits};
use crate::waits::{discovered, imported};

const SECOND: i64 = 1_000_000_000;

/// Two pipelines of one user that do not depend on each other, and a job of another.
const PIPELINES: &str = "\
JobID|JobIDRaw|JobName|User|Account|Group|State|Submit|Eligible|Start|End|NNodes|NCPUS|AllocTRES|NodeList|SubmitLine
61|61|stage|mia|bio|p1|COMPLETED|2026-11-18T06:00:00|2026-11-18T06:00:00|2026-11-18T06:00:10|2026-11-18T06:10:10|1|2|cpu=2,mem=4G|k1|sbatch stage.sh
62|62|solve|mia|bio|p1|COMPLETED|2026-11-18T06:00:01|2026-11-18T06:10:11|2026-11-18T06:10:20|2026-11-18T07:00:20|3|12|cpu=12,mem=12G|k[1-2],m03|sbatch --dependency=afterok:61 solve.sh
71|71|stage|mia|bio|p2|COMPLETED|2026-11-18T09:00:00|2026-11-18T09:00:00|2026-11-18T09:00:05|2026-11-18T09:01:05|1|2|cpu=2,mem=4G|k1|sbatch stage.sh
72|72|solve|mia|bio|p2|COMPLETED|2026-11-18T09:00:01|2026-11-18T09:01:06|2026-11-18T09:01:10|2026-11-18T09:02:10|1|4|cpu=4,mem=4G|k[01-02]|sbatch --dependency=afterok:71 solve.sh
80|80|other|noa|geo|p3|COMPLETED|2026-11-18T06:00:00|2026-11-18T06:00:00|2026-11-18T06:00:00|2026-11-18T06:30:00|1|1|cpu=1,mem=1G|m03|sbatch other.sh
";

/// Two tasks of a process, as Nextflow's trace file has them.
const TRACE: &str = "\
task_id\thash\tname\tprocess\ttag\tstatus\texit\tsubmit\tstart\tcomplete\tduration\trealtime\t%cpu\tpeak_rss\tcpus\tmemory\ttime\tworkdir
1\ta1/101010\tCOUNT (1)\tCOUNT\ts1\tCOMPLETED\t0\t1795000000000\t1795000010000\t1795000310000\t310000\t300000\t150.0\t209715200\t8\t8589934592\t36000000\t/work/a1/10
2\tb2/202020\tCOUNT (2)\tCOUNT\ts2\tCOMPLETED\t0\t1795000000000\t1795000020000\t1795000620000\t620000\t600000\t180.0\t419430400\t8\t8589934592\t36000000\t/work/b2/10
";

fn json(dataset: &Path, arguments: &[&str]) -> Value {
    serde_json::from_str(&discovered(dataset, &[arguments, &["--format", "json"]].concat())).unwrap()
}

fn texts<'v>(found: &'v Value, list: &str, field: &str) -> Vec<&'v str> {
    found[list].as_array().unwrap().iter().map(|one| one[field].as_str().unwrap()).collect()
}

/// The parts of a path add up to the makespan, and the time in the queue and of own wishes is that
/// of the table `waits`.
fn path_is_consistent(dataset: &Path, case: Option<&str>, queued: &BTreeMap<String, (i64, i64)>) {
    let path = match case {
        Some(case) => json(dataset, &["critical-path", "--case", case]),
        None => json(dataset, &["critical-path"]),
    };
    let case = case.unwrap_or_else(|| path["run"].as_str().unwrap());
    let sum = |parts: &Value| -> i64 { parts.as_array().unwrap().iter().filter_map(|part| part["time_ns"].as_i64()).sum() };
    assert_eq!(Some(sum(&path["parts"])), path["makespan_ns"].as_i64(), "{case}");
    for step in path["path"].as_array().unwrap() {
        let of = |name: &str| -> i64 {
            let parts = step["parts"].as_array().unwrap().iter().filter(|part| part["part"] == name);
            parts.filter_map(|part| part["time_ns"].as_i64()).sum()
        };
        assert_eq!(sum(&step["parts"]), step["to_ns"].as_i64().unwrap() - step["from_ns"].as_i64().unwrap(), "{case}: {step}");
        let has_started = of("turnaround") == 0;
        if let Some((queue, all)) = step["who"]["job"].as_str().and_then(|job| queued.get(job)).filter(|_| has_started) {
            assert!((of("queue") - queue).abs() <= SECOND, "{case}: {step}, and queued {queue} in the table");
            assert!(of("queue") + of("own_wish") <= *all + SECOND, "{case}: {step}");
        }
    }
}

/// Of each job with one attempt its time in the queue, and all its time before the start.
fn queue_times(dataset: &Path) -> BTreeMap<String, (i64, i64)> {
    let rows = waits(dataset);
    let mut of: BTreeMap<String, (i64, i64)> = BTreeMap::new();
    let again: Vec<String> = rows.iter().filter(|row| row.attempt > 1).filter_map(|row| Some(row.job.as_ref()?.to_string())).collect();
    let started = ["running", "suspended", "configuring"];
    let wishes = ["predecessor", "never_satisfiable", "begin_time", "held", "held_by_user", "held_by_admin", "not_eligible", "requeued"];
    for row in
        rows.iter().filter(|row| !started.contains(&&*row.cause) && row.job.as_ref().is_some_and(|job| !again.contains(&job.to_string())))
    {
        let times = of.entry(row.job.as_deref().unwrap_or_default().to_owned()).or_default();
        let time = row.to_ns - row.from_ns;
        times.0 += if wishes.contains(&&*row.cause) { 0 } else { time };
        times.1 += time;
    }
    of
}

#[test]
fn every_model_of_a_run_takes_a_case_of_jobs() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = imported(dir.path(), "pipelines", PIPELINES);
    let case = "dependency:lab:71";
    let path = json(&dataset, &["critical-path", "--case", case]);
    assert_eq!(texts(&path, "path", "task"), ["71", "72"], "{path}");
    assert_eq!(path["makespan_ns"].as_i64(), Some(130 * SECOND));
    let graph = json(&dataset, &["dag", "--case", case]);
    assert_eq!(graph["tasks"].as_u64().or(graph["nodes"].as_array().map(|nodes| nodes.len() as u64)), Some(2), "{graph}");
    assert_eq!(graph["critical_ns"].as_i64(), Some(130 * SECOND), "{graph}");
    let check = json(&dataset, &["dependency-audit", "--case", case]);
    assert_eq!((check["tasks"].as_u64(), check["declared"].as_u64()), (Some(2), Some(1)), "{check}");
    // Accounting does not have the commands: what is refused are the two jobs of the case.
    let refused = expect(flowmine().args(["export", "--format", "slurm", "--case", case, "--dataset"]).arg(&dataset), 2).stderr;
    let refused = String::from_utf8(refused).unwrap();
    assert!(refused.contains("what 2 of the jobs executed") && refused.contains("\"71\""), "{refused}");
    // A group of an account, and without --case-notion.
    for of_group in texts(&json(&dataset, &["summary", "--case-notion", "account-group"]), "case_list", "case") {
        let of_path = json(&dataset, &["critical-path", "--case", of_group]);
        let bars = json(&dataset, &["gantt", "--case", of_group, "--lanes", "job"]);
        assert_eq!(of_path["tasks"].as_u64(), bars["bars"].as_array().map(|bars| bars.len() as u64), "{of_group}");
    }
    let compared = discovered(&dataset, &["compare", "--case", "dependency:lab:61", "--with-case", case]);
    assert!(compared.contains("solve.sh"), "{compared}");
    // Cases that do not depend on each other are no run, and it is said.
    let said = expect(flowmine().args(["discover", "critical-path", "--user", "mia", "--dataset"]).arg(&dataset), 0).stderr;
    let said = String::from_utf8(said).unwrap();
    assert!(said.contains("the jobs are 2 cases that do not depend on each other") && said.contains("dependency:lab:61"), "{said}");
    for refused in [&["--case", "dependency:lab:999"][..], &["--case", "nothing"], &["--case", case, "--case", "account-group:x"]] {
        expect(flowmine().args(["discover", "critical-path", "--dataset"]).arg(&dataset).args(refused), 2);
    }
}

/// The cases of a dataset that is correlated, by a notion.
fn names(dataset: &Path, notion: &str) -> Vec<String> {
    let rows = cases(dataset);
    let names: BTreeSet<String> = rows.iter().filter(|row| row.case_id.starts_with(notion)).map(|row| row.case_id.to_string()).collect();
    names.into_iter().collect()
}

/// Each case of the recorded cluster of the case study, and each recorded run of an engine.
#[test]
fn parts_of_every_critical_path_add_up_and_are_those_of_the_waits() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = dir.path().join("dataset");
    let sacct = repository("fixtures/case-study/sacct-token.txt.gz");
    expect(flowmine().args(["import", "slurm", "--dataset"]).arg(&dataset).arg(sacct), 0);
    expect(flowmine().args(["correlate", "--dataset"]).arg(&dataset), 0);
    let queued = queue_times(&dataset);
    for notion in ["dependency:", "account-group:"] {
        let names = names(&dataset, notion);
        assert!(names.len() > 3, "{names:?}");
        for case in names {
            path_is_consistent(&dataset, Some(&case), &queued);
        }
    }
    let runs = [
        ("makeflow", "makeflow-local/flow.makeflow.makeflowlog"),
        ("makeflow", "makeflow-slurm/flow.makeflow.makeflowlog"),
        ("makeflow", "makeflow-containers/flow.makeflow.makeflowlog"),
        ("makeflow", "daemon/flow.makeflow.makeflowlog"),
        ("nextflow", "nextflow-local/nextflow.log"),
        ("nextflow", "nextflow-slurm/nextflow.log"),
    ];
    for (number, (engine, log)) in runs.iter().enumerate() {
        let dataset = dir.path().join(format!("run{number}"));
        let mut import = flowmine();
        import.args(["import", engine]);
        if *engine == "nextflow" {
            import.args(["--year", "2026"]);
        }
        expect(import.arg("--dataset").arg(&dataset).arg(repository("fixtures/workflows").join(log)), 0);
        path_is_consistent(&dataset, None, &BTreeMap::new());
    }
}

#[test]
fn a_gantt_chart_has_lanes_of_nodes_with_what_is_occupied() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = imported(dir.path(), "pipelines", PIPELINES);
    let chart = json(&dataset, &["gantt"]);
    assert_eq!(texts(&chart, "resources", "name"), ["k01", "k02", "k1", "k2", "m03"], "{chart}");
    let most = |node: &str, what: &str| {
        let of = chart["resources"].as_array().unwrap().iter().find(|of| of["name"] == node).unwrap();
        of[what]["most"].as_f64()
    };
    // 62 has 12 CPUs and 12 GiB on three nodes; on m03 runs 80 meanwhile.
    assert_eq!((most("k1", "cpus"), most("m03", "cpus")), (Some(4.0), Some(5.0)));
    assert_eq!(most("m03", "memory_bytes"), Some((5u64 << 30) as f64));
    assert_eq!(most("k1", "gpus"), None);
    // A job on three nodes runs once.
    assert_eq!(chart["running"]["most"].as_u64(), Some(2), "{chart}");
    let bars = chart["bars"].as_array().unwrap();
    assert_eq!(bars.iter().filter(|bar| bar["job"] == "62").count(), 3);
    assert!(bars.iter().all(|bar| bar["job"].is_string()), "{chart}");
    let svg = discovered(&dataset, &["gantt", "--format", "svg"]);
    assert!(svg.contains(">k01<") && !svg.contains("k[1-2]"), "{svg}");
}

#[test]
fn evidence_names_jobs_and_tasks() {
    let dir = tempfile::tempdir().unwrap();
    let jobs = imported(dir.path(), "pipelines", &PIPELINES.replace("noa|geo|p3|COMPLETED", "noa|geo|p3|FAILED"));
    let list = discovered(&jobs, &["findings"]);
    let evidence: Vec<&str> = list.lines().filter(|line| line.starts_with("    - ")).collect();
    assert!(!evidence.is_empty() && evidence.iter().all(|line| line.contains(" in job ")), "{list}");
    let (tasks, trace) = (dir.path().join("tasks"), dir.path().join("trace.txt"));
    std::fs::write(&trace, TRACE).unwrap();
    expect(flowmine().args(["import", "nextflow", "--dataset"]).arg(&tasks).arg(&trace), 0);
    let list = discovered(&tasks, &["findings"]);
    let evidence: Vec<&str> = list.lines().filter(|line| line.starts_with("    - ")).collect();
    assert!(!evidence.is_empty() && evidence.iter().all(|line| line.contains(" in task ") && line.contains("/work/")), "{list}");
    assert!(list.contains("in task COUNT (2), tag s2, /work/b2/10"), "{list}");
    let bars = json(&tasks, &["gantt"]);
    assert_eq!(texts(&bars, "bars", "work_dir").len(), 2, "{bars}");
    let profile = discovered(&tasks, &["requests", "--format", "nextflow"]);
    assert!(profile.contains("withName: 'COUNT' {\n        time = '12 min'\n        memory = '480 MB'\n        cpus = 2\n"), "{profile}");
}

/// Text has the longest cases, wherever they stand.
#[test]
fn a_summary_shows_the_longest_cases() {
    let mut text = String::from("JobID|JobIDRaw|JobName|User|State|Submit|Eligible|Start|End|NCPUS|NodeList|SubmitLine\n");
    for job in 1..=30 {
        let end = if job == 27 { "20:00" } else { "06:01" };
        text += &format!(
            "{job}|{job}|s|mia|COMPLETED|2026-11-18T06:00:{job:02}|2026-11-18T06:00:{job:02}|2026-11-18T06:00:{job:02}|2026-11-18T{end}:00|1|k1|sbatch s.sh\n"
        );
    }
    let dir = tempfile::tempdir().unwrap();
    let summary = discovered(&imported(dir.path(), "many", &text), &["summary"]);
    assert!(summary.contains("dependency:lab:27") && !summary.contains("dependency:lab:30"), "{summary}");
    assert!(summary.contains("… and 10 more cases, none of them longer: JSON and CSV have all."), "{summary}");
}

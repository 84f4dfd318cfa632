//! The case notion where none is chosen, its shares of evidence, evaluation with and without a truth,
//! and activities of exported logs.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::{expect, flowmine, repository};

/// The program with the default of users.
fn plain(arguments: &[&str], dataset: &Path) -> Command {
    let mut command = flowmine();
    command.env_remove("FLOWMINE_CASE_NOTION").args(arguments).arg("--dataset").arg(dataset);
    command
}

fn told(arguments: &[&str], dataset: &Path) -> String {
    String::from_utf8(expect(&mut plain(arguments, dataset), 0).stdout).unwrap()
}

fn json(arguments: &[&str], dataset: &Path) -> Value {
    serde_json::from_str(&told(arguments, dataset)).unwrap()
}

/// Three jobs with dependencies, two that nothing declares, and two of another user.
const JOBS: &str = "\
JOBID|NAME|USER|ACCOUNT|STATE|SUBMIT_TIME|START_TIME|END_TIME|COMMAND|WORK_DIR|COMMENT|DEPENDENCY
1|align_S1|mia|bio|COMPLETED|2026-11-18T06:00:00|2026-11-18T06:00:02|2026-11-18T06:05:00|/h/mia/align.sh|/w/a|(null)|(null)
2|sort_S1|mia|bio|COMPLETED|2026-11-18T06:00:01|2026-11-18T06:05:02|2026-11-18T06:06:00|/h/mia/sort.sh|/w/a|(null)|afterok:1(unfulfilled)
3|plot|mia|bio|COMPLETED|2026-11-18T06:00:02|2026-11-18T06:06:02|2026-11-18T06:07:00|/h/mia/plot.sh|/w/a|(null)|afterok:2(unfulfilled)
4|align_S2|tom|bio|COMPLETED|2026-11-18T08:00:00|2026-11-18T08:00:01|2026-11-18T08:05:00|/h/tom/align.slurm|/w/b|(null)|(null)
5|sort_S2|tom|bio|COMPLETED|2026-11-18T08:05:02|2026-11-18T08:05:03|2026-11-18T08:06:00|/h/tom/sort.slurm|/w/b|(null)|(null)
";
const TRUTH: &str = "job,case\n1,a\n2,a\n3,a\n4,b\n5,b\n";

fn imported(dir: &Path) -> PathBuf {
    let (file, dataset) = (dir.join("squeue-20261118T090000Z.txt"), dir.join("dataset"));
    std::fs::write(&file, JOBS).unwrap();
    expect(flowmine().args(["import", "slurm", "--cluster", "lab", "--zone", "+00:00", "--dataset"]).arg(&dataset).arg(&file), 0);
    dataset
}

#[test]
fn auto_is_the_default_and_says_which_evidence_decided() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = imported(dir.path());
    let text = told(&["correlate"], &dataset);
    assert!(text.contains("\nauto: 2 cases\n") && text.contains("by dependency: 3 of 5 attempts (60.0 %)"), "{text}");
    let found = json(&["correlate", "--json"], &dataset);
    let decided = found["decided"].as_array().unwrap();
    assert_eq!((decided[0]["evidence"].as_str(), decided[0]["share"].as_f64()), (Some("dependency"), Some(0.6)), "{found}");
    let shares: f64 = decided.iter().map(|of| of["share"].as_f64().unwrap()).sum();
    assert!((shares - 1.0).abs() < 1e-9, "{found}");
    let cases = |command: &mut Command| {
        let text = String::from_utf8(expect(command, 0).stdout).unwrap();
        text.lines().find(|line| line.starts_with("A case is ")).map(|line| line.split([' ', ':']).nth(3).unwrap().to_owned())
    };
    assert_eq!(cases(&mut plain(&["discover", "summary"], &dataset)).as_deref(), Some("auto"));
    let mut pinned = plain(&["discover", "summary"], &dataset);
    assert_eq!(cases(pinned.env("FLOWMINE_CASE_NOTION", "dependency")).as_deref(), Some("dependency"));
    let mut wrong = plain(&["discover", "summary"], &dataset);
    let wrong = expect(wrong.env("FLOWMINE_CASE_NOTION", "no-such"), 2);
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("FLOWMINE_CASE_NOTION"));
    // An option of the command comes first.
    let mut chosen = plain(&["discover", "summary", "--case-notion", "job"], &dataset);
    assert_eq!(cases(chosen.env("FLOWMINE_CASE_NOTION", "dependency")).as_deref(), Some("job"));
    // All other commands take the default, too.
    for command in [&["discover", "waits"][..], &["discover", "findings"], &["report", "--text"], &["export", "--format", "xes"]] {
        told(command, &dataset);
    }
    let out = dir.path().join("out");
    expect(plain(&["report", "--out", out.to_str().unwrap()], &dataset).env("NO_COLOR", "1"), 0);
    let names = |name: &str| out.join(name).is_file();
    assert!(names("log.xes.gz") && names("log-dependency.xes.gz") && !names("log-auto.xes.gz"));
}

#[test]
fn evidence_and_models_are_evaluated() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = imported(dir.path());
    let truth = dir.path().join("truth.csv");
    std::fs::write(&truth, TRUTH).unwrap();
    let found = json(&["evaluate", "--json", "--notion", "auto", "--notion", "temporal", "--truth", truth.to_str().unwrap()], &dataset);
    let auto = &found["notions"][0];
    assert_eq!((auto["notion"].as_str(), auto["measures"]["f1"].as_f64()), (Some("auto"), Some(1.0)), "{found}");
    let evidence = auto["evidence"].as_array().unwrap();
    assert_eq!((evidence[0]["evidence"].as_str(), evidence[0]["jobs"].as_u64()), (Some("dependency"), Some(3)));
    assert_eq!(evidence.iter().map(|of| of["jobs"].as_u64().unwrap()).sum::<u64>(), 5);
    // Two users, and no pause of twenty minutes within either's jobs.
    assert_eq!(found["notions"][1]["measures"]["exact"].as_u64(), Some(2), "{found}");
    let models = json(&["evaluate", "--json"], &dataset);
    let of = |name: &str| models["models"].as_array().unwrap().iter().find(|of| of["notion"] == name).unwrap().clone();
    assert_eq!((of("job")["cases"].as_u64(), of("auto")["cases"].as_u64()), (Some(5), Some(2)), "{models}");
    for name in ["auto", "session", "correlation-miner", "gap-max"] {
        for measure in ["fitness", "precision", "simplicity"] {
            assert!((0.0..=1.0).contains(&of(name)[measure].as_f64().unwrap()), "{name} {measure} {models}");
        }
    }
    assert!(told(&["evaluate"], &dataset).starts_with("notion"));
}

#[test]
fn exported_activities_are_steps_or_columns() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = imported(dir.path());
    let activities = |arguments: &[&str]| {
        let csv = told(&[&["export", "--format", "csv"], arguments].concat(), &dataset);
        let column = csv.lines().next().unwrap().split(',').position(|name| name == "concept:name").unwrap();
        let mut names: Vec<String> = csv.lines().skip(1).map(|line| line.split(',').nth(column).unwrap().to_owned()).collect();
        names.sort();
        names.dedup();
        names
    };
    assert_eq!(activities(&[]), ["align.sh", "align.slurm", "plot.sh", "sort.sh", "sort.slurm"]);
    assert_eq!(activities(&["--activity", "step"]), ["align", "plot", "sort"]);
    assert_eq!(activities(&["--activity", "user+account"]), ["mia+bio", "tom+bio"]);
    let refused = |arguments: &[&str], why: &str| {
        let error = expect(&mut plain(&[&["export"], arguments].concat(), &dataset), 2);
        assert!(String::from_utf8_lossy(&error.stderr).contains(why), "{}", String::from_utf8_lossy(&error.stderr));
    };
    let key = dir.path().join("key");
    std::fs::write(&key, "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n").unwrap();
    refused(&["--format", "xes", "--activity", "no_such"], "cannot be an activity");
    refused(&["--format", "xes", "--activity", "step", "--drop", "user"], "--activity step shows names");
    refused(&["--format", "ocel.json", "--activity", "step"], "--activity is for formats with cases");
}

#[test]
fn rows_after_the_last_correlate_are_noted() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = dir.path().join("traced");
    let from = repository("fixtures/workflows/makeflow-slurm");
    expect(Command::new("cp").arg("-r").arg(from.join("dataset")).arg(&dataset), 0);
    let warned = |why: &str| {
        let found = expect(&mut plain(&["discover", "summary"], &dataset), 0);
        String::from_utf8_lossy(&found.stderr).contains(why)
    };
    assert!(warned("auto: traced files are not used"));
    told(&["correlate"], &dataset);
    assert!(!warned("auto:"));
    expect(flowmine().args(["import", "makeflow", "--dataset"]).arg(&dataset).arg(from.join("flow.makeflow.makeflowlog")), 0);
    assert!(warned("auto: rows were added after the last `flowmine correlate`"));
}

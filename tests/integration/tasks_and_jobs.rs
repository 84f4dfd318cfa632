//! Cases of jobs and tasks: each entity in the cases of the other that it was, and commands that take
//! every notion.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use flowmine_schema::tables::Case;

use crate::support::{cases, expect, flowmine, repository};

/// Makeflow on Slurm: nine jobs, of which Makeflow submitted each for one rule.
fn recorded(dir: &Path) -> PathBuf {
    let (from, to) = (repository("fixtures/workflows/makeflow-slurm"), dir.join("dataset"));
    expect(std::process::Command::new("cp").arg("-r").arg(from.join("dataset")).arg(&to), 0);
    let log = from.join("flow.makeflow.makeflowlog");
    expect(flowmine().args(["import", "makeflow", "--dataset"]).arg(&to).arg(log), 0);
    to
}

fn told(arguments: &[&str], dataset: &Path) -> String {
    let output = expect(flowmine().args(arguments).arg("--dataset").arg(dataset), 0);
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn tasks_are_in_the_cases_of_their_jobs_and_jobs_in_those_of_their_tasks() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = recorded(dir.path());
    let text = told(&["correlate", "--case-notion", "task-session"], &dataset);
    assert!(text.contains("task-session: 1 cases"), "{text}");
    let rows = cases(&dataset);
    let of = |notion: &str| rows.iter().filter(|row| row.notion == notion).collect::<Vec<&Case<'_>>>();
    let (run, dependency) = (of("task-run"), of("dependency"));
    let names = |rows: &[&Case<'_>]| rows.iter().filter_map(|row| row.task.as_deref().map(str::to_owned)).collect::<BTreeSet<_>>();
    let jobs = |rows: &[&Case<'_>]| rows.iter().filter_map(|row| row.job.as_deref().map(str::to_owned)).collect::<BTreeSet<_>>();
    assert_eq!((names(&run).len(), jobs(&run).len()), (9, 9));
    assert_eq!((names(&run), jobs(&run)), (names(&dependency), jobs(&dependency)));
    assert_eq!(names(&of("task-session")), names(&run));
    assert_eq!(run.iter().map(|row| &row.case_id).collect::<BTreeSet<_>>().len(), 1);
    for row in &rows {
        assert!(row.case_id.starts_with(&format!("{}:", row.notion)) && row.task.is_some() != row.job.is_some(), "{row:?}");
    }
    // Each task is in the case of the one job that it was, and that job is named.
    for task in dependency.iter().filter(|row| row.task.is_some()) {
        let same = dependency.iter().find(|row| row.job.is_some() && row.case_id == task.case_id).expect("its job");
        assert_eq!((&*task.reason, &*task.strength), ("ran-as", "derived"));
        let (job, cluster) = (same.job.as_deref().unwrap(), same.cluster.as_deref().unwrap());
        assert_eq!(task.evidence.as_deref(), Some(&*format!("job {job} of {cluster}")));
    }
    // The engine's own log is the truth of what Slurm's records show.
    let table = told(&["evaluate", "--truth", "task-run", "--notion", "engine-run", "--notion", "task-run"], &dataset);
    let f1: Vec<&str> = table.lines().skip(1).filter_map(|line| line.split_whitespace().nth(3)).collect();
    assert_eq!(f1[..2], ["1.000", "1.000"], "{table}");
}

#[test]
fn commands_take_notions_of_jobs_and_of_tasks() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = recorded(dir.path());
    told(&["correlate"], &dataset);
    for notion in ["task-run", "task-session", "engine-run", "session", "dependency"] {
        for command in [&["discover", "dfg"][..], &["discover", "waits"], &["discover", "findings"], &["report", "--text"]] {
            let text = told(&[command, &["--case-notion", notion]].concat(), &dataset);
            assert!(!text.is_empty(), "{command:?} {notion}");
        }
    }
}

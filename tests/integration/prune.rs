//! `flowmine prune` on the recorded queue: what goes, what stays, at every moment at which it can
//! be killed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use flowmine_dataset::Dataset;
use flowmine_schema::tables::{Host, JobState, Process};
use flowmine_schema::time;

use crate::support::require::require;
use crate::support::stand_in::StandIn;
use crate::support::{cases, expect, flowmine, job_dependencies, job_states, repository};

const SECOND: i64 = time::SECOND_NS;

/// The recorded polls and accounting as a dataset.
fn recorded(dir: &Path) -> PathBuf {
    let dataset = dir.join("dataset");
    let mut command = flowmine();
    command.args(["import", "slurm"]).arg(repository("fixtures/case-study/polls"));
    command.arg(repository("fixtures/case-study/sacct-token.txt.gz")).arg("--dataset").arg(&dataset);
    expect(command.stdout(Stdio::null()), 0);
    dataset
}

fn prune(dataset: &Path, before: i64) -> Command {
    let mut command = flowmine();
    command.arg("prune").arg("--dataset").arg(dataset).args(["--before", &time::rfc3339(before)]);
    command
}

fn copy(from: &Path, to: &Path) {
    expect(Command::new("cp").arg("-a").arg(from).arg(to), 0);
}

/// When each attempt ended, by slurmctld: job and submit time.
fn ends() -> BTreeMap<(String, i64), i64> {
    let text = fs::read_to_string(repository("fixtures/case-study/truth-states.tsv")).unwrap();
    let cells = |line: &str| line.split('\t').map(str::to_owned).collect::<Vec<_>>();
    let of = |line: &str| {
        let cells = cells(line);
        ((cells[1].clone(), cells[4].parse::<i64>().unwrap() * SECOND), cells[6].parse::<i64>().unwrap() * SECOND)
    };
    text.lines().skip(1).map(of).collect()
}

/// The number of a job without its task, component or star: what goes and stays together.
fn submission(job: &str) -> String {
    job.split(['_', '+']).next().unwrap().to_owned()
}

#[test]
fn what_had_ended_goes_and_what_had_not_stays_whole() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = recorded(dir.path());
    let before = job_states(&dataset);
    let mut all: Vec<i64> = ends().into_values().collect();
    all.sort_unstable();
    let mut across = 0;
    let seen: BTreeSet<&str> = before.iter().map(|row| row.job.as_ref()).collect();
    let unknown = before.iter().filter_map(|row| Some((row.job.strip_suffix('*')?, row.array_tasks.as_deref()?)));
    let unknown =
        unknown.filter(|(array, tasks)| tasks.split(',').any(|task| !task.contains('-') && !seen.contains(&*format!("{array}{task}"))));
    let unknown: BTreeSet<String> = unknown.map(|(array, _)| submission(array)).filter(|array| array != "39").collect();
    assert_eq!(unknown.iter().map(String::as_str).collect::<Vec<_>>(), ["45"], "39_* was cancelled, and shown so");
    for border in [all[all.len() / 4], all[all.len() / 2], all[all.len() * 9 / 10]] {
        let pruned = dir.path().join(border.to_string());
        copy(&dataset, &pruned);
        let dry = expect(prune(&pruned, border).arg("--dry-run"), 0);
        assert_eq!(job_states(&pruned), before, "a dry run changes nothing");
        let wet = expect(&mut prune(&pruned, border), 0);
        let said = String::from_utf8(wet.stdout).unwrap();
        assert_eq!(String::from_utf8(dry.stdout).unwrap().replace("would go", "went"), said);

        // What had not ended by then, by slurmctld, is there with all of its rows, in their order.
        let open: BTreeSet<String> = ends().iter().filter(|(_, end)| **end >= border).map(|((job, _), _)| submission(job)).collect();
        let begun: BTreeSet<String> = ends().keys().filter(|(_, submit)| *submit < border).map(|(job, _)| submission(job)).collect();
        across += open.intersection(&begun).count();
        let rows = job_states(&pruned);
        let wanted: Vec<&JobState<'_>> = before.iter().filter(|row| open.contains(&submission(&row.job))).collect();
        let of_open: Vec<&JobState<'_>> = rows.iter().filter(|row| open.contains(&submission(&row.job))).collect();
        assert_eq!(of_open, wanted);
        // Nothing else stays but arrays of which a waiting task was never seen again: nobody knows that it had ended.
        let stays = |job: &str| open.contains(&submission(job)) || unknown.contains(&submission(job));
        let other: Vec<&JobState<'_>> = rows.iter().filter(|row| !stays(&row.job)).collect();
        assert!(other.is_empty(), "{other:#?}");
        assert!(job_dependencies(&pruned).iter().all(|row| stays(&row.job)));
        let line = format!("job_states: {} of {} rows went", before.len() - rows.len(), before.len());
        assert!(said.contains(&line), "{said}");
        counted_by_another(&pruned, rows.len());
        // Once more there is nothing to do.
        let again = expect(&mut prune(&pruned, border), 0);
        assert!(String::from_utf8(again.stdout).unwrap().contains("job_states: 0 of"));
        expect(flowmine().arg("correlate").arg("--dataset").arg(&pruned).stdout(Stdio::null()), 0);
        assert!(cases(&pruned).iter().all(|case| case.job.as_deref().is_none_or(stays)));
    }
    assert!(across > 10, "jobs that run across a border: {across}");
}

/// pyarrow reads the folder as it is.
fn counted_by_another(dataset: &Path, rows: usize) {
    let python = std::env::var("FLOWMINE_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let script = "import sys, pyarrow.dataset as d; print(d.dataset(sys.argv[1], format='parquet').count_rows())";
    let has = Command::new(&python).args(["-c", "import pyarrow.dataset"]).stderr(Stdio::null()).status().is_ok_and(|s| s.success());
    if require("pyarrow", "pyarrow", has) {
        let output = expect(Command::new(&python).args(["-c", script]).arg(dataset.join("job_states")), 0);
        assert_eq!(String::from_utf8(output.stdout).unwrap().trim(), rows.to_string());
    }
}

#[test]
fn killed_at_any_moment_it_is_before_or_after() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = recorded(dir.path());
    let mut all: Vec<i64> = ends().into_values().collect();
    all.sort_unstable();
    let border = all[all.len() / 2];
    let (done, rough) = (dir.path().join("done"), dir.path().join("rough"));
    copy(&dataset, &done);
    let begun = std::time::Instant::now();
    expect(prune(&done, border).stdout(Stdio::null()), 0);
    // On a busy machine it takes longer; kills have to meet all of it.
    let longest = begun.elapsed().as_micros() as u64 * 3 / 2;
    let (before, after) = (job_states(&dataset), job_states(&done));
    let dependencies = (job_dependencies(&dataset), job_dependencies(&done));
    let (mut kills, mut of_each) = (0, [0, 0]);
    for round in 0..150u64 {
        let _ = fs::remove_dir_all(&rough);
        copy(&dataset, &rough);
        let mut child = prune(&rough, border).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(2_000 + round * 7_919 % longest.max(60_000)));
        child.kill().unwrap();
        kills += u32::from(child.wait().unwrap().code().is_none());
        let rows = job_states(&rough);
        assert!(rows == before || rows == after, "{} rows of {} or {}", rows.len(), before.len(), after.len());
        of_each[usize::from(rows == after)] += 1;
        let terms = job_dependencies(&rough);
        assert_eq!(&terms, if rows == after { &dependencies.1 } else { &dependencies.0 }, "both tables at once");
        expect(prune(&rough, border).stdout(Stdio::null()), 0);
        assert_eq!(job_states(&rough), after);
        let left: Vec<_> = fs::read_dir(&rough).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        assert!(left.iter().all(|name| !name.ends_with(".tmp") && !name.ends_with(".commit.json")), "{left:?}");
    }
    assert!(kills > 40 && of_each.iter().all(|n| *n > 0), "{kills} kills, {of_each:?} before and after the commit");
}

#[test]
fn an_observer_goes_on_as_if_nothing_had_gone() {
    let dir = tempfile::tempdir().unwrap();
    let queue = StandIn::new(dir.path());
    let (plain, pruned) = (dir.path().join("plain"), dir.path().join("pruned"));
    let what = |dataset: &Path, from: usize| -> Vec<String> {
        let rows = job_states(dataset);
        rows[from..].iter().map(|r| format!("{} {:?} {} {:?}", r.job, r.submit_ns, r.change, r.state)).collect()
    };
    let border = ends().into_values().max().unwrap() + SECOND;
    for poll in (0..queue.polls).step_by(9) {
        queue.show(poll);
        let from = (job_rows(&plain), job_rows(&pruned));
        expect(queue.observe(&plain).arg("--once"), 0);
        expect(queue.observe(&pruned).arg("--once"), 0);
        assert_eq!(what(&plain, from.0), what(&pruned, from.1), "poll {poll}");
        expect(prune(&pruned, border).stdout(Stdio::null()), 0);
    }
    assert!(job_rows(&pruned) < job_rows(&plain));
    // While somebody watches without a pause it waits, and says so.
    let mut first = queue.observe(&pruned).args(["--every", "60s"]).stderr(Stdio::null()).spawn().unwrap();
    let refused = loop {
        let output = prune(&pruned, border).args(["--wait", "1ms"]).output().unwrap();
        if output.status.code() != Some(0) {
            break output;
        }
    };
    first.kill().unwrap();
    first.wait().unwrap();
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(refused.status.code() == Some(2) && said.contains("another flowmine is writing here (observe"), "{said}");
    expect(prune(&pruned, border).stdout(Stdio::null()), 0);
}

fn job_rows(dataset: &Path) -> usize {
    if dataset.join("flowmine.json").exists() { job_states(dataset).len() } else { 0 }
}

#[test]
fn whole_traces_go_when_they_had_ended() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = dir.path().join("dataset");
    let now = || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos() as i64;
    // Two side by side, each with a place of its own.
    let trace = || {
        let start = || {
            let mut command = flowmine();
            command.args(["trace", "--backend", "ptrace", "--host", "n 1", "--dataset"]).arg(&dataset);
            command.args(["--", "sh", "-c", "cat /etc/passwd; sleep 0.5"]).stdout(Stdio::null()).spawn().unwrap()
        };
        for mut running in [start(), start()] {
            assert!(running.wait().unwrap().success());
        }
    };
    trace();
    std::thread::sleep(Duration::from_millis(20));
    let border = now();
    trace();
    let open = Dataset::open(&dataset).unwrap();
    let rows = || (open.row_count::<Host<'static>>().unwrap(), open.row_count::<Process<'static>>().unwrap());
    let (hosts, processes) = rows();
    expect(&mut prune(&dataset, border - 3600 * SECOND), 0);
    assert_eq!(rows(), (hosts, processes), "nothing had ended by then");
    let said = String::from_utf8(expect(&mut prune(&dataset, border), 0).stdout).unwrap();
    assert!(said.contains(&format!("hosts: {} of {hosts} rows went", hosts / 2)), "{said}");
    assert_eq!(rows(), (hosts / 2, processes / 2));
    expect(flowmine().arg("correlate").arg("--dataset").arg(&dataset).stdout(Stdio::null()), 0);
    expect(prune(&dataset, now()).stdout(Stdio::null()), 0);
    assert_eq!(rows(), (0, 0));
}

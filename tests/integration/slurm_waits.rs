//! The causes of waits on a real Slurm: a scenario makes each of them, observers poll it with and
//! without accounting and with clocks that are wrong, and slurmctld says when each began and ended.
//!
//! The short form takes half a minute. `FLOWMINE_LONG=1` (`make test-long`) makes waits of two
//! minutes each, so that whole seconds weigh little in the sums, and has two more clocks.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::running::Running;
use crate::support::slurm_lab::SlurmLab;
use crate::support::truth::polls;
use crate::support::wait_truth::WaitTruth;
use crate::support::{diagnostics, expect, flowmine, job_states, repository, waits};

const SECOND_NS: i64 = 1_000_000_000;
/// The lab's scheduler looks at the queue every second, and Slurm's times are whole seconds.
const SCHEDULING_NS: i64 = 2 * SECOND_NS;

/// How long a scenario is, and how it is observed.
struct Form {
    /// The length of each wait in seconds.
    wait_s: u32,
    every_s: u32,
    /// How many seconds the clocks of observers are ahead of slurmctld's.
    shifts_s: &'static [i64],
    /// By how many percent sums may be off; a second is much of a short wait.
    percent: i64,
}

const SHORT: Form = Form { wait_s: 8, every_s: 1, shifts_s: &[-200, 200], percent: 15 };
const LONG: Form = Form { wait_s: 120, every_s: 2, shifts_s: &[-200, -90, 90, 200], percent: 1 };

#[test]
fn each_cause_from_when_to_when() {
    let Some(lab) = SlurmLab::with_accounting() else { return };
    let form = if std::env::var_os("FLOWMINE_LONG").is_some() { LONG } else { SHORT };
    let dir = tempfile::tempdir().unwrap();
    let (truth, recorded) = (dir.path().join("truth"), dir.path().join("polls"));
    let observe = |name: &str| {
        let mut command = lab.command(env!("CARGO_BIN_EXE_flowmine"));
        command.arg("observe").arg("--dataset").arg(dir.path().join(name)).stdout(Stdio::null());
        command
    };
    // Of one observer the polls are recorded, for how far they are apart on this machine.
    let mut with = observe("with");
    with.arg("--accounting").arg("--record").arg(&recorded);
    let shifted: Vec<(i64, String)> = form.shifts_s.iter().map(|shift| (*shift, format!("shifted{shift}"))).collect();
    let wrong_clock = |shift: i64, name: &str| {
        let mut command = observe(name);
        command.arg("--accounting").env("PATH", path_with_clock(dir.path(), shift));
        command
    };
    let mut observers = vec![with, observe("without")];
    observers.extend(shifted.iter().map(|(shift, name)| wrong_clock(*shift, name)));
    let start = |mut command: Command| {
        command.args(["--every", &format!("{}s", form.every_s)]).stderr(Stdio::null());
        Running::start(command)
    };
    let observers: Vec<Running> = observers.into_iter().map(start).collect();

    let mut scenario = Command::new("setsid");
    scenario.arg("bash").arg(repository("fixtures/scenario/waits.sh")).arg(lab.dir()).arg(&truth).arg(form.wait_s.to_string());
    expect(scenario.stdin(Stdio::null()), 0);
    drop(observers);
    // The last polls see the queue at rest.
    expect(observe("with").args(["--accounting", "--once"]), 0);
    expect(observe("without").arg("--once"), 0);
    shifted.iter().for_each(|(shift, name)| drop(expect(wrong_clock(*shift, name).arg("--once"), 0)));

    let truth = WaitTruth::read(&truth);
    let parts = |name: &str| {
        expect(flowmine().args(["correlate", "--dataset"]).arg(dir.path().join(name)), 0);
        waits(&dir.path().join(name))
    };
    let tolerance_ns = longest_gap(&recorded) + SCHEDULING_NS;
    let with = parts("with");
    truth.check_found(&with, tolerance_ns);
    truth.check_stated(&with, tolerance_ns);
    truth.check_times(&with, SCHEDULING_NS);
    truth.check_sums(&with, form.percent);
    // Queue times of models are what accounting calls `Reserved`, but for the parts of seconds that it leaves out.
    let reserved = reserved_ns(&dir.path().join("with"));
    let (queued, sum) = (queued_ns(&dir.path().join("with")), reserved.iter().sum::<i64>());
    let slack_ns = reserved.len() as i64 * SECOND_NS / 2;
    assert!((queued - sum).abs() <= slack_ns, "{queued} ns in the queue, and by accounting {sum} ns of {} jobs", reserved.len());
    let without = parts("without");
    truth.check_stated(&without, tolerance_ns);
    let unfounded = |cause: &str| matches!(cause, "queued" | "not_eligible");
    assert!(!without.iter().any(|part| unfounded(&part.cause)), "what nothing shows is unknown: {without:?}");
    for name in ["with", "without"] {
        let codes: Vec<String> = diagnostics(&dir.path().join(name)).into_iter().map(|row| row.code.into_owned()).collect();
        assert!(!codes.iter().any(|code| code.contains("clock")), "the clock of {name} is right: {codes:?}");
    }
    for (shift, name) in &shifted {
        let rows = parts(name);
        truth.check_times(&rows, SCHEDULING_NS);
        truth.check_stated(&rows, tolerance_ns);
        let codes: Vec<String> = diagnostics(&dir.path().join(name)).into_iter().map(|row| row.code.into_owned()).collect();
        assert!(codes.iter().any(|code| code == "controller_clock"), "{shift} s: {codes:?}");
    }
}

/// The time of all jobs in the queue, as a model says it.
fn queued_ns(dataset: &Path) -> i64 {
    let output = expect(flowmine().args(["discover", "lifecycle", "--format", "json", "--dataset"]).arg(dataset), 0);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    found["activities"].as_array().unwrap().iter().filter_map(|activity| activity["queue_ns"].as_i64()).sum()
}

/// From when each job was eligible until its start, in the last row that accounting has of it.
fn reserved_ns(dataset: &Path) -> Vec<i64> {
    let rows = job_states(dataset);
    let told = rows.iter().filter(|row| row.change == "accounting");
    let last: BTreeMap<&str, i64> = told.filter_map(|row| Some((row.job.as_ref(), row.start_ns? - row.eligible_ns?))).collect();
    last.into_values().collect()
}

/// A PATH on which `date` is ahead by a number of seconds.
fn path_with_clock(dir: &Path, ahead_s: i64) -> String {
    let bin = dir.join(format!("clock{ahead_s}"));
    fs::create_dir_all(&bin).unwrap();
    let date: PathBuf = bin.join("date");
    fs::write(&date, format!("#!/bin/sh\necho $(($(/bin/date +%s%N) + {ahead_s} * {SECOND_NS}))\n")).unwrap();
    fs::set_permissions(&date, fs::Permissions::from_mode(0o755)).unwrap();
    format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default())
}

/// The longest time from the begin of a recorded poll to the end of the next.
fn longest_gap(recorded: &Path) -> i64 {
    let polls = polls(recorded);
    let gaps = polls.windows(2).map(|pair| pair[1].ended_ns - pair[0].began_ns);
    gaps.max().expect("polls were recorded")
}

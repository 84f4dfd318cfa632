//! Polls and accounting of made clusters: attempts, times, states and cases.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use chrono::DateTime;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, RngSeed};

use super::cluster::{Attempt, BEGIN, Cluster, clusters, poll_name};
use crate::support::{csv, expect, flowmine};

/// Imports files, and exports the log as CSV. Nothing of it may end with a warning.
fn log(dir: &Path, files: &[&str]) -> Vec<BTreeMap<String, String>> {
    read(dir, files, assert_silent)
}

/// The same; `run` has each command run.
fn read(dir: &Path, files: &[&str], run: impl Fn(&mut Command)) -> Vec<BTreeMap<String, String>> {
    let dataset = dir.join("dataset");
    for file in files {
        let mut import = flowmine();
        import.args(["import", "slurm", "--cluster", "c", "--zone", "+00:00", "--dataset"]).arg(&dataset).arg(dir.join(file));
        run(&mut import);
    }
    let mut export = flowmine();
    export.args(["export", "--case-notion", "dependency", "--format", "csv", "-o"]).arg(dir.join("log.csv")).arg("--dataset").arg(&dataset);
    run(&mut export);
    csv::rows(&std::fs::read_to_string(dir.join("log.csv")).unwrap())
}

fn assert_silent(command: &mut Command) {
    let output = expect(command, 0);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!said.contains("warning"), "{said}");
}

fn write_polls(dir: &Path, cluster: &Cluster, polls: &[i64]) {
    write_polls_ahead(dir, cluster, polls, 0);
}

/// Polls by a clock that is ahead of slurmctld's by this number of seconds.
fn write_polls_ahead(dir: &Path, cluster: &Cluster, polls: &[i64], ahead: i64) {
    std::fs::create_dir(dir.join("polls")).unwrap();
    for second in polls {
        std::fs::write(dir.join("polls").join(poll_name(*second + ahead)), cluster.squeue(*second)).unwrap();
    }
}

/// One event as the log has it. Times in nanoseconds after [`BEGIN`].
#[derive(Debug)]
struct Told {
    case: String,
    state: String,
    time: i64,
    not_before: Option<i64>,
    observed_at: i64,
    is_reported: bool,
}

/// Events by job and submission.
fn told(rows: &[BTreeMap<String, String>]) -> BTreeMap<(String, i64), Vec<Told>> {
    let mut all: BTreeMap<_, Vec<Told>> = BTreeMap::new();
    let ns = |text: &str| DateTime::parse_from_rfc3339(text).ok().map(|time| time.timestamp_nanos_opt().unwrap() - BEGIN * SECOND);
    for row in rows {
        // A column that no event fills is not in the file.
        let optional = |column: &str| row.get(column).map_or("", String::as_str);
        let (job, submit) = (row["slurm:job"].clone(), ns(&row["slurm:submit"]).unwrap() / SECOND);
        all.entry((job, submit)).or_default().push(Told {
            case: row["case:concept:name"].clone(),
            state: row["slurm:state"].clone(),
            time: ns(&row["time:timestamp"]).unwrap(),
            not_before: ns(optional("slurm:not_before")),
            observed_at: ns(&row["slurm:observed_at"]).unwrap(),
            is_reported: !optional("slurm:reported").is_empty(),
        });
    }
    all
}

const SECOND: i64 = 1_000_000_000;

/// What an attempt's events must be, by polls alone.
fn check_polled(cluster: &Cluster, attempt: &Attempt, polls: &[i64], told: Option<&Vec<Told>>) -> Result<(), TestCaseError> {
    let seen: Vec<(i64, &str)> = polls
        .iter()
        .filter(|second| !cluster.waits_in_array(attempt, **second))
        .filter_map(|second| Some((*second, attempt.state_at(*second, cluster.age)?)))
        .collect();
    let Some(told) = told else {
        prop_assert!(seen.is_empty(), "{attempt:?} was shown {seen:?} and has no events");
        return Ok(());
    };
    // Nothing is told that was not: the exact second, or an interval around it.
    for event in told {
        let fits = |(state, second): &(&str, i64)| {
            let at = second * SECOND;
            let is_inside = event.not_before.is_some_and(|before| before < at) && at <= event.observed_at;
            *state == event.state && if event.is_reported { event.time == at } else { is_inside }
        };
        let has_left = event.state == "LEFT" && attempt.end.is_some_and(|end| end * SECOND <= event.observed_at);
        let was_shown = event.state == "SUSPENDED" || event.state == "RUNNING";
        let is_told = attempt.story().iter().any(fits) || has_left || (was_shown && is_between(attempt, event));
        prop_assert!(is_told, "{event:?} is not in the story of {attempt:?}");
    }
    prop_assert!(told.windows(2).all(|pair| pair[0].time <= pair[1].time), "{told:?}");
    // Everything that a poll could see is told.
    let has =
        |state: &str, second: i64| told.iter().any(|event| event.state == state && event.time == second * SECOND && event.is_reported);
    prop_assert!(seen.is_empty() || has("PENDING", attempt.submit), "no submission: {attempt:?} {seen:?} {told:?}");
    if let Some(start) = attempt.start.filter(|start| seen.iter().any(|(second, _)| second >= start)) {
        prop_assert!(has("RUNNING", start), "no start: {attempt:?} {seen:?} {told:?}");
    }
    if let Some(end) = attempt.end.filter(|end| !attempt.is_requeued && seen.iter().any(|(second, _)| second >= end)) {
        prop_assert!(has(attempt.state, end), "no end: {attempt:?} {seen:?} {told:?}");
    }
    for (second, state) in &seen {
        prop_assert!(told.iter().any(|event| event.state == *state), "{state} at {second}: {attempt:?} {told:?}");
    }
    Ok(())
}

/// Slurm's own times in polls of which the clock is wrong: each is given to the second, and no
/// other time is given as one of them.
fn check_reported(cluster: &Cluster, attempt: &Attempt, polls: &[i64], told: &[Told]) -> Result<(), TestCaseError> {
    for event in told.iter().filter(|event| event.is_reported && event.state != "LEFT") {
        let is_told = attempt.story().iter().any(|(state, at)| *state == event.state && *at == event.time.div_euclid(SECOND));
        prop_assert!(is_told, "{event:?} is not in the story of {attempt:?}");
    }
    prop_assert!(told.windows(2).all(|pair| pair[0].time <= pair[1].time), "{told:?}");
    let was_shown = |second: &i64| !cluster.waits_in_array(attempt, *second) && attempt.state_at(*second, cluster.age).is_some();
    let Some(last) = polls.iter().copied().filter(was_shown).max() else { return Ok(()) };
    let has =
        |state: &str, at: i64| told.iter().any(|event| event.state == state && event.is_reported && event.time.div_euclid(SECOND) == at);
    prop_assert!(has("PENDING", attempt.submit), "no submission: {attempt:?} {told:?}");
    if let Some(start) = attempt.start.filter(|start| *start <= last) {
        prop_assert!(has("RUNNING", start), "no start: {attempt:?} {told:?}");
    }
    if let Some(end) = attempt.end.filter(|end| *end <= last && !attempt.is_requeued) {
        prop_assert!(has(attempt.state, end), "no end: {attempt:?} {told:?}");
    }
    Ok(())
}

/// Whether a change that two polls enclose did happen between them: the state that the later one
/// shows began there, perhaps not for the first time.
fn is_between(attempt: &Attempt, event: &Told) -> bool {
    let (from, to) = (event.not_before.unwrap_or(i64::MIN), event.observed_at);
    !event.is_reported
        && attempt.state_at(to.div_euclid(SECOND), 0) == Some(event.state.as_str())
        && attempt.story().iter().any(|(_, at)| from < at * SECOND && at * SECOND <= to)
}

/// The ids of the jobs that declared dependencies join, as a model: by the number before `_`, `+`.
fn groups(cluster: &Cluster, declared: &BTreeSet<(i64, i64)>) -> BTreeMap<String, i64> {
    let id = |label: &str| label.split(['_', '+']).next().unwrap().parse::<i64>().unwrap();
    let mut group: BTreeMap<i64, i64> = cluster.attempts.iter().map(|attempt| (id(&attempt.label), id(&attempt.label))).collect();
    loop {
        let mut is_changed = false;
        for (one, other) in declared {
            let (Some(a), Some(b)) = (group.get(one).copied(), group.get(other).copied()) else { continue };
            is_changed |= a != b;
            let least = a.min(b);
            group.insert(*one, least);
            group.insert(*other, least);
        }
        if !is_changed {
            return cluster.attempts.iter().map(|attempt| (attempt.label.clone(), group[&id(&attempt.label)])).collect();
        }
    }
}

/// The cases are the groups, for the jobs that the log has.
fn check_cases(told: &BTreeMap<(String, i64), Vec<Told>>, groups: &BTreeMap<String, i64>) -> Result<(), TestCaseError> {
    let mut both: BTreeSet<(i64, &str)> = BTreeSet::new();
    for ((job, _), events) in told {
        both.extend(events.iter().map(|event| (groups[job], event.case.as_str())));
    }
    let (ours, theirs): (BTreeSet<_>, BTreeSet<_>) = both.iter().copied().unzip();
    prop_assert!(both.len() == ours.len() && both.len() == theirs.len(), "{both:?}");
    Ok(())
}

/// The same inputs each time.
pub fn config() -> Config {
    Config {
        rng_algorithm: RngAlgorithm::ChaCha,
        rng_seed: RngSeed::Fixed(30),
        failure_persistence: None,
        max_shrink_iters: 4000,
        ..Config::with_cases(100)
    }
}

proptest! {
    #![proptest_config(config())]

    /// Polls at a random interval: nothing is told that was not, and nothing is missing that a
    /// poll showed.
    #[test]
    fn polls_give_the_attempts(cluster in clusters(), every in 3i64..40, offset in 0i64..20) {
        let dir = tempfile::tempdir().unwrap();
        let polls: Vec<i64> = (offset..cluster.over).step_by(every as usize).collect();
        prop_assume!(!polls.is_empty());
        write_polls(dir.path(), &cluster, &polls);
        let mut told = told(&log(dir.path(), &["polls"]));
        let mut declared = BTreeSet::new();
        for attempt in &cluster.attempts {
            if polls.iter().any(|second| attempt.state_at(*second, cluster.age) == Some("PENDING")) {
                let own = attempt.label.split(['_', '+']).next().unwrap().parse().unwrap();
                declared.extend(attempt.waits_for.map(|target| (own, target)));
            }
        }
        let groups = groups(&cluster, &declared);
        told.retain(|(job, _), _| !job.ends_with("_*"));
        check_cases(&told, &groups)?;
        for attempt in &cluster.attempts {
            let events = told.remove(&(attempt.label.clone(), attempt.submit));
            check_polled(&cluster, attempt, &polls, events.as_ref())?;
        }
        prop_assert!(told.is_empty(), "attempts that never were: {told:?}");
    }

    /// Accounting beside polls, read before or after them: every attempt exactly, from submission
    /// to end, and every declared dependency.
    #[test]
    fn accounting_makes_it_exact(cluster in clusters(), every in 3i64..40, first in any::<bool>()) {
        let dir = tempfile::tempdir().unwrap();
        let polls: Vec<i64> = (0..cluster.over).step_by(every as usize).collect();
        write_polls(dir.path(), &cluster, &polls);
        std::fs::write(dir.path().join("sacct.txt"), cluster.sacct()).unwrap();
        let files = if first { ["sacct.txt", "polls"] } else { ["polls", "sacct.txt"] };
        let mut told = told(&log(dir.path(), &files));
        let own = |label: &str| label.split(['_', '+']).next().unwrap().parse().unwrap();
        let declared = cluster.attempts.iter().filter_map(|attempt| Some((own(&attempt.label), attempt.waits_for?))).collect();
        check_cases(&told, &groups(&cluster, &declared))?;
        for attempt in &cluster.attempts {
            let events = told.remove(&(attempt.label.clone(), attempt.submit)).unwrap_or_default();
            let got: BTreeSet<(&str, i64)> = events.iter().filter(|event| event.is_reported).map(|event| (event.state.as_str(), event.time / SECOND)).collect();
            // When it was suspended accounting does not tell.
            let want = attempt.story().into_iter().filter(|step| attempt.pause.is_none_or(|(from, to)| step.1 != from && step.1 != to));
            let missing: Vec<_> = want.filter(|step| !got.contains(step)).collect();
            prop_assert!(missing.is_empty(), "{missing:?} of {attempt:?} in {events:?}");
            let story = attempt.story();
            prop_assert!(got.iter().all(|step| story.contains(step)), "{got:?} {attempt:?}");
        }
        prop_assert!(told.is_empty(), "attempts that never were: {told:?}");
    }
}

proptest! {
    #![proptest_config(Config { cases: 30, ..config() })]

    /// An observer whose clock is wrong, of which nothing but the jobs is known.
    #[test]
    fn times_of_slurm_are_exact_whatever_the_clock_of_recorded_polls(
        cluster in clusters(),
        every in 3i64..40,
        ahead in prop_oneof![-4i64..5, -200i64..=200],
    ) {
        let dir = tempfile::tempdir().unwrap();
        let polls: Vec<i64> = (0..cluster.over).step_by(every as usize).collect();
        write_polls_ahead(dir.path(), &cluster, &polls, ahead);
        let mut told = told(&read(dir.path(), &["polls"], |command| drop(expect(command, 0))));
        told.retain(|(job, _), _| !job.ends_with("_*"));
        for attempt in &cluster.attempts {
            let events = told.remove(&(attempt.label.clone(), attempt.submit)).unwrap_or_default();
            check_reported(&cluster, attempt, &polls, &events)?;
        }
        prop_assert!(told.is_empty(), "attempts that never were: {told:?}");
    }
}

//! Notions on generated users with known runs. The generator shares no code with the notions.
//!
//! The weights of `session` were chosen on the seeds 1 to 8 and 101 to 110, so this is a regression
//! test. docs/case-notions.md has the table of other seeds.

use std::collections::BTreeMap;

use flowmine_generate::{Job, Options, generate};

use super::notions::assigned;
use super::support::Rows;
use crate::agreement::{Agreement, agreement};
use crate::cases::ALL;
use crate::parts::ROWS_AT_ONCE;

const SEEDS: [u64; 3] = [101, 102, 103];

/// Baselines with which `session` is compared.
const BASELINES: [&str; 6] = ["gap-arrival", "gap-last", "gap-max", "work-directory", "name", "first-path"];

/// Jobs as polls of squeue and accounting show them; the session only where it is known.
fn rows(jobs: &[Job], with_sessions: bool) -> Rows {
    let mut rows = Rows::default();
    for job in jobs {
        let state = if job.failed { "FAILED" } else { "COMPLETED" };
        let row = rows.accounting(&job.id.to_string(), job.submit_s, state, Some(job.start_s), Some(job.end_s), job.end_s + 1);
        row.user = Some(job.user.clone().into());
        row.account = Some(job.account.clone().into());
        row.name = Some(job.name.clone().into());
        row.activity = job.command.rsplit('/').next().map(|name| name.to_owned().into());
        row.command = Some(job.command.clone().into());
        row.arguments = (!job.arguments.is_empty()).then(|| job.arguments.clone().into());
        row.work_dir = Some(job.work_dir.clone().into());
        row.submit_node = Some("login".into());
        row.submit_session = with_sessions.then_some(job.session);
    }
    rows
}

/// The mean F1 of notions over the seeds.
fn mean_f1(overlap: usize, with_sessions: bool) -> BTreeMap<&'static str, f64> {
    let mut means = BTreeMap::new();
    for seed in SEEDS {
        let jobs = generate(&Options { seed, users: 8, runs: 20, overlap });
        let dir = tempfile::tempdir().unwrap();
        let dataset = rows(&jobs, with_sessions).dataset(&dir.path().join("d"));
        let truth = numbers(jobs.iter().map(|job| (job.id.to_string(), job.run.clone())).collect());
        for notion in ALL.iter().filter(|notion| !notion.needs_data_flow()) {
            let found = numbers(assigned(&dataset, *notion, ROWS_AT_ONCE));
            let Agreement { f1, .. } = agreement(&truth, &found);
            *means.entry(notion.name()).or_default() += f1 / SEEDS.len() as f64;
        }
    }
    means
}

/// Numbers of the cases, in the order of the jobs' names.
fn numbers(cases: BTreeMap<String, String>) -> Vec<u32> {
    let mut known = BTreeMap::new();
    cases
        .values()
        .map(|case| {
            let next = known.len() as u32;
            *known.entry(case.clone()).or_insert(next)
        })
        .collect()
}

/// The F1 of `session` and of the best gap where users and times are all that is known.
fn by_times_alone(seed: u64, overlap: usize, hide_name: bool) -> (f64, f64) {
    let jobs = generate(&Options { seed, users: 8, runs: 20, overlap });
    let mut rows = rows(&jobs, false);
    for row in &mut rows.states {
        row.name = (!hide_name).then(|| "job".into());
        (row.activity, row.command, row.arguments, row.work_dir) = (None, None, None, None);
    }
    let dir = tempfile::tempdir().unwrap();
    let dataset = rows.dataset(&dir.path().join("d"));
    let truth = numbers(jobs.iter().map(|job| (job.id.to_string(), job.run.clone())).collect());
    let f1 = |notion: &str| agreement(&truth, &numbers(assigned(&dataset, crate::cases::find(notion).unwrap(), ROWS_AT_ONCE))).f1;
    let gaps = ["gap-arrival", "gap-last", "gap-max"].map(f1);
    (f1("session"), gaps.into_iter().fold(0.0, f64::max))
}

#[test]
fn sessions_are_not_behind_gaps_where_only_users_and_times_are_known() {
    for (seed, overlap, hide_name) in [(2, 1, true), (8, 1, true), (8, 1, false), (10, 3, true)] {
        let (session, gap) = by_times_alone(seed, overlap, hide_name);
        assert!(session >= gap - 0.02, "seed {seed}, {overlap} at once: {session} and {gap}");
    }
}

#[test]
fn sessions_find_generated_runs_better_than_all_baselines() {
    for (overlap, with_sessions, least) in [(1, true, 0.85), (1, false, 0.85), (3, true, 0.75), (3, false, 0.75)] {
        let means = mean_f1(overlap, with_sessions);
        let session = means["session"];
        assert!(session >= least, "{overlap} at once, sessions known {with_sessions}: {means:?}");
        for baseline in BASELINES {
            assert!(session >= means[baseline] - 0.02, "{baseline}, {overlap} at once: {means:?}");
        }
        assert!(means["dependency"] == 0.0 && means["job"] == 0.0, "{means:?}");
    }
}

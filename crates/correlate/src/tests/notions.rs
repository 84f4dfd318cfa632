//! Notions of single jobs, of shared attributes of a user's jobs, and of gaps.

use std::collections::BTreeMap;

use flowmine_dataset::{Dataset, DatasetError};
use flowmine_schema::tables::Case;
use proptest::prelude::*;

use super::support::*;
use crate::cases::{ALL, CaseNotion, Entities, find};
use crate::parts::{Parts, ROWS_AT_ONCE};
use crate::{CorrelateError, Overview, RowRules, Timestamp, correlate};

/// Returns job and case by a notion, for parts of `rows_at_once` rows.
pub fn assigned(dataset: &Dataset, notion: &'static dyn CaseNotion, rows_at_once: u64) -> BTreeMap<String, String> {
    let rules = RowRules::default();
    let parts = Parts::new(dataset, Timestamp::Reported, &rules, rows_at_once).unwrap();
    let overview = Overview::read(dataset, &rules, &parts, &[notion]).unwrap();
    let mut all = BTreeMap::new();
    parts
        .for_each::<CorrelateError>(|jobs| {
            let assignment = notion.assign(&Entities { jobs, overview: &overview });
            let id = |at: usize| assignment.id_of(at).strip_prefix(&format!("{}:lab:", notion.name())).unwrap().to_owned();
            all.extend(jobs.attempts.iter().enumerate().map(|(at, a)| (jobs.text(a.job).to_owned(), id(at))));
            Ok(())
        })
        .unwrap();
    all
}

/// Job and case, the same whatever the size of parts.
fn cases_of_rows(rows: &Rows, notion: &str) -> Vec<(String, String)> {
    let notion = find(notion).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let dataset = rows.dataset(&dir.path().join("d"));
    let whole = assigned(&dataset, notion, ROWS_AT_ONCE);
    for rows_at_once in [2, 3] {
        assert_eq!(assigned(&dataset, notion, rows_at_once), whole, "{} in parts of {rows_at_once}", notion.name());
    }
    whole.into_iter().collect()
}

fn text(cases: &[(String, String)]) -> String {
    cases.iter().map(|(job, case)| format!("{job}={case}")).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_job_and_a_submission_are_cases() {
    let mut rows = running(&["8_1", "8_2", "9"]);
    rows.depends("9", 90, "afterok:8", 91);
    rows.requeued("9", 200, "PENDING", 150, 210);
    assert_eq!(text(&cases_of_rows(&rows, "job")), "8_1=8_1 8_2=8_2 9=9");
    assert_eq!(text(&cases_of_rows(&rows, "array")), "8_1=8 8_2=8 9=9");
}

#[test]
fn another_user_with_the_same_directory_and_name_is_in_another_case() {
    let mut rows = Rows::default();
    for (job, user, name) in [("1", "ann", "align_1"), ("2", "ann", "align_22"), ("3", "bob", "align_1"), ("4", "ann", "sort")] {
        let row = rows.new_job(job, raw_id(job) * 10, "RUNNING", 100);
        (row.user, row.name) = (Some(user.into()), Some(name.into()));
        row.work_dir = (name != "sort").then(|| "/w/x:y".into());
    }
    assert_eq!(text(&cases_of_rows(&rows, "name")), "1=ann:align_%23 2=ann:align_%23 3=bob:align_%23 4=ann:sort");
    assert_eq!(text(&cases_of_rows(&rows, "work-directory")), "1=ann:%2Fw%2Fx%3Ay 2=ann:%2Fw%2Fx%3Ay 3=bob:%2Fw%2Fx%3Ay 4=ann:(none)");
}

#[test]
fn gaps_are_measured_from_the_submission_the_last_end_and_the_latest_end() {
    let minute = 60;
    let mut rows = Rows::default();
    // (job, submitted, ended), in minutes. Job 4 goes on; another user's job 5 closes no gap.
    for (job, submit, end, user) in
        [("1", 0, 100, "ann"), ("2", 10, 15, "ann"), ("3", 36, 40, "ann"), ("6", 118, 119, "ann"), ("5", 110, 111, "bob")]
    {
        let row = rows.accounting(job, submit * minute, "COMPLETED", Some(submit * minute), Some(end * minute), 1000 * minute);
        row.user = Some(user.into());
    }
    let last = rows.new_job("7", 150 * minute, "RUNNING", 1000 * minute);
    last.user = Some("ann".into());
    rows.new_job("8", 900 * minute, "RUNNING", 1000 * minute);
    assert_eq!(text(&cases_of_rows(&rows, "gap-arrival")), "1=1 2=1 3=3 5=5 6=6 7=7 8=8");
    assert_eq!(text(&cases_of_rows(&rows, "gap-last")), "1=1 2=1 3=3 5=5 6=6 7=7 8=7");
    assert_eq!(text(&cases_of_rows(&rows, "gap-max")), "1=1 2=1 3=1 5=5 6=1 7=7 8=7");
}

#[test]
fn jobs_without_a_user_are_alone() {
    let mut rows = running(&["1", "2"]);
    rows.states.iter_mut().for_each(|row| row.user = None);
    assert_eq!(text(&cases_of_rows(&rows, "gap-max")), "1=1 2=2");
}

#[test]
fn a_copied_signature_joins_no_other_user() {
    let uuid = "3f2b8c1e-90ab-4cde-8f01-23456789abcd";
    let mut rows = Rows::default();
    for (job, user, name) in
        [("1", Some("ann"), uuid), ("2", Some("ann"), uuid), ("3", Some("bob"), uuid), ("4", None, uuid), ("5", Some("ann"), "x")]
    {
        let row = rows.new_job(job, raw_id(job) * 10, "RUNNING", 100);
        (row.user, row.name, row.comment) = (user.map(Into::into), Some(name.into()), Some("rule_a".into()));
    }
    let run = |user: &str| format!("{user}:snakemake:{uuid}");
    let want = format!("1={a} 2={a} 3={} 4=4 5=5", run("bob"), a = run("ann"));
    assert_eq!(text(&cases_of_rows(&rows, "engine-run")), want);
}

#[test]
fn runs_in_one_directory_are_distinguished_by_the_submitting_session() {
    let mut rows = Rows::default();
    for (job, session) in [("1", 7), ("2", 7), ("3", 8)] {
        let row = rows.new_job(job, raw_id(job) * 10, "RUNNING", 100);
        (row.name, row.command) = (Some("nf-A".into()), Some("/p/work/3f/0a/.command.run".into()));
        row.work_dir = Some("/p/work/3f/0a".into());
        (row.submit_node, row.submit_session) = (Some("login".into()), Some(session));
    }
    let cases = cases_of_rows(&rows, "engine-run");
    assert!(cases[0].1 == cases[1].1 && cases[1].1 != cases[2].1, "{cases:?}");
}

/// Returns jobs of two scripts of one user that run at the same time. Each script submits a step
/// seconds after the end of its last one.
fn two_scripts() -> Rows {
    let mut rows = Rows::default();
    for (job, submit, end, session, name) in [
        ("1", 0, 600, 41, "align.sh"),
        ("2", 100, 900, 42, "mesh.sh"),
        ("3", 603, 1500, 41, "sort.sh"),
        ("4", 905, 1600, 42, "solve.sh"),
        ("5", 1504, 1700, 41, "merge.sh"),
    ] {
        let row = rows.accounting(job, submit, "COMPLETED", Some(submit + 1), Some(end), 9000);
        (row.name, row.activity) = (Some(name.into()), Some(name.into()));
        (row.submit_node, row.submit_session) = (Some("login".into()), Some(session));
    }
    rows
}

#[test]
fn interleaved_scripts_of_one_user_are_two_sessions() {
    let mut rows = two_scripts();
    assert_eq!(text(&cases_of_rows(&rows, "session")), "1=1 2=2 3=1 4=2 5=1");
    // An account says nothing: a job submitted from a job can have the default account.
    rows.states.iter_mut().zip(0..).for_each(|(row, at)| row.account = Some(format!("account{at}").into()));
    assert_eq!(text(&cases_of_rows(&rows, "session")), "1=1 2=2 3=1 4=2 5=1");
    // Another user with the same directory, session, names and times.
    rows.states.iter_mut().for_each(|row| row.user = Some(if row.job_id > 2 { "bob" } else { "ann" }.into()));
    let cases = cases_of_rows(&rows, "session");
    assert!(cases[..2].iter().all(|(_, case)| ["1", "2"].contains(&case.as_str())), "{cases:?}");
    assert!(cases[2..].iter().all(|(_, case)| ["3", "4", "5"].contains(&case.as_str())), "{cases:?}");
}

#[test]
fn sessions_do_not_depend_on_the_order_of_rows() {
    let mut rows = two_scripts();
    let want = cases_of_rows(&rows, "session");
    rows.states.reverse();
    assert_eq!(cases_of_rows(&rows, "session"), want);
}

#[test]
fn odd_jobs_do_no_harm_to_sessions() {
    let mut rows = Rows::default();
    for job in 1..400 {
        // One name for all, equal times, an end before the submission, no end.
        let submit = 1000 + job / 100;
        let row = rows.accounting(&job.to_string(), submit, "COMPLETED", Some(submit), (job % 3 > 0).then_some(submit - 500), 9000);
        (row.name, row.work_dir) = (Some("".into()), Some("".into()));
        row.arguments = Some("x".repeat(job as usize).into());
        row.submit_session = Some(i64::MAX);
    }
    let cases = cases_of_rows(&rows, "session");
    assert_eq!(cases.len(), 399);
}

#[test]
fn the_table_says_why_and_how_certain() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = two_scripts().dataset(&dir.path().join("d"));
    let rules = RowRules::default();
    let parts = Parts::new(&dataset, Timestamp::Reported, &rules, 2).unwrap();
    let done = correlate(&dataset, &parts, ALL, Some("session")).unwrap();
    assert_eq!(done.cases, [("dependency", 5), ("account-group", 1), ("session", 2)]);
    let mut rows = Vec::new();
    dataset
        .read::<Case<'static>, DatasetError>(|row| {
            if row.notion == "session" {
                let evidence = row.evidence.as_deref().unwrap_or("-").to_owned();
                assert!(row.confidence.is_some_and(|confidence| (0.5..=1.0).contains(&confidence)), "{row:?}");
                rows.push(format!("{} {} {} {evidence}", row.job.unwrap(), row.strength, row.reason));
            } else {
                assert_eq!((&*row.strength, row.confidence), ("declared", None));
            }
            Ok(())
        })
        .unwrap();
    assert_eq!(rows[0], "1 inferred first -");
    assert!(rows[2].starts_with("3 inferred ") && rows[2].ends_with(" job 1 of lab"), "{rows:?}");
}

/// Runs of a script, of an engine, of a directory and of a declared chain, all of one user.
fn runs_of_a_victim() -> Rows {
    let mut rows = two_scripts();
    for (job, submit) in [("11", 604), ("12", 905), ("13", 906), ("14", 1000)] {
        rows.accounting(job, submit, "COMPLETED", Some(submit), Some(submit + 5), 9000);
    }
    for row in rows.states.iter_mut().filter(|row| row.job_id > 12) {
        (row.name, row.comment) = (Some("3f2b8c1e-90ab-4cde-8f01-23456789abcd".into()), Some("rule_a".into()));
    }
    for row in &mut rows.states {
        row.work_dir = Some("/w/run_07".into());
        row.arguments = Some("/w/run_07 sample_07".into());
    }
    rows
}

#[test]
fn a_stranger_who_copies_all_that_a_job_shows_joins_no_case() {
    let mut rows = runs_of_a_victim();
    let victims = rows.states.len();
    for at in 0..victims {
        // A second later, with the same name, comment, directory, arguments, session and account.
        let mut copy = rows.states[at].clone();
        copy.job_id += 1000;
        copy.job = copy.job_id.to_string().into();
        copy.submit_ns = copy.submit_ns.map(|submit| submit + s(1));
        copy.user = Some("mallory".into());
        rows.states.push(copy);
    }
    let of_stranger = |job: &str| raw_id(job) > 1000;
    for notion in ALL.iter().filter(|notion| notion.name() != "account-group") {
        let dir = tempfile::tempdir().unwrap();
        let dataset = rows.dataset(&dir.path().join("d"));
        let all = assigned(&dataset, *notion, ROWS_AT_ONCE);
        let cases = |stranger: bool| -> std::collections::BTreeSet<&String> {
            all.iter().filter(|(job, _)| of_stranger(job) == stranger).map(|(_, case)| case).collect()
        };
        assert_eq!(all.len(), 2 * victims);
        assert!(cases(true).is_disjoint(&cases(false)), "{}: {all:?}", notion.name());
        // Nor does the victim's assignment change.
        let dir = tempfile::tempdir().unwrap();
        let alone = assigned(&runs_of_a_victim().dataset(&dir.path().join("d")), *notion, ROWS_AT_ONCE);
        assert!(alone.iter().all(|(job, case)| all[job] == *case), "{}", notion.name());
    }
}

/// All rows of `cases`, of all notions that must see all jobs at once, and of the usual ones.
fn table(dataset: &Dataset) -> Vec<String> {
    let rules = RowRules::default();
    let mut all = Vec::new();
    for notion in ALL.iter().filter(|notion| notion.grouping().is_some()) {
        let parts = Parts::new(dataset, Timestamp::Reported, &rules, ROWS_AT_ONCE).unwrap();
        correlate(dataset, &parts, ALL, Some(notion.name())).unwrap();
        dataset
            .read::<Case<'static>, DatasetError>(|row| {
                all.push(format!("{row:?}"));
                Ok(())
            })
            .unwrap();
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3))]
    #[test]
    fn rows_added_step_by_step_or_at_once_give_the_same_cases(cuts in prop::collection::vec(1usize..9, 1..3)) {
        let rows = runs_of_a_victim();
        let at_once = tempfile::tempdir().unwrap();
        let want = table(&rows.dataset(&at_once.path().join("d")));
        let step_by_step = tempfile::tempdir().unwrap();
        let dir = step_by_step.path().join("d");
        let mut ends: Vec<usize> = cuts.into_iter().chain([0, rows.states.len()]).collect();
        ends.sort_unstable();
        for pair in ends.windows(2).filter(|pair| pair[0] < pair[1]) {
            let some = Rows { states: rows.states[pair[0]..pair[1]].to_vec(), ..Rows::default() };
            // Correlated in between, as cron does.
            let dataset = some.dataset(&dir);
            let rules = RowRules::default();
            let parts = Parts::new(&dataset, Timestamp::Reported, &rules, ROWS_AT_ONCE).unwrap();
            correlate(&dataset, &parts, ALL, Some("auto")).unwrap();
        }
        prop_assert_eq!(table(&Dataset::open(&dir).unwrap()), want);
    }
}

#[test]
fn auto_takes_the_strongest_evidence_of_each_job() {
    let uuid = "3f2b8c1e-90ab-4cde-8f01-23456789abcd";
    let mut rows = two_scripts();
    // Two jobs with a dependency, two of an engine, seconds after jobs of the scripts.
    for (job, submit) in [("11", 604), ("12", 605), ("13", 906), ("14", 2000)] {
        rows.accounting(job, submit, "COMPLETED", Some(submit), Some(submit + 5), 9000);
    }
    for row in rows.states.iter_mut().filter(|row| row.job_id > 12) {
        (row.name, row.comment) = (Some(uuid.into()), Some("rule_a".into()));
    }
    rows.depends("12", 605, "afterok:11", 606);
    assert_eq!(text(&cases_of_rows(&rows, "auto")), "1=1 11=11 12=11 13=13 14=13 2=2 3=1 4=2 5=1");
}

use flowmine_dataset::{Builder, Dataset, DatasetError, FORMAT_VERSION, Role};
use flowmine_schema::tables::{Case, JobDependency, JobState, Link};
use flowmine_test_support::TempDataset;

use super::support::*;
use crate::cases::ALL;
use crate::joined::kept_state;
use crate::parts::{Parts, ROWS_AT_ONCE};
use crate::{Jobs, RowRules, Timestamp, correlate};

fn dataset(rows: &Rows, parts: usize) -> TempDataset {
    let dataset = TempDataset::new();
    rows.states.chunks(rows.states.len().div_ceil(parts)).for_each(|rows| dataset.append::<JobState<'static>>(rows));
    dataset.append::<JobDependency<'static>>(&rows.dependencies);
    dataset
}

fn rows() -> Rows {
    let mut rows = Rows::default();
    for (job, submit) in [("1", 10), ("8_*", 80), ("8_1", 80), ("8_2", 80), ("9", 90), ("11", 110), ("12", 120)] {
        rows.new_job(job, submit, "RUNNING", submit + 5);
    }
    rows.depends("8_*", 80, "afterok:1", 81);
    rows.depends("9", 90, "afterok:8_1", 91);
    rows.depends("9", 90, "afterany:8_*", 91);
    rows.depends("9", 90, "afterok:8_7", 91);
    rows.depends("9", 90, "afterok:99999", 91);
    rows.depends("9", 90, "afterok:8_1", 95).source = "sacct".into();
    rows.depends("11", 110, "afterok:8002", 111);
    rows.depends("12", 120, "singleton", 121);
    rows
}

#[test]
fn what_an_older_version_derived_is_derived_again() {
    let dataset = dataset(&rows(), 1);
    let rules = RowRules::default();
    let parts = Parts::new(&dataset, Timestamp::Reported, &rules, ROWS_AT_ONCE).unwrap();
    correlate(&dataset, &parts, ALL, None).unwrap();
    let links = dataset.row_count::<Link<'static>>().unwrap();
    let manifest = dataset.path().join("flowmine.json");
    let older =
        std::fs::read_to_string(&manifest).unwrap().replace(&format!("\"format_version\": {FORMAT_VERSION}"), "\"format_version\": 1");
    std::fs::write(&manifest, older).unwrap();
    assert!(matches!(dataset.row_count::<Link<'static>>(), Err(DatasetError::Older { found: 1, .. })));
    correlate(&dataset, &parts, ALL, None).unwrap();
    assert_eq!(dataset.row_count::<Link<'static>>().unwrap(), links);
}

#[test]
fn what_is_joined_is_kept_as_long_as_the_rows_are_the_same() {
    let dataset = dataset(&rows(), 2);
    let rules = RowRules::default();
    let parts = |rows_at_once| Parts::new(&dataset, Timestamp::Reported, &rules, rows_at_once).unwrap();
    assert!(kept_state(&dataset).unwrap().is_none());
    // Of one part and of several.
    let before = parts(ROWS_AT_ONCE);
    for rows_at_once in [ROWS_AT_ONCE, 2] {
        correlate(&dataset, &parts(rows_at_once), ALL, None).unwrap();
        assert!(kept_state(&dataset).unwrap().is_some());
    }
    let mut later = Builder::<JobDependency<'static>>::new();
    later.push(&JobDependency { cluster: "c".into(), job: "1".into(), ..JobDependency::default() });
    let mut writer = dataset.writer(Role::Raw, "test").unwrap();
    let mut transaction = writer.begin().unwrap();
    transaction.append(later).unwrap();
    transaction.commit().unwrap();
    assert!(kept_state(&dataset).unwrap().is_none());
    // What was read before these rows came says nothing of them.
    correlate(&dataset, &before, ALL, None).unwrap();
    assert!(kept_state(&dataset).unwrap().is_none());
    correlate(&dataset, &parts(2), ALL, None).unwrap();
    assert!(kept_state(&dataset).unwrap().is_some());
    // What is damaged is as none, and is replaced.
    let kept = dataset.dir().join(".state/joined-jobs.parquet");
    let whole = std::fs::read(&kept).unwrap();
    for damaged in [&b""[..], &whole[..whole.len() / 2], b"PAR1\0\0\0\0PAR1"] {
        std::fs::write(&kept, damaged).unwrap();
        assert!(kept_state(&dataset).unwrap().is_none());
        correlate(&dataset, &parts(2), ALL, None).unwrap();
        assert_eq!(std::fs::read(&kept).unwrap(), whole);
    }
}

#[test]
fn links_and_cases() {
    let rows = rows();
    let dataset = dataset(&rows, 3);
    let rules = RowRules::default();
    let parts = Parts::new(&dataset, Timestamp::Reported, &rules, ROWS_AT_ONCE).unwrap();
    // Twice: the second replaces the first.
    correlate(&dataset, &parts, ALL, None).unwrap();
    let result = correlate(&dataset, &parts, ALL, None).unwrap();
    let mut links = Vec::new();
    dataset
        .read::<Link<'static>, DatasetError>(|row| {
            links.push(format!(
                "{} {} {:?} {} {} {} | {}",
                row.source,
                row.target,
                row.target_ns.map(|t| t / s(1)),
                row.relation,
                row.rule,
                row.target_seen,
                row.evidence
            ));
            Ok(())
        })
        .unwrap();
    links.sort();
    assert_eq!(
        links,
        [
            "11 8_2 Some(80) afterok declared-dependency true | squeue said afterok:8002",
            "12 1 Some(10) singleton singleton true | squeue said singleton",
            "12 11 Some(110) singleton singleton true | squeue said singleton",
            "12 8_* Some(80) singleton singleton true | squeue said singleton",
            "12 9 Some(90) singleton singleton true | squeue said singleton",
            "8_* 1 Some(10) afterok declared-dependency true | squeue said afterok:1",
            "9 8_* Some(80) afterany declared-dependency true | squeue said afterany:8_*",
            "9 8_1 Some(80) afterok declared-dependency true | sacct and squeue said afterok:8_1",
            "9 8_7 Some(80) afterok declared-dependency true | squeue said afterok:8_7",
            "9 99999 None afterok declared-dependency false | squeue said afterok:99999",
        ]
    );
    assert_eq!((result.links, result.unseen_targets), (10, 1));
    assert_eq!(result.cases, [("dependency", 1), ("account-group", 1)]);
    let mut cases = Vec::new();
    dataset
        .read::<Case<'static>, DatasetError>(|row| {
            cases.push((row.notion.into_owned(), row.case_id.into_owned(), row.job.unwrap().into_owned(), row.job_id, row.attempt));
            Ok(())
        })
        .unwrap();
    // Six attempts in two notions; the record of the array is none.
    assert_eq!(cases.len(), 12);
    assert_eq!(cases[0], ("dependency".into(), "dependency:lab:1".into(), "1".into(), Some(1), Some(1)));
    assert_eq!(cases[11].1, "account-group:lab:proj/physics");
}

#[test]
fn a_dataset_gives_what_its_rows_give_however_it_is_cut_into_files() {
    let rows = rows();
    let want = rows.jobs();
    for parts in [1, 2, 7] {
        let dataset = dataset(&rows, parts);
        let got = Jobs::read(&dataset, Timestamp::Reported).unwrap();
        assert_eq!(got.attempts, want.attempts);
        assert_eq!(got.events, want.events);
        assert_eq!(got.dependencies, want.dependencies);
        assert_eq!(got.strings, want.strings);
    }
}

#[test]
fn an_empty_dataset_has_no_jobs() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = Dataset::open_or_create(&dir.path().join("d")).unwrap();
    let rules = RowRules::default();
    let parts = Parts::new(&dataset, Timestamp::Reported, &rules, ROWS_AT_ONCE).unwrap();
    let result = correlate(&dataset, &parts, ALL, None).unwrap();
    assert_eq!((result.attempts, result.links, result.case_rows), (0, 0, 0));
}

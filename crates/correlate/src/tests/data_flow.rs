//! Jobs that gave data to each other in one case.

use std::collections::BTreeMap;

use flowmine_dataset::Role;
use flowmine_dataset::{Builder, Dataset, DatasetError, HubLimits};
use flowmine_schema::tables::{Case, DataFlow, IoEvent, Link, Process};
use flowmine_schema::time::Day;
use flowmine_test_support::built;
use proptest::prelude::*;

use super::properties::{interleaved, lives, together};
use super::support::*;
use crate::cases::{self, ALL, CaseNotion, Dependency, Entities, telling};
use crate::exchanges::{Hub, HubReason, SLACK_NS};
use crate::parts::{Parts, ROWS_AT_ONCE};
use crate::{CorrelateError, Exchanges, Overview, RowRules, Timestamp, correlate};

/// Type, scope and id, as in `links`.
type Who<'a> = (&'a str, &'a str, &'a str);

fn job(id: &str) -> Who<'_> {
    ("job", "lab", id)
}

fn task(id: &str) -> Who<'_> {
    ("task", "makeflow", id)
}

/// Returns a flow from a writer to a reader through the file with this number, at these seconds.
fn gave(inode: i64, writer: Who<'_>, wrote_at: i64, reader: Who<'_>, read_at: i64) -> DataFlow<'static> {
    let own = |text: &str| Some(text.to_owned().into());
    DataFlow {
        host: own("n1"),
        inode: Some(inode),
        version: 1,
        origin: "created".into(),
        writer_type: own(writer.0),
        writer_scope: own(writer.1),
        writer: own(writer.2),
        written_bytes: 10,
        first_write_ns: Some(s(wrote_at)),
        reader_type: own(reader.0),
        reader_scope: own(reader.1),
        reader: own(reader.2),
        read_bytes: 10,
        first_read_ns: Some(s(read_at)),
        ..DataFlow::default()
    }
}

fn ran_as(source: Who<'_>, target: Who<'_>, submit: Option<i64>) -> Link<'static> {
    Link {
        source_type: source.0.to_owned().into(),
        source_scope: source.1.to_owned().into(),
        source: source.2.to_owned().into(),
        target_type: target.0.to_owned().into(),
        target_scope: target.1.to_owned().into(),
        target: target.2.to_owned().into(),
        target_ns: submit.map(s),
        relation: if target.0 == "job" { "ran-as" } else { "belongs-to" }.into(),
        ..Link::default()
    }
}

fn write(dataset: &Dataset, flows: &[DataFlow<'static>], links: &[Link<'static>]) {
    let mut writer = dataset.writer(Role::Derived, "test").unwrap();
    let mut transaction = writer.begin().unwrap();
    transaction.replace(built::<DataFlow<'static>>(flows)).unwrap();
    transaction.replace(built::<Link<'static>>(links)).unwrap();
    transaction.commit().unwrap();
}

/// Returns `job@submission` and its case by the notion, for parts of `rows_at_once` rows.
fn assigned(dataset: &Dataset, rows_at_once: u64) -> Vec<(String, String)> {
    let rules = RowRules::default();
    let parts = Parts::new(dataset, Timestamp::Reported, &rules, rows_at_once).unwrap();
    let overview = Overview::read(dataset, &rules, &parts, &[&cases::DataFlow]).unwrap();
    let mut all = Vec::new();
    parts
        .for_each::<CorrelateError>(|jobs| {
            let assignment = cases::DataFlow.assign(&Entities { jobs, overview: &overview });
            let mut ids = assignment.ids.clone();
            ids.sort();
            ids.dedup();
            assert_eq!((ids.len(), assignment.goes_on.len()), (assignment.ids.len(), assignment.ids.len()));
            let name =
                |(at, a): (usize, &crate::JobAttempt)| (format!("{}#{}", jobs.attempt_id(a), a.number), assignment.id_of(at).to_owned());
            all.extend(jobs.attempts.iter().enumerate().map(name));
            Ok(())
        })
        .unwrap();
    all.sort();
    all
}

/// Job and case without what all have, the same whatever the size of parts.
fn cases_of_jobs(rows: &Rows, flows: &[DataFlow<'static>], links: &[Link<'static>]) -> Vec<(String, String)> {
    let dir = tempfile::tempdir().unwrap();
    let dataset = rows.dataset(&dir.path().join("d"));
    write(&dataset, flows, links);
    let whole = assigned(&dataset, ROWS_AT_ONCE);
    for rows_at_once in [1, 2, 3] {
        assert_eq!(assigned(&dataset, rows_at_once), whole);
    }
    let job = |name: &str| name.split(['@', '#']).next().unwrap().strip_prefix("lab:").unwrap().to_owned();
    whole.iter().map(|(name, id)| (job(name), id.strip_prefix("data-flow:lab:").unwrap().to_owned())).collect()
}

#[test]
fn files_join_as_dependencies_do() {
    let mut rows = running(&["1", "2", "3", "4", "5", "6"]);
    rows.depends("3", 30, "afterok:2", 31);
    // 1 gave to 3, which waited for 2; 4 gave to 5; 6 read what 6 wrote, and what was there before.
    let before = DataFlow { writer_type: None, writer_scope: None, writer: None, ..gave(4, job("5"), 0, job("6"), 62) };
    let flows = [gave(1, job("1"), 12, job("3"), 32), gave(2, job("4"), 42, job("5"), 52), gave(3, job("6"), 61, job("6"), 62), before];
    let all = cases_of_jobs(&rows, &flows, &[]);
    assert_eq!(pairs(&all), [("1", "1"), ("2", "1"), ("3", "1"), ("4", "4"), ("5", "4"), ("6", "6")]);
}

#[test]
fn the_id_is_that_of_the_oldest_submission() {
    // Ids that began anew: the oldest is 90.
    let mut rows = Rows::default();
    for (id, submit) in [("90", 10), ("8_1", 20), ("8_2", 20), ("7", 30)] {
        rows.new_job(id, submit, "RUNNING", submit + 5);
    }
    let flows = [gave(1, job("7"), 36, job("8_2"), 37), gave(2, job("90"), 36, job("8_1"), 37)];
    let all = cases_of_jobs(&rows, &flows, &[]);
    assert_eq!(pairs(&all), [("7", "90"), ("8_1", "90"), ("8_2", "90"), ("90", "90")]);
}

#[test]
fn what_tasks_and_containers_did_their_jobs_did() {
    let rows = running(&["1", "2", "3", "4", "5"]);
    let container = ("container", "n1", "c0ffee");
    // The container belongs to a task that ran as a job; a step is a part of its job.
    let flows = [
        gave(1, task("a#1"), 12, task("b#1"), 22),
        gave(2, container, 32, job("4"), 42),
        // No row specifies which job this was, or the cluster of that job.
        gave(3, task("local#1"), 12, job("5"), 52),
        gave(4, ("job", "", "1"), 12, job("5"), 52),
        gave(5, ("unassigned", "n1", "no-rule"), 12, job("5"), 52),
        gave(6, job("99"), 12, job("5"), 52),
    ];
    let links = [
        ran_as(task("a#1"), job("1"), Some(10)),
        Link { relation: "belongs-to".into(), ..ran_as(task("b#1"), ("step", "lab", "2.batch"), None) },
        ran_as(container, task("c#1"), None),
        ran_as(task("c#1"), job("3"), None),
        // A declared dependency is none of these.
        Link { relation: "afterok".into(), ..ran_as(job("5"), job("1"), None) },
    ];
    let all = cases_of_jobs(&rows, &flows, &links);
    assert_eq!(pairs(&all), [("1", "1"), ("2", "1"), ("3", "3"), ("4", "3"), ("5", "5")]);
}

#[test]
fn of_a_recycled_id_that_use_counts_at_whose_time_it_was() {
    let mut rows = running(&["7", "8"]);
    rows.left("7", Some(70), 80, 90);
    rows.new_job("7", 700, "RUNNING", 710);
    rows.new_job("9", 800, "RUNNING", 810);
    let all = cases_of_jobs(&rows, &[gave(1, job("7"), 75, job("8"), 85), gave(2, job("7"), 720, job("9"), 815)], &[]);
    assert_eq!(pairs(&all), [("7", "7"), ("7", "7#2"), ("8", "7"), ("9", "7#2")]);
    // The later use read what the earlier one wrote.
    let all = cases_of_jobs(&rows, &[gave(1, job("7"), 75, job("7"), 720)], &[]);
    assert_eq!(pairs(&all), [("7", "7"), ("7", "7"), ("8", "8"), ("9", "9")]);
    // A link names the submission.
    let links = [ran_as(task("a#1"), job("7"), Some(700))];
    let all = cases_of_jobs(&rows, &[gave(1, task("a#1"), 75, job("8"), 85)], &links);
    assert_eq!(pairs(&all), [("7", "7"), ("7", "8"), ("8", "8"), ("9", "9")]);
    // Without a time, the submission is unknown.
    let row = DataFlow { first_write_ns: None, ..gave(1, job("7"), 75, job("8"), 85) };
    let all = cases_of_jobs(&rows, &[row], &[]);
    assert_eq!(pairs(&all), [("7", "7"), ("7", "7#2"), ("8", "8"), ("9", "9")]);
}

#[test]
fn who_only_made_a_file_gave_nothing() {
    let rows = running(&["1", "2", "3"]);
    let made = DataFlow { written_bytes: 0, ..gave(1, job("1"), 12, job("3"), 32) };
    let others = gave(1, ("unassigned", "n1", "no-rule"), 13, job("3"), 32);
    let wrote = gave(1, job("2"), 13, job("3"), 32);
    let of = |flows: &[DataFlow<'static>]| cases_of_jobs(&rows, flows, &[]).into_iter().map(|(_, case)| case).collect::<Vec<_>>();
    assert_eq!(of(&[made.clone(), wrote]), ["1", "2", "2"]);
    assert_eq!(of(&[made.clone(), others]), ["1", "2", "3"]);
    // No other writer is known: the file may have been written through a mapping.
    assert_eq!(of(&[made]), ["1", "2", "1"]);
}

/// Ten workflows of four jobs, each in a directory of its own, that all read what job 1 unpacked.
fn workflows_with_a_reference() -> (Rows, Vec<DataFlow<'static>>) {
    let mut rows = running(&["1"]);
    rows.states[0].work_dir = Some("/ref".into());
    let mut flows = Vec::new();
    for workflow in 0..10 {
        let id = |step: i64| (10 + workflow * 10 + step).to_string();
        for step in 0..4 {
            let submit = raw_id(&id(step)) * 10;
            rows.new_job(&id(step), submit, "RUNNING", submit + 1).work_dir = Some(format!("/w/{workflow}").into());
            if step < 2 {
                let reference = DataFlow { path: Some("/ref/genome.fa".into()), ..gave(1, job("1"), 12, job(&id(step)), submit + 2) };
                flows.push(reference);
            }
            if step > 0 {
                flows.push(gave(raw_id(&id(step)), job(&id(step - 1)), submit - 5, job(&id(step)), submit + 2));
            }
        }
    }
    (rows, flows)
}

#[test]
fn a_reference_that_ten_workflows_read_joins_none_of_them() {
    let (rows, flows) = workflows_with_a_reference();
    let all = cases_of_jobs(&rows, &flows, &[]);
    for (name, case) in &all {
        let first = if name == "1" { 1 } else { raw_id(name) / 10 * 10 };
        assert_eq!(*case, first.to_string(), "{name}");
    }
    let dir = tempfile::tempdir().unwrap();
    let dataset = rows.dataset(&dir.path().join("d"));
    write(&dataset, &flows, &[]);
    let rules = RowRules::default();
    let parts = Parts::new(&dataset, Timestamp::Reported, &rules, ROWS_AT_ONCE).unwrap();
    let hubs = || Exchanges::read(&dataset, &rules, &parts).unwrap().hubs().to_vec();
    let hub = Hub { path: "/ref/genome.fa".to_owned(), reason: HubReason::FanOut, readers: 10 };
    assert_eq!(hubs(), [hub]);
    // `auto` follows the files, too, and uses no session in addition.
    let auto = super::notions::assigned(&dataset, &cases::Auto, ROWS_AT_ONCE);
    assert!(all.iter().all(|(name, case)| auto[name] == *case), "{auto:?}");
    // More runs than there are: now the file joins.
    let mut writer = dataset.writer(Role::Derived, "test").unwrap();
    let mut transaction = writer.begin().unwrap();
    transaction.update_manifest(|manifest| manifest.hubs = Some(HubLimits { runs: 11, readers: 11, ..HubLimits::default() })).unwrap();
    transaction.commit().unwrap();
    drop(writer);
    assert_eq!(hubs(), []);
    assert!(assigned(&dataset, ROWS_AT_ONCE).iter().all(|(_, case)| case == "data-flow:lab:1"));
}

#[test]
fn a_sweep_over_one_input_is_one_run_and_what_is_old_or_of_a_shared_kind_joins_nobody() {
    let ids: Vec<String> = (1..=13).map(|id| id.to_string()).collect();
    let rows = running(&ids.iter().map(String::as_str).collect::<Vec<_>>());
    // Twelve jobs, ten seconds apart, in the directory of the job that wrote their input.
    let mut flows: Vec<DataFlow<'static>> = ids[1..].iter().map(|id| gave(1, job("1"), 12, job(id), raw_id(id) * 10 + 5)).collect();
    assert!(cases_of_jobs(&rows, &flows, &[]).iter().all(|(_, case)| case == "1"));
    // The same by users in twelve directories.
    let mut others = Rows::default();
    for id in &ids {
        others.new_job(id, raw_id(id) * 10, "RUNNING", raw_id(id) * 10 + 5).work_dir = Some(format!("/w/{id}").into());
    }
    assert!(cases_of_jobs(&others, &flows, &[]).iter().all(|(name, case)| case == name));
    flows.truncate(2);
    let joined = |flows: &[DataFlow<'static>]| cases_of_jobs(&rows, flows, &[]).into_iter().find(|(name, _)| name == "3").unwrap().1;
    assert_eq!(joined(&flows), "1");
    let week_s = 7 * 24 * 3600;
    flows[1].first_read_ns = Some(s(12 + week_s + 1));
    assert_eq!(joined(&flows), "3");
    flows[1].first_read_ns = Some(s(12 + week_s));
    assert_eq!(joined(&flows), "1");
    flows.iter_mut().for_each(|flow| flow.path = Some("/home/ann/.cache/x".into()));
    assert_eq!(joined(&flows), "3");
}

#[test]
fn it_tells_nothing_where_no_job_read_what_another_wrote() {
    let mut rows = running(&["1", "2", "8_1", "8_2"]);
    rows.depends("2", 20, "afterok:1", 21);
    let told = |flows: &[DataFlow<'static>]| {
        let dir = tempfile::tempdir().unwrap();
        let dataset = rows.dataset(&dir.path().join("d"));
        write(&dataset, flows, &[]);
        let rules = RowRules::default();
        let parts = Parts::new(&dataset, Timestamp::Reported, &rules, ROWS_AT_ONCE).unwrap();
        let exchanges = Exchanges::read(&dataset, &rules, &parts).unwrap();
        let notions: Vec<&str> = telling(&exchanges, &Dependency).iter().map(|notion| notion.name()).collect();
        (exchanges.any(), notions.contains(&"data-flow"))
    };
    assert_eq!(told(&[]), (false, false));
    assert_eq!(told(&[gave(1, job("1"), 12, job("1"), 13), gave(2, job("98"), 12, job("99"), 13)]), (false, false));
    // Those of one case, and two tasks of one array.
    assert_eq!(told(&[gave(1, job("1"), 12, job("2"), 23)]), (true, true));
    assert_eq!(told(&[gave(1, job("8_1"), 82, job("8_2"), 83)]), (true, true));
}

/// A host on which each of these jobs, at these seconds, wrote (`true`) or read a file.
fn trace(dataset: &Dataset, did: &[(i64, i64, bool, i64)]) {
    let mut processes = Builder::<Process<'static>>::new();
    let mut operations = Builder::<IoEvent<'static>>::new();
    for (pid, (job, at, writes, inode)) in (100i32..).zip(did) {
        let process_start_ns = Some(s(*at));
        processes.push(&Process {
            host: "n1".into(),
            pid,
            process_start_ns,
            start_precision_ns: Some(1),
            as_of_ns: s(*at + 1),
            started_ns: Some(s(*at)),
            environment: Some(format!(r#"{{"SLURM_JOB_ID":"{job}"}}"#).into()),
            ..Process::default()
        });
        operations.push(&IoEvent {
            host: "n1".into(),
            pid,
            process_start_ns,
            op: if *writes { "write" } else { "read" }.into(),
            start_ns: s(*at) + 1000,
            device: Some(1),
            inode: Some(*inode),
            offset: Some(0),
            size: Some(10),
            result: Some(10),
            ..IoEvent::default()
        });
    }
    let mut writer = dataset.writer(Role::Host("n1".to_owned()), "test").unwrap();
    let mut transaction = writer.begin().unwrap();
    transaction.append_split(processes, "n1", Day::new(0)).unwrap();
    transaction.append_split(operations, "n1", Day::new(0)).unwrap();
    transaction.commit().unwrap();
}

fn written(dataset: &Dataset) -> BTreeMap<String, Vec<String>> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    dataset
        .read::<Case<'static>, DatasetError>(|row| {
            all.entry(row.notion.into_owned()).or_default().push(format!("{} {}", row.job.unwrap(), row.case_id));
            Ok(())
        })
        .unwrap();
    all
}

#[test]
fn correlate_knows_the_data_flow_of_its_own_run() {
    let rows = running(&["1", "2", "3", "4"]);
    for rows_at_once in [ROWS_AT_ONCE, 1] {
        let dir = tempfile::tempdir().unwrap();
        let dataset = rows.dataset(&dir.path().join("d"));
        let rules = RowRules::default();
        let parts = Parts::new(&dataset, Timestamp::Reported, &rules, rows_at_once).unwrap();
        let made = |asked| correlate(&dataset, &parts, ALL, asked).unwrap().cases;
        let usual = [("dependency", 4), ("account-group", 1)];
        assert_eq!(made(None), usual, "nothing was traced");
        trace(&dataset, &[(1, 20, true, 5), (2, 30, false, 5), (2, 31, true, 6), (4, 50, false, 6), (3, 51, false, 7)]);
        let told = correlate(&dataset, &parts, ALL, None).unwrap();
        assert_eq!(told.cases, [("dependency", 4), ("account-group", 1), ("data-flow", 2)]);
        assert_eq!((told.case_rows, told.jobs_exchanged_data), (12, true));
        let in_order = ["1 data-flow:lab:1", "2 data-flow:lab:1", "3 data-flow:lab:3", "4 data-flow:lab:1"];
        assert_eq!(written(&dataset)["data-flow"], in_order);
        // Who reads the tables later finds the same.
        let later: Vec<String> = assigned(&dataset, rows_at_once).iter().map(|(name, id)| format!("{} {id}", &name[4..5])).collect();
        assert_eq!(later, in_order);
    }
    // Traces of which no job read what another wrote: only when it is asked for.
    let dir = tempfile::tempdir().unwrap();
    let dataset = rows.dataset(&dir.path().join("d"));
    trace(&dataset, &[(1, 20, true, 5), (1, 21, false, 5)]);
    let rules = RowRules::default();
    let parts = Parts::new(&dataset, Timestamp::Reported, &rules, ROWS_AT_ONCE).unwrap();
    assert_eq!(correlate(&dataset, &parts, ALL, Some("dependency")).unwrap().cases, [("dependency", 4), ("account-group", 1)]);
    let asked = correlate(&dataset, &parts, ALL, Some("data-flow")).unwrap();
    assert_eq!((asked.cases.last(), asked.jobs_exchanged_data), (Some(&("data-flow", 4)), false));
}

/// What the notion should say, the slow way: each attempt's set grows until no dependency case and
/// no row of data flow joins two sets.
fn slowly(rows: &Rows, flows: &[(String, i64, String, i64)]) -> Vec<(String, String)> {
    let jobs = rows.jobs();
    let by_dependency = Dependency.assign(&Entities::new(&jobs));
    let mut set: Vec<usize> = by_dependency.case_of.iter().map(|case| *case as usize).collect();
    let meant = |label: &str, at: i64| {
        let of: Vec<usize> =
            (0..jobs.attempts.len()).filter(|a| jobs.text(jobs.attempts[*a].job) == label && !label.ends_with('*')).collect();
        let there = |a: &&usize| jobs.attempts[**a].since_ns <= s(at) + SLACK_NS;
        // Attempts are in the order of age.
        of.iter().rev().find(there).or(of.first()).copied()
    };
    loop {
        let before = set.clone();
        for (writer, wrote_at, reader, read_at) in flows {
            if let (Some(a), Some(b)) = (meant(writer, *wrote_at), meant(reader, *read_at)) {
                let (a, b) = (set[a], set[b]);
                set.iter_mut().filter(|one| **one == a.max(b)).for_each(|one| *one = a.min(b));
            }
        }
        if set == before {
            break;
        }
    }
    let oldest = |of: usize| (0..set.len()).filter(|a| set[*a] == of).map(|a| jobs.attempts[a].submission).min().unwrap();
    let id = |of: usize| {
        let submission = &jobs.submissions[oldest(of) as usize];
        let again = if submission.generation > 1 { format!("#{}", submission.generation) } else { String::new() };
        format!("data-flow:lab:{}{again}", submission.id)
    };
    let mut all: Vec<(String, String)> =
        jobs.attempts.iter().enumerate().map(|(at, a)| (format!("{}#{}", jobs.attempt_id(a), a.number), id(set[at]))).collect();
    all.sort();
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn it_is_the_same_in_any_order_and_parts_and_as_found_slowly(
        lives in lives(),
        picks in prop::collection::vec((0usize..14, 0i64..60, 0usize..14, 0i64..60), 0..8),
        rows_at_once in 1u64..12,
        turn in 0usize..8,
    ) {
        let flows: Vec<(String, i64, String, i64)> = picks
            .iter()
            .map(|(writer, wrote, reader, read)| {
                let (writer, reader) = (&lives[writer % lives.len()], &lives[reader % lives.len()]);
                (writer.label.clone(), writer.submit + wrote, reader.label.clone(), reader.submit + read)
            })
            .collect();
        let mut told: Vec<DataFlow<'static>> =
            (1i64..).zip(&flows).map(|(inode, (writer, wrote, reader, read))| gave(inode, job(writer), *wrote, job(reader), *read)).collect();
        let want = slowly(&together(lives.iter()), &flows);
        for (rows, at_once) in [(together(lives.iter()), ROWS_AT_ONCE), (interleaved(&lives), rows_at_once)] {
            let dir = tempfile::tempdir().unwrap();
            let dataset = rows.dataset(dir.path());
            write(&dataset, &told, &[]);
            prop_assert_eq!(&assigned(&dataset, at_once), &want);
            let count = told.len().max(1);
            told.rotate_left(turn % count);
        }
    }
}

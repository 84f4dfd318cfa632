//! Pruning against a model of whole submissions and whole traces: datasets, borders and obstacles
//! made at random.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;

use flowmine_correlate::prune::prune;
use flowmine_dataset::{Access, Builder, Dataset, DatasetError, Role};
use flowmine_schema::tables::{Host, JobState, Process};
use flowmine_schema::time::{Day, SECOND_NS};
use proptest::prelude::*;

/// Somebody else, who needs no account.
const OTHER: u32 = 4711;
/// Ends lie on whole steps and borders between them, so that no rounding matters.
const STEP: i64 = 20_000 * SECOND_NS;
const BEGIN: i64 = 1_795_000_000 * SECOND_NS;
const HOST: &str = "n1";

/// What was submitted under one number: when its attempts or tasks ended, in steps.
#[derive(Debug, Clone)]
struct Submission {
    is_array: bool,
    ends: Vec<Option<i64>>,
}

/// A trace: when it ended, in steps, and when it saw processes.
#[derive(Debug, Clone)]
struct Trace {
    end: Option<i64>,
    seen: Vec<i64>,
}

fn submissions() -> impl Strategy<Value = Vec<Submission>> {
    let ends = proptest::collection::vec(proptest::option::weighted(0.8, 1..20i64), 1..4);
    let one = (any::<bool>(), ends).prop_map(|(is_array, mut ends)| {
        if !is_array {
            // A job is submitted again when it had ended.
            let last = ends.pop().flatten();
            ends = ends.into_iter().flatten().map(Some).collect();
            ends.push(last);
            ends.sort_by_key(|end| end.unwrap_or(i64::MAX));
            ends.dedup();
        }
        Submission { is_array, ends }
    });
    proptest::collection::vec(one, 1..6)
}

fn traces() -> impl Strategy<Value = Vec<Trace>> {
    let one = (proptest::option::weighted(0.7, 1..20i64), proptest::collection::vec(0..20i64, 0..4));
    let one = one.prop_map(|(end, mut seen)| {
        seen.retain(|at| end.is_none_or(|end| *at <= end));
        Trace { end, seen }
    });
    proptest::collection::vec(one, 0..4)
}

/// The rows of a submission, each with a label by which it is known again.
fn rows_of(number: usize, submission: &Submission) -> Vec<JobState<'static>> {
    let mut rows = Vec::new();
    let id = 100 * (number as i64 + 1);
    let mut submit_ns = BEGIN;
    for (at, end) in submission.ends.iter().enumerate() {
        let task = at as i64;
        let of = |state: &'static str, change: &'static str, observed_at_ns: i64| JobState {
            cluster: "lab".into(),
            job: if submission.is_array { format!("{id}_{task}").into() } else { id.to_string().into() },
            job_id: if submission.is_array { id + task + 1 } else { id },
            array_job_id: submission.is_array.then_some(id),
            array_task_id: submission.is_array.then_some(task),
            submit_ns: Some(submit_ns),
            source: "squeue".into(),
            comment: Some(format!("{number} {at} {state}").into()),
            state: Some(state.into()),
            change: change.into(),
            observed_at_ns,
            ..JobState::default()
        };
        rows.push(of("PENDING", if at > 0 && !submission.is_array { "requeued" } else { "new" }, submit_ns + SECOND_NS));
        if let Some(end) = end {
            let ended = BEGIN + end * STEP;
            let row = of("COMPLETED", "state", ended + SECOND_NS);
            rows.push(JobState { reported_ns: Some(ended), start_ns: Some(submit_ns), end_ns: Some(ended), ..row });
            if !submission.is_array {
                submit_ns = ended + 2 * SECOND_NS;
            }
        }
    }
    rows
}

fn write(dataset: &Dataset, submissions: &[Submission], traces: &[Trace], files: usize) {
    let mut rows: Vec<JobState<'static>> = submissions.iter().enumerate().flat_map(|(number, of)| rows_of(number, of)).collect();
    rows.sort_by_key(|row| row.observed_at_ns);
    let mut writer = dataset.writer(Role::Raw, "test").unwrap();
    for rows in rows.chunks(rows.len().div_ceil(files)) {
        let mut transaction = writer.begin().unwrap();
        let mut builder = Builder::<JobState<'static>>::new();
        rows.iter().for_each(|row| builder.push(row));
        transaction.append(builder).unwrap();
        transaction.update_manifest(|manifest| _ = manifest.clusters.insert("lab".to_owned())).unwrap();
        transaction.commit().unwrap();
    }
    let mut writer = dataset.host_writer(HOST, "test").unwrap();
    for (number, trace) in traces.iter().enumerate() {
        let trace_ns = BEGIN + number as i64;
        let mut transaction = writer.begin().unwrap();
        transaction.update_manifest(|manifest| _ = manifest.hosts.insert(HOST.to_owned())).unwrap();
        for (state, at_ns) in [("running", trace_ns)].into_iter().chain(trace.end.map(|end| ("ended", BEGIN + end * STEP))) {
            let mut builder = Builder::<Host<'static>>::new();
            builder.push(&Host { host: HOST.into(), trace_ns, state: state.into(), at_ns, ..Host::default() });
            transaction.append_split(builder, HOST, Day::new(at_ns)).unwrap();
        }
        for at in &trace.seen {
            let as_of_ns = BEGIN + at * STEP;
            let mut builder = Builder::<Process<'static>>::new();
            builder.push(&Process { host: HOST.into(), trace_ns, pid: *at as i32, as_of_ns, ..Process::default() });
            transaction.append_split(builder, HOST, Day::new(as_of_ns)).unwrap();
        }
        transaction.commit().unwrap();
    }
}

/// What readers see: labels of rows of jobs; traces and times of processes.
fn seen(dataset: &Dataset) -> (Vec<String>, Vec<(i64, i64)>) {
    let (mut jobs, mut processes) = (Vec::new(), Vec::new());
    let read = dataset.read::<JobState<'static>, DatasetError>(|row| {
        jobs.push(row.comment.unwrap().into_owned());
        Ok(())
    });
    read.unwrap();
    let read = dataset.read::<Process<'static>, DatasetError>(|row| {
        processes.push((row.trace_ns - BEGIN, (row.as_of_ns - BEGIN) / STEP));
        Ok(())
    });
    read.unwrap();
    jobs.sort();
    processes.sort();
    (jobs, processes)
}

/// What stays: submissions of which something had not ended by then, and traces that had not.
fn model(submissions: &[Submission], traces: &[Trace], before_ns: i64) -> (Vec<String>, Vec<(i64, i64)>) {
    let is_late = |step: i64| BEGIN + step * STEP >= before_ns;
    let (mut jobs, mut processes) = (Vec::new(), Vec::new());
    for (number, submission) in submissions.iter().enumerate() {
        if submission.ends.iter().any(|end| end.is_none_or(is_late)) {
            for (at, end) in submission.ends.iter().enumerate() {
                jobs.push(format!("{number} {at} PENDING"));
                jobs.extend(end.map(|_| format!("{number} {at} COMPLETED")));
            }
        }
    }
    let day = |ns: i64| ns.div_euclid(86_400 * SECOND_NS);
    for (number, trace) in traces.iter().enumerate() {
        let stays = match trace.end {
            Some(end) => is_late(end),
            // Killed: it lived at least on the days on which it wrote.
            None => trace.seen.iter().map(|at| BEGIN + at * STEP).chain([BEGIN]).any(|ns| day(ns) >= day(before_ns)),
        };
        if stays {
            processes.extend(trace.seen.iter().map(|at| (number as i64, *at)));
        }
    }
    jobs.sort();
    processes.sort();
    (jobs, processes)
}

/// The folders of a dataset that hold parts.
fn folders(dir: &Path) -> Vec<std::path::PathBuf> {
    let below: Vec<_> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    let has_parts = below.iter().any(|path| path.extension().is_some_and(|extension| extension == "parquet"));
    let deeper = below.iter().filter(|path| path.is_dir()).flat_map(|path| folders(path));
    deeper.chain(has_parts.then(|| dir.to_owned())).filter(|path| !path.ends_with(".state")).collect()
}

/// Lets the dataset's owner add files, but neither rename nor remove those that are refused.
fn refuse(dir: &Path, refused: &[bool]) {
    let mut refused = refused.iter().cycle();
    for folder in folders(dir) {
        chown(&folder, Some(0), Some(0)).unwrap();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o1777)).unwrap();
        for entry in fs::read_dir(&folder).unwrap() {
            if *refused.next().unwrap() {
                chown(entry.unwrap().path(), Some(0), Some(0)).unwrap();
            }
        }
    }
}

fn give_back(dir: &Path) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if fs::metadata(&path).unwrap().uid() != OTHER {
            chown(&path, Some(OTHER), Some(OTHER)).unwrap();
        }
        if path.is_dir() {
            give_back(&path);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn what_had_not_ended_stays_once_and_all_else_goes(
        submissions in submissions(),
        traces in traces(),
        files in 1..6usize,
        borders in proptest::collection::vec(0..21i64, 1..3),
        obstacles in proptest::option::of(proptest::collection::vec(any::<bool>(), 7)),
    ) {
        let obstacles = obstacles.filter(|_| flowmine_files::is_root());
        let temporary = tempfile::tempdir().unwrap();
        fs::set_permissions(temporary.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let dir = temporary.path().join("dataset");
        fs::create_dir(&dir).unwrap();
        if obstacles.is_some() {
            chown(&dir, Some(OTHER), Some(OTHER)).unwrap();
        }
        let dataset = Dataset::open_or_create_with(&dir, Access::Umask, obstacles.is_some()).unwrap();
        write(&dataset, &submissions, &traces, files);
        let mut latest = 0;
        for border in borders {
            let before_ns = BEGIN + border * STEP + STEP / 2;
            let unpruned = model(&submissions, &traces, latest);
            prop_assert_eq!(seen(&dataset), unpruned.clone());
            prune(&dataset, before_ns, true).unwrap();
            prop_assert_eq!(seen(&dataset), unpruned.clone());
            latest = before_ns.max(latest);
            let pruned = model(&submissions, &traces, latest);
            if let Some(refused) = &obstacles {
                refuse(&dir, refused);
                let done = prune(&dataset, before_ns, false);
                // Jobs go together; a host's traces go after them.
                let (jobs, processes) = seen(&dataset);
                prop_assert!(jobs == pruned.0 && (processes == pruned.1 || done.is_err() && processes == unpruned.1));
                give_back(&dir);
            }
            prune(&dataset, before_ns, false).unwrap();
            prop_assert_eq!(seen(&dataset), pruned);
        }
    }
}

//! Jobs in one case by the files that they gave to each other: a dataset of several parts whose
//! flows are known, against components found the slow way.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use flowmine_dataset::Role;
use flowmine_dataset::{Builder, Dataset};
use flowmine_schema::row::Row;
use flowmine_schema::tables::{IoEvent, JobDependency, JobState, Process, TaskRun};
use flowmine_schema::time::Day;
use tempfile::TempDir;

use crate::support::{cases, expect, flowmine};

const T0: i64 = 1_795_000_000_000_000_000;
const SECOND: i64 = 1_000_000_000;
/// More rows than are held at once.
const JOBS: i64 = 17_000;
const FIRST: i64 = 100;
/// The last of them were traced.
const TRACED: i64 = 60;

/// Jobs, and what the traced ones did in which order: the job, whether it wrote, the file.
struct Made {
    dir: TempDir,
    dataset: PathBuf,
    did: Vec<(i64, bool, i64)>,
    waits: Vec<(i64, i64)>,
}

fn built<R: Row>(rows: impl IntoIterator<Item = R::Of<'static>>) -> Builder<R> {
    let mut builder = Builder::new();
    rows.into_iter().for_each(|row| builder.push(&row));
    builder
}

fn submit_ns(job: i64) -> i64 {
    T0 + job * SECOND
}

fn state(job: i64, state: &'static str, after: i64) -> JobState<'static> {
    let time = submit_ns(job) + after * SECOND;
    JobState {
        cluster: "labcluster".into(),
        job: job.to_string().into(),
        job_id: job,
        submit_ns: Some(submit_ns(job)),
        change: if state == "PENDING" { "new" } else { "state" }.into(),
        state: Some(state.into()),
        not_before_ns: Some(time - SECOND),
        observed_at_ns: time,
        reported_ns: Some(time),
        source: "squeue".into(),
        name: Some(format!("step-{}", job % 7).into()),
        user: Some("alice".into()),
        account: Some("physics".into()),
        group: Some("chem".into()),
        activity: Some(format!("step-{}", job % 7).into()),
        start_ns: (state != "PENDING").then_some(submit_ns(job) + SECOND),
        end_ns: (state == "COMPLETED").then_some(time),
        ..JobState::default()
    }
}

/// Traced jobs lie far apart in the order of ids, and with it in parts.
fn traced_job(number: i64) -> i64 {
    FIRST + number * (JOBS / TRACED)
}

fn make(jobs: i64, did: Vec<(i64, bool, i64)>, waits: Vec<(i64, i64)>) -> Made {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("dataset");
    let dataset = Dataset::open_or_create(&path).unwrap();
    let mut writer = dataset.writer(Role::Raw, "test").unwrap();
    let mut transaction = writer.begin().unwrap();
    let states =
        (FIRST..FIRST + jobs).flat_map(|job| [("PENDING", 0), ("RUNNING", 1), ("COMPLETED", 40_000)].map(|(s, at)| state(job, s, at)));
    transaction.append(built::<JobState<'static>>(states)).unwrap();
    let dependencies = waits.iter().map(|(job, target)| JobDependency {
        cluster: "labcluster".into(),
        job: job.to_string().into(),
        job_id: *job,
        submit_ns: Some(submit_ns(*job)),
        kind: "afterok".into(),
        target_kind: "job".into(),
        target_job_id: Some(*target),
        observed_at_ns: submit_ns(*job) + SECOND,
        source: "squeue".into(),
        ..JobDependency::default()
    });
    transaction.append(built::<JobDependency<'static>>(dependencies)).unwrap();
    // Every third traced job is what an engine's task ran as.
    let tasks = did.iter().map(|(job, ..)| *job).collect::<BTreeSet<i64>>().into_iter().filter(|job| job % 3 == 0).map(|job| TaskRun {
        engine: "makeflow".into(),
        run_id: Some("1795".into()),
        task_id: Some(job.to_string().into()),
        attempt: Some(1),
        name: format!("task {job}").into(),
        logical_task: "task".into(),
        native_id: Some(job.to_string().into()),
        native_kind: Some("slurm_job".into()),
        executor: Some("slurm".into()),
        submitted_ns: Some(submit_ns(job)),
        submitted_precision_ns: Some(0),
        status: "completed".into(),
        source: "a.makeflowlog".into(),
        ..TaskRun::default()
    });
    transaction.append(built::<TaskRun<'static>>(tasks)).unwrap();
    transaction.commit().unwrap();
    let (mut processes, mut operations) = (Vec::new(), Vec::new());
    for (number, (job, writes, inode)) in (0i64..).zip(&did) {
        // All after the last submission, while all jobs run.
        let at = submit_ns(FIRST + JOBS) + number * SECOND;
        let start = Some(1000 + number);
        processes.push(Process {
            host: "node-one".into(),
            trace_ns: T0,
            pid: 1000 + number as i32,
            process_start_ns: start,
            start_precision_ns: Some(1),
            as_of_ns: at + SECOND / 2,
            started_ns: Some(at),
            exit_ns: Some(at + SECOND / 2),
            exit_code: Some(0),
            cgroup_path: Some(format!("/system.slice/slurmstepd.scope/job_{job}/step_batch/user/task_0").into()),
            ..Process::default()
        });
        operations.push(IoEvent {
            host: "node-one".into(),
            trace_ns: T0,
            pid: 1000 + number as i32,
            process_start_ns: start,
            op: if *writes { "write" } else { "read" }.into(),
            via: "call".into(),
            start_ns: at + 1000,
            end_ns: Some(at + 2000),
            device: Some(5),
            inode: Some(*inode),
            generation: Some(1),
            offset: Some(0),
            size: Some(10),
            result: Some(10),
            ..IoEvent::default()
        });
    }
    if !did.is_empty() {
        let mut writer = dataset.writer(Role::Host("node-one".to_owned()), "test").unwrap();
        let mut transaction = writer.begin().unwrap();
        transaction.append_split(built::<Process<'static>>(processes), "node-one", Day::new(T0)).unwrap();
        transaction.append_split(built::<IoEvent<'static>>(operations), "node-one", Day::new(T0)).unwrap();
        transaction.commit().unwrap();
    }
    Made { dir, dataset: path, did, waits }
}

/// Traced jobs that write and read files in an order by chance, and some declared dependencies.
fn by_chance() -> Made {
    let mut chance: u64 = 11;
    let mut next = |below: i64| {
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((chance >> 33) % below as u64) as i64
    };
    let did = (0..150).map(|_| (traced_job(next(TRACED)), next(2) == 0, 1 + next(90))).collect();
    let waits = (0..300).map(|_| FIRST + 1 + next(JOBS - 1)).map(|job| (job, job - 1)).collect();
    make(JOBS, did, waits)
}

impl Made {
    /// The oldest job of the case of each, the slow way: who read what another wrote last before
    /// it, and who waited for whom.
    fn expected(&self) -> BTreeMap<i64, i64> {
        let mut pairs = self.waits.clone();
        for (at, (reader, writes, file)) in self.did.iter().enumerate().filter(|(_, did)| !did.1) {
            assert!(!writes);
            // All that were written since somebody else read the file are one version.
            let mut writers = BTreeSet::new();
            let mut readers: BTreeSet<i64> = BTreeSet::new();
            for (job, writes, _) in self.did[..at].iter().filter(|(.., other)| other == file) {
                if *writes {
                    let only_by_itself = readers.iter().all(|reader| reader == job) && writers.iter().all(|writer| writer == job);
                    if !readers.is_empty() && !only_by_itself {
                        writers.clear();
                        readers.clear();
                    }
                    writers.insert(*job);
                } else if !writers.is_empty() {
                    readers.insert(*job);
                }
            }
            pairs.extend(writers.into_iter().map(|writer| (*reader, writer)));
        }
        let mut oldest: BTreeMap<i64, i64> = (FIRST..FIRST + JOBS).map(|job| (job, job)).collect();
        loop {
            let before = oldest.clone();
            for (a, b) in &pairs {
                let least = oldest[a].min(oldest[b]);
                oldest.insert(*a, least);
                oldest.insert(*b, least);
            }
            if oldest == before {
                return oldest;
            }
        }
    }

    fn command(&self, command: &str, options: &[&str]) -> std::process::Command {
        let mut flowmine = flowmine();
        flowmine.args([command, "--dataset"]).arg(&self.dataset).args(options);
        flowmine
    }

    fn export(&self, format: &str, options: &[&str]) -> String {
        let to = self.dir.path().join("log");
        expect(self.command("export", &["--format", format, "--case-notion", "data-flow"]).args(options).arg("-o").arg(&to), 0);
        fs::read_to_string(to).unwrap()
    }
}

/// The case of each job, by the columns of a CSV file.
fn by_columns(csv: &str) -> BTreeMap<i64, String> {
    let mut lines = csv.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let place = |name: &str| header.iter().position(|column| *column == name).unwrap_or_else(|| panic!("{name}: {header:?}"));
    let (case, job) = (place("case:concept:name"), place("slurm:job_id"));
    lines
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            (cells[job].parse().unwrap(), cells[case].to_owned())
        })
        .collect()
}

fn said(command: &mut std::process::Command, code: i32) -> String {
    String::from_utf8(expect(command, code).stderr).unwrap()
}

#[test]
fn files_join_jobs_of_several_parts() {
    let made = by_chance();
    let expected = made.expected();
    let count = expected.values().collect::<BTreeSet<_>>().len();
    let by_dependency = JOBS as usize - made.waits.iter().collect::<BTreeSet<_>>().len();
    assert!(count + 20 < by_dependency, "{count} of {by_dependency}");
    let want: BTreeMap<i64, String> = expected.iter().map(|(job, oldest)| (*job, format!("data-flow:labcluster:{oldest}"))).collect();

    // Nobody knows yet who read what.
    let message = said(&mut made.command("export", &["--format", "csv", "--case-notion", "data-flow"]), 2);
    assert!(message.contains("flowmine correlate"), "{message}");

    // As often as not it is made without being asked for.
    for options in [&[][..], &["--case-notion", "data-flow"]] {
        let told = expect(&mut made.command("correlate", options), 0);
        let told = String::from_utf8(told.stdout).unwrap();
        assert!(told.contains(&format!("\ndata-flow: {count} cases\n")), "{told}");
        assert_eq!(told.contains("dependency:"), options.is_empty());
        let rows = cases(&made.dataset);
        let of_jobs = rows.iter().filter(|row| row.job.is_some() && !row.notion.starts_with("task-"));
        assert_eq!(of_jobs.count(), 3 * JOBS as usize);
        let of_flow = rows.iter().filter(|row| row.notion == "data-flow" && row.job.is_some());
        assert_eq!(of_flow.map(|row| (row.job_id.unwrap(), row.case_id.to_string())).collect::<BTreeMap<_, _>>(), want);
        let of_dependency: BTreeSet<_> = rows.iter().filter(|row| row.notion == "dependency").map(|row| &row.case_id).collect();
        assert_eq!(of_dependency.len(), by_dependency);
    }

    assert_eq!(by_columns(&made.export("csv", &[])), want);
    let xes = made.export("xes", &[]);
    assert_eq!(xes.matches("<trace>").count(), count);
    assert!(xes.contains("value=\"data-flow\""));
    let dfg = expect(&mut made.command("discover", &["--case-notion", "data-flow", "--format", "json"]), 0);
    let dfg: serde_json::Value = serde_json::from_slice(&dfg.stdout).unwrap();
    assert_eq!(
        dfg["cases"].as_u64().or(dfg["log"]["cases"].as_u64()),
        Some(count as u64),
        "{}",
        dfg.to_string().get(..400).unwrap_or_default()
    );

    // Codes for names change no case.
    let key = made.dir.path().join("key");
    fs::write(&key, "0123456789abcdef0123456789abcdef").unwrap();
    fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let coded = by_columns(&made.export("csv", &["--pseudonymise", key.to_str().unwrap()]));
    assert!(coded.values().all(|id| !id.contains("labcluster")));
    let end = |id: &str| id.rsplit(':').next().unwrap().to_owned();
    let ends = |of: &BTreeMap<i64, String>| of.iter().map(|(job, id)| (*job, end(id))).collect::<BTreeMap<_, _>>();
    assert_eq!(ends(&coded), ends(&want));

    let out = made.dir.path().join("out");
    expect(made.command("run", &["--formats", "csv", "--out"]).arg(&out), 0);
    assert_eq!(by_columns(&fs::read_to_string(out.join("log-data-flow.csv")).unwrap()), want);
    assert!(out.join("dfg-data-flow.svg").exists());
    let summary: serde_json::Value = serde_json::from_slice(&fs::read(out.join("summary.json")).unwrap()).unwrap();
    assert_eq!(summary["cases"]["data-flow"].as_u64(), Some(count as u64));
}

/// The traces of an XES file, each with its name and its text.
fn traces(xes: &str) -> BTreeMap<String, String> {
    let traces = xes.split("<trace>").skip(1).map(|rest| rest.split("</trace>").next().unwrap());
    let name = |trace: &str| trace.split("key=\"concept:name\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    traces.map(|trace| (name(trace), trace.to_owned())).collect()
}

#[test]
fn parts_are_together_the_whole_log() {
    let made = by_chance();
    let file = |name: &str| made.dir.path().join(name);
    let part = |notion: &str, format: &str, part: &str, to: &Path, code: i32| {
        said(made.command("export", &["--case-notion", notion, "--format", format, "--part", part, "-o"]).arg(to), code)
    };
    let message = part("dependency", "xes", "1/3", &file("none"), 2);
    assert!(message.contains("flowmine correlate"), "{message}");
    expect(&mut made.command("correlate", &[]), 0);
    for notion in ["dependency", "account-group", "data-flow", "task-run"] {
        let whole = file("whole.xes");
        expect(made.command("export", &["--case-notion", notion, "--format", "xes", "-o"]).arg(&whole), 0);
        let mut together = BTreeMap::new();
        let mut model = flowmine();
        model.args(["discover", "--format", "json"]);
        for (number, format) in [(1, "xes"), (2, "xes"), (3, "xes")] {
            let to = file(&format!("{number}.{format}"));
            let said = part(notion, format, &format!("{number}/3"), &to, 0);
            assert_eq!(said, "");
            let xes = fs::read_to_string(&to).unwrap();
            assert!(xes.contains(&format!("<string key=\"flowmine_part\" value=\"{number}/3\"/>")));
            let of_part = traces(&xes);
            let before = together.len();
            if notion == "dependency" {
                assert!((4_000..7_000).contains(&of_part.len()), "{}", of_part.len());
            }
            together.extend(of_part.clone());
            assert_eq!(together.len(), before + of_part.len(), "a case is in one part");
            model.arg("--log").arg(&to);
        }
        assert!(together == traces(&fs::read_to_string(&whole).unwrap()), "{notion}");
        let of_whole = expect(flowmine().args(["discover", "--format", "json", "--log"]).arg(&whole), 0);
        assert!(of_whole.stdout == expect(&mut model, 0).stdout, "{notion}");
    }
    // The same in tables, whatever each file is.
    let mut model = flowmine();
    model.args(["discover", "--format", "json"]);
    for (number, format) in [(1, "csv"), (2, "parquet"), (3, "parquet"), (4, "csv")] {
        let to = file(&format!("{number}.{format}"));
        part("data-flow", format, &format!("{number}/4"), &to, 0);
        model.arg("--log").arg(&to);
    }
    let whole = file("whole.parquet");
    expect(made.command("export", &["--case-notion", "data-flow", "--format", "parquet", "-o"]).arg(&whole), 0);
    let of_whole = expect(flowmine().args(["discover", "--format", "json", "--log"]).arg(&whole), 0);
    assert!(of_whole.stdout == expect(&mut model, 0).stdout);
    // Parts alone, and of other rows.
    part("dependency", "xes", "1/2", &file("first.xes"), 0);
    let message = said(flowmine().args(["discover", "--format", "json", "--log"]).arg(file("first.xes")), 0);
    assert!(message.contains("2 parts, of which 1"), "{message}");
    part("account-group", "xes", "2/2", &file("other.xes"), 0);
    let both = |first: &str, second: &str, code| {
        said(flowmine().args(["discover", "--format", "json", "--log"]).arg(file(first)).arg("--log").arg(file(second)), code)
    };
    assert!(both("first.xes", "other.xes", 2).contains("parts of different logs"));
    // A file that is given twice.
    let message = said(flowmine().args(["discover", "--format", "json", "--log"]).arg(&whole).arg("--log").arg(&whole), 0);
    assert!(message.contains("the name of a case in an earlier file"), "{message}");

    let message = part("dependency", "ocel.json", "1/3", &file("none"), 2);
    assert!(message.contains("--part is for formats with cases"), "{message}");
    for wrong in ["0/3", "4/3", "3", "1/0", "a/2"] {
        let message = part("dependency", "xes", wrong, &file("none"), 2);
        assert!(message.contains("K/N"), "{message}");
    }
    // Rows that come later are of no part.
    let dataset = Dataset::open(&made.dataset).unwrap();
    let mut writer = dataset.writer(Role::Raw, "test").unwrap();
    let mut transaction = writer.begin().unwrap();
    transaction.append(built::<JobState<'static>>([state(FIRST, "COMPLETED", 50_000)])).unwrap();
    transaction.commit().unwrap();
    drop(writer);
    for notion in ["dependency", "task-run"] {
        let message = part(notion, "xes", "1/3", &file("none"), 2);
        assert!(message.contains("run `flowmine correlate` again"), "{message}");
    }
    assert!(!file("none").exists());
    expect(&mut made.command("correlate", &[]), 0);
    part("dependency", "xes", "2/2", &file("second.xes"), 0);
    assert!(both("first.xes", "second.xes", 2).contains("parts of different logs"));
}

#[test]
fn without_traces_it_is_refused_and_nothing_else_changes() {
    let made = make(20, Vec::new(), vec![(105, 104)]);
    let message = said(&mut made.command("correlate", &["--case-notion", "data-flow"]), 2);
    assert!(message.contains("no traces") && message.contains("dependency"), "{message}");
    expect(&mut made.command("correlate", &[]), 0);
    assert_eq!(cases(&made.dataset).len(), 2 * 20);
    for command in [&["export", "--format", "xes"][..], &["discover"]] {
        let message = said(made.command(command[0], &command[1..]).args(["--case-notion", "data-flow"]), 2);
        assert!(message.contains("no traces"), "{message}");
    }
    let out = made.dir.path().join("out");
    expect(made.command("run", &["--out"]).arg(&out), 0);
    assert!(!out.join("dfg-data-flow.svg").exists() && out.join("dfg-account-group.svg").exists());
}

#[test]
fn where_no_job_read_what_another_wrote_it_is_said() {
    // One writes and reads, another reads what was there before.
    let made = make(20, vec![(101, true, 1), (101, false, 1), (102, false, 2)], vec![(105, 104)]);
    let told = expect(&mut made.command("correlate", &[]), 0);
    assert!(!String::from_utf8(told.stdout).unwrap().contains("data-flow"));
    let asked = ["--case-notion", "data-flow"];
    let told = expect(&mut made.command("correlate", &asked), 0);
    assert!(String::from_utf8(told.stdout).unwrap().contains("data-flow: 19 cases"));
    assert!(String::from_utf8(told.stderr).unwrap().contains("no job is known to have read"));
    assert!(said(made.command("export", &["--format", "csv"]).args(asked), 0).contains("no job is known to have read"));
    assert!(is_empty_of_flow(&made.dir.path().join("out"), &made));
}

fn is_empty_of_flow(out: &Path, made: &Made) -> bool {
    expect(made.command("run", &["--out"]).arg(out), 0);
    !out.join("dfg-data-flow.svg").exists()
}

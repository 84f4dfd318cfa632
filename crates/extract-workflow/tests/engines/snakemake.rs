//! Snakemake's files in, rows and diagnostics out.

use std::fs;
use std::path::{Path, PathBuf};

use flowmine_dataset::Dataset;
use flowmine_extract_workflow::import_files::import_files;
use flowmine_extract_workflow::snakemake::Snakemake;
use flowmine_extract_workflow::{Engine, Options, Row, Source};
use flowmine_schema::diagnostic::Diagnostics;
use flowmine_schema::time::rfc3339;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/snakemake").join(name)
}

fn sources(paths: &[PathBuf]) -> Vec<Source> {
    let source = |path: &PathBuf| {
        let head = if path.is_dir() { Vec::new() } else { fs::read(path).unwrap() };
        let kind = Snakemake.recognise(path, &head)?;
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        Some(Source { path: path.clone(), name, kind, sha256: String::new(), rows: 0, joined: 0, diagnostics: Diagnostics::default() })
    };
    paths.iter().filter_map(source).collect()
}

/// Rows, and diagnostics' codes.
fn read_with(paths: &[PathBuf], options: &Options) -> (Vec<Row>, Vec<&'static str>) {
    let mut sources = sources(paths);
    let rows = Snakemake.read(&mut sources, options);
    (rows, sources.iter().flat_map(|source| source.diagnostics.iter()).map(|d| d.code).collect())
}

/// All that lies in a run's directory.
fn read(name: &str) -> (Vec<Row>, Vec<&'static str>) {
    read_with(&Snakemake.find(&fixture(name)).unwrap(), &Options::default())
}

/// Job, attempt, name, status, executor and native id of each row.
fn statuses(rows: &[Row]) -> Vec<String> {
    let or = |text: &Option<std::borrow::Cow<'_, str>>| text.as_deref().unwrap_or("-").to_owned();
    let row_status = |row: &Row| {
        let native = format!("{}={}", or(&row.native_kind), or(&row.native_id));
        format!("{} {} {} {} {} {native}", or(&row.task_id), row.attempt.unwrap_or(0), row.name, row.status, or(&row.executor))
    };
    rows.iter().map(row_status).collect()
}

fn find<'a>(rows: &'a [Row], name: &str) -> &'a Row {
    rows.iter().find(|row| row.name == name).unwrap()
}

fn time(ns: Option<i64>) -> String {
    ns.map_or("-".to_owned(), rfc3339)
}

#[test]
fn a_local_run_with_metadata_and_benchmarks() {
    let (rows, said) = read("local_9");
    assert_eq!(said, Vec::<&str>::new());
    assert_eq!(
        statuses(&rows),
        [
            "3 1 gen:sample=a completed local -=-",
            "5 1 gen:sample=b completed local -=-",
            "2 1 count:sample=a completed local -=-",
            "4 1 count:sample=b completed local -=-",
            "1 1 total completed local -=-",
            "6 1 long completed local -=-",
            "0 1 all completed local -=-",
        ],
        "and none of the second run, which had nothing to do"
    );
    let count = &rows[2];
    assert_eq!(count.run_id.as_deref(), Some("05d905a3-4edc-4344-94a9-f03cbde357ae"));
    assert_eq!((count.run_name.as_deref(), count.line), (Some("2026-11-22T055543.360716"), Some(63)));
    assert_eq!((count.logical_task.as_ref(), count.tag.as_deref(), count.host.as_deref()), ("count", Some("sample=a"), Some("node01")));
    assert_eq!(count.command.as_deref(), Some("sleep 1; wc -l < data/a.txt > counts/a.n\n        wc -c < data/a.txt > counts/a.bytes"));
    assert_eq!((count.cpus, count.memory_bytes, count.time_s), (Some(2), Some(64_000_000), Some(300.0)));
    assert_eq!((count.realtime_s, count.peak_rss_bytes, count.read_bytes), (Some(1.01), Some(5_085_594), Some(41_943)));
    assert_eq!(count.inputs.as_deref(), Some(r#"[{"path":"data/a.txt"}]"#));
    assert_eq!(count.outputs.as_deref(), Some(r#"[{"path":"counts/a.n"},{"path":"counts/a.bytes"}]"#));
    assert_eq!(
        (time(count.started_ns), time(count.finished_ns)),
        ("2026-11-22T05:55:43.559260Z".into(), "2026-11-22T05:55:44.571588Z".into())
    );
    assert_eq!((count.started_precision_ns, count.finished_precision_ns), (Some(10_000_000), Some(10_000_000)), "of the metadata");
    // Its rule has a message, which hides the rest; the metadata have it.
    let total = find(&rows, "total");
    assert_eq!(total.inputs.as_deref(), Some(r#"[{"path":"counts/a.n"},{"path":"counts/b.n"}]"#));
    assert_eq!((total.parents.as_deref(), total.cpus, total.command.as_deref()), (Some(r#"["2","4"]"#), None, None));
    // Its name is longer than a file's may be.
    assert!(find(&rows, "long").command.as_deref().unwrap().starts_with("cp total.txt deep/"));
    assert_eq!(find(&rows, "all").parents.as_deref(), Some(r#"["1","6"]"#));
}

#[test]
fn benchmarks_that_the_log_names_are_found_in_any_folder() {
    let log = log_of("local_9").replace("benchmarks/", "bench/");
    let benchmark = fs::read_to_string(fixture("local_9/benchmarks/count.a.tsv")).unwrap();
    let run = run_of(&[
        (".snakemake/log/2026-11-22T055543.360716.snakemake.log", log),
        ("bench/count.a.tsv", benchmark.clone()),
        ("bench/other.tsv", benchmark),
    ]);
    let found = Snakemake.find(run.path()).unwrap();
    assert_eq!(found.len(), 2, "and nothing that no log names: {found:?}");
    let (rows, _) = read_with(&found, &Options { zone_offset_s: Some(0), ..Options::default() });
    assert_eq!(find(&rows, "count:sample=a").realtime_s, Some(1.01));
}

#[test]
fn retries_in_a_zone_that_the_metadata_tell() {
    let (rows, said) = read("retried_kolkata_9");
    assert_eq!(said, Vec::<&str>::new());
    let of = |name: &'static str| {
        rows.iter().filter(move |row| row.name == name).map(|row| (row.attempt.unwrap(), row.status.as_ref(), row.exit_code))
    };
    assert_eq!(of("never").collect::<Vec<_>>(), [(1, "failed", Some(3)), (2, "failed", Some(3))]);
    assert_eq!(of("flaky").collect::<Vec<_>>(), [(1, "failed", Some(1)), (2, "completed", None)]);
    let commands: Vec<_> = rows.iter().filter(|row| row.name == "flaky").map(|row| row.command.as_deref().unwrap()).collect();
    assert_eq!(commands, ["test 1 -ge 2 && echo ok > flaky.txt", "test 2 -ge 2 && echo ok > flaky.txt"], "the record is of the last");
    // 11:4x in Kolkata.
    assert!(time(rows[0].started_ns).starts_with("2026-11-22T06:1"), "{}", time(rows[0].started_ns));
    assert_eq!(rows[0].started_precision_ns, Some(10_000_000));
    let second = |row: &Row| row.started_ns.unwrap().div_euclid(1_000_000_000);
    let log = Snakemake.find(&fixture("retried_kolkata_9/.snakemake/log")).unwrap();
    let (without, said) = read_with(&log, &Options::default());
    assert_eq!(said, ["no_zone"]);
    assert_eq!(second(&without[0]) - second(&rows[0]), 19_800);
    assert_eq!(without[0].started_precision_ns, Some(50_401_000_000_000));
    let (given, said) = read_with(&log, &Options { zone_offset_s: Some(19_800), ..Options::default() });
    assert_eq!((second(&given[0]), said.len()), (second(&rows[0]), 0));
    let all = Snakemake.find(&fixture("retried_kolkata_9")).unwrap();
    let (contradicted, said) = read_with(&all, &Options { zone_offset_s: Some(3600), ..Options::default() });
    assert_eq!((contradicted[0].started_ns, said), (rows[0].started_ns, vec!["zone_contradicted"]));
}

#[test]
fn jobs_on_slurm() {
    let (rows, said) = read("slurm_9");
    assert_eq!(said, Vec::<&str>::new());
    assert_eq!(
        statuses(&rows),
        [
            "3 1 gen:sample=a completed slurm slurm_job=9",
            "5 1 gen:sample=b completed slurm slurm_job=10",
            "2 1 count:sample=a completed slurm slurm_job=14",
            "4 1 count:sample=b completed slurm slurm_job=15",
            "1 1 total completed slurm slurm_job=17",
            "6 1 long completed slurm slurm_job=18",
            "0 1 all completed local -=-",
        ]
    );
    // The name of its jobs in Slurm.
    assert!(rows.iter().all(|row| row.run_id.as_deref() == Some("e002c48a-bd17-4090-a9d2-1d7ec2a01b9c")));
    let count = &rows[2];
    assert_eq!((count.queue.as_deref(), count.host.as_deref()), (Some("debug"), Some("node01")));
    let times = [count.submitted_ns, count.started_ns, count.finished_ns].map(time);
    assert_eq!(times, ["2026-11-22T06:00:16Z", "2026-11-22T06:00:19Z", "2026-11-22T06:00:20Z"], "it was noticed at 06:00:30");
    // Without the jobs' own logs.
    let paths = [fixture("slurm_9/.snakemake/log/2026-11-22T060002.317716.snakemake.log"), fixture("slurm_9/.snakemake/metadata")];
    let (rows, said) = read_with(&paths, &Options::default());
    assert_eq!((rows.len(), said.len()), (7, 0));
    assert_eq!([rows[2].started_ns, rows[2].finished_ns].map(time), ["-", "2026-11-22T06:00:30Z"]);
    assert_eq!((rows[2].finished_precision_ns, rows[2].host.as_deref()), (None, None));
}

#[test]
fn retries_on_slurm() {
    let (rows, said) = read("slurm_retried_9");
    assert_eq!(said, Vec::<&str>::new());
    assert_eq!(
        statuses(&rows),
        [
            "2 1 never failed slurm slurm_job=11",
            "1 1 flaky completed slurm slurm_job=12",
            "3 1 good completed slurm slurm_job=13",
            "2 2 never failed slurm slurm_job=16",
        ]
    );
    assert_eq!((rows[3].exit_code, rows[3].command.as_deref()), (Some(3), Some("echo no > logs/never.log; exit 3")));
    // Version 9 tries again within the job as well, which is one attempt of the run.
    let log = fs::read_to_string(fixture("slurm_retried_9/.snakemake/slurm_logs/rule_flaky/12.log")).unwrap();
    assert_eq!(log.matches("localrule flaky:").count(), 2);
    assert_eq!((time(rows[1].started_ns), rows[1].exit_code), ("2026-11-22T06:00:08Z".into(), None));
    assert!(rows[3].error.as_deref().unwrap().starts_with("SLURM-job '16' failed"));
}

#[test]
fn a_group_is_one_job() {
    let (rows, said) = read("slurm_group_9");
    assert_eq!(said, Vec::<&str>::new());
    assert_eq!(
        statuses(&rows),
        [
            "4 1 one:n=2 completed slurm slurm_job=19",
            "3 1 two:n=2 completed slurm slurm_job=19",
            "2 1 one:n=1 completed slurm slurm_job=20",
            "1 1 two:n=1 completed slurm slurm_job=20",
            "0 1 all completed local -=-",
        ]
    );
    assert_eq!((rows[1].parents.as_deref(), rows[1].memory_bytes), (Some(r#"["4"]"#), None), "to be determined");
}

#[test]
fn a_cluster_that_version_7_does_not_name() {
    let paths = [fixture("cluster_7/.snakemake/metadata"), Snakemake.find(&fixture("cluster_7/.snakemake/log")).unwrap().remove(0)];
    let (rows, said) = read_with(&paths, &Options::default());
    assert_eq!(said, Vec::<&str>::new());
    assert_eq!(statuses(&rows)[0], "3 1 gen:sample=a completed - -=21");
    assert_eq!((rows[0].run_id.as_deref(), rows.len()), (None, 7));
    assert_eq!(rows[4].logical_task, "total", "by the metadata");
    // What its jobs wrote, which sbatch called slurm-21.out.
    let mut paths = paths.to_vec();
    paths.extend([21, 25].map(|id| fixture(&format!("cluster_7/slurm-{id}.out"))));
    let (rows, _) = read_with(&paths, &Options::default());
    assert_eq!(statuses(&rows)[0], "3 1 gen:sample=a completed slurm slurm_job=21");
    assert_eq!([rows[0].started_ns, rows[4].started_ns].map(time), ["2026-11-22T06:01:13Z", "2026-11-22T06:01:33Z"]);
}

#[test]
fn version_8() {
    let (rows, said) = read("retried_8");
    assert_eq!(said, ["no_zone"]);
    assert_eq!(
        statuses(&rows),
        [
            "3 1 good completed local -=-",
            "1 1 flaky failed local -=-",
            "1 2 flaky completed local -=-",
            "2 1 never failed local -=-",
            "2 2 never failed local -=-",
        ]
    );
    assert_eq!((rows[1].command.as_deref(), rows[1].exit_code), (Some("test 1 -ge 2 && echo ok > flaky.txt"), None), "it is not known");
}

#[test]
fn version_8_on_slurm() {
    let (rows, said) = read("slurm_8");
    assert_eq!(said, Vec::<&str>::new());
    // Its own log says neither rule nor files of a job with a message.
    let total = find(&rows, "total");
    assert_eq!((total.native_id.as_deref(), time(total.started_ns)), (Some("12"), "2026-11-22T06:47:13Z".into()));
    let all = find(&rows, "all");
    assert_eq!(
        (all.executor.as_deref(), all.native_id.as_deref(), time(all.started_ns)),
        (Some("local"), None, "2026-11-22T06:47:32Z".into())
    );
}

#[test]
fn a_checkpoint_makes_a_directory() {
    let (rows, said) = read("slurm_checkpoint_8");
    assert_eq!(said, Vec::<&str>::new());
    assert_eq!(find(&rows, "split").outputs.as_deref(), Some(r#"[{"path":"parts"}]"#));
    assert_eq!(find(&rows, "make:p=y").parents.as_deref(), Some(r#"["2"]"#), "who made the directory of parts/y");
    let bad: Vec<_> = rows.iter().filter(|row| row.name == "bad").map(|row| (row.native_id.as_deref(), row.command.as_deref())).collect();
    let command = Some("echo one\n        false");
    assert_eq!(bad, [(Some("3"), command), (Some("10"), command)]);
}

/// Name, status, exit code and the beginning of the reason, of each row.
fn failures(rows: &[Row]) -> Vec<String> {
    let told = |row: &Row| {
        let reason = row.error.as_deref().unwrap_or("-").lines().next().unwrap_or_default().split([' ', ':']).next().unwrap_or_default();
        format!("{} {} {} {reason}", row.name, row.status, row.exit_code.map_or("-".to_owned(), |code| code.to_string()))
    };
    let mut all: Vec<String> = rows.iter().map(told).collect();
    all.sort();
    all
}

/// A copy of files in a directory of a run, called as Snakemake calls its logs.
fn run_of(texts: &[(&str, String)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in texts {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    dir
}

fn log_of(name: &str) -> String {
    fs::read_to_string(Snakemake.find(&fixture(name).join(".snakemake/log")).unwrap().remove(0)).unwrap()
}

/// Jobs that end well and leave no output, Python code and scripts that raise, a command that ends
/// with 3: as each version logs them.
#[test]
fn failures_of_all_kinds() {
    let expected = |reasons: [&str; 4], exit: [&str; 2]| {
        vec![
            format!("fails failed {} {}", exit[0], reasons[0]),
            "good completed - -".to_owned(),
            format!("missing failed - {}", reasons[1]),
            format!("raises failed - {}", reasons[2]),
            format!("script failed {} {}", exit[1], reasons[3]),
            "slow completed - -".to_owned(),
        ]
    };
    // Of Python code versions 5 and 7 say only that the run ended because a job had failed.
    let before_9 = ["-", "MissingOutputException", "-", "RuleException"];
    assert_eq!(failures(&read("failures_5").0), expected(before_9, ["-", "-"]));
    assert_eq!(failures(&read("failures_7").0), expected(before_9, ["-", "-"]));
    assert_eq!(failures(&read("failures_8").0), expected(["RuleException", "MissingOutputException", "-", "RuleException"], ["3", "-"]));
    let (rows, said) = read("failures_9");
    assert_eq!(failures(&rows), expected(["RuleException", "MissingOutputException", "-", "RuleException"], ["3", "-"]));
    assert_eq!(said, ["no_zone"]);
    // It is logged without a time: between the times before and after.
    let missing = find(&rows, "missing");
    assert_eq!((time(missing.finished_ns), missing.error.as_deref().unwrap().lines().count()), ("2026-11-23T08:05:52Z".into(), 3));
    assert_eq!(missing.finished_precision_ns.map(|precision| precision % 3_600_000_000_000), Some(2_000_000_000));
}

#[test]
fn ended_by_the_user_and_killed() {
    for name in ["interrupted_9", "interrupted_7", "interrupted_5", "terminated_7", "terminated_9"] {
        let (rows, _) = read(name);
        let statuses: Vec<_> = rows.iter().filter(|row| row.logical_task == "slow").map(|row| row.status.as_ref()).collect();
        assert!(!statuses.is_empty() && statuses.iter().all(|status| *status == "aborted"), "{name}: {statuses:?}");
    }
    let (rows, said) = read("killed_9");
    assert_eq!((find(&rows, "slow").status.as_ref(), find(&rows, "slow").finished_ns), ("aborted", None));
    assert_eq!((find(&rows, "quick").status.as_ref(), said.contains(&"run_without_end")), ("completed", true));
    // A directory that is locked may still be at work; one in which another run began is not.
    let (killed, name) = (log_of("killed_9"), ".snakemake/log/2026-11-22T100000.000000.snakemake.log");
    let locked = run_of(&[(name, killed.clone()), (".snakemake/locks/0.input.lock", String::new())]);
    let (rows, said) = read_with(&Snakemake.find(locked.path()).unwrap(), &Options::default());
    assert_eq!((find(&rows, "slow").status.as_ref(), said), ("running", vec!["run_without_end", "no_zone"]));
    let later = (".snakemake/log/2026-11-22T110000.000000.snakemake.log", log_of("interrupted_9"));
    let locked = run_of(&[(name, killed), (".snakemake/locks/0.input.lock", String::new()), later]);
    let (rows, _) = read_with(&Snakemake.find(locked.path()).unwrap(), &Options::default());
    assert_eq!(find(&rows, "slow").status, "aborted");
}

/// What `snakemake … 2>> FILE` leaves: a run that was killed, one that failed, one that the user
/// ended.
#[test]
fn runs_in_one_file() {
    let (rows, said) = read_with(&[fixture("appended/seven.txt")], &Options::default());
    let mut runs: Vec<(String, String, usize)> = Vec::new();
    for row in &rows {
        let (run, row_status) = (row.run_name.as_deref().unwrap(), row.status.as_ref());
        match runs.iter_mut().find(|(known, status, _)| known == run && status == row_status) {
            Some((_, _, count)) => *count += 1,
            None => runs.push((run.to_owned(), row_status.to_owned(), 1)),
        }
    }
    runs.sort();
    let run = |name: &str, row_status: &str, count| (name.to_owned(), row_status.to_owned(), count);
    assert_eq!(
        runs,
        [
            run("2026-11-23T080632.445028", "completed", 2),
            run("2026-11-23T080632.445028", "failed", 4),
            run("2026-11-23T080641.451834", "aborted", 2),
            run("seven.txt", "aborted", 2),
        ]
    );
    assert_eq!(said, ["run_without_end", "no_zone"]);
    // The output says of the Python code what Snakemake's own log does not.
    let reason = find(&rows, "raises").error.as_deref().unwrap();
    assert!(reason.contains("IndexError") && reason.contains("list index out of range"), "{reason}");
    let (rows, _) = read_with(&[fixture("appended/nine.txt")], &Options::default());
    let ids: std::collections::BTreeSet<_> = rows.iter().map(|row| row.run_id.as_deref().unwrap()).collect();
    assert_eq!((rows.len(), ids.len(), rows.iter().all(|row| row.status == "aborted")), (4, 2, true));
    // From a terminal, with its colours.
    let (rows, _) = read_with(&[fixture("appended/coloured_5.txt")], &Options::default());
    assert_eq!(failures(&rows)[3], "raises failed - RuleException");
    // A run whose own log is there as well is one run.
    let own = Snakemake.find(&fixture("failures_7")).unwrap().remove(0);
    let (rows, said) = read_with(&[fixture("appended/seven.txt"), own], &Options::default());
    assert_eq!((rows.len(), said.contains(&"run_twice")), (10, true));
}

#[test]
fn what_has_no_times_is_an_error_and_what_was_not_run_no_task() {
    let old = "Provided cores: 1\nRules claiming more threads will be scaled down.\nJob counts:\n\tcount\tjobs\n\t1\tall\n\t1\tcount\n\t2\n\nrule count:\n    input: a\n    output: b\n    jobid: 1\n\nFinished job 1.\n1 of 2 steps (50%) done\n\nlocalrule all:\n    input: b\n    jobid: 0\n\nFinished job 0.\n2 of 2 steps (100%) done\n";
    let dir = run_of(&[("old.log", old.to_owned())]);
    let mut given = sources(&[dir.path().join("old.log")]);
    assert_eq!(Snakemake.read(&mut given, &Options::default()).len(), 0);
    let said: Vec<_> = given[0].diagnostics.iter().map(|said| (said.code, said.line, said.message.starts_with("2 jobs"))).collect();
    assert_eq!((said, given[0].diagnostics.errors()), (vec![("no_times", Some(9), true)], 1));
    let dry = "Building DAG of jobs...\nJob stats:\njob    count\n-----  -----\ncount      1\ntotal      1\n\n\n[Sun Nov 22 12:00:00 2026]\nrule count:\n    output: b\n    jobid: 0\n\nThis was a dry-run (flag -n). The order of jobs does not reflect the order of execution.\n";
    let dir = run_of(&[("dry.log", dry.to_owned())]);
    let (rows, said) = read_with(&[dir.path().join("dry.log")], &Options::default());
    assert_eq!((rows.len(), said), (0, vec!["dry_run"]));
}

#[test]
fn an_output_that_is_protected_and_a_cluster_that_refuses() {
    let head = |job: u8, rule: &str| format!("[Sun Nov 22 12:00:0{job} 2026]\nrule {rule}:\n    output: {rule}.db\n    jobid: {job}\n\n");
    let text = [
        "Building DAG of jobs...\nProvided cluster nodes: 9\n".to_owned(),
        head(3, "collect"),
        head(4, "map"),
        "Submitted job 4 with external jobid '77'.\n[Sun Nov 22 12:00:05 2026]\nError in rule map:\n    jobid: 4\n    output: map.db\n    cluster_jobid: 77\n\n".to_owned(),
        "Error executing rule map on cluster (jobid: 4, external: 77, jobscript: snakejob.map.4.sh). For error details see the cluster log.\n".to_owned(),
        "ProtectedOutputException in line 1236 of /d/Snakefile:\nWrite-protected output files for rule collect:\ncollect.db\n  File \"executors.py\", line 136, in run_jobs\n".to_owned(),
    ];
    let dir = run_of(&[("run.log", text.concat())]);
    let (rows, _) = read_with(&[dir.path().join("run.log")], &Options::default());
    let told: Vec<_> =
        rows.iter().map(|row| (row.name.as_ref(), row.status.as_ref(), row.native_id.as_deref(), row.error.is_some())).collect();
    assert_eq!(told, [("collect", "failed", None, true), ("map", "failed", Some("77"), false)]);
}

/// Of runs in one directory one gives the zone, by its metadata.
#[test]
fn the_zone_of_neighbours() {
    let dir = tempfile::tempdir().unwrap();
    let from = fixture("retried_kolkata_9");
    for path in Snakemake.find(&from).unwrap() {
        let files = if path.is_dir() { Snakemake.parts(&path).unwrap() } else { vec![path] };
        for file in files {
            let to = dir.path().join(file.strip_prefix(&from).unwrap());
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::copy(file, to).unwrap();
        }
    }
    for day in ["22", "29"] {
        let text = format!(
            "Building DAG of jobs...\nProvided cores: 1\n[Sun Nov {day} 12:00:00 2026]\nrule x:\n    output: x\n    jobid: 1\n[Sun Nov {day} 12:00:09 2026]\nFinished jobid: 1 (Rule: x)\nComplete log(s): x\n"
        );
        fs::write(dir.path().join(format!(".snakemake/log/2026-11-{day}T120000.000000.snakemake.log")), text).unwrap();
    }
    let (rows, said) = read_with(&Snakemake.find(dir.path()).unwrap(), &Options::default());
    assert_eq!(said, Vec::<&str>::new());
    let told: Vec<_> =
        rows.iter().filter(|row| row.name == "x").map(|row| (time(row.started_ns), row.started_precision_ns.unwrap())).collect();
    assert_eq!(told, [("2026-11-22T06:30:00Z".into(), 1_000_000_000), ("2026-11-29T06:30:00Z".into(), 3_601_000_000_000)]);
}

#[test]
fn metadata_of_runs_whose_logs_are_gone() {
    let (rows, said) = read_with(&[fixture("local_9/.snakemake/metadata")], &Options::default());
    assert_eq!(said, Vec::<&str>::new());
    let names: Vec<&str> = rows.iter().map(|row| row.name.as_ref()).collect();
    assert_eq!(names, ["count", "count", "gen", "gen", "long", "total"], "outputs of one attempt are one row");
    let count = &rows[0];
    assert_eq!(count.outputs.as_deref(), Some(r#"[{"path":"counts/a.bytes"},{"path":"counts/a.n"}]"#));
    assert_eq!((count.status.as_ref(), count.task_id.as_deref(), count.run_id.as_deref()), ("unknown", None, None));
    assert_eq!([count.started_ns, count.finished_ns].map(time), ["2026-11-22T05:55:43.559260Z", "2026-11-22T05:55:44.571588Z"]);
    assert_eq!((count.started_precision_ns, count.parents.as_deref()), (None, None));
    // On Slurm the beginning that they hold is no beginning.
    let (rows, _) = read_with(&[fixture("slurm_9/.snakemake/metadata")], &Options::default());
    assert!(rows.iter().all(|row| row.started_ns.is_none() && row.finished_ns.is_some()));
}

#[test]
fn jobs_whose_run_was_not_given() {
    let (rows, said) = read_with(&[fixture("slurm_9/.snakemake/slurm_logs/rule_count/a/14.log")], &Options::default());
    assert_eq!((statuses(&rows), said), (vec!["- 0 count:sample=a completed slurm slurm_job=14".to_owned()], vec!["no_zone"]));
    assert_eq!((rows[0].run_id.as_deref(), rows[0].submitted_ns), (None, None));
    let (rows, said) = read_with(&[fixture("local_9/benchmarks/count.a.tsv")], &Options::default());
    assert_eq!((rows.len(), said), (0, vec!["benchmark_without_run"]));
}

#[test]
fn a_record_that_is_broken() {
    let dir = tempfile::tempdir().unwrap();
    let metadata = dir.path().join(".snakemake/metadata");
    fs::create_dir_all(&metadata).unwrap();
    fs::write(metadata.join("YQ=="), r#"{"rule": "r", "endtime": 1e300, "input": 7}"#).unwrap();
    fs::write(metadata.join("Yg=="), "{").unwrap();
    fs::write(metadata.join("?"), "{}").unwrap();
    let (rows, said) = read_with(&[metadata], &Options::default());
    assert_eq!((rows.len(), said), (1, vec!["metadata_bad", "metadata_bad"]));
    assert_eq!((rows[0].outputs.as_deref(), rows[0].finished_ns), (Some(r#"[{"path":"a"}]"#), None));
}

#[test]
fn a_directory_is_imported_once() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = Dataset::open_or_create(&dir.path().join("dataset")).unwrap();
    let report = import_files(&dataset, &Snakemake, &[fixture("local_9")], &Options::default()).unwrap();
    assert_eq!((report.rows(), report.errors(), report.sources.len()), (7, 0, 5));
    let again = import_files(&dataset, &Snakemake, &[fixture("local_9")], &Options::default()).unwrap();
    assert_eq!((again.rows(), again.already_there), (0, 5));
}

mod hostile {
    use proptest::prelude::*;

    use super::*;

    fn mangled(names: &[&str]) -> impl Strategy<Value = Vec<u8>> + use<> {
        let texts: Vec<Vec<u8>> = names.iter().map(|name| fs::read(fixture(name)).unwrap()).collect();
        let edit = (any::<prop::sample::Index>(), 0..60_usize, proptest::collection::vec(any::<u8>(), 0..6));
        (prop::sample::select(texts), proptest::collection::vec(edit, 0..8)).prop_map(|(mut text, edits)| {
            for (at, remove, insert) in edits {
                let at = at.index(text.len() + 1);
                let end = (at + remove).min(text.len());
                text.splice(at..end, insert);
            }
            text
        })
    }

    const LOGS: [&str; 8] = [
        "failures_5/.snakemake/log/2026-11-23T082042.897928.snakemake.log",
        "failures_9/.snakemake/log/2026-11-23T080551.173180.snakemake.log",
        "appended/seven.txt",
        "appended/coloured_5.txt",
        "slurm_9/.snakemake/log/2026-11-22T060002.317716.snakemake.log",
        "slurm_retried_9/.snakemake/log/2026-11-22T060002.344605.snakemake.log",
        "slurm_group_9/.snakemake/log/2026-11-22T060103.449707.snakemake.log",
        "cluster_7/.snakemake/log/2026-11-22T060112.573682.snakemake.log",
    ];
    const JOBS: [&str; 2] = ["slurm_9/.snakemake/slurm_logs/rule_count/a/14.log", "slurm_9/.snakemake/slurm_logs/rule_total/17.log"];
    const RECORDS: [&str; 2] = ["slurm_9/.snakemake/metadata/Y291bnRzL2Eubg==", "cluster_7/.snakemake/metadata/Y291bnRzL2Eubg=="];
    const BENCHMARKS: [&str; 1] = ["local_9/benchmarks/count.a.tsv"];

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn decoding_never_panics(log in mangled(&LOGS), job in mangled(&JOBS), record in mangled(&RECORDS), benchmark in mangled(&BENCHMARKS)) {
            let dir = tempfile::tempdir().unwrap();
            let files = [
                (".snakemake/log/a.snakemake.log", log),
                (".snakemake/slurm_logs/rule_count/a/14.log", job),
                (".snakemake/metadata/Y291bnRzL2Eubg==", record),
                ("benchmarks/count.a.tsv", benchmark),
            ];
            for (name, text) in &files {
                let path = dir.path().join(name);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(&path, text).unwrap();
            }
            let mut paths = Snakemake.find(dir.path()).unwrap();
            let (rows, _) = read_with(&paths, &Options::default());
            for row in &rows {
                prop_assert!(!row.name.is_empty() && !row.status.is_empty() && !row.logical_task.is_empty());
            }
            paths.reverse();
            prop_assert_eq!(read_with(&paths, &Options::default()).0, rows);
        }
    }
}

/// A pipe, files in a storage, `shadow` and rules with a message of two lines: what is appended to
/// names is no part of paths, and each attempt is one row.
#[test]
fn what_is_appended_to_names_and_what_a_message_hides() {
    let (rows, said) = read("storage_9");
    assert_eq!(said, Vec::<&str>::new());
    assert_eq!(rows.len(), 14, "nine and five attempts: {:?}", statuses(&rows));
    assert!(rows.iter().all(|row| row.run_name.is_some() && row.status == "completed"));
    let first: Vec<_> = rows.iter().filter(|row| row.run_name == rows[0].run_name).collect();
    let parents_of = |name: &str| {
        let row = first.iter().find(|row| row.name == name).unwrap();
        let mut parents: Vec<String> = serde_json::from_str(row.parents.as_deref().unwrap()).unwrap();
        parents.sort();
        parents
    };
    assert_eq!(parents_of("feed"), ["4"], "through a storage");
    assert_eq!(parents_of("add"), ["2", "3"], "through a storage and a pipe");
    assert_eq!(parents_of("forced"), ["6", "7", "8"]);
    assert_eq!(parents_of("all"), ["1", "5"]);
    let make = find(&rows, "make:i=1");
    assert_eq!(make.outputs.as_deref(), Some(r#"[{"path":"store/part_1.txt"}]"#));
    assert_eq!(make.command.as_deref(), Some("sleep 0.3; seq 1 > .snakemake/storage/fs/store/part_1.txt"));
    // The second run logs neither outputs nor missing ones of its rules with a message.
    let told: Vec<_> = rows[9..].iter().filter(|row| row.logical_task == "told").collect();
    let made: Vec<_> = told.iter().map(|row| (row.task_id.as_deref().unwrap(), row.outputs.as_deref().unwrap())).collect();
    let of = |number: u8| format!(r#"[{{"path":"told_{number}.txt"}}]"#);
    assert_eq!(made, [("7", of(1).as_str()), ("8", of(2).as_str()), ("6", of(0).as_str())]);
    assert_eq!(rows[9..].iter().find(|row| row.name == "forced").unwrap().parents.as_deref(), Some(r#"["6","7","8"]"#));
    // Records have times with fractions of a second.
    assert_eq!((make.started_precision_ns, make.finished_precision_ns), (Some(10_000_000), Some(10_000_000)));
    let took = make.finished_ns.unwrap() - make.started_ns.unwrap();
    assert!((300_000_000..1_500_000_000).contains(&took), "{took}");
    // Without metadata the outputs of the second run are not known, and so are the parents of who may use them.
    let logs = Snakemake.find(&fixture("storage_9/.snakemake/log")).unwrap();
    let (rows, _) = read_with(&logs, &Options { zone_offset_s: Some(0), ..Options::default() });
    let forced: Vec<_> = rows.iter().filter(|row| row.name == "forced").map(|row| row.parents.as_deref()).collect();
    assert_eq!(forced, [Some(r#"["6","7","8"]"#), None]);
    assert!(rows.iter().filter(|row| row.logical_task == "told").all(|row| row.parents.is_none()));
}

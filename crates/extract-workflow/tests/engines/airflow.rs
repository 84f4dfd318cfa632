//! Airflow's logs and databases in, rows and diagnostics out.

use std::fs;
use std::path::{Path, PathBuf};

use flowmine_dataset::Dataset;
use flowmine_extract_workflow::airflow::Airflow;
use flowmine_extract_workflow::import_files::import_files;
use flowmine_extract_workflow::{Engine, Options, Row, Source};
use flowmine_schema::diagnostic::Diagnostics;
use flowmine_schema::time::rfc3339;
use rusqlite::Connection;

const RUN: &str = "dag_id=known_work/run_id=scheduled__2024-01-01T00:00:00+00:00";

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/airflow").join(name)
}

fn log(version: &str, task: &str) -> PathBuf {
    fixture(version).join(RUN).join(format!("task_id={task}/attempt=1.log"))
}

fn scheduler(version: &str) -> PathBuf {
    let plain = fixture(version).join("scheduler_coloured.log");
    if plain.exists() { plain } else { plain.with_extension("log.gz") }
}

/// `airflow.db` out of the recorded SQL.
fn database(version: &str, dir: &Path) -> PathBuf {
    make(&fs::read_to_string(fixture(version).join("airflow.sql")).unwrap(), &dir.join("airflow.db"))
}

fn make(sql: &str, path: &Path) -> PathBuf {
    open(path).execute_batch(sql).unwrap();
    path.to_owned()
}

/// Not all of Airflow's tables are there.
fn open(path: &Path) -> Connection {
    let connection = Connection::open(path).unwrap();
    connection.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
    connection
}

/// The first 64 KiB, unpacked.
fn head(path: &Path) -> Vec<u8> {
    let bytes = fs::read(path).unwrap();
    let mut head = Vec::new();
    if bytes.starts_with(&[0x1f, 0x8b]) {
        // What a broken file gives up to its fault is enough here.
        let _ = std::io::Read::read_to_end(&mut flate2::read::MultiGzDecoder::new(&bytes[..]), &mut head);
    } else {
        head = bytes;
    }
    head.truncate(1 << 16);
    head
}

fn source(path: &Path) -> Option<Source> {
    let kind = Airflow.recognise(path, &head(path))?;
    let name = path.file_name().unwrap().to_str().unwrap().to_owned();
    Some(Source { path: path.to_owned(), name, kind, sha256: String::new(), rows: 0, joined: 0, diagnostics: Diagnostics::default() })
}

/// Rows, and diagnostics as `code` or `code:line`.
fn read_with(paths: &[PathBuf], options: &Options) -> (Vec<Row>, Vec<String>) {
    let mut sources: Vec<Source> = paths.iter().map(|path| source(path).expect("it is recognised")).collect();
    let rows = Airflow.read(&mut sources, options);
    let said = sources.iter().flat_map(|source| source.diagnostics.iter()).map(|d| match d.line {
        Some(line) => format!("{}:{line}", d.code),
        None => d.code.to_owned(),
    });
    (rows, said.collect())
}

fn read(paths: &[PathBuf]) -> (Vec<Row>, Vec<String>) {
    read_with(paths, &Options::default())
}

/// Task, attempt, status, exit code of each row.
fn statuses(rows: &[Row]) -> Vec<String> {
    let exit = |row: &Row| row.exit_code.map_or("-".to_owned(), |code| code.to_string());
    rows.iter().map(|row| format!("{} {} {} {}", row.task_id.as_deref().unwrap(), row.attempt.unwrap(), row.status, exit(row))).collect()
}

fn find<'a>(rows: &'a [Row], task: &str, attempt: i64) -> &'a Row {
    rows.iter().find(|row| row.task_id.as_deref() == Some(task) && row.attempt == Some(attempt)).expect("the attempt has a row")
}

const BY_DATABASE: [&str; 10] = [
    "breaks 1 failed -",
    "choose 1 completed -",
    "flaky 1 failed -",
    "flaky 2 completed -",
    "join 1 completed -",
    "make 1 completed -",
    "part[0] 1 completed -",
    "part[1] 1 completed -",
    "part[2] 1 completed -",
    // It ended with 99, which BashOperator takes for "skip me".
    "skips_itself 1 completed -",
];

/// A FIFO in the place of a file of SQLite's own keeps nobody waiting.
#[test]
fn what_lies_beside_a_database_is_a_plain_file() {
    for ending in ["-wal", "-shm", "-journal"] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("airflow.db");
        Connection::open(&path).unwrap().execute_batch("CREATE TABLE task_instance (task_id TEXT)").unwrap();
        let beside = dir.path().join(format!("airflow.db{ending}"));
        assert!(std::process::Command::new("mkfifo").arg(&beside).status().unwrap().success());
        let refused = flowmine_extract_workflow::airflow::is_database(&path).unwrap_err();
        assert!(refused.contains("no plain file"), "{refused}");
        std::fs::remove_file(&beside).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", &beside).unwrap();
        assert!(flowmine_extract_workflow::airflow::is_database(&path).is_err());
    }
}

#[test]
fn databases_of_both_majors() {
    for version in ["2.11.2", "3.3.2"] {
        let dir = tempfile::tempdir().unwrap();
        let (rows, said) = read(&[database(version, dir.path())]);
        // A branch that was not taken, and a task whose parent failed.
        assert_eq!(said, ["tasks_never_ran"], "{version}");
        assert_eq!(statuses(&rows), BY_DATABASE, "{version}");
        let row = find(&rows, "part[1]", 1);
        assert_eq!((row.run_id.as_deref(), row.run_name.as_deref()), (Some("scheduled__2024-01-01T00:00:00+00:00"), Some("known_work")));
        assert_eq!((row.logical_task.as_ref(), row.tag.as_deref(), row.name.as_ref()), ("known_work.part", Some("1"), "part[1]"));
        assert_eq!(row.command.as_deref(), Some("bash /lab/work.sh read make/data 65536 write part/65536 65536 "));
        assert_eq!((row.native_kind.as_deref(), row.host.as_deref(), row.queue.as_deref()), (Some("pid"), Some("node1"), Some("default")));
        assert!(row.queued_ns.is_none_or(|queued| row.submitted_ns.unwrap() > queued));
        assert!(row.submitted_ns < row.started_ns && row.started_ns < row.finished_ns);
        assert_eq!((row.started_precision_ns, row.finished_precision_ns), (Some(1000), Some(1000)));
        assert_eq!(row.parents.as_deref(), Some(r#"["make"]"#));
        assert_eq!(find(&rows, "make", 1).parents.as_deref(), Some("[]"), "told that there is none");
        assert_eq!(find(&rows, "choose", 1).parents.as_deref(), Some(r#"["flaky","part[0]","part[1]","part[2]"]"#));
        // The fields that were rendered are of the last attempt; when a failure was noticed is not when it was.
        assert_eq!(find(&rows, "flaky", 1).command, None);
        assert_eq!(find(&rows, "flaky", 1).finished_precision_ns, None);
    }
}

#[test]
fn times_of_a_database_are_utc() {
    let dir = tempfile::tempdir().unwrap();
    let (rows, _) = read(&[database("3.3.2", dir.path())]);
    let row = find(&rows, "join", 1);
    let shown = |ns: Option<i64>| ns.map(rfc3339).unwrap();
    assert_eq!(
        [shown(row.queued_ns), shown(row.submitted_ns), shown(row.started_ns), shown(row.finished_ns)],
        ["2026-11-22T06:32:01.440128Z", "2026-11-22T06:32:01.460715Z", "2026-11-22T06:32:01.488730Z", "2026-11-22T06:32:01.746836Z"]
    );
    assert_eq!((row.native_id.as_deref(), row.realtime_s), (Some("28425"), Some(0.258)));
}

#[test]
fn a_database_in_postgresql() {
    let (rows, said) = read(&[fixture("3.3.2/postgres.jsonl")]);
    assert_eq!((statuses(&rows), said), (BY_DATABASE.map(str::to_owned).to_vec(), vec!["tasks_never_ran".to_owned()]));
    let row = find(&rows, "part[2]", 1);
    assert_eq!(row.command.as_deref(), Some("bash /lab/work.sh read make/data 333333 write part/333333 333333 "));
    assert_eq!(row.parents.as_deref(), Some(r#"["make"]"#));
    assert_eq!(row.started_ns.map(rfc3339).as_deref(), Some("2026-11-22T06:37:00.106395Z"));
}

#[test]
fn task_logs() {
    for version in ["2.11.2", "3.3.2"] {
        let mapped = fixture(version).join(RUN).join("task_id=part/map_index=1/attempt=1.log");
        let (rows, said) = read(&[log(version, "flaky"), log(version, "choose"), log(version, "skips_itself"), mapped]);
        assert_eq!(said, Vec::<String>::new());
        assert_eq!(
            statuses(&rows),
            ["choose 1 completed -", "flaky 1 failed 1", "part[1] 1 completed 0", "skips_itself 1 completed 99"],
            "{version}"
        );
        let flaky = find(&rows, "flaky", 1);
        assert!(flaky.error.as_deref().unwrap().ends_with("Bash command failed. The command returned a non-zero exit code 1."));
        assert_eq!(flaky.command.as_deref(), Some("bash /lab/work.sh write flaky/data 8192 fail-first "));
        assert!(flaky.started_ns < flaky.finished_ns && flaky.finished_precision_ns.is_none());
        // Only Airflow 2 writes it down here.
        let pid_and_host = (flaky.native_id.is_some(), flaky.host.as_deref());
        assert_eq!(pid_and_host, if version == "2.11.2" { (true, Some("node1")) } else { (false, None) });
    }
}

#[test]
fn a_task_log_without_its_folders() {
    for version in ["2.11.2", "3.3.2"] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("1.log");
        fs::copy(log(version, "flaky"), &path).unwrap();
        let (rows, said) = read(&[path]);
        assert_eq!((statuses(&rows), said), (vec!["flaky 1 failed 1".to_owned()], vec![]), "{version}");
    }
}

#[test]
fn coloured_scheduler_logs() {
    for (version, retried) in [("2.11.2", "flaky 1 failed -"), ("3.3.2", "flaky 1 unknown -")] {
        let (rows, said) = read(&[scheduler(version)]);
        assert_eq!(said, Vec::<String>::new(), "{version}");
        let mut expected = BY_DATABASE;
        // What Airflow 3 says of it is only that its process has ended.
        expected[2] = retried;
        assert_eq!(statuses(&rows), expected, "{version}");
        let dir = tempfile::tempdir().unwrap();
        for (told, known) in rows.iter().zip(read(&[database(version, dir.path())]).0) {
            if told.task_id.as_deref() == Some("flaky") && told.attempt == Some(1) {
                continue;
            }
            assert_eq!((&told.native_id, told.submitted_ns, told.started_ns), (&known.native_id, known.submitted_ns, known.started_ns));
            assert_eq!((told.finished_ns, told.finished_precision_ns), (known.finished_ns, known.finished_precision_ns));
            assert!(told.executor.as_deref().is_some_and(|executor| executor.ends_with("Executor")), "{told:?}");
        }
    }
}

#[test]
fn an_executor_that_gives_up() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("scheduler.log");
    let logger = "[airflow.jobs.scheduler_job_runner.SchedulerJobRunner] loc=scheduler_job_runner.py:1439";
    let text = format!(
        "2026-11-22T06:53:35.244644Z [info     ] TaskInstance Finished: dag_id=known_work, task_id=make, run_id=r, map_index=-1, \
         ti_id=01a20207-d3b1-7841-9a0f-7727724c5b43, run_start_date=None, run_end_date=None, run_duration=None, state=queued, \
         executor=LocalExecutor(parallelism=4), executor_state=failed, try_number=1, max_tries=0, pool=default_pool, queue=default, \
         priority_weight=9, operator=BashOperator, queued_dttm=2026-11-22 06:53:17.341627+00:00, \
         scheduled_dttm=2026-11-22 06:53:17.300000+00:00,queued_by_job_id=2, pid=None {logger}\n"
    );
    fs::write(&path, text).unwrap();
    let (rows, _) = read(&[path]);
    assert_eq!(statuses(&rows), ["make 1 failed -"]);
    assert_eq!((rows[0].native_id.as_deref(), rows[0].started_ns, rows[0].queued_ns.is_some()), (None, None, true));
}

#[test]
fn all_together_in_any_order() {
    for version in ["2.11.2", "3.3.2"] {
        let dir = tempfile::tempdir().unwrap();
        let mut paths = vec![log(version, "flaky"), scheduler(version), log(version, "skips_itself"), database(version, dir.path())];
        let (rows, said) = read(&paths);
        assert_eq!(said, ["tasks_never_ran"], "{version}");
        let mut expected = BY_DATABASE;
        (expected[2], expected[9]) = ("flaky 1 failed 1", "skips_itself 1 completed 99");
        assert_eq!(statuses(&rows), expected, "{version}");
        let by_database = read(&paths[3..]).0;
        let (both, alone) = (find(&rows, "skips_itself", 1), find(&by_database, "skips_itself", 1));
        // The supervisor of Airflow 3 notices such an end seconds later than the task's log has its last line.
        assert_eq!(both.finished_ns < alone.finished_ns, version == "3.3.2");
        assert!(both.finished_ns <= alone.finished_ns);
        paths.reverse();
        assert_eq!(read(&paths).0, rows);
    }
}

#[test]
fn a_log_that_contradicts_the_database() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(RUN).join("task_id=skips_itself/attempt=1.log");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let text = fs::read_to_string(log("2.11.2", "skips_itself")).unwrap();
    fs::write(&path, text.replace("Marking task as SKIPPED", "Marking task as FAILED")).unwrap();
    let (rows, said) = read(&[path, database("2.11.2", dir.path())]);
    assert_eq!(said, ["tasks_never_ran", "sources_contradict"]);
    assert_eq!(find(&rows, "skips_itself", 1).status, "completed");
}

#[test]
fn what_a_task_prints_is_not_believed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(RUN).join("task_id=t/attempt=1.log");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let line =
        |logger: &str, event: &str| format!("{{\"timestamp\":\"2026-01-01T00:00:00Z\",\"event\":{event:?},\"logger\":{logger:?}}}\n");
    let subprocess = "airflow.task.hooks.airflow.providers.standard.hooks.subprocess.SubprocessHook";
    let text = [
        line("task", "::group::Pre Execute"),
        line("task.stdout", "Task failed with exception"),
        line(subprocess, "Command exited with return code 7"),
        line(subprocess, "Task failed with exception"),
        line(subprocess, "Command exited with return code 0"),
        line("task", "::group::Post Execute"),
    ]
    .concat();
    fs::write(&path, &text).unwrap();
    assert_eq!(statuses(&read(std::slice::from_ref(&path)).0), ["t 1 completed 0"]);
    // Cut within its last line.
    fs::write(&path, &text[..text.len() - 20]).unwrap();
    let (rows, said) = read(&[path]);
    assert_eq!((statuses(&rows), said), (vec!["t 1 completed 0".to_owned()], vec!["line_bad:6".to_owned()]));
    // The scheduler of Airflow 3 prints its tasks' lines too.
    let path = dir.path().join("scheduler.log");
    let finished = "TaskInstance Finished: dag_id=d, task_id=t, run_id=r, map_index=-1, state=success, try_number=1, pid=1";
    let text = format!(
        "2026-01-01T00:00:00Z [info     ] Starting the scheduler [airflow.jobs.scheduler_job_runner.SchedulerJobRunner] loc=a.py:1\n\
         2026-01-01T00:00:00Z [info     ] {finished} [task.stdout] loc=b.py:1\n\
         2026-01-01 00:00:00+00:00 [info     ] {finished} [airflow.jobs.scheduler_job_runner.SchedulerJobRunner]\n"
    );
    fs::write(&path, text).unwrap();
    assert_eq!(read(&[path]), (vec![], vec![]));
}

#[test]
fn older_airflow() {
    let dir = tempfile::tempdir().unwrap();
    // 2.3: no history, no scheduled_dttm; an attempt that waits for its executor, or for a trigger, is not counted.
    let path = make(
        "CREATE TABLE task_instance (task_id, dag_id, run_id, map_index, state, try_number, start_date, end_date, pid, external_executor_id);
         INSERT INTO task_instance VALUES ('a', 'd', 'r', -1, 'queued', 0, NULL, NULL, NULL, '6f1c');
         INSERT INTO task_instance VALUES ('b', 'd', 'r', -1, 'deferred', 0, '2022-03-01 00:12:17.5', NULL, 7, NULL);
         INSERT INTO task_instance VALUES ('c', 'd', 'r', -1, 'up_for_retry', 2, '2022-03-01 00:12:17', '2022-03-01 00:12:18', 8, NULL);
         INSERT INTO task_instance VALUES ('e', 'd', 'r', -1, NULL, 2, '2022-03-01 00:12:17', '2022-03-01 00:12:18', 8, NULL);
         INSERT INTO task_instance VALUES (1, 'd', 'r', -1, 'success', 1, NULL, NULL, NULL, NULL);",
        &dir.path().join("old.db"),
    );
    let (rows, said) = read(&[path]);
    assert_eq!(statuses(&rows), ["a 1 submitted -", "b 1 running -", "c 2 failed -"]);
    assert_eq!(said, ["row_bad", "tasks_never_ran"], "a task without a name is no row, one without a state waits");
    assert_eq!((rows[0].native_id.as_deref(), rows[0].native_kind.as_deref()), (Some("6f1c"), Some("executor_id")));
    // 2.0: the scheduler's times have no zone.
    let path = dir.path().join("scheduler.log");
    let text = "[2021-03-01 01:12:17,123] {scheduler_job.py:987} INFO - Sending TaskInstanceKey(dag_id='d', task_id='a', run_id='r', \
                try_number=1, map_index=-1) to CeleryExecutor with priority 1 and queue slow\n";
    fs::write(&path, text).unwrap();
    let (rows, said) = read(std::slice::from_ref(&path));
    assert_eq!((statuses(&rows), said), (vec!["a 1 submitted -".to_owned()], vec!["no_zone".to_owned()]));
    let odd = "[2021-03-01 01:12:17,200] {scheduler_job.py:990} INFO - Setting external_executor_id for nobody\n";
    fs::write(dir.path().join("odd.log"), format!("{text}{odd}")).unwrap();
    assert_eq!(read(&[dir.path().join("odd.log")]).1, ["line_without_task:2", "no_zone"]);
    assert_eq!((rows[0].queue.as_deref(), rows[0].submitted_precision_ns), (Some("slow"), Some(14 * 3600 * 1_000_000_000 + 1_000_000)));
    let (rows, said) = read_with(&[path], &Options { zone_offset_s: Some(3600), year: None });
    assert_eq!((rows[0].submitted_ns.map(rfc3339).as_deref(), said.len()), (Some("2021-03-01T00:12:17.123Z"), 0));
}

#[test]
fn mapped_groups_and_many_instances() {
    let dir = tempfile::tempdir().unwrap();
    let dag = r#"{"dag": {"tasks": [{"task_id": "g.a", "downstream_task_ids": ["g.b"]}, {"task_id": "g.b", "downstream_task_ids": ["c"]},
        {"task_id": "c", "downstream_task_ids": []}], "task_group": {"children": {"g": ["taskgroup", {"_group_id": "g", "is_mapped": true,
        "children": {"g.a": ["operator", "g.a"], "g.b": ["operator", "g.b"]}}], "c": ["operator", "c"]}}}}"#;
    let sql = |instances: usize| {
        format!(
            "CREATE TABLE serialized_dag (dag_id, data); INSERT INTO serialized_dag VALUES ('d', '{dag}');
             CREATE TABLE task_instance (task_id, dag_id, run_id, map_index, state, try_number, pid);
             WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {instances})
             INSERT INTO task_instance SELECT t.id, 'd', 'r', i, 'success', 1, 1 FROM n, (SELECT 'g.a' AS id UNION SELECT 'g.b') AS t;
             INSERT INTO task_instance VALUES ('c', 'd', 'r', -1, 'success', 1, 1);"
        )
    };
    let (rows, _) = read(&[make(&sql(2), &dir.path().join("few.db"))]);
    assert_eq!(find(&rows, "g.b[1]", 1).parents.as_deref(), Some(r#"["g.a[1]"]"#));
    assert_eq!(find(&rows, "c", 1).parents.as_deref(), Some(r#"["g.b[0]","g.b[1]"]"#));
    let (rows, _) = read(&[make(&sql(1001), &dir.path().join("many.db"))]);
    assert_eq!(find(&rows, "c", 1).parents.as_deref(), Some(r#"["g.b"]"#));
}

mod in_use {
    use super::*;

    /// What lies in a directory, byte by byte.
    fn files(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
        let mut files: Vec<PathBuf> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        files.into_iter().map(|path| (path.clone(), fs::read(&path).unwrap())).collect()
    }

    fn without_shm(files: &[(PathBuf, Vec<u8>)]) -> Vec<&(PathBuf, Vec<u8>)> {
        files.iter().filter(|(path, _)| !path.to_str().unwrap().ends_with("-shm")).collect()
    }

    const LATE: &str = "INSERT INTO task_instance (id, task_id, dag_id, run_id, state, try_number, pool, pool_slots, pid)
        VALUES ('x', 'late', 'known_work', 'manual', 'running', 1, 'p', 1, 9)";

    #[test]
    fn a_database_that_airflow_is_writing() {
        let dir = tempfile::tempdir().unwrap();
        let path = database("3.3.2", dir.path());
        let airflow = open(&path);
        airflow.execute_batch("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0").unwrap();
        airflow.execute(LATE, []).unwrap();
        let before = files(dir.path());
        assert_eq!(before.len(), 3, "the row is in the log that is beside");
        let (rows, _) = read(&[path]);
        assert_eq!(find(&rows, "late", 1).status, "running");
        let after = files(dir.path());
        // SQLite's readers note themselves in -shm, which is memory that they share.
        assert_eq!((without_shm(&after), after.len()), (without_shm(&before), 3));
        // While a writer holds a lock, too.
        airflow.execute_batch("BEGIN IMMEDIATE").unwrap();
        airflow.execute("UPDATE task_instance SET state = 'success' WHERE task_id = 'late'", []).unwrap();
        assert_eq!(find(&read(&[dir.path().join("airflow.db")]).0, "late", 1).status, "running");
    }

    #[test]
    fn nothing_is_written_beside_a_database_that_nobody_uses() {
        let dir = tempfile::tempdir().unwrap();
        let path = database("3.3.2", dir.path());
        let airflow = open(&path);
        airflow.execute_batch("PRAGMA journal_mode = WAL").unwrap();
        airflow.execute(LATE, []).unwrap();
        drop(airflow);
        let before = files(dir.path());
        assert_eq!(before.len(), 1);
        assert_eq!(read(&[path]).0.len(), 11);
        assert_eq!(files(dir.path()), before);
    }

    #[test]
    fn a_copy_without_shm_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = database("3.3.2", dir.path());
        let airflow = open(&path);
        airflow.execute_batch("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0").unwrap();
        airflow.execute(LATE, []).unwrap();
        let copy = tempfile::tempdir().unwrap();
        for name in ["airflow.db", "airflow.db-wal"] {
            fs::copy(dir.path().join(name), copy.path().join(name)).unwrap();
        }
        let before = files(copy.path());
        assert_eq!(read(&[copy.path().join("airflow.db")]), (vec![], vec!["database_unreadable".to_owned()]));
        assert_eq!(files(copy.path()), before);
    }

    #[test]
    fn what_is_only_in_the_wal_is_imported_too() {
        let dir = tempfile::tempdir().unwrap();
        let path = database("3.3.2", dir.path());
        let airflow = open(&path);
        airflow.execute_batch("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0").unwrap();
        let dataset = Dataset::open_or_create(&dir.path().join("dataset")).unwrap();
        let import = || import_files(&dataset, &Airflow, std::slice::from_ref(&path), &Options::default()).unwrap();
        assert_eq!((import().rows(), import().already_there), (10, 1));
        airflow.execute(LATE, []).unwrap();
        assert_eq!(import().rows(), 11);
    }
}

#[test]
fn a_directory_is_searched_to_its_end() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = Dataset::open_or_create(&dir.path().join("dataset")).unwrap();
    let report = import_files(&dataset, &Airflow, &[fixture("3.3.2")], &Options::default()).unwrap();
    // The database stands there as SQL text. The two runs have the same names, so that they are taken for one.
    assert_eq!((report.rows(), report.errors(), report.passed_over, report.sources.len()), (10, 0, 1, 6));
}

mod hostile {
    use proptest::prelude::*;

    use super::*;

    fn edited(bytes: Vec<u8>) -> impl Strategy<Value = Vec<u8>> {
        let edit = (any::<prop::sample::Index>(), 0..40_usize, proptest::collection::vec(any::<u8>(), 0..8));
        (Just(bytes), proptest::collection::vec(edit, 1..10)).prop_map(|(mut bytes, edits)| {
            for (at, remove, insert) in edits {
                let at = at.index(bytes.len() + 1);
                let end = (at + remove).min(bytes.len());
                bytes.splice(at..end, insert);
            }
            bytes
        })
    }

    fn mangled() -> impl Strategy<Value = (&'static str, Vec<u8>)> {
        let dir = tempfile::tempdir().unwrap();
        let bytes = |path: &Path| fs::read(path).unwrap();
        let path = database("3.3.2", dir.path());
        open(&path).execute_batch("VACUUM").unwrap();
        let texts = [
            ("a.log", bytes(&scheduler("2.11.2"))),
            ("b.log", head(&scheduler("3.3.2"))),
            ("c.log", bytes(&log("2.11.2", "flaky"))),
            ("d.log", bytes(&log("3.3.2", "flaky"))),
            ("e.jsonl", bytes(&fixture("3.3.2/postgres.jsonl"))),
            ("f.db", bytes(&path)),
        ];
        prop::sample::select(texts.to_vec()).prop_flat_map(|(name, bytes)| edited(bytes).prop_map(move |bytes| (name, bytes)))
    }

    /// A page of SQLite in which bytes change without moving the others: what a database is refused
    /// for otherwise comes later here.
    fn flipped() -> impl Strategy<Value = (&'static str, Vec<u8>)> {
        let dir = tempfile::tempdir().unwrap();
        let bytes = fs::read(database("2.11.2", dir.path())).unwrap();
        let flips = proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20);
        (Just(bytes), flips).prop_map(|(mut bytes, flips)| {
            for (at, byte) in flips {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            ("g.db", bytes)
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn decoding_never_panics(first in mangled(), second in prop_oneof![mangled(), flipped()]) {
            let dir = tempfile::tempdir().unwrap();
            let mut paths: Vec<PathBuf> = Vec::new();
            for (at, (name, bytes)) in [first, second].into_iter().enumerate() {
                let path = dir.path().join(format!("{at}{name}"));
                fs::write(&path, bytes).unwrap();
                paths.extend(source(&path).map(|source| source.path));
            }
            let (rows, _) = read(&paths);
            for row in &rows {
                prop_assert!(!row.name.is_empty() && !row.status.is_empty());
                prop_assert!(row.run_id.is_some() && row.run_name.is_some());
            }
            paths.reverse();
            prop_assert_eq!(read(&paths).0, rows);
        }
    }
}

//! Runs of Nextflow: what became of their tasks, which file belongs to which run, and files that
//! grow.

use std::fs;
use std::path::{Path, PathBuf};

use flowmine_dataset::{Dataset, DatasetError};
use flowmine_extract_workflow::import_files::{Report, import_files};
use flowmine_extract_workflow::nextflow::Nextflow;
use flowmine_extract_workflow::{Options, Row};
use flowmine_schema::tables::{DiagnosticRow, TaskRun};
use flowmine_schema::time::rfc3339;

const ID: &str = "6d1a1f6e-0000-4000-8000-000000000001";
const MONITOR: &str = "[Task monitor] DEBUG n.processor.TaskPollingMonitor -";
const SESSION: &str = "[main] DEBUG nextflow.Session -";
const INFO: &str = "[Task submitter] INFO  nextflow.Session -";
const UTC: Options = Options { zone_offset_s: Some(0), year: Some(2024) };

/// A log with a line a second.
fn log(lines: &[String]) -> String {
    let line = |(second, line): (usize, &String)| match line.strip_prefix("~> ") {
        Some(_) => format!("{line}\n"),
        None => format!("Jul-10 10:{:02}:{:02}.000 {line}\n", second / 60, second % 60),
    };
    lines.iter().enumerate().map(line).collect()
}

/// The log of a run: its first lines, these and the last.
fn run(name: &str, lines: &[String]) -> String {
    let mut all = vec![
        "[main] DEBUG nextflow.cli.Launcher - $> nextflow run main.nf".to_owned(),
        format!("{SESSION} Session UUID: {ID}"),
        format!("{SESSION} Run name: {name}"),
    ];
    all.extend_from_slice(lines);
    all.push("[main] DEBUG nextflow.script.ScriptRunner - > Execution complete -- Goodbye".to_owned());
    log(&all)
}

fn submitted(key: &str, name: &str) -> String {
    format!("{INFO} [{key}] Submitted process > {name}")
}

fn cached(key: &str, name: &str) -> String {
    format!("[Actor Thread 1] INFO  nextflow.processor.TaskProcessor - [{key}] Cached process > {name}")
}

fn handler(id: usize, name: &str, status: &str, exit: &str, hash: &str) -> String {
    format!("TaskHandler[id: {id}; name: {name}; status: {status}; exit: {exit}; error: -; workDir: /w/{hash}]")
}

fn completed(id: usize, name: &str, exit: &str, hash: &str) -> String {
    format!("{MONITOR} Task completed > {}", handler(id, name, "COMPLETED", exit, hash))
}

fn exception(name: &str, dir: &str, class: &str, message: &str) -> String {
    format!(
        "[Actor Thread 5] DEBUG nextflow.processor.TaskProcessor - Handling unexpected condition for\n  task: name={name}; work-dir={dir}\n  error [{class}]: {message}"
    )
}

/// A dataset that grows, and the folder that is imported into it.
struct Place {
    root: tempfile::TempDir,
    dataset: Dataset,
}

impl Place {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("launch")).unwrap();
        let dataset = Dataset::open_or_create(&root.path().join("dataset")).unwrap();
        Self { root, dataset }
    }

    fn path(&self) -> PathBuf {
        self.root.path().join("launch")
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn import(&self, paths: &[PathBuf]) -> Report {
        import_files(&self.dataset, &Nextflow, paths, &UTC).unwrap()
    }

    /// Rows, those of the dataset in their order.
    fn rows(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        self.dataset
            .read::<TaskRun<'static>, DatasetError>(|row| {
                rows.push(row.into_owned());
                Ok(())
            })
            .unwrap();
        rows
    }

    fn said(&self) -> Vec<String> {
        let mut said = Vec::new();
        self.dataset
            .read::<DiagnosticRow<'static>, DatasetError>(|row| {
                said.push(row.code.to_string());
                Ok(())
            })
            .unwrap();
        said.sort();
        said
    }
}

/// Name and status of what a log describes, and the codes of what was odd.
fn statuses(text: &str) -> (Vec<String>, Vec<String>) {
    let place = Place::new();
    place.import(&[place.write(".nextflow.log", text)]);
    (place.rows().iter().map(row_status).collect(), place.said())
}

fn row_status(row: &Row) -> String {
    format!("{} {}", row.name, row.status)
}

const NONE: Vec<String> = Vec::new();

#[test]
fn interrupted_operators_are_no_tasks() {
    let why = "java.lang.InterruptedException";
    let (rows, said) = statuses(&run(
        "a_b",
        &[
            submitted("aa/000001", "A (1)"),
            submitted("aa/000002", "A (2)"),
            completed(1, "A (1)", "1", "aa/0000010000000000000000000000f1"),
            exception(
                "A (1)",
                "/w/aa/0000010000000000000000000000f1",
                "nextflow.exception.ProcessFailedException",
                "Process `A (1)` terminated with an error exit status (1)",
            ),
            format!("{SESSION} Session aborted -- Cause: Process `A (1)` terminated with an error exit status (1)"),
            exception("B", "null", why, why),
            exception("C:D", "null", "java.nio.channels.ClosedByInterruptException", "java.nio.channels.ClosedByInterruptException"),
            exception("E", "null", "java.util.concurrent.RejectedExecutionException", "Task x rejected from y"),
            // One whose submission was interrupted was running; one that was not submitted is none.
            exception("A (2)", "/w/aa/0000020000000000000000000000f2", why, why),
            exception("F (1)", "/w/ff/0000010000000000000000000000f2", why, why),
        ],
    ));
    assert_eq!(rows, ["A (1) failed", "A (2) aborted"]);
    assert_eq!(said, ["tasks_not_submitted"]);
}

#[test]
fn an_operator_that_failed_is_one_task_with_its_whole_name() {
    let why = "java.util.ConcurrentModificationException";
    let error = format!(
        "[Actor Thread 26] ERROR nextflow.processor.TaskProcessor - Error executing process > 'GRM (5 42)'\n\nCaused by:\n  {why}\n"
    );
    // An earlier task without tag, which has nothing to do with it.
    let (rows, said) = statuses(&run("a_b", &[
        submitted("aa/000001", "GRM"),
        completed(1, "GRM", "0", "aa/0000010000000000000000000000f1"),
        exception("GRM", "null", why, why),
        error,
        format!("{SESSION} Session aborted -- Cause: {why}"),
        "[main] DEBUG n.trace.WorkflowStatsObserver - Workflow completed > WorkflowStats[succeededCount=1; failedCount=0; ignoredCount=0; cachedCount=0; pendingCount=0; abortedCount=0; ]".to_owned(),
    ]));
    assert_eq!((rows, said), (vec!["GRM completed".to_owned(), "GRM (5 42) failed".to_owned()], NONE));
}

#[test]
fn tasks_that_wait_for_their_submission_are_no_attempts() {
    let queue = |tasks: usize| {
        format!(
            "[Task submitter] DEBUG n.processor.TaskPollingMonitor - %% executor local > tasks in the submission queue: {tasks} -- tasks to be submitted are shown below"
        )
    };
    let waits =
        |id: usize| format!("~> {}", handler(id, &format!("W ({id})"), "NEW", "-", &format!("bb/00000{id}0000000000000000000000f1")));
    let lines = [
        submitted("aa/000001", "A"),
        queue(3),
        waits(2),
        waits(3),
        format!("{MONITOR} !! executor local > tasks to be completed: 1 -- submitted tasks are shown below"),
        format!("~> {}", handler(1, "A", "RUNNING", "-", "aa/0000010000000000000000000000f1")),
        submitted("bb/000002", "W (2)"),
    ];
    // While it goes on, and when it was aborted.
    let (rows, said) = statuses(&log(&lines));
    assert_eq!(
        (rows, said),
        (vec!["A running".to_owned(), "W (2) submitted".to_owned()], vec!["run_without_end".to_owned(), "tasks_not_submitted".to_owned()])
    );
    let mut aborted = lines.to_vec();
    aborted.push(format!("{SESSION} Session aborted -- Cause: SIGINT"));
    let (rows, said) = statuses(&run("a_b", &aborted));
    assert_eq!((rows, said), (vec!["A aborted".to_owned(), "W (2) aborted".to_owned()], vec!["tasks_not_submitted".to_owned()]));
    // Where jobs are left alone they go on.
    aborted.push(format!("{MONITOR} Running tasks were not cancelled as requested (2)"));
    assert_eq!(statuses(&run("a_b", &aborted)).0, ["A running", "W (2) submitted"]);
}

#[test]
fn jobs_that_are_killed_are_aborted() {
    let batch = "[AWSBatch-executor-1] DEBUG n.c.aws.batch.AwsBatchTaskHandler - [AWS BATCH]";
    let (rows, said) = statuses(&run(
        "a_b",
        &[
            format!("{batch} Process `A (1)` submitted > job=70af3d53-8070; work-dir=s3://b/w/aa/0000010000000000000000000000f1"),
            submitted("aa/000001", "A (1)"),
            format!("{batch} Process `A (2)` submitted > job=70af3d53-8071; work-dir=s3://b/w/aa/0000020000000000000000000000f1"),
            submitted("aa/000002", "A (2)"),
            format!("{SESSION} Session aborted -- Cause: SIGINT"),
            format!("{batch} killing job=70af3d53-8071; response={{}}"),
            // Submitted although the run had ended, as happens.
            submitted("aa/000003", "A (3)"),
        ],
    ));
    // Nobody ended the first.
    assert_eq!((rows, said), (["A (1) submitted", "A (2) aborted", "A (3) submitted"].map(str::to_owned).to_vec(), NONE));
}

#[test]
fn each_cached_line_is_a_task_with_its_time() {
    let place = Place::new();
    let stats = "[main] DEBUG n.trace.WorkflowStatsObserver - Workflow completed > WorkflowStats[succeededCount=0; failedCount=0; ignoredCount=0; cachedCount=3; pendingCount=0; retriesCount=0; abortedCount=0; ]";
    let text = run(
        "a_b",
        &[
            cached("aa/000001", "A (1)"),
            cached("aa/000001", "A (1)"),
            cached("aa/000002", "A (2)"),
            "[Actor Thread 1] INFO  nextflow.processor.TaskProcessor - [skipping] Stored process > S (1)".to_owned(),
            stats.to_owned(),
        ],
    );
    place.import(&[place.write(".nextflow.log", &text)]);
    let times: Vec<String> = place.rows().iter().map(|row| format!("{} {}", row_status(row), rfc3339(row.cached_ns.unwrap()))).collect();
    assert_eq!(
        times,
        [
            "A (1) cached 2024-07-10T10:00:03Z",
            "A (1) cached 2024-07-10T10:00:04Z",
            "A (2) cached 2024-07-10T10:00:05Z",
            "S (1) cached 2024-07-10T10:00:06Z",
        ]
    );
    assert!(place.rows().iter().all(|row| row.cached_precision_ns == Some(1_000_000) && row.finished_ns.is_none()));
    assert_eq!(place.said(), NONE);
}

#[test]
fn ignored_and_retried_failures_are_compared() {
    let note = |key: &str, name: &str, what: &str| {
        format!(
            "[TaskFinalizer-1] INFO  nextflow.processor.TaskProcessor - [{key}] NOTE: Process `{name}` terminated with an error exit status (1) -- {what}"
        )
    };
    let text = |ignored: usize| {
        run(
            "a_b",
            &[
                submitted("aa/000001", "A (1)"),
                completed(1, "A (1)", "1", "aa/0000010000000000000000000000f1"),
                note("aa/000001", "A (1)", "Error is ignored"),
                submitted("aa/000002", "A (2)"),
                completed(2, "A (2)", "1", "aa/0000020000000000000000000000f1"),
                note("aa/000002", "A (2)", "Execution is retried (1)"),
                format!("{INFO} [aa/000003] Re-submitted process > A (2)"),
                completed(3, "A (2)", "0", "aa/0000030000000000000000000000f1"),
                format!(
                    "[main] DEBUG n.trace.WorkflowStatsObserver - Workflow completed > WorkflowStats[succeededCount=1; failedCount=2; ignoredCount={ignored}; cachedCount=0; pendingCount=0; retriesCount=1; abortedCount=0; ]"
                ),
            ],
        )
    };
    assert_eq!(statuses(&text(1)).1, NONE);
    assert_eq!(statuses(&text(2)).1, ["counts_differ"]);
}

#[test]
fn tasks_that_were_counted_and_of_which_nobody_tells_are_an_error() {
    let log = |told: usize| {
        let stats = "[main] DEBUG n.trace.WorkflowStatsObserver - Workflow completed > WorkflowStats[succeededCount=3; failedCount=0; ignoredCount=0; cachedCount=0; pendingCount=0; retriesCount=0; abortedCount=0; ]";
        let key = |id: usize| format!("aa/00000{id}");
        let mut lines: Vec<String> = (1..=told).map(|id| submitted(&key(id), &format!("A ({id})"))).collect();
        lines.extend((1..=told).map(|id| completed(id, &format!("A ({id})"), "0", &format!("{}0000000000000000000000f1", key(id)))));
        lines.push(stats.to_owned());
        run("a_b", &lines)
    };
    assert_eq!(statuses(&log(3)).1, NONE);
    let place = Place::new();
    let report = place.import(&[place.write(".nextflow.log", &log(1))]);
    assert_eq!((place.said(), report.errors()), (vec!["counts_differ".to_owned(), "tasks_missing".to_owned()], 2));
    // A trace file tells of one of the two, then of both.
    for (told, missing) in [(2, 1), (3, 0)] {
        let row = |id: usize| format!("{id}\taa/00000{id}\tA ({id})\tCOMPLETED\t2024-07-10 10:00:04.000\n");
        let trace = format!("task_id\thash\tname\tstatus\tsubmit\n{}", (1..=told).map(row).collect::<String>());
        let place = Place::new();
        let report = place.import(&[place.write(".nextflow.log", &log(1)), place.write("trace.txt", &trace)]);
        assert_eq!((place.rows().len(), report.errors()), (told, missing));
    }
}

#[test]
fn two_tasks_with_the_same_short_hash() {
    let (first, second) = ("aa/000000".to_owned() + "0000000000000000000000f1", "aa/000000".to_owned() + "0000000000000000000000f2");
    let place = Place::new();
    let text = run(
        "a_b",
        &[
            submitted("aa/000000", "A (1)"),
            submitted("aa/000000", "B"),
            completed(2, "B", "1", &second),
            format!("{MONITOR} x\n"),
            exception("B", &format!("/w/{second}"), "nextflow.exception.ProcessFailedException", "it failed"),
            completed(1, "A (1)", "0", &first),
        ],
    );
    let trace = "task_id\thash\tnative_id\tname\tstatus\texit\tsubmit\tduration\trealtime\trchar\n\
                 2\taa/000000\t12\tB\tFAILED\t1\t2024-07-10 10:00:04.000\t1s\t900ms\t2 KB\n\
                 1\taa/000000\t11\tA (1)\tCOMPLETED\t0\t2024-07-10 10:00:03.000\t5s\t4s\t1 KB\n";
    let paths = [place.write(".nextflow.log", &text), place.write("trace.txt", trace)];
    for hash in [&first, &second] {
        place.write(&format!("work/{hash}/.command.sh"), &format!("echo {hash}\n"));
    }
    place.import(&[paths[0].clone(), paths[1].clone(), place.path().join("work")]);
    let told: Vec<String> = place
        .rows()
        .iter()
        .map(|row| {
            format!(
                "{} {} {} {}",
                row_status(row),
                row.task_id.as_deref().unwrap(),
                row.rchar_bytes.unwrap(),
                row.command.as_deref().unwrap()
            )
        })
        .collect();
    assert_eq!(told, [format!("A (1) completed 1 1024 echo {first}"), format!("B failed 2 2048 echo {second}")]);
    assert_eq!(place.said(), ["hash_shared"]);
}

/// Two trace files of one run, each with so many tasks that share a hash.
fn import_crowded(tasks: usize) -> Place {
    let place = Place::new();
    let trace = |column: &str| -> String {
        let row = |id: usize| format!("{id}\taa/000000\tP (s{id})\tCOMPLETED\t2024-07-10 10:00:04.000\t1 KB\n");
        format!("task_id\thash\tname\tstatus\tsubmit\t{column}\n{}", (1..=tasks).map(row).collect::<String>())
    };
    place.import(&[place.write("a.txt", &trace("rchar")), place.write("b.txt", &trace("wchar"))]);
    place
}

#[test]
fn tasks_of_one_hash_are_joined_up_to_a_bound_which_is_said() {
    let with_both = |place: &Place| place.rows().iter().filter(|row| row.rchar_bytes.is_some() && row.wchar_bytes.is_some()).count();
    let place = import_crowded(100);
    assert_eq!((place.rows().len(), with_both(&place), place.said()), (100, 100, NONE));
    // Both files tell of twenty more, as of tasks that the other does not know.
    let place = import_crowded(120);
    assert_eq!((place.rows().len(), with_both(&place)), (140, 100));
    assert_eq!(place.said(), ["hash_crowded", "hash_crowded"]);
}

#[test]
fn a_work_directory_whose_files_are_links_is_refused() {
    let place = Place::new();
    let secret = place.root.path().join("secret");
    fs::write(&secret, "not of this task").unwrap();
    let dir = place.path().join("work/aa/0000000000000000000000000000f1");
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join(".command.run"), "# NEXTFLOW TASK: A (1)\n").unwrap();
    std::os::unix::fs::symlink(&secret, dir.join(".command.sh")).unwrap();
    let report = place.import(&[place.path().join("work")]);
    assert_eq!((place.rows().len(), place.said(), report.errors()), (0, vec!["file_unreadable".to_owned()], 1));
}

#[test]
fn a_log_with_many_tasks_of_one_hash_joins_its_lines_up_to_the_bound() {
    let key = "aa/000000";
    let log = |tasks: usize| {
        let begin = (0..tasks).map(|id| submitted(key, &format!("A ({id})")));
        let end = (0..tasks).map(|id| completed(id, &format!("A ({id})"), "0", &format!("{key}0000000000000000000000f1")));
        statuses(&run("a_b", &begin.chain(end).collect::<Vec<_>>()))
    };
    let distinct = |tasks: usize| {
        let (rows, mut said) = log(tasks);
        said.dedup();
        (rows.len(), said)
    };
    assert_eq!(distinct(100).1, ["hash_shared"]);
    assert_eq!(distinct(120).1, ["hash_crowded", "hash_shared"]);
}

const HEADER: &str = "task_id\thash\tnative_id\tname\tstatus\texit\tsubmit\tduration\trealtime\t%cpu\tpeak_rss\tpeak_vmem\trchar\twchar\n";

#[test]
fn the_default_trace_file_tells_start_and_end() {
    let place = Place::new();
    let trace = format!(
        "{HEADER}2\t82/918ce4\t149\tcheck (x.tsv)\tCOMPLETED\t0\t2020-09-26 20:20:12.936\t809ms\t538ms\t44.4%\t11.5 MB\t23.7 MB\t3.3 MB\t1.3 KB\n\
        12\t10/fa2492\t444\ttrim\tFAILED\t1\t2020-09-26 20:20:13.866\t1m 35s\t1m 34s\t-\t-\t-\t-\t-\n\
        13\t10/fa2493\t-\tlast\tABORTED\t-\t2020-09-26 20:20:14.000\t-\t-\t-\t-\t-\t-\t-\n"
    );
    place.import(&[place.write("trace.txt", &trace)]);
    let times = |row: &Row| {
        let of = |ns: Option<i64>, precision: Option<i64>| {
            format!("{} ±{}", ns.map_or("-".into(), rfc3339), precision.map_or("-".into(), |ns| format!("{}", ns as f64 / 1e9)))
        };
        [
            of(row.submitted_ns, row.submitted_precision_ns),
            of(row.started_ns, row.started_precision_ns),
            of(row.finished_ns, row.finished_precision_ns),
        ]
    };
    let rows = place.rows();
    // It ran 538 of 809 ms: it began up to 271 ms after its submission, and ended as long before its end was noticed.
    assert_eq!(times(&rows[0]), ["2020-09-26T20:20:12.936Z ±0.001", "2020-09-26T20:20:13.207Z ±0.275", "2020-09-26T20:20:13.745Z ±0.275"]);
    // Its times were noticed, to the second: it can have ended at any time after its submission.
    assert_eq!(times(&rows[1]), ["2020-09-26T20:20:13.866Z ±0.001", "2020-09-26T20:20:14.866Z ±2.002", "2020-09-26T20:21:48.866Z ±95.502"]);
    assert_eq!(times(&rows[2])[1..], ["- ±-", "- ±-"]);
}

#[test]
fn a_cut_log_says_so() {
    let lines = [submitted("aa/000001", "A (1)"), completed(1, "A (1)", "0", "aa/0000010000000000000000000000f1")];
    let whole = run("a_b", &lines);
    assert_eq!(statuses(&whole).1, NONE);
    // At the end of a line, within one, and in the middle: another line begins there.
    let at = |what: &str| whole.find(what).unwrap();
    assert_eq!(statuses(&whole[..at("Jul-10 10:00:05")]).1, ["run_without_end"]);
    assert_eq!(statuses(&whole[..at("on complete -- Goodbye")]).1, ["last_line_cut", "run_without_end"]);
    let middle = format!("{}{}", &whole[..at("process > A (1)") + 10], &whole[at("Jul-10 10:00:04")..]);
    let (rows, said) = statuses(&middle);
    assert_eq!((rows, said), (vec!["A (1) completed".to_owned()], vec!["line_cut".to_owned()]));
    let hole = format!("{}{}{}", &whole[..at("Jul-10 10:00:03")], "\0".repeat(40), &whole[at("Jul-10 10:00:04")..]);
    assert_eq!(statuses(&hole).1, ["bytes_missing"]);
    // A message may mention a time.
    let quoting = run("a_b", &[format!("{SESSION} it said Jul-10 10:00:04.000 - see there")]);
    assert_eq!(statuses(&quoting).1, NONE);
    let place = Place::new();
    place.import(&[
        place.write("trace.txt", &format!("{HEADER}2\t82/918ce4\t149\tx\tCOMPLETED\t0\t1601151612936\t809\t538\t-\t-\t-\t5\t13"))
    ]);
    assert_eq!((place.rows()[0].rchar_bytes, place.rows()[0].wchar_bytes, place.said()), (Some(5), None, vec!["last_line_cut".to_owned()]));
}

/// The parts of a report that are read.
fn report(name: &str, tasks: &str) -> String {
    format!(
        "<html><head><title>[{name}] Nextflow Workflow Report</title></head>\n<dt class=\"col-sm-3\">Workflow session</dt>\n<dd class=\"col-sm-9\"><code>{ID}</code></dd>\n<script>\n  window.data = {{ \"trace\":[\n{tasks}], \"summary\":[] }};\n</script></html>\n"
    )
}

fn reported(id: usize, hash: &str, name: &str, status: &str) -> String {
    format!(
        r#"{{"task_id":"{id}","hash":"{}","native_id":"14{id}","process":"A","tag":"-","name":"{name}","status":"{status}","exit":"0","submit":"1720605603000","start":"1720605604000","complete":"1720605609000","duration":"6000","realtime":"4000","%cpu":"44.4","rchar":"3460301","script":"\n    echo \'it\\\'s\' \"x\"\n","workdir":"\/w\/{}"}}"#,
        hash[..9].replace('/', "\\/"),
        hash.replace('/', "\\/")
    )
}

#[test]
fn a_report_tells_its_run_and_its_tasks() {
    let place = Place::new();
    let (one, two) = ("aa/0000010000000000000000000000f1", "aa/0000020000000000000000000000f1");
    let tasks = format!("{},{}", reported(1, one, "A (1)", "COMPLETED"), reported(2, two, "A (2)", "CACHED"));
    let html = place.write("results/pipeline_info/execution_report_2024-07-10.html", &report("a_b", &tasks));
    let trace = format!(
        "{HEADER}1\taa/000001\t141\tA (1)\tCOMPLETED\t0\t2024-07-10 12:00:03.000\t6s\t4s\t44.4%\t11.5 MB\t23.7 MB\t3.3 MB\t1.3 KB\n"
    );
    let trace = place.write("results/pipeline_info/execution_trace_2024-07-10.txt", &trace);
    place.import(&[html, trace]);
    let rows = place.rows();
    assert_eq!(rows.iter().map(row_status).collect::<Vec<_>>(), ["A (1) completed", "A (2) cached"]);
    let row = &rows[0];
    assert_eq!((row.run_id.as_deref(), row.run_name.as_deref(), row.task_id.as_deref()), (Some(ID), Some("a_b"), Some("1")));
    assert_eq!(
        (row.rchar_bytes, row.peak_rss_bytes, row.wchar_bytes),
        (Some(3_460_301), Some(12_058_624), Some(1331)),
        "the report is exact, the trace file adds"
    );
    assert_eq!(row.command.as_deref(), Some("echo 'it\\'s' \"x\""));
    assert_eq!(
        (rfc3339(row.submitted_ns.unwrap()), rfc3339(row.started_ns.unwrap())),
        ("2024-07-10T10:00:03Z".to_owned(), "2024-07-10T10:00:04Z".to_owned())
    );
    assert_eq!((rows[1].submitted_ns, rows[1].native_id.as_deref()), (None, None), "the earlier run executed it");
    assert_eq!(place.said(), NONE);
}

#[test]
fn a_project_is_found_and_its_runs_stay_apart() {
    let place = Place::new();
    let (one, two) = ("aa/0000010000000000000000000000f1", "aa/0000020000000000000000000000f1");
    let first = run("first_run", &[submitted("aa/000001", "A (1)"), completed(1, "A (1)", "0", one)]);
    // Resumed twice; of the last run only the trace file is left.
    let second = run("second_run", &[cached("aa/000001", "A (1)"), submitted("aa/000002", "A (2)"), completed(2, "A (2)", "1", two)]);
    place.write(".nextflow.log.1", &first);
    place.write(".nextflow.log", &second.replace("Jul-10 10:", "Jul-10 11:"));
    let row = |id: usize, hash: &str, name: &str, status: &str, submit: &str| {
        format!("{id}\t{hash}\t1{id}\t{name}\t{status}\t0\t2024-07-10 {submit}\t6s\t4s\t44.4%\t11.5 MB\t23.7 MB\t3.3 MB\t1.3 KB\n")
    };
    place.write(
        "out/pipeline_info/execution_trace_2024-07-10_12-00-00.txt",
        &format!(
            "{HEADER}{}{}",
            row(1, "aa/000001", "A (1)", "CACHED", "10:00:03.000"),
            row(2, "aa/000003", "A (2)", "COMPLETED", "12:00:05.000")
        ),
    );
    place.write(
        "out/pipeline_info/execution_trace_2024-07-10_11-00-00.txt",
        &format!(
            "{HEADER}{}{}",
            row(1, "aa/000001", "A (1)", "CACHED", "10:00:03.000"),
            row(2, "aa/000002", "A (2)", "FAILED", "11:00:04.000")
        ),
    );
    let launch = |time: &str, name: &str, status: &str| {
        format!("2024-07-10 {time}\t1m 2s\t{name}\t{status}\tde27\t{ID}\tnextflow run main.nf -resume\n")
    };
    place.write(
        ".nextflow/history",
        &format!(
            "{}{}{}",
            launch("10:00:00", "first_run", "OK"),
            launch("11:00:00", "second_run", "ERR"),
            launch("12:00:00", "third_run", "OK")
        ),
    );
    place.write("out/other.txt", "not looked at\n");
    let report = place.import(&[place.path()]);
    assert_eq!((report.sources.len(), report.passed_over, report.errors()), (5, 0, 0));
    let mut told: Vec<String> = place
        .rows()
        .iter()
        .map(|row| format!("{} {} {}", row.run_name.as_deref().unwrap_or("-"), row_status(row), row.rchar_bytes.is_some()))
        .collect();
    told.sort();
    assert_eq!(
        told,
        [
            "first_run A (1) completed false",
            "second_run A (1) cached false",
            "second_run A (2) failed true",
            "third_run A (1) cached false",
            "third_run A (2) completed true",
        ]
    );
}

#[test]
fn a_log_that_has_grown_replaces_its_rows() {
    let place = Place::new();
    let whole = run(
        "a_b",
        &[
            submitted("aa/000001", "A (1)"),
            submitted("aa/000002", "A (2)"),
            completed(1, "A (1)", "0", "aa/0000010000000000000000000000f1"),
            completed(2, "A (2)", "0", "aa/0000020000000000000000000000f1"),
        ],
    );
    let row = |id: usize| {
        format!(
            "{id}\taa/00000{id}\t1{id}\tA ({id})\tCOMPLETED\t0\t2024-07-10 10:00:03.000\t6s\t4s\t44.4%\t11.5 MB\t23.7 MB\t3.3 MB\t1.3 KB\n"
        )
    };
    let other = run("another", &[submitted("cc/000001", "A (1)"), completed(1, "A (1)", "0", "cc/0000010000000000000000000000f1")]);
    place.write("other/.nextflow.log", &other);
    place.import(&[place.path().join("other")]);
    // The header alone is how many files begin.
    place.write("other/trace.txt", HEADER);
    place.import(&[place.path().join("other")]);

    let (cut, second) = (whole.find("Jul-10 10:00:05").unwrap(), whole.find("Jul-10 10:00:06").unwrap());
    let project = place.path().join("project");
    place.write("project/.nextflow.log", &whole[..cut]);
    place.write("project/trace.txt", HEADER);
    place.write("project/work/aa/0000010000000000000000000000f1/.command.sh", "echo 1\n");
    let report = place.import(std::slice::from_ref(&project));
    assert_eq!((report.rows(), report.grown), (2, 0));
    assert_eq!(place.said(), ["run_without_end"]);

    // More than once, renamed, and with a trace file that grows beside it.
    place.write("project/.nextflow.log", &whole[..second]);
    place.write("project/trace.txt", &format!("{HEADER}{}", row(1)));
    let report = place.import(std::slice::from_ref(&project));
    assert_eq!((report.rows(), report.grown, report.already_there), (2, 2, 0));
    place.write("project/.nextflow.log.1", &whole);
    fs::remove_file(project.join(".nextflow.log")).unwrap();
    place.write("project/trace.txt", &format!("{HEADER}{}{}", row(1), row(2)));
    let report = place.import(std::slice::from_ref(&project));
    assert_eq!((report.rows(), report.grown), (2, 2));
    let told: Vec<String> = place
        .rows()
        .iter()
        .map(|row| {
            format!("{} {} {} {}", row.run_name.as_deref().unwrap(), row_status(row), row.rchar_bytes.is_some(), row.command.is_some())
        })
        .collect();
    assert_eq!(told, ["another A (1) completed false false", "a_b A (1) completed true true", "a_b A (2) completed true false"]);
    assert_eq!(place.said(), NONE, "what was said of the log when it was shorter is gone");
    // Nothing changes when all is given again, an earlier copy too.
    place.write("project/copy.log", &whole[..cut]);
    let report = place.import(&[project, place.path().join("other")]);
    assert_eq!((report.rows(), report.grown, report.already_there), (0, 0, 6));
    assert_eq!(place.rows().len(), 3);
}

#[test]
fn a_trace_file_that_has_grown_needs_its_log() {
    let place = Place::new();
    let text = run(
        "a_b",
        &[
            submitted("aa/000001", "A (1)"),
            submitted("aa/000002", "A (2)"),
            completed(1, "A (1)", "0", "aa/0000010000000000000000000000f1"),
        ],
    );
    let row = |id: usize| {
        format!(
            "{id}\taa/00000{id}\t1{id}\tA ({id})\tCOMPLETED\t0\t2024-07-10 10:00:03.000\t6s\t4s\t44.4%\t11.5 MB\t23.7 MB\t3.3 MB\t1.3 KB\n"
        )
    };
    let log = place.write(".nextflow.log", &text);
    let trace = place.write("trace.txt", &format!("{HEADER}{}", row(1)));
    place.import(&[log.clone(), trace.clone()]);
    place.write("trace.txt", &format!("{HEADER}{}{}", row(1), row(2)));
    let report = place.import(std::slice::from_ref(&trace));
    assert_eq!((report.rows(), report.errors()), (0, 1));
    assert_eq!((place.rows().len(), place.said()), (2, vec!["source_missing".to_owned()]));
    // With the log, which has not changed, it is read.
    let report = place.import(&[log, trace]);
    assert_eq!((report.rows(), report.grown, report.errors()), (2, 1, 0));
    assert_eq!(place.rows().iter().map(row_status).collect::<Vec<_>>(), ["A (1) completed", "A (2) completed"]);
}

#[test]
fn a_copy_that_ends_earlier_is_not_read_beside_the_log() {
    let place = Place::new();
    let whole = run("a_b", &[submitted("aa/000001", "A (1)"), completed(1, "A (1)", "0", "aa/0000010000000000000000000000f1")]);
    let paths: Vec<PathBuf> = [("copy.log", &whole[..whole.find("Jul-10 10:00:04").unwrap()]), (".nextflow.log", whole.as_str())]
        .into_iter()
        .map(|(name, text)| place.write(name, text))
        .collect();
    let report = place.import(&paths);
    assert_eq!((report.rows(), report.already_there), (1, 1));
    assert!(Path::new(&report.sources[0].path).ends_with(".nextflow.log"));
}

const FIRST: &str = "aa/0000010000000000000000000000f1";
const SECOND: &str = "aa/0000020000000000000000000000f1";

/// Run, name and id of each row.
fn of_runs(rows: &[Row]) -> Vec<String> {
    let told = |text: &Option<std::borrow::Cow<'_, str>>| text.as_deref().unwrap_or("-").to_owned();
    rows.iter().map(|row| format!("{} {} {}", told(&row.run_name), row_status(row), told(&row.task_id))).collect()
}

#[test]
fn trace_files_without_a_log_are_runs() {
    let place = Place::new();
    let row = |id: usize, hash: &str, name: &str, status: &str, submit: &str| {
        format!("{id}\t{hash}\t1{id}\t{name}\t{status}\t0\t{submit}\t6s\t4s\t44.4%\t11.5 MB\t23.7 MB\t3.3 MB\t1.3 KB\n")
    };
    let first = row(1, "aa/000001", "A (1)", "COMPLETED", "2024-07-10 10:00:03.000");
    let cached = row(1, "aa/000001", "A (1)", "CACHED", "2024-07-10 10:00:03.000");
    let second = row(2, "aa/000002", "A (2)", "COMPLETED", "2024-07-10 11:00:03.000");
    // Two files of the first; two resumed runs that had nothing to execute.
    let other = row(2, "aa/000003", "A (2)", "FAILED", "2024-07-10 10:00:01.000");
    let raw = row(1, "aa/000004", "B", "COMPLETED", "1720605603000");
    place.write("1/trace.txt", &format!("{HEADER}{other}{first}"));
    place.write("1b/copy.txt", &format!("{HEADER}{first}"));
    place.write("2/trace.txt", &format!("{HEADER}{cached}{second}"));
    place.write("3/trace.txt", &format!("{HEADER}{}", cached.replace("44.4%", "44.6%")));
    place.write("4/trace.txt", &format!("{HEADER}{}", cached.replace("44.4%", "44.5%")));
    place.write("5/raw.txt", &format!("{HEADER}{raw}"));
    place.import(&["1", "1b", "2", "3", "4", "5"].map(|dir| place.path().join(dir)));
    let mut told = of_runs(&place.rows());
    told.sort();
    assert_eq!(
        told,
        [
            "copy.txt 2024-07-10 10:00:03 A (1) completed 1",
            "copy.txt 2024-07-10 10:00:03 A (2) failed 2",
            "raw.txt 2024-07-10T10:00:03Z B completed 1",
            "trace.txt (2) A (1) cached 1",
            "trace.txt 2024-07-10 11:00:03 A (1) cached 1",
            "trace.txt 2024-07-10 11:00:03 A (2) completed 2",
            "trace.txt A (1) cached 1",
        ]
    );
    assert!(place.rows().iter().all(|row| row.run_id.is_none()));
    // No zone is made of another file's, which had to be assumed.
    let place = Place::new();
    let paths = [place.write("copy.txt", &format!("{HEADER}{first}")), place.write("trace.txt", &format!("{HEADER}{other}{first}"))];
    import_files(&place.dataset, &Nextflow, &paths, &Options::default()).unwrap();
    let precisions: Vec<_> = place.rows().iter().map(|row| row.submitted_precision_ns.unwrap() / 3_600_000_000_000).collect();
    assert_eq!(precisions, [14, 14], "hours");
}

/// What `.command.run` says of a task and its inputs.
fn wrapper(name: &str, stage: &[String]) -> String {
    let lines: String = stage.iter().map(|line| format!("    {line}\n")).collect();
    format!("#!/bin/bash\n# NEXTFLOW TASK: {name}\nnxf_stage() {{\n    true\n    # stage input files\n{lines}}}\n")
}

#[test]
fn parents_in_copied_work_directories() {
    let place = Place::new();
    let third = "aa/0000030000000000000000000000f1";
    let staged = "/scratch/work/stage-5c3f1dd1-d163-4212-b372-cb47d5401755/bb/0000010000000000000000000000f1/remote.txt";
    let links = |inputs: &[&str]| inputs.iter().map(|path| format!("ln -s {path} x")).collect::<Vec<_>>();
    place.write(&format!("work/{FIRST}/.command.run"), &wrapper("A (1)", &links(&[staged])));
    place.write(&format!("work/{SECOND}/.command.run"), &wrapper("B", &links(&[&format!("/scratch/work/{FIRST}/y"), staged])));
    let copies = [format!("cp -fRL /scratch/work/{FIRST}/y y"), format!("mkdir -p in && cp -fRL ../../{SECOND}/z in/z")];
    place.write(&format!("work/{third}/.command.run"), &wrapper("C", &copies));
    place.import(&[place.path()]);
    let told: Vec<String> = place.rows().iter().map(|row| format!("{} {}", row.name, row.parents.as_deref().unwrap_or("-"))).collect();
    assert_eq!(told, ["A (1) []", "B [\"aa/000001\"]", "C [\"aa/000001\",\"aa/000002\"]"]);
}

#[test]
fn a_cached_task_without_tag_has_another_number() {
    let place = Place::new();
    let first = run("first_run", &[submitted("aa/000001", "p (2)"), completed(6, "p (2)", "0", FIRST)]);
    let log = run("second_run", &[cached("aa/000001", "p (1)"), submitted("aa/000002", "q"), completed(6, "q", "0", SECOND)]);
    let trace = format!(
        "{HEADER}6\taa/000001\t16\tp (2)\tCACHED\t0\t2024-07-10 10:00:03.000\t6s\t4s\t44.4%\t11.5 MB\t23.7 MB\t3.3 MB\t1.3 KB\n\
         6\taa/000002\t17\tq\tCOMPLETED\t0\t2024-07-10 11:00:04.000\t6s\t4s\t44.4%\t11.5 MB\t23.7 MB\t3.3 MB\t1.3 KB\n"
    );
    place.write(".nextflow.log.1", &first);
    place.write(".nextflow.log", &log.replace("Jul-10 10:", "Jul-10 11:"));
    place.write("trace.txt", &trace);
    place.write(&format!("work/{FIRST}/.command.run"), &wrapper("p (2)", &[]));
    place.write(&format!("work/{SECOND}/.command.run"), &wrapper("q", &[format!("ln -s /w/{FIRST}/x x")]));
    place.import(&[place.path()]);
    let mut rows = place.rows();
    rows.sort_by_key(|row| (row.run_name.clone(), row.name.clone()));
    assert_eq!(
        of_runs(&rows),
        // Its number is that of the run that executed it, and another's in this one.
        ["first_run p (2) completed 6", "second_run p (1) cached aa/000001", "second_run q completed 6"]
    );
    assert_eq!(rows[2].parents.as_deref(), Some("[\"aa/000001\"]"));
    // The work directory is also that of the run which took its result.
    assert!(rows.iter().all(|row| row.work_dir.is_some() && row.parents.is_some()));
    assert_eq!((rows[1].submitted_ns, rows[1].native_id.as_deref(), rows[1].exit_code), (None, None, Some(0)));
    assert_eq!(place.said(), NONE);
}

#[test]
fn a_work_directory_of_one_of_two_cached_tasks() {
    let place = Place::new();
    let log = run("a_b", &[cached("aa/000001", "p (1)"), cached("aa/000001", "p (3)")]);
    place.write(".nextflow.log", &log);
    place.write(&format!("work/{FIRST}/.command.run"), &wrapper("p (2)", &[]));
    place.import(&[place.path()]);
    assert_eq!(of_runs(&place.rows()), ["a_b p (1) cached -", "a_b p (3) cached -"]);
    assert!(place.rows().iter().all(|row| row.work_dir.is_none()), "it can be either's");
}

#[test]
fn a_newline_in_a_work_directory() {
    let handler =
        |status: &str| format!("TaskHandler[id: 1; name: foo; status: {status}; exit: 3; error: -; workDir: /a]\nb/work/{FIRST}]");
    let why = "Process `foo` terminated with an error exit status (3)";
    let text = run(
        "a_b",
        &[
            submitted("aa/000001", "foo"),
            format!("{MONITOR} Task completed > {}", handler("COMPLETED")),
            exception("foo", &format!("/a]\nb/work/{FIRST}"), "nextflow.exception.ProcessFailedException", why),
        ],
    );
    let place = Place::new();
    place.import(&[place.write(".nextflow.log", &text)]);
    let rows = place.rows();
    assert_eq!(of_runs(&rows), ["a_b foo failed 1"]);
    assert_eq!((rows[0].exit_code, rows[0].error.as_deref()), (Some(3), Some(why)));
    assert_eq!(rows[0].work_dir.as_deref(), Some(format!("/a]\nb/work/{FIRST}").as_str()));
    assert_eq!(place.said(), NONE);
    // Likewise in a dump of tasks that have not ended, whose name can go over lines too.
    let dumped = handler("RUNNING").replace("exit: 3", "exit: -").replace("foo;", "foo (x\ny);");
    let text = run(
        "a_b",
        &[
            submitted("aa/000001", "foo (x\ny)"),
            format!("{MONITOR} No more task to compute -- the following are still running"),
            format!("~> {dumped}"),
        ],
    );
    let place = Place::new();
    place.import(&[place.write(".nextflow.log", &text)]);
    let rows = place.rows();
    assert_eq!(
        (rows[0].work_dir.as_deref(), rows[0].task_id.as_deref()),
        (Some(format!("/a]\nb/work/{FIRST}").as_str()), Some("1")),
        "{:?}",
        place.said()
    );
    // What follows a line that is cut does not make it whole.
    let cut =
        run("a_b", &[submitted("aa/000001", "foo"), format!("{MONITOR} Task completed > TaskHandler[id: 1; name: fo\nb/work/{FIRST}]")]);
    assert_eq!(statuses(&cut), (vec!["foo submitted".to_owned()], vec!["task_line_bad".to_owned()]));
}

#[test]
fn values_that_were_never_told_and_what_is_cut() {
    let place = Place::new();
    let never = reported(1, FIRST, "A (1)", "ABORTED").replace("\"1720605604000\"", "\"0\"").replace("\"1720605609000\"", "\"0\"");
    place.import(&[place.write("report.html", &report("a_b", &never))]);
    assert_eq!((place.rows()[0].submitted_ns.is_some(), place.said()), (true, NONE));
    let odd = place.import(&[place.write("odd.html", &report("e_f", "7"))]);
    assert_eq!(odd.sources[0].diagnostics.iter().map(|d| d.code).collect::<Vec<_>>(), ["report_task_bad"]);
    // A report that ends within its tasks, and a row of a trace file before its last value.
    let whole = report("c_d", &reported(2, SECOND, "A (2)", "COMPLETED"));
    let cut = place.write("cut.html", &whole[..whole.find("realtime").unwrap()]);
    let told = place.import(&[cut]);
    let message = told.sources[0].diagnostics.iter().next().unwrap().message.clone();
    assert!(message.contains("which begin in line 5") && message.contains("it was cut"), "{message}");
    let place = Place::new();
    place.import(&[place.write("trace.txt", &format!("{HEADER}1\t82/918ce4\t149\tx\tCOMPLETED\t0\n2\t82/918ce5\t14"))]);
    assert_eq!(place.said(), ["last_line_cut", "trace_row_bad"], "the first row has its end");
}

#[test]
fn what_is_no_source_is_refused() {
    let place = Place::new();
    let refused = |name: &str, text: &str| {
        let report = place.import(&[place.write(name, text)]);
        let said: Vec<_> = report.sources[0].diagnostics.iter().map(|d| (d.code, d.advice.unwrap_or_default())).collect();
        // What Nextflow writes and is not read has advice of its own.
        let code = if said[0].1.is_empty() { "file_not_recognised" } else { "output_not_read" };
        assert_eq!((said.len(), said[0].0), (1, code), "{name}");
        said[0].1
    };
    assert_eq!(refused("sums.csv", "name,hash\nfile.txt,d41d8cd98f00b204e9800998ecf8427e\n"), "");
    assert_eq!(refused("trace.txt", "hash\tname\nfoo\tbar\n"), "");
    assert!(refused("dag.dot", "digraph snakemake_dag {\n\t0[label = \"all\"];\n}\n").contains("-with-dag"));
    assert!(refused("dag.mmd", "flowchart LR\n    A[Start] --> B{Mode}\n").contains("-with-dag"));
    let timeline = "<!doctype html>\n<body>\n  <h3>Processes execution timeline</h3>\n</body>\n";
    assert!(refused("timeline.html", timeline).contains("-with-timeline"));
    // One to which another run added begins with its header twice.
    let row = "1\taa/000001\t11\tA (1)\tCOMPLETED\t0\t2024-07-10 10:00:03.000\t6s\t4s\t-\t-\t-\t-\t-\n";
    let report = place.import(&[place.write("trace_2.txt", &format!("{HEADER}{HEADER}{row}"))]);
    assert_eq!((report.rows(), report.errors()), (1, 0));
}

#[test]
fn a_graph_tells_parents_that_are_certain() {
    let lines = [
        submitted("aa/000001", "INDEX"),
        submitted("aa/000002", "FASTQC (1)"),
        submitted("aa/000003", "FASTQC (2)"),
        completed(1, "INDEX", "0", "aa/000001000000000000000000000000"),
        completed(2, "FASTQC (1)", "0", "aa/000002000000000000000000000000"),
        completed(3, "FASTQC (2)", "0", "aa/000003000000000000000000000000"),
        submitted("aa/000004", "SUB:ALL"),
        completed(4, "SUB:ALL", "0", "aa/000004000000000000000000000000"),
    ];
    let graph = "digraph \"dag\" {\nv0 [shape=point,label=\"\",xlabel=\"Channel.fromPath\"];\nv1 [label=\"FASTQC\"];\nv0 -> v1 [label=\"in\"];\nv2 [label=\"INDEX\"];\nv0 -> v2;\n\
                 v3 [shape=circle,label=\"\",xlabel=\"collect\"];\nv1 -> v3;\nv4 [label=\"SUB:ALL\"];\nv3 -> v4;\nv2 -> v4;\n}\n";
    let parents = |log: &str, graph: &str| {
        let place = Place::new();
        let report = place.import(&[place.write(".nextflow.log", log), place.write("dag.dot", graph)]);
        assert_eq!(report.rows(), 4);
        let told: Vec<Option<String>> = place.rows().iter().map(|row| row.parents.as_deref().map(str::to_owned)).collect();
        (told, place.said().join(" "))
    };
    let (told, said) = parents(&run("a_b", &lines), graph);
    assert_eq!(told, [Some("[]".into()), Some("[]".into()), Some("[]".into()), Some("[\"1\",\"2\",\"3\"]".into())], "{said}");
    let (told, said) = parents(&run("a_b", &lines), &graph.replace("SUB:ALL", "OTHER"));
    assert!(told.iter().all(Option::is_none) && said.contains("graph_of_no_run"), "{said}");
    // Where a task can be missing, that there was one says nothing.
    let damaged = run("a_b", &lines).replace("Submitted process > INDEX", "\0\0\0Submitted process > INDEX");
    let (told, said) = parents(&damaged, graph);
    assert!(told.iter().all(Option::is_none) && said.contains("bytes_missing"), "{said}");
    // A log whose beginning is missing can have lost tasks as well.
    let whole = run("a_b", &lines);
    let beheaded: String =
        whole.lines().filter(|line| !line.contains("Session UUID") && !line.contains("Run name")).map(|line| format!("{line}\n")).collect();
    let (told, said) = parents(&beheaded, graph);
    assert!(told.iter().all(Option::is_none) && said.contains("graph_without_log"), "{said}");
    let (told, said) = parents(&run("a_b", &lines), &graph[..graph.len() - 3]);
    assert!(told.iter().all(Option::is_none) && said.contains("graph_line_bad"), "{said}");
}

#[test]
fn graphs_of_a_run_and_of_its_resumption_belong_to_the_runs_that_name_them() {
    let (index, all) = ("aa/000001000000000000000000000000", "aa/000004000000000000000000000000");
    let first = [submitted(&index[..9], "INDEX"), completed(1, "INDEX", "0", index)];
    let resumed = [cached(&index[..9], "INDEX"), submitted(&all[..9], "ALL"), completed(2, "ALL", "0", all)];
    let graph = "digraph \"dag\" {\nv0 [shape=point,label=\"\",xlabel=\"Channel.fromPath\"];\nv1 [label=\"INDEX\"];\nv0 -> v1;\nv2 [label=\"ALL\"];\nv1 -> v2;\n}\n";
    let told = |of_first: &str, of_resumed: &str| {
        let place = Place::new();
        let named =
            |log: String, graph: &str| log.replace("$> nextflow run main.nf", &format!("$> nextflow run main.nf -with-dag {graph}"));
        place.import(&[
            place.write(".nextflow.log.1", &named(run("a_b", &first), of_first)),
            place.write(".nextflow.log", &named(run("c_d", &resumed), of_resumed)),
            place.write("one.dot", graph),
            // A file with the same bytes, or one that continues it, would be the same source.
            place.write("two.dot", &graph.replace("digraph \"dag\"", "digraph \"again\"")),
            // The same graph in another form is of the run that names one of them.
            place.write(
                "same.mmd",
                "flowchart TB\n    v0[\"Channel.fromPath\"]\n    v1([INDEX])\n    v2([ALL])\n    v0 --> v1\n    v1 --> v2\n",
            ),
        ]);
        let mut told: Vec<(String, Option<String>)> = (place.rows().iter())
            .map(|row| (format!("{} {}", row.run_name.as_deref().unwrap(), row.name), row.parents.as_deref().map(str::to_owned)))
            .collect();
        told.sort();
        (told, place.said().join(" "))
    };
    let (rows, said) = told("out/one.dot", "'two.dot' -resume");
    let known = |id: &str| Some(format!("[{id}]"));
    assert_eq!(said, "");
    assert_eq!((&rows[0], &rows[2]), (&("a_b INDEX".to_owned(), known("")), &("c_d INDEX".to_owned(), known(""))));
    assert_eq!(rows[1], ("c_d ALL".to_owned(), known("\"aa/000001\"")));
    // Nothing is certain where the runs name no file, or both the same.
    for (of_first, of_resumed) in [("-resume", ""), ("one.dot", "one.dot")] {
        let (rows, said) = told(of_first, of_resumed);
        assert!(rows.iter().all(|(_, parents)| parents.is_none()), "{rows:?}");
        assert_eq!(said, "graph_of_no_run graph_of_no_run graph_of_no_run");
    }
}

//! Nextflow's files in, rows and diagnostics out.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use flowmine_dataset::Dataset;
use flowmine_extract_workflow::import_files::import_files;
use flowmine_extract_workflow::nextflow::Nextflow;
use flowmine_extract_workflow::{Engine, Options, Row, Source};
use flowmine_schema::diagnostic::Diagnostics;
use flowmine_schema::tables::TaskRun;
use flowmine_schema::time::rfc3339;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/nextflow").join(name)
}

fn source(path: &Path) -> Source {
    let head = if path.is_dir() { Vec::new() } else { fs::read(path).unwrap() };
    let kind = Nextflow.recognise(path, &head).unwrap();
    let name = path.file_name().unwrap().to_str().unwrap();
    let above = path.parent().unwrap().file_name().unwrap().to_str().unwrap();
    let name = if path.is_dir() { format!("{above}/{name}") } else { name.to_owned() };
    Source { path: path.to_owned(), name, kind, sha256: String::new(), rows: 0, joined: 0, diagnostics: Diagnostics::default() }
}

/// Rows, and diagnostics as `code` or `code:line`.
fn read(paths: &[PathBuf], options: &Options) -> (Vec<Row>, Vec<String>) {
    let mut sources: Vec<Source> = paths.iter().map(|path| source(path)).collect();
    let rows = Nextflow.read(&mut sources, options);
    let said = sources.iter().flat_map(|source| source.diagnostics.iter()).map(|d| match d.line {
        Some(line) => format!("{}:{line}", d.code),
        None => d.code.to_owned(),
    });
    (rows, said.collect())
}

fn time(ns: Option<i64>) -> String {
    ns.map_or("-".to_owned(), rfc3339)
}

fn seconds(ns: Option<i64>) -> String {
    ns.map_or("-".to_owned(), |ns| format!("{}", ns as f64 / 1e9))
}

fn or(text: &Option<std::borrow::Cow<'_, str>>) -> String {
    text.as_deref().unwrap_or("-").to_owned()
}

/// What became of each task.
fn statuses(rows: &[Row]) -> String {
    let row_status = |row: &Row| {
        let attempt = row.attempt.map_or("-".to_owned(), |n| n.to_string());
        let exit = row.exit_code.map_or("-".to_owned(), |n| n.to_string());
        let native = format!("{}={}", or(&row.native_kind), or(&row.native_id));
        format!("{}|{}|{attempt}|{}|{exit}|{}|{native}\n", or(&row.task_id), row.name, row.status, or(&row.executor))
    };
    rows.iter().map(row_status).collect()
}

#[test]
fn slurm_run() {
    let (rows, said) = read(&[fixture("slurm_retried_ignored_array.log")], &Options::default());
    assert_eq!(said, Vec::<String>::new());
    assert_eq!(
        statuses(&rows),
        "1|PREP:SPLIT (a, [b] (c))|1|completed|0|slurm|slurm_job=9001\n\
         2|ALIGN (s1)|1|failed|137|slurm|slurm_job=9002\n\
         3|COLLECT|1|completed|-|local|-=-\n\
         4|ALIGN (s1)|2|completed|0|slurm|slurm_job=9003\n\
         5|REPORT|1|failed|0|slurm|slurm_job=9004\n\
         6|COUNT (1)|1|completed|0|slurm|slurm_job=9010_0\n\
         7|COUNT (2)|1|completed|0|slurm|slurm_job=9010_1\n\
         8|LAST|1|failed|-|slurm|slurm_job=9011\n"
    );
    let split = &rows[0];
    assert_eq!((split.run_id.as_deref(), split.run_name.as_deref()), (Some("6d1a1f6e-0000-4000-8000-000000000001"), Some("angry_turing")));
    assert_eq!((split.logical_task.as_ref(), split.tag.as_deref()), ("PREP:SPLIT", Some("a, [b] (c)")));
    assert_eq!(split.cache_key.as_deref(), Some("0a/11aa22"));
    assert_eq!(split.work_dir.as_deref(), Some("/scratch/lab/work/0a/11aa22bb33cc44dd55ee66ff778899"));
    assert_eq!(split.source, "slurm_retried_ignored_array.log");
    assert_eq!(split.line, Some(16));
    // The native task ran where Nextflow did.
    assert_eq!((rows[2].host.as_deref(), rows[0].host.as_deref()), (Some("login1"), None));
    assert_eq!(rows[4].error.as_deref(), Some("Missing output file(s) `report.html` expected by process `REPORT`"));
    let last = &rows[7];
    assert_eq!(last.command.as_deref(), Some("sleep 100\n\necho done"));
    assert_eq!(last.container_image.as_deref(), Some("quay.io/lab/last:1.0"));
    assert!(last.error.as_deref().unwrap().starts_with("Process `LAST` terminated for an unknown reason"));
}

#[test]
fn times_and_precisions() {
    let (rows, _) = read(&[fixture("slurm_retried_ignored_array.log")], &Options::default());
    let times = |row: &Row| {
        let of = |ns, precision| format!("{} ±{}", time(ns), seconds(precision));
        [
            of(row.submitted_ns, row.submitted_precision_ns),
            of(row.started_ns, row.started_precision_ns),
            of(row.finished_ns, row.finished_precision_ns),
        ]
    };
    // `exited` says that the prefix is two hours ahead of UTC.
    assert_eq!(
        times(&rows[0]),
        ["2024-12-31T21:50:10.001Z ±0.001", "2024-12-31T21:50:15.050Z ±5.05", "2024-12-31T21:55:58.542100Z ±0.0001"]
    );
    // The start was noticed after the end, which is in whole seconds.
    assert_eq!(times(&rows[1]), ["2024-12-31T21:50:10.101Z ±0.001", "2024-12-31T21:56:30Z ±380.9", "2024-12-31T21:56:30Z ±1"]);
    // A native task's end is noticed by a poll.
    assert_eq!(times(&rows[2]), ["2024-12-31T21:50:11Z ±0.001", "- ±-", "2024-12-31T21:50:11.300Z ±0.101"]);
    // After midnight it is another year.
    assert_eq!(times(&rows[7])[2], "2024-12-31T22:04:00Z ±5.001");
    assert_eq!(time(rows[7].submitted_ns), "2024-12-31T22:02:00.001Z");
}

#[test]
fn trace_file_joins_its_log() {
    let paths = [fixture("slurm.trace.txt"), fixture("slurm_retried_ignored_array.log")];
    let (rows, said) = read(&paths, &Options::default());
    // Exit codes 0 and 1 of REPORT; the last line.
    assert_eq!(said, ["trace_row_bad:6", "sources_contradict:4"]);
    assert_eq!(rows.len(), 9);
    let split = &rows[0];
    assert_eq!((split.realtime_s, split.duration_s, split.cpu_percent), (Some(340.0), Some(350.0), Some(98.5)));
    assert_eq!((split.peak_rss_bytes, split.rchar_bytes, split.wchar_bytes), (Some(41_104_179), Some(4_928_307), Some(60_314)));
    assert_eq!(rows[4].exit_code, Some(0), "the log is kept");
    let unseen = &rows[8];
    assert_eq!(
        (unseen.name.as_ref(), unseen.run_name.as_deref(), unseen.status.as_ref()),
        ("UNSEEN (x)", Some("angry_turing"), "completed")
    );
    // The zone is the log's.
    assert_eq!(
        (time(unseen.submitted_ns), seconds(unseen.submitted_precision_ns)),
        ("2024-12-31T22:03:00Z".to_owned(), "0.001".to_owned())
    );
    assert_eq!(unseen.source, "slurm.trace.txt");
}

#[test]
fn trace_file_alone() {
    let (rows, said) = read(&[fixture("slurm.trace.txt")], &Options::default());
    assert_eq!(said, ["trace_row_bad:6", "no_zone"]);
    assert_eq!((rows.len(), rows[0].run_id.as_deref(), rows[0].native_kind.as_deref()), (4, None, None));
    assert_eq!(seconds(rows[0].submitted_precision_ns), "50400.001");
    let (rows, said) = read(&[fixture("slurm.trace.txt")], &Options { zone_offset_s: Some(7200), ..Options::default() });
    assert_eq!(said, ["trace_row_bad:6"]);
    assert_eq!(time(rows[0].submitted_ns), "2024-12-31T21:50:10.001Z");
}

#[test]
fn a_line_of_a_cached_task_that_is_repeated_is_one_task() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("trace.txt");
    let cached = "2\t02/000002\t12\tMAP (heart)\tCACHED\t0\t2026-02-28 08:00:00.000\t60s\t60s\n";
    let text = [
        "task_id\thash\tnative_id\tname\tstatus\texit\tsubmit\tduration\trealtime\n",
        "1\t01/000001\t11\tMAP (liver)\tCOMPLETED\t0\t2026-03-01 08:00:00.000\t60s\t60s\n",
        cached,
        cached,
        cached,
    ];
    fs::write(&path, text.concat()).unwrap();
    let (rows, said) = read(&[path], &Options { zone_offset_s: Some(0), ..Options::default() });
    let names: Vec<(&str, &str)> = rows.iter().map(|row| (row.name.as_ref(), row.status.as_ref())).collect();
    assert_eq!(names, [("MAP (liver)", "completed"), ("MAP (heart)", "cached")]);
    assert!(said.contains(&"trace_row_again:4".to_owned()), "{said:?}");
}

#[test]
fn raw_trace_with_chosen_columns() {
    let (rows, said) = read(&[fixture("raw_with_script.trace.txt")], &Options::default());
    assert_eq!(said, ["trace_value_bad:7", "trace_value_bad:7"]);
    assert_eq!(rows.len(), 3);
    let row = &rows[0];
    assert_eq!((row.name.as_ref(), row.logical_task.as_ref(), row.tag.as_deref()), ("PREP:SPLIT (a)", "PREP:SPLIT", Some("a")));
    assert_eq!(row.command.as_deref(), Some("echo one\n    echo \"two\"\n\n    echo three"));
    assert_eq!((row.read_bytes, row.write_bytes, row.memory_bytes), (Some(4096), Some(123_456_789_012), Some(8 << 30)));
    assert_eq!((row.time_s, row.realtime_s, row.cpus, row.attempt), (Some(3600.0), Some(340.0), Some(4), Some(2)));
    assert_eq!((time(row.started_ns), seconds(row.started_precision_ns)), ("2024-12-31T21:50:15.050Z".to_owned(), "5.051".to_owned()));
    assert_eq!((time(row.finished_ns), row.host.as_deref()), ("2024-12-31T21:56:00Z".to_owned(), Some("n12")));
    assert_eq!((rows[1].status.as_ref(), rows[1].cached, rows[1].name.as_ref()), ("cached", true, "DONE"));
    // It has the earlier run's times and bytes.
    assert_eq!((rows[1].exit_code, rows[1].started_ns, rows[1].read_bytes, rows[1].attempt), (Some(0), None, None, None));
    assert_eq!((rows[2].exit_code, rows[2].realtime_s), (None, None));
}

#[test]
fn resumed_cached_and_aborted() {
    let options = Options { zone_offset_s: Some(3600), year: Some(2025) };
    let (rows, said) = read(&[fixture("local_resumed_cached_aborted.log")], &options);
    assert_eq!(said, Vec::<String>::new());
    assert_eq!(
        statuses(&rows),
        "28/ddf723|PREP:FETCH (chembl)|-|cached|-|-|-=-\n\
         -|PREP:INDEX|-|cached|-|-|-=-\n\
         3|TRAIN (gnn)|1|failed|0|local|-=-\n\
         ac/3c7eae|TRAIN (gbm)|1|aborted|-|local|-=-\n\
         dd/001122|SUBMIT (1)|-|failed|-|local|-=-\n"
    );
    assert!(rows[0].cached && rows[1].cached && !rows[2].cached);
    assert_eq!(rows[2].error.as_deref(), Some("nextflow.exception.ProcessTimeoutException: Process exceeded [running time limit; (1m)]"));
    assert_eq!(time(rows[2].submitted_ns), "2025-11-18T14:48:52.957Z");
    assert_eq!(rows[3].finished_ns, None, "when it was killed is not known");
    assert_eq!(rows[4].work_dir.as_deref(), Some("/home/lab/work/dd/00112233445566778899aabbccddee"));
    // Nothing says the zone: the zone of the day on which Nextflow was built may be an hour off.
    let (rows, said) = read(&[fixture("local_resumed_cached_aborted.log")], &Options { year: Some(2025), ..Options::default() });
    assert_eq!(said, ["zone_of_build:1"]);
    assert_eq!(
        (time(rows[2].submitted_ns), seconds(rows[2].submitted_precision_ns)),
        ("2025-11-18T13:48:52.957Z".to_owned(), "3600.001".to_owned())
    );
}

#[test]
fn aws() {
    let (rows, said) = read(&[fixture("aws_s3.log")], &Options { year: Some(2023), ..Options::default() });
    assert_eq!(said, Vec::<String>::new());
    assert_eq!(statuses(&rows), "1|MAP (r1)|1|completed|0|awsbatch|aws_job=70af3d53-8070-45a6-96f4-fd37580b9d00\n");
    assert_eq!(rows[0].work_dir.as_deref(), Some("s3://bucket/scratch/60/c803767cf237028c908fadf447b1b9"));
    assert_eq!((time(rows[0].finished_ns), rows[0].finished_precision_ns), ("2023-10-16T10:30:00Z".to_owned(), None));
}

#[test]
fn killed_run() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join(".nextflow.log");
    fs::copy(fixture("killed_without_end.log"), &log).unwrap();
    // 2019-10-04, a day later.
    fs::File::options().write(true).open(&log).unwrap().set_modified(UNIX_EPOCH + Duration::from_secs(1_570_190_000)).unwrap();
    let (rows, said) = read(&[log], &Options::default());
    assert_eq!(said, ["month_unknown:6", "last_line_cut:7", "task_line_bad:7", "no_zone:1", "year_of_file:1", "run_without_end"]);
    assert_eq!(statuses(&rows), "71/318e09|TRIM (1)|1|submitted|-|-|-=-\n2|TRIM (2)|1|running|-|-|-=-\n");
    assert_eq!(
        (time(rows[0].submitted_ns), seconds(rows[0].submitted_precision_ns)),
        ("2019-10-03T19:15:26.795Z".to_owned(), "50400.001".to_owned())
    );
}

/// A work directory as Nextflow 24 lays it out. There was no Nextflow to make one.
fn work_dir(root: &Path, exit: &str) -> PathBuf {
    let dir = root.join("0a/11aa22bb33cc44dd55ee66ff778899");
    fs::create_dir_all(&dir).unwrap();
    let run = format!(
        "#!/bin/bash\n#SBATCH -J nf-PREP_SPLIT_(a)\n#SBATCH -o {0}/.command.log\n#SBATCH --no-requeue\n#SBATCH --signal B:USR2@30\n\
         #SBATCH -c 4\n#SBATCH -t 1-02:00:00\n#SBATCH --mem 4096M\n#SBATCH -p long\nNXF_CHDIR={0}\n### ---\n### name: 'PREP:SPLIT (a, [b] (c))'\n\
         ### container: 'quay.io/lab/split:1'\n### outputs:\n### - '*.part'\n### ...\nset -e\nset -u\nnxf_launch() {{\n    /bin/bash -ue .command.sh\n}}\n\n\
         nxf_stage() {{\n    true\n    # stage input files\n    rm -f in\\ 1.txt\n    ln -s /data/in\\ 1.txt in\\ 1.txt\n}}\n",
        dir.display()
    );
    for (name, text, mtime_ms) in [
        (".command.run", run.as_str(), 1_735_681_810_000),
        (".command.sh", "#!/bin/bash -ue\nsplit 'in 1.txt'\n", 1_735_681_810_000),
        (".command.begin", "", 1_735_681_812_500),
        (".command.log", "nxf-scratch-dir n12:/tmp/nxf.AbC\nhello\n", 1_735_681_813_000),
        (
            ".command.trace",
            "nextflow.trace/v2\nrealtime=866\n%cpu=385\ncpu_model=X\nrchar=4790\nwchar=12\nread_bytes=4096\nwrite_bytes=0\npeak_vmem=11084\npeak_rss=1220\n",
            0,
        ),
        (".exitcode", exit, 1_735_682_158_250),
        ("in 1.txt", "not Nextflow's", 0),
    ] {
        fs::write(dir.join(name), text).unwrap();
        let file = fs::File::options().write(true).open(dir.join(name)).unwrap();
        file.set_modified(UNIX_EPOCH + Duration::from_millis(mtime_ms)).unwrap();
    }
    dir
}

#[test]
fn work_dir_alone() {
    let root = tempfile::tempdir().unwrap();
    let (rows, said) = read(&[work_dir(root.path(), "0")], &Options::default());
    assert_eq!((said, rows.len()), (Vec::new(), 1));
    let row = &rows[0];
    assert_eq!(
        (row.name.as_ref(), row.logical_task.as_ref(), row.cache_key.as_deref()),
        ("PREP:SPLIT (a, [b] (c))", "PREP:SPLIT", Some("0a/11aa22"))
    );
    assert_eq!((row.executor.as_deref(), row.queue.as_deref(), row.host.as_deref()), (Some("slurm"), Some("long"), Some("n12")));
    assert_eq!((row.cpus, row.memory_bytes, row.time_s), (Some(4), Some(4 << 30), Some(93_600.0)));
    assert_eq!(row.command.as_deref(), Some("#!/bin/bash -ue\nsplit 'in 1.txt'"));
    assert_eq!(row.container_image.as_deref(), Some("quay.io/lab/split:1"));
    assert_eq!(row.inputs.as_deref(), Some(r#"[{"path":"/data/in 1.txt"}]"#));
    assert_eq!(row.outputs.as_deref(), Some(r#"[{"path":"*.part"}]"#));
    assert_eq!(
        (row.realtime_s, row.cpu_percent, row.peak_rss_bytes, row.read_bytes),
        (Some(0.866), Some(38.5), Some(1220 * 1024), Some(4096))
    );
    assert_eq!(
        (time(row.started_ns), time(row.finished_ns)),
        ("2024-12-31T21:50:12.500Z".to_owned(), "2024-12-31T21:55:58.250Z".to_owned())
    );
    assert_eq!((row.status.as_ref(), row.exit_code, row.native_id.as_deref()), ("completed", Some(0), None));
}

#[test]
fn work_dir_joins_its_log() {
    let root = tempfile::tempdir().unwrap();
    let paths = [work_dir(root.path(), "3"), fixture("slurm_retried_ignored_array.log")];
    let (rows, said) = read(&paths, &Options::default());
    // It says 3 where the log says 0, and so another status.
    assert_eq!(said, ["sources_contradict", "sources_contradict"]);
    assert_eq!(rows.len(), 8);
    assert_eq!((rows[0].exit_code, rows[0].cpus, rows[0].host.as_deref()), (Some(0), Some(4), Some("n12")));
    assert_eq!(time(rows[0].finished_ns), "2024-12-31T21:55:58.542100Z", "the log's");
}

#[test]
fn a_resumed_run_takes_results_of_the_run_before() {
    let root = tempfile::tempdir().unwrap();
    let resumed = root.path().join("resumed.log");
    let text = "Jan-02 10:00:00.000 [main] DEBUG nextflow.Session - Session UUID: 6d1a1f6e-0000-4000-8000-000000000001\n\
                Jan-02 10:00:00.001 [main] DEBUG nextflow.Session - Run name: calm_hopper\n\
                Jan-02 10:00:01.000 [Actor Thread 1] INFO  nextflow.processor.TaskProcessor - [0a/11aa22] Cached process > PREP:SPLIT (a, [b] (c))\n\
                Jan-02 10:00:02.000 [main] DEBUG nextflow.script.ScriptRunner - > Execution complete -- Goodbye\n";
    fs::write(&resumed, text).unwrap();
    let trace = root.path().join("resumed.txt");
    let text = "task_id\thash\tnative_id\tname\tstatus\texit\tsubmit\trchar\n\
                1\t0a/11aa22\t9001\tPREP:SPLIT (a, [b] (c))\tCACHED\t0\t2024-12-31 23:50:10.001\t4.7 MB\n";
    fs::write(&trace, text).unwrap();
    let first = fixture("slurm_retried_ignored_array.log");
    let options = Options { zone_offset_s: Some(7200), year: Some(2025) };
    let (rows, said) = read(&[first, resumed.clone(), trace, work_dir(root.path(), "0")], &options);
    assert_eq!(said, Vec::<String>::new());
    assert_eq!(rows.len(), 9);
    let (cached, executed) = rows.iter().partition::<Vec<_>, _>(|row| row.run_name.as_deref() == Some("calm_hopper"));
    assert_eq!((cached[0].cached, cached[0].task_id.as_deref(), cached[0].exit_code), (true, Some("1"), Some(0)));
    assert_eq!((cached[0].native_id.as_deref(), cached[0].submitted_ns, cached[0].rchar_bytes), (None, None, None), "it did not run");
    assert_eq!(
        (time(cached[0].cached_ns), seconds(cached[0].cached_precision_ns)),
        ("2025-01-02T08:00:01Z".to_owned(), "0.001".to_owned())
    );
    assert_eq!((executed[0].cpus, executed[0].rchar_bytes), (Some(4), Some(4790)), "the work directory is of the run that executed");
    // Without that run, its work directory says what the result is of, and not when it was made.
    let (rows, _) = read(&[resumed, work_dir(root.path(), "0")], &Options::default());
    assert_eq!((rows.len(), rows[0].container_image.as_deref(), rows[0].started_ns), (1, Some("quay.io/lab/split:1"), None));
}

#[test]
fn order_of_sources_does_not_matter() {
    let root = tempfile::tempdir().unwrap();
    let mut paths = vec![
        fixture("slurm_retried_ignored_array.log"),
        fixture("slurm.trace.txt"),
        fixture("raw_with_script.trace.txt"),
        fixture("aws_s3.log"),
        work_dir(root.path(), "0"),
    ];
    let options = Options { year: Some(2023), ..Options::default() };
    let first = read(&paths, &options);
    for _ in 0..paths.len() {
        paths.rotate_left(1);
        assert_eq!(read(&paths, &options), first);
        let (mut swapped, last) = (paths.clone(), paths.len() - 1);
        swapped.swap(0, last);
        assert_eq!(read(&swapped, &options), first);
    }
}

#[test]
fn a_directory_is_taken_once() {
    let root = tempfile::tempdir().unwrap();
    let launch = root.path().join("launch");
    work_dir(&launch.join("work"), "0");
    fs::copy(fixture("slurm_retried_ignored_array.log"), launch.join(".nextflow.log")).unwrap();
    fs::write(launch.join("main.nf"), "process X {}\n").unwrap();
    let dataset = Dataset::open_or_create(&root.path().join("dataset")).unwrap();
    let report = import_files(&dataset, &Nextflow, std::slice::from_ref(&launch), &Options::default()).unwrap();
    assert_eq!((report.rows(), report.passed_over, report.already_there, report.errors()), (8, 1, 0, 0));
    assert_eq!(report.statuses["failed"], 3);
    let report = import_files(&dataset, &Nextflow, std::slice::from_ref(&launch), &Options::default()).unwrap();
    assert_eq!((report.rows(), report.passed_over, report.already_there), (0, 1, 2));
    // The next run renames the log.
    fs::rename(launch.join(".nextflow.log"), launch.join(".nextflow.log.1")).unwrap();
    let report = import_files(&dataset, &Nextflow, std::slice::from_ref(&launch), &Options::default()).unwrap();
    assert_eq!((report.rows(), report.already_there), (0, 2));
    assert_eq!(dataset.row_count::<TaskRun<'static>>().unwrap(), 8);
}

#[test]
fn two_runs_in_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let both = dir.path().join("both.log");
    let mut text = fs::read(fixture("slurm_retried_ignored_array.log")).unwrap();
    text.extend(fs::read(fixture("local_resumed_cached_aborted.log")).unwrap());
    fs::write(&both, text).unwrap();
    let (rows, said) = read(&[both], &Options { zone_offset_s: Some(7200), year: Some(2025) });
    assert_eq!((rows.len(), said), (13, Vec::new()));
    assert_eq!(rows.iter().filter(|row| row.run_name.as_deref() == Some("serene_lovelace")).count(), 5);
}

mod hostile {
    use proptest::prelude::*;

    use super::*;

    /// Lines of the fixtures, cut, doubled and with bytes of all kinds between.
    fn mangled() -> impl Strategy<Value = Vec<u8>> {
        let names = [
            "slurm_retried_ignored_array.log",
            "local_resumed_cached_aborted.log",
            "slurm.trace.txt",
            "raw_with_script.trace.txt",
            "aws_s3.log",
        ];
        let lines: Vec<Vec<u8>> = names
            .iter()
            .flat_map(|name| fs::read(fixture(name)).unwrap().split(|b| *b == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>())
            .collect();
        let line = (
            prop::sample::select(lines),
            any::<prop::sample::Index>(),
            any::<prop::sample::Index>(),
            proptest::collection::vec(any::<u8>(), 0..6),
            0..4u8,
        )
            .prop_map(|(mut line, at, end, bytes, what)| {
                let at = at.index(line.len() + 1);
                match what {
                    0 => line.truncate(at),
                    1 => drop(line.splice(at..at, bytes)),
                    2 => drop(line.drain(at.min(end.index(line.len() + 1))..at)),
                    _ => {}
                }
                line
            });
        (prop::bool::ANY, proptest::collection::vec(line, 0..40)).prop_map(|(newline, lines)| {
            let mut text = lines.join(&b'\n');
            text.extend(newline.then_some(b'\n'));
            text
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn decoding_never_panics(log in mangled(), trace in mangled()) {
            let dir = tempfile::tempdir().unwrap();
            let paths: Vec<PathBuf> = [("a.log", log), ("b.txt", trace)].into_iter().filter_map(|(name, text)| {
                let path = dir.path().join(name);
                fs::write(&path, &text).unwrap();
                Nextflow.recognise(&path, &text).map(|_| path)
            }).collect();
            let (rows, _) = read(&paths, &Options::default());
            for row in &rows {
                prop_assert!(!row.name.is_empty());
                prop_assert!(!row.status.is_empty() && row.cached == (row.status == "cached"));
                let cached = (row.cached_ns, row.cached_precision_ns);
                prop_assert!(cached.0.is_none() || row.cached);
                for (time, precision) in [(row.started_ns, row.started_precision_ns), (row.finished_ns, row.finished_precision_ns), cached] {
                    prop_assert!(time.is_some() || precision.is_none());
                    prop_assert!(precision.is_none_or(|precision| precision >= 0));
                }
            }
            let mut turned = paths;
            turned.reverse();
            prop_assert_eq!(read(&turned, &Options::default()).0, rows);
        }
    }
}

/// A log or trace file whose content stands in it twice, as after a copy that went on: one attempt each.
#[test]
fn what_stands_in_a_file_twice_is_counted_once() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["slurm_retried_ignored_array.log", "slurm.trace.txt"] {
        let text = std::fs::read(fixture(name)).unwrap();
        let once = dir.path().join(name);
        std::fs::write(&once, &text).unwrap();
        let (rows, _) = read(std::slice::from_ref(&once), &Options::default());
        std::fs::write(&once, [text.clone(), text].concat()).unwrap();
        let (twice, said) = read(&[once], &Options::default());
        assert_eq!(twice.len(), rows.len(), "{name}: {said:?}");
        assert_eq!(said.iter().filter(|said| said.starts_with("attempt_twice")).count(), 1, "{name}: {said:?}");
        for (row, again) in rows.iter().zip(&twice) {
            assert_eq!((&row.name, &row.native_id, row.submitted_ns), (&again.name, &again.native_id, again.submitted_ns));
        }
    }
}

/// A value that is none of its column is null, and that is said.
#[test]
fn values_of_trace_files_that_cannot_be() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("trace.txt");
    for (column, value) in [
        ("duration", "99999999999d"),
        ("duration", "99999999999999999999h"),
        ("realtime", "-5"),
        ("realtime", "300000y"),
        ("time", "99999999999d"),
        ("submit", "9999-12-31 10:00:00.000"),
        ("submit", "yesterday"),
        ("complete", "9000000000000"),
        ("attempt", "-1"),
        ("cpus", "-2"),
    ] {
        let head = "task_id\thash\tname\tstatus\texit";
        std::fs::write(&path, format!("{head}\t{column}\n1\tab/123456\tA (1)\tCOMPLETED\t0\t{value}\n")).unwrap();
        let (rows, said) = read(std::slice::from_ref(&path), &Options::default());
        assert_eq!((rows.len(), &*said), (1, &["trace_value_bad:2".to_owned()][..]), "{column} {value}");
        let row = &rows[0];
        assert_eq!((row.duration_s, row.realtime_s, row.time_s, row.submitted_ns), (None, None, None, None), "{column} {value}");
        assert_eq!((row.finished_ns, row.attempt, row.cpus), (None, None, None), "{column} {value}");
    }
}

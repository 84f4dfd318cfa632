//! Makeflow's files in, rows and diagnostics out.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use flowmine_dataset::{Dataset, DatasetError};
use flowmine_extract_workflow::airflow::Airflow;
use flowmine_extract_workflow::argo::Argo;
use flowmine_extract_workflow::import_files::import_files;
use flowmine_extract_workflow::kubernetes::Kubernetes;
use flowmine_extract_workflow::makeflow::Makeflow;
use flowmine_extract_workflow::nextflow::Nextflow;
use flowmine_extract_workflow::transform::Transform;
use flowmine_extract_workflow::wfformat::WfFormat;
use flowmine_extract_workflow::{Engine, Options, Row, Source};
use flowmine_schema::diagnostic::Diagnostics;
use flowmine_schema::tables::TaskRun;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/makeflow").join(name)
}

/// Rows, and diagnostics as `code` or `code:line`.
fn read(paths: &[PathBuf]) -> (Vec<Row>, Vec<String>) {
    let source = |path: &PathBuf| {
        let kind = Makeflow.recognise(path, &fs::read(path).unwrap()).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        Source { path: path.clone(), name, kind, sha256: String::new(), rows: 0, joined: 0, diagnostics: Diagnostics::default() }
    };
    let mut sources: Vec<Source> = paths.iter().map(source).collect();
    let rows = Makeflow.read(&mut sources, &Options::default());
    let said = sources.iter().flat_map(|source| source.diagnostics.iter()).map(|d| match d.line {
        Some(line) => format!("{}:{line}", d.code),
        None => d.code.to_owned(),
    });
    (rows, said.collect())
}

/// Node, attempt, status, logical task of each row.
fn statuses(rows: &[Row]) -> Vec<String> {
    let row_status =
        |row: &Row| format!("{} {} {} {}", row.task_id.as_deref().unwrap(), row.attempt.unwrap(), row.status, row.logical_task);
    rows.iter().map(row_status).collect()
}

#[test]
fn texts_that_are_repeated_are_bounded_and_a_line_that_is_too_long_is_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let log = |text: &str| {
        let path = dir.path().join("w.makeflowlog");
        fs::write(&path, text).unwrap();
        read(&[path])
    };
    let rule = |command: &str| format!("# STARTED\t1795318114504024\n# NODE\t0\t{command}\n# COMMAND\t0\t{command}\n");
    let attempt = "1795318114521239 0 1 2524 0 1 0 0 0 1\n1795318115526511 0 2 2524 0 0 1 0 0 1\n";
    // A command of 300 kB, a thousand attempts.
    let (rows, said) = log(&(rule(&"x".repeat(300_000)) + &attempt.repeat(1000)));
    let with_command = rows.iter().filter(|row| row.command.is_some()).count();
    assert!(rows.len() >= 1000 && with_command > 100 && with_command < rows.len(), "{} {with_command}", rows.len());
    assert_eq!(said, ["texts_left_out"]);
    // The same rules in a thousand runs.
    let (rows, said) = log(&(rule(&"x".repeat(300_000)) + attempt + &"# STARTED\t1795318114504024\n".repeat(1000)));
    assert_eq!((rows.len(), said), (0, vec!["file_too_large".to_owned()]));
    let parents: String = (1..2_400_000).map(|node| format!("\t{node}")).collect();
    let (rows, said) = log(&(rule("true") + "# PARENTS\t0" + &parents + "\n" + attempt));
    assert_eq!((rows[0].parents.as_deref(), said), (None, vec!["line_too_long:4".to_owned()]));
}

/// Cut at each line of its header, a log has no rows and says why.
#[test]
fn a_log_that_was_cut_before_its_first_event() {
    let text = std::fs::read_to_string(fixture("verbose.makeflowlog")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let first = lines.iter().position(|line| line.starts_with(|c: char| c.is_ascii_digit())).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("cut.makeflowlog");
    for cut in [1, first / 2, first] {
        std::fs::write(&log, lines[..cut].join("\n") + "\n").unwrap();
        assert_eq!(read(std::slice::from_ref(&log)), (vec![], vec!["run_without_events".to_owned()]), "{cut}");
    }
}

#[test]
fn a_workflow_tells_what_a_plain_log_does_not() {
    let (rows, said) = read(&[fixture("words.jx.makeflowlog"), fixture("words.json")]);
    assert_eq!(said, Vec::<String>::new());
    assert_eq!(statuses(&rows), ["0 1 completed split", "2 1 completed count", "1 1 completed count"]);
    assert_eq!(rows[1].command.as_deref(), Some("wc -w < part.1 > count.1"));
    assert_eq!(rows[1].parents.as_deref(), Some(r#"["0"]"#));
    assert_eq!(rows[1].inputs.as_deref(), Some(r#"[{"bytes":8424,"path":"part.1"}]"#));
    assert_eq!((rows[0].cpus, rows[0].memory_bytes, rows[0].disk_bytes), (Some(1), Some(64 << 20), Some(64 << 20)));
    assert_eq!((rows[1].cpus, rows[1].memory_bytes), (Some(1), None));
    // Of another run.
    let (rows, said) = read(&[fixture("plain.makeflowlog"), fixture("words.json")]);
    assert_eq!(said, ["workflow_of_other_run"]);
    assert_eq!(rows[0].command, None);
    let (rows, said) = read(&[fixture("words.json")]);
    assert_eq!((rows.len(), said), (0, vec!["workflow_without_run".to_owned()]));
}

#[test]
fn jx_is_refused_with_advice() {
    let mut sources = [Source {
        path: fixture("words.jx"),
        name: "words.jx".to_owned(),
        kind: Makeflow.recognise(&fixture("words.jx"), &fs::read(fixture("words.jx")).unwrap()).unwrap(),
        sha256: String::new(),
        rows: 0,
        joined: 0,
        diagnostics: Diagnostics::default(),
    }];
    assert!(Makeflow.read(&mut sources, &Options::default()).is_empty());
    let said = sources[0].diagnostics.iter().next().unwrap();
    assert_eq!(sources[0].kind, "", "it is tried again when it is given again");
    assert_eq!((said.code, said.advice), ("workflow_bad", Some("JX becomes JSON with: jx2json FILE > FILE.json")));
}

#[test]
fn links_in_directories_are_not_followed_and_are_counted() {
    let given = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let copy = |to: PathBuf| fs::copy(fixture("plain.makeflowlog"), to).unwrap();
    copy(elsewhere.path().join("other.makeflowlog"));
    fs::create_dir(given.path().join("below")).unwrap();
    copy(given.path().join("plain.makeflowlog"));
    for (from, to) in [("other.makeflowlog", "a"), ("other.makeflowlog", "below/b"), ("", "c")] {
        symlink(elsewhere.path().join(from), given.path().join(to)).unwrap();
    }
    // Nobody writes to it: whoever opens it waits.
    assert!(std::process::Command::new("mkfifo").arg(given.path().join("below/fifo")).status().unwrap().success());
    let others: [&dyn Engine; 6] = [&Argo, &Kubernetes, &WfFormat, &Airflow, &Nextflow, &Transform];
    let counts = |engine: &dyn Engine, path: &Path| {
        let root = tempfile::tempdir().unwrap();
        let dataset = Dataset::open_or_create(&root.path().join("dataset")).unwrap();
        let report = import_files(&dataset, engine, &[path.to_owned()], &Options::default()).unwrap();
        (report.rows(), report.passed_over, report.errors())
    };
    assert_eq!(counts(&Makeflow, given.path()), (4, 4, 0));
    // What the user names is followed.
    assert_eq!(counts(&Makeflow, &given.path().join("a")), (4, 0, 0));
    assert_eq!(counts(&Makeflow, &given.path().join("c")), (4, 0, 0));
    let passed_over = others.map(|engine| counts(engine, given.path()).1);
    assert_eq!(passed_over, [3, 3, 3, 5, 3, 0], "with the log, which is not theirs; those of Airflow lie deeper, records have an ending");
}

#[test]
fn a_task_that_is_its_own_parent_is_said_once() {
    let begin = "# STARTED 1795318114504024\n";
    let attempt = "1795318114521239 0 1 2524 0 1 0 0 0 2\n1795318115526511 0 3 2524 0 0 0 1 0 2\n";
    let log = format!("# NODE\t0\ta\n# PARENTS\t0\t1\t0\n# NODE\t1\tb\n{begin}{attempt}{attempt}");
    let workflow = r#"{"rules": [{"command": "a", "inputs": ["x", "y"], "outputs": ["x"]}, {"command": "b", "outputs": ["y"]}]}"#;
    let record = r#"{"task":"a","workflow":"w","layers":[{"name":"task","id":"0"}],"parents":["0","1"],"begin":1795523152.6}
{"task":"a","layer":"task","level":0,"id":"0","failed_in":null,"command":0,"status":0,"signal":null,"begin":1795523152.6,"end":1795523153.6}
"#;
    type Files<'f> = &'f [(&'f str, &'f str)];
    let cases: [(&dyn Engine, Files<'_>, usize); 3] = [
        (&Makeflow, &[("w.makeflowlog", &log)], 2),
        (&Makeflow, &[("w.makeflowlog", &format!("{begin}{attempt}")), ("w.json", workflow)], 1),
        (&Transform, &[("t_0.record", record)], 1),
    ];
    for (engine, files, attempts) in cases {
        let root = tempfile::tempdir().unwrap();
        let dataset = Dataset::open_or_create(&root.path().join("dataset")).unwrap();
        let paths: Vec<PathBuf> = files.iter().map(|(name, _)| root.path().join(name)).collect();
        files.iter().zip(&paths).for_each(|((_, text), path)| fs::write(path, text).unwrap());
        let report = import_files(&dataset, engine, &paths, &Options::default()).unwrap();
        let said: Vec<&str> = report.sources.iter().flat_map(|source| source.diagnostics.iter()).map(|d| d.code).collect();
        assert_eq!(said, ["parent_is_itself"], "{} {files:?}", engine.name());
        let mut parents = Vec::new();
        dataset
            .read::<TaskRun<'static>, DatasetError>(|row| {
                parents.push(row.parents.unwrap_or_default().into_owned());
                Ok(())
            })
            .unwrap();
        assert_eq!(parents, vec![r#"["1"]"#; attempts], "{} {files:?}", engine.name());
    }
}

#[test]
fn monitor_summaries() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = Dataset::open_or_create(&dir.path().join("dataset")).unwrap();
    let report = import_files(&dataset, &Makeflow, &[fixture("monitor")], &Options::default()).unwrap();
    // With a summary the series says nothing new.
    assert_eq!((report.rows(), report.errors(), report.passed_over), (4, 0, 0));
    let paths: Vec<PathBuf> = [
        "words.makeflow.makeflowlog",
        "resource-rule-0.summary",
        "resource-rule-1.summary",
        "resource-rule-2.summary",
        "resource-rule-3.summary",
    ]
    .iter()
    .map(|name| fixture("monitor").join(name))
    .collect();
    let (rows, said) = read(&paths);
    assert_eq!(said, Vec::<String>::new());
    let row = rows.iter().find(|row| row.task_id.as_deref() == Some("1")).unwrap();
    assert_eq!((row.exit_code, row.host.as_deref(), row.realtime_s), (Some(0), Some("vm"), Some(0.031185)));
    assert_eq!((row.peak_rss_bytes, row.peak_vmem_bytes), (Some(2 << 20), Some(4 << 20)));
    assert_eq!(row.started_ns.map(|ns| ns / 1000), Some(1_795_318_119_185_395));
    assert!(row.submitted_ns < row.started_ns && row.started_ns < row.finished_ns);
    // Its command has a quote, which the monitor escapes as JSON does not.
    assert_eq!(rows.iter().find(|row| row.task_id.as_deref() == Some("3")).unwrap().exit_code, Some(0));
    assert!((row.cpu_percent.unwrap() - 15.37).abs() < 0.01);
    let mut turned = paths.clone();
    turned.reverse();
    assert_eq!(read(&turned).0, rows);
    // Without its log a summary is a row of its own.
    let (rows, said) = read(&paths[1..2]);
    assert_eq!((rows.len(), said), (1, vec!["summary_without_run".to_owned()]));
    assert_eq!((rows[0].logical_task.as_ref(), rows[0].run_id.as_deref()), ("head", None));
}

#[test]
fn a_killed_run_is_known_by_its_series() {
    let files = |names: &[&str]| -> Vec<PathBuf> { names.iter().map(|name| fixture("killed").join(name)).collect() };
    let all = ["killed.makeflow.makeflowlog", "resource-rule-0.series", "resource-rule-0.summary", "resource-rule-1.series"];
    let (rows, said) = read(&files(&all));
    assert_eq!((statuses(&rows), said), (vec!["0 1 completed fill".to_owned(), "1 1 running hold".to_owned()], vec![]));
    assert_eq!((rows[0].exit_code, rows[0].peak_rss_bytes), (Some(0), read(&files(&[all[0], all[2]])).0[0].peak_rss_bytes));
    let row = &rows[1];
    assert_eq!(row.started_ns.map(|ns| ns / 1000), Some(1_795_333_579_468_878));
    assert_eq!(row.submitted_ns.zip(row.started_precision_ns).map(|(at, precision)| at + precision), row.started_ns);
    assert_eq!((row.peak_rss_bytes, row.peak_vmem_bytes), (Some(77 << 20), Some(80 << 20)));
    // Nobody saw its end, nor all of its bytes.
    assert_eq!((row.finished_ns, row.exit_code, row.rchar_bytes, row.wchar_bytes), (None, None, None, None));
    let (rows, said) = read(&files(&all[3..]));
    assert_eq!((rows.len(), said), (0, vec!["series_without_run".to_owned()]));
}

#[test]
fn a_series_that_is_cut_keeps_its_whole_lines() {
    let dir = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(fixture("killed").join("resource-rule-1.series")).unwrap();
    let (path, log) = (dir.path().join("resource-rule-1.series"), fixture("killed").join("killed.makeflow.makeflowlog"));
    fs::write(&path, &text[..text.len() - 30]).unwrap();
    let (rows, said) = read(&[log, path]);
    assert_eq!((rows[1].peak_rss_bytes, said), (Some(1 << 20), vec!["line_bad:10".to_owned()]));
}

#[test]
fn marks_of_every_version_are_known() {
    let dir = tempfile::tempdir().unwrap();
    let change = "1380000001000000 0 1 77 0 1 0 0 0 1\n1380000002000000 0 2 77 0 0 1 0 0 1\n";
    let firsts = [
        "",
        "# STARTED\t1380000000000000\n",
        "# STARTED 1380000000000000\n",
        "# 2 a b 1430000000000000\n",
        "# FILE 1430000000000000 a b 2 7\n",
        "# CACHE 1430000000000000 .makeflow.cache\n",
        "# MOUNT 1430000000000000 a b c 1\n",
        "# GC\t1430000000000000\t1\t2\t3\n",
        "# GC 1430000000000000 1 2 3\n",
        "# ALLOC 1430000000000000 1 2 3 4 5 6\n",
        "# EVENT\t1430000000000000\tname\t1\n",
    ];
    for first in firsts {
        let path = dir.path().join("a.makeflowlog");
        fs::write(&path, format!("{first}{change}# COMPLETED\t1380000003000000\n")).unwrap();
        let (rows, said) = read(&[path]);
        assert_eq!((statuses(&rows), said), (vec!["0 1 completed node 0".to_owned()], vec![]), "{first:?}");
    }
    let path = dir.path().join("a.makeflowlog");
    fs::write(&path, format!("{change}# LATER 1\n# NODE\tx\tcat\n")).unwrap();
    assert_eq!(read(&[path]).1, ["mark_unknown:3", "line_bad:4"]);
}

mod hostile {
    use proptest::prelude::*;

    use super::*;

    fn mangled() -> impl Strategy<Value = Vec<u8>> {
        let names = [
            "verbose.makeflowlog",
            "failed_but_completed.makeflowlog",
            "words.json",
            "tabs_2013.makeflowlog",
            "aborted_and_resumed.makeflowlog",
            "killed/resource-rule-1.series",
        ];
        let texts: Vec<Vec<u8>> = names.iter().map(|name| fs::read(fixture(name)).unwrap()).collect();
        let edit = (any::<prop::sample::Index>(), 0..30_usize, proptest::collection::vec(any::<u8>(), 0..6));
        (prop::sample::select(texts), proptest::collection::vec(edit, 0..8)).prop_map(|(mut text, edits)| {
            for (at, remove, insert) in edits {
                let at = at.index(text.len() + 1);
                let end = (at + remove).min(text.len());
                text.splice(at..end, insert);
            }
            text
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn decoding_never_panics(first in mangled(), second in mangled()) {
            let dir = tempfile::tempdir().unwrap();
            let paths: Vec<PathBuf> = [("words.makeflowlog", first), ("words.json", second)].into_iter().filter_map(|(name, text)| {
                let path = dir.path().join(name);
                fs::write(&path, &text).unwrap();
                Makeflow.recognise(&path, &text).map(|_| path)
            }).collect();
            let (rows, _) = read(&paths);
            for row in &rows {
                prop_assert!(!row.name.is_empty() && !row.status.is_empty());
            }
            let mut turned = paths;
            turned.reverse();
            prop_assert_eq!(read(&turned).0, rows);
        }
    }
}

/// Makeflow writes the newlines of a command into its log as they are.
#[test]
fn commands_of_several_lines() {
    let dir = tempfile::tempdir().unwrap();
    let (log, flow) = (dir.path().join("v.json.makeflowlog"), dir.path().join("v.json"));
    let commands = ["cp in.txt o1\necho second >> o1", "cat o1 > o2", "cat <<X >o3\n\na b\n# no mark\nX\necho"];
    let of_log = |(n, command): (usize, &&str)| format!("# NODE\t{n}\t{command}\n# CATEGORY\t{n}\tdefault\n# COMMAND\t{n}\t{command}\n");
    let events = |n: usize| format!("1795318114521239 {n} 1 2524 2 1 0 0 0 3\n1795318115526511 {n} 2 2524 0 0 3 0 0 3\n");
    let rules: String = commands.iter().enumerate().map(of_log).collect();
    let text = format!("{rules}# STARTED\t1795318114504024\n{}# COMPLETED\t1795318115548090\n", (0..3).map(events).collect::<String>());
    fs::write(&log, text).unwrap();
    let told = |rows: &[Row]| rows.iter().map(|row| row.command.clone().map(|text| text.into_owned())).collect::<Vec<_>>();
    let all = commands.map(|command| Some(command.to_owned()));

    let (rows, said) = read(std::slice::from_ref(&log));
    // A line of the third can be a mark: no part of it is taken for all of it.
    assert_eq!(told(&rows), [all[0].clone(), all[1].clone(), None]);
    assert_eq!(said, ["mark_unknown:12", "mark_unknown:19", "line_bad"]);

    let rule = |command: &&str| serde_json::json!({ "command": command, "inputs": [], "outputs": [] });
    fs::write(&flow, serde_json::json!({ "rules": commands.iter().map(rule).collect::<Vec<_>>() }).to_string()).unwrap();
    let (rows, said) = read(&[log.clone(), flow.clone()]);
    assert_eq!((told(&rows), said), (all.to_vec(), vec!["mark_unknown:12".to_owned(), "mark_unknown:19".to_owned()]));

    // Another second line is another command.
    let other = ["cp in.txt o1\necho other >> o1", commands[1], commands[2]];
    fs::write(&flow, serde_json::json!({ "rules": other.iter().map(rule).collect::<Vec<_>>() }).to_string()).unwrap();
    let (rows, said) = read(&[log, flow]);
    assert_eq!(told(&rows), all);
    assert!(said.contains(&"sources_contradict".to_owned()), "{said:?}");
}

//! The command line as a user meets it: exit codes, pipes, standard output, pages.

use std::io::Read;
use std::process::{Command, Stdio};

use crate::support::{expect, flowmine, repository};

fn dataset() -> (tempfile::TempDir, std::path::PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let dataset = dir.path().join("dataset");
    expect(flowmine().args(["import", "slurm", "--dataset"]).arg(&dataset).arg(repository("fixtures/case-study/polls")), 0);
    (dir, dataset)
}

fn said(command: &mut Command, code: i32) -> String {
    String::from_utf8_lossy(&expect(command, code).stderr).into_owned()
}

#[test]
fn failures_say_what_to_do_and_end_with_2() {
    let (dir, dataset) = dataset();
    let missing = dir.path().join("missing");
    assert!(said(flowmine().args(["run", "--out", "x", "--dataset"]).arg(&missing), 2).contains("not a flowmine dataset"));
    let mut notion = flowmine();
    notion.args(["discover", "--case-notion", "moon", "--dataset"]).arg(&dataset);
    assert!(said(&mut notion, 2).contains("account-group"), "the known notions are named");
    let mut period = flowmine();
    period.args(["export", "--format", "xes", "--from", "2026-11-21", "--to", "2026-11-20", "--dataset"]).arg(&dataset);
    assert!(said(&mut period, 2).contains("not before"));
    let mut unwritable = flowmine();
    unwritable.args(["export", "--format", "xes", "-o", "/proc/no/log.xes", "--dataset"]).arg(&dataset);
    assert!(said(&mut unwritable, 2).contains("/proc/no/log.xes"));
    assert_eq!(flowmine().arg("observe").output().unwrap().status.code(), Some(2), "usage");
}

#[test]
fn help_of_a_model_fits_a_screen_and_details_are_one_command_away() {
    let text = |words: &[&str]| String::from_utf8(expect(flowmine().args(words), 0).stdout).unwrap();
    let (as_typed, details) = (text(&["discover", "dfg", "--help"]), text(&["help", "discover", "dfg"]));
    assert!(as_typed.lines().count() <= 50, "{as_typed}");
    assert!(as_typed.contains("flowmine help discover dfg"), "{as_typed}");
    assert!(details.contains("work-directory (all jobs of one user"), "{details}");
    assert!(text(&["help"]).contains("discover") && text(&["help", "import", "slurm"]).contains("squeue"));
    let unknown = said(flowmine().args(["help", "discover", "\x1b[31mmoon"]), 2);
    assert!(unknown.contains("moon") && !unknown.contains('\x1b') && unknown.contains("flowmine discover --help"), "{unknown}");
}

#[test]
fn rejected_input_is_told_and_ends_with_1() {
    let dir = tempfile::tempdir().unwrap();
    let mut import = flowmine();
    import.args(["import", "slurm", "--dataset"]).arg(dir.path().join("dataset")).arg(repository("fixtures/case-study/sacct.txt.gz"));
    let said = said(&mut import, 1);
    assert!(said.contains("sacct.txt.gz:") && said.contains("error"), "{said}");
    let nothing = dir.path().join("shopping.txt");
    std::fs::write(&nothing, "milk\neggs\n").unwrap();
    let mut import = flowmine();
    import.args(["import", "slurm", "--dataset"]).arg(dir.path().join("other")).arg(&nothing);
    let said = self::said(&mut import, 2);
    assert!(said.contains("line 1") && said.contains("milk"), "{said}");
}

#[test]
fn what_workflow_engines_told_is_imported() {
    let dir = tempfile::tempdir().unwrap();
    let import = |engine: &str, file: &str, code: i32| {
        let file = repository("crates/extract-workflow/tests/fixtures").join(file);
        said(flowmine().args(["import", engine, "--year", "2025", "--dataset"]).arg(dir.path().join("dataset")).arg(file), code)
    };
    let told = import("nextflow", "nextflow/slurm_retried_ignored_array.log", 0);
    assert!(told.contains("8 rows of task_runs written (5 completed, 3 failed)"), "{told}");
    let again = import("nextflow", "nextflow/slurm_retried_ignored_array.log", 0);
    assert!(again.contains("0 rows") && again.contains("1 had been imported before"), "{again}");
    let cut = import("nextflow", "nextflow/killed_without_end.log", 1);
    assert!(cut.contains("killed_without_end.log:7:") && cut.contains("the line is cut"), "{cut}");
    let odd = import("makeflow", "makeflow/failed_but_completed.makeflowlog", 0);
    assert!(odd.contains("the log says COMPLETED, but of 4 rules 1 are complete, 2 failed"), "{odd}");
    assert!(import("snakemake", "snakemake/slurm_retried_9", 0).contains("4 rows of task_runs written (2 completed, 2 failed)"));
    let pods = import("kubernetes", "kubernetes/pods_of_many_engines.json", 1);
    assert!(pods.contains("9 rows of task_runs written (2 completed, 5 failed, 1 running, 1 submitted); 1 error, see"), "{pods}");
    assert!(import("wfformat", "wfformat/flat_1.4.json", 0).contains("2 unknown"));
    let export = |args: &[&str], code: i32| {
        said(flowmine().args(["export", "--format", "wfformat", "--dataset"]).arg(dir.path().join("dataset")).args(args), code)
    };
    let instances = dir.path().join("instances");
    let told = export(&["-o", instances.to_str().unwrap()], 1);
    assert!(told.contains("the parents of 8 of its 8 tasks are not known") && told.contains("3 runs written, 7 not"), "{told}");
    assert!(instances.join("snakemake-2026-11-22T060002.344605.json").is_file());
    assert!(export(&[], 2).contains("give an output directory with -o DIR, or choose one run with --run"));
    let one = dir.path().join("one.json");
    assert!(export(&["--run", "4fbe6aa5-3a77-4d9e-b57e-04e2cc641de1", "-o", one.to_str().unwrap()], 0).contains("1 runs written"));
    assert_eq!(std::fs::read(&one).unwrap(), std::fs::read(instances.join("snakemake-2026-11-22T060002.344605.json")).unwrap());
    assert!(export(&["--run", "none"], 2).contains("there is no workflow run with the id or name"));
    let export = |args: &[&str], code: i32| {
        said(flowmine().args(["export", "--format", "ro-crate", "--dataset"]).arg(dir.path().join("dataset")).args(args), code)
    };
    let written = dir.path().join("crate");
    let run = ["--run", "4fbe6aa5-3a77-4d9e-b57e-04e2cc641de1", "-o", written.to_str().unwrap()];
    assert!(export(&run, 0).contains("tasks written"));
    let metadata = std::fs::read_to_string(written.join("ro-crate-metadata.json")).unwrap();
    assert!(metadata.contains("https://w3id.org/ro/wfrun/process/0.5") && metadata.contains("#user/me"), "{metadata}");
    assert!(export(&["-o", written.to_str().unwrap()], 2).contains("and a crate is for one: choose it with --run"));
    assert!(export(&["--run", "none"], 2).contains("no workflow run with the id or name"));
    let key = dir.path().join("key");
    std::fs::write(&key, "0123456789abcdef0123456789abcdef").unwrap();
    std::fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let mut coded = flowmine();
    coded
        .args(["export", "--format", "ro-crate", "--run", run[1], "--pseudonymise"])
        .arg(&key)
        .arg("--dataset")
        .arg(dir.path().join("dataset"));
    let coded = String::from_utf8(expect(&mut coded, 0).stdout).unwrap();
    assert!(coded.contains("\"CreateAction\"") && !coded.contains(run[1]) && !coded.contains("\"me\""), "{coded}");
    assert!(import("airflow", "airflow/3.3.2/postgres.jsonl", 0).contains("10 rows of task_runs written (8 completed, 2 failed)"));
    let argo = import("argo", "argo/words.json", 0);
    assert!(argo.contains("8 rows of task_runs written (1 cached, 5 completed, 1 failed, 1 running)"), "{argo}");
    assert!(import("wfformat", "makeflow/words.makeflow", 2).contains("this is nothing that import wfformat reads"));
}

#[test]
fn a_database_in_postgresql_is_read_by_psql() {
    let dir = tempfile::tempdir().unwrap();
    let import = |address: &str| {
        let mut command = flowmine();
        command.env("PATH", dir.path()).args(["import", "airflow", address, "--dataset"]).arg(dir.path().join("dataset"));
        said(&mut command, 2)
    };
    let address = "postgresql+psycopg2://me:s%65cret@127.0.0.1:1/metadata";
    assert!(import(address).contains("psql is missing"));
    assert!(import("postgresql://me@127.0.0.1/metadata?evil=1").contains("parameter \"evil\" is not known"));
    // What others see of it.
    let psql = dir.path().join("psql");
    std::fs::write(&psql, "#!/bin/sh\necho \"arguments: $*; for $PGUSER at $PGHOST:$PGPORT/$PGDATABASE, $PGPASSWORD\" >&2; exit 2\n")
        .unwrap();
    std::fs::set_permissions(&psql, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let said = import(address);
    let arguments = "arguments: --no-psqlrc --quiet --no-align --tuples-only --no-password; for me at 127.0.0.1:1/metadata, secret";
    assert!(said.contains(arguments), "{said}");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let (_dir, dataset) = dataset();
    let mut child = flowmine()
        .args(["export", "--format", "xes", "--dataset"])
        .arg(&dataset)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut begin = [0u8; 5];
    child.stdout.take().unwrap().read_exact(&mut begin).unwrap();
    assert_eq!(&begin, b"<?xml");
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

#[test]
fn filters_choose_events() {
    let (_dir, dataset) = dataset();
    let events = |filter: &[&str]| -> u64 {
        let output = expect(flowmine().args(["discover", "--format", "json", "--dataset"]).arg(&dataset).args(filter), 0);
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()["instances"].as_u64().unwrap()
    };
    let all = events(&[]);
    let of_accounts: u64 = ["physics", "biology", "thesis"].iter().map(|account| events(&["--account", account])).sum();
    assert_eq!(of_accounts, all, "every job of the scenario is charged to one of three accounts");
    assert_eq!(
        events(&["--account", "physics", "--account", "biology"]),
        events(&["--account", "physics"]) + events(&["--account", "biology"])
    );
    let of_users: u64 = ["fm-alice", "fm-bob", "fm-carol"].iter().map(|user| events(&["--user", user])).sum();
    assert_eq!(of_users, all);
    assert_eq!(events(&["--to", "2026-11-20"]), 0);
    assert_eq!(events(&["--from", "2026-11-20", "--to", "2126-11-20"]), all);
    assert!(events(&["--events", "starts"]) < events(&["--events", "all"]));
}

#[test]
fn the_formats_of_a_graph_tell_the_same() {
    let (_dir, dataset) = dataset();
    let print = |format: &str| {
        String::from_utf8(expect(flowmine().args(["discover", "--format", format, "--dataset"]).arg(&dataset), 0).stdout).unwrap()
    };
    let json: serde_json::Value = serde_json::from_str(&print("json")).unwrap();
    let edges = json["edges"].as_array().unwrap().len();
    let svg = print("svg");
    assert!(svg.contains(&format!("{edges} directly-follows pairs")), "the picture's heading");
    let dot = print("dot");
    for name in ["pre-processing.sh", "merge.sh"] {
        assert!(svg.contains(name) && dot.contains(name));
    }
}

#[test]
fn completions_and_manual_pages() {
    let completions = expect(flowmine().args(["completions", "bash"]), 0).stdout;
    assert!(String::from_utf8(completions).unwrap().contains("--accounting-since"));
    let dir = tempfile::tempdir().unwrap();
    expect(flowmine().args(["man", "--dir"]).arg(dir.path()), 0);
    let pages: Vec<_> = std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    for page in ["flowmine.1", "flowmine-observe.1", "flowmine-discover-handover.1", "flowmine-import-slurm.1", "flowmine-run.1"] {
        assert!(pages.iter().any(|p| p == page), "{page} is missing among {pages:?}");
    }
    assert!(String::from_utf8(expect(flowmine().arg("man"), 0).stdout).unwrap().starts_with(".ie"));
}

/// `--model X` of earlier versions is the command of the model, with a note.
#[test]
fn models_by_option_are_noted() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log.csv");
    std::fs::write(&log, "case,activity,resource,timestamp\na,align,ann,2026-11-20\na,merge,bob,2026-11-21\n").unwrap();
    let of = |words: &[&str]| expect(flowmine().args(words).arg("--log").arg(&log).args(["--format", "csv"]), 0);
    let (old, new) = (of(&["discover", "--model", "handover"]), of(&["discover", "handover"]));
    assert_eq!(old.stdout, new.stdout);
    assert!(String::from_utf8(new.stdout).unwrap().contains("ann,bob,1,1,1,86400"));
    assert!(String::from_utf8_lossy(&old.stderr).contains("note: --model handover is now `flowmine discover handover`"));
    assert!(!String::from_utf8_lossy(&new.stderr).contains("note: --model"));
    assert_eq!(of(&["discover"]).stdout, of(&["discover", "dfg"]).stdout);
    let refused = said(flowmine().args(["discover", "handover", "--zeta", "1", "--log"]).arg(&log), 2);
    assert!(refused.contains("--zeta is an option of temporal-profile"), "{refused}");
}

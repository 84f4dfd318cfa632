//! Reading commands with paths: sources recognised, imported, correlated, and removed again.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{expect, flowmine, repository};

/// Runs flowmine with its temporary files in a directory, which must be empty afterwards.
fn in_directory(temporary: &Path, args: &[&str], paths: &[&Path], code: i32) -> (Vec<u8>, String) {
    let ran = expect(flowmine().env("TMPDIR", temporary).args(args).args(paths), code);
    assert_eq!(fs::read_dir(temporary).unwrap().count(), 0, "{args:?}: something is left");
    (ran.stdout, String::from_utf8_lossy(&ran.stderr).into_owned())
}

#[test]
fn a_log_a_directory_and_recordings_are_read_at_once() {
    let temporary = tempfile::tempdir().unwrap();
    let run = repository("fixtures/workflows/nextflow-local");
    let polls = repository("fixtures/case-study/polls");
    let discover = |model: &str, path: &Path| in_directory(temporary.path(), &["discover", model], &[path], 0);
    let (_, said) = discover("dfg", &run.join("nextflow.log"));
    assert!(said.contains(&format!("flowmine: note: {}: Nextflow log (begins with", run.join("nextflow.log").display())), "{said}");
    let (path, said) = discover("critical-path", &run);
    assert!(said.contains("nextflow.log: Nextflow log, trace.txt: Nextflow trace file"), "{said}");
    assert!(!path.is_empty());
    let (variants, said) = discover("variants", &polls);
    assert!(said.contains("squeue text") && !variants.is_empty(), "{said}");
}

#[test]
fn a_path_without_a_model_is_discovered_as_dfg() {
    let dir = tempfile::tempdir().unwrap();
    let log = repository("tests/fixtures/logs/cases.xes");
    // Names without an ending, one of them that of a model.
    for name in ["dag", "orders"] {
        fs::copy(&log, dir.path().join(name)).unwrap();
    }
    let discover = |args: &[&str], code: i32| expect(flowmine().current_dir(dir.path()).args(args), code);
    let named = discover(&["discover", "dfg", "orders", "--format", "csv"], 0).stdout;
    for path in ["./dag", "orders"] {
        assert!(discover(&["discover", path, "--format", "csv"], 0).stdout == named, "{path}");
        assert!(discover(&["discover", "--format", "csv", path], 0).stdout == named, "{path}");
    }
    let said = String::from_utf8(discover(&["discover", "ordres", "--format", "csv"], 2).stderr).unwrap();
    assert!(said.starts_with("error: there is neither a model nor a file 'ordres'; similar names: 'orders'\n"), "{said}");
    let said = String::from_utf8(discover(&["discover", "absent.xes"], 2).stderr).unwrap();
    assert!(said.contains("absent.xes: No such file"), "{said}");
}

#[test]
fn two_sources_next_to_each_other_have_the_names_that_were_given() {
    let temporary = tempfile::tempdir().unwrap();
    let (run, dataset) = (repository("fixtures/workflows/nextflow-local"), repository("fixtures/workflows/nextflow-local/dataset"));
    let with = dataset.to_str().unwrap();
    let (text, _) = in_directory(temporary.path(), &["discover", "compare", "--with", with], &[&run], 0);
    let text = String::from_utf8(text).unwrap();
    let mut sides = text.lines().take(2);
    assert!(sides.next().is_some_and(|line| line.contains(&format!("First   {}: ", run.display()))), "{text}");
    assert!(sides.next().is_some_and(|line| line.contains(&format!("Second  {with}: "))), "{text}");
}

#[test]
fn a_path_gives_what_import_and_correlate_give() {
    let (temporary, kept) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let polls = repository("fixtures/case-study/polls");
    let dataset = kept.path().join("dataset");
    expect(flowmine().args(["import", "slurm", "--dataset"]).arg(&dataset).arg(&polls), 0);
    expect(flowmine().args(["correlate", "--dataset"]).arg(&dataset), 0);
    for args in [&["discover", "summary", "--format", "json"][..], &["export", "--format", "xes"]] {
        let whole = expect(flowmine().args(args).arg("--dataset").arg(&dataset), 0).stdout;
        let (by_path, _) = in_directory(temporary.path(), args, &[&polls], 0);
        assert!(by_path == whole, "{args:?}");
        let (of_dataset, said) = in_directory(temporary.path(), args, &[&dataset], 0);
        assert!(of_dataset == whole && said.contains(": dataset ("), "{args:?}: {said}");
    }
    let (correlated, _) = in_directory(temporary.path(), &["correlate"], &[&polls], 0);
    assert_eq!(correlated, expect(flowmine().args(["correlate", "--dataset"]).arg(&dataset), 0).stdout);
    let out = kept.path().join("results");
    let out = out.to_str().unwrap();
    in_directory(temporary.path(), &["run", "--out", out], &[&polls], 0);
    assert!(Path::new(out).join("summary.json").is_file());
}

#[test]
fn several_paths_are_one_dataset_or_one_log() {
    let temporary = tempfile::tempdir().unwrap();
    let run = repository("fixtures/workflows/nextflow-local");
    let paths = [run.join("nextflow.log"), run.join("trace.txt"), repository("fixtures/case-study/polls")];
    let paths: Vec<&Path> = paths.iter().map(|path| path.as_path()).collect();
    let (counts, _) = in_directory(temporary.path(), &["correlate"], &paths, 0);
    let counts = String::from_utf8(counts).unwrap();
    assert!(counts.contains("job attempts") && counts.contains("9 attempts at tasks"), "{counts}");
    let log = repository("tests/fixtures/logs/cases.xes");
    let both = ["discover", "summary", "--format", "json"];
    let (by_path, _) = in_directory(temporary.path(), &both, &[&log, &log], 0);
    let by_option = expect(flowmine().args(both).arg("--log").arg(&log).arg("--log").arg(&log), 0).stdout;
    assert!(by_path == by_option, "the file counts twice, as with --log");
}

#[test]
fn losses_and_errors_reach_the_exit_code_and_leave_nothing() {
    let temporary = tempfile::tempdir().unwrap();
    let forged = repository("fixtures/import/squeue_forged_row.txt");
    let (_, said) = in_directory(temporary.path(), &["discover", "variants"], &[&forged], 1);
    assert!(said.contains(": error: ") && !said.contains("table `diagnostics`"), "{said}");
    let two = repository("fixtures/import/squeue_two_polls.txt");
    let (_, said) = in_directory(temporary.path(), &["discover"], &[&two], 2);
    assert!(said.contains("nothing could be read") && said.contains("squeue_two_polls.txt"), "{said}");
    // An error of the command itself names what was given, not the directory that is gone.
    let polls = repository("fixtures/case-study/polls");
    let (_, said) = in_directory(temporary.path(), &["discover", "critical-path", "--run", "moon"], &[&polls], 2);
    assert!(said.contains(polls.to_str().unwrap()) && !said.contains(temporary.path().to_str().unwrap()), "{said}");
    let (_, said) = in_directory(temporary.path(), &["correlate"], &[&repository("tests/fixtures/logs/cases.xes")], 2);
    assert!(said.contains("these are log files"), "{said}");
    in_directory(temporary.path(), &["discover", "--dataset", "x"], &[&polls], 2);
}

#[test]
fn an_unreadable_file_is_an_error_with_its_path() {
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let secret = dir.path().join("secret.log");
    fs::copy(repository("fixtures/workflows/nextflow-local/nextflow.log"), &secret).unwrap();
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o000)).unwrap();
    // Another user may not get to where it was built.
    let program = dir.path().join("flowmine");
    fs::copy(env!("CARGO_BIN_EXE_flowmine"), &program).unwrap();
    let mut discover = Command::new(program);
    discover.arg("discover").arg(&secret);
    if fs::read(&secret).is_ok() {
        // Root reads everything.
        discover.uid(65_534).gid(65_534);
    }
    let said = String::from_utf8_lossy(&expect(&mut discover, 2).stderr).into_owned();
    assert!(said.contains("secret.log: Permission denied"), "{said}");
}

#[test]
fn a_signal_leaves_no_dataset_behind() {
    let temporary = tempfile::tempdir().unwrap();
    let pipe = temporary.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    // The result goes into a pipe that nobody reads, so that the command waits with its dataset.
    let mut discover = flowmine();
    discover.env("TMPDIR", temporary.path()).args(["discover", "summary", "-o"]).arg(&pipe);
    let mut child = discover.arg(repository("fixtures/case-study/polls")).stderr(Stdio::null()).spawn().unwrap();
    let inside = |dir: &Path| fs::read_dir(dir).ok()?.flatten().map(|entry| entry.path()).find(|path| !path.ends_with("pipe"));
    // There is something in it: before that its removal may not have been prepared yet.
    let has_begun = || inside(temporary.path()).and_then(|dataset| inside(&dataset)).is_some();
    let datasets = || {
        let names = fs::read_dir(temporary.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.starts_with("flowmine-")).count()
    };
    let began = Instant::now();
    while !has_begun() && began.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(datasets(), 1);
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    assert!(!child.wait().unwrap().success());
    assert_eq!(datasets(), 0);
}

/// A signal that ends flowmine, whichever it is, leaves no temporary dataset.
#[test]
fn signals_leave_no_temporary_dataset() {
    let runs = tempfile::tempdir().unwrap();
    // So many that the import is not over when the signal comes.
    let poll = repository("fixtures/case-study/polls");
    let first = fs::read_dir(&poll).unwrap().flatten().map(|entry| entry.path()).find(|path| path.is_file()).unwrap();
    for n in 0..3000 {
        fs::copy(&first, runs.path().join(format!("squeue-202611{:02}T{:02}{:02}00Z.txt", 1 + n / 1440, n / 60 % 24, n % 60))).unwrap();
    }
    for signal in [libc::SIGUSR1, libc::SIGXCPU, libc::SIGTERM] {
        let temporary = tempfile::tempdir().unwrap();
        let mut command = flowmine();
        command.env("TMPDIR", temporary.path()).args(["discover", "dfg"]).arg(runs.path());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let inside = |dir: &Path| fs::read_dir(dir).ok()?.next()?.ok().map(|entry| entry.path());
        // There is something in the dataset.
        let has_begun = || inside(temporary.path()).and_then(|dataset| inside(&dataset)).is_some();
        while !has_begun() && child.try_wait().unwrap().is_none() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        // SAFETY: kill(2) takes numbers; the child was not waited for to its end.
        unsafe { libc::kill(child.id() as i32, signal) };
        let status = child.wait().unwrap();
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(signal), "{status:?}");
        assert!(inside(temporary.path()).is_none(), "signal {signal} leaves the dataset");
    }
}

/// sacct's output without a time of each job is no log, and exit code 0 would say that it is one.
#[test]
fn accounting_without_times_is_an_error_and_elapsed_times_are_used() {
    let dir = tempfile::tempdir().unwrap();
    let temporary = tempfile::tempdir().unwrap();
    let path = dir.path().join("sacct.txt");
    let discover = |text: &str, code: i32| {
        fs::write(&path, text).unwrap();
        in_directory(temporary.path(), &["discover", "summary", "--format", "json", "--zone", "UTC"], &[&path], code)
    };
    let (_, said) = discover("JobID|JobName|State\n7|prep|COMPLETED\n8|sim|PENDING\n9|sim|RUNNING\n", 1);
    assert!(said.contains("accounting has no time for the state of 3 of 3 jobs"), "{said}");
    let (_, said) = discover("JobID|JobName|State|Start\n7|prep|COMPLETED|2026-03-01T10:00:00\n8|sim|RUNNING|2026-03-01T10:00:00\n", 1);
    assert!(said.contains("accounting has no time for the state of 1 of 2 jobs"), "{said}");
    for header in ["Start|Elapsed", "End|ElapsedRaw"] {
        let job = if header.starts_with("Start") { "2026-03-01T10:00:00|1-00:10:00" } else { "2026-03-02T10:10:00|87000" };
        let (summary, said) =
            discover(&format!("JobID|JobName|State|{header}\n7|prep|COMPLETED|{job}\n8|sim|CANCELLED|2026-03-09T00:00:00|0\n"), 0);
        assert!(said.contains("[times_from_elapsed]"), "{said}");
        let summary: serde_json::Value = serde_json::from_slice(&summary).unwrap();
        let prep = summary["activities"].as_array().unwrap().iter().find(|of| of["activity"] == "prep").unwrap();
        assert_eq!(prep["service"]["max_ns"], 87_000_000_000_000_u64, "{header}");
    }
}

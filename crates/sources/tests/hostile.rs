//! Sources that mislead: wrong extensions, several kinds, links, pipes, many files, damage.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use flowmine_sources::{Data, SourceError, open, recognise};
use nix::sys::stat::Mode;
use tempfile::TempDir;

/// A log of Makeflow with one task.
const MAKEFLOW: &str = "# STARTED 1700000000000000\n# NODE\t0\tsort a > b\n1700000001000000 0 1 42 0 1 0 0 0 1\n\
    1700000004000000 0 2 42 0 0 1 0 0 1\n# COMPLETED 1700000004000001\n";
/// A log of Nextflow without tasks.
const NEXTFLOW: &str = "Nov-24 12:06:35.240 [main] DEBUG nextflow.cli.Launcher - $> nextflow run flow.nf\n";
const SQUEUE: &str = "JOBID|STATE|USER\n1|RUNNING|ann\n";
const XES: &str = "<log xes.version=\"1.0\"><trace/></log>";
const TABLE: &str = "case_id,activity,timestamp\n1,sort,2026-11-20T13:00:00Z\n";
const OCEL: &str = "{\"objectTypes\": [], \"eventTypes\": [], \"objects\": [], \"events\": []}";
const ARGO: &str =
    "{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": [{\"apiVersion\": \"argoproj.io/v1alpha1\", \"kind\": \"Workflow\"}]}";

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }
}

fn kind(path: &Path) -> &'static str {
    recognise(&[path.to_owned()]).unwrap().sources()[0].kind.name
}

fn error(path: &Path) -> SourceError {
    recognise(&[path.to_owned()]).err().unwrap()
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn content_counts_and_not_the_name() {
    let folder = Folder::new();
    let all =
        [("makeflow", MAKEFLOW), ("nextflow", NEXTFLOW), ("slurm", SQUEUE), ("log", XES), ("log", OCEL), ("table", TABLE), ("argo", ARGO)];
    for (expected, text) in all {
        for name in
            ["x", "x.xes", "x.csv", "x.json", "x.makeflowlog", ".nextflow.log", "x.sqlite", "x.parquet", "squeue-20261120T130405Z.txt"]
        {
            assert_eq!(kind(&folder.file(name, text)), expected, "{name}");
            assert_eq!(kind(&folder.file(name, gzip(text))), expected, "{name}, packed");
        }
    }
}

#[test]
fn databases_are_told_apart_by_their_tables() {
    let folder = Folder::new();
    let database = |name: &str, sql: &str| {
        let path = folder.0.path().join(name);
        rusqlite::Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        path
    };
    let tables = "CREATE TABLE event (ocel_id TEXT, ocel_type TEXT); CREATE TABLE object (ocel_id TEXT, ocel_type TEXT);";
    assert_eq!(kind(&database("airflow.db", tables)), "log");
    assert_eq!(kind(&database("log.sqlite", "CREATE TABLE task_instance (dag_id TEXT);")), "airflow");
    let neither = error(&database("x.sqlite", "CREATE TABLE music (title TEXT);"));
    assert!(matches!(neither, SourceError::Unrecognised { .. }), "{neither}");
}

#[test]
fn two_engines_in_a_directory_are_ambiguous() {
    let folder = Folder::new();
    folder.file(".nextflow.log", NEXTFLOW);
    folder.file("flow.makeflowlog", MAKEFLOW);
    let text = error(folder.0.path()).to_string();
    for part in [
        ".nextflow.log",
        "Nextflow",
        "flow.makeflowlog",
        "Makeflow",
        "flowmine import KIND",
        "nextflow, makeflow",
        "give its files by themselves",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    // The files by themselves are two sources of one dataset.
    let plan = recognise(&[folder.0.path().join(".nextflow.log"), folder.0.path().join("flow.makeflowlog")]).unwrap();
    assert!(matches!(open(&plan, &mut ()).unwrap().data, Data::Temporary(_)));
}

#[test]
fn links_in_a_directory_lead_nowhere() {
    let (folder, elsewhere) = (Folder::new(), Folder::new());
    symlink(elsewhere.file("flow.makeflowlog", MAKEFLOW), folder.0.path().join("link.makeflowlog")).unwrap();
    symlink(elsewhere.0.path(), folder.0.path().join("way")).unwrap();
    let text = error(folder.0.path()).to_string();
    assert!(text.contains("2 links or other entries that are not followed"), "{text}");
    // A link that is given itself is followed, as every program does.
    assert_eq!(kind(&folder.0.path().join("link.makeflowlog")), "makeflow");
    assert_eq!(kind(&folder.0.path().join("way")), "makeflow");
}

#[test]
fn pipes_and_devices_are_refused_without_waiting() {
    let folder = Folder::new();
    let pipe = folder.0.path().join("pipe");
    nix::unistd::mkfifo(&pipe, Mode::from_bits_truncate(0o600)).unwrap();
    for path in [pipe.as_path(), Path::new("/dev/zero"), Path::new("/dev/tty")] {
        let found = error(path);
        assert!(matches!(found, SourceError::Special(_)), "{found}");
    }
    // Beside other files it keeps none from being recognised.
    folder.file("flow.makeflowlog", MAKEFLOW);
    assert_eq!(kind(folder.0.path()), "makeflow");
}

#[test]
fn a_hundred_thousand_files_are_looked_at_in_no_time() {
    let folder = Folder::new();
    for n in 0..100_000 {
        File::create(folder.0.path().join(format!("reads_{n:06}.fastq"))).unwrap();
    }
    let began = Instant::now();
    let text = error(folder.0.path()).to_string();
    assert!(text.contains("entries at which it was not looked"), "{text}");
    folder.file(".nextflow.log", NEXTFLOW);
    folder.file("work/ab/0123456789abcdef/.command.run", "#!/bin/bash\n");
    assert_eq!(kind(folder.0.path()), "nextflow");
    let taken = began.elapsed();
    assert!(taken < Duration::from_secs(10), "{taken:?}");
}

#[test]
fn damage_is_reported_with_the_path() {
    let folder = Folder::new();
    for empty in [folder.file("empty", ""), folder.file("blank", " \n\n"), folder.file("empty.gz", gzip(""))] {
        let found = error(&empty);
        assert!(matches!(found, SourceError::Empty(_)), "{}: {found}", empty.display());
    }
    let missing = error(&folder.0.path().join("missing"));
    assert!(matches!(missing, SourceError::Io { .. }), "{missing}");
    // What can be unpacked is enough to know the kind; the reader reports the rest.
    let packed = gzip(&SQUEUE.repeat(5000));
    let cut = folder.file("cut.gz", &packed[..packed.len() / 2]);
    assert_eq!(kind(&cut), "slurm");
    let failed = open(&recognise(&[cut]).unwrap(), &mut ()).err().unwrap().to_string();
    assert!(failed.contains("cut.gz"), "{failed}");
    let header = error(&folder.file("header.gz", &packed[..8])).to_string();
    assert!(header.contains("header.gz") && header.contains("gzip"), "{header}");
}

/// The rights of a thread are its own, so that the test holds for root too.
#[test]
fn an_unreadable_file_is_an_error_and_hides_no_other() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let rights = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    let (secret, dir) = (folder.file("secret.makeflowlog", MAKEFLOW), folder.file("closed/a.makeflowlog", MAKEFLOW));
    let closed = dir.parent().unwrap();
    let open = folder.file("run/flow.makeflowlog", MAKEFLOW);
    let among = folder.file("run/other.makeflowlog", MAKEFLOW);
    rights(folder.0.path(), 0o755);
    rights(&secret, 0);
    rights(&among, 0);
    rights(closed, 0);
    let seen = std::thread::scope(|scope| {
        let seen = scope.spawn(|| {
            nix::unistd::setfsuid(nix::unistd::Uid::from_raw(65_534));
            assert!(File::open(&secret).is_err(), "the test itself can read the file");
            (error(&secret).to_string(), error(closed).to_string(), recognise(&[open.parent().unwrap().to_owned()]).map(|_| ()))
        });
        seen.join().unwrap()
    });
    rights(closed, 0o700);
    for (text, name) in [(&seen.0, "secret.makeflowlog"), (&seen.1, "closed")] {
        assert!(text.contains(name) && text.contains("denied"), "{text}");
    }
    // Next to a readable file it is an error, or the readable one is recognised: never nothing.
    if let Err(found) = seen.2 {
        assert!(found.to_string().contains("other.makeflowlog"), "{found}");
    }
}

#[test]
fn known_files_that_are_not_read_say_what_to_do() {
    let folder = Folder::new();
    for (name, bytes, word) in [
        ("x.xes", b"\x28\xb5\x2f\xfdabc".as_slice(), "unzstd"),
        ("x.csv", b"PK\x03\x04abc", "unzip"),
        ("timeline.html", b"<html><h3>Processes execution timeline</h3></html>", "-with-trace"),
    ] {
        let found = error(&folder.file(name, bytes));
        assert!(matches!(found, SourceError::NotRead { .. }) && found.to_string().contains(word), "{name}: {found}");
    }
    let text = error(&folder.file("shopping", "milk\neggs\n")).to_string();
    assert!(text.contains("\"milk\"") && text.contains("Nextflow") && text.contains("table"), "{text}");
}

#[test]
fn datasets_and_logs_are_not_mixed() {
    let folder = Folder::new();
    let (xes, table, makeflow) = (folder.file("a", XES), folder.file("b", TABLE), folder.file("c", MAKEFLOW));
    let plan = recognise(&[xes.clone(), table]).unwrap();
    let opened = open(&plan, &mut ()).unwrap();
    assert!(matches!(&opened.data, Data::Logs(files) if files.len() == 2) && opened.dataset().is_none());
    let mixed = recognise(&[xes, makeflow]).err().unwrap();
    assert!(matches!(mixed, SourceError::Together { .. }), "{mixed}");
}

#[test]
fn a_temporary_dataset_is_private_and_goes_with_its_owner() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let opened = open(&recognise(&[folder.file("a", MAKEFLOW)]).unwrap(), &mut ()).unwrap();
    let dir = opened.dataset().unwrap().to_owned();
    assert_eq!(fs::metadata(&dir).unwrap().permissions().mode() & 0o777, 0o700);
    assert!(dir.join("flowmine.json").is_file() && !opened.is_lossy);
    drop(opened);
    assert!(!dir.exists());
}

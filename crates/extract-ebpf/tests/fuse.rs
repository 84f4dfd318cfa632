//! The overlay: known file operations give the rows that they must, as root and as a user without rights.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]

#[path = "../../../tests/support/operations.rs"]
mod operations;
#[path = "../../../tests/support/require.rs"]
mod require;
#[path = "../../../tests/support/traced.rs"]
mod traced;

use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::atomic::AtomicBool;

use flowmine_extract_ebpf::fuse::{self, Program, facts};
use flowmine_extract_ebpf::host::HostFacts;
use flowmine_extract_ebpf::recorder::WayIn;
use flowmine_extract_ebpf::{Detail, Options, Recorder, TraceError};
use flowmine_schema::Dataset;
use flowmine_schema::dataset::Role;
use operations::{Seen, SeenFile, Used, Way, cases, compare, parse, program};
use require::require;

fn possible() -> bool {
    let decision = facts::decide(&facts::FuseFacts::read(Path::new("/")));
    let possible = !matches!(decision, facts::FuseDecision::No { .. });
    require("fuse", &format!("FUSE ({decision:?})"), possible)
}

fn trace(dataset: &Path, directory: &Path, options: &Options, command: &[&str]) -> Result<ExitStatus, TraceError> {
    let mut writer = Dataset::open_or_create(dataset).unwrap().writer(Role::Raw, "test").unwrap();
    let host = HostFacts { name: "host".to_owned(), ..HostFacts::read(Path::new("/proc")) };
    let way_in = WayIn { backend: "fuse", hooks: None, ring_bytes: None };
    let mut recorder = Recorder::begin(&mut writer, host, way_in, options, None).unwrap();
    let program = Program {
        arguments: command.iter().map(OsString::from).collect(),
        environment: std::env::vars_os().collect(),
        directory: directory.to_owned(),
    };
    let status = fuse::run(&program, &[], options, &mut recorder, &AtomicBool::new(false));
    recorder.end(None).unwrap();
    status
}

struct Place {
    _temp: tempfile::TempDir,
    base: PathBuf,
    directory: PathBuf,
}

impl Place {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path().canonicalize().unwrap();
        let directory = base.join("d");
        std::fs::create_dir(&directory).unwrap();
        Place { _temp: temp, base, directory }
    }

    fn rows(&self, options: &Options, command: &[&str]) -> (ExitStatus, Vec<Seen>, Vec<SeenFile>) {
        let dataset = self.base.join("dataset");
        let status = trace(&dataset, &self.directory, options, command).unwrap();
        let (rows, files) = traced::rows(&dataset);
        (status, rows, files)
    }
}

const FUSE: Way = Way { name: "fuse", same_files: false, ordered: true, blind: &[], extra: &[] };

#[test]
fn known_operations_give_their_rows() {
    if !possible() {
        return;
    }
    let mut used = Used::default();
    let mut wrong = Vec::new();
    let only = std::env::var("CASE").ok();
    eprintln!("begin");
    for case in cases().into_iter().filter(|case| only.as_ref().is_none_or(|only| only == case)) {
        let place = Place::new();
        let expect = place.base.join("expect");
        let command = [program().to_str().unwrap(), &case, "--expect", expect.to_str().unwrap()];
        let (status, rows, files) = place.rows(&Options::default(), &command);
        let Ok(told) = std::fs::read(&expect) else {
            eprintln!("{case}: {status}");
            continue;
        };
        if let Err(differences) = compare(&FUSE, &case, &place.directory, &parse(&told), &rows, &files, &mut used) {
            wrong.push(format!("== {case}: {differences}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    used.check(&FUSE).unwrap();
}

//! The program that does known file operations, traced by ptrace: its rows are those that it says
//! it made.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]

#[path = "../../../tests/support/operations.rs"]
mod operations;
#[path = "../../../tests/support/traced.rs"]
mod traced;

use std::ffi::OsString;
use std::path::Path;

use flowmine_dataset::{Dataset, Role};
use flowmine_extract_ptrace as ptrace;
use flowmine_trace::host::HostFacts;
use flowmine_trace::stop::Stop;
use flowmine_trace::{Options, Recorder};

use operations::{Blind, Column, Sight, Used, Want, Way};

const WAY: Way = Way {
    name: "ptrace",
    same_files: true,
    ordered: true,
    blind: &[
        Blind { why: "io_uring", of: |_, row| row.via == Want::Is("io_uring".to_owned()), sight: Sight::NoRow },
        Blind { why: "io_submit", of: |case, row| case == "aio" && row.via == Want::Any, sight: Sight::NoRow },
        // readlink(2) of a link in /proc gives ENAMETOOLONG.
        Blind {
            why: "paths that are longer than PATH_MAX",
            of: |case, row| case == "longer_path" && matches!(row.path, Want::Is(_)),
            sight: Sight::Null(Column::Path),
        },
    ],
    extra: &[],
};

#[test]
fn the_rows_are_those_of_the_calls() {
    let base = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let base_path = base.path().canonicalize().unwrap();
    let mut used = Used::default();
    let mut wrong = Vec::new();
    let mut ran = 0;
    let only = std::env::var("CASE").ok();
    for case in operations::cases() {
        if only.as_ref().is_some_and(|only| *only != case) {
            continue;
        }
        let (dir, told, dataset_dir) =
            (base_path.join(&case), base_path.join(format!("{case}.expect")), base_path.join(format!("{case}.dataset")));
        std::fs::create_dir(&dir).unwrap();
        // Made now, so that it does not get the inode of a file that the case deletes.
        std::fs::write(&told, "").unwrap();
        let dataset = Dataset::open_or_create(&dataset_dir).unwrap();
        let host = HostFacts::read(Path::new("/proc"));
        let writer = dataset.writer(Role::Host(host.name.clone()), "test").unwrap();
        let options = Options::default();
        let mut recorder = Recorder::begin(writer, host, ptrace::backend(), &options, None).unwrap();
        // What hangs is ended: a test that waits for ever says nothing.
        let mut words: Vec<OsString> = ["timeout", "-s", "KILL", "60"].iter().map(OsString::from).collect();
        words.extend([operations::program().into(), OsString::from(&case), "--expect".into(), told.clone().into()]);
        let command = ptrace::Command { arguments: words, environment: None, directory: Some(dir.clone()) };
        let status = ptrace::follow(&command, &options, &mut recorder, &Stop::never()).unwrap();
        recorder.end(None).unwrap();
        if status.code() == Some(77) {
            eprintln!("{case}: cannot run here");
            continue;
        }
        assert!(status.success(), "{case}: {status}");
        let expectations = operations::parse(&std::fs::read(&told).unwrap());
        let (rows, files) = traced::rows(&dataset_dir);
        if let Err(difference) = operations::compare(&WAY, &case, &dir, &expectations, &rows, &files, &mut used) {
            wrong.push(difference);
        }
        ran += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    if only.is_none() {
        used.check(&WAY).unwrap();
        assert!(ran >= 35, "only {ran} cases ran");
    }
}

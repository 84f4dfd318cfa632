//! What the end-to-end tests share.

pub mod browser;
pub mod csv;
pub mod cuts;
pub mod docker;
pub mod doctor;
pub mod dump;
pub mod firefox;
pub mod generations;
pub mod logs;
pub mod makeflow;
pub mod operations;
#[allow(dead_code, reason = "benches/logs.rs uses the rest")]
pub mod peers;
pub mod podman;
pub mod positions;
pub mod qemu;
pub mod require;
pub mod running;
pub mod sight;
pub mod slurm_lab;
pub mod stand_in;
pub mod traced;
pub mod truth;
pub mod wait_truth;
pub mod world;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use flowmine_dataset::{Dataset, DatasetError};
use flowmine_schema::Row;
use flowmine_schema::tables::{Case, DiagnosticRow, JobDependency, JobState, NodeState, WaitPart};

/// The program under test. Its default of `--case-notion` is `dependency`, whose cases stay what they
/// are when inference improves.
pub fn flowmine() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_flowmine"));
    command.env("FLOWMINE_CASE_NOTION", "dependency");
    command
}

/// A path in the repository.
pub fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Whether a program is on the PATH or in the directories for administrators.
pub fn has_program(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]).any(|dir| dir.join(name).is_file())
}

/// Whether the tests run as root.
pub fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|metadata| std::os::unix::fs::MetadataExt::uid(&metadata) == 0)
}

/// Runs a command to its end; fails the test with its output unless its exit code is `code`.
pub fn expect(command: &mut Command, code: i32) -> Output {
    let output = command.output().expect("the program can be started");
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{command:?}\n{}{text}", String::from_utf8_lossy(&output.stdout));
    output
}

/// The rows of a table, copied by `own`.
fn rows<R: Row, T>(dataset: &Path, own: impl Fn(R::Of<'_>) -> T) -> Vec<T> {
    let mut rows = Vec::new();
    let read = Dataset::open(dataset).expect("a dataset").read::<R, DatasetError>(|row| {
        rows.push(own(row));
        Ok(())
    });
    read.expect("the table is readable");
    rows
}

/// The rows of `job_states`.
pub fn job_states(dataset: &Path) -> Vec<JobState<'static>> {
    rows::<JobState<'static>, _>(dataset, |row| row.into_owned())
}

/// The rows of `job_dependencies`.
pub fn job_dependencies(dataset: &Path) -> Vec<JobDependency<'static>> {
    rows::<JobDependency<'static>, _>(dataset, |row| row.into_owned())
}

/// The rows of `cases`.
pub fn cases(dataset: &Path) -> Vec<Case<'static>> {
    rows::<Case<'static>, _>(dataset, |row| row.into_owned())
}

/// The rows of `waits`.
pub fn waits(dataset: &Path) -> Vec<WaitPart<'static>> {
    rows::<WaitPart<'static>, _>(dataset, |row| row.into_owned())
}

/// The rows of `diagnostics`.
pub fn diagnostics(dataset: &Path) -> Vec<DiagnosticRow<'static>> {
    rows::<DiagnosticRow<'static>, _>(dataset, |row| row.into_owned())
}

/// The rows of `node_states`.
pub fn node_states(dataset: &Path) -> Vec<NodeState<'static>> {
    rows::<NodeState<'static>, _>(dataset, |row| row.into_owned())
}

//! Event logs as whoever gets them sees them: what `flowmine export`, `import log` and `validate`
//! promise, tried out with the program itself on the recorded queue in fixtures/case-study, hostile
//! names included.

mod cells;
mod dropping;
mod foreign;
mod formats;
mod interrupted;
mod interval;
mod pm4py;
mod pseudonyms;
mod validating;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{expect, flowmine, repository};

/// Formats with objects.
const OBJECTS: [&str; 3] = ["ocel.json", "ocel.xml", "ocel.sqlite"];

/// Formats with cases.
const CASES: [&str; 4] = ["xes", "xes.gz", "csv", "parquet"];

/// Formats that `flowmine validate` and `import log` read.
const READABLE: [&str; 5] = ["ocel.json", "ocel.xml", "ocel.sqlite", "xes", "xes.gz"];

/// What a case can be: notions of jobs, and types of objects in their log.
const NOTIONS: [&str; 10] = [
    "dependency",
    "account-group",
    "object:job",
    "object:array",
    "object:workflow run",
    "object:user",
    "object:group",
    "object:account",
    "object:partition",
    "object:node",
];

fn all_formats() -> impl Iterator<Item = &'static str> {
    OBJECTS.into_iter().chain(CASES)
}

/// The recorded queue as a dataset, in a directory with room for more.
struct Recording {
    dir: TempDir,
    dataset: PathBuf,
}

impl Recording {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let dataset = dir.path().join("dataset");
        let files = ["fixtures/case-study/polls", "fixtures/case-study/sacct-token.txt.gz"].map(repository);
        expect(flowmine().args(["import", "slurm", "--dataset"]).arg(&dataset).args(files), 0);
        Self { dir, dataset }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The command that exports it.
    fn command(&self, format: &str, to: &Path) -> Command {
        let mut command = flowmine();
        command.args(["export", "--format", format, "--dataset"]).arg(&self.dataset).arg("-o").arg(to);
        command
    }

    /// Exports it to a file of that name.
    fn export(&self, format: &str, name: &str, options: &[&str]) -> PathBuf {
        let to = self.path(&format!("{name}.{format}"));
        expect(self.command(format, &to).args(options), 0);
        to
    }

    /// The directly-follows graph.
    fn graph(&self, options: &[&str]) -> Value {
        graph(flowmine().args(["discover", "--dataset"]).arg(&self.dataset).args(options))
    }
}

/// The graph that a command prints, as JSON.
fn graph(discover: &mut Command) -> Value {
    serde_json::from_slice(&expect(discover.args(["--format", "json"]), 0).stdout).unwrap()
}

/// What a command says, which ends with that code.
fn said(command: &mut Command, code: i32) -> String {
    said_by(&expect(command, code))
}

fn said_by(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

//! The Python package `flowmine_hpc` in a real Python: its programs are in `tests/python/`, and the
//! notebooks of the documentation in `docs/notebooks/`.
//!
//! cargo builds the extension module for these tests, as this package depends on it. It is loaded
//! from a folder with the sources of the package, and is not installed. `make test` makes a virtual
//! environment with PM4Py, pandas and pyarrow, and names its interpreter in FLOWMINE_PYTHON.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::doctor;
use crate::support::require::require;
use crate::support::{expect, flowmine, repository};

/// The extension module as cargo names it.
const MODULE: &str = "libflowmine_python.so";

/// A Python that finds the package.
struct Python {
    program: PathBuf,
    directory: tempfile::TempDir,
}

impl Python {
    /// Python with some packages, which belong to the word `what`.
    fn new(what: &str, packages: &str) -> Option<Self> {
        let program = std::env::var_os("FLOWMINE_PYTHON").map_or_else(|| PathBuf::from("python3"), PathBuf::from);
        let works = Command::new(&program).args(["-c", &format!("import {packages}")]).output().is_ok_and(|output| output.status.success());
        let name = format!("a Python with {packages} (FLOWMINE_PYTHON)");
        require(what, &name, works).then_some(())?;
        let directory = tempfile::tempdir().unwrap();
        let package = directory.path().join("package/flowmine_hpc");
        fs::create_dir_all(&package).unwrap();
        for entry in fs::read_dir(repository("python/flowmine_hpc")).unwrap().map(Result::unwrap).filter(|entry| entry.path().is_file()) {
            fs::copy(entry.path(), package.join(entry.file_name())).unwrap();
        }
        fs::hard_link(module(), package.join("_native.abi3.so"))
            .or_else(|_| fs::copy(module(), package.join("_native.abi3.so")).map(|_| ()))
            .unwrap();
        Some(Self { program, directory })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// A dataset of the recorded queue.
    fn queue(&self) -> PathBuf {
        let dataset = self.path("queue");
        let recordings = recordings();
        expect(flowmine().args(["import", "slurm", "--dataset"]).arg(&dataset).args(recordings), 0);
        dataset
    }

    /// A dataset of the recorded trace of a run.
    fn trace(&self) -> PathBuf {
        let dataset = self.path("trace");
        copy(&repository("fixtures/demonstration/dataset"), &dataset);
        let log = repository("fixtures/demonstration/rnaseq.makeflow.makeflowlog");
        expect(flowmine().args(["import", "makeflow", "--dataset"]).arg(&dataset).arg(log), 0);
        expect(flowmine().args(["correlate", "--dataset"]).arg(&dataset), 0);
        dataset
    }

    /// A command of Python; what it prints is the message of a failed test.
    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        let temporary = self.path("tmp");
        fs::create_dir_all(&temporary).unwrap();
        command.env("PYTHONPATH", self.path("package")).env("FLOWMINE_COMMAND", env!("CARGO_BIN_EXE_flowmine"));
        command
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("FLOWMINE_CASE_NOTION", "dependency")
            .env("TMPDIR", temporary)
            .current_dir(self.directory.path());
        command
    }

    /// Runs a program of `tests/python/` and leaves no temporary file.
    fn run(&self, program: &str, arguments: &[&Path]) {
        expect(self.command().arg(repository("tests/python").join(program)).args(arguments), 0);
        let left: Vec<_> = fs::read_dir(self.path("tmp")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert!(left.iter().all(|name| !name.to_string_lossy().starts_with("flowmine")), "{left:?}");
    }
}

fn recordings() -> [PathBuf; 2] {
    ["fixtures/case-study/polls", "fixtures/case-study/sacct-token.txt.gz"].map(repository)
}

/// The extension module that cargo built with this test, the newer one where it has two places.
fn module() -> PathBuf {
    let programs = Path::new(env!("CARGO_BIN_EXE_flowmine")).parent().unwrap();
    let places = [programs.join("deps").join(MODULE), programs.join(MODULE)];
    let newest = places.into_iter().filter(|path| path.is_file()).max_by_key(|path| fs::metadata(path).unwrap().modified().unwrap());
    newest.expect("cargo builds the extension module with this test")
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn the_module_needs_no_library_of_python() {
    let bytes = fs::read(module()).unwrap();
    let has = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    assert!(has("PyInit__native") && !has("libpython"));
}

#[test]
fn tables_are_what_pyarrow_reads_of_the_same_files() {
    let Some(python) = Python::new("pyarrow", "pyarrow, pandas") else { return };
    python.run("tables.py", &[&python.queue(), &python.trace()]);
}

#[test]
fn polars_and_duckdb_read_tables() {
    let Some(python) = Python::new("polars", "polars, duckdb, pyarrow") else { return };
    python.run("readers.py", &[&python.queue(), &python.trace()]);
}

#[test]
fn each_model_is_a_function_with_the_bytes_of_the_command() {
    let Some(python) = Python::new("pm4py", "pandas, networkx") else { return };
    python.run("models.py", &[&python.queue(), &python.trace()]);
}

#[test]
fn each_command_is_a_function() {
    let Some(python) = Python::new("pyarrow", "pyarrow") else { return };
    python.run("commands.py", &[&python.queue()]);
}

#[test]
fn pm4py_counts_what_ends_are_and_its_logs_are_read() {
    let Some(python) = Python::new("pm4py", "pm4py, pyarrow") else { return };
    let logs = python.path("logs");
    fs::create_dir(&logs).unwrap();
    python.run("logs.py", &[&python.queue(), &logs]);
}

#[test]
fn hostile_input_is_an_exception() {
    let Some(python) = Python::new("pyarrow", "pyarrow") else { return };
    let inputs = python.path("inputs");
    fs::create_dir(&inputs).unwrap();
    python.run("hostile.py", &[&inputs, &python.queue()]);
}

#[test]
fn threads_forks_and_interrupts_do_no_harm() {
    let Some(python) = Python::new("pyarrow", "pyarrow") else { return };
    let [polls, accounting] = recordings();
    python.run("processes.py", &[&python.queue(), &polls, &accounting]);
}

#[test]
fn a_block_is_traced_and_its_tracer_ends_with_the_process() {
    let (works, how) = doctor::says("ebpf");
    if !require("bpf", &format!("eBPF ({how})"), works) {
        return;
    }
    let Some(python) = Python::new("pyarrow", "pyarrow") else { return };
    python.run("tracing.py", &[python.directory.path()]);
}

#[test]
fn notebooks_run() {
    let Some(python) = Python::new("pm4py", "pm4py, pyarrow, networkx") else { return };
    let mut notebooks: Vec<_> = fs::read_dir(repository("docs/notebooks")).unwrap().map(|entry| entry.unwrap().path()).collect();
    notebooks.retain(|path| path.extension().is_some_and(|extension| extension == "py"));
    assert!(notebooks.len() >= 3);
    for notebook in notebooks {
        expect(python.command().current_dir(repository("")).env("FLOWMINE_OUT", python.directory.path()).arg(notebook), 0);
    }
}

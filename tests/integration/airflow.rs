//! A real Airflow runs tasks that write down themselves what they do; then what is imported of it
//! against that truth.
//!
//! Airflow 3 with SQLite, imported while it runs and after, and Airflow 2 with PostgreSQL. The
//! lab's scripts are in `tests/lab`; what is started here is stopped here, also when the test
//! fails. `tests/lab/airflow-run.sh` is the whole of it as one command.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use flowmine_dataset::{Dataset, DatasetError};
use flowmine_schema::tables::TaskRun;

use crate::support::require::require;

/// Airflow's own clock readings are cut to microseconds, and it tells the supervisor of its task a
/// little later than it happened.
const SLACK_NS: i64 = 5_000_000;

/// A running lab; dropping it ends all that it started.
struct Lab {
    dir: PathBuf,
    _temp: tempfile::TempDir,
}

impl Lab {
    /// `None` when this Airflow is missing. `variable` names the virtual environment.
    fn up(variable: &str, options: &[&str]) -> Option<Self> {
        let venv = std::env::var_os(variable).map(PathBuf::from).filter(|venv| venv.join("bin/airflow").is_file());
        if !require("airflow", &format!("Airflow in the virtual environment {variable}"), venv.is_some()) {
            return None;
        }
        // The PostgreSQL server runs as another user.
        let temp = tempfile::Builder::new().prefix("fm").tempdir_in("/tmp").unwrap();
        fs::set_permissions(temp.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let lab = Self { dir: temp.path().join("lab"), _temp: temp };
        let mut arguments = vec![venv.unwrap().into_os_string()];
        arguments.extend(options.iter().map(Into::into));
        lab.script("airflow-up.sh", &arguments);
        lab.script("airflow-wait.sh", &[]);
        Some(lab)
    }

    fn command(&self, name: &str) -> Command {
        let mut command = Command::new("bash");
        command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lab").join(name)).arg(&self.dir).stdin(Stdio::null());
        command
    }

    fn script(&self, name: &str, arguments: &[std::ffi::OsString]) {
        succeed(self.command(name).args(arguments));
    }

    fn logs(&self) -> PathBuf {
        self.dir.join("home/logs")
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        let _ = self.command("airflow-down.sh").status();
    }
}

fn succeed(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{}{text}", String::from_utf8_lossy(&output.stdout));
}

/// What is imported, by task and attempt.
fn import(dataset: &Path, paths: &[PathBuf]) -> BTreeMap<(String, i64), TaskRun<'static>> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_flowmine"));
    succeed(command.args(["import", "airflow"]).args(paths).arg("--dataset").arg(dataset));
    let mut rows = BTreeMap::new();
    let read = Dataset::open(dataset).unwrap().read::<TaskRun<'static>, DatasetError>(|row| {
        let row = row.into_owned();
        let key = (row.task_id.as_deref().unwrap().to_owned(), row.attempt.unwrap());
        assert!(rows.insert(key, row).is_none(), "one row an attempt");
        Ok(())
    });
    read.unwrap();
    rows
}

/// A line that a task wrote about itself; see `tests/lab/airflow/work.sh`.
struct Truth {
    dag: String,
    run: String,
    pid: String,
    written: u64,
    exit: i64,
    began_ns: i64,
    ended_ns: i64,
}

/// By task and attempt; which instance of the mapped task it was, the number of bytes tells.
fn truth(lab: &Lab) -> BTreeMap<(String, i64), Truth> {
    let text = fs::read_to_string(lab.dir.join("work/truth")).unwrap();
    let line = |line: &str| {
        let fields: Vec<&str> = line.split('\t').collect();
        let [dag, run, task, attempt, _, parent, _read, written, exit, began, ended] = fields[..] else { panic!("{line:?}") };
        let task = match (task, written) {
            ("part", "4096") => "part[0]",
            ("part", "65536") => "part[1]",
            ("part", "333333") => "part[2]",
            (task, _) => task,
        };
        let truth = Truth {
            dag: dag.to_owned(),
            run: run.to_owned(),
            pid: parent.to_owned(),
            written: written.parse().unwrap(),
            exit: exit.parse().unwrap(),
            began_ns: began.parse().unwrap(),
            ended_ns: ended.parse().unwrap(),
        };
        ((task.to_owned(), attempt.parse().unwrap()), truth)
    };
    text.lines().map(line).collect()
}

/// Compares what the database and the logs told with what the tasks did.
fn compare(lab: &Lab, rows: &BTreeMap<(String, i64), TaskRun<'static>>, with_logs: bool) {
    let truth = truth(lab);
    let names: Vec<String> = truth.keys().map(|(task, attempt)| format!("{task} {attempt}")).collect();
    let ran = ["breaks 1", "flaky 1", "flaky 2", "join 1", "make 1", "part[0] 1", "part[1] 1", "part[2] 1", "skips_itself 1"];
    assert_eq!(names, ran, "what runs");
    // The branch is Python and writes nothing down; two tasks never ran.
    let told: Vec<String> = rows.keys().map(|(task, attempt)| format!("{task} {attempt}")).filter(|name| name != "choose 1").collect();
    assert_eq!((told, rows.len()), (names, 10));
    for (key, truth) in &truth {
        let row = &rows[key];
        assert_eq!((row.run_id.as_deref(), row.run_name.as_deref()), (Some(truth.run.as_str()), Some(truth.dag.as_str())));
        assert_eq!((row.native_id.as_deref(), row.native_kind.as_deref()), (Some(truth.pid.as_str()), Some("pid")), "{key:?}");
        // 99 is how a shell task says that it is to be skipped.
        assert_eq!(row.status, if matches!(truth.exit, 0 | 99) { "completed" } else { "failed" }, "{key:?}");
        if with_logs {
            assert_eq!(row.exit_code, Some(truth.exit), "{key:?}");
            assert!(row.command.as_deref().unwrap().contains(&format!(" {} ", truth.written)), "{key:?} {:?}", row.command);
        }
        assert!(row.submitted_ns.unwrap() <= row.started_ns.unwrap() + SLACK_NS, "{key:?}");
        assert!(row.started_ns.unwrap() <= truth.began_ns + SLACK_NS, "{key:?}");
        assert!(row.finished_ns.unwrap() + SLACK_NS >= truth.ended_ns, "{key:?}");
    }
    // Parents end before their children begin.
    for (key, row) in rows {
        let parents: Vec<String> = serde_json::from_str(row.parents.as_deref().unwrap()).unwrap();
        for parent in &parents {
            let last = rows.iter().filter(|((task, _), _)| task == parent).map(|(_, row)| row.finished_ns.unwrap()).max().unwrap();
            assert!(last <= row.started_ns.unwrap() + SLACK_NS, "{parent} before {key:?}");
        }
    }
    assert_eq!(rows[&("join".to_owned(), 1)].parents.as_deref(), Some(r#"["choose"]"#));
}

#[test]
fn airflow_3_with_sqlite() {
    let Some(lab) = Lab::up("FLOWMINE_AIRFLOW", &[]) else { return };
    let database = lab.dir.join("home/airflow.db");
    let before = fs::read(&database).unwrap();
    let running = import(&lab.dir.join("running"), &[database.clone(), lab.logs(), lab.dir.join("log/scheduler.out")]);
    assert_eq!(fs::read(&database).unwrap(), before, "the database is only read");
    compare(&lab, &running, true);
    assert!(running.values().any(|row| row.executor.as_deref() == Some("LocalExecutor")));
    succeed(&mut lab.command("airflow-down.sh"));
    let at_rest = import(&lab.dir.join("at-rest"), std::slice::from_ref(&database));
    compare(&lab, &at_rest, false);
    assert!(!lab.dir.join("home/airflow.db-shm").exists(), "nothing is written beside it");
}

#[test]
fn airflow_2_with_postgresql() {
    let Some(lab) = Lab::up("FLOWMINE_AIRFLOW2", &["postgres"]) else { return };
    let address = PathBuf::from(fs::read_to_string(lab.dir.join("database")).unwrap().trim_end());
    let rows = import(&lab.dir.join("dataset"), &[address.clone(), lab.logs()]);
    compare(&lab, &rows, true);
    let rows = import(&lab.dir.join("database-alone"), &[address]);
    compare(&lab, &rows, false);
}

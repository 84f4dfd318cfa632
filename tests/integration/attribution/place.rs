//! Where a run takes place, what is started for it, and what is kept of it.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use super::workflow::{EXTERNAL, Task};
use super::{Expected, traced_end as ended};

/// A directory for one run: `run` with the workflow's files, in which the engine works; `bin`,
/// `truth` and `dataset` beside.
pub struct Place {
    pub dir: PathBuf,
    _temp: Option<tempfile::TempDir>,
}

/// Environment variables that tell of jobs and tasks.
const ENVIRON: &str = "SLURM_CLUSTER_NAME,SLURM_JOB_ID,SLURM_JOB_NAME,SLURM_STEP_ID,NXF_TASK_WORKDIR";

impl Place {
    /// With the program and the files that are there before. `FLOWMINE_RECORD` makes it a directory
    /// of a name that says nothing.
    pub fn new(expected: &Expected) -> Self {
        let place = if std::env::var_os("FLOWMINE_RECORD").is_some() {
            let dir = PathBuf::from("/var/tmp/flow");
            let _ = std::fs::remove_dir_all(&dir);
            Self { dir, _temp: None }
        } else {
            // Sockets below it must stay short, and other users must be able to enter.
            let temp = tempfile::Builder::new().prefix("flow").tempdir_in("/var/tmp").unwrap();
            std::fs::set_permissions(temp.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
            Self { dir: temp.path().to_owned(), _temp: Some(temp) }
        };
        for name in ["bin", "truth", "run/state"] {
            std::fs::create_dir_all(place.dir.join(name)).unwrap();
        }
        let mut cc = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
        cc.args(["-O1", "-Wall", "-Werror", "-static", "-o"]).arg(place.dir.join("bin/work"));
        run(cc.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/workflows/work.c")));
        for (name, size) in EXTERNAL {
            std::fs::write(place.run().join(name), vec![b'.'; size]).unwrap();
        }
        for output in expected.tasks.iter().flat_map(|task| &task.outputs) {
            std::fs::create_dir_all(place.run().join(output).parent().unwrap()).unwrap();
        }
        place
    }

    pub fn run(&self) -> PathBuf {
        self.dir.join("run")
    }

    pub fn dataset(&self) -> PathBuf {
        self.dir.join("dataset")
    }

    pub fn truth(&self) -> PathBuf {
        self.dir.join("truth/truth.tsv")
    }

    /// The command line of a task.
    pub fn work(&self, task: &Task) -> String {
        work(&self.dir, task)
    }

    /// `flowmine trace` of a command, to which its words are added, or of the host.
    pub fn trace(&self) -> Command {
        let mut command = flowmine();
        command.args(["trace", "--backend", "ebpf", "--detail", "events", "--host", "node1", "--environ", ENVIRON]);
        // Scripts that are told by a command line only are found by it.
        command.args(["--command-lines", "all", "--dataset"]);
        command.arg(self.dataset()).current_dir(self.run()).stdin(Stdio::null());
        command
    }

    /// `flowmine import ENGINE`.
    pub fn import(&self, engine: &str, paths: &[&str]) {
        run(flowmine().args(["import", engine, "--dataset"]).arg(self.dataset()).args(paths).current_dir(self.run()));
    }
}

/// The command line of a task of a run in `dir`.
pub fn work(dir: &Path, task: &Task) -> String {
    format!("{0}/bin/work {0}/truth/truth.tsv {1} {2}", dir.display(), task.name, task.steps)
}

pub fn flowmine() -> Command {
    Command::new(env!("CARGO_BIN_EXE_flowmine"))
}

/// Runs a command to its end, which must be good and come within two minutes.
pub fn run(command: &mut Command) -> Output {
    run_within(command, 120)
}

/// Runs a command to its end, which must be good and come within so many seconds.
pub fn run_within(command: &mut Command, seconds: u32) -> Output {
    let mut timed = Command::new("timeout");
    timed.arg("--kill-after=5").arg(seconds.to_string()).arg(command.get_program()).args(command.get_args()).stdin(Stdio::null());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => timed.env(name, value),
            None => timed.env_remove(name),
        };
    }
    if let Some(dir) = command.get_current_dir() {
        timed.current_dir(dir);
    }
    let output = timed.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{command:?}: {}\n{}{}", output.status, text(&output.stdout), text(&output.stderr));
    output
}

/// Something that runs beside, ended with the test.
pub struct Beside(Child);

impl Beside {
    pub fn start(command: &mut Command) -> Self {
        Self(command.stdin(Stdio::null()).spawn().unwrap())
    }

    /// A trace of the host that has begun.
    pub fn trace(place: &Place, options: &[&str]) -> Self {
        let log = std::fs::File::create(place.dir.join("trace.log")).unwrap();
        let trace = Self::start(place.trace().args(options).stdout(log.try_clone().unwrap()).stderr(log));
        until("the trace begins", || place.dataset().join("hosts").is_dir() && ended(&place.dataset()).state == "began");
        trace
    }

    /// Ends it as a user does, and waits for its end. What it could not trace of other programs of
    /// this host may have been counted as lost.
    pub fn end(mut self) {
        assert!(Command::new("kill").args(["-TERM", "--", &self.0.id().to_string()]).status().unwrap().success());
        let code = self.0.wait().unwrap().code();
        assert!(matches!(code, Some(0 | 1)), "{code:?}");
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits until something is so, for at most half a minute.
pub fn until(what: &str, mut so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !so() {
        assert!(begin.elapsed() < Duration::from_secs(30), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

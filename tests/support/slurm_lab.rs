//! A real Slurm for one test: nodes on this machine, jobs as root.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use super::require::require;

/// A running Slurm; dropping it ends all that it started.
pub struct SlurmLab {
    dir: PathBuf,
    _temp: tempfile::TempDir,
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lab").join(name)
}

impl SlurmLab {
    /// A cluster of some nodes; None where the machine has no Slurm.
    pub fn up(nodes: u32) -> Option<Self> {
        Self::start(&[], &["--nodes", &nodes.to_string()])
    }

    /// Four nodes with accounting.
    pub fn with_accounting() -> Option<Self> {
        Self::start(&["slurmdbd", "mariadbd"], &["--accounting"])
    }

    fn start(programs: &[&str], options: &[&str]) -> Option<Self> {
        let root = std::fs::metadata("/proc/self").is_ok_and(|metadata| std::os::unix::fs::MetadataExt::uid(&metadata) == 0);
        let has = |name: &str| ["/usr/bin", "/usr/sbin"].iter().any(|dir| Path::new(dir).join(name).exists());
        let there = root && ["slurmctld", "slurmd", "munged", "squeue"].iter().chain(programs).all(|name| has(name));
        if !require("slurm", "root, Slurm and munge", there) {
            return None;
        }
        // Sockets below it must stay short, and the slurm user must be able to enter.
        let temp = tempfile::Builder::new().prefix("fm").tempdir_in("/tmp").expect("a temporary directory");
        std::fs::set_permissions(temp.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("it is ours");
        let lab = Self { dir: temp.path().join("lab"), _temp: temp };
        let up = Command::new("bash").arg(script("slurm-up.sh")).arg(&lab.dir).args(options).stdin(Stdio::null()).output();
        let up = up.expect("bash can be started");
        assert!(up.status.success(), "{}", String::from_utf8_lossy(&up.stderr));
        Some(lab)
    }

    /// Its directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// A command that talks to it.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("SLURM_CONF", self.dir.join("etc/slurm.conf")).stdin(Stdio::null());
        command
    }

    /// Waits until no job runs or can still run; fails the test after two minutes.
    pub fn settle(&self) {
        let began = Instant::now();
        loop {
            let queue: Output = self.command("squeue").args(["--noheader", "--format=%T %r"]).output().expect("squeue can be started");
            let lines = String::from_utf8_lossy(&queue.stdout).into_owned();
            if queue.status.success() && lines.lines().all(|line| line.ends_with("DependencyNeverSatisfied")) {
                return;
            }
            assert!(began.elapsed() < Duration::from_secs(120), "jobs do not end:\n{lines}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

impl Drop for SlurmLab {
    fn drop(&mut self) {
        let _ = Command::new("bash").arg(script("slurm-down.sh")).arg(&self.dir).stdin(Stdio::null()).status();
    }
}

//! A Slurm for the jobs of one run.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::place::{Place, flowmine, run};

/// A running Slurm; dropping it ends all that it started.
pub struct Lab {
    dir: PathBuf,
}

fn script(name: &str) -> Command {
    let mut command = Command::new("bash");
    command.arg(format!("{}/tests/lab/{name}", env!("CARGO_MANIFEST_DIR"))).stdin(Stdio::null());
    command
}

/// Whether Slurm can be started here.
pub fn present() -> bool {
    let programs = ["slurmctld", "slurmd", "munged", "squeue"];
    let path = std::env::var_os("PATH").unwrap_or_default();
    let there = |name: &&str| std::env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]).any(|dir| dir.join(name).is_file());
    let root = std::fs::metadata("/proc/self").is_ok_and(|metadata| std::os::unix::fs::MetadataExt::uid(&metadata) == 0);
    super::require("slurm", "root, Slurm and munge", root && programs.iter().all(there))
}

impl Lab {
    pub fn up(place: &Place, options: &[&str]) -> Self {
        let lab = Self { dir: place.dir.join("lab") };
        run(script("slurm-up.sh").arg(&lab.dir).args(options));
        lab
    }

    pub fn conf(&self) -> PathBuf {
        self.dir.join("etc/slurm.conf")
    }

    /// Notes the jobs as a user would.
    pub fn observe(&self, dataset: &Path) {
        run(flowmine().args(["observe", "--once", "--dataset"]).arg(dataset).env("SLURM_CONF", self.conf()));
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        let _ = script("slurm-down.sh").arg(&self.dir).status();
    }
}

//! A Debian kernel in QEMU for a test: a script in, its output, exit code and the files that it
//! left out. See `tests/qemu/run.sh`.
//!
//! Needs only the standard library, so that tests of other packages can include it by path.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Kernels on which tracing is tested: the Debian release and the beginning of what `uname -r` says
/// there.
pub const KERNELS: [(&str, &str); 3] = [("bullseye", "5.10."), ("bookworm", "6.1."), ("trixie", "6.12.")];

/// Programs that `run.sh` needs and that are not here.
pub fn missing() -> String {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let has = |name: &&str| std::env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]).any(|dir| dir.join(name).is_file());
    let missing = ["qemu-system-x86_64", "busybox", "cpio", "mkfs.ext4", "apt-get"].into_iter().filter(|name| !has(name));
    missing.collect::<Vec<_>>().join(", ")
}

/// A machine that boots, runs a script as root and ends.
pub struct Machine {
    command: Command,
    suite: String,
}

/// What came out of it.
pub struct Ended {
    /// The script's exit code; 124 after the timeout; 125 when the machine ended before the script
    /// did.
    pub code: i32,
    /// What the script printed.
    pub output: String,
    /// What `run.sh` said: why there was no end, and the kernel's last lines.
    pub messages: String,
}

impl Machine {
    /// A machine with the kernel of this Debian release, which ends after `seconds`.
    pub fn new(suite: &str, seconds: u32) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().map(|dir| dir.join("tests/qemu/run.sh")).find(|file| file.is_file());
        let mut command = Command::new("bash");
        command.arg(script.expect("run.sh is in the repository")).arg("--timeout").arg(seconds.to_string()).stdin(Stdio::null());
        Self { command, suite: suite.to_owned() }
    }

    /// Puts a program into it, with the shared libraries that it needs.
    pub fn program(mut self, program: &Path) -> Self {
        self.command.arg("--program").arg(program);
        self
    }

    /// Runs a script for busybox's sh; what it leaves in `/results` comes into `results`. `scratch`
    /// is a directory for the script's file.
    pub fn run(mut self, script: &str, scratch: &Path, results: &Path) -> Ended {
        let file: PathBuf = scratch.join(format!("script-{}", self.suite));
        std::fs::write(&file, script).expect("the directory is the test's own");
        self.command.arg("--results").arg(results).arg(&self.suite).arg(&file);
        let output = self.command.output().expect("bash is there");
        Ended {
            code: output.status.code().unwrap_or(125),
            output: String::from_utf8_lossy(&output.stdout).into_owned(),
            messages: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

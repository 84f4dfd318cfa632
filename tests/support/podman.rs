//! podman with a store of its own, and an image that has nothing but the host's programs.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::require::require;

/// The image.
pub const IMAGE: &str = "flowmine-test";

/// Dropping it removes its containers.
/// Its state is not below the store: podman wants a path of 50 characters at most there.
pub struct Podman(PathBuf, tempfile::TempDir);

impl Podman {
    /// The words of the program.
    pub fn program(&self) -> String {
        format!("podman --root {}/store --runroot {} --runtime runc", self.0.display(), self.1.path().display())
    }

    /// What a container needs here: no network, limits that runc can set, and the host's programs.
    pub fn options() -> &'static str {
        "--network=none --ulimit nofile=1024:1024 --ulimit nproc=1024:1024 -v /usr:/usr:ro"
    }

    /// None where podman cannot run a container.
    pub fn new(dir: &Path) -> Option<Self> {
        let root = dir.join("root");
        for name in ["usr", "etc", "proc", "dev", "sys", "tmp"] {
            std::fs::create_dir_all(root.join(name)).expect("a directory of ours");
        }
        for name in ["bin", "lib", "lib64"] {
            std::os::unix::fs::symlink(format!("usr/{name}"), root.join(name)).expect("a directory of ours");
        }
        let podman = Self(dir.to_owned(), tempfile::tempdir().expect("a directory of ours"));
        let program = podman.program();
        let tried =
            format!("tar -C {} -c . | {program} import - {IMAGE} && {program} run --rm {} {IMAGE} true", root.display(), Self::options());
        let output = Command::new("sh").args(["-c", &tried]).env("HOME", dir).output().expect("sh can be started");
        let why = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        require("podman", &format!("podman ({why})"), output.status.success()).then_some(podman)
    }
}

impl Drop for Podman {
    fn drop(&mut self) {
        let _ = Command::new("timeout").arg("60").args(self.program().split(' ')).args(["rm", "--all", "--force"]).output();
    }
}

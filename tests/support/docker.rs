//! A real Docker: an image made of the host's programs.

use std::path::Path;
use std::process::Command;

use super::require::require;

/// Dropping it removes its image.
pub struct Docker {
    image: String,
}

impl Docker {
    /// What a container needs here: no network, and the host's programs.
    pub const OPTIONS: &'static str = "--network=none -v /usr:/usr:ro -v /etc/alternatives:/etc/alternatives:ro";

    /// None where no daemon answers or no container runs.
    pub fn new(dir: &Path) -> Option<Self> {
        let root = dir.join("root");
        for name in ["usr", "etc", "proc", "dev", "sys", "tmp"] {
            std::fs::create_dir_all(root.join(name)).expect("a directory of ours");
        }
        for name in ["bin", "lib", "lib64"] {
            std::os::unix::fs::symlink(format!("usr/{name}"), root.join(name)).expect("a directory of ours");
        }
        let image = format!("flowmine-test-{}", std::process::id());
        let tried = format!("tar -C \"$1\" -c . | docker import - {image} && docker run --rm {} {image} true", Self::OPTIONS);
        let output = Command::new("sh").args(["-c", &tried, "sh"]).arg(&root).output().expect("sh can be started");
        let why = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        require("docker", &format!("a daemon of Docker ({why})"), output.status.success()).then_some(Self { image })
    }

    /// Name of the image.
    pub fn image(&self) -> &str {
        &self.image
    }

    /// How many containers of the image run.
    pub fn containers(&self) -> usize {
        let output = Command::new("docker").args(["ps", "-q", "--filter"]).arg(format!("ancestor={}", self.image)).output();
        String::from_utf8_lossy(&output.expect("docker can be started").stdout).lines().count()
    }
}

impl Drop for Docker {
    fn drop(&mut self) {
        let _ = Command::new("docker").args(["rmi", "--force", &self.image]).output();
    }
}

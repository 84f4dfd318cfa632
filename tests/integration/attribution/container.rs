//! Containers for tasks: podman with a store of its own and an image that has nothing but the
//! host's programs.

use std::process::Command;

use super::place::Place;

/// What takes the store away again: podman mounts it.
pub struct Podman(String);

impl Podman {
    /// Makes the image. None where podman cannot run a container.
    pub fn new(place: &Place) -> Option<Self> {
        let (dir, root) = (place.dir.display().to_string(), place.dir.join("root"));
        for name in ["usr", "etc", "proc", "dev", "sys", "tmp"] {
            std::fs::create_dir_all(root.join(name)).unwrap();
        }
        for name in ["bin", "lib", "lib64"] {
            std::os::unix::fs::symlink(format!("usr/{name}"), root.join(name)).unwrap();
        }
        let podman = Self(format!("podman --root {dir}/store --runroot {dir}/podman --runtime runc"));
        let import = format!("tar -C {dir}/root -c . | {} import - flow", podman.0);
        let tried = format!("{import} && {} true", podman.run(place, &dir));
        let output = Command::new("sh").args(["-c", &tried]).env("HOME", &place.dir).current_dir(place.run()).output().unwrap();
        let why = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        super::require("podman", &format!("podman ({why})"), output.status.success()).then_some(podman)
    }

    /// The words before those that run in a container, in the directory `work_dir`.
    pub fn run(&self, place: &Place, work_dir: &str) -> String {
        let (_, options) = self.options(place);
        format!("{} run --rm {options} -w {work_dir} flow", self.0)
    }

    /// Options of podman itself, and of `podman run`.
    pub fn options(&self, place: &Place) -> (String, String) {
        let (engine, dir) = (self.0.trim_start_matches("podman ").to_owned(), place.dir.display());
        (engine, format!("--network=none --ulimit nofile=1024:1024 --ulimit nproc=1024:1024 -v /usr:/usr:ro -v {dir}:{dir}"))
    }
}

impl Drop for Podman {
    fn drop(&mut self) {
        let words: Vec<&str> = self.0.split(' ').collect();
        let _ = Command::new("timeout").arg("60").args(words).args(["rm", "--all", "--force"]).output();
    }
}

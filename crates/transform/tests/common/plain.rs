//! A sandbox against the plain task: the same exit code and, of all names, the same kinds, contents,
//! modes, targets of links and names of one file.

#![allow(dead_code, reason = "each test takes a part of it")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use flowmine_transform::algebra::Composition;
use flowmine_transform::builtin;

use crate::common::{SHELLS, install, is_root, plan, seen};

/// The user `nobody` of Linux.
pub const NOBODY: u32 = 65534;

/// Whether there is time for all tasks in all shells (`make test-long`).
pub fn is_long() -> bool {
    std::env::var_os("FLOWMINE_LONG").is_some()
}

/// Users and shells of the task of a number: this user and, where this is root, an ordinary one.
pub fn runs(number: usize) -> Vec<(Option<u32>, &'static str)> {
    let own = SHELLS.into_iter().enumerate().filter(|(n, _)| is_long() || *n == number % SHELLS.len()).map(|(_, shell)| (None, shell));
    own.chain(is_root().then_some((Some(NOBODY), SHELLS[0]))).collect()
}

#[derive(Debug, Clone, Default)]
pub struct Task {
    /// What happens in the directory of the workflow before.
    pub before: String,
    /// The task; `N` is the number of the attempt.
    pub command: String,
    pub inputs: Vec<&'static str>,
    pub outputs: Vec<&'static str>,
    /// Attempts, each after one that failed.
    pub attempts: usize,
}

pub fn task(inputs: &[&'static str], outputs: &[&'static str], before: &str, command: &str) -> Task {
    Task { before: before.into(), command: command.into(), inputs: inputs.into(), outputs: outputs.into(), attempts: 1 }
}

/// What is below a directory, but for what belongs to flowmine.
pub type Tree = BTreeMap<String, String>;

#[derive(Debug, PartialEq, Eq)]
pub struct End {
    pub status: i32,
    pub tree: Tree,
}

/// What one run leaves, with what it says and its sandboxes.
pub struct Run {
    pub end: End,
    pub said: String,
    pub kept: usize,
}

pub struct Place {
    dir: tempfile::TempDir,
    user: Option<u32>,
}

/// Every place has `in` and `ref`, with links to nothing and to itself, which are inputs, and files
/// that nobody may change.
const SETUP: &str = "umask 022; echo in >in; mkdir -p ref/sub; echo r >ref/x; echo s >ref/sub/y
    ln -s nowhere ref/dangling; ln -s . ref/cycle; mkdir ../count ../precious; echo PRECIOUS >../precious/x";

impl Place {
    pub fn new(user: Option<u32>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o755)).unwrap();
        let place = Self { dir, user };
        fs::create_dir(place.flow()).unwrap();
        for path in [place.dir.path().to_owned(), place.flow()] {
            chown(path, user, user).unwrap();
        }
        place
    }

    pub fn flow(&self) -> PathBuf {
        self.dir.path().join("flow")
    }

    fn shell(&self, command: &str, attempt: usize) -> (i32, String) {
        let mut shell = Command::new("timeout");
        shell.args(["60", "sh", "-c", command]).current_dir(self.flow()).stdin(Stdio::null());
        shell.env("TOP", self.dir.path()).env("N", attempt.to_string());
        if let Some(user) = self.user {
            shell.uid(user).gid(user);
        }
        let done = shell.output().unwrap();
        (seen(done.status), String::from_utf8_lossy(&done.stderr).into_owned())
    }

    /// Runs a task as often as it fails; the same place each time, so that names in it are the same.
    pub fn run(&self, task: &Task, shell: Option<&str>) -> Run {
        self.shell("cd .. && find . -type d -exec chmod u+rwx {} \\; ; rm -rf flow/* flow/.t_* count precious", 0);
        let (status, said) = self.shell(&format!("{SETUP}\n{}", task.before), 0);
        assert_eq!(status, 0, "{}: {said}", task.before);
        let command = match shell {
            None => format!("({})", task.command),
            Some(shell) => {
                let described = serde_json::json!({"command": task.command, "inputs": task.inputs, "outputs": task.outputs});
                let sandbox = Composition::read("sandbox", builtin::text("sandbox").unwrap(), None, &[]).unwrap();
                install(&plan(&described, &sandbox), &self.flow(), shell)
            }
        };
        let (mut status, mut said) = (0, String::new());
        for attempt in 0..task.attempts {
            let (code, text) = self.shell(&command, attempt);
            (status, said) = (code, said + &text);
            if code == 0 {
                break;
            }
        }
        let kept = fs::read_dir(self.flow()).unwrap().filter(|entry| entry.as_ref().unwrap().path().to_string_lossy().contains(".box."));
        Run { kept: kept.count(), end: End { status, tree: tree(self.dir.path()) }, said }
    }
}

/// Kinds, modes, contents and targets of all names; files with several names have these too.
fn tree(top: &Path) -> Tree {
    let mut found = Vec::new();
    let mut folders = vec![top.to_owned()];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            let name = String::from_utf8_lossy(path.strip_prefix(top).unwrap().as_os_str().as_bytes()).into_owned();
            if name.starts_with("flow/t_") || name.starts_with("flow/.t_") {
                continue;
            }
            let of = fs::symlink_metadata(&path).unwrap();
            let mode = of.mode() & 0o7777;
            let shown = match of.file_type() {
                kind if kind.is_symlink() => format!("-> {}", fs::read_link(&path).unwrap().display()),
                kind if kind.is_dir() => format!("directory {mode:o}"),
                kind if kind.is_fifo() => format!("FIFO {mode:o}"),
                _ => format!("file {mode:o} {:?}", fs::read_to_string(&path).unwrap()),
            };
            if of.is_dir() {
                folders.push(path);
            }
            found.push((name, shown, (of.is_file() && of.nlink() > 1).then(|| of.ino())));
        }
    }
    found.sort();
    let names =
        |file: Option<u64>| found.iter().filter(|one| file.is_some() && one.2 == file).map(|one| one.0.as_str()).collect::<Vec<_>>();
    found.iter().map(|(name, shown, file)| (name.clone(), format!("{shown} {:?}", names(*file)))).collect()
}

/// Runs tasks both ways in every shell and as every user.
pub fn all_end_as_plain(tasks: &[Task]) {
    for (number, task) in tasks.iter().enumerate() {
        runs(number).into_iter().for_each(|(user, shell)| ends_as_plain(task, user, shell));
    }
}

/// The same, but where there is not time for all, each task as one user, in turn.
pub fn each_ends_as_plain(tasks: &[Task]) {
    for (number, task) in tasks.iter().enumerate() {
        let all = runs(number / 2);
        let one = number % all.len();
        let chosen = all.into_iter().enumerate().filter(|(n, _)| is_long() || *n == one);
        chosen.for_each(|(_, (user, shell))| ends_as_plain(task, user, shell));
    }
}

fn ends_as_plain(task: &Task, user: Option<u32>, shell: &str) {
    let place = Place::new(user);
    let plain = place.run(task, None);
    let boxed = place.run(task, Some(shell));
    assert_eq!(boxed.end, plain.end, "{shell}, {user:?}: {task:?}\n{}", boxed.said);
    assert_eq!(boxed.kept, 0, "{shell}, {user:?}: {task:?}\n{}", boxed.said);
}

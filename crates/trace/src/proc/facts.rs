//! What a process is: user, cgroups, program, command line, chosen environment variables.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::paths::{Views, as_path};
use super::text::{LONGEST, read_up_to};
use super::{Proc, mounts, stat};
use crate::options::Options;
use crate::record::{Counters, ProcessFacts};

/// Reads facts of processes from `/proc` (proc(5)).
#[derive(Debug)]
pub struct FactReader {
    proc: Proc,
    /// Where the v2 hierarchy is mounted.
    cgroup2: Option<PathBuf>,
    arguments_bytes: usize,
    environment: Vec<String>,
}

impl FactReader {
    /// A reader of those facts that the options ask for.
    pub fn new(proc: &Proc, options: &Options) -> Self {
        let mountinfo = read_up_to(&proc.root().join("self/mountinfo"), LONGEST).unwrap_or_default();
        let cgroup2 = mounts::parse(&mountinfo).into_iter().find(|mount| mount.kind == "cgroup2");
        FactReader {
            proc: proc.clone(),
            cgroup2: cgroup2.map(|mount| as_path(&mount.point).to_owned()),
            arguments_bytes: options.arguments_bytes,
            environment: options.environment.clone(),
        }
    }

    /// User, group, numbers and cgroups: what a forked process has for itself. `parent` is not
    /// among them.
    pub fn of_fork(&self, pid: u32) -> ProcessFacts {
        let mut facts = ProcessFacts::default();
        if let Some(status) = self.proc.status(pid) {
            (facts.real_uid, facts.uid) = (status.real_uid, status.uid);
            (facts.gid, facts.container_pid) = (status.gid, status.inner_number());
        }
        if let Some(text) = self.proc.read(pid, "cgroup") {
            self.cgroups(&text, &mut facts);
        }
        facts
    }

    /// The same, and what came with the program that it runs.
    pub fn of_program(&self, pid: u32, views: &mut Views) -> ProcessFacts {
        let mut facts = self.of_fork(pid);
        facts.executable = self.place(pid, "exe", views);
        facts.work_dir = self.place(pid, "cwd", views);
        if let Some(text) = read_up_to(&self.proc.path(pid, "cmdline"), self.arguments_bytes as u64 + 1) {
            let (arguments, cut) = arguments(&text, self.arguments_bytes);
            (facts.arguments, facts.arguments_cut) = (Some(arguments), cut);
        }
        if !self.environment.is_empty()
            && let Some(text) = self.proc.read(pid, "environ")
        {
            facts.environment = Some(chosen(&text, &self.environment));
        }
        facts
    }

    /// What the process has used so far: `/proc/PID/io`, and CPU time exact to a tick.
    pub fn counters(&self, pid: u32) -> Counters {
        let mut counters = self.proc.read(pid, "io").map(|text| stat::counters(&text)).unwrap_or_default();
        counters.cpu = self.proc.stat(pid).map(|stat| stat.cpu);
        counters
    }

    /// How long a thread was runnable and waited for a processor so far, in nanoseconds.
    pub fn run_delay_ns(&self, tid: u32) -> Option<u64> {
        stat::run_delay_ns(&self.proc.read(tid, "schedstat")?)
    }

    /// Where a link of `/proc/PID` leads, as the host sees it.
    fn place(&self, pid: u32, name: &str, views: &mut Views) -> Option<Vec<u8>> {
        let link = self.proc.link(pid, name)?;
        let view = views.of(&self.proc, pid);
        let file = views.look(view.as_ref(), libc::AT_FDCWD, &self.proc.c_path(pid, name), 0).ok()?;
        views.paths(view.as_ref(), &link, &file).host
    }

    fn cgroups(&self, text: &[u8], facts: &mut ProcessFacts) {
        let (v2, v1) = cgroups(text);
        facts.cgroup_id = v2.as_deref().and_then(|path| self.cgroup_id(path));
        (facts.cgroup_path, facts.cgroup_v1) = (v2, (!v1.is_empty()).then_some(v1));
    }

    fn cgroup_id(&self, path: &[u8]) -> Option<u64> {
        // Outside of our own cgroup namespace there is no directory for it here.
        let below = as_path(path.strip_prefix(b"/")?);
        if below.components().any(|part| part.as_os_str().as_bytes() == b"..") {
            return None;
        }
        let dir: &Path = self.cgroup2.as_deref()?;
        std::fs::metadata(dir.join(below)).ok().map(|metadata| metadata.ino())
    }
}

type V1 = Vec<(String, Vec<u8>)>;

/// The path in the v2 hierarchy, and controller and path in each v1 hierarchy (cgroups(7),
/// `/proc/PID/cgroup`).
fn cgroups(text: &[u8]) -> (Option<Vec<u8>>, V1) {
    let (mut v2, mut v1) = (None, V1::new());
    for line in text.split(|&byte| byte == b'\n') {
        let mut fields = line.splitn(3, |&byte| byte == b':');
        let (Some(number), Some(controllers), Some(path)) = (fields.next(), fields.next(), fields.next()) else { continue };
        if number == b"0" && controllers.is_empty() {
            v2 = Some(path.to_vec());
            continue;
        }
        for controller in controllers.split(|&byte| byte == b',') {
            v1.push((String::from_utf8_lossy(controller).into_owned(), path.to_vec()));
        }
    }
    (v2, v1)
}

/// The first `most` bytes of a command line, and whether there was more.
pub fn arguments(text: &[u8], most: usize) -> (Vec<Vec<u8>>, bool) {
    let kept = &text[..text.len().min(most)];
    if kept.is_empty() {
        return (Vec::new(), !text.is_empty());
    }
    let kept = kept.strip_suffix(&[0]).unwrap_or(kept);
    (kept.split(|&byte| byte == 0).map(<[u8]>::to_vec).collect(), text.len() > most)
}

/// The variables of these names; the first of a name counts, as for getenv(3).
pub fn chosen(text: &[u8], names: &[String]) -> Vec<(String, Vec<u8>)> {
    let find = |name: &String| text.split(|&byte| byte == 0).find_map(|pair| pair.strip_prefix(name.as_bytes())?.strip_prefix(b"="));
    names.iter().filter_map(|name| Some((name.clone(), find(name)?.to_vec()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_of_cgroups() {
        let (v2, v1) = cgroups(b"9:name=systemd:/a:b\n5:cpu,cpuacct:/slurm/job_7\n0::/system.slice/x\nbad\n");
        assert_eq!(v2.as_deref(), Some(&b"/system.slice/x"[..]));
        let named = |name: &str| v1.iter().find(|(found, _)| found == name).map(|(_, path)| path.as_slice());
        assert_eq!(named("name=systemd"), Some(&b"/a:b"[..]));
        assert_eq!(named("cpuacct"), Some(&b"/slurm/job_7"[..]));
        assert_eq!(v1.len(), 3);
    }

    #[test]
    fn command_lines_are_cut_and_say_so() {
        assert_eq!(arguments(b"cp\0a b\0\0", 100), (vec![b"cp".to_vec(), b"a b".to_vec(), Vec::new()], false));
        assert_eq!(arguments(b"cp\0abc\0", 5), (vec![b"cp".to_vec(), b"ab".to_vec()], true));
        assert_eq!(arguments(b"", 5), (Vec::new(), false));
    }

    #[test]
    fn environment_by_whole_names() {
        let names = ["JOB".to_owned(), "NONE".to_owned(), "EMPTY".to_owned()];
        let found = chosen(b"JOBS=1\0JOB=7=x\0EMPTY=\0JOB=8\0", &names);
        assert_eq!(found, [("JOB".to_owned(), b"7=x".to_vec()), ("EMPTY".to_owned(), Vec::new())]);
    }

    #[test]
    fn this_process_has_facts() {
        let proc = Proc::here();
        let reader = FactReader::new(&proc, &Options::default());
        let facts = reader.of_program(std::process::id(), &mut Views::new(&proc).unwrap());
        assert_eq!(facts.executable, Some(std::env::current_exe().unwrap().into_os_string().into_encoded_bytes()));
        // SAFETY: geteuid(2) has no effect.
        assert_eq!(facts.uid, Some(unsafe { libc::geteuid() }));
        assert_eq!(facts.arguments.map(|all| all.len()), Some(std::env::args_os().len()));
        assert!(reader.counters(std::process::id()).rchar_bytes > Some(0));
    }
}

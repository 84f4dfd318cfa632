//! The processes that use the overlay: facts of `/proc` when first seen and after an exec, counters
//! while they live, and their end.

use std::fs;
use std::hash::BuildHasher;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use flowmine_files::kernel;
use flowmine_trace::clock;
use flowmine_trace::record::{Counters, CpuTime, ProcessChange, ProcessFacts, ProcessKey, ProcessNews};
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::report::{Item, Reporter};
use crate::room::Room;

/// A process that has used the overlay.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) key: ProcessKey,
    /// Readable when it has ended; without it (Linux before 5.3) the end is noticed when `/proc`
    /// has another process, or none.
    pidfd: Option<OwnedFd>,
    /// `/proc/PID/cmdline`, kept open where there is room, since it is read at each open.
    command_line: Option<fs::File>,
    /// Hash of its command line and program, to notice an exec.
    program: AtomicU64,
}

/// Options: which environment variables and how much of a command line are kept of a process.
#[derive(Debug, Clone)]
pub(crate) struct KeptOfProcess {
    pub(crate) environment: Vec<String>,
    pub(crate) arguments_bytes: usize,
}

/// The processes that live, by their numbers.
#[derive(Debug)]
pub(crate) struct Processes {
    proc: PathBuf,
    wanted: KeptOfProcess,
    room: Arc<Room>,
    /// Programs can change their users (set-user-id).
    privileged: bool,
    live: Mutex<FxHashMap<u32, Arc<Process>>>,
    /// Number of the command, 0 before it is known.
    command: AtomicU32,
}

impl Processes {
    pub(crate) fn new(proc: PathBuf, wanted: KeptOfProcess, room: Arc<Room>, privileged: bool) -> Self {
        Processes { proc, wanted, room, privileged, live: Mutex::default(), command: AtomicU32::new(0) }
    }

    /// The process of a thread; news of it goes out when it was not known.
    pub(crate) fn of_thread(&self, tid: u32, reporter: &Reporter) -> Option<Arc<Process>> {
        let status = kernel::read(self.proc.join(format!("{tid}/status"))).ok()?;
        let pid = status_field(&status, b"Tgid:")?;
        self.of(pid, self.privileged, reporter)
    }

    /// The process of this number; `late` says whether it can have changed its user before now.
    fn of(&self, pid: u32, late: bool, reporter: &Reporter) -> Option<Arc<Process>> {
        let stat = Stat::read(&self.proc, pid)?;
        let key = stat.key(pid);
        let kept = |live: &FxHashMap<u32, Arc<Process>>| live.values().filter(|process| process.pidfd.is_some()).count();
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        if kept(&live) >= self.room.processes {
            // Many that are short: those that have ended make room. Without a descriptor their files would have to be read, and one in the middle of an exec
            // lets us wait.
            let command = self.command.load(Ordering::Relaxed);
            let over = |process: &Process| process.key.pid != command && process.pidfd.is_some() && process.has_ended(&self.proc);
            let ended: Vec<_> = live.extract_if(|_, process| over(process)).collect();
            drop(live);
            for (_, process) in ended {
                self.tell_end(&process, reporter);
            }
            live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        }
        if let Some(process) = live.get(&pid)
            && process.key == key
        {
            return Some(Arc::clone(process));
        }
        // Beyond that a process is known by its number and start, and how it ended is not known.
        let may = kept(&live) < self.room.processes;
        // SAFETY: the descriptor that is returned is ours.
        let pidfd = unsafe {
            let fd = if may { libc::syscall(libc::SYS_pidfd_open, pid as libc::pid_t, 0) } else { -1 };
            (fd >= 0).then(|| OwnedFd::from_raw_fd(fd as i32))
        };
        let process = Arc::new(Process {
            key,
            pidfd,
            command_line: if self.room.plenty && may { kernel::open(self.proc.join(format!("{pid}/cmdline"))).ok() } else { None },
            program: AtomicU64::new(0),
        });
        let replaced = live.insert(pid, Arc::clone(&process));
        drop(live);
        if let Some(replaced) = replaced {
            self.tell(reporter, &replaced, ProcessChange::Exit(None), ProcessFacts::default(), Counters::default(), clock::boot_ns());
        }
        let facts = self.facts(&process, &stat, late);
        process.program.store(program_hash(&facts), Ordering::Relaxed);
        self.tell(reporter, &process, ProcessChange::Fork, facts, Counters::default(), key.start_boot_ns);
        Some(process)
    }

    /// Looks whether a process has become another program.
    pub(crate) fn look_again(&self, process: &Process, reporter: &Reporter) {
        self.look_at_program(process, self.privileged, reporter);
    }

    fn look_at_program(&self, process: &Process, late: bool, reporter: &Reporter) {
        let (arguments, arguments_cut) = self.arguments(process);
        let facts = ProcessFacts { executable: self.link(process.key.pid, "exe"), arguments, arguments_cut, ..ProcessFacts::default() };
        let hash = program_hash(&facts);
        if process.program.swap(hash, Ordering::Relaxed) == hash {
            return;
        }
        let Some(stat) = Stat::read(&self.proc, process.key.pid) else { return };
        if stat.key(process.key.pid) == process.key {
            let facts = self.facts(process, &stat, late);
            self.tell(reporter, process, ProcessChange::Exec, facts, Counters::default(), clock::boot_ns());
        }
    }

    fn tell(
        &self,
        reporter: &Reporter,
        process: &Process,
        change: ProcessChange,
        facts: ProcessFacts,
        counters: Counters,
        at_boot_ns: u64,
    ) {
        reporter.send(Item::Process(Box::new(ProcessNews { process: process.key, at_boot_ns, change, facts, counters })));
    }

    /// Reports what the live ones have used and which have ended. The end of the command is
    /// reported by who waits for it.
    pub(crate) fn sweep(&self, reporter: &Reporter) {
        let command = self.command.load(Ordering::Relaxed);
        let mut ended = Vec::new();
        let mut running = Vec::new();
        self.live.lock().unwrap_or_else(PoisonError::into_inner).retain(|&pid, process| {
            let over = process.has_ended(&self.proc);
            if over && command != pid {
                ended.push(Arc::clone(process));
            } else {
                running.push(Arc::clone(process));
            }
            !over || command == pid
        });
        for process in running {
            let counters = self.counters(&process.key);
            if counters != Counters::default() {
                self.tell(reporter, &process, ProcessChange::Update, ProcessFacts::default(), counters, clock::boot_ns());
            }
        }
        for process in ended {
            self.tell_end(&process, reporter);
        }
    }

    fn tell_end(&self, process: &Process, reporter: &Reporter) {
        let counters = self.counters(&process.key);
        self.tell(reporter, process, ProcessChange::Exit(exit_status(process)), ProcessFacts::default(), counters, clock::boot_ns());
    }

    /// Reports the end of a process: what it has used up to now.
    pub(crate) fn update(&self, process: &Process, reporter: &Reporter) {
        let counters = self.counters(&process.key);
        if counters != Counters::default() {
            self.tell(reporter, process, ProcessChange::Update, ProcessFacts::default(), counters, clock::boot_ns());
        }
    }

    /// The command has been executed.
    pub(crate) fn command_started(&self, pid: u32, reporter: &Reporter) -> Option<Arc<Process>> {
        self.command.store(pid, Ordering::Relaxed);
        // We have started it as who we are.
        let process = self.of(pid, false, reporter)?;
        self.look_at_program(&process, false, reporter);
        Some(process)
    }

    /// Reports that the command has ended, with its status of wait(2) and its counters.
    pub(crate) fn command_ended(&self, process: &Process, status: i32, counters: Counters, reporter: &Reporter) {
        self.live.lock().unwrap_or_else(PoisonError::into_inner).remove(&process.key.pid);
        self.command.store(0, Ordering::Relaxed);
        self.tell(reporter, process, ProcessChange::Exit(Some(status)), ProcessFacts::default(), counters, clock::boot_ns());
    }

    fn arguments(&self, process: &Process) -> (Option<Vec<Vec<u8>>>, bool) {
        let opened = match &process.command_line {
            Some(_) => None,
            None => kernel::open(self.proc.join(format!("{}/cmdline", process.key.pid))).ok(),
        };
        let Some(file) = process.command_line.as_ref().or(opened.as_ref()) else { return (None, false) };
        // One more than is kept, to know whether there is more.
        let mut line = vec![0; self.wanted.arguments_bytes + 1];
        let mut length = 0;
        while length < line.len() {
            match file.read_at(&mut line[length..], length as u64) {
                Ok(0) => break,
                Ok(n) => length += n,
                Err(_) => return (None, false),
            }
        }
        line.truncate(length);
        if line.is_empty() {
            // A kernel thread, a zombie, or a process in the middle of its exit.
            return (None, false);
        }
        let cut = line.len() > self.wanted.arguments_bytes;
        line.truncate(self.wanted.arguments_bytes);
        if line.last() == Some(&0) {
            line.pop();
        }
        (Some(line.split(|&byte| byte == 0).map(<[u8]>::to_vec).collect()), cut)
    }

    fn facts(&self, process: &Process, stat: &Stat, seen_late: bool) -> ProcessFacts {
        let pid = process.key.pid;
        let status = kernel::read(self.proc.join(format!("{pid}/status"))).unwrap_or_default();
        let cgroup = kernel::read(self.proc.join(format!("{pid}/cgroup"))).unwrap_or_default();
        let (arguments, arguments_cut) = self.arguments(process);
        let (cgroup_path, cgroup_v1) = cgroups(&cgroup);
        let innermost = status_line(&status, b"NSpid:")
            .and_then(|line| number(line.split(|b| b.is_ascii_whitespace()).rfind(|part| !part.is_empty())?));
        ProcessFacts {
            parent: Stat::read(&self.proc, stat.parent).map(|parent| parent.key(stat.parent)),
            container_pid: innermost.filter(|&inner| inner != pid),
            // Second of real, effective, saved, file system.
            uid: status_line(&status, b"Uid:").and_then(|line| field(line, 1)),
            real_uid: status_line(&status, b"Uid:").and_then(|line| field(line, 0)),
            gid: status_line(&status, b"Gid:").and_then(|line| field(line, 1)),
            cgroup_id: None,
            cgroup_path,
            cgroup_v1: (!cgroup_v1.is_empty()).then_some(cgroup_v1),
            executable: self.link(pid, "exe"),
            work_dir: self.link(pid, "cwd"),
            arguments,
            arguments_cut,
            environment: self.environment(pid),
            seen_late,
        }
    }

    fn link(&self, pid: u32, name: &str) -> Option<Vec<u8>> {
        let path = fs::read_link(self.proc.join(format!("{pid}/{name}"))).ok()?;
        Some(std::os::unix::ffi::OsStringExt::into_vec(path.into_os_string()))
    }

    fn environment(&self, pid: u32) -> Option<Vec<(String, Vec<u8>)>> {
        if self.wanted.environment.is_empty() {
            return None;
        }
        let all = kernel::read(self.proc.join(format!("{pid}/environ"))).ok()?;
        let mut chosen = Vec::new();
        for pair in all.split(|&byte| byte == 0) {
            let Some(equals) = pair.iter().position(|&byte| byte == b'=') else { continue };
            if let Some(name) = self.wanted.environment.iter().find(|name| name.as_bytes() == &pair[..equals]) {
                chosen.push((name.clone(), pair[equals + 1..].to_vec()));
            }
        }
        Some(chosen)
    }

    pub(crate) fn counters(&self, key: &ProcessKey) -> Counters {
        let Some(stat) = Stat::read(&self.proc, key.pid).filter(|stat| stat.key(key.pid) == *key) else {
            return Counters::default();
        };
        let io = kernel::read(self.proc.join(format!("{}/io", key.pid))).unwrap_or_default();
        let of = |name: &[u8]| status_line(&io, name).and_then(number_u64);
        Counters {
            cpu: Some(stat.cpu),
            run_delay_ns: None,
            rchar_bytes: of(b"rchar:"),
            wchar_bytes: of(b"wchar:"),
            read_calls: of(b"syscr:"),
            write_calls: of(b"syscw:"),
            read_bytes: of(b"read_bytes:"),
            write_bytes: of(b"write_bytes:"),
            cancelled_write_bytes: of(b"cancelled_write_bytes:"),
            directories: None,
        }
    }
}

impl Process {
    fn has_ended(&self, proc: &Path) -> bool {
        match &self.pidfd {
            Some(pidfd) => {
                let mut poll = libc::pollfd { fd: pidfd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
                // SAFETY: one element, as stated.
                unsafe { libc::poll(&mut poll, 1, 0) > 0 }
            }
            None => Stat::read(proc, self.key.pid).is_none_or(|stat| stat.key(self.key.pid) != self.key),
        }
    }
}

/// The status of wait(2) of an ended process, where the kernel gives it to others than the parent
/// (`PIDFD_GET_INFO` with `PIDFD_INFO_EXIT`, Linux 6.15).
fn exit_status(process: &Process) -> Option<i32> {
    #[repr(C)]
    #[derive(Default)]
    struct Info {
        mask: u64,
        cgroup: u64,
        numbers: [u32; 11],
        exit_code: i32,
    }
    const EXIT: u64 = 1 << 3;
    let mut info = Info { mask: EXIT, ..Info::default() };
    // `_IOWR(0xFF, 11, struct pidfd_info)` of the first 64 bytes.
    const { assert!(size_of::<Info>() == 64) };
    // SAFETY: the kernel writes as many bytes as the request's number says.
    let result = unsafe { libc::ioctl(process.pidfd.as_ref()?.as_raw_fd(), 0xc040_ff0b, &mut info) };
    (result == 0 && info.mask & EXIT != 0).then_some(info.exit_code)
}

fn program_hash(facts: &ProcessFacts) -> u64 {
    FxBuildHasher.hash_one((&facts.executable, &facts.arguments))
}

/// What a thread was doing when it closed a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The thread closes the file by a call, as far as can be known.
    Running,
    /// In the middle of an exec, which closes what is marked so. It holds a lock then
    /// (`exec_update_lock`) that `stat`, `io`, `syscall` and more of `/proc` wait for, and
    /// process_vm_readv(2): who answers its requests must not touch them.
    Exec,
    /// The thread ends, and its descriptors are closed.
    Exiting,
}

impl Phase {
    /// By `/proc/TID/statm`, which takes no lock: who ends has given its memory back before its
    /// descriptors are closed; in an exec the new memory is there, but nothing of a program is in
    /// it.
    pub(crate) fn new(statm: &[u8]) -> Self {
        let mut fields = statm.split(|byte| byte.is_ascii_whitespace()).map(|field| number_u64(field).unwrap_or(0));
        let (size, text) = (fields.next().unwrap_or(0), fields.nth(2).unwrap_or(0));
        match (size, text) {
            (0, _) => Phase::Exiting,
            (_, 0) => Phase::Exec,
            _ => Phase::Running,
        }
    }
}

/// What is needed of `/proc/PID/stat`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stat {
    parent: u32,
    cpu: CpuTime,
    start_ticks: u64,
}

impl Stat {
    fn read(proc: &Path, pid: u32) -> Option<Self> {
        Self::parse(&kernel::read(proc.join(format!("{pid}/stat"))).ok()?)
    }

    /// Fields count from after the last parenthesis, since a name may hold anything.
    fn parse(line: &[u8]) -> Option<Self> {
        let after = line.iter().rposition(|&byte| byte == b')')?;
        let fields: Vec<&[u8]> = line[after + 1..].split(|b| b.is_ascii_whitespace()).filter(|part| !part.is_empty()).collect();
        let at = |field: usize| fields.get(field - 3).and_then(|part| number_u64(part));
        Some(Stat {
            parent: u32::try_from(at(4)?).ok()?,
            cpu: CpuTime { user_ns: at(14)? * tick_ns(), system_ns: at(15)? * tick_ns() },
            start_ticks: at(22)?,
        })
    }

    fn key(&self, pid: u32) -> ProcessKey {
        ProcessKey { pid, start_boot_ns: self.start_ticks * tick_ns() }
    }
}

/// Nanoseconds of a tick of `/proc` (`USER_HZ`, sysconf(3)).
fn tick_ns() -> u64 {
    // SAFETY: only returns a number.
    let hertz = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    1_000_000_000 / u64::try_from(hertz).unwrap_or(100).max(1)
}

fn status_line<'a>(text: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    text.split(|&byte| byte == b'\n').find_map(|line| line.strip_prefix(name))
}

fn status_field(text: &[u8], name: &[u8]) -> Option<u32> {
    status_line(text, name).and_then(number)
}

fn field(line: &[u8], index: usize) -> Option<u32> {
    line.split(|b| b.is_ascii_whitespace()).filter(|part| !part.is_empty()).nth(index).and_then(number)
}

fn number_u64(text: &[u8]) -> Option<u64> {
    std::str::from_utf8(text).ok()?.trim().parse().ok()
}

fn number(text: &[u8]) -> Option<u32> {
    number_u64(text).and_then(|number| u32::try_from(number).ok())
}

/// Path in the v2 hierarchy, and (controllers, path) in the others.
type Cgroups = (Option<Vec<u8>>, Vec<(String, Vec<u8>)>);

/// Lines `ID:CONTROLLERS:PATH` of cgroups(7).
fn cgroups(text: &[u8]) -> Cgroups {
    let (mut unified, mut others) = (None, Vec::new());
    for line in text.split(|&byte| byte == b'\n') {
        let mut parts = line.splitn(3, |&byte| byte == b':');
        let (Some(id), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next()) else { continue };
        if id == b"0" && controllers.is_empty() {
            unified = Some(path.to_vec());
        } else {
            others.push((String::from_utf8_lossy(controllers).into_owned(), path.to_vec()));
        }
    }
    (unified, others)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_and_spaces_does_not_shift_the_fields() {
        let line = b"42 (a) b (c) S 7 42 42 0 -1 4194564 1 2 3 4 150 25 0 0 20 0 1 0 12345 4096 1\n";
        let stat = Stat::parse(line).unwrap();
        assert_eq!((stat.parent, stat.start_ticks), (7, 12345));
        assert_eq!(stat.cpu, CpuTime { user_ns: 1_500_000_000, system_ns: 250_000_000 });
        assert_eq!(stat.key(42).start_boot_ns, 123_450_000_000);
        assert_eq!(Stat::parse(b"42 (x) S 7"), None);
    }

    #[test]
    fn why_a_thread_closes() {
        assert_eq!(Phase::new(b"0 0 0 0 0 0 0\n"), Phase::Exiting);
        assert_eq!(Phase::new(b"34 2 0 0 0 34 0\n"), Phase::Exec);
        assert_eq!(Phase::new(b"600 200 100 6 0 90 0\n"), Phase::Running);
        assert_eq!(Phase::new(&fs::read("/proc/thread-self/statm").unwrap()), Phase::Running);
    }

    #[test]
    fn cgroups_of_both_versions() {
        let (unified, others) = cgroups(b"4:freezer:/slurm/job_1\n1:name=systemd:/init\n0::/user\n");
        assert_eq!(unified.as_deref(), Some(&b"/user"[..]));
        assert_eq!(others, [("freezer".to_owned(), b"/slurm/job_1".to_vec()), ("name=systemd".to_owned(), b"/init".to_vec())]);
    }
}

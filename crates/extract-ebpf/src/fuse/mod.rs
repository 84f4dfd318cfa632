//! Tracing by an overlay: directories of the command are served by us, so that nothing done in them is missed.
//!
//! In: a command and directories. Out: records of what it did to files below them, and the command's exit status. The overlay lies on the directories
//! themselves, in a mount namespace that only the command and its children see; requests are done on the files underneath, which the tracer
//! reaches through descriptors that it opened before. Everything goes with the namespace, also when the tracer is killed.
//!
//! It refuses `/` as a directory, and hosts that give neither `CAP_SYS_ADMIN` nor a user namespace ([`facts::decide`]).

mod attributes;
mod caller;
mod directories;
pub mod facts;
mod files;
mod handles;
mod identity;
mod locks;
mod names;
mod namespace;
mod nodes;
mod process;
mod refused;
mod report;
mod room;
mod serve;
mod system;
mod wire;

use std::ffi::{CString, OsString};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use flowmine_schema::Writer;

use crate::host::HostFacts;
use crate::options::Options;
use crate::record::Record;
use crate::recorder::{Recorder, TraceError, WayIn};
use crate::stop::{Ended, Stop};
pub use namespace::Program;
use report::{Item, Receiver};
use serve::{Session, Tracer};

/// What stands of this way in the table `hosts`.
pub fn way_in() -> WayIn {
    WayIn { backend: "fuse", hooks: Some("overlay".to_owned()), ring_bytes: None }
}

/// Traces a command in the directories that the filters name (the current one when none is named) into a dataset. See [`run`].
///
/// # Errors
/// Those of [`run`].
pub fn trace(command: &[OsString], options: &Options, host: HostFacts, writer: Writer, stop: &Stop) -> Result<Ended, TraceError> {
    let directory = std::env::current_dir().map_err(TraceError::system("the current directory"))?;
    let program = Program { arguments: command.to_vec(), environment: std::env::vars_os().collect(), directory };
    stop.before_command();
    let mut recorder = Recorder::begin(writer, host, way_in(), options, crate::command::words(command).as_deref())?;
    let status = run(&program, &options.filters.directories, options, &mut recorder, stop)?;
    Ok(Ended { outcome: recorder.end(None)?, status: Some(status), failed: None })
}

/// Runs a command with an overlay over `directories` and records what happens in them.
///
/// It ends when the last process that uses the overlay has ended, which can be after the command. Signals that `stop` tells
/// go to the command; when it is gone, what it left behind loses the overlay. When the time of the trace is over, nothing more is recorded, but the
/// command goes on to its end.
///
/// # Errors
/// When the overlay or the command cannot be started, and when the dataset cannot be written.
pub fn run(
    program: &Program,
    directories: &[PathBuf],
    options: &Options,
    recorder: &mut Recorder,
    stop: &Stop,
) -> Result<ExitStatus, TraceError> {
    if !options.filters.pids.is_empty() || !options.filters.cgroups.is_empty() {
        return Err(TraceError::NotHere("FUSE sees the command that it starts, whole: filters by process or cgroup take eBPF".into()));
    }
    let host = facts::FuseFacts::read(Path::new("/"));
    if let facts::FuseDecision::No { why, enable } = facts::decide(&host) {
        let enable = enable.map(|line| format!("; `{line}` would change that")).unwrap_or_default();
        return Err(TraceError::NotHere(format!("FUSE: {why}{enable}")));
    }
    let privileged = namespace::privileged();
    let roots = roots(directories, &program.directory)?;
    let mounts = roots.iter().map(Root::mount).collect::<Result<Vec<_>, _>>()?;
    let (limit, descriptors) = raise_limit();
    let room = Arc::new(room::Room::new(descriptors, roots.len()));
    lift_file_size();
    let (reporter, receiver) = report::channel();
    let proc = PathBuf::from("/proc");
    let wanted = process::Wanted { environment: options.environment.clone(), arguments_bytes: options.arguments_bytes };
    let own = Arc::new(identity::Own::read(proc.clone(), privileged));
    let tracer = Arc::new(Tracer {
        proc: proc.clone(),
        keeper: Arc::new(nodes::Keeper::new(Arc::clone(&room), own.opens_by_handle())),
        own,
        room: Arc::clone(&room),
        reporter,
        threads: caller::Threads::new(proc.clone(), Arc::clone(&room)),
        processes: process::Processes::new(proc, wanted, room),
        detail: options.detail,
        filters: options.filters.clone(),
        next_handle: AtomicU64::new(1),
        file_systems: Mutex::default(),
        overlays: OnceLock::new(),
    });
    let mut started = namespace::start(program, &mounts, privileged, limit, &tracer)?;
    let mut sessions = Vec::new();
    for (device, root) in std::mem::take(&mut started.devices).into_iter().zip(roots) {
        let system = TraceError::system(format!("serving an overlay on {}", root.path.display()));
        let session = Session::begin(Arc::clone(&tracer), device, root, privileged, host.pages()).map_err(system)?;
        session.serve().map_err(TraceError::system("starting a thread"))?;
        sessions.push(session);
    }
    let over = Arc::new(AtomicBool::new(false));
    let watch = Watch { tracer, sessions, over: Arc::clone(&over), flush_every: options.flush_every };
    let served = watch.sessions.len();
    std::thread::Builder::new()
        .name("flowmine-watch".into())
        .spawn(move || watch.run())
        .map_err(TraceError::system("starting a thread"))?;
    stop.begin();
    started.go().map_err(TraceError::system("letting the command go"))?;
    // On an error the receiver goes, and what serves does not wait for it any more.
    let result = record(&receiver, served, recorder, stop, &over);
    over.store(true, Ordering::Relaxed);
    let name = || started.failed_at().map_or_else(|| format!("executing {}", program.arguments[0].display()), str::to_owned);
    result?.map_err(|error| TraceError::System { what: name(), source: error })
}

/// A directory to lie over.
struct Root {
    path: PathBuf,
    fd: OwnedFd,
}

impl Root {
    /// Mount flags as underneath, so that what is read-only or without set-id programs stays so.
    fn mount(&self) -> Result<namespace::Mount, TraceError> {
        let of = |errno| TraceError::system(format!("statvfs(3) of {}", self.path.display()))(std::io::Error::from_raw_os_error(errno));
        let stat = system::stat(self.fd.as_raw_fd()).map_err(of)?;
        // SAFETY: all-zero is a valid `statvfs`, which the call fills in.
        let bits = unsafe {
            let mut stat: libc::statvfs = std::mem::zeroed();
            system::positive(libc::fstatvfs(self.fd.as_raw_fd(), &mut stat)).map_err(of)?;
            stat.f_flag
        };
        let flags = [
            (libc::ST_RDONLY, libc::MS_RDONLY),
            (libc::ST_NOSUID, libc::MS_NOSUID),
            (libc::ST_NODEV, libc::MS_NODEV),
            (libc::ST_NOEXEC, libc::MS_NOEXEC),
            (libc::ST_NOATIME, libc::MS_NOATIME),
            (libc::ST_NODIRATIME, libc::MS_NODIRATIME),
        ];
        let flags = flags.iter().filter(|(has, _)| bits & has != 0).fold(0, |all, (_, flag)| all | flag);
        Ok(namespace::Mount { at: self.path.clone(), mode: stat.st_mode, flags })
    }
}

/// Opens the directories, without those that lie in another of them.
fn roots(directories: &[PathBuf], current: &Path) -> Result<Vec<Root>, TraceError> {
    let all = if directories.is_empty() { &[current.to_owned()][..] } else { directories };
    let mut paths = Vec::new();
    for directory in all {
        let directory = current.join(directory);
        let path = directory.canonicalize().map_err(TraceError::system(directory.display().to_string()))?;
        if path == Path::new("/") {
            return Err(TraceError::NotHere("FUSE: an overlay cannot lie on /; name the directories that matter".into()));
        }
        paths.push(path);
    }
    paths.sort();
    paths.dedup();
    let inner: Vec<bool> = paths.iter().map(|path| paths.iter().any(|other| path != other && path.starts_with(other))).collect();
    let mut roots = Vec::new();
    for (path, _) in paths.into_iter().zip(inner).filter(|(_, inner)| !inner) {
        let name = CString::new(path.as_os_str().as_bytes()).map_err(|error| TraceError::NotHere(error.to_string()))?;
        // SAFETY: a zero-terminated path; the descriptor that is returned is ours.
        let fd = unsafe {
            let fd = libc::open(name.as_ptr(), libc::O_PATH | libc::O_DIRECTORY | libc::O_CLOEXEC);
            if fd < 0 {
                return Err(TraceError::system(path.display().to_string())(std::io::Error::last_os_error()));
            }
            OwnedFd::from_raw_fd(fd)
        };
        roots.push(Root { path, fd });
    }
    Ok(roots)
}

/// What the command has open and what the kernel knows takes descriptors here: as many as we may have. Returns the limit as it was, and how many there are now.
fn raise_limit() -> (libc::rlimit, usize) {
    let mut limit = libc::rlimit { rlim_cur: 1024, rlim_max: 1024 };
    let most = std::fs::read_to_string("/proc/sys/fs/nr_open").ok().and_then(|text| text.trim().parse().ok()).unwrap_or(1 << 20);
    // SAFETY: the structures are of this frame.
    unsafe {
        libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit);
        let all = libc::rlimit { rlim_cur: most, rlim_max: limit.rlim_max.max(most) };
        if libc::setrlimit(libc::RLIMIT_NOFILE, &all) != 0 {
            libc::setrlimit(libc::RLIMIT_NOFILE, &libc::rlimit { rlim_cur: limit.rlim_max, ..limit });
        }
        let mut now = limit;
        libc::getrlimit(libc::RLIMIT_NOFILE, &mut now);
        (limit, usize::try_from(now.rlim_cur).unwrap_or(usize::MAX))
    }
}

/// The limit of file sizes as it was.
static FILE_SIZE: OnceLock<libc::rlimit> = OnceLock::new();

/// What the command writes is written here, too: the kernel has held it to the command's limit by then, which need not be ours any more.
fn lift_file_size() {
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: the structures are of this frame.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) == 0 {
            FILE_SIZE.get_or_init(|| limit);
            libc::setrlimit(libc::RLIMIT_FSIZE, &libc::rlimit { rlim_cur: limit.rlim_max, ..limit });
        }
    }
}

/// In the child before its exec: gives it back the limit that it had.
fn restore_file_size() {
    if let Some(limit) = FILE_SIZE.get() {
        // SAFETY: a plain system call.
        unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, limit) };
    }
}

/// Looks after what no request tells: ends of processes and threads, counters, sums that are due.
struct Watch {
    tracer: Arc<Tracer>,
    sessions: Vec<Arc<Session>>,
    over: Arc<AtomicBool>,
    flush_every: Duration,
}

impl Watch {
    fn run(self) {
        let sweep_every = self.flush_every.clamp(Duration::from_millis(100), Duration::from_secs(1));
        let (mut swept, mut told) = (Instant::now(), Instant::now());
        while !self.over.load(Ordering::Relaxed) {
            std::thread::park_timeout(Duration::from_millis(20));
            if swept.elapsed() >= sweep_every {
                swept = Instant::now();
                self.tracer.threads.sweep(|thread, pieces| files::tell_gathered(&self.tracer, thread, pieces));
                self.tracer.processes.sweep(&self.tracer.reporter);
            }
            if told.elapsed() >= self.flush_every {
                told = Instant::now();
                self.tell_totals();
            }
        }
        self.tracer.threads.drain(|thread, pieces| files::tell_gathered(&self.tracer, thread, pieces));
        self.tell_totals();
        self.tracer.processes.sweep(&self.tracer.reporter);
        self.tracer.reporter.send(Item::Over);
    }

    fn tell_totals(&self) {
        for loss in self.tracer.room.take_losses() {
            self.tracer.reporter.send(Item::Loss(loss));
        }
        for totals in self.sessions.iter().flat_map(|session| session.handles.all()).flat_map(|handle| handle.take_totals()) {
            self.tracer.reporter.send(Item::Totals(totals));
        }
    }
}

/// Takes records until the command and the last user of the overlay have ended.
fn record(
    receiver: &Receiver,
    mut served: usize,
    recorder: &mut Recorder,
    stop: &Stop,
    over: &AtomicBool,
) -> Result<std::io::Result<ExitStatus>, TraceError> {
    let mut command = None;
    let mut status = None;
    let mut ended = false;
    while !ended {
        let time_is_over = stop.time_is_over();
        for item in receiver.take(Duration::from_millis(100)) {
            match item {
                Item::Operation(_) | Item::Totals(_) | Item::Process(_) | Item::Loss(_) if time_is_over => {}
                Item::Operation(row) => recorder.take(&Record::Operation(row.operation()))?,
                Item::Totals(totals) => recorder.take(&Record::Totals(totals))?,
                Item::Loss(loss) => recorder.take(&Record::Loss(loss))?,
                Item::Process(news) => recorder.take(&Record::Process(news))?,
                Item::Started(pid) => {
                    recorder.command_is(pid);
                    command = Some(pid);
                }
                Item::Ended(of_command) => status = Some(of_command),
                Item::Unmounted => served = served.saturating_sub(1),
                Item::Over => ended = true,
            }
        }
        if status.is_some() {
            if served == 0 || stop.asked() {
                over.store(true, Ordering::Relaxed);
            }
        } else if let Some(pid) = command {
            for signal in stop.forwarded() {
                // SAFETY: our own child, which is not yet waited for as far as we know; a number that is gone is refused.
                unsafe { libc::kill(pid as libc::pid_t, signal) };
            }
        }
        recorder.tick()?;
    }
    Ok(status.unwrap_or_else(|| Ok(ExitStatus::from_raw(0))))
}

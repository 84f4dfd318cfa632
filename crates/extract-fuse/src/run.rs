//! One trace from its begin to its end: what serves is started, the command is let go, and what
//! arrives is recorded.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use flowmine_dataset::Writer;
use flowmine_trace::host::HostFacts;
use flowmine_trace::limits::{self, Limit, Needs};
use flowmine_trace::options::Options;
use flowmine_trace::record::Record;
use flowmine_trace::recorder::Backend;
use flowmine_trace::stop::{Ended, Stop};
use flowmine_trace::{Recorder, TraceError};

use crate::namespace::Program;
use crate::report::{Item, Receiver};
use crate::root::{Root, roots};
use crate::session::Session;
use crate::tracer::Tracer;
use crate::{caller, depot, facts, files, identity, namespace, nodes, open_files, process, report, room};

/// Pages of a request where memory is limited: each serving thread has twice this number.
const PAGES_OF_LITTLE: u16 = 32;

/// What the backend needs.
pub const ROOM: Needs = Needs { memory: 96 << 20, tasks: 9, descriptors: 144 };

/// What stands of this backend in the table `hosts`.
pub fn backend() -> Backend {
    Backend { name: "fuse", hooks: Some("overlay".to_owned()), ring_bytes: None }
}

/// Traces a command in the directories that the filters name (the current one when none is named)
/// into a dataset. See [`run`].
///
/// # Errors
/// Those of [`run`].
pub fn trace(command: &[OsString], options: &Options, host: HostFacts, writer: Writer, stop: &Stop) -> Result<Ended, TraceError> {
    let directory = std::env::current_dir().map_err(TraceError::system("the current directory"))?;
    let program = Program { arguments: command.to_vec(), directory };
    stop.before_command();
    let mut recorder = Recorder::begin(writer, host, backend(), options, flowmine_trace::command::words(command).as_deref())?;
    let status = run(&program, &options.filters.directories, options, &mut recorder, stop)?;
    Ok(Ended { outcome: recorder.end(None)?, status: Some(status), failed: None })
}

/// Runs a command with an overlay over `directories` and records what happens in them.
///
/// It ends when the last process that uses the overlay has ended, which can be after the command.
/// Signals that `stop` reports go to the command; when it is gone, by the second one that asks to
/// end what it left behind loses the overlay. When the time of the trace is over, nothing more is recorded, but the command goes on
/// to its end.
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
    limits::raise();
    // The kernel has held what the command writes to its limit before it comes here.
    Limit::FileSize.raise();
    let descriptors = Limit::Descriptors.now().map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
    let room = Arc::new(room::Room::new(descriptors, roots.len()));
    let depot = depot::Depot::new(descriptors).map_err(TraceError::system("starting a thread with descriptors of its own"))?;
    let files = Arc::new(open_files::OpenFiles::new(Arc::clone(&room), depot));
    let (reporter, receiver) = report::channel();
    let proc = PathBuf::from("/proc");
    let wanted = process::KeptOfProcess { environment: options.environment.clone(), arguments_bytes: options.arguments_bytes };
    let own = Arc::new(identity::Own::read(proc.clone(), privileged));
    let tracer = Arc::new(Tracer {
        proc: proc.clone(),
        keeper: Arc::new(nodes::Keeper::new(Arc::clone(&room), Arc::clone(&files), own.opens_by_handle())),
        own,
        files,
        locks: Arc::default(),
        room: Arc::clone(&room),
        reporter,
        threads: caller::Threads::new(proc.clone(), Arc::clone(&room)),
        processes: process::Processes::new(proc, wanted, room, privileged),
        detail: options.detail,
        filters: options.filters.clone(),
        next_handle: AtomicU64::new(1),
        file_systems: Mutex::default(),
        overlays: OnceLock::new(),
    });
    let mut started = namespace::start(program, &mounts, privileged, &tracer)?;
    let pages = if limits::memory_is_limited() { PAGES_OF_LITTLE } else { host.pages() };
    let mut sessions = Vec::new();
    for ((device, root), number) in std::mem::take(&mut started.devices).into_iter().zip(roots).zip(0..) {
        let system = TraceError::system(format!("serving an overlay on {}", root.path.display()));
        let session = Session::begin(number, Arc::clone(&tracer), device, root, privileged, pages).map_err(system)?;
        session.serve().map_err(TraceError::system("starting a thread"))?;
        sessions.push(session);
    }
    let over = Arc::new(AtomicBool::new(false));
    let watch = Watch { tracer: Arc::clone(&tracer), sessions, over: Arc::clone(&over), flush_every: options.flush_every };
    let served = watch.sessions.len();
    std::thread::Builder::new()
        .name("flowmine-watch".into())
        .spawn(move || watch.run())
        .map_err(TraceError::system("starting a thread"))?;
    stop.begin();
    started.go().map_err(TraceError::system("letting the command go"))?;
    // On an error the receiver goes, and what serves does not wait for it any more.
    let left = || tracer.in_namespace();
    let result = record(&receiver, served, recorder, stop, &over, left);
    over.store(true, Ordering::Relaxed);
    let name = || started.failed_at().map_or_else(|| format!("executing {}", program.arguments[0].display()), str::to_owned);
    result?.map_err(|error| TraceError::System { what: name(), source: error })
}

/// Looks after what no request shows: ends of processes and threads, counters, sums that are due.
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
    left: impl Fn() -> usize,
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
            let about = || {
                let left = left();
                format!(
                    "flowmine: the command has ended; {left} processes that it left behind still use the traced directories. A second signal ends the trace, and their access to these"
                )
            };
            if served == 0 || stop.ends_the_rest(about) {
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

//! When a trace is to end (signals, and the time that it was given), which signals go on to the
//! command, and how a trace ended.
//!
//! The tracer of a command takes its place: signals for the command come to us. So every signal
//! that can be caught and has a sender is passed on, and none of them ends us. What the kernel
//! sends (a key of the terminal, its hang-up, our own limits) is not: it reaches the command by
//! itself, as it goes to the whole process group, or is ours. A signal that is sent to all
//! processes around us reaches it by itself, too (`witness.rs`). A signal that was ignored when we
//! were started (nohup) stays ignored, by us and by the command.

use std::mem::zeroed;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::error::TraceError;
use crate::recorder::Outcome;
use crate::witness::Witness;

/// What a trace has recorded when it ends, and how its command ended.
#[derive(Debug)]
pub struct Ended {
    /// Numbers of recorded and lost operations.
    pub outcome: Outcome,
    /// How the command ended; `None` when there was none, or when it was not waited for.
    pub status: Option<ExitStatus>,
    /// Why nothing was seen any more from some moment on, though the command ran on.
    pub failed: Option<TraceError>,
}

/// Signals as bits, the first in the lowest.
type Bits = AtomicU64;

fn bit(signal: libc::c_int) -> u64 {
    u32::try_from(signal - 1).ok().and_then(|shift| 1u64.checked_shl(shift)).unwrap_or(0)
}

/// Signals that this process has caught since they were passed on last.
static CAME: Bits = Bits::new(0);
/// Those of them that a process sent to us.
static SENT: Bits = Bits::new(0);
/// Whether SIGCHLD was ignored when we were started.
static CHILDREN_IGNORED: AtomicBool = AtomicBool::new(false);

/// Signals that ask a trace to end.
const ENDING: [libc::c_int; 4] = [libc::SIGTERM, libc::SIGINT, libc::SIGHUP, libc::SIGQUIT];
/// Those that are passed on in addition to real-time signals. Not: what cannot be caught (KILL,
/// STOP); faults of the program itself (SEGV, BUS, ILL, FPE, TRAP, SYS); PIPE and CHLD, which are
/// about us; TTIN and TTOU, which stop us as they stop any job.
const PASSED_ON: [libc::c_int; 19] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGABRT,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGALRM,
    libc::SIGTERM,
    libc::SIGSTKFLT,
    libc::SIGCONT,
    libc::SIGTSTP,
    libc::SIGURG,
    libc::SIGXCPU,
    libc::SIGXFSZ,
    libc::SIGVTALRM,
    libc::SIGPROF,
    libc::SIGWINCH,
    libc::SIGIO,
    libc::SIGPWR,
];

/// All of them; `SIGRTMAX - 3` is the timer's of the backend by ptrace.
fn passed_on() -> impl Iterator<Item = libc::c_int> {
    PASSED_ON.into_iter().chain(libc::SIGRTMIN()..=libc::SIGRTMAX()).filter(|signal| *signal != libc::SIGRTMAX() - 3)
}

extern "C" fn came(signal: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: with SA_SIGINFO the kernel gives the address of a filled structure; the sender's number is there where a process sent it.
    let from_another = unsafe { (*info).si_code <= 0 && (*info).si_pid() != libc::getpid() };
    if from_another {
        SENT.fetch_or(bit(signal), Ordering::Relaxed);
    }
    CAME.fetch_or(bit(signal), Ordering::Relaxed);
}

fn disposition(signal: libc::c_int) -> libc::sighandler_t {
    // SAFETY: all-zero is a valid `sigaction`, which the call fills in.
    unsafe {
        let mut action: libc::sigaction = zeroed();
        libc::sigaction(signal, std::ptr::null(), &raw mut action);
        action.sa_sigaction
    }
}

fn catch(signal: libc::c_int) -> std::io::Result<()> {
    let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) = came;
    // SAFETY: all-zero is a valid `sigaction`; the handler only changes atomic numbers, which signal-safety(7) allows.
    let done = unsafe {
        let mut action: libc::sigaction = zeroed();
        action.sa_sigaction = handler as libc::sighandler_t;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        libc::sigaction(signal, &raw const action, std::ptr::null_mut())
    };
    if done == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

/// In a child before its exec: signals do what they would have done without us, also before it is
/// its program. Only makes calls that signal-safety(7) allows.
pub fn as_without_us() {
    let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) = came;
    for signal in 1..=64 {
        if disposition(signal) == handler as libc::sighandler_t {
            // SAFETY: a plain system call.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
    }
    if CHILDREN_IGNORED.load(Ordering::Relaxed) {
        // SAFETY: as above.
        unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
    }
}

/// What asks a trace to stop, and what is to be passed on.
#[derive(Debug, Clone)]
pub struct Stop {
    /// Signals that were passed to [`Stop::tell`].
    told: Arc<Bits>,
    /// Whether those of the process count.
    listens: bool,
    /// What decides whether the command has a signal already.
    around: Option<Arc<Mutex<Around>>>,
    /// How long the trace lasts at most, from [`Stop::begin`] on.
    pub duration: Option<Duration>,
    /// Prints what whoever watches should know.
    pub note: Option<fn(&str)>,
    /// Whether a signal has asked to end since the command has ended ([`Stop::ends_the_rest`]).
    warned: Arc<AtomicBool>,
    /// When the trace began, as an `Instant` of this process.
    begun: OnceLock<Instant>,
}

impl Stop {
    /// One that never asks a trace to stop, until [`Stop::tell`].
    pub fn never() -> Self {
        Stop {
            told: Arc::default(),
            listens: false,
            around: None,
            duration: None,
            note: None,
            warned: Arc::default(),
            begun: OnceLock::new(),
        }
    }

    /// By the signals of this process, which end it no more. For the trace of a command (`command`)
    /// those that are ignored stay so.
    ///
    /// # Errors
    /// When the system refuses a handler.
    pub fn by_signals(command: bool) -> std::io::Result<Self> {
        for signal in passed_on() {
            let must = !command && matches!(signal, libc::SIGTERM | libc::SIGINT);
            if must || disposition(signal) != libc::SIG_IGN {
                catch(signal)?;
            }
        }
        if disposition(libc::SIGCHLD) == libc::SIG_IGN {
            // Otherwise the end of the command could not be known.
            CHILDREN_IGNORED.store(true, Ordering::Relaxed);
            // SAFETY: a plain system call.
            unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
        }
        // Without it a signal may come twice, which is better than not at all.
        let witness = if command { Witness::start().ok() } else { None };
        let around = witness.map(|witness| Arc::new(Mutex::new(Around { witness: Some(witness), heard: [0; 65], waiting: Vec::new() })));
        Ok(Stop { listens: true, around, ..Stop::never() })
    }

    /// As if a process had sent this signal.
    pub fn tell(&self, signal: libc::c_int) {
        self.told.fetch_or(bit(signal), Ordering::Relaxed);
    }

    /// The signal that asks to end, if one came and was not passed on.
    pub fn ending(&self) -> Option<libc::c_int> {
        let all = self.told.load(Ordering::Relaxed) | if self.listens { CAME.load(Ordering::Relaxed) } else { 0 };
        ENDING.into_iter().find(|signal| all & bit(*signal) != 0)
    }

    /// Whether a signal that asks to end came.
    pub fn asked(&self) -> bool {
        self.ending().is_some()
    }

    /// Whether a signal that asks to end came since this was last asked. All others are forgotten:
    /// there is no command that they could go to.
    pub fn ended(&self) -> bool {
        let mut all = self.told.swap(0, Ordering::Relaxed);
        if self.listens {
            SENT.store(0, Ordering::Relaxed);
            all |= CAME.swap(0, Ordering::Relaxed);
        }
        self.rest(all, false);
        ENDING.into_iter().any(|signal| all & bit(signal) != 0)
    }

    /// Whether a trace is to end after its command has ended and left other processes behind. They
    /// need the tracer, so the first signal that asks to end only has a sentence about them
    /// printed; the next one ends the trace. All other signals are forgotten: there is no command
    /// any more.
    pub fn ends_the_rest(&self, about: impl FnOnce() -> String) -> bool {
        if !self.ended() {
            return false;
        }
        let warned = self.warned.swap(true, Ordering::Relaxed);
        if let Some(note) = self.note.filter(|_| !warned) {
            note(&about());
        }
        warned
    }

    /// Whether this signal asks to end.
    pub fn ends(signal: libc::c_int) -> bool {
        ENDING.contains(&signal)
    }

    /// Says that the trace sees what happens from now on, and that the command is let go.
    pub fn begin(&self) {
        self.begun.get_or_init(Instant::now);
    }

    /// Whether [`Stop::begin`] was called: a command may have run.
    pub fn has_begun(&self) -> bool {
        self.begun.get().is_some()
    }

    /// Says that the command is about to be made: signals up to now could not reach it, wherever
    /// they came from.
    pub fn before_command(&self) {
        if self.listens {
            SENT.fetch_or(CAME.load(Ordering::Relaxed), Ordering::Relaxed);
        }
    }

    /// Ends the process that hears signals which were sent to others, too: where there is room for
    /// one process only, that is the command.
    pub(crate) fn dismiss_witness(&self) {
        if let Some(around) = &self.around {
            drop(around.lock().unwrap_or_else(PoisonError::into_inner).witness.take());
        }
    }

    /// Whether the time is over.
    pub fn time_is_over(&self) -> bool {
        let lasted = self.begun.get().map_or(Duration::ZERO, Instant::elapsed);
        self.duration.is_some_and(|duration| lasted >= duration)
    }

    /// The signals that came since the last call and that are to be passed on to the command. To be
    /// called several times a second: after a stop signal it stops us too, a moment later, so that
    /// a shell sees its job stopped.
    pub fn forwarded(&self) -> impl Iterator<Item = libc::c_int> + use<> {
        let mut all = self.told.swap(0, Ordering::Relaxed);
        let mut sent = all;
        if self.listens {
            // What is sent between these two is passed on next time.
            sent |= SENT.swap(0, Ordering::Relaxed);
            all |= CAME.swap(0, Ordering::Relaxed);
        }
        let mut waits = false;
        if let Some(around) = &self.around {
            let mut around = around.lock().unwrap_or_else(PoisonError::into_inner);
            sent = around.sent_to_us_alone(sent);
            waits = around.waiting.iter().any(|(signal, _)| *signal == libc::SIGTSTP);
        }
        // The command gets its signals first.
        self.rest(all | sent, waits);
        (1..=64).filter(move |signal| sent & bit(*signal) != 0)
    }

    /// Stops this process when a stop signal came, and went on unless it still waits (`waits`),
    /// some time ago: the command has had the time to stop.
    fn rest(&self, came: u64, waits: bool) {
        if came & bit(libc::SIGCONT) != 0 {
            RESTS.store(0, Ordering::Relaxed);
            return;
        }
        let now = crate::clock::boot_ns();
        if came & bit(libc::SIGTSTP) != 0 {
            RESTS.store(now, Ordering::Relaxed);
            return;
        }
        let since = RESTS.load(Ordering::Relaxed);
        if self.listens && since != 0 && !waits && now.saturating_sub(since) >= REST_AFTER {
            RESTS.store(0, Ordering::Relaxed);
            // SAFETY: a plain system call. SIGSTOP, as SIGTSTP is caught.
            unsafe { libc::raise(libc::SIGSTOP) };
        }
    }
}

/// What is known of signals that were sent to others, too.
#[derive(Debug)]
struct Around {
    /// `None` when it was ended.
    witness: Option<Witness>,
    /// When the witness last got a signal, by its number, in nanoseconds after boot.
    heard: [u64; 65],
    /// Signals that came, and when.
    waiting: Vec<(libc::c_int, u64)>,
}

/// So long the witness has to say that it got a signal, too.
const WITNESS_PATIENCE: u64 = 60_000_000;
/// So much earlier than we it may have got it.
const WITNESS_EARLIER: u64 = 300_000_000;

impl Around {
    /// Takes signals that came just now; gives those that came some time ago and that no process
    /// around us got. What asks to end does not wait: a second one does no harm, and one too few
    /// would.
    fn sent_to_us_alone(&mut self, came: u64) -> u64 {
        let now = crate::clock::boot_ns();
        for signal in self.witness.iter().flat_map(Witness::heard) {
            if let Some(heard) = self.heard.get_mut(usize::from(signal)) {
                *heard = now;
            }
        }
        let mut alone = 0;
        for signal in (1..=64).filter(|signal| came & bit(*signal) != 0) {
            if Stop::ends(signal) {
                alone |= bit(signal);
            } else if !self.waiting.iter().any(|(waiting, _)| *waiting == signal) {
                self.waiting.push((signal, now));
            }
        }
        let heard = &mut self.heard;
        self.waiting.retain(|(signal, since)| {
            if now.saturating_sub(*since) < WITNESS_PATIENCE {
                return true;
            }
            let Some(heard) = usize::try_from(*signal).ok().and_then(|signal| heard.get_mut(signal)) else { return false };
            if *heard == 0 || *heard + WITNESS_EARLIER < *since {
                alone |= bit(*signal);
            }
            *heard = 0;
            false
        });
        alone
    }
}

/// When a stop signal came, in nanoseconds after boot; 0 when none did.
static RESTS: AtomicU64 = AtomicU64::new(0);
/// So long the command has to stop before we do, in nanoseconds: a program that is traced by ptrace
/// needs us for it.
const REST_AFTER: u64 = 50_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_are_told_once_and_only_some_ask_to_end() {
        let stop = Stop::never();
        for signal in [libc::SIGUSR1, libc::SIGWINCH, libc::SIGRTMAX()] {
            stop.tell(signal);
            stop.tell(signal);
        }
        assert!(!stop.asked());
        stop.tell(libc::SIGHUP);
        assert_eq!(stop.ending(), Some(libc::SIGHUP));
        assert_eq!(stop.forwarded().collect::<Vec<_>>(), [libc::SIGHUP, libc::SIGUSR1, libc::SIGWINCH, libc::SIGRTMAX()]);
        assert_eq!((stop.forwarded().count(), stop.asked()), (0, false));
    }

    #[test]
    fn what_is_left_of_a_command_ends_by_the_second_signal() {
        let stop = Stop::never();
        let ends = || stop.ends_the_rest(String::new);
        stop.tell(libc::SIGUSR1);
        assert!(!ends());
        stop.tell(libc::SIGTERM);
        assert_eq!([ends(), ends()], [false, false]);
        stop.tell(libc::SIGINT);
        assert!(ends());
    }
}

//! When a trace is to end (signals, and the time that it was given), and how it ended.

use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::recorder::Outcome;

/// How a trace ended.
#[derive(Debug, Clone, Copy)]
pub struct Ended {
    /// What was recorded.
    pub outcome: Outcome,
    /// How the command ended; `None` when there was none, or when it was not waited for.
    pub status: Option<ExitStatus>,
}

/// What asks a trace to stop. The flags are set by signal handlers of whoever runs the trace.
#[derive(Debug, Clone)]
pub struct Stop {
    /// SIGTERM came.
    pub terminated: Arc<AtomicBool>,
    /// SIGINT came.
    pub interrupted: Arc<AtomicBool>,
    /// A SIGINT from the terminal reaches the command by itself; it is passed on only when we are not on one.
    pub on_terminal: bool,
    /// How long the trace lasts at most, from [`Stop::begin`] on.
    pub duration: Option<Duration>,
    /// When it began.
    pub begun: OnceLock<Instant>,
}

impl Stop {
    /// Never, until a flag is set.
    pub fn never() -> Self {
        Stop { terminated: Arc::default(), interrupted: Arc::default(), on_terminal: false, duration: None, begun: OnceLock::new() }
    }

    /// Whether a signal came.
    pub fn asked(&self) -> bool {
        self.terminated.load(Ordering::Relaxed) || self.interrupted.load(Ordering::Relaxed)
    }

    /// Says that the trace sees what happens from now on.
    pub fn begin(&self) {
        self.begun.get_or_init(Instant::now);
    }

    /// Whether the time is over.
    pub fn time_is_over(&self) -> bool {
        let lasted = self.begun.get().map_or(Duration::ZERO, Instant::elapsed);
        self.duration.is_some_and(|duration| lasted >= duration)
    }

    /// The signals that came since the last call and that are to be passed on to the command.
    pub fn forwarded(&self) -> impl Iterator<Item = Signal> {
        let terminated = self.terminated.swap(false, Ordering::Relaxed).then_some(Signal::SIGTERM);
        let interrupted = (self.interrupted.swap(false, Ordering::Relaxed) && !self.on_terminal).then_some(Signal::SIGINT);
        terminated.into_iter().chain(interrupted)
    }
}

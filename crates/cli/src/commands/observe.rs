//! `flowmine observe`: polls a Slurm cluster, once or until it is stopped.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Context;
use flowmine_api::observe::{Poll, observe};

use crate::args::Observe;
use crate::messages;
use crate::outcome::Outcome;
use crate::terminal::Terminal;

/// Polls once or until it is told to stop.
pub fn run(args: &Observe) -> anyhow::Result<Outcome> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        // A second signal ends at once, which costs nothing that was written.
        signal_hook::flag::register_conditional_default(signal, stop.clone()).context("cannot handle signals")?;
        signal_hook::flag::register(signal, stop.clone()).context("cannot handle signals")?;
    }
    let observed = observe(&args.request(), &stop, &Terminal, &mut |poll| show(poll, args.verbose))?;
    Ok(if observed.is_lossy { Outcome::WithLosses } else { Outcome::Clean })
}

/// Shows what a poll found when somebody watches, and what was wrong when something is lost.
fn show(poll: &Poll<'_>, verbose: bool) {
    let is_watched = verbose || messages::on_terminal();
    if is_watched || poll.is_lossy() {
        messages::diagnostics(&format!("squeue on {}", poll.place), poll.diagnostics, messages::Kept::InDataset);
    }
    if is_watched {
        messages::note(&poll.text());
    }
}

//! `flowmine trace`: traces the I/O of a command, or of a host until a signal.

use anyhow::Context;
use flowmine_api::trace::{Stop, Traced, trace};

use crate::args::Trace;
use crate::messages;
use crate::outcome::Outcome;
use crate::terminal::Terminal;

/// Traces a command, or the host until a signal.
pub fn run(args: &Trace) -> anyhow::Result<Outcome> {
    // Before joining another tracer: what is started for signals is none of the command.
    let mut stop = Stop::by_signals(!args.command.is_empty()).context("cannot handle signals")?;
    stop.duration = args.duration;
    stop.note = Some(messages::note);
    let traced = trace(&args.request()?, &stop, &Terminal)?;
    Ok(outcome(&traced, args.fail_on_loss))
}

/// Returns the outcome of a trace: that of its command where there is one.
fn outcome(traced: &Traced, fail_on_loss: bool) -> Outcome {
    match traced.exit_code {
        None if traced.is_complete => Outcome::Clean,
        None => Outcome::WithLosses,
        Some(0) if fail_on_loss && !traced.is_complete => Outcome::WithLosses,
        Some(code) => Outcome::Code(code),
    }
}

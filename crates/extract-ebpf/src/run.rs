//! A whole trace by eBPF: of a command, or of the host until it is stopped.

use std::ffi::OsString;
use std::os::fd::AsFd;
use std::time::Duration;

use flowmine_dataset::Writer;
use flowmine_trace::command::Held;
use flowmine_trace::host::HostFacts;
use flowmine_trace::limits::Needs;
use flowmine_trace::privileges;
use flowmine_trace::serve::Door;
use flowmine_trace::stop::{Ended, Stop};
use flowmine_trace::{Options, Recorder, TraceError};

use crate::{Extras, NEEDS, Plan, Tracer};

/// What the backend needs. Its rings are mapped twice.
pub const ROOM: Needs = Needs { memory: 320 << 20, tasks: 4, descriptors: 192 };

/// Traces `command` and what it starts until it has ended, or without one everything that the
/// filters leave, or commands that ask for it ([`Options::serve`]), until `stop`. When everything
/// is attached and what runs is read in, `begun` gets the tracer: from then on nothing is missed
/// but what [`Tracer::refused`] names.
///
/// # Errors
/// When the kernel refuses, the command cannot be started, or the dataset cannot be written.
pub fn run(
    plan: &Plan,
    command: &[OsString],
    options: &Options,
    host: HostFacts,
    writer: Writer,
    stop: &Stop,
    begun: impl FnOnce(&Tracer),
) -> Result<Ended, TraceError> {
    let door = options.serve.as_deref().map(Door::open).transpose()?;
    stop.before_command();
    let held = if command.is_empty() { None } else { Some(Held::start(command)?) };
    let mut options = options.clone();
    if let Some(held) = &held {
        options.filters.pids.push(held.pid());
    }
    let mut tracer = Tracer::start(plan, &options, &Extras::default())?;
    if held.is_some() {
        // Following the command is no filter of the user.
        options.filters.pids.pop();
    }
    let mut recorder = Recorder::begin(writer, host, tracer.backend(), &options, flowmine_trace::command::words(command).as_deref())?;
    held.iter().for_each(|held| recorder.command_is(held.pid()));
    tracer.read_in(&mut |record| recorder.take(record))?;
    if held.is_none() {
        // A command has been started already, with the privileges that it was given.
        recorder.in_writer(give_up);
        give_up();
    }
    stop.begin();
    begun(&tracer);
    let mut running = match (held, command.first()) {
        (Some(held), Some(name)) => Some(held.release(name)?),
        _ => None,
    };
    // From here on the user's program runs: after any failure it is still waited for, and gets its
    // signals.
    let (mut status, mut failed) = (None, None);
    while status.is_none() && failed.is_none() && !stop.time_is_over() {
        failed = tracer.poll(door.as_ref().map(AsFd::as_fd), &mut |record| recorder.take(record)).err();
        recorder.tick()?;
        while let Some(asking) = door.as_ref().and_then(Door::asking) {
            let done = tracer.follow_children(asking.pid, &mut |record| recorder.take(record));
            // Whoever is there now takes his number out of the table when he ends.
            if asking.is_gone() {
                tracer.unfollow(asking.pid);
            }
            asking.answer(done);
        }
        if let Some(running) = &mut running {
            stop.forwarded().for_each(|signal| running.signal(signal));
            status = running.ended_within(Duration::ZERO)?;
        } else if stop.ended() {
            break;
        }
    }
    let counted = match failed {
        None => tracer.end(&mut |record| recorder.take(record)).map_err(|error| failed = Some(error)).ok(),
        Some(_) => None,
    };
    let outcome = recorder.end(counted)?;
    if let (Some(running), None) = (&mut running, status) {
        status = Some(running.to_its_end(stop)?);
    }
    Ok(Ended { outcome, status, failed })
}

/// Keeps the capabilities that are still needed while tracing.
fn give_up() {
    let kept: Vec<u32> = NEEDS.iter().filter(|need| need.later).map(|need| need.capability).collect();
    privileges::keep_only(&kept);
}

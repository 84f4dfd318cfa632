//! Tracing a command by ptrace(2) and seccomp(2): works without privilege, on one command and all
//! that it starts.
//!
//! In: a [`Command`] and [`Options`]. Out: records of its operations and processes into a
//! [`Recorder`], and how it ended. A seccomp filter stops only the calls that are of interest; all
//! others run at full speed.
//!
//! - `Detail::Totals` stops opens and closes, changes of names and sizes, syncs and mappings, never
//!   reads and writes; the numbers of bytes are read from the counters of the processes
//!   (`/proc/PID/io`) when they end. Closes are stopped because they cost as little as opens and
//!   without them it would not be known which open file a descriptor is.
//! - `Detail::Events` stops reads and writes too, at their begin and end.
//!
//! What it does to the command: unless we may install a filter without it (CAP_SYS_ADMIN), the
//! command runs with `no_new_privs`, so that set-uid programs and file capabilities give it
//! nothing; while we live, no other tracer can have it; when we die, it is killed
//! (`PTRACE_O_EXITKILL`), because without a tracer the calls that the filter stops would all fail
//! with ENOSYS and the program would go wrong in silence. For the same reason it is never detached
//! from: when the dataset cannot be written any more, the command runs on to its end, unrecorded,
//! and then that is reported. Two calls that use the position of one open file at the same time are
//! let through one after the other, which the kernel does anyway (`f_pos_lock`), so that each has
//! its true offset. sendfile(2) and splice(2) do not wait: what overlaps with them has no offset
//! (`moves.rs`).
//!
//! A process that is made without a tracer (`CLONE_UNTRACED`) would run into the filter alone: the
//! flag is taken out of the call (`untraced.rs`). A filter of the program's own that asks for a
//! tracer gets ENOSYS, as without us.
//!
//! What it cannot see: what goes through io_uring(7) and io_submit(2) (counted as lost), page
//! faults, 32-bit and x32 calls (counted as lost), what was passed over a socket by a process that
//! closed it before it was used first (it gets a new handle).
//!
//! It refuses filters by process or control group: it sees the command that it starts, whole. From
//! outside inwards: `run.rs` waits for stops and keeps threads and processes apart, `operations.rs`
//! makes operations of calls, `open_files.rs` and `locate.rs` find the files; the state is in
//! `tracer.rs`.
//!
//! ```no_run
//! use flowmine_dataset::Dataset;
//! use flowmine_trace::Options;
//! use flowmine_trace::host::HostFacts;
//! use flowmine_trace::stop::Stop;
//!
//! let host = HostFacts::read("/proc".as_ref());
//! let writer = Dataset::open_or_create("dataset".as_ref())?.host_writer(&host.name, "example")?;
//! let command = ["cat", "/etc/hostname"].map(Into::into);
//! let (options, stop) = (Options::default(), Stop::never());
//! let ended = flowmine_extract_ptrace::run(&command, &options, host, writer, &stop)?;
//! println!("{:?}: {} operations", ended.status, ended.outcome.events);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod aio;
mod calls;
mod descriptors;
pub mod facts;
mod filter;
mod locate;
mod moves;
mod open_files;
mod operations;
mod pending;
mod positions;
mod requests;
mod run;
mod start;
mod ticker;
mod tracer;
mod untraced;

use std::ffi::OsString;
use std::process::ExitStatus;

use flowmine_dataset::Writer;
use flowmine_trace::host::HostFacts;
use flowmine_trace::limits::Needs;
use flowmine_trace::options::Options;
use flowmine_trace::recorder::Backend;
use flowmine_trace::stop::{Ended, Stop};
use flowmine_trace::{Recorder, TraceError};

pub use facts::{Facts, verdict};
pub use start::Command;

/// What the backend needs.
pub const ROOM: Needs = Needs { memory: 64 << 20, tasks: 4, descriptors: 32 };

/// What stands of this backend in the table `hosts`.
pub fn backend() -> Backend {
    Backend { name: "ptrace", hooks: Some("seccomp".to_owned()), ring_bytes: None }
}

/// Traces a command and all that it starts to the end of the last of them, into a dataset. See
/// [`follow`].
///
/// # Errors
/// When the command cannot be started or traced, or the dataset cannot be written.
pub fn run(command: &[OsString], options: &Options, host: HostFacts, writer: Writer, stop: &Stop) -> Result<Ended, TraceError> {
    stop.before_command();
    let mut recorder = Recorder::begin(writer, host, backend(), options, flowmine_trace::command::words(command).as_deref())?;
    let status = follow(&Command::new(command), options, &mut recorder, stop)?;
    Ok(Ended { outcome: recorder.end(None)?, status: Some(status), failed: None })
}

/// Runs a command to its end and that of all processes that it started, and records what they did.
/// The calling thread does all the work.
///
/// Signals that `stop` reports go to the command. When it is gone, the second one that asks to end
/// ends what it left behind, which is killed when it is still there after ten seconds. When the time of the trace is over, nothing
/// more is recorded, but the command goes on to its end, since it cannot be left alone.
///
/// # Errors
/// When the command cannot be started or traced, and at its end when the records could not be
/// written.
pub fn follow(command: &Command, options: &Options, recorder: &mut Recorder, stop: &Stop) -> Result<ExitStatus, TraceError> {
    if !options.filters.pids.is_empty() || !options.filters.cgroups.is_empty() {
        return Err(TraceError::NotHere(
            "ptrace traces a command that it starts: filters by process or cgroup need eBPF; leave them out or use --backend ebpf"
                .to_owned(),
        ));
    }
    run::run(command, options, recorder, stop)
}

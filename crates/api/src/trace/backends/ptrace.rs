//! ptrace: stops a command at its calls.

use super::backend::Backend;

/// The backend that traces by ptrace.
pub const BACKEND: Backend = Backend {
    name: "ptrace",
    about: "Stops the command at each call. Needs no privilege; slow for many small calls",
    suits: |trace| trace.command,
    only_commands: true,
    serves: false,
    #[cfg(feature = "ptrace")]
    built: Some(program::BUILT),
    #[cfg(not(feature = "ptrace"))]
    built: None,
};

#[cfg(feature = "ptrace")]
mod program {
    use std::path::Path;

    use flowmine_extract_ptrace::{Facts, ROOM, run, verdict};

    use super::super::backend::{Built, Job};

    pub const BUILT: Built = Built {
        verdict: || verdict(&Facts::read(Path::new("/proc"))),
        run: |Job { command, options, host, writer, stop, .. }| Ok(run(command, options, host, writer, stop)?),
        room: ROOM,
        lent: &[],
    };
}

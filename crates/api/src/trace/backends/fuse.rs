//! FUSE: an overlay over the directories of a command.

use super::backend::Backend;

/// The backend that traces by FUSE. Only calls in its directories wait for the tracer, so it is
/// chosen where these are named.
pub const BACKEND: Backend = Backend {
    name: "fuse",
    about: "A file system laid over the directories of --directory (the current one when none is given): \
            only what is done in them is seen, and waits",
    suits: |trace| trace.command && trace.directories,
    only_commands: true,
    serves: false,
    #[cfg(feature = "fuse")]
    built: Some(program::BUILT),
    #[cfg(not(feature = "fuse"))]
    built: None,
};

#[cfg(feature = "fuse")]
mod program {
    use std::path::Path;

    use flowmine_extract_fuse::{ROOM, facts, trace};

    use super::super::backend::{Built, Job};

    pub const BUILT: Built = Built {
        verdict: || facts::verdict(&facts::FuseFacts::read(Path::new("/"))),
        run: |Job { command, options, host, writer, stop, .. }| Ok(trace(command, options, host, writer, stop)?),
        room: ROOM,
        lent: &[],
    };
}

//! Room for the program's stack where the stack of its main thread is limited (`ulimit -s`).

use std::process::ExitCode;
use std::thread::Builder;

use flowmine_trace::limits::Limit;

use crate::messages;

/// Bytes with which the main thread has enough.
const ENOUGH: u64 = 2 << 20;
/// Bytes of the stack of the thread that runs the program otherwise, as the main thread has them
/// by default.
const OWN: usize = 8 << 20;
/// The exit code of a panic.
const PANICKED: u8 = 101;

/// Runs the program, on a thread of its own where the stack of this one is too small.
pub fn with_room(run: fn() -> ExitCode) -> ExitCode {
    let Some(limit) = Limit::Stack.now().filter(|limit| *limit < ENOUGH) else { return run() };
    match Builder::new().name("main".to_owned()).stack_size(OWN).spawn(run) {
        Ok(thread) => thread.join().unwrap_or_else(|_| ExitCode::from(PANICKED)),
        Err(error) => {
            let limit = limit >> 10;
            messages::error(&format!(
                "the stack is limited to {limit} KiB (ulimit -s), which is too small, and no thread with a larger one can be started: {error}"
            ));
            ExitCode::from(2)
        }
    }
}

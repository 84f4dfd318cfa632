//! The command line: arguments as typed ([`args`]) → plan as resolved → run (`commands`); nothing else.
//!
//! Results go to standard output or files, messages to standard error, progress bars only to a terminal. Exit codes: 0 clean,
//! 1 finished with losses or rejected input, 2 failed. A broken pipe is quiet.

pub mod args;
mod commands;
mod messages;
mod output;
mod progress;

use std::process::ExitCode;

use clap::Parser;

/// How a command ended when it did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// All was read and written.
    Clean,
    /// Finished, but something was lost or rejected, and said so.
    WithLosses,
    /// A command that was started ended with this exit code, which is ours too.
    Code(u8),
}

/// Runs the program on the process's arguments.
pub fn main() -> ExitCode {
    match commands::run(args::Cli::parse()) {
        Ok(Outcome::Clean) => ExitCode::SUCCESS,
        Ok(Outcome::WithLosses) => ExitCode::from(1),
        Ok(Outcome::Code(code)) => ExitCode::from(code),
        Err(error) if output::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            messages::error(&messages::chain(&error));
            ExitCode::from(2)
        }
    }
}

//! The command line: arguments as typed ([`args`]) → plan as resolved → run (`commands`); nothing
//! else.
//!
//! Results go to standard output or files, messages to standard error, progress bars only to a
//! terminal. Exit codes: 0 clean, 1 finished with losses or rejected input, 2 failed. A broken pipe
//! is quiet.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod args;
mod commands;
mod messages;
mod outcome;
mod output;
mod progress;
mod stack;
mod terminal;

pub use outcome::Outcome;

use std::process::ExitCode;

use clap::Parser;
use flowmine_api::remarks;

/// Parses the process's arguments.
fn parse() -> Result<args::Cli, clap::Error> {
    let (words, note) = args::in_new_form(std::env::args_os().collect())?;
    if let Some(note) = note {
        messages::note(&format!("flowmine: note: {note}"));
    }
    args::Cli::try_parse_from(words).map_err(args::with_models)
}

/// Runs the program on the process's arguments.
pub fn main() -> ExitCode {
    stack::with_room(program)
}

fn program() -> ExitCode {
    let cli = match parse() {
        Ok(cli) => cli,
        Err(error) => {
            // clap repeats what was typed, with what steers a terminal, and a shell types names of files.
            if std::env::args_os().any(|arg| arg.to_string_lossy().chars().any(flowmine_schema::text::is_unsafe)) {
                messages::note(error.render().to_string().trim_end());
                return ExitCode::from(error.exit_code() as u8);
            }
            error.exit()
        }
    };
    if !commands::lent_rights_are_kept_small(&cli) {
        messages::error("rights that this program has by its file (setcap, set-uid) could not be given up");
        return ExitCode::from(2);
    }
    let outcome = commands::run(cli);
    remarks::report(&terminal::Terminal);
    match outcome {
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

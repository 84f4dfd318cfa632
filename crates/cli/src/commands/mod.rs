//! The commands, one file each.

mod correlate;
mod discover;
mod export;
mod file_access;
mod import;
mod io_csv;
mod jobs;
mod log;
mod observe;
mod pages;
mod run;
mod source;
mod task_runs;
mod validate;
mod wfformat;

// What a build can leave out, see the features in Cargo.toml: in its place is what says so.
#[cfg_attr(not(feature = "tracing"), path = "without/doctor.rs")]
mod doctor;
#[cfg_attr(not(feature = "ssh"), path = "without/login_node.rs")]
mod login_node;
#[cfg_attr(not(feature = "tracing"), path = "without/trace.rs")]
mod trace;

use crate::Outcome;
use crate::args::{Cli, Command};

/// Runs a command.
pub fn run(cli: Cli) -> anyhow::Result<Outcome> {
    match cli.command {
        Command::Observe(args) => observe::run(&args),
        Command::Trace(args) => trace::run(&args),
        Command::Import(args) => import::run(&args),
        Command::Correlate(args) => correlate::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Validate(args) => validate::run(&args),
        Command::Discover(args) => discover::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Completions { shell } => pages::completions(shell),
        Command::Man { dir } => pages::manual(dir.as_deref()),
    }
}

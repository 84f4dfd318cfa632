//! The commands, one file each.

mod correlate;
mod discover;
mod distribute;
mod doctor;
mod evaluate;
mod export;
mod generate;
mod import;
mod import_report;
mod observe;
mod pages;
mod paths;
mod predict;
mod prune;
mod report;
mod run;
mod serve;
mod trace;
mod transform;
mod validate;
mod why;

use flowmine_api::trace::keep_lent_rights_small;

use crate::args::{Cli, Command};
use crate::outcome::Outcome;

/// Of rights that this program has by its file and not by its caller, keeps those that a trace
/// needs, and for another command none. False where that failed.
pub fn lent_rights_are_kept_small(cli: &Cli) -> bool {
    keep_lent_rights_small(matches!(cli.command, Command::Trace(_) | Command::Doctor(_)))
}

/// Runs the command of a command line.
pub fn run(mut cli: Cli) -> anyhow::Result<Outcome> {
    let sources = paths::Sources::new(&mut cli.command)?;
    let outcome = run_resolved(cli.command);
    sources.outcome(outcome)
}

/// Runs a command whose paths are recognised.
fn run_resolved(command: Command) -> anyhow::Result<Outcome> {
    match command {
        Command::Observe(args) => observe::run(&args),
        Command::Trace(args) => trace::run(&args),
        Command::Import(args) => import::run(&args),
        Command::Correlate(args) => correlate::run(&args),
        Command::Merge(args) => correlate::merge(&args),
        Command::Distribute(args) => distribute::run(&args),
        Command::Work(args) => distribute::work(&args),
        Command::Prune(args) => prune::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Validate(args) => validate::run(&args),
        Command::Discover(args) => discover::run(&args),
        Command::Why(args) => why::run(&args),
        Command::Evaluate(args) => evaluate::run(&args),
        Command::Generate(args) => generate::run(&args),
        Command::Predict(args) => predict::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Serve(args) => serve::run(&args),
        Command::Transform(args) => transform::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Help { command } => pages::help(&command),
        Command::Completions { shell } => pages::completions(shell),
        Command::Man { dir } => pages::manual(dir.as_deref()),
    }
}

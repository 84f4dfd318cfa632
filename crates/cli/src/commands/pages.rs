//! `flowmine completions` and `flowmine man`: what clap makes of the arguments.

use std::path::Path;

use anyhow::Context;
use clap::CommandFactory;

use crate::args::Cli;
use crate::outcome::Outcome;
use crate::output;

/// Prints the completion script of a shell.
pub fn completions(shell: clap_complete::Shell) -> anyhow::Result<Outcome> {
    output::write(None, |out| {
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut Cli::command(), "flowmine", &mut script);
        Ok(out.write_all(&script)?)
    })?;
    Ok(Outcome::Clean)
}

/// Writes the manual pages into a directory, or the main one to standard output.
pub fn manual(dir: Option<&Path>) -> anyhow::Result<Outcome> {
    let mut command = Cli::command();
    command.build();
    match dir {
        None => output::write(None, |mut out| Ok(clap_mangen::Man::new(command).render(&mut out)?))?,
        Some(dir) => {
            std::fs::create_dir_all(dir).with_context(|| dir.display().to_string())?;
            clap_mangen::generate_to(command, dir).with_context(|| dir.display().to_string())?;
        }
    }
    Ok(Outcome::Clean)
}

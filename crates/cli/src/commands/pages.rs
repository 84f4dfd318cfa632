//! `flowmine completions` and `flowmine man`: what clap makes of the arguments.

use std::path::Path;

use clap::{Command, CommandFactory};
use clap_mangen::Man;

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
        None => output::write(None, |mut out| Ok(Man::new(command).render(&mut out)?))?,
        Some(dir) => {
            output::make_directory(dir)?;
            let mut command = command.disable_help_subcommand(true);
            command.build();
            pages(&command, dir)?;
        }
    }
    Ok(Outcome::Clean)
}

/// Writes the page of a command and those of the commands in it.
fn pages(command: &Command, dir: &Path) -> anyhow::Result<()> {
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        pages(below, dir)?;
    }
    let page = Man::new(command.clone());
    output::write(Some(&dir.join(page.get_filename())), |mut out| Ok(page.render(&mut out)?))
}

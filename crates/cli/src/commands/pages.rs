//! `flowmine help`, `flowmine completions` and `flowmine man`: what clap makes of the arguments.

use std::io::Read;
use std::path::Path;

use anyhow::Context;
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use flowmine_files::{FileError, Folder};
use flowmine_schema::text::visible;

use flowmine_api::output as results;

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

/// Prints the help of a command with all details.
pub fn help(words: &[String]) -> anyhow::Result<Outcome> {
    let mut root = Cli::command();
    root.build();
    let mut command = &mut root;
    for word in words {
        let Some(below) = command.get_subcommands().find(|below| *word == below.get_name()) else {
            anyhow::bail!("`{}` has no command `{}`: `{} --help` lists what it has", path(command), visible(word), path(command));
        };
        let name = below.get_name().to_owned();
        command = command.find_subcommand_mut(name).context("a command that was found")?;
    }
    let text = command.render_long_help().to_string();
    output::write(None, |out| Ok(out.write_all(text.as_bytes())?))?;
    Ok(Outcome::Clean)
}

/// How a command is typed.
fn path(command: &Command) -> &str {
    command.get_bin_name().unwrap_or_else(|| command.get_name())
}

/// Writes the manual pages into a directory, or the main one to standard output.
pub fn manual(dir: Option<&Path>) -> anyhow::Result<Outcome> {
    let mut command = Cli::command();
    command.build();
    match dir {
        None => output::write(None, |mut out| Ok(Man::new(command).render(&mut out)?))?,
        Some(dir) => {
            let folder = results::make_directory(dir)?;
            let mut command = command.disable_help_subcommand(true);
            command.build();
            let pages = pages(&command)?;
            for (name, _) in &pages {
                refuse_other(&folder, name).with_context(|| dir.display().to_string())?;
            }
            for (name, text) in pages {
                output::write(Some(&dir.join(name)), |out| Ok(out.write_all(&text)?))?;
            }
        }
    }
    Ok(Outcome::Clean)
}

/// The pages of a command and of those in it: file names and texts.
fn pages(command: &Command) -> anyhow::Result<Vec<(String, Vec<u8>)>> {
    let mut all = Vec::new();
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        all.extend(pages(below)?);
    }
    let page = Man::new(command.clone());
    let mut text = Vec::new();
    page.render(&mut text)?;
    all.push((page.get_filename(), text));
    Ok(all)
}

/// Refuses to replace what is not a page of flowmine. Pages are known by their title, so that the
/// directory, which may be packed as it is, holds nothing else.
fn refuse_other(folder: &Folder, name: &str) -> Result<(), FileError> {
    if folder.id_of(name)?.is_none() {
        return Ok(());
    }
    let other = || FileError::NotMade(name.to_owned());
    let mut text = Vec::new();
    folder.read(name).map_err(|_| other())?.take(LONGEST).read_to_end(&mut text)?;
    let is_page = text.split(|byte| *byte == b'\n').any(|line| line.starts_with(TITLE));
    if is_page { Ok(()) } else { Err(other()) }
}

/// How the line begins that gives the title of a page.
const TITLE: &[u8] = b".TH flowmine";
/// The most bytes of a page that are read.
const LONGEST: u64 = 1 << 20;

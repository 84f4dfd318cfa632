//! The module of the Python package that is made from the commands: a function for each, with its
//! options as keywords.

use std::fmt::Write;
use std::path::Path;

use clap::{Arg, ArgAction, Command, CommandFactory};

use super::Cli;

/// The file, from the root of the repository.
const FILE: &str = "python/flowmine_hpc/_commands.py";

/// Commands that are other functions of the package: `discover` returns a model.
const OTHERS: [&str; 1] = ["discover"];

/// Commands with an exit code that is the one of another program.
const PASSING: [&str; 1] = ["trace"];

/// Words that are no names in Python, as far as options or commands have them.
const KEYWORDS: [&str; 5] = ["as", "from", "import", "in", "with"];

/// Where a line of documentation ends.
const WIDTH: usize = 96;

fn identifier(name: &str) -> String {
    let name = name.replace('-', "_");
    if KEYWORDS.contains(&&*name) { format!("{name}_") } else { name }
}

fn is_switch(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::SetTrue | ArgAction::SetFalse)
}

fn annotation(arg: &Arg) -> String {
    if is_switch(arg) {
        return "bool".to_owned();
    }
    let names: Vec<_> = arg.get_possible_values().iter().map(|value| format!("\"{}\"", value.get_name())).collect();
    let one = if names.is_empty() { "Value".to_owned() } else { format!("Literal[{}]", names.join(", ")) };
    let many = if matches!(arg.get_action(), ArgAction::Append) { format!(" | Sequence[{one}]") } else { String::new() };
    let optional = if arg.get_num_args().is_some_and(|range| range.min_values() == 0) { " | bool" } else { "" };
    format!("{one}{many}{optional} | None")
}

/// Words as lines that begin with `first`, and after the first with `rest`.
fn wrapped(text: &str, first: &str, rest: &str) -> String {
    let (mut lines, mut line, mut is_begun) = (String::new(), first.to_owned(), false);
    for word in text.split_whitespace() {
        if is_begun && line.chars().count() + 1 + word.chars().count() > WIDTH {
            let _ = writeln!(lines, "{line}");
            (line, is_begun) = (rest.to_owned(), false);
        }
        line.push_str(if is_begun { " " } else { "" });
        line.push_str(word);
        is_begun = true;
    }
    format!("{lines}{line}\n")
}

fn help(text: Option<&clap::builder::StyledStr>) -> String {
    text.map(ToString::to_string).unwrap_or_default().replace('\\', "\\\\").replace('"', "\\\"")
}

/// The commands of a command, such as the kinds of `import`.
fn kinds_of(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|of| of.get_name() != "help")
}

/// The options of a command and of its commands, each once.
fn options(command: &Command) -> Vec<&Arg> {
    let mut options: Vec<&Arg> = Vec::new();
    let of_all = std::iter::once(command).chain(kinds_of(command)).flat_map(|command| command.get_arguments());
    for arg in of_all.filter(|arg| arg.get_long().is_some_and(|long| !["help", "version"].contains(&long))) {
        if options.iter().all(|known| known.get_long() != arg.get_long()) {
            options.push(arg);
        }
    }
    options
}

fn function(command: &Command) -> String {
    let name = command.get_name();
    let kinds: Vec<_> = kinds_of(command).map(|of| format!("\"{}\"", of.get_name())).collect();
    let kind = if kinds.is_empty() { String::new() } else { format!("    kind: Literal[{}],\n", kinds.join(", ")) };
    let mut text = format!("def {}(\n{kind}    *paths: Any,\n", identifier(name));
    let options = options(command);
    for arg in &options {
        let default = if is_switch(arg) { "False" } else { "None" };
        let _ = writeln!(text, "    {}: {} = {default},", identifier(arg.get_long().unwrap_or_default()), annotation(arg));
    }
    text.push_str(") -> Completed:\n");
    text.push_str(&wrapped(&format!("{}.", help(command.get_about())), "    \"\"\"", "    "));
    let _ = write!(text, "\n    This is ``flowmine {name}``, run as a child process.\n");
    let positional: Vec<_> = command.get_positionals().chain(kinds_of(command).flat_map(Command::get_positionals)).collect();
    if let Some(first) = positional.first() {
        text.push_str(&wrapped(&help(first.get_help()), "    Paths: ", "        "));
    }
    text.push_str("\n    Options:\n");
    for arg in &options {
        let defaults: Vec<_> = arg.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
        let default = if is_switch(arg) || defaults.is_empty() { String::new() } else { format!(" [default: {}]", defaults.join(",")) };
        let line = format!("{}: {}{default}", identifier(arg.get_long().unwrap_or_default()), help(arg.get_help()));
        text.push_str(&wrapped(&line, "        ", "            "));
    }
    text.push_str("    \"\"\"\n");
    let _ = writeln!(text, "    return _command(\"{name}\", locals(){})", if PASSING.contains(&name) { ", passes_code=True" } else { "" });
    text
}

/// The whole module.
fn module() -> String {
    let mut cli = Cli::command();
    cli.build();
    let commands: Vec<&Command> =
        cli.get_subcommands().filter(|command| !OTHERS.contains(&command.get_name()) && command.get_name() != "help").collect();
    let mut text = String::from(
        "\"\"\"The commands of flowmine, as functions.\n\n\
         This module is made from the command line (FLOWMINE_UPDATE=1 cargo test --workspace --lib docs_).\n\"\"\"\n\n\
         from __future__ import annotations\n\n\
         from typing import TYPE_CHECKING, Any\n\n\
         from ._process import Completed, command\n\n\
         if TYPE_CHECKING:\n    from typing import Literal, Sequence\n\n    from ._options import Value\n\n\n\
         def _command(name: str, given: dict[str, Any], passes_code: bool = False) -> Completed:\n    \
         kind = given.pop(\"kind\", None)\n    words = name if kind is None else f\"{name} {kind}\"\n    \
         return command(words, given.pop(\"paths\"), given, passes_code=passes_code)\n\n\n",
    );
    let functions: Vec<String> = commands.iter().map(|command| function(command)).collect();
    text.push_str(&functions.join("\n\n"));
    text.push_str("\n\n__all__ = [\n");
    for command in &commands {
        let _ = writeln!(text, "    \"{}\",", identifier(command.get_name()));
    }
    text.push_str("]\n");
    text
}

#[test]
fn docs_python_has_the_commands() {
    let (now, file) = (module(), Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(FILE));
    if std::env::var_os("FLOWMINE_UPDATE").is_some() {
        std::fs::write(&file, &now).expect("the module can be written");
    }
    let then = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(then == now, "{FILE} is stale: run FLOWMINE_UPDATE=1 cargo test --workspace --lib docs_");
}

#[test]
fn a_kind_of_import_has_no_option_of_another_form() {
    let mut cli = Cli::command();
    cli.build();
    for command in cli.get_subcommands() {
        for kind in kinds_of(command).filter(|_| !OTHERS.contains(&command.get_name())) {
            for arg in kind.get_arguments().filter(|arg| arg.get_long().is_some_and(|long| long != "help")) {
                let same = options(command).into_iter().find(|known| known.get_long() == arg.get_long());
                let form = |arg: &Arg| annotation(arg);
                assert_eq!(same.map(form), Some(form(arg)), "{} {}", kind.get_name(), arg.get_id());
            }
        }
    }
}

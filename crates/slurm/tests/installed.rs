//! The table of options against the programs that are installed: what they say of an option without
//! an argument, and of one with an argument behind `=`. None of them submits anything.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]

#[path = "../../../tests/support/require.rs"]
mod require;

use std::process::{Command, Stdio};

use flowmine_slurm::options::{Argument, Named, Program};
use require::require;

/// No controller listens at this address; the options are read before one is asked.
const CONFIGURATION: &str =
    "ClusterName=t\nSlurmctldHost=localhost(127.0.0.1)\nSlurmctldPort=1\nNodeName=localhost\nPartitionName=p Nodes=localhost Default=YES\n";

/// What a program says of the words.
fn says(program: &str, configuration: &std::path::Path, words: &[&str]) -> String {
    let mut command = Command::new(program);
    command.args(words).env("SLURM_CONF", configuration).stdin(Stdio::null()).env("LC_ALL", "C");
    String::from_utf8_lossy(&command.output().unwrap().stderr).into_owned()
}

#[test]
fn the_installed_sbatch_takes_the_same_arguments() {
    let there = Command::new("sbatch").arg("--version").output().is_ok();
    if !require("slurm", "sbatch", there) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let configuration = dir.path().join("slurm.conf");
    std::fs::write(&configuration, CONFIGURATION).unwrap();
    let says = |words: &[&str]| says("sbatch", &configuration, words);
    let (mut wrong, mut known) = (Vec::new(), 0);
    for option in Program::Sbatch.options() {
        // These answer and end, before the options behind them are read.
        if matches!(option.name, "autocomplete" | "help" | "usage" | "version") {
            continue;
        }
        let long = format!("--{}", option.name);
        let alone = says(&[&long]);
        if alone.contains("unrecognized option") {
            continue;
        }
        known += 1;
        let needs = alone.contains("requires an argument");
        if needs != (option.argument == Argument::Required) {
            wrong.push(format!("{long}: {alone}"));
        }
        // Only a flag has no argument in any release; an optional one can be none in an older one.
        let with = says(&[&format!("{long}=x")]);
        if option.argument == Argument::None && !with.contains("doesn't allow an argument") {
            wrong.push(format!("{long}=x: {with}"));
        }
        if let Some(letter) = option.letter {
            let alone = says(&[&format!("-{letter}")]);
            if alone.contains("requires an argument") != (option.argument == Argument::Required) || alone.contains("invalid option") {
                wrong.push(format!("-{letter}: {alone}"));
            }
            // The letter behind an argument that is optional is part of it.
            let behind = says(&[&format!("-{letter}&")]);
            if behind.contains("invalid option") != (option.argument == Argument::None) {
                wrong.push(format!("-{letter}&: {behind}"));
            }
        }
    }
    for letter in ('a'..='z').chain('A'..='Z').filter(|letter| Program::Sbatch.short(*letter).is_none()) {
        let alone = says(&[&format!("-{letter}")]);
        if !alone.contains("invalid option") {
            wrong.push(format!("-{letter}: {alone}"));
        }
    }
    // Shortened names. Older releases have fewer options, so that they know more of these.
    for option in Program::Sbatch.options() {
        for end in 1..option.name.len() {
            let short = &option.name[..end];
            let said = says(&[&format!("--{short}")]);
            let is_one = match Program::Sbatch.long(short) {
                Named::One(one) => one.argument == Argument::Required,
                Named::Several | Named::Unknown => continue,
            };
            if matches!(option.name, "autocomplete" | "help" | "usage" | "version") || said.contains("unrecognized option") {
                continue;
            }
            if said.contains("is ambiguous") || said.contains("requires an argument") != is_one {
                wrong.push(format!("--{short}: {said}"));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(known > 90, "{known} options of sbatch were compared");
}

//! `flowmine transform`, as typed.

use std::path::PathBuf;

use clap::Args;
use flowmine_api::transform::{Collisions, Request};

use super::options::choice;

/// `flowmine transform`.
#[derive(Debug, Args)]
#[command(after_help = "Built-in layers: apptainer, docker, environment, failure, monitor, podman, retry, sandbox, timelimit. \
    A file of yours is JSON or JX; of several functions in it FILE#NAME is one. docs/transform.md defines it all. Nothing of a \
    workflow or a layer is run by this command.")]
pub struct Transform {
    /// Makeflow's JSON or JX (.json, .jx), its own language (.makeflow, .mf), tasks of the algebra
    /// paper's form in the same, a Slurm job script or a script that submits such, a Snakefile, or
    /// a list of commands, one a line.
    #[arg(value_name = "WORKFLOW")]
    pub workflow: PathBuf,
    /// Layer around the tasks: a file, FILE#NAME, or the name of a built-in; repeatable, the first
    /// is the innermost.
    #[arg(long, value_name = "LAYER", required = true)]
    pub apply: Vec<String>,
    /// Value of a name that the layers bind with `let`, such as image=debian.
    #[arg(long = "let", value_name = "NAME=VALUE", value_parser = binding)]
    pub values: Vec<(String, String)>,
    /// Definitions for a workflow in JX, as of makeflow --jx-args: an object in a file. They hold
    /// in place of the workflow's own.
    #[arg(long, value_name = "FILE")]
    pub jx_args: Vec<PathBuf>,
    /// Only the tasks of this name, category or output; repeatable. The others stay unchanged.
    #[arg(long, value_name = "RULE")]
    pub select: Vec<String>,
    /// The new workflow; the layers' scripts are written next to it, and both run from that
    /// directory.
    #[arg(short, long, value_name = "FILE", required_unless_present_any = ["check", "dry_run", "explain"])]
    pub out: Option<PathBuf>,
    /// Treatment of two tasks with the same output name.
    #[arg(long, value_name = "COLLISIONS", default_value = "refuse", value_parser = choice::<Collisions>())]
    pub collisions: Collisions,
    /// Print the layers of this task, bound, and write nothing.
    #[arg(long, value_name = "RULE", conflicts_with_all = ["check", "dry_run"])]
    pub explain: Option<String>,
    /// Only check whether the layers fit the tasks.
    #[arg(long)]
    pub check: bool,
    /// Print the new workflow, and write nothing.
    #[arg(long, conflicts_with = "check")]
    pub dry_run: bool,
}

impl Transform {
    /// The request for the library.
    pub fn request(&self) -> Request {
        Request {
            workflow: self.workflow.clone(),
            layers: self.apply.clone(),
            values: self.values.clone(),
            jx_args: self.jx_args.clone(),
            selection: self.explain.iter().chain(&self.select).cloned().collect(),
            collisions: self.collisions,
            out: self.out.clone(),
        }
    }
}

fn binding(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("it is NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

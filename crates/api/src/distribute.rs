//! The work of one command as tasks for a scheduler or a workflow engine.
//!
//! A [`Plan`] lists the tasks. Scripts and workflows name only the plan's file and numbers of tasks,
//! so names of hosts never go through a shell. [`work`] carries out one task.

mod estimate;
mod plan;
mod slurm;
mod work;
mod workflow;

use std::io::Write;
use std::path::{Path, PathBuf};

use flowmine_attribution::hosts;
use flowmine_attribution::partial::{Collection, expected, short_name};
use flowmine_dataset::Dataset;
use flowmine_files::{Folder, MadeFiles};

pub use plan::{LOGS, PARTIALS, PLAN, Plan};
use work::MERGED;
pub use work::{Task, Worked, work};

use crate::correlate::HubOptions;
use crate::error::{Error, Result, ensure};
use crate::options::Choice;
use crate::output;
use crate::sink::Sink;
use estimate::Estimate;

/// What is distributed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// `flowmine correlate`.
    Correlate,
}

impl Choice for What {
    const VALUES: &'static [(&'static str, &'static str, Self)] =
        &[("correlate", "Partial results of hosts, then the merge", Self::Correlate)];
}

/// What starts the tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Launcher {
    /// A job array of Slurm, and a job that depends on it.
    Slurm,
    /// Makeflow, in JX.
    Makeflow,
    /// Snakemake.
    Snakemake,
}

impl Choice for Launcher {
    const VALUES: &'static [(&'static str, &'static str, Self)] = &[
        ("slurm", "A job array of Slurm and a job for the merge", Self::Slurm),
        ("makeflow", "A workflow for Makeflow, in JX", Self::Makeflow),
        ("snakemake", "A workflow for Snakemake", Self::Snakemake),
    ];
}

/// How the work is distributed.
#[derive(Debug, Clone)]
pub struct Options {
    /// The work.
    pub what: What,
    /// What starts the tasks.
    pub launcher: Launcher,
    /// The dataset, as all machines see it.
    pub dataset: PathBuf,
    /// The directory for the plan, the scripts and the partial results, as all machines see it.
    pub dir: PathBuf,
    /// Maximum number of tasks; one for each host within Slurm's usual limit if there is none.
    pub tasks: Option<usize>,
    /// The program flowmine, as all machines see it.
    pub program: PathBuf,
    /// Case notion of the report.
    pub case_notion: Option<String>,
    /// From when on a file joins no runs.
    pub hubs: HubOptions,
    /// Whether the jobs are submitted.
    pub submit: bool,
}

/// What was written and submitted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Distributed {
    /// Number of tasks of the plan.
    pub tasks: usize,
    /// The tasks that are not done, counted from 1.
    pub missing: Vec<usize>,
    /// The files that were written.
    pub files: Vec<PathBuf>,
    /// Slurm's numbers of the jobs: that of the array if any task is missing, and that of the merge.
    pub jobs: Vec<String>,
    /// Time of a task and of the merge for which is asked, in minutes.
    pub minutes: (u64, u64),
    /// Memory of a task and of the merge for which is asked, in mebibytes.
    pub mebibytes: (u64, u64),
}

/// Number of tasks without an option: below the largest array of Slurm's default configuration.
const TASKS: usize = 1000;

/// Plans the tasks, writes what a launcher reads, and submits it if that is asked for. Tasks with
/// partial results that are still valid are left out.
///
/// # Errors
/// When the dataset has no traces or cannot be read, the files cannot be written, or Slurm refuses
/// the jobs.
pub fn distribute(options: &Options, sink: &dyn Sink) -> Result<Distributed> {
    let What::Correlate = options.what;
    ensure!(!options.submit || options.launcher == Launcher::Slurm, "--submit is for --on slurm: start the engine with the workflow");
    let dataset = Dataset::open(&options.dataset)?;
    let hosts = hosts(&dataset)?;
    ensure!(!hosts.is_empty(), "{}: the dataset has no traces: there is nothing to distribute", options.dataset.display());
    options.case_notion.as_deref().map(crate::jobs::notion).transpose()?;
    let estimate = Estimate::new(&dataset, &hosts)?;
    let folder = Folder::make(&options.dir, dataset.access().folder_mode())?;
    ensure!(!Dataset::holds(&folder)?, "{}: it is a dataset or lies in one: give another directory", options.dir.display());
    // Slurm and engines run later what lies here.
    output::refuse_strangers(&folder, sink)?;
    let dir = absolute(&options.dir)?;
    let plan = Plan {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        dataset: text(&absolute(&options.dataset)?)?,
        tasks: estimate.shares(options.tasks.unwrap_or(TASKS)),
        case_notion: options.case_notion.clone(),
        hubs: options.hubs,
    };
    let missing = missing(&dataset, &folder, &plan)?;
    let program = text(&program(&options.program)?)?;
    let needs = estimate.needs(&plan.tasks);
    let mut done = Distributed { tasks: plan.tasks.len(), files: vec![dir.join(PLAN)], ..Distributed::default() };
    (done.minutes, done.mebibytes) = ((needs.task.minutes, needs.merge.minutes), (needs.task.mebibytes, needs.merge.mebibytes));
    if options.launcher == Launcher::Slurm {
        // A shell writes the logs, and would follow links that others put in a folder of theirs.
        folder.make_own_folder(LOGS, 0o700)?;
    }
    let scripts = slurm::Scripts::new(&text(&dir)?, &program, &missing, &needs);
    let files = match options.launcher {
        Launcher::Slurm => scripts.files(),
        Launcher::Makeflow => {
            // Makeflow's log lies next to its workflow and counts rules by number: other work has another name.
            let workflow = workflow::makeflow(&plan, &missing, &program)?;
            let tag = short_name(&workflow, &expected(&dataset, &hosts)?).map_err(|error| Error::Refused(error.to_string()))?;
            vec![(format!("correlate-{tag}.makeflow.json"), workflow)]
        }
        Launcher::Snakemake => vec![("Snakefile".to_owned(), workflow::snakemake(&plan, &missing, &program)?)],
    };
    let mut made = MadeFiles::new(&folder)?;
    made.claim(files.iter().map(|(name, _)| name.clone()).chain([PLAN, MERGED].map(str::to_owned)))?;
    // What an earlier merge left would be taken as done.
    match folder.remove(MERGED) {
        Err(error) if !error.is_not_found() => return Err(error.into()),
        _ => {}
    }
    plan.write(&folder)?;
    for (name, content) in files {
        flowmine_dataset::row_file::put(&folder, &name, content.as_bytes())?;
        done.files.push(dir.join(name));
    }
    made.finish()?;
    if options.submit {
        done.jobs = scripts.submit()?;
    }
    done.missing = missing;
    Ok(done)
}

/// The tasks, counted from 1, of which a host has no valid partial result.
fn missing(dataset: &Dataset, folder: &Folder, plan: &Plan) -> Result<Vec<usize>> {
    let above = folder.make_own_folder(PARTIALS, 0o700)?;
    let mut missing = Vec::new();
    for (number, hosts) in (1..).zip(&plan.tasks) {
        let mut is_missing = false;
        for manifest in expected(dataset, hosts)?.values() {
            if Collection::made(&above, manifest)?.is_none() {
                // An engine would take an old one as done.
                Collection::discard(&above, &manifest.host)?;
                is_missing = true;
            }
        }
        if is_missing {
            missing.push(number);
        }
    }
    Ok(missing)
}

fn absolute(path: &Path) -> Result<PathBuf> {
    Ok(std::path::absolute(path)?)
}

/// A program that is named without a directory is found by each machine.
fn program(path: &Path) -> Result<PathBuf> {
    if path.components().count() == 1 && !path.is_absolute() { Ok(path.to_owned()) } else { absolute(path) }
}

fn text(path: &Path) -> Result<String> {
    let text = path.to_str().filter(|text| !text.contains(['\n', '\0']));
    text.map(str::to_owned).ok_or_else(|| Error::Refused(format!("{}: a script cannot contain this path", path.display())))
}

impl Distributed {
    /// The outcome for people.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write(&self, out: &mut dyn Write) -> std::io::Result<()> {
        let (task, merge) = (self.minutes.0, self.minutes.1);
        writeln!(out, "{} tasks, {} of them missing, and a merge", self.tasks, self.missing.len())?;
        writeln!(out, "a task: {task} min, {} MiB; the merge: {merge} min, {} MiB", self.mebibytes.0, self.mebibytes.1)?;
        for file in &self.files {
            writeln!(out, "{}", file.display())?;
        }
        for job in &self.jobs {
            writeln!(out, "submitted job {job}")?;
        }
        Ok(())
    }
}

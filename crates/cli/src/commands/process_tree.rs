//! `flowmine discover --model process-tree`.

use anyhow::Context;
use flowmine_activity_log::{IoPhase, Processes};
use flowmine_dataset::Dataset;
use flowmine_discover::process_tree::{self, Options, ProcessTree};
use flowmine_logs::{io_phases, process_rows};

use super::processes;
use crate::args::{Discover, FoldArg};
use crate::progress::Stage;

const WHAT: &str = "process-tree is made of the processes of a dataset";

fn open(args: &Discover) -> anyhow::Result<Dataset> {
    let Some(dir) = args.source.only_dataset() else { anyhow::bail!("{WHAT}: give --dataset DIR") };
    processes::check(args, WHAT)?;
    Ok(Dataset::open(dir)?)
}

/// Makes the fork tree of a dataset, or of the part of it that is asked for: those that are chosen,
/// and from which they descend.
pub fn make(args: &Discover) -> anyhow::Result<ProcessTree> {
    let dataset = open(args)?;
    let stage = Stage::new("reading the dataset");
    let mut all = process_rows::read(&dataset)?;
    if let Some(chosen) = processes::chosen(args, &dataset, &all).with_context(|| dataset.dir().display().to_string())? {
        all = all.only(&all.with_parents(chosen));
    }
    drop(stage);
    let _stage = Stage::new("discovering");
    Ok(process_tree::discover(&all, &Options { fold: args.fold.map(FoldArg::fold), ..Options::default() }))
}

/// The processes that are asked for, and when each of them read and wrote.
pub fn with_phases(args: &Discover) -> anyhow::Result<(Processes, Vec<Vec<IoPhase>>)> {
    let dataset = open(args)?;
    let _stage = Stage::new("reading the dataset");
    let (all, phases) = io_phases::read(&dataset)?;
    let Some(chosen) = processes::chosen(args, &dataset, &all).with_context(|| dataset.dir().display().to_string())? else {
        return Ok((all, phases));
    };
    let kept = all.with_parents(chosen);
    let phases = phases.into_iter().zip(&kept).filter(|(_, kept)| **kept).map(|(phases, _)| phases).collect();
    Ok((all.only(&kept), phases))
}

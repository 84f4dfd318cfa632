//! `flowmine discover --model critical-path|check|spec`: models of one run.

use anyhow::Context;
use flowmine_correlate::Filter;
use flowmine_dataset::Dataset;
use flowmine_discover::pictures::{check as check_picture, critical_path as path_picture, perfetto, spec as language};
use flowmine_discover::{check, critical_path, spec};
use flowmine_logs::task_log::Tasks;
use flowmine_logs::{run_graph, unrecorded};
use flowmine_privacy::RowRules;

use super::model_output::Made;
use super::{jobs, lower_bounds, spec_notes};
use crate::args::{Discover, Model, ModelFormat};
use crate::progress::Stage;

/// Makes the model and a way to write it, and whether it lacks what there was.
pub fn make(args: &Discover, format: ModelFormat) -> anyhow::Result<(Made<'static>, bool)> {
    let Some(dir) = args.source.only_dataset() else {
        anyhow::bail!(
            "this model is made of a run in a dataset, with what its tasks waited for, which no event log tells: give --dataset DIR"
        );
    };
    anyhow::ensure!(
        !args.chooses_a_part(),
        "this model is made of a whole run: choose it with --run, or jobs with --from, --to, --account and --user, and leave the other filters out"
    );
    anyhow::ensure!(args.faster > 1.0 && args.faster.is_finite(), "--faster says by what a part of the run is divided: more than 1");
    let dataset = Dataset::open(dir)?;
    lower_bounds::warn(&dataset)?;
    let stage = Stage::new("reading the dataset");
    let rules = RowRules::default();
    let times = jobs::time_filter(&args.filter)?;
    let filter = Filter { accounts: args.filter.account.clone(), users: args.filter.user.clone(), ..times.clone() };
    let mut run = run_graph::read(&dataset, &Tasks::new(&dataset, &rules, &times), &filter, args.run.as_deref())
        .with_context(|| format!("{} has no run of which this model can be made", dir.display()))?;
    if args.model == Model::Spec {
        unrecorded::find(&dataset, &mut run)?;
    }
    drop(stage);
    let _stage = Stage::new("discovering");
    if args.model == Model::Spec {
        let made = spec::discover(&run).with_context(|| format!("{} cannot be written as a workflow", run.name))?;
        let lacks = spec_notes::say(&made);
        let text = match format {
            ModelFormat::Make => language::make(&made)?,
            ModelFormat::Snakemake => language::snakemake(&made)?,
            ModelFormat::Slurm => language::slurm(&made)?,
            _ => language::makeflow(&made)?,
        };
        return Ok((Box::new(move |out| Ok(out.write_all(text.as_bytes())?)), lacks));
    }
    if args.model == Model::Check {
        let found = check::discover(&run);
        let write: Made<'static> = Box::new(move |out| match format {
            ModelFormat::Json => Ok(check_picture::json(&found, out)?),
            ModelFormat::Csv => Ok(check_picture::csv(&found, out)?),
            _ => Ok(out.write_all(check_picture::text(&found).as_bytes())?),
        });
        return Ok((write, false));
    }
    let found = critical_path::discover(&run, &critical_path::Options { faster: args.faster, ..critical_path::Options::default() });
    let write: Made<'static> = Box::new(move |out| match format {
        ModelFormat::Json => Ok(path_picture::json(&found, out)?),
        ModelFormat::Csv => Ok(path_picture::csv(&found, out)?),
        ModelFormat::Svg => Ok(out.write_all(path_picture::svg(&found).as_bytes())?),
        ModelFormat::Perfetto => Ok(perfetto::critical_path(&found, out)?),
        _ => Ok(out.write_all(path_picture::text(&found).as_bytes())?),
    });
    Ok((write, false))
}

//! `flowmine discover --model access-share|accesses`.

use anyhow::Context;
use flowmine_dataset::Dataset;
use flowmine_file_access::pictures::{access_share, accesses as accesses_picture};
use flowmine_file_access::{accesses, find, share, table};

use super::lower_bounds;
use crate::args::{Discover, FilterArgs, Model, ModelFormat, TimestampArg};
use crate::outcome::Outcome;
use crate::output;
use crate::progress::Stage;

/// Writes what tasks did to files.
pub fn run(args: &Discover) -> anyhow::Result<Outcome> {
    let what = "access-share and accesses are about the tasks of a dataset";
    anyhow::ensure!(args.source.log.is_empty(), "{what}: --log is for event logs");
    let dir = args.source.dataset.as_deref().with_context(|| format!("{what}: say which with --dataset DIR"))?;
    let FilterArgs { account, user, from, to } = &args.filter;
    let of_jobs = !account.is_empty() || !user.is_empty() || from.is_some() || to.is_some() || args.timestamp != TimestampArg::default();
    anyhow::ensure!(
        !of_jobs && args.case_notion.is_none(),
        "{what}: --account, --user, --from, --to, --timestamp and --case-notion are for graphs"
    );
    const FORMATS: [ModelFormat; 3] = [ModelFormat::Svg, ModelFormat::Csv, ModelFormat::Json];
    let format = match args.format {
        None => super::model_output::by_name(args.output.as_deref(), &FORMATS)?,
        given => given,
    };
    let format = format.unwrap_or(ModelFormat::Svg);
    anyhow::ensure!(FORMATS.contains(&format), "{what}: they are written as svg, csv or json");
    let stage = Stage::new("reading");
    let dataset = Dataset::open(dir)?;
    lower_bounds::warn(&dataset)?;
    if args.model == Model::AccessShare {
        anyhow::ensure!(args.file.is_none(), "--file chooses the file of --model accesses");
        let shares = share::read(&dataset)?;
        drop(stage);
        output::write(args.output.as_deref(), |out| match format {
            ModelFormat::Csv => Ok(table::shares_csv(&shares, out)?),
            ModelFormat::Json => Ok(table::shares_json(&shares, out)?),
            _ => Ok(out.write_all(access_share::svg(&shares).as_bytes())?),
        })?;
        return Ok(Outcome::Clean);
    }
    let file = args
        .file
        .as_deref()
        .context("--model accesses draws the accesses to one file: say which with --file PATH, as task_io.path has it")?;
    let accesses = accesses::read(&dataset, &find::find(&dataset, file)?)?;
    drop(stage);
    output::write(args.output.as_deref(), |out| match format {
        ModelFormat::Csv => Ok(table::accesses_csv(&accesses, out)?),
        ModelFormat::Json => Ok(table::accesses_json(&accesses, out)?),
        _ => Ok(out.write_all(accesses_picture::svg(&accesses).as_bytes())?),
    })?;
    Ok(Outcome::Clean)
}

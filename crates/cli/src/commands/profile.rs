//! `flowmine discover --model profile`.

use anyhow::Context;
use flowmine_activity_log::NONE;
use flowmine_activity_log::filter::matches;
use flowmine_dataset::Dataset;
use flowmine_discover::pictures::profile as picture;
use flowmine_discover::pictures::profile::Table;
use flowmine_discover::profile::{Builder, Groups, Options};
use flowmine_logs::process_groups::{self, GroupBy};
use flowmine_logs::process_rows::Places;
use flowmine_logs::{operations, process_rows};

use super::model_output::Made;
use super::{lower_bounds, processes};
use crate::args::{ByArg, Discover, ModelFormat, TableArg};
use crate::progress::Stage;

/// Makes the profile and a way to write it, and says whether operations were lost by the trace.
pub fn make(args: &Discover, format: ModelFormat) -> anyhow::Result<(Made<'static>, bool)> {
    let what = "profile is made of the traced operations of a dataset";
    let Some(dir) = args.source.only_dataset() else { anyhow::bail!("{what}: give --dataset DIR") };
    processes::check(args, what)?;
    let table = table(args.table)?;
    let by = match args.by {
        None | Some(ByArg::Activity) => GroupBy::Activity,
        Some(ByArg::Program) => GroupBy::Program,
        Some(ByArg::Task) => GroupBy::Task,
        Some(ByArg::Job) => GroupBy::Job,
        Some(ByArg::Host) => GroupBy::Host,
        Some(ByArg::Process) => anyhow::bail!("--by process is for --model dag; --table processes has each process"),
    };
    let dataset = Dataset::open(dir)?;
    let _stage = Stage::new("reading the dataset");
    let (all, places) = process_rows::read_places(&dataset)?;
    let (names, mut of) = process_groups::groups(&dataset, &all, by)?;
    let chosen = processes::chosen(args, &dataset, &all).with_context(|| dir.display().to_string())?;
    if let Some(chosen) = &chosen {
        of.iter_mut().zip(chosen).filter(|(_, chosen)| !**chosen).for_each(|(of, _)| *of = NONE);
    }
    let owned = all.rows.iter().any(|row| row.owner != NONE);
    // What processes belong to where nothing is known of tasks.
    let word = if by == GroupBy::Activity && !owned { GroupBy::Program.word() } else { by.word() };
    let files = args.file.as_deref().map(|pattern| files(&dataset, &places, pattern)).transpose()?;
    let groups = Groups { by: word, names, of, whole: chosen.is_none(), files };
    let mut builder = Builder::new(&all, groups, Options::default());
    let files = operations::each(&dataset, &places, |operation| builder.add(operation))?;
    anyhow::ensure!(
        files.events > 0 || files.sums > 0,
        "{}: no operation on a file was traced; `flowmine trace` traces a command",
        dir.display()
    );
    let lost = lower_bounds::warn(&dataset)?;
    let found = builder.finish(&files.paths, (lost.count, lost.bytes));
    let made: Made<'static> = Box::new(move |out| match format {
        ModelFormat::Json => Ok(picture::json(&found, out)?),
        ModelFormat::Csv => Ok(picture::csv(&found, table, out)?),
        ModelFormat::Svg => Ok(out.write_all(picture::svg(&found).as_bytes())?),
        _ => Ok(out.write_all(picture::text(&found).as_bytes())?),
    });
    Ok((made, lost.count > 0))
}

/// Which files are called so. Their paths are known when all operations have been read: then they
/// are read once more.
fn files(dataset: &Dataset, places: &Places, pattern: &str) -> anyhow::Result<Vec<bool>> {
    let all = operations::each(dataset, places, |_| {})?;
    let wanted: Vec<bool> = all.paths.iter().map(|path| matches(pattern, path)).collect();
    anyhow::ensure!(
        wanted.contains(&true),
        "no operation on a file called {pattern:?} was traced; --table files has the files, and * stands for any text"
    );
    Ok(wanted)
}

fn table(table: TableArg) -> anyhow::Result<Table> {
    Ok(match table {
        TableArg::Activities | TableArg::Operations => Table::Operations,
        TableArg::Groups => Table::Groups,
        TableArg::Distributions => Table::Distributions,
        TableArg::Files => Table::Files,
        TableArg::Processes => Table::Processes,
        TableArg::Uses => Table::Uses,
        TableArg::OverTime => Table::OverTime,
        TableArg::OverOffset => Table::OverOffset,
        TableArg::Advice => Table::Advice,
        TableArg::Cases | TableArg::Edges => anyhow::bail!(
            "the tables of a profile are operations, groups, distributions, files, processes, uses, over-time, over-offset and advice"
        ),
    })
}

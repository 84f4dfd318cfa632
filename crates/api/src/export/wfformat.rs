//! Workflow runs of a dataset as instances in WfFormat.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::path::Path;

use flowmine_attribution::task_attempts::for_each;
use flowmine_correlate::Timestamp;
use flowmine_dataset::Dataset;
use flowmine_extract_workflow::wfformat::write::{Instance, Run, file_name, runs};
use flowmine_privacy::RowRules;
use flowmine_schema::tables::{DataFlow, TaskIo};

use super::{Exported, Request};
use crate::error::{Context, Error, Result, ensure, refuse};
use crate::lower_bounds;
use crate::output;
use crate::sink::{Message, Sink};

flowmine_schema::columns! {
    /// How far a task wrote into a file.
    struct WrittenTo of TaskIo { task, path, write_offset_end }
}

flowmine_schema::columns! {
    /// Who read what another wrote.
    struct Gave of DataFlow { writer_type, writer, reader_type, reader, path }
}

/// Writes an instance for each run.
pub fn export(request: &Request, sink: &dyn Sink) -> Result<Exported> {
    let what = "wfformat holds the workflow runs of a dataset";
    ensure!(request.source.logs.is_empty(), "{what}: --log is for event logs");
    let dir = request.source.dataset.as_deref().with_context(|| format!("{what}: choose one with --dataset DIR"))?;
    let of_jobs = !request.filter.is_open() || request.timestamp != Timestamp::default();
    ensure!(!of_jobs, "--account, --user, --from, --to and --timestamp choose among jobs; {what}: choose one with --run");
    ensure!(request.case_notion.is_none() && !request.milliseconds, "{what}: --case-notion and --milliseconds are for event logs");
    // Names stand in every path and command: to write them as they are would break a promise.
    ensure!(
        request.pseudonymise.is_none() && request.drop.is_empty(),
        "wfformat is written with names as they are: --pseudonymise and --drop are for event logs"
    );
    let stage = sink.stage("writing the runs");
    let dataset = Dataset::open(dir)?;
    lower_bounds::warn(&dataset, sink)?;
    let mut runs = runs(&dataset, request.run.as_deref())?;
    add_data_flow(&dataset, &mut runs)?;
    let asked = request.run.as_ref().map(|run| format!(" with the id or name {run:?}")).unwrap_or_default();
    ensure!(!runs.is_empty(), "there is no workflow run{asked} in this dataset: `flowmine import nextflow` and its like bring them");
    let mut refused = 0;
    let mut instances: Vec<(&Run, Instance)> = Vec::new();
    for run in &runs {
        match run.instance() {
            Ok(instance) => instances.push((run, instance)),
            Err(why) => {
                refused += 1;
                sink.warning(&format!("the {} run {} is not written: {why}", run.engine, run.label().unwrap_or("without a name")));
            }
        }
    }
    let path = request.place();
    match (&instances[..], path) {
        ([], _) => refuse!("no run could be written"),
        ([(_, instance)], path) if path.is_none_or(|path| !path.is_dir()) => write(path, instance)?,
        (several, Some(dir)) => {
            let names = file_names(several);
            let mut made = output::made_in(dir)?;
            made.claim(names.iter().cloned()).with_context(|| dir.display().to_string())?;
            for ((_, instance), name) in several.iter().zip(names) {
                write(Some(&dir.join(name)), instance)?;
            }
            made.finish().with_context(|| dir.display().to_string())?;
        }
        (several, None) => refuse!("there are {} runs: give an output directory with -o DIR, or choose one run with --run", several.len()),
    }
    drop(stage);
    let mut left: BTreeMap<&str, u64> = BTreeMap::new();
    instances.iter().flat_map(|(_, instance)| &instance.left).for_each(|(what, count)| *left.entry(what).or_default() += count);
    for (what, count) in left {
        sink.warning(&format!("{count} {what}"));
    }
    let not = if refused > 0 { format!(", {refused} not") } else { String::new() };
    sink.message(Message::Done(&format!("{} runs written{not}", instances.len())));
    Ok(Exported { is_lossy: refused > 0 })
}

/// Who read whose data, in which files, and how long these are, where `flowmine correlate` found
/// who did what.
fn add_data_flow(dataset: &Dataset, runs: &mut [Run]) -> Result<()> {
    if dataset.row_count::<DataFlow<'static>>()? == 0 {
        return Ok(());
    }
    let text = |text: &Option<std::borrow::Cow<'_, str>>| text.as_deref().map(str::to_owned);
    let of_run: HashMap<_, usize> =
        runs.iter().enumerate().map(|(at, run)| ((run.engine.clone(), run.id.clone(), run.name.clone()), at)).collect();
    let mut tasks: HashMap<String, (usize, String)> = HashMap::new();
    for_each::<Error>(dataset, &RowRules::default(), |attempt| {
        let row = &attempt.row;
        let run = of_run.get(&(row.engine.to_string(), text(&row.run_id), text(&row.run_name)));
        if let (Some(&run), Some(task)) = (run, row.task_id.as_deref()) {
            if attempt.traced.is_some() {
                runs[run].read_from.entry(task.to_owned()).or_default();
            }
            tasks.insert(attempt.key, (run, task.to_owned()));
        }
        Ok(())
    })?;
    dataset.read::<Gave<'static>, Error>(|row| {
        let of = |kind: &Option<std::borrow::Cow<'_, str>>, id: &Option<std::borrow::Cow<'_, str>>| {
            tasks.get(id.as_deref().filter(|_| kind.as_deref() == Some("task"))?)
        };
        if let (Some((run, writer)), Some((of_reader, reader))) = (of(&row.writer_type, &row.writer), of(&row.reader_type, &row.reader))
            && run == of_reader
            && writer != reader
        {
            runs[*run].read_from.entry(reader.clone()).or_default().insert(writer.clone());
            if let Some(path) = text(&row.path) {
                runs[*run].gave.entry(writer.clone()).or_default().insert(path);
            }
        }
        Ok::<(), Error>(())
    })?;
    dataset.read::<WrittenTo<'static>, Error>(|row| {
        if let (Some((run, _)), Some(path), Some(end)) =
            (row.task.as_deref().and_then(|task| tasks.get(task)), &row.path, row.write_offset_end)
        {
            let known = runs[*run].written_to.entry(path.to_string()).or_insert(end);
            *known = end.max(*known);
        }
        Ok(())
    })
}

fn write(path: Option<&Path>, instance: &Instance) -> Result<()> {
    output::write(path, |out| {
        serde_json::to_writer_pretty(&mut *out, &instance.json).map_err(io::Error::from)?;
        Ok(out.write_all(b"\n")?)
    })
}

/// `snakemake-2026-11-22T060002.317716.json`, with a number where that would be there twice.
fn file_names(runs: &[(&Run, Instance)]) -> Vec<String> {
    let mut used = HashSet::new();
    let name = |(run, _): &(&Run, Instance)| {
        // Most file systems take 255 bytes.
        let stem: String = format!("{}-{}", file_name(&run.engine), file_name(run.label().unwrap_or_default())).chars().take(200).collect();
        let mut name = format!("{stem}.json");
        for number in 2.. {
            if used.insert(name.clone()) {
                break;
            }
            name = format!("{stem}-{number}.json");
        }
        name
    };
    runs.iter().map(name).collect()
}

//! A workflow run of a dataset as a Workflow Run RO-Crate.

use std::io;

use flowmine_correlate::Timestamp;
use flowmine_dataset::Dataset;
use flowmine_extract_workflow::ro_crate::write::{METADATA, metadata};
use flowmine_extract_workflow::wfformat::write::{Run, runs};
use flowmine_privacy::RowRules;
use flowmine_privacy::drop::DropColumns;

use super::{Exported, Request};
use crate::error::{Context, Result, ensure, refuse};
use crate::sink::{Message, Sink};
use crate::{lower_bounds, output, pseudonyms};

/// Writes the metadata of one run, into the directory of its crate.
pub fn export(request: &Request, sink: &dyn Sink) -> Result<Exported> {
    let what = "ro-crate is for a workflow run of a dataset";
    ensure!(request.source.logs.is_empty(), "{what}: --log is for event logs");
    let dir = request.source.dataset.as_deref().with_context(|| format!("{what}: name the dataset with --dataset DIR"))?;
    ensure!(
        request.filter.is_open() && request.timestamp == Timestamp::default(),
        "{what}: choose one with --run; --account, --user, --from, --to and --timestamp are for jobs"
    );
    ensure!(request.case_notion.is_none() && !request.milliseconds, "{what}: --case-notion and --milliseconds are for event logs");
    let stage = sink.stage("writing the crate");
    let dataset = Dataset::open(dir)?;
    lower_bounds::warn(&dataset, sink)?;
    let codes = request.pseudonymise.as_deref().map(|key| pseudonyms::read_key(key, sink)).transpose()?;
    let pseudonymiser = codes.map(|codes| pseudonyms::of_dataset(&dataset, codes, sink)).transpose()?;
    let rules = RowRules { drop: DropColumns::parse(&request.drop).context("--drop")?, pseudonymiser };
    let mut found = runs(&dataset, request.run.as_deref())?;
    let asked = request.run.as_ref().map(|run| format!(" with the id or name {run:?}")).unwrap_or_default();
    let Some(run) = found.pop() else { refuse!("the dataset has no workflow run{asked}: `flowmine import` reads the files of an engine") };
    if !found.is_empty() {
        let names: Vec<String> = found.iter().chain([&run]).take(10).map(|run| format!("{:?}", run.label().unwrap_or_default())).collect();
        refuse!(
            "the dataset has {} workflow runs{asked}, and a crate is for one: choose it with --run, as {}",
            found.len() + 1,
            names.join(", ")
        );
    }
    let Run { rows, .. } = run;
    let rows: Vec<_> = rows.into_iter().map(|row| rules.apply(row)).collect();
    let made = match metadata(&rows) {
        Ok(made) => made,
        Err(why) => refuse!("no crate is written: {why}"),
    };
    let write = |path: Option<&std::path::Path>| {
        output::write(path, |out| {
            serde_json::to_writer_pretty(&mut *out, &made.json).map_err(io::Error::from)?;
            Ok(out.write_all(b"\n")?)
        })
    };
    match request.place() {
        None => write(None)?,
        Some(dir) => {
            let mut files = output::made_in(dir)?;
            files.claim([METADATA.to_owned()]).with_context(|| dir.display().to_string())?;
            write(Some(&dir.join(METADATA)))?;
            files.finish().with_context(|| dir.display().to_string())?;
        }
    }
    drop(stage);
    for (what, count) in &made.notes {
        sink.warning(&format!("{count} {what}"));
    }
    sink.message(Message::Done(&format!("{} tasks written", rows.len())));
    Ok(Exported { is_lossy: false })
}

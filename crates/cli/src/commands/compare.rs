//! `flowmine discover --model compare`.

use anyhow::Context;
use flowmine_discover::{compare, pictures};

use super::log;
use super::model_output::Made;
use crate::args::{Discover, ModelFormat, OtherArgs};
use crate::progress::Stage;

/// Makes the comparison, a way to write it, and whether one of the two logs has losses.
pub fn make(args: &Discover, format: ModelFormat) -> anyhow::Result<(Made<'static>, bool)> {
    let second = second(args)?;
    let (one, other) = (log::load(args)?, log::load(&second)?);
    let _stage = Stage::new("discovering");
    let cases = |loaded: &log::Loaded| loaded.log.cases().cloned().context("the log has no cases");
    let (first_cases, second_cases) = (cases(&one)?, cases(&other)?);
    let found = compare::discover((&name(args), &one.log, &first_cases), (&name(&second), &other.log, &second_cases));
    let made: Made<'static> = Box::new(move |out| match format {
        ModelFormat::Json => Ok(pictures::compare::json(&found, out)?),
        ModelFormat::Csv => Ok(pictures::compare::csv(&found, out)?),
        _ => Ok(out.write_all(pictures::compare::text(&found).as_bytes())?),
    });
    Ok((made, one.lossy || other.lossy))
}

/// What would have been asked for, had only the second been asked for.
fn second(args: &Discover) -> anyhow::Result<Discover> {
    let OtherArgs { with, with_run, with_case, with_from, with_to } = &args.other;
    anyhow::ensure!(
        args.other != OtherArgs::default(),
        "--model compare puts two beside each other: say which the second is, with --with DIR|FILE, --with-run, --with-case, --with-from or --with-to"
    );
    let mut second = args.clone();
    if let Some(with) = with {
        let (dataset, log) = if with.is_dir() { (Some(with.clone()), Vec::new()) } else { (None, vec![with.clone()]) };
        (second.source.dataset, second.source.log, second.source.paths) = (dataset, log, Vec::new());
        // Another place has other runs and cases.
        (second.run, second.part.case) = (None, Vec::new());
    }
    if with_run.is_some() {
        second.run.clone_from(with_run);
    }
    if let Some(case) = with_case {
        second.part.case = vec![case.clone()];
    }
    if with_from.is_some() || with_to.is_some() {
        (second.filter.from, second.filter.to) = (*with_from, *with_to);
    }
    Ok(second)
}

/// Name of one of the two logs: its source, and what was chosen of it.
fn name(args: &Discover) -> String {
    let mut parts: Vec<String> = args.source.names().map(|path| path.display().to_string()).collect();
    parts.extend(args.run.iter().map(|run| format!("run {run}")));
    parts.extend(args.part.case.iter().map(|case| format!("case {case}")));
    let time = |what: &str, ns: &Option<i64>| ns.map(|ns| format!("{what} {}", flowmine_schema::time::rfc3339(ns)));
    parts.extend(time("from", &args.filter.from).into_iter().chain(time("to", &args.filter.to)));
    parts.join(", ")
}

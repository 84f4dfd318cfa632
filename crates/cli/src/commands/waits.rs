//! `flowmine discover --model waits` and `flowmine why`: what jobs waited for.

use flowmine_activity_log::JobWait;
use flowmine_correlate::cases::{self, CaseNotion};
use flowmine_correlate::waits::last_observation;
use flowmine_correlate::{Entities, Filter, RowRules};
use flowmine_dataset::Dataset;
use flowmine_discover::{pictures, waits};
use flowmine_logs::job_waits;

use super::jobs;
use super::model_output::Made;
use crate::args::{Discover, ModelFormat, TimestampArg, Why};
use crate::outcome::Outcome;
use crate::output;

/// Makes the model and a way to write it.
pub fn make(args: &Discover, format: ModelFormat) -> anyhow::Result<Made<'static>> {
    let Some(dir) = args.source.only_dataset() else {
        anyhow::bail!("--model waits is made of a dataset with jobs: give --dataset DIR and no --log")
    };
    let chosen = Discover { case_notion: None, ..args.clone() };
    anyhow::ensure!(!chosen.chooses_a_part(), "--model waits takes --account, --user, --from and --to, and no other choice of jobs");
    let notion = args.case_notion.as_deref().map_or(Ok(cases::ALL[0]), jobs::notion)?;
    let mut builder = waits::Builder::default();
    for_each(&Dataset::open(dir)?, notion, &jobs::filter(&args.filter)?, args.timestamp, |job| builder.add(job))?;
    let found = builder.finish();
    Ok(Box::new(move |out| match format {
        ModelFormat::Json => Ok(pictures::waits::json(&found, out)?),
        ModelFormat::Csv => Ok(pictures::waits::csv(&found, out)?),
        ModelFormat::Svg => Ok(out.write_all(pictures::waits::svg(&found).as_bytes())?),
        _ => Ok(out.write_all(pictures::waits::text(&found).as_bytes())?),
    }))
}

/// Writes why each of the jobs waited.
pub fn why(args: &Why) -> anyhow::Result<Outcome> {
    let mut found: Vec<String> = Vec::new();
    let mut unknown: Vec<&String> = args.jobs.iter().collect();
    let filter = Filter::default();
    for_each(&Dataset::open(&args.dataset)?, cases::ALL[0], &filter, TimestampArg::default(), |job| {
        let asked = args.jobs.iter().find(|asked| is_asked(asked, job.job));
        if let Some(asked) = asked.filter(|_| args.cluster.as_deref().is_none_or(|cluster| cluster == job.cluster)) {
            unknown.retain(|known| *known != asked);
            found.push(pictures::why::text(job));
        }
    })?;
    anyhow::ensure!(
        unknown.is_empty(),
        "{}: no such job in the dataset; name it as squeue and sacct print it (7, 8_3, 18+1)",
        unknown.iter().map(|job| job.as_str()).collect::<Vec<_>>().join(", ")
    );
    output::write(None, |out| Ok(out.write_all(found.join("\n").as_bytes())?))?;
    Ok(Outcome::Clean)
}

/// Whether a job is the one that was typed, or a task or component of it.
fn is_asked(asked: &str, job: &str) -> bool {
    job.strip_prefix(asked).is_some_and(|rest| rest.is_empty() || rest.starts_with(['_', '+']))
}

fn for_each(
    dataset: &Dataset,
    notion: &'static dyn CaseNotion,
    filter: &Filter,
    timestamp: TimestampArg,
    mut each: impl FnMut(&JobWait<'_>),
) -> anyhow::Result<()> {
    anyhow::ensure!(jobs::has_any(dataset)?, "the dataset has no jobs: observe a queue, or import what squeue or sacct wrote");
    let rules = RowRules::default();
    let until_ns = last_observation(dataset)?;
    let parts = jobs::parts(dataset, timestamp, &rules)?;
    let exchanges = jobs::exchanges(dataset, &parts, &rules, &[notion])?;
    parts.for_each(|jobs| -> anyhow::Result<()> {
        job_waits::for_each(&Entities { jobs, exchanges: &exchanges }, notion, filter, until_ns, &mut each);
        Ok(())
    })
}

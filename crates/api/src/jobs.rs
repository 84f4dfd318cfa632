//! The jobs of a dataset, with filters and case notions as options name them.

use std::path::Path;

use flowmine_attribution::has_traces;
use flowmine_correlate::cases::{self, CaseNotion};
use flowmine_correlate::joined::kept_state;
use flowmine_correlate::parts::{Parts, ROWS_AT_ONCE};
use flowmine_correlate::{Filter, Jobs, Overview, RowRules, Timestamp};
use flowmine_dataset::Dataset;
use flowmine_logs::log_file::stored;
use flowmine_logs::run_graph::NotionOfCase;
use flowmine_logs::task_log::{self, jobs_of_tasks};
use flowmine_schema::tables::{JobState, Link, TaskRun, TaskTotal};
use flowmine_schema::time;

use crate::error::{Error, Result, ensure, refuse};
use crate::groups::EventFilter;
use crate::sink::Sink;

/// Opens a dataset that derived tables will be added to, as its owner where that is asked for.
pub fn open(dir: &Path, as_owner: bool) -> Result<Dataset> {
    let dataset = Dataset::open(dir)?;
    let dataset = if as_owner { dataset.as_owner()? } else { dataset };
    if !has_any(&dataset)? && !stored::names(&dataset)?.is_empty() {
        refuse!("the dataset has no jobs, only logs of others: look at those with discover and export");
    }
    Ok(dataset)
}

/// Whether a dataset has jobs.
pub fn has_any(dataset: &Dataset) -> Result<bool> {
    Ok(dataset.row_count::<JobState<'static>>()? > 0)
}

/// A dataset's jobs, to be walked through in parts that fit in memory.
pub fn parts<'r>(dataset: &Dataset, timestamp: Timestamp, rules: &'r RowRules, sink: &dyn Sink) -> Result<Parts<'r>> {
    let _stage = sink.stage("reading the dataset");
    Ok(Parts::new(dataset, timestamp, rules, ROWS_AT_ONCE)?)
}

/// The filter that was asked for. [`Unknown`] says which names no job has.
pub fn filter(args: &EventFilter) -> Result<Filter> {
    Ok(Filter { accounts: args.account.clone(), users: args.user.clone(), ..time_filter(args)? })
}

/// The times of the filter that was asked for.
pub fn time_filter(args: &EventFilter) -> Result<Filter> {
    if let (Some(from), Some(to)) = (args.from, args.to)
        && from >= to
    {
        refuse!("--from {} is not before --to {}: no event can be between them", time::rfc3339(from), time::rfc3339(to));
    }
    Ok(Filter { from_ns: args.from, to_ns: args.to, ..Filter::default() })
}

/// Names of a filter that no job has had so far: they are said, because an empty result would look
/// like an empty cluster.
pub struct Unknown {
    accounts: Vec<Option<String>>,
    users: Vec<Option<String>>,
}

impl Unknown {
    /// All accounts and users that a filter names, as names that no job has had.
    pub fn new(filter: &Filter) -> Self {
        let all = |names: &[String]| names.iter().cloned().map(Some).collect();
        Self { accounts: all(&filter.accounts), users: all(&filter.users) }
    }

    /// Looks for the names among jobs; those that some job has are no longer unknown.
    pub fn look(&mut self, jobs: &Jobs) {
        for (users, names) in [(false, &mut self.accounts), (true, &mut self.users)] {
            for name in names {
                let known = name
                    .as_deref()
                    .is_some_and(|name| jobs.attempts.iter().any(|a| jobs.text_of(if users { a.user } else { a.account }) == Some(name)));
                if known {
                    *name = None;
                }
            }
        }
    }

    /// Says which remain, as they were typed.
    pub fn say(&self, typed: &EventFilter, sink: &dyn Sink) {
        for (option, typed, left) in [("--account", &typed.account, &self.accounts), ("--user", &typed.user, &self.users)] {
            for (name, _) in typed.iter().zip(left).filter(|(_, left)| left.is_some()) {
                sink.warning(&format!("{option} {name:?}: no job in the dataset has it"));
            }
        }
    }
}

/// A filter in words, for pictures.
pub fn filter_words(args: &EventFilter) -> Vec<String> {
    let mut words = Vec::new();
    for (what, names) in [("account", &args.account), ("user", &args.user)] {
        if !names.is_empty() {
            words.push(format!("{what} {}", names.join(" or ")));
        }
    }
    words.extend(args.from.map(|from| format!("from {}", time::rfc3339(from))));
    words.extend(args.to.map(|to| format!("before {}", time::rfc3339(to))));
    words
}

/// The case notion with this name, of jobs or of tasks, for jobs; else an error that lists all
/// notions.
pub fn notion(name: &str) -> Result<&'static dyn CaseNotion> {
    let of_tasks = || jobs_of_tasks::ALL.iter().copied().find(|notion| notion.name() == name);
    cases::find(name).or_else(of_tasks).ok_or_else(|| {
        let known: Vec<String> = NotionOfCase::all().map(|notion| format!("{} ({})", notion.name(), notion.description())).collect();
        Error::Refused(format!("there is no case notion {name:?}; there are: {}", known.join(", ")))
    })
}

/// What some notions need to know of jobs beyond what Slurm reports: nothing is read where none
/// does. Where it cannot be known that is an error, since the cases would be those of another
/// notion; where there is nothing to know it is said.
pub fn overview(
    dataset: &Dataset,
    parts: &Parts<'_>,
    rules: &RowRules,
    notions: &[&'static dyn CaseNotion],
    sink: &dyn Sink,
) -> Result<Overview> {
    if let Some(notion) = notions.iter().find(|notion| notion.is_of_tasks()) {
        with_tasks(dataset, *notion, sink)?;
    }
    let read = || -> Result<Overview> {
        let notions: Vec<&dyn CaseNotion> = notions.iter().map(|notion| *notion as &dyn CaseNotion).collect();
        Ok(Overview::read(dataset, rules, parts, &notions)?)
    };
    let Some(notion) = notions.iter().find(|notion| notion.needs_data_flow()) else {
        if let Some(notion) = notions.iter().find(|notion| notion.uses_data_flow())
            && has_traces(dataset)?
            && task_log::is_uncorrelated(dataset)?
        {
            let name = notion.name();
            sink.warning(&format!(
                "{name}: traced files are not used, because they are not correlated yet: run `flowmine correlate` first"
            ));
        } else if let Some(notion) = notions.iter().find(|notion| notion.uses_data_flow())
            && is_outdated(dataset)?
        {
            let name = notion.name();
            sink.warning(&format!(
                "{name}: rows were added after the last `flowmine correlate`: what it found of traced files is used; run it again for the others"
            ));
        }
        return read();
    };
    has_data_flow(dataset, *notion)?;
    ensure!(
        !task_log::is_uncorrelated(dataset)?,
        "{}: which job read what another wrote is not known yet: run `flowmine correlate` first",
        notion.name()
    );
    let overview = read()?;
    if !overview.exchanges.any() {
        without_exchange(*notion, sink);
    }
    Ok(overview)
}

/// Whether traced files were correlated, and rows were added since.
fn is_outdated(dataset: &Dataset) -> Result<bool> {
    Ok(dataset.row_count::<TaskTotal<'static>>()? > 0 && kept_state(dataset)?.is_none())
}

/// Whether there are tasks that jobs can have been; an error where not.
fn with_tasks(dataset: &Dataset, notion: &dyn CaseNotion, sink: &dyn Sink) -> Result<()> {
    let name = notion.name();
    ensure!(
        dataset.row_count::<TaskRun<'static>>()? > 0,
        "{name} is a notion of tasks, and the dataset has none: import the log of a workflow engine, or choose another notion"
    );
    if dataset.row_count::<Link<'static>>()? == 0 {
        sink.warning(&format!("{name}: which job each task was is not known: run `flowmine correlate` first"));
    }
    Ok(())
}

/// Whether something was traced from which a notion could learn who gave data to whom; an error
/// where not.
pub fn has_data_flow(dataset: &Dataset, notion: &dyn CaseNotion) -> Result<()> {
    ensure!(
        !notion.needs_data_flow() || has_traces(dataset)?,
        "{} needs to know which job read what another wrote, and the dataset has no traces (docs/tracing.md): the case notion {} needs none",
        notion.name(),
        cases::Dependency.name()
    );
    Ok(())
}

/// Says that a notion shows nothing that the first one does not.
pub fn without_exchange(notion: &dyn CaseNotion, sink: &dyn Sink) {
    sink.warning(&format!(
        "{}: no job is known to have read what another wrote, so that the cases are those of the notion {}",
        notion.name(),
        cases::Dependency.name()
    ));
}

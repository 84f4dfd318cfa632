//! `flowmine discover --model dag`, and the picture of declared dependencies in `flowmine run`.
//!
//! Of one run in which data flow was traced it is the graph of tasks and files; where nothing was
//! traced, and of several runs together, the graph of logical tasks as engines declare it; where
//! neither an engine nor Slurm reports anything, that of processes. Tables and text are always of
//! one run.

use std::collections::BTreeSet;

use anyhow::Context;
use flowmine_activity_log::RunGraph;
use flowmine_activity_log::filter::matches;
use flowmine_correlate::Filter;
use flowmine_dataset::{Dataset, DatasetError};
use flowmine_discover::dag::{Builder, Dag, Task};
use flowmine_discover::pictures::{dag as declared_picture, run_dag as picture};
use flowmine_discover::run_dag::{self, By, FilesBy, Options};
use flowmine_logs::process_graph;
use flowmine_logs::run_graph::{self, RunGraphError};
use flowmine_logs::task_log::notion::run_or_engine;
use flowmine_logs::task_log::{self, TaskLogError, TaskNotion, Tasks};
use flowmine_logs::task_summary::run_time_s;
use flowmine_privacy::RowRules;
use flowmine_schema::tables::{Case, Process};

use super::model_output::{Made, write_graph};
use super::{jobs, lower_bounds, processes};
use crate::args::{ByArg, Discover, FilesArg, FoldArg, ModelFormat, TableArg};
use crate::messages;
use crate::progress::Stage;

flowmine_schema::columns! {
    /// The jobs of a case, as rows of `cases`.
    struct JobOfCase of Case { case_id, job }
}

/// Makes the graph that is asked for and a way to write it.
pub fn make(args: &Discover, format: ModelFormat) -> anyhow::Result<Made<'static>> {
    let Some(dir) = args.source.only_dataset() else {
        anyhow::bail!(
            "--model dag is made of a run in a dataset, with what its tasks waited for and read, which no event log tells: give --dataset DIR"
        );
    };
    let part = &args.part;
    let others = !part.path.is_empty()
        || !part.instances_where.is_empty()
        || !part.cases_where.is_empty()
        || part.top_variants.is_some()
        || part.variant_coverage.is_some()
        || args.case_notion.is_some()
        || args.activity.is_some();
    anyhow::ensure!(
        !others,
        "--model dag is made of tasks and files: choose among them with --run, --case, --job, --pid, --only-activity, --without-activity, --from and \
         --to, and leave the other filters out"
    );
    anyhow::ensure!(args.by != Some(ByArg::Program), "--by program is for --model profile; --model dag has --by process");
    anyhow::ensure!(
        matches!(args.table, TableArg::Activities | TableArg::Edges),
        "the tables of --model dag are nodes (when not given) and edges"
    );
    let dataset = Dataset::open(dir)?;
    lower_bounds::warn(&dataset)?;
    let stage = Stage::new("reading the dataset");
    let run = match chosen_run(args, format, &dataset).with_context(|| dir.display().to_string())? {
        Chosen::Run(run) => *run,
        Chosen::Declared => {
            let found = of(&dataset, &jobs::time_filter(&args.filter)?)?;
            return Ok(Box::new(move |out| match format {
                ModelFormat::Json => Ok(declared_picture::json(&found, out)?),
                _ => write_graph(&declared_picture::graph(&found), format, out),
            }));
        }
    };
    drop(stage);
    let _stage = Stage::new("discovering");
    let found = run_dag::discover(&run, &options(args, format, &run, &dataset)?);
    drop(run);
    let edges = args.table == TableArg::Edges;
    Ok(Box::new(move |out| match format {
        ModelFormat::Json => Ok(picture::json(&found, out)?),
        ModelFormat::Csv if edges => Ok(picture::edges_csv(&found, out)?),
        ModelFormat::Csv => Ok(picture::csv(&found, out)?),
        ModelFormat::Text => Ok(out.write_all(picture::text(&found).as_bytes())?),
        ModelFormat::Svg => write_graph(&picture::picture(&found), format, out),
        _ => write_graph(&picture::graph(&found), format, out),
    }))
}

/// Which dependency graph is drawn: that of one run, or of all that engines declare.
enum Chosen {
    Run(Box<RunGraph>),
    /// What engines declare, of all runs.
    Declared,
}

fn chosen_run(args: &Discover, format: ModelFormat, dataset: &Dataset) -> anyhow::Result<Chosen> {
    if args.by == Some(ByArg::Process) || !args.pid.is_empty() {
        return of_processes(args, dataset);
    }
    let prefix = format!("{}:", TaskNotion::Run.name());
    let run = match (&args.run, args.part.case.as_slice()) {
        (Some(run), _) => Some(run.as_str()),
        (None, [case]) => case.strip_prefix(&prefix),
        _ => None,
    };
    let asks = run.is_some()
        || !args.part.case.is_empty()
        || !args.job.is_empty()
        || args.by.is_some()
        || args.files.is_some()
        || args.fold.is_some()
        || !args.part.only_activity.is_empty()
        || !args.part.without_activity.is_empty()
        || matches!(args.table, TableArg::Edges)
        // The graph of logical tasks has no table and no text: these are of the tasks of a run.
        || matches!(format, ModelFormat::Csv | ModelFormat::Text);
    let rules = RowRules::default();
    let times = jobs::time_filter(&args.filter)?;
    let filter = Filter { accounts: args.filter.account.clone(), users: args.filter.user.clone(), ..times.clone() };
    match run_graph::read(dataset, &Tasks::new(dataset, &rules, &times), &filter, run) {
        Ok(run) if run.noun == "task" && run.flows.is_empty() && !asks => Ok(Chosen::Declared),
        Ok(run) => Ok(Chosen::Run(Box::new(run))),
        Err(RunGraphError::Several { count, .. }) if !asks => {
            messages::note(&format!(
                "flowmine: note: the dataset has {count} runs, and this is what their engines declare; files and bytes are those of one run: choose it with --run"
            ));
            Ok(Chosen::Declared)
        }
        Err(RunGraphError::Empty) if dataset.row_count::<Process<'static>>()? > 0 => of_processes(args, dataset),
        Err(error) => Err(error.into()),
    }
}

fn of_processes(args: &Discover, dataset: &Dataset) -> anyhow::Result<Chosen> {
    let part = &args.part;
    let (mut of_part, dag) = (args.clone(), "--model dag of processes");
    (of_part.part.only_activity, of_part.part.without_activity) = (Vec::new(), Vec::new());
    anyhow::ensure!(part.case.is_empty(), "{dag}: choose among them with --run, --job and --pid, not with --case");
    processes::check(&of_part, dag)?;
    let mut failed = None;
    let name = match (&args.run, args.job.as_slice(), args.pid.as_slice()) {
        (Some(run), ..) => format!("processes of {run}"),
        (None, [], []) => "all processes".to_owned(),
        _ => "processes".to_owned(),
    };
    let run = process_graph::read(dataset, &name, |all| match processes::chosen(args, dataset, all) {
        Ok(chosen) => chosen.unwrap_or_else(|| vec![true; all.rows.len()]),
        Err(error) => {
            failed = Some(error);
            Vec::new()
        }
    })?;
    match failed {
        Some(error) => Err(error),
        None => Ok(Chosen::Run(Box::new(run))),
    }
}

/// Whether a person looks at it: other programs get everything.
fn is_seen(format: ModelFormat) -> bool {
    matches!(format, ModelFormat::Svg | ModelFormat::Dot | ModelFormat::Text)
}

fn options(args: &Discover, format: ModelFormat, run: &RunGraph, dataset: &Dataset) -> anyhow::Result<Options> {
    let by = match args.by {
        None | Some(ByArg::Task | ByArg::Process | ByArg::Program) => By::Each,
        Some(ByArg::Activity) => By::Activity,
        Some(ByArg::Job) => By::Job,
        Some(ByArg::Host) => By::Host,
    };
    let files = match args.files {
        None if is_seen(format) => None,
        None | Some(FilesArg::Each) => Some(FilesBy::Each),
        Some(FilesArg::Directory) => Some(FilesBy::Directory),
        Some(FilesArg::None) => Some(FilesBy::None),
    };
    let fold = args.fold.map(FoldArg::fold);
    Ok(Options { by, files, fold, system_files: args.system_files, chosen: chosen_tasks(args, run, dataset)?, ..Options::default() })
}

/// Which tasks are wanted, where not all are.
fn chosen_tasks(args: &Discover, run: &RunGraph, dataset: &Dataset) -> anyhow::Result<Option<Vec<bool>>> {
    let part = &args.part;
    let prefix = format!("{}:", TaskNotion::Run.name());
    let cases: Vec<&String> = part.case.iter().filter(|case| !case.starts_with(&prefix)).collect();
    let of_processes = run.noun == "process";
    let by_job = !of_processes && !args.job.is_empty();
    if part.only_activity.is_empty() && part.without_activity.is_empty() && cases.is_empty() && !by_job {
        return Ok(None);
    }
    let mut jobs: Option<BTreeSet<String>> = None;
    if !cases.is_empty() {
        let mut of_cases = BTreeSet::new();
        dataset.read::<JobOfCase<'static>, DatasetError>(|row| {
            if cases.iter().any(|case| **case == *row.case_id) {
                of_cases.insert(row.job.into_owned());
            }
            Ok(())
        })?;
        anyhow::ensure!(!of_cases.is_empty(), "no case is called {:?} in the table cases", cases.first().map_or("", |case| case.as_str()));
        jobs = Some(of_cases);
    }
    for job in &args.job {
        anyhow::ensure!(
            !by_job || run.tasks.iter().any(|task| task.job.as_ref() == Some(job)),
            "no {} of the run ran in job {job:?}",
            run.noun
        );
    }
    let fits = |list: &[String], activity: &str| list.iter().any(|pattern| matches(pattern, activity));
    let chosen: Vec<bool> = run
        .tasks
        .iter()
        .map(|task| {
            let job = |wanted: &dyn Fn(&String) -> bool| task.job.as_ref().is_some_and(wanted);
            (part.only_activity.is_empty() || fits(&part.only_activity, &task.activity))
                && !fits(&part.without_activity, &task.activity)
                && jobs.as_ref().is_none_or(|jobs| job(&|job| jobs.contains(job)))
                && (!by_job || job(&|job| args.job.contains(job)))
        })
        .collect();
    anyhow::ensure!(chosen.contains(&true), "no {} of {} passes the filters", run.noun, run.name);
    Ok(Some(chosen))
}

/// The graph of a dataset's tasks, as their engines declare it.
pub fn of(dataset: &Dataset, filter: &Filter) -> Result<Dag, TaskLogError> {
    let _stage = Stage::new("reading the dataset");
    let mut builder = Builder::default();
    task_log::for_each(&Tasks::new(dataset, &RowRules::default(), filter), |row| {
        builder.add(&Task {
            run: &run_or_engine(row),
            id: row.task_id.as_deref(),
            logical_task: &row.logical_task,
            parents: row.parents.as_deref().and_then(|told| serde_json::from_str(told).ok()),
            run_time_ns: run_time_s(row).filter(|s| (0.0..9e9).contains(s)).map(|s| (s * 1e9) as i64),
        });
    })?;
    Ok(builder.finish())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]
mod tests {
    use std::ffi::OsStr;
    use std::path::Path;

    use clap::Parser;
    use flowmine_dataset::Role;
    use flowmine_schema::tables::TaskRun;

    use super::*;
    use crate::args::{Cli, Command};

    /// A dataset of runs of which nothing was traced, each of two tasks.
    fn untraced(runs: &[&'static str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let dataset = Dataset::open_or_create(dir.path()).unwrap();
        let mut rows = flowmine_dataset::Builder::<TaskRun<'static>>::new();
        for run in runs {
            for (id, parents) in [("0", "[]"), ("1", "[\"0\"]")] {
                rows.push(&TaskRun {
                    engine: "makeflow".into(),
                    run_name: Some((*run).into()),
                    task_id: Some(id.into()),
                    name: format!("task {id}").into(),
                    logical_task: "work".into(),
                    parents: Some(parents.into()),
                    status: "completed".into(),
                    ..TaskRun::default()
                });
            }
        }
        let mut writer = dataset.writer(Role::Raw, "test").unwrap();
        let mut transaction = writer.begin().unwrap();
        transaction.append(rows).unwrap();
        transaction.commit().unwrap();
        dir
    }

    fn written(dir: &Path, format: ModelFormat) -> anyhow::Result<String> {
        let words = ["flowmine", "discover", "--model", "dag", "--dataset"].map(OsStr::new);
        let Command::Discover(args) = Cli::try_parse_from(words.into_iter().chain([dir.as_os_str()]))?.command else { unreachable!() };
        let mut out = Vec::new();
        make(&args, format)?(&mut out)?;
        Ok(String::from_utf8(out)?)
    }

    #[test]
    fn tables_and_text_of_the_only_run_need_no_choice() {
        let one = untraced(&["first"]);
        let table = written(one.path(), ModelFormat::Csv).unwrap();
        assert_eq!(table.lines().count(), 3, "{table}");
        assert!(table.contains("task 1"), "{table}");
        assert!(written(one.path(), ModelFormat::Text).unwrap().contains("2 tasks"));
        let several = untraced(&["first", "second"]);
        let advice = format!("{:#}", written(several.path(), ModelFormat::Csv).unwrap_err());
        assert!(advice.contains("2 runs: choose one with --run") && advice.contains("makeflow:second"), "{advice}");
        assert!(written(several.path(), ModelFormat::Dot).is_ok());
    }
}

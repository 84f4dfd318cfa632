//! One run as a graph of tasks and files, and the graph of declared dependencies.
//!
//! Of one run in which data flow was traced it is the graph of tasks and files; where nothing was
//! traced, and of several runs together, the graph of logical tasks as engines declare it; where
//! neither an engine nor Slurm reports anything, that of processes. Tables and text are always of
//! one run.

use flowmine_activity_log::RunGraph;
use flowmine_activity_log::filter::matches;
use flowmine_correlate::Filter;
use flowmine_dataset::Dataset;
use flowmine_discover::dag::{Builder, Dag as Declared, Task};
use flowmine_discover::fold::Fold;
use flowmine_discover::inferred;
use flowmine_discover::pictures::{dag as declared_picture, run_dag as picture};
use flowmine_discover::run_dag::{self, By as MergedBy, FilesBy, Options};
use flowmine_logs::process_graph;
use flowmine_logs::run_graph::RunGraphError;
use flowmine_logs::task_log::run_names::run_or_engine;
use flowmine_logs::task_log::{self, TaskLogError, Tasks};
use flowmine_logs::task_summary::run_time_s;
use flowmine_privacy::RowRules;
use flowmine_schema::tables::Process;
use flowmine_schema::time;

use super::fold::FOLD;
use super::{About, Input, Model};
use crate::error::{Context, Error, Result, ensure, refuse};
use crate::format::Format;
use crate::found::{Found, write_graph};
use crate::groups::{CASE, ONLY_ACTIVITY, WITHOUT_ACTIVITY};
use crate::options::{Choice, OptionSpec};
use crate::processes::{self, JOB, PID};
use crate::request::Request;
use crate::sink::Sink;
use crate::{jobs, lower_bounds, one_run};

/// One run as a graph of tasks and files.
pub struct Dag;

static ABOUT: About = About {
    name: "dag",
    question: "one run as a graph of tasks (or jobs, processes) and files with bytes, rates and life times, its critical path marked; \
               without a trace, which tasks wait for which as the engine declares it",
    input: Input::Run,
    has_graph_options: false,
    own: &[
        OptionSpec::choice::<By>("by", "WHAT", "Grouping of tasks").details("By default each task, folded"),
        OptionSpec::choice::<FilesBy>("files", "WHAT", "Grouping of files")
            .details("By default each by itself, folded; figures and text have no files where there is no room for them"),
        FOLD,
        OptionSpec::flag("system-files", "Include files in /usr, /lib, /etc and the like that no task of the run wrote"),
        JOB,
        PID,
        ONLY_ACTIVITY,
        WITHOUT_ACTIVITY,
        OptionSpec::choice::<Table>("table", "TABLE", "Table that CSV has").by_default("nodes"),
    ],
    formats: &[
        Format::Svg,
        Format::Png,
        Format::Text,
        Format::Dot,
        Format::Json,
        Format::Csv,
        Format::Graphml,
        Format::Gml,
        Format::Cytoscape,
    ],
    documents: &[picture::DOCUMENT, declared_picture::DOCUMENT],
};

/// The grouping of tasks.
#[derive(Debug, Clone, Copy, PartialEq)]
enum By {
    Activity,
    Process,
    Task,
    Job,
    Host,
}

impl Choice for By {
    const VALUES: &'static [(&'static str, &'static str, Self)] = &[
        ("activity", "What they are instances of", Self::Activity),
        ("process", "Each process by itself, instead of tasks and jobs", Self::Process),
        ("task", "Each task (or job, where there are no tasks)", Self::Task),
        ("job", "The job in which they ran", Self::Job),
        ("host", "The host on which they ran", Self::Host),
    ];
}

impl Choice for FilesBy {
    const VALUES: &'static [(&'static str, &'static str, Self)] = &[
        ("each", "Each version of a file by itself", Self::Each),
        ("directory", "The directory in which they lie", Self::Directory),
        ("none", "No files: edges lead from task to task", Self::None),
    ];
}

/// The tables of the graph.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Table {
    Nodes,
    Edges,
}

impl Choice for Table {
    const VALUES: &'static [(&'static str, &'static str, Self)] = &[("nodes", "Nodes", Self::Nodes), ("edges", "Edges", Self::Edges)];
}

/// The options of the model.
struct Asked {
    by: Option<By>,
    files: Option<FilesBy>,
    fold: Option<Fold>,
    system_files: bool,
    jobs: Vec<String>,
    pids: Vec<i32>,
    cases: Vec<String>,
    only_activity: Vec<String>,
    without_activity: Vec<String>,
    table: Table,
}

impl Asked {
    fn read(request: &Request) -> Self {
        let values = &request.values;
        let processes::Chosen { pids, jobs } = processes::Chosen::read(values);
        Self {
            by: values.choice("by"),
            files: values.choice("files"),
            fold: values.choice(FOLD.name),
            system_files: values.flag("system-files"),
            jobs,
            pids,
            cases: values.texts(CASE.name),
            only_activity: values.texts(ONLY_ACTIVITY.name),
            without_activity: values.texts(WITHOUT_ACTIVITY.name),
            table: values.choice("table").unwrap_or(Table::Nodes),
        }
    }
}

impl Model for Dag {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn discover(&self, request: &Request, sink: &dyn Sink) -> Result<Found> {
        let Some(dir) = request.source.only_dataset() else {
            refuse!("the model dag needs the dependencies and reads of a run's tasks, which no event log has: give --dataset DIR");
        };
        let asked = Asked::read(request);
        let drawing = request.drawing;
        let dataset = Dataset::open(dir)?;
        lower_bounds::warn(&dataset, sink)?;
        let stage = sink.stage("reading the dataset");
        let run = match chosen_run(request, &asked, &dataset, sink).with_context(|| dir.display().to_string())? {
            Chosen::Run(run) => *run,
            Chosen::Declared => {
                let found = of(&dataset, &jobs::time_filter(&request.filter)?)?;
                let written = Found::new(request, false, move |format, out| match format {
                    Format::Json => Ok(declared_picture::json(&found, out)?),
                    _ => write_graph(declared_picture::graph(&found), drawing, format, out),
                });
                return Ok(written.without(Format::Csv).without(Format::Text));
            }
        };
        drop(stage);
        let _stage = sink.stage("discovering");
        let found = run_dag::discover(&run, &options(request, &asked, &run)?);
        let edges = asked.table == Table::Edges;
        let written = Found::new(request, false, move |format, out| match format {
            Format::Json => Ok(picture::json(&found, out)?),
            Format::Csv if edges => Ok(picture::edges_csv(&found, out)?),
            Format::Csv => Ok(picture::csv(&found, out)?),
            Format::Text => Ok(out.write_all(picture::text(&found).as_bytes())?),
            Format::Svg => write_graph(picture::picture(&found), drawing, format, out),
            _ => write_graph(picture::graph(&found), drawing, format, out),
        });
        // Where there is no room for files depends on who looks at it.
        Ok(written.only(request))
    }
}

/// Which dependency graph is drawn: that of one run, or of all that engines declare.
enum Chosen {
    Run(Box<RunGraph>),
    /// What engines declare, of all runs.
    Declared,
}

fn chosen_run(request: &Request, asked: &Asked, dataset: &Dataset, sink: &dyn Sink) -> Result<Chosen> {
    if asked.by == Some(By::Process) || !asked.pids.is_empty() {
        return of_processes(request, asked, dataset);
    }
    let asks = request.run.is_some()
        || !asked.cases.is_empty()
        || !asked.jobs.is_empty()
        || asked.by.is_some()
        || asked.files.is_some()
        || asked.fold.is_some()
        || !asked.only_activity.is_empty()
        || !asked.without_activity.is_empty()
        || asked.table == Table::Edges
        // The graph of logical tasks has no table and no text: these are of the tasks of a run.
        || matches!(request.format, Format::Csv | Format::Text);
    match one_run::graph(dataset, request, sink)? {
        // Inferred dependencies are between tasks, and in no table.
        Ok(run) if run.noun == "task" && run.flows.is_empty() && !asks && inferred::predecessors(&run).is_empty() => Ok(Chosen::Declared),
        Ok(run) => {
            one_run::warn_of_cases(&run, sink);
            Ok(Chosen::Run(Box::new(run)))
        }
        Err(RunGraphError::Several { count, .. }) if !asks => {
            sink.note(&format!(
                "the dataset has {count} runs, and this is what their engines declare; files and bytes are those of one run: choose it with --run"
            ));
            Ok(Chosen::Declared)
        }
        Err(RunGraphError::Empty) if dataset.row_count::<Process<'static>>()? > 0 => of_processes(request, asked, dataset),
        Err(error) => Err(error.into()),
    }
}

fn of_processes(request: &Request, asked: &Asked, dataset: &Dataset) -> Result<Chosen> {
    ensure!(
        request.filter.is_open() && asked.cases.is_empty(),
        "the model dag of processes: choose among them with --run, --job and --pid, and leave --case and filters by job and time out"
    );
    let mut failed: Option<Error> = None;
    let name = match (&request.run, asked.jobs.as_slice(), asked.pids.as_slice()) {
        (Some(run), ..) => format!("processes of {run}"),
        (None, [], []) => "all processes".to_owned(),
        _ => "processes".to_owned(),
    };
    let run = process_graph::read(dataset, &name, |all| match processes::chosen(request, dataset, all) {
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

fn options(request: &Request, asked: &Asked, run: &RunGraph) -> Result<Options> {
    let by = match asked.by {
        None | Some(By::Task | By::Process) => MergedBy::Each,
        Some(By::Activity) => MergedBy::Activity,
        Some(By::Job) => MergedBy::Job,
        Some(By::Host) => MergedBy::Host,
    };
    let files = asked.files.or((!request.format.is_seen()).then_some(FilesBy::Each));
    Ok(Options { by, files, fold: asked.fold, system_files: asked.system_files, chosen: chosen_tasks(asked, run)?, ..Options::default() })
}

/// Which tasks are wanted, where not all are.
fn chosen_tasks(asked: &Asked, run: &RunGraph) -> Result<Option<Vec<bool>>> {
    let of_processes = run.noun == "process";
    let by_job = !of_processes && !asked.jobs.is_empty();
    if asked.only_activity.is_empty() && asked.without_activity.is_empty() && !by_job {
        return Ok(None);
    }
    for job in &asked.jobs {
        ensure!(!by_job || run.tasks.iter().any(|task| task.job.as_ref() == Some(job)), "no {} of the run ran in job {job:?}", run.noun);
    }
    let fits = |list: &[String], activity: &str| list.iter().any(|pattern| matches(pattern, activity));
    let chosen: Vec<bool> = run
        .tasks
        .iter()
        .map(|task| {
            let job = |wanted: &dyn Fn(&String) -> bool| task.job.as_ref().is_some_and(wanted);
            (asked.only_activity.is_empty() || fits(&asked.only_activity, &task.activity))
                && !fits(&asked.without_activity, &task.activity)
                && (!by_job || job(&|job| asked.jobs.contains(job)))
        })
        .collect();
    ensure!(chosen.contains(&true), "no {} of {} passes the filters", run.noun, run.name);
    Ok(Some(chosen))
}

/// The graph of a dataset's tasks, as their engines declare it.
pub fn of(dataset: &Dataset, filter: &Filter) -> Result<Declared, TaskLogError> {
    let mut builder = Builder::default();
    task_log::for_each(&Tasks::new(dataset, &RowRules::default(), filter), |row| {
        builder.add(&Task {
            run: &run_or_engine(row),
            id: row.task_id.as_deref(),
            logical_task: &row.logical_task,
            parents: row.parents.as_deref().and_then(|told| serde_json::from_str(told).ok()),
            run_time_ns: run_time_s(row).and_then(time::length_ns),
        });
    })?;
    Ok(builder.finish())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]
mod tests {
    use std::path::Path;

    use flowmine_schema::tables::TaskRun;
    use flowmine_test_support::TempDataset;

    use super::*;
    use crate::sink::Silent;
    use crate::source::SourcePaths;

    /// A dataset of runs of which nothing was traced, each of two tasks.
    fn untraced(runs: &[&'static str]) -> TempDataset {
        let dataset = TempDataset::new();
        let row = |run: &'static str, (id, parents): (&'static str, &'static str)| TaskRun {
            engine: "makeflow".into(),
            run_name: Some(run.into()),
            task_id: Some(id.into()),
            name: format!("task {id}").into(),
            logical_task: "work".into(),
            parents: Some(parents.into()),
            status: "completed".into(),
            ..TaskRun::default()
        };
        let rows = runs.iter().flat_map(|run| [("0", "[]"), ("1", "[\"0\"]")].map(|task| row(run, task)));
        dataset.append::<TaskRun<'static>>(&rows.collect::<Vec<_>>());
        dataset
    }

    fn written(dir: &Path, format: Format) -> Result<String> {
        let source = SourcePaths { dataset: Some(dir.to_owned()), ..SourcePaths::default() };
        let request = Request::read("dag", source, Some(format), [("run", ""); 0])?;
        let mut out = Vec::new();
        crate::discover(&request, &Silent)?.write(format, &mut out)?;
        Ok(String::from_utf8_lossy(&out).into_owned())
    }

    #[test]
    fn tables_and_text_of_the_only_run_need_no_choice() {
        let one = untraced(&["first"]);
        let table = written(&one.path(), Format::Csv).unwrap();
        assert_eq!(table.lines().count(), 3, "{table}");
        assert!(table.contains("task 1"), "{table}");
        assert!(written(&one.path(), Format::Text).unwrap().contains("2 tasks"));
        let several = untraced(&["first", "second"]);
        let advice = {
            let error = written(&several.path(), Format::Csv).unwrap_err();
            std::error::Error::source(&error).unwrap().to_string()
        };
        assert!(advice.contains("2 runs: choose one with --run") && advice.contains("makeflow:second"), "{advice}");
        assert!(written(&several.path(), Format::Dot).is_ok());
    }
}

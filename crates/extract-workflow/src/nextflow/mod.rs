//! Nextflow: log, report, trace file, history, lineage, work directories of tasks, and graph of
//! processes.
//!
//! The hash, which all sources but the history contain, joins the records of an attempt. The log
//! takes precedence, then the report, the trace file, the lineage record, and the work directory;
//! contradictions are diagnostics.

mod clock;
mod counts;
mod dag;
mod event;
mod exception;
mod handler;
mod history;
mod join;
mod lineage;
mod log;
mod months;
mod names;
mod parents;
mod report;
mod run_builder;
mod status;
mod tasks;
mod trace;
mod trace_times;
mod work_dir;

use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;
use std::{fs, io};

use flowmine_schema::diagnostic::Diagnostic;

use self::join::Joined;
use crate::{Engine, Options, Row, Source, input};

/// Name of the engine, as in the column `engine`.
pub const NAME: &str = "nextflow";

// In order of precedence.
const HISTORY: &str = "Nextflow history";
const LOG: &str = "Nextflow log";
const REPORT: &str = "Nextflow report";
const TRACE: &str = "Nextflow trace file";
const LINEAGE: &str = "Nextflow lineage record";
const WORK_DIR: &str = "Nextflow work directory";
const GRAPH: &str = "Nextflow graph of processes";

/// The folder of a pipeline's results that contains the reports and trace files of nf-core's
/// pipelines.
const PIPELINE_INFO: &str = "pipeline_info";

/// The engine Nextflow.
#[derive(Debug, Clone, Copy)]
pub struct Nextflow;

impl Engine for Nextflow {
    fn name(&self) -> &'static str {
        NAME
    }

    /// Returns the files of a directory and of its `.nextflow`, those of a `pipeline_info` in it or
    /// in one of its folders, the lineage records of tasks in it or in `.lineage`, and the work
    /// directories in it, in `work/`, and in folders named after the beginning of a hash.
    fn find(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        let mut open = vec![dir.to_owned()];
        while let Some(inside) = open.pop() {
            for entry in input::entries(&inside)? {
                let is_dir = entry.is_dir();
                let input::Entry { path, name, .. } = entry;
                let is_hash = name.len() == 2 && name.as_encoded_bytes().iter().all(u8::is_ascii_hexdigit);
                // Links are not followed: a task's inputs are links, and can lead to work
                // directories.
                if !is_dir {
                    found.push(path);
                } else {
                    if work_dir::is_one(&path) || lineage::is_one(&path) {
                        found.push(path);
                    } else if is_hash || name == "work" || name == PIPELINE_INFO || name == lineage::STORE {
                        open.push(path);
                    } else if inside == dir {
                        // The pipeline decides where its results are.
                        let is = |path: &Path, what: fn(&fs::Metadata) -> bool| fs::symlink_metadata(path).is_ok_and(|found| what(&found));
                        let (info, history) = (path.join(PIPELINE_INFO), path.join("history"));
                        open.extend(is(&info, fs::Metadata::is_dir).then_some(info));
                        found.extend((name == ".nextflow" && is(&history, fs::Metadata::is_file)).then_some(history));
                    }
                }
            }
        }
        Ok(found)
    }

    fn recognise(&self, path: &Path, head: &[u8]) -> Option<&'static str> {
        if path.is_dir() {
            return work_dir::is_one(path).then_some(WORK_DIR).or_else(|| lineage::is_one(path).then_some(LINEAGE));
        }
        let text = String::from_utf8_lossy(head);
        if trace::is_one(&text) {
            return Some(TRACE);
        }
        if report::is_one(&text) {
            return Some(REPORT);
        }
        if text.lines().next().is_some_and(history::is_line) {
            return Some(HISTORY);
        }
        if dag::is_one(&text) {
            return Some(GRAPH);
        }
        // A truncated log can begin within a stack trace.
        let is_log = |line: &str| clock::prefix(line).is_some() && line.contains(" - ");
        text.lines().take(200).any(is_log).then_some(LOG)
    }

    fn parts(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        if lineage::is_one(dir) { lineage::parts(dir) } else { crate::hidden_files(dir) }
    }

    fn not_read(&self, head: &[u8]) -> Option<&'static str> {
        let text = String::from_utf8_lossy(head);
        let begins = |what: &[&str]| what.iter().any(|what| text.trim_start().starts_with(what));
        if text.contains("<h3>Processes execution timeline</h3>") {
            return Some(
                "it is Nextflow's timeline (-with-timeline), whose times are in the log, the trace file (-with-trace) and the report (-with-report): give these",
            );
        }
        let is_graph = begins(&["digraph ", "strict digraph ", "flowchart ", "graph "]) || text.contains("class=\"mermaid\"");
        is_graph.then_some("it is a graph, but not one as -with-dag draws it of Nextflow's processes in DOT, in Mermaid or in a page: give that, or the directory in which Nextflow was launched")
    }

    fn read(&self, sources: &mut [Source], options: &Options) -> Vec<Row> {
        let rank = |kind: &str| [HISTORY, LOG, REPORT, TRACE, LINEAGE, WORK_DIR, GRAPH].iter().position(|known| *known == kind);
        sources.sort_by(|a, b| (rank(a.kind), &a.name, &a.path).cmp(&(rank(b.kind), &b.name, &b.path)));
        let mut joined = Joined::default();
        // Graphs are applied last; each with the index of its source.
        let mut graphs = Vec::new();
        for (at, source) in sources.iter_mut().enumerate() {
            if source.kind == GRAPH {
                match input::whole(&source.path).and_then(|text| dag::read(&text, &mut source.diagnostics)) {
                    Ok(graph) => graphs.extend(graph.map(|graph| (at, graph))),
                    Err(e) => source.refuse(Diagnostic::of_reading(&e)),
                }
                continue;
            }
            joined.filled = 0;
            match read_one(at, source, options, &mut joined) {
                Ok(told) => (source.rows, source.joined) = (told, joined.filled),
                Err(e) => source.refuse(Diagnostic::of_reading(&e)),
            }
            joined.say_crowded(&mut source.diagnostics);
        }
        for join::Missing { source, line, tasks } in joined.missing() {
            let message = "Nextflow counted more tasks of this run than there are rows: some have no line";
            let advice = "import the run's trace file or report in the same call";
            let diagnostic = Diagnostic::error("tasks_missing", message).at(line, None).advise(advice);
            sources[source].diagnostics.push(Diagnostic { count: tasks as u64, ..diagnostic });
        }
        // The number of tasks proves nothing where a source that should describe a task may lack it
        // or list it twice.
        let tells_all = |source: &&Source| matches!(source.kind, LOG | REPORT | TRACE);
        let is_whole = sources.iter().filter(tells_all).all(|source| {
            source.diagnostics.errors() == 0
                && !source
                    .diagnostics
                    .iter()
                    .any(|diagnostic| matches!(diagnostic.code, "counts_differ" | "hash_crowded" | "report_without_tasks"))
        });
        let join::Finished { mut rows, run_of, has_begin, graph_files } = joined.finish();
        // The same graph in another form is of the run that names one of them.
        let is_named = |name: &str| graph_files.iter().flatten().any(|file| file == name);
        let meanings: Vec<_> = graphs.iter().map(|(at, graph)| (sources[*at].name.clone(), graph.meaning())).collect();
        let named: Vec<String> = (meanings.iter())
            .map(|(own, meaning)| {
                let is_same = |other: &&(String, _)| meaning.is_some() && &other.1 == meaning;
                let name = if is_named(own) { None } else { meanings.iter().filter(is_same).find(|(name, _)| is_named(name)) };
                name.map_or(own, |(name, _)| name).clone()
            })
            .collect();
        drop(meanings);
        let of_graph = |((at, graph), name): ((usize, dag::Graph), String)| {
            let (name, diagnostics) = (name.as_str(), &mut sources[at].diagnostics);
            let known = dag::Known { run_of: &run_of, has_begin: &has_begin, graph_files: &graph_files, name, is_whole };
            Some((at, graph.certain(&rows, &known, diagnostics)?))
        };
        let certain: Vec<(usize, dag::Certain)> = graphs.into_iter().zip(named).filter_map(of_graph).collect();
        let differing = dag::differing(certain.iter().map(|(_, certain)| certain));
        let of_runs: Vec<(usize, usize)> = certain.iter().map(|(at, certain)| (*at, certain.run)).collect();
        for (at, certain) in certain {
            if differing.contains(&certain.run) {
                let others = of_runs.iter().filter(|(other, run)| *other != at && *run == certain.run);
                let others: Vec<String> = others.map(|(other, _)| sources[*other].path.display().to_string()).collect();
                let others: Vec<&str> = others.iter().map(String::as_str).collect();
                sources[at].diagnostics.push(dag::differs(&others));
            } else {
                sources[at].joined = certain.put(&mut rows);
            }
        }
        rows
    }
}

/// Reads the source with this index; returns the number of rows that it was the first to describe.
fn read_one(at: usize, source: &mut Source, options: &Options, joined: &mut Joined) -> io::Result<u64> {
    let path = source.path.clone();
    let diagnostics = &mut source.diagnostics;
    Ok(match source.kind {
        HISTORY => joined.add_history(history::read(input::open(&path)?, diagnostics)?),
        LOG => {
            let mut runs = log::read(input::open(&path)?, mtime_ns(&path), options, diagnostics)?;
            runs.iter_mut().flat_map(|run| &mut run.rows).for_each(|row| source.sign(row));
            runs.into_iter().map(|run| joined.add_run(run, at, &mut source.diagnostics)).sum()
        }
        REPORT => {
            let mut report = report::read(&input::whole(&path)?, diagnostics)?;
            report.records.iter_mut().for_each(|record| source.sign(&mut record.row));
            joined.add_report(report, &mut source.diagnostics)
        }
        TRACE => {
            let mut records = trace::read(input::open(&path)?, diagnostics)?;
            records.iter_mut().for_each(|record| source.sign(&mut record.row));
            joined.add_trace(&source.name, records, options, &mut source.diagnostics)
        }
        WORK_DIR => {
            let mut row = work_dir::read(&path, &source.name, diagnostics)?;
            source.sign(&mut row);
            joined.add_work_dir(row, &source.name, &mut source.diagnostics)
        }
        LINEAGE => {
            let (mut row, hash) = lineage::read(&path)?;
            source.sign(&mut row);
            joined.add_work_dir(row, &hash, &mut source.diagnostics)
        }
        _ => 0,
    })
}

fn mtime_ns(path: &Path) -> Option<i64> {
    let modified = fs::metadata(path).ok()?.modified().ok()?;
    i64::try_from(modified.duration_since(UNIX_EPOCH).ok()?.as_nanos()).ok()
}

/// Returns the kind of an executor's native ids, as in the column `native_kind`.
fn native_kind(executor: &str) -> Option<String> {
    match executor {
        "" => None,
        "local" => Some("pid".to_owned()),
        "k8s" => Some("pod".to_owned()),
        "awsbatch" => Some("aws_job".to_owned()),
        "azurebatch" => Some("azure_job".to_owned()),
        "google-batch" | "google-lifesciences" => Some("google_job".to_owned()),
        "uge" => Some("sge_job".to_owned()),
        "pbspro" => Some("pbs_job".to_owned()),
        _ => Some(format!("{executor}_job")),
    }
}

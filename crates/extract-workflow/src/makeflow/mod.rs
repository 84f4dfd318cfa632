//! Makeflow: its log, workflow files in JSON, and the summaries and series of its resource monitor.
//!
//! Without `--log-verbose`, the log contains only numbers of rules; commands, files and
//! dependencies then come from the workflow file. The name of the log, which is derived from that
//! of its workflow file, joins the two; the number in a summary's name joins it with the rule's
//! last attempt.

mod log;
mod series;
mod summary;
mod workflow;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use flowmine_schema::diagnostic::Diagnostic;

use self::log::{Rule, Run};
use self::series::Series;
use crate::{Engine, Options, Row, Source, input};

/// Name of the engine, as in the column `engine`.
pub const NAME: &str = crate::engine_names::MAKEFLOW;

const LOG: &str = "Makeflow log";
const WORKFLOW: &str = "Makeflow workflow";
const SUMMARY: &str = "Makeflow resource summary";
const SERIES: &str = "Makeflow resource series";
const LOG_SUFFIX: &str = ".makeflowlog";

/// The engine Makeflow.
#[derive(Debug, Clone, Copy)]
pub struct Makeflow;

impl Engine for Makeflow {
    fn name(&self) -> &'static str {
        NAME
    }

    /// Returns the files of a directory and of its subdirectories, to which monitors write.
    fn find(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        for entry in input::entries(dir)? {
            if entry.is_dir() {
                found.extend(input::files_in(&entry.path)?);
            } else {
                found.push(entry.path);
            }
        }
        Ok(found)
    }

    fn recognise(&self, _path: &Path, head: &[u8]) -> Option<&'static str> {
        let text = String::from_utf8_lossy(head);
        if text.lines().next().is_some_and(log::is_first_line) {
            Some(LOG)
        } else if text.starts_with('#') && text.lines().any(|line| line.starts_with(series::COLUMNS)) {
            Some(SERIES)
        } else if !text.trim_start().starts_with('{') {
            None
        } else if text.contains("\"monitor_version\"") {
            Some(SUMMARY)
        } else {
            (text.contains("\"rules\"") && text.contains("\"command\"")).then_some(WORKFLOW)
        }
    }

    fn read(&self, sources: &mut [Source], _options: &Options) -> Vec<Row> {
        let rank = |kind: &str| [LOG, WORKFLOW, SUMMARY, SERIES].iter().position(|known| *known == kind);
        sources.sort_by(|a, b| (rank(a.kind), &a.name, &a.path).cmp(&(rank(b.kind), &b.name, &b.path)));
        let mut told = Contents::default();
        for (at, source) in sources.iter_mut().enumerate() {
            if let Err(e) = told.read(at, source) {
                source.refuse(Diagnostic::of_reading(&e));
            }
        }
        let Contents { mut runs, workflows, summaries, series } = told;
        join_workflows(sources, &mut runs, workflows);
        runs.iter_mut().for_each(|(at, run)| without_cut_commands(&mut sources[*at], run));
        let alone: Vec<Row> = summaries.into_iter().filter_map(|(at, row)| join_summary(sources, at, row, &mut runs)).collect();
        for (at, series) in series {
            join_series(&mut sources[at], series, &mut runs);
        }
        let mut rows = Vec::new();
        let mut left = input::MOST_REPEATED;
        for (at, mut run) in runs {
            let mut too_much = 0;
            sources[at].rows += run.rows.len() as u64;
            let name = sources[at].name.trim_end_matches(".gz").trim_end_matches(LOG_SUFFIX).to_owned();
            for mut row in std::mem::take(&mut run.rows) {
                too_much += u64::from(!describe(&mut row, &run, &mut left));
                sources[at].sign(&mut row);
                row.run_id = run.began.clone().map(Into::into);
                row.run_name = Some(name.clone().into());
                rows.push(row);
            }
            if too_much > 0 {
                let message =
                    "texts of rules, such as commands, are repeated by too many attempts to fit in memory: those beyond the limit are null";
                sources[at].diagnostics.push(Diagnostic { count: too_much, ..Diagnostic::warning("texts_left_out", message) });
            }
        }
        rows.extend(alone);
        rows
    }
}

/// Contents of each source, by its index.
#[derive(Default)]
struct Contents {
    runs: Vec<(usize, Run)>,
    workflows: Vec<(usize, Vec<Rule>)>,
    summaries: Vec<(usize, Row)>,
    series: Vec<(usize, Series)>,
}

impl Contents {
    fn read(&mut self, at: usize, source: &mut Source) -> io::Result<()> {
        match source.kind {
            LOG => {
                let read = log::read(input::open(&source.path)?, &mut source.diagnostics)?;
                self.runs.extend(read.into_iter().map(|run| (at, run)));
            }
            WORKFLOW => match workflow::read(&input::whole(&source.path)?) {
                Ok(rules) => self.workflows.push((at, rules)),
                Err(why) => source.refuse(Diagnostic::error("workflow_bad", why).advise("JX becomes JSON with: jx2json FILE > FILE.json")),
            },
            SUMMARY => match summary::read(&input::whole(&source.path)?) {
                Some(row) => self.summaries.push((at, row)),
                None => source.refuse(Diagnostic::error("summary_bad", "this is no summary of Makeflow's resource monitor")),
            },
            SERIES => self.series.push((at, series::read(input::open(&source.path)?, &mut source.diagnostics)?)),
            _ => {}
        }
        Ok(())
    }
}

/// Copies the rules of a workflow file to the runs of the log named after it; a single log and a
/// single file are joined in any case.
fn join_workflows(sources: &mut [Source], runs: &mut [(usize, Run)], workflows: Vec<(usize, Vec<Rule>)>) {
    let logs: std::collections::BTreeSet<usize> = runs.iter().map(|(at, _)| *at).collect();
    let one_each = logs.len() == 1 && workflows.len() == 1;
    for (at, rules) in workflows {
        let stem = |name: &str| name.trim_end_matches(".gz").trim_end_matches(".json").trim_end_matches(".jx").to_owned();
        let name = stem(&sources[at].name);
        let mut used = false;
        for (log, run) in runs.iter_mut() {
            let log_of = stem(sources[*log].name.trim_end_matches(".gz").trim_end_matches(LOG_SUFFIX));
            if !one_each && log_of != name {
                continue;
            }
            used = true;
            if run.total.is_some_and(|total| total != rules.len()) {
                let message =
                    format!("the workflow has {} rules and the run {}: it is not of this run", rules.len(), run.total.unwrap_or_default());
                sources[at].diagnostics.push(Diagnostic::warning("workflow_of_other_run", message));
                continue;
            }
            for (node, rule) in rules.iter().enumerate() {
                let known = run.rules.entry(node.to_string()).or_default();
                if rule.command.as_deref().is_some_and(|told| goes_on(known, told)) {
                    (known.command, known.is_cut) = (None, false);
                }
                if known.command.as_ref().zip(rule.command.as_ref()).is_some_and(|(known, told)| known != told) {
                    let message = format!("rule {node} has another command in the log, which is kept");
                    sources[at].diagnostics.push(Diagnostic::warning("sources_contradict", message));
                    continue;
                }
                known.command = known.command.take().or_else(|| rule.command.clone());
                known.environment.clone_from(&rule.environment);
                known.category = known.category.take().or_else(|| rule.category.clone());
                known.parents = known.parents.take().or_else(|| rule.parents.clone());
                known.inputs = known.inputs.take().or_else(|| rule.inputs.clone());
                known.outputs = known.outputs.take().or_else(|| rule.outputs.clone());
                known.resources = rule.resources;
            }
        }
        if !used {
            let message = "no log of a run of this workflow was given, so that no task that ran is known";
            sources[at].diagnostics.push(Diagnostic::warning("workflow_without_run", message).advise("give WORKFLOW.makeflowlog as well"));
        }
    }
}

/// Whether the command of a log is that of the workflow file or the first part of it: a command
/// with newlines spans several lines of the log, and some of them can be mistaken for marks.
fn goes_on(known: &Rule, told: &str) -> bool {
    let Some(command) = &known.command else { return false };
    let first = |text: &str| text.lines().next().map(str::to_owned);
    command.trim_end() == told.trim_end() || known.is_unsure && first(command) == first(told)
}

/// Removes commands that the log has only in part, if no workflow file has them in full.
fn without_cut_commands(source: &mut Source, run: &mut Run) {
    for (node, rule) in run.rules.iter_mut().filter(|(_, rule)| rule.is_cut) {
        let message = format!("the command of rule {node} goes over several lines, one of which can be a mark: it is left out");
        let advice = "import the workflow file in Makeflow's JSON in the same call";
        source.diagnostics.push(Diagnostic::error("line_bad", message).advise(advice));
        rule.command = None;
    }
}

/// Joins a summary with the last attempt of its rule; returns the row when there is none.
fn join_summary(sources: &mut [Source], at: usize, mut told: Row, runs: &mut [(usize, Run)]) -> Option<Row> {
    let name = sources[at].name.clone();
    let fits = |run: &Run, node: &str| {
        let command = run.rules.get(node).and_then(|rule| rule.command.as_deref());
        command.is_none_or(|command| told.command.as_deref().is_none_or(|told| told == command))
    };
    let node = summary::node(&name);
    let mut candidates: Vec<&mut Run> =
        runs.iter_mut().map(|(_, run)| run).filter(|run| node.is_some_and(|node| fits(run, node))).collect();
    let last = match &mut candidates[..] {
        [run] => run.rows.iter_mut().rev().find(|row| row.task_id.as_deref() == node),
        _ => None,
    };
    let Some(row) = last else {
        let message = "no run of the logs that were given has a rule with this number and command; it is a row of its own";
        sources[at].diagnostics.push(Diagnostic::warning("summary_without_run", message));
        sources[at].rows = 1;
        let command = told.command.clone().filter(|command| !command.trim().is_empty()).unwrap_or_else(|| name.clone().into());
        told.logical_task = program(&command).to_owned().into();
        told.name = command;
        sources[at].sign(&mut told);
        return Some(told);
    };
    if row.status != "running" && told.status != "unknown" && row.status != told.status {
        let message = format!("rule {} is {} by the log and {} by the monitor; the log is kept", name, row.status, told.status);
        sources[at].diagnostics.push(Diagnostic::warning("sources_contradict", message));
    }
    // The monitor measured the task itself; Makeflow noticed its end later.
    (row.started_ns, row.started_precision_ns) = (told.started_ns, told.started_precision_ns);
    if told.finished_ns.is_some() {
        (row.finished_ns, row.finished_precision_ns) = (told.finished_ns, told.finished_precision_ns);
    }
    (row.exit_code, row.host, row.realtime_s, row.cpu_percent) = (told.exit_code, told.host, told.realtime_s, told.cpu_percent);
    (row.peak_rss_bytes, row.peak_vmem_bytes) = (told.peak_rss_bytes, told.peak_vmem_bytes);
    (row.rchar_bytes, row.wchar_bytes, row.command) = (told.rchar_bytes, told.wchar_bytes, told.command);
    None
}

/// Fills columns of the last attempt of the rule that no summary filled. A series contains no
/// command, so exactly one run must have the rule.
fn join_series(source: &mut Source, series: Series, runs: &mut [(usize, Run)]) {
    let node = summary::node(&source.name);
    let mut candidates = runs.iter_mut().filter_map(|(_, run)| run.rows.iter_mut().rev().find(|row| row.task_id.as_deref() == node));
    let (Some(row), None) = (candidates.next(), candidates.next()) else {
        let message = "no run of the given logs has a rule with this number: it belongs to no task";
        source.diagnostics.push(Diagnostic::warning("series_without_run", message));
        return;
    };
    if row.started_ns.is_some() {
        return;
    }
    row.started_ns = series.first_ns;
    // The start lies between the submission and the first measurement.
    let since = |submitted: i64| series.first_ns?.checked_sub(submitted).filter(|time| *time >= 0);
    row.started_precision_ns = row.submitted_ns.and_then(since);
    (row.peak_rss_bytes, row.peak_vmem_bytes) = (series.peak_rss_bytes, series.peak_vmem_bytes);
}

/// Fills an attempt from its rule; returns whether `left` bytes were enough for its texts.
fn describe(row: &mut Row, run: &Run, left: &mut usize) -> bool {
    let node = row.task_id.as_deref().unwrap_or_default().to_owned();
    let unknown = Rule::default();
    let known = run.rules.get(&node).unwrap_or(&unknown);
    let fits = left.checked_sub(known.bytes());
    *left = fits.unwrap_or(*left);
    let rule = if fits.is_some() { known } else { &unknown };
    row.command = rule.command.clone().map(Into::into).or(row.command.take()).filter(|command| !command.trim().is_empty());
    let command = row.command.as_deref().map(str::to_owned);
    row.name = command.clone().unwrap_or_else(|| format!("node {node}")).into();
    row.command = command.as_deref().map(|command| format!("{}{command}", exports(&rule.environment)).into());
    let category = rule.category.as_deref().filter(|category| !matches!(*category, "" | "default")).map(str::to_owned);
    row.logical_task = category.or(command.map(|command| program(&command).to_owned())).unwrap_or_else(|| format!("node {node}")).into();
    row.parents = rule.parents.as_ref().map(|parents| serde_json::json!(parents).to_string().into());
    let files = |files: &Option<Vec<String>>, are_there: bool| {
        let file = |path: &String| match run.bytes.get(path).filter(|_| are_there) {
            Some(bytes) => serde_json::json!({ "path": path, "bytes": bytes }),
            None => serde_json::json!({ "path": path }),
        };
        files.as_ref().map(|files| serde_json::Value::Array(files.iter().map(file).collect()).to_string().into())
    };
    row.inputs = files(&rule.inputs, true);
    row.outputs = files(&rule.outputs, row.status == "completed");
    [row.cpus, row.memory_bytes, row.disk_bytes] = known.resources;
    fits.is_some()
}

/// Returns variables as assignments of a shell before a command.
fn exports(environment: &BTreeMap<String, String>) -> String {
    let set = |(name, value): (&String, &String)| format!("export {name}='{}'; ", value.replace('\'', r"'\''"));
    environment.iter().map(set).collect()
}

/// Returns the file name of a command's program.
fn program(command: &str) -> &str {
    let word = command.split_whitespace().find(|word| !word.contains('=')).unwrap_or(command);
    word.rsplit('/').next().unwrap_or(word).trim_end_matches(';')
}

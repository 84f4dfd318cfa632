//! What the lines of a log tell of a run and its tasks, as they come.

use std::collections::{BTreeMap, HashMap, VecDeque};

use chrono::DateTime;
use flowmine_schema::diagnostic::{Diagnostic, Diagnostics};
use flowmine_schema::time::SECOND_NS;

use super::clock::{Clock, Stamp};
use super::handler::{self, Handler};
use super::log::Event;
use super::names::{cache_key_of_dir, leading_key, process_and_tag};
use crate::{Row, units};

/// A task while the log is read.
#[derive(Default)]
pub struct Task {
    pub row: Row,
    /// Whether more than the grid's acknowledgement of a submission named it.
    pub is_task: bool,
    pub submitted: Option<Stamp>,
    /// When the handler was done with it, and what it called that.
    pub done: Option<(Option<Stamp>, String)>,
    pub started_ms: Option<i64>,
    /// Nanoseconds and precision.
    pub exited: Option<(i64, i64)>,
    pub failed: bool,
    pub running: bool,
}

/// What is known of a run so far.
#[derive(Default)]
pub struct Told {
    pub source: String,
    pub run_id: Option<String>,
    pub run_name: Option<String>,
    pub host: Option<String>,
    pub clock: Clock,
    pub trace_file: Option<String>,
    pub first_line: Option<u64>,
    pub tasks: Vec<Task>,
    by_key: HashMap<String, usize>,
    /// The latest task of a name, for errors that tell nothing else.
    by_name: HashMap<String, usize>,
    /// Executors and their polling intervals.
    pub executors: BTreeMap<String, Option<i64>>,
    /// The executor of each process, where told.
    pub processes: HashMap<String, String>,
    last_processor: Option<String>,
    /// By name, the numbers of retries that were announced and have not begun.
    retries: HashMap<String, VecDeque<i64>>,
    pub aborted: bool,
    pub stats: Option<(u64, String)>,
}

impl Told {
    /// Of a log with this name.
    pub fn new(source: &str) -> Self {
        Self { source: source.to_owned(), ..Self::default() }
    }

    /// Whether no run has begun.
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty() && self.run_id.is_none()
    }

    /// Takes in a line with its continuation.
    pub fn see(&mut self, event: Event, said: &mut Diagnostics) {
        if event.is_of_script() {
            return;
        }
        self.first_line.get_or_insert(event.line);
        let message = event.message.as_str();
        if let Some((key, what)) = leading_key(message) {
            self.see_task_line(key, what, &event, said);
        } else if let Some(name) = message.strip_prefix("[skipping] Stored process > ") {
            let at = self.add(None, name, event.line);
            self.tasks[at].row.cached = true;
        } else if let Some(text) = message.strip_prefix("Task completed > ") {
            self.see_done(text, &event, said);
        } else if message.starts_with('[') && message.contains("submitted") {
            self.see_acknowledged(&event, said);
        } else if message.starts_with("Handling unexpected condition for") {
            self.see_exception(&event);
        } else if event.is_error
            && let Some(name) = message.strip_prefix("Error executing process > ")
        {
            self.see_error(name.trim_matches('\''), &event);
        } else {
            self.see_about_run(&event);
        }
    }

    /// What is told of the run, not of a task.
    fn see_about_run(&mut self, event: &Event) {
        let message = event.message.as_str();
        let after = |what: &str| message.strip_prefix(what).map(|rest| rest.trim().to_owned());
        if let Some(id) = after("Session UUID: ").or_else(|| after("Session uuid: ")) {
            self.run_id = Some(id);
        } else if let Some(name) = after("Run name: ") {
            self.run_name = Some(name);
        } else if let Some(executor) = after("[warm up] executor > ") {
            self.executors.entry(executor).or_default();
        } else if let Some(executor) = after(">> processorType: ") {
            self.last_processor = Some(executor.trim_matches('\'').to_owned());
        } else if let Some(process) = message.strip_prefix("Creating process '").and_then(|rest| rest.split('\'').next()) {
            if let Some(executor) = self.last_processor.take() {
                self.processes.insert(process.to_owned(), executor);
            }
        } else if message.starts_with("Creating ")
            && let Some((executor, rest)) = message.split_once("for executor '").and_then(|(_, rest)| rest.split_once('\''))
        {
            let interval = rest.split_once("pollInterval").map(|(_, rest)| rest.trim_start_matches([':', '=', ' ']));
            let interval = interval.and_then(|rest| units::duration_s(rest.split(';').next()?));
            self.executors.insert(executor.to_owned(), interval.map(|seconds| (seconds * SECOND_NS as f64) as i64));
        } else if message.starts_with("Session aborted")
            || message.starts_with("Killing running tasks")
            || message.starts_with("Killing pending tasks")
        {
            self.aborted = true;
        } else if let Some((_, stats)) = message.split_once("WorkflowStats[") {
            self.stats = Some((event.line, stats.to_owned()));
        } else if let Some((_, path)) = message.split_once(" trace file: ") {
            if let Some(stamp) = event.stamp {
                self.clock.see_report(stamp, path.trim());
            }
            self.trace_file = path.trim().rsplit('/').next().map(str::to_owned);
        } else if event.logger.ends_with(".CmdRun") {
            for line in event.more.lines() {
                if let Some(built) = line.trim().strip_prefix("Created: ") {
                    self.clock.see_built(built);
                } else if let Some(process) = line.trim().strip_prefix("Process: ") {
                    let host = process.split_once('@').map(|(_, host)| host.split(' ').next().unwrap_or(host));
                    self.host = host.map(str::to_owned);
                }
            }
        }
    }

    /// The task with this hash, or a new one.
    fn add(&mut self, key: Option<&str>, name: &str, line: u64) -> usize {
        let next = self.tasks.len();
        let at = key.map_or(next, |key| *self.by_key.entry(key.to_owned()).or_insert(next));
        if at == next {
            self.tasks.push(Task {
                row: Row { line: Some(line as i64), cache_key: key.map(|key| key.to_owned().into()), ..Row::default() },
                ..Task::default()
            });
        }
        let task = &mut self.tasks[at];
        if task.row.name.is_empty() {
            let (process, tag) = process_and_tag(name);
            task.row.logical_task = process.to_owned().into();
            task.row.tag = tag.map(|tag| tag.to_owned().into());
            task.row.name = name.to_owned().into();
        }
        task.is_task = true;
        self.by_name.insert(name.to_owned(), at);
        at
    }

    /// `[19/2c6526] Submitted process > NAME` and what else begins with a hash.
    fn see_task_line(&mut self, key: &str, what: &str, event: &Event, said: &mut Diagnostics) {
        if let Some(note) = what.strip_prefix("NOTE: ") {
            let Some(&at) = self.by_key.get(key) else { return };
            let task = &mut self.tasks[at];
            task.failed = true;
            let (why, consequence) = note.rsplit_once(" -- ").unwrap_or((note, ""));
            task.row.error.get_or_insert_with(|| why.to_owned().into());
            let number = consequence.strip_prefix("Execution is retried (").and_then(|rest| rest.trim_end_matches(')').parse().ok());
            if let Some(number) = number {
                self.retries.entry(task.row.name.to_string()).or_default().push_back(number);
            }
            return;
        }
        let Some((verb, name)) = what.split_once(" process > ") else { return };
        if !matches!(verb, "Submitted" | "Re-submitted" | "Cached" | "Stored") {
            return;
        }
        if event.cut {
            said.push(cut(event));
            return;
        }
        let at = self.add(Some(key), name, event.line);
        match verb {
            "Submitted" => {
                self.tasks[at].row.attempt = Some(1);
                self.tasks[at].submitted = self.tasks[at].submitted.or(event.stamp);
            }
            "Re-submitted" => {
                let number = self.retries.get_mut(name).and_then(VecDeque::pop_front);
                self.tasks[at].row.attempt = number.map(|number| number + 1);
                self.tasks[at].submitted = self.tasks[at].submitted.or(event.stamp);
            }
            _ => self.tasks[at].row.cached = true,
        }
    }

    /// `[SLURM] submitted process NAME > jobId: ID; workDir: DIR`, ``[AWS BATCH] Process `NAME` submitted > job=ID; work-dir=DIR``.
    fn see_acknowledged(&mut self, event: &Event, said: &mut Diagnostics) {
        let Some((executor, what)) = event.message[1..].split_once("] ") else { return };
        let Some((head, dir)) = what.rsplit_once("; workDir: ").or_else(|| what.rsplit_once("; work-dir=")) else { return };
        let Some((_, id)) = head.rsplit_once(" > jobId: ").or_else(|| head.rsplit_once("submitted > job=")) else { return };
        let id = id.split(';').next().unwrap_or(id).trim();
        if event.cut {
            said.push(cut(event));
            return;
        }
        let Some(key) = cache_key_of_dir(dir.trim()) else {
            said.push(
                Diagnostic::warning("work_dir_odd", "the work directory does not end in a hash")
                    .at(event.line, Some(event.column as u64 + 1)),
            );
            return;
        };
        let next = self.tasks.len();
        let at = *self.by_key.entry(key.clone()).or_insert(next);
        if at == next {
            // Its name can be an array's; the line that follows tells the task's.
            let name = head.strip_prefix("submitted process ").and_then(|rest| rest.rsplit_once(" > jobId: ")).map(|(name, _)| name);
            self.add(Some(&key), name.unwrap_or_default(), event.line);
            self.tasks[at].is_task = false;
        }
        let task = &mut self.tasks[at];
        task.submitted = event.stamp;
        task.row.work_dir = Some(dir.trim().to_owned().into());
        task.row.native_id = Some(id.to_owned().into());
        task.row.executor = Some(executor_of_label(executor).into());
    }

    fn see_done(&mut self, text: &str, event: &Event, said: &mut Diagnostics) {
        match handler::parse(text) {
            Ok(handler) => {
                let at = self.see_handler(&handler, event.line, event.stamp);
                self.tasks[at].done = Some((event.stamp, handler.status.to_owned()));
            }
            Err((at, why)) => {
                let column = event.column + "Task completed > ".len() + at;
                said.push(
                    Diagnostic::error("task_line_bad", format!("what became of a task cannot be read: {why}"))
                        .at(event.line, Some(column as u64 + 1)),
                );
            }
        }
    }

    /// A line of a dump of tasks that have not ended.
    pub fn see_pending(&mut self, text: &str, line: u64, stamp: Option<Stamp>, said: &mut Diagnostics) {
        match handler::parse(text) {
            Ok(handler) => {
                let at = self.see_handler(&handler, line, stamp);
                self.tasks[at].running = handler.status == "RUNNING";
            }
            Err((at, why)) => {
                let message = format!("a task that has not ended cannot be read: {why}");
                said.push(Diagnostic::error("task_line_bad", message).at(line, Some("~> ".len() as u64 + at as u64 + 1)));
            }
        }
    }

    fn see_handler(&mut self, handler: &Handler<'_>, line: u64, stamp: Option<Stamp>) -> usize {
        let key = handler.work_dir.and_then(cache_key_of_dir);
        let at = self.add(key.as_deref(), handler.name, line);
        let task = &mut self.tasks[at];
        // The submission's name can be an array's.
        let (process, tag) = process_and_tag(handler.name);
        task.row.name = handler.name.to_owned().into();
        task.row.logical_task = process.to_owned().into();
        task.row.tag = tag.map(|tag| tag.to_owned().into());
        task.row.task_id = Some(handler.id.to_owned().into());
        task.row.exit_code = handler.exit;
        task.row.work_dir = handler.work_dir.map(|dir| dir.to_owned().into()).or(task.row.work_dir.take());
        if let Some(id) = handler.job {
            task.row.native_id = Some(id.to_owned().into());
        }
        if let Some(error) = handler.error {
            task.failed = true;
            task.row.error.get_or_insert_with(|| error.to_owned().into());
        }
        task.started_ms = handler.started_ms.or(task.started_ms);
        task.exited = handler.exited.and_then(exited).or(task.exited);
        let started_ns = task.started_ms.and_then(|ms| ms.checked_mul(1_000_000));
        if let (Some(stamp), Some(newest)) = (stamp, started_ns.max(task.exited.map(|(ns, _)| ns))) {
            self.clock.see_utc(stamp, newest);
        }
        at
    }

    /// An exception, with the task's work directory in its second line and what it is in the third.
    fn see_exception(&mut self, event: &Event) {
        let mut lines = event.more.lines().map(str::trim);
        let Some((name, dir)) = lines.next().and_then(|line| line.strip_prefix("task: name=")?.rsplit_once("; work-dir=")) else { return };
        let why = lines.next().and_then(|line| line.strip_prefix("error [")?.split_once("]: ")).map(|(_, why)| why.to_owned());
        self.fail(cache_key_of_dir(dir), name, Some(dir), why, event.line);
    }

    /// The report on a failed task that people see.
    fn see_error(&mut self, name: &str, event: &Event) {
        let dir = section(&event.more, "Work dir:");
        let why = section(&event.more, "Caused by:");
        let at = self.fail(dir.as_deref().and_then(cache_key_of_dir), name, dir.as_deref(), why, event.line);
        let row = &mut self.tasks[at].row;
        if row.command.is_none() {
            row.command = section(&event.more, "Command executed:").map(Into::into);
        }
        if row.container_image.is_none() {
            row.container_image = section(&event.more, "Container:").map(Into::into);
        }
        if row.exit_code.is_none() {
            row.exit_code = section(&event.more, "Command exit status:").and_then(|code| code.parse().ok());
        }
    }

    fn fail(&mut self, key: Option<String>, name: &str, dir: Option<&str>, why: Option<String>, line: u64) -> usize {
        let known = match &key {
            Some(key) => self.by_key.get(key),
            None => self.by_name.get(name),
        };
        // A task that could not be submitted is told of here first.
        let at = known.copied().unwrap_or_else(|| self.add(key.as_deref(), name, line));
        let task = &mut self.tasks[at];
        task.failed = true;
        if let Some(why) = why {
            task.row.error.get_or_insert(why.into());
        }
        if let Some(dir) = dir {
            task.row.work_dir.get_or_insert_with(|| dir.to_owned().into());
        }
        at
    }
}

fn cut(event: &Event) -> Diagnostic {
    Diagnostic::error("last_line_cut", "the file ends within this line, which tells of a task: it is left out")
        .at(event.line, Some(event.column as u64 + 1))
}

/// `SLURM` and `AWS BATCH` as the executors are called in a configuration.
fn executor_of_label(label: &str) -> String {
    match label {
        "AWS BATCH" => "awsbatch".to_owned(),
        "AZURE BATCH" => "azurebatch".to_owned(),
        _ => label.to_lowercase().replace(' ', "-"),
    }
}

/// When the file with the exit code was written, and how exact that is by its digits.
fn exited(text: &str) -> Option<(i64, i64)> {
    let ns = DateTime::parse_from_rfc3339(text).ok()?.timestamp_nanos_opt()?;
    let digits = text.split_once('.').map_or(0, |(_, fraction)| fraction.bytes().take_while(u8::is_ascii_digit).count());
    Some((ns, 10_i64.pow(9 - digits.min(9) as u32)))
}

/// A section of the report on a failed task, without its two blanks of indent: from a heading to the next line that is not indented.
fn section(report: &str, heading: &str) -> Option<String> {
    let mut lines = report.lines().skip_while(|line| *line != heading).skip(1).peekable();
    while lines.next_if(|line| line.is_empty()).is_some() {}
    let inside: Vec<&str> = lines.map_while(|line| line.strip_prefix("  ").or(line.is_empty().then_some(""))).collect();
    let text = inside.join("\n").trim_end().to_owned();
    (!text.is_empty() && text != "-").then_some(text)
}

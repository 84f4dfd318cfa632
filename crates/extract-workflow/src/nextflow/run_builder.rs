//! Collects facts about a run and its tasks from the lines of a log.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, VecDeque};

use chrono::DateTime;
use flowmine_schema::diagnostic::{Diagnostic, Diagnostics};
use flowmine_schema::time;

use super::clock::{Clock, Stamp};
use super::event::Event;
use super::exception::is_interruption;
use super::handler::{self, Handler};
use super::names::{hash_of_dir, leading_key, process_and_tag};
use super::tasks::{About, Tasks};
use crate::units;

/// Maximum length of a run's name or id, in bytes; longer texts, which would be in each of its
/// rows, are ignored. Nextflow's names have at most 80 characters and its ids 36.
const LONGEST_NAME: usize = 1000;

/// The facts known about a run so far.
#[derive(Default)]
pub struct RunBuilder {
    pub run_id: Option<String>,
    pub run_name: Option<String>,
    pub host: Option<String>,
    pub clock: Clock,
    pub trace_file: Option<String>,
    /// File name of its graph of processes, where the command line has it.
    pub graph_file: Option<String>,
    pub first_line: Option<u64>,
    pub tasks: Tasks,
    /// Executors and their polling intervals.
    pub executors: BTreeMap<String, Option<i64>>,
    /// The executor of each process, where known.
    pub processes: HashMap<String, String>,
    last_processor: Option<String>,
    /// The numbers of announced retries that have not begun, by task name.
    retries: HashMap<String, VecDeque<i64>>,
    pub aborted: bool,
    /// Whether the configuration left jobs running when the run was aborted.
    pub left_running: bool,
    /// Whether the executor logs the jobs that it ended.
    pub kills_are_told: bool,
    /// Whether no more tasks are started, because an error or a user ends the run.
    is_ending: bool,
    /// Whether the last line that Nextflow logs for a run was read.
    pub has_end: bool,
    /// A task without a hash that an exception reported first, until the report on it contains its
    /// full name.
    nameless: Option<usize>,
    pub stats: Option<(u64, String)>,
}

/// Returns the file name in `-with-dag FILE`. Without a file, the configuration or the time of the
/// launch names it.
fn graph_of_command(command: &str) -> Option<String> {
    let path = command.split_whitespace().skip_while(|word| *word != "-with-dag").nth(1)?.trim_matches(['\'', '"']);
    let name = path.rsplit('/').next().filter(|name| !name.is_empty() && !path.starts_with('-') && name.len() <= LONGEST_NAME)?;
    Some(name.to_owned())
}

impl RunBuilder {
    /// Whether no run has begun.
    pub fn is_empty(&self) -> bool {
        self.tasks.all.is_empty() && self.run_id.is_none()
    }

    /// Processes a line with its continuation.
    pub fn see(&mut self, event: Event, diagnostics: &mut Diagnostics) {
        if event.is_of_script() {
            return;
        }
        self.first_line.get_or_insert(event.line);
        let message = event.message.as_str();
        if let Some((key, what)) = leading_key(message) {
            self.see_task_line(key, what, &event, diagnostics);
        } else if let Some(name) = message.strip_prefix("[skipping] Stored process > ") {
            self.see_cached(None, name, &event, diagnostics);
        } else if let Some(text) = message.strip_prefix("Task completed > ") {
            self.see_done(text, message.len() - text.len(), &event, diagnostics);
        } else if let Some(text) = message.strip_prefix("Task timed-out > ") {
            if let Some(at) = self.see_done(text, message.len() - text.len(), &event, diagnostics) {
                self.tasks.all[at].failed = true;
            }
        } else if message.starts_with('[')
            && let Some((_, id)) = message.split_once("] killing job=")
        {
            let id = id.split([';', ' ']).next().unwrap_or(id);
            self.kills_are_told = true;
            if let Some(task) = self.tasks.of_native_id(id) {
                task.killed = true;
            }
        } else if message.starts_with('[') && message.contains("submitted") {
            self.see_acknowledged(&event, diagnostics);
        } else if message.starts_with("Handling unexpected condition for") {
            self.see_exception(&event, diagnostics);
        } else if event.is_error
            && let Some(name) = message.strip_prefix("Error executing process > ")
        {
            self.see_error(name.trim_matches('\''), &event, diagnostics);
        } else {
            self.see_about_run(&event);
        }
    }

    /// Processes a line about the run, not about a task.
    fn see_about_run(&mut self, event: &Event) {
        let message = event.message.as_str();
        if event.is_launch() {
            self.graph_file = graph_of_command(message);
        }
        let after = |what: &str| message.strip_prefix(what).map(|rest| rest.trim().to_owned());
        if let Some(id) = after("Session UUID: ").or_else(|| after("Session uuid: ")) {
            self.run_id = Some(id).filter(|id| id.len() <= LONGEST_NAME);
        } else if let Some(name) = after("Run name: ") {
            self.run_name = Some(name).filter(|name| name.len() <= LONGEST_NAME);
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
            self.executors.insert(executor.to_owned(), interval.and_then(time::length_ns));
        } else if message.starts_with("Session aborted")
            || message.starts_with("Killing running tasks")
            || message.starts_with("Killing pending tasks")
        {
            self.aborted = true;
            self.is_ending = true;
        } else if message.starts_with("Execution cancelled") || message.starts_with("Session await > all process") {
            self.is_ending = true;
        } else if message.starts_with("Running tasks were not cancelled as requested") {
            self.left_running = true;
        } else if message.ends_with("Execution complete -- Goodbye") {
            self.has_end = true;
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

    /// Processes `[19/2c6526] Submitted process > NAME` and other lines that begin with a hash.
    fn see_task_line(&mut self, key: &str, what: &str, event: &Event, diagnostics: &mut Diagnostics) {
        if let Some(note) = what.strip_prefix("NOTE: ") {
            self.see_note(key, note);
            return;
        }
        let Some((verb, name)) = what.split_once(" process > ") else { return };
        if !matches!(verb, "Submitted" | "Re-submitted" | "Cached" | "Stored") {
            return;
        }
        if event.cut {
            return;
        }
        // A tag can contain newlines.
        let name = &*whole_message(name, event, |name| !name.contains(" (") || name.ends_with(')'));
        if matches!(verb, "Cached" | "Stored") {
            let at = self.see_cached(Some(key), name, event, diagnostics);
            self.tasks.all[at].stored = verb == "Stored";
            return;
        }
        // Each submission is logged once; a second line with the same hash and name is another
        // task.
        let at = self.tasks.find_or_add(About { hash: Some(key), id: None, name }, event.line, diagnostics, |task| !task.announced);
        let attempt = match verb {
            "Submitted" => Some(1),
            _ => self.retries.get_mut(name).and_then(VecDeque::pop_front).map(|number| number + 1),
        };
        let task = &mut self.tasks.all[at];
        task.announced = true;
        task.is_late = self.aborted;
        task.row.attempt = attempt;
        task.submitted = task.submitted.or(event.stamp);
    }

    /// Processes a cached or stored task. Each line is a separate task: several can take the same
    /// result.
    fn see_cached(&mut self, key: Option<&str>, name: &str, event: &Event, diagnostics: &mut Diagnostics) -> usize {
        let at = self.tasks.add(About { hash: key, id: None, name }, event.line, diagnostics);
        let task = &mut self.tasks.all[at];
        (task.announced, task.row.cached, task.cached, task.stored) = (true, true, event.stamp, key.is_none());
        at
    }

    /// Processes ``[19/2c6526] NOTE: Process `NAME` terminated with an error exit status (1) --
    /// Execution is retried (1)``.
    fn see_note(&mut self, key: &str, note: &str) {
        let Some(at) = self.tasks.of_note(key, note) else { return };
        let task = &mut self.tasks.all[at];
        task.failed = true;
        let (why, consequence) = note.rsplit_once(" -- ").unwrap_or((note, ""));
        task.row.error.get_or_insert_with(|| why.to_owned().into());
        task.ignored |= consequence.starts_with("Error is ignored");
        task.retried |= consequence.starts_with("Execution is retried");
        let number = consequence.strip_prefix("Execution is retried (").and_then(|rest| rest.trim_end_matches(')').parse().ok());
        if let Some(number) = number {
            self.retries.entry(task.row.name.to_string()).or_default().push_back(number);
        }
    }

    /// Processes `[SLURM] submitted process NAME > jobId: ID; workDir: DIR` and ``[AWS BATCH]
    /// Process `NAME` submitted > job=ID; work-dir=DIR``.
    fn see_acknowledged(&mut self, event: &Event, diagnostics: &mut Diagnostics) {
        let Some((executor, what)) = event.message[1..].split_once("] ") else { return };
        let Some((head, dir)) = what.rsplit_once("; workDir: ").or_else(|| what.rsplit_once("; work-dir=")) else { return };
        let Some((_, id)) = head.rsplit_once(" > jobId: ").or_else(|| head.rsplit_once("submitted > job=")) else { return };
        let id = id.split(';').next().unwrap_or(id).trim();
        if event.cut {
            return;
        }
        let dir = whole_message(dir, event, |dir| hash_of_dir(dir.trim()).is_some());
        let dir = dir.as_ref();
        let Some(hash) = hash_of_dir(dir.trim()) else {
            diagnostics.push(
                Diagnostic::warning("work_dir_odd", "the work directory does not end in a hash")
                    .at(event.line, Some(event.column as u64 + 1)),
            );
            return;
        };
        // The name can be that of an array; the line that follows has the task's.
        let name = head.strip_prefix("submitted process ").and_then(|rest| rest.rsplit_once(" > jobId: ")).map(|(name, _)| name);
        let about = About { hash: Some(hash), id: None, name: name.unwrap_or_default() };
        let at = self.tasks.find(about, |_| true).unwrap_or_else(|| {
            let at = self.tasks.add(about, event.line, diagnostics);
            self.tasks.all[at].is_task = false;
            at
        });
        self.tasks.set_native_id(at, id);
        let task = &mut self.tasks.all[at];
        task.hash = Some(hash.to_owned());
        task.waits = false;
        task.submitted = event.stamp;
        task.row.work_dir = Some(dir.trim().to_owned().into());
        task.row.executor = Some(executor_of_label(executor).into());
    }

    /// Processes the handler of a finished task and returns the task; the text of the handler
    /// begins `before` bytes after the start of the message.
    fn see_done(&mut self, text: &str, before: usize, event: &Event, diagnostics: &mut Diagnostics) -> Option<usize> {
        let text =
            whole_message(text, event, |text| handler::parse(text).is_ok_and(|handler| handler.work_dir.and_then(hash_of_dir).is_some()));
        match handler::parse(&text) {
            Ok(handler) => {
                let at = self.see_handler(&handler, event.line, event.stamp, diagnostics);
                self.tasks.all[at].done = Some((event.stamp, handler.status.to_owned()));
                Some(at)
            }
            Err((at, why)) => {
                let column = event.column + before + at;
                diagnostics.push(
                    Diagnostic::error("task_line_bad", format!("the outcome of a task cannot be read: {why}"))
                        .at(event.line, Some(column as u64 + 1)),
                );
                None
            }
        }
    }

    /// Processes a line of a dump of unfinished tasks.
    pub fn see_pending(&mut self, text: &str, line: u64, stamp: Option<Stamp>, diagnostics: &mut Diagnostics) {
        match handler::parse(text) {
            Ok(handler) => {
                let at = self.see_handler(&handler, line, stamp, diagnostics);
                let task = &mut self.tasks.all[at];
                task.running = handler.status == "RUNNING";
                // The dump of the tasks to be submitted: their outcome is logged when they are.
                task.waits = handler.status == "NEW" && !task.announced && task.submitted.is_none();
            }
            Err((at, why)) => {
                let message = format!("a task that has not ended cannot be read: {why}");
                diagnostics.push(Diagnostic::error("task_line_bad", message).at(line, Some("~> ".len() as u64 + at as u64 + 1)));
            }
        }
    }

    fn see_handler(&mut self, handler: &Handler<'_>, line: u64, stamp: Option<Stamp>, diagnostics: &mut Diagnostics) -> usize {
        let about = About { hash: handler.work_dir.and_then(hash_of_dir), id: Some(handler.id), name: handler.name };
        let at = self.tasks.find_or_add(about, line, diagnostics, |_| true);
        if let Some(id) = handler.job {
            self.tasks.set_native_id(at, id);
        }
        let task = &mut self.tasks.all[at];
        // The name in the submission can be that of an array.
        task.set_name(handler.name);
        task.row.task_id = Some(handler.id.to_owned().into());
        task.row.exit_code = handler.exit;
        task.row.work_dir = handler.work_dir.map(|dir| dir.to_owned().into()).or(task.row.work_dir.take());
        if let Some(error) = handler.error {
            if is_interruption("", error, self.is_ending) {
                task.killed = true;
            } else {
                task.failed = true;
                task.row.error.get_or_insert_with(|| error.to_owned().into());
            }
        }
        task.started_ms = handler.started_ms.or(task.started_ms);
        task.exited = handler.exited.and_then(exited).or(task.exited);
        let started_ns = task.started_ms.and_then(|ms| ms.checked_mul(1_000_000));
        if let (Some(stamp), Some(newest)) = (stamp, started_ns.max(task.exited.map(|(ns, _)| ns))) {
            self.clock.see_utc(stamp, newest);
        }
        at
    }

    /// Processes an exception, with the task's work directory in its second line and the exception
    /// itself in the third. Without a directory the exception occurred in an operator, which makes
    /// tasks and names its process; if it is an interruption, no task failed.
    fn see_exception(&mut self, event: &Event, diagnostics: &mut Diagnostics) {
        let first = event.more.lines().next().unwrap_or_default();
        // A work directory can contain a newline.
        let several = event.more.split_once("\n  error [").map(|(before, _)| before);
        let several = several.filter(|text| task_of_exception(text).is_some_and(|(_, dir)| hash_of_dir(dir).is_some()));
        let Some((name, dir)) = task_of_exception(several.unwrap_or(first)) else { return };
        let error = event.more.lines().nth(several.map_or(1, |text| text.lines().count())).unwrap_or_default();
        let (class, why) = error.trim().strip_prefix("error [").and_then(|error| error.split_once("]: ")).unwrap_or_default();
        let dir = Some(dir).filter(|dir| *dir != "null");
        let about = About { hash: dir.and_then(hash_of_dir), id: None, name };
        if is_interruption(class, why, self.is_ending) {
            if let Some(at) = self.tasks.find(about, |_| true) {
                self.tasks.all[at].killed = true;
            } else if about.hash.is_some() {
                let at = self.tasks.add(about, event.line, diagnostics);
                self.tasks.all[at].waits = true;
            }
            return;
        }
        let at = self.tasks.find_or_add(about, event.line, diagnostics, |_| true);
        if about.hash.is_none() {
            self.nameless = Some(at);
        }
        self.fail(at, dir, Some(why).filter(|why| !why.is_empty()));
    }

    /// Processes the report on a failed task that is displayed to the user.
    fn see_error(&mut self, name: &str, event: &Event, diagnostics: &mut Diagnostics) {
        let dir = section(&event.more, "Work dir:");
        let why = section(&event.more, "Caused by:");
        if why.as_deref().is_some_and(|why| is_interruption("", why, self.is_ending)) {
            return;
        }
        let about = About { hash: dir.as_deref().and_then(hash_of_dir), id: None, name };
        let at = match about.hash {
            Some(_) => self.tasks.find_or_add(about, event.line, diagnostics, |_| true),
            None => self
                .nameless_task(name)
                .or_else(|| self.tasks.of_name(name))
                .unwrap_or_else(|| self.tasks.add(about, event.line, diagnostics)),
        };
        self.fail(at, dir.as_deref(), why.as_deref());
        let row = &mut self.tasks.all[at].row;
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

    /// Returns the task of this process with an exception logged just before, and completes its
    /// name.
    fn nameless_task(&mut self, name: &str) -> Option<usize> {
        let at = self.nameless.take()?;
        let task = &mut self.tasks.all[at];
        (task.row.logical_task == process_and_tag(name).0).then(|| task.set_name(name)).map(|()| at)
    }

    fn fail(&mut self, at: usize, dir: Option<&str>, why: Option<&str>) {
        let task = &mut self.tasks.all[at];
        task.failed = true;
        if let Some(why) = why {
            task.row.error.get_or_insert_with(|| Cow::Owned(why.to_owned()));
        }
        if let Some(dir) = dir {
            task.row.work_dir.get_or_insert_with(|| dir.to_owned().into());
        }
    }
}

/// Returns name and work directory of the task that an exception is about.
fn task_of_exception(text: &str) -> Option<(&str, &str)> {
    text.trim().strip_prefix("task: name=")?.rsplit_once("; work-dir=")
}

/// Returns the text of a line, with the continuation lines if `is_whole` holds only with them: a
/// work directory or an error can contain a newline.
fn whole_message<'a>(text: &'a str, event: &Event, is_whole: impl Fn(&str) -> bool) -> Cow<'a, str> {
    if event.more.is_empty() || is_whole(text) {
        return Cow::Borrowed(text);
    }
    Some(format!("{text}\n{}", event.more.trim_end())).filter(|all| is_whole(all)).map_or(Cow::Borrowed(text), Cow::Owned)
}

/// Returns the executor's name in a configuration for `SLURM`, `AWS BATCH` and other labels.
fn executor_of_label(label: &str) -> String {
    match label {
        "AWS BATCH" => "awsbatch".to_owned(),
        "AZURE BATCH" => "azurebatch".to_owned(),
        _ => label.to_lowercase().replace(' ', "-"),
    }
}

/// Returns the time at which the file with the exit code was written, and its precision from the
/// number of digits.
fn exited(text: &str) -> Option<(i64, i64)> {
    let ns = DateTime::parse_from_rfc3339(text).ok()?.timestamp_nanos_opt()?;
    let digits = text.split_once('.').map_or(0, |(_, fraction)| fraction.bytes().take_while(u8::is_ascii_digit).count());
    Some((ns, 10_i64.pow(9 - digits.min(9) as u32)))
}

/// Returns a section of the report on a failed task, without its indent of two blanks: from a
/// heading to the next line that is not indented.
fn section(report: &str, heading: &str) -> Option<String> {
    let mut lines = report.lines().skip_while(|line| *line != heading).skip(1).peekable();
    while lines.next_if(|line| line.is_empty()).is_some() {}
    let inside: Vec<&str> = lines.map_while(|line| line.strip_prefix("  ").or(line.is_empty().then_some(""))).collect();
    let text = inside.join("\n").trim_end().to_owned();
    (!text.is_empty() && text != "-").then_some(text)
}

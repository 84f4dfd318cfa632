//! `.nextflow.log`: lines in, runs with their tasks out.
//!
//! A line begins with a time of day ([`super::clock`]), a thread, a level and a logger; what does not is the continuation of the line before. What a user's
//! script prints is in the log too, under loggers of its own, and is not looked at. Only one line, the runs' tasks and at most 256 KiB of a
//! continued message are in memory.
//!
//! **What became of a task** is not what the log calls `COMPLETED`, which means that the handler is done with it. A task has failed when its exit code
//! is not 0, or a NOTE, an ERROR or an exception is about it; an exit `-` without any of these is success where there is no native id (a task
//! that ran inside Nextflow), and unknown where there is one (a job that vanished).

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io::{self, BufRead};

use chrono::DateTime;
use flowmine_schema::diagnostic::{Diagnostic, Diagnostics};
use flowmine_schema::text;
use flowmine_schema::time::SECOND_NS;

use super::clock::{self, Clock, Resolved, Stamp};
use super::handler::{self, Handler};
use super::names::{cache_key_of_dir, leading_key, process_and_tag};
use crate::input::Lines;
use crate::{Options, Row, units};

/// Of a message that goes over several lines.
const MOST_CONTINUATION: usize = 256 << 10;

/// A run.
#[derive(Debug)]
pub struct Run {
    /// Its tasks in the order in which the log names them first.
    pub rows: Vec<Row>,
    /// How its local times become UTC; `None` when its year is not known.
    pub clock: Option<Resolved>,
    /// The name of its trace file, without folders.
    pub trace_file: Option<String>,
}

/// Reads a log; several, one after the other in a file, are several runs.
///
/// # Errors
/// When reading fails. What is wrong in a line is said in `said`.
pub fn read(reader: impl BufRead, source: &str, mtime_ns: Option<i64>, options: &Options, said: &mut Diagnostics) -> io::Result<Vec<Run>> {
    let mut lines = Lines::new(reader);
    let mut runs = Vec::new();
    let mut state = State::new(source);
    let mut event: Option<Event> = None;
    while let Some((number, line)) = lines.next()? {
        let line = text::decode(line);
        let line = without_escapes(&line);
        if let Some((month, day, ms, at)) = clock::prefix(&line) {
            if let Some(event) = event.take() {
                state.see(event, said);
            }
            let stamp = state.clock.stamp(month, day, ms);
            if stamp.is_none() {
                let message = format!("{month:?} is no month that is known, or has no day {day}: the times of such lines are left out");
                said.push(Diagnostic::warning("month_unknown", message).at(number, Some(1)));
            }
            let this = Event::new(number, stamp, &line[at..], at);
            if this.is_launch() && !state.is_empty() {
                runs.extend(std::mem::replace(&mut state, State::new(source)).finish(options, mtime_ns, said));
                state.clock.stamp(month, day, ms);
            }
            event = Some(this);
        } else if let Some(dumped) = line.strip_prefix("~> ") {
            state.see_pending(dumped, number, event.as_ref().and_then(|event| event.stamp), said);
        } else if let Some(event) = &mut event {
            event.go_on(&line);
        }
    }
    if let Some(mut event) = event {
        event.cut = !lines.whole && event.more.is_empty();
        state.see(event, said);
    }
    runs.extend(state.finish(options, mtime_ns, said));
    Ok(runs)
}

/// Without what colours a terminal.
fn without_escapes(line: &str) -> std::borrow::Cow<'_, str> {
    if !line.contains('\x1b') {
        return line.into();
    }
    let mut out = String::with_capacity(line.len());
    let mut pieces = line.split('\x1b');
    out.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        // CSI, parameters, one letter.
        let end = piece.strip_prefix('[').and_then(|rest| rest.find(|c: char| c.is_ascii_alphabetic()));
        out.push_str(end.map_or(piece, |end| &piece[end + 2..]));
    }
    out.into()
}

/// A line and its continuation.
struct Event {
    line: u64,
    stamp: Option<Stamp>,
    is_error: bool,
    logger: String,
    message: String,
    /// Where the message begins in its line, in bytes from 0.
    column: usize,
    more: String,
    /// The file ends within it.
    cut: bool,
}

impl Event {
    /// From what follows the time: `[main] DEBUG nextflow.Session - Session start`.
    fn new(line: u64, stamp: Option<Stamp>, rest: &str, at: usize) -> Self {
        let level =
            ["] TRACE ", "] DEBUG ", "] INFO ", "] WARN ", "] ERROR "].iter().filter_map(|level| Some((rest.find(level)?, level))).min();
        let after = level.map_or(0, |(at, level)| at + level.len());
        let (logger, message_at) =
            rest[after..].find(" - ").map_or((rest, rest.len()), |dash| (&rest[after..after + dash], after + dash + 3));
        Self {
            line,
            stamp,
            is_error: level.is_some_and(|(_, level)| *level == "] ERROR "),
            logger: logger.trim().to_owned(),
            message: rest[message_at..].to_owned(),
            column: at + message_at,
            more: String::new(),
            cut: false,
        }
    }

    fn go_on(&mut self, line: &str) {
        if self.more.len() + line.len() < MOST_CONTINUATION {
            self.more.push_str(line);
            self.more.push('\n');
        }
    }

    fn is_launch(&self) -> bool {
        self.logger.ends_with(".Launcher") && self.message.starts_with("$>")
    }

    /// Whether a user's script wrote it.
    fn is_of_script(&self) -> bool {
        self.logger == "nextflow.Nextflow" || self.logger.starts_with("nextflow.script.") && !self.logger.ends_with(".ScriptRunner")
    }
}

/// A task while the log is read.
#[derive(Default)]
struct Task {
    row: Row,
    /// Whether more than the grid's acknowledgement of a submission named it.
    is_task: bool,
    submitted: Option<Stamp>,
    /// When the handler was done with it, and what it called that.
    done: Option<(Option<Stamp>, String)>,
    started_ms: Option<i64>,
    /// Nanoseconds and precision.
    exited: Option<(i64, i64)>,
    failed: bool,
    running: bool,
}

/// What is known of a run so far.
struct State {
    source: String,
    run_id: Option<String>,
    run_name: Option<String>,
    host: Option<String>,
    clock: Clock,
    trace_file: Option<String>,
    first_line: Option<u64>,
    tasks: Vec<Task>,
    by_key: HashMap<String, usize>,
    /// The latest task of a name, for errors that tell nothing else.
    by_name: HashMap<String, usize>,
    /// Executors and their polling intervals.
    executors: BTreeMap<String, Option<i64>>,
    /// The executor of each process, where told.
    processes: HashMap<String, String>,
    last_processor: Option<String>,
    /// By name, the numbers of retries that were announced and have not begun.
    retries: HashMap<String, VecDeque<i64>>,
    aborted: bool,
    stats: Option<(u64, String)>,
}

impl State {
    fn new(source: &str) -> Self {
        Self {
            source: source.to_owned(),
            run_id: None,
            run_name: None,
            host: None,
            clock: Clock::default(),
            trace_file: None,
            first_line: None,
            tasks: Vec::new(),
            by_key: HashMap::new(),
            by_name: HashMap::new(),
            executors: BTreeMap::new(),
            processes: HashMap::new(),
            last_processor: None,
            retries: HashMap::new(),
            aborted: false,
            stats: None,
        }
    }

    fn is_empty(&self) -> bool {
        self.tasks.is_empty() && self.run_id.is_none()
    }

    fn see(&mut self, event: Event, said: &mut Diagnostics) {
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
    fn see_pending(&mut self, text: &str, line: u64, stamp: Option<Stamp>, said: &mut Diagnostics) {
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

    /// The executor of a task that was not acknowledged by one.
    fn executor_of(&self, row: &Row, acknowledging: &[String]) -> Option<String> {
        if let Some(executor) = self.processes.get(row.logical_task.as_ref()) {
            return Some(executor.clone());
        }
        let acknowledged = row.native_id.is_some();
        let mut fit =
            self.executors.keys().filter(|executor| acknowledging.contains(executor) == acknowledged || self.executors.len() == 1);
        fit.next().filter(|_| fit.next().is_none()).cloned()
    }

    fn finish(mut self, options: &Options, mtime_ns: Option<i64>, said: &mut Diagnostics) -> Option<Run> {
        let mut tasks = std::mem::take(&mut self.tasks);
        // An array job is acknowledged like a task; its tasks carry its id with an index.
        let arrays: std::collections::HashSet<String> = tasks
            .iter()
            .filter(|task| task.is_task)
            .filter_map(|task| Some(task.row.native_id.as_ref()?.rsplit_once('_')?.0.to_owned()))
            .collect();
        tasks.retain(|task| task.is_task || task.row.native_id.as_deref().is_none_or(|id| !arrays.contains(id)));
        tasks.retain(|task| {
            if task.row.name.is_empty() {
                let place = task.row.line.unwrap_or(1) as u64;
                said.push(Diagnostic::error("task_without_name", "this task has no name; it is left out").at(place, None));
            }
            !task.row.name.is_empty()
        });
        if tasks.is_empty() && self.run_id.is_none() {
            return None;
        }
        let timed = tasks.iter().any(|task| task.submitted.is_some() || task.done.is_some());
        let clock = if timed { self.clock.resolve(options, mtime_ns, self.first_line.unwrap_or(1), said) } else { None };
        let mut acknowledging: Vec<String> = tasks.iter().filter_map(|task| task.row.executor.as_deref().map(str::to_owned)).collect();
        acknowledging.sort();
        acknowledging.dedup();
        let rows: Vec<Row> = tasks.into_iter().map(|task| self.finish_task(task, clock, &acknowledging)).collect();
        if let Some((line, stats)) = &self.stats {
            compare(&rows, stats, *line, said);
        } else if rows.iter().any(|row| matches!(row.status.as_ref(), "running" | "submitted")) {
            let message = "the log tells neither the end of the run nor that of some tasks";
            let advice = "when the run goes on, import its log again into another dataset: in this one its tasks would be twice";
            said.push(Diagnostic::warning("run_without_end", message).advise(advice));
        }
        Some(Run { rows, clock, trace_file: self.trace_file })
    }

    fn finish_task(&self, task: Task, clock: Option<Resolved>, acknowledging: &[String]) -> Row {
        let Task { mut row, submitted, done, started_ms, exited, failed, running, .. } = task;
        row.engine = super::NAME.into();
        row.source = self.source.clone().into();
        row.run_id = self.run_id.clone().map(Into::into);
        row.run_name = self.run_name.clone().map(Into::into);
        row.status = match (&done, row.exit_code) {
            _ if row.cached => "cached",
            _ if failed => "failed",
            (Some((_, word)), _) if word == "ABORTED" => "aborted",
            (Some(_), Some(0)) => "completed",
            (Some(_), Some(_)) => "failed",
            (Some(_), None) if row.native_id.is_none() => "completed",
            (Some(_), None) => "unknown",
            (None, _) if self.aborted => "aborted",
            (None, _) if running => "running",
            (None, _) => "submitted",
        }
        .into();
        if row.cached {
            return row;
        }
        if row.executor.is_none() {
            row.executor = self.executor_of(&row, acknowledging).map(Into::into);
        }
        let executor = row.executor.as_deref().unwrap_or_default().to_owned();
        if executor == "local" {
            row.host = self.host.clone().map(Into::into);
        }
        if row.native_id.is_some() {
            row.native_kind = super::native_kind(&executor).map(Into::into);
        }
        let utc = |stamp: Option<Stamp>| clock?.utc(stamp?);
        if let Some((ns, precision)) = utc(submitted) {
            row.submitted_ns = Some(ns);
            row.submitted_precision_ns = Some(precision);
        }
        if let Some((ns, precision)) = exited {
            row.finished_ns = Some(ns);
            row.finished_precision_ns = Some(precision);
        } else if let Some((ns, precision)) = done.and_then(|(stamp, _)| utc(stamp)) {
            // Noticed between two polls.
            row.finished_ns = Some(ns);
            row.finished_precision_ns = self.executors.get(&executor).copied().flatten().map(|interval| interval + precision);
        }
        if let Some(noticed) = started_ms.and_then(|ms| ms.checked_mul(1_000_000)) {
            // Often noticed when it was over already; it had begun then. Surely it began after it was submitted.
            let (started, digits) = exited.filter(|(ended, _)| *ended < noticed).unwrap_or((noticed, 0));
            row.started_ns = Some(started);
            row.started_precision_ns =
                row.submitted_ns.map(|submitted| (started - submitted).max(0) + row.submitted_precision_ns.unwrap_or(0) + digits);
        }
        row
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

/// Whether the engine counted as we do.
fn compare(rows: &[Row], stats: &str, line: u64, said: &mut Diagnostics) {
    let told = |names: &[&str]| {
        let value =
            |name: &&str| stats.split(';').find_map(|part| part.trim().strip_prefix(name)?.strip_prefix('='))?.parse::<usize>().ok();
        names.iter().filter_map(value).reduce(|a, b| a + b)
    };
    let count = |statuses: &[&str]| rows.iter().filter(|row| statuses.contains(&row.status.as_ref())).count();
    // Old versions count what they killed as failed.
    for (what, told, counted) in [
        ("succeeded", told(&["succeededCount", "succeedCount"]), count(&["completed"])),
        ("failed or aborted", told(&["failedCount", "abortedCount"]), count(&["failed", "aborted"])),
        ("cached", told(&["cachedCount"]), count(&["cached"])),
    ] {
        if let Some(told) = told.filter(|told| *told != counted) {
            let message = format!("by Nextflow's own count {told} tasks {what}, by what the log tells of each {counted}");
            said.push(Diagnostic::warning("counts_differ", message).at(line, None));
        }
    }
}

//! The log of one attempt. Its path is
//! `dag_id=DAG/run_id=RUN/task_id=TASK/[map_index=N/]attempt=N.log` unless the site chose other
//! names.
//!
//! Airflow 2 logs the outcome of the attempt (`Marking task as SUCCESS.`). Airflow 3 logs it only
//! for failures; since 3.2 success follows from the steps after the task (`::group::Post Execute`).
//! An attempt without either is `unknown`. The log also contains the output of the task: only lines
//! of Airflow's own loggers count, and of several exit codes of shell commands the last.

use std::io::{self, BufRead};
use std::path::Path;

use flowmine_schema::diagnostic::Diagnostic;
use flowmine_schema::text;

use super::attempt::Key;
use super::between::between;
use super::common;
use super::line::Line;
use crate::input::without_escapes;
use crate::{Options, Row, Source, input};

/// Parses the key from the path, where the site uses Airflow's default template.
pub fn key_of_path(path: &Path) -> Option<Key> {
    let parts: Vec<String> = path.iter().map(|part| text::decode(part.as_encoded_bytes()).into_owned()).collect();
    let last = parts.iter().rev().take(5);
    let part = |name: &str| last.clone().find_map(|part| part.strip_prefix(name)).map(str::to_owned);
    let attempt = part("attempt=")?.split('.').next()?.parse().ok().filter(|attempt| *attempt > 0);
    let map_index = part("map_index=").map_or(Some(-1), |index| index.parse().ok())?;
    attempt?;
    Some(Key { dag: part("dag_id=")?, run: part("run_id=")?, task: part("task_id=")?, map_index, attempt })
}

/// Reads the log; `None` when it does not identify its attempt.
///
/// # Errors
/// When reading fails.
pub fn read(reader: impl BufRead, source: &mut Source, options: &Options) -> io::Result<Option<(Key, Row)>> {
    let mut lines = input::lines(reader);
    let mut key = key_of_path(&source.path);
    let mut seen = Seen::default();
    let mut is_json = false;
    let mut without_zone = false;
    while let Some((number, bytes)) = input::next_line(&mut lines, &mut source.diagnostics)? {
        let decoded = text::decode(bytes);
        let Some(line) = Line::read(&without_escapes(&decoded), options) else {
            // In a text log this is the next line of a message; JSON logs have no such lines.
            if is_json {
                let shown: String = decoded.chars().take(60).collect();
                source.diagnostics.push(Diagnostic::error("line_bad", format!("{shown:?} is no line of a task's log")).at(number, Some(1)));
            }
            continue;
        };
        is_json |= decoded.starts_with('{');
        without_zone |= line.without_zone;
        key = key.or_else(|| line.key.clone()).or_else(|| seen.key_of_text(&line.text));
        seen.see(line);
    }
    common::without_zone(without_zone, source);
    Ok(key.map(|key| {
        let row = seen.row(&key, &source.name);
        (key, row)
    }))
}

/// Facts from the lines of one attempt's log.
#[derive(Debug, Default)]
struct Seen {
    first: Option<(i64, i64)>,
    last: Option<i64>,
    status: Option<&'static str>,
    went_on: bool,
    exit_code: Option<i64>,
    command: Option<String>,
    error: Option<String>,
    pid: Option<String>,
    host: Option<String>,
    attempt: Option<i64>,
}

impl Seen {
    /// Returns the key. Airflow 2 names the task when it starts it: `Starting attempt 1 of 2`, then
    /// `Executing <Task(…)…`, and `Running <TaskInstance: …> on host …`.
    fn key_of_text(&self, text: &str) -> Option<Key> {
        let mut key = super::scheduler_log::instance(text.split_once("<TaskInstance: ")?.1)?;
        key.attempt = Some(self.attempt?);
        Some(key)
    }

    fn see(&mut self, line: Line) {
        if let Some((ns, precision)) = line.time {
            self.first.get_or_insert((ns, precision));
            self.last = Some(ns);
        }
        let (text, from) = (line.text.as_str(), line.from.as_str());
        if from.contains("subprocess") {
            if let Some(code) = text.strip_prefix("Command exited with return code ") {
                self.exit_code = code.trim().parse().ok();
            } else if let Some(command) = text.strip_prefix("Running command: ") {
                self.command.get_or_insert_with(|| command_of(command));
            }
            return;
        }
        // Written by Airflow 3, or by Airflow 2's taskinstance.py and its runners.
        let is_own = from.is_empty()
            || from == "task"
            || from.starts_with("taskinstance")
            || from.starts_with("task_command")
            || from.contains("task_runner")
            || from.contains("task_job");
        if !is_own {
            return;
        }
        match text {
            "::group::Post Execute" | "Pushing xcom" | "Skipping task." => self.went_on = true,
            "Task failed with exception" => {
                self.status = Some("failed");
                self.error = line.error.or(self.error.take());
            }
            "Task exited" => self.status = Some("failed"),
            "Rescheduling task, marking task as UP_FOR_RESCHEDULE" => self.status = Some("running"),
            _ => self.see_of_two(text),
        }
    }

    fn see_of_two(&mut self, text: &str) {
        if let Some(state) = text.strip_prefix("Marking task as ").and_then(|rest| rest.split(['.', ' ', ',']).next()) {
            self.status = super::state::status(Some(&state.to_ascii_lowercase()), true);
        } else if text.starts_with("Pausing task as ") {
            self.status = Some("running");
        } else if let Some(attempt) = between(text, "Starting attempt ", " of ") {
            self.attempt = attempt.parse().ok().filter(|attempt| *attempt > 0);
        } else if let Some(pid) = between(text, "Started process ", " to run task").filter(|pid| pid.bytes().all(|b| b.is_ascii_digit())) {
            self.pid = Some(pid.to_owned());
        } else if let Some((_, host)) = text.strip_prefix("Running <TaskInstance: ").and_then(|rest| rest.split_once("> on host ")) {
            self.host = Some(host.trim().to_owned());
        } else if let Some((_, why)) = text.strip_prefix("Failed to execute job ").and_then(|rest| rest.split_once(" for task ")) {
            self.error = why.split_once(" (").map(|(_, why)| why.rsplit_once("; ").map_or(why, |(why, _)| why).to_owned());
        }
    }

    fn row(self, key: &Key, source: &str) -> Row {
        let ended = self.went_on || self.exit_code.is_some();
        Row {
            // The shell command's exit code decides only where Airflow logs no outcome; some sites
            // define a code that means "skipped".
            status: self
                .status
                .or(ended.then_some(if self.went_on || self.exit_code == Some(0) { "completed" } else { "failed" }))
                .unwrap_or("unknown")
                .into(),
            exit_code: self.exit_code,
            command: self.command.map(Into::into),
            error: self.error.map(Into::into),
            native_kind: self.pid.is_some().then(|| "pid".into()),
            native_id: self.pid.map(Into::into),
            host: self.host.map(Into::into),
            started_ns: self.first.map(|first| first.0),
            // The started process writes the first line; the log does not show how much earlier it
            // began.
            started_precision_ns: None,
            finished_ns: self.last.filter(|_| ended || self.status.is_some_and(|status| status != "running")),
            line: Some(1),
            ..key.row(source)
        }
    }
}

/// Returns the last word of `['/usr/bin/bash', '-c', 'dd if=a of=b']`, which is the user's command.
fn command_of(list: &str) -> String {
    let list = list.trim();
    let shell = ["'-c', '", "'-c', \""].iter().find_map(|begin| Some((list.split_once(begin)?.1, begin.ends_with('"'))));
    let Some((rest, double)) = shell else { return list.to_owned() };
    let Some(quoted) = rest.strip_suffix(if double { "\"]" } else { "']" }) else { return list.to_owned() };
    unescaped(quoted)
}

/// Reverses Python's quoting of a text.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, if c == '\\' { chars.next() } else { None }) {
            ('\\', Some('n')) => out.push('\n'),
            ('\\', Some('t')) => out.push('\t'),
            ('\\', Some('r')) => out.push('\r'),
            ('\\', Some(escaped @ ('\\' | '\'' | '"'))) => out.push(escaped),
            (c, escaped) => out.extend([Some(c), escaped].into_iter().flatten()),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        let key =
            key_of_path(Path::new("logs/dag_id=a/run_id=manual__2024-01-01T00:00:00+00:00/task_id=g.b/map_index=3/attempt=2.log")).unwrap();
        assert_eq!((key.dag.as_str(), key.task_id().as_str(), key.attempt), ("a", "g.b[3]", Some(2)));
        assert_eq!(key_of_path(Path::new("dag_id=a/run_id=r/task_id=b/attempt=1.log.gz")).unwrap().map_index, -1);
        for none in ["attempt=1.log", "dag_id=a/run_id=r/task_id=b/attempt=x.log", "dag_id=a/task_id=b/map_index=x/run_id=r/attempt=1.log"]
        {
            assert_eq!(key_of_path(Path::new(none)), None, "{none}");
        }
    }

    #[test]
    fn commands() {
        for (list, command) in [
            (r"['/usr/bin/bash', '-c', 'echo a']", "echo a"),
            (r#"['/usr/bin/bash', '-c', "echo 'a'"]"#, "echo 'a'"),
            (r"['/usr/bin/bash', '-c', 'a\nb \\ \'c\' \x']", "a\nb \\ 'c' \\x"),
            ("ls", "ls"),
            ("['bash', '-c', 'cut", "['bash', '-c', 'cut"),
        ] {
            assert_eq!(command_of(list), command);
        }
    }
}

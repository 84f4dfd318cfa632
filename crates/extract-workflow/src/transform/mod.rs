//! Tasks that `flowmine transform` wrapped: the records `t_ID.record` that their layers write next
//! to the tasks' outputs (`docs/transform.md`).
//!
//! The input is lines of JSON. An attempt begins with a line of the outermost layer that describes
//! the task. A line for each layer that ended follows, innermost first, the outermost last. The
//! output is one row for each attempt. Lines without an attempt, and attempts without a last line,
//! are reported.

mod attempt;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::path::{Path, PathBuf};

use flowmine_schema::diagnostic::Diagnostic;

use self::attempt::RecordedAttempt;
use crate::{Engine, Options, Row, Source, input, json};

/// Name of the engine, as in the column `engine`.
pub const NAME: &str = crate::engine_names::TRANSFORM;

const RECORD: &str = "record of a transformed task";

/// The engine transform: tasks that `flowmine transform` wrapped.
#[derive(Debug, Clone, Copy)]
pub struct Transform;

impl Engine for Transform {
    fn name(&self) -> &'static str {
        NAME
    }

    fn find(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        let mut found = input::files_in(dir)?;
        found.retain(|path| name_of(path).is_some_and(|name| name.trim_end_matches(".gz").ends_with(".record")));
        Ok(found)
    }

    fn recognise(&self, _path: &Path, head: &[u8]) -> Option<&'static str> {
        let begins = |text: &[u8]| head.strip_prefix(text).is_some();
        let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let has = |text: &[u8]| line.windows(text.len()).any(|part| part == text);
        (begins(b"{\"task\":") && (has(b"\"layers\":[") || has(b"\"layer\":\""))).then_some(RECORD)
    }

    fn read(&self, sources: &mut [Source], _options: &Options) -> Vec<Row> {
        sources.sort_by(|a, b| (&a.name, &a.path).cmp(&(&b.name, &b.path)));
        // By task, so that the attempts at a task are numbered across files.
        let mut attempts: BTreeMap<(String, String), Vec<(usize, RecordedAttempt)>> = BTreeMap::new();
        let mut count = 0;
        // Refused sources have no kind; they are not read as records.
        for (at, source) in sources.iter_mut().enumerate().filter(|(_, source)| source.kind == RECORD) {
            let told = match input::whole(&source.path) {
                Ok(text) => attempts_of(&text, source),
                Err(e) => {
                    source.refuse(Diagnostic::of_reading(&e));
                    continue;
                }
            };
            count += told.len();
            if let Err(e) = input::not_too_many(count) {
                source.refuse(Diagnostic::error("too_many_tasks", e.to_string()));
                break;
            }
            for attempt in told {
                attempts.entry((attempt.workflow.clone(), attempt.task_id())).or_default().push((at, attempt));
            }
        }
        let mut instances: HashMap<(String, String), BTreeSet<String>> = HashMap::new();
        for ((workflow, id), of_task) in &attempts {
            for (_, attempt) in of_task {
                instances.entry((workflow.clone(), attempt.plain_id().to_owned())).or_default().insert(id.clone());
            }
        }
        // It is not known which of several instances came before.
        let parents = |attempt: &RecordedAttempt| -> Option<Vec<String>> {
            let one = |plain: &str| match instances.get(&(attempt.workflow.clone(), plain.to_owned())) {
                None => Some(plain.to_owned()),
                Some(ids) if ids.len() == 1 => ids.first().cloned(),
                Some(_) => None,
            };
            let told = attempt.parents().filter(|parents| attempt.instance.is_none() || !parents.is_empty())?;
            told.into_iter().map(one).collect()
        };
        let mut rows = Vec::new();
        for mut of_task in attempts.into_values() {
            of_task.sort_by_key(|(at, attempt)| (attempt.begin_ns, *at, attempt.line));
            for (number, (at, attempt)) in of_task.into_iter().enumerate() {
                let mut row = attempt.row(number as i64 + 1, parents(&attempt));
                sources[at].rows += 1;
                sources[at].sign(&mut row);
                rows.push(row);
            }
        }
        rows
    }
}

fn name_of(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()
}

/// Returns the attempts of a record, in its order.
fn attempts_of(text: &str, source: &mut Source) -> Vec<RecordedAttempt> {
    let mut attempts: Vec<RecordedAttempt> = Vec::new();
    json::each(text, |object, line| match object {
        Err(diagnostic) => source.diagnostics.push(diagnostic),
        Ok(object) if object["layers"].is_array() => match RecordedAttempt::begin(&object, line) {
            Some(attempt) => attempts.push(attempt),
            None => {
                let message = "a line that begins an attempt has no task, begin, or layers with ids (1000 at most)";
                source.diagnostics.push(Diagnostic::error("record_bad", message).at(line, None));
            }
        },
        Ok(object) => match attempts.last_mut() {
            Some(attempt) => {
                if !attempt.layer_ended(&object) {
                    let message = "the line names no layer of the attempt above it";
                    source.diagnostics.push(Diagnostic::error("layer_without_attempt", message).at(line, None));
                }
            }
            None => {
                let message = "a layer ended before any attempt began";
                source.diagnostics.push(Diagnostic::error("layer_without_attempt", message).at(line, None));
            }
        },
    });
    for attempt in attempts.iter().filter(|attempt| !attempt.has_ended()) {
        let message = "no line has the end of the outermost layer: the task still runs, or was ended by a signal that cannot be handled";
        source.diagnostics.push(Diagnostic::warning("attempt_without_end", message).at(attempt.line, None));
    }
    for attempt in attempts.iter().filter(|attempt| attempt.ends_before_it_begins()) {
        let message =
            "a layer ended before it or its attempt began: the clock was set meanwhile, or the record was changed; the times are kept";
        source.diagnostics.push(Diagnostic::warning("attempt_ends_before_begin", message).at(attempt.line, None));
    }
    attempts
}

//! Kubernetes: pods and their events, from `kubectl get … -o json`, its `--watch` and the API's own
//! watch.
//!
//! The uid identifies a pod. Its versions are merged in the order of the changes: the last value
//! counts, and values that later versions lack, because the pod is being deleted, are kept.

mod event;
mod labels;
pub(crate) mod pod;
pub(crate) mod quantity;
pub(crate) mod values;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use flowmine_schema::diagnostic::Diagnostic;
use serde_json::Value;

use self::event::Event;
use self::pod::Seen;
use crate::{Engine, Options, Row, Source, input, json};

/// Name of the engine, as in the column `engine`.
pub const NAME: &str = crate::engine_names::KUBERNETES;

const OBJECTS: &str = "objects of Kubernetes";

/// The engine Kubernetes: pods and their events.
#[derive(Debug, Clone, Copy)]
pub struct Kubernetes;

impl Engine for Kubernetes {
    fn name(&self) -> &'static str {
        NAME
    }

    fn find(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        input::files_in(dir)
    }

    fn recognise(&self, _path: &Path, head: &[u8]) -> Option<&'static str> {
        let text: String = String::from_utf8_lossy(head).split_whitespace().collect();
        let is_kind = |kind: &&str| text.contains(&format!("\"kind\":\"{kind}\""));
        let is_one = ["Pod", "PodList", "Event", "EventList", "List"].iter().any(is_kind);
        (text.starts_with('{') && text.contains("\"apiVersion\":\"") && is_one).then_some(OBJECTS)
    }

    fn read(&self, sources: &mut [Source], _options: &Options) -> Vec<Row> {
        sources.sort_by(|a, b| (&a.name, &a.path).cmp(&(&b.name, &b.path)));
        let mut told = PodsAndEvents::default();
        for (at, source) in sources.iter_mut().enumerate() {
            match input::whole(&source.path) {
                Ok(text) => told.read(&text, at, source),
                Err(e) => source.refuse(Diagnostic::of_reading(&e)),
            }
        }
        told.rows(sources)
    }
}

/// Contents of all sources; numbers are indices into the list of sources.
#[derive(Debug, Default)]
struct PodsAndEvents {
    pods: Vec<(usize, Seen)>,
    events: BTreeSet<(Event, usize)>,
}

impl PodsAndEvents {
    fn read(&mut self, text: &str, at: usize, source: &mut Source) {
        json::each(text, |object, line| match object {
            Ok(object) => self.see(&object, Some(line), at, source),
            Err(diagnostic) => source.diagnostics.push(diagnostic),
        });
    }

    fn see(&mut self, object: &Value, line: Option<u64>, at: usize, source: &mut Source) {
        match (object["type"].as_str(), object.get("object")) {
            (Some("BOOKMARK"), Some(_)) => return,
            (Some("ERROR"), Some(status)) => {
                let why = status["message"].as_str().unwrap_or("it gives no reason");
                let diagnostic =
                    Diagnostic::warning("watch_ended", format!("the watch ended with an error, changes may be missing: {why}"));
                source.diagnostics.push(diagnostic.at(line.unwrap_or(1), Some(1)));
                return;
            }
            (Some(change), Some(inner)) => return self.see_object(inner, change == "DELETED", line, at, source),
            _ => {}
        }
        let kind = object["kind"].as_str().unwrap_or_default();
        if !kind.ends_with("List") {
            return self.see_object(object, false, line, at, source);
        }
        for item in values::list(&object["items"]) {
            // Items of a list with a kind may lack it.
            match kind {
                "PodList" => self.see_pod(item, false, None, at, source),
                "EventList" => self.see_event(item, at),
                _ => self.see_object(item, false, None, at, source),
            }
        }
    }

    fn see_object(&mut self, object: &Value, is_deleted: bool, line: Option<u64>, at: usize, source: &mut Source) {
        match object["kind"].as_str() {
            Some("Pod") => self.see_pod(object, is_deleted, line, at, source),
            Some("Event") => self.see_event(object, at),
            kind => {
                let kind: String = kind.unwrap_or("without a kind").chars().take(40).collect();
                let diagnostic = Diagnostic::warning("kind_not_read", format!("an object {kind:?} is neither a pod nor an event"));
                source.diagnostics.push(diagnostic.at(line.unwrap_or(1), None));
            }
        }
    }

    fn see_pod(&mut self, pod: &Value, is_deleted: bool, line: Option<u64>, at: usize, source: &mut Source) {
        if let Some(mut seen) = pod::read(pod, is_deleted, line, &mut source.diagnostics) {
            for (_, row) in &mut seen.rows {
                source.sign(row);
                row.line = line.map(|line| line as i64);
            }
            self.pods.push((at, seen));
        }
    }

    fn see_event(&mut self, event: &Value, at: usize) {
        self.events.extend(event::read(event).map(|event| (event, at)));
    }

    fn rows(mut self, sources: &mut [Source]) -> Vec<Row> {
        // The sort is stable: objects of the same version keep the order in which they were read.
        self.pods.sort_by_key(|(_, seen)| seen.version);
        let mut starts: BTreeMap<(String, i64), (usize, Row)> = BTreeMap::new();
        for (at, seen) in self.pods {
            for (restarts, row) in seen.rows {
                match starts.get_mut(&(seen.uid.clone(), restarts)) {
                    Some((_, known)) => merge(known, row),
                    None => drop(starts.insert((seen.uid.clone(), restarts), (at, row))),
                }
            }
        }
        for (event, at) in self.events {
            let mut of_pod = starts.range_mut((event.uid.clone(), 0)..=(event.uid.clone(), i64::MAX)).map(|(_, (_, row))| row).peekable();
            if of_pod.peek().is_none() {
                let mut row = row_of(&event);
                sources[at].sign(&mut row);
                starts.insert((event.uid.clone(), 0), (at, row));
                continue;
            }
            let mut of_pod: Vec<&mut Row> = of_pod.collect();
            let is_only = of_pod.len() == 1;
            if let Some(row) = of_pod.last_mut() {
                add_event(row, &event, is_only);
            }
        }
        let mut rows: Vec<(String, Row)> = Vec::new();
        for ((uid, _), (at, row)) in starts {
            sources[at].rows += 1;
            rows.push((uid, row));
        }
        rows.sort_by(|(a, x), (b, y)| (x.submitted_ns, a, x.attempt).cmp(&(y.submitted_ns, b, y.attempt)));
        rows.into_iter().map(|(_, row)| row).collect()
    }
}

/// Returns the row of a pod of which only events are left.
fn row_of(event: &Event) -> Row {
    let mut row = Row {
        engine: NAME.into(),
        name: event.pod.clone().into(),
        logical_task: event.pod.clone().into(),
        executor: Some(NAME.into()),
        native_id: Some(event.uid.clone().into()),
        native_kind: Some("pod".into()),
        status: "unknown".into(),
        ..Row::default()
    };
    add_event(&mut row, event, true);
    row
}

fn add_event(row: &mut Row, event: &Event, is_only: bool) {
    row.host = row.host.take().or_else(|| event.host.clone().map(Into::into));
    if row.status != "completed" {
        row.error = row.error.take().or_else(|| event.error().map(Into::into));
    }
    if event.reason == "Started" && is_only && row.started_ns.is_none() {
        (row.started_ns, row.started_precision_ns) = (event.at.map(|at| at.0), event.at.map(|at| at.1));
    }
}

/// Merges a later version of the same start.
fn merge(known: &mut Row, later: Row) {
    let has_ended = |row: &Row| matches!(row.status.as_ref(), "completed" | "failed" | "aborted");
    // The outcome of a start does not change, except that a deleted pod can end with an exit code
    // after all.
    if !has_ended(known) || (has_ended(&later) && later.exit_code.is_some()) {
        known.status = later.status;
        // A reason for waiting is no error once the container has run.
        known.error = later.error;
    }
    macro_rules! take {
        ($($field:ident)*) => { $(if later.$field.is_some() { known.$field = later.$field; })* };
    }
    take!(run_id run_name task_id attempt tag work_dir host container_image container_id submitted_ns submitted_precision_ns
        started_ns started_precision_ns finished_ns finished_precision_ns exit_code command cpus memory_bytes disk_bytes time_s);
    known.logical_task = later.logical_task;
}

//! Argo Workflows: `Workflow` objects as JSON from `kubectl get workflow -o json`, `argo get -o
//! json`, `argo list -o json`, their watches, and Argo's server.
//!
//! A workflow keeps its nodes in `status.nodes` (API reference, `NodeStatus`). Nodes that do
//! something (pods, containers of a container set, suspends, requests, plugins) are tasks. Nodes
//! that group others (`DAG`, `Steps`, `StepGroup`, `TaskGroup`, `Retry`) define the dependencies.
//! Several versions of one workflow are merged in the order of its changes.

mod graph;
pub(crate) mod names;
mod node;
mod template;
mod workflow;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use flowmine_schema::diagnostic::Diagnostic;
use serde_json::Value;

use self::workflow::Workflow;
use crate::kubernetes::values::list;
use crate::{Engine, Options, Row, Source, input, json};

/// Name of the engine, as in the column `engine`.
pub const NAME: &str = crate::engine_names::ARGO;

const WORKFLOWS: &str = "Argo workflows";
const YAML: &str = "Argo workflow in YAML";

/// The engine Argo Workflows.
#[derive(Debug, Clone, Copy)]
pub struct Argo;

impl Engine for Argo {
    fn name(&self) -> &'static str {
        NAME
    }

    fn find(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        input::files_in(dir)
    }

    fn recognise(&self, _path: &Path, head: &[u8]) -> Option<&'static str> {
        let text: String = String::from_utf8_lossy(head).split_whitespace().collect();
        if !text.starts_with(['{', '[']) {
            let is_yaml = text.contains("apiVersion:argoproj.io/") && text.contains("kind:Workflow") && text.contains("status:");
            return is_yaml.then_some(YAML);
        }
        // Its pods and events contain the name of the workflow, too.
        let is_kind = |kind: &str| text.contains(&format!("\"kind\":\"{kind}"));
        let is_one = !is_kind("Pod") && !is_kind("Event");
        // Argo's server and its older commands omit the kind.
        (is_one && (is_kind("Workflow\"") || text.contains("argoproj.io"))).then_some(WORKFLOWS)
    }

    fn read(&self, sources: &mut [Source], _options: &Options) -> Vec<Row> {
        sources.sort_by(|a, b| (&a.name, &a.path).cmp(&(&b.name, &b.path)));
        let mut told = Workflows::default();
        for (at, source) in sources.iter_mut().enumerate() {
            if source.kind == YAML {
                let diagnostic = Diagnostic::error("yaml_not_read", "this is an Argo workflow in YAML, of which only JSON is read");
                source.refuse(diagnostic.advise("print it with -o json in the place of -o yaml"));
                continue;
            }
            match input::whole(&source.path) {
                Ok(text) => told.read(&text, at, source),
                Err(e) => source.refuse(Diagnostic::of_reading(&e)),
            }
        }
        let mut rows = Vec::new();
        for (_, (at, workflow)) in told.workflows {
            let told = workflow.rows(&mut sources[at].diagnostics);
            sources[at].rows += told.len() as u64;
            rows.extend(told);
        }
        rows
    }
}

/// The workflows of all sources, each with the index of the source that described it last.
#[derive(Default)]
struct Workflows {
    workflows: BTreeMap<String, (usize, Workflow)>,
    nodes: usize,
}

impl Workflows {
    fn read(&mut self, text: &str, at: usize, source: &mut Source) {
        json::each(text, |object, line| match object {
            Ok(object) => self.see(&object, line, at, source),
            Err(diagnostic) => source.diagnostics.push(diagnostic),
        });
    }

    fn see(&mut self, object: &Value, line: u64, at: usize, source: &mut Source) {
        // The events of a watch: those of Kubernetes, and those of Argo's server.
        let inner = [&object["result"]["object"], &object["object"]].into_iter().find(|inner| inner.is_object());
        let object = inner.unwrap_or(object);
        let items = if object.is_array() { object } else { &object["items"] };
        if items.is_array() {
            list(items).for_each(|item| self.see_one(item, line, at, source));
            return;
        }
        self.see_one(object, line, at, source);
    }

    fn see_one(&mut self, object: &Value, line: u64, at: usize, source: &mut Source) {
        if object["kind"].as_str().is_some_and(|kind| kind != "Workflow") || !object["metadata"].is_object() {
            let kind: String = object["kind"].as_str().unwrap_or("without a kind").chars().take(40).collect();
            let diagnostic = Diagnostic::warning("kind_not_read", format!("an object {kind:?} is no workflow"));
            source.diagnostics.push(diagnostic.at(line, None));
            return;
        }
        let Some(workflow) = Workflow::read(object, line, source) else { return };
        self.nodes += workflow.len();
        if let Err(e) = input::not_too_many(self.nodes) {
            source.diagnostics.push(Diagnostic::error("too_many_tasks", e.to_string()).at(line, None));
            return;
        }
        let key = workflow.key();
        let known = self.workflows.remove(&key);
        let merged = match known {
            Some((_, known)) if known.version <= workflow.version => (at, workflow.after(known)),
            Some((before, known)) => (before, known.after(workflow)),
            None => (at, workflow),
        };
        self.workflows.insert(key, merged);
    }
}

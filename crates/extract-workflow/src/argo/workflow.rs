//! A workflow: the nodes of its last version, and earlier executions that only earlier versions
//! contain.

use std::collections::{BTreeMap, HashSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
use flowmine_schema::diagnostic::{Diagnostic, Diagnostics};
use flowmine_schema::text::bounds;
use serde_json::{Map, Value, json};

use super::graph::{Graph, Parents};
use super::node::{self, Node};
use super::template::Templates;
use crate::kubernetes::values::{text, time};
use crate::{Row, Source, input};

/// A workflow, merged from the sources.
pub struct Workflow {
    uid: Option<String>,
    name: Option<String>,
    namespace: Option<String>,
    /// Version of the object, which grows with each change.
    pub version: u64,
    makespan_s: Option<f64>,
    nodes: BTreeMap<String, Node>,
    /// Executions that no later version contains because nodes were run again, by id and start
    /// time; each with the last version that contained it.
    earlier: BTreeMap<(String, Option<i64>), (u64, Node)>,
}

impl Workflow {
    /// Reads an object; `None`, with a diagnostic, when it has no node.
    pub fn read(object: &Value, line: u64, source: &mut Source) -> Option<Self> {
        let (metadata, status) = (&object["metadata"], &object["status"]);
        let diagnostics = &mut source.diagnostics;
        let unpacked = match nodes(status) {
            Ok(nodes) => nodes,
            Err(diagnostic) => {
                diagnostics.push(diagnostic.at(line, None));
                return None;
            }
        };
        let object_with_nodes;
        let object = match unpacked {
            // Unpacked nodes replace the packed ones.
            Some(nodes) => {
                let mut whole = object.clone();
                whole["status"]["nodes"] = nodes;
                object_with_nodes = whole;
                &object_with_nodes
            }
            None => object,
        };
        let Some(told) = object["status"]["nodes"].as_object().filter(|nodes| !nodes.is_empty()) else {
            let why = text(&status["message"]).map(|why| format!(": {why}")).unwrap_or_default();
            diagnostics.push(Diagnostic::warning("workflow_without_run", format!("the workflow has no node that ran{why}")).at(line, None));
            return None;
        };
        if let Err(e) = input::not_too_many(told.len()) {
            diagnostics.push(Diagnostic::error("too_many_tasks", e.to_string()).at(line, None));
            return None;
        }
        let mut templates = Templates::new(object);
        let is_over = matches!(status["phase"].as_str(), Some("Succeeded" | "Failed" | "Error"));
        let nodes: BTreeMap<String, Node> =
            told.iter().map(|(id, node)| (id.clone(), node::read(id, node, object, &mut templates, is_over))).collect();
        if templates.too_much > 0 {
            let message = "the texts of templates are repeated so often that one is left out";
            diagnostics.push(Diagnostic { count: templates.too_much, ..Diagnostic::warning("texts_left_out", message) }.at(line, None));
        }
        let (uid, name, namespace) = (text(&metadata["uid"]), text(&metadata["name"]), text(&metadata["namespace"]));
        let repeated = uid.as_ref().map_or(0, String::len) + name.as_ref().map_or(0, String::len);
        if repeated.saturating_mul(nodes.len()) > input::MOST_REPEATED {
            diagnostics.push(Diagnostic::error("name_too_long", "the workflow's name is too long for this number of nodes").at(line, None));
            return None;
        }
        let mut workflow = Self {
            uid,
            name,
            namespace,
            version: metadata["resourceVersion"].as_str().and_then(|version| version.parse().ok()).unwrap_or(0),
            makespan_s: makespan_s(status),
            nodes,
            earlier: BTreeMap::new(),
        };
        workflow.say_what_is_odd(line, diagnostics);
        for row in workflow.nodes.values_mut().filter_map(|node| node.row.as_mut()) {
            source.sign(row);
            row.line = Some(line as i64);
        }
        Some(workflow)
    }

    fn say_what_is_odd(&self, line: u64, diagnostics: &mut Diagnostics) {
        const KNOWN: [&str; 11] =
            ["Pod", "Container", "Suspend", "HTTP", "Plugin", "DAG", "Steps", "StepGroup", "TaskGroup", "Retry", "Skipped"];
        let shown = |node: &Node| format!("{:?}", node.id);
        let mut count = |code: &'static str, nodes: Vec<&Node>, message: &str| {
            if let Some(first) = nodes.first() {
                let message = format!("{message}, the first is {}", shown(first));
                diagnostics.push(Diagnostic { count: nodes.len() as u64, ..Diagnostic::warning(code, message) }.at(line, None));
            }
        };
        let of = |wanted: &dyn Fn(&&Node) -> bool| self.nodes.values().filter(wanted).collect::<Vec<_>>();
        count("task_did_not_run", of(&|node| node.is_skipped), "a node was skipped and has no row");
        count(
            "node_type_unknown",
            of(&|node| !KNOWN.contains(&node.kind.as_str())),
            "a node is of a type that is not known and has no row",
        );
        let is_lost = |node: &&Node| node.children.iter().any(|child| !self.nodes.contains_key(child));
        let is_its_own = |node: &&Node| node.children.contains(&node.id);
        count("parent_is_itself", of(&is_its_own), "a node names itself as its child, which is left out");
        count("child_unknown", of(&is_lost), "a node has a child that is not in the workflow");
    }

    /// Returns its key: the uid, else the name.
    pub fn key(&self) -> String {
        self.uid.clone().unwrap_or_else(|| json!([self.namespace, self.name]).to_string())
    }

    /// Returns the number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len() + self.earlier.len()
    }

    /// Adds executions of an older version that this one lacks.
    pub fn after(mut self, older: Self) -> Self {
        let version = older.version;
        let of_older = older.nodes.into_values().map(|node| ((node.id.clone(), node.began), (version, node)));
        for (key, (version, node)) in older.earlier.into_iter().chain(of_older) {
            let is_known = self.nodes.get(&key.0).is_some_and(|known| known.began == key.1);
            let is_older = self.earlier.get(&key).is_some_and(|(known, _)| *known >= version);
            if !is_known && !is_older {
                self.earlier.insert(key, (version, node));
            }
        }
        // An execution that an older version kept apart may be in this one.
        let nodes = &self.nodes;
        self.earlier.retain(|(id, began), _| nodes.get(id).is_none_or(|known| known.began != *began));
        self
    }

    /// Returns the rows of its tasks for `task_runs`.
    pub fn rows(self, diagnostics: &mut Diagnostics) -> Vec<Row> {
        let Self { uid, name, makespan_s, mut nodes, earlier, .. } = self;
        let mut executions = Vec::new();
        let mut take = |node: &mut Node| {
            let execution = |row| Execution { node: node.id.clone(), began: node.began, number: node.number, row };
            executions.extend(node.row.take().map(execution));
        };
        nodes.values_mut().for_each(&mut take);
        for (_, mut node) in earlier.into_values() {
            take(&mut node);
            nodes.entry(node.id.clone()).or_insert(node);
        }
        let root = name.clone().unwrap_or_default();
        let mut graph = Graph::new(&nodes, &root);
        let mut tasks: BTreeMap<String, Vec<Execution>> = BTreeMap::new();
        for execution in executions.into_iter().filter(|execution| graph.is_task(&execution.node)) {
            tasks.entry(graph.task(&execution.node).to_owned()).or_default().push(execution);
        }
        let (mut rows, mut parents) = (Vec::new(), Vec::new());
        for (task, mut attempts) in tasks {
            attempts.sort_by(|a, b| (a.began, a.number, &a.node).cmp(&(b.began, b.number, &b.node)));
            let mut last = 0;
            for execution in attempts {
                let is_retried = task != execution.node;
                last = execution.number.filter(|_| is_retried).unwrap_or(0).max(last + 1);
                parents.push(graph.parents(&execution.node));
                rows.push(Row {
                    run_id: uid.clone().map(Into::into),
                    run_name: name.clone().map(Into::into),
                    task_id: Some(task.clone().into()),
                    attempt: Some(last),
                    run_makespan_s: makespan_s,
                    ..*execution.row
                });
            }
        }
        let too_many = put_parents(&mut rows, parents, &graph.at_exit());
        if too_many > 0 {
            let message = "a task waits for too many others for a list of pairs: its parents are not known";
            diagnostics.push(Diagnostic { count: too_many, ..Diagnostic::warning("parents_too_many", message) });
        }
        let first = |row: &Row| row.submitted_ns.or(row.started_ns).or(row.finished_ns);
        rows.sort_by(|a, b| (first(a), &a.task_id, a.attempt).cmp(&(first(b), &b.task_id, b.attempt)));
        rows
    }
}

/// Puts parents into rows, which have the same order, and reports the number of tasks that have too
/// many.
fn put_parents(rows: &mut [Row], parents: Vec<Parents>, at_exit: &HashSet<String>) -> u64 {
    let mut inner: HashSet<&str> = HashSet::new();
    let mut of_main = Vec::new();
    for (row, told) in rows.iter().zip(&parents) {
        if let Parents::Known(ids) = told {
            inner.extend(ids.iter().map(String::as_str));
            of_main.extend(row.task_id.as_deref());
        }
    }
    // A task on which no other task depends.
    let is_end = |task: &&str| !inner.contains(task) && !at_exit.contains(*task);
    let mut ends: Vec<String> = of_main.into_iter().filter(is_end).map(str::to_owned).collect();
    ends.sort_unstable();
    ends.dedup();
    let mut too_many = 0;
    for (row, told) in rows.iter_mut().zip(parents) {
        let parents = match told {
            Parents::Known(parents) => Some(parents),
            // Within its own template other tasks come first.
            Parents::AtExit(parents) if parents.is_empty() => Some(ends.clone()),
            Parents::AtExit(parents) => Some(parents),
            Parents::Unknown => None,
            Parents::TooMany => {
                too_many += 1;
                None
            }
        };
        row.parents = parents.map(|parents| json!(parents).to_string().into());
    }
    too_many
}

/// One execution of a node.
struct Execution {
    node: String,
    began: Option<i64>,
    number: Option<i64>,
    row: Box<Row>,
}

fn makespan_s(status: &Value) -> Option<f64> {
    let took = time(&status["finishedAt"])?.checked_sub(time(&status["startedAt"])?)?;
    (took >= 0).then_some(took as f64 / 1e9)
}

/// Returns the nodes, unpacked when they are packed because of their number; an error when they are
/// stored elsewhere.
fn nodes(status: &Value) -> Result<Option<Value>, Diagnostic> {
    if let Some(packed) = text(&status["compressedNodes"]) {
        let nodes = unpack(&packed).map_err(|why| Diagnostic::error("nodes_bad", format!("compressedNodes cannot be read: {why}")))?;
        return Ok(Some(Value::Object(nodes)));
    }
    let is_empty = status["nodes"].as_object().is_none_or(Map::is_empty);
    if text(&status["offloadNodeStatusVersion"]).is_some() && is_empty {
        let message = "Argo keeps the nodes of this workflow in its database: they are not in the object";
        return Err(Diagnostic::error("nodes_elsewhere", message).advise("ask Argo's server for it: argo get NAME -o json"));
    }
    Ok(None)
}

fn unpack(packed: &str) -> Result<Map<String, Value>, String> {
    let packed = STANDARD.decode(packed).map_err(|e| e.to_string())?;
    let bytes = bounds::read_whole(GzDecoder::new(packed.as_slice()), input::LARGEST_WHOLE).map_err(|e| e.to_string())?;
    match crate::json::from_slice(&bytes).map_err(|e| e.to_string())? {
        Value::Object(nodes) => Ok(nodes),
        _ => Err("it is no map of nodes".to_owned()),
    }
}

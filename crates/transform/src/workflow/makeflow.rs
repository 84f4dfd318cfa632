//! Makeflow's JSON and JX (`makeflow --json`, `makeflow --jx`).
//!
//! The expressions are evaluated here, so that the output is JSON for both inputs. Rules that run
//! another workflow (`makeflow` or `workflow` instead of `command`) stay unchanged, as do fields
//! that flowmine does not know.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::{Map, Value as Json, json};

use super::{Entry, Form, Note, Workflow, outermost, tasks};
use crate::algebra::{Command, Environment, Layer, Parts, Resources, Task, environment_of, files_of, resources_of};
use crate::error::Fault;
use crate::jx::syntax::{Definition, Expr, Kind};
use crate::jx::{Data, Evaluator, Scope, Value, parse};

/// Parts of the workflow that are written unchanged.
pub(super) struct Makeflow {
    top: Vec<(Arc<str>, Json)>,
    rules: Vec<(Option<usize>, Map<String, Json>)>,
}

/// Reads a workflow of Makeflow, or a list of tasks of the paper's form.
/// `arguments` are definitions that hold in place of the file's own, as of `makeflow --jx-args`.
pub(super) fn read(file: &str, text: &str, arguments: &[Definition]) -> Result<Workflow, Fault> {
    let start = crate::Place { line: 1, column: 1 };
    let mut program = parse(text)?;
    let mut result =
        program.result.take().ok_or_else(|| Fault::new(start, "the file holds no workflow: an object with “rules”, or a list of tasks"))?;
    let defined = take_definitions(&mut result)?;
    program.definitions.extend(defined.iter().cloned());
    let given: HashSet<&str> = arguments.iter().map(|argument| &*argument.name).collect();
    program.definitions.retain(|definition| !given.contains(&*definition.name));
    program.definitions.extend(arguments.iter().cloned());
    let evaluator = Evaluator::new(program.definitions)?;
    // Makeflow evaluates what is defined as a part of the workflow: what cannot be is an error, used or not.
    defined.iter().try_for_each(|definition| evaluator.eval(&definition.body, &Scope::default()).map(drop))?;
    let value = evaluator.eval(&result, &Scope::default())?;
    match (&value.data, value.get("tasks")) {
        (Data::List(list), _) => tasks::read(file, list),
        (_, Some(list)) => tasks::read(file, list.as_list("tasks")?),
        _ if value.get("command").is_some() => tasks::read(file, std::slice::from_ref(&value)),
        _ => from_value(file, &value),
    }
}

/// Whether a file is in Makeflow's own language: by its name, or by a rule `outputs: inputs` that
/// has a command below it, after a tab.
pub(super) fn is_makes_language(name: &str, ending: &str, text: &str) -> bool {
    let Some(first) = text.lines().map(str::trim_start).find(|line| !line.is_empty() && !line.starts_with('#')) else { return false };
    if first.starts_with(['{', '[', '"']) || ["define", "let"].contains(&first.split_whitespace().next().unwrap_or_default()) {
        return false;
    }
    let is_rule = |(one, next): (&str, &str)| one.contains(':') && !one.starts_with(['\t', ' ', '#']) && next.starts_with(['\t', '@']);
    let telling = matches!(ending, "makeflow" | "mf") || name.starts_with("Makeflow");
    telling || matches!(ending, "json" | "jx") && text.lines().zip(text.lines().skip(1)).any(is_rule)
}

/// Returns the definitions of a file of arguments: an object of JX, which can use the arguments
/// `before`.
pub(super) fn arguments(text: &str, before: &[Definition]) -> Result<Vec<Definition>, Fault> {
    let mut program = parse(text)?;
    let start = crate::Place { line: 1, column: 1 };
    let object = program.result.take().filter(|result| matches!(result.kind, Kind::Object(_)));
    let object = object.ok_or_else(|| Fault::new(start, "arguments are an object of names and values"))?;
    program.definitions.extend(before.iter().cloned());
    let values = Evaluator::new(program.definitions)?.eval(&object, &Scope::default())?;
    let one = |(name, value): &(Arc<str>, Value)| {
        let body = Expr { at: value.at, kind: Kind::Value(value.clone()) };
        Definition { at: value.at, name: name.clone(), arguments: None, body }
    };
    Ok(values.as_object("arguments")?.iter().map(one).collect())
}

/// Takes `"define": {…}` out of a workflow: its members are definitions of the whole file.
fn take_definitions(workflow: &mut Expr) -> Result<Vec<Definition>, Fault> {
    let Kind::Object(members) = &mut workflow.kind else { return Ok(Vec::new()) };
    let is_define = |(name, _): &(Expr, Expr)| matches!(&name.kind, Kind::Text(text) if &**text == "define");
    let Some(place) = members.iter().position(is_define) else { return Ok(Vec::new()) };
    let (_, defined) = members.remove(place);
    let Kind::Object(defined) = defined.kind else { return Err(Fault::new(defined.at, "“define” is an object of names")) };
    let one = |(name, body): (Expr, Expr)| match &name.kind {
        Kind::Text(text) => Ok(Definition { at: name.at, name: text.clone(), arguments: None, body }),
        _ => Err(Fault::new(name.at, "a defined name is written in quotes")),
    };
    defined.into_iter().map(one).collect()
}

fn from_value(file: &str, value: &Value) -> Result<Workflow, Fault> {
    let rules = value.get("rules").ok_or_else(|| value.fault("the workflow has no “rules”"))?;
    let (mut entries, mut kept, mut notes, mut shared) = (Vec::new(), Vec::new(), Vec::new(), 0usize);
    let categories = categories(value);
    for (n, rule) in rules.as_list("rules")?.iter().enumerate() {
        let members = rule.as_object("a rule")?;
        for (name, value) in members.iter().filter(|(name, _)| matches!(&**name, "input" | "output")) {
            let message = format!(
                "a rule has no “{name}” but “{name}s”: Makeflow does not look at it, and a sandbox neither brings nor keeps these files"
            );
            notes.push(Note { at: value.at, message });
        }
        let rest = members.iter().map(|(name, value)| Ok((name.to_string(), json_of(value)?))).collect::<Result<_, Fault>>()?;
        if rule.get("command").is_none() {
            if rule.get("makeflow").is_none() && rule.get("workflow").is_none() {
                return Err(rule.fault("the rule has no “command”"));
            }
            kept.push((None, rest));
            continue;
        }
        kept.push((Some(entries.len()), rest));
        entries.push(entry(value, &categories, rule, n + 1, &mut shared)?);
    }
    let others = value.as_object("a workflow")?.iter().filter(|(name, _)| &**name != "rules");
    let top = others.map(|(name, value)| Ok((name.clone(), json_of(value)?))).collect::<Result<_, Fault>>()?;
    Ok(Workflow { file: file.to_owned(), tasks: entries, form: Form::Makeflow(Makeflow::new(top, kept)), notes })
}

/// Maximum number of names and bytes that rules inherit from their categories and from the
/// workflow.
const MOST_SHARED: usize = 256 << 20;

/// The categories of a workflow by their names.
fn categories(workflow: &Value) -> HashMap<&str, &Value> {
    let members = workflow.get("categories").and_then(|all| all.as_object("categories").ok());
    members.into_iter().flatten().map(|(name, value)| (&**name, value)).collect()
}

/// Returns a rule as a task. It inherits the resources and environment of its category and of the
/// workflow, unless it has its own.
fn entry(workflow: &Value, categories: &HashMap<&str, &Value>, rule: &Value, number: usize, shared: &mut usize) -> Result<Entry, Fault> {
    let category = match rule.get("category").or_else(|| workflow.get("default_category")) {
        Some(name) => Some(name.as_text("category")?.to_owned()),
        None => None,
    };
    let of_category = category.as_deref().and_then(|name| categories.get(name).copied());
    let (mut environment, mut resources) = (Environment::new(), Resources::new());
    for source in [Some(workflow), of_category, Some(rule)].into_iter().flatten() {
        let parts = [source.get("environment"), source.get("resources")].into_iter().flatten();
        *shared = parts.fold(*shared, |sum, value| sum.saturating_add(value.size()));
        if *shared > MOST_SHARED {
            let message = format!("environments and resources of the rules up to here have more than {} MiB", MOST_SHARED >> 20);
            return Err(rule.fault(message));
        }
        if let Some(value) = source.get("environment") {
            environment.extend(environment_of(value)?);
        }
        if let Some(value) = source.get("resources") {
            resources.extend(resources_of(value)?);
        }
    }
    let command = rule.get("command").ok_or_else(|| rule.fault("the rule has no “command”"))?;
    let files = |field: &str| rule.get(field).map_or(Ok(Vec::new()), |value| files_of(value, field));
    let parts = Parts {
        command: Command { cmd: command.as_text("command")?.to_owned(), ..Command::default() },
        inputs: files("inputs")?,
        outputs: files("outputs")?,
        environment,
        resources,
    };
    Ok(Entry { task: Task::plain(format!("rule {number}"), rule.at, parts), category, after: Vec::new(), files: true, repeats: None })
}

fn json_of(value: &Value) -> Result<Json, Fault> {
    serde_json::from_str(&value.to_json()).map_err(|error| value.fault(error.to_string()))
}

impl Makeflow {
    /// Fields of the workflow, and its rules with the numbers of those that are tasks.
    pub(super) fn new(top: Vec<(Arc<str>, Json)>, rules: Vec<(Option<usize>, Map<String, Json>)>) -> Self {
        Self { top, rules }
    }

    /// The workflow with the transformed rules.
    pub(super) fn write(&self, tasks: &[(Task, Vec<Layer>)]) -> String {
        let rules: Vec<Json> = self.rules.iter().map(|(task, rule)| rule_json(task.and_then(|n| tasks.get(n)), rule)).collect();
        let mut top: Map<String, Json> = self.top.iter().map(|(name, value)| (name.to_string(), value.clone())).collect();
        top.insert("rules".to_owned(), Json::from(rules));
        let mut out = format!("{:#}", Json::from(top));
        out.push('\n');
        out
    }
}

fn rule_json(task: Option<&(Task, Vec<Layer>)>, rule: &Map<String, Json>) -> Json {
    let mut rule = rule.clone();
    if let Some((task, layers)) = task.filter(|(_, layers)| !layers.is_empty()) {
        let outer = outermost(task, layers);
        rule.insert("command".to_owned(), Json::from(outer.command));
        rule.insert("inputs".to_owned(), Json::from(outer.inputs));
        rule.insert("outputs".to_owned(), Json::from(outer.outputs));
        // The scripts set the environment, each layer its own; what the batch system gets is no variable of a task.
        let options = rule.remove("environment").and_then(|mut all| all.get_mut("BATCH_OPTIONS").map(Json::take));
        rule.extend(options.map(|options| ("environment".to_owned(), json!({"BATCH_OPTIONS": options}))));
        if !task.parts.resources.is_empty() {
            let amounts: Map<String, Json> = task.parts.resources.iter().map(|(kind, n)| (kind.clone(), Json::from(*n))).collect();
            rule.insert("resources".to_owned(), Json::from(amounts));
        }
    }
    Json::from(rule)
}

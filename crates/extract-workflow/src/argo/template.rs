//! The template of a node: its command and its requested resources.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::input;
use crate::kubernetes::values::{list, text};

/// The templates of a workflow, from all places that contain some.
pub struct Templates<'w> {
    stored: &'w Value,
    /// Templates of the workflow itself and of the one that it refers to.
    own: HashMap<&'w str, &'w Value>,
    left: usize,
    /// Number of texts that were left out because of their size.
    pub too_much: u64,
}

impl<'w> Templates<'w> {
    /// Collects the templates from a workflow object.
    pub fn new(workflow: &'w Value) -> Self {
        let status = &workflow["status"];
        let places = [&status["storedWorkflowTemplateSpec"]["templates"], &workflow["spec"]["templates"]];
        let own = places.into_iter().flat_map(list).filter_map(|template| Some((template["name"].as_str()?, template))).collect();
        Self { stored: &status["storedTemplates"], own, left: input::MOST_REPEATED, too_much: 0 }
    }

    /// Returns the template of a node; JSON's null where it is not known.
    pub fn of(&self, node: &Value) -> &'w Value {
        let Some(name) = name(node) else { return &Value::Null };
        let scope = match node["templateRef"]["name"].as_str() {
            Some(of) if node["templateRef"]["clusterScope"].as_bool() == Some(true) => format!("cluster/{of}"),
            Some(of) => format!("namespaced/{of}"),
            None => node["templateScope"].as_str().unwrap_or_default().to_owned(),
        };
        let stored = &self.stored[format!("{scope}/{name}").as_str()];
        if stored.is_object() { stored } else { self.own.get(name.as_str()).copied().unwrap_or(&Value::Null) }
    }

    /// Returns a text for a row unless the memory limit is reached.
    pub fn copied(&mut self, text: Option<String>) -> Option<String> {
        let text = text?;
        match self.left.checked_sub(text.len()) {
            Some(left) => self.left = left,
            None => {
                self.too_much += 1;
                return None;
            }
        }
        Some(text)
    }

    /// Returns the command of a node, or its script. Parameters of the node are substituted; other
    /// text in braces is kept.
    pub fn command(&mut self, node: &Value, template: &Value, container: &Value) -> Option<String> {
        let words: Vec<&str> = list(&container["command"]).chain(list(&container["args"])).filter_map(Value::as_str).collect();
        let script = template["script"]["source"].as_str().map(str::to_owned);
        let told = script.or_else(|| (!words.is_empty()).then(|| words.join(" ")))?;
        let filled = with_parameters(&told, &node["inputs"]["parameters"], self.left);
        if filled.is_none() {
            self.too_much += 1;
        }
        self.copied(filled)
    }
}

/// Returns the name of the template, in the workflow or in the one that it refers to.
pub fn name(node: &Value) -> Option<String> {
    text(&node["templateRef"]["template"]).or_else(|| text(&node["templateName"]))
}

/// Returns the main container.
pub fn container<'t>(node: &Value, template: &'t Value) -> &'t Value {
    if node["type"].as_str() == Some("Container") {
        let named = |container: &&Value| container["name"].as_str().is_some_and(|name| node["displayName"].as_str() == Some(name));
        return list(&template["containerSet"]["containers"]).find(named).unwrap_or(&Value::Null);
    }
    let places = [&template["container"], &template["script"]];
    places.into_iter().find(|container| container.is_object()).unwrap_or(&Value::Null)
}

/// Substitutes `{{inputs.parameters.NAME}}`; `None` when the result would be longer than `most`.
fn with_parameters(text: &str, parameters: &Value, most: usize) -> Option<String> {
    const BEGIN: &str = "{{inputs.parameters.";
    if !text.contains(BEGIN) {
        return (text.len() <= most).then(|| text.to_owned());
    }
    let values: HashMap<&str, &str> = list(parameters).filter_map(|told| Some((told["name"].as_str()?, told["value"].as_str()?))).collect();
    let mut filled = String::new();
    let mut rest = text;
    while let Some(from) = rest.find(BEGIN) {
        let (before, inside) = rest.split_at(from);
        filled.push_str(before);
        let value = inside.find("}}").and_then(|end| Some((*values.get(&inside[BEGIN.len()..end])?, end + 2)));
        let (value, taken) = value.unwrap_or((BEGIN, BEGIN.len()));
        filled.push_str(value);
        rest = &inside[taken..];
        if filled.len() > most {
            return None;
        }
    }
    filled.push_str(rest);
    (filled.len() <= most).then_some(filled)
}

/// Returns inputs or outputs of a node, in the form of the columns, without the archived log.
pub fn artifacts(told: &Value) -> Option<String> {
    let files = told["artifacts"].as_array()?.iter().filter(|artifact| artifact["archiveLogs"].as_bool() != Some(true));
    let path = |artifact: &Value| Some(json!({ "path": location(artifact).or_else(|| text(&artifact["path"]))? }));
    Some(Value::Array(files.filter_map(path).collect()).to_string())
}

/// Returns the location of an artifact, as a URL or a key of the store.
pub fn location(artifact: &Value) -> Option<String> {
    let in_store = |name: &str, scheme: &str, container: &str, key: &str| {
        let key = text(&artifact[name][key])?;
        Some(match text(&artifact[name][container]) {
            Some(container) => format!("{scheme}://{container}/{key}"),
            None => key,
        })
    };
    in_store("s3", "s3", "bucket", "key")
        .or_else(|| in_store("gcs", "gs", "bucket", "key"))
        .or_else(|| in_store("oss", "oss", "bucket", "key"))
        .or_else(|| in_store("azure", "azure", "container", "blob"))
        .or_else(|| text(&artifact["hdfs"]["path"]).map(|path| format!("hdfs://{path}")))
        .or_else(|| text(&artifact["http"]["url"]))
        .or_else(|| text(&artifact["artifactory"]["url"]))
        .or_else(|| text(&artifact["git"]["repo"]))
}

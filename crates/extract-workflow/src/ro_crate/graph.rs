//! The entities of a crate by their ids.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::ids;

/// The entities of `@graph`.
pub struct Graph<'j> {
    entities: &'j [Value],
    by_id: HashMap<&'j str, &'j Value>,
}

/// Returns the id of an entity.
pub fn id(entity: &Value) -> Option<&str> {
    entity["@id"].as_str().filter(|id| !id.is_empty())
}

fn has_type(entity: &Value, wanted: &str) -> bool {
    let kind = &entity["@type"];
    kind.as_str() == Some(wanted) || kind.as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind.as_str() == Some(wanted)))
}

impl<'j> Graph<'j> {
    /// Indexes the entities of a crate. If several have the same id, the first one counts.
    pub fn of(json: &'j Value) -> Self {
        let entities = json["@graph"].as_array().map(Vec::as_slice).unwrap_or_default();
        let mut by_id = HashMap::new();
        for entity in entities {
            if let Some(id) = id(entity) {
                by_id.entry(id).or_insert(entity);
            }
        }
        Self { entities, by_id }
    }

    /// Returns the entity with this id.
    pub fn get(&self, id: &str) -> Option<&'j Value> {
        self.by_id.get(id).copied()
    }

    /// Returns the entities of a type, in their order.
    pub fn with_type(&self, wanted: &'static str) -> impl Iterator<Item = &'j Value> + use<'j> {
        self.entities.iter().filter(move |entity| has_type(entity, wanted))
    }

    /// Returns the ids in a value: one reference or several.
    pub fn references(&self, value: &'j Value) -> Vec<&'j str> {
        match value {
            Value::Array(several) => several.iter().filter_map(id).collect(),
            one => id(one).into_iter().collect(),
        }
    }

    /// Returns the entities that a value refers to or contains.
    pub fn entities_of(&self, value: &'j Value) -> Vec<&'j Value> {
        let several = match value {
            Value::Array(several) => several.iter().collect(),
            Value::Null => Vec::new(),
            one => vec![one],
        };
        several.into_iter().map(|entity| id(entity).and_then(|id| self.get(id)).unwrap_or(entity)).collect()
    }

    /// Whether an action belongs to a workflow, and not to a tool.
    pub fn is_of_workflow(&self, action: &'j Value) -> bool {
        let instruments = self.references(&action["instrument"]);
        instruments.into_iter().filter_map(|tool| self.get(tool)).any(|tool| has_type(tool, "ComputationalWorkflow"))
    }

    /// Returns the ids of what belongs to the runs of workflows: actions that others organise or
    /// control, and the tools of workflows.
    pub fn parts_of_runs(&self, runs: &[&'j Value]) -> HashSet<&'j str> {
        let mut found: HashSet<&str> = HashSet::new();
        for action in self.with_type("OrganizeAction").chain(self.with_type("ControlAction")) {
            found.extend(self.references(&action["object"]));
            found.extend(self.references(&action["result"]));
        }
        let mut open: Vec<&str> = runs.iter().flat_map(|run| self.references(&run["instrument"])).collect();
        let mut seen: HashSet<&str> = open.iter().copied().collect();
        while let Some(next) = open.pop() {
            let Some(workflow) = self.get(next) else { continue };
            for part in ["hasPart", "step", "workExample"].into_iter().flat_map(|key| self.references(&workflow[key])) {
                if seen.insert(part) {
                    found.insert(part);
                    open.push(part);
                }
            }
        }
        found
    }

    /// Whether an action or its tool is among these.
    pub fn is_part(&self, action: &'j Value, of: &HashSet<&'j str>) -> bool {
        id(action).into_iter().chain(self.references(&action["instrument"])).any(|id| of.contains(id))
    }

    /// Returns the name of an entity.
    pub fn name(&self, entity: &Value) -> Option<String> {
        entity["name"].as_str().filter(|name| !name.is_empty()).map(str::to_owned)
    }

    /// Returns the name of the crate.
    pub fn root_name(&self) -> Option<String> {
        self.name(self.get("./")?)
    }

    /// Returns a file in the form of the columns `inputs` and `outputs`; `None` for other entities
    /// than files and directories.
    pub fn file(&self, id: &str) -> Option<Value> {
        let entity = self.get(id)?;
        if !has_type(entity, "File") && !has_type(entity, "Dataset") {
            return None;
        }
        let size = &entity["contentSize"];
        let bytes = size.as_i64().or_else(|| size.as_str()?.trim_end_matches('B').trim().parse().ok()).filter(|bytes: &i64| *bytes >= 0);
        Some(match bytes {
            Some(bytes) => json!({ "path": ids::to_path(id), "bytes": bytes }),
            None => json!({ "path": ids::to_path(id) }),
        })
    }

    /// Returns the name of a container's image, with its tag.
    pub fn image(&self, id: &str) -> String {
        let Some(entity) = self.get(id) else { return id.to_owned() };
        match (entity["name"].as_str(), entity["tag"].as_str()) {
            (Some(name), Some(tag)) => format!("{name}:{tag}"),
            (Some(name), None) => name.to_owned(),
            _ => id.to_owned(),
        }
    }
}

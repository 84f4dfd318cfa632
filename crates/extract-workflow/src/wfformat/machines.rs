//! Machines in an instance, and in the column `machines`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::values::{list_ref, whole};

/// A property of a machine: its name in the column, and its names in the versions of the format, of
/// which the first is written.
const PROPERTIES: [(&str, &[&[&str]]); 7] = [
    ("cpus", &[&["cpu", "coreCount"], &["cpu", "count"]]),
    ("cpu_mhz", &[&["cpu", "speedInMHz"], &["cpu", "speed"]]),
    ("cpu_vendor", &[&["cpu", "vendor"]]),
    ("memory_bytes", &[&["memoryInBytes"]]),
    ("system", &[&["system"]]),
    ("architecture", &[&["architecture"]]),
    ("release", &[&["release"]]),
];

/// The machines of an instance by name, in the form of the column.
#[derive(Debug, Default)]
pub struct Machines {
    described: BTreeMap<String, Value>,
    used: BTreeSet<String>,
}

impl Machines {
    /// Reads the list of machines of an instance.
    pub fn new(machines: &Value) -> Self {
        let named = list_ref(machines).filter_map(|machine| {
            let name = machine["nodeName"].as_str()?;
            Some((name.to_owned(), of_column(name, machine)))
        });
        Self { described: named.collect(), used: BTreeSet::new() }
    }

    /// Returns the column for a task that ran on these machines; `None` for a single bare name,
    /// which is in the column `host`.
    pub fn column(&mut self, names: &[&str]) -> Option<String> {
        let described = |name: &&str| self.described.get(*name).cloned().unwrap_or_else(|| json!({ "name": name }));
        let list: Vec<Value> = names.iter().map(described).collect();
        self.used.extend(names.iter().map(|name| (*name).to_owned()));
        let tells_more = list.len() > 1 || list.iter().filter_map(Value::as_object).any(|machine| machine.len() > 1);
        tells_more.then(|| Value::Array(list).to_string())
    }

    /// Returns the names of the machines on which no task ran.
    pub fn unused(&self) -> Vec<&str> {
        self.described.keys().filter(|name| !self.used.contains(*name)).map(String::as_str).collect()
    }
}

fn of_column(name: &str, machine: &Value) -> Value {
    let mut object = Map::from_iter([("name".to_owned(), json!(name))]);
    for (column, paths) in PROPERTIES {
        let told = paths.iter().map(|path| path.iter().fold(machine, |value, step| &value[*step])).find(|value| !value.is_null());
        let told = told.and_then(|value| value.as_str().map(Value::from).or_else(|| whole(value).map(Value::from)));
        told.map(|value| object.insert(column.to_owned(), value));
    }
    Value::Object(object)
}

/// Converts a machine of the column to the format; `None` when it has no name.
pub fn of_format(machine: &Value) -> Option<(String, Value)> {
    let name = machine["name"].as_str().filter(|name| !name.is_empty())?;
    let mut object = Map::from_iter([("nodeName".to_owned(), json!(name))]);
    for (column, paths) in PROPERTIES {
        let Some(value) = machine.get(column).filter(|value| !value.is_null()) else { continue };
        match paths[0] {
            [outer, inner] => object.entry(*outer).or_insert_with(|| json!({}))[*inner] = value.clone(),
            path => drop(object.insert(path[0].to_owned(), value.clone())),
        }
    }
    Some((name.to_owned(), Value::Object(object)))
}

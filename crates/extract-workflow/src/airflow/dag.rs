//! A DAG as Airflow stores it in `serialized_dag`, with the dependencies of its tasks. Versions 1
//! (Airflow 2) to 3 of the format.

use std::collections::HashMap;
use std::io::Read;

use serde_json::Value;

use crate::json;

/// Maximum size of an unpacked DAG in bytes; no scheduler could work with a larger one.
const LARGEST: u64 = 64 << 20;

/// Dependencies and groups of a DAG's tasks.
#[derive(Debug, Default)]
pub struct Dag {
    parents: HashMap<String, Vec<String>>,
    /// The mapped task groups of each task: their instances correspond by index.
    mapped_groups: HashMap<String, Vec<String>>,
}

impl Dag {
    /// Reads a DAG from the column `data` (as text or already parsed) or from `data_compressed`.
    pub fn read(data: &Value, compressed: &Value) -> Option<Self> {
        let read: Value = match (data, compressed) {
            (Value::Object(_), _) => data.clone(),
            (Value::String(text), _) => json::from_str(text).ok()?,
            (_, Value::String(hex)) => json::from_slice(&unpack(hex)?).ok()?,
            _ => return None,
        };
        let dag = &read["dag"];
        let mut found = Self::default();
        for task in dag["tasks"].as_array()? {
            let task = if task["__var"].is_object() { &task["__var"] } else { task };
            let id = task["task_id"].as_str()?;
            found.parents.entry(id.to_owned()).or_default();
            for child in task["downstream_task_ids"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                found.parents.entry(child.to_owned()).or_default().push(id.to_owned());
            }
        }
        found.parents.values_mut().for_each(|parents| parents.sort());
        let root = if dag["task_group"].is_object() { &dag["task_group"] } else { &dag["_task_group"] };
        found.walk(root, &mut Vec::new());
        Some(found)
    }

    /// The recursion ends because the JSON reader limits the nesting.
    fn walk(&mut self, group: &Value, mapped: &mut Vec<String>) {
        let is_mapped = group["is_mapped"] == true;
        if is_mapped {
            mapped.push(group["_group_id"].as_str().unwrap_or_default().to_owned());
        }
        for (id, child) in group["children"].as_object().into_iter().flatten() {
            if child[0] == "taskgroup" {
                self.walk(&child[1], mapped);
            } else if !mapped.is_empty() {
                self.mapped_groups.insert(id.clone(), mapped.clone());
            }
        }
        if is_mapped {
            mapped.pop();
        }
    }

    /// Returns the tasks that must end before this one; `None` when the DAG has no such task.
    pub fn parents(&self, task: &str) -> Option<&[String]> {
        self.parents.get(task).map(Vec::as_slice)
    }

    /// Whether the instances of both tasks are expanded together.
    pub fn expand_together(&self, a: &str, b: &str) -> bool {
        let groups = |task: &str| self.mapped_groups.get(task);
        groups(a).zip(groups(b)).is_some_and(|(a, b)| a.iter().any(|group| b.contains(group)))
    }
}

/// Unpacks zlib data from hexadecimal digits, as PostgreSQL writes bytes.
fn unpack(hex: &str) -> Option<Vec<u8>> {
    let digits = hex.strip_prefix("\\x").unwrap_or(hex).as_bytes();
    let digit = |byte: u8| (byte as char).to_digit(16).map(|digit| digit as u8);
    let packed: Vec<u8> = digits.chunks_exact(2).map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?)).collect::<Option<_>>()?;
    let mut bytes = Vec::new();
    flate2::read::ZlibDecoder::new(&packed[..]).take(LARGEST).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use serde_json::json;

    use super::*;

    #[test]
    fn forms() {
        let of_two = json!({"__version": 1, "dag": {"tasks": [
            {"__var": {"task_id": "a", "downstream_task_ids": ["c"]}},
            {"task_id": "b", "downstream_task_ids": ["c"]},
            {"task_id": "c", "downstream_task_ids": []}]}});
        let mut packer = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
        packer.write_all(of_two.to_string().as_bytes()).unwrap();
        let hex: String = packer.finish().unwrap().iter().map(|byte| format!("{byte:02x}")).collect();
        for (data, compressed) in [
            (of_two.clone(), Value::Null),
            (json!(of_two.to_string()), Value::Null),
            (Value::Null, json!(hex)),
            (Value::Null, json!(format!("\\x{hex}"))),
        ] {
            let dag = Dag::read(&data, &compressed).unwrap();
            assert_eq!(dag.parents("c").unwrap(), ["a", "b"]);
            assert!(dag.parents("a").unwrap().is_empty() && dag.parents("x").is_none());
        }
        assert!(Dag::read(&Value::Null, &json!("zz")).is_none() && Dag::read(&json!("{"), &Value::Null).is_none());
    }

    #[test]
    fn mapped_groups() {
        let group = json!({"_group_id": "g", "is_mapped": true, "children": {"g.a": ["operator", "g.a"], "g.b": ["operator", "g.b"]}});
        let root = json!({"_group_id": null, "children": {"g": ["taskgroup", group], "c": ["operator", "c"]}});
        let dag = Dag::read(&json!({"dag": {"tasks": [], "task_group": root}}), &Value::Null).unwrap();
        assert!(dag.expand_together("g.a", "g.b") && !dag.expand_together("g.a", "c"));
    }
}

//! Rules of a workflow file in Makeflow's JSON. Makeflow's own `jx2json` converts JX, which
//! computes its rules, to it.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use super::log::Rule;
use crate::json;

/// Makeflow's unit of memory and disk.
const MEGABYTE: i64 = 1 << 20;

/// Reads the rules in their order; an error states why the text is not a workflow.
pub fn read(text: &str) -> Result<Vec<Rule>, String> {
    let workflow = json::from_str(text).map_err(|e| format!("this is no JSON: {e}"))?;
    let rules = workflow["rules"].as_array().ok_or("there is no list of rules")?;
    let mut rules: Vec<Rule> = rules.iter().map(|rule| read_rule(rule, &workflow)).collect();
    let makers: HashMap<String, usize> =
        rules.iter().enumerate().flat_map(|(at, rule)| rule.outputs.iter().flatten().map(move |output| (output.clone(), at))).collect();
    for rule in &mut rules {
        let mut parents: Vec<usize> = rule.inputs.iter().flatten().filter_map(|input| makers.get(input).copied()).collect();
        parents.sort_unstable();
        parents.dedup();
        rule.parents = Some(parents.iter().map(usize::to_string).collect());
    }
    Ok(rules)
}

fn read_rule(rule: &Value, workflow: &Value) -> Rule {
    let category = rule["category"].as_str().or(workflow["default_category"].as_str()).unwrap_or("default");
    let of_category = &workflow["categories"][category];
    let resource = |name: &str| {
        let places = [&rule["resources"][name], &of_category["resources"][name], &of_category[name]];
        places.into_iter().find_map(|value| value.as_i64()).filter(|number| *number >= 0)
    };
    let megabytes = |name: &str| resource(name).and_then(|number| number.checked_mul(MEGABYTE));
    Rule {
        command: rule["command"].as_str().map(str::to_owned),
        environment: environment([&workflow["environment"], &of_category["environment"], &rule["environment"]]),
        is_unsure: false,
        is_cut: false,
        category: Some(category.to_owned()),
        parents: None,
        inputs: Some(files(&rule["inputs"])),
        outputs: Some(files(&rule["outputs"])),
        resources: [resource("cores"), megabytes("memory"), megabytes("disk")],
    }
}

/// Merges variables, of which later places override earlier ones. Names that no shell allows are
/// left out.
fn environment(places: [&Value; 3]) -> BTreeMap<String, String> {
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let told = places.into_iter().filter_map(Value::as_object).flatten();
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    told.filter(|(name, _)| is_name(name)).map(|(name, value)| (name.clone(), text(value))).collect()
}

/// Returns the names of files. An entry is a name, or an object with the names outside and inside
/// the task.
fn files(list: &Value) -> Vec<String> {
    let name = |file: &Value| file.as_str().or(file["dag_name"].as_str()).or(file["source"].as_str()).map(str::to_owned);
    list.as_array().into_iter().flatten().filter_map(name).collect()
}

//! Models as text: JSON and TOML, the same fields in both.

use crate::error::PredictError;
use crate::model::Model;

impl Model {
    /// Reads a model from JSON.
    ///
    /// # Errors
    /// [`PredictError::File`] with the path of the field, line and column.
    pub fn from_json(text: &str) -> Result<Self, PredictError> {
        let mut file = serde_json::Deserializer::from_str(text);
        let model = serde_path_to_error::deserialize(&mut file).map_err(|e| wrong(e.path(), e.inner()))?;
        file.end().map_err(|e| PredictError::File { place: String::new(), problem: e.to_string() })?;
        Ok(model)
    }

    /// Reads a model from TOML.
    ///
    /// # Errors
    /// [`PredictError::File`] with the path of the field, line and column.
    pub fn from_toml(text: &str) -> Result<Self, PredictError> {
        let file = toml::Deserializer::parse(text).map_err(|e| PredictError::File { place: String::new(), problem: one_line(&e) })?;
        serde_path_to_error::deserialize(file).map_err(|e| wrong(e.path(), &one_line(e.inner())))
    }

    /// The model as JSON, for people to edit: a line for each field, functions on one line.
    ///
    /// # Errors
    /// When a number is not finite.
    pub fn to_json(&self) -> Result<String, PredictError> {
        let value = serde_json::to_value(self).map_err(|e| PredictError::Written(e.to_string()))?;
        let mut text = String::new();
        lines(&value, 0, &mut text);
        text.push('\n');
        Ok(text)
    }

    /// The model as TOML, with the same fields as in JSON.
    ///
    /// # Errors
    /// When it cannot be written so.
    pub fn to_toml(&self) -> Result<String, PredictError> {
        toml::to_string(self).map_err(|e| PredictError::Written(e.to_string()))
    }
}

fn wrong(path: &serde_path_to_error::Path, problem: &impl std::fmt::Display) -> PredictError {
    let path = path.to_string();
    let place = if path == "." { String::new() } else { format!("{path}: ") };
    PredictError::File { place, problem: problem.to_string() }
}

/// TOML's errors show the line in the file; a sentence does without.
fn one_line(error: &toml::de::Error) -> String {
    let shown = error.to_string();
    let place = shown.lines().next().and_then(|line| line.strip_prefix("TOML parse error")).map(str::trim).unwrap_or_default();
    if place.is_empty() { error.message().to_owned() } else { format!("{} {place}", error.message()) }
}

/// Longer values are cut into lines.
const LINE: usize = 100;

fn lines(value: &serde_json::Value, depth: usize, out: &mut String) {
    use serde_json::Value;
    let whole = value.to_string();
    let parts: Vec<(Option<&str>, &Value)> = match value {
        Value::Object(fields) => fields.iter().map(|(key, value)| (Some(key.as_str()), value)).collect(),
        Value::Array(values) => values.iter().map(|value| (None, value)).collect(),
        _ => Vec::new(),
    };
    if parts.is_empty() || whole.len() + 2 * depth <= LINE {
        out.push_str(&whole);
        return;
    }
    let (open, close) = if value.is_array() { ('[', ']') } else { ('{', '}') };
    out.push(open);
    for (at, (key, part)) in parts.iter().enumerate() {
        out.push_str(if at > 0 { ",\n" } else { "\n" });
        out.push_str(&"  ".repeat(depth + 1));
        if let Some(key) = key {
            out.push_str(&format!("{}: ", Value::from(*key)));
        }
        lines(part, depth + 1, out);
    }
    out.push('\n');
    out.push_str(&"  ".repeat(depth));
    out.push(close);
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIGURE_4: &str = include_str!("../examples/figure-4.json");
    const EVALUATION: &str = include_str!("../examples/evaluation.json");

    #[test]
    fn a_model_is_the_same_in_json_and_toml() {
        for text in [FIGURE_4, EVALUATION] {
            let model = Model::from_json(text).unwrap();
            let (json, toml) = (model.to_json().unwrap(), model.to_toml().unwrap());
            let as_value = |model: &Model| serde_json::to_value(model).unwrap();
            assert_eq!(as_value(&Model::from_json(&json).unwrap()), as_value(&model), "{json}");
            assert_eq!(as_value(&Model::from_toml(&toml).unwrap()), as_value(&model), "{toml}");
        }
    }

    #[test]
    fn what_is_wrong_has_a_path_and_a_place() {
        let json = |text: &str| Model::from_json(text).unwrap_err().to_string();
        let toml = |text: &str| Model::from_toml(text).unwrap_err().to_string();
        let said = json(r#"{"processes": [{"name": "a", "progress": "x"}]}"#);
        assert!(said.contains("processes[0].progress") && said.contains("line 1"), "{said}");
        let said =
            json(r#"{"processes": [{"name": "a", "progress": 1, "resources": [{"name": "r", "requirement": "fast", "allocation": 1}]}]}"#);
        assert!(said.contains("processes[0].resources[0].requirement") && said.contains("a function is a number"), "{said}");
        let said = toml("[[processes]]\nname = \"a\"\nprogress = \"x\"\n");
        assert!(said.contains("processes[0].progress") && said.contains("line 3"), "{said}");
        assert!(toml("[[processes]\n").contains("line 1"));
        assert!(json("{} {}").contains("missing field") || json("{} {}").contains("trailing"));
        assert!(json(r#"{"processes": []} x"#).contains("trailing"));
    }
}

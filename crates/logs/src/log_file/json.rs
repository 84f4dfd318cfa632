//! Attributes and relations as JSON, in the words of OCEL 2.0 JSON: the form in which the tables of
//! a dataset hold them.

use std::borrow::Cow;

use flowmine_eventlog::time::{parse, rfc3339};
use flowmine_eventlog::{Attribute, CaseHeader, Classifier, Extension, LogError, Relation, TypeDef, Types, Value, ValueType};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct JsonAttribute<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    r#type: Cow<'a, str>,
    value: JsonValue<'a>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    time: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    attributes: Vec<JsonAttribute<'a>>,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum JsonValue<'a> {
    Boolean(bool),
    Integer(i64),
    Float(f64),
    #[serde(borrow)]
    Text(Cow<'a, str>),
    List(Vec<JsonAttribute<'a>>),
    Nothing(()),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct JsonRelation<'a> {
    #[serde(borrow)]
    object_id: Cow<'a, str>,
    qualifier: Cow<'a, str>,
}

fn word(kind: ValueType) -> &'static str {
    match kind {
        ValueType::Id => "id",
        ValueType::List => "list",
        ValueType::Container => "container",
        kind => kind.ocel_name(),
    }
}

impl<'a> From<&'a Attribute<'_>> for JsonAttribute<'a> {
    fn from(attribute: &'a Attribute<'_>) -> Self {
        let value = match &attribute.value {
            Value::String(text) | Value::Id(text) => JsonValue::Text(Cow::Borrowed(text.as_ref())),
            Value::Time(ns) => JsonValue::Text(rfc3339(*ns).into()),
            Value::Integer(number) => JsonValue::Integer(*number),
            // JSON has no word for these.
            Value::Float(number) if !number.is_finite() => JsonValue::Text(number.to_string().into()),
            Value::Float(number) => JsonValue::Float(*number),
            Value::Boolean(truth) => JsonValue::Boolean(*truth),
            Value::List(items) => JsonValue::List(items.iter().map(JsonAttribute::from).collect()),
            Value::Container => JsonValue::Nothing(()),
        };
        Self {
            name: Cow::Borrowed(attribute.key.as_ref()),
            r#type: word(attribute.value.kind()).into(),
            value,
            time: attribute.since_ns.map(|ns| rfc3339(ns).into()),
            attributes: attribute.children.iter().map(JsonAttribute::from).collect(),
        }
    }
}

fn unreadable(what: &str) -> LogError {
    LogError::RefusedAt {
        place: "an imported log in the dataset".to_owned(),
        message: format!("{what}; another program changed the table: import the log again"),
    }
}

impl<'a> TryFrom<JsonAttribute<'a>> for Attribute<'a> {
    type Error = LogError;

    fn try_from(json: JsonAttribute<'a>) -> Result<Self, LogError> {
        let time = |text: &str| parse(text).map_err(|_| unreadable("a time that is none"));
        let value = match (json.r#type.as_ref(), json.value) {
            ("id", JsonValue::Text(text)) => Value::Id(text),
            ("time", JsonValue::Text(text)) => Value::Time(time(&text)?),
            ("float", JsonValue::Text(text)) => Value::Float(text.parse().map_err(|_| unreadable("a number that is none"))?),
            ("float", JsonValue::Integer(number)) => Value::Float(number as f64),
            ("string", JsonValue::Text(text)) => Value::String(text),
            ("integer", JsonValue::Integer(number)) => Value::Integer(number),
            ("float", JsonValue::Float(number)) => Value::Float(number),
            ("boolean", JsonValue::Boolean(truth)) => Value::Boolean(truth),
            ("list", JsonValue::List(items)) => Value::List(all(items)?),
            ("container", JsonValue::Nothing(())) => Value::Container,
            _ => return Err(unreadable("an attribute whose value is not of its type")),
        };
        let since_ns = json.time.as_deref().map(time).transpose()?;
        Ok(Attribute { key: json.name, value, since_ns, children: all(json.attributes)? })
    }
}

fn all(json: Vec<JsonAttribute<'_>>) -> Result<Vec<Attribute<'_>>, LogError> {
    json.into_iter().map(Attribute::try_from).collect()
}

fn text(json: &impl Serialize) -> Result<String, LogError> {
    serde_json::to_string(json).map_err(LogError::source)
}

/// Attributes as a JSON array.
pub fn attributes(attributes: &[Attribute<'_>]) -> Result<String, LogError> {
    text(&attributes.iter().map(JsonAttribute::from).collect::<Vec<_>>())
}

/// Reads what [`attributes`] wrote; an error when the text is not of that form.
pub fn read_attributes(json: &str) -> Result<Vec<Attribute<'_>>, LogError> {
    all(serde_json::from_str(json).map_err(|error| unreadable(&error.to_string()))?)
}

/// Relations to objects as a JSON array.
pub fn relations(relations: &[Relation<'_>]) -> Result<String, LogError> {
    let json = |r: &Relation<'_>| JsonRelation {
        object_id: r.object.as_ref().to_owned().into(),
        qualifier: r.qualifier.as_ref().to_owned().into(),
    };
    text(&relations.iter().map(json).collect::<Vec<_>>())
}

/// Reads what [`relations`] wrote; an error when the text is not of that form.
pub fn read_relations(json: &str) -> Result<Vec<Relation<'_>>, LogError> {
    let relations: Vec<JsonRelation<'_>> = serde_json::from_str(json).map_err(|error| unreadable(&error.to_string()))?;
    Ok(relations.into_iter().map(|json| Relation { object: json.object_id, qualifier: json.qualifier }).collect())
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct JsonTypes {
    event_types: Vec<JsonType>,
    object_types: Vec<JsonType>,
}

#[derive(Serialize, Deserialize)]
struct JsonType {
    name: String,
    attributes: Vec<JsonDefinition>,
}

#[derive(Serialize, Deserialize)]
struct JsonDefinition {
    name: String,
    r#type: String,
}

/// The types of an object-centric log as JSON.
pub fn types(types: &Types) -> Result<String, LogError> {
    let all = |defs: &[TypeDef]| {
        let definition = |(name, kind): &(String, ValueType)| JsonDefinition { name: name.clone(), r#type: kind.ocel_name().to_owned() };
        defs.iter().map(|def| JsonType { name: def.name.clone(), attributes: def.attributes.iter().map(definition).collect() }).collect()
    };
    text(&JsonTypes { event_types: all(&types.events), object_types: all(&types.objects) })
}

/// Reads what [`types`] wrote; an error when the text is not of that form.
pub fn read_types(json: &str) -> Result<Types, LogError> {
    let json: JsonTypes = serde_json::from_str(json).map_err(|error| unreadable(&error.to_string()))?;
    let all = |types: Vec<JsonType>| {
        let kind = |name: &str| ValueType::from_ocel_name(name).ok_or_else(|| unreadable("a type of attributes that is none"));
        let attributes = |of: Vec<JsonDefinition>| of.into_iter().map(|d| Ok((d.name, kind(&d.r#type)?))).collect::<Result<_, LogError>>();
        types.into_iter().map(|t| Ok(TypeDef { name: t.name, attributes: attributes(t.attributes)? })).collect::<Result<_, LogError>>()
    };
    Ok(Types { events: all(json.event_types)?, objects: all(json.object_types)? })
}

#[derive(Serialize, Deserialize)]
struct JsonHeader<'a> {
    extensions: Vec<[String; 3]>,
    #[serde(borrow)]
    trace_globals: Vec<JsonAttribute<'a>>,
    event_globals: Vec<JsonAttribute<'a>>,
    classifiers: Vec<(String, Vec<String>)>,
    attributes: Vec<JsonAttribute<'a>>,
}

/// Returns the header of an XES file (the elements before its traces) as JSON.
pub fn header(header: &CaseHeader) -> Result<String, LogError> {
    fn attributes<'a>(of: &'a [Attribute<'static>]) -> Vec<JsonAttribute<'a>> {
        of.iter().map(JsonAttribute::from).collect()
    }
    text(&JsonHeader {
        extensions: header.extensions.iter().map(|e| [e.name.clone(), e.prefix.clone(), e.uri.clone()]).collect(),
        trace_globals: attributes(&header.trace_globals),
        event_globals: attributes(&header.event_globals),
        classifiers: header.classifiers.iter().map(|c| (c.name.clone(), c.keys.clone())).collect(),
        attributes: attributes(&header.attributes),
    })
}

/// Reads what [`header`] wrote; an error when the text is not of that form.
pub fn read_header(json: &str) -> Result<CaseHeader, LogError> {
    let json: JsonHeader<'_> = serde_json::from_str(json).map_err(|error| unreadable(&error.to_string()))?;
    let owned = |of| -> Result<Vec<Attribute<'static>>, LogError> { Ok(all(of)?.into_iter().map(Attribute::into_owned).collect()) };
    Ok(CaseHeader {
        extensions: json.extensions.into_iter().map(|[name, prefix, uri]| Extension { name, prefix, uri }).collect(),
        trace_globals: owned(json.trace_globals)?,
        event_globals: owned(json.event_globals)?,
        classifiers: json.classifiers.into_iter().map(|(name, keys)| Classifier { name, keys }).collect(),
        attributes: owned(json.attributes)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_value_survives() {
        let mut nested = Attribute::text("text", "ä\"\n\u{0}").since(-1);
        nested.children = vec![Attribute::new("x", Value::Float(f64::INFINITY)), Attribute::new("y", Value::Float(3.0))];
        let attributes = vec![
            nested,
            Attribute::time("time", 1_795_179_770_123_456_789),
            Attribute::integer("integer", i64::MIN),
            Attribute::new("boolean", Value::Boolean(false)),
            Attribute::new("id", Value::Id("a".into())),
            Attribute::new("list", Value::List(vec![Attribute::integer("", 1), Attribute::text("", "")])),
            Attribute::new("container", Value::Container),
        ];
        let json = super::attributes(&attributes).unwrap();
        assert_eq!(read_attributes(&json).unwrap(), attributes);
        let relations = vec![Relation { object: "o\\".into(), qualifier: "".into() }];
        assert_eq!(read_relations(&super::relations(&relations).unwrap()).unwrap(), relations);
        assert!(read_attributes(r#"[{"name":"a","type":"integer","value":"x"}]"#).is_err());
    }
}

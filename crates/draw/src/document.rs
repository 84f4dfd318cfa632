//! Results as JSON documents. Each begins with the name of its format and a version, and has a
//! schema (JSON Schema, draft 2020-12) that is made from its type.
//!
//! The version rises when a field is removed or renamed or changes its meaning. A new field does
//! not change it.

use std::borrow::Cow;
use std::io::{self, Write};

use schemars::generate::SchemaSettings;
use schemars::transform::transform_subschemas;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};

use crate::json;

/// A result that is written as a JSON document of its own.
pub trait Document: Serialize + JsonSchema {
    /// Name of the format, `flowmine-…`.
    const FORMAT: &'static str;
    /// Version of the format.
    const VERSION: u32 = 1;
}

/// A document with its format and version in front, alone or within another document.
#[derive(Serialize, JsonSchema)]
#[schemars(bound = "T: Document")]
pub struct Whole<'a, T> {
    /// Name of the format.
    #[schemars(extend("const" = T::FORMAT))]
    format: &'static str,
    /// Version of the format.
    #[schemars(extend("const" = T::VERSION))]
    version: u32,
    #[serde(flatten)]
    document: &'a T,
}

impl<'a, T: Document> Whole<'a, T> {
    /// Puts format and version in front of a document.
    pub fn new(document: &'a T) -> Self {
        Self { format: T::FORMAT, version: T::VERSION, document }
    }
}

/// Makes the entries of a list.
type Maker<'a, T> = Box<dyn Fn() -> Box<dyn Iterator<Item = T> + 'a> + 'a>;

/// A list with entries that are made while it is written: one of them is in memory at a time.
pub struct Entries<'a, T>(Maker<'a, T>);

impl<'a, T: 'a> Entries<'a, T> {
    /// A list with an entry for each thing.
    pub fn new<S>(things: &'a [S], entry: impl Fn(&'a S) -> T + Clone + 'a) -> Self {
        Self(Box::new(move || -> Box<dyn Iterator<Item = T> + 'a> { Box::new(things.iter().map(entry.clone())) }))
    }

    /// A list with an entry for each number below `count`.
    pub fn numbered(count: usize, entry: impl Fn(usize) -> T + Clone + 'a) -> Self {
        Self(Box::new(move || -> Box<dyn Iterator<Item = T> + 'a> { Box::new((0..count).map(entry.clone())) }))
    }
}

impl<T: Serialize> Serialize for Entries<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((self.0)())
    }
}

impl<T: JsonSchema> JsonSchema for Entries<'_, T> {
    fn inline_schema() -> bool {
        Vec::<T>::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        Vec::<T>::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Vec::<T>::json_schema(generator)
    }
}

/// Writes a document, with its format and version in front.
///
/// # Errors
/// When `out` cannot be written.
pub fn write<T: Document>(document: &T, out: impl Write) -> io::Result<()> {
    // Numbers are written in small pieces.
    let mut out = io::BufWriter::new(out);
    json::write(&Whole::new(document), &mut out)?;
    out.flush()
}

/// The format of a document: what readers need to know of it.
#[derive(Debug, Clone, Copy)]
pub struct DocumentFormat {
    /// Its name.
    pub name: &'static str,
    /// Its version.
    pub version: u32,
    /// Makes its schema.
    pub schema: fn() -> Schema,
}

impl DocumentFormat {
    /// Describes the documents that a type is written as.
    pub const fn new<T: Document + 'static>() -> Self {
        Self { name: T::FORMAT, version: T::VERSION, schema: schema::<T> }
    }
}

fn schema<T: Document + 'static>() -> Schema {
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let description = T::json_schema(&mut generator).get("description").cloned();
    let mut schema = generator.into_root_schema_for::<Whole<'static, T>>();
    schema.insert("title".to_owned(), T::FORMAT.into());
    description.and_then(|text| schema.insert("description".to_owned(), text));
    in_plain_words(&mut schema);
    schema
}

/// Takes the brackets of links to Rust's items, and the ends of lines of the source, out of
/// descriptions.
fn in_plain_words(schema: &mut Schema) {
    if let Some(serde_json::Value::String(text)) = schema.get_mut("description") {
        let paragraphs: Vec<_> = text.split("\n\n").map(|paragraph| paragraph.replace('\n', " ")).collect();
        *text = paragraphs.join("\n\n").replace("[`", "`").replace("`]", "`");
    }
    transform_subschemas(&mut in_plain_words, schema);
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// Sides of a shape.
    #[derive(Serialize, JsonSchema)]
    struct Sides {
        /// Lengths, one after the other, in the order in which they were drawn on the sheet by who
        /// drew them; see [`Shape`].
        lengths: Entries<'static, u32>,
    }

    /// A shape.
    #[derive(Serialize, JsonSchema)]
    struct Shape {
        #[serde(flatten)]
        sides: Sides,
        /// Its name, where it has one.
        name: Option<&'static str>,
    }

    impl Document for Shape {
        const FORMAT: &'static str = "flowmine-shape";
        const VERSION: u32 = 3;
    }

    #[test]
    fn a_document_begins_with_its_format_and_version() {
        let mut out = Vec::new();
        write(&Shape { sides: Sides { lengths: Entries::new(&[1, 2], |length| *length) }, name: None }, &mut out)
            .expect("a vector takes all");
        let text = String::from_utf8(out).expect("JSON is UTF-8");
        assert!(text.starts_with("{\n  \"format\": \"flowmine-shape\",\n  \"version\": 3,\n  \"lengths\""), "{text}");
    }

    #[test]
    fn a_schema_has_all_fields_with_their_descriptions() {
        let schema: Value = (DocumentFormat::new::<Shape>().schema)().to_value();
        assert_eq!(schema["title"], "flowmine-shape");
        assert_eq!(schema["description"], "A shape.");
        assert_eq!(schema["properties"]["version"]["const"], 3);
        assert_eq!(schema["properties"]["lengths"]["items"]["type"], "integer");
        assert_eq!(
            schema["properties"]["lengths"]["description"],
            "Lengths, one after the other, in the order in which they were drawn on the sheet by who drew them; see `Shape`."
        );
        assert_eq!(schema["properties"]["name"]["type"], json!(["string", "null"]));
        assert_eq!(schema["required"], json!(["format", "version", "lengths", "name"]));
    }
}

//! The parts of the documentation that are made from the registry: the tables of models, and the
//! schemas of their JSON.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use flowmine_discover::pictures::findings;
use flowmine_draw::json;
use serde_json::Value;

use crate::OTHER_DOCUMENTS;
use crate::format::Format;
use crate::models::{About, MODELS};
use crate::options::Choice;

fn models() -> impl Iterator<Item = &'static About> {
    MODELS.iter().map(|model| model.about())
}

/// The table of the index: each model with the question that it answers.
fn questions() -> String {
    let rows: String = models().map(|about| format!("| `{}` | {} |\n", about.name, about.question)).collect();
    format!("| model | answers |\n|---|---|\n{rows}")
}

/// The table of the reference: what each model is made of, its own options and its formats.
fn reference() -> String {
    let names = |formats: &[Format]| formats.iter().map(|format| format.name()).collect::<Vec<_>>().join(", ");
    let rows: String = models()
        .map(|about| {
            let mut options: Vec<String> = about.own.iter().map(|option| format!("`--{}`", option.name)).collect();
            options.extend(about.has_graph_options.then(|| "those of graphs".to_owned()));
            let schemas: Vec<_> = about.documents.iter().map(|of| format!("[{} {1}](schemas/{0}.json)", of.name, of.version)).collect();
            let (options, schemas) = (options.join(", "), schemas.join(", "));
            format!("| `{}` | {} | {options} | {} | {schemas} |\n", about.name, about.input.describe(), names(about.formats))
        })
        .collect();
    format!("| model | is made of | its own options | formats, the usual one first | schema of JSON |\n|---|---|---|---|---|\n{rows}")
}

/// The schemas of all JSON documents, by the names of their files.
fn schemas() -> BTreeMap<String, String> {
    let documents = models().flat_map(|about| about.documents).chain(OTHER_DOCUMENTS);
    documents
        .map(|document| {
            let mut schema = Vec::new();
            json::write(&(document.schema)(), &mut schema).expect("a vector takes all");
            (format!("{}.json", document.name), String::from_utf8(schema).expect("JSON is UTF-8"))
        })
        .collect()
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn is_updated() -> bool {
    std::env::var_os("FLOWMINE_UPDATE").is_some()
}

const STALE: &str = "is stale: run FLOWMINE_UPDATE=1 cargo test --release --workspace --lib docs_";

/// Compares the part of a page between two marks with what it should be, or writes it.
fn is_in_page(page: &str, table: &str) {
    is_part_of_page(page, "models", table);
}

/// Compares a whole file with what it should be, or writes it.
pub(crate) fn is_file(path: &str, now: &str) {
    let file = repository().join(path);
    if is_updated() {
        std::fs::write(&file, now).expect("the file can be written");
    }
    let then = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(then == now, "{path} {STALE}");
}

/// The same for the part of this name.
fn is_part_of_page(page: &str, part: &str, table: &str) {
    let begin = format!("<!-- {part}: begin, made from the registry (FLOWMINE_UPDATE=1) -->\n");
    let end = format!("<!-- {part}: end -->\n");
    let path = repository().join(page);
    let then = std::fs::read_to_string(&path).expect("the page is there");
    let (before, rest) = then.split_once(&begin).expect("the page has the mark where the table begins");
    let (_, after) = rest.split_once(&end).expect("the page has the mark where the table ends");
    let now = format!("{before}{begin}{table}{end}{after}");
    if is_updated() {
        std::fs::write(&path, now).expect("the page can be written");
        return;
    }
    assert!(then == now, "{page} {STALE}");
}

#[test]
fn docs_index_has_the_models() {
    is_in_page("docs/README.md", &questions());
}

#[test]
fn docs_models_md_has_the_models() {
    is_in_page("docs/models.md", &reference());
}

#[test]
fn docs_models_md_has_the_rules_and_thresholds_of_findings() {
    is_part_of_page("docs/models.md", "rules", &findings::rules_in_markdown());
    is_part_of_page("docs/models.md", "thresholds", &findings::thresholds_in_markdown());
}

#[test]
fn docs_schemas_are_those_of_the_types() {
    let directory = repository().join("docs/schemas");
    let schemas = schemas();
    if is_updated() {
        std::fs::create_dir_all(&directory).expect("the directory can be made");
        schemas.iter().for_each(|(name, text)| std::fs::write(directory.join(name), text).expect("a schema can be written"));
    }
    let files = std::fs::read_dir(directory).expect("the directory is there").map(|entry| entry.expect("it can be listed").path());
    let read = |path: PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        (name, std::fs::read_to_string(path).expect("a schema can be read"))
    };
    let written: BTreeMap<String, String> = files.map(read).collect();
    assert!(written.keys().eq(schemas.keys()), "docs/schemas has other files than the schemas of documents");
    let stale: Vec<_> = schemas.iter().filter(|(name, text)| written[*name] != **text).map(|(name, _)| name).collect();
    assert!(stale.is_empty(), "docs/schemas {stale:?} {STALE}");
}

#[test]
fn each_field_of_a_schema_is_described() {
    fn undescribed(place: &str, schema: &Value, missing: &mut Vec<String>) {
        for (name, of) in schema.as_object().into_iter().flatten() {
            let place = format!("{place}/{name}");
            if name == "properties" {
                let fields = of.as_object().into_iter().flatten().filter(|(_, field)| field.get("description").is_none());
                missing.extend(fields.map(|(field, _)| format!("{place}/{field}")));
            }
            undescribed(&place, of, missing);
        }
    }
    let mut missing = Vec::new();
    for (name, text) in schemas() {
        let schema = serde_json::from_str(&text).expect("a schema is JSON");
        undescribed(&name, &schema, &mut missing);
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

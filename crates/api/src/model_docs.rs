//! The tables of models in the documentation, made from the registry.

use std::path::{Path, PathBuf};

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
            format!("| `{}` | {} | {} | {} |\n", about.name, about.input.describe(), options.join(", "), names(about.formats))
        })
        .collect();
    format!("| model | is made of | its own options | formats, the usual one first |\n|---|---|---|---|\n{rows}")
}

/// Compares the part of a page between two marks with what it should be, or writes it.
fn is_in_page(page: &str, table: &str) {
    const BEGIN: &str = "<!-- models: begin, made from the registry (FLOWMINE_UPDATE=1) -->\n";
    const END: &str = "<!-- models: end -->\n";
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(page);
    let then = std::fs::read_to_string(&path).expect("the page is there");
    let (before, rest) = then.split_once(BEGIN).expect("the page has the mark where the table begins");
    let (_, after) = rest.split_once(END).expect("the page has the mark where the table ends");
    let now = format!("{before}{BEGIN}{table}{END}{after}");
    if std::env::var_os("FLOWMINE_UPDATE").is_some() {
        std::fs::write(&path, now).expect("the page can be written");
        return;
    }
    assert!(then == now, "{page} is stale: run FLOWMINE_UPDATE=1 cargo test --release --workspace --lib docs_");
}

#[test]
fn docs_index_has_the_models() {
    is_in_page("docs/README.md", &questions());
}

#[test]
fn docs_models_md_has_the_models() {
    is_in_page("docs/models.md", &reference());
}

//! Each file of a part that has a registry is in it: a file that is not would compile, or not even
//! be compiled, and be missing without a word.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The folder of the parts, the file with the registry and its name, and what a part is.
const REGISTRIES: &[(&str, &str, &str, Part)] = &[
    ("crates/api/src/models", "crates/api/src/models.rs", "MODELS", Part::Impl("Model")),
    ("crates/api/src/trace/backends", "crates/api/src/trace/backends.rs", "ALL", Part::Constant("BACKEND")),
    ("crates/attribution/src/rules", "crates/attribution/src/rules/mod.rs", "ALL", Part::Impl("Rule")),
    ("crates/correlate/src/cases", "crates/correlate/src/cases/mod.rs", "ALL", Part::Impl("CaseNotion")),
    ("crates/logs/src/task_log/notions", "crates/logs/src/task_log/notions/mod.rs", "ALL", Part::Impl("TaskNotion")),
    ("crates/sources/src/kinds", "crates/sources/src/kinds/mod.rs", "KINDS", Part::Constant("KIND")),
];

#[derive(Clone, Copy)]
enum Part {
    /// A type with an implementation of this trait.
    Impl(&'static str),
    /// A module with a constant of this name.
    Constant(&'static str),
}

/// The words of a registry, such as `Dependency` of `&Dependency`.
fn entries(source: &str, name: &str) -> BTreeSet<String> {
    let from = [format!("const {name}:"), format!("static {name}:")].iter().find_map(|start| source.find(start)).unwrap();
    let list = source[from..].split_once("= &[").unwrap().1.split_once("];").unwrap().0;
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    list.split(|c: char| !is_word(c)).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// The module of a file or folder, with its source.
fn modules(folder: &Path) -> Vec<(String, String)> {
    let mut modules = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let file = if path.is_dir() { path.join("mod.rs") } else { path };
        if stem != "mod" && file.extension().is_some_and(|ending| ending == "rs") && file.is_file() {
            modules.push((stem, fs::read_to_string(file).unwrap()));
        }
    }
    modules.sort();
    modules
}

/// The constants of this type, over all modules: they stand for it in the registry.
fn constants_of(of: &str, modules: &[(String, String)]) -> Vec<String> {
    let named = |line: &str| {
        let declared = line.strip_prefix("pub static ").or_else(|| line.strip_prefix("pub const "))?;
        let (name, rest) = declared.split_once(": ")?;
        rest.starts_with(&format!("{of} =")).then(|| name.to_owned())
    };
    modules.iter().flat_map(|(_, source)| source.lines().filter_map(named)).collect()
}

/// The words that must be in the registry for a module.
fn parts(part: Part, module: &str, source: &str) -> Vec<String> {
    match part {
        Part::Impl(of) => {
            let named = |line: &str| line.strip_prefix(&format!("impl {of} for "))?.split([' ', '<']).next().map(str::to_owned);
            source.lines().filter_map(named).collect()
        }
        Part::Constant(name) => {
            let is_declared = ["const", "static"].iter().any(|word| source.contains(&format!("pub {word} {name}: ")));
            is_declared.then(|| module.to_owned()).into_iter().collect()
        }
    }
}

#[test]
fn every_part_is_in_its_registry() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (folder, file, name, part) in REGISTRIES {
        let registry = fs::read_to_string(root.join(file)).unwrap();
        let known = entries(&registry, name);
        let mut found = 0;
        let modules = modules(&root.join(folder));
        for (module, source) in &modules {
            let is_declared = registry.lines().any(|line| line.ends_with(&format!("mod {module};")));
            assert!(is_declared, "{folder}: the file of {module} is no module of {file}");
            for part in parts(*part, module, source) {
                let constants = constants_of(&part, &modules);
                for entry in if constants.is_empty() { vec![part] } else { constants } {
                    found += 1;
                    assert!(known.contains(&entry), "{entry} ({folder}) is not in {name} of {file}");
                }
            }
        }
        assert!(found >= 3, "{folder}: {found} parts");
    }
}

/// Files of users are opened by `flowmine-files` alone (`clippy.toml`): no crate leaves it out.
#[test]
fn every_crate_denies_the_disallowed_methods() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut sources = vec![root.join("src/main.rs")];
    for entry in fs::read_dir(root.join("crates")).unwrap() {
        let entry = entry.unwrap();
        // It is compiled into tests only.
        if entry.file_name() != "test-support" {
            sources.push(entry.path().join("src/lib.rs"));
        }
    }
    assert!(sources.len() > 30);
    for source in sources {
        let text = fs::read_to_string(&source).unwrap();
        let is_held = text.lines().any(|line| line == "#![cfg_attr(not(test), deny(clippy::disallowed_methods))]");
        assert!(is_held, "{} does not deny clippy::disallowed_methods", source.display());
    }
}

/// What `CONTRIBUTING.md` lists for an engine, of an engine's type and its module.
fn needs_of_engine(of: &str, module: &str) -> Vec<(&'static str, String)> {
    let word = module.replace('_', "-");
    vec![
        ("crates/extract-workflow/src/lib.rs", format!("pub mod {module};")),
        ("crates/privacy/src/pseudonym/words.rs", word),
        ("crates/sources/src/kinds/mod.rs", format!("&{module}::KIND,")),
        (FUZZED, format!("use flowmine_extract_workflow::{module}::{of};")),
    ]
}

const FUZZED: &str = "fuzz/src/engines.rs";

#[test]
fn every_engine_has_its_parts() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap();
    let pages = read("docs/engines.md").to_lowercase();
    let headings: Vec<&str> = pages.lines().filter(|line| line.starts_with("## ")).collect();
    let mut found = 0;
    for (module, source) in modules(&root.join("crates/extract-workflow/src")) {
        for of in parts(Part::Impl("Engine"), &module, &source) {
            found += 1;
            for (path, word) in needs_of_engine(&of, &module) {
                assert!(read(path).contains(&word), "{of}: no {word:?} in {path}");
            }
            let is_heading = headings.iter().any(|heading| heading.contains(&module.replace('_', "-")));
            assert!(is_heading, "{of}: no section in docs/engines.md");
            assert!(root.join("crates/extract-workflow/tests/fixtures").join(&module).is_dir(), "{of}: no recorded files");
        }
    }
    assert!(found >= 10, "{found} engines");
}

#[test]
fn a_part_that_is_missing_is_found() {
    let known = entries("mod a;\npub static ALL: &[&dyn Rule] = &[&a::First,\n    &Gap::Last];\n", "ALL");
    assert!(known.contains("First") && known.contains("Gap") && !known.contains("Second"));
    let source = "pub struct Second;\nimpl Rule for Second {\n";
    assert_eq!(parts(Part::Impl("Rule"), "b", source), ["Second"]);
    let constants = [("c".to_owned(), "pub static THIRD: Second = Second {\npub const OTHER: Secondary = 1;\n".to_owned())];
    assert_eq!(constants_of("Second", &constants), ["THIRD"]);
    assert_eq!(parts(Part::Constant("KIND"), "b", "pub const KIND: Kind = Kind {"), ["b"]);
    assert!(parts(Part::Constant("KIND"), "b", "pub const OTHER: Kind").is_empty());
}

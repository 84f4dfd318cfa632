//! Names that a misspelt word may stand for.

use std::ffi::OsStr;
use std::path::Path;

use clap::Error;
use clap::error::ErrorKind;
use flowmine_api::models::MODELS;
use flowmine_files::Folder;
use flowmine_schema::text::visible;

/// Maximum number of names that are shown.
const SHOWN: usize = 5;

/// An error for a word that is not the name of a model.
pub fn no_model(word: &OsStr) -> Error {
    error("there is no model", word, models())
}

/// An error for a word that is neither the name of a model nor that of a file.
pub fn no_model_or_file(word: &OsStr) -> Error {
    let listed = Folder::open(Path::new(".")).and_then(|folder| folder.entries(usize::MAX)).unwrap_or_default();
    let files = listed.entries.into_iter().filter_map(|entry| entry.name.into_string().ok());
    error("there is neither a model nor a file", word, models().chain(files))
}

/// An error for a word that is the name of several models.
pub fn ambiguous(word: &str, names: &[&str]) -> Error {
    let names: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
    let text = format!("'{word}' names two models: {}\n\n`flowmine discover --help` describes them.\n", names.join(", "));
    Error::raw(ErrorKind::InvalidSubcommand, text)
}

fn models() -> impl Iterator<Item = String> {
    MODELS.iter().map(|model| model.about().name.to_owned())
}

fn error(what: &str, word: &OsStr, names: impl Iterator<Item = String>) -> Error {
    let word = word.to_string_lossy();
    let names: Vec<String> = similar(&word, names).iter().map(|name| format!("'{}'", visible(name))).collect();
    let similar = if names.is_empty() { String::new() } else { format!("; similar names: {}", names.join(", ")) };
    let text = format!("{what} '{}'{similar}\n\n`flowmine discover --help` lists the models.\n", visible(&word));
    Error::raw(ErrorKind::InvalidSubcommand, text)
}

/// The names to which a few edits lead, the most similar first. An edit inserts, removes or changes
/// a character, or swaps two; the extension of a name need not be given.
fn similar(word: &str, names: impl Iterator<Item = String>) -> Vec<String> {
    let distance = |name: &str| {
        let stem = Path::new(name).file_stem().and_then(OsStr::to_str).unwrap_or(name);
        strsim::osa_distance(word, name).min(strsim::osa_distance(word, stem))
    };
    let most = (word.chars().count() / 3).max(1);
    let mut found: Vec<(usize, String)> = names.map(|name| (distance(&name), name)).filter(|(edits, _)| *edits <= most).collect();
    found.sort();
    found.dedup();
    found.into_iter().take(SHOWN).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_edits_lead_to_similar_names() {
        let names = ["gantt", "log.csv", "logs", "lgo", "dag", "notes.txt"];
        let of = |word: &str| similar(word, names.iter().map(|name| (*name).to_owned()));
        assert_eq!(of("gant"), ["gantt"]);
        assert_eq!(of("logg"), ["log.csv", "logs"]);
        assert_eq!(of("log"), ["log.csv", "lgo", "logs"]);
        assert!(of("summary").is_empty());
    }
}

//! Earlier forms of a command line, translated before it is parsed.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use flowmine_api::models::{self, MODELS, renamed};

use super::discover::USUAL;
use super::similar;

/// Earlier name of the fork tree; in process mining it is the name of another model.
const AMBIGUOUS: &str = "process-tree";
/// Model that is an export now, with the format that it had by default.
const EXPORTED: (&str, &str) = ("spec", "makeflow");

/// Returns the words of a command line in their new form, and a note where an earlier form was
/// used: `discover --model X` is `discover X`, and a model with an earlier name has its present
/// one. `discover` without a model, and `discover PATH`, are those of the usual one.
///
/// # Errors
/// When a word is neither the name of a model nor that of a file, or names two models.
pub fn in_new_form(words: Vec<OsString>) -> Result<(Vec<OsString>, Option<String>), clap::Error> {
    if words.get(1).is_none_or(|command| command != "discover") {
        return Ok((words, None));
    }
    let (command, rest) = words.split_at(2);
    let mut kept = Vec::new();
    let mut model = None;
    let mut rest = rest.iter();
    while let Some(word) = rest.next() {
        if word == "--" {
            kept.push(word.clone());
            break;
        }
        let value = word.to_str().and_then(|word| word.strip_prefix("--model="));
        match value {
            Some(value) => model = Some(OsString::from(value)),
            None if word == "--model" => model = rest.next().cloned(),
            None => kept.push(word.clone()),
        }
    }
    kept.extend(rest.cloned());
    let is_by_option = model.is_some();
    if model.is_none() && kept.first().is_some_and(|first| is_earlier_name(first)) {
        model = Some(kept.remove(0));
    }
    let Some(model) = model else {
        let is_model = |word: &OsStr| MODELS.iter().any(|model| word == model.about().name);
        let asks_for_help = |word: &OsStr| word == "-h" || word == "--help";
        let usual = match kept.first() {
            Some(first) if is_model(first) || asks_for_help(first) => None,
            Some(first) if is_like_a_model(first) && !Path::new(first).exists() => return Err(similar::no_model_or_file(first)),
            _ => Some(OsString::from(USUAL)),
        };
        return Ok((command.iter().cloned().chain(usual).chain(kept).collect(), None));
    };
    if model == AMBIGUOUS {
        return Err(similar::ambiguous(AMBIGUOUS, &["fork-tree", "tree"]));
    }
    let used = if is_by_option { format!("--model {}", model.to_string_lossy()) } else { format!("discover {}", model.to_string_lossy()) };
    if model == EXPORTED.0 {
        return Ok((as_export(&command[0], kept), Some(format!("{used} is now `flowmine export --format makeflow|make|snakemake|slurm`"))));
    }
    let present = model.to_str().and_then(renamed).map_or(model, |(_, present)| OsString::from(present));
    if models::find(&present.to_string_lossy()).is_none() {
        return Err(similar::no_model(&present));
    }
    let note = format!("{used} is now `flowmine discover {}`", present.to_string_lossy());
    Ok((command.iter().cloned().chain([present]).chain(kept).collect(), Some(note)))
}

/// Whether a word is an earlier name of a model. Such a name counts before a file of that name, as
/// a present one does.
fn is_earlier_name(word: &OsStr) -> bool {
    word == AMBIGUOUS || word == EXPORTED.0 || word.to_str().is_some_and(|word| renamed(word).is_some())
}

/// Returns the export that has replaced the model `spec`.
fn as_export(program: &OsString, mut words: Vec<OsString>) -> Vec<OsString> {
    let has_format = words.iter().take_while(|word| *word != "--").any(|word| {
        word == "--format"
            || word == "-o"
            || word == "--output"
            || word.to_str().is_some_and(|word| word.starts_with("--format=") || word.starts_with("--output="))
    });
    if !has_format {
        words.splice(0..0, ["--format".into(), EXPORTED.1.into()]);
    }
    [program.clone(), "export".into()].into_iter().chain(words).collect()
}

/// Whether a word has only the characters of models' names.
fn is_like_a_model(word: &OsStr) -> bool {
    let bytes = word.as_encoded_bytes();
    bytes.first().is_some_and(u8::is_ascii_lowercase) && bytes.iter().all(|byte| byte.is_ascii_lowercase() || *byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translated(line: &str) -> (String, bool) {
        let (words, note) = in_new_form(line.split(' ').map(OsString::from).collect()).expect("the model is known");
        (words.join(OsStr::new(" ")).to_string_lossy().into_owned(), note.is_some())
    }

    #[test]
    fn what_is_neither_a_model_nor_a_file_is_an_error() {
        for (line, said) in [
            ("flowmine discover gant --dataset D", "error: there is neither a model nor a file 'gant'; similar names: 'gantt'\n"),
            ("flowmine discover cargo", "error: there is neither a model nor a file 'cargo'; similar names: 'Cargo.toml'\n"),
            ("flowmine discover bogus", "error: there is neither a model nor a file 'bogus'\n"),
            ("flowmine discover --model gant --dataset D", "error: there is no model 'gant'; similar names: 'gantt'\n"),
            ("flowmine discover --model cargo", "error: there is no model 'cargo'\n"),
            ("flowmine discover process-tree D", "error: 'process-tree' names two models: 'fork-tree', 'tree'\n"),
            ("flowmine discover --model process-tree D", "error: 'process-tree' names two models: 'fork-tree', 'tree'\n"),
        ] {
            let error = in_new_form(line.split(' ').map(OsString::from).collect()).expect_err(line).to_string();
            assert!(error.starts_with(said), "{line}: {error}");
        }
    }

    #[test]
    fn models_by_option_and_none() {
        for (old, new, is_noted) in [
            ("flowmine discover --dataset D", "flowmine discover dfg --dataset D", false),
            ("flowmine discover", "flowmine discover dfg", false),
            ("flowmine discover --dataset D --model dag -o x", "flowmine discover dag --dataset D -o x", true),
            ("flowmine discover --model=dag --dataset D", "flowmine discover dag --dataset D", true),
            ("flowmine discover --model", "flowmine discover dfg", false),
            ("flowmine discover dag --dataset D", "flowmine discover dag --dataset D", false),
            ("flowmine discover --help", "flowmine discover --help", false),
            ("flowmine discover profile D", "flowmine discover io-profile D", true),
            ("flowmine discover io-profile D", "flowmine discover io-profile D", false),
            ("flowmine discover D --model access-share", "flowmine discover file-span D", true),
            ("flowmine discover accesses --file x D", "flowmine discover file-timeline --file x D", true),
            ("flowmine discover check D", "flowmine discover dependency-audit D", true),
            ("flowmine discover spec D", "flowmine export --format makeflow D", true),
            ("flowmine discover spec --format slurm D", "flowmine export --format slurm D", true),
            ("flowmine discover spec D -o x.smk", "flowmine export D -o x.smk", true),
            ("flowmine discover --model=spec D --format=make", "flowmine export D --format=make", true),
            ("flowmine discover .nextflow.log", "flowmine discover dfg .nextflow.log", false),
            ("flowmine discover ./dag", "flowmine discover dfg ./dag", false),
            ("flowmine discover - -o x", "flowmine discover dfg - -o x", false),
            ("flowmine discover absent.csv b.csv", "flowmine discover dfg absent.csv b.csv", false),
            ("flowmine discover dag data", "flowmine discover dag data", false),
            ("flowmine discover bottlenecks data", "flowmine discover findings data", true),
            ("flowmine discover data --model bottlenecks", "flowmine discover findings data", true),
            ("flowmine discover ./bottlenecks", "flowmine discover dfg ./bottlenecks", false),
            ("flowmine discover data --model dag", "flowmine discover dag data", true),
            ("flowmine discover src", "flowmine discover dfg src", false),
            ("flowmine discover --dataset D -- --model dag", "flowmine discover dfg --dataset D -- --model dag", false),
            ("flowmine predict --model x", "flowmine predict --model x", false),
        ] {
            assert_eq!(translated(old), (new.to_owned(), is_noted), "{old}");
        }
    }
}

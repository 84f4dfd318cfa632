//! Earlier forms of a command line, translated before it is parsed.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use flowmine_api::models::{MODELS, renamed};

use super::discover::USUAL;
use super::similar;

/// Returns the words of a command line in their new form, and a note where an earlier form was
/// used: `discover --model X` is `discover X`, and a model that was renamed has its present name.
/// `discover` without a model, and `discover PATH`, are those of the usual one.
///
/// # Errors
/// When a word is neither the name of a model nor that of a file.
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
    let named = model.as_deref().map(OsStr::to_string_lossy);
    let mut notes: Vec<String> = named.iter().map(|model| format!("--model {model} is now `flowmine discover {model}`")).collect();
    if let Some((old, new)) = model.as_deref().or(kept.first().map(OsString::as_os_str)).and_then(OsStr::to_str).and_then(renamed) {
        notes.push(format!("the model {old} is now `flowmine discover {new}`"));
        match &mut model {
            Some(model) => *model = new.into(),
            None => kept[0] = new.into(),
        }
    }
    let note = (!notes.is_empty()).then(|| notes.join("; "));
    let is_model = |word: &OsStr| MODELS.iter().any(|model| word == model.about().name);
    let asks_for_help = |word: &OsStr| word == "-h" || word == "--help";
    if let Some(unknown) = model.as_deref().filter(|model| !is_model(model)) {
        return Err(similar::no_model(unknown));
    }
    let model = match kept.first() {
        _ if model.is_some() => model,
        Some(first) if is_model(first) || asks_for_help(first) => None,
        Some(first) if is_like_a_model(first) && !Path::new(first).exists() => return Err(similar::no_model_or_file(first)),
        _ => Some(USUAL.into()),
    };
    Ok((command.iter().cloned().chain(model).chain(kept).collect(), note))
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

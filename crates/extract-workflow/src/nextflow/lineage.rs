//! The record of a task in Nextflow's lineage store (`lineage.enabled`, since 25.04), a directory
//! `.lineage/HASH`.
//!
//! | file | contents |
//! |---|---|
//! | `HASH/.data.json` | `TaskRun`: name, script, container, inputs |
//! | `HASH/OUTPUT/.data.json` | `FileOutput`: path and size of an output |
//! | `RUN/.data.json` | `WorkflowRun`: name of the run |
//!
//! An input that a task made is `lid://HASH/OUTPUT`. The store has no times and no outcome.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::names::process_and_tag;
use crate::{Row, input, json as bounded};

/// Name of a store's directory.
pub const STORE: &str = ".lineage";
const RECORD: &str = ".data.json";
const SCHEME: &str = "lid://";
/// Length of a hash.
const HASH: usize = 32;
/// Maximum depth of an output below the directory of its task.
const DEEPEST: usize = 32;

/// Whether a directory of a store is the record of a task, or a damaged record.
pub fn is_one(dir: &Path) -> bool {
    let is_hash = dir.file_name().and_then(|name| name.to_str()).is_some_and(is_hash);
    is_hash && !matches!(record(dir, "TaskRun"), Ok(None))
}

/// Returns the records of a task and of its outputs.
///
/// # Errors
/// When the directory cannot be read.
pub fn parts(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let (mut found, mut open) = (Vec::new(), vec![(dir.to_owned(), 0)]);
    while let Some((inside, depth)) = open.pop() {
        for entry in input::entries(&inside)? {
            if entry.is_dir() && depth < DEEPEST {
                open.push((entry.path, depth + 1));
            } else if entry.is_file() && entry.name == RECORD {
                found.push(entry.path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Reads the record of a task, with its hash in the form of a work directory.
///
/// # Errors
/// When a file cannot be read, or the record is none of a task.
pub fn read(dir: &Path) -> io::Result<(Row, String)> {
    let bad = |message: &str| io::Error::new(io::ErrorKind::InvalidData, format!("{RECORD}: {message}"));
    let hash =
        dir.file_name().and_then(|name| name.to_str()).filter(|name| is_hash(name)).ok_or_else(|| bad("its directory is no hash"))?;
    let (short, rest) = hash.split_at(2);
    let hash = format!("{short}/{rest}");
    let task = record(dir, "TaskRun")?.ok_or_else(|| bad("it is no record of a task"))?;
    let store = dir.parent().unwrap_or(dir);
    let name = task["name"].as_str().unwrap_or_default();
    let (process, tag) = process_and_tag(name);
    let text = |value: &Value| value.as_str().map(|text| text.to_owned().into());
    let outputs = outputs(dir)?;
    let run = task["workflowRun"].as_str().and_then(|lid| lid.strip_prefix(SCHEME)).filter(|run| is_hash(run));
    let run = run.map(|run| record(&store.join(run), "WorkflowRun")).transpose()?.flatten();
    let mut inputs = Vec::new();
    for parameter in task["input"].as_array().into_iter().flatten() {
        let is_path = parameter["type"].as_str().is_some_and(|kind| kind.eq_ignore_ascii_case("path"));
        collect_paths(&parameter["value"], is_path, &mut inputs);
    }
    // The link says which task made an input, wherever the file is.
    let mut makers = BTreeSet::new();
    for (lid, hash) in inputs.iter().filter_map(|path| maker(path)) {
        // A run of a workflow publishes files that one of its tasks made.
        if record(&store.join(lid), "WorkflowRun")?.is_none() {
            makers.insert(hash);
        }
    }
    let inputs = inputs.into_iter().map(|path| real(store, path)).collect::<io::Result<Vec<_>>>()?;
    let row = Row {
        engine: super::NAME.into(),
        run_id: text(&task["sessionId"]),
        run_name: run.as_ref().and_then(|run| text(&run["name"])),
        name: name.to_owned().into(),
        logical_task: process.to_owned().into(),
        tag: tag.map(|tag| tag.to_owned().into()),
        cache_key: Some(super::names::shown(&hash).to_owned().into()),
        work_dir: outputs.iter().find_map(|(path, _)| work_dir_of(path, &hash)).map(Into::into),
        status: "unknown".into(),
        command: task["script"].as_str().map(|script| script.trim_end().to_owned().into()),
        container_image: text(&task["container"]),
        // The ids of the makers, and further parents, are determined when all rows are known (`parents.rs`).
        parents: Some(json!(makers).to_string().into()),
        inputs: Some(json!(inputs).to_string().into()),
        outputs: (!outputs.is_empty()).then(|| json!(outputs.into_iter().map(|(_, file)| file).collect::<Vec<_>>()).to_string().into()),
        ..Row::default()
    };
    Ok((row, hash))
}

/// Returns an input `lid://HASH/OUTPUT` as a path relative to the work directory of all tasks.
pub fn relative(path: &str) -> Option<String> {
    let (hash, rest) = path.strip_prefix(SCHEME)?.split_at_checked(HASH)?;
    is_hash(hash).then(|| format!("{}/{}{rest}", &hash[..2], &hash[2..]))
}

/// Returns the hash of the task that made an input `lid://HASH/OUTPUT`, as in the store and in the
/// form of a work directory.
fn maker(path: &str) -> Option<(&str, String)> {
    let hash = path.strip_prefix(SCHEME)?.get(..HASH)?;
    is_hash(hash).then(|| (hash, format!("{}/{}", &hash[..2], &hash[2..])))
}

fn is_hash(text: &str) -> bool {
    text.len() == HASH && text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'a'..=b'f'))
}

/// Returns the content of a record of this kind; `None` if there is none.
fn record(dir: &Path, kind: &str) -> io::Result<Option<Value>> {
    let Some(text) = input::small(&dir.join(RECORD))? else { return Ok(None) };
    let mut record = bounded::from_str(&text).map_err(io::Error::from)?;
    // Until 25.10 the kind was `type`, next to the content.
    let is_kind = record["kind"].as_str().or(record["type"].as_str()) == Some(kind);
    Ok(is_kind.then(|| if record["spec"].is_object() { record["spec"].take() } else { record }))
}

/// Returns the outputs of a task by path.
fn outputs(dir: &Path) -> io::Result<Vec<(String, Value)>> {
    let mut outputs = Vec::new();
    for part in parts(dir)? {
        let Some(output) = part.parent().filter(|output| *output != dir) else { continue };
        let Some(file) = record(output, "FileOutput")? else { continue };
        if let Some(path) = file["path"].as_str() {
            let entry = match file["size"].as_i64().filter(|size| *size >= 0) {
                Some(bytes) => json!({ "path": path, "bytes": bytes }),
                None => json!({ "path": path }),
            };
            outputs.push((path.to_owned(), entry));
        }
    }
    outputs.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(outputs)
}

/// Returns the beginning of a path that ends with the hash of the task.
fn work_dir_of(path: &str, hash: &str) -> Option<String> {
    let at = path.find(&format!("/{hash}/"))?;
    Some(path[..=at + hash.len()].to_owned())
}

/// Collects the paths of a value: links to outputs, objects with a path, and texts of a parameter
/// for paths.
fn collect_paths<'j>(value: &'j Value, is_path: bool, paths: &mut Vec<&'j str>) {
    match value {
        Value::String(text) if is_path || text.starts_with(SCHEME) => paths.push(text),
        Value::Array(several) => several.iter().for_each(|value| collect_paths(value, is_path, paths)),
        Value::Object(file) => paths.extend(file.get("path").and_then(Value::as_str).filter(|_| is_path)),
        _ => {}
    }
}

/// Returns the file behind a link, by the record of the output or of a directory above it. A link
/// to a record that the store lacks stays as it is.
fn real(store: &Path, path: &str) -> io::Result<Value> {
    let target = path.strip_prefix(SCHEME).filter(|target| !target.split('/').any(|step| step.is_empty() || step == ".." || step == "."));
    let mut output = target.filter(|target| target.get(..HASH).is_some_and(is_hash));
    while let Some(known) = output.filter(|output| output.len() > HASH) {
        if let Some(file) = record(&store.join(known), "FileOutput")?
            && let Some(real) = file["path"].as_str()
        {
            let below = target.and_then(|target| target.get(known.len()..)).unwrap_or_default();
            let bytes = file["size"].as_i64().filter(|size| *size >= 0 && below.is_empty());
            let path = format!("{real}{below}");
            return Ok(bytes.map_or_else(|| json!({ "path": path }), |bytes| json!({ "path": path, "bytes": bytes })));
        }
        output = known.rsplit_once('/').map(|(above, _)| above);
    }
    Ok(json!({ "path": path }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_links_and_work_directories() {
        let hash = "862df53160e07cd823c0c3960545e747";
        assert_eq!(relative(&format!("lid://{hash}/a/b")), Some("86/2df53160e07cd823c0c3960545e747/a/b".to_owned()));
        assert_eq!((relative("lid://86/a"), relative("/work/x")), (None, None));
        let path = "/work/86/2df53160e07cd823c0c3960545e747/a/b";
        assert_eq!(work_dir_of(path, "86/2df53160e07cd823c0c3960545e747").as_deref(), Some("/work/86/2df53160e07cd823c0c3960545e747"));
        assert_eq!(work_dir_of("/store/b", "86/2df53160e07cd823c0c3960545e747"), None);
    }
}

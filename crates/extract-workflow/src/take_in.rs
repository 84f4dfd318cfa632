//! Files of workflow engines into a dataset: what `flowmine import nextflow` and its like do.
//!
//! In go paths; each is recognised by its content, read together with the others by the engine's module, and what they tell becomes rows of
//! `task_runs`. What was imported before is skipped: a file with the same bytes, a
//! directory with the same bytes and name. Rows and the list of imported sources change in one transaction.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flowmine_schema::dataset::{Import, Role};
use flowmine_schema::diagnostic::{Diagnostic, Diagnostics};
use flowmine_schema::tables::{DiagnosticRow, TaskRun};
use flowmine_schema::{Builder, Dataset, DatasetError};
use sha2::{Digest, Sha256};

use crate::{Engine, Options, Source, input};

/// Why nothing could be imported.
#[derive(Debug, thiserror::Error)]
pub enum TakeInError {
    /// The dataset could not be read or written.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
}

/// What became of the sources.
#[derive(Debug, Default)]
pub struct Report {
    /// Those that were read, and those that could not be recognised or read (their `kind` is then empty).
    pub sources: Vec<Source>,
    /// How many had been imported before.
    pub already_there: u64,
    /// How many files of directories are nothing that the engine reads.
    pub passed_over: u64,
    /// Rows by status, sorted.
    pub statuses: BTreeMap<String, u64>,
}

impl Report {
    /// How many rows were written.
    pub fn rows(&self) -> u64 {
        self.statuses.values().sum()
    }

    /// How many inputs or lines were rejected.
    pub fn errors(&self) -> u64 {
        self.sources.iter().map(|source| source.diagnostics.errors()).sum()
    }
}

/// Imports files, and what lies in directories.
///
/// # Errors
/// When the dataset cannot be written. What is wrong with a file stands in the report.
pub fn take_in(dataset: &Dataset, engine: &dyn Engine, paths: &[PathBuf], options: &Options) -> Result<Report, TakeInError> {
    let mut writer = dataset.writer(Role::Raw, &format!("import, process {}", std::process::id()))?;
    let before = dataset.manifest()?.imports;
    let mut known: HashSet<String> = before.iter().flat_map(|import| [import.sha256.clone(), key_of_dir(import)]).collect();
    let mut report = Report::default();
    let mut imports = BTreeMap::new();
    for (path, named) in find(engine, paths, &mut report) {
        match look_at(engine, &path) {
            Ok(Some((kind, import))) => {
                // Logs are renamed when the next run begins, so that a file's name does not count. Attempts at a task can be alike to the byte.
                if known.insert(if path.is_dir() { key_of_dir(&import) } else { import.sha256.clone() }) {
                    imports.insert(path.clone(), import.clone());
                    report.sources.push(Source { path, name: import.name, kind, rows: 0, diagnostics: Diagnostics::default() });
                } else {
                    report.already_there += 1;
                }
            }
            Ok(None) if !named => report.passed_over += 1,
            Ok(None) => {
                let message = format!("this is nothing that import {} reads", engine.name());
                refuse(&mut report, &path, Diagnostic::error("file_not_recognised", message));
            }
            Err(e) => refuse(&mut report, &path, Diagnostic::error("file_unreadable", e.to_string())),
        }
    }
    let rows = engine.read(&mut report.sources, options);
    let mut builder: Builder<TaskRun<'static>> = Builder::with_capacity(rows.len());
    for row in &rows {
        builder.push(row);
        *report.statuses.entry(row.status.to_string()).or_default() += 1;
    }
    let mut diagnostics: Builder<DiagnosticRow<'static>> = Builder::new();
    for source in &report.sources {
        source.diagnostics.append_to(&mut diagnostics, &source.name, None);
    }
    // What could not be read is tried again when it is given again.
    report.sources.iter().filter(|source| source.kind.is_empty()).for_each(|source| drop(imports.remove(&source.path)));
    if !imports.is_empty() || !diagnostics.is_empty() {
        let mut transaction = writer.begin()?;
        transaction.append(builder)?;
        transaction.append(diagnostics)?;
        transaction.update_manifest(|manifest| manifest.imports.extend(imports.into_values()))?;
        transaction.commit()?;
        writer.merge_small_files::<TaskRun<'static>>()?;
        writer.merge_small_files::<DiagnosticRow<'static>>()?;
    }
    Ok(report)
}

fn key_of_dir(import: &Import) -> String {
    format!("{} {}", import.sha256, import.name)
}

fn refuse(report: &mut Report, path: &Path, diagnostic: Diagnostic) {
    let mut diagnostics = Diagnostics::default();
    diagnostics.push(diagnostic);
    report.sources.push(Source { path: path.to_owned(), name: name_of(path), kind: "", rows: 0, diagnostics });
}

/// The sources, sorted, each with whether it was named by the user.
fn find(engine: &dyn Engine, paths: &[PathBuf], report: &mut Report) -> Vec<(PathBuf, bool)> {
    let mut found = Vec::new();
    for path in paths {
        if !path.is_dir() || engine.recognise(path, &[]).is_some() {
            found.push((path.clone(), true));
            continue;
        }
        match engine.find(path) {
            Ok(inside) => found.extend(inside.into_iter().map(|path| (path, false))),
            Err(e) => refuse(report, path, Diagnostic::error("file_unreadable", e.to_string())),
        }
    }
    found.sort();
    found.dedup_by(|a, b| a.0 == b.0);
    found
}

/// Only the name is kept in the dataset: where it lay is nobody's business.
fn name_of(path: &Path) -> String {
    path.file_name().map(|name| flowmine_schema::text::decode(name.as_encoded_bytes()).into_owned()).unwrap_or_default()
}

/// What a source is, and what it will be known by.
fn look_at(engine: &dyn Engine, path: &Path) -> io::Result<Option<(&'static str, Import)>> {
    if path.is_dir() {
        let Some(kind) = engine.recognise(path, &[]) else { return Ok(None) };
        // A work directory's own name is half a hash: the other half is the name of the one above.
        let above = path.parent().map(name_of).unwrap_or_default();
        return Ok(Some((kind, Import { name: format!("{above}/{}", name_of(path)), sha256: sha256_of_dir(engine, path)? })));
    }
    let Some(kind) = engine.recognise(path, &input::head(path)?) else { return Ok(None) };
    let mut hash = Sha256::new();
    add(&mut hash, path)?;
    if let Some(beside) = engine.beside(path) {
        add(&mut hash, &beside)?;
    }
    Ok(Some((kind, Import { name: name_of(path), sha256: hex(hash) })))
}

/// Of the engine's own files in a directory.
fn sha256_of_dir(engine: &dyn Engine, dir: &Path) -> io::Result<String> {
    let mut files = engine.parts(dir)?;
    files.sort();
    let mut hash = Sha256::new();
    for file in &files {
        hash.update(file.strip_prefix(dir).unwrap_or(file).as_os_str().as_encoded_bytes());
        hash.update([0]);
        hash.update(fs::metadata(file)?.len().to_le_bytes());
        add(&mut hash, file)?;
    }
    Ok(hex(hash))
}

fn add(hash: &mut Sha256, path: &Path) -> io::Result<()> {
    let mut file = File::open(path)?;
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(()),
            read => hash.update(&buffer[..read]),
        }
    }
}

fn hex(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

//! Imports files of workflow engines into a dataset, as `flowmine import nextflow` and the other
//! import commands do.
//!
//! The input is paths. The content of each file determines its kind; the engine's module reads all
//! files together and returns rows of `task_runs`. Sources that were imported before are skipped. A
//! file that has grown since is read again together with the sources of the same import, and their
//! rows replace the earlier ones. Rows and the list of imported sources change in one transaction.

mod known;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use flowmine_dataset::{Builder, Dataset, DatasetError, Import, Role, Transaction};
use flowmine_schema::diagnostic::{Diagnostic, Diagnostics};
use flowmine_schema::tables::{DiagnosticRow, TaskRun};

use self::known::{Given, Is, Known, batch_of, name_of};
use crate::{Engine, Options, Row, Source};

flowmine_schema::columns! {
    /// The source of a task.
    struct SourceOfTask of TaskRun { source_sha256 }
}

flowmine_schema::columns! {
    /// The source to which a diagnostic belongs, by its SHA-256.
    struct SourceOfDiagnostic of DiagnosticRow { input_sha256 }
}

/// Reason why nothing could be imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportFilesError {
    /// The dataset could not be read or written.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
}

/// Sources that were read, and the results of the import.
#[derive(Debug, Default)]
pub struct Report {
    /// Sources that were read, and those that could not be recognised or read (with an empty
    /// `kind`).
    pub sources: Vec<Source>,
    /// Number of sources that had been imported before.
    pub already_there: u64,
    /// Number of sources that had been imported before and have grown since, so that their rows
    /// were replaced.
    pub grown: u64,
    /// Number of files in the given directories that the engine does not read, or that are not
    /// regular files: links are not followed.
    pub passed_over: u64,
    /// Folders of the directories that contain nothing to import, sorted. Hidden ones are not
    /// listed.
    pub folders_not_read: Vec<PathBuf>,
    /// Number of rows by their status, sorted by status.
    pub statuses: BTreeMap<String, u64>,
}

impl Report {
    /// Returns the number of rows written.
    pub fn rows(&self) -> u64 {
        self.statuses.values().sum()
    }

    /// Returns the number of inputs or lines that were rejected.
    pub fn errors(&self) -> u64 {
        self.sources.iter().map(|source| source.diagnostics.errors()).sum()
    }
}

/// Imports files, and the files found in directories.
///
/// # Errors
/// When the dataset cannot be written. Errors in a file are in the report.
pub fn import_files(dataset: &Dataset, engine: &dyn Engine, paths: &[PathBuf], options: &Options) -> Result<Report, ImportFilesError> {
    let mut writer = dataset.writer(Role::Raw, &format!("import, process {}", std::process::id()))?;
    let known = Known::new(dataset.manifest()?.imports);
    let mut report = Report::default();
    // Whose directory it is may change it meanwhile.
    let _within = flowmine_files::within(paths);
    let given = look(engine, paths, &known, &mut report);
    let Chosen { read, again, mut replaced } = choose(dataset, &known, given, &mut report)?;
    report.sources.extend(read.iter().map(|(given, _)| Source {
        path: given.path.clone(),
        name: given.import.name.clone(),
        kind: given.kind,
        sha256: given.import.sha256.clone(),
        rows: 0,
        joined: 0,
        diagnostics: Diagnostics::default(),
    }));
    let mut rows = engine.read(&mut report.sources, options);
    leave_out_itself(&mut rows, &mut report.sources);
    // A source that could not be read is tried again when it is given again.
    let refused: HashSet<&Path> =
        report.sources.iter().filter(|source| source.kind.is_empty()).map(|source| source.path.as_path()).collect();
    let told: HashMap<&Path, u64> = report.sources.iter().map(|source| (source.path.as_path(), source.rows + source.joined)).collect();
    let mut imports = signed(&known, read.into_iter().filter(|(given, _)| !refused.contains(given.path.as_path())).collect(), &told);
    if again.iter().any(|path| refused.contains(path.as_path())) {
        // The rows that others were joined with would be missing.
        (rows, imports, replaced, report.grown) = (Vec::new(), Vec::new(), HashSet::new(), 0);
    }
    let mut builder: Builder<TaskRun<'static>> = Builder::with_capacity(rows.len());
    for row in &rows {
        builder.push(row);
        *report.statuses.entry(row.status.to_string()).or_default() += 1;
    }
    let mut diagnostics: Builder<DiagnosticRow<'static>> = Builder::new();
    for source in &report.sources {
        let input_sha256 = Some(source.sha256.as_str()).filter(|sha256| !sha256.is_empty());
        let rows = source.diagnostics.iter().map(|diagnostic| diagnostic.row(&source.name));
        rows.for_each(|row| diagnostics.push(&DiagnosticRow { input_sha256: input_sha256.map(Into::into), ..row }));
    }
    if !rows.is_empty() || !imports.is_empty() || !diagnostics.is_empty() || !replaced.is_empty() {
        let mut transaction = writer.begin()?;
        // The diagnostics of a source that was refused again or has grown replace its earlier ones.
        let read = report.sources.iter().map(|source| source.sha256.clone()).filter(|sha256| !sha256.is_empty());
        let said_again: HashSet<String> = replaced.iter().cloned().chain(read).collect();
        forget(dataset, &mut transaction, &replaced, &said_again)?;
        transaction.append(builder)?;
        transaction.append(diagnostics)?;
        transaction.update_manifest(|manifest| manifest.imports.extend(imports))?;
        transaction.commit()?;
        writer.merge_small_files::<TaskRun<'static>>()?;
        writer.merge_small_files::<DiagnosticRow<'static>>()?;
    }
    Ok(report)
}

/// Removes tasks from their own lists of parents, with one diagnostic for each task: a task cannot
/// wait for its own end, whatever the engine reports.
fn leave_out_itself(rows: &mut [Row], sources: &mut [Source]) {
    let by_name: HashMap<(String, String), usize> =
        sources.iter().enumerate().map(|(at, source)| ((source.name.clone(), source.sha256.clone()), at)).collect();
    let mut said = HashSet::new();
    for row in rows {
        let (Some(id), Some(parents)) = (row.task_id.as_deref(), row.parents.as_deref()) else { continue };
        // Most lists need not be parsed.
        if !parents.contains(&serde_json::json!(id).to_string()) {
            continue;
        }
        let Ok(mut list) = serde_json::from_str::<Vec<String>>(parents) else { continue };
        let before = list.len();
        list.retain(|parent| parent != id);
        if list.len() == before {
            continue;
        }
        let source = by_name.get(&(row.source.to_string(), row.source_sha256.as_deref().unwrap_or_default().to_owned()));
        if let Some(at) = source
            && said.insert((row.run_id.clone(), row.run_name.clone(), id.to_owned()))
        {
            let message = format!("task {id:?} names itself as its parent, which is left out");
            let diagnostic = Diagnostic::warning("parent_is_itself", message);
            sources[*at].diagnostics.push(row.line.map_or(diagnostic.clone(), |line| diagnostic.at(line as u64, None)));
        }
        row.parents = Some(serde_json::json!(list).to_string().into());
    }
}

/// Removes the rows of earlier imports, and the diagnostics of inputs.
fn forget(
    dataset: &Dataset,
    transaction: &mut Transaction<'_>,
    rows: &HashSet<String>,
    with_diagnostics: &HashSet<String>,
) -> Result<(), DatasetError> {
    let stays = |sha256: Option<&str>, gone: &HashSet<String>| sha256.is_none_or(|sha256| !gone.contains(sha256));
    for leaf in dataset.leaves::<TaskRun<'static>>()?.iter().filter(|_| !rows.is_empty()) {
        transaction.retain::<SourceOfTask<'static>>(leaf, |row| stays(row.source_sha256.as_deref(), rows))?;
    }
    for leaf in dataset.leaves::<DiagnosticRow<'static>>()?.iter().filter(|_| !with_diagnostics.is_empty()) {
        transaction.retain::<SourceOfDiagnostic<'static>>(leaf, |row| stays(row.input_sha256.as_deref(), with_diagnostics))?;
    }
    Ok(())
}

/// Returns the imports that are new or changed, each with the number of its rows and with its
/// batch.
fn signed(known: &Known, read: Vec<(Given, Is)>, told: &HashMap<&Path, u64>) -> Vec<Import> {
    let before = |is: Is| match is {
        Is::New => None,
        Is::There(at) | Is::Grown(at) => Some(&known.imports[at]),
    };
    let mut batches: BTreeMap<usize, String> = BTreeMap::new();
    for (given, is) in &read {
        // A batch that is read again keeps its identifier, so that its unchanged sources stay in
        // it.
        if let Some(batch) = before(*is).filter(|import| import.rows.is_some_and(|rows| rows > 0)).and_then(|import| import.batch.clone()) {
            batches.entry(given.group).or_insert(batch);
        }
    }
    let mut groups: BTreeMap<usize, Vec<&Given>> = BTreeMap::new();
    read.iter().for_each(|(given, _)| groups.entry(given.group).or_default().push(given));
    for (group, of_group) in groups {
        batches.entry(group).or_insert_with(|| batch_of(of_group.into_iter()));
    }
    let sign = |given: Given| {
        let rows = told.get(given.path.as_path()).copied();
        Import { rows, batch: batches.get(&given.group).cloned(), ..given.import }
    };
    let all = read.into_iter().map(|(given, is)| (before(is), sign(given)));
    all.filter(|(before, now)| *before != Some(now)).map(|(_, now)| now).collect()
}

/// The sources to read, and the earlier imports to replace.
#[derive(Default)]
struct Chosen {
    read: Vec<(Given, Is)>,
    /// Paths of the sources that were imported before.
    again: Vec<PathBuf>,
    /// SHA-256 of each import with rows to be replaced.
    replaced: HashSet<String>,
}

/// Selects the new sources and those that have grown, the latter together with the rest of their
/// batch, since the rows of a batch depend on each other.
fn choose(dataset: &Dataset, known: &Known, given: Vec<Given>, report: &mut Report) -> Result<Chosen, DatasetError> {
    let mut given: Vec<(Given, Is)> = given.into_iter().map(|given| (known.what(&given), given)).map(|(is, given)| (given, is)).collect();
    for at in 0..given.len() {
        if let Is::Grown(was) = given[at].1
            && !is_surely(known, was, at, &given)
        {
            given[at].1 = Is::New;
        }
    }
    let grown: Vec<usize> = given.iter().filter_map(|(_, is)| if let Is::Grown(was) = is { Some(*was) } else { None }).collect();
    // A source without tasks can be the same in many directories, so its batch proves nothing.
    let (tells, mute): (Vec<usize>, Vec<usize>) = beside_new(known, &given).into_iter().partition(|at| known.tells(*at));
    let batches = known.batches(grown.into_iter().chain(tells));
    let with_rows = if batches.is_empty() { HashSet::new() } else { with_rows(dataset)? };
    let mut chosen = Chosen { replaced: mute.iter().map(|at| known.imports[*at].sha256.clone()).collect(), ..Chosen::default() };
    let now = Now::new(known, &given);
    for members in batches.values() {
        let grown: HashSet<usize> = members.iter().copied().filter(|at| now.grown.contains(at)).collect();
        let of_batch = |is: &Is| matches!(is, Is::Grown(was) if grown.contains(was));
        if let Some(missing) = missing(known, members, &now, &with_rows) {
            let name = &known.imports[missing].name;
            let message = format!("it has grown since it was imported together with {name}, which has the same tasks and is not given now");
            let diagnostic = Diagnostic::error("source_missing", message).advise("import both again, or into another dataset");
            for (refused, _) in given.iter().filter(|(_, is)| of_batch(is)) {
                refuse(report, &refused.path, diagnostic.clone());
            }
            given.retain(|(_, is)| !of_batch(is));
            continue;
        }
        for at in members.iter().filter(|at| now.has(&known.imports[**at])) {
            chosen.replaced.insert(known.imports[*at].sha256.clone());
        }
    }
    for (given, is) in given {
        match is {
            Is::There(at) if !chosen.replaced.contains(&known.imports[at].sha256) => report.already_there += 1,
            is => {
                report.grown += u64::from(matches!(is, Is::Grown(_)));
                chosen.again.extend((is != Is::New).then(|| given.path.clone()));
                chosen.read.push((given, is));
            }
        }
    }
    Ok(chosen)
}

/// Returns the imports that were found next to a new source of another kind, which can describe the
/// same tasks.
fn beside_new(known: &Known, given: &[(Given, Is)]) -> Vec<usize> {
    let new: HashSet<(usize, &str)> = given.iter().filter(|(_, is)| *is == Is::New).map(|(given, _)| (given.group, given.kind)).collect();
    let is_beside = |source: &Given| new.iter().any(|(group, kind)| *group == source.group && *kind != source.kind);
    let there = given.iter().filter_map(|(given, is)| if let Is::There(at) = is { Some((given, *at)) } else { None });
    there.filter(|(source, at)| known.imports[*at].batch.is_some() && is_beside(source)).map(|(_, at)| at).collect()
}

/// Whether a source is certainly a grown import. A source without tasks, such as the header of a
/// table, can be the beginning of many files. It counts only under the same name, and only if
/// another source of its batch is found next to it, or its batch has no other source.
fn is_surely(known: &Known, was: usize, at: usize, given: &[(Given, Is)]) -> bool {
    let import = &known.imports[was];
    let of_batch = |at: usize| at != was && known.imports[at].batch == import.batch;
    let beside =
        |(other, is): &(Given, Is)| other.group == given[at].0.group && matches!(is, Is::There(at) | Is::Grown(at) if of_batch(*at));
    let alone = || !(0..known.imports.len()).any(of_batch);
    import.rows != Some(0) || given[at].0.import.name == import.name && (given.iter().any(beside) || alone())
}

/// Imports that are given now.
struct Now {
    /// Indices of the imports that have grown.
    grown: HashSet<usize>,
    /// SHA-256 of the imports that are the same or have grown.
    same: HashSet<String>,
    /// Number of new sources by name and kind. A single one is interpreted as the import of that
    /// name, rewritten.
    named: HashMap<(String, Option<String>), usize>,
}

impl Now {
    fn new(known: &Known, given: &[(Given, Is)]) -> Self {
        let mut now = Self { grown: HashSet::new(), same: HashSet::new(), named: HashMap::new() };
        for (source, is) in given {
            match is {
                Is::New => *now.named.entry((source.import.name.clone(), source.import.kind.clone())).or_default() += 1,
                Is::There(at) => drop(now.same.insert(known.imports[*at].sha256.clone())),
                Is::Grown(at) => {
                    now.grown.insert(*at);
                    now.same.insert(known.imports[*at].sha256.clone());
                }
            }
        }
        now
    }

    fn has(&self, import: &Import) -> bool {
        self.same.contains(&import.sha256) || self.named.get(&(import.name.clone(), import.kind.clone())) == Some(&1)
    }
}

/// Returns a member of a batch that is not given, described tasks, and differs in kind from one
/// that has grown: the same tasks would be there twice. If none of the batch has grown, any member
/// that described tasks and is not given.
fn missing(known: &Known, members: &[usize], now: &Now, with_rows: &HashSet<String>) -> Option<usize> {
    let kind = |at: usize| known.imports[at].kind.as_deref();
    let kinds: HashSet<Option<&str>> = members.iter().filter(|at| now.grown.contains(at)).map(|at| kind(*at)).collect();
    let is_gone = |at: &usize| with_rows.contains(&known.imports[*at].sha256) && !now.has(&known.imports[*at]);
    members.iter().copied().filter(is_gone).find(|at| kinds.is_empty() || kinds.iter().any(|of| *of != kind(*at)))
}

/// Returns the sources that were the first to describe a row.
fn with_rows(dataset: &Dataset) -> Result<HashSet<String>, DatasetError> {
    let mut with_rows = HashSet::new();
    dataset.read::<SourceOfTask<'static>, DatasetError>(|row| {
        if let Some(sha256) = row.source_sha256.as_deref().filter(|sha256| !with_rows.contains(*sha256)) {
            with_rows.insert(sha256.to_owned());
        }
        Ok(())
    })?;
    Ok(with_rows)
}

fn refuse(report: &mut Report, path: &Path, diagnostic: Diagnostic) {
    let mut diagnostics = Diagnostics::default();
    diagnostics.push(diagnostic);
    report.sources.push(Source {
        path: path.to_owned(),
        name: name_of(path),
        kind: "",
        sha256: String::new(),
        rows: 0,
        joined: 0,
        diagnostics,
    });
}

/// Returns the sources without duplicates: neither two with the same bytes, nor a file together
/// with its grown copy.
fn look(engine: &dyn Engine, paths: &[PathBuf], known: &Known, report: &mut Report) -> Vec<Given> {
    let mut given = Vec::new();
    for (path, named, group) in find(engine, paths, report) {
        if !named && crate::input::is_no_plain_file(&path) {
            report.passed_over += 1;
            continue;
        }
        match Given::look_at(engine, &path, group) {
            Ok(Some(source)) => given.push(source),
            Ok(None) if !named => report.passed_over += 1,
            Ok(None) => {
                let message = format!("this is nothing that import {} reads", engine.name());
                let what = if path.is_file() { crate::input::head(&path).ok().and_then(|head| engine.not_read(&head)) } else { None };
                let diagnostic = match what {
                    Some(what) => Diagnostic::error("output_not_read", message).advise(what),
                    None => Diagnostic::error("file_not_recognised", message),
                };
                refuse(report, &path, diagnostic);
            }
            Err(e) => refuse(report, &path, Diagnostic::of_reading(&e)),
        }
    }
    let mut by_head: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
    for import in given.iter().map(|given| &given.import) {
        if let (Some(head), Some(bytes)) = (&import.head_sha256, import.bytes) {
            by_head.entry(head.clone()).or_default().insert(bytes);
        }
    }
    let mut keys = HashSet::new();
    let mut whole: Vec<Given> = Vec::new();
    for mut source in given {
        let mut lengths = known.lengths(&source);
        lengths.extend(source.import.head_sha256.as_ref().and_then(|head| by_head.get(head)).into_iter().flatten());
        match source.digest(engine, &lengths) {
            Ok(()) if keys.insert(source.key()) => whole.push(source),
            Ok(()) => report.already_there += 1,
            Err(e) => refuse(report, &source.path, Diagnostic::of_reading(&e)),
        }
    }
    let beginnings: HashSet<(u64, String)> =
        whole.iter().flat_map(Given::beginnings).map(|(bytes, sha256)| (bytes, sha256.to_owned())).collect();
    let before = whole.len();
    whole.retain(|source| source.import.bytes.is_none_or(|bytes| !beginnings.contains(&(bytes, source.import.sha256.clone()))));
    report.already_there += (before - whole.len()) as u64;
    whole
}

/// Returns the sources, sorted, each with whether the user named it, and with the index of the
/// given path that contains it.
fn find(engine: &dyn Engine, paths: &[PathBuf], report: &mut Report) -> Vec<(PathBuf, bool, usize)> {
    let mut found = Vec::new();
    for (group, path) in paths.iter().enumerate() {
        if !path.is_dir() || engine.recognise(path, &[]).is_some() {
            found.push((path.clone(), true, usize::MAX));
            continue;
        }
        match engine.find(path) {
            Ok(inside) => {
                report.folders_not_read.extend(folders_without(path, &inside));
                found.extend(inside.into_iter().map(|path| (path, false, group)));
            }
            Err(e) => refuse(report, path, Diagnostic::of_reading(&e)),
        }
    }
    found.sort();
    found.dedup_by(|a, b| a.0 == b.0);
    found
}

/// Returns the folders next to the found sources, and directly in the directory, that contain no
/// source.
fn folders_without(dir: &Path, found: &[PathBuf]) -> Vec<PathBuf> {
    let mut with: HashSet<&Path> = HashSet::from([dir]);
    let mut looked_into: BTreeSet<&Path> = BTreeSet::from([dir]);
    for path in found {
        let mut above = path.as_path();
        while above != dir && with.insert(above) {
            let Some(parent) = above.parent() else { break };
            above = parent;
        }
        looked_into.extend(path.parent());
    }
    let mut folders = Vec::new();
    for entry in looked_into.into_iter().filter_map(|dir| dir.read_dir().ok()).flatten().flatten() {
        let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        let path = entry.path();
        if !is_hidden && entry.file_type().is_ok_and(|kind| kind.is_dir()) && !with.contains(&*path) {
            folders.push(path);
        }
    }
    folders.sort();
    folders
}

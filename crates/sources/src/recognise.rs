//! Paths to kinds.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use flowmine_files::FileError;

use crate::answer::{Answer, Seen};
use crate::kinds::KINDS;
use crate::listing::{DATASET, Listing};
use crate::plan::{Plan, Source};
use crate::{Kind, Reading, Sample, SourceError};

/// Number of files of a directory at which a kind looks.
const LOOKED_AT: usize = 64;
/// Number of files of a directory that a note names.
const NAMED: usize = 3;

type Known = &'static Kind;

/// Recognises what the paths are.
///
/// # Errors
/// When a path cannot be read, no kind or more than one fits it, or the sources cannot be read
/// together.
pub fn recognise(paths: &[PathBuf]) -> Result<Plan, SourceError> {
    Plan::new(paths.iter().map(|path| source(path)).collect::<Result<_, _>>()?)
}

fn source(path: &Path) -> Result<Source, SourceError> {
    if let Some(kind) = kind_of_address(path) {
        return Ok(Source { path: path.to_owned(), kind, seen: format!("{} (an address)", kind.title), read: path.to_owned() });
    }
    let io = |source: io::Error| SourceError::Io { path: path.to_owned(), source };
    let found = fs::metadata(path).map_err(io)?;
    if found.is_dir() {
        return directory(path, &Listing::new(path).map_err(io)?);
    }
    let file = flowmine_files::open_plain(path).map_err(|error| match error {
        FileError::Foreign(_) => SourceError::Special(path.to_owned()),
        error => io(error.into()),
    })?;
    file_source(&Sample::read(path.to_owned(), file).map_err(io)?)
}

fn kind_of_address(path: &Path) -> Option<Known> {
    KINDS.iter().copied().find(|kind| matches!(kind.reading, Reading::Tasks(engine) if engine.is_address(path)))
}

fn file_source(sample: &Sample) -> Result<Source, SourceError> {
    let path = sample.path();
    if sample.first_byte().is_none() {
        return Err(SourceError::Empty(path.to_owned()));
    }
    let Answers { sure, possible, not_read } = Answers::new(KINDS, sample);
    let of = |(kind, seen, read): Fit| Source { path: path.to_owned(), kind, seen: seen.to_string(), read };
    if let Some(fit) = one(path, sure)? {
        return Ok(of(fit));
    }
    if let Some((what, advice)) = not_read {
        return Err(SourceError::NotRead { path: path.to_owned(), what, advice });
    }
    match one(path, possible)? {
        Some(fit) => Ok(of(fit)),
        None => Err(SourceError::Unrecognised { path: path.to_owned(), seen: format!("it {}", sample.beginning()) }),
    }
}

/// A kind that fits, what it sees, and the path that is read.
type Fit = (Known, Seen, PathBuf);

/// The answers of several kinds about a file.
#[derive(Default)]
struct Answers {
    sure: Vec<Fit>,
    possible: Vec<Fit>,
    not_read: Option<(String, String)>,
}

impl Answers {
    fn new(kinds: &[Known], sample: &Sample) -> Self {
        let mut all = Self::default();
        let path = sample.path();
        for kind in kinds {
            match (kind.recognise)(sample) {
                Answer::No => {}
                Answer::Yes(seen) => all.sure.push((*kind, seen, path.to_owned())),
                Answer::Part(seen, directory) => all.sure.push((*kind, seen, directory)),
                Answer::Maybe(seen) => all.possible.push((*kind, seen, path.to_owned())),
                Answer::NotRead { what, advice } => all.not_read = all.not_read.or(Some((what, advice))),
            }
        }
        all
    }
}

/// The one kind that fits; of several the one to which the extension belongs.
fn one(path: &Path, mut fits: Vec<Fit>) -> Result<Option<Fit>, SourceError> {
    if fits.len() > 1 {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        let has = |kind: Known| kind.extensions.iter().any(|end| name.strip_suffix(end).is_some_and(|rest| rest.ends_with('.')));
        let by_extension: Vec<Fit> = fits.iter().filter(|(kind, ..)| has(*kind)).cloned().collect();
        if by_extension.len() == 1 {
            fits = by_extension;
        }
    }
    if fits.len() > 1 {
        let kinds = fits.iter().map(|(kind, seen, _)| (*kind, seen.to_string()));
        return Err(ambiguous(path, false, kinds));
    }
    Ok(fits.pop())
}

fn ambiguous(path: &Path, is_directory: bool, fits: impl Iterator<Item = (Known, String)>) -> SourceError {
    let (mut kinds, mut imported, mut is_log) = (Vec::new(), Vec::new(), false);
    for (kind, seen) in fits {
        kinds.push(format!("{}: {seen}", kind.title));
        match kind.reading {
            Reading::Slurm | Reading::IoCsv | Reading::Tasks(_) => imported.push(kind.name),
            Reading::Dataset | Reading::Log | Reading::NotRead => is_log = true,
        }
    }
    let mut advice = Vec::new();
    if is_directory {
        advice.push("give its files by themselves".to_owned());
    }
    if !imported.is_empty() {
        advice.push(format!("name the kind: flowmine import KIND PATH --dataset DIR, with KIND one of {}", imported.join(", ")));
    }
    if is_log {
        advice.push("--log PATH reads a log or a table".to_owned());
    }
    SourceError::Ambiguous { path: path.to_owned(), kinds, advice: advice.join("; or ") }
}

/// The files of a directory that a kind recognises.
struct InDirectory {
    kind: Known,
    files: Vec<(PathBuf, String)>,
}

impl InDirectory {
    fn evidence(&self) -> String {
        let mut seen: Vec<&str> = Vec::new();
        let mut named: Vec<String> = Vec::new();
        for (file, what) in &self.files {
            // One file of each kind says what the directory is.
            if !seen.contains(&what.as_str()) && seen.len() < NAMED {
                seen.push(what);
                named.push(format!("{}: {what}", file.display()));
            }
        }
        if self.files.len() > named.len() {
            named.push("and others".to_owned());
        }
        named.join(", ")
    }
}

fn directory(path: &Path, listing: &Listing) -> Result<Source, SourceError> {
    let is_dataset = listing.files.iter().any(|file| file.as_path() == Path::new(DATASET));
    let mut found = look_into(path, listing, |kind, below| {
        // A dataset is nothing else, whatever its tables look like.
        if is_dataset { matches!(kind.reading, Reading::Dataset) && (kind.looks_at)(below) } else { (kind.looks_at)(below) }
    });
    match found.len() {
        0 => Err(nothing_in(path, listing)),
        1 => {
            let one = found.remove(0);
            let seen = format!("{} ({})", one.kind.title, one.evidence());
            Ok(Source { path: path.to_owned(), kind: one.kind, seen, read: path.to_owned() })
        }
        _ => Err(ambiguous(path, true, found.iter().map(|one| (one.kind, one.evidence())))),
    }
}

/// What kinds recognise in a directory, looking at some of the files that `looks_at` chooses.
fn look_into(path: &Path, listing: &Listing, looks_at: impl Fn(Known, &Path) -> bool) -> Vec<InDirectory> {
    let chosen: Vec<(Known, BTreeSet<usize>)> = KINDS
        .iter()
        .map(|kind| {
            let all: Vec<usize> = (0..listing.files.len()).filter(|at| looks_at(kind, &listing.files[*at])).collect();
            (*kind, ends(&all))
        })
        .collect();
    let mut found: Vec<InDirectory> = KINDS.iter().map(|kind| InDirectory { kind, files: Vec::new() }).collect();
    let any: BTreeSet<usize> = chosen.iter().flat_map(|(_, files)| files.iter().copied()).collect();
    for at in any {
        let below = &listing.files[at];
        let Ok(file) = listing.open(below) else { continue };
        let Ok(sample) = Sample::read(path.join(below), file) else { continue };
        let kinds: Vec<Known> = chosen.iter().filter(|(_, files)| files.contains(&at)).map(|(kind, _)| *kind).collect();
        for (kind, seen, _) in Answers::new(&kinds, &sample).sure {
            if let Some(of_kind) = found.iter_mut().find(|of_kind| of_kind.kind.name == kind.name) {
                of_kind.files.push((below.clone(), seen.what));
            }
        }
    }
    found.retain(|of_kind| !of_kind.files.is_empty());
    found
}

/// The first and the last of many.
fn ends(all: &[usize]) -> BTreeSet<usize> {
    let half = LOOKED_AT / 2;
    if all.len() <= LOOKED_AT {
        return all.iter().copied().collect();
    }
    all[..half].iter().chain(&all[all.len() - half..]).copied().collect()
}

/// What to say of a directory in which nothing was recognised.
fn nothing_in(path: &Path, listing: &Listing) -> SourceError {
    let path = path.to_owned();
    if let Some(dataset) = listing.datasets.first() {
        let advice = format!("give it: {}", path.join(dataset).display());
        return SourceError::NotRead { path, what: "the directory of a dataset".to_owned(), advice };
    }
    let logs = look_into(&path, listing, |kind, below| matches!(kind.reading, Reading::Log) && crate::kind::is_in_directory(below));
    if let Some(log) = logs.first() {
        let advice = "give the files that are one log".to_owned();
        return SourceError::NotRead { path, what: format!("a directory of log files ({})", log.evidence()), advice };
    }
    let Listing { files, folders, passed_over, rest, .. } = listing;
    let mut seen = format!("it has {} files and {folders} directories", files.len());
    if *passed_over > 0 {
        seen.push_str(&format!(", and {passed_over} links or other entries that are not followed"));
    }
    if *rest > 0 {
        seen.push_str(&format!(", and {rest} entries at which it was not looked"));
    }
    SourceError::Unrecognised { path, seen }
}

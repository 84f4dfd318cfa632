//! Plans: which sources are read, and how.

use std::path::{Path, PathBuf};

use flowmine_schema::text::visible;

use crate::{Kind, Reading, SourceError};

/// A recognised source.
#[derive(Clone)]
pub struct Source {
    /// The path as it was given.
    pub path: PathBuf,
    /// Its kind.
    pub kind: &'static Kind,
    /// What it is and the evidence, in one phrase.
    pub seen: String,
    /// The path that is read: of a file that is part of a directory the directory.
    pub read: PathBuf,
}

impl Source {
    /// What the source is, in one line: path, kind, evidence.
    pub fn note(&self) -> String {
        let path = self.path.display().to_string();
        let as_whole = if self.read == self.path { "" } else { "; its directory is read" };
        format!("{}: {}{as_whole}", visible(&path), visible(&self.seen))
    }
}

/// Sources that can be read together.
#[derive(Clone)]
pub struct Plan {
    sources: Vec<Source>,
}

/// What the sources of a plan become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Dataset,
    Logs,
    Imports,
}

impl Plan {
    /// A plan of these sources.
    ///
    /// # Errors
    /// When there is none, or they cannot be read together.
    pub(crate) fn new(sources: Vec<Source>) -> Result<Self, SourceError> {
        let mut rest = sources.iter();
        if let Some(first) = rest.next() {
            for other in rest {
                if shape(other) != shape(first) || shape(first) == Shape::Dataset {
                    return Err(together(first, other));
                }
            }
        }
        Ok(Self { sources })
    }

    /// The sources in the order in which they were given.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    pub(crate) fn shape(&self) -> Option<Shape> {
        self.sources.first().map(shape)
    }

    /// The paths that are read of a kind, each once.
    pub(crate) fn paths_of(&self, kind: &Kind) -> Vec<PathBuf> {
        let mut paths: Vec<PathBuf> = Vec::new();
        for source in self.sources.iter().filter(|source| source.kind.name == kind.name) {
            if !paths.contains(&source.read) {
                paths.push(source.read.clone());
            }
        }
        paths
    }
}

fn shape(source: &Source) -> Shape {
    match source.kind.reading {
        Reading::Dataset => Shape::Dataset,
        Reading::Log => Shape::Logs,
        Reading::Slurm | Reading::IoCsv | Reading::Tasks(_) | Reading::NotRead => Shape::Imports,
    }
}

fn together(first: &Source, second: &Source) -> SourceError {
    let why = match (shape(first), shape(second)) {
        (Shape::Dataset, Shape::Dataset) => "give one dataset",
        (Shape::Dataset, Shape::Imports) | (Shape::Imports, Shape::Dataset) => {
            "a dataset is read as it is; flowmine import KIND PATH --dataset DIR adds to it"
        }
        _ => "log files and tables are one log by themselves; give them in a call of their own",
    };
    let name = |source: &Source| format!("{} ({})", shown(&source.path), source.kind.title);
    SourceError::Together { first: name(first), second: name(second), why }
}

fn shown(path: &Path) -> String {
    visible(&path.display().to_string()).into_owned()
}

//! Sources that are recognised by their content: a dataset, log files, or what is imported into a
//! temporary dataset.

use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::inputs;
use crate::sink::{Message, Sink, Stage};

pub use flowmine_sources::{Data, Opened};

/// Number of inputs with warnings or errors that are reported.
const REPORTED: usize = 10;

/// Recognises paths and opens what they name. `made` gets the directory of a temporary dataset
/// before anything is written into it; it is removed with the result.
///
/// # Errors
/// When a path is not recognised, or cannot be read or imported.
pub fn open(paths: &[PathBuf], sink: &dyn Sink, made: &mut dyn FnMut(&Path)) -> Result<Opened> {
    let plan = flowmine_sources::recognise(paths)?;
    for source in plan.sources() {
        inputs::note(&source.read);
        sink.note(&source.note());
    }
    let mut import = Import { stage: sink.stage("importing"), made };
    let opened = flowmine_sources::open(&plan, &mut import)?;
    drop(import);
    opened.notes.iter().for_each(|note| sink.note(note));
    let odd = || opened.odd.iter().filter(|input| !input.diagnostics.is_empty());
    for input in odd().take(REPORTED) {
        sink.message(Message::Diagnostics(&input.name, &input.diagnostics));
    }
    let more = odd().count().saturating_sub(REPORTED);
    if more > 0 {
        sink.message(Message::Done(&format!("and {more} more files with warnings or errors")));
    }
    Ok(opened)
}

/// An import into a temporary dataset.
struct Import<'i> {
    stage: Box<dyn Stage>,
    made: &'i mut dyn FnMut(&Path),
}

impl flowmine_sources::Sink for Import<'_> {
    fn directory(&mut self, dir: &Path) {
        (self.made)(dir);
    }

    fn progress(&mut self, done: usize, total: usize) {
        self.stage.at(done, total);
    }
}

//! The files of workflows and layers.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flowmine_transform::algebra::Composition;
use flowmine_transform::workflow::{Files, utf8};
use flowmine_transform::{Error, builtin, jx};

use crate::inputs;

/// Larger workflows and layers are refused.
const FILE_BYTES: u64 = 64 << 20;

/// The directory of the workflow, in which the job scripts lie that it names.
pub struct Beside(pub PathBuf);

impl Files for Beside {
    fn text(&self, name: &str) -> io::Result<String> {
        // The workflow's author chose the path: nothing that waits or acts is opened.
        let path = self.0.join(name);
        inputs::note(&path);
        let bytes = bounded(flowmine_files::open_plain(&path)?)?;
        String::from_utf8(bytes).map_err(io::Error::other)
    }

    fn can_change(&self, changed: &str, script: &str) -> bool {
        flowmine_transform::workflow::can_change_in(&self.0, changed, script)
    }

    fn has_other_names(&self, script: &str) -> bool {
        flowmine_transform::workflow::has_other_names_in(&self.0, script)
    }

    fn leads_here(&self, name: &str) -> bool {
        flowmine_transform::workflow::leads_here_in(&self.0, name)
    }
}

/// Returns the bytes of a file that the user named, be it a pipe.
///
/// # Errors
/// When it cannot be read, or is too large.
pub fn bytes(path: &Path) -> Result<Vec<u8>, Error> {
    inputs::note(path);
    flowmine_files::open_given(path)
        .map_err(io::Error::from)
        .and_then(bounded)
        .map_err(|source| Error::Io { path: path.to_owned(), source })
}

/// Returns the text of a plain file that is there, as far as it is text.
pub fn there(path: &Path) -> Option<String> {
    let bytes = bounded(flowmine_files::open_plain(path).ok()?).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn bounded(file: File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(FILE_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > FILE_BYTES {
        return Err(io::Error::other(format!("the file has more than {} MiB", FILE_BYTES >> 20)));
    }
    Ok(bytes)
}

/// Reads layers: a built-in, where no file has that name. `bound` gets the names that its text binds.
///
/// # Errors
/// When it cannot be read, or is no composition of layers.
pub fn composition(layer: &str, values: &[(String, String)], bound: &mut HashSet<String>) -> Result<Composition, Error> {
    let mut bind = |file: &str, text: &str| -> Result<(), Error> {
        let program = jx::parse(text).map_err(|fault| fault.in_file(file))?;
        bound.extend(program.definitions.iter().filter(|known| known.arguments.is_none()).map(|known| known.name.to_string()));
        Ok(())
    };
    if let Some(text) = builtin::text(layer).filter(|_| !Path::new(layer).exists()) {
        bind(layer, text)?;
        return Composition::read(layer, text, None, values);
    }
    let (file, choice) = match layer.rsplit_once('#') {
        Some((file, choice)) if !Path::new(layer).exists() => (file, Some(choice)),
        _ => (layer, None),
    };
    let bytes = bytes(Path::new(file))?;
    let text = utf8(file, &bytes)?;
    bind(file, text)?;
    Composition::read(file, text, choice, values)
}

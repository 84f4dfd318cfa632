//! The scripts of all layers, and then the workflow that runs them.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use flowmine_files::{Batch, FileError, Folder};
use flowmine_transform::script::Script;
use flowmine_transform::workflow::Plan;

use crate::error::{Context, Error, Result};
use crate::output;
use crate::sink::Sink;

/// The permissions of a script, before the umask: only its owner can write it, whatever the umask.
const SCRIPT: u32 = 0o755;

/// Writes the scripts, as many at once as there are processors, and then the workflow. Returns the
/// number of scripts.
///
/// No script appears before all are on the disk, and the workflow appears last: what it names is
/// complete.
///
/// # Errors
/// When a script or the workflow cannot be written there.
pub fn write(plan: &Plan, path: &Path, directory: &Path, sink: &dyn Sink) -> Result<usize> {
    let shown = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    let folder = Folder::open_to_write(shown).with_context(|| shown.display().to_string())?;
    output::refuse_dataset(&folder).with_context(|| shown.display().to_string())?;
    output::check_place(path)?;
    output::refuse_strangers(&folder, sink)?;
    let next = AtomicUsize::new(0);
    let some = || -> Result<(Batch, usize)> {
        let (mut batch, mut written) = (Batch::new(folder.try_clone()?), 0);
        loop {
            let task = next.fetch_add(1, Ordering::Relaxed);
            if task >= plan.tasks.len() {
                return Ok((batch, written));
            }
            for script in plan.scripts(task) {
                batch.add(&script.name, SCRIPT, script.text.as_bytes()).with_context(|| shown.join(&script.name).display().to_string())?;
                written += 1;
            }
        }
    };
    let threads = flowmine_threads::count(8);
    let mut batches = std::thread::scope(|scope| -> Result<Vec<(Batch, usize)>> {
        let others = flowmine_threads::helpers(scope, threads - 1, some);
        let mut batches = vec![some()?];
        for other in others {
            batches.push(other.join().map_err(|_| Error::Refused("a thread that writes scripts ended before its time".to_owned()))??);
        }
        Ok(batches)
    })?;
    for file in &plan.files {
        let batch = beside(file, &folder).with_context(|| shown.join(&file.name).display().to_string())?;
        batches.push((batch, 1));
    }
    let mut written = 0;
    for (batch, scripts) in batches {
        batch.publish().with_context(|| shown.display().to_string())?;
        written += scripts;
    }
    output::write(Some(path), |out| Ok(out.write_all(plan.workflow.as_bytes())?))?;
    Ok(written)
}

/// A file that is not a layer's script, by its name in the folder or in a folder below it.
fn beside(file: &Script, folder: &Folder) -> Result<Batch, FileError> {
    let (inside, name) = match file.name.rsplit_once('/') {
        Some((below, name)) => (folder.make_own_folder(below, SCRIPT)?, name),
        None => (folder.try_clone()?, &*file.name),
    };
    let mut batch = Batch::new(inside);
    batch.add(name, SCRIPT, file.text.as_bytes())?;
    Ok(batch)
}

//! Where results go: a file, which appears only when it is complete, or standard output.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;

use anyhow::Context;
use flowmine_dataset::Dataset;
use flowmine_eventlog::{Counts, LogError};
use flowmine_files::{Folder, MadeFiles, place_of};
use flowmine_schema::text::terminal::Visible;

use crate::inputs;

/// Writes a result to `path`, or to standard output when there is none (or it is `-`).
///
/// A file has no name or a hidden one until it is complete, so that a failure never costs what was
/// there. Links of other users are not followed, in no part of the path.
pub fn write(path: Option<&Path>, write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>) -> anyhow::Result<()> {
    match path.filter(|path| *path != Path::new("-")) {
        None => {
            let mut out = BufWriter::with_capacity(1 << 16, seen(io::stdout().lock()));
            write(&mut out)?;
            out.flush().context("standard output")
        }
        Some(path) => to_place(path, write).with_context(|| path.display().to_string()),
    }
}

/// The folder and the name of a result that may be written there.
///
/// # Errors
/// When the result would replace a file that the command reads, or lie in a dataset.
fn place_of_result(path: &Path) -> anyhow::Result<(Folder, OsString)> {
    let (folder, name) = place_of(path)?;
    let replaced = folder.id_of(&name)?;
    let is_input = |yes: bool| {
        anyhow::ensure!(!yes, "the result would replace this file, which is an input of the command: write it elsewhere");
        Ok(())
    };
    is_input(replaced.is_some_and(inputs::contains))?;
    refuse_dataset(&folder)?;
    is_input(replaced.is_some() && inputs::holds(&folder)?)?;
    Ok((folder, name))
}

/// Refuses a folder for results that is a dataset or lies in one.
pub fn refuse_dataset(folder: &Folder) -> anyhow::Result<()> {
    anyhow::ensure!(!Dataset::holds(folder)?, "this place is in a dataset, which holds nothing else: write the result elsewhere");
    Ok(())
}

/// Refuses a place for a result before anything else is written with it.
pub fn check_place(path: &Path) -> anyhow::Result<()> {
    place_of_result(path).map(|_| ()).with_context(|| path.display().to_string())
}

/// A pipe or a device is written to as it is; what a symbolic link points to is replaced, not the
/// link.
fn to_place(path: &Path, write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let (folder, name) = place_of_result(path)?;
    let Some(file) = folder.special(&name)? else { return replace(&folder, &name, write) };
    let mut out = BufWriter::with_capacity(1 << 16, seen(file));
    write(&mut out)?;
    Ok(out.flush()?)
}

/// Writes a file that has its name when it is complete.
fn replace(folder: &Folder, name: &OsString, write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 16, folder.new_file(name, MODE)?);
    write(&mut out)?;
    Ok(out.into_inner().map_err(io::IntoInnerError::into_error)?.replace()?)
}

/// The mode with which a result is made, before the umask.
const MODE: u32 = 0o666;

/// A terminal shows what a name holds and does not do it; files and pipes get the bytes as they
/// are.
fn seen<'a>(out: impl Write + IsTerminal + 'a) -> Box<dyn Write + 'a> {
    if out.is_terminal() { Box::new(Visible::new(out)) } else { Box::new(out) }
}

/// Writes a log to `path` or standard output, as [`write`] does.
pub fn write_log(path: Option<&Path>, log: impl FnOnce(&mut dyn Write) -> Result<Counts, LogError>) -> anyhow::Result<Counts> {
    let mut counts = Counts::default();
    write(path, |out| {
        counts = log(out)?;
        Ok(())
    })?;
    Ok(counts)
}

/// Has a file written by its path, for what cannot be written as a stream: in a hidden folder
/// beside its place, moved out of it when complete.
pub fn write_beside(path: Option<&Path>, log: impl FnOnce(&Path) -> Result<Counts, LogError>) -> anyhow::Result<Counts> {
    let path = path.context("say where to with -o FILE")?;
    beside(path, log).with_context(|| path.display().to_string())
}

fn beside(path: &Path, log: impl FnOnce(&Path) -> Result<Counts, LogError>) -> anyhow::Result<Counts> {
    let (folder, name) = place_of_result(path)?;
    anyhow::ensure!(folder.special(&name)?.is_none(), "a database can only be a file");
    // A path can be led astray where another user rules: root writes elsewhere first.
    if flowmine_files::is_root() && folder.stranger()?.is_some() {
        let elsewhere = tempfile::tempdir()?;
        let made = elsewhere.path().join("log");
        let counts = log(&made)?;
        replace(&folder, &name, |out| Ok(_ = io::copy(&mut File::open(&made)?, out)?))?;
        return Ok(counts);
    }
    let work = folder.work_folder(&name)?;
    let inside = work.folder();
    let counts = log(&inside.path().join(&name))?;
    inside.read(&name)?.sync_all()?;
    inside.rename(&name, &folder, &name)?;
    folder.sync()?;
    Ok(counts)
}

/// A directory for results, made where there is none, outside of datasets.
pub fn make_directory(path: &Path) -> anyhow::Result<Folder> {
    let make = || {
        // Nothing is made in a dataset, so the folder that is there already is looked at first.
        if let Some(existing) =
            path.ancestors().find_map(|above| Folder::open(if above == Path::new("") { Path::new(".") } else { above }).ok())
        {
            refuse_dataset(&existing)?;
        }
        let folder = Folder::make(path, 0o777)?;
        refuse_dataset(&folder)?;
        anyhow::Ok(folder)
    };
    make().with_context(|| path.display().to_string())
}

/// The record of the results that flowmine made in a directory, which is made where there is none.
pub fn made_in(path: &Path) -> anyhow::Result<MadeFiles> {
    let folder = make_directory(path)?;
    MadeFiles::of(&folder).with_context(|| path.display().to_string())
}

/// Whether an error is somebody closing our output early (`| head`).
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let io = match cause.downcast_ref::<LogError>() {
            // It stands for the error in it, which the chain leaves out.
            Some(LogError::Io(error)) => Some(error),
            _ => cause.downcast_ref::<io::Error>(),
        };
        io.is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_failure_leaves_the_old_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log.xes");
        write(Some(&path), |out| Ok(out.write_all(b"old")?)).unwrap();
        let error = write(Some(&path), |out| {
            out.write_all(b"half")?;
            anyhow::bail!("no more")
        });
        assert!(error.unwrap_err().to_string().contains("log.xes"));
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn links_and_devices_stay_what_they_are() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("file"), dir.path().join("link"));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write(Some(&link), |out| Ok(out.write_all(b"new")?)).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");
        write(Some(Path::new("/dev/null")), |out| Ok(out.write_all(b"new")?)).unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }

    #[test]
    fn a_closed_pipe_is_known() {
        let error = anyhow::Error::from(io::Error::from(io::ErrorKind::BrokenPipe)).context("standard output");
        assert!(is_broken_pipe(&error));
    }
}

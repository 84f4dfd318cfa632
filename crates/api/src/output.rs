//! Where results go: a file, which appears only when it is complete, or standard output.

use std::ffi::OsString;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use flowmine_dataset::Dataset;
use flowmine_eventlog::{Counts, LogError};
use flowmine_files::{Folder, MadeFiles, NewFile, Stranger, place_of};
use flowmine_schema::text::terminal::Visible;
use flowmine_schema::text::visible;

use crate::error::{Context, Error, Result, ensure, refuse};
use crate::inputs;
use crate::sink::Sink;

/// The path that stands for standard output.
const STANDARD_OUTPUT: &str = "-";

/// The size of the buffer before a result.
const BUFFER: usize = 1 << 16;

/// The mode with which a result is made, before the umask.
const MODE: u32 = 0o666;

/// A result that is being written.
///
/// A file has no name or a hidden one until [`Output::finish`], so that a failure never costs what
/// was there. Links of other users are not followed, in no part of the path.
pub struct Output {
    place: Option<PathBuf>,
    to: To,
}

enum To {
    /// Standard output, a pipe or a device.
    Stream(BufWriter<Box<dyn Write>>),
    /// A file.
    File(BufWriter<NewFile>),
}

impl Output {
    /// Begins a result at a path, or on standard output when there is none or it is `-`.
    ///
    /// # Errors
    /// When nothing can be written there, the result would replace a file that was read, or it
    /// would lie in a dataset.
    pub fn create(path: Option<&Path>) -> Result<Self> {
        match path.filter(|path| *path != Path::new(STANDARD_OUTPUT)) {
            None => Ok(Self { place: None, to: To::Stream(stream(io::stdout().lock())) }),
            Some(path) => {
                let to = to_place(path).with_context(|| path.display().to_string())?;
                Ok(Self { place: Some(path.to_owned()), to })
            }
        }
    }

    /// Completes the result. A file gets its name.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(self) -> Result<()> {
        let finished = match self.to {
            To::Stream(mut out) => out.flush().map_err(Error::from),
            To::File(out) => out.into_inner().map_err(|error| Error::from(error.into_error())).and_then(|file| Ok(file.replace()?)),
        };
        finished.with_context(|| self.place.map_or_else(|| "standard output".to_owned(), |path| path.display().to_string()))
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.to {
            To::Stream(out) => out.write(bytes),
            To::File(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.to {
            To::Stream(out) => out.flush(),
            To::File(out) => out.flush(),
        }
    }
}

/// A pipe or a device is written to as it is; what a symbolic link points to is replaced, not the
/// link.
fn to_place(path: &Path) -> Result<To> {
    let (folder, name) = place_of_result(path)?;
    Ok(match folder.special(&name)? {
        Some(file) => To::Stream(stream(file)),
        None => To::File(BufWriter::with_capacity(BUFFER, folder.new_file(&name, MODE)?)),
    })
}

/// A terminal shows what a name holds and does not do it; files and pipes get the bytes as they
/// are.
fn stream(out: impl Write + IsTerminal + 'static) -> BufWriter<Box<dyn Write>> {
    let out: Box<dyn Write> = if out.is_terminal() { Box::new(Visible::new(out)) } else { Box::new(out) };
    BufWriter::with_capacity(BUFFER, out)
}

/// The folder and the name of a result that may be written there.
///
/// # Errors
/// When the result would replace a file that was read, or lie in a dataset.
fn place_of_result(path: &Path) -> Result<(Folder, OsString)> {
    let (folder, name) = place_of(path)?;
    let replaced = folder.id_of(&name)?;
    let is_input = |yes: bool| -> Result<()> {
        ensure!(!yes, "the result would replace this file, which is an input of the command: write it elsewhere");
        Ok(())
    };
    is_input(replaced.is_some_and(inputs::contains))?;
    refuse_dataset(&folder)?;
    is_input(replaced.is_some() && inputs::holds(&folder)?)?;
    Ok((folder, name))
}

/// Refuses a folder for results that is a dataset or lies in one.
///
/// # Errors
/// When it is or does.
pub fn refuse_dataset(folder: &Folder) -> Result<()> {
    ensure!(!Dataset::holds(folder)?, "this place is in a dataset, which holds nothing else: write the result elsewhere");
    Ok(())
}

/// Scripts are run later: whoever can replace them by then decides what is run, and as whom. Root
/// is refused such a place, everybody else is warned where it is all users who can.
///
/// # Errors
/// When root is refused it, or a folder above cannot be looked at.
pub fn refuse_strangers(folder: &Folder, sink: &dyn Sink) -> Result<()> {
    let Some(stranger) = folder.stranger()? else { return Ok(()) };
    let stranger_is = stranger.to_string();
    let who = visible(&stranger_is);
    if flowmine_files::is_root() {
        refuse!(
            "{who}, who could replace the scripts before root runs them: write to a directory that only root can change, or run \
             flowmine as that user"
        );
    }
    if matches!(stranger, Stranger::Everybody(_)) {
        sink.warning(&format!("{who} and replace the scripts: run them only where you trust all users of the machine"));
    }
    Ok(())
}

/// Refuses a place for a result before anything else is written with it.
///
/// # Errors
/// Those of [`Output::create`].
pub fn check_place(path: &Path) -> Result<()> {
    place_of_result(path).map(|_| ()).with_context(|| path.display().to_string())
}

/// Writes a result to a path or standard output.
///
/// # Errors
/// Those of [`Output::create`] and of the writer.
pub fn write(path: Option<&Path>, write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let mut out = Output::create(path)?;
    let written = write(&mut out);
    match &out.place {
        Some(path) => written.with_context(|| path.display().to_string())?,
        // What a terminal or a pipe refuses needs no place.
        None => written?,
    }
    out.finish()
}

/// Writes a log as [`write`] does.
pub(crate) fn write_log(path: Option<&Path>, log: impl FnOnce(&mut dyn Write) -> Result<Counts, LogError>) -> Result<Counts> {
    let mut counts = Counts::default();
    write(path, |out| {
        counts = log(out)?;
        Ok(())
    })?;
    Ok(counts)
}

/// Has a file written by its path, for what cannot be written as a stream: in a hidden folder
/// beside its place, moved out of it when complete.
///
/// # Errors
/// Those of [`Output::create`] and of the writer.
pub(crate) fn write_beside(path: &Path, log: impl FnOnce(&Path) -> Result<Counts, LogError>) -> Result<Counts> {
    beside(path, log).with_context(|| path.display().to_string())
}

fn beside(path: &Path, log: impl FnOnce(&Path) -> Result<Counts, LogError>) -> Result<Counts> {
    let (folder, name) = place_of_result(path)?;
    ensure!(folder.special(&name)?.is_none(), "a database can only be a file");
    // A path can be led astray where another user rules: root writes elsewhere first.
    if flowmine_files::is_root() && folder.stranger()?.is_some() {
        let elsewhere = tempfile::tempdir()?;
        let made = elsewhere.path().join("log");
        let counts = log(&made)?;
        let mut out = BufWriter::with_capacity(BUFFER, folder.new_file(&name, MODE)?);
        io::copy(&mut flowmine_files::open_plain(&made)?, &mut out)?;
        out.into_inner().map_err(io::IntoInnerError::into_error)?.replace()?;
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
///
/// # Errors
/// When it cannot be made, or lies in a dataset.
pub fn make_directory(path: &Path) -> Result<Folder> {
    let make = || -> Result<Folder> {
        // Nothing is made in a dataset, so the folder that is there already is looked at first.
        if let Some(existing) =
            path.ancestors().find_map(|above| Folder::open(if above == Path::new("") { Path::new(".") } else { above }).ok())
        {
            refuse_dataset(&existing)?;
        }
        let folder = Folder::make(path, 0o777)?;
        refuse_dataset(&folder)?;
        Ok(folder)
    };
    make().with_context(|| path.display().to_string())
}

/// The record of the results that flowmine made in a directory, which is made where there is none.
///
/// # Errors
/// Those of [`make_directory`], and when there is a record that cannot be read.
pub fn made_in(path: &Path) -> Result<MadeFiles> {
    let folder = make_directory(path)?;
    MadeFiles::new(&folder).with_context(|| path.display().to_string())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]
mod tests {
    use std::fs;

    use super::*;

    fn written(path: &Path, bytes: &[u8]) -> Output {
        let mut out = Output::create(Some(path)).unwrap();
        out.write_all(bytes).unwrap();
        out
    }

    #[test]
    fn a_failure_leaves_the_old_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log.xes");
        written(&path, b"old").finish().unwrap();
        drop(written(&path, b"half"));
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        let refused = Output::create(Some(&dir.path().join("absent/log.xes"))).err().unwrap();
        assert!(refused.to_string().contains("absent/log.xes"));
    }

    #[test]
    fn links_and_devices_stay_what_they_are() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("file"), dir.path().join("link"));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        written(&link, b"new").finish().unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");
        written(Path::new("/dev/null"), b"new").finish().unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }
}

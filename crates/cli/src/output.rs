//! Where results go: a file, which appears only when it is complete, or standard output.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use flowmine_eventlog::{Counts, LogError};

/// Writes a result to `path`, or to standard output when there is none (or it is `-`).
///
/// A file is written beside its place under a hidden name and renamed when complete, so that a failure never costs what was there.
pub fn write(path: Option<&Path>, write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>) -> anyhow::Result<()> {
    match path.filter(|path| *path != Path::new("-")) {
        None => {
            let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
            write(&mut out)?;
            out.flush().context("standard output")
        }
        // A pipe or a device is written to as it is; what a symbolic link points to is replaced, not the link.
        Some(path) if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) => {
            let open = File::options().write(true).open(path).map_err(anyhow::Error::from);
            let result = open.and_then(|file| {
                let mut out = BufWriter::with_capacity(1 << 16, file);
                write(&mut out)?;
                Ok(out.flush()?)
            });
            result.with_context(|| path.display().to_string())
        }
        Some(path) => {
            let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
            let path = target.as_path();
            let hidden = hidden_name(path);
            let result = File::create(&hidden).map_err(anyhow::Error::from).and_then(|file| {
                let mut out = BufWriter::with_capacity(1 << 16, file);
                write(&mut out)?;
                let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
                file.sync_all()?;
                Ok(fs::rename(&hidden, path)?)
            });
            if result.is_err() {
                let _ = fs::remove_file(&hidden);
            }
            result.with_context(|| path.display().to_string())
        }
    }
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

/// Has a file written by its name, for what cannot be written as a stream: under a hidden name beside its place, renamed when complete.
pub fn write_beside(path: Option<&Path>, log: impl FnOnce(&Path) -> Result<Counts, LogError>) -> anyhow::Result<Counts> {
    let path = path.context("say where to with -o FILE")?;
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if fs::metadata(&target).is_ok_and(|metadata| !metadata.is_file()) {
        anyhow::bail!("{}: a database can only be a file", path.display());
    }
    let hidden = hidden_name(&target);
    let result = log(&hidden).map_err(anyhow::Error::from).and_then(|counts| {
        File::open(&hidden)?.sync_all()?;
        fs::rename(&hidden, &target)?;
        Ok(counts)
    });
    if result.is_err() {
        let _ = fs::remove_file(&hidden);
    }
    result.with_context(|| path.display().to_string())
}

fn hidden_name(path: &Path) -> PathBuf {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    path.with_file_name(format!(".{name}.{}.tmp", std::process::id()))
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

//! Results of commands, and what became of their reader.

use std::io::Write;
use std::path::Path;

use anyhow::Context;
use flowmine_api::output::Output;

/// Writes a result to `path`, or to standard output when there is none (or it is `-`). A file
/// appears when it is complete.
pub fn write(path: Option<&Path>, write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let mut out = Output::create(path)?;
    let written = write(&mut out);
    match path.filter(|path| *path != "-") {
        Some(path) => written.with_context(|| path.display().to_string())?,
        None => written?,
    }
    Ok(out.finish()?)
}

/// Whether an error is somebody closing our output early (`| head`).
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    flowmine_api::is_broken_pipe(error.as_ref())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]
mod tests {
    use super::*;

    #[test]
    fn a_closed_pipe_is_known() {
        let broken = std::io::Error::from(std::io::ErrorKind::BrokenPipe);
        assert!(is_broken_pipe(&anyhow::Error::from(broken).context("standard output")));
        assert!(!is_broken_pipe(&anyhow::anyhow!("no pipe")));
    }

    #[test]
    fn a_failure_leaves_the_old_file_and_names_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log.xes");
        write(Some(&path), |out| Ok(out.write_all(b"old")?)).unwrap();
        let error = write(Some(&path), |out| {
            out.write_all(b"half")?;
            anyhow::bail!("no more")
        });
        assert!(error.unwrap_err().to_string().contains("log.xes"));
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
    }
}

//! Results whose names the program chooses, in a directory that the user named.
//!
//! The user may have files of these names there. A record in the directory (`.flowmine-made`) lists
//! the names that flowmine gave: only what it lists is replaced. It is written before the first
//! result, so that a killed command can be repeated.

use std::collections::BTreeSet;
use std::io::{Read, Write};

use crate::{FileError, Folder};

/// One name in each line.
const RECORD: &str = ".flowmine-made";
/// The most bytes of a record that are read: flowmine writes no larger one.
const LARGEST: u64 = 16 << 20;
/// The permissions of a record, before the umask.
const MODE: u32 = 0o666;

/// The results that flowmine made in a folder.
///
/// ```
/// use flowmine_files::{FileError, Folder, MadeFiles};
///
/// # let dir = tempfile::tempdir()?;
/// std::fs::write(dir.path().join("mine.txt"), "mine")?;
/// let folder = Folder::open(dir.path())?;
/// let mut made = MadeFiles::of(&folder)?;
/// made.claim(["summary.json"])?;
/// std::fs::write(dir.path().join("summary.json"), "{}")?;
/// made.keep_existing()?;
///
/// let mut made = MadeFiles::of(&folder)?;
/// assert!(made.claim(["summary.json"]).is_ok(), "it may be replaced");
/// assert!(matches!(made.claim(["mine.txt"]), Err(FileError::NotMade(_))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct MadeFiles {
    folder: Folder,
    names: BTreeSet<String>,
}

impl MadeFiles {
    /// What the record of a folder lists.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn of(folder: &Folder) -> Result<Self, FileError> {
        let mut text = String::new();
        match folder.read(RECORD) {
            Ok(file) => _ = file.take(LARGEST).read_to_string(&mut text)?,
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(error),
        }
        Ok(Self { folder: folder.try_clone()?, names: text.lines().map(str::to_owned).collect() })
    }

    /// Adds names that are known to be of results, such as those of an older record.
    pub fn add_known(&mut self, names: impl IntoIterator<Item = String>) {
        self.names.extend(names);
    }

    /// Takes names for results. Names hold no line breaks.
    ///
    /// # Errors
    /// [`FileError::NotMade`] with the first name that something else has; then none is taken. Or
    /// when the record cannot be written.
    pub fn claim<N: Into<String>>(&mut self, names: impl IntoIterator<Item = N>) -> Result<(), FileError> {
        let new: BTreeSet<String> = names.into_iter().map(Into::into).filter(|name| !self.names.contains(name)).collect();
        for name in &new {
            if self.folder.id_of(name)?.is_some() {
                return Err(FileError::NotMade(name.clone()));
            }
        }
        if new.is_empty() {
            return Ok(());
        }
        self.names.extend(new);
        self.write()
    }

    /// Gives back the names that no result has.
    ///
    /// # Errors
    /// When the record cannot be written.
    pub fn keep_existing(&mut self) -> Result<(), FileError> {
        let mut existing = BTreeSet::new();
        for name in &self.names {
            if self.folder.id_of(name)?.is_some() {
                existing.insert(name.clone());
            }
        }
        if existing == self.names {
            return Ok(());
        }
        self.names = existing;
        self.write()
    }

    fn write(&self) -> Result<(), FileError> {
        let mut record = self.folder.new_file(RECORD, MODE)?;
        let lines: String = self.names.iter().map(|name| format!("{name}\n")).collect();
        record.write_all(lines.as_bytes())?;
        record.replace()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn only_what_was_made_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::open(dir.path()).unwrap();
        fs::write(dir.path().join("b"), "a user's").unwrap();
        std::os::unix::fs::symlink("nowhere", dir.path().join("c")).unwrap();
        for mine in ["b", "c"] {
            let refused = MadeFiles::of(&folder).unwrap().claim(["a", mine]).unwrap_err();
            assert!(refused.to_string().starts_with(&format!("{mine} is there already")), "{refused}");
            assert!(!dir.path().join(RECORD).exists(), "nothing is taken");
        }
        // Killed after it began: what it may have made can be made again.
        let mut made = MadeFiles::of(&folder).unwrap();
        made.claim(["a", "d"]).unwrap();
        fs::write(dir.path().join("a"), "ours").unwrap();
        let mut again = MadeFiles::of(&folder).unwrap();
        again.claim(["a", "d"]).unwrap();
        again.keep_existing().unwrap();
        assert_eq!(fs::read_to_string(dir.path().join(RECORD)).unwrap(), "a\n");
        // A name that was given back is the user's again.
        fs::write(dir.path().join("d"), "a user's").unwrap();
        assert!(matches!(MadeFiles::of(&folder).unwrap().claim(["d"]), Err(FileError::NotMade(_))));
    }
}

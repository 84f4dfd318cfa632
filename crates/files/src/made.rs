//! Results with names that the program chooses, in a directory that the user named.
//!
//! The user may have files of these names there. A record in the directory (`.flowmine-made`) lists
//! the names that flowmine gave, with the size and the time of each result: only listed and
//! unchanged files are replaced. It is written before the first result, then without sizes and
//! times, so that a killed command can be repeated.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};

use crate::{FileError, Folder};

/// In each line a result's size and time, or [`OPEN`], a tab, and its name; in those of older
/// versions the name alone.
const RECORD: &str = ".flowmine-made";
/// The most bytes of a record that are read: flowmine writes no larger one.
const LARGEST: u64 = 16 << 20;
/// The permissions of a record, before the umask.
const MODE: u32 = 0o666;
/// Placeholder for the size and time of a result that is being made.
const OPEN: &str = "-";

/// The results that flowmine made in a folder.
///
/// ```
/// use flowmine_files::{FileError, Folder, MadeFiles};
///
/// # let dir = tempfile::tempdir()?;
/// std::fs::write(dir.path().join("mine.txt"), "mine")?;
/// let folder = Folder::open(dir.path())?;
/// let mut made = MadeFiles::new(&folder)?;
/// made.claim(["summary.json"])?;
/// std::fs::write(dir.path().join("summary.json"), "{}")?;
/// made.finish()?;
///
/// let mut made = MadeFiles::new(&folder)?;
/// assert!(matches!(made.claim(["mine.txt"]), Err(FileError::NotMade(_))));
/// assert!(made.claim(["summary.json"]).is_ok(), "it may be replaced");
/// made.finish()?;
/// std::fs::write(dir.path().join("summary.json"), "edited")?;
/// assert!(matches!(MadeFiles::new(&folder)?.claim(["summary.json"]), Err(FileError::Changed(_))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct MadeFiles {
    folder: Folder,
    /// For each name the size and time of the result, if it is complete.
    names: BTreeMap<String, Option<String>>,
}

impl MadeFiles {
    /// What the record of a folder lists; nothing, where another user made the record.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn new(folder: &Folder) -> Result<Self, FileError> {
        let mut text = String::new();
        if let Some(file) = folder.own_note(RECORD)? {
            file.take(LARGEST).read_to_string(&mut text)?;
        }
        let entry = |line: &str| match line.split_once('\t') {
            Some((stamp, name)) => (name.to_owned(), (stamp != OPEN).then(|| stamp.to_owned())),
            None => (line.to_owned(), None),
        };
        Ok(Self { folder: folder.try_clone()?, names: text.lines().map(entry).collect() })
    }

    /// Adds names that are known to be of results, such as those of an older record.
    pub fn add_known(&mut self, names: impl IntoIterator<Item = String>) {
        for name in names {
            self.names.entry(name).or_default();
        }
    }

    /// Takes names for results. Names hold no line breaks.
    ///
    /// # Errors
    /// [`FileError::NotMade`] with the first name that something else has, [`FileError::Changed`]
    /// with that of a result that is not as flowmine made it; then none is taken. Or when the record
    /// cannot be written.
    pub fn claim<N: Into<String>>(&mut self, names: impl IntoIterator<Item = N>) -> Result<(), FileError> {
        let claimed: BTreeSet<String> = names.into_iter().map(Into::into).collect();
        for name in &claimed {
            let there = self.folder.stamp_of(name)?;
            match self.names.get(name) {
                None if there.is_some() => return Err(FileError::NotMade(name.clone())),
                Some(Some(made)) if there.as_ref().is_some_and(|there| there != made) => return Err(FileError::Changed(name.clone())),
                _ => {}
            }
        }
        let mut is_new = false;
        for name in claimed {
            is_new |= self.names.insert(name, None) != Some(None);
        }
        if is_new { self.write() } else { Ok(()) }
    }

    /// Records the results as they are now, and gives back the names that none has.
    ///
    /// # Errors
    /// When the record cannot be written.
    pub fn finish(&mut self) -> Result<(), FileError> {
        let mut made = BTreeMap::new();
        for (name, known) in &self.names {
            if let Some(there) = self.folder.stamp_of(name)? {
                made.insert(name.clone(), Some(known.clone().unwrap_or(there)));
            }
        }
        if made == self.names {
            return Ok(());
        }
        self.names = made;
        self.write()
    }

    fn write(&self) -> Result<(), FileError> {
        let mut record = self.folder.new_file(RECORD, MODE)?;
        let line = |(name, stamp): (&String, &Option<String>)| format!("{}\t{name}\n", stamp.as_deref().unwrap_or(OPEN));
        let lines: String = self.names.iter().map(line).collect();
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
            let refused = MadeFiles::new(&folder).unwrap().claim(["a", mine]).unwrap_err();
            assert!(refused.to_string().starts_with(&format!("{mine} is there already")), "{refused}");
            assert!(!dir.path().join(RECORD).exists(), "nothing is taken");
        }
        // Killed after it began: what it may have made can be made again.
        let mut made = MadeFiles::new(&folder).unwrap();
        made.claim(["a", "d"]).unwrap();
        fs::write(dir.path().join("a"), "ours").unwrap();
        let mut again = MadeFiles::new(&folder).unwrap();
        again.claim(["a", "d"]).unwrap();
        again.finish().unwrap();
        let record = fs::read_to_string(dir.path().join(RECORD)).unwrap();
        assert!(record.starts_with("4 ") && record.ends_with("\ta\n") && record.lines().count() == 1, "{record}");
        // A name that was given back is the user's again.
        fs::write(dir.path().join("d"), "a user's").unwrap();
        assert!(matches!(MadeFiles::new(&folder).unwrap().claim(["d"]), Err(FileError::NotMade(_))));
    }

    #[test]
    fn what_was_edited_since_is_not_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::open(dir.path()).unwrap();
        let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
        // A record of an older version has names alone.
        write(RECORD, "a\nb\n");
        write("a", "ours");
        write("b", "ours");
        let mut made = MadeFiles::new(&folder).unwrap();
        made.claim(["a"]).unwrap();
        // Killed here, and repeated.
        let mut made = MadeFiles::new(&folder).unwrap();
        made.claim(["a"]).unwrap();
        write("a", "ours again");
        made.finish().unwrap();
        write("a", "ours edited");
        let refused = MadeFiles::new(&folder).unwrap().claim(["b", "a"]).unwrap_err();
        assert!(refused.to_string().starts_with("a was changed since flowmine made it"), "{refused}");
        // The other results stay as they are recorded, and a name without a file is free.
        fs::remove_file(dir.path().join("a")).unwrap();
        MadeFiles::new(&folder).unwrap().claim(["b", "a"]).unwrap();
    }
}

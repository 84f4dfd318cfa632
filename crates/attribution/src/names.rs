//! Names of a file over time: the last one, those that it had before, and further links to it.
//!
//! A rename or a deleted link changes a name; the inode stays the same. So `x.part` that becomes
//! `x` is one file, known as `x`.

use std::collections::BTreeMap;
use std::ops::Bound;

use rustc_hash::FxHashMap;

use crate::AttributionError;
use crate::files::FileKey;
use crate::partial::tables::RenamedFile as RenamedFileRow;

/// Largest number of earlier names, and of further links, that are remembered of a file.
const NAMES: usize = 64;

/// The names of one file.
#[derive(Debug, Default)]
pub struct FileNames {
    /// The last name.
    last: Option<Box<str>>,
    /// Names that the file had before, in their order.
    earlier: Vec<Box<str>>,
    /// Other paths under which the file can be opened.
    others: Vec<Box<str>>,
    /// The name that was known first, if it is no longer the last one.
    first: Option<Box<str>>,
}

impl FileNames {
    /// The last name.
    pub fn last(&self) -> Option<&str> {
        self.last.as_deref()
    }

    /// Names that the file had before, in their order.
    pub fn earlier(&self) -> &[Box<str>] {
        &self.earlier
    }

    /// The name that was known first.
    pub fn first(&self) -> Option<&str> {
        self.first.as_deref().or(self.last())
    }

    /// All names that the file has now.
    pub fn present(&self) -> impl Iterator<Item = &str> {
        self.last.iter().chain(&self.others).map(|name| &**name)
    }

    fn has(&self, name: &str) -> bool {
        self.present().any(|known| known == name)
    }

    /// Adds a name under which the file was opened or linked; returns whether it is new.
    pub fn add(&mut self, name: &str) -> bool {
        if self.last.is_none() {
            self.last = Some(name.into());
            return true;
        }
        let is_new = !self.has(name) && self.others.len() < NAMES;
        if is_new {
            self.others.push(name.into());
        }
        is_new
    }

    /// Gives another name to the file; returns whether its last name changed.
    pub fn rename(&mut self, old: &str, new: &str) -> bool {
        // rename(2) of one link to another of the same file does nothing.
        if self.has(new) {
            return false;
        }
        match self.others.iter_mut().find(|name| &***name == old) {
            Some(other) => {
                *other = new.into();
                false
            }
            None => {
                self.becomes(old, new.into());
                true
            }
        }
    }

    /// Removes a name; returns whether another one is the last name now. A file keeps its last one.
    pub fn remove(&mut self, name: &str) -> bool {
        if self.last() != Some(name) {
            self.others.retain(|other| &**other != name);
            return false;
        }
        if self.others.is_empty() {
            return false;
        }
        let next = self.others.remove(0);
        self.becomes(name, next);
        true
    }

    fn becomes(&mut self, old: &str, new: Box<str>) {
        let known = self.last.replace(new);
        let before = known.as_deref().unwrap_or(old);
        self.first.get_or_insert_with(|| before.into());
        let last = self.last.clone();
        self.earlier.retain(|name| &**name != before && Some(name) != last.as_ref());
        if self.earlier.len() == NAMES {
            self.earlier.remove(0);
        }
        self.earlier.push(before.into());
    }
}

/// Names as a JSON array; `None` without any.
pub(crate) fn json(names: &[impl AsRef<str>]) -> Option<String> {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    (!names.is_empty()).then(|| serde_json::json!(names).to_string())
}

/// The last names of files that had others before, by host and file. Memory holds an entry for
/// each file that was renamed.
#[derive(Debug, Default)]
pub struct LastNames(FxHashMap<(u32, FileKey), RenamedFile>);

/// Names of a file that had several.
#[derive(Debug)]
struct RenamedFile {
    /// The last one.
    last: Box<str>,
    /// Those before, in their order.
    earlier: Vec<Box<str>>,
}

impl LastNames {
    /// Takes the present names of a file.
    pub fn put(&mut self, host: u32, key: FileKey, names: &FileNames) {
        if let Some(last) = names.last() {
            self.0.insert((host, key), RenamedFile { last: last.into(), earlier: names.earlier().to_vec() });
        }
    }

    /// Takes the names of a file in a row of a partial result; `None` if they are none.
    pub fn put_row(&mut self, host: u32, row: &RenamedFileRow<'_>) -> Option<()> {
        let key = FileKey::of(row.device, row.inode, row.generation, row.incarnation)?;
        let earlier = match row.earlier.as_deref() {
            Some(earlier) => serde_json::from_str::<Vec<Box<str>>>(earlier).ok()?,
            None => Vec::new(),
        };
        self.0.insert((host, key), RenamedFile { last: (*row.last).into(), earlier });
        Some(())
    }

    /// The rows of a partial result, in the order of files.
    pub fn each_row(&self, mut each: impl FnMut(&RenamedFileRow<'_>) -> Result<(), AttributionError>) -> Result<(), AttributionError> {
        let mut all: Vec<_> = self.0.iter().collect();
        all.sort_unstable_by_key(|(file, _)| **file);
        all.into_iter().try_for_each(|((_, key), file)| {
            each(&RenamedFileRow {
                device: FileKey::told(key.device),
                inode: FileKey::told(key.inode),
                generation: FileKey::told(key.generation),
                incarnation: key.incarnation.into(),
                last: (&*file.last).into(),
                earlier: json(&file.earlier).map(Into::into),
                ..RenamedFileRow::default()
            })
        })
    }

    /// The path of a file that was last opened by the path `opened`, and its earlier names as JSON.
    pub fn of(&self, host: u32, key: FileKey, opened: Option<String>) -> (Option<String>, Option<String>) {
        let Some(RenamedFile { last, earlier }) = self.0.get(&(host, key)) else { return (opened, None) };
        let is_earlier = |path: &String| earlier.iter().any(|name| **name == **path);
        (Some(opened.filter(|path| !is_earlier(path)).unwrap_or_else(|| last.to_string())), json(earlier))
    }
}

/// Returns the file that has a name now.
#[derive(Debug, Default)]
pub struct NameIndex(BTreeMap<Box<str>, u32>);

impl NameIndex {
    /// The file with this name.
    pub fn find(&self, name: &str) -> Option<u32> {
        self.0.get(name).copied()
    }

    /// Sets the file that has a name.
    pub fn put(&mut self, name: &str, file: u32) {
        match self.0.get_mut(name) {
            Some(known) => *known = file,
            None => drop(self.0.insert(name.into(), file)),
        }
    }

    /// Removes a name, if the file has it.
    pub fn remove(&mut self, name: &str, file: u32) {
        if self.find(name) == Some(file) {
            self.0.remove(name);
        }
    }

    /// The files below a directory: the rest of their path, and their number.
    pub fn below(&self, directory: &str) -> Vec<(Box<str>, u32)> {
        let prefix = format!("{}/", directory.trim_end_matches('/'));
        let from = self.0.range::<str, _>((Bound::Included(&*prefix), Bound::Unbounded));
        from.map_while(|(name, file)| Some((name.strip_prefix(&*prefix)?.into(), *file))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_of_renames_keeps_the_earlier_names_in_order() {
        let mut names = FileNames::default();
        names.add("a");
        assert!(names.rename("a", "b") && names.rename("b", "c"));
        assert_eq!((names.last(), names.first()), (Some("c"), Some("a")));
        assert_eq!(names.earlier().iter().map(|name| &**name).collect::<Vec<_>>(), ["a", "b"]);
        // Back to a name that it had.
        assert!(names.rename("c", "a"));
        assert_eq!(names.earlier().iter().map(|name| &**name).collect::<Vec<_>>(), ["b", "c"]);
    }

    #[test]
    fn a_link_followed_by_a_deletion_is_a_rename() {
        let mut names = FileNames::default();
        names.add("x.part");
        names.add("x");
        assert!(!names.rename("x.part", "x"), "both are links to one file");
        assert!(names.remove("x.part"));
        assert_eq!((names.last(), names.earlier().len()), (Some("x"), 1));
        assert!(!names.remove("x"), "the last name stays");
        assert_eq!(names.last(), Some("x"));
    }

    #[test]
    fn files_below_a_directory_are_found_and_its_neighbours_are_not() {
        let mut index = NameIndex::default();
        for (at, name) in ["/d/a", "/d.b/c", "/d/e/f", "/d0"].into_iter().enumerate() {
            index.put(name, at as u32);
        }
        assert_eq!(index.below("/d"), [("a".into(), 0), ("e/f".into(), 2)]);
    }
}

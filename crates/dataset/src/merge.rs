//! Merging small files: neighbours within a folder become one file, which carries the range of
//! writes that it holds.

use std::fs::File;
use std::io::{self, Write};

use flowmine_schema::Row;

use crate::error::{DatasetError, parquet_error};
use crate::parquet_error::ParquetError;
use crate::parquet_writer::ParquetBytes;
use crate::part::Part;
use crate::place::{Leaf, PartName};
use crate::table_file::TableFile;
use crate::writer::Writer;

/// How many neighbouring small files are merged into one.
const MERGE_COUNT: usize = 16;
/// Below which size in bytes a file counts as small, in each round.
const MERGE_CEILINGS: [u64; 3] = [64 << 10, 512 << 10, 4 << 20];

impl Writer {
    /// Merges small files of a table where many have gathered. Sixteen neighbours at a time, so
    /// that a row is written anew a logarithmic number of times until its file is large.
    ///
    /// Only files of this writer are merged, and of a table that is split only those of the hosts
    /// and days that it has written to.
    ///
    /// # Errors
    /// When a file cannot be read or written; the dataset stays as it was.
    pub fn merge_small_files<R: Row>(&mut self) -> Result<(), DatasetError> {
        for leaf in self.leaves_written::<R>() {
            for ceiling in MERGE_CEILINGS {
                for merge in self.merges(&leaf, ceiling)? {
                    let merged = merge.run()?;
                    self.put_merged(merged)?;
                }
            }
        }
        Ok(())
    }

    /// The next merge of a table, as [`Writer::merge_small_files`] does them, for a thread that may
    /// not be kept from writing: [`Merge::run`] is the long part.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn next_merge<R: Row>(&self) -> Result<Option<Merge>, DatasetError> {
        for leaf in self.leaves_written::<R>() {
            for ceiling in MERGE_CEILINGS {
                if let Some(merge) = self.merges(&leaf, ceiling)?.next() {
                    return Ok(Some(merge));
                }
            }
        }
        Ok(None)
    }

    /// Puts what a [`Merge`] made in the place of its files.
    ///
    /// # Errors
    /// When it cannot be written; the dataset stays as it was.
    pub fn put_merged(&mut self, merged: Merged) -> Result<(), DatasetError> {
        let Merged { leaf, parts, name, bytes } = merged;
        let Some(bytes) = bytes else {
            self.unmerged.insert(leaf.folder());
            return Ok(());
        };
        let mut transaction = self.begin()?;
        transaction.write_file(&leaf.folder(), &name.file_name(), |mut file| Ok(file.write_all(&bytes)?))?;
        transaction.commit.deletes.extend(parts.iter().map(|part| leaf.path_of(part)));
        transaction.commit()
    }

    /// Where this writer has written rows of a table, but for what cannot be merged.
    fn leaves_written<R: Row>(&self) -> Vec<Leaf> {
        let mut leaves: Vec<Leaf> = if R::SPLIT {
            self.scanned.iter().filter_map(|folder| Leaf::of_folder(folder)).filter(|leaf| leaf.table() == R::TABLE).collect()
        } else {
            vec![Leaf::whole(R::TABLE)]
        };
        leaves.retain(|leaf| !self.unmerged.contains(&leaf.folder()));
        leaves
    }

    /// The merges that there are to do among files below a size.
    fn merges(&self, leaf: &Leaf, ceiling: u64) -> Result<impl Iterator<Item = Merge> + use<>, DatasetError> {
        let owner = self.role.owner();
        let mut parts = self.dataset.parts_of_any_version(leaf)?;
        parts.retain(|part| part.name.owner == owner);
        let groups = adjacent_groups(&parts, ceiling);
        let leaf = leaf.clone();
        Ok(groups.into_iter().filter_map(move |group| {
            let parts = &parts[group];
            let (first, last) = (parts.first()?, parts.last()?);
            let name = PartName { owner: owner.clone(), first: first.name.first, last: last.name.last };
            let files = parts.iter().map(|part| part.file.try_clone()).collect();
            Some(Merge {
                leaf: leaf.clone(),
                parts: parts.iter().map(|part| part.name.clone()).collect(),
                name,
                files,
                path: first.path.clone(),
            })
        }))
    }
}

/// Neighbouring small files that are to become one.
#[derive(Debug)]
pub struct Merge {
    leaf: Leaf,
    parts: Vec<PartName>,
    name: PartName,
    files: Vec<io::Result<File>>,
    /// Path of the first file, for messages.
    path: std::path::PathBuf,
}

impl Merge {
    /// Puts the rows together, in memory. It needs no writer.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn run(self) -> Result<Merged, DatasetError> {
        let Merge { leaf, parts, name, files, path } = self;
        let bytes = merged(files).map_err(parquet_error(&path))?;
        Ok(Merged { leaf, parts, name, bytes })
    }
}

/// The rows of several files as one file, read one file after the other. `None` when they differ in
/// columns, as those of an older format version do.
pub(crate) fn merged(files: impl IntoIterator<Item = io::Result<File>>) -> Result<Option<Vec<u8>>, ParquetError> {
    let mut merged: Option<ParquetBytes> = None;
    for file in files {
        let file = TableFile::open(file?)?;
        // A file without rows still has its columns.
        for group in 0..file.groups().len().max(1) {
            let columns = file.columns(group)?;
            let bytes = match &mut merged {
                Some(bytes) => bytes,
                none => none.insert(ParquetBytes::new(&columns)?),
            };
            if !bytes.fits(&columns) {
                return Ok(None);
            }
            bytes.push(columns)?;
        }
    }
    merged.map(ParquetBytes::finish).transpose()
}

/// The file that replaces small files.
#[derive(Debug)]
pub struct Merged {
    leaf: Leaf,
    parts: Vec<PartName>,
    name: PartName,
    /// `None` where files are of an older format version: they stay as they are.
    bytes: Option<Vec<u8>>,
}

fn adjacent_groups(parts: &[Part], ceiling: u64) -> Vec<std::ops::Range<usize>> {
    let mut groups = Vec::new();
    let mut start = 0;
    for at in 0..=parts.len() {
        if at == parts.len() || parts[at].bytes >= ceiling {
            start = at + 1;
        } else if at + 1 - start == MERGE_COUNT {
            groups.push(start..at + 1);
            start = at + 1;
        }
    }
    groups
}

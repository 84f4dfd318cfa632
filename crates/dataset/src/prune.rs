//! Taking old rows out of a table.
//!
//! In go the rows that stay, chosen by a function; out comes a transaction in which files without
//! such rows go, and files with some of them are written anew. The order of rows stays. It is a
//! transaction like any other: killed before its commit nothing has happened, killed after it the
//! next writer finishes it, and readers see the table before or after it.
//!
//! A file that replaces others is known by its name, which covers theirs (`PartName::covers`). So a
//! file of which some rows stay is written together with its neighbour; the last file of a folder,
//! which has none, under a name that also covers the next write.

use std::io::Write;

use flowmine_schema::row::{HOST, Row, View};

use crate::error::{DatasetError, parquet_error};
use crate::parquet_writer::{GROUP_ROWS, ParquetBytes};
use crate::part::Part;
use crate::place::{Leaf, PartName};
use crate::projection::Projection;
use crate::rows::{Builder, Rows};
use crate::transaction::Transaction;

/// From which size in bytes on neighbours are not written into one file any more.
const LARGE: u64 = 32 << 20;

/// What was taken out of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pruned {
    /// Number of rows that were taken out.
    pub rows: u64,
    /// Number of rows that were kept.
    pub kept: u64,
    /// By how many bytes its files are smaller.
    pub bytes: i64,
}

impl Pruned {
    /// Adds what was taken out of another folder.
    pub fn add(&mut self, other: Self) {
        self.rows += other.rows;
        self.kept += other.kept;
        self.bytes += other.bytes;
    }
}

impl Transaction<'_> {
    /// Takes out of a folder the rows of this writer for which `stays` says no. To ask it, the
    /// columns of the view are read.
    ///
    /// # Errors
    /// When a file cannot be read or written.
    pub fn retain<V: View>(&mut self, leaf: &Leaf, mut stays: impl FnMut(&V::Of<'_>) -> bool) -> Result<Pruned, DatasetError> {
        let owner = self.writer.role.owner();
        let mut parts = self.writer.dataset.leaf_parts(leaf)?;
        parts.retain(|part| part.name.owner == owner);
        let mut pruned = Pruned::default();
        let mut marks: Vec<Vec<bool>> = Vec::with_capacity(parts.len());
        for part in &parts {
            let mut of_part = Vec::new();
            each_row::<V>(part, |row| {
                of_part.push(stays(row));
                Ok(())
            })?;
            let kept = of_part.iter().filter(|stays| **stays).count();
            pruned.kept += kept as u64;
            pruned.rows += (of_part.len() - kept) as u64;
            marks.push(of_part);
        }
        let whole = |at: usize| marks[at].iter().all(|stays| *stays);
        let mut at = 0;
        while at < parts.len() {
            if whole(at) {
                at += 1;
                continue;
            }
            // Neighbours that change too, as long as they are small.
            let (mut end, mut bytes) = (at + 1, parts[at].bytes);
            while end < parts.len() && !whole(end) && (end == at + 1 || bytes < LARGE) {
                bytes += parts[end].bytes;
                end += 1;
            }
            let stays = |range: std::ops::Range<usize>| range.into_iter().any(|at| marks[at].iter().any(|stays| *stays));
            let mut last = parts[end - 1].name.last;
            if stays(at..end) {
                if end == at + 1 && end < parts.len() {
                    end += 1;
                    last = parts[end - 1].name.last;
                } else if end == at + 1 {
                    last += 1;
                    self.writer.scan(&leaf.folder())?;
                    self.number = self.number.max(self.writer.next).max(last + 1);
                }
                let name = PartName { owner: owner.clone(), first: parts[at].name.first, last };
                let written = self.rewrite::<V::Table>(leaf, &parts[at..end], &marks[at..end], &name)?;
                pruned.bytes -= i64::try_from(written).unwrap_or(i64::MAX);
            }
            for part in &parts[at..end] {
                pruned.bytes += i64::try_from(part.bytes).unwrap_or(i64::MAX);
                self.commit.deletes.push(leaf.path_of(&part.name));
            }
            at = end;
        }
        Ok(pruned)
    }

    /// Writes the rows that stay of some files as one; gives its size.
    fn rewrite<R: Row>(&mut self, leaf: &Leaf, parts: &[Part], marks: &[Vec<bool>], name: &PartName) -> Result<u64, DatasetError> {
        let path = self.writer.dataset.dir().join(leaf.path_of(name));
        let mut file: Option<ParquetBytes> = None;
        let mut push = |rows: Builder<R>| -> Result<(), DatasetError> {
            let mut columns = rows.finish().map_err(parquet_error(&path))?.columns;
            if R::SPLIT {
                columns.remove(HOST);
            }
            let file = match &mut file {
                Some(file) => file,
                none => none.insert(ParquetBytes::new(&columns).map_err(parquet_error(&path))?),
            };
            file.push(columns).map_err(parquet_error(&path))
        };
        let mut rows = Builder::<R>::new();
        for (part, marks) in parts.iter().zip(marks) {
            let mut marks = marks.iter();
            each_row::<R>(part, |row| {
                if marks.next().copied().unwrap_or(true) {
                    rows.push(row);
                }
                if rows.len() == GROUP_ROWS { push(std::mem::take(&mut rows)) } else { Ok(()) }
            })?;
        }
        if !rows.is_empty() {
            push(rows)?;
        }
        let Some(file) = file else { return Ok(0) };
        let bytes = file.finish().map_err(parquet_error(&path))?;
        self.write_file(&leaf.folder(), &name.file_name(), |mut to| Ok(to.write_all(&bytes)?))?;
        Ok(bytes.len() as u64)
    }
}

/// Each row of a file, one row group in memory at a time.
fn each_row<V: View>(part: &Part, mut each: impl FnMut(&V::Of<'_>) -> Result<(), DatasetError>) -> Result<(), DatasetError> {
    let file = part.open()?;
    for group in 0..file.groups().len() {
        let rows = Rows::<V>::read(part.read_group(&file, group, Projection::new::<V>())?, part.path())?;
        for row in rows.iter() {
            each(&row)?;
        }
    }
    Ok(())
}

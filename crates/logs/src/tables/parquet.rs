//! Columns of a Parquet file as those of a table.

use std::fs::File;
use std::hash::{BuildHasher, BuildHasherDefault};
use std::ops::Range;
use std::thread;

use flowmine_activity_log::{NONE, Names, UNKNOWN};
use flowmine_schema::foreign_parquet::{As, Data, ForeignFile, NO_NUMBER, NO_TEXT, Texts};
use hashbrown::HashTable;
use rustc_hash::FxHasher;

use super::columns::{Coded, Faults, Got, Read, Source, Want, result_of};
use super::{TableError, values};

// What is missing is written in the same way on both sides.
const _: () = assert!(NO_TEXT == NONE && NO_NUMBER == UNKNOWN);

/// A file whose columns can be read.
pub struct ParquetTable {
    file: ForeignFile,
    names: Vec<String>,
}

impl ParquetTable {
    /// Opens a file.
    pub fn open(file: File) -> Result<Self, TableError> {
        let file = ForeignFile::open(file)?;
        let names = file.columns().iter().map(|column| column.name.clone()).collect();
        Ok(Self { file, names })
    }
}

impl Source for ParquetTable {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn read(self, wanted: &[(usize, Want)]) -> Result<Read, TableError> {
        let how = |want: Want| match want {
            Want::Texts => As::Texts,
            Want::Times => As::Times(values::time),
            Want::Numbers => As::Numbers(values::number),
        };
        let wanted: Vec<(usize, As)> = wanted.iter().map(|&(at, want)| (at, how(want))).collect();
        let columns = self.file.read(&wanted)?;
        let (columns, replaced) = in_one_each(columns);
        let note = format!("{replaced} texts are not UTF-8; what could not be read is shown as U+FFFD");
        Ok(Read { columns, notes: (replaced > 0).then_some(note).into_iter().collect(), bad_rows: 0 })
    }
}

/// Columns with each text once, worked on side by side, and how many texts were not UTF-8.
fn in_one_each(columns: Vec<Data>) -> (Vec<Got>, u64) {
    thread::scope(|scope| {
        let work: Vec<_> = columns
            .into_iter()
            .map(|column| match column {
                Data::Texts { codes, groups } => Err(scope.spawn(|| in_one(codes, groups))),
                Data::Numbers { values, refused } => {
                    let first = refused.first.iter().map(|(row, text)| format!("row {} has {text:?}", row + 1)).collect();
                    Ok(Got::Numbers(values, Faults { count: refused.count, first }))
                }
            })
            .collect();
        let mut replaced = 0;
        let columns = work.into_iter().map(|column| {
            column.unwrap_or_else(|texts| {
                let (column, of_it) = result_of(texts);
                replaced += of_it;
                Got::Texts(column)
            })
        });
        let columns = columns.collect();
        (columns, replaced)
    })
}

fn in_one(mut codes: Vec<u32>, groups: Vec<(Range<usize>, Texts)>) -> (Coded, u64) {
    let replaced = groups.iter().map(|(_, texts)| texts.not_utf8).sum();
    if let [(_, texts)] = &groups[..]
        && texts.are_distinct
        && texts.not_utf8 == 0
    {
        return (Coded { codes, names: (0..texts.len()).map(|at| texts.get(at)).collect() }, replaced);
    }
    // With the hashes, which have not to be computed again when the table grows.
    let most: usize = groups.iter().map(|(_, texts)| texts.len()).sum();
    let mut table: HashTable<(u64, u32)> = HashTable::with_capacity(most.min(1 << 20));
    let mut names = Names::default();
    for (rows, texts) in groups {
        let of = (0..texts.len()).map(|at| {
            let text = texts.get(at);
            let key = hash(text);
            match table.find(key, |&(of, number)| of == key && names.get(number) == text) {
                Some(&(_, number)) => number,
                None => {
                    let number = names.push(text);
                    table.insert_unique(key, (key, number), |&(of, _)| of);
                    number
                }
            }
        });
        let of: Vec<u32> = of.collect();
        // So it is for the first group, unless the file says a text twice.
        if of.iter().enumerate().any(|(at, &number)| at as u32 != number) {
            for code in codes.get_mut(rows).unwrap_or_default() {
                *code = of.get(*code as usize).copied().unwrap_or(NONE);
            }
        }
    }
    (Coded { codes, names }, replaced)
}

fn hash(text: &str) -> u64 {
    BuildHasherDefault::<FxHasher>::default().hash_one(text)
}

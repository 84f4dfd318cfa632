//! Tables of others: CSV as a log (`flowmine-logs`), and Parquet (`flowmine-dataset`).

use std::fs::File;

use flowmine_dataset::foreign_parquet::{As, ForeignFile};
use flowmine_logs::tables::{self, TableOptions};

use crate::{choice, file_of, reached};

/// CSV. The first byte says whether columns are named.
pub fn csv(bytes: &[u8]) {
    let (first, bytes) = choice(bytes);
    let mut options = TableOptions::default();
    if first & 1 == 1 {
        let names: Vec<String> = bytes
            .split(|byte| *byte == b'\n')
            .next()
            .unwrap_or_default()
            .split(|byte| matches!(byte, b',' | b';' | b'\t' | b'|'))
            .map(|name| String::from_utf8_lossy(name).trim_matches('"').to_owned())
            .collect();
        let name = |at: usize| names.get(at).cloned();
        options = TableOptions { case_column: name(0), activity_column: name(1), timestamp_column: name(2), ..options };
        options.keep = names.iter().skip(3).cloned().collect();
    }
    let _ = tables::is_table(None, bytes);
    reached(tables::read_csv(bytes, &options).is_ok(), "CSV");
}

/// Parquet: as a log, and each column as whatever it can be read as.
pub fn parquet(bytes: &[u8]) {
    let Some(path) = file_of(bytes) else { return };
    reached(tables::read(&path, &TableOptions::default()).is_ok(), "Parquet");
    let Ok(file) = File::open(path) else { return };
    let Ok(file) = ForeignFile::open(file) else { return };
    let number = |text: &str| text.parse().ok();
    for at in 0..file.columns().len().min(20) {
        for how in [As::Texts, As::Times(number), As::Numbers(number)] {
            let read = file.read(&[(at, how)]);
            reached(read.is_ok(), "a column of Parquet");
        }
    }
}

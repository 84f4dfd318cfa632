//! A reader of CSV (RFC 4180) of a dozen lines.

use std::collections::BTreeMap;

/// Returns the rows of a table as cells by column name.
pub fn rows(text: &str) -> Vec<BTreeMap<String, String>> {
    let mut lines = records(text).into_iter();
    let names = lines.next().unwrap_or_default();
    lines.map(|cells| names.iter().cloned().zip(cells).collect()).collect()
}

fn records(text: &str) -> Vec<Vec<String>> {
    let (mut records, mut record, mut cell, mut is_quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if is_quoted && characters.peek() == Some(&'"') => cell.extend(characters.next()),
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => record.push(std::mem::take(&mut cell)),
            '\n' if !is_quoted => {
                record.push(std::mem::take(&mut cell));
                records.push(std::mem::take(&mut record));
            }
            '\r' if !is_quoted => {}
            other => cell.push(other),
        }
    }
    records
}

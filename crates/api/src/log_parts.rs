//! Which part of a log a file is, as `export --part` writes it into XES, and whether the parts that
//! are given belong together and are all.

use std::collections::BTreeSet;

use flowmine_eventlog::CaseHeader;
use flowmine_eventlog::part_of_cases::{PART, ROWS};
use flowmine_eventlog::{Attribute, Value};

use crate::error::{Result, ensure};

/// Which part of a log a file says it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogPart {
    number: u32,
    of: u32,
    /// Of which rows of a dataset, and of which log: parts of one log say the same.
    log: (Option<String>, Option<String>),
}

impl LogPart {
    /// What a header says; `None` when the log is no part, or has nothing that can be read as one.
    pub fn new(header: &CaseHeader) -> Option<Self> {
        let text = |key| match &Attribute::find(&header.attributes, key)?.value {
            Value::String(text) => Some(text.to_string()),
            _ => None,
        };
        let (number, of) = text(PART)?.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)))?;
        Some(Self { number, of, log: (text(ROWS), text("concept:name")) })
    }
}

/// What is to be said of the parts that were given; nothing when they are a whole log, or no parts.
///
/// # Errors
/// When they are parts of different logs.
pub fn check(parts: &[LogPart]) -> Result<Option<String>> {
    let Some(first) = parts.first() else { return Ok(None) };
    ensure!(
        parts.iter().all(|part| (part.of, &part.log) == (first.of, &first.log)),
        "the files are parts of different logs, which are not one: export all parts after one `flowmine correlate`, with the same options"
    );
    let given: BTreeSet<u32> = parts.iter().map(|part| part.number).collect();
    let missing = u64::from(first.of).saturating_sub(given.len() as u64);
    Ok((missing > 0)
        .then(|| format!("the log has {} parts, of which {missing} are missing here: the results hold for the others", first.of)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(part: &str, rows: &str) -> LogPart {
        let attributes = vec![Attribute::text(PART, part.to_owned()), Attribute::text(ROWS, rows.to_owned())];
        LogPart::new(&CaseHeader { attributes, ..CaseHeader::default() }).unwrap()
    }

    #[test]
    fn parts_are_of_one_log_and_all() {
        assert_eq!(check(&[]).unwrap(), None);
        assert_eq!(check(&[part("2/2", "a"), part("1/2", "a")]).unwrap(), None);
        assert!(check(&[part("1/3", "a"), part("1/3", "a")]).unwrap().unwrap().contains("3 parts, of which 2"));
        assert!(check(&[part("1/2", "a"), part("2/2", "b")]).is_err());
        assert!(check(&[part("1/2", "a"), part("2/3", "a")]).is_err());
        assert_eq!(LogPart::new(&CaseHeader::default()), None);
    }
}

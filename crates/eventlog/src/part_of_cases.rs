//! A part of a log's cases as a log of its own.
//!
//! The input is a log and a selection of its cases by name; the output is these cases, complete and
//! unchanged. The attributes of the log also record which part it is, so that it is not mistaken
//! for the whole. Memory is 16 bytes for each case, where cases are chosen.

use crate::attribute::Attribute;
use crate::case_names::CaseNames;
use crate::error::LogError;
use crate::log::{Batches, CaseHeader, CaseLog, rebatched};
use crate::record::{self, Record};

/// The attribute of a log that is a part: which it is, as in `2/8`.
pub const PART: &str = "flowmine_part";

/// Log attribute of a log that is a part of a dataset: the rows it is from, so that parts of
/// different rows are not mistaken for one log.
pub const ROWS: &str = "flowmine_rows";

/// Which cases are taken, by name. Cases of one name are taken together; one without a name is
/// called by its place (`case 5`).
pub type Takes<'l> = Box<dyn Fn(&str) -> bool + Send + Sync + 'l>;

/// A part of a log's cases.
pub struct PartOfCases<'l> {
    log: &'l dyn CaseLog,
    header: CaseHeader,
    takes: Option<Takes<'l>>,
}

impl<'l> PartOfCases<'l> {
    /// The cases of a log that are taken; without a choice the log has those of the part alone.
    pub fn new(log: &'l dyn CaseLog, part: &str, rows: Option<&str>, takes: Option<Takes<'l>>) -> Self {
        let mut header = log.header().clone();
        header.attributes.push(Attribute::text(PART, part.to_owned()));
        header.attributes.extend(rows.map(|rows| Attribute::text(ROWS, rows.to_owned())));
        Self { log, header, takes }
    }
}

impl CaseLog for PartOfCases<'_> {
    fn header(&self) -> &CaseHeader {
        &self.header
    }

    fn traces(&self) -> Batches<'_> {
        let Some(takes) = &self.takes else { return self.log.traces() };
        let mut names = CaseNames::default();
        let mut taken = false;
        rebatched(self.log.traces(), move |batch, filling, ready| {
            for piece in batch.pieces() {
                if record::is_trace(piece) {
                    let Record::Trace(attributes) = Record::decode(piece)? else { return Err(LogError::Damaged) };
                    let name = names.next(&attributes);
                    taken = takes(name.told.as_deref().unwrap_or(&name.name));
                }
                if taken {
                    ready.extend(filling.push_piece(piece));
                }
            }
            Ok(())
        })
    }
}

//! Records of a log in external sorts ([`flowmine_spill`]): put in with a key, taken out as
//! batches.

use flowmine_spill::{Sorted, Sorter, SpillError};

use crate::record::{Batch, BatchBuilder, Record};
use crate::{Batches, LogError};

/// Sorts records of a log by a key.
pub trait SortRecords {
    /// Takes a record under a key.
    ///
    /// # Errors
    /// As [`Sorter::push`].
    fn push_record(&mut self, key: &[u8], record: &Record<'_>) -> Result<(), LogError>;
}

impl SortRecords for Sorter {
    fn push_record(&mut self, key: &[u8], record: &Record<'_>) -> Result<(), LogError> {
        Ok(self.push(key, |out| record.encode(out))?)
    }
}

/// Gives records of a log by their keys.
pub trait SortedRecords {
    /// The records as batches; `change` may write another form of a record's bytes, and otherwise
    /// leaves them to be copied by returning `false`. After an error there is nothing more.
    fn batches<'s>(&'s self, change: impl FnMut(&[u8], &mut Vec<u8>) -> bool + Send + 's) -> Batches<'s>;
}

impl SortedRecords for Sorted {
    fn batches<'s>(&'s self, mut change: impl FnMut(&[u8], &mut Vec<u8>) -> bool + Send + 's) -> Batches<'s> {
        let mut walk = None;
        let mut builder = Some(BatchBuilder::default());
        let mut scratch = Vec::new();
        until_error(move || {
            let walk = match &mut walk {
                Some(walk) => walk,
                none => none.insert(self.walk()?),
            };
            let Some(filling) = &mut builder else { return Ok(None) };
            while let Some((_, bytes)) = walk.next()? {
                scratch.clear();
                let changed = change(bytes, &mut scratch);
                if let Some(batch) = filling.push_piece(if changed { &scratch } else { bytes }) {
                    return Ok(Some(batch));
                }
            }
            Ok(builder.take().and_then(BatchBuilder::finish))
        })
    }
}

fn until_error<'s>(mut next: impl FnMut() -> Result<Option<Batch>, LogError> + Send + 's) -> Batches<'s> {
    let mut failed = false;
    Box::new(std::iter::from_fn(move || {
        if failed {
            return None;
        }
        let result = next().transpose();
        failed = matches!(result, Some(Err(_)));
        result
    }))
}

impl From<SpillError> for LogError {
    fn from(error: SpillError) -> Self {
        match error {
            SpillError::Io(error) => Self::Io(error),
            SpillError::Damaged => Self::Damaged,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_comes_after_an_error() {
        let mut batches = until_error(|| Err(LogError::Damaged));
        assert!(matches!(batches.next(), Some(Err(LogError::Damaged))));
        assert!(batches.next().is_none());
    }
}

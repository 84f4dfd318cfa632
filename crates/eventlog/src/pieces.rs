//! Batches in, pieces of text out: what the writers of text formats have in common.
//!
//! Each batch becomes one piece of bytes on some thread; the pieces come back in the order of the
//! log. Their memory is used again, so that the system does not have to clear new pages for every
//! piece; that of a large one is given back.

use std::io::Write;
use std::sync::Mutex;

use crate::error::LogError;
use crate::log::{Batches, Counts};
use crate::parallel;
use crate::record::{BATCH_BYTES, Batch};

/// Pieces of more bytes are rare, and their memory is not kept.
const KEPT_BYTES: usize = 16 * BATCH_BYTES;

/// Calls `format` for each batch on some thread, with an empty buffer to fill, and `take` on this
/// one with the piece and what `format` said about it, in order.
pub(crate) fn each<T: Send>(
    batches: Batches<'_>,
    format: impl Fn(&Batch, &mut Vec<u8>) -> Result<T, LogError> + Sync,
    mut take: impl FnMut(&[u8], T) -> Result<(), LogError>,
) -> Result<(), LogError> {
    let used = Mutex::new(Vec::<Vec<u8>>::new());
    let formatted = |batch: &Batch| {
        // A thread that panicked while it held the lock ends the work anyway; the buffers are sound.
        let mut piece = used.lock().ok().and_then(|mut used| used.pop()).unwrap_or_default();
        piece.clear();
        let said = format(batch, &mut piece)?;
        Ok((piece, said))
    };
    parallel::in_order(batches, formatted, |(piece, said)| {
        take(&piece, said)?;
        if piece.capacity() <= KEPT_BYTES
            && let Ok(mut used) = used.lock()
        {
            used.push(piece);
        }
        Ok(())
    })
}

/// Writes all pieces, without the first `skipped` bytes of the first that is not empty: those are
/// the separator between records.
pub(crate) fn write(
    batches: Batches<'_>,
    out: &mut dyn Write,
    mut skipped: usize,
    format: impl Fn(&Batch, &mut Vec<u8>) -> Result<Counts, LogError> + Sync,
) -> Result<Counts, LogError> {
    let mut counts = Counts::default();
    each(batches, format, |piece, of_piece| {
        counts += of_piece;
        out.write_all(piece.get(skipped..).unwrap_or_default())?;
        if !piece.is_empty() {
            skipped = 0;
        }
        Ok(())
    })?;
    Ok(counts)
}

/// The error for a log that gives records where they do not belong.
pub(crate) fn misplaced(place: &str) -> LogError {
    LogError::RefusedAt {
        place: place.to_string(),
        message: "a record of another kind was found here; this is a fault of the program".to_string(),
    }
}

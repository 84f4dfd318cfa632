//! Formatting on all processors, output in order.
//!
//! One thread walks through the log, as many as the machine has format its batches, and the calling thread takes what they made in the
//! order of the log. What waits between them is bounded, so memory does not grow with the log.

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use crate::error::LogError;
use crate::log::Batches;
use crate::record::Batch;

/// Calls `format` for each batch on some thread and `take` with each result on this one, in order.
///
/// # Errors
/// The first in the order of the log, of the batches, of `format` or of `take`.
pub fn in_order<T: Send>(
    batches: Batches<'_>,
    format: impl Fn(&Batch) -> Result<T, LogError> + Sync,
    mut take: impl FnMut(T) -> Result<(), LogError>,
) -> Result<(), LogError> {
    type Work<T> = (Batch, SyncSender<Result<T, LogError>>);
    let workers = thread::available_parallelism().map_or(1, std::num::NonZero::get).clamp(1, 8);
    let (to_workers, work) = sync_channel::<Work<T>>(workers);
    let (to_taker, results) = sync_channel::<Receiver<Result<T, LogError>>>(2 * workers);
    let work = Mutex::new(work);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    // The lock is held only while waiting for the next batch.
                    let next = match work.lock() {
                        Ok(work) => work.recv(),
                        Err(_) => break,
                    };
                    let Ok((batch, answer)) = next else { break };
                    // Nobody listens any more after an error: then the walk ends too.
                    let _ = answer.send(format(&batch));
                }
            });
        }
        scope.spawn(move || {
            for batch in batches {
                let (answer, result) = sync_channel(1);
                if to_taker.send(result).is_err() {
                    break;
                }
                match batch {
                    Ok(batch) => {
                        if to_workers.send((batch, answer)).is_err() {
                            break;
                        }
                    }
                    Err(error) => {
                        let _ = answer.send(Err(error));
                        break;
                    }
                }
            }
        });
        for result in results {
            take(result.recv().map_err(|_| LogError::Worker)??)?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{BatchBuilder, Record};

    fn batches(count: usize) -> Batches<'static> {
        Box::new((0..count).map(|_| {
            let mut builder = BatchBuilder::default();
            builder.push(&Record::TraceEnd);
            builder.finish().ok_or(LogError::Damaged)
        }))
    }

    #[test]
    fn everything_comes_and_an_error_ends_it() {
        let mut seen = 0;
        in_order(
            batches(100),
            |batch| Ok(batch.len()),
            |n| {
                seen += n;
                Ok(())
            },
        )
        .unwrap();
        assert_eq!(seen, 100);
        let mut left = 10;
        let stopped = in_order(
            batches(10_000),
            |batch| Ok(batch.len()),
            |_| {
                left -= 1;
                if left == 0 { Err(LogError::Damaged) } else { Ok(()) }
            },
        );
        assert!(matches!(stopped, Err(LogError::Damaged)) && left == 0);
        let broken: Batches<'_> = Box::new(batches(3).chain([Err(LogError::Worker)]).chain(batches(3)));
        let mut seen = 0;
        let stopped = in_order(
            broken,
            |batch| Ok(batch.len()),
            |n| {
                seen += n;
                Ok(())
            },
        );
        assert!(matches!(stopped, Err(LogError::Worker)));
        assert_eq!(seen, 3);
    }
}

//! Formatting on all processors, output in order.
//!
//! One thread walks through the log, as many as the machine has format its batches, and the calling
//! thread takes what they made in the order of the log. What waits between them is bounded: a few
//! dozen batches of the usual size, and of larger ones, which have a single large record, one after
//! the other. A thread that panics ends the work with an error.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, Builder};

use crate::error::LogError;
use crate::log::Batches;
use crate::record::{BATCH_BYTES, Batch};

/// A batch of more bytes is formatted and taken alone.
const LARGE_BYTES: usize = 8 * BATCH_BYTES;

/// Calls `format` for each batch on some thread and `take` with each result on this one, in order.
///
/// # Errors
/// The first in the order of the log, of the batches, of `format` or of `take`;
/// [`LogError::Worker`] when `format` or the log panicked.
pub fn in_order<T: Send>(
    batches: Batches<'_>,
    format: impl Fn(&Batch) -> Result<T, LogError> + Sync,
    mut take: impl FnMut(T) -> Result<(), LogError>,
) -> Result<(), LogError> {
    type Work<T> = (Batch, SyncSender<Result<T, LogError>>);
    let workers = thread::available_parallelism().map_or(1, std::num::NonZero::get).clamp(1, 8);
    let most_waiting = 2 * workers;
    let (to_workers, work) = sync_channel::<Work<T>>(workers);
    let (to_taker, results) = sync_channel::<Option<Receiver<Result<T, LogError>>>>(most_waiting);
    let work = Mutex::new(work);
    thread::scope(|scope| {
        let started = flowmine_threads::helpers(scope, workers, || {
            loop {
                // The lock is held only while waiting for the next batch.
                let next = match work.lock() {
                    Ok(work) => work.recv(),
                    Err(_) => break,
                };
                let Ok((batch, answer)) = next else { break };
                // A worker has to go on after a panic: if none was left, the walk would wait for one forever.
                let made = guarded(|| format(&batch));
                // After an error, nothing receives the answer, and the walk ends too.
                let _ = answer.send(made);
            }
        })
        .len();
        // What is moved into a thread that does not start is lost: so it follows when there is one.
        let (hand, handed) = sync_channel::<Batches<'_>>(1);
        let walk = move || {
            let Ok(mut batches) = handed.recv() else { return };
            loop {
                // The end of the batches must not look like the end of the log.
                let Some(batch) = catch_unwind(AssertUnwindSafe(|| batches.next())).unwrap_or_else(|panic| Some(stopped(panic))) else {
                    break;
                };
                if batch.as_ref().is_ok_and(|batch| batch.bytes() > LARGE_BYTES) {
                    // Fills the queue with nothing: what follows fits in when all before has been taken.
                    for _ in 0..most_waiting {
                        if to_taker.send(None).is_err() {
                            return;
                        }
                    }
                }
                let (answer, result) = sync_channel(1);
                if to_taker.send(Some(result)).is_err() {
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
        };
        if started == 0 || Builder::new().spawn_scoped(scope, walk).is_err() {
            return one_by_one(batches, &format, &mut take);
        }
        hand.send(batches).map_err(|_| LogError::Worker)?;
        for result in results.into_iter().flatten() {
            take(result.recv().map_err(|_| LogError::Worker)??)?;
        }
        Ok(())
    })
}

/// The same on one thread.
fn one_by_one<T>(
    mut batches: Batches<'_>,
    format: &dyn Fn(&Batch) -> Result<T, LogError>,
    take: &mut dyn FnMut(T) -> Result<(), LogError>,
) -> Result<(), LogError> {
    while let Some(batch) = catch_unwind(AssertUnwindSafe(|| batches.next())).unwrap_or_else(|panic| Some(stopped(panic))) {
        let batch = batch?;
        take(guarded(|| format(&batch))?)?;
    }
    Ok(())
}

fn guarded<T>(work: impl FnOnce() -> Result<T, LogError>) -> Result<T, LogError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(stopped)
}

/// What comes of a panic, which has been said on standard error.
fn stopped<T>(_: Box<dyn Any + Send>) -> Result<T, LogError> {
    Err(LogError::Worker)
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

    #[test]
    fn a_panic_is_an_error_and_nothing_waits_for_ever() {
        // More than there are workers, so that none is left if each ends with its panic.
        let stopped = in_order(batches(1000), |_| -> Result<(), LogError> { panic!("on purpose") }, |()| Ok(()));
        assert!(matches!(stopped, Err(LogError::Worker)));
        let log: Batches<'_> = Box::new(batches(3).chain(std::iter::once_with(|| panic!("on purpose"))));
        let mut seen = 0;
        let stopped = in_order(
            log,
            |batch| Ok(batch.len()),
            |n| {
                seen += n;
                Ok(())
            },
        );
        assert!(matches!(stopped, Err(LogError::Worker)));
        assert_eq!(seen, 3);
    }

    #[test]
    fn large_batches_come_one_by_one() {
        use std::sync::atomic::{AtomicUsize, Ordering};
        let text = "x".repeat(LARGE_BYTES);
        let large = || {
            let mut builder = BatchBuilder::default();
            builder.push(&Record::Trace(vec![crate::Attribute::text("k", text.as_str())])).ok_or(LogError::Damaged)
        };
        let mixed: Batches<'_> = Box::new(batches(5).chain((0..20).map(|_| large())).chain(batches(5)));
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let mut seen = 0;
        in_order(
            mixed,
            |batch| {
                if batch.bytes() > LARGE_BYTES {
                    most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                }
                Ok(batch.bytes())
            },
            |bytes| {
                if bytes > LARGE_BYTES {
                    now.fetch_sub(1, Ordering::SeqCst);
                }
                seen += 1;
                Ok(())
            },
        )
        .unwrap();
        assert_eq!((seen, most.into_inner()), (30, 1));
    }
}

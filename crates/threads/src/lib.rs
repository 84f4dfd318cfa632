//! Work on further threads, where the system gives any.
//!
//! - **In:** work that can be done at the same time as the caller's.
//! - **Out:** its result, the same in any case.
//!
//! **One rule.** A thread is an offer: where none can be started (`ulimit -u`, `pids.max`, no
//! memory), the calling thread does the work. The standard library's `spawn` panics there.
//!
//! ```
//! let (one, two) = std::thread::scope(|scope| {
//!     let one = flowmine_threads::beside(scope, || 1);
//!     let two = 2;
//!     (one.join(), two)
//! });
//! assert_eq!(one + two, 3);
//! let sum = flowmine_threads::ahead(1..=4, 1, |numbers| numbers.sum::<i32>());
//! assert_eq!(sum, 10);
//! ```

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

use std::panic::resume_unwind;
use std::sync::mpsc::sync_channel;
use std::thread::{Builder, Scope, ScopedJoinHandle, scope};

/// The most threads that work is shared between.
const MOST: usize = 16;

/// The number of threads among which work can be shared, the calling one included: at most that of
/// the processors.
pub fn count(work: usize) -> usize {
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    processors.min(MOST).min(work).max(1)
}

/// Whether a thread can be started now. For libraries that start theirs without a question.
pub fn can_start() -> bool {
    Builder::new().spawn(|| ()).is_ok_and(|thread| thread.join().is_ok())
}

/// Work that another thread does, or that the calling one has done.
#[derive(Debug)]
pub enum Beside<'scope, T> {
    /// A thread does it; what is handed over to it gives a result.
    Running(ScopedJoinHandle<'scope, Option<T>>),
    /// It is done.
    Done(T),
}

impl<T> Beside<'_, T> {
    /// The result, when it is there.
    ///
    /// # Panics
    /// When the work did.
    pub fn join(self) -> T {
        match self {
            Self::Running(thread) => match thread.join() {
                Ok(Some(result)) => result,
                Ok(None) => unreachable!("the work was handed over"),
                Err(panic) => resume_unwind(panic),
            },
            Self::Done(result) => result,
        }
    }
}

/// Starts work on another thread, or does it at once.
pub fn beside<'scope, T: Send + 'scope, W>(scope: &'scope Scope<'scope, '_>, work: W) -> Beside<'scope, T>
where
    W: FnOnce() -> T + Send + 'scope,
{
    beside_of(true, scope, work)
}

fn beside_of<'scope, T: Send + 'scope, W>(threads: bool, scope: &'scope Scope<'scope, '_>, work: W) -> Beside<'scope, T>
where
    W: FnOnce() -> T + Send + 'scope,
{
    // What is moved into a thread that does not start is lost: so it follows when there is one.
    let (hand, handed) = sync_channel::<W>(1);
    let run = move || handed.recv().ok().map(|work| work());
    match threads.then(|| Builder::new().spawn_scoped(scope, run)) {
        Some(Ok(thread)) => match hand.send(work) {
            Ok(()) => Beside::Running(thread),
            Err(back) => Beside::Done(back.0()),
        },
        _ => Beside::Done(work()),
    }
}

/// Starts work on a detached thread, or gives it back if there is none.
///
/// # Errors
/// The work, not begun.
pub fn apart<W: FnOnce() + Send + 'static>(work: W) -> Result<(), W> {
    apart_of(true, work)
}

fn apart_of<W: FnOnce() + Send + 'static>(threads: bool, work: W) -> Result<(), W> {
    let (hand, handed) = sync_channel::<W>(1);
    let run = move || handed.into_iter().for_each(|work| work());
    match threads.then(|| Builder::new().spawn(run)) {
        Some(Ok(_)) => hand.send(work).map_err(|back| back.0),
        _ => Err(work),
    }
}

/// What both give, the first on a thread of its own where there can be one.
pub fn both<A: Send, B>(first: impl FnOnce() -> A + Send, second: impl FnOnce() -> B) -> (A, B) {
    scope(|scope| {
        let first = beside(scope, first);
        let second = second();
        (first.join(), second)
    })
}

/// Starts the same work on this number of other threads, or on as many as the system gives.
pub fn helpers<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    most: usize,
    work: impl Fn() -> T + Send + Copy + 'scope,
) -> Vec<ScopedJoinHandle<'scope, T>> {
    (0..most).map_while(|_| Builder::new().spawn_scoped(scope, work).ok()).collect()
}

/// Calls `take` with items that another thread makes meanwhile, at most `room` of them and one more
/// in advance; without another thread each is made when it is taken.
pub fn ahead<I, R>(items: I, room: usize, take: impl FnOnce(&mut dyn Iterator<Item = I::Item>) -> R) -> R
where
    I: Iterator + Send,
    I::Item: Send,
{
    ahead_of(true, items, room, take)
}

fn ahead_of<I, R>(threads: bool, mut items: I, room: usize, take: impl FnOnce(&mut dyn Iterator<Item = I::Item>) -> R) -> R
where
    I: Iterator + Send,
    I::Item: Send,
{
    // What is moved into a thread that does not start is lost: so it follows when there is one.
    let (hand, handed) = sync_channel::<I>(1);
    let (give, taken) = sync_channel(room);
    let make = move || {
        for item in handed.into_iter().flatten() {
            if give.send(item).is_err() {
                return;
            }
        }
    };
    scope(|scope| {
        if !threads || Builder::new().spawn_scoped(scope, make).is_err() {
            return take(&mut items);
        }
        let sent = hand.send(items);
        drop(hand);
        match sent {
            Ok(()) => take(&mut taken.into_iter()),
            Err(mut back) => take(&mut back.0),
        }
    })
}

/// Calls `take` with the result of `make` for each number below `count`, in their order. Results are
/// made on as many threads as there are processors; each thread holds at most two that were not taken
/// yet. Without another thread each is made when it is taken.
///
/// # Errors
/// What `take` returns; the remaining numbers are then not made.
///
/// # Panics
/// When `make` does.
pub fn in_order<T: Send, E>(count: usize, make: impl Fn(usize) -> T + Sync, mut take: impl FnMut(T) -> Result<(), E>) -> Result<(), E> {
    let threads = self::count(count);
    if threads < 2 {
        return (0..count).try_for_each(|number| take(make(number)));
    }
    scope(|scope| {
        // Of its own, each thread has the numbers that leave the same rest.
        let mut lanes = Vec::with_capacity(threads);
        for lane in 0..threads {
            let (give, taken) = sync_channel(1);
            let make = &make;
            let run = move || {
                for number in (lane..count).step_by(threads) {
                    if give.send(make(number)).is_err() {
                        return;
                    }
                }
            };
            lanes.push(Builder::new().spawn_scoped(scope, run).ok().map(|_| taken));
        }
        for number in 0..count {
            let made = match lanes.get(number % threads) {
                // A thread that panicked gives nothing: the scope panics with it.
                Some(Some(taken)) => match taken.recv() {
                    Ok(made) => made,
                    Err(_) => return Ok(()),
                },
                _ => make(number),
            };
            take(made)?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_come_in_order_with_a_thread_and_without() {
        for threads in [true, false] {
            let all: Vec<u32> = ahead_of(threads, 0..1000, 2, |items| items.collect());
            assert_eq!(all, (0..1000).collect::<Vec<_>>());
            // Whoever stops taking ends the thread.
            assert_eq!(ahead_of(threads, 0_u64.., 0, |items| items.take(3).sum::<u64>()), 3);
        }
    }

    #[test]
    fn work_is_done_once() {
        let done = std::sync::atomic::AtomicU32::new(0);
        let work = || done.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        scope(|scope| {
            let running = beside(scope, work);
            assert!(matches!(running, Beside::Running(_)), "there are threads");
            assert_eq!(running.join(), 0);
            let own = beside_of(false, scope, work);
            assert!(matches!(own, Beside::Done(1)), "{own:?}");
            let helped = helpers(scope, 3, work);
            assert_eq!(helped.into_iter().map(|thread| thread.join().unwrap()).max(), Some(4));
        });
        assert_eq!(done.into_inner(), 5);
    }

    #[test]
    fn work_apart_is_done_or_comes_back() {
        let (send, taken) = sync_channel(1);
        assert!(apart(move || send.send(1).unwrap()).is_ok());
        assert_eq!(taken.recv(), Ok(1));
        let (send, taken) = sync_channel(1);
        let back = apart_of(false, move || send.send(2).unwrap());
        assert!(taken.try_recv().is_err(), "it has not begun");
        back.unwrap_err()();
        assert_eq!(taken.recv(), Ok(2));
    }

    #[test]
    fn results_come_in_order_and_stop_with_an_error() {
        for count in [0, 1, 2, 100] {
            let mut all = Vec::new();
            let done: Result<(), ()> = in_order(
                count,
                |number| number * 2,
                |made| {
                    all.push(made);
                    Ok(())
                },
            );
            assert_eq!((done, all), (Ok(()), (0..count).map(|number| number * 2).collect::<Vec<_>>()));
        }
        let made = std::sync::atomic::AtomicUsize::new(0);
        let stopped = in_order(
            1000,
            |number| {
                made.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                number
            },
            |number| if number == 5 { Err("enough") } else { Ok(()) },
        );
        assert_eq!(stopped, Err("enough"));
        assert!(made.into_inner() < 6 + 3 * MOST);
    }

    #[test]
    #[should_panic(expected = "a scoped thread panicked")]
    fn a_panic_is_not_lost() {
        let _ = in_order(4, |number| assert!(number < 2 || count(4) < 2, "bad"), Ok::<(), ()>);
        // With one processor there is no other thread.
        assert!(count(4) > 1, "a scoped thread panicked");
    }

    #[test]
    fn both_are_done() {
        let text = String::from("one");
        assert_eq!(both(move || text, || 2), ("one".to_owned(), 2));
    }

    #[test]
    fn work_is_shared_by_processors_at_most() {
        assert_eq!((count(0), count(1)), (1, 1));
        assert!((1..=MOST).contains(&count(usize::MAX)) && can_start());
    }
}

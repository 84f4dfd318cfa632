//! From the threads that serve to the one that records: in the order in which the requests were
//! answered, with back-pressure instead of loss.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use flowmine_trace::limits;
use flowmine_trace::record::{FileKey, FileKind, Loss, Op, Operation, ProcessKey, ProcessNews, Totals, Via};

/// An operation that owns its paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) process: ProcessKey,
    pub(crate) tid: u32,
    pub(crate) op: Op,
    pub(crate) via: Via,
    pub(crate) start_boot_ns: u64,
    pub(crate) end_boot_ns: Option<u64>,
    pub(crate) open_file: Option<u64>,
    pub(crate) file: Option<FileKey>,
    pub(crate) offset: Option<u64>,
    pub(crate) size: Option<u64>,
    pub(crate) result: Option<i64>,
    pub(crate) flags: Option<u32>,
    /// Names and facts of the file, which only opens and operations on names have.
    pub(crate) more: Option<Box<More>>,
}

/// What operations on names have, and opens.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct More {
    pub(crate) kind: Option<FileKind>,
    pub(crate) file_system: Option<Arc<str>>,
    pub(crate) file_size: Option<u64>,
    pub(crate) path: Option<Vec<u8>>,
    pub(crate) container_path: Option<Vec<u8>>,
    pub(crate) new_path: Option<Vec<u8>>,
}

impl Row {
    /// The row as the recorder takes it.
    pub(crate) fn operation(&self) -> Operation<'_> {
        let more = self.more.as_deref();
        Operation {
            via: self.via,
            end_boot_ns: self.end_boot_ns,
            open_file: self.open_file,
            file: self.file,
            kind: more.and_then(|more| more.kind),
            file_system: more.and_then(|more| more.file_system.as_deref()),
            file_size: more.and_then(|more| more.file_size),
            offset: self.offset,
            size: self.size,
            result: self.result,
            flags: self.flags,
            path: more.and_then(|more| more.path.as_deref()),
            container_path: more.and_then(|more| more.container_path.as_deref()),
            new_path: more.and_then(|more| more.new_path.as_deref()),
            ..Operation::new(self.process, self.tid, self.op, self.start_boot_ns)
        }
    }
}

/// What the serving threads send to the thread that records.
#[derive(Debug)]
pub(crate) enum Item {
    Operation(Row),
    Totals(Totals),
    Process(Box<ProcessNews>),
    Loss(Loss),
    /// The command was executed, as the process of this number.
    Started(u32),
    /// The command has ended with this status of wait(2), or could not be started.
    Ended(std::io::Result<std::process::ExitStatus>),
    /// A directory's last user is gone.
    Unmounted,
    /// The last item: nothing is sent after it.
    Over,
}

/// What waits for the recorder.
#[derive(Debug)]
struct Queue {
    most: usize,
    waiting: Mutex<Waiting>,
    /// For the recorder: there is something to do.
    filled: Condvar,
    /// For those who send: there is room again.
    emptied: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    items: Vec<Item>,
    /// The recorder takes nothing any more.
    over: bool,
}

/// Items that wait at most: then who sends waits, and with it the command.
const MOST: usize = 1 << 16;
/// The same where memory is limited.
const MOST_OF_LITTLE: usize = 1 << 13;
/// Number of records that wake the recorder. Waking it for each would cost the command more than
/// everything else.
const MANY: usize = 1 << 10;

impl Queue {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A sending and a receiving side.
pub(crate) fn channel() -> (Reporter, Receiver) {
    let most = if limits::memory_is_limited() { MOST_OF_LITTLE } else { MOST };
    let queue = Arc::new(Queue { most, waiting: Mutex::default(), filled: Condvar::new(), emptied: Condvar::new() });
    (Reporter { queue: Arc::clone(&queue) }, Receiver { queue })
}

/// The end of the queue at which items are sent.
#[derive(Debug, Clone)]
pub(crate) struct Reporter {
    queue: Arc<Queue>,
}

impl Reporter {
    pub(crate) fn send(&self, item: Item) {
        let urgent = !matches!(item, Item::Operation(_) | Item::Totals(_) | Item::Process(_) | Item::Loss(_));
        let mut waiting = self.queue.waiting();
        while waiting.items.len() >= self.queue.most && !waiting.over {
            waiting = self.queue.emptied.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        if waiting.over {
            return;
        }
        waiting.items.push(item);
        let wake = urgent || waiting.items.len() == MANY;
        drop(waiting);
        if wake {
            self.queue.filled.notify_one();
        }
    }
}

/// The end of the queue at which items are taken.
#[derive(Debug)]
pub(crate) struct Receiver {
    queue: Arc<Queue>,
}

impl Receiver {
    /// All that was sent, in its order; waits until it is much, or urgent, but not longer than
    /// `patience`. It can be nothing.
    pub(crate) fn take(&self, patience: Duration) -> Vec<Item> {
        let mut waiting = self.queue.waiting();
        if waiting.items.len() < MANY {
            waiting = self.queue.filled.wait_timeout(waiting, patience).unwrap_or_else(PoisonError::into_inner).0;
        }
        let items = std::mem::take(&mut waiting.items);
        drop(waiting);
        self.queue.emptied.notify_all();
        items
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.queue.waiting().over = true;
        self.queue.emptied.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_arrives_in_its_order_and_who_is_too_fast_waits() {
        let (reporter, receiver) = channel();
        let sender = std::thread::spawn(move || {
            for pid in 0..3 * MOST as u32 {
                reporter.send(Item::Started(pid));
            }
        });
        std::thread::sleep(Duration::from_millis(50));
        let mut expected = 0..3 * MOST as u32;
        while !expected.is_empty() {
            let items = receiver.take(Duration::from_secs(10));
            assert!(items.len() <= MOST);
            for item in items {
                assert!(matches!(item, Item::Started(pid) if Some(pid) == expected.next()));
            }
        }
        sender.join().unwrap();
    }

    #[test]
    fn nobody_waits_for_a_recorder_that_is_gone() {
        let (reporter, receiver) = channel();
        drop(receiver);
        for _ in 0..2 * MOST {
            reporter.send(Item::Over);
        }
    }
}

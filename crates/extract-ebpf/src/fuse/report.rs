//! From the threads that serve to the one that records: in the order in which the requests were answered, with back-pressure instead of loss.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;

use super::caller::Thread;
use crate::record::{FileKey, FileKind, Op, Operation, ProcessKey, ProcessNews, Totals, Via};

/// An operation that owns its paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) process: ProcessKey,
    pub(super) tid: u32,
    pub(super) op: Op,
    pub(super) via: Via,
    pub(super) start_boot_ns: u64,
    pub(super) end_boot_ns: Option<u64>,
    pub(super) open_file: Option<u64>,
    pub(super) file: Option<FileKey>,
    pub(super) offset: Option<u64>,
    pub(super) size: Option<u64>,
    pub(super) result: Option<i64>,
    pub(super) flags: Option<u32>,
    /// What few operations have.
    pub(super) more: Option<Box<More>>,
}

/// What operations on names have, and opens.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct More {
    pub(super) kind: Option<FileKind>,
    pub(super) file_system: Option<std::sync::Arc<str>>,
    pub(super) file_size: Option<u64>,
    pub(super) path: Option<Vec<u8>>,
    pub(super) container_path: Option<Vec<u8>>,
    pub(super) new_path: Option<Vec<u8>>,
}

impl Row {
    /// As the recorder takes it.
    pub(super) fn operation(&self) -> Operation<'_> {
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

/// What is sent.
#[derive(Debug)]
pub(super) enum Item {
    Operation(Row),
    Totals(Totals),
    Process(Box<ProcessNews>),
    /// The command was executed.
    Started(u32),
    /// The command has ended with this status of wait(2), or could not be started.
    Ended(std::io::Result<std::process::ExitStatus>),
    /// A directory's last user is gone.
    Unmounted,
    /// Nothing comes any more.
    Over,
}

impl Item {
    pub(super) fn operation(thread: &Thread, op: Op, start_boot_ns: u64, fill: impl FnOnce(&mut Row)) -> Self {
        let mut row = Row {
            process: thread.process.key,
            tid: thread.submitter,
            op,
            via: if thread.io_uring { Via::IoUring } else { Via::Call },
            start_boot_ns,
            end_boot_ns: None,
            open_file: None,
            file: None,
            offset: None,
            size: None,
            result: None,
            flags: None,
            more: None,
        };
        fill(&mut row);
        Item::Operation(row)
    }
}

/// The sending side.
#[derive(Debug, Clone)]
pub(super) struct Reporter {
    pub(super) sender: SyncSender<Item>,
    /// What could not be sent because the recorder has stopped.
    pub(super) unsent: std::sync::Arc<AtomicU64>,
}

impl Reporter {
    pub(super) fn send(&self, item: Item) {
        if self.sender.send(item).is_err() {
            self.unsent.fetch_add(1, Ordering::Relaxed);
        }
    }
}

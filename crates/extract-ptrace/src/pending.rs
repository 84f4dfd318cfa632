//! A call that has begun: what is known of it until it ends.

use flowmine_trace::proc::paths::Paths;
use flowmine_trace::record::{FileKey, Op, Via};

use crate::descriptors::{OpenRef, Slot};
use crate::moves::Way;

/// A call that has begun, with what its end needs.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) number: u64,
    pub(crate) arguments: [u64; 6],
    pub(crate) instruction: u64,
    pub(crate) start: u64,
    pub(crate) what: PendingKind,
}

/// What is known of it from its begin.
#[derive(Debug)]
pub(crate) enum PendingKind {
    Open { flags: Option<u32>, directory: i32, path: Option<u64> },
    Close { closing: Vec<(i32, OpenRef)> },
    CloseRange { first: i32, last: i32, flags: u32, closing: Vec<(i32, OpenRef)> },
    Duplicate { from: OpenRef },
    DuplicateTo { from: Slot, to: i32, old: Option<OpenRef> },
    Transfer { sides: Vec<Side>, size: Option<u64> },
    Seek { file: OpenRef },
    Named { op: Op, name: Name, new: Option<Name>, file: Option<FileKey>, size: Option<u64>, flags: Option<u32> },
    OnFile { op: Op, file: OpenRef, offset: Option<u64>, size: Option<u64>, flags: Option<u32> },
    RingSetup { polled: bool },
    RingEnter,
    Submit { requests: u64 },
    Unshare { flags: u64 },
    ChangeRoot,
}

/// A path that a call was given.
#[derive(Debug, Default)]
pub(crate) struct Name {
    /// The descriptor of a directory from which it leads.
    pub(crate) base: i32,
    /// `None` where it could not be read.
    pub(crate) given: Option<Vec<u8>>,
    /// Where it leads.
    pub(crate) paths: Paths,
}

/// One file of a transfer.
#[derive(Debug)]
pub(crate) struct Side {
    pub(crate) op: Op,
    pub(crate) via: Via,
    pub(crate) fd: i32,
    pub(crate) file: OpenRef,
    pub(crate) place: Place,
}

/// Where in the file a transfer begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// At the position of the open file, which it moves.
    Position {
        /// It appends, independently of the flags of the file.
        append: bool,
        /// Whether other calls that would move the position wait for it.
        way: Way,
        /// What is compared with the position afterwards, in bytes: the position when the call
        /// began or, when it appends, the end of the file then. `None` if no other process can move
        /// it.
        before: Option<u64>,
    },
    /// At this offset in bytes, where it is known.
    Given(Option<u64>),
    /// At the end of the file, which was there when the call began; the position stays.
    End(Option<u64>),
}

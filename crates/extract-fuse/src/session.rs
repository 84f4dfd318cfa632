//! One overlay, a request to it, and what it is answered with.

use std::cell::OnceCell;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use crate::caller::{Call, Thread};
use crate::handles::Handles;
use crate::identity::{Caller, Identity, with_own_capabilities};
use crate::nodes::Nodes;
use crate::room::no_room;
use crate::system::Errno;
use crate::tracer::Tracer;
use crate::wire::{self, InHeader, OutHeader, op};
use flowmine_files::kernel;

/// How long the kernel may believe a name and attributes. Changes from within the overlay are seen
/// at once; this is for changes from outside.
const VALID: Duration = Duration::from_millis(100);
/// A page in bytes, as requests have them.
pub(crate) const PAGE: usize = 4096;

/// One overlay over one directory: its device, nodes and open files.
#[derive(Debug)]
pub(crate) struct Session {
    /// Its place among the overlays.
    pub(crate) number: u32,
    pub(crate) tracer: Arc<Tracer>,
    pub(crate) device: Arc<OwnedFd>,
    pub(crate) nodes: Nodes,
    pub(crate) handles: Handles,
    /// Who owns all files, as it seems in a user namespace.
    pub(crate) only_owner: Option<(u32, u32)>,
    /// The device of the directory itself.
    pub(crate) root_device: u64,
    /// What the kernel and we agreed on.
    pub(crate) features: u64,
    /// Most bytes of a request.
    pub(crate) max_bytes: usize,
    pub(crate) workers: AtomicUsize,
    pub(crate) idle: AtomicUsize,
    /// Number of workers that stay without requests: as many as can work at once, and enough that
    /// the next request does not find the last one busy.
    pub(crate) staying: usize,
}

/// Memory for a request or an answer, aligned so that `O_DIRECT` works with it.
#[derive(Debug)]
pub(crate) struct Buffer {
    bytes: Vec<u8>,
    start: usize,
}

impl Buffer {
    /// Room for this number of bytes, aligned to a page.
    pub(crate) fn new(length: usize) -> Self {
        let bytes = vec![0; length + 2 * PAGE];
        let start = bytes.as_ptr().align_offset(PAGE);
        Buffer { bytes, start }
    }

    pub(crate) fn all(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..]
    }
}

/// A request of the kernel, and who made it.
pub(crate) struct Request<'a> {
    pub(crate) session: &'a Arc<Session>,
    /// Where the answer goes: each descriptor knows the requests that were taken from it.
    pub(crate) device: &'a Arc<OwnedFd>,
    pub(crate) header: InHeader,
    pub(crate) body: &'a [u8],
    pub(crate) start_boot_ns: u64,
    pub(crate) caller: OnceCell<Option<(Arc<Thread>, Option<Call>)>>,
}

impl Request<'_> {
    /// Who asks, and in which call it waits.
    pub(crate) fn caller(&self) -> Option<&(Arc<Thread>, Option<Call>)> {
        let tracer = &self.session.tracer;
        let find = || {
            let found = with_own_capabilities(|| tracer.threads.find(self.header.pid, &tracer.processes, &tracer.reporter));
            if found.is_none() && self.header.opcode != op::FLUSH {
                let status = tracer.proc.join(format!("{}/status", self.header.pid));
                if self.header.pid == 0 {
                    // Of one who is not of our PID namespace there can be no row. The kernel itself needs none.
                    if !self.whom().kernel {
                        tracer.room.lose("request", "caller-unseen");
                    }
                } else if kernel::open(status).is_err_and(|error| error.raw_os_error().is_some_and(no_room)) {
                    tracer.room.lose("request", "no-descriptor");
                }
            }
            found
        };
        self.caller.get_or_init(find).as_ref()
    }

    /// For whom the request is to be done, by its header.
    pub(crate) fn whom(&self) -> Caller {
        let header = &self.header;
        // The bytes of a mapping come long after they were stored, without a user.
        let kernel =
            header.opcode == op::WRITE && self.take::<wire::WriteIn>().is_ok_and(|(write, _)| write.write_flags & wire::WRITE_CACHE != 0);
        Caller { uid: header.uid, gid: header.gid, tid: header.pid, kernel }
    }

    /// The structure at the front of the body.
    pub(crate) fn take<T: wire::Plain>(&self) -> Result<(T, &[u8]), Errno> {
        wire::take(self.body).ok_or(libc::EINVAL)
    }

    /// The name that is the body of the request.
    pub(crate) fn name(&self) -> Result<&[u8], Errno> {
        Ok(wire::take_name(self.body).ok_or(libc::EINVAL)?.0)
    }
}

/// What a request is answered with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Success without data.
    Done,
    /// The contents of `Worker::out`.
    Out,
    /// The first bytes of `Worker::data`, of this number.
    Data(usize),
    /// No answer at all, for requests that have none.
    Silence,
}

/// A thread that serves requests, and its memory for answers.
pub(crate) struct Worker {
    pub(crate) identity: Identity,
    pub(crate) out: Vec<u8>,
    pub(crate) data: Buffer,
}

impl Worker {
    /// Puts a structure into the answer.
    pub(crate) fn put<T: wire::Plain>(&mut self, value: &T) {
        self.out.extend_from_slice(wire::bytes(value));
    }
}

/// How long names and attributes are valid: seconds and nanoseconds.
pub(crate) fn valid() -> (u64, u32) {
    (VALID.as_secs(), VALID.subsec_nanos())
}

/// Answers a request; an error number is positive.
pub(crate) fn reply(device: &OwnedFd, unique: u64, errno: Errno, bytes: &[u8]) -> io::Result<()> {
    let header = OutHeader { len: (size_of::<OutHeader>() + bytes.len()) as u32, error: -errno, unique };
    let head = wire::bytes(&header);
    let parts = [
        libc::iovec { iov_base: head.as_ptr().cast_mut().cast(), iov_len: head.len() },
        libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() },
    ];
    // SAFETY: both parts live until the call returns, which only reads them.
    let n = unsafe { libc::writev(device.as_raw_fd(), parts.as_ptr(), if bytes.is_empty() { 1 } else { 2 }) };
    if n < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

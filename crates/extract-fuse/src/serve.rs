//! Serves one overlay: threads take requests from `/dev/fuse`, act on the files underneath, report
//! what was done, and answer.
//!
//! There are as many threads as requests that wait, up to [`Room::workers`]: programs that run at
//! the same time are served at the same time.

use std::cell::OnceCell;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use flowmine_trace::clock;

use crate::handles::Handles;
use crate::identity::Identity;
use crate::nodes::Nodes;
use crate::report::Item;
use crate::room::no_room;
use crate::root::Root;
use crate::session::{Answer, Buffer, PAGE, Request, Session, Worker, reply};
use crate::system::{self, Errno};
use crate::tracer::Tracer;
use crate::wire::{self, InHeader, InitIn, InitOut, init, op};

/// Header of a request and of a write: what lies before the bytes of a write.
const WRITE_HEAD: usize = 80;

impl Session {
    /// Agrees with the kernel on what both can.
    pub(crate) fn begin(
        number: u32,
        tracer: Arc<Tracer>,
        device: OwnedFd,
        root: Root,
        privileged: bool,
        max_pages: u16,
    ) -> io::Result<Arc<Self>> {
        let mut buffer = Buffer::new(2 * PAGE);
        let length = read_request(&device, buffer.all())?.ok_or_else(|| io::Error::other("the overlay went away at once"))?;
        let request = &buffer.all()[..length];
        let bad = || io::Error::other("the kernel's first FUSE request is not understood");
        let (header, body) = wire::take::<InHeader>(request).ok_or_else(bad)?;
        if header.opcode != op::INIT {
            return Err(bad());
        }
        // Before 7.36 the structure was shorter.
        let mut padded = [0u8; size_of::<InitIn>()];
        let n = body.len().min(padded.len());
        padded[..n].copy_from_slice(&body[..n]);
        let (offer, _) = wire::take::<InitIn>(&padded).ok_or_else(bad)?;
        if offer.major != 7 || offer.minor < 23 {
            return Err(io::Error::other(format!("FUSE protocol {}.{} is too old; 7.23 is needed", offer.major, offer.minor)));
        }
        let offered = u64::from(offer.flags) | if u64::from(offer.flags) & init::INIT_EXT != 0 { u64::from(offer.flags2) << 32 } else { 0 };
        let features = offered & crate::facts::features_wanted(privileged);
        let pages = if features & init::MAX_PAGES != 0 { max_pages.max(32) } else { 32 };
        let max_bytes = usize::from(pages) * PAGE;
        let answer = InitOut {
            major: 7,
            minor: offer.minor.min(41),
            max_readahead: offer.max_readahead,
            flags: features as u32,
            flags2: (features >> 32) as u32,
            max_background: 64,
            congestion: 48,
            max_write: max_bytes as u32,
            time_gran: 1,
            max_pages: pages,
            max_stack_depth: u32::from(features & init::PASSTHROUGH != 0),
            ..InitOut::default()
        };
        let root_device = system::stat(root.fd.as_raw_fd()).map_err(io::Error::from_raw_os_error)?.st_dev;
        reply(&device, header.unique, 0, wire::bytes(&answer))?;
        let nodes = Nodes::new(root.fd, root.path.as_os_str().as_bytes(), Arc::clone(&tracer.keeper))?;
        let most = tracer.room.workers;
        Ok(Arc::new(Session {
            tracer,
            device: Arc::new(device),
            nodes,
            handles: Handles::default(),
            number,
            // SAFETY: these only return numbers.
            only_owner: (!privileged).then(|| unsafe { (libc::geteuid(), libc::getegid()) }),
            root_device,
            features,
            max_bytes,
            workers: AtomicUsize::new(0),
            idle: AtomicUsize::new(0),
            staying: std::thread::available_parallelism().map_or(4, std::num::NonZero::get).min(most / 4).max(4),
        }))
    }

    /// Starts a thread that serves. The last one to end says so.
    pub(crate) fn serve(self: &Arc<Self>) -> io::Result<()> {
        let session = Arc::clone(self);
        self.workers.fetch_add(1, Ordering::SeqCst);
        self.idle.fetch_add(1, Ordering::SeqCst);
        let started = std::thread::Builder::new().name("flowmine-fuse".into()).spawn(move || session.work());
        if let Err(error) = started {
            self.workers.fetch_sub(1, Ordering::SeqCst);
            self.idle.fetch_sub(1, Ordering::SeqCst);
            return Err(error);
        }
        Ok(())
    }

    fn work(self: &Arc<Self>) {
        // A descriptor of its own gives a thread a queue of its own for what it has taken.
        let device = &clone_device(&self.device).map_or_else(|| Arc::clone(&self.device), Arc::new);
        let mut worker =
            Worker { identity: Identity::new(Arc::clone(&self.tracer.own)), out: Vec::new(), data: Buffer::new(self.max_bytes) };
        let mut input = Buffer::new(self.max_bytes + PAGE);
        loop {
            // The bytes of a write begin at a page.
            let room = &mut input.all()[PAGE - WRITE_HEAD..];
            let length = match read_request(device, room) {
                Ok(Some(length)) => length,
                Ok(None) | Err(_) => break,
            };
            if self.idle.fetch_sub(1, Ordering::SeqCst) == 1 && self.workers.load(Ordering::SeqCst) < self.tracer.room.workers {
                // Without another thread this one goes on alone.
                let _ = self.serve();
            }
            worker.answer(self, device, &room[..length]);
            if self.idle.fetch_add(1, Ordering::SeqCst) >= self.staying && self.workers.load(Ordering::SeqCst) > self.staying {
                break;
            }
        }
        self.idle.fetch_sub(1, Ordering::SeqCst);
        if self.workers.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.tracer.locks.session_over(self.number);
            self.tracer.reporter.send(Item::Unmounted);
        }
    }
}

impl Worker {
    fn answer(&mut self, session: &Arc<Session>, device: &Arc<OwnedFd>, bytes: &[u8]) {
        let start_boot_ns = clock::boot_ns();
        let Some((header, body)) = wire::take::<InHeader>(bytes) else { return };
        let request = Request { session, device, header, body, start_boot_ns, caller: OnceCell::new() };
        self.out.clear();
        let answer = self.act(&request).map_err(|errno| {
            if !no_room(errno) {
                return errno;
            }
            // It is not the command's own limit that is reached.
            session.tracer.room.lose("request", "no-descriptor");
            libc::ENFILE
        });
        let sent = match answer {
            Ok(Answer::Silence) => return,
            Ok(Answer::Done) => reply(device, header.unique, 0, &[]),
            Ok(Answer::Out) => reply(device, header.unique, 0, &self.out),
            Ok(Answer::Data(length)) => reply(device, header.unique, 0, &self.data.all()[..length]),
            Err(errno) => reply(device, header.unique, errno, &[]),
        };
        if sent.is_err() && answer.is_ok() {
            self.undo(&request);
        }
    }

    fn act(&mut self, request: &Request<'_>) -> Result<Answer, Errno> {
        let header = &request.header;
        match header.opcode {
            // Requests that only release something need no identity.
            op::FORGET | op::BATCH_FORGET | op::RELEASE | op::RELEASEDIR | op::FLUSH | op::INTERRUPT | op::DESTROY => {}
            opcode => self.identity.become_caller(request.whom(), !needs_no_right(opcode), request.start_boot_ns)?,
        }
        match header.opcode {
            op::LOOKUP => self.look_up(request),
            op::FORGET => {
                let (forget, _) = request.take::<wire::ForgetIn>()?;
                request.session.nodes.forget(header.node, forget.lookups);
                Ok(Answer::Silence)
            }
            op::BATCH_FORGET => {
                let (batch, mut rest) = request.take::<wire::BatchForgetIn>()?;
                for _ in 0..batch.count {
                    let Some((one, next)) = wire::take::<wire::ForgetOne>(rest) else { break };
                    request.session.nodes.forget(one.node, one.lookups);
                    rest = next;
                }
                Ok(Answer::Silence)
            }
            op::GETATTR => self.get_attributes(request),
            op::SETATTR => self.set_attributes(request),
            op::STATX => self.statx(request),
            op::READLINK => self.read_link(request),
            op::SYMLINK => self.symlink(request),
            op::MKNOD => self.mknod(request),
            op::MKDIR => self.mkdir(request),
            op::UNLINK => self.unlink(request),
            op::RMDIR => self.rmdir(request),
            op::RENAME | op::RENAME2 => self.rename(request),
            op::LINK => self.link(request),
            op::OPEN => self.open(request),
            op::CREATE => self.create(request),
            op::TMPFILE => self.tmpfile(request),
            op::READ => self.read(request),
            op::WRITE => self.write(request),
            op::STATFS => self.statfs(request),
            op::RELEASE | op::RELEASEDIR => self.release(request),
            op::FLUSH => self.flush(request),
            op::FSYNC | op::FSYNCDIR => self.fsync(request),
            op::SYNCFS => self.syncfs(request),
            op::SETXATTR => self.set_xattr(request),
            op::GETXATTR => self.get_xattr(request),
            op::LISTXATTR => self.list_xattr(request),
            op::REMOVEXATTR => self.remove_xattr(request),
            op::OPENDIR => self.open_directory(request),
            op::READDIR => self.read_directory(request, false),
            op::READDIRPLUS => self.read_directory(request, true),
            op::ACCESS => self.access(request),
            op::GETLK => self.get_lock(request),
            op::SETLK => self.set_lock(request, false),
            op::SETLKW => self.set_lock(request, true),
            op::INTERRUPT => self.interrupt(request),
            op::FALLOCATE => self.allocate(request),
            op::LSEEK => self.seek(request),
            op::COPY_FILE_RANGE | op::COPY_FILE_RANGE_64 => self.copy(request),
            op::IOCTL => self.control(request),
            op::DESTROY => Ok(Answer::Done),
            _ => Err(libc::ENOSYS),
        }
    }

    /// The caller did not wait for the answer: what it would have owned is given back.
    fn undo(&mut self, request: &Request<'_>) {
        let session = request.session;
        let opened = match request.header.opcode {
            op::LOOKUP | op::MKNOD | op::MKDIR | op::SYMLINK | op::LINK | op::CREATE | op::TMPFILE => {
                let Some((entry, rest)) = wire::take::<wire::EntryOut>(&self.out) else { return };
                if entry.node != 0 {
                    session.nodes.forget(entry.node, 1);
                }
                wire::take::<wire::OpenOut>(rest)
            }
            op::OPEN | op::OPENDIR => wire::take::<wire::OpenOut>(&self.out),
            _ => None,
        };
        if let Some((open, _)) = opened {
            session.handles.remove(open.handle);
        }
    }
}

/// Requests that are never refused to a process with the file: their user matters for quotas and
/// the like only.
fn needs_no_right(opcode: u32) -> bool {
    matches!(
        opcode,
        op::GETATTR
            | op::STATX
            | op::STATFS
            | op::READLINK
            | op::READ
            | op::WRITE
            | op::READDIR
            | op::FSYNC
            | op::FSYNCDIR
            | op::FALLOCATE
            | op::LSEEK
            | op::COPY_FILE_RANGE
            | op::COPY_FILE_RANGE_64
            | op::GETLK
            | op::SETLK
            | op::SETLKW
            | op::SYNCFS
    )
}

/// The next request; nothing when the overlay is gone.
fn read_request(device: &OwnedFd, buffer: &mut [u8]) -> io::Result<Option<usize>> {
    loop {
        // SAFETY: the buffer is as long as stated.
        let n = unsafe { libc::read(device.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len()) };
        match system::moved(n) {
            Ok(n) => return Ok(Some(n)),
            // ENOENT: the request was taken back while it was handed over.
            Err(libc::EINTR | libc::EAGAIN | libc::ENOENT) => {}
            Err(libc::ENODEV) => return Ok(None),
            Err(errno) => return Err(io::Error::from_raw_os_error(errno)),
        }
    }
}

fn clone_device(device: &OwnedFd) -> Option<OwnedFd> {
    // SAFETY: opens a descriptor that is ours and ties it to the session; the kernel reads one u32.
    unsafe {
        let fd = libc::open(c"/dev/fuse".as_ptr(), libc::O_RDWR | libc::O_CLOEXEC);
        let own = (fd >= 0).then(|| OwnedFd::from_raw_fd(fd))?;
        let session = device.as_raw_fd() as u32;
        (libc::ioctl(own.as_raw_fd(), wire::IOC_CLONE as _, &session) == 0).then_some(own)
    }
}

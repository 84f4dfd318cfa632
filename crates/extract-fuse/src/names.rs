//! Requests about names: look up, make, remove, rename, link.

use std::ffi::CStr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::Arc;

use flowmine_trace::clock;
use flowmine_trace::record::{FileKey, FileKind, Op};

use crate::nodes::Node;
use crate::refused;
use crate::report::More;
use crate::session::{Answer, Request, Session, Worker, valid};
use crate::system::{self, Errno, ProcPath};
use crate::wire::{self, Attr, EntryOut};

/// The user and group that the command sees as a file's. A user namespace knows one user and one
/// group, and the kernel lets no process write to a file of any other, whatever the file system
/// permits: there all files seem to be the user's own. What is allowed is decided underneath.
pub(crate) fn visible_owner(session: &Session, uid: u32, gid: u32) -> (u32, u32) {
    session.only_owner.unwrap_or((uid, gid))
}

/// The kernel's attributes of a file.
pub(crate) fn attributes(session: &Session, stat: &libc::stat) -> Attr {
    let (uid, gid) = visible_owner(session, stat.st_uid, stat.st_gid);
    Attr {
        ino: visible_inode(session, stat.st_dev, stat.st_ino),
        size: stat.st_size as u64,
        blocks: stat.st_blocks as u64,
        atime: stat.st_atime,
        mtime: stat.st_mtime,
        ctime: stat.st_ctime,
        atime_ns: stat.st_atime_nsec as u32,
        mtime_ns: stat.st_mtime_nsec as u32,
        ctime_ns: stat.st_ctime_nsec as u32,
        mode: stat.st_mode,
        nlink: stat.st_nlink as u32,
        uid,
        gid,
        rdev: encode_device(stat.st_rdev),
        blksize: stat.st_blksize as u32,
        flags: 0,
    }
}

/// The inode number that the command sees: the file's own. An overlay has one device number, so the
/// numbers of a file system mounted further down, which could be equal to others, get that device's
/// in their upper part.
pub(crate) fn visible_inode(session: &Session, device: u64, inode: u64) -> u64 {
    if device == session.root_device { inode } else { inode ^ (device.wrapping_mul(0x9e37_79b9_7f4a_7c15) << 32) | (1 << 63) }
}

/// As the protocol has device numbers: 12 bits of major between 20 of minor.
pub(crate) fn encode_device(device: u64) -> u32 {
    let (major, minor) = (libc::major(device), libc::minor(device));
    (minor & 0xff) | (major << 8) | ((minor & !0xff) << 12)
}

fn decode_device(device: u32) -> u64 {
    libc::makedev((device & 0xf_ff00) >> 8, (device & 0xff) | ((device >> 12) & 0xf_ff00))
}

/// The reply that names a node. The names of files that are recorded are not remembered by the
/// kernel: each open looks up its name first, so that it is known by which of its names a file was
/// opened.
pub(crate) fn entry(session: &Session, node: &Node, stat: &libc::stat) -> EntryOut {
    let (seconds, nanoseconds) = valid();
    let remembered = file_kind(stat.st_mode).is_none();
    EntryOut {
        node: node.id,
        generation: 0,
        entry_valid: if remembered { seconds } else { 0 },
        attr_valid: seconds,
        entry_valid_ns: if remembered { nanoseconds } else { 0 },
        attr_valid_ns: nanoseconds,
        attr: attributes(session, stat),
    }
}

/// What is recorded of files: regular ones and block devices.
pub(crate) fn file_kind(mode: u32) -> Option<FileKind> {
    match mode & libc::S_IFMT {
        libc::S_IFREG => Some(FileKind::Regular),
        libc::S_IFBLK => Some(FileKind::Block),
        _ => None,
    }
}

/// A row of the trace about an operation on a name: deleted, renamed, linked.
struct NameRow {
    op: Op,
    /// Identity of files with rows; null for a link, a directory, a FIFO, a socket.
    kind: Option<FileKind>,
    file: Option<FileKey>,
    path: Option<Vec<u8>>,
    new_path: Option<Vec<u8>>,
    flags: Option<u32>,
}

impl NameRow {
    /// Of a file that is there before the operation.
    fn before(op: Op, parent: &Node, name: &[u8]) -> Option<Self> {
        let stat = system::stat_at(parent.fd().ok()?.raw(), &system::name(name).ok()?).ok()?;
        Some(NameRow::new(op, &stat, parent.path_of(name)))
    }

    fn new(op: Op, stat: &libc::stat, path: Option<Vec<u8>>) -> Self {
        let kind = file_kind(stat.st_mode);
        let file = kind.map(|_| FileKey { device: stat.st_dev, inode: stat.st_ino, generation: None });
        NameRow { op, kind, file, path, new_path: None, flags: None }
    }

    fn tell(self, request: &Request<'_>, result: Result<(), Errno>) {
        let tracer = &request.session.tracer;
        if !tracer.wants(self.op, &request.header) {
            return;
        }
        let Some((thread, _)) = request.caller() else { return };
        tracer.reporter.send(thread.operation(self.op, request.start_boot_ns, |row| {
            row.end_boot_ns = Some(clock::boot_ns());
            row.file = self.file;
            row.result = Some(result.map_or_else(|errno| -i64::from(errno), |()| 0));
            row.flags = self.flags;
            let container_path = tracer.seen_by(thread, self.path.as_deref());
            row.more =
                Some(Box::new(More { kind: self.kind, path: self.path, container_path, new_path: self.new_path, ..More::default() }));
        }));
    }
}

fn done(result: libc::c_int) -> Result<(), Errno> {
    system::positive(result).map(|_| ())
}

impl Worker {
    fn parent(request: &Request<'_>) -> Result<Arc<Node>, Errno> {
        request.session.nodes.get(request.header.node)
    }

    /// Answers with the node of a name that was just looked up or made.
    fn named(&mut self, request: &Request<'_>, parent: &Arc<Node>, name: &[u8]) -> Result<Answer, Errno> {
        let (node, stat) = request.session.nodes.look_up(parent, name)?;
        self.put(&entry(request.session, &node, &stat));
        Ok(Answer::Out)
    }

    pub(crate) fn look_up(&mut self, request: &Request<'_>) -> Result<Answer, Errno> {
        let parent = Self::parent(request)?;
        let name = request.name()?;
        self.named(request, &parent, name).inspect_err(|&errno| refused::tell(request, &parent, name, errno))
    }

    pub(crate) fn read_link(&mut self, request: &Request<'_>) -> Result<Answer, Errno> {
        let node = Self::parent(request)?;
        let fd = node.fd()?;
        self.out.resize(libc::PATH_MAX as usize, 0);
        // SAFETY: the buffer is as long as stated; an empty name means the descriptor itself.
        let n = unsafe { libc::readlinkat(fd.raw(), c"".as_ptr(), self.out.as_mut_ptr().cast(), self.out.len()) };
        let n = system::moved(n)?;
        self.out.truncate(n);
        Ok(Answer::Out)
    }

    pub(crate) fn symlink(&mut self, request: &Request<'_>) -> Result<Answer, Errno> {
        let parent = Self::parent(request)?;
        let (name, rest) = wire::take_name(request.body).ok_or(libc::EINVAL)?;
        let (target, _) = wire::take_name(rest).ok_or(libc::EINVAL)?;
        let (c_name, target) = (system::name(name)?, system::name(target)?);
        let directory = parent.fd()?;
        // SAFETY: zero-terminated strings.
        done(unsafe { libc::symlinkat(target.as_ptr(), directory.raw(), c_name.as_ptr()) })?;
        self.named(request, &parent, name)
    }

    pub(crate) fn mknod(&mut self, request: &Request<'_>) -> Result<Answer, Errno> {
        let parent = Self::parent(request)?;
        let (mknod, rest) = request.take::<wire::MknodIn>()?;
        let (name, _) = wire::take_name(rest).ok_or(libc::EINVAL)?;
        let c_name = system::name(name)?;
        self.identity.mask(mknod.umask);
        let directory = parent.fd()?;
        // SAFETY: a zero-terminated name.
        done(unsafe { libc::mknodat(directory.raw(), c_name.as_ptr(), mknod.mode, decode_device(mknod.rdev)) })?;
        self.named(request, &parent, name)
    }

    pub(crate) fn mkdir(&mut self, request: &Request<'_>) -> Result<Answer, Errno> {
        let parent = Self::parent(request)?;
        let (mkdir, rest) = request.take::<wire::MkdirIn>()?;
        let (name, _) = wire::take_name(rest).ok_or(libc::EINVAL)?;
        let c_name = system::name(name)?;
        self.identity.mask(mkdir.umask);
        let directory = parent.fd()?;
        // SAFETY: a zero-terminated name.
        done(unsafe { libc::mkdirat(directory.raw(), c_name.as_ptr(), mkdir.mode) })?;
        self.named(request, &parent, name)
    }

    pub(crate) fn unlink(&mut self, request: &Request<'_>) -> Result<Answer, Errno> {
        let parent = Self::parent(request)?;
        let name = request.name()?;
        let row = NameRow::before(Op::Delete, &parent, name);
        let c_name = system::name(name)?;
        let directory = parent.fd()?;
        let _held = request.session.nodes.hold(&parent, &c_name);
        // SAFETY: a zero-terminated name.
        let result = done(unsafe { libc::unlinkat(directory.raw(), c_name.as_ptr(), 0) });
        if let Some(row) = row {
            row.tell(request, result);
        }
        result.map(|()| Answer::Done)
    }

    pub(crate) fn rmdir(&mut self, request: &Request<'_>) -> Result<Answer, Errno> {
        let parent = Self::parent(request)?;
        let name = system::name(request.name()?)?;
        let directory = parent.fd()?;
        let _held = request.session.nodes.hold(&parent, &name);
        // SAFETY: a zero-terminated name.
        done(unsafe { libc::unlinkat(directory.raw(), name.as_ptr(), libc::AT_REMOVEDIR) })?;
        Ok(Answer::Done)
    }

    pub(crate) fn rename(&mut self, request: &Request<'_>) -> Result<Answer, Errno> {
        let parent = Self::parent(request)?;
        let (new_dir, flags, rest) = if request.header.opcode == wire::op::RENAME2 {
            let (rename, rest) = request.take::<wire::Rename2In>()?;
            (rename.new_dir, rename.flags, rest)
        } else {
            let (rename, rest) = request.take::<wire::RenameIn>()?;
            (rename.new_dir, 0, rest)
        };
        let (old, rest) = wire::take_name(rest).ok_or(libc::EINVAL)?;
        let (new, _) = wire::take_name(rest).ok_or(libc::EINVAL)?;
        let new_parent = request.session.nodes.get(new_dir)?;
        let row = NameRow::before(Op::Rename, &parent, old);
        let new_path = new_parent.path_of(new);
        let (old_name, new_name) = (old, new);
        let (old, new) = (system::name(old)?, system::name(new)?);
        let (from, to) = (parent.fd()?, new_parent.fd()?);
        let nodes = &request.session.nodes;
        let _held = (nodes.hold(&parent, &old), nodes.hold(&new_parent, &new));
        // SAFETY: zero-terminated names. The raw call, since older C libraries have no renameat2.
        let result = unsafe {
            if flags == 0 {
                done(libc::renameat(from.raw(), old.as_ptr(), to.raw(), new.as_ptr()))
            } else {
                let result = libc::syscall(libc::SYS_renameat2, from.raw(), old.as_ptr(), to.raw(), new.as_ptr(), flags);
                done(result as libc::c_int)
            }
        };
        if result.is_ok() {
            request.session.nodes.renamed(&new_parent, new_name);
            if flags & libc::RENAME_EXCHANGE != 0 {
                request.session.nodes.renamed(&parent, old_name);
            }
        }
        if let Some(row) = row {
            let at2 = request.caller().and_then(|(_, call)| *call).is_some_and(|call| call.is(&[libc::SYS_renameat2]));
            NameRow { new_path, flags: (at2 || flags != 0).then_some(flags), ..row }.tell(request, result);
        }
        result.map(|()| Answer::Done)
    }

    pub(crate) fn link(&mut self, request: &Request<'_>) -> Result<Answer, Errno> {
        let parent = Self::parent(request)?;
        let (link, rest) = request.take::<wire::LinkIn>()?;
        let (name, _) = wire::take_name(rest).ok_or(libc::EINVAL)?;
        let node = request.session.nodes.get(link.node)?;
        let stat = system::stat(node.fd()?.raw())?;
        let row = NameRow { new_path: parent.path_of(name), ..NameRow::new(Op::Link, &stat, node.path()) };
        let c_name = system::name(name)?;
        let result = link_to(&node, &parent, &c_name);
        row.tell(request, result);
        result?;
        self.named(request, &parent, name)
    }
}

/// Gives a node one more name. The path in `/proc` also serves files that have none yet
/// (`O_TMPFILE`).
fn link_to(node: &Node, parent: &Node, name: &CStr) -> Result<(), Errno> {
    let (fd, directory) = (node.fd()?, parent.fd()?);
    let from = ProcPath::new(fd.raw());
    // SAFETY: zero-terminated strings.
    done(unsafe { libc::linkat(libc::AT_FDCWD, from.as_ptr(), directory.raw(), name.as_ptr(), libc::AT_SYMLINK_FOLLOW) })
}

/// An `O_PATH` descriptor of an open file.
pub(crate) fn path_descriptor(fd: &OwnedFd) -> Result<OwnedFd, Errno> {
    let path = ProcPath::new(fd.as_raw_fd());
    // SAFETY: a zero-terminated path; the descriptor that is returned is ours.
    unsafe { Ok(OwnedFd::from_raw_fd(system::positive(libc::open(path.as_ptr(), libc::O_PATH | libc::O_CLOEXEC))?)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_numbers_go_there_and_back() {
        for (major, minor) in [(8, 1), (259, 70_000), (0, 0), (4095, 0xf_ffff)] {
            let device = libc::makedev(major, minor);
            assert_eq!(decode_device(encode_device(device)), device, "{major}:{minor}");
        }
        assert_eq!(encode_device(libc::makedev(10, 229)), 0x0ae5);
    }
}

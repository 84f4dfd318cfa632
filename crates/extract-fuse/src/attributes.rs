//! Requests about attributes: stat, chmod, chown, truncate, times, statfs, access, extended
//! attributes, ioctl.

use flowmine_trace::clock;
use flowmine_trace::record::{FileKey, Op};

use crate::files::simple;
use crate::handles::Handle;
use crate::names::{attributes, file_kind};
use crate::nodes::Node;
use crate::report::More;
use crate::session::{Answer, Request, Worker, valid};
use crate::system::{self, Errno, ProcPath};
use crate::wire::{self, AttrOut, StatxOut, StatxTime, fattr, init};

fn done(result: libc::c_int) -> Result<(), Errno> {
    system::positive(result).map(|_| ())
}

impl Worker {
    fn attributes_of(&mut self, request: &Request<'_>, fd: i32) -> Result<Answer, Errno> {
        let stat = system::stat(fd)?;
        let (seconds, nanoseconds) = valid();
        self.put(&AttrOut { valid: seconds, valid_ns: nanoseconds, dummy: 0, attr: attributes(request.session, &stat) });
        Ok(Answer::Out)
    }

    pub(crate) fn get_attributes(&mut self, request: &Request<'_>) -> Result<Answer, Errno> {
        let node = request.session.nodes.get(request.header.node)?;
        self.attributes_of(request, node.fd()?.raw())
    }

    pub(crate) fn statx(&mut self, request: &Request<'_>) -> Result<Answer, Errno> {
        let (ask, _) = request.take::<wire::StatxIn>()?;
        let node = request.session.nodes.get(request.header.node)?;
        let stat = flowmine_trace::proc::files::statx(node.fd()?.raw(), c"", libc::AT_EMPTY_PATH | ask.sx_flags as i32, ask.sx_mask)
            .map_err(|error| error.raw_os_error().unwrap_or(libc::EIO))?;
        let (seconds, nanoseconds) = valid();
        let time = |time: libc::statx_timestamp| StatxTime { seconds: time.tv_sec, nanoseconds: time.tv_nsec, reserved: 0 };
        let device = libc::makedev(stat.stx_dev_major, stat.stx_dev_minor);
        let (uid, gid) = crate::names::visible_owner(request.session, stat.stx_uid, stat.stx_gid);
        self.put(&StatxOut {
            valid: seconds,
            valid_ns: nanoseconds,
            mask: stat.stx_mask,
            blksize: stat.stx_blksize,
            attributes: stat.stx_attributes,
            nlink: stat.stx_nlink,
            uid,
            gid,
            mode: stat.stx_mode,
            ino: crate::names::visible_inode(request.session, device, stat.stx_ino),
            size: stat.stx_size,
            blocks: stat.stx_blocks,
            attributes_mask: stat.stx_attributes_mask,
            atime: time(stat.stx_atime),
            btime: time(stat.stx_btime),
            ctime: time(stat.stx_ctime),
            mtime: time(stat.stx_mtime),
            rdev_major: stat.stx_rdev_major,
            rdev_minor: stat.stx_rdev_minor,
            dev_major: stat.stx_dev_major,
            dev_minor: stat.stx_dev_minor,
            ..StatxOut::default()
        });
        Ok(Answer::Out)
    }

    pub(crate) fn set_attributes(&mut self, request: &Request<'_>) -> Result<Answer, Errno> {
        let (set, _) = request.take::<wire::SetattrIn>()?;
        let has = |flag: u32| set.valid & flag != 0;
        let node = request.session.nodes.get(request.header.node)?;
        let handle = if has(fattr::FH) { request.session.handles.get(set.handle).ok() } else { None };
        let fd = node.fd()?;
        let open = handle.as_ref().map(|handle| handle.fd()).transpose()?;
        let path = ProcPath::new(fd.raw());
        if has(fattr::SIZE) {
            let size = set.size as libc::off_t;
            // SAFETY: a descriptor of ours, or a zero-terminated path.
            let result = done(unsafe {
                match &open {
                    Some(open) => libc::ftruncate(open.raw(), size),
                    None => libc::truncate(path.as_ptr(), size),
                }
            });
            self.truncated(request, &node, handle.as_deref(), set.size, result);
            result?;
        }
        if has(fattr::UID | fattr::GID) {
            let uid = if has(fattr::UID) { set.uid } else { u32::MAX };
            let gid = if has(fattr::GID) { set.gid } else { u32::MAX };
            // SAFETY: an empty name means the descriptor itself.
            done(unsafe { libc::fchownat(fd.raw(), c"".as_ptr(), uid, gid, libc::AT_EMPTY_PATH) })?;
        }
        if has(fattr::MODE) {
            // SAFETY: a zero-terminated path.
            done(unsafe { libc::chmod(path.as_ptr(), set.mode & 0o7777) })?;
        }
        if has(fattr::ATIME | fattr::MTIME) {
            let time = |set_it: bool, now: bool, seconds: i64, nanoseconds: u32| libc::timespec {
                tv_sec: seconds,
                tv_nsec: match (set_it, now) {
                    (false, _) => libc::UTIME_OMIT,
                    (true, true) => libc::UTIME_NOW,
                    (true, false) => nanoseconds.into(),
                },
            };
            let times = [
                time(has(fattr::ATIME), has(fattr::ATIME_NOW), set.atime, set.atime_ns),
                time(has(fattr::MTIME), has(fattr::MTIME_NOW), set.mtime, set.mtime_ns),
            ];
            // SAFETY: a zero-terminated path, or a descriptor of ours, and two times.
            done(unsafe {
                match &open {
                    Some(open) => libc::futimens(open.raw(), times.as_ptr()),
                    None => libc::utimensat(libc::AT_FDCWD, path.as_ptr(), times.as_ptr(), 0),
                }
            })?;
        }
        self.attributes_of(request, fd.raw())
    }

    fn truncated(&self, request: &Request<'_>, node: &Node, handle: Option<&Handle>, size: u64, result: Result<(), Errno>) {
        let tracer = &request.session.tracer;
        #[cfg(target_arch = "x86_64")]
        let by_open = &[libc::SYS_open, libc::SYS_openat, libc::SYS_openat2, libc::SYS_creat];
        #[cfg(not(target_arch = "x86_64"))]
        let by_open = &[libc::SYS_openat, libc::SYS_openat2];
        if request.caller().and_then(|(_, call)| *call).is_some_and(|call| call.is(by_open)) {
            return;
        }
        if let Some(handle) = handle {
            simple(request, Op::Truncate, handle, result, None, Some(size), None);
            return;
        }
        let Ok(stat) = node.fd().and_then(|fd| system::stat(fd.raw())) else { return };
        let (Some(kind), true) = (file_kind(stat.st_mode), tracer.wants(Op::Truncate, &request.header)) else { return };
        let path = node.path();
        let Some((thread, _)) = request.caller() else { return };
        tracer.reporter.send(thread.operation(Op::Truncate, request.start_boot_ns, |row| {
            row.end_boot_ns = Some(clock::boot_ns());
            row.file = Some(FileKey { device: stat.st_dev, inode: stat.st_ino, generation: None });
            row.size = Some(size);
            row.result = Some(result.map_or_else(|errno| -i64::from(errno), |()| 0));
            let container_path = tracer.seen_by(thread, path.as_deref());
            row.more = Some(Box::new(More { kind: Some(kind), path, container_path, ..More::default() }));
        }));
    }

    pub(crate) fn statfs(&mut self, request: &Request<'_>) -> Result<Answer, Errno> {
        let node = request.session.nodes.get(request.header.node)?;
        let fd = node.fd()?;
        // SAFETY: all-zero is a valid `statvfs`, which the call fills in.
        let stat = unsafe {
            let mut stat: libc::statvfs = std::mem::zeroed();
            done(libc::fstatvfs(fd.raw(), &mut stat))?;
            stat
        };
        self.put(&wire::StatfsOut {
            blocks: stat.f_blocks,
            bfree: stat.f_bfree,
            bavail: stat.f_bavail,
            files: stat.f_files,
            ffree: stat.f_ffree,
            bsize: stat.f_bsize as u32,
            namelen: stat.f_namemax as u32,
            frsize: stat.f_frsize as u32,
            ..wire::StatfsOut::default()
        });
        Ok(Answer::Out)
    }

    pub(crate) fn access(&mut self, request: &Request<'_>) -> Result<Answer, Errno> {
        let (access, _) = request.take::<wire::AccessIn>()?;
        let node = request.session.nodes.get(request.header.node)?;
        system::may_access(node.fd()?.raw(), access.mask as i32)?;
        Ok(Answer::Done)
    }

    pub(crate) fn set_xattr(&mut self, request: &Request<'_>) -> Result<Answer, Errno> {
        let node = request.session.nodes.get(request.header.node)?;
        let (size, flags, rest) = if request.session.features & init::SETXATTR_EXT != 0 {
            let (set, rest) = request.take::<wire::SetxattrIn>()?;
            (set.size, set.flags, rest)
        } else {
            let (set, rest) = request.take::<wire::SetxattrShortIn>()?;
            (set.size, set.flags, rest)
        };
        let (name, rest) = wire::take_name(rest).ok_or(libc::EINVAL)?;
        let value = rest.get(..size as usize).ok_or(libc::EINVAL)?;
        let fd = node.fd()?;
        let (path, name) = (ProcPath::new(fd.raw()), system::name(name)?);
        // SAFETY: zero-terminated strings, and a value as long as stated.
        done(unsafe { libc::setxattr(path.as_ptr(), name.as_ptr(), value.as_ptr().cast(), value.len(), flags as i32) })?;
        Ok(Answer::Done)
    }

    pub(crate) fn get_xattr(&mut self, request: &Request<'_>) -> Result<Answer, Errno> {
        let node = request.session.nodes.get(request.header.node)?;
        let (get, rest) = request.take::<wire::GetxattrIn>()?;
        let (name, _) = wire::take_name(rest).ok_or(libc::EINVAL)?;
        let fd = node.fd()?;
        let (path, name) = (ProcPath::new(fd.raw()), system::name(name)?);
        self.sized(get.size, |buffer, size| {
            // SAFETY: zero-terminated strings, and a buffer as long as stated.
            unsafe { libc::getxattr(path.as_ptr(), name.as_ptr(), buffer, size) }
        })
    }

    pub(crate) fn list_xattr(&mut self, request: &Request<'_>) -> Result<Answer, Errno> {
        let node = request.session.nodes.get(request.header.node)?;
        let (get, _) = request.take::<wire::GetxattrIn>()?;
        let fd = node.fd()?;
        let path = ProcPath::new(fd.raw());
        self.sized(get.size, |buffer, size| {
            // SAFETY: a zero-terminated path, and a buffer as long as stated.
            unsafe { libc::listxattr(path.as_ptr(), buffer.cast(), size) }
        })
    }

    /// A size of zero asks how much there is.
    fn sized(&mut self, size: u32, get: impl FnOnce(*mut libc::c_void, usize) -> isize) -> Result<Answer, Errno> {
        self.out.resize((size as usize).min(1 << 16), 0);
        let n = system::moved(get(self.out.as_mut_ptr().cast(), self.out.len()))?;
        if size == 0 {
            self.out.clear();
            self.put(&wire::GetxattrOut { size: n as u32, pad: 0 });
        } else {
            self.out.truncate(n);
        }
        Ok(Answer::Out)
    }

    pub(crate) fn remove_xattr(&mut self, request: &Request<'_>) -> Result<Answer, Errno> {
        let node = request.session.nodes.get(request.header.node)?;
        let fd = node.fd()?;
        let (path, name) = (ProcPath::new(fd.raw()), system::name(request.name()?)?);
        // SAFETY: zero-terminated strings.
        done(unsafe { libc::removexattr(path.as_ptr(), name.as_ptr()) })?;
        Ok(Answer::Done)
    }

    /// Attribute flags of files (ioctl_iflags(2)); every other control call is one that these files
    /// do not have.
    pub(crate) fn control(&mut self, request: &Request<'_>) -> Result<Answer, Errno> {
        const GET_FLAGS: u32 = 0x8008_6601;
        const SET_FLAGS: u32 = 0x4008_6602;
        const GET_VERSION: u32 = 0x8008_7601;
        const GET_XFLAGS: u32 = 0x801c_581f;
        const SET_XFLAGS: u32 = 0x401c_5820;
        let (control, data) = request.take::<wire::IoctlIn>()?;
        if !matches!(control.command, GET_FLAGS | SET_FLAGS | GET_VERSION | GET_XFLAGS | SET_XFLAGS)
            || control.in_size > 64
            || control.out_size > 64
        {
            return Err(libc::ENOTTY);
        }
        // The project of a file, by which quotas are counted, is not to be changed in other user namespaces; before 5.13 only the file system asks.
        if control.command == SET_XFLAGS && request.session.only_owner.is_none() && !self.identity.in_namespace(request.header.pid) {
            return Err(libc::EPERM);
        }
        let fd = request.session.handles.get(control.handle)?.fd()?;
        let mut buffer = [0u64; 8];
        let data = data.get(..control.in_size as usize).ok_or(libc::EINVAL)?;
        // SAFETY: the buffer has 64 bytes, and none of the five calls moves more than 28.
        let result = unsafe {
            std::ptr::copy_nonoverlapping(data.as_ptr(), buffer.as_mut_ptr().cast(), data.len());
            system::positive(libc::ioctl(fd.raw(), control.command as _, buffer.as_mut_ptr()))?
        };
        self.put(&wire::IoctlOut { result, ..wire::IoctlOut::default() });
        let bytes = buffer.iter().flat_map(|part| part.to_ne_bytes()).take(control.out_size as usize);
        self.out.extend(bytes);
        Ok(Answer::Out)
    }
}

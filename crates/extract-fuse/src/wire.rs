//! The messages of the FUSE protocol as the kernel's `linux/fuse.h` lays them out (version 7):
//! bytes of a request in, its parts out; structures of a reply in, bytes out. It refuses requests
//! that are shorter than their structure.
//!
//! The crate `fuser` speaks the protocol up to 7.40 but does not know `FUSE_TMPFILE`, `FUSE_SYNCFS`
//! and `FUSE_INTERRUPT`, and does not distinguish a read of the program from one for a mapping
//! (`FUSE_READ_LOCKOWNER`): the same programs could then neither run nor give the same rows.

use std::mem::size_of;

/// Structures that are plain integers without padding: each pattern of bits is a value, and each
/// byte is initialised.
///
/// # Safety
/// Only for `repr(C)` structures of integers with the size of the sum of their fields.
pub(crate) unsafe trait Plain: Copy {}

/// Takes a structure off the front of `bytes`.
pub(crate) fn take<T: Plain>(bytes: &[u8]) -> Option<(T, &[u8])> {
    let (head, rest) = bytes.split_at_checked(size_of::<T>())?;
    // SAFETY: `head` is as long as `T`, which may hold any bits and is read without asking for alignment.
    Some((unsafe { head.as_ptr().cast::<T>().read_unaligned() }, rest))
}

/// The bytes of a structure.
pub(crate) fn bytes<T: Plain>(value: &T) -> &[u8] {
    // SAFETY: `T` has no padding, so all its bytes are initialised; they live as long as the reference.
    unsafe { std::slice::from_raw_parts(std::ptr::from_ref(value).cast(), size_of::<T>()) }
}

/// Takes a name that ends in a zero byte.
pub(crate) fn take_name(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|&byte| byte == 0)?;
    Some((&bytes[..end], &bytes[end + 1..]))
}

macro_rules! plain {
    ($($(#[$doc:meta])* pub struct $name:ident { $($field:ident: $type:ty,)+ })+) => {
        $(
            $(#[$doc])*
            #[repr(C)]
            #[derive(Debug, Clone, Copy, Default)]
            pub(crate) struct $name { $(pub(crate) $field: $type,)+ }
            const _: () = assert!(size_of::<$name>() == 0 $(+ size_of::<$type>())+);
            // SAFETY: integers only, and the line above has checked that nothing lies between them.
            unsafe impl Plain for $name {}
        )+
    };
}

plain! {
    /// In front of each request, `struct fuse_in_header`.
    pub struct InHeader { len: u32, opcode: u32, unique: u64, node: u64, uid: u32, gid: u32, pid: u32, extra: u32, }
    /// In front of each reply, `struct fuse_out_header`.
    pub struct OutHeader { len: u32, error: i32, unique: u64, }
    /// Attributes of a file, `struct fuse_attr`.
    pub struct Attr {
        ino: u64, size: u64, blocks: u64, atime: i64, mtime: i64, ctime: i64, atime_ns: u32, mtime_ns: u32, ctime_ns: u32,
        mode: u32, nlink: u32, uid: u32, gid: u32, rdev: u32, blksize: u32, flags: u32,
    }
    /// The node of a name, `struct fuse_entry_out`.
    pub struct EntryOut { node: u64, generation: u64, entry_valid: u64, attr_valid: u64, entry_valid_ns: u32, attr_valid_ns: u32, attr: Attr, }
    /// Answers getattr and setattr, `struct fuse_attr_out`.
    pub struct AttrOut { valid: u64, valid_ns: u32, dummy: u32, attr: Attr, }
    /// Answers an open, `struct fuse_open_out`.
    pub struct OpenOut { handle: u64, flags: u32, backing: i32, }
    /// Asks for attributes, `struct fuse_getattr_in`.
    pub struct GetattrIn { flags: u32, dummy: u32, handle: u64, }
    /// Changes attributes, `struct fuse_setattr_in`.
    pub struct SetattrIn {
        valid: u32, pad: u32, handle: u64, size: u64, lock_owner: u64, atime: i64, mtime: i64, ctime: i64,
        atime_ns: u32, mtime_ns: u32, ctime_ns: u32, mode: u32, unused4: u32, uid: u32, gid: u32, unused5: u32,
    }
    /// Makes a special or regular file.
    pub struct MknodIn { mode: u32, rdev: u32, umask: u32, pad: u32, }
    /// Makes a directory, `struct fuse_mkdir_in`.
    pub struct MkdirIn { mode: u32, umask: u32, }
    /// Renames, without flags, `struct fuse_rename_in`.
    pub struct RenameIn { new_dir: u64, }
    /// Renames, with flags, `struct fuse_rename2_in`.
    pub struct Rename2In { new_dir: u64, flags: u32, pad: u32, }
    /// Makes a hard link to a node, `struct fuse_link_in`.
    pub struct LinkIn { node: u64, }
    /// Opens a file or directory, `struct fuse_open_in`.
    pub struct OpenIn { flags: u32, open_flags: u32, }
    /// Makes a file and opens it, `struct fuse_create_in`.
    pub struct CreateIn { flags: u32, mode: u32, umask: u32, open_flags: u32, }
    /// Ends an open file, `struct fuse_release_in`.
    pub struct ReleaseIn { handle: u64, flags: u32, release_flags: u32, lock_owner: u64, }
    /// A descriptor was closed, `struct fuse_flush_in`.
    pub struct FlushIn { handle: u64, unused: u32, pad: u32, lock_owner: u64, }
    /// Reads a file or directory, `struct fuse_read_in`.
    pub struct ReadIn { handle: u64, offset: u64, size: u32, read_flags: u32, lock_owner: u64, flags: u32, pad: u32, }
    /// Writes, `struct fuse_write_in`.
    pub struct WriteIn { handle: u64, offset: u64, size: u32, write_flags: u32, lock_owner: u64, flags: u32, pad: u32, }
    /// Answers a write, `struct fuse_write_out`.
    pub struct WriteOut { size: u32, pad: u32, }
    /// Answers statfs, `struct fuse_statfs_out`.
    pub struct StatfsOut {
        blocks: u64, bfree: u64, bavail: u64, files: u64, ffree: u64, bsize: u32, namelen: u32, frsize: u32, pad: u32, spare: [u32; 6],
    }
    /// Synchronises a file or directory, `struct fuse_fsync_in`.
    pub struct FsyncIn { handle: u64, flags: u32, pad: u32, }
    /// Sets an attribute, with `FUSE_SETXATTR_EXT`.
    pub struct SetxattrIn { size: u32, flags: u32, setxattr_flags: u32, pad: u32, }
    /// Sets an attribute, where `FUSE_SETXATTR_EXT` was not agreed on.
    pub struct SetxattrShortIn { size: u32, flags: u32, }
    /// Asks for an attribute, or for their names.
    pub struct GetxattrIn { size: u32, pad: u32, }
    /// Answers how many bytes an attribute or the list of names has.
    pub struct GetxattrOut { size: u32, pad: u32, }
    /// Sets, tests or looks for a lock, `struct fuse_lk_in`.
    pub struct LockIn { handle: u64, owner: u64, start: u64, end: u64, kind: u32, pid: u32, flags: u32, pad: u32, }
    /// Answers what stands against a lock.
    pub struct LockOut { start: u64, end: u64, kind: u32, pid: u32, }
    /// Asks whether access is allowed, `struct fuse_access_in`.
    pub struct AccessIn { mask: u32, pad: u32, }
    /// What the kernel offers when the session begins, `struct fuse_init_in`.
    pub struct InitIn { major: u32, minor: u32, max_readahead: u32, flags: u32, flags2: u32, unused: [u32; 11], }
    /// What of that is taken, `struct fuse_init_out`.
    pub struct InitOut {
        major: u32, minor: u32, max_readahead: u32, flags: u32, max_background: u16, congestion: u16, max_write: u32, time_gran: u32,
        max_pages: u16, map_alignment: u16, flags2: u32, max_stack_depth: u32, request_timeout: u16, unused: [u16; 11],
    }
    /// Another request is not waited for any more.
    pub struct InterruptIn { unique: u64, }
    /// Takes back lookups of a node, `struct fuse_forget_in`.
    pub struct ForgetIn { lookups: u64, }
    /// Takes back lookups of one node of many, `struct fuse_forget_one`.
    pub struct ForgetOne { node: u64, lookups: u64, }
    /// Takes back lookups of many nodes, `struct fuse_batch_forget_in`.
    pub struct BatchForgetIn { count: u32, dummy: u32, }
    /// Allocates or frees a range of a file, `struct fuse_fallocate_in`.
    pub struct FallocateIn { handle: u64, offset: u64, length: u64, mode: u32, pad: u32, }
    /// Finds data or a hole.
    pub struct LseekIn { handle: u64, offset: u64, whence: u32, pad: u32, }
    /// Answers lseek with an offset in bytes, `struct fuse_lseek_out`.
    pub struct LseekOut { offset: u64, }
    /// Copies a range between files, `struct fuse_copy_file_range_in`.
    pub struct CopyIn { handle_in: u64, offset_in: u64, node_out: u64, handle_out: u64, offset_out: u64, length: u64, flags: u64, }
    /// Answers a copy by its 64-bit request, `struct fuse_copy_file_range_out`.
    pub struct CopyOut { size: u64, }
    /// A control call, `struct fuse_ioctl_in`.
    pub struct IoctlIn { handle: u64, flags: u32, command: u32, argument: u64, in_size: u32, out_size: u32, }
    /// Answers a control call, `struct fuse_ioctl_out`.
    pub struct IoctlOut { result: i32, flags: u32, in_iovs: u32, out_iovs: u32, }
    /// Stands before each name of a directory, `struct fuse_dirent`.
    pub struct Dirent { ino: u64, offset: u64, name_len: u32, kind: u32, }
    /// Asks for extended attributes of a file.
    pub struct StatxIn { getattr_flags: u32, reserved: u32, handle: u64, sx_flags: u32, sx_mask: u32, }
    /// A time of `Statx`.
    pub struct StatxTime { seconds: i64, nanoseconds: u32, reserved: i32, }
    /// Answers statx, `struct fuse_statx_out`.
    pub struct StatxOut {
        valid: u64, valid_ns: u32, flags: u32, spare: [u64; 2],
        mask: u32, blksize: u32, attributes: u64, nlink: u32, uid: u32, gid: u32, mode: u16, spare0: u16,
        ino: u64, size: u64, blocks: u64, attributes_mask: u64, atime: StatxTime, btime: StatxTime, ctime: StatxTime, mtime: StatxTime,
        rdev_major: u32, rdev_minor: u32, dev_major: u32, dev_minor: u32, spare2: [u64; 14],
    }
    /// A file that the kernel shall use itself.
    pub struct BackingMap { fd: i32, flags: u32, pad: u64, }
    /// A name is not to be trusted any more.
    pub struct InvalEntryOut { parent: u64, name_len: u32, flags: u32, }
}

/// Numbers of requests by their names, `enum fuse_opcode`.
pub(crate) mod op {
    #![allow(missing_docs)]
    pub(crate) const LOOKUP: u32 = 1;
    pub(crate) const FORGET: u32 = 2;
    pub(crate) const GETATTR: u32 = 3;
    pub(crate) const SETATTR: u32 = 4;
    pub(crate) const READLINK: u32 = 5;
    pub(crate) const SYMLINK: u32 = 6;
    pub(crate) const MKNOD: u32 = 8;
    pub(crate) const MKDIR: u32 = 9;
    pub(crate) const UNLINK: u32 = 10;
    pub(crate) const RMDIR: u32 = 11;
    pub(crate) const RENAME: u32 = 12;
    pub(crate) const LINK: u32 = 13;
    pub(crate) const OPEN: u32 = 14;
    pub(crate) const READ: u32 = 15;
    pub(crate) const WRITE: u32 = 16;
    pub(crate) const STATFS: u32 = 17;
    pub(crate) const RELEASE: u32 = 18;
    pub(crate) const FSYNC: u32 = 20;
    pub(crate) const SETXATTR: u32 = 21;
    pub(crate) const GETXATTR: u32 = 22;
    pub(crate) const LISTXATTR: u32 = 23;
    pub(crate) const REMOVEXATTR: u32 = 24;
    pub(crate) const FLUSH: u32 = 25;
    pub(crate) const INIT: u32 = 26;
    pub(crate) const OPENDIR: u32 = 27;
    pub(crate) const READDIR: u32 = 28;
    pub(crate) const RELEASEDIR: u32 = 29;
    pub(crate) const FSYNCDIR: u32 = 30;
    pub(crate) const GETLK: u32 = 31;
    pub(crate) const SETLK: u32 = 32;
    pub(crate) const SETLKW: u32 = 33;
    pub(crate) const ACCESS: u32 = 34;
    pub(crate) const CREATE: u32 = 35;
    pub(crate) const INTERRUPT: u32 = 36;
    pub(crate) const DESTROY: u32 = 38;
    pub(crate) const IOCTL: u32 = 39;
    pub(crate) const BATCH_FORGET: u32 = 42;
    pub(crate) const FALLOCATE: u32 = 43;
    pub(crate) const READDIRPLUS: u32 = 44;
    pub(crate) const RENAME2: u32 = 45;
    pub(crate) const LSEEK: u32 = 46;
    pub(crate) const COPY_FILE_RANGE: u32 = 47;
    pub(crate) const SYNCFS: u32 = 50;
    pub(crate) const TMPFILE: u32 = 51;
    pub(crate) const STATX: u32 = 52;
    /// Linux 6.18. A kernel to which two of them are refused at the same time gives up both requests
    /// for copies, and copies from its cache what no request shows.
    pub(crate) const COPY_FILE_RANGE_64: u32 = 53;
}

/// What both sides can do (`INIT`).
pub(crate) mod init {
    #![allow(missing_docs)]
    pub(crate) const ASYNC_READ: u64 = 1;
    pub(crate) const POSIX_LOCKS: u64 = 1 << 1;
    pub(crate) const ATOMIC_O_TRUNC: u64 = 1 << 3;
    pub(crate) const BIG_WRITES: u64 = 1 << 5;
    pub(crate) const DONT_MASK: u64 = 1 << 6;
    pub(crate) const FLOCK_LOCKS: u64 = 1 << 10;
    pub(crate) const IOCTL_DIR: u64 = 1 << 11;
    pub(crate) const AUTO_INVAL_DATA: u64 = 1 << 12;
    pub(crate) const DO_READDIRPLUS: u64 = 1 << 13;
    pub(crate) const READDIRPLUS_AUTO: u64 = 1 << 14;
    pub(crate) const PARALLEL_DIROPS: u64 = 1 << 18;
    pub(crate) const POSIX_ACL: u64 = 1 << 20;
    pub(crate) const MAX_PAGES: u64 = 1 << 22;
    pub(crate) const CACHE_SYMLINKS: u64 = 1 << 23;
    pub(crate) const HANDLE_KILLPRIV_V2: u64 = 1 << 28;
    pub(crate) const SETXATTR_EXT: u64 = 1 << 29;
    pub(crate) const INIT_EXT: u64 = 1 << 30;
    pub(crate) const ASYNC_DIO: u64 = 1 << 15;
    pub(crate) const DIRECT_IO_ALLOW_MMAP: u64 = 1 << 36;
    pub(crate) const PASSTHROUGH: u64 = 1 << 37;
}

/// How an open file is served.
pub(crate) mod fopen {
    #![allow(missing_docs)]
    pub(crate) const DIRECT_IO: u32 = 1;
    pub(crate) const KEEP_CACHE: u32 = 1 << 1;
    pub(crate) const PARALLEL_DIRECT_WRITES: u32 = 1 << 6;
}

/// Which attributes `SETATTR` changes.
pub(crate) mod fattr {
    #![allow(missing_docs)]
    pub(crate) const MODE: u32 = 1;
    pub(crate) const UID: u32 = 1 << 1;
    pub(crate) const GID: u32 = 1 << 2;
    pub(crate) const SIZE: u32 = 1 << 3;
    pub(crate) const ATIME: u32 = 1 << 4;
    pub(crate) const MTIME: u32 = 1 << 5;
    pub(crate) const FH: u32 = 1 << 6;
    pub(crate) const ATIME_NOW: u32 = 1 << 7;
    pub(crate) const MTIME_NOW: u32 = 1 << 8;
}

/// The read is one of the program, not one for the page cache.
pub(crate) const READ_LOCKOWNER: u32 = 2;
/// The write comes from the page cache, long after the program stored it.
pub(crate) const WRITE_CACHE: u32 = 1;
/// The lock is one of flock(2).
pub(crate) const LOCK_FLOCK: u32 = 1;
/// Only the data are to be synchronised (fdatasync(2)).
pub(crate) const FSYNC_DATA: u32 = 1;
/// `ioctl(/dev/fuse)`: one more descriptor for the same session; `_IOR(229, 0, u32)`.
pub(crate) const IOC_CLONE: u64 = 0x8004_e500;
/// The node of the mount point.
pub(crate) const ROOT: u64 = 1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_are_as_long_as_the_kernel_has_them() {
        let sizes = [
            size_of::<InHeader>(),
            size_of::<OutHeader>(),
            size_of::<Attr>(),
            size_of::<EntryOut>(),
            size_of::<AttrOut>(),
            size_of::<SetattrIn>(),
            size_of::<InitIn>(),
            size_of::<InitOut>(),
            size_of::<ReadIn>(),
            size_of::<WriteIn>(),
            size_of::<LockIn>(),
            size_of::<StatfsOut>(),
            size_of::<StatxOut>(),
            size_of::<IoctlIn>(),
            size_of::<BackingMap>(),
            size_of::<CopyIn>(),
            size_of::<CopyOut>(),
        ];
        assert_eq!(sizes, [40, 16, 88, 128, 104, 88, 64, 64, 40, 40, 48, 80, 288, 32, 16, 56, 8]);
    }

    #[test]
    fn what_is_too_short_is_refused() {
        assert!(take::<InHeader>(&[0; 39]).is_none());
        assert_eq!(take_name(b"a\0b\0"), Some((&b"a"[..], &b"b\0"[..])));
        assert!(take_name(b"no end").is_none());
        let (link, rest) = take::<LinkIn>(&[7, 0, 0, 0, 0, 0, 0, 0, 9]).unwrap();
        assert_eq!((link.node, rest), (7, &[9][..]));
    }
}

//! Which system calls the kernel side looks at, by their numbers on this architecture: the table in
//! `bpf/settings.h` is made of this.

use flowmine_trace::record::Op;

use crate::decode::op_number;

/// Numbers at or above are not looked at.
pub const NUMBERS: usize = 512;

/// What a call does, as in `enum call`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Call {
    Read = 1,
    Write,
    Pread,
    Pwrite,
    Readv,
    Writev,
    Preadv,
    Pwritev,
    Preadv2,
    Pwritev2,
    CopyFileRange,
    Sendfile,
    Splice,
    Ftruncate,
    Fallocate,
    Fsync,
    SyncFileRange,
    Mmap,
    Close,
    Dup2,
    Dup3,
    CloseRange,
    Open,
    Creat,
    Openat,
    Openat2,
    OpenByHandle,
    Unlink,
    Unlinkat,
    Rename,
    Renameat,
    Renameat2,
    Link,
    Linkat,
    Truncate,
    IoSubmit,
    Seek,
    Mkdir,
    Rmdir,
    Symlink,
    Readdir,
    Stat,
}

/// Number, meaning, and the operations of which it makes rows; none: always of interest.
pub(crate) fn calls() -> Vec<(libc::c_long, Call, &'static [Op])> {
    use Call::*;
    let mut calls: Vec<(libc::c_long, Call, &'static [Op])> = vec![
        (libc::SYS_read, Read, &[Op::Read]),
        (libc::SYS_write, Write, &[Op::Write]),
        (libc::SYS_pread64, Pread, &[Op::Read]),
        (libc::SYS_pwrite64, Pwrite, &[Op::Write]),
        (libc::SYS_readv, Readv, &[Op::Read]),
        (libc::SYS_writev, Writev, &[Op::Write]),
        (libc::SYS_preadv, Preadv, &[Op::Read]),
        (libc::SYS_pwritev, Pwritev, &[Op::Write]),
        (libc::SYS_preadv2, Preadv2, &[Op::Read]),
        (libc::SYS_pwritev2, Pwritev2, &[Op::Write]),
        (libc::SYS_copy_file_range, CopyFileRange, &[Op::Read, Op::Write]),
        (libc::SYS_sendfile, Sendfile, &[Op::Read, Op::Write]),
        (libc::SYS_splice, Splice, &[Op::Read, Op::Write]),
        (libc::SYS_ftruncate, Ftruncate, &[Op::Truncate]),
        (libc::SYS_fallocate, Fallocate, &[Op::Allocate]),
        (libc::SYS_fsync, Fsync, &[Op::Sync]),
        (libc::SYS_fdatasync, Fsync, &[Op::Sync]),
        (libc::SYS_sync_file_range, SyncFileRange, &[Op::Sync]),
        (libc::SYS_mmap, Mmap, &[Op::Mmap]),
        (libc::SYS_close, Close, &[Op::Close]),
        (libc::SYS_dup3, Dup3, &[Op::Close]),
        (libc::SYS_close_range, CloseRange, &[Op::Close]),
        (libc::SYS_openat, Openat, &[Op::Open]),
        (libc::SYS_openat2, Openat2, &[Op::Open]),
        (libc::SYS_open_by_handle_at, OpenByHandle, &[Op::Open]),
        (libc::SYS_unlinkat, Unlinkat, &[Op::Delete]),
        (libc::SYS_renameat2, Renameat2, &[Op::Rename]),
        (libc::SYS_linkat, Linkat, &[Op::Link]),
        (libc::SYS_truncate, Truncate, &[Op::Truncate]),
        (libc::SYS_io_submit, IoSubmit, &[]),
        // No rows: what it moves is the offset of others.
        (libc::SYS_lseek, Seek, &[Op::Read, Op::Write]),
    ];
    // Not on newer architectures, which have the calls with `at` only.
    #[cfg(target_arch = "x86_64")]
    calls.extend([
        (libc::SYS_dup2, Dup2, &[Op::Close] as &[Op]),
        (libc::SYS_open, Open, &[Op::Open]),
        (libc::SYS_creat, Creat, &[Op::Open]),
        (libc::SYS_unlink, Unlink, &[Op::Delete]),
        (libc::SYS_rename, Rename, &[Op::Rename]),
        (libc::SYS_renameat, Renameat, &[Op::Rename]),
        (libc::SYS_link, Link, &[Op::Link]),
    ]);
    #[cfg(target_arch = "aarch64")]
    calls.push((libc::SYS_renameat, Renameat, &[Op::Rename]));
    calls
}

/// Number and meaning of calls that are counted by process and have no rows.
pub(crate) fn counted() -> Vec<(libc::c_long, Call)> {
    use Call::*;
    let mut counted = vec![
        (libc::SYS_mkdirat, Mkdir),
        (libc::SYS_symlinkat, Symlink),
        (libc::SYS_getdents64, Readdir),
        (libc::SYS_newfstatat, Stat),
        (libc::SYS_fstat, Stat),
        (libc::SYS_statx, Stat),
    ];
    #[cfg(target_arch = "x86_64")]
    counted.extend([
        (libc::SYS_mkdir, Mkdir),
        (libc::SYS_rmdir, Rmdir),
        (libc::SYS_symlink, Symlink),
        (libc::SYS_getdents, Readdir),
        (libc::SYS_stat, Stat),
        (libc::SYS_lstat, Stat),
    ]);
    counted
}

/// Whether calls on directories are counted: where all operations are wanted.
pub fn counts_directories(ops: &[Op]) -> bool {
    ops.is_empty()
}

/// The table of calls by number; an empty list of operations means all.
pub fn table(ops: &[Op]) -> [u8; NUMBERS] {
    let mut table = [0; NUMBERS];
    if counts_directories(ops) {
        for (number, call) in counted() {
            table[number as usize] = call as u8;
        }
    }
    for (number, call, makes) in calls() {
        let wanted = ops.is_empty() || makes.is_empty() || makes.iter().any(|op| ops.contains(op));
        if let Some(entry) = usize::try_from(number).ok().and_then(|number| table.get_mut(number)).filter(|_| wanted) {
            *entry = call as u8;
        }
    }
    table
}

/// A call of a 32-bit program, as in `bpf/settings.h`: its number, and its operation, or `None` where
/// it may be several.
type Foreign = (usize, Option<Op>);

/// Calls of 32-bit programs, which a 64-bit kernel knows by numbers of their own: those that name
/// files or do more than one thing, and those with a descriptor as the first argument. They are
/// counted, not decoded. Mappings and dup2 are left out: they move no bytes.
///
/// Linux: arch/x86/entry/syscalls/syscall_32.tbl, arch/arm/tools/syscall.tbl. These numbers are the
/// same in both.
const FOREIGN_BY_NAME: &[Foreign] = &[
    (5, Some(Op::Open)),
    // creat
    (8, Some(Op::Open)),
    (9, Some(Op::Link)),
    // unlink
    (10, Some(Op::Delete)),
    (38, Some(Op::Rename)),
    // truncate, truncate64
    (92, Some(Op::Truncate)),
    (193, Some(Op::Truncate)),
    // sendfile, sendfile64
    (187, None),
    (239, None),
    // openat2
    (437, Some(Op::Open)),
];
const FOREIGN_BY_DESCRIPTOR: &[Foreign] = &[
    (3, Some(Op::Read)),
    (4, Some(Op::Write)),
    (6, Some(Op::Close)),
    // ftruncate, ftruncate64
    (93, Some(Op::Truncate)),
    (194, Some(Op::Truncate)),
    // fsync, fdatasync
    (118, Some(Op::Sync)),
    (148, Some(Op::Sync)),
    // readv, writev
    (145, Some(Op::Read)),
    (146, Some(Op::Write)),
    // pread64, pwrite64
    (180, Some(Op::Read)),
    (181, Some(Op::Write)),
];

/// Further ones by the numbers of one architecture. By name: io_submit, openat, unlinkat, renameat,
/// linkat, open_by_handle_at, renameat2, splice, copy_file_range; by descriptor: sync_file_range,
/// fallocate, preadv, pwritev, preadv2, pwritev2.
#[cfg(target_arch = "x86_64")]
const FOREIGN_HERE: ([usize; 9], [usize; 6]) = ([248, 295, 301, 302, 303, 342, 353, 313, 377], [314, 324, 333, 334, 378, 379]);
#[cfg(target_arch = "aarch64")]
const FOREIGN_HERE: ([usize; 9], [usize; 6]) = ([246, 322, 328, 329, 330, 371, 382, 340, 391], [341, 352, 361, 362, 392, 393]);

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn foreign_calls() -> [Vec<Foreign>; 2] {
    let by_name = [None, Some(Op::Open), Some(Op::Delete), Some(Op::Rename), Some(Op::Link), Some(Op::Open), Some(Op::Rename), None, None];
    let by_descriptor = [Op::Sync, Op::Allocate, Op::Read, Op::Write, Op::Read, Op::Write].map(Some);
    [
        FOREIGN_BY_NAME.iter().copied().chain(FOREIGN_HERE.0.into_iter().zip(by_name)).collect(),
        FOREIGN_BY_DESCRIPTOR.iter().copied().chain(FOREIGN_HERE.1.into_iter().zip(by_descriptor)).collect(),
    ]
}

/// No other architecture runs programs of another word size here.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn foreign_calls() -> [Vec<Foreign>; 2] {
    [Vec::new(), Vec::new()]
}

/// In an entry of the table of calls of 32-bit programs, behind the number of the operation.
pub(crate) const BY_NAME: u8 = 0x40;
pub(crate) const BY_DESCRIPTOR: u8 = 0x80;

/// The table of calls of 32-bit programs by number.
pub fn foreign() -> [u8; NUMBERS] {
    let mut table = [0; NUMBERS];
    for (calls, how) in foreign_calls().into_iter().zip([BY_NAME, BY_DESCRIPTOR]) {
        calls.iter().for_each(|(number, op)| table[*number] = how | op.map_or(0, op_number));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_that_are_not_wanted_are_not_looked_at() {
        let all = table(&[]);
        let writes = table(&[Op::Write]);
        let at = |table: &[u8; NUMBERS], number: libc::c_long| table[number as usize];
        assert_eq!((at(&all, libc::SYS_read), at(&all, libc::SYS_openat)), (Call::Read as u8, Call::Openat as u8));
        assert_eq!((at(&writes, libc::SYS_read), at(&writes, libc::SYS_write)), (0, Call::Write as u8));
        assert_eq!(at(&writes, libc::SYS_sendfile), Call::Sendfile as u8);
        assert_eq!(at(&all, libc::SYS_getpid), 0);
        assert_eq!((at(&all, libc::SYS_statx), at(&writes, libc::SYS_statx)), (Call::Stat as u8, 0));
    }
}

//! Which system calls are of interest, by their numbers on this architecture.

use flowmine_trace::options::Detail;
use flowmine_trace::record::{Op, Via};

/// A call of interest. Where descriptors, offsets and sizes are among the arguments is said by
/// their positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call {
    /// open(2) and its variants.
    Open(OpenCall),
    /// close(2).
    Close,
    /// close_range(2).
    CloseRange,
    /// dup(2), and fcntl(2) with `F_DUPFD` and `F_DUPFD_CLOEXEC`.
    Duplicate,
    /// dup2(2), dup3(2).
    DuplicateTo,
    /// read(2), write(2) and their variants.
    Transfer(Op, Buffer, Position),
    /// copy_file_range(2), sendfile(2), splice(2).
    Move(Via),
    /// lseek(2): no row, but it moves a position that others may use.
    Seek,
    /// unlink(2) and its variants.
    Delete(At),
    /// rename(2) and its variants; renameat2(2) has flags.
    Rename(At, bool),
    /// link(2) and its variants.
    Link(At),
    /// mkdir(2), rmdir(2), symlink(2), getdents(2) and their variants: counted, no more.
    Count(Counted),
    /// truncate(2).
    Truncate,
    /// ftruncate(2).
    TruncateOpen,
    /// fallocate(2).
    Allocate,
    /// fsync(2), fdatasync(2).
    Sync,
    /// sync_file_range(2).
    SyncRange,
    /// mmap(2) of a file.
    Map,
    /// io_uring_setup(2).
    RingSetup,
    /// io_uring_enter(2).
    RingEnter,
    /// io_submit(2).
    Submit,
    /// unshare(2).
    Unshare,
    /// Changes what a path means: chroot(2), pivot_root(2), setns(2).
    ChangeRoot,
}

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OpenCall {
    Open,
    OpenAt,
    OpenAt2,
    Creat,
    ByHandle,
}

/// What is counted by process. Calls of stat(2) and its variants are not: to stop each of them
/// would cost more than they do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counted {
    Mkdir,
    Rmdir,
    Symlink,
    Readdir,
}

/// Whether the paths of a call come with descriptors of directories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum At {
    Here,
    Directory,
}

/// How a call says how much it wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Buffer {
    Plain,
    Vector,
}

/// How a call says where in the file it reads or writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Position {
    /// The position of the open file.
    OfFile,
    /// The offset that the fourth argument is.
    Given,
    /// The fourth argument, unless it is -1; the sixth has flags.
    GivenOrOfFile,
}

/// When the filter stops a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    Always,
    /// When the lower half of an argument is one of these.
    ArgumentIs(usize, &'static [u32]),
    /// When none of these bits of an argument is set.
    ArgumentLacks(usize, u32),
    /// When one of these bits of an argument is set.
    ArgumentHas(usize, u32),
}

/// A call, its number, and when it is stopped.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known {
    pub(crate) number: u32,
    pub(crate) call: Call,
    pub(crate) when: When,
}

/// The calls that are stopped.
pub(crate) fn calls(detail: Detail) -> Vec<Known> {
    use Call::*;
    use When::Always;
    let mut calls = Vec::new();
    let mut add = |number: libc::c_long, call: Call, when: When| {
        // All numbers are small and positive.
        calls.push(Known { number: number as u32, call, when });
    };
    add(libc::SYS_openat, Open(OpenCall::OpenAt), Always);
    add(libc::SYS_openat2, Open(OpenCall::OpenAt2), Always);
    add(libc::SYS_open_by_handle_at, Open(OpenCall::ByHandle), Always);
    add(libc::SYS_close, Close, Always);
    add(libc::SYS_close_range, CloseRange, Always);
    add(libc::SYS_dup, Duplicate, Always);
    add(libc::SYS_dup3, DuplicateTo, Always);
    add(libc::SYS_fcntl, Duplicate, When::ArgumentIs(1, &[libc::F_DUPFD as u32, libc::F_DUPFD_CLOEXEC as u32]));
    add(libc::SYS_unlinkat, Delete(At::Directory), Always);
    add(libc::SYS_mkdirat, Count(Counted::Mkdir), Always);
    add(libc::SYS_symlinkat, Count(Counted::Symlink), Always);
    add(libc::SYS_getdents64, Count(Counted::Readdir), Always);
    add(libc::SYS_renameat2, Rename(At::Directory, true), Always);
    add(libc::SYS_linkat, Link(At::Directory), Always);
    add(libc::SYS_truncate, Truncate, Always);
    add(libc::SYS_ftruncate, TruncateOpen, Always);
    add(libc::SYS_fallocate, Allocate, Always);
    add(libc::SYS_fsync, Sync, Always);
    add(libc::SYS_fdatasync, Sync, Always);
    add(libc::SYS_sync_file_range, SyncRange, Always);
    add(libc::SYS_mmap, Map, When::ArgumentLacks(3, libc::MAP_ANONYMOUS as u32));
    add(libc::SYS_io_uring_setup, RingSetup, Always);
    // What /proc/PID/io does not count either.
    add(libc::SYS_io_submit, Submit, Always);
    add(libc::SYS_unshare, Unshare, When::ArgumentHas(0, (libc::CLONE_FILES | libc::CLONE_NEWNS) as u32));
    add(libc::SYS_chroot, ChangeRoot, Always);
    add(libc::SYS_pivot_root, ChangeRoot, Always);
    add(libc::SYS_setns, ChangeRoot, Always);
    add(libc::SYS_renameat, Rename(At::Directory, false), Always);
    #[cfg(target_arch = "x86_64")]
    {
        add(libc::SYS_open, Open(OpenCall::Open), Always);
        add(libc::SYS_creat, Open(OpenCall::Creat), Always);
        add(libc::SYS_dup2, DuplicateTo, Always);
        add(libc::SYS_mkdir, Count(Counted::Mkdir), Always);
        add(libc::SYS_rmdir, Count(Counted::Rmdir), Always);
        add(libc::SYS_symlink, Count(Counted::Symlink), Always);
        add(libc::SYS_getdents, Count(Counted::Readdir), Always);
        add(libc::SYS_unlink, Delete(At::Here), Always);
        add(libc::SYS_rename, Rename(At::Here, false), Always);
        add(libc::SYS_link, Link(At::Here), Always);
    }
    if detail == Detail::Events {
        use Buffer::{Plain, Vector};
        use Position::{Given, GivenOrOfFile, OfFile};
        let transfers = [
            (libc::SYS_read, Op::Read, Plain, OfFile),
            (libc::SYS_write, Op::Write, Plain, OfFile),
            (libc::SYS_pread64, Op::Read, Plain, Given),
            (libc::SYS_pwrite64, Op::Write, Plain, Given),
            (libc::SYS_readv, Op::Read, Vector, OfFile),
            (libc::SYS_writev, Op::Write, Vector, OfFile),
            (libc::SYS_preadv, Op::Read, Vector, Given),
            (libc::SYS_pwritev, Op::Write, Vector, Given),
            (libc::SYS_preadv2, Op::Read, Vector, GivenOrOfFile),
            (libc::SYS_pwritev2, Op::Write, Vector, GivenOrOfFile),
        ];
        for (number, op, buffer, position) in transfers {
            add(number, Transfer(op, buffer, position), Always);
        }
        add(libc::SYS_copy_file_range, Move(Via::CopyFileRange), Always);
        add(libc::SYS_sendfile, Move(Via::Sendfile), Always);
        add(libc::SYS_splice, Move(Via::Splice), Always);
        add(libc::SYS_lseek, Seek, Always);
        add(libc::SYS_io_uring_enter, RingEnter, Always);
    }
    calls
}

/// What a call of the other calling conventions of this machine does: the kind of loss, or `None`
/// for a call that is of no interest. The numbers are those of the 32-bit tables
/// (arch/x86/entry/syscalls/syscall_32.tbl, arch/arm/tools/syscall.tbl in the kernel).
pub(crate) fn foreign(detail: Detail) -> Vec<(u32, &'static str)> {
    let mut found: Vec<(u32, &'static str)> = vec![
        (5, "open"),
        (8, "open"),
        (437, "open"),
        (6, "close"),
        (436, "close"),
        // dup, dup2: what they close is not known.
        (41, "close"),
        (63, "close"),
        (10, "delete"),
        (38, "rename"),
        (9, "link"),
        (92, "truncate"),
        (93, "truncate"),
        (193, "truncate"),
        (194, "truncate"),
        (118, "sync"),
        (148, "sync"),
        (192, "mmap"),
    ];
    #[cfg(target_arch = "x86_64")]
    found.extend([(295, "open"), (330, "close"), (301, "delete"), (302, "rename"), (353, "rename"), (303, "link"), (324, "allocate")]);
    #[cfg(target_arch = "aarch64")]
    found.extend([(322, "open"), (358, "close"), (328, "delete"), (329, "rename"), (382, "rename"), (330, "link"), (352, "allocate")]);
    if detail == Detail::Events {
        found.extend([
            (3, "read"),
            (4, "write"),
            (145, "read"),
            (146, "write"),
            (180, "read"),
            (181, "write"),
            (187, "read"),
            (239, "read"),
        ]);
        #[cfg(target_arch = "x86_64")]
        found.extend([(313, "read"), (333, "read"), (334, "write"), (377, "read"), (378, "read"), (379, "write")]);
        #[cfg(target_arch = "aarch64")]
        found.extend([(340, "read"), (361, "read"), (362, "write"), (391, "read"), (392, "read"), (393, "write")]);
    }
    found
}

//! What the backends cannot see, each with its reason; `docs/tracing.md` has the same for users.

use super::operations::{Blind, Column, Sight, Want, Way};

const UNKNOWN_INODE: Blind = Blind {
    why: "the system call names a path; which inode it led to is known to the VFS alone",
    of: |_, row| matches!(row.op.as_str(), "delete" | "rename" | "link" | "truncate") && row.handle == Want::Absent,
    sight: Sight::Null(Column::File),
};

const REFUSED_BEFORE: Blind = Blind {
    why: "a rename or link onto a name that is there is refused before the VFS function that would tell the inode",
    of: |_, row| matches!(row.op.as_str(), "rename" | "link") && row.result == Want::Is(-17), /* EEXIST */
    sight: Sight::Null(Column::File),
};

const AIO: Blind = Blind {
    why: "io_submit(2) (libaio) is no call that is hooked",
    of: |case, row| case == "aio" && matches!(row.op.as_str(), "read" | "write"),
    sight: Sight::NoRow,
};

const NO_IO_URING: Blind = Blind {
    why: "what goes through io_uring passes no system call; submissions are counted in `losses`",
    of: |_, row| row.via == Want::Is("io_uring".to_owned()),
    sight: Sight::NoRow,
};

const NAMED_BY_IO_URING: Blind = Blind {
    why: "a request of io_uring that names a path passes no hook that would tell the inode",
    of: |_, row| matches!(row.op.as_str(), "delete" | "rename" | "link") && row.via == Want::Is("io_uring".to_owned()),
    sight: Sight::Null(Column::File),
};

const LONG_PATH: Blind = Blind {
    why: "/proc tells no path of more than 4096 bytes",
    of: |case, row| case == "longer_path" && matches!(row.op.as_str(), "open" | "delete") && row.path != Want::Any,
    sight: Sight::Null(Column::Path),
};

const REFUSED_AT_ONCE: Blind = Blind {
    why: "an io_uring of 5.15 and before tells of a request that it refuses at once only its end, without what it was",
    of: |_, row| row.via == Want::Is("io_uring".to_owned()) && matches!(row.result, Want::Is(result) if result < 0 && row.op != "open"),
    sight: Sight::NoRow,
};

const MAPPED: Blind =
    Blind { why: "no file system is told of a mapping by the FUSE protocol", of: |_, row| row.op == "mmap", sight: Sight::NoRow };

const THROUGH_THE_CACHE: Blind = Blind {
    why: "sendfile(2) and splice(2) read a file of FUSE through the page cache, which asks for whole pages and only for those it does not have",
    of: |_, row| row.op == "read" && (row.via == Want::Is("sendfile".to_owned()) || row.via == Want::Is("splice".to_owned())),
    sight: Sight::NoRow,
};

const NOTHING_MOVED: Blind = Blind {
    why: "the kernel asks for nothing when a transfer is of no bytes, and neither for a write of what is not there to be read",
    of: |_, row| {
        let nothing = row.size == Want::Is(0) || row.via != Want::Is("call".to_owned());
        matches!(row.op.as_str(), "read" | "write") && row.result == Want::Is(0) && nothing
    },
    sight: Sight::NoRow,
};

const REFUSED_BY_THE_KERNEL: Blind = Blind {
    why: "what the kernel refuses by itself, such as a write to a descriptor for reading; only a name that is missing shows",
    of: |case, row| {
        let Want::Is(result) = row.result else { return false };
        const ENOENT: i64 = -2;
        const ENAMETOOLONG: i64 = -36;
        let missing = result == ENOENT || result == ENAMETOOLONG;
        result < 0 && !(missing && row.path != Want::Any && case != "deleted_cwd")
    },
    sight: Sight::NoRow,
};

const REFUSED_BUT_FOR_RIGHTS: Blind = Blind {
    why: "what the kernel refuses by itself; who may open a file is decided by the file system underneath",
    of: |case, row| (REFUSED_BY_THE_KERNEL.of)(case, row) && row.result != Want::Is(-13),
    sight: Sight::NoRow,
};

const PLACES: Blind = Blind {
    why: "an open for a place in the tree only (O_PATH) opens nothing",
    of: |case, row| case == "o_path" && (row.flags == Want::Is(0o10_000_000) || (row.op == "close" && row.handle == Want::Is(2))),
    sight: Sight::NoRow,
};

const SYNC_RANGE: Blind = Blind {
    why: "sync_file_range(2) acts on the page cache",
    of: |_, row| row.op == "sync" && row.flags == Want::Any,
    sight: Sight::NoRow,
};

const MISSING_BY_IO_URING: Blind = Blind {
    why: "that a name is missing comes as a lookup; what was wanted of it stands in the caller's system call, which is io_uring_enter(2)",
    of: |_, row| row.via == Want::Is("io_uring".to_owned()) && row.op == "open" && row.result == Want::Is(-2),
    sight: Sight::NoRow,
};

const FLAGS_OF_IO_URING: Blind = Blind {
    why: "flags of a rename stand in the caller's system call, which is io_uring_enter(2), unless there are some",
    of: |_, row| row.via == Want::Is("io_uring".to_owned()) && row.op == "rename",
    sight: Sight::Null(Column::Flags),
};

const SHORTENED: Blind = Blind {
    why: "the kernel shortens what io_uring and libaio ask for to what is left of the file",
    of: |case, row| {
        let short = matches!((&row.size, &row.result), (Want::Is(size), Want::Is(result)) if (0..*size).contains(result));
        matches!(case, "io_uring" | "aio") && row.op == "read" && short
    },
    sight: Sight::Null(Column::Size),
};

pub const SYSCALLS: Way = Way { name: "eBPF, system calls", blind: &[UNKNOWN_INODE, AIO], ..PLAIN };
pub const VFS: Way = Way { name: "eBPF, VFS", blind: &[AIO, REFUSED_BEFORE, NAMED_BY_IO_URING], ..PLAIN };
/// The same on a kernel whose io_uring is that of 5.15 or older; Debian's 5.10 has that one.
pub const SYSCALLS_5_15: Way = Way { blind: &[UNKNOWN_INODE, AIO, REFUSED_AT_ONCE], ..SYSCALLS };
pub const VFS_5_15: Way = Way { blind: &[AIO, REFUSED_BEFORE, NAMED_BY_IO_URING, REFUSED_AT_ONCE], ..VFS };
pub const PTRACE: Way = Way { name: "ptrace", blind: &[AIO, NO_IO_URING, LONG_PATH], ..PLAIN };
pub const FUSE: Way = Way {
    name: "FUSE",
    same_files: false,
    blind: &[
        MAPPED,
        THROUGH_THE_CACHE,
        NOTHING_MOVED,
        REFUSED_BY_THE_KERNEL,
        PLACES,
        SYNC_RANGE,
        SHORTENED,
        MISSING_BY_IO_URING,
        FLAGS_OF_IO_URING,
    ],
    ..PLAIN
};
pub const FUSE_OF_A_USER: Way = Way {
    name: "FUSE in a user namespace",
    blind: &[
        MAPPED,
        THROUGH_THE_CACHE,
        NOTHING_MOVED,
        REFUSED_BUT_FOR_RIGHTS,
        PLACES,
        SYNC_RANGE,
        SHORTENED,
        MISSING_BY_IO_URING,
        FLAGS_OF_IO_URING,
    ],
    ..FUSE
};
const PLAIN: Way = Way { name: "", same_files: true, ordered: true, blind: &[], extra: &[] };

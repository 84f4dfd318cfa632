//! What the ways in cannot see, each with its reason; `docs/tracing.md` has the same for users.

#![allow(dead_code, reason = "each test file uses another part")]

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

const LONG_PATH: Blind = Blind {
    why: "/proc tells no path of more than 4096 bytes",
    of: |case, row| case == "longer_path" && matches!(row.op.as_str(), "open" | "delete") && row.path != Want::Any,
    sight: Sight::Null(Column::Path),
};

const REFUSED_AT_ONCE: Blind = Blind {
    why: "an io_uring of 5.15 and before tells of a request that it refuses at once only its end, without what it was",
    of: |_, row| row.via == Want::Is("io_uring".to_owned()) && matches!(row.result, Want::Is(result) if result < 0),
    sight: Sight::NoRow,
};

pub const SYSCALLS: Way = Way { name: "eBPF, system calls", blind: &[UNKNOWN_INODE, AIO], ..PLAIN };
pub const VFS: Way = Way { name: "eBPF, VFS", blind: &[AIO, REFUSED_BEFORE], ..PLAIN };
/// The same on a kernel whose io_uring is that of 5.15 or older; Debian's 5.10 has that one.
pub const SYSCALLS_5_15: Way = Way { blind: &[UNKNOWN_INODE, AIO, REFUSED_AT_ONCE], ..SYSCALLS };
pub const VFS_5_15: Way = Way { blind: &[AIO, REFUSED_BEFORE, REFUSED_AT_ONCE], ..VFS };
pub const PTRACE: Way = Way { name: "ptrace", blind: &[AIO, NO_IO_URING, LONG_PATH], ..PLAIN };
pub const FUSE: Way = Way { name: "FUSE", same_files: false, ..PLAIN };
const PLAIN: Way = Way { name: "", same_files: true, ordered: true, blind: &[], extra: &[] };

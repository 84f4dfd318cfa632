//! Records of the kernel side, as bytes in `bpf/wire.h`: where which field stands. Bytes in,
//! numbers out; a record that is too short for a field reads as `None` there, and no length that a
//! record says is trusted.

/// What a record is, its first byte.
#[allow(missing_docs)]
pub mod kind {
    pub const OPERATION: u8 = 1;
    pub const TOTALS: u8 = 2;
    pub const FORK: u8 = 3;
    pub const EXEC: u8 = 4;
    pub const EXIT: u8 = 5;
    pub const CGROUP: u8 = 6;
    pub const CGROUP_PATH: u8 = 7;
    pub const ENVIRONMENT: u8 = 8;
    pub const RUNNING: u8 = 9;
    pub const OPEN_FILE: u8 = 10;
}

/// Bits of `has` of an operation.
#[allow(missing_docs)]
pub mod has {
    pub const FILE: u32 = 1 << 0;
    pub const HANDLE: u32 = 1 << 1;
    pub const OFFSET: u32 = 1 << 2;
    pub const SIZE: u32 = 1 << 3;
    pub const RESULT: u32 = 1 << 4;
    pub const FLAGS: u32 = 1 << 5;
    pub const CPU: u32 = 1 << 6;
    pub const BLOCK: u32 = 1 << 7;
    pub const FILE_SIZE: u32 = 1 << 8;
    pub const TAIL: u32 = 1 << 9;
    pub const OFFSET_UNCERTAIN: u32 = 1 << 10;
}

/// Kinds of the parts of a tail.
#[allow(missing_docs)]
pub mod part {
    pub const PATH: u8 = 1;
    pub const DIRECTORY: u8 = 2;
    pub const DIRECTORY_2: u8 = 3;
    pub const STRING: u8 = 4;
    pub const STRING_2: u8 = 5;
    pub const INNER: u8 = 6;
    pub const TYPE: u8 = 7;
    pub const ARGUMENTS: u8 = 8;
    pub const CGROUP: u8 = 9;
}

/// Flags of a part of a tail, as bits.
#[allow(missing_docs)]
pub mod part_flag {
    pub const CUT: u8 = 1 << 0;
    pub const DETACHED: u8 = 1 << 1;
    pub const FOREIGN: u8 = 1 << 2;
    pub const ROOTED: u8 = 1 << 3;
    pub const DELETED: u8 = 1 << 4;
    pub const UNREAD: u8 = 1 << 5;
}

/// Byte at which the tail of a record begins.
pub const HEAD: usize = 128;
/// How many counters there are.
pub const COUNTERS: u32 = 80;
/// In the place of the end of a range of totals: an offset was not known.
pub const OFFSET_NOT_KNOWN: u64 = u64::MAX;
/// v1 hierarchies of which the kernel side reports the cgroup, in its order.
pub const CONTROLLERS: [&str; 5] = ["freezer", "memory", "cpuset", "devices", "cpuacct"];

macro_rules! fields {
    ($($(#[$doc:meta])* $module:ident: $c:literal, $size:literal { $($name:ident: $kind:ident = $at:literal,)* })*) => {
        $($(#[$doc])*
        #[allow(missing_docs)]
        pub mod $module {
            /// Size of the structure in bytes.
            pub const SIZE: usize = $size;
            /// Its name in C, and its fields with their places.
            pub const LAYOUT: (&str, &[(&str, usize)]) = ($c, &[$((stringify!($name), $at),)*]);
            /// Byte at which each field of the structure begins.
            #[allow(missing_docs, non_upper_case_globals)]
            pub mod at {
                $(pub const $name: usize = $at;)*
            }
            $(pub fn $name(record: &[u8]) -> Option<$kind> {
                let bytes = record.get($at..$at + size_of::<$kind>())?;
                Some($kind::from_le_bytes(bytes.try_into().ok()?))
            })*
        })*
    };
}

fields! {
    /// `struct wire_operation`.
    operation: "wire_operation", 96 {
        op: u8 = 1, via: u8 = 2, has: u32 = 4, tgid: u32 = 8, tid: u32 = 12, process_start: u64 = 16, start: u64 = 24, end: u64 = 32, handle: u64 = 40,
        inode: u64 = 48, device: u32 = 56, generation: u32 = 60, offset: i64 = 64, size: u64 = 72, result: i64 = 80, flags: u32 = 88, tail: u32 = 92,
    }
    /// `struct wire_cpu`, behind an operation.
    cpu: "wire_cpu", 32 { user_start: u64 = 0, system_start: u64 = 8, user_end: u64 = 16, system_end: u64 = 24, }
    /// `struct wire_process`.
    process: "wire_process", 112 {
        v1: u8 = 2, status: i32 = 4, tgid: u32 = 8, parent_tgid: u32 = 12, start: u64 = 16, parent_start: u64 = 24, at: u64 = 32, uid: u32 = 40, gid: u32 = 44,
        inner_pid: u32 = 48, tail: u32 = 52, cgroup: u64 = 56, cgroup_v1: u64 = 64, real_uid: u32 = 104,
    }
    /// `struct wire_exit`.
    exit: "wire_exit", 160 {
        status: i32 = 4, tgid: u32 = 8, has: u32 = 12, start: u64 = 16, at: u64 = 24, user: u64 = 32, system: u64 = 40, runtime: u64 = 48, rchar: u64 = 56,
        wchar: u64 = 64, syscr: u64 = 72, syscw: u64 = 80, read_bytes: u64 = 88, write_bytes: u64 = 96, cancelled: u64 = 104,
        mkdir: u64 = 112, rmdir: u64 = 120, symlink: u64 = 128, readdir: u64 = 136, stat: u64 = 144, run_delay: u64 = 152,
    }
    /// `struct directory_calls`: what a process that runs did so far; the calls in the order of
    /// `wire_exit`.
    directory_calls: "directory_calls", 72 { start: u64 = 0, calls: u64 = 8, }
    /// `struct wire_cgroup_path`.
    cgroup_path: "wire_cgroup_path", 32 { hierarchy: i32 = 4, id: u64 = 8, at: u64 = 16, tail: u32 = 24, }
    /// `struct wire_environment`.
    environment: "wire_environment", 32 { last: u8 = 1, tgid: u32 = 4, start: u64 = 8, at: u64 = 16, piece: u32 = 24, tail: u32 = 28, }
    /// `struct wire_part_head`.
    part_head: "wire_part_head", 16 { part: u8 = 0, flags: u8 = 1, root: u16 = 2, length: u32 = 4, device: u32 = 8, }
    /// `struct wire_totals`: a key and a value of the table of totals, behind the kind.
    totals: "wire_totals", 168 { key: u64 = 8, value: u64 = 40, }
    /// `struct totals_key`.
    totals_key: "totals_key", 32 { handle: u64 = 0, inode: u64 = 8, process_start: u64 = 16, tgid: u32 = 24, device: u32 = 28, }
    /// `struct totals_sum`.
    totals_sum: "totals_sum", 48 { calls: u64 = 0, bytes: u64 = 8, errors: u64 = 16, time: u64 = 24, low: u64 = 32, high: u64 = 40, }
    /// `struct totals_value`.
    totals_value: "totals_value", 128 { first: u64 = 0, last: u64 = 8, read: u64 = 16, write: u64 = 64, faults: u64 = 112, generation: u32 = 120, }
    /// `struct wire_counter`.
    counter: "wire_counter", 48 { seen: u64 = 0, seen_bytes: u64 = 8, lost: u64 = 16, lost_bytes: u64 = 24, full: u64 = 32, full_bytes: u64 = 40, }
}

/// One part of a tail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TailPart<'a> {
    /// Kind of the part, see [`part`].
    pub part: u8,
    /// Flags of the part, see [`part_flag`].
    pub flags: u8,
    /// Where the root of the process was met.
    pub root: u16,
    /// Device of an inner path.
    pub device: u32,
    /// The bytes that the part holds, without its head.
    pub bytes: &'a [u8],
}

/// The parts of a tail, as far as they are whole.
pub fn parts(mut tail: &[u8]) -> impl Iterator<Item = TailPart<'_>> {
    std::iter::from_fn(move || {
        let (part, flags, root) = (part_head::part(tail)?, part_head::flags(tail)?, part_head::root(tail)?);
        let (length, device) = (part_head::length(tail)? as usize, part_head::device(tail)?);
        let rest = tail.get(part_head::SIZE..)?;
        let bytes = rest.get(..length)?;
        tail = &rest[length..];
        Some(TailPart { part, flags, root, device, bytes })
    })
}

/// A device number as stat(2) gives it (makedev(3)), from the kernel's own (12 bits of major above
/// 20 of minor).
pub fn device(kernel: u32) -> u64 {
    let (major, minor) = (u64::from(kernel >> 20), u64::from(kernel & 0xf_ffff));
    (major & 0xfff) << 8 | (major & !0xfff) << 32 | (minor & 0xff) | (minor & !0xff) << 12
}

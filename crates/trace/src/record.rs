//! What a backend saw: the records that all of them produce.
//!
//! Times are nanoseconds after boot (`CLOCK_BOOTTIME`, clock_gettime(2)): they neither jump nor
//! depend on a time zone. The [`crate::Recorder`] turns them into UTC. Paths and texts are bytes as
//! the kernel has them. What a backend does not know is `None`.

pub use flowmine_schema::losses::is_operation;

/// A process generation: a number is used again, with its start time it is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProcessKey {
    /// Number of the thread group in the host's pid namespace.
    pub pid: u32,
    /// When it started, in nanoseconds after boot.
    pub start_boot_ns: u64,
}

/// A file generation: an inode number is used again, with its generation it is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileKey {
    /// Device number as stat(2) gives it.
    pub device: u64,
    /// Inode number as stat(2) gives it.
    pub inode: u64,
    /// Generation of the inode; `None` where it cannot be had.
    pub generation: Option<u32>,
}

macro_rules! names {
    ($(#[doc = $doc:literal])+ pub enum $name:ident { $($(#[doc = $variant_doc:literal])+ $variant:ident = $text:literal,)+ }) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[doc = $variant_doc])+ $variant,)+ }
        impl $name {
            /// All variants, in the order of their declaration.
            pub const ALL: &'static [$name] = &[$($name::$variant,)+];
            /// The word for it in the tables.
            pub fn name(self) -> &'static str {
                match self { $($name::$variant => $text,)+ }
            }
            /// The value with this word in the tables.
            pub fn of(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.name() == name)
            }
        }
    };
}

names! {
    /// What was done to a file.
    pub enum Op {
        /// A file was opened: open(2) and its variants.
        Open = "open",
        /// Bytes were read from a file.
        Read = "read",
        /// Bytes were written to a file.
        Write = "write",
        /// A descriptor was closed by a call.
        Close = "close",
        /// A name was removed: unlink(2) and its variants.
        Delete = "delete",
        /// A name was changed: rename(2) and its variants.
        Rename = "rename",
        /// Another name was given: link(2) and its variants.
        Link = "link",
        /// A file was cut or made longer: truncate(2), ftruncate(2).
        Truncate = "truncate",
        /// Room was reserved, or a range changed: fallocate(2).
        Allocate = "allocate",
        /// What was written was put on the disk: fsync(2), fdatasync(2), sync_file_range(2).
        Sync = "sync",
        /// mmap(2) of a file; which of its bytes are used is not known.
        Mmap = "mmap",
        /// A page was brought in because a mapping was touched.
        Fault = "fault",
    }
}

names! {
    /// By which call bytes were moved.
    pub enum Via {
        /// The call that `op` names, or one of its variants.
        Call = "call",
        /// copy_file_range(2): from file to file in the kernel.
        CopyFileRange = "copy_file_range",
        /// sendfile(2): from a file to another descriptor.
        Sendfile = "sendfile",
        /// splice(2): from or to a pipe.
        Splice = "splice",
        /// A request of io_uring(7).
        IoUring = "io_uring",
    }
}

names! {
    /// What a file is, as far as it is recorded.
    pub enum FileKind {
        /// A regular file (`S_IFREG`, inode(7)).
        Regular = "regular",
        /// A block device (`S_IFBLK`, inode(7)).
        Block = "block",
    }
}

/// CPU time of a thread in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CpuTime {
    /// CPU time in user mode, in nanoseconds.
    pub user_ns: u64,
    /// CPU time in the kernel, in nanoseconds.
    pub system_ns: u64,
}

/// One operation on a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation<'a> {
    /// The process that did it.
    pub process: ProcessKey,
    /// Number of the thread that did it.
    pub tid: u32,
    /// What was done to the file.
    pub op: Op,
    /// By which call the bytes were moved.
    pub via: Via,
    /// When the call began, in nanoseconds after boot.
    pub start_boot_ns: u64,
    /// When the call ended, in nanoseconds after boot.
    pub end_boot_ns: Option<u64>,
    /// The open file description: a number that the backend gives to no other one of the trace. It
    /// becomes `handle` of the tables.
    pub open_file: Option<u64>,
    /// The file on which it was done.
    pub file: Option<FileKey>,
    /// Kind of the file; given with `Open`.
    pub kind: Option<FileKind>,
    /// Type of its file system; given with `Open`.
    pub file_system: Option<&'a str>,
    /// Size of the file in bytes; given with `Open`.
    pub file_size: Option<u64>,
    /// Offset in the file at which the transfer began, in bytes.
    pub offset: Option<u64>,
    /// Others moved the position of the open file, or the end of the file, at the same time: the
    /// offset is not known.
    pub offset_uncertain: bool,
    /// Bytes that the call asked for.
    pub size: Option<u64>,
    /// Bytes moved, 0, or the negative error number.
    pub result: Option<i64>,
    /// Flags of the call, see `io_events.flags`.
    pub flags: Option<u32>,
    /// Path of the file as the host sees it.
    pub path: Option<&'a [u8]>,
    /// Path of the file as the process sees it, where that differs.
    pub container_path: Option<&'a [u8]>,
    /// The second path of rename and link.
    pub new_path: Option<&'a [u8]>,
    /// CPU time of the thread when the call began.
    pub cpu_start: Option<CpuTime>,
    /// CPU time of the thread when the call ended.
    pub cpu_end: Option<CpuTime>,
}

impl Operation<'_> {
    /// An operation of which only this is known.
    pub fn new(process: ProcessKey, tid: u32, op: Op, start_boot_ns: u64) -> Self {
        Operation {
            process,
            tid,
            op,
            via: Via::Call,
            start_boot_ns,
            end_boot_ns: None,
            open_file: None,
            file: None,
            kind: None,
            file_system: None,
            file_size: None,
            offset: None,
            offset_uncertain: false,
            size: None,
            result: None,
            flags: None,
            path: None,
            container_path: None,
            new_path: None,
            cpu_start: None,
            cpu_end: None,
        }
    }
}

/// A file that was open before tracing began, or that came to a process from somewhere that is not
/// traced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenFile<'a> {
    /// When the file was found open, in nanoseconds after boot.
    pub at_boot_ns: u64,
    /// See [`Operation::open_file`].
    pub open_file: Option<u64>,
    /// The file that is open.
    pub file: FileKey,
    /// Whether it is a regular file or a block device.
    pub kind: Option<FileKind>,
    /// Type of its file system.
    pub file_system: Option<&'a str>,
    /// Size of the file in bytes.
    pub size: Option<u64>,
    /// Path of the file as the host sees it.
    pub path: Option<&'a [u8]>,
    /// Path of the file as the process sees it, where that differs.
    pub container_path: Option<&'a [u8]>,
}

/// Calls in one direction, added up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sum {
    /// How many, failed ones included.
    pub calls: u64,
    /// Bytes that were moved.
    pub bytes: u64,
    /// Number of calls that failed.
    pub errors: u64,
    /// Time spent in the calls, in nanoseconds.
    pub time_ns: u64,
    /// The lowest offset and the end of the highest range.
    pub range: Option<(u64, u64)>,
}

/// Reads and writes of a process on an open file, added up since the last time they were reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Totals {
    /// Process of the calls that are added up.
    pub process: ProcessKey,
    /// See [`Operation::open_file`].
    pub open_file: Option<u64>,
    /// The file that was read and written.
    pub file: FileKey,
    /// When the first of them began, in nanoseconds after boot.
    pub first_boot_ns: u64,
    /// When the last of them ended, in nanoseconds after boot.
    pub last_boot_ns: u64,
    /// The calls that read.
    pub read: Sum,
    /// The calls that wrote.
    pub write: Sum,
    /// Number of page faults on mappings of the file.
    pub faults: u64,
}

/// What happened to a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessChange {
    /// The process ran already when tracing began.
    Running,
    /// The process was forked.
    Fork,
    /// The process became another program (execve(2)).
    Exec,
    /// Something is known of it that was not, such as another cgroup or its counters so far.
    Update,
    /// The process ended, with this status of wait(2).
    Exit(Option<i32>),
}

/// What a process is; `None` leaves what was known before.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProcessFacts {
    /// The process that forked it.
    pub parent: Option<ProcessKey>,
    /// Its number in its innermost pid namespace, where that differs.
    pub container_pid: Option<u32>,
    /// Effective user id.
    pub uid: Option<u32>,
    /// Real user id.
    pub real_uid: Option<u32>,
    /// Effective group id.
    pub gid: Option<u32>,
    /// Id of its v2 cgroup.
    pub cgroup_id: Option<u64>,
    /// Path of its v2 cgroup.
    pub cgroup_path: Option<Vec<u8>>,
    /// Controller and path in each v1 hierarchy.
    pub cgroup_v1: Option<Vec<(String, Vec<u8>)>>,
    /// Path of its program, as the host sees it.
    pub executable: Option<Vec<u8>>,
    /// Working directory of the process, as the host sees it.
    pub work_dir: Option<Vec<u8>>,
    /// Its command line, word by word.
    pub arguments: Option<Vec<Vec<u8>>>,
    /// Whether `arguments` is not all of it.
    pub arguments_cut: bool,
    /// The chosen environment variables that it has.
    pub environment: Option<Vec<(String, Vec<u8>)>>,
    /// Whether the program was first seen some time after it began, when it can have changed its
    /// user unseen.
    pub seen_late: bool,
}

/// What a process has used so far, see `processes` and proc(5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// CPU time of all its threads.
    pub cpu: Option<CpuTime>,
    /// Time that its threads were runnable and waited for a processor, in nanoseconds.
    pub run_delay_ns: Option<u64>,
    /// Bytes that calls have read, `rchar` of proc_pid_io(5).
    pub rchar_bytes: Option<u64>,
    /// Bytes that calls have written, `wchar` of proc_pid_io(5).
    pub wchar_bytes: Option<u64>,
    /// Number of calls that read, `syscr` of proc_pid_io(5).
    pub read_calls: Option<u64>,
    /// Number of calls that wrote, `syscw` of proc_pid_io(5).
    pub write_calls: Option<u64>,
    /// Bytes fetched from storage, `read_bytes` of proc_pid_io(5).
    pub read_bytes: Option<u64>,
    /// Bytes sent to storage, `write_bytes` of proc_pid_io(5).
    pub write_bytes: Option<u64>,
    /// Bytes that it kept from being sent, by truncating a file for example;
    /// `cancelled_write_bytes` of proc_pid_io(5).
    pub cancelled_write_bytes: Option<u64>,
    /// Calls on directories, where they are counted.
    pub directories: Option<DirectoryCalls>,
}

/// How often a process called what, while it was traced; failed calls included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DirectoryCalls {
    /// Calls of mkdir(2) and mkdirat(2).
    pub mkdir: u64,
    /// rmdir(2), and unlinkat(2) of a directory.
    pub rmdir: u64,
    /// Calls of symlink(2) and symlinkat(2).
    pub symlink: u64,
    /// Calls of getdents(2) and getdents64(2).
    pub readdir: u64,
    /// stat(2), lstat(2), fstat(2), fstatat(2), statx(2); `None` where these are not counted.
    pub stat: Option<u64>,
}

/// A change of a process, with what is then known of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessNews {
    /// The process that changed.
    pub process: ProcessKey,
    /// When it changed, in nanoseconds after boot.
    pub at_boot_ns: u64,
    /// What happened to the process.
    pub change: ProcessChange,
    /// What is known of the process at this change.
    pub facts: ProcessFacts,
    /// What the process has used so far, where it is known.
    pub counters: Counters,
}

/// Records that were lost before they arrived here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// Number of the processor on which they were lost.
    pub processor: Option<u32>,
    /// Kind: the name of an [`Op`], `fork`, `exec`, `exit`, `open-file`, `request` (one to the
    /// overlay), `call` (an unknown operation), … ; [`is_operation`] distinguishes them.
    pub kind: &'static str,
    /// Why: `ring-full`, `table-full`, `unreadable`, `no-descriptor`, `caller-unseen`, … .
    pub reason: &'static str,
    /// Number of records that were lost.
    pub count: u64,
    /// Bytes that they moved, where these were still counted.
    pub bytes: Option<u64>,
    /// They were lost after this moment, in nanoseconds after boot.
    pub not_before_boot_ns: u64,
    /// They were lost before this moment, in nanoseconds after boot.
    pub observed_boot_ns: u64,
}

/// A record, as every backend produces it and the [`crate::Recorder`] takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record<'a> {
    /// An operation on a file.
    Operation(Operation<'a>),
    /// A file that was open already.
    OpenFile(OpenFile<'a>),
    /// Nothing more will be reported of this number of an open file; it need not be remembered.
    FileGone(u64),
    /// Operations that were added up.
    Totals(Totals),
    /// A change of a process.
    Process(Box<ProcessNews>),
    /// Records that were lost.
    Loss(Loss),
}

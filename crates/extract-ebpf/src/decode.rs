//! Records of the kernel side in, records of the crate out.
//!
//! In: bytes of one record (`bpf/wire.h`), in the order of the ring. Out: [`Record`]s, handed on at
//! once. A record that is shorter than it must be, of an unknown kind, or with parts that
//! contradict each other is counted as unreadable and left; nothing in it is trusted.

use std::path::Path;

use flowmine_trace::TraceError;
use flowmine_trace::proc::facts::{arguments, chosen};
use flowmine_trace::record::{
    Counters, CpuTime, DirectoryCalls, FileKey, FileKind, Op, OpenFile, Operation, ProcessChange, ProcessFacts, ProcessKey, ProcessNews,
    Record, Sum, Totals, Via,
};
use rustc_hash::FxHashMap;

use crate::cgroups::Cgroups;
use crate::host_mounts::HostMounts;
use crate::paths::{self, Place};
use crate::wire::{self, TailPart, has, kind, part};

/// Takes records as they come out.
pub type Take<'t> = &'t mut dyn FnMut(&Record<'_>) -> Result<(), TraceError>;

/// Names of operations by their number in `wire.h`.
const OPS: [Option<Op>; 13] = [
    None,
    Some(Op::Open),
    Some(Op::Read),
    Some(Op::Write),
    Some(Op::Close),
    Some(Op::Delete),
    Some(Op::Rename),
    Some(Op::Link),
    Some(Op::Truncate),
    Some(Op::Allocate),
    Some(Op::Sync),
    Some(Op::Mmap),
    Some(Op::Fault),
];
/// Names of ways by their number in `wire.h`.
pub(crate) const VIAS: [Via; 5] = [Via::Call, Via::CopyFileRange, Via::Sendfile, Via::Splice, Via::IoUring];

/// The operation with this number in `wire.h`.
pub fn op(number: u8) -> Option<Op> {
    OPS.get(usize::from(number)).copied().flatten()
}

/// The number of an operation in `wire.h`.
pub fn op_number(op: Op) -> u8 {
    OPS.iter().position(|known| *known == Some(op)).unwrap_or(0) as u8
}

/// O_LARGEFILE: a 32-bit program's wish that means nothing here, and that 64-bit kernels add by
/// themselves.
const LARGE_FILE: u32 = 0o100_000;

/// O_TMPFILE without the O_DIRECTORY in it.
const TEMPORARY_FILE: u32 = 0o20_000_000;

/// Maximum number of incomplete environments at once; more means that their last pieces were lost.
const ENVIRONMENTS: usize = 4096;

/// What the decoder needs to know of the host.
#[derive(Debug)]
pub struct Host {
    /// Mounts as the host sees them.
    pub mounts: HostMounts,
    /// The control group hierarchies that are mounted.
    pub cgroups: Cgroups,
}

impl Host {
    /// Reads it; `proc` is `/proc`, `root` is `/`.
    ///
    /// # Errors
    /// When the mounts cannot be read.
    pub fn read(proc: &Path, root: &Path) -> Result<Self, TraceError> {
        let mounts = HostMounts::read(proc).map_err(TraceError::system("reading the host's mounts"))?;
        Ok(Host { mounts, cgroups: Cgroups::read(proc, root) })
    }
}

/// Makes records out of the bytes that the kernel side sends.
pub struct Decoder {
    host: Host,
    /// Names of the environment variables that are kept.
    environment: Vec<String>,
    /// Whether paths of this type of file systems are recorded, for operations of which only a path
    /// is known.
    keeps_type: Box<dyn Fn(&str) -> bool + Send>,
    environments: FxHashMap<ProcessKey, Vec<u8>>,
    /// Totals that were taken out of the kernel's table, until the records before them have been
    /// taken.
    waiting: Vec<Totals>,
    /// The open files that had this address of a struct file since totals were taken last, the
    /// oldest first; the last one still has it.
    files: FxHashMap<u64, Vec<Opened>>,
    /// Number at which closed ones are forgotten.
    most_files: usize,
    /// The number of the next open file.
    next_file: u64,
    /// Whether totals will come: until then an address is remembered with all that it stood for.
    totals: bool,
    /// Records that were not understood.
    pub unreadable: u64,
    /// Operations that were understood and left out, because their path lies on a file system that
    /// is not recorded.
    pub left_out: u64,
}

/// An open file: the kernel reports addresses, which are used again.
#[derive(Debug, Clone, Copy)]
struct Opened {
    number: u64,
    /// Device and inode number of the file (stat(2)).
    file: (u64, u64),
    since_boot_ns: u64,
    /// It was open before it was seen; `since_boot_ns` is when it was seen.
    read_in: bool,
    /// A descriptor of it was closed, most likely the last one.
    closed: bool,
}

/// Of an address that is used again one more is remembered: the record of its last close may come
/// late.
const REMEMBERED: usize = 2;

/// Number of remembered addresses at which those of closed files are forgotten.
const ADDRESSES: usize = 1 << 16;

impl Decoder {
    /// `keeps_type` says whether a type of file systems is recorded; `totals`, whether there will
    /// be totals.
    pub fn new(host: Host, environment: Vec<String>, totals: bool, keeps_type: Box<dyn Fn(&str) -> bool + Send>) -> Self {
        Decoder {
            host,
            environment,
            keeps_type,
            environments: FxHashMap::default(),
            waiting: Vec::new(),
            files: FxHashMap::default(),
            most_files: ADDRESSES,
            next_file: 1,
            totals,
            unreadable: 0,
            left_out: 0,
        }
    }

    /// The host's mounts.
    pub fn mounts(&mut self) -> &mut HostMounts {
        &mut self.host.mounts
    }

    /// Decodes one record of the kernel side and gives what it reports to `take`.
    ///
    /// # Errors
    /// Those of `take`.
    pub fn record(&mut self, bytes: &[u8], take: Take<'_>) -> Result<(), TraceError> {
        let understood = match bytes.first() {
            Some(&kind::OPERATION) => self.operation(bytes, take)?,
            Some(&kind::TOTALS) => {
                let from = |at: usize| bytes.get(at..).unwrap_or_default();
                match totals(from(wire::totals::at::key), from(wire::totals::at::value)) {
                    Some(totals) => {
                        self.totals(totals, take)?;
                        true
                    }
                    None => false,
                }
            }
            Some(&(kind::FORK | kind::EXEC | kind::CGROUP | kind::RUNNING)) => self.process(bytes, take)?,
            Some(&kind::EXIT) => exit(bytes, take)?,
            Some(&kind::CGROUP_PATH) => self.cgroup_path(bytes),
            Some(&kind::ENVIRONMENT) => self.environment(bytes, take)?,
            Some(&kind::OPEN_FILE) => self.open_file(bytes, take)?,
            _ => false,
        };
        self.unreadable += u64::from(!understood);
        Ok(())
    }

    /// Totals out of the kernel's table, to be given out when the records before them are.
    pub fn wait(&mut self, key: &[u8], value: &[u8]) {
        match totals(key, value) {
            Some(totals) => self.waiting.push(totals),
            None => self.unreadable += 1,
        }
    }

    /// Gives out the totals that waited: all records before them have been taken.
    ///
    /// # Errors
    /// Those of `take`.
    pub fn tell_waiting(&mut self, take: Take<'_>) -> Result<(), TraceError> {
        let mut all = std::mem::take(&mut self.waiting);
        // A table has no order of its own.
        all.sort_by_key(|totals| (totals.first_boot_ns, totals.process, totals.open_file));
        for totals in all {
            self.totals(totals, take)?;
        }
        for opened in self.files.values_mut().filter(|opened| opened.len() > REMEMBERED) {
            let old = opened.len() - REMEMBERED;
            for gone in opened.drain(..old) {
                take(&Record::FileGone(gone.number))?;
            }
            // An address may belong to thousands of files within a second, one after the other: the
            // room for that is not kept.
            opened.shrink_to(2 * REMEMBERED);
        }
        self.forget_closed(take)
    }

    /// Forgets addresses of closed files where there are many, which a trace of days would gather.
    /// What is done through another descriptor of such a file, or after a dup, is then reported of
    /// an open file of which no open is known.
    fn forget_closed(&mut self, take: Take<'_>) -> Result<(), TraceError> {
        if self.files.len() < self.most_files {
            return Ok(());
        }
        let mut gone = Vec::new();
        self.files.retain(|_, all| {
            let closed = all.last().is_none_or(|last| last.closed);
            if closed {
                gone.extend(all.iter().map(|opened| opened.number));
            }
            !closed
        });
        self.most_files = ADDRESSES.max(2 * self.files.len());
        gone.into_iter().try_for_each(|number| take(&Record::FileGone(number)))
    }

    fn totals(&mut self, mut totals: Totals, take: Take<'_>) -> Result<(), TraceError> {
        if totals.read == Sum::default() && totals.write == Sum::default() && totals.faults == 0 {
            return Ok(());
        }
        if let Some(address) = totals.open_file {
            totals.open_file = Some(self.number_at(address, totals.file, totals.first_boot_ns, take)?);
        }
        take(&Record::Totals(totals))
    }

    /// Begins an open file at an address, and gives its number.
    fn opened(&mut self, address: u64, file: FileKey, since_boot_ns: u64, read_in: bool, take: Take<'_>) -> Result<u64, TraceError> {
        let (number, file) = (self.next_file, (file.device, file.inode));
        let all = self.files.entry(address).or_default();
        let at = all.iter().rposition(|opened| opened.since_boot_ns <= since_boot_ns).map_or(0, |before| before + 1);
        if let Some(later) = all.get_mut(at).filter(|later| later.read_in && later.file == file) {
            // The same one, which was read in before its open came out of the ring.
            later.since_boot_ns = since_boot_ns;
            later.read_in = false;
            return Ok(later.number);
        }
        self.next_file += 1;
        all.insert(at, Opened { number, file, since_boot_ns, read_in, closed: false });
        if !self.totals {
            if all.len() > REMEMBERED {
                take(&Record::FileGone(all.remove(0).number))?;
            }
            self.forget_closed(take)?;
        }
        Ok(number)
    }

    /// The number of the open file that an address stood for at a moment. When it was another file
    /// than those that were seen to be opened there, it is an open file of which nothing but that
    /// is known.
    fn number_at(&mut self, address: u64, file: FileKey, at_boot_ns: u64, take: Take<'_>) -> Result<u64, TraceError> {
        let all = self.files.get(&address).map_or(&[][..], Vec::as_slice);
        let then = all.iter().rfind(|opened| opened.since_boot_ns <= at_boot_ns).or(all.first());
        if let Some(opened) = then.filter(|opened| opened.file == (file.device, file.inode)) {
            return Ok(opened.number);
        }
        let number = self.opened(address, file, at_boot_ns, false, take)?;
        take(&Record::OpenFile(OpenFile {
            at_boot_ns,
            open_file: Some(number),
            file,
            kind: None,
            file_system: None,
            size: None,
            path: None,
            container_path: None,
        }))?;
        Ok(number)
    }

    fn operation(&mut self, bytes: &[u8], take: Take<'_>) -> Result<bool, TraceError> {
        let Some(mut operation) = bare_operation(bytes) else { return Ok(false) };
        let flags = wire::operation::has(bytes).unwrap_or(0);
        if let (Some(address), Some(file)) = (operation.open_file, operation.file) {
            operation.open_file = Some(if operation.op == Op::Open {
                self.opened(address, file, operation.end_boot_ns.unwrap_or(operation.start_boot_ns), false, take)?
            } else {
                self.number_at(address, file, operation.start_boot_ns, take)?
            });
            if operation.op == Op::Close {
                let opened = self.files.get_mut(&address).into_iter().flatten();
                opened.filter(|opened| Some(opened.number) == operation.open_file).for_each(|opened| opened.closed = true);
            }
        }
        if flags & has::TAIL == 0 {
            take(&Record::Operation(operation))?;
            return Ok(true);
        }
        let Some(tail) = tail(bytes, wire::operation::tail(bytes)) else { return Ok(false) };
        let told = self.tail(tail);
        if operation.op == Op::Open && flags & has::FILE_SIZE != 0 {
            operation.file_size = operation.size.take().or(wire::operation::size(bytes));
        }
        // Names only: which file system they lie on is not known to the kernel side, but here.
        // A new name is on the same file system as the old one, which may be reported as a link of /proc.
        if operation.file.is_none() && !self.keeps_path(told.second.host.as_deref().or(told.first.host.as_deref())) {
            self.left_out += 1;
            return Ok(true);
        }
        operation.file_system = told.file_system.as_deref();
        // What was opened without a name has none: the kernel's own for it is not in any folder.
        if operation.flags.is_none_or(|flags| operation.op != Op::Open || flags & TEMPORARY_FILE != TEMPORARY_FILE) {
            operation.path = told.first.host.as_deref();
            operation.container_path = told.first.container();
        }
        operation.new_path = told.second.host.as_deref();
        take(&Record::Operation(operation))?;
        Ok(true)
    }

    fn keeps_path(&mut self, path: Option<&[u8]>) -> bool {
        path.and_then(|path| self.host.mounts.kind_of_path(path)).is_none_or(|kind| (self.keeps_type)(kind))
    }

    /// What the parts of a tail say together.
    fn tail(&mut self, tail: &[u8]) -> TailContents {
        let mut told = TailContents::default();
        let mut starts = [Place::default(), Place::default()];
        let parts: Vec<TailPart<'_>> = wire::parts(tail).collect();
        for (n, this) in parts.iter().enumerate() {
            let inner = parts.get(n + 1).filter(|next| next.part == part::INNER);
            match this.part {
                part::PATH => told.first = paths::place(this, inner, &mut self.host.mounts),
                part::DIRECTORY => starts[0] = paths::place(this, inner, &mut self.host.mounts),
                part::DIRECTORY_2 => starts[1] = paths::place(this, inner, &mut self.host.mounts),
                part::STRING => told.first = string(&starts[0], this),
                part::STRING_2 => told.second = string(&starts[1], this),
                part::TYPE => told.file_system = text(this.bytes).map(str::to_owned),
                part::ARGUMENTS if this.flags & wire::part_flag::UNREAD == 0 => {
                    told.arguments = Some(arguments(this.bytes, usize::MAX).0);
                    told.arguments_cut = this.flags & wire::part_flag::CUT != 0;
                }
                part::CGROUP => told.cgroup = Some(until_nul(this.bytes).to_vec()),
                _ => {}
            }
        }
        let [directory, _] = starts;
        told.directory = directory.host;
        told
    }

    fn open_file(&mut self, bytes: &[u8], take: Take<'_>) -> Result<bool, TraceError> {
        let (Some(file), Some(at), Some(address)) = (file(bytes), wire::operation::start(bytes), wire::operation::handle(bytes)) else {
            return Ok(false);
        };
        let Some(tail) = tail(bytes, wire::operation::tail(bytes)) else { return Ok(false) };
        let told = self.tail(tail);
        // Each process that has it open reports it.
        if self.files.get(&address).and_then(|all| all.last()).is_some_and(|opened| opened.file == (file.device, file.inode)) {
            return Ok(true);
        }
        let number = self.opened(address, file, at, true, take)?;
        take(&Record::OpenFile(OpenFile {
            at_boot_ns: at,
            open_file: Some(number),
            file,
            kind: Some(file_kind(bytes)),
            file_system: told.file_system.as_deref(),
            size: wire::operation::size(bytes),
            path: told.first.host.as_deref(),
            container_path: told.first.container(),
        }))?;
        Ok(true)
    }

    fn process(&mut self, bytes: &[u8], take: Take<'_>) -> Result<bool, TraceError> {
        let Some(news) = self.news(bytes) else { return Ok(false) };
        take(&Record::Process(Box::new(news)))?;
        Ok(true)
    }

    fn news(&mut self, bytes: &[u8]) -> Option<ProcessNews> {
        use wire::process;
        let pid = process::tgid(bytes)?;
        let told = self.tail(tail(bytes, process::tail(bytes))?);
        let number = *bytes.first()?;
        if number == kind::CGROUP
            && let Some(path) = &told.cgroup
        {
            self.host.cgroups.insert(process::status(bytes)?, process::parent_start(bytes)?, path);
        }
        let mut facts = ProcessFacts {
            uid: process::uid(bytes),
            real_uid: process::real_uid(bytes),
            gid: process::gid(bytes),
            ..ProcessFacts::default()
        };
        facts.container_pid = process::inner_pid(bytes).filter(|inner| *inner != pid && *inner != 0);
        facts.cgroup_id = process::cgroup(bytes).filter(|id| *id != 0);
        facts.cgroup_path = facts.cgroup_id.and_then(|id| self.host.cgroups.v2(id)).map(<[u8]>::to_vec);
        facts.cgroup_v1 = self.v1(bytes);
        facts.executable = told.first.host;
        facts.work_dir = told.directory;
        facts.arguments = told.arguments;
        facts.arguments_cut = told.arguments_cut;
        if matches!(number, kind::FORK | kind::RUNNING) {
            // Process 0 starts everything and is none itself.
            let parent = ProcessKey { pid: process::parent_tgid(bytes)?, start_boot_ns: process::parent_start(bytes)? };
            facts.parent = Some(parent).filter(|parent| parent.pid != 0);
        }
        let change = match number {
            kind::FORK => ProcessChange::Fork,
            kind::EXEC => ProcessChange::Exec,
            kind::RUNNING => ProcessChange::Running,
            _ => ProcessChange::Update,
        };
        let process = ProcessKey { pid, start_boot_ns: process::start(bytes)? };
        Some(ProcessNews { process, at_boot_ns: process::at(bytes)?, change, facts, counters: Counters::default() })
    }

    /// Controllers and paths of the v1 groups that are known.
    fn v1(&self, bytes: &[u8]) -> Option<Vec<(String, Vec<u8>)>> {
        let bits = wire::process::v1(bytes)?;
        let ids = bytes.get(wire::process::at::cgroup_v1..wire::process::at::real_uid)?.chunks_exact(8);
        let named = wire::CONTROLLERS.iter().zip(ids).enumerate().filter(|(n, _)| bits >> n & 1 == 1);
        let paths: Vec<_> = named
            .filter_map(|(_, (name, id))| {
                let id = u64::from_le_bytes(id.try_into().ok()?);
                Some(((*name).to_owned(), self.host.cgroups.v1(name, id)?.to_vec()))
            })
            .collect();
        (!paths.is_empty()).then_some(paths)
    }

    fn cgroup_path(&mut self, bytes: &[u8]) -> bool {
        use wire::cgroup_path;
        let (Some(hierarchy), Some(id), Some(tail)) =
            (cgroup_path::hierarchy(bytes), cgroup_path::id(bytes), tail(bytes, cgroup_path::tail(bytes)))
        else {
            return false;
        };
        if let Some(path) = self.tail(tail).cgroup {
            self.host.cgroups.insert(hierarchy, id, &path);
        }
        true
    }

    /// Pieces come in order, but those of several processes may be mixed; the last one, or the room
    /// for them, ends an environment.
    fn environment(&mut self, bytes: &[u8], take: Take<'_>) -> Result<bool, TraceError> {
        use wire::environment as e;
        let (Some(pid), Some(start_boot_ns), Some(at), Some(piece), Some(last)) =
            (e::tgid(bytes), e::start(bytes), e::at(bytes), e::piece(bytes), e::last(bytes))
        else {
            return Ok(false);
        };
        let Some(text) = e::tail(bytes).and_then(|length| bytes.get(e::SIZE..e::SIZE + length as usize)) else { return Ok(false) };
        let process = ProcessKey { pid, start_boot_ns };
        if self.environments.len() >= ENVIRONMENTS {
            self.environments.clear();
        }
        let all = self.environments.entry(process).or_default();
        if piece == 0 {
            all.clear();
        }
        all.extend_from_slice(text);
        if last == 0 && text.len() == 4096 && all.len() < 32 * 4096 {
            return Ok(true);
        }
        let Some(mut all) = self.environments.remove(&process) else { return Ok(true) };
        if last == 0 {
            // The last variable may be cut.
            all.truncate(all.iter().rposition(|byte| *byte == 0).map_or(0, |end| end + 1));
        }
        let facts = ProcessFacts { environment: Some(chosen(&all, &self.environment)), ..ProcessFacts::default() };
        let news = ProcessNews { process, at_boot_ns: at, change: ProcessChange::Update, facts, counters: Counters::default() };
        take(&Record::Process(Box::new(news)))?;
        Ok(true)
    }
}

/// What the parts of a record's tail hold: paths, arguments, cgroup.
#[derive(Debug, Default)]
struct TailContents {
    first: Place,
    second: Place,
    /// Where the first begins, as the host sees it.
    directory: Option<Vec<u8>>,
    file_system: Option<String>,
    arguments: Option<Vec<Vec<u8>>>,
    arguments_cut: bool,
    cgroup: Option<Vec<u8>>,
}

fn until_nul(bytes: &[u8]) -> &[u8] {
    bytes.split(|byte| *byte == 0).next().unwrap_or_default()
}

fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(until_nul(bytes)).ok().filter(|text| !text.is_empty())
}

fn string(start: &Place, this: &TailPart<'_>) -> Place {
    let string = until_nul(this.bytes);
    if this.flags & (wire::part_flag::CUT | wire::part_flag::UNREAD) != 0 || string.is_empty() {
        return Place::default();
    }
    paths::given(start, string)
}

/// The tail of a record that says how long it is.
fn tail(bytes: &[u8], length: Option<u32>) -> Option<&[u8]> {
    match length? as usize {
        0 => Some(&[]),
        length => bytes.get(wire::HEAD..wire::HEAD + length),
    }
}

fn file(bytes: &[u8]) -> Option<FileKey> {
    Some(FileKey {
        device: wire::device(wire::operation::device(bytes)?),
        inode: wire::operation::inode(bytes)?,
        generation: wire::operation::generation(bytes),
    })
}

fn file_kind(bytes: &[u8]) -> FileKind {
    if wire::operation::has(bytes).unwrap_or(0) & has::BLOCK != 0 { FileKind::Block } else { FileKind::Regular }
}

/// The operation of a record without its paths.
fn bare_operation(bytes: &[u8]) -> Option<Operation<'static>> {
    use wire::{cpu, operation as o};
    let flags = o::has(bytes)?;
    let op = op(o::op(bytes)?)?;
    let process = ProcessKey { pid: o::tgid(bytes)?, start_boot_ns: o::process_start(bytes)? };
    let end = o::end(bytes)?;
    let mut operation = Operation::new(process, o::tid(bytes)?, op, o::start(bytes)?);
    // The fixed part is whole, or nothing of it counts.
    o::tail(bytes)?;
    operation.via = VIAS.get(usize::from(o::via(bytes)?)).copied()?;
    operation.end_boot_ns = Some(end);
    let when = |bit: u32| flags & bit != 0;
    if when(has::FILE) {
        operation.file = file(bytes);
    }
    if when(has::HANDLE) {
        operation.open_file = o::handle(bytes);
    }
    if when(has::OFFSET) {
        operation.offset = o::offset(bytes).and_then(|offset| u64::try_from(offset).ok());
    }
    operation.offset_uncertain = when(has::OFFSET_UNCERTAIN);
    if when(has::SIZE) {
        operation.size = o::size(bytes);
    }
    if when(has::RESULT) {
        operation.result = o::result(bytes);
    }
    if when(has::FLAGS) {
        operation.flags = o::flags(bytes).map(|flags| if op == Op::Open { flags & !LARGE_FILE } else { flags });
    }
    if op == Op::Open && operation.file.is_some() {
        operation.kind = Some(file_kind(bytes));
    }
    if when(has::CPU) {
        let times = bytes.get(o::SIZE..)?;
        operation.cpu_start = Some(CpuTime { user_ns: cpu::user_start(times)?, system_ns: cpu::system_start(times)? });
        operation.cpu_end = Some(CpuTime { user_ns: cpu::user_end(times)?, system_ns: cpu::system_end(times)? });
    }
    Some(operation)
}

fn totals(key: &[u8], value: &[u8]) -> Option<Totals> {
    use wire::{totals_key as k, totals_sum as s, totals_value as v};
    let sum = |at: usize| -> Option<Sum> {
        let sum = value.get(at..at + s::SIZE)?;
        let (low, high) = (s::low(sum)?, s::high(sum)?);
        // The kernel keeps one more than the end, so that 0 says that there was no transfer.
        let range = high.checked_sub(1).filter(|end| low <= *end && high != wire::OFFSET_NOT_KNOWN).map(|end| (low, end));
        Some(Sum { calls: s::calls(sum)?, bytes: s::bytes(sum)?, errors: s::errors(sum)?, time_ns: s::time(sum)?, range })
    };
    // A thread that added at the moment in which another took the sum has left no times (`send_sum` in bpf/totals.h): it was just now.
    let (first, last) = match (v::first(value)?, v::last(value)?) {
        (0, 0) => (flowmine_trace::clock::boot_ns(), flowmine_trace::clock::boot_ns()),
        (0, last) => (last, last),
        (first, last) => (first, last.max(first)),
    };
    Some(Totals {
        process: ProcessKey { pid: k::tgid(key)?, start_boot_ns: k::process_start(key)? },
        open_file: Some(k::handle(key)?).filter(|handle| *handle != 0),
        file: FileKey { device: wire::device(k::device(key)?), inode: k::inode(key)?, generation: v::generation(value) },
        first_boot_ns: first,
        last_boot_ns: last,
        read: sum(v::at::read)?,
        write: sum(v::at::write)?,
        faults: v::faults(value)?,
    })
}

fn exit(bytes: &[u8], take: Take<'_>) -> Result<bool, TraceError> {
    let Some(news) = exit_news(bytes) else { return Ok(false) };
    take(&Record::Process(Box::new(news)))?;
    Ok(true)
}

/// What a process that still runs did on directories so far: an entry of the table `directories`.
pub(crate) fn directories_so_far(pid: u32, entry: &[u8], at_boot_ns: u64) -> Option<ProcessNews> {
    use wire::directory_calls as d;
    // An array, in the order of `enum call`.
    let call = |n: usize| d::calls(entry.get(n * size_of::<u64>()..)?);
    let directories = DirectoryCalls { mkdir: call(0)?, rmdir: call(1)?, symlink: call(2)?, readdir: call(3)?, stat: Some(call(4)?) };
    Some(ProcessNews {
        process: ProcessKey { pid, start_boot_ns: d::start(entry)? },
        at_boot_ns,
        change: ProcessChange::Update,
        facts: ProcessFacts::default(),
        counters: Counters { directories: Some(directories), ..Counters::default() },
    })
}

fn exit_news(bytes: &[u8]) -> Option<ProcessNews> {
    use wire::exit as e;
    let known = e::has(bytes)?;
    let mut counters = Counters::default();
    if known & 1 != 0 {
        counters.cpu = Some(adjusted(e::user(bytes)?, e::system(bytes)?, e::runtime(bytes)?));
    }
    if known & 2 != 0 {
        counters.rchar_bytes = e::rchar(bytes);
        counters.wchar_bytes = e::wchar(bytes);
        counters.read_calls = e::syscr(bytes);
        counters.write_calls = e::syscw(bytes);
    }
    if known & 4 != 0 {
        counters.read_bytes = e::read_bytes(bytes);
        counters.write_bytes = e::write_bytes(bytes);
        counters.cancelled_write_bytes = e::cancelled(bytes);
    }
    if known & 8 != 0 {
        counters.directories = Some(DirectoryCalls {
            mkdir: e::mkdir(bytes)?,
            rmdir: e::rmdir(bytes)?,
            symlink: e::symlink(bytes)?,
            readdir: e::readdir(bytes)?,
            stat: Some(e::stat(bytes)?),
        });
    }
    if known & 16 != 0 {
        counters.run_delay_ns = e::run_delay(bytes);
    }
    Some(ProcessNews {
        process: ProcessKey { pid: e::tgid(bytes)?, start_boot_ns: e::start(bytes)? },
        at_boot_ns: e::at(bytes)?,
        change: ProcessChange::Exit(Some(e::status(bytes)?)),
        facts: ProcessFacts::default(),
        counters,
    })
}

/// The kernel samples user and system time at its ticks and knows the sum of both exactly; it
/// reports the sum divided as the samples are, and so does this.
fn adjusted(user: u64, system: u64, runtime: u64) -> CpuTime {
    let sampled = u128::from(user) + u128::from(system);
    if runtime == 0 {
        return CpuTime { user_ns: user, system_ns: system };
    }
    let system = (u128::from(runtime) * u128::from(system)).checked_div(sampled).map_or(0, |system| system as u64);
    CpuTime { user_ns: runtime - system, system_ns: system }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record of an operation on the open file at an address.
    fn record(op: Op, address: u64, inode: u64, start: u64) -> Vec<u8> {
        let mut bytes = vec![0; wire::operation::SIZE];
        let mut set = |name: &str, value: &[u8]| {
            let (_, at) = wire::operation::LAYOUT.1.iter().find(|(field, _)| *field == name).unwrap();
            bytes[*at..*at + value.len()].copy_from_slice(value);
        };
        set("op", &[op_number(op)]);
        set("has", &(has::FILE | has::HANDLE | has::RESULT).to_le_bytes());
        set("start", &start.to_le_bytes());
        set("end", &(start + 1).to_le_bytes());
        set("handle", &address.to_le_bytes());
        set("inode", &inode.to_le_bytes());
        bytes[0] = kind::OPERATION;
        bytes
    }

    /// What the kernel added up for it.
    fn sum(address: u64, inode: u64, first: u64) -> (Vec<u8>, Vec<u8>) {
        let (mut key, mut value) = (vec![0; wire::totals_key::SIZE], vec![0; wire::totals_value::SIZE]);
        key[..8].copy_from_slice(&address.to_le_bytes());
        key[8..16].copy_from_slice(&inode.to_le_bytes());
        value[..8].copy_from_slice(&first.to_le_bytes());
        value[16..24].copy_from_slice(&1u64.to_le_bytes());
        (key, value)
    }

    /// Numbers of open files as they are reported: of operations, of totals (by their inode), and
    /// of files of which no open was seen.
    #[derive(Debug, Default, PartialEq)]
    struct Handles {
        operations: Vec<u64>,
        totals: Vec<(u64, u64)>,
        unseen: Vec<u64>,
        gone: Vec<u64>,
    }

    fn told(totals: bool, records: &[Vec<u8>], sums: &[(Vec<u8>, Vec<u8>)]) -> Handles {
        let proc = tempfile::tempdir().unwrap();
        std::fs::create_dir(proc.path().join("self")).unwrap();
        std::fs::write(proc.path().join("self/mountinfo"), "").unwrap();
        let host = Host::read(proc.path(), Path::new("/")).unwrap();
        let mut decoder = Decoder::new(host, Vec::new(), totals, Box::new(|_| true));
        let mut told = Handles::default();
        let mut take = |record: &Record<'_>| {
            match record {
                Record::Operation(operation) => told.operations.extend(operation.open_file),
                Record::Totals(totals) => told.totals.push((totals.file.inode, totals.open_file.unwrap())),
                Record::OpenFile(file) => told.unseen.extend(file.open_file),
                Record::FileGone(number) => told.gone.push(*number),
                _ => {}
            }
            Ok(())
        };
        records.iter().for_each(|bytes| decoder.record(bytes, &mut take).unwrap());
        sums.iter().for_each(|(key, value)| decoder.wait(key, value));
        decoder.tell_waiting(&mut take).unwrap();
        assert_eq!(decoder.unreadable, 0);
        told
    }

    #[test]
    fn a_sum_that_was_added_to_while_it_was_taken_has_times_all_the_same() {
        let before = flowmine_trace::clock::boot_ns();
        let times = |first: u64, last: u64| {
            let (key, mut value) = sum(7, 51, first);
            value[8..16].copy_from_slice(&last.to_le_bytes());
            totals(&key, &value).map(|totals| (totals.first_boot_ns, totals.last_boot_ns)).unwrap()
        };
        assert_eq!((times(10, 20), times(0, 20), times(10, 0)), ((10, 20), (20, 20), (10, 10)));
        let (first, last) = times(0, 0);
        assert!(before <= first && first <= last);
    }

    #[test]
    fn the_room_for_an_address_that_is_used_often_is_given_back() {
        let proc = tempfile::tempdir().unwrap();
        std::fs::create_dir(proc.path().join("self")).unwrap();
        std::fs::write(proc.path().join("self/mountinfo"), "").unwrap();
        let mut decoder = Decoder::new(Host::read(proc.path(), Path::new("/")).unwrap(), Vec::new(), true, Box::new(|_| true));
        for n in 0..10_000 {
            decoder.record(&record(Op::Open, 7, n, 3 * n), &mut |_| Ok(())).unwrap();
        }
        decoder.tell_waiting(&mut |_| Ok(())).unwrap();
        let kept = &decoder.files[&7];
        assert!(kept.len() == REMEMBERED && kept.capacity() <= 2 * REMEMBERED, "{} of {}", kept.len(), kept.capacity());
    }

    /// A trace of days meets more addresses than there are open files.
    #[test]
    fn closed_files_are_forgotten_when_there_are_many() {
        for totals in [false, true] {
            let count = ADDRESSES as u64 + 10;
            let left_open = 5;
            let records: Vec<_> = (0..count)
                .flat_map(|n| {
                    let close = (n != left_open).then(|| record(Op::Close, 1000 + n, n, 3 * n + 2));
                    [Some(record(Op::Open, 1000 + n, n, 3 * n)), close].into_iter().flatten()
                })
                .chain([record(Op::Read, 1000 + left_open, left_open, 3 * count)])
                .collect();
            let told = told(totals, &records, &[]);
            let (last, unseen) = (told.operations.last().copied(), told.unseen.len());
            assert_eq!((last, unseen), (Some(left_open + 1), 0), "an open file keeps its number");
            // With totals at the end, all but the one that is open; with events when there are too many, all but that and the one that was just opened.
            let expected = if totals { ADDRESSES + 9 } else { ADDRESSES - 2 };
            assert_eq!((told.gone.len(), told.gone.contains(&(left_open + 1))), (expected, false));
        }
    }

    #[test]
    fn an_address_that_is_used_again_is_another_open_file() {
        let records = [
            record(Op::Read, 7, 50, 90),
            record(Op::Open, 7, 51, 100),
            record(Op::Read, 7, 51, 110),
            // The close of the one before, reported late.
            record(Op::Close, 7, 50, 95),
            record(Op::Read, 7, 51, 120),
            record(Op::Open, 8, 51, 130),
            record(Op::Open, 7, 51, 140),
            record(Op::Read, 7, 51, 150),
        ];
        let told = told(false, &records, &[]);
        assert_eq!(told.operations, [1, 2, 2, 1, 2, 3, 4, 4]);
        assert_eq!((told.unseen, told.gone), (vec![1], vec![1]));
    }

    /// Opens come out of the ring before the sums of reads: they belong to the open file of their
    /// time.
    #[test]
    fn sums_belong_to_the_open_file_of_their_time() {
        let opens =
            [record(Op::Open, 7, 51, 100), record(Op::Open, 7, 52, 200), record(Op::Open, 7, 53, 300), record(Op::Open, 7, 51, 400)];
        let sums = [sum(7, 52, 210), sum(7, 51, 410), sum(7, 51, 110), sum(7, 53, 310), sum(7, 60, 250), sum(9, 61, 5)];
        let told = told(true, &opens, &sums);
        assert_eq!(told.operations, [1, 2, 3, 4]);
        // Two of which no open was seen have numbers of their own.
        assert_eq!(told.totals, [(61, 5), (51, 1), (52, 2), (60, 6), (53, 3), (51, 4)]);
        assert_eq!((told.unseen, told.gone), (vec![5, 6], vec![1, 2, 6]));
    }
}

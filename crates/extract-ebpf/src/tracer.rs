//! The running trace: loads and attaches the kernel side, reads its ring and tables, and hands
//! records on.
//!
//! In: a [`Plan`], [`Options`]. Out: [`Record`]s, in the order of the ring. Refused: filters that
//! the kernel side cannot have.

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use aya::maps::{Array, ArrayOfMaps, HashMap as Table, IterableMap, Map, MapData, PerCpuArray, RingBuf};
use aya::programs::{Iter, Program};
use aya::{Btf, Ebpf, EbpfLoader};
use flowmine_trace::options::{Detail, Filters, Options, PSEUDO_FILE_SYSTEMS};
use flowmine_trace::proc::Proc;
use flowmine_trace::record::{Op, Record};
use flowmine_trace::recorder::Backend;
use flowmine_trace::{TraceError, clock};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::counters::Counters;
use crate::decode::{Decoder, Host, Take, op_number};
use crate::load::{self, ProgramTarget, Refused};
use crate::plan::{Hooks, Plan};
use crate::{batch, calls, decode, object, running, wire};

/// Interval at which the ring is read without a wake-up.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Totals are taken out of the kernel this often.
const TOTALS_EVERY: Duration = Duration::from_secs(1);
/// So long the command line of a process that ran before is waited for.
const PATIENCE: Duration = Duration::from_secs(1);
/// Programs and their tracepoints: those that report processes.
const PROCESSES: &[(&str, &str)] = &[
    ("process_fork", "sched_process_fork"),
    ("process_exec", "sched_process_exec"),
    ("process_exit", "sched_process_exit"),
    ("cgroup_made", "cgroup_mkdir"),
    ("cgroup_renamed", "cgroup_rename"),
    ("cgroup_attach", "cgroup_attach_task"),
];
/// Those that report what goes past system calls. A kernel has one of the two names of a
/// submission.
const BESIDE_CALLS: &[(&str, &str)] = &[
    ("uring_complete", "io_uring_complete"),
    ("uring_submit", "io_uring_submit_req"),
    ("uring_submit", "io_uring_submit_sqe"),
    ("page_fault", "mm_filemap_fault"),
];
/// System calls, in the order of attaching.
const CALLS: &[(&str, &str)] = &[("call_exit", "sys_exit"), ("call_enter", "sys_enter")];
/// Programs that read in what is there, and over what.
const ITERATORS: &[(&str, &str)] = &[("running_process", "task"), ("running_file", "task_file")];
/// Entries of a table of totals, as in `bpf/maps.h`.
const TOTALS_ENTRIES: u64 = 65_536;
/// Values in the table of processes that are followed: with what they start, or only what they
/// start. `bpf/maps.h` has the same.
const FOLLOWED: u8 = 1;
const CHILDREN_FOLLOWED: u8 = 2;
/// Longest name of a type of file systems that the kernel side compares, with its NUL.
const TYPE_NAME: usize = 32;

/// Calls on directories by process number.
type DirectoriesTable = Table<MapData, u32, [u8; wire::directory_calls::SIZE]>;
type TotalsTable = Table<MapData, [u8; wire::totals_key::SIZE], [u8; wire::totals_value::SIZE]>;

/// Settings in addition to [`Options`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extras {
    /// CPU time of the thread at both ends of each operation: 32 bytes more a record.
    pub cpu_times: bool,
    /// Where the host's `/proc` is.
    pub proc: PathBuf,
    /// Where the host's root directory is.
    pub root: PathBuf,
}

impl Default for Extras {
    fn default() -> Self {
        Extras { cpu_times: true, proc: "/proc".into(), root: "/".into() }
    }
}

/// A trace by eBPF that runs: its programs, rings and tables.
pub struct Tracer {
    /// Programs and their links, until the end.
    ebpf: Option<Ebpf>,
    /// The ring that carries what happens to processes: fork, exec, exit.
    news: RingBuf<MapData>,
    news_bytes: u32,
    /// Operations, and totals that ended.
    ring: RingBuf<MapData>,
    ring_bytes: u32,
    counted: PerCpuArray<MapData, [u8; wire::counter::SIZE]>,
    counters: Counters,
    decoder: Decoder,
    totals: Option<Swapped>,
    /// Requests of io_uring between their submission and their completion.
    requests: MapData,
    directories: DirectoriesTable,
    plan: Plan,
    /// Names of the kernel's functions to which programs are attached.
    functions: Vec<String>,
    refused: Vec<String>,
    proc: PathBuf,
    arguments_bytes: usize,
    environment: Vec<String>,
    unreadable_told: u64,
    unreadable_ns: u64,
}

/// Two tables of totals, of which the kernel adds to one.
struct Swapped {
    current: ArrayOfMaps<MapData, TotalsTable>,
    /// The first is the one that is added to.
    tables: [TotalsTable; 2],
    /// Entries made in the first since it is added to.
    fill: Array<MapData, u64>,
    taken: Instant,
}

fn failed(what: &str) -> impl Fn(&dyn std::fmt::Display) -> TraceError + '_ {
    move |error| TraceError::NotHere(format!("{what}: {error}"))
}

impl Tracer {
    /// Loads everything and attaches it: from here on operations are in the ring.
    ///
    /// # Errors
    /// When the kernel refuses a program, or a filter names what is not there.
    pub fn start(plan: &Plan, options: &Options, extras: &Extras) -> Result<Self, TraceError> {
        let unlimited = raise_memlock();
        let host = Host::read(&extras.proc, &extras.root)?;
        let filters = &options.filters;
        let cgroups = cgroup_filters(filters, &host)?;
        let settings = Settings::new(plan, options, extras, &cgroups);
        let object = object::object(plan.task_storage, plan.cast);
        let mut loader = EbpfLoader::new();
        loader.allow_unsupported_maps();
        for (name, value) in &settings.values {
            loader.override_global(name, value.as_slice(), true);
        }
        loader.map_max_entries("events", options.ring_bytes);
        loader.map_max_entries("news", news_bytes(options));
        if !plan.task_storage {
            loader.map_max_entries("flights", FLIGHTS);
        }
        let mut ebpf = loader.load(&object).map_err(|error| {
            let limit = if unlimited {
                ""
            } else {
                " (before 5.11 tables count as locked memory: it takes `ulimit -l unlimited` or CAP_SYS_RESOURCE)"
            };
            failed("loading the kernel side")(&format!("{}{limit}", verbose(&error)))
        })?;
        fill_filters(&mut ebpf, filters)?;
        let totals = (options.detail == Detail::Totals).then(|| Swapped::new(&mut ebpf)).transpose()?;
        let ring = RingBuf::try_from(take_map(&mut ebpf, "events")?).map_err(|error| failed("the ring")(&error))?;
        let news = RingBuf::try_from(take_map(&mut ebpf, "news")?).map_err(|error| failed("the ring of processes")(&error))?;
        let counted = PerCpuArray::try_from(take_map(&mut ebpf, "counters")?).map_err(|error| failed("the counters")(&error))?;
        let Map::HashMap(requests) = take_map(&mut ebpf, "requests")? else { return Err(failed("requests")(&"not a table")) };
        let directories = Table::try_from(take_map(&mut ebpf, "directories")?).map_err(|error| failed("directories")(&error))?;
        let keeps = keeps_type(filters);
        let mut tracer = Tracer {
            ebpf: Some(ebpf),
            news,
            news_bytes: news_bytes(options),
            ring,
            ring_bytes: options.ring_bytes,
            counted,
            counters: Counters::new(clock::boot_ns()),
            decoder: Decoder::new(host, options.environment.clone(), totals.is_some(), Box::new(keeps)),
            totals,
            requests,
            directories,
            plan: plan.clone(),
            functions: Vec::new(),
            refused: Vec::new(),
            proc: extras.proc.clone(),
            arguments_bytes: options.arguments_bytes,
            environment: options.environment.clone(),
            unreadable_told: 0,
            unreadable_ns: clock::boot_ns(),
        };
        tracer.attach(filters)?;
        Ok(tracer)
    }

    fn attach(&mut self, filters: &Filters) -> Result<(), TraceError> {
        let btf = Btf::from_sys_fs().map_err(|error| failed("the kernel's types")(&error))?;
        let there = |tracepoint: &&(&str, &str)| self.plan.tracepoints.iter().any(|known| known == tracepoint.1);
        let processes: Vec<_> = PROCESSES.iter().filter(there).copied().collect();
        let faults = filters.ops.is_empty() || filters.ops.contains(&Op::Fault);
        let beside: Vec<_> = BESIDE_CALLS.iter().filter(there).filter(|(program, _)| faults || *program != "page_fault").copied().collect();
        let functions = self.hooked_functions();
        // Those that take longest first.
        let mut wanted: Vec<ProgramTarget> =
            CALLS.iter().chain(&beside).chain(&processes).map(|(program, at)| ProgramTarget::new(program, at)).collect();
        if self.plan.iterators {
            wanted.extend(ITERATORS.iter().map(|(program, over)| ProgramTarget::new(program, over)));
        }
        wanted.extend(functions.iter().cloned());
        let mut refused = self.ebpf.as_mut().map_or_else(Refused::default, |ebpf| load::load(ebpf, &wanted, &btf));

        // Forks first: a process that is followed must not have a child unseen.
        for (program, _) in processes {
            self.attach_program(program, "", &mut refused)?;
        }
        for (program, _) in ITERATORS {
            if let Some(error) = refused.remove(*program) {
                return Err(failed(program)(&verbose(&error)));
            }
        }
        if !filters.pids.is_empty() {
            self.follow(&filters.pids)?;
        }
        // Hooks of `bpf/vfs.h`. One that the kernel refuses is left out: without it the file is known by the descriptor.
        for ProgramTarget { program, target } in functions {
            match self.attach_program(&program, &target, &mut refused) {
                Ok(()) => self.functions.push(target),
                Err(error) => self.refused.push(error.to_string()),
            }
        }
        // Without these the trace sees less, which `refused` says.
        for (program, _) in beside {
            if let Err(error) = self.attach_program(program, "", &mut refused) {
                self.refused.push(error.to_string());
            }
        }
        // Exits before entries: an entry with an unseen exit would be reported at the exit of a
        // later call.
        for (program, _) in CALLS {
            self.attach_program(program, "", &mut refused)?;
        }
        Ok(())
    }

    fn program(&mut self, name: &str) -> Result<&mut Program, TraceError> {
        self.ebpf.as_mut().and_then(|ebpf| ebpf.program_mut(name)).ok_or_else(|| failed(name)(&"not in the object"))
    }

    /// The functions of the chosen hooks that the object has programs for.
    fn hooked_functions(&self) -> Vec<ProgramTarget> {
        let kinds: &[&str] = match self.plan.hooks {
            Hooks::Syscalls => &[],
            Hooks::VfsEntry => &["entry", "exit"],
            Hooks::VfsKprobe => &["probe"],
        };
        let named = self.plan.functions.iter().flat_map(|function| kinds.iter().map(move |kind| (format!("{kind}_{function}"), function)));
        let in_object = |name: &str| self.ebpf.as_ref().is_some_and(|ebpf| ebpf.program(name).is_some());
        named.filter(|(name, _)| in_object(name)).map(|(name, function)| ProgramTarget::new(&name, function)).collect()
    }

    /// Attaches a loaded program: `function` is what a kprobe is put at, all others know where.
    fn attach_program(&mut self, name: &str, function: &str, refused: &mut Refused) -> Result<(), TraceError> {
        if let Some(error) = refused.remove(name) {
            return Err(failed(name)(&verbose(&error)));
        }
        let attached = match self.program(name)? {
            Program::BtfTracePoint(program) => program.attach().map(drop),
            Program::FEntry(program) => program.attach().map(drop),
            Program::FExit(program) => program.attach().map(drop),
            Program::KProbe(program) => program.attach(function, 0).map(drop),
            _ => Ok(()),
        };
        attached.map_err(|error| failed(name)(&verbose(&error)))
    }

    /// Names of the kernel's functions to which programs are attached.
    pub fn functions(&self) -> &[String] {
        &self.functions
    }

    /// Functions that the kernel refused, with its words.
    pub fn refused(&self) -> &[String] {
        &self.refused
    }

    /// Follows processes and those that descend from them. Forks are watched already.
    fn follow(&mut self, pids: &[u32]) -> Result<(), TraceError> {
        let mut table = self.followed()?;
        for pid in pids {
            table.insert(pid, FOLLOWED, 0).map_err(|error| failed("processes to follow")(&error))?;
        }
        if self.plan.iterators {
            // Passing over all processes once finds those that descend from these; what it reports of them is asked for later.
            self.iterate("running_process")?.read_to_end(&mut Vec::new()).map_err(TraceError::system("finding processes to follow"))?;
        }
        Ok(())
    }

    /// The processes that are followed, and how.
    fn followed(&mut self) -> Result<Table<&mut MapData, u32, u8>, TraceError> {
        let map = self.ebpf.as_mut().and_then(|ebpf| ebpf.map_mut("followed"));
        map.ok_or_else(|| failed("followed")(&"not in the object"))?.try_into().map_err(|error| failed("followed")(&error))
    }

    /// What this backend says of itself.
    pub fn backend(&self) -> Backend {
        Backend { name: "ebpf", hooks: Some(self.plan.hooks.name().to_owned()), ring_bytes: Some(u64::from(self.ring_bytes)) }
    }

    /// Reads in the processes that run and the files that they have open.
    ///
    /// # Errors
    /// Those of `take`, and when the kernel cannot be asked.
    pub fn read_in(&mut self, take: Take<'_>) -> Result<(), TraceError> {
        if !self.plan.iterators {
            return Ok(());
        }
        self.read_in_by("running_process", take)?;
        self.read_in_by("running_file", take)
    }

    fn read_in_by(&mut self, program: &str, take: Take<'_>) -> Result<(), TraceError> {
        let mut file = self.iterate(program)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(TraceError::system("reading in what runs"))?;
        let mut rest = bytes.as_slice();
        let mut processes = Vec::new();
        while let Some((length, after)) = rest.split_first_chunk::<4>() {
            let length = u32::from_le_bytes(*length) as usize;
            let Some(record) = after.get(..length) else { break };
            rest = &after[length..];
            self.decoder.record(record, &mut |record| match record {
                Record::Process(news) => {
                    processes.push(news.clone());
                    Ok(())
                }
                other => take(other),
            })?;
        }
        running::add(&mut processes, &Proc::at(&self.proc), self.arguments_bytes, &self.environment, PATIENCE);
        processes.into_iter().try_for_each(|news| take(&Record::Process(news)))
    }

    /// Records from now on what a process starts, but not itself, and reads in the files that it
    /// has open, which they will have.
    ///
    /// # Errors
    /// Those of `take`, and when there is no room for one more.
    pub fn follow_children(&mut self, pid: u32, take: Take<'_>) -> Result<(), TraceError> {
        self.followed()?.insert(pid, CHILDREN_FOLLOWED, 0).map_err(|error| failed("processes to follow")(&error))?;
        if !self.plan.iterators {
            return Ok(());
        }
        let map = self.ebpf.as_mut().and_then(|ebpf| ebpf.map_mut("read_in"));
        let mut only: Array<&mut MapData, u32> =
            map.ok_or_else(|| failed("read_in")(&"not in the object"))?.try_into().map_err(|error| failed("read_in")(&error))?;
        only.set(0, pid, 0).map_err(|error| failed("read_in")(&error))?;
        self.read_in_by("running_file", take)
    }

    /// Takes back what [`Tracer::follow_children`] did.
    pub fn unfollow(&mut self, pid: u32) {
        // It may have gone by its end.
        let _ = self.followed().map(|mut table| table.remove(&pid));
    }

    fn iterate(&mut self, program: &str) -> Result<File, TraceError> {
        let iterator: &mut Iter = self.program(program)?.try_into().map_err(|error| failed(program)(&error))?;
        let link = iterator.attach().map_err(|error| failed(program)(&error))?;
        let link = iterator.take_link(link).map_err(|error| failed(program)(&error))?;
        link.into_file().map_err(|error| failed(program)(&error))
    }

    /// Waits until a part of the ring is filled, the host's mounts change, `also` can be read or
    /// 100 ms are over, and takes what is there. Returns the number of records.
    ///
    /// # Errors
    /// Those of `take`.
    pub fn poll(&mut self, also: Option<BorrowedFd<'_>>, take: Take<'_>) -> Result<u64, TraceError> {
        let timeout = PollTimeout::try_from(LOOK_EVERY).unwrap_or(PollTimeout::ZERO);
        // An interrupted wait is as good as one that is over.
        let mounts = self.decoder.mounts();
        let mut waited = vec![
            PollFd::new(mounts.as_fd(), PollFlags::POLLPRI),
            PollFd::new(self.ring.as_fd(), PollFlags::POLLIN),
            PollFd::new(self.news.as_fd(), PollFlags::POLLIN),
        ];
        waited.extend(also.map(|also| PollFd::new(also, PollFlags::POLLIN)));
        let _ = poll(&mut waited, timeout);
        if waited[0].any() == Some(true) {
            // A container may come and go while nothing else happens.
            mounts.changed();
        }
        let taken = self.drain(take)?;
        self.count(take)?;
        if self.totals.as_ref().is_some_and(Swapped::is_time) {
            return Ok(taken + self.take_totals(take)?);
        }
        Ok(taken)
    }

    /// Takes what is in the rings now; at most as much as they hold, so that a fast writer cannot
    /// keep us here. What is reported of processes is first: it is known when what they did comes.
    fn drain(&mut self, take: Take<'_>) -> Result<u64, TraceError> {
        let news = drain(&mut self.news, self.news_bytes, &mut self.decoder, take)?;
        Ok(news + drain(&mut self.ring, self.ring_bytes, &mut self.decoder, take)?)
    }

    /// What processes that still run did on directories; those that ended have reported it.
    fn tell_directories(&mut self, take: Take<'_>) -> Result<(), TraceError> {
        // An entry that goes meanwhile cannot be: no program is attached any more.
        let mut entries: Vec<_> = self.directories.iter().filter_map(Result::ok).collect();
        entries.sort_unstable_by_key(|(pid, _)| *pid);
        let now = clock::boot_ns();
        let news = entries.iter().filter_map(|(pid, entry)| decode::directories_so_far(*pid, entry, now));
        news.into_iter().try_for_each(|news| take(&Record::Process(Box::new(news))))
    }

    fn count(&mut self, take: Take<'_>) -> Result<(), TraceError> {
        let mut readings = Vec::new();
        for index in 0..wire::COUNTERS {
            if let Ok(values) = self.counted.get(&index, 0) {
                readings.push((index, values));
            }
        }
        let now = clock::boot_ns();
        for loss in self.counters.take(readings.iter().map(|(index, values)| (*index, &values[..])), now) {
            take(&Record::Loss(loss))?;
        }
        let unreadable = self.decoder.unreadable - self.unreadable_told;
        if unreadable > 0 {
            take(&Record::Loss(flowmine_trace::record::Loss {
                processor: None,
                kind: "call",
                reason: "unreadable",
                count: unreadable,
                bytes: None,
                not_before_boot_ns: self.unreadable_ns,
                observed_boot_ns: now,
            }))?;
            self.unreadable_told = self.decoder.unreadable;
        }
        self.unreadable_ns = now;
        Ok(())
    }

    /// Counts the requests of io_uring of which no completion was seen: their process has ended, or
    /// the ring of completions was full.
    fn count_requests(&mut self, take: Take<'_>) -> Result<(), TraceError> {
        let map = &self.requests;
        let size = map.info().map_err(|error| failed("requests")(&error))?.value_size() as usize;
        let mut counts = [0u64; 16];
        let mut batches = batch::Batches::of(map.fd().as_fd(), (REQUEST_KEY, size));
        // The operation is the second byte of a record.
        let mut count = |_: &[u8], value: &[u8]| counts[usize::from(value.get(1).copied().unwrap_or(0) & 15)] += 1;
        while batches.next(&mut count).map_err(TraceError::system("reading the requests of io_uring"))? {}
        let now = clock::boot_ns();
        for (op, count) in (0..).zip(counts) {
            if let Some(loss) = self.counters.without_end(op, count, now) {
                take(&Record::Loss(loss))?;
            }
        }
        Ok(())
    }

    /// Takes the totals out of the kernel. The table is changed for the other one first, then the
    /// ring is read, because records in it are older than what was added up since; an open that is
    /// found there ends what was added up for the open file before it.
    fn take_totals(&mut self, take: Take<'_>) -> Result<u64, TraceError> {
        let Some(totals) = &mut self.totals else { return Ok(0) };
        totals.swap()?;
        let mut taken = 0;
        let mut batches = batch::Batches::new(totals.tables[1].map().fd().as_fd());
        // The rings are looked at between the batches: they fill while a large table is taken.
        while batches.next(&mut |key, value| self.decoder.wait(key, value)).map_err(TraceError::system("taking totals"))? {
            taken += drain(&mut self.news, self.news_bytes, &mut self.decoder, take)?;
            taken += drain(&mut self.ring, self.ring_bytes, &mut self.decoder, take)?;
        }
        taken += self.drain(take)?;
        self.decoder.tell_waiting(take)?;
        Ok(taken)
    }

    /// Ends the trace: nothing is attached any more, everything that is there is taken. Returns how
    /// many operations the kernel side counted that are not left out here.
    ///
    /// # Errors
    /// Those of `take`.
    pub fn end(mut self, take: Take<'_>) -> Result<u64, TraceError> {
        // Links go with it; the ring and the tables are ours and stay.
        drop(self.ebpf.take());
        while self.drain(take)? > 0 {}
        self.take_totals(take)?;
        self.take_totals(take)?;
        self.tell_directories(take)?;
        self.count(take)?;
        self.count_requests(take)?;
        Ok(self.counters.operations() - self.decoder.left_out)
    }
}

fn drain(ring: &mut RingBuf<MapData>, at_most: u32, decoder: &mut Decoder, take: Take<'_>) -> Result<u64, TraceError> {
    let (mut taken, mut bytes) = (0, 0);
    while bytes <= at_most as usize {
        let Some(record) = ring.next() else { break };
        bytes += record.len() + 8;
        taken += 1;
        decoder.record(&record, take)?;
    }
    Ok(taken)
}

/// Bytes of the ring for records of processes. A small ring for operations does not make it small:
/// without these records the owners of operations are unknown.
fn news_bytes(options: &Options) -> u32 {
    (options.ring_bytes / 2).max(8 << 20)
}

impl Swapped {
    fn new(ebpf: &mut Ebpf) -> Result<Self, TraceError> {
        let mut table = |name| TotalsTable::try_from(take_map(ebpf, name)?).map_err(|error| failed(name)(&error));
        let tables = [table("totals_a")?, table("totals_b")?];
        let mut current = ArrayOfMaps::try_from(take_map(ebpf, "totals")?).map_err(|error| failed("totals")(&error))?;
        current.set(0, &tables[0], 0).map_err(|error| failed("totals")(&error))?;
        let fill = Array::try_from(take_map(ebpf, "fill")?).map_err(|error| failed("fill")(&error))?;
        Ok(Swapped { current, tables, fill, taken: Instant::now() })
    }

    /// Whether the table is to be taken now: each second, and when half of its room is used.
    fn is_time(&self) -> bool {
        self.taken.elapsed() >= TOTALS_EVERY || self.fill.get(&0, 0).is_ok_and(|made| made >= TOTALS_ENTRIES / 2)
    }

    /// Lets the kernel add to the other table. The second of [`Swapped::tables`] is then the one to
    /// be taken.
    fn swap(&mut self) -> Result<(), TraceError> {
        self.taken = Instant::now();
        // Returns when no program uses the old one any more.
        self.current.set(0, &self.tables[1], 0).map_err(|error| failed("totals")(&error))?;
        self.tables.swap(0, 1);
        self.fill.set(0, 0, 0).map_err(|error| failed("fill")(&error))
    }
}

/// Bytes of `struct request_key` in `bpf/uring.h`.
const REQUEST_KEY: usize = 16;
/// Calls in flight that a kernel without task storage keeps.
const FLIGHTS: u32 = 16_384;

fn take_map(ebpf: &mut Ebpf, name: &str) -> Result<Map, TraceError> {
    ebpf.take_map(name).ok_or_else(|| failed(name)(&"not in the object"))
}

fn verbose(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(error) = next {
        text = format!("{text}: {error}");
        next = error.source();
    }
    text
}

/// Bytes of a page as a power of two.
fn page_shift() -> u8 {
    let page = nix::unistd::sysconf(nix::unistd::SysconfVar::PAGE_SIZE).ok().flatten().unwrap_or(4096);
    page.trailing_zeros() as u8
}

/// Kernels before 5.11 count tables against the limit of locked memory. Whether there is none now.
fn raise_memlock() -> bool {
    let limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: a whole structure, read by the call only.
    unsafe { libc::setrlimit(libc::RLIMIT_MEMLOCK, &limit) == 0 }
}

/// Constants of the kernel side.
struct Settings {
    values: Vec<(&'static str, Vec<u8>)>,
}

impl Settings {
    fn new(plan: &Plan, options: &Options, extras: &Extras, cgroups: &[(u64, u32, i32)]) -> Self {
        let filters = &options.filters;
        let mut values: Vec<(&'static str, Vec<u8>)> = Vec::new();
        let mut byte = |name, value: u8| values.push((name, vec![value]));
        let layout = &plan.layout;
        byte("has_typed_task", plan.typed_task.into());
        byte("has_cast", plan.cast.is_some().into());
        byte("has_storage", plan.task_storage.into());
        byte("vfs_hooks", (plan.hooks != Hooks::Syscalls).into());
        byte("cpu_times", extras.cpu_times.into());
        byte("totals_only", (options.detail == Detail::Totals).into());
        byte("follow", (!filters.pids.is_empty() || options.serve.is_some()).into());
        byte("filter_uids", (!filters.uids.is_empty()).into());
        byte("filter_gids", (!filters.gids.is_empty()).into());
        byte("types_default", if filters.file_systems.is_empty() { 1 } else { 2 });
        byte("unlink_dentry", layout.unlink_dentry);
        byte("link_dentry", layout.link_dentry);
        byte("rename_is_struct", layout.rename_is_struct.into());
        byte("rename_dentry", layout.rename_dentry);
        byte("truncate_dentry", layout.truncate_dentry);
        byte("submit_request", layout.submit_request);
        byte("complete_form", layout.complete_form);
        byte("page_shift", page_shift());
        byte("exit_tells_group", layout.exit_tells_group.into());
        byte("count_directories", calls::counts_directories(&filters.ops).into());
        let mut word = |name, value: u32| values.push((name, value.to_le_bytes().to_vec()));
        word("self_tgid", std::process::id());
        let ops = filters.ops.iter().fold(0u32, |bits, op| bits | 1 << op_number(*op));
        word("ops_wanted", if filters.ops.is_empty() { u32::MAX } else { ops });
        word("host_mounts", mount_namespace(&extras.proc));
        word("arguments_bytes", u32::try_from(options.arguments_bytes.min(8192)).unwrap_or(8192));
        word("environment_pieces", if options.environment.is_empty() { 0 } else { 32 });
        word("wake_bytes", options.ring_bytes / 8);
        word("news_wake_bytes", news_bytes(options) / 8);
        word("cgroup_filters", cgroups.len() as u32);
        let mut table = vec![0; 16 * CGROUP_FILTERS];
        for (entry, (id, level, controller)) in table.chunks_exact_mut(16).zip(cgroups) {
            entry[..8].copy_from_slice(&id.to_le_bytes());
            entry[8..12].copy_from_slice(&level.to_le_bytes());
            entry[12..].copy_from_slice(&controller.to_le_bytes());
        }
        values.push(("cgroup_filter", table));
        values.push(("calls", calls::table(&filters.ops).to_vec()));
        values.push(("foreign_calls", calls::foreign().to_vec()));
        Settings { values }
    }
}

const CGROUP_FILTERS: usize = 16;

/// Inode number of the mount namespace that is the host's view: that of process 1 if it is visible,
/// otherwise our own.
fn mount_namespace(proc: &Path) -> u32 {
    use std::os::unix::fs::MetadataExt;
    let of = |pid: &str| std::fs::metadata(proc.join(pid).join("ns/mnt")).ok();
    of("1").or_else(|| of("self")).and_then(|metadata| u32::try_from(metadata.ino()).ok()).unwrap_or(0)
}

/// Id, level and hierarchy of each group with wanted processes.
fn cgroup_filters(filters: &Filters, host: &Host) -> Result<Vec<(u64, u32, i32)>, TraceError> {
    if filters.cgroups.len() > CGROUP_FILTERS {
        return Err(TraceError::NotHere(format!("at most {CGROUP_FILTERS} control groups can be distinguished in the kernel")));
    }
    let of = |directory: &PathBuf| {
        let say = |why: &str| TraceError::NotHere(format!("{}: {why}", directory.display()));
        let (hierarchy, id, level) = host.cgroups.of_directory(directory).ok_or_else(|| say("not the folder of a control group"))?;
        if hierarchy.number == 0 {
            return Ok((id, level, -1));
        }
        let controller = wire::CONTROLLERS.iter().position(|name| hierarchy.controllers.iter().any(|of| of == name));
        match controller.and_then(|controller| i32::try_from(controller).ok()) {
            Some(controller) => Ok((id, level, controller)),
            None => Err(say(&format!("only v2 and the v1 hierarchies of {} can be filtered by", wire::CONTROLLERS.join(", ")))),
        }
    };
    filters.cgroups.iter().map(of).collect()
}

/// Whether a type of file systems is recorded, as [`fill_filters`] gives it to the kernel side.
fn keeps_type(filters: &Filters) -> impl Fn(&str) -> bool + Send + use<> {
    let (only, out) = (filters.file_systems.clone(), filters.file_systems_out.clone());
    move |name| {
        let named = only.iter().any(|wanted| wanted == name);
        !out.iter().any(|unwanted| unwanted == name) && (named || (only.is_empty() && !PSEUDO_FILE_SYSTEMS.contains(&name)))
    }
}

fn fill_filters(ebpf: &mut Ebpf, filters: &Filters) -> Result<(), TraceError> {
    for (name, ids) in [("uids", &filters.uids), ("gids", &filters.gids)] {
        let map = ebpf.map_mut(name).ok_or_else(|| failed(name)(&"not in the object"))?;
        let mut table: Table<&mut MapData, u32, u8> = map.try_into().map_err(|error| failed(name)(&error))?;
        for id in ids {
            table.insert(id, 1, 0).map_err(|error| failed(name)(&error))?;
        }
    }
    let keeps = keeps_type(filters);
    let map = ebpf.map_mut("type_names").ok_or_else(|| failed("type_names")(&"not in the object"))?;
    let mut table: Table<&mut MapData, [u8; TYPE_NAME], u8> = map.try_into().map_err(|error| failed("type_names")(&error))?;
    let named = filters.file_systems.iter().chain(&filters.file_systems_out).map(String::as_str);
    for name in PSEUDO_FILE_SYSTEMS.iter().copied().chain(named) {
        let mut key = [0; TYPE_NAME];
        if name.len() >= TYPE_NAME {
            return Err(TraceError::NotHere(format!("{name}: no type of file systems has so long a name")));
        }
        key[..name.len()].copy_from_slice(name.as_bytes());
        table.insert(key, if keeps(name) { 1 } else { 2 }, 0).map_err(|error| failed("type_names")(&error))?;
    }
    Ok(())
}

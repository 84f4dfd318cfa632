//! Assignment of traced operations and processes to tasks and jobs.
//!
//! The input is the tables of a trace (`processes`, `files`, `io_events`, `io_totals`, `losses`,
//! `hosts`, `clocks`) and the known tasks and jobs ([`Entities`]); the results are the tables
//! `task_io`, `task_totals`, `logical_task_totals`, `data_flow`, the links of processes, and
//! contradictions as diagnostics.
//!
//! **One pass for each host.** Operations are read in the order in which they were written. Rows of
//! processes and files are read in step with them, up to the time of the operations. Memory holds
//! the live processes with the sums for the files that each used, the files in use, and four bytes
//! for each process of the host. The sums of a process are spilled when it is resolved (after its
//! end), and sorted outside of memory ([`crate::sums`]). The result is a partial result
//! ([`crate::partial`]), and [`crate::merge`] joins those of all hosts.
//!
//! **Every operation is assigned or has a reason** ([`Reason`]). So the bytes of all rows are the
//! bytes of all operations, and together with the lost ones all that the kernel counted.

use std::collections::BTreeMap;

use flowmine_dataset::{Dataset, HostRows, Transaction};
use flowmine_schema::diagnostic::{Diagnostic, Diagnostics};
use flowmine_schema::losses::LostOperations;
use flowmine_schema::tables::{Host, IoEvent, IoLoss, IoTotal, Process, TracedFile};

use crate::AttributionError;
use crate::access::Access;
use crate::bytes::damaged;
use crate::clocks::HostClock;
use crate::entities::Entities;
use crate::files::{Effect, File, FileEvent, Files, Order, Step, UNTOLD};
use crate::flow;
use crate::groups::Groups;
use crate::links::HostLinks;
use crate::listener::Listener;
use crate::merge::Merging;
use crate::names::LastNames;
use crate::owners::{Owner, OwnerJob, Owners, ProcessSums, Reason};
use crate::partial::tables::{OwningUser, ProcessOwner, names};
use crate::partial::{InMemory, Summary, Tables};
use crate::processes::{Belongs, ProcessSlot, Processes};
use crate::rules::{self, Claim, Script, engine, process_tree};
use crate::sums::{OfFile, ProcessAccesses, Written};

/// Maximum number of files of one process in memory; then all are spilled.
const ACCESSES: usize = 1 << 12;
/// Maximum number of ranges of one process in memory.
const RANGES: usize = 1 << 16;
/// Number of rows of `io_totals` that are read ahead.
const TOTALS_AHEAD: usize = 1 << 14;
/// What to do if two clusters had a job of the same number.
const ADVICE_ON_CLUSTERS: &str = "trace with --environ SLURM_CLUSTER_NAME";
/// All advice of diagnostics that a partial result can have.
pub(crate) const ADVICE: [&str; 1] = [ADVICE_ON_CLUSTERS];
/// Number in place of the owner of a process that is not resolved.
const NOBODY_YET: u32 = u32::MAX;
/// Number of the host of a partial result, which has one.
const ONLY_HOST: u32 = 0;

/// Numbers of items that [`attribute`] read and wrote.
#[derive(Debug, Clone, Default)]
pub struct Attributed {
    /// Number of hosts with traces.
    pub hosts: usize,
    /// Number of operations; a sum counts as one.
    pub operations: u64,
    /// Number of processes.
    pub processes: u64,
    /// Links of processes, containers and tasks.
    pub links: u64,
    /// Rows of `task_io` and bytes of I/O, assigned and unassigned.
    pub written: Written,
    /// Number of rows of `data_flow`.
    pub flows: u64,
    /// Operations that the traces do not have.
    pub lost: LostOperations,
    /// Diagnostics, such as findings that contradict each other.
    pub diagnostics: Diagnostics,
}

/// Attributes all operations of a dataset and writes the tables; `links` and `diagnostics` have
/// been cleared before and get rows added.
///
/// # Errors
/// When the dataset or a temporary file cannot be read or written.
pub fn attribute(dataset: &Dataset, entities: &Entities, transaction: &mut Transaction<'_>) -> Result<Attributed, AttributionError> {
    attribute_telling(dataset, entities, transaction, &mut ())
}

/// The same; also passes the rows of `links` and `data_flow` to a listener. Hosts are read at the same
/// time, one on each processor.
///
/// # Errors
/// As [`attribute`], or what the listener returns.
pub fn attribute_telling(
    dataset: &Dataset,
    entities: &Entities,
    transaction: &mut Transaction<'_>,
    listener: &mut dyn Listener,
) -> Result<Attributed, AttributionError> {
    let hosts = hosts(dataset)?;
    let mut merging = Merging::new(entities, listener);
    flowmine_threads::in_order(
        hosts.len(),
        |number| partial_of(dataset, entities, &hosts[number], hosts.len()),
        |partial| merging.add(&partial?, transaction),
    )?;
    merging.write(&hosts, transaction)
}

/// What one host contributes to the derived tables. `hosts` is the number of hosts of which that is
/// asked at the same time, and bounds memory.
///
/// # Errors
/// When the dataset or a temporary file cannot be read or written.
pub fn partial_of(dataset: &Dataset, entities: &Entities, host: &str, hosts: usize) -> Result<InMemory, AttributionError> {
    let clock = HostClock::read(dataset, host)?;
    let mut made = Made::new(entities, &clock, hosts);
    Pass::new(&mut made, dataset, host)?.run(dataset)?;
    let (lost, lost_row) = crate::losses::of_host(dataset, host)?;
    if let Some(row) = lost_row {
        made.tables.push(names::LOST, &row)?;
    }
    made.finish(host, lost)
}

/// Whether the dataset holds rows of traces of any host.
///
/// # Errors
/// When the dataset cannot be read.
pub fn has_traces(dataset: &Dataset) -> Result<bool, AttributionError> {
    Ok(!hosts(dataset)?.is_empty())
}

/// The hosts of all traces, in order.
///
/// # Errors
/// When the dataset cannot be read.
pub fn hosts(dataset: &Dataset) -> Result<Vec<String>, AttributionError> {
    let mut hosts = dataset.hosts_of::<Host<'static>>()?;
    hosts.extend(dataset.hosts_of::<Process<'static>>()?);
    hosts.extend(dataset.hosts_of::<IoEvent<'static>>()?);
    hosts.extend(dataset.hosts_of::<IoTotal<'static>>()?);
    hosts.extend(dataset.hosts_of::<IoLoss<'static>>()?);
    hosts.sort();
    hosts.dedup();
    Ok(hosts)
}

/// What is made of the rows of a host.
struct Made<'a> {
    entities: &'a Entities,
    clock: &'a HostClock,
    owners: Owners,
    /// The provisional owner of each process, by serial number.
    owner_of: Vec<u32>,
    accesses: ProcessAccesses,
    names: LastNames,
    groups: Groups,
    links: HostLinks,
    diagnostics: Diagnostics,
    tables: Tables,
    /// Number of operations so far, by which operations are ordered.
    operations: u64,
}

impl<'a> Made<'a> {
    fn new(entities: &'a Entities, clock: &'a HostClock, hosts: usize) -> Self {
        Self {
            entities,
            clock,
            owners: Owners::default(),
            owner_of: Vec::new(),
            accesses: ProcessAccesses::default(),
            names: LastNames::default(),
            groups: Groups::default(),
            links: HostLinks::default(),
            diagnostics: Diagnostics::default(),
            tables: Tables::beside(flowmine_threads::count(hosts)),
            operations: 0,
        }
    }

    /// Decides what could not be decided before all rows of the host were read.
    fn finish(self, host: &str, lost: LostOperations) -> Result<InMemory, AttributionError> {
        let Self { entities, clock, owners, owner_of, accesses, names: renamed, mut groups, diagnostics, mut tables, operations, .. } =
            self;
        diagnostics.rows("", None).try_for_each(|row| tables.push(names::DIAGNOSTICS, &row))?;
        let mut of_groups = Diagnostics::default();
        groups.decide(entities, host, &mut of_groups, &mut tables)?;
        of_groups.rows("", None).try_for_each(|row| tables.push(names::GROUP_DIAGNOSTICS, &row))?;
        let owners = owners.resolve(|group| groups.task(group), |group| groups.contradicts_itself(group));
        for (owner, sums) in owners.all.iter().zip(&owners.sums) {
            tables.push(names::OWNERS, &owner.row(sums))?;
        }
        for provisional in &owner_of {
            let owner = damaged(owners.of.get(*provisional as usize))?;
            tables.push(names::PROCESSES, &ProcessOwner { owner: (*owner).into(), ..ProcessOwner::default() })?;
        }
        owners.users.iter().try_for_each(|uid| tables.push(names::USERS, &OwningUser { uid: *uid, ..OwningUser::default() }))?;
        accesses.gather(&owner_of, &owners, &mut tables)?;
        renamed.each_row(|row| tables.push(names::RENAMED, row))?;
        let summary = Summary {
            operations,
            processes: owner_of.len() as u64,
            clock_doubt_ns: clock.doubt_ns(),
            lost_operations: lost.count,
            lost_bytes: lost.bytes,
        };
        tables.finish(host, summary)
    }
}

/// Reads the rows of one host in the order of their times.
struct Pass<'a, 'b, 'd> {
    all: &'b mut Made<'a>,
    host: String,
    told_processes: HostRows<'d, Process<'static>>,
    told_files: HostRows<'d, TracedFile<'static>>,
    told_totals: HostRows<'d, IoTotal<'static>>,
    /// When the next row of each begins to count.
    next_process_ns: i64,
    next_file_ns: i64,
    next_total_ns: i64,
    totals_ahead: BTreeMap<(i64, u64), IoTotal<'static>>,
    totals_read: u64,
    processes: Processes,
    files: Files,
    /// The latest time of all rows that were read, in nanoseconds since 1970; it never goes back.
    now_ns: i64,
}

impl<'a, 'b, 'd> Pass<'a, 'b, 'd> {
    fn new(all: &'b mut Made<'a>, dataset: &'d Dataset, host: &str) -> Result<Self, AttributionError> {
        Ok(Self {
            all,
            host: host.to_owned(),
            told_processes: dataset.host_rows(host)?,
            told_files: dataset.host_rows(host)?,
            told_totals: dataset.host_rows(host)?,
            next_process_ns: i64::MIN,
            next_file_ns: i64::MIN,
            next_total_ns: i64::MIN,
            totals_ahead: BTreeMap::new(),
            totals_read: 0,
            processes: Processes::default(),
            files: Files::default(),
            now_ns: i64::MIN,
        })
    }

    fn run(mut self, dataset: &Dataset) -> Result<(), AttributionError> {
        let host = self.host.clone();
        dataset.read_host::<FileEvent<'static>, AttributionError>(&host, |event| {
            self.totals(event.start_ns)?;
            self.event(&event)
        })?;
        self.totals(i64::MAX)?;
        self.read_along(i64::MAX)?;
        for slot in self.processes.unresolved() {
            self.resolve(slot)?;
        }
        let all = self.all;
        self.files.forget_all(|file, files| spill(all, file, files))
    }

    /// Reads the rows of processes and files that had begun by a time, and resolves the processes
    /// that had ended well before.
    fn read_along(&mut self, until_ns: i64) -> Result<(), AttributionError> {
        while self.next_file_ns <= until_ns {
            match self.told_files.peek()? {
                Some(row) if row.first_seen_ns <= until_ns => {
                    let numbers = (row.device.unwrap_or(UNTOLD), row.inode, row.generation.unwrap_or(UNTOLD));
                    self.files.told(numbers, row.path.as_deref(), row.file_system.as_deref(), row.size_bytes);
                    self.told_files.advance();
                    let all = &mut *self.all;
                    self.files.forget_unused(|file, files| spill(all, file, files))?;
                }
                next => {
                    self.next_file_ns = next.map_or(i64::MAX, |row| row.first_seen_ns);
                    break;
                }
            }
        }
        while self.next_process_ns <= until_ns {
            let began = match self.told_processes.peek()? {
                None => {
                    self.next_process_ns = i64::MAX;
                    break;
                }
                Some(row) => {
                    let began = row.started_ns.unwrap_or(i64::MIN);
                    if began > until_ns {
                        self.next_process_ns = began;
                        break;
                    }
                    let owner_of = &mut self.all.owner_of;
                    self.processes.told(&row, || serial(owner_of));
                    began
                }
            };
            self.told_processes.advance();
            // Without operations time goes on with the processes.
            if until_ns == i64::MAX {
                self.now_ns = self.now_ns.max(began);
                self.resolve_ended()?;
            }
        }
        Ok(())
    }

    fn resolve_ended(&mut self) -> Result<(), AttributionError> {
        while let Some(slot) = self.processes.next_ended(self.now_ns) {
            self.resolve(slot)?;
        }
        Ok(())
    }

    /// Advances the time to an operation.
    fn advance(&mut self, start_ns: i64, end_ns: i64) -> Result<Order, AttributionError> {
        self.all.operations += 1;
        if start_ns >= self.next_process_ns.min(self.next_file_ns) {
            self.read_along(start_ns)?;
        }
        if end_ns > self.now_ns {
            self.now_ns = end_ns;
            self.resolve_ended()?;
        }
        Ok((self.now_ns, self.all.operations))
    }

    fn event(&mut self, event: &FileEvent<'_>) -> Result<(), AttributionError> {
        let end_ns = event.end_ns.unwrap_or(event.start_ns);
        let now = self.advance(event.start_ns, end_ns)?;
        match &*event.op {
            "delete" | "rename" | "link" => {
                for file in self.files.moved(event) {
                    self.named(file, now)?;
                }
                // A file that was made under another name first.
                if let Some(path) = event.new_path.as_deref().filter(|_| event.result.is_none_or(|result| result >= 0)) {
                    self.made(event, path);
                }
                return Ok(());
            }
            "open" if event.result.is_some_and(|result| result < 0) => return Ok(()),
            _ => {}
        }
        let owner_of = &mut self.all.owner_of;
        let of = self.processes.of_operation(event.pid, event.process_start_ns, || serial(owner_of));
        let file = self.files.of_event(event);
        let process = match of {
            ProcessSlot::Live(slot) => {
                let Some(node) = self.processes.get(slot) else { return Ok(()) };
                let files = &mut self.files;
                let access = node.accesses.entry(file).or_insert_with(|| {
                    files.used(file);
                    Access::default()
                });
                node.ranges += access.event(event);
                let process = node.serial;
                let full = node.accesses.len() > ACCESSES;
                if node.ranges > RANGES || full {
                    self.spill_accesses(slot, full)?;
                }
                if let Some(path) = event.path.as_deref().filter(|_| &*event.op == "open")
                    && rules::is_script(path)
                    && event.flags.is_none_or(|flags| flags & 0o3 == 0)
                {
                    let container_path = event.container_path.as_deref().map(str::to_owned);
                    self.processes.opened(slot, Script { path: path.to_owned(), container_path, at_ns: event.start_ns });
                }
                if let Some(path) = event.path.as_deref().filter(|_| &*event.op == "open") {
                    if let Some(run) = engine::of_log(path, event.flags) {
                        self.processes.is_engine(slot, run);
                    } else if engine::makes(event.flags) {
                        self.made(event, path);
                    }
                }
                process
            }
            ProcessSlot::Gone(process) => {
                let mut access = Access::default();
                access.event(event);
                spill_access(self.all, &mut self.files, process, file, access)?;
                process
            }
        };
        let made = self.files.get(file).is_some_and(|file| file.is_made_by(event));
        let effect = Effect::new(event).or(made.then_some(Effect::Truncated));
        if let Some(effect) = effect.filter(|_| event.inode.is_some()) {
            self.effect(process, file, effect, event.start_ns, end_ns, now)?;
        }
        Ok(())
    }

    /// Notes that an operation gave another name to a file.
    fn named(&mut self, at: u32, now: Order) -> Result<(), AttributionError> {
        let Some(file) = self.files.peek(at) else { return Ok(()) };
        self.all.names.put(ONLY_HOST, file.key, &file.names);
        let order = (self.all.clock.correct(now.0), now.1);
        flow::put_name(file, shared(file, &self.files), order, &mut self.all.tables)
    }

    /// Notes that a process made a file, which may be a declared output of a job of its engine.
    fn made(&mut self, event: &FileEvent<'_>, path: &str) {
        let Some((run, jobs)) = event.process_start_ns.and_then(|start| self.processes.jobs_above((event.pid, start))) else { return };
        let makers = engine::with_output(&run, path, self.all.entities);
        if !makers.is_empty() {
            self.all.groups.made(&jobs, makers, path);
        }
    }

    /// Adds the sums of operations that had ended by a time: a trace without single operations has
    /// them for each process and open file. They are reported some seconds later and in any order,
    /// so that thousands of them are read ahead.
    fn totals(&mut self, until_ns: i64) -> Result<(), AttributionError> {
        while self.next_total_ns <= until_ns {
            while self.totals_ahead.len() < TOTALS_AHEAD {
                let Some(total) = self.told_totals.peek()?.map(IoTotal::into_owned) else { break };
                self.told_totals.advance();
                self.totals_read += 1;
                self.totals_ahead.insert((total.last_ns, self.totals_read), total);
            }
            match self.totals_ahead.first_entry() {
                Some(first) if first.key().0 <= until_ns => {
                    let total = first.remove();
                    self.total(&total)?;
                }
                next => {
                    self.next_total_ns = next.map_or(i64::MAX, |next| next.key().0);
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn total(&mut self, total: &IoTotal<'_>) -> Result<(), AttributionError> {
        let now = self.advance(total.first_ns, total.last_ns)?;
        let owner_of = &mut self.all.owner_of;
        let of = self.processes.of_operation(total.pid, total.process_start_ns, || serial(owner_of));
        let file = self.files.numbered((total.device, total.inode, total.generation.unwrap_or(UNTOLD)));
        let process = match of {
            ProcessSlot::Live(slot) => {
                let Some(node) = self.processes.get(slot) else { return Ok(()) };
                let files = &mut self.files;
                let access = node.accesses.entry(file).or_insert_with(|| {
                    files.used(file);
                    Access::default()
                });
                access.total(total);
                let process = node.serial;
                if node.accesses.len() > ACCESSES {
                    self.spill_accesses(slot, true)?;
                }
                process
            }
            ProcessSlot::Gone(process) => {
                let mut access = Access::default();
                access.total(total);
                spill_access(self.all, &mut self.files, process, file, access)?;
                process
            }
        };
        // Nothing says whether reads or writes came first: a program that does both to one open file mostly writes what it then reads.
        if total.write_calls > total.write_errors {
            self.effect(process, file, Effect::Wrote(total.write_bytes.max(0)), total.first_ns, total.last_ns, now)?;
        }
        if total.read_calls > total.read_errors {
            self.effect(process, file, Effect::Read(total.read_bytes.max(0)), total.first_ns, total.last_ns, now)?;
        }
        Ok(())
    }

    /// Adds the effect of an operation on the content of a file.
    fn effect(&mut self, process: u32, at: u32, effect: Effect, start_ns: i64, end_ns: i64, now: Order) -> Result<(), AttributionError> {
        let Some(file) = self.files.get(at) else { return Ok(()) };
        if let Some((epoch, steps)) = file.take(process, effect, start_ns, end_ns, now) {
            spill_steps(self.all, &self.files, at, epoch, &steps)?;
        }
        Ok(())
    }

    /// Spills the sums of a live process: its ranges, or all of them.
    fn spill_accesses(&mut self, slot: u32, all_of_it: bool) -> Result<(), AttributionError> {
        let Some(node) = self.processes.get(slot) else { return Ok(()) };
        node.ranges = 0;
        let process = node.serial;
        if all_of_it {
            for (file, access) in node.accesses.drain() {
                spill_access(self.all, &mut self.files, process, file, access)?;
                self.files.unused(file);
            }
            let all = &mut *self.all;
            return self.files.forget_unused(|file, files| spill(all, file, files));
        }
        for (file, access) in &mut node.accesses {
            if let Some(file) = self.files.get(*file) {
                self.all.accesses.put_ranges(process, &file.key, access)?;
            }
        }
        Ok(())
    }

    /// Decides to what a process belongs, when it or the trace has ended.
    fn resolve(&mut self, slot: u32) -> Result<(), AttributionError> {
        let belongs = self.processes.belongs(slot, self.all.entities);
        self.spill_accesses(slot, true)?;
        let Some(key) = self.processes.get(slot).map(|node| node.key) else { return Ok(()) };
        let jobs = self.processes.jobs_above(key).map(|(_, jobs)| jobs).unwrap_or_default();
        let Some(node) = self.processes.get(slot) else { return Ok(()) };
        let all = &mut *self.all;
        let facts = node.facts.clone().unwrap_or_default();
        let started_ns = facts.started_ns;
        let group = all.groups.of_process(&facts, key, node.cgroup_id, &jobs, &belongs);
        for (a, b, holds) in &belongs.contradictions {
            let said = contradiction(&self.host, key.0, all.entities, a, b, *holds);
            match group.filter(|_| !holds && !jobs.is_empty()) {
                // What else is known of the job may decide it.
                Some(group) => all.groups.undecided(group, said),
                None => all.diagnostics.push(said),
            }
        }
        for (finding, why) in &belongs.refuted {
            all.diagnostics.push(refuted(&self.host, node.key.0, &said(finding, all.entities), why));
        }
        let job = belongs.job_claim().map(|claim| owner_job(all.entities, claim, started_ns, &self.host, node.key.0, &mut all.diagnostics));
        let mut owner = Owner {
            task: belongs.task_number(),
            step: belongs.job_claim().and_then(|claim| claim.step.as_deref().map(Into::into)),
            job,
            pod: id_of(&belongs.pod),
            container: id_of(&belongs.container),
            unit: id_of(&belongs.unit),
            group: group.filter(|_| belongs.task.is_none()),
            unassigned: None,
            uid: None,
            host: ONLY_HOST,
        };
        if !owner.is_somebody() {
            owner.uid = node.uid;
            owner.unassigned = Some(match () {
                () if belongs.undecided() => Reason::Contradiction,
                () if node.starts_tasks => Reason::StartsTasks,
                () if node.before_trace => Reason::BeforeTrace,
                () if node.facts.is_none() => Reason::NoProcess,
                () => Reason::NoRule,
            });
        }
        if let Some(facts) = &node.facts {
            all.links.of_process(facts, &belongs, &owner, all.entities, &mut all.tables)?;
        }
        let number = all.owners.number(owner);
        all.owner_of[node.serial as usize] = number;
        let sums = ProcessSums {
            processes: 1,
            started_ns,
            ended_ns: facts.exit_ns,
            running: facts.exit_ns.is_none(),
            utime_ns: node.cpu_ns.0,
            stime_ns: node.cpu_ns.1,
            run_delay_ns: node.run_delay_ns,
            uid: node.uid.map(Some),
        };
        all.owners.add(number, &sums);
        if belongs.task.as_ref().is_some_and(|task| task.rule != process_tree::NAME) {
            self.processes.task_begins(slot);
        }
        self.processes.resolve(slot, belongs);
        Ok(())
    }
}

/// Returns the serial number of one more process.
fn serial(owner_of: &mut Vec<u32>) -> u32 {
    owner_of.push(NOBODY_YET);
    owner_of.len() as u32 - 1
}

fn spill_access(all: &mut Made<'_>, files: &mut Files, process: u32, at: u32, access: Access) -> Result<(), AttributionError> {
    let Some((key, path)) = files.get(at).map(|file| (file.key, file.names.last().map(str::to_owned))) else { return Ok(()) };
    let of_file = OfFile { key, file_system: files.file_system(key.device), path: path.as_deref() };
    all.accesses.put(process, of_file, access)
}

fn spill_steps(all: &mut Made<'_>, files: &Files, at: u32, epoch: Order, steps: &[Step]) -> Result<(), AttributionError> {
    let Some(file) = files.peek(at) else { return Ok(()) };
    let epoch = (all.clock.correct(epoch.0), epoch.1);
    flow::put_steps(file, shared(file, files), epoch, steps, &mut all.tables)
}

/// Spills a file that is removed from memory: its last epoch, and its known properties.
fn spill(all: &mut Made<'_>, mut file: File, files: &Files) -> Result<(), AttributionError> {
    if let Some((epoch, steps)) = file.take_steps() {
        let epoch = (all.clock.correct(epoch.0), epoch.1);
        flow::put_steps(&file, shared(&file, files), epoch, &steps, &mut all.tables)?;
    }
    flow::put_header(&file, shared(&file, files), &mut all.tables)
}

/// Returns the type of the file system of a file that other hosts may have; `None` for other files.
fn shared<'f>(file: &File, files: &'f Files) -> Option<&'f str> {
    files.may_be_shared(file.key.device).then(|| files.file_system(file.key.device).unwrap_or(""))
}

fn id_of(finding: &Option<rules::Finding>) -> Option<Box<str>> {
    match &finding.as_ref()?.claim {
        Claim::Pod(id) | Claim::Container(id) | Claim::Unit(id) => Some(id.as_str().into()),
        _ => None,
    }
}

/// The job that a process shows, as it was observed, or as far as it is shown.
fn owner_job(
    entities: &Entities,
    claim: &rules::JobClaim,
    at_ns: Option<i64>,
    host: &str,
    pid: i32,
    diagnostics: &mut Diagnostics,
) -> OwnerJob {
    match entities.jobs.find(claim.id, claim.cluster.as_deref(), at_ns)[..] {
        [at] => {
            let job = entities.jobs.get(at);
            OwnerJob { cluster: Some(job.cluster.as_str().into()), job: job.job.as_str().into(), submit_ns: job.submit_ns }
        }
        ref several => {
            if let [first, second, ..] = several {
                let (first, second) = (entities.jobs.get(*first), entities.jobs.get(*second));
                let message = format!(
                    "process {pid} of {host} belongs to a job {} that {} and {} both had at that time",
                    claim.id, first.cluster, second.cluster
                );
                diagnostics.push(Diagnostic::warning("job_ambiguous", message).advise(ADVICE_ON_CLUSTERS));
            }
            if let Some(cluster) = claim.cluster.as_deref().filter(|_| several.is_empty())
                && let Some(other) = entities.jobs.find(claim.id, None, at_ns).first().map(|at| entities.jobs.get(*at))
            {
                let message = format!(
                    "process {pid} of {host} belongs to job {} of cluster {cluster}, which had no such job at that time as far as was \
                     observed; cluster {} had one",
                    claim.id, other.cluster
                );
                diagnostics.push(Diagnostic::warning("job_of_another_cluster", message));
            }
            OwnerJob { cluster: claim.cluster.as_deref().map(Into::into), job: claim.id.to_string().into(), submit_ns: None }
        }
    }
}

fn said(finding: &rules::Finding, entities: &Entities) -> String {
    let name = match &finding.claim {
        Claim::Task(task) => format!("task {}", entities.tasks.get(*task).key),
        Claim::Job(job) => format!("job {}", job.id),
        Claim::Pod(id) => format!("pod {id}"),
        Claim::Container(id) => format!("container {id}"),
        Claim::Unit(id) => format!("unit {id}"),
    };
    format!("{name} by rule {} ({})", finding.rule, finding.evidence)
}

/// Returns the diagnostic of a finding that cannot be true.
pub(crate) fn refuted(host: &str, pid: i32, said: &str, why: &str) -> Diagnostic {
    let message = format!("process {pid} of {host} belongs to {said}: this is impossible, because {why}; the claim is not used");
    Diagnostic::warning("links_refuted", message)
}

fn contradiction(host: &str, pid: i32, entities: &Entities, a: &rules::Finding, b: &rules::Finding, holds: bool) -> Diagnostic {
    let said = |finding| said(finding, entities);
    let outcome = if holds { "the first holds" } else { "neither holds" };
    let message = format!("process {pid} of {host} belongs to {}, and to {}: {outcome}", said(a), said(b));
    Diagnostic::warning("links_contradict", message)
}

impl Belongs {
    /// Whether the process belongs to any job, task, pod, container or unit.
    pub fn is_something(&self) -> bool {
        [&self.job, &self.task, &self.pod, &self.container, &self.unit].into_iter().any(Option::is_some)
    }
}

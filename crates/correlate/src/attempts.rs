//! Job attempts out of raw rows.
//!
//! In go rows of `job_states`, one at a time and in the order of writing; out come attempts with
//! their attributes, the changes that polling saw of each, and the facts that accounting reports of
//! each. Events are made of these by [`crate::events`].
//!
//! **Which rows belong together.** An attempt is a (cluster, job, submit time): Slurm keeps a job's
//! id when it is requeued and gives it a new submit time, and it uses ids again when they wrap.
//! Polled rows and rows of accounting join on these three, never on the bare id. Two exceptions:
//! * A row `requeued` begins another attempt even when its submit time is that of the attempt
//!   before (a requeue within the same second). Facts of accounting with that submit time then go
//!   to the last of these attempts that had been seen when the fact happened.
//! * Where the source has no submit time, a row `new` after a row `left` begins another attempt.
//!
//! **Attributes.** The last known value wins. What accounting says of a value wins over what
//! polling says, whichever came first, since it is the record and not a forecast; only the job's
//! name, command and arguments are taken from polling when it knows them, for accounting has no
//! column for the command. `start_ns` and `end_ns` are kept only when they have happened: Slurm
//! shows expected ones before.
//!
//! What is refused: nothing. A row without a state that is not `left` or `accounting` adds
//! attributes and no change.

use flowmine_schema::tables::{JobState, change};
use rustc_hash::FxHashMap;

use crate::engine_jobs;
use crate::packed_int::PackedInt;
use crate::state::{self, Phase};
use crate::strings::{Renumbering, StringsBuilder, Sym};

/// One attempt at a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobAttempt {
    /// Name of the Slurm cluster.
    pub cluster: Sym,
    /// The job as Slurm prints it: `7`, `8_3`, `8_*`, `18+1`.
    pub job: Sym,
    /// Slurm's raw job id.
    pub job_id: i64,
    /// When it was submitted (whole seconds, as nanoseconds).
    pub submit_ns: PackedInt,
    /// When it was submitted or, where that is not known, when it was first seen. Never unknown.
    pub since_ns: i64,
    /// Among attempts with the same cluster, job and submit time, which: from 1; nearly always 1.
    pub copy: u32,
    /// The submission that it is an attempt at: an index into [`crate::Jobs::submissions`].
    pub submission: u32,
    /// Number of the attempt at its job, from 1.
    pub number: u32,
    /// First and one past the last of its events in [`crate::Jobs::events`].
    pub events: (u32, u32),
    /// What is mined as activity: what a workflow engine reports through Slurm, else the command's
    /// file name, else the job name, else [`UNKNOWN_ACTIVITY`].
    pub activity: Sym,
    /// The ended state that it reached, if any is known.
    pub final_state: Option<Sym>,
    /// When it ended or, when only that is known, by when it had left the queue, in nanoseconds
    /// since 1970.
    pub ended_ns: PackedInt,
    /// The time of the first poll that no longer saw it, in nanoseconds since 1970.
    pub left_ns: PackedInt,
    /// Whether it is known to have run.
    pub ran: bool,
    /// Job id of the array that the job is a task of (`SLURM_ARRAY_JOB_ID`).
    pub array_job_id: PackedInt,
    /// Index of the job within its array (`SLURM_ARRAY_TASK_ID`).
    pub array_task_id: PackedInt,
    /// Raw id of the first component of a heterogeneous job.
    pub het_job_id: PackedInt,
    /// Number of the component within its heterogeneous job, from 0.
    pub het_offset: PackedInt,
    /// Name of the job.
    pub name: Option<Sym>,
    /// Name of the user.
    pub user: Option<Sym>,
    /// Name of the user's group.
    pub group: Option<Sym>,
    /// Account that is charged.
    pub account: Option<Sym>,
    /// Partition, or several with commas between.
    pub partition: Option<Sym>,
    /// Quality of service (QOS).
    pub qos: Option<Sym>,
    /// Comment that the user gave the job.
    pub comment: Option<Sym>,
    /// Path of the command that was submitted.
    pub command: Option<Sym>,
    /// Arguments of the command.
    pub arguments: Option<Sym>,
    /// Work directory of the job.
    pub work_dir: Option<Sym>,
    /// The node from which it was submitted.
    pub submit_node: Option<Sym>,
    /// The session of the shell or job that submitted it: a process id on `submit_node`.
    pub submit_session: PackedInt,
    /// The nodes as a Slurm host list.
    pub node_list: Option<Sym>,
    /// Number of nodes.
    pub nodes: PackedInt,
    /// Number of CPUs.
    pub cpus: PackedInt,
    /// Memory asked for, in bytes.
    pub memory_bytes: PackedInt,
    /// Memory asked for by the whole job, in bytes.
    pub total_memory_bytes: PackedInt,
    /// Time limit in seconds.
    pub time_limit_s: PackedInt,
    /// Slurm's priority of the job.
    pub priority: PackedInt,
    /// Nice value, which lowers the priority.
    pub nice: PackedInt,
    /// Features of nodes asked for.
    pub features: Option<Sym>,
    /// Trackable resources asked for on each node.
    pub tres_per_node: Option<Sym>,
    /// Trackable resources (TRES) asked for, as Slurm writes them.
    pub requested_tres: Option<Sym>,
    /// Trackable resources (TRES) allocated, as Slurm writes them.
    pub allocated_tres: Option<Sym>,
    /// Number of GPUs.
    pub gpus: PackedInt,
    /// When it could have begun as far as its own wishes go, in nanoseconds since 1970.
    pub eligible_ns: PackedInt,
    /// Largest resident set of a task, in bytes.
    pub max_rss_bytes: PackedInt,
    /// Largest resident memory of all tasks of a step together, in bytes.
    pub step_memory_bytes: PackedInt,
    /// Memory of the whole job, allocated or asked for, in bytes.
    pub job_memory_bytes: PackedInt,
    /// Memory that the job used at most, in bytes: `step_memory_bytes`, else `max_rss_bytes`.
    pub job_peak_bytes: PackedInt,
    /// CPU time used, in nanoseconds.
    pub cpu_time_ns: PackedInt,
    /// Utilisation of its GPUs in percent, summed over them.
    pub gpu_percent: PackedInt,
    /// When it started, if it did, in nanoseconds since 1970.
    pub start_ns: PackedInt,
    /// When it ended, as Slurm says, if it did, in nanoseconds since 1970.
    pub end_ns: PackedInt,
    /// Exit code of the batch script.
    pub exit_code: PackedInt,
    /// Number of the signal that ended it, see signal(7).
    pub exit_signal: PackedInt,
    /// User id of who cancelled it.
    pub cancelled_by_uid: PackedInt,
    /// Bytes read, as Slurm's accounting counted.
    pub read_bytes: PackedInt,
    /// Bytes written, as Slurm's accounting counted.
    pub written_bytes: PackedInt,
}

/// The activity of a job with unknown command and name.
pub const UNKNOWN_ACTIVITY: &str = "(unknown)";

impl JobAttempt {
    /// Returns whether the attempt is the record of the pending tasks of an array (`8_*`).
    pub fn is_pending_array(&self, strings: &crate::Strings) -> bool {
        flowmine_slurm::job_ref::is_pending_array(strings.get(self.job))
    }

    fn new(cluster: Sym, job: Sym, submit_ns: PackedInt, since_ns: i64, job_id: i64) -> Self {
        Self {
            cluster,
            job,
            job_id,
            submit_ns,
            since_ns,
            copy: 1,
            submission: 0,
            number: 1,
            events: (0, 0),
            // Set by `Folded::finish`.
            activity: job,
            final_state: None,
            ended_ns: PackedInt::UNKNOWN,
            left_ns: PackedInt::UNKNOWN,
            ran: false,
            array_job_id: PackedInt::UNKNOWN,
            array_task_id: PackedInt::UNKNOWN,
            het_job_id: PackedInt::UNKNOWN,
            het_offset: PackedInt::UNKNOWN,
            name: None,
            user: None,
            group: None,
            account: None,
            partition: None,
            qos: None,
            comment: None,
            command: None,
            arguments: None,
            work_dir: None,
            submit_node: None,
            submit_session: PackedInt::UNKNOWN,
            node_list: None,
            nodes: PackedInt::UNKNOWN,
            cpus: PackedInt::UNKNOWN,
            memory_bytes: PackedInt::UNKNOWN,
            total_memory_bytes: PackedInt::UNKNOWN,
            time_limit_s: PackedInt::UNKNOWN,
            priority: PackedInt::UNKNOWN,
            nice: PackedInt::UNKNOWN,
            features: None,
            tres_per_node: None,
            requested_tres: None,
            allocated_tres: None,
            gpus: PackedInt::UNKNOWN,
            eligible_ns: PackedInt::UNKNOWN,
            max_rss_bytes: PackedInt::UNKNOWN,
            step_memory_bytes: PackedInt::UNKNOWN,
            job_memory_bytes: PackedInt::UNKNOWN,
            job_peak_bytes: PackedInt::UNKNOWN,
            cpu_time_ns: PackedInt::UNKNOWN,
            gpu_percent: PackedInt::UNKNOWN,
            start_ns: PackedInt::UNKNOWN,
            end_ns: PackedInt::UNKNOWN,
            exit_code: PackedInt::UNKNOWN,
            exit_signal: PackedInt::UNKNOWN,
            cancelled_by_uid: PackedInt::UNKNOWN,
            read_bytes: PackedInt::UNKNOWN,
            written_bytes: PackedInt::UNKNOWN,
        }
    }
}

flowmine_schema::columns! {
    /// What is read of `job_states`.
    pub struct JobRow of JobState {
        cluster, job, job_id, submit_ns, change, changed, state, not_before_ns, observed_at_ns,
        reported_ns, source, array_job_id, array_task_id, het_job_id, het_offset, name, user,
        group, account, partition, qos, reason, comment, activity, command, arguments, work_dir,
        submit_node, submit_session, nodes, node_list, cpus, memory_bytes, total_memory_bytes, time_limit_s, priority, nice,
        features, tres_per_node, requested_tres, allocated_tres, gpus, eligible_ns, max_rss_bytes,
        step_memory_bytes, cpu_time_ns, gpu_percent, start_ns, end_ns, exit_code, exit_signal, cancelled_by_uid, read_bytes,
        written_bytes,
    }
}

/// A change of a job's state or columns that polling saw.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen {
    pub slot: u32,
    /// The job's state; `None` when it left the queue.
    pub state: Option<Sym>,
    pub not_before_ns: PackedInt,
    pub observed_at_ns: i64,
    pub reported_ns: PackedInt,
    /// When the job started, if the row says so and it has happened.
    pub start_ns: PackedInt,
    /// When the job ended, if the row says so and it has happened.
    pub end_ns: PackedInt,
    pub source: Sym,
    pub reason: Option<Sym>,
    pub node_list: Option<Sym>,
    /// When it could have begun, if the row says so.
    pub eligible_ns: PackedInt,
    /// Whether it was held when it was seen.
    pub held: bool,
    /// What changed while the state did not.
    pub change: Change,
    /// Names of the columns that changed, separated by commas, as in `job_states.changed`.
    pub changed: Option<Sym>,
    /// What that was before: an index into [`Folder::before`].
    pub before: Option<u32>,
}

/// The kind of change that a row reports in addition to a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// The attempt is seen for the first time, in this state.
    New,
    /// It is in another state, or it left the queue.
    State,
    /// The same state, and it is held from now on.
    Held,
    /// The same state, and it is held no longer.
    Released,
    /// The same state, and something else changed.
    Other,
}

impl Change {
    fn new(word: &str) -> Self {
        match word {
            change::NEW | change::REQUEUED => Self::New,
            change::HELD => Self::Held,
            change::RELEASED => Self::Released,
            change::CHANGED => Self::Other,
            _ => Self::State,
        }
    }
}

/// A value of a job that changed, as it was before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Before {
    /// Name of the column of `job_states`.
    pub column: &'static str,
    /// The column's value before the change.
    pub value: Value,
}

/// A value of a column of `job_states`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value {
    /// A text; `None` when it was unknown.
    Text(Option<Sym>),
    /// A number, which can have been unknown.
    Number(PackedInt),
}

macro_rules! changing {
    (texts: $($text:ident),+; numbers: $($number:ident),+) => {
        /// The columns of which the values before a change are kept.
        pub const CHANGING: &[&str] = &[$(stringify!($text),)+ $(stringify!($number)),+];

        /// Returns the current value of an attempt in one of [`CHANGING`].
        fn value_of(attempt: &JobAttempt, column: &str) -> Option<Value> {
            match column {
                $(stringify!($text) => Some(Value::Text(attempt.$text)),)+
                $(stringify!($number) => Some(Value::Number(attempt.$number)),)+
                _ => None,
            }
        }

        /// Sets a changed column of an attempt to its value in a row. A change also replaces a
        /// value that accounting reported before it.
        fn take_change(attempt: &mut JobAttempt, row: &JobRow<'_>, column: &str, strings: &mut StringsBuilder) {
            match column {
                $(stringify!($text) => attempt.$text = row.$text.as_deref().map(|text| strings.intern(text)),)+
                $(stringify!($number) => attempt.$number = row.$number.into(),)+
                _ => {}
            }
        }
    };
}

changing! {
    texts: name, user, account, partition, qos, comment, features, tres_per_node;
    numbers: time_limit_s, priority, nice, nodes, cpus, memory_bytes
}

/// What accounting reports of an attempt.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fact {
    /// The first attempt with this cluster, job and submit time.
    pub slot: u32,
    pub state: Option<Sym>,
    pub start_ns: PackedInt,
    pub end_ns: PackedInt,
    pub observed_at_ns: i64,
    pub eligible_ns: PackedInt,
    pub source: Sym,
    pub reason: Option<Sym>,
    pub node_list: Option<Sym>,
}

/// An attempt while its rows are merged.
#[derive(Debug)]
pub(crate) struct Slot {
    pub attempt: JobAttempt,
    pub activity: Option<Sym>,
    /// What a workflow engine reports through Slurm that it is an instance of.
    pub engine_activity: Option<Sym>,
    /// Which values accounting has reported: one bit a column.
    told: u64,
    /// Whether polling saw anything of it.
    polled: bool,
    /// Whether the last that polling saw of it is that it was gone.
    gone: bool,
}

/// The attempts with the same cluster, job and submit time.
#[derive(Debug, Clone, Copy)]
struct Chain {
    first: u32,
    last: u32,
}

/// Takes rows, in the order of writing for each job.
#[derive(Debug, Default)]
pub(crate) struct Folder {
    pub slots: Vec<Slot>,
    pub seen: Vec<Seen>,
    pub facts: Vec<Fact>,
    /// What changed was before, for each row that reports such a change.
    pub before: Vec<Vec<Before>>,
    /// The names that attempts had before others.
    pub former: Vec<(u32, Sym)>,
    chains: FxHashMap<(Sym, Sym, PackedInt), Chain>,
    /// Attempts beyond the first of their chain, in order.
    pub copies: Vec<(u32, u32)>,
}

impl Folder {
    pub fn push(&mut self, row: &JobRow<'_>, strings: &mut StringsBuilder) {
        let key = (strings.intern(&row.cluster), strings.intern(&row.job), PackedInt::from(row.submit_ns));
        let accounting = row.change == change::ACCOUNTING;
        let at = self.slot(key, row, accounting);
        let source = strings.intern(&row.source);
        let state = row.state.as_deref().map(|s| strings.intern(s));
        let reason = row.reason.as_deref().map(|s| strings.intern(s));
        let node_list = row.node_list.as_deref().map(|s| strings.intern(s));
        let slot = &mut self.slots[at as usize];
        slot.attempt.since_ns = row.submit_ns.unwrap_or(slot.attempt.since_ns.min(row.observed_at_ns));
        let changed: Vec<&str> = row.changed.as_deref().into_iter().flat_map(|names| names.split(',')).collect();
        let before: Vec<Before> = (CHANGING.iter().filter(|column| changed.contains(column)))
            .filter_map(|column| Some(Before { column, value: value_of(&slot.attempt, column)? }))
            .collect();
        let by_engine = engine_jobs::activity(row.activity.as_deref(), row.name.as_deref(), row.comment.as_deref());
        slot.engine_activity = by_engine.map(|activity| strings.intern(activity)).or(slot.engine_activity);
        let name = slot.attempt.name;
        attributes(slot, row, accounting, node_list, strings);
        for Before { column, .. } in &before {
            take_change(&mut slot.attempt, row, column, strings);
        }
        self.former.extend(name.filter(|_| name != slot.attempt.name).map(|name| (at, name)));
        if accounting {
            self.facts.push(Fact {
                slot: at,
                state,
                start_ns: row.start_ns.into(),
                end_ns: row.end_ns.into(),
                eligible_ns: row.eligible_ns.into(),
                observed_at_ns: row.observed_at_ns,
                source,
                reason,
                node_list,
            });
            return;
        }
        let left = row.change == change::LEFT;
        slot.polled = true;
        slot.gone = left;
        if left || state.is_some() {
            let (start_ns, end_ns) = happened(row);
            self.seen.push(Seen {
                slot: at,
                state: if left { None } else { state },
                not_before_ns: row.not_before_ns.into(),
                observed_at_ns: row.observed_at_ns,
                reported_ns: row.reported_ns.into(),
                start_ns,
                end_ns,
                source,
                reason,
                node_list,
                eligible_ns: row.eligible_ns.into(),
                held: is_held(row),
                change: Change::new(&row.change),
                changed: row.changed.as_deref().map(|names| strings.intern(names)),
                before: (!before.is_empty()).then_some(self.before.len() as u32),
            });
            if !before.is_empty() {
                self.before.push(before);
            }
        }
    }

    fn slot(&mut self, key: (Sym, Sym, PackedInt), row: &JobRow<'_>, accounting: bool) -> u32 {
        let next = self.slots.len() as u32;
        let chain = self.chains.entry(key).or_insert(Chain { first: next, last: next });
        if chain.last == next {
            self.slots.push(Slot::new(key, row));
            return next;
        }
        if accounting {
            return chain.first;
        }
        let last = &self.slots[chain.last as usize];
        let again = row.change == change::REQUEUED && last.polled;
        let unnamed = row.submit_ns.is_none() && row.change == change::NEW && last.gone;
        if again || unnamed {
            let mut slot = Slot::new(key, row);
            slot.attempt.copy = last.attempt.copy + 1;
            self.copies.push((chain.first, next));
            chain.last = next;
            self.slots.push(slot);
        }
        chain.last
    }

    /// Gives every text of the attempts its final number.
    pub fn renumber(&mut self, to: &Renumbering) {
        for slot in &mut self.slots {
            let a = &mut slot.attempt;
            for sym in [&mut a.cluster, &mut a.job] {
                to.apply(sym);
            }
            for sym in [
                &mut a.name,
                &mut a.user,
                &mut a.group,
                &mut a.account,
                &mut a.partition,
                &mut a.qos,
                &mut a.comment,
                &mut a.command,
                &mut a.arguments,
                &mut a.work_dir,
                &mut a.submit_node,
                &mut a.node_list,
                &mut a.features,
                &mut a.tres_per_node,
                &mut a.requested_tres,
                &mut a.allocated_tres,
                &mut slot.activity,
                &mut slot.engine_activity,
            ] {
                to.apply_to(sym);
            }
        }
        for seen in &mut self.seen {
            to.apply(&mut seen.source);
            for sym in [&mut seen.state, &mut seen.reason, &mut seen.node_list, &mut seen.changed] {
                to.apply_to(sym);
            }
        }
        for fact in &mut self.facts {
            to.apply(&mut fact.source);
            for sym in [&mut fact.state, &mut fact.reason, &mut fact.node_list] {
                to.apply_to(sym);
            }
        }
        for before in self.before.iter_mut().flatten() {
            if let Value::Text(text) = &mut before.value {
                to.apply_to(text);
            }
        }
        for (_, name) in &mut self.former {
            to.apply(name);
        }
        // Only needed while rows arrive.
        self.chains = FxHashMap::default();
    }

    /// Gives the facts of accounting that share a submit time with several attempts to the one that
    /// they are of, and to the later attempts of such a chain what only the first got.
    pub fn assign_copies(&mut self) {
        if self.copies.is_empty() {
            return;
        }
        let mut first_seen: FxHashMap<u32, i64> = FxHashMap::default();
        for seen in &self.seen {
            first_seen.entry(seen.slot).or_insert(seen.not_before_ns.get().unwrap_or(seen.observed_at_ns));
        }
        let mut chains: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for &(first, copy) in &self.copies {
            chains.entry(first).or_default().push(copy);
            let (name, user, group, account) = {
                let from = &self.slots[first as usize].attempt;
                (from.name, from.user, from.group, from.account)
            };
            let to = &mut self.slots[copy as usize].attempt;
            to.name = to.name.or(name);
            to.user = to.user.or(user);
            to.group = to.group.or(group);
            to.account = to.account.or(account);
        }
        for fact in &mut self.facts {
            let Some(copies) = chains.get(&fact.slot) else { continue };
            let Some(when) = fact.end_ns.or(fact.start_ns).get() else { continue };
            let of = copies.iter().rev().find(|copy| first_seen.get(*copy).is_some_and(|&seen| seen <= when));
            fact.slot = of.copied().unwrap_or(fact.slot);
        }
    }
}

impl Slot {
    fn new(key: (Sym, Sym, PackedInt), row: &JobRow<'_>) -> Self {
        let since = row.submit_ns.unwrap_or(row.observed_at_ns);
        Self {
            attempt: JobAttempt::new(key.0, key.1, key.2, since, row.job_id),
            activity: None,
            engine_activity: None,
            told: 0,
            polled: false,
            gone: false,
        }
    }
}

/// Whether a row shows a job that its user or an administrator keeps from starting.
fn is_held(row: &JobRow<'_>) -> bool {
    row.state.as_deref() == Some(state::PENDING) && change::is_hold(row.priority, row.reason.as_deref())
}

/// The start and the end that a polled row has. Slurm shows expected ones before; a job that is
/// being requeued is COMPLETING with a start that is still to come; and one that was cancelled
/// before it ran has a start that equals its end, and no nodes.
fn happened(row: &JobRow<'_>) -> (PackedInt, PackedInt) {
    let phase = row.state.as_deref().map_or(Phase::Other, state::phase);
    let over = phase.ends_attempt() || phase == Phase::Ending;
    let before = |time: Option<i64>| time.filter(|&time| time <= row.observed_at_ns);
    let end = before(row.end_ns).filter(|_| over);
    let never_ran = over && row.node_list.is_none() && row.start_ns == row.end_ns;
    let start = before(row.start_ns).filter(|&start| (phase.has_run() || over && end.is_some_and(|end| start <= end)) && !never_ran);
    (start.into(), end.into())
}

fn attributes(slot: &mut Slot, row: &JobRow<'_>, accounting: bool, node_list: Option<Sym>, strings: &mut StringsBuilder) {
    let told = &mut slot.told;
    let a = &mut slot.attempt;
    // Accounting wins: a polled value does not replace one that accounting reported.
    let mut bit = 0u32;
    let mut record = |known: bool| {
        bit += 1;
        let mask = 1u64 << (bit - 1);
        let take = known && (accounting || *told & mask == 0);
        if take && accounting {
            *told |= mask;
        }
        take
    };
    macro_rules! text {
        ($($field:ident),+) => { $( if record(row.$field.is_some()) { a.$field = row.$field.as_deref().map(|s| strings.intern(s)); } )+ };
    }
    macro_rules! number {
        ($($field:ident),+) => { $( if record(row.$field.is_some()) { a.$field = row.$field.into(); } )+ };
    }
    text!(user, group, account, partition, qos, comment, work_dir, submit_node, features, tres_per_node, requested_tres, allocated_tres);
    number!(
        priority,
        nice,
        gpus,
        eligible_ns,
        max_rss_bytes,
        step_memory_bytes,
        cpu_time_ns,
        gpu_percent,
        array_job_id,
        array_task_id,
        het_job_id,
        het_offset,
        nodes,
        cpus,
        memory_bytes,
        total_memory_bytes,
        time_limit_s,
        exit_code,
        exit_signal,
        cancelled_by_uid,
        read_bytes,
        written_bytes,
        submit_session
    );
    if record(node_list.is_some()) {
        a.node_list = node_list;
    }
    // Expected times are no facts: a start counts while the job runs, an end from an ended state on. Afterwards a start counts only where
    // none is known: a job that is being requeued is COMPLETING with a start that is still to come.
    let phase = row.state.as_deref().map_or(Phase::Other, state::phase);
    let over = phase.ends_attempt() || phase == Phase::Ending;
    let started = accounting || phase.has_run() || over && !a.start_ns.is_known();
    let ended = accounting && phase != Phase::Running || phase.ends_attempt();
    if record(row.start_ns.is_some() && started) {
        a.start_ns = row.start_ns.into();
    }
    if record(row.end_ns.is_some() && ended) {
        a.end_ns = row.end_ns.into();
    }
    // Polling wins: accounting has the job's name where polling has the command's.
    let mut command = |known: bool, have: bool| {
        bit += 1;
        let mask = 1u64 << (bit - 1);
        let take = known && (!accounting || !have || *told & mask != 0);
        if take {
            *told = if accounting { *told | mask } else { *told & !mask };
        }
        take
    };
    macro_rules! command_text {
        ($($field:ident),+) => {
            $( if command(row.$field.is_some(), a.$field.is_some()) { a.$field = row.$field.as_deref().map(|s| strings.intern(s)); } )+
        };
    }
    command_text!(name, command, arguments);
    if command(row.activity.is_some(), slot.activity.is_some()) {
        slot.activity = row.activity.as_deref().map(|s| strings.intern(s));
    }
}

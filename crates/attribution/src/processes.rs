//! The live processes of a host, with the known properties, the accesses and the owner of each.
//!
//! A process is a number and its start: two with the same number are two. A source that does not
//! report starts (`io-csv`) has the time of the fork in their place, and the generation that was
//! forked last has the operations. A process is resolved some seconds after its end, when the rows
//! of all that it forked have been read; its memory is then free but for what its live children
//! inherit.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::rc::Rc;

use flowmine_schema::tables::Process;
use rustc_hash::FxHashMap;

use crate::access::Access;
use crate::entities::{Entities, Run};
use crate::rules::engine;
use crate::rules::plausible::{self, Above};
use crate::rules::{self, Claim, Facts, Finding, JobClaim, Place, Script, User, process_tree};

/// Identity of a process on a host: its number, and its start or, where that is not known, the time
/// of the fork.
pub type Key = (i32, i64);

/// In place of a start that is not known.
const UNTOLD: i64 = i64::MIN;

/// Operations are not known in exactly the order in which they happened.
const SLACK_NS: i64 = 5_000_000_000;

/// Maximum number of remembered processes that are resolved, for operations that are reported late.
const GONE: usize = 1 << 16;

/// Maximum number of ancestors that are examined.
const LONGEST_CHAIN: usize = 4096;

/// Maximum number of remembered engines on a host.
const ENGINES: usize = 1 << 12;

/// Maximum number of remembered scripts that a process opened.
const SCRIPTS: usize = 64;

/// A process with its accesses and the findings of rules.
#[derive(Debug, Default)]
pub struct Node {
    /// Number and start of the process, which identify it within a host's trace.
    pub key: Key,
    /// Number of the process, over all hosts.
    pub serial: u32,
    /// Input of rules; `None` if no row describes the process.
    pub facts: Option<Facts>,
    /// Whether it ran already when the trace began.
    pub before_trace: bool,
    /// User id of the process.
    pub uid: Option<i64>,
    /// The v2 control group's number.
    pub cgroup_id: Option<i64>,
    /// CPU time in user mode and in the kernel, in nanoseconds.
    pub cpu_ns: (Option<i64>, Option<i64>),
    /// Time that its threads waited for a processor, in nanoseconds.
    pub run_delay_ns: Option<i64>,
    /// Whether it started a process in which a task begins.
    pub starts_tasks: bool,
    /// The run that it is the engine of.
    engine: Option<Rc<Run>>,
    /// It is an engine that runs once more for jobs of a run, which are its children.
    is_inner_engine: bool,
    /// Accesses of the process, by file number.
    pub accesses: FxHashMap<u32, Access>,
    /// Approximate number of ranges in its accesses.
    pub ranges: usize,
    scripts: Vec<Script>,
    parent: Option<Key>,
    children: u32,
    findings: Option<Vec<Finding>>,
    resolved: Option<Belongs>,
}

/// Owners of a process, with the findings.
#[derive(Debug, Clone, Default)]
pub struct Belongs {
    /// The Slurm job, and the finding by which it is.
    pub job: Option<Finding>,
    /// The task attempt, and the finding by which it is.
    pub task: Option<Finding>,
    /// The Kubernetes pod, and the finding by which it is.
    pub pod: Option<Finding>,
    /// The container, and the finding by which it is.
    pub container: Option<Finding>,
    /// The systemd unit, and the finding by which it is.
    pub unit: Option<Finding>,
    /// Findings that contradict each other, in pairs; the first holds when `true`.
    pub contradictions: Vec<(Finding, Finding, bool)>,
    /// Findings that cannot be true, and why not.
    pub refuted: Vec<(Finding, String)>,
    /// The name of its real user, or of the nearest ancestor's that has one.
    pub user: Option<Box<str>>,
    /// The run that it is the engine of, or the nearest ancestor is.
    engine: Option<Rc<Run>>,
}

impl Belongs {
    /// The job as a process shows it.
    pub fn job_claim(&self) -> Option<&JobClaim> {
        match &self.job.as_ref()?.claim {
            Claim::Job(job) => Some(job),
            _ => None,
        }
    }

    /// The number of the task.
    pub fn task_number(&self) -> Option<u32> {
        match self.task.as_ref()?.claim {
            Claim::Task(task) => Some(task),
            _ => None,
        }
    }

    /// Whether nothing is decided because findings contradict each other.
    pub fn undecided(&self) -> bool {
        !self.refuted.is_empty() || self.contradictions.iter().any(|(_, _, holds)| !holds)
    }
}

/// The live processes of a host.
#[derive(Debug, Default)]
pub struct Processes {
    nodes: FxHashMap<Key, u32>,
    slots: Vec<Option<Box<Node>>>,
    free: Vec<u32>,
    /// Current generation of each process number, for a source that does not report starts.
    current: FxHashMap<i32, Key>,
    ending: BinaryHeap<Reverse<(i64, Key)>>,
    gone: FxHashMap<Key, u32>,
    gone_order: VecDeque<Key>,
    last: Option<(Key, u32)>,
    /// Runs with engines that were traced.
    engines: Vec<Rc<Run>>,
}

/// The process to which operations belong, as far as it is known here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessSlot {
    /// A process that is in memory.
    Live(u32),
    /// One that was resolved, by its serial number.
    Gone(u32),
}

impl Processes {
    /// The process of an operation; it is made when nothing is known of it. `serial` gives the next
    /// number.
    pub fn of_operation(&mut self, pid: i32, start_ns: Option<i64>, serial: impl FnOnce() -> u32) -> ProcessSlot {
        let key = match start_ns {
            Some(start) => (pid, start),
            None => self.current.get(&pid).copied().unwrap_or((pid, UNTOLD)),
        };
        if let Some((last, slot)) = self.last
            && last == key
        {
            return ProcessSlot::Live(slot);
        }
        if let Some(&slot) = self.nodes.get(&key) {
            // One that is resolved stays for what its children inherit, but takes nothing any more.
            if let Some(node) = self.get(slot).filter(|node| node.resolved.is_some()) {
                return ProcessSlot::Gone(node.serial);
            }
            self.last = Some((key, slot));
            return ProcessSlot::Live(slot);
        }
        if let Some(&serial) = self.gone.get(&key) {
            return ProcessSlot::Gone(serial);
        }
        let slot = self.make(key, serial());
        self.last = Some((key, slot));
        ProcessSlot::Live(slot)
    }

    fn make(&mut self, key: Key, serial: u32) -> u32 {
        let node = Box::new(Node { key, serial, ..Node::default() });
        let slot = match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = Some(node);
                slot
            }
            None => {
                self.slots.push(Some(node));
                self.slots.len() as u32 - 1
            }
        };
        self.nodes.insert(key, slot);
        slot
    }

    /// The process in a slot, when it is still in memory.
    pub fn get(&mut self, slot: u32) -> Option<&mut Node> {
        self.slots.get_mut(slot as usize)?.as_deref_mut()
    }

    fn node(&self, key: Key) -> Option<&Node> {
        self.slots.get(*self.nodes.get(&key)? as usize)?.as_deref()
    }

    fn node_mut(&mut self, key: Key) -> Option<&mut Node> {
        self.slots.get_mut(*self.nodes.get(&key)? as usize)?.as_deref_mut()
    }

    /// Takes a row of the table `processes` about a process, new or known.
    pub fn told(&mut self, row: &Process<'_>, serial: impl FnOnce() -> u32) {
        let started = row.process_start_ns.or(row.started_ns).unwrap_or(UNTOLD);
        let key = (row.pid, started);
        if self.gone.contains_key(&key) || self.node(key).is_some_and(|node| node.resolved.is_some()) {
            return;
        }
        if row.process_start_ns.is_none()
            && let Some(before) = self.current.insert(row.pid, key).filter(|before| *before != key)
        {
            // The number is another process now.
            self.ending.push(Reverse((started, before)));
            self.last = None;
        }
        let slot = match self.nodes.get(&key) {
            Some(&slot) => slot,
            None => self.make(key, serial()),
        };
        let parent = row.parent_pid.map(|pid| match (row.process_start_ns, row.parent_start_ns) {
            (None, _) => self.current.get(&pid).copied().unwrap_or((pid, UNTOLD)),
            (_, start) => (pid, start.unwrap_or(UNTOLD)),
        });
        let parent = parent.filter(|parent| !self.is_above(key, *parent));
        // Operations of a process that no row describes make a row; it must not hide what was
        // reported.
        let nothing_told = &*row.first_seen == "operation" && row.uid.is_none() && row.cgroup_id.is_none() && row.command_line.is_none();
        let Some(node) = self.get(slot) else { return };
        if nothing_told {
            return;
        }
        node.facts = Some(Facts::of(row));
        node.findings = None;
        // All properties of a program that began in the trace are known, even if its process is
        // older.
        node.is_inner_engine =
            node.facts.iter().flat_map(|facts| &facts.programs).any(|program| engine::target_jobs(program).next().is_some());
        node.before_trace = &*row.first_seen == "running" && row.exec_ns.is_none();
        node.uid = row.uid;
        node.cgroup_id = row.cgroup_id;
        node.cpu_ns = (row.utime_ns, row.stime_ns);
        node.run_delay_ns = row.run_delay_ns;
        let new_parent = node.parent.is_none().then_some(parent).flatten();
        if let Some(parent) = new_parent {
            node.parent = Some(parent);
            match self.node_mut(parent) {
                Some(above) => above.children += 1,
                None => {
                    if let Some(node) = self.get(slot) {
                        node.parent = None;
                    }
                }
            }
        }
        if let Some(exit) = row.exit_ns {
            self.ending.push(Reverse((exit, key)));
        }
    }

    /// Whether one process is another, or one of its ancestors.
    fn is_above(&self, key: Key, mut other: Key) -> bool {
        let is_parent = self.node(key).is_some_and(|node| node.children > 0);
        loop {
            match self.node(other).and_then(|node| node.parent) {
                _ if other == key => return true,
                Some(parent) if is_parent => other = parent,
                _ => return false,
            }
        }
    }

    /// Notes that a process opened a script which a rule may assign.
    pub fn opened(&mut self, slot: u32, script: Script) {
        if let Some(node) = self.get(slot)
            && node.scripts.len() < SCRIPTS
        {
            node.scripts.push(script);
            node.findings = None;
        }
    }

    /// Notes that a process opened the log of a run to write to it, and so is the run's engine.
    pub fn is_engine(&mut self, slot: u32, run: Run) {
        let Some(node) = self.get(slot) else { return };
        let run = Rc::new(run);
        node.engine = Some(Rc::clone(&run));
        node.starts_tasks = true;
        self.task_begins(slot);
        if self.engines.len() < ENGINES && !self.engines.contains(&run) {
            self.engines.push(run);
        }
    }

    /// The jobs that a process is in, as the children of engines that they are: the innermost
    /// first; and the run.
    pub fn jobs_above(&self, key: Key) -> Option<(Rc<Run>, Vec<Key>)> {
        if self.engines.is_empty() {
            return None;
        }
        let mut jobs = Vec::new();
        let mut at = key;
        for _ in 0..LONGEST_CHAIN {
            let node = self.node(at)?;
            let parent = self.node(node.parent?)?;
            if parent.engine.is_some() || parent.is_inner_engine {
                jobs.push(at);
            }
            if let Some(run) = &parent.engine {
                return Some((Rc::clone(run), jobs));
            }
            at = parent.key;
        }
        None
    }

    /// The next process that is to be resolved by this time.
    pub fn next_ended(&mut self, now_ns: i64) -> Option<u32> {
        loop {
            let Reverse((exit, key)) = *self.ending.peek()?;
            if exit.saturating_add(SLACK_NS) > now_ns {
                return None;
            }
            self.ending.pop();
            if let Some(&slot) = self.nodes.get(&key)
                && self.slots[slot as usize].as_ref().is_some_and(|node| node.resolved.is_none())
            {
                return Some(slot);
            }
        }
    }

    /// All that are not resolved, children before their parents.
    pub fn unresolved(&self) -> Vec<u32> {
        let open = self
            .slots
            .iter()
            .enumerate()
            .filter_map(|(at, node)| node.as_ref().filter(|node| node.resolved.is_none()).map(|node| (node.key, at as u32)));
        let mut open: Vec<_> = open.collect();
        open.sort_unstable_by_key(|((pid, start), at)| std::cmp::Reverse((*start, *pid, *at)));
        open.into_iter().map(|(_, at)| at).collect()
    }

    /// Returns what a process belongs to, as far as it is known now.
    pub fn belongs(&mut self, slot: u32, entities: &Entities) -> Belongs {
        // From the oldest ancestor down, so that a long chain needs no deep stack.
        let mut chain = Vec::new();
        let mut at = self.slots.get(slot as usize).and_then(|node| node.as_ref()).map(|node| node.key);
        while let Some(key) = at {
            let Some(node) = self.node(key) else { break };
            chain.push(key);
            if node.resolved.is_some() || chain.len() > LONGEST_CHAIN {
                break;
            }
            at = node.parent;
        }
        let mut above: Option<Belongs> = None;
        let engines = std::mem::take(&mut self.engines);
        for key in chain.into_iter().rev() {
            let Some(node) = self.node_mut(key) else { continue };
            above = Some(match &node.resolved {
                Some(resolved) => resolved.clone(),
                None => node.decide(above.as_ref(), &engines, entities),
            });
        }
        self.engines = engines;
        above.unwrap_or_default()
    }

    /// Notes that a task begins in a process: processes above it without a task start tasks.
    pub fn task_begins(&mut self, slot: u32) {
        let mut at = self.get(slot).and_then(|node| node.parent);
        while let Some(node) = at.and_then(|key| self.node_mut(key)).filter(|node| !node.starts_tasks) {
            node.starts_tasks = true;
            at = node.parent;
        }
    }

    /// Notes that a process is resolved: its memory is freed, except for what its children inherit.
    pub fn resolve(&mut self, slot: u32, belongs: Belongs) {
        let Some(node) = self.get(slot) else { return };
        let key = node.key;
        let serial = node.serial;
        *node = Node {
            key,
            serial,
            parent: node.parent,
            children: node.children,
            engine: node.engine.clone(),
            is_inner_engine: node.is_inner_engine,
            resolved: Some(Belongs { contradictions: Vec::new(), refuted: Vec::new(), ..belongs }),
            ..Node::default()
        };
        self.gone.insert(key, serial);
        self.gone_order.push_back(key);
        if self.gone_order.len() > GONE
            && let Some(oldest) = self.gone_order.pop_front()
        {
            self.gone.remove(&oldest);
        }
        self.last = None;
        self.remove_childless(key);
    }

    /// Removes a resolved process without live children, and its ancestors that become so.
    fn remove_childless(&mut self, key: Key) {
        let mut at = Some(key);
        while let Some(key) = at {
            let Some(node) = self.node(key).filter(|node| node.resolved.is_some() && node.children == 0) else { return };
            at = node.parent;
            if let Some(slot) = self.nodes.remove(&key) {
                self.slots[slot as usize] = None;
                self.free.push(slot);
            }
            if let Some(parent) = at.and_then(|parent| self.node_mut(parent)) {
                parent.children = parent.children.saturating_sub(1);
            }
        }
    }
}

impl Node {
    fn findings(&mut self, entities: &Entities) -> &[Finding] {
        let (facts, scripts) = (&self.facts, &self.scripts);
        self.findings.get_or_insert_with(|| {
            let unknown = Facts::default();
            rules::find(facts.as_ref().unwrap_or(&unknown), scripts, entities)
        })
    }

    fn decide(&mut self, above: Option<&Belongs>, engines: &[Rc<Run>], entities: &Entities) -> Belongs {
        let started_ns = self.facts.as_ref().and_then(|facts| facts.started_ns);
        let below = above.and_then(|above| above.engine.clone());
        if let Some(facts) = self.facts.as_mut().filter(|facts| facts.engine != below) {
            facts.engine = below.clone();
            self.findings = None;
        }
        let mut findings = self.findings(entities).to_vec();
        let engine = self.engine.clone().or_else(|| below.clone());
        let own = self.facts.as_ref().and_then(Facts::real_user).and_then(User::name).map(Into::into);
        let belongs = Belongs { user: own.or_else(|| above?.user.clone()), engine, ..Belongs::default() };
        let unknown = Facts::default();
        let facts = self.facts.as_ref().unwrap_or(&unknown);
        findings.retain(|finding| !engine::excludes(finding, below.as_deref(), engines, entities));
        let around = Above { user: belongs.user.as_deref(), job: above.and_then(Belongs::job_claim) };
        let mut refuted = Vec::new();
        let mut is_plausible = |finding: &Finding| {
            let why = plausible::refuted(finding, facts, around, entities);
            let is_plausible = why.is_none();
            refuted.extend(why.map(|why| (finding.clone(), why)));
            is_plausible
        };
        findings.retain(&mut is_plausible);
        let all = |wanted: fn(&Claim) -> bool| -> Vec<&Finding> { findings.iter().filter(|finding| wanted(&finding.claim)).collect() };
        let inherited = |finding: Option<&Finding>| {
            let finding = finding.filter(|finding| process_tree::inherits(started_ns, finding.from_ns))?;
            Some(Finding {
                rule: process_tree::NAME,
                from_ns: i64::MIN,
                strength: finding.strength.min(rules::Strength::Derived),
                ..finding.clone()
            })
        };
        let mut contradictions = Vec::new();
        let mut choose = |findings: &[&Finding], exclude: &dyn Fn(&Finding, &Finding) -> bool| {
            let decision = rules::decide(findings, exclude);
            match (decision.holds, &decision.against[..]) {
                (Some(holds), [against, ..]) => contradictions.push((holds.clone(), (*against).clone(), true)),
                (None, [a, b, ..]) => contradictions.push(((*a).clone(), (*b).clone(), false)),
                _ => {}
            }
            (decision.holds.cloned(), decision.holds.is_none() && !decision.against.is_empty())
        };
        let differ = |a: &Finding, b: &Finding| a.claim != b.claim;
        let (pod, _) = choose(&all(|claim| matches!(claim, Claim::Pod(_))), &differ);
        let (container, _) = choose(&all(|claim| matches!(claim, Claim::Container(_))), &differ);
        let (unit, _) = choose(&all(|claim| matches!(claim, Claim::Unit(_))), &differ);
        let (mut job, undecided) = choose(&all(|claim| matches!(claim, Claim::Job(_))), &|a, b| different_jobs(&a.claim, &b.claim));
        if let Some(finding) = &mut job {
            complete(finding, &findings);
        } else if !undecided {
            job = inherited(above.and_then(|above| above.job.as_ref()));
        }
        let text = |finding: &Option<Finding>| match finding.as_ref().map(|finding| &finding.claim) {
            Some(Claim::Pod(id) | Claim::Container(id)) => Some(id.clone()),
            _ => None,
        };
        let claim = match job.as_ref().map(|job| &job.claim) {
            Some(Claim::Job(claim)) => Some(claim.clone()),
            _ => None,
        };
        let place = Place { job: claim, pod: text(&pod), container: text(&container) };
        let mut of_place = rules::find_by_place(&place, facts, entities);
        of_place.retain(&mut is_plausible);
        let mut tasks: Vec<&Finding> = of_place.iter().collect();
        tasks.extend(all(|claim| matches!(claim, Claim::Task(_))));
        // A number that an engine reports of this very process says more than the job that it is in, where an engine can run.
        tasks.sort_by_key(|finding| of_place.iter().any(|place| std::ptr::eq(place, *finding)));
        let (mut task, undecided) = choose(&tasks, &|a, b| different_tasks(a, b, entities));
        if task.is_none() && !undecided {
            task = inherited(above.and_then(|above| above.task.as_ref()));
        }
        // Within a task of the same run nothing else is found, unless something is wrong. The tracer itself knows of its tasks which process is which, also where a
        // shell forks one of them before it becomes another (`a && b`).
        let by_tracer = |finding: &Finding| matches!(finding.claim, Claim::Task(at) if entities.tasks.get(at).engine == "flowmine");
        if let (Some(own), Some(outer)) = (&task, above.and_then(|above| above.task.as_ref()))
            && own.rule != process_tree::NAME
            && process_tree::inherits(started_ns, outer.from_ns)
            && different_tasks(own, outer, entities)
            && !by_tracer(own)
        {
            contradictions.push((own.clone(), Finding { rule: process_tree::NAME, ..outer.clone() }, true));
        }
        Belongs { job, task, pod, container, unit, contradictions, refuted, ..belongs }
    }
}

/// Ids that differ, or clusters that are both known and differ.
fn different_jobs(a: &Claim, b: &Claim) -> bool {
    match (a, b) {
        (Claim::Job(a), Claim::Job(b)) => a.id != b.id || matches!((&a.cluster, &b.cluster), (Some(a), Some(b)) if a != b),
        _ => false,
    }
}

/// Different tasks of one run; tasks of different runs can contain each other, but one guess cannot
/// mean both.
fn different_tasks(a: &Finding, b: &Finding, entities: &Entities) -> bool {
    let one_guess = a.rule == b.rule && a.strength == rules::Strength::Inferred;
    match (&a.claim, &b.claim) {
        (Claim::Task(a), Claim::Task(b)) => a != b && (one_guess || entities.tasks.get(*a).same_run(entities.tasks.get(*b))),
        _ => false,
    }
}

/// Completes a finding from weaker ones of the same job: cluster and step.
fn complete(finding: &mut Finding, all: &[Finding]) {
    let Claim::Job(job) = &mut finding.claim else { return };
    for other in all {
        if let Claim::Job(other) = &other.claim
            && other.id == job.id
        {
            job.cluster = job.cluster.take().or_else(|| other.cluster.clone());
            job.step = job.step.take().or_else(|| other.step.clone());
        }
    }
}

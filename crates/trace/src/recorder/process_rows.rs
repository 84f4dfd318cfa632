//! What is known of each live process, and its rows.

use std::collections::VecDeque;

use flowmine_schema::tables::Process;
use flowmine_schema::text::decode;
use rustc_hash::{FxHashMap, FxHashSet};

use super::origin::Origin;
use super::rows::{json_array, json_object};
use crate::options::CommandLines;
use crate::record::{Counters, ProcessChange, ProcessFacts, ProcessKey, ProcessNews};

/// Maximum number of remembered processes that have ended.
const GONE: usize = 1 << 16;

/// Maximum number of earlier programs of a process that are recorded.
const EARLIER: usize = 16;

struct Known {
    row: Process<'static>,
    /// What it was before, see `processes.earlier_programs`.
    earlier: Vec<serde_json::Value>,
    origin: Origin,
    /// Something changed since the row was last written.
    dirty: bool,
}

/// The live processes, and the rows of those that ended since the last flush.
#[derive(Default)]
pub(super) struct Processes {
    live: FxHashMap<ProcessKey, Known>,
    ended: Vec<Process<'static>>,
    /// Those that ended, the last ones: what they did can be reported after their end (sums are,
    /// nearly always).
    gone: FxHashSet<ProcessKey>,
    gone_in_order: VecDeque<ProcessKey>,
    generations: u64,
    start_precision_ns: i64,
    users: Users,
    command_lines: Option<CommandLines>,
}

/// Names of users by their ids, each asked for once; none of those that have none.
#[derive(Default)]
struct Users(FxHashMap<u32, Option<String>>);

impl Users {
    fn name(&mut self, uid: u32) -> Option<&str> {
        let ask = || nix::unistd::User::from_uid(nix::unistd::Uid::from_raw(uid)).ok().flatten().map(|user| user.name);
        self.0.entry(uid).or_insert_with(ask).as_deref()
    }

    /// Names of users, or their ids where they have none, as a JSON array with null for one who is
    /// not known.
    fn list(&mut self, uids: &[Option<u32>]) -> String {
        let users = uids.iter().map(|&uid| match uid {
            Some(uid) => self.name(uid).map_or_else(|| uid.into(), serde_json::Value::from),
            None => serde_json::Value::Null,
        });
        serde_json::Value::Array(users.collect()).to_string()
    }
}

impl Processes {
    /// `start_precision_ns`: how exact the backend knows when a process started.
    pub(super) fn new(start_precision_ns: i64, command_lines: CommandLines) -> Self {
        Processes { start_precision_ns, command_lines: Some(command_lines), ..Processes::default() }
    }

    fn entry(&mut self, key: ProcessKey, first_seen: &'static str, host: &str, trace_ns: i64, boot_offset_ns: i64) -> &mut Known {
        let (generations, precision) = (&mut self.generations, self.start_precision_ns);
        self.live.entry(key).or_insert_with(|| {
            *generations += 1;
            let row = Process {
                host: host.to_owned().into(),
                trace_ns,
                pid: key.pid as i32,
                process_start_ns: Some(key.start_boot_ns as i64),
                start_precision_ns: Some(precision),
                started_ns: Some((key.start_boot_ns as i64).saturating_add(boot_offset_ns)),
                first_seen: first_seen.into(),
                ..Process::default()
            };
            Known { row, earlier: Vec::new(), origin: Origin::default(), dirty: true }
        })
    }

    /// An operation of this process arrived: it exists, even when nothing else is known of it.
    pub(super) fn seen(&mut self, key: ProcessKey, _at_ns: i64, host: &str, trace_ns: i64, boot_offset_ns: i64) {
        if !self.live.contains_key(&key) && !self.gone.contains(&key) {
            self.entry(key, "operation", host, trace_ns, boot_offset_ns);
        }
    }

    pub(super) fn take(&mut self, news: &ProcessNews, at_ns: i64, host: &str, trace_ns: i64, boot_offset_ns: i64) {
        let first_seen = match news.change {
            ProcessChange::Running => "running",
            ProcessChange::Fork => "fork",
            _ => "operation",
        };
        if matches!(news.change, ProcessChange::Update) && self.gone.contains(&news.process) {
            return;
        }
        let mut name = |uid: Option<u32>| uid.map(|uid| self.users.name(uid).map(|name| name.to_owned().into()));
        let (user, real_user) = (name(news.facts.uid), name(news.facts.real_uid));
        let parent = news.facts.parent.and_then(|parent| self.live.get(&parent)).map(|parent| parent.origin.clone());
        let command_lines = self.command_lines.unwrap_or(CommandLines::None);
        let within_ns = self.start_precision_ns.saturating_sub(1).max(0);
        let known = self.entry(news.process, first_seen, host, trace_ns, boot_offset_ns);
        known.dirty = true;
        if let Some(user) = user {
            known.row.user = user;
        }
        if known.row.first_seen == "operation" && first_seen != "operation" {
            // Its operations came before the news of it.
            known.row.first_seen = first_seen.into();
        }
        if news.change == ProcessChange::Fork {
            // A clock of ticks puts it before what its parent did in the same tick (it became another
            // program, or another child ended): the report of the fork comes after that.
            known.row.started_ns = known.row.started_ns.map(|start| at_ns.clamp(start, start.saturating_add(within_ns)));
        }
        if news.change == ProcessChange::Exec {
            known.leave_program();
        }
        // A program may change its own user afterwards, which is not who started it.
        if news.change != ProcessChange::Update
            && let Some(real_user) = real_user
        {
            (known.row.real_uid, known.row.real_user) = (news.facts.real_uid.map(i64::from), real_user);
        }
        known.changes_origin(news, parent.as_ref());
        facts(&mut known.row, &news.facts, command_lines);
        counters(&mut known.row, &news.counters);
        match news.change {
            ProcessChange::Exec => {
                known.row.exec_ns = Some(at_ns);
                known.row.execs += 1;
            }
            ProcessChange::Exit(status) => {
                known.row.exit_ns = Some(at_ns);
                if let Some(status) = status {
                    // wait(2): the low seven bits are the signal, the next byte the code.
                    match status & 0x7f {
                        0 => known.row.exit_code = Some((status >> 8) & 0xff),
                        signal => known.row.exit_signal = Some(signal),
                    }
                }
                known.row.as_of_ns = at_ns;
                if let Some(known) = self.live.remove(&news.process) {
                    self.ended.push(known.row);
                    self.remember(news.process);
                }
            }
            ProcessChange::Running | ProcessChange::Fork | ProcessChange::Update => {}
        }
        if news.facts.environment.is_some()
            && let Some(known) = self.live.get_mut(&news.process)
        {
            let users = known.origin.users();
            known.row.environment_users = (!users.is_empty()).then(|| self.users.list(&users).into());
        }
    }

    fn remember(&mut self, gone: ProcessKey) {
        self.gone.insert(gone);
        self.gone_in_order.push_back(gone);
        if self.gone_in_order.len() > GONE
            && let Some(oldest) = self.gone_in_order.pop_front()
        {
            self.gone.remove(&oldest);
        }
    }

    pub(super) fn unwritten(&self) -> bool {
        !self.ended.is_empty() || self.live.values().any(|known| known.dirty)
    }

    /// Gives the rows of those that ended and of those of which something new is known, in order of
    /// start and number.
    pub(super) fn write(&mut self, now_ns: i64, each: impl FnMut(Process<'static>)) {
        let mut rows = std::mem::take(&mut self.ended);
        for known in self.live.values_mut().filter(|known| known.dirty) {
            known.dirty = false;
            rows.push(Process { as_of_ns: now_ns, ..known.row.clone() });
        }
        rows.sort_by_key(|row| (row.process_start_ns, row.started_ns, row.pid, row.as_of_ns));
        rows.into_iter().for_each(each);
    }

    /// The trace ends: what still runs gets a last row that says until when it was watched.
    pub(super) fn finish(&mut self) {
        for known in self.live.values_mut() {
            known.dirty = true;
        }
    }

    pub(super) fn generations(&self) -> u64 {
        self.generations
    }
}

impl Known {
    fn changes_origin(&mut self, news: &ProcessNews, parent: Option<&Origin>) {
        let real_uid = news.facts.real_uid;
        match news.change {
            // Where a process is seen late, its program comes with the news of it.
            ProcessChange::Fork if news.facts.executable.is_none() => self.origin = Origin::forked(parent, real_uid),
            ProcessChange::Fork | ProcessChange::Running => self.origin = Origin::running(parent, real_uid),
            ProcessChange::Exec => self.origin.begins_program(real_uid),
            ProcessChange::Update | ProcessChange::Exit(_) => {}
        }
        if let Some(pairs) = &news.facts.environment {
            self.origin.has_environment(pairs, news.facts.seen_late);
        }
    }

    /// It becomes another program: what is known of the one that it was goes to the earlier ones.
    fn leave_program(&mut self) {
        let row = &mut self.row;
        let (executable, command_line, work_dir) = (row.executable.take(), row.command_line.take(), row.work_dir.take());
        let cut = std::mem::take(&mut row.command_line_cut);
        let (real_uid, real_user) = (row.real_uid, row.real_user.clone());
        if executable.is_none() && command_line.is_none() || self.earlier.len() >= EARLIER {
            return;
        }
        let mut program = serde_json::Map::new();
        let mut put = |name: &str, value: Option<serde_json::Value>| program.extend(value.map(|value| (name.to_owned(), value)));
        put("exec_ns", row.exec_ns.map(Into::into));
        put("executable", executable.map(Into::into));
        put("command_line_cut", command_line.is_some().then(|| cut.into()));
        put("command_line", command_line.and_then(|line| serde_json::from_str(&line).ok()));
        put("work_dir", work_dir.map(Into::into));
        put("real_user", real_user.map_or_else(|| real_uid.map(Into::into), |name| Some(name.into())));
        self.earlier.push(program.into());
        row.earlier_programs = serde_json::to_string(&self.earlier).ok().map(Into::into);
    }
}

fn facts(row: &mut Process<'static>, facts: &ProcessFacts, command_lines: CommandLines) {
    fn set<T>(field: &mut Option<T>, value: Option<T>) {
        if value.is_some() {
            *field = value;
        }
    }
    let text = |bytes: &Option<Vec<u8>>| bytes.as_deref().map(|bytes| decode(bytes).into_owned().into());
    set(&mut row.parent_pid, facts.parent.map(|parent| parent.pid as i32));
    set(&mut row.parent_start_ns, facts.parent.map(|parent| parent.start_boot_ns as i64));
    set(&mut row.container_pid, facts.container_pid.map(|pid| pid as i32));
    set(&mut row.uid, facts.uid.map(i64::from));
    set(&mut row.gid, facts.gid.map(i64::from));
    set(&mut row.cgroup_id, facts.cgroup_id.map(|id| id as i64));
    set(&mut row.cgroup_path, text(&facts.cgroup_path));
    let v1 = facts.cgroup_v1.as_ref().map(|paths| json_object(paths.iter().map(|(name, path)| (name.as_str(), path.as_slice()))));
    set(&mut row.cgroup_v1, v1.map(Into::into));
    set(&mut row.executable, text(&facts.executable));
    set(&mut row.work_dir, text(&facts.work_dir));
    if let Some(arguments) = &facts.arguments {
        let (kept, cut) = command_lines.of(arguments);
        row.command_line_cut = kept.is_some() && (cut || facts.arguments_cut);
        row.command_line = kept.map(|kept| json_array(&kept).into());
    }
    let environment =
        facts.environment.as_ref().map(|pairs| json_object(pairs.iter().map(|(name, value)| (name.as_str(), value.as_slice()))));
    set(&mut row.environment, environment.map(Into::into));
}

fn counters(row: &mut Process<'static>, counters: &Counters) {
    fn set(field: &mut Option<i64>, value: Option<u64>) {
        if let Some(value) = value {
            *field = Some(i64::try_from(value).unwrap_or(i64::MAX));
        }
    }
    set(&mut row.utime_ns, counters.cpu.map(|cpu| cpu.user_ns));
    set(&mut row.stime_ns, counters.cpu.map(|cpu| cpu.system_ns));
    set(&mut row.run_delay_ns, counters.run_delay_ns);
    set(&mut row.rchar_bytes, counters.rchar_bytes);
    set(&mut row.wchar_bytes, counters.wchar_bytes);
    set(&mut row.read_calls, counters.read_calls);
    set(&mut row.write_calls, counters.write_calls);
    set(&mut row.read_bytes, counters.read_bytes);
    set(&mut row.write_bytes, counters.write_bytes);
    set(&mut row.cancelled_write_bytes, counters.cancelled_write_bytes);
    let directories = counters.directories.as_ref();
    set(&mut row.mkdir_calls, directories.map(|calls| calls.mkdir));
    set(&mut row.rmdir_calls, directories.map(|calls| calls.rmdir));
    set(&mut row.symlink_calls, directories.map(|calls| calls.symlink));
    set(&mut row.readdir_calls, directories.map(|calls| calls.readdir));
    set(&mut row.stat_calls, directories.and_then(|calls| calls.stat));
}

//! Actions of a traced script that the command lines of its commands do not contain: redirections,
//! pipes, here-documents, and what the script's own process wrote and changed.
//!
//! In go the tables `processes`, `io_events` and `io_totals` of one trace with commands as tasks;
//! out come sentences in [`RunTask::missing`](flowmine_activity_log::RunTask::missing), `doubts`
//! and [`RunGraph::missing`].
//!
//! A trace records no redirection. It is inferred where a process opens a file before it becomes
//! its program, or uses a file that another process opened. A trace records no pipe either. It is
//! inferred where a process called read(2) more often than its reads of files and its execution
//! explain, and another process at the same time wrote bytes that went into no file. Variables
//! (`A=b command`, `export`) leave no trace. A here-document is a pipe. In dash, the shell itself
//! writes into it; in bash, the process that becomes the command does.

mod here_documents;
mod left_behind;
mod namings;
mod own_changes;
mod renames;
mod touches;

use std::collections::BTreeMap;

use flowmine_activity_log::{RunGraph, TracedProcess};
use flowmine_dataset::{Dataset, DatasetError};
use flowmine_schema::tables::{IoEvent, IoTotal, Process};
use rustc_hash::{FxHashMap, FxHashSet};

use self::renames::Renames;

flowmine_schema::columns! {
    /// What is read of a process.
    struct ProcessRow of Process {
        host, trace_ns, pid, process_start_ns, start_precision_ns, as_of_ns, started_ns, parent_pid, parent_start_ns,
        executable, command_line, work_dir, earlier_programs, exec_ns, execs, exit_ns, read_calls, wchar_bytes,
        mkdir_calls, rmdir_calls, symlink_calls,
    }
}

flowmine_schema::columns! {
    /// What is read of an operation.
    struct Operation of IoEvent { host, trace_ns, pid, process_start_ns, op, via, start_ns, handle, result, flags, path }
}

flowmine_schema::columns! {
    /// What is read of operations that were added up.
    struct Sums of IoTotal { host, trace_ns, pid, process_start_ns, handle, read_calls, write_bytes }
}

/// Process number and start, which identify a process within a trace.
type Key = (i32, Option<i64>);

/// Calls of read(2) that the kernel itself makes for a program that it executes: the head of the
/// file, its program headers, the name of its loader, and the loader's head and program headers.
const READS_OF_EXEC: i64 = 5;

/// A process that reads a pipe may be forked so long after its writer has ended, in nanoseconds: what
/// was written stays in the pipe, and the shell was not scheduled meanwhile.
const AFTER_WRITER_NS: i64 = 50_000_000;

/// What flowmine's own child writes into a pipe before it becomes the traced command, in bytes.
const HANDSHAKE_BYTES: i64 = 4;

#[derive(Default)]
struct Traced {
    as_of_ns: i64,
    parent: Option<Key>,
    forked_ns: Option<i64>,
    /// By how much that can be too early, in nanoseconds.
    precision_ns: i64,
    first_exec_ns: Option<i64>,
    last_exec_ns: Option<i64>,
    exit_ns: Option<i64>,
    execs: i64,
    /// Whether it was another program before it was traced.
    forked_by_tracer: bool,
    /// Whether the executed file looks like a script: then the kernel reads the head of the script,
    /// too.
    script: bool,
    /// Paths of the programs that it became, the last one last.
    programs: Vec<String>,
    /// The words with which it became the last one, and the directory in which.
    words: Vec<String>,
    work_dir: Option<String>,
    /// How often it called mkdir(2), rmdir(2) and symlink(2); `None` where that was not counted.
    naming_calls: [Option<i64>; 3],
    /// Its own and its children's calls and bytes, of whatever they read and wrote.
    read_calls: Option<i64>,
    written_bytes: Option<i64>,
    /// Its own calls and bytes that were traced.
    traced_reads: i64,
    traced_bytes: i64,
}

/// Who opened a file, and when.
#[derive(Clone)]
struct Opened {
    by: Key,
    at_ns: i64,
    path: String,
}

/// Finds the names that written files were given later, and what the commands of a traced script
/// lack. Of other runs every trace of the dataset counts, since their tasks may have run anywhere.
///
/// # Errors
/// When the dataset cannot be read.
pub fn find(dataset: &Dataset, run: &mut RunGraph) -> Result<(), DatasetError> {
    let Some(of) = run.tasks.iter().find_map(|task| task.process.clone()) else {
        let mut renames = Renames::new(run);
        namings::each(dataset, None, |path, row| renames.see(path, row))?;
        renames.finish(run);
        return Ok(());
    };
    let mut script = Script::read(dataset, &of, run)?;
    script.set_times(run);
    script.read_opens(dataset, &of, run)?;
    script.read_uses(dataset, &of, run)?;
    script.find_pipes(run);
    script.find_here_documents(run);
    script.find_replaced(run);
    script.find_descriptors(run);
    script.find_own_changes(dataset, &of, run)?;
    script.find_touches(dataset, &of, run)?;
    script.find_left_behind(dataset, &of, run)?;
    for task in &mut run.tasks {
        task.missing.sort();
        task.missing.dedup();
        task.doubts.sort();
        task.doubts.dedup();
    }
    run.missing.sort();
    run.missing.dedup();
    Ok(())
}

struct Script {
    processes: BTreeMap<Key, Traced>,
    /// The process of each task, by the task's place in the run.
    roots: Vec<Option<Key>>,
    /// To which task a process belongs; the others are the script's.
    owners: FxHashMap<Key, usize>,
    /// The process that runs the script.
    shell: Option<Key>,
    opened: FxHashMap<i64, Opened>,
    /// The open files of which the trace shows the opening.
    seen_opening: FxHashSet<i64>,
}

impl Script {
    fn read(dataset: &Dataset, of: &TracedProcess, run: &RunGraph) -> Result<Self, DatasetError> {
        let mut processes: BTreeMap<Key, Traced> = BTreeMap::new();
        dataset.read::<ProcessRow<'static>, DatasetError>(|row| {
            if row.host == of.host && row.trace_ns == of.trace_ns {
                let known =
                    processes.entry((row.pid, row.process_start_ns)).or_insert_with(|| Traced { as_of_ns: i64::MIN, ..Traced::default() });
                if known.as_of_ns <= row.as_of_ns {
                    *known = Traced::of(&row);
                }
            }
            Ok(())
        })?;
        let root = |process: &TracedProcess| {
            let of_number = processes.range((process.pid, None)..).take_while(|(key, _)| key.0 == process.pid);
            of_number.filter(|(_, traced)| traced.forked_ns == process.forked_ns).map(|(key, _)| *key).next()
        };
        let roots: Vec<Option<Key>> = run.tasks.iter().map(|task| task.process.as_ref().and_then(root)).collect();
        let by_root: FxHashMap<Key, usize> = roots.iter().enumerate().filter_map(|(at, key)| Some(((*key)?, at))).collect();
        let above = |key: &Key| std::iter::successors(Some(*key), |key| processes.get(key)?.parent).take(processes.len() + 1);
        let owners = processes.keys().filter_map(|key| Some((*key, above(key).find_map(|key| by_root.get(&key).copied())?))).collect();
        let shell = roots.iter().flatten().next().and_then(|key| above(key).filter(|key| processes.contains_key(key)).last());
        Ok(Self { processes, roots, owners, shell, opened: FxHashMap::default(), seen_opening: FxHashSet::default() })
    }

    /// Whether a process is of the script: one that runs it, or a part of it.
    fn is_of_script(&self, key: &Key) -> bool {
        !self.owners.contains_key(key) && self.shell.is_some_and(|shell| self.descends(key, &shell))
    }

    fn descends(&self, key: &Key, from: &Key) -> bool {
        std::iter::successors(Some(*key), |key| self.processes.get(key)?.parent).take(self.processes.len() + 1).any(|key| key == *from)
    }

    fn first_exec(&self, key: &Key) -> Option<i64> {
        self.processes.get(key)?.first_exec_ns
    }

    /// A command does something from when it became its program: that is known to the nanosecond, where
    /// it was seen, and when it was forked may be known to a tick.
    fn set_times(&self, run: &mut RunGraph) {
        for (task, root) in run.tasks.iter_mut().zip(&self.roots) {
            if let Some(exec) = root.and_then(|root| self.first_exec(&root)) {
                (task.started_ns, task.precision_ns) = (Some(exec), 0);
            }
        }
    }

    /// Files that the script opens for its commands, or writes itself.
    fn read_opens(&mut self, dataset: &Dataset, of: &TracedProcess, run: &mut RunGraph) -> Result<(), DatasetError> {
        let begun = self.shell.and_then(|shell| self.first_exec(&shell)).unwrap_or(i64::MIN);
        dataset.read::<Operation<'static>, DatasetError>(|row| {
            if row.host != of.host || row.trace_ns != of.trace_ns || row.op != "open" || row.result.is_some_and(|result| result < 0) {
                return Ok(());
            }
            self.seen_opening.extend(row.handle);
            let by = (row.pid, row.process_start_ns);
            let path = row.path.as_deref().unwrap_or("a file").to_owned();
            let writes = row.flags.is_some_and(|flags| flags & 0o3 != 0);
            match self.owners.get(&by) {
                Some(&task) if self.is_before_program(task, &by, row.start_ns) => {
                    run.tasks[task].missing.push(redirection(&path, writes));
                }
                Some(_) => {}
                None if writes && row.start_ns >= begun && self.is_of_script(&by) => {
                    run.missing.push(format!("writes {path} by a redirection of the shell"));
                }
                None => {}
            }
            if let Some(handle) = row.handle.filter(|_| row.start_ns >= begun) {
                self.opened.insert(handle, Opened { by, at_ns: row.start_ns, path });
            }
            Ok(())
        })
    }

    /// Whether a task's own process had not become its program yet.
    fn is_before_program(&self, task: usize, by: &Key, at_ns: i64) -> bool {
        self.roots[task] == Some(*by) && self.first_exec(by).is_none_or(|exec| at_ns < exec)
    }

    /// Files that tasks use and did not open; and what they read and wrote at all.
    fn read_uses(&mut self, dataset: &Dataset, of: &TracedProcess, run: &mut RunGraph) -> Result<(), DatasetError> {
        let inherited = |script: &Self, run: &mut RunGraph, key: &Key, handle: Option<i64>, writes: bool| {
            let (Some(&task), Some(handle)) = (script.owners.get(key), handle) else { return };
            let Some(opened) = script.opened.get(&handle) else {
                // What goes to the standard output of the run needs no file of it.
                if !writes && !script.seen_opening.contains(&handle) {
                    run.tasks[task].missing.push("a redirection from a file that was open before the run".to_owned());
                }
                return;
            };
            let own = script.owners.get(&opened.by) == Some(&task) && !script.is_before_program(task, &opened.by, opened.at_ns);
            if !own {
                run.tasks[task].missing.push(redirection(&opened.path, writes));
            }
        };
        dataset.read::<Operation<'static>, DatasetError>(|row| {
            if row.host != of.host || row.trace_ns != of.trace_ns || matches!(&*row.op, "open" | "close") {
                return Ok(());
            }
            let key = (row.pid, row.process_start_ns);
            if !matches!(&*row.op, "fault") {
                inherited(self, run, &key, row.handle, matches!(&*row.op, "write" | "truncate" | "allocate"));
            }
            if let Some(traced) = self.processes.get_mut(&key) {
                // These two are counted by the kernel as calls; what io_uring and splice move is not.
                let counted = matches!(&*row.via, "call" | "copy_file_range" | "sendfile");
                traced.traced_reads += i64::from(row.op == "read" && counted);
                let bytes = row.result.filter(|bytes| *bytes > 0 && row.op == "write" && counted);
                flowmine_sums::add_to(&mut traced.traced_bytes, bytes.unwrap_or(0));
            }
            Ok(())
        })?;
        dataset.read::<Sums<'static>, DatasetError>(|row| {
            if row.host != of.host || row.trace_ns != of.trace_ns {
                return Ok(());
            }
            let key = (row.pid, row.process_start_ns);
            inherited(self, run, &key, row.handle, row.write_bytes > 0);
            if let Some(traced) = self.processes.get_mut(&key) {
                flowmine_sums::add_to(&mut traced.traced_reads, row.read_calls);
                flowmine_sums::add_to(&mut traced.traced_bytes, row.write_bytes);
            }
            Ok(())
        })
    }

    /// The bytes that a process and its children wrote into no traced file.
    fn written_elsewhere(&self, key: &Key) -> i64 {
        let traced = flowmine_sums::total(self.below(key).map(|traced| traced.traced_bytes));
        self.processes.get(key).and_then(|traced| traced.written_bytes).unwrap_or(0).saturating_sub(traced)
    }

    fn below<'s>(&'s self, key: &'s Key) -> impl Iterator<Item = &'s Traced> {
        self.processes.iter().filter(|(other, _)| self.descends(other, key)).map(|(_, traced)| traced)
    }

    /// The bytes that the shell itself wrote into no file: here-documents, what it prints, what its
    /// own parts write into pipes.
    fn written_by_shell(&self) -> i64 {
        let Some((key, shell)) = self.shell.and_then(|key| Some((key, self.processes.get(&key)?))) else { return 0 };
        let of_tasks = flowmine_sums::total(self.roots.iter().flatten().map(|root| self.written_elsewhere(root).max(0)));
        let handshake = if shell.forked_by_tracer { HANDSHAKE_BYTES } else { 0 };
        self.written_elsewhere(&key).saturating_sub(of_tasks).saturating_sub(handshake)
    }

    /// The number of times that a task read what is no file, as far as that is known: more calls than
    /// reads of files and those of the kernel for its programs.
    fn reads_elsewhere(&self, root: &Key) -> Option<i64> {
        let calls = self.processes.get(root)?.read_calls?;
        Some(
            self.below(root)
                .fold(calls, |calls, traced| calls - traced.traced_reads - (READS_OF_EXEC + i64::from(traced.script)) * traced.execs),
        )
    }

    /// Tasks that read what is no file, where the script has written such.
    fn find_pipes(&self, run: &mut RunGraph) {
        let of_shell = self.written_by_shell();
        for task in 0..run.tasks.len() {
            if run.tasks[task].process.is_none() {
                continue;
            }
            let reads = self.roots[task].and_then(|root| Some((root, self.reads_elsewhere(&root)?)));
            let Some((root, reads)) = reads else {
                run.tasks[task].doubts.push("its input other than files is not known, so a pipe into it would be missing".to_owned());
                continue;
            };
            if reads <= 0 {
                continue;
            }
            let Some(reader) = self.processes.get(&root) else { continue };
            let writers = self.processes.iter().filter(|(key, writer)| {
                self.is_in_script(key) && self.roots[task] != Some(**key) && !self.descends(&root, key) && self.is_beside(reader, writer)
            });
            let mut writers = writers.filter(|(key, _)| self.written_elsewhere(key) > 0).peekable();
            let runs_when = |one: &Traced, other: &Traced| {
                one.exit_ns.zip(other.forked_ns).is_some_and(|(end, begin)| end > begin.saturating_add(other.precision_ns))
            };
            let sure = |writer: &Traced| runs_when(writer, reader) && (reader.exit_ns.is_none() || runs_when(reader, writer));
            let named = |key: &Key| self.owners.get(key).map_or("the shell", |at| run.tasks[*at].name.as_str()).to_owned();
            let wrote_before = !self.shell_is_dash() && self.written_elsewhere(&root) > 0;
            if writers.peek().is_none() && of_shell <= 0 && !wrote_before {
                continue;
            }
            match writers.find(|(_, writer)| sure(writer)).map(|(key, _)| named(key)) {
                Some(writer) => run.tasks[task].missing.push(format!("a pipe, into which {writer} wrote")),
                // Programs read /proc and /dev too, which are no files of a trace.
                None => run.tasks[task].doubts.push("it may have read a pipe or a here-document, which would be missing".to_owned()),
            }
        }
    }

    /// Whether one process can have written what another read meanwhile.
    fn is_beside(&self, reader: &Traced, writer: &Traced) -> bool {
        let begins_before = writer.forked_ns.zip(reader.exit_ns).is_none_or(|(begin, end)| begin < end);
        begins_before && writer.exit_ns.zip(reader.forked_ns).is_none_or(|(end, begin)| begin < end.saturating_add(AFTER_WRITER_NS))
    }

    /// Whether a process is a task's own, or one that the shell forked for itself.
    fn is_in_script(&self, key: &Key) -> bool {
        self.shell != Some(*key) && (self.roots.contains(&Some(*key)) || self.is_of_script(key))
    }

    /// A shell that becomes its last command itself: that command is no task.
    fn find_replaced(&self, run: &mut RunGraph) {
        let Some(shell) = self.shell.and_then(|shell| self.processes.get(&shell)) else { return };
        let first_task = self.roots.iter().flatten().filter_map(|root| self.first_exec(root)).min();
        if shell.last_exec_ns.zip(first_task).is_some_and(|(exec, first)| exec > first) {
            run.missing.push("becomes its last command in its own place (exec, or sh -c)".to_owned());
        }
    }
}

impl Traced {
    fn of(row: &ProcessRow<'_>) -> Self {
        let earlier: Vec<serde_json::Value> = serde_json::from_str(row.earlier_programs.as_deref().unwrap_or("[]")).unwrap_or_default();
        let words: Vec<String> = serde_json::from_str(row.command_line.as_deref().unwrap_or("[]")).unwrap_or_default();
        Self {
            as_of_ns: row.as_of_ns,
            parent: row.parent_pid.map(|pid| (pid, row.parent_start_ns)),
            forked_ns: row.started_ns,
            precision_ns: row.start_precision_ns.unwrap_or(0),
            first_exec_ns: earlier.iter().find_map(|program| program["exec_ns"].as_i64()).or(row.exec_ns),
            last_exec_ns: row.exec_ns,
            exit_ns: row.exit_ns,
            execs: i64::from(row.execs),
            forked_by_tracer: earlier.first().is_some_and(|program| program["exec_ns"].is_null()),
            script: words.len() > 1 && words[0].starts_with('/'),
            programs: earlier
                .iter()
                .filter(|program| program["exec_ns"].is_i64())
                .filter_map(|program| program["executable"].as_str())
                .chain(row.executable.as_deref().filter(|_| row.exec_ns.is_some()))
                .map(str::to_owned)
                .collect(),
            work_dir: row.work_dir.as_deref().map(str::to_owned),
            naming_calls: [row.mkdir_calls, row.rmdir_calls, row.symlink_calls],
            words,
            read_calls: row.read_calls,
            written_bytes: row.wchar_bytes,
            traced_reads: 0,
            traced_bytes: 0,
        }
    }
}

fn redirection(path: &str, writes: bool) -> String {
    format!("a redirection {} {path}", if writes { "to" } else { "from" })
}

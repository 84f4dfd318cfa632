//! What a trace says of the tasks' programs themselves, found by their command lines: before any
//! rule of attribution, the traced bytes are right.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use flowmine_schema::tables::{IoEvent, Process};

use super::each;
use super::truth::{Number, Truth};
use super::workflow::{Access, Attempt};

/// A process generation.
pub type Key = (i32, Option<i64>);

/// The last row of each process.
pub fn processes(dataset: &Path) -> HashMap<Key, Process<'static>> {
    let mut processes: HashMap<Key, Process<'static>> = HashMap::new();
    each::<Process<'static>>(dataset, |row| {
        let key = (row.pid, row.process_start_ns);
        if processes.get(&key).is_none_or(|known| known.as_of_ns <= row.as_of_ns) {
            processes.insert(key, row.into_owned());
        }
    });
    processes
}

/// The task that a process runs as `work`.
fn task(process: &Process<'_>) -> Option<String> {
    let words: Vec<String> = serde_json::from_str(process.command_line.as_deref()?).ok()?;
    (words.first()?.ends_with("/work")).then(|| words.get(2).cloned())?
}

/// Which attempt each process of a task's program belongs to: a program in the order in which they
/// started, and the children that it forks, which have no command line of their own.
pub fn programs(processes: &HashMap<Key, Process<'static>>) -> HashMap<Key, Attempt> {
    let mut started: Vec<(Option<i64>, Key, String)> = Vec::new();
    started.extend(processes.iter().filter_map(|(key, process)| Some((process.process_start_ns, *key, task(process)?))));
    started.sort();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut programs = HashMap::new();
    for (_, key, task) in started {
        let count = counts.entry(task.clone()).or_default();
        *count += 1;
        programs.insert(key, (task, *count));
    }
    for (key, process) in processes {
        let parent = process.parent_pid.and_then(|pid| programs.get(&(pid, process.parent_start_ns)));
        if let (0, Some(attempt)) = (process.execs, parent.cloned()) {
            programs.insert(*key, attempt);
        }
    }
    programs
}

#[derive(Default)]
struct Sum {
    access: Access,
    read: Vec<bool>,
    written: Vec<bool>,
}

impl Sum {
    fn add(&mut self, row: &IoEvent<'_>) {
        let transfer = |marks: &mut Vec<bool>, calls: &mut i64, bytes: &mut i64| {
            let done = row.result.unwrap_or_else(|| panic!("{row:?}"));
            let at = row.offset.unwrap_or_else(|| panic!("{row:?}")) as usize;
            (*calls, *bytes) = (*calls + 1, *bytes + done);
            let end = at + done as usize;
            if marks.len() < end {
                marks.resize(end, false);
            }
            marks[at..end].fill(true);
        };
        match row.op.as_ref() {
            "open" if row.result == Some(0) => self.access.opens += 1,
            "read" => transfer(&mut self.read, &mut self.access.read_calls, &mut self.access.read_bytes),
            "write" => transfer(&mut self.written, &mut self.access.write_calls, &mut self.access.written_bytes),
            _ => {}
        }
    }

    fn access(self) -> Access {
        let count = |marks: &[bool]| marks.iter().filter(|mark| **mark).count() as i64;
        Access { unique_read_bytes: count(&self.read), unique_written_bytes: count(&self.written), ..self.access }
    }
}

/// Compares the rows of the tasks' programs with what they told. `readers` may read the tasks'
/// files as well (command lines that hold one of these).
pub fn check(dataset: &Path, truth: &Truth, readers: &[&str]) {
    let processes = processes(dataset);
    let programs = programs(&processes);
    for (key, attempt) in &programs {
        let process = &processes[key];
        if process.execs > 0 {
            let pid = process.container_pid.unwrap_or(process.pid);
            assert_eq!(Some(pid), truth.get(attempt).map(|told| told.pid), "{attempt:?} told another pid than {process:?}");
        }
    }
    let mut sums: BTreeMap<Attempt, BTreeMap<Number, Sum>> = BTreeMap::new();
    // Numbers of deleted files are used again, so a file of others is one of the tasks' only if it was opened by that name.
    let mut opened: HashMap<Option<i64>, String> = HashMap::new();
    let mut strangers: BTreeMap<(String, String), i64> = BTreeMap::new();
    each::<IoEvent<'static>>(dataset, |row| {
        let (Some(device), Some(inode)) = (row.device, row.inode) else { return };
        let number = (device, inode);
        let key = (row.pid, row.process_start_ns);
        match programs.get(&key) {
            Some(attempt) if truth.get(attempt).is_some_and(|told| told.files.contains_key(&number)) => {
                sums.entry(attempt.clone()).or_default().entry(number).or_default().add(&row);
            }
            Some(_) => {}
            None => {
                if let ("open", Some(path)) = (row.op.as_ref(), &row.path) {
                    opened.insert(row.handle, path.to_string());
                }
                let named = truth.values().find_map(|told| told.files.get(&number));
                let known = |name: &str| opened.get(&row.handle).is_none_or(|path| path.rsplit('/').next() == Some(name));
                if let (Some((name, _)), "read" | "write") = (named, row.op.as_ref())
                    && known(name)
                {
                    let who = processes.get(&key).and_then(|p| p.command_line.as_deref()).unwrap_or("?").to_owned();
                    *strangers.entry((name.clone(), who)).or_default() += row.result.unwrap_or(0);
                }
            }
        }
    });
    for (attempt, told) in truth {
        let mut traced = sums.remove(attempt).unwrap_or_default();
        for (number, (name, access)) in &told.files {
            let seen = traced.remove(number).unwrap_or_default().access();
            assert_eq!((attempt, name, &seen), (attempt, name, access), "traced, told");
        }
    }
    strangers.retain(|(_, who), _| !readers.iter().any(|reader| who.contains(reader)));
    assert!(strangers.is_empty(), "others read or wrote the tasks' files: {strangers:#?}");
}

//! What the tasks' own program told (`tests/workflows/work.c`).

use std::collections::BTreeMap;
use std::path::Path;

use super::workflow::{Access, Attempt, Known};

/// A file as `stat(2)` tells it apart.
pub type Number = (i64, i64);

/// What one attempt told.
#[derive(Debug, Default)]
pub struct Told {
    /// The process, as it sees itself.
    pub pid: i32,
    pub files: BTreeMap<Number, (String, Access)>,
}

/// What all told, by attempt: attempts at a task tell one after the other.
pub type Truth = BTreeMap<Attempt, Told>;

/// Reads the file that the tasks wrote.
pub fn read(file: &Path) -> Truth {
    let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let mut truth = Truth::new();
    let mut attempts: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in text.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [task, pid, name, rest @ ..] = fields.as_slice() else { panic!("{line}") };
        let numbers: Vec<i64> = rest.iter().map(|field| field.parse().unwrap_or_else(|error| panic!("{line}: {error}"))).collect();
        let [device, inode, opens, read_calls, read_bytes, unique_read_bytes, write_calls, written_bytes, unique_written_bytes] =
            numbers[..]
        else {
            panic!("{line}")
        };
        let access = Access { opens, read_calls, read_bytes, unique_read_bytes, write_calls, written_bytes, unique_written_bytes };
        // A program tells all at once, so a file that it names for the second time was named by the next.
        let of_task = attempts.entry(task).or_default();
        let told = (truth.get(&((*task).to_owned(), of_task.len())), of_task.last());
        if !matches!(told, (Some(told), Some(last)) if last == pid && !told.files.contains_key(&(device, inode))) {
            of_task.push(pid);
        }
        let told = truth.entry(((*task).to_owned(), of_task.len())).or_default();
        told.pid = pid.parse().unwrap_or_else(|error| panic!("{line}: {error}"));
        told.files.insert((device, inode), ((*name).to_owned(), access));
    }
    truth
}

/// What was told must be what was known from the arguments.
pub fn check(truth: &Truth, known: &Known) {
    let told: BTreeMap<_, BTreeMap<_, _>> =
        truth.iter().map(|(attempt, told)| (attempt.clone(), told.files.values().cloned().collect())).collect();
    for (attempt, files) in &known.accesses {
        assert_eq!(told.get(attempt), Some(files), "{attempt:?}");
    }
    assert_eq!(told.len(), known.accesses.len(), "{:?}", told.keys());
}

//! Offsets of transfers that share a position or append to one file, against what the file itself
//! tells: `tests/operations/positions.c` writes records that tile it, and reads numbers that are
//! their own offsets.

#![allow(dead_code, reason = "each test file uses another part")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use flowmine_schema::tables::{IoEvent, TracedFile};

use super::{operations, traced};

/// The program.
pub fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| operations::compiled("positions"))
}

/// The names of all cases.
pub fn cases() -> Vec<String> {
    let output = Command::new(program()).arg("--list").output().expect("it was compiled here");
    String::from_utf8(output.stdout).expect("names are text").lines().map(str::to_owned).collect()
}

/// Cases in which nothing happens at the same time, or on descriptions of their own: no way of
/// tracing may say that an offset is not known.
pub const APART: [&str; 4] = ["alone", "alone_append", "handed_over", "own_append"];

/// Whether each offset of a case is known to a tracer that sees transfers while their position is
/// locked.
pub fn is_locked(case: &str) -> bool {
    APART.contains(&case) || matches!(case, "shared" | "threads" | "shared_read" | "shared_seek")
}

/// Offset of the transfers of each thread, in their order.
type Offsets = BTreeMap<i64, Vec<i64>>;

/// What is in the directory of a case tells where its transfers began.
fn truth(dir: &Path) -> Offsets {
    let mut offsets = Offsets::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if let Some(tid) = path.file_name().unwrap().to_str().unwrap().strip_prefix("told.") {
            let text = std::fs::read_to_string(&path).unwrap();
            offsets.insert(tid.parse().unwrap(), text.lines().map(|line| line.parse().unwrap()).collect());
        }
    }
    if offsets.is_empty() {
        let bytes = std::fs::read(dir.join("file")).unwrap();
        let mut at = 0;
        while at < bytes.len() {
            let number = |field: usize| u32::from_le_bytes(bytes[at + 4 * field..][..4].try_into().unwrap());
            assert_eq!(number(0), 0x504f_5321, "no record begins at {at}");
            let of_thread = offsets.entry(i64::from(number(1))).or_default();
            // Appended by one thread, they lie in its order.
            of_thread.push(at as i64);
            at += number(3) as usize;
        }
    }
    offsets
}

/// Offsets of a case that are known and of those that are not: how many.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Told {
    pub certain: usize,
    pub uncertain: usize,
}

/// What a dataset has of a thread, on any file and whatever the thread's number: it shows whether rows
/// that are missing were lost, are those of another thread, or of another file.
fn everything_of(dataset: &Path, tid: i64) -> String {
    let (mut own, mut others, mut inodes) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    traced::each::<IoEvent<'static>>(dataset, |row| {
        *others.entry(row.tid).or_insert(0u64) += 1;
        if row.tid.map(i64::from) == Some(tid) || row.tid.is_none() {
            *own.entry((row.tid, row.op.to_string(), row.inode, row.result.is_some_and(|bytes| bytes > 0))).or_insert(0u64) += 1;
        }
    });
    traced::each::<TracedFile<'static>>(dataset, |row| {
        inodes.insert(row.inode, row.path.as_deref().map(str::to_owned));
    });
    format!("its rows by operation, inode and success: {own:?}; rows of each thread: {others:?}; files: {inodes:?}")
}

/// Compares the rows of a case with what is in its directory, which was `named` while it ran.
///
/// # Errors
/// The first transfer that is wrong, missing or too many.
pub fn compare(dataset: &Path, dir: &Path, named: &Path) -> Result<Told, String> {
    let truth = truth(dir);
    let path = named.join("file");
    let mut inodes = BTreeSet::new();
    traced::each::<TracedFile<'static>>(dataset, |row| {
        if row.path.as_deref() == path.to_str() {
            inodes.insert(row.inode);
        }
    });
    let mut rows = BTreeMap::<i64, Vec<(i64, Option<i64>, Option<bool>)>>::new();
    traced::each::<IoEvent<'static>>(dataset, |row| {
        let tid = row.tid.map_or(-1, i64::from);
        let transfer = matches!(&*row.op, "read" | "write") && row.result.is_some_and(|bytes| bytes > 0);
        if transfer && truth.contains_key(&tid) && row.inode.is_some_and(|inode| inodes.contains(&inode)) {
            rows.entry(tid).or_default().push((row.start_ns, row.offset, row.offset_uncertain));
        }
    });
    let mut told = Told::default();
    for (tid, offsets) in &truth {
        let mut seen = rows.remove(tid).unwrap_or_default();
        seen.sort_unstable();
        if seen.len() != offsets.len() {
            let there = everything_of(dataset, *tid);
            return Err(format!("thread {tid} has {} rows and did {} transfers; {there}", seen.len(), offsets.len()));
        }
        for (number, ((_, offset, uncertain), truth)) in seen.iter().zip(offsets).enumerate() {
            match (offset, uncertain) {
                (Some(offset), None) if offset == truth => told.certain += 1,
                (None, Some(true)) => told.uncertain += 1,
                _ => return Err(format!("transfer {number} of thread {tid} began at {truth}, not {offset:?} ({uncertain:?})")),
            }
        }
    }
    Ok(told)
}

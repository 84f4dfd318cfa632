//! Made programs, run for real under each tracer: bytes, ranges and data flow.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::OnceLock;

use flowmine_schema::tables::{DataFlow, TaskIo};
use proptest::prelude::*;

use super::acts::{Done, Draw, Model, draws};
use super::queue::config;
use crate::support::doctor::works;
use crate::support::operations::compiled;
use crate::support::traced::each;
use crate::support::{expect, flowmine, generations};

fn act() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| compiled("act"))
}

/// What is compared of a row of `task_io`: counts, and ranges where the row has them.
type Seen = (i64, i64, i64, i64, i64, Option<i64>, Option<i64>, Option<(i64, i64)>, Option<(i64, i64)>);

fn seen(row: &TaskIo<'_>) -> Seen {
    let (read, written) = (row.read_offset_min.zip(row.read_offset_end), row.write_offset_min.zip(row.write_offset_end));
    (
        row.opens,
        row.read_calls,
        row.write_calls,
        row.read_bytes,
        row.written_bytes,
        row.unique_read_bytes,
        row.unique_written_bytes,
        read,
        written,
    )
}

fn wanted(done: &Done) -> Seen {
    let span = |offsets: &BTreeSet<i64>| Some((*offsets.first()?, offsets.last()? + 1));
    let (read, written) = (done.read_offsets.len() as i64, done.written_offsets.len() as i64);
    (
        done.opens,
        done.read_calls,
        done.write_calls,
        done.read_bytes,
        done.written_bytes,
        Some(read),
        Some(written),
        span(&done.read_offsets),
        span(&done.written_offsets),
    )
}

fn check(backend: &str, programs: &[Vec<Draw>]) -> Result<(), TestCaseError> {
    let Some(dir) = generations::directory() else { return Ok(()) };
    let (work, dataset) = (dir.path().join("work"), dir.path().join("data"));
    std::fs::create_dir(&work).unwrap();
    let mut model = Model::new(backend == "fuse");
    let mut script = "set -e\n".to_owned();
    for (task, draws) in programs.iter().enumerate() {
        let program = dir.path().join(format!("act{task}"));
        std::fs::copy(act(), &program).unwrap();
        script += &format!("{} {} >> ../inodes\n", program.display(), model.program(task, draws).join(" "));
    }
    std::fs::write(dir.path().join("all.sh"), &script).unwrap();
    let mut trace = flowmine();
    trace.args(["trace", "--backend", backend, "--tasks", "commands", "--dataset"]).arg(&dataset).arg("--directory").arg(&work);
    trace.args(["--", "sh"]).arg(dir.path().join("all.sh")).current_dir(&work).stdin(Stdio::null());
    let said = expect(&mut trace, 0);
    // An overlay does not see these reads, and has to say so: what it says of them is not compared.
    let unseen = if backend == "fuse" { std::mem::take(&mut model.unseen) } else { BTreeSet::new() };
    let said = String::from_utf8_lossy(&said.stderr).into_owned();
    prop_assert_eq!(said.contains("lost"), !unseen.is_empty(), "{}{}", said, script);
    prop_assert!(!said.contains("warning") || !unseen.is_empty(), "{}", said);
    let said = expect(flowmine().args(["correlate", "--dataset"]).arg(&dataset), 0);
    prop_assert_eq!(String::from_utf8_lossy(&said.stderr).contains("lost by the trace"), !unseen.is_empty());
    let inodes = std::fs::read_to_string(dir.path().join("inodes")).unwrap_or_default();
    let inodes: Vec<i64> = inodes.lines().map(|line| line.parse().unwrap()).collect();
    prop_assert_eq!(inodes.len(), model.opened.len());
    let inode_of: BTreeMap<usize, i64> = model.opened.iter().copied().zip(inodes).collect();
    let task_of = |name: &str| name.strip_prefix("act").and_then(|number| number.parse::<usize>().ok());

    // What an unseen read hides: what the task read of the file, and which version anybody had.
    let hidden: BTreeSet<(usize, i64)> = unseen.iter().map(|(task, file)| (*task, inode_of[file])).collect();
    let hidden_files: BTreeSet<i64> = hidden.iter().map(|(_, inode)| *inode).collect();
    let shown = |task: usize, inode: i64, row: Seen| {
        let (opens, _, writes, _, bytes, _, unique, _, range) = row;
        if hidden.contains(&(task, inode)) { (opens, 0, writes, 0, bytes, None, unique, None, range) } else { row }
    };

    // An inode's number can be that of several files, one after another: their rows are compared together.
    let (mut want, mut got) = (BTreeMap::<(usize, i64), Vec<Seen>>::new(), BTreeMap::<(usize, i64), Vec<Seen>>::new());
    for ((task, file), done) in model.done.iter().filter(|(_, done)| done.opens > 0) {
        let inode = inode_of[file];
        want.entry((*task, inode)).or_default().push(shown(*task, inode, wanted(done)));
    }
    let mut number_of = BTreeMap::new();
    each::<TaskIo<'static>>(&dataset, |row| {
        let (Some(task), Some(inode)) = (row.logical_task.as_deref().and_then(task_of), row.inode) else { return };
        number_of.extend(row.task.as_deref().map(|id| (id.to_owned(), task)));
        if row.opens > 0 && want.contains_key(&(task, inode)) {
            got.entry((task, inode)).or_default().push(shown(task, inode, seen(&row)));
        }
    });
    want.values_mut().for_each(|rows| rows.sort());
    got.values_mut().for_each(|rows| rows.sort());
    prop_assert_eq!(&got, &want, "{}", script);

    let flows: BTreeSet<(usize, usize, i64)> = model
        .flows
        .iter()
        .map(|(writer, reader, file)| (*writer, *reader, inode_of[file]))
        .filter(|flow| !hidden_files.contains(&flow.2))
        .collect();
    let mut got = BTreeSet::new();
    each::<DataFlow<'static>>(&dataset, |row| {
        let task = |id: &Option<std::borrow::Cow<'_, str>>| id.as_deref().and_then(|id| number_of.get(id).copied());
        if let (Some(writer), Some(reader), Some(inode)) = (task(&row.writer), task(&row.reader), row.inode)
            && writer != reader
            && !hidden_files.contains(&inode)
            && row.written_bytes > 0
            && row.read_bytes > 0
        {
            got.insert((writer, reader, inode));
        }
    });
    prop_assert_eq!(got, flows, "{}", script);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, max_shrink_iters: 60, ..config() })]

    #[test]
    fn ebpf_gives_what_programs_did(programs in draws()) {
        if works("ebpf") {
            check("ebpf", &programs)?;
        }
    }

    #[test]
    fn ptrace_gives_what_programs_did(programs in draws()) {
        if works("ptrace") {
            check("ptrace", &programs)?;
        }
    }

    #[test]
    fn an_overlay_gives_what_programs_did(programs in draws()) {
        if works("fuse") {
            check("fuse", &programs)?;
        }
    }
}

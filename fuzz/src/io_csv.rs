//! The trace files of the paper on low-level I/O monitoring (`flowmine-io-csv`).

use std::fs;
use std::io::Cursor;

use flowmine_dataset::Dataset;
use flowmine_io_csv::events::{Decoded, Decoder};
use flowmine_io_csv::lines::Lines;
use flowmine_io_csv::{EVENTS, FORKS, forks, path, read};

use crate::{BETWEEN, Seeds, choice, folder, from, reached};

const RECORDED: &str = "fixtures/io-csv";

/// See [`run`].
pub const SEEDS: &[Seeds] =
    &[from(b"\x01", RECORDED, "file-bpf.csv"), from(b"\x02", RECORDED, "cgroups.csv"), from(b"\0", RECORDED, "file-bpf.csv")];

/// Lines of operations, lines of forks, or seldom both as a folder that is imported: the first byte
/// says which.
pub fn run(bytes: &[u8]) {
    let (first, bytes) = choice(bytes);
    if first == 0 {
        return import(bytes);
    }
    let mut lines = Lines::new(Cursor::new(bytes.to_vec()));
    let mut decoder = Decoder::default();
    while let Ok(Some(line)) = lines.next_line() {
        if first % 2 == 0 {
            match forks::decode(line.bytes) {
                Ok(fork) => reached(fork.is_some(), "forks of the monitoring paper"),
                Err(problem) => assert!(problem.column >= 1 && !problem.message.is_empty()),
            }
            continue;
        }
        match decoder.decode(line.bytes) {
            Decoded::Event(event) => {
                reached(true, "operations of the monitoring paper");
                decoder.is_whole(line.bytes, &event);
            }
            Decoded::Bad(problem) => assert!(problem.column >= 1 && !problem.message.is_empty()),
            Decoded::Nothing => {}
        }
        // What is read as a path can be written and is read as the same.
        if let path::PathColumn::Path(told) = path::read(line.bytes) {
            let mut written = Vec::new();
            path::write(&told, &mut written);
        }
    }
}

/// A folder with both files.
fn import(bytes: &[u8]) {
    let dir = folder().join("io-csv");
    let _ = fs::remove_dir_all(&dir);
    let mut files = bytes.splitn(2, |byte| *byte == BETWEEN);
    let node = dir.join("trace/node1");
    let (events, forks) = (files.next().unwrap_or_default(), files.next().unwrap_or_default());
    if fs::create_dir_all(&node).is_err() || fs::write(node.join(EVENTS), events).is_err() || fs::write(node.join(FORKS), forks).is_err() {
        return;
    }
    let Ok(dataset) = Dataset::open_or_create(&dir.join("dataset")) else { return };
    let taken = read::import(&dataset, &[dir.join("trace")], |_, _| {});
    reached(taken.is_ok_and(|reports| reports.iter().any(|report| report.rows > 0)), "folders of the monitoring paper");
}
